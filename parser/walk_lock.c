/*
 * walk_lock.c - the table locks of ALTER TABLE's sub-commands and of LOCK TABLE.
 *
 * What is not listed takes the strongest.
 */
#include "parser/walk_utility.h"

#include "storage/lockdefs.h"

#include <string.h>

enum table_lock stronger_lock(enum table_lock a, enum table_lock b) { return a < b ? a : b; }

enum table_lock lock_of_mode(int mode)
{
    static const enum table_lock locks[] = {
        [AccessShareLock] = LOCK_ACCESS_SHARE,
        [RowShareLock] = LOCK_ROW_SHARE,
        [RowExclusiveLock] = LOCK_ROW_EXCLUSIVE,
        [ShareUpdateExclusiveLock] = LOCK_SHARE_UPDATE_EXCLUSIVE,
        [ShareLock] = LOCK_SHARE,
        [ShareRowExclusiveLock] = LOCK_SHARE_ROW_EXCLUSIVE,
        [ExclusiveLock] = LOCK_EXCLUSIVE,
    };

    return mode > 0 && (size_t)mode < ARRAY_SIZE(locks) ? locks[mode] : LOCK_ACCESS_EXCLUSIVE;
}

/* Storage parameters that tell how a table is kept, not what it means. */
static bool is_about_upkeep(const char *name)
{
    static const char *const names[] = {
        "deduplicate_items",  "fillfactor",           "log_autovacuum_min_duration",
        "parallel_workers",   "toast_tuple_target",   "vacuum_index_cleanup",
        "vacuum_truncate",
    };

    if (strncmp(name, "autovacuum_", strlen("autovacuum_")) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static enum table_lock lock_of_parameters(List *options)
{
    ListCell *cell;

    foreach (cell, options) {
        const DefElem *option = lfirst(cell);

        if (!IsA(option, DefElem) || !is_about_upkeep(option->defname))
            return LOCK_ACCESS_EXCLUSIVE;
    }
    return options != NIL ? LOCK_SHARE_UPDATE_EXCLUSIVE : LOCK_ACCESS_EXCLUSIVE;
}

static enum table_lock lock_of_constraint(const Node *definition)
{
    bool is_foreign_key = definition != NULL && IsA(definition, Constraint) &&
                          ((const Constraint *)definition)->contype == CONSTR_FOREIGN;

    return is_foreign_key ? LOCK_SHARE_ROW_EXCLUSIVE : LOCK_ACCESS_EXCLUSIVE;
}

/* The rows of the default partition are looked through, which closes it. */
static enum table_lock lock_of_attaching(const struct relation *parent)
{
    return parent != NULL && !parent->has_default_partition ? LOCK_SHARE_UPDATE_EXCLUSIVE
                                                            : LOCK_ACCESS_EXCLUSIVE;
}

static enum table_lock lock_of_detaching(const Node *definition)
{
    bool is_concurrent = definition != NULL && IsA(definition, PartitionCmd) &&
                         ((const PartitionCmd *)definition)->concurrent;

    return is_concurrent ? LOCK_SHARE_UPDATE_EXCLUSIVE : LOCK_ACCESS_EXCLUSIVE;
}

static enum table_lock lock_of_alteration(const AlterTableCmd *command,
                                          const struct relation *relation)
{
    switch (command->subtype) {
    case AT_EnableTrig:
    case AT_EnableAlwaysTrig:
    case AT_EnableReplicaTrig:
    case AT_EnableTrigAll:
    case AT_EnableTrigUser:
    case AT_DisableTrig:
    case AT_DisableTrigAll:
    case AT_DisableTrigUser:
        return LOCK_SHARE_ROW_EXCLUSIVE;
    case AT_SetStatistics:
    case AT_SetOptions:
    case AT_ResetOptions:
    case AT_ClusterOn:
    case AT_DropCluster:
    case AT_ValidateConstraint:
    case AT_DetachPartitionFinalize:
        return LOCK_SHARE_UPDATE_EXCLUSIVE;
    case AT_SetRelOptions:
    case AT_ResetRelOptions:
        return lock_of_parameters((List *)command->def);
    case AT_AddConstraint:
        return lock_of_constraint(command->def);
    case AT_AttachPartition:
        return lock_of_attaching(relation);
    case AT_DetachPartition:
        return lock_of_detaching(command->def);
    default:
        return LOCK_ACCESS_EXCLUSIVE;
    }
}

enum table_lock lock_of_alterations(List *commands, const struct relation *relation)
{
    enum table_lock lock = commands != NIL ? LOCK_NONE : LOCK_ACCESS_EXCLUSIVE;
    ListCell *cell;

    foreach (cell, commands) {
        const AlterTableCmd *command = lfirst(cell);

        lock = stronger_lock(lock, IsA(command, AlterTableCmd)
                                       ? lock_of_alteration(command, relation)
                                       : LOCK_ACCESS_EXCLUSIVE);
    }
    return lock;
}

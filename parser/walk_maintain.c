/*
 * walk_maintain.c - VACUUM, ANALYZE, REINDEX, CLUSTER, REFRESH, CHECKPOINT, LOCK and TRUNCATE.
 *
 * What acts on everything there is has no object and needs a rule on `*`.
 */
#include "parser/walk_scope.h"
#include "parser/walk_utility.h"

static const char *const vacuum_options[] = {
    "analyze",  "disable_page_skipping", "freeze",      "full",     "index_cleanup",
    "parallel", "process_toast",         "skip_locked", "truncate", "verbose",
    NULL,
};

static const char *const analyze_options[] = {"skip_locked", "verbose", NULL};

static void vacuum_relation(struct walk *walk, VacuumRelation *relation, enum table_lock lock)
{
    struct target target;

    if (!IsA(relation, VacuumRelation) || relation->relation == NULL) {
        walk_unknown(walk, "VACUUM", (int)nodeTag(relation), -1);
        return;
    }
    strings_only(walk, relation->va_cols);
    target = target_relation(walk, relation->relation);
    act(walk, VERB_MAINTAIN, &target)->lock = lock;
}

void walk_vacuum(struct walk *walk, Node *node)
{
    const VacuumStmt *statement = (VacuumStmt *)node;
    enum table_lock lock = option_is_on(walk, statement->options, "full")
                               ? LOCK_ACCESS_EXCLUSIVE
                               : LOCK_SHARE_UPDATE_EXCLUSIVE;
    ListCell *cell;

    walk->shape->not_in_block = statement->is_vacuumcmd;
    if (statement->is_vacuumcmd)
        options_known(walk, statement->options, vacuum_options, "VACUUM");
    else
        options_known(walk, statement->options, analyze_options, "ANALYZE");
    if (statement->rels == NIL)
        act_on_none(walk, VERB_MAINTAIN)->lock = lock;
    foreach (cell, statement->rels)
        vacuum_relation(walk, lfirst(cell), lock);
}

static bool is_partitioned(const struct target *target)
{
    return target->relation == NULL || target->relation->kind == 'p';
}

/* Without CONCURRENTLY every index that is rebuilt is closed to readers, too. */
static enum table_lock reindex_lock(struct walk *walk, const ReindexStmt *statement)
{
    return option_is_on(walk, statement->params, "concurrently") ? LOCK_SHARE_UPDATE_EXCLUSIVE
                                                                 : LOCK_ACCESS_EXCLUSIVE;
}

static void reindex_relation(struct walk *walk, const ReindexStmt *statement)
{
    struct target target;

    if (statement->relation == NULL) {
        walk_unknown(walk, "REINDEX", T_ReindexStmt, -1);
        return;
    }
    target = target_relation(walk, statement->relation);
    act(walk, VERB_MAINTAIN, &target)->lock = reindex_lock(walk, statement);
    walk->shape->not_in_block |= is_partitioned(&target);
}

void walk_reindex(struct walk *walk, Node *node)
{
    static const char *const options[] = {"concurrently", "tablespace", "verbose", NULL};
    const ReindexStmt *statement = (ReindexStmt *)node;
    struct target target = target_none();

    options_known(walk, statement->params, options, "REINDEX");
    walk->shape->not_in_block = option_is_on(walk, statement->params, "concurrently");
    switch (statement->kind) {
    case REINDEX_OBJECT_INDEX:
    case REINDEX_OBJECT_TABLE:
        reindex_relation(walk, statement);
        return;
    case REINDEX_OBJECT_SCHEMA:
        target = target_named(OBJECT_SCHEMA, walk_text(walk, statement->name));
        break;
    case REINDEX_OBJECT_DATABASE:
        target = target_named(OBJECT_DATABASE, walk_text(walk, statement->name));
        break;
    case REINDEX_OBJECT_SYSTEM:
        break;
    default:
        walk_unknown(walk, "REINDEX", T_ReindexStmt, -1);
    }
    act(walk, VERB_MAINTAIN, &target)->lock = reindex_lock(walk, statement);
    walk->shape->not_in_block = true;
}

void walk_cluster(struct walk *walk, Node *node)
{
    static const char *const options[] = {"verbose", NULL};
    const ClusterStmt *statement = (ClusterStmt *)node;
    struct target target = target_none();

    options_known(walk, statement->params, options, "CLUSTER");
    if (statement->relation != NULL)
        target = target_relation(walk, statement->relation);
    act(walk, VERB_MAINTAIN, &target);
    walk->shape->not_in_block = is_partitioned(&target);
}

void walk_refresh(struct walk *walk, Node *node)
{
    const RefreshMatViewStmt *statement = (RefreshMatViewStmt *)node;
    struct target target = target_relation(walk, statement->relation);

    act(walk, VERB_MAINTAIN, &target)->lock =
        statement->concurrent ? LOCK_EXCLUSIVE : LOCK_ACCESS_EXCLUSIVE;
}

void walk_checkpoint(struct walk *walk, Node *node)
{
    (void)node;
    act_on_none(walk, VERB_MAINTAIN)->lock = LOCK_NONE;
}

void walk_lock(struct walk *walk, Node *node)
{
    const LockStmt *statement = (LockStmt *)node;

    act_on_relations(walk, VERB_LOCK, statement->relations, lock_of_mode(statement->mode));
}

/* --- TRUNCATE -------------------------------------------------------------------------------- */

/* Whether this is the first time that the statement comes to the table, for either reason. */
static bool is_first(struct walk *walk, const char *reason, const struct object *object)
{
    bool fresh = false;

    walk_seen(walk, (uintptr_t)reason, object->schema, object->name, &fresh);
    return fresh;
}

static const char reached[] = "reached", followed[] = "followed";

static void truncate_reached(struct walk *walk, uint32_t oid)
{
    const struct relation *relation = catalog_relation_by_oid(walk->context->catalog, oid);
    struct target target = {.relation = relation, .location = -1};

    if (relation == NULL) {
        act_on_none(walk, VERB_TRUNCATE);
        return;
    }
    target.object = (struct object){OBJECT_NAME, relation->schema, relation->name};
    if (is_first(walk, reached, &target.object))
        act(walk, VERB_TRUNCATE, &target);
}

static void truncate_referencing(struct walk *walk, const struct relation *relation)
{
    for (size_t i = 0; i < relation->referenced_by_count; i++)
        truncate_reached(walk, relation->referenced_by[i].child);
}

/* Foreign keys can point at a partition or child that goes with its parent. */
static void truncate_from(struct walk *walk, const struct relation *relation)
{
    size_t count = 0;
    const struct relation *const *children =
        catalog_children(walk->context->catalog, walk->arena, relation, &count);

    truncate_referencing(walk, relation);
    for (size_t i = 0; i < count; i++)
        truncate_referencing(walk, children[i]);
}

/* The actions grow while they are followed, each table once. */
static void truncate_cascade(struct walk *walk)
{
    for (size_t i = 0; i < walk->action_count; i++)
        is_first(walk, reached, &walk->actions[i].object);
    for (size_t i = 0; i < walk->action_count; i++) {
        const struct relation *relation = walk->actions[i].relation;

        if (relation == NULL) {
            act_on_none(walk, VERB_TRUNCATE);
            return;
        }
        if (is_first(walk, followed, &walk->actions[i].object))
            truncate_from(walk, relation);
    }
}

void walk_truncate(struct walk *walk, Node *node)
{
    const TruncateStmt *statement = (TruncateStmt *)node;

    act_on_relations(walk, VERB_TRUNCATE, statement->relations, LOCK_ACCESS_EXCLUSIVE);
    if (statement->behavior == DROP_CASCADE)
        truncate_cascade(walk);
}

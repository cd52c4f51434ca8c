/*
 * open.c - what an agent may read anyway. "Open" needs a proof; whatever is missing, unknown or of
 * another kind than expected is closed.
 */
#include "rules/open.h"

#include "proxy/base/limits.h"

#include <string.h>

bool policy_opens_everything(const struct policy *policy)
{
    if (policy->observe || policy->transparent)
        return true;
    for (size_t i = 0; i < policy->rule_count && policy->hidden_count == 0; i++) {
        const struct rule *rule = &policy->rules[i];
        if (!rule->verbs[VERB_SELECT])
            continue;
        if (rule->verdict != VERDICT_ALLOW)
            return false;
        for (size_t j = 0; j < rule->on_count; j++)
            if (rule->on[j].any && rule->columns == NULL && rule->not_column_count == 0)
                return true;
    }
    return false;
}

/* --- tables and columns -------------------------------------------------------------------------
 */

static bool may_select(struct arena *arena, const struct decide_context *context,
                       const struct relation *relation, const struct text *columns, size_t count)
{
    const struct action action = {.verb = VERB_SELECT,
                                  .object = {OBJECT_NAME, relation->schema, relation->name},
                                  .relation = relation,
                                  .columns = columns,
                                  .column_count = count,
                                  .rows_max = ROWS_UNPROVEN,
                                  .location = -1};
    const struct shape shape = {.kind = STATEMENT_SELECT, .actions = &action, .action_count = 1};
    const struct numbers numbers = {0};
    struct decision decision;
    decide(arena, context, &shape, &numbers, &decision);
    return decision.verdict == VERDICT_ALLOW;
}

bool relation_is_open(struct arena *arena, const struct decide_context *context,
                      const struct relation *relation)
{
    struct text *columns = arena_array(arena, relation->column_count, sizeof *columns);
    for (size_t i = 0; i < relation->column_count; i++)
        columns[i] = relation->columns[i].name;
    return may_select(arena, context, relation, columns, relation->column_count);
}

static bool is_system_schema(struct text schema)
{
    return text_is(schema, "pg_catalog") || text_is(schema, "information_schema");
}

bool catalog_is_open(struct arena *arena, const struct decide_context *context)
{
    size_t count = 0, looked_at = 0;
    const struct relation *all =
        context->catalog != NULL ? catalog_all_relations(context->catalog, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (is_system_schema(all[i].schema) || strchr("rpvmf", all[i].kind) == NULL)
            continue;
        if (++looked_at > LIMIT_OPEN_RELATIONS || !relation_is_open(arena, context, &all[i]))
            return false;
    }
    return looked_at > 0;
}

bool column_is_open(struct arena *arena, const struct decide_context *context,
                    const struct relation *relation, struct text column)
{
    return relation_column(relation, column) != NULL &&
           may_select(arena, context, relation, &column, 1);
}

static bool columns_are_open(struct arena *arena, const struct decide_context *context,
                             const struct relation *relation, const int16_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct column *column = relation_column_by_number(relation, numbers[i]);
        if (column == NULL || !column_is_open(arena, context, relation, column->name))
            return false;
    }
    return count > 0;
}

/* --- what a statement reaches -------------------------------------------------------------------
 */

struct reach {
    struct arena *arena;
    const struct decide_context *context;
    bool triggers;                   /* one of the tables written has some */
    const struct relation **changed; /* whose rows are changed or go, each once */
    size_t count, capacity;
};

static bool is_open(const struct reach *reach, const struct relation *relation)
{
    return relation != NULL && relation_is_open(reach->arena, reach->context, relation);
}

/* A foreign server reports in its own words, and names its host: also of a child that is one. */
static bool is_local(const struct reach *reach, const struct relation *relation)
{
    size_t count;
    const struct relation *const *children =
        catalog_children(reach->context->catalog, reach->arena, relation, &count);
    for (size_t i = 0; i < count; i++)
        if (children[i]->kind == 'f')
            return false;
    return relation->kind != 'f';
}

/* Reading it runs nothing of its owner's. */
static bool reads_plainly(const struct reach *reach, const struct relation *relation)
{
    return is_local(reach, relation) && !relation->row_security;
}

static bool writes_plainly(struct reach *reach, const struct relation *relation)
{
    reach->triggers = reach->triggers || relation->has_triggers;
    return reads_plainly(reach, relation) && !relation->has_rules;
}

static bool parents_are_open(const struct reach *reach, const struct relation *relation)
{
    size_t count;
    const struct foreign_reference *references =
        catalog_references(reach->context->catalog, reach->arena, relation, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_open(reach, references[i].parent))
            return false;
    return true;
}

/* Partitions are covered by the rule that opens their table, but what hangs on them is their own.
 */
static bool insert_is_open(struct reach *reach, const struct relation *relation)
{
    size_t count;
    if (!writes_plainly(reach, relation) || !parents_are_open(reach, relation))
        return false;
    const struct relation *const *children =
        catalog_children(reach->context->catalog, reach->arena, relation, &count);
    for (size_t i = 0; i < count; i++)
        if (!writes_plainly(reach, children[i]) || !parents_are_open(reach, children[i]))
            return false;
    return true;
}

static void add_changed(struct reach *reach, const struct relation *relation)
{
    for (size_t i = 0; i < reach->count; i++)
        if (reach->changed[i] == relation)
            return;
    *(const struct relation **)arena_push(reach->arena, (void **)&reach->changed, &reach->count,
                                          &reach->capacity, sizeof(struct relation *)) = relation;
}

static bool changes_rows(char action)
{
    return action != 'a' && action != 'r';
}

static bool referencing_are_open(struct reach *reach, const struct relation *relation)
{
    for (size_t i = 0; i < relation->referenced_by_count; i++) {
        const struct foreign_key *key = &relation->referenced_by[i];
        const struct relation *child = catalog_relation_by_oid(reach->context->catalog, key->child);
        if (!is_open(reach, child))
            return false;
        if (changes_rows(key->on_delete) || changes_rows(key->on_update))
            add_changed(reach, child);
    }
    return true;
}

static bool change_is_open(struct reach *reach, const struct relation *relation)
{
    add_changed(reach, relation);
    for (size_t next = 0; next < reach->count; next++) {
        size_t count;
        const struct relation *changed = reach->changed[next];
        const struct relation *const *children =
            catalog_children(reach->context->catalog, reach->arena, changed, &count);
        if (!insert_is_open(reach, changed) || !referencing_are_open(reach, changed))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!referencing_are_open(reach, children[i]))
                return false;
    }
    return true;
}

/* --- statements ---------------------------------------------------------------------------------
 */

/* Catalogs: what may be read of them was decided column by column. */
static bool is_catalog(const struct action *action)
{
    return action->object.kind == OBJECT_NAME && is_system_schema(action->object.schema);
}

static bool action_is_open(struct reach *reach, const struct action *action)
{
    const struct relation *relation = action->relation;
    if (action->verb == VERB_SELECT && is_catalog(action))
        return true;
    if (!is_open(reach, relation))
        return false;
    switch (action->verb) {
    case VERB_SELECT:
    case VERB_LOCK:
        return reads_plainly(reach, relation);
    case VERB_INSERT:
        return insert_is_open(reach, relation);
    case VERB_UPDATE:
    case VERB_DELETE:
        return change_is_open(reach, relation);
    default:
        return false;
    }
}

static enum opening opening_of_actions(struct arena *arena, const struct decide_context *context,
                                       const struct shape *shape)
{
    struct reach reach = {.arena = arena, .context = context};
    for (size_t i = 0; i < shape->action_count; i++)
        if (!action_is_open(&reach, &shape->actions[i]))
            return OPENING_NONE;
    return reach.triggers ? OPENING_BESIDES_TRIGGERS : OPENING_ALL;
}

enum opening statement_opening(struct arena *arena, const struct decide_context *context,
                               const struct shape *shape)
{
    const struct shape *runs = shape->inner != NULL ? shape->inner : shape;
    if (policy_opens_everything(context->policy))
        return OPENING_ALL;
    if (context->catalog == NULL)
        return OPENING_NONE;
    switch (runs->kind) {
    case STATEMENT_EMPTY:
    case STATEMENT_BEGIN:
    case STATEMENT_ROLLBACK:
    case STATEMENT_SAVEPOINT:
    case STATEMENT_RELEASE:
    case STATEMENT_ROLLBACK_TO:
    case STATEMENT_SHOW:
    case STATEMENT_DISCARD:
    case STATEMENT_DEALLOCATE:
    case STATEMENT_CLOSE:
    case STATEMENT_LISTEN:
        return OPENING_ALL; /* of no table */
    case STATEMENT_SET:     /* SET CONSTRAINTS makes waiting checks run */
        return shape->setting_count > 0 ? OPENING_ALL : OPENING_NONE;
    case STATEMENT_SELECT:
    case STATEMENT_WRITE:
    case STATEMENT_COPY_OUT:
    case STATEMENT_COPY_IN:
        return opening_of_actions(arena, context, shape);
    default:
        return OPENING_NONE;
    }
}

/* --- constraint violations ----------------------------------------------------------------------
 */

static bool foreign_key_is_open(struct arena *arena, const struct decide_context *context,
                                const struct relation *child, struct text constraint)
{
    size_t count;
    const struct foreign_reference *references =
        catalog_references(context->catalog, arena, child, &count);
    for (size_t i = 0; i < count; i++) {
        const struct foreign_key *key = references[i].key;
        if (text_equal(key->name, constraint))
            return columns_are_open(arena, context, child, key->child_columns, key->column_count) &&
                   columns_are_open(arena, context, references[i].parent, key->parent_columns,
                                    key->column_count);
    }
    return false;
}

static bool key_is_open(struct arena *arena, const struct decide_context *context,
                        const struct relation *relation, struct text constraint)
{
    for (size_t i = 0; i < relation->key_count; i++)
        if (text_equal(relation->keys[i].name, constraint))
            return columns_are_open(arena, context, relation, relation->keys[i].columns,
                                    relation->keys[i].column_count);
    return relation_is_open(arena, context, relation);
}

bool violation_is_open(struct arena *arena, const struct decide_context *context,
                       struct text sqlstate, struct text schema, struct text table,
                       struct text constraint)
{
    const struct relation *relation =
        context->catalog != NULL ? catalog_relation(context->catalog, schema, table) : NULL;
    if (relation == NULL || !text_starts_with(sqlstate, "23"))
        return false;
    if (text_is(sqlstate, "23503"))
        return foreign_key_is_open(arena, context, relation, constraint);
    if (text_is(sqlstate, "23505"))
        return key_is_open(arena, context, relation, constraint);
    return relation_is_open(arena, context, relation);
}

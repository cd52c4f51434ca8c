/*
 * counting.c - may a statement be run before its verdict is final, to be counted or to be rehearsed?
 *
 * What is not known to be undone by a rollback, or to be counted by the command tag, is a no.
 */
#include "rules/conditions.h"

#include "rules/reach.h"

bool verb_is_write(enum verb verb)
{
    return verb == VERB_INSERT || verb == VERB_UPDATE || verb == VERB_DELETE;
}

bool is_catalog_call(const struct action *action)
{
    return action->verb == VERB_CALL && action->object.kind == OBJECT_NAME &&
           (text_is(action->object.schema, "pg_catalog") ||
            text_is(action->object.schema, "information_schema")) &&
           text_starts_with(action->reason, "catalog");
}

/* Rules are code, but what they run is in the catalog. */
static bool is_code_of_rules(const struct action *action)
{
    return action->part == PART_VIEW && action->relation != NULL && action->relation->has_rules &&
           action->relation->not_undone[USE_STORE].size == 0 &&
           action->relation->not_undone[USE_DELETE].size == 0;
}

struct text action_not_undone(const struct action *action)
{
    return action->relation != NULL ? action->relation->not_undone[verb_relation_use(action->verb)]
                                    : (struct text){0};
}

static bool verb_is_undone(const struct decide_context *context, enum ddl ddl,
                           const struct action *action)
{
    switch (action->verb) {
    case VERB_SELECT:
    case VERB_INSERT:
    case VERB_UPDATE:
    case VERB_DELETE:
    case VERB_TRUNCATE:
    case VERB_CREATE:
    case VERB_ALTER:
    case VERB_DROP:
    case VERB_GRANT:
    case VERB_COMMENT:
        return true;
    case VERB_CALL:
        return context->policy->introspection && is_catalog_call(action);
    case VERB_CODE:
        return ddl != DDL_NONE /* it is written down, not run */ || is_code_of_rules(action);
    case VERB_NONE:
    case VERB_EXECUTE:
    case VERB_LOCK:
    case VERB_SET:
    case VERB_LISTEN:
    case VERB_NOTIFY:
    case VERB_MAINTAIN:
    case VERB_COPY_FILE:
    case VERB_COUNT:
        break;
    }
    return false;
}

struct text events_not_undone(const struct decide_context *context, const struct shape *shape)
{
    bool fire = shape->ddl == DDL_OBJECTS && context->catalog != NULL;
    return fire ? catalog_event_code(context->catalog)->not_undone : (struct text){0};
}

bool statement_is_rehearsable(const struct decide_context *context, const struct shape *shape)
{
    if (shape->not_in_block || shape->kind == STATEMENT_CODE || shape->kind == STATEMENT_TWO_PHASE ||
        (shape->kind == STATEMENT_UTILITY && shape->ddl == DDL_NONE) ||
        events_not_undone(context, shape).size > 0)
        return false;
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct relation *relation = shape->actions[i].relation;
        if (!verb_is_undone(context, shape->ddl, &shape->actions[i]) ||
            (relation != NULL && relation->kind == 'f') ||
            action_not_undone(&shape->actions[i]).size > 0)
            return false;
    }
    return true;
}

static bool same_object(const struct object *a, const struct object *b)
{
    return text_equal(a->schema, b->schema) && text_equal(a->name, b->name);
}

/* An action through a view is counted as the view's. Offline nothing runs, so nothing is in doubt. */
static bool writes_one_plain_relation(const struct decide_context *context,
                                      const struct shape *shape)
{
    const struct action *first = NULL;
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        if (!verb_is_write(action->verb))
            continue;
        if (action->relation != NULL ? action->relation->has_rules : context->catalog != NULL)
            return false;
        if (action->part == PART_VIEW)
            continue;
        if (first != NULL && !same_object(&first->object, &action->object))
            return false;
        first = action;
    }
    return first != NULL;
}

static bool statement_is_countable(const struct decide_context *context, const struct shape *shape)
{
    return (shape->kind == STATEMENT_WRITE || shape->kind == STATEMENT_COPY_IN) &&
           shape->tag_counts_writes && statement_is_rehearsable(context, shape) &&
           writes_one_plain_relation(context, shape);
}

bool shape_starts_foreign_keys(const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].foreign_key_actions)
            return true;
    return false;
}

/* Where they lead back to the statement's own tables, the rows of these are counted in the same way, as the
 * counters do not tell whose they are. */
static struct counted_tables carried_tables(struct arena *arena, const struct reach *reach)
{
    uint32_t *oids = arena_array(arena, reach->count, sizeof *oids);
    struct counted_tables counted = {.oids = oids};
    for (size_t i = 0; i < reach->count; i++)
        counted.with_targets =
            counted.with_targets || (reach->tables[i].carried && reach->tables[i].key == NULL);
    for (size_t i = 0; i < reach->count; i++)
        if (reach->tables[i].carried || counted.with_targets)
            oids[counted.count++] = reach->tables[i].oid;
    return counted;
}

struct counting statement_counting(struct arena *arena, const struct decide_context *context,
                                   const struct shape *shape)
{
    struct counting counting = {.rehearsable = statement_is_rehearsable(context, shape),
                                .countable = statement_is_countable(context, shape)};
    struct reach reach;
    if (context->catalog == NULL || !shape_starts_foreign_keys(shape))
        return counting;
    reach_find_all(arena, shape, context->catalog, REACH_SET_KEYS, &reach);
    counting.tables = carried_tables(arena, &reach);
    counting.tables_complete = !reach.incomplete && counting.tables.count > 0;
    return counting;
}

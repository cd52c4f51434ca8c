/*
 * explain.c - the estimate in EXPLAIN (VERBOSE, FORMAT JSON).
 *
 * ModifyTable's own row estimate is 0; its rows are those of its inputs (facts.md, EXPLAIN). Text that
 * is not what EXPLAIN prints gives no estimate, never a wrong one.
 */
#include "proxy/session/internal.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

static double number(const json_t *node, const char *key)
{
    const json_t *value = json_object_get(node, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

static bool is_text(const json_t *node, const char *key, const char *wanted)
{
    const char *value = json_string_value(json_object_get(node, key));
    return value != NULL && strcmp(value, wanted) == 0;
}

/* InitPlans and SubPlans stand in the same list as the real input. */
static bool is_input(const json_t *node)
{
    return !is_text(node, "Parent Relationship", "InitPlan") &&
           !is_text(node, "Parent Relationship", "SubPlan");
}

static double input_rows(const json_t *modify)
{
    double rows = 0;
    size_t index;
    json_t *child;
    json_array_foreach(json_object_get(modify, "Plans"), index, child)
    {
        double own = number(child, "Plan Rows");
        if (is_input(child) && own > 0)
            rows += own;
    }
    return rows;
}

/* Sums the inputs of every ModifyTable; the depth is bounded, a plan is no deeper than its query. */
static double written_rows(const json_t *node, int depth)
{
    if (depth > LIMIT_STATEMENT_DEPTH)
        return 0;
    double rows = is_text(node, "Node Type", "ModifyTable") ? input_rows(node) : 0;
    size_t index;
    json_t *child;
    json_array_foreach(json_object_get(node, "Plans"), index, child) rows +=
        written_rows(child, depth + 1);
    return rows;
}

static bool writes(const struct shape *shape)
{
    return shape->kind == STATEMENT_WRITE;
}

static bool writes_unanalysed(const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        bool write = action->verb == VERB_INSERT || action->verb == VERB_UPDATE ||
                     action->verb == VERB_DELETE;
        if (write && action->relation != NULL && action->relation->rows < 0)
            return true;
    }
    return false;
}

/* --- the most expensive step --------------------------------------------------------------------- */

static double own_cost(const json_t *node)
{
    double cost = number(node, "Total Cost");
    size_t index;
    json_t *child;
    json_array_foreach(json_object_get(node, "Plans"), index, child) cost -=
        number(child, "Total Cost");
    return cost;
}

static void find_costliest(const json_t *node, int depth, const json_t **found)
{
    if (depth > LIMIT_STATEMENT_DEPTH || !json_is_object(node))
        return;
    if (*found == NULL || own_cost(node) > own_cost(*found))
        *found = node;
    size_t index;
    json_t *child;
    json_array_foreach(json_object_get(node, "Plans"), index, child)
        find_costliest(child, depth + 1, found);
}

static struct text copied(struct arena *arena, const json_t *node, const char *key)
{
    const char *value = json_string_value(json_object_get(node, key));
    return value != NULL ? arena_text(arena, text_from(value)) : TEXT("");
}

/* "Bitmap Heap Scan" in lower case. */
static struct text node_in_words(struct arena *arena, const json_t *node)
{
    if (is_text(node, "Node Type", "Seq Scan"))
        return TEXT("sequential scan");
    struct text type = copied(arena, node, "Node Type");
    char *words = arena_allocate(arena, type.size + 1);
    for (size_t i = 0; i < type.size; i++)
        words[i] = (char)tolower((unsigned char)type.bytes[i]);
    return (struct text){words, type.size};
}

static struct plan_step costliest_step(struct arena *arena, const json_t *plan)
{
    const json_t *node = NULL;
    find_costliest(plan, 0, &node);
    if (node == NULL)
        return (struct plan_step){0};
    return (struct plan_step){.node = node_in_words(arena, node),
                              .schema = copied(arena, node, "Schema"),
                              .table = copied(arena, node, "Relation Name"),
                              .rows = number(node, "Plan Rows")};
}

bool explain_read(struct arena *arena, struct text json, const struct shape *shape,
                  struct estimate *estimate)
{
    struct plan_step costliest = {0};
    json_t *root = json_loadb(json.bytes, json.size, 0, NULL);
    double rows = 0;
    double cost = -1;
    double top_rows = -1;
    size_t index;
    json_t *query;
    json_array_foreach(root, index, query)
    {
        const json_t *plan = json_object_get(query, "Plan");
        double own = number(plan, "Total Cost");
        if (own > cost) {
            cost = own;
            costliest = costliest_step(arena, plan);
        }
        top_rows = number(plan, "Plan Rows");
        rows += written_rows(plan, 0);
    }
    json_decref(root);
    *estimate = (struct estimate){.rows = writes(shape) ? rows : top_rows,
                                  .cost = cost,
                                  .costliest = costliest,
                                  .unanalysed = writes_unanalysed(shape)};
    return cost >= 0;
}

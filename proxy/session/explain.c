/*
 * explain.c - the estimate in EXPLAIN (VERBOSE, FORMAT JSON).
 *
 * ModifyTable's own row estimate is 0; its rows are those of its inputs (facts.md, EXPLAIN). Text that
 * is not what EXPLAIN prints gives no estimate, never a wrong one.
 */
#include "proxy/session/internal.h"

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

bool explain_read(struct text json, const struct shape *shape, struct estimate *estimate)
{
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
        cost = own > cost ? own : cost;
        top_rows = number(plan, "Plan Rows");
        rows += written_rows(plan, 0);
    }
    json_decref(root);
    *estimate = (struct estimate){.rows = writes(shape) ? rows : top_rows,
                                  .cost = cost,
                                  .unanalysed = writes_unanalysed(shape)};
    return cost >= 0;
}

/* plan.c - see plan.h. Only what is known of a node is written; a plan that is too deep is cut. */
#include "proxy/review/plan.h"

#include <jansson.h>

enum { DEPTH_MAX = 50 };

/* What stands below a node, each on its own line. */
static const char *const conditions[] = {"Index Cond",  "Recheck Cond", "Hash Cond", "Merge Cond",
                                         "Join Filter", "Filter",       "TID Cond"};

static const char *word(const json_t *node, const char *key)
{
    const char *value = json_string_value(json_object_get(node, key));
    return value != NULL ? value : "";
}

static bool has(const json_t *node, const char *key)
{
    return json_is_string(json_object_get(node, key));
}

static double number(const json_t *node, const char *key)
{
    return json_number_value(json_object_get(node, key));
}

static void relation(struct buffer *out, const json_t *node)
{
    if (has(node, "Index Name"))
        buffer_printf(out, " using %s", word(node, "Index Name"));
    if (!has(node, "Relation Name"))
        return;
    buffer_printf(out, " on %s%s%s", word(node, "Schema"), has(node, "Schema") ? "." : "",
                  word(node, "Relation Name"));
    if (has(node, "Alias") && !text_is(text_from(word(node, "Alias")), word(node, "Relation Name")))
        buffer_printf(out, " %s", word(node, "Alias"));
}

static void name(struct buffer *out, const json_t *node)
{
    const char *type = word(node, "Node Type");
    bool writes = text_is(text_from(type), "ModifyTable");
    buffer_append_string(out, writes ? word(node, "Operation") : type);
    relation(out, node);
    buffer_printf(out, "  (cost=%.2f..%.2f rows=%.0f)\n", number(node, "Startup Cost"),
                  number(node, "Total Cost"), number(node, "Plan Rows"));
}

static void append_node(struct buffer *out, const json_t *node, int depth)
{
    if (depth == DEPTH_MAX) {
        buffer_printf(out, "%*s…\n", depth * 2, "");
        return;
    }
    buffer_printf(out, "%*s%s", depth * 2, "", depth > 0 ? "-> " : "");
    name(out, node);
    for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
        if (has(node, conditions[i]))
            buffer_printf(out, "%*s%s: %s\n", depth * 2 + 6, "", conditions[i],
                          word(node, conditions[i]));
    const json_t *plans = json_object_get(node, "Plans");
    for (size_t i = 0; i < json_array_size(plans); i++)
        append_node(out, json_array_get(plans, i), depth + 1);
}

/* [{"Plan": {…}}]; NULL: it is not one. */
static json_t *load(struct text plan)
{
    return json_loadb(plan.bytes, plan.size, 0, NULL);
}

static const json_t *top_node(const json_t *root)
{
    return json_object_get(json_array_get(root, 0), "Plan");
}

bool plan_lines(struct buffer *out, struct text plan)
{
    json_t *root = load(plan);
    const json_t *node = top_node(root);
    bool is_plan = has(node, "Node Type");
    if (is_plan)
        append_node(out, node, 0);
    json_decref(root);
    return is_plan;
}

struct text plan_target(struct arena *arena, struct text plan)
{
    json_t *root = load(plan);
    const json_t *node = top_node(root);
    struct text target = TEXT("");
    if (text_is(text_from(word(node, "Node Type")), "ModifyTable") && has(node, "Relation Name") &&
        has(node, "Schema"))
        target = arena_printf(arena, "%s.%s", word(node, "Schema"), word(node, "Relation Name"));
    json_decref(root);
    return target;
}

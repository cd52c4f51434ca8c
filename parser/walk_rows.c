/*
 * walk_rows.c - how many rows an INSERT's source can give at most: VALUES lists and LIMIT
 * constants.
 *
 * A single VALUES row is a target list to the server, so a set-returning function in it multiplies;
 * in longer lists the server refuses them. User functions say themselves whether they return sets.
 */
#include "parser/walk_scope.h"

#include "nodes/nodeFuncs.h"

/* Set-returning functions of pg_catalog. */
static bool is_set_returning_builtin(struct text name)
{
    static const char *const names[] = {
        "aclexplode",
        "generate_series",
        "generate_subscripts",
        "json_array_elements",
        "json_array_elements_text",
        "json_each",
        "json_each_text",
        "json_object_keys",
        "json_populate_recordset",
        "json_to_recordset",
        "jsonb_array_elements",
        "jsonb_array_elements_text",
        "jsonb_each",
        "jsonb_each_text",
        "jsonb_object_keys",
        "jsonb_path_query",
        "jsonb_path_query_tz",
        "jsonb_populate_recordset",
        "jsonb_to_recordset",
        "regexp_matches",
        "regexp_split_to_table",
        "string_to_table",
        "ts_debug",
        "ts_parse",
        "ts_stat",
        "ts_token_type",
        "txid_snapshot_xip",
        "unnest",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    /* The others are the server's own views and tools: pg_ls_dir, pg_get_keywords, … */
    return text_starts_with(name, "pg_");
}

static bool may_return_set(struct walk *walk, struct text name)
{
    if (is_set_returning_builtin(name))
        return true;
    if (walk->context->catalog == NULL)
        return true;
    size_t count = 0;
    const struct function *functions = catalog_functions(walk->context->catalog, name, &count);
    for (size_t i = 0; i < count; i++) {
        if (functions[i].returns_set)
            return true;
    }
    return false;
}

static bool last_name_may_return_set(struct walk *walk, List *names)
{
    ListCell *cell;
    foreach (cell, names) {
        Node *name = lfirst(cell);
        if (IsA(name, String) && may_return_set(walk, text_from(strVal(name))))
            return true;
    }
    return false;
}

/* raw_expression_tree_walker's callback: true stops it. */
static bool multiplies(Node *node, void *context)
{
    struct walk *walk = context;
    if (node == NULL || is_repeated_source(node))
        return false;
    if (IsA(node, FuncCall) &&
        may_return_set(walk, text_from(strVal(llast(((FuncCall *)node)->funcname)))))
        return true;
    if (IsA(node, A_Indirection) &&
        last_name_may_return_set(walk, ((A_Indirection *)node)->indirection))
        return true;
    if (IsA(node, ColumnRef) && list_length(((ColumnRef *)node)->fields) > 1 &&
        last_name_may_return_set(walk, ((ColumnRef *)node)->fields))
        return true;
    return raw_expression_tree_walker(node, multiplies, context);
}

static int64_t rows_of_values(struct walk *walk, List *lists)
{
    int count = list_length(lists);
    if (count == 1 && multiplies(linitial(lists), walk))
        return ROWS_UNPROVEN;
    return count;
}

/* libpg_query numbers LimitOption differently from the server's header: no limit is 0. */
enum { LIBRARY_LIMIT_COUNT = 1 };

static int64_t rows_of_limit(const SelectStmt *select)
{
    Node *limit = select->limitCount;
    if (limit == NULL || (int)select->limitOption != LIBRARY_LIMIT_COUNT || !IsA(limit, A_Const))
        return ROWS_UNPROVEN;
    A_Const *constant = (A_Const *)limit;
    if (constant->isnull || !IsA(&constant->val, Integer) || constant->val.ival.ival < 0)
        return ROWS_UNPROVEN;
    return constant->val.ival.ival;
}

int64_t rows_of_query(struct walk *walk, Node *tree)
{
    if (tree == NULL)
        return 1; /* DEFAULT VALUES */
    if (!IsA(tree, SelectStmt))
        return ROWS_UNPROVEN;
    SelectStmt *select = (SelectStmt *)tree;
    int64_t limit = rows_of_limit(select);
    if (select->op != SETOP_NONE || select->valuesLists == NIL)
        return limit;
    int64_t values = rows_of_values(walk, select->valuesLists);
    return limit != ROWS_UNPROVEN && (values == ROWS_UNPROVEN || limit < values) ? limit : values;
}

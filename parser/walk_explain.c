/*
 * walk_explain.c - EXPLAIN: its options as the server computes them, its statement as if it ran.
 *
 * An option that is not listed, or a value that the server would refuse, fails the walk.
 */
#include "parser/walk_utility.h"

#include <string.h>

static const char *const boolean_options[] = {
    "analyze", "verbose", "costs", "buffers", "wal", "settings", "timing", "summary",
};

static bool is_boolean_option(const DefElem *option)
{
    for (size_t i = 0; i < ARRAY_SIZE(boolean_options); i++)
        if (strcmp(option->defname, boolean_options[i]) == 0)
            return true;
    return false;
}

static bool format_is_known(const DefElem *option)
{
    static const char *const formats[] = {"text", "xml", "json", "yaml"};

    if (option->arg == NULL || !IsA(option->arg, String))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        if (strcmp(((String *)option->arg)->sval, formats[i]) == 0)
            return true;
    return false;
}

/* A later option of the same name wins. */
static void explain_options(struct walk *walk, List *options)
{
    ListCell *cell;

    foreach (cell, options) {
        const DefElem *option = lfirst(cell);

        if (!IsA(option, DefElem) || option->defnamespace != NULL) {
            walk_unknown(walk, "EXPLAIN", T_DefElem, -1);
        } else if (is_boolean_option(option)) {
            bool value = option_boolean(walk, option);

            if (strcmp(option->defname, "analyze") == 0)
                walk->shape->explain_analyze = value;
        } else if (strcmp(option->defname, "format") != 0 || !format_is_known(option)) {
            option_unknown(walk, option, "EXPLAIN");
        }
    }
}

static bool may_be_explained(const Node *node)
{
    switch (nodeTag(node)) {
    case T_SelectStmt:
    case T_InsertStmt:
    case T_UpdateStmt:
    case T_DeleteStmt:
    case T_MergeStmt:
    case T_ExecuteStmt:
    case T_DeclareCursorStmt:
    case T_CreateTableAsStmt:
    case T_RefreshMatViewStmt:
        return true;
    default:
        return false;
    }
}

/* Without ANALYZE only planning runs code: it may call what it takes to be immutable. */
static void explained_changes(struct walk *walk, const struct shape *inner)
{
    if (walk->shape->explain_analyze)
        changes(walk, inner->changes);
    else
        changes(walk, inner->changes & CHANGES_BY_CODE);
}

void walk_explain(struct walk *walk, Node *node)
{
    const ExplainStmt *statement = (ExplainStmt *)node;
    const struct shape *inner;

    walk->shape->kind = STATEMENT_EXPLAIN;
    walk->shape->returns_rows = true;
    explain_options(walk, statement->options);
    if (!may_be_explained(statement->query)) {
        walk_unknown(walk, "EXPLAIN", (int)nodeTag(statement->query), -1);
        return;
    }
    inner = walk_inner(walk, statement->query, NULL);
    walk->shape->inner = inner;
    if (inner == NULL)
        return;
    if (inner->hold != 0)
        walk_fail(walk, ANALYSE_REJECTED, "42501", -1,
                  "EXPLAIN of EXECUTE pgwicket_hold is not allowed");
    explained_changes(walk, inner);
}

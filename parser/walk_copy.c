/*
 * walk_copy.c - COPY: a select or insert on columns, or the query in parentheses; with a file or a
 * program of the server also copy_file.
 *
 * An option that is not listed fails the walk.
 */
#include "parser/walk_scope.h"
#include "parser/walk_utility.h"

#include <string.h>

static const char *const copy_options[] = {
    "format", "freeze",      "delimiter",      "null",       "header",   "quote",
    "escape", "force_quote", "force_not_null", "force_null", "encoding", NULL,
};

static void copied_columns(struct walk *walk, struct action *action, List *names)
{
    size_t count = (size_t)list_length(names), kept = 0;
    struct text *columns = arena_array(walk->arena, count, sizeof(*columns));
    ListCell *cell;

    foreach (cell, names)
        columns[kept++] = walk_text(walk, ((String *)lfirst(cell))->sval);
    action->columns = columns;
    action->column_count = kept;
}

/* Without a list COPY takes every column that is not generated. */
static void every_column(struct walk *walk, struct action *action)
{
    const struct relation *relation = action->relation;
    struct text *columns;
    size_t kept = 0;

    action->columns_why = TEXT("COPY without a column list");
    if (relation == NULL) {
        action->columns_unknown = true;
        return;
    }
    columns = arena_array(walk->arena, relation->column_count, sizeof(*columns));
    for (size_t i = 0; i < relation->column_count; i++)
        if (!relation->columns[i].generated)
            columns[kept++] = relation->columns[i].name;
    action->columns = columns;
    action->column_count = kept;
}

static const struct relation *copy_table(struct walk *walk, const CopyStmt *copy)
{
    struct target target = target_relation(walk, copy->relation);
    size_t index = walk->action_count;
    struct action *action = act(walk, copy->is_from ? VERB_INSERT : VERB_SELECT, &target);

    if (copy->attlist == NIL)
        every_column(walk, action);
    else if (strings_only(walk, copy->attlist))
        copied_columns(walk, action, copy->attlist);
    if (target.relation != NULL && relation_is_view(target.relation))
        read_view(walk, target.relation, index);
    if (copy->filename != NULL || copy->is_program)
        act(walk, VERB_COPY_FILE, &target);
    return target.relation;
}

static void copy_query(struct walk *walk, const CopyStmt *copy)
{
    if (copy->is_from) {
        walk_unknown(walk, "COPY", T_CopyStmt, -1);
        return;
    }
    walk_query(walk, copy->query);
    if (copy->filename != NULL || copy->is_program)
        act_on_none(walk, VERB_COPY_FILE);
}

static bool is_binary(const CopyStmt *copy)
{
    const DefElem *format = option_last(copy->options, "format");

    return format != NULL && format->arg != NULL && IsA(format->arg, String) &&
           strcmp(strVal(format->arg), "binary") == 0;
}

void walk_copy(struct walk *walk, Node *node)
{
    const CopyStmt *copy = (CopyStmt *)node;
    const struct relation *relation = NULL;

    if ((copy->relation == NULL) == (copy->query == NULL)) {
        walk_unknown(walk, "COPY", T_CopyStmt, -1);
        return;
    }
    options_known(walk, copy->options, copy_options, "COPY");
    if (copy->relation != NULL)
        relation = copy_table(walk, copy);
    else
        copy_query(walk, copy);
    if (copy->whereClause != NULL)
        walk_condition(walk, copy->whereClause, relation);
    if (copy->filename == NULL && !copy->is_program)
        walk->shape->kind = copy->is_from ? STATEMENT_COPY_IN : STATEMENT_COPY_OUT;
    else
        walk->shape->kind = STATEMENT_UTILITY;
    walk->shape->tag_counts_writes = walk->shape->kind == STATEMENT_COPY_IN;
    walk->shape->copy_binary = is_binary(copy);
    walk->shape->copy_header = !copy->is_from && option_is_on(walk, copy->options, "header");
    walk->shape->returns_rows = false;
}

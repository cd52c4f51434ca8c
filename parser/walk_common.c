/*
 * walk_common.c - casts of users to a type that several values have in common.
 *
 * The values of COALESCE, CASE, UNION, VALUES, IN, … may all become what one of them is, whichever the
 * server prefers, and nothing else. So may both sides of an operator and what ANYCOMPATIBLE takes,
 * besides what is declared (walk_operator.c, walk_function.c).
 */
#include "parser/walk_scope.h"

#include <string.h>

/* The types of values that meet, each once. */
struct meeting {
    uint32_t *types;
    size_t count, capacity;
    bool several_unsure;
    bool literals, empty; /* NULL and '{}' have nothing in them to be checked */
};

static void add_type(struct walk *walk, struct meeting *meeting, uint32_t type)
{
    meeting->literals = meeting->literals || type == TYPE_LITERAL;
    if (type == TYPE_LITERAL || !walk_spend(walk, meeting->count + 1))
        return;
    for (size_t i = 0; i < meeting->count; i++) {
        if (meeting->types[i] != type)
            continue;
        meeting->several_unsure = meeting->several_unsure || type == TYPE_UNSURE;
        return;
    }
    *(uint32_t *)arena_push(walk->arena, (void **)&meeting->types, &meeting->count,
                            &meeting->capacity, sizeof type) = type;
}

static bool is_empty(Node *node)
{
    const A_Const *constant = (const A_Const *)node;
    return IsA(node, A_Const) && (constant->isnull || (IsA(&constant->val, String) &&
                                                       strcmp(constant->val.sval.sval, "{}") == 0));
}

/* A query's columns, a row's fields, or one value. */
static void add_node(struct walk *walk, struct meeting *meeting, Node *node)
{
    ListCell *cell;
    const struct item *columns =
        node != NULL && IsA(node, SubLink) && ((SubLink *)node)->subLinkType == EXPR_SUBLINK
            ? sublink_columns(walk, (SubLink *)node)
            : NULL;
    if (node == NULL || !walk_enter(walk))
        return;
    if (IsA(node, List) || IsA(node, RowExpr))
        foreach (cell, IsA(node, List) ? (List *)node : ((RowExpr *)node)->args)
            add_node(walk, meeting, lfirst(cell));
    else if (columns != NULL && columns->column_count > 1)
        for (size_t i = 0; i < columns->column_count; i++)
            add_type(walk, meeting,
                     columns->columns[i].literal ? TYPE_LITERAL : columns->columns[i].type);
    else if (is_empty(node))
        meeting->empty = true;
    else
        add_type(walk, meeting, type_of_value(walk, node));
    walk_leave(walk);
}

static void literals_of_meeting(struct walk *walk, const struct meeting *meeting, bool as_it_is, int location)
{
    bool any = meeting->literals || (as_it_is && meeting->empty);
    for (size_t i = 0; i < meeting->count && any; i++)
        checks_of_type(walk, meeting->types[i], as_it_is, location);
}

static void casts_of_meeting(struct walk *walk, const struct meeting *meeting, int location)
{
    literals_of_meeting(walk, meeting, false, location);
    for (size_t to = 0; to < meeting->count; to++)
        for (size_t from = 0; from < meeting->count && walk_spend(walk, 1); from++)
            if (from != to || (meeting->types[to] == TYPE_UNSURE && meeting->several_unsure))
                casts_between(walk, meeting->types[from], meeting->types[to], CAST_IMPLICIT, location);
}

void casts_in_common(struct walk *walk, uint32_t first, uint32_t second, int location)
{
    struct meeting meeting = {0};
    if (!has_casts(walk))
        return;
    add_type(walk, &meeting, first);
    add_type(walk, &meeting, second);
    casts_of_meeting(walk, &meeting, location);
}

void casts_of_choice(struct walk *walk, List *nodes, int location)
{
    struct meeting meeting = {0};
    if (walk->failed || !has_casts(walk))
        return;
    add_node(walk, &meeting, (Node *)nodes);
    casts_of_meeting(walk, &meeting, location);
}

void casts_of_case(struct walk *walk, CaseExpr *tree)
{
    struct meeting compared = {0}, given = {0};
    ListCell *cell;
    if (walk->failed || !has_casts(walk))
        return;
    add_node(walk, &compared, (Node *)tree->arg);
    add_node(walk, &given, (Node *)tree->defresult);
    foreach (cell, tree->args) {
        CaseWhen *when = lfirst(cell);
        add_node(walk, &given, (Node *)when->result);
        if (tree->arg != NULL)
            add_node(walk, &compared, (Node *)when->expr);
    }
    casts_of_meeting(walk, &compared, tree->location);
    casts_of_meeting(walk, &given, tree->location);
}

/* Rows as they are written meet field by field. */
static void casts_of_pair(struct walk *walk, Node *left, Node *right, int location)
{
    struct meeting meeting = {0};
    bool rows = left != NULL && right != NULL && IsA(left, RowExpr) && IsA(right, RowExpr) &&
                list_length(((RowExpr *)left)->args) == list_length(((RowExpr *)right)->args);
    ListCell *first, *second;
    if (!walk_enter(walk))
        return;
    if (rows) {
        forboth(first, ((RowExpr *)left)->args, second, ((RowExpr *)right)->args)
            casts_of_pair(walk, lfirst(first), lfirst(second), location);
    } else {
        add_node(walk, &meeting, left);
        add_node(walk, &meeting, right);
        casts_of_meeting(walk, &meeting, location);
    }
    walk_leave(walk);
}

/* value = ANY (array) */
static void casts_of_elements(struct walk *walk, A_Expr *tree)
{
    struct meeting meeting = {0};
    bool none = type_of_value(walk, tree->rexpr) == TYPE_LITERAL;
    add_node(walk, &meeting, tree->lexpr);
    add_type(walk, &meeting, none ? TYPE_LITERAL : type_of_elements(walk, tree->rexpr));
    casts_of_meeting(walk, &meeting, tree->location);
}

void casts_of_expression(struct walk *walk, A_Expr *tree)
{
    ListCell *cell;
    bool list = tree->rexpr != NULL && IsA(tree->rexpr, List);
    if (walk->failed || !has_casts(walk))
        return;
    if (tree->kind == AEXPR_OP_ANY || tree->kind == AEXPR_OP_ALL)
        casts_of_elements(walk, tree);
    else if (list && tree->lexpr != NULL && IsA(tree->lexpr, RowExpr))
        foreach (cell, (List *)tree->rexpr)
            casts_of_pair(walk, tree->lexpr, lfirst(cell), tree->location);
    else
        casts_of_pair(walk, tree->lexpr, tree->rexpr, tree->location);
}

void casts_of_sublink(struct walk *walk, SubLink *tree)
{
    const struct item *columns = sublink_columns(walk, tree);
    Node *test = tree->testexpr;
    if (walk->failed || !has_casts(walk) || test == NULL || columns == NULL)
        return;
    List *fields = IsA(test, RowExpr) ? ((RowExpr *)test)->args : NIL;
    bool matched = (size_t)list_length(fields) == columns->column_count;
    for (size_t i = 0; i < columns->column_count; i++) {
        struct meeting meeting = {0};
        add_node(walk, &meeting, matched ? list_nth(fields, (int)i) : test);
        add_type(walk, &meeting,
                 columns->columns[i].literal ? TYPE_LITERAL : columns->columns[i].type);
        casts_of_meeting(walk, &meeting, tree->location);
    }
}

void casts_of_rows(struct walk *walk, List *rows)
{
    ListCell *cell;
    if (walk->failed || !has_casts(walk) || list_length(rows) < 2)
        return;
    for (int i = 0; i < list_length(linitial(rows)); i++) {
        struct meeting meeting = {0};
        foreach (cell, rows)
            if (list_length(lfirst(cell)) > i)
                add_node(walk, &meeting, list_nth(lfirst(cell), i));
        casts_of_meeting(walk, &meeting, -1);
    }
}

/* The arguments for parameters of a kind; all of them where their places are not known. */
static struct meeting meeting_of_arguments(struct walk *walk, const struct function *function,
                                           const FuncCall *call, bool (*is_of_kind)(uint32_t))
{
    struct meeting meeting = {0};
    bool placed = argument_types_of(walk, call).known, any = false;
    for (size_t j = 0; function->argument_types != NULL && j < function->argument_count; j++)
        any = any || is_of_kind(function->argument_types[j]);
    for (int j = 0; any && j < list_length(call->args); j++)
        if (!placed || is_of_kind(type_of_parameter_at(walk, function, (size_t)j)))
            add_node(walk, &meeting, list_nth(call->args, j));
    return meeting;
}

/* Of one type, to which ANYCOMPATIBLE's family casts what is of others. */
static void casts_of_any(struct walk *walk, const struct function *functions, size_t count,
                         const FuncCall *call)
{
    for (size_t i = 0; functions != NULL && i < count && walk_spend(walk, 1); i++) {
        const struct meeting same =
            meeting_of_arguments(walk, &functions[i], call, type_is_polymorphic);
        const struct meeting compatible =
            meeting_of_arguments(walk, &functions[i], call, type_is_compatible);
        literals_of_meeting(walk, &same, true, call->location);
        literals_of_meeting(walk, &compatible, true, call->location);
        casts_of_meeting(walk, &compatible, call->location);
    }
}

/* Ordered-set aggregates of pg_catalog that are not about a row that could be among the others. */
static bool takes_no_hypothetical_row(struct text name)
{
    return text_is(name, "percentile_cont") || text_is(name, "percentile_disc") ||
           text_is(name, "mode");
}

/* The last arguments meet what the rows are ordered by. */
static void casts_of_hypothetical_row(struct walk *walk, const FuncCall *call)
{
    int skipped = list_length(call->args) - list_length(call->agg_order);
    for (int i = 0; skipped >= 0 && i < list_length(call->agg_order); i++) {
        SortBy *sort = list_nth(call->agg_order, i);
        casts_of_pair(walk, list_nth(call->args, skipped + i), sort->node, call->location);
    }
}

void casts_of_call(struct walk *walk, const FuncCall *call)
{
    const struct catalog *catalog = walk->context->catalog;
    struct text name = text_from(strVal(llast(call->funcname)));
    size_t builtins = 0, users = 0;
    if (walk->failed || !has_casts(walk))
        return;
    if (call->agg_within_group && !takes_no_hypothetical_row(name))
        casts_of_hypothetical_row(walk, call);
    const struct function *builtin = catalog_builtin_functions(catalog, name, &builtins);
    const struct function *user = catalog_functions(catalog, name, &users);
    casts_of_any(walk, builtin, builtins, call);
    casts_of_any(walk, user, users, call);
}

/*
 * walk_argument.c - the type that the server gives to an expression, where that is sure.
 *
 * Constants, columns, casts, declared parameters, calls of which it is sure what is called, and
 * what is made of such values. TYPE_UNSURE is always a right answer.
 */
#include "parser/walk_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- constants ------------------------------------------------------------------------------ */

static uint32_t type_of_number(const char *digits)
{
    if (digits[strspn(digits, "-+0123456789.eE")] != '\0')
        return TYPE_UNSURE;
    errno = 0;
    char *end;
    long long value = strtoll(digits, &end, 10);
    if (*end != '\0' || errno != 0)
        return TYPE_NUMERIC;
    return value == (int32_t)value ? TYPE_INT4 : TYPE_INT8;
}

static uint32_t type_of_constant(const A_Const *constant)
{
    if (constant->isnull)
        return TYPE_LITERAL;
    switch (nodeTag(&constant->val)) {
    case T_Integer:
        return TYPE_INT4;
    case T_Float:
        return type_of_number(constant->val.fval.fval);
    case T_Boolean:
        return TYPE_BOOL;
    case T_String:
        return TYPE_LITERAL;
    case T_BitString:
        return TYPE_BIT;
    default:
        return TYPE_UNSURE;
    }
}

static uint32_t type_of_parameter(const struct walk *walk, const ParamRef *parameter)
{
    size_t index = (size_t)parameter->number - 1;
    if (walk->context->parameter_types == NULL || index >= walk->context->parameter_count)
        return TYPE_UNSURE;
    uint32_t type = walk->context->parameter_types[index];
    return type == TYPE_LITERAL ? TYPE_UNSURE : type; /* takes its type where it is first used */
}

static uint32_t type_of_sql_value(const SQLValueFunction *value)
{
    switch (value->op) {
    case SVFOP_CURRENT_DATE:
        return TYPE_DATE;
    case SVFOP_CURRENT_TIMESTAMP:
    case SVFOP_CURRENT_TIMESTAMP_N:
        return TYPE_TIMESTAMPTZ;
    case SVFOP_CURRENT_ROLE:
    case SVFOP_CURRENT_USER:
    case SVFOP_USER:
    case SVFOP_SESSION_USER:
    case SVFOP_CURRENT_CATALOG:
    case SVFOP_CURRENT_SCHEMA:
        return TYPE_NAME;
    default:
        return TYPE_UNSURE;
    }
}

/* --- choices -------------------------------------------------------------------------------- */

/* Values that become one type, as those of COALESCE and of UNION. */
struct choice {
    uint32_t first, type; /* as it came, and without domains; TYPE_UNSURE before the first */
    bool literals, mixed, unsure;
};

/* Is the second type better for both? */
static bool is_wider(const struct walk *walk, struct choice *choice, const struct type *now,
                     const struct type *other)
{
    const struct catalog *catalog = walk->context->catalog;
    enum fit there = type_fits(catalog, now->oid, other->oid);
    enum fit back = type_fits(catalog, other->oid, now->oid);
    choice->unsure = choice->unsure || overloads_may_change(walk) || there == FITS_PERHAPS ||
                     back == FITS_PERHAPS || now->category == '\0' ||
                     now->category != other->category;
    return !now->preferred && there == FITS && back == FITS_NOT;
}

static void choose(const struct walk *walk, struct choice *choice, uint32_t type)
{
    const struct catalog *catalog = walk->context->catalog;
    if (type == TYPE_LITERAL) {
        choice->literals = true;
        return;
    }
    const struct type *base = type_without_domains(catalog, type);
    const struct type *now =
        choice->first != TYPE_UNSURE ? catalog_type_by_oid(catalog, choice->type) : base;
    if (base == NULL || now == NULL) {
        choice->unsure = true;
        return;
    }
    if (choice->first == TYPE_UNSURE) {
        choice->first = type;
        choice->type = base->oid;
    } else if (type != choice->first) {
        choice->mixed = true;
        if (base != now && is_wider(walk, choice, now, base))
            choice->type = base->oid;
    }
}

/* Values of one type keep it, domains too; others become what the widest is in the end. */
static uint32_t chosen(const struct choice *choice)
{
    if (choice->unsure)
        return TYPE_UNSURE;
    if (choice->first == TYPE_UNSURE)
        return choice->literals ? TYPE_TEXT : TYPE_UNSURE;
    return choice->mixed || choice->literals ? choice->type : choice->first;
}

uint32_t type_in_common(const struct walk *walk, uint32_t first, uint32_t second)
{
    struct choice choice = {0};
    if (walk->context->catalog == NULL)
        return TYPE_UNSURE;
    choose(walk, &choice, first);
    choose(walk, &choice, second);
    return chosen(&choice);
}

static uint32_t common_type(struct walk *walk, List *nodes)
{
    struct choice choice = {0};
    ListCell *cell;
    foreach (cell, nodes)
        choose(walk, &choice, type_of_argument(walk, lfirst(cell)));
    return chosen(&choice);
}

uint32_t type_of_values(struct walk *walk, List *rows, int column)
{
    struct choice choice = {0};
    ListCell *cell;
    if (walk->context->catalog == NULL)
        return TYPE_UNSURE;
    foreach (cell, rows) {
        List *row = lfirst(cell);
        if (!IsA(row, List) || list_length(row) <= column)
            return TYPE_UNSURE;
        choose(walk, &choice, type_of_argument(walk, list_nth(row, column)));
    }
    return chosen(&choice);
}

/* ELSE comes first. */
static uint32_t type_of_case(struct walk *walk, const CaseExpr *tree)
{
    struct choice choice = {0};
    ListCell *cell;
    Node *otherwise = (Node *)tree->defresult;
    choose(walk, &choice, otherwise != NULL ? type_of_argument(walk, otherwise) : TYPE_LITERAL);
    foreach (cell, tree->args)
        choose(walk, &choice, type_of_argument(walk, (Node *)((CaseWhen *)lfirst(cell))->result));
    return chosen(&choice);
}

/* The agent could have put a table's row type before what a type's name means now. */
static bool written_types_are_sure(struct walk *walk)
{
    return !overloads_may_change(walk) || (builtins_are_first(walk) && !walk->context->path_open);
}

/* --- arrays --------------------------------------------------------------------------------- */

static uint32_t array_of(const struct walk *walk, uint32_t element)
{
    const struct type *type =
        element != TYPE_UNSURE ? catalog_type_by_oid(walk->context->catalog, element) : NULL;
    return type == NULL ? TYPE_UNSURE : type->is_array ? type->oid : type->array;
}

/* ARRAY[…]; arrays in it are its lower dimensions. */
static uint32_t type_of_array(struct walk *walk, const A_ArrayExpr *tree)
{
    return tree->elements != NIL ? array_of(walk, common_type(walk, tree->elements)) : TYPE_UNSURE;
}

static uint32_t type_of_cast(struct walk *walk, const TypeCast *cast)
{
    const struct type *type = element_of_name(walk, cast->typeName);
    if (type == NULL || !written_types_are_sure(walk))
        return TYPE_UNSURE;
    return cast->typeName->arrayBounds == NIL ? type->oid : array_of(walk, type->oid);
}

static uint32_t element_of_array(struct walk *walk, uint32_t array)
{
    const struct catalog *catalog = walk->context->catalog;
    const struct type *type = array != TYPE_UNSURE ? type_without_domains(catalog, array) : NULL;
    return type != NULL && type->is_array ? type->base : TYPE_UNSURE;
}

uint32_t type_of_elements(struct walk *walk, Node *array)
{
    uint32_t type = type_of_argument(walk, array);
    if (type == TYPE_LITERAL)
        return TYPE_LITERAL;
    return type != TYPE_UNSURE ? element_of_array(walk, type) : TYPE_UNSURE;
}

/* --- calls ---------------------------------------------------------------------------------- */

static struct text schema_of_names(List *names)
{
    return list_length(names) > 1 ? text_from(strVal(list_nth(names, list_length(names) - 2)))
                                  : (struct text){0};
}

/* A parameter of no declared type is no row. */
static bool may_be_field(struct walk *walk, const FuncCall *call)
{
    Node *argument = list_length(call->args) == 1 ? linitial(call->args) : NULL;
    return argument != NULL && list_length(call->funcname) == 1 && !IsA(argument, ParamRef) &&
           type_may_have_fields(walk->context->catalog, type_of_argument(walk, argument));
}

static uint32_t type_of_call(struct walk *walk, const FuncCall *call)
{
    struct text name = text_from(strVal(llast(call->funcname)));
    if (list_length(call->funcname) > 2)
        return TYPE_UNSURE;
    const struct argument_types types = argument_types_of(walk, call);
    return result_of_function(walk, schema_of_names(call->funcname), name, &types,
                              may_be_field(walk, call));
}

static uint32_t type_of_operator(struct walk *walk, const A_Expr *tree)
{
    bool rows = (tree->lexpr != NULL && IsA(tree->lexpr, RowExpr)) || IsA(tree->rexpr, RowExpr);
    if (rows || list_length(tree->name) > 2)
        return TYPE_UNSURE;
    const struct operand_types types = {.prefix = tree->lexpr == NULL,
                                        .left = type_of_argument(walk, tree->lexpr),
                                        .right = type_of_argument(walk, tree->rexpr)};
    return result_of_operator(walk, schema_of_names(tree->name),
                              text_from(strVal(llast(tree->name))), &types);
}

/* NULLIF is what its left side is to the operator. */
static uint32_t type_of_nullif(struct walk *walk, const A_Expr *tree)
{
    uint32_t type = type_of_argument(walk, tree->lexpr);
    return type != TYPE_LITERAL && type == type_of_argument(walk, tree->rexpr) ? type : TYPE_UNSURE;
}

static uint32_t type_of_operation(struct walk *walk, const A_Expr *tree)
{
    switch (tree->kind) {
    case AEXPR_OP:
    case AEXPR_LIKE:
    case AEXPR_ILIKE:
    case AEXPR_SIMILAR:
        return type_of_operator(walk, tree);
    case AEXPR_NULLIF:
        return type_of_nullif(walk, tree);
    default:
        return TYPE_BOOL; /* the server refuses others */
    }
}

static uint32_t type_of_sublink(struct walk *walk, SubLink *link)
{
    bool is_value = link->subLinkType == EXPR_SUBLINK || link->subLinkType == ARRAY_SUBLINK;
    if (!is_value)
        return TYPE_BOOL;
    const struct item *columns = sublink_columns(walk, link);
    if (columns == NULL || columns->column_count == 0 || !columns->columns_known)
        return TYPE_UNSURE;
    uint32_t type = columns->columns[0].type;
    return link->subLinkType == ARRAY_SUBLINK ? array_of(walk, type) : type;
}

/* Fields of rows and elements of arrays. */
static uint32_t type_of_indirection(struct walk *walk, A_Indirection *tree)
{
    uint32_t type = type_of_argument(walk, tree->arg);
    struct item *row = row_of_expression(walk, tree->arg);
    ListCell *cell;
    foreach (cell, tree->indirection) {
        Node *node = lfirst(cell);
        if (IsA(node, A_Indices)) {
            type = ((A_Indices *)node)->is_slice ? TYPE_UNSURE : element_of_array(walk, type);
        } else if (IsA(node, String) && row != NULL && row->columns_known) {
            const struct item_column *column = item_column_named(row, text_from(strVal(node)));
            type = column != NULL ? column->type : TYPE_UNSURE;
        } else {
            return TYPE_UNSURE;
        }
        row = item_of_row_type(walk, type);
    }
    return type;
}

/* A column of which not even the place in its relation is known may have any type. */
static uint32_t type_of_column(struct walk *walk, const ColumnRef *reference)
{
    const struct resolution *resolution = scope_resolution(walk, reference);
    if (resolution->unclear || resolution->column == NULL || resolution->item == NULL ||
        !resolution->item->columns_known)
        return TYPE_UNSURE;
    return resolution->column->type;
}

/* --- expressions ---------------------------------------------------------------------------- */

static uint32_t type_of_node(struct walk *walk, Node *node)
{
    switch (nodeTag(node)) {
    case T_A_Const:
        return type_of_constant((A_Const *)node);
    case T_ParamRef:
        return type_of_parameter(walk, (ParamRef *)node);
    case T_ColumnRef:
        return type_of_column(walk, (ColumnRef *)node);
    case T_TypeCast:
        return type_of_cast(walk, (TypeCast *)node);
    case T_A_ArrayExpr:
        return type_of_array(walk, (A_ArrayExpr *)node);
    case T_A_Indirection:
        return type_of_indirection(walk, (A_Indirection *)node);
    case T_CollateClause:
        return type_of_argument(walk, (Node *)((CollateClause *)node)->arg);
    case T_SQLValueFunction:
        return type_of_sql_value((SQLValueFunction *)node);
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
        return TYPE_BOOL;
    case T_CoalesceExpr:
        return common_type(walk, ((CoalesceExpr *)node)->args);
    case T_MinMaxExpr:
        return common_type(walk, ((MinMaxExpr *)node)->args);
    case T_CaseExpr:
        return type_of_case(walk, (CaseExpr *)node);
    case T_FuncCall:
        return type_of_call(walk, (FuncCall *)node);
    case T_A_Expr:
        return type_of_operation(walk, (A_Expr *)node);
    case T_SubLink:
        return type_of_sublink(walk, (SubLink *)node);
    default:
        return TYPE_UNSURE;
    }
}

/* Kinds whose type is a matter of everything below them. */
static bool is_remembered(Node *node)
{
    return IsA(node, A_Expr) || IsA(node, FuncCall) || IsA(node, CaseExpr) ||
           IsA(node, CoalesceExpr) || IsA(node, MinMaxExpr) || IsA(node, A_ArrayExpr) ||
           IsA(node, A_Indirection);
}

static uint32_t remembered_type(struct walk *walk, Node *node)
{
    bool fresh;
    uintptr_t known = *walk_seen(walk, (uintptr_t)node, TEXT("type"), (struct text){0}, &fresh);
    if (!fresh)
        return (uint32_t)known;
    uint32_t type = type_of_node(walk, node);
    *walk_seen(walk, (uintptr_t)node, TEXT("type"), (struct text){0}, &fresh) = type;
    return type;
}

uint32_t type_of_argument(struct walk *walk, Node *node)
{
    if (node == NULL || walk->failed || walk->context->catalog == NULL ||
        walk->depth >= LIMIT_STATEMENT_DEPTH)
        return TYPE_UNSURE;
    walk->depth++;
    uint32_t type = is_remembered(node) ? remembered_type(walk, node) : type_of_node(walk, node);
    walk->depth--;
    return type;
}

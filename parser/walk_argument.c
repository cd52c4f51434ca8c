/*
 * walk_argument.c - the type that the server gives to an expression, where that is sure.
 *
 * Only what needs no choice between overloads is answered: constants, columns, casts, declared
 * parameters, and calls of which all built-in overloads that the arguments reach give the same.
 * TYPE_UNSURE is always a right answer.
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

/* Values that become one type, as those of COALESCE. */
struct choice {
    uint32_t type;
    bool literals, differ;
};

static void choose(struct walk *walk, struct choice *choice, Node *node)
{
    uint32_t type = node != NULL ? type_of_argument(walk, node) : TYPE_LITERAL;
    if (type == TYPE_LITERAL) {
        choice->literals = true;
        return;
    }
    choice->differ = choice->differ || type == TYPE_UNSURE ||
                     (choice->type != TYPE_UNSURE && choice->type != type);
    choice->type = type;
}

/* Literals take the others' type, but of domains that of their base. */
static uint32_t chosen(const struct walk *walk, const struct choice *choice)
{
    if (choice->differ || choice->type == TYPE_UNSURE)
        return TYPE_UNSURE;
    const struct type *type = catalog_type_by_oid(walk->context->catalog, choice->type);
    bool plain = type != NULL && (type->kind == 'b' || type->kind == 'e');
    return plain || !choice->literals ? choice->type : TYPE_UNSURE;
}

static struct choice choice_of(struct walk *walk, List *nodes)
{
    struct choice choice = {0};
    ListCell *cell;
    foreach (cell, nodes)
        choose(walk, &choice, lfirst(cell));
    return choice;
}

static uint32_t common_type(struct walk *walk, List *nodes)
{
    const struct choice choice = choice_of(walk, nodes);
    return chosen(walk, &choice);
}

static uint32_t type_of_case(struct walk *walk, const CaseExpr *tree)
{
    struct choice choice = {0};
    ListCell *cell;
    foreach (cell, tree->args)
        choose(walk, &choice, (Node *)((CaseWhen *)lfirst(cell))->result);
    choose(walk, &choice, (Node *)tree->defresult);
    return chosen(walk, &choice);
}

static uint32_t element_of_array(struct walk *walk, uint32_t array)
{
    const struct catalog *catalog = walk->context->catalog;
    const struct type *type = array != TYPE_UNSURE ? catalog_type_by_oid(catalog, array) : NULL;
    return type != NULL && type->is_array ? type->base : TYPE_UNSURE;
}

uint32_t type_of_elements(struct walk *walk, Node *array)
{
    if (array == NULL || walk->context->catalog == NULL || overloads_may_change(walk))
        return TYPE_UNSURE;
    if (IsA(array, A_ArrayExpr)) {
        const struct choice choice = choice_of(walk, ((A_ArrayExpr *)array)->elements);
        bool only_literals = choice.literals && !choice.differ && choice.type == TYPE_UNSURE;
        return only_literals ? TYPE_TEXT : chosen(walk, &choice);
    }
    if (IsA(array, TypeCast) && ((TypeCast *)array)->typeName->arrayBounds != NIL) {
        const struct type *element = element_of_name(walk, ((TypeCast *)array)->typeName);
        return element != NULL ? element->oid : TYPE_UNSURE;
    }
    uint32_t type = type_of_argument(walk, array);
    return type == TYPE_LITERAL ? TYPE_LITERAL : element_of_array(walk, type);
}

/* --- calls ---------------------------------------------------------------------------------- */

static uint32_t type_of_call(struct walk *walk, const FuncCall *call)
{
    int parts = list_length(call->funcname);
    struct text name = text_from(strVal(llast(call->funcname)));
    if (parts > 2 || (parts == 2 && strcmp(strVal(linitial(call->funcname)), "pg_catalog") != 0))
        return TYPE_UNSURE;
    const struct argument_types types = argument_types_of(walk, call);
    if (!types.known || (types.count == 1 && type_has_name(walk, name)))
        return TYPE_UNSURE; /* type(value) is a cast */
    return result_of_function(walk, name, parts == 1, &types);
}

static uint32_t type_of_operator(struct walk *walk, const A_Expr *tree)
{
    int parts = list_length(tree->name);
    bool rows = (tree->lexpr != NULL && IsA(tree->lexpr, RowExpr)) || IsA(tree->rexpr, RowExpr);
    if (rows || parts > 2 ||
        (parts == 2 && strcmp(strVal(linitial(tree->name)), "pg_catalog") != 0))
        return TYPE_UNSURE;
    const struct operand_types types = {.prefix = tree->lexpr == NULL,
                                        .left = type_of_argument(walk, tree->lexpr),
                                        .right = type_of_argument(walk, tree->rexpr)};
    return result_of_operator(walk, text_from(strVal(llast(tree->name))), parts == 1, &types);
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
        return TYPE_UNSURE;
    default:
        return TYPE_BOOL; /* the server refuses others */
    }
}

static uint32_t type_of_sublink(struct walk *walk, SubLink *link)
{
    if (link->subLinkType != EXPR_SUBLINK)
        return link->subLinkType == ARRAY_SUBLINK ? TYPE_UNSURE : TYPE_BOOL;
    const struct item *columns = sublink_columns(walk, link);
    return columns != NULL && columns->column_count > 0 && columns->columns_known
               ? columns->columns[0].type
               : TYPE_UNSURE;
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
        return type_of_expression(walk, node);
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
           IsA(node, CoalesceExpr) || IsA(node, MinMaxExpr);
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
        overloads_may_change(walk) || walk->depth >= LIMIT_STATEMENT_DEPTH)
        return TYPE_UNSURE;
    walk->depth++;
    uint32_t type = is_remembered(node) ? remembered_type(walk, node) : type_of_node(walk, node);
    walk->depth--;
    return type;
}

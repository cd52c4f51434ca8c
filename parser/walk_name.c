/*
 * walk_name.c - what the server would call an expression, and of which row or type it surely is.
 *
 * Names decide what an outer query's reference means, so they follow the server's own rules for
 * unlabelled targets. Rows and types are answers only where they are certain; NULL and 0 say
 * unknown.
 */
#include "parser/walk_scope.h"

/* How good a name is: a type's or CASE's name gives way to nothing better. */
enum name_strength { NAME_NONE = 0, NAME_WEAK, NAME_STRONG };

static enum name_strength name_inside(Node *node, struct text *name, int depth);

static enum name_strength strong(struct text *name, const char *value)
{
    *name = text_from(value);
    return NAME_STRONG;
}

/* The last String of a dotted name or an indirection; false if there is none. */
static bool last_string(List *list, struct text *name)
{
    bool found = false;
    ListCell *cell;
    foreach (cell, list) {
        Node *node = lfirst(cell);
        if (IsA(node, String)) {
            *name = text_from(strVal(node));
            found = true;
        }
    }
    return found;
}

static enum name_strength or_weak(Node *inner, struct text weak, struct text *name, int depth)
{
    enum name_strength strength = name_inside(inner, name, depth + 1);
    if (strength == NAME_STRONG)
        return strength;
    *name = weak;
    return NAME_WEAK;
}

static enum name_strength name_of_cast(TypeCast *cast, struct text *name, int depth)
{
    struct text type = TEXT("?column?");
    if (cast->typeName == NULL || !last_string(cast->typeName->names, &type))
        return name_inside(cast->arg, name, depth + 1);
    return or_weak(cast->arg, type, name, depth);
}

static enum name_strength name_of_target(List *targets, struct text *name, int depth)
{
    if (targets == NIL)
        return NAME_NONE;
    ResTarget *target = linitial(targets);
    if (target->name != NULL)
        return strong(name, target->name);
    if (name_inside(target->val, name, depth + 1) == NAME_NONE)
        *name = TEXT("?column?");
    return NAME_STRONG;
}

static enum name_strength name_of_sublink(SubLink *link, struct text *name, int depth)
{
    if (link->subLinkType == EXISTS_SUBLINK)
        return strong(name, "exists");
    if (link->subLinkType == ARRAY_SUBLINK)
        return strong(name, "array");
    if (link->subLinkType != EXPR_SUBLINK || !IsA(link->subselect, SelectStmt))
        return NAME_NONE;
    SelectStmt *select = (SelectStmt *)link->subselect;
    while (select->op != SETOP_NONE && select->larg != NULL)
        select = select->larg;
    if (select->valuesLists != NIL)
        return strong(name, "column1");
    return name_of_target(select->targetList, name, depth);
}

static const char *name_of_sql_value(SQLValueFunctionOp op)
{
    switch (op) {
    case SVFOP_CURRENT_DATE:
        return "current_date";
    case SVFOP_CURRENT_TIME:
    case SVFOP_CURRENT_TIME_N:
        return "current_time";
    case SVFOP_CURRENT_TIMESTAMP:
    case SVFOP_CURRENT_TIMESTAMP_N:
        return "current_timestamp";
    case SVFOP_LOCALTIME:
    case SVFOP_LOCALTIME_N:
        return "localtime";
    case SVFOP_LOCALTIMESTAMP:
    case SVFOP_LOCALTIMESTAMP_N:
        return "localtimestamp";
    case SVFOP_CURRENT_ROLE:
        return "current_role";
    case SVFOP_CURRENT_USER:
        return "current_user";
    case SVFOP_USER:
        return "user";
    case SVFOP_SESSION_USER:
        return "session_user";
    case SVFOP_CURRENT_CATALOG:
        return "current_catalog";
    case SVFOP_CURRENT_SCHEMA:
        return "current_schema";
    }
    return "?column?";
}

static const char *name_of_xml(XmlExprOp op)
{
    switch (op) {
    case IS_XMLCONCAT:
        return "xmlconcat";
    case IS_XMLELEMENT:
        return "xmlelement";
    case IS_XMLFOREST:
        return "xmlforest";
    case IS_XMLPARSE:
        return "xmlparse";
    case IS_XMLPI:
        return "xmlpi";
    case IS_XMLROOT:
        return "xmlroot";
    case IS_XMLSERIALIZE:
        return "xmlserialize";
    case IS_DOCUMENT:
        break;
    }
    return NULL;
}

/* Node kinds whose name is always the same. */
static const char *fixed_name(Node *node)
{
    switch (nodeTag(node)) {
    case T_GroupingFunc:
        return "grouping";
    case T_A_ArrayExpr:
        return "array";
    case T_RowExpr:
        return "row";
    case T_CoalesceExpr:
        return "coalesce";
    case T_MinMaxExpr:
        return ((MinMaxExpr *)node)->op == IS_GREATEST ? "greatest" : "least";
    case T_SQLValueFunction:
        return name_of_sql_value(((SQLValueFunction *)node)->op);
    case T_XmlExpr:
        return name_of_xml(((XmlExpr *)node)->op);
    case T_XmlSerialize:
        return "xmlserialize";
    case T_A_Expr:
        return ((A_Expr *)node)->kind == AEXPR_NULLIF ? "nullif" : NULL;
    default:
        return NULL;
    }
}

static enum name_strength name_inside(Node *node, struct text *name, int depth)
{
    if (node == NULL || depth > LIMIT_STATEMENT_DEPTH)
        return NAME_NONE;
    const char *fixed = fixed_name(node);
    if (fixed != NULL)
        return strong(name, fixed);
    switch (nodeTag(node)) {
    case T_ColumnRef:
        return last_string(((ColumnRef *)node)->fields, name) ? NAME_STRONG : NAME_NONE;
    case T_A_Indirection:
        if (last_string(((A_Indirection *)node)->indirection, name))
            return NAME_STRONG;
        return name_inside(((A_Indirection *)node)->arg, name, depth + 1);
    case T_FuncCall:
        return last_string(((FuncCall *)node)->funcname, name) ? NAME_STRONG : NAME_NONE;
    case T_TypeCast:
        return name_of_cast((TypeCast *)node, name, depth);
    case T_CollateClause:
        return name_inside(((CollateClause *)node)->arg, name, depth + 1);
    case T_SubLink:
        return name_of_sublink((SubLink *)node, name, depth);
    case T_CaseExpr:
        return or_weak((Node *)((CaseExpr *)node)->defresult, TEXT("case"), name, depth);
    default:
        return NAME_NONE;
    }
}

struct text name_of_expression(Node *node)
{
    struct text name;
    return name_inside(node, &name, 0) == NAME_NONE ? TEXT("?column?") : name;
}

/* --- rows and types ------------------------------------------------------------------------- */

static struct item *row_of_column(struct walk *walk, const struct item_column *column)
{
    return column->row != NULL ? column->row : item_of_row_type(walk, column->type);
}

static struct item *row_of_reference(struct walk *walk, const ColumnRef *reference)
{
    struct resolution *resolution = scope_resolution(walk, reference);
    if (resolution->unclear)
        return NULL;
    if (resolution->whole_row)
        return resolution->item;
    return resolution->column != NULL ? row_of_column(walk, resolution->column) : NULL;
}

static struct item *row_of_indirection(struct walk *walk, A_Indirection *tree)
{
    struct item *row = row_of_expression(walk, tree->arg);
    ListCell *cell;
    foreach (cell, tree->indirection) {
        Node *node = lfirst(cell);
        if (row == NULL || !IsA(node, String))
            return NULL;
        struct item_column *column = item_column_named(row, text_from(strVal(node)));
        row = column != NULL ? row_of_column(walk, column) : NULL;
    }
    return row;
}

const struct item *sublink_columns(struct walk *walk, SubLink *link)
{
    bool fresh;
    uintptr_t known = *walk_seen(walk, (uintptr_t)link, (struct text){0}, (struct text){0}, &fresh);
    return (const struct item *)known;
}

static struct item *row_of_sublink(struct walk *walk, SubLink *link)
{
    const struct item *columns = sublink_columns(walk, link);
    if (link->subLinkType != EXPR_SUBLINK || columns == NULL || columns->column_count == 0)
        return NULL;
    return row_of_column(walk, &columns->columns[0]);
}

struct item *row_of_expression(struct walk *walk, Node *node)
{
    struct item *row = NULL;
    if (node == NULL || !walk_enter(walk))
        return NULL;
    if (IsA(node, ColumnRef))
        row = row_of_reference(walk, (ColumnRef *)node);
    else if (IsA(node, A_Indirection))
        row = row_of_indirection(walk, (A_Indirection *)node);
    else if (IsA(node, SubLink))
        row = row_of_sublink(walk, (SubLink *)node);
    else if (IsA(node, TypeCast))
        row = item_of_row_type(walk, type_of_expression(walk, node));
    walk_leave(walk);
    return row;
}

uint32_t type_of_expression(struct walk *walk, Node *node)
{
    if (node == NULL)
        return 0;
    if (IsA(node, TypeCast)) {
        const struct type *type = type_of_name(walk, ((TypeCast *)node)->typeName);
        return type != NULL ? type->oid : 0;
    }
    if (IsA(node, ColumnRef)) {
        struct resolution *resolution = scope_resolution(walk, (ColumnRef *)node);
        return !resolution->unclear && resolution->column != NULL ? resolution->column->type : 0;
    }
    return 0;
}

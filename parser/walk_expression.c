/*
 * walk_expression.c - every node kind that can stand in an expression, every field of it.
 *
 * A kind without a case here fails the walk: a new grammar's node is refused until somebody has
 * read it.
 */
#include "parser/walk_scope.h"

bool is_repeated_source(Node *node)
{
    return IsA(node, MultiAssignRef) && ((MultiAssignRef *)node)->colno != 1;
}

void expressions(struct walk *walk, struct scope *scope, List *nodes)
{
    ListCell *cell;
    foreach (cell, nodes)
        expression(walk, scope, lfirst(cell));
}

void value_for(struct walk *walk, struct scope *scope, Node *node, uint32_t type)
{
    expression(walk, scope, node);
    casts_of_value(walk, node, type, CAST_ASSIGNMENT, -1);
}

void condition(struct walk *walk, struct scope *scope, Node *node)
{
    value_for(walk, scope, node, TYPE_BOOL);
}

static void conditions(struct walk *walk, struct scope *scope, List *nodes)
{
    ListCell *cell;
    foreach (cell, nodes)
        condition(walk, scope, lfirst(cell));
}

/* --- operators ------------------------------------------------------------------------------ */

static void operator_expression(struct walk *walk, struct scope *scope, A_Expr *tree)
{
    expression(walk, scope, tree->lexpr);
    expression(walk, scope, tree->rexpr);
    if (tree->kind > AEXPR_NOT_BETWEEN_SYM)
        walk_unknown(walk, "operator expression", (int)tree->kind, tree->location);
    else
        operators_of_expression(walk, tree);
    casts_of_expression(walk, tree);
}

static void sublink(struct walk *walk, struct scope *scope, SubLink *tree)
{
    expression(walk, scope, tree->testexpr);
    struct query_result result = query(walk, scope, tree->subselect, NULL);
    bool fresh;
    *walk_seen(walk, (uintptr_t)tree, (struct text){0}, (struct text){0}, &fresh) =
        (uintptr_t)result.columns;
    operators_of_sublink(walk, tree);
    casts_of_sublink(walk, tree);
}

/* What is compared, or a condition. */
static void case_when(struct walk *walk, struct scope *scope, CaseWhen *when, bool is_compared)
{
    if (!IsA(when, CaseWhen)) {
        walk_unknown(walk, "CASE", (int)nodeTag(when), -1);
        return;
    }
    if (is_compared)
        expression(walk, scope, (Node *)when->expr);
    else
        condition(walk, scope, (Node *)when->expr);
    expression(walk, scope, (Node *)when->result);
}

static void case_expression(struct walk *walk, struct scope *scope, CaseExpr *tree)
{
    ListCell *cell;
    expression(walk, scope, (Node *)tree->arg);
    foreach (cell, tree->args)
        case_when(walk, scope, lfirst(cell), tree->arg != NULL);
    expression(walk, scope, (Node *)tree->defresult);
    operators_of_case(walk, tree);
    casts_of_case(walk, tree);
}

/* --- the rest ------------------------------------------------------------------------------- */

static void parameter(struct walk *walk, ParamRef *tree)
{
    if (tree->number < 1 || tree->number > UINT16_MAX)
        walk_fail(walk, ANALYSE_REJECTED, "42P02", tree->location, "there is no parameter $%d",
                  tree->number);
    else if (tree->number > walk->shape->parameter_max)
        walk->shape->parameter_max = (uint16_t)tree->number;
    bool fresh;
    walk_seen(walk, seen_owner(SEEN_PARAMETER, (size_t)tree->number), (struct text){0},
              (struct text){0}, &fresh);
    if (!fresh && type_of_argument(walk, (Node *)tree) == TYPE_UNSURE)
        walk->parameter_again = true;
}

/* Of the content of elements nothing is asked. */
static void xml_expression(struct walk *walk, struct scope *scope, XmlExpr *tree)
{
    ListCell *cell;
    bool as_it_is = tree->op == IS_XMLELEMENT || tree->op == IS_XMLFOREST;
    bool is_text = tree->op == IS_XMLPARSE || tree->op == IS_XMLPI;
    expressions(walk, scope, tree->named_args);
    foreach (cell, tree->args) {
        bool is_document = !is_text && cell == list_head(tree->args);
        uint32_t type = is_document || tree->op == IS_XMLCONCAT ? TYPE_XML : TYPE_TEXT;
        if (as_it_is)
            expression(walk, scope, lfirst(cell));
        else
            value_for(walk, scope, lfirst(cell), type);
    }
}

static void xml_serialize(struct walk *walk, struct scope *scope, XmlSerialize *tree)
{
    value_for(walk, scope, tree->expr, TYPE_XML);
    walk_type(walk, tree->typeName);
    casts_between(walk, TYPE_TEXT, walk_type_oid(walk, tree->typeName), CAST_IMPLICIT, -1);
}

void sort_clause(struct walk *walk, struct scope *scope, List *sorts, const struct item *outputs)
{
    ListCell *cell;
    foreach (cell, sorts) {
        SortBy *sort = lfirst(cell);
        if (!IsA(sort, SortBy)) {
            walk_unknown(walk, "ORDER BY", (int)nodeTag(sort), -1);
            continue;
        }
        if (sort->useOp != NIL)
            operator_use(walk, sort->useOp, sort->location);
        ColumnRef *reference = IsA(sort->node, ColumnRef) ? (ColumnRef *)sort->node : NULL;
        bool is_output = outputs != NULL && walk_spend(walk, outputs->column_count) &&
                         reference != NULL && !is_star(sort->node) &&
                         list_length(reference->fields) == 1 &&
                         item_column_named(outputs, text_from(strVal(linitial(reference->fields))));
        if (is_output)
            *scope_resolution(walk, reference) = (struct resolution){.output = true};
        else
            expression(walk, scope, sort->node);
    }
}

/* RANGE has offsets of what the order's type can be moved by: a number or an interval, if that is one of
 * pg_catalog's. */
static void frame_offset(struct walk *walk, struct scope *scope, WindowDef *window, Node *offset)
{
    static const uint32_t distances[] = {TYPE_INT2,   TYPE_INT4,    TYPE_INT8,
                                         TYPE_FLOAT8, TYPE_NUMERIC, TYPE_INTERVAL};
    bool range = (window->frameOptions & FRAMEOPTION_RANGE) != 0;
    value_for(walk, scope, offset, TYPE_INT8);
    if (offset == NULL || !range || !has_casts(walk) || walk->failed)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(distances); i++)
        casts_of_value(walk, offset, distances[i], CAST_ASSIGNMENT, -1);
    ListCell *cell;
    foreach (cell, window->orderClause) {
        uint32_t type = type_of_value(walk, ((SortBy *)lfirst(cell))->node);
        if (type == TYPE_UNSURE || is_user_type(walk->context->catalog, type))
            casts_of_value(walk, offset, TYPE_UNSURE, CAST_ASSIGNMENT, -1);
    }
}

void window_definition(struct walk *walk, struct scope *scope, WindowDef *window)
{
    if (window == NULL)
        return;
    expressions(walk, scope, window->partitionClause);
    sort_clause(walk, scope, window->orderClause, NULL);
    frame_offset(walk, scope, window, window->startOffset);
    frame_offset(walk, scope, window, window->endOffset);
}

static bool level_has_column(struct walk *walk, const struct scope *scope, struct text name)
{
    for (size_t i = 0; scope != NULL && i < scope->items.count; i++) {
        const struct item *item = scope->items.items[i];
        if (!walk_spend(walk, item->column_count + 1))
            return true;
        if (item->columns_visible && item_is_visible(scope, item) &&
            (!item->columns_known || item_column_named(item, name) != NULL))
            return true;
    }
    return false;
}

static void group_item(struct walk *walk, struct scope *scope, Node *node,
                       const struct item *outputs)
{
    if (!walk_enter(walk))
        return;
    if (IsA(node, GroupingSet)) {
        group_clause(walk, scope, ((GroupingSet *)node)->content, outputs);
    } else if (IsA(node, RowExpr) && ((RowExpr *)node)->row_format == COERCE_IMPLICIT_CAST) {
        group_clause(walk, scope, ((RowExpr *)node)->args, outputs);
    } else if (IsA(node, ColumnRef) && !is_star(node) &&
               list_length(((ColumnRef *)node)->fields) == 1) {
        struct text name = text_from(strVal(linitial(((ColumnRef *)node)->fields)));
        if (level_has_column(walk, scope, name) || item_column_named(outputs, name) == NULL)
            expression(walk, scope, node);
        else
            *scope_resolution(walk, (ColumnRef *)node) = (struct resolution){.output = true};
    } else {
        expression(walk, scope, node);
    }
    walk_leave(walk);
}

void group_clause(struct walk *walk, struct scope *scope, List *groups, const struct item *outputs)
{
    ListCell *cell;
    foreach (cell, groups)
        group_item(walk, scope, lfirst(cell), outputs);
}

/* Nodes that need more than walking their children. */
static bool special_node(struct walk *walk, struct scope *scope, Node *node)
{
    switch (nodeTag(node)) {
    case T_ColumnRef:
        column_reference(walk, scope, (ColumnRef *)node);
        return true;
    case T_ParamRef:
        parameter(walk, (ParamRef *)node);
        return true;
    case T_FuncCall:
        function_call(walk, scope, (FuncCall *)node);
        return true;
    case T_TypeCast:
        type_cast(walk, scope, (TypeCast *)node);
        return true;
    case T_A_Indirection:
        indirection(walk, scope, (A_Indirection *)node);
        return true;
    case T_SubLink:
        sublink(walk, scope, (SubLink *)node);
        return true;
    case T_CaseExpr:
        case_expression(walk, scope, (CaseExpr *)node);
        return true;
    case T_XmlExpr:
        xml_expression(walk, scope, (XmlExpr *)node);
        return true;
    case T_List:
        expressions(walk, scope, (List *)node);
        return true;
    case T_A_Const:
    case T_SQLValueFunction:
    case T_SetToDefault:
        return true;
    case T_CurrentOfExpr:
        walk->shape->positioned = true;
        return true;
    default:
        return false;
    }
}

static void plain_node(struct walk *walk, struct scope *scope, Node *node)
{
    switch (nodeTag(node)) {
    case T_A_Expr:
        operator_expression(walk, scope, (A_Expr *)node);
        break;
    case T_BoolExpr:
        conditions(walk, scope, ((BoolExpr *)node)->args);
        break;
    case T_CollateClause:
        expression(walk, scope, ((CollateClause *)node)->arg);
        break;
    case T_A_ArrayExpr:
        expressions(walk, scope, ((A_ArrayExpr *)node)->elements);
        casts_of_choice(walk, ((A_ArrayExpr *)node)->elements, -1);
        break;
    case T_RowExpr:
        expressions(walk, scope, ((RowExpr *)node)->args);
        break;
    case T_CoalesceExpr:
        expressions(walk, scope, ((CoalesceExpr *)node)->args);
        casts_of_choice(walk, ((CoalesceExpr *)node)->args, -1);
        break;
    case T_MinMaxExpr:
        expressions(walk, scope, ((MinMaxExpr *)node)->args);
        casts_of_choice(walk, ((MinMaxExpr *)node)->args, -1);
        break;
    case T_GroupingFunc:
        expressions(walk, scope, ((GroupingFunc *)node)->args);
        break;
    case T_NullTest:
        expression(walk, scope, (Node *)((NullTest *)node)->arg);
        break;
    case T_BooleanTest:
        condition(walk, scope, (Node *)((BooleanTest *)node)->arg);
        break;
    case T_NamedArgExpr:
        expression(walk, scope, (Node *)((NamedArgExpr *)node)->arg);
        break;
    case T_ResTarget:
        expression(walk, scope, ((ResTarget *)node)->val);
        break;
    case T_MultiAssignRef: /* its columns share one source */
        if (!is_repeated_source(node))
            expression(walk, scope, ((MultiAssignRef *)node)->source);
        break;
    case T_XmlSerialize:
        xml_serialize(walk, scope, (XmlSerialize *)node);
        break;
    default:
        walk_unknown(walk, "expression", (int)nodeTag(node), -1);
    }
}

void expression(struct walk *walk, struct scope *scope, Node *node)
{
    if (node == NULL || walk->failed || !walk_enter(walk))
        return;
    if (!special_node(walk, scope, node))
        plain_node(walk, scope, node);
    walk_leave(walk);
}

/* --- expressions outside queries ------------------------------------------------------------ */

static void relation_scope(struct walk *walk, struct scope *scope, const struct relation *relation)
{
    static const char *const aliases[] = {"new", "old"};
    scope_init(scope, NULL);
    if (relation == NULL)
        return;
    const struct named named = {.object = {OBJECT_NAME, relation->schema, relation->name},
                                .relation = relation};
    struct item *item = item_of_relation(walk, &named, relation->name, -1);
    item_list_add(walk, &scope->items, item);
    item_list_add(walk, &scope->sources, item);
    for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
        item = item_of_relation(walk, &named, text_from(aliases[i]), -1);
        item->aliased = true;
        item->columns_visible = false;
        item_list_add(walk, &scope->items, item);
    }
}

void walk_expression(struct walk *walk, Node *node, const struct relation *relation)
{
    struct scope scope;
    relation_scope(walk, &scope, relation);
    bool inside_write = walk->inside_write;
    walk->inside_write = true;
    expression(walk, &scope, node);
    walk->inside_write = inside_write;
}

void walk_condition(struct walk *walk, Node *node, const struct relation *relation)
{
    walk_expression(walk, node, relation);
    walk_assignment(walk, node, TYPE_LITERAL, TYPE_BOOL);
}

void walk_expressions(struct walk *walk, List *list, const struct relation *relation)
{
    ListCell *cell;
    foreach (cell, list)
        walk_expression(walk, lfirst(cell), relation);
}

/*
 * walk_query.c - SELECT in all its forms: CTEs, target lists, set operations, VALUES, locks.
 *
 * Every clause is visited in the scope in which the server reads it. A field that is set where the
 * grammar never sets it, or a node of another kind, fails the walk.
 */
#include "parser/walk_scope.h"

/* --- WITH ----------------------------------------------------------------------------------- */

static struct item *renamed_copy(struct walk *walk, const struct item *columns, List *names)
{
    struct item *copy = item_new(walk, (struct text){0});
    copy->columns_known = columns->columns_known;
    for (size_t i = 0; i < columns->column_count; i++) {
        struct item_column *column = item_add_column(walk, copy, columns->columns[i].name);
        column->type = columns->columns[i].type;
        column->row = columns->columns[i].row;
    }
    item_rename_columns(walk, copy, names);
    copy->renamed = false;
    return copy;
}

static void cte_extra_column(struct walk *walk, struct cte *cte, const char *name)
{
    if (name != NULL)
        item_add_column(walk, cte->shape, text_from(name));
}

/* The columns of a CTE, once those of its query (or of its first arm) are known. */
static void cte_shape(struct walk *walk, struct cte *cte, const struct query_result *result)
{
    cte->shape = renamed_copy(walk, result->columns, cte->tree->aliascolnames);
    cte->shape->cut = result->cut;
    if (cte->tree->search_clause != NULL)
        cte_extra_column(walk, cte, cte->tree->search_clause->search_seq_column);
    if (cte->tree->cycle_clause != NULL) {
        cte_extra_column(walk, cte, cte->tree->cycle_clause->cycle_mark_column);
        cte_extra_column(walk, cte, cte->tree->cycle_clause->cycle_path_column);
    }
}

void cte_walk(struct walk *walk, struct cte *cte)
{
    if (walk->failed || !walk_enter(walk))
        return;
    cte->state = CTE_WALKING;
    struct query_result result = query(walk, cte->scope, cte->tree->ctequery, cte);
    cte_shape(walk, cte, &result);
    if (cte->tree->cycle_clause != NULL) {
        expression(walk, cte->scope, cte->tree->cycle_clause->cycle_mark_value);
        expression(walk, cte->scope, cte->tree->cycle_clause->cycle_mark_default);
    }
    cte->state = CTE_DONE;
    walk_leave(walk);
}

static struct cte *cte_new(struct walk *walk, struct scope *scope, CommonTableExpr *tree)
{
    struct cte *cte = arena_allocate(walk->arena, sizeof *cte);
    cte->name = text_from(tree->ctename);
    cte->tree = tree;
    cte->scope = scope;
    return cte;
}

void with_clause(struct walk *walk, struct scope *scope, WithClause *with)
{
    if (with == NULL)
        return;
    ListCell *cell;
    struct cte *first = NULL, *last = NULL;
    foreach (cell, with->ctes) {
        CommonTableExpr *tree = lfirst(cell);
        if (!IsA(tree, CommonTableExpr)) {
            walk_unknown(walk, "WITH", (int)nodeTag(tree), with->location);
            return;
        }
        struct cte *cte = cte_new(walk, scope, tree);
        if (!with->recursive) {
            cte_walk(walk, cte);
            cte->next = scope->ctes;
            scope->ctes = cte;
        } else if (last == NULL) {
            first = last = cte;
        } else {
            last->next = cte;
            last = cte;
        }
    }
    if (!with->recursive)
        return;
    scope->ctes = first; /* all see all; each is walked when first needed, at the latest here */
    for (struct cte *cte = first; cte != NULL; cte = cte->next) {
        if (cte->state == CTE_WAITING)
            cte_walk(walk, cte);
    }
}

/* --- target lists --------------------------------------------------------------------------- */

/* (expression).* */
static bool expand_row(struct walk *walk, struct scope *scope, Node *value, struct item *out)
{
    if (!IsA(value, A_Indirection) || !IsA(llast(((A_Indirection *)value)->indirection), A_Star))
        return false;
    expression(walk, scope, value);
    A_Indirection *tree = (A_Indirection *)value;
    struct item *row =
        list_length(tree->indirection) == 1 ? row_of_expression(walk, tree->arg) : NULL;
    out->columns_known = out->columns_known && row != NULL && row->columns_known;
    for (size_t i = 0; row != NULL && i < row->column_count; i++) {
        struct item_column *column = item_add_column(walk, out, row->columns[i].name);
        column->type = row->columns[i].type;
        column->row = row->columns[i].row;
    }
    return true;
}

static void target(struct walk *walk, struct scope *scope, ResTarget *tree, struct item *out)
{
    if (!IsA(tree, ResTarget) || tree->indirection != NIL) {
        walk_unknown(walk, "target list", (int)nodeTag(tree), -1);
        return;
    }
    if (is_star(tree->val)) {
        expand_star(walk, scope, (ColumnRef *)tree->val, out);
        return;
    }
    if (expand_row(walk, scope, tree->val, out))
        return;
    expression(walk, scope, tree->val);
    struct item_column *column = item_add_column(
        walk, out, tree->name != NULL ? text_from(tree->name) : name_of_expression(tree->val));
    uint32_t type = type_of_argument(walk, tree->val);
    column->literal = type == TYPE_LITERAL;
    column->type = column->literal ? TYPE_TEXT : type;
    column->row = row_of_expression(walk, tree->val);
}

void target_list(struct walk *walk, struct scope *scope, List *targets, struct item *out)
{
    ListCell *cell;
    foreach (cell, targets) {
        if (walk->failed)
            return;
        target(walk, scope, lfirst(cell), out);
        if (out->column_count > LIMIT_TARGET_COLUMNS)
            walk_fail(walk, ANALYSE_TOO_LARGE, "54011", -1,
                      "target lists can have at most %d entries", LIMIT_TARGET_COLUMNS);
    }
}

/* --- locks ---------------------------------------------------------------------------------- */

static void lock_behind_view(struct walk *walk, const struct relation *view, size_t action)
{
    if (!walk_enter(walk))
        return;
    for (size_t i = 0; i < view->source_count; i++) {
        const struct relation *source =
            catalog_relation_by_oid(walk->context->catalog, view->sources[i].relation);
        bool fresh = false;
        if (source != NULL)
            walk_seen(walk, seen_owner(SEEN_VIEW_WRITE, action), source->schema, source->name,
                      &fresh);
        if (!fresh)
            continue;
        struct object object = {OBJECT_NAME, source->schema, source->name};
        struct action *lock = walk_add(walk, VERB_LOCK, object, walk->actions[action].location);
        lock->lock = LOCK_ROW_SHARE;
        lock->part = PART_VIEW;
        lock->view_action = action;
        lock->relation = source;
        if (relation_is_view(source))
            lock_behind_view(walk, source, action);
    }
    walk_leave(walk);
}

static void lock_item(struct walk *walk, const struct item *item)
{
    if (!walk_enter(walk))
        return;
    if (item->is_relation) {
        size_t index = walk->action_count;
        struct action *action = walk_add(walk, VERB_LOCK, item->object, item->location);
        action->lock = LOCK_ROW_SHARE;
        action->part = PART_STATEMENT;
        action->relation = item->relation;
        action->rows_max = ROWS_UNPROVEN;
        action->unresolved = item->unresolved;
        if (item->relation != NULL && relation_is_view(item->relation))
            lock_behind_view(walk, item->relation, index);
    }
    for (size_t i = 0; i < item->inside.count; i++)
        lock_item(walk, item->inside.items[i]);
    walk_leave(walk);
}

static bool lock_named(struct walk *walk, struct scope *scope, const RangeVar *range)
{
    bool found = false;
    for (size_t i = 0; i < scope->sources.count; i++) {
        const struct item *item = scope->sources.items[i];
        if (!text_is(item->name, range->relname))
            continue;
        lock_item(walk, item);
        found = true;
    }
    return found;
}

/* FOR UPDATE without OF, or OF a name that nothing has, locks everything. */
static void locking_clause(struct walk *walk, struct scope *scope, List *clauses)
{
    ListCell *cell, *name;
    foreach (cell, clauses) {
        LockingClause *clause = lfirst(cell);
        if (!IsA(clause, LockingClause)) {
            walk_unknown(walk, "FOR UPDATE", (int)nodeTag(clause), -1);
            return;
        }
        bool all = clause->lockedRels == NIL;
        foreach (name, clause->lockedRels)
            all = !lock_named(walk, scope, lfirst(name)) || all;
        for (size_t i = 0; all && i < scope->sources.count; i++)
            lock_item(walk, scope->sources.items[i]);
    }
}

/* --- SELECT --------------------------------------------------------------------------------- */

static bool is_limit(Node *limit)
{
    return limit != NULL && !(IsA(limit, A_Const) && ((A_Const *)limit)->isnull);
}

/* Without FROM there is one row, unless a target makes more. */
static bool targets_are_single(List *targets)
{
    ListCell *cell;
    foreach (cell, targets) {
        if (!is_constant(((ResTarget *)lfirst(cell))->val))
            return false;
    }
    return true;
}

static void windows(struct walk *walk, struct scope *scope, List *definitions)
{
    ListCell *cell;
    foreach (cell, definitions)
        window_definition(walk, scope, lfirst(cell));
}

static void distinct_clause(struct walk *walk, struct scope *scope, List *distinct,
                            const struct item *outputs)
{
    ListCell *cell;
    foreach (cell, distinct) {
        if (lfirst(cell) == NULL)
            continue;
        SortBy sort = {.type = T_SortBy, .node = lfirst(cell)};
        ListCell only = {.ptr_value = &sort};
        List list = {.type = T_List, .length = 1, .max_length = 1, .elements = &only};
        sort_clause(walk, scope, &list, outputs);
    }
}

static struct query_result plain_select(struct walk *walk, struct scope *scope, SelectStmt *tree)
{
    struct query_result result = {.columns = item_new(walk, (struct text){0})};
    if (tree->intoClause != NULL)
        walk_into(walk, tree->intoClause);
    from_clause(walk, scope, tree->fromClause);
    target_list(walk, scope, tree->targetList, result.columns);
    condition(walk, scope, tree->whereClause);
    condition(walk, scope, tree->havingClause);
    sort_clause(walk, scope, tree->sortClause, result.columns);
    group_clause(walk, scope, tree->groupClause, result.columns);
    distinct_clause(walk, scope, tree->distinctClause, result.columns);
    windows(walk, scope, tree->windowClause);
    result.sources = scope->sources;
    result.cut = tree->fromClause == NIL ? targets_are_single(tree->targetList)
                                         : where_cuts(walk, scope, tree->whereClause);
    return result;
}

static struct query_result values_select(struct walk *walk, struct scope *scope, SelectStmt *tree)
{
    struct query_result result = {.columns = item_new(walk, (struct text){0}), .cut = true};
    expressions(walk, scope, tree->valuesLists);
    casts_of_rows(walk, tree->valuesLists);
    int count = list_length(linitial(tree->valuesLists));
    for (int i = 0; i < count; i++)
        item_add_column(walk, result.columns, arena_printf(walk->arena, "column%d", i + 1))->type =
            type_of_values(walk, tree->valuesLists, i);
    sort_clause(walk, scope, tree->sortClause, result.columns);
    return result;
}

static uint32_t type_given(const struct item_column *column)
{
    return column->literal ? TYPE_LITERAL : column->type;
}

/* The type of a set operation's column; call it before `left` is changed. */
static uint32_t type_of_both(const struct walk *walk, const struct query_result *left,
                             const struct query_result *right, size_t at)
{
    if (!left->columns->columns_known || !right->columns->columns_known ||
        at >= right->columns->column_count)
        return TYPE_UNSURE;
    const struct item_column *first = &left->columns->columns[at];
    const struct item_column *second = &right->columns->columns[at];
    return type_in_common(walk, type_given(first), type_given(second));
}

static struct query_result set_operation(struct walk *walk, struct scope *scope, SelectStmt *tree,
                                         struct cte *self)
{
    struct query_result left = query(walk, scope, (Node *)tree->larg, NULL);
    if (self != NULL)
        cte_shape(walk, self, &left);
    struct query_result right = query(walk, scope, (Node *)tree->rarg, NULL);
    struct query_result result = {.columns = left.columns, .cut = left.cut && right.cut};
    for (size_t i = 0; i < result.columns->column_count; i++) {
        struct item_column *column = &result.columns->columns[i];
        if (i < right.columns->column_count)
            casts_in_common(walk, type_given(column), type_given(&right.columns->columns[i]), -1);
        column->type = type_of_both(walk, &left, &right, i);
        column->literal = false;
        column->row = NULL;
    }
    sort_clause(walk, scope, tree->sortClause, result.columns);
    return result;
}

static struct query_result select_query(struct walk *walk, struct scope *outer, SelectStmt *tree,
                                        struct cte *self)
{
    struct scope scope;
    struct query_result result;
    scope_init(&scope, outer);
    with_clause(walk, &scope, tree->withClause);
    if (tree->op != SETOP_NONE)
        result = set_operation(walk, &scope, tree, self);
    else if (tree->valuesLists != NIL)
        result = values_select(walk, &scope, tree);
    else
        result = plain_select(walk, &scope, tree);
    value_for(walk, &scope, tree->limitOffset, TYPE_INT8);
    value_for(walk, &scope, tree->limitCount, TYPE_INT8);
    result.cut = result.cut || is_limit(tree->limitCount);
    locking_clause(walk, &scope, tree->lockingClause);
    return result;
}

/* --- any query ------------------------------------------------------------------------------ */

struct query_result query(struct walk *walk, struct scope *outer, Node *tree, struct cte *self)
{
    struct query_result result = {0};
    if (tree != NULL && !walk->failed && walk_enter(walk)) {
        switch (nodeTag(tree)) {
        case T_SelectStmt:
            result = select_query(walk, outer, (SelectStmt *)tree, self);
            break;
        case T_InsertStmt:
        case T_UpdateStmt:
        case T_DeleteStmt:
        case T_MergeStmt:
            result = write_query(walk, outer, tree);
            break;
        default:
            walk_unknown(walk, "query", (int)nodeTag(tree), -1);
        }
        walk_leave(walk);
    }
    if (result.columns == NULL) {
        result.columns = item_new(walk, (struct text){0});
        result.columns->columns_known = false;
    }
    result.columns->cut = result.cut;
    return result;
}

static List *returning_of(Node *tree)
{
    switch (nodeTag(tree)) {
    case T_InsertStmt:
        return ((InsertStmt *)tree)->returningList;
    case T_UpdateStmt:
        return ((UpdateStmt *)tree)->returningList;
    case T_DeleteStmt:
        return ((DeleteStmt *)tree)->returningList;
    default:
        return NIL;
    }
}

static bool has_into(SelectStmt *tree)
{
    while (tree->op != SETOP_NONE && tree->larg != NULL)
        tree = tree->larg;
    return tree->intoClause != NULL;
}

/* What is stored in the columns of a new table later is checked as its types want. */
static void checks_of_columns(struct walk *walk, const struct item *columns)
{
    for (size_t i = 0; has_casts(walk) && i < columns->column_count; i++)
        if (!columns->columns[i].literal)
            checks_of_type(walk, columns->columns[i].type, true, -1);
    if (has_casts(walk) && !columns->columns_known)
        checks_of_type(walk, TYPE_UNSURE, true, -1);
}

static bool walk_any_query(struct walk *walk, Node *tree, bool is_kept)
{
    bool wrote_before = walk->writes;
    walk->writes = false;
    if (!IsA(tree, SelectStmt) || !select_is_show(walk, (SelectStmt *)tree)) {
        const struct query_result result = query(walk, NULL, tree, NULL);
        if (is_kept && !walk->failed)
            checks_of_columns(walk, result.columns);
    }
    bool writes = walk->writes;
    walk->writes = wrote_before || writes;
    walk->shape->returns_rows =
        IsA(tree, SelectStmt) ? !has_into((SelectStmt *)tree) : returning_of(tree) != NIL;
    return writes;
}

bool walk_query(struct walk *walk, Node *tree)
{
    return walk_any_query(walk, tree, IsA(tree, SelectStmt) && has_into((SelectStmt *)tree));
}

void walk_table_query(struct walk *walk, Node *tree)
{
    (void)walk_any_query(walk, tree, true);
}

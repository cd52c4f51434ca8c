/*
 * walk_from.c - FROM: relations, CTEs, sub-queries, functions, joins; who may see whom while it is
 * read, and which columns each entry has afterwards.
 *
 * Visibility follows parse analysis: what stands to the left is for LATERAL only until FROM is
 * done, ON sees nothing but its join, an alias on a join hides what is inside.
 */
#include "parser/walk_scope.h"

/* One entry of FROM with the items by which names reach it and what is in it. */
struct entry {
    struct item *item;
    struct item_list items;
};

static struct entry from_entry(struct walk *walk, struct scope *scope, Node *node);

static struct entry entry_of(struct walk *walk, struct item *item)
{
    struct entry entry = {.item = item};
    item_list_add(walk, &entry.items, item);
    return entry;
}

static struct text alias_name(const Alias *alias, const char *otherwise)
{
    return text_from(alias != NULL ? alias->aliasname : otherwise);
}

static void rename_by(struct walk *walk, struct item *item, const Alias *alias)
{
    item->aliased = alias != NULL;
    if (alias != NULL)
        item_rename_columns(walk, item, alias->colnames);
}

/* A copy whose columns have been read where they were made. */
static struct item *derived_item(struct walk *walk, const struct item *columns, struct text name)
{
    struct item *item = item_new(walk, name);
    item->columns_known = columns != NULL && columns->columns_known;
    for (size_t i = 0; columns != NULL && i < columns->column_count; i++) {
        struct item_column *column = item_add_column(walk, item, columns->columns[i].name);
        column->type = columns->columns[i].type;
        column->row = columns->columns[i].row;
    }
    return item;
}

/* --- relations and CTEs --------------------------------------------------------------------- */

static struct entry cte_entry(struct walk *walk, struct cte *cte, RangeVar *range)
{
    if (cte->state == CTE_WAITING)
        cte_walk(walk, cte);
    struct item *item = derived_item(walk, cte->shape, alias_name(range->alias, range->relname));
    item->cut = cte->state == CTE_DONE && cte->shape->cut;
    rename_by(walk, item, range->alias);
    return entry_of(walk, item);
}

static struct entry relation_entry(struct walk *walk, struct scope *scope, RangeVar *range)
{
    struct cte *cte = range->schemaname == NULL && range->catalogname == NULL
                          ? scope_find_cte(walk, scope, text_from(range->relname))
                          : NULL;
    if (cte != NULL) {
        struct entry entry = cte_entry(walk, cte, range);
        item_list_add(walk, &scope->sources, entry.item);
        return entry;
    }
    const struct named named = walk_relation(walk, range);
    struct item *item = item_of_relation(walk, &named, alias_name(range->alias, range->relname),
                                         range->location);
    read_relation(walk, item);
    rename_by(walk, item, range->alias);
    item_list_add(walk, &scope->sources, item);
    return entry_of(walk, item);
}

static struct entry sample_entry(struct walk *walk, struct scope *scope, RangeTableSample *sample)
{
    struct entry entry = from_entry(walk, scope, sample->relation);
    const char *method = strVal(llast(sample->method));
    bool builtin = list_length(sample->method) == 1 ||
                   (list_length(sample->method) == 2 &&
                    strcmp(strVal(linitial(sample->method)), "pg_catalog") == 0);
    if (!builtin || (strcmp(method, "system") != 0 && strcmp(method, "bernoulli") != 0))
        walk_call(walk, sample->method, 1, sample->location);
    ListCell *cell;
    foreach (cell, sample->args)
        value_for(walk, scope, lfirst(cell), builtin ? TYPE_FLOAT4 : TYPE_UNSURE);
    value_for(walk, scope, sample->repeatable, TYPE_FLOAT8);
    return entry;
}

/* --- sub-queries and functions -------------------------------------------------------------- */

static struct entry subquery_entry(struct walk *walk, struct scope *scope, RangeSubselect *range)
{
    bool lateral_active = scope->lateral_active;
    scope->lateral_active = range->lateral;
    struct query_result result = query(walk, scope, range->subquery, NULL);
    scope->lateral_active = lateral_active;
    struct item *item = derived_item(walk, result.columns, alias_name(range->alias, NULL));
    item->cut = result.cut;
    item->inside = result.sources;
    rename_by(walk, item, range->alias);
    item_list_add(walk, &scope->sources, item);
    return entry_of(walk, item);
}

static void column_definitions(struct walk *walk, struct item *item, List *definitions)
{
    ListCell *cell;
    foreach (cell, definitions) {
        ColumnDef *definition = lfirst(cell);
        if (!IsA(definition, ColumnDef) || definition->raw_default != NULL ||
            definition->constraints != NIL) {
            walk_unknown(walk, "column definition list", (int)nodeTag(definition), -1);
            return;
        }
        type_written(walk, definition->typeName);
        const struct type *type = type_of_name(walk, definition->typeName);
        item_add_column(walk, item, text_from(definition->colname))->type =
            type != NULL ? type->oid : 0;
    }
}

/* unnest of constants gives as many rows as were written or bound, as VALUES does. */
static bool is_constant_unnest(Node *node)
{
    FuncCall *call = (FuncCall *)node;
    if (!IsA(node, FuncCall) || list_length(call->funcname) > 2 ||
        strcmp(strVal(llast(call->funcname)), "unnest") != 0)
        return false;
    ListCell *cell;
    foreach (cell, call->args) {
        if (!is_constant(lfirst(cell)))
            return false;
    }
    return true;
}

/* Set-returning built-ins whose result is surely one column, called by the function's name or alias (one
 * with an OUT parameter is called by that); unnest, if its elements are no rows. */
static bool gives_scalar(struct walk *walk, Node *node, uint32_t type)
{
    static const char *const names[] = {"generate_series", "generate_subscripts",
                                        "regexp_split_to_table", "string_to_table"};
    FuncCall *call = (FuncCall *)node;
    if (!IsA(node, FuncCall) || list_length(call->funcname) > 2)
        return false;
    struct text name = text_from(strVal(llast(call->funcname)));
    size_t count = 0;
    if (walk->context->catalog == NULL ||
        catalog_functions(walk->context->catalog, name, &count) != NULL)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    return text_is(name, "unnest") && type != TYPE_UNSURE && type != TYPE_LITERAL &&
           !type_may_have_fields(walk->context->catalog, type);
}

/* One function of FROM; the columns of rows are known only from a definition list. */
static void function_columns(struct walk *walk, struct scope *scope, struct item *item, List *pair)
{
    Node *call = linitial(pair);
    List *definitions = lsecond(pair);
    expression(walk, scope, call);
    item->cut = item->cut && is_constant_unnest(call);
    if (definitions != NIL) {
        column_definitions(walk, item, definitions);
        return;
    }
    uint32_t type = type_of_argument(walk, call);
    item->columns_known = item->columns_known && gives_scalar(walk, call, type);
    item_add_column(walk, item, name_of_expression(call))->type = type;
}

static struct entry function_entry(struct walk *walk, struct scope *scope, RangeFunction *range)
{
    bool lateral_active = scope->lateral_active;
    scope->lateral_active = true;
    List *first = linitial(range->functions);
    struct item *item = item_new(walk, alias_name(range->alias, NULL));
    if (range->alias == NULL) {
        item->name = name_of_expression(linitial(first));
        item->relation_visible = true;
    }
    item->cut = true;
    ListCell *cell;
    foreach (cell, range->functions)
        function_columns(walk, scope, item, lfirst(cell));
    scope->lateral_active = lateral_active;
    if (range->coldeflist != NIL) {
        item->column_count = 0;
        item->columns_known = true;
        column_definitions(walk, item, range->coldeflist);
    } else if (range->alias != NULL && list_length(range->functions) == 1 &&
               lsecond(first) == NIL) {
        item->columns[0].name = item->name; /* a scalar result is called by the alias */
    }
    rename_by(walk, item, range->alias);
    if (range->ordinality)
        item_add_column(walk, item, TEXT("ordinality"));
    item->renamed = false;
    item_list_add(walk, &scope->sources, item);
    return entry_of(walk, item);
}

static struct entry table_function_entry(struct walk *walk, struct scope *scope,
                                         RangeTableFunc *range)
{
    bool lateral_active = scope->lateral_active;
    scope->lateral_active = true;
    struct item *item = item_new(walk, alias_name(range->alias, "xmltable"));
    value_for(walk, scope, range->docexpr, TYPE_XML);
    value_for(walk, scope, range->rowexpr, TYPE_TEXT);
    ListCell *cell;
    foreach (cell, range->namespaces) {
        ResTarget *namespace = lfirst(cell);
        expression(walk, scope, (Node *)namespace);
        if (IsA(namespace, ResTarget))
            casts_of_value(walk, namespace->val, TYPE_TEXT, CAST_ASSIGNMENT, -1);
    }
    foreach (cell, range->columns) {
        RangeTableFuncCol *column = lfirst(cell);
        if (!IsA(column, RangeTableFuncCol)) {
            walk_unknown(walk, "XMLTABLE column", (int)nodeTag(column), range->location);
            break;
        }
        item_add_column(walk, item, text_from(column->colname));
        walk_type(walk, column->typeName);
        value_for(walk, scope, column->colexpr, TYPE_TEXT);
        value_for(walk, scope, column->coldefexpr, walk_type_oid(walk, column->typeName));
    }
    scope->lateral_active = lateral_active;
    rename_by(walk, item, range->alias);
    item_list_add(walk, &scope->sources, item);
    return entry_of(walk, item);
}

/* --- joins ---------------------------------------------------------------------------------- */

static void set_lateral_only(struct item_list *list, bool lateral_only)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i]->lateral_only = lateral_only;
}

static void list_append(struct walk *walk, struct item_list *list, const struct item_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        item_list_add(walk, list, more->items[i]);
}

static struct entry right_side(struct walk *walk, struct scope *scope, Node *node,
                               struct item_list *left)
{
    size_t before = scope->items.count;
    set_lateral_only(left, true);
    list_append(walk, &scope->items, left);
    struct entry right = from_entry(walk, scope, node);
    scope->items.count = before;
    set_lateral_only(left, false);
    return right;
}

static void join_column(struct walk *walk, struct item *join, const struct item_column *from,
                        struct item *side)
{
    struct item_column *column = item_add_column(walk, join, from->name);
    struct text name = column->name;
    *column = *from;
    column->name = name;
    if (from->owner == NULL && side->left == NULL)
        column->owner = side;
}

static bool is_merged(const struct item *merged, struct text name)
{
    return item_column_named(merged, name) != NULL;
}

/* What both sides of USING have in common, and how it is compared. */
static void merge_column(struct walk *walk, const struct item *left, const struct item *right,
                         struct item_column *merged)
{
    bool known = left->columns_known && right->columns_known;
    const struct item_column *first = item_column_named(left, merged->name);
    const struct item_column *second = item_column_named(right, merged->name);
    uint32_t left_type = known && first != NULL ? first->type : TYPE_UNSURE;
    uint32_t right_type = known && second != NULL ? second->type : TYPE_UNSURE;
    merged->type = left_type != TYPE_UNSURE && right_type != TYPE_UNSURE
                       ? type_in_common(walk, left_type, right_type)
                       : TYPE_UNSURE;
    merged->row = first != NULL ? first->row : NULL;
    operator_joins(walk, left_type, right_type);
    casts_in_common(walk, left_type, right_type, -1);
}

/* The columns that USING or NATURAL merges; reads them on both sides. */
static struct item *merged_columns(struct walk *walk, JoinExpr *join, struct entry *left,
                                   struct entry *right)
{
    struct item *merged = item_new(walk, (struct text){0});
    size_t sides = left->item->column_count + right->item->column_count;
    size_t names =
        join->isNatural ? left->item->column_count : (size_t)list_length(join->usingClause);
    if (!walk_spend(walk, names * (sides + names)))
        return merged;
    ListCell *cell;
    foreach (cell, join->usingClause)
        item_add_column(walk, merged, text_from(strVal(lfirst(cell))));
    for (size_t i = 0; join->isNatural && i < left->item->column_count; i++) {
        struct text name = left->item->columns[i].name;
        if (item_column_named(right->item, name) != NULL)
            item_add_column(walk, merged, name);
    }
    for (size_t i = 0; i < merged->column_count; i++) {
        struct item_column *column = &merged->columns[i];
        merge_column(walk, left->item, right->item, column);
        read_named_column(walk, left->item, column->name);
        read_named_column(walk, right->item, column->name);
    }
    if (join->isNatural && !(left->item->columns_known && right->item->columns_known)) {
        read_every_column(walk, left->item, TEXT("NATURAL JOIN"));
        read_every_column(walk, right->item, TEXT("NATURAL JOIN"));
    }
    bool unknown = !left->item->columns_known || !right->item->columns_known;
    if (join->isNatural && unknown)
        operator_joins(walk, TYPE_UNSURE, TYPE_UNSURE);
    return merged;
}

static struct item *join_item(struct walk *walk, JoinExpr *join, struct entry *left,
                              struct entry *right, const struct item *merged)
{
    struct item *item = item_new(walk, alias_name(join->alias, NULL));
    size_t columns = left->item->column_count + right->item->column_count;
    if (!walk_spend(walk, columns * (merged->column_count + 1)))
        return item;
    item->left = left->item;
    item->right = right->item;
    item->inner_join = join->jointype == JOIN_INNER;
    item->columns_known = left->item->columns_known && right->item->columns_known;
    for (size_t i = 0; i < merged->column_count; i++)
        join_column(walk, item, &merged->columns[i], item);
    for (size_t side = 0; side < 2; side++) {
        struct item *from = side == 0 ? left->item : right->item;
        for (size_t i = 0; i < from->column_count; i++) {
            if (!is_merged(merged, from->columns[i].name))
                join_column(walk, item, &from->columns[i], from);
        }
    }
    rename_by(walk, item, join->alias);
    if (item->renamed) { /* by position, and where the right side begins is not known */
        read_every_column(walk, item->left, TEXT("the column aliases of a join"));
        read_every_column(walk, item->right, TEXT("the column aliases of a join"));
    }
    return item;
}

static void join_condition(struct walk *walk, struct scope *scope, JoinExpr *join,
                           const struct item_list *visible)
{
    struct item_list saved = scope->items;
    scope->items = *visible;
    condition(walk, scope, join->quals);
    scope->items = saved;
}

static struct entry join_entry(struct walk *walk, struct scope *scope, JoinExpr *join)
{
    struct entry left = from_entry(walk, scope, join->larg);
    struct entry right = right_side(walk, scope, join->rarg, &left.items);
    struct entry entry = {0};
    struct item *merged = merged_columns(walk, join, &left, &right);
    list_append(walk, &entry.items, &left.items);
    list_append(walk, &entry.items, &right.items);
    if (join->join_using_alias != NULL) {
        struct item *alias =
            derived_item(walk, merged, text_from(join->join_using_alias->aliasname));
        alias->columns_visible = false;
        item_list_add(walk, &entry.items, alias);
    }
    join_condition(walk, scope, join, &entry.items);
    entry.item = join_item(walk, join, &left, &right, merged);
    if (join->alias != NULL)
        entry.items = (struct item_list){0};
    for (size_t i = 0; i < entry.items.count; i++)
        entry.items.items[i]->columns_visible = false;
    item_list_add(walk, &entry.items, entry.item);
    return entry;
}

/* --- the clause ----------------------------------------------------------------------------- */

static struct entry from_entry(struct walk *walk, struct scope *scope, Node *node)
{
    struct entry entry = {0};
    if (!walk->failed && walk_enter(walk)) {
        switch (nodeTag(node)) {
        case T_RangeVar:
            entry = relation_entry(walk, scope, (RangeVar *)node);
            break;
        case T_RangeSubselect:
            entry = subquery_entry(walk, scope, (RangeSubselect *)node);
            break;
        case T_RangeFunction:
            entry = function_entry(walk, scope, (RangeFunction *)node);
            break;
        case T_RangeTableFunc:
            entry = table_function_entry(walk, scope, (RangeTableFunc *)node);
            break;
        case T_RangeTableSample:
            entry = sample_entry(walk, scope, (RangeTableSample *)node);
            break;
        case T_JoinExpr:
            entry = join_entry(walk, scope, (JoinExpr *)node);
            break;
        default:
            walk_unknown(walk, "FROM", (int)nodeTag(node), -1);
        }
        walk_leave(walk);
    }
    if (entry.item == NULL)
        entry.item = item_new(walk, (struct text){0});
    entry.item->level = scope->level;
    return entry;
}

/* ON of a join that keeps no unmatched rows restricts as WHERE does. */
static void collect_quals(struct walk *walk, struct scope *scope, Node *node, int depth)
{
    if (!IsA(node, JoinExpr) || depth > LIMIT_STATEMENT_DEPTH)
        return;
    JoinExpr *join = (JoinExpr *)node;
    if (join->jointype != JOIN_INNER)
        return;
    if (join->quals != NULL) {
        Node **place = arena_push(walk->arena, (void **)&scope->quals, &scope->qual_count,
                                  &scope->qual_capacity, sizeof *place);
        *place = join->quals;
    }
    collect_quals(walk, scope, join->larg, depth + 1);
    collect_quals(walk, scope, join->rarg, depth + 1);
}

void from_clause(struct walk *walk, struct scope *scope, List *from)
{
    ListCell *cell;
    size_t first = scope->items.count;
    foreach (cell, from) {
        struct entry entry = from_entry(walk, scope, lfirst(cell));
        set_lateral_only(&entry.items, true);
        list_append(walk, &scope->items, &entry.items);
        collect_quals(walk, scope, lfirst(cell), 0);
    }
    for (size_t i = first; i < scope->items.count; i++)
        scope->items.items[i]->lateral_only = false;
}

/*
 * walk_write.c - INSERT, UPDATE, DELETE: the write's own action with its columns, rows and foreign
 * keys, what it does behind a view, and what it reads.
 *
 * Everything that a write reads is a `select` of its own (PART_READ), but for the rows that
 * INSERT … SELECT takes: those are selected as by any SELECT.
 */
#include "parser/walk_write.h"

/* --- targets -------------------------------------------------------------------------------- */

struct item *write_target(struct walk *walk, struct scope *scope, RangeVar *range)
{
    const struct named named = walk_relation(walk, range);
    struct text name = text_from(range->alias != NULL ? range->alias->aliasname : range->relname);
    struct item *item = item_of_relation(walk, &named, name, range->location);
    item->aliased = range->alias != NULL;
    item->level = scope->level;
    item_list_add(walk, &scope->items, item);
    item_list_add(walk, &scope->sources, item);
    return item;
}

static void view_part(struct walk *walk, enum verb verb, const struct relation *relation,
                      size_t view_action)
{
    struct object object = {OBJECT_NAME, relation->schema, relation->name};
    struct action *action = walk_add(walk, verb, object, walk->actions[view_action].location);
    action->part = PART_VIEW;
    action->view_action = view_action;
    action->relation = relation;
    action->rows_max = ROWS_UNPROVEN;
    action->columns_why = TEXT("through a view");
    action->where_why = TEXT("a write through a view proves nothing of its tables");
}

static void write_through_view(struct walk *walk, enum verb verb, const struct relation *view,
                               size_t view_action);

/* The written columns are among those that the view's definition names, unless a rule or trigger writes
 * something else instead. */
static void write_to_source(struct walk *walk, enum verb verb, const struct relation *view,
                            const struct view_source *column, const struct relation *source,
                            size_t view_action)
{
    bool fresh;
    uintptr_t *known = walk_seen(walk, seen_owner(SEEN_VIEW_WRITE, view_action), source->schema,
                                 source->name, &fresh);
    if (fresh) {
        *known = walk->action_count;
        view_part(walk, verb, source, view_action);
    }
    size_t action = *known;
    if ((verb == VERB_INSERT || verb == VERB_UPDATE) && (view->has_rules || view->has_triggers))
        walk->actions[action].columns_unknown = true;
    else if (verb == VERB_INSERT || verb == VERB_UPDATE)
        view_column(walk, action, source, column->column);
    if (fresh && relation_is_view(source))
        write_through_view(walk, verb, source, view_action);
    if (fresh && source->has_rules)
        view_part(walk, VERB_CODE, source, view_action);
}

static void write_through_view(struct walk *walk, enum verb verb, const struct relation *view,
                               size_t view_action)
{
    if (!walk_enter(walk))
        return;
    for (size_t i = 0; i < view->source_count; i++) {
        const struct relation *source =
            catalog_relation_by_oid(walk->context->catalog, view->sources[i].relation);
        if (source != NULL)
            write_to_source(walk, verb, view, &view->sources[i], source, view_action);
    }
    walk_leave(walk);
}

/* UPDATE pg_settings is set_config(), by a rule of that view. */
static void update_of_settings(struct walk *walk, enum verb verb, const struct relation *relation)
{
    struct object function = {OBJECT_NAME, TEXT("pg_catalog"), TEXT("set_config")};
    if (verb != VERB_UPDATE || !text_is(relation->schema, "pg_catalog") ||
        !text_is(relation->name, "pg_settings"))
        return;
    call_action(walk, function, TEXT("changes settings"), -1);
    walk->shape->changes |= CHANGES_BY_CODE | CHANGES_SETTINGS | CHANGES_ROLE;
}

size_t write_action(struct walk *walk, enum verb verb, const struct item *target)
{
    const struct relation *relation = target->relation;
    size_t index = walk->action_count;
    struct action *action = walk_add(walk, verb, target->object, target->location);
    action->part = PART_STATEMENT;
    action->relation = relation;
    action->rows_max = ROWS_UNPROVEN;
    action->unresolved = target->unresolved;
    walk->writes = true;
    if (relation != NULL && relation_is_view(relation)) {
        read_view(walk, relation, index);
        write_through_view(walk, verb, relation, index);
    }
    if (relation != NULL && relation->has_rules) {
        view_part(walk, VERB_CODE, relation, index);
        walk->shape->changes |= CHANGES_BY_CODE;
    }
    if (relation != NULL)
        update_of_settings(walk, verb, relation);
    return index;
}

/* --- foreign keys --------------------------------------------------------------------------- */

static bool acts(char letter)
{
    return letter == 'c' || letter == 'n' || letter == 'd';
}

static bool sets_column(const struct action *action, const struct relation *relation,
                        int16_t number)
{
    const struct column *column = relation_column_by_number(relation, number);
    if (column == NULL)
        return true;
    for (size_t i = 0; i < action->column_count; i++) {
        if (text_equal(action->columns[i], column->name))
            return true;
    }
    return action->columns_unknown;
}

static bool key_acts(const struct action *action, const struct relation *relation,
                     const struct foreign_key *key)
{
    if (action->verb == VERB_DELETE)
        return acts(key->on_delete);
    if (action->verb != VERB_UPDATE || !acts(key->on_update))
        return false;
    for (size_t i = 0; i < key->column_count; i++) {
        if (sets_column(action, relation, key->parent_columns[i]))
            return true;
    }
    return false;
}

static bool relation_acts(const struct action *action, const struct relation *relation)
{
    for (size_t i = 0; i < relation->referenced_by_count; i++) {
        if (key_acts(action, relation, &relation->referenced_by[i]))
            return true;
    }
    return false;
}

static void find_foreign_keys(struct walk *walk, struct action *action)
{
    const struct relation *relation = action->relation;
    if (relation == NULL)
        return;
    size_t count = 0;
    action->foreign_key_actions = relation_acts(action, relation);
    const struct relation *const *children =
        relation->has_children
            ? catalog_children(walk->context->catalog, walk->arena, relation, &count)
            : NULL;
    for (size_t i = 0; i < count && !action->foreign_key_actions; i++)
        action->foreign_key_actions = relation_acts(action, children[i]);
    if (action->foreign_key_actions || relation->has_rules)
        action->rows_max = ROWS_UNPROVEN;
}

void write_foreign_keys(struct walk *walk, size_t index)
{
    find_foreign_keys(walk, &walk->actions[index]);
    for (size_t i = index + 1; i < walk->action_count; i++)
        if (walk->actions[i].part == PART_VIEW && walk->actions[i].view_action == index)
            find_foreign_keys(walk, &walk->actions[i]);
}

/* --- columns -------------------------------------------------------------------------------- */

static uint32_t type_of_target(const struct item *target, struct text name)
{
    const struct column *column =
        target->columns_known ? relation_column(target->relation, name) : NULL;
    return column != NULL ? column->type : TYPE_UNSURE;
}

static uint32_t element_or_field(struct walk *walk, uint32_t type, Node *node)
{
    const struct catalog *catalog = walk->context->catalog;
    const struct type *known = type != TYPE_UNSURE && catalog != NULL
                                   ? type_without_domains(catalog, type)
                                   : NULL;
    if (known == NULL || IsA(node, A_Indices))
        return known != NULL && known->is_array ? known->base : TYPE_UNSURE;
    const struct relation *row = catalog_relation_by_oid(catalog, known->relation);
    const struct column *field =
        row != NULL ? relation_column(row, text_from(strVal(node))) : NULL;
    return field != NULL ? field->type : TYPE_UNSURE;
}

/* t.a[1].b = …: the subscripts are expressions; a field belongs to its column. The type of what is
 * written. */
static uint32_t target_indirection(struct walk *walk, struct scope *scope,
                                   const struct item *target, const ResTarget *column)
{
    uint32_t type = type_of_target(target, text_from(column->name));
    ListCell *cell;
    foreach (cell, column->indirection) {
        Node *node = lfirst(cell);
        if (IsA(node, A_Indices)) {
            subscripts(walk, scope, (A_Indices *)node, type);
        } else if (!IsA(node, String)) {
            walk_unknown(walk, "assignment target", (int)nodeTag(node), -1);
            return TYPE_UNSURE;
        }
        /* A slice is assigned an array of the same. */
        if (!IsA(node, A_Indices) || !((A_Indices *)node)->is_slice)
            type = element_or_field(walk, type, node);
    }
    return type;
}

void write_columns(struct walk *walk, struct scope *scope, const struct item *target, size_t action,
                   List *targets)
{
    ListCell *cell;
    foreach (cell, targets) {
        ResTarget *column = lfirst(cell);
        if (!IsA(column, ResTarget) || column->name == NULL) {
            walk_unknown(walk, "column list", (int)nodeTag(column), -1);
            return;
        }
        action_add_column(walk, action, text_from(column->name));
        uint32_t type = target_indirection(walk, scope, target, column);
        expression(walk, scope, column->val);
        if (column->val != NULL)
            value_assignment(walk, column->val, type, column->location);
    }
}

/* Without a column list the leading columns are written; `count` < 0: nobody knows how many. */
void write_leading_columns(struct walk *walk, const struct item *target, size_t action, long count)
{
    const struct relation *relation = target->relation;
    walk->actions[action].columns_unknown = relation == NULL || target->may_differ;
    if (relation == NULL)
        return;
    for (size_t i = 0; i < relation->column_count && (count < 0 || i < (size_t)count); i++)
        action_add_column(walk, action, relation->columns[i].name);
}

/* --- UPDATE and DELETE ---------------------------------------------------------------------- */

static struct query_result returning(struct walk *walk, struct scope *scope, List *targets)
{
    struct query_result result = {.columns = item_new(walk, (struct text){0})};
    target_list(walk, scope, targets, result.columns);
    return result;
}

/* FROM and USING do not see the target, LATERAL included: the server refuses it. */
static void other_relations(struct walk *walk, struct scope *scope, struct item *target, List *from)
{
    target->lateral_only = true;
    from_clause(walk, scope, from);
    target->lateral_only = false;
}

static struct query_result update_query(struct walk *walk, struct scope *scope, UpdateStmt *tree)
{
    walk->inside_write = true;
    with_clause(walk, scope, tree->withClause);
    struct item *target = write_target(walk, scope, tree->relation);
    size_t action = write_action(walk, VERB_UPDATE, target);
    other_relations(walk, scope, target, tree->fromClause);
    write_columns(walk, scope, target, action, tree->targetList);
    condition(walk, scope, tree->whereClause);
    where_strength(walk, scope, target, tree->whereClause, action);
    write_foreign_keys(walk, action);
    struct query_result result = returning(walk, scope, tree->returningList);
    result.cut = walk->actions[action].where != WHERE_ANY;
    return result;
}

static struct query_result delete_query(struct walk *walk, struct scope *scope, DeleteStmt *tree)
{
    walk->inside_write = true;
    with_clause(walk, scope, tree->withClause);
    struct item *target = write_target(walk, scope, tree->relation);
    size_t action = write_action(walk, VERB_DELETE, target);
    other_relations(walk, scope, target, tree->usingClause);
    condition(walk, scope, tree->whereClause);
    where_strength(walk, scope, target, tree->whereClause, action);
    write_foreign_keys(walk, action);
    struct query_result result = returning(walk, scope, tree->returningList);
    result.cut = walk->actions[action].where != WHERE_ANY;
    return result;
}

/* --- INSERT --------------------------------------------------------------------------------- */

static bool is_values(Node *tree)
{
    return tree == NULL || (IsA(tree, SelectStmt) && ((SelectStmt *)tree)->valuesLists != NIL);
}

static void inserted_columns(struct walk *walk, struct scope *scope, struct item *target,
                             InsertStmt *tree, const struct query_result *source, size_t action)
{
    if (tree->cols != NIL)
        write_columns(walk, scope, target, action, tree->cols);
    else if (tree->selectStmt != NULL)
        write_leading_columns(walk, target, action,
                              source->columns->columns_known ? (long)source->columns->column_count
                                                             : -1);
}

/* The name of the column that takes the value at a place; empty if it is not known. */
static struct text column_at(const struct relation *relation, List *columns, size_t at)
{
    if (columns != NIL && at < (size_t)list_length(columns)) {
        ResTarget *column = list_nth(columns, (int)at);
        return column->indirection == NIL ? text_from(column->name) : (struct text){0};
    }
    return columns == NIL && relation != NULL && at < relation->column_count
               ? relation->columns[at].name
               : (struct text){0};
}

void assigned_values(struct walk *walk, const struct item *target, List *columns, List *values)
{
    size_t at = 0;
    ListCell *cell;
    foreach (cell, values) {
        struct text name = column_at(target->relation, columns, at++);
        if (name.size > 0)
            value_assignment(walk, lfirst(cell), type_of_target(target, name), target->location);
        else
            casts_of_value(walk, lfirst(cell), TYPE_UNSURE, CAST_ASSIGNMENT, target->location);
    }
}

/* Each row of VALUES is converted by itself; literals of a SELECT are still literals. */
static void inserted_values(struct walk *walk, const struct item *target, InsertStmt *tree,
                            const struct query_result *source)
{
    ListCell *cell;
    if (tree->selectStmt == NULL || walk->failed)
        return;
    if (is_values(tree->selectStmt)) {
        foreach (cell, ((SelectStmt *)tree->selectStmt)->valuesLists)
            assigned_values(walk, target, tree->cols, lfirst(cell));
        return;
    }
    const struct item *given = source->columns;
    size_t count = given->columns_known || target->relation == NULL
                       ? given->column_count
                       : target->relation->column_count;
    for (size_t i = 0; i < count; i++) {
        struct text name = column_at(target->relation, tree->cols, i);
        uint32_t type = !given->columns_known       ? TYPE_UNSURE
                        : given->columns[i].literal ? TYPE_LITERAL
                                                    : given->columns[i].type;
        casts_between(walk, type, type_of_target(target, name), CAST_ASSIGNMENT, target->location);
    }
}

/* The source sees neither the target nor what ON CONFLICT and RETURNING see. */
static struct query_result insert_source(struct walk *walk, struct scope *scope, InsertStmt *tree)
{
    struct query_result source = {.columns = item_new(walk, (struct text){0})};
    bool outside = walk->inside_write;
    walk->inside_write = outside || is_values(tree->selectStmt);
    with_clause(walk, scope, tree->withClause);
    if (tree->selectStmt != NULL)
        source = query(walk, scope, tree->selectStmt, NULL);
    walk->inside_write = true;
    return source;
}

static struct query_result insert_query(struct walk *walk, struct scope *scope, InsertStmt *tree)
{
    struct query_result source = insert_source(walk, scope, tree);
    struct item *target = write_target(walk, scope, tree->relation);
    size_t action = write_action(walk, VERB_INSERT, target);
    struct item_list visible = scope->items;
    scope->items = (struct item_list){0};
    inserted_columns(walk, scope, target, tree, &source, action);
    scope->items = visible;
    inserted_values(walk, target, tree, &source);
    int64_t rows = walk->failed ? ROWS_UNPROVEN : rows_of_query(walk, tree->selectStmt);
    walk->actions[action].rows_max = rows;
    write_foreign_keys(walk, action);
    if (tree->onConflictClause != NULL)
        write_on_conflict(walk, scope, target, tree->onConflictClause,
                          is_values(tree->selectStmt) ? rows : ROWS_UNPROVEN);
    struct query_result result = returning(walk, scope, tree->returningList);
    result.cut = is_values(tree->selectStmt);
    return result;
}

struct query_result write_query(struct walk *walk, struct scope *outer, Node *tree)
{
    struct query_result result = {0};
    struct scope scope;
    scope_init(&scope, outer);
    bool inside_write = walk->inside_write;
    switch (nodeTag(tree)) {
    case T_InsertStmt:
        result = insert_query(walk, &scope, (InsertStmt *)tree);
        break;
    case T_UpdateStmt:
        result = update_query(walk, &scope, (UpdateStmt *)tree);
        break;
    case T_DeleteStmt:
        result = delete_query(walk, &scope, (DeleteStmt *)tree);
        break;
    case T_MergeStmt:
        result = write_merge(walk, &scope, (MergeStmt *)tree);
        break;
    default:
        walk_unknown(walk, "write", (int)nodeTag(tree), -1);
    }
    walk->inside_write = inside_write;
    return result;
}

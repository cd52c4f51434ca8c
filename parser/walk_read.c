/*
 * walk_read.c - what is read, as `select` actions: one for each relation and part, its columns each
 * once, and behind a view everything that its definition reads.
 *
 * Fails by saying too much, never too little: where columns cannot be named, columns_unknown is
 * set.
 */
#include "parser/walk_scope.h"

bool relation_is_builtin(const struct relation *relation)
{
    return text_is(relation->schema, "pg_catalog") ||
           text_is(relation->schema, "information_schema");
}

bool relation_is_view(const struct relation *relation)
{
    return (relation->kind == 'v' || relation->kind == 'm') && !relation_is_builtin(relation);
}

void action_add_column(struct walk *walk, size_t index, struct text name)
{
    bool fresh;
    walk_seen(walk, seen_owner(SEEN_COLUMN, index), name, (struct text){0}, &fresh);
    if (!fresh)
        return;
    struct action *action = &walk->actions[index];
    size_t count = action->column_count;
    struct text *columns = (struct text *)(uintptr_t)action->columns; /* made here, below */
    if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
        columns = arena_array(walk->arena, count == 0 ? 4 : count * 2, sizeof *columns);
        for (size_t i = 0; i < count; i++)
            columns[i] = action->columns[i];
        action->columns = columns;
    }
    columns[count] = arena_text(walk->arena, name);
    action->column_count++;
}

/* --- views ---------------------------------------------------------------------------------- */

static struct text system_column_name(int16_t number)
{
    static const char *const names[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
    int index = -1 - number;
    return index >= 0 && index < (int)ARRAY_SIZE(names) ? text_from(names[index])
                                                        : (struct text){0};
}

void view_column(struct walk *walk, size_t action, const struct relation *relation, int16_t number)
{
    if (number == VIEW_SOURCE_ROWS_ONLY)
        return;
    const struct column *column = relation_column_by_number(relation, number);
    struct text name = column != NULL ? column->name : system_column_name(number);
    if (number == VIEW_SOURCE_EVERY_COLUMN) {
        for (size_t i = 0; i < relation->column_count; i++)
            action_add_column(walk, action, relation->columns[i].name);
        walk->actions[action].columns_why = TEXT("whole row in a view");
    } else if (name.size > 0) {
        action_add_column(walk, action, name);
    } else {
        walk->actions[action].columns_unknown = true;
    }
}

static void view_functions(struct walk *walk, const struct relation *view, size_t root)
{
    for (size_t i = 0; i < view->function_count; i++) {
        const struct function *function =
            catalog_function_by_oid(walk->context->catalog, view->functions[i]);
        struct object object = {OBJECT_NAME, TEXT(""), TEXT("")};
        if (function != NULL)
            object = (struct object){OBJECT_NAME, function->schema, function->name};
        bool fresh;
        walk_seen(walk, seen_owner(SEEN_VIEW_FUNCTION, root), object.schema, object.name, &fresh);
        if (!fresh)
            continue;
        struct action *action = walk_add(walk, VERB_CALL, object, walk->actions[root].location);
        action->part = PART_VIEW;
        action->view_action = root;
        action->unresolved = function == NULL;
        walk->shape->changes |= CHANGES_BY_CODE | CHANGES_OBJECTS | CHANGES_SETTINGS | CHANGES_ROLE;
        walk->shape->volatile_functions = true;
    }
}

static void view_source(struct walk *walk, const struct view_source *source, size_t root)
{
    const struct relation *relation =
        catalog_relation_by_oid(walk->context->catalog, source->relation);
    if (relation == NULL) {
        walk->actions[root].columns_unknown = true;
        return;
    }
    bool fresh;
    uintptr_t *known = walk_seen(walk, seen_owner(SEEN_VIEW_RELATION, root), relation->schema,
                                 relation->name, &fresh);
    if (fresh) {
        *known = walk->action_count;
        struct object object = {OBJECT_NAME, relation->schema, relation->name};
        struct action *action = walk_add(walk, VERB_SELECT, object, walk->actions[root].location);
        action->part = PART_VIEW;
        action->view_action = root;
        action->relation = relation;
        action->rows_max = ROWS_UNPROVEN;
    }
    size_t index = *known;
    view_column(walk, index, relation, source->column);
    if (fresh && relation_is_view(relation))
        read_view(walk, relation, root);
}

void read_view(struct walk *walk, const struct relation *view, size_t root)
{
    if (!walk_enter(walk))
        return;
    for (size_t i = 0; i < view->source_count; i++)
        view_source(walk, &view->sources[i], root);
    view_functions(walk, view, root);
    walk_leave(walk);
}

/* --- relations ------------------------------------------------------------------------------ */

void read_relation(struct walk *walk, struct item *item)
{
    if (item->action != NO_ACTION)
        return;
    enum action_part part = walk->inside_write ? PART_READ : PART_STATEMENT;
    bool fresh;
    uintptr_t *known = walk_seen(walk, seen_owner(SEEN_READ, (size_t)part), item->object.schema,
                                 item->object.name, &fresh);
    if (fresh) {
        *known = walk->action_count;
        struct action *action = walk_add(walk, VERB_SELECT, item->object, item->location);
        action->part = part;
        action->relation = item->relation;
        action->rows_max = ROWS_UNPROVEN;
        action->unresolved = item->unresolved;
    }
    item->action = (long)*known;
    if (fresh && item->relation != NULL && relation_is_view(item->relation))
        read_view(walk, item->relation, (size_t)item->action);
}

void read_column(struct walk *walk, struct item *item, struct text name)
{
    read_relation(walk, item);
    action_add_column(walk, (size_t)item->action, name);
}

void read_item_column(struct walk *walk, const struct item_column *column)
{
    if (column->base == NULL)
        return;
    read_column(walk, column->base, column->column != NULL ? column->column->name : column->name);
    if (column->column == NULL) /* an alias for nobody knows which */
        walk->actions[column->base->action].columns_unknown = true;
}

void read_every_column(struct walk *walk, struct item *item, struct text why)
{
    if (!walk_enter(walk))
        return;
    if (item->is_relation) {
        read_relation(walk, item);
        struct action *action = &walk->actions[item->action];
        if (action->columns_why.size == 0)
            action->columns_why = arena_text(walk->arena, why);
        action->columns_unknown =
            action->columns_unknown || item->relation == NULL || item->may_differ;
        for (size_t i = 0; item->relation != NULL && i < item->relation->column_count; i++)
            action_add_column(walk, (size_t)item->action, item->relation->columns[i].name);
    }
    if (item->left != NULL)
        read_every_column(walk, item->left, why);
    if (item->right != NULL)
        read_every_column(walk, item->right, why);
    walk_leave(walk);
}

void read_unknown_column(struct walk *walk, struct scope *scope, struct text name)
{
    for (; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->sources.count; i++) {
            struct item *item = scope->sources.items[i];
            if (item->is_relation)
                read_column(walk, item, name);
        }
    }
    walk->unresolved_names = true;
}

/*
 * walk_column.c - which column of which relation a name means: ColumnRef, `*`, whole rows, fields,
 * and fields that are function calls in disguise.
 *
 * The search order is parse analysis's: innermost level first, a column before a whole row. A name
 * that nothing explains reads a column of that name of everything in sight.
 */
#include "parser/walk_scope.h"

static bool is_system_column(struct text name)
{
    static const char *const names[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    return false;
}

static void resolved(struct resolution *resolution, struct item *item,
                     const struct item_column *column)
{
    if (resolution->item != NULL)
        resolution->unclear = true;
    else
        *resolution = (struct resolution){.item = item, .column = column};
}

/* --- one name ------------------------------------------------------------------------------- */

/* Reads what `name` means as a column of this item alone; false if it has none such for sure. */
static bool item_read(struct walk *walk, struct item *item, struct text name,
                      struct resolution *resolution)
{
    bool found = false;
    if (!walk_spend(walk, item->column_count + 1))
        return false;
    for (size_t i = 0; i < item->column_count; i++) {
        if (!text_equal(item->columns[i].name, name))
            continue;
        read_item_column(walk, &item->columns[i]);
        resolved(resolution, item, &item->columns[i]);
        found = true;
    }
    if (found || !item->is_relation || !is_system_column(name))
        return found;
    read_column(walk, item, name);
    resolved(resolution, item, NULL);
    resolution->system = true;
    return true;
}

/* A column that an item of unknown shape may have; what it joins may be of known shape. */
static void item_read_perhaps(struct walk *walk, struct item *item, struct text name)
{
    bool excluded = item->columns_known && item_column_named(item, name) == NULL &&
                    !is_system_column(name);
    if (item->is_relation && !excluded) {
        read_column(walk, item, name);
        if (item->renamed)
            walk->actions[item->action].columns_unknown = true;
    }
    if (item->left != NULL)
        item_read_perhaps(walk, item->left, name);
    if (item->right != NULL)
        item_read_perhaps(walk, item->right, name);
}

void read_named_column(struct walk *walk, struct item *item, struct text name)
{
    struct resolution ignored = {0};
    if (!item_read(walk, item, name, &ignored))
        item_read_perhaps(walk, item, name);
}

/* True if some column of this level has the name. *perhaps: an item of unknown shape may have it.
 */
static bool level_read(struct walk *walk, struct scope *scope, struct text name,
                       struct resolution *resolution, bool *perhaps)
{
    bool found = false;
    for (size_t i = 0; i < scope->items.count; i++) {
        struct item *item = scope->items.items[i];
        if (!item->columns_visible || !item_is_visible(scope, item) ||
            !item_read(walk, item, name, resolution))
            continue;
        if (item->columns_known)
            found = true;
        else
            *perhaps = true; /* its list is a guess: the name may be a column further out */
    }
    for (size_t i = 0; !found && i < scope->items.count; i++) {
        struct item *item = scope->items.items[i];
        if (item->columns_visible && item_is_visible(scope, item) && !item->columns_known) {
            item_read_perhaps(walk, item, name);
            *perhaps = true;
        }
    }
    return found;
}

static void whole_row(struct walk *walk, struct item *item, struct resolution *resolution)
{
    struct text why = arena_printf(walk->arena, "whole row %.*s", TEXT_ARGS(item->name));
    read_every_column(walk, item, why);
    *resolution = (struct resolution){.item = item, .whole_row = true};
}

/* A column of the relation that is meant, unless the name means another relation. */
static bool is_listed(const struct resolution *resolution)
{
    const struct item_column *column = resolution->column;
    return !resolution->unclear && column != NULL && column->base != NULL && column->base->listed;
}

static void bare_name(struct walk *walk, struct scope *scope, struct text name,
                      struct resolution *resolution)
{
    bool perhaps = false;
    *resolution = (struct resolution){0};
    bool found = false;
    struct resolution listed = {0};
    for (struct scope *level = scope; level != NULL && !found; level = level->outer) {
        bool perhaps_before = perhaps;
        found = level_read(walk, level, name, resolution, &perhaps);
        if (!found && !perhaps_before && is_listed(resolution))
            listed = *resolution;
    }
    if (!found) {
        struct item *item = scope_find_item(walk, scope, (struct text){0}, name);
        if (item != NULL)
            whole_row(walk, item, resolution);
        else if (!perhaps)
            read_unknown_column(walk, scope, name);
    }
    resolution->unclear = resolution->unclear || perhaps || resolution->item == NULL;
    if (listed.item != NULL)
        *resolution = listed;
}

/* --- qualified names ------------------------------------------------------------------------ */

/* item.name: a column, or a function of the whole row. */
static void item_attribute(struct walk *walk, struct item *item, struct text name, int location,
                           struct resolution *resolution)
{
    *resolution = (struct resolution){0};
    if (item_read(walk, item, name, resolution)) {
        if (!item->columns_known)
            attribute_call(walk, name, false, location);
        return;
    }
    resolution->unclear = true;
    struct text why = arena_printf(walk->arena, "whole row %.*s as argument of %.*s",
                                   TEXT_ARGS(item->name), TEXT_ARGS(name));
    if (item->columns_known) {
        read_every_column(walk, item, why);
        attribute_call(walk, name, true, location);
        return;
    }
    item_read_perhaps(walk, item, name);
    if (attribute_call(walk, name, false, location))
        read_every_column(walk, item, why);
}

/* A qualifier that no item has: the server refuses it, so whatever it is, all is read. */
static void unknown_qualifier(struct walk *walk, struct scope *scope)
{
    for (; scope != NULL; scope = scope->outer) {
        for (size_t i = 0; i < scope->sources.count; i++) {
            struct item *item = scope->sources.items[i];
            if (!item->is_relation)
                continue;
            read_every_column(walk, item, TEXT("a name without FROM entry"));
            walk->actions[item->action].columns_unknown = true;
        }
    }
}

static struct text field(List *fields, int index)
{
    Node *node = list_nth(fields, index);
    return IsA(node, String) ? text_from(strVal(node)) : (struct text){0};
}

/* The item before the last part: t.x, s.t.x, d.s.t.x. */
static struct item *qualifier(struct walk *walk, struct scope *scope, List *fields)
{
    int count = list_length(fields);
    struct text schema = count > 2 ? field(fields, count - 3) : (struct text){0};
    return scope_find_item(walk, scope, schema, field(fields, count - 2));
}

bool is_star(Node *node)
{
    return IsA(node, ColumnRef) && IsA(llast(((ColumnRef *)node)->fields), A_Star);
}

static void star_in_expression(struct walk *walk, struct scope *scope, ColumnRef *reference)
{
    struct resolution *resolution = scope_resolution(walk, reference);
    if (list_length(reference->fields) > 1) {
        struct item *item = qualifier(walk, scope, reference->fields);
        if (item != NULL)
            whole_row(walk, item, resolution);
        else
            unknown_qualifier(walk, scope);
        return;
    }
    for (size_t i = 0; scope != NULL && i < scope->items.count; i++)
        read_every_column(walk, scope->items.items[i], TEXT("*"));
}

void column_reference(struct walk *walk, struct scope *scope, ColumnRef *reference)
{
    int count = list_length(reference->fields);
    if (count < 1 || count > 4) {
        walk_unknown(walk, "name of more than four parts", T_ColumnRef, reference->location);
        return;
    }
    if (is_star((Node *)reference)) {
        star_in_expression(walk, scope, reference);
        return;
    }
    struct resolution *resolution = scope_resolution(walk, reference);
    struct text name = field(reference->fields, count - 1);
    if (count == 1) {
        bare_name(walk, scope, name, resolution);
        return;
    }
    struct item *item = qualifier(walk, scope, reference->fields);
    if (item != NULL)
        item_attribute(walk, item, name, reference->location, resolution);
    else
        unknown_qualifier(walk, scope);
}

/* --- `*` in a target list ------------------------------------------------------------------- */

static void append_columns(struct walk *walk, struct item *out, const struct item *item)
{
    if (!walk_spend(walk, item->column_count))
        return;
    for (size_t i = 0; i < item->column_count; i++) {
        struct item_column *column = item_add_column(walk, out, item->columns[i].name);
        column->type = item->columns[i].type;
        column->row = item->columns[i].row;
    }
    out->columns_known = out->columns_known && item->columns_known;
}

void expand_star(struct walk *walk, struct scope *scope, ColumnRef *reference, struct item *out)
{
    if (list_length(reference->fields) > 1) {
        struct item *item = qualifier(walk, scope, reference->fields);
        if (item == NULL) {
            unknown_qualifier(walk, scope);
            out->columns_known = false;
            return;
        }
        read_every_column(walk, item,
                          arena_printf(walk->arena, "%.*s.* in SELECT", TEXT_ARGS(item->name)));
        append_columns(walk, out, item);
        return;
    }
    for (size_t i = 0; i < scope->items.count; i++) {
        struct item *item = scope->items.items[i];
        if (!item->columns_visible || !item_is_visible(scope, item))
            continue;
        read_every_column(walk, item, TEXT("* in SELECT *"));
        append_columns(walk, out, item);
    }
}

/* --- fields of expressions ------------------------------------------------------------------ */

/* Those of arrays become integers as in assignments, those of jsonb and of others' types what they want. */
void subscripts(struct walk *walk, struct scope *scope, A_Indices *tree, uint32_t container)
{
    const struct type *type = container != TYPE_UNSURE && walk->context->catalog != NULL
                                  ? type_without_domains(walk->context->catalog, container)
                                  : NULL;
    Node *const bounds[] = {tree->lidx, tree->uidx};
    for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
        if (bounds[i] == NULL)
            continue;
        value_for(walk, scope, bounds[i], TYPE_INT4);
        if (type == NULL || !type->is_array)
            value_use(walk, bounds[i]);
    }
}

void indirection(struct walk *walk, struct scope *scope, A_Indirection *tree)
{
    expression(walk, scope, tree->arg);
    struct item *row = row_of_expression(walk, tree->arg);
    uint32_t type = type_of_expression(walk, tree->arg);
    uint32_t container = type_of_argument(walk, tree->arg);
    bool is_scalar = IsA(tree->arg, A_Const);
    ListCell *cell;
    foreach (cell, tree->indirection) {
        Node *node = lfirst(cell);
        if (IsA(node, String)) {
            container = TYPE_UNSURE;
            struct text name = text_from(strVal(node));
            struct item_column *column = row != NULL ? item_column_named(row, name) : NULL;
            if (column == NULL || !row->columns_known)
                attribute_call(walk, name,
                               (row != NULL && row->columns_known) || type != 0 || is_scalar, -1);
            row = column == NULL        ? NULL
                  : column->row != NULL ? column->row
                                        : item_of_row_type(walk, column->type);
            type = 0;
            is_scalar = false;
        } else if (IsA(node, A_Indices)) {
            subscripts(walk, scope, (A_Indices *)node, container);
            row = NULL;
            type = 0;
        } else if (!IsA(node, A_Star)) {
            walk_unknown(walk, "indirection", (int)nodeTag(node), -1);
        }
    }
}

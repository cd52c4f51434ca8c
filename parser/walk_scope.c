/*
 * walk_scope.c - items, scopes and the walk's memory. Pure look-ups: nothing here adds an action or
 * fails the walk; what is not found is NULL.
 */
#include "parser/walk_scope.h"

/* --- memory: an open-addressing table in the arena ------------------------------------------ */

struct seen {
    bool used;
    uint64_t hash;
    uintptr_t owner;
    struct text first, second;
    uintptr_t value;
};

struct walk_memory {
    struct seen *slots;
    size_t size; /* a power of two */
    size_t used;
    size_t comparisons;
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

static uint64_t hash_key(uintptr_t owner, struct text first, struct text second)
{
    uint64_t hash = hash_bytes(14695981039346656037u, &owner, sizeof owner);
    hash = hash_bytes(hash, first.bytes, first.size);
    hash = hash_bytes(hash, "", 1);
    hash = hash_bytes(hash, second.bytes, second.size);
    return hash ^ (hash >> 29);
}

static struct seen *seen_slot(struct walk_memory *memory, uint64_t hash, uintptr_t owner,
                              struct text first, struct text second)
{
    size_t at = hash & (memory->size - 1);
    for (;; at = (at + 1) & (memory->size - 1)) {
        struct seen *slot = &memory->slots[at];
        if (!slot->used)
            return slot;
        if (slot->hash == hash && slot->owner == owner && text_equal(slot->first, first) &&
            text_equal(slot->second, second))
            return slot;
    }
}

static void memory_grow(struct walk *walk, struct walk_memory *memory)
{
    struct walk_memory larger = {0};
    larger.size = memory->size > 0 ? memory->size * 2 : 64;
    larger.slots = arena_array(walk->arena, larger.size, sizeof(struct seen));
    for (size_t i = 0; i < memory->size; i++) {
        struct seen *old = &memory->slots[i];
        if (old->used)
            *seen_slot(&larger, old->hash, old->owner, old->first, old->second) = *old;
    }
    larger.used = memory->used;
    larger.comparisons = memory->comparisons;
    *memory = larger;
}

static struct walk_memory *memory_of(struct walk *walk)
{
    if (walk->memory == NULL)
        walk->memory = arena_allocate(walk->arena, sizeof(struct walk_memory));
    return walk->memory;
}

bool walk_spend(struct walk *walk, size_t comparisons)
{
    struct walk_memory *memory = memory_of(walk);
    memory->comparisons += comparisons;
    if (memory->comparisons <= LIMIT_NAME_COMPARISONS && walk->arena->size <= LIMIT_ANALYSIS_BYTES)
        return true;
    walk_fail(walk, ANALYSE_TOO_LARGE, "54001", -1,
              "statement names too many relations and columns to check");
    return false;
}

uintptr_t *walk_seen(struct walk *walk, uintptr_t owner, struct text first, struct text second,
                     bool *fresh)
{
    struct walk_memory *memory = memory_of(walk);
    if (memory->used * 2 >= memory->size)
        memory_grow(walk, memory);
    uint64_t hash = hash_key(owner, first, second);
    struct seen *slot = seen_slot(memory, hash, owner, first, second);
    *fresh = !slot->used;
    if (*fresh) {
        *slot = (struct seen){true, hash, owner, first, second, 0};
        memory->used++;
    }
    return &slot->value;
}

struct resolution *scope_resolution(struct walk *walk, const ColumnRef *reference)
{
    bool fresh;
    uintptr_t *value =
        walk_seen(walk, (uintptr_t)reference, (struct text){0}, (struct text){0}, &fresh);
    if (fresh) {
        struct resolution *resolution = arena_allocate(walk->arena, sizeof *resolution);
        resolution->unclear = true;
        *value = (uintptr_t)resolution;
    }
    return (struct resolution *)*value;
}

/* --- items ---------------------------------------------------------------------------------- */

void scope_init(struct scope *scope, struct scope *outer)
{
    *scope = (struct scope){.outer = outer, .level = outer != NULL ? outer->level + 1 : 0};
}

void item_list_add(struct walk *walk, struct item_list *list, struct item *item)
{
    struct item **place = arena_push(walk->arena, (void **)&list->items, &list->count,
                                     &list->capacity, sizeof *place);
    *place = item;
}

struct item *item_new(struct walk *walk, struct text name)
{
    struct item *item = arena_allocate(walk->arena, sizeof *item);
    item->name = name;
    item->relation_visible = name.size > 0;
    item->columns_visible = true;
    item->columns_known = true;
    item->action = NO_ACTION;
    item->location = -1;
    return item;
}

struct item_column *item_add_column(struct walk *walk, struct item *item, struct text name)
{
    /* Capacity follows from the count: it doubles whenever the count reaches a power of two. */
    size_t count = item->column_count;
    if (count == 0 || (count >= 4 && (count & (count - 1)) == 0)) {
        struct item_column *larger =
            arena_array(walk->arena, count == 0 ? 4 : count * 2, sizeof *larger);
        for (size_t i = 0; i < count; i++)
            larger[i] = item->columns[i];
        item->columns = larger;
    }
    struct item_column *column = &item->columns[item->column_count++];
    column->name = name;
    return column;
}

struct item *item_of_relation(struct walk *walk, const struct named *named, struct text name,
                              int location)
{
    const struct relation *relation = named->relation;
    struct item *item = item_new(walk, name);
    item->is_relation = true;
    relation_met(walk, named);
    item->object = named->object;
    item->relation = relation;
    item->unresolved = named->unresolved;
    item->may_differ = named->may_differ;
    item->location = location;
    item->listed = relation != NULL && !named->may_differ;
    item->columns_known = item->listed && !named->may_be_other;
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++) {
        struct item_column *column = item_add_column(walk, item, relation->columns[i].name);
        column->base = item;
        column->column = &relation->columns[i];
        column->type = relation->columns[i].type;
    }
    return item;
}

struct item *item_of_row_type(struct walk *walk, uint32_t type_oid)
{
    const struct catalog *catalog = walk->context->catalog;
    if (catalog == NULL || type_oid == 0)
        return NULL;
    const struct type *type = catalog_type_by_oid(catalog, type_oid);
    for (int depth = 0; type != NULL && type->kind == 'd' && depth < LIMIT_STATEMENT_DEPTH; depth++)
        type = catalog_type_by_oid(catalog, type->base);
    if (type == NULL || type->kind != 'c')
        return NULL;
    const struct relation *relation = catalog_relation_by_oid(catalog, type->relation);
    if (relation == NULL)
        return NULL;
    struct item *item = item_new(walk, relation->name);
    for (size_t i = 0; i < relation->column_count; i++)
        item_add_column(walk, item, relation->columns[i].name)->type = relation->columns[i].type;
    return item;
}

void item_rename_columns(struct walk *walk, struct item *item, List *names)
{
    size_t at = 0;
    ListCell *cell;
    foreach (cell, names) {
        struct text name = text_from(strVal(lfirst(cell)));
        if (at < item->column_count)
            item->columns[at].name = name;
        else
            item_add_column(walk, item, name)->base = item->is_relation ? item : NULL;
        at++;
    }
    if (at > 0 && !item->columns_known)
        item->renamed = true;
}

struct item_column *item_column_named(const struct item *item, struct text name)
{
    for (size_t i = 0; i < item->column_count; i++) {
        if (text_equal(item->columns[i].name, name))
            return &item->columns[i];
    }
    return NULL;
}

/* --- look-ups ------------------------------------------------------------------------------- */

bool item_is_visible(const struct scope *scope, const struct item *item)
{
    return !item->lateral_only || scope->lateral_active;
}

/* schema.name reaches a relation that has no alias, whatever schema the FROM clause wrote. */
static bool item_is_named(const struct item *item, struct text schema, struct text name)
{
    if (!item->relation_visible)
        return false;
    if (schema.size == 0)
        return text_equal(item->name, name);
    return item->is_relation && !item->aliased && text_equal(item->object.name, name) &&
           text_equal(item->object.schema, schema);
}

struct item *scope_find_item(struct walk *walk, struct scope *scope, struct text schema,
                             struct text name)
{
    for (; scope != NULL && walk_spend(walk, scope->items.count); scope = scope->outer) {
        for (size_t i = 0; i < scope->items.count; i++) {
            struct item *item = scope->items.items[i];
            if (item_is_visible(scope, item) && item_is_named(item, schema, name))
                return item;
        }
    }
    return NULL;
}

struct cte *scope_find_cte(struct walk *walk, struct scope *scope, struct text name)
{
    for (; scope != NULL; scope = scope->outer) {
        for (struct cte *cte = scope->ctes; cte != NULL && walk_spend(walk, 1); cte = cte->next) {
            if (text_equal(cte->name, name))
                return cte;
        }
    }
    return NULL;
}

/*
 * catalog.c - the snapshot's arrays, sorted once by catalog_seal and searched by bisection.
 *
 * Nothing here fails: a name or oid that is not in the snapshot gives NULL, and using a catalog
 * before, or building it after, catalog_seal is our own mistake and ends the process.
 */
#include "parser/catalog.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct array {
    void *items;
    size_t count;
    size_t capacity;
};

struct inheritance {
    uint32_t parent;
    size_t child; /* index in relations */
};

struct catalog {
    atomic_size_t references;
    bool sealed;
    struct instant taken;
    int server_version;
    struct arena arena;

    struct array schemas;   /* struct text, by name */
    struct array closed_schemas;
    struct array relations; /* struct relation, by name and schema */
    struct array functions; /* struct function; those that users can overload come first */
    struct array types;     /* struct type, by name and schema */
    struct array operators; /* struct operator; those of users come first */
    struct array casts;     /* struct cast: those that run a user's function */
    struct array implicit_casts;
    struct event_code event_code;

    size_t user_function_count;
    size_t user_operator_count;
    struct array relations_by_oid; /* pointers into the arrays above */
    struct array functions_by_oid;
    struct array types_by_oid;
    struct array inheritance; /* struct inheritance, by parent */
    struct array checked_types; /* oids, ascending */
};

/* --- building ------------------------------------------------------------------------------- */

struct catalog *catalog_new(void)
{
    struct catalog *catalog = memory_allocate_zeroed(1, sizeof *catalog);
    atomic_init(&catalog->references, 1);
    arena_init(&catalog->arena);
    return catalog;
}

struct arena *catalog_arena(struct catalog *catalog)
{
    INVARIANT(!catalog->sealed);
    return &catalog->arena;
}

static void append(struct array *array, const void *item, size_t size)
{
    if (array->count == array->capacity) {
        array->capacity = array->capacity > 0 ? array->capacity * 2 : 64;
        INVARIANT(array->capacity < SIZE_MAX / size);
        array->items = memory_resize(array->items, array->capacity * size);
    }
    memcpy((char *)array->items + array->count++ * size, item, size);
}

void catalog_add_schema(struct catalog *catalog, struct text name)
{
    INVARIANT(!catalog->sealed);
    append(&catalog->schemas, &name, sizeof name);
}

void catalog_add_closed_schema(struct catalog *catalog, const struct closed_schema *closed)
{
    INVARIANT(!catalog->sealed);
    append(&catalog->closed_schemas, closed, sizeof *closed);
}

void catalog_add_relation(struct catalog *catalog, const struct relation *relation)
{
    INVARIANT(!catalog->sealed);
    append(&catalog->relations, relation, sizeof *relation);
}

void catalog_add_function(struct catalog *catalog, const struct function *function)
{
    INVARIANT(!catalog->sealed);
    append(&catalog->functions, function, sizeof *function);
}

void catalog_add_type(struct catalog *catalog, const struct type *type)
{
    INVARIANT(!catalog->sealed);
    append(&catalog->types, type, sizeof *type);
}

void catalog_add_operator(struct catalog *catalog, const struct operator* op)
{
    INVARIANT(!catalog->sealed);
    append(&catalog->operators, op, sizeof *op);
}

void catalog_set_event_code(struct catalog *catalog, const struct event_code *code)
{
    INVARIANT(!catalog->sealed);
    catalog->event_code = *code;
}

void catalog_add_cast(struct catalog *catalog, const struct cast *cast)
{
    INVARIANT(!catalog->sealed);
    if (cast->function != 0)
        append(&catalog->casts, cast, sizeof *cast);
    if (cast->context == 'i')
        append(&catalog->implicit_casts, cast, sizeof *cast);
}

/* --- order ---------------------------------------------------------------------------------- */

static int compare_oids(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* The bare name first: it tells more objects apart than the schema does. */
static int compare_names(struct text name_a, struct text schema_a, struct text name_b,
                         struct text schema_b)
{
    int order = text_compare(name_a, name_b);
    return order != 0 ? order : text_compare(schema_a, schema_b);
}

static int by_text(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

static int by_relation_name(const void *a, const void *b)
{
    const struct relation *first = a, *second = b;
    return compare_names(first->name, first->schema, second->name, second->schema);
}

static int by_type_name(const void *a, const void *b)
{
    const struct type *first = a, *second = b;
    return compare_names(first->name, first->schema, second->name, second->schema);
}

static bool is_system_schema(struct text schema)
{
    return text_is(schema, "pg_catalog") || text_is(schema, "information_schema");
}

/* The server came with it; extensions may put objects into pg_catalog as well. */
static bool is_system_object(struct text schema, uint32_t oid)
{
    enum { FIRST_USER_OID = 16384 };
    return is_system_schema(schema) && oid < FIRST_USER_OID;
}

static bool is_system_function(const struct function *function)
{
    return is_system_object(function->schema, function->oid);
}

static bool is_system_operator(const struct operator* op)
{
    return is_system_object(op->schema, op->oid);
}

static int by_function_name(const void *a, const void *b)
{
    const struct function *first = a, *second = b;
    int system_first = is_system_function(first), system_second = is_system_function(second);
    if (system_first != system_second)
        return system_first - system_second;
    int order = compare_names(first->name, first->schema, second->name, second->schema);
    return order != 0 ? order : compare_oids(first->oid, second->oid);
}

static int by_operator_name(const void *a, const void *b)
{
    const struct operator* first = a, *second = b;
    int system_first = is_system_operator(first), system_second = is_system_operator(second);
    if (system_first != system_second)
        return system_first - system_second;
    int order = compare_names(first->name, first->schema, second->name, second->schema);
    return order != 0 ? order : compare_oids(first->oid, second->oid);
}

static int by_cast(const void *a, const void *b)
{
    const struct cast *first = a, *second = b;
    int order = compare_oids(first->source, second->source);
    return order != 0 ? order : compare_oids(first->target, second->target);
}

static int by_parent(const void *a, const void *b)
{
    const struct inheritance *first = a, *second = b;
    int order = compare_oids(first->parent, second->parent);
    return order != 0 ? order : (first->child > second->child) - (first->child < second->child);
}

/* The three oid indexes hold pointers to structs that begin with their oid. */
_Static_assert(offsetof(struct relation, oid) == 0, "an oid index reads the first member");
_Static_assert(offsetof(struct function, oid) == 0, "an oid index reads the first member");
_Static_assert(offsetof(struct type, oid) == 0, "an oid index reads the first member");

static uint32_t oid_of(const void *entry)
{
    const void *object = *(const void *const *)entry;
    return *(const uint32_t *)object;
}

static int by_oid(const void *a, const void *b)
{
    return compare_oids(oid_of(a), oid_of(b));
}

static int oid_to_entry(const void *key, const void *entry)
{
    return compare_oids(*(const uint32_t *)key, oid_of(entry));
}

static void sort(struct array *array, size_t size, int (*compare)(const void *, const void *))
{
    if (array->count > 1)
        qsort(array->items, array->count, size, compare);
}

static void index_by_oid(struct array *index, const struct array *objects, size_t size)
{
    for (size_t i = 0; i < objects->count; i++) {
        const void *object = (const char *)objects->items + i * size;
        append(index, &object, sizeof object);
    }
    sort(index, sizeof(void *), by_oid);
}

static void index_inheritance(struct catalog *catalog)
{
    const struct relation *relations = catalog->relations.items;
    for (size_t i = 0; i < catalog->relations.count; i++) {
        for (size_t k = 0; k < relations[i].parent_count; k++) {
            struct inheritance edge = {relations[i].parents[k], i};
            append(&catalog->inheritance, &edge, sizeof edge);
        }
    }
    sort(&catalog->inheritance, sizeof(struct inheritance), by_parent);
}

static size_t count_user_functions(const struct catalog *catalog)
{
    const struct function *functions = catalog->functions.items;
    size_t count = 0;
    while (count < catalog->functions.count && !is_system_function(&functions[count]))
        count++;
    return count;
}

static size_t count_user_operators(const struct catalog *catalog)
{
    const struct operator* operators = catalog->operators.items;
    size_t count = 0;
    while (count < catalog->operators.count && !is_system_operator(&operators[count]))
        count++;
    return count;
}

/* Is code of users run by reading a value of the type, or of what it is made of? */
static bool is_checked(const struct catalog *catalog, uint32_t oid, int depth)
{
    const struct type *type = catalog_type_by_oid(catalog, oid);
    if (type == NULL || depth > LIMIT_STATEMENT_DEPTH)
        return type != NULL;
    if (type->check_function_count > 0 || (type->base != 0 && is_checked(catalog, type->base, depth + 1)))
        return true;
    const struct relation *row = type->kind == 'c' ? catalog_relation_by_oid(catalog, type->relation) : NULL;
    for (size_t i = 0; row != NULL && i < row->column_count; i++)
        if (is_checked(catalog, row->columns[i].type, depth + 1))
            return true;
    return false;
}

static void list_checked_types(struct catalog *catalog)
{
    const struct type *const *types = catalog->types_by_oid.items;
    bool any = false;
    for (size_t i = 0; i < catalog->types_by_oid.count && !any; i++)
        any = types[i]->check_function_count > 0;
    for (size_t i = 0; i < catalog->types_by_oid.count && any; i++)
        if (is_checked(catalog, types[i]->oid, 0))
            append(&catalog->checked_types, &types[i]->oid, sizeof types[i]->oid);
}

void catalog_seal(struct catalog *catalog, struct instant taken, int server_version)
{
    INVARIANT(!catalog->sealed);
    catalog->taken = taken;
    catalog->server_version = server_version;

    sort(&catalog->schemas, sizeof(struct text), by_text);
    sort(&catalog->relations, sizeof(struct relation), by_relation_name);
    sort(&catalog->functions, sizeof(struct function), by_function_name);
    sort(&catalog->types, sizeof(struct type), by_type_name);
    sort(&catalog->operators, sizeof(struct operator), by_operator_name);
    sort(&catalog->casts, sizeof(struct cast), by_cast);
    sort(&catalog->implicit_casts, sizeof(struct cast), by_cast);

    catalog->user_function_count = count_user_functions(catalog);
    catalog->user_operator_count = count_user_operators(catalog);
    index_by_oid(&catalog->relations_by_oid, &catalog->relations, sizeof(struct relation));
    index_by_oid(&catalog->functions_by_oid, &catalog->functions, sizeof(struct function));
    index_by_oid(&catalog->types_by_oid, &catalog->types, sizeof(struct type));
    index_inheritance(catalog);
    catalog->sealed = true;
    list_checked_types(catalog);
}

/* --- lifetime ------------------------------------------------------------------------------- */

struct catalog *catalog_retain(struct catalog *catalog)
{
    size_t before = atomic_fetch_add_explicit(&catalog->references, 1, memory_order_relaxed);
    INVARIANT(before > 0);
    return catalog;
}

static void catalog_free(struct catalog *catalog)
{
    struct array *arrays[] = {
        &catalog->schemas,          &catalog->closed_schemas, &catalog->relations,
        &catalog->functions,        &catalog->types,
        &catalog->operators,        &catalog->casts,
        &catalog->relations_by_oid, &catalog->functions_by_oid,
        &catalog->types_by_oid,     &catalog->inheritance,
        &catalog->implicit_casts,   &catalog->checked_types,
    };
    for (size_t i = 0; i < ARRAY_SIZE(arrays); i++)
        free(arrays[i]->items);
    arena_release(&catalog->arena);
    free(catalog);
}

void catalog_release(struct catalog *catalog)
{
    if (catalog == NULL)
        return;
    /* Release: this thread's reads come before the free. Acquire: so do those of the others. */
    size_t before = atomic_fetch_sub_explicit(&catalog->references, 1, memory_order_acq_rel);
    INVARIANT(before > 0);
    if (before == 1)
        catalog_free(catalog);
}

/* --- look-ups ------------------------------------------------------------------------------- */

struct instant catalog_taken(const struct catalog *catalog)
{
    INVARIANT(catalog->sealed);
    return catalog->taken;
}

int catalog_server_version(const struct catalog *catalog)
{
    INVARIANT(catalog->sealed);
    return catalog->server_version;
}

static const void *find(const struct catalog *catalog, const struct array *array, size_t size,
                        const void *key, int (*compare)(const void *, const void *))
{
    INVARIANT(catalog->sealed);
    return array->count > 0 ? bsearch(key, array->items, array->count, size, compare) : NULL;
}

static const void *find_oid(const struct catalog *catalog, const struct array *index, uint32_t oid)
{
    const void *entry = find(catalog, index, sizeof(void *), &oid, oid_to_entry);
    return entry != NULL ? *(const void *const *)entry : NULL;
}

bool catalog_has_schema(const struct catalog *catalog, struct text name)
{
    return find(catalog, &catalog->schemas, sizeof(struct text), &name, by_text) != NULL;
}

const struct text *catalog_schemas(const struct catalog *catalog, size_t *count)
{
    INVARIANT(catalog->sealed);
    *count = catalog->schemas.count;
    return catalog->schemas.items;
}

const struct closed_schema *catalog_closed_schemas(const struct catalog *catalog, size_t *count)
{
    INVARIANT(catalog->sealed);
    *count = catalog->closed_schemas.count;
    return catalog->closed_schemas.items;
}

const struct relation *catalog_relation(const struct catalog *catalog, struct text schema,
                                        struct text name)
{
    struct relation key = {.schema = schema, .name = name};
    return find(catalog, &catalog->relations, sizeof key, &key, by_relation_name);
}

const struct relation *catalog_relation_by_oid(const struct catalog *catalog, uint32_t oid)
{
    return find_oid(catalog, &catalog->relations_by_oid, oid);
}

const struct type *catalog_type(const struct catalog *catalog, struct text schema, struct text name)
{
    struct type key = {.schema = schema, .name = name};
    return find(catalog, &catalog->types, sizeof key, &key, by_type_name);
}

const struct type *catalog_type_by_oid(const struct catalog *catalog, uint32_t oid)
{
    return find_oid(catalog, &catalog->types_by_oid, oid);
}

const struct function *catalog_function_by_oid(const struct catalog *catalog, uint32_t oid)
{
    return find_oid(catalog, &catalog->functions_by_oid, oid);
}

const struct column *relation_column(const struct relation *relation, struct text name)
{
    for (size_t i = 0; i < relation->column_count; i++)
        if (text_equal(relation->columns[i].name, name))
            return &relation->columns[i];
    return NULL;
}

const struct column *relation_column_by_number(const struct relation *relation, int16_t number)
{
    for (size_t i = 0; i < relation->column_count; i++)
        if (relation->columns[i].number == number)
            return &relation->columns[i];
    return NULL;
}

static struct text function_name(const void *item)
{
    return ((const struct function *)item)->name;
}

static struct text operator_name(const void *item)
{
    return ((const struct operator*)item)->name;
}

/* The run of items with this name in an array that is ordered by name. */
static const void *find_run(const void *items, size_t item_count, size_t size,
                            struct text (*name_of)(const void *), struct text name, size_t *count)
{
    const char *base = items;
    size_t low = 0, high = item_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text_compare(name_of(base + middle * size), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *count = 0;
    while (low + *count < item_count && text_equal(name_of(base + (low + *count) * size), name))
        ++*count;
    return *count > 0 ? base + low * size : NULL;
}

const struct function *catalog_functions(const struct catalog *catalog, struct text name,
                                         size_t *count)
{
    INVARIANT(catalog->sealed);
    return find_run(catalog->functions.items, catalog->user_function_count, sizeof(struct function),
                    function_name, name, count);
}

const struct operator*
    catalog_operators(const struct catalog *catalog, struct text name, size_t *count)
{
    INVARIANT(catalog->sealed);
    return find_run(catalog->operators.items, catalog->user_operator_count, sizeof(struct operator),
                    operator_name, name, count);
}

const struct function *catalog_builtin_functions(const struct catalog *catalog, struct text name,
                                                 size_t *count)
{
    INVARIANT(catalog->sealed);
    const struct function *functions = catalog->functions.items;
    size_t users = catalog->user_function_count;
    return find_run(functions + users, catalog->functions.count - users, sizeof *functions,
                    function_name, name, count);
}

const struct operator*
    catalog_builtin_operators(const struct catalog *catalog, struct text name, size_t *count)
{
    INVARIANT(catalog->sealed);
    const struct operator* operators = catalog->operators.items;
    size_t users = catalog->user_operator_count;
    return find_run(operators + users, catalog->operators.count - users, sizeof *operators,
                    operator_name, name, count);
}

const struct relation *catalog_all_relations(const struct catalog *catalog, size_t *count)
{
    INVARIANT(catalog->sealed);
    *count = catalog->relations.count;
    return catalog->relations.items;
}

const struct function *catalog_all_functions(const struct catalog *catalog, size_t *count)
{
    INVARIANT(catalog->sealed);
    *count = catalog->user_function_count;
    return catalog->functions.items;
}

bool relation_has_proof(const struct relation *relation)
{
    return relation->key_count > 0 && !relation->has_children && !relation->has_rules;
}

const struct cast *catalog_casts(const struct catalog *catalog, size_t *count)
{
    INVARIANT(catalog->sealed);
    *count = catalog->casts.count;
    return catalog->casts.items;
}

const uint32_t *catalog_checked_types(const struct catalog *catalog, size_t *count)
{
    INVARIANT(catalog->sealed);
    *count = catalog->checked_types.count;
    return catalog->checked_types.items;
}

static int by_number(const void *a, const void *b)
{
    return compare_oids(*(const uint32_t *)a, *(const uint32_t *)b);
}

bool catalog_type_is_checked(const struct catalog *catalog, uint32_t oid)
{
    return find(catalog, &catalog->checked_types, sizeof oid, &oid, by_number) != NULL;
}

const struct event_code *catalog_event_code(const struct catalog *catalog)
{
    INVARIANT(catalog->sealed);
    return &catalog->event_code;
}

bool catalog_casts_implicitly(const struct catalog *catalog, uint32_t source, uint32_t target)
{
    const struct cast key = {.source = source, .target = target};
    return find(catalog, &catalog->implicit_casts, sizeof key, &key, by_cast) != NULL;
}

/* --- inheritance ---------------------------------------------------------------------------- */

struct descent {
    const struct catalog *catalog;
    struct arena *arena;
    bool *seen; /* a child of two parents is met twice */
    const struct relation **children;
    size_t count;
    size_t capacity;
};

static size_t first_edge_of(const struct array *inheritance, uint32_t parent)
{
    const struct inheritance *edges = inheritance->items;
    size_t low = 0, high = inheritance->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (edges[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_child(struct descent *descent, size_t child)
{
    if (descent->seen[child])
        return;
    descent->seen[child] = true;
    const struct relation **slot = arena_push(descent->arena, (void **)&descent->children,
                                              &descent->count, &descent->capacity, sizeof *slot);
    *slot = (const struct relation *)descent->catalog->relations.items + child;
}

static void add_children_of(struct descent *descent, uint32_t parent)
{
    const struct array *inheritance = &descent->catalog->inheritance;
    const struct inheritance *edges = inheritance->items;
    for (size_t i = first_edge_of(inheritance, parent);
         i < inheritance->count && edges[i].parent == parent; i++)
        add_child(descent, edges[i].child);
}

const struct relation *const *catalog_children(const struct catalog *catalog, struct arena *arena,
                                               const struct relation *relation, size_t *count)
{
    INVARIANT(catalog->sealed);
    struct descent descent = {.catalog = catalog, .arena = arena};
    descent.seen = arena_array(arena, catalog->relations.count, sizeof *descent.seen);
    add_children_of(&descent, relation->oid);
    for (size_t next = 0; next < descent.count; next++)
        add_children_of(&descent, descent.children[next]->oid);
    *count = descent.count;
    return descent.children;
}

const struct foreign_reference *catalog_references(const struct catalog *catalog, struct arena *arena,
                                           const struct relation *child, size_t *count)
{
    INVARIANT(catalog->sealed);
    const struct relation *relations = catalog->relations.items;
    struct foreign_reference *found = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < catalog->relations.count; i++)
        for (size_t j = 0; j < relations[i].referenced_by_count; j++)
            if (relations[i].referenced_by[j].child == child->oid) {
                struct foreign_reference *added =
                    arena_push(arena, (void **)&found, count, &capacity, sizeof *added);
                *added = (struct foreign_reference){&relations[i], &relations[i].referenced_by[j]};
            }
    return found;
}

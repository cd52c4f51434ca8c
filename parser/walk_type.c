/*
 * walk_type.c - types: what making a value of one runs (domain checks, input functions), and types
 * that read the catalog by name.
 *
 * A type that the catalog does not have becomes an unresolved `call`. Offline only pg_catalog's own
 * type names are known.
 */
#include "parser/walk_scope.h"

/* --- names ---------------------------------------------------------------------------------- */

static const struct type *sure_type(const struct walk *walk, struct text schema, struct text name)
{
    return walk_may_make(walk, MAKEABLE_OTHER, schema, name)
               ? NULL
               : catalog_type(walk->context->catalog, schema, name);
}

/* A composite type that the agent could have put before a built-in one runs nothing and has no
 * operators; one before another composite type would have other fields. */
const struct type *type_named(struct walk *walk, struct text schema, struct text name)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    bool hides = false;
    if (walk->context->catalog == NULL)
        return NULL;
    if (schema.size > 0)
        return sure_type(walk, schema, name);
    for (size_t i = 0; i < count; i++) {
        if (walk_may_make(walk, MAKEABLE_CODE, path[i], name))
            return NULL;
        const struct type *type = sure_type(walk, path[i], name);
        if (type != NULL)
            return hides && !text_is(path[i], "pg_catalog") ? NULL : type;
        hides = hides || walk_may_make(walk, MAKEABLE_NEW, path[i], name);
    }
    return NULL;
}

static struct text name_part(List *names, int from_end)
{
    int count = list_length(names);
    return count >= from_end ? text_from(strVal(list_nth(names, count - from_end)))
                             : (struct text){0};
}

/* table.column%TYPE */
static const struct type *type_of_column(struct walk *walk, List *names)
{
    RangeVar range = {.type = T_RangeVar, .inh = true, .relpersistence = 'p', .location = -1};
    int count = list_length(names);
    if (count < 2 || walk->context->catalog == NULL)
        return NULL;
    range.relname = strVal(list_nth(names, count - 2));
    range.schemaname = count > 2 ? strVal(list_nth(names, count - 3)) : NULL;
    const struct named table = walk_relation(walk, &range);
    const struct column *column =
        table.relation != NULL ? relation_column(table.relation, name_part(names, 1)) : NULL;
    return column != NULL ? catalog_type_by_oid(walk->context->catalog, column->type) : NULL;
}

/* The element type where an array of it is written; NULL if unknown. */
const struct type *element_of_name(struct walk *walk, TypeName *name)
{
    if (name->pct_type)
        return type_of_column(walk, name->names);
    return type_named(walk, name_part(name->names, 2), name_part(name->names, 1));
}

const struct type *type_of_name(struct walk *walk, TypeName *name)
{
    return name->arrayBounds == NIL ? element_of_name(walk, name) : NULL;
}

/* --- what using a type runs ----------------------------------------------------------------- */

/* Types whose input and output look names up; regconfig and regdictionary are in every text search.
 */
static bool reads_names(const struct text name)
{
    static const char *const names[] = {"regclass",     "regproc", "regprocedure", "regoper",
                                        "regoperator",  "regtype", "regrole",      "regnamespace",
                                        "regcollation", "aclitem"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    return false;
}

static void name_reading_type(struct walk *walk, struct text name, int location)
{
    struct object object = {OBJECT_NAME, TEXT("pg_catalog"), arena_text(walk->arena, name)};
    call_action(walk, object, TEXT("catalog: reads names"), location);
}

static void composite_use(struct walk *walk, const struct type *type, int location)
{
    const struct catalog *catalog = walk->context->catalog;
    const struct relation *relation = catalog_relation_by_oid(catalog, type->relation);
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++) {
        const struct type *column = catalog_type_by_oid(catalog, relation->columns[i].type);
        if (column != NULL)
            type_use(walk, column, location);
    }
}

static void user_type_use(struct walk *walk, const struct type *type, int location)
{
    for (size_t i = 0; i < type->check_function_count; i++)
        call_function_oid(walk, type->check_functions[i], location);
    if (type->user_input) {
        struct object object = {OBJECT_NAME, type->schema, type->name};
        call_action(walk, object, TEXT("input function"), location);
        walk->shape->changes |= CHANGES_BY_CODE;
    }
}

void type_use(struct walk *walk, const struct type *type, int location)
{
    bool fresh;
    walk_seen(walk, seen_owner(SEEN_TYPE, type->oid), (struct text){0}, (struct text){0}, &fresh);
    if (!fresh || !walk_enter(walk))
        return;
    bool builtin = text_is(type->schema, "pg_catalog");
    walk->users_values = walk->users_values || !builtin;
    if (builtin && reads_names(type->name))
        name_reading_type(walk, type->name, location);
    if (!builtin)
        user_type_use(walk, type, location);
    const struct type *base =
        type->base != 0 ? catalog_type_by_oid(walk->context->catalog, type->base) : NULL;
    if (base != NULL)
        type_use(walk, base, location);
    if (type->kind == 'c')
        composite_use(walk, type, location);
    walk_leave(walk);
}

static bool is_builtin_type_name(struct text name)
{
    static const char *const names[] = {
        "bit",         "bool",          "box",     "bpchar",    "bytea",     "char",
        "cidr",        "circle",        "date",    "daterange", "float4",    "float8",
        "inet",        "int2",          "int4",    "int4range", "int8",      "int8range",
        "interval",    "json",          "jsonb",   "jsonpath",  "line",      "lseg",
        "macaddr",     "macaddr8",      "money",   "name",      "numeric",   "numrange",
        "oid",         "path",          "pg_lsn",  "point",     "polygon",   "record",
        "regconfig",   "regdictionary", "text",    "tid",       "time",      "timestamp",
        "timestamptz", "timetz",        "tsquery", "tsrange",   "tstzrange", "tsvector",
        "uuid",        "varbit",        "varchar", "void",      "xid",       "xml",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    return false;
}

/* Could it be a table or composite type of the agent's own? Those run nothing. */
static bool may_be_plain(struct walk *walk, struct text schema, struct text name)
{
    size_t count = 1;
    const struct text *path = schema.size > 0 ? &schema : walk_path(walk, &count);
    for (size_t i = 0; i < count; i++)
        if (walk_may_make(walk, MAKEABLE_NEW, path[i], name) &&
            !walk_may_make(walk, MAKEABLE_CODE, path[i], name))
            return true;
    return false;
}

bool type_has_name(struct walk *walk, struct text name)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++)
        if (catalog_type(walk->context->catalog, path[i], name) != NULL)
            return true;
    return false;
}

bool types_use(struct walk *walk, struct text schema, struct text name, int location)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t count = 1, found = 0;
    const struct text *path = schema.size > 0 ? &schema : walk_path(walk, &count);
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++) {
        const struct type *type = catalog != NULL ? catalog_type(catalog, path[i], name) : NULL;
        if (type == NULL)
            continue;
        found++;
        type_use(walk, type, location);
        if (walk_path_ends(walk, path[i])) {
            count = i;
            break;
        }
    }
    if (schema.size == 0)
        found += call_types_that_may_be(walk, name, count, location);
    return found > 0;
}

static void unknown_type(struct walk *walk, TypeName *name)
{
    struct text schema = name_part(name->names, 2), base = name_part(name->names, 1);
    bool online = walk->context->catalog != NULL;
    bool may_be_builtin = schema.size == 0 || text_is(schema, "pg_catalog");
    if (!online && may_be_builtin && reads_names(base)) {
        name_reading_type(walk, base, name->location);
        return;
    }
    if (!online && may_be_builtin && is_builtin_type_name(base))
        return;
    struct object object = {OBJECT_NAME, arena_text(walk->arena, schema),
                            arena_text(walk->arena, base)};
    if (schema.size == 0 && walk->context->search_path_count > 0)
        object.schema = arena_text(walk->arena, walk->context->search_path[0]);
    size_t index = call_action(walk, object, TEXT("unknown type"), name->location);
    walk->actions[index].unresolved =
        online && !walk_may_make(walk, MAKEABLE_CODE, object.schema, base);
    walk->unresolved_names = walk->unresolved_names || online;
}

/* Modifiers: numbers, and words that look like columns. */
static void type_modifiers(struct walk *walk, List *modifiers)
{
    ListCell *cell;
    foreach (cell, modifiers) {
        Node *node = lfirst(cell);
        bool word = IsA(node, ColumnRef) && list_length(((ColumnRef *)node)->fields) == 1;
        if (!word && !IsA(node, A_Const))
            walk_unknown(walk, "type modifier", (int)nodeTag(node), -1);
    }
}

void type_written(struct walk *walk, TypeName *name)
{
    if (name == NULL)
        return;
    if (name->names == NIL || list_length(name->names) > 4) {
        walk_unknown(walk, "type name", T_TypeName, name->location);
        return;
    }
    type_modifiers(walk, name->typmods);
    if (name->pct_type) {
        const struct type *type = type_of_column(walk, name->names);
        if (type != NULL)
            type_use(walk, type, name->location);
        else
            unknown_type(walk, name);
        return;
    }
    struct text schema = name_part(name->names, 2), base = name_part(name->names, 1);
    if (!types_use(walk, schema, base, name->location) && !may_be_plain(walk, schema, base))
        unknown_type(walk, name);
}

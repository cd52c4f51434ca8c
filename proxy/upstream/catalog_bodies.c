/*
 * catalog_bodies.c - the bodies of functions: what they name is what they may run.
 *
 * Names are matched without a search path: a bare one means every function, table and type of that
 * name. Where it stands behind something that is no schema (a table, a variable) so it is, too.
 */
#include "proxy/upstream/catalog_rows.h"

#include "parser/builtins.h"
#include "parser/code.h"
#include "proxy/base/attributes.h"

#include <stdlib.h>

struct named {
    struct text name;
    size_t index;
};

struct names {
    struct named *items;
    size_t count;
};

struct search {
    struct reading *reading;
    struct names functions, relations, types, operators;
};

/* --- rows ----------------------------------------------------------------------------------------- */

void read_readable(struct reading *reading, const PGresult *result)
{
    reading->source_is_readable = PQntuples(result) == 1 && row_bool(result, 0, 0);
}

static void without_body(struct reading *reading, const struct function *function,
                         struct text language)
{
    bool has_source = text_is(language, "sql") || text_is(language, "plpgsql");
    struct text reason =
        has_source
            ? arena_printf(reading->arena, "the source of %.*s.%.*s() cannot be read",
                           TEXT_ARGS(function->schema), TEXT_ARGS(function->name))
            : arena_printf(reading->arena, "%.*s.%.*s() is written in %.*s",
                           TEXT_ARGS(function->schema), TEXT_ARGS(function->name),
                           TEXT_ARGS(language));
    for (enum deed deed = 0; deed < DEED_COUNT; deed++)
        add_reason(reading, deed, function_node(reading, function->oid), reason);
}

/* A library that was reviewed. C functions are made by superusers only. */
static bool read_library(struct reading *reading, const struct function *function, struct text file)
{
    static const char folder[] = "$libdir/";
    if (!text_starts_with(file, folder))
        return false;
    const struct builtin_library library = builtin_library(text_behind(file, sizeof folder - 1));
    if (library.sets)
        add_reason(reading, MOVES_CUSTOM, function_node(reading, function->oid), TEXT("may set something"));
    return library.known;
}

/* Code that is no text: of a library, or one of the server's own under another name. */
static bool read_compiled(struct reading *reading, const struct function *function, struct text language,
                          struct text source)
{
    if (text_is(language, "c"))
        return read_library(reading, function, source);
    if (source.size == 0 || builtin_function(source).strictest == FUNCTION_UNKNOWN)
        return false;
    judge_builtin(reading, function, source);
    return true;
}

void read_bodies(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        const struct function *function = find_function(reading, row_oid(reading, result, row, 0));
        if (function == NULL)
            continue;
        struct text language = text_from(PQgetvalue(result, row, 1));
        struct text source = text_from(PQgetvalue(result, row, 2));
        bool compiled = row_bool(result, row, 3);
        if (PQgetisnull(result, row, 2) ||
            (compiled && !read_compiled(reading, function, language, source)))
            without_body(reading, function, row_text(reading, result, row, 1));
        if (PQgetisnull(result, row, 2) || compiled)
            continue;
        struct body *body =
            arena_push(&reading->scratch, &reading->bodies.items, &reading->bodies.count,
                       &reading->bodies.capacity, sizeof *body);
        body->function = (size_t)(function - reading->functions);
        body->text = arena_text(&reading->scratch, source);
        body->procedural = text_is(language, "plpgsql");
    }
}

/* --- by name -------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return text_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void add_named(struct names *names, struct text name, size_t index)
{
    names->items[names->count++] = (struct named){name, index};
}

static void sort_names(struct names *names)
{
    if (names->count > 1)
        qsort(names->items, names->count, sizeof *names->items, by_name);
}

/* The first of that name; `count` if there is none. */
static size_t first_named(const struct names *names, struct text name)
{
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text_compare(names->items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_named(const struct names *names, size_t at, struct text name)
{
    return at < names->count && text_equal(names->items[at].name, name);
}

static bool may_run_code(const struct type *type)
{
    return !text_is(type->schema, "pg_catalog");
}

static void index_names(struct search *search)
{
    struct reading *reading = search->reading;
    struct arena *arena = &reading->scratch;
    const struct operator *operators = reading->operators.items;
    search->functions.items = arena_array(arena, reading->function_count, sizeof(struct named));
    search->relations.items = arena_array(arena, reading->relation_count, sizeof(struct named));
    search->types.items = arena_array(arena, reading->type_count, sizeof(struct named));
    search->operators.items = arena_array(arena, reading->operators.count, sizeof(struct named));
    for (size_t i = 0; i < reading->function_count; i++)
        add_named(&search->functions, reading->functions[i].name, i);
    for (size_t i = 0; i < reading->relation_count; i++)
        add_named(&search->relations, reading->relations[i].relation.name, i);
    for (size_t i = 0; i < reading->type_count; i++)
        if (may_run_code(&reading->types[i].type))
            add_named(&search->types, reading->types[i].type.name, i);
    for (size_t i = 0; i < reading->operators.count; i++)
        add_named(&search->operators, operators[i].name, i);
    sort_names(&search->functions);
    sort_names(&search->relations);
    sort_names(&search->types);
    sort_names(&search->operators);
}

/* --- what a name may mean ------------------------------------------------------------------------- */

static bool is_schema(const struct reading *reading, struct text name)
{
    for (size_t i = 0; i < reading->schema_count; i++)
        if (text_equal(reading->schemas[i].name, name))
            return true;
    return false;
}

/* row.f is f(row), for a function of one row. */
static bool takes_a_row(const struct reading *reading, const struct function *function)
{
    if (function->argument_count != 1)
        return false;
    const struct type_draft *type = find_type(reading, function->argument_types[0]);
    return type == NULL || type->type.kind == 'c' || type->type.kind == 'p';
}

static void add_functions(struct search *search, size_t from, const struct code_name *name,
                          bool in_schema)
{
    struct reading *reading = search->reading;
    for (size_t at = first_named(&search->functions, name->name);
         is_named(&search->functions, at, name->name); at++) {
        const struct function *function = &reading->functions[search->functions.items[at].index];
        bool own = is_user_function(reading, function->oid);
        bool used = own ? name->called || takes_a_row(reading, function)
                        : name->called && !name->is_local && !name->is_custom;
        if (used && (!in_schema || text_equal(function->schema, name->schema)))
            add_runs(reading, from, function_node(reading, function->oid));
    }
}

static void add_relations(struct search *search, size_t from, const struct code_name *name,
                          bool in_schema)
{
    struct reading *reading = search->reading;
    for (size_t at = first_named(&search->relations, name->name);
         is_named(&search->relations, at, name->name); at++) {
        const struct relation *relation =
            &reading->relations[search->relations.items[at].index].relation;
        if (in_schema && !text_equal(relation->schema, name->schema))
            continue;
        add_runs(reading, from, relation_node(reading, relation->oid, USE_READ));
        for (enum relation_use use = USE_DELETE; name->written && use < USE_COUNT; use++)
            add_runs(reading, from, relation_node(reading, relation->oid, use));
    }
}

static void add_types(struct search *search, size_t from, const struct code_name *name)
{
    struct reading *reading = search->reading;
    for (size_t at = first_named(&search->types, name->name);
         is_named(&search->types, at, name->name); at++)
        add_runs(reading, from,
                 type_node(reading, reading->types[search->types.items[at].index].type.oid));
}

static void add_operators(struct search *search, size_t from, const struct code_name *name)
{
    const struct operator *operators = search->reading->operators.items;
    for (size_t at = first_named(&search->operators, name->name);
         is_named(&search->operators, at, name->name); at++)
        add_runs(search->reading, from,
                 function_node(search->reading, operators[search->operators.items[at].index].function));
}

static void add_runs_of_name(struct search *search, size_t from, const struct code_name *name)
{
    bool in_schema = name->schema.size > 0 && is_schema(search->reading, name->schema);
    if (name->is_operator) {
        add_operators(search, from, name);
        return;
    }
    add_functions(search, from, name, in_schema);
    add_relations(search, from, name, in_schema);
    add_types(search, from, name);
}

static void add_reason_of_body(struct reading *reading, enum deed deed, const struct function *function,
                               const char *reason)
{
    if (reason != NULL)
        add_reason(reading, deed, function_node(reading, function->oid),
                   arena_printf(reading->arena, "%.*s.%.*s() %s", TEXT_ARGS(function->schema),
                                TEXT_ARGS(function->name), reason));
}

static void add_reasons_of_set_config(struct reading *reading, const struct function *function,
                                      const struct code_name *name)
{
    if (name->is_custom || name->is_local)
        add_reason_of_body(reading, name->is_custom ? MOVES_CUSTOM : MOVES_SESSION, function, "has a set_config");
    if (name->is_custom && !name->is_local)
        add_reason_of_body(reading, NOT_UNDONE, function, "sets something for longer than the transaction");
}

static void search_body(struct search *search, const struct body *body, struct arena *arena)
{
    struct reading *reading = search->reading;
    const struct function *function = &reading->functions[body->function];
    size_t node = function_node(reading, function->oid);
    struct code code;
    code_read(arena, body->text, body->procedural, &code);
    add_reason_of_body(reading, NOT_UNDONE, function, code.unclear);
    add_reason_of_body(reading, NOT_UNDONE, function, code.lasts);
    add_reason_of_body(reading, MOVES_SESSION, function, code.unclear);
    add_reason_of_body(reading, MOVES_SESSION, function, code.sets ? "has a SET" : NULL);
    add_reason_of_body(reading, MOVES_CUSTOM, function, code.sets_custom ? "has a SET" : NULL);
    add_reason_of_body(reading, MOVES_SESSION, function,
                       code.cascades ? "empties tables that it does not name" : NULL);
    add_reason_of_body(reading, MOVES_SESSION, function, code.closes ? "closes a cursor of others" : NULL);
    for (size_t i = 0; i < code.count; i++) {
        add_runs_of_name(search, node, &code.names[i]);
        add_reasons_of_set_config(reading, function, &code.names[i]);
        bool notifies = text_is(code.names[i].name, "notify") || text_is(code.names[i].name, "pg_notify");
        add_reason_of_body(reading, NOTIFIES, function, notifies ? "has a NOTIFY" : NULL);
    }
    for (size_t i = 0; i < code.count && !body->procedural; i++)
        if (text_is(code.names[i].name, "into")) { /* SELECT INTO makes a table */
            add_runs(reading, node, event_node(reading));
            add_reason_of_body(reading, MOVES_SESSION, function, "may make a table");
        }
}

void add_runs_of_bodies(struct reading *reading)
{
    struct search search = {.reading = reading};
    const struct body *bodies = reading->bodies.items;
    struct arena arena;
    arena_init(&arena);
    index_names(&search);
    for (size_t i = 0; i < reading->bodies.count; i++) {
        search_body(&search, &bodies[i], &arena);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

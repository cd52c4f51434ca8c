/*
 * walk_path.c - what names mean: with a schema, through the search path, and where new objects go.
 *
 * What the catalog does not have is marked, not guessed. Where the agent could have made it, it is no
 * unknown name but an object of which nothing but the name is known.
 */
#include "parser/walk_path.h"

#include "parser/builtins.h"
#include "parser/walk_scope.h"

#include "catalog/pg_class.h"

/* --- what the agent may make -------------------------------------------------------------------- */

static bool in_range(struct text start, bool prefix, struct text name)
{
    if (prefix && name.size > start.size)
        name.size = start.size;
    return text_equal(name, start);
}

/* Whatever the policy says: the server lets nobody but a superuser make or change something in
 * pg_catalog, and a login that may is refused (upstream/facts.c). */
bool walk_may_make(const struct walk *walk, unsigned ways, struct text schema, struct text name)
{
    const struct analyse_context *context = walk->context;
    if (text_is(schema, "pg_catalog"))
        return false;
    for (size_t i = 0; context->every_candidate && i < context->makeable_count; i++) {
        const struct makeable *makeable = &context->makeable[i];
        if ((makeable->ways & ways) != 0 && makeable->kind == OBJECT_NAME &&
            in_range(makeable->schema, makeable->schema_prefix, schema) &&
            in_range(makeable->name, makeable->name_prefix, name))
            return true;
    }
    return false;
}

static bool may_move_schema(const struct walk *walk, struct text schema)
{
    const struct analyse_context *context = walk->context;
    for (size_t i = 0; context->every_candidate && i < context->makeable_count; i++)
        if (context->makeable[i].kind == OBJECT_SCHEMA &&
            in_range(context->makeable[i].name, context->makeable[i].name_prefix, schema))
            return true;
    return false;
}

static bool is_temporary(const struct walk *walk, struct text schema, struct text name)
{
    const struct analyse_context *context = walk->context;
    for (size_t i = 0; text_is(schema, "pg_temp") && i < context->temporary_count; i++)
        if (text_equal(context->temporary[i], name))
            return true;
    return false;
}

/* --- the path ----------------------------------------------------------------------------------- */

struct path {
    struct text *schemas;
    size_t count, capacity;
};

static void path_add(struct walk *walk, struct path *path, struct text schema)
{
    for (size_t i = 0; i < path->count; i++)
        if (text_equal(path->schemas[i], schema))
            return;
    struct text *place = arena_push(walk->arena, (void **)&path->schemas, &path->count,
                                    &path->capacity, sizeof *place);
    *place = schema;
}

static bool path_is_written(const struct walk *walk, const char *schema)
{
    for (size_t i = 0; i < walk->context->search_path_count; i++)
        if (text_is(walk->context->search_path[i], schema))
            return true;
    return false;
}

/* Every schema there is, and every one that the agent could have made with something in it; of names
 * that only begin somehow, the beginning with a `*` stands for all. */
static void path_add_all(struct walk *walk, struct path *path)
{
    const struct analyse_context *context = walk->context;
    size_t count = 0;
    const struct text *schemas =
        context->catalog != NULL ? catalog_schemas(context->catalog, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        path_add(walk, path, schemas[i]);
    for (size_t i = 0; i < context->makeable_count; i++) {
        const struct makeable *makeable = &context->makeable[i];
        if (makeable->kind != OBJECT_NAME || (makeable->ways & MAKEABLE_NEW) == 0)
            continue;
        path_add(walk, path,
                 makeable->schema_prefix
                     ? arena_printf(walk->arena, "%.*s*", TEXT_ARGS(makeable->schema))
                     : makeable->schema);
    }
}

const struct text *walk_path(struct walk *walk, size_t *count)
{
    const struct analyse_context *context = walk->context;
    if (walk->path == NULL) {
        struct path path = {0};
        if (context->every_candidate && !path_is_written(walk, "pg_temp"))
            path_add(walk, &path, TEXT("pg_temp"));
        if (!path_is_written(walk, "pg_catalog"))
            path_add(walk, &path, TEXT("pg_catalog"));
        for (size_t i = 0; i < context->search_path_count; i++)
            path_add(walk, &path, context->search_path[i]);
        if (context->path_open)
            path_add_all(walk, &path);
        walk->path = path.schemas;
        walk->path_count = path.count;
    }
    *count = walk->path_count;
    return walk->path;
}

/* --- relations ---------------------------------------------------------------------------------- */

struct search {
    struct candidate *found;
    size_t count, capacity;
};

static void search_add(struct walk *walk, struct search *search, const struct candidate *candidate)
{
    struct candidate *place = arena_push(walk->arena, (void **)&search->found, &search->count,
                                         &search->capacity, sizeof *place);
    *place = *candidate;
    place->object.kind = OBJECT_NAME;
    place->object.schema = arena_text(walk->arena, candidate->object.schema);
}

/* The one whose columns are surely what the catalog says; else one that it has at all. */
static size_t most_certain(const struct search *search)
{
    size_t chosen = 0;
    for (size_t i = search->count; i-- > 0;) {
        const struct candidate *candidate = &search->found[i], *best = &search->found[chosen];
        bool surer = candidate->relation != NULL && !candidate->may_differ;
        bool best_is_sure = best->relation != NULL && !best->may_differ;
        if (surer || (candidate->relation != NULL && !best_is_sure) ||
            (best->relation == NULL && i < chosen))
            chosen = i;
    }
    return chosen;
}

static const struct relation *in_catalog(const struct walk *walk, struct text schema,
                                         struct text name)
{
    const struct catalog *catalog = walk->context->catalog;
    return catalog != NULL ? catalog_relation(catalog, schema, name) : NULL;
}

/* Nothing can be put in the place of what pg_catalog has, nor before it but in a schema before it. */
bool walk_path_ends(const struct walk *walk, struct text schema)
{
    const struct analyse_context *context = walk->context;
    return !context->every_candidate || (text_is(schema, "pg_catalog") && !context->path_open);
}

static void search_relations(struct walk *walk, struct text name, struct search *search)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    walk->searched = true;
    if (!walk_spend(walk, count))
        return;
    for (size_t i = 0; i < count; i++) {
        struct candidate candidate = {.object = {.schema = path[i], .name = name},
                                      .relation = in_catalog(walk, path[i], name)};
        bool is_new = walk_may_make(walk, MAKEABLE_NEW, path[i], name);
        candidate.may_differ = candidate.relation == NULL ||
                               walk_may_make(walk, MAKEABLE_OTHER, path[i], name);
        if (candidate.relation == NULL && !is_new && !is_temporary(walk, path[i], name))
            continue;
        search_add(walk, search, &candidate);
        if (candidate.relation != NULL && walk_path_ends(walk, path[i]))
            return;
    }
}

/* Without a catalog the first schema of the path stands for all, but what can only be a system
 * catalog's. */
static struct text offline_schema(const struct walk *walk, struct text name)
{
    if (text_starts_with(name, "pg_"))
        return TEXT("pg_catalog");
    if (walk->context->search_path_count == 0)
        return (struct text){0};
    return arena_text(walk->arena, walk->context->search_path[0]);
}

static bool search_has(const struct search *search, struct text schema)
{
    for (size_t i = 0; i < search->count; i++)
        if (text_equal(search->found[i].object.schema, schema))
            return true;
    return false;
}

static struct named relation_on_path(struct walk *walk, struct text name)
{
    struct named named = {.object = {.kind = OBJECT_NAME, .name = name}};
    struct search search = {0};
    search_relations(walk, name, &search);
    if (walk->context->catalog == NULL) {
        struct candidate first = {.object = {.schema = offline_schema(walk, name), .name = name}};
        if (!search_has(&search, first.object.schema))
            search_add(walk, &search, &first);
    }
    if (search.count == 0) {
        walk->unresolved_names = named.unresolved = true;
        return named;
    }
    size_t chosen = most_certain(&search);
    named.object = search.found[chosen].object;
    named.relation = search.found[chosen].relation;
    named.may_differ = search.found[chosen].may_differ;
    named.may_be_other = search.count > 1;
    walk->unresolved_names |= named.relation == NULL && walk->context->catalog != NULL;
    walk_note_candidates(walk, search.found, search.count, chosen);
    return named;
}

static bool names_a_database(struct walk *walk, const RangeVar *range)
{
    if (range->catalogname == NULL)
        return false;
    walk_fail(walk, ANALYSE_REJECTED, "42501", range->location,
              "%s.%s.%s names a database: write schema and name only", range->catalogname,
              range->schemaname, range->relname);
    return true;
}

struct named walk_relation_in_literal(struct walk *walk, RangeVar *range)
{
    struct named named = {.object = {.kind = OBJECT_NAME, .name = walk_text(walk, range->relname)}};
    if (names_a_database(walk, range))
        return named;
    if (range->schemaname == NULL)
        return relation_on_path(walk, named.object.name);
    struct text schema = named.object.schema = walk_text(walk, range->schemaname);
    named.relation = in_catalog(walk, schema, named.object.name);
    named.may_differ = walk_may_make(walk, MAKEABLE_OTHER, schema, named.object.name);
    if (named.relation == NULL && walk->context->catalog != NULL) {
        walk->unresolved_names = true;
        named.unresolved = !walk_may_make(walk, MAKEABLE_NEW, schema, named.object.name) &&
                           !is_temporary(walk, schema, named.object.name);
    }
    return named;
}

static void found_in(struct walk *walk, const RangeVar *range, struct text schema)
{
    if (range->schemaname != NULL || schema.size == 0 || (range->location < 0 && walk->listed.tokens == 0))
        return;
    struct resolved_name *name =
        arena_push(walk->arena, (void **)&walk->resolved, &walk->resolved_count,
                   &walk->resolved_capacity, sizeof *name);
    *name = (struct resolved_name){range->location, walk_text(walk, range->relname), schema, walk->listed};
}

struct named walk_relation(struct walk *walk, RangeVar *range)
{
    struct named named = walk_relation_in_literal(walk, range);
    if (named.relation != NULL)
        found_in(walk, range, named.object.schema);
    return named;
}

/* --- new objects ---------------------------------------------------------------------------------- */

/* The schema in which PostgreSQL creates what is named without one. */
static struct text creation_schema(struct walk *walk, struct text name, int location)
{
    const struct analyse_context *context = walk->context;
    for (size_t i = 0; i < context->search_path_count && !context->path_open; i++) {
        struct text schema = context->search_path[i];
        if (may_move_schema(walk, schema))
            break;
        if (context->catalog == NULL || text_is(schema, "pg_temp") ||
            catalog_has_schema(context->catalog, schema))
            return arena_text(walk->arena, schema);
    }
    if (context->every_candidate)
        walk_fail(walk, ANALYSE_UNQUALIFIED, "42501", location,
                  "%.*s must be written with its schema, because this agent may change which schema "
                  "comes first",
                  TEXT_ARGS(name));
    walk->unresolved_names = true;
    return (struct text){0};
}

struct object walk_new_object(struct walk *walk, RangeVar *range)
{
    struct object object = {.kind = OBJECT_NAME, .name = walk_text(walk, range->relname)};
    if (names_a_database(walk, range))
        return object;
    if (range->schemaname != NULL)
        object.schema = walk_text(walk, range->schemaname);
    else if (range->relpersistence == RELPERSISTENCE_TEMP)
        object.schema = TEXT("pg_temp");
    else {
        object.schema = creation_schema(walk, object.name, range->location);
        found_in(walk, range, object.schema);
    }
    return object;
}

/* --- objects of any kind ---------------------------------------------------------------------------- */

static bool function_is_in(const struct catalog *catalog, struct text schema, struct text name)
{
    size_t count;
    const struct function *functions = catalog_functions(catalog, name, &count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(functions[i].schema, schema))
            return true;
    return text_is(schema, "pg_catalog") && builtin_function(name).strictest != FUNCTION_UNKNOWN;
}

static bool operator_is_in(const struct catalog *catalog, struct text schema, struct text name)
{
    size_t count;
    const struct operator* operators = catalog_operators(catalog, name, &count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(operators[i].schema, schema))
            return true;
    return false;
}

static bool schema_has(const struct catalog *catalog, struct text schema, struct text name)
{
    return catalog != NULL &&
           (catalog_relation(catalog, schema, name) != NULL ||
            catalog_type(catalog, schema, name) != NULL || function_is_in(catalog, schema, name) ||
            operator_is_in(catalog, schema, name));
}

static void search_objects(struct walk *walk, struct text name, struct search *search)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    walk->searched = true;
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++) {
        struct candidate candidate = {.object = {.schema = path[i], .name = name}};
        if (schema_has(walk->context->catalog, path[i], name) ||
            walk_may_make(walk, MAKEABLE_NEW, path[i], name))
            search_add(walk, search, &candidate);
    }
}

/* Which schema of the path has something of this name. Two that do would need to know of which kind
 * it must be, and of which arguments: the writer knows, or both are meant. */
static struct text schema_of_name(struct walk *walk, struct text name, int location)
{
    struct search search = {0};
    if (walk->context->catalog == NULL)
        return offline_schema(walk, name);
    search_objects(walk, name, &search);
    walk->unresolved_names |= search.count == 0;
    if (search.count > 1 && !walk->context->every_candidate)
        walk_fail(walk, ANALYSE_REJECTED, "42501", location,
                  "%.*s is in several schemas of the search path: write it with its schema",
                  TEXT_ARGS(name));
    if (search.count == 0)
        return (struct text){0};
    walk_note_candidates(walk, search.found, search.count, 0);
    return search.found[0].object.schema;
}

struct object walk_object_from_names(struct walk *walk, List *names, int location)
{
    struct object object = {.kind = OBJECT_NAME};
    int count = list_length(names);
    for (int i = 0; i < count; i++)
        if (!IsA(list_nth(names, i), String)) {
            walk_unknown(walk, "a name's part", (int)nodeTag(list_nth(names, i)), location);
            return object;
        }
    if (count != 1 && count != 2) {
        walk_fail(walk, ANALYSE_REJECTED, "42501", location, "a name of %d parts is not understood",
                  count);
        return object;
    }
    object.name = walk_text(walk, strVal(llast(names)));
    object.schema = count == 2 ? walk_text(walk, strVal(linitial(names)))
                               : schema_of_name(walk, object.name, location);
    return object;
}

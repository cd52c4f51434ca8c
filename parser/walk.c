/*
 * walk.c - the top of the walk: failing, depth, adding actions, and what dotted names mean.
 *
 * A name means what PostgreSQL's search path makes it mean at the moment of judging. One that means
 * nothing, or could mean several things that the walk cannot tell apart, is marked or fails the
 * walk; it is never guessed.
 */
#include "parser/walk.h"

#include "parser/builtins.h"
#include "proxy/base/limits.h"

#include "catalog/pg_class.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES_MAX = 512 };

void walk_fail(struct walk *walk, enum analyse_result result, const char *sqlstate, int location,
               const char *message, ...)
{
    if (walk->failed)
        return;
    char text[MESSAGE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    walk->failed = true;
    walk->result = result;
    walk->message = arena_text(walk->arena, text_from(text));
    walk->location = location;
    memcpy(walk->sqlstate, sqlstate, sizeof walk->sqlstate);
}

void walk_unknown(struct walk *walk, const char *where, int node_tag, int location)
{
    walk_fail(walk, ANALYSE_REJECTED, "42501", location, "%s of kind %d is not understood", where,
              node_tag);
}

bool walk_enter(struct walk *walk)
{
    if (walk->depth >= LIMIT_STATEMENT_DEPTH) {
        walk_fail(walk, ANALYSE_TOO_LARGE, "54001", -1,
                  "statement is too deeply nested to check (limit %d levels)",
                  LIMIT_STATEMENT_DEPTH);
        return false;
    }
    walk->depth++;
    return true;
}

void walk_leave(struct walk *walk)
{
    walk->depth--;
}

struct action *walk_add(struct walk *walk, enum verb verb, struct object object, int location)
{
    struct action *action = arena_push(walk->arena, (void **)&walk->actions, &walk->action_count,
                                       &walk->action_capacity, sizeof *action);
    action->verb = verb;
    action->object = object;
    action->part = verb == VERB_SELECT && walk->inside_write ? PART_READ : PART_STATEMENT;
    action->rows_max = ROWS_UNPROVEN;
    action->location = location;
    return action;
}

void walk_add_named(struct walk *walk, enum verb verb, enum object_kind kind, struct text name,
                    int location)
{
    walk_add(walk, verb, (struct object){.kind = kind, .name = name}, location);
}

struct text walk_text(struct walk *walk, const char *string)
{
    return arena_text(walk->arena, text_from(string));
}

/* --- names ------------------------------------------------------------------------------------ */

static bool path_names_pg_catalog(const struct analyse_context *context)
{
    for (size_t i = 0; i < context->search_path_count; i++)
        if (text_is(context->search_path[i], "pg_catalog"))
            return true;
    return false;
}

/* The schemas in the order in which they are searched: pg_catalog comes first unless it is written.
 */
static size_t path_count(const struct walk *walk)
{
    return walk->context->search_path_count + (path_names_pg_catalog(walk->context) ? 0 : 1);
}

static struct text path_schema(const struct walk *walk, size_t index)
{
    if (path_names_pg_catalog(walk->context))
        return walk->context->search_path[index];
    return index == 0 ? TEXT("pg_catalog") : walk->context->search_path[index - 1];
}

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
    return catalog_relation(catalog, schema, name) != NULL ||
           catalog_type(catalog, schema, name) != NULL || function_is_in(catalog, schema, name) ||
           operator_is_in(catalog, schema, name);
}

static bool must_be_qualified(struct walk *walk, struct text name, int location)
{
    if (!walk->context->qualified_only || walk->context->anything_goes)
        return false;
    walk_fail(
        walk, ANALYSE_UNQUALIFIED, "42501", location,
        "%.*s must be written with its schema, because this agent may make objects of that name",
        TEXT_ARGS(name));
    return true;
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

/* Which schema of the path has something of this name. Two that do would need to know of which kind
 * it must be, and of which arguments: the writer knows. */
static struct text schema_of_name(struct walk *walk, struct text name, int location)
{
    const struct catalog *catalog = walk->context->catalog;
    struct text found = {0};
    if (must_be_qualified(walk, name, location))
        return found;
    if (catalog == NULL)
        return offline_schema(walk, name);
    for (size_t i = 0; i < path_count(walk); i++) {
        struct text schema = path_schema(walk, i);
        if (!schema_has(catalog, schema, name))
            continue;
        if (found.size > 0) {
            walk_fail(walk, ANALYSE_REJECTED, "42501", location,
                      "%.*s is in several schemas of the search path: write it with its schema",
                      TEXT_ARGS(name));
            return found;
        }
        found = schema;
    }
    walk->unresolved_names |= found.size == 0;
    return arena_text(walk->arena, found);
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

static bool names_a_database(struct walk *walk, const RangeVar *range)
{
    if (range->catalogname == NULL)
        return false;
    walk_fail(walk, ANALYSE_REJECTED, "42501", range->location,
              "%s.%s.%s names a database: write schema and name only", range->catalogname,
              range->schemaname, range->relname);
    return true;
}

static const struct relation *relation_on_path(struct walk *walk, struct object *object)
{
    const struct catalog *catalog = walk->context->catalog;
    if (catalog == NULL) {
        object->schema = offline_schema(walk, object->name);
        return NULL;
    }
    for (size_t i = 0; i < path_count(walk); i++) {
        const struct relation *found =
            catalog_relation(catalog, path_schema(walk, i), object->name);
        if (found != NULL) {
            object->schema = found->schema;
            return found;
        }
    }
    walk->unresolved_names = true;
    return NULL;
}

const struct relation *walk_relation_in_literal(struct walk *walk, RangeVar *range,
                                                struct object *object)
{
    *object = (struct object){.kind = OBJECT_NAME, .name = walk_text(walk, range->relname)};
    if (names_a_database(walk, range))
        return NULL;
    if (range->schemaname == NULL) {
        if (must_be_qualified(walk, object->name, range->location))
            return NULL;
        return relation_on_path(walk, object);
    }
    object->schema = walk_text(walk, range->schemaname);
    if (walk->context->catalog == NULL)
        return NULL;
    const struct relation *found =
        catalog_relation(walk->context->catalog, object->schema, object->name);
    walk->unresolved_names |= found == NULL;
    return found;
}

const struct relation *walk_relation(struct walk *walk, RangeVar *range, struct object *object)
{
    const struct relation *found = walk_relation_in_literal(walk, range, object);
    if (found == NULL || range->schemaname != NULL || range->location < 0)
        return found;
    struct resolved_name *name =
        arena_push(walk->arena, (void **)&walk->resolved, &walk->resolved_count,
                   &walk->resolved_capacity, sizeof *name);
    *name = (struct resolved_name){range->location, object->name, object->schema};
    return found;
}

/* The schema in which PostgreSQL creates what is named without one. */
static struct text creation_schema(struct walk *walk)
{
    const struct analyse_context *context = walk->context;
    for (size_t i = 0; i < context->search_path_count; i++)
        if (context->catalog == NULL ||
            catalog_has_schema(context->catalog, context->search_path[i]))
            return arena_text(walk->arena, context->search_path[i]);
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
    else if (!must_be_qualified(walk, object.name, range->location))
        object.schema = creation_schema(walk);
    return object;
}

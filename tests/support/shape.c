/*
 * shape.c - shows to a test what analyse() makes of statements.
 *
 * usage: shape CONNECTION [SCHEMA...]
 *
 * Reads lines, each a message's text in hexadecimal, and answers each with a line of JSON; an empty
 * line reads the catalog anew and has no answer. The schemas are the search path. Ends with 1 when
 * it cannot read the catalog or a line.
 */
#include "parser/analyse.h"
#include "proxy/base/json_out.h"
#include "proxy/upstream/catalog_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMAS_MAX = 16, ANSWER_BYTES_MAX = 64 * 1024 * 1024 };

struct place {
    struct catalog_loader *loader;
    struct catalog *catalog;
    struct text path[SCHEMAS_MAX];
    size_t path_count;
};

static const char *kind_name(enum statement_kind kind)
{
    static const char *const names[] = {
        [STATEMENT_UNKNOWN] = "unknown",
        [STATEMENT_EMPTY] = "empty",
        [STATEMENT_SELECT] = "select",
        [STATEMENT_WRITE] = "write",
        [STATEMENT_COPY_OUT] = "copy out",
        [STATEMENT_COPY_IN] = "copy in",
        [STATEMENT_BEGIN] = "begin",
        [STATEMENT_COMMIT] = "commit",
        [STATEMENT_ROLLBACK] = "rollback",
        [STATEMENT_SAVEPOINT] = "savepoint",
        [STATEMENT_RELEASE] = "release",
        [STATEMENT_ROLLBACK_TO] = "rollback to",
        [STATEMENT_TWO_PHASE] = "two phase",
        [STATEMENT_SET] = "set",
        [STATEMENT_SHOW] = "show",
        [STATEMENT_DISCARD] = "discard",
        [STATEMENT_PREPARE] = "prepare",
        [STATEMENT_EXECUTE] = "execute",
        [STATEMENT_DEALLOCATE] = "deallocate",
        [STATEMENT_DECLARE] = "declare",
        [STATEMENT_FETCH] = "fetch",
        [STATEMENT_CLOSE] = "close",
        [STATEMENT_EXPLAIN] = "explain",
        [STATEMENT_LISTEN] = "listen",
        [STATEMENT_CODE] = "code",
        [STATEMENT_UTILITY] = "utility",
    };
    return names[kind];
}

static const char *part_name(enum action_part part)
{
    static const char *const names[] = {
        [PART_STATEMENT] = "statement", [PART_READ] = "read", [PART_VIEW] = "view"};
    return names[part];
}

static void write_action(struct json_out *json, const struct action *action)
{
    json_open(json, '{');
    json_key_string(json, "verb", verb_name(action->verb));
    json_key_string(json, "of", object_kind_prefix(action->object.kind));
    json_key_text(json, "schema", action->object.schema);
    json_key_text(json, "name", action->object.name);
    json_key_string(json, "part", part_name(action->part));
    if (action->part == PART_VIEW)
        json_key_int(json, "view", (int64_t)action->view_action);
    json_key_bool(json, "unresolved", action->unresolved);
    json_key_bool(json, "any_column", action->columns_unknown);
    json_key_text(json, "reason", action->reason);
    json_key(json, "columns");
    json_open(json, '[');
    for (size_t i = 0; i < action->column_count; i++)
        json_text(json, action->columns[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_statement(struct json_out *json, const struct statement *statement)
{
    const struct shape *shape = &statement->shape;
    json_open(json, '{');
    json_key_string(json, "kind", kind_name(shape->kind));
    json_key_text(json, "summary", shape->summary);
    json_key_text(json, "print", statement->print);
    json_key_int(json, "changes", shape->changes);
    json_key_bool(json, "returns_rows", shape->returns_rows);
    json_key_bool(json, "not_in_block", shape->not_in_block);
    json_key(json, "functions");
    json_open(json, '[');
    for (size_t i = 0; i < shape->function_count; i++)
        json_text(json, shape->functions[i]);
    json_close(json, ']');
    json_key(json, "actions");
    json_open(json, '[');
    for (size_t i = 0; i < shape->action_count; i++)
        write_action(json, &shape->actions[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_analysis(struct json_out *json, const struct analysis *analysis)
{
    json_open(json, '{');
    json_key_bool(json, "ok", analysis->result == ANALYSE_OK);
    json_key_bool(json, "syntax", analysis->result == ANALYSE_SYNTAX);
    json_key_string(json, "sqlstate", analysis->sqlstate);
    json_key_text(json, "message", analysis->message);
    json_key(json, "statements");
    json_open(json, '[');
    for (size_t i = 0; i < analysis->statement_count; i++)
        write_statement(json, &analysis->statements[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void answer(const struct place *place, struct text sql)
{
    struct arena arena;
    struct analysis analysis;
    struct buffer out;
    const struct analyse_context context = {.catalog = place->catalog,
                                            .search_path = place->path,
                                            .search_path_count = place->path_count};
    arena_init(&arena);
    buffer_init(&out, ANSWER_BYTES_MAX);
    analyse(&arena, &context, sql, &analysis);
    struct json_out json = json_out_to(&out);
    write_analysis(&json, &analysis);
    fwrite(out.bytes, 1, out.size, stdout);
    putchar('\n');
    fflush(stdout);
    buffer_release(&out);
    arena_release(&arena);
}

static bool reload(struct place *place)
{
    char problem[512];
    catalog_release(place->catalog);
    place->catalog = catalog_loader_load(place->loader, problem, sizeof problem);
    if (place->catalog == NULL)
        fprintf(stderr, "shape: %s\n", problem);
    return place->catalog != NULL;
}

static int digit(char c)
{
    const char *place = c != '\0' ? strchr("0123456789abcdef", c) : NULL;
    return place != NULL ? (int)(place - "0123456789abcdef") : -1;
}

/* Decodes in place; false for what is no hexadecimal. */
static bool decode(char *line, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2) {
        int high = digit(line[i]), low = digit(line[i + 1]);
        if (high < 0 || low < 0)
            return false;
        line[i / 2] = (char)(high * 16 + low);
    }
    return size % 2 == 0;
}

static bool serve_line(struct place *place, char *line, size_t size)
{
    if (size > 0 && line[size - 1] == '\n')
        size--;
    if (size == 0)
        return reload(place);
    if (!decode(line, size))
        return false;
    answer(place, (struct text){line, size / 2});
    return true;
}

int main(int argc, char **argv)
{
    struct place place = {0};
    if (argc < 2 || argc > 2 + SCHEMAS_MAX) {
        fputs("usage: shape CONNECTION [SCHEMA...]\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        place.path[place.path_count++] = text_from(argv[i]);
    place.loader = catalog_loader_new(argv[1]);
    bool fine = reload(&place);
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; fine && (size = getline(&line, &capacity, stdin)) >= 0;)
        fine = serve_line(&place, line, (size_t)size);
    free(line);
    catalog_release(place.catalog);
    catalog_loader_free(place.loader);
    return fine ? 0 : 1;
}

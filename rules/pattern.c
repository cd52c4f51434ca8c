/*
 * pattern.c - names of objects and columns as a policy writes them, and what they cover.
 *
 * Unquoted parts fold to lower case as in SQL; in a quoted part every character stands for itself, `*`
 * too. A pattern that is not understood is an error with a text, never a pattern that matches nothing.
 */
#include "rules/policy.h"

#include <string.h>

struct reader {
    struct arena *arena;
    struct text source;
    size_t at;
    const char *problem;
};

static const struct {
    const char *prefix;
    enum object_kind kind;
} kinds[] = {
    {"schema:", OBJECT_SCHEMA},
    {"role:", OBJECT_ROLE},
    {"database:", OBJECT_DATABASE},
    {"extension:", OBJECT_EXTENSION},
    {"language:", OBJECT_LANGUAGE},
    {"publication:", OBJECT_PUBLICATION},
    {"subscription:", OBJECT_SUBSCRIPTION},
    {"server:", OBJECT_SERVER},
    {"tablespace:", OBJECT_TABLESPACE},
    {"setting:", OBJECT_SETTING},
    {"channel:", OBJECT_CHANNEL},
};

static bool is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_' || byte == '$' || (byte & 0x80) != 0;
}

static bool fail(struct reader *reader, const char *problem)
{
    reader->problem = problem;
    return false;
}

static bool at_byte(const struct reader *reader, char byte)
{
    return reader->at < reader->source.size && reader->source.bytes[reader->at] == byte;
}

/* A doubled quote inside stands for one. */
static bool read_quoted(struct reader *reader, struct name_pattern *part)
{
    char *name = arena_allocate(reader->arena, reader->source.size);
    size_t size = 0;
    for (reader->at++; reader->at < reader->source.size; reader->at++) {
        char byte = reader->source.bytes[reader->at];
        if (byte == '"') {
            reader->at++;
            if (!at_byte(reader, '"')) {
                *part = (struct name_pattern){.text = {name, size}};
                return size > 0 ? true : fail(reader, "an empty name matches nothing");
            }
        }
        name[size++] = byte;
    }
    return fail(reader, "a quoted name has no closing quote");
}

static bool read_plain(struct reader *reader, struct name_pattern *part)
{
    char *name = arena_allocate(reader->arena, reader->source.size + 1);
    size_t size = 0;
    while (reader->at < reader->source.size && is_name_byte(reader->source.bytes[reader->at])) {
        char byte = reader->source.bytes[reader->at++];
        name[size++] = byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
    }
    bool prefix = at_byte(reader, '*');
    if (prefix)
        reader->at++;
    *part = (struct name_pattern){.text = {name, size}, .prefix = prefix};
    return size > 0 || prefix ? true : fail(reader, "a name or * is expected in each part");
}

/* The name of a setting or channel may hold dots without being quoted: app.tenant. */
static bool read_undotted(struct reader *reader, struct object_pattern *pattern)
{
    struct text rest = {reader->source.bytes + reader->at, reader->source.size - reader->at};
    if (pattern->kind != OBJECT_SETTING || at_byte(reader, '"')) {
        pattern->part_count = 1;
        return at_byte(reader, '"') ? read_quoted(reader, &pattern->parts[0])
                                    : read_plain(reader, &pattern->parts[0]);
    }
    char *name = arena_allocate(reader->arena, rest.size + 1);
    size_t size = 0;
    while (size < rest.size && (is_name_byte(rest.bytes[size]) || rest.bytes[size] == '.')) {
        char byte = rest.bytes[size];
        name[size++] = byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
    }
    reader->at += size;
    bool prefix = at_byte(reader, '*');
    if (prefix)
        reader->at++;
    pattern->parts[0] = (struct name_pattern){.text = {name, size}, .prefix = prefix};
    pattern->part_count = 1;
    return size > 0 || prefix ? true : fail(reader, "the name of a setting is expected");
}

static bool read_dotted(struct reader *reader, struct object_pattern *pattern)
{
    do {
        if (pattern->part_count == PATTERN_PARTS_MAX)
            return fail(reader, "there are too many parts");
        struct name_pattern *part = &pattern->parts[pattern->part_count++];
        if (at_byte(reader, '"') ? !read_quoted(reader, part) : !read_plain(reader, part))
            return false;
        if (!at_byte(reader, '.'))
            return true;
        reader->at++;
    } while (true);
}

static size_t read_kind(struct text source, enum object_kind *kind)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (text_starts_with(source, kinds[i].prefix)) {
            *kind = kinds[i].kind;
            return strlen(kinds[i].prefix);
        }
    return 0;
}

/* A bare column name is that column of every table. */
static bool finish_columns(struct reader *reader, struct object_pattern *pattern)
{
    if (pattern->part_count == 2)
        return fail(reader, "a column is written schema.table.column");
    if (pattern->part_count == 1) {
        pattern->parts[2] = pattern->parts[0];
        pattern->parts[0] = pattern->parts[1] = (struct name_pattern){.prefix = true};
        pattern->part_count = 3;
    }
    return true;
}

static bool finish_object(struct reader *reader, struct object_pattern *pattern)
{
    if (pattern->part_count > 2)
        return fail(reader, "an object is written schema.name");
    pattern->kind = pattern->part_count == 1 ? OBJECT_TEMPLATE : OBJECT_NAME;
    return true;
}

static bool read_pattern(struct reader *reader, bool columns, struct object_pattern *pattern)
{
    if (reader->source.size == 0)
        return fail(reader, "a name is expected");
    if (!columns && text_is(reader->source, "*")) {
        pattern->any = true;
        return true;
    }
    reader->at = columns ? 0 : read_kind(reader->source, &pattern->kind);
    if (reader->at > 0 ? !read_undotted(reader, pattern) : !read_dotted(reader, pattern))
        return false;
    if (reader->at < reader->source.size)
        return fail(reader, "only letters, digits, _, $, a * at the end of a part, or a name in "
                            "double quotes may stand here");
    if (pattern->kind != OBJECT_NONE)
        return true;
    return columns ? finish_columns(reader, pattern) : finish_object(reader, pattern);
}

bool object_pattern_parse(struct arena *arena, struct text source, bool columns,
                          struct object_pattern *pattern, const char **problem)
{
    struct reader reader = {.arena = arena, .source = source};
    *pattern = (struct object_pattern){.source = arena_text(arena, source)};
    bool understood = read_pattern(&reader, columns, pattern);
    if (columns)
        pattern->kind = OBJECT_NAME;
    *problem = reader.problem;
    return understood;
}

static bool part_matches(const struct name_pattern *part, struct text name)
{
    if (name.size == 0)
        return false;
    if (!part->prefix)
        return text_equal(part->text, name);
    return name.size >= part->text.size &&
           text_equal(part->text, (struct text){name.bytes, part->text.size});
}

bool object_pattern_matches(const struct object_pattern *pattern, const struct object *object)
{
    if (pattern->any)
        return true;
    if (pattern->kind != object->kind || object->kind == OBJECT_NONE)
        return false;
    if (object->kind == OBJECT_NAME)
        return pattern->part_count == 2 && part_matches(&pattern->parts[0], object->schema) &&
               part_matches(&pattern->parts[1], object->name);
    return pattern->part_count == 1 && part_matches(&pattern->parts[0], object->name);
}

bool column_pattern_matches(const struct object_pattern *pattern, struct text schema,
                            struct text relation, struct text column)
{
    return pattern->part_count == 3 && part_matches(&pattern->parts[0], schema) &&
           part_matches(&pattern->parts[1], relation) && part_matches(&pattern->parts[2], column);
}

bool object_pattern_is_literal(const struct object_pattern *pattern)
{
    for (size_t i = 0; i < pattern->part_count; i++)
        if (pattern->parts[i].prefix)
            return false;
    return !pattern->any && pattern->part_count > 0;
}

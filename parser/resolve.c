/*
 * resolve.c - see resolve.h.
 *
 * The grammar reads `name` and `schema.name` alike wherever the tree has a RangeVar with a
 * location, so two tokens more make the same tree with a schema in it. A place that is not a name
 * by itself gives false: the walk and the tokens then disagree, and the text is not to be shown.
 */
#include "parser/resolve.h"

#include <stdlib.h>

static int compare_locations(const void *a, const void *b)
{
    const struct resolved_name *left = a, *right = b;
    return (left->location > right->location) - (left->location < right->location);
}

/* A sub-query may be walked more than once; its names must mean the same each time. */
static bool drop_repeated(struct resolved_name *names, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (kept == 0 || names[kept - 1].location != names[i].location)
            names[kept++] = names[i];
        else if (!text_equal(names[kept - 1].schema, names[i].schema))
            return false;
    }
    *count = kept;
    return true;
}

static bool is_dot(const struct tokens *tokens, size_t at)
{
    return tokens->items[at].kind == '.';
}

/* Is this token the whole of the name, without a schema? */
static bool is_name_alone(const struct tokens *tokens, size_t first, size_t at, size_t end,
                          struct text name)
{
    const struct token *token = &tokens->items[at];
    return (token->kind == TOKEN_IDENT || token_is_keyword(token)) &&
           text_is(name, token->string) && (at == first || !is_dot(tokens, at - 1)) &&
           (at + 1 == end || !is_dot(tokens, at + 1));
}

static void add(struct arena *arena, struct tokens *out, struct token token)
{
    struct token *place =
        arena_push(arena, (void **)&out->items, &out->count, &out->capacity, sizeof *place);
    *place = token;
}

static void add_schema(struct arena *arena, struct tokens *out, struct text schema)
{
    const char *string = arena_text(arena, schema).bytes;
    add(arena, out, (struct token){.kind = TOKEN_IDENT, .string = string});
    add(arena, out, (struct token){.kind = '.'});
}

static bool locate(const struct tokens *tokens, size_t first, size_t end, struct resolved_name *name)
{
    size_t at = first + (size_t)name->place.tokens;
    for (int before = name->place.before; at < end && before > 0; at++)
        before -= tokens->items[at].kind == ',';
    if (at >= end)
        return false;
    name->location = tokens->items[at].location;
    return true;
}

bool resolve_tokens(struct arena *arena, const struct tokens *tokens, size_t first, size_t end,
                    struct resolved_name *names, size_t name_count, struct tokens *out)
{
    size_t next = 0;
    *out = (struct tokens){0};
    for (size_t i = 0; i < name_count; i++)
        if (names[i].location < 0 && !locate(tokens, first, end, &names[i]))
            return false;
    if (name_count > 1)
        qsort(names, name_count, sizeof *names, compare_locations);
    if (!drop_repeated(names, &name_count))
        return false;
    for (size_t at = first; at < end; at++) {
        struct token token = tokens->items[at];
        if (next < name_count && names[next].location == token.location) {
            if (!is_name_alone(tokens, first, at, end, names[next].name))
                return false;
            add_schema(arena, out, names[next++].schema);
            token.kind = TOKEN_IDENT; /* next to a dot a keyword is a name */
        }
        add(arena, out, token);
    }
    return next == name_count;
}

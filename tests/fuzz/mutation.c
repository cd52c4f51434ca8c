/*
 * mutation.c - see mutation.h. Its tokens are rough: words, numbers, quoted texts, single other
 * characters; what it takes for a token need not be one.
 */
#include "mutation.h"

#include "proxy/base/attributes.h"

#include <ctype.h>
#include <string.h>

enum { CHANGES_MAX = 4 };

/* What is put in place of a token or an expression. */
static const char *const pieces[] = {
    "1",
    "NULL",
    "$1",
    "'x'",
    "ssn",
    "c.ssn",
    "t",
    "*",
    "t.*",
    "(t).a",
    "shop.log_it(1)",
    "pg_sleep(1)",
    "count(*)",
    "(SELECT 1)",
    "(SELECT secret FROM d.t)",
    "(SELECT c.ssn)",
    "EXISTS (TABLE shop.staff)",
    "ARRAY(SELECT t FROM d.t)",
    "d.t",
    "shop.customers c",
    "d.v",
    "(VALUES (1, 2)) v(a, b)",
    "LATERAL (SELECT t.secret) l",
    "generate_series(1, 2) g",
    "ROWS FROM (json_to_record('{}') AS (a int))",
    "1 OPERATOR(shop.===) 1",
    "1::shop.evil",
    "CAST(a AS int[])",
    "a[1:2]",
    "ROW(t.*)",
    "(a, b)",
    "DEFAULT",
    "WHERE",
    "FROM",
    "JOIN",
    "NATURAL JOIN",
    "USING (id)",
    "ON true",
    "UNION",
    "EXCEPT ALL",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT 1",
    "WITH w AS (SELECT 1)",
    "WITH RECURSIVE",
    "RETURNING *",
    "OVER (PARTITION BY a)",
    "FILTER (WHERE true)",
    "FOR UPDATE",
    "INTO x",
    "DISTINCT",
    "NOT",
    "AND",
    "OR",
    "IS NULL",
    "IN",
    "AS",
    ";",
    ",",
    "(",
    ")",
    ".",
    "::",
};

/* What an expression is wrapped in; `%` is its place. */
static const char *const wrappers[] = {
    "(%)",
    "(SELECT %)",
    "(%)::text",
    "-(%)",
    "NOT (%)",
    "(%) IS NULL",
    "coalesce(%, 1)",
    "ARRAY[%]",
    "ROW(%)",
    "abs(%)",
    "max(%)",
    "max(%) OVER (ORDER BY %)",
    "count(*) FILTER (WHERE %)",
    "CASE WHEN % THEN 1 END",
    "(% IN (1, %))",
    "(% BETWEEN 1 AND %)",
    "EXISTS (SELECT 1 WHERE %)",
    "(SELECT max(id) FROM d.t WHERE %)",
    "(ARRAY[1])[%]",
    "(% = ANY (SELECT 1))",
    "XMLFOREST(% AS a)",
    "(SELECT * FROM (SELECT %) s)",
    "(WITH w AS (SELECT %) TABLE w)",
};

struct dice dice_from(uint64_t seed)
{
    return (struct dice){seed * 0x9e3779b97f4a7c15U + 0x1234567};
}

size_t dice_roll(struct dice *dice, size_t sides)
{
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return sides > 0 ? (size_t)(dice->state >> 11) % sides : 0;
}

/* --- tokens --------------------------------------------------------------------------------- */

struct span {
    size_t start, end;
};

struct spans {
    struct span *items;
    size_t count;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t token_end(struct text text, size_t at)
{
    char first = text.bytes[at++];
    if (first == '\'' || first == '"') {
        while (at < text.size && text.bytes[at] != first)
            at++;
        return at < text.size ? at + 1 : at;
    }
    while (is_word(first) && at < text.size && is_word(text.bytes[at]))
        at++;
    return at;
}

static struct spans tokens_of(struct arena *arena, struct text text)
{
    struct spans spans = {.items = arena_array(arena, text.size, sizeof(struct span))};
    for (size_t at = 0; at < text.size;) {
        if (isspace((unsigned char)text.bytes[at])) {
            at++;
            continue;
        }
        size_t end = token_end(text, at);
        spans.items[spans.count++] = (struct span){at, end};
        at = end;
    }
    return spans;
}

/* From an opening bracket to its closing one; the token alone where there is none. */
static struct span bracketed(struct text text, const struct spans *tokens, size_t index)
{
    struct span span = tokens->items[index];
    size_t depth = 0;
    for (size_t i = index; i < tokens->count; i++) {
        char c = text.bytes[tokens->items[i].start];
        depth += c == '(' || c == '[';
        if (c == ')' || c == ']')
            depth = depth > 0 ? depth - 1 : 0;
        if (depth == 0 && i > index)
            return (struct span){span.start, tokens->items[i].end};
        if (depth == 0)
            return span;
    }
    return span;
}

/* A token, or, more often where there are any, what stands in brackets. */
static struct span some_span(struct arena *arena, struct dice *dice, struct text text)
{
    struct spans tokens = tokens_of(arena, text);
    if (tokens.count == 0)
        return (struct span){0};
    size_t index = dice_roll(dice, tokens.count);
    bool want_brackets = dice_roll(dice, 2) == 0;
    for (size_t i = 0; want_brackets && i < tokens.count; i++) {
        size_t next = (index + i) % tokens.count;
        char c = text.bytes[tokens.items[next].start];
        if (c == '(' || c == '[')
            return bracketed(text, &tokens, next);
    }
    return tokens.items[index];
}

static struct text part(struct text text, struct span span)
{
    return (struct text){text.bytes + span.start, span.end - span.start};
}

/* --- changes -------------------------------------------------------------------------------- */

static struct text replaced(struct arena *arena, struct text text, struct span span, struct text by)
{
    return arena_printf(arena, "%.*s %.*s %.*s", (int)span.start, text.bytes, TEXT_ARGS(by),
                        (int)(text.size - span.end), text.bytes + span.end);
}

static struct text wrapped(struct arena *arena, struct text inner, const char *wrapper)
{
    struct text out = {0};
    for (const char *c = wrapper; *c != '\0'; c++)
        out = *c == '%' ? arena_printf(arena, "%.*s%.*s", TEXT_ARGS(out), TEXT_ARGS(inner))
                        : arena_printf(arena, "%.*s%c", TEXT_ARGS(out), *c);
    return out;
}

static struct text swapped(struct arena *arena, struct dice *dice, struct text text)
{
    struct span a = some_span(arena, dice, text), b = some_span(arena, dice, text);
    if (a.start > b.start) {
        struct span first = b;
        b = a;
        a = first;
    }
    if (a.end > b.start)
        return text;
    struct text early = part(text, a), late = part(text, b);
    return replaced(arena, replaced(arena, text, b, early), a, late);
}

static struct text mixed(struct arena *arena, struct dice *dice, struct text text,
                         struct text other)
{
    struct span here = some_span(arena, dice, text), there = some_span(arena, dice, other);
    return arena_printf(arena, "%.*s %.*s", (int)here.end, text.bytes,
                        (int)(other.size - there.start), other.bytes + there.start);
}

static struct text changed(struct arena *arena, struct dice *dice, struct text text,
                           struct text other)
{
    struct span span = some_span(arena, dice, text);
    struct text inner = part(text, span);
    switch (dice_roll(dice, 10)) {
    case 0:
        return replaced(arena, text, span, TEXT(""));
    case 1:
        return replaced(arena, text, span, wrapped(arena, inner, "%%"));
    case 2:
        return swapped(arena, dice, text);
    case 3:
    case 4:
        return replaced(arena, text, span, part(other, some_span(arena, dice, other)));
    case 5:
        return mixed(arena, dice, text, other);
    case 6:
    case 7:
        return replaced(arena, text, span,
                        wrapped(arena, inner, wrappers[dice_roll(dice, ARRAY_SIZE(wrappers))]));
    default:
        return replaced(arena, text, span, text_from(pieces[dice_roll(dice, ARRAY_SIZE(pieces))]));
    }
}

struct text mutate(struct arena *arena, struct dice *dice, struct text text, struct text other,
                   size_t size_max)
{
    if (text.size == 0)
        text = TEXT(" ");
    if (other.size == 0)
        other = text;
    for (size_t changes = 1 + dice_roll(dice, CHANGES_MAX); changes > 0; changes--) {
        struct text next = changed(arena, dice, text, other);
        if (next.size <= size_max)
            text = next;
    }
    return text_front(text, text.size < size_max ? text.size : size_max);
}

/*
 * comments.c - finds comments with PostgreSQL's own scanner and overwrites them with spaces.
 *
 * One pass over the tokens, only for texts that have "--", a block comment's start or a long run of
 * operator characters anywhere. Comments wait until the next token is known, because what stands on
 * both sides decides what happens to them. What cannot be blanked safely is refused.
 */
#include "parser/comments.h"

#include "parser/lex.h"

#include <string.h>

enum {
    /* The scanner reads a whole run of operator characters again for each '+' or '-' that it takes
     * off its front, and for each start of a block comment in it. PostgreSQL's longest operator
     * has 63. */
    OPERATOR_RUN_MAX = 128,
    COMMENT_STARTS_MAX = 8, /* in a longer run, wherever it is */
};

struct blanking {
    struct text sql;
    char *copy;
    struct {
        size_t start, end;
        bool block;
    } * waiting;
    size_t waiting_count, waiting_capacity;
    struct arena *arena;
    int last_kind; /* last token that is not a comment */
    int last_location;
    enum comments_result result;
};

static bool is_operator_character(char c)
{
    static const bool table[UINT8_MAX + 1] = {
        ['~'] = true, ['!'] = true, ['@'] = true, ['#'] = true, ['^'] = true, ['&'] = true,
        ['|'] = true, ['`'] = true, ['?'] = true, ['+'] = true, ['-'] = true, ['*'] = true,
        ['/'] = true, ['%'] = true, ['<'] = true, ['>'] = true, ['='] = true,
    };
    return table[(uint8_t)c];
}

static size_t operator_run(struct text sql, size_t at)
{
    size_t end = at;
    while (end < sql.size && is_operator_character(sql.bytes[end]))
        end++;
    return end - at;
}

static bool has_two(struct text sql, size_t at, char first, char second)
{
    return at + 1 < sql.size && sql.bytes[at] == first && sql.bytes[at + 1] == second;
}

enum look { LOOK_NOT_NEEDED, LOOK_NEEDED, LOOK_TOO_LONG };

static enum look look_at_run(struct text sql, size_t at, size_t run)
{
    bool comment = false;
    int starts = 0;
    for (size_t i = at; i < at + run; i++) {
        starts += has_two(sql, i, '/', '*');
        comment |= has_two(sql, i, '-', '-');
    }
    if (run <= OPERATOR_RUN_MAX)
        return comment || starts > 0 ? LOOK_NEEDED : LOOK_NOT_NEEDED;
    return starts > COMMENT_STARTS_MAX ? LOOK_TOO_LONG : LOOK_NEEDED;
}

/* Can there be a comment, or an operator that takes long to scan? Without knowing what is a string.
 */
static enum look look_at(struct text sql)
{
    enum look look = LOOK_NOT_NEEDED;
    for (size_t i = 0; i < sql.size && look != LOOK_TOO_LONG; i++) {
        if (!is_operator_character(sql.bytes[i]))
            continue;
        size_t run = operator_run(sql, i);
        enum look of_run = run > 1 ? look_at_run(sql, i, run) : LOOK_NOT_NEEDED;
        look = of_run > look ? of_run : look;
        i += run;
    }
    return look;
}

static bool is_string(int kind)
{
    return kind == TOKEN_SCONST || kind == TOKEN_USCONST || kind == TOKEN_BCONST ||
           kind == TOKEN_XCONST;
}

static size_t line_comment_end(struct text sql, size_t at)
{
    while (at < sql.size && sql.bytes[at] != '\n' && sql.bytes[at] != '\r')
        at++;
    return at;
}

/* Block comments nest. */
static size_t block_comment_end(struct text sql, size_t at)
{
    int depth = 0;
    for (; at + 1 < sql.size; at++) {
        if (has_two(sql, at, '/', '*')) {
            depth++;
            at++;
        } else if (has_two(sql, at, '*', '/')) {
            at++;
            if (--depth == 0)
                return at + 1;
        }
    }
    return sql.size;
}

static void add_waiting(struct blanking *blanking, bool block, size_t start)
{
    size_t end =
        block ? block_comment_end(blanking->sql, start) : line_comment_end(blanking->sql, start);
    arena_push(blanking->arena, (void **)&blanking->waiting, &blanking->waiting_count,
               &blanking->waiting_capacity, sizeof *blanking->waiting);
    blanking->waiting[blanking->waiting_count - 1].start = start;
    blanking->waiting[blanking->waiting_count - 1].end = end;
    blanking->waiting[blanking->waiting_count - 1].block = block;
}

static bool block_is_waiting(const struct blanking *blanking)
{
    for (size_t i = 0; i < blanking->waiting_count; i++)
        if (blanking->waiting[i].block)
            return true;
    return false;
}

static void blank_waiting(struct blanking *blanking, bool blocks_too)
{
    for (size_t i = 0; i < blanking->waiting_count; i++) {
        if (blanking->waiting[i].block && !blocks_too)
            continue;
        for (size_t at = blanking->waiting[i].start; at < blanking->waiting[i].end; at++)
            if (blanking->copy[at] != '\n' && blanking->copy[at] != '\r')
                blanking->copy[at] = ' ';
    }
    blanking->waiting_count = 0;
}

static bool last_has_prefix(const struct blanking *blanking)
{
    char first = blanking->sql.bytes[blanking->last_location];
    return first != '\'' && first != '$';
}

/* Between two literals: the server joins them over line comments, never over a block comment. How
 * the second piece of a prefixed literal is read depends on the prefix, which libpg_query has
 * forgotten at the comment, so where the comments are is uncertain from there on. */
static bool settle_between_strings(struct blanking *blanking)
{
    bool block = block_is_waiting(blanking);
    if (!block && last_has_prefix(blanking)) {
        blanking->result = COMMENTS_REFUSED;
        return false;
    }
    blank_waiting(blanking, !block);
    return true;
}

static bool visit_token(void *argument, int kind, int location)
{
    struct blanking *blanking = argument;
    size_t at = (size_t)location;
    if (kind == TOKEN_SQL_COMMENT || kind == TOKEN_C_COMMENT) {
        add_waiting(blanking, kind == TOKEN_C_COMMENT, at);
        return true;
    }
    if (kind != TOKEN_END && operator_run(blanking->sql, at) > OPERATOR_RUN_MAX) {
        blanking->result = COMMENTS_OPERATORS;
        return false;
    }
    if (blanking->waiting_count > 0) {
        if (!is_string(kind) || !is_string(blanking->last_kind))
            blank_waiting(blanking, true);
        else if (!settle_between_strings(blanking))
            return false;
    }
    blanking->last_kind = kind;
    blanking->last_location = location;
    return true;
}

enum comments_result comments_blank(struct grammar_visit visit, struct arena *arena,
                                    struct text sql, struct text *blanked)
{
    *blanked = sql;
    enum look look = look_at(sql);
    if (look != LOOK_NEEDED)
        return look == LOOK_TOO_LONG ? COMMENTS_OPERATORS : COMMENTS_BLANKED;
    struct blanking blanking = {
        .sql = sql,
        .copy = arena_allocate(arena, sql.size + 1),
        .arena = arena,
        .result = COMMENTS_BLANKED,
    };
    memcpy(blanking.copy, sql.bytes, sql.size);
    if (!lex_raw(visit, sql.bytes, visit_token, &blanking))
        return COMMENTS_NOT_LEXED;
    *blanked = (struct text){blanking.copy, sql.size};
    return blanking.result;
}

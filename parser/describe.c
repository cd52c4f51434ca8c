/*
 * describe.c - what is said about a statement beside its verdict: positions, a text without its
 * values, a label.
 *
 * Everything here works on the text alone and gives an empty answer where the text does not lex or
 * parse: nothing is decided by it.
 */
#include "parser/analyse.h"

#include "parser/comments.h"
#include "parser/print.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <string.h>

#include <pg_query.h>

/* Longest text that gets a fingerprint: it takes three times as long as parsing. */
enum { FINGERPRINT_BYTES_MAX = 100 * 1000 };

/* Tokens of a text with comments; false also for what is too long or not UTF-8. */
static bool tokens_of(struct grammar_visit visit, struct arena *arena, struct text sql,
                      struct tokens *tokens)
{
    *tokens = (struct tokens){0};
    /* A print can be longer than the statement it is of. */
    if (sql.size > LIMIT_PRINT_BYTES || !utf8_valid(sql))
        return false;
    struct text blanked;
    return comments_blank(visit, arena, arena_text(arena, sql), &blanked) == COMMENTS_BLANKED &&
           lex_tokens(visit, arena, blanked.bytes, tokens);
}

/* --- positions -------------------------------------------------------------------------------- */

static size_t skip_semicolons(const struct tokens *tokens, size_t at)
{
    while (at < tokens->count && tokens->items[at].kind == ';')
        at++;
    return at;
}

static size_t byte_of_character(struct text text, int position)
{
    size_t at = 0;
    for (int i = 1; i < position && at < text.size; i++)
        at += utf8_sequence((struct text){text.bytes + at, text.size - at});
    return at;
}

/* Both texts have the same tokens but for semicolons, which the print may have fewer of. */
static int map_between(const struct tokens *from, const struct tokens *to, size_t offset,
                       struct text original)
{
    size_t at = skip_semicolons(from, 0);
    size_t other = skip_semicolons(to, 0);
    size_t next = skip_semicolons(from, at + 1);
    while (next < from->count && (size_t)from->items[next].location <= offset) {
        at = next;
        next = skip_semicolons(from, at + 1);
        other = skip_semicolons(to, other + 1);
    }
    if (other >= to->count)
        return 0;
    struct text before = {original.bytes, (size_t)to->items[other].location};
    return (int)utf8_length(before) + 1;
}

int analyse_map_position(struct text original, struct text print, int position)
{
    if (position <= 0 || !utf8_valid(print) || !utf8_valid(original))
        return 0;
    size_t offset = byte_of_character(print, position);
    /* Behind the last token: "syntax error at end of input". */
    if (offset >= print.size)
        return (int)utf8_length(original) + 1;
    struct arena arena;
    arena_init(&arena);
    struct grammar_visit visit = grammar_enter();
    struct tokens from, to;
    int mapped = 0;
    if (tokens_of(visit, &arena, print, &from) && tokens_of(visit, &arena, original, &to))
        mapped = map_between(&from, &to, offset, original);
    grammar_leave(visit);
    arena_release(&arena);
    return mapped;
}

/* --- parameterised text ----------------------------------------------------------------------- */

static bool is_literal(int kind)
{
    return kind == TOKEN_ICONST || kind == TOKEN_FCONST || kind == TOKEN_SCONST ||
           kind == TOKEN_BCONST || kind == TOKEN_XCONST;
}

static void replace_literals(struct tokens *tokens)
{
    int number = 0;
    for (size_t i = 0; i < tokens->count; i++)
        if (tokens->items[i].kind == TOKEN_PARAM && tokens->items[i].number > number)
            number = tokens->items[i].number;
    for (size_t i = 0; i < tokens->count && number < INT32_MAX; i++)
        if (is_literal(tokens->items[i].kind))
            tokens->items[i] = (struct token){.kind = TOKEN_PARAM, .number = ++number};
}

static struct text print_cut(struct arena *arena, const struct tokens *tokens)
{
    struct buffer out;
    buffer_init(&out, LIMIT_AUDIT_TEXT_BYTES);
    for (size_t i = 0; i < tokens->count && !out.overflow; i++)
        print_token(&out, tokens, i);
    struct text text = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

struct text analyse_parameterised(struct arena *arena, struct text sql)
{
    struct arena scratch;
    arena_init(&scratch);
    struct grammar_visit visit = grammar_enter();
    struct tokens tokens;
    struct text text = TEXT("(unparseable)");
    bool fine = tokens_of(visit, &scratch, sql, &tokens);
    replace_literals(&tokens);
    if (fine && print_can(&tokens)) {
        print_prepare(&tokens);
        text = print_cut(arena, &tokens);
    }
    grammar_leave(visit);
    arena_release(&scratch);
    return text;
}

/* --- fingerprint ------------------------------------------------------------------------------ */

static bool is_set_operation(const struct token *token)
{
    return token_is_keyword(token) &&
           (strcmp(token->string, "union") == 0 || strcmp(token->string, "except") == 0 ||
            strcmp(token->string, "intersect") == 0);
}

/* The fingerprint stops by itself at 100 levels of anything but set operations, into which it
 * descends once for each. */
static size_t count_set_operations(const struct tokens *tokens)
{
    size_t count = 0;
    for (size_t i = 0; i < tokens->count; i++)
        count += is_set_operation(&tokens->items[i]);
    return count;
}

static bool is_shallow(struct text sql)
{
    if (sql.size < LIMIT_STATEMENT_DEPTH * (sizeof "union" - 1))
        return true;
    struct arena scratch;
    arena_init(&scratch);
    struct grammar_visit visit = grammar_enter();
    struct tokens tokens;
    bool shallow = tokens_of(visit, &scratch, sql, &tokens) &&
                   count_set_operations(&tokens) <= LIMIT_STATEMENT_DEPTH;
    grammar_leave(visit);
    arena_release(&scratch);
    return shallow;
}

struct text analyse_fingerprint(struct arena *arena, struct text sql)
{
    struct text text = {0};
    if (sql.size > FINGERPRINT_BYTES_MAX || !utf8_valid(sql) || !is_shallow(sql))
        return text;
    struct text copy = arena_text(arena, sql);
    PgQueryFingerprintResult result = pg_query_fingerprint(copy.bytes);
    if (result.error == NULL)
        text = arena_text(arena, text_from(result.fingerprint_str));
    pg_query_free_fingerprint_result(result);
    return text;
}

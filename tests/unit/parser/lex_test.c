/* lex_test.c - tokens as the grammar reads them, and comments blanked before it does. */
#include "parser/comments.h"
#include "parser/lex.h"
#include "proxy/base/buffer.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena arena;
static struct grammar_visit visit;

static void enter(void)
{
    arena_init(&arena);
    visit = grammar_enter();
}

static void leave(void)
{
    grammar_leave(visit);
    arena_release(&arena);
}

TestSuite(lex, .init = enter, .fini = leave);
TestSuite(comments, .init = enter, .fini = leave);

/* "IDENT:a 44 ICONST:1 KEYWORD:select" */
static void describe_token(struct buffer *out, const struct token *token)
{
    static const char *const names[] = {"IDENT",  "UIDENT", "FCONST", "SCONST", "USCONST",
                                        "BCONST", "XCONST", "OP",     "ICONST", "PARAM"};
    if (token->kind >= TOKEN_IDENT && token->kind <= TOKEN_PARAM)
        buffer_append_string(out, names[token->kind - TOKEN_IDENT]);
    else if (token->kind >= TOKEN_FIRST_KEYWORD)
        buffer_append_string(out, token_is_keyword(token) ? "KEYWORD" : "AHEAD");
    else
        buffer_printf(out, "%d", token->kind);
    if (token->string != NULL)
        buffer_printf(out, ":%s", token->string);
    else if (token->kind == TOKEN_ICONST || token->kind == TOKEN_PARAM)
        buffer_printf(out, ":%d", token->number);
}

static const char *describe(const char *sql)
{
    struct tokens tokens;
    if (!lex_tokens(visit, &arena, sql, &tokens))
        return "refused";
    struct buffer out;
    buffer_init(&out, 4096);
    for (size_t i = 0; i < tokens.count; i++) {
        if (i > 0)
            buffer_append_byte(&out, ' ');
        describe_token(&out, &tokens.items[i]);
    }
    const char *text = arena_text(&arena, buffer_text(&out)).bytes;
    buffer_release(&out);
    return text;
}

struct lex_case {
    const char *sql, *tokens;
};

static void check(const struct lex_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(describe(cases[i].sql), cases[i].tokens, "%s: %s", cases[i].sql,
                         describe(cases[i].sql));
}

Test(lex, decodes_names)
{
    static const struct lex_case cases[] = {
        {"Abc \"Abc\" \"a\"\"b\"", "IDENT:abc IDENT:Abc IDENT:a\"b"},
        {"U&\"d\\0061t\"", "IDENT:dat"},
        {"u&\"d!0061t\" UESCAPE '!'", "IDENT:dat"},
        {"select \"select\"", "KEYWORD:select IDENT:select"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "IDENT:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
        {"a$$", "IDENT:a$$"},
    };
    check(cases, ARRAY_SIZE(cases));
}

Test(lex, decodes_strings)
{
    static const struct lex_case cases[] = {
        {"'a''b'", "SCONST:a'b"},
        {"'a\\b'", "SCONST:a\\b"},
        {"E'\\x41\\u0042\\103'", "SCONST:ABC"},
        {"U&'\\0041' U&'!0041' UESCAPE '!'", "SCONST:A SCONST:A"},
        {"$$a'b$$ $x$ $$ $x$", "SCONST:a'b SCONST: $$ "},
        {"'a'\n'b'", "SCONST:ab"},
        {"'a' 'b'", "SCONST:a SCONST:b"},
        {"B'01' x'fF'", "BCONST:b01 XCONST:xfF"},
        {"N'a'", "KEYWORD:nchar SCONST:a"},
    };
    check(cases, ARRAY_SIZE(cases));
}

Test(lex, reads_numbers_parameters_and_operators)
{
    static const struct lex_case cases[] = {
        {"007 1.50 1e3 99999999999 $2",
         "ICONST:7 FCONST:1.50 FCONST:1e3 FCONST:99999999999 PARAM:2"},
        {"a->>b", "IDENT:a OP:->> IDENT:b"},
        {"1--1", "ICONST:1"},
        {"a!=b", "IDENT:a 274 IDENT:b"},
        {"a<>b", "IDENT:a 274 IDENT:b"},
        {"a::b", "IDENT:a 268 IDENT:b"},
        {"a- -1", "IDENT:a 45 45 ICONST:1"},
    };
    check(cases, ARRAY_SIZE(cases));
}

Test(lex, applies_look_ahead)
{
    static const struct lex_case cases[] = {
        {"NOT IN", "AHEAD:not KEYWORD:in"},
        {"NOT a", "KEYWORD:not IDENT:a"},
        {"NULLS FIRST", "AHEAD:nulls KEYWORD:first"},
        {"WITH ORDINALITY", "AHEAD:with KEYWORD:ordinality"},
    };
    check(cases, ARRAY_SIZE(cases));
}

Test(lex, refuses_what_the_scanner_refuses)
{
    static const struct lex_case cases[] = {
        {"'open", "refused"},      {"\"open", "refused"}, {"$a$ open", "refused"},
        {"/* open", "refused"},    {"\"\"", "refused"},   {"E'\\u00'", "refused"},
        {"U&'\\00zz'", "refused"}, {"1a", "refused"},     {"1.5x", "refused"},
    };
    check(cases, ARRAY_SIZE(cases));
}

Test(lex, gives_locations_in_bytes)
{
    struct tokens tokens;
    cr_assert(lex_tokens(visit, &arena, "  'ü' x", &tokens));
    cr_assert_eq(tokens.count, 2);
    cr_expect_eq(tokens.items[0].location, 2);
    cr_expect_eq(tokens.items[1].location, 7);
}

Test(lex, matches_only_equal_tokens)
{
    struct tokens tokens;
    cr_assert(lex_tokens(visit, &arena, "SELECT a, 'b', 1, $1 || c", &tokens));
    cr_expect(lex_matches(visit, "select A,$$b$$,01,$1||C", &tokens));
    static const char *const others[] = {
        "SELECT a, 'c', 1, $1 || c",       "SELECT \"A\", 'b', 1, $1 || c",
        "SELECT a, 'b', 2, $1 || c",       "SELECT a, 'b', 1, $2 || c",
        "SELECT a, 'b', 1, $1 |/ c",       "SELECT a, 'b', 1, $1 || c d",
        "SELECT a, 'b', 1, $1 ||",         "SELECT a, b, 1, $1 || c",
        "SELECT a, 'b', 1, $1 || c 'open", "",
    };
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        cr_expect_not(lex_matches(visit, others[i], &tokens), "%s", others[i]);
}

Test(lex, goes_on_after_an_error)
{
    struct tokens tokens;
    for (int i = 0; i < 100; i++) {
        cr_assert_not(lex_tokens(visit, &arena, "'open", &tokens));
        cr_assert(lex_tokens(visit, &arena, "fine", &tokens));
        cr_assert_eq(tokens.count, 1);
    }
}

/* --- comments --------------------------------------------------------------------------------- */

static const char *blank(const char *sql)
{
    struct text blanked;
    switch (comments_blank(visit, &arena, arena_text(&arena, text_from(sql)), &blanked)) {
    case COMMENTS_BLANKED:
        return blanked.bytes;
    case COMMENTS_REFUSED:
        return "refused";
    case COMMENTS_NOT_LEXED:
        return "not lexed";
    case COMMENTS_OPERATORS:
        return "operators";
    }
    return "?";
}

static void check_blanked(const struct lex_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(blank(cases[i].sql), cases[i].tokens, "%s: %s", cases[i].sql,
                         blank(cases[i].sql));
}

Test(comments, become_spaces_and_keep_line_ends)
{
    static const struct lex_case cases[] = {
        {"a -- b\nc", "a     \nc"},
        {"a -- b\rc", "a     \rc"},
        {"a /* b\n */ c", "a     \n    c"},
        {"a /* b /* c */ d */ e", "a                   e"},
        {"a/**/b", "a    b"},
        {"a+--b\nc", "a+   \nc"},
        {"a /*/* x */*/ b", "a             b"},
        {"-- \303\274", "     "},
        {"a NOT /* x */ IN (1)", "a NOT         IN (1)"},
    };
    check_blanked(cases, ARRAY_SIZE(cases));
}

Test(comments, are_not_found_in_strings_and_names)
{
    static const struct lex_case cases[] = {
        {"'-- a' \"/* b */\" $$-- c$$", "'-- a' \"/* b */\" $$-- c$$"},
        {"E'\\'-- a' -- b", "E'\\'-- a'     "},
        {"$$'$$ -- b '", "$$'$$       "},
        {"a - - b / * c", "a - - b / * c"},
    };
    check_blanked(cases, ARRAY_SIZE(cases));
}

Test(comments, between_strings_stay_where_the_server_does_not_join)
{
    static const struct lex_case cases[] = {
        {"DO 'a' -- c\n 'b'", "DO 'a'     \n 'b'"},
        {"DO 'a' /* c */ \n'b'", "DO 'a' /* c */ \n'b'"},
        {"DO 'a' -- c\n /* d */ 'b'", "DO 'a'     \n /* d */ 'b'"},
        {"DO E'a' /* c */ 'b'", "DO E'a' /* c */ 'b'"},
        {"DO 'a' /* c */ x 'b'", "DO 'a'         x 'b'"},
    };
    check_blanked(cases, ARRAY_SIZE(cases));
}

/* The second piece is read by the rules of the first one's prefix: 'b\' would not end there. */
Test(comments, inside_a_prefixed_string_are_refused)
{
    static const struct lex_case cases[] = {
        {"DO E'a' -- c\n 'b\\' -- '", "refused"},
        {"SELECT b'0' -- c\n '1'", "refused"},
        {"SELECT x'0' -- c\n '1'", "refused"},
        {"SELECT U&'0' -- c\n '1'", "refused"},
        {"SELECT E'a' -- c\n , 'b'", "SELECT E'a'     \n , 'b'"},
    };
    check_blanked(cases, ARRAY_SIZE(cases));
}

Test(comments, that_do_not_end_are_left_to_the_grammar)
{
    cr_expect_str_eq(blank("a /* b"), "not lexed");
    cr_expect_str_eq(blank("a -- b\n 'c"), "not lexed");
}

static const char *repeat(const char *before, const char *part, size_t count)
{
    size_t size = strlen(part);
    char *text = arena_allocate(&arena, strlen(before) + size * count + 1);
    memcpy(text, before, strlen(before));
    for (size_t i = 0; i < count; i++)
        memcpy(text + strlen(before) + i * size, part, size);
    return text;
}

Test(comments, runs_of_operators_are_refused_in_linear_time, .timeout = 20)
{
    cr_expect_str_eq(blank(repeat("SELECT ", "+", 1000000)), "operators");
    cr_expect_str_eq(blank(repeat("SELECT ", "/**/", 250000)), "operators");
    cr_expect_str_eq(blank(repeat("SELECT 1 ", "/*", 500000)), "operators");
    cr_expect_str_neq(blank(repeat("SELECT 1 -", "-", 1000000)), "operators");
    cr_expect_str_neq(blank(repeat("SELECT 1 /*", "*", 1000000)), "operators");
    cr_expect_str_neq(blank(repeat("SELECT '", "=", 1000)), "operators");
}

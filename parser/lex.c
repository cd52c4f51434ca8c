/*
 * lex.c - drives base_yylex, the scanner function that PostgreSQL's grammar itself calls.
 *
 * A text that the scanner refuses gives false. The layout of the scanner's state is libpg_query's
 * own business: all that is done here is to give it enough zeroed memory.
 */
#include "parser/lex.h"

#include "parser/tree.h"

#include "parser/scanner.h"

#include <string.h>

/* base_yy_extra_type of libpg_query begins with its core_yy_extra_type and is larger than the one
 * in PostgreSQL's headers. */
struct scanner_state {
    core_yy_extra_type core;
    char rest[256];
};

/* YYSTYPE of the grammar begins with core_YYSTYPE. */
union token_value {
    core_YYSTYPE core;
    char room[64];
};

int base_yylex(union token_value *value, int *location, core_yyscan_t scanner);

_Static_assert(sizeof(core_YYSTYPE) <= 8, "YYSTYPE begins with core_YYSTYPE");

bool token_is_keyword(const struct token *token)
{
    return token->kind >= TOKEN_FIRST_KEYWORD &&
           token->kind <= ScanKeywordTokens[ScanKeywords.num_keywords - 1];
}

static bool is_of_category(const struct token *token, int category)
{
    if (!token_is_keyword(token))
        return false;
    int index = ScanKeywordLookup(token->string, &ScanKeywords);
    return index >= 0 && ScanKeywordCategories[index] == category;
}

bool token_is_column_name_keyword(const struct token *token)
{
    return is_of_category(token, COL_NAME_KEYWORD);
}

bool token_is_reserved(const struct token *token)
{
    return is_of_category(token, RESERVED_KEYWORD);
}

bool lex_is_keyword(const char *word)
{
    return ScanKeywordLookup(word, &ScanKeywords) >= 0;
}

static core_yyscan_t open_scanner(struct scanner_state *state, const char *sql)
{
    memset(state, 0, sizeof *state);
    return scanner_init(sql, &state->core, &ScanKeywords, ScanKeywordTokens);
}

static bool has_string(int kind)
{
    return (kind >= TOKEN_IDENT && kind <= TOKEN_OP) || kind >= TOKEN_FIRST_KEYWORD;
}

static struct token next_token(core_yyscan_t scanner)
{
    union token_value value;
    struct token token = {0};
    token.kind = base_yylex(&value, &token.location, scanner);
    if (token.kind == TOKEN_ICONST || token.kind == TOKEN_PARAM)
        token.number = value.core.ival;
    else if (has_string(token.kind))
        token.string = value.core.str;
    return token;
}

struct lex_call {
    const char *sql;
    struct arena *arena;
    struct tokens *tokens;
};

static void collect(void *argument)
{
    struct lex_call *call = argument;
    struct scanner_state state;
    core_yyscan_t scanner = open_scanner(&state, call->sql);
    struct tokens *tokens = call->tokens;
    for (struct token token = next_token(scanner); token.kind != TOKEN_END;
         token = next_token(scanner)) {
        struct token *added = arena_push(call->arena, (void **)&tokens->items, &tokens->count,
                                         &tokens->capacity, sizeof *added);
        *added = token;
    }
    scanner_finish(scanner);
}

bool lex_tokens(struct grammar_visit visit, struct arena *arena, const char *sql,
                struct tokens *tokens)
{
    *tokens = (struct tokens){0};
    struct lex_call call = {.sql = sql, .arena = arena, .tokens = tokens};
    return grammar_try(visit, collect, &call, NULL, NULL);
}

static bool same_token(const struct token *a, const struct token *b)
{
    return a->kind == b->kind && a->number == b->number &&
           (a->string == b->string ||
            (a->string != NULL && b->string != NULL && strcmp(a->string, b->string) == 0));
}

struct raw_call {
    const char *sql;
    lex_visitor *visitor;
    void *argument;
};

static void each_raw(void *argument)
{
    struct raw_call *call = argument;
    struct scanner_state state;
    core_yyscan_t scanner = open_scanner(&state, call->sql);
    core_YYSTYPE value;
    int location = 0;
    int kind;
    do
        kind = core_yylex(&value, &location, scanner);
    while (call->visitor(call->argument, kind, location) && kind != TOKEN_END);
    scanner_finish(scanner);
}

bool lex_raw(struct grammar_visit visit, const char *sql, lex_visitor *visitor, void *argument)
{
    struct raw_call call = {.sql = sql, .visitor = visitor, .argument = argument};
    return grammar_try(visit, each_raw, &call, NULL, NULL);
}

struct match_call {
    const char *sql;
    const struct tokens *tokens;
    bool same;
};

static void match(void *argument)
{
    struct match_call *call = argument;
    struct scanner_state state;
    core_yyscan_t scanner = open_scanner(&state, call->sql);
    call->same = true;
    for (size_t i = 0; i < call->tokens->count && call->same; i++) {
        struct token token = next_token(scanner);
        call->same = same_token(&token, &call->tokens->items[i]);
    }
    if (call->same)
        call->same = next_token(scanner).kind == TOKEN_END;
    scanner_finish(scanner);
}

bool lex_matches(struct grammar_visit visit, const char *sql, const struct tokens *tokens)
{
    struct match_call call = {.sql = sql, .tokens = tokens};
    return grammar_try(visit, match, &call, NULL, NULL) && call.same;
}

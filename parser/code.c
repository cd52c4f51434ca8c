/*
 * code.c - see code.h.
 *
 * PL/pgSQL reads its text with the scanner of SQL, so the tokens are the server's own. A body is clear if
 * every place where a statement may begin has a word of a known one, or what can only be a value; so DDL,
 * COPY, DO and what later versions bring are unclear, and so are what sets something for longer than the
 * transaction or defers constraints again, and EXECUTE of anything but a constant, which is read like the
 * body itself.
 */
#include "parser/code.h"

#include "parser/lex.h"
#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"

#include <string.h>

struct reader {
    struct arena *arena;
    struct grammar_visit visit;
    struct tokens tokens;
    size_t at;
    struct code_name *names;
    size_t count, capacity;
    const char *unclear;
    const char *lasts;
    bool sets, sets_custom, cascades;
    bool opens, closes; /* a cursor; one that it has not opened */
    bool procedural; /* PL/pgSQL */
    bool declaring;  /* between DECLARE and BEGIN */
};

enum { STRING_DEPTH_MAX = 4 };

static void read_text(struct reader *reader, const char *text, int depth);

static const struct token *token_at(const struct reader *reader, size_t index)
{
    static const struct token end = {.kind = TOKEN_END};
    return index < reader->tokens.count ? &reader->tokens.items[index] : &end;
}

static bool could_be_name(const struct token *token)
{
    return token->kind == TOKEN_IDENT || token->kind == TOKEN_UIDENT || token_is_keyword(token);
}

static bool is_word(const struct token *token, const char *word)
{
    return token_is_keyword(token) && strcmp(token->string, word) == 0;
}

/* PL/pgSQL's words are not all keywords of SQL. */
static bool is_one_of(const struct token *token, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && could_be_name(token); i++)
        if (strcmp(token->string, words[i]) == 0)
            return true;
    return false;
}

static bool follows_dot(const struct reader *reader)
{
    return reader->at > 0 && token_at(reader, reader->at - 1)->kind == '.';
}

/* How an operator is spelled; empty: it is none. */
static struct text operator_name(struct arena *arena, const struct token *token)
{
    const char single[] = {(char)token->kind, '\0'};
    switch (token->kind) {
    case TOKEN_OP:
        return arena_text(arena, text_from(token->string));
    case TOKEN_LESS_EQUALS:
        return TEXT("<=");
    case TOKEN_GREATER_EQUALS:
        return TEXT(">=");
    case TOKEN_NOT_EQUALS:
        return TEXT("<>");
    default:
        return token->kind > 0 && token->kind < TOKEN_IDENT &&
                       strchr("+-*/%^<>=", token->kind) != NULL
                   ? arena_text(arena, text_from(single))
                   : TEXT("");
    }
}

/* --- what is unclear ------------------------------------------------------------------------------ */

/* EXECUTE 'constant' [INTO …] [USING …]: what it runs is known. */
static bool reads_constant(struct reader *reader, int depth)
{
    static const char *const ends[] = {"into", "using", "loop"};
    const struct token *text = token_at(reader, reader->at + 1);
    const struct token *next = token_at(reader, reader->at + 2);
    bool ends_there = next->kind == ';' || next->kind == TOKEN_END || is_one_of(next, ends, ARRAY_SIZE(ends));
    if (text->kind != TOKEN_SCONST || !ends_there || depth >= STRING_DEPTH_MAX)
        return false;
    struct tokens outer = reader->tokens;
    size_t at = reader->at;
    read_text(reader, text->string, depth + 1);
    reader->tokens = outer;
    reader->at = at;
    return true;
}

/* Commands and statements of PL/pgSQL that a rollback undoes, or that run nothing but what they name. */
static bool begins_known_statement(const struct token *token)
{
    static const char *const words[] = {
        /* of PL/pgSQL */
        "declare", "begin", "end", "exception", "if", "elsif", "elseif", "else", "case", "when", "loop",
        "while", "for", "foreach", "exit", "continue", "return", "raise", "assert", "perform", "get",
        "open", "close", "null", "atomic",
        /* SQL */
        "select", "insert", "update", "delete", "merge", "with", "values", "table", "truncate",
        "execute", "call", "fetch", "move", "lock", "notify"};
    return is_one_of(token, words, ARRAY_SIZE(words));
}

/* Behind THEN and ELSE of SQL's CASE stands an expression. */
static bool begins_expression(const struct token *token)
{
    static const char *const words[] = {
        "not", "true", "false", "array", "row", "exists", "cast", "current_date", "current_time",
        "current_timestamp", "current_user", "current_role", "current_schema", "current_catalog",
        "localtime", "localtimestamp", "session_user", "user", "date", "time", "timestamp",
        "timestamptz", "interval", "numeric"};
    return !could_be_name(token) || is_one_of(token, words, ARRAY_SIZE(words));
}

/* No command goes on like this behind its first word: it is a column or a variable. */
static bool goes_on_as_value(struct arena *arena, const struct token *next)
{
    static const char *const words[] = {"end", "when", "else", "and",  "or",
                                        "is",  "in",   "not",  "like", "collate"};
    return next->kind == '.' || next->kind == '[' || next->kind == ',' || next->kind == ')' ||
           next->kind == TOKEN_TYPECAST || next->kind == TOKEN_COLON_EQUALS ||
           operator_name(arena, next).size > 0 ||
           is_one_of(next, words, ARRAY_SIZE(words));
}

/* VACUUM (FULL) is a command, lower(x) and coalesce(x) are not. */
static bool is_call(const struct token *token, const struct token *next)
{
    return next->kind == '(' && (!token_is_keyword(token) || token_is_column_name_keyword(token));
}

static bool statement_may_begin(const struct reader *reader)
{
    const struct token *before = token_at(reader, reader->at - 1);
    static const char *const words[] = {"declare", "begin", "then", "else", "loop", "atomic"};
    return reader->at == 0 || before->kind == ';' || is_one_of(before, words, ARRAY_SIZE(words)) ||
           (before->kind == TOKEN_OP && strcmp(before->string, ">>") == 0);
}

static bool is_understood(struct arena *arena, const struct token *token, const struct token *next)
{
    bool of_merge = is_word(token, "do") && is_word(next, "nothing");
    return begins_known_statement(token) || begins_expression(token) || of_merge ||
           (!token_is_reserved(token) && goes_on_as_value(arena, next)) || is_call(token, next);
}

/* SET CONSTRAINTS … DEFERRED would put what is still to fire behind every measuring. */
static bool ends_immediate(const struct reader *reader)
{
    size_t end = reader->at;
    while (token_at(reader, end)->kind != ';' && token_at(reader, end)->kind != TOKEN_END)
        end++;
    return is_word(token_at(reader, end - 1), "immediate");
}

static bool sets_for_transaction(const struct reader *reader)
{
    const struct token *next = token_at(reader, reader->at + 1);
    return is_word(token_at(reader, reader->at), "set") &&
           (is_word(next, "local") || (is_word(next, "constraints") && ends_immediate(reader)));
}

static bool begins(const struct reader *reader, const char *word)
{
    return !follows_dot(reader) && statement_may_begin(reader) &&
           is_one_of(token_at(reader, reader->at), &word, 1);
}

static bool begins_set(const struct reader *reader) { return begins(reader, "set") || begins(reader, "reset"); }

static const char longer[] = "sets something for longer than the transaction";

/* SET [LOCAL] app.tenant …, RESET app.tenant */
static bool names_custom_setting(const struct reader *reader)
{
    static const char *const scopes[] = {"local", "session"};
    size_t at = reader->at + 1;
    if (is_one_of(token_at(reader, at), scopes, ARRAY_SIZE(scopes)))
        at++;
    return could_be_name(token_at(reader, at)) && token_at(reader, at + 1)->kind == '.';
}

static bool begins_declarations(struct arena *arena, const struct token *token, const struct token *next)
{
    return is_word(token, "declare") && !goes_on_as_value(arena, next);
}

static const char *why_unclear(struct reader *reader, int depth)
{
    const struct token *token = token_at(reader, reader->at);
    const struct token *next = token_at(reader, reader->at + 1);
    if (follows_dot(reader))
        return NULL;
    if (is_word(token, "execute") && !reads_constant(reader, depth))
        return "runs text that it builds itself";
    if (!statement_may_begin(reader))
        return NULL;
    if (reader->declaring || begins_declarations(reader->arena, token, next)) {
        reader->declaring = !is_word(token, "begin");
        return reader->procedural && depth == 0 ? NULL : "declares a cursor";
    }
    if (is_understood(reader->arena, token, next) || sets_for_transaction(reader) ||
        (begins_set(reader) && names_custom_setting(reader)))
        return NULL;
    if (is_word(token, "set") && is_word(next, "constraints"))
        return "defers constraints, so that what they run comes after all measuring";
    if (is_word(token, "set") || is_word(token, "reset"))
        return longer;
    return arena_printf(reader->arena, "has a statement that begins with %s, which is not looked into",
                        token->string)
        .bytes;
}

static void note_set(struct reader *reader)
{
    if (!names_custom_setting(reader)) {
        reader->sets = true;
        return;
    }
    reader->sets_custom = true;
    if (!sets_for_transaction(reader))
        reader->lasts = longer;
}

/* --- names ---------------------------------------------------------------------------------------- */

/* INSERT INTO, UPDATE, DELETE FROM, MERGE INTO, with ONLY, a parenthesis and a schema behind them. */
static bool is_written(const struct reader *reader)
{
    size_t at = reader->at;
    while (at >= 2 && token_at(reader, at - 1)->kind == '.')
        at -= 2;
    if (at > 0 && token_at(reader, at - 1)->kind == '(')
        at--;
    if (at > 0 && is_word(token_at(reader, at - 1), "only"))
        at--;
    if (at == 0)
        return false;
    const struct token *before = token_at(reader, at - 1);
    return is_word(before, "into") || is_word(before, "update") ||
           (is_word(before, "from") && at >= 2 && is_word(token_at(reader, at - 2), "delete"));
}

/* set_config(…, …, true) of PostgreSQL ends with the transaction. */
static bool sets_locally(const struct reader *reader)
{
    size_t at = reader->at + 1, depth = 0;
    if (strcmp(token_at(reader, reader->at)->string, "set_config") != 0)
        return false;
    for (; token_at(reader, at)->kind != TOKEN_END; at++) {
        if (token_at(reader, at)->kind == '(')
            depth++;
        else if (token_at(reader, at)->kind == ')' && --depth == 0)
            break;
    }
    return token_at(reader, at)->kind == ')' && is_word(token_at(reader, at - 1), "true") &&
           token_at(reader, at - 2)->kind == ',';
}

/* set_config('app.tenant', …), set_config('app.' || …, …) */
static bool sets_custom(const struct reader *reader)
{
    const struct token *name = token_at(reader, reader->at + 2);
    const struct token *next = token_at(reader, reader->at + 3);
    return strcmp(token_at(reader, reader->at)->string, "set_config") == 0 && name->kind == TOKEN_SCONST &&
           strchr(name->string, '.') != NULL &&
           (next->kind == ',' || next->kind == TOKEN_TYPECAST ||
            (next->kind == TOKEN_OP && strcmp(next->string, "||") == 0));
}

static void add_name(struct reader *reader, bool truncating)
{
    bool called = token_at(reader, reader->at + 1)->kind == '(';
    const struct token *token = token_at(reader, reader->at);
    struct code_name *name =
        arena_push(reader->arena, (void **)&reader->names, &reader->count, &reader->capacity,
                   sizeof *name);
    *name = (struct code_name){
        .name = arena_text(reader->arena, text_from(token->string)),
        .called = called,
        .is_local = called && sets_locally(reader),
        .is_custom = called && sets_custom(reader),
        .written = truncating || is_written(reader),
    };
    if (reader->at >= 2 && follows_dot(reader) && could_be_name(token_at(reader, reader->at - 2)))
        name->schema =
            arena_text(reader->arena, text_from(token_at(reader, reader->at - 2)->string));
}

static void add_operator(struct reader *reader, struct text spelled)
{
    struct code_name *name =
        arena_push(reader->arena, (void **)&reader->names, &reader->count, &reader->capacity,
                   sizeof *name);
    *name = (struct code_name){.name = spelled, .is_operator = true};
}

static void read_text(struct reader *reader, const char *text, int depth)
{
    bool truncating = false;
    reader->tokens = (struct tokens){0};
    if (!lex_tokens(reader->visit, reader->arena, text, &reader->tokens)) {
        reader->unclear = "cannot be read";
        return;
    }
    for (reader->at = 0; reader->at < reader->tokens.count; reader->at++) {
        const struct token *token = token_at(reader, reader->at);
        const char *why = why_unclear(reader, depth);
        if (reader->unclear == NULL)
            reader->unclear = why;
        truncating = token->kind != ';' && (truncating || is_word(token, "truncate"));
        reader->cascades = reader->cascades || (truncating && is_word(token, "cascade"));
        if (begins_set(reader))
            note_set(reader);
        reader->opens = reader->opens || begins(reader, "open");
        reader->closes = reader->closes || (!reader->opens && begins(reader, "close"));
        struct text operator = operator_name(reader->arena, token);
        if (could_be_name(token))
            add_name(reader, truncating);
        else if (operator.size > 0)
            add_operator(reader, operator);
    }
}

void code_read(struct arena *arena, struct text body, bool procedural, struct code *code)
{
    struct reader reader = {.arena = arena, .procedural = procedural};
    if (body.size > LIMIT_BODY_BYTES) {
        *code = (struct code){.unclear = "is too long to be read"};
        return;
    }
    reader.visit = grammar_enter();
    read_text(&reader, body.bytes, 0);
    grammar_leave(reader.visit);
    *code = (struct code){.names = reader.names,
                          .count = reader.count,
                          .unclear = reader.unclear,
                          .lasts = reader.lasts,
                          .sets = reader.sets,
                          .sets_custom = reader.sets_custom,
                          .cascades = reader.cascades,
                          .closes = reader.closes};
}

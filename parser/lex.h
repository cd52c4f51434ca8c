/*
 * lex.h - the tokens of a text, as PostgreSQL's grammar reads them. Internal to parser/.
 *
 * Comments are skipped, names folded and cut, strings decoded, U& resolved, look-ahead tokens
 * applied. The gram.y of PostgreSQL sees nothing else of a text, so equal tokens mean equal trees.
 */
#ifndef PGWICKET_PARSER_LEX_H
#define PGWICKET_PARSER_LEX_H

#include "parser/parse.h"

/* libpg_query's numbers; single characters stand for themselves. analyse_self_test proves them. */
enum token_kind {
    TOKEN_END = 0,
    TOKEN_IDENT = 258,
    TOKEN_UIDENT,
    TOKEN_FCONST,
    TOKEN_SCONST,
    TOKEN_USCONST,
    TOKEN_BCONST,
    TOKEN_XCONST,
    TOKEN_OP,
    TOKEN_ICONST,
    TOKEN_PARAM,
    TOKEN_TYPECAST,
    TOKEN_DOT_DOT,
    TOKEN_COLON_EQUALS,
    TOKEN_EQUALS_GREATER,
    TOKEN_LESS_EQUALS,
    TOKEN_GREATER_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_SQL_COMMENT,
    TOKEN_C_COMMENT,
    TOKEN_FIRST_KEYWORD,
};

struct token {
    int kind;
    int location; /* byte in the text */
    int number;   /* of TOKEN_ICONST and TOKEN_PARAM */
    const char
        *string; /* decoded value or keyword; NULL for what has none; lives as long as the visit */
};

struct tokens {
    struct token *items; /* in the arena; TOKEN_END is not among them */
    size_t count, capacity;
};

/* All tokens of `sql`. False if PostgreSQL's scanner refuses it. */
MUST_USE bool lex_tokens(struct grammar_visit visit, struct arena *arena, const char *sql,
                         struct tokens *tokens);

/* Has `sql` exactly these tokens (locations aside)? False also if it does not lex. */
MUST_USE bool lex_matches(struct grammar_visit visit, const char *sql, const struct tokens *tokens);

/* Is told each token below the grammar's view: comments included, U& unresolved, the TOKEN_END too.
 * Returns false to stop. It must not raise errors nor hold anything. */
typedef bool lex_visitor(void *argument, int kind, int location);

/* False if the scanner refuses the text before the visitor stops. */
MUST_USE bool lex_raw(struct grammar_visit visit, const char *sql, lex_visitor *visitor,
                      void *argument);

bool token_is_keyword(const struct token *token);

/* PostgreSQL's category of a keyword that is used like a function: COALESCE, NUMERIC, … */
bool token_is_column_name_keyword(const struct token *token);

/* A keyword that cannot be the name of a column or a variable. */
bool token_is_reserved(const struct token *token);

/* Would this bare word be read as a keyword? */
bool lex_is_keyword(const char *word);

#endif

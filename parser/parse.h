/*
 * parse.h - a visit to libpg_query: its memory, its errors, its raw parse tree. Internal to
 * parser/.
 *
 * Everything that libpg_query returns (trees, token values) lives from grammar_enter to
 * grammar_leave of the same thread. Visits do not nest.
 */
#ifndef PGWICKET_PARSER_PARSE_H
#define PGWICKET_PARSER_PARSE_H

#include "proxy/base/arena.h"

struct List;

/* What PostgreSQL's scanner or grammar says is wrong; texts in the arena given to the call. */
struct grammar_error {
    char sqlstate[6];
    struct text message, detail, hint;
    int position; /* character in the text that was parsed, from 1; 0 none */
};

struct grammar_visit {
    void *memory;
};

struct grammar_visit grammar_enter(void);
void grammar_leave(struct grammar_visit visit);

/*
 * Calls function(argument), which may call into libpg_query. False if PostgreSQL raised an error in
 * it: the function was left in the middle, so it must not hold anything that an arena or the visit
 * does not own. `error` may be NULL.
 */
MUST_USE bool grammar_try(struct grammar_visit visit, void (*function)(void *), void *argument,
                          struct arena *arena, struct grammar_error *error);

/*
 * Parses `sql` (ends with NUL) into a list of RawStmt. Its stack use does not grow with the text,
 * but the tree can be as deep as the text is long: nothing may descend into it without a limit.
 */
MUST_USE bool grammar_parse(struct grammar_visit visit, const char *sql, struct List **tree,
                            struct arena *arena, struct grammar_error *error);

/* Did the grammar give up because the text nests too deeply for it, rather than for a wrong word?
 */
bool grammar_error_is_depth(const struct grammar_error *error);

#endif

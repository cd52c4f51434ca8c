/*
 * analyse.h - SQL text → statements, each with its shape and its canonical print.
 *
 * The whole of parser/ behind one function. It is pure: same text, same context, same result. Nothing
 * of libpg_query's memory outlives the call. It may run on several threads at once.
 */
#ifndef PGWICKET_PARSER_ANALYSE_H
#define PGWICKET_PARSER_ANALYSE_H

#include "parser/shape.h"

/* What the agent may do to an object, so that a name may mean something the catalog cannot tell; bits. */
enum {
    MAKEABLE_NEW = 1 << 0,    /* an object of this name may come to be */
    MAKEABLE_CODE = 1 << 1,   /* … and run code: a function, operator, domain, view */
    MAKEABLE_OTHER = 1 << 2,  /* what is there may change: its columns, keys, definition */
    MAKEABLE_GONE = 1 << 3,   /* what is there may go */
};

/* Objects of OBJECT_NAME or OBJECT_SCHEMA (then `name` only) that an agent may make or change. */
struct makeable {
    unsigned ways;
    enum object_kind kind;
    struct text schema, name;
    bool schema_prefix, name_prefix; /* the text and whatever may follow it */
};

/* What names mean at the moment of judging. Borrowed for the call; shapes point into `catalog`. */
struct analyse_context {
    const struct catalog *catalog;  /* NULL: offline, nothing resolves but by writing schemas out */
    const struct text *search_path; /* schemas in order, without the implicit pg_catalog and pg_temp */
    size_t search_path_count;

    /* The agent may change what names mean. One without a schema is judged as everything that it
     * could mean: each object of the name on the path, and each that the agent could have made there
     * a moment ago, by its name alone. */
    bool every_candidate;
    bool path_open; /* the path is whatever the agent has set: every schema may be on it */
    const struct makeable *makeable;
    size_t makeable_count;

    /* Names of relations that code of others has left in the session's pg_temp. */
    const struct text *temporary;
    size_t temporary_count;

    /* The policy pins a setting that code may have named: one with a dot. */
    bool custom_pinned;

    /* `all` on `*`: names need not resolve, nothing about them is an error. */
    bool anything_goes;

    /* Make the resolved print too. A statement of which it cannot be made is rejected. */
    bool resolve_names;

    /* Parameter types of a Parse message; NULL for simple Query. */
    const uint32_t *parameter_types;
    size_t parameter_count;
};

enum analyse_result {
    ANALYSE_REJECTED = 0, /* understood, but never allowed, or not understood: message says why */
    ANALYSE_OK,
    ANALYSE_SYNTAX,       /* PostgreSQL's own error: sqlstate, message, position */
    ANALYSE_TOO_LARGE,    /* text, depth or number of statements beyond limits.h */
    ANALYSE_UNQUALIFIED,  /* a new object's name without schema, and the path may move: message names it */
    ANALYSE_BAD_TEXT,     /* not UTF-8 (22021) */
};

struct statement {
    struct shape shape;
    struct text original; /* its part of the text as it came, without ';' */
    struct text print;    /* canonical print, one line, without ';' (canon.md) */

    /* The print with the schema written to every relation's name that was resolved through the search
     * path; names in lists of dotted names (DROP, COMMENT) and in literals, types and functions stay
     * as they are. Empty if there was nothing to add, it was not asked for, or it would have more than
     * LIMIT_HELD_BYTES. */
    struct text resolved;

    /* What EXPLAIN must be asked for its plan: the print, or of COPY … TO what it reads. Empty: it has none. */
    struct text explainable;
    int explainable_at; /* byte in the print; -1: it is no part of it */
};

struct analysis {
    enum analyse_result result;
    const struct statement *statements; /* empty ones are left out; 0 for an empty text */
    size_t statement_count;
    struct text print;                  /* of the whole message: prints joined by "; " */

    /* On failure: */
    char sqlstate[6];
    struct text message; /* begins with "pgwicket: " but for ANALYSE_SYNTAX and ANALYSE_BAD_TEXT */
    struct text detail;
    struct text hint;
    int position;        /* character position in the text, from 1; 0 for none */

    /* A name that the catalog does not have was met: worth a fresh catalog before the verdict stands. */
    bool unresolved_names;

    bool searched; /* a name without a schema, of other than a function, operator or type, was looked for */
};

/* Analyses one client message. `out` and all it points at live in `arena`. The text may hold
 * anything but NUL bytes. */
void analyse(struct arena *arena, const struct analyse_context *context, struct text sql,
             struct analysis *out);

/* Maps an error position (characters, from 1) in the print to the position in the original; 0 if it
 * has none. Lexes both texts, so it is for errors only. */
int analyse_map_position(struct text original, struct text print, int position);

/* "SELECT * FROM t WHERE a = $1": literals replaced by parameters, for the audit log; in `arena`,
 * at most LIMIT_AUDIT_TEXT_BYTES. A text that does not lex gives "(unparseable)". */
struct text analyse_parameterised(struct arena *arena, struct text sql);

/* libpg_query's fingerprint in hexadecimal; a label for people, never a key. Empty if unparseable. */
struct text analyse_fingerprint(struct arena *arena, struct text sql);

/*
 * Proves once at start that the loaded libpg_query has the memory layout and the token numbers that
 * pgwicket was built with: prints and re-parses a table of statements. False: do not serve;
 * `*problem` (static text) says which statement failed.
 */
bool analyse_self_test(const char **problem);

#endif

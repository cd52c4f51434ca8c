/*
 * code.h - what the body of a function in SQL or PL/pgSQL names: the functions and tables that it could
 * use, found in its tokens without a parse. Names in comments and strings are none. Pure.
 */
#ifndef PGWICKET_PARSER_CODE_H
#define PGWICKET_PARSER_CODE_H

#include "proxy/base/arena.h"

struct code_name {
    struct text schema; /* what stands before its dot: a schema, a table, a variable; empty: nothing */
    struct text name;   /* folded */
    bool called;        /* a parenthesis follows */
    bool is_local;      /* … to set_config(), for the transaction only */
    bool is_custom;     /* … to set_config(), with a constant name that has a dot: none of PostgreSQL's own */
    bool is_operator;
    bool written;       /* where a table stands that is written or changed */
};

struct code {
    const struct code_name *names; /* every word that could be a name, keywords included, and operators */
    size_t count;
    const char *unclear; /* why the text does not tell everything that it runs; NULL: it does */
    const char *lasts;   /* what of it outlives the transaction, and is not seen in any table; NULL: nothing */
    bool sets;           /* it has a SET or RESET of one of PostgreSQL's own settings */
    bool sets_custom;    /* … of one whose name has a dot */
    bool closes;         /* it closes a cursor before it has opened any: another's */
    bool cascades;       /* it empties tables that it does not name: TRUNCATE … CASCADE */
};

/* `body` is followed by a NUL; `procedural`: in PL/pgSQL, else in SQL. Texts live in `arena`. */
void code_read(struct arena *arena, struct text body, bool procedural, struct code *code);

#endif

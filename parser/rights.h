/*
 * rights.h - what a login may do with the tables of a database, and which triggers run there: facts
 * that no statement is judged by, for the review of a policy. Sorted by relation.
 */
#ifndef PGWICKET_PARSER_RIGHTS_H
#define PGWICKET_PARSER_RIGHTS_H

#include "parser/shape.h"

struct table_rights {
    uint32_t relation;
    bool owner;             /* the login, or a role whose rights it has, owns the table */
    bool verbs[VERB_COUNT]; /* select, insert, update, delete (of any column), truncate */
};

struct trigger {
    uint32_t relation;
    struct text name;
    struct text function; /* "audit.note()" */
    bool may_write; /* false: its function is PostgreSQL's own, or PL/pgSQL without any statement */
    bool verbs[VERB_COUNT]; /* insert, update, delete, truncate */
};

struct rights {
    struct text role;
    bool superuser;
    const struct table_rights *tables;
    size_t table_count;
    const struct trigger *triggers; /* enabled ones; without those of foreign keys */
    size_t trigger_count;
};

#endif

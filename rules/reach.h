/*
 * reach.h - which tables a statement reaches, and how: named by it, or through foreign keys with an
 * action. Pure.
 */
#ifndef PGWICKET_RULES_REACH_H
#define PGWICKET_RULES_REACH_H

#include "parser/shape.h"

struct reached {
    uint32_t oid;
    const struct relation *shown;  /* the table that it counts for: of a partition, the one that was named */
    const struct foreign_key *key; /* NULL: the statement names it */
    bool carried;                  /* a foreign key reaches it, though the statement may name it, too */
    const char *action;            /* "cascade", "set null", "set default" */
    const struct relation *parent;
    int depth;
};

struct reach {
    const struct reached *tables;
    size_t count, capacity;
    bool only_updates; /* the statement names nothing but targets of UPDATE */
    bool counted;      /* the rows of each target are in its own counters: no views, no foreign tables */
    bool incomplete;   /* a foreign key leads to what the catalog does not have, or too far */
};

enum reach_through {
    REACH_ANY_KEY = 1, /* an UPDATE may change every column: a trigger can */
    REACH_SET_KEYS,    /* an UPDATE changes what it sets; no more than LIMIT_COUNTED_TABLES */
};

/* A table that is reached in several ways is there once: the statement's own, else the nearest. */
void reach_find_all(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                    enum reach_through through, struct reach *reach);

const struct reached *reach_find(const struct reach *reach, uint32_t oid); /* NULL: not reached */

#endif

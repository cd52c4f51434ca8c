/*
 * measure_children.h - the rows that foreign keys with an action reach, as a part of their parent's
 * fingerprint. Pure; internal to proxy/session/.
 */
#ifndef PGWICKET_SESSION_MEASURE_CHILDREN_H
#define PGWICKET_SESSION_MEASURE_CHILDREN_H

#include "parser/shape.h"

/* A row that is deleted, or some of whose columns change. */
struct written_row {
    const struct relation *table;
    struct text alias; /* how the text names it: an identifier, quoted if needed */
    enum verb verb;    /* delete or update */
    const int16_t *columns; /* attnums that an update changes */
    size_t column_count;
    int depth;         /* 0: the statement's own */
};

struct children {
    struct text sql; /* an expression, bytea: the digest of all their keys; empty: there can be none */
    bool may_be_null; /* it is NULL where the cascade goes on beyond what is followed */
    bool unknown;     /* they cannot be told: row security, types of others, too many foreign keys */
};

/* `sql` sees the state before the statement, if it stands in its RETURNING. Lives in `arena`. */
void measure_children(struct arena *arena, const struct catalog *catalog, const struct written_row *row,
                      struct children *children);

/* Have its values a binary form of the server's own, which no setting changes? */
bool type_has_binary_form(const struct catalog *catalog, uint32_t oid);
bool relation_has_binary_form(const struct catalog *catalog, const struct relation *relation);

#endif

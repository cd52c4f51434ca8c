/*
 * database.h - the SQLite file of the holds: opening, schema, prepared statements, transactions.
 *
 * Used by one thread at a time. A function that fails leaves SQLite's own words in `problem`. The
 * file belongs to one process: a second one that opens it is told so.
 */
#ifndef PGWICKET_HOLDS_DATABASE_H
#define PGWICKET_HOLDS_DATABASE_H

#include "proxy/base/attributes.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum query {
    QUERY_BEGIN,
    QUERY_COMMIT,
    QUERY_ROLLBACK,
    QUERY_INSERT,           /* row_bind_new */
    QUERY_UPDATE,           /* row_bind_change */
    QUERY_GET,              /* 1: id */
    QUERY_LIST,             /* 1: below this id */
    QUERY_LIST_AGENT,       /* and 2: agent */
    QUERY_LIST_STATE,       /* and 2: state */
    QUERY_LIST_STATE_AGENT, /* and 2: state, 3: agent */
    QUERY_OPEN_MATCH,       /* 1: match; pending, released or running */
    QUERY_EXECUTED_MATCH,   /* 1: match; the newest id */
    QUERY_PENDING_COUNT,    /* 1: agent */
    QUERY_INSERT_COPIED,    /* 1: id, 2: data */
    QUERY_COPIED,           /* 1: id */
    QUERY_APPROVALS,        /* 1: id */
    QUERY_APPROVE,          /* 1: id, 2: approver, 3: time */
    QUERY_SET_REPLACED_BY,  /* 1: id, 2: the new one */
    QUERY_DUE,              /* 1: now, 2: above this id; the next that must expire or lapse */
    QUERY_DELETE_OLD,       /* 1: finished before; a limited number */
    QUERY_COUNTS,
    QUERY_OLDEST,           /* when the oldest pending one was created */
    QUERY_QUEUE,         /* 1: policies, 2: agent, 3: verb, 4: state, 5: pattern, 6: id */
    QUERY_HISTORY,       /* and 7: below this id */
    QUERY_HISTORY_TOTAL,
    QUERY_ENDED_SINCE,   /* 1: policies, 2: when */
    QUERY_MESSAGE_ADD,      /* 1: target, 2: name, 3: body, 4: created, 5: due */
    QUERY_MESSAGE_COUNT,    /* 1: target */
    QUERY_MESSAGE_DUE,      /* 1: target, 2: now, 3: how many */
    QUERY_MESSAGE_NEXT,     /* 1: target, 2: now; the first due after it */
    QUERY_MESSAGE_AGAIN,    /* 1: id, 2: due */
    QUERY_MESSAGE_DONE,     /* 1: id */
    QUERY_MESSAGE_STALE,    /* 1: created before */
    QUERY_COUNT,
};

struct database {
    sqlite3 *handle;
    int file; /* holds the lock on the file; closed last */
    sqlite3_stmt *statements[QUERY_COUNT];
    char problem[256];
};

MUST_USE bool database_open(struct database *database, const char *path);
void database_close(struct database *database); /* also after a failed open */

/* The statement, reset and without values. */
sqlite3_stmt *database_query(struct database *database, enum query query);

/* Steps once. True: there is a row. False: no (more) row, or failure, which *failed says. */
bool database_row(struct database *database, sqlite3_stmt *statement, bool *failed);

/* Steps a statement that returns no rows. */
MUST_USE bool database_run(struct database *database, sqlite3_stmt *statement);

MUST_USE bool database_begin(struct database *database);
MUST_USE bool database_commit(struct database *database); /* true: it is on the disk */
void database_rollback(struct database *database);

#endif

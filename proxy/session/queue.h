/*
 * queue.h - what was sent upstream and is not answered yet, in order. Every reply belongs to its head.
 *
 * Pure bookkeeping: no meaning of replies is known here. A request that leaves the queue is released
 * by its owner through request_release.
 */
#ifndef PGWICKET_SESSION_QUEUE_H
#define PGWICKET_SESSION_QUEUE_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

enum request_kind {
    REQUEST_PARSE = 1,
    REQUEST_BIND,
    REQUEST_DESCRIBE_STATEMENT,
    REQUEST_DESCRIBE_PORTAL,
    REQUEST_EXECUTE,
    REQUEST_CLOSE,
    REQUEST_SYNC,
    REQUEST_QUERY,
};

/* Whose it is decides what happens to its reply. */
enum request_role {
    ROLE_CLIENT = 1, /* relayed */
    ROLE_QUIET,      /* a client's statement in another form: rows and errors are the client's, the
                        bookkeeping replies (1 2 3 n Z) are swallowed */
    ROLE_INJECTED,   /* pgwicket's own: swallowed, read by `purpose` */
    ROLE_POISON,     /* must fail; its error is replaced by `poison` */
};

enum injected_purpose {
    PURPOSE_NONE = 0,
    PURPOSE_EXPLAIN,  /* collects the text of one column */
    PURPOSE_SETTINGS, /* the settings that a hold is bound to */
    PURPOSE_RUN_ID,   /* transaction id and what identifies backend and cluster */
    PURPOSE_SNAPSHOT, /* counters, sequences, locks: before and after a measured statement */
    PURPOSE_OBJECTS,  /* the catalog's objects: before and after DDL */
    PURPOSE_LOSSES,   /* the rows that DDL takes */
    PURPOSE_MEASURED, /* a held statement that is rehearsed */
    PURPOSE_PINS,     /* settings read back after user code */
    PURPOSE_COUNTERS, /* the rows changed so far in tables that foreign keys lead to */
};

struct judged;
struct portal;
struct execution;

/* A change of the name tables that counts once the server has answered (names.h). */
enum name_change { NAME_UNCHANGED = 0, NAME_STATEMENT, NAME_PORTAL };

struct request {
    enum request_kind kind;
    enum request_role role;
    enum injected_purpose purpose;
    bool of_query;                /* part of a Query that went by the extended protocol */
    bool keep_reply;              /* the reply goes into the gate's buffer, not to the client */
    bool show_as_is;              /* ROLE_POISON: not 25P02 even in a failed transaction */
    enum name_change change;
    char *name;                   /* owned; of the change */
    struct judged *judged;        /* PARSE: the statement; QUERY, EXECUTE: what runs (retained) */
    struct portal *portal;        /* BIND: the portal (retained) */
    struct execution *execution;  /* client's QUERY and EXECUTE (owned) */
    char *poison;                 /* owned: body of the ErrorResponse to show */
    size_t poison_size;
    unsigned changes;             /* CHANGES_*: what may be different once it is answered */
};

struct queue {
    struct request *items; /* ring */
    size_t first, count, capacity;
};

void queue_init(struct queue *queue);
void queue_release(struct queue *queue); /* requests must have been popped */

/* Room for one more at the end, zeroed; the caller keeps to LIMIT_OUTSTANDING_REQUESTS. Pointers to
 * requests are valid until the next push. */
struct request *queue_push(struct queue *queue);
struct request *queue_head(struct queue *queue); /* NULL when empty */
struct request *queue_at(struct queue *queue, size_t index);
struct request queue_pop(struct queue *queue);

#endif

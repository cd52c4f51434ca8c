/*
 * worker.h - one event loop on a thread of its own, with its connections and a mailbox.
 *
 * Connections live and die on their worker; other threads only post messages, addressed by a
 * connection's number, which is never used again.
 */
#ifndef PGWICKET_NET_WORKER_H
#define PGWICKET_NET_WORKER_H

#include "proxy/base/clock.h"
#include "proxy/holds/store.h"

struct event_base;
struct metrics_thread;
struct server;
struct worker;

enum worker_message_kind {
    WORKER_ACCEPTED = 1, /* fd: a new client */
    WORKER_CANCEL,       /* conn: its key was shown; fd: the connection that showed it, to be closed after */
    WORKER_CANCEL_DONE,  /* conn */
    WORKER_CATALOG,      /* conn, loaded: there is a newer one; else it could not be had */
    WORKER_HOLD_ANSWER,  /* conn, request */
    WORKER_HOLD_CHANGED, /* hold: for whoever watches it */
    WORKER_PAUSE,        /* agent: its sessions end at once */
    WORKER_SHUTDOWN,     /* sessions end when they can */
    WORKER_SWEEP,        /* a connection has finished: free it */
    WORKER_STOP,         /* everything ends now, the thread too */
};

struct worker_message {
    enum worker_message_kind kind;
    uint64_t conn;
    int fd;
    bool is_unix;
    bool loaded;
    struct hold_request *request;
    struct hold *hold;   /* in `arena` */
    struct arena arena;  /* released after delivery */
    struct text agent;   /* in `arena` */
    struct worker_message *next;
};

struct worker *worker_start(struct server *server);
void worker_join(struct worker *worker); /* after WORKER_STOP; what is posted to it then is never read */
void worker_free(struct worker *worker); /* joined, and nobody is left who could post to it */

/* Zeroed, with its arena begun; worker_post takes it. */
struct worker_message *worker_message_new(enum worker_message_kind kind, uint64_t conn);
void worker_post(struct worker *worker, struct worker_message *message);

/* Connections that are not closed yet; may be a moment old. */
size_t worker_conns(struct worker *worker);

/* Analysing the deepest statement takes about 1 MiB of stack. */
enum { WORKER_STACK_BYTES = 8 * 1024 * 1024 };

/* --- for conn.c, on the worker's thread */
struct event_base *worker_base(struct worker *worker);
struct server *worker_server(struct worker *worker);
struct metrics_thread *worker_metrics(struct worker *worker);
void worker_wake(struct worker *worker); /* frees finished connections soon */

#endif

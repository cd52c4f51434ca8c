/* server.h - the review server's own: what exchanges and handlers share. */
#ifndef PGWICKET_REVIEW_SERVER_H
#define PGWICKET_REVIEW_SERVER_H

#include "proxy/review/exchange.h"
#include "proxy/review/login.h"
#include "proxy/review/sessions.h"
#include "proxy/review/site.h"

#include <pthread.h>

/* A hold that pages are to be told of. */
struct changed_hold {
    int64_t id;
    struct text policy; /* behind it */
    struct changed_hold *next;
};

struct review_server {
    struct hold_store *store; /* NULL: no rule holds */
    struct review_hooks hooks;
    struct arena arena;
    struct site site;
    struct login *login;
    struct sessions *sessions;
    struct events *events;
    struct listener *listener;
    struct event_base *base;
    struct event *wake_event;
    int wake_file; /* an eventfd: the store has answered, or the server is to stop */
    pthread_t thread;
    bool was_ready;
    int outstanding; /* exchanges that the store has */

    pthread_mutex_t mutex;     /* guards what is below */
    struct exchange *answered; /* newest first */
    struct changed_hold *changed; /* newest first: pages are not told yet */
    bool stopping;
};

/* From the store's thread: the exchange's hold request has been answered. */
void server_answered(struct review_server *server, struct exchange *exchange);

#endif

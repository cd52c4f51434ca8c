/* server.h - the review server's own: what exchanges and handlers share. */
#ifndef PGWICKET_REVIEW_SERVER_H
#define PGWICKET_REVIEW_SERVER_H

#include "proxy/review/exchange.h"
#include "proxy/review/login.h"
#include "proxy/review/site.h"

#include <pthread.h>

struct review_server {
    struct hold_store *store; /* NULL: no rule holds */
    struct review_hooks hooks;
    struct arena arena;
    struct site site;
    struct login *login;
    struct listener *listener;
    struct event_base *base;
    struct event *wake_event;
    int wake_file; /* an eventfd: the store has answered, or the server is to stop */
    pthread_t thread;
    bool was_ready;
    int outstanding; /* exchanges that the store has */

    pthread_mutex_t mutex;     /* guards what is below */
    struct exchange *answered; /* newest first */
    bool stopping;
};

/* From the store's thread: the exchange's hold request has been answered. */
void server_answered(struct review_server *server, struct exchange *exchange);

#endif

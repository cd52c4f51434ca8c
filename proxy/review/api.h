/*
 * api.h - the review listener: pages and JSON API for approvers, health, metrics.
 *
 * Runs an evhttp server on an event loop of its own thread. It reads agents' states and pauses them
 * through `struct review_hooks`, holds through the store, and knows nothing of sessions.
 * Source: spec 5.
 */
#ifndef PGWICKET_REVIEW_API_H
#define PGWICKET_REVIEW_API_H

#include "proxy/config/settings.h"
#include "proxy/holds/store.h"

struct review_agent {
    struct text name;
    struct text policy;
    struct text upstream;
    int64_t sessions;
    int64_t waiting;
    bool paused;
    struct instant paused_at;
    struct text paused_by;
    int64_t statements_per_minute; /* of the last minute */
    struct text last_verdict;      /* "allow", "hold", "reject"; empty: none yet */
    struct text last_actions;      /* "select shop.orders" */
    struct instant last_at;
};

/* What the rest of the process offers; all safe to call from the review thread. */
struct review_hooks {
    void *context;
    /* The configuration of now; the caller releases it. */
    struct configuration *(*configuration)(void *context);
    /* All agents, in `arena`. */
    const struct review_agent *(*agents)(void *context, struct arena *arena, size_t *count);
    /* False: no such agent. Writes its own audit record. */
    bool (*pause)(void *context, struct text agent, bool paused, struct text by);
    /* Ready: every upstream reachable and the audit log writable; else `problem` says what is not. */
    bool (*ready)(void *context, char *problem, size_t size);
    /* The page of metrics; `certificate_seconds`: until the review listener's certificate expires,
     * INFINITY if it has none. */
    void (*metrics)(void *context, double certificate_seconds, struct buffer *page);
};

struct review_server;

/* NULL with `problem` if the address cannot be bound or the certificate not be read. `store` may be
 * NULL (no rule holds). What `configuration` says of the listener (address, TLS, url) stays for the
 * server's life; approvers are those of hooks->configuration at each request. */
struct review_server *review_start(const struct configuration *configuration,
                                   struct hold_store *store, const struct review_hooks *hooks,
                                   char *problem, size_t size);

/* The port that was bound: where the configured one is 0, the system's choice. */
int review_port(const struct review_server *server);

/* A hold has changed: pages that are open are told. Safe from any thread. */
void review_hold_changed(struct review_server *server, const struct hold *hold);

/* Answers what is in work, then ends. The store must still be open; NULL is fine. */
void review_stop(struct review_server *server);

#endif

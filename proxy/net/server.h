/*
 * server.h - what all threads of `serve` share: configuration, upstreams with their catalogs, agents,
 * audit log, hold store; and the main thread's loop with listeners and signals.
 */
#ifndef PGWICKET_NET_SERVER_H
#define PGWICKET_NET_SERVER_H

#include "proxy/audit/sink.h"
#include "proxy/net/agents.h"
#include "proxy/net/upstreams.h"
#include "proxy/review/metrics.h"

#include <openssl/ssl.h>

struct server;

/*
 * Opens audit log and hold store, meets every upstream once, starts workers, listeners and the review
 * listener. NULL with `problem` if it may not serve. Takes over the caller's reference of the
 * configuration.
 */
struct server *server_start(struct configuration *configuration, char *problem, size_t size);

/*
 * Serves until SIGTERM or SIGINT, then waits for the sessions to end (a second signal ends them at
 * once). SIGHUP reads the configuration's file again and reopens the audit log; a broken file changes
 * nothing.
 */
void server_run(struct server *server);

/* Ends what is left and frees everything. */
void server_free(struct server *server);

/* --- for the threads of net/; safe from any of them -------------------------------------------- */

struct configuration *server_configuration(struct server *server); /* the caller releases it */
uint64_t server_generation(struct server *server);                 /* changes with each reload */
SSL_CTX *server_tls(struct server *server); /* NULL: none; the caller frees it */
struct agents *server_agents(struct server *server);
struct upstreams *server_upstreams(struct server *server);
struct hold_store *server_holds(struct server *server); /* NULL: no rule holds */

struct metrics *server_metrics(struct server *server);

/* False: the record is not in the file. */
bool server_audit(struct server *server, const struct audit_record *record);

/* One more, or one fewer, client that has not logged in; false: there are too many. */
bool server_begin_login(struct server *server);
void server_end_login(struct server *server);

bool server_draining(struct server *server);

#endif

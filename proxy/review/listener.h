/*
 * listener.h - sockets and TLS under libevent's HTTP server, with the limits it lacks: so many
 * connections, and a time within which each must bring its next request.
 *
 * Used on the thread of its event base.
 */
#ifndef PGWICKET_REVIEW_LISTENER_H
#define PGWICKET_REVIEW_LISTENER_H

#include "proxy/config/settings.h"

#include <event2/event.h>
#include <event2/http.h>

struct listener;
struct connection;

/* NULL with `problem` if the address cannot be bound or the certificate not be read. `handle` is
 * called for every request. */
struct listener *listener_open(struct event_base *base, const struct configuration *configuration,
                               void (*handle)(struct evhttp_request *request, void *context),
                               void *context, char *problem, size_t size);

/* The port that was bound. */
int listener_port(const struct listener *listener);

/* Until its certificate expires; below 0 it has, INFINITY: it has none. */
double listener_certificate_seconds(const struct listener *listener);

/* Takes no new connections any more. */
void listener_stop(struct listener *listener);

/* Ends all connections. No request may be in work. */
void listener_close(struct listener *listener); /* NULL is fine */

/*
 * A request has come: its connection is not timed until connection_end. `gone` is called if the
 * connection ends before that; the request must not be touched after it.
 */
struct connection *connection_begin(struct listener *listener, struct evhttp_request *request,
                                    void (*gone)(void *context), void *context);

/* It has been answered. `trusted`: an approver's, which may stay open for longer. */
void connection_end(struct connection *connection, bool trusted);

/* The connection's own address and port as in a Host header, "10.0.0.5:6480"; empty if unknown. */
struct text connection_local(const struct connection *connection, struct arena *arena);

#endif

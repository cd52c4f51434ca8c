/*
 * events.h - pages that are told when a hold changes (server-sent events), so that they need not ask.
 *
 * An event says that something changed, never what: pages read it again, with everything that this
 * takes. Used on the review thread.
 */
#ifndef PGWICKET_REVIEW_EVENTS_H
#define PGWICKET_REVIEW_EVENTS_H

#include "proxy/review/exchange.h"

struct events;

struct events *events_new(struct event_base *base);
void events_free(struct events *events); /* ends all streams before */

/* Turns the exchange into a stream; it ends with its connection, its session, or after a while. */
void handle_events(struct exchange *exchange);

/* To every stream whose reader may see this policy (empty: everybody): a hold changed, or (0)
 * something of an agent. */
void events_tell(struct events *events, int64_t id, struct text policy);

/* Ends every stream. */
void events_end(struct events *events);

#endif

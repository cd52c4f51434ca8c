/*
 * handlers.h - what the API does: one function for each path and method. Each answers the exchange,
 * now or after the store. Those that need an approver are called with exchange->approver set.
 */
#ifndef PGWICKET_REVIEW_HANDLERS_H
#define PGWICKET_REVIEW_HANDLERS_H

#include "proxy/review/exchange.h"

typedef void handler(struct exchange *exchange);

handler handle_healthz, handle_readyz, handle_metrics;
handler handle_holds, handle_hold, handle_release, handle_refuse;
handler handle_agents, handle_pause, handle_resume;

#endif

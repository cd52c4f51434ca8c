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

/* Pages and their forms. */
handler page_root, page_queue, page_hold, page_statement, page_history, page_agents, page_sign_in;
handler form_release, form_refuse, form_pause, form_resume, form_sign_in, form_sign_out;
handler handle_asset;

/* Nobody is signed in: sends the browser to the sign-in page, and back here after it. `lost`: a form
 * was sent, and is lost. Answers. */
void page_ask_to_sign_in(struct exchange *exchange, bool lost);

#endif

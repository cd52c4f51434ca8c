/*
 * handle_metrics.c - GET /metrics for Prometheus. See handlers.h.
 *
 * Open like health: it tells names of policies, rules, agents and upstreams, and numbers; no statement
 * and no value.
 */
#include "proxy/review/handlers.h"

#include "proxy/base/limits.h"
#include "proxy/review/server.h"

void handle_metrics(struct exchange *exchange)
{
    const struct review_hooks *hooks = &exchange->server->hooks;
    struct buffer page;
    buffer_init(&page, LIMIT_HTTP_ANSWER_BYTES);
    hooks->metrics(hooks->context, listener_certificate_seconds(exchange->server->listener), &page);
    exchange_send(exchange, 200, CONTENT_METRICS, &page);
}

/*
 * exchange.h - one request to the review listener, from its arrival to its answer.
 *
 * It lives on the review thread; only its hold request visits the store's thread and comes back. If
 * the client goes away first, the work is finished and the answer dropped.
 */
#ifndef PGWICKET_REVIEW_EXCHANGE_H
#define PGWICKET_REVIEW_EXCHANGE_H

#include "proxy/base/json_out.h"
#include "proxy/review/api.h"
#include "proxy/review/listener.h"

struct review_server;

struct exchange {
    struct review_server *server;
    struct evhttp_request *request; /* NULL once answered, or when the client has gone */
    struct connection *connection;
    struct arena arena;
    struct configuration *configuration; /* of the moment it came */
    const struct approver *approver;     /* who asks; NULL before authentication */
    struct text argument;                /* the variable segment of the path */
    struct hold_request hold;
    void (*answered)(struct exchange *exchange); /* with the store's answer in `hold` */
    struct exchange *next;
};

/* A header's value; empty if it is not there. */
struct text exchange_header(const struct exchange *exchange, const char *name);

/* How often it is there. */
int exchange_header_count(const struct exchange *exchange, const char *name);

/* The body, copied into the exchange's arena. */
struct text exchange_body(struct exchange *exchange);

/* Answers and ends the exchange: it must not be touched any more. */
void exchange_reply(struct exchange *exchange, int status, struct buffer *json);

/* The same with something else than JSON; `type` is its Content-Type. */
void exchange_reply_as(struct exchange *exchange, int status, const char *type,
                       struct buffer *body);

/* {"error": {"code", "message"}} and, where there is one, "hold". */
void exchange_fail(struct exchange *exchange, int status, const char *code, const char *message);
void exchange_fail_with_hold(struct exchange *exchange, int status, const char *code,
                             const char *message, const struct hold *hold);

/* An output header that comes with the answer. */
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);

/* Hands exchange->hold to the store; `answered` is called on the review thread. */
void exchange_ask_store(struct exchange *exchange, enum hold_operation operation,
                        void (*answered)(struct exchange *exchange));

#endif

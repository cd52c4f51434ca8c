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
#include "proxy/review/form.h"
#include "proxy/review/listener.h"
#include "proxy/review/sessions.h"

struct review_server;

struct exchange {
    struct review_server *server;
    struct evhttp_request *request; /* NULL once answered, or when the client has gone */
    struct connection *connection;
    struct arena arena;
    struct configuration *configuration; /* of the moment it came */
    const struct approver *approver;     /* who asks; NULL before authentication */
    struct signed_in *session;           /* of their browser, until the store is asked; or NULL */
    char csrf[SESSION_TOKEN_SIZE];       /* its token for forms; empty without a session */
    bool by_proxy;                       /* signed in by the trusted proxy */
    bool secure;                         /* the browser came by https */
    bool live;                           /* a page asks by itself, not its reader */
    bool page;                           /* people read the answer: errors are pages, too */
    struct text argument;                /* the variable segment of the path */
    struct hold_request hold;
    struct hold_browse browse;           /* hold.browse, where a page is made of it */
    struct form form;                    /* what was sent with a form */
    const char *notice;                  /* what the page says about it; NULL: nothing */
    void (*answered)(struct exchange *exchange); /* with the store's answer in `hold` */
    struct exchange *next;
};

/* A header's value; empty if it is not there. */
struct text exchange_header(const struct exchange *exchange, const char *name);

/* How often it is there. */
int exchange_header_count(const struct exchange *exchange, const char *name);

/* The body, copied into the exchange's arena. */
struct text exchange_body(struct exchange *exchange);

/* What an answer is: its type, what its page may load, how long it may be kept. */
enum content { CONTENT_JSON = 0, CONTENT_PAGE, CONTENT_ASSET, CONTENT_METRICS, CONTENT_STREAM, CONTENT_TEXT };

/* Answers and ends the exchange: it must not be touched any more. The buffer is released. */
void exchange_reply(struct exchange *exchange, int status, struct buffer *json);
void exchange_send(struct exchange *exchange, int status, enum content content,
                   struct buffer *body);

/* Sends the browser to one of our own paths, with GET. */
void exchange_redirect(struct exchange *exchange, struct text path);

/* {"error": {"code", "message"}} and, where there is one, "hold"; for people a page that says it. */
void exchange_fail(struct exchange *exchange, int status, const char *code, const char *message);
void exchange_fail_with_hold(struct exchange *exchange, int status, const char *code,
                             const char *message, const struct hold *hold);

/* For answers that come piece by piece: the headers of all answers, and the end. */
void exchange_add_standard_headers(struct exchange *exchange, enum content content);
void exchange_end(struct exchange *exchange);

/* An output header that comes with the answer. */
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);

/* Hands exchange->hold to the store; `answered` is called on the review thread. */
void exchange_ask_store(struct exchange *exchange, enum hold_operation operation,
                        void (*answered)(struct exchange *exchange));

#endif

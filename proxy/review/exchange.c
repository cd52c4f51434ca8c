/* exchange.c - see exchange.h. Every way out is exchange_reply. */
#include "proxy/review/exchange.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/review/hold_json.h"
#include "proxy/review/page.h"
#include "proxy/review/server.h"

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <strings.h>

/* Answers are for the one who asked: not for caches, frames, or pages of others. */
static const struct {
    const char *name;
    const char *value;
} headers[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "same-origin"}, /* without one, forms would come from origin "null" */
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

/* Pages load nothing but the files that come with them; the script asks only this server. */
static const struct {
    const char *type; /* NULL: the handler has said it */
    const char *policy;
    const char *caching;
} contents[] = {
    [CONTENT_JSON] = {"application/json; charset=utf-8",
                      "default-src 'none'; frame-ancestors 'none'", "no-store"},
    [CONTENT_PAGE] = {"text/html; charset=utf-8",
                      "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; "
                      "connect-src 'self'; form-action 'self'; base-uri 'none'; "
                      "frame-ancestors 'none'",
                      "no-store"},
    [CONTENT_ASSET] = {NULL, "default-src 'none'; frame-ancestors 'none'",
                       "public, max-age=31536000, immutable"},
    [CONTENT_METRICS] = {"text/plain; version=0.0.4; charset=utf-8",
                         "default-src 'none'; frame-ancestors 'none'", "no-store"},
    [CONTENT_STREAM] = {"text/event-stream; charset=utf-8",
                        "default-src 'none'; frame-ancestors 'none'", "no-store"},
    [CONTENT_TEXT] = {"text/plain; charset=utf-8", "default-src 'none'; frame-ancestors 'none'",
                      "no-store"},
};

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
    {303, "See Other"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
};

static const char *reason_of(int status)
{
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    INVARIANT(false && "a status that has a reason");
    return "";
}

struct text exchange_header(const struct exchange *exchange, const char *name)
{
    return text_from(evhttp_find_header(evhttp_request_get_input_headers(exchange->request), name));
}

int exchange_header_count(const struct exchange *exchange, const char *name)
{
    const struct evkeyvalq *all = evhttp_request_get_input_headers(exchange->request);
    int count = 0;
    for (const struct evkeyval *header = all->tqh_first; header != NULL;
         header = header->next.tqe_next)
        count += strcasecmp(header->key, name) == 0;
    return count;
}

struct text exchange_body(struct exchange *exchange)
{
    struct evbuffer *input = evhttp_request_get_input_buffer(exchange->request);
    size_t size = evbuffer_get_length(input);
    char *bytes = arena_allocate(&exchange->arena, size + 1);
    ev_ssize_t copied = evbuffer_copyout(input, bytes, size);
    INVARIANT(copied >= 0 && (size_t)copied == size);
    return (struct text){bytes, size};
}

void exchange_add_header(struct exchange *exchange, const char *name, const char *value)
{
    if (exchange->request != NULL)
        evhttp_add_header(evhttp_request_get_output_headers(exchange->request), name, value);
}

void exchange_end(struct exchange *exchange)
{
    arena_release(&exchange->hold.arena);
    arena_release(&exchange->arena);
    configuration_release(exchange->configuration);
    free(exchange);
}

void exchange_add_standard_headers(struct exchange *exchange, enum content content)
{
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        exchange_add_header(exchange, headers[i].name, headers[i].value);
    if (contents[content].type != NULL)
        exchange_add_header(exchange, "Content-Type", contents[content].type);
    exchange_add_header(exchange, "Content-Security-Policy", contents[content].policy);
    exchange_add_header(exchange, "Cache-Control", contents[content].caching);
}

static void send_reply(struct exchange *exchange, int status, enum content content,
                       const struct buffer *bytes)
{
    struct evbuffer *body = evbuffer_new();
    INVARIANT(body != NULL);
    evbuffer_add(body, bytes->bytes, bytes->size);
    exchange_add_standard_headers(exchange, content);
    connection_end(exchange->connection, exchange->approver != NULL);
    evhttp_send_reply(exchange->request, status, reason_of(status), body);
    evbuffer_free(body);
}

void exchange_send(struct exchange *exchange, int status, enum content content,
                   struct buffer *body)
{
    if (body->overflow) {
        buffer_clear(body);
        status = 500;
        content = CONTENT_JSON;
        buffer_append_string(
            body, "{\"error\":{\"code\":\"too_large\",\"message\":\"the answer is too large\"}}\n");
    }
    if (exchange->request != NULL)
        send_reply(exchange, status, content, body);
    buffer_release(body);
    exchange_end(exchange);
}

void exchange_reply(struct exchange *exchange, int status, struct buffer *json)
{
    buffer_append_byte(json, '\n');
    exchange_send(exchange, status, CONTENT_JSON, json);
}

void exchange_redirect(struct exchange *exchange, struct text path)
{
    struct buffer empty;
    buffer_init(&empty, LIMIT_HTTP_ANSWER_BYTES);
    exchange_add_header(exchange, "Location", arena_text(&exchange->arena, path).bytes);
    exchange_send(exchange, 303, CONTENT_PAGE, &empty);
}

void exchange_fail_with_hold(struct exchange *exchange, int status, const char *code,
                             const char *message, const struct hold *hold)
{
    if (exchange->page) {
        page_message(exchange, status, reason_of(status), message);
        return;
    }
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    json_open(&json, '{');
    json_key_open(&json, "error", '{');
    json_key_string(&json, "code", code);
    json_key_string(&json, "message", message);
    json_close(&json, '}');
    if (hold != NULL) {
        json_key(&json, "hold");
        hold_json(&json, hold, exchange->approver, clock_now());
    }
    json_close(&json, '}');
    exchange_reply(exchange, status, &buffer);
}

void exchange_fail(struct exchange *exchange, int status, const char *code, const char *message)
{
    exchange_fail_with_hold(exchange, status, code, message, NULL);
}

static void store_answered(struct hold_request *request)
{
    struct exchange *exchange = request->owner;
    server_answered(exchange->server, exchange);
}

void exchange_ask_store(struct exchange *exchange, enum hold_operation operation,
                        void (*answered)(struct exchange *exchange))
{
    struct hold_request *request = &exchange->hold;
    request->operation = operation;
    request->done = store_answered;
    request->owner = exchange;
    request->approver = exchange->approver->name;
    request->policies = exchange->approver->policies;
    request->policy_count = exchange->approver->policy_count;
    request->browse = &exchange->browse;
    exchange->session = NULL; /* it may end meanwhile */
    exchange->answered = answered;
    exchange->server->outstanding++;
    hold_store_post(exchange->server->store, request);
}

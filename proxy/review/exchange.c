/* exchange.c - see exchange.h. Every way out is exchange_reply. */
#include "proxy/review/exchange.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/review/hold_json.h"
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
    {"Cache-Control", "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"},
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

static void end(struct exchange *exchange)
{
    arena_release(&exchange->hold.arena);
    arena_release(&exchange->arena);
    configuration_release(exchange->configuration);
    free(exchange);
}

static const char json_type[] = "application/json; charset=utf-8";

static void send_reply(struct exchange *exchange, int status, const char *type,
                       const struct buffer *bytes)
{
    struct evbuffer *body = evbuffer_new();
    INVARIANT(body != NULL);
    evbuffer_add(body, bytes->bytes, bytes->size);
    exchange_add_header(exchange, "Content-Type", type);
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        exchange_add_header(exchange, headers[i].name, headers[i].value);
    connection_end(exchange->connection, exchange->approver != NULL);
    evhttp_send_reply(exchange->request, status, reason_of(status), body);
    evbuffer_free(body);
}

void exchange_reply_as(struct exchange *exchange, int status, const char *type, struct buffer *body)
{
    if (body->overflow) {
        buffer_clear(body);
        status = 500;
        type = json_type;
        buffer_append_string(body, "{\"error\":{\"code\":\"too_large\",\"message\":"
                                   "\"the answer is too large\"}}\n");
    }
    if (exchange->request != NULL)
        send_reply(exchange, status, type, body);
    buffer_release(body);
    end(exchange);
}

void exchange_reply(struct exchange *exchange, int status, struct buffer *json)
{
    buffer_append_byte(json, '\n');
    exchange_reply_as(exchange, status, json_type, json);
}

void exchange_fail_with_hold(struct exchange *exchange, int status, const char *code,
                             const char *message, const struct hold *hold)
{
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    json_open(&json, '{');
    json_key(&json, "error");
    json_open(&json, '{');
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
    exchange->answered = answered;
    exchange->server->outstanding++;
    hold_store_post(exchange->server->store, request);
}

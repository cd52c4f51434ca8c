/*
 * events.c - see events.h. A heartbeat every quarter of a minute keeps proxies patient and looks
 * whether the reader is still signed in. Too many streams: the page works without (503).
 */
#include "proxy/review/events.h"

#include "proxy/base/clock.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/review/identity.h"
#include "proxy/review/server.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEARTBEAT_S = 15 };

static const int64_t stream_us = 600 * (int64_t)1000000;

struct stream {
    struct exchange *exchange;
    int64_t end_us;
};

struct events {
    struct event *heartbeat;
    struct stream streams[LIMIT_EVENT_STREAMS];
    size_t count;
};

/* The client may have gone already: then there is nobody to say it to. */
static void end_stream(struct events *events, size_t at)
{
    struct exchange *exchange = events->streams[at].exchange;
    events->streams[at] = events->streams[--events->count];
    if (exchange->request != NULL) {
        connection_end(exchange->connection, true);
        evhttp_send_reply_end(exchange->request);
    }
    exchange_end(exchange);
}

static void send_chunk(struct exchange *exchange, const char *text)
{
    struct evbuffer *chunk = evbuffer_new();
    INVARIANT(chunk != NULL);
    evbuffer_add_printf(chunk, "%s", text);
    evhttp_send_reply_chunk(exchange->request, chunk);
    evbuffer_free(chunk);
}

/* As the configuration is now. */
static bool still_signed_in(struct exchange *exchange)
{
    const struct review_hooks *hooks = &exchange->server->hooks;
    configuration_release(exchange->configuration);
    exchange->configuration = hooks->configuration(hooks->context);
    exchange->approver = NULL;
    return identify(exchange, false) == LOGIN_PASSED;
}

static void beat(evutil_socket_t socket, short what, void *context)
{
    (void)socket;
    (void)what;
    struct events *events = context;
    int64_t now_us = clock_monotonic_us();
    for (size_t i = events->count; i > 0; i--) {
        struct stream *stream = &events->streams[i - 1];
        if (stream->exchange->request == NULL || stream->end_us < now_us ||
            !still_signed_in(stream->exchange))
            end_stream(events, i - 1);
        else
            send_chunk(stream->exchange, ": \n\n");
    }
}

struct events *events_new(struct event_base *base)
{
    struct events *events = memory_allocate_zeroed(1, sizeof *events);
    events->heartbeat = event_new(base, -1, EV_PERSIST, beat, events);
    INVARIANT(events->heartbeat != NULL);
    event_add(events->heartbeat, &(struct timeval){.tv_sec = HEARTBEAT_S});
    return events;
}

void events_end(struct events *events)
{
    while (events->count > 0)
        end_stream(events, events->count - 1);
}

void events_free(struct events *events)
{
    if (events == NULL)
        return;
    INVARIANT(events->count == 0);
    event_free(events->heartbeat);
    free(events);
}

void handle_events(struct exchange *exchange)
{
    struct events *events = exchange->server->events;
    if (events->count == LIMIT_EVENT_STREAMS) {
        exchange_fail(exchange, 503, "too_many_streams", "too many pages listen");
        return;
    }
    events->streams[events->count++] =
        (struct stream){exchange, clock_monotonic_us() + stream_us};
    exchange_add_standard_headers(exchange, CONTENT_STREAM);
    evhttp_send_reply_start(exchange->request, 200, "OK");
    send_chunk(exchange, "retry: 3000\n\n");
}

void events_tell(struct events *events, int64_t id, struct text policy)
{
    char text[64];
    snprintf(text, sizeof text, "event: change\ndata: %lld\n\n", (long long)id);
    const struct hold changed = {.policy = policy};
    for (size_t i = events->count; i > 0; i--) {
        struct exchange *exchange = events->streams[i - 1].exchange;
        if (exchange->request == NULL || !still_signed_in(exchange))
            end_stream(events, i - 1);
        else if (policy.size == 0 || hold_visible(&changed, exchange->approver->policies,
                                                  exchange->approver->policy_count))
            send_chunk(exchange, text);
    }
}

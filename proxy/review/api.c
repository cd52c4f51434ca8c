/*
 * api.c - the review server: its thread, its routes, and what every request must pass. See api.h.
 *
 * In this order: an unambiguous head, a Host of ours, a route, for writes no foreign page, an
 * approver, JSON of bounded size. The first that fails answers; nothing after it is looked at.
 */
#include "proxy/review/api.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/review/handlers.h"
#include "proxy/review/http.h"
#include "proxy/review/server.h"

#include <event2/buffer.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum access {
    ACCESS_APPROVER = 0, /* reads, for an approver */
    ACCESS_WRITE,        /* changes something, for an approver */
    ACCESS_OPEN,         /* reads, for everybody */
};

static const struct route {
    enum evhttp_cmd_type method;
    const char *pattern;
    handler *handle;
    enum access access;
} routes[] = {
    {EVHTTP_REQ_GET, "/healthz", handle_healthz, ACCESS_OPEN},
    {EVHTTP_REQ_GET, "/readyz", handle_readyz, ACCESS_OPEN},
    {EVHTTP_REQ_GET, "/metrics", handle_metrics, ACCESS_OPEN},
    {EVHTTP_REQ_GET, "/api/holds", handle_holds, ACCESS_APPROVER},
    {EVHTTP_REQ_GET, "/api/holds/:", handle_hold, ACCESS_APPROVER},
    {EVHTTP_REQ_POST, "/api/holds/:/release", handle_release, ACCESS_WRITE},
    {EVHTTP_REQ_POST, "/api/holds/:/refuse", handle_refuse, ACCESS_WRITE},
    {EVHTTP_REQ_GET, "/api/agents", handle_agents, ACCESS_APPROVER},
    {EVHTTP_REQ_POST, "/api/agents/:/pause", handle_pause, ACCESS_WRITE},
    {EVHTTP_REQ_POST, "/api/agents/:/resume", handle_resume, ACCESS_WRITE},
};

/* Headers whose second copy would be read differently by a proxy in front. */
static const char *const single_headers[] = {
    "Host",   "Authorization",  "Content-Type",     "Content-Length",
    "Origin", "Sec-Fetch-Site", "Transfer-Encoding"};

/* NULL: the head can be read in one way only; else why not. */
static const char *head_problem(const struct exchange *exchange)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(exchange->request);
    if (uri == NULL || evhttp_uri_get_scheme(uri) != NULL || evhttp_uri_get_host(uri) != NULL)
        return "the request line must name a path";
    for (size_t i = 0; i < ARRAY_SIZE(single_headers); i++)
        if (exchange_header_count(exchange, single_headers[i]) > 1)
            return "a header is there twice";
    if (exchange_header_count(exchange, "Transfer-Encoding") > 0 &&
        exchange_header_count(exchange, "Content-Length") > 0)
        return "the length of the body is given twice";
    return NULL;
}

/* HEAD is GET without a body in the answer. */
static enum evhttp_cmd_type method_of(const struct exchange *exchange)
{
    enum evhttp_cmd_type method = evhttp_request_get_command(exchange->request);
    return method == EVHTTP_REQ_HEAD ? EVHTTP_REQ_GET : method;
}

/* The route, or NULL, answered: no such path, or not with this method. */
static const struct route *find_route(struct exchange *exchange)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(exchange->request);
    struct text path = text_from(evhttp_uri_get_path(uri));
    for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
        if (!path_matches(path, routes[i].pattern, &exchange->argument))
            continue;
        if (routes[i].method == method_of(exchange))
            return &routes[i];
        bool get = routes[i].method == EVHTTP_REQ_GET;
        exchange_add_header(exchange, "Allow", get ? "GET, HEAD" : "POST");
        exchange_fail(exchange, 405, "method_not_allowed", "this path has another method");
        return NULL;
    }
    exchange_fail(exchange, 404, "not_found", "there is no such path");
    return NULL;
}

static void refuse_login(struct exchange *exchange, const char *address, bool tried)
{
    if (tried)
        log_warning("review: failed login from %s", address);
    exchange_add_header(exchange, "WWW-Authenticate",
                        "Basic realm=\"pgwicket\", charset=\"UTF-8\"");
    exchange_fail(exchange, 401, "unauthorized", "name and password of an approver are needed");
}

/* False: answered. */
static bool authenticate(struct exchange *exchange)
{
    char *address = NULL;
    ev_uint16_t port;
    evhttp_connection_get_peer(evhttp_request_get_connection(exchange->request), &address, &port);
    struct source source = source_from(address != NULL ? address : "");
    struct text header = exchange_header(exchange, "Authorization");
    switch (login_check(exchange->server->login, exchange->configuration, header, &source,
                        clock_monotonic_us(), &exchange->approver)) {
    case LOGIN_PASSED:
        return true;
    case LOGIN_THROTTLED:
        exchange_add_header(exchange, "Retry-After", "60");
        exchange_fail(exchange, 429, "too_many_failures",
                      "too many failed logins; try again in a minute");
        return false;
    case LOGIN_REFUSED:
        break;
    }
    refuse_login(exchange, address != NULL ? address : "unknown", header.size > 0);
    return false;
}

/* False: answered. */
static bool accept_body(struct exchange *exchange)
{
    struct evbuffer *input = evhttp_request_get_input_buffer(exchange->request);
    if (!content_type_is_json(exchange_header(exchange, "Content-Type"))) {
        exchange_fail(exchange, 415, "not_json", "writes need Content-Type: application/json");
        return false;
    }
    if (evbuffer_get_length(input) > LIMIT_HTTP_BODY_BYTES) {
        exchange_fail(exchange, 413, "too_large", "the body is longer than 64 kB");
        return false;
    }
    return true;
}

static void route_exchange(struct exchange *exchange, struct text local)
{
    const struct route *route = find_route(exchange);
    if (route == NULL)
        return;
    const char *foreign = NULL;
    if (route->access == ACCESS_WRITE)
        foreign = site_refuses_write(&exchange->server->site, exchange_header(exchange, "Origin"),
                                     exchange_header(exchange, "Sec-Fetch-Site"), local);
    if (foreign != NULL) {
        exchange_fail(exchange, 403, "foreign_origin", foreign);
        return;
    }
    if (route->access != ACCESS_OPEN && !authenticate(exchange))
        return;
    if (route->access == ACCESS_WRITE && !accept_body(exchange))
        return;
    route->handle(exchange);
}

/* The client has gone. libevent frees a request together with its connection, unless it has taken
 * the two apart; then it is ours. */
static void client_gone(void *context)
{
    struct exchange *exchange = context;
    if (evhttp_request_get_connection(exchange->request) == NULL)
        evhttp_request_free(exchange->request);
    exchange->request = NULL;
}

static struct exchange *new_exchange(struct review_server *server, struct evhttp_request *request)
{
    struct exchange *exchange = memory_allocate_zeroed(1, sizeof *exchange);
    exchange->server = server;
    exchange->request = request;
    exchange->connection = connection_begin(server->listener, request, client_gone, exchange);
    exchange->configuration = server->hooks.configuration(server->hooks.context);
    arena_init(&exchange->arena);
    arena_init(&exchange->hold.arena);
    return exchange;
}

static bool is_stopping(struct review_server *server)
{
    pthread_mutex_lock(&server->mutex);
    bool stopping = server->stopping;
    pthread_mutex_unlock(&server->mutex);
    return stopping;
}

static void handle_request(struct evhttp_request *request, void *context)
{
    struct review_server *server = context;
    struct exchange *exchange = new_exchange(server, request);
    struct text local = connection_local(exchange->connection, &exchange->arena);
    const char *problem = head_problem(exchange);
    if (is_stopping(server))
        exchange_fail(exchange, 503, "stopping", "pgwicket is stopping");
    else if (problem != NULL)
        exchange_fail(exchange, 400, "bad_request", problem);
    else if (!site_has_host(&server->site, exchange_header(exchange, "Host"), local))
        exchange_fail(exchange, 403, "wrong_host",
                      "Host is neither review.url nor this listener's address");
    else
        route_exchange(exchange, local);
}

static void wake(struct review_server *server)
{
    uint64_t one = 1;
    ssize_t written = write(server->wake_file, &one, sizeof one);
    INVARIANT(written == sizeof one);
}

void server_answered(struct review_server *server, struct exchange *exchange)
{
    pthread_mutex_lock(&server->mutex);
    exchange->next = server->answered;
    server->answered = exchange;
    pthread_mutex_unlock(&server->mutex);
    wake(server);
}

static void take_answers(struct review_server *server)
{
    pthread_mutex_lock(&server->mutex);
    struct exchange *exchange = server->answered;
    server->answered = NULL;
    pthread_mutex_unlock(&server->mutex);
    while (exchange != NULL) {
        struct exchange *next = exchange->next;
        server->outstanding--;
        exchange->answered(exchange);
        exchange = next;
    }
}

static void woken(evutil_socket_t file, short what, void *context)
{
    (void)what;
    struct review_server *server = context;
    uint64_t count;
    ssize_t got = read(file, &count, sizeof count);
    (void)got;
    take_answers(server);
    if (!is_stopping(server))
        return;
    listener_stop(server->listener);
    /* A moment for the last answers to be written. */
    if (server->outstanding == 0)
        event_base_loopexit(server->base, &(struct timeval){.tv_usec = 100000});
}

static void *serve(void *argument)
{
    struct review_server *server = argument;
    event_base_loop(server->base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

static void free_server(struct review_server *server)
{
    listener_close(server->listener);
    if (server->wake_event != NULL)
        event_free(server->wake_event);
    if (server->wake_file >= 0)
        close(server->wake_file);
    if (server->base != NULL)
        event_base_free(server->base);
    login_free(server->login);
    arena_release(&server->arena);
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

static struct review_server *new_server(struct hold_store *store, const struct review_hooks *hooks)
{
    struct review_server *server = memory_allocate_zeroed(1, sizeof *server);
    server->store = store;
    server->hooks = *hooks;
    server->was_ready = true;
    arena_init(&server->arena);
    pthread_mutex_init(&server->mutex, NULL);
    server->login = login_new();
    server->base = event_base_new();
    server->wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    INVARIANT(server->base != NULL && server->wake_file >= 0);
    server->wake_event =
        event_new(server->base, server->wake_file, EV_READ | EV_PERSIST, woken, server);
    INVARIANT(server->wake_event != NULL);
    event_add(server->wake_event, NULL);
    return server;
}

/* Signals are for the main thread. */
static void start_thread(struct review_server *server)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&server->thread, NULL, serve, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    INVARIANT(result == 0);
}

struct review_server *review_start(const struct configuration *configuration,
                                   struct hold_store *store, const struct review_hooks *hooks,
                                   char *problem, size_t size)
{
    struct review_server *server = new_server(store, hooks);
    server->listener =
        listener_open(server->base, configuration, handle_request, server, problem, size);
    if (server->listener == NULL) {
        free_server(server);
        return NULL;
    }
    site_init(&server->site, &server->arena, configuration, listener_port(server->listener));
    start_thread(server);
    return server;
}

int review_port(const struct review_server *server)
{
    return listener_port(server->listener);
}

void review_stop(struct review_server *server)
{
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    server->stopping = true;
    pthread_mutex_unlock(&server->mutex);
    wake(server);
    pthread_join(server->thread, NULL);
    free_server(server);
}

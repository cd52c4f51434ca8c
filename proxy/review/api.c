/*
 * api.c - the review server: its thread, its routes, and what every request must pass. See api.h.
 *
 * In this order: an unambiguous head, a Host of ours, a route, for writes no foreign page, an
 * approver, a body of bounded size and known kind, for forms the session's token. The first that
 * fails answers; nothing after it is looked at.
 */
#include "proxy/review/api.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/review/assets.h"
#include "proxy/review/events.h"
#include "proxy/review/handlers.h"
#include "proxy/review/http.h"
#include "proxy/review/identity.h"
#include "proxy/review/server.h"

#include <event2/buffer.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum access {
    ACCESS_APPROVER = 0, /* JSON: reads, for an approver */
    ACCESS_WRITE,        /* JSON: changes something, for an approver */
    ACCESS_OPEN,         /* reads, for everybody */
    ACCESS_PAGE,         /* a page, for whoever is signed in */
    ACCESS_FORM,         /* a form of such a page: changes something */
    ACCESS_DOOR,         /* a page for everybody */
    ACCESS_DOOR_FORM,    /* its form */
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
    {EVHTTP_REQ_GET, "/events", handle_events, ACCESS_APPROVER},
    {EVHTTP_REQ_GET, "/", page_root, ACCESS_PAGE},
    {EVHTTP_REQ_GET, "/holds", page_queue, ACCESS_PAGE},
    {EVHTTP_REQ_GET, "/holds/:", page_hold, ACCESS_PAGE},
    {EVHTTP_REQ_GET, "/holds/:/statement", page_statement, ACCESS_PAGE},
    {EVHTTP_REQ_POST, "/holds/:/release", form_release, ACCESS_FORM},
    {EVHTTP_REQ_POST, "/holds/:/refuse", form_refuse, ACCESS_FORM},
    {EVHTTP_REQ_GET, "/history", page_history, ACCESS_PAGE},
    {EVHTTP_REQ_GET, "/agents", page_agents, ACCESS_PAGE},
    {EVHTTP_REQ_POST, "/agents/:/pause", form_pause, ACCESS_FORM},
    {EVHTTP_REQ_POST, "/agents/:/resume", form_resume, ACCESS_FORM},
    {EVHTTP_REQ_GET, "/sign-in", page_sign_in, ACCESS_DOOR},
    {EVHTTP_REQ_POST, "/sign-in", form_sign_in, ACCESS_DOOR_FORM},
    {EVHTTP_REQ_POST, "/sign-out", form_sign_out, ACCESS_FORM},
    {EVHTTP_REQ_GET, "/page/:", handle_asset, ACCESS_OPEN},
};

static bool is_write(enum access access)
{
    return access == ACCESS_WRITE || access == ACCESS_FORM || access == ACCESS_DOOR_FORM;
}

static bool is_page(enum access access)
{
    return access >= ACCESS_PAGE;
}

/* Headers whose second copy would be read differently by a proxy in front. */
static const char *const single_headers[] = {
    "Host",   "Authorization",  "Content-Type",      "Content-Length",
    "Origin", "Sec-Fetch-Site", "Transfer-Encoding", "Cookie",
    "X-CSRF-Token"};

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
    const char *allowed = NULL;
    exchange->page = !text_starts_with(path, "/api/") &&
                     strstr(exchange_header(exchange, "Accept").bytes, "text/html") != NULL;
    for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
        if (!path_matches(path, routes[i].pattern, &exchange->argument))
            continue;
        if (routes[i].method == method_of(exchange))
            return &routes[i];
        bool get = routes[i].method == EVHTTP_REQ_GET;
        allowed = allowed != NULL ? "GET, HEAD, POST" : get ? "GET, HEAD" : "POST";
    }
    if (allowed == NULL) {
        exchange_fail(exchange, 404, "not_found", "there is no such path");
        return NULL;
    }
    exchange_add_header(exchange, "Allow", allowed);
    exchange_fail(exchange, 405, "method_not_allowed", "this path has another method");
    return NULL;
}

static void refuse_login(struct exchange *exchange, bool tried)
{
    const char *address = peer_address(exchange);
    if (tried)
        log_warning("review: failed login from %s", address[0] != '\0' ? address : "unknown");
    exchange_add_header(exchange, "WWW-Authenticate",
                        "Basic realm=\"pgwicket\", charset=\"UTF-8\"");
    exchange_fail(exchange, 401, "unauthorized", "name and password of an approver are needed");
}

/* False: answered. */
static bool authenticate(struct exchange *exchange)
{
    switch (identify(exchange, false)) {
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
    refuse_login(exchange, exchange_header_count(exchange, "Authorization") > 0);
    return false;
}

/* Who asks, or false, answered. A session's cookie goes with whatever a browser is made to send, so
 * its writes need the token as well. */
static bool authenticate_program(struct exchange *exchange, enum access access)
{
    if (!authenticate(exchange))
        return false;
    if (access != ACCESS_WRITE || exchange->session == NULL ||
        session_has_csrf(exchange->session, exchange_header(exchange, "X-CSRF-Token")))
        return true;
    exchange_fail(exchange, 403, "csrf", "a write with a cookie needs X-CSRF-Token");
    return false;
}

/* False: answered. */
static bool accept_body(struct exchange *exchange, bool form)
{
    struct evbuffer *input = evhttp_request_get_input_buffer(exchange->request);
    struct text type = exchange_header(exchange, "Content-Type");
    if (form ? !content_type_is_form(type) : !content_type_is_json(type)) {
        exchange_fail(exchange, 415, "not_json",
                      form ? "a form is expected" : "writes need Content-Type: application/json");
        return false;
    }
    if (evbuffer_get_length(input) > LIMIT_HTTP_BODY_BYTES) {
        exchange_fail(exchange, 413, "too_large", "the body is longer than 64 kB");
        return false;
    }
    return true;
}

/* False: answered. */
static bool accept_form(struct exchange *exchange)
{
    if (!accept_body(exchange, true))
        return false;
    const char *problem =
        form_parse(&exchange->arena, exchange_body(exchange), &exchange->form);
    if (problem != NULL)
        exchange_fail(exchange, 400, "bad_body", problem);
    return problem == NULL;
}

/* A page or a form of one. False: answered. */
static bool admit_person(struct exchange *exchange, enum access access)
{
    bool form = access == ACCESS_FORM || access == ACCESS_DOOR_FORM;
    if (form && !accept_form(exchange))
        return false;
    if (access == ACCESS_DOOR || access == ACCESS_DOOR_FORM)
        return true;
    if (identify(exchange, true) != LOGIN_PASSED) {
        page_ask_to_sign_in(exchange, form);
        return false;
    }
    if (!form || session_has_csrf(exchange->session, form_value(&exchange->form, "csrf")))
        return true;
    exchange_fail(exchange, 403, "csrf",
                  "Nothing was sent: this form is not of your session. Look at the page again.");
    return false;
}

static bool admit_program(struct exchange *exchange, enum access access)
{
    return access == ACCESS_OPEN || (authenticate_program(exchange, access) &&
                                     (access != ACCESS_WRITE || accept_body(exchange, false)));
}

static void route_exchange(struct exchange *exchange, struct text local)
{
    const struct route *route = find_route(exchange);
    if (route == NULL)
        return;
    const char *foreign = NULL;
    exchange->page = is_page(route->access);
    exchange->live =
        route->handle == handle_events || exchange_header_count(exchange, "X-Live") > 0;
    if (is_write(route->access))
        foreign = site_refuses_write(&exchange->server->site, exchange_header(exchange, "Origin"),
                                     exchange_header(exchange, "Sec-Fetch-Site"), local);
    if (foreign != NULL)
        exchange_fail(exchange, 403, "foreign_origin", foreign);
    else if (is_page(route->access) ? admit_person(exchange, route->access)
                                    : admit_program(exchange, route->access))
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
    else {
        exchange->secure = site_is_secure(&server->site, &exchange->arena,
                                          exchange_header(exchange, "Host"));
        route_exchange(exchange, local);
    }
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

void review_hold_changed(struct review_server *server, const struct hold *hold)
{
    struct changed_hold *changed = memory_allocate(sizeof *changed + hold->policy.size);
    char *policy = (char *)(changed + 1);
    memcpy(policy, hold->policy.bytes, hold->policy.size);
    changed->id = hold->id;
    changed->policy = (struct text){policy, hold->policy.size};
    pthread_mutex_lock(&server->mutex);
    changed->next = server->changed;
    server->changed = changed;
    pthread_mutex_unlock(&server->mutex);
    wake(server);
}

static void tell_changes(struct review_server *server)
{
    pthread_mutex_lock(&server->mutex);
    struct changed_hold *changed = server->changed;
    server->changed = NULL;
    pthread_mutex_unlock(&server->mutex);
    while (changed != NULL) {
        struct changed_hold *next = changed->next;
        events_tell(server->events, changed->id, changed->policy);
        free(changed);
        changed = next;
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
    tell_changes(server);
    if (!is_stopping(server))
        return;
    events_end(server->events);
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
    tell_changes(server);
    events_free(server->events);
    listener_close(server->listener);
    if (server->wake_event != NULL)
        event_free(server->wake_event);
    if (server->wake_file >= 0)
        close(server->wake_file);
    if (server->base != NULL)
        event_base_free(server->base);
    login_free(server->login);
    sessions_free(server->sessions);
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
    server->sessions = sessions_new();
    assets_init();
    server->base = event_base_new();
    server->wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    INVARIANT(server->base != NULL && server->wake_file >= 0);
    server->events = events_new(server->base);
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

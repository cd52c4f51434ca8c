/*
 * listener.c - see listener.h.
 *
 * libevent's server neither counts connections nor limits how long a request may take to arrive.
 * Here a reference is kept on each connection's bufferevent: a sweep once a second drops those that
 * libevent has given up, and shuts down those that have been idle or slow for too long; libevent
 * then sees the end of the stream and cleans up.
 */
#include "proxy/review/listener.h"

#include "proxy/base/clock.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/review/tls.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 128,
    STRANGER_US = 15 * 1000000, /* for one request of somebody who has not authenticated */
    TRUSTED_US = 120 * 1000000,
    READ_TIMEOUT_S = 60,
};

struct connection {
    struct bufferevent *stream;
    int64_t deadline_us; /* monotonic; 0 while a request is in work */
    void (*gone)(void *context);
    void *context;
    struct connection *next;
};

struct listener {
    struct evhttp *http;
    struct evhttp_bound_socket *socket;
    SSL_CTX *tls;
    struct event *sweep;
    struct connection *connections;
    int connection_count;
    bool accepting;
    bool stopped;
    int port;
};

static void pace(struct listener *listener)
{
    bool accept = !listener->stopped && listener->connection_count < LIMIT_HTTP_CONNECTIONS;
    struct evconnlistener *socket = evhttp_bound_socket_get_listener(listener->socket);
    if (accept && !listener->accepting)
        evconnlistener_enable(socket);
    if (!accept && listener->accepting)
        evconnlistener_disable(socket);
    listener->accepting = accept;
}

static struct bufferevent *new_stream(struct listener *listener, struct event_base *base)
{
    if (listener->tls == NULL)
        return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    SSL *ssl = SSL_new(listener->tls);
    INVARIANT(ssl != NULL);
    struct bufferevent *stream = bufferevent_openssl_socket_new(
        base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    if (stream != NULL)
        bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
    return stream;
}

/* libevent asks for the stream of a new connection. NULL would make it use a plain one. */
static struct bufferevent *begin_connection(struct event_base *base, void *context)
{
    struct listener *listener = context;
    struct connection *connection = memory_allocate_zeroed(1, sizeof *connection);
    connection->stream = new_stream(listener, base);
    INVARIANT(connection->stream != NULL);
    bufferevent_incref(connection->stream);
    connection->deadline_us = clock_monotonic_us() + STRANGER_US;
    connection->next = listener->connections;
    listener->connections = connection;
    listener->connection_count++;
    pace(listener);
    return connection->stream;
}

/* libevent takes its callbacks off a stream that it frees. */
static bool is_given_up(const struct connection *connection)
{
    bufferevent_data_cb read;
    bufferevent_data_cb write;
    bufferevent_event_cb event;
    void *argument;
    bufferevent_getcb(connection->stream, &read, &write, &event, &argument);
    return read == NULL && write == NULL && event == NULL;
}

static void drop(struct listener *listener, struct connection **link)
{
    struct connection *connection = *link;
    *link = connection->next;
    listener->connection_count--;
    bufferevent_decref(connection->stream);
    free(connection);
}

static void sweep(evutil_socket_t socket, short what, void *context)
{
    (void)socket;
    (void)what;
    struct listener *listener = context;
    int64_t now_us = clock_monotonic_us();
    struct connection **link = &listener->connections;
    while (*link != NULL) {
        struct connection *connection = *link;
        if (is_given_up(connection)) {
            drop(listener, link);
            continue;
        }
        if (connection->deadline_us != 0 && connection->deadline_us < now_us)
            shutdown(bufferevent_getfd(connection->stream), SHUT_RDWR);
        link = &connection->next;
    }
    pace(listener);
}

static int bound_port(int socket)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char port[NI_MAXSERV];
    int64_t number;
    if (getsockname(socket, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof port,
                    NI_NUMERICSERV) != 0 ||
        !text_to_int64(text_from(port), &number))
        return 0;
    return (int)number;
}

/* A listening socket, or -1 with errno. */
static int listen_on(const struct addrinfo *address)
{
    int yes = 1;
    int file = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file < 0)
        return -1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->ai_family == AF_INET6)
        setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(file, address->ai_addr, address->ai_addrlen) == 0 && listen(file, BACKLOG) == 0)
        return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

static int bind_address(const struct listen_address *address, char *problem, size_t size)
{
    char host[256];
    char port[32];
    snprintf(host, sizeof host, "%.*s", TEXT_ARGS(address->host));
    snprintf(port, sizeof port, "%.*s", TEXT_ARGS(address->port));
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int result = address->is_unix ? EAI_FAMILY : getaddrinfo(host, port, &hints, &found);
    int file = result == 0 ? listen_on(found) : -1;
    if (file < 0)
        snprintf(problem, size, "review.address %.*s: %s", TEXT_ARGS(address->source),
                 result != 0 ? gai_strerror(result) : strerror(errno));
    if (found != NULL)
        freeaddrinfo(found);
    return file;
}

static void set_limits(struct evhttp *http)
{
    evhttp_set_max_headers_size(http, LIMIT_HTTP_HEADER_BYTES);
    /* More than is taken, so that a body that is too long gets an answer in our own words. */
    evhttp_set_max_body_size(http, 2 * LIMIT_HTTP_BODY_BYTES);
    evhttp_set_timeout(http, READ_TIMEOUT_S);
    evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
                                         EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS |
                                         EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
}

static bool open_socket(struct listener *listener, const struct listen_address *address,
                        char *problem, size_t size)
{
    int file = bind_address(address, problem, size);
    if (file < 0)
        return false;
    listener->port = bound_port(file);
    listener->socket = evhttp_accept_socket_with_handle(listener->http, file);
    INVARIANT(listener->socket != NULL);
    listener->accepting = true;
    return true;
}

struct listener *listener_open(struct event_base *base, const struct configuration *configuration,
                               void (*handle)(struct evhttp_request *request, void *context),
                               void *context, char *problem, size_t size)
{
    struct listener *listener = memory_allocate_zeroed(1, sizeof *listener);
    const struct tls_settings *tls = &configuration->review_tls;
    bool with_tls = tls->given && tls->mode != TLS_DISABLE;
    listener->http = evhttp_new(base);
    INVARIANT(listener->http != NULL);
    set_limits(listener->http);
    evhttp_set_bevcb(listener->http, begin_connection, listener);
    evhttp_set_gencb(listener->http, handle, context);
    if (with_tls)
        listener->tls = review_tls_new(tls, problem, size);
    if ((with_tls && listener->tls == NULL) ||
        !open_socket(listener, &configuration->review, problem, size)) {
        listener_close(listener);
        return NULL;
    }
    listener->sweep = event_new(base, -1, EV_PERSIST, sweep, listener);
    INVARIANT(listener->sweep != NULL);
    event_add(listener->sweep, &(struct timeval){.tv_sec = 1});
    return listener;
}

double listener_certificate_seconds(const struct listener *listener)
{
    return tls_certificate_seconds(listener->tls);
}

int listener_port(const struct listener *listener)
{
    return listener->port;
}

void listener_stop(struct listener *listener)
{
    listener->stopped = true;
    pace(listener);
}

void listener_close(struct listener *listener)
{
    if (listener == NULL)
        return;
    if (listener->sweep != NULL)
        event_free(listener->sweep);
    evhttp_free(listener->http);
    while (listener->connections != NULL)
        drop(listener, &listener->connections);
    SSL_CTX_free(listener->tls);
    free(listener);
}

static void connection_closed(struct evhttp_connection *closed, void *context)
{
    (void)closed;
    struct connection *connection = context;
    if (connection->gone != NULL)
        connection->gone(connection->context);
    connection->gone = NULL;
}

struct connection *connection_begin(struct listener *listener, struct evhttp_request *request,
                                    void (*gone)(void *context), void *context)
{
    struct evhttp_connection *http = evhttp_request_get_connection(request);
    struct connection *connection = listener->connections;
    while (connection != NULL && connection->stream != evhttp_connection_get_bufferevent(http))
        connection = connection->next;
    INVARIANT(connection != NULL);
    connection->deadline_us = 0;
    connection->gone = gone;
    connection->context = context;
    evhttp_connection_set_closecb(http, connection_closed, connection);
    return connection;
}

void connection_end(struct connection *connection, bool trusted)
{
    connection->deadline_us = clock_monotonic_us() + (trusted ? TRUSTED_US : STRANGER_US);
    connection->gone = NULL;
}

struct text connection_local(const struct connection *connection, struct arena *arena)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    if (getsockname(bufferevent_getfd(connection->stream), (struct sockaddr *)&address, &size) !=
            0 ||
        getnameinfo((struct sockaddr *)&address, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return TEXT("");
    return address.ss_family == AF_INET6 ? arena_printf(arena, "[%s]:%s", host, port)
                                         : arena_printf(arena, "%s:%s", host, port);
}

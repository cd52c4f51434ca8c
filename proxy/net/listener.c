/*
 * listener.c - see listener.h. Out of file descriptors, accepting pauses for a moment instead of spinning.
 */
#include "proxy/net/listener.h"

#include "proxy/base/invariant.h"
#include "proxy/base/log.h"

#include <errno.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTENERS_MAX = 32, BACKLOG = 1024, ACCEPTS_PER_TURN = 64, PAUSE_US = 100000 };

struct listener {
    int fd;
    bool is_unix;
    struct event *event;
    struct event *resume;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct listeners *all;
};

struct listeners {
    struct event_base *base;
    accepted *on_accept;
    void *context;
    struct listener items[LISTENERS_MAX];
    size_t count;
};

static void on_resume(evutil_socket_t fd, short events, void *argument)
{
    struct listener *listener = argument;
    (void)fd;
    (void)events;
    event_add(listener->event, NULL);
}

static void pause_accepting(struct listener *listener)
{
    const struct timeval pause = {.tv_usec = PAUSE_US};
    log_error("cannot accept connections: %s", strerror(errno));
    event_del(listener->event);
    event_add(listener->resume, &pause);
}

static void on_ready(evutil_socket_t fd, short events, void *argument)
{
    struct listener *listener = argument;
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        int client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client >= 0) {
            const int on = 1;
            if (!listener->is_unix) {
                setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
            }
            listener->all->on_accept(listener->all->context, client, listener->is_unix);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(listener);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

static bool add(struct listeners *all, int fd, bool is_unix, const char *path)
{
    if (all->count == LISTENERS_MAX) {
        close(fd);
        return false;
    }
    struct listener *listener = &all->items[all->count++];
    *listener = (struct listener){.fd = fd, .is_unix = is_unix, .all = all};
    snprintf(listener->path, sizeof listener->path, "%s", path);
    listener->event = event_new(all->base, fd, EV_READ | EV_PERSIST, on_ready, listener);
    listener->resume = evtimer_new(all->base, on_resume, listener);
    return event_add(listener->event, NULL) == 0;
}

/* A socket file that nobody listens on any more is left from an earlier run. */
static bool is_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool stale = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 &&
                 errno == ECONNREFUSED;
    close(fd);
    return stale;
}

static bool listen_unix(struct listeners *all, const struct listen_address *address)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int size = snprintf(name.sun_path, sizeof name.sun_path, "%.*s/.s.PGSQL.%.*s",
                        TEXT_ARGS(address->folder), TEXT_ARGS(address->port));
    if (size < 0 || (size_t)size >= sizeof name.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    if (is_stale(&name))
        unlink(name.sun_path);
    if (bind(fd, (const struct sockaddr *)&name, sizeof name) != 0 ||
        chmod(name.sun_path, 0777) != 0 || listen(fd, BACKLOG) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return false;
    }
    return add(all, fd, true, name.sun_path);
}

static bool listen_on(struct listeners *all, const struct addrinfo *info)
{
    const int on = 1;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return false;
    }
    return add(all, fd, false, "");
}

static bool listen_tcp(struct listeners *all, const struct listen_address *address)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(address->host.bytes, address->port.bytes, &hints, &found);
    if (error != 0) {
        errno = EADDRNOTAVAIL;
        return false;
    }
    bool listening = found != NULL;
    for (const struct addrinfo *info = found; info != NULL && listening; info = info->ai_next)
        listening = listen_on(all, info);
    freeaddrinfo(found);
    return listening;
}

struct listeners *listeners_start(struct event_base *base, const struct configuration *configuration,
                                  accepted *on_accept, void *context, char *problem, size_t size)
{
    struct listeners *all = memory_allocate_zeroed(1, sizeof *all);
    all->base = base;
    all->on_accept = on_accept;
    all->context = context;
    for (size_t i = 0; i < configuration->listen_count; i++) {
        const struct listen_address *address = &configuration->listen[i];
        bool listening = address->is_unix ? listen_unix(all, address) : listen_tcp(all, address);
        if (!listening) {
            snprintf(problem, size, "cannot listen on %.*s: %s", TEXT_ARGS(address->source),
                     strerror(errno));
            listeners_free(all);
            return NULL;
        }
    }
    return all;
}

void listeners_stop_accepting(struct listeners *all)
{
    for (size_t i = 0; i < all->count; i++) {
        event_del(all->items[i].event);
        event_del(all->items[i].resume);
        if (all->items[i].fd >= 0)
            close(all->items[i].fd);
        all->items[i].fd = -1;
        if (all->items[i].is_unix)
            unlink(all->items[i].path);
    }
}

void listeners_free(struct listeners *all)
{
    listeners_stop_accepting(all);
    for (size_t i = 0; i < all->count; i++) {
        event_free(all->items[i].event);
        event_free(all->items[i].resume);
    }
    free(all);
}

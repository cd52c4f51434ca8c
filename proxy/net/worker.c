/*
 * worker.c - see worker.h. The mailbox is a list under a mutex and an eventfd that wakes the loop.
 */
#include "proxy/net/worker.h"

#include "proxy/base/invariant.h"
#include "proxy/net/conn.h"
#include "proxy/net/server.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { BUCKETS = 256 };

struct link {
    struct conn *conn;
    struct link *next;
};

struct worker {
    struct server *server;
    struct metrics_thread *metrics;
    struct event_base *base;
    pthread_t thread;
    int wake;
    struct event *wake_event;
    pthread_mutex_t mutex; /* of the mailbox */
    struct worker_message *first;
    struct worker_message **last;
    struct link *buckets[BUCKETS];
    atomic_size_t count;
    bool stopping;
};

static _Atomic uint64_t next_number = 1;

struct event_base *worker_base(struct worker *worker) { return worker->base; }

struct server *worker_server(struct worker *worker) { return worker->server; }

struct metrics_thread *worker_metrics(struct worker *worker) { return worker->metrics; }

size_t worker_conns(struct worker *worker) { return atomic_load(&worker->count); }

/* --- the mailbox --------------------------------------------------------------------------------- */

struct worker_message *worker_message_new(enum worker_message_kind kind, uint64_t conn)
{
    struct worker_message *message = memory_allocate_zeroed(1, sizeof *message);
    message->kind = kind;
    message->conn = conn;
    message->fd = -1;
    arena_init(&message->arena);
    return message;
}

void worker_post(struct worker *worker, struct worker_message *message)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&worker->mutex);
    *worker->last = message;
    worker->last = &message->next;
    pthread_mutex_unlock(&worker->mutex);
    /* It can only fail when the counter is full, and then the loop wakes anyway. */
    (void)!write(worker->wake, &one, sizeof one);
}

static struct worker_message *take_all(struct worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    struct worker_message *all = worker->first;
    worker->first = NULL;
    worker->last = &worker->first;
    pthread_mutex_unlock(&worker->mutex);
    return all;
}

static struct conn *find(struct worker *worker, uint64_t number)
{
    struct link *link = worker->buckets[number % BUCKETS];
    while (link != NULL && conn_number(link->conn) != number)
        link = link->next;
    return link != NULL ? link->conn : NULL;
}

static void add(struct worker *worker, int fd, bool is_unix)
{
    uint64_t number = atomic_fetch_add(&next_number, 1);
    struct link *link = memory_allocate_zeroed(1, sizeof *link);
    link->conn = conn_open(worker, number, fd, is_unix);
    link->next = worker->buckets[number % BUCKETS];
    worker->buckets[number % BUCKETS] = link;
    atomic_fetch_add(&worker->count, 1);
}

static void deliver_to_all(struct worker *worker, struct worker_message *message)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct link *link = worker->buckets[i]; link != NULL; link = link->next)
            conn_deliver(link->conn, message);
}

static void release(struct worker_message *message)
{
    if (message->fd >= 0)
        close(message->fd);
    if (message->request != NULL) {
        arena_release(&message->request->arena);
        free(message->request);
    }
    arena_release(&message->arena);
    free(message);
}

/* What a connection keeps of a message (fd, request) it takes out of it. */
static void deliver(struct worker *worker, struct worker_message *message)
{
    struct conn *conn = message->conn != 0 ? find(worker, message->conn) : NULL;
    if (message->kind == WORKER_ACCEPTED) {
        add(worker, message->fd, message->is_unix);
        message->fd = -1;
    } else if (message->kind == WORKER_STOP) {
        worker->stopping = true;
        deliver_to_all(worker, message);
    } else if (conn != NULL) {
        conn_deliver(conn, message);
    } else if (message->conn == 0) {
        deliver_to_all(worker, message);
    }
    release(message);
}

static void sweep(struct worker *worker)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct link **at = &worker->buckets[i]; *at != NULL;) {
            struct link *link = *at;
            if (!conn_finished(link->conn)) {
                at = &link->next;
                continue;
            }
            *at = link->next;
            conn_free(link->conn);
            free(link);
            atomic_fetch_sub(&worker->count, 1);
        }
}

static void on_wake(evutil_socket_t fd, short events, void *argument)
{
    struct worker *worker = argument;
    uint64_t count;
    (void)events;
    (void)!read(fd, &count, sizeof count);
    for (struct worker_message *message = take_all(worker), *next; message != NULL; message = next) {
        next = message->next;
        deliver(worker, message);
    }
    sweep(worker);
    if (worker->stopping && worker_conns(worker) == 0)
        event_base_loopbreak(worker->base);
}

/* --- the thread ---------------------------------------------------------------------------------- */

static void *run(void *argument)
{
    struct worker *worker = argument;
    event_base_loop(worker->base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

struct worker *worker_start(struct server *server)
{
    struct worker *worker = memory_allocate_zeroed(1, sizeof *worker);
    worker->server = server;
    worker->metrics = metrics_join(server_metrics(server));
    worker->last = &worker->first;
    pthread_mutex_init(&worker->mutex, NULL);
    worker->base = event_base_new();
    worker->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    INVARIANT(worker->base != NULL && worker->wake >= 0);
    worker->wake_event = event_new(worker->base, worker->wake, EV_READ | EV_PERSIST, on_wake, worker);
    INVARIANT(event_add(worker->wake_event, NULL) == 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    INVARIANT(pthread_create(&worker->thread, &attributes, run, worker) == 0);
    pthread_attr_destroy(&attributes);
    return worker;
}

void worker_join(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
}

void worker_free(struct worker *worker)
{
    for (struct worker_message *message = take_all(worker), *next; message != NULL; message = next) {
        next = message->next;
        release(message);
    }
    event_free(worker->wake_event);
    event_base_free(worker->base);
    close(worker->wake);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

void worker_wake(struct worker *worker)
{
    worker_post(worker, worker_message_new(WORKER_SWEEP, 0));
}

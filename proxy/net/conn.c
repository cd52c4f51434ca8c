/*
 * conn.c - see conn.h. Each event reads what is there, lets door or session work on it, writes what came
 * of it, and then waits for exactly what is missing. A peer that does not read stops only its own
 * connection: the other side is not read while too much is waiting to be written.
 */
#include "proxy/net/conn_internal.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_AHEAD = 64 * 1024, CLOSING_SECONDS = 5 };

static const uint8_t edges[PHASE_COUNT] = { /* bit n: may become phase n */
    [PHASE_STARTUP] = 1u << PHASE_TLS | 1u << PHASE_SASL | 1u << PHASE_CLOSING | 1u << PHASE_CLOSED,
    [PHASE_TLS] = 1u << PHASE_STARTUP | 1u << PHASE_CLOSING | 1u << PHASE_CLOSED,
    [PHASE_SASL] = 1u << PHASE_UPSTREAM | 1u << PHASE_CLOSING | 1u << PHASE_CLOSED,
    [PHASE_UPSTREAM] = 1u << PHASE_SESSION | 1u << PHASE_CLOSING | 1u << PHASE_CLOSED,
    [PHASE_SESSION] = 1u << PHASE_CLOSING | 1u << PHASE_CLOSED,
    [PHASE_CLOSING] = 1u << PHASE_CLOSED,
};

void conn_become(struct conn *conn, enum conn_phase next)
{
    INVARIANT(next < PHASE_COUNT);
    INVARIANT(edges[conn->phase] & (1u << next));
    conn->phase = next;
}

uint64_t conn_number(const struct conn *conn) { return conn->number; }

bool conn_finished(const struct conn *conn) { return conn->phase == PHASE_CLOSED; }

void conn_to_client(struct conn *conn, const struct buffer *message)
{
    span_append(&conn->client.out, buffer_text(message));
}

/* --- events ------------------------------------------------------------------------------------- */

/* Only the socket that is ready is read: a call that finds nothing costs as much as one that does. */
static void on_socket(evutil_socket_t fd, short events, void *argument)
{
    struct conn *conn = argument;
    (void)events;
    conn->client_ready = fd == conn->client.fd;
    conn->server_ready = fd == conn->server.fd;
    conn_pump(conn);
    conn->client_ready = conn->server_ready = false;
}

static void on_timer(evutil_socket_t fd, short events, void *argument)
{
    struct conn *conn = argument;
    (void)fd;
    (void)events;
    if (conn->session != NULL)
        session_timer(conn->session);
    conn_pump(conn);
}

static void on_login_timer(evutil_socket_t fd, short events, void *argument)
{
    struct conn *conn = argument;
    (void)fd;
    (void)events;
    if (conn->phase == PHASE_CLOSING)
        conn_become(conn, PHASE_CLOSED);
    else
        door_fatal(conn, "57P03", TEXT("canceling authentication due to timeout"));
    conn_pump(conn);
}

static void wait_for(struct conn *conn, struct event **event, short *flags, int fd, short wanted)
{
    if (*event != NULL && *flags == wanted && event_get_fd(*event) == fd)
        return;
    if (*event != NULL)
        event_free(*event);
    *event = NULL;
    *flags = wanted;
    if (wanted == 0 || fd < 0)
        return;
    *event = event_new(worker_base(conn->worker), fd, (short)(wanted | EV_PERSIST), on_socket, conn);
    INVARIANT(*event != NULL && event_add(*event, NULL) == 0);
}

static size_t held(const struct span *span) { return span->end - span->start; }

/* How many bytes of input may be kept: enough for the message at the front. */
static size_t read_limit(const struct conn *conn)
{
    if (conn->phase != PHASE_SESSION)
        return READ_AHEAD;
    size_t need = session_client_need(conn->session, span_text(&conn->client.in));
    return need > READ_AHEAD ? need : READ_AHEAD;
}

static size_t read_limit_server(const struct conn *conn)
{
    size_t need = session_server_need(conn->session, span_text(&conn->server.in));
    return need > READ_AHEAD ? need : READ_AHEAD;
}

static short stream_wants(const struct stream *stream, bool read)
{
    short wants = 0;
    if (stream->state == STREAM_BROKEN || stream->fd < 0)
        return 0;
    if (read && stream->state == STREAM_OPEN)
        wants |= stream->read_wants_write ? EV_WRITE : EV_READ;
    if (!stream_drained(stream))
        wants |= stream->write_wants_read ? EV_READ : EV_WRITE;
    return wants;
}

static bool may_read_client(const struct conn *conn)
{
    return conn->phase != PHASE_CLOSING && held(&conn->server.out) < LIMIT_OUTPUT_HIGH_WATER &&
           held(&conn->client.in) < read_limit(conn);
}

static bool may_read_server(const struct conn *conn)
{
    return conn->phase == PHASE_SESSION && held(&conn->client.out) < LIMIT_OUTPUT_HIGH_WATER &&
           held(&conn->server.in) < read_limit_server(conn);
}

static void wait_for_more(struct conn *conn, short handshake)
{
    short client = conn->phase == PHASE_TLS ? handshake
                                            : stream_wants(&conn->client, may_read_client(conn));
    wait_for(conn, &conn->client_event, &conn->client_flags, conn->client.fd, client);
    if (conn->phase == PHASE_UPSTREAM)
        return; /* door_poll_upstream has set it */
    short server = conn->phase == PHASE_SESSION || conn->phase == PHASE_CLOSING
                       ? stream_wants(&conn->server, may_read_server(conn))
                       : 0;
    wait_for(conn, &conn->server_event, &conn->server_flags, conn->server.fd, server);
}

void conn_wait_upstream(struct conn *conn, int fd, bool write)
{
    wait_for(conn, &conn->server_event, &conn->server_flags, fd, write ? EV_WRITE : EV_READ);
}

/* --- the session's bytes --------------------------------------------------------------------------- */

static bool feed_session(struct conn *conn)
{
    size_t used = 0;
    struct text from_server = span_text(&conn->server.in);
    if (from_server.size > 0) {
        used = session_server_bytes(conn->session, from_server);
        span_use(&conn->server.in, used);
    }
    struct text from_client = span_text(&conn->client.in);
    if (from_client.size > 0 && !session_closed(conn->session)) {
        size_t taken = session_client_bytes(conn->session, from_client);
        span_use(&conn->client.in, taken);
        used += taken;
    }
    return used > 0;
}

/* What came before the end has been looked at; what is left will never be whole. */
static void tell_of_ends(struct conn *conn)
{
    struct session *session = conn->session;
    bool ended = conn->client.state != STREAM_OPEN;
    bool through = held(&conn->client.in) == 0 || session_takes_input(session) ||
                   session_waiting(session) || conn->client.state == STREAM_BROKEN;
    if (ended && through && !conn->client_gone_told) {
        conn->client_gone_told = true;
        session_client_gone(session);
    }
    if (conn->server.state != STREAM_OPEN && !session_closed(session))
        session_server_gone(session);
}

static void run_session(struct conn *conn)
{
    if (conn->client_ready && may_read_client(conn))
        stream_read(&conn->client, read_limit(conn));
    if (conn->server_ready && may_read_server(conn))
        stream_read(&conn->server, read_limit_server(conn));
    bool more = true;
    while (more && conn->phase == PHASE_SESSION) {
        more = feed_session(conn);
        stream_write(&conn->server);
        stream_write(&conn->client);
        if (may_read_server(conn) && stream_has_pending(&conn->server))
            more = stream_read(&conn->server, read_limit_server(conn)) || more;
        if (may_read_client(conn) && stream_has_pending(&conn->client))
            more = stream_read(&conn->client, read_limit(conn)) || more;
    }
    if (conn->phase == PHASE_SESSION)
        tell_of_ends(conn);
}

/* --- metrics ---------------------------------------------------------------------------------------- */

static enum session_activity activity_of(const struct conn *conn)
{
    if (conn->phase >= PHASE_CLOSING)
        return ACTIVITY_NONE;
    if (conn->session == NULL)
        return ACTIVITY_LOGIN;
    if (session_waiting(conn->session))
        return ACTIVITY_WAITING;
    return session_idle(conn->session) ? ACTIVITY_IDLE : ACTIVITY_ACTIVE;
}

static void count(struct conn *conn)
{
    struct metrics_thread *metrics = worker_metrics(conn->worker);
    const struct byte_counts now = {.from_agent = conn->client.read_total,
                                    .to_agent = conn->client.written_total,
                                    .to_upstream = conn->server.written_total,
                                    .from_upstream = conn->server.read_total};
    const struct byte_counts more = {.from_agent = now.from_agent - conn->counted.from_agent,
                                     .to_agent = now.to_agent - conn->counted.to_agent,
                                     .to_upstream = now.to_upstream - conn->counted.to_upstream,
                                     .from_upstream =
                                         now.from_upstream - conn->counted.from_upstream};
    count_bytes(metrics, &more);
    conn->counted = now;
    enum session_activity activity = activity_of(conn);
    count_activity(metrics, conn->activity, activity);
    conn->activity = activity;
}

/* --- the end ---------------------------------------------------------------------------------------- */

void conn_close(struct conn *conn)
{
    if (conn->phase == PHASE_CLOSING || conn->phase == PHASE_CLOSED)
        return;
    conn_become(conn, PHASE_CLOSING);
    const struct timeval limit = {.tv_sec = CLOSING_SECONDS};
    event_add(conn->login_timer, &limit);
    if (conn->upstream == NULL || conn->server.state != STREAM_OPEN)
        return;
    struct buffer terminate;
    buffer_init(&terminate, 64);
    build_terminate(&terminate);
    span_append(&conn->server.out, buffer_text(&terminate));
    buffer_release(&terminate);
}

static void finish_closing(struct conn *conn)
{
    stream_write(&conn->client);
    stream_write(&conn->server);
    bool client_done = stream_drained(&conn->client) || conn->client.state == STREAM_BROKEN;
    bool server_done = stream_drained(&conn->server) || conn->server.state == STREAM_BROKEN;
    if (!client_done || !server_done)
        return;
    conn_become(conn, PHASE_CLOSED);
    worker_wake(conn->worker);
}

static void pump(struct conn *conn)
{
    short handshake = 0;
    if (conn->phase == PHASE_STARTUP || conn->phase == PHASE_SASL) {
        stream_read(&conn->client, READ_AHEAD);
        door_read(conn);
    }
    if (conn->phase == PHASE_TLS)
        door_handshake(conn, &handshake);
    if (conn->phase == PHASE_UPSTREAM) {
        stream_read(&conn->client, READ_AHEAD);
        door_poll_upstream(conn);
    }
    if (conn->phase == PHASE_SESSION)
        run_session(conn);
    stream_write(&conn->client);
    if (conn->phase < PHASE_SESSION && conn->client.state != STREAM_OPEN)
        conn_close(conn);
    if (conn->phase == PHASE_CLOSING)
        finish_closing(conn);
    if (conn->phase != PHASE_CLOSED)
        wait_for_more(conn, handshake);
}

void conn_pump(struct conn *conn)
{
    if (conn->phase == PHASE_CLOSED)
        return;
    pump(conn);
    count(conn);
}

/* --- mailbox ------------------------------------------------------------------------------------------ */

static void deliver_to_session(struct conn *conn, struct worker_message *message)
{
    struct session *session = conn->session;
    switch (message->kind) {
    case WORKER_CANCEL:
        bridge_cancel(conn, message->fd);
        message->fd = -1;
        break;
    case WORKER_CANCEL_DONE:
        bridge_cancel_done(conn);
        break;
    case WORKER_CATALOG:
        session_catalog_refreshed(session, message->loaded);
        break;
    case WORKER_HOLD_ANSWER:
        session_hold_answer(session, message->request);
        message->request = NULL;
        break;
    case WORKER_HOLD_CHANGED:
        if (conn->watched == message->hold->id)
            session_hold_changed(session, message->hold);
        break;
    case WORKER_PAUSE:
        if (text_equal(conn->agent->name, message->agent))
            session_paused(session);
        break;
    case WORKER_SHUTDOWN:
        session_shutdown(session);
        break;
    case WORKER_ACCEPTED:
    case WORKER_SWEEP:
    case WORKER_STOP:
        break;
    }
}

void conn_deliver(struct conn *conn, struct worker_message *message)
{
    if (conn->phase == PHASE_CLOSED)
        return;
    if (message->kind == WORKER_STOP) {
        conn_become(conn, PHASE_CLOSED);
        return;
    }
    if (conn->phase == PHASE_SESSION)
        deliver_to_session(conn, message);
    else if (message->kind == WORKER_SHUTDOWN)
        door_fatal(conn, "57P03", TEXT("the database system is shutting down"));
    conn_pump(conn);
}

/* --- open and free ------------------------------------------------------------------------------------ */

static void find_address(struct conn *conn, int fd)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    if (conn->is_unix || getpeername(fd, (struct sockaddr *)&name, &size) != 0) {
        memcpy(conn->address, "[local]", sizeof "[local]");
        return;
    }
    if (name.ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&name;
        inet_ntop(AF_INET6, &v6->sin6_addr, conn->address, sizeof conn->address);
        conn->port = ntohs(v6->sin6_port);
    } else {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&name;
        inet_ntop(AF_INET, &v4->sin_addr, conn->address, sizeof conn->address);
        conn->port = ntohs(v4->sin_port);
    }
}

struct conn *conn_open(struct worker *worker, uint64_t number, int fd, bool is_unix)
{
    struct conn *conn = memory_allocate_zeroed(1, sizeof *conn);
    conn->worker = worker;
    conn->shared = worker_server(worker);
    conn->number = number;
    conn->is_unix = is_unix;
    conn->cancel_fd = -1;
    arena_init(&conn->arena);
    stream_init(&conn->client, fd, NULL, true);
    stream_init(&conn->server, -1, NULL, false);
    find_address(conn, fd);
    conn->configuration = server_configuration(conn->shared);
    conn->timer = evtimer_new(worker_base(worker), on_timer, conn);
    conn->login_timer = evtimer_new(worker_base(worker), on_login_timer, conn);
    INVARIANT(conn->timer != NULL && conn->login_timer != NULL);
    const struct timeval limit = {.tv_sec = conn->configuration->login_timeout_us / 1000000,
                                  .tv_usec = conn->configuration->login_timeout_us % 1000000};
    event_add(conn->login_timer, &limit);
    conn->counted_login = true;
    if (!server_begin_login(conn->shared))
        door_fatal(conn, "53300", TEXT("sorry, too many clients already"));
    conn_pump(conn);
    return conn;
}

void conn_free(struct conn *conn)
{
    count(conn);
    if (conn->client_event != NULL)
        event_free(conn->client_event);
    if (conn->server_event != NULL)
        event_free(conn->server_event);
    event_free(conn->timer);
    event_free(conn->login_timer);
    bridge_release(conn);
    door_release(conn);
    stream_close(&conn->client);
    stream_close(&conn->server);
    upstream_session_close(conn->upstream);
    configuration_release(conn->configuration);
    arena_release(&conn->arena);
    free(conn);
}

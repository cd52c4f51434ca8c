/*
 * bridge.c - the session's surroundings: streams, timer, clock, configuration, catalog, audit log, holds,
 * cancel. What other threads answer comes back through the worker's mailbox.
 */
#include "proxy/net/conn_internal.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"

#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

/* Configuration and catalog of one moment; counted by the conn and by judged statements. */
struct view_reference {
    size_t references;
    struct configuration *configuration;
    struct catalog *catalog;
    struct unprepared *unprepared;
    const struct agent *agent; /* NULL: no longer configured */
    uint64_t configuration_generation;
    uint64_t catalog_generation;
};

static void release_reference(struct view_reference *reference)
{
    if (reference == NULL || --reference->references > 0)
        return;
    catalog_release(reference->catalog);
    unprepared_release(reference->unprepared);
    configuration_release(reference->configuration);
    free(reference);
}

static struct view_reference *make_reference(struct conn *conn, uint64_t generation)
{
    struct upstream_view upstream;
    struct view_reference *reference = memory_allocate_zeroed(1, sizeof *reference);
    reference->references = 1;
    reference->configuration = server_configuration(conn->shared);
    reference->configuration_generation = generation;
    const struct agent *agent = configuration_agent(reference->configuration, conn->user);
    /* An agent that now has another upstream cannot go on in this session. */
    if (agent != NULL && text_equal(agent->upstream->name, conn->agent->upstream->name))
        reference->agent = agent;
    upstreams_view(server_upstreams(conn->shared), conn->agent->upstream->name, &upstream);
    reference->catalog = upstream.catalog;
    reference->catalog_generation = upstream.generation;
    reference->unprepared =
        upstreams_unprepared(server_upstreams(conn->shared), conn->agent->upstream->name);
    return reference;
}

static void port_view(void *context, struct session_view *view)
{
    struct conn *conn = context;
    uint64_t generation = server_generation(conn->shared);
    uint64_t catalog =
        upstreams_generation(server_upstreams(conn->shared), conn->agent->upstream->name);
    if (conn->view == NULL || conn->view->configuration_generation != generation ||
        conn->view->catalog_generation != catalog) {
        release_reference(conn->view);
        conn->view = make_reference(conn, generation);
    }
    struct view_reference *reference = conn->view;
    reference->references++;
    *view = (struct session_view){
        .reference = reference,
        .policy = reference->agent != NULL ? reference->agent->policy : NULL,
        .catalog = reference->catalog,
        .setting_values = reference->agent != NULL ? reference->agent->setting_values : NULL,
        .attributes = reference->agent != NULL ? reference->agent->attributes : NULL,
        .attribute_count = reference->agent != NULL ? reference->agent->attribute_count : 0,
        .unprepared = reference->unprepared != NULL ? reference->unprepared->names : NULL,
        .unprepared_count = reference->unprepared != NULL ? reference->unprepared->count : 0,
        .upstream_name = conn->agent->upstream->name,
        .generation = generation << 32 | (catalog & 0xffffffffu),
        .audit_raw = reference->configuration->audit_raw,
        .audit_continue = reference->configuration->audit_continue,
    };
    view->paused = agents_paused(server_agents(conn->shared), conn->user, &view->paused_at);
}

static void port_release_view(void *context, void *reference)
{
    (void)context;
    release_reference(reference);
}

/* --- streams and time ------------------------------------------------------------------------------ */

static void port_to_client(void *context, struct text bytes)
{
    struct conn *conn = context;
    span_append(&conn->client.out, bytes);
}

static void port_to_server(void *context, struct text bytes)
{
    struct conn *conn = context;
    span_append(&conn->server.out, bytes);
}

static void port_close(void *context, enum session_end why)
{
    struct conn *conn = context;
    if (why == SESSION_END_INTERNAL)
        log_error("session %s ended: unexpected state", conn->session_id);
    conn_close(conn);
}

static struct instant port_now(void *context)
{
    (void)context;
    return clock_now();
}

static int64_t port_monotonic(void *context)
{
    (void)context;
    return clock_monotonic_us();
}

static void port_set_timer(void *context, int64_t after_us)
{
    struct conn *conn = context;
    const struct timeval after = {.tv_sec = after_us / 1000000, .tv_usec = after_us % 1000000};
    if (after_us > 0)
        event_add(conn->timer, &after);
    else
        event_del(conn->timer);
}

/* --- catalog, audit, cancel ---------------------------------------------------------------------------- */

static bool port_refresh_catalog(void *context)
{
    struct conn *conn = context;
    return upstreams_refresh(server_upstreams(conn->shared), conn->agent->upstream->name,
                             conn->worker, conn->number);
}

static bool port_audit(void *context, const struct audit_record *record)
{
    const struct conn *conn = context;
    bool written = server_audit(conn->shared, record);
    bool needed = conn->view == NULL || !conn->view->configuration->audit_continue;
    count_record(worker_metrics(conn->worker), record, written || !needed);
    return written;
}

/* Where an answer from another thread goes; owned by the question. */
struct address {
    struct worker *worker;
    uint64_t conn;
};

static struct address *make_address(const struct conn *conn)
{
    struct address *address = memory_allocate(sizeof *address);
    *address = (struct address){.worker = conn->worker, .conn = conn->number};
    return address;
}

static void on_cancel_done(void *argument, bool delivered, const char *problem)
{
    struct address *address = argument;
    if (!delivered)
        log_warning("cancel was not delivered: %s", problem);
    worker_post(address->worker, worker_message_new(WORKER_CANCEL_DONE, address->conn));
    free(address);
}

static void port_cancel_server(void *context)
{
    struct conn *conn = context;
    struct address *address = make_address(conn);
    if (!upstream_cancel(conn->upstream, on_cancel_done, address))
        on_cancel_done(address, false, "too many cancels are under way");
}

static void close_cancel(struct conn *conn)
{
    if (conn->cancel_fd >= 0)
        close(conn->cancel_fd);
    conn->cancel_fd = -1;
}

void bridge_cancel(struct conn *conn, int fd)
{
    close_cancel(conn);
    conn->cancel_fd = fd;
    if (!session_cancel_requested(conn->session))
        close_cancel(conn);
}

void bridge_cancel_done(struct conn *conn)
{
    close_cancel(conn);
    session_cancel_done(conn->session);
}

/* --- holds ----------------------------------------------------------------------------------------------- */

/* On the store's thread. */
static void on_hold_answer(struct hold_request *request)
{
    struct address *address = request->owner;
    struct worker_message *message = worker_message_new(WORKER_HOLD_ANSWER, address->conn);
    message->request = request;
    worker_post(address->worker, message);
    free(address);
}

static bool port_is_approver(void *context, struct text name, struct text policy)
{
    const struct conn *conn = context;
    struct configuration *configuration = server_configuration(conn->shared);
    bool found = false;
    for (size_t i = 0; i < configuration->approver_count && !found; i++) {
        const struct approver *approver = &configuration->approvers[i];
        const struct hold hold = {.policy = policy};
        found = text_equal(approver->name, name) &&
                hold_visible(&hold, approver->policies, approver->policy_count);
    }
    configuration_release(configuration);
    return found;
}

static bool port_post_hold(void *context, struct hold_request *request)
{
    struct conn *conn = context;
    struct hold_store *store = server_holds(conn->shared);
    if (store == NULL)
        return false;
    request->owner = make_address(conn);
    request->done = on_hold_answer;
    hold_store_post(store, request);
    return true;
}

static void port_watch_hold(void *context, int64_t id)
{
    struct conn *conn = context;
    conn->watched = id;
}

/* With the limits of now. */
static const struct agent *present_agent(const struct conn *conn)
{
    return conn->view != NULL && conn->view->agent != NULL ? conn->view->agent : conn->agent;
}

static bool port_begin_waiting(void *context)
{
    struct conn *conn = context;
    return agents_begin_waiting(server_agents(conn->shared), present_agent(conn));
}

static int64_t port_begin_rehearsal(void *context)
{
    struct conn *conn = context;
    return agents_begin_rehearsal(server_agents(conn->shared), present_agent(conn), clock_now());
}

static void port_end_waiting(void *context)
{
    struct conn *conn = context;
    agents_end_waiting(server_agents(conn->shared), conn->user);
}

/* --- metrics --------------------------------------------------------------------------------------------- */

static void port_measured(void *context, enum session_measure what, double value)
{
    const struct conn *conn = context;
    count_measure(worker_metrics(conn->worker), what, value);
}

static void port_told_error(void *context, struct text sqlstate)
{
    const struct conn *conn = context;
    count_error(worker_metrics(conn->worker), sqlstate);
}

/* --- the session ------------------------------------------------------------------------------------------- */

static const struct session_port port_functions = {
    .to_client = port_to_client,
    .to_server = port_to_server,
    .close = port_close,
    .now = port_now,
    .monotonic_us = port_monotonic,
    .set_timer = port_set_timer,
    .view = port_view,
    .release_view = port_release_view,
    .refresh_catalog = port_refresh_catalog,
    .audit = port_audit,
    .cancel_server = port_cancel_server,
    .is_approver = port_is_approver,
    .post_hold = port_post_hold,
    .watch_hold = port_watch_hold,
    .begin_waiting = port_begin_waiting,
    .end_waiting = port_end_waiting,
    .begin_rehearsal = port_begin_rehearsal,
    .measured = port_measured,
    .told_error = port_told_error,
};

static void greet(struct conn *conn)
{
    struct buffer out;
    buffer_init(&out, LIMIT_BACKEND_MESSAGE_BYTES);
    for (size_t i = 0; i < conn->upstream->parameter_count; i++)
        build_parameter_status(&out, conn->upstream->parameters[i].name,
                               conn->upstream->parameters[i].value);
    build_key_data(&out, conn->key.pid, conn->key.secret);
    build_ready(&out, 'I');
    conn_to_client(conn, &out);
    buffer_release(&out);
}

/* The server itself must have what every judgement assumes. */
static bool assumptions_hold(const struct conn *conn)
{
    return text_is(upstream_session_parameter(conn->upstream, "standard_conforming_strings"), "on") &&
           text_is(upstream_session_parameter(conn->upstream, "client_encoding"), "UTF8");
}

void bridge_open_session(struct conn *conn)
{
    struct upstream_view view;
    if (!assumptions_hold(conn)) {
        door_fatal(conn, "57P03",
                   TEXT("pgwicket: the server did not take standard_conforming_strings and "
                        "client_encoding as asked"));
        return;
    }
    conn_become(conn, PHASE_SESSION);
    stream_init(&conn->server, conn->upstream->fd, conn->upstream->ssl, false);
    conn->key = agents_add_key(server_agents(conn->shared), conn->worker, conn->number,
                               text_from(conn->session_id));
    conn->has_key = true;
    greet(conn);
    upstreams_view(server_upstreams(conn->shared), conn->agent->upstream->name, &view);
    const struct session_setup setup = {
        .agent = conn->user,
        .session_id = text_from(conn->session_id),
        .client_address = text_from(conn->address),
        .client_port = conn->port,
        .database = text_from(view.facts.database),
        .server_version = conn->upstream->server_version,
        .statement_timeout_us = conn->statement_timeout_us,
        .settings = conn->settings_at_start,
        .setting_count = conn->settings_at_start_count,
    };
    struct session_port port = port_functions;
    port.context = conn;
    conn->session = session_new(&port, &setup);
    count_login(worker_metrics(conn->worker), TEXT(""));
    catalog_release(view.catalog);
}

void bridge_release(struct conn *conn)
{
    session_free(conn->session);
    conn->session = NULL;
    close_cancel(conn);
    if (conn->has_key)
        agents_remove_key(server_agents(conn->shared), conn->key.pid);
    release_reference(conn->view);
}

/*
 * door.c - from the first byte to a session: start-up packet, TLS, SCRAM, then the login upstream.
 *
 * Nothing is opened upstream before the client has proved who it is. An unknown name runs the same exchange as
 * a known one and fails like a wrong password. All errors here are FATAL and end the connection.
 */
#include "proxy/net/conn_internal.h"

#include "proxy/base/digest.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/net/tls.h"
#include "proxy/wire/frame.h"
#include "proxy/wire/frontend.h"
#include "rules/setting_value.h"

#include <event2/event.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 63, SETTINGS_MAX = 256 };

void door_fatal(struct conn *conn, const char *sqlstate, struct text message)
{
    if (conn->phase == PHASE_CLOSING || conn->phase == PHASE_CLOSED)
        return;
    struct metrics_thread *metrics = worker_metrics(conn->worker);
    count_login(metrics, text_from(sqlstate));
    count_error(metrics, text_from(sqlstate));
    const struct error_message error = {
        .severity = "FATAL", .sqlstate = sqlstate, .message = message};
    struct buffer out;
    buffer_init(&out, LIMIT_BACKEND_MESSAGE_BYTES);
    build_error(&out, &error);
    conn_to_client(conn, &out);
    buffer_release(&out);
    conn_close(conn);
}

static void send_byte(struct conn *conn, char byte)
{
    span_append(&conn->client.out, (struct text){&byte, 1});
}

static void end_login(struct conn *conn)
{
    if (conn->counted_login)
        server_end_login(conn->shared);
    conn->counted_login = false;
}

void door_release(struct conn *conn)
{
    end_login(conn);
    scram_free(conn->scram);
    upstream_login_free(conn->login);
    if (conn->entered)
        agents_leave(server_agents(conn->shared), conn->agent->name);
}

/* --- TLS -------------------------------------------------------------------------------------------- */

static void start_tls(struct conn *conn, SSL_CTX *context)
{
    conn->client.ssl = SSL_new(context);
    SSL_CTX_free(context);
    if (conn->client.ssl == NULL) {
        conn_close(conn);
        return;
    }
    INVARIANT(SSL_set_fd(conn->client.ssl, conn->client.fd) == 1);
    SSL_set_accept_state(conn->client.ssl);
    conn_become(conn, PHASE_TLS);
}

void door_handshake(struct conn *conn, short *wants)
{
    ERR_clear_error();
    int result = SSL_do_handshake(conn->client.ssl);
    if (result == 1) {
        conn_become(conn, PHASE_STARTUP);
        stream_read(&conn->client, LIMIT_STARTUP_BYTES);
        door_read(conn);
        return;
    }
    switch (SSL_get_error(conn->client.ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *wants = EV_READ;
        break;
    case SSL_ERROR_WANT_WRITE:
        *wants = EV_WRITE;
        break;
    default:
        conn->client.state = STREAM_BROKEN;
        conn_close(conn);
        break;
    }
}

/* 'S' must leave before the handshake and in the clear. */
static bool write_plain_now(struct conn *conn)
{
    stream_write(&conn->client);
    return stream_drained(&conn->client);
}

static void on_ssl_request(struct conn *conn)
{
    SSL_CTX *context = conn->is_unix || conn->client.ssl != NULL ? NULL : server_tls(conn->shared);
    if (conn->asked_ssl) {
        SSL_CTX_free(context);
        door_fatal(conn, "0A000",
                   TEXT("unsupported frontend protocol 1234.5679: server supports 3.0 to 3.0"));
        return;
    }
    conn->asked_ssl = true;
    if (context == NULL) {
        send_byte(conn, 'N');
    } else if (conn->client.in.start != conn->client.in.end) {
        SSL_CTX_free(context);
        door_fatal(conn, "08P01", TEXT("received unencrypted data after SSL request"));
    } else {
        send_byte(conn, 'S');
        if (write_plain_now(conn)) {
            start_tls(conn, context);
        } else {
            SSL_CTX_free(context);
            conn_close(conn);
        }
    }
}

/* --- who is it ------------------------------------------------------------------------------------------ */

static struct text parameter(const struct conn *conn, const char *name)
{
    for (size_t i = 0; i < conn->parameter_count; i++)
        if (text_is(conn->parameters[i].name, name))
            return conn->parameters[i].value;
    return TEXT("");
}

static void keep_parameters(struct conn *conn, const struct startup_packet *packet)
{
    conn->parameters = arena_array(&conn->arena, packet->parameter_count, sizeof *conn->parameters);
    conn->parameter_count = packet->parameter_count;
    for (size_t i = 0; i < packet->parameter_count; i++)
        conn->parameters[i] = (struct startup_parameter){
            .name = arena_text(&conn->arena, packet->parameters[i].name),
            .value = arena_text(&conn->arena, packet->parameters[i].value)};
    conn->user = text_cut(parameter(conn, "user"), NAME_MAX_BYTES);
}

static void negotiate(struct conn *conn, const struct startup_packet *packet)
{
    struct text options[STARTUP_PARAMETERS_MAX];
    uint32_t count = 0;
    for (size_t i = 0; i < conn->parameter_count; i++)
        if (text_starts_with(conn->parameters[i].name, "_pq_."))
            options[count++] = conn->parameters[i].name;
    if ((packet->version & 0xffff) == 0 && count == 0)
        return;
    struct buffer out;
    buffer_init(&out, LIMIT_STARTUP_BYTES * 2);
    build_negotiate(&out, 0, options, count);
    conn_to_client(conn, &out);
    buffer_release(&out);
}

static void start_scram(struct conn *conn)
{
    struct scram_verifier verifier;
    uint8_t endpoint[TLS_ENDPOINT_MAX];
    size_t endpoint_size = conn->client.ssl != NULL ? tls_endpoint(conn->client.ssl, endpoint) : 0;
    conn->agent = configuration_agent(conn->configuration, conn->user);
    bool known = conn->agent != NULL && conn->agent->has_secret;
    if (known)
        verifier = conn->agent->verifier;
    else
        scram_verifier_mock(conn->user, &verifier);
    conn->scram =
        scram_start(&verifier, known, (struct text){(const char *)endpoint, endpoint_size});
    struct buffer out;
    buffer_init(&out, 1024);
    build_auth_sasl(&out, endpoint_size > 0);
    conn_to_client(conn, &out);
    buffer_release(&out);
    conn_become(conn, PHASE_SASL);
}

static bool wants_replication(struct text value)
{
    static const char *const no[] = {"false", "off", "no", "0", ""};
    for (size_t i = 0; i < ARRAY_SIZE(no); i++)
        if (text_is_ignoring_case(value, no[i]))
            return false;
    return true;
}

static void on_session(struct conn *conn, const struct startup_packet *packet)
{
    bool tls_missing = conn->configuration->listen_tls.given &&
                       conn->configuration->listen_tls.mode == TLS_REQUIRE && !conn->is_unix &&
                       conn->client.ssl == NULL;
    keep_parameters(conn, packet);
    if (tls_missing)
        door_fatal(conn, "28000", TEXT("pgwicket: this address accepts only TLS connections"));
    else if (conn->user.size == 0)
        door_fatal(conn, "28000", TEXT("no PostgreSQL user name specified in startup packet"));
    else if (wants_replication(parameter(conn, "replication")))
        door_fatal(conn, "0A000", TEXT("pgwicket: replication connections are not allowed"));
    else {
        negotiate(conn, packet);
        start_scram(conn);
    }
}

/* --- start-up packets -------------------------------------------------------------------------------------- */

static void on_cancel(struct conn *conn, const struct startup_packet *packet)
{
    struct worker *worker;
    uint64_t number;
    const struct cancel_key key = {.pid = packet->cancel_pid, .secret = packet->cancel_secret};
    if (agents_find_key(server_agents(conn->shared), key, &worker, &number)) {
        struct worker_message *message = worker_message_new(WORKER_CANCEL, number);
        if (conn->client.ssl == NULL) {
            /* The socket is closed when the server has taken the cancel: clients wait for that. */
            message->fd = conn->client.fd;
            conn->client.fd = -1;
        }
        worker_post(worker, message);
    }
    conn_close(conn);
}

static void read_startup(struct conn *conn)
{
    struct startup_packet packet;
    startup_read(span_text(&conn->client.in), &packet);
    if (packet.kind == STARTUP_PARTIAL)
        return;
    if (packet.kind == STARTUP_BAD || packet.kind == STARTUP_TLS_HELLO) {
        conn_close(conn); /* TLS begins with an SSLRequest here */
        return;
    }
    if (packet.kind == STARTUP_SESSION)
        on_session(conn, &packet);
    span_use(&conn->client.in, packet.size);
    switch (packet.kind) {
    case STARTUP_SSL_REQUEST:
        on_ssl_request(conn);
        break;
    case STARTUP_GSS_REQUEST:
        send_byte(conn, 'N');
        break;
    case STARTUP_CANCEL:
        on_cancel(conn, &packet);
        break;
    case STARTUP_OLD_PROTOCOL:
        door_fatal(conn, "0A000", TEXT("unsupported frontend protocol: server supports 3.0 to 3.0"));
        break;
    case STARTUP_BAD_LAYOUT:
        door_fatal(conn, "08P01",
                   TEXT("invalid startup packet layout: expected terminator as last byte"));
        break;
    case STARTUP_SESSION:
    case STARTUP_BAD:
    case STARTUP_PARTIAL:
    case STARTUP_TLS_HELLO:
        break;
    }
}

/* --- SCRAM ------------------------------------------------------------------------------------------------------ */

static bool audit_session(struct conn *conn, const char *outcome, const char *sqlstate)
{
    struct audit_record record;
    audit_record_init(&record, AUDIT_SESSION, clock_now());
    record.outcome = text_from(outcome);
    record.sqlstate = text_from(sqlstate);
    record.client_address = text_from(conn->address);
    record.client_port = conn->port;
    record.agent = conn->user;
    record.session = text_from(conn->session_id);
    if (conn->agent != NULL)
        record.policy = conn->agent->policy->name;
    return server_audit(conn->shared, &record) || conn->configuration->audit_continue;
}

static bool database_is_right(const struct conn *conn, const struct upstream_view *view)
{
    struct text wanted = parameter(conn, "database");
    return wanted.size == 0 || text_equal(wanted, conn->agent->upstream->name) ||
           text_is(wanted, view->facts.database);
}

static bool is_setting(struct text name)
{
    static const char *const others[] = {"user", "database", "options", "replication",
                                         "application_name"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (text_is(name, others[i]))
            return false;
    return !text_starts_with(name, "_pq_.");
}

struct wanted_settings {
    struct upstream_parameter items[SETTINGS_MAX];
    size_t count;
    struct text refused; /* the first that may not be set */
};

static void want(struct wanted_settings *wanted, struct text name, struct text value)
{
    if (wanted->count < SETTINGS_MAX)
        wanted->items[wanted->count++] = (struct upstream_parameter){.name = name, .value = value};
    else
        wanted->refused = name;
}

/* client_encoding is pinned to UTF8; its other spellings are accepted. */
static bool is_utf8(struct text value)
{
    static const char *const names[] = {"utf8", "utf-8", "'utf8'", "'utf-8'", "unicode", "utf_8"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (text_is_ignoring_case(value, names[i]))
            return true;
    return false;
}

static void want_of_agent(struct conn *conn, const struct decide_context *context, struct wanted_settings *wanted,
                          struct text name, struct text value)
{
    if (text_is_ignoring_case(name, "client_encoding") && is_utf8(value))
        return;
    if (!setting_startup_passes(context, name, value) || wanted->count == SETTINGS_MAX) {
        wanted->refused = name;
        return;
    }
    want(wanted, name, value);
    conn->settings_at_start[conn->settings_at_start_count++] = setting_lower_case(&conn->arena, name);
}

/* Policy first, then what the agent asks for and may have. */
static void collect_settings(struct conn *conn, const struct decide_context *context,
                             struct wanted_settings *wanted)
{
    struct startup_parameter options[64];
    size_t count;
    *wanted = (struct wanted_settings){0};
    conn->settings_at_start = arena_array(&conn->arena, SETTINGS_MAX, sizeof *conn->settings_at_start);
    conn->settings_at_start_count = 0;
    const struct setting_value *start = settings_at_start(&conn->arena, context, &count);
    for (size_t i = 0; i < count; i++)
        want(wanted, start[i].name, start[i].value);
    struct text name = parameter(conn, "application_name");
    want(wanted, TEXT("application_name"), name.size > 0 ? name : TEXT("pgwicket"));
    for (size_t i = 0; i < conn->parameter_count; i++)
        if (is_setting(conn->parameters[i].name))
            want_of_agent(conn, context, wanted, conn->parameters[i].name, conn->parameters[i].value);
    if (!startup_options(&conn->arena, parameter(conn, "options"), options, ARRAY_SIZE(options),
                         &count)) {
        wanted->refused = TEXT("options");
        return;
    }
    for (size_t i = 0; i < count; i++)
        want_of_agent(conn, context, wanted, options[i].name, options[i].value);
}

/* The last one counts, as in the server. */
static void note_timeout(struct conn *conn, const struct wanted_settings *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        int64_t ms;
        if (text_is(wanted->items[i].name, "statement_timeout") &&
            setting_timeout_ms(wanted->items[i].value, &ms))
            conn->statement_timeout_us = ms * 1000;
    }
}

static void log_in_upstream(struct conn *conn, const struct upstream_view *view)
{
    char problem[512];
    struct wanted_settings *wanted = arena_allocate(&conn->arena, sizeof *wanted);
    const struct decide_context context = {.policy = conn->agent->policy,
                                           .catalog = view->catalog,
                                           .setting_values = conn->agent->setting_values};
    collect_settings(conn, &context, wanted);
    note_timeout(conn, wanted);
    if (wanted->refused.size > 0) {
        door_fatal(conn, "42501",
                   arena_printf(&conn->arena, "pgwicket: startup parameter \"%.*s\" may not be set",
                                TEXT_ARGS(wanted->refused)));
        return;
    }
    conn->login = upstream_login_start(conn->agent->upstream->connection.bytes, wanted->items,
                                       wanted->count, problem, sizeof problem);
    if (conn->login == NULL) {
        log_error("upstream %s: %s", conn->agent->upstream->name.bytes, problem);
        door_fatal(conn, "57P03", TEXT("pgwicket: the database cannot be reached at the moment"));
        return;
    }
    conn_become(conn, PHASE_UPSTREAM);
    const struct timeval limit = {.tv_sec = conn->configuration->login_timeout_us / 1000000};
    event_add(conn->login_timer, &limit);
}

static void enter(struct conn *conn)
{
    struct upstream_view view;
    bool known = upstreams_view(server_upstreams(conn->shared), conn->agent->upstream->name, &view);
    enum enter_result result = agents_enter(server_agents(conn->shared), conn->agent);
    conn->entered = result == ENTER_OK;
    if (result == ENTER_TOO_MANY)
        door_fatal(conn, "53300",
                   TEXT("pgwicket: too many sessions of this agent are open; close one, then try again"));
    else if (result == ENTER_PAUSED)
        door_fatal(conn, "55PW4",
                   TEXT("pgwicket: this agent is paused by an operator; stop working on the database "
                        "and do not retry until told"));
    else if (server_draining(conn->shared))
        door_fatal(conn, "57P03", TEXT("the database system is shutting down"));
    else if (!known || view.catalog == NULL || view.refused[0] != '\0')
        door_fatal(conn, "57P03", TEXT("pgwicket: the database cannot be reached at the moment"));
    else if (!database_is_right(conn, &view))
        door_fatal(conn, "3D000",
                   arena_printf(&conn->arena, "database \"%.*s\" does not exist",
                                TEXT_ARGS(parameter(conn, "database"))));
    else if (!audit_session(conn, "login", ""))
        door_fatal(conn, "58030",
                   TEXT("pgwicket: the audit log cannot be written, so nobody is let in"));
    else
        log_in_upstream(conn, &view);
    catalog_release(view.catalog);
}

static void reject_login(struct conn *conn)
{
    struct scram_failure failure = scram_failure(conn->scram);
    (void)!audit_session(conn, "login refused", failure.sqlstate);
    door_fatal(conn, failure.sqlstate,
               failure.message != NULL
                   ? text_from(failure.message)
                   : arena_printf(&conn->arena, "password authentication failed for user \"%.*s\"",
                                  TEXT_ARGS(conn->user)));
}

static void on_sasl(struct conn *conn, struct text body)
{
    struct text reply = TEXT("");
    struct buffer out;
    buffer_init(&out, LIMIT_AUTH_MESSAGE_BYTES);
    enum scram_result result = scram_step(conn->scram, body, &reply);
    if (result == SCRAM_CONTINUE) {
        build_auth_sasl_continue(&out, reply);
        conn_to_client(conn, &out);
    } else if (result == SCRAM_DONE) {
        build_auth_sasl_final(&out, reply);
        build_auth_ok(&out);
        conn_to_client(conn, &out);
        end_login(conn);
        event_del(conn->login_timer);
        uint8_t id[8];
        random_bytes(id, sizeof id);
        hex_from_bytes(id, sizeof id, conn->session_id);
        enter(conn);
    } else {
        reject_login(conn);
    }
    buffer_release(&out);
}

static void read_sasl(struct conn *conn)
{
    struct frame frame;
    enum frame_result result =
        frame_read(span_text(&conn->client.in), LIMIT_AUTH_MESSAGE_BYTES, &frame);
    if (result == FRAME_BAD || (frame.size > 0 && frame.type != FRONTEND_PASSWORD)) {
        door_fatal(conn, "08P01", TEXT("expected SASL response"));
        return;
    }
    if (result == FRAME_PARTIAL)
        return;
    on_sasl(conn, frame.body);
    span_use(&conn->client.in, frame.size);
}

void door_read(struct conn *conn)
{
    size_t before = SIZE_MAX;
    while (conn->client.in.end - conn->client.in.start > 0) {
        enum conn_phase phase = conn->phase;
        size_t held = conn->client.in.end - conn->client.in.start;
        if (held == before && phase != PHASE_STARTUP && phase != PHASE_SASL)
            return;
        before = held;
        if (phase == PHASE_STARTUP)
            read_startup(conn);
        else if (phase == PHASE_SASL)
            read_sasl(conn);
        else
            return;
        if (conn->phase == phase && conn->client.in.end - conn->client.in.start == held)
            return;
    }
}

/* --- upstream ------------------------------------------------------------------------------------------------------- */

void door_poll_upstream(struct conn *conn)
{
    switch (upstream_login_poll(conn->login)) {
    case UPSTREAM_WANTS_READ:
        conn_wait_upstream(conn, upstream_login_socket(conn->login), false);
        break;
    case UPSTREAM_WANTS_WRITE:
        conn_wait_upstream(conn, upstream_login_socket(conn->login), true);
        break;
    case UPSTREAM_DONE:
        conn->upstream = upstream_login_take(conn->login);
        conn->login = NULL;
        event_del(conn->login_timer);
        bridge_open_session(conn);
        break;
    case UPSTREAM_FAILED: {
        const struct upstream_error *error = upstream_login_error(conn->login);
        log_warning("upstream %s: %s", conn->agent->upstream->name.bytes, error->detail);
        door_fatal(conn, error->sqlstate, text_from(error->message));
        break;
    }
    }
}

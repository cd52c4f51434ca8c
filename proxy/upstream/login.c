/*
 * login.c - the states of a login: libpq connects, the hand-over is proven, the session is taken.
 *
 * A failure in any state is final and described in the login's error. What libpq says about a
 * failure is one text; it is asked for the verbose form, in which the server's SQLSTATE stands.
 */
#include "proxy/upstream/login.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/upstream/conninfo.h"
#include "proxy/upstream/handover.h"
#include "proxy/upstream/trace.h"

#include <libpq-fe.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum login_state { LOGIN_FAILED = 0, LOGIN_CONNECTING, LOGIN_PROVING, LOGIN_PROVEN };

struct upstream_login {
    enum login_state state;
    PGconn *connection;
    struct trace *trace;
    struct upstream_session *session; /* from LOGIN_PROVING on; owns the connection then */
    struct handover handover;
    struct upstream_error error;
};

/* --- start ---------------------------------------------------------------------------------- */

/* Notices of the login (ALTER ROLE … SET of an unknown value, say) are for nobody. */
static void drop_notice(void *argument, const PGresult *result)
{
    (void)argument;
    (void)result;
}

static struct upstream_login *login_new(PGconn *connection)
{
    struct upstream_login *login = memory_allocate_zeroed(1, sizeof *login);
    login->state = LOGIN_CONNECTING;
    login->connection = connection;
    login->trace = trace_new(connection);
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    PQsetNoticeReceiver(connection, drop_notice, NULL);
    return login;
}

struct upstream_login *upstream_login_start(const char *connection_string,
                                            const struct upstream_parameter *settings,
                                            size_t setting_count, char *problem,
                                            size_t problem_size)
{
    struct conninfo info;
    struct upstream_login *login = NULL;
    if (conninfo_build(&info, connection_string, settings, setting_count, problem, problem_size)) {
        PGconn *connection = PQconnectStartParams(info.keywords, info.values, 0);
        INVARIANT(connection != NULL); /* out of memory is the only reason */
        login = login_new(connection);
    }
    conninfo_release(&info);
    return login;
}

/* --- failure -------------------------------------------------------------------------------- */

static void copy_in_one_line(char *out, size_t size, struct text text)
{
    text = text_cut(text, size - 1);
    while (text.size > 0 && (unsigned char)text.bytes[text.size - 1] <= ' ')
        text.size--;
    for (size_t i = 0; i < text.size; i++)
        out[i] = (unsigned char)text.bytes[i] < ' ' ? ' ' : text.bytes[i];
    out[text.size] = '\0';
}

static bool is_sqlstate(const char *at)
{
    for (size_t i = 0; i < 5; i++)
        if (!(at[i] >= '0' && at[i] <= '9') && !(at[i] >= 'A' && at[i] <= 'Z'))
            return false;
    return at[5] == ':' && at[6] == ' ';
}

/* "FATAL:  28P01: password authentication failed …": the SQLSTATE of the last such line, for
 * several hosts give several; NULL if no server has spoken. The severity is translated, so it is
 * not looked at. */
static const char *find_sqlstate(const char *libpq_text)
{
    const char *last = NULL;
    for (const char *at = libpq_text; (at = strstr(at, ":  ")) != NULL; at += 3)
        if (is_sqlstate(at + 3))
            last = at + 3;
    return last;
}

static void describe_failure(struct upstream_error *error, const char *libpq_text)
{
    *error = (struct upstream_error){.sqlstate = "57P03"};
    snprintf(error->message, sizeof error->message,
             "the database cannot be reached at the moment; try again later");
    copy_in_one_line(error->detail, sizeof error->detail, text_from(libpq_text));

    const char *sqlstate = find_sqlstate(libpq_text);
    bool own_credentials = sqlstate != NULL && strncmp(sqlstate, "28", 2) == 0;
    if (sqlstate == NULL || own_credentials)
        return;
    error->from_server = true;
    memcpy(error->sqlstate, sqlstate, 5);
    const char *message = sqlstate + 7;
    copy_in_one_line(error->message, sizeof error->message,
                     (struct text){message, strcspn(message, "\n")});
}

static enum upstream_progress fail(struct upstream_login *login, const char *libpq_text)
{
    describe_failure(&login->error, libpq_text);
    login->state = LOGIN_FAILED;
    return UPSTREAM_FAILED;
}

/* --- hand-over ------------------------------------------------------------------------------ */

static bool take_parameters(struct upstream_session *session, struct trace *trace)
{
    const struct text *names;
    size_t count;
    if (!trace_names(trace, &names, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *value = PQparameterStatus(session->connection, names[i].bytes);
        if (value != NULL && !session_report(session, names[i], text_from(value)))
            return false;
    }
    return true;
}

static void drop_notifications(PGconn *connection)
{
    for (PGnotify *notify; (notify = PQnotifies(connection)) != NULL;)
        PQfreemem(notify);
}

static struct upstream_session *session_new(PGconn *connection)
{
    struct upstream_session *session = memory_allocate_zeroed(1, sizeof *session);
    arena_init(&session->arena);
    session->parameters =
        arena_array(&session->arena, LIMIT_REPORTED_PARAMETERS, sizeof *session->parameters);
    session->connection = connection;
    session->fd = PQsocket(connection);
    session->ssl = PQsslStruct(connection, "OpenSSL");
    session->backend_pid = PQbackendPID(connection);
    session->server_version = PQserverVersion(connection);
    if (session->ssl != NULL)
        SSL_set_mode(session->ssl,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return session;
}

static enum upstream_progress begin_proof(struct upstream_login *login)
{
    PGconn *connection = login->connection;
    if (PQsslInUse(connection) && PQsslStruct(connection, "OpenSSL") == NULL)
        return fail(login, "libpq was built without OpenSSL: its TLS connection cannot be used");
    /* Whole messages that came with the end of the login are still libpq's to read. */
    if (PQisBusy(connection))
        return fail(login, "libpq is busy after the login");
    drop_notifications(connection);
    PQsetnonblocking(connection, 1);

    login->session = session_new(connection);
    login->connection = NULL;
    bool complete = take_parameters(login->session, login->trace);
    trace_free(login->trace);
    login->trace = NULL;
    if (!complete)
        return fail(login, "the parameters that the server reported cannot be listed");
    login->state = LOGIN_PROVING;
    handover_init(&login->handover, login->session, &login->error);
    return upstream_login_poll(login);
}

/* --- progress ------------------------------------------------------------------------------- */

/* libpq takes a socket that is not connected yet for a connected one when it is asked too early. */
static bool connecting_still(const PGconn *connection)
{
    struct pollfd wait = {.fd = PQsocket(connection), .events = POLLOUT};
    return PQstatus(connection) == CONNECTION_STARTED && poll(&wait, 1, 0) == 0;
}

static enum upstream_progress connect_further(struct upstream_login *login)
{
    if (PQstatus(login->connection) == CONNECTION_BAD)
        return fail(login, PQerrorMessage(login->connection));
    if (connecting_still(login->connection))
        return UPSTREAM_WANTS_WRITE;
    switch (PQconnectPoll(login->connection)) {
    case PGRES_POLLING_READING:
        return UPSTREAM_WANTS_READ;
    case PGRES_POLLING_WRITING:
        return UPSTREAM_WANTS_WRITE;
    case PGRES_POLLING_OK:
        return begin_proof(login);
    case PGRES_POLLING_FAILED:
    case PGRES_POLLING_ACTIVE:
        break;
    }
    return fail(login, PQerrorMessage(login->connection));
}

enum upstream_progress upstream_login_poll(struct upstream_login *login)
{
    enum upstream_progress progress = UPSTREAM_FAILED;
    switch (login->state) {
    case LOGIN_FAILED:
        break;
    case LOGIN_CONNECTING:
        progress = connect_further(login);
        break;
    case LOGIN_PROVING:
        progress = handover_poll(&login->handover);
        if (progress == UPSTREAM_DONE)
            login->state = LOGIN_PROVEN;
        if (progress == UPSTREAM_FAILED)
            login->state = LOGIN_FAILED;
        break;
    case LOGIN_PROVEN:
        progress = UPSTREAM_DONE;
        break;
    }
    return progress;
}

int upstream_login_socket(const struct upstream_login *login)
{
    return login->session != NULL ? login->session->fd : PQsocket(login->connection);
}

const struct upstream_error *upstream_login_error(const struct upstream_login *login)
{
    INVARIANT(login->state == LOGIN_FAILED);
    return &login->error;
}

struct upstream_session *upstream_login_take(struct upstream_login *login)
{
    INVARIANT(login->state == LOGIN_PROVEN);
    struct upstream_session *session = login->session;
    login->session = NULL;
    upstream_login_free(login);
    return session;
}

void upstream_login_free(struct upstream_login *login)
{
    if (login == NULL)
        return;
    trace_free(login->trace);
    PQfinish(login->connection);
    upstream_session_close(login->session);
    free(login);
}

/* --- session -------------------------------------------------------------------------------- */

struct text upstream_session_parameter(const struct upstream_session *session, const char *name)
{
    for (size_t i = 0; i < session->parameter_count; i++)
        if (text_is(session->parameters[i].name, name))
            return session->parameters[i].value;
    return text_from("");
}

void upstream_session_close(struct upstream_session *session)
{
    if (session == NULL)
        return;
    /* PQfinish would send a Terminate of its own, into the middle of a message that is half sent.
     */
    shutdown(session->fd, SHUT_WR);
    PQfinish(session->connection);
    arena_release(&session->arena);
    free(session);
}

/*
 * handover.c - one Sync and its answer on the bare connection.
 *
 * Whatever is not exactly as expected fails the login with 08P01; an ErrorResponse (the server
 * shuts down) is passed on.
 */
#include "proxy/upstream/handover.h"

#include "proxy/base/cursor.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { HEADER_SIZE = 5 };

/* What one read or write came to, beside a number of bytes. */
enum { IO_FAILED = -1, IO_WANTS_READ = -2, IO_WANTS_WRITE = -3 };

void handover_init(struct handover *handover, struct upstream_session *session,
                   struct upstream_error *error)
{
    handover->session = session;
    handover->error = error;
    handover->sent = 0;
    handover->received = 0;
}

bool session_report(struct upstream_session *session, struct text name, struct text value)
{
    struct upstream_parameter *parameters = session->parameters;
    size_t at = 0;
    while (at < session->parameter_count && !text_equal(parameters[at].name, name))
        at++;
    if (at == LIMIT_REPORTED_PARAMETERS)
        return false;
    if (at == session->parameter_count)
        parameters[session->parameter_count++].name = arena_text(&session->arena, name);
    parameters[at].value = arena_text(&session->arena, value);
    return true;
}

static enum upstream_progress fail(struct handover *handover, const char *problem)
{
    struct upstream_error *error = handover->error;
    *error = (struct upstream_error){.sqlstate = "08P01"};
    snprintf(error->message, sizeof error->message, "the database's answer was not understood");
    snprintf(error->detail, sizeof error->detail, "after the login: %s", problem);
    return UPSTREAM_FAILED;
}

/* --- the bare connection -------------------------------------------------------------------- */

static int tls_result(SSL *ssl, int result)
{
    if (result > 0)
        return result;
    int reason = SSL_get_error(ssl, result);
    if (reason == SSL_ERROR_WANT_READ)
        return IO_WANTS_READ;
    return reason == SSL_ERROR_WANT_WRITE ? IO_WANTS_WRITE : IO_FAILED;
}

static int plain_result(ssize_t result, int when_full)
{
    if (result > 0)
        return (int)result;
    bool again = result < 0 && (errno == EAGAIN || errno == EINTR);
    return again ? when_full : IO_FAILED;
}

static int write_some(const struct upstream_session *session, const void *bytes, size_t size)
{
    if (session->ssl == NULL)
        return plain_result(send(session->fd, bytes, size, MSG_NOSIGNAL), IO_WANTS_WRITE);
    ERR_clear_error();
    return tls_result(session->ssl, SSL_write(session->ssl, bytes, (int)size));
}

static int read_some(const struct upstream_session *session, void *bytes, size_t size)
{
    if (session->ssl == NULL)
        return plain_result(recv(session->fd, bytes, size, 0), IO_WANTS_READ);
    ERR_clear_error();
    return tls_result(session->ssl, SSL_read(session->ssl, bytes, (int)size));
}

static enum upstream_progress waiting_for(struct handover *handover, int result)
{
    if (result == IO_WANTS_READ)
        return UPSTREAM_WANTS_READ;
    if (result == IO_WANTS_WRITE)
        return UPSTREAM_WANTS_WRITE;
    return fail(handover, "the connection was lost");
}

/* --- messages ------------------------------------------------------------------------------- */

static bool read_parameter(struct handover *handover, struct cursor body)
{
    struct text name = cursor_string(&body);
    struct text value = cursor_string(&body);
    return cursor_done(&body) && session_report(handover->session, name, value);
}

static bool is_notification(struct cursor body)
{
    cursor_u32(&body);    /* the sender's process */
    cursor_string(&body); /* channel */
    cursor_string(&body); /* payload */
    return cursor_done(&body);
}

/* Of an ErrorResponse or NoticeResponse; false if it is not well-formed. */
static bool read_fields(struct cursor body, struct text *sqlstate, struct text *message)
{
    for (uint8_t field; (field = cursor_u8(&body)) != 0;) {
        struct text value = cursor_string(&body);
        if (field == 'C')
            *sqlstate = value;
        if (field == 'M')
            *message = value;
    }
    return cursor_done(&body) && sqlstate->size == 5;
}

static enum upstream_progress read_error(struct handover *handover, struct cursor body)
{
    struct text sqlstate = {0}, message = {0};
    if (!read_fields(body, &sqlstate, &message))
        return fail(handover, "an error that is not well-formed");
    struct upstream_error *error = handover->error;
    *error = (struct upstream_error){.from_server = true};
    message = text_cut(message, sizeof error->message - 1);
    snprintf(error->sqlstate, sizeof error->sqlstate, "%.*s", TEXT_ARGS(sqlstate));
    snprintf(error->message, sizeof error->message, "%.*s", TEXT_ARGS(message));
    snprintf(error->detail, sizeof error->detail, "after the login: %s: %s", error->sqlstate,
             error->message);
    return UPSTREAM_FAILED;
}

static bool is_well_formed(struct handover *handover, char type, struct cursor body)
{
    struct text sqlstate = {0}, message = {0};
    switch (type) {
    case 'S':
        return read_parameter(handover, body);
    case 'N':
        return read_fields(body, &sqlstate, &message);
    case 'A':
        return is_notification(body);
    case 'Z':
        return cursor_u8(&body) == 'I' && cursor_done(&body);
    default:
        return false;
    }
}

/* UPSTREAM_WANTS_READ: the message was fine, and another one must follow. */
static enum upstream_progress read_message(struct handover *handover, size_t size)
{
    struct cursor body = cursor_over(handover->message + HEADER_SIZE, size - HEADER_SIZE);
    char type = (char)handover->message[0];
    if (type == 'E')
        return read_error(handover, body);
    if (!is_well_formed(handover, type, body))
        return fail(handover, "a message that is not well-formed");
    return type == 'Z' ? UPSTREAM_DONE : UPSTREAM_WANTS_READ;
}

/* Of the message that is being received; HEADER_SIZE until its header is there, 0 if it is bad. */
static size_t message_size(const struct handover *handover)
{
    if (handover->received < HEADER_SIZE)
        return HEADER_SIZE;
    struct cursor header = cursor_over(handover->message, HEADER_SIZE);
    uint8_t type = cursor_u8(&header);
    uint32_t length = cursor_u32(&header);
    bool known = type != 0 && strchr("SNAEZ", type) != NULL;
    bool possible = type == 'Z' ? length == 5 : length > 4 && length < HANDOVER_MESSAGE_MAX;
    return known && possible ? (size_t)length + 1 : 0;
}

static enum upstream_progress receive(struct handover *handover)
{
    for (;;) {
        size_t size = message_size(handover);
        if (size == 0)
            return fail(handover, "a message that does not belong there");
        if (size > HEADER_SIZE && handover->received == size) {
            enum upstream_progress progress = read_message(handover, size);
            handover->received = 0;
            if (progress != UPSTREAM_WANTS_READ)
                return progress;
            continue;
        }
        int result = read_some(handover->session, handover->message + handover->received,
                               size - handover->received);
        if (result <= 0)
            return waiting_for(handover, result);
        handover->received += (size_t)result;
    }
}

enum upstream_progress handover_poll(struct handover *handover)
{
    static const uint8_t sync[] = {'S', 0, 0, 0, 4};
    while (handover->sent < sizeof sync) {
        int result =
            write_some(handover->session, sync + handover->sent, sizeof sync - handover->sent);
        if (result <= 0)
            return waiting_for(handover, result);
        handover->sent += (size_t)result;
    }
    return receive(handover);
}

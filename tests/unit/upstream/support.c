/* support.c - see support.h. */
#include "unit/upstream/support.h"

#include "proxy/base/arena.h"
#include "proxy/base/cursor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PATIENCE_MS = 10000 };

static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL)
        cr_skip_test("%s is not set: no PostgreSQL server to test with", name);
    return value;
}

const char *agent_string(void)
{
    return from_environment("PGWICKET_TEST_UPSTREAM");
}

const char *admin_string(void)
{
    return from_environment("PGWICKET_TEST_ADMIN");
}

const char *with(const char *base, const char *more)
{
    static struct arena strings;
    return arena_printf(&strings, "%s %s", base, more).bytes;
}

static void drop_notice(void *argument, const PGresult *result)
{
    (void)argument;
    (void)result;
}

void admin_run(const char *connection_string, const char *sql)
{
    PGconn *connection = PQconnectdb(connection_string);
    PQsetNoticeReceiver(connection, drop_notice, NULL);
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s",
              PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
}

static void wait_for(int fd, short events)
{
    struct pollfd wait = {.fd = fd, .events = events};
    int ready = poll(&wait, 1, PATIENCE_MS);
    cr_assert(ready == 1 || errno == EINTR, "nothing happened for %d ms", PATIENCE_MS);
}

enum upstream_progress finish_login(struct upstream_login *login)
{
    for (;;) {
        enum upstream_progress progress = upstream_login_poll(login);
        if (progress == UPSTREAM_DONE || progress == UPSTREAM_FAILED)
            return progress;
        wait_for(upstream_login_socket(login), progress == UPSTREAM_WANTS_READ ? POLLIN : POLLOUT);
    }
}

struct upstream_session *log_in(const char *connection_string,
                                const struct upstream_parameter *settings, size_t count)
{
    char problem[256] = "";
    struct upstream_login *login =
        upstream_login_start(connection_string, settings, count, problem, sizeof problem);
    cr_assert_not_null(login, "%s", problem);
    enum upstream_progress progress = finish_login(login);
    cr_assert_eq(progress, UPSTREAM_DONE, "%s",
                 progress == UPSTREAM_FAILED ? upstream_login_error(login)->detail : "");
    return upstream_login_take(login);
}

/* True: try again. */
static bool wait_after(const struct upstream_session *session, long result, short events)
{
    if (result > 0)
        return false;
    if (session->ssl != NULL) {
        int reason = SSL_get_error(session->ssl, (int)result);
        cr_assert(reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE);
        events = reason == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    } else {
        cr_assert(result < 0 && errno == EAGAIN);
    }
    wait_for(session->fd, events);
    return true;
}

void raw_write(const struct upstream_session *session, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const char *at = (const char *)bytes + done;
        long result = session->ssl != NULL ? SSL_write(session->ssl, at, (int)(size - done))
                                           : send(session->fd, at, size - done, MSG_NOSIGNAL);
        if (!wait_after(session, result, POLLOUT))
            done += (size_t)result;
    }
}

static void raw_read(const struct upstream_session *session, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        char *at = (char *)bytes + done;
        long result = session->ssl != NULL ? SSL_read(session->ssl, at, (int)(size - done))
                                           : recv(session->fd, at, size - done, 0);
        if (!wait_after(session, result, POLLIN))
            done += (size_t)result;
    }
}

void raw_query(const struct upstream_session *session, const char *sql)
{
    struct buffer message;
    buffer_init(&message, 65536);
    buffer_append_byte(&message, 'Q');
    buffer_append_u32(&message, (uint32_t)strlen(sql) + 5);
    buffer_append(&message, sql, strlen(sql) + 1);
    raw_write(session, message.bytes, message.size);
    buffer_release(&message);
}

char raw_message(const struct upstream_session *session, struct buffer *body)
{
    uint8_t header[5];
    raw_read(session, header, sizeof header);
    struct cursor cursor = cursor_over(header, sizeof header);
    char type = (char)cursor_u8(&cursor);
    uint32_t length = cursor_u32(&cursor);
    cr_assert(length >= 4 && length < 65536);
    buffer_clear(body);
    if (length > 4) {
        raw_read(session, buffer_reserve(body, length - 4), length - 4);
        body->size = length - 4;
    }
    return type;
}

static void keep_value(char *value, size_t size, const struct buffer *row)
{
    struct cursor cursor = cursor_over(row->bytes, row->size);
    cursor_u16(&cursor);
    struct text field = cursor_bytes(&cursor, cursor_u32(&cursor));
    snprintf(value, size, "%.*s", TEXT_ARGS(field));
}

static void keep_sqlstate(char *value, size_t size, const struct buffer *error)
{
    struct cursor cursor = cursor_over(error->bytes, error->size);
    for (uint8_t field; (field = cursor_u8(&cursor)) != 0;) {
        struct text text = cursor_string(&cursor);
        if (field == 'C')
            snprintf(value, size, "%.*s", TEXT_ARGS(text));
    }
}

const char *raw_value(const struct upstream_session *session, const char *sql)
{
    static char value[1024];
    struct buffer body;
    buffer_init(&body, 65536);
    value[0] = '\0';
    raw_query(session, sql);
    for (char type; (type = raw_message(session, &body)) != 'Z';) {
        if (type == 'D')
            keep_value(value, sizeof value, &body);
        if (type == 'E')
            keep_sqlstate(value, sizeof value, &body);
    }
    buffer_release(&body);
    return value;
}

/*
 * support.h - what the tests of proxy/upstream/ share.
 *
 * They need a real server: PGWICKET_TEST_UPSTREAM is the connection string of the login "agent" by
 * TCP, PGWICKET_TEST_ADMIN a superuser's; tests/run sets both. Without them the tests are skipped.
 */
#ifndef PGWICKET_TESTS_UPSTREAM_SUPPORT_H
#define PGWICKET_TESTS_UPSTREAM_SUPPORT_H

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/upstream/login.h"

#include <libpq-fe.h>

/* Skips the running test if the server's addresses are not set. */
const char *agent_string(void);
const char *admin_string(void);

/* `base` with more keywords, which win; in memory that is never freed. */
const char *with(const char *base, const char *more);

/* Runs commands as the superuser; the test fails if one fails. */
void admin_run(const char *connection_string, const char *sql);

/* Polls a login until it has failed or is done, for 10 seconds at most. */
enum upstream_progress finish_login(struct upstream_login *login);

/* A session, or the test fails. */
struct upstream_session *log_in(const char *connection_string,
                                const struct upstream_parameter *settings, size_t count);

/* Whole writes and reads on a session that is taken over, TLS or not; the test fails if they fail.
 */
void raw_write(const struct upstream_session *session, const void *bytes, size_t size);
void raw_query(const struct upstream_session *session, const char *sql);

/* Reads one message and returns its type; its body is in `body` then. */
char raw_message(const struct upstream_session *session, struct buffer *body);

/* Runs a simple Query and returns the first value of its last row, or "SQLSTATE" of its error. */
const char *raw_value(const struct upstream_session *session, const char *sql);

#endif

/*
 * login.h - logs in to a database server without blocking, then takes over the connection.
 *
 * libpq logs in, so that every feature of its connection strings works. When it is done, one Sync
 * of our own is sent on the bare connection and its answer read: the proof that libpq kept no part
 * of a message back, without which every later message would be read from its middle. Then the
 * socket (and OpenSSL's object) belong to the caller, and libpq only keeps them alive.
 *
 * Nothing blocks but what libpq does when a login starts: resolving a host name and reading the
 * files that the connection string names. There is no timer: the caller gives up by
 * upstream_login_free.
 */
#ifndef PGWICKET_UPSTREAM_LOGIN_H
#define PGWICKET_UPSTREAM_LOGIN_H

#include "proxy/base/arena.h"
#include "proxy/base/attributes.h"

struct pg_conn; /* libpq's PGconn */

/* A setting that is sent in the startup packet, or one that the server reported. */
struct upstream_parameter {
    struct text name;
    struct text value;
};

struct upstream_login;

enum upstream_progress {
    UPSTREAM_FAILED = 0, /* upstream_login_error says why */
    UPSTREAM_WANTS_READ, /* call upstream_login_poll when the socket is readable */
    UPSTREAM_WANTS_WRITE,
    UPSTREAM_DONE, /* upstream_login_take now */
};

struct upstream_error {
    bool from_server;  /* sqlstate and message are the server's; never those about the login's own
                        * name and password (class 28), which are not the agent's business */
    char sqlstate[6];  /* else 57P03, or 08P01 if the server's answer makes no sense */
    char message[512]; /* for the agent: names no host */
    char detail[1024]; /* in one line, for the operational log; no password */
};

/* A connection that is logged in and idle. */
struct upstream_session {
    int fd;    /* non-blocking */
    void *ssl; /* SSL *, NULL without TLS; partial writes and moving buffers are allowed */
    int backend_pid;
    int server_version;                    /* as server_version_num, 150020 */
    struct upstream_parameter *parameters; /* ParameterStatus, in the server's order */
    size_t parameter_count;
    struct pg_conn *connection; /* for upstream_cancel; call nothing of libpq on it */
    struct arena arena;         /* of the parameters */
};

/*
 * Starts a login. `settings` are sent as `options`, behind those of the connection string, so that
 * they win; application_name likewise. client_encoding=UTF8 and gssencmode=disable are always sent.
 * NULL if the connection string or a setting cannot be used; `problem` says why, without
 * credentials.
 */
MUST_USE struct upstream_login *upstream_login_start(const char *connection_string,
                                                     const struct upstream_parameter *settings,
                                                     size_t setting_count, char *problem,
                                                     size_t problem_size);

/* Goes on as far as it can. After UPSTREAM_FAILED and UPSTREAM_DONE it only repeats itself. The
 * first call may come at once. */
enum upstream_progress upstream_login_poll(struct upstream_login *login);

/* The socket to wait for, -1 if none. It can be another one after each poll. */
int upstream_login_socket(const struct upstream_login *login);

/* Only after UPSTREAM_FAILED; lives as long as the login. */
const struct upstream_error *upstream_login_error(const struct upstream_login *login);

/* Only after UPSTREAM_DONE: hands over the session and frees the login. */
MUST_USE struct upstream_session *upstream_login_take(struct upstream_login *login);

/* Gives up, at any time; NULL is fine. */
void upstream_login_free(struct upstream_login *login);

/* Value of a reported parameter, or the empty text. */
struct text upstream_session_parameter(const struct upstream_session *session, const char *name);

/* Closes the socket and frees everything; NULL is fine. Sends nothing: Terminate is up to the
 * caller, who alone knows that no message is half sent. */
void upstream_session_close(struct upstream_session *session);

#endif

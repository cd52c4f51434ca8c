/*
 * conn_internal.h - the parts of a connection; for proxy/net/ only.
 *
 *   conn.c    events, reading and writing, the mailbox, the end
 *   door.c    from the first byte to a session: start-up packet, TLS, SCRAM, upstream login
 *   bridge.c  what the session asks of its surroundings
 */
#ifndef PGWICKET_NET_CONN_INTERNAL_H
#define PGWICKET_NET_CONN_INTERNAL_H

#include "proxy/base/buffer.h"
#include "proxy/net/conn.h"
#include "proxy/net/counts.h"
#include "proxy/net/server.h"
#include "proxy/net/stream.h"
#include "proxy/session/session.h"
#include "proxy/upstream/cancel.h"
#include "proxy/upstream/login.h"
#include "proxy/wire/build.h"
#include "proxy/wire/startup.h"

enum conn_phase {
    PHASE_STARTUP = 0, /* reading start-up packets */
    PHASE_TLS,         /* handshake */
    PHASE_SASL,
    PHASE_UPSTREAM,    /* logging in to the database */
    PHASE_SESSION,
    PHASE_CLOSING,     /* writing what is left to the client */
    PHASE_CLOSED,
    PHASE_COUNT,
};

struct view_reference; /* bridge.c */

struct conn {
    struct worker *worker;
    struct server *shared;
    uint64_t number;
    enum conn_phase phase;
    bool is_unix;

    struct stream client;
    struct stream server;
    struct event *client_event;
    struct event *server_event;
    short client_flags; /* what the events wait for now */
    short server_flags;
    bool client_ready; /* the event that is being worked on came from this socket */
    bool server_ready;
    struct event *timer;       /* the session's */
    struct event *login_timer; /* the door's, and the end's */

    struct arena arena;
    char address[64];
    int port;
    char session_id[17];

    /* The door. */
    bool counted_login;
    bool asked_ssl;
    struct startup_parameter *parameters; /* in arena */
    size_t parameter_count;
    struct text user;
    struct configuration *configuration;
    const struct agent *agent; /* in configuration; NULL: unknown name */
    struct scram_exchange *scram;
    struct upstream_login *login;
    bool entered;
    int64_t statement_timeout_us; /* as the session starts */
    struct text *settings_at_start; /* in arena: names of those that the client has set, in lower case */
    size_t settings_at_start_count;

    /* The session. */
    struct upstream_session *upstream;
    struct session *session;
    struct cancel_key key;
    bool has_key;
    bool client_gone_told;
    struct view_reference *view;
    int64_t watched;
    enum session_activity activity; /* as it is counted */
    struct byte_counts counted;     /* of its streams */
    int cancel_fd; /* of who asked for the cancel under way; -1 */
};

/* conn.c */
void conn_become(struct conn *conn, enum conn_phase next);
void conn_pump(struct conn *conn);     /* does what can be done, then waits for the rest */
void conn_close(struct conn *conn);    /* what is to be written still is */
/* The login upstream waits for its socket. */
void conn_wait_upstream(struct conn *conn, int fd, bool write);
void conn_to_client(struct conn *conn, const struct buffer *message);

/* door.c: each goes as far as the bytes allow. */
void door_read(struct conn *conn);
void door_handshake(struct conn *conn, short *wants);
void door_poll_upstream(struct conn *conn);
void door_fatal(struct conn *conn, const char *sqlstate, struct text message);
void door_release(struct conn *conn);

/* bridge.c */
void bridge_open_session(struct conn *conn);
void bridge_release(struct conn *conn);
void bridge_cancel(struct conn *conn, int fd);
void bridge_cancel_done(struct conn *conn);

#endif

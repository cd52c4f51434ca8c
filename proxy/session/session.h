/*
 * session.h - one agent's connection, from its first ReadyForQuery to its end: a state machine.
 *
 * Bytes and events go in through the functions below; what is to be done comes out through
 * `struct session_port`. The session knows no sockets, no clock of its own and no threads: one thread
 * calls it, its surroundings (net/) carry out what it asks.
 *
 * The rule that everything here serves: nothing that was not judged is ever given to
 * port->to_server.
 */
#ifndef PGWICKET_SESSION_SESSION_H
#define PGWICKET_SESSION_SESSION_H

#include "proxy/audit/record.h"
#include "proxy/holds/store.h"
#include "rules/decide.h"

struct session;

/* What judging goes by at this moment. The pointers are valid until the port's release_view. */
struct session_view {
    void *reference;               /* the port's; handed back to release_view */
    const struct policy *policy;   /* NULL: the agent is no longer in the configuration */
    struct catalog *catalog;       /* NULL: not loaded yet */
    const struct text *setting_values;
    const struct attribute *attributes; /* the agent's */
    size_t attribute_count;
    const struct text *unprepared; /* names of templates that the upstream could not prepare */
    size_t unprepared_count;
    struct text upstream_name;
    uint64_t generation;           /* another number: policy or catalog is another one */
    bool paused;
    struct instant paused_at;
    bool audit_raw;
    bool audit_continue;           /* on_failure: continue */
};

/* Why a session ends; for the log. */
enum session_end {
    SESSION_END_CLIENT = 0, /* Terminate, or the connection was closed */
    SESSION_END_SERVER,     /* upstream FATAL or closed */
    SESSION_END_PROTOCOL,   /* a message that cannot be followed */
    SESSION_END_INTERNAL,   /* an answer that pgwicket did not expect: fail closed */
    SESSION_END_ADMIN,      /* shutdown, pause, policy gone */
};

/* For metrics; times in seconds. */
enum session_measure {
    MEASURE_JUDGE = 0, /* one message parsed and judged */
    MEASURE_EXPLAIN,
    MEASURE_REHEARSAL, /* until it is rolled back */
    MEASURE_OVERHEAD,  /* from a statement's arrival until it is sent upstream; none of a held one */
    MEASURE_ESTIMATE_RATIO, /* real rows by the planner's, at least 1 */
};

/* All calls are synchronous and do not call back into the session. */
struct session_port {
    void *context;
    void (*to_client)(void *context, struct text bytes);
    void (*to_server)(void *context, struct text bytes);

    /* Both directions stop after what was sent to the client so far is written. */
    void (*close)(void *context, enum session_end why);

    struct instant (*now)(void *context);
    int64_t (*monotonic_us)(void *context);

    /* One timer; 0 stops it; session_timer follows. */
    void (*set_timer)(void *context, int64_t after_us);

    void (*view)(void *context, struct session_view *view);
    void (*release_view)(void *context, void *reference);

    /* A fresh catalog; session_catalog_refreshed follows. False: there is none to be had, nothing follows. */
    bool (*refresh_catalog)(void *context);

    /* False: the record was not written (and the policy of failure is to reject). */
    bool (*audit)(void *context, const struct audit_record *record);

    /* Sends a CancelRequest upstream; session_cancel_done follows when the server has taken it. */
    void (*cancel_server)(void *context);

    /* By the configuration of now: does this name belong to an approver of this policy? */
    bool (*is_approver)(void *context, struct text name, struct text policy);

    /* session_hold_answer follows. False: there is no store. */
    bool (*post_hold)(void *context, struct hold_request *request);

    /* Tells of changes of this hold by session_hold_changed until watch_hold(0). */
    void (*watch_hold)(void *context, int64_t id);

    /* Counts this session among its agent's waiting ones; false: too many. */
    bool (*begin_waiting)(void *context);
    void (*end_waiting)(void *context);

    /* Counts a rehearsal of its agent: 0. Where it has had those of this minute: how long until another one is
     * allowed, in microseconds. */
    int64_t (*begin_rehearsal)(void *context);

    void (*measured)(void *context, enum session_measure what, double value);

    /* The client was given an ErrorResponse with this SQLSTATE. */
    void (*told_error)(void *context, struct text sqlstate);
};

struct session_setup {
    struct text agent;
    struct text session_id;     /* 16 hex digits */
    struct text client_address;
    int client_port;
    struct text database;       /* of the upstream */
    int server_version;         /* server_version_num */
    int64_t statement_timeout_us; /* as the session starts; 0: none */
    const struct text *settings;  /* that the client has set at its start: names in lower case */
    size_t setting_count;
};

struct session *session_new(const struct session_port *port, const struct session_setup *setup);
void session_free(struct session *session); /* the connections are gone; NULL is fine */

/*
 * Bytes from the client, at the front of its input. Returns how many were used up; the rest must be
 * offered again, with more behind it, or after any other event (a session that waits takes none).
 * After an error of the stream the session is closed and takes everything.
 */
MUST_USE size_t session_client_bytes(struct session *session, struct text bytes);

/* Bytes from the server, likewise. */
MUST_USE size_t session_server_bytes(struct session *session, struct text bytes);

/* The longest message that must arrive whole is this long; input buffers need no more. */
size_t session_client_need(const struct session *session, struct text bytes);
size_t session_server_need(struct session *session, struct text bytes);

void session_timer(struct session *session);
void session_catalog_refreshed(struct session *session, bool loaded); /* false: it is the old one */
/* A CancelRequest with this session's key. True: one is under way to the server, session_cancel_done
 * follows. */
bool session_cancel_requested(struct session *session);
void session_cancel_done(struct session *session);
void session_hold_answer(struct session *session, struct hold_request *request); /* frees it */
void session_hold_changed(struct session *session, const struct hold *hold);
/* The agent has been paused: what runs is cancelled and its session ends; an open transaction is rolled back,
 * a wait for a person ends, and the session stays, to be told so at its next message. */
void session_paused(struct session *session);
void session_shutdown(struct session *session); /* ends at the next moment outside a transaction */
void session_client_gone(struct session *session);
void session_server_gone(struct session *session); /* connection lost without a FATAL */

/* Would it look at a message from the client now? */
bool session_takes_input(const struct session *session);

bool session_closed(const struct session *session);
bool session_idle(const struct session *session); /* nothing outstanding, no transaction */
bool session_may_end(const struct session *session); /* nothing outstanding, and nothing to be committed */
bool session_waiting(const struct session *session); /* for a person */

#endif

/*
 * rig.h - a session between a client that the test plays and a server that answers by itself.
 *
 * The server understands the messages of both query protocols, keeps statements, portals and the transaction
 * status, skips to Sync after an error, and answers statements by a table of the test. What passes in either
 * direction, what is audited and what is asked of the store is kept for looking at.
 */
#ifndef PGWICKET_TESTS_SESSION_RIG_H
#define PGWICKET_TESTS_SESSION_RIG_H

#include "proxy/base/buffer.h"
#include "proxy/session/session.h"

/* How the server answers statements that begin like this: so many rows and the tag, or an error. */
struct canned {
    const char *begins;
    const char *tag;
    const char *error; /* SQLSTATE */
    int rows;
};

/* What the server says where it is asked for what judging goes by; NULL: nothing. */
struct rig_pins {
    const char *temporary, *names, *role, *path;
};

enum { RIG_NAMES = 16, RIG_REQUESTS = 8 };

struct rig_name {
    char name[80];
    char sql[600];
};

struct rig {
    struct session *session;
    struct arena arena;
    struct policy policy;
    struct catalog *catalog;
    uint64_t generation;
    bool paused;

    struct buffer to_client;
    struct buffer to_server;
    struct buffer replies;      /* of the server, not yet fed */
    struct buffer input;        /* of the client, not yet taken */
    struct buffer audited;      /* "allow 1;reject 2;" */
    struct buffer told;         /* SQLSTATEs of errors for the client: "42501;" */
    int measured[MEASURE_ESTIMATE_RATIO + 1]; /* how often */
    bool audit_fails;
    bool has_no_store;
    bool waiting_refused;
    int64_t timer_us;
    int64_t watched;
    int waiting;
    int rehearsals;             /* that were asked for */
    int64_t rehearsal_wait_us;  /* 0: it may be rehearsed */
    int views;                  /* retained */
    int cancels;
    bool closed;
    enum session_end end;

    struct hold_request *requests[RIG_REQUESTS]; /* posted, not answered */
    size_t request_count;
    struct hold *hold;          /* as the store has it */
    enum hold_state joined;     /* … when the same statement is sent: HOLD_NONE, it has no such */

    /* The server. */
    const struct canned *canned;
    size_t seen;                /* bytes of to_server that it has read */
    char status;
    bool skipping;
    int deleted;                /* rows, by its counters */
    int deleted_at_once;        /* by each DELETE */
    int carried;                /* rows that a foreign key changed, by its counters */
    int carried_at_once;        /* by each UPDATE; < 0: the counters lose some */
    struct rig_pins pins;       /* the role also by SET LOCAL ROLE, up to the end of the transaction */
    struct rig_pins moved;      /* … once a statement that begins with `moving` was tried */
    const char *moving;
    bool no_pins;               /* it gives no row of them */
    bool sync_fails;            /* its next Sync fails: a deferred constraint */
    bool poison_succeeds;
    bool parse_answers_wrongly;
    struct rig_name statements[RIG_NAMES];
    struct rig_name portals[RIG_NAMES];
};

/* Rules: select on shop.t, max_rows 2; insert on shop.t; update where required, max_rows 3; delete, where
 * required, held; insert on shop.coded, whose triggers run code that may move the session; and, with a
 * rule_count of 6, set on role:tenant. shop.child refers to shop.t.id with ON UPDATE CASCADE. */
void rig_begin(struct rig *rig);
void rig_end(struct rig *rig); /* checks that nothing is left over */

/* The client sends; the session takes what it takes now. */
void rig_send(struct rig *rig, struct text bytes);
/* In pieces of `piece` bytes, or, for 0, cut once at `cut`. */
void rig_send_cut(struct rig *rig, struct text bytes, size_t piece, size_t cut);
/* Until nothing moves any more: the server answers, the store says what is joined, what the client has sent is
 * offered again. */
void rig_settle(struct rig *rig);
void rig_run(struct rig *rig, struct text bytes); /* both */

/* Answers the oldest request with the hold in this state. */
void rig_answer(struct rig *rig, enum hold_answer answer, enum hold_state state);
enum hold_operation rig_asked(const struct rig *rig); /* 0: nothing is asked */
void rig_hold_changed(struct rig *rig, enum hold_state state);

/* The types of the messages to the client, "TDCZ"; an error is shown as E(42501). Its texts live in the rig. */
const char *rig_client(struct rig *rig);
/* The last error's MESSAGE to the client, or "". */
const char *rig_told(struct rig *rig);
/* … and to the server: statements' first word, "P(SELECT)B E S", poison as X; Flush is left out. */
const char *rig_server(struct rig *rig);
int rig_times(struct rig *rig, const char *what); /* how often rig_server has this */
void rig_forget(struct rig *rig); /* what has passed so far */

/* Messages of the client. */
struct text rig_query(struct rig *rig, const char *sql);
struct text rig_extended(struct rig *rig, const char *sql); /* Parse Bind Describe Execute Sync, unnamed */
struct text rig_join(struct rig *rig, struct text a, struct text b);

#endif

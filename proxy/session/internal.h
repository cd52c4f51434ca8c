/*
 * internal.h - the session's parts and what they share; for proxy/session/ only.
 *
 *   session.c      state edges, input loops, events, end
 *   statement.c    judged statements, portals, executions: lifetimes
 *   simple.c       Query
 *   extended.c     Parse Bind Describe Execute Close Sync Flush
 *   copy.c         CopyData CopyDone CopyFail
 *   send.c         everything that goes upstream: queue entries, injected sequences, poison
 *   server.c       replies: relaying, errors, rows, ReadyForQuery
 *   template_call.c  EXECUTE of a template: judged, its values checked; pure
 *   template_run.c EXECUTE of a template in both query protocols
 *   transaction.c  what a transaction has done so far: fresh or not, preamble
 *   gate.c         limited and held statements: estimate, run, decide
 *   gate_look.c    … the rows that they have changed, before they are committed
 *   gate_rehearse.c  held statements rehearsed before anybody is asked, measured as their run will be
 *   gate_measure.c   … how: what is sent around them, what its answers tell
 *   gate_store.c   the gate's requests to the store; EXECUTE pgwicket_hold(N)
 *   gate_hold.c    holds: store, wait, claim, run, record, commit
 *   bound.c        … the settings that they are bound to
 *   gate_copy.c    … of COPY FROM STDIN, with its data
 *   gate_drift.c   … whose effect is another than was shown
 *   explain.c      estimate from EXPLAIN's JSON
 *   pins.c         settings read back after user code
 *   report.c       audit records
 *   measures.c     times and ratios for metrics
 *   errors.c       pgwicket's own errors to the client
 *   relayed.c      the server's errors and notices, as far as the client may read them (redact.c)
 */
#ifndef PGWICKET_SESSION_INTERNAL_H
#define PGWICKET_SESSION_INTERNAL_H

#include "proxy/base/buffer.h"
#include "proxy/base/cursor.h"
#include "proxy/base/limits.h"
#include "proxy/session/judge.h"
#include "proxy/session/measure.h"
#include "proxy/session/names.h"
#include "proxy/session/queue.h"
#include "proxy/session/session.h"
#include "proxy/session/template_call.h"
#include "proxy/wire/backend.h"
#include "proxy/wire/build.h"
#include "proxy/wire/frontend.h"
#include "rules/message.h"

/* --- statement.c ------------------------------------------------------------------------------ */

/* A text that was judged: a Query message, or a prepared statement. Counted. */
struct judged {
    int references;
    struct arena arena;             /* of everything below */
    struct session_view view;       /* retained: policy and catalog it was judged under */
    const struct session_port *port;
    struct text original;
    struct text print;              /* what goes upstream */
    struct judgement judgement;
    struct text client_types;       /* Parse's parameter types, network order */
    struct text type_bytes;         /* … as they go upstream: the same, but for a template its own */
    uint16_t type_count;            /* of type_bytes */
    struct text described_types;    /* from ParameterDescription, network order; empty: not described */
    const struct hold *stored;      /* stands for this hold: EXECUTE pgwicket_hold(N) */
    int64_t judge_us;
    size_t temporary_count;         /* how many of session.temporary were known */
    bool objects_changed;           /* by the transaction that was open: the catalog does not have it */
    bool holds_made;                /* whether session.holds_made was any */
};

struct judged *judged_retain(struct judged *judged);
void judged_release(struct judged *judged); /* NULL is fine */


/* The only statement of the text, or NULL. */
const struct statement *judged_single(const struct judged *judged);
const struct decision *judged_decision(const struct judged *judged);

/* Does it need the gate: an open limit of a write, a cost to be asked for, or a hold? */
bool judged_gated(const struct judged *judged);

/* The template that it executes, or NULL. */
const struct template_call *judged_call(const struct judged *judged);

/* Where a position in what was sent is in what the client wrote; 0: nowhere. */
int judged_map_position(const struct judged *judged, int position);

/* Why `decision`, made of it with numbers, rejects. */
struct error_text judged_rejection(struct arena *arena, const struct judged *judged,
                                   const struct decision *decision, const struct numbers *numbers);

/* A portal, or a cursor made by DECLARE. Counted. */
struct portal {
    int references;
    struct judged *judged;
    struct buffer bind;           /* Bind's formats, values and result formats, for gated statements */
    size_t values_size;           /* of `bind` without the result formats */
    bool is_cursor;               /* by SQL */
    bool with_hold;
    bool executed;                /* its first Execute has been recorded */
    int64_t statement_number;
    int64_t rows_seen;
    int64_t rows_max;             /* of a select; LIMIT_NONE */
    struct numbers numbers;       /* the estimate's part of the gate's knowledge */
    double estimate_rows;         /* < 0: not asked */
    char *plan;                   /* owned */
    int64_t explain_us;
    struct arena arena;           /* of `decision` when it was decided again */
    const struct decision *decision; /* judged's, or decided again with the estimate */
};

struct portal *portal_new(struct judged *judged); /* of its only statement */
/* … of one of several; NULL: of none. */
struct portal *portal_of(struct judged *judged, const struct decision *decision);
/* Under the policy and catalog of now. */
void portal_judge_again(struct session *s, struct portal *portal);
struct portal *portal_retain(struct portal *portal);
void portal_release(struct portal *portal); /* NULL is fine */

/* One client's Query, or Execute, on its way. Owned by its request. */
struct execution {
    struct judged *judged;
    struct portal **counters;   /* owned array, retained: what counts each statement's rows; NULL: nothing */
    size_t counter_count;
    bool limited;               /* one of them has a limit */
    size_t at;                  /* which statement of a Query is being answered */
    int64_t statement_number;
    int64_t started_us;
    int64_t rows;               /* DataRows, or CopyData rows, of the present statement */
    const struct portal *stopped; /* in counters: over its limit, nothing is relayed any more; or NULL */
    bool copy_in;               /* the server waits for the client's data */
    bool copied;                /* … and has got it all */
    bool header_passed;         /* COPY TO with HEADER: the line of names went by */
};

/* `counters` may be NULL, or hold NULL. */
struct execution *execution_new(struct judged *judged, struct portal *const *counters, size_t count);
/* Of the statement that is being answered, or NULL. */
struct portal *execution_counter(const struct execution *execution);
void execution_free(struct execution *execution); /* NULL is fine */

/* --- session ---------------------------------------------------------------------------------- */

enum step {
    STEP_DONE = 1, /* the message is dealt with */
    STEP_WAIT,     /* offer it again later */
};

enum session_state {
    SESSION_READY = 0,  /* takes the client's messages */
    SESSION_DRAINING,   /* the message at the front waits until everything outstanding is answered */
    SESSION_REFRESHING, /* … for a fresh catalog */
    SESSION_CANCELLING, /* … until a CancelRequest has been taken by the server */
    SESSION_GATED,      /* the gate works on a statement */
    SESSION_CLOSED,
    SESSION_STATE_COUNT,
};

enum gate_state {
    GATE_NONE = 0,
    GATE_LOOKUP,        /* the hold of EXECUTE pgwicket_hold(N) is being fetched */
    GATE_ESTIMATE,      /* EXPLAIN on its way */
    GATE_ESTIMATE_UNDO, /* it failed inside a transaction: back to the savepoint */
    GATE_RUN,           /* the statement runs uncommitted */
    GATE_RUN_UNDO,      /* too many rows, and a hold rule is next: rolling back */
    GATE_SETTLE,        /* sent to be committed: waiting for ReadyForQuery */
    GATE_SETTINGS,      /* reading the settings that a hold is bound to */
    GATE_COPY,          /* a held COPY FROM STDIN: taking the client's data */
    GATE_JOIN,          /* is the same statement held already? */
    GATE_REHEARSE,      /* the statement runs to be measured, and is rolled back */
    GATE_REHEARSE_UNDO, /* it failed: rolling back */
    GATE_STORE,         /* a new hold is being stored */
    GATE_LEAVE,         /* closing what is open upstream before a person is asked */
    GATE_WAIT,          /* for the person */
    GATE_CLAIM,         /* released: one session gets it */
    GATE_HOLD_RUN,      /* the held statement runs, up to its transaction id */
    GATE_HOLD_RECORD,   /* the transaction id is being stored */
    GATE_HOLD_COMMIT,
    GATE_HOLD_ABORT,    /* rolling back a run that failed or went over its limit */
    GATE_HOLD_FINISH,   /* the outcome is being stored */
    GATE_STATE_COUNT,
};

/* A statement being measured: in a rehearsal, or in a hold's run. Its texts live in the gate's arena. */
struct measuring {
    struct measure_plan plan;
    struct measured_rows rows;
    struct text snapshots[2];     /* before and after */
    size_t snapshot_count;
    struct text objects[2];       /* likewise, of DDL */
    size_t object_count;
    const struct effect *taken;   /* what it is known to take, whose rows are counted; NULL: nothing */
    struct text losses;           /* … and how many there are */
    struct text notices[LIMIT_REHEARSAL_NOTICES];
    size_t notice_count;
    int64_t tag_rows;
    int64_t started_us;
};

/* What the server has counted in the tables that foreign-key actions of a limited write can reach. */
struct counters_taken {
    bool known;
    int64_t total;     /* of the transaction: rows inserted, updated, deleted */
    struct text files; /* in the gate's arena: the tables' files; others once one was emptied */
};

struct counters {
    struct text sql;   /* in the gate's arena; empty: the command tag says it all */
    bool with_targets; /* the tag's rows are among those that are counted */
    struct counters_taken taken[2]; /* before and behind the statement */
    size_t count;
};

enum gate_origin { ORIGIN_QUERY = 1, ORIGIN_BIND, ORIGIN_EXECUTE };

/* The statement in the gate. All of it is reset by gate_end. */
struct gate {
    enum gate_state state;
    enum gate_origin origin;
    struct portal *portal;        /* retained */
    char transaction;             /* status when it came: I or T */
    bool fresh;                   /* T, and nothing but a preamble so far */
    char *client_portal;          /* owned; ORIGIN_BIND, ORIGIN_EXECUTE */
    char *client_statement;       /* owned; ORIGIN_BIND */
    struct arena arena;
    struct buffer explain;        /* EXPLAIN's output */
    bool followed;                /* more of its batch is behind it */
    bool savepoint;               /* it runs behind one, which it is brought back to if it must be held */
    bool accepted;                /* … and which is being released: it is within its limits */
    bool inside_batch;            /* EXPLAIN was asked for without a Sync, which would end the client's portals */
    struct hold_setting *bound;   /* in arena: the settings that a hold is bound to, as they are */
    size_t bound_count;
    bool bound_read;
    int64_t started_us;
    struct buffer reply;          /* kept reply: rows … */
    struct buffer complete;       /* … and its CommandComplete */
    bool over;                    /* the kept reply is larger than its limit */
    struct buffer error;          /* body of an ErrorResponse for the client; empty: none */
    struct hold_request *request; /* under way in the store; owned by it until it answers */
    const struct hold *hold;      /* in arena: as the store has it */
    bool waiting;                 /* counted by port->begin_waiting */
    bool left;                    /* the client's transaction was rolled back, hidden, for the wait */
    struct buffer copy;           /* of a held COPY FROM STDIN: the client's messages */
    bool copied;                  /* … all of them */
    bool run_known;               /* the run's identity has arrived */
    struct text run_id[5];        /* in arena: xid, pid, backend start, system identifier, timeline */
    enum hold_state outcome;      /* to be stored by GATE_HOLD_FINISH */
    struct counters counters;
    bool counts_effect;           /* of a limited run: the rows of all tables are measured */
    struct text run_tag;          /* in arena: its CommandComplete, until the counters behind it have come */
    struct measuring measuring;
    const struct effect *effect;  /* in arena: of the rehearsal or the run; NULL: not measured */
    const struct effect *taken;   /* in arena: what DDL was found to take; its rows are counted next */
    bool without_children;        /* the rows that cascades reach could not be told: measured again without */
    bool by_counts;               /* the target's could not, either: by counters alone */
    int rehearsals;
    bool empty;                   /* the rehearsal changed nothing: run at once, and held if it does */
    bool drifted;                 /* the run's effect is another than the one that was shown */
    int outside_answered;         /* of a run outside of a transaction: ReadyForQuery so far */
    bool settle_failed;           /* an error came for the Sync itself: no CommandComplete */
    bool cancelled;               /* by the client: nothing new is begun, and nobody waited for */
};

/* What was found for EXECUTE pgwicket_hold(N) or SHOW pgwicket.holds; used up by the message that asked. */
struct lookup {
    int64_t id;                   /* 0: nothing; LOOKUP_ALL: the agent's newest */
    bool answered;
    bool store_failed;
    struct arena arena;
    struct hold *const *holds;
    size_t hold_count;
};

enum { OUTCOMES_MAX = 256 };

/* A write whose end is not known before ReadyForQuery. */
struct outcome {
    struct judged *judged;
    int64_t statement_number;
    int64_t rows;
    int64_t hold;
    int64_t server_us;
    char tag[64];
};

/* Settings that the client has set, and that code which runs by itself may read. */
struct bound_settings {
    char *names[LIMIT_SETTINGS_FOLLOWED]; /* owned */
    size_t count;
    bool lost; /* there are more */
};

struct preamble {
    struct buffer text;      /* prints, NUL after each */
    size_t count;
};

/* T: the client's savepoints, and the released holds that ran in this transaction. Oldest first. */
struct savepoint {
    char name[64];
    size_t times; /* set so often in a row */
};

struct inside_run {
    int64_t hold;
    size_t depth; /* savepoints that were set before it */
};

struct inside {
    struct savepoint savepoints[LIMIT_SAVEPOINTS_FOLLOWED];
    size_t savepoint_count;
    struct inside_run runs[LIMIT_HOLDS_PER_TRANSACTION];
    size_t run_count;
    bool lost; /* there are more savepoints */
};

/* The settings that judging goes by, as they were read from the server: pins.c. */
struct pin_row {
    char *bytes; /* owned: the values, each with its length in front */
    size_t size;
};

struct pins {
    struct pin_row rows[LIMIT_PIN_ROWS]; /* since before the transaction: what each value may be */
    size_t count;
    bool known;          /* nothing but code has moved them since they were read last */
    bool from_outside;   /* the first row is from outside of the transaction */
    bool check;          /* user code ran: they are read back before judging on */
    bool settle;         /* … and the transaction is over: what is read stands alone */
    bool unread;         /* a hold made objects: read what there is in pg_temp before judging on */
    bool moved;          /* by the client itself, in this transaction: its end may move them back */
    bool moved_for_good; /* … or keep them */
    bool asked_outside, answered; /* the newest question */
    char *pinned;        /* owned: the settings that it asked for besides those of every policy */
};

/* A hold changed objects, or ran code: what no catalog shows in that transaction, nor behind it until one is
 * loaded. */
enum holds_made { HOLDS_MADE_NOTHING = 0, HOLDS_MADE_BEFORE, HOLDS_MADE_IN_TRANSACTION };

struct session {
    struct session_port port;
    struct arena setup_arena;
    struct session_setup setup;
    char prefix[20];              /* "pgwicket_1f2e3d4c": names of our own on the server */

    enum session_state state;
    enum session_end end;
    bool shutting_down;
    bool client_gone;

    struct queue queue;
    struct names *statements;
    struct names *portals;
    unsigned outstanding_changes; /* requests in the queue with changes that judging depends on */

    char status;                  /* of the transaction: I T E */
    bool batch_open;              /* extended messages were sent since the last Sync */
    bool flushed;                 /* … and a Flush behind the last of them */
    size_t batch_binds;           /* Binds since the last Sync */
    size_t batch_executes;        /* Executes since the last Sync */
    bool batch_writes;            /* one of them may have written */
    bool skipping;                /* the server ignores everything up to Sync */
    bool client_skipping;         /* the client has had an error: it gets nothing up to ReadyForQuery */
    bool hide_status;             /* ParameterStatus is not for the client now */
    bool poison_after_ready;      /* the next ReadyForQuery(T) must become E for the client */
    bool cancelling;              /* a CancelRequest is under way */
    struct pins pins;
    bool code_ran;                /* in this transaction: its end may run more, which was deferred */
    bool refreshed;               /* this message has had its fresh catalog */
    bool changed;                 /* in this transaction objects were changed, or code ran */
    bool catalog_stale;           /* … and it has ended */
    enum holds_made holds_made;
    struct text *temporary;       /* in setup_arena: relations that code has left in pg_temp, ever */
    size_t temporary_count, temporary_capacity;
    bool transaction_paused;      /* a pause ended it, and the client has not been told */
    struct instant paused_at;

    int64_t copy_left;            /* bytes of a CopyData that are still to stream from the client */
    int64_t server_left;          /* … of a DataRow or CopyData from the server */
    bool server_left_relayed;

    bool fresh;                   /* in T: only a preamble so far */
    struct bound_settings bound;
    struct preamble preamble;
    struct inside inside;
    size_t returning;             /* outcomes of holds that the store has not confirmed yet */

    int64_t offered_us;           /* when the client's message at the front was first looked at */
    bool offered;                 /* … and it has not been taken yet */
    int64_t spent_us;             /* on messages before it, since a statement was sent */

    int64_t statement_number;
    int64_t statement_timeout_us; /* as the agent has set it */
    struct gate gate;
    struct lookup lookup;
    size_t limited_outstanding;   /* selects with a row limit in the queue */
    struct buffer late;           /* of a Query in the extended protocol: RowDescription until the first
                                     row, CommandComplete until ReadyForQuery */
    bool batch_failed;            /* an error came since the last ReadyForQuery */
    char batch_sqlstate[6];
    int64_t swallow_left;         /* bytes of a message that is too large, still to come */
    uint8_t swallow_type;
    struct outcome outcomes[OUTCOMES_MAX];
    size_t outcome_count;

    struct buffer client_out;     /* scratch for one message to the client */
    struct buffer server_out;     /* scratch for messages to the server */
};

/* session.c */
void session_become(struct session *s, enum session_state next);
void session_end(struct session *s, enum session_end why); /* closes, nothing follows */
void session_fatal(struct session *s, const char *sqlstate, struct text message, enum session_end why);
void to_client(struct session *s, struct text bytes);
void to_client_error(struct session *s, struct text whole); /* an ErrorResponse */
/* Waits until the queue is empty; sends a Flush if needed. STEP_DONE when it is. */
enum step session_drain(struct session *s);
/* May the next client's message be judged now? Waits for what it depends on. */
enum step session_ready_to_judge(struct session *s);

/* statement.c: judges a text under the present view; never NULL. */
struct judged *session_judge(struct session *s, struct text sql, const struct parse_message *parse);
/* The statement of a hold, under the name of the hold. */
struct judged *session_judge_stored(struct session *s, const struct hold *hold);
/* Judged before; judged again if policy or catalog changed since. Retained for the caller. */
struct judged *session_judge_again(struct session *s, struct judged *judged);

/* simple.c, extended.c, copy.c */
enum step client_query(struct session *s, const struct frame *frame);
enum step client_parse(struct session *s, const struct frame *frame);
enum step client_bind(struct session *s, const struct frame *frame);
enum step client_describe(struct session *s, const struct frame *frame);
enum step client_execute(struct session *s, const struct frame *frame, struct text following);
enum step client_close(struct session *s, const struct frame *frame);
enum step client_flush(struct session *s);
enum step client_sync(struct session *s);
enum step client_copy(struct session *s, const struct frame *frame);
bool session_in_copy(const struct session *s);
void session_copy_part(struct session *s, struct text bytes); /* of a CopyData that streams */

bool session_copy_pending(struct session *s); /* a COPY FROM STDIN has been sent, no answer yet */

/* Sends a Query whose verdict is allow; `counters` as in execution_new. */
void query_relay(struct session *s, struct judged *judged, struct portal *const *counters, size_t count);
/* Forwards the Bind and the Execute of a portal whose verdict is allow; `counter` counts rows (the
 * portal itself, or the cursor that a FETCH reads). */
void bind_relay(struct session *s, struct portal *portal, struct text portal_name,
                struct text statement, struct text rest);
void execute_relay(struct session *s, struct portal *portal, struct portal *counter, struct text name,
                   uint32_t rows_max, bool keep);

/* What FETCH reads, or EXECUTE runs: a portal for counting (the caller releases it), or NULL with
 * `error` filled if there is no such thing or it may not run. */
struct portal *session_target(struct session *s, struct judged *judged, const struct shape *shape,
                              struct error_text *error);
/* A name was not found, or what was found may have changed: STEP_WAIT once, for a fresh catalog. */
enum step session_refresh_for(struct session *s, const struct judged *judged);
/* The same before a prepared statement is bound: only what this session did counts. */
enum step session_refresh_to_run(struct session *s, const struct judged *judged);
/* Rejected only because the catalog knows no such object, and the agent may be told so. */
bool judged_server_may_refuse(const struct judged *judged);
unsigned shape_relevant_changes(const struct judged *judged, const struct shape *shape);
/* Its own code, or that of what it executes or fetches from. */
bool shape_runs_code(struct session *s, const struct shape *shape);
/* What a request with this statement, and with what it executes or fetches from (NULL: nothing), changes. */
unsigned statement_changes(const struct session *s, const struct judged *judged, const struct shape *shape,
                           const struct portal *target);

/* template_run.c */
/* Fills portal->bind with a template's values; NULL: of a Query. False and `error` if they do not fit. */
MUST_USE bool template_keep_bind(struct portal *portal, const struct bind_message *message,
                                 struct error_text *error);
/* Sends the portal of a Query that executes a template and needs no gate. */
void template_query_relay(struct session *s, struct portal *portal);
/* For the client: its own parameters in the place of the template's. */
void template_relay_parameters(struct session *s, const struct template_call *call);
/* A reply to such a Query: true if it waits in s->late, is swallowed; what waited before it goes out. */
bool late_keep(struct session *s, const struct request *head, const struct frame *frame,
               struct text whole);
void late_relay(struct session *s);

/* send.c. Each appends to the queue what it sends. */
struct request *send_request(struct session *s, enum request_kind kind, enum request_role role);
struct request *send_query(struct session *s, struct text sql);
struct request *send_parse(struct session *s, enum request_role role, struct text name,
                           struct text sql, struct text types, uint16_t type_count);
struct request *send_bind(struct session *s, enum request_role role, struct text portal,
                          struct text statement, struct text rest);
struct request *send_execute(struct session *s, enum request_role role, struct text portal,
                             uint32_t rows_max);
struct request *send_describe(struct session *s, enum request_role role, uint8_t kind,
                              struct text name);
struct request *send_close(struct session *s, enum request_role role, uint8_t kind, struct text name);
void send_sync(struct session *s, enum request_role role);
void send_flush(struct session *s);
void send_copy(struct session *s, struct text whole);
/* One injected statement: gate.md's J. */
void send_injected(struct session *s, enum injected_purpose purpose, struct text sql);
void send_injected_bound(struct session *s, enum injected_purpose purpose, struct text sql,
                         struct text types, uint16_t type_count, struct text bind_rest);
/* A message that must fail in place of the client's; its error becomes `error_body`, which is copied.
 * Empty: it is swallowed. */
struct request *send_poison(struct session *s, struct text error_body);
struct request *send_poison_query(struct session *s, struct text error_body);
void request_release(struct request *request);
/* Notes that judging must wait for this request. */
void request_changes(struct session *s, struct request *request, unsigned changes);

/* server.c */
void server_message(struct session *s, const struct frame *frame, struct text whole);
/* Is a DataRow or CopyData that has not arrived whole to be passed on, dropped, or awaited? Those below
 * STREAM_BYTES_MIN are awaited. */
enum { STREAM_BYTES_MIN = 64 };
enum stream { STREAM_AWAIT = 0, STREAM_RELAY, STREAM_DROP };
enum stream server_stream(struct session *s, uint8_t type, size_t size);
/* Would a row of the head be read here, and not go through? */
bool server_row_is_read(struct session *s);
/* Pops and releases the head. */
enum fate { FATE_SKIPPED = 0, FATE_FAILED, FATE_ANSWERED };
void queue_finish_head(struct session *s, enum fate fate);

/* transaction.c */
void transaction_completed(struct session *s, const struct statement *statement, struct text print,
                           struct text tag);
void transaction_runs_code(struct session *s);
void transaction_hold_ran(struct session *s, const struct shape *shape);
void transaction_ready(struct session *s, char status);
void define_by_sql(struct session *s, struct judged *judged, size_t at);
bool transaction_is_fresh(const struct session *s);
void transaction_replay(struct session *s); /* sends the preamble */

/* gate.c */
void gate_query(struct session *s, struct portal *portal);
void gate_bind(struct session *s, struct portal *portal, const struct bind_message *bind);
/* `followed`: in its batch, by something else than Sync. */
void gate_execute(struct session *s, struct portal *portal, struct text name, bool followed);
bool gate_may_escalate(const struct judged *judged); /* from a limit to a hold */
void gate_error(struct session *s, struct text body); /* keeps it */
void gate_after_error(struct session *s);             /* acts on it, once the queue is in order */
void gate_drained(struct session *s);                 /* everything outstanding is answered */
void gate_run(struct session *s);
void gate_send_converted(struct session *s, struct text sql);
/* What a Query does to the client's unnamed statement and portal. */
void close_unnamed(struct session *s);
void gate_row(struct session *s, enum injected_purpose purpose, struct text body);
void gate_kept(struct session *s, const struct frame *frame, struct text whole);
void gate_ready(struct session *s);
void gate_settled(struct session *s); /* just before a ReadyForQuery is relayed */
void gate_become(struct session *s, enum gate_state next);
void gate_end(struct session *s); /* the statement is through; the client's next message is taken */
const struct shape *gate_shape(const struct gate *gate);
const struct decision *gate_decide(struct session *s, const struct numbers *numbers);
/* Shows gate.error in the way its origin demands, and ends the gate. */
void gate_show_error(struct session *s);
void gate_fail_with(struct session *s, const struct error_text *error);
/* Was it cancelled, and has not failed otherwise? Then that is its error. What the server was doing may have
 * ended before the cancel reached it (gate.md 8). */
bool gate_fail_if_cancelled(struct session *s);
/* The rejection that the portal's decision stands for. */
struct error_text gate_rejection(struct session *s, const struct numbers *numbers);
struct error_text gate_not_alone(void); /* a hold among other statements */
void gate_give_reply(struct session *s); /* the kept reply is the client's */
struct text gate_values(const struct portal *portal); /* Bind's part before the result formats */
struct text gate_result_formats(const struct portal *portal);

/* gate_look.c */
void gate_completed(struct session *s, struct text tag_body);
void gate_statement_ran(struct session *s, struct command_tag tag);
void counters_begin(struct session *s); /* as the decision has it */
void counters_send(struct session *s, bool behind); /* in front of the statement, then behind it */
void counters_row(struct session *s, struct text body);
void gate_explain_deferred(struct session *s); /* why it failed, if what it had not to meet yet made it fail */
void gate_run_answered(struct session *s); /* it, its counters, and what keeps it */

/* gate_measure.c */
/* The text that is shown, rehearsed and run: with the schemas that the names were found in. */
struct text gate_held_text(const struct judged *judged);
/* Forgets what was measured, and plans how `sql` is; `rows` and not only by counters. */
void measuring_begin(struct session *s, struct text sql, const uint8_t secret[16],
                     enum measured_part part);
/* Once everything is there; never NULL. */
const struct effect *measuring_effect(struct session *s);
void measuring_send_snapshot(struct session *s);
/* Behind the statement: deferred constraints and triggers fire, and are measured if there are snapshots. */
void measuring_send_deferred(struct session *s, bool measured);
/* Counts the rows of what `taken` empties or drops. */
void measuring_send_losses(struct session *s, const struct effect *taken);
void measuring_send_lock(struct session *s); /* the rows that will be changed, if they can be found */
struct text measuring_bind(struct session *s); /* the portal's Bind, with formats for what is appended */
void measuring_snapshot(struct session *s, struct text body);
void measuring_objects(struct session *s, struct text body);
void measuring_losses(struct session *s, struct text body);
void measuring_row(struct session *s, struct text body);
void measuring_notice(struct session *s, struct text body);
void measuring_completed(struct session *s, struct text tag_body);
struct text measuring_own_part(struct session *s, uint8_t type, struct text body);

/* gate_rehearse.c */
/* Why it is not rehearsed; empty: it can be. */
struct text rehearsal_problem(struct session *s);
bool may_be_planned(const struct decision *decision, const struct shape *shape);
void hold_rehearse_or_create(struct session *s); /* or it is refused */
void rehearse_ready(struct session *s);

/* bound.c: the settings that a hold is bound to. */
void bound_note(struct session *s, struct text lower_case_name); /* the client has set it */
void bound_follow(struct session *s, const struct shape *shape); /* … by this statement, which succeeded */
void bound_forget(struct bound_settings *bound);
void bound_ask(struct session *s);                          /* without a Sync */
void bound_row(struct session *s, struct text body);        /* the answer */
/* False: they are too many, or too large, to be shown. */
MUST_USE bool bound_describe(struct session *s, struct arena *arena, struct hold *hold);
/* Is one of them otherwise than it was for `hold`? Then `was` is that one, as the hold has it. */
bool bound_differs(const struct gate *gate, const struct hold *hold, struct hold_setting *was);

/* gate_store.c: the gate's requests to the store. */
struct hold_request *hold_new_request(struct session *s, enum hold_operation operation, int64_t id);
struct hold_request *hold_finish_request(struct session *s, int64_t id, enum hold_state state,
                                         struct text tag, struct text error);
void hold_post(struct session *s, struct hold_request *request); /* and waits for the answer */
void hold_post_and_forget(struct session *s, struct hold_request *request);
struct error_text hold_store_unusable(void);
void hold_lookup_answered(struct session *s, const struct hold_request *request);
enum { LOOKUP_ALL = -1, LOOKUP_HOLDS_MAX = 50 };
/* STEP_WAIT until the store has answered for this message. */
enum step hold_lookup(struct session *s, const struct judged *judged);
/* Puts what was found in the place of the message's statement. */
void hold_use_lookup(struct session *s, struct judged **judged);

/* gate_drift.c: the run's effect against the one that was shown. */
/* What was shown; false if nothing was known. */
bool hold_shown_effect(struct session *s, struct effect *shown);
bool hold_effect_is_as_shown(struct session *s);
void hold_drift(struct session *s);
void hold_drift_rolled_back(struct session *s); /* ends the hold, and makes the one that follows */
/* Does its rule let a person approve what was not rehearsed? */
bool hold_needs_no_effect(const struct decision *decision);
void hold_drift_stored(struct session *s, const struct hold_request *request);

/* gate_copy.c: COPY FROM STDIN under a hold. */
bool hold_needs_copy(const struct gate *gate); /* the client has not been asked for its data yet */
void hold_take_copy(struct session *s);
void hold_keep_copy(struct session *s);     /* while it runs to be counted, should a hold rule be next */
bool hold_copy_was_kept(struct session *s); /* false: it was too much, and is rejected */
void hold_copy_message(struct session *s, const struct frame *frame);
void hold_copy_cancelled(struct session *s); /* while it takes the data */
void hold_copy_bytes(struct session *s, struct text bytes); /* a part of a message that is still to come */
void hold_send_copy(struct session *s); /* the data, right behind Execute; nothing if there is none */
void hold_describe_copy(const struct gate *gate, struct arena *arena, struct hold *hold);

/* gate_hold.c */
void hold_start(struct session *s);
void hold_start_stored(struct session *s);
/* Everything of the statement is there: joins an open hold of the same one, or makes a new one. */
void hold_join_or_create(struct session *s);
/* Stores it: rehearsed, or with the reason why not. */
void hold_create(struct session *s);
void hold_settings_read(struct session *s);
void hold_answer(struct session *s, struct hold_request *request);
void hold_changed(struct session *s, const struct hold *hold);
void hold_stop_waiting(struct session *s, bool cancelled);
void hold_wait_paused(struct session *s); /* … and a transaction that was left is not begun again */
void hold_ready(struct session *s);
/* By the numbers of the run; NULL: its rules are gone. */
const struct decision *hold_decide_run(struct session *s);
void hold_run_identified(struct session *s); /* statement and transaction id are there */
void hold_error(struct session *s);
void hold_abort_run(struct session *s);
bool hold_is_inside(const struct gate *gate); /* the run is a part of the client's own transaction */
void hold_session_ends(struct session *s);

/* inside.c */
bool inside_has_room(const struct session *s);
void inside_began(struct session *s, int64_t hold);
int64_t inside_last_hold(const struct session *s); /* 0: none */
bool inside_has(const struct session *s, int64_t hold);
bool inside_may_have_committed(struct session *s); /* COMMIT was sent, and its answer has not come */
void inside_ended(struct session *s, bool committed);
void inside_reset(struct session *s);
void inside_savepoint(struct session *s, struct text name);
void inside_released(struct session *s, struct text name);
void inside_rolled_back_to(struct session *s, struct text name);
void inside_session_ends(struct session *s);
/* What commits waits until it is known, here and in the store, which holds it commits. */
enum step inside_before(struct session *s, const struct analysis *analysis);
/* May this message be sent after what ran inside? */
bool inside_allows(struct session *s, const struct analysis *analysis, struct error_text *error);

/* pins.c */
struct text pins_sql(struct arena *arena, const struct policy *policy, bool with_names);
void append_current_setting(struct buffer *sql, struct text name); /* NULL for one that does not exist */
/* Where the policy lets the client move them itself: what a transaction's end goes back to. */
enum step pins_before_transaction(struct session *s);
enum step pins_before_code(struct session *s, const struct judged *judged);
enum step pins_after_code(struct session *s);
void pins_code_ran(struct session *s); /* or was tried: names are not given back by a rollback */
void pins_client_moved(struct session *s, bool for_good);
void pins_went_back(struct session *s); /* ROLLBACK TO */
void pins_transaction_ended(struct session *s, bool code_ran);
void pins_row(struct session *s, struct text body);
void pins_completed(struct session *s);
void pins_failed(struct session *s);
void pins_forget(struct pins *pins);

/* explain.c */
struct estimate {
    double rows;  /* of all writes together; of the top node for others; < 0: unknown */
    double cost;
    struct plan_step costliest;
    bool unanalysed; /* a written table has no statistics: rows mean nothing */
};
/* Texts of `estimate` live in `arena`. */
MUST_USE bool explain_read(struct arena *arena, struct text json, const struct shape *shape,
                           struct estimate *estimate);

/* report.c */
bool report_statement(struct session *s, const struct judged *judged, const struct portal *portal,
                      size_t at, int64_t number, enum verdict verdict, const struct error_text *error);
bool report_message(struct session *s, const char *what, const char *sqlstate);
void report_outcome(struct session *s, const struct outcome *outcome, bool success, struct text sqlstate);
void outcome_add(struct session *s, const struct execution *execution, struct text tag, int64_t rows);
void outcomes_flush(struct session *s, bool success, struct text sqlstate);

/* measures.c */
void measure_offered(struct session *s);  /* a message of the client is at the front */
void measure_taken(struct session *s, uint8_t type); /* … and has been dealt with, or is the gate's */
void measure_gated(struct session *s);    /* the gate is through with it */
void measure_sent(struct session *s);     /* the statement that it runs is on its way */
void measure_since(struct session *s, enum session_measure what, int64_t began_us);
void measure_estimate(struct session *s, double estimated_rows, int64_t rows); /* < 0: not known */

/* errors.c: bodies of ErrorResponse in the scratch buffer; valid until the next one. */
struct text error_body(struct session *s, const char *sqlstate, struct text message, struct text detail,
                       struct text hint, int position);
struct text error_body_from(struct session *s, const struct error_text *error, int position);
struct text error_body_audit(struct session *s);
/* `state`: of the data, "nothing was run". */
struct error_text error_paused(struct arena *arena, struct instant at, const char *state);
struct error_text error_ran_inside(struct arena *arena, const struct hold *hold);
struct error_text error_hold(struct arena *arena, const struct hold *hold, bool waited);

/* relayed.c: the body for the client, into `out`, of a server's error or notice; always one. */
/* Of the statement that the gate runs; `position` is in the client's text. */
void server_error_of(struct session *s, const struct judged *judged, struct text body,
                     const struct error_fields *fields, int position, struct buffer *out);
/* Of the queue's head, or of none. */
void server_error_for(struct session *s, const struct request *head, struct text body,
                      const struct error_fields *fields, struct buffer *out);

#endif

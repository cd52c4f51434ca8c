/*
 * store.h - where holds live: durable, one writer thread, requests and answers.
 *
 * hold_store_post queues a request and returns at once. The store's own thread carries it out in one
 * transaction and calls `done` on that thread; whatever the answer says is then durable (SQLite: WAL,
 * synchronous FULL). The poster owns the request, must keep it alive until `done`, and frees it after.
 * `done` is called exactly once for each posted request, in order, also on failure.
 *
 * The thread also expires holds (every second), lapses released ones that were not run in time, and
 * deletes decided ones after `retain`.
 *
 * Beside the holds it keeps an outbox: messages for receivers outside, which are written in the same
 * transaction as the change that they tell of, and stay until they are settled.
 */
#ifndef PGWICKET_HOLDS_STORE_H
#define PGWICKET_HOLDS_STORE_H

#include "proxy/holds/browse.h"

struct hold_store;

enum hold_operation {
    HOLD_OP_CREATE = 1, /* input: hold (all but id, state, digest, match; created where it is 0),
                           pending_max (< 0: no limit); or replaces, session: see below */
    HOLD_OP_JOIN,       /* hold: what CREATE would join, or HOLD_NOT_FOUND; nothing is made */
    HOLD_OP_GET,        /* id (and agent: if not empty, only that agent's), policies */
    HOLD_OP_LIST,       /* filter_state or all, agent (empty: any), policies, after (id; 0: from
                           newest), limit; newest first */
    HOLD_OP_RELEASE,    /* id, approver, digest, policies: adds an approval; the last one releases */
    HOLD_OP_REFUSE,     /* id, approver, digest, reason (not empty), policies */
    HOLD_OP_CLAIM,      /* id, agent, session: released → running; only one session gets it */
    HOLD_OP_RUN,        /* id, session: stores xid, backend_pid, backend_start, system_identifier, timeline */
    HOLD_OP_FINISH,     /* id, session, new_state (executed, failed, drifted, unknown, or released to give
                           the claim back), tag, error, effect */
    HOLD_OP_BROWSE, /* browse, policies, agent, filter_state, id, after, limit: see browse.h */
    HOLD_OP_TELL,       /* messages, message_count: into the outbox */
    HOLD_OP_DUE,        /* targets, target_count, limit, stale_before: of the outbox, at most `limit`
                           for each target, the longest due first; what is older is deleted */
    HOLD_OP_SETTLE,     /* id (of a message), due: 0 takes it out of the outbox, else it is tried again
                           then */
};

/* A message of the outbox. */
struct hold_message {
    int64_t id;         /* the store's; 0: not stored yet */
    struct text target; /* whom it is for: a word of the composer's */
    struct text name;   /* the same at each attempt, and no other message's to this target */
    struct text body;
    struct instant created;
    struct instant due; /* not to be sent before */
    int64_t attempts;   /* that failed */
};

enum hold_answer {
    HOLD_STORE_FAILED = 0, /* the store cannot be used: 58030; `problem` says why */
    HOLD_OK,
    HOLD_JOINED,           /* CREATE, JOIN: the same statement already is pending, released or running */
    HOLD_TOO_MANY,         /* CREATE: pending_max reached */
    HOLD_NOT_FOUND,        /* also another agent's */
    HOLD_WRONG_STATE,      /* the hold is in `holds[0]` with its state */
    HOLD_WRONG_DIGEST,
    HOLD_NOT_APPROVER,
    HOLD_ALREADY_DECIDED,  /* this approver has approved it before */
};

struct hold_request {
    enum hold_operation operation;
    void (*done)(struct hold_request *request); /* on the store's thread */
    void *owner;                                /* the poster's */

    struct arena arena; /* of inputs and answer; arena_init before, arena_release after */

    /* Inputs, see hold_operation. */
    const struct hold *hold;
    int64_t pending_max;
    struct text copy_data; /* CREATE of a COPY FROM STDIN: what the client sent */
    int64_t replaces; /* CREATE after a drift: the hold whose effect changed. Still running under
                         `session`, it becomes drifted (tag, error, effect) in the same transaction;
                         it is told its replaced_by. The new one is not counted against pending_max. */
    int64_t id;
    struct text agent;
    struct text session;
    struct text approver;
    const struct text *policies; /* that the approver is limited to; policy_count 0: all */
    size_t policy_count;
    uint8_t digest[SHA256_SIZE];
    struct text reason;
    enum hold_state filter_state; /* HOLD_NONE: all */
    int64_t after;
    int64_t limit;
    struct hold_browse *browse; /* the poster's */
    enum hold_state new_state;
    struct text tag;
    struct text error;
    struct text effect;
    struct text xid;
    int64_t backend_pid;
    struct text backend_start;
    struct text system_identifier;
    int64_t timeline;
    const struct text *targets;
    size_t target_count;
    struct instant stale_before;
    struct instant due;

    /* Of the outbox: inputs of TELL, the answer of DUE. */
    const struct hold_message *messages;
    size_t message_count;

    /* Answer; memory in `arena`. CREATE, GET and every change give the hold as it is now. */
    enum hold_answer answer;
    struct hold **holds;
    size_t hold_count;
    struct text copied; /* CLAIM of a COPY FROM STDIN: its data */
    struct instant next_due;  /* DUE: of the first message that is not due yet; 0: there is none */
    int64_t stale_count;      /* DUE: so many were deleted as too old */
    char problem[256];
    struct hold_request *next; /* the store's */
};

/* Told of every change of state after it is durable, on the store's thread and before `done`: for
 * waiting sessions, the audit log, live pages. An approval that does not suffice yet is told with
 * `before` equal to the state. The hold lives for the call only. */
typedef void hold_listener(void *context, const struct hold *hold, enum hold_state before);

/* Which messages a change is told by: called on the store's thread in the transaction of the change,
 * so that neither is stored without the other. Returns their number; they live in `arena`. */
typedef size_t hold_composer(void *context, struct arena *arena, const struct hold *hold,
                             enum hold_state before, const struct hold_message **messages);

struct hold_hooks {
    void *context;
    hold_listener *changed; /* may be NULL */
    hold_composer *compose; /* may be NULL */
};

/*
 * Opens or creates "sqlite:PATH" (absolute, mode 0600, one process at a time). On start holds found
 * `running` are left so: see hold_store's README, crash recovery asks the server for their transaction
 * (net/recover). NULL with `problem` on failure. `hooks` is copied; NULL: none.
 */
struct hold_store *hold_store_open(const char *location, int64_t retain_us,
                                   const struct hold_hooks *hooks, char *problem, size_t size);

void hold_store_post(struct hold_store *store, struct hold_request *request);

/* Finishes what is queued, then ends the thread. */
void hold_store_close(struct hold_store *store);

/* When the oldest pending hold was created, 0 if there is none; may be a second old. */
struct instant hold_store_oldest(struct hold_store *store);

/* Counts by state, for metrics and limits; safe from any thread, may be a moment old. */
void hold_store_counts(struct hold_store *store, int64_t counts[HOLD_STATE_COUNT]);

/* Messages that found the outbox of their target full, since the store was opened; from any thread. */
int64_t hold_store_dropped(struct hold_store *store);

#endif

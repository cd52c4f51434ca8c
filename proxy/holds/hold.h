/*
 * hold.h - a statement that waits for a person: its data, its states, its digest. Pure.
 *
 *   pending → released → running → executed
 *      |          |          \→ released (rolled back before anything was committed), failed, drifted,
 *      |          \→ lapsed      unknown
 *      \→ refused, expired
 *
 * A stored hold never changes but for its state, decisions and outcome.
 */
#ifndef PGWICKET_HOLDS_HOLD_H
#define PGWICKET_HOLDS_HOLD_H

#include "proxy/base/arena.h"
#include "proxy/base/clock.h"
#include "proxy/base/digest.h"

enum hold_state {
    HOLD_NONE = 0, /* no such hold; nothing may run */
    HOLD_PENDING,
    HOLD_RELEASED,
    HOLD_RUNNING,
    HOLD_EXECUTED,
    HOLD_REFUSED,
    HOLD_EXPIRED,
    HOLD_LAPSED,
    HOLD_DRIFTED,
    HOLD_FAILED,
    HOLD_UNKNOWN,
    HOLD_STATE_COUNT,
};

const char *hold_state_name(enum hold_state state);
enum hold_state hold_state_from_name(struct text name);

/* The table of legal edges; hold_state_may_become(HOLD_NONE, HOLD_PENDING) is how one begins. */
bool hold_state_may_become(enum hold_state from, enum hold_state to);
bool hold_state_is_final(enum hold_state state);

/* One value as a person reads it. */
struct hold_value {
    struct text type; /* "integer" */
    struct text text;
    bool is_null;
};

/* In place of a transaction id: it was sent without a transaction block, and its end may never be known. */
#define HOLD_RUNS_OUTSIDE "none"

struct hold_setting {
    struct text name;
    struct text value;
};

struct hold_approval {
    struct text by;
    struct instant at;
};

struct hold {
    int64_t id;
    enum hold_state state;

    /* Who and why. */
    struct text agent;
    struct text policy;
    struct text rule;       /* the first held action's */
    struct text rules;      /* every rule that holds, joined by ", " */
    struct text rule_text;
    struct text approvers;  /* who may decide, beyond "any of the policy": names joined by ","; one
                               ';'-separated group for each rule; empty: any approver of the policy */
    struct text upstream;
    struct text database;
    struct text verb;
    struct text client;     /* "10.0.3.9:51522" */
    struct text session;

    /* What will run. */
    struct text template;         /* whose SQL `statement` is; empty: the agent's own */
    struct text statement;        /* the checked print: shown, and run byte for byte */
    const uint32_t *types;        /* parameter types as the client or the server gave them */
    size_t type_count;
    struct text values_wire;      /* Bind's parameter formats and values, as sent */
    const struct hold_value *values;
    size_t value_count;
    int64_t copy_bytes;           /* COPY FROM STDIN: how much data was sent, … */
    struct text copy_sha256;      /* … its digest in hex; empty: it is no COPY */
    struct text copy_head;        /* … and how it begins, for the approver; all of it is in the store alone */
    const struct hold_setting *settings; /* what the agent changed, and role and search_path */
    size_t setting_count;

    /* What it is expected to do. */
    double estimate_rows; /* < 0: none */
    double estimate_cost;
    struct text plan;
    struct text effect;   /* JSON object; {"known": false, "why": …} where it was not rehearsed */

    /* When. 0: not set. */
    struct instant created;
    struct instant expires;
    struct instant run_until;
    int64_t wait_us;       /* how long its session waits, for "waiting_until" */
    int64_t run_within_us; /* the last approval sets run_until to its time and this; 0: no end */

    /* Decisions. */
    int64_t quorum;
    const struct hold_approval *approvals;
    size_t approval_count;
    struct text decision;        /* "release", "refuse", or empty */
    struct text decided_by;
    struct text decision_reason;
    struct instant decided;

    /* The run: stored before anything irreversible is sent (gate.md 6). */
    struct text run_session;
    struct text xid;             /* pg_current_xact_id() as text, or HOLD_RUNS_OUTSIDE; empty until known */
    int64_t backend_pid;
    struct text backend_start;
    struct text system_identifier;
    int64_t timeline;

    /* Outcome. */
    struct instant finished;     /* when it reached a final state */
    struct text outcome_tag;     /* "DELETE 42" */
    struct text outcome_error;
    struct text outcome_effect;  /* JSON: of a drifted run, what it would have done; may be empty */

    int64_t follows;             /* the hold of the same statement that was executed before; 0 */
    int64_t replaced_by;

    uint8_t digest[SHA256_SIZE]; /* hold_digest: what a release is bound to */
    uint8_t match[SHA256_SIZE];  /* hold_match: "the same statement sent again" */
    uint8_t sample_secret[16];   /* for the random sample of rows */
};

/* Over template, statement, types, values, settings, effect, agent, upstream: what the approver was shown. */
void hold_digest(const struct hold *hold, uint8_t digest[SHA256_SIZE]);

/* Over agent, upstream, template, statement, types, values, settings: equal means "the same sent again". Values
 * are compared as they were sent, so the same value in another wire format is another statement. */
void hold_match(const struct hold *hold, uint8_t match[SHA256_SIZE]);

/* May an approver who is limited to these policies (0: all) see it? */
bool hold_visible(const struct hold *hold, const struct text *policies, size_t policy_count);

/* May this approver decide it? Its policy must be visible to them, and of each group of `approvers`
 * they must be one. Nobody decides for an agent of their own name. */
bool hold_approver_may(const struct hold *hold, struct text approver, const struct text *policies,
                       size_t policy_count);

/* Did it run, or may it have, where nothing rolls back what an error leaves done? */
bool hold_ran_outside(const struct hold *hold);

/* A deep copy into an arena. */
struct hold *hold_copy(struct arena *arena, const struct hold *hold);

#endif

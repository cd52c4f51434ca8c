/*
 * policy.h - a policy as data: rules in order, hidden columns, settings, limits.
 *
 * Built by config/ in an arena that belongs to the configuration; immutable afterwards, shared by
 * threads. Texts are decoded names.
 */
#ifndef PGWICKET_RULES_POLICY_H
#define PGWICKET_RULES_POLICY_H

#include "parser/analyse.h"
#include "proxy/base/place.h"
#include "rules/template.h"

enum verdict {
    VERDICT_REJECT = 0, /* zeroed memory rejects */
    VERDICT_HOLD,
    VERDICT_ALLOW,
};

const char *verdict_name(enum verdict verdict);

/*
 * What a rule's `on` or a policy's `hidden` names: dotted parts, each of which may end in, or be, '*'.
 * The pattern `*` alone is `any`. Written: shop.orders · shop.* · shop.events_* · "*.*.email" ·
 * shop."Order.Items" · role:bob · setting:search_path · refund_order (a template, verb execute).
 */
enum { PATTERN_PARTS_MAX = 3 };

struct name_pattern {
    struct text text; /* without the '*' at its end */
    bool prefix;      /* ended in '*' */
};

struct object_pattern {
    struct text source; /* as written, for messages */
    struct place place;
    bool any;           /* `*` alone: every object, also those without a name */
    enum object_kind kind;
    struct name_pattern parts[PATTERN_PARTS_MAX]; /* schema, name[, column] or one name */
    size_t part_count;
};

/*
 * Parses a pattern of 1 or 2 parts for objects (`columns` false) or of 3 parts for columns (true).
 * On failure returns false and sets *problem to a static text that says what was expected.
 */
MUST_USE bool object_pattern_parse(struct arena *arena, struct text source, bool columns,
                                   struct object_pattern *pattern, const char **problem);

bool object_pattern_matches(const struct object_pattern *pattern, const struct object *object);

/* Of a column pattern: does it cover this column of this relation? */
bool column_pattern_matches(const struct object_pattern *pattern, struct text schema,
                            struct text relation, struct text column);

/* Does a rule name this object without any '*' in its pattern? */
bool object_pattern_is_literal(const struct object_pattern *pattern);

enum { LIMIT_NONE = -1 };

struct rule {
    struct text name;       /* given, or "policy.N" */
    struct place place;
    enum verdict verdict;
    bool verbs[VERB_COUNT]; /* `all` sets every one */
    bool all_verbs;
    const struct object_pattern *on;
    size_t on_count;

    /* Conditions; those that are not written are at their neutral values. */
    const struct text *columns; /* names of columns; NULL: no condition */
    size_t column_count;
    const struct object_pattern *not_columns; /* schema.relation.column; a bare name is *.*.name */
    size_t not_column_count;
    enum where_strength where;
    int64_t max_rows; /* LIMIT_NONE if not written */
    int64_t max_effect; /* likewise: rows changed in all tables */
    double max_cost;  /* < 0 if not written */
    enum table_lock max_lock; /* LOCK_ACCESS_EXCLUSIVE, the strongest there is, if not written */

    struct text message;         /* shown to the agent; may be empty */
    const struct text *approvers; /* names; NULL: any approver of the policy */
    size_t approver_count;
    int64_t quorum;              /* 0: the policy's */
    bool unrehearsed_hold;       /* `unrehearsed: hold` */
    bool rehearse;               /* `rehearse: true` */

    struct text text;            /* the rule in words, one line: shown in messages and to approvers */
};

struct setting_rule {
    struct text name;  /* lower case */
    struct text value; /* as written; of a pin from an attribute: the agent's value is put in later */
    bool pinned;
    struct text attribute; /* {pin: {attribute: tenant}}: "tenant"; empty otherwise */
};

enum { UNLIMITED = -1 };

struct policy {
    struct text name;
    struct place place;
    bool observe;              /* mode: observe */
    bool introspection;        /* introspection: allow */
    bool send_original;        /* send: original */
    bool transparent;          /* a rule `allow: [all] on: ["*"]` without conditions stands first enough
                                  that everything is allowed: spec 3.1 */
    bool search_path_pinned;   /* not policy_may_set_search_path */
    const struct text *search_path; /* NULL: not written and not pinned, the server's own stays */
    size_t search_path_count;
    const struct object_pattern *hidden; /* column patterns */
    size_t hidden_count;
    const struct setting_rule *settings;
    size_t setting_count;
    const struct rule *rules;
    size_t rule_count;

    /* What any policy of the file lets its agents create, alter or replace without asking a person: a
     * view of such a name is not an object of its own (spec 3.2). */
    const struct object_pattern *makeable;
    size_t makeable_count;

    /* Every template of the file; `execute` rules name them. */
    const struct template *templates;
    size_t template_count;

    /* `hold:`; durations in microseconds */
    int64_t hold_wait_us;
    int64_t hold_expire_us;
    int64_t hold_run_within_us;
    int64_t hold_quorum;
    int64_t rehearse_max_rows;
    int64_t rehearsal_timeout_us;
    int64_t rehearsal_lock_timeout_us;
    int64_t copy_max_bytes;

    /* `limits:`; UNLIMITED where so written */
    int64_t sessions_max;
    int64_t pending_max;
    int64_t waiting_max;
    int64_t rehearsals_per_minute;
    int64_t prepared_statements_max;
};

/* Derived facts, computed from the rules. */

/*
 * The agent may create, alter, drop, call, run code, or set search_path: a name without a schema is
 * judged as everything that it could mean. What the policy only holds is a person's change, which the
 * catalog shows like any other of the owner's: it counts (`held`) in a transaction in which such a hold
 * ran, and until a catalog was loaded after it. `call` of what is a sequence by `catalog` (NULL: nothing is
 * known) runs no code.
 */
bool policy_may_make_objects(const struct policy *policy, bool held, const struct catalog *catalog);

/* What the rules let the agent make, change or drop, as analyse() wants to know it; in `arena`. */
const struct makeable *policy_makeable(struct arena *arena, const struct policy *policy, bool held,
                                       size_t *count);

/* The agent may SET ROLE or SET SESSION AUTHORIZATION to some role. */
bool policy_may_change_role(const struct policy *policy);

/* Does it pin a setting that is none of PostgreSQL's own, whose name has a dot? */
bool policy_pins_custom(const struct policy *policy);

/* No rule allows or holds anything but select, listen and execute of templates that only read: the
 * session is default_transaction_read_only. */
bool policy_reads_only(const struct policy *policy);

/* An allow rule with all verbs on `*` that nothing before it can pre-empt, and no hidden columns:
 * what `transparent` is set to. */
bool policy_allows_everything(const struct policy *policy);

/* Does some rule allow or hold this verb on this object, whatever its conditions? */
bool policy_may(const struct policy *policy, enum verb verb, const struct object *object);

/* Does some rule let a SET of search_path run, be it after a release? */
bool policy_may_set_search_path(const struct policy *policy);

/* Does this rule allow or hold the template, and does the template do this with the object? */
bool rule_executes_use(const struct rule *rule, const struct template *template, enum verb verb,
                       const struct object *object);

/* May a person be asked under this policy? */
bool policy_holds(const struct policy *policy);

/* Does this rule allow a template that says `hold: true`, so that it is held after all? */
bool rule_allows_held_template(const struct policy *policy, const struct rule *rule);

/* Does any rule of the policy name this object literally, and may no agent make it? (spec 3.2, views) */
bool policy_names_literally(const struct policy *policy, const struct object *object);

/* Writes the rule in words: "allow update on shop.orders, columns status, notes, where: key,
 * max_rows: 1". */
struct text rule_in_words(struct arena *arena, const struct rule *rule);

/*
 * Is the rule possible at all? A condition on a verb that does not have it, or a rule that can never
 * match, gives a text in `arena` that says what is wrong and how to split the rule; else empty text.
 */
struct text rule_problem(struct arena *arena, const struct rule *rule);

/* Is everything that this rule names decided by rules before it? A text that names one; else empty. */
struct text rule_shadowed(struct arena *arena, const struct policy *policy, size_t index);

/* No condition is written: the rule decides on verb and object alone. */
bool rule_is_unconditional(const struct rule *rule);

#endif

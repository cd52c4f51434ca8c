/*
 * decide.h - shape × policy → decision. Pure.
 *
 * A decision is made up to three times for one statement: from its text; again with the planner's
 * cost and, where it is beyond rehearse_max_rows, its row estimate; again with the real number of rows.
 * A number that is not known yet never fails its condition: it is listed as open instead, and the
 * caller must find it out (or enforce it) before anything is committed.
 */
#ifndef PGWICKET_RULES_DECIDE_H
#define PGWICKET_RULES_DECIDE_H

#include "rules/policy.h"

/* One step of the planner's plan. */
struct plan_step {
    struct text node;          /* "sequential scan"; empty: not known */
    struct text schema, table; /* what it reads; empty: no table */
    double rows;
};

#define EFFECT_UNCOUNTED INT64_MAX

/* What is known of a statement's numbers. Zero: nothing. */
struct numbers {
    bool has_cost;
    double cost;
    struct plan_step costliest; /* of the plan with this cost */
    bool has_rows;  /* rows of writes: real, or an estimate that rejects by its size */
    int64_t rows;
    bool rows_real; /* rows is the counted number, not an estimate */
    bool has_effect; /* it was run: `effect` rows were changed in all tables */
    int64_t effect; /* … EFFECT_UNCOUNTED: it could not be told how many */
};

enum condition {
    CONDITION_NONE = 0,
    CONDITION_NO_RULE,     /* no rule names this verb on this object */
    CONDITION_HIDDEN,      /* a hidden column */
    CONDITION_REJECT_RULE, /* a reject rule matched */
    CONDITION_COLUMNS,
    CONDITION_NOT_COLUMNS,
    CONDITION_WHERE,
    CONDITION_MAX_ROWS,
    CONDITION_MAX_EFFECT,
    CONDITION_MAX_COST,
    CONDITION_MAX_LOCK,
    CONDITION_FOREIGN_KEYS, /* a limited write whose foreign-key actions lead too far to be counted */
    CONDITION_INTROSPECTION,
    CONDITION_SETTING,      /* a setting that may not be changed or read */
    CONDITION_UNRESOLVED,   /* the catalog has no such object */
    CONDITION_TWO_PHASE,    /* only for `all` on `*` */
    CONDITION_EXPLAIN_ANALYZE, /* of a limited or held statement */
    CONDITION_NOT_COUNTABLE,   /* rows cannot be counted before commit (spec 3.2) */
    CONDITION_EFFECT_UNKNOWN,  /* a max_effect whose rows nothing can count before commit */
    CONDITION_UNBOUNDED_COPY,  /* COPY TO STDOUT by a select rule that bounds no rows */
    CONDITION_HELD_FORM,       /* needs approval, but came as COPY, PREPARE, DECLARE or EXPLAIN */
    CONDITION_UNREHEARSABLE,   /* needs approval, but may not be rehearsed (spec 4.2) */
    CONDITION_TEMPLATE_NAME,   /* the name of a template in another statement than EXECUTE */
    CONDITION_COUNT,
};

/* As a policy writes it: "columns", "where", "max_rows"; "" for those that no policy writes. */
const char *condition_name(enum condition condition);

/* Tables whose changed rows count for a write's max_rows, whoever changes them: foreign-key actions can. */
struct counted_tables {
    const uint32_t *oids;
    size_t count;      /* 0: there are none, the command tag says it all */
    bool with_targets; /* the statement's own tables are among them, so the tag is contained */
};

/* One action's outcome, for `judge --explain`, the audit log and messages. */
struct action_decision {
    const struct action *action;
    enum verdict verdict;
    const struct rule *rule;     /* that decided; NULL: none matched */
    const struct rule *nearest;  /* on rejection: the rule of this verb and object that came
                                  nearest to holding; NULL: none names them */
    enum condition failed;       /* why: of `nearest`, or what is wrong with the action itself */
    struct text column;          /* CONDITION_HIDDEN, COLUMNS, NOT_COLUMNS, INTROSPECTION: which */
    int64_t open_rows;           /* max_rows still to be enforced; LIMIT_NONE if none or proven */
    int64_t open_effect;         /* max_effect, likewise */
    double open_cost;            /* max_cost still to be asked for; < 0 if none */
    bool listed;                 /* held by another action's rule, because its rehearsal tells what
                                  CASCADE reaches */
    bool implicit;               /* needed no rule (harmless function, catalog column, …) */
};

/*
 * A statement's decision covers what it wraps: PREPARE and DECLARE are decided as their query would be
 * when run; what must be held or counted is rejected in such a form. A plain EXPLAIN has no open limits.
 * Settings that need a rule, and statements that only `all` on `*` allows, are actions here too, behind
 * those of the shape.
 *
 * So is EXECUTE of a template: `execute` on it, held if the template says so. What its SQL can be held to
 * (max_rows, may it be rehearsed) depends on that SQL's own shape and is not decided here.
 */

struct decision {
    enum verdict verdict;               /* the strictest */
    const struct action_decision *actions;
    size_t action_count;
    const struct action_decision *decisive; /* first of the strictest; NULL when there are no actions */

    enum condition failed; /* on rejection, also where no action is to blame */
    struct text subject;   /* setting name, …, for such */

    /* Open limits of the whole statement: */
    bool needs_cost;          /* EXPLAIN must be asked before it may run */
    int64_t select_rows_max;  /* stop the result there; LIMIT_NONE */
    int64_t write_rows_max;   /* smallest open limit of its writes; LIMIT_NONE: needs no counting */
    int64_t effect_max;       /* smallest open max_effect: the rows of all tables must be counted */
    struct counted_tables counted; /* … besides its command tag */
    int64_t quorum;           /* holds: the largest */
};

/* What may be decided on besides the policy's rules. */
struct decide_context {
    const struct policy *policy;
    const struct catalog *catalog; /* NULL: offline */

    /* Values of `settings:` for this agent, attributes put in, same order as policy->settings. */
    const struct text *setting_values;

    /* The open transaction has changed objects: the catalog does not have its foreign keys, so no number of rows
     * is proven that they could add to. */
    bool keys_in_doubt;
};

/* `out` and what it points at live in `arena` and refer to shape and policy. */
void decide(struct arena *arena, const struct decide_context *context, const struct shape *shape,
            const struct numbers *numbers, struct decision *out);

/* Is it held only as far as a rehearsal tells what CASCADE drops? */
bool decision_lists_cascade(const struct decision *decision);

/* What became of one rule in the search for an action's verdict; for `judge --explain`. */
struct rule_outcome {
    const struct rule *rule;
    bool names_action;     /* verb and object are the rule's */
    enum condition failed; /* CONDITION_NONE: it would decide */
    struct text column;
};

/* Every rule of the policy, in order, for the action of a decision. Array of policy->rule_count. */
const struct rule_outcome *decide_outcomes(struct arena *arena,
                                           const struct decide_context *context,
                                           const struct shape *shape,
                                           const struct numbers *numbers,
                                           const struct action *action);

#endif

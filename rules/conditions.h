/*
 * conditions.h - do a rule's conditions hold for one action? Internal to rules/.
 *
 * A condition that depends on a number which is not known yet holds and is left open.
 */
#ifndef PGWICKET_RULES_CONDITIONS_H
#define PGWICKET_RULES_CONDITIONS_H

#include "rules/decide.h"

/* How the rows of a statement's writes can be counted before it is committed. */
struct counting {
    bool rehearsable;     /* it may run uncommitted */
    bool countable;       /* it may run uncommitted, and its command tag counts what it changes itself */
    bool tables_complete; /* `tables` are all that foreign-key actions can reach */
    struct counted_tables tables;
};

/* One action, with what its conditions may depend on. */
struct matching {
    struct arena *arena;
    const struct decide_context *context;
    const struct shape *shape;
    const struct numbers *numbers;
    const struct action *action;
    size_t index;    /* of `action` in the shape; beyond them for implicit actions */
    struct counting counting;
    bool only_planned; /* a plain EXPLAIN: it will not run, so nothing is to be counted */
};

struct condition_result {
    enum condition failed; /* CONDITION_NONE: all hold */
    struct text column;
    int64_t open_rows;     /* LIMIT_NONE, or the limit that is to be enforced */
    int64_t open_effect;   /* likewise of max_effect */
    double open_cost;      /* < 0, or the cost that is to be asked for */
};

/* Verb and object. */
bool rule_names_action(const struct rule *rule, const struct action *action);

struct condition_result rule_conditions(const struct matching *matching, const struct rule *rule);

bool verb_is_write(enum verb verb); /* of those whose rows are counted */

/* Why a rollback might not undo what the action's relation runs by itself; empty: it does. */
struct text action_not_undone(const struct action *action);

/* The same of event triggers, which run when objects are changed. */
struct text events_not_undone(const struct decide_context *context, const struct shape *shape);

/* Does a foreign-key action start at one of its targets? */
bool shape_starts_foreign_keys(const struct shape *shape);

struct counting statement_counting(struct arena *arena, const struct decide_context *context,
                                   const struct shape *shape);

/* May it be run and rolled back before anybody has approved it? (spec 4.2) */
bool statement_is_rehearsable(const struct decide_context *context, const struct shape *shape);

/* A function of the catalog's look-ups, open under introspection: allow. */
bool is_catalog_call(const struct action *action);

/* The column of `patterns` that the action touches, in its relation, a parent or a child of it; true and
 * its name, or what may be it. */
bool action_touches_column(const struct matching *matching, const struct action *action,
                           const struct object_pattern *patterns, size_t count,
                           struct text *column);

/* Does the action alter a relation or a schema, so that a closed column could come back under a name
 * that no pattern covers? */
bool action_may_move_column(const struct matching *matching, const struct action *action,
                            const struct object_pattern *patterns, size_t count,
                            struct text *column);

/* Is `action` what the definition of the view in shape.actions[view] does, directly or not? */
bool action_is_below(const struct shape *shape, const struct action *action, size_t view);

#endif

/*
 * judge.h - one client message's text → what becomes of it: analyse() and decide() in one call. Pure.
 *
 * What holds for several statements in one text is decided here too: one rejection rejects all; a held
 * or limited write, and a statement behind one that changes what judging depends on, must be sent by
 * itself.
 */
#ifndef PGWICKET_SESSION_JUDGE_H
#define PGWICKET_SESSION_JUDGE_H

#include "parser/analyse.h"
#include "rules/decide.h"
#include "rules/message.h"

struct judge_context {
    const struct policy *policy;
    const struct catalog *catalog;     /* NULL: offline */
    const struct text *setting_values; /* decide_context.setting_values */
    const struct attribute *attributes; /* the agent's, for templates */
    size_t attribute_count;
    const struct text *temporary;      /* analyse_context.temporary */
    size_t temporary_count;
    bool keys_in_doubt;                /* decide_context.keys_in_doubt */
    bool holds_made;                   /* policy_may_make_objects: what is held counts */
};

struct template_call;

struct judgement {
    struct analysis analysis;   /* its `unresolved_names`: a fresh catalog may change the verdict */
    struct decision *decisions; /* one for each of analysis.statements; NULL when analysis failed */
    enum verdict verdict;       /* the strictest; an empty text is allowed */
    size_t decisive;            /* index of the first statement with that verdict */
    struct error_text error;    /* when rejected, PostgreSQL's own syntax error included */
    bool alone;                 /* rejected only because the statement must be sent by itself */

    /* EXECUTE of a template (template_call.h): `analysis` and the decision are then those of its SQL. */
    const struct template_call *call;
};

/*
 * Judges by the text alone: limits that need numbers are open in the decisions. A rejected message
 * whose decisive decision has CONDITION_UNRESOLVED may be answered by the server instead, under
 * introspection: allow. Everything lives in `arena`, or in policy and catalog.
 */
void judge_text(struct arena *arena, const struct judge_context *context, struct text sql,
                const uint32_t *types, size_t type_count, struct judgement *out);

/* The number that a statement's command tag must not pass: of its own rows, and of rows that a limited
 * select puts into a table (INSERT … SELECT, CREATE TABLE AS). LIMIT_NONE: it needs no counting. */
int64_t decision_counted_max(const struct decision *decision, const struct shape *shape);

/* Is anything of it to be counted before it is committed: those rows, or, for a max_effect, the rows of all
 * tables? */
bool decision_is_counted(const struct decision *decision, const struct shape *shape);

/* Must the rows that it returns be counted? Those of a cursor or prepared statement are when they are fetched. */
bool decision_limits_rows(const struct decision *decision, const struct shape *shape);

/* Does the statement need the gate: a row count to be enforced, a cost to be asked for, or a hold? */
bool decision_is_gated(const struct decision *decision, const struct shape *shape);

/* May SQL's EXECUTE run what was prepared under this judgement? If not, *error says why. */
bool judge_may_execute(const struct judgement *prepared, bool is_gated, struct error_text *error);

/* May rows of one statement be limited in this message? If the limit is passed, what else is in it may have
 * run by the time the server hears of it: that must not matter, as a COMMIT of an open transaction would.
 * If not, *error says why. */
bool judge_may_be_limited(const struct analysis *analysis, bool in_transaction, struct error_text *error);

/* May these statements share a message? `runs_code` tells of each whether it runs code that its text does not
 * show: by a name that it executes, or deferred by an earlier message. If not, *error says why. */
bool judge_may_follow(struct arena *arena, const struct decide_context *context, const struct analysis *analysis,
                      const bool *runs_code, struct error_text *error);

/* Of a FETCH or EXECUTE whose name nothing has given yet. */
struct error_text judge_unknown_name(struct arena *arena, bool is_cursor, struct text name);

/* decide_context of the same policy, for decisions with numbers. */
struct decide_context judge_decide_context(const struct judge_context *context);

#endif

/*
 * open.h - what an agent may read anyway, and so may be told of: by a server's own errors. Pure.
 *
 * A table is open where an allow rule of the policy lets the agent select every column of it,
 * whatever the limits of that rule. What the catalog does not know is not open.
 */
#ifndef PGWICKET_RULES_OPEN_H
#define PGWICKET_RULES_OPEN_H

#include "rules/decide.h"

/* Every table there is, or will be, is open. Also under mode: observe, which keeps nothing back. */
bool policy_opens_everything(const struct policy *policy);

bool relation_is_open(struct arena *arena, const struct decide_context *context,
                      const struct relation *relation);

/*
 * Is every table and view of the catalog, those of the system aside? Then also what functions and
 * triggers may touch. A catalog of more than LIMIT_OPEN_RELATIONS is not looked through: closed.
 */
bool catalog_is_open(struct arena *arena, const struct decide_context *context);

/* May the agent select this one column? */
bool column_is_open(struct arena *arena, const struct decide_context *context,
                    const struct relation *relation, struct text column);

/* How much of what an error of a statement could be about is open. */
enum opening {
    OPENING_NONE =
        0, /* not all, or it is not known: COMMIT runs what others have left to be done */
    OPENING_BESIDES_TRIGGERS, /* all but what triggers do, which report with a context */
    OPENING_ALL, /* each table it reads, writes or reaches by foreign keys, and no code but the
                    server's own runs */
};

enum opening statement_opening(struct arena *arena, const struct decide_context *context,
                               const struct shape *shape);

/*
 * A constraint violation (SQLSTATE 23…) names its table and constraint: is everything open that
 * such an error prints? Of a unique key its columns, of a foreign key those of both sides, of any
 * other constraint the whole row.
 */
bool violation_is_open(struct arena *arena, const struct decide_context *context,
                       struct text sqlstate, struct text schema, struct text table,
                       struct text constraint);

#endif

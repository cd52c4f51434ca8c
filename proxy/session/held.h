/*
 * held.h - what a hold says of a statement: may it be held at all, and its description for the store.
 */
#ifndef PGWICKET_SESSION_HELD_H
#define PGWICKET_SESSION_HELD_H

#include "proxy/session/internal.h"

/* False with `error` for what cannot be held: what PostgreSQL refuses in a transaction block, code that
 * may end the transaction, and what a rule must allow expressly with `unrehearsed: hold`. */
MUST_USE bool held_possible(const struct shape *shape, const struct decision *decision,
                            struct error_text *error);

/* Everything that the store and the approver need of the statement in the gate, in `arena`; NULL with
 * `error` if it cannot be shown (too large, a value that cannot be printed). */
struct hold *held_describe(struct session *s, struct arena *arena, struct error_text *error);

#endif

/*
 * held.h - what a hold says of a statement: may it be held at all, and its description for the store.
 */
#ifndef PGWICKET_SESSION_HELD_H
#define PGWICKET_SESSION_HELD_H

#include "proxy/session/internal.h"

/* False with `error`, in `arena`, for what no rule can hold, and for what PostgreSQL would refuse here: inside
 * of a transaction block (`transaction` is the server's status: I, T or E). */
MUST_USE bool held_possible(struct arena *arena, const struct shape *shape, const struct decision *decision,
                            char transaction, struct error_text *error);

/* Everything that the store and the approver need of the statement in the gate, in `arena`; NULL with
 * `error`, in the gate's arena, if it cannot be shown (too large, a value that cannot be printed). */
struct hold *held_describe(struct session *s, struct arena *arena, struct error_text *error);

/* Would those who released it do so under the policy and the approvers of now? For a hold that is claimed. */
bool held_is_still_released(struct session *s, const struct hold *hold);

#endif

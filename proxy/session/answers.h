/*
 * answers.h - what pgwicket answers itself: SHOW pgwicket.policy, .holds, .templates (spec 4.3).
 *
 * The answer is a SELECT of constants that takes the place of the SHOW: the server then answers it in either
 * query protocol, with description, formats and transaction status of its own.
 */
#ifndef PGWICKET_SESSION_ANSWERS_H
#define PGWICKET_SESSION_ANSWERS_H

#include "proxy/session/internal.h"

/* Does this message ask for the agent's holds? They must be fetched first (hold_lookup with
 * LOOKUP_ALL). */
bool answers_wants_holds(const struct judged *judged);

/* Puts the answer in the place of SHOW pgwicket.X; other texts are left as they are. An X that does not exist
 * is rejected. */
void answers_rewrite(struct judged *judged);
void answers_rewrite_holds(struct judged *judged, struct hold *const *holds, size_t count);

#endif

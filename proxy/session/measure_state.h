/* measure_state.h - one object of the catalog before and after, in words. Internal to proxy/session/. */
#ifndef PGWICKET_SESSION_MEASURE_STATE_H
#define PGWICKET_SESSION_MEASURE_STATE_H

#include "proxy/base/arena.h"

#include <jansson.h>

/*
 * "owner alice, now bob; granted SELECT to carol". Of what is new, what it is: "integer, not null". Empty:
 * nothing is other than before, or it is gone. Items are those of measure_objects_sql, NULL for what is
 * not there.
 */
struct text state_difference(struct arena *arena, const json_t *old, const json_t *new);

#endif

/* setting_value.h - values of settings as the server reads them, as far as they must be compared. Pure. */
#ifndef PGWICKET_RULES_SETTING_VALUE_H
#define PGWICKET_RULES_SETTING_VALUE_H

#include "proxy/base/arena.h"
#include "proxy/base/attributes.h"

/*
 * A time-out in milliseconds as the server would store it: an integer, with or without a unit (us, ms,
 * s, min, h, d; none is ms). False for every other spelling, those included that the server would
 * round: 0 is infinite, so a rounding may turn the shortest time-out into none.
 */
MUST_USE bool setting_timeout_ms(struct text value, int64_t *ms);

/* on, true, yes, 1, and off, false, no, 0, with the abbreviations that the server takes. */
MUST_USE bool setting_boolean(struct text value, bool *boolean);

/* Do both texts give this setting (lower case) the same value? As written, or, where the setting is known
 * to be of that type, as the same boolean, time, or list. Custom settings are compared byte by byte. */
bool setting_values_equal(struct text name, struct text a, struct text b);

/* Is this value of search_path, in any way it can be given, exactly the list of schemas? */
bool setting_is_search_path(struct text value, const struct text *schemas, size_t count);

/* The list of schemas as the server takes it in a startup packet: each quoted, in `arena`. */
struct text setting_search_path(struct arena *arena, const struct text *schemas, size_t count);

struct text setting_lower_case(struct arena *arena, struct text name);

#endif

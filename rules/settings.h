/*
 * settings.h - may an agent change or read this setting? (spec 3, Settings, and 3.5)
 */
#ifndef PGWICKET_RULES_SETTINGS_H
#define PGWICKET_RULES_SETTINGS_H

#include "rules/decide.h"

enum setting_verdict {
    SETTING_REJECTED = 0,
    SETTING_NEEDS_RULE, /* only a rule that allows `set` on setting:NAME */
    SETTING_PASSES,
};

/* Always pinned, whatever a policy says. */
bool setting_always_pinned(struct text name); /* standard_conforming_strings, client_encoding */

/* Judges one use. `problem` (in arena) says on rejection what would be possible. */
enum setting_verdict setting_judge(struct arena *arena, const struct decide_context *context,
                                   const struct setting_use *use, struct text *problem);

/*
 * The settings that a session of this policy starts with, in the upstream's startup packet:
 * pins, defaults, safe defaults, read-only. Pairs of name and value in `arena`.
 */
struct setting_value {
    struct text name;
    struct text value;
};
const struct setting_value *settings_at_start(struct arena *arena,
                                              const struct decide_context *context, size_t *count);

/*
 * A startup parameter of the agent (application_name, TimeZone, one of `options`): true if it may be
 * passed on.
 */
bool setting_startup_passes(const struct decide_context *context, struct text name,
                            struct text value);

#endif

/* prompt.h - a policy as its agent should know it: sentences that can stand in a prompt. Pure. */
#ifndef PGWICKET_RULES_PROMPT_H
#define PGWICKET_RULES_PROMPT_H

#include "rules/policy.h"

/*
 * One sentence or two a line, in the order in which the rules are tried; only what this policy has:
 * nothing of holds where nobody is asked, nothing of tables where there are only templates. It tells no
 * more than the rules and templates do. In `arena`; a line beyond 4 kB ends in dots.
 */
const struct text *policy_prompt(struct arena *arena, const struct policy *policy, size_t *count);

#endif

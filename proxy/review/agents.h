/* agents.h - the agents that an approver may see, for the API and the pages. */
#ifndef PGWICKET_REVIEW_AGENTS_H
#define PGWICKET_REVIEW_AGENTS_H

#include "proxy/review/exchange.h"

bool agent_is_visible(const struct approver *approver, const struct review_agent *agent);

/* The agent of this name as it is now, if the approver may see it; else NULL. */
const struct review_agent *agent_find(struct exchange *exchange, struct text name);

/* Pauses or resumes it, and tells the pages. False: there is no such agent for this approver. */
bool agent_set_paused(struct exchange *exchange, struct text name, bool paused);

#endif

/* checks.h - what can be said of a configuration file only when all of it is read. Internal to config/. */
#ifndef PGWICKET_CONFIG_CHECKS_H
#define PGWICKET_CONFIG_CHECKS_H

#include "proxy/config/identities.h"
#include "proxy/config/policies.h"
#include "proxy/config/templates.h"

/* Everything that refers to something else. */
struct whole {
    struct upstreams_section upstreams;
    struct agents_section agents;
    struct approvers_section approvers;
    struct policies_section policies;
    struct templates_section templates;
    bool has_review;
    bool has_holds;
};

/* Resolves names (agents' upstreams, policies and setting values, and the policies' templates are set)
 * and reports what dangles, clashes or can never work. */
void check_whole(struct reader *reader, struct whole *whole);

#endif

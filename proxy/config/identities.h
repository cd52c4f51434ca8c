/* identities.h - the sections `upstreams`, `agents` and `approvers`. Internal to config/. */
#ifndef PGWICKET_CONFIG_IDENTITIES_H
#define PGWICKET_CONFIG_IDENTITIES_H

#include "proxy/config/fields.h"

struct upstreams_section {
    struct upstream_settings *upstreams;
    size_t count;
};

/* What an agent says of the rest of the file, resolved when all of it is read. */
struct agent_places {
    struct place place;
    struct placed_text upstream, policy;
    struct text secret; /* as written */
    struct place secret_place;
};

struct agents_section {
    struct agent *agents;
    struct agent_places *places;
    size_t count;
};

struct approver_places {
    struct place place;
    struct name_list policies;
    struct text secret;
    struct place secret_place;
};

struct approvers_section {
    struct approver *approvers;
    struct approver_places *places;
    size_t count;
};

field_function field_upstreams, field_agents, field_approvers;

#endif

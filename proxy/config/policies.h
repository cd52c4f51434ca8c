/* policies.h - the section `policies`. Internal to config/. */
#ifndef PGWICKET_CONFIG_POLICIES_H
#define PGWICKET_CONFIG_POLICIES_H

#include "proxy/config/fields.h"

/* Where the parts of a policy stand, for checks against the rest of the file. */
struct rule_places {
    struct place place, on;
    struct name_list approvers;
};

struct policy_places {
    struct place place;
    struct rule_places *rules;
    struct place *settings;
};

struct policies_section {
    struct policy *policies;
    struct policy_places *places; /* in scratch, one for each policy */
    size_t count;
};

/* Target: struct policies_section. */
field_function field_policies;

/* Target: struct policy; the places go into `settings` of policy_places. */
bool read_policy_settings(struct reader *reader, const struct node *node, struct policy *policy,
                          struct policy_places *places);

/* All rules of a policy, whose name is set. */
bool read_policy_rules(struct reader *reader, const struct node *node, struct policy *policy,
                struct policy_places *places);

/* A list of columns, as `hidden` and `not_columns` have it. */
bool read_column_patterns(struct reader *reader, const struct node *node,
                          const struct object_pattern **patterns, size_t *count);

#endif

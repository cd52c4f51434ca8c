/*
 * identities.c - who there is: databases, agents, people. Names are resolved in checks.c.
 *
 * A secret that is not a SCRAM verifier is a password and is turned into one here; the password itself
 * stays in the scratch arena, which ends with the reading.
 */
#include "proxy/config/identities.h"

#include "proxy/base/limits.h"

static const char *const risk_names[] = {"superuser", "replication", "bypassrls", "file_access",
                                         NULL};
static const unsigned risk_bits[] = {RISK_SUPERUSER, RISK_REPLICATION, RISK_BYPASSRLS,
                                     RISK_FILE_ACCESS};

static bool field_risks(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    unsigned *risks = target;
    struct name_list list;
    if (!field_names(reader, field, node, &list))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        int risk;
        const struct field choice = {.choices = risk_names};
        if (!field_choice(reader, &choice, &node->items[i], &risk))
            return false;
        *risks |= risk_bits[risk];
    }
    return true;
}

static const struct field connection_field = {
    .key = "connection",
    .read = field_secret,
    .need = REQUIRED,
    .offset = offsetof(struct upstream_settings, connection),
    .expected = "a libpq connection string, {file: PATH} or {env: NAME}",
};

static bool read_upstream(struct reader *reader, const struct entry *entry,
                          struct upstream_settings *upstream)
{
    const struct field fields[] = {
        connection_field,
        {"accept_risks", field_risks, OPTIONAL, offsetof(struct upstream_settings, accept_risks),
         "a list of risks", NULL, 0, 0},
    };
    const struct node *node = &entry->value;
    bool is_reference = node_find(node, "file") != NULL || node_find(node, "env") != NULL;
    bool fine = name_is_fine(reader, entry->key.text, entry->key.place);
    upstream->name = arena_text(reader->arena, entry->key.text);
    upstream->place = entry->key.place;
    fine = (node->kind == NODE_MAP && !is_reference
                ? fields_read(reader, node, "an upstream", fields, ARRAY_SIZE(fields), upstream)
                : field_secret(reader, &connection_field, node, &upstream->connection)) &&
           fine;
    upstream->connection = arena_text(reader->arena, upstream->connection);
    return fine;
}

static bool is_short_map(struct reader *reader, const struct node *node, const char *expected)
{
    if (!node_must_be(reader, node, NODE_MAP, expected))
        return false;
    return node->count <= LIMIT_CONFIGURATION_LIST ? true
                                                   : field_wrong(reader, node, "fewer entries");
}

bool field_upstreams(struct reader *reader, const struct field *field, const struct node *node,
                     void *target)
{
    struct upstreams_section *section = target;
    bool fine = true;
    if (!is_short_map(reader, node, field->expected))
        return false;
    section->upstreams = arena_array(reader->arena, node->count, sizeof *section->upstreams);
    section->count = node->count;
    for (size_t i = 0; i < node->count; i++)
        fine = read_upstream(reader, &node->entries[i], &section->upstreams[i]) && fine;
    return fine;
}

static bool make_verifier(struct reader *reader, struct text secret, struct place place,
                          struct scram_verifier *verifier)
{
    if (!text_starts_with(secret, "SCRAM-SHA-256$")) {
        scram_verifier_from_password(secret, verifier);
        return true;
    }
    if (scram_verifier_parse(secret, verifier))
        return true;
    problem_error(reader->problems, place,
                  "the secret begins like a SCRAM-SHA-256 verifier but is not one; pgwicket secret "
                  "makes them");
    return false;
}

/* A text with its place, for names that are resolved later. */
static bool field_placed(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
    struct placed_text *placed = target;
    placed->place = node->place;
    return field_text(reader, field, node, &placed->text);
}

static bool field_attributes(struct reader *reader, const struct field *field,
                             const struct node *node, void *target)
{
    struct agent *agent = target;
    bool fine = true;
    if (!is_short_map(reader, node, field->expected))
        return false;
    struct attribute *attributes = arena_array(reader->arena, node->count, sizeof *attributes);
    for (size_t i = 0; i < node->count; i++) {
        const struct entry *entry = &node->entries[i];
        static const struct field value = {.expected = "a text"};
        attributes[i].name = arena_text(reader->arena, entry->key.text);
        fine = name_is_fine(reader, entry->key.text, entry->key.place) && fine;
        fine = field_text(reader, &value, &entry->value, &attributes[i].value) && fine;
    }
    agent->attributes = attributes;
    agent->attribute_count = node->count;
    return fine;
}

struct agent_draft {
    struct agent agent;
    struct agent_places places;
};

static bool field_agent_secret(struct reader *reader, const struct field *field,
                               const struct node *node, void *target)
{
    struct agent_draft *draft = target;
    draft->places.secret_place = node->place;
    return field_secret(reader, field, node, &draft->places.secret) &&
           make_verifier(reader, draft->places.secret, node->place, &draft->agent.verifier);
}

static const struct field agent_fields[] = {
    {"secret", field_agent_secret, REQUIRED, 0, "a verifier, a password, {file: PATH} or {env: NAME}",
     NULL, 0, 0},
    {"certificate_cn", field_not_built, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"upstream", field_placed, REQUIRED, offsetof(struct agent_draft, places.upstream),
     "the name of an upstream", NULL, 0, 0},
    {"policy", field_placed, REQUIRED, offsetof(struct agent_draft, places.policy),
     "the name of a policy", NULL, 0, 0},
    {"attributes", field_attributes, OPTIONAL, offsetof(struct agent_draft, agent),
     "a map of texts: {tenant: \"17\"}", NULL, 0, 0},
};

static bool read_agent(struct reader *reader, const struct entry *entry, struct agent *agent,
                       struct agent_places *places)
{
    struct agent_draft draft = {.places.place = entry->key.place};
    bool fine = name_is_fine(reader, entry->key.text, entry->key.place);
    fine = fields_read(reader, &entry->value, "an agent", agent_fields, ARRAY_SIZE(agent_fields),
                       &draft) &&
           fine;
    draft.agent.name = arena_text(reader->arena, entry->key.text);
    draft.agent.place = entry->key.place;
    draft.agent.has_secret = draft.places.secret.size > 0;
    *agent = draft.agent;
    *places = draft.places;
    return fine;
}

bool field_agents(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    struct agents_section *section = target;
    bool fine = true;
    if (!is_short_map(reader, node, field->expected))
        return false;
    section->agents = arena_array(reader->arena, node->count, sizeof *section->agents);
    section->places = arena_array(reader->scratch, node->count, sizeof *section->places);
    section->count = node->count;
    for (size_t i = 0; i < node->count; i++)
        fine = read_agent(reader, &node->entries[i], &section->agents[i], &section->places[i]) &&
               fine;
    return fine;
}

struct approver_draft {
    struct approver approver;
    struct approver_places places;
};

static bool field_approver_secret(struct reader *reader, const struct field *field,
                                  const struct node *node, void *target)
{
    struct approver_draft *draft = target;
    draft->places.secret_place = node->place;
    return field_secret(reader, field, node, &draft->places.secret) &&
           make_verifier(reader, draft->places.secret, node->place, &draft->approver.verifier);
}

static const struct field approver_fields[] = {
    {"secret", field_approver_secret, REQUIRED, 0,
     "a verifier, a password, {file: PATH} or {env: NAME}", NULL, 0, 0},
    {"policies", field_names, OPTIONAL, offsetof(struct approver_draft, places.policies),
     "a list of policies", NULL, 0, 0},
};

static bool read_approver(struct reader *reader, const struct entry *entry,
                          struct approver *approver, struct approver_places *places)
{
    struct approver_draft draft = {.places.place = entry->key.place};
    bool fine = name_is_fine(reader, entry->key.text, entry->key.place);
    fine = fields_read(reader, &entry->value, "an approver", approver_fields,
                       ARRAY_SIZE(approver_fields), &draft) &&
           fine;
    if (draft.places.policies.given && draft.places.policies.count == 0) {
        problem_error(reader->problems, entry->key.place,
                      "an empty list of policies lets the approver decide nothing; leave the key out "
                      "for all");
        fine = false;
    }
    draft.approver.name = arena_text(reader->arena, entry->key.text);
    draft.approver.policies = names_only(reader, &draft.places.policies);
    draft.approver.policy_count = draft.places.policies.count;
    *approver = draft.approver;
    *places = draft.places;
    return fine;
}

bool field_approvers(struct reader *reader, const struct field *field, const struct node *node,
                     void *target)
{
    struct approvers_section *section = target;
    bool fine = true;
    if (!is_short_map(reader, node, field->expected))
        return false;
    section->approvers = arena_array(reader->arena, node->count, sizeof *section->approvers);
    section->places = arena_array(reader->scratch, node->count, sizeof *section->places);
    section->count = node->count;
    for (size_t i = 0; i < node->count; i++)
        fine = read_approver(reader, &node->entries[i], &section->approvers[i],
                             &section->places[i]) &&
               fine;
    return fine;
}

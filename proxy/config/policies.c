/* policies.c - the section `policies`: its keys but rules and settings, defaults, derived facts. */
#include "proxy/config/policies.h"

#define MS     1000LL
#define SECOND (1000 * MS)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
#define MB     (1024 * 1024LL)

static const struct policy defaults = {
    .hold_wait_us = 20 * SECOND,
    .hold_expire_us = HOUR,
    .hold_run_within_us = 15 * 60 * SECOND,
    .hold_quorum = 1,
    .rehearse_max_rows = 10000,
    .rehearsal_timeout_us = 5 * SECOND,
    .rehearsal_lock_timeout_us = 500 * MS,
    .copy_max_bytes = 8 * MB,
    .sessions_max = 20,
    .pending_max = 20,
    .waiting_max = 2,
    .rehearsals_per_minute = 10,
    .prepared_statements_max = 1024,
};

/* One policy while it is read. */
struct draft {
    struct policy policy;
    struct policy_places *places;
    int mode, introspection, send;
    struct name_list search_path;
};

static const char *const mode_choices[] = {"enforce", "observe", NULL};
static const char *const introspection_choices[] = {"reject", "allow", NULL};
static const char *const send_choices[] = {"print", "original", NULL};

static bool field_mode(struct reader *reader, const struct field *field, const struct node *node,
                       void *target)
{
    int *mode = target;
    if (!field_choice(reader, field, node, mode))
        return false;
    if (*mode == 1)
        problem_error(reader->problems, node->place, "mode: observe is not built yet");
    return *mode == 0;
}

/* At its end, pg_temp is searched last, and nothing is made there that is not asked for. */
static const char *wrong_on_path(const struct name_list *path, size_t at)
{
    struct text name = path->names[at].text;
    if (text_is(name, "$user") || name.size > 63)
        return "cannot be on the path: names would not mean the same for every session";
    if (text_is(name, "pg_temp") && (at == 0 || at + 1 < path->count))
        return "can only be at the end of the path, behind a schema: before others it hides what they have";
    return NULL;
}

static bool field_search_path(struct reader *reader, const struct field *field,
                              const struct node *node, void *target)
{
    struct name_list *path = target;
    bool fine = true;
    if (!field_names(reader, field, node, path))
        return false;
    for (size_t i = 0; i < path->count; i++) {
        const char *wrong = wrong_on_path(path, i);
        if (wrong == NULL)
            continue;
        problem_error(reader->problems, path->names[i].place, "\"%.*s\" %s",
                      TEXT_ARGS(text_cut(path->names[i].text, 63)), wrong);
        fine = false;
    }
    return fine;
}

static bool field_hidden(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
    struct draft *draft = target;
    (void)field;
    return read_column_patterns(reader, node, &draft->policy.hidden, &draft->policy.hidden_count);
}

static bool field_settings(struct reader *reader, const struct field *field,
                           const struct node *node, void *target)
{
    struct draft *draft = target;
    (void)field;
    return read_policy_settings(reader, node, &draft->policy, draft->places);
}

static bool field_rules(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    struct draft *draft = target;
    (void)field;
    return read_policy_rules(reader, node, &draft->policy, draft->places);
}

static bool field_hold(struct reader *reader, const struct field *field, const struct node *node,
                       void *target)
{
    static const struct field fields[] = {
        {"wait", field_duration, OPTIONAL, offsetof(struct policy, hold_wait_us), NULL, NULL, 0,
         HOUR},
        {"expire", field_duration, OPTIONAL, offsetof(struct policy, hold_expire_us), NULL, NULL,
         SECOND, 365 * DAY},
        {"run_within", field_duration, OPTIONAL, offsetof(struct policy, hold_run_within_us), NULL,
         NULL, SECOND, 365 * DAY},
        {"quorum", field_integer, OPTIONAL, offsetof(struct policy, hold_quorum), NULL, NULL, 1,
         100},
        {"rehearse_max_rows", field_integer, OPTIONAL, offsetof(struct policy, rehearse_max_rows),
         NULL, NULL, 0, 0},
        {"rehearsal_timeout", field_duration, OPTIONAL,
         offsetof(struct policy, rehearsal_timeout_us), NULL, NULL, MS, HOUR},
        {"rehearsal_lock_timeout", field_duration, OPTIONAL,
         offsetof(struct policy, rehearsal_lock_timeout_us), NULL, NULL, MS, HOUR},
        {"copy_max_bytes", field_size, OPTIONAL, offsetof(struct policy, copy_max_bytes), NULL, NULL,
         0, 64 * MB},
    };
    struct draft *draft = target;
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), &draft->policy);
}

static bool field_limit(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    int64_t *limit = target;
    if (node->kind == NODE_SCALAR && text_is(node->text, "unlimited")) {
        *limit = UNLIMITED;
        return true;
    }
    return field_integer(reader, field, node, limit);
}

static bool field_limits(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
#define LIMIT_FIELD(key, member)                                                                   \
    {key, field_limit, OPTIONAL, offsetof(struct policy, member), "an integer or unlimited", NULL, 0, 0}
    static const struct field fields[] = {
        LIMIT_FIELD("sessions", sessions_max),
        LIMIT_FIELD("pending", pending_max),
        LIMIT_FIELD("waiting", waiting_max),
        LIMIT_FIELD("rehearsals_per_minute", rehearsals_per_minute),
        LIMIT_FIELD("prepared_statements", prepared_statements_max),
    };
#undef LIMIT_FIELD
    struct draft *draft = target;
    return fields_read(reader, node, field->key, fields, ARRAY_SIZE(fields), &draft->policy);
}

static const struct field policy_fields[] = {
    {"mode", field_mode, OPTIONAL, offsetof(struct draft, mode), NULL, mode_choices, 0, 0},
    {"search_path", field_search_path, OPTIONAL, offsetof(struct draft, search_path),
     "a list of schemas: [shop]", NULL, 0, 0},
    {"introspection", field_choice, OPTIONAL, offsetof(struct draft, introspection), NULL,
     introspection_choices, 0, 0},
    {"send", field_choice, OPTIONAL, offsetof(struct draft, send), NULL, send_choices, 0, 0},
    {"hidden", field_hidden, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"settings", field_settings, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"hold", field_hold, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"limits", field_limits, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"rules", field_rules, REQUIRED, 0, "a list of rules", NULL, 0, 0},
};

/* A path that is not written is [public], but for a policy that allows everything: there names need not
 * be judged, so the server's own path stays. */
static void derive(struct reader *reader, struct draft *draft)
{
    const struct placed_text only_public = {TEXT("public"), {0, 0}};
    struct policy *policy = &draft->policy;
    policy->introspection = draft->introspection == 1;
    policy->transparent = policy_allows_everything(policy);
    policy->send_original = draft->send == 1 || policy->transparent;
    policy->search_path_pinned = !policy_may_set_search_path(policy);
    if (!draft->search_path.given && !policy->transparent)
        draft->search_path = (struct name_list){&only_public, 1, true};
    if (draft->search_path.given) {
        policy->search_path = names_only(reader, &draft->search_path);
        policy->search_path_count = draft->search_path.count;
    }
}

static bool read_policy(struct reader *reader, const struct entry *entry, struct policy *policy,
                        struct policy_places *places)
{
    struct draft draft = {.policy = defaults, .places = places};
    draft.policy.name = arena_text(reader->arena, entry->key.text);
    draft.policy.place = places->place = entry->key.place;
    bool fine = name_is_fine(reader, entry->key.text, entry->key.place);
    fine = fields_read(reader, &entry->value, "a policy", policy_fields, ARRAY_SIZE(policy_fields),
                       &draft) &&
           fine;
    derive(reader, &draft);
    *policy = draft.policy;
    return fine;
}

static bool makes_objects(const struct rule *rule)
{
    return rule->verdict == VERDICT_ALLOW &&
           (rule->verbs[VERB_CREATE] || rule->verbs[VERB_ALTER] || rule->verbs[VERB_CODE]);
}

static void collect_makeable(struct reader *reader, struct policies_section *section)
{
    struct object_pattern *makeable = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < section->count; i++)
        for (size_t j = 0; j < section->policies[i].rule_count; j++) {
            const struct rule *rule = &section->policies[i].rules[j];
            for (size_t k = 0; k < rule->on_count && makes_objects(rule); k++) {
                struct object_pattern *added = arena_push(reader->arena, (void **)&makeable, &count,
                                                          &capacity, sizeof *added);
                *added = rule->on[k];
            }
        }
    for (size_t i = 0; i < section->count; i++) {
        section->policies[i].makeable = makeable;
        section->policies[i].makeable_count = count;
    }
}

bool field_policies(struct reader *reader, const struct field *field, const struct node *node,
                    void *target)
{
    struct policies_section *section = target;
    bool fine = true;
    if (!node_must_be(reader, node, NODE_MAP, field->expected))
        return false;
    section->policies = arena_array(reader->arena, node->count, sizeof *section->policies);
    section->places = arena_array(reader->scratch, node->count, sizeof *section->places);
    section->count = node->count;
    for (size_t i = 0; i < node->count; i++)
        fine = read_policy(reader, &node->entries[i], &section->policies[i], &section->places[i]) &&
               fine;
    collect_makeable(reader, section);
    return fine;
}

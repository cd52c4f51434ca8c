/*
 * rules.c - the rules of one policy. Each is checked alone here, and against those before it.
 */
#include "proxy/config/policies.h"

#include "proxy/base/limits.h"

static const char *const verdict_keys[] = {
    [VERDICT_REJECT] = "reject", [VERDICT_HOLD] = "hold", [VERDICT_ALLOW] = "allow"};
static const char *const where_choices[] = {
    [WHERE_ANY] = "any", [WHERE_REQUIRED] = "required", [WHERE_KEY] = "key", NULL};
static const char *const lock_choices[] = {
    [LOCK_ACCESS_EXCLUSIVE] = "access_exclusive",
    [LOCK_EXCLUSIVE] = "exclusive",
    [LOCK_SHARE_ROW_EXCLUSIVE] = "share_row_exclusive",
    [LOCK_SHARE] = "share",
    [LOCK_SHARE_UPDATE_EXCLUSIVE] = "share_update_exclusive",
    [LOCK_ROW_EXCLUSIVE] = "row_exclusive",
    [LOCK_ROW_SHARE] = "row_share",
    [LOCK_ACCESS_SHARE] = "access_share",
    NULL,
};
static const char *const unrehearsed_choices[] = {"hold", NULL};

/* One rule while it is read. */
struct draft {
    struct rule rule;
    int where;
    int max_lock;
    bool has_verdict;
    bool has_unrehearsed;
    int unrehearsed;
    struct name_list approvers;
    struct place on;
    struct place hold_key; /* of a key that only hold rules have */
    const char *hold_key_name;
    bool broken; /* a part of it was wrong: its meaning is not judged */
};

static bool read_verb(struct reader *reader, const struct node *node, struct rule *rule)
{
    const char *names[VERB_COUNT + 2] = {NULL};
    size_t count = 0;
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++) {
        names[count++] = verb_name((enum verb)verb);
        if (node->kind == NODE_SCALAR && text_is(node->text, verb_name((enum verb)verb))) {
            rule->verbs[verb] = true;
            return true;
        }
    }
    names[count] = "all";
    if (node->kind == NODE_SCALAR && text_is(node->text, "all")) {
        rule->all_verbs = true;
        for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
            rule->verbs[verb] = true;
        return true;
    }
    return field_wrong(reader, node, words_of_choices(reader->scratch, names).bytes);
}

static bool field_verbs(struct reader *reader, const struct field *field, const struct node *node,
                        void *target)
{
    struct draft *draft = target;
    bool fine = true;
    if (draft->has_verdict) {
        problem_error(reader->problems, node->place,
                      "a rule has exactly one of allow, hold and reject");
        return false;
    }
    draft->has_verdict = true;
    for (size_t i = 0; i < ARRAY_SIZE(verdict_keys); i++)
        if (text_is(text_from(field->key), verdict_keys[i]))
            draft->rule.verdict = (enum verdict)i;
    if (!node_must_be(reader, node, NODE_LIST, "a list of verbs: [select, insert]"))
        return false;
    for (size_t i = 0; i < node->count; i++)
        fine = read_verb(reader, &node->items[i], &draft->rule) && fine;
    return node->count > 0 ? fine : field_wrong(reader, node, "at least one verb");
}

static bool read_pattern(struct reader *reader, const struct node *node, bool columns,
                         struct object_pattern *pattern)
{
    const char *problem = NULL;
    if (node->kind == NODE_SCALAR && !node_is_null(node) &&
        object_pattern_parse(reader->arena, node->text, columns, pattern, &problem)) {
        pattern->place = node->place;
        return true;
    }
    if (problem != NULL)
        problem_error(reader->problems, node->place, "\"%.*s\": %s",
                      TEXT_ARGS(text_cut(node->text, 80)), problem);
    else
        (void)field_wrong(reader, node, columns ? "schema.table.column" : "schema.name");
    return false;
}

static bool read_patterns(struct reader *reader, const struct node *node, bool columns,
                          const struct object_pattern **patterns, size_t *count)
{
    bool fine = true;
    if (!node_must_be(reader, node, NODE_LIST,
                      columns ? "a list of columns: [shop.customers.ssn]"
                              : "a list of objects: [shop.orders]"))
        return false;
    if (node->count > LIMIT_CONFIGURATION_LIST)
        return field_wrong(reader, node, "a shorter list");
    struct object_pattern *read = arena_array(reader->arena, node->count, sizeof *read);
    for (size_t i = 0; i < node->count; i++)
        fine = read_pattern(reader, &node->items[i], columns, &read[i]) && fine;
    *patterns = read;
    *count = node->count;
    return fine;
}

bool read_column_patterns(struct reader *reader, const struct node *node,
                          const struct object_pattern **patterns, size_t *count)
{
    return read_patterns(reader, node, true, patterns, count);
}

static bool field_on(struct reader *reader, const struct field *field, const struct node *node,
                     void *target)
{
    struct draft *draft = target;
    draft->on = node->place;
    if (node->kind == NODE_LIST && node->count == 0)
        return field_wrong(reader, node, field->expected);
    return read_patterns(reader, node, false, &draft->rule.on, &draft->rule.on_count);
}

static bool field_not_columns(struct reader *reader, const struct field *field,
                              const struct node *node, void *target)
{
    struct draft *draft = target;
    if (node->kind == NODE_LIST && node->count == 0)
        return field_wrong(reader, node, field->expected);
    return read_column_patterns(reader, node, &draft->rule.not_columns,
                                &draft->rule.not_column_count);
}

/* Columns of the rule's own tables: bare names, written as in SQL. */
static bool field_columns(struct reader *reader, const struct field *field, const struct node *node,
                          void *target)
{
    struct draft *draft = target;
    const struct object_pattern *patterns;
    size_t count;
    if (node->kind == NODE_LIST && node->count == 0)
        return field_wrong(reader, node, field->expected);
    if (!read_column_patterns(reader, node, &patterns, &count))
        return false;
    struct text *columns = arena_array(reader->arena, count, sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct name_pattern *parts = patterns[i].parts;
        if (parts[2].prefix || !parts[0].prefix || parts[0].text.size > 0)
            return field_wrong(reader, &node->items[i], "the bare name of a column, without *");
        columns[i] = parts[2].text;
    }
    draft->rule.columns = columns;
    draft->rule.column_count = count;
    return true;
}

static void note_hold_key(struct draft *draft, const struct field *field, const struct node *node)
{
    draft->hold_key = node->place;
    draft->hold_key_name = field->key;
}

static bool field_approvers(struct reader *reader, const struct field *field,
                            const struct node *node, void *target)
{
    struct draft *draft = target;
    note_hold_key(draft, field, node);
    if (node->kind == NODE_LIST && node->count == 0)
        return field_wrong(reader, node, "at least one approver");
    if (!field_names(reader, field, node, &draft->approvers))
        return false;
    draft->rule.approvers = names_only(reader, &draft->approvers);
    draft->rule.approver_count = draft->approvers.count;
    return true;
}

static bool field_quorum(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
    struct draft *draft = target;
    note_hold_key(draft, field, node);
    return field_integer(reader, field, node, &draft->rule.quorum);
}

static bool field_unrehearsed(struct reader *reader, const struct field *field,
                              const struct node *node, void *target)
{
    struct draft *draft = target;
    note_hold_key(draft, field, node);
    draft->rule.unrehearsed_hold = field_choice(reader, field, node, &draft->unrehearsed);
    return draft->rule.unrehearsed_hold;
}

static bool field_rehearse(struct reader *reader, const struct field *field,
                           const struct node *node, void *target)
{
    struct draft *draft = target;
    note_hold_key(draft, field, node);
    return field_flag(reader, field, node, &draft->rule.rehearse);
}

static bool field_rule_name(struct reader *reader, const struct field *field,
                            const struct node *node, void *target)
{
    struct draft *draft = target;
    if (!field_name(reader, field, node, &draft->rule.name))
        return false;
    return text_has_byte(node->text, '.') ? field_wrong(reader, node, "a name without a dot") : true;
}

static const struct field rule_fields[] = {
    {"name", field_rule_name, OPTIONAL, 0, "a name for the rule", NULL, 0, 0},
    {"allow", field_verbs, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"hold", field_verbs, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"reject", field_verbs, OPTIONAL, 0, NULL, NULL, 0, 0},
    {"on", field_on, REQUIRED, 0, "a list of objects: [shop.orders]", NULL, 0, 0},
    {"columns", field_columns, OPTIONAL, 0, "a list of columns: [status, notes]", NULL, 0, 0},
    {"not_columns", field_not_columns, OPTIONAL, 0, "a list of columns: [shop.customers.ssn]", NULL,
     0, 0},
    {"where", field_choice, OPTIONAL, offsetof(struct draft, where), NULL, where_choices, 0, 0},
    {"max_rows", field_integer, OPTIONAL, offsetof(struct draft, rule.max_rows), NULL, NULL, 1, 0},
    {"max_cost", field_number, OPTIONAL, offsetof(struct draft, rule.max_cost), NULL, NULL, 0, 0},
    {"max_effect", field_integer, OPTIONAL, offsetof(struct draft, rule.max_effect), NULL, NULL, 1, 0},
    {"max_lock", field_choice, OPTIONAL, offsetof(struct draft, max_lock), NULL, lock_choices, 0, 0},
    {"message", field_text, OPTIONAL, offsetof(struct draft, rule.message), NULL, NULL, 0, 0},
    {"approvers", field_approvers, OPTIONAL, 0, "a list of approvers: [alice, bob]", NULL, 0, 0},
    {"quorum", field_quorum, OPTIONAL, 0, "how many approvers must release", NULL, 1, 100},
    {"unrehearsed", field_unrehearsed, OPTIONAL, 0, NULL, unrehearsed_choices, 0, 0},
    {"rehearse", field_rehearse, OPTIONAL, 0, NULL, NULL, 0, 0},
};

static bool check_rule(struct reader *reader, const struct node *node, const struct draft *draft)
{
    if (node->kind == NODE_MAP && !draft->has_verdict) {
        problem_error(reader->problems, node->place,
                      "a rule needs exactly one of the keys allow, hold and reject");
        return false;
    }
    if (draft->hold_key_name != NULL && draft->rule.verdict != VERDICT_HOLD) {
        problem_error(reader->problems, draft->hold_key, "only a hold rule has the key \"%s\"",
                      draft->hold_key_name);
        return false;
    }
    if (draft->broken)
        return false;
    struct text problem = rule_problem(reader->scratch, &draft->rule);
    if (problem.size > 0)
        problem_error(reader->problems, node->place, "%.*s", TEXT_ARGS(problem));
    return problem.size == 0;
}

static bool read_rule(struct reader *reader, const struct node *node, struct draft *draft)
{
    *draft = (struct draft){.rule = {.max_rows = LIMIT_NONE, .max_effect = LIMIT_NONE, .max_cost = -1}};
    draft->broken =
        !fields_read(reader, node, "a rule", rule_fields, ARRAY_SIZE(rule_fields), draft);
    draft->rule.where = (enum where_strength)draft->where;
    draft->rule.max_lock = (enum table_lock)draft->max_lock;
    return check_rule(reader, node, draft);
}

static bool check_among_others(struct reader *reader, const struct node *node,
                               const struct policy *policy, size_t index)
{
    const struct rule *rule = &policy->rules[index];
    struct text problem = rule_shadowed(reader->scratch, policy, index);
    if (problem.size > 0)
        problem_error(reader->problems, node->place, "%.*s", TEXT_ARGS(problem));
    for (size_t i = 0; i < index; i++)
        if (text_equal(policy->rules[i].name, rule->name)) {
            problem_error(reader->problems, node->place, "another rule has the name \"%.*s\"",
                          TEXT_ARGS(rule->name));
            return false;
        }
    return problem.size == 0;
}

bool read_policy_rules(struct reader *reader, const struct node *node, struct policy *policy,
                struct policy_places *places)
{
    bool fine = true;
    if (!node_must_be(reader, node, NODE_LIST, "a list of rules"))
        return false;
    if (node->count > LIMIT_CONFIGURATION_RULES)
        return field_wrong(reader, node, "fewer rules");
    struct rule *rules = arena_array(reader->arena, node->count, sizeof *rules);
    places->rules = arena_array(reader->scratch, node->count, sizeof *places->rules);
    policy->rules = rules;
    for (size_t i = 0; i < node->count; i++) {
        struct draft draft;
        bool rule_is_fine = read_rule(reader, &node->items[i], &draft);
        rules[i] = draft.rule;
        rules[i].place = node->items[i].place;
        if (rules[i].name.size == 0)
            rules[i].name = arena_printf(reader->arena, "%.*s.%zu", TEXT_ARGS(policy->name), i + 1);
        rules[i].text = rule_in_words(reader->arena, &rules[i]);
        places->rules[i] = (struct rule_places){node->items[i].place, draft.on, draft.approvers};
        policy->rule_count = i + 1;
        fine = rule_is_fine && check_among_others(reader, &node->items[i], policy, i) && fine;
    }
    return fine;
}

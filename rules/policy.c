/* policy.c - facts that follow from a policy's rules. Reject rules are looked at only where they matter. */
#include "rules/policy.h"

const char *verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_ALLOW:
        return "allow";
    case VERDICT_HOLD:
        return "hold";
    case VERDICT_REJECT:
        break;
    }
    return "reject";
}

static bool rule_names(const struct rule *rule, const struct object *object)
{
    for (size_t i = 0; i < rule->on_count; i++)
        if (object_pattern_matches(&rule->on[i], object))
            return true;
    return false;
}

bool policy_may(const struct policy *policy, enum verb verb, const struct object *object)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (rule->verdict != VERDICT_REJECT && rule->verbs[verb] && rule_names(rule, object))
            return true;
    }
    return false;
}

/* A SET cannot be rehearsed: it is held only by a rule that says so. */
static bool lets_set_run(const struct rule *rule)
{
    return rule->verdict == VERDICT_ALLOW ||
           (rule->verdict == VERDICT_HOLD && (rule->unrehearsed_hold || rule->rehearse));
}

bool policy_may_set_search_path(const struct policy *policy)
{
    const struct object search_path = {OBJECT_SETTING, TEXT(""), TEXT("search_path")};
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (rule->verbs[VERB_SET] && lets_set_run(rule) && rule_names(rule, &search_path))
            return true;
    }
    return false;
}

/* Can the agent do something by this rule, with a person's approval if `held`? */
static bool rule_lets(const struct rule *rule, bool held)
{
    return rule->verdict == VERDICT_ALLOW || (held && rule->verdict == VERDICT_HOLD);
}

static bool is_only_a_sequence(const struct object_pattern *pattern, const struct catalog *catalog)
{
    if (catalog == NULL || pattern->kind != OBJECT_NAME || !object_pattern_is_literal(pattern) ||
        pattern->part_count != 2)
        return false;
    struct text schema = pattern->parts[0].text, name = pattern->parts[1].text;
    const struct relation *relation = catalog_relation(catalog, schema, name);
    size_t count;
    const struct function *const functions = catalog_functions(catalog, name, &count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(functions[i].schema, schema))
            return false;
    return relation != NULL && relation->kind == 'S';
}

/* `call` of a sequence is nextval('…'), which runs no code of users'. */
static bool calls_code(const struct rule *rule, const struct catalog *catalog)
{
    bool code = false;
    for (size_t i = 0; i < rule->on_count; i++)
        code = code || !is_only_a_sequence(&rule->on[i], catalog);
    return code && rule->verbs[VERB_CALL];
}

bool policy_may_make_objects(const struct policy *policy, bool held, const struct catalog *catalog)
{
    static const enum verb making[] = {VERB_CREATE, VERB_ALTER, VERB_DROP, VERB_CODE};
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (!rule_lets(rule, held))
            continue;
        bool makes = calls_code(rule, catalog);
        for (size_t j = 0; j < ARRAY_SIZE(making); j++)
            makes = makes || rule->verbs[making[j]];
        if (makes)
            return true;
    }
    return policy_may_set_search_path(policy);
}

/* A new name, by RENAME and SET SCHEMA too, needs `create`; what runs code needs `code` besides. */
static unsigned ways_of(const struct rule *rule)
{
    unsigned ways = 0;
    if (rule->verbs[VERB_CREATE] || rule->verbs[VERB_CODE])
        ways |= MAKEABLE_NEW | MAKEABLE_OTHER;
    if (rule->verbs[VERB_CODE])
        ways |= MAKEABLE_CODE;
    if (rule->verbs[VERB_ALTER])
        ways |= MAKEABLE_OTHER;
    if (rule->verbs[VERB_DROP])
        ways |= MAKEABLE_GONE | MAKEABLE_OTHER;
    return ways;
}

static struct makeable makeable_of(const struct object_pattern *pattern, enum object_kind kind,
                                   unsigned ways)
{
    struct makeable makeable = {.ways = ways, .kind = kind};
    const struct name_pattern *parts = pattern->parts;
    if (pattern->any) {
        makeable.schema_prefix = makeable.name_prefix = true;
        return makeable;
    }
    size_t last = pattern->part_count - 1;
    makeable.name = parts[last].text;
    makeable.name_prefix = parts[last].prefix;
    if (kind == OBJECT_NAME && last > 0) {
        makeable.schema = parts[0].text;
        makeable.schema_prefix = parts[0].prefix;
    }
    return makeable;
}

const struct makeable *policy_makeable(struct arena *arena, const struct policy *policy, bool held,
                                       size_t *count)
{
    static const enum object_kind kinds[] = {OBJECT_NAME, OBJECT_SCHEMA};
    struct makeable *list = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        unsigned ways = rule_lets(rule, held) ? ways_of(rule) : 0;
        for (size_t j = 0; j < rule->on_count && ways != 0; j++)
            for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                if (!rule->on[j].any && rule->on[j].kind != kinds[k])
                    continue;
                struct makeable *added =
                    arena_push(arena, (void **)&list, count, &capacity, sizeof *added);
                *added = makeable_of(&rule->on[j], kinds[k], ways);
            }
    }
    return list;
}

static bool rule_sets_roles(const struct rule *rule)
{
    for (size_t i = 0; i < rule->on_count; i++)
        if (rule->on[i].any || rule->on[i].kind == OBJECT_ROLE)
            return rule->verdict != VERDICT_REJECT && rule->verbs[VERB_SET];
    return false;
}

bool policy_may_change_role(const struct policy *policy)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (rule_sets_roles(&policy->rules[i]))
            return true;
    return false;
}

bool policy_pins_custom(const struct policy *policy)
{
    for (size_t i = 0; i < policy->setting_count; i++)
        if (policy->settings[i].pinned && text_has_byte(policy->settings[i].name, '.'))
            return true;
    return false;
}

static bool executes(const struct rule *rule, const struct template *template)
{
    const struct object object = {OBJECT_TEMPLATE, TEXT(""), template->name};
    return rule->verbs[VERB_EXECUTE] && rule_names(rule, &object);
}

bool rule_executes_use(const struct rule *rule, const struct template *template, enum verb verb,
                       const struct object *object)
{
    for (size_t i = 0; i < template->use_count; i++) {
        const struct template_use *use = &template->uses[i];
        if (use->verb == verb && use->object.kind == object->kind &&
            text_equal(use->object.schema, object->schema) &&
            text_equal(use->object.name, object->name))
            return rule->verdict != VERDICT_REJECT && executes(rule, template);
    }
    return false;
}

static bool rule_reads_only(const struct policy *policy, const struct rule *rule)
{
    for (size_t verb = 0; verb < VERB_COUNT; verb++)
        if (rule->verbs[verb] && verb != VERB_SELECT && verb != VERB_LISTEN && verb != VERB_EXECUTE)
            return false;
    for (size_t i = 0; i < policy->template_count; i++)
        if (executes(rule, &policy->templates[i]) && !policy->templates[i].only_reads)
            return false;
    return !rule->all_verbs;
}

bool policy_reads_only(const struct policy *policy)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].verdict != VERDICT_REJECT &&
            !rule_reads_only(policy, &policy->rules[i]))
            return false;
    return true;
}

bool rule_is_unconditional(const struct rule *rule)
{
    return rule->columns == NULL && rule->not_column_count == 0 && rule->where == WHERE_ANY &&
           rule->max_rows == LIMIT_NONE && rule->max_effect == LIMIT_NONE && rule->max_cost < 0 &&
           rule->max_lock == LOCK_ACCESS_EXCLUSIVE;
}

static bool names_everything(const struct rule *rule)
{
    for (size_t i = 0; i < rule->on_count; i++)
        if (rule->on[i].any)
            return rule->all_verbs;
    return false;
}

bool policy_allows_everything(const struct policy *policy)
{
    for (size_t i = 0; i < policy->rule_count && policy->hidden_count == 0; i++) {
        if (policy->rules[i].verdict != VERDICT_ALLOW ||
            !rule_is_unconditional(&policy->rules[i]))
            return false;
        if (names_everything(&policy->rules[i]))
            return true;
    }
    return false;
}

static bool may_be_made(const struct policy *policy, const struct object *object)
{
    for (size_t i = 0; i < policy->makeable_count; i++)
        if (object_pattern_matches(&policy->makeable[i], object))
            return true;
    return false;
}

static bool rule_names_literally(const struct rule *rule, const struct object *object)
{
    for (size_t i = 0; i < rule->on_count; i++)
        if (object_pattern_is_literal(&rule->on[i]) && object_pattern_matches(&rule->on[i], object))
            return true;
    return false;
}

bool policy_holds(const struct policy *policy)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].verdict == VERDICT_HOLD ||
            rule_allows_held_template(policy, &policy->rules[i]))
            return true;
    return false;
}

bool rule_allows_held_template(const struct policy *policy, const struct rule *rule)
{
    for (size_t i = 0; i < policy->template_count && rule->verdict == VERDICT_ALLOW; i++)
        if (policy->templates[i].hold && executes(rule, &policy->templates[i]))
            return true;
    return false;
}

bool policy_names_literally(const struct policy *policy, const struct object *object)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (rule_names_literally(&policy->rules[i], object))
            return !may_be_made(policy, object);
    return false;
}

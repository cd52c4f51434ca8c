/*
 * checks.c - the parts of a configuration file against each other: names that dangle, people who are
 * agents, holds that nobody could release.
 */
#include "proxy/config/checks.h"

static const struct upstream_settings *find_upstream(const struct whole *whole, struct text name)
{
    for (size_t i = 0; i < whole->upstreams.count; i++)
        if (text_equal(whole->upstreams.upstreams[i].name, name))
            return &whole->upstreams.upstreams[i];
    return NULL;
}

static const struct policy *find_policy(const struct whole *whole, struct text name)
{
    for (size_t i = 0; i < whole->policies.count; i++)
        if (text_equal(whole->policies.policies[i].name, name))
            return &whole->policies.policies[i];
    return NULL;
}

static const struct approver *find_approver(const struct whole *whole, struct text name)
{
    for (size_t i = 0; i < whole->approvers.count; i++)
        if (text_equal(whole->approvers.approvers[i].name, name))
            return &whole->approvers.approvers[i];
    return NULL;
}

static void report_dangling(struct reader *reader, const struct placed_text *name, const char *what)
{
    if (name->text.size > 0)
        problem_error(reader->problems, name->place, "there is no %s \"%.*s\"", what,
                      TEXT_ARGS(name->text));
}

static const struct attribute *find_attribute(const struct agent *agent, struct text name)
{
    for (size_t i = 0; i < agent->attribute_count; i++)
        if (text_equal(agent->attributes[i].name, name))
            return &agent->attributes[i];
    return NULL;
}

static void put_in_attributes(struct reader *reader, struct agent *agent, struct place place)
{
    const struct policy *policy = agent->policy;
    struct text *values = arena_array(reader->arena, policy->setting_count, sizeof *values);
    for (size_t i = 0; i < policy->setting_count; i++) {
        const struct setting_rule *setting = &policy->settings[i];
        const struct attribute *attribute = find_attribute(agent, setting->attribute);
        values[i] = setting->value;
        if (setting->attribute.size == 0)
            continue;
        if (attribute != NULL)
            values[i] = attribute->value;
        else
            problem_error(reader->problems, place,
                          "agent %.*s has no attribute \"%.*s\", to which policy %.*s pins %.*s",
                          TEXT_ARGS(agent->name), TEXT_ARGS(setting->attribute),
                          TEXT_ARGS(policy->name), TEXT_ARGS(setting->name));
    }
    agent->setting_values = values;
}

/* What a template takes from the agent is checked as if it had been an argument. */
static void check_attributes(struct reader *reader, const struct agent *agent,
                             const struct template *template, struct place place)
{
    for (size_t i = 0; i < template->parameter_count; i++) {
        const struct template_parameter *parameter = &template->parameters[i];
        const struct attribute *attribute = find_attribute(agent, parameter->attribute);
        struct text bound, problem;
        if (parameter->attribute.size == 0)
            continue;
        if (attribute == NULL) {
            problem_error(reader->problems, place,
                          "agent %.*s has no attribute \"%.*s\", which template %.*s takes",
                          TEXT_ARGS(agent->name), TEXT_ARGS(parameter->attribute),
                          TEXT_ARGS(template->name));
            continue;
        }
        const struct template_value value = {.form = VALUE_TEXT, .bytes = attribute->value};
        if (!template_check(reader->scratch, parameter, &value, &bound, &problem))
            problem_error(reader->problems, place,
                          "attribute %.*s of agent %.*s, for parameter %.*s of template %.*s, %.*s",
                          TEXT_ARGS(attribute->name), TEXT_ARGS(agent->name),
                          TEXT_ARGS(parameter->name), TEXT_ARGS(template->name), TEXT_ARGS(problem));
    }
}

static void check_templates_of(struct reader *reader, const struct agent *agent, struct place place)
{
    for (size_t i = 0; i < agent->policy->template_count; i++) {
        const struct template *template = &agent->policy->templates[i];
        const struct object object = {OBJECT_TEMPLATE, TEXT(""), template->name};
        bool was_read = template->rule_text.size > 0;
        if (was_read && policy_may(agent->policy, VERB_EXECUTE, &object))
            check_attributes(reader, agent, template, place);
    }
}

static void check_agent(struct reader *reader, const struct whole *whole, struct agent *agent,
                        const struct agent_places *places)
{
    agent->upstream = find_upstream(whole, places->upstream.text);
    agent->policy = find_policy(whole, places->policy.text);
    if (agent->upstream == NULL)
        report_dangling(reader, &places->upstream, "upstream");
    if (agent->policy == NULL)
        report_dangling(reader, &places->policy, "policy");
    else
        put_in_attributes(reader, agent, places->place);
    if (agent->policy != NULL)
        check_templates_of(reader, agent, places->place);
    if (find_approver(whole, agent->name) != NULL)
        problem_error(reader->problems, places->place,
                      "\"%.*s\" is an approver, too: who asks must not be who releases",
                      TEXT_ARGS(agent->name));
    for (size_t i = 0; i < whole->approvers.count; i++)
        if (places->secret.size > 0 &&
            text_equal(places->secret, whole->approvers.places[i].secret))
            problem_error(reader->problems, places->secret_place,
                          "agent %.*s has the secret of approver %.*s", TEXT_ARGS(agent->name),
                          TEXT_ARGS(whole->approvers.approvers[i].name));
}

static void check_approver(struct reader *reader, const struct whole *whole,
                           const struct approver_places *places)
{
    for (size_t i = 0; i < places->policies.count; i++)
        if (find_policy(whole, places->policies.names[i].text) == NULL)
            report_dangling(reader, &places->policies.names[i], "policy");
}

static bool is_named(struct text name, const struct text *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(names[i], name))
            return true;
    return count == 0;
}

static int64_t possible_approvers(const struct whole *whole, const struct policy *policy,
                                  const struct rule *rule)
{
    int64_t possible = 0;
    for (size_t i = 0; i < whole->approvers.count; i++) {
        const struct approver *approver = &whole->approvers.approvers[i];
        if (is_named(policy->name, approver->policies, approver->policy_count) &&
            is_named(approver->name, rule->approvers, rule->approver_count))
            possible++;
    }
    return possible;
}

static void check_hold_rule(struct reader *reader, const struct whole *whole,
                            const struct policy *policy, const struct rule *rule,
                            const struct rule_places *places)
{
    int64_t quorum = rule->quorum > 0 ? rule->quorum : policy->hold_quorum;
    int64_t possible = possible_approvers(whole, policy, rule);
    for (size_t i = 0; i < places->approvers.count; i++)
        if (find_approver(whole, places->approvers.names[i].text) == NULL)
            report_dangling(reader, &places->approvers.names[i], "approver");
    if (possible < quorum)
        problem_error(reader->problems, places->place,
                      "this rule holds for %lld approver%s, but only %lld may decide it",
                      (long long)quorum, quorum == 1 ? "" : "s", (long long)possible);
    if (!whole->has_review)
        problem_error(reader->problems, places->place,
                      "a rule that holds needs the section review, where people release");
    if (!whole->has_holds)
        problem_error(reader->problems, places->place,
                      "a rule that holds needs the section holds, where holds are stored");
}

static bool names_a_template(const struct object_pattern *pattern, const struct policy *policy)
{
    for (size_t i = 0; i < policy->template_count; i++) {
        const struct object object = {OBJECT_TEMPLATE, TEXT(""), policy->templates[i].name};
        if (object_pattern_matches(pattern, &object))
            return true;
    }
    return false;
}

/* `all` on `*` is about much else. */
static void check_execute(struct reader *reader, const struct policy *policy,
                          const struct rule *rule, struct place place)
{
    for (size_t i = 0; i < rule->on_count && rule->verbs[VERB_EXECUTE] && !rule->all_verbs; i++) {
        const struct object_pattern *pattern = &rule->on[i];
        if ((pattern->any || pattern->kind == OBJECT_TEMPLATE) && !names_a_template(pattern, policy))
            problem_error(reader->problems, place, "there is no template \"%.*s\"",
                          TEXT_ARGS(pattern->source));
    }
}

static void check_policy(struct reader *reader, const struct whole *whole,
                         const struct policy *policy, const struct policy_places *places)
{
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        check_execute(reader, policy, rule, places->rules[i].on);
        if (rule->verdict == VERDICT_HOLD || rule_allows_held_template(policy, rule))
            check_hold_rule(reader, whole, policy, rule, &places->rules[i]);
    }
}

void check_whole(struct reader *reader, struct whole *whole)
{
    for (size_t i = 0; i < whole->policies.count; i++) {
        whole->policies.policies[i].templates = whole->templates.templates;
        whole->policies.policies[i].template_count = whole->templates.count;
    }
    for (size_t i = 0; i < whole->policies.count; i++)
        check_policy(reader, whole, &whole->policies.policies[i], &whole->policies.places[i]);
    for (size_t i = 0; i < whole->approvers.count; i++)
        check_approver(reader, whole, &whole->approvers.places[i]);
    for (size_t i = 0; i < whole->agents.count; i++)
        check_agent(reader, whole, &whole->agents.agents[i], &whole->agents.places[i]);
}

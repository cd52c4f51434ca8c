/*
 * problems.c - rules that cannot mean what they say: a condition on a verb that does not have it, an
 * object that none of the verbs acts on, a rule behind others that decide everything it names.
 */
#include "rules/policy.h"

#define KIND(kind) (1u << (kind))

enum {
    IN_DATABASE = KIND(OBJECT_NAME) | KIND(OBJECT_SCHEMA) | KIND(OBJECT_ROLE) |
                  KIND(OBJECT_DATABASE) | KIND(OBJECT_EXTENSION) | KIND(OBJECT_LANGUAGE) |
                  KIND(OBJECT_PUBLICATION) | KIND(OBJECT_SUBSCRIPTION) | KIND(OBJECT_SERVER) |
                  KIND(OBJECT_TABLESPACE),
};

/* Which kinds of object each verb acts on. */
static const unsigned kinds_of_verb[VERB_COUNT] = {
    [VERB_SELECT] = KIND(OBJECT_NAME),
    [VERB_INSERT] = KIND(OBJECT_NAME),
    [VERB_UPDATE] = KIND(OBJECT_NAME),
    [VERB_DELETE] = KIND(OBJECT_NAME),
    [VERB_TRUNCATE] = KIND(OBJECT_NAME),
    [VERB_CALL] = KIND(OBJECT_NAME),
    [VERB_EXECUTE] = KIND(OBJECT_TEMPLATE),
    [VERB_CREATE] = IN_DATABASE,
    [VERB_ALTER] = IN_DATABASE,
    [VERB_DROP] = IN_DATABASE,
    [VERB_GRANT] = IN_DATABASE | KIND(OBJECT_SETTING),
    [VERB_COMMENT] = IN_DATABASE,
    [VERB_LOCK] = KIND(OBJECT_NAME),
    [VERB_SET] = KIND(OBJECT_SETTING) | KIND(OBJECT_ROLE),
    [VERB_LISTEN] = KIND(OBJECT_CHANNEL),
    [VERB_NOTIFY] = KIND(OBJECT_CHANNEL),
    [VERB_MAINTAIN] = KIND(OBJECT_NAME) | KIND(OBJECT_SCHEMA) | KIND(OBJECT_DATABASE),
    [VERB_CODE] = KIND(OBJECT_NAME) | KIND(OBJECT_LANGUAGE),
    [VERB_COPY_FILE] = KIND(OBJECT_NAME),
};

static bool has_columns(enum verb verb)
{
    return verb == VERB_SELECT || verb == VERB_INSERT || verb == VERB_UPDATE;
}

static bool has_where(enum verb verb) { return verb == VERB_UPDATE || verb == VERB_DELETE; }

static bool has_numbers(enum verb verb) { return has_columns(verb) || verb == VERB_DELETE; }

/* The first written condition that the verb does not have, or NULL. */
static const char *foreign_condition(const struct rule *rule, enum verb verb)
{
    if (rule->columns != NULL && !has_columns(verb))
        return "columns";
    if (rule->not_column_count > 0 && !has_columns(verb))
        return "not_columns";
    if (rule->where != WHERE_ANY && !has_where(verb))
        return "where";
    if (rule->max_rows != LIMIT_NONE && !has_numbers(verb))
        return "max_rows";
    if (rule->max_cost >= 0 && !has_numbers(verb))
        return "max_cost";
    return NULL;
}

static bool verb_acts_on(const struct rule *rule, enum verb verb)
{
    for (size_t i = 0; i < rule->on_count; i++)
        if (rule->on[i].any || (kinds_of_verb[verb] & KIND(rule->on[i].kind)) != 0)
            return true;
    return false;
}

static bool object_is_acted_on(const struct rule *rule, const struct object_pattern *on)
{
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        if (rule->verbs[verb] && (on->any || (kinds_of_verb[verb] & KIND(on->kind)) != 0))
            return true;
    return false;
}

static struct text verb_problem(struct arena *arena, const struct rule *rule, enum verb verb)
{
    const char *condition = foreign_condition(rule, verb);
    if (condition != NULL && rule->all_verbs)
        return arena_printf(arena, "all takes no conditions, so %s cannot stand here: name the verbs",
                            condition);
    if (condition != NULL)
        return arena_printf(arena, "%s does not have the condition %s: split the rule in two",
                            verb_name(verb), condition);
    if (!rule->all_verbs && !verb_acts_on(rule, verb))
        return arena_printf(arena, "%s acts on none of the objects under on, so it can never match",
                            verb_name(verb));
    return TEXT("");
}

struct text rule_problem(struct arena *arena, const struct rule *rule)
{
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++) {
        struct text problem = rule->verbs[verb] ? verb_problem(arena, rule, (enum verb)verb) : TEXT("");
        if (problem.size > 0)
            return problem;
    }
    for (size_t i = 0; i < rule->on_count; i++)
        if (!object_is_acted_on(rule, &rule->on[i]))
            return arena_printf(arena, "no verb of this rule acts on %.*s%s",
                                TEXT_ARGS(rule->on[i].source),
                                rule->on[i].kind == OBJECT_TEMPLATE ? ": write schema.name" : "");
    return TEXT("");
}

static bool part_covers(const struct name_pattern *wide, const struct name_pattern *narrow)
{
    if (!wide->prefix)
        return !narrow->prefix && text_equal(wide->text, narrow->text);
    return narrow->text.size >= wide->text.size &&
           text_equal(wide->text, (struct text){narrow->text.bytes, wide->text.size});
}

static bool pattern_covers(const struct object_pattern *wide, const struct object_pattern *narrow)
{
    if (wide->any || narrow->any)
        return wide->any;
    if (wide->kind != narrow->kind || wide->part_count != narrow->part_count)
        return false;
    for (size_t i = 0; i < wide->part_count; i++)
        if (!part_covers(&wide->parts[i], &narrow->parts[i]))
            return false;
    return true;
}

static const struct rule *decided_before(const struct policy *policy, size_t index, enum verb verb,
                                         const struct object_pattern *on)
{
    for (size_t i = 0; i < index; i++) {
        const struct rule *rule = &policy->rules[i];
        for (size_t j = 0; j < rule->on_count && rule->verbs[verb] && rule_is_unconditional(rule); j++)
            if (pattern_covers(&rule->on[j], on))
                return rule;
    }
    return NULL;
}

struct text rule_shadowed(struct arena *arena, const struct policy *policy, size_t index)
{
    const struct rule *rule = &policy->rules[index];
    const struct rule *before = NULL;
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        for (size_t i = 0; i < rule->on_count && rule->verbs[verb]; i++) {
            before = decided_before(policy, index, (enum verb)verb, &rule->on[i]);
            if (before == NULL)
                return TEXT("");
        }
    if (before == NULL)
        return TEXT("");
    return arena_printf(arena, "this rule can never match: %.*s stands before it and decides the same",
                        TEXT_ARGS(before->name));
}

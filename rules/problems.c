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

/* --- conditions ------------------------------------------------------------------------------ */

static bool writes_columns(const struct rule *rule) { return rule->columns != NULL; }
static bool writes_not_columns(const struct rule *rule) { return rule->not_column_count > 0; }
static bool writes_where(const struct rule *rule) { return rule->where != WHERE_ANY; }
static bool writes_max_rows(const struct rule *rule) { return rule->max_rows != LIMIT_NONE; }
static bool writes_max_effect(const struct rule *rule) { return rule->max_effect != LIMIT_NONE; }
static bool writes_max_cost(const struct rule *rule) { return rule->max_cost >= 0; }
static bool writes_max_lock(const struct rule *rule)
{
    return rule->max_lock != LOCK_ACCESS_EXCLUSIVE;
}

#define VERB(verb) (1u << (verb))

enum {
    WITH_COLUMNS = VERB(VERB_SELECT) | VERB(VERB_INSERT) | VERB(VERB_UPDATE),
    WITH_WHERE = VERB(VERB_UPDATE) | VERB(VERB_DELETE),
    WITH_ROWS = WITH_COLUMNS | VERB(VERB_DELETE),
    WITH_EFFECT = VERB(VERB_INSERT) | VERB(VERB_UPDATE) | VERB(VERB_DELETE) | VERB(VERB_TRUNCATE) |
                  VERB(VERB_CALL) | VERB(VERB_CODE),
    WITH_LOCK = VERB(VERB_CREATE) | VERB(VERB_ALTER) | VERB(VERB_DROP) | VERB(VERB_TRUNCATE) |
                VERB(VERB_LOCK) | VERB(VERB_MAINTAIN),
};

/* Which verbs have which condition. */
static const struct condition_kind {
    const char *name;
    bool (*is_written)(const struct rule *rule);
    unsigned verbs;
} condition_kinds[] = {
    {"columns", writes_columns, WITH_COLUMNS},   {"not_columns", writes_not_columns, WITH_COLUMNS},
    {"where", writes_where, WITH_WHERE},         {"max_rows", writes_max_rows, WITH_ROWS},
    {"max_effect", writes_max_effect, WITH_EFFECT},
    {"max_cost", writes_max_cost, WITH_ROWS},    {"max_lock", writes_max_lock, WITH_LOCK},
};

/* The first written condition that the verb does not have, or NULL. */
static const struct condition_kind *foreign_condition(const struct rule *rule, enum verb verb)
{
    for (size_t i = 0; i < ARRAY_SIZE(condition_kinds); i++)
        if (condition_kinds[i].is_written(rule) && (condition_kinds[i].verbs & VERB(verb)) == 0)
            return &condition_kinds[i];
    return NULL;
}

/* "select, insert" */
static struct text verbs_in_words(struct arena *arena, unsigned verbs)
{
    struct text words = TEXT("");
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        if ((verbs & VERB(verb)) != 0)
            words = arena_printf(arena, "%.*s%s%s", TEXT_ARGS(words), words.size > 0 ? ", " : "",
                                 verb_name((enum verb)verb));
    return words;
}

static struct text condition_problem(struct arena *arena, const struct rule *rule, enum verb verb,
                                     const struct condition_kind *condition)
{
    unsigned verbs = 0;
    for (int other = VERB_NONE + 1; other < VERB_COUNT; other++)
        verbs |= rule->verbs[other] ? VERB(other) : 0;
    if (rule->all_verbs)
        return arena_printf(arena, "all takes no conditions, so %s cannot stand here: name the verbs",
                            condition->name);
    if ((verbs & condition->verbs) == 0)
        return arena_printf(arena, "%s does not have the condition %s, which is for %.*s",
                            verb_name(verb), condition->name,
                            TEXT_ARGS(verbs_in_words(arena, condition->verbs)));
    return arena_printf(arena,
                        "%s does not have the condition %s: split the rule in two, one for %.*s and "
                        "one for %.*s without it",
                        verb_name(verb), condition->name,
                        TEXT_ARGS(verbs_in_words(arena, verbs & condition->verbs)),
                        TEXT_ARGS(verbs_in_words(arena, verbs & ~condition->verbs)));
}

/* --- objects --------------------------------------------------------------------------------- */

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

/* What is neither counted by the tables' counters while it runs, nor rehearsed. */
static struct text effect_problem(struct arena *arena, const struct rule *rule, enum verb verb)
{
    bool is_code = verb == VERB_CALL || verb == VERB_CODE;
    if (rule->max_effect == LIMIT_NONE || (verb != VERB_TRUNCATE && !is_code))
        return TEXT("");
    if (rule->verdict == VERDICT_ALLOW)
        return arena_printf(arena,
                            "the rows that %s changes are only counted in a rehearsal, so max_effect can "
                            "never hold here: write it into a hold rule",
                            verb_name(verb));
    if (rule->verdict == VERDICT_HOLD && is_code && !rule->rehearse)
        return arena_printf(arena,
                            "%s is not rehearsed, so max_effect can never hold: add rehearse: true if "
                            "nothing that it does outlives a rollback",
                            verb_name(verb));
    return TEXT("");
}

static struct text verb_problem(struct arena *arena, const struct rule *rule, enum verb verb)
{
    const struct condition_kind *condition = foreign_condition(rule, verb);
    if (condition != NULL)
        return condition_problem(arena, rule, verb, condition);
    if (!rule->all_verbs && !verb_acts_on(rule, verb))
        return arena_printf(arena, "%s acts on none of the objects under on, so it can never match",
                            verb_name(verb));
    return effect_problem(arena, rule, verb);
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

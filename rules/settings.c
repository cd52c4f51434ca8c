/*
 * settings.c - may a setting be changed or read, and what a session starts with.
 *
 * What no line here lets pass needs a rule, or is rejected; `problem` then says what is possible.
 */
#include "rules/settings.h"

#include "parser/builtins.h"
#include "rules/setting_value.h"

struct judged {
    struct arena *arena;
    const struct decide_context *context;
    const struct setting_use *use;
    struct text *problem;
};

/* What a session has where neither policy nor agent says otherwise. */
static const struct {
    const char *name;
    const char *value;
} safe_defaults[] = {
    {"statement_timeout", "30s"},
    {"lock_timeout", "2s"},
    {"idle_in_transaction_session_timeout", "60s"},
};

bool setting_always_pinned(struct text name)
{
    return text_is(name, "standard_conforming_strings") || text_is(name, "client_encoding");
}

static const struct setting_rule *policy_setting(const struct decide_context *context,
                                                 struct text name, struct text *value)
{
    const struct policy *policy = context->policy;
    for (size_t i = 0; i < policy->setting_count; i++)
        if (text_equal(policy->settings[i].name, name)) {
            *value = context->setting_values != NULL ? context->setting_values[i]
                                                     : policy->settings[i].value;
            return &policy->settings[i];
        }
    return NULL;
}

/* A pinned default_transaction_* binds each transaction, too: BEGIN READ WRITE is another spelling. */
static const struct setting_rule *binding_setting(const struct judged *judged, struct text *value)
{
    const struct text name = judged->use->name;
    const struct setting_rule *rule = policy_setting(judged->context, name, value);
    if (rule != NULL || !text_starts_with(name, "transaction_"))
        return rule;
    rule = policy_setting(judged->context,
                          arena_printf(judged->arena, "default_%.*s", TEXT_ARGS(name)), value);
    return rule != NULL && rule->pinned ? rule : NULL;
}

static enum setting_verdict reject(const struct judged *judged, struct text problem)
{
    *judged->problem = problem;
    return SETTING_REJECTED;
}

static enum setting_verdict need_rule(const struct judged *judged, struct text problem)
{
    *judged->problem = problem;
    return SETTING_NEEDS_RULE;
}

static bool is_utf8(struct text value)
{
    return text_is_ignoring_case(value, "utf8") || text_is_ignoring_case(value, "utf-8") ||
           text_is_ignoring_case(value, "unicode");
}

static enum setting_verdict judge_always_pinned(const struct judged *judged)
{
    const struct setting_use *use = judged->use;
    bool on = false;
    if (text_is(use->name, "client_encoding") ? is_utf8(use->value)
                                              : setting_boolean(use->value, &on) && on)
        return SETTING_PASSES;
    return reject(judged, arena_printf(judged->arena, "%.*s is always %s", TEXT_ARGS(use->name),
                                       text_is(use->name, "client_encoding") ? "UTF8" : "on"));
}

static enum setting_verdict judge_search_path(const struct judged *judged)
{
    const struct policy *policy = judged->context->policy;
    if (!policy->search_path_pinned)
        return need_rule(judged, TEXT("a rule must allow set on setting:search_path"));
    if (setting_is_search_path(judged->use->value, policy->search_path, policy->search_path_count))
        return SETTING_PASSES;
    struct text pinned =
        setting_search_path(judged->arena, policy->search_path, policy->search_path_count);
    return reject(judged, arena_printf(judged->arena, "search_path is pinned to %s",
                                       pinned.size > 0 ? pinned.bytes : "''"));
}

static bool is_read_only(struct text name)
{
    return text_is(name, "transaction_read_only") || text_is(name, "default_transaction_read_only");
}

static enum setting_verdict judge_read_only(const struct judged *judged)
{
    bool on;
    if (!policy_reads_only(judged->context->policy))
        return SETTING_PASSES;
    if (setting_boolean(judged->use->value, &on) && on)
        return SETTING_PASSES;
    return reject(judged, TEXT("this policy has no write, so transactions stay READ ONLY"));
}

static enum setting_verdict judge_timeout(const struct judged *judged)
{
    const struct setting_use *use = judged->use;
    struct text limit = TEXT("0");
    int64_t wanted, most;
    if (policy_setting(judged->context, use->name, &limit) == NULL)
        for (size_t i = 0; i < ARRAY_SIZE(safe_defaults); i++)
            if (text_is(use->name, safe_defaults[i].name))
                limit = text_from(safe_defaults[i].value);
    bool known = setting_timeout_ms(use->value, &wanted);
    if (known && setting_timeout_ms(limit, &most) && (most == 0 || (wanted > 0 && wanted <= most)))
        return SETTING_PASSES;
    return need_rule(judged,
                     arena_printf(judged->arena, "it may only be lowered, here to at most %.*s%s",
                                  TEXT_ARGS(limit),
                                  known ? "" : "; write an integer with ms, s, min, h or d"));
}

static bool is_client_message_level(struct text value)
{
    return text_is_ignoring_case(value, "notice") || text_is_ignoring_case(value, "warning") ||
           text_is_ignoring_case(value, "error");
}

static enum setting_verdict judge_harmless(const struct judged *judged)
{
    const struct setting_use *use = judged->use;
    if (is_read_only(use->name))
        return judge_read_only(judged);
    if (text_is(use->name, "client_min_messages") && !is_client_message_level(use->value))
        return need_rule(judged, TEXT("client_min_messages may be notice, warning or error"));
    return SETTING_PASSES;
}

/* Any value is as good as another. */
static bool is_harmless_at_any_value(struct text name)
{
    return builtin_setting(name).class == SETTING_HARMLESS && !is_read_only(name) &&
           !text_is(name, "client_min_messages");
}

static enum setting_verdict judge_by_class(const struct judged *judged)
{
    const struct setting_use *use = judged->use;
    switch (builtin_setting(use->name).class) {
    case SETTING_HARMLESS:
        return judge_harmless(judged);
    case SETTING_DOWN_ONLY:
        return judge_timeout(judged);
    case SETTING_NEVER:
    case SETTING_PINNED:
        break;
    }
    return need_rule(judged, arena_printf(judged->arena, "a rule must allow set on setting:%.*s",
                                          TEXT_ARGS(use->name)));
}

static enum setting_verdict judge_pinned(const struct judged *judged, struct text pinned)
{
    const struct setting_use *use = judged->use;
    if (setting_values_equal(use->name, use->value, pinned))
        return SETTING_PASSES;
    return reject(judged, arena_printf(judged->arena, "%.*s is pinned by the policy",
                                       TEXT_ARGS(use->name)));
}

static enum setting_verdict judge_set(const struct judged *judged)
{
    const struct setting_use *use = judged->use;
    struct text pinned;
    const struct setting_rule *rule = binding_setting(judged, &pinned);
    bool is_pin = (rule != NULL && rule->pinned) || setting_always_pinned(use->name);
    if (use->value_unknown && is_pin)
        return reject(judged, arena_printf(judged->arena, "%.*s is pinned, and its new value is not "
                                                          "a constant",
                                           TEXT_ARGS(use->name)));
    if (use->value_unknown && is_harmless_at_any_value(use->name))
        return SETTING_PASSES;
    if (use->value_unknown)
        return need_rule(judged, TEXT("the new value must be a constant"));
    if (setting_always_pinned(use->name))
        return judge_always_pinned(judged);
    if (rule != NULL && rule->pinned)
        return judge_pinned(judged, pinned);
    return text_is(use->name, "search_path") ? judge_search_path(judged) : judge_by_class(judged);
}

/*
 * A session's start value is the policy's own, so going back to it is safe. Those of the transaction
 * are the exception: they go back to the server's values, whatever the session's defaults are.
 */
static enum setting_verdict judge_reset(const struct judged *judged)
{
    struct text pinned;
    if (text_starts_with(judged->use->name, "transaction_") &&
        binding_setting(judged, &pinned) != NULL)
        return reject(judged, arena_printf(judged->arena, "%.*s is pinned by the policy",
                                           TEXT_ARGS(judged->use->name)));
    if (!text_is(judged->use->name, "transaction_read_only"))
        return SETTING_PASSES;
    return policy_reads_only(judged->context->policy)
               ? reject(judged, TEXT("this policy has no write, so transactions stay READ ONLY"))
               : SETTING_PASSES;
}

static enum setting_verdict judge_show(const struct judged *judged)
{
    const struct setting_use *use = judged->use;
    if (text_is(use->name, "all"))
        return judged->context->policy->transparent
                   ? SETTING_PASSES
                   : reject(judged, TEXT("name one setting: SHOW ALL also tells paths and commands"));
    /* What the policy itself gives the session is no secret to it. */
    struct text given;
    if (builtin_setting(use->name).readable ||
        policy_setting(judged->context, use->name, &given) != NULL)
        return SETTING_PASSES;
    return need_rule(judged, arena_printf(judged->arena,
                                          "it may be read only where a rule allows set on "
                                          "setting:%.*s",
                                          TEXT_ARGS(use->name)));
}

static enum setting_verdict judge_transaction(const struct judged *judged)
{
    struct text name = judged->use->name, pinned;
    const struct setting_rule *rule = binding_setting(judged, &pinned);
    if (rule != NULL && rule->pinned)
        return judge_pinned(judged, pinned);
    if (is_read_only(name))
        return judge_read_only(judged);
    if (text_is(name, "transaction_isolation") || text_is(name, "transaction_deferrable") ||
        text_is(name, "default_transaction_isolation") ||
        text_is(name, "default_transaction_deferrable"))
        return SETTING_PASSES;
    return need_rule(judged, TEXT("only isolation, READ ONLY and DEFERRABLE may be set"));
}

enum setting_verdict setting_judge(struct arena *arena, const struct decide_context *context,
                                   const struct setting_use *use, struct text *problem)
{
    const struct judged judged = {arena, context, use, problem};
    *problem = TEXT("");
    switch (use->act) {
    case SETTING_SET:
    case SETTING_SET_LOCAL:
        return judge_set(&judged);
    case SETTING_RESET:
        return judge_reset(&judged);
    case SETTING_RESET_ALL:
        return SETTING_PASSES;
    case SETTING_SHOW:
        return judge_show(&judged);
    case SETTING_TRANSACTION:
        return judge_transaction(&judged);
    }
    return SETTING_REJECTED;
}

struct start_values {
    struct arena *arena;
    struct setting_value *values;
    size_t count, capacity;
};

static void add_value(struct start_values *start, struct text name, struct text value)
{
    for (size_t i = 0; i < start->count; i++)
        if (text_equal(start->values[i].name, name))
            return;
    struct setting_value *added = arena_push(start->arena, (void **)&start->values, &start->count,
                                             &start->capacity, sizeof *added);
    *added = (struct setting_value){arena_text(start->arena, name), arena_text(start->arena, value)};
}

/* The first value of a name stays, so what no policy may change comes first. */
const struct setting_value *settings_at_start(struct arena *arena,
                                              const struct decide_context *context, size_t *count)
{
    const struct policy *policy = context->policy;
    struct start_values start = {.arena = arena};
    add_value(&start, TEXT("standard_conforming_strings"), TEXT("on"));
    add_value(&start, TEXT("client_encoding"), TEXT("UTF8"));
    if (policy->search_path != NULL)
        add_value(&start, TEXT("search_path"),
                  setting_search_path(arena, policy->search_path, policy->search_path_count));
    if (policy_reads_only(policy))
        add_value(&start, TEXT("default_transaction_read_only"), TEXT("on"));
    for (size_t i = 0; i < policy->setting_count; i++) {
        struct text value;
        if (policy_setting(context, policy->settings[i].name, &value) != NULL)
            add_value(&start, policy->settings[i].name, value);
    }
    for (size_t i = 0; i < ARRAY_SIZE(safe_defaults) && !policy->transparent; i++)
        add_value(&start, text_from(safe_defaults[i].name), text_from(safe_defaults[i].value));
    *count = start.count;
    return start.values;
}

static bool rule_allows_set(const struct decide_context *context, struct text name)
{
    const struct action set = {.verb = VERB_SET, .object = {OBJECT_SETTING, TEXT(""), name}};
    const struct shape shape = {.kind = STATEMENT_SET, .actions = &set, .action_count = 1};
    const struct numbers numbers = {0};
    struct arena arena;
    struct decision decision;
    arena_init(&arena);
    decide(&arena, context, &shape, &numbers, &decision);
    bool allowed = decision.verdict == VERDICT_ALLOW;
    arena_release(&arena);
    return allowed;
}

bool setting_startup_passes(const struct decide_context *context, struct text name,
                            struct text value)
{
    struct arena arena;
    struct text problem;
    arena_init(&arena);
    const struct setting_use use = {SETTING_SET, setting_lower_case(&arena, name), value, false};
    enum setting_verdict verdict = setting_judge(&arena, context, &use, &problem);
    bool passes = verdict == SETTING_PASSES ||
                  (verdict == SETTING_NEEDS_RULE && rule_allows_set(context, use.name));
    arena_release(&arena);
    return passes;
}

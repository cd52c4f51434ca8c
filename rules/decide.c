/*
 * decide.c - the verdict on a statement: hidden columns first, then the rules from top to bottom for
 * each action; the strictest action decides.
 *
 * Everything starts as a rejection, and an action that no line lets pass stays one.
 */
#include "rules/decide.h"

#include "parser/builtins.h"
#include "proxy/base/invariant.h"
#include "rules/conditions.h"
#include "rules/settings.h"

_Static_assert(VERDICT_REJECT == 0 && CONDITION_NONE == 0, "zeroed memory must reject");

static const char *const condition_names[CONDITION_COUNT] = {
    [CONDITION_NONE] = "",
    [CONDITION_NO_RULE] = "",
    [CONDITION_HIDDEN] = "hidden",
    [CONDITION_REJECT_RULE] = "",
    [CONDITION_COLUMNS] = "columns",
    [CONDITION_NOT_COLUMNS] = "not_columns",
    [CONDITION_WHERE] = "where",
    [CONDITION_MAX_ROWS] = "max_rows",
    [CONDITION_MAX_EFFECT] = "max_effect",
    [CONDITION_MAX_COST] = "max_cost",
    [CONDITION_MAX_LOCK] = "max_lock",
    [CONDITION_FOREIGN_KEYS] = "max_rows",
    [CONDITION_INTROSPECTION] = "introspection",
    [CONDITION_SETTING] = "settings",
    [CONDITION_UNRESOLVED] = "",
    [CONDITION_TWO_PHASE] = "",
    [CONDITION_EXPLAIN_ANALYZE] = "",
    [CONDITION_NOT_COUNTABLE] = "max_rows",
    [CONDITION_EFFECT_UNKNOWN] = "max_effect",
    [CONDITION_UNBOUNDED_COPY] = "max_rows",
    [CONDITION_HELD_FORM] = "",
    [CONDITION_UNREHEARSABLE] = "unrehearsed",
    [CONDITION_TEMPLATE_NAME] = "",
};

const char *condition_name(enum condition condition)
{
    INVARIANT(condition < CONDITION_COUNT);
    return condition_names[condition];
}

static bool is_system_schema(const struct object *object)
{
    return object->kind == OBJECT_NAME && (text_is(object->schema, "pg_catalog") ||
                                           text_is(object->schema, "information_schema"));
}

static bool has_open_column(const struct action *action)
{
    struct text schema = action->object.schema, name = action->object.name;
    if (builtin_catalog_column_open(schema, name, TEXT("tableoid")))
        return true;
    for (size_t i = 0; action->relation != NULL && i < action->relation->column_count; i++)
        if (builtin_catalog_column_open(schema, name, action->relation->columns[i].name))
            return true;
    return false;
}

/* The first column of the action that is not open to introspection; empty if all are. */
static struct text closed_column(const struct action *action)
{
    for (size_t i = 0; i < action->column_count; i++)
        if (!builtin_catalog_column_open(action->object.schema, action->object.name,
                                         action->columns[i]))
            return action->columns[i];
    return TEXT("");
}

static bool is_open_introspection(const struct action *action)
{
    if (is_catalog_call(action))
        return true;
    if (action->verb != VERB_SELECT || !is_system_schema(&action->object) ||
        action->columns_unknown || closed_column(action).size > 0)
        return false;
    return action->column_count > 0 || has_open_column(action);
}

/* Their contents are samples of every column. */
static bool is_statistics(const struct object *object)
{
    return object->kind == OBJECT_NAME && text_is(object->schema, "pg_catalog") &&
           (text_is(object->name, "pg_statistic") ||
            text_is(object->name, "pg_statistic_ext_data") ||
            text_starts_with(object->name, "pg_stats"));
}

static bool closes_columns(const struct policy *policy)
{
    if (policy->hidden_count > 0)
        return true;
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].not_column_count > 0)
            return true;
    return false;
}

/* A view that a rule names stands for itself; what it does is then its owner's. */
static bool is_covered_by_view(const struct matching *matching)
{
    const struct shape *shape = matching->shape;
    const struct action *action = matching->action;
    for (size_t steps = 0; action->part == PART_VIEW && steps <= shape->action_count; steps++) {
        INVARIANT(action->view_action < shape->action_count);
        action = &shape->actions[action->view_action];
        if (is_system_schema(&action->object) ||
            policy_names_literally(matching->context->policy, &action->object))
            return true;
    }
    return false;
}

static void reject_action(struct action_decision *out, enum condition failed, struct text column)
{
    out->verdict = VERDICT_REJECT;
    out->failed = failed;
    out->column = column;
}

/* SET ROLE NONE would leave a role that the session was given at its start. */
static bool is_no_role(const struct action *action)
{
    return action->verb == VERB_SET && action->object.kind == OBJECT_ROLE &&
           text_is_ignoring_case(action->object.name, "none");
}

/* What no rule can open. True if it rejected. */
static bool reject_beforehand(const struct matching *matching, struct action_decision *out)
{
    const struct policy *policy = matching->context->policy;
    struct text column = TEXT("");
    if (action_touches_column(matching, matching->action, policy->hidden, policy->hidden_count,
                              &column) ||
        action_may_move_column(matching, matching->action, policy->hidden, policy->hidden_count,
                               &column))
        reject_action(out, CONDITION_HIDDEN, column);
    else if (is_statistics(&matching->action->object) && closes_columns(policy))
        reject_action(out, CONDITION_INTROSPECTION, column);
    else if (is_no_role(matching->action) && !policy->transparent)
        reject_action(out, CONDITION_SETTING, column);
    else if (matching->action->unresolved && !policy->transparent)
        reject_action(out, CONDITION_UNRESOLVED, column);
    else
        return false;
    return true;
}

static void take_rule(struct action_decision *out, const struct rule *rule,
                      const struct condition_result *result)
{
    out->verdict = rule->verdict;
    out->rule = rule;
    if (rule->verdict == VERDICT_REJECT) {
        out->nearest = rule;
        out->failed = CONDITION_REJECT_RULE;
        return;
    }
    out->nearest = NULL;
    out->failed = CONDITION_NONE;
    out->column = TEXT("");
    out->open_rows = result->open_rows;
    out->open_effect = result->open_effect;
    out->open_cost = result->open_cost;
}

/* How far a rule came before it failed. */
static int progress(enum condition failed)
{
    if (failed == CONDITION_COLUMNS || failed == CONDITION_NOT_COLUMNS)
        return 1;
    if (failed == CONDITION_WHERE)
        return 2;
    return failed == CONDITION_MAX_ROWS || failed == CONDITION_MAX_EFFECT || failed == CONDITION_MAX_COST
               ? 4
               : 3;
}

/* Of several whose limit is passed, the widest. */
static bool is_nearer(const struct action_decision *so_far, const struct rule *rule,
                      enum condition failed)
{
    if (so_far->nearest == NULL || progress(failed) != progress(so_far->failed))
        return so_far->nearest == NULL || progress(failed) > progress(so_far->failed);
    return (failed == CONDITION_MAX_ROWS && rule->max_rows > so_far->nearest->max_rows) ||
           (failed == CONDITION_MAX_EFFECT && rule->max_effect > so_far->nearest->max_effect) ||
           (failed == CONDITION_MAX_LOCK && rule->max_lock < so_far->nearest->max_lock) ||
           (failed == CONDITION_MAX_COST && rule->max_cost > so_far->nearest->max_cost);
}

static void try_rules(const struct matching *matching, struct action_decision *out)
{
    const struct policy *policy = matching->context->policy;
    reject_action(out, CONDITION_NO_RULE, TEXT(""));
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct rule *rule = &policy->rules[i];
        if (!rule_names_action(rule, matching->action))
            continue;
        struct condition_result result = rule_conditions(matching, rule);
        if (result.failed == CONDITION_NONE) {
            take_rule(out, rule, &result);
            return;
        }
        if (is_nearer(out, rule, result.failed)) {
            out->nearest = rule;
            out->failed = result.failed;
            out->column = result.column;
        }
    }
    if (out->nearest == NULL && is_system_schema(&matching->action->object) &&
        (matching->action->verb == VERB_SELECT || is_catalog_call(matching->action))) {
        out->failed = CONDITION_INTROSPECTION;
        if (policy->introspection)
            out->column = closed_column(matching->action);
    }
    if (matching->action->verb == VERB_NONE)
        out->failed = CONDITION_TWO_PHASE;
}

static const struct template *template_named(const struct policy *policy, struct text name)
{
    return template_find(policy->templates, policy->template_count, name);
}

/* The stricter of rule and template. */
static void hold_template(const struct policy *policy, struct action_decision *out)
{
    const struct template *template =
        out->action->verb == VERB_EXECUTE ? template_named(policy, out->action->object.name) : NULL;
    if (template != NULL && template->hold && out->verdict == VERDICT_ALLOW)
        out->verdict = VERDICT_HOLD;
}

static bool executes_template(const struct policy *policy, const struct shape *shape)
{
    return shape->kind == STATEMENT_EXECUTE && shape->hold == 0 &&
           template_named(policy, shape->name) != NULL;
}

static void decide_action(const struct matching *matching, struct action_decision *out)
{
    *out = (struct action_decision){
        .action = matching->action, .open_rows = LIMIT_NONE, .open_effect = LIMIT_NONE, .open_cost = -1};
    if (reject_beforehand(matching, out))
        return;
    bool is_implicit =
        is_covered_by_view(matching) ||
        (matching->action->of_execute && executes_template(matching->context->policy, matching->shape)) ||
        (matching->context->policy->introspection && is_open_introspection(matching->action));
    if (!is_implicit) {
        try_rules(matching, out);
        hold_template(matching->context->policy, out);
        return;
    }
    out->verdict = VERDICT_ALLOW;
    out->implicit = true;
}

/* --- actions that settings and kinds of statement add to those of the shape ------------------- */

struct implied {
    struct arena *arena;
    const struct decide_context *context;
    struct action *actions;
    size_t count, capacity;
    bool rejected;
    struct text setting;
};

static void imply(struct implied *implied, enum verb verb, struct object object)
{
    struct action *added = arena_push(implied->arena, (void **)&implied->actions, &implied->count,
                                      &implied->capacity, sizeof *added);
    *added = (struct action){
        .verb = verb, .object = object, .rows_max = ROWS_UNPROVEN, .location = -1};
}

static void imply_setting(struct implied *implied, const struct setting_use *use)
{
    struct text problem;
    if (text_is(use->name, "transaction_snapshot")) {
        imply(implied, VERB_NONE, (struct object){0});
        return;
    }
    switch (setting_judge(implied->arena, implied->context, use, &problem)) {
    case SETTING_PASSES:
        return;
    case SETTING_NEEDS_RULE:
        imply(implied, VERB_SET, (struct object){OBJECT_SETTING, TEXT(""), use->name});
        return;
    case SETTING_REJECTED:
        break;
    }
    implied->rejected = true;
    implied->setting = use->name;
}

/* Of these kinds every statement does something, so one without actions was not understood. COPY of a query
 * that reads nothing is SELECT 1. */
static bool says_nothing(const struct shape *shape)
{
    return shape->action_count == 0 &&
           (shape->kind == STATEMENT_UTILITY || shape->kind == STATEMENT_CODE ||
            shape->kind == STATEMENT_COPY_IN);
}

/* To the server a template's name means nothing: no statement may be prepared under it, and whatever wraps
 * an EXECUTE of it would run what is not the template. */
static bool misuses_template(const struct policy *policy, const struct shape *shape)
{
    if (shape->kind == STATEMENT_PREPARE && template_named(policy, shape->name) != NULL)
        return true;
    return shape->inner != NULL && executes_template(policy, shape->inner);
}

static struct implied implied_actions(struct arena *arena, const struct decide_context *context,
                                      const struct shape *shape)
{
    struct implied implied = {.arena = arena, .context = context};
    for (size_t i = 0; i < shape->setting_count && !implied.rejected; i++)
        imply_setting(&implied, &shape->settings[i]);
    if (shape->kind == STATEMENT_TWO_PHASE || says_nothing(shape))
        imply(&implied, VERB_NONE, (struct object){0});
    if (executes_template(context->policy, shape))
        imply(&implied, VERB_EXECUTE, (struct object){OBJECT_TEMPLATE, TEXT(""), shape->name});
    return implied;
}

/* --- from actions to the statement ------------------------------------------------------------- */

static int64_t smaller_limit(int64_t a, int64_t b)
{
    if (a == LIMIT_NONE || b == LIMIT_NONE)
        return a == LIMIT_NONE ? b : a;
    return a < b ? a : b;
}

static void add_action(struct decision *out, const struct policy *policy,
                       const struct action_decision *action)
{
    if (out->decisive == NULL || action->verdict < out->decisive->verdict)
        out->decisive = action;
    if (action->open_cost >= 0)
        out->needs_cost = true;
    if (verb_is_write(action->action->verb))
        out->write_rows_max = smaller_limit(out->write_rows_max, action->open_rows);
    else
        out->select_rows_max = smaller_limit(out->select_rows_max, action->open_rows);
    out->effect_max = smaller_limit(out->effect_max, action->open_effect);
    if (action->verdict == VERDICT_HOLD) {
        int64_t quorum = action->rule->quorum > 0 ? action->rule->quorum : policy->hold_quorum;
        out->quorum = quorum > out->quorum ? quorum : out->quorum;
    }
}

static void close_limits(struct decision *out)
{
    out->needs_cost = false;
    out->select_rows_max = LIMIT_NONE;
    out->write_rows_max = LIMIT_NONE;
    out->effect_max = LIMIT_NONE;
    out->counted = (struct counted_tables){0};
}

static void reject_statement(struct decision *out, enum condition failed, struct text subject)
{
    out->verdict = VERDICT_REJECT;
    out->failed = failed;
    out->subject = subject;
    out->quorum = 0;
    close_limits(out);
}

bool decision_lists_cascade(const struct decision *out)
{
    for (size_t i = 0; i < out->action_count; i++)
        if (out->actions[i].listed)
            return true;
    return false;
}

static bool every_hold_is_vouched_for(const struct decision *out)
{
    for (size_t i = 0; i < out->action_count; i++)
        if (out->actions[i].verdict == VERDICT_HOLD && !out->actions[i].rule->unrehearsed_hold &&
            !out->actions[i].rule->rehearse)
            return false;
    return true;
}

static bool is_rehearsable(const struct decide_context *context, const struct shape *shape,
                           const struct decision *out)
{
    bool only_the_shapes = out->action_count == shape->action_count;
    return only_the_shapes && statement_is_rehearsable(context, shape);
}

static bool is_wrapper(enum statement_kind kind)
{
    return kind == STATEMENT_PREPARE || kind == STATEMENT_DECLARE || kind == STATEMENT_EXPLAIN ||
           kind == STATEMENT_COPY_OUT;
}

/* Forms in which a statement can be neither held nor limited. */
static void check_form(const struct decide_context *context, const struct shape *shape,
                       struct decision *out)
{
    bool is_held = out->verdict == VERDICT_HOLD;
    bool is_limited = out->needs_cost || out->select_rows_max != LIMIT_NONE ||
                      out->write_rows_max != LIMIT_NONE || out->effect_max != LIMIT_NONE;
    bool runs_prepared = shape->inner != NULL && shape->inner->kind == STATEMENT_EXECUTE;
    if (shape->explain_analyze &&
        (is_held || is_limited || (runs_prepared && !context->policy->transparent)))
        reject_statement(out, CONDITION_EXPLAIN_ANALYZE, TEXT(""));
    else if (is_held && is_wrapper(shape->kind))
        reject_statement(out, CONDITION_HELD_FORM, TEXT(""));
    else if (is_held && !executes_template(context->policy, shape) &&
             !is_rehearsable(context, shape, out) &&
             (decision_lists_cascade(out) || !every_hold_is_vouched_for(out)))
        reject_statement(out, CONDITION_UNREHEARSABLE, TEXT(""));
    else if (shape->kind == STATEMENT_EXPLAIN)
        close_limits(out);
}

/* What CASCADE drops is `drop` on `*`, or held with the statement if a rehearsal lists it (spec 3.1). */
static void hold_cascades(struct action_decision *decisions, size_t count)
{
    const struct action_decision *held = NULL;
    for (size_t i = 0; i < count && held == NULL; i++)
        if (decisions[i].verdict == VERDICT_HOLD && !decisions[i].action->cascade)
            held = &decisions[i];
    for (size_t i = 0; i < count && held != NULL; i++) {
        struct action_decision *decision = &decisions[i];
        if (!decision->action->cascade || decision->failed != CONDITION_NO_RULE)
            continue;
        decision->verdict = VERDICT_HOLD;
        decision->rule = held->rule;
        decision->failed = CONDITION_NONE;
        decision->listed = true;
    }
}

static const struct action_decision *decide_actions(struct matching matching,
                                                    const struct implied *implied)
{
    const struct shape *shape = matching.shape;
    struct action_decision *decisions =
        arena_array(matching.arena, shape->action_count + implied->count, sizeof *decisions);
    for (size_t i = 0; i < shape->action_count + implied->count; i++) {
        matching.index = i;
        matching.action = i < shape->action_count ? &shape->actions[i]
                                                  : &implied->actions[i - shape->action_count];
        decide_action(&matching, &decisions[i]);
    }
    hold_cascades(decisions, shape->action_count + implied->count);
    return decisions;
}

static struct matching matching_of(struct arena *arena, const struct decide_context *context,
                                   const struct shape *shape, const struct numbers *numbers)
{
    return (struct matching){
        .arena = arena,
        .context = context,
        .shape = shape,
        .numbers = numbers,
        .counting = statement_counting(arena, context, shape),
        .only_planned = shape->kind == STATEMENT_EXPLAIN,
    };
}

void decide(struct arena *arena, const struct decide_context *context, const struct shape *shape,
            const struct numbers *numbers, struct decision *out)
{
    *out = (struct decision){
        .select_rows_max = LIMIT_NONE, .write_rows_max = LIMIT_NONE, .effect_max = LIMIT_NONE};
    if (shape->kind == STATEMENT_UNKNOWN) {
        out->failed = CONDITION_NO_RULE;
        return;
    }
    struct implied implied = implied_actions(arena, context, shape);
    struct matching matching = matching_of(arena, context, shape, numbers);
    out->actions = decide_actions(matching, &implied);
    out->action_count = shape->action_count + implied.count;
    for (size_t i = 0; i < out->action_count; i++)
        add_action(out, context->policy, &out->actions[i]);
    out->verdict = out->decisive != NULL ? out->decisive->verdict : VERDICT_ALLOW;
    if (out->verdict == VERDICT_ALLOW && out->write_rows_max != LIMIT_NONE)
        out->counted = matching.counting.tables;
    if (misuses_template(context->policy, shape))
        reject_statement(out, CONDITION_TEMPLATE_NAME,
                         shape->kind == STATEMENT_PREPARE ? shape->name : shape->inner->name);
    else if (implied.rejected)
        reject_statement(out, CONDITION_SETTING, implied.setting);
    else if (out->verdict == VERDICT_REJECT)
        reject_statement(out, out->decisive->failed,
                         out->decisive->failed == CONDITION_SETTING ? TEXT("role") : TEXT(""));
    else
        check_form(context, shape, out);
}

const struct rule_outcome *decide_outcomes(struct arena *arena,
                                           const struct decide_context *context,
                                           const struct shape *shape,
                                           const struct numbers *numbers,
                                           const struct action *action)
{
    const struct policy *policy = context->policy;
    struct rule_outcome *outcomes = arena_array(arena, policy->rule_count, sizeof *outcomes);
    struct matching matching = matching_of(arena, context, shape, numbers);
    matching.action = action;
    matching.index = shape->action_count;
    for (size_t i = 0; i < shape->action_count; i++)
        if (action == &shape->actions[i])
            matching.index = i;
    for (size_t i = 0; i < policy->rule_count; i++) {
        outcomes[i].rule = &policy->rules[i];
        outcomes[i].names_action = rule_names_action(&policy->rules[i], action);
        if (outcomes[i].names_action) {
            struct condition_result result = rule_conditions(&matching, &policy->rules[i]);
            outcomes[i].failed = result.failed;
            outcomes[i].column = result.column;
        } else {
            outcomes[i].failed = CONDITION_NO_RULE;
        }
    }
    return outcomes;
}

/*
 * judge.c - see judge.h. Nothing runs of a message in which anything is rejected, so the first
 * rejection is the message's answer.
 */
#include "proxy/session/judge.h"

#include "proxy/session/template_call.h"
#include "rules/path.h"
#include "rules/settings.h"

#include <string.h>

static const struct numbers no_numbers;

struct decide_context judge_decide_context(const struct judge_context *context)
{
    return (struct decide_context){context->policy, context->catalog, context->setting_values,
                                   context->keys_in_doubt};
}

static void take_parser_error(struct judgement *out)
{
    const struct analysis *analysis = &out->analysis;
    memcpy(out->error.sqlstate, analysis->sqlstate, sizeof out->error.sqlstate);
    out->error.message = analysis->message;
    out->error.detail = analysis->detail;
    out->error.hint = analysis->hint;
}

static void take_strictest(struct judgement *out)
{
    out->verdict = VERDICT_ALLOW;
    for (size_t i = 0; i < out->analysis.statement_count; i++)
        if (out->decisions[i].verdict < out->verdict) {
            out->verdict = out->decisions[i].verdict;
            out->decisive = i;
        }
}

static void reject_for_company(struct judgement *out, size_t index, const char *message,
                               const char *hint)
{
    out->verdict = VERDICT_REJECT;
    out->decisive = index;
    out->alone = true;
    memcpy(out->error.sqlstate, "42501", sizeof out->error.sqlstate);
    out->error.message = text_from(message);
    out->error.detail = TEXT("");
    out->error.hint = text_from(hint);
}

static bool is_limited_write(const struct statement *statement, const struct decision *decision)
{
    enum statement_kind kind = statement->shape.kind;
    bool writes = kind == STATEMENT_WRITE || kind == STATEMENT_COPY_IN;
    return decision->write_rows_max != LIMIT_NONE || decision->effect_max != LIMIT_NONE || (writes && decision->needs_cost);
}

static bool is_transaction_control(enum statement_kind kind)
{
    return kind == STATEMENT_EMPTY || kind == STATEMENT_BEGIN || kind == STATEMENT_COMMIT ||
           kind == STATEMENT_ROLLBACK || kind == STATEMENT_SAVEPOINT || kind == STATEMENT_RELEASE ||
           kind == STATEMENT_ROLLBACK_TO;
}

bool decision_limits_rows(const struct decision *decision, const struct shape *shape)
{
    return decision->select_rows_max != LIMIT_NONE && shape->kind != STATEMENT_DECLARE &&
           shape->kind != STATEMENT_PREPARE;
}

static bool only_within_transaction(const struct shape *shape)
{
    for (size_t i = 0; i < shape->setting_count; i++)
        if (shape->settings[i].act != SETTING_SET_LOCAL && shape->settings[i].act != SETTING_TRANSACTION)
            return false;
    return shape->setting_count > 0;
}

/* Of it nothing is left that an error in its message would have undone. */
static bool leaves_nothing(const struct shape *shape)
{
    switch (shape->kind) {
    case STATEMENT_SELECT:
    case STATEMENT_COPY_OUT:
        return shape->changes == 0;
    case STATEMENT_SET:
        return only_within_transaction(shape);
    case STATEMENT_EXPLAIN:
        return !shape->explain_analyze;
    case STATEMENT_SHOW:
    case STATEMENT_FETCH:
        return true;
    default:
        return is_transaction_control(shape->kind);
    }
}

bool judge_may_be_limited(const struct analysis *analysis, bool in_transaction, struct error_text *error)
{
    bool may = true;
    for (size_t i = 0; i < analysis->statement_count && analysis->statement_count > 1; i++) {
        const struct shape *shape = &analysis->statements[i].shape;
        may = may && leaves_nothing(shape) && !(in_transaction && shape->kind == STATEMENT_COMMIT);
    }
    if (!may)
        *error = (struct error_text){
            .sqlstate = "42501",
            .message = TEXT("pgwicket: a SELECT with a limit on its rows may share a message only with what "
                            "changes nothing; nothing was run"),
            .hint = TEXT("Send each statement as a message of its own.")};
    return may;
}

static bool asks_for_cost(const struct statement *statement, const struct decision *decision)
{
    return decision->needs_cost && statement->shape.kind != STATEMENT_EXPLAIN;
}

static void check_company(struct judgement *out)
{
    const struct analysis *analysis = &out->analysis;
    struct error_text error;
    for (size_t i = 0; i < analysis->statement_count; i++)
        if (out->decisions[i].verdict == VERDICT_HOLD) {
            reject_for_company(out, i,
                               "pgwicket: a statement that needs a person's approval must be sent by "
                               "itself; nothing was run",
                               "Send each statement as a message of its own.");
            return;
        } else if (is_limited_write(&analysis->statements[i], &out->decisions[i])) {
            reject_for_company(out, i,
                               "pgwicket: a write with a limit on its rows must be sent by itself; "
                               "nothing was run",
                               "Send each statement as a message of its own; BEGIN and COMMIT are "
                               "messages of their own, too.");
            return;
        } else if (asks_for_cost(&analysis->statements[i], &out->decisions[i])) {
            reject_for_company(out, i,
                               "pgwicket: a statement with a limit on its cost must be sent by itself; "
                               "nothing was run",
                               "Send each statement as a message of its own; BEGIN and COMMIT are "
                               "messages of their own, too.");
            return;
        } else if (decision_limits_rows(&out->decisions[i], &analysis->statements[i].shape) &&
                   !judge_may_be_limited(analysis, false, &error)) {
            reject_for_company(out, i, error.message.bytes, error.hint.bytes);
            return;
        }
}

static bool passes_without_rule(struct arena *arena, const struct decide_context *context,
                                const struct setting_use *use)
{
    struct text problem;
    return setting_judge(arena, context, use, &problem) == SETTING_PASSES;
}

/* A pinned path cannot move; one that is not pinned moves by SET and by RESET. */
static bool moves_judging(struct arena *arena, const struct decide_context *context,
                          const struct setting_use *use)
{
    if (use->act == SETTING_SHOW)
        return false;
    if (use->act == SETTING_RESET_ALL || text_is(use->name, "search_path"))
        return !context->policy->search_path_pinned;
    return !passes_without_rule(arena, context, use);
}

/* It undoes what came before, which is nothing where the policy lets nothing be made. */
static bool goes_back(enum statement_kind kind)
{
    return kind == STATEMENT_ROLLBACK || kind == STATEMENT_ROLLBACK_TO || kind == STATEMENT_DISCARD;
}

/* What the statement changes of all that the verdict on a later one depends on: CHANGES_* bits. */
static unsigned changes_of(struct arena *arena, const struct decide_context *context,
                           const struct shape *shape)
{
    unsigned changes = shape->changes & (CHANGES_ROLE | CHANGES_OBJECTS | CHANGES_BY_CODE);
    if (goes_back(shape->kind) && !policy_may_make_objects(context->policy, true, context->catalog))
        changes = 0;
    if (!policy_may_change_role(context->policy)) /* so that RESET ROLE goes back to what it is */
        changes &= ~(unsigned)CHANGES_ROLE;
    for (size_t i = 0; i < shape->setting_count; i++)
        if (moves_judging(arena, context, &shape->settings[i]))
            changes |= CHANGES_SETTINGS;
    return changes;
}

static bool only_passing_settings(struct arena *arena, const struct decide_context *context,
                                  const struct shape *shape)
{
    for (size_t i = 0; i < shape->setting_count; i++)
        if (!passes_without_rule(arena, context, &shape->settings[i]))
            return false;
    return shape->setting_count > 0 && shape->action_count == 0;
}

/* CLOSE, UNLISTEN, DISCARD, DEALLOCATE: no name in them is looked for in a schema. */
static bool only_ends_something(const struct shape *shape)
{
    return (shape->kind == STATEMENT_CLOSE || shape->kind == STATEMENT_LISTEN ||
            shape->kind == STATEMENT_DISCARD || shape->kind == STATEMENT_DEALLOCATE) &&
           shape->action_count == 0;
}

static bool is_independent(struct arena *arena, const struct decide_context *context,
                           const struct shape *shape, unsigned changes)
{
    if (is_transaction_control(shape->kind) || only_ends_something(shape) ||
        only_passing_settings(arena, context, shape))
        return true;
    return changes == CHANGES_OBJECTS && shape->kind == STATEMENT_SELECT &&
           shape->action_count == 0 && shape->function_count == 0;
}

/* It runs in a message of its own: its values are bound, which a text of several statements cannot have. */
static bool reject_template_in_company(const struct policy *policy, struct judgement *out)
{
    const struct analysis *analysis = &out->analysis;
    for (size_t i = 0; i < analysis->statement_count && analysis->statement_count > 1; i++)
        if (template_executed(policy, &analysis->statements[i].shape) != NULL) {
            reject_for_company(out, i,
                               "pgwicket: EXECUTE of a template must be sent by itself; nothing was run",
                               "Send each statement as a message of its own; BEGIN and COMMIT are "
                               "messages of their own, too.");
            return true;
        }
    return false;
}

static const char order_message[] =
    "pgwicket: what a statement means may depend on those before it in one message; nothing was run";
static const char order_hint[] =
    "Send statements that change objects, settings or roles, or run code, as messages of their own.";

/* The first whose meaning depends on those before it; their count: none. Under a transparent policy no verdict
 * depends on anything. */
static size_t first_dependent(struct arena *arena, const struct decide_context *context,
                              const struct analysis *analysis, const bool *runs_code)
{
    unsigned changes = 0;
    for (size_t i = 0; i < analysis->statement_count && !context->policy->transparent; i++) {
        const struct shape *shape = &analysis->statements[i].shape;
        if (changes != 0 && !is_independent(arena, context, shape, changes))
            return i;
        changes |= changes_of(arena, context, shape);
        if (runs_code != NULL && runs_code[i])
            changes |= CHANGES_BY_CODE;
    }
    return analysis->statement_count;
}

bool judge_may_follow(struct arena *arena, const struct decide_context *context, const struct analysis *analysis,
                      const bool *runs_code, struct error_text *error)
{
    if (first_dependent(arena, context, analysis, runs_code) == analysis->statement_count)
        return true;
    *error = (struct error_text){
        .sqlstate = "42501", .message = text_from(order_message), .hint = text_from(order_hint)};
    return false;
}

static void check_order(struct arena *arena, const struct decide_context *context,
                        struct judgement *out)
{
    size_t at = first_dependent(arena, context, &out->analysis, NULL);
    if (at < out->analysis.statement_count)
        reject_for_company(out, at, order_message, order_hint);
}

static void decide_statements(struct arena *arena, const struct decide_context *context,
                              struct judgement *out)
{
    size_t count = out->analysis.statement_count;
    out->decisions = arena_array(arena, count, sizeof *out->decisions);
    for (size_t i = 0; i < count; i++)
        decide(arena, context, &out->analysis.statements[i].shape, &no_numbers, &out->decisions[i]);
    take_strictest(out);
    if (reject_template_in_company(context->policy, out))
        return;
    if (out->verdict == VERDICT_REJECT) {
        const struct shape *shape = &out->analysis.statements[out->decisive].shape;
        out->error = message_rejected(arena, context, shape, &out->decisions[out->decisive],
                                      &no_numbers);
        return;
    }
    if (count > 1)
        check_company(out);
    if (count > 1 && out->verdict != VERDICT_REJECT)
        check_order(arena, context, out);
}

void judge_text(struct arena *arena, const struct judge_context *context, struct text sql,
                const uint32_t *types, size_t type_count, struct judgement *out)
{
    const struct policy *policy = context->policy;
    const struct decide_context decide_context = judge_decide_context(context);
    const struct used_path path = path_in_use(arena, &decide_context);
    struct analyse_context analyse_context = {
        .catalog = context->catalog,
        .search_path = path.schemas,
        .search_path_count = path.count,
        .every_candidate = (policy_may_make_objects(policy, context->holds_made, context->catalog) ||
                            context->temporary_count > 0 || path.open) &&
                           !policy->transparent,
        .path_open = !policy->search_path_pinned || path.open,
        .temporary = context->temporary,
        .temporary_count = context->temporary_count,
        .custom_pinned = policy_pins_custom(policy),
        .anything_goes = policy->transparent,
        .resolve_names = policy_holds(policy),
        .parameter_types = types,
        .parameter_count = type_count,
    };
    *out = (struct judgement){.verdict = VERDICT_REJECT};
    if (analyse_context.every_candidate)
        analyse_context.makeable = policy_makeable(arena, policy, context->holds_made,
                                                   &analyse_context.makeable_count);
    analyse(arena, &analyse_context, sql, &out->analysis);
    if (out->analysis.result == ANALYSE_OK)
        decide_statements(arena, &decide_context, out);
    else
        take_parser_error(out);
    if (out->analysis.result == ANALYSE_OK && out->analysis.statement_count == 1)
        template_call_judge(arena, context, types, type_count, out);
}

int64_t decision_counted_max(const struct decision *decision, const struct shape *shape)
{
    int64_t most = decision->write_rows_max;
    bool takes_rows = shape->kind == STATEMENT_WRITE || shape->kind == STATEMENT_UTILITY;
    if (takes_rows && decision->select_rows_max != LIMIT_NONE &&
        (most == LIMIT_NONE || decision->select_rows_max < most))
        most = decision->select_rows_max;
    return most;
}

bool decision_is_counted(const struct decision *decision, const struct shape *shape)
{
    return decision->effect_max != LIMIT_NONE || decision_counted_max(decision, shape) != LIMIT_NONE;
}

bool decision_is_gated(const struct decision *decision, const struct shape *shape)
{
    return decision->verdict == VERDICT_HOLD ||
           (decision->verdict == VERDICT_ALLOW &&
            (decision->needs_cost || decision_is_counted(decision, shape)));
}

/* SELECT, INSERT, UPDATE, DELETE, MERGE, prepared by PREPARE or by Parse, alone in its text. */
static bool is_one_query(const struct judgement *prepared)
{
    if (prepared->analysis.result != ANALYSE_OK || prepared->analysis.statement_count != 1)
        return false;
    const struct shape *shape = &prepared->analysis.statements[0].shape;
    if (shape->kind == STATEMENT_PREPARE && shape->inner != NULL)
        shape = shape->inner;
    return shape->kind == STATEMENT_SELECT || shape->kind == STATEMENT_WRITE;
}

struct error_text judge_unknown_name(struct arena *arena, bool is_cursor, struct text name)
{
    struct error_text error = {
        .message = arena_printf(arena, "pgwicket: %s \"%.*s\" does not exist in this session; nothing was run",
                                is_cursor ? "cursor" : "prepared statement", TEXT_ARGS(name)),
        .hint = is_cursor ? TEXT("Send DECLARE as a message of its own, before FETCH.")
                          : TEXT("Send PREPARE as a message of its own, before EXECUTE."),
    };
    memcpy(error.sqlstate, is_cursor ? "34000" : "26000", sizeof error.sqlstate);
    return error;
}

bool judge_may_execute(const struct judgement *prepared, bool is_gated, struct error_text *error)
{
    if (prepared->verdict == VERDICT_REJECT) {
        *error = prepared->error;
        return false;
    }
    if (!is_gated && is_one_query(prepared))
        return true;
    if (prepared->analysis.statement_count > 1) {
        *error = (struct error_text){
            .sqlstate = "42501",
            .message = TEXT("pgwicket: EXECUTE of what was prepared in one message with other statements is not "
                            "allowed; nothing was run"),
            .hint = TEXT("Send PREPARE as a message of its own, before EXECUTE.")};
        return false;
    }
    *error = (struct error_text){
        .sqlstate = "42501",
        .message = TEXT("pgwicket: EXECUTE of a limited or held statement, or of one that is no query, "
                        "is not allowed; nothing was run"),
        .hint = TEXT("Send the statement itself, not PREPARE and EXECUTE.")};
    return false;
}

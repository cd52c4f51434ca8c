/*
 * judge_case.c - see judge_case.h. A line that asks for something malformed is answered with a
 * rejection that says so.
 */
#include "proxy/commands/judge_case.h"

#include "proxy/commands/judge_question.h"

#include <math.h>

static void write_columns(struct json_out *json, const struct action *action)
{
    if (action->column_count == 0 && !action->columns_unknown)
        return;
    json_key(json, "columns");
    json_open(json, '[');
    for (size_t i = 0; i < action->column_count; i++)
        json_text(json, action->columns[i]);
    if (action->columns_unknown)
        json_string(json, "*");
    json_close(json, ']');
}

static const char *outcome_name(const struct rule_outcome *outcome)
{
    if (outcome->failed == CONDITION_NONE)
        return "holds";
    return condition_name(outcome->failed);
}

static void write_outcomes(struct arena *arena, struct json_out *json,
                           const struct judge_context *context, const struct shape *shape,
                           const struct action *action)
{
    const struct decide_context decide_context = judge_decide_context(context);
    const struct numbers numbers = {0};
    const struct rule_outcome *outcomes =
        decide_outcomes(arena, &decide_context, shape, &numbers, action);
    json_key(json, "rules");
    json_open(json, '[');
    for (size_t i = 0; i < context->policy->rule_count; i++) {
        json_open(json, '{');
        json_key_text(json, "rule", outcomes[i].rule->name);
        json_key_string(json, "outcome",
                        outcomes[i].names_action ? outcome_name(&outcomes[i]) : "verb or object");
        if (outcomes[i].column.size > 0)
            json_key_text(json, "column", outcomes[i].column);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_action(struct arena *arena, struct json_out *json,
                         const struct judge_context *context, const struct shape *shape,
                         const struct action_decision *decision, bool explain)
{
    json_open(json, '{');
    json_key_string(json, "verb", verb_name(decision->action->verb));
    json_key_text(json, "object", object_text(arena, &decision->action->object));
    write_columns(json, decision->action);
    if (explain) {
        json_key_string(json, "verdict", verdict_name(decision->verdict));
        json_key_bool(json, "needs_rule", !decision->implicit);
        if (verb_has_lock(decision->action->verb))
            json_key_string(json, "lock", table_lock_name(decision->action->lock));
        if (decision->failed != CONDITION_NONE)
            json_key_string(json, "failed", condition_name(decision->failed));
        write_outcomes(arena, json, context, shape, decision->action);
    }
    json_close(json, '}');
}

static void write_actions(struct arena *arena, struct json_out *json,
                          const struct judge_context *context, const struct judgement *judgement,
                          bool explain)
{
    json_key(json, "actions");
    json_open(json, '[');
    for (size_t i = 0; judgement->decisions != NULL && i < judgement->analysis.statement_count; i++)
        for (size_t j = 0; j < judgement->decisions[i].action_count; j++)
            write_action(arena, json, context, &judgement->analysis.statements[i].shape,
                         &judgement->decisions[i].actions[j], explain);
    json_close(json, ']');
}

static void write_if_any(struct json_out *json, const char *key, struct text value)
{
    if (value.size > 0)
        json_key_text(json, key, value);
}

/* Over several statements the tightest. */
static void write_conditions(struct json_out *json, const struct answer *answer)
{
    const struct judgement *judgement = &answer->judgement;
    int64_t rows = LIMIT_NONE, effect = LIMIT_NONE;
    double cost = INFINITY;
    for (size_t i = 0; judgement->decisions != NULL && i < judgement->analysis.statement_count; i++)
        for (size_t j = 0; j < judgement->decisions[i].action_count; j++) {
            const struct action_decision *action = &judgement->decisions[i].actions[j];
            if (action->open_rows != LIMIT_NONE && (rows == LIMIT_NONE || action->open_rows < rows))
                rows = action->open_rows;
            if (action->open_effect != LIMIT_NONE && (effect == LIMIT_NONE || action->open_effect < effect))
                effect = action->open_effect;
            if (action->open_cost >= 0 && action->open_cost < cost)
                cost = action->open_cost;
        }
    json_key(json, "conditions");
    json_open(json, '{');
    if (rows != LIMIT_NONE && answer->verdict != VERDICT_REJECT)
        json_key_int(json, "max_rows", rows);
    if (effect != LIMIT_NONE && answer->verdict != VERDICT_REJECT)
        json_key_int(json, "max_effect", effect);
    if (isfinite(cost) && answer->verdict != VERDICT_REJECT)
        json_key_number(json, "max_cost", cost);
    json_close(json, '}');
}

void judge_write_answer(struct arena *arena, const struct judge_context *context,
                        const struct answer *answer, bool explain, struct json_out *json)
{
    json_key_string(json, "verdict", verdict_name(answer->verdict));
    json_key(json, "rule");
    if (answer->rule.size > 0)
        json_text(json, answer->rule);
    else
        json_null(json);
    json_key_string(json, "code", answer_code(answer));
    json_key_text(json, "reason", answer->reason);
    if (answer->verdict == VERDICT_REJECT) {
        json_key_text(json, "message", answer->error.message);
        write_if_any(json, "detail", answer->error.detail);
        write_if_any(json, "hint", answer->error.hint);
    }
    write_actions(arena, json, context, &answer->judgement, explain);
    write_conditions(json, answer);
}

void judge_case(struct arena *arena, const struct judge_context *context, struct text line,
                bool explain, struct buffer *out)
{
    struct asked asked = judge_question(arena, context->catalog, line);
    struct json_out json = json_out_to(out);
    struct answer answer;
    if (asked.problem != NULL)
        answer_refusal("22023", asked.problem, &answer);
    else
        answer_question(arena, context, &asked.question, &answer);
    json_open(&json, '{');
    if (asked.id.size > 0) {
        json_key(&json, "id");
        buffer_append_text(out, asked.id);
        json.need_comma = true;
    }
    judge_write_answer(arena, context, &answer, explain, &json);
    json_close(&json, '}');
    buffer_append_byte(out, '\n');
}

/*
 * judge_case.c - see judge_case.h. A line that asks for something malformed is answered with a
 * rejection that says so.
 */
#include "proxy/commands/judge_case.h"

#include "proxy/base/json_out.h"
#include "proxy/commands/judge_question.h"

#include <math.h>
#include <string.h>

/* --- judging ------------------------------------------------------------------------------------ */

static void refuse(struct judgement *judgement, const char *sqlstate, const char *why)
{
    judgement->verdict = VERDICT_REJECT;
    memcpy(judgement->error.sqlstate, sqlstate, sizeof judgement->error.sqlstate);
    judgement->error.message = text_from(why);
}

static const struct known_name *find_name(const struct question *question, bool is_cursor,
                                          struct text name)
{
    for (size_t i = question->name_count; i > 0; i--)
        if (question->names[i - 1].is_cursor == is_cursor &&
            text_equal(question->names[i - 1].name, name))
            return &question->names[i - 1];
    return NULL;
}

static void follow_name(const struct question *question, const struct shape *shape, size_t index,
                        struct judgement *judgement)
{
    const struct shape *named =
        shape->kind == STATEMENT_EXPLAIN && shape->inner != NULL ? shape->inner : shape;
    bool is_cursor = named->kind == STATEMENT_FETCH;
    if ((!is_cursor && named->kind != STATEMENT_EXECUTE) || named->hold != 0)
        return;
    const struct known_name *known = find_name(question, is_cursor, named->name);
    if (known == NULL) {
        refuse(judgement, is_cursor ? "34000" : "26000", "there is nothing of this name in setup");
        judgement->decisive = index;
    } else if (known->judgement.verdict < judgement->verdict) {
        judgement->verdict = known->judgement.verdict;
        judgement->error = known->judgement.error;
        judgement->decisive = index;
    }
}

static void follow_names(const struct question *question, struct judgement *judgement)
{
    for (size_t i = 0; i < judgement->analysis.statement_count; i++)
        follow_name(question, &judgement->analysis.statements[i].shape, i, judgement);
}

/* --- answering ------------------------------------------------------------------------------------ */

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

/* Over several statements the tightest. */
static void write_conditions(struct json_out *json, const struct judgement *judgement)
{
    int64_t rows = LIMIT_NONE;
    double cost = INFINITY;
    for (size_t i = 0; judgement->decisions != NULL && i < judgement->analysis.statement_count; i++)
        for (size_t j = 0; j < judgement->decisions[i].action_count; j++) {
            const struct action_decision *action = &judgement->decisions[i].actions[j];
            if (action->open_rows != LIMIT_NONE && (rows == LIMIT_NONE || action->open_rows < rows))
                rows = action->open_rows;
            if (action->open_cost >= 0 && action->open_cost < cost)
                cost = action->open_cost;
        }
    json_key(json, "conditions");
    json_open(json, '{');
    if (rows != LIMIT_NONE && judgement->verdict != VERDICT_REJECT)
        json_key_int(json, "max_rows", rows);
    if (isfinite(cost) && judgement->verdict != VERDICT_REJECT)
        json_key_number(json, "max_cost", cost);
    json_close(json, '}');
}

static struct text rule_of(const struct judgement *judgement)
{
    const struct action_decision *decisive =
        judgement->decisions != NULL && judgement->analysis.statement_count > 0
            ? judgement->decisions[judgement->decisive].decisive
            : NULL;
    if (decisive == NULL)
        return TEXT("");
    const struct rule *rule = decisive->rule != NULL ? decisive->rule : decisive->nearest;
    return rule != NULL ? rule->name : TEXT("");
}

static struct text reason_of(struct arena *arena, const struct judgement *judgement)
{
    bool has_decision = judgement->decisions != NULL && judgement->analysis.statement_count > 0;
    if (judgement->verdict == VERDICT_REJECT &&
        (!has_decision || judgement->decisions[judgement->decisive].verdict != VERDICT_REJECT))
        return judgement->error.message;
    return has_decision ? message_reason(arena, &judgement->decisions[judgement->decisive])
                        : TEXT("nothing to run");
}

static void write_answer(struct arena *arena, const struct judge_context *context,
                         const struct question *question, const struct judgement *judgement,
                         bool explain, struct buffer *out)
{
    struct json_out json = json_out_to(out);
    struct text rule = rule_of(judgement);
    bool is_rejected = judgement->verdict == VERDICT_REJECT;
    json_open(&json, '{');
    if (question->id.size > 0) {
        json_key(&json, "id");
        buffer_append_text(out, question->id);
        json.need_comma = true;
    }
    json_key_string(&json, "verdict", verdict_name(judgement->verdict));
    json_key(&json, "rule");
    if (rule.size > 0)
        json_text(&json, rule);
    else
        json_null(&json);
    json_key_string(&json, "code",
                    is_rejected ? judgement->error.sqlstate
                                : (judgement->verdict == VERDICT_HOLD ? "55PW1" : NULL));
    json_key_text(&json, "reason", reason_of(arena, judgement));
    if (is_rejected)
        json_key_text(&json, "message", judgement->error.message);
    write_actions(arena, &json, context, judgement, explain);
    write_conditions(&json, judgement);
    json_close(&json, '}');
    buffer_append_byte(out, '\n');
}

void judge_case(struct arena *arena, const struct judge_context *context, struct text line,
                bool explain, struct buffer *out)
{
    struct question question = judge_question(arena, context, line);
    struct judgement judgement = {.verdict = VERDICT_REJECT};
    if (question.problem != NULL) {
        refuse(&judgement, "22023", question.problem);
    } else {
        judge_text(arena, context, question.sql, question.types, question.type_count, &judgement);
        follow_names(&question, &judgement);
    }
    write_answer(arena, context, &question, &judgement, explain, out);
}

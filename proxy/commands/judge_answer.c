/*
 * judge_answer.c - see judge_answer.h. What EXECUTE and FETCH run was judged when its name was
 * given; a name that nothing gave is rejected, as in a session.
 */
#include "proxy/commands/judge_answer.h"

#include <string.h>

/* --- names of prepared statements and cursors
 * ----------------------------------------------------- */

struct known_name {
    bool is_cursor;
    bool is_gone; /* deallocated or closed */
    struct text name;
    struct judgement judgement;
    size_t at; /* which of its statements made the name */
};

struct known_names {
    struct arena *arena;
    struct known_name *items;
    size_t count, capacity;
    bool in_transaction;
};

static void forget(struct known_names *names, bool is_cursor, struct text name)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].is_cursor == is_cursor &&
            (name.size == 0 || text_equal(names->items[i].name, name)))
            names->items[i].is_gone = true;
}

static void follow_shape(struct known_names *names, const struct judgement *judgement, size_t at)
{
    const struct shape *shape = &judgement->analysis.statements[at].shape;
    if (shape->kind == STATEMENT_BEGIN)
        names->in_transaction = true;
    else if (shape->kind == STATEMENT_COMMIT || shape->kind == STATEMENT_ROLLBACK)
        names->in_transaction = shape->and_chain;
    bool is_cursor = shape->kind == STATEMENT_DECLARE || shape->kind == STATEMENT_CLOSE;
    if (shape->kind == STATEMENT_DISCARD) {
        forget(names, true, TEXT(""));
        forget(names, false, TEXT(""));
    } else if (shape->kind == STATEMENT_CLOSE || shape->kind == STATEMENT_DEALLOCATE) {
        forget(names, is_cursor, shape->name);
    } else if (shape->kind == STATEMENT_PREPARE || shape->kind == STATEMENT_DECLARE) {
        struct known_name *known = arena_push(names->arena, (void **)&names->items, &names->count,
                                              &names->capacity, sizeof *known);
        *known = (struct known_name){is_cursor, false, shape->name, *judgement, at};
    }
}

static void follow_message(struct known_names *names, const struct judge_context *context,
                           struct text message)
{
    struct judgement judgement;
    judge_text(names->arena, context, message, NULL, 0, &judgement);
    for (size_t i = 0; i < judgement.analysis.statement_count; i++)
        follow_shape(names, &judgement, i);
}

static const struct known_name *find_name(const struct known_names *names, bool is_cursor,
                                          struct text name)
{
    for (size_t i = names->count; i > 0; i--)
        if (names->items[i - 1].is_cursor == is_cursor && !names->items[i - 1].is_gone &&
            text_equal(names->items[i - 1].name, name))
            return &names->items[i - 1];
    return NULL;
}

/* --- what a name stands for
 * ----------------------------------------------------------------------- */

void answer_reject(struct answer *answer, const struct error_text *error)
{
    answer->verdict = VERDICT_REJECT;
    answer->error = *error;
    answer->rule = TEXT("");
    answer->reason = error->message;
}

static bool is_gated(const struct judgement *prepared)
{
    for (size_t i = 0; prepared->decisions != NULL && i < prepared->analysis.statement_count; i++)
        if (decision_is_gated(&prepared->decisions[i], &prepared->analysis.statements[i].shape))
            return true;
    return false;
}

static void take_judgement(struct arena *arena, const struct judgement *judgement,
                           struct answer *answer);

static bool is_limited(const struct judgement *named, size_t at)
{
    return named->decisions != NULL && named->decisions[at].select_rows_max != LIMIT_NONE;
}

/* A cursor's rows are counted as they pass; what EXECUTE runs may be neither counted nor held. */
static void follow_name(struct arena *arena, const struct known_names *names,
                        const struct shape *shape, struct answer *answer)
{
    const struct shape *named =
        shape->kind == STATEMENT_EXPLAIN && shape->inner != NULL ? shape->inner : shape;
    bool is_cursor = named->kind == STATEMENT_FETCH;
    if ((!is_cursor && named->kind != STATEMENT_EXECUTE) || named->hold != 0)
        return;
    const struct known_name *known = find_name(names, is_cursor, named->name);
    struct error_text error = judge_unknown_name(arena, is_cursor, named->name);
    if (known == NULL) {
        answer_reject(answer, &error);
    } else if (known->judgement.verdict == VERDICT_REJECT) {
        take_judgement(arena, &known->judgement, answer);
    } else if (!is_cursor &&
               !judge_may_execute(&known->judgement, is_gated(&known->judgement), &error)) {
        answer_reject(answer, &error);
    } else if (is_limited(&known->judgement, known->at) &&
               !judge_may_be_limited(&answer->judgement.analysis, names->in_transaction, &error)) {
        answer_reject(answer, &error);
    } else if (answer->judgement.analysis.statement_count == 1) {
        take_judgement(arena, &known->judgement, answer);
    }
}

/* --- the answer
 * ------------------------------------------------------------------------------------ */

static const struct decision *decisive_of(const struct judgement *judgement)
{
    return judgement->decisions != NULL && judgement->analysis.statement_count > 0
               ? &judgement->decisions[judgement->decisive]
               : NULL;
}

static struct text rule_of(const struct judgement *judgement)
{
    const struct decision *decision = decisive_of(judgement);
    if (decision == NULL || decision->decisive == NULL)
        return TEXT("");
    const struct action_decision *action = decision->decisive;
    const struct rule *rule = action->rule != NULL ? action->rule : action->nearest;
    return rule != NULL ? rule->name : TEXT("");
}

static struct text reason_of(struct arena *arena, const struct judgement *judgement)
{
    const struct decision *decision = decisive_of(judgement);
    if (judgement->verdict == VERDICT_REJECT &&
        (decision == NULL || decision->verdict != VERDICT_REJECT))
        return judgement->error.message;
    return decision != NULL ? message_reason(arena, decision) : TEXT("nothing to run");
}

static void take_judgement(struct arena *arena, const struct judgement *judgement,
                           struct answer *answer)
{
    answer->judgement = *judgement;
    answer->verdict = judgement->verdict;
    answer->error = judgement->error;
    answer->rule = rule_of(judgement);
    answer->reason = reason_of(arena, judgement);
}

/* What the message's own selects may not share a message with, once a transaction is open. */
static void check_limits(const struct known_names *names, struct answer *answer)
{
    const struct judgement *judgement = &answer->judgement;
    struct error_text error;
    for (size_t i = 0; i < judgement->analysis.statement_count; i++)
        if (answer->verdict != VERDICT_REJECT &&
            decision_limits_rows(&judgement->decisions[i], &judgement->analysis.statements[i].shape) &&
            !judge_may_be_limited(&judgement->analysis, names->in_transaction, &error))
            answer_reject(answer, &error);
}

void answer_question(struct arena *arena, const struct judge_context *context,
                     const struct question *question, struct answer *answer)
{
    struct known_names names = {.arena = arena};
    struct judgement judgement;
    for (size_t i = 0; i < question->setup_count; i++)
        follow_message(&names, context, question->setup[i]);
    judge_text(arena, context, question->sql, question->types, question->type_count, &judgement);
    *answer = (struct answer){.verdict = VERDICT_REJECT};
    take_judgement(arena, &judgement, answer);
    check_limits(&names, answer);
    for (size_t i = 0; i < judgement.analysis.statement_count; i++)
        if (answer->verdict != VERDICT_REJECT)
            follow_name(arena, &names, &judgement.analysis.statements[i].shape, answer);
}

void answer_refusal(const char *sqlstate, const char *why, struct answer *answer)
{
    struct error_text error = {.message = text_from(why)};
    memcpy(error.sqlstate, sqlstate, sizeof error.sqlstate);
    *answer = (struct answer){.verdict = VERDICT_REJECT};
    answer_reject(answer, &error);
}

const char *answer_code(const struct answer *answer)
{
    if (answer->verdict == VERDICT_REJECT)
        return answer->error.sqlstate;
    return answer->verdict == VERDICT_HOLD ? "55PW1" : NULL;
}

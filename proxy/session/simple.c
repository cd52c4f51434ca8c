/*
 * simple.c - the simple Query: judge the text, then relay it, refuse it, or hand it to the gate.
 *
 * A refused Query is replaced by one that is a syntax error, so that the server itself fails it and its
 * transaction status is its own (gate.md 7).
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

static void refuse(struct session *s, const struct judged *judged, const struct error_text *error,
                   int position)
{
    bool written = report_statement(s, judged, NULL, 0, s->statement_number, VERDICT_REJECT, error);
    struct text body = written ? error_body_from(s, error, position) : error_body_audit(s);
    send_poison_query(s, body);
}

/* A name that nobody knows: the server says so in its own words. Only a Parse is sent, and behind it
 * something that fails, in case the name exists after all. */
static void let_server_refuse(struct session *s, struct judged *judged)
{
    const struct error_text *error = &judged->judgement.error;
    if (!report_statement(s, judged, NULL, 0, s->statement_number, VERDICT_REJECT, error)) {
        send_poison_query(s, error_body_audit(s));
        return;
    }
    struct text own = text_from(s->prefix);
    send_close(s, ROLE_QUIET, 'S', own);
    send_parse(s, ROLE_QUIET, own, judged->judgement.analysis.print, judged->type_bytes,
               judged->type_count)
        ->judged = judged_retain(judged);
    send_poison(s, error_body_from(s, error, 0));
    send_sync(s, ROLE_CLIENT);
}

bool judged_server_may_refuse(const struct judged *judged)
{
    const struct judgement *judgement = &judged->judgement;
    return judgement->verdict == VERDICT_REJECT && judgement->decisions != NULL &&
           judgement->analysis.result == ANALYSE_OK &&
           judgement->decisive < judgement->analysis.statement_count &&
           judgement->decisions[judgement->decisive].failed == CONDITION_UNRESOLVED &&
           judged->view.policy->introspection && judgement->analysis.statement_count == 1;
}

static bool may_make(const struct policy *policy, bool code)
{
    static const enum verb making[] = {VERB_CODE, VERB_CREATE, VERB_ALTER, VERB_DROP};
    for (size_t i = 0; i < policy->rule_count; i++)
        for (size_t j = 0; j < (code ? 1 : ARRAY_SIZE(making)); j++)
            if (policy->rules[i].verdict != VERDICT_REJECT && policy->rules[i].verbs[making[j]])
                return true;
    return false;
}

static bool is_more_than_control(const struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->statement_count; i++) {
        enum statement_kind kind = analysis->statements[i].shape.kind;
        if (kind < STATEMENT_BEGIN || kind > STATEMENT_TWO_PHASE)
            return true;
    }
    return false;
}

/* An agent that may make objects could have made one a moment ago that a name without schema now means, also
 * in another session: what it sends is judged by a catalog that is newer than the message. */
static bool needs_newest_catalog(const struct judged *judged)
{
    const struct policy *policy = judged->view.policy;
    const struct analysis *analysis = &judged->judgement.analysis;
    if (analysis->result != ANALYSE_OK || !is_more_than_control(analysis))
        return false;
    return may_make(policy, true) || (analysis->searched && may_make(policy, false));
}

/* Objects were changed, or code ran, in this session. */
static bool needs_fresh_catalog(const struct session *s, const struct judged *judged)
{
    const struct statement *single = judged_single(judged);
    bool runs_another = single != NULL && (single->shape.kind == STATEMENT_EXECUTE ||
                                           single->shape.kind == STATEMENT_FETCH);
    bool stale = s->catalog_stale || s->holds_made == HOLDS_MADE_BEFORE;
    return stale && (judged->judgement.analysis.searched || runs_another);
}

static enum step refresh_if(struct session *s, bool wanted)
{
    if (!wanted || s->refreshed)
        return STEP_DONE;
    s->refreshed = true;
    if (!s->port.refresh_catalog(s->port.context))
        return STEP_DONE;
    s->catalog_stale = false;
    session_become(s, SESSION_REFRESHING);
    return STEP_WAIT;
}

enum step session_refresh_to_run(struct session *s, const struct judged *judged)
{
    const struct policy *policy = judged->view.policy;
    return refresh_if(s, policy != NULL && !policy->transparent && needs_fresh_catalog(s, judged));
}

enum step session_refresh_for(struct session *s, const struct judged *judged)
{
    const struct policy *policy = judged->view.policy;
    return refresh_if(s, policy != NULL && !policy->transparent &&
                             (judged->judgement.analysis.unresolved_names ||
                              needs_newest_catalog(judged) || needs_fresh_catalog(s, judged)));
}

/* An error outlives the judgement that it is of. */
static void keep_error(struct arena *arena, struct error_text *error)
{
    error->message = arena_text(arena, error->message);
    error->detail = arena_text(arena, error->detail);
    error->hint = arena_text(arena, error->hint);
}

struct portal *session_target(struct session *s, struct judged *judged, const struct shape *shape,
                              struct error_text *error)
{
    if (judged->view.policy->transparent)
        return NULL;
    if (shape->kind == STATEMENT_EXPLAIN && shape->inner != NULL)
        shape = shape->inner; /* EXPLAIN ANALYZE EXECUTE runs it */
    if (shape->kind == STATEMENT_FETCH) {
        struct portal *cursor = names_find(s->portals, shape->name);
        if (cursor == NULL)
            *error = judge_unknown_name(&judged->arena, true, shape->name);
        return portal_retain(cursor);
    }
    if (shape->kind != STATEMENT_EXECUTE || shape->hold != 0)
        return NULL;
    struct judged *target = names_find(s->statements, shape->name);
    if (target == NULL) {
        *error = judge_unknown_name(&judged->arena, false, shape->name);
        return NULL;
    }
    struct judged *again = session_judge_again(s, target);
    struct portal *portal = NULL;
    if (judge_may_execute(&again->judgement, judged_gated(again), error))
        portal = portal_new(again);
    else
        keep_error(&judged->arena, error);
    judged_release(again);
    return portal;
}

/* What an EXECUTE, or a FETCH from a cursor, runs changes what the prepared text changes: that of PREPARE, or
 * of the message that declared it. */
static unsigned changes_when_run(const struct judged *target)
{
    unsigned changes = 0;
    const struct analysis *analysis = &target->judgement.analysis;
    for (size_t i = 0; i < analysis->statement_count; i++) {
        const struct shape *shape = &analysis->statements[i].shape;
        bool prepared = shape->kind == STATEMENT_PREPARE && shape->inner != NULL;
        changes |= shape_relevant_changes(target, prepared ? shape->inner : shape);
    }
    return changes;
}

/* What is deferred runs at the end of the transaction, or when it is told to. */
static bool runs_what_is_deferred(const struct session *s, const struct shape *shape)
{
    bool sets_constraints = shape->kind == STATEMENT_SET && shape->setting_count == 1 &&
                            text_is(shape->settings[0].name, "constraints");
    return s->code_ran && (shape->kind == STATEMENT_COMMIT || shape->kind == STATEMENT_TWO_PHASE ||
                           sets_constraints);
}

bool shape_runs_code(struct session *s, const struct shape *shape)
{
    const struct judged *target = NULL;
    if (shape->kind == STATEMENT_EXPLAIN && shape->inner != NULL)
        shape = shape->inner;
    if (shape->kind == STATEMENT_FETCH) {
        const struct portal *cursor = names_find(s->portals, shape->name);
        target = cursor != NULL ? cursor->judged : NULL;
    } else if (shape->kind == STATEMENT_EXECUTE) {
        target = names_find(s->statements, shape->name);
    }
    unsigned changes = shape->changes | (target != NULL ? changes_when_run(target) : 0);
    return (changes & CHANGES_BY_CODE) != 0 || runs_what_is_deferred(s, shape);
}

unsigned statement_changes(const struct session *s, const struct judged *judged, const struct shape *shape,
                           const struct portal *target)
{
    unsigned changes = shape_relevant_changes(judged, shape);
    bool transparent = judged->view.policy != NULL && judged->view.policy->transparent;
    if (target != NULL && target->judged != judged)
        changes |= changes_when_run(target->judged);
    if (!transparent && runs_what_is_deferred(s, shape))
        changes |= CHANGES_BY_CODE;
    return changes;
}

unsigned shape_relevant_changes(const struct judged *judged, const struct shape *shape)
{
    unsigned names = CHANGES_NAMES;
    unsigned all = CHANGES_SETTINGS | CHANGES_ROLE | CHANGES_OBJECTS | CHANGES_NAMES | CHANGES_BY_CODE;
    bool transparent = judged->view.policy != NULL && judged->view.policy->transparent;
    return shape->changes & (transparent ? names : all);
}

void query_relay(struct session *s, struct judged *judged, struct portal *const *counters, size_t count)
{
    unsigned changes = 0;
    const struct analysis *analysis = &judged->judgement.analysis;
    struct request *request = send_query(s, judged->print);
    request->execution = execution_new(judged, counters, count);
    request->execution->statement_number = s->statement_number;
    request->execution->started_us = s->port.monotonic_us(s->port.context);
    measure_sent(s);
    for (size_t i = 0; i < analysis->statement_count; i++)
        changes |= statement_changes(s, judged, &analysis->statements[i].shape,
                                     i < count ? counters[i] : NULL);
    request_changes(s, request, changes);
    if (request->execution->limited)
        s->limited_outstanding++;
}

static bool report_all(struct session *s, struct judged *judged)
{
    size_t count = judged->judgement.analysis.statement_count;
    bool written = true;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            s->statement_number++;
        written = written && report_statement(s, judged, NULL, i, s->statement_number, VERDICT_ALLOW, NULL);
    }
    return written;
}

/* What counts the rows of a statement: what it names, or itself; NULL: nothing. */
static struct portal *counter_of(struct session *s, struct judged *judged, size_t at, struct error_text *error)
{
    const struct judgement *judgement = &judged->judgement;
    const struct decision *decision = judgement->decisions != NULL ? &judgement->decisions[at] : NULL;
    const struct shape *shape = &judgement->analysis.statements[at].shape;
    struct portal *target = session_target(s, judged, shape, error);
    if (target == NULL && decision != NULL && decision_limits_rows(decision, shape))
        target = portal_of(judged, decision);
    if (target != NULL && target->rows_max != LIMIT_NONE && error->message.size == 0)
        (void)judge_may_be_limited(&judgement->analysis, s->status != 'I', error);
    return target;
}

static bool may_follow(struct session *s, struct judged *judged, struct error_text *error)
{
    const struct analysis *analysis = &judged->judgement.analysis;
    struct arena *arena = &judged->arena;
    bool *runs_code = arena_array(arena, analysis->statement_count, sizeof *runs_code);
    const struct judge_context context = {.policy = judged->view.policy,
                                          .catalog = judged->view.catalog,
                                          .setting_values = judged->view.setting_values};
    const struct decide_context decide_context = judge_decide_context(&context);
    for (size_t i = 0; i < analysis->statement_count; i++)
        runs_code[i] = shape_runs_code(s, &analysis->statements[i].shape);
    return judge_may_follow(arena, &decide_context, analysis, runs_code, error);
}

static enum step relay_allowed(struct session *s, struct judged *judged)
{
    size_t count = judged->judgement.analysis.statement_count;
    struct portal **counters = memory_allocate_zeroed(count + 1, sizeof(struct portal *));
    struct error_text error = {0};
    if (count > 1)
        (void)may_follow(s, judged, &error);
    for (size_t i = 0; i < count && error.message.size == 0; i++)
        counters[i] = counter_of(s, judged, i, &error);
    if (error.message.size > 0)
        refuse(s, judged, &error, 0);
    else if (!report_all(s, judged))
        send_poison_query(s, error_body_audit(s));
    else
        query_relay(s, judged, counters, count);
    for (size_t i = 0; i < count; i++)
        portal_release(counters[i]);
    free(counters);
    return STEP_DONE;
}

/* The values of a Query's only statement: those of its hold, or of the template that it executes. */
static bool keep_values(struct portal *portal, struct error_text *error)
{
    const struct hold *stored = portal->judged->stored;
    if (stored == NULL)
        return judged_call(portal->judged) == NULL || template_keep_bind(portal, NULL, error);
    if (stored->values_wire.size == 0)
        return true;
    buffer_append_text(&portal->bind, stored->values_wire);
    portal->values_size = portal->bind.size;
    buffer_append_u16(&portal->bind, 0); /* every result as text */
    return true;
}

/* By the gate, or as a template that needs none. */
static void run_single(struct session *s, struct judged *judged)
{
    struct error_text error = {0};
    struct portal *portal = portal_new(judged);
    portal->statement_number = s->statement_number;
    if (!keep_values(portal, &error))
        refuse(s, judged, &error, 0);
    else if (judged_gated(judged))
        gate_query(s, portal);
    else if (!report_statement(s, judged, portal, 0, s->statement_number, VERDICT_ALLOW, NULL))
        send_poison_query(s, error_body_audit(s));
    else
        template_query_relay(s, portal);
    portal_release(portal);
}

static enum step answer(struct session *s, struct judged *judged)
{
    const struct statement *single = judged_single(judged);
    struct error_text error;
    s->statement_number++;
    if (!inside_allows(s, &judged->judgement.analysis, &error)) {
        refuse(s, judged, &error, 0);
    } else if (judged_server_may_refuse(judged) && s->status != 'E') {
        let_server_refuse(s, judged);
    } else if (judged->judgement.verdict == VERDICT_REJECT) {
        refuse(s, judged, &judged->judgement.error, judged->judgement.analysis.position);
    } else if ((judged_gated(judged) || judged_call(judged) != NULL) && s->status != 'E') {
        INVARIANT(single != NULL);
        run_single(s, judged);
    } else if (judged_gated(judged) || judged_call(judged) != NULL) {
        struct error_text aborted = {.sqlstate = "25P02",
                                     .message = TEXT("current transaction is aborted, commands ignored "
                                                     "until end of transaction block")};
        refuse(s, judged, &aborted, 0);
    } else {
        return relay_allowed(s, judged);
    }
    return STEP_DONE;
}

/* Whether a transaction is open must be known. */
static bool commits_among_others(const struct judged *judged)
{
    const struct analysis *analysis = &judged->judgement.analysis;
    for (size_t i = 0; i < analysis->statement_count && analysis->statement_count > 1; i++)
        if (analysis->statements[i].shape.kind == STATEMENT_COMMIT)
            return true;
    return false;
}

/* What must be waited for before this text can be answered. */
static enum step prepare(struct session *s, struct judged **judged)
{
    if (session_refresh_for(s, *judged) == STEP_WAIT)
        return STEP_WAIT;
    if (hold_lookup(s, *judged) == STEP_WAIT)
        return STEP_WAIT;
    hold_use_lookup(s, judged);
    if ((judged_gated(*judged) || commits_among_others(*judged)) && session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    const struct analysis *analysis = &(*judged)->judgement.analysis;
    bool runs_code = false;
    for (size_t i = 0; i < analysis->statement_count; i++)
        runs_code = runs_code || shape_runs_code(s, &analysis->statements[i].shape);
    return runs_code && (*judged)->judgement.verdict != VERDICT_REJECT ? pins_before_code(s, *judged)
                                                                      : STEP_DONE;
}

enum step client_query(struct session *s, const struct frame *frame)
{
    struct query_message message;
    if ((s->batch_open || s->limited_outstanding > 0 || session_copy_pending(s)) &&
        session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    if (!decode_query(frame->body, &message)) {
        s->statement_number++;
        bool written = report_message(s, "malformed Query message", "08P01");
        struct text invalid = TEXT("invalid message format");
        send_poison_query(s, written ? error_body(s, "08P01", invalid, TEXT(""), TEXT(""), 0)
                                     : error_body_audit(s));
        return STEP_DONE;
    }
    if (session_ready_to_judge(s) == STEP_WAIT)
        return STEP_WAIT;
    struct judged *judged = session_judge(s, message.sql, NULL);
    enum step step = inside_before(s, &judged->judgement.analysis);
    if (step == STEP_DONE)
        step = prepare(s, &judged);
    if (step == STEP_DONE)
        step = answer(s, judged);
    judged_release(judged);
    return step;
}

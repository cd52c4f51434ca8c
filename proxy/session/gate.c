/*
 * gate.c - limited statements: estimate, run uncommitted, look, commit or roll back (gate.md 1 to 3).
 *
 * While the gate works the client's input waits. The happy path of a limited UPDATE sent as a Query: EXPLAIN
 * in a READ ONLY implicit transaction; the statement by the extended protocol without Sync; its
 * CommandComplete is compared with the limit (gate_look.c); Sync, and the kept reply goes to the client.
 *
 * It leaves otherwise when the estimate or the number rejects (the server is made to fail the statement,
 * so nothing stays), when a hold rule is next (gate_hold.c), or when the server itself reports an error,
 * which is the client's. The gap between CommandComplete and Sync is never waited in.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t edges[GATE_STATE_COUNT] = { /* bit n: may become state n */
    [GATE_NONE] = 1u << GATE_LOOKUP | 1u << GATE_ESTIMATE | 1u << GATE_RUN | 1u << GATE_SETTINGS |
                  1u << GATE_JOIN | 1u << GATE_LEAVE | 1u << GATE_WAIT | 1u << GATE_CLAIM |
                  1u << GATE_SETTLE,
    [GATE_LOOKUP] = 1u << GATE_NONE,
    [GATE_ESTIMATE] = 1u << GATE_COPY | 1u << GATE_ESTIMATE_UNDO | 1u << GATE_RUN | 1u << GATE_SETTINGS |
                      1u << GATE_JOIN | 1u << GATE_NONE,
    [GATE_ESTIMATE_UNDO] = 1u << GATE_NONE,
    [GATE_RUN] = 1u << GATE_RUN_UNDO | 1u << GATE_SETTLE | 1u << GATE_NONE,
    [GATE_RUN_UNDO] = 1u << GATE_SETTINGS | 1u << GATE_JOIN | 1u << GATE_NONE,
    [GATE_SETTLE] = 1u << GATE_NONE,
    [GATE_COPY] = 1u << GATE_JOIN | 1u << GATE_NONE,
    [GATE_SETTINGS] = 1u << GATE_COPY | 1u << GATE_JOIN | 1u << GATE_STORE | 1u << GATE_NONE,
    [GATE_JOIN] = 1u << GATE_REHEARSE | 1u << GATE_STORE | 1u << GATE_NONE,
    [GATE_REHEARSE] = 1u << GATE_REHEARSE | 1u << GATE_REHEARSE_UNDO | 1u << GATE_RUN |
                      1u << GATE_STORE | 1u << GATE_NONE,
    [GATE_REHEARSE_UNDO] = 1u << GATE_REHEARSE | 1u << GATE_RUN | 1u << GATE_STORE | 1u << GATE_NONE,
    [GATE_STORE] = 1u << GATE_LEAVE | 1u << GATE_WAIT | 1u << GATE_CLAIM | 1u << GATE_NONE,
    [GATE_LEAVE] = 1u << GATE_WAIT | 1u << GATE_CLAIM | 1u << GATE_NONE,
    [GATE_WAIT] = 1u << GATE_CLAIM | 1u << GATE_NONE,
    [GATE_CLAIM] = 1u << GATE_HOLD_RUN | 1u << GATE_HOLD_RECORD | 1u << GATE_WAIT | 1u << GATE_NONE,
    [GATE_HOLD_RUN] = 1u << GATE_HOLD_RECORD | 1u << GATE_HOLD_ABORT | 1u << GATE_HOLD_FINISH |
                      1u << GATE_NONE,
    [GATE_HOLD_RECORD] = 1u << GATE_HOLD_COMMIT | 1u << GATE_HOLD_ABORT | 1u << GATE_SETTLE |
                         1u << GATE_NONE,
    [GATE_HOLD_COMMIT] = 1u << GATE_HOLD_FINISH,
    [GATE_HOLD_ABORT] = 1u << GATE_HOLD_FINISH | 1u << GATE_NONE,
    [GATE_HOLD_FINISH] = 1u << GATE_SETTLE | 1u << GATE_NONE,
};

void gate_become(struct session *s, enum gate_state next)
{
    INVARIANT(next < GATE_STATE_COUNT);
    INVARIANT(edges[s->gate.state] & (1u << next));
    if (s->gate.state == GATE_NONE)
        session_become(s, SESSION_GATED);
    s->gate.state = next;
}

static void clear_buffers(struct gate *gate)
{
    buffer_release(&gate->explain);
    buffer_release(&gate->reply);
    buffer_clear(&gate->complete);
    buffer_release(&gate->error);
    buffer_release(&gate->copy);
}

void gate_end(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->waiting)
        s->port.end_waiting(s->port.context);
    if (gate->hold != NULL)
        s->port.watch_hold(s->port.context, 0);
    if (gate->state != GATE_NONE) {
        s->port.set_timer(s->port.context, 0);
        session_become(s, SESSION_READY);
    }
    measure_gated(s);
    measured_rows_release(&gate->measuring.rows);
    portal_release(gate->portal);
    free(gate->client_portal);
    free(gate->client_statement);
    arena_release(&gate->arena);
    clear_buffers(gate);
    *gate = (struct gate){.explain = gate->explain,
                          .reply = gate->reply,
                          .complete = gate->complete,
                          .error = gate->error};
    if (s->client_gone)
        session_end(s, SESSION_END_CLIENT);
}

const struct shape *gate_shape(const struct gate *gate)
{
    const struct statement *single = judged_single(gate->portal->judged);
    INVARIANT(single != NULL);
    return &single->shape;
}

struct text gate_values(const struct portal *portal)
{
    return text_front(buffer_text(&portal->bind), portal->values_size);
}

struct text gate_result_formats(const struct portal *portal)
{
    return text_behind(buffer_text(&portal->bind), portal->values_size);
}

static void gate_begin(struct session *s, struct portal *portal, enum gate_origin origin)
{
    struct gate *gate = &s->gate;
    INVARIANT(gate->state == GATE_NONE && gate->portal == NULL);
    gate->origin = origin;
    gate->portal = portal_retain(portal);
    gate->transaction = s->status;
    gate->fresh = transaction_is_fresh(s);
    gate->started_us = s->port.monotonic_us(s->port.context);
    arena_init(&gate->arena);
    if (shape_runs_code(s, gate_shape(gate)))
        pins_code_ran(s); /* in a rehearsal, too */
}

/* --- deciding again --------------------------------------------------------------------------- */

/* What CASCADE reaches is judged once a rehearsal, or the run, has told it. */
static const struct shape *decided_shape(struct session *s)
{
    const struct gate *gate = &s->gate;
    if (gate->effect == NULL || gate_shape(gate)->ddl == DDL_NONE)
        return gate_shape(gate);
    return measure_reached(&gate->portal->arena, gate_shape(gate), gate->effect);
}

const struct decision *gate_decide(struct session *s, const struct numbers *numbers)
{
    struct portal *portal = s->gate.portal;
    const struct judge_context context = {.policy = portal->judged->view.policy,
                                          .catalog = portal->judged->view.catalog,
                                          .setting_values = portal->judged->view.setting_values,
                                          .keys_in_doubt = portal->judged->objects_changed};
    const struct decide_context decide_context = judge_decide_context(&context);
    struct decision *decision = arena_allocate(&portal->arena, sizeof *decision);
    const struct template_call *call = judged_call(portal->judged);
    if (call != NULL)
        template_call_decide(&portal->arena, &decide_context, call, gate_shape(&s->gate), numbers,
                             decision);
    else
        decide(&portal->arena, &decide_context, decided_shape(s), numbers, decision);
    portal->decision = decision;
    return decision;
}

struct error_text gate_rejection(struct session *s, const struct numbers *numbers)
{
    const struct portal *portal = s->gate.portal;
    return judged_rejection(&s->gate.arena, portal->judged, portal->decision, numbers);
}

void gate_fail_with(struct session *s, const struct error_text *error)
{
    buffer_clear(&s->gate.error);
    buffer_append_text(&s->gate.error, error_body_from(s, error, 0));
}

bool gate_fail_if_cancelled(struct session *s)
{
    const struct error_text error = {.sqlstate = "57014",
                                     .message = TEXT("canceling statement due to user request")};
    if (!s->gate.cancelled || s->gate.error.size > 0)
        return false;
    gate_fail_with(s, &error);
    return true;
}

/* Rejected before anything ran. */
static void reject_unrun(struct session *s, const struct error_text *error)
{
    struct portal *portal = s->gate.portal;
    if (s->gate.origin == ORIGIN_BIND)
        portal->statement_number = ++s->statement_number;
    bool written = report_statement(s, portal->judged, portal, 0, s->statement_number, VERDICT_REJECT,
                                    error);
    if (written) {
        gate_fail_with(s, error);
    } else {
        buffer_clear(&s->gate.error);
        buffer_append_text(&s->gate.error, error_body_audit(s));
    }
    gate_show_error(s);
}

/* --- showing errors and replies --------------------------------------------------------------- */

void gate_show_error(struct session *s)
{
    struct gate *gate = &s->gate;
    struct text body = buffer_text(&gate->error);
    if (gate->left) {
        transaction_replay(s);
        gate->left = false;
    }
    bool by_query = gate->origin == ORIGIN_QUERY;
    if (by_query && !s->batch_open && !s->skipping) {
        send_poison_query(s, body)->show_as_is = true;
    } else {
        if (s->skipping) { /* the server has failed already; the client has not been told */
            buffer_clear(&s->client_out);
            build_message(&s->client_out, BACKEND_ERROR, body);
            to_client_error(s, buffer_text(&s->client_out));
        } else {
            send_poison(s, body)->show_as_is = true;
        }
        if (by_query)
            send_sync(s, ROLE_CLIENT);
    }
    gate_end(s);
}

static void relay_reply(struct session *s)
{
    to_client(s, buffer_text(&s->gate.reply));
    buffer_clear(&s->gate.reply);
}

static void settle(struct session *s)
{
    relay_reply(s);
    gate_become(s, GATE_SETTLE);
    send_sync(s, ROLE_CLIENT);
}

void gate_give_reply(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->origin == ORIGIN_QUERY) {
        settle(s);
        return;
    }
    relay_reply(s);
    to_client(s, buffer_text(&gate->complete));
    gate_end(s);
}

void gate_settled(struct session *s)
{
    if (s->gate.state != GATE_SETTLE)
        return;
    if (!s->gate.settle_failed)
        to_client(s, buffer_text(&s->gate.complete));
    gate_end(s);
}

/* --- the estimate ----------------------------------------------------------------------------- */

static void send_explain(struct session *s)
{
    const struct portal *portal = s->gate.portal;
    const struct judged *judged = portal->judged;
    struct text values = gate_values(portal);
    struct buffer bind;
    buffer_init(&bind, LIMIT_BIND_BYTES + LIMIT_SMALL_MESSAGE_BYTES);
    if (values.size > 0) {
        buffer_append_text(&bind, values);
        buffer_append_u16(&bind, 0); /* all results as text */
    }
    struct text sql = arena_printf(&s->gate.arena, "EXPLAIN (VERBOSE, FORMAT JSON) %.*s",
                                   TEXT_ARGS(judged_single(judged)->explainable));
    send_injected_bound(s, PURPOSE_EXPLAIN, sql, judged->type_bytes, judged->type_count,
                        buffer_text(&bind));
    buffer_release(&bind);
}

static void send_estimate(struct session *s)
{
    static const char read_only[] =
        "SELECT pg_catalog.set_config('transaction_read_only', 'on', true), "
        "pg_catalog.set_config('lock_timeout', '2s', true)";
    bool in_transaction = s->gate.transaction == 'T';
    gate_become(s, GATE_ESTIMATE);
    if (s->gate.inside_batch) {
        send_explain(s);
        send_flush(s);
        return;
    }
    if (in_transaction)
        send_injected(s, PURPOSE_NONE, arena_printf(&s->gate.arena, "SAVEPOINT %s", s->prefix));
    send_injected(s, PURPOSE_NONE, text_from(read_only));
    send_explain(s);
    if (policy_holds(s->gate.portal->judged->view.policy))
        bound_ask(s);
    if (in_transaction) {
        send_injected(s, PURPOSE_NONE,
                      arena_printf(&s->gate.arena, "ROLLBACK TO SAVEPOINT %s", s->prefix));
        send_injected(s, PURPOSE_NONE, arena_printf(&s->gate.arena, "RELEASE SAVEPOINT %s", s->prefix));
    }
    send_sync(s, ROLE_INJECTED);
}

static void undo_estimate(struct session *s)
{
    send_injected(s, PURPOSE_NONE,
                  arena_printf(&s->gate.arena, "ROLLBACK TO SAVEPOINT %s", s->prefix));
    send_injected(s, PURPOSE_NONE, arena_printf(&s->gate.arena, "RELEASE SAVEPOINT %s", s->prefix));
    send_sync(s, ROLE_INJECTED);
    gate_become(s, GATE_ESTIMATE_UNDO);
}

/* The position in EXPLAIN's text, in the client's own. */
static int map_explain_position(const struct judged *judged, int position)
{
    enum { PREFIX = sizeof "EXPLAIN (VERBOSE, FORMAT JSON) " - 1 };
    int at = judged_single(judged)->explainable_at;
    if (position <= PREFIX || at < 0)
        return 0;
    return judged_map_position(judged, position - PREFIX + at);
}

void gate_error(struct session *s, struct text body)
{
    struct gate *gate = &s->gate;
    struct error_fields fields;
    if (gate->error.size > 0 || !decode_error(body, &fields))
        return;
    int position = 0; /* of a hold's run: in a text that the client has not sent */
    const struct judged *judged = gate->portal != NULL ? gate->portal->judged : NULL;
    if (judged != NULL && fields.position > 0 && gate->state == GATE_ESTIMATE)
        position = map_explain_position(judged, fields.position);
    else if (judged != NULL && fields.position > 0 && gate->state < GATE_SETTINGS)
        position = judged_map_position(judged, fields.position);
    if (judged != NULL)
        server_error_of(s, judged, body, &fields, position, &gate->error);
    else
        server_error_for(s, NULL, body, &fields, &gate->error);
}

static void estimate_done(struct session *s);

void gate_after_error(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->error.size == 0)
        return;
    if (gate->state == GATE_ESTIMATE && gate->inside_batch)
        estimate_done(s);
    else if (gate->state == GATE_RUN) {
        gate_explain_deferred(s);
        gate_show_error(s); /* the server itself failed the statement: its error is the client's */
    } else if (gate->state == GATE_HOLD_RUN || gate->state == GATE_HOLD_RECORD)
        hold_error(s);
}

void gate_drained(struct session *s)
{
    if (s->gate.state == GATE_HOLD_RUN && s->gate.run_known && s->gate.error.size == 0)
        hold_run_identified(s);
    else if (s->gate.state == GATE_ESTIMATE && s->gate.inside_batch) {
        (void)!gate_fail_if_cancelled(s);
        estimate_done(s);
    }
    else if (s->gate.state == GATE_RUN && s->gate.error.size == 0)
        gate_run_answered(s);
}

static struct numbers estimate_numbers(struct session *s)
{
    struct portal *portal = s->gate.portal;
    struct estimate estimate = {.rows = -1, .cost = INFINITY};
    bool known = explain_read(&portal->arena, buffer_text(&s->gate.explain), gate_shape(&s->gate),
                              &estimate);
    struct numbers numbers = {.has_cost = true,
                              .cost = known ? estimate.cost : (double)INFINITY,
                              .costliest = estimate.costliest};
    portal->explain_us = s->port.monotonic_us(s->port.context) - s->gate.started_us;
    measure_since(s, MEASURE_EXPLAIN, s->gate.started_us);
    if (!known)
        return numbers;
    portal->estimate_rows = estimate.rows;
    if (estimate.unanalysed)
        numbers.cost = INFINITY;
    else if (estimate.rows > (double)portal->judged->view.policy->rehearse_max_rows &&
             gate_shape(&s->gate)->kind == STATEMENT_WRITE) {
        numbers.has_rows = true;
        numbers.rows = estimate.rows < 9e15 ? (int64_t)estimate.rows : INT64_MAX;
    }
    struct text plan = text_cut(buffer_text(&s->gate.explain), LIMIT_PLAN_BYTES);
    portal->plan = strndup(plan.bytes, plan.size);
    return numbers;
}

static void continue_bind(struct session *s)
{
    struct gate *gate = &s->gate;
    bind_relay(s, gate->portal, text_from(gate->client_portal), text_from(gate->client_statement),
               buffer_text(&gate->portal->bind));
    gate_end(s);
}

static void relay_unlimited(struct session *s)
{
    struct portal *portal = s->gate.portal;
    portal->rows_max = portal->decision->select_rows_max;
    if (!report_statement(s, portal->judged, portal, 0, s->statement_number, VERDICT_ALLOW, NULL)) {
        buffer_append_text(&s->gate.error, error_body_audit(s));
        gate_show_error(s);
        return;
    }
    query_relay(s, portal->judged, &portal, 1);
    gate_end(s);
}

static void gate_proceed(struct session *s);

static void estimate_done(struct session *s)
{
    if (s->gate.error.size > 0) {
        if (s->gate.origin == ORIGIN_BIND)
            s->statement_number++;
        (void)!report_message(s, "the estimate failed; nothing was run",
                              s->gate.cancelled ? "57014" : s->batch_sqlstate);
        gate_show_error(s);
        return;
    }
    struct numbers numbers = estimate_numbers(s);
    s->gate.portal->numbers = numbers;
    gate_decide(s, &numbers);
    gate_proceed(s);
}

/* By the decision as it is now. */
static void gate_proceed(struct session *s)
{
    struct portal *portal = s->gate.portal;
    const struct decision *decision = portal->decision;
    if (decision->verdict == VERDICT_REJECT) {
        struct error_text error = gate_rejection(s, &portal->numbers);
        reject_unrun(s, &error);
    } else if (s->gate.origin == ORIGIN_BIND) {
        portal->rows_max = decision->verdict == VERDICT_ALLOW ? decision->select_rows_max : LIMIT_NONE;
        continue_bind(s);
    } else if (decision->verdict == VERDICT_HOLD) {
        hold_start(s);
    } else if (decision_is_counted(decision, gate_shape(&s->gate))) {
        gate_run(s);
    } else {
        relay_unlimited(s);
    }
}

/* Functions of users may be run by the planner: only where they cannot write. */
static bool calls_functions(const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].verb == VERB_CALL)
            return true;
    return false;
}

/* Its Sync must not commit what the client's batch has done so far, nor end its portals. */
static bool may_sync(const struct session *s)
{
    return s->status == 'T' || (s->batch_executes == 0 && s->batch_binds == 0);
}

static bool wants_estimate(const struct session *s)
{
    const struct decision *decision = s->gate.portal->decision;
    const struct shape *shape = gate_shape(&s->gate);
    bool useful = decision->verdict == VERDICT_HOLD || decision->needs_cost ||
                  decision_is_counted(decision, shape);
    bool possible = may_sync(s) || (decision->needs_cost && !calls_functions(shape));
    return judged_single(s->gate.portal->judged)->explainable.size > 0 && useful && possible &&
           may_be_planned(decision, shape);
}

static void estimate_or_proceed(struct session *s)
{
    struct portal *portal = s->gate.portal;
    if (wants_estimate(s)) {
        s->gate.inside_batch = !may_sync(s);
        send_estimate(s);
        return;
    }
    if (portal->decision->needs_cost) {
        portal->numbers = (struct numbers){.has_cost = true, .cost = INFINITY};
        gate_decide(s, &portal->numbers);
    }
    gate_proceed(s);
}

void gate_query(struct session *s, struct portal *portal)
{
    portal->statement_number = s->statement_number;
    gate_begin(s, portal, ORIGIN_QUERY);
    if (portal->judged->stored != NULL)
        hold_start_stored(s);
    else
        estimate_or_proceed(s);
}

void gate_bind(struct session *s, struct portal *portal, const struct bind_message *bind)
{
    gate_begin(s, portal, ORIGIN_BIND);
    s->gate.client_portal = strndup(bind->portal.bytes, bind->portal.size);
    s->gate.client_statement = strndup(bind->statement.bytes, bind->statement.size);
    if (portal->judged->stored != NULL || s->status == 'E')
        continue_bind(s);
    else
        estimate_or_proceed(s);
}

/* --- running and looking ---------------------------------------------------------------------- */

/* A Query in the extended protocol: the first two Closes do to the client's unnamed statement and portal
 * what a Query would (gate.md 2.1). */
void gate_send_converted(struct session *s, struct text sql)
{
    struct portal *portal = s->gate.portal;
    struct text own = text_from(s->prefix);
    send_close(s, ROLE_QUIET, 'P', own);
    send_close(s, ROLE_QUIET, 'S', own);
    send_parse(s, ROLE_QUIET, own, sql, portal->judged->type_bytes, portal->judged->type_count);
    send_bind(s, ROLE_QUIET, own, own, measuring_bind(s));
    if (s->gate.origin == ORIGIN_QUERY)
        send_describe(s, ROLE_QUIET, 'P', own)->keep_reply = true;
    struct request *request = send_execute(s, ROLE_QUIET, own, 0);
    request->keep_reply = true;
    request->execution = execution_new(portal->judged, NULL, 0);
    request->execution->statement_number = portal->statement_number;
    request->execution->started_us = s->port.monotonic_us(s->port.context);
    request->execution->copied = s->gate.copied;
    s->batch_executes++;
    s->batch_writes = true;
    hold_send_copy(s);
}

void close_unnamed(struct session *s)
{
    send_close(s, ROLE_QUIET, 'S', TEXT(""));
    send_close(s, ROLE_QUIET, 'P', TEXT(""));
    names_sent(s->statements, TEXT(""), NULL);
    names_confirmed(s->statements, TEXT(""), NULL);
}

/* Beyond its limits the statement may be a hold rule's. */
bool gate_may_escalate(const struct judged *judged)
{
    const struct policy *policy = judged->view.policy;
    const struct statement *single = judged_single(judged);
    if (single == NULL || judged_call(judged) != NULL)
        return policy_holds(policy);
    for (size_t i = 0; i < policy->rule_count; i++)
        for (size_t j = 0; j < single->shape.action_count; j++)
            if (policy->rules[i].verdict == VERDICT_HOLD &&
                policy->rules[i].verbs[single->shape.actions[j].verb])
                return true;
    return false;
}

void gate_run(struct session *s)
{
    struct gate *gate = &s->gate;
    struct portal *portal = gate->portal;
    if (portal->decision->effect_max != LIMIT_NONE && gate->transaction == 'I' && s->batch_executes > 0) {
        /* What is deferred fires before its effect is measured, and what others deferred is not its own. */
        struct error_text error = gate_not_alone();
        error.message = TEXT("pgwicket: a write whose rule has a max_effect must be sent by itself; nothing was "
                             "changed");
        reject_unrun(s, &error);
        return;
    }
    if (!report_statement(s, portal->judged, portal, 0, portal->statement_number, VERDICT_ALLOW, NULL)) {
        buffer_append_text(&gate->error, error_body_audit(s));
        gate_show_error(s);
        return;
    }
    portal->executed = true;
    gate_become(s, GATE_RUN);
    counters_begin(s);
    hold_keep_copy(s);
    gate->savepoint = gate->transaction == 'T' && gate_may_escalate(portal->judged);
    if (gate->savepoint)
        send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "SAVEPOINT %s", s->prefix));
    counters_send(s, false);
    if (gate->origin == ORIGIN_QUERY) {
        close_unnamed(s);
        gate_send_converted(s, portal->judged->print);
    } else if (gate->rehearsals > 0) {
        gate_send_converted(s, portal->judged->print); /* the rehearsal took the client's portal with it */
    } else {
        execute_relay(s, portal, portal, text_from(gate->client_portal), 0, true);
    }
    if (gate->rehearsals == 0)
        measure_sent(s);
    if (gate_shape(gate)->kind != STATEMENT_COPY_IN || gate->copied)
        counters_send(s, true); /* COPY takes nothing but data */
    send_flush(s);
}

void gate_execute(struct session *s, struct portal *portal, struct text name, bool followed)
{
    gate_begin(s, portal, ORIGIN_EXECUTE);
    s->gate.followed = followed;
    s->gate.client_portal = strndup(name.bytes, name.size);
    if (portal->judged->stored != NULL)
        hold_start_stored(s);
    else
        gate_proceed(s);
}

static void keep_reply(struct session *s, const struct frame *frame, struct text whole)
{
    struct gate *gate = &s->gate;
    bool row = frame->type == BACKEND_DATA_ROW;
    if (gate->measuring.plan.appended > 0 && (row || frame->type == BACKEND_ROW_DESCRIPTION)) {
        if (row)
            measuring_row(s, frame->body);
        whole = measuring_own_part(s, frame->type, frame->body);
    }
    if (!gate->over)
        buffer_append_text(&gate->reply, whole);
    gate->over = gate->over || gate->reply.overflow;
}

void gate_kept(struct session *s, const struct frame *frame, struct text whole)
{
    struct gate *gate = &s->gate;
    switch (frame->type) {
    case BACKEND_COPY_IN:
        if (gate->copied)
            break; /* the client has had its own, and sent everything */
        queue_head(&s->queue)->execution->copy_in = true;
        to_client(s, whole);
        break;
    case BACKEND_COMMAND_COMPLETE:
    case BACKEND_EMPTY_QUERY:
    case BACKEND_PORTAL_SUSPENDED:
        buffer_append_text(&gate->complete, whole);
        break;
    case BACKEND_NO_DATA:
        break;
    default:
        keep_reply(s, frame, whole);
        break;
    }
}

void gate_row(struct session *s, enum injected_purpose purpose, struct text body)
{
    struct gate *gate = &s->gate;
    struct text value = TEXT("");
    switch (purpose) {
    case PURPOSE_EXPLAIN:
        if (data_row_column(body, 0, &value))
            buffer_append_text(&gate->explain, value);
        break;
    case PURPOSE_SETTINGS:
        bound_row(s, body);
        break;
    case PURPOSE_RUN_ID:
        gate->run_known = true;
        for (uint16_t i = 0; i < ARRAY_SIZE(gate->run_id); i++) {
            gate->run_known = data_row_column(body, i, &value) && gate->run_known;
            gate->run_id[i] = arena_text(&gate->arena, value);
        }
        break;
    case PURPOSE_SNAPSHOT:
        measuring_snapshot(s, body);
        break;
    case PURPOSE_OBJECTS:
        measuring_objects(s, body);
        break;
    case PURPOSE_LOSSES:
        measuring_losses(s, body);
        break;
    case PURPOSE_MEASURED:
        measuring_row(s, body);
        break;
    case PURPOSE_PINS:
        pins_row(s, body);
        break;
    case PURPOSE_COUNTERS:
        counters_row(s, body);
        break;
    case PURPOSE_NONE:
        break;
    }
}

struct error_text gate_not_alone(void)
{
    return (struct error_text){
        .sqlstate = "42501",
        .message = TEXT("pgwicket: a statement that needs a person's approval must be sent by itself; nothing "
                        "was changed"),
        .hint = TEXT("Send the statement in a batch of its own: Parse, Bind, Execute without a row count, "
                     "Sync.")};
}

/* --- ReadyForQuery of an injected batch --------------------------------------------------------- */

void gate_ready(struct session *s)
{
    struct gate *gate = &s->gate;
    switch (gate->state) {
    case GATE_ESTIMATE:
        (void)!gate_fail_if_cancelled(s);
        if (s->status == 'E' && gate->transaction == 'T')
            undo_estimate(s);
        else
            estimate_done(s);
        break;
    case GATE_ESTIMATE_UNDO:
        estimate_done(s);
        break;
    case GATE_RUN_UNDO:
        buffer_clear(&gate->reply);
        buffer_clear(&gate->complete);
        if (gate_fail_if_cancelled(s))
            gate_show_error(s);
        else
            hold_start(s);
        break;
    case GATE_SETTINGS:
        hold_settings_read(s);
        break;
    case GATE_REHEARSE:
    case GATE_REHEARSE_UNDO:
        rehearse_ready(s);
        break;
    case GATE_LEAVE:
    case GATE_HOLD_ABORT:
    case GATE_HOLD_COMMIT:
        hold_ready(s);
        break;
    case GATE_NONE:
        break; /* pins were read */
    case GATE_LOOKUP:
    case GATE_RUN:
    case GATE_SETTLE:
    case GATE_COPY:
    case GATE_JOIN:
    case GATE_STORE:
    case GATE_WAIT:
    case GATE_CLAIM:
    case GATE_HOLD_RUN:
    case GATE_HOLD_RECORD:
    case GATE_HOLD_FINISH:
    case GATE_STATE_COUNT:
        session_end(s, SESSION_END_INTERNAL);
        break;
    }
}

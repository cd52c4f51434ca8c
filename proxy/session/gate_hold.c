/*
 * gate_hold.c - held statements: stored before the agent hears of them, waited for with nothing open
 * upstream, claimed by one session, run once, recorded before the commit (gate.md 6 and 10).
 *
 *   settings → store → leave the transaction → wait → claim → run → record the transaction id → commit →
 *   store the outcome → reply
 *
 * Whatever fails before COMMIT is sent rolls back. What fails after it leaves the hold `running` with its
 * transaction id: the server is asked for it when pgwicket starts again.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"
#include "proxy/session/answers.h"
#include "proxy/session/held.h"

#include <stdlib.h>
#include <string.h>

static void fail_store(struct session *s)
{
    struct error_text error = hold_store_unusable();
    gate_fail_with(s, &error);
    gate_show_error(s);
}

static void keep_hold(struct session *s, const struct hold *hold)
{
    s->gate.hold = hold_copy(&s->gate.arena, hold);
}

/* --- a new hold --------------------------------------------------------------------------------- */

void hold_create(struct session *s)
{
    struct gate *gate = &s->gate;
    struct hold_request *request = hold_new_request(s, HOLD_OP_CREATE, 0);
    struct error_text error = {0};
    struct hold *hold = held_describe(s, &request->arena, &error);
    if (hold == NULL) {
        arena_release(&request->arena);
        free(request);
        (void)!report_statement(s, gate->portal->judged, gate->portal, 0, s->statement_number,
                                VERDICT_REJECT, &error);
        gate_fail_with(s, &error);
        gate_show_error(s);
        return;
    }
    request->hold = hold;
    request->copy_data = arena_text(&request->arena, buffer_text(&gate->copy));
    int64_t pending_max = gate->portal->judged->view.policy->pending_max;
    request->pending_max = pending_max == UNLIMITED ? INT64_MAX : pending_max;
    gate_become(s, GATE_STORE);
    buffer_release(&gate->copy); /* the store has it */
    hold_post(s, request);
}

/* What came before it in the batch would be committed by our own Sync. */
static bool alone(struct session *s)
{
    if (s->batch_executes == 0 || s->gate.transaction == 'T')
        return true;
    struct error_text error = gate_not_alone();
    (void)!report_statement(s, s->gate.portal->judged, s->gate.portal, 0, s->statement_number,
                            VERDICT_REJECT, &error);
    gate_fail_with(s, &error);
    gate_show_error(s);
    return false;
}

/* The same statement may be held already: then it is not rehearsed again. What cannot be described may turn
 * out to need nobody. */
void hold_join_or_create(struct session *s)
{
    if (hold_needs_copy(&s->gate)) {
        hold_take_copy(s);
        return;
    }
    struct hold_request *request = hold_new_request(s, HOLD_OP_JOIN, 0);
    struct error_text error = {0};
    request->hold = held_describe(s, &request->arena, &error);
    gate_become(s, GATE_JOIN);
    if (request->hold != NULL) {
        hold_post(s, request);
        return;
    }
    arena_release(&request->arena);
    free(request);
    hold_rehearse_or_create(s);
}

static void stored(struct session *s, const struct hold *hold);

static void join_answered(struct session *s, const struct hold_request *request)
{
    if (gate_fail_if_cancelled(s)) {
        (void)!report_message(s, "cancelled before it was rehearsed; nothing was run", "57014");
        gate_show_error(s);
    } else if (request->answer == HOLD_NOT_FOUND) {
        hold_rehearse_or_create(s);
    } else if (request->answer == HOLD_JOINED && request->hold_count == 1) {
        gate_become(s, GATE_STORE);
        buffer_release(&s->gate.copy); /* the store has it */
        stored(s, request->holds[0]);
    } else {
        fail_store(s);
    }
}

static void ask_for_settings(struct session *s)
{
    bound_ask(s);
    send_sync(s, ROLE_INJECTED);
    gate_become(s, GATE_SETTINGS);
}

static bool possible(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct portal *portal = gate->portal;
    struct error_text error;
    if (held_possible(&gate->arena, gate_shape(gate), portal->decision, gate->transaction, &error))
        return true;
    (void)!report_statement(s, portal->judged, portal, 0, s->statement_number, VERDICT_REJECT, &error);
    gate_fail_with(s, &error);
    gate_show_error(s);
    return false;
}

void hold_start(struct session *s)
{
    struct gate *gate = &s->gate;
    if (!alone(s))
        return;
    if (gate->state == GATE_RUN_UNDO && hold_needs_copy(gate) && !hold_copy_was_kept(s))
        return;
    if (!possible(s))
        return;
    if (gate->bound_read) {
        hold_join_or_create(s);
    } else {
        ask_for_settings(s);
    }
}

/* Approved under these settings, a statement may mean something else under others. */
static void continue_stored(struct session *s, const struct hold *hold)
{
    struct gate *gate = &s->gate;
    struct hold_setting other;
    gate_become(s, GATE_STORE);
    if (!bound_differs(gate, hold, &other)) {
        stored(s, hold);
        return;
    }
    struct error_text error = {
        .sqlstate = "42501",
        .message = arena_printf(&gate->arena,
                                "pgwicket: hold %lld is bound to another %.*s than this session has; "
                                "nothing was run",
                                (long long)hold->id, TEXT_ARGS(other.name)),
        .hint = other.value.size > 0
                    ? arena_printf(&gate->arena, "It was held with %.*s = %.*s. Set it so and run it again.",
                                   TEXT_ARGS(other.name), TEXT_ARGS(other.value))
                    : arena_printf(&gate->arena, "It was held where %.*s had not been set. Run it in a new session.",
                                   TEXT_ARGS(other.name))};
    gate_fail_with(s, &error);
    gate_show_error(s);
}

void hold_settings_read(struct session *s)
{
    const struct hold *known = s->gate.portal->judged->stored;
    if (gate_fail_if_cancelled(s))
        (void)!report_message(s, "cancelled before it was held; nothing was run", "57014");
    if (s->gate.error.size > 0)
        gate_show_error(s);
    else if (known != NULL)
        continue_stored(s, known);
    else
        hold_join_or_create(s);
}

/* --- waiting -------------------------------------------------------------------------------------- */

static void notice(struct session *s, const struct hold *hold)
{
    struct arena arena;
    arena_init(&arena);
    const struct error_message message = {
        .severity = "NOTICE",
        .sqlstate = "00000",
        .message = arena_printf(&arena, "pgwicket: held for approval as hold %lld; waiting",
                                (long long)hold->id),
        .hint = TEXT("A person is asked. Nothing is run until it is released.")};
    buffer_clear(&s->client_out);
    build_notice(&s->client_out, &message);
    to_client(s, buffer_text(&s->client_out));
    arena_release(&arena);
}

static void show_hold_error(struct session *s, const struct hold *hold, bool waited)
{
    struct error_text error = inside_has(s, hold->id) ? error_ran_inside(&s->gate.arena, hold)
                                                      : error_hold(&s->gate.arena, hold, waited);
    gate_fail_with(s, &error);
    gate_show_error(s);
}

/* The run is a part of the client's own transaction, whose COMMIT decides. */
bool hold_is_inside(const struct gate *gate) { return gate->transaction == 'T'; }

static void refuse_inside(struct session *s)
{
    struct error_text error = {
        .sqlstate = "54000",
        .message = arena_printf(&s->gate.arena,
                                "pgwicket: hold %lld cannot run in a transaction with so many savepoints or "
                                "holds; nothing was run",
                                (long long)s->gate.hold->id),
        .hint = TEXT("Run it in a transaction of its own.")};
    gate_fail_with(s, &error);
    gate_show_error(s);
}

static void claim(struct session *s)
{
    if (hold_is_inside(&s->gate) && !inside_has_room(s)) {
        refuse_inside(s);
        return;
    }
    gate_become(s, GATE_CLAIM);
    s->port.set_timer(s->port.context, 0);
    if (s->gate.waiting)
        s->port.end_waiting(s->port.context);
    s->gate.waiting = false;
    hold_post(s, hold_new_request(s, HOLD_OP_CLAIM, s->gate.hold->id));
}

static void wait_or_claim(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->cancelled) {
        hold_stop_waiting(s, true);
        return;
    }
    if (gate->hold->state == HOLD_RELEASED) {
        claim(s);
        return;
    }
    const struct policy *policy = gate->portal->judged->view.policy;
    int64_t wait_us = policy->hold_wait_us;
    if (s->statement_timeout_us > 0 && s->statement_timeout_us < wait_us)
        wait_us = s->statement_timeout_us;
    gate->waiting = wait_us > 0 && s->port.begin_waiting(s->port.context);
    if (!gate->waiting) {
        show_hold_error(s, gate->hold, true);
        return;
    }
    gate_become(s, GATE_WAIT);
    notice(s, gate->hold);
    s->port.watch_hold(s->port.context, gate->hold->id);
    s->port.set_timer(s->port.context, wait_us);
    /* It may have been decided before it was watched. */
    hold_post(s, hold_new_request(s, HOLD_OP_GET, gate->hold->id));
}

/* No transaction is open upstream while a person thinks. */
static void leave(struct session *s)
{
    struct gate *gate = &s->gate;
    bool in_transaction = gate->transaction == 'T' && !gate->left;
    if (!in_transaction && !s->batch_open && !s->skipping) {
        wait_or_claim(s);
        return;
    }
    if (in_transaction) {
        gate->left = true;
        s->hide_status = true;
        send_injected(s, PURPOSE_NONE, TEXT("ROLLBACK"));
    }
    send_sync(s, ROLE_INJECTED);
    gate_become(s, GATE_LEAVE);
}

static void stored(struct session *s, const struct hold *hold)
{
    keep_hold(s, hold);
    struct gate *gate = &s->gate;
    struct portal *portal = gate->portal;
    if (!report_statement(s, portal->judged, portal, 0, s->statement_number, VERDICT_HOLD, NULL)) {
        buffer_append_text(&gate->error, error_body_audit(s));
        gate_show_error(s);
        return;
    }
    bool may_wait = gate->transaction != 'T' || gate->fresh;
    if (hold->state != HOLD_PENDING && hold->state != HOLD_RELEASED)
        show_hold_error(s, hold, false);
    else if (may_wait)
        leave(s);
    else if (hold->state == HOLD_RELEASED && s->status == 'T')
        claim(s);
    else
        show_hold_error(s, hold, true); /* a transaction that has done something does not wait */
}

void hold_start_stored(struct session *s)
{
    if (alone(s) && possible(s))
        ask_for_settings(s);
}

void hold_changed(struct session *s, const struct hold *hold)
{
    keep_hold(s, hold);
    if (hold->state == HOLD_RELEASED)
        claim(s);
    else if (hold->state != HOLD_PENDING)
        show_hold_error(s, hold, true);
}

void hold_stop_waiting(struct session *s, bool cancelled)
{
    if (!cancelled) {
        show_hold_error(s, s->gate.hold, true);
        return;
    }
    struct error_text error = {
        .sqlstate = "57014",
        .message = TEXT("canceling statement due to user request"),
        .detail = arena_printf(&s->gate.arena, "Hold %lld goes on waiting for a person.",
                               (long long)s->gate.hold->id)};
    gate_fail_with(s, &error);
    gate_show_error(s);
}

void hold_wait_paused(struct session *s)
{
    struct gate *gate = &s->gate;
    struct error_text error = error_paused(&gate->arena, s->paused_at, "nothing was changed");
    error.detail = arena_printf(&gate->arena, "%.*s Hold %lld goes on waiting for a person.",
                                TEXT_ARGS(error.detail), (long long)gate->hold->id);
    gate->left = false;
    gate_fail_with(s, &error);
    gate_show_error(s);
}

/* --- the run ---------------------------------------------------------------------------------------- */

/* Points in time in microseconds: their text would depend on the agent's settings. See upstream/fate.h. */
static const char run_id_sql[] =
    "SELECT pg_catalog.pg_current_xact_id()::pg_catalog.text, pg_catalog.pg_backend_pid(), "
    "(SELECT (EXTRACT(epoch FROM a.backend_start) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8::pg_catalog.text "
    "FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) a), "
    "(SELECT pg_catalog.concat(c.system_identifier, ' ', (EXTRACT(epoch FROM "
    "pg_catalog.pg_stat_get_bgwriter_stat_reset_time()) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8, ' ', "
    "(EXTRACT(epoch FROM pg_catalog.pg_postmaster_start_time()) OPERATOR(pg_catalog.*) 1000000)::pg_catalog.int8) "
    "FROM pg_catalog.pg_control_system() c), "
    "(SELECT c.timeline_id::pg_catalog.text FROM pg_catalog.pg_control_checkpoint() c)";

static enum measured_part part_shown(const struct effect *shown)
{
    if (shown->bound == EFFECT_BY_ROWS)
        return MEASURED_ALL;
    return shown->fingerprint.size > 0 ? MEASURED_TARGET : MEASURED_COUNTS;
}

static void run(struct session *s)
{
    struct gate *gate = &s->gate;
    struct effect shown;
    bool measured = hold_shown_effect(s, &shown);
    struct text sql = gate->hold->statement;
    if (measured) {
        measuring_begin(s, sql, gate->hold->sample_secret,  part_shown(&shown));
        sql = gate->measuring.plan.sql;
    }
    gate_become(s, GATE_HOLD_RUN);
    if (gate->left) {
        transaction_replay(s);
        gate->left = false;
    } else if (!hold_is_inside(gate)) {
        send_injected(s, PURPOSE_NONE, TEXT("BEGIN"));
    }
    send_injected(s, PURPOSE_NONE,
                  TEXT("SELECT pg_catalog.set_config('synchronous_commit', 'on', true)"));
    if (measured) {
        measuring_send_losses(s, &shown);
        measuring_send_lock(s);
        measuring_send_snapshot(s);
    }
    gate_send_converted(s, sql);
    measuring_send_deferred(s, measured);
    send_injected(s, PURPOSE_RUN_ID, text_from(run_id_sql));
    send_flush(s);
}

/* What PostgreSQL refuses in a transaction block has no transaction id: once it may have been sent, nobody can
 * be asked what became of it. */
static void record_outside(struct session *s)
{
    struct hold_request *request = hold_new_request(s, HOLD_OP_RUN, s->gate.hold->id);
    request->xid = TEXT(HOLD_RUNS_OUTSIDE);
    gate_become(s, GATE_HOLD_RECORD);
    hold_post(s, request);
}

enum { OUTSIDE_BATCHES = 3 };

static void run_outside(struct session *s)
{
    gate_become(s, GATE_HOLD_COMMIT);
    send_injected(s, PURPOSE_NONE,
                  TEXT("SELECT pg_catalog.set_config('synchronous_commit', 'on', false)"));
    send_sync(s, ROLE_INJECTED);
    gate_send_converted(s, s->gate.hold->statement);
    send_sync(s, ROLE_INJECTED);
    send_injected(s, PURPOSE_NONE, TEXT("RESET synchronous_commit"));
    send_sync(s, ROLE_INJECTED);
}

static void give_back(struct session *s, const struct error_text *error)
{
    hold_post_and_forget(s, hold_finish_request(s, s->gate.hold->id, HOLD_RELEASED, TEXT(""), TEXT("")));
    gate_fail_with(s, error);
    gate_show_error(s);
}

/* Nothing has begun, and who asked for it does not want it any more. */
static void give_back_unwanted(struct session *s)
{
    struct error_text error = {
        .sqlstate = "57014",
        .message = TEXT("canceling statement due to user request"),
        .detail = arena_printf(&s->gate.arena, "Hold %lld stays released.", (long long)s->gate.hold->id)};
    give_back(s, &error);
}

static void claimed(struct session *s, const struct hold_request *request)
{
    if (request->answer == HOLD_WRONG_STATE && request->hold_count == 1) {
        show_hold_error(s, request->holds[0], false);
        return;
    }
    if (request->answer != HOLD_OK) {
        fail_store(s);
        return;
    }
    keep_hold(s, request->holds[0]);
    if (request->holds[0]->copy_sha256.size > 0) {
        buffer_init(&s->gate.copy, request->copied.size);
        buffer_append_text(&s->gate.copy, request->copied);
        s->gate.copied = true;
    }
    struct portal *portal = s->gate.portal;
    if (s->gate.cancelled) {
        give_back_unwanted(s);
        return;
    }
    portal_judge_again(s, portal);
    if (portal->judged->judgement.verdict == VERDICT_REJECT) {
        give_back(s, &portal->judged->judgement.error);
    } else if (!held_is_still_released(s, s->gate.hold)) {
        struct error_text error = {
            .sqlstate = "42501",
            .message = arena_printf(&s->gate.arena,
                                    "pgwicket: hold %lld was released by somebody who may not do so any more; "
                                    "nothing was run",
                                    (long long)s->gate.hold->id),
            .hint = TEXT("Stop and report it: approvers or rules have changed since.")};
        give_back(s, &error);
    } else if (gate_shape(&s->gate)->not_in_block) {
        record_outside(s);
    } else {
        run(s);
    }
}

void hold_abort_run(struct session *s)
{
    gate_become(s, GATE_HOLD_ABORT);
    if (!hold_is_inside(&s->gate))
        send_sync(s, ROLE_INJECTED); /* → E; the ROLLBACK follows in a batch of its own */
    else
        hold_ready(s);
}

const struct decision *hold_decide_run(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->portal->judged->stored != NULL && judged_decision(gate->portal->judged) == NULL)
        return NULL;
    bool known = gate->effect != NULL && gate->effect->bound != EFFECT_UNKNOWN;
    struct numbers numbers = gate->portal->numbers;
    numbers.has_rows = gate->measuring.tag_rows >= 0;
    numbers.rows_real = true;
    numbers.rows = gate->measuring.tag_rows;
    if (known && effect_rows(gate->effect, false) > numbers.rows)
        numbers.rows = effect_rows(gate->effect, false);
    numbers.has_effect = true;
    numbers.effect =
        known ? effect_rows(gate->effect, true) + effect_rows_lost(gate->effect) : EFFECT_UNCOUNTED;
    return gate_decide(s, &numbers);
}

static bool within_limit(struct session *s)
{
    const struct decision *decision = s->gate.over ? NULL : hold_decide_run(s);
    return decision != NULL && decision->verdict != VERDICT_REJECT;
}

/* Not to be committed, for gate.error's reason. The release was good for one run. */
static void fail_run(struct session *s, struct text tag)
{
    struct gate *gate = &s->gate;
    struct error_fields fields = {0};
    (void)!decode_error(buffer_text(&gate->error), &fields);
    if (hold_is_inside(gate)) {
        hold_post_and_forget(s, hold_finish_request(s, gate->hold->id, HOLD_FAILED, tag, fields.message));
        gate_show_error(s);
    } else {
        send_poison(s, TEXT(""));
        hold_abort_run(s);
    }
}

void hold_run_identified(struct session *s)
{
    struct gate *gate = &s->gate;
    struct command_tag tag = {0};
    struct text complete = buffer_text(&gate->complete);
    if (gate->state != GATE_HOLD_RUN || !gate->run_known || complete.size < FRAME_HEADER_SIZE ||
        !decode_command_complete(text_behind(complete, FRAME_HEADER_SIZE), &tag)) {
        session_end(s, SESSION_END_INTERNAL);
        return;
    }
    gate->measuring.tag_rows = tag.rows;
    if (!hold_effect_is_as_shown(s)) {
        hold_drift(s);
        return;
    }
    if (!within_limit(s)) {
        struct error_text error = {
            .sqlstate = "54000",
            .message = arena_printf(&gate->arena,
                                    "pgwicket: hold %lld would change %lld rows, more than its rule "
                                    "allows; rolled back, nothing was changed",
                                    (long long)gate->hold->id, (long long)tag.rows),
            .detail = arena_printf(&gate->arena, "Rule %.*s: %.*s.", TEXT_ARGS(gate->hold->rule),
                                   TEXT_ARGS(gate->hold->rule_text)),
            .hint = TEXT("The hold is over. Narrow the WHERE, and ask for approval of fewer rows.")};
        gate_fail_with(s, &error);
        fail_run(s, tag.tag);
        return;
    }
    struct hold_request *request = hold_new_request(s, HOLD_OP_RUN, gate->hold->id);
    request->xid = arena_text(&request->arena, gate->run_id[0]);
    (void)!text_to_int64(gate->run_id[1], &request->backend_pid);
    request->backend_start = arena_text(&request->arena, gate->run_id[2]);
    request->system_identifier = arena_text(&request->arena, gate->run_id[3]);
    (void)!text_to_int64(gate->run_id[4], &request->timeline);
    gate_become(s, GATE_HOLD_RECORD);
    hold_post(s, request);
}

static void note_run(struct session *s)
{
    struct command_tag tag = {0};
    struct text complete = buffer_text(&s->gate.complete);
    (void)!decode_command_complete(text_behind(complete, FRAME_HEADER_SIZE), &tag);
    gate_statement_ran(s, tag);
    transaction_hold_ran(s, &judged_single(s->gate.portal->judged)->shape);
}

/* In the client's own transaction: its COMMIT decides. */
static void run_inside(struct session *s)
{
    struct gate *gate = &s->gate;
    inside_began(s, gate->hold->id);
    s->status = 'T';
    note_run(s);
    gate_give_reply(s);
}

static void recorded(struct session *s, const struct hold_request *request)
{
    struct gate *gate = &s->gate;
    bool outside = gate_shape(gate)->not_in_block;
    if (request->answer != HOLD_OK) {
        struct error_text error = hold_store_unusable();
        if (outside) {
            give_back(s, &error);
            return;
        }
        gate_fail_with(s, &error);
        fail_run(s, TEXT(""));
    } else if (gate->cancelled && outside) {
        give_back_unwanted(s);
    } else if (gate_fail_if_cancelled(s)) {
        fail_run(s, TEXT(""));
    } else if (hold_is_inside(gate)) {
        run_inside(s);
    } else if (outside) {
        run_outside(s);
    } else {
        gate_become(s, GATE_HOLD_COMMIT);
        send_injected(s, PURPOSE_NONE, TEXT("COMMIT"));
        send_sync(s, ROLE_INJECTED);
    }
}

/* An error came while the hold ran. */
void hold_error(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->state != GATE_HOLD_RUN && gate->state != GATE_HOLD_RECORD)
        return; /* COMMIT's own failure shows at ReadyForQuery */
    if (!hold_is_inside(gate)) {
        hold_abort_run(s);
        return;
    }
    struct error_fields fields;
    struct text message =
        decode_error(buffer_text(&gate->error), &fields) ? fields.message : TEXT("failed");
    hold_post_and_forget(s, hold_finish_request(s, gate->hold->id, HOLD_FAILED, TEXT(""), message));
    gate_show_error(s);
}

static void finish(struct session *s, enum hold_state outcome)
{
    struct gate *gate = &s->gate;
    struct command_tag tag = {0};
    struct error_fields fields = {0};
    struct text complete = buffer_text(&gate->complete);
    if (outcome == HOLD_EXECUTED)
        (void)!decode_command_complete(text_behind(complete, FRAME_HEADER_SIZE), &tag);
    else
        (void)!decode_error(buffer_text(&gate->error), &fields);
    gate->outcome = outcome;
    gate_become(s, GATE_HOLD_FINISH);
    hold_post(s, hold_finish_request(s, gate->hold->id, outcome, tag.tag, fields.message));
}

/* Of the statement's own batch only the reply counts: a cancel may have come too early or too late. */
static void outside_ready(struct session *s)
{
    struct gate *gate = &s->gate;
    gate->outside_answered++;
    if (gate->outside_answered == 1)
        buffer_clear(&gate->error);
    else if (gate->outside_answered == OUTSIDE_BATCHES)
        finish(s, gate->complete.size > 0 ? HOLD_EXECUTED : HOLD_FAILED);
}

static void roll_back(struct session *s)
{
    send_injected(s, PURPOSE_NONE, TEXT("ROLLBACK"));
    send_sync(s, ROLE_INJECTED);
}

/* A cancel of what had ended already has met the ROLLBACK. */
static void roll_back_again(struct session *s)
{
    buffer_clear(&s->gate.error);
    roll_back(s);
}

void hold_ready(struct session *s)
{
    struct gate *gate = &s->gate;
    switch (gate->state) {
    case GATE_LEAVE:
        if (gate->error.size == 0)
            wait_or_claim(s);
        else if (gate->cancelled && s->status != 'I')
            roll_back_again(s);
        else
            session_end(s, SESSION_END_INTERNAL);
        break;
    case GATE_HOLD_ABORT:
        if (s->status != 'I') {
            roll_back(s);
        } else if (s->gate.drifted) {
            hold_drift_rolled_back(s);
        } else {
            finish(s, HOLD_FAILED);
        }
        break;
    case GATE_HOLD_COMMIT:
        if (gate_shape(gate)->not_in_block)
            outside_ready(s);
        else
            finish(s, gate->error.size > 0 ? HOLD_FAILED : HOLD_EXECUTED);
        break;
    default:
        session_end(s, SESSION_END_INTERNAL);
        break;
    }
}

/* The outcome is stored (or could not be: it is true all the same, and recovery will find it). */
static void finished(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->outcome != HOLD_EXECUTED) {
        gate_show_error(s);
        return;
    }
    note_run(s);
    gate_give_reply(s);
}

void hold_answer(struct session *s, struct hold_request *request)
{
    switch (s->gate.state) {
    case GATE_LOOKUP:
        hold_lookup_answered(s, request);
        break;
    case GATE_JOIN:
        join_answered(s, request);
        break;
    case GATE_STORE:
        if ((request->answer == HOLD_OK || request->answer == HOLD_JOINED) && request->hold_count == 1) {
            stored(s, request->holds[0]);
        } else if (request->answer == HOLD_TOO_MANY) {
            struct error_text error = {
                .sqlstate = "53400",
                .message = arena_printf(&s->gate.arena,
                                        "pgwicket: %lld statements already wait for approval; nothing "
                                        "was run",
                                        (long long)request->pending_max),
                .hint = TEXT("Wait for the pending ones (SHOW pgwicket.holds) instead of sending more.")};
            gate_fail_with(s, &error);
            gate_show_error(s);
        } else {
            fail_store(s);
        }
        break;
    case GATE_WAIT:
        if (request->answer == HOLD_OK && request->hold_count == 1)
            hold_changed(s, request->holds[0]);
        break;
    case GATE_CLAIM:
        claimed(s, request);
        break;
    case GATE_HOLD_RECORD:
        recorded(s, request);
        break;
    case GATE_HOLD_FINISH:
        if (s->gate.drifted)
            hold_drift_stored(s, request);
        else
            finished(s);
        break;
    default:
        break;
    }
}

void hold_session_ends(struct session *s)
{
    struct gate *gate = &s->gate;
    bool open = gate->state == GATE_CLAIM || gate->state == GATE_HOLD_RUN ||
                gate->state == GATE_HOLD_RECORD || gate->state == GATE_HOLD_ABORT;
    if (open && gate->hold != NULL)
        hold_post_and_forget(s, hold_finish_request(s, gate->hold->id, HOLD_RELEASED, TEXT(""), TEXT("")));
    inside_session_ends(s);
}

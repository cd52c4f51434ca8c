/*
 * gate_rehearse.c - a held statement runs before anybody is asked, is measured, and is rolled back
 * (spec 4.2, gate.md 4).
 *
 * Outside of a transaction in one of its own; in a fresh one in the client's, which is left by the same
 * ROLLBACK that must precede the wait; in one that has done more under a savepoint. An error of the
 * statement is the agent's error, and nobody is asked.
 */
#include "proxy/session/internal.h"

#include "rules/conditions.h"

#include <inttypes.h>
#include <string.h>

#define NE "OPERATOR(pg_catalog.<>)"
#define IS_OWN(xid) "pg_catalog.age(" xid ") OPERATOR(pg_catalog.<=) 0"

/* --- may it be rehearsed? ---------------------------------------------------------------------------- */

static struct text action_problem(struct arena *arena, const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        const struct relation *relation = action->relation;
        struct text why = action_not_undone(action);
        bool writes = verb_is_write(action->verb) || action->verb == VERB_TRUNCATE;
        if (writes && relation == NULL)
            return TEXT("not rehearsed: its table is not in the catalog");
        if (why.size > 0)
            return arena_printf(arena,
                                "not rehearsed: %.*s.%.*s runs code that a rollback may not undo: %.*s",
                                TEXT_ARGS(relation->schema), TEXT_ARGS(relation->name),
                                TEXT_ARGS(why));
    }
    return (struct text){0};
}

static struct text event_problem(struct arena *arena, const struct decide_context *context,
                                 const struct shape *shape)
{
    struct text why = events_not_undone(context, shape);
    return why.size > 0 ? arena_printf(arena,
                                       "not rehearsed: an event trigger runs code that a rollback may not "
                                       "undo: %.*s",
                                       TEXT_ARGS(why))
                        : why;
}

static bool is_undone(const struct action_decision *decision)
{
    const struct action *action = decision->action;
    return decision->implicit || ((action->verb == VERB_SELECT || verb_is_write(action->verb)) &&
                                  action_not_undone(action).size == 0);
}

/* Rows of foreign tables, and of what the catalog does not have, have no counters. */
static bool is_measurable(const struct action *action)
{
    bool writes = verb_is_write(action->verb) || action->verb == VERB_TRUNCATE;
    return action->relation != NULL ? action->relation->kind != 'f' : !writes;
}

/* Do the authors of the rules that hold it vouch that nothing of it outlives a rollback, and is there nothing
 * else in it that could? What ends or prepares a transaction is nobody's to vouch for. */
static bool is_vouched_for(const struct gate *gate)
{
    const struct decision *decision = gate->portal->decision;
    enum statement_kind kind = gate_shape(gate)->kind;
    if (gate_shape(gate)->not_in_block)
        return false;
    if (kind != STATEMENT_WRITE && kind != STATEMENT_SELECT && kind != STATEMENT_COPY_IN &&
        kind != STATEMENT_CODE && kind != STATEMENT_UTILITY)
        return false;
    for (size_t i = 0; i < decision->action_count; i++) {
        const struct action_decision *action = &decision->actions[i];
        bool vouched = action->rule != NULL && action->rule->rehearse && !action->listed;
        bool fine = action->verdict == VERDICT_HOLD ? vouched : is_undone(action);
        if (!fine || !is_measurable(action->action))
            return false;
    }
    return gate->portal->judged->view.catalog != NULL;
}

static struct text shape_problem(struct session *s, const struct decide_context *context)
{
    struct gate *gate = &s->gate;
    const struct shape *shape = gate_shape(gate);
    if (shape->not_in_block)
        return TEXT("not rehearsed: it runs outside of a transaction, so nothing of it can be tried out or rolled back, and an "
                    "error may leave a part of it done");
    if (shape->kind != STATEMENT_WRITE && shape->kind != STATEMENT_SELECT &&
        shape->kind != STATEMENT_COPY_IN && shape->ddl == DDL_NONE)
        return TEXT("not rehearsed: only queries, writes and changes of objects are");
    struct text problem = action_problem(&gate->arena, shape);
    if (problem.size == 0)
        problem = event_problem(&gate->arena, context, shape);
    if (problem.size > 0)
        return problem;
    if (context->catalog == NULL || !statement_is_rehearsable(context, shape))
        return TEXT("not rehearsed: something in it could outlive a rollback");
    return TEXT("");
}

struct text rehearsal_problem(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct portal *portal = gate->portal;
    const struct session_view *view = &portal->judged->view;
    const struct decide_context context = {view->policy, view->catalog, view->setting_values,
                                             portal->judged->objects_changed};
    struct text problem = shape_problem(s, &context);
    if (problem.size > 0 && !is_vouched_for(gate))
        return problem;
    if (s->status == 'E')
        return TEXT("not rehearsed: its transaction has failed");
    if (portal->estimate_rows > (double)view->policy->rehearse_max_rows)
        return arena_printf(&gate->arena, "not rehearsed: the planner expects %.0f rows, limit %" PRId64,
                            portal->estimate_rows, view->policy->rehearse_max_rows);
    return (struct text){0};
}

/* The planner evaluates functions that call themselves IMMUTABLE, in defaults and policies too: what a
 * rollback may not undo must not run for an estimate. A query that is allowed runs all of it anyway. */
bool may_be_planned(const struct decision *decision, const struct shape *shape)
{
    bool runs_anyway = decision->verdict == VERDICT_ALLOW, undone = true;
    for (size_t i = 0; i < shape->action_count; i++) {
        runs_anyway = runs_anyway && !verb_is_write(shape->actions[i].verb);
        undone = undone && action_not_undone(&shape->actions[i]).size == 0;
    }
    return runs_anyway || undone;
}

/* --- sending --------------------------------------------------------------------------------------------- */

static bool in_used_transaction(const struct gate *gate)
{
    return gate->transaction == 'T' && !gate->fresh;
}

static void send_times(struct session *s)
{
    const struct policy *policy = s->gate.portal->judged->view.policy;
    int64_t most_us = policy->rehearsal_timeout_us;
    if (s->statement_timeout_us > 0 && s->statement_timeout_us < most_us)
        most_us = s->statement_timeout_us;
    send_injected(s, PURPOSE_NONE,
                  arena_printf(&s->gate.arena,
                               "SELECT pg_catalog.set_config('lock_timeout', '%" PRId64 "ms', true), "
                               "pg_catalog.set_config('statement_timeout', '%" PRId64 "ms', true)",
                               policy->rehearsal_lock_timeout_us / 1000, most_us / 1000));
}

/* COPY takes no Close while it takes data; what is injected next closes the names. */
static void send_copy_statement(struct session *s, struct text sql, struct text bind)
{
    struct text own = text_from(s->prefix);
    send_close(s, ROLE_INJECTED, 'P', own);
    send_close(s, ROLE_INJECTED, 'S', own);
    send_parse(s, ROLE_INJECTED, own, sql, TEXT(""), 0);
    send_bind(s, ROLE_INJECTED, own, own, bind);
    send_execute(s, ROLE_INJECTED, own, 0)->purpose = PURPOSE_MEASURED;
    hold_send_copy(s);
}

static void send_statement(struct session *s)
{
    const struct gate *gate = &s->gate;
    const struct judged *judged = gate->portal->judged;
    struct text values = gate_values(gate->portal);
    struct buffer bind;
    buffer_init(&bind, LIMIT_BIND_BYTES + LIMIT_SMALL_MESSAGE_BYTES);
    if (values.size > 0) {
        buffer_append_text(&bind, values);
        buffer_append_u16(&bind, 0); /* all results as text */
    }
    if (gate->copied)
        send_copy_statement(s, gate->measuring.plan.sql, buffer_text(&bind));
    else
        send_injected_bound(s, PURPOSE_MEASURED, gate->measuring.plan.sql, judged->type_bytes,
                            judged->type_count, buffer_text(&bind));
    buffer_release(&bind);
}

static void send_begin(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->left) {
        transaction_replay(s);
    } else if (in_used_transaction(gate)) {
        send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "SAVEPOINT %s", s->prefix));
    } else if (gate->fresh) {
        gate->left = true; /* the end of the rehearsal rolls it back */
        s->hide_status = true;
    } else {
        send_injected(s, PURPOSE_NONE, TEXT("BEGIN"));
    }
}

static void send_end(struct session *s)
{
    struct gate *gate = &s->gate;
    if (in_used_transaction(gate)) {
        send_injected(s, PURPOSE_NONE,
                      arena_printf(&gate->arena, "ROLLBACK TO SAVEPOINT %s", s->prefix));
        send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "RELEASE SAVEPOINT %s", s->prefix));
    } else {
        send_injected(s, PURPOSE_NONE, TEXT("ROLLBACK"));
    }
    send_sync(s, ROLE_INJECTED);
}

/* What the transaction has itself changed of the code that runs by itself, or of what carries a statement on, the
 * catalog does not have. A row of a system catalog that is as new as the transaction is its own, or newer than what is
 * known; tables that it made have no statement yet whose effect could be told. An error then: no date begins like that. */
static void send_own_changes_check(struct session *s)
{
    static const char sql[] =
        "SELECT pg_catalog.concat('changed: ', c.what)::pg_catalog.date FROM ("
        "SELECT 'trigger', tgrelid, xmin FROM pg_catalog.pg_trigger WHERE NOT tgisinternal "
        "UNION ALL SELECT 'rule', ev_class, xmin FROM pg_catalog.pg_rewrite "
        "UNION ALL SELECT 'policy', polrelid, xmin FROM pg_catalog.pg_policy "
        "UNION ALL SELECT 'default', adrelid, xmin FROM pg_catalog.pg_attrdef "
        "UNION ALL SELECT 'constraint', conrelid, xmin FROM pg_catalog.pg_constraint "
        "UNION ALL SELECT 'foreign key', confrelid, xmin FROM pg_catalog.pg_constraint WHERE confrelid " NE " 0 "
        "UNION ALL SELECT 'partition or heir', inhparent, xmin FROM pg_catalog.pg_inherits "
        "UNION ALL SELECT 'index', indrelid, xmin FROM pg_catalog.pg_index WHERE indexprs IS NOT NULL OR indpred IS NOT NULL "
        "UNION ALL SELECT 'row security', oid, xmin FROM pg_catalog.pg_class WHERE relrowsecurity "
        "UNION ALL SELECT 'function', 0, xmin FROM pg_catalog.pg_proc "
        "UNION ALL SELECT 'operator', 0, xmin FROM pg_catalog.pg_operator "
        "UNION ALL SELECT 'cast', 0, xmin FROM pg_catalog.pg_cast "
        "UNION ALL SELECT 'event trigger', 0, xmin FROM pg_catalog.pg_event_trigger) AS c(what, relation, made) "
        "WHERE " IS_OWN("c.made") " AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid "
        "OPERATOR(pg_catalog.=) c.relation AND a.attnum OPERATOR(pg_catalog.=) -1 AND " IS_OWN("a.xmin") ") LIMIT 1";
    if (s->gate.portal->judged->objects_changed)
        send_injected(s, PURPOSE_NONE, text_from(sql));
}

/* Event triggers run at almost every DDL. With one whose code is not known this is an error: no integer begins
 * like that. */
static void send_event_trigger_check(struct session *s)
{
    const struct catalog *catalog = s->gate.portal->judged->view.catalog;
    if (gate_shape(&s->gate)->ddl != DDL_OBJECTS || catalog == NULL)
        return;
    const struct event_code *known = catalog_event_code(catalog);
    struct buffer sql;
    buffer_init(&sql, LIMIT_HELD_BYTES);
    buffer_append_string(&sql, "SELECT pg_catalog.concat('event trigger ', e.evtname)::pg_catalog.int4 FROM "
                               "pg_catalog.pg_event_trigger e WHERE e.evtenabled OPERATOR(pg_catalog.<>) 'D' "
                               "AND e.evtfoid OPERATOR(pg_catalog.<>) ALL ('{");
    for (size_t i = 0; i < known->function_count; i++)
        buffer_printf(&sql, "%s%lu", i > 0 ? "," : "", (unsigned long)known->functions[i]);
    buffer_append_string(&sql, "}'::pg_catalog.oid[])");
    send_injected(s, PURPOSE_NONE, sql.overflow ? TEXT("SELECT 'event trigger'::pg_catalog.int4") : buffer_text(&sql));
    buffer_release(&sql);
}

static enum measured_part part_to_measure(const struct gate *gate)
{
    if (gate->by_counts)
        return MEASURED_COUNTS;
    return gate->without_children ? MEASURED_TARGET : MEASURED_ALL;
}

static void rehearse(struct session *s)
{
    struct gate *gate = &s->gate;
    uint8_t secret[16];
    random_bytes(secret, sizeof secret);
    measuring_begin(s, gate_held_text(gate->portal->judged), secret,
                    part_to_measure(gate));
    gate->rehearsals++;
    gate_become(s, GATE_REHEARSE);
    send_begin(s);
    send_times(s);
    send_own_changes_check(s);
    send_event_trigger_check(s);
    measuring_send_losses(s, gate->taken);
    measuring_send_snapshot(s);
    send_statement(s);
    send_injected(s, PURPOSE_NONE, TEXT("SET CONSTRAINTS ALL IMMEDIATE"));
    measuring_send_snapshot(s);
    send_end(s);
}

static void reject(struct session *s, const struct error_text *error);

/* One of the agent's rehearsals of this minute, however often the statement has to be measured. */
static void rehearse_first(struct session *s)
{
    struct arena *arena = &s->gate.arena;
    int64_t wait_us = s->port.begin_rehearsal(s->port.context);
    if (wait_us == 0) {
        rehearse(s);
        return;
    }
    int64_t most = s->gate.portal->judged->view.policy->rehearsals_per_minute;
    struct error_text error = {
        .sqlstate = "53400",
        .message = arena_printf(arena,
                                "pgwicket: %" PRId64 " statements were rehearsed for approval within a minute; "
                                "nothing was run. Try again in %" PRId64 " seconds",
                                most, (wait_us + 999999) / 1000000),
        .detail = arena_printf(arena, "Policy %.*s, limits: rehearsals_per_minute %" PRId64 ".",
                               TEXT_ARGS(s->gate.portal->judged->view.policy->name), most),
        .hint = TEXT("Wait so long; do not send it in a loop. What waits already needs no rehearsal: SHOW "
                     "pgwicket.holds.")};
    reject(s, &error);
}

/* --- what came of it --------------------------------------------------------------------------------------- */

static void reject(struct session *s, const struct error_text *error)
{
    const struct portal *portal = s->gate.portal;
    if (report_statement(s, portal->judged, portal, 0, s->statement_number, VERDICT_REJECT, error)) {
        gate_fail_with(s, error);
    } else {
        buffer_clear(&s->gate.error);
        buffer_append_text(&s->gate.error, error_body_audit(s));
    }
    gate_show_error(s);
}

/* A hold whose effect nobody knows, under a rule that does not want such. */
static void reject_unknown(struct session *s, struct text why)
{
    const struct error_text error = {
        .sqlstate = "42501",
        .message = TEXT("pgwicket: nobody can approve this, because its effect cannot be told; nothing "
                        "was changed"),
        .detail = why,
        .hint = TEXT("Make it smaller, or write it without what makes its effect unclear; else report "
                     "that it needs a policy change.")};
    reject(s, &error);
}

/* A person is shown what it does, where that can be found out. */
void hold_rehearse_or_create(struct session *s)
{
    struct text problem = rehearsal_problem(s);
    if (problem.size == 0)
        rehearse_first(s);
    else if (hold_needs_no_effect(s->gate.portal->decision))
        hold_create(s);
    else
        reject_unknown(s, problem);
}

/* Running into a time-out of the rehearsal is told as such. */
static void say_that_it_was_rehearsed(struct session *s, const struct error_fields *fields)
{
    if (!text_is(fields->sqlstate, "57014") && !text_is(fields->sqlstate, "55P03"))
        return;
    struct error_text error = {
        .message = arena_printf(&s->gate.arena,
                                "pgwicket: the rehearsal before approval ended: %.*s; nothing was "
                                "changed",
                                TEXT_ARGS(text_cut(fields->message, 100))),
        .hint = TEXT("Make it smaller, or try again when the table is less busy.")};
    memcpy(error.sqlstate, fields->sqlstate.bytes, 5);
    gate_fail_with(s, &error);
}

/* The columns that tell rows from each other cannot be read, or cannot be returned; or the transaction has changed
 * the table so that they are no more, or no key. An error of the statement's own comes again. */
static bool only_counts_are_possible(const struct gate *gate, struct text sqlstate)
{
    return gate->measuring.plan.appended > 0 &&
           (text_starts_with(sqlstate, "42") || text_is(sqlstate, "0A000") || text_is(sqlstate, "21000"));
}

static void judge_found(struct session *s);

static void judge_unknown(struct session *s, struct text why)
{
    struct gate *gate = &s->gate;
    struct effect *effect = arena_allocate(&gate->arena, sizeof *effect);
    *effect = (struct effect){.row_count = -1, .why = why};
    gate->effect = effect;
    buffer_clear(&gate->error);
    judge_found(s);
}

/* Why it could not be rehearsed, though it is no mistake of the agent's; empty: it is. */
static struct text obstacle_of(const struct session *s, const struct error_fields *fields)
{
    const struct gate *gate = &s->gate;
    if (gate->measuring.object_count > 0 || gate->measuring.snapshot_count > 0)
        return TEXT(""); /* what is ours comes before */
    if (text_is(fields->sqlstate, "22007"))
        return TEXT("this transaction has changed triggers, rules, foreign keys, functions or the like, so that what "
                    "the statement sets off is not known: commit that first, then send the statement");
    if (gate_shape(gate)->ddl == DDL_NONE)
        return TEXT("");
    if (text_is(fields->sqlstate, "22P02"))
        return TEXT("a new event trigger runs code when objects are changed");
    if (text_is(fields->sqlstate, "42501") && gate->taken != NULL)
        return TEXT("the rows that it takes cannot be counted: their table may not be read");
    return TEXT("");
}

static void failed(struct session *s)
{
    struct gate *gate = &s->gate;
    struct error_fields fields = {0};
    measure_since(s, MEASURE_REHEARSAL, gate->measuring.started_us);
    (void)!decode_error(buffer_text(&gate->error), &fields);
    struct text obstacle = obstacle_of(s, &fields);
    if (gate->cancelled) {
        (void)!report_message(s, "cancelled while it was rehearsed; nothing was changed", "57014");
        gate_show_error(s);
        return;
    }
    if (obstacle.size > 0) {
        judge_unknown(s, obstacle);
        return;
    }
    if (only_counts_are_possible(gate, fields.sqlstate)) {
        gate->by_counts = gate->without_children || !gate->measuring.plan.with_children;
        gate->without_children = true;
        buffer_clear(&gate->error);
        rehearse(s);
        return;
    }
    if (is_vouched_for(gate)) {
        judge_unknown(s, arena_printf(&gate->arena, "the rehearsal failed: %.*s", TEXT_ARGS(fields.message)));
        return;
    }
    (void)!report_message(s, "the rehearsal failed; nothing was changed", s->batch_sqlstate);
    say_that_it_was_rehearsed(s, &fields);
    gate_show_error(s);
}

static bool holds_only_rows(const struct decision *decision)
{
    for (size_t i = 0; i < decision->action_count; i++) {
        enum verb verb = decision->actions[i].action->verb;
        if (decision->actions[i].verdict == VERDICT_HOLD && verb != VERB_INSERT &&
            verb != VERB_UPDATE && verb != VERB_DELETE)
            return false;
    }
    return true;
}

/* What CASCADE reaches is only told by a rehearsal; no rule vouches for that. */
bool hold_needs_no_effect(const struct decision *decision)
{
    const struct rule *rule = decision->decisive != NULL ? decision->decisive->rule : NULL;
    return rule != NULL && (rule->unrehearsed_hold || rule->rehearse) &&
           !decision_lists_cascade(decision);
}

static void run_at_once(struct session *s)
{
    if (s->gate.left) {
        transaction_replay(s);
        s->gate.left = false;
    }
    gate_run(s);
}

static bool writes_rows(const struct shape *shape)
{
    return shape->kind == STATEMENT_WRITE || shape->kind == STATEMENT_COPY_IN;
}

static struct numbers real_numbers(const struct gate *gate)
{
    struct numbers numbers = gate->portal->numbers;
    bool known = gate->effect->bound != EFFECT_UNKNOWN;
    numbers.has_effect = true;
    numbers.effect = known ? effect_rows(gate->effect, true) + effect_rows_lost(gate->effect)
                           : EFFECT_UNCOUNTED;
    if (!known || !writes_rows(gate_shape(gate)))
        return numbers;
    numbers.has_rows = numbers.rows_real = true;
    numbers.rows = effect_rows(gate->effect, false);
    if (gate->measuring.tag_rows > numbers.rows)
        numbers.rows = gate->measuring.tag_rows;
    return numbers;
}

static bool cascades_go_too_far(const struct gate *gate)
{
    return gate->measuring.rows.incomplete && gate->measuring.plan.with_children &&
           !gate->without_children;
}

/* What DDL takes is known once it has run; then it runs again, and the rows of it are counted before. */
static void judge_effect(struct session *s)
{
    enum { REHEARSALS_MAX = 3 }; /* tables that come and go meanwhile */
    struct gate *gate = &s->gate;
    measure_since(s, MEASURE_REHEARSAL, gate->measuring.started_us);
    if (cascades_go_too_far(gate)) {
        gate->without_children = true;
        rehearse(s);
        return;
    }
    gate->effect = measuring_effect(s);
    if (measure_losses_known(gate->effect)) {
        judge_found(s);
    } else if (gate->rehearsals < REHEARSALS_MAX) {
        gate->taken = gate->effect;
        rehearse(s);
    } else {
        judge_unknown(s, TEXT("what it takes changes while its rows are counted"));
    }
}

static void judge_found(struct session *s)
{
    enum { AT_ONCE_MAX = 3 }; /* rows that come and go between rehearsal and run */
    struct gate *gate = &s->gate;
    const struct numbers numbers = real_numbers(gate);
    if (numbers.rows_real)
        measure_estimate(s, gate->portal->estimate_rows, numbers.rows);
    const struct decision *decision = gate_decide(s, &numbers);
    bool known = gate->effect->bound != EFFECT_UNKNOWN;
    gate->empty = known && gate->effect->table_count == 0 && gate->measuring.tag_rows == 0 &&
                  holds_only_rows(decision) && gate->rehearsals <= AT_ONCE_MAX;
    if (decision->verdict == VERDICT_REJECT) {
        struct error_text error = gate_rejection(s, &numbers);
        reject(s, &error);
    } else if (decision->verdict == VERDICT_ALLOW || gate->empty) {
        run_at_once(s);
    } else if (!known && !hold_needs_no_effect(decision)) {
        reject_unknown(s, gate->effect->why);
    } else {
        hold_create(s);
    }
}

void rehearse_ready(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->state == GATE_REHEARSE_UNDO)
        failed(s);
    else if (gate->error.size == 0 && !gate_fail_if_cancelled(s))
        judge_effect(s);
    else if (s->status == 'E') {
        gate_become(s, GATE_REHEARSE_UNDO);
        send_end(s);
    } else
        failed(s);
}

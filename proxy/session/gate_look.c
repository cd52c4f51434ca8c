/*
 * gate_look.c - the look at a limited statement that has run uncommitted: how many rows did it change?
 *
 * Its command tag tells, and, where foreign-key actions carry it on, the server's counters of the tables
 * that they can reach, read before and behind it in the same transaction (gate.md 1.2). Counters that do
 * not count, or have lost what they counted, are over every limit. A row that such an action moves into
 * another partition counts there and here.
 *
 * Where the open transaction has changed objects, the server finds the tables in its own catalog, which has the
 * foreign keys, partitions and heirs of this transaction: all that any action can reach from the target.
 */
#include "proxy/session/internal.h"

#include "proxy/base/attributes.h"

#include <string.h>

/* --- counters ----------------------------------------------------------------------------------- */

/* A table that is emptied in passing forgets its counts, but gets another file. */
#define COUNTS                                                                                          \
    "CASE WHEN pg_catalog.current_setting('track_counts') OPERATOR(pg_catalog.=) 'on' "                 \
    "THEN COALESCE(pg_catalog.sum(pg_catalog.pg_stat_get_xact_tuples_inserted(t.o) "                    \
    "OPERATOR(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_updated(t.o) "                           \
    "OPERATOR(pg_catalog.+) pg_catalog.pg_stat_get_xact_tuples_deleted(t.o)), 0) END, "                 \
    "pg_catalog.string_agg(pg_catalog.pg_relation_filenode(t.o)::pg_catalog.text, ' ' ORDER BY t.o) "
#define ACTS(letter) letter " OPERATOR(pg_catalog.=) ANY ('{c,n,d}'::pg_catalog.\"char\"[])"

static void begin_sql(struct buffer *sql)
{
    buffer_init(sql, LIMIT_COUNTED_TABLES * sizeof "4294967295," + LIMIT_SMALL_MESSAGE_BYTES);
}

static void add_oid(struct buffer *sql, uint32_t oid, bool first)
{
    buffer_printf(sql, "%s%lu", first ? "" : ",", (unsigned long)oid);
}

static struct text end_sql(struct arena *arena, struct buffer *sql, const char *end)
{
    buffer_append_string(sql, end);
    struct text text = arena_text(arena, buffer_text(sql));
    buffer_release(sql);
    return text;
}

static struct text counters_sql(struct arena *arena, const struct counted_tables *tables)
{
    struct buffer sql;
    begin_sql(&sql);
    buffer_append_string(&sql, "SELECT " COUNTS "FROM pg_catalog.unnest('{");
    for (size_t i = 0; i < tables->count; i++)
        add_oid(&sql, tables->oids[i], i == 0);
    return end_sql(arena, &sql, "}'::pg_catalog.oid[]) AS t(o)");
}

/* Empty: nothing of it sets off actions of foreign keys. The third column says whether the tag's rows are
 * contained, because they lead back. */
static struct text reached_counters_sql(struct arena *arena, const struct shape *shape)
{
    struct buffer sql;
    bool first = true;
    begin_sql(&sql);
    buffer_append_string(
        &sql,
        "WITH RECURSIVE links(parent, child, carried) AS (SELECT k.confrelid, k.conrelid, true FROM "
        "pg_catalog.pg_constraint k WHERE k.contype OPERATOR(pg_catalog.=) 'f' AND (" ACTS("k.confdeltype") " OR "
        ACTS("k.confupdtype") ") UNION ALL SELECT i.inhparent, i.inhrelid, false FROM pg_catalog.pg_inherits i), "
        "reached(o, carried) AS (SELECT pg_catalog.unnest('{");
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        if (action->relation == NULL || (action->verb != VERB_UPDATE && action->verb != VERB_DELETE))
            continue;
        add_oid(&sql, action->relation->oid, first);
        first = false;
    }
    struct text text = end_sql(
        arena, &sql,
        "}'::pg_catalog.oid[]), false UNION SELECT l.child, r.carried OR l.carried FROM reached r JOIN links l ON "
        "l.parent OPERATOR(pg_catalog.=) r.o), "
        "tables(o, carried, own) AS (SELECT r.o, pg_catalog.bool_or(r.carried), pg_catalog.bool_or(NOT r.carried) "
        "FROM reached r GROUP BY r.o), "
        "back(leads) AS (SELECT pg_catalog.bool_or(b.carried AND b.own) FROM tables b) "
        "SELECT " COUNTS ", pg_catalog.bool_or(back.leads) FROM tables t, back WHERE t.carried OR back.leads");
    return first ? (struct text){0} : text;
}

static int64_t effect_of_run(struct session *s)
{
    const struct effect *effect = measuring_effect(s);
    return effect->bound != EFFECT_UNKNOWN ? effect_rows(effect, true) : EFFECT_UNCOUNTED;
}

void counters_begin(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct counted_tables *tables = &gate->portal->decision->counted;
    gate->counters = (struct counters){.with_targets = tables->with_targets};
    if (gate->portal->judged->objects_changed)
        gate->counters.sql = reached_counters_sql(&gate->arena, gate_shape(gate));
    else if (tables->count > 0)
        gate->counters.sql = counters_sql(&gate->arena, tables);
    gate->counts_effect = gate->empty || gate->portal->decision->effect_max != LIMIT_NONE;
    if (gate->counts_effect)
        measuring_begin(s, gate->portal->judged->print, gate->measuring.rows.secret, MEASURED_COUNTS);
}

void counters_send(struct session *s, bool behind)
{
    const struct gate *gate = &s->gate;
    if (gate->counters.sql.size > 0)
        send_injected(s, PURPOSE_COUNTERS, gate->counters.sql);
    if (gate->counts_effect && behind)
        measuring_send_deferred(s, true);
    else if (gate->counts_effect)
        measuring_send_snapshot(s);
}

void counters_row(struct session *s, struct text body)
{
    struct counters *counters = &s->gate.counters;
    struct text total = TEXT(""), files = TEXT(""), back = TEXT("");
    if (counters->count == ARRAY_SIZE(counters->taken))
        return;
    struct counters_taken *taken = &counters->taken[counters->count++];
    taken->known = data_row_column(body, 0, &total) && text_to_int64(total, &taken->total);
    (void)!data_row_column(body, 1, &files);
    taken->files = arena_text(&s->gate.arena, files);
    if (data_row_column(body, 2, &back))
        counters->with_targets = text_is(back, "t");
}

/* Of the statement whose tag counts `tag_rows`; INT64_MAX: not known. */
static int64_t counted_rows(const struct counters *counters, int64_t tag_rows)
{
    const struct counters_taken *before = &counters->taken[0], *after = &counters->taken[1];
    if (tag_rows < 0)
        return INT64_MAX;
    if (counters->sql.size == 0)
        return tag_rows;
    if (counters->count != ARRAY_SIZE(counters->taken) || !before->known || !after->known ||
        !text_equal(before->files, after->files) || after->total < before->total)
        return INT64_MAX;
    int64_t rows = after->total - before->total;
    if (!counters->with_targets)
        return tag_rows + rows;
    return rows >= tag_rows ? rows : INT64_MAX;
}

/* --- errors ------------------------------------------------------------------------------------- */

static struct error_text too_many_taken(struct session *s, int64_t rows, int64_t most)
{
    return (struct error_text){
        .sqlstate = "54000",
        .message = arena_printf(&s->gate.arena,
                                "pgwicket: the statement would take %lld rows of a select limited to "
                                "%lld; rolled back, nothing was changed",
                                (long long)rows, (long long)most),
        .hint = TEXT("Narrow the select, or work in ranges of a key.")};
}

static struct error_text reply_too_large(void)
{
    return (struct error_text){
        .sqlstate = "54000",
        .message = TEXT("pgwicket: the rows of RETURNING are larger than 8 MiB; rolled back, nothing was "
                        "changed"),
        .hint = TEXT("Return fewer columns, or work in smaller steps.")};
}

static struct error_text rows_unknown(void)
{
    return (struct error_text){
        .sqlstate = "54000",
        .message = TEXT("pgwicket: the rows that foreign keys change with this statement could not be "
                        "counted; rolled back, nothing was changed"),
        .hint = TEXT("Send it once more. If that does not help, report that the server does not count them "
                     "(track_counts), or that a trigger empties a table.")};
}

/* --- the look ----------------------------------------------------------------------------------- */

/* For the record of its outcome, written at ReadyForQuery. */
static void gate_note(struct session *s, struct command_tag tag)
{
    const struct portal *portal = s->gate.portal;
    const struct execution execution = {.judged = portal->judged,
                                        .statement_number = portal->statement_number,
                                        .started_us = s->gate.started_us};
    outcome_add(s, &execution, tag.tag, tag.rows);
}

void gate_statement_ran(struct session *s, struct command_tag tag)
{
    struct judged *judged = s->gate.portal->judged;
    gate_note(s, tag);
    transaction_completed(s, judged_single(judged), judged->print, tag.tag);
}

static void accept_run(struct session *s, struct command_tag tag)
{
    gate_statement_ran(s, tag);
    gate_give_reply(s);
}

static void release_savepoint(struct session *s)
{
    s->gate.accepted = true;
    send_injected(s, PURPOSE_NONE, arena_printf(&s->gate.arena, "RELEASE SAVEPOINT %s", s->prefix));
    send_flush(s);
}

/* A hold rule is next: back to where it was before, without the client noticing; which it would, were
 * there other work in the batch. */
static void undo_run(struct session *s)
{
    struct gate *gate = &s->gate;
    bool alone = s->batch_executes <= 1 && s->batch_binds <= 1 && !gate->followed;
    if (!alone && gate->transaction == 'I') {
        struct error_text error = gate_not_alone();
        gate_fail_with(s, &error);
        gate_show_error(s);
        return;
    }
    gate_become(s, GATE_RUN_UNDO);
    if (gate->savepoint) {
        send_injected(s, PURPOSE_NONE,
                      arena_printf(&gate->arena, "ROLLBACK TO SAVEPOINT %s", s->prefix));
        send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "RELEASE SAVEPOINT %s", s->prefix));
    } else {
        send_poison(s, TEXT(""));
    }
    send_sync(s, ROLE_INJECTED);
}

/* By its real number of rows the statement is allowed, held or rejected. */
static void look(struct session *s, struct command_tag tag)
{
    struct gate *gate = &s->gate;
    struct numbers numbers = gate->portal->numbers;
    numbers.has_rows = true;
    numbers.rows_real = true;
    numbers.rows = counted_rows(&gate->counters, tag.rows);
    measure_estimate(s, gate->portal->estimate_rows, tag.rows);
    if (gate->counts_effect) {
        gate->measuring.tag_rows = tag.rows;
        numbers.has_effect = true;
        numbers.effect = effect_of_run(s);
    }
    bool as_rehearsed = gate->empty && tag.rows == 0 && numbers.effect == 0;
    const struct decision *decision = gate_decide(s, &numbers);
    if (decision->verdict == VERDICT_HOLD && !gate->over && !as_rehearsed) {
        gate->portal->numbers = numbers; /* should the rehearsal tell none */
        undo_run(s);
        return;
    }
    int64_t taken_max = decision_counted_max(decision, gate_shape(gate));
    bool too_many = taken_max != LIMIT_NONE && (tag.rows < 0 || tag.rows > taken_max);
    if ((decision->verdict == VERDICT_ALLOW || as_rehearsed) && !gate->over && !too_many) {
        if (gate->savepoint)
            release_savepoint(s);
        else
            accept_run(s, tag);
        return;
    }
    bool unknown = gate->counters.sql.size > 0 && numbers.rows == INT64_MAX;
    struct error_text error =
        gate->over                             ? reply_too_large()
        : decision->verdict == VERDICT_ALLOW ? too_many_taken(s, tag.rows, taken_max)
        : unknown                              ? rows_unknown()
                                               : gate_rejection(s, &numbers);
    gate_fail_with(s, &error);
    gate_note(s, tag);
    gate_show_error(s);
}

void gate_completed(struct session *s, struct text tag_body)
{
    struct gate *gate = &s->gate;
    struct command_tag tag;
    if (!decode_command_complete(tag_body, &tag))
        session_end(s, SESSION_END_INTERNAL);
    else if (gate->state != GATE_RUN)
        return; /* a hold's run is looked at when its transaction id is there */
    else {
        gate->run_tag = arena_text(&gate->arena, tag_body);
        if (gate->counters.sql.size == 0 && !gate->counts_effect)
            look(s, tag); /* else the counters come next */
    }
}

/* It fired what was deferred, in order to count that. Outside of a transaction COMMIT would have failed by the same;
 * inside of one what is missing might have come. */
void gate_explain_deferred(struct session *s)
{
    struct gate *gate = &s->gate;
    struct error_fields fields;
    bool behind = gate->counts_effect && gate->run_tag.size > 0 && hold_is_inside(gate);
    if (!behind || !decode_error(buffer_text(&gate->error), &fields) || !text_starts_with(fields.sqlstate, "23"))
        return;
    struct error_text error = {
        .message = TEXT("pgwicket: a deferred check of this transaction is not met yet, so the rows that this write "
                        "changes in all tables cannot be counted; nothing was changed by it"),
        .detail = arena_text(&gate->arena, fields.message),
        .hint = TEXT("Write what the check asks for first, the referred row before the referring one.")};
    memcpy(error.sqlstate, fields.sqlstate.bytes, 5);
    gate_fail_with(s, &error);
}

void gate_run_answered(struct session *s)
{
    struct command_tag tag;
    struct text body = s->gate.run_tag;
    if (body.size == 0 || !decode_command_complete(body, &tag))
        return;
    if (s->gate.accepted)
        accept_run(s, tag);
    else
        look(s, tag);
}

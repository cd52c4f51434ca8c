/*
 * gate_measure.c - a statement in the gate being measured: what is sent around it, what its answers tell.
 *
 * What cannot be read, or does not come, leaves the effect unknown, which is equal to nothing.
 */
#include "proxy/session/internal.h"

#include <string.h>

struct text gate_held_text(const struct judged *judged)
{
    const struct analysis *analysis = &judged->judgement.analysis;
    bool resolved = analysis->statement_count == 1 && analysis->statements[0].resolved.size > 0;
    return resolved ? analysis->statements[0].resolved : analysis->print;
}

void measuring_begin(struct session *s, struct text sql, const uint8_t secret[16],
                     enum measured_part part)
{
    struct gate *gate = &s->gate;
    uint8_t kept[16];
    memcpy(kept, secret, sizeof kept);
    measured_rows_release(&gate->measuring.rows);
    gate->measuring = (struct measuring){.tag_rows = -1,
                                         .started_us = s->port.monotonic_us(s->port.context)};
    measured_rows_begin(&gate->measuring.rows, kept);
    measure_plan(&gate->arena, gate_shape(gate), gate->portal->judged->view.catalog, sql, part,
                 &gate->measuring.plan);
    measured_rows_named_by(&gate->measuring.rows, gate->measuring.plan.key, gate->measuring.plan.key_count);
}

const struct effect *measuring_effect(struct session *s)
{
    struct gate *gate = &s->gate;
    struct measuring *measuring = &gate->measuring;
    const struct measurement measurement = {
        .before = measuring->snapshots[0],
        .after = measuring->snapshots[1],
        .objects = {measuring->objects[0], measuring->objects[1], measuring->losses},
        .tag_rows = measuring->tag_rows,
        .rows = &measuring->rows,
        .notices = measuring->notices,
        .notice_count = measuring->notice_count,
        .only_numbers = gate->counts_effect,
        .duration_us = s->port.monotonic_us(s->port.context) - measuring->started_us};
    struct effect *effect = arena_allocate(&gate->arena, sizeof *effect);
    measure_effect(&gate->arena, gate_shape(gate), gate->portal->judged->view.catalog,
                   &measuring->plan, &measurement, effect);
    return effect;
}

/* --- sending ---------------------------------------------------------------------------------------- */

void measuring_send_snapshot(struct session *s)
{
    const struct gate *gate = &s->gate;
    if (gate_shape(gate)->ddl != DDL_NONE)
        send_injected(s, PURPOSE_OBJECTS, measure_objects_sql(&s->gate.arena));
    send_injected(s, PURPOSE_SNAPSHOT, text_from(measure_snapshot_sql));
}

/* In the client's transaction their mode stays as it was, and what fired is undone and fires again at its
 * COMMIT. */
void measuring_send_deferred(struct session *s, bool measured)
{
    static const char immediate[] = "SET CONSTRAINTS ALL IMMEDIATE";
    struct gate *gate = &s->gate;
    bool inside = hold_is_inside(gate);
    if (inside && !measured)
        return;
    if (inside)
        send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "SAVEPOINT %s", s->prefix));
    send_injected(s, PURPOSE_NONE, text_from(immediate));
    if (measured)
        measuring_send_snapshot(s);
    if (!inside)
        return;
    send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "ROLLBACK TO SAVEPOINT %s", s->prefix));
    send_injected(s, PURPOSE_NONE, arena_printf(&gate->arena, "RELEASE SAVEPOINT %s", s->prefix));
}

void measuring_send_losses(struct session *s, const struct effect *taken)
{
    struct gate *gate = &s->gate;
    if (gate_shape(gate)->ddl == DDL_NONE || taken == NULL)
        return;
    struct text lock = measure_losses_lock_sql(&gate->arena, taken);
    struct text count = measure_losses_sql(&gate->arena, taken);
    if (lock.size > 0)
        send_injected(s, PURPOSE_NONE, lock);
    if (count.size > 0)
        send_injected(s, PURPOSE_LOSSES, count);
}

/* A type that is not known cannot be declared, and the server does not find out what nothing uses. */
static bool types_are_known(const struct judged *judged, struct text values)
{
    struct text types = judged->type_bytes;
    for (size_t i = 0; i + 4 <= types.size; i += 4)
        if (memcmp(types.bytes + i, "\0\0\0\0", 4) == 0)
            return false;
    struct cursor cursor = cursor_over(values.bytes, values.size);
    uint16_t format_count = cursor_u16(&cursor);
    cursor_bytes(&cursor, (size_t)format_count * 2);
    return values.size == 0 || cursor_u16(&cursor) == judged->type_count;
}

/* The rows' versions that are compared are then those that are overwritten (gate.md 4.2). */
void measuring_send_lock(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct judged *judged = gate->portal->judged;
    struct text rows = gate->measuring.plan.select_rows;
    struct text values = gate_values(gate->portal);
    if (rows.size == 0 || !types_are_known(judged, values))
        return;
    struct buffer bind;
    buffer_init(&bind, LIMIT_BIND_BYTES + LIMIT_SMALL_MESSAGE_BYTES);
    if (values.size > 0) {
        buffer_append_text(&bind, values);
        buffer_append_u16(&bind, 0); /* all results as text */
    }
    send_injected_bound(s, PURPOSE_NONE,
                        arena_printf(&gate->arena,
                                     "SELECT pg_catalog.count(*) FROM (%.*s) AS pgwicket_rows",
                                     TEXT_ARGS(rows)),
                        judged->type_bytes, judged->type_count, buffer_text(&bind));
    buffer_release(&bind);
}

/* Bind's part behind the names: a client that gives a format for each column gives none for ours. */
struct text measuring_bind(struct session *s)
{
    struct gate *gate = &s->gate;
    struct text whole = buffer_text(&gate->portal->bind);
    struct text formats = gate_result_formats(gate->portal);
    struct cursor cursor = cursor_over(formats.bytes, formats.size);
    uint16_t count = cursor_u16(&cursor);
    uint16_t appended = gate->measuring.plan.appended;
    if (appended == 0 || count < 2)
        return whole;
    struct buffer bind;
    buffer_init(&bind, LIMIT_BIND_BYTES + LIMIT_SMALL_MESSAGE_BYTES);
    buffer_append_text(&bind, gate_values(gate->portal));
    buffer_append_u16(&bind, (uint16_t)(count + appended));
    buffer_append_text(&bind, text_behind(formats, 2));
    for (uint16_t i = 0; i < appended; i++)
        buffer_append_u16(&bind, 0);
    struct text text = arena_text(&gate->arena, buffer_text(&bind));
    buffer_release(&bind);
    return text;
}

/* --- answers ----------------------------------------------------------------------------------------- */

void measuring_snapshot(struct session *s, struct text body)
{
    struct measuring *measuring = &s->gate.measuring;
    struct text value;
    if (measuring->snapshot_count < ARRAY_SIZE(measuring->snapshots) &&
        data_row_column(body, 0, &value))
        measuring->snapshots[measuring->snapshot_count++] = arena_text(&s->gate.arena, value);
}

void measuring_objects(struct session *s, struct text body)
{
    struct measuring *measuring = &s->gate.measuring;
    struct text value;
    if (measuring->object_count < ARRAY_SIZE(measuring->objects) && data_row_column(body, 0, &value))
        measuring->objects[measuring->object_count++] = arena_text(&s->gate.arena, value);
}

void measuring_losses(struct session *s, struct text body)
{
    struct text value;
    if (data_row_column(body, 0, &value))
        s->gate.measuring.losses = arena_text(&s->gate.arena, value);
}

/* The last columns of a row are ours. */
void measuring_row(struct session *s, struct text body)
{
    struct measuring *measuring = &s->gate.measuring;
    uint16_t count = row_column_count(body);
    uint16_t appended = measuring->plan.appended;
    struct text fingerprint = TEXT(""), image = TEXT("");
    if (appended == 0)
        return;
    if (count >= appended) {
        (void)!data_row_column(body, (uint16_t)(count - appended), &fingerprint);
        if (appended > 1)
            (void)!data_row_column(body, (uint16_t)(count - 1), &image);
    }
    measured_rows_add(&measuring->rows, fingerprint, image);
}

void measuring_notice(struct session *s, struct text body)
{
    struct measuring *measuring = &s->gate.measuring;
    struct error_fields fields;
    if (measuring->notice_count >= LIMIT_REHEARSAL_NOTICES || !decode_error(body, &fields))
        return;
    measuring->notices[measuring->notice_count++] =
        arena_text(&s->gate.arena, text_cut(fields.message, SAMPLE_VALUE_BYTES));
}

void measuring_completed(struct session *s, struct text tag_body)
{
    struct command_tag tag;
    if (decode_command_complete(tag_body, &tag))
        s->gate.measuring.tag_rows = tag.rows;
}

/* What is left of a RowDescription or DataRow of a measured statement for the client; empty: nothing. */
struct text measuring_own_part(struct session *s, uint8_t type, struct text body)
{
    uint16_t count = row_column_count(body);
    uint16_t appended = s->gate.measuring.plan.appended;
    struct text front;
    uint16_t kept = count > appended ? (uint16_t)(count - appended) : 0;
    buffer_clear(&s->client_out);
    if (kept > 0 && row_front(type, body, kept, &front))
        build_row_front(&s->client_out, type, kept, front);
    return buffer_text(&s->client_out);
}

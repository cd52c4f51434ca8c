/*
 * pins.c - after user code has run, the settings that judging depends on are read back (spec 3.4).
 *
 * They are read before the code as well; a difference ends the session: nothing can be judged any more.
 */
#include "proxy/session/internal.h"

#include <stdlib.h>
#include <string.h>

static void append_setting(struct buffer *sql, struct text name)
{
    buffer_append_string(sql, ", pg_catalog.current_setting('");
    for (size_t i = 0; i < name.size; i++) {
        if (name.bytes[i] == '\'')
            buffer_append_byte(sql, '\'');
        buffer_append_byte(sql, (uint8_t)name.bytes[i]);
    }
    buffer_append_string(sql, "', true)");
}

struct text pins_sql(struct arena *arena, const struct policy *policy)
{
    static const char *const always[] = {"role",
                                         "session_authorization",
                                         "search_path",
                                         "standard_conforming_strings",
                                         "client_encoding",
                                         "row_security",
                                         "session_replication_role"};
    struct buffer sql;
    buffer_init(&sql, LIMIT_STATEMENT_BYTES);
    buffer_append_string(&sql, "SELECT pg_catalog.concat_ws('|', 'pins'");
    for (size_t i = 0; i < ARRAY_SIZE(always); i++)
        append_setting(&sql, text_from(always[i]));
    for (size_t i = 0; i < policy->setting_count; i++)
        if (policy->settings[i].pinned)
            append_setting(&sql, policy->settings[i].name);
    buffer_append_string(&sql, "), (SELECT pg_catalog.string_agg(c.relname::pg_catalog.text, E'\\n') "
                               "FROM pg_catalog.pg_class c WHERE c.relnamespace OPERATOR(pg_catalog.=) "
                               "pg_catalog.pg_my_temp_schema())");
    struct text text = arena_text(arena, buffer_text(&sql));
    buffer_release(&sql);
    return text;
}

/* Sends the question in a way that leaves the client's batch as it is, and waits for the answer. */
static enum step ask(struct session *s)
{
    struct session_view view;
    s->port.view(s->port.context, &view);
    if (view.policy != NULL) {
        struct arena arena;
        arena_init(&arena);
        bool batch = s->batch_open;
        send_injected(s, PURPOSE_PINS, pins_sql(&arena, view.policy));
        if (batch)
            send_flush(s);
        else
            send_sync(s, ROLE_INJECTED);
        arena_release(&arena);
    }
    s->port.release_view(s->port.context, view.reference);
    return session_drain(s);
}

enum step pins_before_code(struct session *s, const struct judged *judged)
{
    if (s->pins != NULL || s->status == 'E' || judged->view.policy->transparent)
        return STEP_DONE;
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    return ask(s);
}

enum step pins_after_code(struct session *s)
{
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    if (s->skipping || s->status == 'E')
        return STEP_DONE; /* nothing but an end of the transaction succeeds; asked after it */
    return ask(s);
}

static bool is_known(const struct session *s, struct text name)
{
    for (size_t i = 0; i < s->temporary_count; i++)
        if (text_equal(s->temporary[i], name))
            return true;
    return false;
}

/* What code has made in pg_temp is a candidate for every such name from now on, whatever becomes of it. */
static void note_temporary(struct session *s, struct text names)
{
    while (names.size > 0 && s->temporary_count <= LIMIT_TEMPORARY_RELATIONS) {
        const char *end = memchr(names.bytes, '\n', names.size);
        struct text name = {names.bytes, end != NULL ? (size_t)(end - names.bytes) : names.size};
        names.bytes += name.size + (end != NULL);
        names.size -= name.size + (end != NULL);
        if (is_known(s, name))
            continue;
        struct text *place = arena_push(&s->setup_arena, (void **)&s->temporary, &s->temporary_count,
                                        &s->temporary_capacity, sizeof *place);
        *place = arena_text(&s->setup_arena, name);
    }
    if (s->temporary_count > LIMIT_TEMPORARY_RELATIONS)
        session_fatal(s, "54000",
                      TEXT("pgwicket: functions have left too many temporary tables; the session ends"),
                      SESSION_END_ADMIN);
}

void pins_row(struct session *s, struct text body)
{
    struct text value, temporary;
    if (!data_row_column(body, 0, &value)) {
        session_end(s, SESSION_END_INTERNAL);
        return;
    }
    if (data_row_column(body, 1, &temporary))
        note_temporary(s, temporary);
    if (s->state == SESSION_CLOSED)
        return;
    if (s->pins == NULL) {
        s->pins = strndup(value.bytes, value.size);
        return;
    }
    s->check_pins = false;
    if (!text_is(value, s->pins))
        session_fatal(s, "42501",
                      TEXT("pgwicket: a function changed a setting that is pinned; the session ends"),
                      SESSION_END_ADMIN);
}

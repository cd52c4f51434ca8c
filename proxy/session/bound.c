/*
 * bound.c - the settings that a hold is bound to: those that decide what text means or how values are written, and
 * every other one that the client has set, which triggers and policies may read. Labels and time-outs are not among
 * them.
 *
 * A setting that was set once is asked for from then on, whatever it has become since.
 */
#include "proxy/session/internal.h"

#include "parser/builtins.h"

#include <stdlib.h>
#include <string.h>

static const char *const always[] = {
    "role",     "search_path",  "DateStyle", "IntervalStyle",
    "TimeZone", "bytea_output", "xmlbinary", "extra_float_digits",
};

static bool is_followed(struct text lower_case_name)
{
    for (size_t i = 0; i < ARRAY_SIZE(always); i++)
        if (text_is_ignoring_case(lower_case_name, always[i]))
            return false; /* it is anyway */
    return builtin_setting(lower_case_name).class == SETTING_NEVER &&
           !text_is(lower_case_name, "session_authorization");
}

/* --- what the client has set ---------------------------------------------------------------------- */

void bound_note(struct session *s, struct text name)
{
    struct bound_settings *bound = &s->bound;
    if (!is_followed(name))
        return;
    for (size_t i = 0; i < bound->count; i++)
        if (text_is(name, bound->names[i]))
            return;
    if (bound->count == LIMIT_SETTINGS_FOLLOWED)
        bound->lost = true;
    else
        bound->names[bound->count++] = strndup(name.bytes, name.size);
}

/* What ALTER ROLE stores is for later sessions. */
void bound_follow(struct session *s, const struct shape *shape)
{
    for (size_t i = 0; i < shape->setting_count && shape->kind != STATEMENT_UTILITY; i++)
        if (shape->settings[i].act == SETTING_SET || shape->settings[i].act == SETTING_SET_LOCAL)
            bound_note(s, shape->settings[i].name);
}

void bound_forget(struct bound_settings *bound)
{
    while (bound->count > 0)
        free(bound->names[--bound->count]);
}

/* --- asking ------------------------------------------------------------------------------------------- */

static void add_name(struct gate *gate, struct text name)
{
    for (size_t i = 0; i < gate->bound_count; i++)
        if (text_equal(gate->bound[i].name, name))
            return;
    gate->bound[gate->bound_count++].name = name;
}

void bound_ask(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct hold *stored = gate->portal->judged->stored;
    size_t stored_count = stored != NULL ? stored->setting_count : 0;
    gate->bound = arena_array(&gate->arena, ARRAY_SIZE(always) + stored_count + s->bound.count, sizeof *gate->bound);
    gate->bound_count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(always); i++)
        add_name(gate, text_from(always[i]));
    for (size_t i = 0; i < stored_count; i++)
        add_name(gate, stored->settings[i].name);
    for (size_t i = 0; i < s->bound.count; i++)
        add_name(gate, arena_text(&gate->arena, text_from(s->bound.names[i])));
    struct buffer sql;
    buffer_init(&sql, LIMIT_STATEMENT_BYTES);
    for (size_t i = 0; i < gate->bound_count; i++) {
        buffer_append_string(&sql, i == 0 ? "SELECT " : ", ");
        append_current_setting(&sql, gate->bound[i].name);
    }
    gate->bound_read = false;
    send_injected(s, PURPOSE_SETTINGS, buffer_text(&sql));
    buffer_release(&sql);
}

void bound_row(struct session *s, struct text body)
{
    struct gate *gate = &s->gate;
    gate->bound_read = true;
    for (size_t i = 0; i < gate->bound_count; i++) {
        struct text value = {0};
        (void)!data_row_column(body, (uint16_t)i, &value); /* NULL: was never set */
        gate->bound[i].value = arena_text(&gate->arena, value);
    }
}

/* --- using ---------------------------------------------------------------------------------------------- */

bool bound_describe(struct session *s, struct arena *arena, struct hold *hold)
{
    const struct gate *gate = &s->gate;
    struct hold_setting *settings = arena_array(arena, gate->bound_count, sizeof *settings);
    size_t bytes = 0;
    for (size_t i = 0; i < gate->bound_count; i++) {
        settings[i] = (struct hold_setting){arena_text(arena, gate->bound[i].name),
                                            arena_text(arena, gate->bound[i].value)};
        bytes += gate->bound[i].name.size + gate->bound[i].value.size;
    }
    hold->settings = settings;
    hold->setting_count = gate->bound_count;
    return bytes <= LIMIT_SMALL_MESSAGE_BYTES && !s->bound.lost;
}

static const struct hold_setting *find_setting(const struct hold *hold, struct text name)
{
    for (size_t i = 0; i < hold->setting_count; i++)
        if (text_equal(hold->settings[i].name, name))
            return &hold->settings[i];
    return NULL;
}

/* A setting that the hold does not have was not set in the session that made it. */
bool bound_differs(const struct gate *gate, const struct hold *hold, struct hold_setting *was)
{
    for (size_t i = 0; i < gate->bound_count; i++) {
        const struct hold_setting *held = find_setting(hold, gate->bound[i].name);
        bool one_of_ours = i < ARRAY_SIZE(always);
        if (held != NULL ? text_equal(held->value, gate->bound[i].value) : one_of_ours)
            continue;
        *was = (struct hold_setting){gate->bound[i].name, held != NULL ? held->value : (struct text){0}};
        return true;
    }
    return false;
}

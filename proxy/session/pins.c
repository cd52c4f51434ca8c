/*
 * pins.c - after user code has run, what judging depends on is read back (spec 3.4): the settings, what there is in
 * pg_temp, and what the client's own names stand for.
 *
 * Settings may be what they were read as since the transaction began, for the client itself may have moved
 * them, and its end may move them back. Anything else ends the session: nothing can be judged any more. A name that
 * code has given to something else is the client's no longer.
 */
#include "proxy/session/internal.h"

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"
#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_TEMPORARY, COLUMN_NAMES, COLUMN_SETTINGS };

/* --- the question ------------------------------------------------------------------------------- */

static const char temporary_sql[] =
    "SELECT (SELECT pg_catalog.string_agg(c.relname::pg_catalog.text, E'\\n') FROM pg_catalog.pg_class c "
    "WHERE c.relnamespace OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema())";

/* What was made by a Parse code cannot have made. */
static const char names_sql[] =
    ", (SELECT pg_catalog.string_agg(pg_catalog.concat(n.kind, "
    "pg_catalog.encode(pg_catalog.convert_to(n.name, 'UTF8'), 'hex'), ' ', "
    "pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(n.statement, 'UTF8')), 'hex')), E'\\n') "
    "FROM (SELECT 's' AS kind, p.name, p.statement FROM pg_catalog.pg_prepared_statements p WHERE p.from_sql "
    "UNION ALL SELECT 'p', c.name, c.statement FROM pg_catalog.pg_cursors c) n)";

void append_current_setting(struct buffer *sql, struct text name)
{
    buffer_append_string(sql, "pg_catalog.current_setting('");
    for (size_t i = 0; i < name.size; i++) {
        if (name.bytes[i] == '\'')
            buffer_append_byte(sql, '\'');
        buffer_append_byte(sql, (uint8_t)name.bytes[i]);
    }
    buffer_append_string(sql, "', true)");
}

static void append_setting(struct buffer *sql, struct text name)
{
    buffer_append_string(sql, ", ");
    append_current_setting(sql, name);
}

static const char *const always[] = {"role",
                                     "session_authorization",
                                     "search_path",
                                     "standard_conforming_strings",
                                     "client_encoding",
                                     "row_security",
                                     "session_replication_role"};

struct text pins_sql(struct arena *arena, const struct policy *policy, bool with_names)
{
    struct buffer sql;
    buffer_init(&sql, LIMIT_STATEMENT_BYTES);
    buffer_append_string(&sql, temporary_sql);
    buffer_append_string(&sql, with_names ? names_sql : ", NULL");
    for (size_t i = 0; i < ARRAY_SIZE(always); i++)
        append_setting(&sql, text_from(always[i]));
    for (size_t i = 0; i < policy->setting_count; i++)
        if (policy->settings[i].pinned)
            append_setting(&sql, policy->settings[i].name);
    struct text text = arena_text(arena, buffer_text(&sql));
    buffer_release(&sql);
    return text;
}

static void cut_rows(struct pins *pins);

/* A reload may have pinned other settings: of those before nothing was read. */
static void follow_policy(struct pins *pins, const struct policy *policy)
{
    struct buffer names;
    buffer_init(&names, LIMIT_STATEMENT_BYTES);
    for (size_t i = 0; i < policy->setting_count; i++)
        if (policy->settings[i].pinned) {
            buffer_append_text(&names, policy->settings[i].name);
            buffer_append_byte(&names, '\n');
        }
    if (pins->pinned != NULL && !text_is(buffer_text(&names), pins->pinned))
        cut_rows(pins);
    free(pins->pinned);
    pins->pinned = strdup(buffer_string(&names));
    buffer_release(&names);
}

/* Sends the question in a way that leaves the client's batch as it is, and waits for the answer. */
static enum step ask(struct session *s, const struct policy *policy)
{
    struct arena arena;
    arena_init(&arena);
    bool batch = s->batch_open;
    bool has_names = names_count(s->statements) > 0 || names_count(s->portals) > 0;
    follow_policy(&s->pins, policy);
    s->pins.answered = false;
    s->pins.asked_outside = !batch && s->status == 'I';
    send_injected(s, PURPOSE_PINS, pins_sql(&arena, policy, has_names));
    if (batch)
        send_flush(s);
    else
        send_sync(s, ROLE_INJECTED);
    arena_release(&arena);
    return session_drain(s);
}

static enum step ask_by_view(struct session *s)
{
    struct session_view view;
    s->port.view(s->port.context, &view);
    enum step step = view.policy != NULL ? ask(s, view.policy) : STEP_DONE;
    s->port.release_view(s->port.context, view.reference);
    return step;
}

/* --- when it is asked --------------------------------------------------------------------------- */

static bool may_move(const struct policy *policy)
{
    return policy_may_change_role(policy) || !policy->search_path_pinned;
}

enum step pins_before_transaction(struct session *s)
{
    struct session_view view;
    enum step step = STEP_DONE;
    if (s->pins.known || s->status != 'I' || s->batch_open)
        return STEP_DONE;
    s->port.view(s->port.context, &view);
    if (view.policy != NULL && !view.policy->transparent && may_move(view.policy)) {
        step = session_drain(s);
        if (step == STEP_DONE)
            step = ask(s, view.policy);
    }
    s->port.release_view(s->port.context, view.reference);
    return step;
}

enum step pins_before_code(struct session *s, const struct judged *judged)
{
    if (s->pins.known || s->status == 'E' || judged->view.policy->transparent)
        return STEP_DONE;
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    return ask(s, judged->view.policy);
}

enum step pins_after_code(struct session *s)
{
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    if (s->skipping || s->status == 'E')
        return STEP_DONE; /* nothing but an end of the transaction succeeds; asked after it */
    return ask_by_view(s);
}

/* --- what is known ------------------------------------------------------------------------------ */

static void keep_first(struct pins *pins, size_t count)
{
    while (pins->count > count)
        free(pins->rows[--pins->count].bytes);
}

void pins_forget(struct pins *pins)
{
    keep_first(pins, 0);
    pins->known = false;
}

void pins_code_ran(struct session *s) { s->pins.check = s->pins.count > 0; }

void pins_client_moved(struct session *s, bool for_good)
{
    s->pins.known = false;
    s->pins.moved = true;
    s->pins.moved_for_good = s->pins.moved_for_good || for_good;
}

void pins_went_back(struct session *s)
{
    if (s->pins.moved)
        s->pins.known = false;
}

void pins_transaction_ended(struct session *s, bool code_ran)
{
    struct pins *pins = &s->pins;
    if (code_ran || pins->check) {
        pins->check = pins->count > 0;
        pins->settle = true;
    } else if (pins->moved && pins->from_outside && !pins->moved_for_good) {
        keep_first(pins, 1);
        pins->known = true;
    } else if (pins->moved) {
        pins_forget(pins);
    }
    pins->moved = pins->moved_for_good = false;
}

/* --- settings ----------------------------------------------------------------------------------- */

/* The next value with its length in front, as it came. */
static struct text next_field(struct text *rest)
{
    struct cursor cursor = cursor_over(rest->bytes, rest->size);
    uint32_t length = cursor_u32(&cursor);
    (void)cursor_bytes(&cursor, length == UINT32_MAX ? 0 : length);
    size_t size = cursor.failed ? rest->size : rest->size - cursor_left(&cursor);
    struct text field = text_front(*rest, size);
    *rest = text_behind(*rest, size);
    return field;
}

static struct text settings_of(struct text body)
{
    struct text rest = text_behind(body, sizeof(uint16_t));
    for (int i = 0; i < COLUMN_SETTINGS && rest.size > 0; i++)
        (void)next_field(&rest);
    return rest;
}

static struct text row_at(const struct pins *pins, size_t index)
{
    return (struct text){pins->rows[index].bytes, pins->rows[index].size};
}

/* To what is always read. */
static void cut_rows(struct pins *pins)
{
    for (size_t i = 0; i < pins->count; i++) {
        struct text rest = row_at(pins, i);
        for (size_t j = 0; j < ARRAY_SIZE(always); j++)
            (void)next_field(&rest);
        pins->rows[i].size -= rest.size;
    }
}

/* Has any row this value in this place, or was read before it was asked for? */
static bool was_read(const struct pins *pins, size_t place, struct text value)
{
    for (size_t i = 0; i < pins->count; i++) {
        struct text rest = row_at(pins, i), found = TEXT("");
        for (size_t j = 0; j <= place; j++)
            found = next_field(&rest);
        if (found.size == 0 || text_equal(found, value))
            return true;
    }
    return false;
}

static bool is_accepted(const struct pins *pins, struct text settings)
{
    for (size_t place = 0; settings.size > 0; place++)
        if (!was_read(pins, place, next_field(&settings)))
            return false;
    return true;
}

static void add_row(struct pins *pins, struct text settings)
{
    for (size_t i = 0; i < pins->count; i++)
        if (text_equal(row_at(pins, i), settings))
            return;
    if (pins->count == LIMIT_PIN_ROWS) { /* the first is what the end of the transaction goes back to */
        free(pins->rows[1].bytes);
        memmove(&pins->rows[1], &pins->rows[2], (LIMIT_PIN_ROWS - 2) * sizeof pins->rows[0]);
        pins->count--;
    }
    struct pin_row *row = &pins->rows[pins->count++];
    row->bytes = memory_allocate(settings.size);
    row->size = settings.size;
    memcpy(row->bytes, settings.bytes, settings.size);
}

/* --- names -------------------------------------------------------------------------------------- */

static struct text next_line(struct text *lines)
{
    const char *end = memchr(lines->bytes, '\n', lines->size);
    struct text line = text_front(*lines, end != NULL ? (size_t)(end - lines->bytes) : lines->size);
    *lines = text_behind(*lines, line.size + (end != NULL));
    return line;
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
        struct text name = next_line(&names);
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

static int hex_digit(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

static struct text text_of_hex(struct text hex, char *name)
{
    size_t size = hex.size / 2 < NAME_SIGNIFICANT ? hex.size / 2 : NAME_SIGNIFICANT;
    for (size_t i = 0; i < size; i++)
        name[i] = (char)(hex_digit(hex.bytes[2 * i]) * 16 + hex_digit(hex.bytes[2 * i + 1]));
    return (struct text){name, size};
}

static const struct judged *meant_by(struct names *names, bool statement, struct text name)
{
    void *object = names_find(names, name);
    if (object == NULL)
        return NULL;
    return statement ? object : ((const struct portal *)object)->judged;
}

/* The server's text under a name of the client's must be the one that was judged. */
static void compare_name(struct session *s, struct text line)
{
    char name_bytes[NAME_SIGNIFICANT], hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    bool statement = line.bytes[0] == 's';
    struct names *names = statement ? s->statements : s->portals;
    const char *space = memchr(line.bytes, ' ', line.size);
    if (space == NULL)
        return;
    struct text name = text_of_hex((struct text){line.bytes + 1, (size_t)(space - line.bytes - 1)}, name_bytes);
    const struct judged *judged = meant_by(names, statement, name);
    if (name.size == 0 || judged == NULL)
        return;
    sha256(judged->print.bytes, judged->print.size, digest);
    hex_from_bytes(digest, sizeof digest, hex);
    if (!text_is(text_behind(line, (size_t)(space - line.bytes) + 1), hex))
        names_forget(names, name);
}

static void compare_names(struct session *s, struct text lines)
{
    while (lines.size > 0) {
        struct text line = next_line(&lines);
        if (line.size > 0)
            compare_name(s, line);
    }
}

/* --- the answer --------------------------------------------------------------------------------- */

void pins_row(struct session *s, struct text body)
{
    struct pins *pins = &s->pins;
    struct text settings = settings_of(body), column;
    if (settings.size == 0) {
        session_end(s, SESSION_END_INTERNAL);
        return;
    }
    pins->answered = true;
    if (data_row_column(body, COLUMN_TEMPORARY, &column))
        note_temporary(s, column);
    if (data_row_column(body, COLUMN_NAMES, &column))
        compare_names(s, column);
    if (s->state == SESSION_CLOSED)
        return;
    if (pins->check && !is_accepted(pins, settings)) {
        session_fatal(s, "42501",
                      TEXT("pgwicket: a function changed a setting that is pinned; the session ends"),
                      SESSION_END_ADMIN);
        return;
    }
    if (pins->settle)
        keep_first(pins, 0);
    if (pins->count == 0)
        pins->from_outside = pins->settle || pins->asked_outside;
    pins->check = pins->settle = pins->unread = false;
    add_row(pins, settings);
    pins->known = true;
}

void pins_completed(struct session *s)
{
    if (!s->pins.answered)
        session_fatal(s, "54000",
                      TEXT("pgwicket: functions have left too many names to be checked; the session ends"),
                      SESSION_END_ADMIN);
}

void pins_failed(struct session *s)
{
    session_fatal(s, "58000",
                  TEXT("pgwicket: the database does not tell its role what judging depends on (settings, "
                       "pg_prepared_statements, pg_cursors); the session ends"),
                  SESSION_END_ADMIN);
}

/* measure_state.c - see measure_state.h. */
#include "proxy/session/measure_state.h"

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <inttypes.h>
#include <string.h>

enum { VALUE_BYTES = 200 };

/* [compared, shown] */
static bool is_pair(const char *key)
{
    static const char *const keys[] = {"default", "definition", "bound", "parents"};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static const json_t *compared(const char *key, const json_t *value)
{
    return is_pair(key) && json_is_array(value) ? json_array_get(value, 0) : value;
}

static const json_t *shown(const char *key, const json_t *value)
{
    return is_pair(key) && json_is_array(value) ? json_array_get(value, 1) : value;
}

static bool is_nothing(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

static bool is_same(const char *key, const json_t *old, const json_t *new)
{
    const json_t *a = compared(key, old), *b = compared(key, new);
    return (is_nothing(a) && is_nothing(b)) || json_equal(a, b);
}

static void separate(struct buffer *out)
{
    if (out->size > 0)
        buffer_append_string(out, "; ");
}

static void add_value(struct buffer *out, const json_t *value)
{
    if (json_is_string(value)) {
        struct text whole = {json_string_value(value), json_string_length(value)};
        struct text front = text_cut(whole, VALUE_BYTES);
        buffer_append_text(out, front);
        if (front.size < whole.size)
            buffer_append_string(out, "…");
    } else if (json_is_integer(value)) {
        buffer_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_boolean(value)) {
        buffer_append_string(out, json_is_true(value) ? "yes" : "no");
    } else {
        buffer_append_string(out, "none");
    }
}

/* --- lists
 * ---------------------------------------------------------------------------------------- */

static bool is_in(const json_t *list, const json_t *item)
{
    size_t i;
    const json_t *other;
    json_array_foreach(list, i, other) if (json_equal(other, item)) return true;
    return false;
}

static void add_missing(struct buffer *out, const char *words, const char *link, const json_t *of,
                        const json_t *in)
{
    size_t i;
    const json_t *item;
    json_array_foreach(of, i, item)
    {
        if (is_in(in, item))
            continue;
        separate(out);
        const char *text = json_string_value(item);
        const char *colon = text != NULL ? strstr(text, ": ") : NULL;
        if (colon != NULL) /* "SELECT: bob" */
            buffer_printf(out, "%s %.*s %s %s", words, (int)(colon - text), text, link, colon + 2);
        else
            buffer_printf(out, "%s %s", words, text != NULL ? text : "");
    }
}

/* True if it was one. */
static bool add_list(struct buffer *out, const char *key, const json_t *old, const json_t *new)
{
    if (strcmp(key, "privileges") == 0) {
        add_missing(out, "granted", "to", new, old);
        add_missing(out, "revoked", "from", old, new);
        return true;
    }
    if (strcmp(key, "member of") != 0)
        return false;
    add_missing(out, "now member of", "", new, old);
    add_missing(out, "no longer member of", "", old, new);
    return true;
}

/* --- all
 * ------------------------------------------------------------------------------------------ */

static void add_change(struct buffer *out, const char *key, const json_t *old, const json_t *new)
{
    if (is_same(key, old, new) || add_list(out, key, old, new))
        return;
    const json_t *before = shown(key, old), *after = shown(key, new);
    if (!is_nothing(before) && json_equal(before, after))
        return; /* the same words with other numbers: an index made anew */
    separate(out);
    if (is_nothing(before) && is_nothing(after)) {
        buffer_printf(out, "other %s", key);
        return;
    }
    buffer_printf(out, "%s ", key);
    add_value(out, before);
    buffer_append_string(out, ", now ");
    add_value(out, after);
}

static void describe_new(struct buffer *out, const json_t *state)
{
    static const char *const keys[] = {"type", "default", "definition", "labels", "bound"};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const json_t *value = shown(keys[i], json_object_get(state, keys[i]));
        if (is_nothing(value))
            continue;
        if (out->size > 0)
            buffer_append_string(out, ", ");
        if (strcmp(keys[i], "default") == 0)
            buffer_append_string(out, "default ");
        add_value(out, value);
        if (strcmp(keys[i], "type") == 0 && json_is_true(json_object_get(state, "not null")))
            buffer_append_string(out, ", not null");
    }
}

/* A new owner has other rights than the old one by itself. */
static bool follows_from_owner(const char *key, const json_t *old, const json_t *new)
{
    return strcmp(key, "privileges") == 0 &&
           !json_equal(json_object_get(old, "owner"), json_object_get(new, "owner"));
}

static void add_changes(struct buffer *out, const json_t *old, const json_t *new)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t) new, key,
                        value) if (!follows_from_owner(key, old, new))
        add_change(out, key, json_object_get(old, key), value);
}

struct text state_difference(struct arena *arena, const json_t *old, const json_t *new)
{
    struct buffer out;
    if (new == NULL)
        return TEXT("");
    buffer_init(&out, LIMIT_HELD_BYTES);
    const json_t *state = json_array_get(new, 7);
    if (old == NULL) {
        describe_new(&out, state);
    } else {
        add_changes(&out, json_array_get(old, 7), state);
        add_changes(&out, json_array_get(old, 5), json_array_get(new, 5));
    }
    struct text text = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return text;
}

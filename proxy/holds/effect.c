/* effect.c - effects compared and put into words. What is not known is equal to nothing. */
#include "proxy/holds/effect.h"

#include "proxy/base/limits.h"

#include <inttypes.h>

static const struct effect_table *table_of(const struct effect *effect, struct text table)
{
    for (size_t i = 0; i < effect->table_count; i++)
        if (text_equal(effect->tables[i].table, table))
            return &effect->tables[i];
    return NULL;
}

static bool same_counts(const struct effect_table *a, const struct effect_table *b)
{
    static const struct effect_table nothing;
    a = a != NULL ? a : &nothing;
    b = b != NULL ? b : &nothing;
    return a->inserted == b->inserted && a->updated == b->updated && a->deleted == b->deleted;
}

static bool every_table_in(const struct effect *a, const struct effect *b)
{
    for (size_t i = 0; i < a->table_count; i++)
        if (!same_counts(&a->tables[i], table_of(b, a->tables[i].table)))
            return false;
    return true;
}

static bool same_object(const struct effect_object *a, const struct effect_object *b)
{
    return text_equal(a->kind, b->kind) && text_equal(a->name, b->name) &&
           text_equal(a->change, b->change) && text_equal(a->via, b->via) &&
           text_equal(a->parent, b->parent) && text_equal(a->detail, b->detail) &&
           a->rows == b->rows;
}

/* Both are in the order of the server's list, which follows names. */
static bool same_objects(const struct effect *a, const struct effect *b)
{
    if (a->object_count != b->object_count)
        return false;
    for (size_t i = 0; i < a->object_count; i++)
        if (!same_object(&a->objects[i], &b->objects[i]))
            return false;
    return true;
}

static bool has_trigger(const struct effect *effect, struct text trigger)
{
    for (size_t i = 0; i < effect->trigger_count; i++)
        if (text_equal(effect->triggers[i], trigger))
            return true;
    return false;
}

static bool every_trigger_in(const struct effect *a, const struct effect *b)
{
    for (size_t i = 0; i < a->trigger_count; i++)
        if (!has_trigger(b, a->triggers[i]))
            return false;
    return true;
}

bool effect_equal(const struct effect *shown, const struct effect *found)
{
    if (shown->bound == EFFECT_UNKNOWN || found->bound == EFFECT_UNKNOWN ||
        !every_table_in(shown, found) || !every_table_in(found, shown) ||
        !same_objects(shown, found) || !every_trigger_in(shown, found) ||
        !every_trigger_in(found, shown))
        return false;
    if (shown->fingerprint.size == 0)
        return shown->bound == EFFECT_BY_COUNTS;
    return (shown->bound == EFFECT_BY_COUNTS || found->bound == EFFECT_BY_ROWS) &&
           shown->row_count == found->row_count &&
           text_equal(shown->fingerprint, found->fingerprint);
}

int64_t effect_rows(const struct effect *effect, bool with_triggers)
{
    int64_t rows = 0;
    for (size_t i = 0; i < effect->table_count; i++) {
        const struct effect_table *table = &effect->tables[i];
        if (with_triggers || table->via != VIA_TRIGGER)
            rows += table->inserted + table->updated + table->deleted;
    }
    return rows;
}

int64_t effect_rows_lost(const struct effect *effect)
{
    int64_t rows = 0;
    for (size_t i = 0; i < effect->object_count; i++) {
        const struct effect_object *object = &effect->objects[i];
        bool whole_table = text_is(object->kind, "table") || text_is(object->kind, "materialized view");
        bool lost = text_is(object->change, "emptied") || text_is(object->change, "dropped");
        if (whole_table && lost && object->rows > 0)
            rows += object->rows;
    }
    return rows;
}

/* --- words -------------------------------------------------------------------------------------
 */

static void add_count(struct buffer *out, int64_t rows, const char *word, bool *first)
{
    if (rows == 0)
        return;
    buffer_printf(out, "%s%" PRId64 " %s", *first ? " " : ", ", rows, word);
    *first = false;
}

static void add_counts(struct buffer *out, const struct effect_table *table)
{
    bool first = true;
    add_count(out, table->inserted, "inserted", &first);
    add_count(out, table->updated, "updated", &first);
    add_count(out, table->deleted, "deleted", &first);
    if (first)
        buffer_append_string(out, " unchanged");
}

static const char *via_in_words(enum effect_via via)
{
    switch (via) {
    case VIA_CASCADE:
        return " (cascade)";
    case VIA_TRIGGER:
        return " (trigger)";
    case VIA_TARGET:
        break;
    }
    return "";
}

static void separate(struct buffer *out, const char *separator)
{
    if (out->size > 0)
        buffer_append_string(out, separator);
}

static void add_object(struct buffer *out, const struct effect_object *object)
{
    separate(out, ", ");
    buffer_printf(out, "%.*s %.*s %.*s", TEXT_ARGS(object->kind), TEXT_ARGS(object->name),
                  TEXT_ARGS(object->change));
    if (object->rows >= 0)
        buffer_printf(out, " with %" PRId64 " row%s", object->rows, object->rows == 1 ? "" : "s");
    if (text_is(object->via, "cascade"))
        buffer_append_string(out, " (cascade)");
}

static struct text finish(struct arena *arena, struct buffer *out)
{
    struct text text = arena_text(arena, buffer_text(out));
    buffer_release(out);
    return text;
}

struct text effect_in_words(struct arena *arena, const struct effect *effect)
{
    if (effect->bound == EFFECT_UNKNOWN)
        return TEXT("effect unknown");
    struct buffer out;
    buffer_init(&out, LIMIT_HELD_BYTES);
    for (size_t i = 0; i < effect->object_count; i++)
        add_object(&out, &effect->objects[i]);
    for (size_t i = 0; i < effect->table_count; i++) {
        separate(&out, ", ");
        buffer_append_text(&out, effect->tables[i].table);
        add_counts(&out, &effect->tables[i]);
        buffer_append_string(&out, via_in_words(effect->tables[i].via));
    }
    if (out.size == 0)
        buffer_append_string(&out, "no rows");
    return finish(arena, &out);
}

static void differing_table(struct buffer *out, struct text name, const struct effect_table *shown,
                            const struct effect_table *found)
{
    static const struct effect_table nothing;
    if (same_counts(shown, found))
        return;
    separate(out, "; ");
    buffer_append_text(out, name);
    add_counts(out, shown != NULL ? shown : &nothing);
    buffer_append_string(out, ", now");
    add_counts(out, found != NULL ? found : &nothing);
}

static bool has_object(const struct effect *effect, const struct effect_object *object)
{
    for (size_t i = 0; i < effect->object_count; i++)
        if (same_object(&effect->objects[i], object))
            return true;
    return false;
}

static void differing_objects(struct buffer *out, const char *word, const struct effect *in,
                              const struct effect *not_in)
{
    for (size_t i = 0; i < in->object_count; i++) {
        const struct effect_object *object = &in->objects[i];
        if (has_object(not_in, object))
            continue;
        separate(out, "; ");
        buffer_printf(out, "%s: %.*s %.*s %.*s", word, TEXT_ARGS(object->kind),
                      TEXT_ARGS(object->name), TEXT_ARGS(object->change));
        if (object->detail.size > 0)
            buffer_printf(out, ", %.*s", TEXT_ARGS(object->detail));
        if (object->rows >= 0)
            buffer_printf(out, " (%" PRId64 " rows)", object->rows);
    }
}

static void differing_triggers(struct buffer *out, const char *word, const struct effect *in,
                               const struct effect *not_in)
{
    for (size_t i = 0; i < in->trigger_count; i++) {
        if (has_trigger(not_in, in->triggers[i]))
            continue;
        separate(out, "; ");
        buffer_printf(out, "%s: trigger %.*s", word, TEXT_ARGS(in->triggers[i]));
    }
}

/* The fingerprint is of the target's rows and of what cascades reach from them. */
static void differing_rows(struct buffer *out, const struct effect *shown)
{
    bool cascades = false;
    for (size_t i = 0; i < shown->table_count; i++) {
        const struct effect_table *table = &shown->tables[i];
        if (table->via == VIA_TARGET) {
            separate(out, ", ");
            buffer_append_text(out, table->table);
        }
        cascades = cascades || table->via == VIA_CASCADE;
    }
    if (cascades)
        buffer_append_string(out, " with what cascades reach from it");
    separate(out, ": ");
    buffer_append_string(out, "the same numbers, but other rows, or rows with other values");
}

/* --- which rows --------------------------------------------------------------------------------- */

static const struct effect_named *named(const struct effect *effect, struct text key)
{
    for (size_t i = 0; i < effect->named_count; i++)
        if (text_equal(effect->named[i].key, key))
            return &effect->named[i];
    return NULL;
}

static void begin_rows(struct buffer *out, const char *word, const struct effect *effect, bool keys)
{
    bool several = effect->key_count > 1;
    separate(out, "; ");
    buffer_printf(out, "rows %s: ", word);
    for (size_t i = 0; i < effect->key_count && keys; i++)
        buffer_printf(out, "%s%.*s", i > 0 ? ", " : several ? "(" : "", TEXT_ARGS(effect->key[i]));
    if (keys)
        buffer_append_string(out, several ? ") " : " ");
}

/* Rows of `in` that the other does not have; of those in both, where `changed`, the ones that are other. */
static void differing_keys(struct buffer *out, const char *word, const struct effect *in, const struct effect *other,
                           bool changed, bool keys)
{
    enum { SHOWN_MAX = 5 };
    int count = 0;
    for (size_t i = 0; i < in->named_count; i++) {
        const struct effect_named *row = &in->named[i], *same = named(other, row->key);
        bool differs = changed ? same != NULL && !text_equal(same->digest, row->digest) : same == NULL;
        if (!differs)
            continue;
        if (count++ == 0)
            begin_rows(out, word, in, keys);
        if (keys && count <= SHOWN_MAX)
            buffer_printf(out, in->key_count > 1 ? "%s(%.*s)" : "%s%.*s", count > 1 ? ", " : "", TEXT_ARGS(row->key));
    }
    if (count > 0 && !keys)
        buffer_printf(out, "%d", count);
    else if (count > SHOWN_MAX)
        buffer_printf(out, " and %d more", count - SHOWN_MAX);
}

static bool same_key(const struct effect *shown, const struct effect *found)
{
    bool same = shown->key_count == found->key_count;
    for (size_t i = 0; i < shown->key_count && same; i++)
        same = text_equal(shown->key[i], found->key[i]);
    return same;
}

/* Where one side has too many to be known by name, or the table got another key, nothing is told of them: `keys` is
 * meant of the key that was found. */
static void differing_named(struct buffer *out, const struct effect *shown, const struct effect *found, bool keys)
{
    if (!same_key(shown, found) ||
        (shown->named_count == 0 && shown->row_count != 0) ||
        (found->named_count == 0 && found->row_count != 0))
        return;
    differing_keys(out, "added", found, shown, false, keys);
    differing_keys(out, "gone", shown, found, false, keys);
    differing_keys(out, "that are other than before", found, shown, true, keys);
}

struct text effect_difference(struct arena *arena, const struct effect *shown,
                              const struct effect *found, bool keys)
{
    struct buffer out;
    buffer_init(&out, LIMIT_HELD_BYTES);
    if (found->bound == EFFECT_UNKNOWN) {
        buffer_printf(&out, "the effect can no longer be told: %.*s", TEXT_ARGS(found->why));
        return finish(arena, &out);
    }
    for (size_t i = 0; i < shown->table_count; i++)
        differing_table(&out, shown->tables[i].table, &shown->tables[i],
                        table_of(found, shown->tables[i].table));
    for (size_t i = 0; i < found->table_count; i++)
        if (table_of(shown, found->tables[i].table) == NULL)
            differing_table(&out, found->tables[i].table, NULL, &found->tables[i]);
    differing_objects(&out, "no longer", shown, found);
    differing_objects(&out, "now", found, shown);
    differing_triggers(&out, "no longer", shown, found);
    differing_triggers(&out, "now", found, shown);
    if (out.size == 0 && !effect_equal(shown, found))
        differing_rows(&out, shown);
    differing_named(&out, shown, found, keys);
    return finish(arena, &out);
}

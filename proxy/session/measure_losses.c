/*
 * measure_losses.c - the rows that DDL takes, counted before it runs. Which objects those are is
 * known from an effect that was measured before.
 *
 * Names are those that the server itself gave, quoted by it.
 */
#include "proxy/session/measure_objects.h"

#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"

#include <string.h>

static bool is_column(const struct effect_object *object)
{
    return text_is(object->kind, "table column");
}

/* A column's table: what stands in front of the last dot that is not quoted. */
static struct text table_of(const struct effect_object *object)
{
    size_t end = object->name.size;
    bool quoted = false;
    for (size_t i = 0; i < object->name.size; i++) {
        quoted = object->name.bytes[i] == '"' ? !quoted : quoted;
        if (object->name.bytes[i] == '.' && !quoted)
            end = i;
    }
    return is_column(object) ? text_front(object->name, end) : object->name;
}

static bool is_rewritten(const struct effect_object *object)
{
    return text_is(object->change, "rewritten");
}

static bool is_locked(const struct effect_object *object)
{
    return object_loses_rows(object) && !is_rewritten(object) &&
           !text_is(object->kind, "materialized view");
}

static struct text finish(struct arena *arena, struct buffer *out)
{
    struct text text = out->overflow ? TEXT("") : arena_text(arena, buffer_text(out));
    buffer_release(out);
    return text;
}

struct text measure_losses_lock_sql(struct arena *arena, const struct effect *effect)
{
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    for (size_t i = 0; i < effect->object_count; i++) {
        const struct effect_object *object = &effect->objects[i];
        if (!is_locked(object))
            continue;
        buffer_append_string(&out, out.size == 0 ? "LOCK TABLE ONLY " : ", ONLY ");
        buffer_append_text(&out, table_of(object));
    }
    if (out.size > 0)
        buffer_append_string(&out, " IN ACCESS EXCLUSIVE MODE");
    return finish(arena, &out);
}

static void add_literal(struct buffer *out, struct text text)
{
    buffer_append_string(out, "E'");
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] == '\'' || text.bytes[i] == '\\')
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, (uint8_t)text.bytes[i]);
    }
    buffer_append_byte(out, '\'');
}

/* 'shop.orders', json_build_array((SELECT count(*) FROM ONLY shop.orders),
 * pg_total_relation_size(…)) */
static void add_loss(struct buffer *out, const struct effect_object *object)
{
    struct text table = table_of(object);
    add_literal(out, object->name);
    buffer_append_string(out, ", pg_catalog.json_build_array((SELECT pg_catalog.count(");
    if (is_column(object)) {
        struct text column = text_behind(object->name, table.size + 1);
        buffer_append_text(out, column);
    } else {
        buffer_append_byte(out, '*');
    }
    buffer_printf(out, ") FROM ONLY %.*s), ", TEXT_ARGS(table));
    if (is_column(object)) {
        buffer_append_string(out, "NULL)");
        return;
    }
    buffer_append_string(out, "pg_catalog.pg_total_relation_size(");
    add_literal(out, table);
    buffer_append_string(out, "::pg_catalog.regclass))");
}

struct text measure_losses_sql(struct arena *arena, const struct effect *effect)
{
    enum { PAIRS_MAX = 50 }; /* arguments of a function: at most 100 */
    struct buffer out;
    size_t count = 0;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    for (size_t i = 0; i < effect->object_count; i++) {
        if (!object_loses_rows(&effect->objects[i]))
            continue;
        if (count == 0)
            buffer_append_string(&out, "SELECT (pg_catalog.jsonb_build_object(");
        else if (count % PAIRS_MAX == 0)
            buffer_append_string(&out, ") OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object(");
        else
            buffer_append_string(&out, ", ");
        add_loss(&out, &effect->objects[i]);
        count++;
    }
    if (count > 0)
        buffer_append_string(&out, "))::pg_catalog.text");
    return finish(arena, &out);
}

bool measure_losses_known(const struct effect *effect)
{
    for (size_t i = 0; i < effect->object_count; i++)
        if (object_loses_rows(&effect->objects[i]) && effect->objects[i].rows < 0)
            return false;
    return true;
}

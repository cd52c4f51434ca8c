/*
 * pack.c - see pack.h. A count that the rest of the blob cannot hold is refused before anything is
 * allocated for it.
 */
#include "proxy/holds/pack.h"

#include "proxy/base/cursor.h"

static void pack_text(struct buffer *out, struct text text)
{
    buffer_append_u32(out, (uint32_t)text.size);
    buffer_append_text(out, text);
}

void pack_types(struct buffer *out, const struct hold *hold)
{
    buffer_append_u32(out, (uint32_t)hold->type_count);
    for (size_t i = 0; i < hold->type_count; i++)
        buffer_append_u32(out, hold->types[i]);
}

void pack_values(struct buffer *out, const struct hold *hold)
{
    buffer_append_u32(out, (uint32_t)hold->value_count);
    for (size_t i = 0; i < hold->value_count; i++) {
        pack_text(out, hold->values[i].type);
        buffer_append_byte(out, hold->values[i].is_null);
        pack_text(out, hold->values[i].text);
    }
}

void pack_settings(struct buffer *out, const struct hold *hold)
{
    buffer_append_u32(out, (uint32_t)hold->setting_count);
    for (size_t i = 0; i < hold->setting_count; i++) {
        pack_text(out, hold->settings[i].name);
        pack_text(out, hold->settings[i].value);
    }
}

static struct text unpack_text(struct arena *arena, struct cursor *cursor)
{
    uint32_t size = cursor_u32(cursor);
    return arena_text(arena, cursor_bytes(cursor, size));
}

/* The count in front, or 0 with the cursor failed where so many items of `least` bytes do not fit.
 */
static size_t unpack_count(struct cursor *cursor, size_t least)
{
    size_t count = cursor_u32(cursor);
    if (count <= cursor_left(cursor) / least)
        return count;
    cursor->failed = true;
    return 0;
}

bool unpack_types(struct arena *arena, struct text blob, struct hold *hold)
{
    struct cursor cursor = cursor_over(blob.bytes, blob.size);
    size_t count = unpack_count(&cursor, 4);
    uint32_t *types = arena_array(arena, count, sizeof *types);
    for (size_t i = 0; i < count; i++)
        types[i] = cursor_u32(&cursor);
    bool done = cursor_done(&cursor);
    hold->types = types;
    hold->type_count = done ? count : 0;
    return done;
}

bool unpack_values(struct arena *arena, struct text blob, struct hold *hold)
{
    struct cursor cursor = cursor_over(blob.bytes, blob.size);
    size_t count = unpack_count(&cursor, 9);
    struct hold_value *values = arena_array(arena, count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i].type = unpack_text(arena, &cursor);
        uint8_t is_null = cursor_u8(&cursor);
        cursor.failed = cursor.failed || is_null > 1;
        values[i].is_null = is_null == 1;
        values[i].text = unpack_text(arena, &cursor);
    }
    bool done = cursor_done(&cursor);
    hold->values = values;
    hold->value_count = done ? count : 0;
    return done;
}

bool unpack_settings(struct arena *arena, struct text blob, struct hold *hold)
{
    struct cursor cursor = cursor_over(blob.bytes, blob.size);
    size_t count = unpack_count(&cursor, 8);
    struct hold_setting *settings = arena_array(arena, count, sizeof *settings);
    for (size_t i = 0; i < count; i++) {
        settings[i].name = unpack_text(arena, &cursor);
        settings[i].value = unpack_text(arena, &cursor);
    }
    bool done = cursor_done(&cursor);
    hold->settings = settings;
    hold->setting_count = done ? count : 0;
    return done;
}

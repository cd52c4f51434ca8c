/*
 * frontend.c - decodes a client's messages.
 *
 * A body that is not exactly what its type declares makes decode_* false, whatever the server would
 * have made of it.
 */
#include "proxy/wire/frontend.h"

#include "proxy/base/cursor.h"
#include "proxy/base/limits.h"

static const uint32_t null_length = UINT32_MAX;

/* The type byte is not counted by the limits, which are of the length field as PostgreSQL's are. */
size_t frontend_size_max(uint8_t type)
{
    switch (type) {
    case FRONTEND_QUERY:
    case FRONTEND_PARSE:
    case FRONTEND_FUNCTION_CALL:
        return 1 + LIMIT_STATEMENT_MESSAGE_BYTES;
    case FRONTEND_BIND:
        return 1 + LIMIT_BIND_BYTES;
    case FRONTEND_PASSWORD:
        return 1 + LIMIT_AUTH_MESSAGE_BYTES;
    case FRONTEND_COPY_DATA:
        return SIZE_MAX >> 1;
    case FRONTEND_CLOSE:
    case FRONTEND_COPY_DONE:
    case FRONTEND_COPY_FAIL:
    case FRONTEND_DESCRIBE:
    case FRONTEND_EXECUTE:
    case FRONTEND_FLUSH:
    case FRONTEND_SYNC:
    case FRONTEND_TERMINATE:
        return 1 + LIMIT_SMALL_MESSAGE_BYTES;
    default:
        return 0;
    }
}

bool decode_query(struct text body, struct query_message *message)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    message->sql = cursor_string(&cursor);
    return cursor_done(&cursor);
}

bool decode_parse(struct text body, struct parse_message *message)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    message->name = cursor_string(&cursor);
    message->sql = cursor_string(&cursor);
    message->type_count = cursor_u16(&cursor);
    struct text types = cursor_bytes(&cursor, message->type_count * sizeof(uint32_t));
    message->types = (const uint8_t *)types.bytes;
    return cursor_done(&cursor);
}

uint32_t parse_message_type(const struct parse_message *message, uint16_t index)
{
    struct cursor cursor = cursor_over(message->types, message->type_count * sizeof(uint32_t));
    cursor_bytes(&cursor, index * sizeof(uint32_t));
    return cursor_u32(&cursor);
}

/* A count and as many format codes, each 0 (text) or 1 (binary). */
static struct text read_formats(struct cursor *cursor, uint16_t *count)
{
    *count = cursor_u16(cursor);
    struct text codes = cursor_bytes(cursor, *count * sizeof(uint16_t));
    struct cursor each = cursor_over(codes.bytes, codes.size);
    while (cursor_left(&each) > 0)
        if (cursor_u16(&each) > 1)
            cursor->failed = true;
    return codes;
}

static bool read_value(struct cursor *cursor, struct bound_value *value)
{
    uint32_t length = cursor_u32(cursor);
    value->is_null = length == null_length;
    value->bytes = cursor_bytes(cursor, value->is_null ? 0 : length);
    return !cursor->failed;
}

static struct text read_values(struct cursor *cursor, uint16_t count)
{
    struct cursor start = *cursor;
    struct bound_value value;
    for (uint16_t i = 0; i < count && !cursor->failed; i++)
        if (!read_value(cursor, &value))
            return TEXT("");
    return cursor_bytes(&start, cursor_left(&start) - cursor_left(cursor));
}

/* Codes for none, for all together, or one for each value. */
static bool formats_match(uint16_t format_count, uint16_t value_count)
{
    return format_count <= 1 || format_count == value_count;
}

bool decode_bind(struct text body, struct bind_message *message)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    message->portal = cursor_string(&cursor);
    message->statement = cursor_string(&cursor);
    struct cursor behind_names = cursor;
    message->formats = (const uint8_t *)read_formats(&cursor, &message->format_count).bytes;
    message->value_count = cursor_u16(&cursor);
    message->values = read_values(&cursor, message->value_count);
    struct cursor behind_values = cursor;
    uint16_t result_format_count;
    read_formats(&cursor, &result_format_count);
    message->result_formats = cursor_bytes(&behind_values, cursor_left(&behind_values));
    message->after_statement = cursor_bytes(&behind_names, cursor_left(&behind_names));
    return cursor_done(&cursor) && formats_match(message->format_count, message->value_count);
}

static bool is_binary(const struct bind_message *message, uint16_t index)
{
    if (message->format_count == 0)
        return false;
    size_t which = message->format_count == 1 ? 0 : index;
    struct cursor cursor = cursor_over(message->formats, message->format_count * sizeof(uint16_t));
    cursor_bytes(&cursor, which * sizeof(uint16_t));
    return cursor_u16(&cursor) == 1;
}

bool bind_message_next_value(const struct bind_message *message, size_t *cursor_state,
                             uint16_t index, struct bound_value *value)
{
    *value = (struct bound_value){.bytes = TEXT("")};
    if (index >= message->value_count)
        return false;
    struct cursor cursor = cursor_over(message->values.bytes, message->values.size);
    cursor_bytes(&cursor, *cursor_state);
    if (!read_value(&cursor, value))
        return false;
    value->binary = is_binary(message, index);
    *cursor_state = message->values.size - cursor_left(&cursor);
    return true;
}

bool decode_named(struct text body, struct named_message *message)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    message->kind = cursor_u8(&cursor);
    message->name = cursor_string(&cursor);
    return cursor_done(&cursor) && (message->kind == 'S' || message->kind == 'P');
}

bool decode_execute(struct text body, struct execute_message *message)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    message->portal = cursor_string(&cursor);
    message->rows_max = cursor_u32(&cursor);
    return cursor_done(&cursor);
}

bool decode_copy_fail(struct text body, struct copy_fail_message *message)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    message->reason = cursor_string(&cursor);
    return cursor_done(&cursor);
}

bool decode_empty(struct text body)
{
    return body.size == 0;
}

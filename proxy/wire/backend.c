/*
 * backend.c - decodes the messages of a server that pgwicket reads; all others pass as they are.
 *
 * False means that the message is not what its type declares: the caller gives the server up.
 */
#include "proxy/wire/backend.h"

#include "proxy/base/buffer.h"
#include "proxy/base/cursor.h"

static const uint32_t null_length = UINT32_MAX;

bool backend_streams(uint8_t type)
{
    return type == BACKEND_DATA_ROW || type == BACKEND_COPY_DATA;
}

/* One field of an ErrorResponse; false at its terminator, and when the cursor has failed. */
static bool next_field(struct cursor *cursor, uint8_t *code, struct text *value)
{
    *code = cursor_u8(cursor);
    if (*code == 0)
        return false;
    *value = cursor_string(cursor);
    return !cursor->failed;
}

static int position_from(struct text value)
{
    int64_t position;
    return text_to_int64(value, &position) && position > 0 && position <= INT32_MAX ? (int)position
                                                                                    : 0;
}

static struct text *text_field(struct error_fields *fields, uint8_t code)
{
    switch (code) {
    case 'V':
        return &fields->severity;
    case 'C':
        return &fields->sqlstate;
    case 'M':
        return &fields->message;
    case 'D':
        return &fields->detail;
    case 'H':
        return &fields->hint;
    case 'W':
        return &fields->context;
    case 's':
        return &fields->schema;
    case 't':
        return &fields->table;
    case 'c':
        return &fields->column;
    case 'n':
        return &fields->constraint;
    case 'd':
        return &fields->type;
    case 'R':
        return &fields->routine;
    default:
        return NULL;
    }
}

bool decode_error(struct text body, struct error_fields *fields)
{
    const struct text none = TEXT("");
    *fields = (struct error_fields){none, none, none, none, none, 0,   none,
                                    none, none, none, none, none, none};
    struct cursor cursor = cursor_over(body.bytes, body.size);
    uint8_t code;
    struct text value, shown = TEXT("");
    while (next_field(&cursor, &code, &value)) {
        struct text *field = text_field(fields, code);
        if (field != NULL)
            *field = value;
        else if (code == 'P')
            fields->position = position_from(value);
        else if (code == 'S')
            shown = value;
    }
    if (fields->severity.size == 0) /* servers before 9.6, and poolers, send no V */
        fields->severity = shown;
    return cursor_done(&cursor);
}

bool error_body_with_position(struct buffer *out, struct text body, int position)
{
    struct error_fields fields;
    if (!decode_error(body, &fields))
        return false;
    struct cursor cursor = cursor_over(body.bytes, body.size);
    uint8_t code;
    struct text value;
    while (next_field(&cursor, &code, &value)) {
        if (code == 'P' && position <= 0)
            continue;
        buffer_append_byte(out, code);
        if (code == 'P')
            buffer_printf(out, "%d", position);
        else
            buffer_append_text(out, value);
        buffer_append_byte(out, 0);
    }
    buffer_append_byte(out, 0);
    return true;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Up to the first word that is a number: "INSERT 0 5" is INSERT. */
static struct text leading_words(struct text tag)
{
    for (size_t i = 1; i < tag.size; i++)
        if (tag.bytes[i - 1] == ' ' && is_digit(tag.bytes[i]))
            return (struct text){tag.bytes, i - 1};
    return tag;
}

static struct text last_word(struct text tag)
{
    size_t start = tag.size;
    while (start > 0 && tag.bytes[start - 1] != ' ')
        start--;
    return (struct text){tag.bytes + start, tag.size - start};
}

bool decode_command_complete(struct text body, struct command_tag *tag)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    tag->tag = cursor_string(&cursor);
    tag->command = leading_words(tag->tag);
    if (!text_to_int64(last_word(tag->tag), &tag->rows) || tag->rows < 0)
        tag->rows = -1;
    return cursor_done(&cursor);
}

bool decode_ready(struct text body, char *status)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    *status = (char)cursor_u8(&cursor);
    return cursor_done(&cursor) && (*status == 'I' || *status == 'T' || *status == 'E');
}

bool decode_parameter_status(struct text body, struct parameter_status *status)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    status->name = cursor_string(&cursor);
    status->value = cursor_string(&cursor);
    return cursor_done(&cursor);
}

/* The whole row is read, also behind the column, so that a broken one is never half believed. */
bool data_row_column(struct text body, uint16_t index, struct text *value)
{
    *value = TEXT("");
    bool found = false;
    struct cursor cursor = cursor_over(body.bytes, body.size);
    uint16_t count = cursor_u16(&cursor);
    for (uint16_t i = 0; i < count && !cursor.failed; i++) {
        uint32_t length = cursor_u32(&cursor);
        struct text column = cursor_bytes(&cursor, length == null_length ? 0 : length);
        if (i == index && length != null_length) {
            *value = column;
            found = true;
        }
    }
    return found && cursor_done(&cursor);
}

uint16_t row_column_count(struct text body)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    return cursor_u16(&cursor);
}

/* Behind a field's name: table, column, type, size, modifier, format. */
static void skip_field(struct cursor *cursor)
{
    enum { FIELD_SIZE = 4 + 2 + 4 + 2 + 4 + 2 };
    cursor_string(cursor);
    cursor_bytes(cursor, FIELD_SIZE);
}

static void skip_value(struct cursor *cursor)
{
    uint32_t length = cursor_u32(cursor);
    cursor_bytes(cursor, length == null_length ? 0 : length);
}

bool row_front(uint8_t type, struct text body, uint16_t kept, struct text *front)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    bool enough = cursor_u16(&cursor) >= kept;
    for (uint16_t i = 0; i < kept && !cursor.failed; i++) {
        if (type == BACKEND_ROW_DESCRIPTION)
            skip_field(&cursor);
        else
            skip_value(&cursor);
    }
    if (!enough || cursor.failed)
        return false;
    *front = (struct text){body.bytes + 2, body.size - 2 - cursor_left(&cursor)};
    return true;
}

bool decode_parameter_description(struct text body, uint16_t *count)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    *count = cursor_u16(&cursor);
    cursor_bytes(&cursor, *count * sizeof(uint32_t));
    return cursor_done(&cursor);
}

uint32_t parameter_description_type(struct text body, uint16_t index)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    uint16_t count = cursor_u16(&cursor);
    if (index >= count)
        return 0;
    cursor_bytes(&cursor, index * sizeof(uint32_t));
    return cursor_u32(&cursor);
}

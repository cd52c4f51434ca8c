/*
 * backend.c - a server's bytes as a stream of messages, each through every decoder: what a body
 * says does not depend on the type that came with it.
 */
#include "proxy/wire/backend.h"

#include "proxy/base/buffer.h"
#include "proxy/base/invariant.h"
#include "proxy/wire/build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A new position is the only change, and can be taken out again. */
static void check_error(struct text body)
{
    struct error_fields fields;
    struct error_fields moved;
    struct buffer out;
    buffer_init(&out, body.size * 12 + 16);
    if (decode_error(body, &fields)) {
        INVARIANT(fields.position >= 0);
        INVARIANT(error_body_with_position(&out, body, 4711));
        INVARIANT(!out.overflow && decode_error(buffer_text(&out), &moved));
        INVARIANT(moved.position == 4711 || moved.position == 0);
        INVARIANT(text_equal(fields.message, moved.message));
        buffer_clear(&out);
        INVARIANT(error_body_with_position(&out, body, 0));
        INVARIANT(decode_error(buffer_text(&out), &moved) && moved.position == 0);
    }
    buffer_release(&out);
}

static void check_tag(struct text body)
{
    struct command_tag tag;
    if (decode_command_complete(body, &tag)) {
        INVARIANT(tag.rows >= -1 && tag.command.size <= tag.tag.size);
        INVARIANT(tag.tag.size + 1 == body.size);
    }
}

/* The columns, written again, are the row; a row that is no row has no column. */
static void check_row(struct text body)
{
    enum { COLUMNS_MAX = 64 };
    struct text values[COLUMNS_MAX];
    uint16_t count = 0;
    bool any = false;
    if (body.size >= 2)
        count = (uint16_t)((uint8_t)body.bytes[0] << 8 | (uint8_t)body.bytes[1]);
    if (count == 0 || count > COLUMNS_MAX)
        return;
    for (uint16_t i = 0; i < count; i++) {
        bool has_value = data_row_column(body, i, &values[i]);
        any |= has_value;
        if (!has_value)
            values[i] = (struct text){NULL, 0};
    }
    struct buffer out;
    buffer_init(&out, body.size + FRAME_HEADER_SIZE);
    build_data_row(&out, values, count);
    struct text built = buffer_text(&out);
    INVARIANT(!any || text_equal((struct text){built.bytes + FRAME_HEADER_SIZE,
                                               built.size - FRAME_HEADER_SIZE},
                                 body));
    buffer_release(&out);
}

static void check_others(struct text body)
{
    char status;
    struct parameter_status parameter;
    uint16_t count;
    if (decode_ready(body, &status))
        INVARIANT(status == 'I' || status == 'T' || status == 'E');
    if (decode_parameter_status(body, &parameter))
        INVARIANT(parameter.name.size + parameter.value.size + 2 == body.size);
    if (decode_parameter_description(body, &count))
        for (uint16_t i = 0; i < count; i++)
            parameter_description_type(body, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text rest = {(const char *)data, size};
    struct frame frame;
    while (frame_read(rest, SIZE_MAX >> 1, &frame) == FRAME_COMPLETE) {
        check_error(frame.body);
        check_tag(frame.body);
        check_row(frame.body);
        check_others(frame.body);
        rest = (struct text){rest.bytes + frame.size, rest.size - frame.size};
    }
    return 0;
}

/*
 * frontend.c - a client's bytes as a stream of messages. What is decoded and built again must be
 * the bytes that came: nothing was read into a message that is not there.
 */
#include "proxy/wire/frontend.h"
#include "proxy/base/invariant.h"
#include "proxy/wire/build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rebuild_query(struct text body, struct buffer *out)
{
    struct query_message query;
    if (decode_query(body, &query))
        build_query(out, query.sql);
}

static void rebuild_parse(struct text body, struct buffer *out)
{
    struct parse_message parse;
    if (!decode_parse(body, &parse))
        return;
    for (uint16_t i = 0; i < parse.type_count; i++)
        parse_message_type(&parse, i);
    build_parse(out, parse.name, parse.sql, parse.types, parse.type_count);
}

/* The values, taken one by one, are all of the values. */
static void check_values(const struct bind_message *bind)
{
    size_t state = 0;
    struct bound_value value;
    uint16_t count = 0;
    while (bind_message_next_value(bind, &state, count, &value)) {
        INVARIANT(!value.is_null || value.bytes.size == 0);
        count++;
    }
    INVARIANT(count == bind->value_count && state == bind->values.size);
}

static void rebuild_bind(struct text body, struct buffer *out)
{
    struct bind_message bind;
    if (!decode_bind(body, &bind))
        return;
    check_values(&bind);
    build_bind(out, bind.portal, bind.statement, bind.after_statement);
}

static void rebuild_named(uint8_t type, struct text body, struct buffer *out)
{
    struct named_message named;
    if (!decode_named(body, &named))
        return;
    if (type == FRONTEND_CLOSE)
        build_close(out, named.kind, named.name);
    else
        build_describe(out, named.kind, named.name);
}

static void rebuild_execute(struct text body, struct buffer *out)
{
    struct execute_message execute;
    if (decode_execute(body, &execute))
        build_execute(out, execute.portal, execute.rows_max);
}

static void rebuild_copy_fail(struct text body, struct buffer *out)
{
    struct copy_fail_message fail;
    if (decode_copy_fail(body, &fail))
        build_copy_fail(out, fail.reason);
}

static void rebuild(const struct frame *frame, struct buffer *out)
{
    switch (frame->type) {
    case FRONTEND_QUERY:
        rebuild_query(frame->body, out);
        break;
    case FRONTEND_PARSE:
        rebuild_parse(frame->body, out);
        break;
    case FRONTEND_BIND:
        rebuild_bind(frame->body, out);
        break;
    case FRONTEND_DESCRIBE:
    case FRONTEND_CLOSE:
        rebuild_named(frame->type, frame->body, out);
        break;
    case FRONTEND_EXECUTE:
        rebuild_execute(frame->body, out);
        break;
    case FRONTEND_COPY_FAIL:
        rebuild_copy_fail(frame->body, out);
        break;
    default:
        if (decode_empty(frame->body))
            build_empty_message(out, frame->type);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text rest = {(const char *)data, size};
    struct buffer out;
    struct frame frame;
    buffer_init(&out, size + FRAME_HEADER_SIZE);
    while (rest.size > 0 &&
           frame_read(rest, frontend_size_max((uint8_t)rest.bytes[0]), &frame) == FRAME_COMPLETE) {
        INVARIANT(frame.size <= rest.size && frame.size == frame.body.size + FRAME_HEADER_SIZE);
        struct text message = {rest.bytes, frame.size};
        buffer_clear(&out);
        rebuild(&frame, &out);
        INVARIANT(!out.overflow && (out.size == 0 || text_equal(buffer_text(&out), message)));
        rest = (struct text){rest.bytes + frame.size, rest.size - frame.size};
    }
    buffer_release(&out);
    return 0;
}

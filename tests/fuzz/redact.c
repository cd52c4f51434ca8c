/*
 * redact.c - the body of a server's error, with nothing known of what it is about: what the client gets is
 * an error, no longer than what came but for a fixed part, and has no field that could tell a name.
 */
#include "proxy/session/redact.h"

#include "proxy/base/invariant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FIXED = 200 };
    static const struct redact_scope nothing;
    struct text body = {(const char *)data, size};
    struct error_fields fields, shown;
    struct buffer out;
    struct arena arena;
    if (!decode_error(body, &fields))
        return 0;
    arena_init(&arena);
    buffer_init(&out, 2 * size + FIXED);
    redact(&out, &arena, body, &fields, fields.position, &nothing);
    INVARIANT(!out.overflow && decode_error(buffer_text(&out), &shown));
    INVARIANT(text_equal(shown.sqlstate, fields.sqlstate) && shown.position == fields.position);
    INVARIANT(shown.message.size <= fields.message.size + FIXED);
    INVARIANT(shown.schema.size + shown.table.size + shown.column.size + shown.constraint.size == 0);
    INVARIANT(shown.type.size + shown.routine.size == 0);
    buffer_release(&out);
    arena_release(&arena);
    return 0;
}

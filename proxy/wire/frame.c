/*
 * frame.c - finds the first message's end from its declared length, never from its content.
 *
 * A length that cannot be right is FRAME_BAD: nothing behind it can be trusted to be a message.
 */
#include "proxy/wire/frame.h"

#include "proxy/base/cursor.h"

/* Of the length field, which counts itself. */
enum { LENGTH_MIN = 4 };

enum frame_result frame_read(struct text bytes, size_t size_max, struct frame *frame)
{
    *frame = (struct frame){0};
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    uint8_t type = cursor_u8(&cursor);
    uint32_t length = cursor_u32(&cursor);
    if (cursor.failed)
        return FRAME_PARTIAL;
    size_t size = (size_t)length + 1;
    if (length < LENGTH_MIN || size > size_max)
        return FRAME_BAD;
    frame->type = type;
    frame->size = size;
    if (bytes.size < size)
        return FRAME_PARTIAL;
    frame->body = cursor_bytes(&cursor, size - FRAME_HEADER_SIZE);
    return FRAME_COMPLETE;
}

/* cursor.c - see cursor.h. */
#include "proxy/base/cursor.h"

#include <string.h>

struct cursor cursor_over(const void *bytes, size_t size)
{
    const uint8_t *start = bytes;
    return (struct cursor){.at = start, .end = size > 0 ? start + size : start};
}

size_t cursor_left(const struct cursor *cursor)
{
    return cursor->failed ? 0 : (size_t)(cursor->end - cursor->at);
}

static const uint8_t *take(struct cursor *cursor, size_t size)
{
    if (cursor->failed || cursor_left(cursor) < size) {
        cursor->failed = true;
        return NULL;
    }
    const uint8_t *bytes = cursor->at;
    cursor->at += size;
    return bytes;
}

uint8_t cursor_u8(struct cursor *cursor)
{
    const uint8_t *b = take(cursor, 1);
    return b != NULL ? b[0] : 0;
}

uint16_t cursor_u16(struct cursor *cursor)
{
    const uint8_t *b = take(cursor, 2);
    if (b == NULL)
        return 0;
    return (uint16_t)(b[0] << 8 | b[1]);
}

uint32_t cursor_u32(struct cursor *cursor)
{
    const uint8_t *b = take(cursor, 4);
    return b != NULL ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3] : 0;
}

struct text cursor_bytes(struct cursor *cursor, size_t size)
{
    const uint8_t *b = take(cursor, size);
    return b != NULL ? (struct text){(const char *)b, size} : TEXT("");
}

struct text cursor_string(struct cursor *cursor)
{
    size_t left = cursor_left(cursor);
    const uint8_t *nul = left > 0 ? memchr(cursor->at, 0, left) : NULL;
    if (nul == NULL) {
        cursor->failed = true;
        return TEXT("");
    }
    struct text string = cursor_bytes(cursor, (size_t)(nul - cursor->at));
    cursor->at++;
    return string;
}

bool cursor_done(const struct cursor *cursor)
{
    return !cursor->failed && cursor->at == cursor->end;
}

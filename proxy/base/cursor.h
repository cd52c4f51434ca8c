/*
 * cursor.h - reads fields from bytes; the first read beyond the end fails it for good.
 *
 * Read ten fields, check once with cursor_done. A failed cursor yields zeros and empty texts, never
 * stale bytes. No pointer arithmetic on received bytes is done outside this file.
 */
#ifndef PGWICKET_BASE_CURSOR_H
#define PGWICKET_BASE_CURSOR_H

#include "proxy/base/text.h"

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
};

struct cursor cursor_over(const void *bytes, size_t size);
size_t cursor_left(const struct cursor *cursor);
uint8_t cursor_u8(struct cursor *cursor);
uint16_t cursor_u16(struct cursor *cursor); /* network order */
uint32_t cursor_u32(struct cursor *cursor);
struct text cursor_bytes(struct cursor *cursor, size_t size);
struct text cursor_string(struct cursor *cursor); /* up to a NUL, which is consumed, not included */

/* True only if every read succeeded and nothing is left over. */
bool cursor_done(const struct cursor *cursor);

#endif

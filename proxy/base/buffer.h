/*
 * buffer.h - bytes that grow up to a maximum which the buffer is born with.
 *
 * An append that would pass the maximum appends nothing and sets `overflow`, which stays set until
 * buffer_clear: write many times, check once. A zeroed buffer has maximum 0 and takes nothing.
 */
#ifndef PGWICKET_BASE_BUFFER_H
#define PGWICKET_BASE_BUFFER_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

struct buffer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    size_t size_max;
    bool overflow;
};

void buffer_init(struct buffer *buffer, size_t size_max); /* allocates nothing */
void buffer_release(struct buffer *buffer);               /* frees the bytes; keeps size_max */
void buffer_clear(struct buffer *buffer);                 /* keeps the memory */

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_append_text(struct buffer *buffer, struct text text);
void buffer_append_string(struct buffer *buffer, const char *string);
void buffer_append_byte(struct buffer *buffer, uint8_t byte);
void buffer_append_u16(struct buffer *buffer, uint16_t value); /* network order */
void buffer_append_u32(struct buffer *buffer, uint32_t value);
void buffer_append_u64(struct buffer *buffer, uint64_t value);
void buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);

/* Room for `size` more bytes, to be filled by the caller and then counted with buffer->size += n;
 * NULL on overflow. */
uint8_t *buffer_reserve(struct buffer *buffer, size_t size);

/* Drops `size` bytes from the front. */
void buffer_consume(struct buffer *buffer, size_t size);

/* Its content; valid until the next change of the buffer. */
struct text buffer_text(const struct buffer *buffer);

/* Its content as a C string (a NUL is kept behind the content); "" after an overflow of an empty
 * buffer. Valid until the next change. */
const char *buffer_string(struct buffer *buffer);

#endif

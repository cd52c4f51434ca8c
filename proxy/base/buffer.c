/* buffer.c - see buffer.h. */
#include "proxy/base/buffer.h"

#include "proxy/base/invariant.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 256 };

void buffer_init(struct buffer *buffer, size_t size_max)
{
    *buffer = (struct buffer){.size_max = size_max};
}

void buffer_release(struct buffer *buffer)
{
    free(buffer->bytes);
    buffer_init(buffer, buffer->size_max);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
    buffer->overflow = false;
}

uint8_t *buffer_reserve(struct buffer *buffer, size_t size)
{
    if (buffer->overflow || size > buffer->size_max - buffer->size) {
        buffer->overflow = true;
        return NULL;
    }
    size_t needed = buffer->size + size;
    if (needed > buffer->capacity || buffer->bytes == NULL) {
        size_t capacity = buffer->capacity > 0 ? buffer->capacity * 2 : CAPACITY_FIRST;
        if (capacity < needed)
            capacity = needed;
        if (capacity > buffer->size_max)
            capacity = buffer->size_max;
        /* One byte more, so that buffer_string can always end it. */
        buffer->bytes = memory_resize(buffer->bytes, capacity + 1);
        buffer->capacity = capacity;
    }
    return buffer->bytes + buffer->size;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    uint8_t *room = buffer_reserve(buffer, size);
    if (room == NULL || size == 0)
        return;
    memcpy(room, bytes, size);
    buffer->size += size;
}

void buffer_append_text(struct buffer *buffer, struct text text)
{
    buffer_append(buffer, text.bytes, text.size);
}

void buffer_append_string(struct buffer *buffer, const char *string)
{
    buffer_append(buffer, string, strlen(string));
}

void buffer_append_byte(struct buffer *buffer, uint8_t byte)
{
    buffer_append(buffer, &byte, 1);
}

void buffer_append_u16(struct buffer *buffer, uint16_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};
    buffer_append(buffer, bytes, sizeof bytes);
}

void buffer_append_u32(struct buffer *buffer, uint32_t value)
{
    buffer_append_u16(buffer, (uint16_t)(value >> 16));
    buffer_append_u16(buffer, (uint16_t)value);
}

void buffer_append_u64(struct buffer *buffer, uint64_t value)
{
    buffer_append_u32(buffer, (uint32_t)(value >> 32));
    buffer_append_u32(buffer, (uint32_t)value);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    INVARIANT(size >= 0);
    /* vsnprintf ends with a NUL; it falls on the byte that every allocation has beyond its
     * capacity. */
    uint8_t *room = buffer_reserve(buffer, (size_t)size);
    if (room != NULL) {
        vsnprintf((char *)room, (size_t)size + 1, format, again);
        buffer->size += (size_t)size;
    }
    va_end(again);
}

void buffer_consume(struct buffer *buffer, size_t size)
{
    INVARIANT(size <= buffer->size);
    buffer->size -= size;
    if (size > 0 && buffer->size > 0)
        memmove(buffer->bytes, buffer->bytes + size, buffer->size);
}

struct text buffer_text(const struct buffer *buffer)
{
    return (struct text){buffer->bytes != NULL ? (const char *)buffer->bytes : "", buffer->size};
}

const char *buffer_string(struct buffer *buffer)
{
    if (buffer->bytes == NULL)
        return "";
    buffer->bytes[buffer->size] = '\0';
    return (const char *)buffer->bytes;
}

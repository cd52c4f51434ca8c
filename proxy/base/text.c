/* text.c - see text.h. */
#include "proxy/base/text.h"

#include "proxy/base/invariant.h"

#include <string.h>
#include <strings.h>

struct text text_from(const char *string)
{
    return (struct text){string != NULL ? string : "", string != NULL ? strlen(string) : 0};
}

bool text_equal(struct text a, struct text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

bool text_is(struct text a, const char *string)
{
    return text_equal(a, text_from(string));
}

bool text_is_ignoring_case(struct text a, const char *string)
{
    return a.size == strlen(string) && (a.size == 0 || strncasecmp(a.bytes, string, a.size) == 0);
}

bool text_starts_with(struct text a, const char *prefix)
{
    size_t size = strlen(prefix);
    return a.size >= size && (size == 0 || memcmp(a.bytes, prefix, size) == 0);
}

bool text_has_byte(struct text a, char byte)
{
    return a.size > 0 && memchr(a.bytes, byte, a.size) != NULL;
}

int text_compare(struct text a, struct text b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared > 0 ? memcmp(a.bytes, b.bytes, shared) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

struct text text_cut(struct text a, size_t size)
{
    if (a.size <= size)
        return a;
    while (size > 0 && ((unsigned char)a.bytes[size] & 0xC0) == 0x80)
        size--;
    return (struct text){a.bytes, size};
}

struct text text_front(struct text a, size_t size)
{
    INVARIANT(size <= a.size);
    return (struct text){a.bytes, size};
}

struct text text_behind(struct text a, size_t size)
{
    INVARIANT(size <= a.size);
    return (struct text){a.bytes + size, a.size - size};
}

bool text_to_int64(struct text a, int64_t *value)
{
    bool negative = a.size > 0 && a.bytes[0] == '-';
    size_t at = negative ? 1 : 0;
    int64_t sum = 0;
    if (at == a.size)
        return false;
    for (; at < a.size; at++) {
        if (a.bytes[at] < '0' || a.bytes[at] > '9')
            return false;
        int digit = a.bytes[at] - '0';
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, negative ? -digit : digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

/* addresses.c - see addresses.h. What cannot be read is in no range. */
#include "proxy/config/addresses.h"

#include <arpa/inet.h>
#include <string.h>

enum { MAPPED_BITS = 96, WHOLE_BITS = 128 };

static bool parse_address(const char *text, uint8_t bytes[16], bool *v4)
{
    memset(bytes, 0, 16);
    *v4 = inet_pton(AF_INET, text, bytes + 12) == 1;
    if (!*v4)
        return inet_pton(AF_INET6, text, bytes) == 1;
    bytes[10] = bytes[11] = 0xFF;
    return true;
}

static bool bit(const uint8_t *bytes, int at)
{
    return (bytes[at / 8] >> (7 - at % 8) & 1) != 0;
}

bool address_range_parse(struct text text, struct address_range *range)
{
    char address[INET6_ADDRSTRLEN];
    bool v4;
    size_t size = 0;
    while (size < text.size && text.bytes[size] != '/')
        size++;
    if (size == 0 || size >= sizeof address)
        return false;
    memcpy(address, text.bytes, size);
    address[size] = '\0';
    if (!parse_address(address, range->bytes, &v4))
        return false;
    int64_t bits = v4 ? WHOLE_BITS - MAPPED_BITS : WHOLE_BITS;
    if (size < text.size) {
        int64_t given;
        if (!text_to_int64(text_behind(text, size + 1), &given) || given < 0 || given > bits)
            return false;
        bits = given;
    }
    range->bits = (int)bits + (v4 ? MAPPED_BITS : 0);
    for (int at = range->bits; at < WHOLE_BITS; at++)
        if (bit(range->bytes, at))
            return false;
    return true;
}

bool address_in_range(const char *address, const struct address_range *range)
{
    uint8_t bytes[16];
    bool v4;
    if (!parse_address(address, bytes, &v4))
        return false;
    for (int at = 0; at < range->bits; at++)
        if (bit(bytes, at) != bit(range->bytes, at))
            return false;
    return true;
}

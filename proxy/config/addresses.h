/* addresses.h - IP addresses and ranges of them: "10.0.0.5", "10.0.0.0/24", "fd00::/8". Pure. */
#ifndef PGWICKET_CONFIG_ADDRESSES_H
#define PGWICKET_CONFIG_ADDRESSES_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

struct address_range {
    uint8_t bytes[16]; /* IPv4 as ::ffff:0:0/96 */
    int bits;          /* how many of them count */
};

/* False: not an address or range, or one with bits set behind its length. */
MUST_USE bool address_range_parse(struct text text, struct address_range *range);

bool address_in_range(const char *address, const struct address_range *range);

#endif

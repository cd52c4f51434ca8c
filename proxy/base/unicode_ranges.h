/* unicode_ranges.h - the tables behind unicode_is_invisible that are too long for unicode.c. */
#ifndef PGWICKET_BASE_UNICODE_RANGES_H
#define PGWICKET_BASE_UNICODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct unicode_range {
    uint32_t first;
    uint32_t last;
};

/* Sorted, without overlap. */
extern const struct unicode_range unicode_combining[];
extern const size_t unicode_combining_count;

#endif

/* check.h - comparisons that print both sides when they fail. */
#ifndef PGWICKET_TESTS_UNIT_BASE_CHECK_H
#define PGWICKET_TESTS_UNIT_BASE_CHECK_H

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/base/text.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_TEXT(actual, expected)                                                               \
    do {                                                                                           \
        struct text check_actual = (actual);                                                       \
        cr_expect(text_is(check_actual, (expected)), "%s is \"%.*s\", not \"%s\"", #actual,        \
                  TEXT_ARGS(check_actual), (const char *)(expected));                              \
    } while (0)

/* For content with NULs: `expected` is a literal. */
#define CHECK_BYTES(actual, expected)                                                              \
    do {                                                                                           \
        struct text check_actual = (actual);                                                       \
        struct text check_expected = TEXT(expected);                                               \
        cr_expect(text_equal(check_actual, check_expected), "%s: %zu bytes differ from %zu",       \
                  #actual, check_actual.size, check_expected.size);                                \
    } while (0)

#endif

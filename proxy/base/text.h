/*
 * text.h - a piece of text that somebody else owns: bytes and their number, no NUL at the end.
 *
 * A `struct text` is a value and owns nothing. Who returns one says how long the bytes live.
 */
#ifndef PGWICKET_BASE_TEXT_H
#define PGWICKET_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    const char *bytes;
    size_t size;
};

#define TEXT(literal) ((struct text){"" literal, sizeof(literal) - 1})

/* The same in static tables. */
/* clang-format off */
#define TEXT_INIT(literal) {"" literal, sizeof(literal) - 1}
/* clang-format on */

/* For printf's "%.*s". */
#define TEXT_ARGS(text) (int)(text).size, (text).bytes

struct text text_from(const char *string); /* NULL gives the empty text */
bool text_equal(struct text a, struct text b);
bool text_is(struct text a, const char *string);
bool text_is_ignoring_case(struct text a, const char *string); /* ASCII only */
bool text_starts_with(struct text a, const char *prefix);
bool text_has_byte(struct text a, char byte);
int text_compare(struct text a, struct text b); /* by bytes, as memcmp */

/* The first `size` bytes at most, cut at the start of a UTF-8 character. */
struct text text_cut(struct text a, size_t size);

/* The first `size` bytes, and all behind them; `size` is at most the text's. */
struct text text_front(struct text a, size_t size);
struct text text_behind(struct text a, size_t size);

/* A decimal integer that is the whole of the text; false when it is not, or does not fit. */
bool text_to_int64(struct text a, int64_t *value);

#endif

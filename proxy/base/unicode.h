/* unicode.h - UTF-8: validity, characters, and what a person could not see. */
#ifndef PGWICKET_BASE_UNICODE_H
#define PGWICKET_BASE_UNICODE_H

#include "proxy/base/buffer.h"

/* As PostgreSQL checks it: no overlong forms, no surrogates, nothing above U+10FFFF; NUL is
 * invalid. */
bool utf8_valid(struct text text);

/* Size in bytes of the character at the front; 0 if the bytes there are not UTF-8 (or NUL, or
 * none). */
size_t utf8_sequence(struct text text);

/* Decodes the character at the front of valid UTF-8 text and returns its size in bytes. */
size_t utf8_decode(struct text text, uint32_t *code_point);

/* Characters (not bytes) in valid UTF-8. */
size_t utf8_length(struct text text);

/* Control, bidirectional, zero-width, combining, default-ignorable, odd spaces, noncharacters. */
bool unicode_is_invisible(uint32_t code_point);

/*
 * Appends the text with every invisible character, and every byte that is not UTF-8, written as
 * \u{200B} (or \xFF for a byte), so that a terminal or page shows what is there. A backslash stays
 * as it is: the result is for eyes, not for parsing back.
 */
void unicode_append_visible(struct buffer *out, struct text text);

#endif

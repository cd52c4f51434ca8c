/* base64.h - RFC 4648 base64 with padding, as SCRAM and HTTP basic authentication use it. */
#ifndef PGWICKET_BASE_BASE64_H
#define PGWICKET_BASE_BASE64_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

/* Characters for `size` bytes, without a NUL. */
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4)

/* `text` has room for BASE64_SIZE(size) + 1; a NUL follows. Returns the characters without it. */
size_t base64_encode(const void *bytes, size_t size, char *text);

/* Strict: no white space, complete padding, no spare bits. False if it is not that, or is longer
 * than `size_max` bytes; bytes and size then mean nothing. */
MUST_USE bool base64_decode(struct text text, uint8_t *bytes, size_t size_max, size_t *size);

#endif

/* digest.h - SHA-256, hexadecimal, random bytes (OpenSSL). */
#ifndef PGWICKET_BASE_DIGEST_H
#define PGWICKET_BASE_DIGEST_H

#include "proxy/base/text.h"

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 };

void sha256(const void *bytes, size_t size, uint8_t digest[SHA256_SIZE]);

/* A digest over several fields, each with its length in front, so that no two lists of fields give
 * the same bytes. */
struct digest;
struct digest *digest_new(void);
void digest_field(struct digest *digest, struct text field);
void digest_finish(struct digest *digest, uint8_t out[SHA256_SIZE]); /* frees it */

/* RFC 2104 over SHA-256. */
void hmac_sha256(struct text key, struct text message, uint8_t mac[SHA256_SIZE]);

/* Lower-case hexadecimal and a NUL: `text` has room for 2 * size + 1. */
void hex_from_bytes(const void *bytes, size_t size, char *text);

/* From the operating system's generator; ends the process if there is none. */
void random_bytes(void *bytes, size_t size);

/* Takes the same time wherever the difference is. */
bool equal_in_constant_time(const void *a, const void *b, size_t size);

#endif

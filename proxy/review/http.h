/*
 * http.h - the parts of an HTTP request that pgwicket reads by itself. Pure.
 *
 * Everything is strict: what is not exactly as expected is refused, never guessed.
 */
#ifndef PGWICKET_REVIEW_HTTP_H
#define PGWICKET_REVIEW_HTTP_H

#include "proxy/base/arena.h"

enum { CREDENTIALS_MAX = 1024 };

struct credentials {
    uint8_t memory[CREDENTIALS_MAX];
    struct text name;     /* in `memory` */
    struct text password; /* in `memory` */
};

/* The value of an Authorization header: "Basic " and base64 of name:password (RFC 7617), both not
 * empty and valid UTF-8 without control characters. Wipe with credentials_wipe. */
MUST_USE bool credentials_parse(struct text header, struct credentials *credentials);
/* The same of two fields; `sent`, in `memory`, stands for both. */
MUST_USE bool credentials_set(struct text name, struct text password,
                              struct credentials *credentials, struct text *sent);
void credentials_wipe(struct credentials *credentials);

/*
 * Matches a path against a pattern like "/api/holds/:/release", where ":" is one segment that is
 * not empty; it is put into *argument, still percent-encoded. No path is normalised: "//" or "/./"
 * match nothing.
 */
MUST_USE bool path_matches(struct text path, const char *pattern, struct text *argument);

/* Decodes %XX; false for a broken escape, a NUL, or what is not UTF-8. A plus sign is itself. */
MUST_USE bool percent_decode(struct arena *arena, struct text encoded, struct text *decoded);

/* A positive decimal number without sign or leading zero. */
MUST_USE bool number_parse(struct text text, int64_t *number);

/* 64 hexadecimal digits. */
MUST_USE bool digest_parse(struct text text, uint8_t *digest);

/*
 * Takes the next "name=value" from the front of a query, decoded; a name without '=' has an empty
 * value. 1: there is one; 0: the query is at its end; -1: it cannot be decoded.
 */
int query_next(struct arena *arena, struct text *query, struct text *name, struct text *value);

/* "application/json", with or without parameters. */
bool content_type_is_json(struct text header);

#endif

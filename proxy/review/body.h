/*
 * body.h - JSON that is read: the bodies of writes. Pure; strict: unknown, missing and doubled keys
 * are errors.
 *
 * Only body.c includes jansson.h: some of its names are those of json_out.h.
 */
#ifndef PGWICKET_REVIEW_BODY_H
#define PGWICKET_REVIEW_BODY_H

#include "proxy/base/arena.h"
#include "proxy/base/digest.h"

struct decision_body {
    uint8_t digest[SHA256_SIZE];
    struct text reason; /* in `arena`; empty for a release */
};

/* {"digest": …}, with `needs_reason` also "reason": something to read, at most LIMIT_REASON_BYTES.
 * NULL: fine, else what is wrong. */
const char *decision_body_parse(struct arena *arena, struct text body, bool needs_reason,
                                struct decision_body *decision);

/* Can a person read it? Not only space, no control characters but line breaks, at most
 * LIMIT_REASON_BYTES. */
bool reason_is_readable(struct text reason);

/* Nothing at all, or {}. NULL: fine, else what is wrong. */
const char *empty_body_check(struct text body);

/* Is this one JSON object and nothing else? */
bool is_json_object(struct text text);

#endif

/*
 * held_value.h - a value that a driver sent in binary, as the text that an approver reads.
 */
#ifndef PGWICKET_SESSION_HELD_VALUE_H
#define PGWICKET_SESSION_HELD_VALUE_H

#include "parser/catalog.h"
#include "proxy/base/arena.h"
#include "proxy/base/attributes.h"

/* In `arena`. `catalog` tells of types that PostgreSQL's fixed OIDs do not; NULL: nothing. False for a type
 * whose form is not known, and for bytes that are no value of it. */
MUST_USE bool held_value_text(struct arena *arena, const struct catalog *catalog, uint32_t type,
                              struct text bytes, struct text *text);

#endif

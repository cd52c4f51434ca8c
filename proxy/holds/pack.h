/*
 * pack.h - the lists of a hold as one blob each: a count, then fields with their lengths, all in
 * network order. Unpacking checks everything; a blob that is short, long or odd is refused.
 */
#ifndef PGWICKET_HOLDS_PACK_H
#define PGWICKET_HOLDS_PACK_H

#include "proxy/base/buffer.h"
#include "proxy/holds/hold.h"

void pack_types(struct buffer *out, const struct hold *hold);
void pack_values(struct buffer *out, const struct hold *hold);
void pack_settings(struct buffer *out, const struct hold *hold);

/* Fill the hold's list with memory of `arena`; false, with the list empty, if the blob is not one.
 */
MUST_USE bool unpack_types(struct arena *arena, struct text blob, struct hold *hold);
MUST_USE bool unpack_values(struct arena *arena, struct text blob, struct hold *hold);
MUST_USE bool unpack_settings(struct arena *arena, struct text blob, struct hold *hold);

#endif

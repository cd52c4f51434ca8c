/* source.h - a file of the user's, read whole. */
#ifndef PGWICKET_CONFIG_SOURCE_H
#define PGWICKET_CONFIG_SOURCE_H

#include "proxy/base/buffer.h"

/* The file's bytes, one more than LIMIT_CONFIGURATION_BYTES at most; for source_release. False: it
 * cannot be read, and `problems` says why. */
MUST_USE bool source_read(const char *path, struct text *source, struct buffer *problems);

/* Overwrites the bytes, which may hold secrets, and frees them. */
void source_release(struct text source);

#endif

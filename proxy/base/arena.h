/*
 * arena.h - memory with one common end: what belongs to one statement, one policy, one catalog.
 *
 * Allocation never fails (see memory_allocate) and is zeroed; nothing is freed alone.
 */
#ifndef PGWICKET_BASE_ARENA_H
#define PGWICKET_BASE_ARENA_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

struct arena_block;

struct arena {
    struct arena_block *newest;
    size_t size; /* bytes handed out since the last reset */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena); /* frees everything; the arena may be used again */
void arena_reset(struct arena *arena); /* forgets everything, keeps the first block for the next */

void *arena_allocate(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Copies; a NUL follows the bytes, so that `.bytes` may be used as a C string. */
struct text arena_text(struct arena *arena, struct text text);
struct text arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

/* A growing array in an arena: makes room for one more element of `size` bytes and returns it,
 * zeroed. `*items` moves when it grows; old copies stay until the arena ends. */
void *arena_push(struct arena *arena, void **items, size_t *count, size_t *capacity, size_t size);

#endif

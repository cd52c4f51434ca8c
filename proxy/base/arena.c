/* arena.c - blocks that double in size, handed out from the newest. */
#include "proxy/base/arena.h"

#include "proxy/base/invariant.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_FIRST = 4096, BLOCK_MAX = 1024 * 1024, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *older;
    size_t size;
    size_t used;
    _Alignas(ALIGNMENT) uint8_t bytes[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

static void free_older_than(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void arena_release(struct arena *arena)
{
    free_older_than(arena->newest);
    arena_init(arena);
}

void arena_reset(struct arena *arena)
{
    struct arena_block *block = arena->newest;
    while (block != NULL && block->older != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    if (block != NULL)
        block->used = 0;
    arena->newest = block;
    arena->size = 0;
}

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    size_t wanted = arena->newest != NULL ? arena->newest->size * 2 : BLOCK_FIRST;
    if (wanted > BLOCK_MAX)
        wanted = BLOCK_MAX;
    if (wanted < size)
        wanted = size;
    struct arena_block *block = memory_allocate(sizeof *block + wanted);
    *block = (struct arena_block){.older = arena->newest, .size = wanted};
    arena->newest = block;
    return block;
}

void *arena_allocate(struct arena *arena, size_t size)
{
    INVARIANT(size < SIZE_MAX / 2);
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct arena_block *block = arena->newest;
    if (block == NULL || rounded > block->size - block->used)
        block = add_block(arena, rounded);
    void *memory = block->bytes + block->used;
    block->used += rounded;
    arena->size += rounded;
    return memset(memory, 0, rounded);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    INVARIANT(!__builtin_mul_overflow(count, size, &total));
    return arena_allocate(arena, total);
}

struct text arena_text(struct arena *arena, struct text text)
{
    char *copy = arena_allocate(arena, text.size + 1);
    if (text.size > 0)
        memcpy(copy, text.bytes, text.size);
    return (struct text){copy, text.size};
}

struct text arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    INVARIANT(size >= 0);
    char *copy = arena_allocate(arena, (size_t)size + 1);
    vsnprintf(copy, (size_t)size + 1, format, again);
    va_end(again);
    return (struct text){copy, (size_t)size};
}

void *arena_push(struct arena *arena, void **items, size_t *count, size_t *capacity, size_t size)
{
    if (*count == *capacity) {
        size_t larger = *capacity > 0 ? *capacity * 2 : 8;
        void *moved = arena_array(arena, larger, size);
        if (*count > 0)
            memcpy(moved, *items, *count * size);
        *items = moved;
        *capacity = larger;
    }
    return (uint8_t *)*items + (*count)++ * size;
}

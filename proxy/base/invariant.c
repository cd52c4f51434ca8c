/* invariant.c - ends the process when one of our own rules is broken, or memory is exhausted. */
#include "proxy/base/invariant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void invariant_failed(const char *expression, const char *file, int line)
{
    fprintf(stderr, "pgwicket: internal error: %s does not hold (%s:%d)\n", expression, file, line);
    abort();
}

static void *checked(void *pointer)
{
    if (pointer == NULL) {
        fputs("pgwicket: out of memory\n", stderr);
        abort();
    }
    return pointer;
}

void *memory_allocate(size_t size)
{
    return checked(malloc(size > 0 ? size : 1));
}

void *memory_allocate_zeroed(size_t count, size_t size)
{
    return checked(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *memory_resize(void *pointer, size_t size)
{
    return checked(realloc(pointer, size > 0 ? size : 1));
}

char *memory_copy_string(const char *string)
{
    size_t size = strlen(string) + 1;
    return memcpy(memory_allocate(size), string, size);
}

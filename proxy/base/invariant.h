/*
 * invariant.h - assertions that stay on in every build.
 *
 * For our own mistakes only; everybody else's mistakes are error values. In a firewall, going on
 * with broken state is the worst outcome, so a broken invariant ends the process.
 */
#ifndef PGWICKET_BASE_INVARIANT_H
#define PGWICKET_BASE_INVARIANT_H

#include <stddef.h>

_Noreturn void invariant_failed(const char *expression, const char *file, int line);

#define INVARIANT(expression)                                                                      \
    ((expression) ? (void)0 : invariant_failed(#expression, __FILE__, __LINE__))

/* malloc, calloc and realloc that end the process when there is no memory: every input has a limit
 * (limits.h), so running out means that the machine is too small, not that a client was hostile. */
void *memory_allocate(size_t size);
void *memory_allocate_zeroed(size_t count, size_t size);
void *memory_resize(void *pointer, size_t size);
char *memory_copy_string(const char *string);

#endif

/*
 * problems.h - everything that is wrong with a configuration file, collected and then shown at once:
 * file:line:column, what was found and expected, the source line, a caret under the place.
 */
#ifndef PGWICKET_CONFIG_PROBLEMS_H
#define PGWICKET_CONFIG_PROBLEMS_H

#include "proxy/base/arena.h"
#include "proxy/base/buffer.h"
#include "proxy/base/place.h"

struct problem;

struct problems {
    struct arena *arena;
    struct text path;
    struct text source;
    struct problem *items;
    size_t count, capacity;
    size_t errors; /* warnings are not among them */
};

void problem_error(struct problems *problems, struct place place, const char *format, ...)
    PRINTF_LIKE(3, 4);
void problem_warning(struct problems *problems, struct place place, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Appends all of them, in the order of the file. Passwords in the shown lines are starred out. */
void problems_print(const struct problems *problems, struct buffer *out);

/* Of `names`, the one that a slip of the fingers away from `written`; NULL if none is. */
const char *problems_nearest_name(struct text written, const char *const *names, size_t count);

#endif

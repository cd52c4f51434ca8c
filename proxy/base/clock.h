/*
 * clock.h - points in time and their texts. Time is an argument of everything that needs it; only
 * the shells (net, commands, threads of their own) ask the system.
 */
#ifndef PGWICKET_BASE_CLOCK_H
#define PGWICKET_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds since 1970-01-01 UTC. A struct, so that it cannot be mixed up with a duration. */
struct instant {
    int64_t us;
};

struct instant clock_now(void);   /* wall clock */
int64_t clock_monotonic_us(void); /* for durations */

enum { INSTANT_TEXT_SIZE = 32 };

/* RFC 3339 in UTC with microseconds: "2026-11-30T11:20:57.657123Z". */
void instant_to_text(struct instant instant, char text[INSTANT_TEXT_SIZE]);

/* "12:20:57 UTC", for messages to agents. */
void instant_to_clock_text(struct instant instant, char text[INSTANT_TEXT_SIZE]);

#endif

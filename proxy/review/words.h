/* words.h - numbers, times and spans of time as people read them. Pure; texts live in the arena. */
#ifndef PGWICKET_REVIEW_WORDS_H
#define PGWICKET_REVIEW_WORDS_H

#include "proxy/base/arena.h"
#include "proxy/base/clock.h"

/* "48,213" */
struct text number_words(struct arena *arena, int64_t number);

/* "1 row", "48,213 rows"; "no rows" for none. */
struct text rows_words(struct arena *arena, int64_t rows);

/* "1 view", "2 views" */
struct text count_words(struct arena *arena, int64_t count, const char *one, const char *many);

/* "12 MB" */
struct text size_words(struct arena *arena, int64_t bytes);

/* "23 min left", "4 s left", "2 days left"; "no time left". */
struct text left_words(struct arena *arena, struct instant until, struct instant now);

/* "36 min ago", "just now". */
struct text ago_words(struct arena *arena, struct instant then, struct instant now);

/* "15 minutes", "1 hour" */
struct text span_words(struct arena *arena, int64_t span_us);

/* "11:50:57", "11:50", "30 Nov", "2026-11-30T11:50:57Z"; UTC. */
struct text clock_words(struct arena *arena, struct instant instant);
struct text minute_words(struct arena *arena, struct instant instant);
struct text date_words(struct arena *arena, struct instant instant);
struct text machine_time(struct arena *arena, struct instant instant);

/* "0.04 %", "34 %" */
struct text share_words(struct arena *arena, int64_t part, int64_t whole);

#endif

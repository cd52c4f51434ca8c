/*
 * sample.h - the sampled rows of a stored effect, as a table: columns, and for each row what was and
 * what is now. Pure; texts live in the arena.
 */
#ifndef PGWICKET_REVIEW_SAMPLE_H
#define PGWICKET_REVIEW_SAMPLE_H

#include "proxy/base/arena.h"

enum sample_kind { SAMPLE_ABSENT = 0, SAMPLE_NULL, SAMPLE_TEXT };

struct sample_value {
    enum sample_kind kind;
    struct text text;
};

struct sample_row {
    bool has_old;
    bool has_new;
    struct sample_value *old_values; /* one for each column */
    struct sample_value *new_values;
};

struct sample {
    struct text *columns; /* in the order of the table */
    bool *changed;        /* does any row differ there? */
    bool *key;
    size_t column_count;
    struct sample_row *rows;
    size_t row_count;
};

/* Reads rows.sample and rows.key of the effect; empty if there is none. */
struct sample sample_read(struct arena *arena, struct text effect);

bool sample_values_equal(const struct sample_value *a, const struct sample_value *b);

#endif

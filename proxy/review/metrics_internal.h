/* metrics_internal.h - what counting and the page share; for metrics*.c only. */
#ifndef PGWICKET_REVIEW_METRICS_INTERNAL_H
#define PGWICKET_REVIEW_METRICS_INTERNAL_H

#include "proxy/review/metrics.h"

#include <pthread.h>
#include <stdatomic.h>

/* One counter with its label values. Never freed or moved while its thread counts. */
struct series {
    enum metric metric;
    uint64_t hash;
    size_t size; /* of the label values, each with a NUL behind it */
    atomic_int_least64_t count;
    char labels[];
};

struct histogram_counts {
    atomic_int_least64_t buckets[HISTOGRAM_BUCKETS_MAX + 1]; /* the last: beyond all bounds */
    atomic_int_least64_t sum_millionths;
};

/* Its thread alone writes; it takes the mutex only where the table itself changes. Others take it to
 * read the table. */
struct metrics_thread {
    pthread_mutex_t mutex;
    struct series **table; /* open addressing; at most half full */
    size_t capacity;       /* a power of two */
    size_t count;
    struct histogram_counts histograms[HISTOGRAM_COUNT];
    struct metrics_thread *next;
};

struct metrics {
    pthread_mutex_t mutex; /* of the list */
    struct metrics_thread *first;
};

size_t metric_label_count(enum metric metric);

/* Label values as a series has them, into `out`; false: they are too long to be ones of ours. */
enum { LABEL_BYTES_MAX = 1024 };
MUST_USE bool series_labels(enum metric metric, const struct text *labels,
                            char out[LABEL_BYTES_MAX], size_t *size);

#endif

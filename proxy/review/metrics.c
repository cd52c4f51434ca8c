/*
 * metrics.c - counting; see metrics.h. A series is found by a hash of its labels in a table that only
 * its thread changes; the numbers are atomic so that the page can read them meanwhile.
 */
#include "proxy/review/metrics_internal.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 256 };

struct metrics *metrics_new(void)
{
    struct metrics *metrics = memory_allocate_zeroed(1, sizeof *metrics);
    pthread_mutex_init(&metrics->mutex, NULL);
    return metrics;
}

static void free_thread(struct metrics_thread *thread)
{
    for (size_t i = 0; i < thread->capacity; i++)
        free(thread->table[i]);
    free(thread->table);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}

void metrics_free(struct metrics *metrics)
{
    if (metrics == NULL)
        return;
    for (struct metrics_thread *thread = metrics->first, *next; thread != NULL; thread = next) {
        next = thread->next;
        free_thread(thread);
    }
    pthread_mutex_destroy(&metrics->mutex);
    free(metrics);
}

struct metrics_thread *metrics_join(struct metrics *metrics)
{
    struct metrics_thread *thread = memory_allocate_zeroed(1, sizeof *thread);
    pthread_mutex_init(&thread->mutex, NULL);
    thread->capacity = CAPACITY_MIN;
    thread->table = memory_allocate_zeroed(thread->capacity, sizeof *thread->table);
    pthread_mutex_lock(&metrics->mutex);
    thread->next = metrics->first;
    metrics->first = thread;
    pthread_mutex_unlock(&metrics->mutex);
    return thread;
}

size_t metric_label_count(enum metric metric)
{
    const struct metric_description *description = metric_description(metric);
    size_t count = 0;
    while (description->labels[count] != NULL)
        count++;
    return count;
}

bool series_labels(enum metric metric, const struct text *labels, char out[LABEL_BYTES_MAX],
                   size_t *size)
{
    size_t used = 0;
    for (size_t i = 0; i < metric_label_count(metric); i++) {
        if (labels[i].size >= LABEL_BYTES_MAX - used)
            return false;
        if (labels[i].size > 0)
            memcpy(out + used, labels[i].bytes, labels[i].size);
        used += labels[i].size;
        out[used++] = '\0';
    }
    *size = used;
    return true;
}

/* FNV-1a. */
static uint64_t hash_of(enum metric metric, const char *labels, size_t size)
{
    uint64_t hash = 14695981039346656037u ^ metric;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)labels[i]) * 1099511628211u;
    return hash;
}

/* The place of the series, or the empty one where it belongs. */
static struct series **place_of(struct series **table, size_t capacity, uint64_t hash,
                                enum metric metric, const char *labels, size_t size)
{
    for (size_t at = hash & (capacity - 1);; at = (at + 1) & (capacity - 1)) {
        const struct series *series = table[at];
        if (series == NULL ||
            (series->hash == hash && series->metric == metric && series->size == size &&
             memcmp(series->labels, labels, size) == 0))
            return &table[at];
    }
}

static void grow(struct metrics_thread *thread)
{
    size_t capacity = thread->capacity * 2;
    struct series **table = memory_allocate_zeroed(capacity, sizeof *table);
    for (size_t i = 0; i < thread->capacity; i++) {
        struct series *series = thread->table[i];
        if (series != NULL)
            *place_of(table, capacity, series->hash, series->metric, series->labels, series->size) =
                series;
    }
    free(thread->table);
    thread->table = table;
    thread->capacity = capacity;
}

static struct series *add_series(struct metrics_thread *thread, enum metric metric, uint64_t hash,
                                 const char *labels, size_t size)
{
    struct series *series = memory_allocate_zeroed(1, sizeof *series + size);
    series->metric = metric;
    series->hash = hash;
    series->size = size;
    memcpy(series->labels, labels, size);
    pthread_mutex_lock(&thread->mutex);
    if (thread->count * 2 >= thread->capacity)
        grow(thread);
    *place_of(thread->table, thread->capacity, hash, metric, labels, size) = series;
    thread->count++;
    pthread_mutex_unlock(&thread->mutex);
    return series;
}

static struct series *find_series(struct metrics_thread *thread, enum metric metric,
                                  const struct text *labels)
{
    char bytes[LABEL_BYTES_MAX];
    size_t size;
    if (!series_labels(metric, labels, bytes, &size))
        return NULL;
    uint64_t hash = hash_of(metric, bytes, size);
    struct series *series =
        *place_of(thread->table, thread->capacity, hash, metric, bytes, size);
    if (series == NULL && thread->count < LIMIT_METRIC_SERIES)
        series = add_series(thread, metric, hash, bytes, size);
    return series;
}

/* The one series of the metric that takes what has no room. */
static struct series *other_series(struct metrics_thread *thread, enum metric metric)
{
    static const char others[] = "other\0other\0other\0other";
    size_t size = metric_label_count(metric) * sizeof "other";
    uint64_t hash = hash_of(metric, others, size);
    struct series *series =
        *place_of(thread->table, thread->capacity, hash, metric, others, size);
    return series != NULL ? series : add_series(thread, metric, hash, others, size);
}

/* Nobody else writes it: no read-modify-write is needed. */
static void increase(atomic_int_least64_t *number, int64_t by)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

void metrics_add(struct metrics_thread *thread, enum metric metric, const struct text *labels,
                 int64_t count)
{
    struct series *series = find_series(thread, metric, labels);
    if (series == NULL)
        series = other_series(thread, metric);
    increase(&series->count, count);
}

void metrics_observe(struct metrics_thread *thread, enum histogram histogram, double value)
{
    enum { MILLION = 1000000 };
    const double *bounds = histogram_description(histogram)->buckets;
    struct histogram_counts *counts = &thread->histograms[histogram];
    size_t at = 0;
    while (bounds[at] > 0 && value > bounds[at])
        at++;
    increase(&counts->buckets[at], 1);
    /* A sum that leaves the range means nothing any more, but must not wrap. */
    double millionths = value * MILLION;
    increase(&counts->sum_millionths, millionths < 1e15 ? (int64_t)(millionths + 0.5)
                                                        : (int64_t)1e15);
}

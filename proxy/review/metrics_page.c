/*
 * metrics_page.c - the page that Prometheus reads: all threads' numbers added up, in the order of
 * metrics_names.c. See metrics.h.
 */
#include "proxy/review/metrics_internal.h"

#include "proxy/base/arena.h"
#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

struct line {
    enum metric metric;
    size_t size;
    const char *labels;
    double value;
};

struct metrics_page {
    struct arena arena;
    struct line *lines;
    size_t count, capacity;
    int64_t buckets[HISTOGRAM_COUNT][HISTOGRAM_BUCKETS_MAX + 1];
    int64_t sums[HISTOGRAM_COUNT];
};

static void add_line(struct metrics_page *page, enum metric metric, const char *labels, size_t size,
                     double value)
{
    if (page->count == page->capacity) {
        page->capacity = page->capacity > 0 ? page->capacity * 2 : 256;
        page->lines = memory_resize(page->lines, page->capacity * sizeof *page->lines);
    }
    struct text copy = arena_text(&page->arena, (struct text){labels, size});
    page->lines[page->count++] =
        (struct line){.metric = metric, .size = size, .labels = copy.bytes, .value = value};
}

static void add_histograms(struct metrics_page *page, const struct metrics_thread *thread)
{
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++) {
        const struct histogram_counts *counts = &thread->histograms[i];
        for (size_t j = 0; j <= HISTOGRAM_BUCKETS_MAX; j++)
            page->buckets[i][j] +=
                atomic_load_explicit(&counts->buckets[j], memory_order_relaxed);
        page->sums[i] += atomic_load_explicit(&counts->sum_millionths, memory_order_relaxed);
    }
}

static void add_thread(struct metrics_page *page, struct metrics_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    for (size_t i = 0; i < thread->capacity; i++) {
        const struct series *series = thread->table[i];
        if (series != NULL)
            add_line(page, series->metric, series->labels, series->size,
                     (double)atomic_load_explicit(&series->count, memory_order_relaxed));
    }
    pthread_mutex_unlock(&thread->mutex);
    add_histograms(page, thread);
}

struct metrics_page *metrics_page_new(struct metrics *metrics)
{
    struct metrics_page *page = memory_allocate_zeroed(1, sizeof *page);
    arena_init(&page->arena);
    pthread_mutex_lock(&metrics->mutex);
    for (struct metrics_thread *thread = metrics->first; thread != NULL; thread = thread->next)
        add_thread(page, thread);
    pthread_mutex_unlock(&metrics->mutex);
    return page;
}

void metrics_page_free(struct metrics_page *page)
{
    arena_release(&page->arena);
    free(page->lines);
    free(page);
}

void metrics_page_set(struct metrics_page *page, enum metric metric, const struct text *labels,
                      double value)
{
    char bytes[LABEL_BYTES_MAX];
    size_t size;
    if (series_labels(metric, labels, bytes, &size))
        add_line(page, metric, bytes, size, value);
}

/* --- writing ---------------------------------------------------------------------------------------- */

static int compare_labels(const struct line *a, const struct line *b)
{
    size_t shorter = a->size < b->size ? a->size : b->size;
    int order = shorter > 0 ? memcmp(a->labels, b->labels, shorter) : 0;
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    if (a->metric != b->metric)
        return a->metric < b->metric ? -1 : 1;
    return compare_labels(a, b);
}

static void write_head(struct buffer *out, const char *name, const char *help, const char *type)
{
    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_label_value(struct buffer *out, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            buffer_append_string(out, "\\n");
            continue;
        }
        if (*value == '"' || *value == '\\')
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, (uint8_t)*value);
    }
}

static void write_number(struct buffer *out, double value)
{
    const double exact = 9007199254740992.0; /* 2^53: whole numbers below it are exact */
    bool whole = value > -exact && value < exact && value == (double)(int64_t)value;
    buffer_printf(out, whole ? " %.0f\n" : " %.9g\n", value);
}

static void write_line(struct buffer *out, const struct line *line, double value)
{
    const struct metric_description *description = metric_description(line->metric);
    const char *label = line->labels;
    buffer_append_string(out, description->name);
    for (size_t i = 0; description->labels[i] != NULL; i++) {
        buffer_printf(out, "%s%s=\"", i == 0 ? "{" : ",", description->labels[i]);
        write_label_value(out, label);
        buffer_append_byte(out, '"');
        label += strlen(label) + 1;
    }
    if (description->labels[0] != NULL)
        buffer_append_byte(out, '}');
    write_number(out, value);
}

/* Writes the lines of one metric from `at` on; returns where the next one begins. */
static size_t write_metric(const struct metrics_page *page, struct buffer *out, enum metric metric,
                           size_t at)
{
    const struct metric_description *description = metric_description(metric);
    write_head(out, description->name, description->help,
               description->is_counter ? "counter" : "gauge");
    while (at < page->count && page->lines[at].metric == metric) {
        const struct line *line = &page->lines[at];
        double sum = 0;
        for (; at < page->count && compare_lines(line, &page->lines[at]) == 0; at++)
            sum += page->lines[at].value;
        write_line(out, line, sum);
    }
    return at;
}

static void write_histogram(const struct metrics_page *page, struct buffer *out,
                            enum histogram histogram)
{
    const struct histogram_description *description = histogram_description(histogram);
    int64_t count = 0;
    size_t at = 0;
    write_head(out, description->name, description->help, "histogram");
    for (; description->buckets[at] > 0; at++) {
        count += page->buckets[histogram][at];
        buffer_printf(out, "%s_bucket{le=\"%g\"} %lld\n", description->name,
                      description->buckets[at], (long long)count);
    }
    count += page->buckets[histogram][at];
    buffer_printf(out, "%s_bucket{le=\"+Inf\"} %lld\n", description->name, (long long)count);
    buffer_printf(out, "%s_sum", description->name);
    write_number(out, (double)page->sums[histogram] / 1e6);
    buffer_printf(out, "%s_count %lld\n", description->name, (long long)count);
}

void metrics_page_write(struct metrics_page *page, struct buffer *out)
{
    if (page->count > 0)
        qsort(page->lines, page->count, sizeof *page->lines, compare_lines);
    size_t at = 0;
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        at = write_metric(page, out, (enum metric)metric, at);
    for (int histogram = 0; histogram < HISTOGRAM_COUNT; histogram++)
        write_histogram(page, out, (enum histogram)histogram);
}

/*
 * metrics.h - what Prometheus reads: counters, gauges and histograms, and the page of them.
 *
 * Each thread counts in a `metrics_thread` of its own: no lock, nothing shared, on the way of a
 * statement. The numbers of all threads are added up when the page is asked for. Names, helps, labels
 * and buckets are in metrics_names.c, a positive list; label values come from the configuration or
 * from constants, so the number of series is bounded by the configuration, and by
 * LIMIT_METRIC_SERIES a thread whatever happens: what is beyond it is counted with "other" for every
 * label.
 *
 * Nothing here fails.
 */
#ifndef PGWICKET_REVIEW_METRICS_H
#define PGWICKET_REVIEW_METRICS_H

#include "proxy/base/buffer.h"

enum metric {
    METRIC_BUILD_INFO = 0,
    METRIC_SESSIONS,
    METRIC_SESSIONS_TOTAL,
    METRIC_STATEMENTS_TOTAL,
    METRIC_RULE_HITS_TOTAL,
    METRIC_HOLDS,
    METRIC_HOLDS_TOTAL,
    METRIC_HOLD_OLDEST_SECONDS,
    METRIC_WAITING_SESSIONS,
    METRIC_ROWS_CHANGED_TOTAL,
    METRIC_ERRORS_TOTAL,
    METRIC_BYTES_TOTAL,
    METRIC_NOTIFICATIONS_TOTAL,
    METRIC_AUDIT_RECORDS_TOTAL,
    METRIC_AUDIT_ERRORS_TOTAL,
    METRIC_AUDIT_FREE_BYTES,
    METRIC_CATALOG_AGE_SECONDS,
    METRIC_UPSTREAM_UP,
    METRIC_CERTIFICATE_EXPIRY_SECONDS,
    METRIC_POLICY_MODE,
    METRIC_CONFIG_RELOAD_SUCCESS,
    METRIC_COUNT,
};

enum histogram {
    HISTOGRAM_JUDGE_SECONDS = 0,
    HISTOGRAM_EXPLAIN_SECONDS,
    HISTOGRAM_REHEARSAL_SECONDS,
    HISTOGRAM_OVERHEAD_SECONDS,
    HISTOGRAM_ESTIMATE_RATIO,
    HISTOGRAM_HOLD_WAIT_SECONDS,
    HISTOGRAM_COUNT,
};

enum { METRIC_LABELS_MAX = 4, HISTOGRAM_BUCKETS_MAX = 20 };

/* Name, help and labels as they are printed. */
struct metric_description {
    const char *name;
    const char *help;
    bool is_counter; /* else a gauge */
    const char *labels[METRIC_LABELS_MAX + 1]; /* NULL behind the last */
};

struct histogram_description {
    const char *name;
    const char *help;
    double buckets[HISTOGRAM_BUCKETS_MAX + 1]; /* upper bounds, rising; 0 behind the last */
};

const struct metric_description *metric_description(enum metric metric);
const struct histogram_description *histogram_description(enum histogram histogram);

/* --- counting ----------------------------------------------------------------------------------- */

struct metrics;        /* of a process */
struct metrics_thread; /* of one of its threads */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics); /* no thread counts any more; NULL is fine */

/* For the calling thread, or one that is being made; lives as long as `metrics`. */
struct metrics_thread *metrics_join(struct metrics *metrics);

/* Only on the thread's own thread. `labels` has as many values as the metric has labels, NULL where it
 * has none; they are copied when the series is new. 0 makes the series visible. */
void metrics_add(struct metrics_thread *thread, enum metric metric, const struct text *labels,
                 int64_t count);
void metrics_observe(struct metrics_thread *thread, enum histogram histogram, double value);

/* --- the page ----------------------------------------------------------------------------------- */

struct metrics_page;

/* The counters of this moment; from any thread. */
struct metrics_page *metrics_page_new(struct metrics *metrics);
void metrics_page_free(struct metrics_page *page);

/* Adds what is not counted but looked up. */
void metrics_page_set(struct metrics_page *page, enum metric metric, const struct text *labels,
                      double value);

/* Prometheus' text format 0.0.4: every metric has its HELP and TYPE, also those without a series. */
void metrics_page_write(struct metrics_page *page, struct buffer *out);

#endif

/* metrics_test.c - counting, adding up, and the page. */
#include "proxy/review/metrics.h"

#include "proxy/base/limits.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct buffer page_of(struct metrics *metrics)
{
    struct buffer out;
    struct metrics_page *page = metrics_page_new(metrics);
    buffer_init(&out, LIMIT_HTTP_ANSWER_BYTES);
    metrics_page_write(page, &out);
    metrics_page_free(page);
    return out;
}

static bool has(struct metrics *metrics, const char *line)
{
    struct buffer page = page_of(metrics);
    bool found = strstr(buffer_string(&page), line) != NULL;
    if (!found)
        fprintf(stderr, "%s\n", buffer_string(&page));
    buffer_release(&page);
    return found;
}

Test(metrics, every_metric_has_a_name_a_help_and_its_own_place)
{
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric_description *metric = metric_description((enum metric)i);
        cr_assert_not_null(metric->name);
        cr_expect_eq(strncmp(metric->name, "pgwicket_", 9), 0);
        bool total = strstr(metric->name, "_total") != NULL;
        cr_expect_eq(total, metric->is_counter, "%s: only counters end in _total", metric->name);
        cr_expect_null(strchr(metric->help, '\n'));
        for (int j = 0; j < i; j++)
            cr_expect_str_neq(metric->name, metric_description((enum metric)j)->name);
    }
    for (int i = 0; i < HISTOGRAM_COUNT; i++) {
        const double *bounds = histogram_description((enum histogram)i)->buckets;
        cr_expect_gt(bounds[0], 0);
        cr_expect_eq(bounds[HISTOGRAM_BUCKETS_MAX], 0, "an end that is seen");
        for (int j = 1; bounds[j] > 0; j++)
            cr_expect_gt(bounds[j], bounds[j - 1]);
    }
}

Test(metrics, threads_are_added_up)
{
    struct metrics *metrics = metrics_new();
    struct metrics_thread *a = metrics_join(metrics);
    struct metrics_thread *b = metrics_join(metrics);
    const struct text labels[] = {TEXT("p"), TEXT("bot"), TEXT("allow"), TEXT("select")};
    metrics_add(a, METRIC_STATEMENTS_TOTAL, labels, 3);
    metrics_add(b, METRIC_STATEMENTS_TOTAL, labels, 4);
    cr_expect(has(metrics, "\npgwicket_statements_total{policy=\"p\",agent=\"bot\",verdict=\"allow\","
                           "verb=\"select\"} 7\n"));
    /* A session may begin on one page and end before the next. */
    const struct text state[] = {TEXT("idle")};
    metrics_add(a, METRIC_SESSIONS, state, 1);
    metrics_add(a, METRIC_SESSIONS, state, -1);
    cr_expect(has(metrics, "\npgwicket_sessions{state=\"idle\"} 0\n"));
    metrics_free(metrics);
}

Test(metrics, label_values_are_escaped)
{
    struct metrics *metrics = metrics_new();
    const struct text policy[] = {TEXT("a\"b\\c\nd")};
    metrics_add(metrics_join(metrics), METRIC_ROWS_CHANGED_TOTAL, policy, 1);
    cr_expect(has(metrics, "\npgwicket_rows_changed_total{policy=\"a\\\"b\\\\c\\nd\"} 1\n"));
    metrics_free(metrics);
}

Test(metrics, label_values_do_not_run_into_each_other)
{
    struct metrics *metrics = metrics_new();
    struct metrics_thread *thread = metrics_join(metrics);
    const struct text one[] = {TEXT("ab"), TEXT("c"), TEXT("allow")};
    const struct text other[] = {TEXT("a"), TEXT("bc"), TEXT("allow")};
    metrics_add(thread, METRIC_RULE_HITS_TOTAL, one, 1);
    metrics_add(thread, METRIC_RULE_HITS_TOTAL, other, 2);
    cr_expect(has(metrics, "{policy=\"ab\",rule=\"c\",verdict=\"allow\"} 1\n"));
    cr_expect(has(metrics, "{policy=\"a\",rule=\"bc\",verdict=\"allow\"} 2\n"));
    metrics_free(metrics);
}

Test(metrics, what_is_on_a_bound_is_in_its_bucket)
{
    struct metrics *metrics = metrics_new();
    struct metrics_thread *thread = metrics_join(metrics);
    const double *bounds = histogram_description(HISTOGRAM_HOLD_WAIT_SECONDS)->buckets;
    cr_assert_eq(bounds[0], 1.0);
    metrics_observe(thread, HISTOGRAM_HOLD_WAIT_SECONDS, 1);
    metrics_observe(thread, HISTOGRAM_HOLD_WAIT_SECONDS, 1.5);
    metrics_observe(thread, HISTOGRAM_HOLD_WAIT_SECONDS, 1e7);
    cr_expect(has(metrics, "\npgwicket_hold_wait_seconds_bucket{le=\"1\"} 1\n"));
    cr_expect(has(metrics, "\npgwicket_hold_wait_seconds_bucket{le=\"5\"} 2\n"));
    cr_expect(has(metrics, "\npgwicket_hold_wait_seconds_bucket{le=\"86400\"} 2\n"));
    cr_expect(has(metrics, "\npgwicket_hold_wait_seconds_bucket{le=\"+Inf\"} 3\n"));
    cr_expect(has(metrics, "\npgwicket_hold_wait_seconds_sum 10000002.5\n"));
    cr_expect(has(metrics, "\npgwicket_hold_wait_seconds_count 3\n"));
    metrics_free(metrics);
}

Test(metrics, more_series_than_there_is_room_for_are_counted_together)
{
    struct metrics *metrics = metrics_new();
    struct metrics_thread *thread = metrics_join(metrics);
    for (int i = 0; i < LIMIT_METRIC_SERIES + 5; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%d", i);
        const struct text policy[] = {text_from(name)};
        metrics_add(thread, METRIC_ROWS_CHANGED_TOTAL, policy, 1);
    }
    cr_expect(has(metrics, "\npgwicket_rows_changed_total{policy=\"p19999\"} 1\n"));
    cr_expect(has(metrics, "\npgwicket_rows_changed_total{policy=\"other\"} 5\n"));
    char longer[3000];
    memset(longer, 'x', sizeof longer);
    const struct text policy[] = {{longer, sizeof longer}};
    metrics_add(thread, METRIC_ROWS_CHANGED_TOTAL, policy, 1);
    cr_expect(has(metrics, "\npgwicket_rows_changed_total{policy=\"other\"} 6\n"));
    metrics_free(metrics);
}

enum { THREADS = 4, TIMES = 20000 };

static void *count_much(void *argument)
{
    struct metrics_thread *thread = argument;
    for (int i = 0; i < TIMES; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%d", i % 2000); /* the table grows meanwhile */
        const struct text policy[] = {text_from(name)};
        metrics_add(thread, METRIC_ROWS_CHANGED_TOTAL, policy, 1);
        metrics_observe(thread, HISTOGRAM_JUDGE_SECONDS, 1e-6);
    }
    return NULL;
}

Test(metrics, nothing_is_lost_while_the_page_is_read)
{
    struct metrics *metrics = metrics_new();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_much, metrics_join(metrics));
    for (int i = 0; i < 20; i++) {
        struct buffer page = page_of(metrics);
        cr_expect_not(page.overflow);
        buffer_release(&page);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect(has(metrics, "\npgwicket_rows_changed_total{policy=\"p1999\"} 40\n"));
    cr_expect(has(metrics, "\npgwicket_judge_seconds_count 80000\n"));
    cr_expect(has(metrics, "\npgwicket_judge_seconds_sum 0.08\n"));
    metrics_free(metrics);
}

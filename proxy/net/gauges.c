/* gauges.c - see gauges.h. */
#include "proxy/net/gauges.h"

#include <math.h>

#define WORDS_OF(number) WORDS_OF_(number)
#define WORDS_OF_(number) #number

enum { MILLION = 1000000 };

static void add_audit(const struct gauges *gauges, struct metrics_page *page)
{
    struct audit_sink_counts counts = audit_sink_count(gauges->audit);
    metrics_page_set(page, METRIC_AUDIT_RECORDS_TOTAL, NULL, (double)counts.records);
    metrics_page_set(page, METRIC_AUDIT_ERRORS_TOTAL, NULL, (double)counts.errors);
    if (counts.has_free_bytes)
        metrics_page_set(page, METRIC_AUDIT_FREE_BYTES, NULL, (double)counts.free_bytes);
}

static void add_holds(const struct gauges *gauges, struct metrics_page *page)
{
    if (gauges->holds == NULL)
        return;
    int64_t counts[HOLD_STATE_COUNT];
    hold_store_counts(gauges->holds, counts);
    for (size_t i = HOLD_NONE + 1; i < HOLD_STATE_COUNT; i++) {
        const struct text state[] = {text_from(hold_state_name((enum hold_state)i))};
        metrics_page_set(page, METRIC_HOLDS, state, (double)counts[i]);
    }
    struct instant oldest = hold_store_oldest(gauges->holds);
    double age = oldest.us != 0 ? (double)(clock_now().us - oldest.us) / MILLION : 0;
    metrics_page_set(page, METRIC_HOLD_OLDEST_SECONDS, NULL, age > 0 ? age : 0);
}

static void add_notifications(const struct gauges *gauges, struct metrics_page *page)
{
    struct notifier_counts counts = notifier_count(gauges->notifier);
    const struct {
        struct text result;
        int64_t count;
    } results[] = {{TEXT("delivered"), counts.delivered},
                   {TEXT("retried"), counts.retried},
                   {TEXT("given_up"), counts.given_up},
                   {TEXT("dropped"), counts.dropped}};
    for (size_t i = 0; i < ARRAY_SIZE(results); i++)
        metrics_page_set(page, METRIC_NOTIFICATIONS_TOTAL, &results[i].result,
                         (double)results[i].count);
}

static void add_upstreams(const struct gauges *gauges, struct metrics_page *page)
{
    for (size_t i = 0; i < gauges->configuration->upstream_count; i++) {
        const struct text name[] = {gauges->configuration->upstreams[i].name};
        struct upstream_view view;
        if (!upstreams_view(gauges->upstreams, name[0], &view))
            continue;
        metrics_page_set(page, METRIC_UPSTREAM_UP, name, view.up ? 1 : 0);
        if (view.catalog != NULL)
            metrics_page_set(page, METRIC_CATALOG_AGE_SECONDS, name,
                             (double)(clock_monotonic_us() - view.loaded_us) / MILLION);
        catalog_release(view.catalog);
    }
}

static void add_policies(const struct gauges *gauges, struct metrics_page *page)
{
    for (size_t i = 0; i < gauges->configuration->policy_count; i++) {
        const struct policy *policy = &gauges->configuration->policies[i];
        const struct text enforce[] = {policy->name, TEXT("enforce")};
        const struct text observe[] = {policy->name, TEXT("observe")};
        metrics_page_set(page, METRIC_POLICY_MODE, enforce, policy->observe ? 0 : 1);
        metrics_page_set(page, METRIC_POLICY_MODE, observe, policy->observe ? 1 : 0);
    }
}

void gauges_write(const struct gauges *gauges, struct buffer *out)
{
    const struct text build[] = {TEXT(PGWICKET_VERSION), TEXT(WORDS_OF(PGWICKET_PG_MAJOR))};
    struct metrics_page *page = metrics_page_new(gauges->metrics);
    metrics_page_set(page, METRIC_BUILD_INFO, build, 1);
    metrics_page_set(page, METRIC_CONFIG_RELOAD_SUCCESS, NULL, gauges->reload_failed ? 0 : 1);
    if (isfinite(gauges->certificate_seconds))
        metrics_page_set(page, METRIC_CERTIFICATE_EXPIRY_SECONDS, NULL,
                         gauges->certificate_seconds);
    add_audit(gauges, page);
    add_holds(gauges, page);
    add_notifications(gauges, page);
    add_upstreams(gauges, page);
    add_policies(gauges, page);
    metrics_page_write(page, out);
    metrics_page_free(page);
}

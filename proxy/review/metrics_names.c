/*
 * metrics_names.c - the metrics that there are: names, helps, labels, buckets. See metrics.h.
 */
#include "proxy/review/metrics.h"

#include "proxy/base/invariant.h"

#define COUNTER(name, help, ...) {"pgwicket_" name, help, true, {__VA_ARGS__}}
#define GAUGE(name, help, ...)   {"pgwicket_" name, help, false, {__VA_ARGS__}}

static const struct metric_description metrics[METRIC_COUNT] = {
    [METRIC_BUILD_INFO] = GAUGE("build_info", "Always 1; the version of pgwicket and the major "
                                "version of PostgreSQL whose grammar it judges by.",
                                "version", "grammar"),
    [METRIC_SESSIONS] = GAUGE("sessions", "Connections of agents by what they do now.", "state"),
    [METRIC_SESSIONS_TOTAL] =
        COUNTER("sessions_total", "Attempts to open a session, by how they ended.", "result"),
    [METRIC_STATEMENTS_TOTAL] =
        COUNTER("statements_total", "Statements judged; the verb is that of the action that "
                "decided, none where nothing needed a rule.",
                "policy", "agent", "verdict", "verb"),
    [METRIC_RULE_HITS_TOTAL] =
        COUNTER("rule_hits_total", "Statements that a rule decided.", "policy", "rule", "verdict"),
    [METRIC_HOLDS] = GAUGE("holds", "Holds in the store.", "state"),
    [METRIC_HOLDS_TOTAL] =
        COUNTER("holds_total", "Holds that were created, decided or ended.", "policy", "outcome"),
    [METRIC_HOLD_OLDEST_SECONDS] =
        GAUGE("hold_oldest_seconds", "Age of the oldest pending hold, 0 if there is none.", NULL),
    [METRIC_WAITING_SESSIONS] =
        GAUGE("waiting_sessions", "Sessions that wait for a person.", NULL),
    [METRIC_ROWS_CHANGED_TOTAL] =
        COUNTER("rows_changed_total", "Rows that committed statements inserted, updated or deleted, "
                "by their command tags: without cascades and triggers.",
                "policy"),
    [METRIC_ERRORS_TOTAL] =
        COUNTER("errors_total", "Errors that agents were sent, by SQLSTATE; other where the "
                "code is neither pgwicket's nor one of PostgreSQL's common ones.",
                "code"),
    [METRIC_BYTES_TOTAL] = COUNTER("bytes_total", "Bytes of the protocol, inside of TLS; the login "
                                   "to the database is not counted.",
                                   "direction"),
    [METRIC_NOTIFICATIONS_TOTAL] =
        COUNTER("notifications_total", "Attempts to deliver a notification.", "result"),
    [METRIC_AUDIT_RECORDS_TOTAL] =
        COUNTER("audit_records_total", "Records written to the audit log.", NULL),
    [METRIC_AUDIT_ERRORS_TOTAL] =
        COUNTER("audit_errors_total", "Records that could not be written.", NULL),
    [METRIC_AUDIT_FREE_BYTES] =
        GAUGE("audit_free_bytes", "Free space of the audit log's file system.", NULL),
    [METRIC_CATALOG_AGE_SECONDS] =
        GAUGE("catalog_age_seconds", "Age of the catalog that statements are judged by.",
              "upstream"),
    [METRIC_UPSTREAM_UP] = GAUGE("upstream_up", "1 if the database answered last time.", "upstream"),
    [METRIC_CERTIFICATE_EXPIRY_SECONDS] =
        GAUGE("certificate_expiry_seconds", "Time until the first of pgwicket's certificates "
              "expires; below 0 it has.",
              NULL),
    [METRIC_POLICY_MODE] = GAUGE("policy_mode", "1 for the mode that a policy is in.", "policy",
                                 "mode"),
    [METRIC_CONFIG_RELOAD_SUCCESS] =
        GAUGE("config_reload_success", "1 if the last reading of the configuration was taken up.",
              NULL),
};

static const struct histogram_description histograms[HISTOGRAM_COUNT] = {
    [HISTOGRAM_JUDGE_SECONDS] = {"pgwicket_judge_seconds",
                                 "Time to parse one message and judge its statements.",
                                 {5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 0.01,
                                  0.05, 0.25, 1}},
    [HISTOGRAM_EXPLAIN_SECONDS] = {"pgwicket_explain_seconds",
                                   "Time that asking the planner for an estimate took.",
                                   {2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.5,
                                    2.5}},
    [HISTOGRAM_REHEARSAL_SECONDS] = {"pgwicket_rehearsal_seconds",
                                     "Time of a rehearsal, its rollback included.",
                                     {1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
                                      5, 10}},
    [HISTOGRAM_OVERHEAD_SECONDS] = {"pgwicket_overhead_seconds",
                                    "Time from a statement's arrival until it is sent to the "
                                    "database: judging, catalog, EXPLAIN, audit log; without "
                                    "statements that are held.",
                                    {1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3,
                                     0.01, 0.025, 0.1, 0.5, 2.5}},
    [HISTOGRAM_ESTIMATE_RATIO] = {"pgwicket_estimate_ratio",
                                  "Real rows divided by the planner's estimate, which counts as 1 "
                                  "where it is lower.",
                                  {0.01, 0.03, 0.1, 0.3, 0.5, 0.8, 1.25, 2, 3, 10, 30, 100, 1000}},
    [HISTOGRAM_HOLD_WAIT_SECONDS] = {"pgwicket_hold_wait_seconds",
                                     "Time from a hold's creation until a person released or "
                                     "refused it.",
                                     {1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400}},
};

const struct metric_description *metric_description(enum metric metric)
{
    INVARIANT(metric < METRIC_COUNT);
    return &metrics[metric];
}

const struct histogram_description *histogram_description(enum histogram histogram)
{
    INVARIANT(histogram < HISTOGRAM_COUNT);
    return &histograms[histogram];
}

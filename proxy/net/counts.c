/* counts.c - see counts.h. Label values are constants, or names of the configuration. */
#include "proxy/net/counts.h"

#include <string.h>

/* --- statements ------------------------------------------------------------------------------------ */

static struct text or_none(struct text value) { return value.size > 0 ? value : TEXT("none"); }

static void count_statement(struct metrics_thread *metrics, const struct audit_record *record,
                            bool written)
{
    struct text verdict = written ? record->verdict : TEXT("reject");
    const struct text statement[] = {or_none(record->policy), record->agent, verdict,
                                     or_none(record->verb)};
    metrics_add(metrics, METRIC_STATEMENTS_TOTAL, statement, 1);
    if (record->rule.size == 0 || !written)
        return;
    const struct text rule[] = {or_none(record->policy), record->rule, verdict};
    metrics_add(metrics, METRIC_RULE_HITS_TOTAL, rule, 1);
}

static bool tag_counts_changes(struct text tag)
{
    static const char *const changes[] = {"INSERT ", "UPDATE ", "DELETE ", "MERGE ", "COPY "};
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
        if (text_starts_with(tag, changes[i]))
            return true;
    return false;
}

void count_record(struct metrics_thread *metrics, const struct audit_record *record, bool written)
{
    if (record->event == AUDIT_STATEMENT || record->event == AUDIT_MESSAGE)
        count_statement(metrics, record, written);
    bool changed = record->event == AUDIT_OUTCOME && text_is(record->outcome, "success") &&
                   record->rows > 0 && tag_counts_changes(record->effect);
    const struct text policy[] = {or_none(record->policy)};
    if (changed)
        metrics_add(metrics, METRIC_ROWS_CHANGED_TOTAL, policy, record->rows);
}

void count_measure(struct metrics_thread *metrics, enum session_measure what, double value)
{
    static const enum histogram histograms[] = {
        [MEASURE_JUDGE] = HISTOGRAM_JUDGE_SECONDS,
        [MEASURE_EXPLAIN] = HISTOGRAM_EXPLAIN_SECONDS,
        [MEASURE_REHEARSAL] = HISTOGRAM_REHEARSAL_SECONDS,
        [MEASURE_OVERHEAD] = HISTOGRAM_OVERHEAD_SECONDS,
        [MEASURE_ESTIMATE_RATIO] = HISTOGRAM_ESTIMATE_RATIO,
    };
    metrics_observe(metrics, histograms[what], value);
}

/* --- errors and logins ------------------------------------------------------------------------------- */

/* pgwicket's own, and PostgreSQL's common ones. Any other five characters could be an agent's own:
 * RAISE takes what it is given. */
static const char *const codes[] = {
    "03000", "08000", "08003", "08006", "08P01", "0A000", "0L000", "0LP01", "20000", "21000", "22000",
    "22001", "22003", "22004", "22007", "22008", "2200D", "2200G", "22011", "22012", "22019", "2201B",
    "2201W", "2201X", "22021", "22023", "22025", "22026", "22030", "22032", "2202E", "22P01", "22P02",
    "22P03", "22P04", "22P05", "23000", "23001", "23502", "23503", "23505", "23514", "23P01", "24000",
    "25001", "25006", "25P01", "25P02", "25P03", "26000", "27000", "28000", "28P01", "2BP01", "34000",
    "38000", "3B001", "3D000", "3F000", "40001", "40002", "40003", "40P01", "42501", "42601", "42602",
    "42611", "42622", "42701", "42702", "42703", "42704", "42710", "42712", "42723", "42725", "42803",
    "42804", "42809", "42830", "42846", "42883", "42939", "42P01", "42P02", "42P03", "42P04", "42P05",
    "42P06", "42P07", "42P08", "42P10", "42P13", "42P16", "42P17", "42P18", "42P19", "42P20", "42P21",
    "42P22", "44000", "53000", "53100", "53200", "53300", "53400", "54000", "54001", "54011", "54023",
    "55000", "55006", "55P02", "55P03", "55PW1", "55PW2", "55PW3", "55PW4", "55PW5", "57000", "57014",
    "57P01", "57P02", "57P03", "57P05", "58000", "58030", "58P01", "P0001", "P0002", "P0003", "P0004",
    "XX000", "XX001", "XX002"};

static struct text known_code(struct text sqlstate)
{
    for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
        if (text_is(sqlstate, codes[i]))
            return sqlstate;
    return TEXT("other");
}

void count_error(struct metrics_thread *metrics, struct text sqlstate)
{
    const struct text code[] = {known_code(sqlstate)};
    metrics_add(metrics, METRIC_ERRORS_TOTAL, code, 1);
}

static const struct {
    const char *sqlstate;
    const char *result;
} results[] = {
    {"", "opened"},
    {"28P01", "refused"},      /* wrong password, unknown name */
    {"28000", "refused"},      /* no TLS, no name, a SCRAM exchange that does not fit */
    {"08P01", "malformed"},
    {"0A000", "unsupported"},  /* replication, another protocol */
    {"53300", "too_many"},
    {"55PW4", "paused"},
    {"3D000", "no_database"},
    {"42501", "setting"},      /* a startup parameter that may not be set */
    {"57P03", "unavailable"},  /* the database, or pgwicket stops, or the login took too long */
    {"58030", "audit"},
};

void count_login(struct metrics_thread *metrics, struct text sqlstate)
{
    struct text result[] = {TEXT("other")};
    for (size_t i = 0; i < ARRAY_SIZE(results); i++)
        if (text_is(sqlstate, results[i].sqlstate))
            result[0] = text_from(results[i].result);
    metrics_add(metrics, METRIC_SESSIONS_TOTAL, result, 1);
}

/* --- connections --------------------------------------------------------------------------------------- */

static const char *const activities[ACTIVITY_COUNT] = {
    [ACTIVITY_LOGIN] = "login",
    [ACTIVITY_IDLE] = "idle",
    [ACTIVITY_ACTIVE] = "active",
    [ACTIVITY_WAITING] = "waiting",
};

static void add_activity(struct metrics_thread *metrics, enum session_activity activity,
                         int64_t count)
{
    if (activity == ACTIVITY_NONE)
        return;
    const struct text state[] = {text_from(activities[activity])};
    metrics_add(metrics, METRIC_SESSIONS, state, count);
    if (activity == ACTIVITY_WAITING)
        metrics_add(metrics, METRIC_WAITING_SESSIONS, NULL, count);
}

void count_activity(struct metrics_thread *metrics, enum session_activity before,
                    enum session_activity now)
{
    if (before == now)
        return;
    add_activity(metrics, before, -1);
    add_activity(metrics, now, 1);
}

static void add_bytes(struct metrics_thread *metrics, const char *direction, uint64_t bytes)
{
    const struct text label[] = {text_from(direction)};
    if (bytes > 0)
        metrics_add(metrics, METRIC_BYTES_TOTAL, label, (int64_t)bytes);
}

void count_bytes(struct metrics_thread *metrics, const struct byte_counts *more)
{
    add_bytes(metrics, "from_agent", more->from_agent);
    add_bytes(metrics, "to_agent", more->to_agent);
    add_bytes(metrics, "to_upstream", more->to_upstream);
    add_bytes(metrics, "from_upstream", more->from_upstream);
}

/* --- holds ------------------------------------------------------------------------------------------------ */

static const char *const outcomes[HOLD_STATE_COUNT] = {
    [HOLD_PENDING] = "created",
    [HOLD_RELEASED] = "released",
    [HOLD_EXECUTED] = "executed",
    [HOLD_REFUSED] = "refused",
    [HOLD_EXPIRED] = "expired",
    [HOLD_LAPSED] = "lapsed",
    [HOLD_DRIFTED] = "drifted",
    [HOLD_FAILED] = "failed",
    [HOLD_UNKNOWN] = "unknown",
};

void count_hold(struct metrics_thread *metrics, const struct hold *hold, enum hold_state before,
                struct instant now)
{
    enum { MILLION = 1000000 };
    bool decided = before == HOLD_PENDING &&
                   (hold->state == HOLD_RELEASED || hold->state == HOLD_REFUSED);
    bool given_back = before == HOLD_RUNNING && hold->state == HOLD_RELEASED;
    if (hold->state == before || given_back || outcomes[hold->state] == NULL)
        return;
    const struct text labels[] = {hold->policy, text_from(outcomes[hold->state])};
    metrics_add(metrics, METRIC_HOLDS_TOTAL, labels, 1);
    if (decided)
        metrics_observe(metrics, HISTOGRAM_HOLD_WAIT_SECONDS,
                        (double)(now.us - hold->created.us) / MILLION);
}

/* --- zeros ------------------------------------------------------------------------------------------------- */

static void zero_outcomes(struct metrics_thread *metrics, const struct policy *policy)
{
    for (size_t i = 0; i < HOLD_STATE_COUNT && policy_holds(policy); i++) {
        const struct text labels[] = {policy->name,
                                      text_from(outcomes[i] != NULL ? outcomes[i] : "")};
        if (outcomes[i] != NULL)
            metrics_add(metrics, METRIC_HOLDS_TOTAL, labels, 0);
    }
}

static void zero_policy(struct metrics_thread *metrics, const struct policy *policy)
{
    metrics_add(metrics, METRIC_ROWS_CHANGED_TOTAL, &policy->name, 0);
    zero_outcomes(metrics, policy);
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct text labels[] = {policy->name, policy->rules[i].name,
                                      text_from(verdict_name(policy->rules[i].verdict))};
        metrics_add(metrics, METRIC_RULE_HITS_TOTAL, labels, 0);
    }
}

void count_zeros(struct metrics_thread *metrics, const struct configuration *configuration)
{
    static const char *const directions[] = {"from_agent", "to_agent", "to_upstream",
                                             "from_upstream"};
    for (size_t i = 0; i < ARRAY_SIZE(directions); i++)
        metrics_add(metrics, METRIC_BYTES_TOTAL, &(struct text){directions[i], strlen(directions[i])},
                    0);
    for (size_t i = 0; i < ARRAY_SIZE(results); i++)
        metrics_add(metrics, METRIC_SESSIONS_TOTAL,
                    &(struct text){results[i].result, strlen(results[i].result)}, 0);
    for (size_t i = ACTIVITY_NONE + 1; i < ACTIVITY_COUNT; i++)
        add_activity(metrics, (enum session_activity)i, 0);
    static const char *const own[] = {"42501", "42601", "54000", "54001", "55PW1", "55PW2", "55PW3",
                                      "55PW4", "55PW5", "22023", "53400", "58030", "other"};
    for (size_t i = 0; i < ARRAY_SIZE(own); i++)
        metrics_add(metrics, METRIC_ERRORS_TOTAL, &(struct text){own[i], strlen(own[i])}, 0);
    for (size_t i = 0; i < configuration->policy_count; i++)
        zero_policy(metrics, &configuration->policies[i]);
}

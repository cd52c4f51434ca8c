/* record_test.c - what one line of the audit file holds. */
#include "proxy/audit/record.h"

#include "proxy/base/limits.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct buffer line;

static void set_up(void)
{
    buffer_init(&line, LIMIT_AUDIT_RECORD_BYTES);
}
static void tear_down(void)
{
    buffer_release(&line);
}

TestSuite(record, .init = set_up, .fini = tear_down);

static struct audit_record new_record(enum audit_event event)
{
    struct audit_record record;
    audit_record_init(&record, event, (struct instant){1796037657657123});
    return record;
}

static json_t *write(const struct audit_record *record)
{
    const struct audit_service service = {TEXT("pgwicket"), TEXT("1.2.3"), TEXT("host:1")};
    buffer_clear(&line);
    audit_record_write(&line, &service, record, 7, TEXT("ab"));
    cr_assert(!line.overflow);
    cr_assert_eq(line.bytes[line.size - 1], '\n');
    cr_assert_null(memchr(line.bytes, '\n', line.size - 1), "one line");
    json_t *json = json_loadb((const char *)line.bytes, line.size, JSON_ALLOW_NUL, NULL);
    cr_assert_not_null(json, "not JSON: %s", buffer_string(&line));
    return json;
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *value = json_string_value(json_object_get(json, key));
    return value != NULL ? value : "(none)";
}

Test(record, leaves_out_what_is_not_set)
{
    struct audit_record record = new_record(AUDIT_SERVICE);
    json_t *json = write(&record);
    static const char *const keys[] = {"timestamp",      "severity_text",   "event.name",
                                       "service.name",   "service.version", "service.instance.id",
                                       "db.system.name", "pgwicket.seq",    "pgwicket.prev"};
    cr_assert_eq(json_object_size(json), ARRAY_SIZE(keys), "%s", buffer_string(&line));
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        cr_assert_not_null(json_object_get(json, keys[i]), "%s", keys[i]);
    cr_assert_str_eq(text_of(json, "timestamp"), "2026-11-30T11:20:57.657123Z");
    json_decref(json);
}

Test(record, writes_zeros_that_are_set)
{
    struct audit_record record = new_record(AUDIT_OUTCOME);
    record.rows = 0;
    record.estimate_rows = 0;
    json_t *json = write(&record);
    cr_assert_eq(json_integer_value(json_object_get(json, "pgwicket.rows")), 0);
    cr_assert(json_is_number(json_object_get(json, "pgwicket.estimate.rows")));
    cr_assert_null(json_object_get(json, "pgwicket.judge_us"));
    json_decref(json);
}

Test(record, writes_every_field_under_its_key)
{
    struct audit_record record = new_record(AUDIT_STATEMENT);
    const struct {
        const char *key;
        struct text *member;
    } texts[] = {
        {"event.outcome", &record.outcome},
        {"client.address", &record.client_address},
        {"user.name", &record.agent},
        {"db.namespace", &record.database},
        {"db.query.summary", &record.summary},
        {"db.query.text", &record.statement},
        {"pgwicket.raw", &record.raw},
        {"db.response.status_code", &record.sqlstate},
        {"pgwicket.session", &record.session},
        {"pgwicket.policy", &record.policy},
        {"pgwicket.rule", &record.rule},
        {"pgwicket.nearest", &record.nearest},
        {"pgwicket.verdict", &record.verdict},
        {"pgwicket.mode", &record.mode},
        {"pgwicket.reason", &record.reason},
        {"pgwicket.actions", &record.actions},
        {"pgwicket.functions", &record.functions},
        {"pgwicket.fingerprint", &record.fingerprint},
        {"pgwicket.sha256", &record.sha256},
        {"pgwicket.effect", &record.effect},
        {"pgwicket.hold.state", &record.hold_state},
        {"pgwicket.approver", &record.approver},
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        *texts[i].member = text_from(texts[i].key);
    record.client_port = 51522;
    record.statement_number = 1;
    record.estimate_rows = 2.5;
    record.estimate_cost = 3.5;
    record.rows = 4;
    record.hold = 5;
    record.judge_us = 6;
    record.explain_us = 7;
    record.server_us = 8;

    json_t *json = write(&record);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        cr_assert_str_eq(text_of(json, texts[i].key), texts[i].key);
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"client.port", 51522},
        {"pgwicket.statement", 1},
        {"pgwicket.estimate.rows", 2.5},
        {"pgwicket.estimate.cost", 3.5},
        {"pgwicket.rows", 4},
        {"pgwicket.hold", 5},
        {"pgwicket.judge_us", 6},
        {"pgwicket.explain_us", 7},
        {"pgwicket.server_us", 8},
        {"pgwicket.seq", 7},
    };
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        cr_assert_float_eq(json_number_value(json_object_get(json, numbers[i].key)),
                           numbers[i].value, 1e-9, "%s", numbers[i].key);
    cr_assert_str_eq(text_of(json, "pgwicket.prev"), "ab");
    json_decref(json);
}

Test(record, names_each_event_differently)
{
    static const char *const names[] = {[AUDIT_STATEMENT] = "pgwicket.statement",
                                        [AUDIT_OUTCOME] = "pgwicket.outcome",
                                        [AUDIT_MESSAGE] = "pgwicket.message",
                                        [AUDIT_HOLD] = "pgwicket.hold",
                                        [AUDIT_SESSION] = "pgwicket.session",
                                        [AUDIT_SERVICE] = "pgwicket.service",
                                        [AUDIT_LOG] = "pgwicket.audit"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct audit_record record = new_record((enum audit_event)i);
        json_t *json = write(&record);
        cr_assert_str_eq(text_of(json, "event.name"), names[i]);
        json_decref(json);
    }
}

Test(record, warns_of_what_was_refused_or_failed)
{
    struct audit_record record = new_record(AUDIT_STATEMENT);
    record.verdict = TEXT("allow");
    json_t *json = write(&record);
    cr_assert_str_eq(text_of(json, "severity_text"), "INFO");
    json_decref(json);
    record.verdict = TEXT("reject");
    json = write(&record);
    cr_assert_str_eq(text_of(json, "severity_text"), "WARN");
    json_decref(json);
}

Test(record, stays_one_valid_line_whatever_the_statement_holds)
{
    static const char hostile[] = "SELECT '\n\"\\\0\x1b\xff\xc3\x28\r\xe2\x80\xa8'";
    struct audit_record record = new_record(AUDIT_STATEMENT);
    record.statement = (struct text){hostile, sizeof hostile - 1};
    json_t *json = write(&record);
    const json_t *statement = json_object_get(json, "db.query.text");
    cr_assert_eq(memcmp(json_string_value(statement), "SELECT '\n\"\\\0\x1b", 13), 0);
    json_decref(json);
}

Test(record, cuts_long_texts_and_says_so)
{
    char *bytes = malloc(LIMIT_STATEMENT_BYTES + 10);
    cr_assert_not_null(bytes);
    memset(bytes, '\x01', LIMIT_STATEMENT_BYTES + 10);
    struct text longest = {bytes, LIMIT_STATEMENT_BYTES + 10};
    struct audit_record record = new_record(AUDIT_STATEMENT);
    record.statement = record.raw = record.reason = record.actions = record.effect = longest;
    json_t *json = write(&record);
    cr_assert_eq(json_string_length(json_object_get(json, "db.query.text")),
                 LIMIT_AUDIT_TEXT_BYTES);
    cr_assert_eq(json_string_length(json_object_get(json, "pgwicket.raw")), LIMIT_STATEMENT_BYTES);
    cr_assert(json_is_true(json_object_get(json, "pgwicket.cut")));
    json_decref(json);
    free(bytes);
}

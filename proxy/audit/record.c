/*
 * record.c - writes a record by a table of its fields, in the order of the table.
 *
 * It cannot fail in a buffer of LIMIT_AUDIT_RECORD_BYTES: long texts are cut, and the record says
 * so.
 */
#include "proxy/audit/record.h"

#include "proxy/base/invariant.h"
#include "proxy/base/json_out.h"
#include "proxy/base/limits.h"

enum field_kind {
    FIELD_TEXT,     /* struct text, left out when empty */
    FIELD_COUNT,    /* int64_t, left out below 0 */
    FIELD_ESTIMATE, /* double, left out below 0 */
    FIELD_PORT,     /* int, left out when 0 */
    FIELD_HOLD,     /* int64_t, left out when 0 */
};

struct field {
    const char *key;
    enum field_kind kind;
    size_t offset;
    size_t size_max;
};

#define MEMBER(name)   offsetof(struct audit_record, name)
#define PLAIN(name)    FIELD_TEXT, MEMBER(name), LIMIT_AUDIT_TEXT_BYTES
#define COUNT(name)    FIELD_COUNT, MEMBER(name), 0
#define ESTIMATE(name) FIELD_ESTIMATE, MEMBER(name), 0

static const struct field fields[] = {
    {"event.outcome", PLAIN(outcome)},
    {"client.address", PLAIN(client_address)},
    {"client.port", FIELD_PORT, MEMBER(client_port), 0},
    {"user.name", PLAIN(agent)},
    {"db.namespace", PLAIN(database)},
    {"db.query.summary", PLAIN(summary)},
    {"db.query.text", PLAIN(statement)},
    {"pgwicket.raw", FIELD_TEXT, MEMBER(raw), LIMIT_STATEMENT_BYTES},
    {"db.response.status_code", PLAIN(sqlstate)},
    {"pgwicket.session", PLAIN(session)},
    {"pgwicket.statement", COUNT(statement_number)},
    {"pgwicket.policy", PLAIN(policy)},
    {"pgwicket.rule", PLAIN(rule)},
    {"pgwicket.nearest", PLAIN(nearest)},
    {"pgwicket.verdict", PLAIN(verdict)},
    {"pgwicket.verb", PLAIN(verb)},
    {"pgwicket.mode", PLAIN(mode)},
    {"pgwicket.reason", PLAIN(reason)},
    {"pgwicket.actions", PLAIN(actions)},
    {"pgwicket.functions", PLAIN(functions)},
    {"pgwicket.fingerprint", PLAIN(fingerprint)},
    {"pgwicket.sha256", PLAIN(sha256)},
    {"pgwicket.estimate.rows", ESTIMATE(estimate_rows)},
    {"pgwicket.estimate.cost", ESTIMATE(estimate_cost)},
    {"pgwicket.rows", COUNT(rows)},
    {"pgwicket.effect", PLAIN(effect)},
    {"pgwicket.hold", FIELD_HOLD, MEMBER(hold), 0},
    {"pgwicket.hold.state", PLAIN(hold_state)},
    {"pgwicket.approver", PLAIN(approver)},
    {"pgwicket.judge_us", COUNT(judge_us)},
    {"pgwicket.explain_us", COUNT(explain_us)},
    {"pgwicket.server_us", COUNT(server_us)},
};

/* Each byte of a text can become six; the service's texts and the keys have the last two parts. */
_Static_assert((ARRAY_SIZE(fields) + 2) * 6 * LIMIT_AUDIT_TEXT_BYTES + 6 * LIMIT_STATEMENT_BYTES <
                   LIMIT_AUDIT_RECORD_BYTES,
               "every record fits in a line");

static const char *event_name(enum audit_event event)
{
    switch (event) {
    case AUDIT_STATEMENT:
        return "pgwicket.statement";
    case AUDIT_OUTCOME:
        return "pgwicket.outcome";
    case AUDIT_MESSAGE:
        return "pgwicket.message";
    case AUDIT_HOLD:
        return "pgwicket.hold";
    case AUDIT_SESSION:
        return "pgwicket.session";
    case AUDIT_SERVICE:
        return "pgwicket.service";
    case AUDIT_LOG:
        return "pgwicket.audit";
    }
    INVARIANT(false && "an audit event without a name");
    return "";
}

static const char *severity(const struct audit_record *record)
{
    bool refused = text_is(record->verdict, "reject") || record->event == AUDIT_MESSAGE;
    bool failed = text_is(record->outcome, "failure") || record->sqlstate.size > 0;
    return refused || failed ? "WARN" : "INFO";
}

void audit_record_init(struct audit_record *record, enum audit_event event, struct instant time)
{
    *record = (struct audit_record){
        .event = event,
        .time = time,
        .statement_number = AUDIT_UNSET,
        .estimate_rows = AUDIT_UNSET,
        .estimate_cost = AUDIT_UNSET,
        .rows = AUDIT_UNSET,
        .judge_us = AUDIT_UNSET,
        .explain_us = AUDIT_UNSET,
        .server_us = AUDIT_UNSET,
    };
}

static void write_count(struct json_out *json, const char *key, int64_t value, bool set)
{
    if (set)
        json_key_int(json, key, value);
}

/* True if a text had to be cut. */
static bool write_text(struct json_out *json, const struct field *field, struct text value)
{
    if (value.size > 0)
        json_key_text(json, field->key, text_cut(value, field->size_max));
    return value.size > field->size_max;
}

static bool write_field(struct json_out *json, const struct audit_record *record,
                        const struct field *field)
{
    const void *member = (const char *)record + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
        return write_text(json, field, *(const struct text *)member);
    case FIELD_COUNT: {
        int64_t count = *(const int64_t *)member;
        write_count(json, field->key, count, count >= 0);
        return false;
    }
    case FIELD_ESTIMATE:
        if (*(const double *)member >= 0)
            json_key_number(json, field->key, *(const double *)member);
        return false;
    case FIELD_PORT: {
        int port = *(const int *)member;
        write_count(json, field->key, port, port != 0);
        return false;
    }
    case FIELD_HOLD: {
        int64_t hold = *(const int64_t *)member;
        write_count(json, field->key, hold, hold != 0);
        return false;
    }
    }
    INVARIANT(false && "an audit field without a kind");
    return false;
}

static void write_service_text(struct json_out *json, const char *key, struct text value)
{
    json_key_text(json, key, text_cut(value, LIMIT_AUDIT_TEXT_BYTES / 4));
}

void audit_record_write(struct buffer *line, const struct audit_service *service,
                        const struct audit_record *record, uint64_t seq, struct text previous)
{
    char time[INSTANT_TEXT_SIZE];
    instant_to_text(record->time, time);
    struct json_out json = json_out_to(line);
    json_open(&json, '{');
    json_key_string(&json, "timestamp", time);
    json_key_string(&json, "severity_text", severity(record));
    json_key_string(&json, "event.name", event_name(record->event));
    write_service_text(&json, "service.name", service->name);
    write_service_text(&json, "service.version", service->version);
    write_service_text(&json, "service.instance.id", service->instance);
    json_key_string(&json, "db.system.name", "postgresql");
    bool cut = false;
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        cut |= write_field(&json, record, &fields[i]);
    if (cut)
        json_key_bool(&json, "pgwicket.cut", true);
    json_key_int(&json, "pgwicket.seq", (int64_t)seq);
    json_key_text(&json, "pgwicket.prev", previous);
    json_close(&json, '}');
    buffer_append_byte(line, '\n');
}

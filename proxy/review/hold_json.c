/* hold_json.c - see hold_json.h. A stored effect that is not JSON is shown as unknown. */
#include "proxy/review/hold_json.h"

#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"
#include "proxy/review/body.h"

static void key_instant(struct json_out *json, const char *key, struct instant instant)
{
    char text[INSTANT_TEXT_SIZE];
    instant_to_text(instant, text);
    json_key_string(json, key, instant.us > 0 ? text : NULL);
}

static void key_id_or_null(struct json_out *json, const char *key, int64_t id)
{
    json_key(json, key);
    if (id > 0)
        json_int(json, id);
    else
        json_null(json);
}

static void key_estimate(struct json_out *json, const char *key, double value)
{
    json_key(json, key);
    if (value >= 0)
        json_number(json, value);
    else
        json_null(json);
}

static void key_digest(struct json_out *json, const uint8_t digest[SHA256_SIZE])
{
    char hex[SHA256_HEX_SIZE];
    hex_from_bytes(digest, SHA256_SIZE, hex);
    json_key_string(json, "digest", hex);
}

static void key_effect(struct json_out *json, struct text effect)
{
    json_key(json, "effect");
    if (is_json_object(effect)) {
        buffer_append_text(json->buffer, effect);
        json->need_comma = true;
        return;
    }
    json_open(json, '{');
    json_key_bool(json, "known", false);
    json_key_string(json, "why", "the stored effect cannot be read");
    json_close(json, '}');
}

static void key_rules(struct json_out *json, struct text rules)
{
    json_key_open(json, "rules", '[');
    size_t start = 0;
    for (size_t at = 0; at <= rules.size; at++) {
        if (at < rules.size && rules.bytes[at] != ',')
            continue;
        while (start < at && rules.bytes[start] == ' ')
            start++;
        if (start < at)
            json_text(json, (struct text){rules.bytes + start, at - start});
        start = at + 1;
    }
    json_close(json, ']');
}

static void key_parameters(struct json_out *json, const struct hold *hold)
{
    json_key_open(json, "parameters", '[');
    for (size_t i = 0; i < hold->value_count; i++) {
        json_open(json, '{');
        json_key_text(json, "type", hold->values[i].type);
        json_key(json, "value");
        if (hold->values[i].is_null)
            json_null(json);
        else
            json_text(json, hold->values[i].text);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Setting names are the agent's words: they go through json_text, not json_key. */
static void key_settings(struct json_out *json, const struct hold *hold)
{
    json_key_open(json, "settings", '{');
    for (size_t i = 0; i < hold->setting_count; i++) {
        json_text(json, hold->settings[i].name);
        buffer_append_byte(json->buffer, ':');
        json->need_comma = false;
        json_text(json, hold->settings[i].value);
    }
    json_close(json, '}');
}

static void key_visible(struct json_out *json, const char *key, struct text text)
{
    struct buffer visible;
    buffer_init(&visible, LIMIT_HTTP_ANSWER_BYTES);
    unicode_append_visible(&visible, text);
    json_key_text(json, key, buffer_text(&visible));
    buffer_release(&visible);
}

/* The data of a COPY: how much, and its front, of which a page or a terminal shows what it can. */
static void key_copy(struct json_out *json, const struct hold *hold)
{
    if (hold->copy_sha256.size == 0)
        return;
    json_key_open(json, "copy", '{');
    json_key_int(json, "bytes", hold->copy_bytes);
    json_key_text(json, "sha256", hold->copy_sha256);
    key_visible(json, "head", hold->copy_head);
    json_key_int(json, "head_bytes", (int64_t)hold->copy_head.size);
    json_close(json, '}');
}

static void key_approvals(struct json_out *json, const struct hold *hold)
{
    json_key_open(json, "approvals", '[');
    for (size_t i = 0; i < hold->approval_count; i++) {
        json_open(json, '{');
        json_key_text(json, "by", hold->approvals[i].by);
        key_instant(json, "at", hold->approvals[i].at);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void key_decision(struct json_out *json, const struct hold *hold)
{
    json_key(json, "decision");
    if (hold->decision.size == 0) {
        json_null(json);
        return;
    }
    json_open(json, '{');
    json_key_text(json, "verdict", hold->decision);
    json_key_text(json, "by", hold->decided_by);
    key_instant(json, "at", hold->decided);
    json_key_text_or_null(json, "reason", hold->decision_reason);
    json_close(json, '}');
}

/* Of a refused hold the decision is the whole outcome. */
static void key_outcome(struct json_out *json, const struct hold *hold)
{
    json_key(json, "outcome");
    if (!hold_state_is_final(hold->state) || hold->state == HOLD_REFUSED) {
        json_null(json);
        return;
    }
    json_open(json, '{');
    json_key_string(json, "state", hold_state_name(hold->state));
    key_instant(json, "at", hold->finished);
    if (hold->outcome_tag.size > 0)
        json_key_text(json, "tag", hold->outcome_tag);
    if (hold->outcome_effect.size > 0)
        key_effect(json, hold->outcome_effect);
    if (hold->outcome_error.size > 0)
        json_key_text(json, "error", hold->outcome_error);
    json_close(json, '}');
}

static bool can_decide(const struct hold *hold, const struct approver *reader, struct instant now)
{
    for (size_t i = 0; i < hold->approval_count; i++)
        if (text_equal(hold->approvals[i].by, reader->name))
            return false;
    return hold->state == HOLD_PENDING && (hold->expires.us <= 0 || hold->expires.us > now.us) &&
           hold_approver_may(hold, reader->name, reader->policies, reader->policy_count);
}

static void keys_who(struct json_out *json, const struct hold *hold)
{
    json_key_int(json, "id", hold->id);
    json_key_string(json, "state", hold_state_name(hold->state));
    key_digest(json, hold->digest);
    json_key_text(json, "agent", hold->agent);
    json_key_text(json, "policy", hold->policy);
    json_key_text(json, "rule", hold->rule);
    key_rules(json, hold->rules);
    json_key_text(json, "rule_text", hold->rule_text);
    json_key_text(json, "upstream", hold->upstream);
    json_key_text(json, "verb", hold->verb);
    json_key_text(json, "client", hold->client);
}

static void keys_when(struct json_out *json, const struct hold *hold, struct instant now)
{
    struct instant until = {hold->created.us + hold->wait_us};
    bool waits = hold->state == HOLD_PENDING && hold->wait_us > 0 && until.us > now.us;
    key_instant(json, "created", hold->created);
    key_instant(json, "expires", hold->expires);
    key_instant(json, "waiting_until", waits ? until : (struct instant){0});
    key_instant(json, "run_until", hold->run_until);
    key_id_or_null(json, "follows", hold->follows);
    key_id_or_null(json, "replaced_by", hold->replaced_by);
}

static void keys_what(struct json_out *json, const struct hold *hold)
{
    if (hold->template.size > 0)
        json_key_text(json, "template", hold->template);
    json_key_text(json, "statement", hold->statement);
    key_visible(json, "statement_visible", hold->statement);
    key_parameters(json, hold);
    key_settings(json, hold);
    key_copy(json, hold);
    json_key_open(json, "estimate", '{');
    key_estimate(json, "rows", hold->estimate_rows);
    key_estimate(json, "cost", hold->estimate_cost);
    json_close(json, '}');
    json_key_text_or_null(json, "plan", hold->plan);
    key_effect(json, hold->effect);
}

void hold_json(struct json_out *json, const struct hold *hold, const struct approver *reader,
               struct instant now)
{
    json_open(json, '{');
    keys_who(json, hold);
    keys_when(json, hold, now);
    keys_what(json, hold);
    key_approvals(json, hold);
    json_key_int(json, "quorum", hold->quorum);
    json_key_bool(json, "can_decide", can_decide(hold, reader, now));
    key_decision(json, hold);
    key_outcome(json, hold);
    json_close(json, '}');
}

void hold_list_json(struct json_out *json, struct hold *const *holds, size_t count, size_t limit,
                    const struct approver *reader, struct instant now)
{
    size_t written = 0;
    json_open(json, '{');
    json_key_open(json, "holds", '[');
    while (written < count && written < limit &&
           (written == 0 || json->buffer->size < json->buffer->size_max / 2))
        hold_json(json, holds[written++], reader, now);
    json_close(json, ']');
    key_id_or_null(json, "next", written < count && written > 0 ? holds[written - 1]->id : 0);
    json_close(json, '}');
}

void agent_json(struct json_out *json, const struct review_agent *agent)
{
    json_open(json, '{');
    json_key_text(json, "name", agent->name);
    json_key_text(json, "policy", agent->policy);
    json_key_text(json, "upstream", agent->upstream);
    json_key_int(json, "sessions", agent->sessions);
    json_key_int(json, "waiting", agent->waiting);
    json_key_bool(json, "paused", agent->paused);
    key_instant(json, "paused_at", agent->paused ? agent->paused_at : (struct instant){0});
    json_key_text_or_null(json, "paused_by", agent->paused ? agent->paused_by : TEXT(""));
    json_key_int(json, "statements_per_minute", agent->statements_per_minute);
    json_key(json, "last");
    if (agent->last_verdict.size > 0) {
        json_open(json, '{');
        json_key_text(json, "verdict", agent->last_verdict);
        json_key_text(json, "actions", agent->last_actions);
        key_instant(json, "at", agent->last_at);
        json_close(json, '}');
    } else {
        json_null(json);
    }
    json_close(json, '}');
}

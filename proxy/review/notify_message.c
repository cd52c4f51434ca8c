/*
 * notify_message.c - see notify_message.h. An effect that cannot be read is told as unknown.
 */
#include "proxy/review/notify_message.h"

#include "proxy/base/base64.h"
#include "proxy/base/invariant.h"
#include "proxy/base/json_out.h"
#include "proxy/base/limits.h"
#include "proxy/holds/effect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- which events there are ----------------------------------------------------------------------- */

/* A claim, and a claim that is given back, concern nobody. */
static const struct {
    enum hold_state before, after;
    enum notify_event event;
} hold_events[] = {
    {HOLD_NONE, HOLD_PENDING, NOTIFY_HOLD_CREATED},
    {HOLD_PENDING, HOLD_PENDING, NOTIFY_HOLD_APPROVED},
    {HOLD_PENDING, HOLD_RELEASED, NOTIFY_HOLD_RELEASED},
    {HOLD_PENDING, HOLD_REFUSED, NOTIFY_HOLD_REFUSED},
    {HOLD_PENDING, HOLD_EXPIRED, NOTIFY_HOLD_EXPIRED},
    {HOLD_RELEASED, HOLD_LAPSED, NOTIFY_HOLD_LAPSED},
    {HOLD_RUNNING, HOLD_DRIFTED, NOTIFY_HOLD_DRIFTED},
    {HOLD_RUNNING, HOLD_EXECUTED, NOTIFY_HOLD_EXECUTED},
    {HOLD_RUNNING, HOLD_FAILED, NOTIFY_HOLD_FAILED},
    {HOLD_RUNNING, HOLD_UNKNOWN, NOTIFY_HOLD_UNKNOWN},
};

static struct text last_approver(const struct hold *hold)
{
    return hold->approval_count > 0 ? hold->approvals[hold->approval_count - 1].by : TEXT("");
}

bool notice_of_hold(const struct hold *hold, enum hold_state before, struct instant now,
                    struct notice *notice)
{
    for (size_t i = 0; i < ARRAY_SIZE(hold_events); i++)
        if (hold_events[i].before == before && hold_events[i].after == hold->state) {
            *notice = (struct notice){.event = hold_events[i].event, .at = now, .hold = hold};
            if (notice->event == NOTIFY_HOLD_APPROVED)
                notice->by = last_approver(hold);
            if (notice->event == NOTIFY_HOLD_RELEASED || notice->event == NOTIFY_HOLD_REFUSED)
                notice->by = hold->decided_by;
            return true;
        }
    return false;
}

/* --- what all formats say --------------------------------------------------------------------------- */

struct extent {
    bool known;
    int64_t rows;
    size_t tables;
    size_t objects;
};

static struct extent extent_of(struct arena *arena, const struct hold *hold)
{
    struct effect effect;
    if (hold == NULL || !effect_from_json(arena, hold->effect, &effect) ||
        effect.bound == EFFECT_UNKNOWN)
        return (struct extent){0};
    return (struct extent){true, effect_rows(&effect, true), effect.table_count,
                            effect.object_count};
}

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

/* "delete 168 rows in 2 tables" */
static struct text effect_words(struct arena *arena, const struct hold *hold,
                                const struct extent *summary)
{
    if (!summary->known)
        return arena_printf(arena, "%.*s, effect unknown", TEXT_ARGS(hold->verb));
    struct text objects = TEXT("");
    if (summary->objects > 0)
        objects = arena_printf(arena, " %zu object%s", summary->objects, plural(summary->objects));
    if (summary->tables == 0 && summary->objects > 0)
        return arena_printf(arena, "%.*s%.*s", TEXT_ARGS(hold->verb), TEXT_ARGS(objects));
    return arena_printf(arena, "%.*s%.*s%s %" PRId64 " row%s in %zu table%s", TEXT_ARGS(hold->verb),
                        TEXT_ARGS(objects), objects.size > 0 ? "," : "", summary->rows,
                        summary->rows == 1 ? "" : "s", summary->tables, plural(summary->tables));
}

static struct text base_url(struct arena *arena, const struct configuration *configuration)
{
    struct text url = configuration->review_url;
    while (url.size > 0 && url.bytes[url.size - 1] == '/')
        url.size--;
    if (url.size > 0)
        return url;
    const struct listen_address *address = &configuration->review;
    bool v6 = text_has_byte(address->host, ':');
    bool tls = configuration->review_tls.given && configuration->review_tls.mode != TLS_DISABLE;
    return arena_printf(arena, "%s://%s%.*s%s:%.*s", tls ? "https" : "http", v6 ? "[" : "",
                        TEXT_ARGS(address->host), v6 ? "]" : "", TEXT_ARGS(address->port));
}

/* Where a person goes from here. */
static struct text link_of(struct arena *arena, const struct configuration *configuration,
                           const struct notice *notice)
{
    struct text base = base_url(arena, configuration);
    if (notice->hold != NULL)
        return arena_printf(arena, "%.*s/holds/%" PRId64, TEXT_ARGS(base), notice->hold->id);
    return arena_printf(arena, "%.*s/%s", TEXT_ARGS(base), notice->agent.size > 0 ? "agents" : "");
}

/* --- Standard Webhooks ------------------------------------------------------------------------------ */

static void write_instant(struct json_out *json, const char *key, struct instant instant)
{
    char text[INSTANT_TEXT_SIZE];
    instant_to_text(instant, text);
    json_key_string(json, key, instant.us > 0 ? text : NULL);
}

static void write_hold(struct json_out *json, const struct hold *hold,
                       const struct extent *summary, struct text words)
{
    json_key_int(json, "id", hold->id);
    json_key_string(json, "state", hold_state_name(hold->state));
    json_key_text(json, "agent", hold->agent);
    json_key_text(json, "policy", hold->policy);
    json_key_text(json, "rule", hold->rule);
    json_key_text(json, "upstream", hold->upstream);
    json_key_text(json, "verb", hold->verb);
    json_key_text(json, "effect", words);
    json_key(json, "rows");
    if (summary->known)
        json_int(json, summary->rows);
    else
        json_null(json);
    json_key_int(json, "quorum", hold->quorum);
    json_key_int(json, "approvals", (int64_t)hold->approval_count);
    write_instant(json, "created", hold->created);
    write_instant(json, "expires", hold->expires);
    write_instant(json, "run_until", hold->run_until);
}

static void write_standard(struct buffer *out, struct arena *arena, const struct notice *notice,
                           const struct extent *summary, struct text link)
{
    struct json_out json = json_out_to(out);
    json_open(&json, '{');
    json_key_string(&json, "type", notify_event_name(notice->event));
    write_instant(&json, "timestamp", notice->at);
    json_key(&json, "data");
    json_open(&json, '{');
    if (notice->hold != NULL)
        write_hold(&json, notice->hold, summary, effect_words(arena, notice->hold, summary));
    if (notice->agent.size > 0)
        json_key_text(&json, "agent", notice->agent);
    if (notice->by.size > 0)
        json_key_text(&json, "by", notice->by);
    json_key_text(&json, "url", link);
    json_close(&json, '}');
    json_close(&json, '}');
}

/* --- Slack ------------------------------------------------------------------------------------------ */

/* What Slack would read as markup of its own. */
static struct text escaped(struct arena *arena, struct text text)
{
    struct buffer out;
    buffer_init(&out, LIMIT_OUTBOX_BODY_BYTES);
    for (size_t i = 0; i < text.size; i++)
        switch (text.bytes[i]) {
        case '&':
            buffer_append_string(&out, "&amp;");
            break;
        case '<':
            buffer_append_string(&out, "&lt;");
            break;
        case '>':
            buffer_append_string(&out, "&gt;");
            break;
        default:
            buffer_append_byte(&out, (uint8_t)text.bytes[i]);
        }
    struct text copy = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return copy;
}

static struct text say_created(struct arena *arena, const struct hold *hold, struct text words)
{
    char clock[INSTANT_TEXT_SIZE];
    instant_to_clock_text(hold->expires, clock);
    return arena_printf(arena, "waits for approval: %.*s, by agent %.*s, until %s", TEXT_ARGS(words),
                        TEXT_ARGS(escaped(arena, hold->agent)), clock);
}

static struct text say_hold(struct arena *arena, const struct notice *notice, struct text words)
{
    const struct hold *hold = notice->hold;
    struct text by = escaped(arena, notice->by);
    switch (notice->event) {
    case NOTIFY_HOLD_CREATED:
        return say_created(arena, hold, words);
    case NOTIFY_HOLD_APPROVED:
        return arena_printf(arena, "has %zu of %" PRId64 " approvals, the last by %.*s",
                            hold->approval_count, hold->quorum, TEXT_ARGS(by));
    case NOTIFY_HOLD_RELEASED:
        return arena_printf(arena, "was released by %.*s: %.*s", TEXT_ARGS(by), TEXT_ARGS(words));
    case NOTIFY_HOLD_REFUSED:
        return arena_printf(arena, "was refused by %.*s", TEXT_ARGS(by));
    case NOTIFY_HOLD_EXPIRED:
        return TEXT("expired: nobody decided in time");
    case NOTIFY_HOLD_LAPSED:
        return TEXT("was released, but not run in time");
    case NOTIFY_HOLD_DRIFTED:
        return TEXT("was rolled back: its effect is not the approved one any more");
    case NOTIFY_HOLD_EXECUTED:
        return arena_printf(arena, "was executed: %.*s", TEXT_ARGS(words));
    case NOTIFY_HOLD_FAILED:
        return hold_ran_outside(hold) ? TEXT("failed when it ran; a part of it may have been done")
                                      : TEXT("failed when it ran; nothing was changed");
    case NOTIFY_HOLD_UNKNOWN:
        return hold_ran_outside(hold)
                   ? TEXT("was cut off outside of a transaction; nobody knows how far it came")
                   : TEXT("was cut off, and the server does not know whether it was committed");
    default:
        INVARIANT(false && "an event of a hold");
        return TEXT("");
    }
}

static struct text say(struct arena *arena, const struct notice *notice,
                       const struct extent *summary)
{
    if (notice->hold != NULL) {
        struct text words = escaped(arena, effect_words(arena, notice->hold, summary));
        return arena_printf(arena, "*Hold %" PRId64 "* %.*s", notice->hold->id,
                            TEXT_ARGS(say_hold(arena, notice, words)));
    }
    struct text agent = escaped(arena, notice->agent);
    struct text by = escaped(arena, notice->by);
    if (notice->event == NOTIFY_AGENT_PAUSED || notice->event == NOTIFY_AGENT_RESUMED)
        return arena_printf(arena, "*Agent %.*s* was %s by %.*s", TEXT_ARGS(agent),
                            notice->event == NOTIFY_AGENT_PAUSED ? "paused" : "resumed",
                            TEXT_ARGS(by));
    return notice->event == NOTIFY_AUDIT_FAILING ? TEXT("*The audit log* cannot be written")
                                                 : TEXT("*The audit log* is written again");
}

static void write_slack(struct buffer *out, struct arena *arena, const struct notice *notice,
                        const struct extent *summary, struct text link)
{
    struct json_out json = json_out_to(out);
    json_open(&json, '{');
    json_key_text(&json, "text",
                  arena_printf(arena, "%.*s. <%.*s|Open in pgwicket>",
                               TEXT_ARGS(say(arena, notice, summary)),
                               TEXT_ARGS(escaped(arena, link))));
    json_close(&json, '}');
}

/* --- composing -------------------------------------------------------------------------------------- */

static struct text make_name(struct arena *arena)
{
    uint8_t random[16];
    char hex[2 * sizeof random + 1];
    random_bytes(random, sizeof random);
    hex_from_bytes(random, sizeof random, hex);
    return arena_printf(arena, "msg_%s", hex);
}

static struct text write_body(struct arena *arena, enum notify_format format,
                              const struct notice *notice, const struct extent *summary,
                              struct text link)
{
    struct buffer body;
    buffer_init(&body, LIMIT_OUTBOX_BODY_BYTES);
    if (format == NOTIFY_SLACK)
        write_slack(&body, arena, notice, summary, link);
    else
        write_standard(&body, arena, notice, summary, link);
    INVARIANT(!body.overflow); /* names and URLs have limits of their own */
    struct text text = arena_text(arena, buffer_text(&body));
    buffer_release(&body);
    return text;
}

static bool is_told(const struct notify_receiver *receiver, const struct notice *notice)
{
    return (receiver->events & 1U << notice->event) != 0;
}

static bool anybody_is_told(const struct configuration *configuration, const struct notice *notice)
{
    for (size_t i = 0; i < configuration->receiver_count; i++)
        if (is_told(&configuration->receivers[i], notice))
            return true;
    return false;
}

size_t notify_compose(struct arena *arena, const struct configuration *configuration,
                      const struct notice *notice, const struct hold_message **messages)
{
    size_t count = 0;
    if (!anybody_is_told(configuration, notice))
        return 0;
    struct hold_message *made = arena_array(arena, configuration->receiver_count, sizeof *made);
    struct extent summary = extent_of(arena, notice->hold);
    struct text link = link_of(arena, configuration, notice);
    struct text name = make_name(arena);
    for (size_t i = 0; i < configuration->receiver_count; i++) {
        const struct notify_receiver *receiver = &configuration->receivers[i];
        if (is_told(receiver, notice))
            made[count++] = (struct hold_message){
                .target = arena_text(arena, receiver->target),
                .name = name,
                .body = write_body(arena, receiver->format, notice, &summary, link),
                .created = notice->at,
                .due = notice->at,
            };
    }
    *messages = made;
    return count;
}

/* --- sending ---------------------------------------------------------------------------------------- */

void notify_sign(struct text key, struct text name, int64_t seconds, struct text body,
                 char signature[NOTIFY_SIGNATURE_SIZE])
{
    uint8_t mac[SHA256_SIZE];
    struct buffer content;
    buffer_init(&content, name.size + body.size + 32);
    buffer_printf(&content, "%.*s.%" PRId64 ".", TEXT_ARGS(name), seconds);
    buffer_append_text(&content, body);
    INVARIANT(!content.overflow);
    hmac_sha256(key, buffer_text(&content), mac);
    memcpy(signature, "v1,", 3);
    base64_encode(mac, sizeof mac, signature + 3);
    buffer_release(&content);
}

#define SECOND 1000000LL

int64_t notify_delay_us(int64_t attempts, uint32_t random)
{
    static const int64_t first_us = 2 * SECOND, longest_us = 4 * 3600 * SECOND;
    int64_t delay_us = first_us;
    for (int64_t i = 1; i < attempts && delay_us < longest_us; i++)
        delay_us *= 3;
    if (delay_us > longest_us)
        delay_us = longest_us;
    int64_t fifth_us = delay_us / 5;
    return delay_us - fifth_us + (int64_t)(random % 1000) * 2 * fifth_us / 1000;
}

enum notify_outcome notify_judge(const struct hold_message *message,
                                 const struct notify_attempt *attempt, struct instant *due)
{
    static const int64_t longest_asked_s = 3600;
    if (attempt->status >= 200 && attempt->status < 300)
        return NOTIFY_DELIVERED;
    if (attempt->status == 410)
        return NOTIFY_GIVEN_UP;
    int64_t delay_us = notify_delay_us(message->attempts + 1, attempt->random);
    int64_t asked_s = attempt->retry_after_s < longest_asked_s ? attempt->retry_after_s
                                                               : longest_asked_s;
    if (delay_us < asked_s * SECOND)
        delay_us = asked_s * SECOND;
    due->us = attempt->at.us + delay_us;
    return due->us <= message->created.us + NOTIFY_GIVE_UP_S * SECOND ? NOTIFY_AGAIN
                                                                      : NOTIFY_GIVEN_UP;
}

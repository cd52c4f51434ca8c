/*
 * notify.c - the section `notify`: receivers, their keys, what they are told of.
 *
 * A receiver in another machine is reached by https only: what happens to statements is nobody
 * else's business. The URL may be a secret itself (Slack's is), so it is never repeated in a message.
 */
#include "proxy/config/notify.h"

#include "proxy/base/base64.h"
#include "proxy/base/digest.h"
#include "proxy/base/limits.h"
#include "proxy/base/url.h"

#include <string.h>

enum { KEY_BYTES_LEAST = 16 };

static const char *const formats[] = {
    [NOTIFY_STANDARD] = "standard", [NOTIFY_SLACK] = "slack", NULL};

static const char *const event_names[] = {
    [NOTIFY_HOLD_CREATED] = "hold.created",   [NOTIFY_HOLD_APPROVED] = "hold.approved",
    [NOTIFY_HOLD_RELEASED] = "hold.released", [NOTIFY_HOLD_REFUSED] = "hold.refused",
    [NOTIFY_HOLD_EXPIRED] = "hold.expired",   [NOTIFY_HOLD_LAPSED] = "hold.lapsed",
    [NOTIFY_HOLD_DRIFTED] = "hold.drifted",   [NOTIFY_HOLD_EXECUTED] = "hold.executed",
    [NOTIFY_HOLD_FAILED] = "hold.failed",     [NOTIFY_HOLD_UNKNOWN] = "hold.unknown",
    [NOTIFY_AGENT_PAUSED] = "agent.paused",   [NOTIFY_AGENT_RESUMED] = "agent.resumed",
    [NOTIFY_AUDIT_FAILING] = "audit.failing", [NOTIFY_AUDIT_WORKING] = "audit.working",
    [NOTIFY_EVENT_COUNT] = NULL,
};

const char *notify_event_name(enum notify_event event) { return event_names[event]; }

struct receiver_draft {
    struct notify_receiver receiver;
    struct text secret;
    struct place secret_place;
    int format;
};

static bool field_receiver_url(struct reader *reader, const struct field *field,
                               const struct node *node, void *target)
{
    struct notify_receiver *receiver = target;
    struct text source;
    struct url url;
    if (!field_secret(reader, field, node, &source))
        return false;
    if (source.size > LIMIT_URL_BYTES || !url_parse(source, &url)) {
        problem_error(reader->problems, node->place,
                      "expected a URL that begins with https://, without user, password and fragment");
        return false;
    }
    if (!url.tls && !host_is_loopback(url.host)) {
        problem_error(reader->problems, node->place,
                      "a receiver in another machine is reached by https:// only");
        return false;
    }
    receiver->url = arena_text(reader->arena, source);
    receiver->site = arena_text(reader->arena, url.site);
    receiver->tls = url.tls;
    return true;
}

static bool field_receiver_secret(struct reader *reader, const struct field *field,
                                  const struct node *node, void *target)
{
    struct receiver_draft *draft = target;
    draft->secret_place = node->place;
    return field_secret(reader, field, node, &draft->secret);
}

static bool field_events(struct reader *reader, const struct field *field, const struct node *node,
                         void *target)
{
    unsigned *events = target;
    *events = 0;
    if (!node_must_be(reader, node, NODE_LIST, field->expected))
        return false;
    for (size_t i = 0; i < node->count; i++) {
        static const struct field choice = {.choices = event_names};
        int event;
        if (!field_choice(reader, &choice, &node->items[i], &event))
            return false;
        *events |= 1U << event;
    }
    return node->count > 0 ? true : field_wrong(reader, node, "at least one event");
}

/* Base64 behind whsec_, whose padding many leave out, or the bytes as they are. */
static bool make_key(struct reader *reader, struct receiver_draft *draft)
{
    struct text secret = draft->secret;
    if (text_starts_with(secret, "whsec_")) {
        static const char *const padding[] = {"", "===", "==", "="};
        struct text rest = text_behind(secret, strlen("whsec_"));
        struct text padded = arena_printf(reader->scratch, "%.*s%s", TEXT_ARGS(rest),
                                          padding[rest.size % 4]);
        uint8_t *bytes = arena_allocate(reader->arena, padded.size + 1);
        size_t size;
        if (!base64_decode(padded, bytes, padded.size, &size) || size == 0) {
            problem_error(reader->problems, draft->secret_place,
                          "what follows whsec_ is not base64");
            return false;
        }
        draft->receiver.key = (struct text){(const char *)bytes, size};
    } else {
        draft->receiver.key = arena_text(reader->arena, secret);
    }
    if (draft->receiver.key.size < KEY_BYTES_LEAST)
        problem_warning(reader->problems, draft->secret_place,
                        "this key can be guessed from one message; take 24 random bytes or more, as "
                        "whsec_ and their base64");
    return true;
}

static bool check_secret(struct reader *reader, const struct node *node,
                         struct receiver_draft *draft)
{
    bool given = draft->secret.size > 0;
    draft->receiver.format = (enum notify_format)draft->format;
    if (draft->receiver.format == NOTIFY_STANDARD) {
        if (given)
            return make_key(reader, draft);
        problem_error(reader->problems, node->place,
                      "format: standard signs each message, so it needs the key \"secret\"");
        return false;
    }
    if (given)
        problem_error(reader->problems, draft->secret_place,
                      "format: slack signs nothing; its secret is the URL itself");
    return !given;
}

/* The word for it in the outbox: stays the same as long as its messages can be sent there. */
static void name_target(struct reader *reader, struct notify_receiver *receiver)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    struct digest *parts = digest_new();
    digest_field(parts, text_from(formats[receiver->format]));
    digest_field(parts, receiver->url);
    digest_finish(parts, digest);
    hex_from_bytes(digest, sizeof digest, hex);
    receiver->target = arena_text(reader->arena, text_from(hex));
}

static bool read_receiver(struct reader *reader, const struct node *node,
                          struct notify_receiver *receiver)
{
    static const struct field fields[] = {
        {"url", field_receiver_url, REQUIRED, offsetof(struct receiver_draft, receiver),
         "a URL that begins with https://, {file: PATH} or {env: NAME}", NULL, 0, 0},
        {"secret", field_receiver_secret, OPTIONAL, 0,
         "whsec_ and base64, or a text, {file: PATH} or {env: NAME}", NULL, 0, 0},
        {"format", field_choice, OPTIONAL, offsetof(struct receiver_draft, format), NULL, formats, 0,
         0},
        {"events", field_events, OPTIONAL, offsetof(struct receiver_draft, receiver.events),
         "a list of events: [hold.created]", NULL, 0, 0},
        {"ca", field_path, OPTIONAL, offsetof(struct receiver_draft, receiver.authority), "a path",
         NULL, 0, 0},
    };
    struct receiver_draft draft = {.receiver.events = ~0U, .format = NOTIFY_STANDARD};
    bool fine = fields_read(reader, node, "a receiver", fields, ARRAY_SIZE(fields), &draft) &&
                check_secret(reader, node, &draft);
    if (fine)
        name_target(reader, &draft.receiver);
    *receiver = draft.receiver;
    return fine;
}

static bool is_repeated(const struct notify_section *section, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (text_equal(section->receivers[i].target, section->receivers[index].target))
            return true;
    return false;
}

bool field_notify(struct reader *reader, const struct field *field, const struct node *node,
                  void *target)
{
    struct notify_section *section = target;
    bool fine = true;
    if (!node_must_be(reader, node, NODE_LIST, field->expected))
        return false;
    if (node->count > LIMIT_RECEIVERS)
        return field_wrong(reader, node, "fewer receivers");
    section->place = node->place;
    section->receivers = arena_array(reader->arena, node->count, sizeof *section->receivers);
    for (size_t i = 0; i < node->count; i++) {
        section->count = i + 1;
        if (!read_receiver(reader, &node->items[i], &section->receivers[i])) {
            fine = false;
        } else if (is_repeated(section, i)) {
            problem_error(reader->problems, node->items[i].place,
                          "this receiver stands in the list already");
            fine = false;
        }
    }
    return fine;
}

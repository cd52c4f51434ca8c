/* body.c - see body.h. Reading is jansson's; a text with NUL or broken UTF-8 is refused by it. */
#include "proxy/review/body.h"

#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"
#include "proxy/review/http.h"

#include <jansson.h>

static json_t *load_object(struct text body)
{
    json_error_t error;
    json_t *value = json_loadb(body.bytes, body.size, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

bool is_json_object(struct text text)
{
    json_t *object = load_object(text);
    json_decref(object);
    return object != NULL;
}

/* Takes a text out of the object; NULL bytes if there is none. */
static struct text take_text(struct arena *arena, json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    struct text text = {NULL, 0};
    if (json_is_string(value))
        text =
            arena_text(arena, (struct text){json_string_value(value), json_string_length(value)});
    if (text.bytes != NULL)
        json_object_del(object, key);
    return text;
}

bool reason_is_readable(struct text reason)
{
    bool seen = false;
    for (size_t i = 0; i < reason.size; i++) {
        unsigned char byte = (unsigned char)reason.bytes[i];
        if ((byte < 0x20 && byte != '\n') || byte == 0x7F)
            return false;
        seen = seen || (byte != ' ' && byte != '\n');
    }
    return seen && reason.size <= LIMIT_REASON_BYTES;
}

static const char *take_decision(struct arena *arena, json_t *object, bool needs_reason,
                                 struct decision_body *decision)
{
    struct text digest = take_text(arena, object, "digest");
    if (digest.bytes == NULL || !digest_parse(digest, decision->digest))
        return "\"digest\" must be the 64 hexadecimal digits that were shown";
    decision->reason = needs_reason ? take_text(arena, object, "reason") : TEXT("");
    if (needs_reason && (decision->reason.bytes == NULL || !reason_is_readable(decision->reason)))
        return "\"reason\" must be a text of 1 to 1000 bytes without control characters";
    return json_object_size(object) == 0 ? NULL : "the body has a key that is not known";
}

const char *decision_body_parse(struct arena *arena, struct text body, bool needs_reason,
                                struct decision_body *decision)
{
    *decision = (struct decision_body){.reason = TEXT("")};
    json_t *object = load_object(body);
    if (object == NULL)
        return "the body must be one JSON object";
    const char *problem = take_decision(arena, object, needs_reason, decision);
    json_decref(object);
    return problem;
}

const char *empty_body_check(struct text body)
{
    if (body.size == 0)
        return NULL;
    json_t *object = load_object(body);
    bool empty = object != NULL && json_object_size(object) == 0;
    json_decref(object);
    return empty ? NULL : "the body must be {} or nothing";
}

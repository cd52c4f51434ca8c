/* line.c - see line.h. A line that is not one JSON object with a sequence number and a hash is no
 * record. */
#include "proxy/audit/line.h"

#include <jansson.h>
#include <string.h>

const char AUDIT_NO_LINE[SHA256_HEX_SIZE] =
    "0000000000000000000000000000000000000000000000000000000000000000";

static bool read_members(const json_t *record, struct audit_line *line)
{
    const json_t *seq = json_object_get(record, "pgwicket.seq");
    const json_t *previous = json_object_get(record, "pgwicket.prev");
    const json_t *event = json_object_get(record, "event.name");
    if (!json_is_integer(seq) || json_integer_value(seq) < 1 || !json_is_string(previous) ||
        !json_is_string(event) || json_string_length(previous) != SHA256_HEX_SIZE - 1)
        return false;
    line->seq = (uint64_t)json_integer_value(seq);
    memcpy(line->previous, json_string_value(previous), SHA256_HEX_SIZE);
    line->of_the_log = strcmp(json_string_value(event), "pgwicket.audit") == 0;
    return true;
}

bool audit_line_read(struct text text, struct audit_line *line)
{
    json_t *record =
        json_loadb(text.bytes, text.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    bool complete = record != NULL && read_members(record, line);
    json_decref(record);
    return complete;
}

void audit_line_hash(struct text text, char hash[SHA256_HEX_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256(text.bytes, text.size, digest);
    hex_from_bytes(digest, sizeof digest, hash);
}

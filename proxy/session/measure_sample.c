/*
 * measure_sample.c - one sampled row: the server's JSON made fit for a person, value by value.
 *
 * A number stays a number only if every reader of JSON keeps it as it is (an integer of at most 15
 * digits); others, and what has an inside, become texts that show it exactly. A long value is cut and
 * its length told. What does not read as JSON gives no row.
 */
#include "proxy/session/measure.h"

#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_DIGITS = 15, ROW_BYTES_MAX = 4 * 1024 * 1024 };

struct scan {
    struct text json;
    size_t at;
};

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->json.size && strchr(" \t\n\r", scan->json.bytes[scan->at]) != NULL)
        scan->at++;
}

static bool take(struct scan *scan, char byte)
{
    skip_blanks(scan);
    bool there = scan->at < scan->json.size && scan->json.bytes[scan->at] == byte;
    scan->at += there ? 1 : 0;
    return there;
}

static void skip_string(struct scan *scan)
{
    for (scan->at++; scan->at < scan->json.size && scan->json.bytes[scan->at] != '"'; scan->at++)
        if (scan->json.bytes[scan->at] == '\\')
            scan->at++;
    scan->at++;
}

/* The bytes of the value that begins here, whatever its kind. */
static struct text take_value(struct scan *scan)
{
    int depth = 0;
    skip_blanks(scan);
    size_t start = scan->at;
    while (scan->at < scan->json.size) {
        char byte = scan->json.bytes[scan->at];
        if (depth == 0 && (byte == ',' || byte == '}' || byte == ']'))
            break;
        if (byte == '"') {
            skip_string(scan);
            continue;
        }
        depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
        scan->at++;
    }
    size_t end = scan->at < scan->json.size ? scan->at : scan->json.size;
    while (end > start && strchr(" \t\n\r", scan->json.bytes[end - 1]) != NULL)
        end--;
    return (struct text){scan->json.bytes + start, end - start};
}

static bool is_exact(struct text value)
{
    size_t at = value.size > 0 && value.bytes[0] == '-' ? 1 : 0;
    if (value.size - at == 0 || value.size - at > EXACT_DIGITS)
        return false;
    for (; at < value.size; at++)
        if (value.bytes[at] < '0' || value.bytes[at] > '9')
            return false;
    return true;
}

static bool is_word(struct text value)
{
    return text_is(value, "true") || text_is(value, "false") || text_is(value, "null");
}

static json_t *cut(struct text words)
{
    struct text front = text_cut(words, SAMPLE_VALUE_BYTES);
    if (front.size == words.size)
        return json_stringn(words.bytes, words.size);
    return json_sprintf("%.*s… (%d bytes)", (int)front.size, front.bytes, (int)words.size);
}

static json_t *shown_string(struct text value)
{
    json_t *string = json_loadb(value.bytes, value.size, JSON_DECODE_ANY, NULL);
    struct text words = {json_string_value(string), json_string_length(string)};
    json_t *shown = json_is_string(string) ? cut(words) : NULL;
    json_decref(string);
    return shown;
}

static json_t *shown_value(struct text value)
{
    if (value.size > 0 && value.bytes[0] == '"')
        return shown_string(value);
    if (is_exact(value) || is_word(value))
        return json_loadb(value.bytes, value.size, JSON_DECODE_ANY, NULL);
    return cut(value);
}

/* One "key": value; false at the end, or where it is none. */
static bool take_member(struct scan *scan, json_t *row)
{
    skip_blanks(scan);
    size_t start = scan->at;
    if (start >= scan->json.size || scan->json.bytes[start] != '"')
        return false;
    skip_string(scan);
    if (scan->at > scan->json.size)
        return false;
    struct text key = {scan->json.bytes + start, scan->at - start};
    if (!take(scan, ':'))
        return false;
    json_t *name = json_loadb(key.bytes, key.size, JSON_DECODE_ANY, NULL);
    json_t *value = shown_value(take_value(scan));
    bool fine = json_is_string(name) && value != NULL &&
                json_object_set(row, json_string_value(name), value) == 0;
    json_decref(name);
    json_decref(value);
    return fine;
}

char *measured_row_as_json(struct text row)
{
    struct scan scan = {.json = row};
    if (row.size > ROW_BYTES_MAX || !take(&scan, '{'))
        return NULL;
    json_t *shown = json_object();
    bool more = !take(&scan, '}'), fine = true;
    while (more && fine) {
        fine = take_member(&scan, shown);
        more = take(&scan, ',');
        fine = fine && (more || take(&scan, '}'));
    }
    /* Everything that is not ASCII is escaped, so nothing in it is invisible. */
    char *dump = fine ? json_dumps(shown, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(shown);
    return dump;
}

bool measured_row_key(struct text row, const struct text *key, size_t key_count, char *out, size_t size)
{
    char *shown = measured_row_as_json(row);
    json_t *members = shown != NULL ? json_loads(shown, 0, NULL) : NULL;
    size_t used = 0;
    bool fine = members != NULL && key_count > 0;
    for (size_t i = 0; i < key_count && fine; i++) {
        char name[LIMIT_ROW_NAME_BYTES];
        fine = (size_t)snprintf(name, sizeof name, "%.*s", TEXT_ARGS(key[i])) < sizeof name;
        const json_t *member = json_object_get(members, name);
        char *value = member != NULL ? json_dumps(member, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
        fine = fine && value != NULL && used < size;
        if (fine)
            used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", value);
        free(value);
    }
    json_decref(members);
    free(shown);
    return fine && used < size;
}

bool measured_image_parts(struct text image, struct text *old_row, struct text *new_row)
{
    struct scan scan = {.json = image};
    struct text *parts[] = {old_row, new_row};
    bool fine = take(&scan, '{');
    for (size_t i = 0; i < 2 && fine; i++) {
        skip_blanks(&scan);
        fine = scan.at < image.size && image.bytes[scan.at] == '"';
        if (fine)
            skip_string(&scan);
        fine = fine && take(&scan, ':');
        *parts[i] = fine ? take_value(&scan) : (struct text){0};
        fine = fine && take(&scan, i == 0 ? ',' : '}');
    }
    return fine;
}

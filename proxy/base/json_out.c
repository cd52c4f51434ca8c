/*
 * json_out.c - see json_out.h. Writing cannot fail; running out of room shows in the buffer.
 *
 * Besides what JSON demands, characters that a reader would not see are written as \uXXXX: the same
 * value to a parser, but nothing hidden in a log line, a terminal or a page's source.
 */
#include "proxy/base/json_out.h"

#include "proxy/base/unicode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json_out json_out_to(struct buffer *buffer)
{
    return (struct json_out){.buffer = buffer};
}

static void before_value(struct json_out *json)
{
    if (json->need_comma)
        buffer_append_byte(json->buffer, ',');
    json->need_comma = true;
}

static void write_escaped(struct buffer *buffer, uint32_t code_point)
{
    static const char short_of[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    for (size_t i = 0; i + 1 < sizeof short_of; i += 2)
        if (code_point == (uint8_t)short_of[i]) {
            const char escape[] = {'\\', short_of[i + 1]};
            buffer_append(buffer, escape, sizeof escape);
            return;
        }
    if (code_point > 0xFFFF) {
        code_point -= 0x10000;
        buffer_printf(buffer, "\\u%04x", (unsigned)(0xD800 + (code_point >> 10)));
        code_point = 0xDC00 + (code_point & 0x3FF);
    }
    buffer_printf(buffer, "\\u%04x", (unsigned)code_point);
}

/* Writes the character at the front and returns the bytes that it took. */
static size_t write_character(struct buffer *buffer, struct text rest)
{
    if (rest.bytes[0] == '\0') {
        write_escaped(buffer, 0);
        return 1;
    }
    if (utf8_sequence(rest) == 0) {
        buffer_append_string(buffer, "\xEF\xBF\xBD");
        return 1;
    }
    uint32_t code_point;
    size_t size = utf8_decode(rest, &code_point);
    if (code_point == '"' || code_point == '\\' || unicode_is_invisible(code_point))
        write_escaped(buffer, code_point);
    else
        buffer_append(buffer, rest.bytes, size);
    return size;
}

static bool is_plain(char byte)
{
    return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

static void write_quoted(struct buffer *buffer, struct text value)
{
    buffer_append_byte(buffer, '"');
    for (size_t at = 0; at < value.size;) {
        size_t plain = at;
        while (plain < value.size && is_plain(value.bytes[plain]))
            plain++;
        buffer_append(buffer, value.bytes + at, plain - at);
        at = plain;
        if (at < value.size)
            at += write_character(buffer, (struct text){value.bytes + at, value.size - at});
    }
    buffer_append_byte(buffer, '"');
}

void json_open(struct json_out *json, char bracket)
{
    before_value(json);
    buffer_append_byte(json->buffer, (uint8_t)bracket);
    json->need_comma = false;
}

void json_close(struct json_out *json, char bracket)
{
    buffer_append_byte(json->buffer, (uint8_t)bracket);
    json->need_comma = true;
}

void json_key(struct json_out *json, const char *key)
{
    before_value(json);
    write_quoted(json->buffer, text_from(key));
    buffer_append_byte(json->buffer, ':');
    json->need_comma = false;
}

void json_text(struct json_out *json, struct text value)
{
    before_value(json);
    write_quoted(json->buffer, value);
}

void json_string(struct json_out *json, const char *value)
{
    if (value == NULL)
        json_null(json);
    else
        json_text(json, text_from(value));
}

void json_int(struct json_out *json, int64_t value)
{
    before_value(json);
    buffer_printf(json->buffer, "%" PRId64, value);
}

/* The fewest digits that read back as the same double; 17 always do. */
static void shortest_number(double value, char *text, size_t size)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

void json_number(struct json_out *json, double value)
{
    /* Whole numbers below 10^15 as such: %g would write 1e+02 for 100. */
    if (!isfinite(value)) {
        json_null(json);
    } else if (fabs(value) < 1e15 && value == trunc(value)) {
        json_int(json, (int64_t)value);
    } else {
        char text[32];
        shortest_number(value, text, sizeof text);
        before_value(json);
        buffer_append_string(json->buffer, text);
    }
}

void json_decimal(struct json_out *json, struct text number)
{
    before_value(json);
    buffer_append_text(json->buffer, number);
}

void json_bool(struct json_out *json, bool value)
{
    before_value(json);
    buffer_append_string(json->buffer, value ? "true" : "false");
}

void json_null(struct json_out *json)
{
    before_value(json);
    buffer_append_string(json->buffer, "null");
}

void json_key_text(struct json_out *json, const char *key, struct text value)
{
    json_key(json, key);
    json_text(json, value);
}

void json_key_string(struct json_out *json, const char *key, const char *value)
{
    json_key(json, key);
    json_string(json, value);
}

void json_key_int(struct json_out *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_int(json, value);
}

void json_key_number(struct json_out *json, const char *key, double value)
{
    json_key(json, key);
    json_number(json, value);
}

void json_key_bool(struct json_out *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

void json_key_open(struct json_out *json, const char *key, char bracket)
{
    json_key(json, key);
    json_open(json, bracket);
}

void json_key_text_or_null(struct json_out *json, const char *key, struct text value)
{
    json_key(json, key);
    if (value.size > 0)
        json_text(json, value);
    else
        json_null(json);
}

void json_key_texts(struct json_out *json, const char *key, const struct text *list, size_t count)
{
    json_key_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        json_text(json, list[i]);
    json_close(json, ']');
}

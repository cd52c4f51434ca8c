/*
 * json_out.h - writes JSON into a buffer. Commas are set by itself; the caller balances braces.
 *
 * Text that is not valid UTF-8 has its bad bytes replaced by U+FFFD, so the output is always valid.
 * Characters that cannot be seen (unicode_is_invisible) are written as \uXXXX.
 */
#ifndef PGWICKET_BASE_JSON_OUT_H
#define PGWICKET_BASE_JSON_OUT_H

#include "proxy/base/buffer.h"

/* Jansson has functions of these names: without this the linker would take ours for its. */
#define json_string json_out_string
#define json_null   json_out_null

struct json_out {
    struct buffer *buffer;
    bool need_comma;
};

struct json_out json_out_to(struct buffer *buffer);

void json_open(struct json_out *json, char bracket);  /* '{' or '[' */
void json_close(struct json_out *json, char bracket); /* '}' or ']' */
void json_key(struct json_out *json, const char *key);

void json_text(struct json_out *json, struct text value);
void json_string(struct json_out *json, const char *value); /* NULL writes null */
void json_int(struct json_out *json, int64_t value);
void json_number(struct json_out *json, double value); /* null when not finite */
void json_decimal(struct json_out *json, struct text number); /* JSON already: written as it is */
void json_bool(struct json_out *json, bool value);
void json_null(struct json_out *json);

/* Key and value in one. */
void json_key_text(struct json_out *json, const char *key, struct text value);
void json_key_string(struct json_out *json, const char *key, const char *value);
void json_key_int(struct json_out *json, const char *key, int64_t value);
void json_key_number(struct json_out *json, const char *key, double value);
void json_key_bool(struct json_out *json, const char *key, bool value);
void json_key_open(struct json_out *json, const char *key, char bracket);
void json_key_text_or_null(struct json_out *json, const char *key, struct text value); /* empty: null */
void json_key_texts(struct json_out *json, const char *key, const struct text *list, size_t count);

#endif

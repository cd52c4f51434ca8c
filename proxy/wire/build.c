/*
 * build.c - writes messages. One that does not fit is not written at all: the buffer then shows
 * overflow and holds what it held before.
 */
#include "proxy/wire/build.h"

#include "proxy/base/cursor.h"
#include "proxy/base/invariant.h"
#include "proxy/wire/backend.h"
#include "proxy/wire/frontend.h"

enum { AUTH_OK = 0, AUTH_SASL = 10, AUTH_SASL_CONTINUE = 11, AUTH_SASL_FINAL = 12 };
enum { TYPE_TEXT_OID = 25, PROTOCOL_MAJOR = 3 };

/* Returns where the message starts, for end_message. */
static size_t begin_message(struct buffer *out, uint8_t type)
{
    size_t start = out->size;
    buffer_append_byte(out, type);
    buffer_append_u32(out, 0);
    return start;
}

static void end_message(struct buffer *out, size_t start)
{
    if (out->overflow) {
        out->size = start;
        return;
    }
    size_t length = out->size - start - 1;
    INVARIANT(length <= INT32_MAX);
    for (size_t i = 0; i < 4; i++)
        out->bytes[start + 1 + i] = (uint8_t)(length >> (24 - 8 * i));
}

/* A NUL inside would end the string early and make its tail another field. */
static void append_string(struct buffer *out, struct text string)
{
    INVARIANT(!text_has_byte(string, '\0'));
    buffer_append_text(out, string);
    buffer_append_byte(out, 0);
}

/* For texts that may quote what an agent or a server sent. */
static void append_readable(struct buffer *out, struct text string)
{
    struct cursor cursor = cursor_over(string.bytes, string.size);
    while (text_has_byte((struct text){(const char *)cursor.at, cursor_left(&cursor)}, '\0')) {
        buffer_append_text(out, cursor_string(&cursor));
        buffer_append_byte(out, '?');
    }
    buffer_append_text(out, cursor_bytes(&cursor, cursor_left(&cursor)));
    buffer_append_byte(out, 0);
}

void build_message(struct buffer *out, uint8_t type, struct text body)
{
    size_t start = begin_message(out, type);
    buffer_append_text(out, body);
    end_message(out, start);
}

void build_empty_message(struct buffer *out, uint8_t type)
{
    build_message(out, type, TEXT(""));
}

/* --- to the server ---------------------------------------------------------------------------- */

void build_query(struct buffer *out, struct text sql)
{
    size_t start = begin_message(out, FRONTEND_QUERY);
    append_string(out, sql);
    end_message(out, start);
}

void build_parse(struct buffer *out, struct text name, struct text sql, const uint8_t *types,
                 uint16_t type_count)
{
    INVARIANT(types != NULL || type_count == 0);
    size_t start = begin_message(out, FRONTEND_PARSE);
    append_string(out, name);
    append_string(out, sql);
    buffer_append_u16(out, type_count);
    buffer_append(out, types, type_count * sizeof(uint32_t));
    end_message(out, start);
}

void build_bind(struct buffer *out, struct text portal, struct text statement, struct text rest)
{
    /* No formats, no values, no result formats. */
    const struct text nothing = TEXT("\0\0\0\0\0\0");
    size_t start = begin_message(out, FRONTEND_BIND);
    append_string(out, portal);
    append_string(out, statement);
    buffer_append_text(out, rest.size > 0 ? rest : nothing);
    end_message(out, start);
}

static void build_named(struct buffer *out, uint8_t type, uint8_t kind, struct text name)
{
    INVARIANT(kind == 'S' || kind == 'P');
    size_t start = begin_message(out, type);
    buffer_append_byte(out, kind);
    append_string(out, name);
    end_message(out, start);
}

void build_describe(struct buffer *out, uint8_t kind, struct text name)
{
    build_named(out, FRONTEND_DESCRIBE, kind, name);
}

void build_close(struct buffer *out, uint8_t kind, struct text name)
{
    build_named(out, FRONTEND_CLOSE, kind, name);
}

void build_execute(struct buffer *out, struct text portal, uint32_t rows_max)
{
    size_t start = begin_message(out, FRONTEND_EXECUTE);
    append_string(out, portal);
    buffer_append_u32(out, rows_max);
    end_message(out, start);
}

void build_flush(struct buffer *out)
{
    build_empty_message(out, FRONTEND_FLUSH);
}

void build_sync(struct buffer *out)
{
    build_empty_message(out, FRONTEND_SYNC);
}

void build_terminate(struct buffer *out)
{
    build_empty_message(out, FRONTEND_TERMINATE);
}

void build_copy_fail(struct buffer *out, struct text message)
{
    size_t start = begin_message(out, FRONTEND_COPY_FAIL);
    append_readable(out, message);
    end_message(out, start);
}

/* --- to the client ---------------------------------------------------------------------------- */

static void append_field(struct buffer *out, char code, struct text value)
{
    buffer_append_byte(out, (uint8_t)code);
    append_readable(out, value);
}

/* Severity, SQLSTATE and message are always there: clients rely on them. */
static void build_error_or_notice(struct buffer *out, uint8_t type,
                                  const struct error_message *error)
{
    INVARIANT(error->severity != NULL && error->sqlstate != NULL);
    size_t start = begin_message(out, type);
    append_field(out, 'S', text_from(error->severity));
    append_field(out, 'V', text_from(error->severity));
    append_field(out, 'C', text_from(error->sqlstate));
    append_field(out, 'M', error->message);
    if (error->detail.size > 0)
        append_field(out, 'D', error->detail);
    if (error->hint.size > 0)
        append_field(out, 'H', error->hint);
    if (error->position > 0) {
        buffer_printf(out, "P%d", error->position);
        buffer_append_byte(out, 0);
    }
    buffer_append_byte(out, 0);
    end_message(out, start);
}

void build_error(struct buffer *out, const struct error_message *error)
{
    build_error_or_notice(out, BACKEND_ERROR, error);
}

void build_notice(struct buffer *out, const struct error_message *notice)
{
    build_error_or_notice(out, BACKEND_NOTICE, notice);
}

void build_ready(struct buffer *out, char status)
{
    INVARIANT(status == 'I' || status == 'T' || status == 'E');
    build_message(out, BACKEND_READY, (struct text){&status, 1});
}

void build_command_complete(struct buffer *out, struct text tag)
{
    size_t start = begin_message(out, BACKEND_COMMAND_COMPLETE);
    append_readable(out, tag);
    end_message(out, start);
}

void build_parameter_status(struct buffer *out, struct text name, struct text value)
{
    size_t start = begin_message(out, BACKEND_PARAMETER_STATUS);
    append_readable(out, name);
    append_readable(out, value);
    end_message(out, start);
}

void build_key_data(struct buffer *out, uint32_t pid, uint32_t secret)
{
    size_t start = begin_message(out, BACKEND_KEY_DATA);
    buffer_append_u32(out, pid);
    buffer_append_u32(out, secret);
    end_message(out, start);
}

void build_row_description(struct buffer *out, const struct text *names, uint16_t count)
{
    size_t start = begin_message(out, BACKEND_ROW_DESCRIPTION);
    buffer_append_u16(out, count);
    for (uint16_t i = 0; i < count; i++) {
        append_readable(out, names[i]);
        buffer_append_u32(out, 0); /* of no table */
        buffer_append_u16(out, 0); /* nor column */
        buffer_append_u32(out, TYPE_TEXT_OID);
        buffer_append_u16(out, UINT16_MAX); /* -1: of variable size */
        buffer_append_u32(out, UINT32_MAX); /* -1: no type modifier */
        buffer_append_u16(out, 0);          /* text format */
    }
    end_message(out, start);
}

void build_data_row(struct buffer *out, const struct text *values, uint16_t count)
{
    size_t start = begin_message(out, BACKEND_DATA_ROW);
    buffer_append_u16(out, count);
    for (uint16_t i = 0; i < count; i++) {
        INVARIANT(values[i].size <= INT32_MAX);
        if (values[i].bytes == NULL) {
            buffer_append_u32(out, UINT32_MAX);
            continue;
        }
        buffer_append_u32(out, (uint32_t)values[i].size);
        buffer_append_text(out, values[i]);
    }
    end_message(out, start);
}

void build_row_front(struct buffer *out, uint8_t type, uint16_t kept, struct text front)
{
    size_t start = begin_message(out, type);
    buffer_append_u16(out, kept);
    buffer_append_text(out, front);
    end_message(out, start);
}

/* The version goes out whole, major number included: the manual calls it minor, servers and libpq
 * mean both. */
void build_negotiate(struct buffer *out, uint32_t minor, const struct text *options, uint32_t count)
{
    size_t start = begin_message(out, BACKEND_NEGOTIATE);
    buffer_append_u32(out, (uint32_t)PROTOCOL_MAJOR << 16 | minor);
    buffer_append_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        append_string(out, options[i]);
    end_message(out, start);
}

static size_t begin_authentication(struct buffer *out, uint32_t code)
{
    size_t start = begin_message(out, BACKEND_AUTHENTICATION);
    buffer_append_u32(out, code);
    return start;
}

void build_auth_ok(struct buffer *out)
{
    end_message(out, begin_authentication(out, AUTH_OK));
}

/* In the order of our preference; an empty name ends the list. */
void build_auth_sasl(struct buffer *out, bool with_channel_binding)
{
    size_t start = begin_authentication(out, AUTH_SASL);
    if (with_channel_binding)
        append_string(out, TEXT("SCRAM-SHA-256-PLUS"));
    append_string(out, TEXT("SCRAM-SHA-256"));
    append_string(out, TEXT(""));
    end_message(out, start);
}

void build_auth_sasl_continue(struct buffer *out, struct text data)
{
    size_t start = begin_authentication(out, AUTH_SASL_CONTINUE);
    buffer_append_text(out, data);
    end_message(out, start);
}

void build_auth_sasl_final(struct buffer *out, struct text data)
{
    size_t start = begin_authentication(out, AUTH_SASL_FINAL);
    buffer_append_text(out, data);
    end_message(out, start);
}

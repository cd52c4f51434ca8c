/*
 * build.h - writes messages of both directions into a buffer. Pure.
 *
 * Strings must hold no NUL; in texts for people (errors, tags, reasons) one becomes "?". A message
 * that does not fit is left out as a whole, and the buffer shows overflow.
 */
#ifndef PGWICKET_WIRE_BUILD_H
#define PGWICKET_WIRE_BUILD_H

#include "proxy/base/buffer.h"

/* Any message: type and body. */
void build_message(struct buffer *out, uint8_t type, struct text body);

/* --- to the server ---------------------------------------------------------------------------- */

void build_query(struct buffer *out, struct text sql);
/* `types`: type_count network-order OIDs as in parse_message, or NULL. */
void build_parse(struct buffer *out, struct text name, struct text sql, const uint8_t *types,
                 uint16_t type_count);
/* `rest` is bind_message.after_statement; empty means no parameters and text results. */
void build_bind(struct buffer *out, struct text portal, struct text statement, struct text rest);
void build_describe(struct buffer *out, uint8_t kind, struct text name);
void build_close(struct buffer *out, uint8_t kind, struct text name);
void build_execute(struct buffer *out, struct text portal, uint32_t rows_max);
void build_flush(struct buffer *out);
void build_sync(struct buffer *out);
void build_terminate(struct buffer *out);
void build_copy_fail(struct buffer *out, struct text message);

/* --- to the client ---------------------------------------------------------------------------- */

struct error_message {
    const char *severity; /* "ERROR", "FATAL", "NOTICE", "WARNING" */
    const char *sqlstate;
    struct text message;
    struct text detail; /* may be empty; likewise hint */
    struct text hint;
    int position; /* 0: none */
};
void build_error(struct buffer *out, const struct error_message *error);   /* 'E' */
void build_notice(struct buffer *out, const struct error_message *notice); /* 'N' */
void build_ready(struct buffer *out, char status);
void build_command_complete(struct buffer *out, struct text tag);
void build_parameter_status(struct buffer *out, struct text name, struct text value);
void build_key_data(struct buffer *out, uint32_t pid, uint32_t secret);
void build_empty_message(struct buffer *out, uint8_t type); /* '1' '2' '3' 'n' 's' 'I' 'c' */
/* All columns of type text, text format. */
void build_row_description(struct buffer *out, const struct text *names, uint16_t count);
/* A value with NULL bytes is NULL. */
void build_data_row(struct buffer *out, const struct text *values, uint16_t count);
/* RowDescription or DataRow of `kept` columns, whose bytes are `front` (row_front). */
void build_row_front(struct buffer *out, uint8_t type, uint16_t kept, struct text front);
void build_negotiate(struct buffer *out, uint32_t minor, const struct text *options,
                     uint32_t count);

/* Authentication requests. */
void build_auth_ok(struct buffer *out);
void build_auth_sasl(struct buffer *out, bool with_channel_binding);
void build_auth_sasl_continue(struct buffer *out, struct text data);
void build_auth_sasl_final(struct buffer *out, struct text data);

#endif

/*
 * frontend.h - messages that a client sends, typed. Pure; every text points into the frame.
 *
 * Each decode_* is true only if the body is exactly what its type declares: fields complete,
 * nothing left over. A difference between our reading and the server's would be a way in.
 */
#ifndef PGWICKET_WIRE_FRONTEND_H
#define PGWICKET_WIRE_FRONTEND_H

#include "proxy/base/attributes.h"
#include "proxy/wire/frame.h"

enum frontend_type {
    FRONTEND_BIND = 'B',
    FRONTEND_CLOSE = 'C',
    FRONTEND_COPY_DATA = 'd',
    FRONTEND_COPY_DONE = 'c',
    FRONTEND_COPY_FAIL = 'f',
    FRONTEND_DESCRIBE = 'D',
    FRONTEND_EXECUTE = 'E',
    FRONTEND_FLUSH = 'H',
    FRONTEND_FUNCTION_CALL = 'F',
    FRONTEND_PARSE = 'P',
    FRONTEND_PASSWORD = 'p', /* password, SASLInitialResponse, SASLResponse */
    FRONTEND_QUERY = 'Q',
    FRONTEND_SYNC = 'S',
    FRONTEND_TERMINATE = 'X',
};

/* Largest size of a message of this type that is received as a whole (limits.h); 0 for a type that
 * does not exist. CopyData has none of its own: it streams (SIZE_MAX >> 1). Query and Parse may be
 * longer than LIMIT_STATEMENT_BYTES allows their text to be: the session refuses that one. */
size_t frontend_size_max(uint8_t type);

struct query_message {
    struct text sql; /* without the NUL; holds no NUL */
};

struct parse_message {
    struct text name;
    struct text sql;
    uint16_t type_count;
    const uint8_t *types; /* type_count network-order 32-bit OIDs, possibly unaligned */
};
/* 0, which leaves the type to the server, beyond the last. */
uint32_t parse_message_type(const struct parse_message *message, uint16_t index);

struct bind_message {
    struct text portal;
    struct text statement;
    uint16_t format_count;  /* 0, 1 (for all values) or value_count */
    const uint8_t *formats; /* network-order 16-bit codes, each 0 (text) or 1 (binary) */
    uint16_t value_count;
    struct text values; /* the values' bytes: each a 32-bit length (-1 NULL) and its bytes */
    struct text result_formats;  /* count and codes (each 0 or 1), as in the message */
    struct text after_statement; /* all behind the two names: formats, values, result formats; may
                                    be sent again under other names */
};

/* One bound value. */
struct bound_value {
    bool is_null;
    bool binary;
    struct text bytes;
};
/* Calls with index 0, 1, … must go in order: *cursor_state starts at 0. False at the end. */
bool bind_message_next_value(const struct bind_message *message, size_t *cursor_state,
                             uint16_t index, struct bound_value *value);

struct named_message { /* Describe, Close */
    uint8_t kind;      /* 'S' statement, 'P' portal */
    struct text name;
};

struct execute_message {
    struct text portal;
    uint32_t rows_max; /* 0, or negative as an int32: all */
};

struct copy_fail_message {
    struct text reason;
};

MUST_USE bool decode_query(struct text body, struct query_message *message);
MUST_USE bool decode_parse(struct text body, struct parse_message *message);
MUST_USE bool decode_bind(struct text body, struct bind_message *message);
MUST_USE bool decode_named(struct text body, struct named_message *message);
MUST_USE bool decode_execute(struct text body, struct execute_message *message);
MUST_USE bool decode_copy_fail(struct text body, struct copy_fail_message *message);
MUST_USE bool decode_empty(struct text body); /* Sync, Flush, Terminate, CopyDone */

#endif

/*
 * backend.h - messages that a server sends, as far as pgwicket reads them. Pure.
 */
#ifndef PGWICKET_WIRE_BACKEND_H
#define PGWICKET_WIRE_BACKEND_H

#include "proxy/base/attributes.h"
#include "proxy/wire/frame.h"

enum backend_type {
    BACKEND_AUTHENTICATION = 'R',
    BACKEND_BIND_COMPLETE = '2',
    BACKEND_CLOSE_COMPLETE = '3',
    BACKEND_COMMAND_COMPLETE = 'C',
    BACKEND_COPY_BOTH = 'W',
    BACKEND_COPY_DATA = 'd',
    BACKEND_COPY_DONE = 'c',
    BACKEND_COPY_IN = 'G',
    BACKEND_COPY_OUT = 'H',
    BACKEND_DATA_ROW = 'D',
    BACKEND_EMPTY_QUERY = 'I',
    BACKEND_ERROR = 'E',
    BACKEND_KEY_DATA = 'K',
    BACKEND_NEGOTIATE = 'v',
    BACKEND_NO_DATA = 'n',
    BACKEND_NOTICE = 'N',
    BACKEND_NOTIFICATION = 'A',
    BACKEND_PARAMETER_DESCRIPTION = 't',
    BACKEND_PARAMETER_STATUS = 'S',
    BACKEND_PARSE_COMPLETE = '1',
    BACKEND_PORTAL_SUSPENDED = 's',
    BACKEND_READY = 'Z',
    BACKEND_ROW_DESCRIPTION = 'T',
};

/* Types whose body streams through in pieces (DataRow, CopyData). */
bool backend_streams(uint8_t type);

/* ErrorResponse and NoticeResponse; fields that are missing are empty. */
struct error_fields {
    struct text severity; /* V: never localised */
    struct text sqlstate;
    struct text message;
    struct text detail;
    struct text hint;
    int position; /* 0: none */
    struct text context;    /* W: where in functions, COPY data, … */
    struct text schema;     /* s, t, c, n: what it is about */
    struct text table;
    struct text column;
    struct text constraint;
    struct text type;       /* d: of a data type or domain */
    struct text routine;    /* R: the server's C function */
};
MUST_USE bool decode_error(struct text body, struct error_fields *fields);

/* The same body with `position` in place of its P field (0 drops it); false if it does not decode.
 */
struct buffer;
MUST_USE bool error_body_with_position(struct buffer *out, struct text body, int position);

/* CommandComplete: "UPDATE 3" → command "UPDATE", rows 3; rows -1 where the tag has no number. */
struct command_tag {
    struct text tag;
    struct text command;
    int64_t rows;
};
MUST_USE bool decode_command_complete(struct text body, struct command_tag *tag);

/* ReadyForQuery's status: 'I', 'T' or 'E'. */
MUST_USE bool decode_ready(struct text body, char *status);

struct parameter_status {
    struct text name;
    struct text value;
};
MUST_USE bool decode_parameter_status(struct text body, struct parameter_status *status);

/* Column `index` of a DataRow; false where there is none or it is NULL. */
MUST_USE bool data_row_column(struct text body, uint16_t index, struct text *value);

/* How many columns a RowDescription or DataRow says it has; 0 if it says nothing. */
uint16_t row_column_count(struct text body);

/* The bytes of the first `kept` columns of a RowDescription ('T') or DataRow ('D'), without the count in
 * front; false if it does not hold as many. */
MUST_USE bool row_front(uint8_t type, struct text body, uint16_t kept, struct text *front);

/* ParameterDescription: number of types, and one of them (0-based). */
MUST_USE bool decode_parameter_description(struct text body, uint16_t *count);
uint32_t parameter_description_type(struct text body, uint16_t index);

#endif

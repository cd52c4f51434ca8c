/*
 * frame.h - one message of PostgreSQL's protocol 3: type byte, length, body. Pure.
 *
 * Source: PostgreSQL manual, "Message Formats". The length counts itself, not the type.
 */
#ifndef PGWICKET_WIRE_FRAME_H
#define PGWICKET_WIRE_FRAME_H

#include "proxy/base/text.h"

enum { FRAME_HEADER_SIZE = 5 };

struct frame {
    uint8_t type;
    size_t size;      /* of the whole message, header included */
    struct text body; /* points into the input */
};

enum frame_result {
    FRAME_BAD = 0, /* length below 4 or beyond size_max: the stream cannot be followed further */
    FRAME_PARTIAL, /* more bytes are needed; type and size are set once the header is there (else 0)
                    */
    FRAME_COMPLETE,
};

/* Looks at the front of `bytes`. `size_max` bounds the whole message. */
enum frame_result frame_read(struct text bytes, size_t size_max, struct frame *frame);

#endif

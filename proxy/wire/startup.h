/*
 * startup.h - what a client may send before it is authenticated. Pure.
 *
 * Source: PostgreSQL manual, "Start-up" and "Message Formats". These packets have no type byte.
 */
#ifndef PGWICKET_WIRE_STARTUP_H
#define PGWICKET_WIRE_STARTUP_H

#include "proxy/base/arena.h"
#include "proxy/base/attributes.h"

enum startup_kind {
    STARTUP_BAD = 0, /* close without an answer: length out of bounds */
    STARTUP_PARTIAL,
    STARTUP_TLS_HELLO, /* first byte of a TLS handshake (direct TLS) */
    STARTUP_SSL_REQUEST,
    STARTUP_GSS_REQUEST,
    STARTUP_CANCEL,
    STARTUP_SESSION,
    STARTUP_OLD_PROTOCOL, /* major version other than 3: FATAL 0A000 */
    STARTUP_BAD_LAYOUT,   /* FATAL 08P01 "invalid startup packet layout: expected terminator as last
                             byte";   also for more than STARTUP_PARAMETERS_MAX parameters */
};

struct startup_parameter {
    struct text name;
    struct text value;
};

enum { STARTUP_PARAMETERS_MAX = 128 };

struct startup_packet {
    enum startup_kind kind;
    size_t size;         /* of the packet; 0 if BAD, PARTIAL or TLS_HELLO */
    uint32_t cancel_pid; /* STARTUP_CANCEL */
    uint32_t cancel_secret;
    uint32_t version; /* as sent: major << 16 | minor */
    struct startup_parameter
        parameters[STARTUP_PARAMETERS_MAX]; /* STARTUP_SESSION; point into input */
    size_t parameter_count;
};

void startup_read(struct text bytes, struct startup_packet *packet);

/* The value of a parameter, empty if it is missing; the last one if it is there more than once, as
 * the server takes it. */
struct text startup_parameter(const struct startup_packet *packet, const char *name);

/* Splits the `options` parameter ("-c a=b --c-d=e", backslash escapes) as the server does: a '-' in
 * a name means '_'. False if it holds anything but settings, or more than `settings_max`. Texts
 * live in `arena`. */
MUST_USE bool startup_options(struct arena *arena, struct text options,
                              struct startup_parameter *settings, size_t settings_max,
                              size_t *count);

#endif

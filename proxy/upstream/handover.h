/*
 * handover.h - proves that a connection which libpq logged in can be read from where libpq stopped.
 *
 * A Sync is sent on the bare connection. Its answer must be ReadyForQuery, before it nothing but
 * whole ParameterStatus, NoticeResponse and NotificationResponse messages. Had libpq kept the
 * beginning of a message, the answer would begin inside it: what is left of a message hardly ever
 * has a type, a length and a body that agree, and the server sends nothing more that could fill a
 * length that is too large, so that the login does not come to an end. The most likely case, that
 * only the end of a text is left, is seen at once: these messages end in at most two zero bytes,
 * and HANDOVER_MESSAGE_MAX is below what those and the type of the next message make as a length.
 *
 * Reads exactly to the end of ReadyForQuery, not a byte further.
 */
#ifndef PGWICKET_UPSTREAM_HANDOVER_H
#define PGWICKET_UPSTREAM_HANDOVER_H

#include "proxy/upstream/login.h"

enum { HANDOVER_MESSAGE_MAX = 16384 };

_Static_assert(HANDOVER_MESSAGE_MAX <= 'A' << 8,
               "two zero bytes and a message type must not look like a length");

struct handover {
    struct upstream_session *session;
    struct upstream_error *error;
    size_t sent; /* bytes of Sync */
    uint8_t message[1 + HANDOVER_MESSAGE_MAX];
    size_t received; /* bytes of the message */
};

void handover_init(struct handover *handover, struct upstream_session *session,
                   struct upstream_error *error);

/* As upstream_login_poll; fills `error` when it fails, updates the session's parameters. */
enum upstream_progress handover_poll(struct handover *handover);

/* Adds a reported parameter, or replaces its value. False: too many. */
MUST_USE bool session_report(struct upstream_session *session, struct text name, struct text value);

#endif

/*
 * fate.h - what became of a transaction whose connection was lost. Blocking: for a thread of its
 * own.
 *
 * Source: PostgreSQL manual, pg_xact_status; gate.md 6.
 */
#ifndef PGWICKET_UPSTREAM_FATE_H
#define PGWICKET_UPSTREAM_FATE_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

/* Stored before COMMIT was sent. */
struct upstream_run {
    struct text xid;
    int64_t backend_pid;
    struct text backend_start;     /* microseconds since 1970 */
    struct text system_identifier; /* and, after a space each, when its counters were last reset, as a crash
                                      does, and when the server was started; microseconds since 1970 */
    int64_t timeline;
};

enum upstream_fate {
    UPSTREAM_FATE_UNKNOWN = 0, /* another cluster or timeline, or the server cannot tell any more */
    UPSTREAM_FATE_COMMITTED,
    UPSTREAM_FATE_ABORTED,
    UPSTREAM_FATE_IN_PROGRESS, /* its backend has been told to end; ask again */
    UPSTREAM_FATE_UNREACHABLE,
};

MUST_USE enum upstream_fate upstream_fate(const char *connection_string,
                                          const struct upstream_run *run);

#endif

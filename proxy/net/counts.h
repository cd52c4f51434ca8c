/*
 * counts.h - what happens, as metrics: sessions, statements, errors, bytes, holds; and, for the page,
 * what is looked up then.
 *
 * Each function counts in the metrics of the thread that calls it.
 */
#ifndef PGWICKET_NET_COUNTS_H
#define PGWICKET_NET_COUNTS_H

#include "proxy/audit/record.h"
#include "proxy/config/settings.h"
#include "proxy/holds/hold.h"
#include "proxy/review/metrics.h"
#include "proxy/session/session.h"

/* Series that are there before anything happens: a rate needs its zero. */
void count_zeros(struct metrics_thread *metrics, const struct configuration *configuration);

/* Statements, rules and rows, from what the session wrote to the audit log. `written`: it is in the log,
 * or need not be; else the statement was rejected whatever the record says. */
void count_record(struct metrics_thread *metrics, const struct audit_record *record, bool written);

void count_measure(struct metrics_thread *metrics, enum session_measure what, double value);

/* An error for an agent. */
void count_error(struct metrics_thread *metrics, struct text sqlstate);

/* An attempt to open a session: it was opened, where `sqlstate` is empty. */
void count_login(struct metrics_thread *metrics, struct text sqlstate);

/* What a connection does now. */
enum session_activity {
    ACTIVITY_NONE = 0, /* not counted: it has ended */
    ACTIVITY_LOGIN,
    ACTIVITY_IDLE,
    ACTIVITY_ACTIVE,  /* a statement runs, or a transaction is open */
    ACTIVITY_WAITING, /* for a person */
    ACTIVITY_COUNT,
};
void count_activity(struct metrics_thread *metrics, enum session_activity before,
                    enum session_activity now);

struct byte_counts {
    uint64_t from_agent, to_agent, to_upstream, from_upstream;
};
void count_bytes(struct metrics_thread *metrics, const struct byte_counts *more);

/* On the store's thread. */
void count_hold(struct metrics_thread *metrics, const struct hold *hold, enum hold_state before,
                struct instant now);

#endif

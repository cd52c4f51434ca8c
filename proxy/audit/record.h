/*
 * record.h - one audit record: what is known of a statement, or of a change of a hold, as JSON.
 *
 * A record is filled by the session (or the hold store), written by sink. Field names in the file
 * follow OpenTelemetry's database conventions; the README of this folder has the table. Empty
 * texts, and numbers that are not set, are left out. Pure.
 */
#ifndef PGWICKET_AUDIT_RECORD_H
#define PGWICKET_AUDIT_RECORD_H

#include "proxy/base/buffer.h"
#include "proxy/base/clock.h"

enum audit_event {
    AUDIT_STATEMENT = 0, /* judged; written before it is relayed */
    AUDIT_OUTCOME,       /* what became of a held or writing statement */
    AUDIT_MESSAGE,       /* a message that was refused without being a statement */
    AUDIT_HOLD,          /* a hold changed its state */
    AUDIT_SESSION,       /* login, logout, refused login */
    AUDIT_SERVICE,       /* start, stop, reload, pause, resume */
    AUDIT_LOG, /* of the audit file itself: it begins, a line is torn, records are missing */
};

enum { AUDIT_UNSET = -1 };

struct audit_record {
    enum audit_event event;
    struct instant time;
    struct text outcome; /* "allow" "hold" "reject" "success" "failure" … */
    struct text client_address;
    int client_port;      /* 0: none (unix socket) */
    struct text agent;    /* user.name */
    struct text database; /* db.namespace: the upstream's database */
    struct text summary;
    struct text statement; /* db.query.text */
    struct text raw;       /* only with audit.statement_text: raw */
    struct text sqlstate;
    struct text session;      /* 16 hex digits */
    int64_t statement_number; /* AUDIT_UNSET where there is none */
    struct text policy;
    struct text rule;
    struct text nearest;
    struct text verdict;
    struct text verb; /* of the action that decided */
    struct text mode;
    struct text reason;
    struct text actions;
    struct text functions;
    struct text fingerprint;
    struct text sha256;   /* of the text as it came */
    double estimate_rows; /* < 0: unset; the same below */
    double estimate_cost;
    int64_t rows;
    struct text effect;
    int64_t hold; /* 0: none */
    struct text hold_state;
    struct text approver;
    int64_t judge_us;
    int64_t explain_us;
    int64_t server_us;
};

/* All numbers unset. */
void audit_record_init(struct audit_record *record, enum audit_event event, struct instant time);

/* What is the same in every record of one process. */
struct audit_service {
    struct text name; /* "pgwicket" */
    struct text version;
    struct text instance; /* host and process, or configured */
};

/*
 * Appends the record as one line of JSON with '\n', chained: `seq` counts from 1 in a file's life,
 * `previous` is the hash of the line before (64 hex digits). Texts are cut at
 * LIMIT_AUDIT_TEXT_BYTES
 * (`raw` at LIMIT_STATEMENT_BYTES) and the record then says so, so a buffer of
 * LIMIT_AUDIT_RECORD_BYTES takes every record.
 */
void audit_record_write(struct buffer *line, const struct audit_service *service,
                        const struct audit_record *record, uint64_t seq, struct text previous);

#endif

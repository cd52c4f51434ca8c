/*
 * sink.h - the audit file: one write(2) a record, chained, before the statement is relayed.
 *
 * Safe between threads (the chain needs an order, so writers queue on a mutex; a write costs about
 * 2 µs). After a failed or short write the sink is failing: every audit_sink_write returns false
 * until one succeeds again. A short write is taken back, or, where that is impossible, its line is
 * completed and reported first. The first record after a failure says how many are missing.
 * With on_failure: continue the caller goes on.
 *
 * An audit file has one writer: a regular file is locked (flock) while it is open.
 */
#ifndef PGWICKET_AUDIT_SINK_H
#define PGWICKET_AUDIT_SINK_H

#include "proxy/audit/record.h"

struct audit_sink;

/*
 * Opens (creates, 0600) `path`, "-" is standard output. Finds the last record to chain on and
 * completes a torn last line. NULL on failure, with a message in `problem` (size bytes). A full
 * file system is no failure to open: the sink is there, and failing.
 */
struct audit_sink *audit_sink_open(const char *path, const struct audit_service *service,
                                   char *problem, size_t size);
void audit_sink_close(struct audit_sink *sink);

/* Opens the path anew (log rotation). A new file begins with a record that carries the old one's
 * last hash. On failure the old file stays in use and false is returned. */
MUST_USE bool audit_sink_reopen(struct audit_sink *sink, const char *path);

/* True once the line is handed to the kernel. */
MUST_USE bool audit_sink_write(struct audit_sink *sink, const struct audit_record *record);

bool audit_sink_failing(const struct audit_sink *sink);

struct audit_sink_counts {
    uint64_t records; /* written since audit_sink_open */
    uint64_t errors;  /* records that could not be written */
    bool has_free_bytes;
    uint64_t free_bytes; /* of the file system, for this user */
};
struct audit_sink_counts audit_sink_count(struct audit_sink *sink);

#endif

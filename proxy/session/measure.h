/*
 * measure.h - what a held statement does, measured on the server: the SQL that measures, and the effect
 * that its answers tell (gate.md 4, 5). Pure.
 *
 *   snapshot, statement with MEASURE_COLUMNS appended to its RETURNING, snapshot
 *
 * Rehearsal and run measure alike, so that what is compared is what is committed.
 */
#ifndef PGWICKET_SESSION_MEASURE_H
#define PGWICKET_SESSION_MEASURE_H

#include "parser/form.h"
#include "proxy/base/digest.h"
#include "proxy/holds/effect.h"
#include "proxy/session/measure_objects.h"

/* One row with one column, JSON: counters of this transaction by table, sequences, own locks, and whether
 * the server counts at all. */
extern const char measure_snapshot_sql[];

/* "AccessExclusiveLock" → "access exclusive" */
struct text measure_lock_words(struct arena *arena, struct text mode);

/* What is to be told besides counters: what the agent may not read is left out. */
enum measured_part {
    MEASURED_COUNTS = 0, /* nothing */
    MEASURED_TARGET,     /* the target's rows */
    MEASURED_ALL,        /* and the keys of those that cascades reach from them */
};

/* How a statement is measured. */
struct measure_plan {
    struct text sql;         /* with the appended columns */
    uint16_t appended;       /* 0: by counters alone; else two: the fingerprint, and the row as JSON */
    bool with_children;      /* cascades can reach rows whose keys can be told */
    bool children_unknown;   /* … and they are not: of them the counts are what is bound */
    bool through_view;       /* rows of other tables than the one behind it are not in the fingerprint */
    const struct relation *relation; /* whose rows are told */
    struct text select_rows; /* selects what will be changed, FOR UPDATE; empty: nothing to lock */
    const struct text *key;
    size_t key_count;
    const struct text *changed;
    size_t changed_count;
    const struct text *decided_later;
    size_t decided_later_count;
};

/* `sql` is the statement that is shown and will run; `part` is told as far as it can be. */
void measure_plan(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                  struct text sql, enum measured_part part, struct measure_plan *plan);

/* --- rows ----------------------------------------------------------------------------------------- */

enum { SAMPLE_ROWS = 20, SAMPLE_VALUE_BYTES = 1024 };

struct sampled_row {
    uint8_t rank[SHA256_SIZE]; /* the lowest ones are kept */
    char *old_row, *new_row;   /* owned JSON objects; NULL: none */
};

/* Zeroed it is empty. */
struct measured_rows {
    struct buffer digests; /* SHA256_SIZE each, in the order in which they came */
    int64_t count;
    bool incomplete;       /* a row could not be told, or there were too many */
    uint8_t secret[16];    /* decides which rows are in the sample */
    struct sampled_row sample[SAMPLE_ROWS];
    size_t sample_count;

    /* Which rows they were, while there are few: of each old row its key and the beginning of its digest, both with
     * a zero byte behind. */
    const struct text *key; /* its columns; they must live as long */
    size_t key_count;
    struct buffer named;
    size_t named_count;
};

void measured_rows_begin(struct measured_rows *rows, const uint8_t secret[16]);
void measured_rows_named_by(struct measured_rows *rows, const struct text *key, size_t key_count);
void measured_rows_release(struct measured_rows *rows);

/* One row's appended columns. An empty fingerprint makes the rows incomplete. */
void measured_rows_add(struct measured_rows *rows, struct text fingerprint, struct text image);

/* A row as the server's row_to_json gives it, made fit for a person; owned by the caller, NULL for what is
 * none. */
char *measured_row_as_json(struct text row);

/* "7", or "7, \"a\"" of several columns: what a person knows a row by; false if it has no such, or a longer one than
 * fits. */
bool measured_row_key(struct text row, const struct text *key, size_t key_count, char *out, size_t size);

/* {"old": …, "new": …} taken apart. */
bool measured_image_parts(struct text image, struct text *old_row, struct text *new_row);

/* --- the effect ------------------------------------------------------------------------------------ */

struct measurement {
    struct text before, after; /* what the snapshots gave */
    struct measured_objects objects; /* of DDL only */
    int64_t tag_rows;          /* of the command tag; < 0: it has none */
    struct measured_rows *rows;
    bool only_numbers;         /* nobody approves it: how many rows is all that is asked for */
    const struct text *notices;
    size_t notice_count;
    int64_t duration_us;
};

/* Fills `effect`; what cannot be explained makes it unknown, with the reason. Texts live in `arena`, and
 * in plan and catalog. */
void measure_effect(struct arena *arena, const struct shape *shape, const struct catalog *catalog,
                    const struct measure_plan *plan, const struct measurement *measurement,
                    struct effect *effect);

/* The shape, with what CASCADE reached by this effect as actions of its own: what was dropped, of tables what
 * was emptied. What a table lost by it alters the table. */
const struct shape *measure_reached(struct arena *arena, const struct shape *shape,
                                    const struct effect *effect);

#endif

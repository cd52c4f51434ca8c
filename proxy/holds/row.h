/*
 * row.h - a hold as a row of the table `hold`: its columns, written once, for the schema, for INSERT,
 * UPDATE and SELECT. Owns nothing.
 */
#ifndef PGWICKET_HOLDS_ROW_H
#define PGWICKET_HOLDS_ROW_H

#include "proxy/base/attributes.h"
#include "proxy/holds/hold.h"

#include <sqlite3.h>

/*
 * X(field, kind). FIXED columns are written when the hold is made and never again; CHANGING ones are
 * its decisions, run and outcome. `id` and `state` stand before them.
 */
#define HOLD_FIXED_COLUMNS(X)                                                                      \
    X(agent, WORDS)                                                                                \
    X(policy, WORDS)                                                                               \
    X(match, BYTES)                                                                                \
    X(digest, BYTES)                                                                               \
    X(rule, WORDS)                                                                                 \
    X(rules, WORDS)                                                                                \
    X(rule_text, WORDS)                                                                            \
    X(approvers, WORDS)                                                                            \
    X(upstream, WORDS)                                                                             \
    X(database, WORDS)                                                                             \
    X(verb, WORDS)                                                                                 \
    X(client, WORDS)                                                                               \
    X(session, WORDS)                                                                              \
    X(template, WORDS)                                                                             \
    X(statement, WORDS)                                                                            \
    X(types, TYPES)                                                                                \
    X(values_wire, BLOB)                                                                           \
    X(values, VALUES)                                                                              \
    X(copy_bytes, WHOLE)                                                                           \
    X(copy_sha256, WORDS)                                                                          \
    X(copy_head, BLOB)                                                                             \
    X(settings, SETTINGS)                                                                          \
    X(estimate_rows, REAL)                                                                         \
    X(estimate_cost, REAL)                                                                         \
    X(plan, WORDS)                                                                                 \
    X(effect, WORDS)                                                                               \
    X(sample_secret, BYTES)                                                                        \
    X(created, WHOLE)                                                                              \
    X(expires, WHOLE)                                                                              \
    X(wait_us, WHOLE)                                                                              \
    X(run_within_us, WHOLE)                                                                        \
    X(quorum, WHOLE)                                                                               \
    X(follows, WHOLE)

#define HOLD_CHANGING_COLUMNS(X)                                                                   \
    X(run_until, WHOLE)                                                                            \
    X(decision, WORDS)                                                                             \
    X(decided_by, WORDS)                                                                           \
    X(decision_reason, WORDS)                                                                      \
    X(decided, WHOLE)                                                                              \
    X(run_session, WORDS)                                                                          \
    X(xid, WORDS)                                                                                  \
    X(backend_pid, WHOLE)                                                                          \
    X(backend_start, WORDS)                                                                        \
    X(system_identifier, WORDS)                                                                    \
    X(timeline, WHOLE)                                                                             \
    X(finished, WHOLE)                                                                             \
    X(outcome_tag, WORDS)                                                                          \
    X(outcome_error, WORDS)                                                                        \
    X(outcome_effect, WORDS)                                                                       \
    X(replaced_by, WHOLE)

#define ROW_NAME(field, kind)        ", \"" #field "\""
#define ROW_PLACE(field, kind)       ", ?"
#define ROW_ASSIGNMENT(field, kind)  ", \"" #field "\" = ?"
#define ROW_TYPE_WORDS               "TEXT"
#define ROW_TYPE_WHOLE               "INTEGER"
#define ROW_TYPE_REAL                "REAL"
#define ROW_TYPE_BLOB                "BLOB"
#define ROW_TYPE_BYTES               "BLOB"
#define ROW_TYPE_TYPES               "BLOB"
#define ROW_TYPE_VALUES              "BLOB"
#define ROW_TYPE_SETTINGS            "BLOB"
#define ROW_DEFINITION(field, kind)  ", \"" #field "\" " ROW_TYPE_##kind " NOT NULL"

#define ROW_CREATE                                                                                 \
    "CREATE TABLE hold (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL" HOLD_FIXED_COLUMNS( \
        ROW_DEFINITION) HOLD_CHANGING_COLUMNS(ROW_DEFINITION) ") STRICT"
#define ROW_INSERT                                                                                 \
    "INSERT INTO hold (state" HOLD_FIXED_COLUMNS(ROW_NAME)                                         \
        HOLD_CHANGING_COLUMNS(ROW_NAME) ") VALUES (?" HOLD_FIXED_COLUMNS(ROW_PLACE)                \
            HOLD_CHANGING_COLUMNS(ROW_PLACE) ")"
#define ROW_SELECT                                                                                 \
    "SELECT id, state" HOLD_FIXED_COLUMNS(ROW_NAME) HOLD_CHANGING_COLUMNS(ROW_NAME) " FROM hold"
/* Followed by the id and the state that the hold must still have. */
#define ROW_UPDATE                                                                                 \
    "UPDATE hold SET state = ?" HOLD_CHANGING_COLUMNS(ROW_ASSIGNMENT) " WHERE id = ? AND state = ?"

/* Binds the parameters of ROW_INSERT; false if a list is too long to be stored. */
MUST_USE bool row_bind_new(sqlite3_stmt *insert, const struct hold *hold);

/* Binds those of ROW_UPDATE. */
void row_bind_change(sqlite3_stmt *update, const struct hold *hold, enum hold_state before);

/* Of the current row of a ROW_SELECT, before all of it is read. */
struct text row_policy(sqlite3_stmt *select);

/* The current row of a ROW_SELECT, without approvals; NULL if it cannot be what was written. */
struct hold *row_read(struct arena *arena, sqlite3_stmt *select);

#endif

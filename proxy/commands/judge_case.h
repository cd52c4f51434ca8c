/* judge_case.h - one line of `pgwicket judge`: what it asks, and its answer as JSON. */
#ifndef PGWICKET_COMMANDS_JUDGE_CASE_H
#define PGWICKET_COMMANDS_JUDGE_CASE_H

#include "proxy/base/buffer.h"
#include "proxy/session/judge.h"

/*
 * Judges one line: a JSON object {"id", "sql" | "sql_b64", "setup"?, "types"?}, or else SQL as it
 * stands. Appends one line of JSON. Of the messages in `setup` the names of prepared statements and
 * cursors are kept; what they were judged to be is the verdict on EXECUTE and FETCH.
 */
void judge_case(struct arena *arena, const struct judge_context *context, struct text line,
                bool explain, struct buffer *out);

#endif

/* judge_case.h - one line of `pgwicket judge`: what it asks, and its answer as JSON. */
#ifndef PGWICKET_COMMANDS_JUDGE_CASE_H
#define PGWICKET_COMMANDS_JUDGE_CASE_H

#include "proxy/base/json_out.h"
#include "proxy/commands/judge_answer.h"

/*
 * Judges one line: a JSON object {"id", "sql" | "sql_b64", "setup"?, "types"?}, or else SQL as it
 * stands. Appends one line of JSON.
 */
void judge_case(struct arena *arena, const struct judge_context *context, struct text line,
                bool explain, struct buffer *out);

/* The answer's keys, from "verdict" to "conditions", into an open object. */
void judge_write_answer(struct arena *arena, const struct judge_context *context,
                        const struct answer *answer, bool explain, struct json_out *json);

#endif

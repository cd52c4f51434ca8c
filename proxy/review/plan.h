/*
 * plan.h - a plan that EXPLAIN gave as JSON, as lines that people know from EXPLAIN's text. Pure.
 */
#ifndef PGWICKET_REVIEW_PLAN_H
#define PGWICKET_REVIEW_PLAN_H

#include "proxy/base/arena.h"
#include "proxy/base/buffer.h"

/* Appends its lines; false if it is not such a JSON: then nothing is appended. */
MUST_USE bool plan_lines(struct buffer *out, struct text plan);

/* The table that the statement writes, schema and name as they are, without SQL's quotes; empty if
 * there is none. */
struct text plan_target(struct arena *arena, struct text plan);

#endif

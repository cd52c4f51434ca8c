/*
 * trace.h - the names of the parameters that the server reports while libpq logs in.
 *
 * libpq tells the value of a reported parameter only to those who know its name; which ones there
 * are differs between versions. Its message trace names them.
 */
#ifndef PGWICKET_UPSTREAM_TRACE_H
#define PGWICKET_UPSTREAM_TRACE_H

#include "proxy/base/arena.h"

struct pg_conn;
struct trace;

/* Traces the connection until trace_free, which must come before PQfinish. */
struct trace *trace_new(struct pg_conn *connection);
void trace_free(struct trace *trace); /* NULL is fine */

/* Names seen so far, each once, in order; they live as long as the trace. False: there were more
 * than LIMIT_REPORTED_PARAMETERS, or the trace cannot be read. */
MUST_USE bool trace_names(struct trace *trace, const struct text **names, size_t *count);

#endif

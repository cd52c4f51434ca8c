/*
 * trace.c - a stream that libpq writes its trace to, and that keeps nothing but names.
 *
 * Only the beginning of each line is kept, and only until the line ends: what else the trace holds
 * (the messages of authentication, the cancel key) is overwritten. A reported value with a line
 * feed in it can at most add a name that does not exist; values never come from here.
 */
#include "proxy/upstream/trace.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_KEPT = 160 }; /* direction, length, "ParameterStatus", a name of 63 bytes */

struct trace {
    PGconn *connection;
    FILE *stream;
    struct arena arena;
    char line[LINE_MAX_KEPT];
    size_t line_size;
    struct text names[LIMIT_REPORTED_PARAMETERS];
    size_t count;
    bool too_many;
};

static bool is_known(const struct trace *trace, struct text name)
{
    for (size_t i = 0; i < trace->count; i++)
        if (text_equal(trace->names[i], name))
            return true;
    return false;
}

static void add_name(struct trace *trace, struct text name)
{
    if (is_known(trace, name))
        return;
    if (trace->count == LIMIT_REPORTED_PARAMETERS) {
        trace->too_many = true;
        return;
    }
    trace->names[trace->count++] = arena_text(&trace->arena, name);
}

/* B<tab>22<tab>ParameterStatus<tab> "application_name" "psql" */
static void read_line(struct trace *trace)
{
    static const char before_name[] = "\tParameterStatus\t \"";
    const char *end = trace->line + trace->line_size;
    if (trace->line_size == 0 || trace->line[0] != 'B')
        return;
    const char *found = memmem(trace->line, trace->line_size, before_name, sizeof before_name - 1);
    if (found == NULL)
        return;
    const char *name = found + sizeof before_name - 1;
    const char *quote = memchr(name, '"', (size_t)(end - name));
    if (quote != NULL)
        add_name(trace, (struct text){name, (size_t)(quote - name)});
}

static ssize_t keep(void *cookie, const char *bytes, size_t size)
{
    struct trace *trace = cookie;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n') {
            read_line(trace);
            trace->line_size = 0;
        } else if (trace->line_size < LINE_MAX_KEPT) {
            trace->line[trace->line_size++] = bytes[i];
        }
    }
    return (ssize_t)size;
}

struct trace *trace_new(struct pg_conn *connection)
{
    struct trace *trace = memory_allocate_zeroed(1, sizeof *trace);
    trace->connection = connection;
    arena_init(&trace->arena);
    trace->stream = fopencookie(trace, "w", (cookie_io_functions_t){.write = keep});
    INVARIANT(trace->stream != NULL);
    PQtrace(connection, trace->stream);
    PQsetTraceFlags(connection, PQTRACE_SUPPRESS_TIMESTAMPS);
    return trace;
}

void trace_free(struct trace *trace)
{
    if (trace == NULL)
        return;
    PQuntrace(trace->connection);
    fclose(trace->stream);
    arena_release(&trace->arena);
    explicit_bzero(trace->line, sizeof trace->line);
    free(trace);
}

bool trace_names(struct trace *trace, const struct text **names, size_t *count)
{
    fflush(trace->stream);
    *names = trace->names;
    *count = trace->count;
    return !trace->too_many && is_known(trace, TEXT("server_version"));
}

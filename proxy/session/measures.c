/*
 * measures.c - how long pgwicket keeps a statement, and how good estimates are: for metrics.
 *
 * The overhead of a statement is the time that its messages (Parse, Bind, … Execute, or Query) spent
 * here, waits for a catalog or for earlier answers included, until it was sent. A prepared statement's
 * Parse counts for its first Execute. What is rejected or held has none.
 */
#include "proxy/session/internal.h"

static int64_t now_us(const struct session *s)
{
    return s->port.monotonic_us(s->port.context);
}

static void measured(struct session *s, enum session_measure what, int64_t us)
{
    enum { MILLION = 1000000 };
    s->port.measured(s->port.context, what, (double)(us > 0 ? us : 0) / MILLION);
}

void measure_offered(struct session *s)
{
    if (s->offered)
        return;
    s->offered = true;
    s->offered_us = now_us(s);
}

/* Does the time of such a message belong to a statement that is still to come? */
static bool leads_to_another(uint8_t type)
{
    return type == FRONTEND_PARSE || type == FRONTEND_BIND || type == FRONTEND_DESCRIBE ||
           type == FRONTEND_CLOSE;
}

static void keep_or_forget(struct session *s, bool keep)
{
    s->spent_us = keep ? s->spent_us + now_us(s) - s->offered_us : 0;
}

void measure_taken(struct session *s, uint8_t type)
{
    if (s->offered && s->state != SESSION_GATED)
        keep_or_forget(s, leads_to_another(type));
    s->offered = false;
}

void measure_gated(struct session *s)
{
    keep_or_forget(s, s->gate.origin == ORIGIN_BIND);
}

void measure_sent(struct session *s)
{
    measured(s, MEASURE_OVERHEAD, s->spent_us + now_us(s) - s->offered_us);
    s->spent_us = 0;
    s->offered = false;
}

void measure_since(struct session *s, enum session_measure what, int64_t began_us)
{
    measured(s, what, now_us(s) - began_us);
}

void measure_estimate(struct session *s, double estimated_rows, int64_t rows)
{
    if (estimated_rows < 0 || rows < 0)
        return;
    double ratio = (double)rows / (estimated_rows > 1 ? estimated_rows : 1);
    s->port.measured(s->port.context, MEASURE_ESTIMATE_RATIO, ratio);
}

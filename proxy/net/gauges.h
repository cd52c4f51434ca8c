/* gauges.h - the page of metrics: what was counted, and what is looked up when it is asked for. */
#ifndef PGWICKET_NET_GAUGES_H
#define PGWICKET_NET_GAUGES_H

#include "proxy/audit/sink.h"
#include "proxy/holds/store.h"
#include "proxy/net/upstreams.h"
#include "proxy/review/metrics.h"
#include "proxy/review/notify.h"

struct gauges {
    struct metrics *metrics;
    const struct configuration *configuration;
    struct audit_sink *audit;
    struct hold_store *holds; /* NULL: none */
    struct notifier *notifier;
    struct upstreams *upstreams;
    double certificate_seconds; /* until the first expires; INFINITY: there is none */
    bool reload_failed;
};

/* From any thread. */
void gauges_write(const struct gauges *gauges, struct buffer *page);

#endif

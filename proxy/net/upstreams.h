/*
 * upstreams.h - one thread for each upstream, which keeps a fresh snapshot of its catalog.
 *
 * Safe from any thread. A snapshot is at most UPSTREAM_CATALOG_AGE old while the upstream answers; when it
 * does not, the last one stays in use and `up` is false.
 */
#ifndef PGWICKET_NET_UPSTREAMS_H
#define PGWICKET_NET_UPSTREAMS_H

#include "proxy/config/settings.h"
#include "proxy/net/templates.h"
#include "proxy/net/worker.h"
#include "proxy/upstream/catalog_load.h"

enum {
    UPSTREAM_CATALOG_AGE_SECONDS = 45,
    UPSTREAM_REFRESH_INTERVAL_MS = 200,
    UPSTREAM_RETRY_MS = 1000,            /* while it does not answer */
    UPSTREAM_TEMPLATES_RETRY_MS = 5000,  /* while a template does not prepare */
};

struct upstreams;

struct upstream_view {
    struct catalog *catalog; /* the caller releases it; NULL while none could be read */
    uint64_t generation;     /* of the catalog; changes with each new one */
    bool up;                 /* it answered last time */
    int64_t loaded_us;       /* monotonic: when the catalog began to be read */
    char refused[256];       /* why its role may not be used; empty: it may */
    struct upstream_facts facts;
};

/* Starts the threads and waits until each upstream was asked once, or `wait_ms` are over. */
struct upstreams *upstreams_start(struct configuration *configuration, int wait_ms);
void upstreams_stop(struct upstreams *upstreams);

/* Another configuration: upstreams that are new or changed get a thread, gone ones lose theirs. */
void upstreams_reload(struct upstreams *upstreams, struct configuration *configuration);

/* Templates that this upstream could not prepare; the caller releases it. NULL: not asked yet. Part of what
 * upstreams_generation tells of. */
struct unprepared *upstreams_unprepared(struct upstreams *upstreams, struct text name);

/* False: there is no upstream of this name. */
bool upstreams_view(struct upstreams *upstreams, struct text name, struct upstream_view *view);

/* Changes whenever any catalog does. */
uint64_t upstreams_generation(struct upstreams *upstreams, struct text name);

/* Asks for a snapshot that begins after now; then the connection gets WORKER_CATALOG, also when it could not
 * be had. False: there is no such upstream. */
bool upstreams_refresh(struct upstreams *upstreams, struct text name, struct worker *worker,
                       uint64_t conn);

/* Why agents may not use a database with these facts: its role has a power that is not accepted, or the
 * database cannot be worked with. Empty text: they may. */
void upstream_judge_facts(const char *name, unsigned accept_risks,
                          const struct upstream_facts *facts, char *problem, size_t size);

/* Are all of them up? Else `problem` names one that is not. */
bool upstreams_ready(struct upstreams *upstreams, char *problem, size_t size);

#endif

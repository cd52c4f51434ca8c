/*
 * upstreams.c - see upstreams.h. Loading blocks, on the upstream's own thread only.
 */
#include "proxy/net/upstreams.h"

#include "proxy/base/invariant.h"
#include "proxy/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct waiter {
    struct worker *worker;
    uint64_t conn;
    struct waiter *next;
};

struct upstream {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    char *name;
    char *connection;
    unsigned accept_risks;
    struct catalog *catalog;
    uint64_t generation;
    int64_t loaded_us;
    bool asked_once, up, stopping, wanted;
    char refused[256];
    struct upstream_facts facts;
    struct configuration *configuration; /* whose templates are checked */
    struct unprepared *unprepared;       /* NULL: not checked yet */
    struct waiter *waiters; /* for a load that has not begun */
    struct upstream *next;
};

struct upstreams {
    pthread_mutex_t mutex; /* of the list */
    struct upstream *first;
};

static const struct {
    unsigned found;
    unsigned accepted;
    const char *name;
} risks[] = {
    {UPSTREAM_RISK_SUPERUSER, RISK_SUPERUSER, "superuser"},
    {UPSTREAM_RISK_REPLICATION, RISK_REPLICATION, "replication"},
    {UPSTREAM_RISK_BYPASSRLS, RISK_BYPASSRLS, "bypassrls"},
    {UPSTREAM_RISK_FILE_ACCESS, RISK_FILE_ACCESS, "file_access"},
};

void upstream_judge_facts(const char *name, unsigned accept_risks,
                          const struct upstream_facts *facts, char *problem, size_t size)
{
    char found[80] = "";
    problem[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(risks); i++)
        if ((facts->risks & risks[i].found) != 0 && (accept_risks & risks[i].accepted) == 0) {
            size_t used = strlen(found);
            snprintf(found + used, sizeof found - used, "%s%s", used > 0 ? ", " : "", risks[i].name);
        }
    if (!facts->track_counts)
        snprintf(problem, size, "upstream %s: track_counts is off; row limits need it", name);
    else if (!facts->encoding_is_utf8)
        snprintf(problem, size, "upstream %s: database \"%s\" is not encoded in UTF8", name,
                 facts->database);
    else if (found[0] != '\0')
        snprintf(problem, size,
                 "upstream %s: role \"%s\" has %s; use a lesser role, or write accept_risks: [%s]", name,
                 facts->role, found, found);
}

static void notify(struct waiter *waiters, bool loaded)
{
    for (struct waiter *waiter = waiters, *next; waiter != NULL; waiter = next) {
        struct worker_message *message = worker_message_new(WORKER_CATALOG, waiter->conn);
        next = waiter->next;
        message->loaded = loaded;
        worker_post(waiter->worker, message);
        free(waiter);
    }
}

/* Once for a configuration, and as long as some do not prepare. NULL: nothing new. */
static struct unprepared *check_templates(struct upstream *upstream, struct catalog_loader *loader,
                                          struct configuration *configuration)
{
    pthread_mutex_lock(&upstream->mutex);
    const struct unprepared *known = upstream->unprepared;
    bool done = known != NULL && known->complete && known->count == 0;
    pthread_mutex_unlock(&upstream->mutex);
    return done ? NULL
                : templates_check(loader, configuration, text_from(upstream->name));
}

/* Under the mutex. What was found for a configuration that is no longer the present one is dropped. */
static void take_unprepared(struct upstream *upstream, struct unprepared *found,
                            const struct configuration *configuration)
{
    if (found == NULL || upstream->configuration != configuration) {
        unprepared_release(found);
        return;
    }
    bool is_news = upstream->unprepared == NULL || upstream->unprepared->count != found->count;
    if (found->count > 0 && is_news)
        log_error("%s", found->problem);
    unprepared_release(upstream->unprepared);
    upstream->unprepared = found;
}

static void load_once(struct upstream *upstream, struct catalog_loader *loader)
{
    char problem[512] = "";
    struct upstream_facts facts = {0};
    pthread_mutex_lock(&upstream->mutex);
    struct waiter *waiters = upstream->waiters;
    upstream->waiters = NULL;
    upstream->wanted = false;
    struct configuration *configuration = configuration_retain(upstream->configuration);
    pthread_mutex_unlock(&upstream->mutex);
    int64_t began_us = clock_monotonic_us();
    bool answered = catalog_loader_facts(loader, &facts, problem, sizeof problem);
    struct catalog *catalog =
        answered ? catalog_loader_load(loader, problem, sizeof problem) : NULL;
    struct unprepared *unprepared =
        catalog != NULL ? check_templates(upstream, loader, configuration) : NULL;
    pthread_mutex_lock(&upstream->mutex);
    if (catalog == NULL && (upstream->up || !upstream->asked_once))
        log_warning("upstream %s: %s", upstream->name, problem);
    if (catalog != NULL && !upstream->up)
        log_info("upstream %s: up, PostgreSQL %d", upstream->name, facts.server_version / 10000);
    bool loaded = upstream->up = catalog != NULL;
    upstream->asked_once = true;
    if (catalog != NULL) {
        catalog_release(upstream->catalog);
        upstream->catalog = catalog;
        upstream->generation++;
        upstream->loaded_us = began_us;
        upstream->facts = facts;
        upstream_judge_facts(upstream->name, upstream->accept_risks, &facts, upstream->refused,
                             sizeof upstream->refused);
        take_unprepared(upstream, unprepared, configuration);
    }
    pthread_cond_broadcast(&upstream->changed);
    pthread_mutex_unlock(&upstream->mutex);
    configuration_release(configuration);
    notify(waiters, loaded);
}

static struct timespec after_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Sooner where something is wrong that its owner may be mending. Under the mutex. */
static int64_t pause_of(const struct upstream *upstream)
{
    const struct unprepared *unprepared = upstream->unprepared;
    if (!upstream->up)
        return UPSTREAM_RETRY_MS;
    bool fine = unprepared != NULL && unprepared->complete && unprepared->count == 0;
    return fine ? UPSTREAM_CATALOG_AGE_SECONDS * 1000 : UPSTREAM_TEMPLATES_RETRY_MS;
}

/* Sleeps until a load is wanted or due. False: the thread must end. */
static bool wait_for_work(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->mutex);
    int64_t pause_ms = pause_of(upstream);
    const struct timespec due = after_ms(pause_ms);
    while (!upstream->stopping && !upstream->wanted)
        if (pthread_cond_timedwait(&upstream->changed, &upstream->mutex, &due) == ETIMEDOUT)
            break;
    bool go_on = !upstream->stopping;
    pthread_mutex_unlock(&upstream->mutex);
    return go_on;
}

static void *run(void *argument)
{
    struct upstream *upstream = argument;
    const struct timespec interval = {.tv_nsec = UPSTREAM_REFRESH_INTERVAL_MS * 1000000L};
    struct catalog_loader *loader = catalog_loader_new(upstream->connection);
    do {
        load_once(upstream, loader);
        nanosleep(&interval, NULL); /* no agent makes it load more often */
    } while (wait_for_work(upstream));
    catalog_loader_free(loader);
    return NULL;
}

static struct upstream *start(struct configuration *configuration,
                              const struct upstream_settings *settings)
{
    struct upstream *upstream = memory_allocate_zeroed(1, sizeof *upstream);
    upstream->name = strndup(settings->name.bytes, settings->name.size);
    upstream->connection = strndup(settings->connection.bytes, settings->connection.size);
    upstream->accept_risks = settings->accept_risks;
    upstream->configuration = configuration_retain(configuration);
    pthread_mutex_init(&upstream->mutex, NULL);
    pthread_cond_init(&upstream->changed, NULL);
    INVARIANT(pthread_create(&upstream->thread, NULL, run, upstream) == 0);
    return upstream;
}

static void stop(struct upstream *upstream)
{
    pthread_mutex_lock(&upstream->mutex);
    upstream->stopping = true;
    pthread_cond_broadcast(&upstream->changed);
    pthread_mutex_unlock(&upstream->mutex);
    pthread_join(upstream->thread, NULL);
    notify(upstream->waiters, false);
    catalog_release(upstream->catalog);
    unprepared_release(upstream->unprepared);
    configuration_release(upstream->configuration);
    pthread_cond_destroy(&upstream->changed);
    pthread_mutex_destroy(&upstream->mutex);
    free(upstream->name);
    free(upstream->connection);
    free(upstream);
}

static void wait_until_asked(struct upstream *upstream, const struct timespec *until)
{
    pthread_mutex_lock(&upstream->mutex);
    while (!upstream->asked_once)
        if (pthread_cond_timedwait(&upstream->changed, &upstream->mutex, until) == ETIMEDOUT)
            break;
    pthread_mutex_unlock(&upstream->mutex);
}

struct upstreams *upstreams_start(struct configuration *configuration, int wait_ms)
{
    struct upstreams *upstreams = memory_allocate_zeroed(1, sizeof *upstreams);
    pthread_mutex_init(&upstreams->mutex, NULL);
    for (size_t i = 0; i < configuration->upstream_count; i++) {
        struct upstream *upstream = start(configuration, &configuration->upstreams[i]);
        upstream->next = upstreams->first;
        upstreams->first = upstream;
    }
    const struct timespec until = after_ms(wait_ms);
    for (struct upstream *upstream = upstreams->first; upstream != NULL; upstream = upstream->next)
        wait_until_asked(upstream, &until);
    return upstreams;
}

void upstreams_stop(struct upstreams *upstreams)
{
    for (struct upstream *upstream = upstreams->first, *next; upstream != NULL; upstream = next) {
        next = upstream->next;
        stop(upstream);
    }
    pthread_mutex_destroy(&upstreams->mutex);
    free(upstreams);
}

static struct upstream *find(struct upstreams *upstreams, struct text name)
{
    struct upstream *upstream = upstreams->first;
    while (upstream != NULL && !text_is(name, upstream->name))
        upstream = upstream->next;
    return upstream;
}

static bool is_same(const struct upstream *upstream, const struct upstream_settings *settings)
{
    return text_is(settings->name, upstream->name) &&
           text_is(settings->connection, upstream->connection) &&
           settings->accept_risks == upstream->accept_risks;
}

/* Its templates may be others now. */
static void reconfigure(struct upstream *upstream, struct configuration *configuration)
{
    pthread_mutex_lock(&upstream->mutex);
    configuration_release(upstream->configuration);
    upstream->configuration = configuration_retain(configuration);
    unprepared_release(upstream->unprepared);
    upstream->unprepared = NULL;
    upstream->wanted = true;
    pthread_cond_broadcast(&upstream->changed);
    pthread_mutex_unlock(&upstream->mutex);
}

void upstreams_reload(struct upstreams *upstreams, struct configuration *configuration)
{
    struct upstream *kept = NULL;
    struct upstream *gone = NULL;
    pthread_mutex_lock(&upstreams->mutex);
    for (size_t i = 0; i < configuration->upstream_count; i++) {
        struct upstream **at = &upstreams->first;
        while (*at != NULL && !is_same(*at, &configuration->upstreams[i]))
            at = &(*at)->next;
        struct upstream *upstream = *at;
        if (upstream != NULL) {
            *at = upstream->next;
            reconfigure(upstream, configuration);
        } else {
            upstream = start(configuration, &configuration->upstreams[i]);
        }
        upstream->next = kept;
        kept = upstream;
    }
    gone = upstreams->first;
    upstreams->first = kept;
    pthread_mutex_unlock(&upstreams->mutex);
    for (struct upstream *next; gone != NULL; gone = next) {
        next = gone->next;
        stop(gone);
    }
}

bool upstreams_view(struct upstreams *upstreams, struct text name, struct upstream_view *view)
{
    *view = (struct upstream_view){0};
    pthread_mutex_lock(&upstreams->mutex);
    struct upstream *upstream = find(upstreams, name);
    if (upstream != NULL) {
        pthread_mutex_lock(&upstream->mutex);
        view->catalog = upstream->catalog != NULL ? catalog_retain(upstream->catalog) : NULL;
        view->generation = upstream->generation;
        view->up = upstream->up;
        view->loaded_us = upstream->loaded_us;
        view->facts = upstream->facts;
        snprintf(view->refused, sizeof view->refused, "%s", upstream->refused);
        pthread_mutex_unlock(&upstream->mutex);
    }
    pthread_mutex_unlock(&upstreams->mutex);
    return upstream != NULL;
}

struct unprepared *upstreams_unprepared(struct upstreams *upstreams, struct text name)
{
    struct unprepared *unprepared = NULL;
    pthread_mutex_lock(&upstreams->mutex);
    struct upstream *upstream = find(upstreams, name);
    if (upstream != NULL) {
        pthread_mutex_lock(&upstream->mutex);
        unprepared = unprepared_retain(upstream->unprepared);
        pthread_mutex_unlock(&upstream->mutex);
    }
    pthread_mutex_unlock(&upstreams->mutex);
    return unprepared;
}

uint64_t upstreams_generation(struct upstreams *upstreams, struct text name)
{
    uint64_t generation = 0;
    pthread_mutex_lock(&upstreams->mutex);
    struct upstream *upstream = find(upstreams, name);
    if (upstream != NULL) {
        pthread_mutex_lock(&upstream->mutex);
        generation = upstream->generation;
        pthread_mutex_unlock(&upstream->mutex);
    }
    pthread_mutex_unlock(&upstreams->mutex);
    return generation;
}

bool upstreams_refresh(struct upstreams *upstreams, struct text name, struct worker *worker,
                       uint64_t conn)
{
    pthread_mutex_lock(&upstreams->mutex);
    struct upstream *upstream = find(upstreams, name);
    if (upstream != NULL) {
        struct waiter *waiter = memory_allocate_zeroed(1, sizeof *waiter);
        waiter->worker = worker;
        waiter->conn = conn;
        pthread_mutex_lock(&upstream->mutex);
        waiter->next = upstream->waiters;
        upstream->waiters = waiter;
        upstream->wanted = true;
        pthread_cond_broadcast(&upstream->changed);
        pthread_mutex_unlock(&upstream->mutex);
    }
    pthread_mutex_unlock(&upstreams->mutex);
    return upstream != NULL;
}

bool upstreams_ready(struct upstreams *upstreams, char *problem, size_t size)
{
    bool ready = true;
    pthread_mutex_lock(&upstreams->mutex);
    for (struct upstream *upstream = upstreams->first; upstream != NULL && ready;
         upstream = upstream->next) {
        pthread_mutex_lock(&upstream->mutex);
        ready = upstream->up && upstream->refused[0] == '\0';
        if (!ready)
            snprintf(problem, size, "upstream %s: %s", upstream->name,
                     upstream->up ? upstream->refused : "not reachable");
        pthread_mutex_unlock(&upstream->mutex);
    }
    pthread_mutex_unlock(&upstreams->mutex);
    return ready;
}

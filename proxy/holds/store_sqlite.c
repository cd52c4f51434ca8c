/*
 * store_sqlite.c - the hold store's thread and queue. See store.h.
 *
 * Requests are carried out in order, one transaction each, with the clock's work in between. A
 * failing disk fails requests, never the thread; it is tried again with the next one.
 */
#include "proxy/holds/store.h"

#include "proxy/base/invariant.h"
#include "proxy/base/log.h"
#include "proxy/holds/database.h"
#include "proxy/holds/operations.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hold_store {
    struct database database; /* the thread's */
    int64_t retain_us;
    struct hold_hooks hooks;
    bool failing; /* the clock's work fails: said once */

    pthread_t thread;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t posted;
    struct hold_request *first;
    struct hold_request *last;
    bool closing;
    int64_t counts[HOLD_STATE_COUNT];
    struct instant oldest; /* pending, as of the last tick */
    int64_t dropped;
};

enum { TICK_US = 1000000, FAILURES_PER_TICK = 3 };

static void tell(struct hold_store *store, const struct changes *changes)
{
    pthread_mutex_lock(&store->mutex);
    store->dropped += changes->dropped;
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].before != HOLD_NONE)
            store->counts[changes->items[i].before]--;
        store->counts[changes->items[i].hold->state]++;
    }
    pthread_mutex_unlock(&store->mutex);
    if (changes->dropped > 0)
        log_error("%lld notifications dropped: too many wait for a receiver",
                  (long long)changes->dropped);
    for (size_t i = 0; i < changes->count && store->hooks.changed != NULL; i++)
        store->hooks.changed(store->hooks.context, changes->items[i].hold,
                             changes->items[i].before);
}

static void carry_out(struct hold_store *store, struct hold_request *request)
{
    struct changes changes;
    operation_carry_out(&store->database, &store->hooks, request, clock_now(), &changes);
    tell(store, &changes);
    request->done(request);
}

/* A hold that cannot be read must not keep the others from expiring; a failing disk ends the round.
 */
static bool expire_due(struct hold_store *store, struct instant now)
{
    int failures = 0;
    bool failed = false;
    int64_t id = 0;
    while (failures < FAILURES_PER_TICK &&
           (id = operation_next_due(&store->database, id, now, &failed)) != 0) {
        struct arena arena;
        arena_init(&arena);
        struct changes changes;
        if (operation_expire(&store->database, &store->hooks, &arena, id, now, &changes))
            tell(store, &changes);
        else
            failures++;
        arena_release(&arena);
    }
    return failures == 0 && !failed;
}

static bool delete_old(struct hold_store *store, struct instant now)
{
    struct instant before = {now.us - store->retain_us};
    int64_t counts[HOLD_STATE_COUNT] = {0};
    bool good = operation_delete_old(&store->database, before, counts);
    pthread_mutex_lock(&store->mutex);
    for (size_t i = 0; i < HOLD_STATE_COUNT; i++)
        store->counts[i] += counts[i];
    pthread_mutex_unlock(&store->mutex);
    return good;
}

static void note_oldest(struct hold_store *store)
{
    struct instant oldest = operation_oldest(&store->database);
    pthread_mutex_lock(&store->mutex);
    store->oldest = oldest;
    pthread_mutex_unlock(&store->mutex);
}

static void tick(struct hold_store *store)
{
    struct instant now = clock_now();
    note_oldest(store);
    bool good = expire_due(store, now) && (store->retain_us <= 0 || delete_old(store, now));
    if (!good && !store->failing)
        log_error("holds cannot be expired: %s", store->database.problem);
    store->failing = !good;
}

/* Takes the next request; NULL when it is time for a tick, or (`*end`) when the store closes. */
static struct hold_request *next_request(struct hold_store *store, int64_t tick_at_us, bool *end)
{
    struct timespec until = {.tv_sec = tick_at_us / 1000000,
                             .tv_nsec = tick_at_us % 1000000 * 1000};
    pthread_mutex_lock(&store->mutex);
    int result = 0;
    while (store->first == NULL && !store->closing && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&store->posted, &store->mutex, &until);
    struct hold_request *request = store->first;
    if (request != NULL)
        store->first = request->next;
    *end = request == NULL && store->closing;
    pthread_mutex_unlock(&store->mutex);
    return request;
}

static void *serve(void *argument)
{
    struct hold_store *store = argument;
    int64_t tick_at_us = clock_monotonic_us();
    bool end = false;
    while (!end) {
        struct hold_request *request = next_request(store, tick_at_us, &end);
        if (request != NULL)
            carry_out(store, request);
        if (!end && clock_monotonic_us() >= tick_at_us) {
            tick(store);
            tick_at_us = clock_monotonic_us() + TICK_US;
        }
    }
    return NULL;
}

static void start_thread(struct hold_store *store)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_cond_init(&store->posted, &attributes);
    pthread_condattr_destroy(&attributes);
    int result = pthread_create(&store->thread, NULL, serve, store);
    INVARIANT(result == 0);
}

static bool open_database(struct hold_store *store, const char *location, char *problem,
                          size_t size)
{
    const char *prefix = "sqlite:/";
    if (strncmp(location, prefix, strlen(prefix)) != 0) {
        snprintf(problem, size, "holds.store: expected sqlite: and an absolute path");
        return false;
    }
    if (database_open(&store->database, location + strlen("sqlite:")) &&
        operation_count(&store->database, store->counts))
        return true;
    snprintf(problem, size, "%s", store->database.problem);
    database_close(&store->database);
    return false;
}

struct hold_store *hold_store_open(const char *location, int64_t retain_us,
                                   const struct hold_hooks *hooks, char *problem, size_t size)
{
    struct hold_store *store = memory_allocate_zeroed(1, sizeof *store);
    store->retain_us = retain_us;
    if (hooks != NULL)
        store->hooks = *hooks;
    if (!open_database(store, location, problem, size)) {
        free(store);
        return NULL;
    }
    start_thread(store);
    return store;
}

void hold_store_post(struct hold_store *store, struct hold_request *request)
{
    INVARIANT(request->done != NULL);
    request->next = NULL;
    pthread_mutex_lock(&store->mutex);
    INVARIANT(!store->closing);
    if (store->first == NULL)
        store->first = request;
    else
        store->last->next = request;
    store->last = request;
    pthread_cond_signal(&store->posted);
    pthread_mutex_unlock(&store->mutex);
}

void hold_store_close(struct hold_store *store)
{
    if (store == NULL)
        return;
    pthread_mutex_lock(&store->mutex);
    store->closing = true;
    pthread_cond_signal(&store->posted);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->thread, NULL);
    database_close(&store->database);
    pthread_cond_destroy(&store->posted);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

void hold_store_counts(struct hold_store *store, int64_t counts[HOLD_STATE_COUNT])
{
    pthread_mutex_lock(&store->mutex);
    memcpy(counts, store->counts, sizeof store->counts);
    pthread_mutex_unlock(&store->mutex);
}

struct instant hold_store_oldest(struct hold_store *store)
{
    pthread_mutex_lock(&store->mutex);
    struct instant oldest = store->counts[HOLD_PENDING] > 0 ? store->oldest : (struct instant){0};
    pthread_mutex_unlock(&store->mutex);
    return oldest;
}

int64_t hold_store_dropped(struct hold_store *store)
{
    pthread_mutex_lock(&store->mutex);
    int64_t dropped = store->dropped;
    pthread_mutex_unlock(&store->mutex);
    return dropped;
}

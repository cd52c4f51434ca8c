/* recover.c - see recover.h. Blocking, on its own thread. */
#include "proxy/net/recover.h"

#include "proxy/base/invariant.h"
#include "proxy/base/log.h"
#include "proxy/net/server.h"
#include "proxy/upstream/fate.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTERVAL_SECONDS = 3, RUNNING_AT_ONCE = 1000 };

struct recovery {
    struct server *server;
    pthread_t thread;
    pthread_mutex_t mutex; /* of the next three */
    pthread_cond_t changed;
    bool stopping;
    bool answered;
};

static void on_done(struct hold_request *request)
{
    struct recovery *recovery = request->owner;
    pthread_mutex_lock(&recovery->mutex);
    recovery->answered = true;
    pthread_cond_broadcast(&recovery->changed);
    pthread_mutex_unlock(&recovery->mutex);
}

/* Posts to the store and waits: this thread has nothing else to do. */
static void ask_store(struct recovery *recovery, struct hold_request *request)
{
    request->owner = recovery;
    request->done = on_done;
    recovery->answered = false;
    hold_store_post(server_holds(recovery->server), request);
    pthread_mutex_lock(&recovery->mutex);
    while (!recovery->answered)
        pthread_cond_wait(&recovery->changed, &recovery->mutex);
    pthread_mutex_unlock(&recovery->mutex);
}

static void finish(struct recovery *recovery, const struct hold *hold, enum hold_state state)
{
    struct hold_request request = {.operation = HOLD_OP_FINISH,
                                   .id = hold->id,
                                   .session = hold->run_session,
                                   .new_state = state,
                                   .tag = hold->outcome_tag};
    arena_init(&request.arena);
    ask_store(recovery, &request);
    log_warning("hold %lld: its run was cut off; it is %s", (long long)hold->id,
                hold_state_name(state));
    arena_release(&request.arena);
}

static const struct upstream_settings *upstream_of(const struct configuration *configuration,
                                                   const struct hold *hold)
{
    for (size_t i = 0; i < configuration->upstream_count; i++)
        if (text_equal(configuration->upstreams[i].name, hold->upstream))
            return &configuration->upstreams[i];
    return NULL;
}

static void resolve(struct recovery *recovery, const struct configuration *configuration,
                    const struct hold *hold)
{
    if (hold->xid.size == 0) {
        finish(recovery, hold, HOLD_RELEASED); /* COMMIT is never sent before the id is stored */
        return;
    }
    if (text_is(hold->xid, HOLD_RUNS_OUTSIDE)) {
        finish(recovery, hold, HOLD_UNKNOWN); /* it may have run, wholly or in part */
        return;
    }
    const struct upstream_settings *upstream = upstream_of(configuration, hold);
    if (upstream == NULL)
        return;
    const struct upstream_run run = {.xid = hold->xid,
                                     .backend_pid = hold->backend_pid,
                                     .backend_start = hold->backend_start,
                                     .system_identifier = hold->system_identifier,
                                     .timeline = hold->timeline};
    switch (upstream_fate(upstream->connection.bytes, &run)) {
    case UPSTREAM_FATE_COMMITTED:
        finish(recovery, hold, HOLD_EXECUTED);
        break;
    case UPSTREAM_FATE_ABORTED:
        finish(recovery, hold, HOLD_RELEASED);
        break;
    case UPSTREAM_FATE_UNKNOWN:
        finish(recovery, hold, HOLD_UNKNOWN);
        break;
    case UPSTREAM_FATE_IN_PROGRESS:
    case UPSTREAM_FATE_UNREACHABLE:
        break; /* asked again */
    }
}

/* Read again, now that its session is gone: it may have stored a transaction id after the list was read. */
static void look_at(struct recovery *recovery, const struct configuration *configuration,
                    const struct hold *listed)
{
    struct hold_request request = {.operation = HOLD_OP_GET, .id = listed->id};
    arena_init(&request.arena);
    ask_store(recovery, &request);
    if (request.answer == HOLD_OK && request.hold_count == 1 &&
        request.holds[0]->state == HOLD_RUNNING &&
        text_equal(request.holds[0]->run_session, listed->run_session))
        resolve(recovery, configuration, request.holds[0]);
    arena_release(&request.arena);
}

static void look(struct recovery *recovery)
{
    struct configuration *configuration = server_configuration(recovery->server);
    struct hold_request request = {.operation = HOLD_OP_LIST,
                                   .filter_state = HOLD_RUNNING,
                                   .limit = RUNNING_AT_ONCE};
    arena_init(&request.arena);
    ask_store(recovery, &request);
    for (size_t i = 0; request.answer == HOLD_OK && i < request.hold_count; i++)
        if (!agents_has_session(server_agents(recovery->server), request.holds[i]->run_session))
            look_at(recovery, configuration, request.holds[i]);
    arena_release(&request.arena);
    configuration_release(configuration);
}

static bool sleep_on(struct recovery *recovery)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += INTERVAL_SECONDS;
    pthread_mutex_lock(&recovery->mutex);
    while (!recovery->stopping)
        if (pthread_cond_timedwait(&recovery->changed, &recovery->mutex, &until) == ETIMEDOUT)
            break;
    bool go_on = !recovery->stopping;
    pthread_mutex_unlock(&recovery->mutex);
    return go_on;
}

static void *run(void *argument)
{
    struct recovery *recovery = argument;
    do
        look(recovery);
    while (sleep_on(recovery));
    return NULL;
}

struct recovery *recovery_start(struct server *server)
{
    struct recovery *recovery = memory_allocate_zeroed(1, sizeof *recovery);
    recovery->server = server;
    pthread_mutex_init(&recovery->mutex, NULL);
    pthread_cond_init(&recovery->changed, NULL);
    INVARIANT(pthread_create(&recovery->thread, NULL, run, recovery) == 0);
    return recovery;
}

void recovery_stop(struct recovery *recovery)
{
    pthread_mutex_lock(&recovery->mutex);
    recovery->stopping = true;
    pthread_cond_broadcast(&recovery->changed);
    pthread_mutex_unlock(&recovery->mutex);
    pthread_join(recovery->thread, NULL);
    pthread_cond_destroy(&recovery->changed);
    pthread_mutex_destroy(&recovery->mutex);
    free(recovery);
}

/*
 * server.c - see server.h. The configuration and its TLS context are replaced as one, under a mutex that is
 * held for a few instructions.
 */
#include "proxy/net/server.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/net/counts.h"
#include "proxy/net/gauges.h"
#include "proxy/net/listener.h"
#include "proxy/net/recover.h"
#include "proxy/net/tls.h"
#include "proxy/review/api.h"
#include "proxy/review/notify.h"
#include "proxy/review/tls.h"

#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, MEET_UPSTREAMS_MS = 5000 };

struct server {
    pthread_mutex_t mutex; /* of the next four */
    struct review_server *review;
    struct configuration *configuration;
    SSL_CTX *tls;
    uint64_t generation;

    struct event_base *base;
    struct event *signals[3];
    struct event *drain_timer;
    struct metrics *metrics;
    struct metrics_thread *main_metrics;  /* the main thread's */
    struct metrics_thread *store_metrics; /* the hold store's thread's */
    struct audit_sink *audit;
    struct audit_service service;
    char instance[128];
    struct hold_store *holds;
    struct notifier *notifier;
    atomic_bool audit_failing; /* as told */
    struct agents *agents;
    struct upstreams *upstreams;
    struct recovery *recovery;
    struct worker *workers[WORKERS_MAX];
    size_t worker_count;
    size_t next_worker;
    struct listeners *listeners;
    atomic_bool draining;
    atomic_bool reload_failed;
    atomic_int logins;
};

/* --- what threads ask ---------------------------------------------------------------------------- */

struct configuration *server_configuration(struct server *server)
{
    pthread_mutex_lock(&server->mutex);
    struct configuration *configuration = configuration_retain(server->configuration);
    pthread_mutex_unlock(&server->mutex);
    return configuration;
}

uint64_t server_generation(struct server *server)
{
    pthread_mutex_lock(&server->mutex);
    uint64_t generation = server->generation;
    pthread_mutex_unlock(&server->mutex);
    return generation;
}

SSL_CTX *server_tls(struct server *server)
{
    pthread_mutex_lock(&server->mutex);
    SSL_CTX *tls = server->tls;
    if (tls != NULL)
        SSL_CTX_up_ref(tls);
    pthread_mutex_unlock(&server->mutex);
    return tls;
}

struct agents *server_agents(struct server *server) { return server->agents; }
struct metrics *server_metrics(struct server *server) { return server->metrics; }
struct upstreams *server_upstreams(struct server *server) { return server->upstreams; }
struct hold_store *server_holds(struct server *server) { return server->holds; }
bool server_draining(struct server *server) { return atomic_load(&server->draining); }

bool server_audit(struct server *server, const struct audit_record *record)
{
    if (record->event == AUDIT_STATEMENT && record->agent.size > 0)
        agents_note(server->agents, record->agent, record->verdict, record->actions, record->time);
    bool written = audit_sink_write(server->audit, record);
    if (atomic_exchange(&server->audit_failing, !written) == written)
        notifier_tell(server->notifier, &(struct notice){.event = written ? NOTIFY_AUDIT_WORKING
                                                                          : NOTIFY_AUDIT_FAILING,
                                                         .at = clock_now()});
    return written;
}

bool server_begin_login(struct server *server)
{
    return atomic_fetch_add(&server->logins, 1) < LIMIT_UNAUTHENTICATED_SOCKETS;
}

void server_end_login(struct server *server) { atomic_fetch_sub(&server->logins, 1); }

static void audit_service(struct server *server, const char *what)
{
    struct audit_record record;
    audit_record_init(&record, AUDIT_SERVICE, clock_now());
    record.outcome = text_from(what);
    if (!server_audit(server, &record))
        log_error("the audit log cannot be written");
}

/* --- holds ---------------------------------------------------------------------------------------- */

static void audit_hold(struct server *server, const struct hold *hold, enum hold_state before)
{
    /* One approval of several does not change the state. */
    bool approved = hold->state == before && hold->approval_count > 0;
    char number[24];
    struct audit_record record;
    audit_record_init(&record, AUDIT_HOLD, clock_now());
    snprintf(number, sizeof number, "%lld", (long long)hold->id);
    record.hold_state = text_from(hold_state_name(hold->state));
    record.outcome = approved ? TEXT("approved") : record.hold_state;
    record.hold = hold->id;
    record.agent = hold->agent;
    record.policy = hold->policy;
    record.rule = hold->rule;
    record.database = hold->database;
    record.session = hold->session;
    record.approver =
        approved ? hold->approvals[hold->approval_count - 1].by : hold->decided_by;
    record.reason = hold->decision_reason.size > 0 ? hold->decision_reason : hold->outcome_error;
    record.effect = hold->outcome_tag;
    if (!server_audit(server, &record))
        log_error("hold %s: the audit log cannot be written", number);
}

/* On the store's thread. */
static void hold_changed(void *context, const struct hold *hold, enum hold_state before)
{
    struct server *server = context;
    audit_hold(server, hold, before);
    count_hold(server->store_metrics, hold, before, clock_now());
    pthread_mutex_lock(&server->mutex);
    if (server->review != NULL)
        review_hold_changed(server->review, hold);
    pthread_mutex_unlock(&server->mutex);
    for (size_t i = 0; i < server->worker_count; i++) {
        struct worker_message *message = worker_message_new(WORKER_HOLD_CHANGED, 0);
        message->hold = hold_copy(&message->arena, hold);
        worker_post(server->workers[i], message);
    }
    notifier_wake(server->notifier);
}

/* On the store's thread, in the transaction of the change. */
static size_t compose_messages(void *context, struct arena *arena, const struct hold *hold,
                               enum hold_state before, const struct hold_message **messages)
{
    struct server *server = context;
    return notifier_compose(server->notifier, arena, hold, before, messages);
}

/* --- the review listener's questions ------------------------------------------------------------- */

static struct configuration *review_configuration(void *context)
{
    return server_configuration(context);
}

static const struct review_agent *review_agents(void *context, struct arena *arena, size_t *count)
{
    struct server *server = context;
    struct configuration *configuration = server_configuration(server);
    struct review_agent *agents = arena_array(arena, configuration->agent_count, sizeof *agents);
    for (size_t i = 0; i < configuration->agent_count; i++) {
        const struct agent *agent = &configuration->agents[i];
        agents[i].name = arena_text(arena, agent->name);
        agents[i].policy = arena_text(arena, agent->policy->name);
        agents[i].upstream = arena_text(arena, agent->upstream->name);
        agents_describe(server->agents, arena, &agents[i], clock_now());
    }
    *count = configuration->agent_count;
    configuration_release(configuration);
    return agents;
}

static bool review_pause(void *context, struct text agent, bool paused, struct text by)
{
    struct server *server = context;
    struct configuration *configuration = server_configuration(server);
    bool known = configuration_agent(configuration, agent) != NULL;
    configuration_release(configuration);
    if (!known)
        return false;
    struct instant now = clock_now();
    struct instant before;
    bool changed = agents_paused(server->agents, agent, &before) != paused;
    agents_pause(server->agents, agent, paused, by, now);
    if (changed)
        notifier_tell(server->notifier,
                      &(struct notice){.event = paused ? NOTIFY_AGENT_PAUSED : NOTIFY_AGENT_RESUMED,
                                       .at = now,
                                       .agent = agent,
                                       .by = by});
    struct audit_record record;
    audit_record_init(&record, AUDIT_SERVICE, clock_now());
    record.outcome = paused ? TEXT("pause") : TEXT("resume");
    record.agent = agent;
    record.approver = by;
    (void)!server_audit(server, &record);
    for (size_t i = 0; paused && i < server->worker_count; i++) {
        struct worker_message *message = worker_message_new(WORKER_PAUSE, 0);
        message->agent = arena_text(&message->arena, agent);
        worker_post(server->workers[i], message);
    }
    return true;
}

static bool review_ready(void *context, char *problem, size_t size)
{
    struct server *server = context;
    if (audit_sink_failing(server->audit)) {
        snprintf(problem, size, "the audit log cannot be written");
        return false;
    }
    if (server_draining(server)) {
        snprintf(problem, size, "shutting down");
        return false;
    }
    return upstreams_ready(server->upstreams, problem, size);
}

static double sooner(double a, double b) { return a < b ? a : b; }

static void review_metrics(void *context, double certificate_seconds, struct buffer *page)
{
    struct server *server = context;
    struct configuration *configuration = server_configuration(server);
    SSL_CTX *tls = server_tls(server);
    const struct gauges gauges = {
        .metrics = server->metrics,
        .notifier = server->notifier,
        .configuration = configuration,
        .audit = server->audit,
        .holds = server->holds,
        .upstreams = server->upstreams,
        .certificate_seconds = sooner(certificate_seconds, tls_certificate_seconds(tls)),
        .reload_failed = atomic_load(&server->reload_failed),
    };
    gauges_write(&gauges, page);
    SSL_CTX_free(tls);
    configuration_release(configuration);
}

/* --- listeners, signals ---------------------------------------------------------------------------- */

static void on_accept(void *context, int fd, bool is_unix)
{
    struct server *server = context;
    struct worker_message *message = worker_message_new(WORKER_ACCEPTED, 0);
    message->fd = fd;
    message->is_unix = is_unix;
    worker_post(server->workers[server->next_worker++ % server->worker_count], message);
}

static void post_to_all(struct server *server, enum worker_message_kind kind)
{
    for (size_t i = 0; i < server->worker_count; i++)
        worker_post(server->workers[i], worker_message_new(kind, 0));
}

static size_t conns(const struct server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < server->worker_count; i++)
        count += worker_conns(server->workers[i]);
    return count;
}

static void on_drain_timer(evutil_socket_t fd, short events, void *argument)
{
    struct server *server = argument;
    (void)fd;
    (void)events;
    if (conns(server) == 0)
        event_base_loopbreak(server->base);
}

static void on_terminate(evutil_socket_t number, short events, void *argument)
{
    struct server *server = argument;
    (void)events;
    if (server_draining(server)) {
        event_base_loopbreak(server->base);
        return;
    }
    const struct timeval interval = {.tv_usec = 50000};
    log_info("received %s, waiting for %zu sessions to end", number == SIGTERM ? "SIGTERM" : "SIGINT",
             conns(server));
    atomic_store(&server->draining, true);
    listeners_stop_accepting(server->listeners);
    post_to_all(server, WORKER_SHUTDOWN);
    event_add(server->drain_timer, &interval);
}

static void publish(struct server *server, struct configuration *configuration, SSL_CTX *tls)
{
    pthread_mutex_lock(&server->mutex);
    struct configuration *old = server->configuration;
    SSL_CTX *old_tls = server->tls;
    server->configuration = configuration;
    server->tls = tls;
    server->generation++;
    pthread_mutex_unlock(&server->mutex);
    configuration_release(old);
    SSL_CTX_free(old_tls);
}

static bool make_tls(const struct configuration *configuration, SSL_CTX **tls, char *problem,
                     size_t size)
{
    *tls = NULL;
    if (!configuration->listen_tls.given)
        return true;
    *tls = tls_context(&configuration->listen_tls, problem, size);
    return *tls != NULL;
}

static bool may_answer(struct server *server, struct text upstream)
{
    struct upstream_view view;
    bool known = upstreams_view(server->upstreams, upstream, &view);
    catalog_release(view.catalog);
    return !known || view.up;
}

/* On each upstream that answers now; the others are asked when they do. */
static bool check_templates(struct server *server, const struct configuration *configuration,
                            char *problem, size_t size)
{
    bool fine = true;
    for (size_t i = 0; i < configuration->upstream_count && fine; i++) {
        const struct upstream_settings *upstream = &configuration->upstreams[i];
        if (!may_answer(server, upstream->name))
            continue;
        struct catalog_loader *loader = catalog_loader_new(upstream->connection.bytes);
        struct unprepared *unprepared = templates_check(loader, configuration, upstream->name);
        fine = unprepared->count == 0;
        if (!fine)
            snprintf(problem, size, "%s", unprepared->problem);
        unprepared_release(unprepared);
        catalog_loader_free(loader);
    }
    return fine;
}

static bool take_up(struct server *server, struct configuration *configuration, char *problem,
                    size_t size)
{
    SSL_CTX *tls;
    if (!check_templates(server, configuration, problem, size) ||
        !make_tls(configuration, &tls, problem, size))
        return false;
    upstreams_reload(server->upstreams, configuration);
    publish(server, configuration, tls);
    return true;
}

static void on_hangup(evutil_socket_t number, short events, void *argument)
{
    struct server *server = argument;
    (void)number;
    (void)events;
    struct buffer problems;
    char problem[512] = "the file has errors";
    buffer_init(&problems, LIMIT_CONFIGURATION_BYTES);
    struct configuration *now = server_configuration(server);
    struct configuration *loaded = configuration_load(now->path.bytes, &problems);
    if (!audit_sink_reopen(server->audit, now->audit_file.bytes))
        log_error("the audit log cannot be opened again; the open file stays in use");
    bool taken = loaded != NULL && take_up(server, loaded, problem, sizeof problem);
    atomic_store(&server->reload_failed, !taken);
    if (taken) {
        notifier_wake(server->notifier);
        log_info("configuration read again");
        count_zeros(server->main_metrics, server->configuration);
        audit_service(server, "reload");
    } else {
        if (loaded == NULL)
            fputs(buffer_string(&problems), stderr);
        log_error("configuration not changed: %s", problem);
        configuration_release(loaded);
        audit_service(server, "reload failed");
    }
    configuration_release(now);
    buffer_release(&problems);
}

/* --- start and end ---------------------------------------------------------------------------------- */

static bool start_store(struct server *server, char *problem, size_t size)
{
    const struct configuration *configuration = server->configuration;
    if (configuration->holds_store.size == 0)
        return true;
    const struct hold_hooks hooks = {
        .context = server, .changed = hold_changed, .compose = compose_messages};
    server->holds = hold_store_open(configuration->holds_store.bytes,
                                    configuration->holds_retain_us, &hooks, problem, size);
    if (server->holds != NULL)
        notifier_start(server->notifier, server->holds);
    return server->holds != NULL;
}

static bool check_upstreams(struct server *server, char *problem, size_t size)
{
    for (size_t i = 0; i < server->configuration->upstream_count; i++) {
        struct upstream_view view;
        if (!upstreams_view(server->upstreams, server->configuration->upstreams[i].name, &view))
            continue;
        catalog_release(view.catalog);
        if (view.refused[0] != '\0') {
            snprintf(problem, size, "%s", view.refused);
            return false;
        }
        struct unprepared *unprepared =
            upstreams_unprepared(server->upstreams, server->configuration->upstreams[i].name);
        bool fine = unprepared == NULL || unprepared->count == 0;
        if (!fine)
            snprintf(problem, size, "%s", unprepared->problem);
        unprepared_release(unprepared);
        if (!fine)
            return false;
    }
    return true;
}

static void start_workers(struct server *server)
{
    int64_t wanted = server->configuration->workers;
    if (wanted <= 0)
        wanted = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted < 1)
        wanted = 1;
    if (wanted > WORKERS_MAX)
        wanted = WORKERS_MAX;
    for (int64_t i = 0; i < wanted; i++)
        server->workers[server->worker_count++] = worker_start(server);
}

static bool start_review(struct server *server, char *problem, size_t size)
{
    if (!server->configuration->has_review)
        return true;
    const struct review_hooks hooks = {.context = server,
                                       .configuration = review_configuration,
                                       .agents = review_agents,
                                       .pause = review_pause,
                                       .ready = review_ready,
                                       .metrics = review_metrics};
    struct review_server *review =
        review_start(server->configuration, server->holds, &hooks, problem, size);
    pthread_mutex_lock(&server->mutex);
    server->review = review;
    pthread_mutex_unlock(&server->mutex);
    return review != NULL;
}

static void start_signals(struct server *server)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        server->signals[i] = evsignal_new(server->base, numbers[i],
                                          numbers[i] == SIGHUP ? on_hangup : on_terminate, server);
        INVARIANT(event_add(server->signals[i], NULL) == 0);
    }
    server->drain_timer = event_new(server->base, -1, EV_PERSIST, on_drain_timer, server);
}

static bool start_all(struct server *server, char *problem, size_t size)
{
    const struct configuration *configuration = server->configuration;
    server->audit =
        audit_sink_open(configuration->audit_file.bytes, &server->service, problem, size);
    if (server->audit == NULL || !make_tls(configuration, &server->tls, problem, size))
        return false;
    server->upstreams = upstreams_start(server->configuration, MEET_UPSTREAMS_MS);
    if (!check_upstreams(server, problem, size))
        return false;
    /* Signals are the main thread's business: blocked in all others, which are started meanwhile. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    start_workers(server);
    bool started = start_store(server, problem, size) && start_review(server, problem, size);
    if (started && server->holds != NULL)
        server->recovery = recovery_start(server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started)
        return false;
    server->listeners = listeners_start(server->base, configuration, on_accept, server, problem, size);
    return server->listeners != NULL;
}

struct server *server_start(struct configuration *configuration, char *problem, size_t size)
{
    struct server *server = memory_allocate_zeroed(1, sizeof *server);
    char host[64] = "localhost";
    signal(SIGPIPE, SIG_IGN);
    INVARIANT(evthread_use_pthreads() == 0);
    pthread_mutex_init(&server->mutex, NULL);
    server->configuration = configuration;
    server->generation = 1;
    server->base = event_base_new();
    INVARIANT(server->base != NULL);
    server->agents = agents_new();
    server->metrics = metrics_new();
    server->main_metrics = metrics_join(server->metrics);
    server->store_metrics = metrics_join(server->metrics);
    count_zeros(server->main_metrics, configuration);
    server->notifier = notifier_new(review_configuration, server);
    (void)!gethostname(host, sizeof host - 1);
    snprintf(server->instance, sizeof server->instance, "%s:%d", host, (int)getpid());
    server->service = (struct audit_service){.name = TEXT("pgwicket"),
                                             .version = TEXT(PGWICKET_VERSION),
                                             .instance = text_from(server->instance)};
    if (start_all(server, problem, size)) {
        start_signals(server);
        audit_service(server, "start");
        return server;
    }
    server_free(server);
    return NULL;
}

void server_run(struct server *server)
{
    event_base_dispatch(server->base);
    audit_service(server, "stop");
}

void server_free(struct server *server)
{
    if (server->listeners != NULL)
        listeners_free(server->listeners);
    pthread_mutex_lock(&server->mutex);
    struct review_server *review = server->review;
    server->review = NULL; /* the store still has changes to tell */
    pthread_mutex_unlock(&server->mutex);
    review_stop(review);
    if (server->recovery != NULL)
        recovery_stop(server->recovery);
    post_to_all(server, WORKER_STOP);
    for (size_t i = 0; i < server->worker_count; i++)
        worker_join(server->workers[i]);
    notifier_stop(server->notifier);
    if (server->holds != NULL)
        hold_store_close(server->holds);
    if (server->upstreams != NULL)
        upstreams_stop(server->upstreams);
    for (size_t i = 0; i < server->worker_count; i++)
        worker_free(server->workers[i]); /* store and upstreams have answered to them until here */
    notifier_free(server->notifier);
    if (server->audit != NULL)
        audit_sink_close(server->audit);
    for (size_t i = 0; i < ARRAY_SIZE(server->signals); i++)
        if (server->signals[i] != NULL)
            event_free(server->signals[i]);
    if (server->drain_timer != NULL)
        event_free(server->drain_timer);
    agents_free(server->agents);
    metrics_free(server->metrics);
    event_base_free(server->base);
    publish(server, NULL, NULL);
    pthread_mutex_destroy(&server->mutex);
    free(server);
}

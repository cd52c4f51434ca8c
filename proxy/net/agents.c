/*
 * agents.c - counts and pauses of agents, and the keys by which their sessions can be cancelled.
 *
 * An agent's entry lives as long as the process, so a pause outlives a reload.
 */
#include "proxy/net/agents.h"

#include "proxy/base/digest.h"
#include "proxy/base/invariant.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MINUTE_SPANS = 6,
    RATE_SPANS = MINUTE_SPANS + 1, /* that every minute touches, whenever it begins */
    LAST_VERDICT_SIZE = 8,
    LAST_ACTIONS_SIZE = 160,
};

static const int64_t span_us = 10 * (int64_t)1000000;

/* How often something happened, for each span of time. */
struct rate {
    int64_t counts[RATE_SPANS];
    int64_t spans[RATE_SPANS]; /* which span it is the count of */
};

struct entry {
    char *name;
    int64_t sessions;
    int64_t waiting;
    bool paused;
    struct instant paused_at;
    char *paused_by;
    struct rate statements;
    struct rate rehearsals;
    char verdict[LAST_VERDICT_SIZE];
    char actions[LAST_ACTIONS_SIZE];
    struct instant last_at;
    struct entry *next;
};

struct session_key {
    struct cancel_key key;
    struct worker *worker;
    uint64_t conn;
    char session[24];
    struct session_key *next;
};

enum { KEY_BUCKETS = 1024 };

struct agents {
    pthread_mutex_t mutex;
    struct entry *entries;
    struct session_key *keys[KEY_BUCKETS];
};

struct agents *agents_new(void)
{
    struct agents *agents = memory_allocate_zeroed(1, sizeof *agents);
    pthread_mutex_init(&agents->mutex, NULL);
    return agents;
}

void agents_free(struct agents *agents)
{
    for (struct entry *entry = agents->entries, *next; entry != NULL; entry = next) {
        next = entry->next;
        free(entry->name);
        free(entry->paused_by);
        free(entry);
    }
    for (size_t i = 0; i < KEY_BUCKETS; i++)
        for (struct session_key *key = agents->keys[i], *next; key != NULL; key = next) {
            next = key->next;
            free(key);
        }
    pthread_mutex_destroy(&agents->mutex);
    free(agents);
}

static struct entry *find(struct agents *agents, struct text name)
{
    for (struct entry *entry = agents->entries; entry != NULL; entry = entry->next)
        if (text_is(name, entry->name))
            return entry;
    struct entry *entry = memory_allocate_zeroed(1, sizeof *entry);
    entry->name = memory_allocate(name.size + 1);
    memcpy(entry->name, name.bytes, name.size);
    entry->name[name.size] = '\0';
    entry->next = agents->entries;
    agents->entries = entry;
    return entry;
}

static bool below(int64_t count, int64_t max) { return max == UNLIMITED || count < max; }

enum enter_result agents_enter(struct agents *agents, const struct agent *agent)
{
    pthread_mutex_lock(&agents->mutex);
    struct entry *entry = find(agents, agent->name);
    enum enter_result result = entry->paused                                           ? ENTER_PAUSED
                               : below(entry->sessions, agent->policy->sessions_max) ? ENTER_OK
                                                                                      : ENTER_TOO_MANY;
    if (result == ENTER_OK)
        entry->sessions++;
    pthread_mutex_unlock(&agents->mutex);
    return result;
}

void agents_leave(struct agents *agents, struct text name)
{
    pthread_mutex_lock(&agents->mutex);
    struct entry *entry = find(agents, name);
    INVARIANT(entry->sessions > 0);
    entry->sessions--;
    pthread_mutex_unlock(&agents->mutex);
}

bool agents_begin_waiting(struct agents *agents, const struct agent *agent)
{
    pthread_mutex_lock(&agents->mutex);
    struct entry *entry = find(agents, agent->name);
    bool allowed = below(entry->waiting, agent->policy->waiting_max);
    entry->waiting += allowed;
    pthread_mutex_unlock(&agents->mutex);
    return allowed;
}

void agents_end_waiting(struct agents *agents, struct text name)
{
    pthread_mutex_lock(&agents->mutex);
    struct entry *entry = find(agents, name);
    INVARIANT(entry->waiting > 0);
    entry->waiting--;
    pthread_mutex_unlock(&agents->mutex);
}

static void rate_add(struct rate *rate, struct instant now)
{
    int64_t span = now.us / span_us;
    size_t at = (size_t)(span % RATE_SPANS);
    if (rate->spans[at] != span)
        rate->counts[at] = 0;
    rate->spans[at] = span;
    rate->counts[at]++;
}

/* Of the present span and those before it, `spans` in all. */
static int64_t rate_sum(const struct rate *rate, struct instant now, int64_t spans)
{
    int64_t sum = 0;
    for (size_t i = 0; i < RATE_SPANS; i++)
        if (now.us / span_us - rate->spans[i] < spans)
            sum += rate->counts[i];
    return sum;
}

/* When the oldest that still count will not any more, from now. */
static int64_t rate_falls_after(const struct rate *rate, struct instant now)
{
    int64_t oldest = now.us / span_us;
    for (size_t i = 0; i < RATE_SPANS; i++)
        if (rate->counts[i] > 0 && now.us / span_us - rate->spans[i] < RATE_SPANS && rate->spans[i] < oldest)
            oldest = rate->spans[i];
    return (oldest + RATE_SPANS) * span_us - now.us;
}

int64_t agents_begin_rehearsal(struct agents *agents, const struct agent *agent, struct instant now)
{
    int64_t wait_us = 0;
    pthread_mutex_lock(&agents->mutex);
    struct rate *rate = &find(agents, agent->name)->rehearsals;
    if (below(rate_sum(rate, now, RATE_SPANS), agent->policy->rehearsals_per_minute))
        rate_add(rate, now);
    else
        wait_us = rate_falls_after(rate, now);
    pthread_mutex_unlock(&agents->mutex);
    return wait_us;
}

bool agents_paused(struct agents *agents, struct text name, struct instant *at)
{
    pthread_mutex_lock(&agents->mutex);
    const struct entry *entry = find(agents, name);
    bool paused = entry->paused;
    *at = entry->paused_at;
    pthread_mutex_unlock(&agents->mutex);
    return paused;
}

void agents_pause(struct agents *agents, struct text name, bool paused, struct text by,
                  struct instant now)
{
    pthread_mutex_lock(&agents->mutex);
    struct entry *entry = find(agents, name);
    entry->paused = paused;
    entry->paused_at = now;
    free(entry->paused_by);
    entry->paused_by = strndup(by.bytes, by.size);
    pthread_mutex_unlock(&agents->mutex);
}

void agents_note(struct agents *agents, struct text name, struct text verdict, struct text actions,
                 struct instant now)
{
    struct text words = text_cut(actions, LAST_ACTIONS_SIZE - 1);
    pthread_mutex_lock(&agents->mutex);
    struct entry *entry = find(agents, name);
    rate_add(&entry->statements, now);
    snprintf(entry->verdict, sizeof entry->verdict, "%.*s", TEXT_ARGS(verdict));
    snprintf(entry->actions, sizeof entry->actions, "%.*s", TEXT_ARGS(words));
    entry->last_at = now;
    pthread_mutex_unlock(&agents->mutex);
}

void agents_describe(struct agents *agents, struct arena *arena, struct review_agent *agent,
                     struct instant now)
{
    pthread_mutex_lock(&agents->mutex);
    const struct entry *entry = find(agents, agent->name);
    agent->sessions = entry->sessions;
    agent->waiting = entry->waiting;
    agent->paused = entry->paused;
    agent->paused_at = entry->paused_at;
    agent->paused_by = arena_text(arena, text_from(entry->paused_by));
    agent->statements_per_minute = rate_sum(&entry->statements, now, MINUTE_SPANS);
    agent->last_verdict = arena_text(arena, text_from(entry->verdict));
    agent->last_actions = arena_text(arena, text_from(entry->actions));
    agent->last_at = entry->last_at;
    pthread_mutex_unlock(&agents->mutex);
}

/* --- keys ------------------------------------------------------------------------------------------ */

static struct session_key *find_key(struct agents *agents, uint32_t pid)
{
    struct session_key *key = agents->keys[pid % KEY_BUCKETS];
    while (key != NULL && key->key.pid != pid)
        key = key->next;
    return key;
}

struct cancel_key agents_add_key(struct agents *agents, struct worker *worker, uint64_t conn,
                                 struct text session)
{
    struct session_key *key = memory_allocate_zeroed(1, sizeof *key);
    key->worker = worker;
    key->conn = conn;
    snprintf(key->session, sizeof key->session, "%.*s", TEXT_ARGS(session));
    pthread_mutex_lock(&agents->mutex);
    do {
        random_bytes(&key->key, sizeof key->key);
        key->key.pid &= 0x7fffffffu; /* drivers show it as a signed number */
    } while (key->key.pid == 0 || find_key(agents, key->key.pid) != NULL);
    struct session_key **bucket = &agents->keys[key->key.pid % KEY_BUCKETS];
    key->next = *bucket;
    *bucket = key;
    struct cancel_key made = key->key;
    pthread_mutex_unlock(&agents->mutex);
    return made;
}

void agents_remove_key(struct agents *agents, uint32_t pid)
{
    pthread_mutex_lock(&agents->mutex);
    struct session_key **at = &agents->keys[pid % KEY_BUCKETS];
    while (*at != NULL && (*at)->key.pid != pid)
        at = &(*at)->next;
    struct session_key *key = *at;
    if (key != NULL)
        *at = key->next;
    pthread_mutex_unlock(&agents->mutex);
    free(key);
}

bool agents_find_key(struct agents *agents, struct cancel_key shown, struct worker **worker,
                     uint64_t *conn)
{
    pthread_mutex_lock(&agents->mutex);
    const struct session_key *key = find_key(agents, shown.pid);
    bool right = key != NULL && equal_in_constant_time(&key->key.secret, &shown.secret,
                                                       sizeof shown.secret);
    if (right) {
        *worker = key->worker;
        *conn = key->conn;
    }
    pthread_mutex_unlock(&agents->mutex);
    return right;
}

bool agents_has_session(struct agents *agents, struct text session)
{
    bool found = false;
    pthread_mutex_lock(&agents->mutex);
    for (size_t i = 0; i < KEY_BUCKETS && !found; i++)
        for (const struct session_key *key = agents->keys[i]; key != NULL && !found; key = key->next)
            found = text_is(session, key->session);
    pthread_mutex_unlock(&agents->mutex);
    return found;
}

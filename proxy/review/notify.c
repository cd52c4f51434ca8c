/*
 * notify.c - see notify.h: the thread between outbox and receivers.
 *
 * A message leaves the outbox only after its receiver has taken it, so what is lost with the process is
 * sent again. A store that fails makes the thread wait and ask again; a message that is delivered but
 * cannot be taken out is kept in mind and not sent twice.
 */
#include "proxy/review/notify.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/review/notify_delivery.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000LL

static const int64_t idle_us = 60 * SECOND, failing_store_us = 5 * SECOND,
                     last_moment_us = 2 * SECOND, stale_us = (NOTIFY_GIVE_UP_S + 3600) * SECOND;

/* A message that does not come from the outbox: until the store has it, or instead. */
struct tell {
    struct hold_request request;
    struct notifier *notifier;
    struct tell *next;
};

/* What was last said of a receiver. */
struct health {
    char target[SHA256_HEX_SIZE];
    bool failing;
};

struct notifier {
    struct configuration *(*configuration)(void *context);
    void *context;
    struct hold_store *store; /* NULL before the start */
    pthread_t thread;

    /* The thread's. */
    CURLM *multi;
    struct delivery *deliveries;
    size_t delivery_count;
    struct health health[LIMIT_RECEIVERS];
    struct hold_request ask; /* for what is due */
    bool asking;
    int64_t ask_at_us; /* wall clock */

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t returned;
    size_t outstanding; /* requests that the store has */
    bool ask_answered;
    bool woken;
    bool stopping;
    struct tell *untold; /* that the store could not keep */
    struct notifier_counts counts;
};

/* --- with the store ------------------------------------------------------------------------------- */

static void post(struct notifier *notifier, struct hold_request *request,
                 void (*done)(struct hold_request *request), void *owner)
{
    request->done = done;
    request->owner = owner;
    pthread_mutex_lock(&notifier->mutex);
    notifier->outstanding++;
    pthread_mutex_unlock(&notifier->mutex);
    hold_store_post(notifier->store, request);
}

/* On the store's thread, with the mutex held: the last that is done with a request. */
static void returned(struct notifier *notifier)
{
    notifier->outstanding--;
    pthread_cond_broadcast(&notifier->returned);
    curl_multi_wakeup(notifier->multi);
}

static void on_asked(struct hold_request *request)
{
    struct notifier *notifier = request->owner;
    pthread_mutex_lock(&notifier->mutex);
    notifier->ask_answered = true;
    returned(notifier);
    pthread_mutex_unlock(&notifier->mutex);
}

struct settling {
    struct notifier *notifier;
    struct delivery *delivery;
};

static void on_settled(struct hold_request *request)
{
    struct settling *settling = request->owner;
    struct notifier *notifier = settling->notifier;
    pthread_mutex_lock(&notifier->mutex);
    settling->delivery->answered = true;
    returned(notifier);
    pthread_mutex_unlock(&notifier->mutex);
}

static void settle(struct notifier *notifier, struct delivery *delivery)
{
    struct settling *settling = arena_allocate(&delivery->arena, sizeof *settling);
    *settling = (struct settling){notifier, delivery};
    delivery->state = DELIVERY_SETTLING;
    delivery->answered = false;
    post(notifier, &delivery->settle, on_settled, settling);
}

static void on_told(struct hold_request *request)
{
    struct tell *tell = request->owner;
    struct notifier *notifier = tell->notifier;
    pthread_mutex_lock(&notifier->mutex);
    bool kept = request->answer == HOLD_STORE_FAILED && !notifier->stopping;
    if (kept) {
        tell->next = notifier->untold;
        notifier->untold = tell;
    }
    notifier->woken = true;
    returned(notifier);
    pthread_mutex_unlock(&notifier->mutex);
    if (!kept) {
        arena_release(&request->arena);
        free(tell);
    }
}

void notifier_tell(struct notifier *notifier, const struct notice *notice)
{
    struct tell *tell = memory_allocate_zeroed(1, sizeof *tell);
    struct hold_request *request = &tell->request;
    struct configuration *configuration = notifier->configuration(notifier->context);
    arena_init(&request->arena);
    tell->notifier = notifier;
    request->operation = HOLD_OP_TELL;
    request->done = on_told;
    request->owner = tell;
    request->message_count =
        notify_compose(&request->arena, configuration, notice, &request->messages);
    configuration_release(configuration);
    pthread_mutex_lock(&notifier->mutex);
    bool posted = request->message_count > 0 && notifier->store != NULL && !notifier->stopping;
    if (posted)
        notifier->outstanding++;
    pthread_mutex_unlock(&notifier->mutex);
    if (posted) {
        hold_store_post(notifier->store, request);
    } else {
        arena_release(&request->arena);
        free(tell);
    }
}

size_t notifier_compose(struct notifier *notifier, struct arena *arena, const struct hold *hold,
                        enum hold_state before, const struct hold_message **messages)
{
    struct notice notice;
    if (!notice_of_hold(hold, before, clock_now(), &notice))
        return 0;
    struct configuration *configuration = notifier->configuration(notifier->context);
    size_t count = notify_compose(arena, configuration, &notice, messages);
    configuration_release(configuration);
    return count;
}

/* --- deliveries ------------------------------------------------------------------------------------- */

static bool is_known(const struct notifier *notifier, int64_t id)
{
    for (const struct delivery *at = notifier->deliveries; at != NULL; at = at->next)
        if (at->message.id == id)
            return true;
    return false;
}

static void add(struct notifier *notifier, const struct hold_message *message)
{
    struct delivery *delivery = delivery_new(message);
    delivery->next = notifier->deliveries;
    notifier->deliveries = delivery;
    notifier->delivery_count++;
}

static void drop(struct notifier *notifier, struct delivery *delivery)
{
    struct delivery **at = &notifier->deliveries;
    while (*at != delivery)
        at = &(*at)->next;
    *at = delivery->next;
    notifier->delivery_count--;
    notifier->ask_at_us = 0; /* what it kept from being asked for */
    delivery_free(delivery, notifier->multi);
}

static struct health *health_of(struct notifier *notifier, struct text target)
{
    for (size_t i = 0; i < LIMIT_RECEIVERS; i++)
        if (text_is(target, notifier->health[i].target))
            return &notifier->health[i];
    for (size_t i = 0; i < LIMIT_RECEIVERS; i++)
        if (!notifier->health[i].failing) {
            struct health *health = &notifier->health[i];
            memcpy(health->target, target.bytes, SHA256_HEX_SIZE - 1);
            return health;
        }
    return NULL; /* after many reloads: nothing is said */
}

/* A line when a receiver begins to fail, and one when it is back; a line for what is lost. */
static void say(struct notifier *notifier, const struct delivery *delivery,
                enum notify_outcome outcome, const char *words)
{
    struct health *health = health_of(notifier, delivery->message.target);
    bool failing = outcome != NOTIFY_DELIVERED;
    if (outcome == NOTIFY_GIVEN_UP)
        log_error("notification %.*s to %.*s is given up: %s", TEXT_ARGS(delivery->message.name),
                  TEXT_ARGS(delivery->site), words);
    else if (health != NULL && failing && !health->failing)
        log_warning("%.*s does not take notifications, they are tried again: %s",
                    TEXT_ARGS(delivery->site), words);
    else if (health != NULL && !failing && health->failing)
        log_info("%.*s takes notifications again", TEXT_ARGS(delivery->site));
    if (health != NULL)
        health->failing = failing;
}

static void count(struct notifier *notifier, enum notify_outcome outcome)
{
    pthread_mutex_lock(&notifier->mutex);
    if (outcome == NOTIFY_DELIVERED)
        notifier->counts.delivered++;
    else if (outcome == NOTIFY_AGAIN)
        notifier->counts.retried++;
    else
        notifier->counts.given_up++;
    pthread_mutex_unlock(&notifier->mutex);
}

/* What the outbox, or without it the memory, has to know of an attempt. */
static void conclude(struct notifier *notifier, struct delivery *delivery,
                     enum notify_outcome outcome, struct instant due)
{
    bool again = outcome == NOTIFY_AGAIN;
    if (delivery->message.id != 0) {
        delivery->settle = (struct hold_request){.operation = HOLD_OP_SETTLE,
                                                 .id = delivery->message.id,
                                                 .due = {again ? due.us : 0}};
        arena_init(&delivery->settle.arena);
        settle(notifier, delivery);
    } else if (again) {
        delivery->message.attempts++;
        delivery->message.due = due;
        delivery->state = DELIVERY_WAITING;
    } else {
        drop(notifier, delivery);
    }
}

static void finish(struct notifier *notifier, struct delivery *delivery, CURLcode result)
{
    char words[128];
    struct instant due = {0};
    struct notify_attempt attempt =
        delivery_attempt(delivery, result, clock_now(), words, sizeof words);
    enum notify_outcome outcome = notify_judge(&delivery->message, &attempt, &due);
    delivery_hang_up(delivery, notifier->multi);
    notifier->ask_at_us = 0; /* there is room for another transfer */
    say(notifier, delivery, outcome, words);
    count(notifier, outcome);
    conclude(notifier, delivery, outcome, due);
}

static void perform(struct notifier *notifier)
{
    int running;
    int left;
    CURLMsg *message;
    curl_multi_perform(notifier->multi, &running);
    while ((message = curl_multi_info_read(notifier->multi, &left)) != NULL) {
        struct delivery *delivery = NULL;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &delivery);
        if (message->msg == CURLMSG_DONE && delivery != NULL)
            finish(notifier, delivery, result);
    }
}

static size_t sending(const struct notifier *notifier, struct text target)
{
    size_t number = 0;
    for (const struct delivery *at = notifier->deliveries; at != NULL; at = at->next)
        if (at->state == DELIVERY_SENDING && text_equal(at->message.target, target))
            number++;
    return number;
}

static const struct notify_receiver *find_receiver(const struct configuration *configuration,
                                                   struct text target)
{
    for (size_t i = 0; i < configuration->receiver_count; i++)
        if (text_equal(configuration->receivers[i].target, target))
            return &configuration->receivers[i];
    return NULL;
}

/* A receiver that is in the file no more gets nothing; what waits for it in the outbox grows stale. */
static void send_one(struct notifier *notifier, struct delivery *delivery,
                     const struct configuration *configuration, struct instant now)
{
    const struct notify_receiver *receiver =
        find_receiver(configuration, delivery->message.target);
    if (receiver == NULL)
        drop(notifier, delivery);
    else if (sending(notifier, receiver->target) < LIMIT_RECEIVER_TRANSFERS)
        delivery_send(delivery, notifier->multi, receiver, now);
}

static void begin_due(struct notifier *notifier, const struct configuration *configuration,
                      struct instant now)
{
    struct delivery *next;
    for (struct delivery *at = notifier->deliveries; at != NULL; at = next) {
        next = at->next;
        if (at->message.due.us > now.us)
            continue;
        if (at->state == DELIVERY_WAITING)
            send_one(notifier, at, configuration, now);
        else if (at->state == DELIVERY_UNSETTLED)
            settle(notifier, at);
    }
}

/* --- the thread ------------------------------------------------------------------------------------- */

static void ask(struct notifier *notifier, const struct configuration *configuration,
                struct instant now)
{
    if (notifier->asking || notifier->ask_at_us > now.us)
        return;
    notifier->ask_at_us = now.us + idle_us;
    if (configuration->receiver_count == 0)
        return;
    struct hold_request *request = &notifier->ask;
    *request = (struct hold_request){.operation = HOLD_OP_DUE,
                                     .target_count = configuration->receiver_count,
                                     .limit = LIMIT_RECEIVER_TRANSFERS,
                                     .stale_before = {now.us - stale_us}};
    arena_init(&request->arena);
    struct text *targets =
        arena_array(&request->arena, configuration->receiver_count, sizeof *targets);
    for (size_t i = 0; i < configuration->receiver_count; i++)
        targets[i] = arena_text(&request->arena, configuration->receivers[i].target);
    request->targets = targets;
    notifier->asking = true;
    post(notifier, request, on_asked, notifier);
}

static void take_due(struct notifier *notifier, struct instant now)
{
    struct hold_request *request = &notifier->ask;
    notifier->asking = false;
    if (request->answer == HOLD_OK) {
        for (size_t i = 0; i < request->message_count; i++)
            if (!is_known(notifier, request->messages[i].id))
                add(notifier, &request->messages[i]);
        if (request->next_due.us > 0 && request->next_due.us < notifier->ask_at_us)
            notifier->ask_at_us = request->next_due.us;
        for (int64_t i = 0; i < request->stale_count; i++)
            count(notifier, NOTIFY_GIVEN_UP);
    } else {
        notifier->ask_at_us = now.us + failing_store_us;
    }
    arena_release(&request->arena);
}

static void take_untold(struct notifier *notifier, struct tell *untold)
{
    while (untold != NULL) {
        struct tell *next = untold->next;
        const struct hold_request *request = &untold->request;
        for (size_t i = 0; i < request->message_count; i++)
            if (notifier->delivery_count < LIMIT_NOTIFICATIONS_IN_MEMORY)
                add(notifier, &request->messages[i]);
        arena_release(&untold->request.arena);
        free(untold);
        untold = next;
    }
}

/* After a settlement: HOLD_NOT_FOUND is a stale message that was deleted meanwhile. */
static void take_settled(struct notifier *notifier, struct instant now)
{
    struct delivery *next;
    for (struct delivery *at = notifier->deliveries; at != NULL; at = next) {
        next = at->next;
        pthread_mutex_lock(&notifier->mutex);
        bool answered = at->state == DELIVERY_SETTLING && at->answered;
        pthread_mutex_unlock(&notifier->mutex);
        if (!answered)
            continue;
        arena_release(&at->settle.arena);
        if (at->settle.answer != HOLD_STORE_FAILED) {
            drop(notifier, at);
        } else {
            at->state = DELIVERY_UNSETTLED;
            at->message.due.us = now.us + failing_store_us;
        }
    }
}

static void take_answers(struct notifier *notifier, struct instant now)
{
    pthread_mutex_lock(&notifier->mutex);
    bool ask_answered = notifier->ask_answered;
    struct tell *untold = notifier->untold;
    if (notifier->woken)
        notifier->ask_at_us = 0;
    notifier->ask_answered = false;
    notifier->untold = NULL;
    notifier->woken = false;
    pthread_mutex_unlock(&notifier->mutex);
    if (ask_answered)
        take_due(notifier, now);
    take_untold(notifier, untold);
    take_settled(notifier, now);
}

/* Until a transfer moves, somebody wakes it, or something is due. */
static void wait_for_more(struct notifier *notifier)
{
    int64_t now_us = clock_now().us;
    int64_t until_us = now_us + idle_us;
    if (!notifier->asking && notifier->ask_at_us < until_us)
        until_us = notifier->ask_at_us;
    for (const struct delivery *at = notifier->deliveries; at != NULL; at = at->next) {
        bool timed = at->state == DELIVERY_WAITING || at->state == DELIVERY_UNSETTLED;
        /* What is due and still waits, waits for another one to end. */
        if (timed && at->message.due.us > now_us && at->message.due.us < until_us)
            until_us = at->message.due.us;
    }
    int64_t left_ms = until_us > now_us ? (until_us - now_us + 999) / 1000 : 0;
    curl_multi_poll(notifier->multi, NULL, 0, (int)left_ms, NULL);
}

static bool is_stopping(struct notifier *notifier)
{
    pthread_mutex_lock(&notifier->mutex);
    bool stopping = notifier->stopping;
    pthread_mutex_unlock(&notifier->mutex);
    return stopping;
}

static bool is_sending(const struct notifier *notifier)
{
    for (const struct delivery *at = notifier->deliveries; at != NULL; at = at->next)
        if (at->state == DELIVERY_SENDING)
            return true;
    return false;
}

/* What is under way may end, so that it need not be sent again; the rest waits in the outbox. */
static void end(struct notifier *notifier)
{
    int64_t until_us = clock_monotonic_us() + last_moment_us;
    while (is_sending(notifier) && clock_monotonic_us() < until_us) {
        perform(notifier);
        curl_multi_poll(notifier->multi, NULL, 0, 50, NULL);
    }
    pthread_mutex_lock(&notifier->mutex);
    while (notifier->outstanding > 0)
        pthread_cond_wait(&notifier->returned, &notifier->mutex);
    pthread_mutex_unlock(&notifier->mutex);
    take_answers(notifier, clock_now());
    while (notifier->deliveries != NULL)
        drop(notifier, notifier->deliveries);
}

static void *run(void *argument)
{
    struct notifier *notifier = argument;
    while (!is_stopping(notifier)) {
        struct instant now = clock_now();
        struct configuration *configuration = notifier->configuration(notifier->context);
        take_answers(notifier, now);
        begin_due(notifier, configuration, now);
        perform(notifier);
        ask(notifier, configuration, now);
        configuration_release(configuration);
        wait_for_more(notifier);
    }
    end(notifier);
    return NULL;
}

/* --- from outside ----------------------------------------------------------------------------------- */

struct notifier *notifier_new(struct configuration *(*configuration)(void *context), void *context)
{
    struct notifier *notifier = memory_allocate_zeroed(1, sizeof *notifier);
    INVARIANT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    notifier->configuration = configuration;
    notifier->context = context;
    notifier->multi = curl_multi_init();
    INVARIANT(notifier->multi != NULL);
    pthread_mutex_init(&notifier->mutex, NULL);
    pthread_cond_init(&notifier->returned, NULL);
    return notifier;
}

void notifier_start(struct notifier *notifier, struct hold_store *store)
{
    pthread_mutex_lock(&notifier->mutex);
    notifier->store = store;
    pthread_mutex_unlock(&notifier->mutex);
    INVARIANT(pthread_create(&notifier->thread, NULL, run, notifier) == 0);
}

void notifier_wake(struct notifier *notifier)
{
    pthread_mutex_lock(&notifier->mutex);
    notifier->woken = true;
    pthread_mutex_unlock(&notifier->mutex);
    curl_multi_wakeup(notifier->multi);
}

struct notifier_counts notifier_count(struct notifier *notifier)
{
    pthread_mutex_lock(&notifier->mutex);
    struct notifier_counts counts = notifier->counts;
    struct hold_store *store = notifier->stopping ? NULL : notifier->store;
    pthread_mutex_unlock(&notifier->mutex);
    if (store != NULL)
        counts.dropped += hold_store_dropped(store);
    return counts;
}

void notifier_stop(struct notifier *notifier)
{
    pthread_mutex_lock(&notifier->mutex);
    bool running = notifier->store != NULL && !notifier->stopping;
    notifier->stopping = true;
    pthread_mutex_unlock(&notifier->mutex);
    if (!running)
        return;
    curl_multi_wakeup(notifier->multi);
    pthread_join(notifier->thread, NULL);
}

void notifier_free(struct notifier *notifier)
{
    if (notifier == NULL)
        return;
    curl_multi_cleanup(notifier->multi);
    pthread_cond_destroy(&notifier->returned);
    pthread_mutex_destroy(&notifier->mutex);
    free(notifier);
    curl_global_cleanup();
}

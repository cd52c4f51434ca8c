/* sample.c - see sample.h. */
#include "unit/holds/sample.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hold sample_hold(const char *statement)
{
    static const uint32_t types[] = {23, 25, 4294967295u};
    static const struct hold_value values[] = {
        {STATIC_TEXT("integer"), STATIC_TEXT("42"), false},
        {STATIC_TEXT("text"), STATIC_TEXT(""), true},
        {STATIC_TEXT("text"), STATIC_TEXT("it's \x01 \xE2\x80\x8B"), false},
    };
    static const struct hold_setting settings[] = {
        {STATIC_TEXT("TimeZone"), STATIC_TEXT("Europe/Berlin")},
        {STATIC_TEXT("search_path"), STATIC_TEXT("shop, \"Shop\"")},
    };
    static const char wire[] = "\0\1\0\1\0\0\0\4\0\0\0\x2A";
    struct instant now = clock_now();
    return (struct hold){
        .agent = TEXT("support-bot"),
        .policy = TEXT("support"),
        .rule = TEXT("support.5"),
        .rules = TEXT("support.5, support.6"),
        .rule_text = TEXT("hold update, delete on shop.orders"),
        .approvers = TEXT("alice,bob;bob,alice,carol"),
        .upstream = TEXT("shop"),
        .database = TEXT("shopdb"),
        .verb = TEXT("delete"),
        .client = TEXT("10.0.3.9:51522"),
        .session = TEXT("0011223344556677"),
        .statement = text_from(statement),
        .types = types,
        .type_count = 3,
        .values_wire = {wire, sizeof wire - 1},
        .values = values,
        .value_count = 3,
        .settings = settings,
        .setting_count = 2,
        .estimate_rows = 40.5,
        .estimate_cost = 12.25,
        .plan = TEXT("Delete on orders"),
        .effect = TEXT("{\"known\": true}"),
        .created = {now.us - 1000},
        .expires = {now.us + 3600000000},
        .wait_us = 20000000,
        .run_within_us = 900000000,
        .quorum = 1,
        .sample_secret = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0},
    };
}

void store_again(struct store_at *at, int64_t retain_us, hold_listener *listener, void *context)
{
    char problem[256] = "";
    const struct hold_hooks hooks = {.context = context, .changed = listener};
    at->store = hold_store_open(at->location, retain_us, &hooks, problem, sizeof problem);
    cr_assert_not_null(at->store, "%s", problem);
}

void store_begin(struct store_at *at, int64_t retain_us, hold_listener *listener, void *context)
{
    snprintf(at->folder, sizeof at->folder, "/tmp/pgwicket-holds-XXXXXX");
    cr_assert_not_null(mkdtemp(at->folder));
    snprintf(at->path, sizeof at->path, "%s/holds.db", at->folder);
    snprintf(at->location, sizeof at->location, "sqlite:%s", at->path);
    store_again(at, retain_us, listener, context);
}

void store_end(struct store_at *at)
{
    hold_store_close(at->store);
    at->store = NULL;
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", at->path, suffixes[i]);
        unlink(path);
    }
    rmdir(at->folder);
}

struct waiter {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    bool done;
};

static void answer_arrived(struct hold_request *request)
{
    struct waiter *waiter = request->owner;
    pthread_mutex_lock(&waiter->mutex);
    waiter->done = true;
    pthread_cond_signal(&waiter->answered);
    pthread_mutex_unlock(&waiter->mutex);
}

struct hold_request request_begin(enum hold_operation operation)
{
    struct hold_request request = {.operation = operation};
    arena_init(&request.arena);
    return request;
}

enum hold_answer ask(struct hold_store *store, struct hold_request *request)
{
    struct waiter waiter = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                            .answered = PTHREAD_COND_INITIALIZER};
    request->done = answer_arrived;
    request->owner = &waiter;
    hold_store_post(store, request);
    pthread_mutex_lock(&waiter.mutex);
    while (!waiter.done)
        pthread_cond_wait(&waiter.answered, &waiter.mutex);
    pthread_mutex_unlock(&waiter.mutex);
    return request->answer;
}

enum hold_answer ask_create(struct hold_store *store, const struct hold *hold, int64_t pending_max,
                            struct hold_request *request)
{
    *request = request_begin(HOLD_OP_CREATE);
    request->hold = hold;
    request->pending_max = pending_max;
    return ask(store, request);
}

enum hold_answer ask_join(struct hold_store *store, const struct hold *hold, struct hold_request *request)
{
    *request = request_begin(HOLD_OP_JOIN);
    request->hold = hold;
    return ask(store, request);
}

enum hold_answer ask_get(struct hold_store *store, int64_t id, struct hold_request *request)
{
    *request = request_begin(HOLD_OP_GET);
    request->id = id;
    return ask(store, request);
}

static enum hold_answer ask_decision(struct hold_store *store, const struct hold *hold,
                                     const char *approver, struct hold_request *request)
{
    request->id = hold->id;
    request->approver = text_from(approver);
    memcpy(request->digest, hold->digest, SHA256_SIZE);
    return ask(store, request);
}

enum hold_answer ask_release(struct hold_store *store, const struct hold *hold,
                             const char *approver, struct hold_request *request)
{
    *request = request_begin(HOLD_OP_RELEASE);
    return ask_decision(store, hold, approver, request);
}

enum hold_answer ask_refuse(struct hold_store *store, const struct hold *hold, const char *approver,
                            struct hold_request *request)
{
    *request = request_begin(HOLD_OP_REFUSE);
    request->reason = TEXT("wrong customer");
    return ask_decision(store, hold, approver, request);
}

enum hold_answer ask_claim(struct hold_store *store, const struct hold *hold, const char *session,
                           struct hold_request *request)
{
    *request = request_begin(HOLD_OP_CLAIM);
    request->id = hold->id;
    request->agent = hold->agent;
    request->session = text_from(session);
    return ask(store, request);
}

enum hold_answer ask_finish(struct hold_store *store, int64_t id, const char *session,
                            enum hold_state state, struct hold_request *request)
{
    *request = request_begin(HOLD_OP_FINISH);
    request->id = id;
    request->session = text_from(session);
    request->new_state = state;
    request->tag = TEXT("DELETE 42");
    request->error = TEXT("no error");
    request->effect = TEXT("{\"known\": false}");
    return ask(store, request);
}

enum hold_state state_of(struct hold_store *store, int64_t id)
{
    struct hold_request request;
    enum hold_state state =
        ask_get(store, id, &request) == HOLD_OK ? request.holds[0]->state : HOLD_NONE;
    arena_release(&request.arena);
    return state;
}

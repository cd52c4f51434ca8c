/* store_test.c - the life of holds in a real SQLite file. */
#include "proxy/holds/store.h"

#include "proxy/base/attributes.h"
#include "unit/holds/sample.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_LIMIT = -1 };
static const int64_t forever_us = 3600000000000;

static struct store_at at;

static void begin(void)
{
    store_begin(&at, forever_us, NULL, NULL);
}
static void end(void)
{
    store_end(&at);
}

TestSuite(store, .init = begin, .fini = end, .timeout = 60);

static struct hold created(const char *statement, struct arena *arena)
{
    struct hold sample = sample_hold(statement);
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK, "%s", request.problem);
    struct hold hold = *hold_copy(arena, request.holds[0]);
    arena_release(&request.arena);
    return hold;
}

static void expect_same_fixed(const struct hold *a, const struct hold *b)
{
    cr_expect(text_equal(a->agent, b->agent));
    cr_expect(text_equal(a->policy, b->policy));
    cr_expect(text_equal(a->rule, b->rule));
    cr_expect(text_equal(a->rules, b->rules));
    cr_expect(text_equal(a->rule_text, b->rule_text));
    cr_expect(text_equal(a->approvers, b->approvers));
    cr_expect(text_equal(a->upstream, b->upstream));
    cr_expect(text_equal(a->database, b->database));
    cr_expect(text_equal(a->verb, b->verb));
    cr_expect(text_equal(a->client, b->client));
    cr_expect(text_equal(a->session, b->session));
    cr_expect(text_equal(a->plan, b->plan));
    cr_expect(a->estimate_rows == b->estimate_rows && a->estimate_cost == b->estimate_cost);
    cr_expect(a->created.us == b->created.us && a->expires.us == b->expires.us);
    cr_expect(a->wait_us == b->wait_us && a->run_within_us == b->run_within_us);
    cr_expect_eq(a->quorum, b->quorum);
    cr_expect_arr_eq(a->sample_secret, b->sample_secret, sizeof a->sample_secret);
}

Test(store, gives_back_every_field_after_a_restart)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM shop.orders", &arena);
    hold_store_close(at.store);
    store_again(&at, forever_us, NULL, NULL);
    struct hold_request request;
    cr_assert_eq(ask_get(at.store, hold.id, &request), HOLD_OK);
    struct hold sample = sample_hold("DELETE FROM shop.orders");
    const struct hold *read = request.holds[0];
    sample.created = hold.created;
    sample.expires = hold.expires;
    expect_same_fixed(&sample, read);
    cr_expect_eq(read->state, HOLD_PENDING);
    /* Digest and match cover the rest: statement, lists, values, effect. */
    uint8_t digest[SHA256_SIZE];
    hold_digest(&sample, digest);
    cr_expect_arr_eq(read->digest, digest, SHA256_SIZE);
    hold_digest(read, digest);
    cr_expect_arr_eq(read->digest, digest, SHA256_SIZE);
    hold_match(read, digest);
    cr_expect_arr_eq(read->match, digest, SHA256_SIZE);
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, file_is_for_its_owner_only)
{
    struct stat status;
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", at.path, suffixes[i]);
        cr_assert_eq(stat(path, &status), 0, "%s", path);
        cr_expect_eq(status.st_mode & 0777, 0600, "%s", path);
    }
}

Test(store, counts_from_one_and_never_gives_an_id_twice)
{
    struct arena arena;
    arena_init(&arena);
    cr_expect_eq(created("SELECT 1", &arena).id, 1);
    struct hold second = created("SELECT 2", &arena);
    cr_expect_eq(second.id, 2);
    struct hold_request request;
    cr_expect_eq(ask_refuse(at.store, &second, "alice", &request), HOLD_OK);
    arena_release(&request.arena);
    hold_store_close(at.store);
    usleep(10000);
    store_again(&at, 1, NULL, NULL);
    for (int i = 0; i < 50 && state_of(at.store, 2) != HOLD_NONE; i++)
        usleep(100000);
    cr_expect_eq(state_of(at.store, 2), HOLD_NONE, "a decided hold is deleted after `retain`");
    cr_expect_eq(state_of(at.store, 1), HOLD_PENDING, "a pending one never is");
    cr_expect_eq(created("SELECT 3", &arena).id, 3);
    arena_release(&arena);
}

Test(store, same_statement_joins_while_it_is_open)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM a", &arena);
    struct hold sample = sample_hold("DELETE FROM a");
    sample.effect = TEXT("{\"known\": true, \"other\": 1}");
    struct hold_request request;
    static const enum hold_state states[] = {HOLD_PENDING, HOLD_RELEASED, HOLD_RUNNING};
    for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
        if (states[i] == HOLD_RELEASED)
            cr_expect_eq(ask_release(at.store, &hold, "alice", &request), HOLD_OK);
        if (states[i] == HOLD_RUNNING)
            cr_expect_eq(ask_claim(at.store, &hold, "s1", &request), HOLD_OK);
        if (i > 0)
            arena_release(&request.arena);
        for (int by_join = 0; by_join < 2; by_join++) {
            enum hold_answer answer = by_join ? ask_join(at.store, &sample, &request)
                                              : ask_create(at.store, &sample, 0, &request);
            cr_expect_eq(answer, HOLD_JOINED);
            cr_assert_eq(request.hold_count, 1);
            cr_expect_eq(request.holds[0]->id, hold.id);
            cr_expect_eq(request.holds[0]->state, states[i]);
            arena_release(&request.arena);
        }
    }
    arena_release(&arena);
}

Test(store, to_join_makes_no_hold)
{
    struct hold sample = sample_hold("DELETE FROM a");
    struct hold_request request;
    cr_expect_eq(ask_join(at.store, &sample, &request), HOLD_NOT_FOUND);
    cr_expect_eq(request.hold_count, 0);
    arena_release(&request.arena);
    cr_expect_eq(state_of(at.store, 1), HOLD_NONE);
}

Test(store, another_agents_statement_does_not_join)
{
    struct arena arena;
    arena_init(&arena);
    struct hold first = created("DELETE FROM a", &arena);
    struct hold sample = sample_hold("DELETE FROM a");
    sample.agent = TEXT("batch-bot");
    struct hold_request request;
    cr_expect_eq(ask_join(at.store, &sample, &request), HOLD_NOT_FOUND);
    arena_release(&request.arena);
    cr_expect_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    cr_expect_neq(request.holds[0]->id, first.id);
    arena_release(&request.arena);
    arena_release(&arena);
}

static void run_to_end(const struct hold *hold, enum hold_state state)
{
    struct hold_request request;
    cr_expect_eq(ask_release(at.store, hold, "alice", &request), HOLD_OK);
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, hold, "s1", &request), HOLD_OK);
    arena_release(&request.arena);
    cr_expect_eq(ask_finish(at.store, hold->id, "s1", state, &request), HOLD_OK);
    arena_release(&request.arena);
}

Test(store, after_execution_the_same_statement_is_a_new_hold_that_says_so)
{
    struct arena arena;
    arena_init(&arena);
    struct hold first = created("DELETE FROM a", &arena);
    run_to_end(&first, HOLD_EXECUTED);
    struct hold second = created("DELETE FROM a", &arena);
    cr_expect_neq(second.id, first.id);
    cr_expect_eq(second.follows, first.id);
    run_to_end(&second, HOLD_FAILED);
    cr_expect_eq(created("DELETE FROM a", &arena).follows, first.id);
    arena_release(&arena);
}

Test(store, pending_max_is_counted_for_each_agent_alone)
{
    struct arena arena;
    arena_init(&arena);
    struct hold first = created("SELECT 1", &arena);
    created("SELECT 2", &arena);
    struct hold sample = sample_hold("SELECT 3");
    struct hold_request request;
    cr_expect_eq(ask_create(at.store, &sample, 2, &request), HOLD_TOO_MANY);
    cr_expect_eq(request.hold_count, 0);
    arena_release(&request.arena);
    sample.agent = TEXT("batch-bot");
    cr_expect_eq(ask_create(at.store, &sample, 2, &request), HOLD_OK);
    arena_release(&request.arena);
    sample.agent = TEXT("support-bot");
    cr_expect_eq(ask_refuse(at.store, &first, "alice", &request), HOLD_OK);
    arena_release(&request.arena);
    cr_expect_eq(ask_create(at.store, &sample, 2, &request), HOLD_OK,
                 "a refused one does not count");
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, release_sets_decision_and_time_to_run)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM a", &arena);
    struct hold_request request;
    cr_assert_eq(ask_release(at.store, &hold, "alice", &request), HOLD_OK);
    const struct hold *released = request.holds[0];
    cr_expect_eq(released->state, HOLD_RELEASED);
    cr_expect(text_is(released->decision, "release"));
    cr_expect(text_is(released->decided_by, "alice"));
    cr_expect_eq(released->run_until.us, released->decided.us + hold.run_within_us);
    cr_assert_eq(released->approval_count, 1);
    cr_expect(text_is(released->approvals[0].by, "alice"));
    arena_release(&request.arena);
    cr_expect_eq(ask_release(at.store, &hold, "bob", &request), HOLD_WRONG_STATE);
    cr_expect_eq(request.holds[0]->state, HOLD_RELEASED);
    arena_release(&request.arena);
    cr_expect_eq(ask_refuse(at.store, &hold, "bob", &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, quorum_needs_that_many_different_approvers)
{
    struct hold sample = sample_hold("DELETE FROM a");
    sample.quorum = 2;
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    struct hold hold = *request.holds[0];
    arena_release(&request.arena);
    hold.agent = sample.agent;
    cr_expect_eq(ask_release(at.store, &hold, "alice", &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_PENDING);
    cr_expect_eq(request.holds[0]->run_until.us, 0);
    arena_release(&request.arena);
    cr_expect_eq(ask_release(at.store, &hold, "alice", &request), HOLD_ALREADY_DECIDED);
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, &hold, "s1", &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    cr_expect_eq(ask_release(at.store, &hold, "carol", &request), HOLD_NOT_APPROVER);
    arena_release(&request.arena);
    cr_expect_eq(ask_release(at.store, &hold, "bob", &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_RELEASED);
    cr_expect_eq(request.holds[0]->approval_count, 2);
    cr_expect(text_is(request.holds[0]->decided_by, "bob"));
    arena_release(&request.arena);
}

Test(store, decisions_are_refused_for_another_digest_policy_or_person)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM a", &arena);
    struct hold_request request;
    struct hold other = hold;
    other.digest[31] ^= 1;
    cr_expect_eq(ask_release(at.store, &other, "alice", &request), HOLD_WRONG_DIGEST);
    cr_expect_arr_eq(request.holds[0]->digest, hold.digest, SHA256_SIZE);
    arena_release(&request.arena);
    cr_expect_eq(ask_refuse(at.store, &other, "alice", &request), HOLD_WRONG_DIGEST);
    arena_release(&request.arena);
    cr_expect_eq(ask_refuse(at.store, &hold, "carol", &request), HOLD_NOT_APPROVER);
    arena_release(&request.arena);
    request = request_begin(HOLD_OP_RELEASE);
    const struct text policies[] = {TEXT("other")};
    request.id = hold.id;
    request.approver = TEXT("alice");
    request.policies = policies;
    request.policy_count = 1;
    memcpy(request.digest, hold.digest, SHA256_SIZE);
    cr_expect_eq(ask(at.store, &request), HOLD_NOT_APPROVER);
    arena_release(&request.arena);
    other = hold;
    other.id = 99;
    cr_expect_eq(ask_release(at.store, &other, "alice", &request), HOLD_NOT_FOUND);
    cr_expect_eq(request.hold_count, 0);
    arena_release(&request.arena);
    cr_expect_eq(state_of(at.store, hold.id), HOLD_PENDING);
    arena_release(&arena);
}

Test(store, refusal_keeps_its_reason)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM a", &arena);
    struct hold_request request;
    cr_expect_eq(ask_refuse(at.store, &hold, "bob", &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_REFUSED);
    cr_expect(text_is(request.holds[0]->decision, "refuse"));
    cr_expect(text_is(request.holds[0]->decision_reason, "wrong customer"));
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, &hold, "s1", &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, only_the_session_that_claimed_it_can_run_and_finish)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM a", &arena);
    struct hold_request request;
    cr_expect_eq(ask_release(at.store, &hold, "alice", &request), HOLD_OK);
    arena_release(&request.arena);
    struct hold others = hold;
    others.agent = TEXT("batch-bot");
    cr_expect_eq(ask_claim(at.store, &others, "s0", &request), HOLD_NOT_FOUND);
    cr_expect_eq(request.hold_count, 0);
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, &hold, "s1", &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_RUNNING);
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, &hold, "s2", &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    cr_expect_eq(ask_finish(at.store, hold.id, "s2", HOLD_EXECUTED, &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    request = request_begin(HOLD_OP_RUN);
    request.id = hold.id;
    request.session = TEXT("s1");
    request.xid = TEXT("12345678901");
    request.backend_pid = 4711;
    request.backend_start = TEXT("2026-11-30 11:20:57.657123+00");
    request.system_identifier = TEXT("7300000000000000001");
    request.timeline = 1;
    cr_expect_eq(ask(at.store, &request), HOLD_OK);
    arena_release(&request.arena);
    cr_expect_eq(ask_finish(at.store, hold.id, "s1", HOLD_EXECUTED, &request), HOLD_OK);
    const struct hold *finished = request.holds[0];
    cr_expect_eq(finished->state, HOLD_EXECUTED);
    cr_expect(text_is(finished->xid, "12345678901"));
    cr_expect_eq(finished->backend_pid, 4711);
    cr_expect(text_is(finished->system_identifier, "7300000000000000001"));
    cr_expect(text_is(finished->outcome_tag, "DELETE 42"));
    cr_expect_gt(finished->finished.us, 0);
    arena_release(&request.arena);
    cr_expect_eq(ask_finish(at.store, hold.id, "s1", HOLD_FAILED, &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, claim_given_back_can_be_claimed_again)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("DELETE FROM a", &arena);
    run_to_end(&hold, HOLD_RELEASED);
    struct hold_request request;
    cr_assert_eq(ask_get(at.store, hold.id, &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_RELEASED);
    cr_expect_eq(request.holds[0]->run_session.size, 0);
    cr_expect_eq(request.holds[0]->finished.us, 0);
    cr_expect_eq(request.holds[0]->outcome_tag.size, 0);
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, &hold, "s2", &request), HOLD_OK);
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, drift_is_stored_together_with_the_hold_that_replaces_it)
{
    struct arena arena;
    arena_init(&arena);
    struct hold first = created("DELETE FROM a", &arena);
    struct hold_request request;
    cr_expect_eq(ask_release(at.store, &first, "alice", &request), HOLD_OK);
    arena_release(&request.arena);
    cr_expect_eq(ask_claim(at.store, &first, "s1", &request), HOLD_OK);
    arena_release(&request.arena);
    struct hold sample = sample_hold("DELETE FROM a");
    sample.effect = TEXT("{\"known\": true, \"now\": 43}");
    request = request_begin(HOLD_OP_CREATE);
    request.hold = &sample;
    request.replaces = first.id;
    request.session = TEXT("s1");
    request.effect = sample.effect;
    cr_assert_eq(ask(at.store, &request), HOLD_OK);
    int64_t second = request.holds[0]->id;
    cr_expect_eq(request.holds[0]->state, HOLD_PENDING);
    arena_release(&request.arena);
    cr_assert_eq(ask_get(at.store, first.id, &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_DRIFTED);
    cr_expect_eq(request.holds[0]->replaced_by, second);
    cr_expect(text_equal(request.holds[0]->outcome_effect, sample.effect));
    arena_release(&request.arena);
    request = request_begin(HOLD_OP_CREATE);
    request.hold = &sample;
    request.replaces = first.id;
    request.session = TEXT("s1");
    cr_expect_eq(ask(at.store, &request), HOLD_WRONG_STATE, "one successor only");
    arena_release(&request.arena);
    arena_release(&arena);
}

Test(store, nothing_can_be_done_with_a_pending_hold_that_is_too_old)
{
    struct hold sample = sample_hold("DELETE FROM a");
    sample.expires.us = clock_now().us + 1;
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    struct hold hold = {.id = request.holds[0]->id};
    memcpy(hold.digest, request.holds[0]->digest, SHA256_SIZE);
    arena_release(&request.arena);
    usleep(2000);
    cr_expect_eq(ask_get(at.store, hold.id, &request), HOLD_OK);
    cr_expect_eq(request.holds[0]->state, HOLD_EXPIRED, "told before the next tick writes it");
    arena_release(&request.arena);
    cr_expect_eq(ask_release(at.store, &hold, "alice", &request), HOLD_WRONG_STATE);
    cr_expect_eq(request.holds[0]->state, HOLD_EXPIRED);
    arena_release(&request.arena);
    sample.expires.us = clock_now().us + 3600000000;
    cr_expect_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK, "and none joins it");
    arena_release(&request.arena);
}

/* What the listener was told, in order. */
static struct told {
    pthread_mutex_t mutex;
    size_t count;
    struct {
        int64_t id;
        enum hold_state before;
        enum hold_state after;
    } items[16];
} told = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void listen_in(void *context, const struct hold *hold, enum hold_state before)
{
    struct told *list = context;
    pthread_mutex_lock(&list->mutex);
    if (list->count < ARRAY_SIZE(list->items)) {
        list->items[list->count].id = hold->id;
        list->items[list->count].before = before;
        list->items[list->count++].after = hold->state;
    }
    pthread_mutex_unlock(&list->mutex);
}

static void wait_told(size_t count)
{
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&told.mutex);
        bool enough = told.count >= count;
        pthread_mutex_unlock(&told.mutex);
        if (enough)
            return;
        usleep(10000);
    }
    cr_assert_fail("the listener was told %zu changes, not %zu", told.count, count);
}

static bool was_told(int64_t id, enum hold_state before, enum hold_state after)
{
    for (size_t i = 0; i < told.count; i++)
        if (told.items[i].id == id && told.items[i].before == before &&
            told.items[i].after == after)
            return true;
    return false;
}

Test(store, expires_and_lapses_by_itself_and_tells)
{
    hold_store_close(at.store);
    store_again(&at, forever_us, listen_in, &told);
    struct hold sample = sample_hold("DELETE FROM a");
    sample.expires.us = clock_now().us + 300000;
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    arena_release(&request.arena);
    sample = sample_hold("DELETE FROM b");
    sample.run_within_us = 300000;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    struct hold second = {.id = request.holds[0]->id};
    memcpy(second.digest, request.holds[0]->digest, SHA256_SIZE);
    arena_release(&request.arena);
    cr_assert_eq(ask_release(at.store, &second, "alice", &request), HOLD_OK);
    arena_release(&request.arena);
    wait_told(5);
    cr_expect(was_told(1, HOLD_NONE, HOLD_PENDING));
    cr_expect(was_told(1, HOLD_PENDING, HOLD_EXPIRED));
    cr_expect(was_told(2, HOLD_NONE, HOLD_PENDING));
    cr_expect(was_told(2, HOLD_PENDING, HOLD_RELEASED));
    cr_expect(was_told(2, HOLD_RELEASED, HOLD_LAPSED));
    int64_t counts[HOLD_STATE_COUNT];
    hold_store_counts(at.store, counts);
    cr_expect_eq(counts[HOLD_PENDING], 0);
    cr_expect_eq(counts[HOLD_EXPIRED], 1);
    cr_expect_eq(counts[HOLD_LAPSED], 1);
}

Test(store, counts_are_the_same_after_a_restart)
{
    struct arena arena;
    arena_init(&arena);
    struct hold hold = created("SELECT 1", &arena);
    created("SELECT 2", &arena);
    run_to_end(&hold, HOLD_UNKNOWN);
    int64_t before[HOLD_STATE_COUNT];
    int64_t after[HOLD_STATE_COUNT];
    hold_store_counts(at.store, before);
    cr_expect_eq(before[HOLD_PENDING], 1);
    cr_expect_eq(before[HOLD_UNKNOWN], 1);
    hold_store_close(at.store);
    store_again(&at, forever_us, NULL, NULL);
    hold_store_counts(at.store, after);
    cr_expect_arr_eq(before, after, sizeof before);
    arena_release(&arena);
}

static size_t ask_list(enum hold_state state, const char *agent, const char *policy, int64_t after,
                       int64_t limit, int64_t *last)
{
    struct hold_request request = request_begin(HOLD_OP_LIST);
    const struct text policies[] = {text_from(policy)};
    request.filter_state = state;
    request.agent = text_from(agent);
    request.policies = policies;
    request.policy_count = policy != NULL ? 1 : 0;
    request.after = after;
    request.limit = limit;
    cr_assert_eq(ask(at.store, &request), HOLD_OK, "%s", request.problem);
    size_t count = request.hold_count;
    *last = count > 0 ? request.holds[count - 1]->id : 0;
    arena_release(&request.arena);
    return count;
}

Test(store, lists_newest_first_by_state_agent_and_policy)
{
    struct arena arena;
    arena_init(&arena);
    for (int i = 0; i < 5; i++) {
        char statement[32];
        snprintf(statement, sizeof statement, "SELECT %d", i);
        struct hold sample = sample_hold(statement);
        sample.agent = i % 2 == 0 ? TEXT("even") : TEXT("odd");
        sample.policy = i < 3 ? TEXT("low") : TEXT("high");
        struct hold_request request;
        cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
        if (i == 4) {
            struct hold_request refusal;
            cr_expect_eq(ask_refuse(at.store, request.holds[0], "bob", &refusal), HOLD_OK);
            arena_release(&refusal.arena);
        }
        arena_release(&request.arena);
    }
    int64_t last;
    cr_expect_eq(ask_list(HOLD_NONE, "", NULL, 0, 10, &last), 5);
    cr_expect_eq(last, 1);
    cr_expect_eq(ask_list(HOLD_NONE, "", NULL, 0, 2, &last), 2);
    cr_expect_eq(last, 4);
    cr_expect_eq(ask_list(HOLD_NONE, "", NULL, 4, 2, &last), 2);
    cr_expect_eq(last, 2);
    cr_expect_eq(ask_list(HOLD_PENDING, "", NULL, 0, 10, &last), 4);
    cr_expect_eq(ask_list(HOLD_REFUSED, "", NULL, 0, 10, &last), 1);
    cr_expect_eq(last, 5);
    cr_expect_eq(ask_list(HOLD_NONE, "odd", NULL, 0, 10, &last), 2);
    cr_expect_eq(ask_list(HOLD_PENDING, "even", NULL, 0, 10, &last), 2);
    cr_expect_eq(ask_list(HOLD_PENDING, "", "low", 0, 10, &last), 3);
    cr_expect_eq(ask_list(HOLD_PENDING, "", "low", 0, 2, &last), 2);
    cr_expect_eq(last, 2);
    cr_expect_eq(ask_list(HOLD_NONE, "", "none", 0, 10, &last), 0);
    arena_release(&arena);
}

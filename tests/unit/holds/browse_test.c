/* browse_test.c - what a page asks of the store at once: the queue, one hold and its neighbours,
 * the history. */
#include "proxy/holds/browse.h"

#include "proxy/holds/store.h"
#include "unit/holds/sample.h"

#include <criterion/criterion.h>

enum { LIMIT = 2, NO_LIMIT = -1 };

static struct store_at at;
static struct hold_browse browse;
static struct hold_request request;

/* The agent is a letter; the higher the number, the sooner it expires. */
static void add(int64_t number, const char *agent, const char *policy, const char *statement)
{
    struct hold hold = sample_hold(statement);
    hold.agent = text_from(agent);
    hold.policy = text_from(policy);
    hold.expires.us = hold.created.us + (100 - number) * 60000000;
    struct hold_request made;
    cr_assert_eq(ask_create(at.store, &hold, NO_LIMIT, &made), HOLD_OK, "%s", made.problem);
    cr_assert_eq(made.holds[0]->id, number);
    arena_release(&made.arena);
}

static void begin(void)
{
    store_begin(&at, 3600000000000, NULL, NULL);
    add(1, "a", "support", "DELETE FROM shop.orders WHERE id = 100");
    add(2, "a", "support", "DELETE FROM shop.orders WHERE id = 200");
    add(3, "b", "support", "UPDATE shop.orders SET notes = 'x' WHERE id = 300");
    add(4, "b", "finance", "DELETE FROM shop.invoices WHERE id = 400");
    add(5, "a", "support", "DELETE FROM shop.orders WHERE id = 500");
    browse = (struct hold_browse){0};
    request = request_begin(HOLD_OP_BROWSE);
    request.browse = &browse;
    request.limit = LIMIT;
}

static void end(void)
{
    arena_release(&request.arena);
    store_end(&at);
}

TestSuite(browse, .init = begin, .fini = end, .timeout = 60);

static void ask_for(enum hold_view view)
{
    browse.view = view;
    cr_assert_eq(ask(at.store, &request), HOLD_OK, "%s", request.problem);
}

static void expect_holds(const int64_t *ids, size_t count)
{
    cr_assert_eq(request.hold_count, count, "%zu holds", request.hold_count);
    for (size_t i = 0; i < count; i++)
        cr_expect_eq(request.holds[i]->id, ids[i], "place %zu", i);
}

#define EXPECT_HOLDS(...)                                                                          \
    expect_holds((const int64_t[]){__VA_ARGS__},                                                   \
                 sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

Test(browse, the_queue_begins_with_what_expires_first_and_is_a_page_at_a_time)
{
    ask_for(VIEW_QUEUE);
    EXPECT_HOLDS(5, 4);
    cr_expect_eq(browse.total, 5);
    cr_expect_eq(browse.queue_count, 5);
    arena_reset(&request.arena);
    browse.offset = 4;
    ask_for(VIEW_QUEUE);
    EXPECT_HOLDS(1);
}

Test(browse, words_agent_and_number_choose_and_the_queue_stays_whole)
{
    browse.words = TEXT("invoices");
    ask_for(VIEW_QUEUE);
    EXPECT_HOLDS(4);
    cr_expect_eq(browse.total, 1);
    cr_expect_eq(browse.queue_count, 5);
    arena_reset(&request.arena);
    browse.words = TEXT("3");
    request.agent = TEXT("b");
    ask_for(VIEW_QUEUE);
    EXPECT_HOLDS(3);
    arena_reset(&request.arena);
    browse.words = TEXT("no such words");
    ask_for(VIEW_QUEUE);
    cr_expect_eq(request.hold_count, 0);
    cr_expect_eq(browse.total, 0);
}

Test(browse, what_an_approver_may_not_see_is_in_no_answer)
{
    const struct text policies[] = {TEXT("finance")};
    request.policies = policies;
    request.policy_count = 1;
    ask_for(VIEW_QUEUE);
    EXPECT_HOLDS(4);
    cr_expect_eq(browse.queue_count, 1);
    arena_reset(&request.arena);
    browse.view = VIEW_ONE;
    request.id = 1;
    cr_expect_eq(ask(at.store, &request), HOLD_NOT_FOUND);
}

Test(browse, one_hold_comes_with_others_of_its_agent)
{
    request.id = 2;
    request.limit = 10;
    ask_for(VIEW_ONE);
    EXPECT_HOLDS(2, 5, 1);
    cr_expect_eq(browse.queue_count, 5);
}

Test(browse, the_history_has_what_was_decided_newest_first)
{
    for (int64_t id = 1; id <= 3; id++) {
        struct hold_request got, refused;
        cr_assert_eq(ask_get(at.store, id, &got), HOLD_OK);
        cr_expect_eq(ask_refuse(at.store, got.holds[0], "alice", &refused), HOLD_OK, "%s",
                     refused.problem);
        arena_release(&refused.arena);
        arena_release(&got.arena);
    }
    ask_for(VIEW_HISTORY);
    EXPECT_HOLDS(3, 2);
    cr_expect_eq(browse.total, 3);
    cr_expect_eq(browse.queue_count, 2);
    arena_reset(&request.arena);
    request.after = 2;
    ask_for(VIEW_HISTORY);
    EXPECT_HOLDS(1);
}

/* agents_test.c - what is counted of an agent over time. */
#include "proxy/net/agents.h"

#include <criterion/criterion.h>

static const int64_t second_us = 1000000;

static struct agents *agents;
static struct policy policy;
static struct agent agent;

static void begin(void)
{
    agents = agents_new();
    policy = (struct policy){.rehearsals_per_minute = 3};
    agent = (struct agent){.name = TEXT("agent"), .policy = &policy};
}

static void end(void) { agents_free(agents); }

TestSuite(agents, .init = begin, .fini = end);

/* At this second of some day. */
static int64_t rehearse_at(int64_t second)
{
    return agents_begin_rehearsal(agents, &agent, (struct instant){(1764500000 + second) * second_us});
}

Test(agents, no_minute_has_more_rehearsals_than_allowed)
{
    enum { SECONDS = 600, MINUTE = 60 };
    bool allowed[SECONDS] = {false};
    int total = 0;
    for (int second = 0; second < SECONDS; second++) {
        allowed[second] = rehearse_at(second) == 0;
        total += allowed[second];
        int of_minute = 0;
        for (int i = second; i >= 0 && i > second - MINUTE; i--)
            of_minute += allowed[i];
        cr_assert_leq(of_minute, policy.rehearsals_per_minute, "second %d", second);
    }
    cr_assert_geq(total, 3 * SECONDS / 70, "they are allowed again");
}

Test(agents, after_the_time_that_was_told_it_may_be_rehearsed)
{
    int64_t moments[] = {0, 5, 31};
    for (size_t i = 0; i < ARRAY_SIZE(moments); i++)
        cr_assert_eq(rehearse_at(moments[i]), 0);
    int64_t wait_us = rehearse_at(33);
    cr_assert_gt(wait_us, 0);
    cr_assert_leq(wait_us, 70 * second_us);
    cr_assert_gt(rehearse_at(33 + wait_us / second_us - 1), 0);
    cr_assert_eq(rehearse_at(33 + wait_us / second_us), 0);
}

Test(agents, each_agent_has_its_own_rehearsals)
{
    struct agent other = {.name = TEXT("other"), .policy = &policy};
    for (int i = 0; i < 3; i++)
        cr_assert_eq(rehearse_at(i), 0);
    cr_assert_gt(rehearse_at(3), 0);
    cr_assert_eq(agents_begin_rehearsal(agents, &other, (struct instant){1764500003 * second_us}), 0);
}

Test(agents, none_and_any_number_of_rehearsals_can_be_allowed)
{
    policy.rehearsals_per_minute = 0;
    int64_t wait_us = rehearse_at(0);
    cr_assert(wait_us > 0 && wait_us <= 70 * second_us);
    policy.rehearsals_per_minute = UNLIMITED;
    for (int i = 0; i < 1000; i++)
        cr_assert_eq(rehearse_at(0), 0);
}

/*
 * outside_test.c - what cannot run in a transaction block: recorded before it is sent, sent by itself, and never
 * thought undone.
 */
#include "tests/unit/session/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#define HELD "VACUUM shop.t"

static struct rig rig;
static struct rule rules[8];
static const struct canned usual[] = {
    {.begins = "VACUUM", .tag = "VACUUM"}, {.begins = "RESET", .tag = "RESET"}, {0}};

static void begin(void)
{
    rig_begin(&rig);
    rig.canned = usual;
    cr_assert_leq(rig.policy.rule_count, ARRAY_SIZE(rules));
    memcpy(rules, rig.policy.rules, rig.policy.rule_count * sizeof *rules);
    rules[3].verbs[VERB_MAINTAIN] = true;
    rules[3].unrehearsed_hold = true;
    rules[3].where = WHERE_ANY;
    rig.policy.rules = rules;
}

static void end(void) { rig_end(&rig); }

TestSuite(outside, .init = begin, .fini = end);

/* … with the run about to be recorded. */
static void hold_and_release(void)
{
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    cr_assert_str_eq(rig_client(&rig), "N", "%s %s", rig_client(&rig), rig_told(&rig));
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_RUN);
    cr_assert(text_is(rig.requests[0]->xid, HOLD_RUNS_OUTSIDE));
    cr_assert_eq(rig_times(&rig, "(VACUUM)"), 0, "%s", rig_server(&rig));
    rig_forget(&rig);
}

Test(outside, it_is_sent_by_itself_once_the_store_has_it)
{
    hold_and_release();
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_str_eq(rig_server(&rig), "CCP(SELECT)BECCSCCP(VACUUM)BDESCCP(RESET)BECCS");
    cr_assert_eq(rig_asked(&rig), HOLD_OP_FINISH);
    cr_assert_eq(rig.requests[0]->new_state, HOLD_EXECUTED);
    rig_answer(&rig, HOLD_OK, HOLD_EXECUTED);
    cr_assert_str_eq(rig_client(&rig), "CZI");
}

Test(outside, an_error_is_its_end_and_the_clients)
{
    static const struct canned fails[] = {
        {.begins = "VACUUM", .error = "42501"}, {.begins = "RESET", .tag = "RESET"}, {0}};
    hold_and_release();
    rig.canned = fails;
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(rig.requests[0]->new_state, HOLD_FAILED);
    rig_answer(&rig, HOLD_OK, HOLD_FAILED);
    cr_assert_str_eq(rig_client(&rig), "E(42501)ZI");
    cr_assert_eq(rig_times(&rig, "P(RESET)"), 1, "%s", rig_server(&rig));
}

Test(outside, a_cancel_that_hits_what_is_sent_around_it_changes_nothing)
{
    static const char *const around[] = {"SELECT pg_catalog.set_config", "RESET"};
    for (size_t i = 0; i < ARRAY_SIZE(around); i++) {
        const struct canned cancelled[] = {{.begins = around[i], .error = "57014"},
                                           {.begins = "VACUUM", .tag = "VACUUM"},
                                           {.begins = "RESET", .tag = "RESET"},
                                           {0}};
        rig.canned = usual;
        hold_and_release();
        rig.canned = cancelled;
        rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
        cr_assert_eq(rig.requests[0]->new_state, HOLD_EXECUTED);
        rig_answer(&rig, HOLD_OK, HOLD_EXECUTED);
        cr_assert_str_eq(rig_client(&rig), "CZI");
        rig_forget(&rig);
    }
}

Test(outside, it_is_given_back_when_it_could_not_be_recorded)
{
    hold_and_release();
    rig_answer(&rig, HOLD_STORE_FAILED, HOLD_RUNNING);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_FINISH);
    cr_assert_eq(rig.requests[0]->new_state, HOLD_RELEASED);
    cr_assert_str_eq(rig_client(&rig), "E(58030)ZI");
    cr_assert_eq(rig_times(&rig, "(VACUUM)"), 0, "%s", rig_server(&rig));
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
}

Test(outside, a_server_that_is_lost_before_it_is_sent_gives_it_back)
{
    hold_and_release();
    session_server_gone(rig.session);
    session_free(rig.session);
    rig.session = NULL;
    cr_assert_eq(rig.requests[rig.request_count - 1]->operation, HOLD_OP_FINISH);
    cr_assert_eq(rig.requests[rig.request_count - 1]->new_state, HOLD_RELEASED);
}

Test(outside, once_it_was_sent_it_is_not_given_back)
{
    hold_and_release();
    struct hold_request *request = rig.requests[0];
    rig.request_count = 0;
    request->answer = HOLD_OK;
    session_hold_answer(rig.session, request);
    session_server_gone(rig.session);
    session_free(rig.session);
    rig.session = NULL;
    cr_assert_eq(rig.request_count, 0, "it was given back");
}

Test(outside, in_a_transaction_nobody_is_asked)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_str_eq(rig_client(&rig), "CZTE(25001)ZE");
    cr_assert_eq(rig_asked(&rig), 0);
    cr_assert_not_null(strstr(rig_told(&rig), "cannot run inside a transaction block"), "%s",
                       rig_told(&rig));
}

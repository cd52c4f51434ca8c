/*
 * cancel_test.c - a cancel of a held statement, at each step at which it is not the server's: it is not lost, and
 * what was not committed never is. And a stop, which waits only for what may still be committed.
 */
#include "tests/unit/session/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#define HELD "DELETE FROM shop.t WHERE id > 'a'"

static struct rig rig;

static void begin(void) { rig_begin(&rig); }
static void end(void) { rig_end(&rig); }

TestSuite(cancel, .init = begin, .fini = end);

static const struct {
    int answers;               /* of the store, before it is cancelled */
    enum hold_operation asked; /* then, and answered after the cancel; 0: nothing */
    enum hold_state becomes;   /* of the hold, by what is asked next; HOLD_NONE: nothing is */
    const char *client;
} steps[] = {
    {0, HOLD_OP_CREATE, HOLD_NONE, "E(57014)ZI"},
    {1, HOLD_OP_GET, HOLD_NONE, "NE(57014)ZI"},
    {2, (enum hold_operation)0, HOLD_NONE, "NE(57014)ZI"},
    {3, HOLD_OP_CLAIM, HOLD_RELEASED, "NE(57014)ZI"},
    {4, HOLD_OP_RUN, HOLD_FAILED, "NE(57014)ZI"},
    {5, HOLD_OP_FINISH, HOLD_NONE, "NCZI"}, /* COMMIT is through */
};

static void answer(void)
{
    enum hold_operation asked = rig_asked(&rig);
    bool claimed = asked == HOLD_OP_CLAIM || asked == HOLD_OP_RUN;
    rig_answer(&rig, HOLD_OK, claimed ? HOLD_RUNNING : HOLD_PENDING);
}

Test(cancel, at_any_step_ends_it_and_commits_nothing_more)
{
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        rig_run(&rig, rig_query(&rig, HELD));
        for (int j = 0; j < steps[i].answers; j++) {
            if (j == 2)
                rig_hold_changed(&rig, HOLD_RELEASED);
            else
                answer();
        }
        /* Released between the second and the third answer: then the claim is the next. */
        cr_assert_eq(rig_asked(&rig), steps[i].asked, "step %zu", i);
        bool committed = strstr(rig_server(&rig), "P(COMMIT)") != NULL;
        cr_assert_not(session_cancel_requested(rig.session), "step %zu: nothing runs on the server", i);
        rig_settle(&rig);
        if (steps[i].asked != (enum hold_operation)0)
            answer();
        if (steps[i].becomes != HOLD_NONE) {
            cr_assert_eq(rig_asked(&rig), HOLD_OP_FINISH, "step %zu", i);
            cr_assert_eq(rig.requests[0]->new_state, steps[i].becomes, "step %zu", i);
            rig_answer(&rig, HOLD_OK, steps[i].becomes);
        }
        cr_assert_str_eq(rig_client(&rig), steps[i].client, "step %zu", i);
        cr_assert_eq(strstr(rig_server(&rig), "P(COMMIT)") != NULL, committed, "step %zu", i);
        cr_assert_eq(rig_asked(&rig), (enum hold_operation)0, "step %zu", i);
        rig_forget(&rig);
        rig_run(&rig, rig_query(&rig, "SELECT id FROM shop.t"));
        cr_assert_str_eq(rig_client(&rig), "TDCZI", "step %zu: it is not for what comes next", i);
        rig_end(&rig);
        rig_begin(&rig);
    }
}

/* Held, and not waited for any more. */
static void hold(void)
{
    rig_run(&rig, rig_query(&rig, HELD));
    answer();
    answer();
    session_timer(rig.session);
    rig_settle(&rig);
    rig_forget(&rig);
}

static void look_up_and_cancel(enum hold_state state)
{
    hold();
    rig_run(&rig, rig_query(&rig, "EXECUTE pgwicket_hold(17)"));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_GET);
    cr_assert_not(session_cancel_requested(rig.session));
    rig_answer(&rig, HOLD_OK, state);
}

Test(cancel, while_a_hold_is_looked_up_ends_its_run)
{
    look_up_and_cancel(HOLD_RELEASED);
    cr_assert_str_eq(rig_client(&rig), "E(57014)ZI");
    cr_assert_eq(rig_asked(&rig), (enum hold_operation)0, "it is claimed");
}

Test(cancel, while_a_hold_is_looked_up_is_not_for_the_next_statement)
{
    look_up_and_cancel(HOLD_EXECUTED);
    cr_assert_str_eq(rig_client(&rig), "E(55PW5)ZI", "there was nothing to cancel any more");
    hold();
}

Test(cancel, that_the_server_gets_too_late_asks_nobody)
{
    rig_send(&rig, rig_query(&rig, HELD));
    cr_assert(session_cancel_requested(rig.session));
    session_cancel_done(rig.session);
    rig_settle(&rig);
    cr_assert_str_eq(rig_client(&rig), "E(57014)ZI");
    cr_assert_eq(rig_asked(&rig), (enum hold_operation)0, "it is held nevertheless");
}

Test(cancel, while_a_held_copy_is_taken_ends_it)
{
    ((struct rule *)(uintptr_t)rig.policy.rules)[1].verdict = VERDICT_HOLD;
    rig.policy.copy_max_bytes = 1000;
    rig_run(&rig, rig_query(&rig, "COPY shop.t FROM STDIN"));
    cr_assert_str_eq(rig_client(&rig), "G");
    cr_assert_not(session_cancel_requested(rig.session));
    rig_settle(&rig);
    cr_assert_str_eq(rig_client(&rig), "GE(57014)ZI");
    static const char late[] = "d\0\0\0\6a\nc\0\0\0\4";
    rig_run(&rig, (struct text){late, sizeof late - 1});
    cr_assert_str_eq(rig_client(&rig), "GE(57014)ZI", "what was on its way is ignored");
}

Test(cancel, a_hold_that_ran_in_this_very_transaction_is_told_so)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
    answer();
    answer();
    cr_assert_str_eq(rig_client(&rig), "CZTCZT");
    rig_run(&rig, rig_query(&rig, "EXECUTE pgwicket_hold(17)"));
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_str_eq(rig_client(&rig), "CZTCZTE(55PW5)ZE");
    cr_assert_str_eq(rig_told(&rig), "pgwicket: hold 17 has run in this very transaction; nothing was run now");
    rig_run(&rig, rig_query(&rig, "ROLLBACK"));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_FINISH);
    cr_assert_eq(rig.requests[0]->new_state, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
}

Test(cancel, a_stop_does_not_wait_for_a_transaction_that_has_failed)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, "DROP TABLE shop.t"));
    cr_assert_str_eq(rig_client(&rig), "CZTE(42501)ZE");
    session_shutdown(rig.session);
    cr_assert(rig.closed);
    cr_assert_str_eq(rig_client(&rig), "CZTE(42501)ZEE(57P01)");
}

Test(cancel, a_stop_ends_a_transaction_when_it_fails)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    session_shutdown(rig.session);
    cr_assert_not(rig.closed);
    rig_run(&rig, rig_query(&rig, "DROP TABLE shop.t"));
    cr_assert(rig.closed);
    cr_assert_str_eq(rig_client(&rig), "CZTE(42501)ZEE(57P01)");
}

/*
 * escalation_test.c - a write over its limit becomes a hold rule's: brought back to where it was before, and run
 * by its release there.
 */
#include "tests/unit/session/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#define INSERT "INSERT INTO shop.t VALUES ('a', 'b')"
#define DELETE "DELETE FROM shop.t WHERE id > 'a'"
#define J(word) "CCP(" word ")BECC"
#define LIMITED "CCCCP(DELETE)BDE"
#define BROUGHT_BACK J("ROLLBACK") J("RELEASE") "S"

static const struct canned four[] = {{.begins = "DELETE", .tag = "DELETE 4"}, {0}};

static struct rig rig;

/* DELETE: up to three rows are allowed, more are held. */
static void begin(void)
{
    rig_begin(&rig);
    ((struct rule *)(uintptr_t)rig.policy.rules)[2].verbs[VERB_DELETE] = true;
}

static void end(void) { rig_end(&rig); }

TestSuite(escalation, .init = begin, .fini = end);

static void in_used_transaction(void)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, INSERT));
    rig_forget(&rig);
}

static void is_too_many(void)
{
    rig.canned = four;
    rig.deleted_at_once = 4;
}

Test(escalation, within_its_limit_a_transaction_keeps_no_savepoint)
{
    in_used_transaction();
    rig_run(&rig, rig_query(&rig, DELETE));
    cr_assert_str_eq(rig_client(&rig), "CZT");
    cr_assert_not_null(strstr(rig_server(&rig), J("SAVEPOINT") LIMITED J("RELEASE") "S"), "%s",
                       rig_server(&rig));
    rig_forget(&rig);
    rig_run(&rig, rig_extended(&rig, DELETE));
    cr_assert_str_eq(rig_client(&rig), "12nCZT");
    cr_assert_not_null(strstr(rig_server(&rig), J("SAVEPOINT") "E" J("RELEASE") "S"), "%s", rig_server(&rig));
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "COMMIT"));
    rig_run(&rig, rig_query(&rig, DELETE));
    cr_assert_eq(rig_times(&rig, "SAVEPOINT"), 0, "there is no transaction");
}

Test(escalation, a_used_transaction_is_brought_back_rehearsed_and_held)
{
    in_used_transaction();
    is_too_many();
    rig_run(&rig, rig_query(&rig, DELETE));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE, "%s %s", rig_client(&rig), rig_server(&rig));
    cr_assert_not_null(strstr(rig_server(&rig), LIMITED BROUGHT_BACK), "%s", rig_server(&rig));
    cr_assert_not_null(strstr(rig.hold->effect.bytes, "\"deleted\":4"), "%s", rig.hold->effect.bytes);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    cr_assert_str_eq(rig_client(&rig), "E(55PW1)ZE");
}

Test(escalation, a_released_hold_runs_in_a_used_transaction)
{
    in_used_transaction();
    is_too_many();
    rig_run(&rig, rig_query(&rig, DELETE));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    rig_run(&rig, rig_query(&rig, "ROLLBACK"));
    in_used_transaction();
    rig.joined = HOLD_RELEASED;
    rig_run(&rig, rig_query(&rig, DELETE));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CLAIM, "%s", rig_client(&rig));
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_str_eq(rig_client(&rig), "CZT");
    cr_assert_eq(rig.status, 'T');
    rig_run(&rig, rig_query(&rig, "COMMIT"));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_FINISH);
    cr_assert_eq(rig.requests[0]->new_state, HOLD_EXECUTED);
}

Test(escalation, a_fresh_transaction_is_rehearsed_and_waits)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    is_too_many();
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, DELETE));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE, "%s", rig_client(&rig));
    cr_assert_not_null(strstr(rig.hold->effect.bytes, "\"deleted\":4"), "%s", rig.hold->effect.bytes);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    cr_assert(session_waiting(rig.session));
    cr_assert_eq(rig.status, 'I', "nothing is open while a person is asked");
}

Test(escalation, in_a_batch_with_more_behind_it_nothing_is_held)
{
    is_too_many();
    struct text delete = rig_extended(&rig, DELETE);
    delete.size -= 5; /* Sync */
    rig_run(&rig, rig_join(&rig, delete, rig_extended(&rig, INSERT)));
    cr_assert_str_eq(rig_client(&rig), "12nE(42501)ZI");
    cr_assert_eq(rig_asked(&rig), 0);
    cr_assert_eq(rig_times(&rig, "COMMIT"), 0);
}

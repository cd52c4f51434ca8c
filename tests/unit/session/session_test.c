/*
 * session_test.c - conversations: what reaches the server and the client, however the bytes come.
 */
#include "tests/unit/session/rig.h"

#include "proxy/wire/build.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define SELECT "SELECT id FROM shop.t"
#define INSERT "INSERT INTO shop.t VALUES ('a', 'b')"
#define UPDATE "UPDATE shop.t SET n = 'x' WHERE id > 'a'"
#define HELD "DELETE FROM shop.t WHERE id > 'a'"
#define REJECTED "DROP TABLE shop.t"

static struct rig rig;

static void begin(void) { rig_begin(&rig); }
static void end(void) { rig_end(&rig); }

TestSuite(session, .init = begin, .fini = end);

static void saw(const char *client, const char *server)
{
    cr_assert_str_eq(rig_client(&rig), client);
    if (server != NULL)
        cr_assert_str_eq(rig_server(&rig), server);
}

static const struct canned three_rows[] = {{.begins = "SELECT", .tag = "SELECT 3", .rows = 3}, {0}};
static const struct canned too_many[] = {{.begins = "UPDATE", .tag = "UPDATE 4", .rows = 4}, {0}};

/* The estimate of a limited write, and the settings of a hold, with their own Sync. */
#define ESTIMATE "CCP(SELECT)BECCCCP(EXPLAIN)BECCCCP(SELECT)BECCS"

/* --- relaying and rejecting --------------------------------------------------------------------- */

Test(session, relays_an_allowed_query)
{
    rig_run(&rig, rig_query(&rig, INSERT));
    saw("CZI", "Q(INSERT)");
    cr_assert_str_eq(buffer_string(&rig.audited), "allow 1;success 1;");
}

Test(session, replaces_a_rejected_query_by_one_that_fails)
{
    rig_run(&rig, rig_query(&rig, REJECTED));
    saw("E(42501)ZI", "X");
    cr_assert_str_eq(buffer_string(&rig.audited), "reject 1;");
}

Test(session, replaces_a_rejected_parse_and_lets_the_server_skip)
{
    rig_run(&rig, rig_join(&rig, rig_extended(&rig, REJECTED), rig_extended(&rig, INSERT)));
    const char *server = rig_server(&rig);
    cr_assert_eq(strncmp(server, "CX", 2), 0, "%s", server);
    cr_assert_null(strstr(server, "DROP"));
    saw("E(42501)ZI12nCZI", NULL);
}

Test(session, says_25P02_in_a_failed_transaction)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, REJECTED));
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, REJECTED));
    rig_run(&rig, rig_query(&rig, UPDATE));
    rig_run(&rig, rig_extended(&rig, HELD));
    saw("E(25P02)ZEE(25P02)ZEE(25P02)ZE", NULL);
}

Test(session, ends_when_a_poison_does_not_fail)
{
    rig.poison_succeeds = true;
    rig_run(&rig, rig_query(&rig, REJECTED));
    cr_assert(rig.closed);
    cr_assert_eq(rig.end, SESSION_END_INTERNAL);
}

Test(session, ends_at_an_answer_that_cannot_be)
{
    rig.parse_answers_wrongly = true;
    rig_run(&rig, rig_extended(&rig, UPDATE));
    cr_assert(rig.closed);
    cr_assert_eq(rig.end, SESSION_END_INTERNAL);
    saw("E(08P01)", "P(UPDATE)"); /* nothing was executed, and there was no Sync */
}

Test(session, relays_nothing_that_is_not_recorded)
{
    rig.audit_fails = true;
    static const char *const all[] = {INSERT, UPDATE, SELECT, REJECTED, "BEGIN"};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        rig_run(&rig, rig_query(&rig, all[i]));
        rig_run(&rig, rig_extended(&rig, all[i]));
    }
    cr_assert_null(strstr(rig_server(&rig), "Q("));
    cr_assert_not(rig.closed);
    const char *client = rig_client(&rig);
    size_t errors = 0;
    for (const char *at = client; (at = strstr(at, "E(58030)")) != NULL; at++)
        errors++;
    cr_assert_eq(errors, 2 * ARRAY_SIZE(all), "%s", client);
    cr_assert_null(strchr(client, 'C'));
}

Test(session, takes_nothing_after_terminate)
{
    const char terminate[] = {'X', 0, 0, 0, 4};
    rig_run(&rig, rig_join(&rig, (struct text){terminate, sizeof terminate}, rig_query(&rig, INSERT)));
    cr_assert(rig.closed);
    cr_assert_eq(rig.end, SESSION_END_CLIENT);
    saw("", "");
}

Test(session, ends_at_bytes_that_are_no_message)
{
    rig_run(&rig, TEXT("GET / HTTP/1.1"));
    cr_assert(rig.closed);
    cr_assert_eq(rig.end, SESSION_END_PROTOCOL);
}

/* --- limits ---------------------------------------------------------------------------------------- */

Test(session, commits_a_limited_update_after_looking)
{
    rig_run(&rig, rig_query(&rig, UPDATE));
    saw("CZI", ESTIMATE "CCCCP(UPDATE)BDES");
    cr_assert_str_eq(buffer_string(&rig.audited), "allow 1;success 1;");
}

Test(session, rolls_back_a_limited_update_that_changes_too_much)
{
    rig.canned = too_many;
    rig_run(&rig, rig_query(&rig, UPDATE));
    saw("E(54000)ZI", ESTIMATE "CCCCP(UPDATE)BDEXS");
    cr_assert_str_eq(buffer_string(&rig.audited), "allow 1;failure 1;");
}

Test(session, shows_rows_of_a_limited_update_only_when_it_is_accepted)
{
    static const struct canned three[] = {{.begins = "UPDATE", .tag = "UPDATE 3", .rows = 3}, {0}};
    rig.canned = three;
    rig_run(&rig, rig_extended(&rig, UPDATE " RETURNING id"));
    saw("12nDDDCZI", NULL);
    rig_forget(&rig);
    rig.canned = too_many;
    rig_run(&rig, rig_extended(&rig, UPDATE " RETURNING id"));
    saw("12nE(54000)ZI", NULL);
}

#define KEY_UPDATE "UPDATE shop.t SET id = 'x' WHERE id > 'a'"
#define COUNTERS "CCP(SELECT)BECC"

Test(session, counts_what_foreign_keys_change_before_it_commits)
{
    static const struct {
        int carried;
        const char *by_query, *server, *extended;
    } cases[] = {
        {2, "CZI", "S", "12nCZI"},
        {3, "E(54000)ZI", "XS", "12nE(54000)ZI"},
        {-1, "E(54000)ZI", "XS", "12nE(54000)ZI"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char server[200];
        rig.carried = 40; /* of the transaction before */
        rig.carried_at_once = cases[i].carried;
        rig_run(&rig, rig_query(&rig, KEY_UPDATE));
        snprintf(server, sizeof server, ESTIMATE COUNTERS "CCCCP(UPDATE)BDE" COUNTERS "%s",
                 cases[i].server);
        saw(cases[i].by_query, server);
        rig_forget(&rig);
        rig_run(&rig, rig_extended(&rig, KEY_UPDATE));
        saw(cases[i].extended, NULL);
        const char *audited = buffer_string(&rig.audited);
        cr_expect_not_null(strstr(audited, i == 0 ? "success" : "failure"), "case %zu: %s", i, audited);
        rig_forget(&rig);
    }
}

Test(session, an_error_of_the_counters_is_the_clients_and_nothing_is_committed)
{
    static const struct canned failing[] = {{.begins = "SELECT CASE", .error = "57014"}, {0}};
    rig.canned = failing;
    rig_run(&rig, rig_query(&rig, KEY_UPDATE));
    saw("E(57014)ZI", ESTIMATE COUNTERS "CCCCP(UPDATE)BDE" COUNTERS "S");
}

Test(session, drops_the_command_complete_when_the_commit_fails)
{
    rig.sync_fails = true;
    static const struct canned explain_only[] = {{0}};
    rig.canned = explain_only;
    rig_send(&rig, rig_query(&rig, UPDATE));
    rig_settle(&rig);
    const char *client = rig_client(&rig);
    cr_assert_null(strchr(client, 'C'), "%s", client);
    cr_assert_not_null(strstr(client, "E("));
}

Test(session, stops_a_select_beyond_its_limit)
{
    rig.canned = three_rows;
    rig_run(&rig, rig_query(&rig, SELECT));
    saw("TDDE(54000)ZI", "Q(SELECT)");
    cr_assert_eq(rig.cancels, 1);
    session_cancel_done(rig.session);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, SELECT));
    saw("CZTTDDE(54000)ZE", NULL);
    session_cancel_done(rig.session);
}

Test(session, a_stopped_select_keeps_what_is_before_it_from_being_committed)
{
    rig.canned = three_rows;
    struct text insert = rig_extended(&rig, INSERT);
    insert.size -= 5; /* without its Sync */
    rig_run(&rig, rig_join(&rig, insert, rig_extended(&rig, SELECT)));
    saw("12nC12nDDE(54000)ZI", NULL);
    const char *server = rig_server(&rig);
    cr_assert_not_null(strstr(server, "XS"), "the batch is made to fail: %s", server);
    session_cancel_done(rig.session);
}

Test(session, waits_for_a_cancel_before_it_judges_on)
{
    rig.canned = three_rows;
    rig_run(&rig, rig_query(&rig, SELECT));
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, INSERT));
    saw("", "");
    session_cancel_done(rig.session);
    rig_settle(&rig);
    saw("CZI", "Q(INSERT)");
}

/* --- holds ------------------------------------------------------------------------------------------ */

#define SNAPSHOT "CCP(SELECT)BECC"
#define REHEARSED SNAPSHOT SNAPSHOT "CCP(DELETE)BECCCCP(SET)BECC" SNAPSHOT "CCP(ROLLBACK)BECCS"
#define REHEARSAL "CCP(BEGIN)BECC" REHEARSED
#define RUN                                                                                           \
    "CCP(BEGIN)BECCCCP(SELECT)BECC" SNAPSHOT "CCP(DELETE)BDECCP(SET)BECC" SNAPSHOT "CCP(SELECT)BECC"
#define COMMIT "CCP(COMMIT)BECCS"

/* Rehearsed, and not run. */
static void only_rehearsed(void)
{
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), rig_times(&rig, "P(ROLLBACK)"), "%s", rig_server(&rig));
    cr_assert_eq(rig_times(&rig, "COMMIT"), 0);
}

/* Up to the waiting. */
static void hold(const char *sql)
{
    rig_run(&rig, rig_query(&rig, sql));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE);
    cr_assert_str_eq(rig_client(&rig), "", "the agent hears of a hold when it is stored");
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    cr_assert_str_eq(rig_client(&rig), "N");
    cr_assert(session_waiting(rig.session));
    cr_assert_eq(rig.timer_us, 10000000);
    cr_assert_eq(rig.watched, 17);
    cr_assert_eq(rig.waiting, 1);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_GET);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
}

static void is_over(void)
{
    cr_assert_not(session_waiting(rig.session));
    cr_assert_eq(rig.timer_us, 0);
    cr_assert_eq(rig.watched, 0);
    cr_assert_eq(rig.waiting, 0);
}

static enum hold_state finish_state(void)
{
    cr_assert_eq(rig_asked(&rig), HOLD_OP_FINISH);
    return rig.requests[0]->new_state;
}

Test(session, runs_a_released_hold_once_it_is_recorded)
{
    hold(HELD);
    cr_assert_str_eq(rig_server(&rig), ESTIMATE REHEARSAL);
    rig_hold_changed(&rig, HOLD_RELEASED);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CLAIM);
    cr_assert_str_eq(rig_server(&rig), ESTIMATE REHEARSAL, "not before it is claimed");
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_str_eq(rig_server(&rig), ESTIMATE REHEARSAL RUN);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_RUN);
    cr_assert(text_is(rig.requests[0]->xid, "7"));
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_str_eq(rig_server(&rig), ESTIMATE REHEARSAL RUN COMMIT);
    cr_assert_eq(finish_state(), HOLD_EXECUTED);
    cr_assert_str_eq(rig_client(&rig), "N", "no reply before the outcome is stored");
    rig_answer(&rig, HOLD_OK, HOLD_EXECUTED);
    saw("NCZI", NULL);
    is_over();
    cr_assert_str_eq(buffer_string(&rig.audited), "hold 1;success 1;");
}

Test(session, answers_a_refused_hold)
{
    hold(HELD);
    rig_hold_changed(&rig, HOLD_REFUSED);
    saw("NE(55PW2)ZI", NULL);
    is_over();
}

Test(session, answers_when_the_wait_is_over)
{
    hold(HELD);
    session_timer(rig.session);
    rig_settle(&rig);
    saw("NE(55PW1)ZI", NULL);
    is_over();
    rig_hold_changed(&rig, HOLD_RELEASED);
    cr_assert_eq(rig_asked(&rig), 0, "too late for this session");
}

Test(session, a_cancel_ends_the_waiting)
{
    hold(HELD);
    cr_assert_not(session_cancel_requested(rig.session));
    rig_settle(&rig);
    saw("NE(57014)ZI", NULL);
    is_over();
    cr_assert_eq(rig.cancels, 0);
}

Test(session, takes_nothing_while_it_waits)
{
    hold(HELD);
    rig_run(&rig, rig_query(&rig, INSERT));
    cr_assert_null(strstr(rig_server(&rig), "INSERT"));
    session_timer(rig.session);
    rig_settle(&rig);
    saw("NE(55PW1)ZICZI", NULL);
}

Test(session, does_not_wait_where_no_more_may_wait)
{
    rig.waiting_refused = true;
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    saw("E(55PW1)ZI", NULL);
    is_over();
}

Test(session, without_a_store_nothing_is_held)
{
    rig.has_no_store = true;
    rig_run(&rig, rig_query(&rig, HELD));
    rig_run(&rig, rig_extended(&rig, HELD));
    saw("E(58030)ZI12nE(58030)ZI", NULL);
    cr_assert_eq(rig_times(&rig, "COMMIT"), 0);
}

Test(session, an_error_of_the_rehearsal_is_the_clients_and_nobody_is_asked)
{
    static const struct canned failing[] = {{.begins = "DELETE", .error = "23503"}, {0}};
    rig.canned = failing;
    rig_run(&rig, rig_query(&rig, HELD));
    saw("E(23503)ZI", NULL);
    cr_assert_eq(rig_asked(&rig), 0);
    cr_assert_eq(rig_times(&rig, "COMMIT"), 0);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, HELD));
    saw("CZTE(23503)ZE", NULL);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "ROLLBACK"));
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, INSERT));
    rig_run(&rig, rig_query(&rig, HELD));
    saw("CZICZTCZTE(23503)ZE", NULL);
    cr_assert_eq(rig_asked(&rig), 0);
}

Test(session, what_changes_nothing_needs_nobody)
{
    static const struct canned nothing[] = {{.begins = "DELETE", .tag = "DELETE 0"}, {0}};
    rig.canned = nothing;
    rig_run(&rig, rig_query(&rig, HELD));
    saw("CZI", NULL);
    cr_assert_eq(rig_asked(&rig), 0);
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), 2, "%s", rig_server(&rig));
    rig_forget(&rig);
    rig_run(&rig, rig_extended(&rig, HELD));
    saw("12nCZI", NULL);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, HELD));
    saw("CZTCZT", NULL);
    cr_assert_eq(rig.status, 'T');
}

Test(session, a_drift_commits_nothing_and_is_held_again)
{
    hold(HELD);
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig.deleted_at_once = 2;
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE);
    cr_assert_eq(rig.requests[0]->replaces, 17);
    cr_assert(text_is(rig.requests[0]->error, "shop.t 1 deleted, now 2 deleted"));
    only_rehearsed();
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    saw("NE(55PW3)ZI", NULL);
    is_over();
}

Test(session, a_drift_in_the_clients_transaction_fails_it)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_forget(&rig);
    hold(HELD);
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig.deleted_at_once = 2;
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    saw("NE(55PW3)ZE", NULL);
    cr_assert_eq(rig_times(&rig, "COMMIT"), 0);
}

Test(session, a_hold_that_cannot_be_stored_is_an_error)
{
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_STORE_FAILED, HOLD_NONE);
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_TOO_MANY, HOLD_NONE);
    saw("E(58030)ZIE(53400)ZI", NULL);
}

Test(session, a_claim_that_fails_runs_nothing)
{
    hold(HELD);
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_STORE_FAILED, HOLD_NONE);
    saw("NE(58030)ZI", NULL);
    only_rehearsed();
    rig_forget(&rig);
    hold(HELD);
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_WRONG_STATE, HOLD_EXECUTED);
    saw("NE(55PW5)ZI", NULL);
    only_rehearsed();
}

static void run_up_to_record(void)
{
    hold(HELD);
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
}

Test(session, a_run_that_cannot_be_recorded_is_rolled_back)
{
    run_up_to_record();
    rig_answer(&rig, HOLD_STORE_FAILED, HOLD_NONE);
    cr_assert_null(strstr(rig_server(&rig), "COMMIT"));
    cr_assert_eq(rig_times(&rig, "P(ROLLBACK)"), 2, "of the rehearsal and of the run");
    cr_assert_eq(finish_state(), HOLD_FAILED);
    rig_answer(&rig, HOLD_STORE_FAILED, HOLD_NONE);
    saw("NE(58030)ZI", NULL);
}

Test(session, an_outcome_that_cannot_be_stored_is_true_all_the_same)
{
    run_up_to_record();
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(finish_state(), HOLD_EXECUTED);
    rig_answer(&rig, HOLD_STORE_FAILED, HOLD_NONE);
    saw("NCZI", NULL);
}

Test(session, an_error_of_the_run_is_the_clients)
{
    static const struct canned failing[] = {{.begins = "DELETE", .error = "23503"}, {0}};
    hold(HELD);
    rig.canned = failing;
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(finish_state(), HOLD_FAILED);
    rig_answer(&rig, HOLD_OK, HOLD_FAILED);
    saw("NE(23503)ZI", NULL);
    cr_assert_null(strstr(rig_server(&rig), "COMMIT"));
}

Test(session, an_error_at_commit_is_the_clients)
{
    static const struct canned failing[] = {{.begins = "COMMIT", .error = "40001"}, {0}};
    run_up_to_record();
    rig.canned = failing;
    rig_send(&rig, TEXT(""));
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig.status = 'I';
    cr_assert_eq(finish_state(), HOLD_FAILED);
    rig_answer(&rig, HOLD_OK, HOLD_FAILED);
    const char *client = rig_client(&rig);
    cr_assert_eq(strncmp(client, "NE(40001)Z", 10), 0, "%s", client);
}

Test(session, judges_again_before_the_run)
{
    hold(HELD);
    rig.policy.rule_count = 3;
    rig.generation++;
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(finish_state(), HOLD_RELEASED, "the claim is given back");
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
    saw("NE(42501)ZI", NULL);
    only_rehearsed();
}

/* EXECUTE pgwicket_hold(17), up to its waiting. */
static void wait_for_stored(void)
{
    hold(HELD);
    session_timer(rig.session);
    rig_settle(&rig);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "EXECUTE pgwicket_hold(17)"));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_GET);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    cr_assert(session_waiting(rig.session));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
}

Test(session, a_stored_hold_is_judged_again_before_the_run)
{
    wait_for_stored();
    rig.policy.rule_count = 3;
    rig.generation++;
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_eq(finish_state(), HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
    saw("NE(42501)ZI", NULL);
    only_rehearsed();
}

Test(session, a_stored_hold_runs_its_own_text)
{
    wait_for_stored();
    rig.generation++; /* another policy that holds it, too */
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_EXECUTED);
    saw("NCZI", "CCP(SELECT)BECCS" RUN COMMIT "S"); /* the settings that it is bound to come first */
}

Test(session, leaves_a_fresh_transaction_while_it_waits)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, "SAVEPOINT a"));
    rig_forget(&rig);
    hold(HELD);
    cr_assert_eq(rig.status, 'I', "nothing is open while a person thinks");
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    const char *server = rig_server(&rig);
    cr_assert_not_null(strstr(server, "P(ROLLBACK)BECCSCCP(BEGIN)BECCCCP(SAVEPOINT)BECC"), "%s", server);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    saw("NCZT", NULL);
    cr_assert_eq(rig_asked(&rig), 0, "its COMMIT decides");
    rig_run(&rig, rig_query(&rig, "ROLLBACK"));
    cr_assert_eq(finish_state(), HOLD_RELEASED, "given back");
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
    is_over();
}

Test(session, a_fresh_transaction_is_there_again_when_the_wait_ends)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_forget(&rig);
    hold(HELD);
    session_timer(rig.session);
    rig_settle(&rig);
    saw("NE(55PW1)ZE", NULL);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "ROLLBACK"));
    saw("CZI", NULL);
}

Test(session, a_transaction_that_did_something_does_not_wait)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, INSERT));
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    saw("E(55PW1)ZE", NULL);
    cr_assert_null(strstr(rig_server(&rig), "P(ROLLBACK)BECCSC"), "%s", rig_server(&rig));
}

Test(session, a_hold_behind_other_work_of_its_batch_is_refused)
{
    struct text insert = rig_extended(&rig, INSERT);
    insert.size -= 5;
    rig_run(&rig, rig_join(&rig, insert, rig_extended(&rig, HELD)));
    saw("12nC12nE(42501)ZI", NULL);
    rig_forget(&rig);
    rig_run(&rig, rig_join(&rig, insert, rig_query(&rig, HELD)));
    saw("12nCE(42501)ZI", NULL);
    cr_assert_eq(rig_asked(&rig), 0);
}

Test(session, begin_may_be_glued_to_a_held_statement)
{
    struct text glued = rig_extended(&rig, "BEGIN");
    glued.size -= 5;
    rig_run(&rig, rig_join(&rig, glued, rig_extended(&rig, HELD)));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE, "%s %s", rig_client(&rig), rig_server(&rig));
    rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    saw("12nC12nCZT", NULL);
    rig_run(&rig, rig_query(&rig, "COMMIT"));
    cr_assert_eq(finish_state(), HOLD_EXECUTED);
    rig_answer(&rig, HOLD_OK, HOLD_EXECUTED);
}

/* --- the ends ------------------------------------------------------------------------------------------ */

/* Goes `steps` steps of a hold's life. */
static void go(int steps)
{
    rig_run(&rig, rig_query(&rig, HELD));
    if (steps > 0)
        rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    if (steps > 1)
        rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    if (steps > 2)
        rig_hold_changed(&rig, HOLD_RELEASED);
    for (int i = 3; i < steps; i++)
        rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
}

Test(session, a_client_that_goes_ends_the_waiting_and_not_the_run)
{
    for (int steps = 0; steps < 6; steps++) {
        go(steps);
        session_client_gone(rig.session);
        rig_settle(&rig);
        bool runs = steps > 2;
        cr_assert_eq(rig.closed, !runs, "step %d", steps);
        for (int i = 0; runs && !rig.closed && i < 5; i++)
            rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
        cr_assert(rig.closed, "step %d", steps);
        cr_assert_eq(runs, strstr(rig_server(&rig), "P(COMMIT)") != NULL, "step %d", steps);
        rig_end(&rig);
        rig_begin(&rig);
    }
}

Test(session, a_server_that_goes_leaves_the_hold_released_or_to_be_asked_for)
{
    for (int steps = 0; steps < 6; steps++) {
        go(steps);
        size_t before = rig.request_count;
        bool committing = strstr(rig_server(&rig), "P(COMMIT)") != NULL;
        session_server_gone(rig.session);
        cr_assert(rig.closed);
        session_free(rig.session);
        rig.session = NULL;
        bool claimed = steps > 2 && !committing;
        cr_assert_eq(rig.request_count - before, claimed ? 1u : 0u, "step %d", steps);
        if (claimed)
            cr_assert_eq(rig.requests[rig.request_count - 1]->new_state, HOLD_RELEASED, "step %d", steps);
        rig_end(&rig);
        rig_begin(&rig);
    }
}

Test(session, a_shutdown_waits_for_a_transaction)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    session_shutdown(rig.session);
    cr_assert_not(rig.closed);
    rig_run(&rig, rig_query(&rig, "COMMIT"));
    cr_assert(rig.closed);
    saw("CZTCZIE(57P01)", NULL);
}

/* --- however the bytes come ------------------------------------------------------------------------------ */

static void mask_prefix(struct buffer *log)
{
    static const char known[] = "pgwicket_";
    for (size_t i = 0; i + sizeof known + 7 < log->size; i++)
        if (memcmp(log->bytes + i, known, sizeof known - 1) == 0 && log->bytes[i + 9] != ':')
            memset(log->bytes + i + 9, '0', 8);
}

struct outcome_seen {
    struct text client, server, audited;
};

static struct outcome_seen play(struct arena *arena, struct text script, size_t piece, size_t cut)
{
    rig_begin(&rig);
    rig_send_cut(&rig, script, piece, cut);
    rig_settle(&rig);
    mask_prefix(&rig.to_server);
    struct outcome_seen seen = {arena_text(arena, buffer_text(&rig.to_client)),
                                arena_text(arena, buffer_text(&rig.to_server)),
                                arena_text(arena, buffer_text(&rig.audited))};
    rig_end(&rig);
    return seen;
}

static void same_in_every_cut(const char *first, const char *second, bool extended)
{
    struct arena arena;
    arena_init(&arena);
    struct text script = arena_text(
        &arena, rig_join(&rig, extended ? rig_extended(&rig, first) : rig_query(&rig, first),
                         extended ? rig_extended(&rig, second) : rig_query(&rig, second)));
    rig_end(&rig);
    struct outcome_seen whole = play(&arena, script, script.size, 0);
    for (size_t cut = 0; cut <= script.size; cut++) {
        struct outcome_seen seen = play(&arena, script, cut == 0 ? 1 : 0, cut);
        cr_assert(text_equal(seen.client, whole.client), "%s: cut at %zu", first, cut);
        cr_assert(text_equal(seen.server, whole.server), "%s: cut at %zu", first, cut);
        cr_assert(text_equal(seen.audited, whole.audited), "%s: cut at %zu", first, cut);
    }
    arena_release(&arena);
    rig_begin(&rig);
}

Test(session, does_the_same_in_every_cut_of_queries)
{
    static const char *const all[] = {INSERT, REJECTED, UPDATE, SELECT, HELD, "BEGIN", "SELECT", ""};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        same_in_every_cut(all[i], UPDATE, false);
}

Test(session, does_the_same_in_every_cut_of_extended_messages)
{
    static const char *const all[] = {INSERT, REJECTED, UPDATE, SELECT, HELD, "BEGIN", "SELECT", ""};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        same_in_every_cut(all[i], UPDATE, true);
}

static const struct {
    const char *sql;
    bool extended;
    const char *told;
    int judged, sent, estimated;
} measured_cases[] = {
    {SELECT, false, "", 1, 1, 0},
    {SELECT, true, "", 1, 1, 0},
    {"SELECT nope FROM shop.u", false, "42501;", 1, 0, 0},
    {"SELEC", true, "42601;", 1, 0, 0},
    {UPDATE, false, "", 1, 1, 1},
    {UPDATE, true, "", 1, 1, 1},
};

Test(session, each_statement_is_measured_once_and_each_error_told_once)
{
    for (size_t i = 0; i < ARRAY_SIZE(measured_cases); i++) {
        const char *sql = measured_cases[i].sql;
        rig_run(&rig, measured_cases[i].extended ? rig_extended(&rig, sql) : rig_query(&rig, sql));
        cr_expect_str_eq(buffer_string(&rig.told), measured_cases[i].told, "%s: %s", sql,
                         buffer_string(&rig.told));
        cr_expect_eq(rig.measured[MEASURE_JUDGE], measured_cases[i].judged, "%s", sql);
        cr_expect_eq(rig.measured[MEASURE_OVERHEAD], measured_cases[i].sent, "%s", sql);
        cr_expect_eq(rig.measured[MEASURE_EXPLAIN], measured_cases[i].estimated, "%s", sql);
        rig_end(&rig);
        rig_begin(&rig);
    }
}

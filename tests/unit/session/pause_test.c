/*
 * pause_test.c - a pause: what a session is told, and that nothing of an open transaction goes on.
 */
#include "tests/unit/session/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#define SELECT "SELECT id FROM shop.t"
#define INSERT "INSERT INTO shop.t VALUES ('a', 'b')"
#define UPDATE "UPDATE shop.t SET n = 'x' WHERE id > 'a'"
#define HELD "DELETE FROM shop.t WHERE id > 'a'"

static struct rig rig;

static void begin(void) { rig_begin(&rig); }
static void end(void) { rig_end(&rig); }

TestSuite(pause, .init = begin, .fini = end);

static void saw(const char *client, const char *server)
{
    cr_assert_str_eq(rig_client(&rig), client);
    if (server != NULL)
        cr_assert_str_eq(rig_server(&rig), server);
}

/* A held statement, until a person is waited for. */
static void wait_for_person(void)
{
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    cr_assert(session_waiting(rig.session));
}

static void pause_agent(void)
{
    rig.paused = true;
    session_paused(rig.session);
    rig_settle(&rig);
}

Test(pause, is_told_to_an_idle_session_by_its_next_message)
{
    pause_agent();
    saw("", "");
    rig_run(&rig, rig_query(&rig, INSERT));
    rig_run(&rig, rig_extended(&rig, INSERT));
    saw("E(55PW4)ZIE(55PW4)ZI", "XCXXDXS");
    cr_assert_not(rig.closed);
    rig.paused = false;
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, INSERT));
    saw("CZI", "Q(INSERT)");
}

/* Also one that is resumed before the client has said anything: it must not go on outside of it. */
Test(pause, ends_an_open_transaction_and_says_so)
{
    static const char *const next[] = {INSERT, "COMMIT", "ROLLBACK", SELECT};
    for (size_t i = 0; i < 4 * ARRAY_SIZE(next); i++) {
        bool resumed = i % 2 == 0, extended = i / 2 % 2 == 0;
        const char *sql = next[i / 4];
        rig_run(&rig, rig_query(&rig, "BEGIN"));
        rig_run(&rig, rig_query(&rig, UPDATE));
        rig_forget(&rig);
        pause_agent();
        saw("", "CCP(ROLLBACK)BECCS");
        cr_assert_eq(rig.status, 'I');
        rig.paused = !resumed;
        rig_forget(&rig);
        rig_run(&rig, extended ? rig_extended(&rig, sql) : rig_query(&rig, sql));
        saw("E(55PW4)ZI", NULL);
        cr_assert_null(strstr(rig_server(&rig), "Q("), "%s", rig_server(&rig));
        rig.paused = false;
        rig_forget(&rig);
        rig_run(&rig, rig_query(&rig, INSERT));
        saw("CZI", "Q(INSERT)");
        rig_end(&rig);
        rig_begin(&rig);
    }
}

Test(pause, ends_the_waiting_and_not_the_hold)
{
    wait_for_person();
    pause_agent();
    saw("NE(55PW4)ZI", NULL);
    cr_assert_not(rig.closed);
    cr_assert_eq(rig.waiting, 0);
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "EXECUTE pgwicket_hold(17)"));
    saw("E(55PW4)ZI", NULL);
}

Test(pause, does_not_begin_a_left_transaction_again)
{
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_forget(&rig);
    wait_for_person();
    pause_agent();
    saw("NE(55PW4)ZI", NULL);
    cr_assert_eq(rig.status, 'I');
}

Test(pause, cancels_what_runs)
{
    rig_send(&rig, rig_query(&rig, SELECT));
    session_paused(rig.session);
    saw("E(55PW4)", NULL);
    cr_assert_eq(rig.cancels, 1);
    cr_assert_eq(rig.end, SESSION_END_ADMIN);
}

/*
 * join_test.c - a statement that is held already is not rehearsed again; nor is one beyond its agent's rehearsals.
 */
#include "tests/unit/session/rig.h"

#include "proxy/wire/build.h"

#include <criterion/criterion.h>
#include <string.h>

#define INSERT "INSERT INTO shop.t VALUES ('a', 'b')"
#define HELD "DELETE FROM shop.t WHERE id > 'a'"

static struct rig rig;

static void begin(void) { rig_begin(&rig); }
static void end(void) { rig_end(&rig); }

TestSuite(join, .init = begin, .fini = end);

/* Up to 55PW1; what has passed is forgotten. */
static void hold_and_give_up(void)
{
    rig_run(&rig, rig_query(&rig, HELD));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    session_timer(rig.session);
    rig_settle(&rig);
    rig_forget(&rig);
}

Test(join, the_same_statement_joins_its_hold_without_a_rehearsal)
{
    hold_and_give_up();
    rig.joined = HOLD_PENDING;
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_str_eq(rig_client(&rig), "N");
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), 0, "%s", rig_server(&rig));
    cr_assert(session_waiting(rig.session));
    rig_answer(&rig, HOLD_OK, HOLD_PENDING);
    rig_hold_changed(&rig, HOLD_RELEASED);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_EXECUTED);
    cr_assert_str_eq(rig_client(&rig), "NCZI");
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), 1);
    cr_assert_eq(rig.rehearsals, 1);
}

Test(join, the_same_statement_runs_a_released_hold_without_a_rehearsal)
{
    static const char *const befores[] = {"BEGIN", INSERT};
    hold_and_give_up();
    rig.joined = HOLD_RELEASED;
    for (size_t i = 0; i < ARRAY_SIZE(befores); i++)
        rig_run(&rig, rig_query(&rig, befores[i]));
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CLAIM);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
    cr_assert_str_eq(rig_client(&rig), "CZT");
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), 1, "%s", rig_server(&rig));
}

Test(join, a_hold_that_runs_is_not_rehearsed_again)
{
    hold_and_give_up();
    rig.joined = HOLD_RUNNING;
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_str_eq(rig_client(&rig), "E(55PW5)ZI");
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), 0);
}

Test(join, beyond_its_rehearsals_of_a_minute_nothing_is_run_and_nobody_asked)
{
    rig.rehearsal_wait_us = 12000001;
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_str_eq(rig_client(&rig), "E(53400)ZI");
    cr_assert_not_null(strstr(rig_told(&rig), "Try again in 13 seconds"), "%s", rig_told(&rig));
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, "BEGIN"));
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_str_eq(rig_client(&rig), "CZTE(53400)ZE");
    cr_assert_eq(rig_times(&rig, "P(DELETE)"), 0);
    cr_assert_eq(rig_asked(&rig), 0);
    rig_run(&rig, rig_query(&rig, "ROLLBACK"));
    rig.rehearsal_wait_us = 0;
    rig_forget(&rig);
    rig_run(&rig, rig_query(&rig, HELD));
    cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE);
}

/* As a binary point, whose form is not read. */
static struct text with_a_value_that_cannot_be_shown(void)
{
    static const uint8_t type[] = {0, 0, 2, 88};
    static const char rest[] = "\0\1\0\1\0\1\0\0\0\1x\0"; /* one format, one value, text results */
    struct buffer out;
    buffer_init(&out, 200);
    build_parse(&out, TEXT(""), TEXT("DELETE FROM shop.t WHERE id > $1"), type, 1);
    build_bind(&out, TEXT(""), TEXT(""), (struct text){rest, sizeof rest});
    build_execute(&out, TEXT(""), 0);
    build_sync(&out);
    struct text bytes = arena_text(&rig.arena, buffer_text(&out));
    buffer_release(&out);
    return bytes;
}

Test(join, a_value_that_cannot_be_shown_is_refused_in_words)
{
    rig_run(&rig, with_a_value_that_cannot_be_shown());
    cr_assert_str_eq(rig_client(&rig), "12E(42501)ZI");
    cr_assert_str_eq(rig_told(&rig), "pgwicket: parameter 1 cannot be shown to an approver; send it as text; "
                                     "nothing was run");
    cr_assert_eq(rig_asked(&rig), 0);
}

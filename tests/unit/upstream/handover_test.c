/* handover_test.c - what may and may not come between the login and the session. */
#include "unit/upstream/fake_server.h"
#include "unit/upstream/support.h"

#include <criterion/criterion.h>
#include <string.h>

#define READY  "Z\0\0\0\5I"
#define NOTICE "N\0\0\0\x18SNOTICE\0C00000\0Mhi\0\0"
#define NOTIFY "A\0\0\0\x0b\0\0\0\1c\0\0"

static struct upstream_login *start(struct fake_server *server)
{
    char problem[256] = "";
    fake_server_start(server);
    struct upstream_login *login =
        upstream_login_start(server->connection_string, NULL, 0, problem, sizeof problem);
    cr_assert_not_null(login, "%s", problem);
    return login;
}

Test(handover, takes_over_after_whole_messages)
{
    const struct {
        struct text after_login, after_sync;
    } cases[] = {
        {TEXT(""), TEXT(READY)},
        {TEXT(NOTICE), TEXT(READY)},
        {TEXT(NOTIFY NOTICE), TEXT(READY)},
        {TEXT(""), TEXT(NOTICE NOTIFY READY)},
        {TEXT(NOTICE), TEXT(NOTICE READY)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct fake_server server = {.after_login = cases[i].after_login,
                                     .after_sync = cases[i].after_sync};
        struct upstream_login *login = start(&server);
        cr_assert_eq(finish_login(login), UPSTREAM_DONE, "case %zu", i);
        upstream_session_close(upstream_login_take(login));
        fake_server_finish(&server);
    }
}

Test(handover, refuses_a_stream_that_begins_inside_a_message)
{
    const struct {
        struct text after_login, after_sync;
    } cases[] = {
        /* One message, cut at several places between what libpq reads and what is left. */
        {TEXT("N"), TEXT("\0\0\0\x18SNOTICE\0C00000\0Mhi\0\0" READY)},
        {TEXT("N\0\0\0\x18S"), TEXT("NOTICE\0C00000\0Mhi\0\0" READY)},
        {TEXT("N\0\0\0\x18SNOTICE\0C00000\0Mh"), TEXT("i\0\0" READY)},
        {TEXT("N\0\0\0\x18SNOTICE\0C00000\0Mhi"), TEXT("\0\0" READY)},
        {TEXT("N\0\0\0\x18SNOTICE\0C00000\0Mhi\0"), TEXT("\0" READY)},
        /* What is left begins with a type, and two zero bytes. */
        {TEXT("A\0\0\0\x0b\0\0\0\1"), TEXT("A\0\0" READY)},
        {TEXT("S\0\0\0\x0b"
              "ab\0cd"),
         TEXT("S\0" READY)},
        {TEXT("A\0\0\0\x0b\0\0\0\1"), TEXT("N\0\0" NOTIFY READY)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct fake_server server = {.after_login = cases[i].after_login,
                                     .after_sync = cases[i].after_sync};
        struct upstream_login *login = start(&server);
        cr_assert_eq(finish_login(login), UPSTREAM_FAILED, "case %zu", i);
        cr_expect_str_eq(upstream_login_error(login)->sqlstate, "08P01");
        cr_expect_not(upstream_login_error(login)->from_server);
        upstream_login_free(login);
        fake_server_finish(&server);
    }
}

Test(handover, refuses_answers_that_make_no_sense)
{
    const struct text cases[] = {
        TEXT("Z\0\0\0\5T"),
        TEXT("Z\0\0\0\5E"),
        TEXT("Z\0\0\0\6I\0"),
        TEXT("Z\0\0\0\4"),
        TEXT("D\0\0\0\6\0\0"),
        TEXT("Z\0\0\0\0I"),
        TEXT("Z\xff\xff\xff\xffI"),
        TEXT("S\0\0\0\7abc"),
        TEXT("E\0\0\0\5S"),
        TEXT("E\0\0\0\5\0"),
        TEXT("N\0\1\0\0"),
        TEXT("S\0\0\0\x0b"
             "ab\0cd\0x"),
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct fake_server server = {.after_login = TEXT(""), .after_sync = cases[i]};
        struct upstream_login *login = start(&server);
        cr_assert_eq(finish_login(login), UPSTREAM_FAILED, "case %zu", i);
        cr_expect_str_eq(upstream_login_error(login)->sqlstate, "08P01", "case %zu", i);
        upstream_login_free(login);
        fake_server_finish(&server);
    }
}

Test(handover, follows_a_parameter_that_changes_at_the_last_moment)
{
    struct fake_server server = {
        .after_login = TEXT("S\0\0\0\x19"
                            "client_encoding\0"
                            "LATI\0"),
        .after_sync = TEXT("S\0\0\0\x19"
                           "client_encoding\0"
                           "SJIS\0"
                           "S\0\0\0\x12"
                           "work_mem\0"
                           "64MB\0" READY),
    };
    struct upstream_login *login = start(&server);
    cr_assert_eq(finish_login(login), UPSTREAM_DONE);
    struct upstream_session *session = upstream_login_take(login);
    cr_expect(text_is(upstream_session_parameter(session, "client_encoding"), "SJIS"));
    cr_expect(text_is(upstream_session_parameter(session, "work_mem"), "64MB"));
    cr_expect_eq(session->backend_pid, 9);
    upstream_session_close(session);
    fake_server_finish(&server);
}

Test(handover, passes_on_that_the_server_shuts_down)
{
    struct fake_server server = {
        .after_login = TEXT(""),
        .after_sync = TEXT("E\0\0\0\x20SFATAL\0C57P01\0Mterminating\0\0"),
    };
    struct upstream_login *login = start(&server);
    cr_assert_eq(finish_login(login), UPSTREAM_FAILED);
    cr_expect(upstream_login_error(login)->from_server);
    cr_expect_str_eq(upstream_login_error(login)->sqlstate, "57P01");
    cr_expect_str_eq(upstream_login_error(login)->message, "terminating");
    upstream_login_free(login);
    fake_server_finish(&server);
}

Test(handover, closing_sends_nothing)
{
    struct fake_server server = {.after_login = TEXT(""), .after_sync = TEXT(READY)};
    struct upstream_login *login = start(&server);
    cr_assert_eq(finish_login(login), UPSTREAM_DONE);
    struct upstream_session *session = upstream_login_take(login);
    raw_write(session, "Q\0\0\0\x20half", 9);
    upstream_session_close(session);
    fake_server_finish(&server);
    cr_expect_eq(server.received_size, 5 + 9);
    cr_expect_arr_eq(server.received, "S\0\0\0\4Q\0\0\0\x20half", 5 + 9);
}

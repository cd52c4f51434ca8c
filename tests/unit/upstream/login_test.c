/* login_test.c - logins to a real server: what is handed over, what is sent, how they fail. */
#include "unit/upstream/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const modes[] = {"sslmode=disable", "sslmode=require"};

Test(login, hands_over_a_connection_that_works_bare)
{
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        struct upstream_session *session = log_in(with(agent_string(), modes[i]), NULL, 0);
        cr_expect_eq(session->ssl != NULL, i == 1);
        cr_expect_str_eq(raw_value(session, "SELECT 6 * 7"), "42");
        char pid[32];
        snprintf(pid, sizeof pid, "%d", session->backend_pid);
        cr_expect_str_eq(raw_value(session, "SELECT pg_backend_pid()"), pid);
        cr_expect_str_eq(raw_value(session, "SELECT ssl FROM pg_stat_ssl WHERE pid = "
                                            "pg_backend_pid()"),
                         i == 1 ? "t" : "f");
        upstream_session_close(session);
    }
}

Test(login, carries_results_larger_than_every_buffer)
{
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        struct upstream_session *session = log_in(with(agent_string(), modes[i]), NULL, 0);
        struct buffer body;
        buffer_init(&body, 65536);
        raw_query(session, "SELECT repeat('x', 10000) FROM generate_series(1, 500)");
        size_t rows = 0;
        for (char type; (type = raw_message(session, &body)) != 'Z';) {
            rows += type == 'D';
            if (type == 'D')
                cr_assert_eq(body.size, 10006);
        }
        cr_expect_eq(rows, 500);
        buffer_release(&body);
        upstream_session_close(session);
    }
}

Test(login, lists_the_parameters_that_the_server_reported)
{
    const struct upstream_parameter settings[] = {
        {TEXT("application_name"), TEXT("a \"quoted\" name")},
        {TEXT("TimeZone"), TEXT("Europe/Berlin")},
    };
    static const struct {
        const char *name, *value;
    } expected[] = {
        {"application_name", "a \"quoted\" name"},
        {"TimeZone", "Europe/Berlin"},
        {"client_encoding", "UTF8"},
        {"server_encoding", "UTF8"},
        {"standard_conforming_strings", "on"},
        {"is_superuser", "off"},
        {"session_authorization", "agent"},
        {"integer_datetimes", "on"},
        {"work_mem", ""},
    };
    struct upstream_session *session = log_in(agent_string(), settings, ARRAY_SIZE(settings));
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        cr_expect(text_is(upstream_session_parameter(session, expected[i].name), expected[i].value),
                  "%s", expected[i].name);
    cr_expect_geq(session->parameter_count, 13);
    cr_expect_geq(session->server_version, 140000);
    cr_expect_not(text_equal(upstream_session_parameter(session, "server_version"), TEXT("")));
    upstream_session_close(session);
}

Test(login, sends_any_value_as_it_is)
{
    static const char *const values[] = {
        "",
        "plain",
        "two words",
        "tab\there",
        "back\\slash",
        "\\",
        "'q'",
        "\"q\"",
        " edges ",
        "a=b",
        "-c x=y",
        "$user, public",
        "line\nfeed",
        "\xc3\xa9\xc2\xa0\xe2\x80\xa8",
        "a\\ b\\\\ c",
    };
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        const struct upstream_parameter settings[] = {
            {TEXT("app.first"), text_from(values[i])},
            {TEXT("app.second"), TEXT("still here")},
        };
        struct upstream_session *session = log_in(agent_string(), settings, 2);
        cr_expect_str_eq(raw_value(session, "SHOW app.first"), values[i]);
        cr_expect_str_eq(raw_value(session, "SHOW app.second"), "still here");
        upstream_session_close(session);
    }
}

Test(login, settings_survive_reset_and_win_over_the_connection_string)
{
    const struct upstream_parameter settings[] = {
        {TEXT("statement_timeout"), TEXT("30s")},
        {TEXT("search_path"), TEXT("")},
        {TEXT("client_encoding"), TEXT("UTF8")},
    };
    const char *string =
        with(agent_string(), "options='-c statement_timeout=1h -c lock_timeout=7s' "
                             "client_encoding=LATIN1");
    struct upstream_session *session = log_in(string, settings, ARRAY_SIZE(settings));
    raw_value(session, "SET statement_timeout = 5");
    raw_value(session, "SET search_path = public");
    raw_value(session, "RESET ALL");
    cr_expect_str_eq(raw_value(session, "SHOW statement_timeout"), "30s");
    cr_expect_str_eq(raw_value(session, "SHOW search_path"), "");
    cr_expect_str_eq(raw_value(session, "SHOW lock_timeout"), "7s");
    cr_expect_str_eq(raw_value(session, "SHOW client_encoding"), "UTF8");
    upstream_session_close(session);
}

/* --- failures ------------------------------------------------------------------------------- */

static struct upstream_error failure_of(const char *connection_string,
                                        const struct upstream_parameter *settings, size_t count)
{
    char problem[256] = "";
    struct upstream_login *login =
        upstream_login_start(connection_string, settings, count, problem, sizeof problem);
    cr_assert_not_null(login, "%s", problem);
    cr_assert_eq(finish_login(login), UPSTREAM_FAILED);
    cr_expect_eq(upstream_login_poll(login), UPSTREAM_FAILED);
    struct upstream_error error = *upstream_login_error(login);
    upstream_login_free(login);
    return error;
}

Test(login, passes_the_servers_own_error_on)
{
    struct upstream_error error = failure_of(with(agent_string(), "dbname=nowhere"), NULL, 0);
    cr_expect(error.from_server);
    cr_expect_str_eq(error.sqlstate, "3D000");
    cr_expect_str_eq(error.message, "database \"nowhere\" does not exist");

    const struct upstream_parameter unknown = {TEXT("no_such_setting"), TEXT("1")};
    error = failure_of(agent_string(), &unknown, 1);
    cr_expect(error.from_server);
    cr_expect_str_eq(error.sqlstate, "42704");
    cr_expect_str_eq(error.message, "unrecognized configuration parameter \"no_such_setting\"");
}

Test(login, keeps_a_wrong_password_to_the_log)
{
    struct upstream_error error =
        failure_of(with(agent_string(), "password=not-the-password"), NULL, 0);
    cr_expect_not(error.from_server);
    cr_expect_str_eq(error.sqlstate, "57P03");
    cr_expect_null(strstr(error.message, "agent"));
    cr_expect_not_null(strstr(error.detail, "28P01"));
    cr_expect_null(strstr(error.detail, "not-the-password"));
    cr_expect_null(strchr(error.detail, '\n'));
}

Test(login, reports_a_server_that_cannot_be_reached)
{
    static const char *const nowhere[] = {
        "host=127.0.0.1 port=1",
        "host=/nonexistent port=5432",
        "host=name.invalid port=5432",
    };
    for (size_t i = 0; i < ARRAY_SIZE(nowhere); i++) {
        struct upstream_error error = failure_of(with(agent_string(), nowhere[i]), NULL, 0);
        cr_expect_not(error.from_server);
        cr_expect_str_eq(error.sqlstate, "57P03");
        cr_expect_null(strstr(error.message, "127.0.0.1"));
        cr_expect_null(strstr(error.detail, "agent-password"));
        cr_expect_neq(error.detail[0], '\0');
    }
}

Test(login, goes_to_the_next_host)
{
    const char *port = strstr(agent_string(), "port=");
    char string[512];
    snprintf(string, sizeof string, "%s host=127.0.0.1,127.0.0.1 port=1,%.*s", agent_string(),
             (int)strcspn(port + 5, " "), port + 5);
    struct upstream_session *session = log_in(string, NULL, 0);
    cr_expect_str_eq(raw_value(session, "SELECT 1"), "1");
    upstream_session_close(session);
}

Test(login, can_be_given_up_at_any_time)
{
    const char *string = with(agent_string(), "sslmode=require");
    for (int polls = 0; polls < 12; polls++) {
        char problem[256];
        struct upstream_login *login =
            upstream_login_start(string, NULL, 0, problem, sizeof problem);
        for (int i = 0; i < polls; i++)
            if (upstream_login_poll(login) == UPSTREAM_DONE)
                break;
        upstream_login_free(login);
    }
    upstream_login_free(NULL);
    upstream_session_close(NULL);
}

Test(login, refuses_what_it_cannot_send)
{
    static char long_value[9100];
    memset(long_value, 'x', sizeof long_value - 1);
    const struct {
        const char *string;
        struct upstream_parameter setting;
        const char *problem;
    } cases[] = {
        {"host=h password=hush hush", {TEXT("a"), TEXT("b")}, "not valid"},
        {"postgres://user:hush@[host/", {TEXT("a"), TEXT("b")}, "not valid"},
        {"host=h hush=1", {TEXT("a"), TEXT("b")}, "not valid"},
        {"host=h replication=database", {TEXT("a"), TEXT("b")}, "replication"},
        {"host=h", {TEXT("a b"), TEXT("c")}, "name"},
        {"host=h", {TEXT(""), TEXT("c")}, "name"},
        {"host=h", {TEXT("a=b -c c"), TEXT("c")}, "name"},
        {"host=h", {TEXT("1a"), TEXT("c")}, "name"},
        {"host=h", {TEXT("a"), {"b\0c", 3}}, "name"},
        {"host=h", {TEXT("Client_Encoding"), TEXT("SJIS")}, "client_encoding"},
        {"host=h", {TEXT("a"), {long_value, sizeof long_value - 1}}, "longer"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char problem[256] = "";
        struct upstream_login *login =
            upstream_login_start(cases[i].string, &cases[i].setting, 1, problem, sizeof problem);
        cr_expect_null(login, "%s", cases[i].string);
        cr_expect_not_null(strstr(problem, cases[i].problem), "%zu: %s", i, problem);
        cr_expect_null(strstr(problem, "hush"), "%s", problem);
        upstream_login_free(login);
    }
}

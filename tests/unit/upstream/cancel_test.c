/* cancel_test.c - cancels reach the backend, are reported once, and are bounded. */
#include "proxy/upstream/cancel.h"

#include "proxy/base/limits.h"
#include "unit/upstream/fake_server.h"
#include "unit/upstream/support.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct report {
    int pipe[2];
    bool delivered;
    char problem[256];
};

static void report_done(void *argument, bool delivered, const char *problem)
{
    struct report *report = argument;
    report->delivered = delivered;
    strncat(report->problem, problem, sizeof report->problem - 1);
    cr_assert_eq(write(report->pipe[1], "x", 1), 1);
}

static void wait_for_report(struct report *report)
{
    struct pollfd wait = {.fd = report->pipe[0], .events = POLLIN};
    cr_assert_eq(poll(&wait, 1, 10000), 1, "no report of the cancel");
}

static void wait_for_sleep(const struct upstream_session *session)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_stat_get_activity(%d) "
             "WHERE wait_event = 'PgSleep') LOOP PERFORM pg_sleep(0.01); END LOOP; END $$",
             session->backend_pid);
    admin_run(admin_string(), sql);
}

Test(cancel, stops_what_runs_and_says_when_nothing_more_is_under_way)
{
    static const char *const modes[] = {"sslmode=disable", "sslmode=require"};
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
        struct upstream_session *session = log_in(with(agent_string(), modes[i]), NULL, 0);
        struct report report = {0};
        cr_assert_eq(pipe(report.pipe), 0);
        struct buffer body;
        buffer_init(&body, 65536);
        raw_query(session, "SELECT pg_sleep(60)");
        wait_for_sleep(session);
        cr_assert(upstream_cancel(session, report_done, &report));
        wait_for_report(&report);
        cr_expect(report.delivered, "%s", report.problem);
        char type;
        while ((type = raw_message(session, &body)) != 'E')
            cr_assert_neq(type, 'Z');
        cr_expect_not_null(memmem(body.bytes, body.size, "57014", 5));
        while (raw_message(session, &body) != 'Z')
            ;
        cr_expect_str_eq(raw_value(session, "SELECT 'not cancelled'"), "not cancelled");
        buffer_release(&body);
        upstream_session_close(session);
    }
}

Test(cancel, does_not_need_its_session)
{
    struct upstream_session *session = log_in(agent_string(), NULL, 0);
    struct report report = {0};
    cr_assert_eq(pipe(report.pipe), 0);
    cr_assert(upstream_cancel(session, report_done, &report));
    upstream_session_close(session);
    wait_for_report(&report);
    cr_expect(report.delivered, "%s", report.problem);
}

static struct upstream_session *fake_session(struct fake_server *server)
{
    char problem[256];
    *server = (struct fake_server){.after_login = TEXT(""), .after_sync = TEXT("Z\0\0\0\5I")};
    fake_server_start(server);
    struct upstream_login *login =
        upstream_login_start(server->connection_string, NULL, 0, problem, sizeof problem);
    cr_assert_eq(finish_login(login), UPSTREAM_DONE);
    return upstream_login_take(login);
}

Test(cancel, reports_a_server_that_is_gone)
{
    struct fake_server server;
    struct upstream_session *session = fake_session(&server);
    shutdown(server.listener, SHUT_RDWR);
    close(server.listener);
    struct report report = {0};
    cr_assert_eq(pipe(report.pipe), 0);
    cr_assert(upstream_cancel(session, report_done, &report));
    wait_for_report(&report);
    cr_expect_not(report.delivered);
    cr_expect_not_null(strstr(report.problem, "failed"), "%s", report.problem);
    upstream_session_close(session);
    pthread_join(server.thread, NULL);
}

static atomic_int reports;

static void count_report(void *argument, bool delivered, const char *problem)
{
    (void)argument;
    (void)delivered;
    (void)problem;
    atomic_fetch_add(&reports, 1);
}

Test(cancel, starts_no_more_than_the_limit)
{
    struct fake_server server;
    struct upstream_session *session = fake_session(&server);
    /* Nobody accepts these connections, so the cancels wait. */
    for (int i = 0; i < LIMIT_CANCELS; i++)
        cr_assert(upstream_cancel(session, count_report, NULL), "cancel %d", i);
    cr_expect_not(upstream_cancel(session, count_report, NULL));
    cr_expect_eq(upstream_cancels_running(), LIMIT_CANCELS);
    cr_expect_eq(atomic_load(&reports), 0);

    shutdown(server.listener, SHUT_RDWR);
    close(server.listener);
    for (int i = 0; i < 1000 && upstream_cancels_running() > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    cr_expect_eq(upstream_cancels_running(), 0);
    cr_expect_eq(atomic_load(&reports), LIMIT_CANCELS);
    upstream_session_close(session);
    pthread_join(server.thread, NULL);
}

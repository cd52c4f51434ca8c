/* failure_test.c - full disks, locked, damaged and foreign files, a second process, and kill -9. */
#include "proxy/holds/store.h"

#include "proxy/base/attributes.h"
#include "unit/holds/sample.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_LIMIT = -1 };
static const int64_t forever_us = 3600000000000;

static struct store_at at;

static void begin(void)
{
    store_begin(&at, forever_us, NULL, NULL);
}
static void end(void)
{
    store_end(&at);
}

TestSuite(store_failure, .init = begin, .fini = end, .timeout = 120);

static void expect_does_not_open(const char *location, const char *reason)
{
    char problem[256] = "";
    struct hold_store *store =
        hold_store_open(location, forever_us, NULL, problem, sizeof problem);
    cr_expect_null(store);
    cr_expect_not_null(strstr(problem, reason), "\"%s\" does not say \"%s\"", problem, reason);
    hold_store_close(store);
}

static void limit_file_size(rlim_t size)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
}

static enum hold_answer create_one(int number, int64_t *id, char *problem, size_t size)
{
    char statement[32];
    snprintf(statement, sizeof statement, "SELECT %d", number);
    struct hold sample = sample_hold(statement);
    struct hold_request request;
    enum hold_answer answer = ask_create(at.store, &sample, NO_LIMIT, &request);
    *id = answer == HOLD_OK ? request.holds[0]->id : 0;
    snprintf(problem, size, "%s", request.problem);
    cr_expect_eq(request.hold_count, answer == HOLD_OK ? 1 : 0);
    arena_release(&request.arena);
    return answer;
}

Test(store_failure, full_disk_fails_requests_whole_and_heals)
{
    limit_file_size(256 * 1024);
    int made = 0;
    int64_t id = 0;
    int64_t last = 0;
    char problem[256] = "";
    while (made < 2000 && create_one(made, &id, problem, sizeof problem) == HOLD_OK) {
        last = id;
        made++;
    }
    cr_assert_lt(made, 2000, "the limit was never felt");
    cr_assert_gt(made, 5);
    cr_expect_gt(strlen(problem), 0);
    cr_expect_eq(last, made);
    cr_expect_eq(state_of(at.store, last), HOLD_PENDING, "reading goes on");
    cr_expect_eq(state_of(at.store, last + 1), HOLD_NONE, "nothing is half done");
    int64_t counts[HOLD_STATE_COUNT];
    hold_store_counts(at.store, counts);
    cr_expect_eq(counts[HOLD_PENDING], made);
    limit_file_size(RLIM_INFINITY);
    cr_expect_eq(create_one(made, &id, problem, sizeof problem), HOLD_OK, "%s", problem);
    hold_store_close(at.store);
    store_again(&at, forever_us, NULL, NULL);
    hold_store_counts(at.store, counts);
    cr_expect_eq(counts[HOLD_PENDING], made + 1);
}

Test(store_failure, file_locked_by_another_program_fails_the_request)
{
    sqlite3 *other = NULL;
    cr_assert_eq(sqlite3_open(at.path, &other), SQLITE_OK);
    sqlite3_busy_timeout(other, 5000);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    int64_t id;
    char problem[256];
    cr_expect_eq(create_one(1, &id, problem, sizeof problem), HOLD_STORE_FAILED);
    cr_expect_not_null(strstr(problem, "locked"), "%s", problem);
    cr_assert_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(create_one(1, &id, problem, sizeof problem), HOLD_OK, "%s", problem);
    sqlite3_close(other);
}

static void run_sql(const char *sql)
{
    sqlite3 *database = NULL;
    cr_assert_eq(sqlite3_open(at.path, &database), SQLITE_OK);
    char *error = NULL;
    cr_assert_eq(sqlite3_exec(database, sql, NULL, NULL, &error), SQLITE_OK, "%s", error);
    sqlite3_close(database);
}

Test(store_failure, damaged_row_fails_its_requests_and_no_other)
{
    int64_t id;
    char problem[256];
    cr_assert_eq(create_one(1, &id, problem, sizeof problem), HOLD_OK);
    cr_assert_eq(create_one(2, &id, problem, sizeof problem), HOLD_OK);
    static const char *const damages[] = {
        "UPDATE hold SET state = 'released ' WHERE id = 1",
        "UPDATE hold SET state = 'pending', digest = x'00' WHERE id = 1",
        "UPDATE hold SET digest = match, \"values\" = x'00000009' WHERE id = 1",
    };
    for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
        run_sql(damages[i]);
        struct hold_request request;
        cr_expect_eq(ask_get(at.store, 1, &request), HOLD_STORE_FAILED, "%s", damages[i]);
        cr_expect_not_null(strstr(request.problem, "damaged"));
        cr_expect_eq(request.hold_count, 0);
        arena_release(&request.arena);
        cr_expect_eq(state_of(at.store, 2), HOLD_PENDING);
        request = request_begin(HOLD_OP_LIST);
        request.limit = 10;
        cr_expect_eq(ask(at.store, &request), HOLD_OK);
        cr_expect_eq(request.hold_count, 1, "lists go on without it");
        arena_release(&request.arena);
    }
}

Test(store_failure, damaged_hold_does_not_keep_others_from_expiring)
{
    struct hold sample = sample_hold("SELECT 1");
    sample.expires.us = clock_now().us + 200000;
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    arena_release(&request.arena);
    sample.statement = TEXT("SELECT 2");
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    arena_release(&request.arena);
    run_sql("UPDATE hold SET digest = x'00' WHERE id = 1");
    for (int i = 0; i < 50 && state_of(at.store, 2) == HOLD_PENDING; i++)
        usleep(100000);
    cr_expect_eq(state_of(at.store, 2), HOLD_EXPIRED);
}

static void overwrite(const char *path, off_t from, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    cr_assert_geq(file, 0);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(pwrite(file, "\xA5", 1, from + (off_t)i), 1);
    close(file);
}

Test(store_failure, damaged_file_is_refused_at_start)
{
    int64_t id;
    char problem[256];
    for (int i = 0; i < 50; i++)
        cr_assert_eq(create_one(i, &id, problem, sizeof problem), HOLD_OK);
    hold_store_close(at.store);
    at.store = NULL;
    struct stat status;
    cr_assert_eq(stat(at.path, &status), 0);
    overwrite(at.path, status.st_size / 2 / 4096 * 4096, 4096);
    expect_does_not_open(at.location, "hold store: ");
}

Test(store_failure, file_of_another_program_or_version_is_refused)
{
    hold_store_close(at.store);
    at.store = NULL;
    run_sql("UPDATE schema SET version = 99");
    expect_does_not_open(at.location, "another version");
    unlink(at.path);
    run_sql("CREATE TABLE schema (version INTEGER); INSERT INTO schema VALUES (1)");
    expect_does_not_open(at.location, "another program");
    unlink(at.path);
    overwrite(at.path, 0, 8192);
    expect_does_not_open(at.location, "not a database");
}

Test(store_failure, location_that_is_no_file_is_refused)
{
    char location[128];
    snprintf(location, sizeof location, "sqlite:%s", at.folder);
    expect_does_not_open(location, "directory");
    snprintf(location, sizeof location, "sqlite:%s/none/holds.db", at.folder);
    expect_does_not_open(location, "No such file");
    expect_does_not_open("sqlite:holds.db", "absolute");
    expect_does_not_open("sqlite::memory:", "absolute");
    expect_does_not_open("postgresql://localhost/holds", "sqlite:");
}

Test(store_failure, file_that_others_may_read_is_closed_to_them)
{
    hold_store_close(at.store);
    chmod(at.path, 0644);
    store_again(&at, forever_us, NULL, NULL);
    struct stat status;
    cr_assert_eq(stat(at.path, &status), 0);
    cr_expect_eq(status.st_mode & 0777, 0600);
}

Test(store_failure, second_process_is_refused)
{
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        char problem[256] = "";
        struct hold_store *store =
            hold_store_open(at.location, forever_us, NULL, problem, sizeof problem);
        _exit(store == NULL && strstr(problem, "in use") != NULL ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
}

/* Creates holds and writes the id of each to the pipe after its answer. */
static void create_until_killed(int pipe_end)
{
    struct store_at own = at;
    char problem[256];
    own.store = hold_store_open(own.location, forever_us, NULL, problem, sizeof problem);
    if (own.store == NULL)
        _exit(2);
    for (int i = 0;; i++) {
        char statement[48];
        snprintf(statement, sizeof statement, "SELECT %d, %d", (int)getpid(), i);
        struct hold sample = sample_hold(statement);
        struct hold_request request;
        if (ask_create(own.store, &sample, NO_LIMIT, &request) != HOLD_OK)
            _exit(3);
        int64_t id = request.holds[0]->id;
        arena_release(&request.arena);
        if (write(pipe_end, &id, sizeof id) != sizeof id)
            _exit(4);
    }
}

/* Lets a process create holds, kills it after `us`, and collects the ids it was answered. */
static size_t kill_after(useconds_t us, int64_t *ids, size_t max)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        create_until_killed(ends[1]);
    }
    close(ends[1]);
    size_t count = 0;
    /* The moment is counted from the first answer: opening takes longer under sanitizers. */
    while (count < max && read(ends[0], &ids[count], sizeof ids[count]) == sizeof ids[count]) {
        if (count++ == 0) {
            usleep(us);
            kill(child, SIGKILL);
        }
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d", status);
    return count;
}

Test(store_failure, every_answered_create_survives_kill)
{
    hold_store_close(at.store);
    at.store = NULL;
    static int64_t ids[20000];
    unsigned seed = 20261130;
    size_t total = 0;
    for (int round = 0; round < 12; round++) {
        size_t count = kill_after((useconds_t)(rand_r(&seed) % 60000), ids, ARRAY_SIZE(ids));
        cr_expect_gt(count, 0);
        total += count;
        store_again(&at, forever_us, NULL, NULL);
        for (size_t i = 0; i < count; i++)
            cr_expect_eq(state_of(at.store, ids[i]), HOLD_PENDING, "hold %lld of round %d",
                         (long long)ids[i], round);
        hold_store_close(at.store);
        at.store = NULL;
    }
    cr_expect_gt(total, 24, "too few holds to say anything");
}

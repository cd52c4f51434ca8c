/* outbox_test.c - messages beside the holds: written with the change that they tell of, kept until they
 * are settled, bounded; and a file from before there were any. */
#include "proxy/holds/store.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"
#include "unit/holds/sample.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NO_LIMIT = -1 };
static const int64_t forever_us = 3600000000000;

static struct store_at at;
static size_t copies = 1;

/* A message that says what became of which hold, so many times. */
static size_t compose(void *context, struct arena *arena, const struct hold *hold,
                      enum hold_state before, const struct hold_message **messages)
{
    (void)context;
    struct hold_message *made = arena_array(arena, copies, sizeof *made);
    for (size_t i = 0; i < copies; i++) {
        made[i].target = TEXT("t");
        made[i].name = arena_printf(arena, "msg_%lld_%zu", (long long)hold->id, i);
        made[i].body = arena_printf(arena, "%lld %s %s", (long long)hold->id,
                                    hold_state_name(before), hold_state_name(hold->state));
    }
    *messages = made;
    return copies;
}

static void reopen(void)
{
    static const struct hold_hooks hooks = {.compose = compose};
    char problem[256] = "";
    hold_store_close(at.store);
    at.store = hold_store_open(at.location, forever_us, &hooks, problem, sizeof problem);
    cr_assert_not_null(at.store, "%s", problem);
}

static void begin(void)
{
    store_begin(&at, forever_us, NULL, NULL);
    reopen();
}

static void end(void) { store_end(&at); }

TestSuite(outbox, .init = begin, .fini = end, .timeout = 60);

static const struct text targets[] = {TEXT_INIT("t"), TEXT_INIT("other")};

static struct hold_request due(int64_t limit)
{
    struct hold_request request = request_begin(HOLD_OP_DUE);
    request.targets = targets;
    request.target_count = ARRAY_SIZE(targets);
    request.limit = limit;
    cr_assert_eq(ask(at.store, &request), HOLD_OK, "%s", request.problem);
    return request;
}

static size_t number_due(void)
{
    struct hold_request request = due(100);
    arena_release(&request.arena);
    return request.message_count;
}

static enum hold_answer settle(int64_t id, int64_t due_us)
{
    struct hold_request request = request_begin(HOLD_OP_SETTLE);
    request.id = id;
    request.due.us = due_us;
    enum hold_answer answer = ask(at.store, &request);
    arena_release(&request.arena);
    return answer;
}

static enum hold_answer tell(const char *target, const char *body)
{
    struct hold_request request = request_begin(HOLD_OP_TELL);
    const struct hold_message message = {
        .target = text_from(target), .name = TEXT("msg_1"), .body = text_from(body)};
    request.messages = &message;
    request.message_count = 1;
    enum hold_answer answer = ask(at.store, &request);
    arena_release(&request.arena);
    return answer;
}

static int64_t create(const char *statement)
{
    struct hold sample = sample_hold(statement);
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK, "%s", request.problem);
    int64_t id = request.holds[0]->id;
    arena_release(&request.arena);
    return id;
}

Test(outbox, change_and_message_are_there_after_a_restart)
{
    create("SELECT 1");
    reopen();
    struct hold_request request = due(100);
    cr_assert_eq(request.message_count, 1);
    cr_expect(text_is(request.messages[0].target, "t"));
    cr_expect(text_is(request.messages[0].name, "msg_1_0"));
    cr_expect_eq(strncmp(request.messages[0].body.bytes, "1 ", 2), 0);
    cr_expect_eq(request.messages[0].attempts, 0);
    cr_expect_gt(request.messages[0].created.us, 0);
    cr_expect_eq(request.next_due.us, 0);
    arena_release(&request.arena);
}

Test(outbox, each_change_of_a_hold_is_told_once_and_what_changes_nothing_is_not)
{
    struct hold sample = sample_hold("SELECT 1");
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    struct arena arena;
    arena_init(&arena);
    const struct hold *hold = hold_copy(&arena, request.holds[0]);
    arena_release(&request.arena);
    cr_expect_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_JOINED);
    arena_release(&request.arena);
    cr_expect_eq(number_due(), 1);
    cr_expect_eq(ask_refuse(at.store, hold, "mallory", &request), HOLD_NOT_APPROVER);
    arena_release(&request.arena);
    cr_expect_eq(number_due(), 1);
    cr_expect_eq(ask_refuse(at.store, hold, "bob", &request), HOLD_OK);
    arena_release(&request.arena);
    cr_expect_eq(ask_refuse(at.store, hold, "bob", &request), HOLD_WRONG_STATE);
    arena_release(&request.arena);
    cr_expect_eq(number_due(), 2);
    arena_release(&arena);
}

Test(outbox, expiry_by_the_clock_is_told)
{
    struct hold sample = sample_hold("SELECT 1");
    sample.expires.us = clock_now().us + 100000;
    struct hold_request request;
    cr_assert_eq(ask_create(at.store, &sample, NO_LIMIT, &request), HOLD_OK);
    arena_release(&request.arena);
    for (int i = 0; i < 100 && number_due() < 2; i++)
        usleep(100000);
    request = due(100);
    cr_assert_eq(request.message_count, 2);
    cr_expect_str_eq(request.messages[1].body.bytes, "1 pending expired");
    arena_release(&request.arena);
}

Test(outbox, settled_messages_are_gone_and_others_come_back_when_they_are_due)
{
    tell("t", "first");
    tell("t", "second");
    tell("other", "third");
    tell("unknown", "fourth");
    struct hold_request request = due(100);
    cr_assert_eq(request.message_count, 3);
    cr_expect_str_eq(request.messages[0].body.bytes, "first");
    cr_expect_str_eq(request.messages[2].body.bytes, "third");
    int64_t later_us = clock_now().us + 3600000000;
    cr_expect_eq(settle(request.messages[0].id, 0), HOLD_OK);
    cr_expect_eq(settle(request.messages[0].id, 0), HOLD_NOT_FOUND);
    cr_expect_eq(settle(request.messages[1].id, later_us), HOLD_OK);
    cr_expect_eq(settle(request.messages[2].id, 1), HOLD_OK);
    arena_release(&request.arena);
    reopen();
    request = due(100);
    cr_assert_eq(request.message_count, 1);
    cr_expect_str_eq(request.messages[0].body.bytes, "third");
    cr_expect_eq(request.messages[0].attempts, 1);
    cr_expect_eq(request.next_due.us, later_us);
    arena_release(&request.arena);
}

Test(outbox, gives_at_most_so_many_for_each_target)
{
    for (int i = 0; i < 5; i++) {
        tell("t", "x");
        tell("other", "x");
    }
    struct hold_request request = due(2);
    cr_assert_eq(request.message_count, 4);
    cr_expect(text_is(request.messages[1].target, "t"));
    cr_expect(text_is(request.messages[2].target, "other"));
    arena_release(&request.arena);
}

Test(outbox, what_is_too_old_is_deleted_and_counted)
{
    tell("t", "x");
    tell("unknown", "x");
    struct hold_request request = request_begin(HOLD_OP_DUE);
    request.targets = targets;
    request.target_count = 1;
    request.limit = 10;
    request.stale_before.us = clock_now().us + 1000000;
    cr_assert_eq(ask(at.store, &request), HOLD_OK);
    cr_expect_eq(request.stale_count, 2);
    cr_expect_eq(request.message_count, 0);
    arena_release(&request.arena);
}

Test(outbox, full_outbox_drops_messages_and_never_a_change)
{
    copies = LIMIT_OUTBOX_MESSAGES;
    create("SELECT 1");
    cr_expect_eq(hold_store_dropped(at.store), 0);
    copies = 3;
    int64_t id = create("SELECT 2");
    cr_expect_eq(hold_store_dropped(at.store), 3);
    cr_expect_eq(state_of(at.store, id), HOLD_PENDING);
    cr_expect_eq(tell("other", "another target has room"), HOLD_OK);
    cr_expect_eq(hold_store_dropped(at.store), 3);
}

static void limit_file_size(rlim_t size)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = size;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
}

Test(outbox, full_disk_loses_change_and_message_together)
{
    size_t stored = 0;
    limit_file_size(256 * 1024);
    for (int i = 0; i < 100; i++) {
        char statement[32];
        snprintf(statement, sizeof statement, "SELECT %d", i);
        struct hold sample = sample_hold(statement);
        struct hold_request request;
        stored += ask_create(at.store, &sample, NO_LIMIT, &request) == HOLD_OK;
        arena_release(&request.arena);
    }
    cr_assert(stored > 0 && stored < 100, "%zu", stored);
    limit_file_size(RLIM_INFINITY);
    reopen();
    cr_expect_eq(number_due(), stored);
}

/* Before there was an outbox the file had everything else. */
Test(outbox, file_of_the_version_before_gets_one_and_keeps_its_holds)
{
    int64_t id = create("SELECT 1");
    hold_store_close(at.store);
    at.store = NULL;
    sqlite3 *handle;
    cr_assert_eq(sqlite3_open(at.path, &handle), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(handle,
                              "DROP TABLE message; DROP TABLE copied;"
                              " ALTER TABLE hold DROP COLUMN copy_bytes;"
                              " ALTER TABLE hold DROP COLUMN copy_sha256;"
                              " ALTER TABLE hold DROP COLUMN copy_head; UPDATE schema SET version = 2",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(handle);
    for (int i = 0; i < 2; i++) {
        reopen();
        cr_expect_eq(state_of(at.store, id), HOLD_PENDING);
    }
    cr_expect_eq(number_due(), 0);
    cr_expect_eq(tell("t", "x"), HOLD_OK);
    cr_expect_eq(number_due(), 1);
}

/* sink_test.c - the audit file under restarts, rotation, threads, and file systems that are full.
 */
#include "proxy/audit/sink.h"

#include "files.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct audit_folder folder;

static void set_up(void)
{
    folder_create(&folder);
}
static void tear_down(void)
{
    folder_remove(&folder);
}

TestSuite(sink, .init = set_up, .fini = tear_down, .timeout = 60);

static void assert_chain(uint64_t records)
{
    struct chain_check check = verify_one(folder.file);
    cr_assert(!check.broken, "line %zu: %s", (size_t)check.line, check.problem);
    cr_assert_eq(check.records, records, "%zu records", (size_t)check.records);
}

static bool file_has(const char *path, const char *text)
{
    size_t size;
    char *bytes = read_file(path, &size);
    bool found = strstr(bytes, text) != NULL;
    free(bytes);
    return found;
}

static void append_bytes(const char *bytes)
{
    int fd = open(folder.file, O_WRONLY | O_APPEND);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    close(fd);
}

/* No process may write beyond `size` bytes of a file: what a full file system does. */
static void limit_file_size(rlim_t size)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static off_t file_size(void)
{
    struct stat status;
    cr_assert_eq(stat(folder.file, &status), 0);
    return status.st_size;
}

Test(sink, creates_a_private_file_that_begins_with_a_record_of_the_log)
{
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    audit_sink_close(sink);
    struct stat status;
    cr_assert_eq(stat(folder.file, &status), 0);
    cr_assert_eq(status.st_mode & 07777, 0600);
    cr_assert(file_has(folder.file, "the log begins"));
    assert_chain(2);
}

Test(sink, goes_on_after_a_restart)
{
    for (int i = 0; i < 3; i++) {
        struct audit_sink *sink = open_sink(folder.file);
        write_record(sink, "one");
        audit_sink_close(sink);
    }
    assert_chain(4);
}

Test(sink, refuses_a_file_that_another_one_writes)
{
    struct audit_sink *sink = open_sink(folder.file);
    const struct audit_service service = {TEXT("a"), TEXT("b"), TEXT("c")};
    char problem[128];
    cr_assert_null(audit_sink_open(folder.file, &service, problem, sizeof problem));
    cr_assert_str_eq(problem, "another process writes it");
    audit_sink_close(sink);
}

Test(sink, refuses_files_that_are_not_its_own)
{
    static const char *const contents[] = {"hello\n", "hello", "{\"a\": 1}\n", "\n\n\n",
                                           "{\"pgwicket.seq\": 1}\n{\"timestamp\"\n"};
    const struct audit_service service = {TEXT("a"), TEXT("b"), TEXT("c")};
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        char problem[128];
        write_file(folder.file, contents[i], strlen(contents[i]));
        cr_assert_null(audit_sink_open(folder.file, &service, problem, sizeof problem));
        cr_assert_str_eq(problem, "its last lines are not records of pgwicket");
        cr_assert_eq(file_size(), (off_t)strlen(contents[i]), "nothing was appended");
    }
}

Test(sink, says_why_a_file_cannot_be_opened)
{
    const struct audit_service service = {TEXT("a"), TEXT("b"), TEXT("c")};
    char problem[128];
    cr_assert_null(audit_sink_open("/nowhere/audit.jsonl", &service, problem, sizeof problem));
    cr_assert_str_eq(problem, strerror(ENOENT));
}

Test(sink, completes_and_reports_a_torn_last_line)
{
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    audit_sink_close(sink);
    append_bytes("{\"timestamp\":\"2026-11-30T1");
    sink = open_sink(folder.file);
    write_record(sink, "two");
    audit_sink_close(sink);
    cr_assert(file_has(folder.file, "{\"timestamp\":\"2026-11-30T1\n{"));
    cr_assert(file_has(folder.file, "the line before is incomplete"));
    assert_chain(4);
}

Test(sink, completes_a_torn_line_wherever_it_was_torn)
{
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    off_t before = file_size();
    write_record(sink, "two");
    audit_sink_close(sink);
    size_t size;
    char *bytes = read_file(folder.file, &size);
    for (size_t end = (size_t)before + 1; end < size; end += 7) {
        write_file(folder.file, bytes, end);
        sink = open_sink(folder.file);
        write_record(sink, "three");
        audit_sink_close(sink);
        assert_chain(4);
    }
    free(bytes);
}

Test(sink, completes_the_very_first_line_when_that_is_torn)
{
    write_file(folder.file, "{\"timestamp\":\"20", 16);
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    audit_sink_close(sink);
    assert_chain(2);
}

Test(sink, survives_being_torn_twice)
{
    struct audit_sink *sink = open_sink(folder.file);
    audit_sink_close(sink);
    append_bytes("{\"timestamp\":\"20\n{\"timest");
    sink = open_sink(folder.file);
    write_record(sink, "one");
    audit_sink_close(sink);
    assert_chain(3);
}

Test(sink, carries_the_last_hash_into_a_new_file)
{
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    cr_assert_eq(rename(folder.file, folder.older), 0);
    write_record(sink, "still in the old file");
    cr_assert(audit_sink_reopen(sink, folder.file));
    write_record(sink, "two");
    audit_sink_close(sink);
    cr_assert(file_has(folder.file, "the log goes on from the file before"));
    struct chain_check check = verify_two(folder.older, folder.file);
    cr_assert(!check.broken, "%s", check.problem);
    cr_assert_eq(check.records, 5);
}

Test(sink, keeps_the_file_when_reopening_finds_the_same)
{
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    cr_assert(audit_sink_reopen(sink, folder.file));
    write_record(sink, "two");
    audit_sink_close(sink);
    assert_chain(3);
}

Test(sink, keeps_the_old_file_when_reopening_fails)
{
    struct audit_sink *sink = open_sink(folder.file);
    cr_assert(!audit_sink_reopen(sink, "/nowhere/audit.jsonl"));
    write_record(sink, "one");
    audit_sink_close(sink);
    assert_chain(2);
}

Test(sink, takes_a_short_write_back_and_recovers)
{
    struct audit_sink *sink = open_sink(folder.file);
    write_record(sink, "one");
    off_t before = file_size();
    limit_file_size((rlim_t)before + 100);
    for (int i = 0; i < 3; i++) {
        cr_assert(!try_record(sink, "does not fit"));
        cr_assert(audit_sink_failing(sink));
        cr_assert_eq(file_size(), before, "no torn bytes stay");
    }
    limit_file_size(RLIM_INFINITY);
    write_record(sink, "two");
    cr_assert(!audit_sink_failing(sink));
    struct audit_sink_counts counts = audit_sink_count(sink);
    cr_assert_eq(counts.records, 2);
    cr_assert_eq(counts.errors, 3);
    cr_assert(counts.has_free_bytes && counts.free_bytes > 0);
    audit_sink_close(sink);
    cr_assert(file_has(folder.file, "3 records before this one could not be written"));
    cr_assert(!file_has(folder.file, "does not fit"));
    assert_chain(4);
}

Test(sink, opens_failing_where_no_byte_can_be_written)
{
    limit_file_size(0);
    struct audit_sink *sink = open_sink(folder.file);
    cr_assert(audit_sink_failing(sink));
    cr_assert(!try_record(sink, "one"));
    limit_file_size(RLIM_INFINITY);
    write_record(sink, "two");
    audit_sink_close(sink);
    assert_chain(3);
}

Test(sink, recovers_from_a_write_cut_at_any_byte)
{
    struct audit_sink *sink = open_sink(folder.file);
    for (int room = 0; room < 600; room += 13) {
        limit_file_size((rlim_t)(file_size() + room));
        bool written = try_record(sink, "one");
        limit_file_size(RLIM_INFINITY);
        cr_assert_eq(audit_sink_failing(sink), !written);
        write_record(sink, "two");
    }
    audit_sink_close(sink);
    cr_assert(!verify_one(folder.file).broken);
}

static void fill_small_pipe(int ends[2])
{
    cr_assert_eq(pipe(ends), 0);
    cr_assert(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    cr_assert_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    cr_assert(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
}

static size_t drain(int fd, char *bytes, size_t size, size_t at)
{
    for (ssize_t n; at < size && (n = read(fd, bytes + at, size - at)) > 0;)
        at += (size_t)n;
    return at;
}

Test(sink, completes_a_line_that_a_full_pipe_has_torn)
{
    static char bytes[65536], long_reason[6000];
    int ends[2];
    memset(long_reason, 'x', sizeof long_reason - 1);
    fill_small_pipe(ends);
    struct audit_sink *sink = open_sink("-");
    cr_assert(!try_record(sink, long_reason));
    cr_assert(audit_sink_failing(sink));
    size_t size = drain(ends[0], bytes, sizeof bytes, 0);
    write_record(sink, "two");
    size = drain(ends[0], bytes, sizeof bytes, size);
    audit_sink_close(sink);
    write_file(folder.file, bytes, size);
    cr_assert(file_has(folder.file, "xxx\n{\"timestamp\""));
    assert_chain(4); /* begins; the torn line; its report, one is missing, two */
}

enum { THREADS = 4, RECORDS_EACH = 250 };

static void *write_many(void *sink)
{
    for (int i = 0; i < RECORDS_EACH; i++)
        write_record(sink, "from a thread");
    return NULL;
}

Test(sink, keeps_the_chain_between_threads_and_rotations)
{
    pthread_t threads[THREADS];
    struct audit_sink *sink = open_sink(folder.file);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, write_many, sink), 0);
    while (audit_sink_count(sink).records < THREADS * RECORDS_EACH / 2)
        usleep(200);
    cr_assert_eq(rename(folder.file, folder.older), 0);
    cr_assert(audit_sink_reopen(sink, folder.file));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    audit_sink_close(sink);
    struct chain_check check = verify_two(folder.older, folder.file);
    cr_assert(!check.broken, "%s:%zu: %s", check.file, (size_t)check.line, check.problem);
    cr_assert_eq(check.records, THREADS * RECORDS_EACH + 2);
}

/*
 * runner.c - runs tests that are written with Criterion's headers: what Criterion's library does,
 * but with one process for each suite. The library starts one for each test, and with
 * AddressSanitizer that costs more than the tests do.
 *
 * A test that is to end its process gets one of its own, as does whatever comes after a test that
 * crashed. A crash, a report of a sanitizer, a leak or running out of time fails the test, or the
 * suite where it is found at the end.
 */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS_MAX = 16, TIMEOUT_DEFAULT = 120 };

enum state { WAITS, RUNS, PASSED, FAILED, SKIPPED };

// The linker's names for what Test() and TestSuite() leave in their sections.
extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)),
    *__stop_cr_sts[] __attribute__((weak));

struct criterion_options criterion_options;

struct job {
    pid_t pid; // 0: free
    FILE *output;
    size_t begin, end; // of its suite's tests
};

static struct criterion_test **tests; // sorted by suite, those that end their process first
static size_t test_count;
static enum state *states; // shared with the processes that run them
static struct job jobs[JOBS_MAX];
static size_t failures_of_suites;

// --- in a test
// -----------------------------------------------------------------------------------------------------

static size_t running;
static jmp_buf out_of_test;

int cr_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

void cr_asprintf_free(char *text)
{
    free(text);
}

char *cr_translate_assert_msg(int message, ...)
{
    (void)message;
    va_list arguments;
    va_start(arguments, message);
    char *text = strdup(va_arg(arguments, const char *)); // the expression
    va_end(arguments);
    return text;
}

void cri_asserts_passed_incr(void) {}

void criterion_send_assert(struct criterion_assert_stats *assertion)
{
    if (!assertion->passed)
        printf("%s:%u: %s/%s: %s\n", assertion->file, assertion->line, tests[running]->category,
               tests[running]->name, assertion->message);
}

void criterion_continue_test(void)
{
    states[running] = FAILED;
}

void criterion_abort_test(void)
{
    states[running] = FAILED;
    longjmp(out_of_test, 1);
}

void criterion_skip_test(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s/%s is skipped: ", tests[running]->category, tests[running]->name);
    vprintf(format, arguments);
    puts("");
    va_end(arguments);
    states[running] = SKIPPED;
    longjmp(out_of_test, 1);
}

static const struct criterion_test_extra_data *suite_of(const struct criterion_test *test)
{
    static const struct criterion_test_extra_data none;
    for (struct criterion_suite **suite = __start_cr_sts; suite < __stop_cr_sts; suite++)
        if (*suite != NULL && strcmp((*suite)->name, test->category) == 0)
            return (*suite)->data;
    return &none;
}

static void call(void (*own)(void), void (*of_suite)(void))
{
    if (own != NULL)
        own();
    else if (of_suite != NULL)
        of_suite();
}

// Test() makes a function of these three.
void criterion_internal_test_setup(void)
{
    call(tests[running]->data->init, suite_of(tests[running])->init);
}

void criterion_internal_test_main(void (*body)(void))
{
    body();
}

void criterion_internal_test_teardown(void)
{
    call(tests[running]->data->fini, suite_of(tests[running])->fini);
}

// --- one process for a suite
// ---------------------------------------------------------------------------------------

static bool ends_its_process(const struct criterion_test *test)
{
    return test->data->signal != 0 || test->data->exit_code != 0;
}

static void run_one(size_t number)
{
    const struct criterion_test *test = tests[number];
    double timeout = test->data->timeout > 0 ? test->data->timeout : suite_of(test)->timeout;
    running = number;
    states[number] = RUNS;
    alarm(timeout > 0 ? (unsigned)timeout : TIMEOUT_DEFAULT);
    if (setjmp(out_of_test) == 0) {
        test->test();
        if (states[number] == RUNS)
            states[number] = ends_its_process(test) ? FAILED : PASSED;
    }
    alarm(0);
}

static void run_suite(const struct job *job)
{
    dup2(fileno(job->output), STDOUT_FILENO);
    dup2(fileno(job->output), STDERR_FILENO);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = job->begin; i < job->end; i++)
        if (states[i] == WAITS)
            run_one(i);
    exit(0); // where leaks are looked for
}

static void start_suite(struct job *job)
{
    job->output = job->output != NULL ? job->output : tmpfile();
    job->pid = job->output == NULL ? -1 : fork();
    if (job->pid == 0)
        run_suite(job);
    if (job->pid < 0) {
        perror("runner: a suite cannot be started");
        exit(1);
    }
}

// What a suite said matters where something in it failed or was skipped.
static void show_output(struct job *job, bool all_passed)
{
    char text[4096];
    size_t length;
    rewind(job->output);
    while (!all_passed && (length = fread(text, 1, sizeof text, job->output)) > 0)
        fwrite(text, 1, length, stdout);
    fclose(job->output);
    *job = (struct job){0};
}

static bool ended_as_expected(const struct criterion_test *test, int status)
{
    const struct criterion_test_extra_data *data = test->data;
    if (data->signal != 0)
        return WIFSIGNALED(status) && WTERMSIG(status) == data->signal;
    return data->exit_code != 0 && WIFEXITED(status) && WEXITSTATUS(status) == data->exit_code;
}

static void end_suite(struct job *job, int status)
{
    bool explained = status == 0, left = false, all_passed = true;
    for (size_t i = job->begin; i < job->end; i++) {
        if (states[i] == RUNS) {
            explained = true;
            states[i] = ended_as_expected(tests[i], status) ? PASSED : FAILED;
            if (states[i] == FAILED)
                fprintf(job->output, "%s/%s ended its process, wait status %d\n",
                        tests[i]->category, tests[i]->name, status);
        }
        left = left || states[i] == WAITS;
        all_passed = all_passed && states[i] == PASSED;
    }
    if (!explained) {
        fprintf(job->output, "%s: its process ended with wait status %d\n",
                tests[job->begin]->category, status);
        failures_of_suites++;
    }
    fflush(job->output);
    if (left)
        start_suite(job);
    else
        show_output(job, all_passed && explained);
}

// --- all suites
// ----------------------------------------------------------------------------------------------------

static void wait_for_one(void)
{
    int status;
    pid_t pid = wait(&status);
    for (size_t i = 0; i < JOBS_MAX; i++)
        if (pid > 0 && jobs[i].pid == pid)
            end_suite(&jobs[i], status);
}

static int by_suite(const void *left, const void *right)
{
    const struct criterion_test *a = *(struct criterion_test *const *)left;
    const struct criterion_test *b = *(struct criterion_test *const *)right;
    int order = strcmp(a->category, b->category);
    if (order == 0)
        order = (int)ends_its_process(b) - (int)ends_its_process(a);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static void collect(const char *pattern)
{
    size_t count = (size_t)(__stop_cr_tst - __start_cr_tst);
    tests = calloc(count, sizeof *tests);
    states = mmap(NULL, count * sizeof *states, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    if (tests == NULL || states == MAP_FAILED) {
        perror("runner: no memory");
        exit(1);
    }
    for (struct criterion_test **test = __start_cr_tst; test < __stop_cr_tst; test++)
        if (*test != NULL && fnmatch(pattern, (*test)->data->identifier_, 0) == 0)
            tests[test_count++] = *test;
    qsort(tests, test_count, sizeof *tests, by_suite);
}

static void run_all(size_t job_count)
{
    size_t end;
    for (size_t begin = 0; begin < test_count; begin = end) {
        for (end = begin + 1;
             end < test_count && strcmp(tests[end]->category, tests[begin]->category) == 0;)
            end++;
        size_t free_job = 0;
        while (jobs[free_job].pid != 0)
            if (++free_job == job_count) {
                wait_for_one();
                free_job = 0;
            }
        jobs[free_job] = (struct job){.begin = begin, .end = end};
        start_suite(&jobs[free_job]);
    }
    for (size_t i = 0; i < job_count; i++)
        while (jobs[i].pid != 0)
            wait_for_one();
}

int main(int count, char **arguments)
{
    const char *pattern = "*";
    size_t job_count = 1, found[SKIPPED + 1] = {0};
    for (int option; (option = getopt(count, arguments, "j:")) != -1;) {
        job_count = option == 'j' ? strtoul(optarg, NULL, 10) : 0;
        if (job_count < 1 || job_count > JOBS_MAX) {
            fprintf(stderr, "usage: %s [-j JOBS] [SUITE/TEST with * and ?]\n", arguments[0]);
            return 2;
        }
    }
    if (optind < count)
        pattern = arguments[optind];
    collect(pattern);
    fflush(stdout);
    run_all(job_count);
    for (size_t i = 0; i < test_count; i++)
        found[states[i]]++;
    printf("%zu passed, %zu failed, %zu skipped\n", found[PASSED],
           found[FAILED] + failures_of_suites, found[SKIPPED]);
    return found[FAILED] + failures_of_suites > 0;
}

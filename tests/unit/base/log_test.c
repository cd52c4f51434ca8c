/* log_test.c - what arrives on standard error. */
#include "proxy/base/log.h"

#include "tests/unit/base/check.h"

#include <stdio.h>
#include <unistd.h>

static char line[4096];

/* Collects what is written to standard error between the two. */
static int saved;
static int pipe_ends[2];

static void begin_capture(void)
{
    cr_assert_eq(pipe(pipe_ends), 0);
    saved = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
}

static const char *end_capture(void)
{
    dup2(saved, STDERR_FILENO);
    close(pipe_ends[1]);
    ssize_t size = read(pipe_ends[0], line, sizeof line - 1);
    line[size > 0 ? size : 0] = '\0';
    close(pipe_ends[0]);
    return line;
}

Test(log, line_has_time_level_and_text)
{
    begin_capture();
    log_warning("disk %d%% full", 93);
    const char *written = end_capture();
    cr_expect_eq(strlen(written), strlen("2026-11-30T11:20:57.657123Z warning disk 93% full\n"));
    cr_expect_eq(written[10], 'T');
    cr_expect_str_eq(written + 27, " warning disk 93% full\n");
}

Test(log, levels_have_names)
{
    begin_capture();
    log_info("a");
    log_error("b");
    const char *written = end_capture();
    cr_expect_not_null(strstr(written, " info a\n"));
    cr_expect_not_null(strstr(written, " error b\n"));
}

Test(log, control_characters_cannot_make_a_second_line)
{
    begin_capture();
    log_info("a\nb\rc\x1B[2Jd");
    const char *written = end_capture();
    cr_expect_str_eq(written + 27, " info a b c [2Jd\n");
}

Test(log, long_line_is_cut_and_still_ends)
{
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    begin_capture();
    log_info("%s", text);
    const char *written = end_capture();
    cr_expect_eq(strlen(written), 2047);
    cr_expect_eq(written[2046], '\n');
    cr_expect_eq(written[2045], 'x');
}

/* chain_test.c - whatever is done to an audit file is found, at the line where it was done. */
#include "proxy/audit/chain.h"

#include "files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 5 };

static struct audit_folder folder;
static char *whole;
static size_t whole_size;
static struct text lines[LINES]; /* each with its newline */

static void set_up(void)
{
    folder_create(&folder);
    struct audit_sink *sink = open_sink(folder.file);
    static const char *const reasons[] = {"alpha", "beta", "gamma", "delta"};
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        write_record(sink, reasons[i]);
    audit_sink_close(sink);
    whole = read_file(folder.file, &whole_size);
    const char *at = whole;
    for (size_t i = 0; i < LINES; i++) {
        const char *end = strchr(at, '\n') + 1;
        lines[i] = (struct text){at, (size_t)(end - at)};
        at = end;
    }
    cr_assert_eq(at, whole + whole_size);
}

static void tear_down(void)
{
    free(whole);
    folder_remove(&folder);
}

TestSuite(chain, .init = set_up, .fini = tear_down, .timeout = 120);

/* The file made of lines, given by number; -1 ends. */
static struct chain_check verify_lines(const int *order)
{
    struct buffer bytes;
    buffer_init(&bytes, 1 << 20);
    for (; *order >= 0; order++)
        buffer_append_text(&bytes, lines[*order]);
    write_file(folder.file, (const char *)bytes.bytes, bytes.size);
    buffer_release(&bytes);
    return verify_one(folder.file);
}

Test(chain, accepts_what_the_sink_wrote)
{
    struct chain_check check = verify_one(folder.file);
    cr_assert(!check.broken);
    cr_assert_eq(check.records, LINES);
}

Test(chain, finds_every_changed_byte_before_the_last_line)
{
    size_t last_line = whole_size - lines[LINES - 1].size;
    for (size_t i = 0; i < last_line; i++) {
        whole[i] ^= 1;
        write_file(folder.file, whole, whole_size);
        cr_assert(verify_one(folder.file).broken, "byte %zu was changed", i);
        whole[i] ^= 1;
    }
}

Test(chain, finds_every_changed_byte_of_the_last_lines_link)
{
    const char *link = strstr(lines[LINES - 1].bytes, "\"pgwicket.seq\"");
    cr_assert_not_null(link);
    for (size_t i = (size_t)(link - whole); i < whole_size; i++) {
        whole[i] ^= 1;
        write_file(folder.file, whole, whole_size);
        cr_assert(verify_one(folder.file).broken, "byte %zu was changed", i);
        whole[i] ^= 1;
    }
}

Test(chain, finds_lines_that_are_missing_moved_or_added)
{
    static const struct {
        int order[LINES + 3];
        uint64_t line; /* 0: whole */
    } cases[] = {
        {{0, 1, 2, 3, 4, -1}, 0},    {{1, 2, 3, 4, -1}, 1}, /* the first is missing */
        {{0, 2, 3, 4, -1}, 2},       {{0, 1, 3, 4, -1}, 3},
        {{0, 1, 2, 4, -1}, 4},       {{0, 2, 1, 3, 4, -1}, 2},    /* moved */
        {{0, 1, 2, 4, 3, -1}, 4},    {{0, 1, 1, 2, 3, 4, -1}, 3}, /* twice */
        {{0, 1, 2, 3, 4, 0, -1}, 6}, {{4, -1}, 1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct chain_check check = verify_lines(cases[i].order);
        cr_assert_eq(check.broken, cases[i].line != 0, "case %zu: %s", i, check.problem);
        if (check.broken)
            cr_assert_eq(check.line, cases[i].line, "case %zu: line %zu", i, (size_t)check.line);
    }
}

Test(chain, finds_a_file_cut_in_the_middle_of_a_line)
{
    for (size_t cut = 1; cut < lines[LINES - 1].size; cut++) {
        write_file(folder.file, whole, whole_size - cut);
        struct chain_check check = verify_one(folder.file);
        cr_assert(check.broken, "%zu bytes cut off", cut);
        cr_assert_eq(check.line, LINES);
    }
}

Test(chain, finds_lines_cut_off_at_the_end_of_an_older_file)
{
    struct audit_sink *sink = open_sink(folder.file);
    cr_assert_eq(rename(folder.file, folder.older), 0);
    cr_assert(audit_sink_reopen(sink, folder.file));
    audit_sink_close(sink);
    cr_assert(!verify_two(folder.older, folder.file).broken);
    write_file(folder.older, whole, whole_size - lines[LINES - 1].size);
    struct chain_check check = verify_two(folder.older, folder.file);
    cr_assert(check.broken);
    cr_assert_str_eq(check.file, folder.file);
    cr_assert_eq(check.line, 1);
}

Test(chain, finds_files_in_the_wrong_order)
{
    struct audit_sink *sink = open_sink(folder.file);
    cr_assert_eq(rename(folder.file, folder.older), 0);
    cr_assert(audit_sink_reopen(sink, folder.file));
    audit_sink_close(sink);
    cr_assert(verify_two(folder.file, folder.older).broken);
}

Test(chain, finds_a_torn_line_that_nobody_reported)
{
    struct buffer bytes;
    buffer_init(&bytes, 1 << 20);
    buffer_append_text(&bytes, lines[0]);
    buffer_append_string(&bytes, "{\"timestamp\":\n");
    buffer_append_text(&bytes, lines[2]);
    write_file(folder.file, (const char *)bytes.bytes, bytes.size);
    buffer_release(&bytes);
    struct chain_check check = verify_one(folder.file);
    cr_assert(check.broken);
    cr_assert_eq(check.line, 3);
}

Test(chain, refuses_what_is_no_audit_file)
{
    static const char *const contents[] = {"hello\n", "{}\n", "\n", "[1]\n",
                                           "{\"pgwicket.seq\":1}\n"};
    for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
        write_file(folder.file, contents[i], strlen(contents[i]));
        cr_assert(verify_one(folder.file).broken, "%s", contents[i]);
    }
}

Test(chain, stops_at_a_line_longer_than_any_record)
{
    size_t size = 9 * 1024 * 1024;
    char *bytes = malloc(size);
    cr_assert_not_null(bytes);
    memset(bytes, ' ', size);
    write_file(folder.file, bytes, size);
    free(bytes);
    struct chain_check check = verify_one(folder.file);
    cr_assert(check.broken);
    cr_assert_str_eq(check.problem, "this line is longer than any record");
}

Test(chain, says_which_file_cannot_be_read)
{
    const char *files[] = {folder.file, folder.older};
    struct chain_check check;
    cr_assert(!chain_verify(files, 2, &check));
    cr_assert_str_eq(check.file, folder.older);
    cr_assert_str_eq(check.problem, "No such file or directory");
}

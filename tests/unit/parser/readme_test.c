/* The examples of parser/README.md: a statement in one line, what it does in the indented one
 * below. */
#include "unit/parser/trap_catalog.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES_MIN = 10 };

static const char *const start = "```walk\n";

static char *read_readme(void)
{
    FILE *file = fopen(PGWICKET_TESTS "/../parser/README.md", "r");
    char *text = NULL;
    size_t capacity = 0;
    cr_assert_not_null(file);
    cr_assert(getdelim(&text, &capacity, '\0', file) > 0);
    fclose(file);
    return text;
}

static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    cr_assert_not_null(end);
    *end = '\0';
    *at = end + 1;
    return line;
}

Test(readme, the_examples_of_the_walk_are_what_it_does)
{
    char *text = read_readme(), *at = strstr(text, start), *line;
    size_t examples = 0;
    cr_assert_not_null(at, "parser/README.md has no examples");
    at += strlen(start);
    while (strcmp(line = next_line(&at), "```") != 0) {
        struct arena arena;
        arena_init(&arena);
        const char *wanted = next_line(&at), *found = trap_actions(&arena, "shop", line);
        cr_expect_eq(strncmp(wanted, "    ", 4), 0, "not indented: %s", wanted);
        cr_expect_str_eq(found, wanted + 4, "%s\n  gives  %s\n  README %s", line, found,
                         wanted + 4);
        arena_release(&arena);
        examples++;
    }
    cr_expect(examples >= EXAMPLES_MIN, "%zu examples", examples);
    free(text);
}

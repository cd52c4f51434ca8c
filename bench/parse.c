/*
 * parse.c - the peer of bench/judge: PostgreSQL's raw parser by itself, as libpg_query has it, over the
 * statements of standard input, a line each. Prints nothing; exits 1 at a line that does not parse.
 */
#include "parser/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse(struct arena *arena, const char *sql)
{
    struct List *tree;
    struct grammar_error error;
    struct grammar_visit visit = grammar_enter();
    bool parsed = grammar_parse(visit, sql, &tree, arena, &error);
    grammar_leave(visit);
    arena_reset(arena);
    return parsed;
}

int main(void)
{
    struct arena arena;
    char *line = NULL;
    size_t capacity = 0;
    bool fine = true;
    arena_init(&arena);
    while (fine && getline(&line, &capacity, stdin) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        fine = parse(&arena, line);
    }
    free(line);
    arena_release(&arena);
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* judge_question.h - one line of `pgwicket judge`, read. */
#ifndef PGWICKET_COMMANDS_JUDGE_QUESTION_H
#define PGWICKET_COMMANDS_JUDGE_QUESTION_H

#include "proxy/session/judge.h"

/* A name that a message of `setup` gave, with what it stands for. */
struct known_name {
    bool is_cursor;
    struct text name;
    struct judgement judgement;
};

struct question {
    struct text id; /* JSON text of the id; empty: none */
    struct text sql;
    const uint32_t *types;
    size_t type_count;
    struct known_name *names;
    size_t name_count, name_capacity;
    const char *problem; /* NULL: the line is understood */
};

/* Everything lives in `arena`. The messages of `setup` are judged on the way. */
struct question judge_question(struct arena *arena, const struct judge_context *context,
                               struct text line);

#endif

/* judge_question.h - one line of `pgwicket judge`, read. */
#ifndef PGWICKET_COMMANDS_JUDGE_QUESTION_H
#define PGWICKET_COMMANDS_JUDGE_QUESTION_H

#include "proxy/commands/judge_answer.h"

struct asked {
    struct text id; /* JSON text of the id; empty: none */
    struct question question;
    const char *problem; /* NULL: the line is understood */
};

/* Everything lives in `arena`. Names of types are looked up in the catalog; NULL: only oids are known. */
struct asked judge_question(struct arena *arena, const struct catalog *catalog, struct text line);

#endif

/* judge_answer.h - one client message, with those before it → what becomes of it, for `judge` and
 * `test`. */
#ifndef PGWICKET_COMMANDS_JUDGE_ANSWER_H
#define PGWICKET_COMMANDS_JUDGE_ANSWER_H

#include "proxy/session/judge.h"

struct question {
    struct text sql;
    const uint32_t *types; /* of parameters, as in Parse; NULL: none given */
    size_t type_count;
    const struct text *setup; /* messages that ran before: names are followed, not verdicts */
    size_t setup_count;
};

struct answer {
    enum verdict verdict;
    struct text rule;        /* that decided, or of a rejection came nearest; empty: none */
    struct text reason;      /* one line */
    struct error_text error; /* when rejected */
    struct judgement
        judgement; /* of the message, or of what its EXECUTE or FETCH runs, where that decided */
};

/* Everything lives in `arena`, or in policy and catalog. */
void answer_question(struct arena *arena, const struct judge_context *context,
                     const struct question *question, struct answer *answer);

/* A question that makes no sense: rejected with this SQLSTATE. */
void answer_refusal(const char *sqlstate, const char *why, struct answer *answer);

/* What was answered is rejected all the same. */
void answer_reject(struct answer *answer, const struct error_text *error);

/* "42501", "55PW1"; NULL where the message is allowed. */
const char *answer_code(const struct answer *answer);

#endif

/* hold_texts_test.c - what EXECUTE pgwicket_hold(N) tells of a hold that does not run, by its state. */
#include "proxy/session/internal.h"

#include <criterion/criterion.h>

#define ONLY_WITH_THE_USER                                                                         \
    "Ask the user whether it is still wanted; only then send the statement again."
#define NEVER_AGAIN                                                                                \
    "Do not run it again. If the same change is needed once more, say so to the user."
#define MAY_HAVE_RUN "Do not run it again: it may have changed the data. Report it to the user."

static const struct {
    enum hold_state state;
    const char *sqlstate, *message, *hint;
} all[] = {
    {HOLD_PENDING, "55PW1",
     "pgwicket: waiting for a person's approval as hold 17; nothing was changed. Run EXECUTE "
     "pgwicket_hold(17) later to get the result",
     "Do not rephrase and do not send it in a loop: tell the user it waits for approval. If this was "
     "part of a transaction, run the whole transaction again after release."},
    {HOLD_REFUSED, "55PW2",
     "pgwicket: hold 17 was refused by an approver; nothing was changed. Reason: ask Ada first",
     "Do not send it again. Act on the reason or report it to the user."},
    {HOLD_RUNNING, "55PW5",
     "pgwicket: hold 17 is running in another session, claimed at 00:00:01 UTC; nothing was run now",
     MAY_HAVE_RUN},
    {HOLD_EXECUTED, "55PW5",
     "pgwicket: hold 17 was already executed at 00:00:01 UTC (DELETE 42); nothing was run now",
     NEVER_AGAIN},
    {HOLD_EXPIRED, "55PW5",
     "pgwicket: hold 17 was not decided in time and expired at 00:00:01 UTC; nothing was run now",
     ONLY_WITH_THE_USER},
    {HOLD_LAPSED, "55PW5",
     "pgwicket: hold 17 was released but not run in time, and lapsed at 00:00:01 UTC; nothing was run "
     "now",
     ONLY_WITH_THE_USER},
    {HOLD_DRIFTED, "55PW5",
     "pgwicket: hold 17 was replaced by another, as the data had changed, at 00:00:01 UTC; nothing was "
     "run now",
     NEVER_AGAIN},
    {HOLD_FAILED, "55PW5",
     "pgwicket: hold 17 failed when it ran, and changed nothing, at 00:00:01 UTC; nothing was run now",
     NEVER_AGAIN},
    {HOLD_UNKNOWN, "55PW5",
     "pgwicket: hold 17 ended in an unknown state at 00:00:01 UTC; nothing was run now",
     MAY_HAVE_RUN},
};

Test(hold_texts, of_every_state)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        const struct instant at = {1000000};
        const struct hold hold = {
            .id = 17,
            .state = all[i].state,
            .rule = TEXT("p.4"),
            .expires = at,
            .decided = at,
            .decision_reason = TEXT("ask Ada first"),
            .outcome_tag = all[i].state == HOLD_EXECUTED ? TEXT("DELETE 42") : TEXT(""),
        };
        struct error_text error = error_hold(&arena, &hold, true);
        cr_expect_str_eq(error.sqlstate, all[i].sqlstate);
        cr_expect(text_is(error.message, all[i].message), "%.*s", TEXT_ARGS(error.message));
        cr_expect(text_is(error.hint, all[i].hint), "%.*s", TEXT_ARGS(error.hint));
        cr_expect_leq(error.message.size, 200);
    }
    arena_release(&arena);
}

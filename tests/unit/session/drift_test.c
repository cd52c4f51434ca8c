/*
 * drift_test.c - what follows a hold whose run has another effect than was approved.
 */
#include "tests/unit/session/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#define DELETE "DELETE FROM shop.t WHERE id > 'a'"

static struct rig rig;

static void begin(void) { rig_begin(&rig); }
static void end(void) { rig_end(&rig); }

TestSuite(drift, .init = begin, .fini = end);

static const struct canned none[] = {{.begins = "DELETE", .tag = "DELETE 0"}, {0}};
static const struct canned two[] = {{.begins = "DELETE", .tag = "DELETE 2"}, {0}};

static const struct {
    const char *what;
    int64_t allowed_max; /* rows that need nobody; LIMIT_NONE: all do */
    int64_t held_max;
    const struct canned *run;
    bool counted; /* by the counters as well */
    enum hold_operation then;
} cases[] = {
    {"two rows may be approved", LIMIT_NONE, 2, two, true, HOLD_OP_CREATE},
    {"two rows are too many to be approved", LIMIT_NONE, 1, two, true, HOLD_OP_FINISH},
    {"two rows are too many, and counters do not tell them", LIMIT_NONE, 1, two, false, HOLD_OP_FINISH},
    {"a second row that the counters do not tell is nobody's to approve", LIMIT_NONE, 9, two, false,
     HOLD_OP_FINISH},
    {"no row needs nobody", 0, 9, none, true, HOLD_OP_FINISH},
};

static void set_limits(int64_t allowed_max, int64_t held_max)
{
    struct rule *rules = (struct rule *)(uintptr_t)rig.policy.rules;
    rules[2].verbs[VERB_DELETE] = allowed_max != LIMIT_NONE;
    rules[2].max_rows = allowed_max;
    rules[3].max_rows = held_max;
}

Test(drift, is_held_again_only_where_its_rules_hold_it)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        rig.canned = NULL;
        rig.deleted_at_once = 1;
        set_limits(cases[i].allowed_max, cases[i].held_max);
        rig_run(&rig, rig_query(&rig, DELETE));
        cr_assert_eq(rig_asked(&rig), HOLD_OP_CREATE, "%s: %s", cases[i].what, rig_told(&rig));
        rig_answer(&rig, HOLD_OK, HOLD_RELEASED);
        rig.canned = cases[i].run;
        rig.deleted_at_once = cases[i].counted ? 2 : 0;
        rig_answer(&rig, HOLD_OK, HOLD_RUNNING);
        cr_assert_eq(rig_asked(&rig), cases[i].then, "%s", cases[i].what);
        cr_expect_eq(rig_times(&rig, "COMMIT"), 0, "%s", cases[i].what);
        if (cases[i].then == HOLD_OP_FINISH)
            cr_expect_eq(rig.requests[0]->new_state, HOLD_DRIFTED, "%s", cases[i].what);
        rig_forget(&rig);
        rig_answer(&rig, HOLD_OK, HOLD_PENDING);
        cr_expect_str_eq(rig_client(&rig), "E(55PW3)ZI", "%s", cases[i].what);
        rig_forget(&rig);
    }
}

/* decide_test.c - verdicts from rules, conditions and numbers. */
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

static struct catalog *catalog;

static void setup(void) { catalog = test_catalog(); }
static void teardown(void)
{
    catalog_release(catalog);
    arena_release(&test_arena);
}

TestSuite(decide, .init = setup, .fini = teardown);

static const struct numbers nothing_known;

static struct decision decide_one(const struct policy *policy, enum statement_kind kind,
                                  const struct action *action, const struct numbers *numbers)
{
    const struct decide_context context = {.policy = policy, .catalog = catalog, .setting_values = NULL};
    struct shape *shape = arena_allocate(&test_arena, sizeof *shape);
    struct decision decision;
    *shape = test_shape(kind, action, 1);
    shape->ddl = kind == STATEMENT_UTILITY ? DDL_OBJECTS : DDL_NONE;
    decide(&test_arena, &context, shape, numbers, &decision);
    return decision;
}

static struct action update_orders(const char *columns, enum where_strength where, int64_t rows_max)
{
    struct action action = test_action(catalog, VERB_UPDATE, "shop", "orders", columns);
    action.where = where;
    action.rows_max = rows_max;
    return action;
}

Test(decide, proves_no_rows_where_foreign_keys_are_in_doubt)
{
    struct rule rule = test_rule(VERDICT_ALLOW, "insert update delete on shop.orders");
    rule.max_rows = 1;
    const struct policy policy = test_policy(&rule, 1);
    static const struct {
        enum verb verb;
        int64_t proven, in_doubt;
    } cases[] = {{VERB_INSERT, LIMIT_NONE, LIMIT_NONE}, {VERB_UPDATE, LIMIT_NONE, 1}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct action action = update_orders("notes", WHERE_KEY, 1);
        action.verb = cases[i].verb;
        struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
        shape.tag_counts_writes = true;
        struct decide_context context = {.policy = &policy, .catalog = catalog};
        struct decision decision;
        decide(&test_arena, &context, &shape, &nothing_known, &decision);
        cr_expect(decision.verdict == VERDICT_ALLOW && decision.write_rows_max == cases[i].proven, "%zu", i);
        context.keys_in_doubt = true;
        decide(&test_arena, &context, &shape, &nothing_known, &decision);
        cr_expect(decision.verdict == VERDICT_ALLOW && decision.write_rows_max == cases[i].in_doubt, "%zu", i);
    }
}

Test(decide, rejects_a_zeroed_shape)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "all on *")};
    struct policy policy = test_policy(rules, 1);
    struct shape shape = {0};
    cr_assert_eq(test_decide(&policy, catalog, &shape).verdict, VERDICT_REJECT);
}

Test(decide, rejects_what_no_rule_names)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    struct action select = test_action(catalog, VERB_SELECT, "shop", "customers", "id");
    struct action erase = test_action(catalog, VERB_DELETE, "shop", "orders", "");
    struct decision decision = decide_one(&policy, STATEMENT_SELECT, &select, &nothing_known);
    cr_assert_eq(decision.verdict, VERDICT_REJECT);
    cr_assert_eq(decision.failed, CONDITION_NO_RULE);
    cr_assert_eq(decide_one(&policy, STATEMENT_WRITE, &erase, &nothing_known).verdict,
                 VERDICT_REJECT);
}

Test(decide, needs_no_rule_for_a_statement_that_acts_on_nothing)
{
    struct policy policy = test_policy(NULL, 0);
    struct shape select = {.kind = STATEMENT_SELECT}, begin = {.kind = STATEMENT_BEGIN},
                 utility = {.kind = STATEMENT_UTILITY}, code = {.kind = STATEMENT_CODE};
    cr_expect_eq(test_decide(&policy, catalog, &select).verdict, VERDICT_ALLOW);
    cr_expect_eq(test_decide(&policy, catalog, &begin).verdict, VERDICT_ALLOW);
    cr_expect_eq(test_decide(&policy, catalog, &utility).verdict, VERDICT_REJECT);
    cr_expect_eq(test_decide(&policy, catalog, &code).verdict, VERDICT_REJECT);
}

Test(decide, takes_the_strictest_of_several_actions)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.customers"),
                           test_rule(VERDICT_HOLD, "delete on shop.items")};
    struct policy policy = test_policy(rules, 2);
    struct action actions[] = {test_action(catalog, VERB_SELECT, "shop", "customers", "id"),
                               test_action(catalog, VERB_DELETE, "shop", "items", ""),
                               test_action(catalog, VERB_SELECT, "shop", "orders", "id")};
    struct shape held = test_shape(STATEMENT_WRITE, actions, 2);
    struct shape rejected = test_shape(STATEMENT_WRITE, actions, 3);
    struct decision decision = test_decide(&policy, catalog, &held);
    cr_assert_eq(decision.verdict, VERDICT_HOLD);
    cr_assert_eq(decision.decisive->rule, &rules[1]);
    cr_assert_eq(decision.quorum, 1);
    cr_assert_eq(test_decide(&policy, catalog, &rejected).verdict, VERDICT_REJECT);
}

Test(decide, lets_the_first_matching_rule_win)
{
    struct rule rules[] = {test_rule(VERDICT_REJECT, "select on shop.customers"),
                           test_rule(VERDICT_ALLOW, "select on shop.*")};
    struct policy policy = test_policy(rules, 2);
    struct action customers = test_action(catalog, VERB_SELECT, "shop", "customers", "id");
    struct action orders = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct decision decision = decide_one(&policy, STATEMENT_SELECT, &customers, &nothing_known);
    cr_assert_eq(decision.failed, CONDITION_REJECT_RULE);
    cr_assert_eq(decision.decisive->rule, &rules[0]);
    cr_assert_eq(decide_one(&policy, STATEMENT_SELECT, &orders, &nothing_known).verdict,
                 VERDICT_ALLOW);
}

/* The policy of the specification's example: one row by key passes, more is held, no WHERE is rejected. */
static struct policy escalating(struct rule rules[2])
{
    rules[0] = test_rule(VERDICT_ALLOW, "update on shop.orders");
    rules[0].columns = test_names("status notes", &rules[0].column_count);
    rules[0].where = WHERE_KEY;
    rules[0].max_rows = 1;
    rules[1] = test_rule(VERDICT_HOLD, "update on shop.orders");
    rules[1].where = WHERE_REQUIRED;
    rules[1].max_rows = 1000;
    return test_policy(rules, 2);
}

static const struct {
    const char *columns;
    enum where_strength where;
    int64_t rows_max;
    enum verdict verdict;
    int64_t write_rows_max;
} escalations[] = {
    {"status", WHERE_KEY, 1, VERDICT_ALLOW, LIMIT_NONE},
    {"status", WHERE_KEY, 3, VERDICT_HOLD, LIMIT_NONE},
    {"total", WHERE_KEY, 1, VERDICT_HOLD, LIMIT_NONE},
    {"status", WHERE_REQUIRED, ROWS_UNPROVEN, VERDICT_HOLD, 1000},
    {"status", WHERE_KEY, 2000, VERDICT_HOLD, 1000}, /* fewer may be there */
    {"status", WHERE_ANY, ROWS_UNPROVEN, VERDICT_REJECT, LIMIT_NONE},
};

Test(decide, escalates_from_rule_to_rule)
{
    struct rule rules[2];
    struct policy policy = escalating(rules);
    for (size_t i = 0; i < ARRAY_SIZE(escalations); i++) {
        struct action action = update_orders(escalations[i].columns, escalations[i].where,
                                             escalations[i].rows_max);
        struct decision decision = decide_one(&policy, STATEMENT_WRITE, &action, &nothing_known);
        cr_expect_eq(decision.verdict, escalations[i].verdict, "case %zu", i);
        cr_expect_eq(decision.write_rows_max, escalations[i].write_rows_max, "case %zu", i);
    }
}

static const struct {
    int64_t rows;
    bool real;
    enum verdict verdict;
    int64_t write_rows_max;
} counts[] = {
    {1, true, VERDICT_ALLOW, LIMIT_NONE},     {10, true, VERDICT_ALLOW, LIMIT_NONE},
    {11, true, VERDICT_HOLD, LIMIT_NONE},     {1000, true, VERDICT_HOLD, LIMIT_NONE},
    {1001, true, VERDICT_REJECT, LIMIT_NONE}, {5, false, VERDICT_ALLOW, 10},
    {20, false, VERDICT_HOLD, 1000},          {50000, false, VERDICT_REJECT, LIMIT_NONE},
};

Test(decide, decides_again_with_the_number_of_rows)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.orders"),
                           test_rule(VERDICT_HOLD, "update on shop.orders")};
    rules[0].max_rows = 10;
    rules[1].max_rows = 1000;
    struct policy policy = test_policy(rules, 2);
    struct action action = update_orders("status", WHERE_REQUIRED, ROWS_UNPROVEN);
    struct decision open = decide_one(&policy, STATEMENT_WRITE, &action, &nothing_known);
    cr_assert_eq(open.verdict, VERDICT_ALLOW);
    cr_assert_eq(open.write_rows_max, 10);
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        const struct numbers numbers = {
            .has_rows = true, .rows = counts[i].rows, .rows_real = counts[i].real};
        struct decision decision = decide_one(&policy, STATEMENT_WRITE, &action, &numbers);
        cr_expect_eq(decision.verdict, counts[i].verdict, "case %zu", i);
        cr_expect_eq(decision.write_rows_max, counts[i].write_rows_max, "case %zu", i);
        if (decision.verdict == VERDICT_REJECT)
            cr_expect_eq(decision.decisive->nearest, &rules[1], "case %zu", i);
    }
}

Test(decide, leaves_a_selects_limits_open)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders shop.customers")};
    rules[0].max_rows = 5000;
    rules[0].max_cost = 100;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct decision decision = decide_one(&policy, STATEMENT_SELECT, &action, &nothing_known);
    cr_assert_eq(decision.verdict, VERDICT_ALLOW);
    cr_assert_eq(decision.select_rows_max, 5000);
    cr_assert(decision.needs_cost);
    const struct numbers cheap = {.has_cost = true, .cost = 100};
    const struct numbers dear = {.has_cost = true, .cost = 100.5};
    decision = decide_one(&policy, STATEMENT_SELECT, &action, &cheap);
    cr_assert(decision.verdict == VERDICT_ALLOW && !decision.needs_cost);
    decision = decide_one(&policy, STATEMENT_SELECT, &action, &dear);
    cr_assert_eq(decision.failed, CONDITION_MAX_COST);
}

Test(decide, holds_max_lock_up_to_that_lock)
{
    static const struct {
        enum verdict rule;
        enum table_lock lock;
        enum verdict verdict;
    } cases[] = {
        {VERDICT_ALLOW, LOCK_NONE, VERDICT_ALLOW},
        {VERDICT_ALLOW, LOCK_SHARE, VERDICT_ALLOW},
        {VERDICT_ALLOW, LOCK_SHARE_ROW_EXCLUSIVE, VERDICT_HOLD},
        {VERDICT_ALLOW, LOCK_ACCESS_EXCLUSIVE, VERDICT_HOLD},
        {VERDICT_REJECT, LOCK_ACCESS_SHARE, VERDICT_REJECT},
        {VERDICT_REJECT, LOCK_EXCLUSIVE, VERDICT_HOLD},
        {VERDICT_REJECT, LOCK_ACCESS_EXCLUSIVE, VERDICT_REJECT}, /* it may be an unknown one */
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rule rules[] = {test_rule(cases[i].rule, "alter on shop.orders"),
                               test_rule(VERDICT_HOLD, "alter on shop.orders")};
        rules[0].max_lock = LOCK_SHARE;
        struct policy policy = test_policy(rules, 2);
        struct action action = test_action(catalog, VERB_ALTER, "shop", "orders", "");
        action.lock = cases[i].lock;
        cr_expect_eq(decide_one(&policy, STATEMENT_UTILITY, &action, &nothing_known).verdict,
                     cases[i].verdict, "case %zu", i);
    }
}

Test(decide, fails_max_cost_where_there_are_no_statistics)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.fresh")};
    rules[0].max_cost = 1e9;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "fresh", "id");
    const struct numbers cheap = {.has_cost = true, .cost = 1};
    cr_assert_eq(decide_one(&policy, STATEMENT_SELECT, &action, &cheap).failed, CONDITION_MAX_COST);
}

Test(decide, looks_only_at_columns_of_what_a_write_reads)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders"),
                           test_rule(VERDICT_ALLOW, "update on shop.orders")};
    rules[0].max_rows = 1;
    rules[0].max_cost = 1;
    rules[0].columns = test_names("id", &rules[0].column_count);
    struct policy policy = test_policy(rules, 2);
    struct action actions[] = {update_orders("status", WHERE_ANY, ROWS_UNPROVEN),
                               test_action(catalog, VERB_SELECT, "shop", "orders", "id")};
    actions[1].part = PART_READ;
    struct shape shape = test_shape(STATEMENT_WRITE, actions, 2);
    struct decision decision = test_decide(&policy, catalog, &shape);
    cr_assert(decision.verdict == VERDICT_ALLOW && !decision.needs_cost);
    cr_assert_eq(decision.select_rows_max, LIMIT_NONE);
    actions[1] = test_action(catalog, VERB_SELECT, "shop", "orders", "status");
    actions[1].part = PART_READ;
    cr_assert_eq(test_decide(&policy, catalog, &shape).failed, CONDITION_COLUMNS);
}

/* Why an open max_rows cannot be enforced, and what then happens. */
Test(decide, falls_through_where_rows_cannot_be_counted)
{
    static const struct {
        const char *name;
        bool foreign_keys, in_with, lock;
        enum condition failed;
    } cases[] = {
        {"items", true, false, false, CONDITION_FOREIGN_KEYS},
        {"orders", true, true, false, CONDITION_NOT_COUNTABLE},
        {"orders", false, true, false, CONDITION_NOT_COUNTABLE},
        {"ruled", false, false, false, CONDITION_NOT_COUNTABLE},
        {"remote", false, false, false, CONDITION_MAX_ROWS},
        {"absent", false, false, false, CONDITION_NOT_COUNTABLE},
        {"orders", false, false, true, CONDITION_NOT_COUNTABLE},
    };
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "delete on shop.*"),
                           test_rule(VERDICT_HOLD, "delete on shop.*"),
                           test_rule(VERDICT_ALLOW, "lock on shop.*")};
    rules[0].max_rows = rules[1].max_rows = 10;
    struct policy strict = test_policy(rules, 1), holding = test_policy(rules, 3);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct action actions[] = {test_action(catalog, VERB_DELETE, "shop", cases[i].name, ""),
                                   test_action(catalog, VERB_LOCK, "shop", cases[i].name, "")};
        actions[0].foreign_key_actions = cases[i].foreign_keys;
        struct shape shape = test_shape(STATEMENT_WRITE, actions, cases[i].lock ? 2 : 1);
        shape.tag_counts_writes = !cases[i].in_with;
        struct decision decision = test_decide(&strict, catalog, &shape);
        cr_expect_eq(decision.verdict, VERDICT_REJECT, "case %zu", i);
        cr_expect_eq(decision.actions[0].failed, cases[i].failed, "case %zu", i);
        bool may_be_held = !cases[i].lock && cases[i].failed != CONDITION_MAX_ROWS;
        decision = test_decide(&holding, catalog, &shape);
        cr_expect_eq(decision.verdict, may_be_held ? VERDICT_HOLD : VERDICT_REJECT, "case %zu", i);
        if (may_be_held)
            cr_expect_eq(decision.write_rows_max, 10, "case %zu", i);
    }
}

/* An allow rule, behind it a hold rule, both with a max_effect. */
Test(decide, holds_max_effect_by_the_rows_of_all_tables)
{
    static const struct {
        const char *name;
        struct numbers numbers;
        enum verdict verdict;
        enum condition failed;
        int64_t open;
    } cases[] = {
        {"orders", {0}, VERDICT_ALLOW, CONDITION_NONE, 4},
        {"orders", {.has_effect = true, .effect = 4}, VERDICT_ALLOW, CONDITION_NONE, LIMIT_NONE},
        {"orders", {.has_effect = true, .effect = 5}, VERDICT_HOLD, CONDITION_NONE, LIMIT_NONE},
        {"orders", {.has_effect = true, .effect = 9}, VERDICT_REJECT, CONDITION_MAX_EFFECT, LIMIT_NONE},
        {"orders", {.has_effect = true, .effect = EFFECT_UNCOUNTED}, VERDICT_REJECT, CONDITION_MAX_EFFECT, LIMIT_NONE},
        {"orders", {.has_rows = true, .rows = 5}, VERDICT_HOLD, CONDITION_NONE, 8},
        {"orders", {.has_rows = true, .rows = 10001}, VERDICT_REJECT, CONDITION_MAX_EFFECT, LIMIT_NONE},
        {"ruled", {0}, VERDICT_ALLOW, CONDITION_NONE, 4},
        {"remote", {0}, VERDICT_REJECT, CONDITION_EFFECT_UNKNOWN, LIMIT_NONE},
    };
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "delete on shop.*"),
                           test_rule(VERDICT_HOLD, "delete on shop.*")};
    rules[0].max_effect = 4;
    rules[1].max_effect = 8;
    struct policy policy = test_policy(rules, 2);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct action action = test_action(catalog, VERB_DELETE, "shop", cases[i].name, "");
        struct decision decision = decide_one(&policy, STATEMENT_WRITE, &action, &cases[i].numbers);
        cr_expect_eq(decision.verdict, cases[i].verdict, "case %zu", i);
        cr_expect_eq(decision.failed, cases[i].failed, "case %zu", i);
        cr_expect_eq(decision.effect_max, cases[i].open, "case %zu: %lld", i, (long long)decision.effect_max);
    }
}

Test(decide, does_not_know_the_effect_of_what_it_cannot_run_before)
{
    struct rule rules[] = {test_rule(VERDICT_HOLD, "truncate call on shop.*"),
                           test_rule(VERDICT_REJECT, "truncate call on shop.*")};
    rules[0].max_effect = 4;
    struct policy policy = test_policy(rules, 1);
    struct action truncate = test_action(catalog, VERB_TRUNCATE, "shop", "orders", "");
    struct shape shape = test_shape(STATEMENT_UTILITY, &truncate, 1);
    shape.ddl = DDL_OBJECTS;
    cr_expect_eq(test_decide(&policy, catalog, &shape).effect_max, 4);
    struct action call = test_action(catalog, VERB_CALL, "shop", "f", "");
    cr_expect_eq(decide_one(&policy, STATEMENT_CODE, &call, &nothing_known).failed, CONDITION_EFFECT_UNKNOWN);
    rules[0].rehearse = true;
    cr_expect_eq(decide_one(&policy, STATEMENT_CODE, &call, &nothing_known).verdict, VERDICT_HOLD);
    /* What is not known rejects. */
    rules[1].max_effect = 4;
    policy.rules = &rules[1];
    const struct numbers unknown = {.has_effect = true, .effect = EFFECT_UNCOUNTED};
    cr_expect_eq(decide_one(&policy, STATEMENT_CODE, &call, &unknown).failed, CONDITION_REJECT_RULE);
}

Test(decide, does_not_count_writes_to_two_relations)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "insert update on shop.*")};
    rules[0].max_rows = 10;
    struct policy policy = test_policy(rules, 1);
    struct action actions[] = {test_action(catalog, VERB_INSERT, "shop", "orders", "id"),
                               test_action(catalog, VERB_UPDATE, "shop", "orders", "id")};
    struct shape upsert = test_shape(STATEMENT_WRITE, actions, 2);
    struct decision decision = test_decide(&policy, catalog, &upsert);
    cr_assert(decision.verdict == VERDICT_ALLOW && decision.write_rows_max == 10);
    actions[1] = test_action(catalog, VERB_UPDATE, "shop", "items", "id");
    cr_assert_eq(test_decide(&policy, catalog, &upsert).failed, CONDITION_NOT_COUNTABLE);
}

static void explain(struct shape *shape, const struct shape *inner, bool analyze)
{
    *shape = *inner;
    shape->kind = STATEMENT_EXPLAIN;
    shape->tag_counts_writes = false;
    shape->inner = inner;
    shape->explain_analyze = analyze;
}

Test(decide, rejects_explain_analyze_of_limited_and_held_statements)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.orders"),
                           test_rule(VERDICT_HOLD, "delete on shop.items"),
                           test_rule(VERDICT_ALLOW, "update on shop.items")};
    rules[0].max_rows = 10;
    struct policy policy = test_policy(rules, 3);
    struct action limited = update_orders("status", WHERE_ANY, ROWS_UNPROVEN);
    struct action proven = update_orders("status", WHERE_KEY, 1);
    struct action held = test_action(catalog, VERB_DELETE, "shop", "items", "");
    struct action plain = test_action(catalog, VERB_UPDATE, "shop", "items", "id");
    const struct {
        const struct action *action;
        enum verdict analyzed, planned;
    } cases[] = {{&limited, VERDICT_REJECT, VERDICT_ALLOW},
                 {&proven, VERDICT_ALLOW, VERDICT_ALLOW},
                 {&held, VERDICT_REJECT, VERDICT_REJECT},
                 {&plain, VERDICT_ALLOW, VERDICT_ALLOW}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct shape inner = test_shape(STATEMENT_WRITE, cases[i].action, 1), shape;
        explain(&shape, &inner, true);
        cr_expect_eq(test_decide(&policy, catalog, &shape).verdict, cases[i].analyzed, "case %zu", i);
        explain(&shape, &inner, false);
        struct decision decision = test_decide(&policy, catalog, &shape);
        cr_expect_eq(decision.verdict, cases[i].planned, "case %zu", i);
        cr_expect_eq(decision.write_rows_max, LIMIT_NONE, "case %zu", i);
    }
}

Test(decide, rejects_explain_analyze_of_a_prepared_statement)
{
    struct policy policy = test_policy(NULL, 0);
    struct shape execute = {.kind = STATEMENT_EXECUTE}, shape;
    explain(&shape, &execute, true);
    cr_assert_eq(test_decide(&policy, catalog, &shape).failed, CONDITION_EXPLAIN_ANALYZE);
}

Test(decide, lets_copy_out_only_what_a_rule_bounds)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct rule everything[] = {test_rule(VERDICT_ALLOW, "all on *")};
    struct policy policy = test_policy(rules, 1), open = test_policy(everything, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    cr_expect_eq(decide_one(&policy, STATEMENT_COPY_OUT, &action, &nothing_known).failed,
                 CONDITION_UNBOUNDED_COPY);
    cr_expect_eq(decide_one(&open, STATEMENT_COPY_OUT, &action, &nothing_known).verdict,
                 VERDICT_ALLOW);
    rules[0].max_rows = 100;
    struct decision decision = decide_one(&policy, STATEMENT_COPY_OUT, &action, &nothing_known);
    cr_expect(decision.verdict == VERDICT_ALLOW && decision.select_rows_max == 100);
}

Test(decide, rejects_held_statements_that_come_wrapped)
{
    static const enum statement_kind kinds[] = {STATEMENT_PREPARE, STATEMENT_DECLARE,
                                                STATEMENT_COPY_OUT, STATEMENT_EXPLAIN};
    struct rule rules[] = {test_rule(VERDICT_HOLD, "insert on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_INSERT, "shop", "orders", "id");
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        cr_expect_eq(decide_one(&policy, kinds[i], &action, &nothing_known).failed,
                     CONDITION_HELD_FORM, "case %zu", i);
    cr_expect_eq(decide_one(&policy, STATEMENT_WRITE, &action, &nothing_known).verdict,
                 VERDICT_HOLD);
}

Test(decide, holds_what_cannot_be_rehearsed_only_where_the_rule_says_so)
{
    struct rule rules[] = {test_rule(VERDICT_HOLD, "call on shop.*")};
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_CALL, "shop", "refund", "");
    cr_assert_eq(decide_one(&policy, STATEMENT_SELECT, &action, &nothing_known).failed,
                 CONDITION_UNREHEARSABLE);
    rules[0].unrehearsed_hold = true;
    cr_assert_eq(decide_one(&policy, STATEMENT_SELECT, &action, &nothing_known).verdict,
                 VERDICT_HOLD);
    rules[0].unrehearsed_hold = false;
    rules[0].rehearse = true;
    cr_assert_eq(decide_one(&policy, STATEMENT_SELECT, &action, &nothing_known).verdict,
                 VERDICT_HOLD);
}

Test(decide, takes_the_largest_quorum)
{
    struct rule rules[] = {test_rule(VERDICT_HOLD, "insert on shop.orders"),
                           test_rule(VERDICT_HOLD, "update on shop.orders")};
    rules[1].quorum = 3;
    struct policy policy = test_policy(rules, 2);
    struct action actions[] = {test_action(catalog, VERB_INSERT, "shop", "orders", "id"),
                               test_action(catalog, VERB_UPDATE, "shop", "orders", "id")};
    struct shape shape = test_shape(STATEMENT_WRITE, actions, 2);
    cr_assert_eq(test_decide(&policy, catalog, &shape).quorum, 3);
}

Test(decide, leaves_two_phase_commit_to_all_on_everything)
{
    struct rule everything[] = {test_rule(VERDICT_ALLOW, "all on *")};
    struct rule schema[] = {test_rule(VERDICT_ALLOW, "all on *.*")};
    struct policy open = test_policy(everything, 1), narrow = test_policy(schema, 1);
    struct shape two_phase = {.kind = STATEMENT_TWO_PHASE};
    cr_expect_eq(test_decide(&open, catalog, &two_phase).verdict, VERDICT_ALLOW);
    cr_expect_eq(test_decide(&narrow, catalog, &two_phase).failed, CONDITION_TWO_PHASE);
    struct setting_use use = {.act = SETTING_TRANSACTION, .name = TEXT("transaction_snapshot")};
    struct shape snapshot = {.kind = STATEMENT_SET, .settings = &use, .setting_count = 1};
    cr_expect_eq(test_decide(&open, catalog, &snapshot).verdict, VERDICT_ALLOW);
    cr_expect_eq(test_decide(&narrow, catalog, &snapshot).verdict, VERDICT_REJECT);
}

Test(decide, rejects_unresolved_names_but_not_where_everything_is_allowed)
{
    struct rule everything[] = {test_rule(VERDICT_ALLOW, "all on *")};
    struct rule schema[] = {test_rule(VERDICT_ALLOW, "select on shop.*")};
    struct policy open = test_policy(everything, 1), narrow = test_policy(schema, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "nowhere", "id");
    action.unresolved = true;
    cr_expect_eq(decide_one(&open, STATEMENT_SELECT, &action, &nothing_known).verdict,
                 VERDICT_ALLOW);
    cr_expect_eq(decide_one(&narrow, STATEMENT_SELECT, &action, &nothing_known).failed,
                 CONDITION_UNRESOLVED);
}

Test(decide, turns_a_setting_that_needs_a_rule_into_an_action)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "set on setting:work_mem")};
    struct policy policy = test_policy(rules, 1);
    struct setting_use use = {SETTING_SET, TEXT("work_mem"), TEXT("1GB"), false};
    struct shape shape = {.kind = STATEMENT_SET, .settings = &use, .setting_count = 1};
    struct decision decision = test_decide(&policy, catalog, &shape);
    cr_assert(decision.verdict == VERDICT_ALLOW && decision.action_count == 1);
    use.name = TEXT("fsync");
    cr_assert_eq(test_decide(&policy, catalog, &shape).failed, CONDITION_NO_RULE);
    use = (struct setting_use){SETTING_SET, TEXT("client_encoding"), TEXT("SJIS"), false};
    decision = test_decide(&policy, catalog, &shape);
    cr_assert_eq(decision.failed, CONDITION_SETTING);
    cr_assert(text_is(decision.subject, "client_encoding"));
}

Test(decide, never_leaves_the_role_for_none)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "set on role:*")};
    struct policy policy = test_policy(rules, 1);
    struct action bob = {.verb = VERB_SET, .object = {OBJECT_ROLE, TEXT(""), TEXT("bob")}};
    struct action none = {.verb = VERB_SET, .object = {OBJECT_ROLE, TEXT(""), TEXT("none")}};
    cr_expect_eq(decide_one(&policy, STATEMENT_SET, &bob, &nothing_known).verdict, VERDICT_ALLOW);
    cr_expect_eq(decide_one(&policy, STATEMENT_SET, &none, &nothing_known).verdict, VERDICT_REJECT);
}

Test(decide, tells_what_became_of_each_rule)
{
    struct rule rules[2];
    struct policy policy = escalating(rules);
    const struct decide_context context = {.policy = &policy, .catalog = catalog, .setting_values = NULL};
    struct action action = update_orders("total", WHERE_KEY, 1);
    struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
    const struct rule_outcome *outcomes =
        decide_outcomes(&test_arena, &context, &shape, &nothing_known, &action);
    cr_assert(outcomes[0].names_action && outcomes[0].failed == CONDITION_COLUMNS);
    cr_assert(text_is(outcomes[0].column, "total"));
    cr_assert(outcomes[1].names_action && outcomes[1].failed == CONDITION_NONE);
}

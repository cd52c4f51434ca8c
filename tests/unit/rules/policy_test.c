/* policy_test.c - facts about policies, rules in words, and rules that cannot be meant. */
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    enum verdict verdict;
    const char *words;
    bool reads_only, makes_objects, allows_everything;
} facts[] = {
    {VERDICT_ALLOW, "select on shop.*", true, false, false},
    {VERDICT_ALLOW, "select listen on shop.* channel:jobs", true, false, false},
    {VERDICT_ALLOW, "insert on shop.*", false, false, false},
    {VERDICT_HOLD, "delete on shop.*", false, false, false},
    {VERDICT_REJECT, "delete on shop.*", true, false, false},
    {VERDICT_ALLOW, "lock on shop.*", false, false, false},
    {VERDICT_ALLOW, "call on shop.*", false, true, false},
    {VERDICT_HOLD, "create on shop.*", false, true, false},
    {VERDICT_REJECT, "create on shop.*", true, false, false},
    {VERDICT_ALLOW, "set on setting:search_path", false, true, false},
    {VERDICT_ALLOW, "set on setting:work_mem", false, false, false},
    {VERDICT_ALLOW, "all on *", false, true, true},
    {VERDICT_HOLD, "all on *", false, true, false},
    {VERDICT_ALLOW, "all on *.*", false, true, false},
    {VERDICT_ALLOW, "select on *", true, false, false},
};

Test(policy, facts_follow_from_its_rules)
{
    for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
        struct rule rules[] = {test_rule(facts[i].verdict, facts[i].words)};
        struct policy policy = test_policy(rules, 1);
        cr_expect_eq(policy_reads_only(&policy), facts[i].reads_only, "%s", facts[i].words);
        cr_expect_eq(policy_may_make_objects(&policy), facts[i].makes_objects, "%s",
                     facts[i].words);
        cr_expect_eq(policy_allows_everything(&policy), facts[i].allows_everything, "%s",
                     facts[i].words);
    }
}

Test(policy, allows_everything_only_where_nothing_before_pre_empts_it)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders"),
                           test_rule(VERDICT_ALLOW, "all on *")};
    struct policy policy = test_policy(rules, 2);
    cr_expect(policy_allows_everything(&policy));
    rules[0].max_rows = 5;
    cr_expect_not(policy_allows_everything(&policy));
    rules[0] = test_rule(VERDICT_REJECT, "select on shop.orders");
    cr_expect_not(policy_allows_everything(&policy));
    rules[0] = test_rule(VERDICT_ALLOW, "select on shop.orders");
    policy.hidden = test_columns("ssn", &policy.hidden_count);
    cr_expect_not(policy_allows_everything(&policy));
}

Test(policy, rule_is_told_in_words)
{
    struct rule rule = test_rule(VERDICT_ALLOW, "update on shop.orders shop.\"Old.Orders\"");
    rule.columns = test_names("status notes", &rule.column_count);
    rule.not_columns = test_columns("shop.orders.total", &rule.not_column_count);
    rule.where = WHERE_KEY;
    rule.max_rows = 1;
    rule.max_cost = 500000;
    struct text words = rule_in_words(&test_arena, &rule);
    cr_expect(text_is(words, "allow update on shop.orders, shop.\"Old.Orders\", columns status, "
                             "notes, not_columns shop.orders.total, where: key, max_rows: 1, "
                             "max_cost: 500000"),
              "%.*s", TEXT_ARGS(words));
    rule = test_rule(VERDICT_HOLD, "all on *");
    rule.quorum = 2;
    cr_expect(text_is(rule_in_words(&test_arena, &rule), "hold all on *, quorum: 2"));
}

Test(policy, long_rule_is_cut_in_words_not_in_meaning)
{
    struct rule rule = test_rule(VERDICT_ALLOW, "select on shop.orders");
    static char name[300];
    memset(name, 'x', sizeof name - 1);
    struct text columns[40];
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        columns[i] = text_from(name);
    rule.columns = columns;
    rule.column_count = ARRAY_SIZE(columns);
    struct text words = rule_in_words(&test_arena, &rule);
    cr_expect_leq(words.size, 4200);
    cr_expect(memcmp(words.bytes + words.size - 4, " ...", 4) == 0);
}

static const struct {
    const char *words;
    bool columns, where, max_rows, max_cost;
    const char *problem; /* a part of it; "" none */
} problems[] = {
    {"select on shop.orders", true, false, true, true, ""},
    {"update delete on shop.orders", false, true, true, true, ""},
    {"insert update on shop.orders", true, false, true, true, ""},
    {"delete on shop.orders", true, false, false, false, "delete does not have the condition columns"},
    {"insert on shop.orders", false, true, false, false, "insert does not have the condition where"},
    {"update call on shop.orders", false, false, true, false,
     "call does not have the condition max_rows"},
    {"lock on shop.orders", false, false, false, true, "lock does not have the condition max_cost"},
    {"all on *", false, false, true, false, "all takes no conditions"},
    {"all on *", false, false, false, false, ""},
    {"select on role:bob", false, false, false, false, "select acts on none"},
    {"select on orders", false, false, false, false, "select acts on none"},
    {"select on shop.orders orders", false, false, false, false, "write schema.name"},
    {"select set on shop.orders setting:work_mem", false, false, false, false, ""},
    {"set on role:bob", false, false, false, false, ""},
    {"listen on shop.orders", false, false, false, false, "listen acts on none"},
    {"all on shop.* schema:shop", false, false, false, false, ""},
    {"code on language:plpgsql shop.f", false, false, false, false, ""},
};

Test(policy, rule_that_cannot_be_meant_has_a_problem)
{
    for (size_t i = 0; i < ARRAY_SIZE(problems); i++) {
        struct rule rule = test_rule(VERDICT_ALLOW, problems[i].words);
        if (problems[i].columns)
            rule.columns = test_names("id", &rule.column_count);
        if (problems[i].where)
            rule.where = WHERE_REQUIRED;
        if (problems[i].max_rows)
            rule.max_rows = 1;
        if (problems[i].max_cost)
            rule.max_cost = 1;
        struct text problem = rule_problem(&test_arena, &rule);
        if (problems[i].problem[0] == '\0')
            cr_expect_eq(problem.size, 0, "%s: %.*s", problems[i].words, TEXT_ARGS(problem));
        else
            cr_expect_not_null(memmem(problem.bytes, problem.size, problems[i].problem,
                                      strlen(problems[i].problem)),
                               "%s: %.*s", problems[i].words, TEXT_ARGS(problem));
    }
}

static const struct {
    const char *first, *second;
    bool conditional; /* the first rule has one */
    bool shadowed;
} shadows[] = {
    {"select on shop.orders", "select on shop.orders", false, true},
    {"select on shop.orders", "select on shop.orders", true, false},
    {"select on shop.*", "select on shop.orders shop.items", false, true},
    {"select on shop.*", "select on shop.orders hr.people", false, false},
    {"select on shop.orders", "select on shop.*", false, false},
    {"select on shop.ord*", "select on shop.orders_*", false, true},
    {"select on shop.orders", "select insert on shop.orders", false, false},
    {"all on *", "select on shop.orders", false, true},
    {"select on *.orders", "select on shop.orders", false, true},
};

Test(policy, rule_behind_one_that_decides_the_same_is_found)
{
    for (size_t i = 0; i < ARRAY_SIZE(shadows); i++) {
        struct rule rules[] = {test_rule(VERDICT_REJECT, shadows[i].first),
                               test_rule(VERDICT_ALLOW, shadows[i].second)};
        if (shadows[i].conditional)
            rules[0].max_rows = 10;
        struct policy policy = test_policy(rules, 2);
        cr_expect_eq(rule_shadowed(&test_arena, &policy, 1).size > 0, shadows[i].shadowed,
                     "case %zu", i);
        cr_expect_eq(rule_shadowed(&test_arena, &policy, 0).size, 0, "case %zu", i);
    }
}

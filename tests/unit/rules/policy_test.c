/* policy_test.c - facts about policies, rules in words, and rules that cannot be meant. */
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum verdict verdict;
    const char *words;
    bool reads_only, makes_objects, allows_everything;
    bool makes_if_released; /* what is held counted as well */
} facts[] = {
    {VERDICT_ALLOW, "select on shop.*", true, false, false, false},
    {VERDICT_ALLOW, "select listen on shop.* channel:jobs", true, false, false, false},
    {VERDICT_ALLOW, "insert on shop.*", false, false, false, false},
    {VERDICT_HOLD, "delete on shop.*", false, false, false, false},
    {VERDICT_REJECT, "delete on shop.*", true, false, false, false},
    {VERDICT_ALLOW, "lock on shop.*", false, false, false, false},
    {VERDICT_ALLOW, "call on shop.*", false, true, false, true},
    {VERDICT_HOLD, "create on shop.*", false, false, false, true},
    {VERDICT_REJECT, "create on shop.*", true, false, false, false},
    {VERDICT_ALLOW, "set on setting:search_path", false, true, false, true},
    {VERDICT_ALLOW, "set on setting:work_mem", false, false, false, false},
    {VERDICT_ALLOW, "all on *", false, true, true, true},
    {VERDICT_HOLD, "all on *", false, false, false, true},
    {VERDICT_ALLOW, "all on *.*", false, true, false, true},
    {VERDICT_ALLOW, "select on *", true, false, false, false},
};

Test(policy, facts_follow_from_its_rules)
{
    for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
        struct rule rules[] = {test_rule(facts[i].verdict, facts[i].words)};
        struct policy policy = test_policy(rules, 1);
        cr_expect_eq(policy_reads_only(&policy), facts[i].reads_only, "%s", facts[i].words);
        cr_expect_eq(policy_may_make_objects(&policy, false, NULL), facts[i].makes_objects, "%s",
                     facts[i].words);
        cr_expect_eq(policy_may_make_objects(&policy, true, NULL), facts[i].makes_if_released, "%s",
                     facts[i].words);
        cr_expect_eq(policy_allows_everything(&policy), facts[i].allows_everything, "%s",
                     facts[i].words);
    }
}

Test(policy, call_of_a_sequence_runs_no_code)
{
    static const struct {
        const char *words;
        bool makes_objects;
    } cases[] = {
        {"call on shop.s", false},        {"call on shop.s shop.s2", false}, {"call on shop.s shop.f", true},
        {"call on shop.both", true},      {"call on shop.unknown", true},    {"call on shop.*", true},
        {"call on *", true},              {"call on other.s", true},         {"call drop on shop.s", true},
        {"call on shop.t", true},
    };
    static const char *const relations[] = {"s", "s2", "both", "t"};
    static const char *const functions[] = {"f", "both"};
    struct catalog *catalog = catalog_new();
    for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
        catalog_add_relation(catalog, &(struct relation){.oid = 1 + (uint32_t)i, .schema = TEXT("shop"),
                                                         .name = text_from(relations[i]),
                                                         .kind = i == 3 ? 'r' : 'S', .persistence = 'p'});
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
        catalog_add_function(catalog, &(struct function){.oid = 9 + (uint32_t)i, .schema = TEXT("shop"),
                                                         .name = text_from(functions[i]), .kind = 'f'});
    catalog_seal(catalog, (struct instant){0}, 150000);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rule rules[] = {test_rule(VERDICT_ALLOW, cases[i].words)};
        struct policy policy = test_policy(rules, 1);
        cr_expect_eq(policy_may_make_objects(&policy, false, catalog), cases[i].makes_objects, "%s", cases[i].words);
        cr_expect(policy_may_make_objects(&policy, false, NULL), "%s", cases[i].words);
    }
    catalog_release(catalog);
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
    rule.max_effect = 3;
    rule.max_cost = 500000;
    struct text words = rule_in_words(&test_arena, &rule);
    cr_expect(text_is(words, "allow update on shop.orders, shop.\"Old.Orders\", columns status, "
                             "notes, not_columns shop.orders.total, where: key, max_rows: 1, "
                             "max_effect: 3, max_cost: 500000"),
              "%.*s", TEXT_ARGS(words));
    rule = test_rule(VERDICT_HOLD, "all on *");
    rule.quorum = 2;
    cr_expect(text_is(rule_in_words(&test_arena, &rule), "hold all on *, quorum: 2"));
    rule = test_rule(VERDICT_ALLOW, "maintain on shop.orders");
    rule.max_lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
    cr_expect(text_is(rule_in_words(&test_arena, &rule),
                      "allow maintain on shop.orders, max_lock: share_update_exclusive"));
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

static void write_condition(struct rule *rule, const char *condition)
{
    if (strcmp(condition, "columns") == 0)
        rule->columns = test_names("id", &rule->column_count);
    if (strcmp(condition, "not_columns") == 0)
        rule->not_columns = test_columns("ssn", &rule->not_column_count);
    if (strcmp(condition, "where") == 0)
        rule->where = WHERE_REQUIRED;
    if (strcmp(condition, "max_rows") == 0)
        rule->max_rows = 1;
    if (strcmp(condition, "max_effect") == 0)
        rule->max_effect = 1;
    if (strcmp(condition, "max_cost") == 0)
        rule->max_cost = 1;
    if (strcmp(condition, "max_lock") == 0)
        rule->max_lock = LOCK_SHARE;
}

static const char *object_of(enum verb verb)
{
    if (verb == VERB_EXECUTE)
        return "refund_order";
    if (verb == VERB_SET)
        return "setting:work_mem";
    return verb == VERB_LISTEN || verb == VERB_NOTIFY ? "channel:c" : "shop.orders";
}

Test(policy, each_condition_is_for_its_verbs)
{
    static const struct {
        const char *condition, *verbs;
    } cases[] = {
        {"columns", " select insert update "},
        {"not_columns", " select insert update "},
        {"where", " update delete "},
        {"max_rows", " select insert update delete "},
        {"max_effect", " insert update delete truncate call code "},
        {"max_cost", " select insert update delete "},
        {"max_lock", " create alter drop truncate lock maintain "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++) {
            char words[80], spaced[24];
            snprintf(words, sizeof words, "%s on %s", verb_name((enum verb)verb),
                     object_of((enum verb)verb));
            snprintf(spaced, sizeof spaced, " %s ", verb_name((enum verb)verb));
            struct rule rule = test_rule(VERDICT_HOLD, words);
            rule.rehearse = true;
            cr_expect_eq(rule_problem(&test_arena, &rule).size, 0, "%s", words);
            write_condition(&rule, cases[i].condition);
            cr_expect_eq(rule_problem(&test_arena, &rule).size == 0,
                         strstr(cases[i].verbs, spaced) != NULL, "%s, %s", words,
                         cases[i].condition);
        }
}

Test(policy, max_effect_of_what_is_only_counted_in_a_rehearsal_needs_one)
{
    static const struct {
        enum verdict verdict;
        bool rehearse;
        const char *words, *problem;
    } cases[] = {
        {VERDICT_ALLOW, false, "delete on shop.orders", ""},
        {VERDICT_ALLOW, false, "delete truncate on shop.orders",
         "the rows that truncate changes are only counted in a rehearsal, so max_effect can never hold "
         "here: write it into a hold rule"},
        {VERDICT_HOLD, false, "delete truncate on shop.orders", ""},
        {VERDICT_HOLD, false, "call on shop.f",
         "call is not rehearsed, so max_effect can never hold: add rehearse: true if nothing that it does "
         "outlives a rollback"},
        {VERDICT_HOLD, true, "call code on shop.f", ""},
        {VERDICT_REJECT, false, "call code on shop.f", ""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rule rule = test_rule(cases[i].verdict, cases[i].words);
        rule.rehearse = cases[i].rehearse;
        rule.max_effect = 5;
        cr_expect(text_is(rule_problem(&test_arena, &rule), cases[i].problem), "case %zu", i);
    }
}

static const struct {
    const char *words, *condition;
    const char *problem; /* "" none */
} problems[] = {
    {"insert update on shop.orders", "columns", ""},
    {"select delete insert on shop.orders", "columns",
     "delete does not have the condition columns: split the rule in two, one for select, insert and "
     "one for delete without it"},
    {"insert on shop.orders", "where",
     "insert does not have the condition where, which is for update, delete"},
    {"update call on shop.orders", "max_rows",
     "call does not have the condition max_rows: split the rule in two, one for update and one for "
     "call without it"},
    {"select create on shop.orders", "max_lock",
     "select does not have the condition max_lock: split the rule in two, one for create and one for "
     "select without it"},
    {"all on *", "max_rows",
     "all takes no conditions, so max_rows cannot stand here: name the verbs"},
    {"all on *", "", ""},
    {"select on role:bob", "",
     "select acts on none of the objects under on, so it can never match"},
    {"select on orders", "", "select acts on none of the objects under on, so it can never match"},
    {"select on shop.orders orders", "",
     "no verb of this rule acts on orders: write schema.name"},
    {"select on shop.orders role:bob", "", "no verb of this rule acts on role:bob"},
    {"select set on shop.orders setting:work_mem", "", ""},
    {"set on role:bob", "", ""},
    {"listen on shop.orders", "",
     "listen acts on none of the objects under on, so it can never match"},
    {"all on shop.* schema:shop", "", ""},
    {"code on language:plpgsql shop.f", "", ""},
};

Test(policy, rule_that_cannot_be_meant_has_a_problem)
{
    for (size_t i = 0; i < ARRAY_SIZE(problems); i++) {
        struct rule rule = test_rule(VERDICT_ALLOW, problems[i].words);
        write_condition(&rule, problems[i].condition);
        struct text problem = rule_problem(&test_arena, &rule);
        cr_expect(text_is(problem, problems[i].problem), "%s: %.*s", problems[i].words,
                  TEXT_ARGS(problem));
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

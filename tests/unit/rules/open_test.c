/* open_test.c - what is open to an agent, and so may be told in a server's error. */
#include "rules/open.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

enum { PARENT = 101, CHILD, GRANDCHILD, FAR };

static struct catalog *catalog;

/* shop.parent ← shop.child (cascade) ← shop.grandchild (no action); shop.far ← shop.child. */
static struct relation *table(uint32_t oid, const char *name)
{
    static struct column columns[] = {{.name = TEXT_INIT("id"), .number = 1},
                                      {.name = TEXT_INIT("up"), .number = 2},
                                      {.name = TEXT_INIT("deep"), .number = 3}};
    static struct relation tables[8];
    static size_t used;
    struct relation *made = &tables[used++ % ARRAY_SIZE(tables)];
    *made = (struct relation){.oid = oid,
                              .schema = TEXT("shop"),
                              .name = text_from(name),
                              .kind = 'r',
                              .columns = columns,
                              .column_count = ARRAY_SIZE(columns)};
    return made;
}

static void refer(struct relation *parent, uint32_t child, const char *name, char on_delete)
{
    static const int16_t id[] = {1}, up[] = {2};
    struct foreign_key *key = arena_allocate(catalog_arena(catalog), sizeof *key);
    *key = (struct foreign_key){text_from(name), child, on_delete, 'a', id, up, 1};
    parent->referenced_by = key;
    parent->referenced_by_count = 1;
}

static struct catalog *family(bool triggers, bool rules)
{
    static const int16_t id[] = {1}, deep[] = {3};
    static struct key keys[2];
    keys[0] = (struct key){TEXT("child_pkey"), true, id, 1};
    keys[1] = (struct key){TEXT("child_deep_key"), false, deep, 1};
    catalog = catalog_new();
    struct relation *parent = table(PARENT, "parent"), *child = table(CHILD, "child"),
                    *grandchild = table(GRANDCHILD, "grandchild"), *far = table(FAR, "far");
    refer(parent, CHILD, "child_up_fkey", 'c');
    refer(child, GRANDCHILD, "grandchild_up_fkey", 'a');
    refer(far, CHILD, "child_far_fkey", 'a');
    child->keys = keys;
    child->key_count = 2;
    child->has_triggers = triggers;
    child->has_rules = rules;
    struct relation *all[] = {parent, child, grandchild, far};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++)
        catalog_add_relation(catalog, all[i]);
    catalog_seal(catalog, (struct instant){0}, 150000);
    return catalog;
}

static void teardown(void)
{
    catalog_release(catalog);
    catalog = NULL;
    arena_release(&test_arena);
}

TestSuite(open, .fini = teardown);

static struct policy opening(const char *words)
{
    static struct rule rules[1];
    rules[0] = test_rule(VERDICT_ALLOW, words);
    rules[0].max_rows = 10;
    return test_policy(rules, 1);
}

static enum opening opening_of(const struct policy *policy, enum verb verb, const char *name)
{
    const struct decide_context context = {.policy = policy, .catalog = catalog, .setting_values = NULL};
    struct action action = test_action(catalog, verb, "shop", name, "id");
    struct shape shape =
        test_shape(verb == VERB_SELECT ? STATEMENT_SELECT : STATEMENT_WRITE, &action, 1);
    return statement_opening(&test_arena, &context, &shape);
}

Test(open, is_every_table_that_a_statement_can_reach)
{
    static const struct {
        const char *rule;
        enum verb verb;
        const char *table;
        enum opening expected;
    } cases[] = {
        {"select on shop.child", VERB_SELECT, "child", OPENING_ALL},
        {"select on shop.parent", VERB_SELECT, "child", OPENING_NONE},
        {"select on shop.child", VERB_INSERT, "child", OPENING_NONE}, /* it looks at the parents */
        {"select on shop.child shop.parent", VERB_INSERT, "child", OPENING_NONE},
        {"select on shop.child shop.parent shop.far", VERB_INSERT, "child", OPENING_ALL},
        {"select on shop.parent", VERB_INSERT, "parent", OPENING_ALL},
        {"select on shop.parent", VERB_DELETE, "parent", OPENING_NONE},
        /* The cascade goes on: the child's own children and other parents. */
        {"select on shop.parent shop.child", VERB_DELETE, "parent", OPENING_NONE},
        {"select on shop.parent shop.child shop.grandchild", VERB_DELETE, "parent", OPENING_NONE},
        {"select on shop.*", VERB_DELETE, "parent", OPENING_ALL},
        {"select on shop.far shop.child", VERB_DELETE, "far",
         OPENING_ALL}, /* no action: no further */
        {"insert on shop.*", VERB_INSERT, "child", OPENING_NONE},
        {"select on shop.*", VERB_TRUNCATE, "parent", OPENING_NONE},
    };
    family(false, false);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy policy = opening(cases[i].rule);
        cr_expect_eq(opening_of(&policy, cases[i].verb, cases[i].table), cases[i].expected,
                     "case %zu", i);
    }
}

Test(open, is_not_what_an_owners_code_may_do)
{
    family(true, false);
    struct policy policy = opening("select on shop.*");
    cr_expect_eq(opening_of(&policy, VERB_UPDATE, "child"), OPENING_BESIDES_TRIGGERS);
    cr_expect_eq(opening_of(&policy, VERB_DELETE, "parent"), OPENING_BESIDES_TRIGGERS);
    cr_expect_eq(opening_of(&policy, VERB_SELECT, "child"), OPENING_ALL);
    catalog_release(catalog);
    family(true, true);
    cr_expect_eq(opening_of(&policy, VERB_UPDATE, "child"), OPENING_NONE);
}

Test(open, is_a_catalog_of_which_every_table_is)
{
    static const struct {
        const char *rule;
        bool expected;
    } cases[] = {
        {"select on shop.*", true},
        {"select on shop.parent shop.child shop.far", false},
        {"select on shop.parent shop.child shop.grandchild shop.far", true},
        {"insert on shop.*", false},
    };
    family(true, true);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy policy = opening(cases[i].rule);
        const struct decide_context context = {.policy = &policy, .catalog = catalog, .setting_values = NULL};
        cr_expect_eq(catalog_is_open(&test_arena, &context), cases[i].expected, "case %zu", i);
    }
    struct policy policy = opening("select on shop.*");
    const struct decide_context unknown = {.policy = &policy, .catalog = NULL, .setting_values = NULL};
    cr_expect_not(catalog_is_open(&test_arena, &unknown));
}

Test(open, is_no_table_on_a_foreign_server_nor_the_parent_of_one)
{
    for (int child_is_foreign = 0; child_is_foreign < 2; child_is_foreign++) {
        catalog = catalog_new();
        struct relation *parent = table(PARENT, "parent"), *child = table(CHILD, "child");
        static const uint32_t parents[] = {PARENT};
        parent->has_children = true;
        child->parents = parents;
        child->parent_count = 1;
        child->kind = child_is_foreign ? 'f' : 'r';
        catalog_add_relation(catalog, parent);
        catalog_add_relation(catalog, child);
        catalog_seal(catalog, (struct instant){0}, 150000);
        struct policy policy = opening("select on shop.*");
        enum opening expected = child_is_foreign ? OPENING_NONE : OPENING_ALL;
        cr_expect_eq(opening_of(&policy, VERB_SELECT, "parent"), expected);
        cr_expect_eq(opening_of(&policy, VERB_INSERT, "parent"), expected);
        cr_expect_eq(opening_of(&policy, VERB_DELETE, "parent"), expected);
        cr_expect_eq(opening_of(&policy, VERB_SELECT, "child"), expected);
        catalog_release(catalog);
    }
    catalog = NULL;
}

Test(open, is_no_statement_that_runs_what_others_left)
{
    static const struct {
        enum statement_kind kind;
        enum opening expected;
    } cases[] = {
        {STATEMENT_COMMIT, OPENING_NONE},  {STATEMENT_SET, OPENING_NONE},
        {STATEMENT_CODE, OPENING_NONE},    {STATEMENT_UTILITY, OPENING_NONE},
        {STATEMENT_EXECUTE, OPENING_NONE}, {STATEMENT_FETCH, OPENING_NONE},
        {STATEMENT_UNKNOWN, OPENING_NONE}, {STATEMENT_ROLLBACK_TO, OPENING_ALL},
        {STATEMENT_BEGIN, OPENING_ALL},
    };
    family(false, false);
    struct policy policy = opening("select on shop.*");
    const struct decide_context context = {.policy = &policy, .catalog = catalog, .setting_values = NULL};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct shape shape = {.kind = cases[i].kind};
        cr_expect_eq(statement_opening(&test_arena, &context, &shape), cases[i].expected,
                     "case %zu", i);
    }
    const struct shape execute = {.kind = STATEMENT_EXECUTE};
    const struct shape explain = {.kind = STATEMENT_EXPLAIN, .inner = &execute};
    cr_expect_eq(statement_opening(&test_arena, &context, &explain), OPENING_NONE);
}

Test(open, is_a_violation_whose_columns_are)
{
    static const struct {
        const char *sqlstate;
        const char *constraint;
        bool without_deep; /* shop.child.deep hidden */
        bool without_up;   /* shop.child.up hidden */
        bool expected;
    } cases[] = {
        {"23505", "child_pkey", true, true, true},
        {"23505", "child_deep_key", false, false, true},
        {"23505", "child_deep_key", true, false, false},
        {"23505", "unknown", false, false, true}, /* then the whole row must be open */
        {"23505", "unknown", true, false, false},
        {"23503", "child_up_fkey", true, false, true},
        {"23503", "child_up_fkey", false, true, false},
        {"23503", "unknown", false, false, false},
        {"23502", "", true, false, false},
        {"23502", "", false, false, true},
        {"23514", "any", false, true, false},
        {"22P02", "child_pkey", false, false, false},
    };
    family(false, false);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy policy = opening("select on shop.*");
        policy.hidden = test_columns(cases[i].without_deep ? cases[i].without_up
                                                                 ? "shop.child.deep shop.child.up"
                                                                 : "shop.child.deep"
                                                           : "shop.child.up",
                                     &policy.hidden_count);
        if (!cases[i].without_deep && !cases[i].without_up)
            policy.hidden_count = 0;
        const struct decide_context context = {.policy = &policy, .catalog = catalog, .setting_values = NULL};
        cr_expect_eq(violation_is_open(&test_arena, &context, text_from(cases[i].sqlstate),
                                       TEXT("shop"), TEXT("child"), text_from(cases[i].constraint)),
                     cases[i].expected, "case %zu", i);
    }
}

Test(open, is_everything_only_without_any_exception)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "insert on shop.child"),
                           test_rule(VERDICT_ALLOW, "select on *")};
    struct policy policy = test_policy(rules, 2);
    cr_expect(policy_opens_everything(&policy));
    policy.hidden = test_columns("*.*.email", &policy.hidden_count);
    cr_expect_not(policy_opens_everything(&policy));
    policy.hidden_count = 0;
    rules[1].columns = test_names("id", &rules[1].column_count);
    cr_expect_not(policy_opens_everything(&policy));
    struct rule rejecting[] = {test_rule(VERDICT_REJECT, "select on hr.*"),
                               test_rule(VERDICT_ALLOW, "select on *")};
    policy = test_policy(rejecting, 2);
    cr_expect_not(policy_opens_everything(&policy));
    policy.observe = true;
    cr_expect(policy_opens_everything(&policy));
}

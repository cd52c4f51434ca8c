/* reach_test.c - which tables foreign keys carry a statement on into, and which of them are counted. */
#include "rules/reach.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { PARENT = 101, CHILD, GRANDCHILD, TREE, ABSENT };

static struct catalog *catalog;

/*
 * shop.child.up → parent.id, ON DELETE CASCADE ON UPDATE CASCADE; grandchild.up → child.up, ON DELETE SET NULL
 * ON UPDATE CASCADE; tree.up → tree.id, ON DELETE CASCADE; parent.up is what a table that the catalog does not
 * have refers to, ON UPDATE CASCADE.
 */
static void setup(void)
{
    static const int16_t id[] = {1}, up[] = {2};
    static const struct column columns[] = {{.name = TEXT_INIT("id"), .number = 1},
                                            {.name = TEXT_INIT("up"), .number = 2}};
    static const struct foreign_key to_parent[] = {
        {TEXT_INIT("child_up_fkey"), CHILD, 'c', 'c', id, up, 1},
        {TEXT_INIT("absent_up_fkey"), ABSENT, 'a', 'c', up, id, 1}};
    static const struct foreign_key to_child = {
        TEXT_INIT("grandchild_up_fkey"), GRANDCHILD, 'n', 'c', up, up, 1};
    static const struct foreign_key to_tree = {TEXT_INIT("tree_up_fkey"), TREE, 'c', 'a', id, up, 1};
    struct relation tables[] = {
        {.oid = PARENT, .name = TEXT("parent"), .referenced_by = to_parent, .referenced_by_count = 2},
        {.oid = CHILD, .name = TEXT("child"), .referenced_by = &to_child, .referenced_by_count = 1},
        {.oid = GRANDCHILD, .name = TEXT("grandchild")},
        {.oid = TREE, .name = TEXT("tree"), .referenced_by = &to_tree, .referenced_by_count = 1}};
    catalog = catalog_new();
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        tables[i].schema = TEXT("shop");
        tables[i].kind = 'r';
        tables[i].columns = columns;
        tables[i].column_count = ARRAY_SIZE(columns);
        catalog_add_relation(catalog, &tables[i]);
    }
    catalog_seal(catalog, (struct instant){0}, 150000);
}

static void teardown(void)
{
    catalog_release(catalog);
    catalog = NULL;
    arena_release(&test_arena);
}

TestSuite(reach, .init = setup, .fini = teardown);

/* "parent child*": those with a star are carried. */
static const char *reached(enum verb verb, const char *table, const char *columns,
                           enum reach_through through, bool *incomplete)
{
    static char told[200];
    struct action action = test_action(catalog, verb, "shop", table, columns);
    struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
    struct reach reach;
    told[0] = '\0';
    reach_find_all(&test_arena, &shape, catalog, through, &reach);
    for (size_t i = 0; i < reach.count; i++)
        snprintf(told + strlen(told), sizeof told - strlen(told), "%s%.*s%s", i > 0 ? " " : "",
                 TEXT_ARGS(catalog_relation_by_oid(catalog, reach.tables[i].oid)->name),
                 reach.tables[i].carried ? "*" : "");
    *incomplete = reach.incomplete;
    return told;
}

Test(reach, follows_the_actions_of_the_verb_and_of_the_columns_that_it_sets)
{
    static const struct {
        enum verb verb;
        const char *table, *columns;
        enum reach_through through;
        const char *reached;
        bool incomplete;
    } cases[] = {
        {VERB_DELETE, "parent", "", REACH_SET_KEYS, "parent child* grandchild*", false},
        {VERB_DELETE, "child", "", REACH_SET_KEYS, "child grandchild*", false},
        {VERB_INSERT, "parent", "id up", REACH_SET_KEYS, "parent", false},
        {VERB_UPDATE, "parent", "id", REACH_SET_KEYS, "parent child* grandchild*", false},
        {VERB_UPDATE, "parent", "up", REACH_SET_KEYS, "parent", true},
        {VERB_UPDATE, "child", "id", REACH_SET_KEYS, "child", false},
        {VERB_UPDATE, "child", "id", REACH_ANY_KEY, "child grandchild*", false},
        {VERB_DELETE, "tree", "", REACH_SET_KEYS, "tree*", false},
        {VERB_UPDATE, "tree", "id", REACH_SET_KEYS, "tree", false},
        {VERB_DELETE, "grandchild", "", REACH_SET_KEYS, "grandchild", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool incomplete;
        const char *told = reached(cases[i].verb, cases[i].table, cases[i].columns, cases[i].through,
                                   &incomplete);
        cr_expect_str_eq(told, cases[i].reached, "case %zu: %s", i, told);
        cr_expect_eq(incomplete, cases[i].incomplete, "case %zu", i);
    }
}

static struct decision limited(enum verb verb, const char *table, const char *columns)
{
    static struct rule rule;
    rule = test_rule(VERDICT_ALLOW, "insert update delete on shop.*");
    rule.max_rows = 5;
    static struct policy policy;
    policy = test_policy(&rule, 1);
    struct action *action = arena_allocate(&test_arena, sizeof *action);
    *action = test_action(catalog, verb, "shop", table, columns);
    action->foreign_key_actions = true;
    struct shape *shape = arena_allocate(&test_arena, sizeof *shape);
    *shape = test_shape(STATEMENT_WRITE, action, 1);
    return test_decide(&policy, catalog, shape);
}

Test(reach, is_what_a_limited_write_counts_besides_its_tag)
{
    struct decision decision = limited(VERB_DELETE, "parent", "");
    cr_assert_eq(decision.verdict, VERDICT_ALLOW);
    cr_assert_eq(decision.write_rows_max, 5);
    cr_assert_eq(decision.counted.count, 2);
    cr_assert(decision.counted.oids[0] == CHILD && decision.counted.oids[1] == GRANDCHILD);
    cr_assert_not(decision.counted.with_targets);
}

Test(reach, counts_the_target_where_its_own_rows_can_be_carried)
{
    struct decision decision = limited(VERB_DELETE, "tree", "");
    cr_assert_eq(decision.verdict, VERDICT_ALLOW);
    cr_assert_eq(decision.counted.count, 1);
    cr_assert(decision.counted.oids[0] == TREE && decision.counted.with_targets);
}

Test(reach, that_is_not_known_whole_cannot_be_counted)
{
    cr_assert_eq(limited(VERB_UPDATE, "parent", "up").failed, CONDITION_FOREIGN_KEYS);
    cr_assert_eq(limited(VERB_DELETE, "grandchild", "").failed, CONDITION_FOREIGN_KEYS);
}

Test(reach, ends_at_its_limit_when_it_is_to_be_counted)
{
    static struct foreign_key keys[LIMIT_COUNTED_TABLES + 1];
    static const int16_t id[] = {1};
    struct catalog *wide = catalog_new();
    struct relation parent = {.oid = 1, .schema = TEXT("shop"), .name = TEXT("parent"), .kind = 'r'};
    for (uint32_t i = 0; i < ARRAY_SIZE(keys); i++) {
        struct text name = arena_printf(&test_arena, "child_%u", i);
        struct relation child = {.oid = i + 2, .schema = TEXT("shop"), .name = name, .kind = 'r'};
        keys[i] = (struct foreign_key){name, i + 2, 'c', 'a', id, id, 1};
        catalog_add_relation(wide, &child);
    }
    parent.referenced_by = keys;
    parent.referenced_by_count = ARRAY_SIZE(keys);
    catalog_add_relation(wide, &parent);
    catalog_seal(wide, (struct instant){0}, 150000);
    struct action action = test_action(wide, VERB_DELETE, "shop", "parent", "");
    struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
    struct reach reach;
    reach_find_all(&test_arena, &shape, wide, REACH_SET_KEYS, &reach);
    cr_assert(reach.incomplete && reach.count == LIMIT_COUNTED_TABLES);
    reach_find_all(&test_arena, &shape, wide, REACH_ANY_KEY, &reach);
    cr_assert(!reach.incomplete && reach.count == ARRAY_SIZE(keys) + 1);
    catalog_release(wide);
}

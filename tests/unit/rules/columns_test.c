/* columns_test.c - hidden columns, not_columns, views, partitions, introspection. */
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

static struct catalog *catalog;

static void setup(void) { catalog = test_catalog(); }
static void teardown(void)
{
    catalog_release(catalog);
    arena_release(&test_arena);
}

TestSuite(columns, .init = setup, .fini = teardown);

static enum condition failure_of(const struct policy *policy, const struct action *actions,
                                 size_t count)
{
    struct shape shape = test_shape(STATEMENT_SELECT, actions, count);
    struct decision decision = test_decide(policy, catalog, &shape);
    return decision.verdict == VERDICT_REJECT ? decision.failed : CONDITION_NONE;
}

static struct action select_of(const char *schema, const char *name, const char *columns,
                               bool unknown)
{
    struct action action = test_action(catalog, VERB_SELECT, schema, name, columns);
    action.columns_unknown = unknown;
    return action;
}

static const struct {
    const char *hidden, *schema, *name, *columns;
    bool unknown;
    enum condition failed;
} cases[] = {
    {"shop.customers.ssn", "shop", "customers", "id name", false, CONDITION_NONE},
    {"shop.customers.ssn", "shop", "customers", "id ssn", false, CONDITION_HIDDEN},
    {"shop.customers.ssn", "shop", "customers", "", true, CONDITION_HIDDEN},
    {"shop.customers.ssn", "shop", "customers", "", false, CONDITION_NONE},
    {"shop.customers.ssn", "shop", "orders", "", true, CONDITION_NONE},
    {"*.*.ssn", "shop", "orders", "", true, CONDITION_NONE},
    {"*.*.ssn", "shop", "absent", "", true, CONDITION_HIDDEN},
    {"ssn", "shop", "customers", "ssn", false, CONDITION_HIDDEN},
    /* A partition's rows are the parent's, and the other way round. */
    {"shop.events.secret", "shop", "events_1", "secret", false, CONDITION_HIDDEN},
    {"shop.events_1.secret", "shop", "events", "secret", false, CONDITION_HIDDEN},
    {"shop.events_1.secret", "shop", "events", "id", false, CONDITION_NONE},
};

Test(columns, hidden_ones_are_closed_whatever_the_rules_say)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.*")};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct policy policy = test_policy(rules, 1);
        policy.hidden = test_columns(cases[i].hidden, &policy.hidden_count);
        struct action action =
            select_of(cases[i].schema, cases[i].name, cases[i].columns, cases[i].unknown);
        cr_expect_eq(failure_of(&policy, &action, 1), cases[i].failed, "case %zu", i);
    }
}

Test(columns, hidden_ones_are_closed_to_writes_and_renames)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update alter on shop.* schema:shop")};
    struct policy policy = test_policy(rules, 1);
    policy.hidden = test_columns("shop.customers.ssn", &policy.hidden_count);
    struct action update = test_action(catalog, VERB_UPDATE, "shop", "customers", "ssn");
    struct action alter = test_action(catalog, VERB_ALTER, "shop", "customers", "");
    struct action other = test_action(catalog, VERB_ALTER, "shop", "orders", "");
    struct action schema = {.verb = VERB_ALTER, .object = {OBJECT_SCHEMA, TEXT(""), TEXT("shop")}};
    cr_expect_eq(failure_of(&policy, &update, 1), CONDITION_HIDDEN);
    cr_expect_eq(failure_of(&policy, &alter, 1), CONDITION_HIDDEN);
    cr_expect_eq(failure_of(&policy, &schema, 1), CONDITION_HIDDEN);
    cr_expect_eq(failure_of(&policy, &other, 1), CONDITION_NONE);
}

/* The view shop.directory reads shop.customers (id, ssn). */
static void view_actions(struct action actions[2])
{
    actions[0] = select_of("shop", "directory", "tax_id", false);
    actions[1] = select_of("shop", "customers", "id ssn", false);
    actions[1].part = PART_VIEW;
    actions[1].view_action = 0;
}

Test(columns, of_a_view_count_through_its_definition)
{
    struct action actions[2];
    view_actions(actions);
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.directory shop.customers")};
    struct policy policy = test_policy(rules, 1);
    cr_expect_eq(failure_of(&policy, actions, 2), CONDITION_NONE);
    rules[0].not_columns = test_columns("shop.customers.ssn", &rules[0].not_column_count);
    cr_expect_eq(failure_of(&policy, actions, 2), CONDITION_NOT_COLUMNS);
    rules[0].not_column_count = 0;
    policy.hidden = test_columns("shop.customers.ssn", &policy.hidden_count);
    cr_expect_eq(failure_of(&policy, actions, 2), CONDITION_HIDDEN);
}

Test(columns, a_view_stands_for_itself_only_where_a_rule_names_it)
{
    struct action actions[2];
    view_actions(actions);
    struct rule literal[] = {test_rule(VERDICT_ALLOW, "select on shop.directory")};
    struct rule star[] = {test_rule(VERDICT_ALLOW, "select on shop.dir*")};
    struct policy named = test_policy(literal, 1), covered = test_policy(star, 1);
    cr_expect_eq(failure_of(&named, actions, 2), CONDITION_NONE);
    cr_expect_eq(failure_of(&covered, actions, 2), CONDITION_NO_RULE);
    /* Not where an agent could have made it. */
    named.makeable = test_rule(VERDICT_ALLOW, "create on shop.*").on;
    named.makeable_count = 1;
    cr_expect_eq(failure_of(&named, actions, 2), CONDITION_NO_RULE);
}

Test(columns, a_view_in_a_named_view_is_its_owners)
{
    struct action actions[3];
    view_actions(actions);
    actions[2] = select_of("shop", "orders", "id", false);
    actions[2].part = PART_VIEW;
    actions[2].view_action = 1;
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.directory")};
    struct policy policy = test_policy(rules, 1);
    cr_expect_eq(failure_of(&policy, actions, 3), CONDITION_NONE);
}

Test(columns, unknown_ones_are_on_the_stricter_side_of_every_rule)
{
    struct action star = select_of("shop", "absent", "", true);
    struct rule allow[] = {test_rule(VERDICT_ALLOW, "select on shop.*")};
    allow[0].columns = test_names("id", &allow[0].column_count);
    struct policy allowing = test_policy(allow, 1);
    cr_expect_eq(failure_of(&allowing, &star, 1), CONDITION_COLUMNS);
    struct rule reject[] = {test_rule(VERDICT_REJECT, "select on shop.*"),
                            test_rule(VERDICT_ALLOW, "select on shop.*")};
    reject[0].columns = test_names("ssn", &reject[0].column_count);
    struct policy rejecting = test_policy(reject, 2);
    cr_expect_eq(failure_of(&rejecting, &star, 1), CONDITION_REJECT_RULE);
    struct action id = select_of("shop", "customers", "id", false);
    cr_expect_eq(failure_of(&rejecting, &id, 1), CONDITION_NONE);
}

static const struct {
    const char *schema, *name, *columns;
    bool unknown;
    enum condition failed_open, failed_closed;
} catalogs[] = {
    {"pg_catalog", "pg_class", "relname oid", false, CONDITION_NONE, CONDITION_INTROSPECTION},
    {"pg_catalog", "pg_class", "", false, CONDITION_NONE, CONDITION_INTROSPECTION},
    {"pg_catalog", "pg_class", "reltuples", false, CONDITION_INTROSPECTION,
     CONDITION_INTROSPECTION},
    {"pg_catalog", "pg_class", "relname", true, CONDITION_INTROSPECTION, CONDITION_INTROSPECTION},
    {"pg_catalog", "pg_authid", "", false, CONDITION_INTROSPECTION, CONDITION_INTROSPECTION},
    {"pg_catalog", "pg_proc", "prosrc", false, CONDITION_INTROSPECTION, CONDITION_INTROSPECTION},
    {"information_schema", "columns", "column_name", false, CONDITION_NONE,
     CONDITION_INTROSPECTION},
};

Test(columns, of_the_catalog_are_open_to_introspection_by_list)
{
    struct policy open = test_policy(NULL, 0), closed = test_policy(NULL, 0);
    open.introspection = true;
    for (size_t i = 0; i < ARRAY_SIZE(catalogs); i++) {
        struct action action = select_of(catalogs[i].schema, catalogs[i].name, catalogs[i].columns,
                                         catalogs[i].unknown);
        cr_expect_eq(failure_of(&open, &action, 1), catalogs[i].failed_open, "case %zu", i);
        cr_expect_eq(failure_of(&closed, &action, 1), catalogs[i].failed_closed, "case %zu", i);
    }
}

Test(columns, of_the_catalog_open_by_a_rule_that_names_it)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on pg_catalog.pg_stats")};
    struct policy policy = test_policy(rules, 1);
    struct action action = select_of("pg_catalog", "pg_stats", "most_common_vals", false);
    cr_expect_eq(failure_of(&policy, &action, 1), CONDITION_NONE);
    /* Samples of hidden columns are in there. */
    policy.hidden = test_columns("shop.customers.ssn", &policy.hidden_count);
    cr_expect_eq(failure_of(&policy, &action, 1), CONDITION_INTROSPECTION);
}

Test(columns, catalog_functions_are_open_to_introspection)
{
    struct policy open = test_policy(NULL, 0), closed = test_policy(NULL, 0);
    open.introspection = true;
    struct action look_up = test_action(catalog, VERB_CALL, "pg_catalog", "format_type", "");
    struct action wait = test_action(catalog, VERB_CALL, "pg_catalog", "pg_sleep", "");
    look_up.reason = TEXT("catalog: names by oid");
    wait.reason = TEXT("waits");
    cr_expect_eq(failure_of(&open, &look_up, 1), CONDITION_NONE);
    cr_expect_eq(failure_of(&closed, &look_up, 1), CONDITION_INTROSPECTION);
    cr_expect_eq(failure_of(&open, &wait, 1), CONDITION_NO_RULE);
}

/* message_test.c - rejections in words: what they say, how long they are, what they do not tell. */
#include "rules/message.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <string.h>

static struct catalog *catalog;

static void setup(void) { catalog = test_catalog(); }
static void teardown(void)
{
    catalog_release(catalog);
    arena_release(&test_arena);
}

TestSuite(message, .init = setup, .fini = teardown);

static const struct numbers nothing_known;

static struct error_text reject(const struct policy *policy, const struct shape *shape,
                                const struct numbers *numbers)
{
    const struct decide_context context = {.policy = policy, .catalog = catalog, .setting_values = NULL};
    struct decision decision;
    decide(&test_arena, &context, shape, numbers, &decision);
    cr_assert_eq(decision.verdict, VERDICT_REJECT);
    struct error_text error = message_rejected(&test_arena, &context, shape, &decision, numbers);
    cr_expect_leq(error.message.size, 200, "%.*s", TEXT_ARGS(error.message));
    cr_expect(text_starts_with(error.message, "pgwicket: "));
    return error;
}

static bool has(struct text text, const char *part)
{
    return memmem(text.bytes, text.size, part, strlen(part)) != NULL;
}

Test(message, names_action_object_and_what_is_allowed_instead)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.items"),
                           test_rule(VERDICT_ALLOW, "insert on shop.items"),
                           test_rule(VERDICT_HOLD, "update on shop.items")};
    rules[0].max_rows = 5000;
    rules[2].where = WHERE_REQUIRED;
    struct policy policy = test_policy(rules, 3);
    struct action action = test_action(catalog, VERB_DELETE, "shop", "items", "");
    struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
    struct error_text error = reject(&policy, &shape, &nothing_known);
    cr_expect_str_eq(error.sqlstate, "42501");
    cr_expect(text_is(error.message,
                      "pgwicket: DELETE on shop.items is not allowed; nothing was run"));
    cr_expect(has(error.detail, "On it you may: select (up to 5000 rows), insert, update "
                                "(with a WHERE that limits the rows, after a person's approval)."),
              "%.*s", TEXT_ARGS(error.detail));
}

Test(message, of_a_reject_rule_carries_its_words)
{
    struct rule rules[] = {test_rule(VERDICT_REJECT, "select on shop.customers")};
    rules[0].message = TEXT("Customers are not for agents.");
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "customers", "id");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    cr_expect(has(reject(&policy, &shape, &nothing_known).message, "Customers are not for agents."));
}

Test(message, names_the_columns_that_are_open)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.customers")};
    rules[0].not_columns = test_columns("shop.customers.ssn", &rules[0].not_column_count);
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "customers", "id name ssn");
    action.columns_why = TEXT("* in SELECT *");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    struct error_text error = reject(&policy, &shape, &nothing_known);
    cr_expect(text_is(error.message,
                      "pgwicket: column shop.customers.ssn may not be read; nothing was run"));
    cr_expect(has(error.detail, "* in SELECT *"));
    cr_expect(text_is(error.hint, "Name only these columns: id, name."));
}

Test(message, says_what_was_rolled_back)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.orders")};
    rules[0].max_rows = 1000;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_UPDATE, "shop", "orders", "status");
    struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
    const struct numbers real = {.has_rows = true, .rows = 1342, .rows_real = true};
    const struct numbers estimate = {.has_rows = true, .rows = 90000};
    struct error_text error = reject(&policy, &shape, &real);
    cr_expect_str_eq(error.sqlstate, "54000");
    cr_expect(text_is(error.message, "pgwicket: UPDATE of shop.orders would change 1342 rows, limit "
                                     "1000; rolled back, nothing was changed"));
    cr_expect(has(reject(&policy, &shape, &estimate).message,
                  "would change about 90000 rows, limit 1000; nothing was run"));
}

Test(message, tells_cost_and_limit)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    rules[0].max_cost = 500000;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    const struct numbers numbers = {.has_cost = true, .cost = 2410000};
    struct error_text error = reject(&policy, &shape, &numbers);
    cr_expect_str_eq(error.sqlstate, "54000");
    cr_expect(has(error.message, "(estimated cost 2410000, limit 500000)"));
}

Test(message, tells_the_lock_that_is_taken_and_the_most_that_may_be)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "alter on shop.orders"),
                           test_rule(VERDICT_ALLOW, "alter on shop.*")};
    rules[0].max_lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
    rules[1].max_lock = LOCK_ROW_SHARE;
    struct policy policy = test_policy(rules, 2);
    struct action action = test_action(catalog, VERB_ALTER, "shop", "orders", "");
    action.lock = LOCK_SHARE;
    struct shape shape = test_shape(STATEMENT_UTILITY, &action, 1);
    struct error_text error = reject(&policy, &shape, &nothing_known);
    cr_expect_str_eq(error.sqlstate, "42501");
    cr_expect(text_is(error.message,
                      "pgwicket: ALTER on shop.orders is not allowed as written: it takes the table "
                      "lock share, the most is share_update_exclusive; nothing was run"),
              "%.*s", TEXT_ARGS(error.message));
    cr_expect(has(error.detail, "Nearest rule p.1"));
    cr_expect(has(error.hint, "CONCURRENTLY"));
}

Test(message, does_not_tell_what_is_behind_a_view)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.dir*")};
    struct policy policy = test_policy(rules, 1);
    struct action actions[] = {test_action(catalog, VERB_SELECT, "shop", "directory", "tax_id"),
                               test_action(catalog, VERB_SELECT, "shop", "customers", "ssn")};
    actions[1].part = PART_VIEW;
    struct shape shape = test_shape(STATEMENT_SELECT, actions, 2);
    policy.hidden = test_columns("shop.customers.ssn", &policy.hidden_count);
    struct error_text hidden = reject(&policy, &shape, &nothing_known);
    policy.hidden_count = 0;
    struct error_text no_rule = reject(&policy, &shape, &nothing_known);
    const struct text told[] = {hidden.message,  hidden.detail,  hidden.hint,
                                no_rule.message, no_rule.detail, no_rule.hint};
    for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
        cr_expect_not(has(told[i], "customers"), "%.*s", TEXT_ARGS(told[i]));
        cr_expect_not(has(told[i], "ssn"), "%.*s", TEXT_ARGS(told[i]));
    }
    cr_expect(has(hidden.message, "shop.directory"));
}

Test(message, is_the_same_for_forbidden_and_for_unknown_names)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    struct action forbidden = test_action(catalog, VERB_SELECT, "shop", "items", "id");
    struct action unknown = test_action(catalog, VERB_SELECT, "shop", "itemz", "id");
    unknown.unresolved = true;
    struct shape shape = test_shape(STATEMENT_SELECT, &forbidden, 1);
    struct error_text first = reject(&policy, &shape, &nothing_known);
    shape.actions = &unknown;
    struct error_text second = reject(&policy, &shape, &nothing_known);
    cr_expect_str_eq(first.sqlstate, second.sqlstate);
    cr_expect(text_is(first.message,
                      "pgwicket: SELECT on shop.items is not allowed; nothing was run"));
    cr_expect(text_is(second.message,
                      "pgwicket: SELECT on shop.itemz is not allowed; nothing was run"));
    cr_expect_eq(first.detail.size, second.detail.size);
    cr_expect(text_equal(first.hint, second.hint));
}

Test(message, of_a_setting_says_what_is_possible)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    const struct {
        struct setting_use use;
        const char *part;
    } uses[] = {
        {{SETTING_SET, TEXT("search_path"), TEXT("hr"), false}, "search_path is pinned to \"shop\""},
        {{SETTING_SET, TEXT("statement_timeout"), TEXT("0"), false}, "at most 30s"},
        {{SETTING_SET, TEXT("work_mem"), TEXT("1GB"), false}, "SET work_mem is not allowed"},
        {{SETTING_SHOW, TEXT("data_directory"), TEXT(""), false}, "SHOW data_directory"},
        {{SETTING_SHOW, TEXT("all"), TEXT(""), false}, "name one setting"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
        struct shape shape = {.kind = STATEMENT_SET, .settings = &uses[i].use, .setting_count = 1};
        struct error_text error = reject(&policy, &shape, &nothing_known);
        cr_expect(has(error.message, uses[i].part), "%.*s", TEXT_ARGS(error.message));
    }
}

Test(message, stays_short_whatever_the_names_are)
{
    static char name[200];
    memset(name, 'n', 63);
    struct rule rules[] = {test_rule(VERDICT_REJECT, "select on *")};
    rules[0].message = text_from("A very long text of the policy's author that explains at length why "
                                 "this cannot be, and what else there would be to do about it, if only "
                                 "there were room for all of it in the message of the error.");
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, name, name, "");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    (void)reject(&policy, &shape, &nothing_known);
}

Test(message, has_words_for_every_rejection)
{
    struct rule rules[] = {test_rule(VERDICT_HOLD, "insert call on shop.*"),
                           test_rule(VERDICT_ALLOW, "delete on shop.*")};
    rules[1].max_rows = 1;
    struct policy policy = test_policy(rules, 2);
    struct action insert = test_action(catalog, VERB_INSERT, "shop", "orders", "id");
    struct action call = test_action(catalog, VERB_CALL, "shop", "f", "");
    struct action erase = test_action(catalog, VERB_DELETE, "shop", "orders", "");
    struct action cascading = test_action(catalog, VERB_DELETE, "shop", "items", "");
    cascading.foreign_key_actions = true;
    struct shape shapes[] = {
        test_shape(STATEMENT_COPY_OUT, &insert, 1), test_shape(STATEMENT_SELECT, &call, 1),
        test_shape(STATEMENT_SELECT, &erase, 1),   test_shape(STATEMENT_WRITE, &cascading, 1),
        {.kind = STATEMENT_TWO_PHASE},             test_shape(STATEMENT_EXPLAIN, &insert, 1)};
    shapes[5].explain_analyze = true;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        struct error_text error = reject(&policy, &shapes[i], &nothing_known);
        cr_expect(has(error.message, "nothing was run"), "%.*s", TEXT_ARGS(error.message));
        cr_expect_not(has(error.message, "this statement is not allowed"), "case %zu", i);
    }
}

Test(message, of_a_long_result_names_rule_and_limit)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    rules[0].max_rows = 5000;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    struct decision decision = test_decide(&policy, catalog, &shape);
    struct error_text error = message_result_too_long(&test_arena, &decision);
    cr_expect_str_eq(error.sqlstate, "54000");
    cr_expect(has(error.message, "longer than 5000 rows"));
    cr_expect(has(error.detail, "p.1"));
}

Test(message, lists_actions_once_each)
{
    struct action actions[] = {test_action(catalog, VERB_SELECT, "shop", "orders", "id"),
                               test_action(catalog, VERB_SELECT, "shop", "orders", "status"),
                               test_action(catalog, VERB_CALL, "pg_catalog", "nextval", "")};
    struct shape shape = test_shape(STATEMENT_SELECT, actions, 3);
    struct text words = message_actions(&test_arena, &shape);
    cr_expect(text_is(words, "select shop.orders, call pg_catalog.nextval"), "%.*s",
              TEXT_ARGS(words));
}

Test(message, reason_fits_the_verdict)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    rules[0].columns = test_names("id", &rules[0].column_count);
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1), nothing = {.kind = STATEMENT_BEGIN};
    struct decision decision = test_decide(&policy, catalog, &shape);
    cr_expect(text_is(message_reason(&test_arena, &decision), "allow by p.1"));
    decision = test_decide(&policy, catalog, &nothing);
    cr_expect(text_is(message_reason(&test_arena, &decision), "needs no rule"));
    action = test_action(catalog, VERB_SELECT, "shop", "orders", "status");
    decision = test_decide(&policy, catalog, &shape);
    cr_expect(text_is(message_reason(&test_arena, &decision),
                      "columns not met: select shop.orders, column status, nearest rule p.1"));
}

/* texts_test.c - each rejection to the letter: MESSAGE says what to do, DETAIL why, HINT what
 * works. */
#include "rules/message.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <string.h>

static struct catalog *catalog;
static const struct numbers nothing_known;

static void setup(void)
{
    catalog = test_catalog();
}
static void teardown(void)
{
    catalog_release(catalog);
    arena_release(&test_arena);
}

TestSuite(texts, .init = setup, .fini = teardown);

/* By these words drivers recognise a lost connection; what has them may be sent again by a pool. */
static const char *const lost[] = {
    "connection", "server closed", "terminat", "shutting down", "timeout",
    "timed out",  "broken pipe",   "socket",   "network",       "EOF"};

struct told {
    const char *sqlstate, *message, *detail, *hint;
};

static void expect(const struct error_text *error, const struct told *told)
{
    cr_expect_str_eq(error->sqlstate, told->sqlstate);
    cr_expect(text_is(error->message, told->message), "%.*s", TEXT_ARGS(error->message));
    cr_expect(text_is(error->detail, told->detail), "%.*s", TEXT_ARGS(error->detail));
    cr_expect(text_is(error->hint, told->hint), "%.*s", TEXT_ARGS(error->hint));
    cr_expect_leq(error->message.size, 200);
    for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
        cr_expect_null(memmem(error->message.bytes, error->message.size, lost[i], strlen(lost[i])),
                       "%s in %.*s", lost[i], TEXT_ARGS(error->message));
}

static void rejects(const struct policy *policy, const struct shape *shape,
                    const struct numbers *numbers, struct told told)
{
    const struct decide_context context = {policy, catalog, NULL};
    struct decision decision;
    decide(&test_arena, &context, shape, numbers, &decision);
    cr_assert_eq(decision.verdict, VERDICT_REJECT, "%s", told.message);
    struct error_text error = message_rejected(&test_arena, &context, shape, &decision, numbers);
    expect(&error, &told);
}

static void rejects_action(const struct policy *policy, struct action action, struct told told)
{
    enum statement_kind kind = action.verb == VERB_SELECT ? STATEMENT_SELECT : STATEMENT_WRITE;
    struct shape shape = test_shape(kind, &action, 1);
    rejects(policy, &shape, &nothing_known, told);
}

#define GENERAL                                                                                    \
    "Rephrasing or retrying does not help: use an allowed action, or report that the policy "      \
    "would "                                                                                       \
    "have to change. SHOW pgwicket.policy lists what is allowed."

Test(texts, of_verb_and_object)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.items"),
                           test_rule(VERDICT_ALLOW, "insert on shop.items")};
    rules[0].max_rows = 5000;
    rules[1].max_rows = 20;
    struct policy policy = test_policy(rules, 2);
    rejects_action(
        &policy, test_action(catalog, VERB_DELETE, "shop", "items", ""),
        (struct told){
            "42501", "pgwicket: DELETE on shop.items is not allowed; nothing was run",
            "Policy p: no rule allows delete on shop.items. On this table you may: select "
            "(up to 5000 rows), insert (up to 20 rows).",
            GENERAL});
    rejects_action(&policy, test_action(catalog, VERB_SELECT, "hr", "salaries", "id"),
                   (struct told){"42501",
                                 "pgwicket: SELECT on hr.salaries is not allowed; nothing was run",
                                 "Policy p: no rule allows select on hr.salaries.", GENERAL});
}

Test(texts, of_a_reject_rule)
{
    struct rule rules[] = {test_rule(VERDICT_REJECT, "select on shop.items")};
    rules[0].message = TEXT("Items are not for agents.");
    struct policy policy = test_policy(rules, 1);
    rejects_action(
        &policy, test_action(catalog, VERB_SELECT, "shop", "items", "id"),
        (struct told){
            "42501",
            "pgwicket: SELECT on shop.items is not allowed; nothing was run. Items are not for "
            "agents.",
            "Rule p.1 of policy p rejects it. Items are not for agents.", GENERAL});
}

Test(texts, of_columns)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.customers"),
                           test_rule(VERDICT_ALLOW, "update on shop.customers")};
    rules[1].columns = test_names("name", &rules[1].column_count);
    struct policy policy = test_policy(rules, 2);
    policy.hidden = test_columns("*.*.ssn", &policy.hidden_count);
    struct action star = test_action(catalog, VERB_SELECT, "shop", "customers", "id name ssn");
    star.columns_why = TEXT("* in SELECT *");
    rejects_action(
        &policy, star,
        (struct told){"42501",
                      "pgwicket: column shop.customers.ssn may not be read; nothing was run",
                      "Policy p, condition hidden. The column is reached through * in SELECT *.",
                      "Name only these columns: id, name."});
    rejects_action(
        &policy, test_action(catalog, VERB_UPDATE, "shop", "customers", "id"),
        (struct told){
            "42501",
            "pgwicket: UPDATE of shop.customers is not allowed as written: column id may not be "
            "written; nothing was run",
            "Nearest rule p.2: allow update on shop.customers, columns name. Condition not met: "
            "columns.",
            "Write only these columns: name."});
    policy.hidden_count = 0;
    rules[0].not_columns = test_columns("shop.customers.ssn", &rules[0].not_column_count);
    rejects_action(
        &policy, star,
        (struct told){"42501",
                      "pgwicket: column shop.customers.ssn may not be read; nothing was run",
                      "Rule p.1, condition not_columns. The column is reached through * in "
                      "SELECT *.",
                      "Name only these columns: id, name."});
}

Test(texts, of_where)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders"),
                           test_rule(VERDICT_ALLOW, "update on shop.orders"),
                           test_rule(VERDICT_ALLOW, "delete on shop.orders")};
    rules[1].where = WHERE_KEY;
    rules[2].where = WHERE_REQUIRED;
    struct policy policy = test_policy(rules, 3);
    struct action update = test_action(catalog, VERB_UPDATE, "shop", "orders", "status");
    rejects_action(
        &policy, update,
        (struct told){"42501",
                      "pgwicket: UPDATE of shop.orders is not allowed as written: WHERE must fix "
                      "the primary key (id); nothing was run",
                      "Nearest rule p.2: allow update on shop.orders, where: key. Condition not "
                      "met: where: key.",
                      "Write: UPDATE shop.orders SET ... WHERE id = <value>, once for each row."});
    rejects_action(
        &policy, test_action(catalog, VERB_DELETE, "shop", "orders", ""),
        (struct told){"42501",
                      "pgwicket: DELETE on shop.orders is not allowed as written: WHERE must "
                      "limit the rows by a column of the table; nothing was run",
                      "Nearest rule p.3: allow delete on shop.orders, where: required. Condition "
                      "not met: where: required.",
                      "Compare a column with a value; conditions that are always true do not "
                      "count, and with OR each side needs one."});
    /* A key of columns that may not be read is not named. */
    policy.hidden = test_columns("shop.orders.id", &policy.hidden_count);
    rejects_action(
        &policy, update,
        (struct told){"42501",
                      "pgwicket: UPDATE of shop.orders is not allowed as written: WHERE must fix "
                      "a unique key; nothing was run",
                      "Nearest rule p.2: allow update on shop.orders, where: key. Condition not "
                      "met: where: key.",
                      "Compare every column of a unique key with = and a value, or with IN and a "
                      "list of values."});
}

Test(texts, of_rows)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders"),
                           test_rule(VERDICT_ALLOW, "update insert on shop.orders")};
    rules[1].max_rows = 2;
    struct policy policy = test_policy(rules, 2);
    struct action update = test_action(catalog, VERB_UPDATE, "shop", "orders", "status");
    struct action insert = test_action(catalog, VERB_INSERT, "shop", "orders", "status");
    insert.rows_max = 3;
    struct shape shape = test_shape(STATEMENT_WRITE, &update, 1);
    const struct numbers real = {.has_rows = true, .rows = 1342, .rows_real = true};
    rejects(&policy, &shape, &real,
            (struct told){
                "54000",
                "pgwicket: UPDATE of shop.orders would change 1342 rows, limit 2; rolled back, "
                "nothing was changed",
                "Rule p.2, max_rows 2. Real number: 1342.",
                "Narrow the WHERE, or work in ranges of the key (id)."});
    rejects_action(
        &policy, insert,
        (struct told){"54000",
                      "pgwicket: INSERT into shop.orders would change up to 3 rows, limit 2; "
                      "nothing was run",
                      "Rule p.2, max_rows 2.", "Insert at most 2 rows with one statement."});
    update.foreign_key_actions = true;
    rejects_action(
        &policy, update,
        (struct told){"42501",
                      "pgwicket: UPDATE of shop.orders is not allowed as written: its rows cannot "
                      "be limited, as foreign keys change other tables; nothing was run",
                      "Nearest rule p.2: allow insert, update on shop.orders, max_rows: 2. "
                      "Condition not met: max_rows.",
                      "Change the referencing rows first, or report that the policy would have to "
                      "change."});
}

Test(texts, of_cost_name_indexed_columns_that_may_be_read)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    rules[0].max_cost = 500000;
    struct policy policy = test_policy(rules, 1);
    policy.hidden = test_columns("*.*.customer_id", &policy.hidden_count);
    static const int16_t indexed[] = {1, 2, 3}; /* id, customer_id, status */
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct relation orders = *action.relation;
    orders.indexed = indexed;
    orders.indexed_count = ARRAY_SIZE(indexed);
    action.relation = &orders;
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    const struct numbers numbers = {.has_cost = true, .cost = 2410000};
    rejects(&policy, &shape, &numbers,
            (struct told){
                "54000",
                "pgwicket: query is too expensive (estimated cost 2410000, limit 500000); nothing "
                "was run",
                "Rule p.1, max_cost 500000.",
                "Filter on an indexed column: shop.orders(id), shop.orders(status)."});
}

Test(texts, of_a_view_do_not_tell_what_is_below)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.dir*")};
    struct policy policy = test_policy(rules, 1);
    struct action actions[] = {test_action(catalog, VERB_SELECT, "shop", "directory", "tax_id"),
                               test_action(catalog, VERB_SELECT, "shop", "customers", "ssn")};
    actions[1].part = PART_VIEW;
    struct shape shape = test_shape(STATEMENT_SELECT, actions, 2);
    rejects(
        &policy, &shape, &nothing_known,
        (struct told){
            "42501",
            "pgwicket: SELECT on shop.directory is not allowed, because of what this view does; "
            "nothing was run",
            "Policy p allows to select from shop.directory, but not what its definition does.",
            GENERAL});
}

Test(texts, of_settings)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    const struct setting_use use = {SETTING_SET, TEXT("work_mem"), TEXT("1GB"), false};
    struct shape shape = {.kind = STATEMENT_SET, .settings = &use, .setting_count = 1};
    rejects(&policy, &shape, &nothing_known,
            (struct told){
                "42501",
                "pgwicket: SET work_mem is not allowed: a rule must allow set on setting:work_mem; "
                "nothing was run",
                "Policy p: a rule must allow set on setting:work_mem.",
                "Go on without it: the session has the policy's value. SHOW pgwicket.policy lists "
                "what is allowed."});
}

Test(texts, of_a_result_that_is_too_long)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    rules[0].max_rows = 5000;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct shape shape = test_shape(STATEMENT_SELECT, &action, 1);
    struct decision decision = test_decide(&policy, catalog, &shape);
    struct error_text error = message_result_too_long(&test_arena, &decision);
    expect(&error,
           &(struct told){
               "54000",
               "pgwicket: result is longer than 5000 rows; stopped, the rows received so far "
               "are incomplete",
               "Rule p.1, max_rows 5000.", "Filter more, add LIMIT 5000, or aggregate."});
}

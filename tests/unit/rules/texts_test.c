/* texts_test.c - each rejection to the letter: MESSAGE says what to do, DETAIL why, HINT what
 * works. */
#include "rules/message.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <math.h>
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
    for (size_t i = 0; i < ARRAY_SIZE(lost); i++) {
        const char *found =
            memmem(error->message.bytes, error->message.size, lost[i], strlen(lost[i]));
        bool is_name = found != NULL && found[-1] == '_'; /* of a setting */
        cr_expect(found == NULL || is_name, "%s in %.*s", lost[i], TEXT_ARGS(error->message));
    }
}

static void rejects(const struct policy *policy, const struct shape *shape,
                    const struct numbers *numbers, struct told told)
{
    const struct decide_context context = {.policy = policy, .catalog = catalog, .setting_values = NULL};
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
            "Policy p: no rule allows delete on shop.items. On it you may: select "
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

/* An agent that owns a schema of the path: orders could also be a table of its own. */
Test(texts, of_where_on_a_name_without_a_schema)
{
    static const struct {
        enum where_strength where;
        const char *detail;
    } conditions[] = {
        {WHERE_KEY, "Nearest rule p.1: allow update on shop.*, own.*, where: key. Condition not met: where: "
                    "key. A name without a schema proves nothing of the table that it means."},
        {WHERE_REQUIRED, "Nearest rule p.1: allow update on shop.*, own.*, where: required. Condition not "
                         "met: where: required. A name without a schema proves nothing of the table that "
                         "it means."},
    };
    for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
        struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.* own.*")};
        rules[0].where = conditions[i].where;
        struct policy policy = test_policy(rules, 1);
        struct action other = test_action(catalog, VERB_UPDATE, "own", "orders", "status");
        other.candidate = true;
        other.where_why = TEXT("a name without a schema proves nothing of the table that it means");
        rejects_action(
            &policy, other,
            (struct told){
                "42501",
                "pgwicket: UPDATE of own.orders is not allowed as written: the name could mean it, so "
                "write the schema of the table; nothing was run",
                conditions[i].detail,
                "The name has no schema, so it could mean this object, which the agent may have made: "
                "write the schema of the one that is meant, as in schema.table. The rest of the "
                "statement may stay as it is."});
    }
}

Test(texts, of_a_table_that_the_agent_may_change)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.*")};
    rules[0].where = WHERE_KEY;
    struct policy policy = test_policy(rules, 1);
    struct action update = test_action(catalog, VERB_UPDATE, "shop", "orders", "status");
    update.where = WHERE_REQUIRED;
    update.key_unsure = true;
    rejects_action(
        &policy, update,
        (struct told){"42501",
                      "pgwicket: UPDATE of shop.orders is not allowed as written: the agent may change "
                      "the table, so no key proves its rows; nothing was run",
                      "Nearest rule p.1: allow update on shop.*, where: key. Condition not met: where: key.",
                      "No WHERE helps. Report that the policy would have to say where: required and "
                      "max_rows for tables that the agent may change."});
}

Test(texts, of_an_object_that_a_name_could_mean)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    struct action other = test_action(catalog, VERB_UPDATE, "own", "orders", "status");
    other.candidate = true;
    rejects_action(
        &policy, other,
        (struct told){"42501",
                      "pgwicket: UPDATE of own.orders is not allowed, which a name without a schema could "
                      "mean; nothing was run",
                      "Policy p: no rule allows update on own.orders.",
                      "The name has no schema, so it could mean this object, which the agent may have made: "
                      "write the schema of the one that is meant, as in schema.table. The rest of the "
                      "statement may stay as it is."});
    const struct action call = {.verb = VERB_CALL,
                                .object = {OBJECT_NAME, TEXT("own"), TEXT("=")},
                                .candidate = true,
                                .rows_max = ROWS_UNPROVEN,
                                .location = -1};
    rejects_action(
        &policy, call,
        (struct told){"42501",
                      "pgwicket: CALL of own.= is not allowed, which a name without a schema could mean; "
                      "nothing was run",
                      "Policy p: no rule allows call on own.=.",
                      "The name has no schema, so it could mean this object, which the agent may have made: "
                      "write the schema of the one that is meant, of an operator as OPERATOR(pg_catalog.=)."});
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
                      "be limited, as foreign keys lead into too many tables; nothing was run",
                      "Nearest rule p.2: allow insert, update on shop.orders, max_rows: 2. "
                      "Condition not met: max_rows.",
                      "Change the referencing rows first, or report that the policy would have to "
                      "change."});
}

Test(texts, of_effects_tell_the_limit_and_not_what_is_in_tables_of_others)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "delete on shop.orders")};
    rules[0].max_effect = 4;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_DELETE, "shop", "orders", "");
    struct shape shape = test_shape(STATEMENT_WRITE, &action, 1);
    struct numbers numbers = {.has_effect = true, .effect = 9};
    struct told told = {"54000",
                        "pgwicket: DELETE on shop.orders would change more than 4 rows in all tables; "
                        "rolled back, nothing was changed",
                        "Rule p.1, max_effect 4: rows of all tables, those that cascades and triggers change "
                        "included.",
                        "Narrow the WHERE."};
    rejects(&policy, &shape, &numbers, told);
    numbers.effect = EFFECT_UNCOUNTED;
    told.message = "pgwicket: the rows that DELETE on shop.orders changes in all tables could not be counted; "
                   "rolled back, nothing was changed";
    rejects(&policy, &shape, &numbers, told);
    numbers = (struct numbers){.has_rows = true, .rows = 20000};
    told.message = "pgwicket: DELETE on shop.orders would change more than 4 rows in all tables; nothing was "
                   "run";
    rejects(&policy, &shape, &numbers, told);
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
    struct numbers numbers = {.has_cost = true, .cost = 2410000};
    struct told told = {
        "54000",
        "pgwicket: query is too expensive (estimated cost 2410000, limit 500000); nothing was run",
        "Rule p.1, max_cost 500000.",
        "Filter on an indexed column: shop.orders(id), shop.orders(status)."};
    rejects(&policy, &shape, &numbers, told);
    numbers.costliest = (struct plan_step){TEXT("sequential scan"), TEXT("shop"), TEXT("orders"), 150000};
    told.detail = "Rule p.1, max_cost 500000. Most expensive step: sequential scan of shop.orders "
                  "(150000 rows).";
    rejects(&policy, &shape, &numbers, told);
    numbers.costliest = (struct plan_step){TEXT("hash join"), TEXT(""), TEXT(""), 150000};
    told.detail = "Rule p.1, max_cost 500000. Most expensive step: hash join.";
    rejects(&policy, &shape, &numbers, told);
    /* Of a table that may not be selected nothing is told. */
    numbers.costliest = (struct plan_step){TEXT("sequential scan"), TEXT("hr"), TEXT("salaries"), 3};
    told.detail = "Rule p.1, max_cost 500000.";
    rejects(&policy, &shape, &numbers, told);
    numbers.cost = INFINITY;
    rejects(&policy, &shape, &numbers,
            (struct told){"54000",
                          "pgwicket: the cost of reading shop.orders is not known; nothing was run",
                          "Rule p.1, max_cost 500000.",
                          "Send it by itself. If that does not help, a table was never analysed: "
                          "report that ANALYZE must be run."});
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

static void rejects_setting(const struct policy *policy, enum statement_kind kind,
                            struct setting_use use, const char *message, const char *detail)
{
    struct shape shape = {.kind = kind, .settings = &use, .setting_count = 1};
    bool shows = use.act == SETTING_SHOW;
    rejects(policy, &shape, &nothing_known,
            (struct told){"42501", message, detail,
                          shows ? "Go on without it. SHOW pgwicket.policy lists what is allowed."
                                : "Go on without it: the session has the policy's value. SHOW "
                                  "pgwicket.policy lists what is allowed."});
}

static const struct {
    enum statement_kind kind;
    struct setting_use use;
    const char *message, *detail;
} uses[] = {
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("work_mem"), TEXT_INIT("1GB"), false},
     "pgwicket: SET work_mem is not allowed: a rule must allow set on setting:work_mem; nothing "
     "was run",
     "Policy p: a rule must allow set on setting:work_mem."},
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("app.tenant"), TEXT_INIT("18"), false},
     "pgwicket: SET app.tenant is not allowed: app.tenant is pinned by the policy; nothing was "
     "run",
     "Policy p: app.tenant is pinned by the policy."},
    {STATEMENT_SET,
     {SETTING_SET_LOCAL, TEXT_INIT("client_encoding"), TEXT_INIT("LATIN1"), false},
     "pgwicket: SET client_encoding is not allowed: client_encoding is always UTF8; nothing was "
     "run",
     "Policy p: client_encoding is always UTF8."},
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("search_path"), TEXT_INIT("hr"), false},
     "pgwicket: SET search_path is not allowed: search_path is pinned to \"shop\"; nothing was "
     "run",
     "Policy p: search_path is pinned to \"shop\"."},
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("idle_in_transaction_session_timeout"), TEXT_INIT("often"), false},
     "pgwicket: SET idle_in_transaction_session_timeout is not allowed: it may only be lowered, "
     "here to at most 60s; write an integer with ms, s, min, h or d; nothing was run",
     "Policy p: it may only be lowered, here to at most 60s; write an integer with ms, s, min, h "
     "or d."},
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("statement_timeout"), TEXT_INIT("1h"), false},
     "pgwicket: SET statement_timeout is not allowed: it may only be lowered, here to at most "
     "10s; nothing was run",
     "Policy p: it may only be lowered, here to at most 10s."},
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("client_min_messages"), TEXT_INIT("debug1"), false},
     "pgwicket: SET client_min_messages is not allowed: client_min_messages may be notice, "
     "warning or error; nothing was run",
     "Policy p: client_min_messages may be notice, warning or error."},
    {STATEMENT_SET,
     {SETTING_RESET, TEXT_INIT("transaction_read_only"), TEXT_INIT(""), false},
     "pgwicket: RESET transaction_read_only is not allowed: this policy has no write, so "
     "transactions stay READ ONLY; nothing was run",
     "Policy p: this policy has no write, so transactions stay READ ONLY."},
    {STATEMENT_SET,
     {SETTING_SET, TEXT_INIT("work_mem"), TEXT_INIT(""), true},
     "pgwicket: SET work_mem is not allowed: the new value must be a constant; nothing was run",
     "Policy p: the new value must be a constant."},
    {STATEMENT_SHOW,
     {SETTING_SHOW, TEXT_INIT("archive_command"), TEXT_INIT(""), false},
     "pgwicket: SHOW archive_command is not allowed: it may be read only where a rule allows set "
     "on setting:archive_command; nothing was run",
     "Policy p: it may be read only where a rule allows set on setting:archive_command."},
    {STATEMENT_SHOW,
     {SETTING_SHOW, TEXT_INIT("all"), TEXT_INIT(""), false},
     "pgwicket: SHOW all is not allowed: name one setting: SHOW ALL also tells paths and "
     "commands; nothing was run",
     "Policy p: name one setting: SHOW ALL also tells paths and commands."},
};

Test(texts, of_settings)
{
    const struct setting_rule settings[] = {
        {.name = TEXT("app.tenant"), .value = TEXT("17"), .pinned = true},
        {.name = TEXT("statement_timeout"), .value = TEXT("10s")}};
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    policy.settings = settings;
    policy.setting_count = ARRAY_SIZE(settings);
    for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
        rejects_setting(&policy, uses[i].kind, uses[i].use, uses[i].message, uses[i].detail);
}

Test(texts, of_forms_that_cannot_wait)
{
    static const struct {
        enum statement_kind kind;
        const char *rest, *hint;
    } all[] = {
        {STATEMENT_COPY_OUT, "which COPY cannot wait for", "Use INSERT or SELECT instead of COPY."},
        {STATEMENT_PREPARE, "so it must be sent by itself",
         "Send the statement directly, without EXPLAIN, PREPARE or DECLARE."},
        {STATEMENT_DECLARE, "so it must be sent by itself",
         "Send the statement directly, without EXPLAIN, PREPARE or DECLARE."},
        {STATEMENT_EXPLAIN, "so it must be sent by itself",
         "Send the statement directly, without EXPLAIN, PREPARE or DECLARE."},
    };
    struct rule rules[] = {test_rule(VERDICT_HOLD, "insert on shop.items")};
    rules[0].max_rows = 10;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_INSERT, "shop", "items", "id");
    action.rows_max = 1;
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        struct shape shape = test_shape(all[i].kind, &action, 1);
        struct text message =
            arena_printf(&test_arena,
                         "pgwicket: INSERT into shop.items needs a person's approval, %s; nothing was "
                         "run",
                         all[i].rest);
        rejects(&policy, &shape, &nothing_known,
                (struct told){"42501", message.bytes, "Rule p.1: hold insert on shop.items, max_rows: 10.",
                              all[i].hint});
    }
}

Test(texts, of_explain_analyze)
{
    struct rule rules[] = {test_rule(VERDICT_HOLD, "delete on shop.items"),
                           test_rule(VERDICT_ALLOW, "select on shop.items")};
    rules[1].max_rows = 10;
    struct policy policy = test_policy(rules, 2);
    const struct action actions[] = {test_action(catalog, VERB_DELETE, "shop", "items", ""),
                                     test_action(catalog, VERB_SELECT, "shop", "items", "id")};
    static const char *const rule[] = {"Rule p.1: hold delete on shop.items.",
                                       "Rule p.2: allow select on shop.items, max_rows: 10."};
    static const char hint[] = "Plain EXPLAIN shows the plan with its estimates.";
    for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
        struct shape shape = test_shape(STATEMENT_EXPLAIN, &actions[i], 1);
        shape.explain_analyze = true;
        rejects(&policy, &shape, &nothing_known,
                (struct told){"42501",
                              "pgwicket: EXPLAIN ANALYZE would run a statement that has limits or "
                              "needs approval: run it without ANALYZE; nothing was run",
                              rule[i], hint});
    }
    const struct shape execute = {.kind = STATEMENT_EXECUTE, .name = TEXT("prepared")};
    const struct shape shape = {
        .kind = STATEMENT_EXPLAIN, .explain_analyze = true, .inner = &execute};
    rejects(&policy, &shape, &nothing_known,
            (struct told){"42501",
                          "pgwicket: EXPLAIN ANALYZE of EXECUTE is not allowed: run it without "
                          "ANALYZE; nothing was run",
                          "", hint});
}

Test(texts, of_what_cannot_be_rehearsed)
{
    struct rule rules[] = {test_rule(VERDICT_HOLD, "call on shop.refund")};
    struct policy policy = test_policy(rules, 1);
    const struct action call = {
        .verb = VERB_CALL, .object = {OBJECT_NAME, TEXT("shop"), TEXT("refund")}, .location = -1};
    struct shape shape = test_shape(STATEMENT_UTILITY, &call, 1);
    rejects(&policy, &shape, &nothing_known,
            (struct told){"42501",
                          "pgwicket: CALL of shop.refund needs approval, but its effect cannot be "
                          "shown beforehand; nothing was run",
                          "Rule p.1: hold call on shop.refund. Only what a rollback undoes can be "
                          "tried out for an approver.",
                          "Do not retry or rephrase. Report that the rule would have to say "
                          "unrehearsed: hold."});
}

Test(texts, of_copy_without_a_limit)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    const struct action action = test_action(catalog, VERB_SELECT, "shop", "orders", "id");
    struct shape shape = test_shape(STATEMENT_COPY_OUT, &action, 1);
    rejects(&policy, &shape, &nothing_known,
            (struct told){"42501",
                          "pgwicket: COPY of shop.orders is not allowed: its rule sets no max_rows; "
                          "nothing was run",
                          "Nearest rule p.1: allow select on shop.orders. Condition not met: "
                          "max_rows.",
                          "Use SELECT. COPY is bulk export: a rule opens it by naming max_rows."});
}

Test(texts, of_two_phase_commit)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    const struct setting_use snapshot = {SETTING_TRANSACTION, TEXT("transaction_snapshot"),
                                         TEXT("00000003-1"), false};
    const struct shape shapes[] = {
        {.kind = STATEMENT_TWO_PHASE},
        {.kind = STATEMENT_SET, .settings = &snapshot, .setting_count = 1},
    };
    static const char detail[] = "Policy p: only a rule that allows all on * would open it.";
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
        rejects(&policy, &shapes[i], &nothing_known,
                (struct told){"42501",
                              "pgwicket: two-phase commit and imported snapshots are not allowed; "
                              "nothing was run",
                              detail,
                              "Use BEGIN and COMMIT in one session, without PREPARE TRANSACTION and "
                              "SET TRANSACTION SNAPSHOT."});
    const struct shape nothing = {.kind = STATEMENT_UTILITY};
    rejects(&policy, &nothing, &nothing_known,
            (struct told){"42501",
                          "pgwicket: a statement that names no object is not allowed; nothing was run",
                          detail, GENERAL});
}

Test(texts, of_catalogs)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on shop.orders")};
    struct policy policy = test_policy(rules, 1);
    const struct text column = TEXT("rolpassword");
    const struct action action = {.verb = VERB_SELECT,
                                  .object = {OBJECT_NAME, TEXT("pg_catalog"), TEXT("pg_authid")},
                                  .columns = &column,
                                  .column_count = 1,
                                  .location = -1};
    rejects_action(
        &policy, action,
        (struct told){"42501",
                      "pgwicket: SELECT on pg_catalog.pg_authid is not allowed; nothing was run",
                      "Policy p, introspection: reject. It closes the catalogs and what reads them.",
                      "SHOW pgwicket.policy lists the tables of this policy and what is allowed on "
                      "them."});
    policy.introspection = true;
    rejects_action(
        &policy, action,
        (struct told){"42501",
                      "pgwicket: column pg_catalog.pg_authid.rolpassword may not be read; nothing "
                      "was run",
                      "Policy p, introspection: allow. It opens names, types, keys, comments and "
                      "privileges of the catalogs; sizes, statistics, bodies, options, mappings and "
                      "other sessions stay closed.",
                      "Ask only for names and types: name the columns instead of *; of psql, use the "
                      "commands without +."});
}

Test(texts, of_table_locks)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "alter on shop.orders")};
    rules[0].max_lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
    struct policy policy = test_policy(rules, 1);
    struct action action = test_action(catalog, VERB_ALTER, "shop", "orders", "");
    action.lock = LOCK_ACCESS_EXCLUSIVE;
    struct shape shape = test_shape(STATEMENT_UTILITY, &action, 1);
    rejects(&policy, &shape, &nothing_known,
            (struct told){"42501",
                          "pgwicket: ALTER on shop.orders is not allowed as written: it takes the "
                          "table lock access_exclusive, the most is share_update_exclusive; nothing "
                          "was run",
                          "Nearest rule p.1: allow alter on shop.orders, max_lock: "
                          "share_update_exclusive. Condition not met: max_lock.",
                          "Weaker forms: CREATE INDEX, DROP INDEX, REINDEX, REFRESH CONCURRENTLY; "
                          "VACUUM without FULL; ADD CONSTRAINT of a foreign key NOT VALID, then "
                          "VALIDATE CONSTRAINT."});
}

/* However long the names are, it is told whether anything was run. */
Test(texts, are_short_and_end_with_what_was_done)
{
    const struct text longest =
        TEXT("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk");
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "alter on *")};
    rules[0].max_lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
    struct policy policy = test_policy(rules, 1);
    const struct action action = {.verb = VERB_ALTER,
                                  .object = {OBJECT_NAME, longest, longest},
                                  .lock = LOCK_ACCESS_EXCLUSIVE,
                                  .location = -1};
    const struct decide_context context = {.policy = &policy, .catalog = catalog, .setting_values = NULL};
    struct shape shape = test_shape(STATEMENT_UTILITY, &action, 1);
    struct decision decision = test_decide(&policy, catalog, &shape);
    struct error_text error =
        message_rejected(&test_arena, &context, &shape, &decision, &nothing_known);
    static const char end[] = "...; nothing was run";
    cr_assert_leq(error.message.size, 200);
    cr_expect(text_is(text_behind(error.message, error.message.size - strlen(end)), end), "%.*s",
              TEXT_ARGS(error.message));
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

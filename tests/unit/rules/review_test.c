/* review_test.c - a policy against a database: what is told, and that nothing is where all is well.
 */
#include "rules/review.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ORDERS = 11, ITEMS = 12, EVENTS_1 = 21 };

static struct catalog *catalog;

static void set_up(void)
{
    catalog = test_catalog();
}

static void tear_down(void)
{
    catalog_release(catalog);
    arena_release(&test_arena);
}

TestSuite(review, .init = set_up, .fini = tear_down);

static struct review review_with(const struct rights *rights)
{
    static const struct rights none;
    return (struct review){
        .arena = &test_arena, .catalog = catalog, .rights = rights != NULL ? rights : &none};
}

/* The one finding, or all of them for the message. */
static const char *only(const struct review *review)
{
    struct text all = TEXT("");
    for (size_t i = 0; i < review->count; i++)
        all = arena_printf(&test_arena, "%.*s%s%.*s", TEXT_ARGS(all), i > 0 ? " | " : "",
                           TEXT_ARGS(review->items[i].text));
    return arena_text(&test_arena, all).bytes;
}

static const char *findings_of(struct policy *policy, const struct rights *rights)
{
    struct review review = review_with(rights);
    review_policy(&review, policy);
    return only(&review);
}

static const struct {
    const char *rule;   /* an allow rule */
    const char *begins; /* "": no finding */
} patterns[] = {
    {"select on shop.orders", ""},
    {"select on shop.*", ""},
    {"select on shop.ev*", ""},
    {"select on *", ""},
    {"select on shop.ordres", "there is no shop.ordres in the database"},
    {"select on shp.orders", "there is no schema \"shp\" in the database"},
    {"select on shp.*", "there is no schema \"shp\" in the database"},
    {"select on shop.x*", "shop.x* covers nothing that is in the database now"},
    {"drop on schema:nowhere", "there is no schema \"nowhere\" in the database"},
    {"drop on schema:shop", ""},
    {"create on shop.anything", ""},
    {"create drop on dev.*", ""},
    {"call on shop.no_such", "there is no shop.no_such in the database"},
    {"call on pg_catalog.pg_sleep", ""},
    {"set on setting:work_mem", ""},
    {"all on *", ""},
};

Test(review, tells_names_that_mean_nothing)
{
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        struct rule rule = test_rule(VERDICT_ALLOW, patterns[i].rule);
        struct policy policy = test_policy(&rule, 1);
        cr_expect_str_eq(findings_of(&policy, NULL), patterns[i].begins, "%s: %s", patterns[i].rule,
                         findings_of(&policy, NULL));
    }
}

Test(review, tells_columns_and_schemas_that_mean_nothing)
{
    struct rule rule = test_rule(VERDICT_ALLOW, "select on shop.orders");
    size_t count;
    rule.columns = test_names("status staus", &count);
    rule.column_count = count;
    rule.not_columns = test_columns("shop.orders.nothing", &count);
    rule.not_column_count = count;
    struct policy policy = test_policy(&rule, 1);
    policy.hidden = test_columns("shop.customers.ssn shop.customers.snn *.*.nowhere", &count);
    policy.hidden_count = count;
    policy.search_path = test_names("shop lost", &policy.search_path_count);
    cr_assert_str_eq(
        findings_of(&policy, NULL),
        "there is no schema \"lost\", which search_path names | "
        "hidden shop.customers.snn covers no column that is in the database now | "
        "hidden *.*.nowhere covers no column that is in the database now | "
        "not_columns shop.orders.nothing covers no column that is in the database now | "
        "no table of this rule has a column \"staus\"");
}

Test(review, tells_that_where_key_cannot_hold_without_a_key)
{
    struct rule rule = test_rule(VERDICT_ALLOW, "update on shop.orders shop.items shop.events");
    rule.where = WHERE_KEY;
    struct policy policy = test_policy(&rule, 1);
    cr_assert_str_eq(findings_of(&policy, NULL),
                     "where: key can never hold on shop.events, shop.items: no unique key proves "
                     "how many rows match");
}

Test(review, tells_views_over_closed_columns)
{
    struct rule rule = test_rule(VERDICT_ALLOW, "select on shop.directory shop.customers");
    struct policy policy = test_policy(&rule, 1);
    policy.hidden = test_columns("*.*.ssn", &policy.hidden_count);
    cr_assert_str_eq(
        findings_of(&policy, NULL),
        "shop.directory reads shop.customers.ssn, which hidden closes: this rule opens no "
        "select from it");
    policy.hidden = test_columns("shop.customers.name", &policy.hidden_count);
    cr_assert_str_eq(findings_of(&policy, NULL), "");
}

static struct trigger trigger_on(uint32_t relation, const char *function, enum verb verb)
{
    struct trigger trigger = {.relation = relation,
                              .name = TEXT("note"),
                              .function = text_from(function),
                              .may_write = true};
    trigger.verbs[verb] = true;
    return trigger;
}

Test(review, tells_a_trigger_function_once_for_each_rule_that_fires_it)
{
    const struct trigger triggers[] = {trigger_on(ORDERS, "audit.note()", VERB_UPDATE),
                                       trigger_on(ITEMS, "audit.note()", VERB_UPDATE),
                                       trigger_on(ITEMS, "audit.gone()", VERB_DELETE)};
    const struct rights rights = {.triggers = triggers, .trigger_count = ARRAY_SIZE(triggers)};
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "update on shop.o* shop.i*"),
                           test_rule(VERDICT_ALLOW, "insert on shop.orders"),
                           test_rule(VERDICT_HOLD, "delete on shop.items")};
    struct policy policy = test_policy(rules, ARRAY_SIZE(rules));
    cr_assert_str_eq(
        findings_of(&policy, &rights),
        "writes to shop.orders (trigger note), shop.items (trigger note) call audit.note(), "
        "which may write other tables: no rule is asked about that, and max_rows does not "
        "count it");
}

Test(review, tells_tables_with_rewrite_rules)
{
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "insert on shop.ruled"),
                           test_rule(VERDICT_ALLOW, "select on shop.ruled")};
    struct policy policy = test_policy(rules, ARRAY_SIZE(rules));
    cr_assert_str_eq(findings_of(&policy, NULL),
                     "shop.ruled has rewrite rules, which may write other tables");
}

Test(review, is_silent_about_triggers_that_write_nothing)
{
    struct trigger trigger = trigger_on(ORDERS, "shop.touch()", VERB_UPDATE);
    trigger.may_write = false;
    const struct rights rights = {.triggers = &trigger, .trigger_count = 1};
    struct rule rule = test_rule(VERDICT_ALLOW, "update on shop.orders");
    struct policy policy = test_policy(&rule, 1);
    cr_assert_str_eq(findings_of(&policy, &rights), "");
}

/* --- rights
 * ------------------------------------------------------------------------------------------ */

static struct table_rights rights_on(uint32_t relation, bool owner, const char *words)
{
    struct table_rights table = {.relation = relation, .owner = owner};
    for (int verb = 0; verb < VERB_COUNT; verb++)
        table.verbs[verb] = strstr(words, verb_name((enum verb)verb)) != NULL && verb != VERB_NONE;
    return table;
}

static struct rights rights_of(const struct table_rights *tables, size_t count)
{
    return (struct rights){.role = TEXT("app"), .tables = tables, .table_count = count};
}

Test(review, tells_rights_that_a_rule_needs_and_the_role_lacks)
{
    const struct table_rights tables[] = {rights_on(ORDERS, false, "select insert"),
                                          rights_on(ITEMS, false, "select update")};
    const struct rights rights = rights_of(tables, ARRAY_SIZE(tables));
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select update on shop.orders shop.items"),
                           test_rule(VERDICT_REJECT, "delete on shop.orders")};
    struct policy policy = test_policy(rules, ARRAY_SIZE(rules));
    cr_assert_str_eq(findings_of(&policy, &rights),
                     "role \"app\" has no right to update shop.orders");
}

Test(review, tells_rights_beyond_every_policy)
{
    const struct table_rights tables[] = {rights_on(ORDERS, false, "select insert delete"),
                                          rights_on(ITEMS, false, "select"),
                                          rights_on(EVENTS_1, false, "insert")};
    const struct rights rights = rights_of(tables, ARRAY_SIZE(tables));
    struct rule reading = test_rule(VERDICT_ALLOW, "select on shop.orders");
    struct rule writing = test_rule(VERDICT_HOLD, "insert on shop.orders shop.events");
    struct policy first = test_policy(&reading, 1), second = test_policy(&writing, 1);
    const struct policy *const policies[] = {&first, &second};
    struct review review = review_with(&rights);
    review_rights(&review, policies, ARRAY_SIZE(policies), (struct place){3, 5});
    cr_assert_str_eq(
        only(&review),
        "role \"app\" has the right to select shop.items, which no policy of its agents lets "
        "through: it could be revoked | role \"app\" has the right to delete shop.orders, "
        "which no policy of its agents lets through: it could be revoked");
    cr_assert_eq(review.items[0].place.line, 3);
}

Test(review, counts_what_templates_need_among_the_rights)
{
    const struct table_rights tables[] = {rights_on(ORDERS, false, "select update"),
                                          rights_on(ITEMS, false, "select delete")};
    const struct rights rights = rights_of(tables, ARRAY_SIZE(tables));
    const struct template_use refund[] = {
        {VERB_UPDATE, {OBJECT_NAME, TEXT("shop"), TEXT("orders")}},
        {VERB_SELECT, {OBJECT_NAME, TEXT("shop"), TEXT("orders")}},
        {VERB_INSERT, {OBJECT_NAME, TEXT("shop"), TEXT("items")}}};
    const struct template_use forget[] = {
        {VERB_DELETE, {OBJECT_NAME, TEXT("shop"), TEXT("items")}}};
    const struct template templates[] = {
        {.name = TEXT("refund"), .uses = refund, .use_count = ARRAY_SIZE(refund)},
        {.name = TEXT("forget"), .uses = forget, .use_count = ARRAY_SIZE(forget)}};
    struct rule rules[] = {test_rule(VERDICT_REJECT, "execute on forget"),
                           test_rule(VERDICT_ALLOW, "execute on refund"),
                           test_rule(VERDICT_ALLOW, "select on shop.items")};
    struct policy policy = test_policy(rules, ARRAY_SIZE(rules));
    policy.templates = templates;
    policy.template_count = ARRAY_SIZE(templates);
    const struct policy *const policies[] = {&policy};
    cr_assert_str_eq(findings_of(&policy, &rights),
                     "role \"app\" has no right to insert shop.items");
    struct review review = review_with(&rights);
    review_rights(&review, policies, 1, (struct place){1, 1});
    cr_assert_str_eq(only(&review),
                     "role \"app\" has the right to delete shop.items, which no policy of its "
                     "agents lets through: it could be revoked");
}

Test(review, tells_tables_that_the_role_owns)
{
    const struct table_rights tables[] = {rights_on(ORDERS, true, "select"),
                                          rights_on(ITEMS, true, "select")};
    struct rights rights = rights_of(tables, ARRAY_SIZE(tables));
    struct rule rule = test_rule(VERDICT_ALLOW, "select on shop.orders");
    struct policy policy = test_policy(&rule, 1);
    struct review review = review_with(&rights);
    review_owner(&review, &policy, TEXT("bot"), (struct place){1, 1});
    cr_assert_str_eq(
        only(&review),
        "the database role of agent bot, \"app\", owns shop.orders: row security does not "
        "bind an owner, and nothing in the database keeps it from altering them");
    struct rule more[] = {rule, test_rule(VERDICT_HOLD, "alter on shop.orders")};
    struct policy altering = test_policy(more, ARRAY_SIZE(more));
    review = review_with(&rights);
    review_owner(&review, &altering, TEXT("bot"), (struct place){1, 1});
    cr_assert_eq(review.count, 0, "a policy that alters its tables needs their owner");
    rights.superuser = true;
    review = review_with(&rights);
    review_owner(&review, &policy, TEXT("bot"), (struct place){1, 1});
    cr_assert_eq(review.count, 0);
}

Test(review, tells_many_names_by_their_number)
{
    struct table_rights tables[6];
    static const uint32_t oids[] = {10, 11, 12, 13, 20, 21};
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        tables[i] = rights_on(oids[i], false, "delete");
    const struct rights rights = rights_of(tables, ARRAY_SIZE(tables));
    struct rule rule = test_rule(VERDICT_ALLOW, "listen on channel:x");
    struct policy policy = test_policy(&rule, 1);
    const struct policy *const policies[] = {&policy};
    struct review review = review_with(&rights);
    review_rights(&review, policies, 1, (struct place){1, 1});
    cr_assert_eq(review.count, 1);
    cr_assert_not_null(strstr(only(&review), " and 1 more"), "%s", only(&review));
}

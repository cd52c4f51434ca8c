/* templates_test.c - the section `templates`: what becomes of it, and every way it is refused. */
#include "proxy/config/settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    "listen: {address: 127.0.0.1:6432}\naudit: {file: \"-\"}\nupstreams: {shop: dbname=shop}\n"    \
    "agents: {bot: {secret: agent-password, upstream: shop, policy: p, attributes: {tenant: \"17\"}}}\n"
#define POLICY "policies: {p: {rules: [{allow: [execute], on: [t]}]}}\n"

static struct configuration *load(const char *templates, const char *others, struct buffer *problems)
{
    static char source[16384];
    int size = snprintf(source, sizeof source, "%s%s%s", HEAD, others, templates);
    buffer_init(problems, 1 << 20);
    return configuration_parse(TEXT("wicket.yaml"), (struct text){source, (size_t)size}, problems);
}

static struct configuration *load_fine(const char *templates, const char *others)
{
    struct buffer problems;
    struct configuration *configuration = load(templates, others, &problems);
    cr_assert_not_null(configuration, "%s", buffer_string(&problems));
    buffer_release(&problems);
    return configuration;
}

Test(templates, section_becomes_templates_with_parameters)
{
    struct configuration *configuration = load_fine(
        "templates:\n"
        "  t:\n"
        "    description: Refund one paid order\n"
        "    sql: update shop.orders set notes=$2 where id=$1 and tenant = $3\n"
        "    parameters:\n"
        "      - {name: order_id, type: integer, minimum: 1, description: The order}\n"
        "      - {name: reason, type: string, enum: [damaged, late], nullable: true}\n"
        "      - {name: tenant, type: integer, from: tenant}\n"
        "    max_rows: 1\n"
        "  many:\n"
        "    sql: |\n"
        "      SELECT id -- of each\n"
        "        FROM shop.orders WHERE id = ANY ($1)\n"
        "    parameters:\n"
        "      - name: ids\n"
        "        type: array\n"
        "        items: {type: integer, minimum: 1}\n"
        "        maxItems: 100\n",
        POLICY);
    cr_assert_eq(configuration->template_count, 2);
    const struct policy *policy = &configuration->policies[0];
    cr_expect_eq(policy->templates, configuration->templates);
    cr_expect_eq(policy->template_count, 2);
    const struct template *t = &configuration->templates[0];
    cr_expect(text_is(t->name, "t") && text_is(t->description, "Refund one paid order"));
    cr_expect(text_is(t->sql, "UPDATE shop.orders SET notes = $2 WHERE id = $1 AND tenant = $3"), "%.*s",
              TEXT_ARGS(t->sql));
    cr_expect(text_is(t->rule_text, "t(order_id integer, reason string)"), "%.*s",
              TEXT_ARGS(t->rule_text));
    cr_expect(t->max_rows == 1 && !t->hold && !t->only_reads && t->parameter_count == 3);
    cr_expect(t->parameters[0].type == TEMPLATE_INTEGER && text_is(t->parameters[0].minimum, "1"));
    cr_expect(t->parameters[1].nullable && t->parameters[1].choice_count == 2);
    cr_expect(text_is(t->parameters[2].attribute, "tenant"));
    const struct template *many = &configuration->templates[1];
    cr_expect(text_is(many->sql, "SELECT id FROM shop.orders WHERE id = ANY ($1)"), "%.*s",
              TEXT_ARGS(many->sql));
    cr_expect(many->only_reads && many->max_rows == LIMIT_NONE);
    cr_expect(many->parameters[0].array && many->parameters[0].type == TEMPLATE_INTEGER);
    cr_expect(many->parameters[0].max_items == 100 && text_is(many->parameters[0].minimum, "1"));
    cr_expect(text_is(many->rule_text, "many(ids integer[])"));
    configuration_release(configuration);
}

static const struct {
    const char *sql;
    bool only_reads;
} statements[] = {
    {"SELECT 1", true},
    {"SELECT count(*), max(lower(name)) FROM shop.customers", true},
    {"WITH c AS (SELECT id FROM shop.orders) SELECT * FROM c", true},
    {"SELECT id FROM shop.orders FOR UPDATE", false},
    {"SELECT shop.bump()", false},
    {"SELECT pg_catalog.pg_sleep(1)", false},
    {"SELECT nextval('shop.orders_id_seq')", false},
    {"SELECT set_config('app.x', 'y', false)", false},
    {"WITH d AS (DELETE FROM shop.orders RETURNING id) SELECT * FROM d", false},
    {"INSERT INTO shop.orders (id) VALUES (1)", false},
    {"MERGE INTO shop.orders o USING shop.products p ON o.id = p.id WHEN MATCHED THEN DELETE", false},
    {"CALL shop.p()", false},
};

Test(templates, only_plain_selects_of_harmless_functions_read_only)
{
    for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
        char text[512];
        snprintf(text, sizeof text, "templates:\n  t: {sql: \"%s\"}\n", statements[i].sql);
        struct configuration *configuration = load_fine(text, POLICY);
        cr_expect_eq(configuration->templates[0].only_reads, statements[i].only_reads, "%s",
                     statements[i].sql);
        cr_expect_eq(policy_reads_only(&configuration->policies[0]), statements[i].only_reads);
        configuration_release(configuration);
    }
}

/* Each is the whole value of a template t. */
static const struct {
    const char *template;
    const char *problem; /* a part of what is printed */
} broken[] = {
    {"{}", "needs the key \"sql\""},
    {"{sql: }", "expected an SQL statement"},
    {"{sql: SELEC 1}", "7:12: error: sql of t: syntax error at or near \"SELEC\""},
    {"{sql: SELECT 1, sq: 2}", "did you mean \"sql\"?"},
    {"{sql: \"SELECT 1; SELECT 2\"}", "exactly one statement"},
    {"{sql: \"-- nothing\"}", "exactly one statement"},
    {"{sql: DROP TABLE shop.orders}", "one SELECT, INSERT, UPDATE, DELETE, MERGE or CALL"},
    {"{sql: TRUNCATE shop.orders}", "one SELECT, INSERT"},
    {"{sql: \"DO $$ BEGIN END $$\"}", "one SELECT, INSERT"},
    {"{sql: BEGIN}", "one SELECT, INSERT"},
    {"{sql: \"SET work_mem = 1\"}", "one SELECT, INSERT"},
    {"{sql: COPY shop.orders TO STDOUT}", "one SELECT, INSERT"},
    {"{sql: SELECT 1 INTO shop.t}", "one SELECT, INSERT"},
    {"{sql: EXPLAIN SELECT 1}", "one SELECT, INSERT"},
    {"{sql: PREPARE p AS SELECT 1}", "one SELECT, INSERT"},
    {"{sql: EXECUTE t}", "one SELECT, INSERT"},
    {"{sql: DELETE FROM shop.orders WHERE CURRENT OF c}", "one SELECT, INSERT"},
    {"{sql: SELECT * FROM orders}", "write \"orders\" with its schema"},
    {"{sql: SELECT (SELECT max(id) FROM orders) FROM shop.products}", "write \"orders\""},
    {"{sql: UPDATE orders SET id = 1}", "write \"orders\" with its schema"},
    {"{sql: SELECT bump()}", "write \"bump\" with its schema"},
    {"{sql: CALL p()}", "write \"p\" with its schema"},
    {"{sql: \"SELECT '1'::mood\"}", "write \"mood\" with its schema"},
    {"{sql: SELECT 1 OPERATOR(@#@) 2}", "with its schema"},
    {"{sql: SELECT $1}", "there is no parameter for $1"},
    {"{sql: \"SELECT $1, $3\", parameters: [{name: a, type: date}, {name: b, type: date}]}",
     "there is no parameter for $3"},
    {"{sql: SELECT $2, parameters: [{name: a, type: date}, {name: b, type: date}]}",
     "parameter a is $1, which is not used"},
    {"{sql: \"SELECT '$1'\", parameters: [{name: a, type: date}]}", "parameter a is $1"},
    {"{sql: SELECT 1, max_rows: 0}", "too small"},
    {"{sql: CALL shop.p(), max_rows: 1}", "the rows of a CALL cannot be counted"},
    {"{sql: SELECT 1, hold: yes}", "true or false"},
    {"{sql: SELECT 1, parameters: {}}", "a list of parameters"},
    {"{sql: SELECT 1, hold: true}", "needs the section review"},
};

Test(templates, statements_that_are_wrong_say_where_and_why)
{
    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        char text[1024];
        struct buffer problems;
        snprintf(text, sizeof text, "templates:\n  t: %s\n", broken[i].template);
        struct configuration *configuration = load(text, POLICY, &problems);
        cr_expect_null(configuration, "case %zu: %s", i, text);
        cr_expect_not_null(strstr(buffer_string(&problems), broken[i].problem), "case %zu: %s", i,
                           buffer_string(&problems));
        buffer_release(&problems);
        configuration_release(configuration);
    }
}

/* Each is the whole of one parameter. */
static const struct {
    const char *parameter;
    const char *problem;
} parameters[] = {
    {"type: integer", "needs the key \"name\""},
    {"name: a", "needs the key \"type\""},
    {"name: A, type: integer", "lower-case letters"},
    {"name: \"a b\", type: integer", "lower-case letters"},
    {"name: 1a, type: integer", "lower-case letters"},
    {"name: a, type: int", "integer, number"},
    {"name: a, type: integer, minimun: 1", "did you mean \"minimum\"?"},
    {"name: a, type: integer, minimum: \"1\"", "a number as JSON writes it"},
    {"name: a, type: integer, minimum: abc", "a number as JSON writes it"},
    {"name: a, type: integer, minimum: .5", "a number as JSON writes it"},
    {"name: a, type: integer, minimum: 2, maximum: 1", "9:52: error: no value can be allowed: minimum and "
                                                       "maximum"},
    {"name: a, type: integer, exclusiveMinimum: 1, maximum: 1", "exclude each other"},
    {"name: a, type: number, exclusiveMinimum: 1.0, exclusiveMaximum: 1", "exclude each other"},
    {"name: a, type: number, minimum: 1e1, exclusiveMaximum: 10", "exclude each other"},
    {"name: a, type: integer, multipleOf: 0", "greater than 0"},
    {"name: a, type: integer, multipleOf: -5", "greater than 0"},
    {"name: a, type: numeric, multipleOf: 1234567890123456789", "at most 18 digits"},
    {"name: a, type: string, minimum: 1", "minimum is for integer, number and numeric, not for string"},
    {"name: a, type: date, multipleOf: 1", "not for date"},
    {"name: a, type: integer, minLength: 1", "minLength is for string, not for integer"},
    {"name: a, type: integer, pattern: a", "pattern is for string"},
    {"name: a, type: boolean, enum: [true]", "enum is for"},
    {"name: a, type: json, maxLength: 5", "not for json"},
    {"name: a, type: string, minItems: 1", "minItems is for array, not for string"},
    {"name: a, type: string, items: {type: integer}", "items is for array"},
    {"name: a, type: string, minLength: 3, maxLength: 2", "minLength and maxLength"},
    {"name: a, type: string, maxLength: -1", "too small"},
    {"name: a, type: string, pattern: a", "a pattern needs maxLength"},
    {"name: a, type: string, pattern: a, maxLength: 10001", "a pattern needs maxLength, at most 10000"},
    {"name: a, type: string, pattern: '(a)\\1', maxLength: 5", "back references"},
    {"name: a, type: string, enum: []", "1 to 1000 values"},
    {"name: a, type: string, enum: x", "a list"},
    {"name: a, type: integer, enum: [1, two]", "a choice must be an integer"},
    {"name: a, type: integer, enum: [1, \"2\"]", "a value of the parameter's type"},
    {"name: a, type: integer, minimum: 5, enum: [4, 5]", "a choice must be at least 5"},
    {"name: a, type: string, maxLength: 2, enum: [abc]", "a choice must have at most 2"},
    {"name: a, type: date, enum: [today]", "a choice must be a date"},
    {"name: a, type: array", "an array needs items"},
    {"name: a, type: array, items: {}", "items needs the key \"type\""},
    {"name: a, type: array, items: {type: array}", "its items cannot be arrays"},
    {"name: a, type: array, items: {type: integer, name: b}", "unknown key \"name\" in items"},
    {"name: a, type: array, items: {type: integer, maxLength: 1}", "maxLength is for string"},
    {"name: a, type: array, minimum: 1, items: {type: integer}", "write it under items"},
    {"name: a, type: array, items: {type: integer}, minItems: 2, maxItems: 1", "minItems and maxItems"},
    {"name: a, type: array, items: {type: integer}, maxItems: 10001", "out of range"},
    {"name: a, type: array, items: {type: string, pattern: a, maxLength: 10}", "needs maxItems"},
    {"name: a, type: array, items: {type: string, pattern: a, maxLength: 10}, maxItems: 1001",
     "at most 10000 characters together"},
    {"name: a, type: integer, nullable: 1", "true or false"},
    {"name: a, type: integer, from: region", "agent bot has no attribute \"region\", which template t"},
    {"name: a, type: date, from: tenant", "attribute tenant of agent bot, for parameter a of template t, "
                                          "must be a date"},
    {"name: a, type: integer, maximum: 16, from: tenant", "must be at most 16"},
};

Test(templates, parameters_that_are_wrong_say_where_and_why)
{
    for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
        char text[1024];
        struct buffer problems;
        snprintf(text, sizeof text, "templates:\n  t:\n    sql: SELECT $1\n    parameters: [{%s}]\n",
                 parameters[i].parameter);
        struct configuration *configuration = load(text, POLICY, &problems);
        cr_expect_null(configuration, "case %zu: %s", i, text);
        cr_expect_not_null(strstr(buffer_string(&problems), parameters[i].problem), "case %zu: %s", i,
                           buffer_string(&problems));
        buffer_release(&problems);
        configuration_release(configuration);
    }
}

static const char *const names[] = {"pgwicket_t", "select", "Refund", "a.b", "a-b", "\"*\"", "\"\"",
                                    "a2345678901234567890123456789012345678901234567890123456789012345"};

Test(templates, names_are_what_execute_can_say)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char text[512];
        struct buffer problems;
        snprintf(text, sizeof text, "templates:\n  t: {sql: SELECT 1}\n  %s: {sql: SELECT 1}\n", names[i]);
        cr_expect_null(load(text, POLICY, &problems), "%s", names[i]);
        cr_expect_not_null(strstr(buffer_string(&problems), "wicket.yaml:8:3: error: "), "%s: %s",
                           names[i], buffer_string(&problems));
        buffer_release(&problems);
    }
}

static const struct {
    const char *rules;
    const char *problem; /* NULL: fine */
} rules[] = {
    {"{allow: [execute], on: [t]}", NULL},
    {"{allow: [execute], on: ['t*']}", NULL},
    {"{allow: [execute], on: ['*']}", NULL},
    {"{allow: [execute], on: [refund]}", "there is no template \"refund\""},
    {"{allow: [execute], on: ['x*']}", "there is no template \"x*\""},
    {"{allow: [execute], on: [shop.t]}", "acts on none of the objects"},
    {"{allow: [select], on: [t]}", "acts on none of the objects"},
    {"{allow: [execute], on: [t], max_rows: 1}", "does not have the condition max_rows"},
    {"{allow: [execute], on: [t]}, {allow: [execute], on: [t]}", "can never match"},
    {"{allow: [all], on: ['*']}", NULL},
};

Test(templates, rules_name_templates_that_are_there)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        char policy[512];
        struct buffer problems;
        snprintf(policy, sizeof policy, "policies: {p: {rules: [%s]}}\n", rules[i].rules);
        struct configuration *configuration = load("templates: {t: {sql: SELECT 1}}\n", policy, &problems);
        cr_expect_eq(configuration != NULL, rules[i].problem == NULL, "case %zu: %s", i,
                     buffer_string(&problems));
        if (rules[i].problem != NULL)
            cr_expect_not_null(strstr(buffer_string(&problems), rules[i].problem), "case %zu: %s", i,
                               buffer_string(&problems));
        buffer_release(&problems);
        configuration_release(configuration);
    }
}

Test(templates, one_that_holds_needs_people_and_a_store)
{
    static const char review[] = "review: {address: localhost:1}\n", holds[] = "holds: {store: \"sqlite:x\"}\n",
                      approvers[] = "approvers: {alice: {secret: approver-password}}\n";
    char others[512];
    snprintf(others, sizeof others, "%s%s%s%s", review, holds, approvers, POLICY);
    struct configuration *configuration =
        load_fine("templates: {t: {sql: SELECT 1, hold: true}}\n", others);
    cr_expect(configuration->templates[0].hold && policy_holds(&configuration->policies[0]));
    configuration_release(configuration);
    struct buffer problems;
    snprintf(others, sizeof others, "%s%s%s", review, holds, POLICY);
    cr_expect_null(load("templates: {t: {sql: SELECT 1, hold: true}}\n", others, &problems));
    cr_expect_not_null(strstr(buffer_string(&problems), "only 0 may decide it"), "%s",
                       buffer_string(&problems));
    buffer_release(&problems);
}

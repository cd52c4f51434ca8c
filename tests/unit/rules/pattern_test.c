/* pattern_test.c - patterns: what is understood, and what each covers. */
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

static struct object_pattern parse(const char *source, bool columns)
{
    struct object_pattern pattern;
    const char *problem = NULL;
    cr_assert(object_pattern_parse(&test_arena, text_from(source), columns, &pattern, &problem),
              "%s: %s", source, problem);
    return pattern;
}

static const struct {
    const char *pattern;
    enum object_kind kind;
    const char *schema, *name;
    bool matches;
} objects[] = {
    {"shop.orders", OBJECT_NAME, "shop", "orders", true},
    {"shop.orders", OBJECT_NAME, "shop", "orders2", false},
    {"shop.orders", OBJECT_NAME, "public", "orders", false},
    {"Shop.ORDERS", OBJECT_NAME, "shop", "orders", true},
    {"shop.\"Orders\"", OBJECT_NAME, "shop", "Orders", true},
    {"shop.\"Orders\"", OBJECT_NAME, "shop", "orders", false},
    {"shop.\"Order.Items\"", OBJECT_NAME, "shop", "Order.Items", true},
    {"shop.\"a\"\"b\"", OBJECT_NAME, "shop", "a\"b", true},
    {"shop.\"a*\"", OBJECT_NAME, "shop", "abc", false},
    {"shop.*", OBJECT_NAME, "shop", "orders", true},
    {"shop.*", OBJECT_NAME, "shopping", "orders", false},
    {"shop.*", OBJECT_SCHEMA, "", "shop", false},
    {"shop.events_*", OBJECT_NAME, "shop", "events_1", true},
    {"shop.events_*", OBJECT_NAME, "shop", "events", false},
    {"*.orders", OBJECT_NAME, "public", "orders", true},
    {"*.*", OBJECT_NAME, "", "orders", false},
    {"schema:shop", OBJECT_SCHEMA, "", "shop", true},
    {"schema:shop", OBJECT_NAME, "shop", "shop", false},
    {"role:*", OBJECT_ROLE, "", "bob", true},
    {"setting:app.*", OBJECT_SETTING, "", "app.tenant", true},
    {"setting:search_path", OBJECT_SETTING, "", "search_path", true},
    {"channel:jobs", OBJECT_CHANNEL, "", "jobs", true},
    {"*", OBJECT_NONE, "", "", true},
    {"*", OBJECT_ROLE, "", "bob", true},
    {"*.*", OBJECT_NONE, "", "", false},
};

Test(pattern, covers_the_objects_it_names)
{
    for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
        struct object_pattern pattern = parse(objects[i].pattern, false);
        struct object object = {objects[i].kind, text_from(objects[i].schema),
                                text_from(objects[i].name)};
        cr_expect_eq(object_pattern_matches(&pattern, &object), objects[i].matches, "%s and %s.%s",
                     objects[i].pattern, objects[i].schema, objects[i].name);
    }
}

Test(pattern, refuses_what_it_does_not_understand)
{
    static const char *const bad[] = {"",        "shop.",       ".orders", "a.b.c",    "shop.or ders",
                                      "sh*p.a",  "shop.\"a",    "shop.a*b", "schema:", "shop..orders",
                                      "role:a b", "shop.\"\"",  "setting:", "shop.*.*", "a;b"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct object_pattern pattern;
        const char *problem = NULL;
        cr_expect_not(object_pattern_parse(&test_arena, text_from(bad[i]), false, &pattern, &problem),
                      "\"%s\" was understood", bad[i]);
        cr_expect_not_null(problem, "\"%s\" gives no reason", bad[i]);
    }
}

static const struct {
    const char *pattern, *schema, *relation, *column;
    bool matches;
} columns[] = {
    {"shop.customers.ssn", "shop", "customers", "ssn", true},
    {"shop.customers.ssn", "shop", "customers", "id", false},
    {"shop.customers.ssn", "shop", "orders", "ssn", false},
    {"*.*.email", "hr", "people", "email", true},
    {"email", "hr", "people", "email", true},
    {"email", "hr", "people", "emails", false},
    {"shop.customers.*", "shop", "customers", "anything", true},
};

Test(pattern, covers_the_columns_it_names)
{
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        struct object_pattern pattern = parse(columns[i].pattern, true);
        cr_expect_eq(column_pattern_matches(&pattern, text_from(columns[i].schema),
                                            text_from(columns[i].relation),
                                            text_from(columns[i].column)),
                     columns[i].matches, "%s and %s", columns[i].pattern, columns[i].column);
    }
}

Test(pattern, of_a_column_has_one_part_or_three)
{
    struct object_pattern pattern;
    const char *problem = NULL;
    cr_expect_not(object_pattern_parse(&test_arena, TEXT("customers.ssn"), true, &pattern, &problem));
    cr_expect_not(object_pattern_parse(&test_arena, TEXT("a.b.c.d"), true, &pattern, &problem));
}

Test(pattern, is_literal_without_a_star)
{
    struct object_pattern literal = parse("shop.orders", false), star = parse("shop.*", false),
                          any = parse("*", false), quoted = parse("shop.\"a*\"", false);
    cr_expect(object_pattern_is_literal(&literal));
    cr_expect(object_pattern_is_literal(&quoted));
    cr_expect_not(object_pattern_is_literal(&star));
    cr_expect_not(object_pattern_is_literal(&any));
}

/* path_test.c - what a name means, and could mean, where the agent may make, change or drop objects. */
#include "unit/parser/trap_catalog.h"

#include <criterion/criterion.h>
#include <string.h>

#define NAME(literal) {literal, sizeof(literal) - 1}
#define EVERYTHING (MAKEABLE_NEW | MAKEABLE_CODE | MAKEABLE_OTHER | MAKEABLE_GONE)
#define PLAIN (MAKEABLE_NEW | MAKEABLE_OTHER)

/* The agent's own schema, which comes first; the catalog has nothing in it. */
static const struct makeable own_schema[] = {
    {.ways = EVERYTHING, .kind = OBJECT_NAME, .schema = NAME("dev"), .name_prefix = true},
};
static const struct makeable own_tables[] = {
    {.ways = PLAIN, .kind = OBJECT_NAME, .schema = NAME("dev"), .name_prefix = true},
};
static const struct makeable temporary_tables[] = {
    {.ways = PLAIN, .kind = OBJECT_NAME, .schema = NAME("pg_temp"), .name_prefix = true},
};
/* Tables of others that it may change. */
static const struct makeable shop_tables[] = {
    {.ways = MAKEABLE_OTHER, .kind = OBJECT_NAME, .schema = NAME("shop"), .name = NAME("orders")},
};
static const struct makeable own_and_its_schema[] = {
    {.ways = EVERYTHING, .kind = OBJECT_NAME, .schema = NAME("dev"), .name_prefix = true},
    {.ways = EVERYTHING, .kind = OBJECT_SCHEMA, .name = NAME("dev")},
};

static const struct makeable catch_all[] = {
    {.ways = EVERYTHING, .kind = OBJECT_NAME, .schema_prefix = true, .name_prefix = true},
    {.ways = EVERYTHING, .kind = OBJECT_SCHEMA, .name_prefix = true},
};

static const struct text path[] = {NAME("dev"), NAME("shop"), NAME("public")};
static struct arena arena;

static const char *actions_with(const struct analyse_context *may, const char *sql)
{
    struct analyse_context context = *may;
    context.catalog = trap_catalog();
    context.search_path = context.search_path_count == 0 ? path : context.search_path;
    context.search_path_count = context.search_path_count == 0 ? 3 : context.search_path_count;
    context.every_candidate = true;
    struct analysis analysis;
    analyse(&arena, &context, text_from(sql), &analysis);
    return trap_text(&arena, &analysis);
}

static void check(const struct analyse_context *may, const struct trap_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(actions_with(may, cases[i].sql), cases[i].actions, "%s\n  %s", cases[i].sql,
                         actions_with(may, cases[i].sql));
    arena_release(&arena);
}

#define MAY(list) \
    &(const struct analyse_context) { .makeable = list, .makeable_count = ARRAY_SIZE(list) }

Test(path, judges_an_unqualified_name_as_all_that_it_could_mean)
{
    static const struct trap_case cases[] = {
        /* One that exists for certain keeps its columns; the others are known by name only. */
        {"SELECT email FROM customers", "select shop.customers(email); select dev.customers*(email)"},
        {"SELECT c.email FROM customers c",
         "select shop.customers(email); select dev.customers*(email)"},
        {"SELECT id FROM orders", "select shop.orders(id); select dev.orders*(id); "
                                  "select public.orders*(id)"},
        {"SELECT id FROM shop.orders", "select shop.orders(id)"},
        {"SELECT id FROM dev.orders", "select dev.orders(id)"},
        {"SELECT id FROM fresh", "select dev.fresh(id)"},
        {"SELECT * FROM dev.fresh", "select dev.fresh*"},
        {"SELECT oid FROM pg_class", "select pg_catalog.pg_class(oid)"},
        {"INSERT INTO products (id) VALUES (1)",
         "insert shop.products(id); insert dev.products*(id)"},
        /* In one of the agent's own, id may be a mood. */
        {"DELETE FROM products WHERE id = 1",
         "delete shop.products; read select shop.products(id); call shop.mood_text; delete "
         "dev.products; read select dev.products*(id)"},
        {"WITH orders AS (SELECT 1 AS id) SELECT id FROM orders", ""},
        {"DROP TABLE orders", "drop shop.orders; drop dev.orders; drop public.orders"},
        {"TRUNCATE products", "truncate shop.products; truncate dev.products"},
        {"LOCK TABLE products", "lock shop.products; lock dev.products"},
        {"SELECT nextval('orders_id_seq')", "call shop.orders_id_seq; call dev.orders_id_seq"},
        {"CREATE TABLE fresh (id int)", "create shop.fresh"},
    };
    check(MAY(own_tables), cases, ARRAY_SIZE(cases));
}

Test(path, reads_a_column_of_every_relation_that_could_have_it)
{
    /* In a table of the agent's own that has no column email it is the outer query's. */
    static const struct trap_case cases[] = {
        {"SELECT (SELECT email FROM dev.p) FROM shop.customers",
         "select shop.customers(email); select dev.p(email)"},
        {"SELECT (SELECT id FROM products LIMIT 1) FROM shop.customers",
         "select shop.customers(id); select shop.products(id); select dev.products*(id)"},
    };
    check(MAY(own_tables), cases, ARRAY_SIZE(cases));
}

Test(path, looks_into_pg_temp_first_where_the_agent_may_make_something_there)
{
    static const struct trap_case cases[] = {
        {"DELETE FROM products", "delete shop.products; delete pg_temp.products"},
        {"DROP TABLE products", "drop shop.products; drop pg_temp.products"},
        {"SELECT relname FROM pg_class",
         "select pg_catalog.pg_class(relname); select pg_temp.pg_class*(relname)"},
        {"SELECT 'x'::text", ""},
        {"CREATE TEMP TABLE products (id int)", "create pg_temp.products"},
        {"SELECT lower('X')", ""},
    };
    check(MAY(temporary_tables), cases, ARRAY_SIZE(cases));
}

Test(path, judges_code_that_the_agent_could_have_made_as_called)
{
    static const struct trap_case cases[] = {
        {"SELECT lower('X')", "call dev.lower"},
        {"SELECT pg_catalog.lower('X')", ""},
        {"SELECT dev.lower('X')", "call dev.lower"},
        {"SELECT 1 + 1", "call dev.+"},
        {"SELECT 1 OPERATOR(pg_catalog.+) 1", ""},
        {"SELECT 1 OPERATOR(dev.+) 1", "call dev.+"},
        {"SELECT 'x'::text", ""},
        {"SELECT 'x'::mood", "call dev.mood"},
        {"SELECT 'x'::pg_catalog.text", ""},
        {"SELECT 'x'::int", ""},
        {"SELECT 'x'::dev.d", "call dev.d"},
    };
    check(MAY(own_schema), cases, ARRAY_SIZE(cases));
}

/* Nobody but a superuser makes or changes anything there. */
Test(path, takes_pg_catalog_for_no_place_where_an_agent_makes_things)
{
    static const struct trap_case cases[] = {
        {"SELECT count(*) FROM shop.products",
         "select shop.products; call dev.count; call shop.count; call public.count"},
        {"SELECT pg_catalog.count(*) FROM shop.products", "select shop.products"},
        {"SELECT pg_catalog.nosuch(1)", "call pg_catalog.nosuch"},
        {"SELECT oid FROM pg_catalog.pg_class", "select pg_catalog.pg_class(oid)"},
        {"SELECT oid FROM pg_catalog.nosuch", "select pg_catalog.nosuch!(oid)"},
        {"SELECT 1.5 < 2", "call dev.<; call shop.<; call public.<"},
    };
    check(MAY(catch_all), cases, ARRAY_SIZE(cases));
}

Test(path, trusts_no_column_or_key_of_what_the_agent_may_change)
{
    static const struct trap_case cases[] = {
        {"SELECT * FROM shop.orders", "select shop.orders*(id, customer_id, status, total, notes)"},
    };
    check(MAY(shop_tables), cases, ARRAY_SIZE(cases));
}

Test(path, needs_a_schema_for_new_objects_where_schemas_may_move)
{
    static const struct trap_case cases[] = {
        {"CREATE TABLE fresh (id int)",
         "rejected: pgwicket: fresh must be written with its schema, because this agent may change "
         "which schema comes first; nothing was run"},
        {"CREATE TABLE dev.fresh (id int)", "create dev.fresh"},
    };
    check(MAY(own_and_its_schema), cases, ARRAY_SIZE(cases));
}

Test(path, takes_every_schema_for_one_on_an_open_path)
{
    const struct analyse_context may = {
        .makeable = own_tables, .makeable_count = 1, .path_open = true};
    static const struct trap_case cases[] = {
        {"SELECT id FROM salaries", "select hr.salaries(id); select dev.salaries*(id)"},
        {"SELECT oid FROM pg_class", "select pg_catalog.pg_class(oid); select dev.pg_class*(oid)"},
    };
    check(&may, cases, ARRAY_SIZE(cases));
}

Test(path, looks_into_pg_temp_last_where_the_path_says_so)
{
    static const struct text temporary_last[] = {NAME("shop"), NAME("public"), NAME("pg_temp")};
    const struct analyse_context may = {.makeable = temporary_tables,
                                        .makeable_count = 1,
                                        .search_path = temporary_last,
                                        .search_path_count = 3};
    static const struct trap_case cases[] = {
        {"SELECT relname FROM pg_class", "select pg_catalog.pg_class(relname)"},
        {"DELETE FROM products", "delete shop.products; delete pg_temp.products"},
        {"SELECT id FROM fresh", "select pg_temp.fresh(id)"},
        {"CREATE TABLE fresh (id int)", "create shop.fresh"},
        {"CREATE TEMP TABLE fresh (id int)", "create pg_temp.fresh"},
        {"SELECT pg_temp.lower('X')", "call pg_temp.lower!"},
        {"SELECT lower('X')", ""},
        {"SELECT 1.5 < 2", ""},
        {"SELECT relname FROM pg_class WHERE oid = 25", "select pg_catalog.pg_class(relname, oid)"},
    };
    check(&may, cases, ARRAY_SIZE(cases));
}

Test(path, takes_a_type_of_pg_catalog_for_what_it_is_unless_something_is_before_it)
{
    static const struct makeable domains[] = {
        {.ways = EVERYTHING, .kind = OBJECT_NAME, .schema = NAME("pg_temp"), .name_prefix = true},
    };
    static const struct text last[] = {NAME("shop"), NAME("pg_temp")};
    struct analyse_context may = {.makeable = domains, .makeable_count = 1};
    static const struct trap_case first[] = {{"SELECT 'x'::text", "call pg_temp.text"},
                                             {"SELECT text('x')", "call pg_temp.text"}};
    static const struct trap_case behind[] = {{"SELECT 'x'::text", ""},
                                              {"SELECT text('x')", ""},
                                              {"SELECT 'x'::own", "call pg_temp.own"}};
    check(&may, first, ARRAY_SIZE(first));
    may.search_path = last;
    may.search_path_count = 2;
    check(&may, behind, ARRAY_SIZE(behind));
}

Test(path, knows_what_code_has_left_in_pg_temp)
{
    static const struct text left[] = {NAME("products")};
    const struct analyse_context may = {.temporary = left, .temporary_count = 1};
    static const struct trap_case cases[] = {
        {"DELETE FROM products", "delete shop.products; delete pg_temp.products"},
        {"SELECT id FROM pg_temp.products", "select pg_temp.products(id)"},
        {"SELECT id FROM pg_temp.others", "select pg_temp.others!(id)"},
        {"DELETE FROM customers", "delete shop.customers"},
    };
    check(&may, cases, ARRAY_SIZE(cases));
}

Test(path, proves_a_key_only_of_the_relation_that_is_certain)
{
    const struct analyse_context *may = MAY(own_tables);
    struct analyse_context context = *may;
    context.catalog = trap_catalog();
    context.search_path = path;
    context.search_path_count = 3;
    context.every_candidate = true;
    struct analysis analysis;
    analyse(&arena, &context, TEXT("UPDATE orders SET status = 'x' WHERE id = 1"), &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK);
    const struct shape *shape = &analysis.statements[0].shape;
    for (size_t i = 0; i < shape->action_count; i++) {
        const struct action *action = &shape->actions[i];
        bool certain = text_is(action->object.schema, "shop");
        if (action->verb == VERB_UPDATE)
            cr_expect_eq(action->where, certain ? WHERE_KEY : WHERE_ANY, "%.*s",
                         TEXT_ARGS(action->object.schema));
        cr_expect_eq(action->candidate, !certain);
    }
    arena_release(&arena);
}

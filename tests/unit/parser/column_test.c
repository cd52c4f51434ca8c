/* column_test.c - which column of which relation a name reads. */
#include "unit/parser/trap_catalog.h"

#include <criterion/criterion.h>

#define EVERY_CUSTOMER "select shop.customers(id, email, ssn, name, attrs, vip)"

Test(column, reads_what_is_named_under_any_alias)
{
    static const struct trap_case cases[] = {
        {"SELECT ssn FROM shop.customers", "select shop.customers(ssn)"},
        {"SELECT C.\"ssn\" FROM shop.customers c", "select shop.customers(ssn)"},
        {"SELECT shop.customers.ssn FROM shop.customers", "select shop.customers(ssn)"},
        {"SELECT c.ssn AS id FROM shop.customers c", "select shop.customers(ssn)"},
        {"SELECT x.c FROM shop.customers AS x(a, b, c)", "select shop.customers(ssn)"},
        {"SELECT x.name FROM shop.customers AS x(a, b, name)", "select shop.customers(ssn, name)"},
        {"SELECT U&\"\\0073sn\" FROM shop.customers", "select shop.customers(ssn)"},
        {"SELECT id FROM shop.orders, shop.customers",
         "select shop.orders(id); select shop.customers(id)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, counts_rows_without_reading_a_column)
{
    static const struct trap_case cases[] = {
        {"SELECT count(*) FROM shop.customers", "select shop.customers"},
        {"SELECT 1 FROM shop.customers", "select shop.customers"},
        {"SELECT FROM shop.customers", "select shop.customers"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, reads_all_through_a_star_or_a_whole_row)
{
    static const struct trap_case cases[] = {
        {"SELECT * FROM shop.customers", EVERY_CUSTOMER},
        {"TABLE shop.customers", EVERY_CUSTOMER},
        {"SELECT c.* FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT c FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT (c).* FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT c.*::text FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT row_to_json(c) FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT c IS NOT NULL FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT count(c) FROM shop.customers c", EVERY_CUSTOMER},
        {"SELECT shop.customers FROM shop.customers", "select shop.customers*"
                                                      "(id, email, ssn, name, attrs, vip)"},
        {"SELECT a.id FROM shop.customers a JOIN shop.customers b ON (a.*) = (b.*)",
         "select shop.customers(id, email, ssn, name, attrs, vip)"},
        {"SELECT 1, 'a' UNION ALL SELECT * FROM shop.customers", EVERY_CUSTOMER},
        {"SELECT j FROM (shop.customers c CROSS JOIN shop.events e) AS j",
         EVERY_CUSTOMER "; select shop.events(id, day)"},
        {"SELECT s.* FROM shop.customers c, LATERAL (SELECT c.*) s", EVERY_CUSTOMER},
    };
    CHECK_TRAPS("", cases);
}

/* How many columns a function gives is not known, so positions behind it are not either. */
Test(column, reads_all_where_aliases_count_past_an_unknown_shape)
{
    static const struct trap_case cases[] = {
        {"SELECT e FROM (unnest(ARRAY[1]) k CROSS JOIN shop.customers c) AS j(x, y, z, e)",
         EVERY_CUSTOMER},
        {"SELECT j.e FROM (shop.customers c CROSS JOIN unnest(ARRAY[1]) k) AS j(x, e)",
         EVERY_CUSTOMER},
        {"SELECT id FROM (unnest(ARRAY[1]) k CROSS JOIN shop.customers c) AS j",
         "select shop.customers(id)"},
        {"SELECT e FROM (generate_series(1, 2) k CROSS JOIN shop.customers c) AS j(x, y, e)",
         "select shop.customers(email)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, of_a_function_is_not_one_of_the_table_beside_it)
{
    static const struct trap_case cases[] = {
        {"SELECT key, option FROM unnest(ARRAY[1], ARRAY[2]) k(key, option) LEFT JOIN "
         "shop.customers c ON true",
         "select shop.customers"},
        {"SELECT option FROM (SELECT * FROM unnest(ARRAY[1], ARRAY[2]) WITH ORDINALITY "
         "k(key, option, at)) s LEFT JOIN shop.customers c ON s.at = c.id",
         "select shop.customers(id)"},
        {"SELECT ssn FROM unnest(ARRAY[1]) k(key) LEFT JOIN shop.customers c ON true",
         "select shop.customers(ssn)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, finds_the_scope_that_the_server_finds)
{
    static const struct trap_case cases[] = {
        {"SELECT (SELECT ssn FROM shop.orders o WHERE o.id = 1) FROM shop.customers",
         "select shop.customers(ssn); select shop.orders(id)"},
        {"SELECT (SELECT id FROM shop.orders) FROM shop.customers",
         "select shop.customers; select shop.orders(id)"},
        {"SELECT EXISTS (SELECT 1 FROM shop.products p WHERE p.sku > ssn) FROM shop.customers",
         "select shop.customers(ssn); select shop.products(sku)"},
        {"SELECT (SELECT ssn FROM jsonb_each('{}') AS ssn) FROM shop.customers",
         "select shop.customers(ssn)"},
        {"SELECT customers.ssn FROM (SELECT 1 AS ssn) customers", ""},
        {"SELECT (SELECT c.ssn FROM (SELECT 1 AS ssn) c) FROM shop.customers c",
         "select shop.customers"},
        /* ON sees its own join and what is outside the whole query, not what stands beside it. */
        {"SELECT (SELECT 1 FROM shop.orders o, shop.products p JOIN shop.events e ON ssn = 'x') "
         "FROM shop.customers c",
         "select shop.customers(ssn); select shop.orders; select shop.products; "
         "select shop.events"},
        /* A sub-query in FROM sees what is to its left only with LATERAL. */
        {"SELECT (SELECT 1 FROM shop.orders, (SELECT notes) s) FROM (SELECT ssn AS notes FROM "
         "shop.customers) c",
         "select shop.customers(ssn); select shop.orders"},
        {"SELECT 1 FROM shop.orders, LATERAL (SELECT notes) s", "select shop.orders(notes)"},
        {"SELECT j.value FROM shop.customers c, jsonb_each_text(c.attrs) j",
         "select shop.customers(attrs)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, follows_joins)
{
    static const struct trap_case cases[] = {
        {"SELECT 1 FROM shop.orders JOIN shop.customers USING (id)",
         "select shop.orders(id); select shop.customers(id)"},
        {"SELECT 1 FROM shop.events NATURAL JOIN shop.orders",
         "select shop.events(id); select shop.orders(id)"},
        {"SELECT j.ssn FROM (shop.customers c JOIN shop.orders o ON o.customer_id = c.id) AS j",
         "select shop.customers(id, ssn); select shop.orders(customer_id)"},
        {"SELECT j.c FROM (shop.customers JOIN shop.events USING (id)) AS j(a, b, c)",
         "select shop.customers(id, ssn); select shop.events(id)"},
        {"SELECT u.id FROM shop.customers JOIN shop.events USING (id) AS u",
         "select shop.customers(id); select shop.events(id)"},
        {"SELECT day FROM shop.customers LEFT JOIN (shop.orders o JOIN shop.events e ON true) "
         "ON e.day = ssn",
         "select shop.customers(ssn); select shop.orders; select shop.events(day)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, does_not_count_what_a_subquery_hides)
{
    static const struct trap_case cases[] = {
        {"SELECT * FROM (SELECT id, name FROM shop.customers) c",
         "select shop.customers(id, name)"},
        {"SELECT x.ssn FROM (SELECT id AS ssn FROM shop.products) x", "select shop.products(id)"},
        {"SELECT row_to_json(x)::text FROM (SELECT id FROM shop.events) x",
         "select shop.events(id)"},
        {"SELECT t.y FROM (SELECT name, ssn FROM shop.customers) AS t(x, y)",
         "select shop.customers(name, ssn)"},
        {"WITH c(a) AS (SELECT id FROM shop.customers) SELECT a, c.* FROM c",
         "select shop.customers(id)"},
        {"SELECT customers FROM (SELECT 1) customers", ""},
        {"SELECT id AS ssn FROM shop.customers ORDER BY ssn", "select shop.customers(id)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, knows_output_names_in_order_and_group_by)
{
    static const struct trap_case cases[] = {
        {"SELECT id AS total FROM shop.events ORDER BY total", "select shop.events(id)"},
        {"SELECT id AS k FROM shop.events GROUP BY k", "select shop.events(id)"},
        {"SELECT id AS status FROM shop.orders GROUP BY status", "select shop.orders(id, status)"},
        {"SELECT id AS status FROM shop.orders GROUP BY ROLLUP ((status))",
         "select shop.orders(id, status)"},
        {"SELECT DISTINCT ON (k) id AS k FROM shop.events", "select shop.events(id)"},
        {"SELECT id AS k FROM shop.customers ORDER BY k || ssn",
         "select shop.customers(id, k, ssn)"},
        {"SELECT id FROM shop.events UNION SELECT id FROM shop.orders ORDER BY id",
         "select shop.events(id); select shop.orders(id)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, takes_system_columns_for_columns)
{
    static const struct trap_case cases[] = {
        {"SELECT ctid FROM shop.orders", "select shop.orders(ctid)"},
        {"SELECT o.tableoid FROM shop.orders o", "select shop.orders(tableoid)"},
    };
    CHECK_TRAPS("", cases);
}

Test(column, reads_a_function_in_attribute_notation_as_a_call)
{
    static const struct trap_case cases[] = {
        {"SELECT c.wipe FROM shop.customers c", EVERY_CUSTOMER "; call public.wipe"},
        {"SELECT (c).wipe FROM shop.customers c", EVERY_CUSTOMER "; call public.wipe"},
        {"SELECT (SELECT c FROM shop.customers c).wipe", EVERY_CUSTOMER "; call public.wipe"},
        {"SELECT c.row_to_json FROM shop.customers c", EVERY_CUSTOMER "; call shop.mood_json"},
        {"SELECT c.count FROM shop.customers c", EVERY_CUSTOMER "; call public.count"},
        {"SELECT ('x'::text).pg_read_file", "call pg_catalog.pg_read_file"},
        {"SELECT (64).lo_creat", "call pg_catalog.lo_creat"},
        {"SELECT (id).pg_sleep FROM shop.events",
         "select shop.events(id); call pg_catalog.pg_sleep"},
        {"SELECT ((ARRAY['a'])[1]).pg_ls_dir", "call pg_catalog.pg_ls_dir"},
        {"SELECT (ARRAY['a'])[1].pg_ls_dir", "call pg_catalog.pg_ls_dir"},
        {"SELECT g.pg_sleep FROM generate_series(1, 2) g", "call pg_catalog.pg_sleep"},
        {"SELECT wipe.wipe FROM jsonb_populate_record(NULL::shop.customers, '{}') wipe",
         "call public.wipe"},
        {"SELECT (5).pg_file_unlink", "call pg_catalog.pg_file_unlink"},
    };
    CHECK_TRAPS("public", cases);
}

Test(column, reads_a_field_of_a_known_row_as_a_field)
{
    static const struct trap_case cases[] = {
        {"SELECT (home).zip FROM shop.people", "select shop.people(home)"},
        {"SELECT (p.home).zip FROM shop.people p", "select shop.people(home)"},
        {"SELECT ((p).home).zip FROM shop.people p", "select shop.people(id, home, mood, blast)"},
        {"SELECT (ROW('a', 'b')::shop.address).street", ""},
        {"SELECT (s).zip FROM (SELECT home AS s FROM shop.people) x", "select shop.people(home)"},
        {"SELECT (SELECT c FROM shop.customers c).ssn", EVERY_CUSTOMER},
        {"SELECT (home).wipe FROM shop.people", "select shop.people(home); call public.wipe"},
        {"SELECT (jsonb_each('{}')).key", ""},
    };
    CHECK_TRAPS("public", cases);
}

Test(column, is_strict_about_names_that_nothing_has)
{
    static const struct trap_case cases[] = {
        {"SELECT nope FROM shop.events", "select shop.events(nope)"},
        {"SELECT e.nope FROM shop.events e", "select shop.events(id, day); call nope!"},
        {"SELECT x.nope FROM shop.events e", "select shop.events*(id, day)"},
        {"SELECT x FROM shop.nope", "select shop.nope!(x)"},
        {"SELECT * FROM shop.nope", "select shop.nope!*"},
        {"SELECT x.d FROM shop.nope AS x(a, d)", "select shop.nope!*(d)"},
    };
    CHECK_TRAPS("", cases);
}

static void check_offline(const char *sql, bool unknown, const char *column)
{
    struct arena arena;
    struct analysis analysis;
    arena_init(&arena);
    trap_analyse_offline(&arena, "shop", sql, &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK, "%s", sql);
    const struct action *action = &analysis.statements[0].shape.actions[0];
    cr_expect_eq(action->columns_unknown, unknown, "%s", sql);
    cr_expect(text_is(action->object.schema, "shop"), "%s", sql);
    cr_expect_not(action->unresolved, "%s", sql);
    cr_expect_eq(action->column_count, column == NULL ? 0u : 1u, "%s", sql);
    if (column != NULL && action->column_count == 1)
        cr_expect(text_is(action->columns[0], column), "%s", sql);
    arena_release(&arena);
}

Test(column, knows_offline_only_what_is_written)
{
    check_offline("SELECT ssn FROM customers", false, "ssn");
    check_offline("SELECT c.ssn FROM shop.customers c", false, "ssn");
    check_offline("SELECT count(*) FROM customers", false, NULL);
    check_offline("SELECT * FROM customers", true, NULL);
    check_offline("SELECT c.* FROM customers c", true, NULL);
    check_offline("SELECT row_to_json(c) FROM customers AS c", true, "c");
    check_offline("SELECT c.row_to_json FROM customers AS c", true, "row_to_json");
    check_offline("SELECT x.d FROM customers AS x(a, d)", true, "d");
    check_offline("SELECT ssn FROM customers, orders", false, "ssn");
}

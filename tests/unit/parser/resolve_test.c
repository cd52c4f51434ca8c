/* resolve_test.c - the print with schemas: where they are written, where not, and the same effect.
 */
#include "parser/analyse.h"
#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"
#include "unit/parser/shop_catalog.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct catalog *catalog;

static void begin(void)
{
    arena_init(&arena);
    catalog = shop_catalog();
}

static void end(void)
{
    catalog_release(catalog);
    arena_release(&arena);
}

TestSuite(resolve, .init = begin, .fini = end);

static void analyse_on(const char *path, const char *sql, struct analysis *out)
{
    const struct text schemas[] = {text_from(path)};
    const struct analyse_context context = {.catalog = catalog,
                                            .search_path = schemas,
                                            .search_path_count = *path != '\0',
                                            .resolve_names = true};
    analyse(&arena, &context, text_from(sql), out);
}

static const char *resolved(const char *sql)
{
    struct analysis analysis;
    analyse_on("shop", sql, &analysis);
    if (analysis.result != ANALYSE_OK)
        return analysis.message.bytes;
    cr_assert_geq(analysis.statement_count, 1, "%s", sql);
    return analysis.statements[0].resolved.size > 0 ? analysis.statements[0].resolved.bytes : "";
}

static const char *effect(const struct analysis *analysis)
{
    const char *text = "";
    if (analysis->result != ANALYSE_OK)
        return analysis->message.bytes;
    for (size_t i = 0; i < analysis->statements[0].shape.action_count; i++) {
        const struct action *action = &analysis->statements[0].shape.actions[i];
        text =
            arena_printf(&arena, "%s%s %s/%d/%d/%d%s;", text, verb_name(action->verb),
                         object_text(&arena, &action->object).bytes, action->part,
                         (int)action->where, (int)action->rows_max, action->unresolved ? "!" : "")
                .bytes;
        for (size_t j = 0; j < action->column_count; j++)
            text = arena_printf(&arena, "%s %s", text, action->columns[j].bytes).bytes;
    }
    return text;
}

/* What is shown must mean under no search_path what was written under the agent's. */
static void check_same_effect(const char *sql)
{
    struct analysis before, after;
    analyse_on("shop", sql, &before);
    cr_assert_eq(before.result, ANALYSE_OK, "%s: %s", sql, before.message.bytes);
    struct text shown = before.statements[0].resolved;
    analyse_on("", shown.bytes, &after);
    cr_expect_str_eq(effect(&after), effect(&before), "%s", shown.bytes);
    cr_expect(text_equal(after.print, shown), "%s", shown.bytes);
    cr_expect_eq(after.statements[0].resolved.size, 0, "%s", shown.bytes);
}

struct resolve_case {
    const char *sql, *resolved;
};

static void check(const struct resolve_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(resolved(cases[i].sql), cases[i].resolved, "%s", resolved(cases[i].sql));
        check_same_effect(cases[i].sql);
    }
}

#define CHECK(cases) check(cases, ARRAY_SIZE(cases))

Test(resolve, writes_the_schema_of_every_relation_read)
{
    static const struct resolve_case cases[] = {
        {"select * from orders", "SELECT * FROM shop.orders"},
        {"select o.id from orders o, customers as c where o.customer_id = c.id",
         "SELECT o.id FROM shop.orders o, shop.customers AS c WHERE o.customer_id = c.id"},
        {"select orders.id, shop.orders.total, orders from orders",
         "SELECT orders.id, shop.orders.total, orders FROM shop.orders"},
        {"select 1 from orders o left join order_items i on i.order_id = o.id cross join events",
         "SELECT 1 FROM shop.orders o LEFT JOIN shop.order_items i ON i.order_id = o.id CROSS JOIN "
         "shop.events"},
        {"select (select count(*) from order_items i where i.order_id = o.id) from only orders o",
         "SELECT (SELECT count(*) FROM shop.order_items i WHERE i.order_id = o.id) FROM ONLY "
         "shop.orders o"},
        {"select 1 from orders where exists (select 1 from customers where id = "
         "orders.customer_id)",
         "SELECT 1 FROM shop.orders WHERE EXISTS (SELECT 1 FROM shop.customers WHERE id = "
         "orders.customer_id)"},
        {"table orders", "TABLE shop.orders"},
        {"select id from orders union all select id from customers",
         "SELECT id FROM shop.orders UNION ALL SELECT id FROM shop.customers"},
        {"select s.id from (select id from orders) s, lateral (select s.id from customers) c",
         "SELECT s.id FROM (SELECT id FROM shop.orders) s, LATERAL (SELECT s.id FROM "
         "shop.customers) c"},
        {"select 1 from orders tablesample system (1)",
         "SELECT 1 FROM shop.orders TABLESAMPLE SYSTEM (1)"},
        {"select a.id from orders a, orders b, shop.orders c",
         "SELECT a.id FROM shop.orders a, shop.orders b, shop.orders c"},
    };
    CHECK(cases);
}

Test(resolve, leaves_names_that_mean_no_relation_of_the_catalog)
{
    static const struct resolve_case cases[] = {
        {"with orders as (select id from customers) select id from orders",
         "WITH orders AS (SELECT id FROM shop.customers) SELECT id FROM orders"},
        {"with orders as (select id from orders) select id from orders",
         "WITH orders AS (SELECT id FROM shop.orders) SELECT id FROM orders"},
        {"with recursive t as (select id from orders union all select t.id from t) select * from t",
         "WITH RECURSIVE t AS (SELECT id FROM shop.orders UNION ALL SELECT t.id FROM t) SELECT * "
         "FROM t"},
        {"select 1 from orders, (with orders as (select 1) select * from orders) s",
         "SELECT 1 FROM shop.orders, (WITH orders AS (SELECT 1) SELECT * FROM orders) s"},
        {"select id from orders for update of orders skip locked",
         "SELECT id FROM shop.orders FOR UPDATE OF orders SKIP LOCKED"},
        {"select 'orders', orders.id as customers from orders",
         "SELECT 'orders', orders.id AS customers FROM shop.orders"},
    };
    CHECK(cases);
}

Test(resolve, writes_the_schema_of_every_relation_written)
{
    static const struct resolve_case cases[] = {
        {"delete from order_items where order_id = 5",
         "DELETE FROM shop.order_items WHERE order_id = 5"},
        {"delete from orders using customers c where c.id = orders.customer_id returning orders.id",
         "DELETE FROM shop.orders USING shop.customers c WHERE c.id = orders.customer_id RETURNING "
         "orders.id"},
        {"update orders set status = c.email from customers c where c.id = orders.customer_id",
         "UPDATE shop.orders SET status = c.email FROM shop.customers c WHERE c.id = "
         "orders.customer_id"},
        {"insert into orders (id, status) values (1, 'x') on conflict (id) do update set status = "
         "orders.status || excluded.status",
         "INSERT INTO shop.orders(id, status) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET "
         "status "
         "= orders.status || excluded.status"},
        {"insert into orders as o select * from orders",
         "INSERT INTO shop.orders AS o SELECT * FROM shop.orders"},
        {"with orders as (select 1 as id) insert into orders (id) select id from orders",
         "WITH orders AS (SELECT 1 AS id) INSERT INTO shop.orders(id) SELECT id FROM orders"},
        {"with gone as (delete from order_items where order_id = 1 returning order_id) update "
         "orders "
         "set status = 'x' from gone where id = gone.order_id",
         "WITH gone AS (DELETE FROM shop.order_items WHERE order_id = 1 RETURNING order_id) UPDATE "
         "shop.orders SET status = 'x' FROM gone WHERE id = gone.order_id"},
        {"merge into orders o using order_items i on o.id = i.order_id when matched then delete "
         "when "
         "not matched then insert (id) values (i.order_id)",
         "MERGE INTO shop.orders o USING shop.order_items i ON o.id = i.order_id WHEN MATCHED THEN "
         "DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (i.order_id)"},
        {"truncate orders, only order_items cascade",
         "TRUNCATE shop.orders, ONLY shop.order_items CASCADE"},
        {"lock table orders in share mode", "LOCK TABLE shop.orders IN SHARE MODE"},
        {"grant select on orders, customers to bob",
         "GRANT SELECT ON shop.orders, shop.customers TO bob"},
    };
    CHECK(cases);
}

Test(resolve, finds_names_however_they_are_spelled)
{
    static const struct resolve_case cases[] = {
        {"/* orders \303\251 */ delete from -- orders\n \"orders\" where id = 1",
         "DELETE FROM shop.orders WHERE id = 1"},
        {"delete from U&\"\\006Frders\" where id = 1", "DELETE FROM shop.orders WHERE id = 1"},
        {"DELETE FROM ORDERS WHERE status = '\303\251' AND orders.id = 1",
         "DELETE FROM shop.orders WHERE status = '\303\251' AND orders.id = 1"},
    };
    CHECK(cases);
}

Test(resolve, writes_the_schema_of_what_is_dropped_or_made)
{
    static const struct resolve_case cases[] = {
        {"drop table orders", "DROP TABLE shop.orders"},
        {"drop table if exists customers, shop.orders, events cascade",
         "DROP TABLE IF EXISTS shop.customers, shop.orders, shop.events CASCADE"},
        {"create table made(a int)", "CREATE TABLE shop.made(a INT)"},
        {"create view made as select id from orders", "CREATE VIEW shop.made AS SELECT id FROM shop.orders"},
        {"create sequence made", "CREATE SEQUENCE shop.made"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_str_eq(resolved(cases[i].sql), cases[i].resolved, "%s", resolved(cases[i].sql));
}

Test(resolve, is_empty_where_there_is_nothing_to_add)
{
    static const char *const texts[] = {
        "select 1",
        "delete from shop.orders where id = 1",
        "select * from nowhere",
        "with t as (select 1) select * from t",
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        cr_expect_str_empty(resolved(texts[i]), "%s", resolved(texts[i]));
}

Test(resolve, is_made_only_when_asked_for)
{
    struct analysis analysis;
    shop_analyse(&arena, "delete from orders", &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK);
    cr_expect_eq(analysis.statements[0].resolved.size, 0);
    cr_expect_str_eq(analysis.statements[0].print.bytes, "DELETE FROM orders");
}

Test(resolve, keeps_the_statements_of_a_message_apart)
{
    struct analysis analysis;
    analyse_on("shop", "select 1 from orders;; select 2;delete from customers -- x", &analysis);
    cr_assert_eq(analysis.statement_count, 3);
    cr_expect_str_eq(analysis.statements[0].resolved.bytes, "SELECT 1 FROM shop.orders");
    cr_expect_eq(analysis.statements[1].resolved.size, 0);
    cr_expect_str_eq(analysis.statements[2].resolved.bytes, "DELETE FROM shop.customers");
    cr_expect_str_eq(analysis.print.bytes, "SELECT 1 FROM orders; SELECT 2; DELETE FROM customers");
}

Test(resolve, does_not_touch_the_name_in_a_literal)
{
    cr_expect_str_eq(resolved("select nextval('orders_id_seq') from orders"),
                     "SELECT nextval('orders_id_seq') FROM shop.orders");
    cr_expect_str_empty(resolved("select nextval('orders_id_seq')"));
}

Test(resolve, quotes_schemas_and_names_that_need_it)
{
    static const struct relation odd[] = {
        {.oid = 5001, .schema = {"My \"Shop\"", 9}, .name = {"value", 5}, .kind = 'r'},
        {.oid = 5002, .schema = {"My \"Shop\"", 9}, .name = {"a.b", 3}, .kind = 'r'},
    };
    catalog_release(catalog);
    catalog = catalog_new();
    catalog_add_schema(catalog, TEXT("pg_catalog"));
    catalog_add_schema(catalog, odd[0].schema);
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
        catalog_add_relation(catalog, &odd[i]);
    catalog_seal(catalog, (struct instant){1}, 150020);
    struct analysis analysis;
    analyse_on("My \"Shop\"", "delete from value using \"a.b\"", &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK, "%s", analysis.message.bytes);
    cr_expect_str_eq(analysis.statements[0].resolved.bytes,
                     "DELETE FROM \"My \"\"Shop\"\"\".\"value\" USING \"My \"\"Shop\"\"\".\"a.b\"");
}

/* Longer ones cannot be held, so nobody needs to read them. */
Test(resolve, is_not_made_of_what_is_too_long_to_be_held)
{
    struct buffer sql;
    buffer_init(&sql, LIMIT_STATEMENT_BYTES);
    buffer_append_string(&sql, "delete from orders where id in (1");
    while (sql.size < LIMIT_HELD_BYTES)
        buffer_append_string(&sql, ", 1234567890");
    buffer_append_byte(&sql, ')');
    const char *text = arena_text(&arena, buffer_text(&sql)).bytes;
    buffer_release(&sql);
    cr_expect_str_empty(resolved(text));
}

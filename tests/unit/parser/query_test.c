/* query_test.c - what queries do as a whole: CTEs, writes, views, locks; and every place for a
 * call. */
#include "unit/parser/trap_catalog.h"

#include <criterion/criterion.h>
#include <string.h>

/* --- a call in every slot ------------------------------------------------------------------- */

#define CALL "pg_sleep(1)"

static const char *const slots[] = {
    "SELECT " CALL,
    "SELECT -" CALL,
    "SELECT 1 + " CALL,
    "SELECT " CALL " IS NULL",
    "SELECT (" CALL " IS NULL) IS TRUE",
    "SELECT NOT " CALL " IS NULL",
    "SELECT true AND " CALL " IS NULL",
    "SELECT " CALL "::text",
    "SELECT CAST(" CALL " AS text)",
    "SELECT " CALL "::text COLLATE \"C\"",
    "SELECT ROW(1, " CALL ")",
    "SELECT (1, " CALL ") = (1, 2)",
    "SELECT ARRAY[1, " CALL "]",
    "SELECT ARRAY[[1, " CALL "]]",
    "SELECT ARRAY(SELECT " CALL ")",
    "SELECT (SELECT " CALL ")",
    "SELECT EXISTS (SELECT " CALL ")",
    "SELECT 1 IN (SELECT " CALL ")",
    "SELECT " CALL " IN (SELECT 1)",
    "SELECT 1 = ANY (SELECT " CALL ")",
    "SELECT " CALL " = ALL (ARRAY[1])",
    "SELECT 1 < ALL (ARRAY[" CALL "])",
    "SELECT 1 IN (1, " CALL ")",
    "SELECT 5 BETWEEN 1 AND " CALL,
    "SELECT 5 BETWEEN SYMMETRIC " CALL " AND 2",
    "SELECT 'a' LIKE " CALL "::text",
    "SELECT 'a' LIKE 'b' ESCAPE " CALL "::text",
    "SELECT 'a' SIMILAR TO " CALL "::text",
    "SELECT 1 IS DISTINCT FROM " CALL,
    "SELECT CASE WHEN true THEN " CALL " END",
    "SELECT CASE WHEN " CALL " IS NULL THEN 1 END",
    "SELECT CASE " CALL " WHEN 1 THEN 1 END",
    "SELECT CASE 1 WHEN 2 THEN 3 ELSE " CALL " END",
    "SELECT coalesce(1, " CALL ")",
    "SELECT nullif(1, " CALL ")",
    "SELECT greatest(1, " CALL ")",
    "SELECT lower(" CALL "::text)",
    "SELECT make_interval(days => " CALL ")",
    "SELECT concat_ws(',', VARIADIC ARRAY[" CALL "])",
    "SELECT sum(1) FILTER (WHERE " CALL " IS NULL)",
    "SELECT string_agg('a', 'b' ORDER BY " CALL ")",
    "SELECT count(DISTINCT " CALL ")",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY " CALL ")",
    "SELECT count(*) OVER (PARTITION BY " CALL ")",
    "SELECT count(*) OVER (ORDER BY " CALL ")",
    "SELECT count(*) OVER (ROWS BETWEEN " CALL " PRECEDING AND CURRENT ROW)",
    "SELECT count(*) OVER (ROWS BETWEEN CURRENT ROW AND " CALL " FOLLOWING)",
    "SELECT count(*) OVER w FROM shop.events WINDOW w AS (ORDER BY " CALL ")",
    "SELECT ('{1}'::text)[" CALL "]",
    "SELECT ('{1}'::text)[" CALL ":2]",
    "SELECT (" CALL ").x",
    "SELECT extract(epoch FROM " CALL ")",
    "SELECT overlay('a' PLACING 'b' FROM " CALL ")",
    "SELECT trim(" CALL "::text)",
    "SELECT now() AT TIME ZONE " CALL "::text",
    "SELECT COLLATION FOR (" CALL ")",
    "SELECT xmlelement(name a, " CALL ")",
    "SELECT xmlelement(name a, xmlattributes(" CALL " AS b))",
    "SELECT xmlforest(" CALL " AS a)",
    "SELECT xmlparse(content " CALL "::text)",
    "SELECT xmlroot(" CALL "::xml, version '1.0')",
    "SELECT xmlserialize(content " CALL " AS text)",
    "SELECT xmlexists('//a' PASSING (" CALL "::xml))",
    "SELECT " CALL "::xml IS DOCUMENT",
    "SELECT DISTINCT ON (" CALL ") 1",
    "SELECT 1 FROM shop.events WHERE " CALL " IS NULL",
    "SELECT 1 FROM shop.events GROUP BY " CALL,
    "SELECT 1 FROM shop.events GROUP BY GROUPING SETS ((id), (" CALL "))",
    "SELECT 1 FROM shop.events GROUP BY CUBE (id, " CALL ")",
    "SELECT grouping(id, " CALL ") FROM shop.events GROUP BY id",
    "SELECT 1 FROM shop.events HAVING " CALL " IS NULL",
    "SELECT 1 ORDER BY " CALL,
    "SELECT 1 LIMIT " CALL,
    "SELECT 1 OFFSET " CALL,
    "SELECT 1 UNION SELECT " CALL,
    "(SELECT 1 ORDER BY " CALL ") UNION ALL SELECT 2",
    "VALUES (1), (" CALL ")",
    "VALUES (1) ORDER BY " CALL,
    "SELECT 1 FROM " CALL,
    "SELECT 1 FROM lower(" CALL "::text)",
    "SELECT 1 FROM ROWS FROM (jsonb_to_recordset('[]') AS (a int), pg_sleep(1))",
    "SELECT 1 FROM (SELECT " CALL ") s",
    "SELECT 1 FROM shop.events, LATERAL (SELECT " CALL ") s",
    "SELECT 1 FROM shop.events a JOIN shop.orders b ON " CALL " IS NULL",
    "SELECT 1 FROM shop.events TABLESAMPLE bernoulli (" CALL ")",
    "SELECT 1 FROM shop.events TABLESAMPLE system (1) REPEATABLE (" CALL ")",
    "SELECT 1 FROM XMLTABLE((" CALL "::text) PASSING '<a/>' COLUMNS v text)",
    "SELECT 1 FROM XMLTABLE('/a' PASSING (" CALL "::xml) COLUMNS v text)",
    "SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS v text PATH " CALL "::text)",
    "SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS v text DEFAULT " CALL "::text)",
    "SELECT 1 FROM XMLTABLE(XMLNAMESPACES(" CALL
    "::text AS x), '/a' PASSING '<a/>' COLUMNS v text)",
    "WITH c AS (SELECT " CALL ") SELECT 1",
    "WITH RECURSIVE c AS (SELECT 1 AS a UNION ALL SELECT a + " CALL " FROM c) SELECT 1",
    "INSERT INTO shop.events VALUES (" CALL ")",
    "INSERT INTO shop.events VALUES (1, 'a'), (2, " CALL ")",
    "INSERT INTO shop.events SELECT " CALL,
    "INSERT INTO shop.events (id[" CALL "]) VALUES (1)",
    "WITH c AS (SELECT " CALL ") INSERT INTO shop.events SELECT 1",
    "INSERT INTO shop.events VALUES (1) RETURNING " CALL,
    "INSERT INTO shop.events VALUES (1) ON CONFLICT ((id + " CALL ")) DO NOTHING",
    "INSERT INTO shop.events VALUES (1) ON CONFLICT (id) WHERE " CALL " IS NULL DO NOTHING",
    "INSERT INTO shop.events VALUES (1) ON CONFLICT (id) DO UPDATE SET id = " CALL,
    "INSERT INTO shop.events VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 1 WHERE " CALL
    " IS NULL",
    "UPDATE shop.events SET id = " CALL,
    "UPDATE shop.events SET id[" CALL "] = 1",
    "UPDATE shop.events SET (id, day) = (1, " CALL ")",
    "UPDATE shop.events SET (id, day) = (SELECT 1, " CALL ")",
    "UPDATE shop.events SET id = 1 FROM " CALL,
    "UPDATE shop.events SET id = 1 WHERE " CALL " IS NULL",
    "UPDATE shop.events SET id = 1 RETURNING " CALL,
    "WITH c AS (SELECT " CALL ") UPDATE shop.events SET id = 1",
    "DELETE FROM shop.events WHERE " CALL " IS NULL",
    "DELETE FROM shop.events USING " CALL,
    "DELETE FROM shop.events RETURNING " CALL,
    "WITH c AS (SELECT " CALL ") DELETE FROM shop.events",
    "MERGE INTO shop.events e USING (SELECT " CALL ") s ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO shop.events e USING shop.orders s ON " CALL " IS NULL WHEN MATCHED THEN DELETE",
    "MERGE INTO shop.events e USING shop.orders s ON true WHEN MATCHED AND " CALL
    " IS NULL THEN DO NOTHING",
    "MERGE INTO shop.events e USING shop.orders s ON true WHEN MATCHED THEN UPDATE SET id = " CALL,
    "MERGE INTO shop.events e USING shop.orders s ON true WHEN NOT MATCHED THEN INSERT VALUES "
    "(" CALL ")",
    "WITH c AS (SELECT " CALL ") MERGE INTO shop.events e USING c ON true WHEN MATCHED THEN DELETE",
    "SELECT 1 WHERE set_config('a.b', " CALL "::text, true) IS NULL",
    "SELECT setval('shop.orders_id_seq', " CALL ")",
};

Test(query, sees_a_call_in_every_slot)
{
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        struct arena arena;
        arena_init(&arena);
        const char *actions = trap_actions(&arena, "", slots[i]);
        cr_expect(strstr(actions, "call pg_catalog.pg_sleep") != NULL, "%s gives %s", slots[i],
                  actions);
        arena_release(&arena);
    }
}

Test(query, sees_a_relation_in_every_kind_of_subquery)
{
    static const char *const places[] = {
        "SELECT (SELECT 1 FROM hr.salaries)",
        "SELECT 1 WHERE EXISTS (TABLE hr.salaries)",
        "SELECT 1 FROM ONLY hr.salaries",
        "SELECT 1 FROM ONLY (hr.salaries)",
        "SELECT 1 FROM shop.events NATURAL JOIN hr.salaries",
        "SELECT 1 FROM shop.events, LATERAL (SELECT * FROM hr.salaries) s",
        "WITH shop AS (SELECT 1) SELECT * FROM hr.salaries",
        "WITH a AS (WITH b AS (TABLE hr.salaries) SELECT 1) SELECT 1",
        "SELECT 1 UNION (SELECT 1 INTERSECT SELECT id FROM hr.salaries)",
        "INSERT INTO shop.events VALUES (1) RETURNING (SELECT salary FROM hr.salaries)",
        "SELECT 1 ORDER BY (SELECT 1 FROM hr.salaries)",
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct arena arena;
        arena_init(&arena);
        const char *actions = trap_actions(&arena, "", places[i]);
        cr_expect(strstr(actions, " hr.salaries") != NULL, "%s gives %s", places[i], actions);
        arena_release(&arena);
    }
}

/* --- CTEs ----------------------------------------------------------------------------------- */

Test(query, knows_where_a_cte_is_visible)
{
    static const struct trap_case cases[] = {
        {"WITH orders AS (SELECT 1 AS id) SELECT id FROM orders", ""},
        {"WITH orders AS (SELECT id FROM orders) SELECT id FROM orders",
         "select public.orders(id)"},
        {"WITH orders AS (SELECT 1) SELECT * FROM public.orders",
         "select public.orders(id, secret)"},
        {"WITH a AS (SELECT secret FROM orders), orders AS (SELECT 1) SELECT 1 FROM a",
         "select public.orders(secret)"},
        {"WITH RECURSIVE a AS (SELECT * FROM orders), orders AS (SELECT 1 AS id) SELECT id FROM a",
         ""},
        {"SELECT (WITH orders AS (SELECT 1) SELECT 1 FROM orders), 1 FROM orders",
         "select public.orders"},
        {"SELECT 1 FROM (WITH orders AS (SELECT 1) SELECT 1) s, orders", "select public.orders"},
        {"WITH orders AS (SELECT 1) DELETE FROM orders", "delete public.orders"},
        {"WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t) SELECT n FROM t", ""},
        {"WITH RECURSIVE t AS (SELECT secret AS s FROM orders UNION ALL SELECT s FROM t) "
         "SELECT t.s FROM t",
         "select public.orders(secret)"},
        {"WITH t(a) AS (SELECT 1, 2 AS b) SELECT t.a, t.b FROM t", ""},
        {"WITH RECURSIVE t(a, b) AS (VALUES (1, 1) UNION SELECT b, a + b FROM t) SEARCH DEPTH "
         "FIRST "
         "BY a SET ord CYCLE a SET is_cycle USING path SELECT a, is_cycle, path FROM t ORDER BY "
         "ord",
         ""},
    };
    CHECK_TRAPS("public", cases);
}

Test(query, finds_writes_inside_a_with)
{
    static const struct trap_case cases[] = {
        {"WITH d AS (DELETE FROM shop.events RETURNING id) SELECT id FROM d",
         "delete shop.events; read select shop.events(id)"},
        {"WITH a AS (WITH b AS (UPDATE shop.events SET id = 1 RETURNING 1) SELECT 1) SELECT 1",
         "update shop.events(id)"},
        {"SELECT 1 FROM (WITH d AS (DELETE FROM shop.events RETURNING 1) SELECT 1) s",
         "delete shop.events"},
        {"WITH d AS (DELETE FROM shop.events RETURNING *) INSERT INTO shop.orders SELECT id FROM d",
         "delete shop.events; read select shop.events(id, day); insert shop.orders(id)"},
    };
    CHECK_TRAPS("", cases);
    struct arena arena;
    struct analysis analysis;
    arena_init(&arena);
    trap_analyse(&arena, "", cases[0].sql, &analysis);
    cr_expect_eq(analysis.statements[0].shape.kind, STATEMENT_WRITE);
    trap_analyse(&arena, "", "SELECT 1 FROM shop.events", &analysis);
    cr_expect_eq(analysis.statements[0].shape.kind, STATEMENT_SELECT);
    arena_release(&arena);
}

/* --- writes --------------------------------------------------------------------------------- */

Test(query, names_the_columns_that_a_write_writes)
{
    static const struct trap_case cases[] = {
        {"INSERT INTO shop.events VALUES (1)", "insert shop.events(id)"},
        {"INSERT INTO shop.events VALUES (1, 'x')", "insert shop.events(id, day)"},
        {"INSERT INTO shop.events (day) VALUES ('x')", "insert shop.events(day)"},
        {"INSERT INTO shop.events DEFAULT VALUES", "insert shop.events"},
        {"INSERT INTO shop.events SELECT id FROM shop.orders",
         "select shop.orders(id); insert shop.events(id)"},
        {"INSERT INTO shop.events SELECT * FROM jsonb_each('{}')", "insert shop.events(id, day)"},
        {"INSERT INTO shop.nope VALUES (1)", "insert shop.nope!*"},
        {"UPDATE shop.orders SET status = 'x', (total, notes) = (1, 'a')",
         "update shop.orders(status, total, notes)"},
        {"UPDATE shop.people SET home.zip = 'x'", "update shop.people(home)"},
        {"DELETE FROM shop.orders", "delete shop.orders"},
    };
    CHECK_TRAPS("", cases);
}

Test(query, counts_what_a_write_reads_as_reads)
{
    static const struct trap_case cases[] = {
        {"UPDATE shop.orders SET total = total + 1 WHERE id = 1 RETURNING notes",
         "update shop.orders(total); read select shop.orders(total, id, notes)"},
        {"UPDATE shop.orders o SET notes = c.ssn FROM shop.customers c WHERE c.id = o.customer_id "
         "RETURNING c.name",
         "update shop.orders(notes); read select shop.customers(ssn, id, name); "
         "read select shop.orders(customer_id)"},
        {"DELETE FROM shop.orders o USING shop.events e WHERE o.id = e.id",
         "delete shop.orders; read select shop.events(id); read select shop.orders(id)"},
        {"DELETE FROM shop.orders RETURNING *",
         "delete shop.orders; read select shop.orders(id, customer_id, status, total, notes)"},
        {"INSERT INTO shop.events VALUES ((SELECT id FROM shop.orders)) RETURNING day",
         "read select shop.orders(id); insert shop.events(id); read select shop.events(day)"},
        {"INSERT INTO shop.events SELECT id FROM shop.orders RETURNING (SELECT ssn FROM "
         "shop.customers)",
         "select shop.orders(id); insert shop.events(id); read select shop.customers(ssn)"},
        {"INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET notes = "
         "excluded.status WHERE orders.total > 1",
         "insert shop.orders(id); read select shop.orders(id, status, total); "
         "update shop.orders(notes)"},
        {"INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT ON CONSTRAINT orders_pkey DO NOTHING",
         "insert shop.orders(id); read select shop.orders(id)"},
        {"INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT DO NOTHING",
         "insert shop.orders(id)"},
        {"INSERT INTO shop.orders (id) SELECT status FROM shop.orders",
         "select shop.orders(status); insert shop.orders(id)"},
    };
    CHECK_TRAPS("", cases);
}

Test(query, takes_a_merge_apart)
{
    static const struct trap_case cases[] = {
        {"MERGE INTO shop.orders o USING shop.customers c ON o.customer_id = c.id "
         "WHEN MATCHED AND c.vip THEN DELETE "
         "WHEN MATCHED THEN UPDATE SET notes = c.ssn "
         "WHEN NOT MATCHED THEN INSERT (customer_id) VALUES (c.id)",
         "read select shop.customers(id, vip, ssn); read select shop.orders(customer_id); "
         "delete shop.orders; update shop.orders(notes); insert shop.orders(customer_id)"},
        {"MERGE INTO shop.events e USING shop.orders o ON true WHEN NOT MATCHED AND notes = 'x' "
         "THEN INSERT VALUES (id)",
         "read select shop.orders(notes, id); insert shop.events(id)"},
    };
    CHECK_TRAPS("", cases);
}

Test(query, makes_a_table_with_into_on_any_arm)
{
    static const struct trap_case cases[] = {
        {"SELECT id INTO shop.copy FROM shop.events", "create shop.copy; select shop.events(id)"},
        {"SELECT id INTO shop.copy FROM shop.events UNION SELECT 1",
         "create shop.copy; select shop.events(id)"},
    };
    CHECK_TRAPS("", cases);
}

/* --- views, locks, foreign keys ------------------------------------------------------------- */

Test(query, shows_what_a_view_reads_and_writes)
{
    static const struct trap_case cases[] = {
        {"SELECT total FROM shop.order_totals",
         "select shop.order_totals(total); view select shop.orders(id, total); "
         "view select shop.order_items"},
        {"SELECT 1 FROM shop.nested_totals",
         "select shop.nested_totals; view select shop.order_totals(order_id); "
         "view select shop.orders(id, total); view select shop.order_items"},
        {"SELECT 1 FROM shop.logged", "select shop.logged; view call shop.log_it"},
        {"UPDATE shop.nested_totals SET order_id = 1",
         "update shop.nested_totals(order_id); view select shop.order_totals(order_id); "
         "view select shop.orders(id, total); view select shop.order_items; "
         "view update shop.order_totals(order_id); view update shop.orders(id, total); "
         "view update shop.order_items"},
        {"INSERT INTO shop.mailbox VALUES (1)",
         "insert shop.mailbox(id); "
         "view select shop.orders(id, customer_id, status, total, notes); "
         "view insert shop.orders*; view code shop.mailbox"},
        {"SELECT relname FROM pg_class", "select pg_catalog.pg_class(relname)"},
    };
    CHECK_TRAPS("", cases);
}

Test(query, points_from_a_views_parts_to_the_view)
{
    struct arena arena;
    struct analysis analysis;
    arena_init(&arena);
    trap_analyse(&arena, "", "SELECT 1 FROM shop.events, shop.nested_totals", &analysis);
    const struct shape *shape = &analysis.statements[0].shape;
    cr_assert_eq(shape->action_count, 5);
    for (size_t i = 2; i < 5; i++)
        cr_expect_eq(shape->actions[i].view_action, 1);
    arena_release(&arena);
}

Test(query, locks_what_for_update_locks)
{
    static const struct trap_case cases[] = {
        {"SELECT 1 FROM shop.events FOR UPDATE", "select shop.events; lock shop.events"},
        {"SELECT 1 FROM shop.events e, shop.orders o FOR SHARE OF o",
         "select shop.events; select shop.orders; lock shop.orders"},
        {"SELECT 1 FROM (SELECT 1 FROM shop.events) s, shop.orders FOR KEY SHARE",
         "select shop.events; select shop.orders; lock shop.events; lock shop.orders"},
        {"SELECT 1 FROM shop.order_totals FOR UPDATE",
         "select shop.order_totals; view select shop.orders(id, total); "
         "view select shop.order_items; lock shop.order_totals; view lock shop.orders; "
         "view lock shop.order_items"},
        {"WITH l AS (SELECT 1 FROM shop.events FOR UPDATE) SELECT 1",
         "select shop.events; lock shop.events"},
    };
    CHECK_TRAPS("", cases);
}

static void check_foreign_keys(const char *sql, enum verb verb, bool acts)
{
    struct arena arena;
    arena_init(&arena);
    const struct action *action = trap_action(&arena, sql, verb);
    cr_expect_eq(action->foreign_key_actions, acts, "%s", sql);
    if (acts)
        cr_expect_eq(action->rows_max, ROWS_UNPROVEN, "%s", sql);
    arena_release(&arena);
}

Test(query, knows_which_verbs_foreign_keys_act_on)
{
    check_foreign_keys("DELETE FROM shop.customers WHERE id = 1", VERB_DELETE, true);
    check_foreign_keys("UPDATE shop.customers SET id = 2 WHERE id = 1", VERB_UPDATE, false);
    check_foreign_keys("DELETE FROM shop.orders WHERE id = 1", VERB_DELETE, false);
    check_foreign_keys("UPDATE shop.orders SET id = 2 WHERE id = 1", VERB_UPDATE, true);
    check_foreign_keys("UPDATE shop.orders SET notes = 'x' WHERE id = 1", VERB_UPDATE, false);
    check_foreign_keys("INSERT INTO shop.orders VALUES (1)", VERB_INSERT, false);
    check_foreign_keys("DELETE FROM shop.events WHERE id = 1", VERB_DELETE, true);
    check_foreign_keys(
        "INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 2",
        VERB_UPDATE, true);
}

/* --- limits --------------------------------------------------------------------------------- */

static void check_nested(const char *open, const char *core, const char *close, size_t levels)
{
    struct arena arena;
    struct analysis analysis;
    arena_init(&arena);
    struct text text = {0};
    text = arena_printf(&arena, "SELECT ");
    for (size_t i = 0; i < levels; i++)
        text = arena_printf(&arena, "%.*s%s", TEXT_ARGS(text), open);
    text = arena_printf(&arena, "%.*s%s", TEXT_ARGS(text), core);
    for (size_t i = 0; i < levels; i++)
        text = arena_printf(&arena, "%.*s%s", TEXT_ARGS(text), close);
    trap_analyse(&arena, "", text.bytes, &analysis);
    cr_expect_eq(analysis.result, ANALYSE_TOO_LARGE, "%s: %d", open, (int)analysis.result);
    cr_expect_str_eq(analysis.sqlstate, "54001");
    arena_release(&arena);
}

Test(query, refuses_what_is_nested_too_deeply)
{
    check_nested("1 + (", "1", ")", 600);
    check_nested("(SELECT ", "1", ")", 600);
    check_nested("CASE WHEN true THEN ", "1", " END", 600);
    check_nested("", "1", " + 1", 600);
    check_nested("", "1", " UNION SELECT 1", 600);
}

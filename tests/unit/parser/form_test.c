/* form_test.c - writes taken apart: target, clauses, the select that finds their rows, bound values. */
#include "parser/form.h"

#include <criterion/criterion.h>

static struct arena arena;

static void setup(void) { arena_init(&arena); }
static void teardown(void) { arena_release(&arena); }

TestSuite(form, .init = setup, .fini = teardown);

static const struct {
    const char *sql, *target, *relation, *select_rows;
} changes[] = {
    {"DELETE FROM shop.orders", "orders", "shop.orders",
     "SELECT 1 FROM shop.orders FOR UPDATE OF orders"},
    {"DELETE FROM ONLY shop.orders AS o WHERE o.id = $1 RETURNING id", "o", "ONLY shop.orders",
     "SELECT 1 FROM ONLY shop.orders AS o WHERE o.id = $1 FOR UPDATE OF o"},
    {"DELETE FROM shop.orders AS o USING shop.customers AS c WHERE o.customer_id = c.id", "o",
     "shop.orders",
     "SELECT 1 FROM shop.orders AS o, shop.customers AS c WHERE o.customer_id = c.id FOR UPDATE OF o"},
    {"DELETE FROM t USING a JOIN b USING (id) WHERE a.id = t.id", "t", "t",
     "SELECT 1 FROM t, a JOIN b USING (id) WHERE a.id = t.id FOR UPDATE OF t"},
    {"UPDATE shop.orders SET status = 'x' WHERE id = 1", "orders", "shop.orders",
     "SELECT 1 FROM shop.orders WHERE id = 1 FOR UPDATE OF orders"},
    {"UPDATE shop.orders AS set SET status = 'x' FROM c WHERE c.id IS DISTINCT FROM set.id", "\"set\"",
     "shop.orders",
     "SELECT 1 FROM shop.orders AS SET, c WHERE c.id IS DISTINCT FROM \"set\".id FOR UPDATE OF \"set\""},
    {"UPDATE t SET a = b IS DISTINCT FROM c, d = (SELECT x FROM y WHERE z) FROM f", "t", "t",
     "SELECT 1 FROM t, f FOR UPDATE OF t"},
    {"UPDATE t SET a = EXTRACT(year FROM b) WHERE c", "t", "t",
     "SELECT 1 FROM t WHERE c FOR UPDATE OF t"},
    {"UPDATE \"Order Items\" AS \"from\" SET a = 1 WHERE \"from\".b = 2", "\"from\"",
     "\"Order Items\"",
     "SELECT 1 FROM \"Order Items\" AS \"from\" WHERE \"from\".b = 2 FOR UPDATE OF \"from\""},
    {"WITH update AS (SELECT 1 AS id) UPDATE t SET a = 1 FROM update WHERE update.id = t.id", "t",
     "t",
     "WITH UPDATE AS (SELECT 1 AS id) SELECT 1 FROM t, UPDATE WHERE \"update\".id = t.id FOR UPDATE OF t"},
    {"WITH w AS (DELETE FROM a RETURNING id) DELETE FROM b USING w WHERE w.id = b.id", "b", "b", ""},
    {"DELETE FROM t WHERE CURRENT OF c", "t", "t", ""},
};

Test(form, takes_updates_and_deletes_apart)
{
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        struct write_form form;
        cr_assert(write_form(&arena, text_from(changes[i].sql), &form), "%s", changes[i].sql);
        cr_expect(text_is(form.target, changes[i].target), "%s: %.*s", changes[i].sql,
                  TEXT_ARGS(form.target));
        cr_expect(text_is(form.relation, changes[i].relation), "%s: %.*s", changes[i].sql,
                  TEXT_ARGS(form.relation));
        cr_expect(text_is(form.select_rows, changes[i].select_rows), "%s:\n%.*s", changes[i].sql,
                  TEXT_ARGS(form.select_rows));
    }
}

static const struct {
    const char *sql;
    const char *columns; /* behind those that are bound '!', that other rows decide '+' */
    bool returning, conflict;
} columns[] = {
    {"UPDATE t SET a = 1, b = $1, c = c + 1, d = now(), e = DEFAULT, f = (SELECT 1)",
     "a! b! c! d e f!+ ", false, false},
    {"UPDATE t SET a = 'now', b = 'now'::timestamptz, c = CURRENT_DATE, d = 'a' || lower(e)",
     "a b c d! ", false, false},
    {"UPDATE t SET (a, b) = (1, random()) RETURNING a", "a! b ", true, false},
    {"UPDATE t SET (a, b) = (SELECT 1, 2)", "a!+ b!+ ", false, false},
    {"UPDATE t SET a = CASE WHEN b > 0 THEN 1 ELSE 2 END, c = COALESCE(d, 'x'), e[1] = 2",
     "a! c! e ", false, false},
    {"UPDATE t SET a = CASE WHEN random() > 0 THEN 1 END, b = my.f(1), c = nextval('s')", "a b c ",
     false, false},
    {"UPDATE t SET a = (SELECT sum(x.b) FILTER (WHERE x.c) FROM x WHERE x.d = t.d), b = (SELECT max(x.b) "
     "FROM x WHERE at < now()), c = (SELECT b FROM x ORDER BY random() LIMIT 1)", "a!+ b c ", false, false},
    {"UPDATE t SET a = (SELECT rank() OVER (ORDER BY d) FROM x LIMIT 1), b = EXISTS (SELECT FROM x), "
     "c = d IN (SELECT d FROM x), e = ARRAY(SELECT d FROM x UNION SELECT clock_timestamp()::text)",
     "a!+ b!+ c!+ e ", false, false},
    {"UPDATE t SET a = age(b), c = age(b, d), e = to_jsonb(b), f = ROW(1, random()), g = (ARRAY[b])[1]",
     "a c! e! f g! ", false, false},
    {"UPDATE t SET a = u.b, c = 1 FROM u", "a!+ c!+ ", false, false},
    {"UPDATE t SET a = u.b, c = 1 FROM (SELECT id, now() AS b FROM v) AS u", "a c!+ ", false, false},
    {"UPDATE t SET a = u.b FROM v JOIN LATERAL (SELECT random() AS b) AS u ON v.id > 0", "a ", false, false},
    {"UPDATE t SET a = b FROM random() AS b", "a ", false, false},
    {"WITH u AS (SELECT now() AS b) UPDATE t SET a = b FROM u", "a ", false, false},
    {"WITH u AS (SELECT sum(x) AS b FROM v) UPDATE t SET a = b FROM u", "a!+ ", false, false},
    {"INSERT INTO t (a, b, c) VALUES (1, now(), 'x'), (2, 'y', DEFAULT)", "a! b c ", false, false},
    {"INSERT INTO t (a, b) VALUES ((SELECT max(a) FROM t), 1)", "a!+ b! ", false, false},
    {"INSERT INTO t VALUES (1, $1) ON CONFLICT (a) DO UPDATE SET b = 2", "! ! ", false, true},
    {"INSERT INTO t (a, b, c) VALUES (1, 2, 3) ON CONFLICT (a) DO UPDATE SET b = now(), c = (SELECT 1)",
     "a! b c!+ ", false, true},
    {"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING RETURNING *", "! ", true, false},
    {"INSERT INTO t (a, b) SELECT id, random() FROM u", "a!+ b ", false, false},
    {"INSERT INTO t (a, b) SELECT * FROM u", "a!+ b!+ ", false, false},
    {"INSERT INTO t (a, b) SELECT *, now() FROM u", "a b ", false, false},
    {"INSERT INTO t (a, b) SELECT day, sum(x) FROM u GROUP BY day", "a!+ b!+ ", false, false},
    {"INSERT INTO t (a, b) WITH w AS (SELECT now() AS n) SELECT id, n FROM w, u", "a b ", false, false},
    {"INSERT INTO t (a, b) SELECT id, g FROM u, generate_series(1, 3) AS g", "a!+ b!+ ", false, false},
    {"WITH w AS (DELETE FROM u RETURNING a) INSERT INTO t (a) SELECT a FROM w", "a!+ ", false, false},
    {"WITH w AS (INSERT INTO u DEFAULT VALUES RETURNING a) INSERT INTO t (a) SELECT a FROM w", "a ", false,
     false},
    {"INSERT INTO t (a) SELECT 1 UNION SELECT 2", "a!+ ", false, false},
    {"INSERT INTO t (a) SELECT x FROM u UNION ALL SELECT now()", "a ", false, false},
    {"INSERT INTO t SELECT * FROM u", "*! ", false, false},
    {"INSERT INTO t SELECT u.*, now() FROM u", "", false, false},
    {"INSERT INTO t SELECT * FROM u UNION SELECT * FROM v", "*! ", false, false},
    {"INSERT INTO t DEFAULT VALUES", "", false, false},
};

Test(form, tells_which_values_the_text_decides)
{
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
        struct write_form form;
        struct text found = TEXT("");
        cr_assert(write_form(&arena, text_from(columns[i].sql), &form), "%s", columns[i].sql);
        for (size_t j = 0; j < form.column_count; j++)
            found = arena_printf(&arena, "%.*s%.*s%s%s ", TEXT_ARGS(found),
                                 TEXT_ARGS(form.columns[j].name), form.columns[j].bound ? "!" : "",
                                 form.columns[j].bound && form.columns[j].reads_others ? "+" : "");
        if (form.star_bound)
            found = arena_printf(&arena, "%.*s*! ", TEXT_ARGS(found));
        cr_expect(text_is(found, columns[i].columns), "%s: %.*s", columns[i].sql, TEXT_ARGS(found));
        cr_expect_eq(form.has_returning, columns[i].returning, "%s", columns[i].sql);
        cr_expect_eq(form.conflict_updates, columns[i].conflict, "%s", columns[i].sql);
    }
}

static const struct {
    const char *sql, *updated;
} updates[] = {
    {"UPDATE t SET a = 1, (b, c) = (SELECT 1, 2)", "a b c "},
    {"INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = 2, (c, d) = (1, 2) WHERE t.a > 0", "b c d "},
    {"INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET a = EXCLUDED.a, b = EXCLUDED.b", "b "},
    {"INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET a = EXCLUDED.b, b = EXCLUDED.a", "a b "},
    {"INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (b) DO UPDATE SET a = EXCLUDED.a", "a "},
    {"INSERT INTO t (a) VALUES (1) ON CONFLICT (lower(a)) DO UPDATE SET a = EXCLUDED.a", "a "},
    {"INSERT INTO t (a) VALUES (1) ON CONFLICT ON CONSTRAINT k DO UPDATE SET a = EXCLUDED.a", "a "},
    {"INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = t.a", "a "},
    {"INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING", ""},
    {"INSERT INTO t (a) VALUES (1)", ""},
    {"DELETE FROM t", ""},
};

Test(form, tells_which_columns_of_rows_that_are_there_it_sets)
{
    for (size_t i = 0; i < ARRAY_SIZE(updates); i++) {
        struct write_form form;
        struct text found = TEXT("");
        cr_assert(write_form(&arena, text_from(updates[i].sql), &form), "%s", updates[i].sql);
        for (size_t j = 0; j < form.updated_count; j++)
            found = arena_printf(&arena, "%.*s%.*s ", TEXT_ARGS(found), TEXT_ARGS(form.updated[j]));
        cr_expect(text_is(found, updates[i].updated), "%s: %.*s", updates[i].sql, TEXT_ARGS(found));
    }
}

Test(form, leaves_to_the_counters_what_is_no_plain_write)
{
    static const char *const others[] = {
        "SELECT 1",
        "WITH w AS (DELETE FROM a RETURNING id) SELECT * FROM w",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE",
        "TRUNCATE t",
        "COPY t FROM STDIN",
        "DELETE FROM d.s.t",
        "DELETE FROM t; DELETE FROM u",
        "DELETE FROM",
        "",
    };
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        struct write_form form;
        cr_expect_not(write_form(&arena, text_from(others[i]), &form), "%s", others[i]);
    }
}

Test(form, spells_identifiers_as_the_print_does)
{
    cr_expect(text_is(form_identifier(&arena, TEXT("orders")), "orders"));
    cr_expect(text_is(form_identifier(&arena, TEXT("Order \"Items\"")), "\"Order \"\"Items\"\"\""));
    cr_expect(text_is(form_identifier(&arena, TEXT("select")), "\"select\""));
}

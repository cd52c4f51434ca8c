/* where_test.c - how strong a WHERE is, and how many rows a statement proves. */
#include "proxy/base/buffer.h"
#include "unit/parser/trap_catalog.h"

#include <criterion/criterion.h>
#include <string.h>

struct strength_case {
    const char *where; /* after "DELETE FROM shop.order_items i "; the key is (order_id, line) */
    enum where_strength strength;
    int64_t rows;
};

static void check_strength(const struct strength_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        arena_init(&arena);
        const char *sql =
            arena_printf(&arena, "DELETE FROM shop.order_items i %s", cases[i].where).bytes;
        const struct action *action = trap_action(&arena, sql, VERB_DELETE);
        cr_expect_eq(action->where, cases[i].strength, "%s: %d", sql, (int)action->where);
        cr_expect_eq(action->rows_max, cases[i].rows, "%s: %ld", sql, (long)action->rows_max);
        arena_release(&arena);
    }
}

#define CHECK_STRENGTH(cases) check_strength(cases, sizeof(cases) / sizeof((cases)[0]))

static const char *const tautologies[] = {
    "",
    "true",
    "1=1",
    "NOT false",
    "'a' = 'a'",
    "order_id = order_id",
    "order_id = line",
    "qty = 5 OR true",
    "qty = 5 OR 1=1 AND 'a'='a'",
    "coalesce(NULL, true)",
    "length('x') = 1",
    "EXISTS (SELECT 1)",
    "EXISTS (SELECT 1 FROM shop.orders)",
    "random() < 2",
    "'x' LIKE '%'",
    "now() > '2000-01-01'",
    "CASE WHEN qty IS NULL THEN false ELSE true END",
    "ctid IS NOT NULL",
    "ctid <> '(0,0)'",
    "'t'",
    "1 IN (1, 2)",
    "qty IS NOT NULL",
    "qty IS NULL OR qty IS NOT NULL",
    "i IS NOT NULL",
    "qty IN (1, qty)",
    "qty BETWEEN qty AND qty",
    "qty % 1 = 0",
    "abs(qty) >= 0",
    "qty::text LIKE '%'",
    "qty::text LIKE '%' || '%'",
    "qty::text ~ '^'",
    "qty::text ~ 'a*'",
    "qty::text ~ 'a|'",
    "qty::text ~ '|a'",
    "qty::text ~ '(a|b)?'",
    "qty::text ~ '[abc]*'",
    "qty::text ~ '[]a]*'",
    "qty::text ~ '[^]a]*'",
    "qty::text ~ '[[:alpha:]]*'",
    "qty::text ~ '\\d*'",
    "qty::text ~ '\\x41*'",
    "qty::text ~ 'a{0,}'",
    "qty::text ~ '(a'",
    "qty::text SIMILAR TO '%'",
    "qty::text SIMILAR TO 'a|%'",
    "NOT (qty::text !~ '.*')",
    "regexp_like(qty::text, '.*')",
    "starts_with(qty::text, '')",
    "NOT starts_with(qty::text, 'x')",
    "shop.starts_with(qty::text, 'x')",
    "shop.lower(qty::text) = 'x'",
    "length(qty::text) >= 0",
    "length(qty::text) > -1",
    "length(qty::text) <> -5",
    "strpos(qty::text, '') = 1",
    "left(qty::text, 0) = ''",
    "coalesce(qty, qty) = qty",
    "qty % 2 >= 0",
    "qty % -1 = 0",
    "qty <@ '(,)'::int4range",
    "'(,)'::int4range @> qty",
    "NOT (qty IS NULL)",
    "qty::text ~ '.*'",
    "qty::text || '' = qty::text",
    "qty IS DISTINCT FROM NULL",
    "qty <> ALL ('{}')",
    "qty = (SELECT qty)",
    "qty = (SELECT j.qty FROM shop.order_items j WHERE j.qty = i.qty)",
    "qty IN (SELECT j.qty FROM shop.order_items j)",
    "qty IN (SELECT j.qty FROM shop.order_items j WHERE j.qty = i.qty)",
    "qty IN (SELECT j.qty FROM shop.order_items j, shop.customers c WHERE c.id = 1)",
    "qty = ANY (ARRAY(SELECT qty FROM shop.order_items))",
    "EXISTS (SELECT 1 FROM shop.orders o WHERE o.id = i.order_id)",
    "EXISTS (SELECT count(*) FROM shop.orders o WHERE o.id = i.order_id AND o.status = 'x')",
    "EXISTS (SELECT 1 FROM shop.order_items j WHERE j.qty = i.qty AND j.line = 1)",
    "(qty, line) = (qty, line)",
    "(qty > 0) IS NOT FALSE",
    "qty = 1 IS NOT UNKNOWN",
    "qty = nullif(qty, 0)",
    "qty - qty = 0",
    "qty * 0 = 0",
    "NOT (qty <> qty)",
    "lower('') = qty::text || ''",
    "'{}'::jsonb @> '{}'",
    "false",
};

Test(where, restricts_nothing_by_tautologies)
{
    for (size_t i = 0; i < sizeof tautologies / sizeof tautologies[0]; i++) {
        struct arena arena;
        arena_init(&arena);
        const char *sql = arena_printf(&arena, "DELETE FROM shop.order_items i%s%s",
                                       tautologies[i][0] != '\0' ? " WHERE " : "", tautologies[i])
                              .bytes;
        const struct action *action = trap_action(&arena, sql, VERB_DELETE);
        cr_expect_eq(action->where, WHERE_ANY, "%s", sql);
        cr_expect_gt(action->where_why.size, 0, "%s", sql);
        arena_release(&arena);
    }
}

Test(where, is_restricted_by_a_comparison_in_each_arm)
{
    static const struct strength_case cases[] = {
        {"WHERE qty = 5", WHERE_REQUIRED, -1},
        {"WHERE 5 < qty", WHERE_REQUIRED, -1},
        {"WHERE qty = $1 AND true", WHERE_REQUIRED, -1},
        {"WHERE qty = 5 OR line = 7", WHERE_REQUIRED, -1},
        {"WHERE qty = 5 OR false", WHERE_REQUIRED, -1},
        {"WHERE NOT (qty = 5)", WHERE_REQUIRED, -1},
        {"WHERE NOT (qty = 5 AND line = 7)", WHERE_REQUIRED, -1},
        {"WHERE qty BETWEEN 1 AND 5", WHERE_REQUIRED, -1},
        {"WHERE qty IN (1, 2)", WHERE_REQUIRED, -1},
        {"WHERE qty NOT IN (1, 2)", WHERE_REQUIRED, -1},
        {"WHERE qty = ANY ($1)", WHERE_REQUIRED, -1},
        {"WHERE qty IS NOT DISTINCT FROM 5", WHERE_REQUIRED, -1},
        {"WHERE (qty = 5) IS TRUE", WHERE_REQUIRED, -1},
        {"WHERE (qty, line) = (1, 2)", WHERE_REQUIRED, -1},
        {"WHERE (qty, line) IN ((1, 2), (3, 4))", WHERE_REQUIRED, -1},
        {"WHERE qty::text LIKE 'a%'", WHERE_REQUIRED, -1},
        {"WHERE qty::text LIKE $1", WHERE_REQUIRED, -1},
        {"WHERE qty::text ILIKE '%' || $1 || '%'", WHERE_REQUIRED, -1},
        {"WHERE qty::text NOT LIKE 'a%'", WHERE_REQUIRED, -1},
        {"WHERE qty::text ~ '^a'", WHERE_REQUIRED, -1},
        {"WHERE qty::text ~* 'a+|[0-9]*b$'", WHERE_REQUIRED, -1},
        {"WHERE qty::text ~ '(x|y)?a'", WHERE_REQUIRED, -1},
        {"WHERE qty::text ~ '\\d+\\.ab?'", WHERE_REQUIRED, -1},
        {"WHERE qty::text ~ $1", WHERE_REQUIRED, -1},
        {"WHERE qty::text !~ 'a'", WHERE_REQUIRED, -1},
        {"WHERE NOT (qty::text ~ 'a*')", WHERE_REQUIRED, -1},
        {"WHERE qty::text SIMILAR TO 'a|b%'", WHERE_REQUIRED, -1},
        {"WHERE qty::text NOT SIMILAR TO 'a|b%'", WHERE_REQUIRED, -1},
        {"WHERE qty IS NULL", WHERE_REQUIRED, -1},
        {"WHERE NOT (qty IS NOT NULL)", WHERE_REQUIRED, -1},
        {"WHERE qty IS NULL OR qty < 5", WHERE_REQUIRED, -1},
        {"WHERE qty <> ALL ($1)", WHERE_REQUIRED, -1},
        {"WHERE length(qty::text) > 5", WHERE_REQUIRED, -1},
        {"WHERE length(qty::text) >= 1", WHERE_REQUIRED, -1},
        {"WHERE position('x' IN qty::text) > 0", WHERE_REQUIRED, -1},
        {"WHERE coalesce(qty, 0) = 5", WHERE_REQUIRED, -1},
        {"WHERE qty % 2 = 0", WHERE_REQUIRED, -1},
        {"WHERE int4range(1, 5) @> qty", WHERE_REQUIRED, -1},
        {"WHERE qty <@ int4range(1, $1)", WHERE_REQUIRED, -1},
        {"WHERE starts_with(qty::text, 'x')", WHERE_REQUIRED, -1},
        {"WHERE (now(), now()) OVERLAPS (qty, '2020-01-01')", WHERE_REQUIRED, -1},
        {"WHERE split_part(qty::text, '@', 2) = 'x'", WHERE_REQUIRED, -1},
        {"WHERE to_tsvector(qty::text) @@ plainto_tsquery('x')", WHERE_REQUIRED, -1},
        {"WHERE qty + 1 > 5", WHERE_REQUIRED, -1},
        {"WHERE lower(qty::text) = 'x'", WHERE_REQUIRED, -1},
        {"WHERE qty = (SELECT max(qty) FROM shop.order_items)", WHERE_REQUIRED, -1},
        {"WHERE qty IN (SELECT qty FROM shop.order_items ORDER BY qty LIMIT 5)", WHERE_REQUIRED,
         -1},
        {"WHERE qty IN (SELECT qty FROM shop.order_items WHERE line = 1)", WHERE_REQUIRED, -1},
        {"WHERE qty IN (VALUES (1), (2))", WHERE_REQUIRED, -1},
    };
    CHECK_STRENGTH(cases);
}

Test(where, counts_another_relation_only_if_it_is_cut)
{
    static const struct strength_case cases[] = {
        {"USING shop.orders o WHERE o.id = i.order_id", WHERE_ANY, -1},
        {"USING shop.orders o WHERE o.id = 5", WHERE_ANY, -1},
        {"USING shop.orders o WHERE o.id = i.order_id AND o.status = 'x'", WHERE_REQUIRED, -1},
        {"USING shop.orders o, shop.customers c WHERE o.id = i.order_id AND o.customer_id = c.id",
         WHERE_ANY, -1},
        {"USING shop.orders o, shop.customers c WHERE o.id = i.order_id AND o.customer_id = c.id "
         "AND c.name = 'x'",
         WHERE_REQUIRED, -1},
        {"USING shop.orders o JOIN shop.customers c ON c.id = o.customer_id AND c.name = 'x' "
         "WHERE o.id = i.order_id",
         WHERE_REQUIRED, -1},
        {"USING shop.orders o LEFT JOIN shop.customers c ON c.id = o.customer_id AND c.name = 'x' "
         "WHERE o.id = i.order_id",
         WHERE_ANY, -1},
        {"USING shop.order_items j WHERE i.qty = j.qty AND j.line = 1", WHERE_ANY, -1},
        {"USING (SELECT id FROM shop.orders) o WHERE o.id = i.order_id", WHERE_ANY, -1},
        {"USING (SELECT id FROM shop.orders LIMIT 5) o WHERE o.id = i.order_id", WHERE_REQUIRED,
         -1},
        {"USING (SELECT id FROM shop.orders WHERE status = 'x') o WHERE o.id = i.order_id",
         WHERE_REQUIRED, -1},
        {"USING (VALUES (1), (2)) o(id) WHERE o.id = i.order_id", WHERE_REQUIRED, -1},
        {"USING unnest($1::int8) o(id) WHERE o.id = i.order_id", WHERE_REQUIRED, -1},
        {"USING generate_series(1, 1000000) o(id) WHERE o.id = i.order_id", WHERE_ANY, -1},
        {"WHERE EXISTS (SELECT 1 FROM shop.orders o WHERE o.id = i.order_id AND o.status = 'x')",
         WHERE_REQUIRED, -1},
        {"WHERE NOT EXISTS (SELECT 1 FROM shop.orders o WHERE o.id = i.order_id AND o.status = "
         "'x')",
         WHERE_ANY, -1},
    };
    CHECK_STRENGTH(cases);
}

Test(where, proves_rows_by_a_whole_key)
{
    static const struct strength_case cases[] = {
        {"WHERE order_id = 1 AND line = 2", WHERE_KEY, 1},
        {"WHERE line = $2 AND i.order_id = $1 AND qty > 5", WHERE_KEY, 1},
        {"WHERE (order_id, line) = (1, 2)", WHERE_KEY, 1},
        {"WHERE order_id IN (1, 2, 3) AND line IN (4, 5)", WHERE_KEY, 6},
        {"WHERE order_id IN (1, 2, 3) AND order_id = 1 AND line = 4", WHERE_KEY, 1},
        {"WHERE order_id = '1' AND 2 = line", WHERE_KEY, 1},
        {"WHERE order_id = 1::int8 AND line = $1::int8", WHERE_KEY, 1},
        {"WHERE order_id OPERATOR(pg_catalog.=) 1 AND line = 2", WHERE_KEY, 1},
        {"WHERE CURRENT OF c", WHERE_KEY, 1},
        {"WHERE order_id = 1", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 OR line = 2", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line > 2", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ANY ($1)", WHERE_KEY, -1},
        {"WHERE order_id = 1 AND line = ANY ($1) AND line = 3", WHERE_KEY, 1},
        {"WHERE order_id = 1 AND line = ANY (ARRAY[1, 2, 2])", WHERE_KEY, 3},
        {"WHERE order_id = 1 AND line = ANY ('{1,2}')", WHERE_KEY, 2},
        {"WHERE order_id = 1 AND line = ANY ('{{1,2},{3,4}}')", WHERE_KEY, 4},
        {"WHERE order_id = ANY (ARRAY[1, NULL]) AND line = ANY ('{4,5}')", WHERE_KEY, 4},
        {"WHERE order_id = 1 AND line = ANY ('{1,2}'::int8[])", WHERE_KEY, 2},
        {"WHERE order_id = 1 AND line = ANY ($1::int8[])", WHERE_KEY, -1},
        {"WHERE order_id = 1 AND line = ANY ($1::float8[])", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ANY (ARRAY['1'])", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ANY (ARRAY[ARRAY[1, 2]])", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ANY (ARRAY[qty])", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ALL ($1)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line <> ANY ($1)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line::text = ANY ($1)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = qty", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line::text = '2'", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = 2.0", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = $1::float8", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = (SELECT 1)", WHERE_REQUIRED, -1},
        {"WHERE NOT (order_id <> 1 OR line <> 2)", WHERE_REQUIRED, -1},
        {"WHERE order_id = NULL AND line = 1", WHERE_REQUIRED, -1}, /* IS NULL by transform_null_equals */
        {"WHERE order_id = 1 AND line = ANY (ARRAY['1', $1]::int8[])", WHERE_KEY, 2},
        {"WHERE order_id = 1 AND line = ANY (ARRAY[1, 2]::int4[])", WHERE_KEY, 2},
        {"WHERE order_id = 1 AND line = ANY (ARRAY[1, 2]::numeric[])", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ANY (ARRAY[ARRAY[1, 2]]::int8[])", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND line = ANY (ARRAY['{1,2}'::int8[]]::int8[])", WHERE_REQUIRED, -1},
    };
    CHECK_STRENGTH(cases);
}

Test(where, proves_rows_by_the_keys_of_alternatives)
{
    static const struct strength_case cases[] = {
        {"WHERE order_id = 1 AND (line = 2 OR line = 3 OR line IN (4, 5))", WHERE_KEY, 4},
        {"WHERE (order_id = 1 AND line = 2) OR (order_id = 3 AND line = 4)", WHERE_KEY, 2},
        {"WHERE (order_id, line) IN ((1, 2), (3, 4), (3, 4))", WHERE_KEY, 3},
        {"WHERE (line, order_id) IN (($1, 2), (3, '4'))", WHERE_KEY, 2},
        {"WHERE order_id = 1 AND (line, qty) IN ((1, 2), (3, 4))", WHERE_KEY, 2},
        {"WHERE (order_id = 1 OR order_id = 2) AND (line = 1 OR line = 2)", WHERE_KEY, 4},
        {"WHERE (order_id = 1 AND (line = 2 OR line = 3)) OR (order_id, line) = (4, 5)", WHERE_KEY, 3},
        {"WHERE order_id = 1 AND ((line = 2 AND qty > 1) OR (line = 3 AND (qty < 1 OR false)))", WHERE_KEY, 2},
        {"WHERE (order_id = 1 AND line = 2) OR false OR NULL", WHERE_KEY, 1},
        {"WHERE (order_id, line) IN ((1, 2), (3, 4)) AND line = 4", WHERE_KEY, 2},
        {"WHERE order_id = 1 AND (line = 2 OR line = ANY ($1))", WHERE_KEY, -1},
        {"WHERE (order_id = 1 AND line = 2) OR order_id = 3", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND (line = 2 OR qty = 3)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND (line = 2 OR line IS NULL)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND (line = 2 OR line = 3.0)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND (line = 2 OR line = qty)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND (line = 2 OR line = NULL)", WHERE_REQUIRED, -1},
        {"WHERE order_id = 1 AND (line = 2 OR true)", WHERE_REQUIRED, -1},
        {"WHERE (order_id, line) IN ((1, 2), (3, qty))", WHERE_REQUIRED, -1},
        {"WHERE (order_id, line) IN ((1, 2), (3, 4.0))", WHERE_REQUIRED, -1},
        {"WHERE (order_id, line) IN (SELECT 1, 2)", WHERE_ANY, -1},
        {"WHERE (order_id, line) NOT IN ((1, 2), (3, 4))", WHERE_ANY, -1},
        {"WHERE NOT ((order_id, line) IN ((1, 2), (3, 4)))", WHERE_REQUIRED, -1},
        {"WHERE (order_id, line) > (1, 2) OR (order_id, line) = (1, 2)", WHERE_REQUIRED, -1},
    };
    CHECK_STRENGTH(cases);
}

struct write_case {
    const char *sql;
    enum verb verb;
    enum where_strength strength;
    int64_t rows;
};

static void check_writes(const struct write_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        arena_init(&arena);
        const struct action *action = trap_action(&arena, cases[i].sql, cases[i].verb);
        cr_expect_eq(action->where, cases[i].strength, "%s: %d", cases[i].sql, (int)action->where);
        cr_expect_eq(action->rows_max, cases[i].rows, "%s: %ld", cases[i].sql,
                     (long)action->rows_max);
        arena_release(&arena);
    }
}

#define CHECK_WRITES(cases) check_writes(cases, sizeof(cases) / sizeof((cases)[0]))

Test(where, knows_when_a_key_proves_nothing)
{
    static const struct write_case cases[] = {
        {"DELETE FROM shop.events WHERE id = 1", VERB_DELETE, WHERE_REQUIRED, -1},
        {"DELETE FROM shop.customers WHERE id = 1", VERB_DELETE, WHERE_KEY, -1},
        {"UPDATE shop.customers SET name = 'x' WHERE email = 'a'", VERB_UPDATE, WHERE_KEY, 1},
        {"UPDATE shop.customers SET name = 'x' WHERE email = 'a' COLLATE \"C\"", VERB_UPDATE,
         WHERE_REQUIRED, -1},
        {"UPDATE shop.orders SET id = 2 WHERE id = 1", VERB_UPDATE, WHERE_KEY, -1},
        {"UPDATE shop.orders SET notes = '' WHERE id = 1", VERB_UPDATE, WHERE_KEY, 1},
        {"PREPARE p (int8) AS UPDATE shop.orders SET notes = '' WHERE id = $1", VERB_UPDATE, WHERE_KEY,
         1},
        {"PREPARE p AS UPDATE shop.orders SET notes = '' WHERE id = $1", VERB_UPDATE, WHERE_KEY, 1},
        {"PREPARE p (float8) AS UPDATE shop.orders SET notes = '' WHERE id = $1", VERB_UPDATE,
         WHERE_REQUIRED, -1},
        {"PREPARE p (text, nothing) AS UPDATE shop.orders SET notes = $1 WHERE id = $2", VERB_UPDATE,
         WHERE_REQUIRED, -1},
        {"UPDATE shop.mailbox SET notes = '' WHERE id = 1", VERB_UPDATE, WHERE_REQUIRED, -1},
        {"UPDATE shop.nope SET notes = '' WHERE id = 1", VERB_UPDATE, WHERE_ANY, -1},
        {"UPDATE shop.customers SET name = '' WHERE vip", VERB_UPDATE, WHERE_REQUIRED, -1},
        {"UPDATE shop.customers SET name = '' WHERE attrs @> '{\"a\": 1}'", VERB_UPDATE,
         WHERE_REQUIRED, -1},
        {"UPDATE shop.customers SET name = '' WHERE attrs @> '{}'", VERB_UPDATE, WHERE_ANY, -1},
        {"MERGE INTO shop.orders o USING (VALUES (1)) v(id) ON o.id = v.id WHEN MATCHED THEN "
         "DELETE",
         VERB_DELETE, WHERE_ANY, -1},
        {"UPDATE shop.customers SET name = 'x' WHERE id = 1 OR email = 'a'", VERB_UPDATE, WHERE_KEY, 2},
        {"UPDATE shop.customers SET name = 'x' WHERE id = 1 OR email = 'a' OR vip", VERB_UPDATE, WHERE_REQUIRED, -1},
        {"UPDATE shop.customers SET name = 'x' WHERE email = NULL", VERB_UPDATE, WHERE_REQUIRED, -1},
    };
    CHECK_WRITES(cases);
}

Test(where, proves_no_more_of_a_huge_text_than_it_has_time_for)
{
    enum { DEPTH = 200, ARMS = 3000 };
    struct arena arena;
    struct buffer sql;
    arena_init(&arena);
    buffer_init(&sql, 1 << 20);
    buffer_append_string(&sql, "DELETE FROM shop.orders WHERE ");
    for (int i = 0; i < DEPTH; i++)
        buffer_append_string(&sql, "(id = 1 OR notes = 'a' AND ");
    for (int i = 0; i < ARMS; i++)
        buffer_printf(&sql, "id = %d OR ", i);
    buffer_append_string(&sql, "id = 1");
    for (int i = 0; i < DEPTH; i++)
        buffer_append_string(&sql, ")");
    buffer_append_byte(&sql, 0);
    const struct action *action = trap_action(&arena, (const char *)sql.bytes, VERB_DELETE);
    cr_expect_neq(action->where, WHERE_ANY);
    buffer_release(&sql);
    arena_release(&arena);
}

Test(where, knows_no_key_where_equality_is_not_the_servers)
{
    struct arena arena;
    struct analysis analysis;
    arena_init(&arena);
    trap_analyse(&arena, "hr", "DELETE FROM shop.order_items WHERE order_id = 1 AND line = 2",
                 &analysis);
    cr_expect_eq(analysis.statements[0].shape.actions[0].where, WHERE_ANY);
    arena_release(&arena);
}

Test(where, respects_the_types_of_parameters)
{
    static const uint32_t types[] = {0, 23, 701};
    static const enum where_strength expected[] = {WHERE_KEY, WHERE_KEY, WHERE_REQUIRED};
    for (size_t i = 0; i < 3; i++) {
        struct arena arena;
        struct analysis analysis = {0};
        arena_init(&arena);
        struct analyse_context context = {
            .catalog = trap_catalog(), .parameter_types = &types[i], .parameter_count = 1};
        analyse(&arena, &context, TEXT("DELETE FROM shop.orders WHERE id = $1"), &analysis);
        cr_expect_eq(analysis.statements[0].shape.actions[0].where, expected[i], "%zu", i);
        arena_release(&arena);
    }
}

Test(where, counts_the_rows_of_an_insert)
{
    static const struct write_case cases[] = {
        {"INSERT INTO shop.orders VALUES (1)", VERB_INSERT, WHERE_ANY, 1},
        {"INSERT INTO shop.orders VALUES (1), (2), (3)", VERB_INSERT, WHERE_ANY, 3},
        {"INSERT INTO shop.orders VALUES (1, now()::text)", VERB_INSERT, WHERE_ANY, 1},
        {"INSERT INTO shop.orders DEFAULT VALUES", VERB_INSERT, WHERE_ANY, 1},
        {"INSERT INTO shop.orders VALUES (generate_series(1, 9))", VERB_INSERT, WHERE_ANY, -1},
        {"INSERT INTO shop.orders VALUES (('{}'::jsonb).jsonb_object_keys)", VERB_INSERT, WHERE_ANY,
         -1},
        {"INSERT INTO shop.orders VALUES (shop.many())", VERB_INSERT, WHERE_ANY, -1},
        {"INSERT INTO shop.orders SELECT 1", VERB_INSERT, WHERE_ANY, -1},
        {"INSERT INTO shop.orders SELECT id FROM shop.events LIMIT 5", VERB_INSERT, WHERE_ANY, 5},
        {"INSERT INTO shop.orders SELECT id FROM shop.events ORDER BY id FETCH FIRST 5 ROWS WITH "
         "TIES",
         VERB_INSERT, WHERE_ANY, -1},
        {"INSERT INTO shop.orders SELECT id FROM shop.events LIMIT $1", VERB_INSERT, WHERE_ANY, -1},
        {"INSERT INTO shop.mailbox VALUES (1)", VERB_INSERT, WHERE_ANY, -1},
        {"INSERT INTO shop.orders (id) VALUES (1), (2) ON CONFLICT (id) DO UPDATE SET notes = 'x'",
         VERB_UPDATE, WHERE_KEY, 2},
        {"INSERT INTO shop.orders (id) VALUES (generate_series(1, 9)) ON CONFLICT (id) DO UPDATE "
         "SET "
         "notes = 'x'",
         VERB_UPDATE, WHERE_ANY, -1},
        {"INSERT INTO shop.orders (id) SELECT id FROM shop.events LIMIT 5 ON CONFLICT (id) DO "
         "UPDATE "
         "SET notes = 'x'",
         VERB_UPDATE, WHERE_ANY, -1},
    };
    CHECK_WRITES(cases);
}

Test(where, says_what_is_missing)
{
    static const struct {
        const char *sql, *why;
    } cases[] = {
        {"DELETE FROM shop.orders", "there is no WHERE"},
        {"DELETE FROM shop.orders WHERE true", "WHERE restricts no column of shop.orders"},
        {"DELETE FROM shop.orders WHERE notes = 'x'", "WHERE must fix the primary key (id)"},
        {"DELETE FROM shop.order_items WHERE qty = 1",
         "WHERE must fix the primary key (order_id, line)"},
        {"DELETE FROM shop.people WHERE id = 1", "shop.people has no key that WHERE could fix"},
        {"DELETE FROM shop.events WHERE id = 1",
         "shop.events has children, so no key proves its rows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena arena;
        arena_init(&arena);
        const struct action *action = trap_action(&arena, cases[i].sql, VERB_DELETE);
        cr_expect(text_is(action->where_why, cases[i].why), "%s: %.*s", cases[i].sql,
                  TEXT_ARGS(action->where_why));
        arena_release(&arena);
    }
}

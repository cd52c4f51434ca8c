/* function_test.c - calls, however they are written: functions, operators, casts, types, settings.
 */
#include "unit/parser/trap_catalog.h"

#include <criterion/criterion.h>
#include <string.h>

Test(function, lets_harmless_builtins_pass)
{
    static const struct trap_case cases[] = {
        {"SELECT now(), lower('x'), count(*), coalesce(1, 2), current_date", ""},
        {"SELECT pg_catalog.now()", ""},
        {"SELECT extract(epoch FROM now()), position('a' IN 'b'), substring('a' FROM 1)", ""},
        {"SELECT 'a' LIKE 'b' ESCAPE '!', 'a' SIMILAR TO 'b', now() AT TIME ZONE 'UTC'", ""},
        {"SELECT to_tsvector('english', 'x')", ""},
        {"SELECT 1 FROM shop.events TABLESAMPLE system (5)", "select shop.events"},
        {"SELECT 1::int8, 'x'::text, 1 + 1, 'a' ~ 'b'", ""},
    };
    CHECK_TRAPS("", cases);
}

Test(function, needs_a_call_for_guarded_builtins)
{
    static const struct trap_case cases[] = {
        {"SELECT pg_sleep(1)", "call pg_catalog.pg_sleep"},
        {"SELECT pg_catalog.pg_sleep(1)", "call pg_catalog.pg_sleep"},
        {"SELECT \"pg_sleep\"(1)", "call pg_catalog.pg_sleep"},
        {"SELECT PG_SLEEP (1)", "call pg_catalog.pg_sleep"},
        {"SELECT U&\"pg\\005fsleep\"(1)", "call pg_catalog.pg_sleep"},
        {"SELECT 1 FROM pg_ls_dir('.') d", "call pg_catalog.pg_ls_dir"},
        {"SELECT ts_rewrite('a', 'b')", "call pg_catalog.ts_rewrite"},
        {"SELECT lastval()", "call pg_catalog.lastval"},
        {"SELECT 1 FROM shop.events TABLESAMPLE shop.log_it (5)",
         "select shop.events; call shop.log_it"},
        {"SELECT pg_file_unlink('x')", "call pg_catalog.pg_file_unlink"},
        {"SELECT pg_catalog.pg_file_unlink('x')", "call pg_catalog.pg_file_unlink"},
        {"SELECT pg_catalog.pg_new_in_18('x')", "call pg_catalog.pg_new_in_18"},
    };
    CHECK_TRAPS("", cases);
}

static struct text reason_of(struct arena *arena, const char *sql)
{
    return trap_action(arena, sql, VERB_CALL)->reason;
}

Test(function, says_why_a_builtin_needs_a_call)
{
    struct arena arena;
    arena_init(&arena);
    cr_expect(text_is(reason_of(&arena, "SELECT pg_sleep(1)"), "waits"));
    cr_expect(text_is(reason_of(&arena, "SELECT pg_read_file('x')"), "reads files"));
    cr_expect(
        text_starts_with(reason_of(&arena, "SELECT has_table_privilege('x', 'y')"), "catalog"));
    cr_expect(text_starts_with(reason_of(&arena, "SELECT 'x'::regclass"), "catalog"));
    cr_expect_eq(reason_of(&arena, "SELECT shop.bump()").size, 0);
    arena_release(&arena);
}

Test(function, needs_a_call_for_user_functions)
{
    static const struct trap_case cases[] = {
        {"SELECT shop.log_it(1)", "call shop.log_it"},
        {"SELECT shop.sum_all(id) FROM shop.events", "select shop.events(id); call shop.sum_all"},
        {"SELECT shop.sum_all(1) OVER ()", "call shop.sum_all"},
        {"SELECT shop.defaults(1), shop.vari(1, 2, 3), shop.vari(VARIADIC '{}'::text)",
         "call shop.defaults; call shop.vari"},
        {"SELECT shop.nope(1)", "call shop.nope!"},
        {"SELECT nope(1)", "call nope!"},
        {"SELECT hr.now()", "call hr.now"},
        {"SELECT 1 FROM shop.many()", "call shop.many"},
        {"SELECT 1 FROM ROWS FROM (shop.many(), generate_series(1, 2))", "call shop.many"},
    };
    CHECK_TRAPS("", cases);
}

Test(function, judges_every_candidate_on_the_path)
{
    static const struct trap_case cases[] = {
        {"SELECT round(5, 2)", "call public.round"},
        {"SELECT round(5)", ""},
        {"SELECT pg_catalog.round(5, 2)", ""},
        {"SELECT count(*)", ""},
        {"SELECT count(o) FROM public.orders o",
         "select public.orders(id, secret); call public.count"},
        {"SELECT log_it(1)", "call public.log_it!"},
        {"SELECT wipe(1, 2, 3)", "call public.wipe"},
    };
    CHECK_TRAPS("public", cases);
}

Test(function, knows_which_overloads_the_arguments_cannot_reach)
{
    static const struct trap_case cases[] = {
        {"SELECT count(DISTINCT 1), count('x'::text), count(true)", ""},
        {"SELECT round(5.5, 2), round(true, 2), round(3000000000, 2)", ""},
        {"SELECT round(price, 2) FROM shop.products", "select shop.products(price)"},
        {"SELECT round(p, 2) FROM (SELECT price FROM shop.products) t (p)",
         "select shop.products(price)"},
        {"SELECT round('5', 2)", "call public.round"},
        {"SELECT round($1, 2)", "call public.round"},
        {"SELECT round(NULL, NULL)", "call public.round"},
        {"SELECT round(5::evil.nope, 2)", "call evil.nope!; call shop.to_boom; call shop.mood_text; call public.round"},
        {"SELECT round(c, 2) FROM (SELECT 1 UNION SELECT 2.5) t (c)", "call public.round"},
        {"SELECT round(VARIADIC 5.5)", "call public.round"},
        {"SELECT public.round(5.5, 2)", "call public.round"},
        {"SELECT count(NULL), count(c.*) FROM shop.order_items c",
         "select shop.order_items(order_id, line, qty); call public.count"},
    };
    CHECK_TRAPS("public", cases);
}

Test(function, knows_which_operators_the_operands_cannot_reach)
{
    static const struct trap_case cases[] = {
        {"SELECT attrs -> 'x' FROM shop.customers", "select shop.customers(attrs)"},
        {"SELECT attrs -> 'x' -> 'y' FROM shop.customers",
         "select shop.customers(attrs); call shop.log_it2"},
        {"SELECT id -> 'x' FROM shop.customers", "select shop.customers(id); call shop.log_it2"},
        {"SELECT 'x' -> 'y'", "call shop.log_it2"},
        {"SELECT $1 -> 'y'", "call shop.log_it2"},
        {"SELECT 1 -> 2.5", ""},
        {"SELECT 1 OPERATOR(hr.->) 2.5", "call shop.log_it2"},
        {"SELECT ROW() -> ROW()", "call shop.log_it2"},
        {"SELECT NULLIF(ROW(1), ROW(1)), ROW(1) = ROW(1)", "call shop.log_it2"},
        {"WITH RECURSIVE w (c) AS (SELECT id FROM shop.customers UNION SELECT '1' UNION ALL "
         "SELECT 1 FROM w WHERE c -> 'x' IS NULL) SELECT FROM w",
         "select shop.customers(id); call shop.log_it2"},
        {"SELECT ('x'::text, 1) = (2, 'y'), true -> ANY ('{}')", "call shop.log_it2"},
    };
    CHECK_TRAPS("hr", cases);
}

Test(function, judges_a_sequence_by_its_constant_name)
{
    static const struct trap_case cases[] = {
        {"SELECT nextval('shop.orders_id_seq')", "call shop.orders_id_seq"},
        {"SELECT nextval('shop.orders_id_seq'::regclass)", "call shop.orders_id_seq"},
        {"SELECT nextval(' SHOP . \"orders_id_seq\" ')", "call shop.orders_id_seq"},
        {"SELECT nextval('orders_id_seq')", "call shop.orders_id_seq"},
        {"SELECT currval('shop.orders_id_seq'), setval('shop.orders_id_seq', 5)",
         "call shop.orders_id_seq"},
        {"SELECT nextval('shop.nope')", "call shop.nope!"},
        {"SELECT nextval('\"SHOP\".orders_id_seq')", "call SHOP.orders_id_seq!"},
        {"SELECT nextval('12345')", "call pg_catalog.nextval"},
        {"SELECT nextval('shop.orders_id_seq'::varchar(4))", "call pg_catalog.nextval"},
        {"SELECT nextval($1)", "call pg_catalog.nextval"},
        {"SELECT nextval(notes) FROM shop.orders",
         "select shop.orders(notes); call pg_catalog.nextval"},
        {"SELECT nextval('a.b.c')", "call pg_catalog.nextval"},
        {"SELECT nextval('shop.\"x')", "call pg_catalog.nextval"},
        {"SELECT setval('shop.orders_id_seq', (SELECT id FROM shop.orders))",
         "select shop.orders(id); call shop.orders_id_seq"},
    };
    CHECK_TRAPS("shop", cases);
}

Test(function, takes_constant_set_config_and_current_setting_for_set_and_show)
{
    static const struct trap_case cases[] = {
        {"SELECT set_config('TimeZone', 'UTC', false)", "set timezone = UTC"},
        {"SELECT pg_catalog.set_config('a.b', '1'::text, true)", "set local a.b = 1"},
        {"SELECT current_setting('jit'), current_setting('a.b', true)", "show jit = ; show a.b = "},
        {"SELECT set_config('a.b', $1, true)", "call pg_catalog.set_config"},
        {"SELECT set_config(lower('A.B'), 'x', true)", "call pg_catalog.set_config"},
        {"SELECT set_config('a.b', NULL, true)", "call pg_catalog.set_config"},
        {"SELECT set_config('a.b', 'x', is_local => true)", "call pg_catalog.set_config"},
        {"SELECT current_setting(notes) FROM shop.orders",
         "select shop.orders(notes); call pg_catalog.current_setting"},
    };
    CHECK_TRAPS("", cases);
}

Test(function, needs_a_call_for_user_operators)
{
    static const struct trap_case cases[] = {
        {"SELECT 1 OPERATOR(shop.===) 2", "call shop.log_it2"},
        {"SELECT 1 === 2", "call shop.log_it2"},
        {"SELECT 3 === ANY (ARRAY[1])", "call shop.log_it2"},
        {"SELECT 1 FROM shop.events ORDER BY id USING OPERATOR(shop.===)",
         "select shop.events(id); call shop.log_it2"},
        {"SELECT 1 OPERATOR(pg_catalog.+) 2", ""},
        {"SELECT 1 OPERATOR(shop.+) 2", "call shop.+!"},
        {"SELECT 1 <=> 2", "call <=>!"},
    };
    CHECK_TRAPS("shop", cases);
}

/* hr has "=" and "~~": whatever uses them unsaid must show it. */
Test(function, sees_operators_that_are_not_written)
{
    static const char *const uses[] = {
        "SELECT 1 = 2",
        "SELECT 1 IN (1, 2)",
        "SELECT 1 IN (SELECT 1)",
        "SELECT 'a' LIKE 'b'",
        "SELECT nullif(1, 2)",
        "SELECT CASE 1 WHEN 2 THEN 3 END",
        "SELECT 1 IS DISTINCT FROM 2",
        "SELECT (1, 2) = (3, 4)",
        "SELECT 1 = ANY ('{}')",
        "SELECT 1 FROM shop.events JOIN shop.orders USING (id)",
        "SELECT 1 FROM shop.events NATURAL JOIN shop.orders",
    };
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        struct arena arena;
        arena_init(&arena);
        cr_expect(strstr(trap_actions(&arena, "hr", uses[i]), "call shop.log_it2") != NULL, "%s",
                  uses[i]);
        cr_expect(strstr(trap_actions(&arena, "", uses[i]), "call") == NULL, "%s", uses[i]);
        arena_release(&arena);
    }
}

Test(function, sees_what_a_type_runs)
{
    static const struct trap_case cases[] = {
        {"SELECT 1::shop.boom", "call shop.to_boom"},
        {"SELECT CAST(1 AS shop.evil)", "call shop.dom_ok"},
        {"SELECT '{1}'::shop.evil[]", "call shop.dom_ok"},
        {"SELECT '{1}'::shop._evil", "call shop.dom_ok"},
        {"SELECT ROW(1)::shop.checked", "call shop.dom_ok"},
        {"SELECT shop.evil(7)", "call shop.dom_ok"},
        {"SELECT 'x'::shop.raw", "call shop.raw"},
        {"SELECT 'x'::shop.home", ""},
        {"SELECT 'x'::shop.mood", ""},
        {"SELECT 'x'::shop.nope", "call shop.nope!"},
        {"SELECT 1 FROM jsonb_to_record('{}') AS x(a shop.evil)", "call shop.dom_ok"},
        {"SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS v shop.evil)", "call shop.dom_ok"},
        {"SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS n FOR ORDINALITY, v shop.evil)",
         "call shop.dom_ok"},
        {"SELECT jsonb_populate_record(NULL::shop.checked, '{}')", "call shop.dom_ok"},
        {"SELECT 5::regclass", "call pg_catalog.regclass"},
        {"SELECT regclass('x')", "call pg_catalog.regclass"},
    };
    CHECK_TRAPS("", cases);
}

/* The array of evil and the row that has one; evil itself is compared as the integer that it is. */
Test(function, sees_what_a_literal_is_read_as)
{
    static const struct trap_case cases[] = {
        {"SELECT id FROM shop.kept WHERE es = '{1}'", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT id FROM shop.kept WHERE '{1}' <@ es", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT id FROM shop.kept WHERE es = $1", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT id FROM shop.kept WHERE es IN ('{1}')", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT id FROM shop.kept WHERE (id, es) = (1, '{1}')", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT id FROM shop.kept WHERE es IS DISTINCT FROM '{1}'", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT COALESCE(c, '(1)') FROM shop.kept", "select shop.kept(c); call shop.dom_ok"},
        {"SELECT GREATEST(es, $1) FROM shop.kept", "select shop.kept(es); call shop.dom_ok"},
        {"SELECT CASE WHEN id = 1 THEN es ELSE '{1}' END FROM shop.kept", "select shop.kept(id, es); call shop.dom_ok"},
        {"SELECT ARRAY[c, '(1)'] FROM shop.kept", "select shop.kept(c); call shop.dom_ok"},
        {"SELECT es FROM shop.kept UNION SELECT '{1}'", "select shop.kept(es); call shop.dom_ok"},
        {"VALUES ('{1}'), ((SELECT es FROM shop.kept))", "select shop.kept(es); call shop.dom_ok"},
        {"SELECT es, c FROM shop.kept WHERE id = 1 AND e = '1' AND es[1] = '2'", "select shop.kept(es, c, id, e)"},
        {"SELECT COALESCE(es, NULL, '{}'), CASE WHEN true THEN es END FROM shop.kept", "select shop.kept(es)"},
        {"SELECT k.es = l.es FROM shop.kept k, shop.kept l WHERE k.id = '1'", "select shop.kept(es, id)"},
    };
    CHECK_TRAPS("", cases);
}

/* What is stored in the agent's own table is checked by it; a default that LIKE copies runs in it. */
Test(function, sees_what_a_table_of_its_own_will_run)
{
    static const struct trap_case cases[] = {
        {"CREATE TABLE shop.t (LIKE shop.kept)",
         "create shop.t; read select shop.kept(id, e, es, c); call shop.dom_ok"},
        {"CREATE TABLE shop.t (LIKE shop.kept INCLUDING DEFAULTS)",
         "create shop.t; read select shop.kept(id, e, es, c); call shop.dom_ok; call shop.log_it"},
        {"CREATE TABLE shop.t (LIKE shop.customers INCLUDING ALL)",
         "create shop.t; read select shop.customers(id, email, ssn, name, attrs, vip)"},
        {"CREATE TABLE shop.t AS SELECT e FROM shop.kept", "create shop.t; select shop.kept(e); call shop.dom_ok"},
        {"SELECT es INTO shop.t FROM shop.kept", "create shop.t; select shop.kept(es); call shop.dom_ok"},
        {"CREATE TABLE shop.t AS SELECT k FROM shop.kept k UNION ALL SELECT NULL",
         "create shop.t; select shop.kept(id, e, es, c); call shop.dom_ok"},
        {"CREATE TABLE shop.t AS SELECT id, e::int FROM shop.kept", "create shop.t; select shop.kept(id, e)"},
        {"CREATE MATERIALIZED VIEW shop.t AS SELECT e FROM shop.kept", "create shop.t; select shop.kept(e)"},
    };
    CHECK_TRAPS("", cases);
}

Test(function, sees_casts_that_builtins_run_unseen)
{
    static const struct trap_case cases[] = {
        {"SELECT to_json(mood) FROM shop.people",
         "select shop.people(mood); call shop.mood_json; call shop.mood_text"},
        {"SELECT to_json(1), to_json('x'), to_jsonb(1.5)", ""},
        {"SELECT json_agg(p) FROM shop.people p",
         "select shop.people(id, home, mood, blast); call shop.mood_json"},
        {"SELECT mood::json FROM shop.people", "select shop.people(mood); call shop.mood_json"},
        {"SELECT id::json FROM shop.events", "select shop.events(id)"},
        {"SELECT '{}'::json", ""},
        {"SELECT quote_literal(1), 'a' || 1", ""},
        {"SELECT 'a' || x FROM unknown x", "select unknown!*(x); call shop.mood_text"},
        {"SELECT concat('a', 1)", ""},
        {"INSERT INTO shop.people (blast) VALUES (1)", "insert shop.people(blast)"},
    };
    CHECK_TRAPS("", cases);
}

/* mood to text is implicit, mood to json for assignments too, int to boom by CAST only. */
Test(function, counts_casts_where_the_server_uses_them)
{
    static const struct trap_case cases[] = {
        {"SELECT 1::shop.boom, CAST(id AS shop.boom) FROM shop.events",
         "select shop.events(id); call shop.to_boom"},
        {"SELECT shop.boom(1)", "call shop.to_boom"},
        {"SELECT '(1)'::shop.boom, NULL::shop.boom, 'sad'::shop.mood, $1::shop.boom", ""},
        {"SELECT 'x'::text::shop.boom", ""},
        {"UPDATE shop.people SET blast = 1", "update shop.people(blast)"},
        {"UPDATE shop.people SET blast = blast",
         "update shop.people(blast); read select shop.people(blast)"},
        {"INSERT INTO shop.orders (notes) VALUES ('sad'::shop.mood)",
         "insert shop.orders(notes); call shop.mood_text"},
        {"INSERT INTO shop.orders (id, notes) VALUES (1, 'x'), (2, ('sad'::shop.mood))",
         "insert shop.orders(id, notes); call shop.mood_text"},
        {"UPDATE shop.orders SET (id, notes) = (1, 'x')", "update shop.orders(id, notes)"},
        {"UPDATE shop.orders SET notes = mood FROM shop.people",
         "update shop.orders(notes); read select shop.people(mood); call shop.mood_text"},
        {"SELECT (SELECT mood FROM shop.people) IN ('x')",
         "select shop.people(mood); call shop.mood_text"},
        {"SELECT (ARRAY['sad'::shop.mood])[1] = 'x'", "call shop.mood_text"},
        {"SELECT count(mood) FROM shop.people", "select shop.people(mood); call shop.mood_text"},
        {"SELECT ROW(1, ('sad'::shop.mood))::shop.customers", "call shop.mood_text"},
    };
    CHECK_TRAPS("shop", cases);
}

Test(function, sees_implicit_casts_from_user_types)
{
    static const struct trap_case cases[] = {
        {"SELECT mood FROM shop.people ORDER BY mood", "select shop.people(mood)"},
        {"SELECT mood IS NULL FROM shop.people", "select shop.people(mood)"},
        {"SELECT mood = 'x' FROM shop.people", "select shop.people(mood); call shop.mood_text"},
        {"SELECT length(mood) FROM shop.people", "select shop.people(mood); call shop.mood_text"},
        {"SELECT coalesce('x', mood) FROM shop.people", "select shop.people(mood)"},
        {"SELECT mood FROM shop.people UNION SELECT 'x'", "select shop.people(mood)"},
        {"SELECT coalesce(notes, mood) FROM shop.people, shop.orders",
         "select shop.people(mood); select shop.orders(notes); call shop.mood_text"},
        {"SELECT mood FROM shop.people UNION SELECT notes FROM shop.orders",
         "select shop.people(mood); select shop.orders(notes); call shop.mood_text"},
        {"INSERT INTO shop.orders (notes) SELECT mood FROM shop.people",
         "select shop.people(mood); insert shop.orders(notes); call shop.mood_text"},
        {"UPDATE shop.people SET id = 1 WHERE mood IN ('x')",
         "update shop.people(id); read select shop.people(mood); call shop.mood_text"},
    };
    CHECK_TRAPS("", cases);
}

/* --- facts of the shape --------------------------------------------------------------------- */

static const struct shape *shape_of(struct arena *arena, const char *sql)
{
    struct analysis *analysis = arena_allocate(arena, sizeof *analysis);
    trap_analyse(arena, "", sql, analysis);
    cr_assert_eq(analysis->result, ANALYSE_OK, "%s", sql);
    return &analysis->statements[0].shape;
}

Test(function, lists_functions_for_the_audit_log)
{
    struct arena arena;
    arena_init(&arena);
    const struct shape *shape =
        shape_of(&arena, "SELECT lower(a), pg_catalog.lower(b), shop.bump(), nextval('x') FROM "
                         "(VALUES ('', '')) v(a, b)");
    cr_assert_eq(shape->function_count, 3);
    cr_expect(text_is(shape->functions[0], "lower"));
    cr_expect(text_is(shape->functions[1], "shop.bump"));
    cr_expect(text_is(shape->functions[2], "nextval"));
    arena_release(&arena);
}

Test(function, knows_what_may_differ_from_run_to_run)
{
    struct arena arena;
    arena_init(&arena);
    cr_expect_not(shape_of(&arena, "SELECT lower('x'), now()")->volatile_functions);
    cr_expect(shape_of(&arena, "SELECT random()")->volatile_functions);
    cr_expect(shape_of(&arena, "SELECT clock_timestamp()")->volatile_functions);
    cr_expect(shape_of(&arena, "SELECT shop.bump()")->volatile_functions);
    cr_expect(shape_of(&arena, "SELECT nextval('shop.orders_id_seq')")->volatile_functions);
    cr_expect(shape_of(&arena, "SELECT 1 OPERATOR(shop.===) 2")->volatile_functions);
    arena_release(&arena);
}

Test(function, says_what_user_code_may_have_changed)
{
    struct arena arena;
    arena_init(&arena);
    cr_expect_eq(shape_of(&arena, "SELECT lower('x') FROM shop.orders")->changes, 0);
    cr_expect(shape_of(&arena, "SELECT shop.bump()")->changes & CHANGES_BY_CODE);
    cr_expect(shape_of(&arena, "SELECT 1::shop.evil")->changes & CHANGES_BY_CODE);
    cr_expect(shape_of(&arena, "SELECT 1 FROM shop.logged")->changes & CHANGES_BY_CODE);
    cr_expect(shape_of(&arena, "SELECT query_to_xml('', true, true, '')")->changes &
              CHANGES_BY_CODE);
    cr_expect_eq(shape_of(&arena, "SELECT set_config('a.b', 'x', true)")->changes,
                 CHANGES_SETTINGS);
    cr_expect(shape_of(&arena, "SELECT set_config($1, 'x', true)")->changes & CHANGES_BY_CODE);
    arena_release(&arena);
}

Test(function, knows_the_highest_parameter)
{
    struct arena arena;
    arena_init(&arena);
    cr_expect_eq(
        shape_of(&arena, "SELECT 1 FROM shop.orders WHERE id = $2 LIMIT $7")->parameter_max, 7);
    cr_expect_eq(shape_of(&arena, "SELECT 1")->parameter_max, 0);
    cr_expect(strstr(trap_actions(&arena, "", "SELECT $70000"), "rejected") != NULL);
    arena_release(&arena);
}

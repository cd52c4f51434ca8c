/* session_test.c - what belongs to a session: transactions, settings, prepared statements, cursors.
 */
#include "unit/parser/shop_catalog.h"

#include <criterion/criterion.h>

Test(session, transaction_control_needs_no_rule)
{
    static const struct action_case cases[] = {
        {"BEGIN", ""},
        {"START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE, NOT DEFERRABLE",
         "TRANSACTION transaction_isolation = serializable; TRANSACTION transaction_read_only = "
         "off; TRANSACTION transaction_deferrable = off"},
        {"COMMIT AND CHAIN", ""},
        {"ROLLBACK", ""},
        {"SAVEPOINT s1", ""},
        {"RELEASE s1", ""},
        {"ROLLBACK TO s1", ""},
        {"PREPARE TRANSACTION 'x'", ""},
        {"COMMIT PREPARED 'x'", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, settings_are_uses_in_any_spelling)
{
    static const struct action_case cases[] = {
        {"SET CONSTRAINTS ALL DEFERRED", "SET LOCAL constraints = deferred"},
        {"SET statement_timeout = 5000", "SET statement_timeout = 5000"},
        {"SET LOCAL statement_timeout TO '5s'", "SET LOCAL statement_timeout = 5s"},
        {"SET search_path TO shop, \"Hr\", 'a b'", "SET search_path = shop, \"Hr\", \"a b\""},
        {"SET DateStyle TO ISO, MDY", "SET datestyle = iso, mdy"},
        {"SET extra_float_digits = -1.5", "SET extra_float_digits = -1.5"},
        {"SET NAMES 'GBK'", "SET client_encoding = GBK"},
        {"SET SCHEMA 'hr'", "SET search_path = hr"},
        {"SET TIME ZONE INTERVAL '+02:00' HOUR TO MINUTE", "SET timezone = INTERVAL '+02:00'"},
        {"SET TIME ZONE LOCAL", "RESET timezone"},
        {"SET XML OPTION DOCUMENT", "SET xmloption = DOCUMENT"},
        {"RESET ALL", "RESET ALL all"},
        {"RESET search_path", "RESET search_path"},
        {"SET x.y TO DEFAULT", "RESET x.y"},
        {"SET work_mem FROM CURRENT", "SET work_mem = ?"},
        {"SET TRANSACTION READ ONLY", "TRANSACTION transaction_read_only = on"},
        {"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
         "TRANSACTION default_transaction_read_only = off"},
        {"SET TRANSACTION SNAPSHOT 'abc'", "TRANSACTION transaction_snapshot = abc"},
    };

    CHECK_ACTIONS(cases);
}

Test(session, identity_is_set_on_a_role)
{
    static const struct action_case cases[] = {
        {"SET ROLE bob", "set role:bob"},
        {"SET LOCAL ROLE NONE", "set role:none"},
        {"SET \"ROLE\" = bob", "set role:bob"},
        {"SET SESSION AUTHORIZATION bob", "set role:bob"},
        {"SET SESSION AUTHORIZATION DEFAULT", ""},
        {"RESET ROLE", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, show_reads_a_setting)
{
    static const struct action_case cases[] = {
        {"SHOW ALL", "SHOW all"},
        {"SHOW TIME ZONE", "SHOW timezone"},
        {"SHOW TRANSACTION ISOLATION LEVEL", "SHOW transaction_isolation"},
        {"SHOW pgwicket.policy", ""},
        {"SHOW \"PgWicket.Holds\"", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, functions_and_views_of_settings_are_uses_too)
{
    static const struct action_case cases[] = {
        {"SELECT set_config('DateStyle', 'ISO', false)", "SET datestyle = ISO"},
        {"SELECT pg_catalog.set_config('jit', $1, true)", "SET LOCAL jit = ?"},
        {"SELECT set_config('jit', shop.bump()::text, true)",
         "call shop.bump; SET LOCAL jit = ?"},
        {"SELECT set_config('work_mem', $1, false)", "call pg_catalog.set_config"},
        {"SELECT set_config($1, 'off', false)", "call pg_catalog.set_config"},
        {"SELECT set_config('jit', 'off', $1)", "call pg_catalog.set_config"},
        {"SELECT current_setting('jit', true)", "SHOW jit"},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'",
         "SHOW max_index_keys"},
        {"SELECT s.name, s.setting FROM pg_catalog.pg_settings s WHERE s.name = 'DateStyle'",
         "SHOW datestyle"},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name = 'data_directory'",
         "select pg_catalog.pg_settings(setting, name)"},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name <> 'jit'",
         "select pg_catalog.pg_settings(setting, name)"},
        {"SELECT setting FROM pg_catalog.pg_settings WHERE name = 'jit' OR true",
         "select pg_catalog.pg_settings(setting, name)"},
        {"UPDATE pg_catalog.pg_settings SET setting = 'off' WHERE name = 'jit'",
         "update pg_catalog.pg_settings(setting); call pg_catalog.set_config; read "
         "pg_catalog.pg_settings(name)"},
        {"SELECT boot_val FROM pg_catalog.pg_settings WHERE name = 'jit'",
         "select pg_catalog.pg_settings(boot_val, name)"},
        {"SELECT 1 FROM shop.orders WHERE id IN (SELECT 1 FROM pg_catalog.pg_settings WHERE "
         "name = 'jit')",
         "select shop.orders(id); select pg_catalog.pg_settings(name)"},
    };

    CHECK_ACTIONS(cases);
}

Test(session, discard_needs_no_rule)
{
    static const struct action_case cases[] = {
        {"DISCARD ALL", "RESET ALL all"},
        {"DISCARD TEMP", ""},
        {"DISCARD PLANS", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, prepared_statements_are_judged_as_their_query)
{
    static const struct action_case cases[] = {
        {"PREPARE p (int, shop.email) AS SELECT id FROM shop.orders WHERE id = $1",
         "call shop.is_email; select shop.orders(id)"},
        {"PREPARE p AS SELECT 1 INTO shop.x", "create shop.x"},
        {"EXECUTE p(1, shop.bump())", "call shop.bump"},
        {"DEALLOCATE p", ""},
        {"DEALLOCATE ALL", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, pgwicket_hold_takes_one_integer_literal)
{
    static const struct action_case cases[] = {
        {"EXECUTE pgwicket_hold(17)", ""},
        {"EXECUTE pgwicket_hold(99999999999)", ""},
        {"EXECUTE pgwicket_hold(-1)", "rejected: pgwicket: EXECUTE pgwicket_hold takes one "
                                      "integer, the number of a hold; nothing was run"},
        {"EXECUTE pgwicket_hold(1, 2)", "rejected: pgwicket: EXECUTE pgwicket_hold takes one "
                                        "integer, the number of a hold; nothing was run"},
        {"EXECUTE pgwicket_hold('1')", "rejected: pgwicket: EXECUTE pgwicket_hold takes one "
                                       "integer, the number of a hold; nothing was run"},
        {"EXECUTE pgwicket_hold($1)", "rejected: pgwicket: EXECUTE pgwicket_hold takes one "
                                      "integer, the number of a hold; nothing was run"},
    };

    CHECK_ACTIONS(cases);
}

Test(session, names_of_pgwicket_are_reserved)
{
    static const struct action_case cases[] = {
        {"SAVEPOINT pgwicket_x", "rejected: pgwicket: savepoint pgwicket_x is not allowed: names "
                                 "that begin with pgwicket_ are reserved; nothing was run"},
        {"PREPARE pgwicket_p AS SELECT 1",
         "rejected: pgwicket: prepared statement pgwicket_p is not allowed: names that begin with "
         "pgwicket_ are reserved; nothing was run"},
        {"EXECUTE pgwicket_other",
         "rejected: pgwicket: prepared statement pgwicket_other is not allowed: names that begin "
         "with pgwicket_ are reserved; nothing was run"},
        {"DEALLOCATE PREPARE pgwicket_x",
         "rejected: pgwicket: prepared statement pgwicket_x is not allowed: names that begin with "
         "pgwicket_ are reserved; nothing was run"},
        {"FETCH 1 FROM pgwicket_c", "rejected: pgwicket: cursor pgwicket_c is not allowed: names "
                                    "that begin with pgwicket_ are reserved; nothing was run"},
    };

    CHECK_ACTIONS(cases);
}

Test(session, cursors_are_judged_as_their_query)
{
    static const struct action_case cases[] = {
        {"DECLARE c BINARY CURSOR WITH HOLD FOR SELECT id FROM shop.orders",
         "select shop.orders(id)"},
        {"DECLARE c CURSOR FOR SELECT shop.bump()", "call shop.bump"},
        {"FETCH ALL FROM c", ""},
        {"MOVE 3 IN c", ""},
        {"CLOSE c", ""},
        {"CLOSE ALL", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, channels_are_objects)
{
    static const struct action_case cases[] = {
        {"LISTEN ch", "listen channel:ch"},
        {"NOTIFY ch, 'x'", "notify channel:ch"},
        {"UNLISTEN *", ""},
    };

    CHECK_ACTIONS(cases);
}

Test(session, pgwicket_hold_gives_its_number)
{
    struct arena arena;

    arena_init(&arena);
    cr_expect_eq(shop_shape(&arena, "EXECUTE pgwicket_hold(17)")->hold, 17);
    cr_expect_eq(shop_shape(&arena, "EXECUTE \"pgwicket_hold\"(99999999999)")->hold, 99999999999);
    cr_expect_eq(shop_shape(&arena, "EXECUTE p(17)")->hold, 0);
    arena_release(&arena);
}

Test(session, show_of_pgwicket_gives_its_subject)
{
    struct arena arena;

    arena_init(&arena);
    cr_expect(text_is(shop_shape(&arena, "SHOW pgwicket.policy")->pgwicket_show, "policy"));
    cr_expect(text_is(shop_shape(&arena, "SHOW PGWICKET.Holds")->pgwicket_show, "holds"));
    cr_expect_eq(shop_shape(&arena, "SHOW search_path")->pgwicket_show.size, 0);
    arena_release(&arena);
}

Test(session, inner_statements_have_their_parameters)
{
    struct arena arena;
    const struct shape *shape;

    arena_init(&arena);
    shape = shop_shape(&arena, "PREPARE p AS SELECT id FROM shop.orders WHERE id = $3");
    cr_expect_eq(shape->inner->parameter_max, 3);
    shape = shop_shape(&arena, "DECLARE c CURSOR FOR SELECT id FROM shop.orders WHERE id = $3");
    cr_expect_eq(shape->parameter_max, 3);
    arena_release(&arena);
}

Test(session, cursors_remember_their_options)
{
    struct arena arena;
    const struct shape *shape;

    arena_init(&arena);
    shape = shop_shape(&arena, "DECLARE c BINARY SCROLL CURSOR WITH HOLD FOR SELECT 1");
    cr_expect(shape->cursor_hold);
    cr_expect(shape->fetch_binary);
    shape = shop_shape(&arena, "DECLARE c CURSOR WITHOUT HOLD FOR SELECT 1");
    cr_expect_not(shape->cursor_hold);
    cr_expect_not(shape->fetch_binary);
    cr_expect(shop_shape(&arena, "COMMIT AND CHAIN")->and_chain);
    cr_expect_not(shop_shape(&arena, "COMMIT")->and_chain);
    arena_release(&arena);
}

static struct text argument_in_words(struct arena *arena, const struct argument *argument)
{
    switch (argument->kind) {
    case ARGUMENT_NULL:
        return TEXT("null");
    case ARGUMENT_STRING:
        return arena_printf(arena, "'%.*s'", TEXT_ARGS(argument->text));
    case ARGUMENT_NUMBER:
    case ARGUMENT_BOOLEAN:
        return argument->text;
    case ARGUMENT_PARAMETER:
        return arena_printf(arena, "$%d", argument->parameter);
    case ARGUMENT_OTHER:
        break;
    }
    return TEXT("?");
}

static struct text arguments_in_words(struct arena *arena, const struct shape *shape)
{
    struct text words = TEXT("");
    for (size_t i = 0; i < shape->argument_count; i++)
        words = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(words), i > 0 ? ", " : "",
                             TEXT_ARGS(argument_in_words(arena, &shape->arguments[i])));
    return words;
}

Test(session, arguments_of_execute_are_constants_or_parameters)
{
    static const struct {
        const char *sql, *arguments;
    } cases[] = {
        {"EXECUTE t", ""},
        {"EXECUTE t(42, -7, - 1.50, 1e10, 99999999999999999999, .5)",
         "42, -7, -1.50, 1e10, 99999999999999999999, .5"},
        {"EXECUTE t('a''b', E'a\\n', $$x'y$$, U&'\\0061', '')", "'a'b', 'a\n', 'x'y', 'a', ''"},
        {"EXECUTE t(TRUE, false, NULL)", "true, false, null"},
        {"EXECUTE t($1, $2, $1)", "$1, $2, $1"},
        {"EXECUTE t('1'::int, CAST(1 AS text), int '1', date 'now', true::text, TRUE::bool, null::int)",
         "?, ?, ?, ?, ?, ?, ?"},
        {"EXECUTE t(+1, 1 + 1, -$1, $1::int, $1.a, B'1', X'f', ROW(1), ARRAY[1], now(), not true)",
         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"},
        {"EXECUTE t((1), ('a'), ($1), (SELECT 1), x, -(-1))", "1, 'a', $1, ?, ?, 1"},
        {"EXPLAIN EXECUTE t(1)", ""},
    };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct shape *shape = shop_shape(&arena, cases[i].sql);
        struct text words = arguments_in_words(&arena, shape);
        cr_expect(text_is(words, cases[i].arguments), "%s: %.*s", cases[i].sql, TEXT_ARGS(words));
    }
    arena_release(&arena);
}

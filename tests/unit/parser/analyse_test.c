/* analyse_test.c - one message: errors, limits, statements, positions, labels. */
#include "parser/analyse.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "unit/parser/shop_catalog.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

static void begin(void)
{
    arena_init(&arena);
}
static void end(void)
{
    arena_release(&arena);
}

TestSuite(analyse, .init = begin, .fini = end);
TestSuite(names, .init = begin, .fini = end);
TestSuite(describe, .init = begin, .fini = end);

static struct analysis analyse_any(struct text sql)
{
    const struct analyse_context context = {.anything_goes = true};
    struct analysis analysis;
    analyse(&arena, &context, sql, &analysis);
    return analysis;
}

static struct analysis analyse_string(const char *sql)
{
    return analyse_any(text_from(sql));
}

Test(analyse, self_test_passes)
{
    const char *problem;
    cr_expect(analyse_self_test(&problem), "%s", problem);
}

/* --- errors ----------------------------------------------------------------------------------- */

struct error_case {
    const char *sql;
    const char *sqlstate, *message;
    int position;
};

/* Messages, positions and states are PostgreSQL 15's own for these texts. */
Test(analyse, gives_postgresql_syntax_errors)
{
    static const struct error_case cases[] = {
        {"SELEC 1", "42601", "syntax error at or near \"SELEC\"", 1},
        {"SELECT 1 FORM t x", "42601", "syntax error at or near \"t\"", 15},
        {"SELECT (", "42601", "syntax error at end of input", 9},
        {"SELECT 'open", "42601", "unterminated quoted string at or near \"'open\"", 8},
        {"SELECT /* open", "42601", "unterminated /* comment at or near \"/* open\"", 8},
        {"SELECT '\303\274', FROM FROM", "42601", "syntax error at or near \"FROM\"", 13},
        {"/* \303\274\303\274 */ SELECT 1 1", "42601", "syntax error at or near \"1\"", 19},
        {"SELECT E'\\xff'", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff", 0},
        {"CREATE ASSERTION a CHECK (true)", "0A000", "CREATE ASSERTION is not yet implemented", 0},
        {"SELECT 1; SELEC", "42601", "syntax error at or near \"SELEC\"", 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct analysis analysis = analyse_string(cases[i].sql);
        cr_expect_eq(analysis.result, ANALYSE_SYNTAX, "%s", cases[i].sql);
        cr_expect_str_eq(analysis.sqlstate, cases[i].sqlstate, "%s", cases[i].sql);
        cr_expect_str_eq(analysis.message.bytes, cases[i].message);
        cr_expect_eq(analysis.position, cases[i].position, "%s: %d", cases[i].sql,
                     analysis.position);
        cr_expect_eq(analysis.statement_count, 0);
    }
}

Test(analyse, keeps_hints)
{
    struct analysis analysis = analyse_string("SELECT E'\\u00'");
    cr_expect_eq(analysis.result, ANALYSE_SYNTAX);
    cr_expect_str_eq(analysis.sqlstate, "22025");
    cr_expect_str_eq(analysis.hint.bytes, "Unicode escapes must be \\uXXXX or \\UXXXXXXXX.");
}

Test(analyse, refuses_what_is_not_utf8)
{
    static const struct {
        struct text sql;
        const char *message;
    } cases[] = {
        {{"SELECT '\377'", 10}, "invalid byte sequence for encoding \"UTF8\": 0xff"},
        {{"SELECT '\303('", 11}, "invalid byte sequence for encoding \"UTF8\": 0xc3 0x28"},
        {{"SELECT '\355\240\200'", 12},
         "invalid byte sequence for encoding \"UTF8\": 0xed 0xa0 0x80"},
        {{"SELECT '\300\257'", 11}, "invalid byte sequence for encoding \"UTF8\": 0xc0 0xaf"},
        {{"SELECT \342\202", 9}, "invalid byte sequence for encoding \"UTF8\": 0xe2 0x82"},
        {{"SELECT\0 1", 9}, "invalid byte sequence for encoding \"UTF8\": 0x00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct analysis analysis = analyse_any(cases[i].sql);
        cr_expect_eq(analysis.result, ANALYSE_BAD_TEXT, "%zu", i);
        cr_expect_str_eq(analysis.sqlstate, "22021");
        cr_expect_str_eq(analysis.message.bytes, cases[i].message);
    }
}

Test(analyse, own_messages_are_short_visible_and_say_that_nothing_was_run)
{
    static const char x[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    char sql[400];
    snprintf(sql, sizeof sql, "SELECT * FROM \"a\n\342\200\256%s\".\"%s\".\"%s\"", x + 10, x, x);
    struct analysis analysis = analyse_string(sql);
    cr_assert_eq(analysis.result, ANALYSE_REJECTED);
    cr_expect(text_starts_with(analysis.message, "pgwicket: a\\u{A}\\u{202E}"), "%s",
              analysis.message.bytes);
    cr_expect_leq(analysis.message.size, 200);
    cr_expect_not_null(strstr(analysis.message.bytes, "; nothing was run"));
}

/* --- limits ----------------------------------------------------------------------------------- */

struct monster {
    const char *before, *part, *middle, *after;
    size_t count;
    enum analyse_result result;
};

static char *build(const struct monster *monster)
{
    size_t part = strlen(monster->part), after = strlen(monster->after);
    char *sql = memory_allocate(strlen(monster->before) + strlen(monster->middle) +
                                (part + after) * monster->count + 1);
    char *at = stpcpy(sql, monster->before);
    for (size_t i = 0; i < monster->count; i++)
        at = stpcpy(at, monster->part);
    at = stpcpy(at, monster->middle);
    for (size_t i = 0; i < monster->count; i++)
        at = stpcpy(at, monster->after);
    return sql;
}

// clang-format off
static const struct monster monsters[] = {
    {"SELECT 1", "+1", "", "", 5000, ANALYSE_TOO_LARGE},
    {"SELECT 1", "+1", "", "", 300000, ANALYSE_TOO_LARGE},
    {"SELECT 1", "+1", "", "", 200, ANALYSE_OK},
    {"SELECT ", "(", "1", ")", 20000, ANALYSE_TOO_LARGE},
    {"SELECT ", "(", "", "", 20000, ANALYSE_TOO_LARGE},
    {"SELECT ", "(", "1", ")", 100, ANALYSE_OK},
    {"SELECT ", "(SELECT ", "1", ")", 400000, ANALYSE_TOO_LARGE},
    {"SELECT ", "CASE WHEN ", "true", " THEN 1 END", 1000, ANALYSE_TOO_LARGE},
    {"SELECT ", "NOT ", "true", "", 9000, ANALYSE_TOO_LARGE},
    {"SELECT ", "- ", "a", "", 9000, ANALYSE_TOO_LARGE},
    {"SELECT ", "f(", "1", ")", 2000, ANALYSE_TOO_LARGE},
    {"SELECT 1", "::int", "", "", 9000, ANALYSE_TOO_LARGE},
    {"SELECT 1", " UNION ALL SELECT 1", "", "", 9000, ANALYSE_TOO_LARGE},
    {"SELECT 1 FROM a", " JOIN a ON true", "", "", 9000, ANALYSE_TOO_LARGE},
    {"SELECT 1", " OR true", "", "", 5000, ANALYSE_OK},
    {"SELECT 1 IN (0", ",1", "", ")", 1, ANALYSE_OK},
    {"SELECT ", "++++++++++", "1", "", 100000, ANALYSE_TOO_LARGE},
    {"SELECT 1 ", "/**/", "", "", 250000, ANALYSE_TOO_LARGE},
    {"SELECT 1 ", "/**/ ", "", "", 200000, ANALYSE_OK},
    {"SELECT '", "\001", "'", "", 1000000, ANALYSE_TOO_LARGE},
    {"SELECT '", "0123456789", "'", "", 100000, ANALYSE_OK},
    {"SELECT '", "0123456789", "'", "", 210000, ANALYSE_TOO_LARGE},
    {"", "SELECT 1;", "", "", 1000, ANALYSE_OK},
    {"", "SELECT 1;", "", "", 1001, ANALYSE_TOO_LARGE},
    {"", ";", "", "", 100000, ANALYSE_OK},
};
// clang-format on

static void *analyse_monsters(void *unused)
{
    (void)unused;
    const struct analyse_context context = {.anything_goes = true};
    for (size_t i = 0; i < sizeof monsters / sizeof monsters[0]; i++) {
        struct arena own;
        arena_init(&own);
        char *sql = build(&monsters[i]);
        struct analysis analysis;
        analyse(&own, &context, text_from(sql), &analysis);
        cr_expect_eq(analysis.result, monsters[i].result, "%zu: %d %s", i, (int)analysis.result,
                     analysis.message.bytes);
        if (analysis.result == ANALYSE_TOO_LARGE) {
            cr_expect_str_eq(analysis.sqlstate, "54001");
            cr_expect(text_starts_with(analysis.message, "pgwicket: "));
        }
        analyse_fingerprint(&own, text_from(sql));
        cr_expect_leq(analyse_parameterised(&own, text_from(sql)).size, LIMIT_AUDIT_TEXT_BYTES);
        free(sql);
        arena_release(&own);
    }
    return NULL;
}

Test(analyse, monsters_get_an_answer_on_a_small_stack, .timeout = 240)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    cr_assert_eq(pthread_attr_setstacksize(&attributes, 8 * 1024 * 1024), 0);
    cr_assert_eq(pthread_create(&thread, &attributes, analyse_monsters, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

Test(analyse, depth_message_names_the_limit)
{
    char *sql = build(&monsters[0]);
    struct analysis analysis = analyse_string(sql);
    free(sql);
    cr_expect_str_eq(analysis.message.bytes, "pgwicket: statement is too deeply nested to check "
                                             "(limit 500 levels); nothing was run");
}

/* --- statements ------------------------------------------------------------------------------- */

Test(analyse, finds_each_statement)
{
    const char *sql = " ; SELECT $2, '\303\274' ;; /* hint */ DELETE FROM t WHERE a = $7 -- x\n ; ";
    struct analysis analysis = analyse_string(sql);
    cr_assert_eq(analysis.result, ANALYSE_OK);
    cr_assert_eq(analysis.statement_count, 2);
    const struct statement *first = &analysis.statements[0], *second = first + 1;
    cr_expect(text_is(first->original, "SELECT $2, '\303\274'"));
    cr_expect(text_is(first->print, "SELECT $2, '\303\274'"));
    cr_expect(text_is(second->original, "/* hint */ DELETE FROM t WHERE a = $7 -- x"));
    cr_expect(text_is(second->print, "DELETE FROM t WHERE a = $7"));
    cr_expect(text_is(analysis.print, "SELECT $2, '\303\274'; DELETE FROM t WHERE a = $7"));
    cr_expect_eq(first->shape.parameter_max, 2);
    cr_expect_eq(second->shape.parameter_max, 7);
}

Test(analyse, locates_actions_in_the_original)
{
    struct analysis analysis = analyse_string("SELECT 1; DELETE FROM shop.t");
    cr_assert_eq(analysis.statement_count, 2);
    const struct statement *statement = &analysis.statements[1];
    cr_assert_geq(statement->shape.action_count, 1);
    cr_expect_eq(
        strncmp(statement->original.bytes + statement->shape.actions[0].location, "shop.t", 6), 0);
}

Test(analyse, of_nothing_is_fine)
{
    static const char *const texts[] = {"", ";", " \n ", "-- only a comment", "/* a */;"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct analysis analysis = analyse_string(texts[i]);
        cr_expect_eq(analysis.result, ANALYSE_OK, "%s", texts[i]);
        cr_expect_eq(analysis.statement_count, 0);
        cr_expect_eq(analysis.print.size, 0);
    }
}

Test(analyse, refuses_parameters_out_of_range)
{
    static const char *const texts[] = {"SELECT $65536", "SELECT $99999999999",
                                        "SELECT $2147483648"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        cr_expect_eq(analyse_string(texts[i]).result, ANALYSE_REJECTED, "%s", texts[i]);
    cr_expect_eq(analyse_string("SELECT $65535").result, ANALYSE_OK);
}

Test(analyse, refuses_the_message_for_its_worst_statement)
{
    struct analysis analysis;
    shop_analyse(&arena, "SELECT 1; SELECT * FROM other.shop.orders", &analysis);
    cr_expect_eq(analysis.result, ANALYSE_REJECTED);
    cr_expect_eq(analysis.statement_count, 0);
    cr_expect_eq(analysis.position, 25);
}

Test(analyse, sums_statements_up)
{
    static const struct {
        const char *sql, *summary;
    } cases[] = {
        {"DELETE FROM orders WHERE id = 1", "DELETE shop.orders"},
        {"SELECT o.id FROM orders o JOIN customers c ON c.id = o.id",
         "SELECT shop.orders shop.customers"},
        {"SELECT 1", "SELECT"},
        {"EXPLAIN SELECT id FROM orders", "EXPLAIN SELECT shop.orders"},
        {"COMMIT", "COMMIT"},
        {"SET ROLE bob", "SET role:bob"},
        {"TRUNCATE order_items", "TRUNCATE shop.order_items"},
        {"EXECUTE refund_order(1)", "EXECUTE refund_order"},
        {"CHECKPOINT", "MAINTAIN"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct shape *shape = shop_shape(&arena, cases[i].sql);
        cr_assert_not_null(shape, "%s", cases[i].sql);
        cr_expect_str_eq(shape->summary.bytes, cases[i].summary, "%s: %s", cases[i].sql,
                         shape->summary.bytes);
    }
}

static void *analyse_often(void *failures)
{
    const struct analyse_context context = {.anything_goes = true};
    struct arena own;
    arena_init(&own);
    for (int i = 0; i < 300; i++) {
        struct analysis analysis;
        arena_reset(&own);
        analyse(&own, &context, TEXT("SELECT a FROM t WHERE b = 'c'"), &analysis);
        *(int *)failures += !text_is(analysis.print, "SELECT a FROM t WHERE b = 'c'");
        analyse(&own, &context, TEXT("SELECT 'open"), &analysis);
        *(int *)failures += analysis.result != ANALYSE_SYNTAX;
    }
    arena_release(&own);
    return NULL;
}

Test(analyse, runs_on_several_threads)
{
    pthread_t threads[4];
    int failures[4] = {0};
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, analyse_often, &failures[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(failures[i], 0);
    }
}

/* --- names ------------------------------------------------------------------------------------ */

Test(names, are_found_through_the_path)
{
    struct analysis analysis;
    shop_analyse(&arena, "SELECT id FROM orders", &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK);
    const struct action *action = &analysis.statements[0].shape.actions[0];
    cr_expect_str_eq(object_text(&arena, &action->object).bytes, "shop.orders");
    cr_expect_not_null(action->relation);
    cr_expect_not(analysis.unresolved_names);
}

Test(names, that_mean_nothing_are_marked)
{
    struct analysis analysis;
    shop_analyse(&arena, "LOCK TABLE nothing", &analysis);
    cr_expect(analysis.unresolved_names);
    shop_analyse(&arena, "LOCK TABLE shop.nothing", &analysis);
    cr_expect(analysis.unresolved_names);
}

Test(names, of_new_objects_go_to_the_first_schema_that_exists)
{
    static const struct action_case cases[] = {
        {"CREATE SEQUENCE fresh", "create shop.fresh"},
        {"CREATE TEMP SEQUENCE fresh", "create pg_temp.fresh"},
        {"CREATE SEQUENCE hr.fresh", "create hr.fresh"},
    };
    CHECK_ACTIONS(cases);
}

Test(names, offline_are_taken_from_the_first_schema_of_the_path)
{
    const struct text path[] = {TEXT("shop"), TEXT("hr")};
    const struct analyse_context context = {.search_path = path, .search_path_count = 2};
    struct analysis analysis;
    analyse(&arena, &context, TEXT("LOCK TABLE orders, pg_class"), &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK);
    cr_assert_eq(analysis.statements[0].shape.action_count, 2);
    const struct action *actions = analysis.statements[0].shape.actions;
    cr_expect_str_eq(object_text(&arena, &actions[0].object).bytes, "shop.orders");
    cr_expect_str_eq(object_text(&arena, &actions[1].object).bytes, "pg_catalog.pg_class");
}

Test(names, of_kinds_are_written_with_their_prefix)
{
    cr_expect_str_eq(object_text(&arena, &(struct object){OBJECT_ROLE, {0}, TEXT("bob")}).bytes,
                     "role:bob");
    cr_expect_str_eq(object_text(&arena, &(struct object){0}).bytes, "(none)");
    cr_expect_str_eq(object_text(&arena, &(struct object){OBJECT_NAME, {0}, TEXT("t")}).bytes, "t");
    for (int verb = VERB_NONE; verb < VERB_COUNT; verb++)
        cr_expect_gt(strlen(verb_name((enum verb)verb)), 0);
    for (int kind = OBJECT_NONE; kind < OBJECT_KIND_COUNT; kind++)
        cr_expect_not_null(object_kind_prefix((enum object_kind)kind));
}

/* --- positions, parameters, labels ------------------------------------------------------------ */

Test(describe, maps_positions_to_the_original)
{
    static const struct {
        const char *original, *print;
        int position, mapped;
    } cases[] = {
        {"select   a ,\n nope from t", "SELECT a, nope FROM t", 11, 15},
        {"/* \303\274 */ select nope", "SELECT nope", 8, 16},
        {"select '\303\274' , nope", "SELECT '\303\274', nope", 13, 14},
        {"select nope", "SELECT nope", 10, 8},
        {";; select 1 ;; select nope", "SELECT 1; SELECT nope", 18, 23},
        {"select 'a'\n'b', nope", "SELECT 'ab', nope", 14, 17},
        {"select 1 ", "SELECT 1", 9, 10},
        {"select 1", "SELECT 1", 0, 0},
        {"select 1", "SELECT 1", -3, 0},
        {"select 1", "SELECT 1, 2", 11, 0},
        {"select 'open", "SELECT 1", 8, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int mapped = analyse_map_position(text_from(cases[i].original), text_from(cases[i].print),
                                          cases[i].position);
        cr_expect_eq(mapped, cases[i].mapped, "%s: %d", cases[i].original, mapped);
    }
}

Test(describe, replaces_literals_by_parameters)
{
    static const struct {
        const char *sql, *text;
    } cases[] = {
        {"select * from t where a = 'secret' and b = 17",
         "SELECT * FROM t WHERE a = $1 AND b = $2"},
        {"update t set a = $2, b = 'x' where c = 1.5 -- 'y'",
         "UPDATE t SET a = $2, b = $3 WHERE c = $4"},
        {"alter role bob password 'secret'", "ALTER ROLE bob PASSWORD $1"},
        {"do $$ begin perform 'secret'; end $$", "DO $1"},
        {"select B'01', X'ff', E'a', U&'b', n'c'", "SELECT $1, $2, $3, $4, NCHAR $5"},
        {"select 1; select null, true", "SELECT $1; SELECT NULL, TRUE"},
        {"not a statement 'secret'", "NOT a STATEMENT $1"},
        {"select 'open", "(unparseable)"},
        {"select '\377'", "(unparseable)"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text text = analyse_parameterised(&arena, text_from(cases[i].sql));
        cr_expect(text_is(text, cases[i].text), "%s: %s", cases[i].sql, text.bytes);
    }
}

Test(describe, cuts_long_parameterised_texts)
{
    char *sql = build(&(struct monster){"SELECT 1", ", abcdefgh", "", "", 5000, 0});
    struct text text = analyse_parameterised(&arena, text_from(sql));
    free(sql);
    cr_expect_leq(text.size, LIMIT_AUDIT_TEXT_BYTES);
    cr_expect_geq(text.size, LIMIT_AUDIT_TEXT_BYTES - 20);
}

Test(describe, labels_by_fingerprint)
{
    struct text one = analyse_fingerprint(&arena, TEXT("SELECT a FROM t WHERE b = 1"));
    struct text two = analyse_fingerprint(&arena, TEXT("select a from t where b = 'x'"));
    struct text other = analyse_fingerprint(&arena, TEXT("SELECT a FROM u WHERE b = 1"));
    cr_expect_eq(one.size, 16);
    cr_expect(text_equal(one, two));
    cr_expect_not(text_equal(one, other));
    cr_expect_eq(analyse_fingerprint(&arena, TEXT("SELEC")).size, 0);
    cr_expect_eq(analyse_fingerprint(&arena, TEXT("SELECT '\377'")).size, 0);
}

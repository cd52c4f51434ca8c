/* print_test.c - the canonical print: one spelling, nothing hidden, the same tokens. */
#include "parser/analyse.h"
#include "proxy/base/attributes.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
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

TestSuite(print, .init = begin, .fini = end);

static void analyse_any(struct text sql, struct analysis *out)
{
    const struct analyse_context context = {.anything_goes = true};
    analyse(&arena, &context, sql, out);
}

static const char *print(const char *sql)
{
    struct analysis analysis;
    analyse_any(text_from(sql), &analysis);
    return analysis.result == ANALYSE_OK ? analysis.print.bytes : analysis.message.bytes;
}

struct print_case {
    const char *sql, *print;
};

static void check(const struct print_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(print(cases[i].sql), cases[i].print, "%s", print(cases[i].sql));
        cr_expect_str_eq(print(cases[i].print), cases[i].print, "%s", print(cases[i].print));
    }
}

#define CHECK(cases) check(cases, ARRAY_SIZE(cases))

Test(print, is_one_line_with_keywords_in_capitals)
{
    static const struct print_case cases[] = {
        {"select\n\ta ,b\r\nfrom  t -- hello\n where a=1 ;", "SELECT a, b FROM t WHERE a = 1"},
        {"Update Shop.Orders Set status='x' Where id=1",
         "UPDATE shop.orders SET status = 'x' WHERE id = 1"},
        {"select count(*),max(a) from t", "SELECT count(*), max(a) FROM t"},
        {"select coalesce(a,b), cast(a as numeric(10,2)) from t",
         "SELECT COALESCE(a, b), CAST(a AS NUMERIC(10, 2)) FROM t"},
        {"insert into t values(1,(2)),(3,4)", "INSERT INTO t VALUES (1, (2)), (3, 4)"},
        {"select a[1:2],b[1],(c).d,e::int[] from t",
         "SELECT a[1 : 2], b[1], (c).d, e::INT[] FROM t"},
    };
    CHECK(cases);
}

Test(print, quotes_names_only_where_needed)
{
    static const struct print_case cases[] = {
        {"select \"abc\", \"Abc\", \"a b\", \"a\"\"b\", \"1a\", \"select\", a$b from t",
         "SELECT abc, \"Abc\", \"a b\", \"a\"\"b\", \"1a\", \"select\", \"a$b\" FROM t"},
        {"select caf\303\251 from t", "SELECT \"caf\303\251\" FROM t"},
        {"select o.value, o.from from t o", "SELECT o.\"value\", o.\"from\" FROM t o"},
        {"select U&\"\\0061\"", "SELECT a"},
    };
    CHECK(cases);
}

/* A later server would read JSON_TABLE(…) or SYSTEM_USER as something else than a name. */
Test(print, quotes_keywords_of_later_majors)
{
    static const struct print_case cases[] = {
        {"select system_user, absent, json, virtual from t",
         "SELECT \"system_user\", \"absent\", \"json\", \"virtual\" FROM t"},
        {"select '{}'::json", "SELECT '{}'::\"json\""},
    };
    CHECK(cases);
}

Test(print, gives_strings_one_spelling)
{
    static const struct print_case cases[] = {
        {"select 'A', E'\\x41', U&'\\0041', $$A$$, $a$A$a$, E'A'",
         "SELECT 'A', 'A', 'A', 'A', 'A', 'A'"},
        {"select 'it''s', $$it's$$", "SELECT 'it''s', 'it''s'"},
        {"select 'a'\n'b'", "SELECT 'ab'"},
        {"select 'a\\b', E'a\\\\b'", "SELECT E'a\\\\b', E'a\\\\b'"},
        {"select 'a\\''b'", "SELECT E'a\\\\''b'"},
        {"select b'01', X'fF', n'x'", "SELECT B'01', X'fF', NCHAR 'x'"},
        {"select ''", "SELECT ''"},
    };
    CHECK(cases);
}

Test(print, shows_what_cannot_be_seen)
{
    static const struct print_case cases[] = {
        {"select 'a\nb\tc\rd'", "SELECT E'a\\nb\\tc\\rd'"},
        {"select '\001\033[31m'", "SELECT E'\\u0001\\u001B[31m'"},
        {"select 'a\342\200\256b'", "SELECT E'a\\u202Eb'"},     /* right-to-left override */
        {"select 'a\342\200\213b'", "SELECT E'a\\u200Bb'"},     /* zero-width space */
        {"select 'a\302\240b'", "SELECT E'a\\u00A0b'"},         /* no-break space */
        {"select '\363\240\201\201'", "SELECT E'\\U000E0041'"}, /* tag letter */
        {"select 'gr\303\274n \360\237\230\200'", "SELECT 'gr\303\274n \360\237\230\200'"},
        {"select \"a\342\200\213b\"", "SELECT U&\"a\\200Bb\""},
        {"select \"\363\240\201\201\\\"\"\"", "SELECT U&\"\\+0E0041\\\\\"\"\""},
        {"select \"a\nb\"", "SELECT U&\"a\\000Ab\""},
    };
    CHECK(cases);
}

Test(print, keeps_operators_apart)
{
    static const struct print_case cases[] = {
        {"select 1- -1, 1-(-1), - -1, @-1, 2*-1, a<-1 from t",
         "SELECT 1 - -1, 1 - (-1), - -1, @- 1, 2 * -1, a < -1 FROM t"},
        {"select a / * from t", "syntax error at or near \"*\""},
        {"select -1, +2, -a, a-1, (a)-1 from t limit -1",
         "SELECT -1, +2, - a, a - 1, (a) - 1 FROM t LIMIT -1"},
        {"select a operator(pg_catalog.-) b, operator(pg_catalog.-) 1",
         "SELECT a OPERATOR (pg_catalog.-) b, OPERATOR (pg_catalog.-) 1"},
        {"select 1!=2, 1<>2", "SELECT 1 <> 2, 1 <> 2"},
        {"select x 'ab', e 'ab'", "SELECT x 'ab', e 'ab'"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_str_eq(print(cases[i].sql), cases[i].print, "%s", print(cases[i].sql));
}

Test(print, keeps_what_a_deparser_loses)
{
    static const struct print_case cases[] = {
        {"DELETE FROM t WHERE (a OR b) IS NULL", "DELETE FROM t WHERE (a OR b) IS NULL"},
        {"DELETE FROM t WHERE (NOT a)::bool", "DELETE FROM t WHERE (NOT a)::bool"},
        {"UPDATE t SET name=1, (a,b)=(1,2)", "UPDATE t SET NAME = 1, (a, b) = (1, 2)"},
        {"SELECT (64).lo_creat", "SELECT (64).lo_creat"},
        {"SELECT * FROM t FOR UPDATE OF t SKIP LOCKED",
         "SELECT * FROM t FOR UPDATE OF t SKIP LOCKED"},
        {"SELECT a LIKE b LIKE c ESCAPE 'x'", "syntax error at or near \"LIKE\""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_str_eq(print(cases[i].sql), cases[i].print, "%s", print(cases[i].sql));
}

Test(print, joins_statements_and_drops_empty_ones)
{
    static const struct print_case cases[] = {
        {";;select 1;; select 2;", "SELECT 1; SELECT 2"},
        {"create rule r as on insert to t do also (delete from u; select 1); select 2",
         "CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM u; SELECT 1); SELECT 2"},
        {"create function f() returns int begin atomic select 1; select 2; end",
         "CREATE FUNCTION f() RETURNS INT BEGIN ATOMIC SELECT 1; SELECT 2; END"},
        {" -- nothing\n", ""},
    };
    CHECK(cases);
}

Test(print, refuses_bit_strings_with_other_than_digits)
{
    static const char *const texts[] = {"select b'0\n1'", "select x'0g'", "select b'\033[31m'"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        cr_expect_str_eq(print(texts[i]),
                         "pgwicket: the value of a literal is not valid; nothing was run");
}

/* --- every case ------------------------------------------------------------------------------- */

static size_t parsed;

static void check_again(const char *id, struct text sql)
{
    struct analysis first, again;
    analyse_any(sql, &first);
    if (first.result != ANALYSE_OK)
        return;
    parsed++;
    analyse_any(first.print, &again);
    cr_expect_eq(again.result, ANALYSE_OK, "%s: %s", id, again.message.bytes);
    cr_expect(text_equal(again.print, first.print), "%s: %s", id, first.print.bytes);
    cr_expect_eq(again.statement_count, first.statement_count, "%s", id);
    struct text label = analyse_fingerprint(&arena, sql);
    cr_expect(text_equal(label, analyse_fingerprint(&arena, first.print)), "%s", id);
    for (size_t i = 0; i < first.print.size; i++)
        cr_expect_geq((unsigned char)first.print.bytes[i], ' ', "%s", id);
}

static void check_line(const char *line, size_t size)
{
    json_t *object = json_loadb(line, size, JSON_ALLOW_NUL, NULL);
    cr_assert_not_null(object);
    const char *id = json_string_value(json_object_get(object, "id"));
    const json_t *sql = json_object_get(object, "sql");
    check_again(id, (struct text){json_string_value(sql), json_string_length(sql)});
    size_t index;
    json_t *message;
    json_array_foreach(json_object_get(object, "setup"), index, message)
        check_again(id, text_from(json_string_value(message)));
    json_decref(object);
    arena_reset(&arena);
}

Test(print, of_every_case_reads_the_same, .timeout = 120)
{
    FILE *file = fopen(PGWICKET_TESTS "/cases/verdicts.jsonl", "r");
    cr_assert_not_null(file);
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, file)) > 0;)
        check_line(line, (size_t)size);
    free(line);
    fclose(file);
    cr_expect_geq(parsed, 400);
}

/*
 * selftest.c - proves at start that the loaded libpg_query is the one that was built against.
 *
 * Statements that between them use every kind of token, look-ahead and literal must print exactly
 * as here. A library with another memory layout or other token numbers cannot get through.
 */
#include "parser/analyse.h"

#include <string.h>

struct sample {
    const char *sql, *print;
};

// clang-format off
static const struct sample samples[] = {
    {"", ""},
    {" ; ; ", ""},
    {"select 1", "SELECT 1"},
    {"SELECT a FROM t -- x\n WHERE b = 'it''s'", "SELECT a FROM t WHERE b = 'it''s'"},
    {"select 1;;select 2;", "SELECT 1; SELECT 2"},
    {"select 'a'\n'b'", "SELECT 'ab'"},
    {"select 'a' -- c\n 'b'", "SELECT 'ab'"},
    {"select e'a\\tb', e'\\\\'", "SELECT E'a\\tb', E'\\\\'"},
    {"select U&'d\\0061t' , $$x'y$$, $q$ $$ $q$", "SELECT 'dat', 'x''y', ' $$ '"},
    {"select u&'!0061' uescape '!'", "SELECT 'a'"},
    {"select u&\"d!0061\" /* x */ uescape '!' from t", "SELECT da FROM t"},
    {"select b'01', x'fF', 1.50, 007, 1e3, .5", "SELECT B'01', X'fF', 1.50, 7, 1e3, .5"},
    {"select \"Ab\", \"a\"\"b\", \"select\", \"json\" from t",
     "SELECT \"Ab\", \"a\"\"b\", \"select\", \"json\" FROM t"},
    {"select o.value, o.\"value\" from t o", "SELECT o.\"value\", o.\"value\" FROM t o"},
    {"select a not /* x */ in (1, -2)", "SELECT a NOT IN (1, -2)"},
    {"select a from t order by a nulls first", "SELECT a FROM t ORDER BY a NULLS FIRST"},
    {"select a from f() with ordinality", "SELECT a FROM f() WITH ORDINALITY"},
    {"select a[1:2], b::int[], -1, a- -1 from t", "SELECT a[1 : 2], b::INT[], -1, a - -1 FROM t"},
    {"select 1!=2,1<>2,1<=2,1>=2,a@>b,f(a=>1,b:=2)",
     "SELECT 1 <> 2, 1 <> 2, 1 <= 2, 1 >= 2, a @> b, f(a => 1, b := 2)"},
    {"update t set a=$1 where b=$2", "UPDATE t SET a = $1 WHERE b = $2"},
    {"delete from t where (a or b) is null", "DELETE FROM t WHERE (a OR b) IS NULL"},
    {"insert into s.t(a) values(coalesce(1,2)) on conflict do nothing",
     "INSERT INTO s.t(a) VALUES (COALESCE(1, 2)) ON CONFLICT DO NOTHING"},
};
// clang-format on

static bool prints_as_expected(struct arena *arena, const struct sample *sample)
{
    const struct analyse_context context = {.anything_goes = true};
    struct analysis analysis;
    analyse(arena, &context, text_from(sample->sql), &analysis);
    return analysis.result == ANALYSE_OK && text_is(analysis.print, sample->print);
}

bool analyse_self_test(const char **problem)
{
    struct arena arena;
    arena_init(&arena);
    *problem = NULL;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0] && *problem == NULL; i++)
        if (!prints_as_expected(&arena, &samples[i]))
            *problem = samples[i].sql;
    arena_release(&arena);
    return *problem == NULL;
}

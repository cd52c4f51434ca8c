/* code_test.c - the names in the bodies of functions, and what makes a body unclear. */
#include "parser/code.h"

#include <criterion/criterion.h>

static struct arena arena;

static void setup(void) { arena_init(&arena); }
static void teardown(void) { arena_release(&arena); }

TestSuite(code, .init = setup, .fini = teardown);

static const struct code_name *find(const struct code *code, const char *schema, const char *name)
{
    for (size_t i = 0; i < code->count; i++)
        if (text_is(code->names[i].schema, schema) && text_is(code->names[i].name, name))
            return &code->names[i];
    return NULL;
}

static struct code read(const char *body)
{
    struct code code;
    code_read(&arena, text_from(body), true, &code);
    return code;
}

static struct code read_sql(const char *body)
{
    struct code code;
    code_read(&arena, text_from(body), false, &code);
    return code;
}

static const struct {
    const char *body, *schema, *name;
    bool called, written;
} names[] = {
    {"BEGIN PERFORM audit.note(1); END", "audit", "note", true, false},
    {"BEGIN PERFORM AUDIT . /* x */ \"note\" -- y\n (1); END", "audit", "note", true, false},
    {"BEGIN PERFORM U&\"n\\006fte\"(); END", "", "note", true, false},
    {"BEGIN x := new.total; END", "new", "total", false, false},
    {"BEGIN INSERT INTO shop.log (what) VALUES ('x'); END", "shop", "log", true, true},
    {"BEGIN UPDATE ONLY (shop.log) SET a = 1; END", "shop", "log", false, true},
    {"BEGIN DELETE FROM log; END", "", "log", false, true},
    {"BEGIN PERFORM 1 FROM log FOR UPDATE; END", "", "log", false, false},
    {"BEGIN TRUNCATE a, log; PERFORM 1 FROM b; END", "", "log", false, true},
    {"BEGIN TRUNCATE a, log; PERFORM 1 FROM b; END", "", "b", false, false},
    {"BEGIN EXECUTE 'SELECT evil($1)' USING 1; END", "", "evil", true, false},
    {"BEGIN EXECUTE 'SELECT evil()' INTO x; PERFORM later(); END", "", "later", true, false},
};

Test(code, finds_every_name_as_it_is_used)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct code code = read(names[i].body);
        const struct code_name *name = find(&code, names[i].schema, names[i].name);
        cr_assert_not_null(name, "%s", names[i].body);
        cr_expect_eq(name->called, names[i].called, "%s", names[i].body);
        cr_expect_eq(name->written, names[i].written, "%s", names[i].body);
        cr_expect_null(code.unclear, "%s: %s", names[i].body, code.unclear);
    }
}

Test(code, comments_and_strings_name_nothing)
{
    struct code code = read("BEGIN -- evil() EXECUTE\n /* COPY evil() */ x := 'evil() EXECUTE'; END");
    cr_expect_null(find(&code, "", "evil"));
    cr_expect_null(code.unclear);
}

static const char *const unclear[] = {
    "BEGIN EXECUTE 'SELECT ' || x; END",
    "BEGIN EXECUTE format('x'); END",
    "BEGIN EXECUTE 'EXECUTE x'; END",
    "BEGIN EXECUTE 'NOTIFY a; VACUUM'; END",
    "BEGIN FOR r IN EXECUTE 'SELECT 1' || x LOOP END LOOP; END",
    "BEGIN RETURN QUERY EXECUTE x; END",
    "BEGIN OPEN c FOR EXECUTE x; END",
    "BEGIN DO $a$ BEGIN END $a$; END",
    "BEGIN COPY t TO '/f'; END",
    "BEGIN COPY (SELECT 1) TO PROGRAM 'x'; END",
    "BEGIN LOAD 'x'; END",
    "BEGIN CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; END",
    "BEGIN CREATE TEMP TABLE t (a int); END",
    "BEGIN IMPORT FOREIGN SCHEMA s FROM SERVER t INTO u; END",
    "BEGIN COMMIT; END",
    "BEGIN IF x THEN COMMIT; END IF; END",
    "BEGIN IF x THEN y := 1; ELSE ROLLBACK; END IF; END",
    "BEGIN <<here>> LOOP CHECKPOINT; END LOOP; END",
    "<<here>> VACUUM t;",
    "BEGIN VACUUM (FULL) t; END",
    "BEGIN LISTEN c; END",
    "BEGIN FUTURE COMMAND; END",
    "BEGIN ALTER SYSTEM SET a = 1; END",
    "BEGIN x := 1; PREPARE p AS SELECT 1; END",
    "DECLARE x int; BEGIN DISCARD ALL; END",
    "BEGIN x := 'unterminated; END",
    "BEGIN SET CONSTRAINTS ALL DEFERRED; END",
    "BEGIN SET /* x */ CONSTRAINTS immediate DEFERRED; END",
    "BEGIN EXECUTE 'SET CONSTRAINTS a, b DEFERRED'; END",
    "BEGIN SET CONSTRAINTS a; x := immediate; END",
    "BEGIN SET search_path = a; END",
    "BEGIN SET ROLE x; END",
    "BEGIN IF a THEN RESET ALL; END IF; END",
};

Test(code, what_runs_text_or_is_not_known_is_unclear)
{
    for (size_t i = 0; i < sizeof unclear / sizeof unclear[0]; i++)
        cr_expect_not_null(read(unclear[i]).unclear, "%s", unclear[i]);
}

static const struct {
    const char *body;
    bool sets, sets_custom, lasts;
} setting[] = {
    {"BEGIN SET search_path = a; END", true, false, false},
    {"BEGIN SET LOCAL role = a; RESET b; END", true, false, false},
    {"BEGIN SET SESSION AUTHORIZATION a; END", true, false, false},
    {"BEGIN SET LOCAL app.user = 'c'; END", false, true, false},
    {"BEGIN SET SESSION app.user = 'c'; END", false, true, true},
    {"BEGIN SET app.user TO 'c'; SET LOCAL work_mem TO '1MB'; END", true, true, true},
    {"BEGIN IF a THEN RESET app.user; END IF; END", false, true, true},
    {"BEGIN EXECUTE 'SET LOCAL app.user = 1'; END", false, true, false},
    {"BEGIN UPDATE t SET a = b.c; END", false, false, false},
};

Test(code, tells_whose_settings_are_set)
{
    for (size_t i = 0; i < sizeof setting / sizeof setting[0]; i++) {
        struct code code = read(setting[i].body);
        cr_expect_eq(code.sets, setting[i].sets, "%s", setting[i].body);
        cr_expect_eq(code.sets_custom, setting[i].sets_custom, "%s", setting[i].body);
        cr_expect_eq(code.lasts != NULL, setting[i].lasts, "%s", setting[i].body);
    }
}

static const struct {
    const char *body;
    bool local, custom;
} configs[] = {
    {"BEGIN PERFORM set_config('app.user', x, true); END", true, true},
    {"BEGIN PERFORM pg_catalog.set_config('app.user'::text, x || 'a', false); END", false, true},
    {"BEGIN PERFORM set_config('search_path', 'a.b', true); END", true, false},
    {"BEGIN PERFORM set_config('app.' || x, y, true); END", true, true},
    {"BEGIN PERFORM set_config(x || '.app', y, true); END", true, false},
    {"BEGIN PERFORM set_config(name, 'a.b', false); END", false, false},
    {"BEGIN PERFORM set_config(lower('a.b'), x, false); END", false, false},
};

Test(code, tells_what_set_config_sets_where_its_name_is_constant)
{
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        struct code code = read(configs[i].body);
        const struct code_name *name = find(&code, i == 1 ? "pg_catalog" : "", "set_config");
        cr_assert_not_null(name, "%s", configs[i].body);
        cr_expect_eq(name->is_local, configs[i].local, "%s", configs[i].body);
        cr_expect_eq(name->is_custom, configs[i].custom, "%s", configs[i].body);
    }
}

Test(code, tells_of_a_cursor_that_it_closes_and_has_not_opened)
{
    cr_expect(read("DECLARE c refcursor := 'x'; BEGIN CLOSE c; OPEN c FOR SELECT 1; END").closes);
    cr_expect_not(read("DECLARE c refcursor; BEGIN OPEN c FOR SELECT 1; CLOSE c; OPEN c FOR SELECT 2; END").closes);
    cr_expect_not(read("BEGIN UPDATE t SET close = 1; END").closes);
}

static const char *const clear[] = {
    "BEGIN SET SESSION a.b = 'c'; END",
    "BEGIN INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING; PERFORM nextval('s'); END",
    "DECLARE copy int; do text := 'x'; notify record; BEGIN copy := 1; RETURN NEW; END",
    "BEGIN NEW.updated_at = now(); RETURN NEW; END",
    "BEGIN IF TG_OP = 'DELETE' THEN RETURN OLD; ELSIF a THEN NULL; ELSE b[1] := 2; END IF; END",
    "BEGIN SELECT CASE WHEN a THEN b ELSE copy END, CASE WHEN c THEN lower(d) ELSE -1 END INTO x; END",
    "BEGIN SELECT CASE WHEN a THEN date '2020-01-01' WHEN d THEN NOT e ELSE CASE a WHEN 1 THEN load "
    "IS NULL ELSE f.g END END; END",
    "<<main>> DECLARE c CURSOR FOR SELECT 1; BEGIN OPEN c; FETCH c INTO x; CLOSE c; END main",
    "BEGIN BEGIN x := 1; EXCEPTION WHEN unique_violation THEN RAISE NOTICE 'x'; END; RETURN NULL; END",
    "BEGIN FOR r IN SELECT 1 LOOP CONTINUE WHEN r > 1; EXIT; END LOOP; WHILE a LOOP a := b; END LOOP; END",
    "BEGIN FOR r IN EXECUTE 'SELECT 1' LOOP PERFORM 1; END LOOP; END",
    "BEGIN PERFORM pg_notify('c', 'x'); NOTIFY c; SET LOCAL x TO 1; "
    "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS a.b IMMEDIATE; CALL p(); LOCK TABLE t; END",
    "BEGIN set := 1; reset[1] := set; UPDATE t SET constraints = 1; END",
    "BEGIN GET DIAGNOSTICS n = ROW_COUNT; ASSERT n > 0; RETURN QUERY SELECT 1; RETURN; END",
    "BEGIN MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (1); END",
    "BEGIN MERGE INTO t USING u ON true WHEN MATCHED THEN DO NOTHING; END",
    "",
};

Test(code, an_honest_body_is_clear)
{
    for (size_t i = 0; i < sizeof clear / sizeof clear[0]; i++) {
        struct code code = read(clear[i]);
        cr_expect_null(code.unclear, "%s: %s", clear[i], code.unclear);
    }
}

static const struct {
    const char *body;
    bool local;
} settings[] = {
    {"BEGIN PERFORM set_config('a.b', c, true); END", true},
    {"BEGIN x := pg_catalog.SET_CONFIG('a.b', f(c, d), TRUE); END", true},
    {"BEGIN EXECUTE 'SELECT set_config($1, $2, true)' USING a, b; END", true},
    {"BEGIN PERFORM set_config('a.b', c, false); END", false},
    {"BEGIN PERFORM set_config('a.b', c, 'true'); END", false},
    {"BEGIN PERFORM set_config('a.b', c, NOT true); END", false},
    {"BEGIN PERFORM set_config('a.b', c, d OR true); END", false},
    {"BEGIN PERFORM set_config('a.b', f(c, true), d); END", false},
    {"BEGIN PERFORM set_config('a.b', c, is_local => d), f(1, true); END", false},
    {"BEGIN PERFORM set_config('a.b', c, \"true\"); END", false},
    {"BEGIN PERFORM set_config('a.b', c, true", false},
};

Test(code, a_setting_is_local_where_the_text_says_so)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct code code = read(settings[i].body);
        bool found = false;
        for (size_t j = 0; j < code.count; j++) {
            if (!text_is(code.names[j].name, "set_config"))
                continue;
            found = true;
            cr_expect(code.names[j].called);
            cr_expect_eq(code.names[j].is_local, settings[i].local, "%s", settings[i].body);
        }
        cr_expect(found, "%s", settings[i].body);
    }
}

Test(code, in_sql_a_declaration_is_a_cursor)
{
    cr_expect_not_null(read_sql("DECLARE c CURSOR FOR SELECT 1; NOTIFY x; COMMIT").unclear);
    cr_expect_null(read_sql("BEGIN ATOMIC SELECT 1; INSERT INTO t VALUES (1); END").unclear);
    cr_expect_null(read_sql("SELECT 1; UPDATE t SET a = 1").unclear);
    cr_expect_not_null(read_sql("SELECT 1; VACUUM").unclear);
}

Test(code, operators_are_names_too)
{
    struct code code = read("BEGIN RETURN a === b; END");
    const struct code_name *name = find(&code, "", "===");
    cr_assert_not_null(name);
    cr_expect(name->is_operator);
    code = read("BEGIN RETURN a <= b; END");
    cr_assert_not_null(find(&code, "", "<="));
}

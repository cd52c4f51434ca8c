/* catalog_load_test.c - the snapshot of a real server: the shop, and a database full of special
 * cases. */
#include "proxy/upstream/catalog_load.h"

#include "unit/upstream/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct catalog *catalog;

static const struct relation *relation(const char *schema, const char *name)
{
    const struct relation *found = catalog_relation(catalog, text_from(schema), text_from(name));
    cr_assert_not_null(found, "%s.%s", schema, name);
    return found;
}

static const struct type *type(const char *name)
{
    const struct type *found = catalog_type(catalog, TEXT("s"), text_from(name));
    cr_assert_not_null(found, "%s", name);
    return found;
}

static const char *function_name(uint32_t oid)
{
    const struct function *function = catalog_function_by_oid(catalog, oid);
    return function != NULL ? function->name.bytes : "(none)";
}

static void load(const char *connection_string)
{
    char problem[256] = "";
    struct catalog_loader *loader = catalog_loader_new(connection_string);
    catalog = catalog_loader_load(loader, problem, sizeof problem);
    cr_assert_not_null(catalog, "%s", problem);
    catalog_loader_free(loader);
}

/* "column column" of the keys, primary key first: "id; email". */
static const char *keys_of(const char *schema, const char *name)
{
    static char text[512];
    const struct relation *found = relation(schema, name);
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < found->key_count; i++)
        for (size_t k = 0; k < found->keys[i].column_count; k++) {
            const struct column *column =
                relation_column_by_number(found, found->keys[i].columns[k]);
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s",
                                     k > 0 ? " " : (i > 0 ? "; " : ""), column->name.bytes);
        }
    return text;
}

/* "schema.relation.column …" of a view's sources, * for every column, # for rows only. */
static const char *sources_of(const char *schema, const char *name)
{
    static char text[1024];
    const struct relation *view = relation(schema, name);
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < view->source_count; i++) {
        const struct relation *source = catalog_relation_by_oid(catalog, view->sources[i].relation);
        int16_t number = view->sources[i].column;
        const struct column *column = relation_column_by_number(source, number);
        const char *what = column != NULL                       ? column->name.bytes
                           : number == VIEW_SOURCE_EVERY_COLUMN ? "*"
                           : number == VIEW_SOURCE_ROWS_ONLY    ? "#"
                                                                : "system";
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s.%s", i > 0 ? " " : "",
                                 source->name.bytes, what);
    }
    return text;
}

static const char *functions_of(const char *name)
{
    static char text[512];
    const struct relation *view = relation("s", name);
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < view->function_count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i > 0 ? " " : "",
                                 function_name(view->functions[i]));
    return text;
}

static const char *checks_of(const char *name)
{
    static char text[512];
    const struct type *domain = type(name);
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < domain->check_function_count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i > 0 ? " " : "",
                                 function_name(domain->check_functions[i]));
    return text;
}

/* --- the shop ------------------------------------------------------------------------------- */

static void load_shop(void)
{
    load(agent_string());
}

static void release(void)
{
    catalog_release(catalog);
}

TestSuite(shop, .init = load_shop, .fini = release);

Test(shop, has_columns_with_types)
{
    static const struct {
        const char *name;
        int16_t number;
        uint32_t type;
        bool not_null;
    } expected[] = {
        {"id", 1, 23, true},      {"name", 2, 25, true},         {"email", 3, 25, true},
        {"ssn", 4, 25, true},     {"country", 5, 1042, true},    {"city", 6, 25, false},
        {"segment", 7, 25, true}, {"created_at", 8, 1184, true}, {"birth_date", 9, 1082, false},
        {"opt_in", 10, 16, true}, {"tags", 11, 1009, true},      {"attrs", 12, 3802, true},
    };
    const struct relation *customers = relation("shop", "customers");
    cr_assert_eq(customers->column_count, ARRAY_SIZE(expected));
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
        const struct column *column = &customers->columns[i];
        cr_expect(text_is(column->name, expected[i].name));
        cr_expect_eq(column->number, expected[i].number);
        cr_expect_eq(column->type, expected[i].type, "%s", expected[i].name);
        cr_expect_eq(column->not_null, expected[i].not_null, "%s", expected[i].name);
    }
    cr_expect_eq(customers->kind, 'r');
    cr_expect_eq(customers->persistence, 'p');
    cr_expect_gt(customers->rows, 0);
    cr_expect_not(customers->row_security);
}

Test(shop, has_keys_and_foreign_keys)
{
    cr_expect_str_eq(keys_of("shop", "customers"), "id; email");
    cr_expect_str_eq(keys_of("shop", "products"), "id; sku");
    cr_expect_str_eq(keys_of("shop", "orders"), "id");
    cr_expect(relation("shop", "customers")->keys[0].primary);
    cr_expect_not(relation("shop", "customers")->keys[1].primary);

    const struct relation *orders = relation("shop", "orders");
    cr_assert_eq(orders->referenced_by_count, 1);
    const struct foreign_key *key = &orders->referenced_by[0];
    cr_expect_eq(key->child, relation("shop", "order_items")->oid);
    cr_expect_eq(key->on_delete, 'c');
    cr_expect_eq(key->on_update, 'a');
    cr_assert_eq(key->column_count, 1);
    cr_expect_eq(key->parent_columns[0], 1);
    cr_expect_eq(key->child_columns[0], 2);
    cr_assert_eq(relation("shop", "products")->referenced_by_count, 1);
    cr_expect_eq(relation("shop", "products")->referenced_by[0].on_delete, 'a');
    cr_expect_eq(relation("shop", "order_items")->referenced_by_count, 0);
}

Test(shop, tells_what_views_read)
{
    cr_expect_eq(relation("shop", "order_totals")->kind, 'v');
    cr_expect_str_eq(sources_of("shop", "customer_directory"),
                     "customers.id customers.name customers.ssn");
    cr_expect_str_eq(sources_of("shop", "order_mailbox"), "orders.id orders.notes");
    const char *totals = sources_of("shop", "order_totals");
    cr_expect_not_null(strstr(totals, "orders.order_date"), "%s", totals);
    cr_expect_not_null(strstr(totals, "order_items.qty"), "%s", totals);
    cr_expect_null(strstr(totals, "orders.notes"), "%s", totals);
    cr_expect_null(strstr(totals, "*"), "%s", totals);
    cr_expect_eq(relation("shop", "order_totals")->function_count, 0);
}

Test(shop, tells_rules_triggers_and_indexes)
{
    cr_expect(relation("shop", "order_mailbox")->has_rules);
    cr_expect_not(relation("shop", "open_orders")->has_rules);
    cr_expect(relation("shop", "orders")->has_triggers);
    cr_expect_not(relation("shop", "order_items")->has_triggers);
    const struct relation *index = relation("shop", "orders_customer_id_idx");
    cr_expect_eq(index->kind, 'i');
    cr_expect_eq(index->table, relation("shop", "orders")->oid);
    const struct relation *orders = relation("shop", "orders");
    cr_assert_eq(orders->indexed_count, 3); /* id, customer_id, order_date */
    cr_expect_eq(orders->indexed[0], 1);
    cr_expect_eq(orders->indexed[1], 2);
    cr_expect_eq(orders->indexed[2], 4);
    cr_expect_eq(relation("shop", "order_totals")->indexed_count, 0);
    cr_expect_eq(relation("shop", "orders")->table, 0);
    cr_expect_eq(relation("shop", "orders_id_seq")->kind, 'S');
}

Test(shop, has_user_functions_operators_casts_and_domains)
{
    size_t count = 0;
    const struct function *functions = catalog_functions(catalog, TEXT("purge_old"), &count);
    cr_assert_eq(count, 2);
    for (size_t i = 0; i < count; i++)
        if (functions[i].argument_count == 2) {
            cr_expect_eq(functions[i].arguments_required, 1);
            cr_expect_eq(functions[i].argument_types[0], 1184);
            cr_expect_eq(functions[i].argument_types[1], 16);
        }
    cr_expect_eq(catalog_functions(catalog, TEXT("do_purge"), &count)->kind, 'p');
    cr_expect_eq(catalog_functions(catalog, TEXT("evil_sum"), &count)->kind, 'a');
    catalog_functions(catalog, TEXT("lower"), &count);
    cr_expect_eq(count, 1);

    const struct operator* operators = catalog_operators(catalog, TEXT("==="), &count);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(function_name(operators[0].function), "log_it2");
    cr_expect_eq(operators[0].left, 23);
    cr_expect_eq(operators[0].result, 16);
    catalog_builtin_operators(catalog, TEXT("="), &count);
    cr_expect_gt(count, 50);
    cr_expect(catalog_casts_implicitly(catalog, 23, 20));
    cr_expect_not(catalog_casts_implicitly(catalog, 20, 23));

    const struct cast *casts = catalog_casts(catalog, &count);
    const struct type *boom = catalog_type(catalog, TEXT("shop"), TEXT("boom"));
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (casts[i].source == 23 && casts[i].target == boom->oid)
            found += strcmp(function_name(casts[i].function), "to_boom") == 0;
    cr_expect_eq(found, 1);
    cr_expect_eq(boom->kind, 'c');
    cr_expect_eq(boom->relation, relation("shop", "boom")->oid);

    const struct type *domain = catalog_type(catalog, TEXT("shop"), TEXT("evil_dom"));
    cr_expect_eq(domain->kind, 'd');
    cr_expect_eq(domain->base, 23);
    cr_assert_eq(domain->check_function_count, 1);
    cr_expect_str_eq(function_name(domain->check_functions[0]), "dom_ok");
}

Test(shop, has_the_system_schemas_but_no_toast)
{
    cr_expect(catalog_has_schema(catalog, TEXT("pg_catalog")));
    cr_expect(catalog_has_schema(catalog, TEXT("information_schema")));
    cr_expect(catalog_has_schema(catalog, TEXT("hr")));
    cr_expect_not(catalog_has_schema(catalog, TEXT("pg_toast")));
    cr_expect_eq(relation("pg_catalog", "pg_class")->oid, 1259);
    cr_expect_not_null(relation_column(relation("pg_catalog", "pg_authid"), TEXT("rolpassword")));
    cr_expect_eq(relation("information_schema", "tables")->kind, 'v');
    cr_expect_eq(catalog_type_by_oid(catalog, 23)->kind, 'b');
    cr_expect_not(catalog_type_by_oid(catalog, 23)->user_input);
    cr_expect_str_eq(function_name(1299), "now");
    cr_expect_geq(catalog_server_version(catalog), 140000);
    cr_expect_gt(catalog_taken(catalog).us, 0);
}

/* --- special cases -------------------------------------------------------------------------- */

static char database[64];

static const char special_schema[] =
    "CREATE SCHEMA s;"
    "CREATE FUNCTION s.yes(int) RETURNS bool LANGUAGE sql AS 'SELECT true';"
    "CREATE FUNCTION s.yes(text) RETURNS bool LANGUAGE sql AS 'SELECT true';"
    "CREATE FUNCTION s.both(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true';"
    "CREATE FUNCTION s.many(a int, VARIADIC b text[] DEFAULT '{}') RETURNS SETOF int"
    "  LANGUAGE sql AS 'SELECT 1';"
    "CREATE OPERATOR s.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = s.both);"
    "CREATE OPERATOR s.### (LEFTARG = int, RIGHTARG = int, FUNCTION = int4pl);"
    "CREATE DOMAIN s.checked AS int CHECK (s.yes(VALUE));"
    "CREATE DOMAIN s.by_operator AS int CHECK (VALUE OPERATOR(s.===) 1);"
    "CREATE DOMAIN s.over AS s.checked CHECK (VALUE > 0);"
    "CREATE DOMAIN s.casting AS int CHECK ((VALUE::s.checked) > 0);"
    "CREATE DOMAIN s.harmless AS text CHECK (VALUE <> '');"
    "CREATE DOMAIN s.arrays AS s.checked[];"
    "CREATE TYPE s.colour AS ENUM ('red');"
    "CREATE TYPE s.span AS RANGE (subtype = int, multirange_type_name = s.spans);"
    "CREATE TYPE s.pair AS (a int, b s.checked);"
    "CREATE TABLE s.keys (a int, b text, c varchar(9), d s.harmless, e char(3), f s.colour,"
    "  g int[], h s.span, i cidr, j text COLLATE \"C\", k int, l int, m int, n int, o int, p text);"
    "CREATE UNIQUE INDEX ON s.keys (a, b);"
    "CREATE UNIQUE INDEX ON s.keys (c); CREATE UNIQUE INDEX ON s.keys (d);"
    "CREATE UNIQUE INDEX ON s.keys (e); CREATE UNIQUE INDEX ON s.keys (f);"
    "CREATE UNIQUE INDEX ON s.keys (g); CREATE UNIQUE INDEX ON s.keys (h);"
    "CREATE UNIQUE INDEX ON s.keys (i); CREATE UNIQUE INDEX ON s.keys (j);"
    "CREATE UNIQUE INDEX ON s.keys (k) INCLUDE (l);"
    "CREATE TABLE s.no_keys (LIKE s.keys);"
    "CREATE UNIQUE INDEX ON s.no_keys (a) WHERE b IS NULL;"
    "CREATE UNIQUE INDEX ON s.no_keys ((a + 1));"
    "CREATE UNIQUE INDEX ON s.no_keys (a, (k + 1));"
    "CREATE UNIQUE INDEX ON s.no_keys (b COLLATE \"C\");"
    "CREATE UNIQUE INDEX ON s.no_keys (p text_pattern_ops);"
    "CREATE UNIQUE INDEX ON s.no_keys (c bpchar_ops);"
    "CREATE INDEX ON s.no_keys (k);"
    "ALTER TABLE s.no_keys ADD UNIQUE (l) DEFERRABLE, ADD UNIQUE (m) DEFERRABLE INITIALLY DEFERRED,"
    "  ADD EXCLUDE USING btree (n WITH =);"
    "CREATE TABLE s.parent (x int, y int, PRIMARY KEY (y, x));"
    "CREATE TABLE s.child (id int PRIMARY KEY, a int, b int,"
    "  CONSTRAINT c1 FOREIGN KEY (a, b) REFERENCES s.parent (x, y) ON DELETE SET NULL"
    "    ON UPDATE CASCADE,"
    "  CONSTRAINT c2 FOREIGN KEY (a, b) REFERENCES s.parent (x, y) ON DELETE SET DEFAULT"
    "    ON UPDATE RESTRICT);"
    "CREATE TABLE s.parts (id int, v text, PRIMARY KEY (id)) PARTITION BY RANGE (id);"
    "CREATE TABLE s.parts_low PARTITION OF s.parts FOR VALUES FROM (0) TO (10)"
    "  PARTITION BY RANGE (id);"
    "CREATE TABLE s.parts_low_1 PARTITION OF s.parts_low FOR VALUES FROM (0) TO (5);"
    "CREATE TABLE s.parts_high PARTITION OF s.parts FOR VALUES FROM (10) TO (20);"
    "CREATE TABLE s.list (v text) PARTITION BY LIST (v);"
    "CREATE TABLE s.list_rest PARTITION OF s.list DEFAULT;"
    "CREATE TABLE s.other_parent (z int);"
    "CREATE TABLE s.heir (w int) INHERITS (s.parent, s.other_parent);"
    "CREATE TABLE s.columns (a int, b int, c int GENERATED ALWAYS AS (1) STORED,"
    "  d int GENERATED BY DEFAULT AS IDENTITY, \"E e\" text, \"\xc3\xa4\" text);"
    "ALTER TABLE s.columns DROP COLUMN a;"
    "CREATE TABLE s.never_analysed (a int);"
    "CREATE UNLOGGED TABLE s.unlogged (a int);"
    "CREATE TABLE s.secure (a int); ALTER TABLE s.secure ENABLE ROW LEVEL SECURITY;"
    "CREATE TABLE s.base (a int, b text, c s.checked);";

static const char special_views[] =
    "CREATE VIEW s.v_columns AS SELECT a FROM s.base WHERE b <> '';"
    "CREATE VIEW s.v_count AS SELECT count(*) FROM s.base;"
    "CREATE VIEW s.v_whole AS SELECT x.a, to_jsonb(x) AS j FROM s.base x;"
    "CREATE VIEW s.v_whole_only AS SELECT x FROM s.base x;"
    "CREATE VIEW s.v_system AS SELECT ctid FROM s.base;"
    "CREATE VIEW s.v_over AS SELECT a FROM s.v_columns;"
    "CREATE VIEW s.v_secret AS SELECT rolname, rolpassword FROM pg_authid;"
    "CREATE VIEW s.v_exists AS SELECT 1 AS one WHERE EXISTS (SELECT FROM s.base WHERE b = 'x');"
    "CREATE VIEW s.v_join AS SELECT a, b, x.c, y.p FROM s.base x JOIN s.keys y USING (a, b);"
    "CREATE VIEW s.v_function AS SELECT s.yes(a) FROM s.base;"
    "CREATE VIEW s.v_operator AS SELECT a OPERATOR(s.===) a AS q FROM s.base;"
    "CREATE VIEW s.v_domain AS SELECT a::s.over FROM s.base;"
    "CREATE VIEW s.v_guarded AS SELECT pg_read_file('x'), lower(b) FROM s.base;"
    "CREATE VIEW s.v_set AS SELECT * FROM pg_ls_dir('.') d;"
    "CREATE MATERIALIZED VIEW s.mv AS SELECT b FROM s.base;"
    "CREATE FUNCTION s.trigger_function() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END';"
    "CREATE TRIGGER t INSTEAD OF INSERT ON s.v_columns FOR EACH ROW"
    "  EXECUTE FUNCTION s.trigger_function();"
    "CREATE EXTENSION citext SCHEMA s;";

static const char *special_string(void)
{
    char keyword[80];
    snprintf(keyword, sizeof keyword, "dbname=%s", database);
    return with(admin_string(), keyword);
}

static void load_special(void)
{
    char sql[128];
    snprintf(database, sizeof database, "pgwicket_catalog_%ld", (long)getpid());
    snprintf(sql, sizeof sql, "CREATE DATABASE %s TEMPLATE template0", database);
    admin_run(admin_string(), sql);
    admin_run(special_string(), special_schema);
    admin_run(special_string(), special_views);
    load(special_string());
}

static void drop_special(void)
{
    char sql[128];
    catalog_release(catalog);
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS %s WITH (FORCE)", database);
    admin_run(admin_string(), sql);
}

TestSuite(special, .init = load_special, .fini = drop_special);

Test(special, keys_are_only_those_that_prove_a_row)
{
    cr_expect_str_eq(keys_of("s", "keys"), "a b; c; d; e; f; g; h; i; j; k");
    cr_expect_str_eq(keys_of("s", "no_keys"), "");
    cr_expect_str_eq(keys_of("s", "parent"), "y x");
    cr_expect_str_eq(keys_of("s", "parts"), "id");
}

Test(special, foreign_keys_keep_order_and_actions)
{
    const struct relation *parent = relation("s", "parent");
    cr_assert_eq(parent->referenced_by_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct foreign_key *key = &parent->referenced_by[i];
        bool first = text_is(key->name, "c1");
        cr_expect_eq(key->child, relation("s", "child")->oid);
        cr_expect_eq(key->on_delete, first ? 'n' : 'd');
        cr_expect_eq(key->on_update, first ? 'c' : 'r');
        cr_assert_eq(key->column_count, 2);
        cr_expect_eq(key->parent_columns[0], 1);
        cr_expect_eq(key->parent_columns[1], 2);
        cr_expect_eq(key->child_columns[0], 2);
        cr_expect_eq(key->child_columns[1], 3);
    }
}

Test(special, partitions_and_heirs_have_their_parents)
{
    struct arena arena;
    arena_init(&arena);
    size_t count = 0;
    catalog_children(catalog, &arena, relation("s", "parts"), &count);
    cr_expect_eq(count, 3);
    cr_expect_eq(relation("s", "parts")->kind, 'p');
    cr_expect(relation("s", "parts")->has_children);
    cr_expect_not(relation("s", "parts")->is_partition);
    cr_expect(relation("s", "parts_low_1")->is_partition);
    cr_expect_not(relation("s", "parts_low_1")->has_children);
    cr_expect_not(relation("s", "parts")->has_default_partition);
    cr_expect(relation("s", "list")->has_default_partition);

    const struct relation *heir = relation("s", "heir");
    cr_assert_eq(heir->parent_count, 2);
    cr_expect_eq(heir->parents[0], relation("s", "parent")->oid);
    cr_expect_eq(heir->parents[1], relation("s", "other_parent")->oid);
    cr_expect_not(heir->is_partition);
    cr_expect(relation("s", "other_parent")->has_children);
    arena_release(&arena);
}

Test(special, columns_leave_dropped_ones_out)
{
    const struct relation *columns = relation("s", "columns");
    cr_assert_eq(columns->column_count, 5);
    cr_expect_null(relation_column(columns, TEXT("a")));
    cr_expect_eq(relation_column(columns, TEXT("b"))->number, 2);
    cr_expect(relation_column(columns, TEXT("c"))->generated);
    cr_expect(relation_column(columns, TEXT("d"))->identity);
    cr_expect_not(relation_column(columns, TEXT("d"))->generated);
    cr_expect_not_null(relation_column(columns, TEXT("E e")));
    cr_expect_not_null(relation_column(columns, TEXT("\xc3\xa4")));
    cr_expect_lt(relation("s", "never_analysed")->rows, 0);
    cr_expect_eq(relation("s", "unlogged")->persistence, 'u');
    cr_expect(relation("s", "secure")->row_security);
    cr_expect(relation("s", "v_columns")->has_triggers);
}

Test(special, views_tell_columns_whole_rows_and_system_tables)
{
    static const struct {
        const char *view, *sources;
    } expected[] = {
        {"v_columns", "base.a base.b"},
        {"v_count", "base.#"},
        {"v_whole", "base.a base.*"},
        {"v_whole_only", "base.# base.*"},
        {"v_system", "base.system"},
        {"v_over", "v_columns.a"},
        {"v_secret", "pg_authid.*"},
        {"v_exists", "base.b"},
        {"mv", "base.b"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        cr_expect_str_eq(sources_of("s", expected[i].view), expected[i].sources, "%s: %s",
                         expected[i].view, sources_of("s", expected[i].view));
    const char *joined = sources_of("s", "v_join");
    cr_expect_not_null(strstr(joined, "base.c"), "%s", joined);
    cr_expect_not_null(strstr(joined, "keys.p"), "%s", joined);
}

Test(special, views_tell_the_functions_they_call)
{
    static const struct {
        const char *view, *functions;
    } expected[] = {
        {"v_columns", ""},   {"v_function", "yes"},         {"v_operator", "both"},
        {"v_domain", "yes"}, {"v_guarded", "pg_read_file"}, {"v_set", "pg_ls_dir"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        cr_expect_str_eq(functions_of(expected[i].view), expected[i].functions, "%s: %s",
                         expected[i].view, functions_of(expected[i].view));
}

Test(special, domains_tell_the_functions_of_their_checks)
{
    static const struct {
        const char *domain, *functions;
    } expected[] = {
        {"checked", "yes"}, {"by_operator", "both"}, {"over", "yes"},
        {"casting", "yes"}, {"harmless", ""},        {"arrays", "yes"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
        cr_expect_str_eq(checks_of(expected[i].domain), expected[i].functions, "%s: %s",
                         expected[i].domain, checks_of(expected[i].domain));
    cr_expect_eq(type("over")->base, type("checked")->oid);
}

Test(special, types_tell_kind_and_base)
{
    cr_expect_eq(type("colour")->kind, 'e');
    cr_expect_eq(type("span")->kind, 'r');
    cr_expect_eq(type("span")->base, 23);
    cr_expect_eq(type("spans")->kind, 'm');
    cr_expect_eq(type("spans")->base, 23);
    cr_expect(type("_colour")->is_array);
    cr_expect_eq(type("_colour")->base, type("colour")->oid);
    cr_expect_eq(type("pair")->kind, 'c');
    cr_expect_not(type("pair")->user_input);
    cr_expect(type("citext")->user_input);
    cr_expect_eq(type("citext")->base, 0);
    cr_expect_eq(type("base")->relation, relation("s", "base")->oid);
}

Test(special, functions_tell_their_arguments)
{
    size_t count = 0;
    const struct function *many = catalog_functions(catalog, TEXT("many"), &count);
    cr_assert_eq(count, 1);
    cr_expect_eq(many->argument_count, 2);
    cr_expect_eq(many->arguments_required, 1);
    cr_expect(many->variadic);
    cr_expect(many->returns_set);
    cr_expect_eq(many->result_type, 23);
    cr_expect_eq(many->argument_types[1], 1009);
    catalog_functions(catalog, TEXT("yes"), &count);
    cr_expect_eq(count, 2);
    const struct operator* op = catalog_operators(catalog, TEXT("###"), &count);
    cr_assert_eq(count, 1);
    cr_expect_str_eq(function_name(op->function), "int4pl");
}

/* --- the loader ----------------------------------------------------------------------------- */

Test(loader, leaves_out_other_sessions_temporary_tables)
{
    PGconn *session = PQconnectdb(admin_string());
    PQclear(PQexec(session, "CREATE TEMP TABLE pgwicket_temporary (a int)"));
    PGresult *result = PQexec(session, "SELECT 'pgwicket_temporary'::regclass::oid, "
                                       "pg_my_temp_schema()::regnamespace");
    int64_t oid = 0;
    cr_assert(text_to_int64(text_from(PQgetvalue(result, 0, 0)), &oid));
    load(agent_string());
    cr_expect_null(catalog_relation_by_oid(catalog, (uint32_t)oid));
    cr_expect_not(catalog_has_schema(catalog, text_from(PQgetvalue(result, 0, 1))));
    PQclear(result);
    PQfinish(session);
    release();
}

Test(loader, is_not_fooled_by_objects_on_the_path_or_settings_of_the_role)
{
    admin_run(admin_string(), "CREATE ROLE pgwicket_fooled LOGIN PASSWORD 'x';"
                              "CREATE SCHEMA pgwicket_fool AUTHORIZATION pgwicket_fooled;"
                              "CREATE VIEW pgwicket_fool.pg_class AS SELECT 1 AS oid;"
                              "CREATE FUNCTION pgwicket_fool.eq(name, text) RETURNS bool LANGUAGE"
                              "  sql AS 'SELECT 1/0 = 1';"
                              "CREATE OPERATOR pgwicket_fool.<> (LEFTARG = name, RIGHTARG = text,"
                              "  FUNCTION = pgwicket_fool.eq);"
                              "ALTER ROLE pgwicket_fooled SET search_path = pgwicket_fool");
    load(with(agent_string(), "user=pgwicket_fooled password=x"));
    cr_expect_not_null(catalog_relation(catalog, TEXT("shop"), TEXT("orders")));
    release();
    admin_run(admin_string(), "DROP SCHEMA pgwicket_fool CASCADE; DROP ROLE pgwicket_fooled");
}

Test(loader, sees_changes_and_connects_again)
{
    char problem[256] = "";
    struct catalog_loader *loader = catalog_loader_new(admin_string());
    struct catalog *first = catalog_loader_load(loader, problem, sizeof problem);
    cr_assert_not_null(first, "%s", problem);
    admin_run(admin_string(), "CREATE SCHEMA pgwicket_new");
    struct catalog *second = catalog_loader_load(loader, problem, sizeof problem);
    cr_assert_not_null(second, "%s", problem);
    cr_expect_not(catalog_has_schema(first, TEXT("pgwicket_new")));
    cr_expect(catalog_has_schema(second, TEXT("pgwicket_new")));
    cr_expect_gt(catalog_taken(second).us, catalog_taken(first).us);

    admin_run(admin_string(), "DROP SCHEMA pgwicket_new; "
                              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                              "WHERE application_name = 'pgwicket catalog'");
    struct catalog *third = catalog_loader_load(loader, problem, sizeof problem);
    cr_assert_not_null(third, "%s", problem);
    cr_expect_not(catalog_has_schema(third, TEXT("pgwicket_new")));
    catalog_release(first);
    catalog_release(second);
    catalog_release(third);
    catalog_loader_free(loader);
}

Test(loader, says_why_it_cannot_connect_without_the_password)
{
    static const char *const broken[] = {"port=1", "password=hush", "dbname=nowhere",
                                         "password=hush hush"};
    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        char problem[256] = "";
        struct catalog_loader *loader = catalog_loader_new(with(agent_string(), broken[i]));
        cr_expect_null(catalog_loader_load(loader, problem, sizeof problem));
        cr_expect_neq(problem[0], '\0');
        cr_expect_null(strstr(problem, "hush"), "%s", problem);
        cr_expect_null(strstr(problem, "agent-password"), "%s", problem);
        cr_expect_null(strchr(problem, '\n'));
        struct upstream_facts facts;
        cr_expect_not(catalog_loader_facts(loader, &facts, problem, sizeof problem));
        catalog_loader_free(loader);
    }
    catalog_loader_free(NULL);
}

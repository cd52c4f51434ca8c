/* builtins_test.c - the reviewed tables are read whole, and look-ups answer strictly. */
#include "parser/builtins.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>

static struct builtin_function function(const char *name)
{
    return builtin_function(text_from(name));
}

static struct builtin_setting setting(const char *name)
{
    return builtin_setting(text_from(name));
}

static bool column_open(const char *relation, const char *column)
{
    return builtin_catalog_column_open(TEXT("pg_catalog"), text_from(relation), text_from(column));
}

Test(builtins, function_totals_are_those_that_were_reviewed)
{
    struct builtin_totals totals = builtin_totals();

    cr_expect_eq(totals.functions_harmless, 1954);
    cr_expect_eq(totals.functions_catalog, 178);
    cr_expect_eq(totals.functions_guarded, 1113);
    cr_expect_eq(totals.functions_outside, 91);
}

Test(builtins, setting_totals_are_those_that_were_reviewed)
{
    struct builtin_totals totals = builtin_totals();

    cr_expect_eq(totals.settings_never, 343);
    cr_expect_eq(totals.settings_harmless, 21);
    cr_expect_eq(totals.settings_pinned, 5);
    cr_expect_eq(totals.settings_down_only, 4);
    cr_expect_eq(totals.settings_readable, 52);
}

Test(builtins, catalog_totals_are_those_that_were_reviewed)
{
    struct builtin_totals totals = builtin_totals();

    cr_expect_eq(totals.catalog_columns_open, 1107);
    cr_expect_eq(totals.catalog_relations, 208);
}

Test(builtins, libraries_are_those_that_were_reviewed)
{
    static const char *const unknown[] = {"", "plpgsql", "dblink", "refint", "lo", "tablefunc", "pgcrypto.so", "PGCRYPTO"};
    cr_expect_eq(builtin_totals().libraries, 17);
    cr_expect(builtin_library(TEXT("uuid-ossp")).known);
    cr_expect_not(builtin_library(TEXT("uuid-ossp")).sets);
    cr_expect(builtin_library(TEXT("pg_trgm")).sets);
    for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
        cr_expect_not(builtin_library(text_from(unknown[i])).known, "%s", unknown[i]);
}

Test(builtins, functions_have_their_class_by_name)
{
    static const struct {
        const char *name;
        enum function_class strictest, mildest;
        bool outside;
    } cases[] = {
        {"now", FUNCTION_HARMLESS, FUNCTION_HARMLESS, false},
        {"abs", FUNCTION_HARMLESS, FUNCTION_HARMLESS, false},
        {"count", FUNCTION_HARMLESS, FUNCTION_HARMLESS, false},
        {"char", FUNCTION_HARMLESS, FUNCTION_HARMLESS, false},
        {"current_user", FUNCTION_HARMLESS, FUNCTION_HARMLESS, false},
        {"pg_get_userbyid", FUNCTION_CATALOG, FUNCTION_CATALOG, false},
        {"pg_read_file", FUNCTION_GUARDED, FUNCTION_GUARDED, false},
        {"query_to_xml", FUNCTION_GUARDED, FUNCTION_GUARDED, true},
        {"nextval", FUNCTION_GUARDED, FUNCTION_GUARDED, true},
        {"ts_rewrite", FUNCTION_GUARDED, FUNCTION_HARMLESS, true},
        {"pg_advisory_unlock_all", FUNCTION_HARMLESS, FUNCTION_HARMLESS, true},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct builtin_function found = function(cases[i].name);

        cr_expect_eq(found.strictest, cases[i].strictest, "%s: %d", cases[i].name, found.strictest);
        cr_expect_eq(found.mildest, cases[i].mildest, "%s: %d", cases[i].name, found.mildest);
        cr_expect_eq(found.outside, cases[i].outside, "%s", cases[i].name);
    }
}

Test(builtins, reason_is_that_of_the_strictest_overload)
{
    cr_expect(text_is(function("pg_read_file").reason, "reads files"));
    cr_expect(text_is(function("ts_rewrite").reason, "runs sql"));
}

Test(builtins, unlisted_functions_are_unknown)
{
    static const char *const names[] = {
        "", "NOW", "no", "nowx", "\"char\"", "pg_catalog.now", "_pg_truetypid"};

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        cr_expect_eq(function(names[i]).strictest, FUNCTION_UNKNOWN, "%s", names[i]);
}

Test(builtins, information_schema_functions_are_apart)
{
    cr_expect_eq(builtin_information_schema_function(TEXT("_pg_truetypid")).strictest,
                 FUNCTION_CATALOG);
    cr_expect_eq(builtin_information_schema_function(TEXT("now")).strictest, FUNCTION_UNKNOWN);
}

Test(builtins, signatures_tell_overloads_apart)
{
    cr_expect_eq(builtin_signature_class(TEXT("abs(integer)")), FUNCTION_HARMLESS);
    cr_expect_eq(builtin_signature_class(TEXT("\"char\"(integer)")), FUNCTION_HARMLESS);
    cr_expect_eq(builtin_signature_class(TEXT("ts_rewrite(tsquery,text)")), FUNCTION_GUARDED);
    cr_expect_eq(builtin_signature_class(TEXT("ts_rewrite(tsquery,tsquery,tsquery)")),
                 FUNCTION_HARMLESS);
    cr_expect_eq(
        builtin_signature_class(TEXT("information_schema._pg_truetypid(pg_attribute,pg_type)")),
        FUNCTION_CATALOG);
    cr_expect_eq(builtin_signature_class(TEXT("abs(text)")), FUNCTION_UNKNOWN);
    cr_expect_eq(builtin_signature_class(TEXT("abs")), FUNCTION_UNKNOWN);
}

Test(builtins, settings_have_their_class)
{
    static const struct {
        const char *name;
        enum setting_class class;
        bool known, readable, reported;
    } cases[] = {
        {"application_name", SETTING_HARMLESS, true, true, true},
        {"timezone", SETTING_HARMLESS, true, true, true},
        {"datestyle", SETTING_HARMLESS, true, true, true},
        {"statement_timeout", SETTING_DOWN_ONLY, true, true, false},
        {"search_path", SETTING_PINNED, true, true, false},
        {"client_encoding", SETTING_PINNED, true, true, true},
        {"role", SETTING_NEVER, true, false, false},
        {"hba_file", SETTING_NEVER, true, false, false},
        {"server_version", SETTING_NEVER, true, true, true},
        {"session_replication_role", SETTING_NEVER, true, false, false},
        {"app.tenant", SETTING_NEVER, false, false, false},
        {"TimeZone", SETTING_NEVER, false, false, false},
        {"time zone", SETTING_NEVER, false, false, false},
        {"names", SETTING_NEVER, false, false, false},
        {"*.*", SETTING_NEVER, false, false, false},
        {"", SETTING_NEVER, false, false, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct builtin_setting found = setting(cases[i].name);

        cr_expect_eq(found.class, cases[i].class, "%s: %d", cases[i].name, found.class);
        cr_expect_eq(found.known, cases[i].known, "%s", cases[i].name);
        cr_expect_eq(found.readable, cases[i].readable, "%s", cases[i].name);
        cr_expect_eq(found.reported, cases[i].reported, "%s", cases[i].name);
    }
}

Test(builtins, catalog_columns_are_closed_unless_listed_open)
{
    static const struct {
        const char *relation, *column;
        bool open;
    } cases[] = {
        {"pg_class", "relname", true},
        {"pg_class", "tableoid", true},
        {"pg_class", "reltuples", false},
        {"pg_class", "xmin", false},
        {"pg_class", "ctid", false},
        {"pg_class", "nosuch", false},
        {"pg_class", "*", false},
        {"pg_proc", "prosrc", false},
        {"pg_authid", "rolname", false},
        {"pg_authid", "tableoid", false},
        {"pg_settings", "setting", false},
        {"pg_settings", "name", false},
        {"pg_statistic", "starelid", false},
        {"nosuch", "oid", false},
        {"*", "tableoid", false},
        {"", "", false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_eq(column_open(cases[i].relation, cases[i].column), cases[i].open, "%s.%s",
                     cases[i].relation, cases[i].column);
}

Test(builtins, catalog_columns_are_looked_up_in_their_schema)
{
    cr_expect(builtin_catalog_column_open(TEXT("information_schema"), TEXT("tables"),
                                          TEXT("table_name")));
    cr_expect_not(
        builtin_catalog_column_open(TEXT("pg_catalog"), TEXT("tables"), TEXT("table_name")));
    cr_expect_not(builtin_catalog_column_open(TEXT("shop"), TEXT("pg_class"), TEXT("relname")));
    cr_expect_not(
        builtin_catalog_column_open(TEXT(""), TEXT("pg_catalog.pg_class"), TEXT("relname")));
    cr_expect(builtin_catalog_relation_known(TEXT("pg_catalog"), TEXT("pg_authid")));
    cr_expect_not(builtin_catalog_relation_known(TEXT("pg_catalog"), TEXT("orders")));
}

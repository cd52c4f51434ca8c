/* facts_test.c - powers of a login, found whichever way it has them. */
#include "proxy/upstream/catalog_load.h"

#include "unit/upstream/support.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct upstream_facts facts_of(const char *connection_string)
{
    struct upstream_facts facts;
    char problem[256] = "";
    struct catalog_loader *loader = catalog_loader_new(connection_string);
    cr_assert(catalog_loader_facts(loader, &facts, problem, sizeof problem), "%s", problem);
    catalog_loader_free(loader);
    return facts;
}

Test(facts, a_plain_login_has_no_powers)
{
    struct upstream_facts facts = facts_of(agent_string());
    cr_expect_eq(facts.risks, 0);
    cr_expect_str_eq(facts.role, "agent");
    cr_expect_str_eq(facts.database, "shop");
    cr_expect_str_eq(facts.default_transaction_isolation, "read committed");
    cr_expect(facts.encoding_is_utf8);
    cr_expect(facts.track_counts);
    cr_expect(facts.standard_conforming_strings);
    cr_expect_not(facts.in_recovery);
    cr_expect_geq(facts.server_version, 140000);
}

Test(facts, a_superuser_is_told_by_its_own_attributes)
{
    cr_expect_eq(facts_of(admin_string()).risks,
                 UPSTREAM_RISK_SUPERUSER | UPSTREAM_RISK_REPLICATION | UPSTREAM_RISK_BYPASSRLS);
}

Test(facts, powers_within_reach_of_set_role_count)
{
    static const struct {
        const char *setup;
        unsigned risks;
    } cases[] = {
        {"ALTER ROLE pgwicket_facts REPLICATION", UPSTREAM_RISK_REPLICATION},
        {"ALTER ROLE pgwicket_facts BYPASSRLS", UPSTREAM_RISK_BYPASSRLS},
        {"GRANT pg_read_server_files TO pgwicket_facts", UPSTREAM_RISK_FILE_ACCESS},
        {"GRANT pg_write_server_files TO pgwicket_facts", UPSTREAM_RISK_FILE_ACCESS},
        {"GRANT pg_execute_server_program TO pgwicket_facts", UPSTREAM_RISK_FILE_ACCESS},
        {"ALTER ROLE pgwicket_facts NOINHERIT; GRANT pgwicket_group TO pgwicket_facts;"
         "GRANT pg_read_server_files TO pgwicket_group",
         UPSTREAM_RISK_FILE_ACCESS},
        {"ALTER ROLE pgwicket_group SUPERUSER; GRANT pgwicket_group TO pgwicket_facts",
         UPSTREAM_RISK_SUPERUSER},
        {"GRANT pg_monitor TO pgwicket_facts", 0},
        {"GRANT CREATE ON SCHEMA pg_catalog TO pgwicket_facts", UPSTREAM_RISK_SUPERUSER},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        admin_run(admin_string(), "DROP ROLE IF EXISTS pgwicket_facts, pgwicket_group;"
                                  "CREATE ROLE pgwicket_facts LOGIN PASSWORD 'x';"
                                  "CREATE ROLE pgwicket_group");
        admin_run(admin_string(), cases[i].setup);
        struct upstream_facts facts =
            facts_of(with(agent_string(), "user=pgwicket_facts password=x"));
        cr_expect_eq(facts.risks, cases[i].risks, "%s: %u", cases[i].setup, facts.risks);
    }
    admin_run(admin_string(), "REVOKE CREATE ON SCHEMA pg_catalog FROM pgwicket_facts;"
                              "DROP ROLE pgwicket_facts, pgwicket_group");
}

Test(facts, settings_of_the_database_show)
{
    admin_run(admin_string(), "CREATE ROLE pgwicket_settings LOGIN PASSWORD 'x'");
    admin_run(admin_string(),
              "ALTER ROLE pgwicket_settings SET standard_conforming_strings = off;"
              "ALTER ROLE pgwicket_settings SET default_transaction_isolation = 'serializable';"
              "ALTER ROLE pgwicket_settings SET track_counts = off");
    struct upstream_facts facts =
        facts_of(with(agent_string(), "user=pgwicket_settings password=x"));
    cr_expect_not(facts.standard_conforming_strings);
    cr_expect_not(facts.track_counts);
    cr_expect_str_eq(facts.default_transaction_isolation, "serializable");
    admin_run(admin_string(), "DROP ROLE pgwicket_settings");
}

/*
 * facts.c - what must be known of a database and its login before agents may use it.
 *
 * A power counts if the login has it, or can get it by SET ROLE: memberships are followed by hand,
 * because pg_has_role says yes to everything for a superuser. Who may create in pg_catalog counts as a
 * superuser: parser/ takes what is found there for the server's own.
 */
#include "proxy/upstream/loader.h"

#include <stdio.h>
#include <string.h>

static const char facts_query[] =
    "WITH RECURSIVE reachable(oid) AS ("
    "  SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname IN (session_user, current_user)"
    "  UNION"
    "  SELECT m.roleid FROM pg_catalog.pg_auth_members m JOIN reachable ON m.member = reachable.oid"
    ") "
    "SELECT bool_or(r.rolsuper OR pg_catalog.has_schema_privilege(r.oid, 'pg_catalog', 'CREATE')), "
    "  bool_or(r.rolreplication), bool_or(r.rolbypassrls), "
    "  bool_or(r.rolname IN ('pg_read_server_files', 'pg_write_server_files', "
    "    'pg_execute_server_program')), "
    "  current_setting('server_encoding') = 'UTF8', current_setting('track_counts') = 'on', "
    "  current_setting('standard_conforming_strings') = 'on', pg_is_in_recovery(), "
    "  current_database(), session_user, current_setting('default_transaction_isolation') "
    "FROM pg_catalog.pg_roles r JOIN reachable USING (oid)";

static bool is_true(const PGresult *result, int column)
{
    return PQgetvalue(result, 0, column)[0] == 't';
}

static void copy_value(char *out, size_t size, const PGresult *result, int column)
{
    snprintf(out, size, "%s", PQgetvalue(result, 0, column));
}

static void read_facts(struct upstream_facts *facts, const PGresult *result)
{
    static const unsigned risks[] = {UPSTREAM_RISK_SUPERUSER, UPSTREAM_RISK_REPLICATION,
                                     UPSTREAM_RISK_BYPASSRLS, UPSTREAM_RISK_FILE_ACCESS};
    for (size_t i = 0; i < ARRAY_SIZE(risks); i++)
        if (is_true(result, (int)i))
            facts->risks |= risks[i];
    facts->encoding_is_utf8 = is_true(result, 4);
    facts->track_counts = is_true(result, 5);
    facts->standard_conforming_strings = is_true(result, 6);
    facts->in_recovery = is_true(result, 7);
    copy_value(facts->database, sizeof facts->database, result, 8);
    copy_value(facts->role, sizeof facts->role, result, 9);
    copy_value(facts->default_transaction_isolation, sizeof facts->default_transaction_isolation,
               result, 10);
}

bool catalog_loader_facts(struct catalog_loader *loader, struct upstream_facts *facts,
                          char *problem, size_t problem_size)
{
    *facts = (struct upstream_facts){0};
    if (!loader_connect(loader, problem, problem_size))
        return false;
    PGresult *result = loader_run(loader, facts_query, problem, problem_size);
    if (result == NULL)
        return false;
    facts->server_version = PQserverVersion(loader->connection);
    bool complete = PQntuples(result) == 1 && PQnfields(result) == 11;
    if (complete)
        read_facts(facts, result);
    else
        snprintf(problem, problem_size, "the server's answer about itself has an unexpected form");
    PQclear(result);
    return complete;
}

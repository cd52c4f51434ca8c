/*
 * rights.c - see rights.h.
 *
 * Whether a trigger's function writes cannot be known: what it calls may do anything. A body in
 * PL/pgSQL without the words of any statement, and without a call by qualified name, counts as one
 * that writes nothing; comments and strings are left out in both orders, and the stricter reading
 * wins.
 */
#include "proxy/upstream/rights.h"

#include "proxy/base/limits.h"
#include "proxy/upstream/catalog_rows.h"
#include "proxy/upstream/loader.h"

#include <stdio.h>

static const char role_query[] =
    "SELECT current_user, rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user";

static const char tables_query[] =
    "SELECT c.oid, pg_has_role(c.relowner, 'USAGE'), "
    "  has_any_column_privilege(c.oid, 'SELECT'), has_any_column_privilege(c.oid, 'INSERT'), "
    "  has_any_column_privilege(c.oid, 'UPDATE'), has_table_privilege(c.oid, 'DELETE'), "
    "  has_table_privilege(c.oid, 'TRUNCATE') "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' "
    "  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') "
    "ORDER BY c.oid LIMIT ";

/* Of tgtype: 4 insert, 8 delete, 16 update, 32 truncate. */
static const char triggers_query[] =
    "SELECT t.tgrelid, t.tgname, format('%I.%I()', n.nspname, p.proname), "
    "  n.nspname <> 'pg_catalog' AND (l.lanname <> 'plpgsql' OR EXISTS (SELECT FROM (VALUES "
    "    (regexp_replace(regexp_replace(p.prosrc, '--[^\\n]*|/\\*.*?\\*/', '', 'g'), "
    "       '''[^'']*''', '', 'g')), "
    "    (regexp_replace(regexp_replace(p.prosrc, '''[^'']*''', '', 'g'), "
    "       '--[^\\n]*|/\\*.*?\\*/', '', 'g'))) body(text) "
    "    WHERE body.text ~* '\\m(insert|update|delete|merge|truncate|copy|execute|perform|call|"
    "select|with)\\M|\\w\"?\\.\"?\\w+\"?\\s*\\(')), "
    "  t.tgtype & 4 <> 0, t.tgtype & 8 <> 0, t.tgtype & 16 <> 0, t.tgtype & 32 <> 0 "
    "FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid "
    "JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
    "JOIN pg_catalog.pg_language l ON l.oid = p.prolang "
    "WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') "
    "ORDER BY t.tgrelid, t.tgname LIMIT ";

static void read_role(struct reading *reading, const PGresult *result, struct rights *rights)
{
    reading->failed |= PQntuples(result) != 1;
    if (reading->failed)
        return;
    rights->role = row_text(reading, result, 0, 0);
    rights->superuser = row_bool(result, 0, 1);
}

static void read_tables(struct reading *reading, const PGresult *result, struct rights *rights)
{
    static const enum verb verbs[] = {VERB_SELECT, VERB_INSERT, VERB_UPDATE, VERB_DELETE,
                                      VERB_TRUNCATE};
    size_t count = (size_t)PQntuples(result);
    struct table_rights *tables = arena_array(reading->arena, count, sizeof *tables);
    for (size_t row = 0; row < count; row++) {
        tables[row].relation = row_oid(reading, result, (int)row, 0);
        tables[row].owner = row_bool(result, (int)row, 1);
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
            tables[row].verbs[verbs[i]] = row_bool(result, (int)row, 2 + (int)i);
    }
    rights->tables = tables;
    rights->table_count = count;
}

static void read_rights_triggers(struct reading *reading, const PGresult *result,
                                 struct rights *rights)
{
    static const enum verb verbs[] = {VERB_INSERT, VERB_DELETE, VERB_UPDATE, VERB_TRUNCATE};
    size_t count = (size_t)PQntuples(result);
    struct trigger *triggers = arena_array(reading->arena, count, sizeof *triggers);
    for (size_t row = 0; row < count; row++) {
        triggers[row].relation = row_oid(reading, result, (int)row, 0);
        triggers[row].name = row_text(reading, result, (int)row, 1);
        triggers[row].function = row_text(reading, result, (int)row, 2);
        triggers[row].may_write = row_bool(result, (int)row, 3);
        for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
            triggers[row].verbs[verbs[i]] = row_bool(result, (int)row, 4 + (int)i);
    }
    rights->triggers = triggers;
    rights->trigger_count = count;
}

static bool run(struct catalog_loader *loader, struct reading *reading, struct rights *rights,
                const char *query, bool is_list,
                void (*read)(struct reading *, const PGresult *, struct rights *), char *problem,
                size_t problem_size)
{
    char limit[24];
    snprintf(limit, sizeof limit, "%d", LIMIT_CATALOG_ROWS);
    struct text sql = arena_printf(reading->arena, "%s%s", query, is_list ? limit : "");
    PGresult *result = loader_run(loader, sql.bytes, problem, problem_size);
    if (result == NULL)
        return false;
    read(reading, result, rights);
    PQclear(result);
    if (reading->failed)
        snprintf(problem, problem_size, "the rights in the database have an unexpected form");
    return !reading->failed;
}

bool catalog_loader_rights(struct catalog_loader *loader, struct arena *arena,
                           struct rights *rights, char *problem, size_t problem_size)
{
    struct reading reading = {.arena = arena};
    *rights = (struct rights){0};
    return loader_connect(loader, problem, problem_size) &&
           run(loader, &reading, rights, role_query, false, read_role, problem, problem_size) &&
           run(loader, &reading, rights, tables_query, true, read_tables, problem, problem_size) &&
           run(loader, &reading, rights, triggers_query, true, read_rights_triggers, problem,
               problem_size);
}

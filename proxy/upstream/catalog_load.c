/*
 * catalog_load.c - the queries that make a snapshot, all in one read-only transaction.
 *
 * Each object comes in one bulk query, ordered so that rows find their relation without a lookup of
 * their own. If any query fails, has more than LIMIT_CATALOG_ROWS rows, or a row that makes no
 * sense, there is no snapshot.
 */
#include "proxy/upstream/catalog_load.h"

#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"
#include "proxy/upstream/catalog_rows.h"
#include "proxy/upstream/loader.h"

#include <stdio.h>

enum {
    SERVER_VERSION_MIN = 140000, /* multirange types came with 14 */
    QUERY_BYTES_MAX = 4096,
};

/* PostgreSQL's own objects have oids below. pg_depend knows nothing of what depends on the oldest
 * of them, and of whole-row references, so the node trees of users' views are searched too. */
#define FIRST_USER_OID "16384"

#define BODIES(source) \
    "SELECT p.oid, l.lanname, " source ", l.lanname = 'c' OR (l.lanname = 'internal' " \
    "AND p.prosrc !~ '^(multi)?range_constructor[0-9]$') FROM pg_catalog.pg_proc p " \
    "JOIN pg_catalog.pg_language l ON l.oid = p.prolang " \
    "WHERE p.oid >= " FIRST_USER_OID " ORDER BY p.oid"

/* Operators and casts that come with an extension compare and convert, in C, and do nothing else. */
#define OF_EXTENSION(function) \
    "EXISTS (SELECT FROM pg_catalog.pg_depend e WHERE e.classid = 'pg_catalog.pg_proc'::regclass " \
    "AND e.objid = " function " AND e.deptype = 'e') "

static const struct {
    const char *name;
    void (*read)(struct reading *, const PGresult *);
    const char *sql;
} queries[] = {
    {"readable columns", read_readable,
     "SELECT pg_catalog.has_column_privilege('pg_catalog.pg_proc', 'prosrc', 'SELECT')"},

    {"schemas", read_schemas,
     "SELECT oid, nspname FROM pg_catalog.pg_namespace "
     "WHERE nspname <> 'pg_toast' AND nspname !~ '^pg_(toast_)?temp_' ORDER BY oid"},

    {"closed schemas", read_closed_schemas,
     "SELECT n.nspname, r.rolname, r.rolname = current_user "
     "FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON pg_catalog.pg_has_role(r.oid, 'MEMBER') "
     "WHERE n.nspname <> 'pg_toast' AND n.nspname !~ '^pg_(toast_)?temp_' "
     "  AND NOT pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE')"},

    {"functions", read_functions,
     "SELECT oid, pronamespace, proname, prokind, pronargs, pronargdefaults, "
     "  provariadic <> 0, proargtypes, prorettype, proretset "
     "FROM pg_catalog.pg_proc ORDER BY oid"},

    {"types", read_types,
     "SELECT oid, typnamespace, typname, typtype, typbasetype, typelem, "
     "  typinput = 'pg_catalog.array_in'::regproc, typrelid, typinput::oid, typcategory, typispreferred, "
     "  typarray "
     "FROM pg_catalog.pg_type ORDER BY oid"},

    {"ranges", read_ranges,
     "SELECT rngtypid, rngmultitypid, rngsubtype FROM pg_catalog.pg_range ORDER BY rngtypid"},

    {"domain checks", read_domain_checks,
     "SELECT c.contypid, d.refclassid = 'pg_catalog.pg_type'::regclass, "
     "  coalesce(o.oprcode::oid, d.refobjid) "
     "FROM pg_catalog.pg_constraint c "
     "JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_constraint'::regclass "
     "  AND d.objid = c.oid AND d.deptype = 'n' "
     "LEFT JOIN pg_catalog.pg_operator o ON d.refclassid = 'pg_catalog.pg_operator'::regclass "
     "  AND o.oid = d.refobjid "
     "WHERE c.contypid <> 0 AND d.refclassid IN ('pg_catalog.pg_proc'::regclass, "
     "  'pg_catalog.pg_operator'::regclass, 'pg_catalog.pg_type'::regclass) "
     "ORDER BY c.contypid"},

    {"relations", read_relations,
     "SELECT c.oid, relnamespace, relname, relkind, relpersistence, relispartition, "
     "  relrowsecurity, reltuples, coalesce(p.partdefid, 0) <> 0, p.partexprs IS NOT NULL "
     "FROM pg_catalog.pg_class c "
     "LEFT JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = c.oid "
     "WHERE relkind <> 't' ORDER BY c.oid"},

    {"columns", read_columns,
     "SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.attnotnull, a.attgenerated <> '', "
     "  a.attidentity <> '', a.attcollation "
     "FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
     "WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind NOT IN ('t', 'i', 'I') "
     "ORDER BY a.attrelid, a.attnum"},

    {"operator classes", read_operator_classes,
     "SELECT c.oid, c.opcintype FROM pg_catalog.pg_opclass c "
     "JOIN pg_catalog.pg_am m ON m.oid = c.opcmethod "
     "WHERE c.opcdefault AND m.amname = 'btree' ORDER BY c.oid"},

    {"indexes", read_indexes,
     "SELECT indexrelid, indrelid FROM pg_catalog.pg_index ORDER BY indexrelid"},

    {"indexed columns", read_indexed,
     "SELECT indrelid, array_agg(DISTINCT indkey[0]) FROM pg_catalog.pg_index "
     "WHERE indisvalid AND indpred IS NULL AND indkey[0] > 0 GROUP BY indrelid ORDER BY indrelid"},

    {"keys", read_keys,
     "SELECT i.indrelid, c.relname, i.indisprimary, i.indnkeyatts, i.indkey, i.indclass, "
     "  i.indcollation "
     "FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid "
     "WHERE i.indisunique AND i.indisvalid AND i.indisready AND i.indislive AND i.indimmediate "
     "  AND NOT i.indisexclusion AND i.indpred IS NULL AND i.indexprs IS NULL "
     "ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid"},

    {"foreign keys", read_foreign_keys,
     "SELECT confrelid, conrelid, conname, confdeltype, confupdtype, confkey, conkey "
     "FROM pg_catalog.pg_constraint WHERE contype = 'f' ORDER BY confrelid, oid"},

    {"inheritance", read_parents,
     "SELECT inhrelid, inhparent FROM pg_catalog.pg_inherits ORDER BY inhrelid, inhseqno"},

    {"rules", read_rules,
     "SELECT DISTINCT ev_class FROM pg_catalog.pg_rewrite WHERE ev_type <> '1' ORDER BY ev_class"},

    {"triggers", read_triggers,
     "SELECT tgrelid, tgfoid, tgtype, tgenabled FROM pg_catalog.pg_trigger WHERE NOT tgisinternal "
     "ORDER BY tgrelid"},

    {"event triggers", read_event_triggers,
     "SELECT DISTINCT evtfoid FROM pg_catalog.pg_event_trigger WHERE evtenabled <> 'D'"},

    {"view sources", read_view_sources,
     "SELECT r.ev_class, d.refobjid, d.refobjsubid FROM pg_catalog.pg_rewrite r "
     "JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass "
     "  AND d.objid = r.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass "
     "WHERE r.ev_type = '1' AND r.is_instead AND r.rulename = '_RETURN' AND d.deptype = 'n' "
     "  AND d.refobjid <> r.ev_class "
     "ORDER BY r.ev_class, d.refobjid, d.refobjsubid"},

    {"functions of views", read_view_references,
     "SELECT r.ev_class, d.refclassid = 'pg_catalog.pg_type'::regclass, "
     "  coalesce(o.oprcode::oid, d.refobjid) "
     "FROM pg_catalog.pg_rewrite r "
     "JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass "
     "  AND d.objid = r.oid AND d.deptype = 'n' "
     "LEFT JOIN pg_catalog.pg_operator o ON d.refclassid = 'pg_catalog.pg_operator'::regclass "
     "  AND o.oid = d.refobjid "
     "WHERE r.ev_type = '1' AND d.refclassid IN ('pg_catalog.pg_proc'::regclass, "
     "  'pg_catalog.pg_operator'::regclass, 'pg_catalog.pg_type'::regclass) "
     "ORDER BY r.ev_class"},

    {"definitions of views", read_view_nodes,
     "SELECT ev_class, split_part(field, ' ', 1), split_part(field, ' ', 2) FROM ("
     "  SELECT DISTINCT r.ev_class, m[1] AS field FROM pg_catalog.pg_rewrite r, "
     "    regexp_matches(r.ev_action::text, ':(?:varattno 0|"
     "(?:relid|funcid|opfuncid|aggfnoid|winfnoid) [1-9][0-9]{0,4}) ', 'g') m "
     "  WHERE r.ev_type = '1' AND r.oid >= " FIRST_USER_OID ") fields "
     "ORDER BY ev_class"},

    {"operators", read_operators,
     "SELECT oid, oprnamespace, oprname, oprcode::oid, oprleft, oprright, oprresult, "
     "oprcode >= " FIRST_USER_OID " AND NOT " OF_EXTENSION("oprcode")
     "FROM pg_catalog.pg_operator WHERE oprcode <> 0"},

    {"casts", read_casts,
     "SELECT castsource, casttarget, castfunc, castcontext, " OF_EXTENSION("castfunc")
     "FROM pg_catalog.pg_cast"},

    {"bodies of functions", read_bodies,
     BODIES("CASE WHEN p.proconfig::text LIKE '%standard_conforming_strings%' THEN NULL "
            "WHEN l.lanname IN ('sql', 'plpgsql') AND l.oid < " FIRST_USER_OID
            "  THEN p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '') "
            "WHEN p.prosrc ~ '^(multi)?range_constructor[0-9]$' THEN '' "
            "WHEN l.lanname = 'c' THEN p.probin WHEN l.lanname = 'internal' THEN p.prosrc END")},

    {"expressions", read_expressions,
     "WITH trees(use, owner, tree, reads) AS ("
     "  SELECT 'e', adrelid, adbin::text, true FROM pg_catalog.pg_attrdef "
     "  UNION ALL SELECT 'e', conrelid, conbin::text, true FROM pg_catalog.pg_constraint "
     "    WHERE conrelid <> 0 "
     "  UNION ALL SELECT 'e', indrelid, concat(indexprs::text, ' ', indpred::text), true "
     "    FROM pg_catalog.pg_index WHERE indrelid >= " FIRST_USER_OID
     "  UNION ALL SELECT 's', partrelid, partexprs::text, true FROM pg_catalog.pg_partitioned_table "
     "  UNION ALL SELECT CASE ev_type WHEN '1' THEN 'r' WHEN '4' THEN 'd' ELSE 's' END, ev_class, "
     "    concat(ev_action::text, ' ', ev_qual::text), ev_type = '1' "
     "    FROM pg_catalog.pg_rewrite WHERE oid >= " FIRST_USER_OID
     "  UNION ALL SELECT 'r', polrelid, concat(polqual::text, ' ', polwithcheck::text), true "
     "    FROM pg_catalog.pg_policy "
     "  UNION ALL SELECT use, tgrelid, tgqual::text, true "
     "    FROM pg_catalog.pg_trigger, (VALUES ('s'), ('d')) uses(use) "
     "    WHERE NOT tgisinternal AND tgenabled <> 'D' "
     "  UNION ALL SELECT 't', contypid, conbin::text, true FROM pg_catalog.pg_constraint "
     "    WHERE contypid <> 0 "
     "  UNION ALL SELECT 't', oid, typdefaultbin::text, true FROM pg_catalog.pg_type "
     "  UNION ALL SELECT 'f', oid, proargdefaults::text, true FROM pg_catalog.pg_proc "
     "    WHERE oid >= " FIRST_USER_OID ") "
     "SELECT DISTINCT use, owner, reads, m[1], coalesce(o.oprcode::oid, m[2]::oid) "
     "FROM trees CROSS JOIN LATERAL regexp_matches(tree, "
     "  ':(relid|funcid|opno|aggfnoid|winfnoid|resulttype) ([1-9][0-9]{0,9}) ', 'g') m "
     "LEFT JOIN pg_catalog.pg_operator o ON m[1] = 'opno' AND o.oid = m[2]::oid"},
};

static const char *sql_of(const struct reading *reading, size_t query)
{
    bool needs_source = queries[query].read == read_bodies;
    return needs_source && !reading->source_is_readable ? BODIES("NULL") : queries[query].sql;
}

static bool run_query(struct catalog_loader *loader, struct reading *reading, size_t query,
                      char *problem, size_t problem_size)
{
    struct buffer sql;
    buffer_init(&sql, QUERY_BYTES_MAX);
    buffer_printf(&sql, "%s LIMIT %d", sql_of(reading, query), LIMIT_CATALOG_ROWS + 1);
    PGresult *result = loader_run(loader, buffer_string(&sql), problem, problem_size);
    buffer_release(&sql);
    if (result == NULL)
        return false;
    bool fits = PQntuples(result) <= LIMIT_CATALOG_ROWS;
    if (fits)
        queries[query].read(reading, result);
    PQclear(result);
    if (!fits || reading->failed)
        snprintf(problem, problem_size, "the catalog's %s %s", queries[query].name,
                 fits ? "have an unexpected form" : "are too many");
    return fits && !reading->failed;
}

static bool run_command(struct catalog_loader *loader, const char *sql, char *problem,
                        size_t problem_size)
{
    PGresult *result = loader_run(loader, sql, problem, problem_size);
    PQclear(result);
    return result != NULL;
}

static bool run_queries(struct catalog_loader *loader, struct reading *reading, char *problem,
                        size_t problem_size)
{
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
        if (!run_query(loader, reading, i, problem, problem_size))
            return false;
    return true;
}

/* A connection that broke since the last load shows it only now. */
static bool begin_once(struct catalog_loader *loader, char *problem, size_t problem_size)
{
    return loader_connect(loader, problem, problem_size) &&
           run_command(loader, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", problem,
                       problem_size);
}

static bool begin(struct catalog_loader *loader, char *problem, size_t problem_size)
{
    bool kept = loader->connection != NULL;
    if (!begin_once(loader, problem, problem_size) &&
        !(kept && begin_once(loader, problem, problem_size)))
        return false;
    if (PQserverVersion(loader->connection) >= SERVER_VERSION_MIN)
        return true;
    snprintf(problem, problem_size, "the server is older than PostgreSQL %d",
             SERVER_VERSION_MIN / 10000);
    return false;
}

/* Nothing was written, and what was read stands, whatever becomes of the transaction. */
static void end(struct catalog_loader *loader)
{
    PQclear(PQexec(loader->connection, "ROLLBACK"));
}

struct catalog *catalog_loader_load(struct catalog_loader *loader, char *problem,
                                    size_t problem_size)
{
    struct instant taken = clock_now();
    struct catalog *catalog = catalog_new();
    struct reading reading = {.catalog = catalog, .arena = catalog_arena(catalog)};
    arena_init(&reading.scratch);
    bool complete = begin(loader, problem, problem_size) &&
                    run_queries(loader, &reading, problem, problem_size);
    end(loader);
    if (complete)
        add_to_catalog(&reading);
    arena_release(&reading.scratch);
    if (!complete) {
        catalog_release(catalog);
        return NULL;
    }
    catalog_seal(catalog, taken, PQserverVersion(loader->connection));
    return catalog;
}

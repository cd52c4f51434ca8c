/*
 * measure_objects_sql.c - what the catalog says of every object that is not built in, as one JSON text.
 *
 *   objects  [class, number, column, kind, name, state, facts]
 *            state: what a change of is told; a pair is compared by its first and shown by its second
 *            facts: filenode, relkind, what a foreign key leads from and to, a sequence's last value
 *   depends  [class, number, column, class, number, column, type]: the first on the second
 *   locks    [number, mode] of this session on relations
 *
 * Definitions are compared as the catalog has them, with numbers, since their words change when something
 * else is renamed. Nothing here takes a lock on a table. Operators are qualified as in measure_effect.c.
 */
#include "proxy/session/measure_objects.h"

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"

/* clang-format off */

#define EQ " OPERATOR(pg_catalog.=) "
#define NE " OPERATOR(pg_catalog.<>) "
#define USERS(column) column " OPERATOR(pg_catalog.>=) 16384" /* FirstNormalObjectId */
#define CLASS(name) "'pg_catalog." name "'::pg_catalog.regclass::pg_catalog.oid"
#define ANY_OF(letters) EQ "ANY ('{" letters "}'::pg_catalog.\"char\"[])"
#define STATE "pg_catalog.json_build_object("
#define MD5(values) "pg_catalog.md5(pg_catalog.concat_ws('|', " values "))"
#define NONE "NULL::pg_catalog.json"
#define OWNER(column) "'owner', pg_catalog.pg_get_userbyid(" column ")"

/* ["SELECT to bob", …]; the owner's own are left out where nobody has changed any. */
#define PRIVILEGES(acl, kind, owner)                                                              \
    "'privileges', (SELECT pg_catalog.json_agg(pg_catalog.concat(x.privilege_type, ': ', "       \
    "CASE WHEN x.grantee" EQ "0 THEN 'public' ELSE pg_catalog.pg_get_userbyid(x.grantee)::pg_catalog.text END, " \
    "CASE WHEN x.is_grantable THEN ' with grant option' END, "                                    \
    "CASE WHEN x.grantor" NE owner " THEN pg_catalog.concat(' by ', pg_catalog.pg_get_userbyid(x.grantor)) END) " \
    "ORDER BY x.privilege_type, x.grantee, x.grantor) FROM pg_catalog.aclexplode(COALESCE(" acl   \
    ", pg_catalog.acldefault(" kind ", " owner "))) x)"

/* A catalog whose rows are told as a whole. */
#define WHOLE(catalog)                                                                            \
    " UNION ALL SELECT " CLASS(catalog) ", x.oid, 0, " STATE "'definition', "                     \
    "pg_catalog.json_build_array(pg_catalog.md5(x::pg_catalog.text), NULL)), " NONE               \
    " FROM pg_catalog." catalog " x WHERE " USERS("x.oid")

static const char namespaces[] =
    "WITH spaces AS MATERIALIZED (SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n WHERE "
    "NOT n.nspname OPERATOR(pg_catalog.~) '^(pg_toast|pg_temp_|pg_catalog$|information_schema$)' OR n.oid" EQ
    "pg_catalog.pg_my_temp_schema()), ";

static const char relations[] =
    "things(class, number, sub, state, facts) AS (SELECT " CLASS("pg_class") ", c.oid, 0, " STATE
    "'schema', s.nspname, 'name', c.relname, " OWNER("c.relowner") ", "
    PRIVILEGES("c.relacl", "CASE WHEN c.relkind" EQ "'S' THEN 's' ELSE 'r' END::pg_catalog.\"char\"", "c.relowner") ", "
    "'persistence', c.relpersistence, 'options', c.reloptions::pg_catalog.text, "
    "'row security', CASE WHEN c.relkind" ANY_OF("r,p") " THEN c.relrowsecurity END, "
    "'row security of the owner', CASE WHEN c.relkind" ANY_OF("r,p") " THEN c.relforcerowsecurity END, "
    "'replica identity', CASE WHEN c.relkind" ANY_OF("r,p") " THEN c.relreplident END, "
    "'tablespace', NULLIF(c.reltablespace, 0), 'access method', NULLIF(c.relam, 0), "
    "'bound', pg_catalog.json_build_array(c.relpartbound::pg_catalog.text, pg_catalog.pg_get_expr(c.relpartbound, c.oid)), "
    "'parents', (SELECT pg_catalog.json_build_array(pg_catalog.string_agg(h.inhparent::pg_catalog.text, ',' ORDER BY h.inhseqno), "
    "pg_catalog.string_agg(h.inhparent::pg_catalog.regclass::pg_catalog.text, ', ' ORDER BY h.inhseqno)) FROM "
    "pg_catalog.pg_inherits h WHERE h.inhrelid" EQ "c.oid), "
    "'definition', CASE WHEN c.relkind" ANY_OF("v,m") " THEN pg_catalog.json_build_array((SELECT "
    "pg_catalog.md5(r.ev_action::pg_catalog.text) FROM pg_catalog.pg_rewrite r WHERE r.ev_class" EQ
    "c.oid AND r.rulename" EQ "'_RETURN'), NULL) WHEN c.relkind" EQ "'S' THEN (SELECT pg_catalog.json_build_array("
    MD5("q.seqtypid, q.seqstart, q.seqincrement, q.seqmax, q.seqmin, q.seqcache, q.seqcycle") ", pg_catalog.concat('starts at ', "
    "q.seqstart, ', by ', q.seqincrement, ', from ', q.seqmin, ' to ', q.seqmax)) FROM pg_catalog.pg_sequence q "
    "WHERE q.seqrelid" EQ "c.oid) END), " STATE "'filenode', c.relfilenode::pg_catalog.int8, 'relkind', c.relkind, "
    "'hidden', c.relkind" ANY_OF("r,p") " AND pg_catalog.row_security_active(c.oid), "
    "'last', CASE WHEN c.relkind" EQ "'S' THEN (SELECT q.last_value FROM pg_catalog.pg_sequences q WHERE q.schemaname" EQ
    "s.nspname AND q.sequencename" EQ "c.relname) END) FROM pg_catalog.pg_class c JOIN spaces s ON s.oid" EQ
    "c.relnamespace WHERE " USERS("c.oid") " AND c.relkind" ANY_OF("r,p,S,v,m,f");

static const char columns[] =
    " UNION ALL SELECT " CLASS("pg_class") ", c.oid, a.attnum, " STATE "'name', a.attname, "
    "'type', pg_catalog.format_type(a.atttypid, a.atttypmod), 'not null', a.attnotnull, "
    "'default', pg_catalog.json_build_array(d.adbin::pg_catalog.text, pg_catalog.pg_get_expr(d.adbin, c.oid)), "
    "'identity', NULLIF(a.attidentity, ''), 'generated', NULLIF(a.attgenerated, ''), "
    "'statistics target', NULLIF(a.attstattarget, -1), 'storage', a.attstorage, 'options', (SELECT "
    "pg_catalog.string_agg(o, ', ') FROM pg_catalog.unnest(a.attoptions) o WHERE o OPERATOR(pg_catalog.~) '^n_distinct'), 'collation', NULLIF(a.attcollation, 0), "
    PRIVILEGES("a.attacl", "'c'", "c.relowner") "), " NONE
    " FROM pg_catalog.pg_class c JOIN spaces s ON s.oid" EQ "c.relnamespace JOIN pg_catalog.pg_attribute a ON a.attrelid" EQ
    "c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid" EQ
    "c.oid AND d.adnum" EQ "a.attnum WHERE " USERS("c.oid") " AND c.relkind" ANY_OF("r,p,c,f");

static const char indexes[] =
    " UNION ALL SELECT " CLASS("pg_class") ", i.indexrelid, 0, " STATE "'schema', s.nspname, 'name', c.relname, "
    "'definition', pg_catalog.json_build_array(" MD5("i.indisunique, i.indkey, i.indclass::pg_catalog.text, i.indcollation::pg_catalog.text, i.indoption, i.indexprs::pg_catalog.text, i.indpred::pg_catalog.text, i.indisvalid, i.indisclustered, i.indisreplident") ", pg_catalog.pg_get_indexdef(i.indexrelid)), 'options', c.reloptions::pg_catalog.text, "
    "'tablespace', NULLIF(c.reltablespace, 0)), " STATE "'filenode', c.relfilenode::pg_catalog.int8, 'relkind', c.relkind"
    ") FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid" EQ
    "i.indexrelid JOIN spaces s ON s.oid" EQ "c.relnamespace WHERE " USERS("c.oid") " AND NOT EXISTS (SELECT FROM "
    "pg_catalog.pg_constraint k WHERE k.conindid" EQ "c.oid AND k.contype" ANY_OF("p,u,x") ")";

static const char constraints[] =
    " UNION ALL SELECT " CLASS("pg_constraint") ", k.oid, 0, " STATE "'name', k.conname, 'definition', "
    "pg_catalog.json_build_array(" MD5("k.contype, k.condeferrable, k.condeferred, k.convalidated, k.confrelid, k.confupdtype, k.confdeltype, k.confmatchtype, k.conkey::pg_catalog.text, k.confkey::pg_catalog.text, k.conbin::pg_catalog.text, k.connoinherit, k.conislocal, k.coninhcount") ", pg_catalog.pg_get_constraintdef(k.oid))), " STATE
    "'relkind', '', 'from', CASE WHEN k.contype" EQ "'f' THEN k.conrelid::pg_catalog.int8 END, 'to', CASE WHEN k.contype" EQ
    "'f' THEN k.confrelid::pg_catalog.int8 END) FROM pg_catalog.pg_constraint k JOIN spaces s ON s.oid" EQ
    "k.connamespace WHERE " USERS("k.oid") " AND k.contype" NE "'t'";

static const char triggers[] =
    " UNION ALL SELECT " CLASS("pg_trigger") ", t.oid, 0, " STATE "'name', t.tgname, 'enabled', t.tgenabled, 'definition', "
    "pg_catalog.json_build_array(" MD5("t.tgfoid, t.tgtype, t.tgconstrrelid, t.tgdeferrable, t.tginitdeferred, t.tgattr, pg_catalog.encode(t.tgargs, 'hex'), t.tgqual::pg_catalog.text, t.tgoldtable, t.tgnewtable")
    ", NULL)), " NONE " FROM pg_catalog.pg_trigger t WHERE " USERS("t.oid") " AND NOT t.tgisinternal"
    " UNION ALL SELECT " CLASS("pg_rewrite") ", r.oid, 0, " STATE "'name', r.rulename, 'enabled', r.ev_enabled, 'definition', "
    "pg_catalog.json_build_array(" MD5("r.ev_type, r.is_instead, r.ev_qual::pg_catalog.text, r.ev_action::pg_catalog.text")
    ", NULL)), " NONE " FROM pg_catalog.pg_rewrite r WHERE " USERS("r.oid") " AND r.rulename" NE "'_RETURN'"
    " UNION ALL SELECT " CLASS("pg_policy") ", p.oid, 0, " STATE "'name', p.polname, 'definition', "
    "pg_catalog.json_build_array(" MD5("p.polcmd, p.polpermissive, p.polroles::pg_catalog.text, p.polqual::pg_catalog.text, p.polwithcheck::pg_catalog.text") ", NULL)), " NONE " FROM pg_catalog.pg_policy p WHERE " USERS("p.oid");

static const char routines[] =
    " UNION ALL SELECT " CLASS("pg_proc") ", f.oid, 0, " STATE "'schema', s.nspname, 'name', f.proname, " OWNER("f.proowner") ", "
    PRIVILEGES("f.proacl", "'f'", "f.proowner") ", 'definition', pg_catalog.json_build_array(" MD5("f.prolang, f.procost, f.prorows, f.prokind, f.prosecdef, f.proleakproof, f.proisstrict, f.proretset, f.provolatile, f.proparallel, f.prorettype, f.proargnames::pg_catalog.text, f.proargdefaults::pg_catalog.text, f.prosrc, f.probin, f.prosqlbody::pg_catalog.text, f.proconfig::pg_catalog.text") ", NULL)), " NONE
    " FROM pg_catalog.pg_proc f JOIN spaces s ON s.oid" EQ "f.pronamespace WHERE " USERS("f.oid");

static const char types[] =
    " UNION ALL SELECT " CLASS("pg_type") ", t.oid, 0, " STATE "'schema', s.nspname, 'name', t.typname, " OWNER("t.typowner") ", "
    PRIVILEGES("t.typacl", "'T'", "t.typowner") ", 'default', t.typdefault, 'not null', t.typnotnull, 'base type', "
    "CASE WHEN t.typbasetype" NE "0 THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END, 'labels', (SELECT "
    "pg_catalog.string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid" EQ "t.oid)), " NONE
    " FROM pg_catalog.pg_type t JOIN spaces s ON s.oid" EQ "t.typnamespace LEFT JOIN pg_catalog.pg_class c ON c.oid" EQ
    "t.typrelid WHERE " USERS("t.oid") " AND (t.typrelid" EQ "0 OR c.relkind" EQ "'c') AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e "
    "WHERE e.typarray" EQ "t.oid) AND t.typtype" NE "'m'";

static const char others[] =
    " UNION ALL SELECT " CLASS("pg_namespace") ", n.oid, 0, " STATE "'name', n.nspname, " OWNER("n.nspowner") ", "
    PRIVILEGES("n.nspacl", "'n'", "n.nspowner") "), " NONE " FROM pg_catalog.pg_namespace n JOIN spaces s ON s.oid" EQ "n.oid"
    " UNION ALL SELECT " CLASS("pg_database") ", d.oid, 0, " STATE "'name', d.datname, " OWNER("d.datdba") ", "
    PRIVILEGES("d.datacl", "'d'", "d.datdba") "), " NONE " FROM pg_catalog.pg_database d WHERE d.datname" EQ "pg_catalog.current_database()"
    " UNION ALL SELECT " CLASS("pg_authid") ", r.oid, 0, " STATE "'name', r.rolname, 'definition', pg_catalog.json_build_array("
    "pg_catalog.md5(r::pg_catalog.text), NULL), 'member of', (SELECT pg_catalog.json_agg(pg_catalog.concat(pg_catalog.pg_get_userbyid("
    "m.roleid), CASE WHEN m.admin_option THEN ' with admin option' END) ORDER BY m.roleid) FROM pg_catalog.pg_auth_members m WHERE "
    "m.member" EQ "r.oid)), " NONE " FROM pg_catalog.pg_roles r";

static const char wholes[] =
    " UNION ALL SELECT " CLASS("pg_default_acl") ", x.oid, 0, " STATE "'name', ''), " NONE " FROM pg_catalog.pg_default_acl x"
    WHOLE("pg_operator") WHOLE("pg_opclass") WHOLE("pg_opfamily") WHOLE("pg_cast") WHOLE("pg_conversion") WHOLE("pg_collation");

static const char more_wholes[] =
    WHOLE("pg_ts_config") WHOLE("pg_ts_dict") WHOLE("pg_ts_parser") WHOLE("pg_ts_template") WHOLE("pg_language") WHOLE("pg_extension");

static const char last_wholes[] =
    WHOLE("pg_am") WHOLE("pg_foreign_data_wrapper") WHOLE("pg_foreign_server") WHOLE("pg_publication") WHOLE("pg_publication_rel")
    WHOLE("pg_statistic_ext") WHOLE("pg_event_trigger") WHOLE("pg_transform") "), ";

/* What is part of another thing in all but its number. */
static const char aliases[] =
    "alias(class, number, to_class, to_number, to_sub) AS MATERIALIZED ("
    "SELECT " CLASS("pg_attrdef") ", d.oid, " CLASS("pg_class") ", d.adrelid, d.adnum::pg_catalog.int4 FROM pg_catalog.pg_attrdef d"
    " UNION ALL SELECT " CLASS("pg_rewrite") ", r.oid, " CLASS("pg_class") ", r.ev_class, 0 FROM pg_catalog.pg_rewrite r WHERE r.rulename" EQ "'_RETURN'"
    " UNION ALL SELECT " CLASS("pg_type") ", t.oid, " CLASS("pg_class") ", t.typrelid, 0 FROM pg_catalog.pg_type t JOIN pg_catalog.pg_class c "
    "ON c.oid" EQ "t.typrelid WHERE c.relkind" NE "'c'"
    " UNION ALL SELECT " CLASS("pg_class") ", c.oid, " CLASS("pg_type") ", c.reltype, 0 FROM pg_catalog.pg_class c WHERE c.relkind" EQ "'c'"
    " UNION ALL SELECT " CLASS("pg_type") ", e.typarray, CASE WHEN c.oid IS NULL THEN " CLASS("pg_type") " ELSE " CLASS("pg_class")
    " END, COALESCE(c.oid, e.oid), 0 FROM pg_catalog.pg_type e LEFT JOIN pg_catalog.pg_class c ON c.oid" EQ "e.typrelid AND c.relkind" NE
    "'c' WHERE e.typarray" NE "0"
    " UNION ALL SELECT " CLASS("pg_class") ", k.conindid, " CLASS("pg_constraint") ", k.oid, 0 FROM pg_catalog.pg_constraint k WHERE k.contype"
    ANY_OF("p,u,x") ") ";

static const char result[] =
    "SELECT pg_catalog.json_build_object('objects', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(t.class::pg_catalog.int8, "
    "t.number::pg_catalog.int8, t.sub, i.type, i.identity, pg_catalog.json_build_object('comment', COALESCE(o.description, h.description)), "
    "t.facts, t.state)) FROM things t "
    "CROSS JOIN LATERAL pg_catalog.pg_identify_object(t.class, t.number, t.sub) i "
    "LEFT JOIN pg_catalog.pg_description o ON o.classoid" EQ "t.class AND o.objoid" EQ "t.number AND o.objsubid" EQ "t.sub "
    "LEFT JOIN pg_catalog.pg_shdescription h ON h.classoid" EQ "t.class AND h.objoid" EQ "t.number), "
    "'depends', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(COALESCE(a.to_class, d.classid)::pg_catalog.int8, "
    "COALESCE(a.to_number, d.objid)::pg_catalog.int8, COALESCE(a.to_sub, d.objsubid), COALESCE(b.to_class, d.refclassid)::pg_catalog.int8, "
    "COALESCE(b.to_number, d.refobjid)::pg_catalog.int8, CASE WHEN b.number IS NULL THEN d.refobjsubid ELSE b.to_sub END, d.deptype)) "
    "FROM pg_catalog.pg_depend d LEFT JOIN alias a ON a.class" EQ "d.classid AND a.number" EQ "d.objid LEFT JOIN alias b ON b.class" EQ
    "d.refclassid AND b.number" EQ "d.refobjid WHERE " USERS("d.objid") " AND " USERS("d.refobjid") "), "
    "'locks', (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(l.relation::pg_catalog.int8, l.mode)) FROM pg_catalog.pg_locks l "
    "WHERE l.pid" EQ "pg_catalog.pg_backend_pid() AND l.locktype" EQ "'relation' AND " USERS("l.relation") " AND l.database" EQ
    "(SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname" EQ "pg_catalog.current_database())))::pg_catalog.text";

/* clang-format on */

struct text measure_objects_sql(struct arena *arena)
{
    static const char *const pieces[] = {namespaces, relations, columns,     indexes,
                                         constraints, triggers, routines,    types, others,
                                         wholes,     more_wholes, last_wholes, aliases, result};
    struct buffer out;
    buffer_init(&out, LIMIT_PRINT_BYTES);
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
        buffer_append_string(&out, pieces[i]);
    struct text sql = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return sql;
}

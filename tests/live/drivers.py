"""What drivers send by themselves passes under `introspection: allow`, with a policy of plain select rules.

Those that Debian or npm has are run. For npgsql and pgjdbc their statements are sent as text, too.
"""
import asyncio
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire

from live import Skip, check, equal, main
from wicket import AGENT_SECRET, Database, Wicket, configuration

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CONFIGURATION = configuration("""
policies:
  open:
    search_path: [shop, public]
    introspection: allow
    rules:
      - allow: [select]
        on: ["shop.*"]
""", agent="open")

database = running = None


# --- drivers that are here -------------------------------------------------------------------------


def test_psycopg2():
    import psycopg2  # only here
    import psycopg2.extras
    connection = psycopg2.connect(**running.address(application_name="x", options="-c statement_timeout=5s"))
    equal(psycopg2.extras.HstoreAdapter.get_oids(connection), ((), ()), "no hstore")
    psycopg2.extras.register_composite("shop.pair", connection)
    connection.set_client_encoding("UTF8")
    connection.rollback()
    for level in ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"):
        connection.set_session(isolation_level=level, readonly=True, deferrable=False)
        with connection.cursor() as cursor:
            cursor.execute("SELECT ROW(1, 'x')::shop.pair")
            equal(cursor.fetchone()[0], (1, "x"), level)
        connection.commit()
    connection.autocommit = True
    connection.set_session(isolation_level="DEFAULT", readonly="DEFAULT")
    connection.autocommit = False
    with connection.cursor("named", withhold=False) as cursor:
        cursor.itersize = 1000
        cursor.execute("SELECT id FROM shop.orders")
        equal(sum(1 for _ in cursor), 3000)
    connection.reset()
    connection.close()


def test_psycopg3():
    import psycopg  # only here
    from psycopg.types import TypeInfo
    from psycopg.types.composite import CompositeInfo
    from psycopg.types.enum import EnumInfo
    from psycopg.types.range import RangeInfo
    with psycopg.connect(**running.address()) as connection:
        check(TypeInfo.fetch(connection, "hstore") is None, "no hstore")
        equal(list(EnumInfo.fetch(connection, "shop.mood").labels), ["sad", "fine", "glad"])
        equal(list(CompositeInfo.fetch(connection, "shop.pair").field_names), ["a", "b"])
        check(RangeInfo.fetch(connection, "shop.span") is not None, "a range")
        with connection.transaction():
            for i in range(8):  # prepares after five
                equal(connection.execute("SELECT %s::int", (i,)).fetchone()[0], i)
            with connection.transaction():
                with connection.cursor("named") as cursor:
                    cursor.execute("SELECT id FROM shop.orders")
                    equal(len(cursor.fetchmany(10)), 10)
        connection.commit()
        connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        connection.read_only = True
        connection.execute("SELECT 1")
        connection.commit()


def test_asyncpg():
    import asyncpg  # only here

    async def session():
        pool = await asyncpg.create_pool(host="127.0.0.1", port=running.port, user="agent", password=AGENT_SECRET,
                                         database="shop", ssl=False, min_size=1, max_size=1)
        for _ in range(2):  # given back, reset, taken again
            async with pool.acquire() as connection:
                equal(await connection.fetchval("SELECT ARRAY['sad']::shop.mood[]"), ["sad"])
                equal(tuple(await connection.fetchval("SELECT ROW(1, 'x')::shop.pair")), (1, "x"))
                equal(await connection.fetchval("SELECT $1::shop.percent", 7), 7)
                check(await connection.fetchval("SELECT '[1,2)'::shop.span") is not None, "a range")
                await connection.set_type_codec("mood", schema="shop", encoder=str, decoder=str)
                async with connection.transaction(isolation="serializable", readonly=True, deferrable=True):
                    async with connection.transaction():
                        equal(len([r async for r in connection.cursor("SELECT id FROM shop.orders")]), 3000)
                await connection.reload_schema_state()
        await pool.close()

    asyncio.run(session())


def node(package, script):
    if not shutil.which("node") or subprocess.run(["node", "-e", f"require('{package}')"], capture_output=True,
                                                  check=False).returncode != 0:
        raise Skip(f"node with {package} is not installed")
    config = {"host": "127.0.0.1", "port": running.port, "user": "agent", "password": AGENT_SECRET, "database": "shop"}
    result = subprocess.run(["node", "-e", script, json.dumps(config)], capture_output=True, text=True, timeout=60,
                            check=False)
    equal(result.returncode, 0, f"{package}: {result.stdout}{result.stderr}")
    return result.stdout


def test_node_postgres():
    out = node("pg", """
const { Pool } = require("pg");
(async () => {
  const pool = new Pool({ ...JSON.parse(process.argv[1]), max: 1, application_name: "x", statement_timeout: 5000,
                          query_timeout: 5000, lock_timeout: 1000, idle_in_transaction_session_timeout: 5000 });
  for (let i = 0; i < 2; i++) {
    const client = await pool.connect();
    await client.query("BEGIN");
    const { rows } = await client.query({ name: "by-id", text: "SELECT name FROM customers WHERE id = $1", values: [3] });
    await client.query("COMMIT");
    console.log(rows.length);
    client.release();
  }
  await pool.end();
})().catch((error) => { console.error(error); process.exit(1); });
""")
    equal(out, "1\n1\n")


def test_postgres_js():
    out = node("postgres", """
const postgres = require("postgres");
(async () => {
  const c = JSON.parse(process.argv[1]);
  const sql = postgres({ host: c.host, port: c.port, user: c.user, password: c.password, database: c.database, max: 1,
                         connection: { application_name: "x" }, target_session_attrs: "read-only" });
  const moods = await sql`SELECT ARRAY['sad', 'glad']::shop.mood[] AS m, ${[1, 2]}::int[] AS n`;
  console.log(JSON.stringify(moods[0]));
  await sql.begin("read only", async (sql) => {
    await sql.savepoint((sql) => sql`SELECT 1`);
    console.log((await sql`SELECT name FROM customers WHERE id = ${3}`).length);
    let rows = 0;
    await sql`SELECT id FROM orders`.cursor(500, (some) => { rows += some.length; });
    console.log(rows);
  });
  console.log((await sql`SELECT id FROM orders WHERE id = ${7}`.describe()).columns.length);
  await sql.end();
})().catch((error) => { console.error(error); process.exit(1); });
""")
    equal(out, '{"m":["sad","glad"],"n":[1,2]}\n1\n3000\n1\n')


JDBC = """
import java.sql.*;
import java.util.*;

public class Look {
    interface Call { ResultSet get() throws SQLException; }
    static int failures;

    static void show(String name, Call call) {
        try (ResultSet rows = call.get()) {
            int count = 0;
            while (rows.next()) count++;
            System.out.println(name + " " + count);
        } catch (SQLException error) {
            System.out.println(name + " failed: " + error.getMessage().split("\\n")[0]);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("user", "agent");
        properties.setProperty("password", arguments[1]);
        properties.setProperty("ApplicationName", "x");
        properties.setProperty("autosave", "always");
        Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + arguments[0] + "/shop", properties);
        if (!c.isValid(5)) throw new Exception("not valid");
        DatabaseMetaData m = c.getMetaData();
        show("getSchemas", () -> m.getSchemas());
        show("getCatalogs", () -> m.getCatalogs());
        show("getTableTypes", () -> m.getTableTypes());
        show("getTables", () -> m.getTables(null, "shop", "%", new String[] {"TABLE", "VIEW", "PARTITIONED TABLE"}));
        show("getAllTables", () -> m.getTables(null, null, "%", null));
        show("getColumns", () -> m.getColumns(null, "shop", "%", "%"));
        show("getPrimaryKeys", () -> m.getPrimaryKeys(null, "shop", "orders"));
        show("getImportedKeys", () -> m.getImportedKeys(null, "shop", "orders"));
        show("getExportedKeys", () -> m.getExportedKeys(null, "shop", "orders"));
        show("getCrossReference", () -> m.getCrossReference(null, "shop", "customers", null, "shop", "orders"));
        show("getBestRowIdentifier", () -> m.getBestRowIdentifier(null, "shop", "orders", 0, true));
        show("getVersionColumns", () -> m.getVersionColumns(null, "shop", "orders"));
        show("getTablePrivileges", () -> m.getTablePrivileges(null, "shop", "orders"));
        show("getColumnPrivileges", () -> m.getColumnPrivileges(null, "shop", "orders", "%"));
        show("getProcedures", () -> m.getProcedures(null, "shop", "%"));
        show("getProcedureColumns", () -> m.getProcedureColumns(null, "shop", "%", "%"));
        show("getFunctions", () -> m.getFunctions(null, "shop", "%"));
        show("getFunctionColumns", () -> m.getFunctionColumns(null, "shop", "%", "%"));
        show("getTypeInfo", () -> m.getTypeInfo());
        show("getUDTs", () -> m.getUDTs(null, "shop", "%", null));
        show("getClientInfoProperties", () -> m.getClientInfoProperties());
        show("getIndexInfo", () -> m.getIndexInfo(null, "shop", "orders", false, true));
        System.out.println(m.getDatabaseProductVersion() + " " + m.getMaxColumnNameLength() + " "
                           + m.getMaxColumnsInIndex() + " " + m.getSQLKeywords().length());
        c.setAutoCommit(false);
        c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        c.setReadOnly(true);
        Savepoint s = c.setSavepoint();
        PreparedStatement p = c.prepareStatement("SELECT id, status, order_date FROM orders WHERE id = ANY (?)");
        for (int i = 0; i < 8; i++) {
            p.setArray(1, c.createArrayOf("int4", new Integer[] {1, 2}));
            show("query", () -> p.executeQuery());
        }
        ResultSetMetaData r = p.getMetaData();
        System.out.println(r.getColumnTypeName(2) + " " + r.isNullable(1) + " " + r.isAutoIncrement(1));
        Statement all = c.createStatement();
        all.setFetchSize(100);
        show("fetched", () -> all.executeQuery("SELECT id FROM orders"));
        show("pair", () -> all.executeQuery("SELECT ROW(1, 'x')::shop.pair, 'sad'::shop.mood, ARRAY['sad']::shop.mood[]"));
        c.rollback(s);
        c.releaseSavepoint(c.setSavepoint("x"));
        System.out.println(c.getTransactionIsolation() + " " + c.getSchema());
        c.commit();
        c.setAutoCommit(true);
        c.close();
    }
}
"""


def test_pgjdbc():
    jars = glob.glob("/usr/share/java/postgresql.jar")
    if not shutil.which("javac") or not jars:
        raise Skip("javac and libpostgresql-jdbc-java are not installed")
    folder = tempfile.mkdtemp(prefix="pgwicket-jdbc-")
    try:
        with open(folder + "/Look.java", "w", encoding="utf-8") as file:
            file.write(JDBC)
        subprocess.run(["javac", "-d", folder, folder + "/Look.java"], check=True, capture_output=True)
        result = subprocess.run(["java", "-cp", f"{folder}:{jars[0]}", "Look", str(running.port), AGENT_SECRET],
                                capture_output=True, text=True, timeout=120, check=False)
    finally:
        shutil.rmtree(folder)
    equal(result.returncode, 0, result.stdout + result.stderr)
    failed = [line for line in result.stdout.splitlines() if "failed" in line]
    # It asks for the planner's numbers of rows and pages: statistics.
    equal(failed, ["getIndexInfo failed: ERROR: pgwicket: column pg_catalog.pg_class.reltuples may not be read; nothing "
                   "was run"], result.stdout)
    for line in ("getPrimaryKeys 1", "getImportedKeys 1", "fetched 3000", "query 2"):
        check(line in result.stdout, result.stdout)


# --- drivers as text -------------------------------------------------------------------------------

NPGSQL_TYPES = """SELECT version();

SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
    SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
        elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind,
        CASE WHEN elemproc.proname='array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype,
        typ.typcategory
    FROM (
        SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, typcategory,
            CASE WHEN proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
            CASE WHEN proc.proname='array_recv' THEN typ.typelem WHEN typ.typtype='r' THEN rngsubtype
                 WHEN typ.typtype='m' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
                 WHEN typ.typtype='d' THEN typ.typbasetype END AS elemtypoid
        FROM pg_type AS typ
        LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
        LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
        LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
    ) AS typ
    LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
    LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid)
    LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive
) AS t
JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
WHERE
    (typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind='c') OR
     (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR
     (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (elemtyptype = 'p' AND elemtypname IN ('record',
      'void')) OR (elemtyptype = 'c' AND elemrelkind='c'))))
ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN typtype = 'c' THEN 1 WHEN typtype = 'r' THEN 2
              WHEN typtype = 'm' THEN 3 WHEN typtype = 'd' AND elemtyptype <> 'a' THEN 4 WHEN typtype = 'a' THEN 5
              WHEN typtype = 'd' AND elemtyptype = 'a' THEN 6 END;

-- fields of composite types
SELECT typ.oid, att.attname, att.atttypid
FROM pg_type AS typ
JOIN pg_namespace AS ns ON (ns.oid = typ.typnamespace)
JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
JOIN pg_attribute AS att ON (att.attrelid = typ.typrelid)
WHERE (typ.typtype = 'c' AND cls.relkind='c') AND attnum > 0 AND NOT attisdropped
ORDER BY typ.oid, att.attnum;

-- labels of enums
SELECT pg_type.oid, enumlabel
FROM pg_enum
JOIN pg_type ON pg_type.oid=enumtypid
ORDER BY oid, enumsortorder;"""

# (driver, startup parameters, statements); a statement may be (text, types, values) of the extended protocol.
SEQUENCES = [
    ("npgsql", {"client_encoding": "UTF8", "application_name": "x", "TimeZone": "UTC"}, [
        NPGSQL_TYPES, "select pg_is_in_recovery(); SHOW default_transaction_read_only", "SHOW server_version",
        "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED", "SAVEPOINT sp", "ROLLBACK TO SAVEPOINT sp",
        "RELEASE SAVEPOINT sp", "COMMIT", "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE", "ROLLBACK", "DISCARD ALL",
        "SET SESSION AUTHORIZATION DEFAULT;RESET ALL;CLOSE ALL;UNLISTEN *;SELECT pg_advisory_unlock_all();"
        "DISCARD SEQUENCES;DISCARD TEMP", "UNLISTEN *; DEALLOCATE ALL",
        "SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables WHERE table_type = "
        "'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')",
        "SELECT current_database() AS constraint_catalog, pgn.nspname, pgc.conname, pgtn.nspname, pgt.relname, contype "
        "FROM pg_catalog.pg_constraint pgc JOIN pg_catalog.pg_namespace pgn ON pgc.connamespace = pgn.oid JOIN "
        "pg_catalog.pg_class pgt ON pgc.conrelid = pgt.oid JOIN pg_catalog.pg_namespace pgtn ON pgt.relnamespace = "
        "pgtn.oid WHERE contype IN ('p', 'u', 'f')"]),
    ("pgjdbc", {"client_encoding": "UTF8", "DateStyle": "ISO", "TimeZone": "Europe/Berlin", "extra_float_digits": "2"}, [
        ("SET extra_float_digits = 3",), ("SET application_name = 'PostgreSQL JDBC Driver'",), "",
        ("show transaction_read_only",), ("BEGIN",), ("SAVEPOINT PGJDBC_AUTOSAVE",), ("SELECT 1",),
        ("RELEASE SAVEPOINT PGJDBC_AUTOSAVE",), ("COMMIT",), ("BEGIN READ ONLY",), ("ROLLBACK",),
        ("SHOW TRANSACTION ISOLATION LEVEL",), ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ",), ("SELECT current_schema()",),
        ("SET SESSION search_path TO 'shop', 'public'",),
        ("SELECT setting FROM pg_catalog.pg_settings WHERE name='max_index_keys'",),
        ("SELECT t.typlen FROM pg_catalog.pg_type t, pg_catalog.pg_namespace n WHERE t.typnamespace=n.oid AND "
         "t.typname='name' AND n.nspname='pg_catalog'",),
        ("SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE word <> ALL ('{a,abs}'::text[])",),
        ("SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN "
         "pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1", (26,), (b"16385",)),
        ("SELECT e.typdelim FROM pg_catalog.pg_type t, pg_catalog.pg_type e WHERE t.oid = $1 and t.typelem = e.oid",
         (26,), (b"1007",)),
        ("SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid FROM "
         "pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r from pg_namespace as ns join (select "
         "s.r, (current_schemas(false))[s.r] as nspname from generate_series(1, array_upper(current_schemas(false), 1)) "
         "as s(r)) as r using (nspname)) as sp ON sp.nspoid = typnamespace WHERE typname = $1 ORDER BY sp.r, "
         "pg_type.oid DESC LIMIT 1", (1043,), (b"mood",)),
        ("SELECT c.oid, a.attnum, a.attname, c.relname, n.nspname, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull), "
         "a.attidentity != '' OR pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%' FROM pg_catalog.pg_class c "
         "JOIN pg_catalog.pg_namespace n ON (c.relnamespace = n.oid) JOIN pg_catalog.pg_attribute a ON (c.oid = "
         "a.attrelid) JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid) LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid "
         "= a.attrelid AND d.adnum = a.attnum) JOIN (SELECT 16400 AS oid , 1 AS attnum UNION ALL SELECT 16400, 2) vals "
         "ON (c.oid = vals.oid AND a.attnum = vals.attnum)",)]),
    ("asyncpg", {"client_encoding": "'utf-8'"}, [
        ("SELECT current_setting('jit') AS cur, set_config('jit', 'off', false) AS new",),
        ("SELECT set_config('jit', $1, false)", (25,), (b"on",)), "BEGIN;", "SAVEPOINT __asyncpg_savepoint_4__;",
        "RELEASE SAVEPOINT __asyncpg_savepoint_4__;", "COMMIT;", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;",
        "ROLLBACK;", "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;"]),
    ("pgx", {}, ["-- ping", ";", "deallocate all", ("select $1::text::regtype::oid;", (25,), (b"shop.mood",)),
                 ("select typtype::text, typbasetype from pg_type where oid=$1", (26,), (b"23",)),
                 ("select typelem, typdelim::text from pg_type where oid=$1", (26,), (b"1007",)),
                 ("select rngsubtype from pg_range where rngtypid=$1", (26,), (b"3904",)),
                 "begin isolation level serializable read only", "savepoint sp_1", "release savepoint sp_1", "commit"]),
    ("pg8000", {}, [("begin transaction",), ("commit",), ("SELECT 1",)]),
    ("Rails", {}, ["SET client_min_messages TO 'warning'", "SET standard_conforming_strings = on",
                   "SET SESSION timezone TO 'UTC'", "SHOW max_identifier_length", "SHOW search_path",
                   "SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype "
                   "FROM pg_type as t LEFT JOIN pg_range as r ON oid = rngtypid WHERE t.typname IN ('int2', 'int4') OR "
                   "t.typtype IN ('r', 'e', 'd') OR t.typinput = 'array_in(cstring,oid,integer)'::regprocedure OR "
                   "t.typelem != 0",
                   "SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), "
                   "a.attnotnull, a.atttypid, a.atttypmod, c.collname, col_description(a.attrelid, a.attnum) AS comment, "
                   "attidentity AS identity, attgenerated as attgenerated FROM pg_attribute a LEFT JOIN pg_attrdef d ON "
                   "a.attrelid = d.adrelid AND a.attnum = d.adnum LEFT JOIN pg_type t ON a.atttypid = t.oid LEFT JOIN "
                   "pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation WHERE a.attrelid = "
                   "'\"orders\"'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"]),
    ("Hibernate, Prisma, DBeaver", {}, [
        "select 1", "DEALLOCATE ALL", "SET DateStyle=ISO; SET client_min_messages=notice", "SET client_encoding='UTF8'",
        "SET bytea_output = 'hex'", "SELECT version()", "SELECT current_schema(),session_user",
        "SELECT db.oid,db.datname FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate",
        "select * from information_schema.sequences", "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'shop')"]),
    ("SQLAlchemy", {}, [
        "BEGIN", "select pg_catalog.version()", "select current_schema()", "show transaction isolation level",
        "show standard_conforming_strings", "ROLLBACK",
        "SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname = 'hstore'",
        "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON "
        "pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY["
        "'r', 'p']) AND pg_catalog.pg_class.relpersistence != 't' AND pg_catalog.pg_table_is_visible("
        "pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'"]),
    ("Django", {}, ["SELECT set_config('TimeZone', 'UTC', false)", "SET TIME ZONE 'UTC'", "BEGIN", 'SAVEPOINT "s1_x1"',
                    'RELEASE SAVEPOINT "s1_x1"', "COMMIT", "DECLARE \"_django_curs_1_sync_1\" NO SCROLL CURSOR WITH HOLD FOR SELECT id FROM orders",
                    "FETCH 10 FROM \"_django_curs_1_sync_1\"", "CLOSE \"_django_curs_1_sync_1\""]),
    ("SQLAlchemy 2", {}, [
        "BEGIN", "select pg_catalog.version()", "select current_schema()", "show standard_conforming_strings", "ROLLBACK",
        # tables
        "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = "
        "pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND "
        "pg_catalog.pg_class.relpersistence != 't' AND pg_catalog.pg_namespace.nspname = 'shop'",
        ("SELECT pg_catalog.pg_class.oid, pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON "
         "pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', "
         "'f', 'v', 'm']) AND pg_catalog.pg_namespace.nspname = $1 AND pg_catalog.pg_class.relname IN ($2)", (25, 25),
         (b"shop", b"orders")),
        # columns
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM "
        "pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, c.relname, "
        "s.description, a.attgenerated, (SELECT json_build_object('always', a.attidentity = 'a', 'start', q.seqstart, 'increment', "
        "q.seqincrement, 'minvalue', q.seqmin, 'maxvalue', q.seqmax, 'cache', q.seqcache, 'cycle', q.seqcycle) FROM "
        "pg_catalog.pg_sequence q WHERE a.attidentity != '' AND q.seqrelid = CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST("
        "a.attrelid AS REGCLASS) AS TEXT), a.attname) AS REGCLASS) AS OID)) FROM pg_catalog.pg_class c LEFT OUTER JOIN "
        "pg_catalog.pg_attribute a ON c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped LEFT OUTER JOIN "
        "pg_catalog.pg_description s ON s.objoid = a.attrelid AND s.objsubid = a.attnum JOIN pg_catalog.pg_namespace n ON n.oid = "
        "c.relnamespace WHERE c.relkind = ANY (ARRAY['r', 'p']) AND n.nspname = 'shop' AND c.relname IN ('orders', 'days') ORDER BY "
        "c.relname, a.attnum",
        # primary and unique keys
        "SELECT x.conrelid, array_agg(CAST(x.attname AS TEXT) ORDER BY x.ord), x.conname, min(x.description), min(CAST(i.indnullsnotdistinct "
        "AS INTEGER)) FROM (SELECT con.*, a.attname FROM pg_catalog.pg_attribute a JOIN (SELECT p.conrelid, p.conname, p.conindid, "
        "unnest(p.conkey) AS attnum, generate_subscripts(p.conkey, 1) AS ord, s.description FROM pg_catalog.pg_constraint p LEFT OUTER "
        "JOIN pg_catalog.pg_description s ON s.objoid = p.oid WHERE p.contype = 'p' AND p.conrelid IN (1, 2)) con ON a.attnum = "
        "con.attnum AND a.attrelid = con.conrelid) x JOIN pg_catalog.pg_index i ON x.conindid = i.indexrelid GROUP BY x.conrelid, "
        "x.conname ORDER BY x.conrelid, x.conname",
        # foreign keys and checks
        "SELECT c.relname, p.conname, CASE WHEN p.oid IS NOT NULL THEN pg_catalog.pg_get_constraintdef(p.oid, true) END, f.nspname, "
        "s.description FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_constraint p ON c.oid = p.conrelid AND p.contype = 'f' "
        "LEFT OUTER JOIN pg_catalog.pg_class r ON r.oid = p.confrelid LEFT OUTER JOIN pg_catalog.pg_namespace f ON r.relnamespace = "
        "f.oid LEFT OUTER JOIN pg_catalog.pg_description s ON s.objoid = p.oid ORDER BY c.relname, p.conname",
        "SELECT c.relname, k.conname, CASE WHEN k.oid IS NOT NULL THEN pg_catalog.pg_get_constraintdef(k.oid, true) END, s.description "
        "FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_constraint k ON c.oid = k.conrelid AND k.contype = 'c' LEFT OUTER "
        "JOIN pg_catalog.pg_description s ON s.objoid = k.oid WHERE c.relkind = ANY (ARRAY['r', 'p'])",
        # indexes
        "SELECT x.indrelid, c.relname, x.indisunique, p.conrelid IS NOT NULL, x.indoption, c.reloptions, m.amname, CASE WHEN x.indpred "
        "IS NOT NULL THEN pg_catalog.pg_get_expr(x.indpred, x.indrelid) END, x.indnkeyatts, x.indnullsnotdistinct, e.elements, "
        "e.is_expr FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON x.indexrelid = c.oid JOIN pg_catalog.pg_am m ON c.relam = "
        "m.oid LEFT OUTER JOIN (SELECT k.indexrelid, array_agg(CASE WHEN k.attnum = 0 THEN pg_catalog.pg_get_indexdef(k.indexrelid, "
        "k.ord + 1, true) ELSE CAST(a.attname AS TEXT) END ORDER BY k.ord) AS elements, array_agg(k.attnum = 0 ORDER BY k.ord) AS "
        "is_expr FROM (SELECT i.indexrelid, i.indrelid, unnest(i.indkey) AS attnum, generate_subscripts(i.indkey, 1) AS ord FROM "
        "pg_catalog.pg_index i WHERE NOT i.indisprimary) k LEFT OUTER JOIN pg_catalog.pg_attribute a ON a.attnum = k.attnum AND "
        "a.attrelid = k.indrelid GROUP BY k.indexrelid) e ON e.indexrelid = x.indexrelid LEFT OUTER JOIN pg_catalog.pg_constraint p ON "
        "x.indrelid = p.conrelid AND x.indexrelid = p.conindid AND p.contype = ANY (ARRAY['p', 'u', 'x'])",
        # comments, enums, domains, sequences
        "SELECT c.relname, s.description FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description s ON c.oid = s.objoid AND "
        "s.objsubid = 0 AND s.classoid = CAST('pg_catalog.pg_class' AS REGCLASS)",
        "SELECT t.typname, pg_catalog.pg_type_is_visible(t.oid), n.nspname, l.labels FROM pg_catalog.pg_type t JOIN "
        "pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT OUTER JOIN (SELECT e.enumtypid, array_agg(CAST(e.enumlabel AS TEXT) "
        "ORDER BY e.enumsortorder) AS labels FROM pg_catalog.pg_enum e GROUP BY e.enumtypid) l ON t.oid = l.enumtypid WHERE t.typtype "
        "= 'e' ORDER BY n.nspname, t.typname",
        "SELECT t.typname, pg_catalog.format_type(t.typbasetype, t.typtypmod), NOT t.typnotnull, t.typdefault, "
        "pg_catalog.pg_type_is_visible(t.oid), n.nspname, d.condefs, d.connames, c.collname FROM pg_catalog.pg_type t JOIN "
        "pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT OUTER JOIN pg_catalog.pg_collation c ON t.typcollation = c.oid LEFT "
        "OUTER JOIN (SELECT k.contypid, array_agg(pg_catalog.pg_get_constraintdef(k.oid, true)) AS condefs, array_agg(CAST(k.conname AS "
        "TEXT)) AS connames FROM pg_catalog.pg_constraint k WHERE k.contypid != 0 GROUP BY k.contypid) d ON t.oid = d.contypid WHERE "
        "t.typtype = 'd'",
        "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S'"]),
    ("Django 4 and 5", {}, [
        "SELECT set_config('TimeZone', 'UTC', false)", "BEGIN", 'SAVEPOINT "s1_x1"', 'ROLLBACK TO SAVEPOINT "s1_x1"', "COMMIT",
        "SELECT c.relname, CASE WHEN c.relispartition THEN 'p' WHEN c.relkind IN ('m', 'v') THEN 'v' ELSE 't' END, obj_description(c.oid, "
        "'pg_class') FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('f', "
        "'m', 'p', 'r', 'v') AND n.nspname NOT IN ('pg_catalog', 'pg_toast') AND pg_catalog.pg_table_is_visible(c.oid)",
        "SELECT a.attname, NOT (a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)), pg_get_expr(d.adbin, d.adrelid), CASE WHEN "
        "o.collname = 'default' THEN NULL ELSE o.collname END, a.attidentity != '', col_description(a.attrelid, a.attnum) FROM "
        "pg_attribute a LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum LEFT JOIN pg_collation o ON "
        "a.attcollation = o.oid JOIN pg_type t ON a.atttypid = t.oid JOIN pg_class c ON a.attrelid = c.oid JOIN pg_namespace n ON "
        "c.relnamespace = n.oid WHERE c.relkind IN ('f', 'm', 'p', 'r', 'v') AND c.relname = 'orders' AND n.nspname NOT IN "
        "('pg_catalog', 'pg_toast') AND pg_catalog.pg_table_is_visible(c.oid)",
        "SELECT s.relname, a.attname FROM pg_class s JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND "
        "d.refclassid = 'pg_class'::regclass JOIN pg_attribute a ON d.refobjid = a.attrelid AND d.refobjsubid = a.attnum JOIN pg_class t "
        "ON t.oid = d.refobjid AND t.relname = 'orders' AND pg_catalog.pg_table_is_visible(t.oid) WHERE s.relkind = 'S'",
        "SELECT a1.attname, c2.relname, a2.attname FROM pg_constraint k LEFT JOIN pg_class c1 ON k.conrelid = c1.oid LEFT JOIN pg_class "
        "c2 ON k.confrelid = c2.oid LEFT JOIN pg_attribute a1 ON c1.oid = a1.attrelid AND a1.attnum = k.conkey[1] LEFT JOIN pg_attribute "
        "a2 ON c2.oid = a2.attrelid AND a2.attnum = k.confkey[1] WHERE c1.relname = 'orders' AND k.contype = 'f' AND "
        "pg_catalog.pg_table_is_visible(c1.oid)",
        "SELECT k.conname, array(SELECT a.attname FROM unnest(k.conkey) WITH ORDINALITY u(id, at) JOIN pg_attribute a ON u.id = a.attnum "
        "WHERE a.attrelid = k.conrelid ORDER BY u.at), k.contype, (SELECT r.relname || '.' || f.attname FROM pg_attribute f JOIN pg_class "
        "r ON f.attrelid = r.oid WHERE f.attrelid = k.confrelid AND f.attnum = k.confkey[1]), c.reloptions FROM pg_constraint k JOIN "
        "pg_class c ON k.conrelid = c.oid WHERE c.relname = 'orders' AND pg_catalog.pg_table_is_visible(c.oid)"]),
]


def messages(statement):
    if isinstance(statement, str):
        return [pgwire.query(statement)]
    sql, types, values = (*statement, (), ())[:3]
    return [pgwire.parse(sql, types=types), pgwire.bind(values), pgwire.describe(), pgwire.execute(), pgwire.SYNC]


def test_sequences_of_drivers_as_text():
    refused = []
    for driver, parameters, statements in SEQUENCES:
        with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, timeout=60, **parameters) as c:
            for statement in statements:
                error = pgwire.errors(c.run(*messages(statement)))
                if error:
                    refused.append((driver, statement, error[0]["C"], error[0]["M"]))
    equal(refused, [], "statements that drivers send by themselves")


if __name__ == "__main__":
    with Database() as database:
        with open(TOP + "/tests/support/objects.sql", encoding="utf-8") as objects:
            database.ask(objects.read())
        with Wicket(database, configuration=CONFIGURATION) as running:
            code = main(globals())
    sys.exit(code)

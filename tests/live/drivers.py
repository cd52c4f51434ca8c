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
from wicket import AGENT_SECRET, Database, Wicket

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CONFIGURATION = """
listen: {address: "127.0.0.1:$port"}
audit: {file: "$audit"}
upstreams:
  shop: "$upstream"
agents:
  agent: {secret: $agent_secret, upstream: shop, policy: open}
policies:
  open:
    search_path: [shop, public]
    introspection: allow
    rules:
      - allow: [select]
        on: ["shop.*"]
"""

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

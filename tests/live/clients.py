"""Clients that people use, through an allow-all policy, over TCP, TLS and the unix socket."""
import asyncio
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import asyncpg
import psycopg
import psycopg2

from live import Skip, check, equal, main
from wicket import AGENT_SECRET, wicket

NODE_SCRIPT = """
const { Client } = require("pg");
(async () => {
  const client = new Client(JSON.parse(process.argv[1]));
  await client.connect();
  const one = await client.query("SELECT count(*)::int AS n FROM shop.customers");
  const two = await client.query({ name: "by-id", text: "SELECT name FROM shop.products WHERE id = $1", values: [3] });
  await client.query("BEGIN");
  await client.query("UPDATE shop.orders SET notes = $1 WHERE id = $2", ["node", 5]);
  await client.query("ROLLBACK");
  let code = "none";
  try { await client.query("SELECT * FROM shop.no_such_table"); } catch (error) { code = error.code; }
  const after = await client.query("SELECT notes FROM shop.orders WHERE id = 5");
  console.log(JSON.stringify([one.rows[0].n, two.rows.length, code, after.rows[0].notes]));
  await client.end();
})().catch((error) => { console.error(error); process.exit(1); });
"""

database = running = None


def ways():
    """(name, keywords of libpq) of each way in."""
    folder, port = running.socket_folder_and_port()
    yield "tcp", running.address(sslmode="disable")
    yield "tls", running.address(sslmode="require")
    yield "unix socket", running.address(host=folder, port=port)


def run(arguments, address):
    environment = {**os.environ, "PGHOST": str(address["host"]), "PGPORT": str(address["port"]), "PGUSER": "agent",
                   "PGPASSWORD": AGENT_SECRET, "PGDATABASE": "shop", "PGSSLMODE": address.get("sslmode", "prefer")}
    return subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_psql():
    for way, address in ways():
        result = run(["psql", "-XAt", "-v", "ON_ERROR_STOP=1", "-c", "SELECT count(*) FROM shop.customers", "-c",
                      r"\d shop.orders", "-c", r"\df shop.*", "-c", r"\conninfo"], address)
        equal(result.returncode, 0, f"psql over {way}: {result.stderr}")
        check(result.stdout.startswith("500\n"), f"psql over {way}: {result.stdout[:100]}")
        check("customer_id" in result.stdout and "purge_old" in result.stdout, f"{way}: \\d and \\df")


def test_psql_copies_both_ways():
    for way, address in ways():
        result = run(["psql", "-XAtq", "-c", "CREATE TEMP TABLE t (a int, b text)", "-c",
                      r"\copy t FROM PROGRAM 'seq -f %g,x 1000' WITH (FORMAT csv)", "-c",
                      "SELECT count(*), sum(a) FROM t", "-c", "COPY (SELECT a FROM t ORDER BY a LIMIT 2) TO STDOUT"],
                     address)
        equal((result.returncode, result.stdout), (0, "1000|500500\n1\n2\n"), f"{way}: {result.stderr}")


def pgbench(mode):
    init = ["pgbench", "-i", "-s", "1", "-q", "-h", os.environ["PGWICKET_TEST_SOCKET"], "-p",
            os.environ["PGWICKET_TEST_PORT"], "-U", "postgres", database.name]
    if not database.value("SELECT to_regclass('public.pgbench_accounts') IS NOT NULL"):
        subprocess.run(init, check=True, capture_output=True)
    for way, address in ways():
        result = run(["pgbench", "-n", "-S", "-M", mode, "-c", "4", "-t", "200"], address)
        equal(result.returncode, 0, f"pgbench -S -M {mode} over {way}: {result.stderr}")
        check("number of transactions actually processed: 800/800" in result.stdout,
              f"{way}: {result.stdout}{result.stderr}")
    result = run(["pgbench", "-n", "-M", mode, "-c", "2", "-t", "50"], address)
    equal(result.returncode, 0, f"pgbench -M {mode}, reads and writes: {result.stderr}")
    check("number of failed transactions: 0 " in result.stdout, result.stdout)


def test_pgbench_simple():
    pgbench("simple")


def test_pgbench_extended():
    pgbench("extended")


def test_pgbench_prepared():
    pgbench("prepared")


def test_psycopg2():
    for way, address in ways():
        connection = psycopg2.connect(**address)
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT id, name FROM shop.products WHERE id = ANY(%s) ORDER BY id", ([1, 2, 3],))
            equal([row[0] for row in cursor.fetchall()], [1, 2, 3], way)
            cursor.execute("UPDATE shop.orders SET notes = %s WHERE id = %s RETURNING notes", (way, 1))
            equal(cursor.fetchone()[0], way)
        equal(database.value("SELECT notes FROM shop.orders WHERE id = 1"), way, "committed")
        with connection.cursor("named") as cursor:
            cursor.itersize = 100
            cursor.execute("SELECT id FROM shop.orders ORDER BY id")
            equal(sum(1 for _ in cursor), 3000, "rows of a server-side cursor")
        connection.rollback()
        try:
            connection.cursor().execute("SELECT * FROM shop.no_such_table")
            check(False, "no error")
        except psycopg2.errors.UndefinedTable:
            connection.rollback()
        connection.close()


def test_psycopg3():
    for way, address in ways():
        with psycopg.connect(**address) as connection:
            for binary in (False, True):
                cursor = connection.cursor(binary=binary)
                cursor.execute("SELECT id, price, created_at FROM shop.products WHERE id < %s ORDER BY id", (4,))
                equal([row[0] for row in cursor.fetchall()], [1, 2, 3], way)
            for i in range(8):  # prepares after five
                row = connection.execute("SELECT %s::int + 1", (i,)).fetchone()
                equal(row[0], i + 1, way)
            with connection.cursor() as cursor:
                with cursor.copy("COPY (SELECT id FROM shop.products ORDER BY id) TO STDOUT") as copy:
                    equal(sum(1 for _ in copy.rows()), 100, "rows of COPY")
                cursor.executemany("UPDATE shop.orders SET notes = %s WHERE id = %s", [(way, 10), (way, 11)])
            if psycopg.Pipeline.is_supported():
                with connection.pipeline():
                    first = connection.execute("SELECT 1")
                    second = connection.execute("SELECT 2")
                    equal((first.fetchone()[0], second.fetchone()[0]), (1, 2), "pipeline")
        equal(database.value("SELECT count(*) FROM shop.orders WHERE id IN (10, 11) AND notes = '%s'" % way), 2, way)


def test_asyncpg():
    async def session(address):
        host = address["host"]
        encrypted = {"disable": False, "require": "require"}.get(address.get("sslmode"))
        connection = await asyncpg.connect(host=host, port=int(address["port"]), user="agent",
                                           password=AGENT_SECRET, database="shop", ssl=encrypted)
        rows = await connection.fetch("SELECT id, name, tags, attrs FROM shop.customers WHERE id <= $1", 5)
        equal(len(rows), 5)
        async with connection.transaction():
            await connection.execute("UPDATE shop.orders SET notes = $1 WHERE id = $2", "asyncpg", 7)
            count = 0
            async for _ in connection.cursor("SELECT id FROM shop.orders"):
                count += 1
            equal(count, 3000, "rows of a cursor")
        await connection.executemany("UPDATE shop.orders SET notes = $1 WHERE id = $2", [("x", 8), ("y", 9)])
        try:
            await connection.execute("SELECT * FROM shop.no_such_table")
            check(False, "no error")
        except asyncpg.UndefinedTableError:
            pass
        equal(await connection.fetchval("SELECT notes FROM shop.orders WHERE id = 9"), "y")
        await connection.close()

    for _, address in ways():
        asyncio.run(session(address))


def test_node_pg():
    if not shutil.which("node") or subprocess.run(["node", "-e", "require('pg')"], capture_output=True,
                                                  check=False).returncode != 0:
        raise Skip("node with pg is not installed")
    import json  # only here
    for way, address in ways():
        config = {"host": address["host"], "port": int(address["port"]), "user": "agent",
                  "password": AGENT_SECRET, "database": "shop"}
        if way == "tls":
            config["ssl"] = {"rejectUnauthorized": False}
        database.ask("UPDATE shop.orders SET notes = 'before' WHERE id = 5")
        result = subprocess.run(["node", "-e", NODE_SCRIPT, json.dumps(config)], capture_output=True, text=True,
                                timeout=60, check=False)
        equal((result.returncode, result.stdout), (0, '[500,1,"42P01","before"]\n'), f"{way}: {result.stderr}")


def test_pg_dump_equals_a_direct_one():
    """As psql's restore would see it: the same bytes, but for the lines that name the session."""
    direct = subprocess.run(["pg_dump", database.superuser], capture_output=True, text=True, check=True).stdout
    for way, address in ways():
        through = run(["pg_dump"], address)
        equal(through.returncode, 0, f"pg_dump over {way}: {through.stderr}")
        check(len(direct) > 100000, "a whole dump")
        check(normal_dump(through.stdout) == normal_dump(direct), f"the dumps differ over {way}")


def normal_dump(dump):
    return [line for line in dump.split("\n") if not line.startswith(("-- Dumped", r"\restrict", r"\unrestrict"))]


if __name__ == "__main__":
    with wicket(superuser=True) as (database, running):
        code = main(globals())
    sys.exit(code)

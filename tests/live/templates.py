"""Templates as an agent uses them: through drivers, with values of every type, and with nothing else allowed."""
import asyncio
import base64
import concurrent.futures
import contextlib
import datetime
import decimal
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import asyncpg
import psycopg
import psycopg2

import pgwire
from live import Skip, check, equal, eventually, main
from wicket import AGENT_SECRET, BIN, CONFIGURATION, Database, Wicket

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases", "verdicts.jsonl")
ONLY_TEMPLATES = """
    search_path: [shop]
    rules:
      - allow: [execute]
        on: ["*"]
"""
TEMPLATES = """
templates:
  set_notes:
    sql: UPDATE shop.orders SET notes = $$2 WHERE id = $$1
    parameters:
      - {name: order_id, type: integer, minimum: 1, maximum: 3000}
      - {name: notes, type: string, maxLength: 500}
  keep:
    sql: >-
      INSERT INTO shop.kinds (i, f, n, s, b, d, t, z, u, j, list) VALUES ($$1, $$2, $$3, $$4, $$5, $$6, $$7, $$8, $$9, $$10, $$11)
      RETURNING id
    parameters:
      - {name: i, type: integer, nullable: true, multipleOf: 2}
      - {name: f, type: number, nullable: true, exclusiveMinimum: 0}
      - {name: n, type: numeric, nullable: true, maximum: 100.5}
      - {name: s, type: string, nullable: true, pattern: "[a-z]{2,5}", maxLength: 5}
      - {name: b, type: boolean, nullable: true}
      - {name: d, type: date, nullable: true}
      - {name: t, type: timestamp, nullable: true}
      - {name: z, type: timestamptz, nullable: true}
      - {name: u, type: uuid, nullable: true}
      - {name: j, type: json, nullable: true}
      - {name: list, type: array, items: {type: string}, nullable: true, maxItems: 3}
  refund:
    sql: UPDATE shop.orders SET status = 'refunded', notes = $$2 WHERE id = $$1
    parameters:
      - {name: order_id, type: integer, minimum: 1}
      - {name: reason, type: string, enum: [damaged, late, duplicate]}
    max_rows: 1
  run_code: {sql: SELECT shop.move_a_pin($$1), parameters: [{name: path, type: string, maxLength: 50}]}
"""
SCHEMA = """
CREATE TABLE shop.kinds (id serial PRIMARY KEY, i bigint, f float8, n numeric, s text, b bool, d date, t timestamp,
                         z timestamptz, u uuid, j jsonb, list text[]);
CREATE FUNCTION shop.move_a_pin(path text) RETURNS text LANGUAGE sql AS $$SELECT set_config('search_path', path, false)$$;
GRANT ALL ON shop.kinds TO agent;
GRANT ALL ON SEQUENCE shop.kinds_id_seq TO agent;
"""
ALL = ["i", "f", "n", "s", "b", "d", "t", "z", "u", "j", "list"]
# (parameter, as literals in the text, as the texts of bound values)
BAD = [
    ("i", ["1", "1.5", "1e400", "99999999999999999999", "'two'", "TRUE", "'0x10'", "' 2'"], ["3", "2.5", "NaN", "", "2 ", "+2", "0x2"]),
    ("f", ["0", "-1.5", "'NaN'", "'Infinity'", "'-0'", "FALSE"], ["0", "nan", "inf", "1,5", ".", "1e999"]),
    ("n", ["100.6", "'NaN'", "'1 000'", "1e3"], ["100.50000000000001", "Infinity", "--1"]),
    ("s", ["'a'", "'abcdef'", "'Abc'", "'ab1'", "''", "'ab'''", "5", "'a; DROP TABLE shop.orders; --'"], ["x", "ab\n", "$1"]),
    ("b", ["'y'", "'on'", "1", "0", "'TRUE'"], ["yes", "1", ""]),
    ("d", ["'2026-02-30'", "'2025-02-29'", "'now'", "'today'", "'infinity'", "20260101", "'01/02/2026'", "'2026-1-1'"],
     ["tomorrow", "2026-13-01", "2026-01-01T00:00:00"]),
    ("t", ["'2026-01-01'", "'now'", "'2026-01-01T25:00:00'", "'2026-01-01 00:00:00 BC'"], ["epoch", "2026-01-01T00:60:00"]),
    ("z", ["'2026-01-01T00:00:00'", "'2026-01-01T00:00:00+25:00'", "'now'"], ["2026-01-01", "infinity"]),
    ("u", ["'{7b6c7a0e-1f0c-4b53-9a57-3a3f9f3ef001}'", "'7b6c7a0e1f0c4b539a573a3f9f3ef001'", "'x'"],
     ["7b6c7a0e-1f0c-4b53-9a57-3a3f9f3ef00"]),
    ("j", ["'{'", "'{\"a\": NaN}'", "''", "'{''a'': 1}'"], ["[1,]", "nul", "\"a"]),
    ("list", ["'{a,b,c,d}'", "'a'", "'{{a},{b}}'"], ["{a,b,c,d}", "{"]),
]
GOOD_TEXTS = ["'; DROP TABLE shop.orders; --", "x' OR '1'='1", "$1", "a\\'; SELECT 1", "\\x41", "NULL", "now()", "{a,b}",
              "ü€😀", "-- /* */", "%s %(a)s :name", "\t\n", "E'\\n'", "U&'\\0061'", "$$x$$"]
NODE = """
const { Client } = require("pg");
(async () => {
  const client = new Client(JSON.parse(process.argv[1]));
  await client.connect();
  const one = await client.query("EXECUTE set_notes($1, $2)", [11, "node's"]);
  const two = await client.query("EXECUTE set_notes(12, 'plain')");
  const row = await client.query({ text: "EXECUTE keep(2, 1.5, NULL, 'abc', true, NULL, NULL, NULL, NULL, $1, $2)",
                                   values: [JSON.stringify({ a: 1 }), ["x", "y"]] });
  let code = "none";
  try { await client.query("EXECUTE refund($1, $2)", [1, "angry"]); } catch (error) { code = error.code; }
  console.log(JSON.stringify([one.rowCount, two.rowCount, row.rows.length, code]));
  await client.end();
})().catch((error) => { console.error(error); process.exit(1); });
"""

database = running = None


def notes(order):
    return database.value(f"SELECT notes FROM shop.orders WHERE id = {order}")


def connect():
    return pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET)


def values():
    """One of every type, as Python has them."""
    return {"i": 42, "f": 1.5, "n": decimal.Decimal("-12.340"), "s": "abc", "b": True, "d": datetime.date(2024, 2, 29),
            "t": datetime.datetime(2026, 1, 2, 3, 4, 5, 678900),
            "z": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), "u": uuid.UUID(int=7),
            "j": json.dumps({"a": [1, None, "x"]}), "list": ["one", "two, \"three\"", ""]}


def kept():
    row = database.ask("SELECT i, f, n, s, b, d, t, z AT TIME ZONE 'UTC', u::text, j, list FROM shop.kinds ORDER BY id "
                       "DESC LIMIT 1")[0]
    return dict(zip(ALL, row))


def check_kept(expected):
    expected = {**expected, "u": str(expected["u"]), "j": json.loads(expected["j"]),
                "z": expected["z"].replace(tzinfo=None)}
    equal(kept(), expected)


def test_psycopg_with_bound_values():
    for binary in ("%s", "%b"):
        with psycopg.connect(running.dsn(), autocommit=True) as connection:
            row = connection.execute(f"EXECUTE keep({', '.join([binary] * 11)})", list(values().values())).fetchone()
            check(isinstance(row[0], int), str(row))
            check_kept(values())
            equal(connection.execute("EXECUTE set_notes(%s, %s)", (5, "a 'quoted' text")).rowcount, 1)
            equal(notes(5), "a 'quoted' text")


def test_psycopg_prepares_by_itself():
    with psycopg.connect(running.dsn(), autocommit=True, prepare_threshold=0) as connection:
        for number in range(3):
            equal(connection.execute("EXECUTE set_notes(%s, %s)", (6, f"run {number}")).rowcount, 1)
            equal(notes(6), f"run {number}")


def test_psycopg_with_values_in_the_text():
    with psycopg.connect(running.dsn(), autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for text in GOOD_TEXTS:
            connection.execute("EXECUTE set_notes(%s, %s)", (7, text))
            equal(notes(7), text)


def test_psycopg_in_a_transaction_and_a_pipeline():
    with psycopg.connect(running.dsn()) as connection:
        connection.execute("EXECUTE set_notes(%s, %s)", (8, "rolled back"))
        connection.rollback()
        check(notes(8) != "rolled back", "the transaction was rolled back")
        with connection.pipeline():
            for number in range(3):
                connection.execute("EXECUTE set_notes(%s, %s)", (20 + number, "piped"))
        connection.commit()
    equal([notes(20 + n) for n in range(3)], ["piped"] * 3)


def test_psycopg2():
    connection = running.connect()
    cursor = connection.cursor()
    for text in GOOD_TEXTS:
        cursor.execute("EXECUTE set_notes(%s, %s)", (9, text))
        equal((cursor.rowcount, notes(9)), (1, text))
    cursor.execute("EXECUTE keep(%s, %s, %s, %s, %s, NULL, NULL, NULL, NULL, %s, NULL)", (-8, 0.25, 3, "abc", None, "[1]"))
    found = kept()
    equal((found["i"], found["f"], found["n"], found["b"], found["j"]), (-8, 0.25, 3, None, [1]))
    connection.close()


async def with_asyncpg():
    connection = await asyncpg.connect(host="127.0.0.1", port=running.port, user="agent", password=AGENT_SECRET,
                                       database="shop", ssl="disable")
    try:
        given = values()
        query = f"EXECUTE keep({', '.join(f'${n}' for n in range(1, 12))})"
        rows = await connection.fetch(query, *given.values())
        equal(len(rows), 1)
        check_kept(given)
        equal(await connection.execute("EXECUTE set_notes($1, $2)", 10, "async"), "UPDATE 1")
        statement = await connection.prepare("EXECUTE set_notes($1, $2)")
        equal([p.name for p in statement.get_parameters()], ["int8", "text"])
        try:
            await connection.execute("EXECUTE refund($1, $2)", 1, "angry")
            raise AssertionError("a reason that is not in the list")
        except asyncpg.InvalidParameterValueError as error:
            check("parameter reason" in str(error), str(error))
    finally:
        await connection.close()


def test_asyncpg():
    asyncio.run(with_asyncpg())
    equal(notes(10), "async")


def test_node_postgres():
    if shutil.which("node") is None or subprocess.run(["node", "-e", 'require("pg")'], check=False,
                                                      capture_output=True).returncode != 0:
        raise Skip("no pg for node")
    address = {"host": "127.0.0.1", "port": running.port, "user": "agent", "password": AGENT_SECRET, "database": "shop"}
    result = subprocess.run(["node", "-e", NODE, json.dumps(address)], capture_output=True, text=True, timeout=60,
                            check=False)
    equal((result.returncode, result.stdout.strip()), (0, '[1,1,1,"22023"]'), result.stderr)
    equal((notes(11), notes(12)), ("node's", "plain"))


def is_refused(answers, parameter, what):
    found = pgwire.errors(answers)
    equal(len(found), 1, f"{what}: {answers}")
    equal(found[0]["C"], "22023", f"{what}: {found[0]['M']}")
    check(f": parameter {parameter} " in found[0]["M"], f"{what}: {found[0]['M']}")
    check(found[0]["M"].endswith("; nothing was run"), found[0]["M"])


def test_bad_values_are_refused_by_the_name_of_their_parameter():
    before = database.fingerprint()
    count = 0
    with connect() as c:
        for parameter, literals, texts in BAD:
            for literal in literals:
                call = "EXECUTE keep(" + ", ".join(literal if p == parameter else "NULL" for p in ALL) + ")"
                is_refused(c.run(pgwire.query(call)), parameter, call)
            sql = "EXECUTE keep(" + ", ".join("$1" if p == parameter else "NULL" for p in ALL) + ")"
            for text in texts:
                answers = c.run(pgwire.parse(sql), pgwire.bind([text.encode()]), pgwire.execute(), pgwire.SYNC)
                is_refused(answers, parameter, f"{parameter} = {text!r}")
            count += len(literals) + len(texts)
            garbage = pgwire.message("B", b"\0\0" + b"\0\1\0\1\0\1" + b"\0\0\0\3\xff\xfe\0" + b"\0\0")
            is_refused(c.run(pgwire.parse(sql), garbage, pgwire.execute(), pgwire.SYNC), parameter, "binary garbage")
    check(count >= 40, f"{count} bad values")
    equal(database.fingerprint(), before, "the database after what was refused")


def test_an_enum_and_null_where_there_may_be_none():
    with connect() as c:
        error = pgwire.errors(c.run(pgwire.query("EXECUTE refund(1, 'angry')")))[0]
        equal(error["M"], "pgwicket: refund: parameter reason must be one of damaged, late, duplicate (got \"angry\"); "
                          "nothing was run")
        equal(error["D"], "Parameter 2 of EXECUTE refund(order_id integer, reason string).")
        equal(error["H"], "SHOW pgwicket.templates gives the JSON Schema.")
        is_refused(c.run(pgwire.query("EXECUTE refund(NULL, 'late')")), "order_id", "null")
        is_refused(c.run(*[pgwire.parse("EXECUTE refund($1, 'late')"), pgwire.bind([None]), pgwire.execute(),
                           pgwire.SYNC]), "order_id", "null")


def judged():
    """What `pgwicket judge` says of every case."""
    with open(CASES, encoding="utf-8") as file:
        result = subprocess.run([BIN, "judge", running.file, "--agent", "agent"], stdin=file, capture_output=True, text=True,
                                check=True, timeout=120)
    return {a["id"]: a for a in map(json.loads, result.stdout.splitlines())}


def is_refused_live(case):
    statement = base64.b64decode(case["sql_b64"]) if "sql_b64" in case else case["sql"]
    with connect() as c:
        return any([pgwire.errors(c.run(pgwire.query(sql))) for sql in [*case.get("setup", []), statement]])


def test_an_agent_with_templates_only_can_do_nothing_else():
    with open(CASES, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    verdicts = judged()
    before = database.fingerprint()
    wrong = [f"{c['id']}: allowed to {verdicts[c['id']]['actions']}" for c in cases
             if verdicts[c["id"]]["verdict"] == "allow" and verdicts[c["id"]]["actions"]]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for case, refused in zip(cases, pool.map(is_refused_live, cases)):
            # READ WRITE is harmless where a template may write.
            rejects = case["kind"] != "txn-mode" and any(case.get(p) == "reject" for p in ("reader", "writer"))
            if not refused and (rejects or verdicts[case["id"]]["verdict"] == "reject"):
                wrong.append(f"{case['id']}: not rejected")
    equal(wrong, [], f"{len(wrong)} statements")
    equal(database.fingerprint(), before, "the database")


def test_code_of_a_template_that_moves_a_pin_ends_the_session():
    with connect() as c:
        path = [a.values()[0].decode() for a in c.run(pgwire.query("SHOW search_path")) if a.kind == "D"][0]
        equal(pgwire.errors(c.run(pgwire.query(f"EXECUTE run_code('{path}')"))), [])
        equal(pgwire.errors(c.run(pgwire.query("EXECUTE set_notes(30, 'still here')"))), [])
    for messages in ([pgwire.query("EXECUTE run_code('public')")],
                     [pgwire.parse("EXECUTE run_code($1)"), pgwire.bind([b"public"]), pgwire.execute(), pgwire.SYNC]):
        with connect() as c:
            c.run(*messages)
            try:
                error = pgwire.errors(c.run(pgwire.query("EXECUTE set_notes(30, 'too late')")))
                check(error and error[0]["S"] == "FATAL", f"the session went on: {error}")
            except (pgwire.Closed, ConnectionError):
                pass
    equal(notes(30), "still here")


def configuration(templates=TEMPLATES):
    return CONFIGURATION + templates


def reload(wicket, text):
    wicket.template = text
    wicket.configure()
    size = len(wicket.read_log())
    wicket.signal(signal.SIGHUP)
    eventually(lambda: "configuration " in wicket.read_log()[size:], "the reload")
    return wicket.read_log()[size:]


BROKEN = configuration(TEMPLATES.replace("UPDATE shop.orders SET notes", "UPDATE shop.orders SET no_such_column"))


def test_a_template_that_does_not_prepare_is_an_error_at_start():
    with Database() as other:
        other.ask(SCHEMA)
        broken = Wicket(other, ONLY_TEMPLATES, configuration=BROKEN)
        try:
            broken.start()
            raise AssertionError("it started")
        except AssertionError as error:
            check("template set_notes" in str(error) and "no_such_column" in str(error), str(error))
        finally:
            shutil.rmtree(broken.folder, ignore_errors=True)


def test_a_reload_with_one_keeps_the_old_configuration():
    with Database() as other:
        other.ask(SCHEMA)
        with Wicket(other, ONLY_TEMPLATES, configuration=configuration()) as wicket:
            log = reload(wicket, BROKEN)
            check("configuration not changed" in log and "no_such_column" in log, log)
            with contextlib.closing(wicket.connect()) as c:
                c.cursor().execute("EXECUTE set_notes(1, 'as before')")
            log = reload(wicket, configuration(TEMPLATES.replace("maxLength: 500", "maxLength: 5")))
            check("configuration read again" in log, log)
            with contextlib.closing(wicket.connect()) as c:
                try:
                    c.cursor().execute("EXECUTE set_notes(1, 'too long now')")
                    raise AssertionError("the old template")
                except psycopg2.Error as error:
                    equal(error.pgcode, "22023")


def test_an_upstream_that_comes_later_is_asked_then():
    with Database() as other:
        other.ask(SCHEMA + "ALTER TABLE shop.orders RENAME COLUMN notes TO later")
        Database._admin("postgres", f"ALTER DATABASE {other.name} ALLOW_CONNECTIONS false")
        wicket = Wicket(other, ONLY_TEMPLATES, configuration=configuration())
        with open(wicket.log, "ab") as log:
            wicket.process = subprocess.Popen([BIN, "serve", wicket.file], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            eventually(lambda: "ready" in wicket.read_log(), "the start without its upstream", 30)
            Database._admin("postgres", f"ALTER DATABASE {other.name} ALLOW_CONNECTIONS true")
            eventually(lambda: "template set_notes" in wicket.read_log(), "the template is asked for", 30)
            with contextlib.closing(wicket.connect()) as c:
                for sql, code in (("EXECUTE set_notes(1, 'x')", "55000"), ("EXECUTE run_code('shop')", None)):
                    try:
                        c.cursor().execute(sql)
                        equal(None, code, sql)
                    except psycopg2.Error as error:
                        equal(error.pgcode, code, sql)
            other.ask("ALTER TABLE shop.orders RENAME COLUMN later TO notes")
            with contextlib.closing(wicket.connect()) as c:
                eventually(lambda: runs(c, "EXECUTE set_notes(1, 'x')"), "it prepares now")
            wicket.stop()
            wicket.check_log()
        finally:
            if wicket.process is not None:
                wicket.kill()
            shutil.rmtree(wicket.folder, ignore_errors=True)


def runs(connection, sql):
    try:
        connection.cursor().execute(sql)
        return True
    except psycopg2.Error:
        return False


def test_a_template_changed_since_its_hold_does_not_run():
    held = TEMPLATES.replace("max_rows: 1", "hold: true")
    with Database() as other:
        other.ask(SCHEMA)
        policy = ONLY_TEMPLATES + "    hold: {wait: 0s}\n"
        with Wicket(other, policy, configuration=configuration(held)) as wicket:
            with contextlib.closing(wicket.connect()) as c:
                check(not runs(c, "EXECUTE refund(1, 'late')"), "it is held")
                hold = wicket.holds("pending")[0]
                wicket.command("release", hold["id"], "--digest", hold["digest"])
                reload(wicket, configuration(held.replace("status = 'refunded'", "status = 'cancelled'")))
                try:
                    c.cursor().execute(f"EXECUTE pgwicket_hold({hold['id']})")
                    raise AssertionError("a template that nobody approved ran")
                except psycopg2.Error as error:
                    equal(error.pgcode, "42501")
                    check("is another one" in str(error), str(error))


if __name__ == "__main__":
    with Database() as database:
        database.ask(SCHEMA)
        with Wicket(database, ONLY_TEMPLATES, configuration=configuration()) as running:
            sys.exit(main(globals()))

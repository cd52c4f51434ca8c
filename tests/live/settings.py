"""Every setting of parser/builtins/settings-15.tsv in every spelling: the same verdict.

Harmless ones pass, time-outs go down only, the others need `set` on setting:NAME, and what is pinned moves
in no spelling, whatever the rules allow. The table is asked by `pgwicket judge`; startup parameters and
what row security sees, by sessions.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import corpus
import pgwire

from live import check, equal, main, some
from wicket import AGENT_SECRET, BIN, Database, Wicket, configuration

CONFIGURATION = configuration("""
policies:
  plain:
    search_path: [shop]
    settings: {app.tenant: {pin: "17"}, row_security: {pin: "on"}, DateStyle: {pin: "ISO, MDY"}, statement_timeout: 10s}
    rules:
      - allow: [select, insert, update, delete]
        on: ["shop.*"]
      - allow: [alter, create, code]
        on: ["role:*", "database:*", "shop.*", "language:*"]
  setter:
    search_path: [shop]
    settings: {app.tenant: {pin: "17"}, row_security: {pin: "on"}, DateStyle: {pin: "ISO, MDY"}, statement_timeout: 10s}
    rules:
      - allow: [select, insert, update, delete]
        on: ["shop.*", "pg_catalog.*"]
      - allow: [alter, create, code]
        on: ["role:*", "database:*", "shop.*", "language:*"]
      - allow: [set]
        on: ["setting:*"]
  tenant:
    search_path: [shop]
    settings: {app.tenant: {pin: {attribute: tenant}}, row_security: {pin: "on"}}
    rules:
      - allow: [select, insert, update, delete]
        on: [shop.notes]
      - allow: [set]
        on: ["setting:*"]
""", agent="plain", setter="setter", tenant='tenant, attributes: {tenant: "17"}')

# A value that the server takes, where it must not be 'x'.
VALUES = {"bytea_output": "hex", "client_min_messages": "warning", "default_transaction_deferrable": "on",
          "default_transaction_isolation": "serializable", "default_transaction_read_only": "on",
          "escape_string_warning": "off", "extra_float_digits": "3", "IntervalStyle": "iso_8601", "jit": "off",
          "TimeZone": "UTC", "transaction_deferrable": "on", "transaction_isolation": "serializable",
          "transaction_read_only": "on", "xmlbinary": "hex", "ssl_renegotiation_limit": "0"}
DOWN = {"statement_timeout": ("9s", "11s"), "lock_timeout": ("1s", "3s"), "idle_session_timeout": ("1h", None),
        "idle_in_transaction_session_timeout": ("50s", "70s")}
PINNED = {"client_encoding": ("UTF8", "LATIN1"), "standard_conforming_strings": ("on", "off"), "search_path":
          ("shop", "public"), "app.tenant": ("17", "18"), "row_security": ("on", "off"),
          "DateStyle": ("ISO, MDY", "German")}
SPELLINGS = {
    "SET": "SET {name} = '{value}'", "SET SESSION": "SET SESSION {name} TO '{value}'",
    "SET LOCAL": "BEGIN; SET LOCAL {name} TO '{value}'; COMMIT", "quoted": "SET {quoted} = '{value}'",
    "set_config": "SELECT pg_catalog.set_config('{name}', '{value}', false)",
    "set_config, local": "SELECT pg_catalog.set_config('{name}'::text, '{value}', true)",
    "set_config, hidden": "SELECT (SELECT id FROM shop.orders WHERE pg_catalog.set_config('{name}', '{value}', false) IS NULL)",
    "prepared": "PREPARE p AS SELECT pg_catalog.set_config('{name}', '{value}', false)",
    "ALTER ROLE": "ALTER ROLE agent SET {name} = '{value}'",
    "ALTER ROLE IN DATABASE": "ALTER ROLE ALL IN DATABASE shop SET {name} TO '{value}'",
    "ALTER DATABASE": "ALTER DATABASE shop SET {name} TO '{value}'",
    "function": "CREATE FUNCTION shop.f() RETURNS int LANGUAGE sql SET {name} = '{value}' AS 'SELECT 1'",
    "ALTER FUNCTION": "ALTER FUNCTION shop.bump() SET {name} = '{value}'",
}
# A path of its own makes a function safer.
OF_ROUTINES = ("function", "ALTER FUNCTION")

database = running = None


def table():
    return [row for row in corpus.table("settings") if row["context"] != "spelling" and "*" not in row["name"]]


def judge(agent, statements):
    """The verdicts, in order."""
    lines = "".join(json.dumps({"id": i, "sql": sql}) + "\n" for i, sql in enumerate(statements))
    result = subprocess.run([BIN, "judge", running.file, "--agent", agent], input=lines, capture_output=True, text=True,
                            timeout=300, check=False)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    equal([a["id"] for a in answers], list(range(len(statements))), f"answers of judge: {result.stderr[-500:]}")
    return [a["verdict"] for a in answers]


def written(name, value):
    for spelling, form in SPELLINGS.items():
        yield spelling, form.format(name=name, value=value, quoted=f'"{name.upper()}"' if "." not in name else name)


def all_have_verdict(agent, expected, values):
    """`values`: (name, value, spellings left out)."""
    cases = [(spelling, sql) for name, value, without in values for spelling, sql in written(name, value)
             if spelling not in without]
    check(len(cases) > 0, "there are cases")
    found = judge(agent, [sql for _, sql in cases])
    wrong = [f"{verdict}: {sql}" for (_, sql), verdict in zip(cases, found) if verdict != expected]
    equal(wrong, [], f"{len(wrong)} of {len(cases)} are not {expected} for {agent}")


def by_class(wanted):
    special = set(DOWN) | set(PINNED) | {"role", "session_authorization"}
    return [row["name"] for row in table() if row["class"] == wanted and row["name"] not in special]


def test_harmless_settings_pass_in_every_spelling():
    names = by_class("harmless")
    check(len(names) >= 16, names)
    for agent in ("agent", "setter"):
        all_have_verdict(agent, "allow", [(name, VALUES.get(name, "x"), ()) for name in names])


def test_the_others_need_a_rule_in_every_spelling():
    names = by_class("never") + ["app.other", "no_such_setting"]
    check(len(names) > 300, f"{len(names)} settings")
    all_have_verdict("agent", "reject", [(name, "1", ()) for name in names])
    all_have_verdict("setter", "allow", [(name, "1", ()) for name in names])


def test_time_outs_go_down_only_in_every_spelling():
    all_have_verdict("agent", "allow", [(name, low, ()) for name, (low, _) in DOWN.items()])
    up = [(name, high, ()) for name, (_, high) in DOWN.items() if high] + \
         [(name, "0", ()) for name, (_, high) in DOWN.items() if high] + \
         [(name, "1.5s", ()) for name in DOWN]
    all_have_verdict("agent", "reject", up)
    all_have_verdict("setter", "allow", up)


def test_what_is_pinned_moves_in_no_spelling():
    for agent in ("agent", "setter"):
        # setting:* also unpins search_path.
        pins = {k: v for k, v in PINNED.items() if k != "search_path" or agent == "agent"}
        all_have_verdict(agent, "allow", [(name, same, () if name != "search_path" else OF_ROUTINES)
                                          for name, (same, _) in pins.items()])
        all_have_verdict(agent, "reject", [(name, other, () if name != "search_path" else OF_ROUTINES)
                                           for name, (_, other) in pins.items()])


ALIASES = [  # statement, verdict without a rule for settings, verdict with one
    ("SET NAMES 'UTF8'", "allow", "allow"), ("SET NAMES 'SJIS'", "reject", "reject"),
    ("SET SCHEMA 'shop'", "allow", "allow"), ("SET SCHEMA 'public'", "reject", "allow"),
    ("SET TIME ZONE 'UTC'", "allow", "allow"), ("SET TIME ZONE LOCAL", "allow", "allow"),
    ("SET TIME ZONE INTERVAL '+02:00' HOUR TO MINUTE", "allow", "allow"), ("SET TIME ZONE -7", "allow", "allow"),
    ("SET ROLE postgres", "reject", "reject"), ("SET ROLE NONE", "reject", "reject"),
    ("SET LOCAL ROLE postgres", "reject", "reject"), ("SET role = postgres", "reject", "reject"),
    ("SELECT set_config('role', 'postgres', false)", "reject", "reject"), ("RESET ROLE", "allow", "allow"),
    ("SET SESSION AUTHORIZATION postgres", "reject", "reject"),
    ("SET SESSION AUTHORIZATION DEFAULT", "allow", "allow"), ("SET XML OPTION DOCUMENT", "reject", "allow"),
    ("SET SEED TO 0.5", "reject", "allow"), ("RESET ALL", "allow", "allow"), ("DISCARD ALL", "allow", "allow"),
    ("RESET work_mem", "allow", "allow"), ("SET work_mem TO DEFAULT", "allow", "allow"),
    ("SET app.tenant TO DEFAULT", "allow", "allow"), ("RESET app.tenant", "allow", "allow"),
    ("SET work_mem FROM CURRENT", "reject", "allow"), ("SET app.tenant FROM CURRENT", "reject", "reject"),
    ("SET jit FROM CURRENT", "allow", "allow"), ("SET client_min_messages = debug5", "reject", "allow"),
    ("SELECT pg_catalog.set_config('jit', $1, false)", "allow", "allow"),
    ("SELECT set_config('app.tenant', $1, false)", "reject", "reject"),
    ("SELECT set_config('app.tenant', '1' || '8', false)", "reject", "reject"),
    ("SELECT set_config('app.' || 'tenant', '18', false)", "reject", "reject"),
    ("SELECT set_config($1, '18', false)", "reject", "reject"),
    ("SELECT set_config('DateStyle', $1, false)", "reject", "reject"),
    ("SELECT set_config(name, '18', false) FROM shop.customers", "reject", "reject"),
    ("SELECT pg_catalog.\"set_config\"('app.tenant', '18', false)", "reject", "reject"),
    ("SELECT U&\"set\\005fconfig\"('app.tenant', '18', false)", "reject", "reject"),
    ("SELECT set_config(setting_name => 'app.tenant', new_value => '18', is_local => false)", "reject", "reject"),
    ("UPDATE pg_settings SET setting = '18' WHERE name = 'app.tenant'", "reject", "reject"),
    ("UPDATE pg_catalog.pg_settings SET setting = 'off' WHERE name = 'jit'", "reject", "reject"),
    ("ALTER ROLE agent RESET statement_timeout", "reject", "allow"), ("ALTER ROLE agent RESET ALL", "reject", "allow"),
    ("ALTER SYSTEM SET jit = off", "reject", "reject"), ("ALTER SYSTEM RESET ALL", "reject", "reject"),
    ("BEGIN READ WRITE", "allow", "allow"), ("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE", "allow", "allow"),
    ("SET TRANSACTION READ WRITE", "allow", "allow"), ("SET TRANSACTION SNAPSHOT 'x'", "reject", "reject"),
    ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "allow", "allow"),
    ("SHOW data_directory", "reject", "allow"), ("SELECT pg_catalog.current_setting('data_directory')", "reject", "allow"),
    ("SHOW ALL", "reject", "reject"), ("SHOW app.tenant", "allow", "allow"), ("SHOW app.other", "reject", "allow"),
    ("SELECT pg_catalog.current_setting('app.tenant')", "allow", "allow"),
]


def test_other_spellings_have_the_same_verdict():
    for agent, at in (("agent", 1), ("setter", 2)):
        found = judge(agent, [case[0] for case in ALIASES])
        wrong = [f"{verdict}: {case[0]}" for case, verdict in zip(ALIASES, found) if verdict != case[at]]
        equal(wrong, [], agent)


def session(user, **parameters):
    """What the session has of the settings asked for in `shown`; the error's code where there is none."""
    try:
        return pgwire.Connection("127.0.0.1", running.port, user, AGENT_SECRET, timeout=60, **parameters)
    except pgwire.LoginError as error:
        return error.fields["C"]


def in_effect(connection, name):
    rows = [a for a in connection.run(pgwire.query(f"SELECT pg_catalog.current_setting('{name}')")) if a.kind == "D"]
    return rows[0].values()[0].decode() if rows else None


def startup_spellings(name, value):
    yield {name: value}
    escaped = value.replace("\\", "\\\\").replace(" ", "\\ ")
    for option in (f"-c {name}={escaped}", f"--{name.replace('_', '-')}={escaped}", f"-c{name}={escaped}"):
        yield {"options": option}


def test_startup_parameters_are_judged_as_set():
    """A refused one ends the login or is left out; it is never in effect."""
    moving = [(name, VALUES[name]) for name in ("bytea_output", "extra_float_digits", "jit", "TimeZone")]
    for name, value in moving:
        for parameters in startup_spellings(name, value):
            with session("agent", **parameters) as c:
                equal(in_effect(c, name), value, str(parameters))
    closed = [(name, other) for name, (_, other) in PINNED.items() if name != "client_encoding"] + \
             [(name, high) for name, (_, high) in DOWN.items() if high] + \
             [("work_mem", "1GB"), ("role", "postgres"), ("session_replication_role", "replica"), ("enable_seqscan", "off")]
    readable = {row["name"] for row in table() if row["readable"] == "yes"}
    for name, value in closed:
        for parameters in startup_spellings(name, value):
            c = session("agent", **parameters)
            if isinstance(c, str):
                continue
            with c:
                if name in readable:
                    check(in_effect(c, name) != value, f"{parameters} is in effect")


def test_every_setting_as_a_startup_parameter():
    """One that needs a rule ends the login in each spelling, before anything is opened upstream."""
    names = by_class("never") + ["app.other", "role", "session_authorization", "search_path"]
    tries = [(name, parameters) for name in names for parameters in startup_spellings(name, "1")
             if list(parameters) != ["port"]]  # which is an argument of Connection
    check(len(tries) > 1200, f"{len(tries)} tries")
    tries = some(tries, 4)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda item: session("agent", **item[1]), tries))
    wrong = [f"{parameters}: {code}" for (_, parameters), code in zip(tries, found) if code != "42501"]
    equal(wrong, [], f"{len(wrong)} of {len(tries)} are not refused")
    harmless = [(name, VALUES[name]) for name in by_class("harmless")
                if name in VALUES and not name.startswith("transaction_")]  # of one transaction, not of a session
    check(len(harmless) > 5, harmless)
    for name, value in harmless + [(name, low) for name, (low, _) in DOWN.items()]:
        for parameters in startup_spellings(name, value):
            c = session("agent", **parameters)
            check(not isinstance(c, str), f"{parameters}: {c}")
            with c:
                check(in_effect(c, name) is not None, str(parameters))


# --- a tenant by pinned setting and row security ---------------------------------------------------

NOTES = """
CREATE TABLE shop.notes (id int PRIMARY KEY, tenant text NOT NULL DEFAULT current_setting('app.tenant'), note text);
INSERT INTO shop.notes VALUES (1, '17', 'mine'), (2, '18', 'theirs'), (3, '17', 'mine too');
ALTER TABLE shop.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON shop.notes USING (tenant = current_setting('app.tenant'))
    WITH CHECK (tenant = current_setting('app.tenant'));
GRANT SELECT, INSERT, UPDATE, DELETE ON shop.notes TO agent;
"""
# Each a try to be tenant 18: messages of one session.
ESCAPES = [[sql] for _, sql in written("app.tenant", "18")] + [
    ["BEGIN; SET LOCAL app.tenant = '18'; SELECT * FROM shop.notes; COMMIT"], ["BEGIN", "SET LOCAL app.tenant = '18'"],
    ["SELECT n.* FROM (SELECT set_config('app.tenant', '18', false)) s, shop.notes n"],
    ["WITH s AS MATERIALIZED (SELECT set_config('app.tenant', '18', true)) SELECT n.* FROM s, shop.notes n"],
    ["RESET app.tenant"], ["RESET ALL"], ["DISCARD ALL"], ["SET app.tenant TO DEFAULT"], ["SET SESSION AUTHORIZATION DEFAULT"],
    ["SET \"app.tenant\" = '18'"], ["SET App.Tenant = '18'"], ["SET app.tenant = '18', '17'"], ["SET app.tenant = 18"],
    ["SELECT set_config('APP.TENANT', '18', false)"], ["SELECT set_config('app.tenant', '1' || '8', false)"],
    ["SELECT set_config(E'app\\x2etenant', '18', false)"], ["UPDATE pg_settings SET setting = '18' WHERE name = 'app.tenant'"],
    ["SET row_security = off"], ["SET LOCAL row_security TO off"], ["SELECT set_config('row_security', 'off', false)"],
    ["SET ROLE postgres"], ["SET SESSION AUTHORIZATION postgres"], ["ALTER TABLE shop.notes DISABLE ROW LEVEL SECURITY"],
    ["CREATE POLICY all_rows ON shop.notes USING (true)"], ["DROP POLICY own_tenant ON shop.notes"],
    ["DO $$BEGIN PERFORM set_config('app.tenant', '18', false); END$$"],
    ["PREPARE s AS SELECT set_config('app.tenant', '18', false)", "EXECUTE s"],
    ["PREPARE s(text) AS SELECT set_config('app.tenant', $1, false)", "EXECUTE s('18')"],
    ["DECLARE c CURSOR WITH HOLD FOR SELECT set_config('app.tenant', '18', false)", "FETCH ALL FROM c"],
    ["BEGIN", "SAVEPOINT s", "SET app.tenant = '18'", "ROLLBACK TO s", "COMMIT"], ["RESET ALL; SET app.tenant = '18'"],
]


def tenants(connection):
    """Whose notes a session sees; it may have been left in an aborted transaction."""
    connection.run(pgwire.query("ROLLBACK"))
    answers = connection.run(pgwire.query("SELECT DISTINCT tenant FROM shop.notes"))
    equal(pgwire.errors(answers), [], "looking at notes")
    return [a.values()[0].decode() for a in answers if a.kind == "D"]


def test_an_agent_stays_in_its_tenant():
    database.ask(NOTES)
    running.stop()
    running.start()  # with a catalog that knows the table
    with session("tenant") as c:
        equal(tenants(c), ["17"])
        equal(pgwire.errors(c.run(pgwire.query("INSERT INTO shop.notes (id, note) VALUES (4, 'new')"))), [])
        equal(pgwire.errors(c.run(pgwire.query("SET app.tenant = '17'"))), [], "the pinned value itself")
    for tries in ESCAPES:
        for extended in (False, True):
            with session("tenant") as c:
                for sql in tries:
                    answers = c.run(pgwire.query(sql)) if not extended else \
                        c.run(pgwire.parse(sql), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.SYNC)
                    check(not any(b"theirs" in a.payload for a in answers), f"{sql} shows another tenant's row")
                equal(tenants(c), ["17"], f"after {tries}")
    for parameters in startup_spellings("app.tenant", "18"):
        c = session("tenant", **parameters)
        if not isinstance(c, str):
            with c:
                equal(tenants(c), ["17"], str(parameters))
    with session("tenant") as c:
        c.run(pgwire.parse("SELECT set_config('app.tenant', $1, false)"), pgwire.bind([b"18"]), pgwire.execute(), pgwire.SYNC)
        equal(tenants(c), ["17"], "by a bound value")
        for sql in ("UPDATE shop.notes SET tenant = '18'", "INSERT INTO shop.notes (id, tenant) VALUES (9, '18')"):
            equal([e["C"] for e in pgwire.errors(c.run(pgwire.query(sql)))], ["42501"], sql)
    equal(database.ask("SELECT tenant, count(*) FROM shop.notes GROUP BY 1 ORDER BY 1"), [("17", 3), ("18", 1)])


if __name__ == "__main__":
    with Database() as database, Wicket(database, configuration=CONFIGURATION) as running:
        code = main(globals())
    sys.exit(code)

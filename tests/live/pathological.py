"""Statements made to break a parser, beside a load that must not notice them."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, main
from wicket import AGENT_SECRET, wicket

# Name, text, SQLSTATEs that are right; None is "it may also pass", 57014 the server's own time-out.
STATEMENTS = [
    ("parentheses", "SELECT " + "(" * 20000 + "1" + ")" * 20000, ["54001", "42601"]),
    ("a long sum", "SELECT " + "+".join(["1"] * 50000), ["54001", None]),
    ("a chain of OR", "SELECT 1 FROM shop.orders WHERE " + " OR ".join(f"id = {i}" for i in range(4000)),
     ["54001", "57014", None]),
    ("nested subqueries", "SELECT * FROM (" * 3000 + "SELECT 1" + ") t" * 3000, ["54001", "42601"]),
    ("nested CASE", "SELECT " + "CASE WHEN true THEN " * 3000 + "1" + " END" * 3000, ["54001"]),
    ("nested arrays", "SELECT " + "ARRAY[" * 5000 + "1" + "]" * 5000, ["54001"]),
    ("NOT NOT NOT", "SELECT " + "NOT " * 30000 + "true", ["54001"]),
    ("casts", "SELECT 1" + "::int" * 30000, ["54001", None]),
    ("unions", " UNION ALL ".join(["SELECT 1"] * 5000), ["54001", None]),
    ("a long list", "SELECT 1 FROM shop.orders WHERE id IN (" + ",".join(map(str, range(100000))) + ")",
     ["54001", None]),
    ("more than a megabyte", "SELECT '" + "x" * (1100 * 1024) + "'", ["54001"]),
    ("many statements", "SELECT 1;" * 20000, ["54001", "42501", None]),
    ("semicolons", ";" * 500000, [None, "54001", "42601"]),
    ("comments", "/*" * 20000 + "*/" * 20000 + " SELECT 1", [None, "54001", "42601"]),
    ("an open comment", "SELECT 1 /*" + "x" * 100000, ["42601"]),
    ("an open string", "SELECT '" + "x" * 100000, ["42601"]),
    ("dollar quotes", "SELECT $a$" + "$b$" * 50000, ["42601"]),
    ("JOINs", "SELECT 1 FROM shop.orders o0 " + " ".join(f"JOIN shop.orders o{i} USING (id)" for i in range(1, 3000)),
     ["54001", "54000", "42501", None, "57014"]),
    ("CTEs", "WITH " + ",".join(f"c{i} AS (SELECT 1)" for i in range(10000)) + " SELECT 1", ["54001", None]),
    ("a deep name", "SELECT " + ".".join(["a"] * 10000), ["42601", "54001", "42501", "42P01"]),
    ("bytes that are no text", b"SELECT '\xff\xfe\xc3\x28'", ["22021", "42601"]),
    ("nothing", "", [None]),
]
POLICY = """
    search_path: [public, shop]
    introspection: allow
    settings: {statement_timeout: 5s}
    rules:
      - allow: [select]
        on: [shop.orders, public.pgbench_accounts, public.pgbench_branches]
"""
SECONDS_MAX = 30

database = running = None


def outcome(messages):
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, timeout=60) as c:
        started = time.monotonic()
        try:
            found = pgwire.errors(c.run(*messages))
        except pgwire.Closed:
            return "closed", 0.0
        return (found[0]["C"] if found else None), time.monotonic() - started


def transactions(line):
    """A second, of a line of pgbench's progress."""
    return float(line.split(" tps")[0].split()[-1]) if line.startswith("progress:") else 0.0


def start_load():
    """pgbench, once its sessions are there and at work."""
    environment = {**os.environ, "PGPASSWORD": AGENT_SECRET}
    load = subprocess.Popen(["pgbench", "-n", "-S", "-M", "prepared", "-c", "2", "-R", "200", "-T", "600", "-P", "1",
                             "-h", "127.0.0.1", "-p", str(running.port), "-U", "agent", "shop"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment)
    while load.poll() is None and transactions(load.stdout.readline()) == 0:
        pass
    return load


def test_they_disturb_nobody():
    subprocess.run(["pgbench", "-i", "-s", "1", "-q", "-h", os.environ["PGWICKET_TEST_SOCKET"], "-p",
                    os.environ["PGWICKET_TEST_PORT"], "-U", "postgres", database.name], check=True,
                   capture_output=True)
    database.ask("GRANT SELECT ON pgbench_accounts, pgbench_branches TO agent")
    load = start_load()
    wrong = []
    try:
        for name, sql, expected in STATEMENTS:
            for messages in ([pgwire.query(sql)], [pgwire.parse(sql), pgwire.SYNC]):
                code, seconds = outcome(messages)
                multiple = messages[0][:1] == b"P" and code == "42601"
                if not multiple and (code not in expected or seconds > SECONDS_MAX):
                    wrong.append(f"{name}: {code} after {seconds:.1f} s")
                check(load.poll() is None, f"the load ended at {name}")
    finally:
        load.terminate()
        output = load.communicate(timeout=30)[0]
    equal(wrong, [], "answers")
    progress = [line for line in output.split("\n") if line.startswith("progress:")]
    check(len(progress) >= 1, output[-500:])
    for line in progress:
        check(transactions(line) > 0, f"a second without a transaction: {line}")
    check("failed" not in output.replace("0 failed", "") and "ERROR" not in output, output[-500:])


def test_the_session_goes_on_after_each():
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, timeout=60) as c:
        for name, sql, _ in STATEMENTS:
            c.run(pgwire.query(sql))
            equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ", f"after {name}")


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        code = main(globals())
    sys.exit(code)

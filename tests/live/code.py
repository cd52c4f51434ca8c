"""What an agent that may make functions made a moment ago is judged for what it is."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, main
from wicket import AGENT_SECRET, wicket

POLICY = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: [shop.orders]
      - allow: [create, code]
        on: ["shop.*"]
"""
database = running = None


def connection():
    return pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET)


def test_a_name_that_its_own_function_could_take_needs_call_before_and_after():
    with connection() as c, connection() as other:
        for statement in ("SELECT 1",
                          "CREATE FUNCTION shop.gcd(int, text) RETURNS int LANGUAGE sql AS 'SELECT 42'"):
            equal(pgwire.errors(c.run(pgwire.query(statement))), [])
            for session in (c, other):
                found = pgwire.errors(session.run(pgwire.query("SELECT gcd(4, '6')")))
                equal([e["C"] for e in found], ["42501"])
                check("schema" in found[0]["H"], found[0]["H"])
                equal(pgwire.errors(session.run(pgwire.query("SELECT pg_catalog.gcd(4, '6')"))), [])


def test_what_pg_catalog_has_for_exactly_these_types_is_found_first():
    with connection() as c:
        for statement in ("CREATE FUNCTION shop.lcm(int, int) RETURNS int LANGUAGE sql AS 'SELECT 42'",
                          "CREATE FUNCTION shop.lcm(int, bigint) RETURNS int LANGUAGE sql AS 'SELECT 42'"):
            equal(pgwire.errors(c.run(pgwire.query(statement))), [])
        equal([m.values() for m in c.run(pgwire.query("SELECT lcm(4, 6)")) if m.kind == "D"], [[b"12"]])
        equal([e["C"] for e in pgwire.errors(c.run(pgwire.query("SELECT lcm(4, 6000000000)")))], ["42501"])


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask("GRANT CREATE ON SCHEMA shop TO agent")
        code = main(globals())
    sys.exit(code)

"""Statements whose cost is limited: EXPLAIN is asked in the client's session, wherever in a batch or transaction they
stand, and the client sees nothing of it."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import extended, fails_with, ground, same_as_directly, tags
from live import check, equal, main

# A scan of w.t costs about 20, of two of them joined without a condition many thousands.
POLICY = """
    search_path: [w]
    introspection: allow
    rules:
      - allow: [select]
        on: [w.t, w.child]
        max_cost: 100
        max_rows: 2000
      - allow: [select]
        on: [w.log, w.slow]
      - allow: [insert]
        on: [w.log, w.copy]
      - allow: [update]
        on: [w.slow]
        where: required
        max_rows: 3
      - allow: [update]
        on: [w.log]
        where: key
        max_rows: 2
      - allow: [create]
        on: [w.copy]
"""
CHEAP = "SELECT id, note FROM w.t WHERE id < 5"
DEAR = "SELECT a.id FROM w.t a, w.t b, w.t c"
INSERT = [pgwire.parse("INSERT INTO w.log VALUES (1, 'x')"), pgwire.bind(), pgwire.execute()]
TOO_DEAR = "query is too expensive"

place = None


def logged():
    return place.value("SELECT count(*) FROM w.log")


def named(sql, name, values=()):
    """Parse and Bind only."""
    return [pgwire.parse(sql, name), pgwire.bind(values, name, name), pgwire.describe("P", name)]


def test_what_is_cheap_looks_as_without_pgwicket():
    for sql in (CHEAP, f"COPY ({CHEAP}) TO STDOUT", "COPY w.t (id) TO STDOUT", "COPY t TO STDOUT (FORMAT csv, HEADER)",
                "COPY (VALUES (1), (2)) TO STDOUT", "COPY (SELECT ')' AS \"(\", count(*) FROM w.t WHERE note <> '(') TO STDOUT",
                "TABLE w.t", "WITH x AS (SELECT * FROM w.t) SELECT count(*) FROM x"):
        same_as_directly(place, pgwire.query(sql))
        same_as_directly(place, [*extended(sql), pgwire.SYNC])
        same_as_directly(place, pgwire.query("BEGIN"), [*extended(sql), pgwire.SYNC], pgwire.query(sql), pgwire.query("COMMIT"))
    same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(f"DECLARE c CURSOR FOR {CHEAP}"), pgwire.query("FETCH ALL FROM c"),
                     pgwire.query("COMMIT"))
    same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(f"CREATE TABLE w.copy AS {CHEAP}"), pgwire.query("ROLLBACK"))
    same_as_directly(place, pgwire.query(f"INSERT INTO w.log {CHEAP}"))


def test_what_is_dear_is_not_run():
    for sql in (DEAR, f"COPY ({DEAR}) TO STDOUT", f"INSERT INTO w.log SELECT id FROM ({DEAR}) x", f"CREATE TABLE w.copy AS {DEAR}"):
        place.reset()
        with place.connect() as c:
            for messages in ([pgwire.query(sql)], [*extended(sql), pgwire.SYNC]):
                answers = c.run(*messages)
                fails_with(answers, "54000", TOO_DEAR)
                equal(pgwire.status(answers), "I", sql)
                check("D" not in pgwire.kinds(answers), sql)
            c.run(pgwire.query("BEGIN"))
            answers = c.run(pgwire.query(sql))
            fails_with(answers, "54000", TOO_DEAR)
            equal(pgwire.status(answers), "E", sql)
        equal(logged(), 0)


def test_in_a_batch_each_has_its_estimate():
    """Of the first with a Sync of its own, of those behind it in the client's batch."""
    for batch in ([*extended(CHEAP), *extended(CHEAP)], [*INSERT, *extended(CHEAP)], [*extended(CHEAP), *INSERT, *extended(CHEAP)],
                  [*extended("SELECT id FROM w.t WHERE id = $1", [b"7"]), *extended("SELECT id FROM w.t WHERE id = $1", [b"8"])],
                  [*INSERT, pgwire.parse(f"COPY ({CHEAP}) TO STDOUT"), pgwire.bind(), pgwire.execute()]):
        same_as_directly(place, [*batch, pgwire.SYNC])
    for batch in ([*extended(CHEAP), *extended(DEAR)], [*INSERT, *extended(DEAR)], [*INSERT, *extended(CHEAP), *extended(DEAR)]):
        place.reset()
        with place.connect() as c:
            answers = c.run(*batch, *extended(CHEAP), pgwire.SYNC)
            fails_with(answers, "54000", TOO_DEAR)
            equal(pgwire.status(answers), "I")
            equal(rows_behind_error(answers), 0, "what follows is skipped")
            equal(tags(c.run(*INSERT, pgwire.SYNC)), ["INSERT 0 1"])
        equal(logged(), 1, "of the batch nothing is committed")


def rows_behind_error(answers):
    kinds = pgwire.kinds(answers)
    return kinds[kinds.index("E"):].count("D")


def test_portals_bound_before_either_is_executed():
    first, second = named(CHEAP, "a"), named("SELECT id FROM w.t WHERE id = $1", "b", [b"9"])
    for batch in ([*first, *second, pgwire.execute("a"), pgwire.execute("b")], [*first, *second, pgwire.execute("b"), pgwire.execute("a")],
                  [*first, *second, pgwire.execute("a", 2), pgwire.execute("b"), pgwire.execute("a")],
                  [*named("SELECT note FROM w.log", "l"), *first, pgwire.execute("l"), pgwire.execute("a")],
                  [*INSERT[:2], *first, pgwire.execute("a"), pgwire.execute()]):
        same_as_directly(place, [*batch, pgwire.SYNC])
        same_as_directly(place, pgwire.query("BEGIN"), [*batch, pgwire.SYNC], pgwire.query("COMMIT"))
    with place.connect() as c:
        answers = c.run(*first, *named(DEAR, "dear"), pgwire.execute("a"), pgwire.execute("dear"), pgwire.SYNC)
        fails_with(answers, "54000", TOO_DEAR)
        equal(pgwire.status(answers), "I")


def test_limited_writes_bound_before_either_is_executed():
    update = "UPDATE w.slow SET n = 0 WHERE id < $1"
    few, many = named(update, "few", [b"0"]), named(update, "many", [b"9"])
    same_as_directly(place, [*few, *named(update, "more", [b"1"]), pgwire.execute("few"), pgwire.execute("more"), pgwire.SYNC])
    place.owner.cursor().execute("ALTER TABLE w.slow DISABLE TRIGGER ALL")
    with place.connect() as c:
        fails_with(c.run(*few, *many, pgwire.execute("few"), pgwire.execute("many"), pgwire.SYNC), "54000", "would change 8 rows")


def test_an_error_of_the_estimate_is_the_clients():
    """With the position that it has in the client's own text."""
    for sql in ("SELECT id /* here */ FROM w.t WHERE id = 'x'", "COPY ( SELECT id FROM w.t WHERE note = 1 ) TO STDOUT",
                "COPY /* a table */ w.t (id) TO STDOUT (FORMAT nonsense)"):
        same_as_directly(place, pgwire.query(sql))
        if not sql.startswith("COPY"): # of which the server says so only when it is executed
            same_as_directly(place, [*extended(sql), pgwire.SYNC])
            same_as_directly(place, [*extended(CHEAP), *extended(sql), *INSERT, pgwire.SYNC])


def estimates_in_log(marker):
    """How many EXPLAINs with the marker in them the server has logged, and other statements."""
    with open(os.path.join(os.environ["PGWICKET_TEST_SOCKET"], "postgres.log"), encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if marker in line and re.search(r"(statement|execute [^:]*): ", line)]
    explained = sum("EXPLAIN" in line for line in lines)
    return explained, len(lines) - explained


def test_what_a_key_proves_is_asked_no_estimate():
    """The server's log tells what it was sent."""
    place.database.ask(f"ALTER DATABASE {place.database.name} SET log_statement = 'all'")
    try:
        for number, (sql, expected) in enumerate((("UPDATE w.log SET note = '{}' WHERE id = 1", 0),
                                                  ("UPDATE w.log SET note = '{}' WHERE id IN (1, 2)", 0),
                                                  ("UPDATE w.log SET note = '{}' WHERE id = 1 OR (id = 2 AND note <> '')", 0),
                                                  ("UPDATE w.log SET note = '{}' WHERE id = ANY(ARRAY[1, 2]) AND (id, note) IN ((1, ''))", 0),
                                                  ("UPDATE w.slow SET n = length('{}') WHERE id < 0", 1))):
            for extended_protocol in (False, True):
                marker = f"marker {os.getpid()} {number} {extended_protocol}"
                text = sql.format(marker)
                with place.connect() as c:
                    answers = c.run(*extended(text), pgwire.SYNC) if extended_protocol else c.run(pgwire.query(text))
                equal(pgwire.errors(answers), [], text)
                equal(estimates_in_log(marker), (expected, 1), text)
    finally:
        place.database.ask(f"ALTER DATABASE {place.database.name} RESET log_statement")


def test_a_list_in_a_parameter_is_counted_when_it_runs():
    """It fixes a key, but how many rows it fixes is known to the server only."""
    place.reset()
    place.database.ask("INSERT INTO w.log SELECT g, 'before' FROM generate_series(1, 4) g")
    update = "UPDATE w.log SET note = 'after' WHERE id = ANY($1)"
    for values, rows in (("{2}", 1), ("{1,2}", 2), ("{2,2,2,900}", 1), ("{{1},{2}}", 2), ("{NULL}", 0), ("{}", 0)):
        with place.connect() as c:
            equal(tags(c.run(*extended(update, [values.encode()]), pgwire.SYNC)), [f"UPDATE {rows}"], values)
    place.database.ask("UPDATE w.log SET note = 'before'")
    for values in ("{1,2,3}", "{{1,2},{3,4}}"):
        with place.connect() as c:
            fails_with(c.run(*extended(update, [values.encode()]), pgwire.SYNC), "54000", "would change")
        equal(place.value("SELECT count(*) FROM w.log WHERE note = 'after'"), 0, values)


if __name__ == "__main__":
    with ground(POLICY) as place:
        place.database.ask("GRANT CREATE ON SCHEMA w TO agent")
        code = main(globals())
    sys.exit(code)

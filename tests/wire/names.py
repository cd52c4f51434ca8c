"""Names of statements, portals and cursors: what a name means to pgwicket is what it means to the server."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import extended, fails_with, ground, same_as_directly, tags
from live import check, equal, main

POLICY = """
    search_path: [w]
    introspection: allow
    hold: {wait: 1s, expire: 1h, run_within: 15m}
    limits: {prepared_statements: 20, sessions: unlimited, pending: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [w.t]
        max_rows: 50
      - allow: [select]
        on: [w.log]
      - allow: [insert]
        on: [w.log]
      - allow: [update]
        on: [w.t]
        where: required
        max_rows: 3
      - hold: [delete]
        on: [w.t]
        where: required
        max_rows: 10
"""
HELD = "DELETE FROM w.t WHERE id = 7"
MANY = "UPDATE w.t SET n = n + 1 WHERE id < 100"

place = None


def whole():
    return place.value("SELECT count(*) FROM w.t WHERE n = id % 10") == 1000


def values(answers):
    return [a.values() for a in answers if a.kind == "D"]


def test_parse_of_an_existing_name_keeps_the_old_statement():
    answers = same_as_directly(place, [pgwire.parse("SELECT 1", "s"), pgwire.SYNC],
                               [pgwire.parse("SELECT 2", "s"), pgwire.SYNC],
                               [pgwire.bind(statement="s"), pgwire.execute(), pgwire.SYNC])
    equal(values(answers), [[b"1"]])


def test_a_failed_parse_drops_the_unnamed_statement():
    same_as_directly(place, [pgwire.parse("SELECT 1"), pgwire.SYNC], [pgwire.parse("SELECT nothing"), pgwire.SYNC],
                     [pgwire.bind(), pgwire.execute(), pgwire.SYNC])
    with place.connect() as c:
        c.run(pgwire.parse("SELECT 1"), pgwire.SYNC)
        fails_with(c.run(pgwire.parse("DROP TABLE w.t"), pgwire.SYNC), "42501")
        fails_with(c.run(pgwire.bind(), pgwire.execute(), pgwire.SYNC), "26000")
        c.run(pgwire.parse("SELECT 1", "kept"), pgwire.SYNC)
        fails_with(c.run(pgwire.parse("DROP TABLE w.t", "kept"), pgwire.SYNC), "42501")
        equal(values(c.run(pgwire.bind(statement="kept"), pgwire.execute(), pgwire.SYNC)), [[b"1"]])


def test_names_that_are_one_to_the_server_are_one_to_pgwicket():
    """The server compares 63 bytes. A second spelling must not run under the verdict of the first."""
    name = "n" * 63
    for sql in (HELD, MANY):
        for twin in (name + "x", name + "y" * 200):
            with place.connect() as c:
                c.run(pgwire.parse("SELECT 1", name), pgwire.SYNC)
                c.run(pgwire.close("S", twin), pgwire.SYNC)
                c.run(pgwire.parse(sql, twin), pgwire.SYNC)
                answers = c.run(pgwire.bind(statement=name), pgwire.execute(), pgwire.SYNC)
                check(pgwire.errors(answers), f"{sql} ran as SELECT 1: {answers}")
            check(whole(), f"{sql} was run under another statement's verdict")
    with place.connect() as c:  # portals: the limit of the first must not be the limit of the second
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.parse("SELECT 1", "one"), pgwire.parse("SELECT id FROM w.t", "all"), pgwire.SYNC)
        c.run(pgwire.bind(statement="one", portal=name), pgwire.SYNC)
        c.run(pgwire.close("P", name + "x"), pgwire.SYNC)
        c.run(pgwire.bind(statement="all", portal=name + "x"), pgwire.SYNC)
        answers = c.run(pgwire.execute(portal=name), pgwire.SYNC)
        check(len(values(answers)) <= 50, f"{len(values(answers))} rows where 50 are allowed")


def test_cursors_with_long_names():
    name = "c" * 63
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.query(f"DECLARE {name}xx CURSOR FOR SELECT id FROM w.t"))
        fails_with(c.run(pgwire.query(f"FETCH ALL FROM {name}yy")), "54000")


def test_deallocate_and_discard():
    for sql in ("DEALLOCATE s", "DEALLOCATE ALL", "DISCARD ALL", "DEALLOCATE PREPARE s"):
        answers = same_as_directly(place, [pgwire.parse("SELECT 1", "s"), pgwire.SYNC], pgwire.query(sql),
                                   [pgwire.parse("SELECT 2", "s"), pgwire.SYNC],
                                   [pgwire.bind(statement="s"), pgwire.execute(), pgwire.SYNC])
        equal(values(answers), [[b"2"]], sql)
        with place.connect() as c:
            c.run(pgwire.parse("SELECT 1", "s"), pgwire.SYNC)
            c.run(pgwire.query(sql))
            fails_with(c.run(pgwire.bind(statement="s"), pgwire.SYNC), "26000")


def test_a_name_taken_again_in_one_batch():
    with place.connect() as c:
        c.run(pgwire.parse("SELECT 1", "s"), pgwire.SYNC)
        answers = c.run(pgwire.close("S", "s"), pgwire.parse(MANY, "s"), pgwire.bind(statement="s"), pgwire.execute(),
                        pgwire.SYNC)
        fails_with(answers, "54000")
        answers = c.run(pgwire.bind(statement="s"), pgwire.execute(), pgwire.SYNC)
        check(pgwire.errors(answers), "still the limited one")
    check(whole(), "nothing was changed")
    with place.connect() as c:  # the second Parse fails on the server: the name means nothing after the Close
        c.run(pgwire.parse("SELECT 1", "s"), pgwire.SYNC)
        fails_with(c.run(pgwire.close("S", "s"), pgwire.parse("SELECT 1 + 'x'", "s"), pgwire.SYNC), "22P02")
        fails_with(c.run(pgwire.bind(statement="s"), pgwire.execute(), pgwire.SYNC), "26000")
    with place.connect() as c:  # a Close behind an error is skipped: the old one is still there
        c.run(pgwire.parse("SELECT 1", "s"), pgwire.SYNC)
        fails_with(c.run(pgwire.parse("SELECT 1 + 'x'", "t"), pgwire.close("S", "s"), pgwire.parse(MANY, "s"),
                         pgwire.SYNC), "22P02")
        equal(values(c.run(pgwire.bind(statement="s"), pgwire.execute(), pgwire.SYNC)), [[b"1"]])


def test_prepare_and_execute_by_sql():
    with place.connect() as c:
        place.reset()
        equal(tags(c.run(pgwire.query("PREPARE p (int) AS INSERT INTO w.log VALUES ($1, 'x')"))), ["PREPARE"])
        equal(tags(c.run(pgwire.query("EXECUTE p(5)"))), ["INSERT 0 1"])
        equal(tags(c.run(*extended("EXECUTE p(6)"), pgwire.SYNC)), ["INSERT 0 1"])
        answers = c.run(pgwire.bind((b"7",), "p"), pgwire.execute(), pgwire.SYNC)
        equal(tags(answers), ["INSERT 0 1"], "an SQL-prepared statement bound by the protocol")
        fails_with(c.run(pgwire.query("EXECUTE nothing(1)")), "26000")
        for sql in (HELD, MANY, "DROP TABLE w.t", "UPDATE w.t SET n = 1"):
            check(pgwire.errors(c.run(pgwire.query(f"PREPARE q AS {sql}"))), sql)
            fails_with(c.run(pgwire.query("EXECUTE q")), "26000")
            fails_with(c.run(pgwire.bind(statement="q"), pgwire.execute(), pgwire.SYNC), "26000")
        c.run(pgwire.query("PREPARE r AS SELECT id FROM w.t"))
        fails_with(c.run(pgwire.query("EXECUTE r")), "54000")
        fails_with(c.run(*extended("EXECUTE r"), pgwire.SYNC), "54000")
        fails_with(c.run(pgwire.bind(statement="r"), pgwire.execute(), pgwire.SYNC), "54000")
        equal(pgwire.kinds(c.run(pgwire.parse("SELECT 9", "proto"), pgwire.SYNC)), "1Z")
        equal(values(c.run(pgwire.query("EXECUTE proto"))), [[b"9"]], "the other way round")
    check(whole(), "nothing was changed")


def test_a_prepared_limited_statement_by_its_protocol_name():
    with place.connect() as c:
        c.run(pgwire.parse(MANY, "m"), pgwire.parse(HELD, "h"), pgwire.SYNC)
        for sql in ("EXECUTE m", "EXECUTE h", "EXPLAIN ANALYZE EXECUTE m", "EXPLAIN ANALYZE EXECUTE h",
                    "CREATE TABLE w.x AS EXECUTE m"):
            check(pgwire.errors(c.run(pgwire.query(sql))), f"{sql} was run")
            check(pgwire.errors(c.run(*extended(sql), pgwire.SYNC)), f"{sql} was run")
    check(whole(), "nothing was changed")


def test_reserved_names():
    for name in ("pgwicket_x", "pgwicket_", "pgwicket_: rejected (session 0, statement 1)"):
        with place.connect() as c:
            check(pgwire.errors(c.run(pgwire.parse("SELECT 1", name), pgwire.SYNC)), f"Parse {name}")
            c.run(pgwire.parse("SELECT 1", "s"), pgwire.SYNC)
            check(pgwire.errors(c.run(pgwire.bind(statement="s", portal=name), pgwire.SYNC)), f"Bind {name}")
            for sql in (f'PREPARE "{name}" AS SELECT 1', f'DECLARE "{name}" CURSOR WITH HOLD FOR SELECT 1'):
                check(pgwire.errors(c.run(pgwire.query(sql))), sql)
            c.run(pgwire.query("BEGIN"))
            check(pgwire.errors(c.run(pgwire.query(f'SAVEPOINT "{name}"'))), name)


def test_cursors_and_their_limit():
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        equal(tags(c.run(pgwire.query("DECLARE c SCROLL CURSOR FOR SELECT id FROM w.t ORDER BY id"))),
              ["DECLARE CURSOR"])
        equal(len(values(c.run(pgwire.query("FETCH 30 FROM c")))), 30)
        equal(len(values(c.run(*extended("FETCH 20 FROM c"), pgwire.SYNC))), 20)
        answers = c.run(pgwire.query("FETCH 1 FROM c"))
        fails_with(answers, "54000")
        equal((len(values(answers)), pgwire.status(answers)), (0, "E"))
        c.run(pgwire.query("ROLLBACK"))
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.query("DECLARE c CURSOR FOR SELECT id FROM w.t ORDER BY id"))
        equal(len(values(c.run(pgwire.describe("P", "c"), pgwire.execute("c", 50), pgwire.SYNC))), 50)
        fails_with(c.run(pgwire.execute("c", 1), pgwire.SYNC), "54000")
        c.run(pgwire.query("ROLLBACK"))
        fails_with(c.run(pgwire.query("FETCH 1 FROM c")), "34000")
        fails_with(c.run(pgwire.execute("c"), pgwire.SYNC), "34000")
        c.run(pgwire.query("DECLARE h CURSOR WITH HOLD FOR SELECT id FROM w.t WHERE id <= 60"))
        equal(len(values(c.run(pgwire.query("FETCH 50 FROM h")))), 50)
        fails_with(c.run(pgwire.query("FETCH ALL FROM h")), "54000")


def test_portals_with_row_counts():
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        answers = c.run(pgwire.parse("SELECT id FROM w.t ORDER BY id"), pgwire.bind(portal="p"),
                        pgwire.execute("p", 25), pgwire.execute("p", 25), pgwire.SYNC)
        equal((pgwire.kinds(answers)[2:], len(values(answers))), ("D" * 25 + "s" + "D" * 25 + "sZ", 50))
        answers = c.run(pgwire.execute("p", 1), pgwire.SYNC)
        fails_with(answers, "54000")
        equal((len(values(answers)), pgwire.status(answers)), (0, "E"))


def test_a_portal_of_bind_is_a_cursor_to_fetch():
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.parse("SELECT id FROM w.t ORDER BY id"), pgwire.bind(portal="p"), pgwire.SYNC)
        equal(len(values(c.run(pgwire.query("FETCH 50 FROM p")))), 50)
        answers = c.run(pgwire.query("FETCH 1 FROM p"))
        fails_with(answers, "54000")
        equal((len(values(answers)), pgwire.status(answers)), (0, "E"))


def test_the_number_of_prepared_statements_is_limited():
    with place.connect() as c:
        for i in range(20):
            equal(pgwire.kinds(c.run(pgwire.parse("SELECT 1", f"s{i}"), pgwire.SYNC)), "1Z")
        fails_with(c.run(pgwire.parse("SELECT 1", "more"), pgwire.SYNC), "53400")
        c.run(pgwire.close("S", "s0"), pgwire.SYNC)
        equal(pgwire.kinds(c.run(pgwire.parse("SELECT 1", "more"), pgwire.SYNC)), "1Z")


def test_describe_close_and_execute_of_nothing():
    same_as_directly(place, [pgwire.describe("S", "nothing"), pgwire.SYNC], [pgwire.describe("P", "nothing"), pgwire.SYNC],
                     [pgwire.close("S", "nothing"), pgwire.close("P", "nothing"), pgwire.SYNC])
    with place.connect() as c:
        fails_with(c.run(pgwire.execute("nothing"), pgwire.SYNC), "34000")
        fails_with(c.run(pgwire.bind(statement="nothing"), pgwire.SYNC), "26000")
        equal(pgwire.kinds(c.run(pgwire.SYNC)), "Z")


if __name__ == "__main__":
    with ground(POLICY) as place:
        code = main(globals())
    sys.exit(code)

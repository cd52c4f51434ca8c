"""Selects over max_rows: the result ends with an error, in whatever way the rows are read, and nothing of the batch or
transaction is committed behind the client's back."""
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import extended, fails_with, ground, same_as_directly, tags
from live import check, equal, main

POLICY = """
    search_path: [w]
    introspection: allow
    limits: {sessions: unlimited}
    settings: {statement_timeout: 5min}
    rules:
      - allow: [select]
        on: [w.t]
        max_rows: 50
      - allow: [select]
        on: [w.log, w.big]
      - allow: [insert]
        on: [w.log]
      - allow: [update]
        on: [w.t]
        where: required
        max_rows: 3
"""
OVER = "SELECT id FROM w.t"
EXACT = "SELECT id FROM w.t WHERE id <= 50"
INSERT = [pgwire.parse("INSERT INTO w.log VALUES (1, 'x')"), pgwire.bind(), pgwire.execute()]
MEGABYTE = 1 << 20

place = None


def rows(answers):
    return len([a for a in answers if a.kind in "Dd"])


def logged():
    return place.value("SELECT count(*) FROM w.log")


def test_exactly_the_limit_is_fine():
    for sql in (EXACT, f"COPY ({EXACT}) TO STDOUT", "SELECT * FROM w.t WHERE id BETWEEN 101 AND 150"):
        same_as_directly(place, pgwire.query(sql))
        same_as_directly(place, [*extended(sql), pgwire.SYNC])
        same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(sql), pgwire.query("COMMIT"))


def test_what_frames_a_copy_is_no_row():
    for options in ("FORMAT csv, HEADER", "FORMAT csv, HEADER true", "FORMAT text, HEADER", "FORMAT binary", "FORMAT csv, HEADER off"):
        sql = f"COPY ({EXACT}) TO STDOUT ({options})"
        same_as_directly(place, pgwire.query(sql))
        same_as_directly(place, [*extended(sql), pgwire.SYNC])
        with place.connect() as c:
            fails_with(c.run(pgwire.query(f"COPY (SELECT id FROM w.t WHERE id <= 51) TO STDOUT ({options})")), "54000", "50 rows")
    same_as_directly(place, pgwire.query(f"COPY ({EXACT}) TO STDOUT CSV HEADER"))
    same_as_directly(place, pgwire.query("COPY (SELECT id FROM w.t WHERE id < 0) TO STDOUT (FORMAT binary)"))


def test_one_more_in_autocommit():
    for sql in (OVER, "SELECT id FROM w.t WHERE id <= 51", f"COPY ({OVER}) TO STDOUT", "COPY w.t TO STDOUT",
                "COPY w.t (id, n) TO STDOUT (FORMAT binary)", "SELECT a.id FROM w.t a, w.t b"):
        for messages in ([pgwire.query(sql)], [*extended(sql), pgwire.SYNC]):
            with place.connect() as c:
                for _ in range(3):
                    answers = c.run(*messages)
                    fails_with(answers, "54000", "longer than 50 rows")
                    equal((rows(answers), pgwire.status(answers)), (50, "I"), sql)
                    check("C" not in pgwire.kinds(answers), f"no CommandComplete: {sql}")
                check(c.is_silent(0.1), "nothing follows")
                equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ", "a late cancel hits nothing else")


def test_a_transaction_fails():
    for messages in ([pgwire.query(OVER)], [*extended(OVER), pgwire.SYNC],
                     [pgwire.query("SELECT id FROM w.t WHERE id <= 51")],
                     [*extended("SELECT id FROM w.t WHERE id <= 51"), pgwire.SYNC]):
        place.reset()
        with place.connect() as c:
            for _ in range(5):
                c.run(pgwire.query("BEGIN"))
                c.run(*INSERT, pgwire.SYNC)
                answers = c.run(*messages)
                fails_with(answers, "54000")
                equal(pgwire.status(answers), "E")
                equal(tags(c.run(pgwire.query("COMMIT"))), ["ROLLBACK"])
        equal(logged(), 0)


def test_a_pipeline_behind_an_insert_is_not_committed():
    for sql in (OVER, "SELECT id FROM w.t WHERE id <= 51"):
        for messages in ([*INSERT, *extended(sql), pgwire.SYNC], [*extended(sql), *INSERT, pgwire.SYNC],
                         [*INSERT, *extended(sql), *INSERT, pgwire.SYNC]):
            place.reset()
            with place.connect() as c:
                answers = c.run(*messages)
                fails_with(answers, "54000")
                equal(pgwire.status(answers), "I")
                check(c.is_silent(0.1), "nothing follows")
            equal(logged(), 0, f"rows that were inserted beside {sql}")


def test_batches_behind_it_go_on():
    place.reset()
    with place.connect() as c:
        c.send(*extended(OVER), pgwire.SYNC, *INSERT, pgwire.SYNC, *extended(EXACT), pgwire.SYNC)
        fails_with(c.answers(), "54000")
        equal(pgwire.kinds(c.answers()), "12CZ")
        equal(rows(c.answers()), 50)
    equal(logged(), 1)


def test_binary_results_are_counted_too():
    binary = pgwire.message("B", b"\0\0" + struct.pack("!hh", 0, 0) + struct.pack("!hh", 1, 1))
    with place.connect() as c:
        answers = c.run(pgwire.parse(OVER), binary, pgwire.execute(), pgwire.SYNC)
        fails_with(answers, "54000")
        equal(rows(answers), 50)


def test_several_statements_in_one_query_within_their_limits():
    for sql in (f"BEGIN; {EXACT}; COMMIT", f"BEGIN READ ONLY; {EXACT}; ROLLBACK", f"{EXACT}; {EXACT}; SELECT 1",
                f"BEGIN; SET LOCAL statement_timeout = '5s'; {EXACT}; {EXACT}; END", f"SHOW DateStyle; COPY ({EXACT}) TO STDOUT",
                f"BEGIN; SAVEPOINT a; {EXACT}; RELEASE a; COMMIT; EXPLAIN (COSTS off) {EXACT}"):
        same_as_directly(place, pgwire.query(sql), pgwire.query("SELECT 1"))


def test_several_statements_in_one_query_over_a_limit():
    """Each is counted by itself, and what follows the one over its limit is not shown."""
    for sql, shown in ((f"{OVER}; SELECT 1", 50), (f"SELECT 1; {OVER}", 51), (f"BEGIN; {OVER}; COMMIT", 50),
                       (f"{EXACT}; COPY ({OVER}) TO STDOUT; {EXACT}", 100), (f"BEGIN; {OVER}; SELECT 1", 50)):
        with place.connect() as c:
            for _ in range(3):
                answers = c.run(pgwire.query(sql))
                fails_with(answers, "54000", "longer than 50 rows")
                equal(rows(answers), shown, sql)
                check(pgwire.status(answers) == "E" or not sql.endswith("SELECT 1") or "BEGIN" not in sql, f"{sql}: {answers[-1]}")
                c.run(pgwire.query("ROLLBACK"))
            check(c.is_silent(0.1), "nothing follows")
            equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ", "a late cancel hits nothing else")


def test_a_limit_shares_no_query_with_what_it_could_not_undo():
    place.reset()
    words = "may share a message only with what changes nothing"
    with place.connect() as c:
        for sql in (f"INSERT INTO w.log VALUES (1, 'x'); {OVER}", f"{EXACT}; INSERT INTO w.log VALUES (1, 'x')",
                    f"SET DateStyle = 'ISO'; {EXACT}", f"{EXACT}; SELECT set_config('DateStyle', 'ISO', false)"):
            fails_with(c.run(pgwire.query(sql)), "42501", words)
        c.run(pgwire.query("BEGIN"))
        c.run(*INSERT, pgwire.SYNC)
        fails_with(c.run(pgwire.query(f"{EXACT}; COMMIT")), "42501", words)
        equal(tags(c.run(pgwire.query("COMMIT"))), ["ROLLBACK"])
        # Whether a transaction is open is known only when what was sent before is answered.
        c.send(pgwire.query("BEGIN"), pgwire.query("INSERT INTO w.log VALUES (1, 'x')"), pgwire.query(f"{EXACT}; COMMIT"))
        c.answers(), c.answers()
        fails_with(c.answers(), "42501", words)
        c.run(pgwire.query("ROLLBACK"))
    equal(logged(), 0)


def test_a_cursors_limit_holds_among_other_statements():
    with place.connect() as c:
        for sql in ("FETCH ALL FROM a; SELECT 1", "FETCH ALL FROM a; FETCH ALL FROM b", "SELECT 1; MOVE 0 FROM b; FETCH 51 FROM a",
                    "FETCH 30 FROM a; FETCH 30 FROM a"):
            c.run(pgwire.query("BEGIN"))
            c.run(pgwire.query(f"DECLARE a CURSOR FOR {OVER}"))
            c.run(pgwire.query("DECLARE b CURSOR FOR SELECT id FROM w.log"))
            answers = c.run(pgwire.query(sql))
            fails_with(answers, "54000", "longer than 50 rows")
            equal(rows(answers), 51 if sql.startswith("SELECT") else 50, sql)
            equal(pgwire.status(answers), "E", sql)
            c.run(pgwire.query("ROLLBACK"))
        c.run(pgwire.query("BEGIN; DECLARE a CURSOR FOR SELECT id FROM w.t"))
        fails_with(c.run(pgwire.query("FETCH ALL FROM a")), "54000")
        c.run(pgwire.query("ROLLBACK"))
        c.run(pgwire.query(f"PREPARE p AS {OVER}"))
        fails_with(c.run(pgwire.query("EXECUTE p; SELECT 1")), "42501", "share a message")


def test_explain_and_into_do_not_get_around_it():
    place.reset()
    with place.connect() as c:
        for sql in ("INSERT INTO w.log SELECT id, note FROM w.t", "EXPLAIN ANALYZE SELECT id FROM w.t"):
            answers = c.run(pgwire.query(sql))
            check(pgwire.errors(answers), f"{sql}: {answers}")
    equal(logged(), 0)


def test_a_long_plan_does_not_stop_the_session():
    """EXPLAIN's one row is longer than what is read ahead."""
    place.reset()
    condition = " OR ".join(f"(id = {i} AND note <> 'a note that is long enough {i}')" for i in range(2500))
    with place.connect() as c:
        c.socket.settimeout(20)
        equal(tags(c.run(pgwire.query(f"UPDATE w.t SET n = 1 WHERE id < 3 AND ({condition})"))), ["UPDATE 2"])


def memory():
    with open(f"/proc/{place.running.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_slow_reader_stops_only_itself():
    with place.connect() as slow, place.connect() as other:
        equal(tags(other.run(pgwire.query(EXACT))), ["SELECT 50"])
        before = memory()
        slow.send(pgwire.query("SELECT note FROM w.big, generate_series(1, 10)"))
        for _ in range(8):
            time.sleep(0.5)
            equal(tags(other.run(pgwire.query(EXACT))), ["SELECT 50"], "another session")
        grown = memory() - before
        check(grown < 30 * MEGABYTE, f"memory grew by {grown / MEGABYTE:.0f} MiB for a client that does not read")
        received = 0
        while True:
            answer = slow.read()
            received += len(answer.payload)
            if answer.kind == "Z":
                break
        check(received > 100 * MEGABYTE, f"{received} bytes arrived")
        grown = memory() - before
        check(grown < 60 * MEGABYTE, f"memory grew by {grown / MEGABYTE:.0f} MiB while 100 MiB passed")


def test_a_slow_reader_that_leaves():
    slow = place.connect()
    slow.send(pgwire.query("SELECT note FROM w.big, generate_series(1, 30)"))
    time.sleep(0.5)
    slow.socket.close()
    with place.connect() as c:
        equal(tags(c.run(pgwire.query(EXACT))), ["SELECT 50"])


def test_one_row_of_many_megabytes_passes():
    with place.connect() as c:
        answers = c.run(pgwire.query("SELECT string_agg(note, '') FROM w.big WHERE id <= 30"))
        check(len(answers[1].payload) > 3000000, "one row")


if __name__ == "__main__":
    # What the sanitizer keeps of freed memory is not what is measured here.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    with ground(POLICY) as place:
        place.database.ask("CREATE TABLE w.big AS SELECT g AS id, repeat('0123456789', 10486) AS note FROM generate_series(1, 105) g; "
                           "GRANT SELECT ON w.big TO agent; ANALYZE w.big")
        place.running.stop()
        place.running.start()
        code = main(globals())
    sys.exit(code)

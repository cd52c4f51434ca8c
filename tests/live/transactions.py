"""What a rejected statement does to the transaction and to the pipeline that it is part of."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, main
from wicket import AGENT_SECRET, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    rules:
      - allow: [select]
        on: [shop.orders, shop.products]
      - allow: [insert]
        on: [shop.orders]
      - allow: [update]
        on: [shop.orders]
        where: key
"""
ALLOWED = "UPDATE shop.orders SET notes = 'changed' WHERE id = 1"
REJECTED = "DELETE FROM shop.orders"
INSERT = "INSERT INTO shop.orders (id, customer_id) VALUES (900001, 1)"

database = running = None


def connection():
    return pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET)


def unchanged():
    equal(database.value("SELECT count(*) FROM shop.orders WHERE notes = 'changed' OR id > 900000"), 0,
          "rows that were changed")
    equal(database.value("SELECT count(*) FROM shop.orders"), 3000, "orders")


def assert_rejected(answers, what):
    found = pgwire.errors(answers)
    equal(len(found), 1, f"errors of {what}: {answers}")
    equal(found[0]["C"], "42501", found[0]["M"])
    check(found[0]["M"].startswith("pgwicket: "), found[0]["M"])


def test_a_rejected_statement_aborts_the_transaction():
    with connection() as c:
        equal(pgwire.status(c.run(pgwire.query("BEGIN"))), "T")
        equal(pgwire.kinds(c.run(pgwire.query(ALLOWED))), "CZ")
        answers = c.run(pgwire.query(REJECTED))
        assert_rejected(answers, REJECTED)
        equal(pgwire.status(answers), "E", "status after the rejection")
        equal(pgwire.errors(c.run(pgwire.query("SELECT 1")))[0]["C"], "25P02")
        commit = c.run(pgwire.query("COMMIT"))
        equal([a.tag() for a in commit if a.kind == "C"], ["ROLLBACK"])
        equal(pgwire.status(commit), "I")
    unchanged()


def test_the_same_in_the_extended_protocol():
    with connection() as c:
        for sql, last in (("BEGIN", "T"), (ALLOWED, "T")):
            answers = c.run(pgwire.parse(sql), pgwire.bind(), pgwire.execute(), pgwire.SYNC)
            equal((pgwire.kinds(answers), pgwire.status(answers)), ("12CZ", last), sql)
        answers = c.run(pgwire.parse(REJECTED), pgwire.bind(), pgwire.execute(), pgwire.SYNC)
        assert_rejected(answers, REJECTED)
        equal(pgwire.status(answers), "E")
        equal([a.tag() for a in c.run(pgwire.query("COMMIT")) if a.kind == "C"], ["ROLLBACK"])
    unchanged()


def test_a_savepoint_survives_a_rejection():
    with connection() as c:
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.query("SAVEPOINT s"))
        assert_rejected(c.run(pgwire.query(REJECTED)), REJECTED)
        equal(pgwire.status(c.run(pgwire.query("ROLLBACK TO s"))), "T")
        equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ")
        equal([a.tag() for a in c.run(pgwire.query("COMMIT")) if a.kind == "C"], ["COMMIT"])
    unchanged()


def test_a_pipeline_with_a_rejected_statement_commits_nothing():
    with connection() as c:
        messages = []
        for sql in (INSERT, REJECTED, INSERT.replace("900001", "900002")):
            messages += [pgwire.parse(sql), pgwire.bind(), pgwire.execute()]
        answers = c.run(*messages, pgwire.SYNC)
        assert_rejected(answers, "the pipeline")
        equal(pgwire.kinds(answers).count("Z"), 1, "ReadyForQuery")
        equal(pgwire.status(answers), "I")
        check(c.is_silent(), "nothing comes after ReadyForQuery")
        equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ", "the session goes on")
    unchanged()


def test_a_pipeline_after_the_sync_goes_on():
    with connection() as c:
        c.send(pgwire.parse(REJECTED), pgwire.bind(), pgwire.execute(), pgwire.SYNC,
               pgwire.parse("SELECT 7"), pgwire.bind(), pgwire.execute(), pgwire.SYNC)
        assert_rejected(c.answers(), "the first")
        equal(pgwire.kinds(c.answers()), "12DCZ", "the second")
        check(c.is_silent(), "and nothing more")
    unchanged()


def test_nothing_of_a_message_with_a_rejected_statement_runs():
    for sql in (f"{ALLOWED}; {REJECTED}", f"{REJECTED}; {ALLOWED}", f"{ALLOWED}; COMMIT; {REJECTED}",
                f"BEGIN; {ALLOWED}; COMMIT; {REJECTED}", f"COMMIT; {REJECTED}", "COMMIT; DROP SCHEMA shop CASCADE"):
        with connection() as c:
            answers = c.run(pgwire.query(sql))
            assert_rejected(answers, sql)
            equal(pgwire.kinds(answers), "EZ", sql)
            equal(pgwire.status(answers), "I", sql)
        unchanged()


def test_a_rejected_parse_leaves_no_statement():
    with connection() as c:
        assert_rejected(c.run(pgwire.parse(REJECTED, "mine"), pgwire.SYNC), "parse")
        answers = c.run(pgwire.bind(statement="mine"), pgwire.execute(), pgwire.SYNC)
        equal(pgwire.errors(answers)[0]["C"], "26000")
    unchanged()


def test_rejection_in_every_split_of_the_bytes():
    """However TCP cuts it, the answer is the same."""
    whole = pgwire.parse(REJECTED) + pgwire.bind() + pgwire.execute() + pgwire.SYNC
    with connection() as c:
        for cut in range(1, len(whole), 5):
            c.send(whole[:cut])
            c.send(whole[cut:])
            answers = c.answers()
            assert_rejected(answers, f"cut at {cut}")
            equal(pgwire.status(answers), "I")
    unchanged()


def test_function_call_and_replication_are_refused():
    with connection() as c:
        c.send(pgwire.message("F", b"\0" * 12))
        try:
            answers = c.answers()
            check(pgwire.errors(answers), f"an error, not {answers}")
        except pgwire.Closed:
            pass
    try:
        pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, replication="database").close()
        check(False, "a replication connection was accepted")
    except (pgwire.LoginError, pgwire.Closed):
        pass


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        code = main(globals())
    sys.exit(code)

"""Held statements on the wire: what the client sees while a person is asked, and what its transaction is afterwards."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import extended, fails_with, ground, tags
from live import check, equal, eventually, main

POLICY = """
    search_path: [w]
    introspection: allow
    hold: {wait: 20s, expire: 1h, run_within: 15m}
    limits: {sessions: unlimited, pending: unlimited, waiting: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [w.t, w.log, w.up]
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
      - hold: [update]
        on: [w.t]
        where: required
        max_rows: 20
      - allow: [delete]
        on: [w.up]
        max_rows: 2
      - hold: [delete]
        on: [w.up]
        max_rows: 6
"""
CARRIED = """
CREATE TABLE w.up (id int PRIMARY KEY);
CREATE TABLE w.down (id int PRIMARY KEY, up int REFERENCES w.up ON DELETE CASCADE);
GRANT ALL ON w.up TO agent;
"""
HELD = "DELETE FROM w.t WHERE id = 1007"
RETURNING = "DELETE FROM w.t WHERE id = 1007 RETURNING id, note"
ESCALATES = "UPDATE w.t SET n = n + 1 WHERE id BETWEEN 1 AND 9"
INSERT = [pgwire.parse("INSERT INTO w.log VALUES (1, 'x')"), pgwire.bind(), pgwire.execute()]

place = None


def fresh():
    for hold in place.running.holds("pending") + place.running.holds("released"):
        if hold["state"] == "pending":
            place.running.command("refuse", hold["id"], "--reason", "the next test")
        else: # used up, or it would run in place of a new one
            with place.connect() as c:
                c.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})"))
    place.reset()
    place.database.ask("INSERT INTO w.t VALUES (1007, 1, 'to be held')")


def there():
    return place.value("SELECT count(*) FROM w.t WHERE id = 1007") == 1


def pending():
    return eventually(lambda: place.running.holds("pending"), "a pending hold")[0]


def release(hold):
    place.running.command("release", hold["id"], "--digest", hold["digest"])


def upstream_transactions():
    return place.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'agent' AND xact_start IS NOT NULL AND "
                       f"datname = '{place.database.name}' AND state <> 'active'")


def state(number):
    return [h["state"] for h in place.running.holds() if h["id"] == number][0]


def test_release_runs_it_and_the_reply_is_the_usual_one():
    for messages, expected in (([pgwire.query(HELD)], "CZ"), ([*extended(HELD), pgwire.SYNC], "12nCZ"),
                               ([pgwire.query(RETURNING)], "TDCZ"), ([*extended(RETURNING), pgwire.SYNC], "12TDCZ")):
        fresh()
        with place.connect() as c:
            c.send(*messages)
            hold = pending()
            check(there(), "nothing is deleted while it waits")
            equal(upstream_transactions(), 0, "open transactions")
            release(hold)
            answers = c.answers()
            equal(pgwire.kinds(answers), expected)
            equal((tags(answers), pgwire.status(answers)), (["DELETE 1"], "I"))
            check(c.is_silent(0.1), "nothing follows")
        check(not there(), "it is deleted")
        equal(state(hold["id"]), "executed")


def test_refusal_and_its_reason():
    for messages in ([pgwire.query(HELD)], [*extended(HELD), pgwire.SYNC]):
        fresh()
        with place.connect() as c:
            c.send(*messages)
            place.running.command("refuse", pending()["id"], "--reason", "wrong row")
            fails_with(c.answers(), "55PW2", "wrong row")
            equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ")
        check(there(), "it is still there")


def test_cancel_while_it_waits():
    for before in (None, "BEGIN"):
        fresh()
        with place.connect() as c:
            if before:
                c.run(pgwire.query(before))
            c.send(pgwire.query(HELD))
            hold = pending()
            c.cancel()
            answers = c.answers()
            fails_with(answers, "57014")
            equal(pgwire.status(answers), "E" if before else "I")
            equal(state(hold["id"]), "pending", "the hold goes on")
        check(there(), "nothing was deleted")


def test_a_hold_in_a_fresh_transaction():
    """The transaction is left and begun again, and the client does not notice: not its settings, its savepoints, or
    a ParameterStatus that it did not cause."""
    fresh()
    with place.connect() as c:
        c.run(pgwire.query("BEGIN ISOLATION LEVEL REPEATABLE READ"))
        for sql in ("SET application_name = 'inside'", "SET TimeZone = 'Asia/Tokyo'", "SAVEPOINT s"):
            c.run(pgwire.query(sql))
        c.send(pgwire.query(HELD))
        hold = pending()
        equal(upstream_transactions(), 0, "open transactions")
        release(hold)
        answers = c.answers()
        equal([a.kind for a in answers if a.kind != "N"], list("CZ"), "no ParameterStatus")
        equal(pgwire.status(answers), "T")
        for name, expected in (("application_name", b"inside"), ("TimeZone", b"Asia/Tokyo"),
                               ("transaction_isolation", b"repeatable read")):
            equal(c.run(pgwire.query(f"SHOW {name}"))[1].values(), [expected])
        check(there(), "not committed yet")
        equal(state(hold["id"]), "running")
        equal(pgwire.status(c.run(pgwire.query("ROLLBACK TO s"))), "T")
        equal(c.run(pgwire.query("SELECT count(*) FROM w.t WHERE id = 1007"))[1].values(), [b"1"])
        eventually(lambda: state(hold["id"]) == "released", "ROLLBACK TO gives it back")
        c.run(pgwire.query("ROLLBACK"))
    check(there(), "nothing was deleted")


def test_rollback_gives_it_back_and_commit_executes_it():
    fresh()
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        c.send(pgwire.query(HELD))
        hold = pending()
        release(hold)
        equal(tags(c.answers()), ["DELETE 1"])
        c.run(pgwire.query("ROLLBACK"))
        check(there(), "rolled back")
        eventually(lambda: state(hold["id"]) == "released", "it is given back")
        c.run(pgwire.query("BEGIN"))
        answers = c.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})"))
        equal(tags(answers), ["DELETE 1"], answers)
        equal(tags(c.run(pgwire.query("COMMIT"))), ["COMMIT"])
        eventually(lambda: state(hold["id"]) == "executed", "its COMMIT executes it")
        fails_with(c.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})")), "55PW5", "already executed")
    check(not there(), "it is deleted")


def test_a_session_that_goes_gives_it_back():
    fresh()
    c = place.connect()
    c.run(pgwire.query("BEGIN"))
    c.send(pgwire.query(HELD))
    hold = pending()
    release(hold)
    equal(tags(c.answers()), ["DELETE 1"])
    c.close()
    eventually(lambda: state(hold["id"]) == "released", "it is given back")
    check(there(), "rolled back")


def test_a_transaction_that_did_something_does_not_wait():
    for messages in ([pgwire.query(HELD)], [*extended(HELD), pgwire.SYNC]):
        fresh()
        with place.connect() as c:
            c.run(pgwire.query("BEGIN"))
            c.run(*INSERT, pgwire.SYNC)
            answers = c.run(*messages)
            fails_with(answers, "55PW1")
            equal(pgwire.status(answers), "E")
            equal(tags(c.run(pgwire.query("COMMIT"))), ["ROLLBACK"])
        equal(place.value("SELECT count(*) FROM w.log"), 0)


def test_after_its_release_such_a_transaction_runs_as_a_whole():
    for messages in ([pgwire.query(HELD)], [*extended(HELD), pgwire.SYNC]):
        fresh()
        with place.connect() as c:
            for attempt in (1, 2):
                c.run(pgwire.query("BEGIN"))
                c.run(*INSERT, pgwire.SYNC)
                answers = c.run(*messages)
                if attempt == 1:
                    fails_with(answers, "55PW1")
                    c.run(pgwire.query("ROLLBACK"))
                    hold = pending()
                    release(hold)
            equal(tags(answers), ["DELETE 1"])
            equal(pgwire.status(answers), "T")
            equal(state(hold["id"]), "running")
            equal(tags(c.run(pgwire.query("COMMIT"))), ["COMMIT"])
        eventually(lambda: state(hold["id"]) == "executed", "the client's commit decides")
        check(not there(), "the row is gone")
        equal(place.value("SELECT count(*) FROM w.log"), 1)


def test_a_hold_is_bound_to_the_settings_it_was_made_under():
    fresh()
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        c.run(*INSERT, pgwire.SYNC)
        fails_with(c.run(pgwire.query(HELD)), "55PW1")
        c.run(pgwire.query("ROLLBACK"))
        hold = pending()
        release(hold)
        run = pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})")
        c.run(pgwire.query("SET datestyle = german"))
        fails_with(c.run(run), "42501")
        check(there(), "nothing was run")
        c.run(pgwire.query("RESET datestyle"))
        equal(tags(c.run(run)), ["DELETE 1"])
    check(not there(), "then it ran")


def test_too_many_rows_for_one_rule_escalate_to_the_next():
    """Run, counted, rolled back, held: in autocommit, in a fresh transaction, in one that is not."""
    for begin in (None, "BEGIN"):
        for messages, expected in (([pgwire.query(ESCALATES)], "CZ"), ([*extended(ESCALATES), pgwire.SYNC], "12nCZ")):
            fresh()
            with place.connect() as c:
                if begin:
                    c.run(pgwire.query(begin))
                c.send(*messages)
                hold = pending()
                equal(place.value("SELECT n FROM w.t WHERE id = 3"), 3, "rolled back before anybody is asked")
                equal([t["updated"] for t in hold["effect"]["tables"]], [9], hold["effect"])
                release(hold)
                answers = c.answers()
                equal((pgwire.kinds(answers), tags(answers)), (expected, ["UPDATE 9"]))
                equal(pgwire.status(answers), "T" if begin else "I")
                if begin:
                    c.run(pgwire.query("COMMIT"))
            equal(place.value("SELECT n FROM w.t WHERE id = 3"), 4)
    for messages in ([pgwire.query(ESCALATES)], [*extended(ESCALATES), pgwire.SYNC]):
        fresh()
        with place.connect() as c:
            for attempt in (1, 2):
                c.run(pgwire.query("BEGIN"))
                c.run(*INSERT, pgwire.SYNC)
                equal(tags(c.run(pgwire.query("UPDATE w.t SET n = n + 100 WHERE id < 3"))), ["UPDATE 2"], "within its limit")
                answers = c.run(*messages)
                if attempt == 1:
                    fails_with(answers, "55PW1")
                    equal(tags(c.run(pgwire.query("COMMIT"))), ["ROLLBACK"])
                    equal(place.value("SELECT n FROM w.t WHERE id = 3"), 3)
                    hold = pending()
                    equal([t["updated"] for t in hold["effect"]["tables"]], [9], hold["effect"])
                    release(hold)
            equal((tags(answers), pgwire.status(answers)), (["UPDATE 9"], "T"))
            equal(tags(c.run(pgwire.query("COMMIT"))), ["COMMIT"])
        eventually(lambda: state(hold["id"]) == "executed", "the client's commit decides")
        equal([place.value(f"SELECT n FROM w.t WHERE id = {i}") for i in (2, 3)], [103, 4])
        equal(place.value("SELECT count(*) FROM w.log"), 1)


def test_rows_that_foreign_keys_change_escalate_to_the_next():
    sql = "DELETE FROM w.up WHERE id = 1"
    for messages, expected in (([pgwire.query(sql)], "CZ"), ([*extended(sql), pgwire.SYNC], "12nCZ")):
        fresh()
        place.database.ask("DELETE FROM w.up; INSERT INTO w.up VALUES (1), (2); "
                           "INSERT INTO w.down SELECT g, CASE WHEN g < 6 THEN 1 ELSE 2 END FROM generate_series(1, 6) g")
        with place.connect() as c:
            equal(tags(c.run(pgwire.query("DELETE FROM w.up WHERE id = 2"))), ["DELETE 1"], "with one row that refers to it")
            c.send(*messages)
            hold = pending()
            equal(place.value("SELECT count(*) FROM w.down"), 5, "rolled back before anybody is asked")
            release(hold)
            answers = c.answers()
            equal((pgwire.kinds(answers), tags(answers)), (expected, ["DELETE 1"]))
        equal(place.value("SELECT count(*) FROM w.down"), 0)


def test_nothing_of_a_batch_is_lost_silently():
    """A hold is not taken where it would commit, or lose, what its batch did before it."""
    for messages in ([*INSERT, *extended(HELD), pgwire.SYNC], [*INSERT, *extended(ESCALATES), pgwire.SYNC],
                     [*INSERT, pgwire.query(HELD)], [*INSERT, pgwire.query(ESCALATES)]):
        fresh()
        with place.connect() as c:
            answers = c.run(*messages)
            fails_with(answers, "42501", "by itself")
            equal(pgwire.status(answers), "I")
            check(c.is_silent(0.1), "nothing follows")
        equal(place.value("SELECT count(*) FROM w.log"), 0, "rolled back, as the error says")
        equal(place.running.holds("pending"), [])
        check(there(), "nothing was deleted")
    for sql in (HELD, ESCALATES):
        fresh()
        with place.connect() as c:
            answers = c.run(*extended(sql), *INSERT, pgwire.SYNC)
            fails_with(answers, "42501", "by itself")
        equal(place.value("SELECT count(*) FROM w.log"), 0)
        equal((place.value("SELECT n FROM w.t WHERE id = 3"), there()), (3, True))
        equal(place.running.holds("pending"), [])


def test_begin_in_the_same_batch():
    fresh()
    with place.connect() as c:
        c.send(pgwire.parse("BEGIN"), pgwire.bind(), pgwire.execute(), *extended(HELD), pgwire.SYNC)
        release(pending())
        answers = c.answers()
        equal((pgwire.kinds(answers), tags(answers), pgwire.status(answers)), ("12C12nCZ", ["BEGIN", "DELETE 1"], "T"))
        c.run(pgwire.query("COMMIT"))
    check(not there(), "it is deleted")


def test_a_whole_transaction_in_one_batch():
    """As a driver's pipeline sends it: what is behind the held statement waits, too."""
    for end, is_there, state in ("COMMIT", False, "executed"), ("ROLLBACK", True, "released"):
        fresh()
        with place.connect() as c:
            c.send(*extended("BEGIN"), *extended(HELD), *extended("SELECT 1"), *extended(end), *extended("SELECT 2"), pgwire.SYNC)
            hold = pending()
            release(hold)
            answers = c.answers()
            equal((pgwire.errors(answers), tags(answers)), ([], ["BEGIN", "DELETE 1", "SELECT 1", end, "SELECT 1"]))
        equal(there(), is_there, end)
        eventually(lambda: place.running.hold(hold["id"])["state"] == state, state)
    fresh()
    with place.connect(options="-c statement_timeout=200") as c:
        answers = c.run(*extended("BEGIN"), *INSERT, *extended(HELD), *extended("COMMIT"), pgwire.SYNC)
        fails_with(answers, "55PW1")
        equal((tags(answers)[0], pgwire.status(answers)), ("BEGIN", "E"))
        c.run(pgwire.query("ROLLBACK"))
    equal((place.value("SELECT count(*) FROM w.log"), there()), (0, True))


def test_values_are_bound_in_the_run():
    fresh()
    sql = "DELETE FROM w.t WHERE id = $1 AND note = $2"
    with place.connect() as c:
        c.send(*extended(sql, (b"1007", b"to be held"), types=(23, 25)), pgwire.SYNC)
        hold = pending()
        equal([p["value"] for p in hold["parameters"]], ["1007", "to be held"])
        release(hold)
        equal(tags(c.answers()), ["DELETE 1"])
    fresh()
    with place.connect() as c:
        c.send(*extended(sql, (b"1007", b"to be held")), pgwire.SYNC)
        hold = pending()
        c.cancel()
        c.answers()
        release(hold)
        answers = c.run(*extended(f"EXECUTE pgwicket_hold({hold['id']})"), pgwire.SYNC)
        equal(tags(answers), ["DELETE 1"], answers)
    check(not there(), "it is deleted")


def test_another_agents_or_no_hold():
    with place.connect() as c:
        for number in ("999", "0", "-1", "9223372036854775807"):
            check(pgwire.errors(c.run(pgwire.query(f"EXECUTE pgwicket_hold({number})"))), number)
        fails_with(c.run(pgwire.query("EXECUTE pgwicket_hold(999)")), "42704")
        fails_with(c.run(*extended("EXECUTE pgwicket_hold(999)"), pgwire.SYNC), "42704")
        for sql in ("SHOW pgwicket.holds", "SHOW pgwicket.policy", "SHOW pgwicket.templates"):
            equal(pgwire.errors(c.run(pgwire.query(sql))), [], sql)
            equal(pgwire.errors(c.run(*extended(sql), pgwire.SYNC)), [], sql)
        equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ")


if __name__ == "__main__":
    with ground(POLICY) as place:
        place.database.ask(CARRIED)
        code = main(globals())
    sys.exit(code)

"""What PostgreSQL refuses in a transaction block (VACUUM, CREATE INDEX CONCURRENTLY, CREATE DATABASE, …) is held as what
nobody can try out, and runs once it is released: by itself, once, and without a way back."""
import os
import sys
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

import pgwire
from ground import extended
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, Sender, wicket

POLICY = """
    search_path: [o]
    settings: {synchronous_commit: "off"}
    hold: {wait: $wait, expire: 1h, run_within: 1h}
    limits: {pending: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select, insert]
        on: [o.t]
      - hold: [maintain]
        on: [o.careful]
      - hold: [maintain]
        on: [o.vouched]
        rehearse: true
      - hold: [maintain, create, alter, drop, set]
        on: ["*"]
        unrehearsed: hold
"""
SCHEMA = """
CREATE SCHEMA o;
CREATE TABLE o.t (id int PRIMARY KEY, n int);
CREATE TABLE o.careful ();
CREATE TABLE o.vouched ();
CREATE TABLE o.parts (id int) PARTITION BY RANGE (id);
CREATE TABLE o.part PARTITION OF o.parts FOR VALUES FROM (0) TO (10);
INSERT INTO o.t SELECT g, g % 3 FROM generate_series(1, 1000) g;
DELETE FROM o.t WHERE id > 900;
"""
VACUUMED = "SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 't'"

database = running = None


def agent(**values):
    return pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, **values)


def error_of(answers):
    return next((m.fields() for m in answers if m.kind == "E"), {})


def pending(beginning):
    return eventually(lambda: next((h for h in running.holds("pending") if h["statement"].startswith(beginning)), None),
                      f"a pending hold of {beginning}")


def release(hold):
    running.command("release", hold["id"], "--digest", hold["digest"])


def state(hold):
    return running.hold(hold["id"])["state"]


def held(sql):
    """Held and released; its session has given up waiting."""
    with agent(options="-c statement_timeout=200") as session:
        equal(error_of(session.run(pgwire.query(sql))).get("C"), "55PW1", sql)
    hold = pending(sql.split("(")[0].strip())
    release(hold)
    return hold


def run_directly(sql):
    with closing(psycopg2.connect(database.superuser)) as connection:
        connection.autocommit = True
        connection.cursor().execute(sql)


def test_it_runs_once_it_is_released():
    valid = "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('o.{}') AND indisvalid"
    oid = "SELECT relfilenode FROM pg_class WHERE oid = 'o.{}'::regclass"
    steps = [
        ("CREATE INDEX CONCURRENTLY by_n ON o.t (n)", "CREATE INDEX", valid.format("by_n")),
        ("REINDEX INDEX CONCURRENTLY o.by_n", "REINDEX", oid.format("by_n")),
        ("REINDEX TABLE o.parts", "REINDEX", None),
        ("DROP INDEX CONCURRENTLY o.by_n", "DROP INDEX", valid.format("by_n")),
        ("VACUUM (ANALYZE) o.t", "VACUUM", None),
        ("ALTER TABLE o.parts DETACH PARTITION o.part CONCURRENTLY", "ALTER TABLE",
         "SELECT relispartition FROM pg_class WHERE oid = 'o.part'::regclass"),
        (f"CREATE DATABASE {database.name}_two", "CREATE DATABASE", f"SELECT count(*) FROM pg_database WHERE datname = '{database.name}_two'"),
        (f"DROP DATABASE {database.name}_two", "DROP DATABASE", f"SELECT count(*) FROM pg_database WHERE datname = '{database.name}_two'"),
        ("ALTER SYSTEM SET work_mem = 123456", "ALTER SYSTEM",
         "SELECT count(*) FROM pg_file_settings WHERE setting = '123456'"),
        ("ALTER SYSTEM RESET work_mem", "ALTER SYSTEM", "SELECT count(*) FROM pg_file_settings WHERE setting = '123456'"),
        ("CLUSTER", "CLUSTER", None),
    ]
    for number, (sql, tag, witness) in enumerate(steps):
        before = database.value(witness) if witness else None
        with agent() as session:
            session.send(*([pgwire.query(sql)] if number % 2 else [*extended(sql), pgwire.SYNC]))
            hold = pending(sql.split("(")[0].split(" o.")[0])
            equal((hold["effect"]["known"], state(hold)), (False, "pending"), sql)
            check("outside of a transaction" in hold["effect"]["why"], hold["effect"])
            equal(database.value(witness) if witness else None, before, f"{sql} ran before it was released")
            release(hold)
            answers = session.answers()
            equal([m.tag() for m in answers if m.kind == "C"], [tag], answers)
            equal(error_of(answers), {}, sql)
            equal(state(hold), "executed", sql)
            if witness:
                check(database.value(witness) != before, f"{sql} did nothing")
            equal([m.values() for m in session.run(pgwire.query("SHOW synchronous_commit")) if m.kind == "D"], [[b"off"]], sql)


def test_it_runs_once_in_one_of_two_sessions():
    hold = held("VACUUM o.t")
    run = f"EXECUTE pgwicket_hold({hold['id']})"
    with agent() as first, agent() as second:
        for session in first, second:
            session.send(pgwire.query(run))
        both = [first.answers(), second.answers()]
    equal(sorted(m.tag() for answers in both for m in answers if m.kind == "C"), ["VACUUM"], both)
    equal(sorted(error_of(answers).get("C", "") for answers in both), ["", "55PW5"], both)


def test_in_a_transaction_it_is_refused_as_by_the_server():
    hold = held("VACUUM (FREEZE) o.t")
    for before in "BEGIN", "BEGIN; INSERT INTO o.t VALUES (2000, 1)":
        for sql in "VACUUM o.t", "CREATE INDEX CONCURRENTLY other ON o.t (n)", f"EXECUTE pgwicket_hold({hold['id']})":
            with agent() as session:
                session.run(pgwire.query(before))
                answers = session.run(pgwire.query(sql))
                equal(error_of(answers).get("C"), "25001", answers)
                check("autocommit" in error_of(answers)["H"], answers)
                equal(answers[-1].payload, b"E", answers)
    equal(running.holds("pending"), [])
    equal(state(hold), "released")
    with agent() as session:
        equal(error_of(session.run(pgwire.query("SELECT 1 FROM o.t WHERE id = 1; VACUUM o.t"))).get("C"), "42501")


def test_without_unrehearsed_nobody_is_asked():
    with agent() as session:
        answers = session.run(pgwire.query("VACUUM o.careful"))
        equal(error_of(answers).get("C"), "42501", answers)
        check("unrehearsed: hold" in error_of(answers)["H"], answers)


def test_who_vouches_for_a_rehearsal_cannot_have_one():
    before = database.value("SELECT coalesce(sum(vacuum_count), 0) FROM pg_stat_user_tables WHERE relname = 'vouched'")
    with agent(options="-c statement_timeout=200") as session:
        equal(error_of(session.run(pgwire.query("VACUUM o.vouched"))).get("C"), "55PW1")
    check("outside of a transaction" in pending("VACUUM o.vouched")["effect"]["why"], "why")
    equal(database.value("SELECT coalesce(sum(vacuum_count), 0) FROM pg_stat_user_tables WHERE relname = 'vouched'"), before)


def test_an_error_of_the_run_is_the_agents_and_told_as_what_it_may_have_left():
    hold = held("CREATE UNIQUE INDEX CONCURRENTLY twice ON o.t (n)")
    with agent() as session:
        answers = session.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})"))
        equal(error_of(answers).get("C"), "23505", answers)
        equal(answers[-1].payload, b"I", answers)
        equal(state(hold), "failed")
        equal(database.value("SELECT indisvalid FROM pg_index WHERE indexrelid = 'o.twice'::regclass"), False)
        told = error_of(session.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})")))
        check(told["C"] == "55PW5" and "a part of its work" in told["M"], told)
    run_directly("DROP INDEX o.twice")


def started(name):
    """A run that waits for an older snapshot; the hold, its session, and what it waits for."""
    hold = held(f"CREATE INDEX CONCURRENTLY {name} ON o.t (n)")
    blocker = psycopg2.connect(database.superuser)
    blocker.cursor().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; INSERT INTO o.t VALUES (-1, 1)")
    session = running.connect()
    sender = Sender(session, f"EXECUTE pgwicket_hold({hold['id']})")
    eventually(lambda: database.value("SELECT count(*) FROM pg_locks WHERE NOT granted"), "it waits for a lock")
    equal(state(hold), "running")
    return hold, session, sender, blocker


def test_a_cancelled_run_has_failed():
    hold, session, sender, blocker = started("cancelled")
    session.cancel()
    equal(sender.result().error.pgcode, "57014")
    equal(state(hold), "failed")
    blocker.close()


def test_a_run_that_was_cut_off_is_unknown_and_not_run_again():
    hold, _, sender, blocker = started("cut")
    database.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONC%' AND state = 'active'")
    check(sender.result().error is not None, "it was told that it ran")
    eventually(lambda: state(hold) == "unknown", "the state is unknown")
    blocker.close()
    with agent() as session:
        equal(error_of(session.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})"))).get("C"), "55PW5")


def test_after_a_crash_of_pgwicket_it_is_unknown():
    hold, _, sender, blocker = started("crashed")
    running.kill()
    sender.result()
    blocker.rollback()
    blocker.close()
    running.start()
    eventually(lambda: state(hold) == "unknown", "the state is unknown")


def test_a_hold_whose_policy_has_changed_does_not_run():
    hold = held("VACUUM (VERBOSE) o.t")
    before = database.value(VACUUMED)
    with agent() as session:
        running.command("pause", "agent")
        equal(error_of(session.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})"))).get("C"), "55PW4")
    running.command("resume", "agent")
    equal((state(hold), database.value(VACUUMED)), ("released", before))


if __name__ == "__main__":
    with wicket(POLICY.replace("$wait", "20s"), superuser=True) as (database, running):
        database.ask(SCHEMA)
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

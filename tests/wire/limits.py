"""Limited writes: they run uncommitted, are counted, and are committed or rolled back; the client sees what it would
see without pgwicket, or an error and nothing changed."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import extended, fails_with, ground, same_as_directly, tags
from live import check, equal, eventually, main

POLICY = """
    search_path: [w]
    introspection: allow
    settings: {statement_timeout: 60s}
    rules:
      - allow: [select]
        on: ["*"]
      - allow: [insert]
        on: [w.t, w.child]
        max_rows: 5
      - allow: [insert]
        on: [w.log]
      - allow: [update]
        on: [w.t, w.slow]
        where: required
        max_rows: 3
      - allow: [insert, update, delete]
        on: [w.parent, w.tree, w.emptied]
        max_rows: 4
"""
# A parent n has n - 1 kids; each kid of an odd parent has one grandkid, which stays when its kid goes.
FAMILY = """
CREATE TABLE w.parent (id int PRIMARY KEY, n int NOT NULL DEFAULT 0);
CREATE TABLE w.kid (id int PRIMARY KEY, parent int REFERENCES w.parent ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE w.grandkid (id int NOT NULL, kid int REFERENCES w.kid ON DELETE SET NULL) PARTITION BY RANGE (id);
CREATE TABLE w.grandkid_1 PARTITION OF w.grandkid FOR VALUES FROM (0) TO (401);
CREATE TABLE w.grandkid_2 PARTITION OF w.grandkid FOR VALUES FROM (401) TO (10000);
CREATE TABLE w.tree (id int PRIMARY KEY, up int REFERENCES w.tree ON DELETE CASCADE);
CREATE TABLE w.emptied (id int PRIMARY KEY);
CREATE TABLE w.emptied_kid (id int PRIMARY KEY, up int REFERENCES w.emptied ON DELETE CASCADE);
INSERT INTO w.parent SELECT g FROM generate_series(1, 10) g;
INSERT INTO w.kid SELECT 100 * p + k, p FROM generate_series(1, 10) p, generate_series(1, p - 1) k;
INSERT INTO w.grandkid SELECT id, id FROM w.kid WHERE parent % 2 = 1;
INSERT INTO w.tree SELECT g, nullif(g - 1, 0) FROM generate_series(1, 10) g;
INSERT INTO w.emptied VALUES (1);
INSERT INTO w.emptied_kid SELECT g, 1 FROM generate_series(1, 9) g;
CREATE FUNCTION w.empty() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$BEGIN TRUNCATE w.emptied_kid; RETURN OLD; END$$;
CREATE TRIGGER zz AFTER DELETE ON w.emptied FOR EACH ROW EXECUTE FUNCTION w.empty();
CREATE FUNCTION w.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$BEGIN INSERT INTO w.log SELECT g FROM generate_series(1, 20) g; RETURN OLD; END$$;
CREATE TRIGGER note AFTER DELETE ON w.parent FOR EACH ROW WHEN (OLD.n = 7) EXECUTE FUNCTION w.note();
CREATE FUNCTION w.more() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
    $$BEGIN INSERT INTO w.kid SELECT g FROM generate_series(5001, 5005) g; RETURN OLD; END$$;
CREATE TRIGGER more AFTER DELETE ON w.parent FOR EACH ROW WHEN (OLD.n = 8) EXECUTE FUNCTION w.more();
GRANT ALL ON w.parent, w.tree, w.emptied TO agent;
ANALYZE w.parent, w.kid, w.grandkid, w.tree, w.emptied, w.emptied_kid;
"""
FAMILY_STATE = """SELECT ((SELECT array_agg(p ORDER BY id) FROM w.parent p), (SELECT array_agg(k ORDER BY id) FROM w.kid k),
(SELECT array_agg(g ORDER BY id) FROM w.grandkid g), (SELECT array_agg(t ORDER BY id) FROM w.tree t),
(SELECT count(*) FROM w.emptied_kid), (SELECT count(*) FROM w.log))::text"""
FEW = "UPDATE w.t SET n = n + 1 WHERE id < 4"
MANY = "UPDATE w.t SET n = n + 1 WHERE id < 100"
RETURNING = "UPDATE w.t SET n = n + 1 WHERE id < 4 RETURNING id, note"
DEFERRED = "INSERT INTO w.child SELECT g, 5000 + g FROM generate_series(1, 2) g RETURNING id"

place = None


def changed():
    return place.value("SELECT count(*) FROM w.t WHERE n <> id % 10 OR id > 1000")


def test_a_limited_update_looks_as_without_pgwicket():
    for sql in (FEW, RETURNING, "UPDATE w.t SET n = 1 WHERE id < 0", "UPDATE w.t SET note = 'loud' WHERE id = 2 RETURNING id",
                "INSERT INTO w.t SELECT g FROM generate_series(2001, 2003) g",
                "WITH x AS (SELECT 1) UPDATE w.t SET n = 5 WHERE id < 3 RETURNING *"):
        answers = same_as_directly(place, pgwire.query(sql))
        equal(pgwire.status(answers), "I", sql)
        same_as_directly(place, [*extended(sql), pgwire.SYNC])
        same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(sql), pgwire.query("ROLLBACK"))
        same_as_directly(place, pgwire.query("BEGIN"), [*extended(sql), pgwire.SYNC], pgwire.query("COMMIT"))


def test_the_unnamed_statement_dies_with_a_limited_query():
    for sql in (FEW, MANY):
        place.reset()
        with place.connect() as c:
            c.run(pgwire.parse("SELECT 1"), pgwire.SYNC)
            c.run(pgwire.query(sql))
            fails_with(c.run(pgwire.bind(), pgwire.execute(), pgwire.SYNC), "26000")


def test_too_many_rows_are_rolled_back():
    for messages in ([pgwire.query(MANY)], [*extended(MANY), pgwire.SYNC],
                     [pgwire.query(MANY + " RETURNING *")], [*extended(MANY + " RETURNING *"), pgwire.SYNC]):
        place.reset()
        with place.connect() as c:
            answers = c.run(*messages)
            fails_with(answers, "54000", "rolled back, nothing was changed")
            check("D" not in pgwire.kinds(answers), f"no row is shown: {answers}")
            equal(pgwire.status(answers), "I")
            check(c.is_silent(0.1), "nothing follows")
            equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ")
        equal(changed(), 0, "rows that stayed changed")


def test_too_many_rows_abort_a_transaction():
    for messages in ([pgwire.query(MANY)], [*extended(MANY), pgwire.SYNC]):
        place.reset()
        with place.connect() as c:
            c.run(pgwire.query("BEGIN"))
            equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"])
            answers = c.run(*messages)
            fails_with(answers, "54000")
            equal(pgwire.status(answers), "E")
            fails_with(c.run(pgwire.query(FEW)), "25P02")
            fails_with(c.run(*extended(FEW), pgwire.SYNC), "25P02")
            equal(tags(c.run(pgwire.query("COMMIT"))), ["ROLLBACK"])
        equal(changed(), 0)


def test_a_savepoint_survives_too_many_rows():
    with place.connect() as c:
        place.reset()
        for sql in ("BEGIN", FEW, "SAVEPOINT s"):
            c.run(pgwire.query(sql))
        fails_with(c.run(pgwire.query(MANY)), "54000")
        equal(pgwire.status(c.run(pgwire.query("ROLLBACK TO s"))), "T")
        equal(tags(c.run(pgwire.query("COMMIT"))), ["COMMIT"])
    equal(changed(), 3)


def test_names_of_its_own_do_not_stay_after_an_error():
    """Behind an error the server skips the Closes; the next injected statement must not stumble over it."""
    with place.connect() as c:
        place.reset()
        for _ in range(3):
            fails_with(c.run(pgwire.query("UPDATE w.t SET n = 1 / (n - n) WHERE id < 4")), "22012")
            equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"])
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.query("SAVEPOINT s"))
        for _ in range(3):
            fails_with(c.run(pgwire.query("UPDATE w.t SET n = 1 / (n - n) WHERE id < 4")), "22012")
            equal(pgwire.status(c.run(pgwire.query("ROLLBACK TO s"))), "T")
            equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"])
            c.run(pgwire.query("ROLLBACK TO s"))


def test_a_failing_estimate_is_the_statements_own_error():
    for sql in ("UPDATE w.t SET n = 'x' WHERE id < 4", "UPDATE w.t SET n = 1 WHERE id < 'y'::text::int"):
        same_as_directly(place, pgwire.query(sql))
        same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(sql), pgwire.query("SELECT 1"),
                         pgwire.query("ROLLBACK"))


def test_a_deferred_constraint_fails_at_the_commit():
    answers = same_as_directly(place, pgwire.query(DEFERRED))
    equal(pgwire.kinds(answers), "TDDEZ", "of a Query: rows, and no CommandComplete")
    answers = same_as_directly(place, [*extended(DEFERRED), pgwire.SYNC])
    equal(pgwire.kinds(answers), "12TDDCEZ", "extended: it fails at Sync")
    same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(DEFERRED), pgwire.query("COMMIT"))
    equal(place.value("SELECT count(*) FROM w.child"), 0)
    records = place.audit(**{"event__outcome": "failure", "db__response__status_code": "23503"})
    check(records, "the outcome is recorded as a failure")


def test_the_row_description_waits_for_the_statement():
    """A Query with RETURNING runs before it is described: notices first, no description with an error."""
    loud = "UPDATE w.t SET note = 'loud' WHERE id = 2 RETURNING id"
    equal([a.kind for a in same_as_directly(place, pgwire.query(loud))], list("NTDCZ"))
    failing = "UPDATE w.t SET n = 1 / (id - 2) WHERE id < 4 RETURNING id"
    equal(pgwire.kinds(same_as_directly(place, pgwire.query(failing))), "EZ")


def test_repeatable_read_sees_what_it_would_see():
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        same_as_directly(place, pgwire.query(f"BEGIN ISOLATION LEVEL {level}"), pgwire.query(FEW),
                         pgwire.query("COMMIT"))
        same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(f"SET TRANSACTION ISOLATION LEVEL {level}"),
                         [*extended(FEW), pgwire.SYNC], pgwire.query("COMMIT"))


def test_a_read_only_transaction_stays_read_only():
    same_as_directly(place, pgwire.query("BEGIN READ ONLY"), pgwire.query(FEW), pgwire.query("ROLLBACK"))
    equal(changed(), 0)


def test_each_limited_write_of_a_pipeline_is_counted():
    place.reset()
    with place.connect() as c:
        answers = c.run(*extended(FEW), *extended(FEW), *extended(MANY), pgwire.SYNC)
        fails_with(answers, "54000")
        equal(tags(answers), ["UPDATE 3", "UPDATE 3"], "those that came before it")
        equal(pgwire.status(answers), "I")
    equal(changed(), 0, "the pipeline is one transaction")
    same_as_directly(place, [*extended(FEW), *extended(RETURNING), pgwire.SYNC])
    equal(changed(), 3)


def test_a_pipeline_with_begin_in_front():
    begin = [pgwire.parse("BEGIN"), pgwire.bind(), pgwire.execute()]
    answers = same_as_directly(place, [*begin, *extended(FEW), pgwire.SYNC], pgwire.query("COMMIT"))
    equal(tags(answers), ["COMMIT"])
    equal(changed(), 3)
    place.reset()
    with place.connect() as c:
        answers = c.run(*begin, *extended(MANY), pgwire.SYNC)
        fails_with(answers, "54000")
        equal((tags(answers), pgwire.status(answers)), (["BEGIN"], "E"))
    equal(changed(), 0)


def test_executions_of_one_statement():
    """executemany: one Parse, many Binds and Executes, one Sync."""
    place.reset()
    many = [pgwire.parse("UPDATE w.t SET n = n + 1 WHERE id >= $1 AND id < $2", types=(23, 23))]
    for first in (1, 10, 20):
        many += [pgwire.bind((str(first).encode(), str(first + 3).encode())), pgwire.execute()]
    equal(pgwire.kinds(same_as_directly(place, [*many, pgwire.SYNC])), "12C2C2CZ")
    many += [pgwire.bind((b"50", b"60")), pgwire.execute()]
    place.reset()
    with place.connect() as c:
        fails_with(c.run(*many, pgwire.SYNC), "54000")
    equal(changed(), 0)


def test_parse_with_flush_and_the_rest_later():
    """As asyncpg does: Parse, Describe, Flush; when that is answered Bind, Execute, Sync."""
    for connect in (place.connect_directly, place.connect):
        place.reset()
        with connect() as c:
            c.send(pgwire.parse("UPDATE w.t SET n = n + 1 WHERE id < $1 RETURNING id", "s1"),
                   pgwire.describe("S", "s1"), pgwire.FLUSH)
            equal("".join(c.read().kind for _ in range(3)), "1tT")
            check(c.is_silent(0.1), "no ReadyForQuery")
            answers = c.run(pgwire.bind((b"4",), "s1"), pgwire.execute(), pgwire.SYNC)
            equal(pgwire.kinds(answers), "2DDDCZ")
        equal(changed(), 3)


def test_execute_with_flush_answers_before_sync():
    with place.connect() as c:
        place.reset()
        c.send(*extended(RETURNING), pgwire.FLUSH)
        equal("".join(c.read().kind for _ in range(7)), "12TDDDC")
        equal(changed(), 0, "not committed before Sync")
        equal(pgwire.kinds(c.run(pgwire.SYNC)), "Z")
    equal(changed(), 3)


def test_a_client_that_leaves_before_sync_commits_nothing():
    c = place.connect()
    place.reset()
    c.send(*extended(FEW), pgwire.FLUSH)
    while c.read().kind != "C":
        pass
    c.close()
    eventually(lambda: place.value("SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND "
                                   f"datname = '{place.database.name}'") == 0, "the transaction has ended")
    equal(changed(), 0)


def test_two_queries_in_one_write():
    with place.connect() as c:
        place.reset()
        c.send(pgwire.query(FEW), pgwire.query("SELECT n FROM w.t WHERE id = 1"))
        equal(tags(c.answers()), ["UPDATE 3"])
        answers = c.answers()
        equal([a.values() for a in answers if a.kind == "D"], [[b"2"]])
        c.send(pgwire.query(MANY), pgwire.query("SELECT n FROM w.t WHERE id = 1"), pgwire.query(MANY))
        fails_with(c.answers(), "54000")
        equal(tags(c.answers()), ["SELECT 1"])
        fails_with(c.answers(), "54000")


def test_a_query_behind_extended_messages_without_sync():
    insert = [pgwire.parse("INSERT INTO w.log VALUES (1, 'x')"), pgwire.bind(), pgwire.execute()]
    same_as_directly(place, [*insert, pgwire.query("SELECT count(*) FROM w.log")])
    equal(place.value("SELECT count(*) FROM w.log"), 1, "the Query commits what was before it")
    for sql, code, rows in ((FEW, None, 1), (MANY, "54000", 0), ("DELETE FROM w.t", "42501", 0)):
        place.reset()
        with place.connect() as c:
            answers = c.run(*insert, pgwire.query(sql))
            equal([e["C"] for e in pgwire.errors(answers)], [code] if code else [], sql)
            equal(pgwire.status(answers), "I")
            check(c.is_silent(0.1), "nothing follows")
        equal(place.value("SELECT count(*) FROM w.log"), rows, f"rows that were inserted before {sql}")
    failing = [pgwire.parse("SELECT 1 / 0"), pgwire.bind(), pgwire.execute(), pgwire.query("SELECT 2"), pgwire.SYNC]
    equal(pgwire.kinds(same_as_directly(place, failing)).count("E"), 1, "a Query behind an error is skipped")


def test_copy_from_stdin_with_a_limit():
    def rows(first, count):
        return [pgwire.message("d", f"{i}\t{i}\n".encode()) for i in range(first, first + count)]

    sql = "COPY w.t (id, n) FROM STDIN"
    done, fail = pgwire.message("c"), pgwire.message("f", b"no\0")
    for name, messages, eager in (("simple", [pgwire.query(sql)], False),
                                  ("extended", [pgwire.parse(sql), pgwire.bind(), pgwire.execute(), pgwire.FLUSH], False),
                                  ("extended, Sync sent early", [pgwire.parse(sql), pgwire.bind(), pgwire.execute(),
                                                                 pgwire.SYNC], True)):
        for count, end, expected in ((5, done, 5), (6, done, 0), (3, fail, 0), (0, done, 0)):
            seen = []
            for connect in (place.connect_directly, place.connect):
                place.reset()
                with connect() as c:
                    c.send(*messages)
                    while c.read().kind != "G":
                        pass
                    c.send(*rows(3000, count), end)
                    if name != "simple":
                        c.send(pgwire.SYNC)
                    answers = c.answers()
                    seen.append(answers)
                    check(c.is_silent(0.1), f"{name}: nothing follows {answers}")
                    equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ", name)
            what = f"{name}, {count} rows, eager {eager}"
            if count > 5:
                fails_with(seen[1], "54000")
            else:
                equal(pgwire.kinds(seen[1]), pgwire.kinds(seen[0]), what)
            equal(changed(), expected, what)
    with place.connect() as c:
        place.reset()
        c.send(pgwire.query(sql))
        while c.read().kind != "G":
            pass
        c.send(pgwire.message("d", b"not a number\t1\n"), *rows(3000, 2), done)
        fails_with(c.answers(), "22P02")
        equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ")
    equal(changed(), 0)


def test_copy_data_in_pieces():
    place.reset()
    with place.connect() as c:
        c.send(pgwire.query("COPY w.t (id, n) FROM STDIN"))
        while c.read().kind != "G":
            pass
        for byte in pgwire.message("d", b"3000\t1\n") + pgwire.message("c"):
            c.send(bytes([byte]))
        equal(tags(c.answers()), ["COPY 1"])
    equal(changed(), 1)


def test_another_message_in_copy_ends_the_session():
    with place.connect() as c:
        place.reset()
        c.send(pgwire.query("COPY w.t (id, n) FROM STDIN"))
        while c.read().kind != "G":
            pass
        c.send(pgwire.query("SELECT 1"))
        try:
            found = c.read().fields()
            equal(found["C"], "08P01")
            while True:
                c.read()
        except pgwire.Closed:
            pass
    equal(changed(), 0)


def cancel_while(c, connection_key, ready):
    eventually(ready, "it runs")
    connection_key()


def test_cancel_of_a_running_limited_write():
    for messages, before in (([pgwire.query("UPDATE w.slow SET n = 1 WHERE id < 3")], None),
                             ([*extended("UPDATE w.slow SET n = 1 WHERE id < 3"), pgwire.SYNC], None),
                             ([pgwire.query("UPDATE w.slow SET n = 1 WHERE id < 3")], "BEGIN")):
        place.reset()
        with place.connect() as c:
            if before:
                c.run(pgwire.query(before))
            c.send(*messages)
            eventually(lambda: place.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND "
                                           f"datname = '{place.database.name}'") == 1, "it runs")
            c.cancel()
            answers = c.answers()
            fails_with(answers, "57014")
            equal(pgwire.status(answers), "E" if before else "I")
            if before:
                c.run(pgwire.query("ROLLBACK"))
            equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"], "the session goes on")
        equal(place.value("SELECT sum(n) FROM w.slow"), 0)


def test_cancel_of_an_estimate():
    """EXPLAIN waits for a table that is locked; the cancel ends it, and the statement is not run."""
    place.reset()
    with place.connect() as c, place.connect_directly() as other:
        other.run(pgwire.query("BEGIN"))
        other.run(pgwire.query("LOCK TABLE w.t IN ACCESS EXCLUSIVE MODE"))
        c.send(pgwire.query(FEW))
        eventually(lambda: place.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                                       f"datname = '{place.database.name}'") == 1, "it waits")
        c.cancel()
        fails_with(c.answers(), "57014")
        started = time.monotonic()
        fails_with(c.run(pgwire.query(FEW)), "55P03")
        check(time.monotonic() - started < 8, "an estimate waits no longer than its lock_timeout")
        other.run(pgwire.query("ROLLBACK"))
        equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"])


def test_cancel_of_an_idle_session_does_nothing():
    with place.connect() as c:
        place.reset()
        c.cancel()
        for _ in range(20):
            equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"])


def test_notifications_come_before_ready():
    place.reset()
    with place.connect_directly() as other, place.connect() as c:
        fails_with(c.run(pgwire.query("LISTEN news")), "42501")
        other.run(pgwire.query("NOTIFY news"))
        equal(tags(c.run(pgwire.query(FEW))), ["UPDATE 3"])


def test_the_kept_reply_has_a_limit():
    place.reset()
    place.database.ask("UPDATE w.t SET note = repeat('x', 4000000) WHERE id < 4")
    with place.connect() as c:
        fails_with(c.run(pgwire.query(RETURNING)), "54000", "8 MiB")
        equal(place.value("SELECT n FROM w.t WHERE id = 1"), 1, "it was rolled back")
        answers = c.run(pgwire.query("UPDATE w.t SET n = n + 1 WHERE id = 2 RETURNING id, note"))
        equal(len([a for a in answers if a.kind == "D"][0].payload) > 4000000, True)
    place.reset()


def in_each_form(sql):
    """A statement as a Query, in the extended protocol, each alone and in a transaction that is not ended."""
    for messages in ([pgwire.query(sql)], [*extended(sql), pgwire.SYNC]):
        for before in ((), ("BEGIN",), ("BEGIN", "UPDATE w.tree SET up = up WHERE id > 7", "SAVEPOINT s")):
            with place.connect() as c:
                for one in before:
                    c.run(pgwire.query(one))
                yield c.run(*messages), c, bool(before)


def carried_too_far(sql, rows):
    before = place.value(FAMILY_STATE)
    for answers, c, inside in in_each_form(sql):
        fails_with(answers, "54000", f"would change {rows} rows, limit 4; rolled back, nothing was changed")
        check("Rows that foreign keys change count." in pgwire.errors(answers)[0]["D"], answers)
        check("D" not in pgwire.kinds(answers), f"no row is shown: {answers}")
        equal(pgwire.status(answers), "E" if inside else "I")
        check(c.is_silent(0.05), "nothing follows")
    equal(place.value(FAMILY_STATE), before, sql)


def test_rows_that_foreign_keys_change_count():
    for sql, rows in (("DELETE FROM w.parent WHERE id = 5 RETURNING id", 9), ("DELETE FROM w.parent WHERE id = 6", 6),
                      ("DELETE FROM w.parent WHERE id = 3", 5), ("DELETE FROM w.parent WHERE id < 4", 8),
                      ("DELETE FROM w.tree WHERE id = 6", 5), ("DELETE FROM w.tree WHERE id = 1", 10),
                      ("UPDATE w.parent SET id = 50 WHERE id = 5", 5),
                      ("INSERT INTO w.parent VALUES (5) ON CONFLICT (id) DO UPDATE SET id = 50", 5),
                      ("MERGE INTO w.parent p USING (VALUES (6)) v (x) ON p.id = v.x WHEN MATCHED THEN DELETE", 6)):
        carried_too_far(sql, rows)


def test_up_to_the_limit_they_look_as_without_pgwicket():
    for sql in ("DELETE FROM w.parent WHERE id = 4 RETURNING id", "DELETE FROM w.parent WHERE id IN (1, 2)",
                "DELETE FROM w.tree WHERE id = 7", "UPDATE w.parent SET id = 30 WHERE id = 3 RETURNING *",
                "UPDATE w.parent SET n = 1 WHERE id > 6", "UPDATE w.parent SET id = id WHERE id = 10",
                "INSERT INTO w.parent VALUES (4) ON CONFLICT (id) DO UPDATE SET id = 40",
                "MERGE INTO w.parent p USING (VALUES (4)) v (x) ON p.id = v.x WHEN MATCHED THEN DELETE",
                "DELETE FROM w.parent WHERE id = 4 AND id / 0 = 1"):
        same_as_directly(place, pgwire.query("BEGIN"), pgwire.query(sql), pgwire.query("ROLLBACK"))
        same_as_directly(place, pgwire.query("BEGIN"), [*extended(sql), pgwire.SYNC], pgwire.query("ROLLBACK"))


def test_each_statement_has_its_own_difference():
    before = place.value(FAMILY_STATE)
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        for sql in ("DELETE FROM w.parent WHERE id = 4", "DELETE FROM w.parent WHERE id = 2", "DELETE FROM w.tree WHERE id = 7"):
            equal(tags(c.run(pgwire.query(sql))), ["DELETE 1"], sql)
        fails_with(c.run(pgwire.query("DELETE FROM w.parent WHERE id = 6")), "54000", "6 rows")
        c.run(pgwire.query("ROLLBACK"))
        answers = c.run(*extended("DELETE FROM w.parent WHERE id = 4"), *extended("DELETE FROM w.parent WHERE id = 6"),
                        pgwire.SYNC)
        equal(tags(answers), ["DELETE 1"])
        fails_with(answers, "54000", "6 rows")
    equal(place.value(FAMILY_STATE), before, "a batch is rolled back as a whole")


def test_in_tables_that_foreign_keys_reach_it_does_not_matter_who_changes_them():
    place.database.ask("UPDATE w.parent SET n = 7 WHERE id = 1; UPDATE w.parent SET n = 8 WHERE id = 2")
    same_as_directly(place, pgwire.query("BEGIN"), pgwire.query("DELETE FROM w.parent WHERE id = 1"), pgwire.query("ROLLBACK"))
    carried_too_far("DELETE FROM w.parent WHERE id = 2", 7)
    place.database.ask("UPDATE w.parent SET n = 0")


def not_counted(sql):
    before = place.value(FAMILY_STATE)
    for answers, _, inside in in_each_form(sql):
        fails_with(answers, "54000", "could not be counted; rolled back, nothing was changed")
        equal(pgwire.status(answers), "E" if inside else "I")
    equal(place.value(FAMILY_STATE), before, sql)


def test_counters_that_lose_what_they_counted_are_over_every_limit():
    not_counted("DELETE FROM w.emptied")
    place.database.ask(f"ALTER ROLE agent IN DATABASE {place.database.name} SET track_counts = off")
    not_counted("DELETE FROM w.parent WHERE id = 6")
    not_counted("DELETE FROM w.tree WHERE id = 1")
    place.database.ask(f"ALTER ROLE agent IN DATABASE {place.database.name} RESET track_counts")


def test_they_are_committed_within_the_limit():
    with place.connect() as c:
        equal(tags(c.run(pgwire.query("DELETE FROM w.parent WHERE id = 4"))), ["DELETE 1"])
        equal(tags(c.run(*extended("DELETE FROM w.parent WHERE id = 2"), pgwire.SYNC)), ["DELETE 1"])
        equal(tags(c.run(pgwire.query("DELETE FROM w.tree WHERE id = 8"))), ["DELETE 1"])
    equal(place.value("SELECT count(*) FROM w.parent"), 8)
    equal(place.value("SELECT count(*) FROM w.kid WHERE parent IN (2, 4)"), 0)
    equal(place.value("SELECT count(*) FROM w.tree"), 7)


def test_many_sessions_at_once():
    place.reset()
    problems = []

    def work(number):
        try:
            with place.connect() as c:
                for _ in range(15):
                    sql = f"UPDATE w.t SET n = n + 1 WHERE id = {number} OR id = {number + 500}"
                    equal(tags(c.run(pgwire.query(sql))), ["UPDATE 2"])
        except Exception as problem:  # pylint: disable=broad-except
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not problems, problems)
    equal(place.value("SELECT sum(n - id % 10) FROM w.t"), 8 * 15 * 2)


if __name__ == "__main__":
    with ground(POLICY) as place:
        place.database.ask(FAMILY)
        code = main(globals())
    sys.exit(code)

"""COPY FROM STDIN under a hold: its data is kept, shown, rehearsed, and run as it was sent, in both query protocols."""
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

import pgwire
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, Sender, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 30s, expire: 1h, run_within: 15m, copy_max_bytes: 100kB}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [c.*]
      - allow: [insert]
        on: [c.counted]
        max_rows: 2
      - hold: [insert]
        on: [c.*]
"""
SCHEMA = """
CREATE SCHEMA c;
CREATE TABLE c.t (id int PRIMARY KEY, v text, w int GENERATED ALWAYS AS (id + 1) STORED);
CREATE TABLE c.counted (id int PRIMARY KEY, v text);
CREATE TABLE c.parent (id int PRIMARY KEY);
CREATE TABLE c.child (id int PRIMARY KEY, parent int REFERENCES c.parent DEFERRABLE INITIALLY DEFERRED);
INSERT INTO c.parent VALUES (1);
GRANT USAGE ON SCHEMA c TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA c TO agent;
"""
database = running = None


class Copier(Sender):
    """Sends a COPY with its data."""

    def __init__(self, connection, sql, data):
        self.data = data
        super().__init__(connection, sql)

    def run(self):
        try:
            cursor = self.connection.cursor()
            cursor.copy_expert(self.sql, io.BytesIO(self.data))
            self.rowcount = cursor.rowcount
        except psycopg2.Error as error:
            self.error = error


def send(sql, data, connection=None):
    known = max((h["id"] for h in running.holds()), default=0)
    sender = Copier(connection or running.connect(), sql, data)

    def asked():
        check(sender.error is None, f"{sql}: {sender.error}")
        return next((h for h in running.holds("pending") if h["id"] > known), None)
    return sender, running.hold(eventually(asked, f"a hold of {sql}")["id"])


def release(hold):
    running.command("release", hold["id"], "--digest", hold["digest"])


def test_it_runs_as_it_was_sent_and_shown():
    sender, hold = send("COPY c.t (id, v) FROM STDIN", b"1\tone\n2\ttwo\n")
    equal([(t["table"], t["via"], t["inserted"]) for t in hold["effect"]["tables"]], [("c.t", "target", 2)])
    equal((hold["copy"]["bytes"], hold["copy"]["head_bytes"]), (12, 12))
    check("one" in hold["copy"]["head"], hold["copy"])
    check("2\\u{9}two" in running.command("show", hold["id"]).stdout, "the data is shown")
    equal(database.value("SELECT count(*) FROM c.t"), 0)
    equal(database.ask("SELECT count(*) FROM pg_locks l JOIN pg_class k ON k.oid = l.relation WHERE relname = 't'")[0][0], 0)
    release(hold)
    equal((sender.result().error, sender.rowcount), (None, 2))
    equal(database.ask("SELECT id, v, w FROM c.t ORDER BY 1"), [(1, "one", 2), (2, "two", 3)])


def test_csv_without_a_column_list():
    sender, hold = send("COPY c.t FROM STDIN (FORMAT csv, HEADER)", b"id,v\n3,\"a, b\"\n")
    release(hold)
    equal((sender.result().error, sender.rowcount), (None, 1))
    equal(database.value("SELECT v FROM c.t WHERE id = 3"), "a, b")


def test_other_data_is_another_statement():
    first, hold = send("COPY c.t (id, v) FROM STDIN", b"10\tten\n")
    second, other = send("COPY c.t (id, v) FROM STDIN", b"10\tTEN\n")
    check(hold["digest"] != other["digest"], "their digests differ")
    for sender, one in ((first, hold), (second, other)):
        running.command("refuse", one["id"], "--reason", "no", "--digest", one["digest"])
        equal(sender.result().error.pgcode, "55PW2")
    equal(database.value("SELECT count(*) FROM c.t WHERE id = 10"), 0)


def test_a_mistake_is_the_agents_and_nobody_is_asked():
    known = len(running.holds())
    for sql, data, code in (("COPY c.t (id, v) FROM STDIN", b"x\tone\n", "22P02"), ("COPY c.child FROM STDIN", b"1\t99\n", "23503"),
                            ("COPY c.t (id, v) FROM STDIN", b"1\t" + b"x" * 200000 + b"\n", "54000")):
        connection = running.connect()
        sender = Copier(connection, sql, data).result()
        check(sender.error is not None, f"{sql}: no error")
        equal(sender.error.pgcode, code, f"{sql}: {sender.error}")
        cursor = connection.cursor()
        cursor.execute("SELECT 1")
        equal(cursor.fetchone(), (1,), "the session goes on")
    equal(len(running.holds()), known)


def test_it_runs_later_from_the_store():
    sender, hold = send("COPY c.t (id, v) FROM STDIN", b"20\ttwenty\n21\ttwenty-one\n")
    sender.connection.cancel()
    equal(sender.result().error.pgcode, "57014")
    release(running.hold(hold["id"]))
    running.stop()
    running.start()
    cursor = running.connect().cursor()
    cursor.execute(f"EXECUTE pgwicket_hold({hold['id']})")
    equal(cursor.statusmessage, "COPY 2")
    equal(database.value("SELECT count(*) FROM c.t WHERE id IN (20, 21)"), 2)
    equal(running.hold(hold["id"])["state"], "executed")


def test_a_drift_keeps_the_data():
    sender, hold = send("COPY c.t (id, v) FROM STDIN", b"30\tthirty\n")
    database.ask("CREATE FUNCTION c.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
                 "CREATE TRIGGER skip BEFORE INSERT ON c.t FOR EACH ROW EXECUTE FUNCTION c.f()")
    release(hold)
    equal(sender.result().error.pgcode, "55PW3")
    database.ask("DROP TRIGGER skip ON c.t")
    new = running.hold(running.hold(hold["id"])["replaced_by"])
    equal(new["copy"]["sha256"], hold["copy"]["sha256"])
    running.command("refuse", new["id"], "--reason", "no", "--digest", new["digest"])


def test_a_copy_that_is_counted_is_held_once_it_is_too_much():
    few = Copier(running.connect(), "COPY c.counted FROM STDIN", b"1\ta\n2\tb\n").result()
    equal((few.error, few.rowcount), (None, 2))
    sender, hold = send("COPY c.counted FROM STDIN", b"3\tc\n4\td\n5\te\n")
    equal((hold["copy"]["bytes"], [t["inserted"] for t in hold["effect"]["tables"]]), (12, [3]))
    equal(database.value("SELECT count(*) FROM c.counted"), 2)
    running.command("release", hold["id"], "--digest", hold["digest"])
    equal((sender.result().error, sender.rowcount), (None, 3))
    equal(database.value("SELECT string_agg(v, '' ORDER BY id) FROM c.counted"), "abcde")
    many = b"".join(b"%d\t%s\n" % (i, b"x" * 1000) for i in range(10, 130))
    error = Copier(running.connect(), "COPY c.counted FROM STDIN", many).result().error
    equal(error.pgcode, "54000", str(error))
    check("at most 102400 bytes" in str(error), str(error))
    equal(database.value("SELECT count(*) FROM c.counted"), 5)


def test_the_extended_protocol():
    """As libpq speaks it: Sync behind Execute, which the server passes over while it takes data, and behind the data."""
    begin = [pgwire.parse("COPY c.t (id, v) FROM STDIN"), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.SYNC]

    def send_copy(c, number, *data, end=pgwire.message("c")):
        c.send(*begin)
        equal(pgwire.kinds([c.read() for _ in range(4)]), "12nG")
        c.send(*[pgwire.message("d", b"%d\t%s\n" % (number + i, v)) for i, v in enumerate(data)], end, pgwire.SYNC)

    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        send_copy(c, 300, b"a", b"b")
        hold = eventually(lambda: running.holds("pending"), "a hold")[0]
        equal(database.value("SELECT count(*) FROM c.t WHERE id >= 300"), 0)
        release(running.hold(hold["id"]))
        answers = c.answers()
        equal((pgwire.kinds(answers).strip("N"), [a.tag() for a in answers if a.kind == "C"]), ("CZ", ["COPY 2"]))
        equal(running.hold(hold["id"])["state"], "executed")
        known = len(running.holds())
        for number, end, code in ((310, pgwire.message("f", pgwire.text("changed my mind")), "57014"),
                                  (300, pgwire.message("c"), "23505")):
            send_copy(c, number, b"never", end=end)
            equal([e["C"] for e in pgwire.errors(c.answers())], [code])
        answers = c.run(*begin[:-1], pgwire.message("d", b"320\tx\n"), pgwire.message("c"), pgwire.SYNC)
        equal([e["C"] for e in pgwire.errors(answers)], ["42501"], "its data is not sent before it is asked for")
        equal(len(running.holds()), known, "nobody is asked")
        equal(pgwire.status(c.run(pgwire.query("SELECT 1"))), "I")
    equal(database.value("SELECT string_agg(v, '' ORDER BY id) FROM c.t WHERE id >= 300"), "ab")


def test_a_counted_copy_in_the_extended_protocol():
    before = database.value("SELECT count(*) FROM c.counted")
    begin = [pgwire.parse("COPY c.counted FROM STDIN"), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.SYNC]

    def send_copy(c, *numbers):
        c.send(*begin)
        equal(pgwire.kinds([c.read() for _ in range(4)]), "12nG")
        c.send(*[pgwire.message("d", b"%d\tx\n" % number) for number in numbers], pgwire.message("c"), pgwire.SYNC)

    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        send_copy(c, 400, 401)
        answers = c.answers()
        equal((pgwire.kinds(answers), [a.tag() for a in answers if a.kind == "C"]), ("CZ", ["COPY 2"]))
        send_copy(c, 402, 403, 404)
        hold = eventually(lambda: running.holds("pending"), "a hold")[0]
        equal(database.value("SELECT count(*) FROM c.counted"), before + 2, "rows while it waits")
        release(running.hold(hold["id"]))
        answers = c.answers()
        equal((pgwire.kinds(answers).strip("N"), [a.tag() for a in answers if a.kind == "C"]), ("CZ", ["COPY 3"]))
        equal((running.hold(hold["id"])["state"], database.value("SELECT count(*) FROM c.counted")), ("executed", before + 5))
        c.run(pgwire.query("BEGIN"))
        send_copy(c, 405, 406, 407)
        release(eventually(lambda: running.holds("pending"), "a hold in a fresh transaction")[0])
        answers = c.answers()
        equal((pgwire.kinds(answers).strip("N"), pgwire.status(answers)), ("CZ", "T"))
        equal(database.value("SELECT count(*) FROM c.counted"), before + 5, "rows before COMMIT")
        c.run(pgwire.query("COMMIT"))
    equal(database.value("SELECT count(*) FROM c.counted"), before + 8)



if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SCHEMA)
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

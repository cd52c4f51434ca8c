"""While a person is asked, nothing is open on the server: no transaction, snapshot or lock, whatever is held."""
import io
import os
import sys
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

import pgwire
from live import check, equal, eventually, main, some
from wicket import AGENT_SECRET, CONFIGURATION, Database, Sender, Wicket

POLICY = """
    search_path: [d]
    hold: {wait: 30s, expire: 1h, run_within: 15m}
    limits: {sessions: unlimited, pending: unlimited, waiting: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [d.t, d.child]
      - allow: [update]
        on: [d.t]
        max_rows: 2
      - hold: [insert, update, delete, truncate]
        on: [d.t, d.child]
      - hold: [alter]
        on: [d.free]
      - hold: [code]
        on: ["language:plpgsql"]
        unrehearsed: hold
"""
TEMPLATES = """
templates:
  forget: {sql: "DELETE FROM d.t WHERE id = $$1", parameters: [{name: id, type: integer}], hold: true}
"""
ALLOWED = """
      - allow: [execute]
        on: [forget]
"""
SCHEMA = """
CREATE SCHEMA d AUTHORIZATION agent;
SET ROLE agent;
CREATE TABLE d.t (id int PRIMARY KEY, n int);
CREATE TABLE d.child (id int PRIMARY KEY, t int REFERENCES d.t ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE d.free ();
INSERT INTO d.t SELECT g, 0 FROM generate_series(1, 10) g;
INSERT INTO d.child SELECT g, g FROM generate_series(1, 10) g;
"""
OPEN = """SELECT pid, state, query, xact_start, backend_xid, backend_xmin,
(SELECT count(*) FROM pg_locks l WHERE l.pid = a.pid) AS locks FROM pg_stat_activity a
WHERE usename = 'agent' AND datname = current_database() AND (state <> 'idle' OR xact_start IS NOT NULL OR
backend_xid IS NOT NULL OR backend_xmin IS NOT NULL OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid))"""

database = running = None


def nothing_is_open(what):
    """pgwicket's own look at the catalog is over in a moment; what is held open for the wait is not."""
    eventually(lambda: not database.ask(OPEN), f"{what}: nothing is open on the server", 5)


def pending(sender=None):
    def there():
        check(sender is None or sender.error is None, f"held: {sender and sender.error}")
        check(sender is None or sender.is_alive(), f"held, not run: {sender and sender.sql}")
        return running.holds("pending")
    return eventually(there, "a pending hold")[0]


def refuse(hold):
    running.command("refuse", hold["id"], "--reason", "no", "--digest", running.hold(hold["id"])["digest"])


def is_held_without_a_trace(sql, begin=(), autocommit=True):
    with closing(running.connect(autocommit=autocommit)) as connection:
        for statement in begin:
            connection.cursor().execute(statement)
        sender = Sender(connection, sql)
        hold = pending(sender)
        nothing_is_open(sql)
        check(sender.is_alive(), f"{sql}: it waits")
        refuse(hold)
        equal(sender.result().error.pgcode, "55PW2", sql)


def test_each_kind_of_statement():
    every = ("INSERT INTO t VALUES (100, 1)", "DELETE FROM t WHERE id = 1 RETURNING *", "UPDATE t SET id = id + 1000",
             "UPDATE t SET n = n + 1", "MERGE INTO t USING child c ON t.id = c.t AND c.id = 3 WHEN MATCHED THEN DELETE",
             "WITH gone AS (DELETE FROM child RETURNING t) SELECT count(*) FROM t", "TRUNCATE t, child",
             "ALTER TABLE d.free ADD COLUMN more int", "DO 'BEGIN NULL; END'", "EXECUTE forget(7)")
    for sql in some(every, 2, 1):
        is_held_without_a_trace(sql)


def test_fresh_transactions_of_each_kind():
    for begin in ("BEGIN", "BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN ISOLATION LEVEL REPEATABLE READ, DEFERRABLE"):
        is_held_without_a_trace("DELETE FROM t WHERE id = 2", [begin])
    is_held_without_a_trace("DELETE FROM t WHERE id = 2", autocommit=False)


def test_the_extended_protocol():
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        c.send(pgwire.parse("DELETE FROM t WHERE id = $1"), pgwire.bind([b"4"]), pgwire.execute(), pgwire.SYNC)
        hold = pending()
        nothing_is_open("DELETE by Parse, Bind, Execute")
        refuse(hold)
        equal([e["C"] for e in pgwire.errors(c.answers())], ["55PW2"])


class Copier(Sender):
    def __init__(self, connection):
        super().__init__(connection, "COPY t FROM STDIN")

    def run(self):
        try:
            self.connection.cursor().copy_expert(self.sql, io.BytesIO(b"200\t1\n"))
        except psycopg2.Error as error:
            self.error = error


def test_copy():
    with closing(running.connect()) as connection:
        sender = Copier(connection)
        hold = pending(sender)
        nothing_is_open("COPY")
        refuse(hold)
        equal(sender.result().error.pgcode, "55PW2")


def test_a_transaction_that_has_done_more_does_not_wait():
    """It gets its answer at once, an error, and an error ends what a transaction holds."""
    with closing(running.connect(autocommit=False)) as connection:
        connection.cursor().execute("UPDATE t SET n = 5 WHERE id = 9")
        check(database.ask(OPEN), "the client's own transaction is open")
        equal(Sender(connection, "DELETE FROM t WHERE id = 3").result(10).error.pgcode, "55PW1")
        equal(database.ask("SELECT l.* FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE usename = 'agent' AND "
                           "datname = current_database() AND l.locktype <> 'virtualxid'"), [])
        refuse(pending())


if __name__ == "__main__":
    with Database() as database:
        database.ask(SCHEMA)
        with Wicket(database, POLICY + ALLOWED.rstrip(), configuration=CONFIGURATION + TEMPLATES) as running:
            code = main(globals())
    sys.exit(code)

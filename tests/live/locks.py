"""`max_lock`: the table lock that the parser gives to a statement is the one that the server takes.

Each statement runs for real. What it holds at its end is compared with what `judge --explain` says: per
table never weaker, and for the whole statement neither weaker nor stronger, but where the list says so. A
statement that cannot run in a transaction is made to wait for its first lock, and watched until it ends.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import BIN, Database

MODES = ["none", "access_share", "row_share", "row_exclusive", "share_update_exclusive", "share",
         "share_row_exclusive", "exclusive", "access_exclusive"]
SERVER_MODES = {"AccessShareLock": 1, "RowShareLock": 2, "RowExclusiveLock": 3, "ShareUpdateExclusiveLock": 4,
                "ShareLock": 5, "ShareRowExclusiveLock": 6, "ExclusiveLock": 7, "AccessExclusiveLock": 8}
# Verbs whose lock no rule limits, and what they take.
OTHER_VERBS = {"select": 1, "insert": 3, "update": 3, "delete": 3}

SCHEMA = """
CREATE SCHEMA k;
CREATE TABLE k.parent (id int PRIMARY KEY, note text, n int);
CREATE TABLE k.t (id int PRIMARY KEY, parent_id int REFERENCES k.parent, note text DEFAULT 'x', n int NOT NULL,
                  CONSTRAINT n_small CHECK (n < 1000) NOT VALID, CONSTRAINT n_unique UNIQUE (n));
ALTER TABLE k.t ADD CONSTRAINT t_fk2 FOREIGN KEY (parent_id) REFERENCES k.parent NOT VALID;
INSERT INTO k.parent SELECT g, 'p' FROM generate_series(1, 20) g;
INSERT INTO k.t SELECT g, g, 'x', g FROM generate_series(1, 20) g;
CREATE INDEX t_note ON k.t (note);
CREATE UNIQUE INDEX t_spare ON k.t (id, n);
CREATE STATISTICS k.t_stats ON id, n FROM k.t;
CREATE TABLE k.other (id int, parent_id int, note text, n int);
CREATE TABLE k.heir () INHERITS (k.t);
CREATE TABLE k.stray (id int PRIMARY KEY, parent_id int, note text DEFAULT 'x', n int NOT NULL,
                      CONSTRAINT n_small CHECK (n < 1000));
CREATE TABLE k.parts (id int NOT NULL, note text) PARTITION BY RANGE (id);
CREATE TABLE k.parts_1 PARTITION OF k.parts FOR VALUES FROM (0) TO (10);
CREATE TABLE k.piece (id int NOT NULL, note text);
CREATE TABLE k.rest (id int NOT NULL, note text) PARTITION BY RANGE (id);
CREATE TABLE k.rest_1 PARTITION OF k.rest FOR VALUES FROM (0) TO (10);
CREATE TABLE k.rest_default PARTITION OF k.rest DEFAULT;
CREATE INDEX parts_note ON ONLY k.parts (note);
CREATE INDEX parts_1_note ON k.parts_1 (note);
CREATE VIEW k.v AS SELECT id, note FROM k.t;
CREATE MATERIALIZED VIEW k.m AS SELECT id, note FROM k.t;
CREATE UNIQUE INDEX m_id ON k.m (id);
CREATE SEQUENCE k.s;
CREATE TYPE k.row AS (a int, b text);
CREATE TYPE k.mood AS ENUM ('fine');
CREATE DOMAIN k.small AS int;
CREATE TABLE k.domained (x k.small);
CREATE TABLE k.typed OF k.row;
CREATE TABLE k.plain (a int, b text);
CREATE FUNCTION k.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION k.fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER tr AFTER UPDATE ON k.t FOR EACH ROW EXECUTE FUNCTION k.fire();
CREATE RULE ru AS ON DELETE TO k.other DO ALSO NOTHING;
CREATE POLICY po ON k.t USING (true);
CREATE PUBLICATION pub FOR TABLE k.other;
ANALYZE;
"""

# What the parser says is at least what the server takes; "stricter" where it is more.
STATEMENTS = """
CREATE TABLE k.new (id int)
CREATE TABLE IF NOT EXISTS k.t (id int)
CREATE TABLE k.new (id int REFERENCES k.parent)
CREATE TABLE k.new (LIKE k.t INCLUDING ALL)
CREATE TABLE k.new () INHERITS (k.t)
CREATE TABLE k.new PARTITION OF k.parts FOR VALUES FROM (10) TO (20)
CREATE TABLE k.new PARTITION OF k.rest FOR VALUES FROM (10) TO (20)
CREATE TABLE k.new OF k.row
CREATE TABLE k.new AS SELECT * FROM k.t
SELECT * INTO k.new FROM k.t
CREATE MATERIALIZED VIEW k.new AS SELECT * FROM k.t
CREATE VIEW k.new AS SELECT * FROM k.t
CREATE OR REPLACE VIEW k.v AS SELECT id, note FROM k.t
CREATE SEQUENCE k.new
CREATE SEQUENCE k.new OWNED BY k.t.id
CREATE INDEX ON k.t (n)
CREATE INDEX ON k.t (n) WHERE n > 5
CREATE UNIQUE INDEX ON k.t (id) INCLUDE (n)
CREATE INDEX ON k.parts (id)
CREATE INDEX ON ONLY k.parts (id)
CREATE STATISTICS k.new ON id, note FROM k.t
CREATE TRIGGER new BEFORE INSERT ON k.t FOR EACH ROW EXECUTE FUNCTION k.fire()
CREATE OR REPLACE TRIGGER tr AFTER UPDATE ON k.t FOR EACH ROW EXECUTE FUNCTION k.fire()
CREATE CONSTRAINT TRIGGER new AFTER INSERT ON k.t FROM k.parent FOR EACH ROW EXECUTE FUNCTION k.fire()
CREATE TRIGGER new AFTER INSERT ON k.parts FOR EACH ROW EXECUTE FUNCTION k.fire()
CREATE RULE new AS ON INSERT TO k.t DO ALSO NOTHING
CREATE POLICY new ON k.t USING (n > 1)
CREATE FUNCTION k.g() RETURNS int LANGUAGE sql AS 'SELECT 1'
CREATE OR REPLACE FUNCTION k.f() RETURNS int LANGUAGE sql AS 'SELECT 2'
CREATE TYPE k.new AS ENUM ('a')
CREATE TYPE k.new AS (a int)
CREATE TYPE k.new AS RANGE (subtype = int)
CREATE DOMAIN k.new AS int CHECK (VALUE > 0)
CREATE SCHEMA new
CREATE SCHEMA new CREATE TABLE t (id int)
CREATE ROLE new_role
CREATE PUBLICATION new FOR TABLE k.t
CREATE PUBLICATION new FOR TABLE k.t WHERE (id > 1)
ALTER TABLE k.t ADD COLUMN z int
ALTER TABLE k.t ADD COLUMN z int REFERENCES k.parent
ALTER TABLE k.t DROP COLUMN parent_id
ALTER TABLE k.parent ALTER COLUMN note TYPE varchar(100)
ALTER TABLE k.t ALTER COLUMN note SET DEFAULT 'y'
ALTER TABLE k.t ALTER COLUMN note DROP DEFAULT
ALTER TABLE k.t ALTER COLUMN note SET NOT NULL
ALTER TABLE k.t ALTER COLUMN n DROP NOT NULL
ALTER TABLE k.t ALTER COLUMN n SET STATISTICS 200
ALTER TABLE k.t ALTER COLUMN n SET (n_distinct = 10)
ALTER TABLE k.t ALTER COLUMN n RESET (n_distinct)
ALTER TABLE k.t ALTER COLUMN note SET STORAGE EXTERNAL
ALTER TABLE k.t ALTER COLUMN note SET COMPRESSION pglz
ALTER TABLE k.stray ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY
ALTER TABLE k.t ADD CHECK (n > 0)
ALTER TABLE k.t ADD CHECK (n > 0) NOT VALID
ALTER TABLE k.t ADD UNIQUE (parent_id)
ALTER TABLE k.t ADD CONSTRAINT spare UNIQUE USING INDEX t_spare
ALTER TABLE k.other ADD PRIMARY KEY (id)
ALTER TABLE k.t ADD EXCLUDE (parent_id WITH =)
ALTER TABLE k.other ADD FOREIGN KEY (parent_id) REFERENCES k.parent
ALTER TABLE k.other ADD FOREIGN KEY (parent_id) REFERENCES k.parent NOT VALID
ALTER TABLE k.t ADD FOREIGN KEY (parent_id) REFERENCES k.parent, ALTER COLUMN n SET STATISTICS 200
ALTER TABLE k.t VALIDATE CONSTRAINT n_small
ALTER TABLE k.t VALIDATE CONSTRAINT t_fk2
ALTER TABLE k.t ALTER CONSTRAINT t_fk2 DEFERRABLE
ALTER TABLE k.t DROP CONSTRAINT n_unique
ALTER TABLE k.t DROP CONSTRAINT t_fk2
ALTER TABLE k.t CLUSTER ON t_note
ALTER TABLE k.t SET WITHOUT CLUSTER
ALTER TABLE k.t SET (fillfactor = 70)
ALTER TABLE k.t SET (autovacuum_enabled = false, toast.autovacuum_enabled = false)
ALTER TABLE k.t SET (parallel_workers = 2, vacuum_truncate = false, toast_tuple_target = 1000)
ALTER TABLE k.t SET (user_catalog_table = true)
ALTER TABLE k.t RESET (fillfactor)
ALTER TABLE k.t SET UNLOGGED
ALTER TABLE k.t ENABLE TRIGGER tr
ALTER TABLE k.t ENABLE ALWAYS TRIGGER tr
ALTER TABLE k.t ENABLE REPLICA TRIGGER tr
ALTER TABLE k.t DISABLE TRIGGER tr
ALTER TABLE k.t DISABLE TRIGGER ALL
ALTER TABLE k.t ENABLE TRIGGER USER
ALTER TABLE k.other DISABLE RULE ru
ALTER TABLE k.t ENABLE ROW LEVEL SECURITY
ALTER TABLE k.t FORCE ROW LEVEL SECURITY
ALTER TABLE k.t REPLICA IDENTITY FULL
ALTER TABLE k.t OWNER TO postgres
ALTER TABLE k.stray INHERIT k.t
ALTER TABLE k.heir NO INHERIT k.t
ALTER TABLE k.plain OF k.row
ALTER TABLE k.typed NOT OF
ALTER TABLE k.parts ATTACH PARTITION k.piece FOR VALUES FROM (10) TO (20)
ALTER TABLE k.rest ATTACH PARTITION k.piece FOR VALUES FROM (10) TO (20)
ALTER TABLE k.parts DETACH PARTITION k.parts_1
ALTER INDEX k.parts_note ATTACH PARTITION k.parts_1_note
ALTER INDEX k.t_note SET (fillfactor = 70)
ALTER INDEX k.t_note SET (deduplicate_items = off)
ALTER INDEX k.t_note RENAME TO t_note2
ALTER TABLE k.t_note RENAME TO t_note2
ALTER TABLE k.t RENAME TO t2
ALTER TABLE k.t RENAME COLUMN note TO remark
ALTER TABLE k.t RENAME CONSTRAINT n_small TO n_tiny
ALTER TABLE k.t SET SCHEMA public
ALTER VIEW k.v ALTER COLUMN note SET DEFAULT 'z'
ALTER VIEW k.v SET (security_barrier = true)
ALTER VIEW k.v RENAME TO v2
ALTER MATERIALIZED VIEW k.m SET (fillfactor = 80)
ALTER SEQUENCE k.s RESTART 7
ALTER SEQUENCE k.s OWNED BY k.t.id
ALTER SEQUENCE k.s SET UNLOGGED
ALTER TYPE k.row ADD ATTRIBUTE c int CASCADE
ALTER TYPE k.mood ADD VALUE 'good'
ALTER TYPE k.mood RENAME VALUE 'fine' TO 'well'
ALTER DOMAIN k.small SET DEFAULT 5
ALTER DOMAIN k.small ADD CHECK (VALUE < 100)
ALTER DOMAIN k.small SET NOT NULL
ALTER FUNCTION k.f() STABLE
ALTER FUNCTION k.f() RENAME TO f2 -- stricter
ALTER TRIGGER tr ON k.t RENAME TO tr2
ALTER POLICY po ON k.t USING (n > 3)
ALTER POLICY po ON k.t RENAME TO po2
ALTER RULE ru ON k.other RENAME TO ru2
ALTER STATISTICS k.t_stats SET STATISTICS 100 -- stricter
ALTER SCHEMA k RENAME TO k2 -- stricter
ALTER ROLE agent CONNECTION LIMIT 30
ALTER PUBLICATION pub ADD TABLE k.t
DROP TABLE k.t CASCADE
DROP TABLE k.other
DROP TABLE k.parts_1
DROP VIEW k.v
DROP MATERIALIZED VIEW k.m
DROP SEQUENCE k.s
DROP INDEX k.t_note
DROP TRIGGER tr ON k.t
DROP RULE ru ON k.other
DROP POLICY po ON k.t
DROP STATISTICS k.t_stats
DROP FUNCTION k.f()
DROP TYPE k.mood -- stricter
DROP SCHEMA k CASCADE
DROP PUBLICATION pub
TRUNCATE k.other
TRUNCATE k.parent CASCADE
LOCK TABLE k.t IN ACCESS SHARE MODE
LOCK TABLE k.t IN ROW SHARE MODE
LOCK TABLE k.t IN ROW EXCLUSIVE MODE
LOCK TABLE k.t IN SHARE UPDATE EXCLUSIVE MODE
LOCK TABLE k.t IN SHARE MODE
LOCK TABLE k.t IN SHARE ROW EXCLUSIVE MODE
LOCK TABLE k.t IN EXCLUSIVE MODE
LOCK TABLE k.t
LOCK TABLE k.v IN SHARE MODE
SELECT * FROM k.t FOR UPDATE
SELECT * FROM k.t FOR KEY SHARE
SELECT * FROM k.v FOR NO KEY UPDATE
ANALYZE k.t
ANALYZE k.t (id)
CLUSTER k.t USING t_note
REINDEX TABLE k.t
REINDEX INDEX k.t_note
REFRESH MATERIALIZED VIEW k.m
REFRESH MATERIALIZED VIEW CONCURRENTLY k.m
"""
# The table on which a lock is held so that the statement has to wait, and the statement.
OUTSIDE_A_BLOCK = [
    ("k.t", "VACUUM k.t"),
    ("k.t", "VACUUM (ANALYZE, FREEZE) k.t"),
    ("k.t", "VACUUM (FULL false) k.t"),
    ("k.t", "VACUUM FULL k.t"),
    ("k.t", "CREATE INDEX CONCURRENTLY ON k.t (n)"),
    ("k.t", "REINDEX INDEX CONCURRENTLY k.t_note"),
    ("k.t", "REINDEX (CONCURRENTLY) TABLE k.t"),
    ("k.t", "DROP INDEX CONCURRENTLY k.t_spare"),
    # The partition is closed at the very end, which is hard to see.
    ("k.parts", "ALTER TABLE k.parts DETACH PARTITION k.parts_1 CONCURRENTLY", None),
]

LOCKS = "SELECT relation::bigint, mode FROM pg_locks WHERE pid = %s AND locktype = 'relation'"
# Tables, and whose table an index or a TOAST table is. A composite type is no table.
TABLES = """
SELECT c.oid::bigint, coalesce(t.oid::regclass, c.oid::regclass)::text, c.relkind IN ('i', 'I') FROM pg_class c
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN pg_class t ON t.oid = i.indrelid OR t.reltoastrelid = coalesce(i.indrelid, c.oid)
WHERE c.relkind <> 'c' AND c.oid >= 16384
"""
POLICY = """
listen: {{address: "127.0.0.1:0"}}
audit: {{file: "-"}}
upstreams: {{shop: {{connection: "{upstream}", accept_risks: [superuser, replication, bypassrls]}}}}
agents: {{agent: {{secret: agent-secret, upstream: shop, policy: all}}}}
policies: {{all: {{rules: [{{allow: [all], on: ["*"]}}]}}}}
"""


def judged(database, statements):
    """For each statement, its actions."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(POLICY.format(upstream=database.superuser))
        file.flush()
        lines = "".join(json.dumps({"sql": sql}) + "\n" for sql in statements)
        run = subprocess.run([BIN, "judge", file.name, "--agent", "agent", "--explain"], input=lines,
                             capture_output=True, text=True, check=False, timeout=120)
    equal(run.returncode, 0, run.stderr)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    equal(len(answers), len(statements), "answers")
    for sql, answer in zip(statements, answers):
        equal(answer["verdict"], "allow", f"{sql}: {answer['reason']}")
    return [answer["actions"] for answer in answers]


def claims(actions):
    """Per object the strongest lock that its actions are said to take."""
    found = {}
    for action in actions:
        lock = MODES.index(action["lock"]) if "lock" in action else OTHER_VERBS.get(action["verb"], 0)
        found[action["object"]] = max(lock, found.get(action["object"], 0))
    return found


def compare(sql, actions, locks, stricter=False):
    """`stricter`: the parser says more than is seen; None: it may."""
    said = claims(actions)
    strongest = max(said.values(), default=0)
    taken = {}
    for name, mode in locks:
        taken[name] = max(SERVER_MODES[mode], taken.get(name, 0))
    for name, mode in taken.items():
        limit = said.get(name, strongest)
        check(mode <= limit, f"{sql}: {MODES[mode]} on {name}, said to be {MODES[limit]}")
    real = max(taken.values(), default=0)
    if stricter:
        check(strongest > real, f"{sql} is not judged stricter than it is")
    elif stricter is False:
        equal(MODES[strongest], MODES[real], f"{sql}: the strongest lock")


def connect(database):
    connection = psycopg2.connect(database.superuser)
    connection.cursor().execute("SET search_path = ''")
    connection.commit()
    return connection


class Tables:
    """The tables there are before a statement: what it makes does not count, what it drops or renames does."""

    def __init__(self, cursor, indexes):
        cursor.execute(TABLES)
        self.names = {oid: name for oid, name, is_index in cursor.fetchall() if indexes or not is_index}

    def locks(self, cursor, pid):
        cursor.execute(LOCKS, (pid,))
        return {(self.names[oid], mode) for oid, mode in cursor.fetchall() if oid in self.names}


def held_at_the_end(connection, sql):
    cursor = connection.cursor()
    tables = Tables(cursor, indexes=True)
    cursor.execute(sql)
    found = tables.locks(cursor, connection.get_backend_pid())
    connection.rollback()
    return found


def test_statements_in_a_transaction():
    with Database() as database:
        database.ask(SCHEMA)
        cases = [line.split(" -- ") for line in STATEMENTS.strip().splitlines()]
        everything = judged(database, [case[0] for case in cases])
        connection = connect(database)
        wrong = []
        for (sql, *notes), actions in zip(cases, everything):
            try:
                compare(sql, actions, held_at_the_end(connection, sql), notes == ["stricter"])
            except (AssertionError, psycopg2.Error) as error:
                connection.rollback()
                wrong.append(f"{sql}: {error}")
        connection.close()
        equal(wrong, [], "\n" + "\n".join(wrong))


def watch(database, holder, sql):
    """Runs it while another session holds a lock, and collects what it has or waits for, until it ends. The
    concurrent forms close an index of their own only when nobody can use it any more: indexes do not count."""
    session, watcher = connect(database), connect(database)
    session.autocommit = watcher.autocommit = True
    tables, failed = Tables(watcher.cursor(), indexes=False), []

    def run():
        try:
            session.cursor().execute(sql)
        except psycopg2.Error as error:
            failed.append(error)

    thread, seen, waited, end = threading.Thread(target=run), set(), False, time.monotonic() + 30
    thread.start()
    cursor, pid = watcher.cursor(), session.get_backend_pid()
    while thread.is_alive() and time.monotonic() < end:
        seen |= tables.locks(cursor, pid)
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = %s", (pid,))
        if not waited and cursor.fetchone()[0] > 0:
            waited = True
            seen |= tables.locks(cursor, pid)
            holder.rollback()
    holder.rollback()
    thread.join()
    session.close()
    watcher.close()
    check(waited, f"{sql} did not wait")
    equal(failed, [], sql)
    return seen


def test_statements_outside_of_a_transaction():
    with Database() as database:
        database.ask(SCHEMA)
        everything = judged(database, [case[1] for case in OUTSIDE_A_BLOCK])
        holder = connect(database)
        for (table, sql, *stricter), actions in zip(OUTSIDE_A_BLOCK, everything):
            holder.cursor().execute(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
            compare(sql, actions, watch(database, holder, sql), *stricter)
        holder.close()


if __name__ == "__main__":
    sys.exit(main(globals()))

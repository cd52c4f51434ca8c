"""ground - a small schema for tests of the wire, a pgwicket in front of it, and the same session without pgwicket."""
import contextlib

import psycopg2

import pgwire
from live import check, equal
from wicket import AGENT_SECRET, SERVER_PORT, Database, Wicket

SCHEMA = """
CREATE SCHEMA w;
CREATE TABLE w.t (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, note text);
CREATE TABLE w.child (id int PRIMARY KEY, t_id int REFERENCES w.t DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE w.log (id int PRIMARY KEY, note text);
CREATE TABLE w.slow (id int PRIMARY KEY, n int NOT NULL DEFAULT 0);
CREATE FUNCTION w.wait() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(10); RETURN NEW; END$$;
CREATE TRIGGER wait AFTER UPDATE ON w.slow FOR EACH ROW EXECUTE FUNCTION w.wait();
CREATE FUNCTION w.tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'row %', NEW.id; RETURN NEW; END$$;
CREATE TRIGGER tell AFTER UPDATE ON w.t FOR EACH ROW WHEN (NEW.note = 'loud') EXECUTE FUNCTION w.tell();
INSERT INTO w.t SELECT g, g % 10, 'note ' || g FROM generate_series(1, 1000) g;
INSERT INTO w.slow SELECT g FROM generate_series(1, 10) g;
GRANT USAGE ON SCHEMA w TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA w TO agent;
ANALYZE w.t, w.child, w.log, w.slow;
"""
RESET = """
BEGIN;
SET LOCAL session_replication_role = replica;
DELETE FROM w.child; DELETE FROM w.log; DELETE FROM w.t WHERE id > 1000;
UPDATE w.t SET n = id % 10, note = 'note ' || id WHERE (n, note) IS DISTINCT FROM (id % 10, 'note ' || id);
UPDATE w.slow SET n = 0 WHERE n <> 0;
COMMIT;
"""


class Ground:
    """A test's database and pgwicket."""

    def __init__(self, database, running):
        self.database = database
        self.running = running
        self.owner = psycopg2.connect(database.superuser)
        self.owner.autocommit = True

    def connect(self, **parameters):
        return pgwire.Connection("127.0.0.1", self.running.port, "agent", AGENT_SECRET, **parameters)

    def connect_directly(self, **parameters):
        parameters = {"options": "-c search_path=w", **parameters}
        return pgwire.Connection("127.0.0.1", int(SERVER_PORT), "agent", "agent-password", self.database.name,
                                 **parameters)

    def reset(self):
        self.owner.cursor().execute(RESET)

    def value(self, sql):
        cursor = self.owner.cursor()
        cursor.execute(sql)
        return cursor.fetchone()[0]

    def audit(self, **wanted):
        """Records with these keys; a "__" stands for a dot."""
        wanted = {k.replace("__", "."): v for k, v in wanted.items()}
        return [r for r in self.running.audit() if all(r.get(k) == v for k, v in wanted.items())]


@contextlib.contextmanager
def ground(policy, **values):
    with Database() as database:
        database.ask(SCHEMA)
        with Wicket(database, policy, **values) as running:
            place = Ground(database, running)
            try:
                yield place
            finally:
                place.owner.close()


def comparable(answers):
    """What a client sees, without what differs from session to session."""
    seen = []
    for answer in answers:
        if answer.kind in "EN":
            seen.append((answer.kind, {k: v for k, v in answer.fields().items() if k not in "FLR"}))
        else:
            seen.append((answer.kind, answer.payload))
    return seen


def same_as_directly(place, *batches, parameters=None):
    """Sends the batches, each up to a ReadyForQuery, directly and through pgwicket: byte for byte the same answers.
    Returns those of the last batch."""
    results = []
    for connect in (place.connect_directly, place.connect):
        place.reset()
        with connect(**(parameters or {})) as c:
            results.append([c.run(*batch) if isinstance(batch, (list, tuple)) else c.run(batch) for batch in batches])
            check(c.is_silent(0.1), "something comes after the last ReadyForQuery")
    for number, (directly, through) in enumerate(zip(*results)):
        equal(comparable(through), comparable(directly), f"batch {number} of {batches}")
    return results[1][-1]


def fails_with(answers, sqlstate, words=""):
    found = pgwire.errors(answers)
    equal(len(found), 1, f"errors in {answers}")
    equal(found[0]["C"], sqlstate, found[0]["M"])
    check(words in found[0]["M"], f"{words!r} in {found[0]['M']!r}")
    return found[0]


def extended(sql, values=(), rows=0, types=()):
    return [pgwire.parse(sql, types=types), pgwire.bind(values), pgwire.describe(), pgwire.execute(rows=rows)]


def tags(answers):
    return [a.tag() for a in answers if a.kind == "C"]



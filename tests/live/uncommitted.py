"""What a transaction has changed itself is in no catalog that others can read: a statement behind it is counted by what the
server has now, or nobody is asked to approve it by what was before."""
import base64
import json
import os
import sys
import urllib.request
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import APPROVER_SECRET, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 0s, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [create, alter, code, drop]
        on: [u.parent, u.limited, u.child, u.heir, u.parted, u.parted_2, u.note, u.f, u.log, u.unrelated]
      - allow: [call]
        on: [u.relink, u.note]
      - allow: [select, insert]
        on: [u.*]
      - allow: [update, delete]
        on: [u.limited]
        max_rows: 3
      - allow: [delete]
        on: [u.keyed]
        where: key
        max_rows: 1
      - hold: [update, delete]
        on: [u.parent, u.child, u.parted]
"""
NO_MAKER = """
    search_path: [shop]
    hold: {wait: 0s, expire: 1h, run_within: 15m}
    rules:
      - allow: [select]
        on: [u.*]
      - hold: [delete]
        on: [u.parent]
"""
SCHEMA = """
CREATE SCHEMA u AUTHORIZATION agent;
SET ROLE agent;
CREATE TABLE u.parent (id int PRIMARY KEY, v text);
CREATE TABLE u.limited (id int PRIMARY KEY, v text);
CREATE TABLE u.keyed (id int PRIMARY KEY, v text);
CREATE TABLE u.child (id int PRIMARY KEY, p int, l int, v text);
CREATE TABLE u.heir (id int NOT NULL, v text);
CREATE TABLE u.parted (id int, part int) PARTITION BY LIST (part);
CREATE TABLE u.parted_1 PARTITION OF u.parted FOR VALUES IN (1);
CREATE TABLE u.parted_2 (id int, part int);
CREATE TABLE u.log (t text);
CREATE FUNCTION u.note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO u.log VALUES (TG_OP); RETURN NULL; END$$;
CREATE FUNCTION u.f() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION u.relink() RETURNS void LANGUAGE sql AS
  'ALTER TABLE u.child ADD CONSTRAINT f FOREIGN KEY (l) REFERENCES u.keyed (id) ON DELETE CASCADE';
INSERT INTO u.parent SELECT g, 'p' FROM generate_series(1, 20) g;
INSERT INTO u.limited SELECT g, 'p' FROM generate_series(1, 20) g;
INSERT INTO u.keyed SELECT g, 'p' FROM generate_series(1, 20) g;
INSERT INTO u.heir SELECT g, 'p' FROM generate_series(1, 20) g;
INSERT INTO u.child SELECT g, 1 + g % 20, 1 + g % 20, 'c' FROM generate_series(1, 100) g;
INSERT INTO u.parted VALUES (1, 1), (2, 1);
INSERT INTO u.parted_2 VALUES (1, 2), (2, 2);
RESET ROLE;
ANALYZE;
"""
KEY = "ALTER TABLE u.child ADD CONSTRAINT f FOREIGN KEY ({}) REFERENCES u.{} (id) ON DELETE CASCADE ON UPDATE CASCADE"
# What the transaction does first, the statement, what is told.
NOT_TOLD = [
    (KEY.format("p", "parent"), "DELETE FROM u.parent WHERE id = 2"),
    ("CREATE TRIGGER t AFTER DELETE ON u.parent FOR EACH ROW EXECUTE FUNCTION u.note()", "DELETE FROM u.parent WHERE id = 2"),
    ("CREATE RULE r AS ON DELETE TO u.parent DO ALSO DELETE FROM u.child", "DELETE FROM u.parent WHERE id = 2"),
    ("ALTER TABLE u.heir INHERIT u.parent", "DELETE FROM u.parent WHERE id = 2"),
    ("ALTER TABLE u.parted ATTACH PARTITION u.parted_2 FOR VALUES IN (2)", "DELETE FROM u.parted WHERE id = 2"),
    ("ALTER TABLE u.child ALTER COLUMN p SET DEFAULT 7", "UPDATE u.child SET p = DEFAULT WHERE id = 2"),
    ("ALTER TABLE u.parent ADD CHECK (id > 0)", "UPDATE u.parent SET v = 'x' WHERE id = 2"),
    ("CREATE OR REPLACE FUNCTION u.f() RETURNS int LANGUAGE sql AS 'SELECT 2'", "DELETE FROM u.parent WHERE id = 2"),
]
TOLD = [
    ("ALTER TABLE u.child ADD COLUMN z int", "UPDATE u.child SET z = 1 WHERE id = 2", {"u.child": (0, 1, 0)}),
    ("ALTER TABLE u.child DROP COLUMN l", "UPDATE u.child SET v = 'x' WHERE id = 2", {"u.child": (0, 1, 0)}),
    ("ALTER TABLE u.child RENAME COLUMN id TO key", "DELETE FROM u.child WHERE key = 2", {"u.child": (0, 0, 1)}),
    ("ALTER TABLE u.child DROP CONSTRAINT child_pkey", "UPDATE u.child SET v = 'x' WHERE id = 3", {"u.child": (0, 1, 0)}),
    ("CREATE TABLE u.unrelated (id serial PRIMARY KEY, v text CHECK (v <> 'y'))", "DELETE FROM u.parent WHERE id = 2", {"u.parent": (0, 0, 1)}),
    ("DROP TABLE u.log", "DELETE FROM u.parent WHERE id = 3", {"u.parent": (0, 0, 1)}),
]
# … and whether the limit lets it pass.
LIMITED = [
    (KEY.format("l", "limited"), "DELETE FROM u.limited WHERE id = 2", False),
    (KEY.format("l", "limited"), "UPDATE u.limited SET id = 200 WHERE id = 2", False),
    ("SELECT u.relink()", "DELETE FROM u.keyed WHERE id = 2", False),
    ("ALTER TABLE u.child ADD COLUMN z int", "DELETE FROM u.keyed WHERE id = 2", True),
    ("ALTER TABLE u.limited ADD COLUMN z int", "UPDATE u.limited SET z = 1 WHERE id < 4", True),
    (KEY.format("p", "parent"), "DELETE FROM u.limited WHERE id < 4", True),
    ("ALTER TABLE u.heir INHERIT u.limited", "DELETE FROM u.limited WHERE id < 3", False),
    ("ALTER TABLE u.heir INHERIT u.limited", "DELETE FROM u.limited WHERE id = 2", True),
    ("DELETE FROM u.keyed WHERE id = 4", "DELETE FROM u.limited WHERE id < 4", True),
]

database = running = None


def api(path):
    token = base64.b64encode(f"alice:{APPROVER_SECRET}".encode()).decode()
    request = urllib.request.Request(running.url + path, headers={"Authorization": f"Basic {token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def newest_effect():
    number = max(hold["id"] for hold in api("/api/holds")["holds"])
    return api(f"/api/holds/{number}")["effect"]


def in_transaction(first, sql):
    """The error of `sql` behind `first`, all of it rolled back; None if it passed."""
    with closing(running.connect()) as connection:
        connection.autocommit = False
        cursor = connection.cursor()
        cursor.execute(first)
        try:
            cursor.execute(sql)
        except psycopg2.Error as error:
            return error
        finally:
            connection.rollback()
    return None


def test_what_is_set_off_by_what_it_has_changed_is_not_approved():
    for first, sql in NOT_TOLD:
        error = in_transaction(first, sql)
        check(error is not None and error.pgcode == "42501", f"{first}; {sql}: {error}")
        check("this transaction has changed" in error.diag.message_detail, f"{first}; {sql}: {error}")


def test_other_changes_do_not_matter():
    for first, sql, tables in TOLD:
        error = in_transaction(first, sql)
        check(error is not None and error.pgcode == "55PW1", f"{first}; {sql}: {error}")
        told = newest_effect()["tables"]
        equal({t["table"]: (t["inserted"], t["updated"], t["deleted"]) for t in told}, tables, f"{first}; {sql}")


def test_limits_count_by_its_own_foreign_keys():
    for first, sql, passes in LIMITED:
        error = in_transaction(first, sql)
        equal(error is None, passes, f"{first}; {sql}: {error}")
        if not passes:
            equal(error.pgcode, "54000", f"{first}; {sql}: {error}")


def test_a_name_that_was_judged_before_is_judged_again():
    with closing(running.connect()) as connection:
        connection.autocommit = False
        cursor = connection.cursor()
        cursor.execute("PREPARE p AS DELETE FROM u.keyed WHERE id = 2")
        cursor.execute("SELECT u.relink()")
        try:
            cursor.execute("EXECUTE p")
            check(False, "it ran")
        except psycopg2.Error as error:
            equal(error.pgcode, "42501", "EXECUTE of what is limited")
        connection.rollback()
        cursor.execute("EXECUTE p") # what was undone counts no more
        equal(cursor.rowcount, 1, "rows")
        connection.rollback()


def test_what_another_session_adds_is_not_called_bound_by_rows():
    database.ask("DELETE FROM u.log")
    running.values["policy"] = NO_MAKER.strip("\n")
    running.configure()
    running.stop()
    running.start()
    check(in_transaction("SELECT 1 FROM u.log", "DELETE FROM u.parent WHERE id = 11").pgcode == "55PW1", "held")
    equal(newest_effect()["bound"], "rows", "without a foreign key")
    database.ask(KEY.format("p", "parent"))
    in_transaction("SELECT 1 FROM u.log", "DELETE FROM u.parent WHERE id = 12")
    effect = newest_effect()
    child = next(t for t in effect["tables"] if t["table"] == "u.child")
    equal(child["deleted"], 5, "children")
    equal(effect["bound"], "rows" if child["via"] == "cascade" else "counts", f"children as {child['via']}")


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SCHEMA)
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

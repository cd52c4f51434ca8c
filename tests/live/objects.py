"""TRUNCATE, DDL and GRANT under a hold: the objects that are shown are those that the catalog has lost, gained or changed
afterwards, and rows that go are counted."""
import os
import sys
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, eventually, main
from wicket import Sender, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 60s, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - reject: [drop]
        on: [o.kept, o.heir, o.kept_view, o.kept_f]
      - reject: [alter]
        on: [o.guarded]
      - hold: [truncate, create, alter, drop, grant, comment, code]
        on: [o.*, "schema:*", "role:*"]
      - hold: [create]
        on: [o2.*]
        unrehearsed: hold
      - allow: [select]
        on: [v.*]
      - hold: [call]
        on: [v.bump, v.proc]
        rehearse: true
        max_effect: 3
      - hold: [call]
        on: [v.fail]
        rehearse: true
      - hold: [call]
        on: [v.slow]
        unrehearsed: hold
      - hold: [listen]
        on: [channel:jobs]
        unrehearsed: hold
"""
SCHEMA = """
CREATE SCHEMA v;
CREATE TABLE v.bumped (n int);
CREATE FUNCTION v.bump(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO v.bumped SELECT generate_series(1, n); RETURN n; END $$;
CREATE PROCEDURE v.proc(n int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO v.bumped SELECT generate_series(1, n); END $$;
CREATE FUNCTION v.fail() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no luck'; END $$;
CREATE SEQUENCE v.witness;
CREATE FUNCTION v.slow() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('v.witness') $$;
GRANT USAGE ON SCHEMA v TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA v TO agent;
GRANT ALL ON ALL SEQUENCES IN SCHEMA v TO agent;
CREATE SCHEMA o AUTHORIZATION agent;
SET ROLE agent;
CREATE TABLE o.parent (id serial PRIMARY KEY, name text NOT NULL UNIQUE, n int DEFAULT 0);
CREATE TABLE o.child (id serial PRIMARY KEY, parent int REFERENCES o.parent ON DELETE CASCADE, v text);
CREATE TABLE o.grandchild (id serial PRIMARY KEY, child int REFERENCES o.child, v text);
CREATE VIEW o.names AS SELECT id, name FROM o.parent;
CREATE VIEW o.long_names AS SELECT * FROM o.names WHERE length(name) > 3;
CREATE TABLE o.parted (id int, part int, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE o.parted_1 PARTITION OF o.parted FOR VALUES IN (1);
CREATE TABLE o.parted_2 PARTITION OF o.parted FOR VALUES IN (2);
CREATE TABLE o.plain (id int PRIMARY KEY, a text, b int);
CREATE INDEX plain_b ON o.plain (b);
CREATE TABLE o.kept (id int);
CREATE TABLE o.ancestor (id int PRIMARY KEY);
CREATE TABLE o.heir () INHERITS (o.ancestor);
CREATE VIEW o.base AS SELECT 1 AS a;
CREATE VIEW o.kept_view AS SELECT * FROM o.base;
CREATE TYPE o.mood AS ENUM ('fine');
CREATE FUNCTION o.kept_f(m o.mood, "(" text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE o.pointed_at (id int PRIMARY KEY);
CREATE TABLE o.guarded (id int REFERENCES o.pointed_at);
CREATE FUNCTION o.f(o.parent) RETURNS int LANGUAGE sql AS 'SELECT 1';
INSERT INTO o.parent (name) SELECT 'parent ' || g FROM generate_series(1, 100) g;
INSERT INTO o.child (parent, v) SELECT 1 + g % 100, 'c' FROM generate_series(1, 300) g;
INSERT INTO o.grandchild (child, v) SELECT 1 + g % 300, 'g' FROM generate_series(1, 500) g;
INSERT INTO o.parted SELECT g, 1 + g % 2 FROM generate_series(1, 50) g;
INSERT INTO o.plain SELECT g, CASE WHEN g < 50 THEN 'a' END, g FROM generate_series(1, 80) g;
RESET ROLE;
"""
# Each with what is shown of it: change, kind, name, via, rows.
SHOWN = [
    ("TRUNCATE o.parted", {("emptied", "table", "o.parted_1", "part", 25), ("emptied", "table", "o.parted_2", "part", 25)}),
    ("ALTER TABLE o.plain DROP COLUMN a", {("dropped", "table column", "o.plain.a", "target", 49)}),
    ("ALTER TABLE o.plain ALTER COLUMN b TYPE bigint", {("rewritten", "table", "o.plain", "target", 80),
                                                        ("changed", "table column", "o.plain.b", "part", None)}),
    ("ALTER TABLE o.plain RENAME TO plain2", {("changed", "table", "o.plain", "target", None)}),
    ("GRANT SELECT ON o.plain2 TO postgres", {("changed", "table", "o.plain2", "target", None)}),
    ("COMMENT ON COLUMN o.plain2.b IS 'counted'", {("changed", "table column", "o.plain2.b", "target", None)}),
    ("DROP INDEX o.plain_b", {("dropped", "index", "o.plain_b", "target", None)}),
    ("TRUNCATE o.child RESTART IDENTITY CASCADE",
     {("emptied", "table", "o.child", "target", 300), ("emptied", "table", "o.grandchild", "cascade", 500),
      ("restarted", "sequence", "o.child_id_seq", "part", None),
      ("restarted", "sequence", "o.grandchild_id_seq", "part", None)}),
    ("DROP TABLE o.parent CASCADE",
     {("dropped", "table", "o.parent", "target", 100), ("dropped", "sequence", "o.parent_id_seq", "part", None),
      ("dropped", "table constraint", "parent_name_key on o.parent", "part", None),
      ("dropped", "table constraint", "parent_pkey on o.parent", "part", None),
      ("dropped", "table constraint", "child_parent_fkey on o.child", "cascade", None),
      ("dropped", "function", "o.f(o.parent)", "cascade", None), ("dropped", "view", "o.names", "cascade", None),
      ("dropped", "view", "o.long_names", "cascade", None)}),
]

database = running = None


def send(sql):
    known = {h["id"] for h in running.holds()}
    sender = Sender(running.connect(), sql)

    def asked():
        check(sender.error is None, f"{sql}: {sender.error}")
        return next((h for h in running.holds("pending") if h["id"] not in known), None)
    return sender, running.hold(eventually(asked, f"a hold of {sql}")["id"])


def release(hold):
    running.command("release", hold["id"], "--digest", hold["digest"])


def refuse(sender, hold):
    running.command("refuse", hold["id"], "--reason", "enough", "--digest", hold["digest"])
    sender.result()


def objects(hold):
    check(hold["effect"]["known"], hold["effect"])
    return {(o["change"], o["kind"], o["name"], o["via"], o["rows"]) for o in hold["effect"]["objects"]}


def test_rows_that_came_meanwhile_are_a_drift():
    sender, hold = send("TRUNCATE o.plain")
    database.ask("INSERT INTO o.plain VALUES (1000, 'more', 1)")
    release(hold)
    equal(sender.result().error.pgcode, "55PW3")
    equal(database.value("SELECT count(*) FROM o.plain"), 81)
    new = running.hold(running.hold(hold["id"])["replaced_by"])
    equal(objects(new), {("emptied", "table", "o.plain", "target", 81)})
    running.command("refuse", new["id"], "--reason", "enough", "--digest", new["digest"])
    database.ask("DELETE FROM o.plain WHERE id = 1000")


def test_objects_that_came_meanwhile_are_a_drift():
    sender, hold = send("DROP VIEW o.names CASCADE")
    equal(objects(hold), {("dropped", "view", "o.names", "target", None), ("dropped", "view", "o.long_names", "cascade", None)})
    database.ask("CREATE VIEW o.meanwhile AS SELECT * FROM o.names")
    release(hold)
    equal(sender.result().error.pgcode, "55PW3")
    check(database.value("SELECT to_regclass('o.names')") is not None, "it is still there")
    database.ask("DROP VIEW o.meanwhile")


def test_a_definition_that_was_made_anew_meanwhile_is_a_drift():
    database.ask("CREATE VIEW o.redefined AS SELECT 1 AS n; ALTER VIEW o.redefined OWNER TO agent; "
                 "CREATE FUNCTION o.edited() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION o.edited OWNER TO agent")
    for sql, meanwhile, kept in (
            ("DROP VIEW o.redefined", "CREATE OR REPLACE VIEW o.redefined AS SELECT 2 AS n", "SELECT n FROM o.redefined"),
            ("CREATE OR REPLACE FUNCTION o.edited() RETURNS int LANGUAGE sql AS 'SELECT 3'",
             "CREATE OR REPLACE FUNCTION o.edited() RETURNS int LANGUAGE sql AS 'SELECT 2'", "SELECT o.edited()")):
        sender, hold = send(sql)
        database.ask(meanwhile)
        release(hold)
        equal(sender.result().error.pgcode, "55PW3", sql)
        equal(database.value(kept), 2, "somebody else's definition is kept")
        new = running.hold(running.hold(hold["id"])["replaced_by"])
        running.command("release", new["id"], "--digest", new["digest"])
        sender = Sender(running.connect(), f"EXECUTE pgwicket_hold({new['id']})").result()
        check(sender.error is None, f"{sql}: {sender.error}")
    equal(database.value("SELECT o.edited()"), 3)
    database.ask("DROP FUNCTION o.edited()")


def test_locks_are_told():
    sender, hold = send("ALTER TABLE o.child ADD CONSTRAINT also FOREIGN KEY (parent) REFERENCES o.parent")
    locks = {lock["table"]: lock["mode"] for lock in hold["effect"]["locks"]}
    equal(locks, {"o.child": "share row exclusive", "o.parent": "share row exclusive"})
    refuse(sender, hold)


EVENTS = """
CREATE TABLE o.told (what text); CREATE SEQUENCE o.witness; GRANT ALL ON o.told, o.witness TO agent;
CREATE FUNCTION o.tell() RETURNS event_trigger LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO o.told SELECT command_tag FROM pg_event_trigger_ddl_commands(); END $$;
CREATE FUNCTION o.leave() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM setval('o.witness', 4711); END $$;
CREATE EVENT TRIGGER tell ON ddl_command_end EXECUTE FUNCTION o.tell();
"""


def restart():
    running.stop()
    running.start()


def refused(sql):
    with closing(running.connect()) as connection:
        error = Sender(connection, sql).result().error
    equal(getattr(error, "pgcode", None), "42501", f"{sql}: {error}")
    return str(error)


def test_event_triggers_are_rehearsed_where_a_rollback_undoes_them():
    database.ask(EVENTS)
    try:
        restart()
        sender, hold = send("ALTER TABLE o.kept ADD COLUMN more int")
        equal([(t["table"], t["via"], t["inserted"]) for t in hold["effect"]["tables"]], [("o.told", "trigger", 1)])
        equal(database.value("SELECT count(*) FROM o.told"), 0)
        release(hold)
        check(sender.result().error is None, sender.error)
        equal(database.ask("SELECT what FROM o.told"), [("ALTER TABLE",)])
        database.ask("CREATE EVENT TRIGGER leave ON ddl_command_start EXECUTE FUNCTION o.leave()")
        restart()
        for sql in ("ALTER TABLE o.kept ADD COLUMN most int", "COMMENT ON TABLE o.kept IS 'x'", "GRANT SELECT ON o.kept TO PUBLIC"):
            check("cannot be shown beforehand" in refused(sql), sql)
        equal(database.value("SELECT last_value FROM o.witness"), 1, "it ran before anybody was asked")
        database.ask("ALTER EVENT TRIGGER leave DISABLE")
        restart()
        refuse(*send("ALTER TABLE o.kept ADD COLUMN most int"))
        equal(database.value("SELECT last_value FROM o.witness"), 1)
    finally:
        database.ask("DROP EVENT TRIGGER tell; DROP EVENT TRIGGER IF EXISTS leave; DROP FUNCTION o.tell(); DROP FUNCTION o.leave(); "
                     "DROP TABLE o.told; DROP SEQUENCE o.witness; ALTER TABLE o.kept DROP COLUMN IF EXISTS more")
        restart()


def test_what_cascade_reaches_is_judged():
    count = "SELECT count(*) FROM pg_depend"
    before = database.value(count)
    for sql, told in (("DROP TABLE o.ancestor CASCADE", "DROP on o.heir"), ("DROP VIEW o.base CASCADE", "DROP on o.kept_view"),
                      ("DROP TYPE o.mood CASCADE", "DROP on o.kept_f"), ("DROP SCHEMA o CASCADE", "DROP on o."),
                      ("DROP TABLE o.pointed_at CASCADE", "ALTER on o.guarded")):
        text = refused(sql)
        check(told in text and "is not allowed" in text, f"{sql}: {text}")
    equal(database.value(count), before, "nothing went")


def test_code_is_rehearsed_where_the_rule_vouches_for_it():
    count = "SELECT count(*) FROM v.bumped"
    for sql in ("SELECT v.bump(2)", "CALL v.proc(2)"):
        before = database.value(count)
        sender, hold = send(sql)
        equal([(t["table"], t["inserted"]) for t in hold["effect"]["tables"]], [("v.bumped", 2)], sql)
        equal(database.value(count), before, sql)
        release(hold)
        check(sender.result().error is None, f"{sql}: {sender.error}")
        equal(database.value(count), before + 2, sql)
        with closing(running.connect()) as connection:
            error = Sender(connection, sql.replace("2", "4")).result().error
        check(error is not None and error.pgcode == "54000" and "more than 3 rows in all tables" in str(error), f"{sql}: {error}")
    sender, hold = send("SELECT v.bump(1), v.slow()")
    check(not hold["effect"]["known"], "not all of it is vouched for")
    equal(database.value("SELECT is_called FROM v.witness"), False)
    refuse(sender, hold)


def test_an_error_of_such_a_rehearsal_is_for_the_approver():
    sender, hold = send("SELECT v.fail()")
    check(not hold["effect"]["known"] and "the rehearsal failed: no luck" in hold["effect"]["why"], hold["effect"])
    refuse(sender, hold)
    check("luck" not in str(sender.error), str(sender.error))


def test_a_listen_is_not_rehearsed_and_listens_once_it_is_released():
    sender, hold = send("LISTEN jobs")
    check(not hold["effect"]["known"], hold["effect"])
    database.ask("NOTIFY jobs, 'early'")
    release(hold)
    check(sender.result().error is None, sender.error)
    database.ask("NOTIFY jobs, 'late'")
    sender.connection.cursor().execute("SHOW pgwicket.holds")
    equal([(n.channel, n.payload) for n in sender.connection.notifies], [("jobs", "late")])


def test_what_is_shown_is_what_happens():
    for sql, expected in SHOWN:
        sender, hold = send(sql)
        equal(objects(hold), expected, sql)
        release(hold)
        check(sender.result().error is None, f"{sql}: {sender.error}")
    equal(database.value("SELECT count(*) FROM o.child"), 0)
    equal(database.value("SELECT to_regclass('o.parent')"), None)


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SCHEMA)
        restart()
        code = main(globals())
    sys.exit(code)

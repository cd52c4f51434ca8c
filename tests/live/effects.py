"""The effect that an approver is shown is what the statement then does, table by table; a run with another one commits
nothing."""
import io
import os
import sys
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, eventually, main, some
from wicket import Sender, wicket

POLICY = """
    search_path: [shop, e]
    introspection: allow
    hold: {wait: 60s, expire: 1h, run_within: 15m, rehearse_max_rows: 5000}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.*, e.*]
      - allow: [insert]
        on: [e.free]
      - hold: [delete]
        on: [e.grandchild]
        unrehearsed: hold
      - hold: [insert, update, delete]
        on: [shop.*, e.*]
      - allow: [select]
        on: [c.*]
      - allow: [insert, update, delete]
        on: [c.*]
        max_effect: 4
      - hold: [update, delete, truncate]
        on: [c.*]
        max_effect: 8
"""
CAPPED = """
CREATE SCHEMA c;
CREATE TABLE c.log (id bigserial PRIMARY KEY, what text);
CREATE FUNCTION c.note() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO c.log (what) VALUES (TG_OP); RETURN NULL; END $$;
CREATE TABLE c.t (id int PRIMARY KEY, n int);
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON c.t FOR EACH ROW EXECUTE FUNCTION c.note();
CREATE TABLE c.kid (id int PRIMARY KEY, t int REFERENCES c.t ON DELETE CASCADE);
CREATE TABLE c.late (id int PRIMARY KEY, t int REFERENCES c.t DEFERRABLE INITIALLY DEFERRED);
CREATE CONSTRAINT TRIGGER later AFTER INSERT ON c.late DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION c.note();
CREATE TABLE c.emptied (id int PRIMARY KEY);
CREATE FUNCTION c.empty() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN TRUNCATE c.emptied; RETURN NULL; END $$;
CREATE TABLE c.emptying (id int PRIMARY KEY);
CREATE TRIGGER empty AFTER DELETE ON c.emptying FOR EACH ROW EXECUTE FUNCTION c.empty();
INSERT INTO c.t SELECT i, 0 FROM generate_series(1, 60) i;
INSERT INTO c.kid SELECT i, 40 + i / 3 FROM generate_series(1, 30) i;
INSERT INTO c.emptied SELECT generate_series(1, 5);
INSERT INTO c.emptying SELECT generate_series(1, 5);
TRUNCATE c.log;
GRANT USAGE ON SCHEMA c TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA c TO agent;
GRANT ALL ON ALL SEQUENCES IN SCHEMA c TO agent;
ANALYZE c.t, c.kid, c.late, c.emptied, c.emptying;
"""
SCHEMA = """
CREATE SCHEMA e;
CREATE TABLE e.free (id int PRIMARY KEY, n int);
CREATE TABLE e.parent (id int PRIMARY KEY, name text NOT NULL, n int DEFAULT 0, at timestamptz DEFAULT now());
CREATE TABLE e.child (id int PRIMARY KEY, parent int REFERENCES e.parent ON DELETE CASCADE ON UPDATE CASCADE, v text);
CREATE TABLE e.grandchild (id serial PRIMARY KEY, child int REFERENCES e.child ON DELETE CASCADE, v text);
CREATE TABLE e.loose (id int PRIMARY KEY, parent int REFERENCES e.parent ON DELETE SET NULL ON UPDATE CASCADE);
CREATE TABLE e.parted (id int, part int, v text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE e.parted_1 PARTITION OF e.parted FOR VALUES IN (1);
CREATE TABLE e.parted_2 PARTITION OF e.parted FOR VALUES IN (2);
CREATE TABLE e.base (id int PRIMARY KEY, v text);
CREATE TABLE e.derived (w text, PRIMARY KEY (id)) INHERITS (e.base);
CREATE TABLE e.keyless (a int, b text);
CREATE VIEW e.names AS SELECT id, name FROM e.parent WHERE id < 500;
CREATE TABLE e.serial (id serial PRIMARY KEY, v text, at timestamptz DEFAULT clock_timestamp());
CREATE TABLE e.later (id int PRIMARY KEY, parent int REFERENCES e.parent DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE e.log (id bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), what text);
CREATE TABLE e.audited (id int PRIMARY KEY, n int, updated_at timestamptz);
CREATE FUNCTION e.touch() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN NEW.updated_at := clock_timestamp(); RETURN NEW; END $$;
CREATE FUNCTION e.note() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN -- EXECUTE and dblink() are only words here
     INSERT INTO e.log (what) VALUES (TG_OP || ' copy'); RETURN NULL; END $$;
CREATE FUNCTION e.note_constant() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN EXECUTE 'INSERT INTO e.log (what) VALUES ($1)' USING TG_OP; RETURN NULL; END $$;
CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON e.audited FOR EACH ROW EXECUTE FUNCTION e.touch();
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON e.audited FOR EACH ROW EXECUTE FUNCTION e.note();
CREATE TABLE e.stated (id int PRIMARY KEY, n int);
CREATE TRIGGER stated AFTER UPDATE OR DELETE ON e.stated FOR EACH STATEMENT EXECUTE FUNCTION e.note_constant();
CREATE TABLE e.put_off (id int PRIMARY KEY, n int);
CREATE CONSTRAINT TRIGGER later AFTER INSERT OR UPDATE ON e.put_off DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION e.note();
CREATE SCHEMA closed;
CREATE TABLE closed.log (id serial PRIMARY KEY, what text);
CREATE SEQUENCE e.unused;
CREATE FUNCTION closed.tell() RETURNS void LANGUAGE sql AS $$ SELECT pg_notify('told', 'x') $$;
CREATE FUNCTION closed.note() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO closed.log (what) VALUES (TG_OP); PERFORM closed.tell(); RETURN NULL; END $$;
CREATE TABLE e.watched (id int PRIMARY KEY, n int);
CREATE TRIGGER note AFTER UPDATE ON e.watched FOR EACH ROW EXECUTE FUNCTION closed.note();
INSERT INTO e.watched VALUES (1, 1), (2, 2);
CREATE TABLE e.twice (id int PRIMARY KEY, n int, m int DEFAULT 0);
CREATE FUNCTION e.again() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN IF pg_trigger_depth() = 1 THEN UPDATE e.twice SET m = m + 1 WHERE id = NEW.id; END IF; RETURN NULL; END $$;
CREATE TRIGGER again AFTER UPDATE ON e.twice FOR EACH ROW EXECUTE FUNCTION e.again();
CREATE VIEW e.pairs AS SELECT id, n FROM e.twice WHERE id < 1000;
CREATE FUNCTION e.pair() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN IF TG_OP = 'DELETE' THEN DELETE FROM e.twice WHERE id = OLD.id; RETURN OLD; END IF;
     UPDATE e.twice SET n = NEW.n WHERE id = NEW.id; RETURN NEW; END $$;
CREATE TRIGGER pair INSTEAD OF UPDATE OR DELETE ON e.pairs FOR EACH ROW EXECUTE FUNCTION e.pair();
INSERT INTO e.audited SELECT g, g FROM generate_series(1, 100) g;
INSERT INTO e.stated SELECT g, g FROM generate_series(1, 100) g;
INSERT INTO e.twice SELECT g, g FROM generate_series(1, 100) g;
INSERT INTO e.parent SELECT g, 'p' || g FROM generate_series(1, 1000) g;
INSERT INTO e.child SELECT g, 1 + g % 1000, 'c' FROM generate_series(1, 3000) g;
INSERT INTO e.grandchild (child, v) SELECT 1 + g % 3000, 'g' FROM generate_series(1, 6000) g;
INSERT INTO e.loose SELECT g, 1 + g % 1000 FROM generate_series(1, 1500) g;
INSERT INTO e.parted SELECT g, 1 + g % 2, 'x' FROM generate_series(1, 100) g;
INSERT INTO e.base SELECT g, 'b' FROM generate_series(1, 50) g;
INSERT INTO e.derived SELECT g, 'd', 'w' FROM generate_series(51, 90) g;
INSERT INTO e.keyless SELECT g % 10, 'k' FROM generate_series(1, 60) g;
GRANT USAGE ON SCHEMA e TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA shop TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA e TO agent;
GRANT ALL ON ALL SEQUENCES IN SCHEMA e TO agent;
ANALYZE;
"""
# In the order in which they run; each changes something.
STATEMENTS = [
    "DELETE FROM e.free WHERE id > 0",
    "INSERT INTO e.parent (id, name) VALUES (2001, 'new'), (2002, 'newer')",
    "INSERT INTO e.serial (v) VALUES ('a'), ('b'), ('c')",
    "INSERT INTO e.serial (v) SELECT name FROM e.parent WHERE id < 5",
    "INSERT INTO e.parent (id, name) VALUES (1, 'again'), (2003, 'new') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name",
    "INSERT INTO e.parent (id, name) VALUES (1, 'again'), (2004, 'new') ON CONFLICT DO NOTHING",
    "INSERT INTO e.keyless VALUES (7, 'x')",
    "UPDATE e.parent SET name = 'x', n = n + 1 WHERE id BETWEEN 10 AND 20",
    "UPDATE e.parent SET at = now() WHERE id BETWEEN 10 AND 12 RETURNING id, at",
    "UPDATE e.parent p SET name = c.v FROM e.child c WHERE c.parent = p.id AND p.id IN (30, 31)",
    "UPDATE e.parent SET id = id + 5000 WHERE id IN (40, 41)",
    "UPDATE e.parted SET part = 2 WHERE id IN (2, 4, 6)",
    "UPDATE e.parted SET v = 'y' WHERE id < 10",
    "UPDATE e.base SET v = 'z' WHERE id BETWEEN 45 AND 55",
    "UPDATE ONLY e.base SET v = 'only' WHERE id < 10",
    "UPDATE e.keyless SET b = 'm' WHERE a = 3",
    "UPDATE e.names SET name = 'through a view' WHERE id = 77",
    "UPDATE e.loose SET parent = NULL WHERE id < 4",
    "DELETE FROM e.parent WHERE id IN (100, 101, 102)",
    "DELETE FROM e.parent p USING e.child c WHERE c.parent = p.id AND c.id = 500 RETURNING p.id",
    "DELETE FROM e.child WHERE parent = 200",
    "DELETE FROM e.parted WHERE id > 95",
    "DELETE FROM e.base WHERE id IN (20, 60)",
    "DELETE FROM e.keyless WHERE a = 5",
    "DELETE FROM e.names WHERE id = 78",
    "INSERT INTO e.later VALUES (1, 900), (2, 901)",
    "DELETE FROM e.parent WHERE id IN (SELECT parent FROM e.child WHERE id < 300 AND id > 290)",
    "WITH gone AS (DELETE FROM e.keyless WHERE a = 6 RETURNING a, b) INSERT INTO e.keyless SELECT a + 100, b FROM gone",
    "WITH w AS (DELETE FROM e.child WHERE id = 700 RETURNING parent) UPDATE e.parent SET n = 9 WHERE id IN (SELECT parent FROM w)",
    "MERGE INTO e.parent p USING (VALUES (310, 'm'), (3000, 'm')) AS v(id, name) ON p.id = v.id "
    "WHEN MATCHED THEN UPDATE SET name = v.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.name)",
    "DELETE FROM shop.orders WHERE customer_id = 9",
    "UPDATE shop.products SET price = price + 1 WHERE id < 5",
]
# With triggers, deferred ones and such that write their own table.
TRIGGERED = [
    "UPDATE e.audited SET n = n + 1 WHERE id < 5",
    "UPDATE e.audited SET n = 7, updated_at = '2020-01-01' WHERE id = 6",
    "INSERT INTO e.audited VALUES (201, 1, '2020-01-01'), (202, 2, NULL)",
    "INSERT INTO e.audited (id, n) SELECT id + 300, n FROM e.stated WHERE id < 4",
    "DELETE FROM e.audited WHERE id IN (11, 12)",
    "INSERT INTO e.audited VALUES (13, 1), (203, 2) ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n",
    "UPDATE e.stated SET n = 0 WHERE id BETWEEN 10 AND 15",
    "UPDATE e.stated SET n = 0 WHERE id = -1",
    "INSERT INTO e.put_off VALUES (1, 1), (2, 2)",
    "UPDATE e.twice SET n = n + 1 WHERE id < 4",
    "UPDATE e.pairs SET n = 50 WHERE id = 20",
    "DELETE FROM e.pairs WHERE id = 21",
]

database = running = None
keys = {}


def tables():
    return [row[0] for row in database.ask(
        "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND n.nspname IN ('e', 'shop') ORDER BY 1")]


def key_of(table):
    found = database.ask(f"SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) "
                         f"WHERE i.indrelid = '{table}'::regclass AND i.indisprimary")
    return ", ".join(row[0] for row in found)


def snapshot():
    """For each table its rows: by primary key, or, without one, by where they are."""
    found = {table: {} for table in keys}
    query = " UNION ALL ".join(f"SELECT '{table}', {f'ROW({key})::text' if key else 'ctid::text'}, hashtextextended(ROW(t.*)::text, 0) FROM ONLY {table} t"
                               for table, key in keys.items())
    for table, row, digest in database.ask(query):
        found[table][row] = digest
    return found


def difference(before, after):
    changes = {}
    for table, rows in after.items():
        old = before[table]
        inserted = len(rows.keys() - old.keys())
        deleted = len(old.keys() - rows.keys())
        updated = len([key for key in rows.keys() & old.keys() if rows[key] != old[key]])
        if inserted + updated + deleted:
            changes[table] = (inserted, updated, deleted)
    return changes


def pending():
    return running.api("holds?state=pending")["holds"]


def send(sql, parameters=None):
    """Sends it, and returns the sender and its hold."""
    known = {h["id"] for h in pending()}
    sender = Sender(running.connect(), sql, parameters)

    def asked():
        check(sender.error is None, f"{sql}: {sender.error}")
        return next((h for h in pending() if h["id"] not in known), None)
    hold = eventually(asked, f"a hold of {sql}")
    return sender, running.api(f"holds/{hold['id']}")


def release(hold):
    running.api(f"holds/{hold['id']}/release", digest=hold["digest"])


def refuse(hold):
    running.api(f"holds/{hold['id']}/refuse", digest=hold["digest"], reason="enough")


def moved_rows(changes):
    """Of a partitioned table the effect tells the whole: a row that moves is one row."""
    ins, upd, dele = (sum(changes.get(f"e.parted_{i}", (0, 0, 0))[j] for i in (1, 2)) for j in range(3))
    whole = {t: c for t, c in changes.items() if not t.startswith("e.parted_")}
    if ins + upd + dele:
        moved = min(ins, dele)
        whole["e.parted"] = (ins - moved, upd + moved, dele - moved)
    return whole


def compare_shown_with_done(statements):
    for sql in statements:
        before = snapshot()
        sender, hold = send(sql)
        equal(difference(before, snapshot()), {}, f"nothing has happened yet: {sql}")
        effect = hold["effect"]
        check(effect["known"], f"{sql}: {effect}")
        shown = {t["table"]: (t["inserted"], t["updated"], t["deleted"]) for t in effect["tables"]}
        release(hold)
        sender.result()
        check(sender.error is None, f"{sql}: {sender.error}")
        found = difference(before, snapshot())
        if "e.twice" in sql:
            equal({t: [c // 2 if t == "e.twice" else c for c in counts] for t, counts in shown.items()},
                  {t: list(c) for t, c in found.items()}, sql) # told twice, because each row changes twice
        elif "keyless SET" in sql or "id = id + 5000" in sql:
            equal(shown.keys(), found.keys(), sql) # without a key that stays, rows cannot be told from each other here
        else:
            equal(shown, moved_rows(found), sql)


def test_the_effect_is_what_happens():
    compare_shown_with_done(some(STATEMENTS[1:], 2))


def test_triggers_are_part_of_the_effect():
    compare_shown_with_done(TRIGGERED)


def test_triggers_are_told():
    for sql, triggers in [("UPDATE e.audited SET n = 3 WHERE id = 90", ["e.audited: note, e.note() in plpgsql", "e.audited: touch, e.touch() in plpgsql"]),
                          ("DELETE FROM e.audited WHERE id = 90", ["e.audited: note, e.note() in plpgsql"]),
                          ("UPDATE e.pairs SET n = 3 WHERE id = 90", ["e.pairs: pair, e.pair() in plpgsql", "e.twice: again, e.again() in plpgsql"])]:
        sender, hold = send(sql)
        equal(sorted(hold["effect"]["triggers"]), triggers, sql)
        vias = {t["table"]: t["via"] for t in hold["effect"]["tables"]}
        equal(vias, {"e.audited": "target", "e.log": "trigger"} if "audited" in sql else {"e.twice": "target"}, sql)
        release(hold)
        sender.result()
        check(sender.error is None, f"{sql}: {sender.error}")


def test_what_changes_nothing_needs_nobody():
    for sql in (STATEMENTS[0], "UPDATE e.parent SET n = 1 WHERE id = -1", "DELETE FROM e.parted WHERE id = -1"):
        known = len(running.holds())
        sender = Sender(running.connect(), sql).result()
        equal((sender.error, sender.rowcount), (None, 0), sql)
        equal(len(running.holds()), known, sql)


def test_what_is_too_large_to_be_rehearsed_is_held_only_by_a_rule_that_says_so():
    known = len(running.holds())
    with closing(running.connect()) as connection:
        error = Sender(connection, "UPDATE e.grandchild SET v = 'all' WHERE id > 0").result().error
    equal(error.pgcode, "42501", error.diag.message_primary)
    check("the planner expects" in error.diag.message_detail, error.diag.message_detail)
    equal(len(running.holds()), known)
    sender, hold = send("DELETE FROM e.grandchild WHERE id > 0")
    equal(hold["effect"]["known"], False)
    check("the planner expects" in hold["effect"]["why"], hold["effect"])
    refuse(hold)
    equal(sender.result().error.pgcode, "55PW2")


def test_cascades_are_told_as_such():
    sender, hold = send("DELETE FROM e.parent WHERE id = 400")
    told = {t["table"]: (t["via"], t.get("constraint"), t.get("action"), t.get("depth")) for t in hold["effect"]["tables"]}
    equal(told, {"e.parent": ("target", None, None, None),
                 "e.child": ("cascade", "child_parent_fkey", "cascade", 1),
                 "e.loose": ("cascade", "loose_parent_fkey", "set null", 1),
                 "e.grandchild": ("cascade", "grandchild_child_fkey", "cascade", 2)})
    release(hold)
    sender.result()


def test_rows_and_sequences_are_shown():
    sender, hold = send("UPDATE e.parent SET name = %s WHERE id IN (601, 602)", ("renamed",))
    rows = hold["effect"]["rows"]
    equal((rows["count"], rows["key"], rows["changed"]), (2, ["id"], ["name"]))
    equal(sorted((r["old"]["id"], r["old"]["name"], r["new"]["name"]) for r in rows["sample"]),
          [(601, "p601", "renamed"), (602, "p602", "renamed")])
    release(hold)
    equal(sender.result().rowcount, 2)
    sender, hold = send("INSERT INTO e.serial (v) VALUES ('x'), ('y')")
    equal(hold["effect"]["not_undone"], [{"what": "sequence", "name": "e.serial_id_seq", "by": 2}, {"what": "lastval", "name": "", "by": None}])
    release(hold)
    check(sender.result().error is None, sender.error)


def test_what_the_role_may_not_read_is_told_as_far_as_it_can_be():
    sender, hold = send("UPDATE e.watched SET n = 7 WHERE id = 1")
    equal(hold["effect"]["not_undone"], [{"what": "sequence", "name": "closed.log_id_seq", "by": None}, {"what": "lastval", "name": "", "by": None}])
    equal(hold["effect"]["notifies"], ["e.watched"])
    equal({t["table"]: t["via"] for t in hold["effect"]["tables"]}, {"e.watched": "target", "closed.log": "trigger"})
    release(hold)
    check(sender.result().error is None, sender.error)
    sender, hold = send("UPDATE e.parent SET n = 3 WHERE id = 605")
    equal((hold["effect"]["not_undone"], hold["effect"]["notifies"]), ([], []))
    release(hold)
    sender.result()


DRIFTS = [
    ("DELETE FROM e.parent WHERE id BETWEEN 800 AND 803", "DELETE FROM e.parent WHERE id = 801"),
    ("DELETE FROM e.parent WHERE name = 'q'", "UPDATE e.parent SET name = 'q' WHERE id = 811"),
    ("DELETE FROM e.parent WHERE name = 'q'", "UPDATE e.parent SET name = CASE name WHEN 'q' THEN 'r' ELSE 'q' END WHERE id IN (811, 812)"),
    ("DELETE FROM e.parent WHERE id = 820", "UPDATE e.parent SET n = 77 WHERE id = 820"),
    ("DELETE FROM e.parent WHERE id = 821", "INSERT INTO e.child VALUES (9001, 821, 'more')"),
    ("DELETE FROM e.parent WHERE id = 822", "DELETE FROM e.loose WHERE parent = 822"),
    ("UPDATE e.parent SET n = n + 1 WHERE id = 830", "UPDATE e.parent SET n = 50 WHERE id = 830"),
    ("UPDATE e.parent SET name = 's' WHERE id = 831", "UPDATE e.parent SET at = now() WHERE id = 831"),
    ("UPDATE e.parted SET v = 'w' WHERE id = 50", "UPDATE e.parted SET v = 'other' WHERE id = 50"),
    ("INSERT INTO e.serial (v) SELECT name FROM e.parent WHERE id = 840", "UPDATE e.parent SET name = 'changed' WHERE id = 840"),
    ("UPDATE e.audited SET n = 1 WHERE id = 60", "CREATE TRIGGER added BEFORE UPDATE ON e.audited FOR EACH ROW EXECUTE FUNCTION e.touch()"),
    ("UPDATE e.audited SET n = 1 WHERE id = 61", "DROP TRIGGER added ON e.audited"),
    ("UPDATE e.audited SET n = 1 WHERE id = 62", "ALTER TABLE e.audited DISABLE TRIGGER note"),
    ("UPDATE e.audited SET n = 1 WHERE id = 63", "UPDATE e.audited SET n = 99 WHERE id = 63"),
    ("DELETE FROM e.stated WHERE id = 63", "CREATE TRIGGER more BEFORE DELETE ON e.stated FOR EACH STATEMENT EXECUTE FUNCTION e.note()"),
    ("INSERT INTO e.serial (v) SELECT name FROM e.parent WHERE n = 4711", "UPDATE e.parent SET n = 4711 WHERE id = 842"),
]


def given_up(connection, sql):
    error = Sender(connection, sql).result().error
    equal(error.pgcode, "55PW1", error.diag.message_primary)
    return error.diag.message_primary


def test_the_same_statement_again_joins_without_a_rehearsal():
    sql = "INSERT INTO e.serial (v) VALUES ('joined'), ('by others')"

    def moved(): # a rehearsal leaves its numbers behind
        return database.value("SELECT last_value FROM e.serial_id_seq")
    sender, hold = send(sql)
    at = moved()
    number = f"hold {hold['id']};"
    with closing(running.connect(options="-c statement_timeout=500")) as connection:
        check(number in given_up(connection, sql), "another hold")
        check(number in given_up(connection, "INSERT  into e.serial (v) values ('joined'), ('by others')"), "another hold")
    with closing(running.connect(autocommit=False)) as connection:
        connection.cursor().execute("INSERT INTO e.free VALUES (901, 1)")
        check(number in given_up(connection, sql), "another hold, in a transaction")
    equal(moved(), at, "it was rehearsed again")
    release(hold)
    equal(sender.result().rowcount, 2, sender.error)
    equal(database.value("SELECT count(*) FROM e.serial WHERE v IN ('joined', 'by others')"), 2)


def test_a_drift_commits_nothing():
    database.ask("UPDATE e.parent SET name = 'q' WHERE id = 810; UPDATE e.parent SET n = 4711 WHERE id = 841")
    for sql, drift in DRIFTS:
        sender, hold = send(sql)
        database.ask(drift)
        before = snapshot()
        release(hold)
        sender.result()
        check(sender.error is not None, f"{sql} ran in spite of {drift}")
        equal(sender.error.pgcode, "55PW3", f"{sql}: {sender.error}")
        equal(difference(before, snapshot()), {}, f"{sql} after {drift}")
        again = running.api(f"holds/{hold['id']}")
        equal(again["state"], "drifted")
        check(f"hold {again['replaced_by']}" in str(sender.error), f"{sql}: {sender.error}")
        new = running.api(f"holds/{again['replaced_by']}")
        equal((new["state"], new["statement"]), ("pending", hold["statement"]))
        refuse(new)


CAPPED_ROWS = """SELECT md5(concat((SELECT array_agg(t ORDER BY id) FROM c.t t), (SELECT array_agg(k ORDER BY id) FROM c.kid k),
(SELECT array_agg(l ORDER BY id) FROM c.late l), (SELECT array_agg(l.what) FROM c.log l), (SELECT count(*) FROM c.emptied),
(SELECT count(*) FROM c.emptying)))"""


def over_max_effect(sql, *parts):
    before = database.value(CAPPED_ROWS)
    sender = Sender(running.connect(), sql).result()
    check(sender.error is not None, f"{sql} ran")
    equal(sender.error.pgcode, "54000", f"{sql}: {sender.error}")
    for part in ("pgwicket: ", "nothing was changed", *parts):
        check(part in str(sender.error), f"{part!r} in {sender.error}")
    equal(database.value(CAPPED_ROWS), before, sql)


def test_max_effect_counts_every_table_and_then_lets_people_decide():
    for sql, rows in (("UPDATE c.t SET n = n + 1 WHERE id < 3", 2), ("DELETE FROM c.t WHERE id = 40", 1),
                      ("INSERT INTO c.late VALUES (1, 1), (2, 1)", 2), ("UPDATE c.t SET n = 5 WHERE id < 0", 0),
                      ("WITH a AS (DELETE FROM c.kid WHERE id = 30 RETURNING id) UPDATE c.t SET n = a.id FROM a WHERE c.t.id = 9", 1)):
        sender = Sender(running.connect(), sql).result()
        equal((sender.error, sender.rowcount), (None, rows), sql)
    for sql, told in (("UPDATE c.t SET n = n + 1 WHERE id < 4", {"c.t": 3, "c.log": 3}),
                      ("DELETE FROM c.t WHERE id = 41", {"c.t": 1, "c.log": 1, "c.kid": 3}),
                      ("TRUNCATE c.emptied", {})):
        sender, hold = send(sql)
        equal({t["table"]: t["updated"] + t["deleted"] + t["inserted"] for t in hold["effect"]["tables"]}, told, sql)
        release(hold)
        check(sender.result().error is None, f"{sql}: {sender.error}")
    nearest = "max_effect 8"
    over_max_effect("UPDATE c.t SET n = n + 1 WHERE id < 6", "UPDATE of c.t would change more than 8 rows in all tables", nearest)
    over_max_effect("DELETE FROM c.t WHERE id IN (42, 43)", "more than 8 rows in all tables", nearest)
    over_max_effect("INSERT INTO c.late SELECT i, 1 FROM generate_series(3, 5) i", "more than 4 rows", "max_effect 4")
    database.ask("INSERT INTO c.emptied SELECT generate_series(1, 9)")
    over_max_effect("TRUNCATE c.emptied", "more than 8 rows in all tables", nearest)
    over_max_effect("DELETE FROM c.emptying WHERE id = 1", "could not be counted")


def test_max_effect_in_a_transaction_leaves_what_is_deferred_deferred():
    logged = database.value("SELECT count(*) FROM c.log")
    connection = running.connect(autocommit=False)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO c.t VALUES (70, 0)")
        cursor.execute("INSERT INTO c.late VALUES (70, 70), (71, 70)")
        equal(cursor.rowcount, 2)
        cursor.execute("INSERT INTO c.t VALUES (71, 0)")
    connection.commit()
    equal(database.value("SELECT count(*) FROM c.log") - logged, 4, "each trigger fired once")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE c.t SET n = 1 WHERE id < 3")
        try:
            cursor.execute("INSERT INTO c.late VALUES (80, 1), (81, 1), (82, 1)")
            check(False, "six rows passed")
        except psycopg2.Error as error:
            equal(error.pgcode, "54000", str(error))
    connection.rollback()
    connection.close()


def test_max_effect_says_that_a_deferred_check_is_still_to_be_met():
    connection = running.connect(autocommit=False)
    with connection.cursor() as cursor:
        for sql in ("INSERT INTO c.late VALUES (90, 9000)", "SELECT 1"):
            try:
                cursor.execute(sql)
                check(False, f"{sql} ran")
            except psycopg2.Error as error:
                codes = {"SELECT 1": "25P02"}
                equal(error.pgcode, codes.get(sql, "23503"), sql)
                check(sql == "SELECT 1" or "a deferred check of this transaction is not met yet" in str(error), str(error))
    connection.rollback()
    connection.close()
    equal(database.value("SELECT count(*) FROM c.late WHERE id = 90"), 0)


def test_max_effect_of_copy():
    for rows, passes in ((2, True), (3, False)):
        connection = running.connect()
        before = database.value("SELECT count(*) FROM c.t")
        with connection.cursor() as cursor:
            try:
                cursor.copy_expert("COPY c.t FROM STDIN", io.StringIO("".join(f"{100 + i}\t1\n" for i in range(rows))))
                check(passes, "it passed")
            except psycopg2.Error as error:
                check(not passes and error.pgcode == "54000", str(error))
        connection.close()
        equal(database.value("SELECT count(*) FROM c.t") - before, rows if passes else 0)
        database.ask("DELETE FROM c.t WHERE id >= 100")


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SCHEMA + CAPPED)
        running.stop()
        running.start()
        keys = {table: key_of(table) for table in tables()}
        code = main(globals())
    sys.exit(code)

"""The effect that an approver is shown is what the statement then does, table by table; a run with another one commits
nothing."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, eventually, main
from wicket import SERVER_PORT, SERVER_SOCKET, Sender, wicket

POLICY = """
    search_path: [shop, e]
    introspection: allow
    hold: {wait: 60s, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.*, e.*]
      - allow: [insert]
        on: [e.free]
      - hold: [insert, update, delete]
        on: [shop.*, e.*]
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
    "UPDATE shop.products SET price = price + 1 WHERE id < 5",
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
    query = " UNION ALL ".join(f"SELECT '{table}', {f'ROW({key})::text' if key else 'ctid::text'}, md5(ROW(t.*)::text) FROM ONLY {table} t"
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


def send(sql, parameters=None):
    """Sends it, and returns the sender and its hold."""
    known = {h["id"] for h in running.holds()}
    sender = Sender(running.connect(), sql, parameters)

    def asked():
        check(sender.error is None, f"{sql}: {sender.error}")
        return next((h for h in running.holds("pending") if h["id"] not in known), None)
    hold = eventually(asked, f"a hold of {sql}")
    return sender, running.hold(hold["id"])


def release(hold):
    running.command("release", hold["id"], "--digest", hold["digest"])


def moved_rows(changes):
    """Of a partitioned table the effect tells the whole: a row that moves is one row."""
    ins, upd, dele = (sum(changes.get(f"e.parted_{i}", (0, 0, 0))[j] for i in (1, 2)) for j in range(3))
    whole = {t: c for t, c in changes.items() if not t.startswith("e.parted_")}
    if ins + upd + dele:
        moved = min(ins, dele)
        whole["e.parted"] = (ins - moved, upd + moved, dele - moved)
    return whole


def test_the_effect_is_what_happens():
    for sql in STATEMENTS[1:]:
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
        if "keyless SET" in sql or "id = id + 5000" in sql:
            equal(shown.keys(), found.keys(), sql) # without a key that stays, rows cannot be told from each other here
        else:
            equal(shown, moved_rows(found), sql)


def test_what_changes_nothing_needs_nobody():
    for sql in (STATEMENTS[0], "UPDATE e.parent SET n = 1 WHERE id = -1", "DELETE FROM e.parted WHERE id = -1"):
        known = len(running.holds())
        sender = Sender(running.connect(), sql).result()
        equal((sender.error, sender.rowcount), (None, 0), sql)
        equal(len(running.holds()), known, sql)


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
    equal(hold["effect"]["not_undone"], [{"what": "sequence", "name": "e.serial_id_seq", "by": 2}])
    release(hold)
    check(sender.result().error is None, sender.error)


# What a table runs by itself need not stay within the transaction: here it adds to e.outside over a connection of its own.
OUTSIDE = """
CREATE EXTENSION IF NOT EXISTS dblink SCHEMA public;
CREATE FUNCTION e.leave(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS $$BEGIN
    PERFORM public.dblink_exec('host=SOCKET port=PORT user=postgres dbname=DATABASE', 'INSERT INTO e.outside VALUES (1)');
    RETURN i; END$$;
CREATE FUNCTION e.leave_again() RETURNS int LANGUAGE sql VOLATILE AS $$SELECT e.leave(1 + (random() * 9)::int)$$;
CREATE DOMAIN e.leaving AS int CHECK (e.leave(VALUE) > 0);
CREATE TYPE e.pair AS (a int, b e.leaving);
CREATE TABLE e.own_default (id int PRIMARY KEY, d int DEFAULT e.leave_again());
CREATE TABLE e.own_check (id int PRIMARY KEY CHECK (e.leave(id) > 0));
CREATE TABLE e.own_generated (id int PRIMARY KEY, g int GENERATED ALWAYS AS (e.leave(id)) STORED);
CREATE TABLE e.own_index (id int PRIMARY KEY);
CREATE INDEX ON e.own_index (e.leave(id));
CREATE TABLE e.own_predicate (id int PRIMARY KEY);
CREATE INDEX ON e.own_predicate (id) WHERE e.leave(id) > 0;
CREATE TABLE e.own_partitions (id int) PARTITION BY RANGE (e.leave(id));
CREATE TABLE e.own_partition PARTITION OF e.own_partitions DEFAULT;
CREATE TABLE e.own_domain (id int PRIMARY KEY, v e.leaving);
CREATE TABLE e.own_domains (id int PRIMARY KEY, v e.leaving[]);
CREATE TABLE e.own_row (id int PRIMARY KEY, v e.pair);
CREATE TABLE e.own_policy (id int PRIMARY KEY);
INSERT INTO e.own_policy VALUES (7);
ALTER TABLE e.own_policy ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON e.own_policy USING (e.leave(id) > 0);
CREATE TABLE e.own_less (id int PRIMARY KEY, d int DEFAULT e.leave_again() CHECK (e.leave(d) > 0));
INSERT INTO e.own_less VALUES (1, 1);
GRANT ALL ON ALL TABLES IN SCHEMA e TO agent;
"""
OWN_CODE = [f"INSERT INTO e.own_{what} (id) VALUES (1)" for what in ("default", "check", "generated", "index", "predicate",
                                                                   "partitions", "domain", "domains", "row")]
OWN_CODE += ["DELETE FROM e.own_policy WHERE id = 7", "UPDATE e.own_less SET d = 2 WHERE id = 1"]


def test_what_a_table_runs_by_itself_is_not_rehearsed():
    for sql in OWN_CODE:
        sender, hold = send(sql)
        equal(hold["effect"]["known"], False, sql)
        equal(database.value("SELECT count(*) FROM e.outside"), 0, sql)
        running.command("refuse", hold["id"], "--reason", "enough", "--digest", hold["digest"])
        sender.result()


def test_what_does_not_run_is_no_obstacle():
    sender, hold = send("DELETE FROM e.own_less WHERE id = 1")
    equal((hold["effect"]["known"], database.value("SELECT count(*) FROM e.outside")), (True, 0))
    release(hold)
    check(sender.result().error is None, sender.error)


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
    ("INSERT INTO e.serial (v) SELECT name FROM e.parent WHERE n = 4711", "UPDATE e.parent SET n = 4711 WHERE id = 842"),
]


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
        again = running.hold(hold["id"])
        equal(again["state"], "drifted")
        check(f"hold {again['replaced_by']}" in str(sender.error), f"{sql}: {sender.error}")
        new = running.hold(again["replaced_by"])
        equal((new["state"], new["statement"]), ("pending", hold["statement"]))
        running.command("refuse", new["id"], "--reason", "enough", "--digest", new["digest"])


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SCHEMA)
        for name, value in (("SOCKET", SERVER_SOCKET), ("PORT", SERVER_PORT), ("DATABASE", database.name)):
            OUTSIDE = OUTSIDE.replace(name, value)
        for sql in ("CREATE TABLE e.outside (id int)", OUTSIDE, "TRUNCATE e.outside"):
            database.ask(sql)
        running.stop()
        running.start()
        keys = {table: key_of(table) for table in tables()}
        code = main(globals())
    sys.exit(code)

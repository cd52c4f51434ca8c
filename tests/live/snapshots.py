"""What an approver is shown of a statement is the difference between two full snapshots of the database, before and after
it really ran: rows of each table, objects, rewritten files, sequences. Rows that change several times in one statement
are told as often as they change."""
import base64
import json
import os
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, eventually, main
from wicket import APPROVER_SECRET, Sender, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 60s, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.*, s.*]
      - hold: [insert, update, delete, truncate]
        on: [shop.*, s.*]
      - hold: [create, alter, drop, grant, comment, code]
        on: [s.*, "schema:*", "role:*"]
"""
SCHEMA = """
CREATE SCHEMA s AUTHORIZATION agent;
SET ROLE agent;
CREATE TABLE s.customer (id int PRIMARY KEY, name text NOT NULL, total int NOT NULL DEFAULT 0, at timestamptz DEFAULT now());
CREATE TABLE s.orders (id serial PRIMARY KEY, customer int REFERENCES s.customer ON DELETE CASCADE ON UPDATE CASCADE, state text);
CREATE TABLE s.item (id serial PRIMARY KEY, ord int REFERENCES s.orders ON DELETE CASCADE, n int NOT NULL);
CREATE TABLE s.note (id int PRIMARY KEY, customer int REFERENCES s.customer ON DELETE SET NULL ON UPDATE CASCADE, t text);
CREATE TABLE s.tag (id int PRIMARY KEY, customer int DEFAULT 0 REFERENCES s.customer ON DELETE SET DEFAULT ON UPDATE CASCADE, t text);
CREATE TABLE s.later (id int PRIMARY KEY, customer int REFERENCES s.customer DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE s.occasion (id int, part int, v text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE s.occasion_1 PARTITION OF s.occasion FOR VALUES IN (1);
CREATE TABLE s.occasion_2 PARTITION OF s.occasion FOR VALUES IN (2);
CREATE TABLE s.base (id int PRIMARY KEY, v text);
CREATE TABLE s.derived (w text, PRIMARY KEY (id)) INHERITS (s.base);
CREATE TABLE s.audit (id serial PRIMARY KEY, what text);
CREATE TABLE s.counter (id int PRIMARY KEY, n int);
CREATE TABLE s.runs (id serial PRIMARY KEY, n int);
CREATE TABLE s.audited (id int PRIMARY KEY, v text);
CREATE TABLE s.counted (id int PRIMARY KEY, v text);
CREATE TABLE s.bulk (id int PRIMARY KEY, v text);
CREATE TABLE s.stamped (id int PRIMARY KEY, v text, at timestamptz);
CREATE TABLE s.mailbox (id int PRIMARY KEY, v text);
CREATE TABLE s.written (id int PRIMARY KEY, v text);
CREATE TABLE s.typed (id int PRIMARY KEY, a int, b text);
CREATE TABLE s.old_parent (id int PRIMARY KEY, v text);
CREATE TABLE s.old_child (id int PRIMARY KEY, parent int REFERENCES s.old_parent, v text);
CREATE TABLE s.old_grandchild (id int PRIMARY KEY, child int REFERENCES s.old_child);
CREATE VIEW s.old_names AS SELECT id, v FROM s.old_parent;
CREATE VIEW s.old_long AS SELECT * FROM s.old_names WHERE length(v) > 2;
CREATE FUNCTION s.old_f(s.old_parent) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE VIEW s.names AS SELECT id, name FROM s.customer WHERE id < 400;
CREATE VIEW s.joined AS SELECT c.id, c.name, o.state FROM s.customer c JOIN s.orders o ON o.customer = c.id;
CREATE TYPE s.mood AS ENUM ('sad', 'ok');
CREATE TABLE s.moods (id int PRIMARY KEY, m s.mood);
CREATE SEQUENCE s.seq;
CREATE FUNCTION s.audit_it() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO s.audit (what) VALUES (TG_OP); RETURN NULL; END$$;
CREATE TRIGGER audit_it AFTER INSERT OR UPDATE OR DELETE ON s.audited FOR EACH ROW EXECUTE FUNCTION s.audit_it();
CREATE FUNCTION s.count_it() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN UPDATE s.counter SET n = n + 1 WHERE id = 1; RETURN NULL; END$$;
CREATE TRIGGER count_it AFTER INSERT OR DELETE ON s.counted FOR EACH ROW EXECUTE FUNCTION s.count_it();
CREATE FUNCTION s.run_it() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO s.runs (n) VALUES (1); RETURN NULL; END$$;
CREATE TRIGGER run_it AFTER UPDATE OR DELETE ON s.bulk FOR EACH STATEMENT EXECUTE FUNCTION s.run_it();
CREATE FUNCTION s.stamp_it() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.at := clock_timestamp(); RETURN NEW; END$$;
CREATE TRIGGER stamp_it BEFORE INSERT OR UPDATE ON s.stamped FOR EACH ROW EXECUTE FUNCTION s.stamp_it();
CREATE FUNCTION s.rename_it() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN UPDATE s.customer SET name = NEW.name WHERE id = OLD.id; RETURN NEW; END$$;
CREATE TRIGGER rename_it INSTEAD OF UPDATE ON s.joined FOR EACH ROW EXECUTE FUNCTION s.rename_it();
CREATE RULE mail AS ON INSERT TO s.mailbox DO INSTEAD INSERT INTO s.audit (what) VALUES (NEW.v);
CREATE RULE log AS ON UPDATE TO s.written DO ALSO INSERT INTO s.audit (what) VALUES (NEW.v);
INSERT INTO s.customer SELECT g, 'c' || g FROM generate_series(0, 300) g;
INSERT INTO s.orders (customer, state) SELECT 1 + g % 300, 'new' FROM generate_series(1, 600) g;
INSERT INTO s.item (ord, n) SELECT 1 + g % 600, g FROM generate_series(1, 1800) g;
INSERT INTO s.note SELECT g, 1 + g % 300, 't' FROM generate_series(1, 450) g;
INSERT INTO s.tag SELECT g, 1 + g % 300, 't' FROM generate_series(1, 300) g;
INSERT INTO s.occasion SELECT g, 1 + g % 2, 'e' FROM generate_series(1, 100) g;
INSERT INTO s.base SELECT g, 'b' FROM generate_series(1, 50) g;
INSERT INTO s.derived SELECT g, 'd', 'w' FROM generate_series(51, 90) g;
INSERT INTO s.counter VALUES (1, 0);
INSERT INTO s.audited SELECT g, 'a' FROM generate_series(1, 50) g;
INSERT INTO s.counted SELECT g, 'a' FROM generate_series(1, 50) g;
INSERT INTO s.bulk SELECT g, 'a' FROM generate_series(1, 50) g;
INSERT INTO s.stamped SELECT g, 'a' FROM generate_series(1, 50) g;
INSERT INTO s.written SELECT g, 'a' FROM generate_series(1, 50) g;
INSERT INTO s.typed SELECT g, g, 'b' || g FROM generate_series(1, 70) g;
INSERT INTO s.old_parent SELECT g, 'p' || g FROM generate_series(1, 30) g;
INSERT INTO s.old_child SELECT g, 1 + g % 30, 'c' FROM generate_series(1, 60) g;
INSERT INTO s.old_grandchild SELECT g, 1 + g % 60 FROM generate_series(1, 90) g;
INSERT INTO s.moods SELECT g, 'ok' FROM generate_series(1, 5) g;
RESET ROLE;
GRANT ALL ON ALL TABLES IN SCHEMA shop TO agent;
GRANT ALL ON ALL SEQUENCES IN SCHEMA shop TO agent;
ANALYZE;
"""
# In the order in which they run; each does something.
ROWS = [
    "DELETE FROM s.customer WHERE id IN (10, 11)",
    "DELETE FROM s.orders WHERE customer = 20",
    "DELETE FROM s.item WHERE ord IN (100, 101)",
    "UPDATE s.customer SET id = 1030 WHERE id = 30",
    "UPDATE s.customer SET id = id + 2000 WHERE id IN (31, 32)",
    "UPDATE s.customer SET name = 'x', total = total + 1 WHERE id BETWEEN 40 AND 45",
    "UPDATE s.customer SET at = now() WHERE id = 50",
    "UPDATE s.customer c SET name = n.t FROM s.note n WHERE n.customer = c.id AND c.id IN (51, 52)",
    "INSERT INTO s.customer (id, name) VALUES (500, 'new'), (501, 'newer')",
    "INSERT INTO s.customer (id, name) SELECT id + 600, v FROM s.base WHERE id < 5",
    "INSERT INTO s.customer (id, name) VALUES (60, 'again'), (502, 'new') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name",
    "INSERT INTO s.customer (id, name) VALUES (61, 'again'), (503, 'new') ON CONFLICT DO NOTHING",
    "INSERT INTO s.orders (customer, state) VALUES (70, 'a'), (71, 'b') RETURNING id",
    "INSERT INTO s.later VALUES (1, 80), (2, 81)",
    "UPDATE s.later SET customer = 82 WHERE id = 1",
    "MERGE INTO s.customer c USING (VALUES (90, 'm'), (504, 'm')) AS v(id, name) ON c.id = v.id "
    "WHEN MATCHED THEN UPDATE SET name = v.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.name)",
    "MERGE INTO s.tag t USING s.base b ON t.id = b.id AND b.id < 4 WHEN MATCHED THEN DELETE",
    "WITH gone AS (DELETE FROM s.note WHERE id < 4 RETURNING id, t) INSERT INTO s.base SELECT id + 700, t FROM gone",
    "WITH w AS (DELETE FROM s.orders WHERE id = 150 RETURNING customer) UPDATE s.customer SET total = 9 WHERE id IN (SELECT customer FROM w)",
    "UPDATE s.occasion SET part = 2 WHERE id IN (2, 4, 6)",
    "UPDATE s.occasion SET v = 'y' WHERE id < 10",
    "INSERT INTO s.occasion VALUES (201, 1, 'n'), (202, 2, 'n')",
    "DELETE FROM s.occasion WHERE id > 95 AND id < 200",
    "UPDATE s.base SET v = 'z' WHERE id BETWEEN 45 AND 55",
    "UPDATE ONLY s.base SET v = 'only' WHERE id < 10",
    "DELETE FROM s.base WHERE id IN (20, 60)",
    "UPDATE s.names SET name = 'through a view' WHERE id = 77",
    "DELETE FROM s.names WHERE id = 78",
    "INSERT INTO s.names VALUES (399, 'through a view')",
    "UPDATE s.note SET customer = NULL WHERE id BETWEEN 20 AND 24",
    "DELETE FROM s.tag WHERE customer IN (SELECT id FROM s.customer WHERE id BETWEEN 120 AND 124)",
    "DELETE FROM s.customer c USING s.note n WHERE n.customer = c.id AND n.id IN (130, 131)",
    "UPDATE shop.products SET price = price + 1 WHERE id < 5",
    "DELETE FROM shop.order_items WHERE order_id = 7",
    "UPDATE s.item SET n = -n WHERE id % 100 = 0",
]
TRIGGERS = [
    "INSERT INTO s.audited VALUES (101, 'n'), (102, 'n')",
    "UPDATE s.audited SET v = 'u' WHERE id < 4",
    "DELETE FROM s.audited WHERE id IN (8, 9)",
    "UPDATE s.bulk SET v = 'u' WHERE id < 9",
    "DELETE FROM s.bulk WHERE id > 47",
    "UPDATE s.stamped SET v = 'u' WHERE id < 6",
    "INSERT INTO s.stamped (id, v) VALUES (100, 'n')",
    "INSERT INTO s.mailbox VALUES (1, 'a letter')",
    "UPDATE s.written SET v = 'u' WHERE id IN (1, 2)",
    "UPDATE shop.orders SET status = 'cancelled' WHERE id IN (11, 12)",
    "DELETE FROM shop.orders WHERE id = 13",
]
# Rows that change several times: what is told of which table.
SEVERAL = [
    ("UPDATE s.joined SET name = 'instead' WHERE id = 140", {"s.customer": (0, 2, 0)}),
    ("INSERT INTO s.counted SELECT g, 'n' FROM generate_series(101, 120) g", {"s.counter": (0, 20, 0)}),
    ("DELETE FROM s.counted WHERE id < 4", {"s.counter": (0, 3, 0)}),
]
OBJECTS = [
    "TRUNCATE s.runs",
    "TRUNCATE s.orders CASCADE",
    "TRUNCATE s.occasion",
    "TRUNCATE s.audit RESTART IDENTITY",
    "ALTER TABLE s.typed ALTER COLUMN a TYPE bigint",
    "ALTER TABLE s.typed ADD COLUMN c pg_catalog.timestamptz DEFAULT pg_catalog.clock_timestamp()",
    "ALTER TABLE s.typed ADD COLUMN d pg_catalog.text DEFAULT 'constant'",
    "ALTER TABLE s.typed DROP COLUMN b",
    "ALTER TABLE s.typed RENAME COLUMN d TO e",
    "ALTER TABLE s.typed ADD CONSTRAINT a_positive CHECK (a OPERATOR(pg_catalog.>) 0)",
    "ALTER TABLE s.typed ALTER COLUMN a SET NOT NULL",
    "CREATE INDEX typed_a ON s.typed (a)",
    "ALTER TABLE s.typed RENAME TO retyped",
    "CREATE TABLE s.fresh (id serial PRIMARY KEY, customer pg_catalog.int4 REFERENCES s.customer)",
    "CREATE TABLE s.copied AS SELECT id, name FROM s.customer WHERE id < 20",
    "SELECT id, name INTO s.copied_too FROM s.customer WHERE id < 20",
    "CREATE VIEW s.fresh_view AS SELECT id FROM s.fresh",
    "CREATE SEQUENCE s.fresh_seq",
    "CREATE TYPE s.fresh_type AS ENUM ('a')",
    "ALTER TYPE s.mood ADD VALUE 'happy'",
    "DROP INDEX s.typed_a",
    "DROP TYPE s.mood CASCADE",
    "DROP TABLE s.fresh CASCADE",
    "DROP VIEW s.old_long",
    "DROP TABLE s.old_parent CASCADE",
    "DROP TABLE s.old_grandchild",
    "COMMENT ON TABLE s.old_child IS 'orphaned'",
    "GRANT SELECT ON s.old_child TO postgres",
    "DROP SEQUENCE s.seq",
]

database = running = None


# --- pgwicket's side -------------------------------------------------------------------------------------------


def api(path, body=None):
    token = base64.b64encode(f"alice:{APPROVER_SECRET}".encode()).decode()
    request = urllib.request.Request(running.url + path, data=None if body is None else json.dumps(body).encode(),
                                     headers={"Authorization": f"Basic {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def send(sql):
    known = max((h["id"] for h in api("/api/holds")["holds"]), default=0)
    sender = Sender(running.connect(), sql)

    def asked():
        check(sender.error is None, f"{sql}: {sender.error}")
        return next((h for h in api("/api/holds?state=pending")["holds"] if h["id"] > known), None)
    hold = api(f"/api/holds/{eventually(asked, f'a hold of {sql}')['id']}")
    check(hold["effect"]["known"], f"{sql}: {hold['effect']}")
    return sender, hold


def release(sender, hold):
    api(f"/api/holds/{hold['id']}/release", {"digest": hold["digest"]})
    sender.result()
    check(sender.error is None, f"{hold['statement']}: {sender.error}")
    sender.connection.close()


# --- snapshots -------------------------------------------------------------------------------------------------


def tables():
    """Name → (key, filenode, number of rows)."""
    found = database.ask(
        "SELECT format('%I.%I', n.nspname, c.relname), (SELECT string_agg(quote_ident(a.attname), ', ') FROM pg_index i "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) WHERE i.indrelid = c.oid AND i.indisprimary), "
        "c.relfilenode, c.oid::int8 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname IN ('s', 'shop')")
    return {name: (key, filenode, oid) for name, key, filenode, oid in found}


def snapshot():
    found = {"tables": tables(), "rows": {}}
    found["rows"] = {name: {} for name in found["tables"]}
    query = " UNION ALL ".join(f"SELECT '{name}', {f'ROW({key})::text' if key else 'ctid::text'}, hashtextextended(ROW(t.*)::text, 0) FROM ONLY {name} t"
                               for name, (key, *_) in found["tables"].items())
    for name, key, digest in database.ask(query):
        found["rows"][name][key] = digest
    found["sequences"] = dict(database.ask("SELECT format('%I.%I', schemaname, sequencename), COALESCE(last_value, start_value - increment_by) FROM pg_sequences"))
    # Indexes of constraints come with them, and so do the types of tables and arrays.
    found["objects"] = set(map(tuple, database.ask("""
        SELECT i.type, i.identity FROM (
            SELECT 'pg_class'::regclass::oid, oid, 0 FROM pg_class WHERE relkind NOT IN ('c', 't') AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = pg_class.oid AND contype <> 'f')
            UNION ALL SELECT 'pg_class'::regclass, attrelid, attnum FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
            UNION ALL SELECT 'pg_constraint'::regclass, oid, 0 FROM pg_constraint
            UNION ALL SELECT 'pg_trigger'::regclass, oid, 0 FROM pg_trigger WHERE NOT tgisinternal
            UNION ALL SELECT 'pg_proc'::regclass, oid, 0 FROM pg_proc
            UNION ALL SELECT 'pg_type'::regclass, oid, 0 FROM pg_type WHERE typtype IN ('e', 'd')
        ) AS o(class, number, sub), pg_identify_object(class, number, sub) i WHERE number >= 16384 AND identity NOT LIKE 'pg_toast.%'""")))
    return found


def columns(state, table):
    return {name for kind, name in state["objects"] if kind == "table column" and name.startswith(table + ".")}


def row_changes(before, after):
    changes = {}
    for name in before["tables"].keys() & after["tables"].keys():
        if before["tables"][name][1] != after["tables"][name][1] or columns(before, name) != columns(after, name):
            continue # its rows are told with the file, or look different without being changed
        old, new = before["rows"][name], after["rows"][name]
        changed = [key for key in old.keys() & new.keys() if old[key] != new[key]]
        counts = (len(new.keys() - old.keys()), len(changed), len(old.keys() - new.keys()))
        if any(counts):
            changes[name] = counts
    for name in after["tables"].keys() - before["tables"].keys():
        renamed = after["tables"][name][2] in {oid for *_, oid in before["tables"].values()}
        if after["rows"][name] and not renamed:
            changes[name] = (len(after["rows"][name]), 0, 0)
    return changes


def with_whole_tables(changes):
    """Of a partitioned table the effect tells the whole: a row that moves is one row."""
    whole = {name: counts for name, counts in changes.items() if not name.startswith("s.occasion_")}
    ins, upd, dele = (sum(changes.get(f"s.occasion_{i}", (0, 0, 0))[j] for i in (1, 2)) for j in range(3))
    if ins + upd + dele:
        moved = min(ins, dele)
        whole["s.occasion"] = (ins - moved, upd + moved, dele - moved)
    return whole


def told_rows(hold):
    return {t["table"]: (t["inserted"], t["updated"], t["deleted"]) for t in hold["effect"]["tables"]}


def sequence_moves(before, after, rewritten):
    return {name: value - before["sequences"][name] for name, value in after["sequences"].items()
            if name in before["sequences"] and value != before["sequences"][name] and name not in rewritten}


def check_sequences(sql, hold, before, after):
    restarted = {o["name"] for o in hold["effect"]["objects"] if o["change"] == "restarted"}
    told = {r["name"]: r["by"] for r in hold["effect"]["not_undone"] if r["what"] == "sequence"}
    equal(told, sequence_moves(before, after, restarted), f"sequences of {sql}")


def run(sql):
    """The hold, and snapshots around the run alone: a rehearsal moves sequences, too."""
    unrehearsed = snapshot()
    sender, hold = send(sql)
    before = snapshot()
    equal({k: v for k, v in before.items() if k != "sequences"}, {k: v for k, v in unrehearsed.items() if k != "sequences"},
          f"nothing has happened yet: {sql}")
    release(sender, hold)
    return hold, before, snapshot()


def check_rows(sql, several=None):
    hold, before, after = run(sql)
    expected = with_whole_tables(row_changes(before, after))
    check(expected, f"{sql} changes something")
    if "SET id = " in sql: # a row whose key changes is another one in a snapshot
        expected["s.customer"] = (0, expected["s.customer"][0], 0)
    for name, counts in (several or {}).items():
        check(sum(expected[name]) < sum(counts), f"{sql}: rows of {name} change several times")
        expected[name] = counts
    equal(told_rows(hold), expected, sql)
    equal(hold["effect"]["objects"], [], sql)
    check_sequences(sql, hold, before, after)


def is_of(table, kind, name):
    return kind == "table column" and name.startswith(table + ".")


def without_columns_of(objects, whole):
    return {(kind, name) for kind, name in objects if not any(is_of(table, kind, name) for _, table in whole)}


def check_objects(sql):
    hold, before, after = run(sql)
    told = hold["effect"]["objects"]
    check(told, f"{sql} changes something")
    if " RENAME " not in sql: # which shows as other names of the same things
        for word, made in (("created", after["objects"] - before["objects"]), ("dropped", before["objects"] - after["objects"])):
            whole = {o for o in made if o[0] == "table"}
            equal({(o["kind"], o["name"]) for o in told if o["change"] == word}, without_columns_of(made, whole), f"{word} by {sql}")
    files = {name for name in before["tables"].keys() & after["tables"].keys() if before["tables"][name][1] != after["tables"][name][1]}
    equal({o["name"] for o in told if o["change"] in ("emptied", "rewritten")}, files, f"files of {sql}")
    for o in told:
        if o["kind"] == "table" and o["change"] in ("emptied", "dropped", "rewritten"):
            equal(o["rows"], len(before["rows"].get(o["name"], ())), f"rows of {o['name']}, {sql}")
        if o["change"] == "emptied":
            equal(len(after["rows"][o["name"]]), 0, sql)
    equal(told_rows(hold), with_whole_tables(row_changes(before, after)), f"rows of {sql}")
    check_sequences(sql, hold, before, after)


def test_rows():
    for sql in ROWS:
        check_rows(sql)


def test_triggers_and_rules():
    for sql in TRIGGERS:
        check_rows(sql)


def test_rows_that_change_several_times():
    for sql, told in SEVERAL:
        check_rows(sql, told)


def test_objects():
    for sql in OBJECTS:
        check_objects(sql)


def test_there_are_sixty():
    check(len(ROWS) + len(TRIGGERS) + len(SEVERAL) + len(OBJECTS) >= 60, "statements")


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SCHEMA)
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

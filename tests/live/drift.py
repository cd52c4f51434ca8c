"""What changed since a person was asked commits nothing and says what changed, whether it changed before the release or after
it; what did not change commits, whatever clocks, serials and triggers do."""
import os
import sys

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, main, some
from wicket import wicket

POLICY = """
    search_path: [pg_catalog]
    hidden: [d.concealed.id, d.rekeyed.ssn]
    hold: {wait: 1ms, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [d.*]
      - hold: [insert, update, delete, code]
        on: [d.*]
        unrehearsed: hold
"""
COMMON = """
CREATE SCHEMA d; GRANT USAGE ON SCHEMA d TO agent;
CREATE TABLE d.log (id bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), what text);
CREATE FUNCTION d.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.at := clock_timestamp(); RETURN NEW; END $$;
CREATE FUNCTION d.note() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO d.log (what) VALUES (TG_OP); RETURN NULL; END $$;
"""
# Each case has these of its own; {t} is the first.
TABLES = """
CREATE TABLE {t} (id int PRIMARY KEY, name text, n int DEFAULT 0, at timestamptz DEFAULT now());
CREATE TABLE {t}_c (id int PRIMARY KEY, parent int REFERENCES {t} ON DELETE CASCADE ON UPDATE CASCADE, v text);
CREATE TABLE {t}_g (id int PRIMARY KEY, child int REFERENCES {t}_c ON DELETE CASCADE);
CREATE TABLE {t}_l (id int PRIMARY KEY, parent int REFERENCES {t} ON DELETE SET NULL);
INSERT INTO {t} SELECT g, 'p' || g FROM generate_series(1, 10) g;
INSERT INTO {t}_c SELECT g, 1 + g % 8, 'c' FROM generate_series(1, 20) g;
INSERT INTO {t}_g SELECT g, 1 + g % 20 FROM generate_series(1, 40) g;
INSERT INTO {t}_l SELECT g, 1 + g % 8 FROM generate_series(1, 10) g;
"""
AUDITED = "CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON {t} FOR EACH ROW EXECUTE FUNCTION d.note()"
TOUCHED = "CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON {t} FOR EACH ROW EXECUTE FUNCTION d.touch()"
KEYLESS = "CREATE TABLE {t}_k (a int, b text); INSERT INTO {t}_k VALUES (1, 'x'), (2, 'y')"
PARTED = ("CREATE TABLE {t}_p (id int, part int, v text, PRIMARY KEY (id, part)) PARTITION BY LIST (part); "
          "CREATE TABLE {t}_p1 PARTITION OF {t}_p FOR VALUES IN (1); CREATE TABLE {t}_p2 PARTITION OF {t}_p DEFAULT; "
          "INSERT INTO {t}_p SELECT g, 1 + g % 2, 'v' FROM generate_series(1, 10) g")
DERIVED = "CREATE TABLE {t}_d () INHERITS ({t}); INSERT INTO {t}_d (id, name) VALUES (101, 'd')"
VIEW = "CREATE VIEW {t}_v AS SELECT id, n FROM {t} WHERE id < 5"
DEFAULTED = ("CREATE TABLE {t}_f (id int PRIMARY KEY, parent int DEFAULT 10 REFERENCES {t} ON DELETE SET DEFAULT); "
             "INSERT INTO {t}_f VALUES (1, 3), (2, 7)")
CHILD_WITHOUT_KEY = "CREATE TABLE {t}_k (a int REFERENCES {t} ON DELETE CASCADE, b text); INSERT INTO {t}_k VALUES (3, 'x')"
PARTED_CHILD = ("CREATE TABLE {t}_q (id int, part int, parent int REFERENCES {t} ON DELETE CASCADE, PRIMARY KEY (id, part)) "
                "PARTITION BY LIST (part); CREATE TABLE {t}_q1 PARTITION OF {t}_q FOR VALUES IN (1); "
                "CREATE TABLE {t}_q2 PARTITION OF {t}_q FOR VALUES IN (2); INSERT INTO {t}_q VALUES (1, 1, 3), (2, 2, 7)")
TREE = ("CREATE TABLE {t}_r (id int PRIMARY KEY, up int REFERENCES {t}_r ON DELETE CASCADE); "
        "INSERT INTO {t}_r VALUES (1, NULL), (2, 1), (3, 2), (4, NULL), (5, 4), (6, 5)")
CODED = ("CREATE TABLE {t}_u (id int PRIMARY KEY, code int NOT NULL UNIQUE); "
         "CREATE TABLE {t}_w (id int PRIMARY KEY, code int UNIQUE REFERENCES {t}_u (code) ON UPDATE CASCADE); "
         "CREATE TABLE {t}_x (id int PRIMARY KEY, code int REFERENCES {t}_w (code) ON UPDATE CASCADE); "
         "CREATE TABLE {t}_y (id int PRIMARY KEY, code int REFERENCES {t}_u (code) ON UPDATE SET NULL); "
         "INSERT INTO {t}_u VALUES (1, 10), (2, 20); INSERT INTO {t}_w VALUES (1, 10), (2, 20); "
         "INSERT INTO {t}_x VALUES (1, 10), (2, 20); INSERT INTO {t}_y VALUES (1, 10), (2, 20)")
RECODE = "UPDATE {t}_u SET code = code + 100 WHERE id = 1"
DELETE = "DELETE FROM {t} WHERE id BETWEEN 2 AND 4"
BY_NAME = "DELETE FROM {t} WHERE name = 'q'"
NAMED = "UPDATE {t} SET name = 'q' WHERE id IN (2, 3)"
UPSERT = "INSERT INTO {t} (id, name) VALUES (3, 'u'), (30, 'u') ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name"
MERGE = ("MERGE INTO {t} USING (VALUES (3, 'm'), (40, 'm')) v(id, name) ON {t}.id = v.id WHEN MATCHED THEN UPDATE SET name = v.name "
         "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.name)")

# name: what is made beforehand, the statement, and what changes before it runs
DRIFTS = {
    "a row added": (None, "DELETE FROM {t} WHERE id > 8", "INSERT INTO {t} (id) VALUES (11)"),
    "a row removed": (None, DELETE, "DELETE FROM {t} WHERE id = 3"),
    "all rows removed": (None, DELETE, "DELETE FROM {t} WHERE id < 9"),
    "emptied": (None, DELETE, "TRUNCATE {t} CASCADE"),
    "a row changed": (None, DELETE, "UPDATE {t} SET n = 7 WHERE id = 3"),
    "a time changed": (None, DELETE, "UPDATE {t} SET at = '2001-01-01' WHERE id = 3"),
    "a row that is updated changed elsewhere": (None, "UPDATE {t} SET name = 'z' WHERE id = 3", "UPDATE {t} SET n = 7 WHERE id = 3"),
    "the new value comes from what changed": (None, "UPDATE {t} SET n = n + 1 WHERE id = 3", "UPDATE {t} SET n = 7 WHERE id = 3"),
    "already as it should be": (None, "UPDATE {t} SET n = 7 WHERE id = 3", "UPDATE {t} SET n = 7 WHERE id = 3"),
    "moved into the predicate": (NAMED, BY_NAME, "UPDATE {t} SET name = 'q' WHERE id = 5"),
    "moved out of the predicate": (NAMED, BY_NAME, "UPDATE {t} SET name = 'r' WHERE id = 2"),
    "one in and one out": (NAMED, BY_NAME, "UPDATE {t} SET name = CASE id WHEN 2 THEN 'r' ELSE 'q' END WHERE id IN (2, 5)"),
    "added and removed": (None, "DELETE FROM {t} WHERE id > 8", "DELETE FROM {t} WHERE id = 9; INSERT INTO {t} (id) VALUES (11)"),
    "deleted and inserted otherwise": (None, "DELETE FROM {t} WHERE id > 8",
                                       "DELETE FROM {t} WHERE id = 9; INSERT INTO {t} (id, name) VALUES (9, 'other')"),
    "another key": (None, "DELETE FROM {t} WHERE id > 8", "UPDATE {t} SET id = 12 WHERE id = 9"),
    "more children": (None, DELETE, "INSERT INTO {t}_c VALUES (50, 3, 'more')"),
    "fewer children": (None, DELETE, "DELETE FROM {t}_c WHERE parent = 3"),
    "children of another": (None, DELETE, "UPDATE {t}_c SET parent = 3 WHERE parent = 7"),
    "as many children of another": (None, DELETE, "UPDATE {t}_c SET parent = CASE id WHEN 2 THEN 7 ELSE 3 END WHERE id IN (2, 6)"),
    "children that change their parents": (None, DELETE, "UPDATE {t}_c SET parent = CASE id WHEN 1 THEN 3 ELSE 2 END WHERE id IN (1, 2)"),
    "another child": (None, DELETE, "INSERT INTO {t}_c VALUES (50, 3, 'c'); UPDATE {t}_g SET child = 50 WHERE child = 2; "
                      "DELETE FROM {t}_c WHERE id = 2"),
    "as many grandchildren of another": (None, DELETE, "UPDATE {t}_g SET child = CASE id WHEN 1 THEN 6 ELSE 2 END WHERE id IN (1, 5)"),
    "others that are set to null": (None, DELETE, "UPDATE {t}_l SET parent = CASE id WHEN 2 THEN 7 ELSE 3 END WHERE id IN (2, 6)"),
    "others that are set to their default": (DEFAULTED, DELETE, "UPDATE {t}_f SET parent = CASE id WHEN 1 THEN 7 ELSE 3 END"),
    "a child without a key": (CHILD_WITHOUT_KEY, DELETE, "UPDATE {t}_k SET b = 'z'"),
    "others in a partition": (PARTED_CHILD, DELETE, "UPDATE {t}_q SET parent = CASE id WHEN 1 THEN 7 ELSE 3 END"),
    "another branch of a tree": (TREE, "DELETE FROM {t}_r WHERE id = 1", "UPDATE {t}_r SET up = CASE id WHEN 3 THEN 5 ELSE 2 END WHERE id IN (3, 6)"),
    "another child of a key that changes": (CODED, RECODE, "UPDATE {t}_w SET id = 7 WHERE id = 1"),
    "other grandchildren of a key that changes": (CODED, RECODE, "UPDATE {t}_x SET code = CASE id WHEN 1 THEN 20 ELSE 10 END"),
    "others that lose a key that changes": (CODED, RECODE, "UPDATE {t}_y SET code = CASE id WHEN 1 THEN 20 ELSE 10 END"),
    "an upsert that changes a key": (CODED, "INSERT INTO {t}_u (id, code) VALUES (1, 110) ON CONFLICT (id) DO UPDATE SET code = EXCLUDED.code",
                                     "UPDATE {t}_x SET code = CASE id WHEN 1 THEN 20 ELSE 10 END"),
    "more grandchildren": (None, DELETE, "INSERT INTO {t}_g SELECT 60, id FROM {t}_c WHERE parent = 3 LIMIT 1"),
    "fewer grandchildren": (None, DELETE, "DELETE FROM {t}_g WHERE child IN (SELECT id FROM {t}_c WHERE parent = 3)"),
    "more that are set to null": (None, DELETE, "INSERT INTO {t}_l VALUES (60, 3)"),
    "fewer that are set to null": (None, DELETE, "UPDATE {t}_l SET parent = NULL WHERE parent = 3"),
    "a source row added": (KEYLESS, "INSERT INTO {t} (id, name) SELECT a + 20, b FROM {t}_k", "INSERT INTO {t}_k VALUES (3, 'z')"),
    "a source row changed": (KEYLESS, "INSERT INTO {t} (id, name) SELECT a + 20, b FROM {t}_k", "UPDATE {t}_k SET b = 'z' WHERE a = 1"),
    "a source row removed": (KEYLESS, "INSERT INTO {t} (id, name) SELECT a + 20, b FROM {t}_k", "DELETE FROM {t}_k WHERE a = 1"),
    "what a star gives changed": (KEYLESS, "INSERT INTO {t}_g SELECT * FROM (SELECT a + 40, a FROM {t}_k) k", "UPDATE {t}_k SET a = 7 WHERE a = 1"),
    "a sum of a source changed": (KEYLESS, "INSERT INTO {t} (id, name, n) SELECT 20, 'sum', sum(a) FROM {t}_k", "UPDATE {t}_k SET a = 7 WHERE a = 1"),
    "one of two sources changed": (KEYLESS, "INSERT INTO {t} (id, name) SELECT 20, 'one' UNION SELECT 21, b FROM {t}_k WHERE a = 1",
                                   "UPDATE {t}_k SET b = 'z' WHERE a = 1"),
    "a sub-select's row changed": (KEYLESS, "UPDATE {t} SET name = (SELECT b FROM {t}_k WHERE a = 1) WHERE id = 3", "UPDATE {t}_k SET b = 'z' WHERE a = 1"),
    "sub-selects' rows changed": (KEYLESS, "UPDATE {t} SET (n, name) = (SELECT sum(a), 'x' FROM {t}_k) WHERE id = 3", "UPDATE {t}_k SET a = 7 WHERE a = 1"),
    "a sub-select's row changed under a trigger": (KEYLESS + "; " + TOUCHED, "UPDATE {t} SET name = (SELECT b FROM {t}_k WHERE a = 1) WHERE id = 3",
                                                   "UPDATE {t}_k SET b = 'z' WHERE a = 1"),
    "a sub-select's row of a new one changed": (KEYLESS, "INSERT INTO {t} (id, name) VALUES (20, (SELECT b FROM {t}_k WHERE a = 1))",
                                                "UPDATE {t}_k SET b = 'z' WHERE a = 1"),
    "a joined row changed": (KEYLESS, "UPDATE {t} SET name = k.b FROM {t}_k k WHERE k.a = {t}.id", "UPDATE {t}_k SET b = 'z' WHERE a = 1"),
    "a joined row added": (KEYLESS, "DELETE FROM {t} USING {t}_k k WHERE k.a = {t}.id", "INSERT INTO {t}_k VALUES (3, 'z')"),
    "what would be inserted is there": (None, UPSERT, "INSERT INTO {t} (id) VALUES (30)"),
    "what would be updated is gone": (None, UPSERT, "DELETE FROM {t} WHERE id = 3"),
    "what would be updated changed": (None, UPSERT, "UPDATE {t} SET n = 7 WHERE id = 3"),
    "a merge that finds one less": (None, MERGE, "DELETE FROM {t} WHERE id = 3"),
    "a row of a partition": (PARTED, "UPDATE {t}_p SET v = 'w' WHERE id = 4", "UPDATE {t}_p SET v = 'x' WHERE id = 4"),
    "a row of another partition": (PARTED, "DELETE FROM {t}_p WHERE id = 4", "UPDATE {t}_p SET part = 3 - part WHERE id = 4"),
    "a row of an inheritance child": (DERIVED, "UPDATE {t} SET n = 1 WHERE name = 'd'", "INSERT INTO {t}_d (id, name) VALUES (102, 'd')"),
    "a row of a table without a key": (KEYLESS, "DELETE FROM {t}_k WHERE a > 0", "INSERT INTO {t}_k VALUES (3, 'z')"),
    "a row behind a view": (VIEW, "UPDATE {t}_v SET n = 5 WHERE id > 2", "DELETE FROM {t} WHERE id = 3"),
    "another value behind a view": (VIEW, "UPDATE {t}_v SET n = 5 WHERE id > 2", "UPDATE {t} SET n = 7 WHERE id = 3"),
    "as many rows behind a view": (VIEW, "UPDATE {t}_v SET n = 5 WHERE n = 0 AND id < 4", "UPDATE {t} SET n = 8 WHERE id = 3; "
                                   "INSERT INTO {t} (id) VALUES (0)"),
    "as many deleted behind a view": (VIEW, "DELETE FROM {t}_v WHERE n = 0", "UPDATE {t} SET n = 8 WHERE id = 3; INSERT INTO {t} (id) VALUES (0); "
                                      "UPDATE {t}_c SET parent = 0 WHERE parent = 3; UPDATE {t}_l SET parent = 0 WHERE parent = 3"),
    "a view that shows others": (VIEW, "UPDATE {t}_v SET n = 5 WHERE id > 1", "CREATE OR REPLACE VIEW {t}_v AS SELECT id, n FROM {t} WHERE id < 8"),
    "inner statement": (None, "WITH w AS (DELETE FROM {t}_l WHERE parent = 5 RETURNING parent) UPDATE {t} SET n = 1 WHERE id IN (SELECT parent FROM w)",
                        "INSERT INTO {t}_l VALUES (70, 5)"),
    "a trigger added": (None, DELETE, AUDITED),
    "a statement trigger added": (None, DELETE, "CREATE TRIGGER s BEFORE DELETE ON {t} FOR EACH STATEMENT EXECUTE FUNCTION d.note()"),
    "a child's trigger added": (None, DELETE, "CREATE TRIGGER s AFTER DELETE ON {t}_c FOR EACH ROW EXECUTE FUNCTION d.note()"),
    "a trigger dropped": (AUDITED, DELETE, "DROP TRIGGER note ON {t}"),
    "a trigger disabled": (AUDITED, DELETE, "ALTER TABLE {t} DISABLE TRIGGER note"),
    "a foreign key dropped": (None, DELETE, "ALTER TABLE {t}_c DROP CONSTRAINT {c}_c_parent_fkey"),
    "another action of a foreign key": (None, DELETE, "ALTER TABLE {t}_c DROP CONSTRAINT {c}_c_parent_fkey, "
                                        "ADD FOREIGN KEY (parent) REFERENCES {t} ON DELETE SET NULL"),
    "a foreign key added": (KEYLESS, DELETE, "INSERT INTO {t}_k VALUES (3, 'z'); ALTER TABLE {t}_k ADD FOREIGN KEY (a) REFERENCES {t} ON DELETE CASCADE"),
    "a column added": (None, DELETE, "ALTER TABLE {t} ADD more int DEFAULT 1"),
    "row security": (None, DELETE, "ALTER TABLE {t} ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON {t} USING (id <> 3)"),
}
# What happens beside it, or is decided when it runs, is no drift.
STEADY = {
    "serial": ("CREATE TABLE {t}_s (id serial PRIMARY KEY, v text, at timestamptz DEFAULT now(), u uuid DEFAULT gen_random_uuid(), "
               "r float DEFAULT random(), g int GENERATED ALWAYS AS (length(v)) STORED); GRANT ALL ON SEQUENCE {t}_s_id_seq TO agent",
               "INSERT INTO {t}_s (v) VALUES ('a'), ('b')", "INSERT INTO {t}_s (v) VALUES ('c')"),
    "identity": ("CREATE TABLE {t}_s (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v text)", "INSERT INTO {t}_s (v) VALUES ('a')",
                 "INSERT INTO {t}_s (v) VALUES ('c')"),
    "now": (None, "UPDATE {t} SET at = now(), n = 5 WHERE id = 3", None),
    "clock": (None, "INSERT INTO {t} (id, at) VALUES (30, clock_timestamp())", None),
    "updated_at": (TOUCHED, "UPDATE {t} SET n = 5 WHERE id = 3", None),
    "updated_at of what is set": (TOUCHED, "UPDATE {t} SET at = '2001-01-01' WHERE id = 3", None),
    "updated_at of a new row": (TOUCHED, "INSERT INTO {t} (id, at) VALUES (30, '2001-01-01')", None),
    "audit": (AUDITED, DELETE, "INSERT INTO d.log (what) VALUES ('other')"),
    "audit and updated_at": (AUDITED + "; " + TOUCHED, UPSERT, None),
    "a clock in a sub-select": (KEYLESS, "UPDATE {t} SET at = (SELECT now() FROM {t}_k WHERE a = 1) WHERE id = 3", None),
    "a clock behind a star": (KEYLESS, "INSERT INTO {t} (id, at) SELECT * FROM (SELECT a + 20, clock_timestamp() FROM {t}_k) k", None),
    "a clock in a source": (KEYLESS, "UPDATE {t} SET at = k.at FROM (SELECT a, clock_timestamp() AS at FROM {t}_k) k WHERE k.a = {t}.id", None),
    "sub-selects": (KEYLESS, "UPDATE {t} SET name = (SELECT b FROM {t}_k WHERE a = 1), n = (SELECT count(*) FROM {t}_k) WHERE id = 3",
                    "UPDATE {t} SET n = 9 WHERE id = 7"),
    "updated_at and a sub-select": (KEYLESS + "; " + TOUCHED, "UPDATE {t} SET name = (SELECT b FROM {t}_k WHERE a = 1), at = '2001-01-01' WHERE id = 3",
                                    None),
    "what a star gives": (KEYLESS, "INSERT INTO {t}_l SELECT * FROM (SELECT a + 40, a FROM {t}_k) k", "UPDATE {t} SET n = 9 WHERE id = 7"),
    "an upsert of the moment": (None, "INSERT INTO {t} (id, at) VALUES (3, '2001-01-01') ON CONFLICT (id) DO UPDATE SET at = now()", None),
    "instead of": (VIEW + "; CREATE FUNCTION {t}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE {t} SET n = NEW.n WHERE id = NEW.id; "
                   "RETURN NEW; END $$; CREATE TRIGGER i INSTEAD OF UPDATE ON {t}_v FOR EACH ROW EXECUTE FUNCTION {t}_f()",
                   "UPDATE {t}_v SET n = 5 WHERE id = 3", None),
    "deferred": ("CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON {t} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION d.note()",
                 "UPDATE {t} SET n = 5 WHERE id = 3", None),
    "another row": (None, DELETE, "UPDATE {t} SET n = 9 WHERE id = 7; INSERT INTO {t} (id) VALUES (33); DELETE FROM {t} WHERE id = 9"),
    "a child's value": (None, DELETE, "UPDATE {t}_c SET v = 'other' WHERE parent = 3"),
    "other children": (None, DELETE, "INSERT INTO {t}_c VALUES (50, 7, 'more')"),
    "more children of an upsert": (None, UPSERT, "INSERT INTO {t}_c VALUES (50, 3, 'more')"),
    "a child without a key elsewhere": (CHILD_WITHOUT_KEY, DELETE, "INSERT INTO {t}_k VALUES (7, 'y')"),
    "a tree": (TREE, "DELETE FROM {t}_r WHERE id = 1", "DELETE FROM {t}_r WHERE id = 6"),
    "children in partitions": (PARTED_CHILD, DELETE, "DELETE FROM {t}_q WHERE id = 2"),
    "a key that changes for others": (CODED, RECODE, "INSERT INTO {t}_x VALUES (9, 20)"),
    "the same again": (None, DELETE, "UPDATE {t} SET n = n WHERE id = 3"),
    "an index": (None, DELETE, "CREATE INDEX ON {t} (n); ANALYZE {t}; COMMENT ON TABLE {t} IS 'x'"),
    "partition": (PARTED, "UPDATE {t}_p SET part = 3 - part WHERE id = 4", "UPDATE {t}_p SET v = 'x' WHERE id = 5"),
    "merge": (None, MERGE, "UPDATE {t} SET n = 9 WHERE id = 7"),
    "view": (VIEW, "UPDATE {t}_v SET n = 5 WHERE id = 3", "UPDATE {t} SET n = 9 WHERE id = 7"),
    "upsert that sets its key": (None, UPSERT + ", id = EXCLUDED.id, at = now()", "UPDATE {t} SET n = 9 WHERE id = 7"),
    "key": (None, "UPDATE {t} SET id = id + 100 WHERE id = 9", "UPDATE {t} SET n = 9 WHERE id = 7"),
}
MOMENTS = ("before", "after") # the release; half of the cases, each with one of them in turn, and with --long all with both
LONG = bool(os.environ.get("PGWICKET_LONG"))

database = running = None


def cases(table):
    for number, (name, texts) in enumerate(table.items()):
        for moment in MOMENTS if LONG else (MOMENTS[number // 2 % 2],):
            own = f"{'s' if table is STEADY else 't'}{number}_{moment}"
            made, sql, change = (text and text.replace("{t}", "d." + own).replace("{c}", own) for text in texts)
            yield f"{name}, {moment} the release", own, made, sql.replace("d." + own + ".", own + "."), change, moment


def state(own):
    """Every row of the case's tables."""
    tables = [row[0] for row in database.ask(f"SELECT relname FROM pg_class WHERE relnamespace = 'd'::regnamespace AND relkind = 'r' "
                                             f"AND (relname = '{own}' OR relname LIKE '{own}\\_%') ORDER BY 1")]
    return database.ask(" UNION ALL ".join(f"SELECT '{t}', md5(string_agg(r::text, ',' ORDER BY r::text)), count(*) FROM d.{t} r"
                                           for t in tables))


def hold_of(session, sql, what):
    try:
        session.cursor().execute(sql)
    except psycopg2.Error as error:
        equal(error.pgcode, "55PW1", f"{what}: {error}")
    else:
        raise AssertionError(f"{what}: was not held")
    hold = running.api("holds?state=pending")["holds"][0]
    return running.api(f"holds/{hold['id']}")


def release_around(hold, change, moment):
    if change and moment == "before":
        database.ask(change)
    running.api(f"holds/{hold['id']}/release", digest=hold["digest"])
    if change and moment == "after":
        database.ask(change)


def check_drift(session, what, own, sql, change, moment):
    hold = hold_of(session, sql, what)
    check(hold["effect"]["known"], f"{what}: {hold['effect']}")
    release_around(hold, change, moment)
    before = state(own)
    try:
        session.cursor().execute(f"EXECUTE pgwicket_hold({hold['id']})")
    except psycopg2.Error as error:
        equal(error.pgcode, "55PW3", f"{what}: {error}")
        told = f"{error.diag.message_primary} {error.diag.message_detail}"
    else:
        raise AssertionError(f"{what}: ran")
    equal(state(own), before, what)
    again = running.api(f"holds/{hold['id']}")
    equal(again["state"], "drifted", what)
    check("Different from what was approved: " in told and not told.endswith("approved: ."), f"{what}: {told}")
    check(f"hold {again['replaced_by']}" in told, f"{what}: {told}")
    new = running.api(f"holds/{again['replaced_by']}")
    equal(new["state"], "pending", what)
    running.api(f"holds/{new['id']}/refuse", digest=new["digest"], reason="enough")


def test_a_drift_commits_nothing():
    problems = []
    session = running.connect()
    for what, own, _, sql, change, moment in some(cases(DRIFTS), 2):
        try:
            check_drift(session, what, own, sql, change, moment)
        except AssertionError as problem:
            problems.append(str(problem))
    check(not problems, f"{len(problems)}:\n" + "\n".join(problems))


def test_without_a_drift_it_commits():
    problems = []
    session = running.connect()
    for what, own, _, sql, change, moment in some(cases(STEADY), 2):
        try:
            hold = hold_of(session, sql, what)
            check(hold["effect"]["known"], f"{what}: {hold['effect']}")
            release_around(hold, change, moment)
            before = state(own)
            session.cursor().execute(f"EXECUTE pgwicket_hold({hold['id']})")
            equal(running.api(f"holds/{hold['id']}")["state"], "executed", what)
            check(state(own) != before, f"{what}: nothing was done")
        except (AssertionError, psycopg2.Error) as problem:
            problems.append(f"{what}: {problem}")
    check(not problems, f"{len(problems)}:\n" + "\n".join(problems))


# statement → what its hold is bound by, and are the target's own rows compared?
BOUND = {
    "DELETE FROM d.bound WHERE id = 1": ("rows", True),
    "DELETE FROM d.bound_v WHERE id = 1": ("counts", True),
    "UPDATE d.bound_v SET n = 1 WHERE id = 1": ("rows", True),
    "UPDATE d.bound SET n = 1 WHERE id = 1": ("rows", True),
    "UPDATE d.bound SET id = 77 WHERE id = 1": ("counts", False),
    "DELETE FROM d.unread WHERE id = 1": ("counts", True),
    "DELETE FROM d.unread WHERE id = 1 AND now() > '2001-01-01'": ("counts", True),
    "UPDATE d.unread SET n = 1 WHERE id = 1": ("rows", True),
    "DELETE FROM d.secured WHERE id = 1": ("counts", True),
    "DELETE FROM d.deep WHERE id = 7": ("rows", True),
    "DELETE FROM d.deep WHERE id = 1": ("counts", True),
}
BOUND_TABLES = """
CREATE TABLE d.bound (id int PRIMARY KEY, n int DEFAULT 0); CREATE VIEW d.bound_v AS SELECT * FROM d.bound;
CREATE TABLE d.bound_c (id int PRIMARY KEY, up int REFERENCES d.bound ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE d.unread (id int PRIMARY KEY, n int DEFAULT 0);
CREATE TABLE d.unread_c (id int PRIMARY KEY, up int REFERENCES d.unread ON DELETE CASCADE);
CREATE TABLE d.secured (id int PRIMARY KEY);
CREATE TABLE d.secured_c (id int PRIMARY KEY, up int REFERENCES d.secured ON DELETE CASCADE);
ALTER TABLE d.secured_c ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON d.secured_c USING (id > 1);
CREATE TABLE d.deep (id int PRIMARY KEY, up int REFERENCES d.deep ON DELETE CASCADE);
INSERT INTO d.bound SELECT generate_series(1, 4); INSERT INTO d.bound_c SELECT g, g FROM generate_series(1, 4) g;
INSERT INTO d.unread SELECT generate_series(1, 4); INSERT INTO d.unread_c SELECT g, g FROM generate_series(1, 4) g;
INSERT INTO d.secured SELECT generate_series(1, 4); INSERT INTO d.secured_c SELECT g, g FROM generate_series(1, 4) g;
INSERT INTO d.deep SELECT g, nullif(g - 1, 0) FROM generate_series(1, 10) g;
"""


def test_the_hold_says_what_it_is_bound_by():
    session = running.connect()
    for sql, (bound, compared) in BOUND.items():
        hold = hold_of(session, sql, sql)
        rows = hold["effect"]["rows"]
        equal(hold["effect"]["bound"], bound, f"{sql}: {hold['effect']}")
        equal(bool(rows and rows["fingerprint"]), compared, f"{sql}: {hold['effect']}")
        running.api(f"holds/{hold['id']}/refuse", digest=hold["digest"], reason="enough")


def test_what_may_not_be_read_is_bound_by_counts_and_the_target_by_rows():
    session = running.connect()
    hold = hold_of(session, "DELETE FROM d.unread WHERE n = 0", "unread")
    release_around(hold, "UPDATE d.unread_c SET id = id + 10", "after")
    session.cursor().execute(f"EXECUTE pgwicket_hold({hold['id']})")
    equal(database.ask("SELECT count(*) FROM d.unread")[0][0], 0)
    database.ask("INSERT INTO d.unread SELECT generate_series(1, 4)")
    hold = hold_of(session, "DELETE FROM d.unread WHERE n = 0", "unread")
    release_around(hold, "UPDATE d.unread SET id = 9 WHERE id = 4", "after")
    try:
        session.cursor().execute(f"EXECUTE pgwicket_hold({hold['id']})")
    except psycopg2.Error as error:
        equal(error.pgcode, "55PW3", error)
    else:
        raise AssertionError("ran with another row")


# table, what changes, what the agent is told, what the approver
TOLD_TABLES = '''
CREATE TABLE d.told (id int PRIMARY KEY, n int DEFAULT 0); INSERT INTO d.told SELECT generate_series(1, 9);
CREATE TABLE d.told_c (id int PRIMARY KEY, up int REFERENCES d.told ON DELETE CASCADE); INSERT INTO d.told_c VALUES (1, 1);
CREATE TABLE d.pairs (a int, b text, n int DEFAULT 0, PRIMARY KEY (a, b)); INSERT INTO d.pairs SELECT g, 'x' FROM generate_series(1, 9) g;
CREATE TABLE d.concealed (id text PRIMARY KEY, n int DEFAULT 0); INSERT INTO d.concealed SELECT 'secret ' || g FROM generate_series(1, 9) g;
CREATE TABLE d.rekeyed (ssn text PRIMARY KEY, id int NOT NULL, n int DEFAULT 0); INSERT INTO d.rekeyed SELECT 'secret ' || g, g FROM generate_series(1, 9) g;
CREATE TABLE d.many (id int PRIMARY KEY, n int DEFAULT 0); INSERT INTO d.many SELECT generate_series(1, 300);
'''
TOLD = [
    ("told", "INSERT INTO d.told VALUES (20, 0)", "d.told 9 deleted, now 10 deleted; rows added: id 20"),
    ("told", "DELETE FROM d.told WHERE id = 20; DELETE FROM d.told WHERE id = 9", "d.told 10 deleted, now 8 deleted; rows gone: id 9, 20"),
    ("told", "INSERT INTO d.told VALUES (9, 0); DELETE FROM d.told WHERE id = 8",
     "d.told with what cascades reach from it: the same numbers, but other rows, or rows with other values; rows added: id 9; rows gone: id 8"),
    ("told", "UPDATE d.told_c SET up = 2", "d.told with what cascades reach from it: the same numbers, but other rows, or rows with other values; "
     "rows that are other than before: id 1, 2"),
    ("told", "UPDATE d.told_c SET up = 3; INSERT INTO d.told SELECT generate_series(11, 18)",
     "d.told 8 deleted, now 16 deleted; rows added: id 11, 12, 13, 14, 15 and 3 more; rows that are other than before: id 2, 3"),
    ("pairs", "UPDATE d.pairs SET a = 70 WHERE a = 7", "d.pairs: the same numbers, but other rows, or rows with other values; "
     'rows added: (a, b) (70, "x"); rows gone: (a, b) (7, "x")'),
    ("many", "DELETE FROM d.many WHERE id = 7", "d.many 300 deleted, now 299 deleted"),
    ("many", "DELETE FROM d.many WHERE id > 150", "d.many 299 deleted, now 149 deleted"),
    ("concealed", "DELETE FROM d.concealed WHERE id = 'secret 1'", "d.concealed 9 deleted, now 8 deleted; rows gone: 1"),
    ("rekeyed", "ALTER TABLE d.rekeyed DROP CONSTRAINT rekeyed_pkey, ADD PRIMARY KEY (id); DELETE FROM d.rekeyed WHERE id = 4",
     "d.rekeyed 9 deleted, now 8 deleted"),
]


def test_it_is_told_which_rows_differ():
    session = running.connect()
    for table, change, told in TOLD:
        hold = hold_of(session, f"DELETE FROM d.{table} WHERE n = 0", table)
        release_around(hold, change, "after")
        try:
            session.cursor().execute(f"EXECUTE pgwicket_hold({hold['id']})")
        except psycopg2.Error as error:
            equal(sorted(error.diag.message_detail.split("approved: ")[1].rstrip(".").split("; ")), sorted(told.split("; ")), change)
        else:
            raise AssertionError(f"{change}: ran")
        hold = running.api(f"holds/{hold['id']}")
        check("secret" not in hold["outcome"]["error"], hold["outcome"]) # of which the agent is told, too
        if table == "concealed":
            check('"secret 1"' in str(hold["effect"]["rows"]["named"]), "the approver sees all rows")
        new = running.api(f"holds/{hold['replaced_by']}")
        running.api(f"holds/{new['id']}/refuse", digest=new["digest"], reason="enough")


def test_there_are_enough_scenarios():
    check(len(DRIFTS) >= 40, len(DRIFTS))


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(COMMON)
        for table in (DRIFTS, STEADY):
            for _, own, made, _, _, _ in cases(table):
                database.ask(TABLES.replace("{t}", "d." + own) + (made or ""))
        database.ask(BOUND_TABLES + TOLD_TABLES)
        database.ask("GRANT ALL ON ALL TABLES IN SCHEMA d TO agent; GRANT ALL ON ALL SEQUENCES IN SCHEMA d TO agent; REVOKE SELECT ON d.unread_c FROM agent; "
                     "ANALYZE")
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

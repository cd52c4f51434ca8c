"""State that moves: what a name means is judged for all that it could mean by the time it is used."""
import os
import signal
import string
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, CONFIGURATION, Database, Wicket

# Tables of its own in dev, temporary tables, and the shop's orders to read and, row by row, to write.
MAKER = """
    search_path: [dev, shop]
    introspection: allow
    hidden: [shop.customers.ssn]
    rules:
      - allow: [all]
        on: ["dev.*", "pg_temp.*"]
      - allow: [select]
        on: [shop.orders, shop.customers]
      - allow: [update]
        on: [shop.orders]
        where: key
      - allow: [call]
        on: [shop.leaves_a_table]
"""

# Makes tables, but no code.
PLAIN = """
    search_path: [dev, shop]
    rules:
      - allow: [select, insert, update, delete, create, alter, drop]
        on: ["dev.*", "pg_temp.*"]
      - allow: [select]
        on: [shop.orders, shop.products]
      - allow: [update]
        on: [shop.orders]
        where: key
"""

# Calls a named function of the owner, and makes nothing.
CALLER = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: ["shop.*"]
      - allow: [delete]
        on: [shop.orders]
      - allow: [call]
        on: [shop.leaves_a_table, shop.moves_the_path]
"""

# Reads one of two tables of the same name; the database lets it into the second schema only.
FRONT = """
    search_path: [front, shop]
    rules:
      - allow: [select]
        on: [front.orders]
"""
BEHIND = FRONT.replace("on: [front.orders]", "on: [shop.orders]")

# The role that it may take is let into the second schema only.
STEPPING = """
    search_path: [dev, shop]
    rules:
      - allow: [select]
        on: [dev.twice]
      - allow: [set]
        on: ["role:*", "setting:role"]
"""

# Runs code that it writes itself.
DOER = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: ["shop.*"]
      - allow: [code]
        on: ["language:plpgsql"]
"""

# Neither calls nor makes anything: what runs, runs by itself.
WRITER = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: ["shop.*"]
        not_columns: [shop.customers.ssn]
      - allow: [insert, update, delete, truncate]
        on: ["shop.h_*"]
      - allow: [set]
        on: ["setting:constraints"]
"""

# Takes another role by itself.
TENANT = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: ["shop.*"]
        not_columns: [shop.customers.ssn]
      - allow: [insert]
        on: ["shop.h_*"]
      - allow: [set]
        on: ["role:*"]
"""

# A setting of its own is pinned, which code could set.
PINNED = """
    search_path: [shop]
    settings: {app.tenant: {pin: "17"}}
    rules:
      - allow: [select, insert, update]
        on: ["shop.h_*"]
"""

# Has a schema of its own, for copies of what it reads.
COPIER = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: ["shop.*"]
      - allow: [create, drop, insert]
        on: ["pg_temp.*"]
"""

# Each name: what moves the session, by itself, and the statement that makes it run.
HIDDEN = """
CREATE FUNCTION shop.h_moves() RETURNS int LANGUAGE plpgsql AS $$BEGIN
    PERFORM set_config('search_path', 'public', false); RETURN 1; END$$;
CREATE FUNCTION shop.h_path() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    SET search_path = public; RETURN NEW; END$$;
CREATE FUNCTION shop.h_temp() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    CREATE TEMP TABLE IF NOT EXISTS orders AS SELECT 1 AS id, ssn AS status FROM shop.customers; RETURN NEW; END$$;
CREATE FUNCTION shop.h_note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO shop.h_log VALUES (TG_OP, now()); RETURN NEW; END$$;
CREATE TABLE shop.h_log (op text, at timestamptz);
CREATE TABLE shop.h_before (id int);
CREATE TABLE shop.h_default (id int, x int DEFAULT shop.h_moves());
CREATE TABLE shop.h_check (id int CHECK (shop.h_moves() = 1));
CREATE TABLE shop.h_truncated (id int);
CREATE TABLE shop.h_parent (id int PRIMARY KEY);
CREATE TABLE shop.h_child (id int REFERENCES shop.h_parent ON DELETE CASCADE);
CREATE TABLE shop.h_deferred (id int);
CREATE TABLE shop.h_left (id int);
CREATE TABLE shop.h_audited (id int);
CREATE FUNCTION shop.h_prepares() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    EXECUTE 'DEALLOCATE r'; EXECUTE 'PREPARE r AS SELECT ssn FROM shop.customers LIMIT 1';
    IF NEW.id < 0 THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END$$;
CREATE FUNCTION shop.h_opens() RETURNS trigger LANGUAGE plpgsql AS $$DECLARE c refcursor := 'r'; BEGIN
    CLOSE c; OPEN c FOR SELECT ssn FROM shop.customers; RETURN NEW; END$$;
CREATE FUNCTION shop.h_builds() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    EXECUTE format('SELECT %s', NEW.id); RETURN NEW; END$$;
CREATE FUNCTION shop.h_names() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    PERFORM set_config('app.tenant', '18', NEW.id > 0); SET LOCAL app.who = 'trigger'; RETURN NEW; END$$;
CREATE EXTENSION "uuid-ossp" SCHEMA public; CREATE EXTENSION citext SCHEMA public; CREATE EXTENSION pgcrypto SCHEMA public;
CREATE TABLE shop.h_named (id int);
CREATE TABLE shop.h_extended (id uuid DEFAULT public.uuid_generate_v4(), e public.citext CHECK (e OPERATOR(public.<>) 'a'),
    p text DEFAULT public.crypt('a', public.gen_salt('md5')));
CREATE TRIGGER t BEFORE INSERT ON shop.h_named FOR EACH ROW EXECUTE FUNCTION shop.h_names();
CREATE TABLE shop.h_prepared (id int);
CREATE TABLE shop.h_opened (id int);
CREATE TABLE shop.h_built (id int);
CREATE TRIGGER t BEFORE INSERT ON shop.h_prepared FOR EACH ROW EXECUTE FUNCTION shop.h_prepares();
CREATE TRIGGER t BEFORE INSERT ON shop.h_opened FOR EACH ROW EXECUTE FUNCTION shop.h_opens();
CREATE CONSTRAINT TRIGGER t AFTER INSERT ON shop.h_built DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION shop.h_builds();
CREATE VIEW shop.h_view AS SELECT id FROM shop.h_before;
INSERT INTO shop.h_before VALUES (1); INSERT INTO shop.h_audited VALUES (1); INSERT INTO shop.h_left VALUES (1);
INSERT INTO shop.h_parent VALUES (1), (2); INSERT INTO shop.h_child VALUES (1), (2);
CREATE TRIGGER t BEFORE UPDATE ON shop.h_before FOR EACH ROW EXECUTE FUNCTION shop.h_path();
CREATE TRIGGER t BEFORE TRUNCATE ON shop.h_truncated EXECUTE FUNCTION shop.h_path();
CREATE TRIGGER t AFTER DELETE ON shop.h_child FOR EACH ROW EXECUTE FUNCTION shop.h_path();
CREATE CONSTRAINT TRIGGER t AFTER INSERT ON shop.h_deferred DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION shop.h_path();
CREATE TRIGGER t BEFORE UPDATE ON shop.h_left FOR EACH ROW EXECUTE FUNCTION shop.h_temp();
CREATE TRIGGER t BEFORE UPDATE ON shop.h_audited FOR EACH ROW EXECUTE FUNCTION shop.h_note();
GRANT ALL ON ALL TABLES IN SCHEMA shop TO agent;
GRANT INSERT ON ALL TABLES IN SCHEMA shop TO DATABASE_NAME_tenant;
"""
MOVING = ("UPDATE shop.h_before SET id = 1", "UPDATE shop.h_view SET id = 1", "INSERT INTO shop.h_default (id) VALUES (1)",
          "INSERT INTO shop.h_check VALUES (1)", "TRUNCATE shop.h_truncated", "DELETE FROM shop.h_parent WHERE id = 1",
          "INSERT INTO shop.h_deferred VALUES (1)",
          "MERGE INTO shop.h_before b USING (SELECT 1 AS id) s ON s.id = b.id WHEN MATCHED THEN UPDATE SET id = 1")

SETUP = """
CREATE ROLE DATABASE_NAME_tenant;
GRANT DATABASE_NAME_tenant TO agent;
GRANT USAGE ON SCHEMA shop TO DATABASE_NAME_tenant;
GRANT SELECT ON shop.orders TO DATABASE_NAME_tenant;
CREATE SCHEMA dev AUTHORIZATION agent;
GRANT CREATE, USAGE ON SCHEMA shop TO agent;
GRANT TEMPORARY ON DATABASE DATABASE_NAME TO agent;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO agent;
CREATE FUNCTION shop.leaves_a_table() RETURNS int LANGUAGE plpgsql AS $$BEGIN
    CREATE TEMP TABLE IF NOT EXISTS orders AS SELECT 1 AS id; RETURN 1; END$$;
CREATE FUNCTION shop.moves_the_path() RETURNS int LANGUAGE plpgsql AS $$BEGIN
    PERFORM set_config('search_path', 'public', false); RETURN 1; END$$;
CREATE FUNCTION shop.round(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA shop TO agent;
CREATE SCHEMA front;
CREATE TABLE front.orders (id int);
CREATE TABLE dev.twice AS SELECT 1 AS id;
CREATE TABLE shop.twice AS SELECT 2 AS id;
GRANT SELECT ON front.orders, dev.twice, shop.twice TO agent, DATABASE_NAME_tenant;
CREATE TABLE shop.kept (id int, e shop.evil_dom, es shop.evil_dom[]);
CREATE TABLE shop.h_codes (id int DEFAULT shop.log_it(1));
CREATE TABLE shop.h_checks (id int CHECK (shop.log_it(id) > 0));
CREATE TABLE shop.h_indexes (id int, CHECK (id > 0)); CREATE INDEX ON shop.h_indexes (shop.evil_immutable(id));
CREATE TABLE shop.h_plain (id serial PRIMARY KEY, at timestamptz DEFAULT now(), name text DEFAULT lower('X') CHECK (name <> ''));
GRANT SELECT ON shop.kept, shop.h_codes, shop.h_checks, shop.h_indexes, shop.h_plain TO agent;
GRANT USAGE ON SEQUENCE shop.h_plain_id_seq TO agent;
"""
database = running = None


def agents(*policies):
    """The configuration with one agent for each policy, named like it."""
    names = "\n".join(f"  {name}: {{secret: $agent_secret, upstream: shop, policy: {name}}}" for name, _ in policies)
    texts = "\n".join(f"  {name}:{policy.rstrip()}" for name, policy in policies)
    head, tail = CONFIGURATION.split("agents:\n")
    approvers = tail[tail.index("approvers:"):tail.index("policies:")]
    return f"{head}agents:\n{names}\n{approvers}policies:\n{texts}\n"


def connection(agent):
    return pgwire.Connection("127.0.0.1", running.port, agent, AGENT_SECRET)


def simple(c, sql):
    return c.run(pgwire.query(sql))


def extended(c, sql):
    return c.run(pgwire.parse(sql) + pgwire.bind() + pgwire.execute() + pgwire.SYNC)


def codes(replies):
    return [e["C"] for e in pgwire.errors(replies)]


def fine(c, *statements, ask=simple):
    for sql in statements:
        equal(pgwire.errors(ask(c, sql)), [], sql)


def refused(c, *statements, ask=simple):
    for sql in statements:
        equal(codes(ask(c, sql)), ["42501"], sql)


def orders():
    return database.value("SELECT count(*) FROM shop.orders")


def each_protocol(scenario):
    for ask in simple, extended:
        scenario(ask)


# --- an honest agent ------------------------------------------------------------------------------


def test_a_migration_in_one_transaction_with_names_as_they_come():
    def scenario(ask):
        with connection("maker") as c:
            fine(c, "BEGIN", "CREATE TABLE t (id int PRIMARY KEY, note text)", "INSERT INTO t VALUES (1, 'a')",
                 "CREATE INDEX ON t (note)", "ALTER TABLE t ADD COLUMN more int DEFAULT 2",
                 "UPDATE t SET note = 'b' WHERE id = 1", "CREATE VIEW v AS SELECT id FROM t",
                 "SELECT count(*) FROM v", "ALTER TABLE t RENAME TO u", "INSERT INTO u (id) VALUES (2)",
                 "COMMIT", "SELECT * FROM u", "DROP VIEW v", "DROP TABLE u", ask=ask)
    each_protocol(scenario)


def test_the_same_without_the_right_to_make_code():
    def scenario(ask):
        with connection("plain") as c:
            fine(c, "BEGIN", "CREATE TABLE t (id int PRIMARY KEY, note text)", "INSERT INTO t VALUES (1, 'a')",
                 "CREATE INDEX ON t (note)", "ALTER TABLE t ADD COLUMN more int", "COMMIT",
                 "SELECT max(id) + 1 FROM t WHERE note = 'a'", "DROP TABLE t", ask=ask)
            refused(c, "CREATE VIEW dev.v AS SELECT id FROM shop.orders",
                    "CREATE FUNCTION dev.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", ask=ask)
    each_protocol(scenario)


def test_tables_of_others_are_read_and_written_by_key_without_their_schema():
    def scenario(ask):
        with connection("plain") as c:
            fine(c, "SELECT o.id, status FROM orders o WHERE o.id < 3",
                 "UPDATE shop.orders SET notes = 'x' WHERE id = 1", ask=ask)
            refused(c, "DELETE FROM orders", "UPDATE orders SET notes = 'x'", "SELECT * FROM customers", ask=ask)
    each_protocol(scenario)


# --- temporary tables -------------------------------------------------------------------------------


def test_a_temporary_table_that_goes_does_not_open_the_one_behind_it():
    before = orders()

    def scenario(ask):
        with connection("plain") as c:
            fine(c, "CREATE TEMP TABLE orders (id int)", ask=ask)
            refused(c, "DELETE FROM orders", ask=ask)
            fine(c, "DROP TABLE pg_temp.orders", ask=ask)
            refused(c, "DELETE FROM orders", ask=ask)
    each_protocol(scenario)
    with connection("plain") as c:
        fine(c, "CREATE TEMP TABLE orders (id int)")
        refused(c, "DROP TABLE pg_temp.orders; DELETE FROM orders")
        refused(c, "DROP TABLE orders")
    equal(orders(), before)


def test_neither_rollback_nor_savepoint_nor_commit_opens_it():
    before = orders()
    ends = [["ROLLBACK"], ["ROLLBACK TO a", "COMMIT"], ["COMMIT"]]

    def scenario(ask):
        for end in ends:
            with connection("plain") as c:
                fine(c, "BEGIN", "SAVEPOINT a", "CREATE TEMP TABLE orders (id int) ON COMMIT DROP",
                     "DELETE FROM pg_temp.orders", *end, ask=ask)
                refused(c, "DELETE FROM orders", ask=ask)
    each_protocol(scenario)
    equal(orders(), before)


def test_rename_and_set_schema_open_nothing():
    before = orders()

    def scenario(ask):
        with connection("plain") as c:
            fine(c, "CREATE TABLE dev.orders (id int)", "ALTER TABLE dev.orders RENAME TO other", ask=ask)
            refused(c, "DELETE FROM orders", "ALTER TABLE dev.other SET SCHEMA shop",
                    "ALTER TABLE shop.orders RENAME TO other2", "ALTER TABLE shop.orders SET SCHEMA dev", ask=ask)
            fine(c, "DROP TABLE dev.other", ask=ask)
    each_protocol(scenario)
    equal(orders(), before)


# --- relations over forbidden ones ---------------------------------------------------------------------


def test_what_is_made_over_a_forbidden_table_is_refused_when_it_is_made():
    def scenario(ask):
        with connection("maker") as c:
            refused(c, "CREATE VIEW dev.v AS SELECT * FROM shop.staff", "CREATE VIEW dev.v AS SELECT * FROM shop.customers",
                    "CREATE VIEW dev.v AS SELECT ssn FROM customers",
                    "CREATE TABLE dev.t AS SELECT ssn FROM shop.customers",
                    "CREATE TABLE dev.t (LIKE shop.staff)", "CREATE TABLE dev.t () INHERITS (shop.orders)",
                    "CREATE MATERIALIZED VIEW dev.m AS TABLE shop.staff",
                    "CREATE RULE r AS ON INSERT TO shop.orders DO ALSO NOTHING",
                    "CREATE POLICY p ON shop.orders USING (true)", ask=ask)
            fine(c, "CREATE TABLE dev.t (LIKE shop.orders)", ask=ask)
            refused(c, "ALTER TABLE dev.t INHERIT shop.orders", "ALTER TABLE shop.orders INHERIT dev.t",
                    "ALTER TABLE shop.events ATTACH PARTITION dev.t DEFAULT", ask=ask)
            fine(c, "DROP TABLE dev.t", ask=ask)
    each_protocol(scenario)


def test_a_column_is_not_hidden_behind_a_table_that_lost_it():
    """dev.p has the column when it is judged by the catalog, and none when the query runs."""
    def scenario(ask):
        with connection("plain") as c, connection("plain") as other:
            fine(c, "CREATE TABLE dev.p (price numeric)", "SELECT (SELECT price FROM dev.p)", ask=ask)
            fine(other, "ALTER TABLE dev.p DROP COLUMN price", ask=ask)
            fine(c, "SELECT (SELECT price FROM dev.p LIMIT 1) FROM shop.products LIMIT 1", "DROP TABLE dev.p", ask=ask)
        with connection("maker") as c:
            fine(c, "CREATE TABLE dev.p (ssn text)", ask=ask)
            refused(c, "SELECT (SELECT ssn FROM dev.p LIMIT 1) FROM shop.customers", ask=ask)
            fine(c, "SELECT (SELECT p.ssn FROM dev.p LIMIT 1) FROM shop.orders LIMIT 1", "DROP TABLE dev.p", ask=ask)
    each_protocol(scenario)


# --- code of others ---------------------------------------------------------------------------------------


def test_what_a_function_leaves_in_pg_temp_is_a_candidate():
    before = orders()

    def scenario(ask):
        with connection("caller") as c:
            fine(c, "SELECT id FROM orders LIMIT 1", "BEGIN", "SELECT shop.leaves_a_table()", ask=ask)
            refused(c, "SELECT id FROM orders", ask=ask)
            fine(c, "ROLLBACK", ask=ask)
            refused(c, "DELETE FROM orders", ask=ask)
            fine(c, "SELECT id FROM shop.orders LIMIT 1", "SELECT id FROM products LIMIT 1", ask=ask)
    each_protocol(scenario)
    equal(orders(), before)


def test_a_function_that_moves_the_path_ends_the_session():
    for ask in simple, extended:
        with connection("caller") as c:
            fine(c, "SELECT shop.moves_the_path()", ask=ask)
            c.send(pgwire.query("SELECT id FROM shop.orders LIMIT 1"))
            replies = []
            try:
                while True:
                    replies.append(c.read())
            except pgwire.Closed:
                pass
            equal(codes(replies), ["42501"])


def answers_until_closed(c):
    replies = []
    try:
        while True:
            replies.append(c.read())
    except pgwire.Closed:
        return replies


MOVES = (
    "DO $$BEGIN PERFORM set_config('search_path', 'public', false); END$$",
    "DO $$BEGIN EXECUTE 'SET search_path = public'; END$$",
    "DO $$BEGIN PERFORM set_config('standard_conforming_strings', 'off', false); END$$",
    "DO $$BEGIN EXECUTE 'SET row_security = off'; END$$",
)


def test_a_block_that_moves_what_judging_goes_by_ends_the_session():
    before = orders()
    for move in MOVES:
        for ask in simple, extended:
            with connection("doer") as c:
                fine(c, "SELECT id FROM shop.orders LIMIT 1", ask=ask)
                c.send(pgwire.query(move) if ask == simple else pgwire.parse(move) + pgwire.bind() + pgwire.execute() + pgwire.SYNC)
                c.send(pgwire.query("SELECT id FROM shop.orders LIMIT 1"))
                replies = answers_until_closed(c)
                equal(codes(replies), ["42501"], move)
                equal([r for r in replies if r.kind == "D"], [], move)
        with connection("doer") as c:
            fine(c, "BEGIN")
            c.send(pgwire.query(move), pgwire.query("SELECT id FROM shop.orders LIMIT 1"))
            equal(codes(answers_until_closed(c)), ["42501"], move)
    equal(orders(), before)


# With the setting off, the first literal ends before the DELETE.
TWO_READINGS = "SELECT 'a\\'' AS a; DELETE FROM shop.orders; --' AS b"


def test_what_comes_in_the_same_write_is_read_as_it_was_judged():
    before = orders()
    off = "SET standard_conforming_strings = off"
    with connection("caller") as c:
        c.send(pgwire.query(off), pgwire.query(TWO_READINGS))
        equal(codes(c.answers()), ["42501"])
        check("E" not in pgwire.kinds(c.answers()), "it is one SELECT")
        batch = b"".join(pgwire.parse(sql) + pgwire.bind() + pgwire.execute() for sql in (off, TWO_READINGS))
        equal(codes(c.run(batch + pgwire.SYNC)), ["42501"])
        refused(c, "SELECT set_config('standard_conforming_strings', 'off', false)")
    for move in MOVES:
        with connection("doer") as c:
            c.send(pgwire.query(move), pgwire.query(TWO_READINGS))
            replies = answers_until_closed(c)
            equal((codes(replies), [r for r in replies if r.kind == "D"]), (["42501"], []), move)
        with connection("doer") as c:
            c.send(b"".join(pgwire.parse(sql) + pgwire.bind() + pgwire.execute() for sql in (move, TWO_READINGS)) +
                   pgwire.SYNC)
            replies = answers_until_closed(c)
            equal([r for r in replies if r.kind == "D"], [], move)
    equal(orders(), before)


def test_a_pipeline_behind_a_call_is_judged_behind_it():
    with connection("caller") as c:
        c.send(b"".join(pgwire.parse(sql) + pgwire.bind() + pgwire.execute()
                        for sql in ("SELECT shop.moves_the_path()", "SELECT id FROM orders")) + pgwire.SYNC)
        replies = answers_until_closed(c)
        equal(len([r for r in replies if r.kind == "D"]), 1, "only the function's own row")
        check(codes(replies) != [], "an error")


# --- prepared statements --------------------------------------------------------------------------------


def test_a_prepared_statement_is_judged_for_what_it_could_become():
    before = orders()
    with connection("plain") as c:
        fine(c, "CREATE TEMP TABLE orders (id int)")
        refused(c, "PREPARE d AS DELETE FROM orders")
        fine(c, "PREPARE d AS DELETE FROM pg_temp.orders", "EXECUTE d", "DROP TABLE pg_temp.orders")
        equal(codes(simple(c, "EXECUTE d")), ["42P01"])
        fine(c, "DISCARD ALL", "CREATE TEMP TABLE orders (id int)")
        refused(c, "DELETE FROM orders")
    equal(orders(), before)


def test_a_pipeline_behind_what_changes_objects_is_judged_behind_it():
    before = orders()
    with connection("plain") as c:
        batch = b"".join(pgwire.parse(sql) + pgwire.bind() + pgwire.execute()
                         for sql in ("CREATE TEMP TABLE orders (id int)", "DROP TABLE pg_temp.orders",
                                     "DELETE FROM orders"))
        equal(codes(c.run(batch + pgwire.SYNC)), ["42501"])
    equal(orders(), before)


def test_a_prepared_statement_is_judged_by_the_policy_of_now():
    narrower = agents(("agent", PLAIN), ("maker", MAKER), ("plain", PLAIN),
                      ("caller", CALLER.replace('"shop.*"', "shop.products")), ("doer", DOER))
    with connection("caller") as c:
        fine(c, "PREPARE s AS SELECT id FROM shop.orders LIMIT 1", "EXECUTE s")
        equal(codes(c.run(pgwire.parse("SELECT id FROM shop.orders LIMIT 1", name="w") + pgwire.SYNC)), [])
        running.configure(string.Template(narrower).substitute(running.values))
        running.signal(signal.SIGHUP)
        try:
            eventually(lambda: codes(simple(c, "EXECUTE s")) == ["42501"], "the new policy")
            equal(codes(c.run(pgwire.bind(statement="w") + pgwire.execute() + pgwire.SYNC)), ["42501"])
        finally:
            running.configure()
            running.signal(signal.SIGHUP)
        eventually(lambda: codes(simple(c, "EXECUTE s")) == [], "the old policy")


# --- names ------------------------------------------------------------------------------------------------


def test_names_are_compared_as_the_server_reads_them():
    def scenario(ask):
        with connection("plain") as c:
            fine(c, 'SELECT id FROM "shop"."orders" LIMIT 1', 'SELECT id FROM SHOP.ORDERS LIMIT 1',
                 'SELECT id FROM U&"sh\\006fp".U&"order!0073" UESCAPE \'!\' LIMIT 1', ask=ask)
            refused(c, 'SELECT id FROM U&"sh\\006fp".customers', 'SELECT id FROM "Shop".orders',
                    f"SELECT id FROM {database.name}.shop.customers", "SELECT * FROM shop.orders_id_seq",
                    "SELECT * FROM shop.orders_pkey", "SELECT id FROM ONLY shop.customers",
                    "SELECT * FROM shop.point3", ask=ask)
            fine(c, "SELECT id FROM ONLY shop.orders LIMIT 1", ask=ask)
    each_protocol(scenario)


def test_a_cte_hides_a_table_only_where_it_can_be_seen():
    def scenario(ask):
        with connection("plain") as c:
            fine(c, "WITH customers AS (SELECT 1 AS ssn) SELECT ssn FROM customers",
                 "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r",
                 ask=ask)
            refused(c, "SELECT (WITH customers AS (SELECT 1 AS ssn) SELECT ssn FROM customers), id FROM customers",
                    "WITH a AS (SELECT * FROM customers), customers AS (SELECT 1 AS ssn) SELECT * FROM a",
                    "WITH customers AS (SELECT 1 AS ssn) SELECT ssn FROM shop.customers",
                    "WITH customers AS (SELECT ssn FROM customers) SELECT ssn FROM customers",
                    "WITH d AS (DELETE FROM orders RETURNING id) SELECT id FROM d",
                    "WITH orders AS (SELECT 1 AS id) DELETE FROM orders", ask=ask)
    each_protocol(scenario)


# --- code that runs by itself -----------------------------------------------------------------------------

ORDERS = "SELECT id FROM orders LIMIT 1"


def writer():
    database.ask("INSERT INTO shop.h_parent VALUES (1) ON CONFLICT DO NOTHING; INSERT INTO shop.h_child VALUES (1)")
    return connection("writer")


def ends(c, *messages):
    """The last of them finds the session at its end, and reads nothing."""
    for message in messages[:-1]:
        equal(pgwire.errors(c.run(message)), [], message)
    try:
        replies = c.run(messages[-1])
    except (pgwire.Closed, OSError):
        return
    check(not any(r.kind == "D" for r in replies), f"{messages[-1]}: nothing is read")
    equal(codes(replies)[-1:], ["42501"], messages[-1])


def test_what_runs_by_itself_and_moves_the_path_ends_the_session():
    for sql in MOVING:
        with writer() as c:
            ends(c, pgwire.query(sql), pgwire.query(ORDERS))
        with writer() as c:
            refused(c, f"{sql}; {ORDERS}", f"BEGIN; {sql}; COMMIT; {ORDERS}")
        with writer() as c:
            ends(c, pgwire.query(f"BEGIN; {sql}; COMMIT"), pgwire.query(ORDERS))


def test_so_it_does_in_a_pipeline_of_what_was_prepared_before():
    run = pgwire.bind(statement="w") + pgwire.execute()
    for sql in MOVING[:-2]:
        with writer() as c:
            ends(c, pgwire.parse(ORDERS, "r") + pgwire.parse(sql, "w") + pgwire.SYNC,
                 run + pgwire.bind(statement="r") + pgwire.execute() + pgwire.SYNC)
    with writer() as c:
        fine(c, f"PREPARE w AS {MOVING[0]}")
        refused(c, f"EXECUTE w; {ORDERS}")
        ends(c, pgwire.query("EXECUTE w"), pgwire.query(ORDERS))


def test_so_it_does_when_it_was_deferred():
    deferred = "INSERT INTO shop.h_deferred VALUES (1)"
    for end in "COMMIT", "SET CONSTRAINTS ALL IMMEDIATE":
        with connection("writer") as c:
            fine(c, "BEGIN", "SET LOCAL statement_timeout = '10s'", deferred, ORDERS)
            refused(c, f"{end}; {ORDERS}")
        with connection("writer") as c:
            fine(c, "BEGIN", "SET LOCAL statement_timeout = '10s'", deferred, ORDERS)
            ends(c, pgwire.query(end), pgwire.query(ORDERS))


def test_so_it_does_where_the_client_took_another_role_up_to_the_end():
    role = f"SET LOCAL ROLE {database.name}_tenant"
    for table, moves in ("h_deferred", True), ("h_built", False):
        for order in ((role, f"INSERT INTO shop.{table} VALUES (1)"), (f"INSERT INTO shop.{table} VALUES (1)", role)):
            with connection("tenant") as c:
                fine(c, "BEGIN", *order, "SELECT id FROM orders LIMIT 1")
                if moves:
                    ends(c, pgwire.query("COMMIT"), pgwire.query(ORDERS))
                    continue
                fine(c, "COMMIT", ORDERS, "BEGIN", "SAVEPOINT a", *order)
                equal(codes(simple(c, "SELECT 1 / 0")), ["22012"])
                fine(c, "ROLLBACK TO a", ORDERS, "COMMIT", ORDERS)


def test_a_name_that_a_trigger_gives_to_something_else_is_the_clients_no_longer():
    reading, run = "SELECT id FROM shop.orders LIMIT 1", pgwire.bind(statement="r") + pgwire.execute() + pgwire.SYNC
    for value, code in (1, []), (-1, ["P0001"]):
        for prepare, use in ((pgwire.query(f"PREPARE r AS {reading}"), pgwire.query("EXECUTE r")),
                             (pgwire.parse(reading, "r") + pgwire.SYNC, run)):
            with connection("writer") as c:
                fine(c, "PREPARE s AS SELECT 1", "BEGIN")
                equal(codes(c.run(prepare)), [])
                equal(codes(simple(c, f"INSERT INTO shop.h_prepared VALUES ({value})")), code)
                fine(c, "ROLLBACK")
                equal(codes(c.run(use)), ["26000"])
                fine(c, "EXECUTE s")
    for declare, use in ((pgwire.query(f"DECLARE r CURSOR FOR {reading}"), pgwire.query("FETCH r")),
                         (pgwire.parse(reading) + pgwire.bind(portal="r") + pgwire.SYNC, pgwire.execute("r") + pgwire.SYNC)):
        with connection("writer") as c:
            fine(c, "BEGIN", "DECLARE s CURSOR FOR SELECT 1")
            equal(codes(c.run(declare)), [])
            fine(c, "INSERT INTO shop.h_opened VALUES (1)", "FETCH s")
            equal(codes(c.run(use)), ["34000"])


def test_a_temporary_table_that_a_trigger_leaves_is_no_table_of_the_rules():
    def scenario(ask):
        with connection("writer") as c:
            fine(c, "SELECT status FROM orders LIMIT 1", "UPDATE shop.h_left SET id = 1", ask=ask)
            refused(c, "SELECT status FROM orders LIMIT 1", ask=ask)
            fine(c, "SELECT status FROM shop.orders LIMIT 1", ask=ask)
    each_protocol(scenario)


def test_an_audit_trigger_costs_nothing():
    with connection("writer") as c:
        fine(c, "UPDATE shop.h_audited SET id = 1; SELECT id FROM orders LIMIT 1; UPDATE shop.h_audited SET id = 2")
        fine(c, "BEGIN; UPDATE shop.h_audited SET id = 1; SELECT id FROM orders LIMIT 1; COMMIT")


def test_nor_do_extensions_that_only_compute_and_settings_of_the_owners_own():
    with connection("writer") as c:
        for table, column in ("h_extended", "e"), ("h_named", "id"):
            sql = f"INSERT INTO shop.{table} ({column}) VALUES (1)"
            fine(c, f"{sql}; {sql}; SELECT id FROM orders LIMIT 1", f"BEGIN; {sql}; COMMIT; SELECT id FROM orders LIMIT 1")


def test_a_setting_of_the_owners_own_that_is_pinned_moves_as_little():
    with connection("pinned") as c:
        fine(c, "INSERT INTO shop.h_extended (e) VALUES (1); SELECT id FROM h_extended", "INSERT INTO shop.h_audited VALUES (1)")
        refused(c, "INSERT INTO shop.h_named VALUES (1); SELECT id FROM h_audited")
        fine(c, "INSERT INTO shop.h_named VALUES (1)", "SELECT id FROM h_audited") # for the transaction only
        ends(c, pgwire.query("INSERT INTO shop.h_named VALUES (0)"), pgwire.query("SELECT id FROM h_audited"))


# --- calls ------------------------------------------------------------------------------------------------


def test_functions_that_lists_of_forbidden_ones_forget():
    def scenario(ask):
        with connection("plain") as c:
            refused(c, "SELECT pg_sleep_for('1 s')", "SELECT pg_sleep_until(now())", "SELECT pg_notify('a', 'b')",
                    "SELECT pg_import_system_collations('pg_catalog')", "SELECT pg_stat_reset()", "SELECT lo_get(1)",
                    "SELECT lo_from_bytea(0, '')", "SELECT pg_logical_emit_message(false, 'a', 'b')",
                    "SELECT * FROM ts_stat('SELECT 1')", "SELECT query_to_xml('SELECT 1', true, true, '')",
                    "SELECT * FROM crosstab('SELECT 1')", "SELECT * FROM dblink('', '') AS t(a int)", ask=ask)
    each_protocol(scenario)


def test_a_field_that_is_a_call():
    def scenario(ask):
        with connection("plain") as c:
            refused(c, "SELECT ('PG_VERSION'::text).pg_read_file", "SELECT ('shop.orders_id_seq'::regclass).nextval",
                    "SELECT (64).lo_creat", "SELECT (o.id).pg_terminate_backend FROM shop.orders o",
                    "SELECT c.row_to_json FROM shop.customers c", "SELECT c.json_agg FROM shop.customers c", ask=ask)
            fine(c, "SELECT (o).id, o.row_to_json FROM shop.orders o LIMIT 1", ask=ask)
    each_protocol(scenario)


def test_a_literal_that_is_a_call():
    """Beside an array of a domain it is read as one, and the domain's check is a function; beside the domain it is not."""
    def scenario(ask):
        with connection("writer") as c:
            refused(c, "SELECT id FROM shop.kept WHERE es = '{5}'", "SELECT COALESCE(es, '{5}') FROM shop.kept",
                    "SELECT array_append(es, '5') FROM shop.kept", "SELECT lag(e, 1, '5') OVER () FROM shop.kept",
                    "SELECT array_append(array_agg(e), '5') FROM shop.kept", "SELECT es FROM shop.kept UNION SELECT '{5}'",
                    "SELECT array_agg(k) || '{\"(5,5,)\"}' FROM shop.kept k", ask=ask)
            fine(c, "SELECT array_length(es, 1), array_agg(es[1]), array_to_string(es, ',') FROM shop.kept WHERE e = '5' GROUP BY es",
                 "SELECT COALESCE(e, '5'), COALESCE(es, '{}'), es || 5 FROM shop.kept WHERE e IN ('5', '6') AND id = '1'", ask=ask)
    each_protocol(scenario)
    equal(database.value("SELECT count(*) FROM shop.audit_log WHERE op = 'DOMAIN'"), 0)


def test_a_copy_of_a_table_does_not_bring_its_code():
    """In a table of the agent's own, a default, a check or a domain would run the owner's function with the agent's values."""
    def scenario(ask):
        with connection("copier") as c:
            refused(c, "CREATE TEMP TABLE t (LIKE shop.h_codes INCLUDING DEFAULTS)", "CREATE TEMP TABLE t (LIKE shop.h_checks INCLUDING ALL)",
                    "CREATE TEMP TABLE t (LIKE shop.h_indexes INCLUDING INDEXES)", "CREATE TEMP TABLE t (LIKE shop.kept)",
                    "CREATE TEMP TABLE t AS SELECT e FROM shop.kept", "SELECT es INTO TEMP t FROM shop.kept", ask=ask)
            fine(c, "CREATE TEMP TABLE a (LIKE shop.h_codes)", "CREATE TEMP TABLE b (LIKE shop.h_plain INCLUDING ALL)",
                 "INSERT INTO pg_temp.a VALUES (5)", "INSERT INTO pg_temp.b DEFAULT VALUES", "CREATE TEMP TABLE d AS SELECT id, e::int FROM shop.kept",
                 "CREATE TEMP TABLE f AS SELECT * FROM shop.orders LIMIT 1", "DROP TABLE pg_temp.a, pg_temp.b, pg_temp.d, pg_temp.f", ask=ask)
    each_protocol(scenario)
    equal(database.value("SELECT count(*) FROM shop.audit_log WHERE op IN ('DOMAIN', 'LOG_IT', 'EVIL_IMMUTABLE')"), 0)


def test_a_schema_that_the_role_may_not_use_is_passed_over():
    with connection("front") as c, connection("behind") as behind:
        refused(c, ORDERS, "SELECT id FROM orders LIMIT 1")
        fine(behind, "SELECT id FROM orders LIMIT 1")
        equal(codes(simple(c, "SELECT id FROM front.orders")), ["42501"], "by the server")
    with connection("stepping") as c:
        refused(c, "SELECT id FROM twice", "SELECT id FROM dev.twice, twice")
        fine(c, "SELECT id FROM dev.twice", f"SET ROLE {database.name}_tenant")
        refused(c, "SELECT id FROM twice")


def test_parameter_types_of_parse_choose_the_overload():
    with connection("caller") as c:
        for types, expected in ((23, 23), ["42501"]), ((1700, 23), []):
            equal(codes(c.run(pgwire.parse("SELECT round($1, $2)", types=types) + pgwire.SYNC)), expected, types)


def test_a_commit_in_a_message_does_not_let_a_part_of_it_run():
    before = orders()
    with connection("caller") as c:
        for sql in ("DELETE FROM shop.orders; COMMIT; SELECT lo_creat(-1)", "SELECT lo_creat(-1); COMMIT; DELETE FROM shop.orders",
                    "BEGIN; DELETE FROM shop.orders; COMMIT; SELECT pg_sleep_for('1 s')"):
            refused(c, sql)
        refused(c, "BEGIN READ WRITE; COMMIT; DROP SCHEMA shop CASCADE")
    equal(orders(), before)


if __name__ == "__main__":
    with Database() as database:
        database.ask((SETUP + HIDDEN).replace("DATABASE_NAME", database.name))
        with Wicket(database, configuration=agents(("agent", PLAIN), ("maker", MAKER), ("plain", PLAIN),
                                                     ("caller", CALLER), ("doer", DOER), ("writer", WRITER), ("copier", COPIER),
                                                     ("tenant", TENANT), ("pinned", PINNED),
                                                     ("front", FRONT), ("behind", BEHIND), ("stepping", STEPPING))) as running:
            code = main(globals())
        database.ask(f"DROP OWNED BY {database.name}_tenant; DROP ROLE {database.name}_tenant")
    sys.exit(code)

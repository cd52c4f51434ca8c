"""The server's own errors: nothing in them that the policy does not open, and all of it where it opens everything.

Every name in the ground that no policy here opens has "veiled" in it, every value that no agent may read "TREASURE".
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, main
from wicket import AGENT_SECRET, ALLOW_ALL, SERVER_PORT, Database, Wicket

GROUND = """
CREATE EXTENSION IF NOT EXISTS btree_gist SCHEMA public;
CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
CREATE SCHEMA e;
CREATE TABLE e.veiled_kinds (veiled_id int PRIMARY KEY);
CREATE TABLE e.veiled_log (id int DEFAULT 1, veiled_why text NOT NULL);
CREATE TABLE e.people (id int PRIMARY KEY, name text NOT NULL, email text UNIQUE, age int,
    veiled_ssn text NOT NULL DEFAULT 'TREASURE-0' CHECK (veiled_ssn <> 'x' AND name <> 'bad'));
CREATE TABLE e.strict (id int PRIMARY KEY, name text, veiled_must text NOT NULL);
CREATE TABLE e.codes (id int PRIMARY KEY, name text, veiled_code text DEFAULT 'TREASURE-1',
    CONSTRAINT veiled_code_key UNIQUE (veiled_code));
CREATE TABLE e.rooms (id int PRIMARY KEY, name text, veiled_during int4range DEFAULT '[77001,77002)',
    CONSTRAINT veiled_rooms EXCLUDE USING gist (veiled_during WITH &&));
CREATE TABLE e.pets (id int PRIMARY KEY, name text, kind int REFERENCES e.veiled_kinds,
    owner int REFERENCES e.people, later int REFERENCES e.people DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE e.veiled_notes (id int PRIMARY KEY, person int REFERENCES e.people);
CREATE TABLE e.parts (id int, name text, veiled_key text DEFAULT 'TREASURE-2') PARTITION BY LIST (veiled_key);
CREATE TABLE e.veiled_parts_1 PARTITION OF e.parts FOR VALUES IN ('one');
CREATE TABLE e.told (id int PRIMARY KEY, name text);
CREATE TABLE e.veiled_raw (id int, raw text);
CREATE VIEW e.numbers AS SELECT id, raw::int AS n FROM e.veiled_raw;
CREATE VIEW e.denied WITH (security_invoker) AS SELECT id FROM e.veiled_raw;
CREATE TABLE e.narrow (id int PRIMARY KEY, name varchar(5));
CREATE VIEW e.small AS SELECT * FROM e.told WHERE id < 10 WITH CHECK OPTION;
CREATE TABLE e.ledger (id int, amount text, veiled_note text);
CREATE FUNCTION e.veiled_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN
    CASE NEW.name
    WHEN 'raise' THEN RAISE EXCEPTION 'this row is "locked"' USING DETAIL = 'TREASURE', HINT = 'veiled', TABLE = 'veiled';
    WHEN 'log' THEN INSERT INTO e.veiled_log (veiled_why) VALUES (NULL);
    WHEN 'cast' THEN PERFORM raw::int FROM e.veiled_raw;
    WHEN 'quote' THEN PERFORM (raw || '"x"')::int FROM e.veiled_raw;
    WHEN 'missing' THEN PERFORM 1 FROM e.veiled_gone;
    WHEN 'notice' THEN RAISE NOTICE 'seen' USING DETAIL = 'TREASURE', HINT = 'veiled';
    WHEN 'key' THEN INSERT INTO e.veiled_kinds VALUES (1);
    ELSE NULL;
    END CASE;
    RETURN NEW;
END$$;
CREATE TRIGGER veiled_told BEFORE INSERT OR UPDATE ON e.told FOR EACH ROW EXECUTE FUNCTION e.veiled_tell();
INSERT INTO e.veiled_kinds VALUES (1);
INSERT INTO e.veiled_raw VALUES (1, 'TREASURE-3');
INSERT INTO e.people (id, name, email, veiled_ssn) VALUES (1, 'ada', 'ada@x', 'TREASURE-4'), (2, 'bo', 'bo@x', 'TREASURE-5');
INSERT INTO e.codes (id, name) VALUES (1, 'one');
INSERT INTO e.rooms (id, name) VALUES (1, 'one');
INSERT INTO e.veiled_notes VALUES (1, 1);
INSERT INTO e.ledger VALUES (1, 'TREASURE-6', 'TREASURE-7');
GRANT USAGE ON SCHEMA e TO agent;
GRANT ALL ON ALL TABLES IN SCHEMA e TO agent;
REVOKE ALL ON e.veiled_raw FROM agent;
ALTER TABLE e.ledger OWNER TO agent;
GRANT CREATE ON SCHEMA e TO agent;
ANALYZE;
CREATE SERVER veiled_far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '1');
CREATE USER MAPPING FOR agent SERVER veiled_far OPTIONS (user 'veiled', password 'TREASURE');
CREATE FOREIGN TABLE e.far (id int) SERVER veiled_far;
CREATE TABLE e.spread (id int) PARTITION BY LIST (id);
CREATE FOREIGN TABLE e.spread_far PARTITION OF e.spread DEFAULT SERVER veiled_far;
GRANT ALL ON e.far, e.spread, e.spread_far TO agent;
"""
TABLES = "[e.people, e.strict, e.codes, e.rooms, e.pets, e.parts, e.told, e.small, e.narrow, e.far, e.spread]"


def closing_policy(introspection="reject", limit=""):
    return f"""
    search_path: [e]
    introspection: {introspection}
    hidden: ["*.*.veiled_ssn", "*.*.veiled_must", "*.*.veiled_code", "*.*.veiled_during", "*.*.veiled_key"]
    rules:
      - allow: [select]
        on: {TABLES}
      - allow: [select]
        on: [e.numbers, e.denied]
      - allow: [select]
        on: [e.ledger]
        columns: [amount]
      - allow: [insert, update, delete]
        on: {TABLES}{limit}
      - allow: [alter]
        on: [e.ledger]
"""


# Each policy is that of an agent of the same name.
POLICIES = {
    "closing": closing_policy(),
    # Its writes pass through the gate, and run uncommitted.
    "limiting": closing_policy(limit="\n        max_rows: 100"),
    "naming": closing_policy(introspection="allow"),
    "every_table": """
    search_path: [e]
    introspection: allow
    rules:
      - allow: [select]
        on: ["*"]
      - allow: [insert, update, delete]
        on: [e.*]
""",
    "each_schema": """
    search_path: [e]
    rules:
      - allow: [select]
        on: [e.*, shop.*, hr.*, public.*]
      - allow: [insert, update, delete]
        on: [e.*]
""",
    "these_tables": """
    search_path: [e]
    rules:
      - allow: [select, insert, update, delete]
        on: [e.people, e.narrow, e.veiled_notes, e.pets, e.veiled_kinds, e.spread]
""",
}
CONFIGURATION = """
listen: {address: "127.0.0.1:$port"}
audit: {file: "$audit"}
upstreams:
  shop: "$upstream"
agents:
  agent: {secret: $agent_secret, upstream: shop, policy: closing}
""" + "".join(f"  {name}: {{secret: $agent_secret, upstream: shop, policy: {name}}}\n" for name in POLICIES) + \
    "policies:\n" + "".join(f"  {name}:\n{policy.strip(chr(10))}\n" for name, policy in POLICIES.items())

LEFT_OUT = "Names and values that the policy does not open are left out."
FAILED = "the server of a foreign table cannot be reached or has failed"

# What is sent, the server's SQLSTATE, MESSAGE and DETAIL as the agent gets them under a policy that closes.
CASES = [
    ("INSERT INTO e.strict (id, name) VALUES (5, 'x')", "23502",
     'null value in column "..." violates not-null constraint', LEFT_OUT),
    ("INSERT INTO e.people (id) VALUES (5)", "23502",
     'null value in column "name" of relation "people" violates not-null constraint', LEFT_OUT),
    ("UPDATE e.people SET name = 'bad' WHERE id = 1", "23514",
     'new row for relation "people" violates check constraint "..."', LEFT_OUT),
    ("INSERT INTO e.people (id, name, email) VALUES (6, 'x', 'ada@x')", "23505",
     'duplicate key value violates unique constraint "people_email_key"', "Key (email)=(ada@x) already exists."),
    ("INSERT INTO e.codes (id, name) VALUES (2, 'x')", "23505",
     'duplicate key value violates unique constraint "..."', LEFT_OUT),
    ("INSERT INTO e.rooms (id, name) VALUES (2, 'x')", "23P01",
     'conflicting key value violates exclusion constraint "..."', LEFT_OUT),
    ("INSERT INTO e.pets (id, kind) VALUES (1, 999)", "23503",
     'insert or update on table "pets" violates foreign key constraint "..."', LEFT_OUT),
    ("INSERT INTO e.pets (id, owner) VALUES (1, 999)", "23503",
     'insert or update on table "pets" violates foreign key constraint "pets_owner_fkey"',
     'Key (owner)=(999) is not present in table "people".'),
    ("DELETE FROM e.people WHERE id = 1", "23503",
     'update or delete on table "people" violates foreign key constraint "..."', LEFT_OUT),
    ("UPDATE e.people SET id = 7 WHERE id = 1", "23503",
     'update or delete on table "people" violates foreign key constraint "..."', LEFT_OUT),
    ("INSERT INTO e.parts (id, name) VALUES (1, 'x')", "23514", 'no partition of relation "parts" found for row',
     LEFT_OUT),
    ("INSERT INTO e.told VALUES (1, 'raise')", "P0001", 'this row is "locked"', LEFT_OUT),
    ("INSERT INTO e.told VALUES (1, 'log')", "23502", 'null value in column "..." violates not-null constraint',
     LEFT_OUT),
    ("INSERT INTO e.told VALUES (1, 'cast')", "22P02", 'invalid input syntax for type integer: "..."', LEFT_OUT),
    ("INSERT INTO e.told VALUES (1, 'quote')", "22P02", 'invalid input syntax for type integer: "..."', LEFT_OUT),
    ("INSERT INTO e.told VALUES (1, 'missing')", "42P01", 'relation "..." does not exist', LEFT_OUT),
    ("INSERT INTO e.told VALUES (1, 'key')", "23505", 'duplicate key value violates unique constraint "..."', LEFT_OUT),
    ("SELECT n FROM e.numbers", "22P02", 'invalid input syntax for type integer: "..."', LEFT_OUT),
    # A statement that guesses the value learns nothing from being told it again.
    ("SELECT n, 'TREASURE-3' FROM e.numbers", "22P02", 'invalid input syntax for type integer: "..."', LEFT_OUT),
    ("SELECT id FROM e.denied", "42501", "permission denied for table ...", LEFT_OUT),
    ("INSERT INTO e.small VALUES (11, 'x')", "44000", 'new row violates check option for view "small"',
     "Failing row contains (11, x)."),
    ("INSERT INTO e.narrow VALUES (1, 'too long')", "22001", "value too long for type character varying(5)", None),
    ("SELECT id FROM e.far", "08001", FAILED, LEFT_OUT),
    ("SELECT id FROM e.spread", "08001", FAILED, LEFT_OUT),
    ("SELECT 1 / 0 FROM e.people", "22012", "division by zero", None),
    ("INSERT INTO e.people (id, name, age) VALUES (8, 'x', 'many')", "22P02",
     'invalid input syntax for type integer: "many"', None),
]

database = running = None


def connect(agent, to=None):
    return pgwire.Connection("127.0.0.1", (to or running).port, agent, AGENT_SECRET)


def connect_directly(path="e"):
    return pgwire.Connection("127.0.0.1", int(SERVER_PORT), "agent", "agent-password", database.name,
                             options=f"-c search_path={path}")


def as_query(connection, sql):
    return connection.run(pgwire.query(sql))


def extended(connection, sql):
    return connection.run(pgwire.parse(sql), pgwire.bind(), pgwire.execute(), pgwire.SYNC)


def in_a_transaction(connection, sql):
    connection.run(pgwire.query("BEGIN"))
    answers = connection.run(pgwire.query(sql))
    connection.run(pgwire.query("ROLLBACK"))
    return answers


def at_commit(connection, sql):
    connection.run(pgwire.query("BEGIN"))
    check(not pgwire.errors(connection.run(pgwire.query(sql))), "it waits for the end")
    return connection.run(pgwire.query("COMMIT"))


WAYS = [as_query, extended, in_a_transaction]


def the_error(answers, sql):
    errors = pgwire.errors(answers)
    equal(len(errors), 1, f"errors of {sql}")
    return errors[0]


def tells_nothing(fields, sql):
    for letter, value in fields.items():
        for secret in ("veiled", "TREASURE", "77001", "127.0.0.1"):
            if secret in value and not (letter == "M" and value in sql):
                raise AssertionError(f"{sql}: field {letter} tells {value!r}")


def matches(fields, sqlstate, message, detail, sql):
    tells_nothing(fields, sql)
    equal(fields.get("C"), sqlstate, f"{sql}: {fields}")
    equal(fields.get("M"), message, sql)
    equal(fields.get("D"), detail, sql)
    if detail == LEFT_OUT:
        check(set(fields) <= set("SVCMDPW"), f"{sql}: {fields}")


def judge_all(agent):
    with connect(agent) as connection:
        for sql, sqlstate, message, detail in CASES:
            for way in WAYS:
                matches(the_error(way(connection, sql), sql), sqlstate, message, detail, f"{sql} {way.__name__}")


def test_errors_tell_nothing_that_is_not_open():
    judge_all("closing")


def test_errors_of_limited_writes_tell_nothing_that_is_not_open():
    judge_all("limiting")


def test_a_check_that_waits_for_the_commit():
    sql = "INSERT INTO e.pets (id, later) VALUES (9, 999)"
    for agent in ("closing", "limiting"):
        with connect(agent) as connection:
            for way in (as_query, extended, at_commit):
                fields = the_error(way(connection, sql), sql)
                matches(fields, "23503",
                        'insert or update on table "pets" violates foreign key constraint "pets_later_fkey"',
                        'Key (later)=(999) is not present in table "people".', way.__name__)


def copy(connection, sql, data):
    connection.send(pgwire.query(sql))
    while connection.read().kind != "G":
        pass
    connection.send(pgwire.message("d", data), pgwire.message("c"))
    return connection.answers()


def test_copy_says_the_line():
    with connect("closing") as connection:
        sql = "COPY e.people (id, name, age) FROM STDIN"
        fields = the_error(copy(connection, sql, b"51\tx\t1\n52\ty\tmany\n"), sql)
        matches(fields, "22P02", 'invalid input syntax for type integer: "many"', None, sql)
        equal(fields["W"], 'COPY people, line 2, column age: "many"')
        fields = the_error(copy(connection, sql, b"51\tx\t1\n52\t\\N\t1\n"), sql)
        matches(fields, "23502", 'null value in column "name" of relation "people" violates not-null constraint',
                LEFT_OUT, sql)
        equal(fields["W"], "COPY, line 2")
        fields = the_error(copy(connection, "COPY e.codes (id, name) FROM STDIN", b"53\tx\n"), sql)
        matches(fields, "23505", 'duplicate key value violates unique constraint "..."', LEFT_OUT, sql)
        equal(fields["W"], "COPY, line 1")
        fields = the_error(copy(connection, "COPY e.told FROM STDIN", b"54\tcast\n"), sql)
        matches(fields, "22P02", 'invalid input syntax for type integer: "..."', LEFT_OUT, sql)
        equal(fields["W"], "COPY, line 1")


def test_a_bad_parameter_is_named():
    with connect("closing") as connection:
        sql = "UPDATE e.told SET name = 'x' WHERE id = $1"
        fields = the_error(connection.run(pgwire.parse(sql), pgwire.bind([b"many"]), pgwire.execute(), pgwire.SYNC),
                           sql)
        matches(fields, "22P02", 'invalid input syntax for type integer: "many"', None, sql)
        check("$1" in fields["W"], fields)


def test_cursors_and_prepared_statements_are_what_they_run():
    with connect("closing") as connection:
        for first, then in (("BEGIN; DECLARE c CURSOR FOR SELECT n FROM e.numbers", "FETCH ALL FROM c"),
                            ("PREPARE p AS SELECT n FROM e.numbers", "EXECUTE p")):
            for statement in first.split("; "):
                check(not pgwire.errors(connection.run(pgwire.query(statement))), statement)
            fields = the_error(connection.run(pgwire.query(then)), then)
            matches(fields, "22P02", 'invalid input syntax for type integer: "..."', LEFT_OUT, then)
            connection.run(pgwire.query("ROLLBACK"))


def test_what_an_owner_says_on_purpose_is_told():
    with connect("closing") as connection:
        answers = connection.run(pgwire.query("UPDATE e.told SET name = 'notice'"))
        answers = connection.run(pgwire.query("INSERT INTO e.told VALUES (60, 'notice')"))
        notices = [a.fields() for a in answers if a.kind == "N"]
        equal(len(notices), 1, "notices")
        matches(notices[0], "00000", "seen", LEFT_OUT, "the notice")
        connection.run(pgwire.query("DELETE FROM e.told"))


def test_definitions_of_a_table_that_may_not_be_read():
    with connect("closing") as connection:
        for sql, sqlstate, message in (
                ("ALTER TABLE e.ledger ALTER amount TYPE int USING amount::int", "22P02",
                 'invalid input syntax for type integer: "..."'),
                ("ALTER TABLE e.ledger ADD CONSTRAINT c CHECK (amount = 'x')", "23514",
                 'check constraint "..." is violated by some row'),
                ("ALTER TABLE e.ledger DROP COLUMN gone", "42703",
                 'column "gone" of relation "ledger" does not exist')):
            fields = the_error(connection.run(pgwire.query(sql)), sql)
            tells_nothing(fields, sql)
            equal((fields["C"], fields["M"]), (sqlstate, message), sql)


def test_a_hint_names_no_hidden_column():
    with connect("naming") as connection:
        for column, hint in (("veiled_sn", None), ("emial", 'Perhaps you meant to reference the column "people.email".')):
            for way in (as_query, extended):
                fields = the_error(way(connection, f"SELECT {column} FROM e.people"), column)
                equal((fields["C"], fields["M"]), ("42703", f'column "{column}" does not exist'))
                equal(fields.get("P"), "8", "the position in the agent's text")
                equal(fields.get("H"), hint, column)
                check("veiled_ssn" not in str(fields), fields)


def test_names_that_introspection_opens_are_told():
    with connect("naming") as connection:
        for sql, message in (
                ("INSERT INTO e.pets (id, kind) VALUES (1, 999)",
                 'insert or update on table "pets" violates foreign key constraint "pets_kind_fkey"'),
                ("INSERT INTO e.codes (id, name) VALUES (2, 'x')",
                 'duplicate key value violates unique constraint "..."')):
            fields = the_error(connection.run(pgwire.query(sql)), sql)
            equal(fields["M"], message, sql)
            tells_nothing(fields, sql)


def unchanged(agent, to=None, path="e", tables=("",)):
    with connect(agent, to) as connection, connect_directly(path) as direct:
        for sql, *_ in CASES:
            if not any(f"e.{table}" in sql for table in tables):
                continue
            for way in WAYS:
                expected, found = (pgwire.errors(way(c, sql)) for c in (direct, connection))
                equal(found, expected, f"{sql} {way.__name__}")


def test_a_policy_that_opens_everything_changes_nothing():
    # In a file of its own: what an agent of the file may make is no object of its own for the others.
    with Wicket(database, ALLOW_ALL) as transparent:
        unchanged("agent", transparent, path='"$user",public')


def test_a_policy_that_opens_every_table_changes_nothing():
    unchanged("every_table")


def notices(connection, sql):
    return [a.fields() for a in connection.run(pgwire.query(sql)) if a.kind == "N"]


def test_a_notice_is_whole_where_every_table_is_open():
    with connect_directly() as direct:
        expected = notices(direct, "INSERT INTO e.told VALUES (61, 'notice')")
        direct.run(pgwire.query("DELETE FROM e.told"))
    check("W" in expected[0], "the server sends a context")
    for agent in ("every_table", "each_schema"):
        with connect(agent) as connection:
            equal(notices(connection, "INSERT INTO e.told VALUES (61, 'notice')"), expected, agent)
            connection.run(pgwire.query("DELETE FROM e.told"))


def test_a_foreign_table_is_as_open_as_its_server_is_not():
    sql = "SELECT id FROM e.spread"
    with connect("these_tables") as connection:
        matches(the_error(as_query(connection, sql), sql), "08001", FAILED, LEFT_OUT, sql)
    with connect("each_schema") as connection, connect_directly() as direct:
        equal(as_query(connection, sql)[0].fields(), as_query(direct, sql)[0].fields())


def test_a_name_of_the_clients_own_is_told():
    with connect("closing") as connection, connect_directly() as direct:
        for messages in ([pgwire.describe("S", "nothing")], [pgwire.describe("P", "nothing")],
                         [pgwire.parse("SELECT 1", "twice"), pgwire.parse("SELECT 1", "twice")]):
            found, expected = (pgwire.errors(c.run(*messages, pgwire.SYNC)) for c in (connection, direct))
            equal(found, expected, str(messages))


def test_tables_that_are_open_to_their_last_column_change_nothing():
    unchanged("these_tables", tables=("people", "narrow", "pets"))


if __name__ == "__main__":
    with Database() as database:
        database.ask(GROUND)
        with Wicket(database, configuration=CONFIGURATION) as running:
            result = main(globals())
    sys.exit(result)

"""PostgreSQL as the judge of the parser: what a real server does with a statement must be what analyse() says of it.

Each message of the cases, of tests/cases/grammar.sql and of tests/cases/slots.sql is sent to a server, by a role that
can change nothing but its own database, and compared: number of statements and command tags; rows that the server
counts as written; error 25006 in READ ONLY; relations in EXPLAIN (VERBOSE); and, by giving a role exactly the rights
that the actions name, every column and function that the server checks.
"""
import contextlib
import functools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import corpus
import pgwire
from live import check, equal, main
from shapes import Shapes, objects, verbs
from wicket import SERVER_PORT, SERVER_SOCKET, Database

OPTIONS = "-c search_path= -c statement_timeout={} -c lock_timeout=100 -c client_min_messages=error"
DIFFER = f"differ_{os.getpid()}"  # owns the schema d, may do everything with the shop's data
PROOF = f"proof_{os.getpid()}"    # has the rights that the actions name, and no other

# First word of a command tag → what the statement must be: a kind of statement, or a verb among its actions.
TAGS = {
    "SELECT": {"select", "write", "create"}, "INSERT": {"write"}, "UPDATE": {"write"}, "DELETE": {"write"},
    "MERGE": {"write"}, "COPY": {"copy out", "copy in", "copy_file"}, "BEGIN": {"begin"}, "START": {"begin"},
    "COMMIT": {"commit", "two phase"},
    "ROLLBACK": {"rollback", "rollback to", "commit", "two phase"}, "SAVEPOINT": {"savepoint"},
    "RELEASE": {"release"}, "PREPARE": {"prepare", "two phase"}, "DEALLOCATE": {"deallocate"},
    "DECLARE": {"declare"}, "FETCH": {"fetch"}, "MOVE": {"fetch"}, "CLOSE": {"close"}, "EXPLAIN": {"explain"},
    "SET": {"set"}, "RESET": {"set"}, "SHOW": {"show"}, "DISCARD": {"discard"}, "LISTEN": {"listen"},
    "UNLISTEN": {"listen"}, "NOTIFY": {"notify"}, "DO": {"code"}, "CALL": {"code"}, "CREATE": {"create", "alter"},
    "ALTER": {"alter", "grant"}, "DROP": {"drop", "alter"}, "GRANT": {"grant"}, "REVOKE": {"grant"},
    "COMMENT": {"comment"},
    "SECURITY": {"comment"}, "TRUNCATE": {"truncate"}, "LOCK": {"lock"}, "VACUUM": {"maintain"},
    "ANALYZE": {"maintain"}, "CLUSTER": {"maintain"}, "REINDEX": {"maintain"}, "REFRESH": {"maintain"},
    "CHECKPOINT": {"maintain"}, "LOAD": {"copy_file", "code"}, "IMPORT": {"create"}, "REASSIGN": {"alter"},
}
WRITE_VERBS = {"insert", "update", "delete", "truncate"}
# What may change rows without being told table by table: user code, and statements about objects.
OPEN_VERBS = {"call", "code", "create", "alter", "drop", "grant", "comment", "maintain", "copy_file", "set"}
SYSTEM = ("pg_catalog", "information_schema")
OWN_RULES = {"sequence", "changes settings", "internal argument", "type i/o"}  # reasons of built-ins
TRANSACTION = {"begin", "commit", "rollback", "rollback to", "savepoint", "release", "two phase"}


# --- the place -------------------------------------------------------------------------------------------------------


def guarded_functions():
    """Built-ins that need `call`, as PostgreSQL writes their signatures; but not those of sequences, which are judged
    by the sequence, and those of types, which the server runs by itself."""
    path = os.path.join(corpus.TOP, "parser", "builtins", "functions-15.tsv")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    return [row[0] for row in rows if row[1] != "harmless" and row[2] not in OWN_RULES]


@functools.cache
def revokes():
    """Takes every function from PUBLIC that needs `call`."""
    return f"""
    DO $$
    DECLARE f regprocedure;
    BEGIN
      FOR f IN SELECT p.oid FROM pg_proc p WHERE pronamespace::regnamespace::text IN ('public', 'shop', 'd')
               OR p.oid IN (SELECT to_regprocedure(s) FROM unnest({sql_array(guarded_functions())}) s) LOOP
        EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', f);
      END LOOP;
    END$$"""


def sql_text(value):
    return "'" + value.replace("'", "''") + "'"


def sql_array(values):
    return "ARRAY[" + ", ".join(map(sql_text, values)) + "]::text[]"


def sql_name(*parts):
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


@contextlib.contextmanager
def place():
    """A copy of the shop with the schema d, the two roles, and the program that shows shapes."""
    with Database() as database:
        database.ask(f"CREATE ROLE {DIFFER} LOGIN; CREATE ROLE {PROOF} NOLOGIN")
        try:
            database.ask(f"GRANT CREATE ON DATABASE {database.name} TO {DIFFER}")
            database.ask(f"SET ROLE {DIFFER}; " + corpus.schema())
            database.ask(f"GRANT ALL ON ALL TABLES IN SCHEMA shop TO {DIFFER}; GRANT USAGE ON SCHEMA shop TO {DIFFER};"
                         f"GRANT ALL ON ALL SEQUENCES IN SCHEMA shop TO {DIFFER};"
                         f"GRANT USAGE ON SCHEMA shop, d, hr TO {PROOF}")
            with Shapes(database.superuser) as shapes:
                yield database, shapes
        finally:
            for name in (database.name, "postgres"):
                database._admin(name, f"DROP OWNED BY {DIFFER}, {PROOF} CASCADE")  # pylint: disable=protected-access
            database.ask(f"DROP ROLE {DIFFER}; DROP ROLE {PROOF}")


def connect(database, user=DIFFER, milliseconds=10000):
    return pgwire.Connection(SERVER_SOCKET, int(SERVER_PORT), user, "", database.name,
                             options=OPTIONS.format(milliseconds))


def error_of(answers):
    found = pgwire.errors(answers)
    return found[0] if found else None


def rows_of(answers):
    return [[None if v is None else v.decode() for v in a.values()] for a in answers if a.kind == "D"]


def tags_of(answers):
    return [a.tag() for a in answers if a.kind == "C"]


class Session:
    """A connection that is as new for each message; made again when it was lost."""

    def __init__(self, database, user=DIFFER, milliseconds=10000):
        self.address, self.connection = (database, user, milliseconds), None

    def ask(self, *messages, begin="BEGIN"):
        """The answers to each of the messages, sent one after the other in a transaction that is rolled back."""
        try:
            self.connection = self.connection or connect(*self.address)
            for text in [begin] if begin else []:
                self.connection.run(pgwire.query(text))
            found = [self.connection.run(pgwire.query(text)) for text in messages]
            self.connection.run(pgwire.query("ROLLBACK"))
            self.connection.run(pgwire.query("DISCARD ALL"))
            return found
        except (pgwire.Closed, OSError):
            self.close()
            return [[] for _ in messages]

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Seen:
    """A message, what analyse() says of it, and what the server did."""

    def __init__(self, sql, shape):
        self.sql, self.shape, self.statements = sql, shape, shape["statements"]
        self.lasting = any(s["kind"] in TRANSACTION for s in self.statements)
        self.tags, self.error, self.tables, self.read_only_error = [], None, None, None

    def observe(self, session):
        if self.lasting:
            answers = session.ask(self.sql, begin=None)[0]
        else:
            before, answers, after = session.ask(COUNTERS, self.sql, COUNTERS)
            if not error_of(after):
                self.tables = {tuple(row[:2]) for row in rows_of(after) if row not in rows_of(before)}
        self.tags, self.error = tags_of(answers), error_of(answers)
        if self.only_reads() and not self.lasting:
            self.read_only_error = error_of(session.ask(self.sql, begin="BEGIN READ ONLY")[0])

    def only_reads(self):
        return self.shape["ok"] and not any(verbs(s) - {"select"} for s in self.statements)

    def single_query(self):
        """Its only statement, if that is one of the five queries with every name known."""
        if len(self.statements) != 1 or self.statements[0]["kind"] not in ("select", "write"):
            return None
        return None if any(a["unresolved"] for a in self.statements[0]["actions"]) else self.statements[0]


class Ground:
    """The database, and every message as it was seen there."""

    def __init__(self, database, shapes):
        self.database, self.family = database, families(database)
        self.seen = [Seen(sql, shapes.of(sql)) for sql in corpus.messages()]
        session = Session(database, milliseconds=300)  # some wait for ever
        # What ends the transaction may change the database: it comes last.
        for seen in sorted(self.seen, key=lambda seen: seen.lasting):
            seen.observe(session)
        session.close()

    def covered(self, table, told):
        """Is it one of these, or reached through one? What the system's own views read is recorded nowhere."""
        through_system = table[0] == "pg_catalog" and any(schema in SYSTEM for schema, _ in told)
        return through_system or self.family.get(table, {table}) & told


@functools.cache
def ground():
    return Ground(*PLACE)


class Differences:
    """What does not agree; `done` counts what was compared."""

    def __init__(self):
        self.found = []
        self.done = 0

    def add(self, sql, what):
        self.found.append(f"{what}: {sql!r}")

    def none(self, least):
        for line in self.found[:60]:
            print("     " + line[:600])
        equal(len(self.found), 0, "differences")
        check(self.done >= least, f"only {self.done} statements were compared")
        print(f"     {self.done} statements compared")


# --- statements and tags ---------------------------------------------------------------------------------------------


def tag_fits(tag, statement):
    return statement["kind"] == "execute" or TAGS[tag.split()[0]] & ({statement["kind"]} | verbs(statement))


def compare_syntax(seen, out):
    """True if both took it for statements."""
    error, shape = seen.error, seen.shape
    if shape["syntax"]:
        if seen.tags or error is None or (error["C"], error["M"]) != (shape["sqlstate"], shape["message"]):
            out.add(seen.sql, f"a syntax error here ({shape['message']}), there {error and error['M']}, {seen.tags}")
        return False
    if error and error["M"].startswith(("syntax error", "unterminated")):
        if shape["ok"]:
            out.add(seen.sql, f"no syntax error here, there {error['M']}")
        return False
    return shape["ok"]


def compare_tags(seen, out):
    if seen.error is None and len(seen.tags) != len(seen.statements) or len(seen.tags) > len(seen.statements):
        out.add(seen.sql, f"{len(seen.statements)} statements here, tags {seen.tags}")
    for tag, statement in zip(seen.tags, seen.statements):
        if not tag_fits(tag, statement):
            out.add(seen.sql, f"tag {tag} of kind {statement['kind']}, {sorted(verbs(statement))}")


def test_as_many_statements_of_the_same_kinds():
    out = Differences()
    for seen in ground().seen:
        out.done += 1
        if compare_syntax(seen, out):
            compare_tags(seen, out)
    out.none(1000)


# --- writes ----------------------------------------------------------------------------------------------------------

COUNTERS = """
SELECT n.nspname, c.relname, s.n_tup_ins, s.n_tup_upd, s.n_tup_del FROM pg_catalog.pg_stat_xact_all_tables s
JOIN pg_catalog.pg_class c ON c.oid = s.relid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE s.n_tup_ins + s.n_tup_upd + s.n_tup_del > 0
"""
# What a relation's rows can come from: its parents, views over it, what cascades reach it from.
FAMILY = """
WITH RECURSIVE step (lower, upper) AS (
  SELECT inhrelid, inhparent FROM pg_inherits
  UNION SELECT conrelid, confrelid FROM pg_constraint WHERE contype = 'f'
  UNION SELECT d.refobjid, r.ev_class FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid
        AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
), reach (lower, upper) AS (
  SELECT oid, oid FROM pg_class UNION SELECT r.lower, s.upper FROM reach r JOIN step s ON s.lower = r.upper
)
SELECT ln.nspname, l.relname, un.nspname, u.relname FROM reach
JOIN pg_class l ON l.oid = lower JOIN pg_namespace ln ON ln.oid = l.relnamespace
JOIN pg_class u ON u.oid = upper JOIN pg_namespace un ON un.oid = u.relnamespace
WHERE l.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
"""
TRIGGERED = {("shop", "audit_log"): ("shop", "orders"), ("d", "log"): ("d", "u")}


def families(database):
    found = {}
    for schema, name, upper_schema, upper_name in database.ask(FAMILY):
        found.setdefault((schema, name), set()).add((upper_schema, upper_name))
    for table, source in TRIGGERED.items():
        found[table] |= found[source]
    return found


def test_rows_that_the_server_counts_as_written_are_writes():
    out = Differences()
    writing = 0
    for seen in ground().seen:
        if not seen.shape["ok"] or seen.tables is None:
            continue
        out.done += 1
        writing += bool(seen.tables)
        told = set().union(*(objects(s, WRITE_VERBS) for s in seen.statements))
        told |= {("pg_catalog", "pg_class")} if any("truncate" in verbs(s) for s in seen.statements) else set()
        if any(verbs(s) & OPEN_VERBS or s["kind"] == "execute" for s in seen.statements):
            continue
        for table in seen.tables:
            if not ground().covered(table, told):
                out.add(seen.sql, f"the server wrote {table}, told {sorted(told)}")
    check(writing >= 150, f"only {writing} statements wrote anything")
    out.none(800)


def test_what_only_reads_runs_in_a_read_only_transaction():
    out = Differences()
    for seen in ground().seen:
        if not seen.only_reads() or seen.lasting:
            continue
        out.done += 1
        if seen.read_only_error and seen.read_only_error["C"] == "25006":
            out.add(seen.sql, seen.read_only_error["M"])
    out.none(500)


# --- what the planner reads ------------------------------------------------------------------------------------------


def explained(statement):
    """The messages that plan it; parameters are NULL."""
    parameters = [int(n) for n in re.findall(r"\$(\d+)", statement["print"])]
    if not parameters:
        return [f"EXPLAIN (VERBOSE, FORMAT JSON) {statement['print']}"]
    return [f"PREPARE p AS {statement['print']}",
            f"EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE p({', '.join(['NULL'] * max(parameters))})"]


def planned_by(session, statement):
    """(name, schema) of every relation in its plan, or None without a plan."""
    plan = "".join(row[0] for row in rows_of(session.ask(*explained(statement))[-1]))
    return set(re.findall(r'"Relation Name": "([^"]+)",\s*"Schema": "([^"]+)"', plan)) if plan else None


def test_relations_of_a_plan_are_covered_by_actions():
    out = Differences()
    session = Session(PLACE[0])
    for seen in ground().seen:
        statement = seen.single_query()
        if statement is None:
            continue
        planned = planned_by(session, statement)
        if planned is None:
            continue
        out.done += 1
        told = objects(statement, {"select", *WRITE_VERBS})
        for name, schema in planned:
            if not ground().covered((schema, name), told) and not verbs(statement) & {"call", "code"}:
                out.add(seen.sql, f"{schema}.{name} is planned, told {sorted(told)}")
    session.close()
    out.none(500)


# --- rights ----------------------------------------------------------------------------------------------------------


RIGHTS = {"select": "SELECT", "insert": "INSERT", "update": "UPDATE", "delete": "DELETE", "lock": "UPDATE"}


@functools.cache
def first_column(schema, name):
    return PLACE[0].value(f"SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attrelid = "
                          f"{sql_text(sql_name(schema, name))}::regclass ORDER BY attnum LIMIT 1")


def rights_of(statement):
    """Exactly the rights that its actions name: (right, schema, name, column or None). What a view reads is its owner's
    business, what it calls is not. Rows without any column need the right on some column."""
    found = set()
    for action in statement["actions"]:
        schema, name, verb = action["schema"], action["name"], action["verb"]
        if verb == "call":
            found.add(("EXECUTE", schema, name, None))
        elif verb in RIGHTS and action["part"] != "view" and schema not in SYSTEM:
            whole = verb in ("delete", "lock") or action["any_column"]
            columns = [None] if whole else action["columns"] or [first_column(schema, name)]
            found |= {(RIGHTS[verb], schema, name, column) for column in columns}
    return found


def grant(right, schema, name, column):
    if right != "EXECUTE":
        columns = f" ({sql_name(column)})" if column else ""
        return f"GRANT {right}{columns} ON {sql_name(schema, name)} TO {PROOF}"
    return (f"DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE proname = {sql_text(name)} AND "
            f"pronamespace::regnamespace::text = {sql_text(schema)} LOOP "
            f"EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO {PROOF}', f); END LOOP; END$$")


def refusal_with(session, statement, rights):
    """Why the server does not plan it as PROOF with these rights, or None. What user code runs into is its own affair."""
    answers = session.ask(*(grant(*right) for right in sorted(rights, key=str)), f"SET LOCAL ROLE {PROOF}",
                          *explained(statement))
    error = next((error for error in map(error_of, answers) if error), None)
    return None if error and "W" in error and "call" in verbs(statement) else error


@functools.cache
def queries_with_rights():
    """(message, statement) of single queries that touch no system catalog and that the server plans for a superuser."""
    database, _ = PLACE
    database.ask(revokes())
    found = []
    session = Session(database, "postgres")
    for seen in ground().seen:
        statement = seen.single_query()
        if statement and not any(a["schema"] in SYSTEM and a["verb"] != "call" for a in statement["actions"]):
            if not any(map(error_of, session.ask(*explained(statement)))):
                found.append((seen.sql, statement))
    session.close()
    return found


def test_the_server_checks_no_right_that_the_actions_do_not_name():
    out = Differences()
    session = Session(PLACE[0], "postgres")
    for sql, statement in queries_with_rights():
        error = refusal_with(session, statement, rights_of(statement))
        out.done += 1
        if error:
            out.add(sql, error["M"])
    session.close()
    out.none(500)


def test_the_actions_name_no_column_that_the_server_does_not_check():
    out = Differences()
    session = Session(PLACE[0], "postgres")
    for sql, statement in queries_with_rights():
        rights = rights_of(statement)
        planned = planned_by(session, statement)  # a WITH query that nothing uses is not
        for right in sorted((r for r in rights if r[3] and r[2:0:-1] in planned), key=str):
            out.done += 1
            if refusal_with(session, statement, rights - {right}) is None:
                out.add(sql, f"{right} is not checked")
    session.close()
    out.none(500)


if __name__ == "__main__":
    with place() as PLACE:
        sys.exit(main(globals()))

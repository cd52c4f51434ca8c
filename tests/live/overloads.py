"""Overloads: generated expressions over columns, literals and parameters of many types, in a schema whose functions
and operators have the names of built-in ones, with citext and hstore beside them.

PostgreSQL says which it would choose: the dependencies of an SQL function whose body is the statement. Wherever it
chooses a user's, pgwicket must demand `call`: always. Where it chooses only its own, pgwicket should not; how often it
does is printed and bounded. Both for a path on which pg_catalog comes first and for one on which it comes last.

Casts likewise, in a schema where users' types have implicit and assignment casts with functions, and nothing else is a user's.
(Those of UNION are put in by the planner: they count here as stricter.)

The statements come from a seed (PGWICKET_SEED, printed); PGWICKET_LONG makes ten times as many.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import BIN, Database

SEED = int(os.environ.get("PGWICKET_SEED", "20261130"))
COUNT = 20000 if os.environ.get("PGWICKET_LONG") else 2000
VALID_SHARE = 0.2  # of what is generated, the server must understand
CHOSEN_SHARE = 0.1  # and choose a user's overload, so that both answers are tried
# Of what may pass, rejected: values of citext become others by implicit casts, which count where such a value is an
# argument; rows that are compared as wholes; calls of which a type is not sure.
STRICTER_SHARE = 0.06

# The casts need no function of their own: a rejection is about an overload.
SCHEMA = """
CREATE SCHEMA o;
CREATE SCHEMA oracle;
CREATE EXTENSION citext SCHEMA o;
CREATE EXTENSION hstore SCHEMA o;
SET search_path = o;
CREATE TYPE mood AS ENUM ('1', '2');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN small AS int;
CREATE DOMAIN word AS text;
CREATE TABLE t (i int, j bigint, s smallint, n numeric, f float8, b bool, x text, v varchar, p char(5), nm name,
    d date, tz timestamptz, iv interval, js jsonb, ia int[], ta text[], oi oid, ir int4range, c "char", ov oidvector,
    m mood, pr pair, sm small, wo word, ct citext, h hstore, sa small[]);
CREATE TABLE t2 (i int, j int, x varchar, wo text, m mood, ct text, h hstore);
CREATE CAST (int AS pair) WITH INOUT AS IMPLICIT;
CREATE CAST (mood AS int) WITH INOUT AS IMPLICIT;
CREATE CAST (date AS text) WITH INOUT AS IMPLICIT;
"""
OPERATORS = [("=", "int", "text"), ("=", "numeric", "int"), ("=", "mood", "text"), ("=", "word", "word"),
             ("~~", "word", "word"), ("=", "record", "record"),
             ("=", "pair", "pair"), ("<", "date", "text"), ("<", "anyenum", "anyenum"), ("<", "int", "anyelement"),
             ("||", "text", "int"), ("||", "varchar", "varchar"), ("+", "text", "text"), ("+", "int", "int"),
             ("~~", "varchar", "varchar"), ("-", None, "text"), (">=", "int", "text"), ("<=", "bigint", "numeric")]
FUNCTIONS = ["lower(varchar)", "lower(word)", "round(int, int)", "round(float8, int)", "count(t)", "count(pair)",
             "gcd(bigint, int)", "gcd(numeric, int)", "abs(text)", "length(int)", "upper(anyarray)", "substr(varchar, int)",
             "concat(text, text)", "now(a int DEFAULT 1)", "sign(VARIADIC int[])", "repeat(text, a int DEFAULT 2)"]

# num has the category of numbers, so that it can be chosen for a COALESCE or a UNION with one.
CASTS = """
SET search_path = o;
CREATE TYPE num;
CREATE FUNCTION num_in(cstring) RETURNS num LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION num_out(num) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE num (INPUT = num_in, OUTPUT = num_out, LIKE = int4, CATEGORY = 'N');
ALTER TABLE t ADD nu num, ADD nus num[];
DROP CAST (mood AS int);
CREATE FUNCTION to_num(int) RETURNS num IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION num_bool(num) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION num_bigint(num) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION num_numeric(num) RETURNS numeric IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION mood_text(mood) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE CAST (int AS num) WITH FUNCTION to_num(int) AS IMPLICIT;
CREATE CAST (num AS boolean) WITH FUNCTION num_bool(num) AS ASSIGNMENT;
CREATE CAST (num AS bigint) WITH FUNCTION num_bigint(num) AS ASSIGNMENT;
CREATE CAST (num AS numeric) WITH FUNCTION num_numeric(num) AS IMPLICIT;
CREATE CAST (mood AS text) WITH FUNCTION mood_text(mood) AS IMPLICIT;
CREATE FUNCTION bigint_text(bigint) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION bigint_xml(bigint) RETURNS xml IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION boolean_interval(boolean) RETURNS interval IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE CAST (bigint AS text) WITH FUNCTION bigint_text(bigint) AS IMPLICIT;
CREATE CAST (bigint AS xml) WITH FUNCTION bigint_xml(bigint) AS ASSIGNMENT;
CREATE CAST (boolean AS interval) WITH FUNCTION boolean_interval(boolean) AS ASSIGNMENT;
"""

CONFIGURATION = """
listen: {{address: "127.0.0.1:0"}}
audit: {{file: "-"}}
upstreams: {{shop: "{upstream}"}}
agents:
  last: {{secret: agent-secret, upstream: shop, policy: last}}
  first: {{secret: agent-secret, upstream: shop, policy: first}}
  coder: {{secret: agent-secret, upstream: shop, policy: coder}}
  setter: {{secret: agent-secret, upstream: shop, policy: setter}}
  maker: {{secret: agent-secret, upstream: shop, policy: maker}}
policies:
  last:
    search_path: [o]
    rules:
      - allow: [select]
        on: [o.*]
        max_rows: 1000000
      - allow: [insert, update, delete]
        on: [o.*]
  first:
    search_path: [o, pg_catalog]
    rules:
      - allow: [select]
        on: [o.*]
        max_rows: 1000000
  coder:
    search_path: [o, e]
    rules:
      - allow: [select]
        on: [o.*]
      - allow: [create, code]
        on: [e.*]
  maker:
    search_path: [o, e]
    rules:
      - allow: [select]
        on: [o.*]
      - allow: [create, alter, drop, code]
        on: ["*"]
  setter:
    rules:
      - allow: [select]
        on: [o.*]
      - allow: [set]
        on: ["setting:search_path"]
"""

# The user's functions and operators in the statement, in a list; NULL if the server does not understand it.
ORACLE = """
CREATE FUNCTION oracle.chosen(statement text, types text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
    EXECUTE format('CREATE FUNCTION oracle.tried(%s) RETURNS void LANGUAGE sql BEGIN ATOMIC %s; END', types, statement);
    SELECT coalesce(string_agg(pg_describe_object(refclassid, refobjid, 0), ', '), '') INTO found
    FROM pg_depend
    WHERE classid = 'pg_proc'::regclass AND deptype = 'n' AND refobjid >= 16384
        AND objid = to_regproc('oracle.tried') AND refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass);
    EXECUTE 'DROP FUNCTION oracle.tried';
    RETURN found;
EXCEPTION WHEN OTHERS THEN RETURN NULL;
END$$;
"""
COLUMNS = "i j s n f b x v p nm d tz iv js ia ta oi ir c ov m pr sm wo ct h sa".split()
TYPES = ("int bigint smallint numeric float8 boolean text varchar name date timestamptz jsonb int[] text[] oid "
         "o.mood o.pair o.small o.word o.citext o.hstore").split()
CONSTANTS = ["1", "'1'", "NULL", "2.5", "true", "3000000000", "'a=>1'", "B'1'", "-1", "current_date", "current_user"]
NAMES = ["=", "<", "||", "+", "~~", "<>", "-", ">=", "*", "->"]
CALLS = [("lower", 1), ("round", 2), ("round", 1), ("count", 1), ("gcd", 2), ("abs", 1), ("length", 1), ("upper", 1),
         ("substr", 2), ("concat", 2), ("sign", 1), ("sign", 2), ("repeat", 2), ("now", 0), ("coalesce", 2),
         ("greatest", 2), ("nullif", 2), ("max", 1), ("sum", 1), ("replace", 3), ("row_to_json", 1), ("array_length", 2)]


class Generator:
    """Random statements; `types` are those of the parameters of the last one."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.types = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def leaf(self, names):
        kind = self.random.random()
        if kind > 0.8:
            return "'1'"
        if kind < 0.5 and names:
            return self.random.choice(names)
        if kind < 0.6:
            return self.random.choice(CONSTANTS)
        if kind < 0.7:
            self.types.append(self.random.choice(TYPES))
            return f"${len(self.types)}"
        return f"{self.pick(chr(39) + '1' + chr(39), 'NULL', '1')}::{self.random.choice(TYPES)}"

    def expression(self, names, depth):
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf(names)
        one = lambda: self.expression(names, depth - 1)
        shape = self.random.randrange(16)
        if shape < 6:
            return f"({one()} {self.random.choice(NAMES)} {one()})"
        if shape < 9:
            name, count = self.random.choice(CALLS)
            return f"{name}({', '.join(one() for _ in range(count))})"
        column = self.random.choice(names) if names else "1"
        return {
            9: lambda: f"({one()} IN ({', '.join(one() for _ in range(self.pick(1, 2, 3)))}))",
            10: lambda: f"({one()} BETWEEN {one()} AND {one()})",
            11: lambda: f"({one()} = ANY ({self.pick('ARRAY[' + one() + ', ' + one() + ']', one(), chr(39) + '{1}' + chr(39) + '::int[]')}))",
            12: lambda: f"CASE {one()} WHEN {one()} THEN {one()} ELSE {one()} END",
            13: lambda: f"(({one()}, {one()}) {self.pick('=', '<', 'IS DISTINCT FROM')} ({one()}, {one()}))",
            14: lambda: self.pick(f"({one()} IN (SELECT {column} FROM o.t))", f"(({one()}, {one()}) = (SELECT i, {column} FROM o.t2))",
                                  f"(SELECT {one()})", f"nullif(ROW({one()}), ROW({one()}))", f"({one()} LIKE {one()})", f"({one()} IS DISTINCT FROM {one()})"),
            15: lambda: f"(- {one()})",
        }[shape]()

    def statement(self):
        self.types = []
        names = COLUMNS
        shape = self.random.randrange(11)
        if shape < 5:
            return f"SELECT {self.expression(names, self.pick(1, 1, 2))} FROM o.t"
        if shape == 5:
            return f"SELECT {self.expression(['y'], 1)} FROM (SELECT {self.expression(names, 1)} AS y FROM o.t) s"
        if shape == 6:
            arms = " UNION ALL ".join(f"SELECT {self.expression(names, 1)} AS y FROM o.t" for _ in range(2))
            return f"WITH w AS ({arms}) SELECT {self.expression(['y'], 1)} FROM w"
        if shape == 7:
            column = self.random.choice("i j x wo m ct h".split())
            return f"SELECT {self.expression([column], 1)} FROM o.t {self.pick('', 'LEFT ', 'FULL ')}JOIN o.t2 USING ({column})"
        if shape == 8:
            what = self.pick("1", "pr", "t", "i", "h", "DISTINCT 1", "DISTINCT i")  # a type's own order needs no rule
            return f"SELECT count({what}) FROM o.t WHERE {self.expression(names, 1)} IS NULL"
        if shape == 9:
            arms = " UNION ALL ".join(f"SELECT {self.leaf(names)} FROM o.t" for _ in range(self.pick(1, 2)))
            return f"WITH RECURSIVE w (y) AS ({arms} UNION ALL SELECT {self.expression(['y'], 1)} FROM w) SELECT y FROM w"
        return f"WITH w (y, z) AS (SELECT {self.leaf(names)}, {self.leaf(names)} FROM o.t) SELECT {self.expression(['y', 'z'], 1)} FROM w"


class Casts(Generator):
    """Places where values become others, mostly of types that have casts."""

    NAMES = "nu nu nu nu i i j n m x wo nus b".split()

    def statement(self):
        self.types = []
        one = lambda: self.expression(self.NAMES, self.pick(0, 0, 1))
        column = lambda: self.random.choice(self.NAMES)
        written = lambda: self.random.choice("i j n b x m nu nus wo sm pr".split())
        shape = self.pick(
            lambda: f"INSERT INTO o.t ({written()}) VALUES ({one()})",
            lambda: f"INSERT INTO o.t ({written()}) SELECT {one()} FROM o.t",
            lambda: f"INSERT INTO o.t ({written()}) VALUES ('1'), ({self.leaf([])}) ON CONFLICT DO NOTHING",
            lambda: f"UPDATE o.t SET {written()} = {one()}",
            lambda: f"UPDATE o.t SET (i, {self.pick('x', 'nu', 'b')}) = ({one()}, {one()})",
            lambda: f"UPDATE o.t SET (i, {self.pick('x', 'nu', 'b')}) = (SELECT {one()}, {one()} FROM o.t2)",
            lambda: f"UPDATE o.t SET {self.pick('nus[1]', 'ia[' + column() + ']', 'pr.a', 'pr.b')} = {one()}",
            lambda: f"DELETE FROM o.t WHERE {self.pick('', 'NOT ', 'b OR ')}{column()}",
            lambda: f"MERGE INTO o.t USING o.t2 ON t.i = t2.i AND t.{column()} WHEN MATCHED AND t.{column()} THEN UPDATE SET "
                    f"{written()} = t.{column()} WHEN NOT MATCHED THEN INSERT ({written()}) VALUES ({self.leaf([])})",
            lambda: f"SELECT rank({self.leaf([])}) WITHIN GROUP (ORDER BY {column()}) FROM o.t",
            lambda: f"SELECT percentile_{self.pick('cont', 'disc')}(0.5) WITHIN GROUP (ORDER BY {column()}) FROM o.t",
            lambda: f"SELECT xmlconcat({one()}, NULL), xmlparse(CONTENT {one()}) FROM o.t",
            lambda: f"SELECT {self.pick('xmlelement(name a, ', 'xmlforest(', 'xmlpi(name a, ', 'xmlroot(')}{one()}"
                    f"{self.pick(')', ', VERSION ' + column() + ')')} FROM o.t",
            lambda: f"SELECT xmlserialize(CONTENT {one()} AS {self.pick('text', 'varchar(3)')}), {one()} IS DOCUMENT FROM o.t",
            lambda: f"SELECT q.* FROM o.t, XMLTABLE({self.pick(repr('/a'), column())} PASSING {one()} COLUMNS k {self.pick('text', 'int', 'o.num')} "
                    f"PATH {self.pick(repr('b'), column())} DEFAULT {one()}) q",
            lambda: f"SELECT js[{column()}][{one()}] FROM o.t",
            lambda: f"SELECT ia[{column()}:{one()}], nus[{column()}] FROM o.t",
            lambda: f"SELECT count(*) OVER (ORDER BY {self.pick('i', 'n', 'd', 'tz')} RANGE BETWEEN {self.leaf([])} PRECEDING AND CURRENT ROW) FROM o.t",
            lambda: f"SELECT count(*) OVER (ORDER BY i {self.pick('ROWS', 'GROUPS')} {self.leaf([])} PRECEDING) FROM o.t",
            lambda: f"SELECT ARRAY[{column()}, {one()}]::{self.pick('text', 'o.num', 'boolean', 'numeric', 'o.word')}[] FROM o.t",
            lambda: f"SELECT ROW({one()}, {one()})::o.pair, (ROW({one()}, {one()})::o.pair).a FROM o.t",
            lambda: f"SELECT {self.pick('CAST({} AS text)', '{}::boolean', 'text({})', '{}::o.num', '({})::o.small', '{}::bigint::text')} FROM o.t".format(column()),
            lambda: f"SELECT ({column()}, {column()}) IN (({one()}, {one()}), ({one()}, {one()})) FROM o.t",
            lambda: f"SELECT ({column()}, {column()}) {self.pick('=', '<')} (SELECT {one()}, {one()} FROM o.t2) FROM o.t",
            lambda: f"SELECT ({column()}, {column()}) = ANY (SELECT {one()}, {one()} FROM o.t) FROM o.t",
            lambda: f"SELECT {column()} BETWEEN SYMMETRIC {one()} AND {one()} FROM o.t",
            lambda: f"SELECT {column()} FROM o.t UNION ALL SELECT {one()} FROM o.t EXCEPT ALL SELECT {one()} FROM o.t",
            lambda: f"SELECT 1 FROM o.t TABLESAMPLE SYSTEM ({self.leaf([])}) REPEATABLE ({self.leaf([])})",
            lambda: f"SELECT concat_ws({one()}, {one()}, VARIADIC ta), format({one()}, {one()}) FROM o.t",
            lambda: f"SELECT substring({one()} FROM {one()}), position({one()} IN {one()}), {one()} AT TIME ZONE 'UTC' FROM o.t",
            lambda: f"SELECT {one()} LIKE {one()} ESCAPE {one()}, make_interval(days => {one()}) FROM o.t",
            lambda: f"SELECT {one()} OPERATOR(pg_catalog.{self.pick('=', '||', '+')}) {one()}, pg_catalog.lower({one()}) FROM o.t",
            lambda: f"SELECT width_bucket({one()}, nus), array_cat(nus, ARRAY[{one()}]), {one()} || nus FROM o.t",
            lambda: f"SELECT {self.pick('coalesce', 'greatest', 'nullif')}({column()}, {one()}) FROM o.t",
            lambda: f"SELECT ARRAY[{column()}, {one()}, {one()}] FROM o.t",
            lambda: f"SELECT CASE WHEN {one()} THEN {column()} ELSE {one()} END FROM o.t",
            lambda: f"SELECT CASE {column()} WHEN {one()} THEN 1 END FROM o.t",
            lambda: f"SELECT {column()} FROM o.t UNION ALL SELECT {one()} FROM o.t",
            lambda: f"SELECT 1 FROM o.t WHERE {self.pick('', 'NOT ', 'b AND ')}{column()}",
            lambda: f"SELECT v.* FROM o.t, LATERAL (VALUES ({column()}), ({one()})) v",
            lambda: f"SELECT {column()} IN ({one()}, {one()}) FROM o.t",
            lambda: f"SELECT {one()} = ANY (nus) FROM o.t",
            lambda: f"SELECT {column()} IN (SELECT {one()} FROM o.t) FROM o.t",
            lambda: f"SELECT ia[{column()}] FROM o.t",
            lambda: f"SELECT 1 FROM o.t LIMIT (SELECT {column()} FROM o.t)",
            lambda: f"SELECT count(*) FILTER (WHERE {column()}) FROM o.t",
            lambda: f"SELECT {column()} IS TRUE FROM o.t",
            lambda: f"SELECT 1 FROM o.t JOIN o.t2 ON {column()} = {self.pick('t2.i', 't2.x', 't2.m')}".replace(" ON i", " ON t.i").replace(" ON x", " ON t.x").replace(" ON m", " ON t.m"),
            lambda: f"SELECT 1 FROM (SELECT {column()} AS k FROM o.t) a JOIN (SELECT {one()} AS k FROM o.t) b USING (k)",
            lambda: f"SELECT {self.pick('array_append(nus, ', 'array_position(nus, ', 'array_remove(nus, ')}{one()}) FROM o.t",
            lambda: f"SELECT lead({column()}, 1, {one()}) OVER () FROM o.t",
            lambda: f"SELECT {self.expression(self.NAMES, 2)} FROM o.t")
        return shape()


# For an agent that may make functions and operators in a schema of the path: what pg_catalog has for exactly these types
# is found first whatever the agent makes, all else is not.
EXACT = ["i = 1", "i = 3000000000", "x = '1'", "i + 1 > 2", "x || 'b' = 'c'", "lower(x) LIKE 'a%'", "count(*) > 1", "s = i",
         "i IN (1, 2)", "i = ANY ('{1}')", "i = ANY (ARRAY[1, 2])", "i BETWEEN 1 AND 2", "nullif(x, 'a') IS NULL",
         "CASE i WHEN 1 THEN 2 END < 3", "(i, x) = (1, 'a')", "i = (SELECT max(i) FROM o.t2)", "- i < 0", "j <> i * 2",
         "coalesce(i, 1) = 1", "tz > current_timestamp", "x = ANY (SELECT ct FROM o.t2)", "abs(i) = 1"]
OPEN = ["n = 1", "v = 'a'", "'a' = 'b'", "wo = 'a'", "lower(v) = 'a'", "now() IS NULL AND round('1') IS NULL", "m = '1'",
        "x = v", "i = 2.5", "i === 1", "f = i"]


def prepare(cursor, overloads=True):
    cursor.execute(SCHEMA)
    for number, (name, left, right) in enumerate(OPERATORS if overloads else ()):
        arguments = ", ".join(x for x in (left, right) if x)
        result = "boolean" if name in ("=", "<", ">=", "<=", "~~") else "text"
        cursor.execute(f"CREATE FUNCTION op_{number}({arguments}) RETURNS {result} IMMUTABLE LANGUAGE plpgsql AS "
                       "'BEGIN RETURN NULL; END'")
        cursor.execute(f"CREATE OPERATOR o.{name} (FUNCTION = op_{number}"
                       + (f", LEFTARG = {left}" if left else "") + f", RIGHTARG = {right})")
    for signature in FUNCTIONS if overloads else ():
        cursor.execute(f"CREATE FUNCTION {signature} RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT NULL::text'")
    cursor.execute(ORACLE)
    cursor.execute("GRANT USAGE ON SCHEMA o TO agent; GRANT ALL ON ALL TABLES IN SCHEMA o TO agent")


def verdicts(upstream, agent, lines):
    with tempfile.TemporaryDirectory(prefix="pgwicket-overloads-") as folder:
        path = os.path.join(folder, "wicket.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(upstream=upstream))
        result = subprocess.run([BIN, "judge", path, "--agent", agent], input="".join(json.dumps(l) + "\n" for l in lines),
                                capture_output=True, text=True, check=False, timeout=500)
        equal(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]


def compare(database, agent, path, kind=Generator):
    generator = kind(SEED)
    made = []
    for _ in range(COUNT):
        sql = generator.statement()
        made.append((sql, ", ".join(generator.types)))
    tried = []
    with psycopg2.connect(database.superuser) as owner:
        cursor = owner.cursor()
        cursor.execute(f"SET search_path = {path}; SET check_function_bodies = on")
        for sql, types in made:
            cursor.execute("SELECT oracle.chosen(%s, %s)", (sql, types))
            chosen = cursor.fetchone()[0]
            if chosen is not None:
                tried.append((sql, types, chosen))
        owner.rollback()
    lines = [{"sql": f"PREPARE p ({types}) AS {sql}" if types else sql} for sql, types, _ in tried]
    answers = verdicts(database.upstream, agent, lines)
    equal(len(answers), len(lines))
    missed, stricter, users = [], [], 0
    for (sql, types, chosen), answer in zip(tried, answers):
        users += chosen != ""
        if chosen and answer["verdict"] == "allow":
            missed.append(f"{sql} ({types}): the server calls {chosen}")
        if not chosen and answer["verdict"] != "allow":
            stricter.append(f"{sql} ({types}): {answer.get('message', answer)}")
    own = len(tried) - users
    print(f"     seed {SEED}, path {path}: {COUNT} statements, {len(tried)} valid, {users} choose a user's; of the other "
          f"{own}, {len(stricter)} rejected")
    for text in stricter[:int(os.environ.get("PGWICKET_SHOW", "0"))]:
        print("     stricter:", text)
    check(not missed, f"{len(missed)} pass that call a user's: " + "\n".join(missed[:20]))
    check(len(tried) > VALID_SHARE * COUNT, f"only {len(tried)} are valid")
    check(users > CHOSEN_SHARE * len(tried), f"only {users} choose a user's")
    return len(stricter) / own


def test_what_the_server_would_choose_needs_call():
    with Database() as database:
        with psycopg2.connect(database.superuser) as owner:
            prepare(owner.cursor())
        share = compare(database, "last", "o")
        check(share < STRICTER_SHARE, f"{share:.0%} of what the server takes from pg_catalog is rejected")


def test_casts_of_users_need_call_wherever_they_run():
    with Database() as database:
        with psycopg2.connect(database.superuser) as owner:
            prepare(owner.cursor(), overloads=False)
            owner.cursor().execute(CASTS)
        compare(database, "last", "o", Casts)


# No function of these names takes the row, so that f(row) is row.f, of a type whose operators are a user's.
FIELDS = """
SET search_path = o;
CREATE TABLE named (length mood, upper mood, i int);
CREATE FUNCTION mood_int(mood, int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE OPERATOR o.= (FUNCTION = mood_int, LEFTARG = mood, RIGHTARG = int);
CREATE OPERATOR o.|| (FUNCTION = mood_int, LEFTARG = mood, RIGHTARG = int);
GRANT SELECT ON named TO agent;
"""


def test_a_call_that_is_a_field_has_the_fields_type():
    with Database() as database:
        with psycopg2.connect(database.superuser) as owner:
            cursor = owner.cursor()
            prepare(cursor, overloads=False)
            cursor.execute(FIELDS)
            lines = ["SELECT length(n) = 1 FROM o.named n", "SELECT n.length = 1 FROM o.named n",
                     "SELECT upper(s) || 1 FROM (SELECT * FROM o.named) s", "SELECT length(named) = 1 FROM o.named",
                     "SELECT length((SELECT n FROM o.named n)) = 1", "SELECT i = 1 FROM o.named",
                     "SELECT length(upper(x)) = 1 FROM o.t"]
            chosen = []
            for sql in lines:
                cursor.execute("SET search_path = o")
                cursor.execute("SELECT oracle.chosen(%s, %s)", (sql, ""))
                chosen.append(cursor.fetchone()[0])
        equal(["(mood," in (text or "") for text in chosen], [True] * 5 + [False] * 2, chosen)
        answers = verdicts(database.upstream, "last", [{"sql": sql} for sql in lines])
        equal([answer["verdict"] for answer in answers], ["reject"] * 5 + ["allow"] * 2,
              [answer.get("message") for answer in answers])


def test_a_schema_before_pg_catalog_wins_where_both_fit_exactly():
    with Database() as database:
        with psycopg2.connect(database.superuser) as owner:
            prepare(owner.cursor())
        compare(database, "first", "o, pg_catalog")


def test_what_an_agent_may_make_hides_no_exact_builtin():
    with Database() as database:
        with psycopg2.connect(database.superuser) as owner:
            cursor = owner.cursor()
            cursor.execute(SCHEMA)
            cursor.execute("CREATE SCHEMA e; GRANT ALL ON SCHEMA o, e TO agent; GRANT ALL ON ALL TABLES IN SCHEMA o TO agent")
        lines = [{"sql": f"SELECT {text} FROM o.t GROUP BY o.t.*, o.t.i, o.t.x, o.t.s, o.t.j, o.t.tz"} for text in EXACT + OPEN]
        for line, answer in zip(lines, verdicts(database.upstream, "coder", lines)):
            passes = line["sql"].startswith(tuple(f"SELECT {text} FROM" for text in EXACT))
            equal(answer["verdict"], "allow" if passes else "reject", f"{line['sql']}: {answer}")
        # Whoever may set the path may put anything before pg_catalog.
        for line, answer in zip(lines, verdicts(database.upstream, "setter", lines)):
            if "=" in line["sql"] and "LIKE" not in line["sql"]:
                equal(answer["verdict"], "reject", f"{line['sql']}: {answer}")


def test_whoever_may_make_anything_hides_no_exact_builtin():
    # No columns: an ALTER may have changed their types.
    cases = [("SELECT count(*) FROM o.t", True), ("SELECT 1 < 2 FROM o.t", True), ("SELECT lower('a'::pg_catalog.text) FROM o.t", True),
             ("SELECT count(*) FROM o.t WHERE 1 + 1 = 2", True), ("SELECT pg_catalog.now() FROM o.t", True),
             ("SELECT 1 < 2.5 FROM o.t", False), ("SELECT lower('a'::varchar) FROM o.t", False), ("SELECT 1 === 2 FROM o.t", False),
             ("SET search_path = e, pg_catalog", False)]
    with Database() as database:
        with psycopg2.connect(database.superuser) as owner:
            cursor = owner.cursor()
            cursor.execute(SCHEMA)
            cursor.execute("CREATE SCHEMA e; GRANT ALL ON SCHEMA o, e TO agent; GRANT ALL ON ALL TABLES IN SCHEMA o TO agent")
        for (sql, passes), answer in zip(cases, verdicts(database.upstream, "maker", [{"sql": sql} for sql, _ in cases])):
            equal(answer["verdict"] == "allow", passes, f"{sql}: {answer}")


if __name__ == "__main__":
    sys.exit(main(globals()))

"""Columns exactly: generated statements over tables with a forbidden column, judged by pgwicket and by PostgreSQL.

To PostgreSQL the agent's role has every right on every column but `secret`; to pgwicket the policy closes
`secret` by not_columns, and in another policy by `hidden`. What the server denies pgwicket must reject: always.
What the server permits pgwicket must allow, but for what the server's planner drops before it asks for rights:
WITH queries that nothing uses, and now and then a sub-select.

The statements come from a seed (PGWICKET_SEED, printed); PGWICKET_LONG makes ten times as many.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import BIN, Database

SEED = int(os.environ.get("PGWICKET_SEED", "20261130"))
COUNT = 8000 if os.environ.get("PGWICKET_LONG") else 800
VALID_SHARE = 0.6  # of what is generated, the server must understand
DROPPED_SHARE = 0.003
DENIED_SHARE = 0.2  # and deny, so that both answers are tried

SCHEMA = """
CREATE SCHEMA c;
CREATE DOMAIN c.word AS text;
CREATE TABLE c.t (a int PRIMARY KEY, b text, secret text, d int);
CREATE TABLE c.u (a int PRIMARY KEY, e int, secret int, w c.word);
CREATE TABLE c.s (secret text, f int PRIMARY KEY, b text);
CREATE TABLE c.kid (extra int) INHERITS (c.t);
CREATE TABLE c.p (a int PRIMARY KEY, b text, secret text) PARTITION BY RANGE (a);
CREATE TABLE c.p_1 PARTITION OF c.p FOR VALUES FROM (0) TO (1000);
GRANT USAGE ON SCHEMA c TO agent;
"""
TABLES = {"c.t": ["a", "b", "secret", "d"], "c.u": ["a", "e", "secret", "w"], "c.s": ["secret", "f", "b"],
          "c.kid": ["a", "b", "secret", "d", "extra"], "c.p": ["a", "b", "secret"], "c.p_1": ["a", "b", "secret"]}
TEXTS = {"b", "secret", "w"}
KEYS = {"c.t": "a", "c.u": "a", "c.s": "f", "c.p": "a"}

CONFIGURATION = """
listen: {{address: "127.0.0.1:0"}}
audit: {{file: "-"}}
upstreams: {{shop: "{upstream}"}}
agents:
  not_columns: {{secret: agent-secret, upstream: shop, policy: not_columns}}
  hidden: {{secret: agent-secret, upstream: shop, policy: hidden}}
policies:
  not_columns:
    search_path: [c]
    rules:
      - allow: [select]
        on: [c.*]
        not_columns: [secret]
        max_rows: 1000000
      - allow: [insert, update]
        on: [c.*]
        not_columns: [secret]
      - allow: [delete, lock]
        on: [c.*]
  hidden:
    search_path: [c]
    hidden: [c.*.secret]
    rules:
      - allow: [select]
        on: [c.*]
        max_rows: 1000000
      - allow: [insert, update, delete, lock]
        on: [c.*]
"""


class Source:
    """An entry of FROM: its alias, and the columns that it gives."""

    def __init__(self, alias, columns):
        self.alias, self.columns = alias, columns


class Generator:
    """Random statements. `depth` bounds how far queries nest; names visible from outside are `outer`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.aliases = 0

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *choices):
        return self.random.choice(choices)

    def alias(self):
        self.aliases += 1
        return f"x{self.aliases}"

    def table(self):
        return self.random.choice(list(TABLES))

    def column(self, columns):
        """A column of the list; the forbidden one less often than others."""
        open_ones = [c for c in columns if c != "secret"]
        if open_ones and not self.chance(0.12):
            return self.random.choice(open_ones)
        return self.random.choice(columns)

    # --- expressions --------------------------------------------------------------------------

    def reference(self, sources):
        source = self.random.choice(sources)
        name = self.column(source.columns)
        return name if self.chance(0.25) else f"{source.alias}.{name}"

    def expression(self, sources, depth=2):
        kind = self.random.randrange(20)
        if kind < 9 or depth <= 0:
            return self.reference(sources)
        inner = self.expression(sources, depth - 1)
        source = self.random.choice(sources)
        return {
            9: lambda: f"lower(({inner})::text)",
            10: lambda: f"coalesce(({inner})::text, 'x')",
            11: lambda: f"CASE WHEN {self.condition(sources, depth - 1)} THEN 1 ELSE 2 END",
            12: lambda: f"(SELECT max({self.reference(sources)}::text))",
            13: lambda: f"ROW({inner}, {self.reference(sources)})::text",
            14: lambda: f"({source.alias}).{self.column(source.columns)}",
            15: lambda: self.whole(source),
            16: lambda: f"ARRAY[({inner})::text]",
            17: lambda: f"({inner}) IS NULL",
            18: lambda: f"EXISTS ({self.query(depth - 1, sources)})",
            19: lambda: str(self.random.randrange(100)),
        }[kind]()

    def whole(self, source):
        if self.chance(0.6):
            return self.reference([source])
        return self.pick(f"{source.alias}", f"{source.alias}.*", f"row_to_json({source.alias})::text",
                         f"{source.alias}.row_to_json::text", f"({source.alias}).row_to_json::text",
                         f"to_jsonb({source.alias})::text", f"{source.alias}::text", f"({source.alias}.*)::text",
                         f"{source.alias} IS NULL", f"count({source.alias}.*) OVER ()",
                         f"to_jsonb({source.alias}) ->> 'a'")

    def condition(self, sources, depth=1):
        kind = self.random.randrange(9)
        left = self.reference(sources)
        if kind < 3:
            return f"{left}::text = 'v{self.random.randrange(9)}'"
        if kind == 3:
            return f"{left}::text = {self.reference(sources)}::text"
        if kind == 4:
            return f"{left} IS NOT NULL"
        if kind == 5 and depth > 0:
            return f"{left}::text IN ({self.query(depth - 1, sources, one_column=True)})"
        if kind == 6 and depth > 0:
            return f"EXISTS ({self.query(depth - 1, sources)})"
        if kind == 7:
            return f"({left}::text LIKE 'a%' OR NOT {left} IS NULL)"
        return f"({self.reference(sources)}::text, 1) = ({self.reference(sources)}::text, 1)"

    # --- FROM -----------------------------------------------------------------------------------

    def source(self, depth, outer, ctes):
        kind = self.random.randrange(12)
        alias = self.alias()
        if ctes and kind < 2:
            name, columns = self.random.choice(ctes)
            return f"{name} AS {alias}", Source(alias, columns)
        if depth > 0 and kind == 2:
            text, columns = self.subquery(depth - 1, outer)
            return f"({text}) AS {alias}", Source(alias, columns)
        if depth > 0 and kind == 3:
            text, columns = self.subquery(depth - 1, outer)
            renamed = [f"r{n}" if self.chance(0.5) else c for n, c in enumerate(columns)]
            return f"({text}) AS {alias} ({', '.join(renamed)})", Source(alias, renamed)
        table = self.table()
        columns = TABLES[table]
        if kind == 4:
            renamed = [f"r{n}" for n in range(self.random.randrange(1, len(columns) + 1))]
            return f"{table} AS {alias} ({', '.join(renamed)})", Source(alias, renamed + columns[len(renamed):])
        if kind == 5:
            return table, Source(table.split(".")[1], columns)
        only = "ONLY " if self.chance(0.1) else ""
        return f"{only}{table} AS {alias}", Source(alias, columns)

    def join(self, left, right):
        """JOIN words, and the condition."""
        shared = [c for c in left.columns if c in right.columns]
        kind = self.random.randrange(10)
        if kind == 0:
            return "NATURAL JOIN", ""
        if kind < 4 and shared:
            return "LEFT JOIN", f" USING ({self.column(shared)})"
        if kind == 4:
            return "CROSS JOIN", ""
        return "JOIN", (f" ON {left.alias}.{self.column(left.columns)}::text = "
                        f"{right.alias}.{self.column(right.columns)}::text")

    def from_clause(self, depth, outer, ctes):
        text, source = self.source(depth, outer, ctes)
        sources = [source]
        while self.chance(0.3) and len(sources) < 3:
            more, other = self.source(depth, outer, ctes)
            if self.chance(0.3):
                text += f", {more}"
            else:
                words, condition = self.join(sources[-1], other)
                text = f"{text} {words} {more}{condition}"
            sources.append(other)
        return text, sources

    # --- SELECT ---------------------------------------------------------------------------------

    def subquery(self, depth, outer):
        """A query with named columns."""
        if self.chance(0.15):
            table = self.table()
            return f"SELECT * FROM {table}", TABLES[table]
        text, sources = self.from_clause(depth, outer, [])
        names = [self.pick("a", "b", "k", "secret") for _ in range(self.random.randrange(1, 4))]
        targets = ", ".join(f"{self.expression(sources, 1)} AS {name}" for name in names)
        return f"SELECT {targets} FROM {text}", names

    def with_clause(self, depth):
        name, ctes = self.alias(), []
        text, columns = self.subquery(depth, [])
        ctes.append((name, columns))
        return f"WITH {name} AS ({text}) ", ctes

    def query(self, depth, outer=(), one_column=False):
        head, ctes = self.with_clause(depth - 1) if depth > 0 and self.chance(0.15) else ("", [])
        text, sources = self.from_clause(depth, list(outer), ctes)
        visible = sources + list(outer)
        grouped = self.chance(0.12)
        if grouped:
            return head + self.grouped(text, sources)
        count = 1 if one_column else self.random.randrange(1, 4)
        targets = [self.expression(visible, depth) for _ in range(count)]
        if one_column:
            targets[0] = f"({targets[0]})::text"
        elif self.chance(0.08):
            targets.append(self.pick("*", f"{sources[0].alias}.*"))
        sql = f"SELECT {', '.join(targets)} FROM {text}"
        if self.chance(0.5):
            sql += f" WHERE {self.condition(visible, depth)}"
        return head + sql + ("" if one_column else self.tail(sources))

    def grouped(self, text, sources):
        key = self.reference(sources)
        value = self.reference(sources)
        aggregate = self.pick(f"count({value})", "count(*)", f"max({value}::text)",
                              f"array_agg({value}::text ORDER BY {self.reference(sources)}::text)",
                              f"count(*) FILTER (WHERE {value} IS NULL)")
        sql = f"SELECT {aggregate} FROM {text} GROUP BY {key}"
        if self.chance(0.3):
            sql += f" HAVING count({self.reference(sources)}) > 1"
        return sql

    def tail(self, sources):
        kind = self.random.randrange(10)
        if kind == 0:
            return f" ORDER BY {self.reference(sources)}::text"
        if kind == 1:
            return " ORDER BY 1"
        if kind == 2:
            return f" ORDER BY {self.reference(sources)}"
        if kind == 3:
            return " LIMIT 5"
        if kind == 4:
            return f" FOR UPDATE OF {sources[0].alias}"
        return ""

    def select(self):
        kind = self.random.randrange(14)
        text, sources = self.from_clause(2, [], [])
        if kind == 0:
            return f"TABLE {self.table()}"
        if kind == 1:
            return f"SELECT {self.reference(sources)}::text FROM {text} UNION {self.query(1, one_column=True)}"
        if kind == 2:
            return (f"SELECT rank() OVER w, {self.reference(sources)} FROM {text} "
                    f"WINDOW w AS (PARTITION BY {self.reference(sources)} ORDER BY {self.reference(sources)})")
        if kind == 3:
            return (f"SELECT DISTINCT ON ({self.reference(sources)}) {self.reference(sources)} FROM {text}")
        if kind == 4:
            inner = self.query(1, sources)
            return f"SELECT {self.reference(sources)} FROM {text}, LATERAL ({inner}) AS y"
        return self.query(2)

    # --- writes ---------------------------------------------------------------------------------

    def values(self, columns):
        return ", ".join(f"'{self.random.randrange(9)}'" for _ in columns)

    def some_columns(self, columns):
        picked = [c for c in columns if c != "secret" or self.chance(0.15)]
        self.random.shuffle(picked)
        return picked[:self.random.randrange(1, len(picked) + 1)]

    def returning(self, source):
        if self.chance(0.6):
            return ""
        return " RETURNING " + self.pick("*", self.reference([source]), self.expression([source], 1))

    def insert(self):
        table = self.table()
        columns = self.some_columns(TABLES[table])
        source = Source(table.split(".")[1], TABLES[table])
        listed = f" ({', '.join(columns)})"
        if self.chance(0.2):
            columns, listed = TABLES[table][:self.random.randrange(1, len(TABLES[table]) + 1)], ""
        sql = f"INSERT INTO {table}{listed} "
        if self.chance(0.3):
            text, sources = self.from_clause(1, [], [])
            sql += f"SELECT {', '.join('NULL' if self.chance(0.5) else self.reference(sources) for _ in columns)} "
            sql += f"FROM {text}"
        elif self.chance(0.1):
            sql = f"INSERT INTO {table} DEFAULT VALUES"
        else:
            sql += f"VALUES ({self.values(columns)})"
        return sql + self.on_conflict(table) + self.returning(source)

    def on_conflict(self, table):
        if table not in KEYS or self.chance(0.6):
            return ""
        if self.chance(0.3):
            return f" ON CONFLICT ({KEYS[table]}) DO NOTHING" if self.chance(0.7) else " ON CONFLICT DO NOTHING"
        name = table.split(".")[1]
        column = self.column([c for c in TABLES[table] if c != KEYS[table]])
        value = self.pick(f"excluded.{column}", "NULL", f"{name}.{column}")
        where = f" WHERE {name}.{self.column(TABLES[table])} IS NOT NULL" if self.chance(0.4) else ""
        return f" ON CONFLICT ({KEYS[table]}) DO UPDATE SET {column} = {value}{where}"

    def assignment(self, columns, sources):
        column = self.column(columns)
        same = [s for s in sources if column in s.columns]
        value = f"{self.random.choice(same).alias}.{column}" if same and self.chance(0.4) else "NULL"
        return f"{column} = {value}"

    def update(self):
        table, alias = self.table(), self.alias()
        target = Source(alias, TABLES[table])
        text, sources = "", [target]
        if self.chance(0.3):
            words, more = self.from_clause(1, [], [])
            text, sources = f" FROM {words}", sources + more
        sql = f"UPDATE {table} AS {alias} SET {self.assignment(TABLES[table], sources)}{text}"
        if self.chance(0.7):
            sql += f" WHERE {self.condition(sources)}"
        return sql + self.returning(target)

    def delete(self):
        table, alias = self.table(), self.alias()
        target = Source(alias, TABLES[table])
        text, sources = "", [target]
        if self.chance(0.3):
            words, more = self.from_clause(1, [], [])
            text, sources = f" USING {words}", sources + more
        return f"DELETE FROM {table} AS {alias}{text} WHERE {self.condition(sources)}{self.returning(target)}"

    def merge(self):
        table = self.pick("c.t", "c.u", "c.s")
        target, (text, source) = Source(self.alias(), TABLES[table]), self.source(1, [], [])
        both = [target, source]
        arms = [f"WHEN MATCHED THEN UPDATE SET {self.assignment(target.columns, both)}",
                f"WHEN MATCHED AND {self.condition(both, 0)} THEN DELETE",
                "WHEN MATCHED THEN DO NOTHING",
                f"WHEN NOT MATCHED THEN INSERT ({self.column(target.columns)}) VALUES (NULL)",
                f"WHEN NOT MATCHED AND {source.alias}.{self.column(source.columns)} IS NULL THEN DO NOTHING"]
        chosen = self.random.sample(arms, self.random.randrange(1, 3))
        return (f"MERGE INTO {table} AS {target.alias} USING {text} ON {target.alias}."
                f"{self.column(target.columns)}::text = {source.alias}.{self.column(source.columns)}::text "
                + " ".join(chosen))

    def copy(self):
        if self.chance(0.5):
            return f"COPY ({self.query(1)}) TO STDOUT"
        table = self.pick("c.t", "c.u", "c.s", "c.p_1")
        listed = f" ({', '.join(self.some_columns(TABLES[table]))})" if self.chance(0.7) else ""
        return f"COPY {table}{listed} {self.pick('TO STDOUT', 'FROM STDIN')}"

    def statement(self):
        kind = self.random.randrange(20)
        if kind < 10:
            return self.select()
        makers = [self.insert, self.insert, self.insert, self.update, self.update, self.update, self.delete,
                  self.delete, self.merge, self.copy]
        return makers[kind - 10]()


def grants(database):
    """Every right but on `secret`."""
    for table, columns in TABLES.items():
        listed = ", ".join(c for c in columns if c != "secret")
        database.ask(f"GRANT SELECT ({listed}), INSERT ({listed}), UPDATE ({listed}), DELETE ON {table} TO agent")


class Sink:
    """Takes and gives nothing."""

    def write(self, data):
        return len(data)

    def read(self, _size=0):
        return ""

    readline = read


def ask_server(connection, sql):
    """"denied", "permitted", or None where the server does not understand the statement."""
    cursor = connection.cursor()
    try:
        if sql.startswith("COPY"):
            cursor.copy_expert(sql, Sink())
        else:
            cursor.execute("EXPLAIN " + sql)
        return "permitted"
    except psycopg2.Error as error:
        if error.pgcode == "42501":
            return "denied"
        # What was understood and permitted may still fail on its values.
        return "permitted" if error.pgcode and error.pgcode[:2] in ("22", "23") else None
    finally:
        connection.rollback()


def ask_pgwicket(database, agent, statements, configuration=CONFIGURATION):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(configuration.format(upstream=database.upstream))
        file.flush()
        lines = "".join(json.dumps({"sql": sql}) + "\n" for sql in statements)
        run = subprocess.run([BIN, "judge", file.name, "--agent", agent], input=lines, capture_output=True,
                             text=True, check=False, timeout=500)
    equal(run.returncode, 0, run.stderr)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    equal(len(answers), len(statements), "answers")
    return answers


def test_what_the_server_denies_is_rejected():
    with Database() as database:
        database.ask(SCHEMA)
        grants(database)
        generator = Generator(SEED)
        statements = [generator.statement() for _ in range(COUNT)]
        connection = psycopg2.connect(database.upstream)
        server = [ask_server(connection, sql) for sql in statements]
        connection.close()
        valid = [(sql, said) for sql, said in zip(statements, server) if said]
        counts = collections.Counter(server)
        print(f"     seed {SEED}: {counts}")
        check(len(valid) > COUNT * VALID_SHARE, "too few statements are understood")
        check(counts["denied"] > COUNT * DENIED_SHARE, "too few statements are denied")
        for agent in ("not_columns", "hidden"):
            compare(agent, valid, ask_pgwicket(database, agent, [sql for sql, _ in valid]))


def has_unused_with(sql):
    """The server drops a WITH query that nothing refers to, and asks for no right on it; pgwicket judges it."""
    names = re.findall(r"WITH (x[0-9]+) AS", sql)
    return any(len(re.findall(rf"\b{name}\b", sql)) == 1 for name in names)


def compare(agent, valid, answers):
    wrongly_allowed, wrongly_rejected, stricter = [], [], 0
    for (sql, said), answer in zip(valid, answers):
        allowed = answer["verdict"] == "allow"
        if allowed and said == "denied":
            wrongly_allowed.append(sql)
        if not allowed and said == "permitted" and has_unused_with(sql):
            stricter += 1
        elif not allowed and said == "permitted":
            wrongly_rejected.append(f"{answer['reason']} | {answer.get('message')}\n          {sql}")
    print(f"     {agent}: {stricter} of {sum(s == 'permitted' for _, s in valid)} permitted ones are rejected for "
          f"a WITH query that is not used, {len(wrongly_rejected)} for other reasons")
    equal(wrongly_allowed, [], "denied by the server, allowed by pgwicket:\n" + "\n".join(wrongly_allowed))
    check(len(wrongly_rejected) <= len(valid) * DROPPED_SHARE,
          "permitted by the server, rejected by pgwicket:\n" + "\n".join(wrongly_rejected))


# What the server's rights know nothing of: other ways to the values of c.t.secret.
WAYS = """
CREATE VIEW c.v AS SELECT a, b FROM c.t;
CREATE VIEW c.v_star AS SELECT * FROM c.t;
CREATE VIEW c.v_named (x, y) AS SELECT a, secret FROM c.t;
CREATE VIEW c.v_part AS SELECT a, left(secret, 3) AS head FROM c.t;
CREATE VIEW c.v_over AS SELECT x FROM c.v_named;
CREATE VIEW c.v_filter AS SELECT a FROM c.t WHERE secret IS NOT NULL;
CREATE VIEW c.v_row AS SELECT t AS r FROM c.t;
CREATE VIEW c.v_json AS SELECT to_jsonb(t) AS j FROM c.t;
CREATE VIEW c.v_safe AS SELECT b FROM c.v;
CREATE MATERIALIZED VIEW c.m AS SELECT a, secret AS s FROM c.t;
CREATE MATERIALIZED VIEW c.m_safe AS SELECT a FROM c.t;
CREATE TABLE c.parent (a int, b text);
CREATE TABLE c.heir (secret text) INHERITS (c.parent);
CREATE TABLE c.grandheir () INHERITS (c.heir);
CREATE TABLE c.q (a int, secret text) PARTITION BY LIST (a);
CREATE TABLE c.q_1 PARTITION OF c.q FOR VALUES IN (1) PARTITION BY LIST (secret);
CREATE TABLE c.q_1_x PARTITION OF c.q_1 FOR VALUES IN ('x');
"""
WAYS_POLICY = """
listen: {{address: "127.0.0.1:0"}}
audit: {{file: "-"}}
upstreams: {{shop: "{upstream}"}}
agents:
  not_columns: {{secret: agent-secret, upstream: shop, policy: not_columns}}
  hidden: {{secret: agent-secret, upstream: shop, policy: hidden}}
policies:
  not_columns:
    search_path: [c]
    introspection: allow
    rules:
      - allow: [select]
        on: [c.t, c.kid, c.v, c.v_star, c.v_named, c.v_part, c.v_over, c.v_filter, c.v_row, c.v_json, c.v_safe, c.m,
             c.m_safe, c.parent, c.heir, c.grandheir, c.q, c.q_1, c.q_1_x, pg_catalog.*]
        not_columns: [c.t.secret, c.heir.secret, c.q_1.secret]
        max_rows: 1000
      - allow: [insert, update]
        on: [c.*]
        not_columns: [c.t.secret, c.heir.secret, c.q_1.secret]
  hidden:
    search_path: [c]
    introspection: allow
    hidden: [c.t.secret, c.heir.secret, c.q_1.secret]
    rules:
      - allow: [select]
        on: [c.t, c.kid, c.v, c.v_star, c.v_named, c.v_part, c.v_over, c.v_filter, c.v_row, c.v_json, c.v_safe, c.m,
             c.m_safe, c.parent, c.heir, c.grandheir, c.q, c.q_1, c.q_1_x, pg_catalog.*]
        max_rows: 1000
      - allow: [insert, update]
        on: [c.*]
"""
WAYS_CASES = """
allow   SELECT a FROM c.t
reject  SELECT secret FROM c.t
allow   SELECT a, extra FROM c.kid
reject  SELECT secret FROM c.kid
reject  SELECT * FROM ONLY c.t
allow   SELECT * FROM c.v
allow   SELECT v FROM c.v
reject  SELECT a FROM c.v_star
reject  SELECT y FROM c.v_named
reject  SELECT x FROM c.v_named
reject  SELECT head FROM c.v_part
reject  SELECT x FROM c.v_over
reject  SELECT a FROM c.v_filter
reject  SELECT r FROM c.v_row
reject  SELECT (r).a FROM c.v_row
reject  SELECT j FROM c.v_json
allow   SELECT b FROM c.v_safe
reject  SELECT s FROM c.m
allow   SELECT a FROM c.m_safe
reject  COPY c.v_named TO STDOUT
reject  COPY c.m TO STDOUT
allow   COPY c.m_safe TO STDOUT
reject  COPY c.kid (secret) TO STDOUT
allow   COPY c.kid (a, extra) TO STDOUT
reject  COPY c.t FROM STDIN
allow   COPY c.t (a, b) FROM STDIN
allow   SELECT a, b FROM c.parent
allow   SELECT * FROM c.parent
reject  SELECT secret FROM c.heir
reject  SELECT secret FROM c.grandheir
reject  SELECT * FROM c.grandheir
allow   SELECT a FROM c.q
reject  SELECT secret FROM c.q
reject  SELECT q FROM c.q
reject  SELECT secret FROM c.q_1_x
reject  INSERT INTO c.q VALUES (1, 'x')
allow   INSERT INTO c.q (a) VALUES (1)
reject  UPDATE c.q SET secret = 'y'
reject  UPDATE c.q SET a = 2 WHERE secret = 'x'
reject  UPDATE c.kid SET secret = 'y'
reject  UPDATE c.v_star SET secret = 'y'
reject  INSERT INTO c.v_named VALUES (1, 'y')
allow   INSERT INTO c.v (a) VALUES (1)
reject  SELECT c FROM c.t c
reject  SELECT c.* FROM c.t c
reject  SELECT (c).secret FROM c.t c
reject  SELECT (c).a FROM c.t c
reject  SELECT row_to_json(c) FROM c.t c
reject  SELECT c.row_to_json FROM c.t c
reject  SELECT (c).to_json FROM c.t c
reject  SELECT c.json_agg FROM c.t c
reject  SELECT json_agg(c) FROM c.t c
reject  SELECT c.text FROM c.t c
reject  SELECT c.name FROM c.t c
reject  SELECT text(c) FROM c.t c
reject  SELECT c::text FROM c.t c
reject  SELECT CAST(c AS text) FROM c.t c
reject  SELECT concat(c) FROM c.t c
reject  SELECT format('%s', c) FROM c.t c
reject  SELECT count(c) FROM c.t c
reject  SELECT c = c FROM c.t c
reject  SELECT c IS NULL FROM c.t c
reject  SELECT (SELECT c) FROM c.t c
reject  SELECT x FROM (SELECT c AS x FROM c.t c) y
reject  SELECT 1 FROM c.t c ORDER BY c
reject  SELECT count(*) FROM c.t c GROUP BY c
reject  SELECT DISTINCT c.* FROM c.t c
reject  SELECT array_agg(c) FROM c.t c
reject  SELECT ROW(c.*) FROM c.t c
reject  SELECT (ROW(c.*)).f3 FROM c.t c
reject  SELECT d.z FROM c.t AS d (x, y, z)
allow   SELECT d.y FROM c.t AS d (x, y, z)
reject  SELECT x.a FROM c.t x JOIN c.t y USING (secret)
reject  SELECT x.a FROM c.t x NATURAL JOIN c.t y
reject  TABLE c.t
reject  SELECT a FROM c.t UNION SELECT 1 FROM c.t ORDER BY (SELECT secret FROM c.t)
reject  WITH w AS (SELECT * FROM c.t) SELECT a FROM w
reject  SELECT a FROM c.t ORDER BY secret
reject  SELECT count(*) FROM c.t GROUP BY secret
reject  SELECT count(*) FROM c.t GROUP BY GROUPING SETS ((a), (secret))
reject  SELECT count(*) FILTER (WHERE secret = 'x') FROM c.t
reject  SELECT rank() OVER (PARTITION BY secret) FROM c.t
reject  SELECT a FROM c.t WHERE EXISTS (SELECT 1 WHERE secret = 'x')
reject  INSERT INTO c.t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.secret
reject  INSERT INTO c.t (a) VALUES (1) RETURNING *
reject  INSERT INTO c.t (a) VALUES (1) RETURNING secret
allow   INSERT INTO c.t (a) VALUES (1) RETURNING a
allow   SELECT count(*) FROM c.t
allow   SELECT relname FROM pg_class
reject  SELECT * FROM pg_stats
reject  SELECT most_common_vals FROM pg_stats WHERE tablename = 't'
reject  SELECT * FROM pg_catalog.pg_statistic
reject  SELECT * FROM pg_stats_ext
reject  SELECT * FROM pg_stats_ext_exprs
reject  SELECT * FROM pg_statistic_ext_data
"""


def test_every_way_to_a_column():
    cases = [line.split(maxsplit=1) for line in WAYS_CASES.strip().splitlines()]
    with Database() as database:
        database.ask(SCHEMA)
        database.ask(WAYS)
        for agent in ("not_columns", "hidden"):
            answers = ask_pgwicket(database, agent, [sql for _, sql in cases], WAYS_POLICY)
            wrong = [f"{sql}: {answer['verdict']}, {answer['reason']}"
                     for (verdict, sql), answer in zip(cases, answers) if answer["verdict"] != verdict]
            equal(wrong, [], agent + "\n" + "\n".join(wrong))


if __name__ == "__main__":
    sys.exit(main(globals()))

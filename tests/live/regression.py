"""PostgreSQL's own regression tests as statements: what a server does with each is what analyse() says of it.

They come from Debian's source package and are run in the order of their schedule, as a superuser, on a server of their
own; statement by statement syntax, number, tags, rows written, error 25006 in READ ONLY and the relations of the plan are
compared, as live/differential.py does with our own. Only with --long; skipped where there is no source package.
"""
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import differential
import pgwire
import regression
from differential import COUNTERS, FAMILY, OPEN_VERBS, WRITE_VERBS, Differences, Seen, error_of, rows_of, tags_of
from live import Skip, check, main
from shapes import Shapes, objects, verbs

SECONDS = 480  # with what is fetched; tests/run stops at 600
BETWEEN_READS = 2  # a catalog of a moment ago costs comparisons, not their truth: what differs is looked at again
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What would stop or slow down the server, or wait for others.
LEFT_OUT = re.compile(r"(?i)\bpg_(terminate_backend|reload_conf|sleep)|\balter\s+system\b|\bcreate\s+tablespace\b"
                      r"|\breindex\s+(system|database)\b"
                      r"|standard_conforming_strings")  # which pgwicket keeps on
# Changes no object: what the catalog says stays true.
QUIET = {"select", "write", "show", "set", "begin", "commit", "savepoint", "release", "explain", "fetch", "declare", "close",
         "prepare", "execute", "deallocate", "listen"}
# Its text may have syntax errors of its own.
BODY = re.compile(r"(?i)\bcreate\s+(or\s+replace\s+)?(function|procedure)\b")
DATA = {"select", "insert", "update", "delete", "truncate", "lock"}


@contextlib.contextmanager
def server():
    """A server with an empty database, in a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        program = os.path.join(TOP, "deploy", "throwaway-postgres")
        subprocess.run([program, "start", directory], check=True, capture_output=True)
        try:
            with open(os.path.join(directory, "port"), encoding="utf-8") as file:
                yield directory, int(file.read())
        finally:
            subprocess.run([program, "stop", directory], check=True, capture_output=True)


class Place:
    """The server, what is known of its catalog, and the differences that were found."""

    def __init__(self, directory, port, shapes):
        self.directory, self.port, self.shapes = directory, port, shapes
        self.syntax, self.tags, self.written, self.reading, self.planned = (Differences() for _ in range(5))
        self.stale, self.read, self.families = True, 0, {}
        self.watch = self.connect()
        self.refused = {}

    def connect(self):
        return pgwire.Connection(self.directory, self.port, "postgres", "", "postgres", timeout=60,
                                 options="-c statement_timeout=2000 -c lock_timeout=200 -c client_min_messages=error")

    def know(self, at_once=False):
        """The catalog as it is, or as it was lately; True if it was read."""
        if not self.stale or (not at_once and time.monotonic() < self.read + BETWEEN_READS):
            return False
        self.stale, self.read = False, time.monotonic()
        self.shapes.reload()
        self.families = {}
        for lower, name, upper, above in rows_of(self.watch.run(pgwire.query(FAMILY))):
            self.families.setdefault((lower, name), set()).add((upper, above))
        return True

    def shape(self, sql):
        shape = self.shapes.of(sql)
        if any(a["unresolved"] for s in shape["statements"] for a in s["actions"]) and self.know():
            shape = self.shapes.of(sql)
        return shape

    def covered(self, table, told):
        return (table[0] == "pg_catalog" and any(schema in differential.SYSTEM for schema, _ in told)
                or bool(self.families.get(table, {table}) & told))


def has_triggers(place, told):
    names = ", ".join(differential.sql_text(f"{schema}.{name}") for schema, name in told)
    return bool(told) and bool(rows_of(place.watch.run(pgwire.query(
        "SELECT 1 FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN pg_namespace n ON n.oid = relnamespace "
        f"WHERE NOT tgisinternal AND nspname || '.' || relname IN ({names})"))))


class File:
    """One file, on one connection."""

    def __init__(self, place):
        self.place, self.connection = place, place.connect()
        self.inside = False

    def ask(self, *messages):
        try:
            answers = self.connection.run(*messages)
            self.inside = pgwire.status(answers) != "I"
            return answers
        except (pgwire.Closed, OSError):
            self.connection.close()
            self.connection, self.inside = self.place.connect(), False
            return []

    def query(self, sql):
        return self.ask(pgwire.query(sql))

    def state(self):
        """Names can be compared where they are looked for in public only."""
        path = rows_of(self.query("SHOW search_path"))
        return bool(path) and path[0][0] in ('"$user", public', "public")

    def run(self, sql, data):
        """As the file wants it; the rows of which tables it wrote, where that is known."""
        messages = [pgwire.query(sql)]
        if data is not None:
            messages.append(pgwire.message("d", data.encode("utf-8", "surrogateescape")) + pgwire.message("c"))
        own = not self.inside
        if own:
            self.query("BEGIN")
        before = rows_of(self.query(COUNTERS))
        answers = self.ask(*messages)
        error = error_of(answers)
        tables = None
        if error is None and self.inside:
            tables = {tuple(row[:2]) for row in rows_of(self.query(COUNTERS)) if row not in before}
        if own and self.inside:
            self.query("ROLLBACK" if error else "COMMIT")
        if own and error and error["C"] in ("25001", "25P01"):
            answers = self.ask(*messages)
        return answers, tables

    def statement(self, sql, data):
        place = self.place
        shape = place.shape(sql)
        seen = Seen(sql, shape)
        usable = self.state()
        statement = seen.single_query() if usable else None
        if statement and place.know():
            seen = Seen(sql, place.shape(sql))
            statement = seen.single_query()
        if statement and not self.inside:
            compare_plan(self, seen, statement)
            compare_reading(self, seen)
        if seen.lasting:
            answers, tables = self.query(sql), None
        else:
            answers, tables = self.run(sql, data)
        seen.tags, seen.error = tags_of(answers), error_of(answers)
        compare_answers(place, seen)
        if statement and tables is not None:
            compare_written(place, seen, statement, tables)
        place.stale |= not seen.shape["ok"] or any(s["kind"] not in QUIET for s in seen.statements)


def compare_answers(place, seen):
    place.syntax.done += 1
    if seen.error and seen.error["C"] in ("25P02", "57014", "55P03"):
        return
    wrong = seen.error and seen.error["C"] == "42601" and "W" not in seen.error and seen.error["M"].startswith(
        ("syntax error at", "unterminated", "trailing junk")) and not BODY.search(seen.sql)
    if seen.shape["syntax"]:
        if seen.tags or seen.error is None:
            place.syntax.add(seen.sql, f"a syntax error here ({seen.shape['message']}), none there")
    elif seen.shape["ok"] and wrong:
        place.syntax.add(seen.sql, f"no syntax error here, there {seen.error['M']}")
    elif seen.shape["ok"]:
        place.tags.done += 1
        differential.compare_tags(seen, place.tags)
    elif not wrong:
        place.refused.setdefault(seen.shape["message"][:60], []).append(seen.sql)


def compare_written(place, seen, statement, tables):
    place.written.done += 1
    told = objects(statement, WRITE_VERBS)
    if verbs(statement) & OPEN_VERBS:
        return
    missing = [t for t in tables if not t[0].startswith("pg_temp") and not place.covered(t, told)]
    if missing and place.know(at_once=True):
        told = objects(place.shape(seen.sql)["statements"][0], WRITE_VERBS)
        missing = [t for t in missing if not place.covered(t, told)]
    if missing and not has_triggers(place, told):
        place.written.add(seen.sql, f"the server wrote {missing}, told {sorted(told)}")


def compare_reading(file, seen):
    if not seen.only_reads():
        return
    file.place.reading.done += 1
    file.query("BEGIN READ ONLY")
    error = error_of(file.query(seen.sql))
    file.query("ROLLBACK")
    if error and error["C"] == "25006":
        file.place.reading.add(seen.sql, error["M"])


def compare_plan(file, seen, statement):
    messages = differential.explained(statement)
    file.query("BEGIN")
    answers = [file.query(text) for text in messages][-1]
    file.query("ROLLBACK")
    plan = "".join(row[0] for row in rows_of(answers))
    if not plan:
        return
    file.place.planned.done += 1
    planned = set(re.findall(r'"Relation Name": "([^"]+)",\s*"Schema": "([^"]+)"', plan))
    missing = [name for name in planned if not covers(file.place, name, statement)]
    if missing and file.place.know(at_once=True):
        statement = file.place.shape(seen.sql)["statements"][0]
        missing = [name for name in missing if not covers(file.place, name, statement)]
    if missing:
        file.place.planned.add(seen.sql, f"{missing} are planned, told {sorted(objects(statement, DATA))}")


def covers(place, planned, statement):
    name, schema = planned
    return (schema.startswith("pg_temp") or verbs(statement) & {"call", "code"}
            or place.covered((schema, name), objects(statement, DATA)))


def test_postgresqls_own_regression_tests():
    if not os.environ.get("PGWICKET_LONG"):
        raise Skip("only with --long")
    ends = time.monotonic() + SECONDS
    with tempfile.TemporaryDirectory() as directory:
        files = regression.fetch(directory, 15)
    if not files:
        raise Skip("there is no source package of PostgreSQL 15 in this machine's archives")
    # The first makes what the others use. All of them take longer than a test may: where to begin is another each day.
    start = int(os.environ.get("PGWICKET_SEED", time.gmtime().tm_yday)) * 37 % len(files)
    names = list(files)
    names = names[:1] + names[start:] + names[1:start]
    print(f"     seed {start}: from {names[1]} on")
    with server() as (directory, port), Shapes(f"host={directory} port={port} dbname=postgres user=postgres", "public") as shapes:
        place = Place(directory, port, shapes)
        for number, name in enumerate(names):
            file = File(place)
            if time.monotonic() > ends:
                print(f"     {number} of {len(files)} files")
                break
            for sql, data in regression.statements(files[name]):
                if time.monotonic() < ends and not LEFT_OUT.search(sql):
                    file.statement(sql, data)
            file.connection.close()
            place.stale = True
        place.watch.close()
    for message, refused in sorted(place.refused.items(), key=lambda item: -len(item[1]))[:20]:
        print(f"     {len(refused)} not understood: {message}: {refused[0][:200]!r}")
    kinds = {"syntax": place.syntax, "tags": place.tags, "written": place.written, "reading": place.reading, "planned": place.planned}
    for kind, differences in kinds.items():
        print(f"     {kind}: {differences.done} compared, {len(differences.found)} differ")
        for line in differences.found[:60]:
            print("     " + line[:400].replace("\n", " "))
        check(differences.done > 100, f"too few to say anything: {kind}")
    check(not any(differences.found for differences in kinds.values()), "there are differences")


if __name__ == "__main__":
    sys.exit(main(globals()))

"""The policies of rules/examples/: each case gets its verdict, and `check` has nothing to say, with the live catalog.
What is allowed runs through a pgwicket, in the order of the cases: no other rule, right or limit stops it.

A folder is an example: `wicket.yaml`, `cases.yaml`, and `schema.sql`, which makes the tables and the one role.
"""
import glob
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, main
from wicket import BIN, SERVER_PORT, START_SECONDS, Database, free_port

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules", "examples")
NAMES = sorted(os.path.basename(path) for path in glob.glob(FOLDER + "/*") if os.path.isdir(path))
CASES_MIN = 12


def read(name, file):
    with open(os.path.join(FOLDER, name, file), encoding="utf-8") as text:
        return text.read()


class Example:
    """One example's database and role, and the environment that its configuration asks for."""

    def __init__(self, name):
        self.name = name
        self.database = Database(template="template1")
        self.role, = re.findall(r"^CREATE ROLE (\w+) LOGIN", read(name, "schema.sql"), re.MULTILINE)
        self.password = secrets.token_hex(16)
        self.environment = {**os.environ, **{key: secrets.token_hex(16) for key in self.keys()}}
        for key in self.keys():
            if key.endswith("_CONNECTION"):
                self.environment[key] = (f"host=127.0.0.1 port={SERVER_PORT} dbname={self.database.name} "
                                         f"user={self.role} password={self.password}")

    def keys(self):
        return re.findall(r"\{env: (\w+)\}", read(self.name, "wicket.yaml"))

    def __enter__(self):
        self.database.ask(f"DROP ROLE IF EXISTS {self.role}")
        self.psql("-f", os.path.join(FOLDER, self.name, "schema.sql"))
        self.psql("-c", f"ALTER ROLE {self.role} PASSWORD '{self.password}'")
        return self

    def __exit__(self, *_):
        self.database.__exit__()
        with Database(template="template1") as other:
            other.ask(f"DROP ROLE IF EXISTS {self.role}")

    def psql(self, *arguments):
        subprocess.run(["psql", "-q", "-X", "-v", "ON_ERROR_STOP=1", self.database.superuser, *arguments], check=True,
                       stdin=subprocess.DEVNULL, timeout=60)

    def pgwicket(self, command, *files):
        paths = [file if file.startswith("-") else os.path.join(FOLDER, self.name, file) for file in files]
        return subprocess.run([BIN, command, *paths], capture_output=True, text=True, check=False, timeout=60,
                              env=self.environment, stdin=subprocess.DEVNULL)


class Serving:
    """A pgwicket that serves an example."""

    def __init__(self, example):
        self.example = example
        self.text = read(example.name, "wicket.yaml")
        self.folder = tempfile.TemporaryDirectory(prefix="pgwicket-examples-")
        self.port = free_port()
        text = self.text.replace("127.0.0.1:6432", f"127.0.0.1:{self.port}").replace(":6480", f":{free_port()}")
        self.file = self.folder.name + "/wicket.yaml"
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)
        self.sessions = {}

    def __enter__(self):
        with open(self.folder.name + "/log", "wb") as log:
            self.process = subprocess.Popen([BIN, "serve", self.file], env=self.example.environment,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, kind, *_):
        for session in self.sessions.values():
            session.close()
        self.process.terminate()
        code = self.process.wait(30)
        with open(self.folder.name + "/log", encoding="utf-8") as log:
            said = log.read()
        self.folder.cleanup()
        check(kind is not None or (code == 0 and "Sanitizer" not in said), f"it ended with {code}:\n{said}")

    def session(self, agent):
        secret = re.search(rf"^  {agent}:\s*{{?\s*secret: {{env: (\w+)}}", self.text, re.MULTILINE)[1]
        end = time.monotonic() + START_SECONDS
        while agent not in self.sessions:
            try:
                session = psycopg2.connect(host="127.0.0.1", port=self.port, user=agent, connect_timeout=20,
                                           password=self.example.environment[secret],
                                           dbname=self.example.database.name)
                session.autocommit = True
                self.sessions[agent] = session
            except psycopg2.OperationalError:
                check(self.process.poll() is None and time.monotonic() < end, "pgwicket does not start")
                time.sleep(0.1)
        return self.sessions[agent]

    def run(self, case):
        cursor = self.session(case["agent"]).cursor()
        try:
            if re.match("COPY .* (STDIN|STDOUT)", case["sql"], re.DOTALL):
                with tempfile.TemporaryFile() as file:
                    cursor.copy_expert(case["sql"], file)
            else:
                cursor.execute(case["sql"])
        except psycopg2.Error as error:
            raise AssertionError(f"{case['sql']}: {error}") from error


def run_what_is_allowed(example, cases):
    """But for $1, which the driver at hand has not, and FETCH, whose cursor is in the case's setup."""
    wanted = [case for case in cases if case["expect"] == "allow" and not re.search(r"\$1|^FETCH", case["sql"])]
    with Serving(example) as serving:
        for case in wanted:
            serving.run(case)
    return len(wanted)


def run_example(name):
    with Example(name) as example:
        result = example.pgwicket("check", "wicket.yaml")
        equal((result.returncode, result.stderr), (0, ""), "check")
        result = example.pgwicket("test", "wicket.yaml", "cases.yaml")
        equal((result.returncode, result.stderr), (0, ""), result.stdout)
        result = example.pgwicket("test", "wicket.yaml", "cases.yaml", "--json")
        cases = [json.loads(line) for line in result.stdout.splitlines()]
        check(len(cases) >= CASES_MIN, f"only {len(cases)} cases")
        check({"allow", "reject"} <= {case["expect"] for case in cases}, "only one kind of verdict is expected")
        print(f"     {len(cases)} cases, {run_what_is_allowed(example, cases)} statements run")


def run_index():
    """The README has a line for each."""
    told = re.findall(r"^\| \[(\w+)/\]", read("", "README.md"), re.MULTILINE)
    equal(sorted(told), NAMES)


if __name__ == "__main__":
    tests = [(name, lambda name=name: run_example(name)) for name in NAMES]
    sys.exit(main({}, [*tests, ("the list", run_index)]))

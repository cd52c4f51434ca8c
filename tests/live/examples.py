"""The policies of rules/examples/: each case gets its verdict, and `check` has nothing to say, with the live catalog.

A folder is an example: `wicket.yaml`, `cases.yaml`, and `schema.sql`, which makes the tables and the one role.
"""
import glob
import os
import re
import secrets
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, main
from wicket import BIN, SERVER_PORT, Database

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
        paths = [os.path.join(FOLDER, self.name, file) for file in files]
        return subprocess.run([BIN, command, *paths], capture_output=True, text=True, check=False, timeout=60,
                              env=self.environment, stdin=subprocess.DEVNULL)


def run_example(name):
    with Example(name) as example:
        result = example.pgwicket("check", "wicket.yaml")
        equal((result.returncode, result.stderr), (0, ""), "check")
        result = example.pgwicket("test", "wicket.yaml", "cases.yaml")
        equal((result.returncode, result.stderr), (0, ""), result.stdout)
        passed = int(re.search(r"^(\d+) passed, 0 failed$", result.stdout, re.MULTILINE)[1])
        check(passed >= CASES_MIN, f"{name} has {passed} cases only")
        print(f"     {passed} statements")


def run_index():
    """The README has a line for each."""
    told = re.findall(r"^\| \[(\w+)/\]", read("", "README.md"), re.MULTILINE)
    equal(sorted(told), NAMES)


if __name__ == "__main__":
    tests = [(name, lambda name=name: run_example(name)) for name in NAMES]
    sys.exit(main({}, [*tests, ("the list", run_index)]))

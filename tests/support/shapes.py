"""shapes - asks the test program `shape` (shape.c) what analyse() makes of a statement."""
import json
import os
import subprocess

PROGRAM = os.path.join(os.path.dirname(os.environ.get("PGWICKET_BIN", "pgwicket")), "tests", "shape")


class Shapes:
    """One running program, with the catalog of one database."""

    def __init__(self, connection, *search_path):
        self.process = subprocess.Popen([PROGRAM, connection, *search_path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(30)
        if kind is None and code != 0:
            raise AssertionError(f"shape ended with {code}")

    def reload(self):
        """Reads the catalog anew before the next question."""
        self.process.stdin.write(b"\n")

    def of(self, sql):
        """What analyse() says of one message, which is str or bytes."""
        text = sql if isinstance(sql, bytes) else sql.encode()
        if not text:
            return {"ok": True, "syntax": False, "sqlstate": "", "message": "", "statements": []}
        self.process.stdin.write(text.hex().encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"shape died of {sql!r}")
        return json.loads(line)


def objects(statement, verbs):
    """(schema, name) of its actions with these verbs."""
    return {(a["schema"], a["name"]) for a in statement["actions"] if a["verb"] in verbs}


def verbs(statement):
    return {a["verb"] for a in statement["actions"]}

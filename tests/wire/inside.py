"""Holds that run inside of a client's transaction: whatever it does with savepoints and two-phase commits, a hold is
`executed` if and only if its statement was committed, and what was given back was not."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import ground
from live import check, equal, eventually, main, some

POLICY = """
    search_path: [w]
    hold: {wait: 1ms, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - hold: [insert]
        on: [w.log]
      - allow: [all]
        on: ["*"]
"""
# What is sent; "RUN" and "RUN2" are holds that were released. Then: is it committed, and the same of the second one.
MANY = [f"SAVEPOINT s{n}" for n in range(70)]
SAME = ["SAVEPOINT a"] * 90
PATHS = [
    (["BEGIN", "RUN", "COMMIT"], (True,)),
    (["BEGIN", "RUN", "ROLLBACK"], (False,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "ROLLBACK TO a", "COMMIT"], (False,)),
    (["BEGIN", "RUN", "SAVEPOINT a", "ROLLBACK TO a", "COMMIT"], (True,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "SAVEPOINT a", "ROLLBACK TO a", "COMMIT"], (True,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "COMMIT"], (False,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "RELEASE a", "COMMIT"], (True,)),
    (["BEGIN", "SAVEPOINT a", "SAVEPOINT b", "RUN", "RELEASE b", "ROLLBACK TO a", "COMMIT"], (False,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "RELEASE a", "SAVEPOINT a", "ROLLBACK TO a", "COMMIT"], (True,)),
    (["BEGIN", "RUN", "SAVEPOINT a", "SELECT 1/0", "ROLLBACK TO a", "COMMIT"], (True,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "SELECT 1/0", "ROLLBACK TO a", "COMMIT"], (False,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "ROLLBACK TO nothing", "ROLLBACK TO a", "COMMIT"], (False,)),
    (["BEGIN", "RUN", "SAVEPOINT a", "ROLLBACK TO nothing", "ROLLBACK TO a", "COMMIT"], (True,)),
    (["BEGIN", "RUN", "SELECT 1/0", "COMMIT"], (False,)),
    (["BEGIN", "RUN", *SAME, "ROLLBACK TO a", "COMMIT"], (True,)),
    (["BEGIN", *SAME, "RUN", "RELEASE a", "ROLLBACK TO a", "COMMIT"], (False,)),
    (["BEGIN", "RUN", *MANY[:60], "ROLLBACK TO s3", "COMMIT"], (True,)),
    (["BEGIN", "RUN", "SAVEPOINT " + "n" * 70, "ROLLBACK TO " + "n" * 70, "COMMIT"], (True,)),
    (["BEGIN", "RUN", *MANY, "ROLLBACK TO s3", "COMMIT"], (False,)), # more than are followed: the session ends
    (["BEGIN", "SELECT 1", *MANY, "RUN", "COMMIT"], (False,)),
    (["BEGIN", "RUN", "PREPARE TRANSACTION 'p'", "COMMIT"], (False,)),
    (["BEGIN", "RUN", "COMMIT AND CHAIN", "ROLLBACK"], (True,)),
    (["BEGIN", "RUN", "ROLLBACK AND CHAIN", "COMMIT"], (False,)),
    (["BEGIN", "SAVEPOINT a", "RUN", "ROLLBACK TO a", "RUN", "COMMIT"], (True,)),
    (["BEGIN", "RUN", "RUN2", "COMMIT"], (True, True)),
    (["BEGIN", "RUN", "RUN2", "ROLLBACK"], (False, False)),
    (["BEGIN", "RUN", "SAVEPOINT a", "RUN2", "ROLLBACK TO a", "COMMIT"], (True, False)),
    (["BEGIN", "SAVEPOINT a", "RUN", "SAVEPOINT b", "RUN2", "ROLLBACK TO a", "COMMIT"], (False, False)),
    (["BEGIN", "SAVEPOINT a", "RUN", "SAVEPOINT a", "RUN2", "RELEASE a", "ROLLBACK TO a", "COMMIT"], (False, False)),
    (["BEGIN", "SAVEPOINT a", "RUN", "ROLLBACK TO a; COMMIT", "COMMIT"], (False,)),
    (["BEGIN", "RUN", "SAVEPOINT a; SELECT 1; RELEASE a; COMMIT"], (True,)),
]

place = None
next_row = iter(range(2000, 9000))


def count(row):
    return place.value(f"SELECT count(*) FROM w.log WHERE id = {row}")


def released(rows):
    """Holds that insert these rows, one each."""
    for row in rows:
        with place.connect() as c:
            error = pgwire.errors(c.run(pgwire.query(f"INSERT INTO w.log VALUES ({row})")))[0]
            equal(error["C"], "55PW1", error)
    holds = []
    for hold in place.running.api("holds?state=pending")["holds"]:
        place.running.api(f"holds/{hold['id']}/release", digest=hold["digest"])
        holds.append(hold["id"])
    return sorted(holds)


def one_batch(path, holds):
    messages = []
    for sql in path:
        sql = f"EXECUTE pgwicket_hold({holds[sql == 'RUN2']})" if sql.startswith("RUN") else sql
        messages += [pgwire.parse(sql), pgwire.bind(), pgwire.execute()]
    return *messages, pgwire.SYNC


def send(c, path, holds, rows, extended):
    for sql in path:
        number = {"RUN": 0, "RUN2": 1}.get(sql)
        if number is not None:
            sql = f"EXECUTE pgwicket_hold({holds[number]})"
        try:
            if extended and ";" not in sql:
                answers = c.run(pgwire.parse(sql), pgwire.bind(), pgwire.execute(), pgwire.SYNC)
            else:
                answers = c.run(pgwire.query(sql))
        except (OSError, EOFError, pgwire.Closed):
            return False
        if number is not None and not pgwire.errors(answers):
            equal(count(rows[number]), 0, "nothing is committed yet")
    return True


def walk(path, expected, extended, in_one_batch=False):
    rows = [next(next_row) for _ in expected]
    holds = released(rows)
    equal(len(holds), len(rows), "holds")
    with place.connect() as c:
        if in_one_batch:
            equal(pgwire.errors(c.run(*one_batch(path, holds))), [], path)
        else:
            send(c, path, holds, rows, extended)
    for hold, row, committed in zip(holds, rows, expected):
        state = "executed" if committed else "released"
        eventually(lambda: place.running.api(f"holds/{hold}")["state"] == state, f"{path}: {state}", 5)
        equal(count(row), 1 if committed else 0, f"{path}: rows")
        if not committed: # what was given back runs, and once
            with place.connect() as c:
                for _ in range(2):
                    c.run(pgwire.query(f"EXECUTE pgwicket_hold({hold})"))
            equal((place.running.api(f"holds/{hold}")["state"], count(row)), ("executed", 1), path)


def test_a_hold_is_executed_if_and_only_if_it_is_committed():
    problems = []
    for number, (path, expected) in enumerate(some(PATHS, 5)):
        try:
            walk(path, expected, number % 2)
        except AssertionError as problem:
            problems.append(f"{path[:6]}: {problem}")
    check(not problems, f"{len(problems)}:\n" + "\n".join(problems))


def test_a_whole_transaction_in_one_batch():
    fails = {"SELECT 1/0", "ROLLBACK TO nothing", "PREPARE TRANSACTION 'p'"}
    paths = [(path, expected) for path, expected in PATHS
             if not any(sql in fails or ";" in sql or "s69" in sql for sql in path)]
    check(len(paths) > 20, "paths without an error")
    for path, expected in some(paths, 6):
        walk(path, expected, True, in_one_batch=True)


def test_a_pipeline_of_rollback_to_and_commit():
    row = next(next_row)
    hold, = released([row])
    with place.connect() as c:
        for sql in ("BEGIN", "SAVEPOINT a", f"EXECUTE pgwicket_hold({hold})"):
            c.run(pgwire.query(sql))
        answers = c.run(pgwire.parse("ROLLBACK TO a"), pgwire.bind(), pgwire.execute(), pgwire.parse("COMMIT"),
                        pgwire.bind(), pgwire.execute(), pgwire.SYNC)
        equal(pgwire.kinds(answers), "12C12CZ")
    eventually(lambda: place.running.api(f"holds/{hold}")["state"] == "released", "it is given back", 5)
    equal(count(row), 0)


if __name__ == "__main__":
    with ground(POLICY) as place:
        place.database.ask("ALTER TABLE w.log DROP CONSTRAINT log_pkey") # twice would show as two rows
        code = main(globals())
    sys.exit(code)

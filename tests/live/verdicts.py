"""Every case of tests/cases/verdicts.jsonl over the wire, in both protocols, as reader, writer and masked.

What must be rejected gets an error of pgwicket (or a syntax error) and changes nothing. What is allowed
runs. `either` need only be answered.
"""
import base64
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, main, some
from wicket import AGENT_SECRET, Database, Wicket, configuration

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases")
CONFIGURATION = configuration("""
$policies
""", agent="reader", reader="reader", writer="writer", masked="masked")
# PostgreSQL's own errors for what is no statement: syntax, bytes that are not UTF-8.
UNREADABLE = ("42601", "22021")
REFUSALS = ("42501", "54001", "54000", "0A000", "22023", "25P02")


def load_cases():
    with open(CASES + "/verdicts.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def load_policies():
    """The policies of the cases' own configuration file."""
    with open(CASES + "/policies.yaml", encoding="utf-8") as file:
        text = file.read()
    return text[text.index("\npolicies:"):].strip("\n")


def statement(case):
    return base64.b64decode(case["sql_b64"]) if "sql_b64" in case else case["sql"]


def messages(sql, extended):
    if not extended:
        return [pgwire.query(sql)]
    return [pgwire.parse(sql), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.SYNC]


def answer(running, policy, case, extended):
    """The error fields of the first error of setup or statement, or None."""
    with pgwire.Connection("127.0.0.1", running.port, policy, AGENT_SECRET, timeout=60) as c:
        for before in case.get("setup", []):
            found = pgwire.errors(c.run(*messages(before, False)))
            if found:
                return found[0]
        found = pgwire.errors(c.run(*messages(statement(case), extended)))
        return found[0] if found else None


def is_rejection(error):
    if error is None:
        return False
    return error["C"] in UNREADABLE or error["C"] in REFUSALS and error["M"].startswith("pgwicket: ")


def is_the_protocols(error, extended):
    """What the extended protocol cannot do, whatever the policy."""
    return extended and error is not None and "multiple commands" in error["M"]


def run_all(running, policy, cases, extended):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(zip(cases, pool.map(lambda case: answer(running, policy, case, extended), cases)))


def verdicts(policy, extended):
    cases = load_cases()
    check(len(cases) > 400, "the cases are there")
    # Each is sent in one of the six ways that there are; `cases/run.py` judges all by all policies.
    cases = some(cases, 6, 2 * ["reader", "writer", "masked"].index(policy) + extended)
    with Database() as database:
        with Wicket(database, configuration=CONFIGURATION, policies=load_policies()) as running:
            before = database.fingerprint()
            rejected = run_all(running, policy, [c for c in cases if c.get(policy) == "reject"], extended)
            wrong = [f"{c['id']}: {e and (e['C'], e['M'])}" for c, e in rejected if not is_rejection(e)]
            equal(wrong, [], f"{len(wrong)} statements that must be rejected")
            equal(database.fingerprint(), before, "the database after what was rejected")
            run_all(running, policy, [c for c in cases if c.get(policy) == "either"], extended)
            allowed = run_all(running, policy, [c for c in cases if c.get(policy) == "allow"], extended)
            refused = [f"{c['id']}: {e['C']} {e['M']}" for c, e in allowed
                       if e is not None and not is_the_protocols(e, extended)]
            equal(refused, [], f"{len(refused)} of {len(allowed)} statements that must run")


def test_reader_in_the_simple_protocol():
    verdicts("reader", False)


def test_reader_in_the_extended_protocol():
    verdicts("reader", True)


def test_writer_in_the_simple_protocol():
    verdicts("writer", False)


def test_writer_in_the_extended_protocol():
    verdicts("writer", True)


def test_masked_in_the_simple_protocol():
    verdicts("masked", False)


def test_masked_in_the_extended_protocol():
    verdicts("masked", True)


if __name__ == "__main__":
    sys.exit(main(globals()))

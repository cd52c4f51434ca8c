#!/usr/bin/python3
"""Asks `pgwicket judge` for the verdict on every case of verdicts.jsonl and compares.

Needs PGWICKET_BIN, and PGWICKET_UPSTREAM: a connection string of a database with shop.sql in it.
A case that must be rejected also counts as stopped when one of its setup messages is rejected; one that
must be allowed needs its setup messages allowed, too. Fails on any statement that is allowed though it
must not be, and when fewer than 90 % of those to be allowed are.
"""
import base64
import collections
import json
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
AGENTS = ("reader", "writer", "masked")
ALLOWED_SHARE_MIN = 0.90


def read_cases():
    with open(os.path.join(FOLDER, "verdicts.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def questions_of(case):
    """The setup messages one by one, each after those before it, then the case."""
    setup = case.get("setup", [])
    for number, message in enumerate(setup):
        yield {"id": [case["id"], number], "sql": message, "setup": setup[:number]}
    own = {key: case[key] for key in ("sql", "sql_b64", "types") if key in case}
    yield {"id": [case["id"], "case"], "setup": setup, **own}


def ask(binary, agent, cases):
    """Verdicts by case: a list, the case's own last."""
    lines = [json.dumps(question) for case in cases for question in questions_of(case)]
    command = [binary, "judge", os.path.join(FOLDER, "policies.yaml"), "--agent", agent]
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True,
                         timeout=240)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n{run.stderr}")
    answers = collections.defaultdict(list)
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        answers[answer["id"][0]].append(answer)
    return answers


def text_of(case):
    if "sql" in case:
        return case["sql"]
    return base64.b64decode(case["sql_b64"]).decode("utf-8", "backslashreplace")


class Score:
    def __init__(self):
        self.passed = self.failed = 0
        self.to_allow = self.allowed = self.wrongly_allowed = 0
        self.missed = collections.Counter()

    def count(self, agent, case, answers):
        expected = case.get(agent)
        if expected is None:
            return
        if len(answers) != len(case.get("setup", [])) + 1:
            self.fail(agent, case, "no answer")
            return
        is_allowed = all(answer["verdict"] == "allow" for answer in answers)
        if expected == "allow":
            self.to_allow += 1
            self.allowed += is_allowed
        if expected == "either" or is_allowed == (expected == "allow"):
            self.passed += 1
            return
        self.wrongly_allowed += is_allowed
        blocker = next((a for a in answers if a["verdict"] != "allow"), answers[-1])
        self.fail(agent, case, f"{blocker['verdict']}: {blocker['reason']}")

    def fail(self, agent, case, why):
        self.failed += 1
        self.missed[case["kind"]] += 1
        print(f"{agent} {case['id']}: expected {case[agent]}, got {why}\n    {text_of(case)[:200]!r}")

    def is_good(self):
        return (self.wrongly_allowed == 0 and self.to_allow > 0
                and self.allowed >= ALLOWED_SHARE_MIN * self.to_allow)


def main():
    binary = os.environ.get("PGWICKET_BIN")
    if not binary or "PGWICKET_UPSTREAM" not in os.environ:
        print("PGWICKET_BIN and PGWICKET_UPSTREAM must be set")
        return 77
    os.environ.setdefault("PGWICKET_AGENT_SECRET", "agent-secret")
    cases, score = read_cases(), Score()
    for agent in AGENTS:
        answers = ask(binary, agent, cases)
        for case in cases:
            score.count(agent, case, answers[case["id"]])
    for kind, count in sorted(score.missed.items()):
        print(f"missed {count} of kind {kind}")
    print(f"{score.wrongly_allowed} allowed that must not be; "
          f"{score.allowed} of {score.to_allow} to be allowed are")
    print(f"{score.passed} passed, {score.failed} failed")
    return 0 if score.is_good() else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Judges the examples of rules/README.md, and proves that every key and every verb has one.

An example is fenced blocks, in this order:

    ```sql        what the owner of the database ran beforehand: in a copy of shop.sql, once, in order
    ```yaml       a policy: keys as under `policies: NAME:`, or only the list of its rules. At the same
                  margin may stand `templates:` (as in the file) and `attributes:` (of the agent)
    ```verdicts   statements, one a line, and their verdict under the policy above:
                      allow   SELECT 1
                      reject  DELETE FROM shop.orders   -- words
                  The words must occur in what `pgwicket judge` answers (rule, reason, message, limits).
    ```refused    lines that `pgwicket check` must say about the policy above

A policy without `refused` must pass `check`. Several blocks of verdicts may follow one policy. A verb or
a key counts as shown when it stands in a policy that passes; one that `check` calls not built needs none.

Needs PGWICKET_BIN and the server of PGWICKET_TEST_*.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "support"))

from live import check, equal, main
from wicket import BIN, Database

README = os.path.join(TOP, "rules", "README.md")
BESIDE_THE_POLICY = ("templates", "attributes")
VERDICT = re.compile(r"(allow|hold|reject)\s+(.*?)(?:\s+-- (.*))?$")
FILE = """
listen: {{address: "127.0.0.1:0"}}
review: {{address: "127.0.0.1:0"}}
audit: {{file: "-"}}
holds: {{store: "sqlite:{folder}/holds.db"}}
upstreams:
  shop: "{upstream}"
approvers:
  alice: {{secret: alice-secret, policies: [example]}}
  bob: {{secret: bob-secret, policies: [example]}}
{templates}
agents:
  agent:
    secret: agent-secret
    upstream: shop
    policy: example
{attributes}
policies:
  example:
{policy}
"""


def blocks():
    """(kind, first line's number, lines) of each fenced block."""
    kind = None
    with open(README, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if kind is None and line.startswith("```"):
                kind, start, lines = line[3:].strip(), number + 1, []
            elif kind is not None and line.startswith("```"):
                yield kind, start, lines
                kind = None
            elif kind is not None:
                lines.append(line.rstrip("\n"))
    check(kind is None, "a block is not closed")


def indented(lines, columns):
    return "\n".join(" " * columns + line for line in lines)


def split(lines):
    """The lines of the policy, and those of what stands beside it in the file, by key."""
    if lines[0].startswith("-"):
        return ["rules:", *lines], {}
    parts, current = {}, "policy"
    for line in lines:
        if line[:1] not in ("", " ", "-", "#"):
            key = line.split(":")[0]
            current = key if key in BESIDE_THE_POLICY else "policy"
        parts.setdefault(current, []).append(line)
    return parts.pop("policy"), parts


def configuration(folder, upstream, lines):
    policy, beside = split(lines)
    return FILE.format(folder=folder, upstream=upstream, policy=indented(policy, 4),
                       templates="\n".join(beside.get("templates", [])),
                       attributes=indented(beside.get("attributes", []), 4))


def run(*arguments, text=None):
    return subprocess.run([BIN, *arguments], input=text, capture_output=True, text=True, check=False, timeout=120)


class Readme:
    """The examples, judged one after the other in one database."""

    def __init__(self, folder, database):
        self.file = folder + "/example.yaml"
        self.folder, self.database = folder, database
        self.policy = None   # lines of the current one
        self.is_proven = True  # it was checked or refused
        self.shown = []      # lines of policies that pass
        self.judged = 0

    def take(self, kind, lines):
        if kind == "sql":
            self.database.ask("\n".join(lines))
        elif kind == "yaml":
            self.pass_check()
            self.policy, self.is_proven = lines, False
            with open(self.file, "w", encoding="utf-8") as file:
                file.write(configuration(self.folder, self.database.upstream, lines))
        elif kind == "refused":
            self.refused(lines)
        elif kind == "verdicts":
            self.pass_check()
            self.verdicts(lines)
        else:
            raise AssertionError(f"what is a block of {kind!r}?")

    def pass_check(self):
        if not self.is_proven:
            result = run("check", self.file)
            equal(result.returncode, 0, f"check says\n{result.stdout}{result.stderr}")
            self.shown += self.policy
            self.is_proven = True

    def refused(self, lines):
        result = run("check", self.file)
        equal(result.returncode, 1, "exit code of check")
        for line in filter(None, lines):
            check(line in result.stderr + result.stdout, f"check does not say {line!r} but\n{result.stderr}")
        self.is_proven = True

    def verdicts(self, lines):
        wanted = [VERDICT.match(line) for line in lines if line.strip()]
        check(all(wanted), f"not a verdict and a statement: {lines}")
        questions = "".join(json.dumps({"sql": w[2]}) + "\n" for w in wanted)
        result = run("judge", self.file, "--agent", "agent", text=questions)
        equal(result.returncode, 0, result.stderr)
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        equal(len(answers), len(wanted), "answers")
        for want, answer in zip(wanted, answers):
            words = json.dumps(answer, ensure_ascii=False)
            equal(answer["verdict"], want[1], f"{want[2]}: {words}")
            check(want[3] is None or want[3] in words.replace('\\"', '"'), f"{want[3]!r} is not in {words}")
            self.judged += 1


def keys_of(part):
    """The keys that the configuration reader knows, by its own words: `part` is a text with `unknown_key`."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/keys.yaml", "w", encoding="utf-8") as file:
            file.write(configuration(folder, "dbname=shop", part.splitlines()))
        said = run("check", folder + "/keys.yaml").stderr
    found = re.search(r'unknown key "unknown_key" in .*?; expected (.*)', said)
    check(found, f"check does not list the keys: {said}")
    return re.findall(r"\w+", found[1].replace(" or ", " "))


def is_not_built(lines):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/key.yaml", "w", encoding="utf-8") as file:
            file.write(configuration(folder, "dbname=shop", lines))
        return "is not built yet" in run("check", folder + "/key.yaml").stderr


def verbs():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/verbs.yaml", "w", encoding="utf-8") as file:
            file.write(configuration(folder, "dbname=shop", ["- allow: [unknown_verb]", "  on: [a.b]"]))
        said = run("check", folder + "/verbs.yaml").stderr
    found = re.search(r'"unknown_verb" is not what is expected here: (.*)', said)
    check(found, f"check does not list the verbs: {said}")
    return re.findall(r"\w+", found[1].replace(" or ", " "))


def test_every_example_of_the_rules_is_as_it_says_and_every_key_has_one():
    with tempfile.TemporaryDirectory() as folder, Database() as database:
        readme = Readme(folder, database)
        for kind, number, lines in blocks():
            try:
                readme.take(kind, lines)
            except AssertionError as error:
                raise AssertionError(f"rules/README.md, line {number}: {error}") from error
        readme.pass_check()
        check(readme.judged > 0, "no statement was judged")
        print(f"     {readme.judged} statements judged")
        every_key_is_shown("\n".join(readme.shown))


def every_key_is_shown(shown):
    parts = {"rule": "- unknown_key: 1", "policy": "unknown_key: 1", "hold": "hold: {unknown_key: 1}",
             "limits": "limits: {unknown_key: 1}"}
    missing = [f"{key} of {part}" for part, text in parts.items() for key in keys_of(text)
               if not re.search(rf"\b{key}:", shown) and not is_not_built([text.replace("unknown_key", key)])]
    shown_verbs = set(re.findall(r"\w+", " ".join(re.findall(r"(?:allow|hold|reject): \[(.*?)\]", shown))))
    missing += [f"verb {verb}" for verb in verbs()
                if verb not in shown_verbs and not is_not_built([f"- allow: [{verb}]", "  on: [a.b]"])]
    equal(missing, [], "without an example")


if __name__ == "__main__":
    sys.exit(main(globals()))

"""corpus - all statements of tests/cases, for tests that compare what is done with them."""
import base64
import csv
import functools
import json
import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CASES = os.path.join(TOP, "tests", "cases")
HARMLESS = {"int": "1", "mod": "3", "name": "c.id", "text": "'x'", "bool": "true", "float8": "0.5", "xml": "('<a/>'::xml)",
            "json": "'{}'::json", "date": "now()", "table": "shop.orders", "type": "int", "chars": "text",
            "sampler": "system", "op": "<", "call": "generate_series(1, 2)"}
HOLE = re.compile("«([a-z0-9]+)»")


def table(name):
    """Rows of a table of parser/builtins/, as dictionaries."""
    with open(os.path.join(TOP, "parser", "builtins", f"{name}-15.tsv"), encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _lines(name):
    with open(os.path.join(CASES, name), encoding="utf-8") as file:
        return [line.strip("\n") for line in file if line.strip() and not re.match(r"-- [A-Z]", line)]


def slots():
    """Statements with holes «kind»."""
    return _lines("slots.sql")


def filled(template, number=None, text=""):
    """The statement with `text` in its hole `number`, the others harmless."""
    holes = iter(range(len(HOLE.findall(template))))
    return HOLE.sub(lambda m: text if next(holes) == number else HARMLESS[m.group(1)], template)


def schema():
    """What grammar.sql is written for."""
    with open(os.path.join(CASES, "grammar_schema.sql"), encoding="utf-8") as file:
        return file.read()


@functools.cache
def messages():
    """Every message, as text or bytes."""
    found = _lines("grammar.sql") + [filled(template) for template in slots()]
    for line in _lines("verdicts.jsonl"):
        case = json.loads(line)
        found += case.get("setup", [])
        found.append(case["sql"] if "sql" in case else base64.b64decode(case["sql_b64"]))
    return list(dict.fromkeys(found))

"""`pgwicket judge` and `pgwicket test`: verdicts without running anything, with the live catalog and without."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, main
from wicket import BIN

UPSTREAM = os.environ.get("PGWICKET_TEST_UPSTREAM", "")  # nothing is run, so it needs no copy

CONFIGURATION = """
listen: {{address: "127.0.0.1:1"}}
review: {{address: "127.0.0.1:1"}}
audit: {{file: "-"}}
holds: {{store: "sqlite:none.db"}}
upstreams: {{shop: "{upstream}"}}
agents:
  bot: {{secret: bot, upstream: shop, policy: support}}
  clerk: {{secret: clerk, upstream: shop, policy: reading}}
approvers: {{alice: {{secret: alice}}}}
templates:
  close_order:
    description: Close one order
    sql: UPDATE shop.orders SET status = 'closed', notes = $2 WHERE shop.orders.id = $1
    parameters:
      - {{name: order_id, type: integer, minimum: 1}}
      - {{name: reason, type: string, enum: [done, lost]}}
policies:
  support:
    search_path: [shop]
    introspection: allow
    hidden: [shop.customers.ssn]
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders]
        max_rows: 1000
      - name: one-order
        allow: [update]
        on: [shop.orders]
        columns: [status, notes]
        where: key
        max_rows: 1
      - hold: [update, delete]
        on: [shop.orders]
        where: required
        unrehearsed: hold
      - allow: [insert]
        on: [shop.order_items]
        max_rows: 5
      - name: closing
        allow: [execute]
        on: [close_order]
  reading:
    search_path: [shop]
    rules:
      - allow: [select]
        on: [shop.products]
"""

PASSING = """
- {agent: bot, sql: "SELECT id FROM orders", expect: allow, rule: support.1}
- {agent: clerk, sql: "SELECT id FROM orders", expect: reject}
- {agent: bot, sql: "SELECT * FROM customers", expect: reject}
- name: a status by key
  agent: bot
  sql: UPDATE orders SET status = 'paid' WHERE id = $1
  params: [42]
  expect: allow
  rule: one-order
- {agent: bot, sql: "UPDATE orders SET status = 'paid' WHERE status = 'new'", expect: hold, rule: support.3}
- {agent: bot, sql: "UPDATE orders SET status = 'paid'", expect: reject, rule: one-order}
- {agent: bot, setup: ["PREPARE p AS SELECT 1"], sql: EXECUTE p, expect: allow}
- {agent: bot, setup: ["PREPARE p AS SELECT 1", "DEALLOCATE p"], sql: EXECUTE p, expect: reject}
- {agent: bot, setup: ["PREPARE p AS SELECT 1", "DISCARD ALL"], sql: EXECUTE p, expect: reject}
- {agent: bot, sql: EXECUTE p, expect: reject}
- {agent: bot, setup: ["PREPARE p AS SELECT ssn FROM customers"], sql: EXECUTE p, expect: reject}
- agent: bot
  setup: ["PREPARE p AS INSERT INTO order_items (order_id, line) SELECT id, 1 FROM orders WHERE id = 1"]
  sql: EXECUTE p
  expect: reject
- {agent: bot, setup: [BEGIN, "DECLARE c CURSOR FOR SELECT id FROM orders"], sql: FETCH 5 FROM c, expect: allow}
- {agent: bot, setup: [BEGIN, "DECLARE c CURSOR FOR SELECT id FROM orders", CLOSE c], sql: FETCH c, expect: reject}
"""


class Files:
    """A configuration and cases in a folder of their own."""

    def __init__(self, upstream):
        self.folder = tempfile.TemporaryDirectory(prefix="pgwicket-judge-")
        self.configuration = self.write("wicket.yaml", CONFIGURATION.format(upstream=upstream))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test(self, cases, *options):
        return run("test", self.configuration, self.write("cases.yaml", cases), *options)

    def judge(self, lines, *options):
        text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
        result = run("judge", self.configuration, "--agent", "bot", *options, stdin=text)
        equal(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]


def run(*arguments, stdin=""):
    result = subprocess.run([BIN, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=60)
    check("Sanitizer" not in result.stderr and "runtime error" not in result.stderr, result.stderr)
    return result


def test_cases_that_hold_pass():
    with Files(UPSTREAM) as files:
        result = files.test(PASSING)
        equal((result.returncode, result.stdout), (0, "14 passed, 0 failed\n"), result.stderr)


def test_a_difference_is_told_with_its_place_and_its_reason():
    with Files(UPSTREAM) as files:
        result = files.test("- {agent: bot, sql: SELECT id FROM orders, expect: allow}\n"
                            "- name: nobody deletes\n  agent: bot\n"
                            "  sql: DELETE FROM orders WHERE id = 7\n  expect: reject\n")
        equal(result.returncode, 1, result.stderr)
        lines = result.stdout.splitlines()
        check(lines[0].endswith("cases.yaml:2:3: nobody deletes"), lines[0])
        check("  - expected reject" in lines, result.stdout)
        check("  + got      hold (55PW1), rule support.3" in lines, result.stdout)
        equal(lines[-1], "1 passed, 1 failed")


def test_a_rejection_is_told_with_what_the_agent_would_read():
    with Files(UPSTREAM) as files:
        out = files.test("- {agent: clerk, sql: DELETE FROM products, expect: allow}\n").stdout
        for part in ("+ got      reject (42501)", "message  pgwicket: DELETE on shop.products is not allowed",
                     "detail   Policy reading", "hint "):
            check(part in out, f"{part!r} in {out}")


def test_another_rule_than_expected_is_a_difference():
    with Files(UPSTREAM) as files:
        case = "- {{agent: bot, sql: UPDATE orders SET status = 'x' WHERE id = 1, expect: allow, rule: {}}}\n"
        equal(files.test(case.format("one-order")).returncode, 0)
        result = files.test(case.format("support.1"))
        equal(result.returncode, 1)
        check("- expected allow, rule support.1" in result.stdout, result.stdout)


def test_params_must_be_as_many_as_the_statement_has():
    with Files(UPSTREAM) as files:
        case = "- {{agent: bot, sql: 'SELECT id FROM orders WHERE id = $1', params: {}, expect: allow}}\n"
        equal(files.test(case.format("[1]")).returncode, 0)
        for wrong in ("[]", "[1, 2]"):
            result = files.test(case.format(wrong))
            check(result.returncode == 1 and "(08P01)" in result.stdout, result.stdout)


def test_the_values_of_a_template_are_checked():
    with Files(UPSTREAM) as files:
        good = "- {agent: bot, sql: \"EXECUTE close_order(7, 'done')\", expect: allow, rule: closing}\n"
        cases = good + "".join(
            f'- {{agent: bot, sql: "{sql}", params: {params}, expect: {expect}}}\n' for sql, params, expect in (
                ("EXECUTE close_order($1, $2)", "[7, lost]", "allow"), ("EXECUTE close_order($2, $1)", "[lost, 7]", "allow"),
                ("EXECUTE close_order($1, 'done')", "[7]", "allow"), ("EXECUTE close_order($1, $2)", "[0, lost]", "reject"),
                ("EXECUTE close_order($1, $2)", "[7, other]", "reject"), ("EXECUTE close_order($1, $2)", "[7]", "reject"),
                ("EXECUTE close_order($1, $2)", "[null, lost]", "reject"), ("EXECUTE close_order($1)", "[7]", "reject"),
                ("EXECUTE close_order($1, $2)", "['7; DROP TABLE x', lost]", "reject"),
                ("EXECUTE close_order('x', 'done')", "[]", "reject")))
        result = files.test(cases)
        equal((result.returncode, result.stdout), (0, "11 passed, 0 failed\n"), result.stderr)
        result = files.test('- {agent: bot, sql: "EXECUTE close_order(1, $1)", params: [other], expect: allow}\n')
        check("(22023)" in result.stdout and "reason must be one of done, lost" in result.stdout, result.stdout)
        equal(files.test('- {agent: clerk, sql: "EXECUTE close_order(1, \'done\')", expect: allow}\n').returncode, 1)


def test_json_has_a_line_for_each_case():
    with Files(UPSTREAM) as files:
        result = files.test(PASSING, "--json")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        equal((result.returncode, len(lines)), (0, 14))
        check(all(line["passed"] for line in lines), result.stdout)
        equal((lines[3]["name"], lines[3]["rule"], lines[3]["line"]), ("a status by key", "one-order", 5))


def test_exit_codes_tell_wrong_files_usage_and_unreachable_servers():
    with Files(UPSTREAM) as files:
        equal(files.test("- {agent: nobody, sql: SELECT 1, expect: allow}\n").returncode, 1)
        equal(files.test("[]").returncode, 1)
        equal(run("test", files.configuration).returncode, 2)
        equal(run("test", files.configuration, "no-such-file.yaml").returncode, 1)
        equal(run("test", "--help").returncode, 0)
    with Files("host=127.0.0.1 port=1 user=nobody") as files:
        equal(files.test("- {agent: bot, sql: SELECT 1, expect: allow}\n").returncode, 3)
        equal(files.test("- {agent: bot, sql: SELECT 1, expect: allow}\n", "--offline").returncode, 0)


def test_offline_is_stricter_never_laxer():
    with Files(UPSTREAM) as files:
        statements = ["SELECT id FROM orders", "SELECT shop.orders.id FROM shop.orders", "SELECT * FROM orders",
                      "SELECT ssn FROM customers", "DELETE FROM orders WHERE orders.id = 1", "SELECT lower('A')",
                      "UPDATE orders SET status = 'x' WHERE orders.id = 1"]
        order = {"reject": 0, "hold": 1, "allow": 2}
        lines = [statement + "\n" for statement in statements]
        for statement, live, offline in zip(statements, files.judge(lines), files.judge(lines, "--offline")):
            check(order[offline["verdict"]] <= order[live["verdict"]], f"{statement}: {offline} {live}")


def test_explain_tells_each_rule_of_each_action():
    with Files(UPSTREAM) as files:
        answer, = files.judge(["UPDATE orders SET status = 'x' WHERE status = 'y'\n"], "--explain")
        update = next(action for action in answer["actions"] if action["verb"] == "update")
        equal([(rule["rule"], rule["outcome"]) for rule in update["rules"]],
              [("support.1", "verb or object"), ("one-order", "where"), ("support.3", "holds"),
               ("support.4", "verb or object"), ("closing", "verb or object")])
        equal(update["verdict"], "hold")
        answer, = files.judge(["UPDATE orders SET total = 1 WHERE id = 7\n"], "--explain")
        update = next(action for action in answer["actions"] if action["verb"] == "update")
        equal(update["rules"][1]["outcome"], "columns")


def test_lines_are_answered_one_by_one_and_in_order():
    with Files(UPSTREAM) as files:
        answers = files.judge([{"id": 1, "sql": "SELECT 1"}, "SELECT id FROM orders\n", "{broken\n",
                               {"id": {"a": 2}, "sql": "SELECT ssn FROM customers"}, {"id": 3},
                               {"id": 4, "sql": "SELECT id FROM orders WHERE id = $1", "types": ["int4"]},
                               {"id": 5, "sql": "SELECT $1", "types": ["no_such_type"]},
                               {"id": 6, "sql_b64": "U0VMRUNUIDE="}])
        equal([(a.get("id"), a["verdict"], a["code"]) for a in answers],
              [(1, "allow", None), (None, "allow", None), (None, "reject", "42601"), ({"a": 2}, "reject", "42501"),
               (3, "reject", "22023"), (4, "allow", None), (5, "reject", "22023"), (6, "allow", None)])
        equal(answers[1]["conditions"], {"max_rows": 1000})


def test_a_line_that_is_too_long_is_rejected_and_the_next_is_read():
    with Files(UPSTREAM) as files:
        answers = files.judge(["SELECT 1\r\n", "SELECT '" + "x" * 9_000_000 + "'\n", "\n", "SELECT 2"])
        equal([(a["verdict"], a["code"]) for a in answers], [("allow", None), ("reject", "54000"), ("allow", None)])
        answers = files.judge(["SELECT '" + "x" * 9_000_000 + "'"])
        equal([(a["verdict"], a["code"]) for a in answers], [("reject", "54000")])


def test_an_answer_comes_before_the_next_question_is_asked():
    with Files(UPSTREAM) as files:
        with subprocess.Popen([BIN, "judge", files.configuration, "--agent", "bot"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as judge:
            for statement in ("SELECT 1", "SELECT id FROM orders", "SELECT 2"):
                judge.stdin.write(statement + "\n")
                judge.stdin.flush()
                equal(json.loads(judge.stdout.readline())["verdict"], "allow", statement)
            judge.stdin.close()
            equal(judge.wait(timeout=30), 0)


if __name__ == "__main__":
    sys.exit(main(globals()))

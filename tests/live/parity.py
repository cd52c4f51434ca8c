"""`pgwicket judge` and a session say the same of each message, whatever it is made of, in both protocols."""
import base64
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import corpus
import pgwire
from live import check, equal, main, some
from wicket import AGENT_SECRET, BIN, Database, Wicket

CONFIGURATION = """
listen: {address: "127.0.0.1:$port"}
review: {address: "127.0.0.1:$review"}
audit: {file: "$audit"}
holds: {store: "sqlite:$folder/holds.db"}
upstreams: {shop: "$upstream"}
agents:
  agent: {secret: $agent_secret, upstream: shop, policy: limited}
approvers: {alice: {secret: $approver_secret}}
templates:
  one_order: {sql: "SELECT notes FROM shop.orders WHERE id = $$1", parameters: [{name: order_id, type: integer, minimum: 1}]}
policies:
  limited:
    search_path: [shop]
    hidden: [shop.customers.ssn]
    settings: {app.tenant: {pin: "17"}, statement_timeout: 20s}
    hold: {wait: 0s}
    limits: {sessions: unlimited, pending: unlimited, waiting: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders]
        max_rows: 1000000
      - allow: [select]
        on: [shop.order_items]
        max_cost: 1000000000
      - allow: [select]
        on: [shop.products]
      - allow: [insert, update]
        on: [shop.orders]
        max_rows: 10
      - allow: [update]
        on: [shop.products]
        where: key
      - hold: [delete]
        on: [shop.order_items, shop.orders]
        where: required
      - allow: [execute]
        on: [one_order]
"""
# Messages that come before, and the one that is judged. Of each kind that the session treats in a way of its own.
LIMITED = "SELECT id FROM orders WHERE id < 9"
DEAR = "SELECT id FROM order_items WHERE id < 9"
FREE = "SELECT id FROM products WHERE id < 9"
DECLARED = ["BEGIN", f"DECLARE c CURSOR FOR {LIMITED}", f"DECLARE d CURSOR FOR {FREE}"]
PREPARED = [f"PREPARE l AS {LIMITED}", f"PREPARE f AS {FREE}", "PREPARE w AS UPDATE orders SET notes = 'x' WHERE id = 1",
            "PREPARE k AS UPDATE products SET name = name WHERE id = 1", f"PREPARE e AS {DEAR}"]
MESSAGES = [((), sql) for sql in (
    LIMITED, DEAR, FREE, f"BEGIN; {LIMITED}; COMMIT", f"BEGIN; {DEAR}; COMMIT", f"BEGIN; {FREE}; COMMIT", f"{LIMITED}; {LIMITED}",
    f"{LIMITED}; SET DateStyle = 'ISO'", f"SET DateStyle = 'ISO'; {FREE}", f"BEGIN; SET LOCAL DateStyle = 'ISO'; {LIMITED}; ROLLBACK",
    f"{FREE}; UPDATE products SET name = name WHERE id = 1", f"{LIMITED}; UPDATE products SET name = name WHERE id = 1",
    "UPDATE orders SET notes = 'x' WHERE id = 1", "BEGIN; UPDATE orders SET notes = 'x' WHERE id = 1; COMMIT",
    "BEGIN; UPDATE orders SET notes = 'x' WHERE customer_id = 1; COMMIT", "UPDATE orders SET notes = 'x' WHERE customer_id = 1",
    "DELETE FROM order_items WHERE id = 1", "BEGIN; DELETE FROM order_items WHERE id = 1; COMMIT", "DELETE FROM order_items",
    f"COPY ({LIMITED}) TO STDOUT", f"COPY ({DEAR}) TO STDOUT", f"COPY ({FREE}) TO STDOUT", "COPY orders (id) TO STDOUT",
    "COPY order_items TO STDOUT", "COPY customers TO STDOUT", "COPY (SELECT ssn FROM customers) TO STDOUT",
    f"EXPLAIN {LIMITED}", f"EXPLAIN ANALYZE {LIMITED}", f"EXPLAIN ANALYZE {FREE}", f"EXPLAIN {DEAR}", f"EXPLAIN ANALYZE {DEAR}",
    "EXPLAIN DELETE FROM order_items WHERE id = 1", f"PREPARE x AS {LIMITED}", f"PREPARE x AS {DEAR}", f"PREPARE x AS {FREE}",
    "PREPARE x AS DELETE FROM order_items WHERE id = 1", "PREPARE x AS UPDATE orders SET notes = 'x' WHERE id = 1",
    "PREPARE one_order AS SELECT 1", "EXECUTE one_order(1)", "EXECUTE one_order(0)", "EXECUTE one_order('x')", "EXECUTE one_order(1); SELECT 1",
    "EXECUTE nobody", "FETCH 1 FROM nobody", "SHOW app.tenant", "SHOW app.other", "SHOW pgwicket.policy", "SHOW pgwicket.templates",
    "SHOW data_directory", "SHOW ALL", "SET app.tenant = '18'", "SET app.tenant = '17'", "SET work_mem = '1GB'", "RESET ALL", "DISCARD ALL",
    "SELECT 1; SELECT 2", "SELECT", "", ";", "/* nothing */", "BEGIN; BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "LISTEN x", "LOCK orders",
    "TABLE customers", "SELECT c FROM customers c", "SELECT pg_sleep(1)", "SELECT nobody(1)", "SELECT * FROM nobody", "SELECT nobody FROM orders",
    "CREATE TABLE t (id int)", "TRUNCATE orders", "DROP TABLE orders", "VACUUM", "CHECKPOINT", "DO $$BEGIN END$$", "CALL nobody()",
    "INSERT INTO orders (customer_id, order_date, status) SELECT 1, now(), 'new' FROM generate_series(1, 3)",
    "INSERT INTO orders SELECT * FROM orders WHERE id < 0", "SELECT set_config('DateStyle', 'ISO', false)", "SELEC", "SELECT '",
)] + [(DECLARED, sql) for sql in (
    "FETCH ALL FROM c", "FETCH ALL FROM d", "FETCH ALL FROM c; FETCH ALL FROM d", "FETCH 1 FROM c; SELECT 1", "MOVE 1 FROM c", "CLOSE c",
    "FETCH 1 FROM c; COMMIT", "FETCH 1 FROM c; SET DateStyle = 'ISO'", "FETCH 1 FROM e", f"{FREE}; FETCH 1 FROM d",
)] + [(PREPARED, sql) for sql in (
    "EXECUTE l", "EXECUTE f", "EXECUTE w", "EXECUTE k", "EXECUTE e", "EXECUTE l; SELECT 1", "EXECUTE f; SELECT 1", "EXPLAIN EXECUTE f",
    "EXPLAIN ANALYZE EXECUTE f", "DEALLOCATE l", "DEALLOCATE ALL", "CREATE TABLE t AS EXECUTE f",
)]

database = running = None


def judge(questions):
    """`pgwicket judge`'s answers to (setup, message), in order."""
    lines = []
    for number, (setup, sql) in enumerate(questions):
        text = {"sql_b64": base64.b64encode(sql).decode()} if isinstance(sql, bytes) else {"sql": sql}
        lines.append(json.dumps({"id": number, "setup": list(setup), **text}) + "\n")
    result = subprocess.run([BIN, "judge", running.file, "--agent", "agent"], input="".join(lines), capture_output=True, text=True,
                            timeout=300, check=False)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    equal([a["id"] for a in answers], list(range(len(questions))), f"answers of judge: {result.stderr[-500:]}")
    return answers


def session(question, extended):
    """The first error of the message in a session of its own, whose work is thrown away; None: there is none."""
    setup, sql = question
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, timeout=120) as c:
        for before in setup:
            c.run(pgwire.query(before))
        sent = [pgwire.parse(sql), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.SYNC] if extended else [pgwire.query(sql)]
        found = pgwire.errors(c.run(*sent))
        return found[0] if found else None


def verdict_of(error):
    """What the session's answer means; None: the server's own error, behind any verdict but `reject`."""
    if error is None:
        return "allow"
    if error["C"] == "55PW1":
        return "hold"
    if error["M"].startswith("pgwicket: ") or error["C"] in ("42601", "22021"):
        return "reject"
    return None


def differs(answer, error):
    found, expected = verdict_of(error), answer["verdict"]
    if expected == "reject":
        # Of a name that nobody knows the server's own words, under introspection: allow.
        return found != "reject"
    if found == "reject" and error["C"] == "54000":
        return not answer["conditions"]
    if expected == "hold":
        return found not in ("hold", None, "allow") # nothing to change: it runs at once
    return found not in ("allow", None)


def compare(questions, extended):
    answers = judge(questions)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        errors = list(pool.map(lambda question: session(question, extended), questions))
    return [f"judge {a['verdict']} ({a.get('reason')}), session {e and (e['C'], e['M'])}: {q}"
            for q, a, e in zip(questions, answers, errors) if differs(a, e)]


def test_of_each_kind_of_message():
    equal(compare(MESSAGES, False), [], "judge and session differ")


def test_of_each_kind_of_message_in_the_extended_protocol():
    """Which takes one statement at a time."""
    single = [(setup, sql) for setup, sql in MESSAGES if ";" not in sql.strip(";") and "set_config" not in sql]
    equal(compare(single, True), [], "judge and session differ")


def test_a_rejection_says_the_same():
    """SQLSTATE and MESSAGE."""
    questions = [question for question in MESSAGES if not question[0]]
    wrong = []
    for question, answer in zip(questions, judge(questions)):
        error = session(question, False) if answer["verdict"] == "reject" else None
        if error is not None and (answer["code"], answer["message"]) != (error["C"], error["M"]):
            wrong.append(f"{question[1]}: judge {answer['code']} {answer['message']}, session {error['C']} {error['M']}")
    equal(wrong, [], "texts that differ")


def test_of_every_statement_of_the_cases():
    """Under a policy that knows few of their tables: most are rejected, by both. What waits or sleeps is left out."""
    questions = [((), sql) for sql in corpus.messages() if not any(word in str(sql).lower() for word in ("sleep", "listen", "copy", "while"))]
    questions = some(questions[::7], 2)
    check(len(questions) > 80, f"{len(questions)} statements")
    equal(compare(questions, False), [], "judge and session differ")


if __name__ == "__main__":
    with Database() as database, Wicket(database, configuration=CONFIGURATION) as running:
        code = main(globals())
    sys.exit(code)

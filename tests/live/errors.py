"""What a rejection tells an agent, whole, through psql and psycopg: for the cases that need a server."""
import os
import re
import subprocess
import sys
import time
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import wicket

POLICY = """
    search_path: [shop]
    hidden: [shop.customers.ssn]
    hold: {wait: 0s}
    rules:
      - allow: [select]
        on: [shop.customers, shop.order_items]
        max_rows: 20
      - allow: [select]
        on: [shop.orders]
        max_cost: 20
      - allow: [update]
        on: [shop.order_items]
        max_rows: 2
      - allow: [update]
        on: [shop.orders]
        columns: [notes]
        where: key
      - hold: [delete]
        on: [shop.order_items]
        where: required
"""
# By these words drivers and pools recognise a lost connection; a setting's name is none.
LOST = re.compile("connection|server closed|terminat|shutting down|(?<!_)time[d ]*out|broken pipe|socket|network|EOF", re.I)

# What is sent; SQLSTATE, MESSAGE, DETAIL and HINT, of which N stands for a number.
CASES = [
    ("SELECT * FROM customers", "42501", "pgwicket: column shop.customers.ssn may not be read; nothing was run",
     "Policy policy, condition hidden. The column is reached through * in SELECT *.",
     "Name only these columns: id, name, email, country, city, segment, created_at, birth_date, opt_in, tags, attrs."),
    ("SELECT id FROM customers", "54000",
     "pgwicket: result is longer than 20 rows; stopped, the rows received so far are incomplete",
     "Rule policy.1, max_rows 20.", "Filter more, add LIMIT 20, or aggregate."),
    ("SELECT count(notes) FROM orders", "54000",
     "pgwicket: query is too expensive (estimated cost N, limit 20); nothing was run", "Rule policy.2, max_cost 20. "
     "Most expensive step: sequential scan of shop.orders (N rows).", "Filter on an indexed column: shop.orders(id), shop.orders(customer_id), shop.orders(order_date)."),
    ("UPDATE order_items SET qty = 1 WHERE id < 10", "54000",
     "pgwicket: UPDATE of shop.order_items would change 9 rows, limit 2; rolled back, nothing was changed",
     "Rule policy.3, max_rows 2. Real number: 9.", "Narrow the WHERE, or work in ranges of the key (id)."),
    ("UPDATE orders SET notes = 'x' WHERE customer_id = 1", "42501",
     "pgwicket: UPDATE of shop.orders is not allowed as written: WHERE must fix the primary key (id); nothing was run",
     None, "Write: UPDATE shop.orders SET ... WHERE id = <value>, once for each row."),
    ("DELETE FROM order_items WHERE id = 1", "55PW1",
     "pgwicket: waiting for a person's approval as hold N; nothing was changed. Run EXECUTE pgwicket_hold(N) later to "
     "get the result", None,
     "Do not rephrase and do not send it in a loop: tell the user it waits for approval. If this was part of a "
     "transaction, run the whole transaction again after release."),
    ("SHOW work_mem", "42501",
     "pgwicket: SHOW work_mem is not allowed: it may be read only where a rule allows set on setting:work_mem; "
     "nothing was run", "Policy policy: it may be read only where a rule allows set on setting:work_mem.",
     "Go on without it. SHOW pgwicket.policy lists what is allowed."),
    ("SET statement_timeout = '1h'", "42501",
     "pgwicket: SET statement_timeout is not allowed: it may only be lowered, here to at most 30s; nothing was run",
     "Policy policy: it may only be lowered, here to at most 30s.",
     "Go on without it: the session has the policy's value. SHOW pgwicket.policy lists what is allowed."),
    ("PREPARE p AS DELETE FROM order_items WHERE id = 1", "42501",
     "pgwicket: DELETE on shop.order_items needs a person's approval, so it must be sent by itself; nothing was run",
     "Rule policy.5: hold delete on shop.order_items, where: required.",
     "Send the statement directly, without EXPLAIN, PREPARE or DECLARE."),
    ("EXPLAIN ANALYZE DELETE FROM order_items WHERE id = 1", "42501",
     "pgwicket: EXPLAIN ANALYZE would run a statement that has limits or needs approval: run it without ANALYZE; "
     "nothing was run", "Rule policy.5: hold delete on shop.order_items, where: required.",
     "Plain EXPLAIN shows the plan with its estimates."),
    ("PREPARE TRANSACTION 'x'", "42501",
     "pgwicket: two-phase commit and imported snapshots are not allowed; nothing was run",
     "Policy policy: only a rule that allows all on * would open it.",
     "Use BEGIN and COMMIT in one session, without PREPARE TRANSACTION and SET TRANSACTION SNAPSHOT."),
    ("SELECT 1" + " + 1" * 600, "54001", "pgwicket: statement is too deeply nested to check (limit 500 levels); nothing was run",
     "Limits: 1 MiB of text, 500 levels of nesting, 1000 statements.",
     "Split it into several statements, or replace long chains of OR or + by IN (...) or a VALUES list."),
    ("SELEC 1", "42601", 'syntax error at or near "SELEC"', None, None),
]

running = None


def general(text):
    """Numbers that differ from run to run become N."""
    if text is None:
        return None
    return re.sub(r"(?<=\()\d+(?= rows)|(?<=cost )\d+(?=,)|(?<=hold )\d+|(?<=hold\()\d+", "N", text)


def test_each_error_to_the_letter():
    with closing(running.connect()) as connection:
        for sql, *expected in CASES:
            try:
                with connection.cursor() as cursor:
                    cursor.execute(sql)
                raise AssertionError(f"no error: {sql}")
            except psycopg2.Error as error:
                found = [error.pgcode, *map(general, (error.diag.message_primary, error.diag.message_detail,
                                                      error.diag.message_hint))]
                check(len(error.diag.message_primary) <= 200, error.diag.message_primary)
                check(not LOST.search(error.diag.message_primary), error.diag.message_primary)
            for name, one, other in zip(("SQLSTATE", "MESSAGE", "DETAIL", "HINT"), found, expected):
                if name != "DETAIL" or other is not None:
                    equal(one, other, f"{name} of {sql}")


def test_psql_shows_them_and_goes_on():
    for sql, sqlstate, message, *_ in CASES:
        result = subprocess.run(["psql", "-X", "-v", "VERBOSITY=verbose", running.dsn(), "-c", sql, "-c", "SELECT 'goes on'"],
                                capture_output=True, text=True, check=False)
        check(f"ERROR:  {sqlstate}: " in result.stderr, f"{sql}: {result.stderr}")
        check(message in general(result.stderr), f"{sql}: {result.stderr}")
        check("goes on" in result.stdout, f"the session goes on after {sql}: {result.stderr}")


def message_of(connection, sql):
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
    except psycopg2.Error as error:
        check(len(error.diag.message_primary) <= 200, error.diag.message_primary)
        check(not LOST.search(error.diag.message_primary), error.diag.message_primary)
        return error.pgcode, error.diag.message_primary
    raise AssertionError(f"no error: {sql}")


def test_a_refusal_carries_its_reason():
    with closing(running.connect()) as connection:
        message_of(connection, "DELETE FROM order_items WHERE id = 2")
        number = running.holds("pending")[0]["id"]
        running.command("refuse", number, "--reason", "ask Ada first")
        code, text = message_of(connection, f"EXECUTE pgwicket_hold({number})")
        check(code in ("55PW2", "55PW5"), code)
        check(text.startswith(f"pgwicket: hold {number} was ") and "refused" in text, text)


def test_a_pause_is_told_to_who_is_idle():
    with closing(running.connect()) as idle, closing(running.connect()) as inside:
        inside.autocommit = False
        inside.cursor().execute("SELECT id FROM customers WHERE id = 1")
        running.command("pause", "agent")
        try:
            time.sleep(0.5)
            equal(message_of(idle, "SELECT 1"),
                  ("55PW4", "pgwicket: this agent is paused by an operator; nothing was run"))
            equal(message_of(inside, "COMMIT"),
                  ("55PW4", "pgwicket: this agent is paused by an operator; its transaction was rolled back"))
        finally:
            running.command("resume", "agent")
        for connection in (idle, inside):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")


if __name__ == "__main__":
    with wicket(POLICY) as (_, running):
        code = main(globals())
    sys.exit(code)

"""What a rejection tells an agent, whole, through psql and psycopg: for the cases that need a server."""
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

import pgwire
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, CONFIGURATION, Database, Sender, Wicket

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
      - allow: [execute]
        on: [set_note, set_notes]
"""
TEMPLATES = """
templates:
  set_note:
    sql: UPDATE shop.orders SET notes = $$2 WHERE id = $$1
    parameters:
      - {name: order_id, type: integer, minimum: 1}
      - {name: reason, type: string, enum: [damaged, late]}
  set_notes:
    sql: UPDATE shop.orders SET notes = 'x' WHERE id < $$1
    parameters: [{name: below, type: integer}]
    max_rows: 2
"""
QUOTAS = """
    search_path: [shop]
    hold: {wait: 20s}
    limits: {sessions: 6, pending: 2, waiting: 1, rehearsals_per_minute: 3, prepared_statements: 1}
    rules:
      - hold: [delete]
        on: [shop.order_items]
        where: required
      - allow: [select]
        on: [shop.order_items]
"""
MAKERS = """
    search_path: [shop]
    hidden: [shop.customers.ssn]
    rules:
      - allow: [create, alter, code]
        on: [shop.*, "schema:*"]
"""
PARAMETER = "Parameter {} of EXECUTE set_note(order_id integer, reason string)."
# By these words drivers and pools recognise a lost connection; a setting's name is none.
LOST = re.compile("connection|server closed|terminat|shutting down|(?<!_)time[d ]*out|broken pipe|socket|network|EOF", re.I)

MOVED = ("Policy policy, condition hidden: a {} that has a hidden column can be neither altered nor renamed, referenced or "
         "inherited from, as the column could then be read elsewhere.")
STAYS = "Leave the {} as it is, or report that the policy would have to change."
SCHEMA_HINT = "SHOW pgwicket.templates gives the JSON Schema."
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
    ("UPDATE orders SET notes = 'x' WHERE length(notes) >= 0", "42501",
     "pgwicket: UPDATE of shop.orders is not allowed as written: WHERE must fix the primary key (id); nothing was run",
     "Nearest rule policy.4: allow update on shop.orders, columns notes, where: key. Condition not met: where: key. "
     "WHERE restricts no column of shop.orders.", "Write: UPDATE shop.orders SET ... WHERE id = <value>, once for each row."),
    ("UPDATE orders SET notes = 'x'", "42501",
     "pgwicket: UPDATE of shop.orders is not allowed as written: WHERE must fix the primary key (id); nothing was run",
     "Nearest rule policy.4: allow update on shop.orders, columns notes, where: key. Condition not met: where: key. "
     "There is no WHERE.", "Write: UPDATE shop.orders SET ... WHERE id = <value>, once for each row."),
    ("DELETE FROM order_items", "42501",
     "pgwicket: DELETE on shop.order_items is not allowed as written: WHERE must limit the rows by a column of the table; "
     "nothing was run",
     "Nearest rule policy.5: hold delete on shop.order_items, where: required. Condition not met: where: required. "
     "There is no WHERE.",
     "Compare a column with a value; conditions that are always true do not count, and with OR each side needs one."),
    ("DELETE FROM order_items WHERE 1 = 1", "42501",
     "pgwicket: DELETE on shop.order_items is not allowed as written: WHERE must limit the rows by a column of the table; "
     "nothing was run",
     "Nearest rule policy.5: hold delete on shop.order_items, where: required. Condition not met: where: required. "
     "WHERE restricts no column of shop.order_items.",
     "Compare a column with a value; conditions that are always true do not count, and with OR each side needs one."),
    ("DELETE FROM orders WHERE id = 1", "42501", "pgwicket: DELETE on shop.orders is not allowed; nothing was run",
     "Policy policy: no rule allows delete on shop.orders. On it you may: select, update of notes (by key).",
     "Rephrasing or retrying does not help: use an allowed action, or report that the policy would have to change. "
     "SHOW pgwicket.policy lists what is allowed."),
    ("UPDATE orders SET status = 'x' WHERE id = 1", "42501",
     "pgwicket: UPDATE of shop.orders is not allowed as written: column status may not be written; nothing was run",
     "Nearest rule policy.4: allow update on shop.orders, columns notes, where: key. Condition not met: columns.",
     "Write only these columns: notes."),
    ("EXECUTE set_note(0, 'late')", "22023", "pgwicket: set_note: parameter order_id must be at least 1 (got \"0\"); nothing was run",
     PARAMETER.format(1), SCHEMA_HINT),
    ("EXECUTE set_note(1, 'angry')", "22023",
     "pgwicket: set_note: parameter reason must be one of damaged, late (got \"angry\"); nothing was run", PARAMETER.format(2), SCHEMA_HINT),
    ("EXECUTE set_note(1)", "22023", "pgwicket: set_note takes 2 arguments, 1 was given; nothing was run",
     "EXECUTE set_note(order_id integer, reason string).", SCHEMA_HINT),
    ("EXECUTE set_notes(6)", "54000",
     "pgwicket: set_notes would change 5 rows, limit 2; rolled back, nothing was changed",
     "Template set_notes, max_rows 2. Real number: 5.", "Give it values that mean fewer rows."),
    ("PREPARE set_note AS SELECT 1", "42501",
     "pgwicket: set_note is a template, so nothing can be prepared under this name; nothing was run", None,
     "Choose another name. SHOW pgwicket.templates lists the templates."),
    ("EXECUTE unknown_one", "26000",
     'pgwicket: prepared statement "unknown_one" does not exist in this session; nothing was run', None,
     "Send PREPARE as a message of its own, before EXECUTE."),
    ("FETCH ALL FROM unknown_one", "34000", 'pgwicket: cursor "unknown_one" does not exist in this session; nothing was run',
     None, "Send DECLARE as a message of its own, before FETCH."),
    ("EXECUTE pgwicket_hold(999999)", "42704", "pgwicket: hold N does not exist", None,
     "SHOW pgwicket.holds lists yours."),
    ("SELECT 1; DELETE FROM order_items WHERE id = 1", "42501",
     "pgwicket: a statement that needs a person's approval must be sent by itself; nothing was run", None,
     "Send each statement as a message of its own."),
    ("SET DateStyle = 'ISO'; SELECT id FROM customers LIMIT 1", "42501",
     "pgwicket: a SELECT with a limit on its rows may share a message only with what changes nothing; nothing was run", None,
     "Send each statement as a message of its own."),
    ("SELECT 1; SELECT id FROM orders LIMIT 1", "42501",
     "pgwicket: a statement with a limit on its cost must be sent by itself; nothing was run", None,
     "Send each statement as a message of its own; BEGIN and COMMIT are messages of their own, too."),
    ("DELETE FROM order_items WHERE id = 1", "55PW1",
     "pgwicket: waiting for a person's approval as hold N; nothing was changed. Run EXECUTE pgwicket_hold(N) later to "
     "get the result", "Rule policy.5. Would change: shop.order_items 1 deleted. Pending until TIME.",
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
# The same of an agent that may alter what has a hidden column.
OF_MAKERS = [
    ("ALTER TABLE shop.customers ADD CONSTRAINT positive CHECK (id > 0)", "42501",
     "pgwicket: ALTER on shop.customers is not allowed: it has a column that is hidden (ssn); nothing was run",
     MOVED.format("table"), STAYS.format("table")),
    ("CREATE TABLE shop.child () INHERITS (shop.customers)", "42501",
     "pgwicket: ALTER on shop.customers is not allowed: it has a column that is hidden (ssn); nothing was run",
     MOVED.format("table"), STAYS.format("table")),
    ("CREATE TABLE shop.child (id pg_catalog.int4 REFERENCES shop.customers)", "42501",
     "pgwicket: ALTER on shop.customers is not allowed: it has a column that is hidden (ssn); nothing was run",
     MOVED.format("table"), STAYS.format("table")),
    ("ALTER SCHEMA shop RENAME TO moved", "42501",
     "pgwicket: ALTER on schema:shop is not allowed: it may hold a column that is hidden (shop.customers.ssn); "
     "nothing was run", MOVED.format("schema"), STAYS.format("schema")),
]

running = None


def general(text):
    """Numbers that differ from run to run become N."""
    if text is None:
        return None
    text = re.sub(r"\d\d:\d\d:\d\d UTC", "TIME", text)
    return re.sub(r"(?<=\()\d+(?= rows)|(?<=cost )\d+(?=,)|(?<=hold )\d+|(?<=hold\()\d+", "N", text)


def told(error):
    """SQLSTATE, MESSAGE, DETAIL, HINT."""
    return [error.pgcode, *map(general, (error.diag.message_primary, error.diag.message_detail, error.diag.message_hint))]


def error_of(connection, sql):
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
    except psycopg2.Error as error:
        check(len(error.diag.message_primary) <= 200, error.diag.message_primary)
        check(not LOST.search(error.diag.message_primary), error.diag.message_primary)
        check(error.diag.message_primary.startswith("pgwicket: ") or error.pgcode == "42601", error.diag.message_primary)
        return error
    raise AssertionError(f"no error: {sql}")


def tell(running, cases):
    with closing(running.connect()) as connection:
        for sql, *expected in cases:
            found = told(error_of(connection, sql))
            for name, one, other in zip(("SQLSTATE", "MESSAGE", "DETAIL", "HINT"), found, expected):
                equal(one, other, f"{name} of {sql}")


def test_each_error_to_the_letter():
    tell(running, CASES)


def test_what_moves_a_hidden_column():
    with Wicket(database, MAKERS) as makers:
        tell(makers, OF_MAKERS)


def test_psql_shows_them_and_goes_on():
    for sql, sqlstate, message, *_ in CASES:
        result = subprocess.run(["psql", "-X", "-v", "VERBOSITY=verbose", running.dsn(), "-c", sql, "-c", "SELECT 'goes on'"],
                                capture_output=True, text=True, check=False)
        check(f"ERROR:  {sqlstate}: " in result.stderr, f"{sql}: {result.stderr}")
        check(message in general(result.stderr), f"{sql}: {result.stderr}")
        check("goes on" in result.stdout, f"the session goes on after {sql}: {result.stderr}")


def test_a_refusal_carries_its_reason():
    reason = "ask Ada first, " + "then look at the order again, " * 10
    with closing(running.connect()) as connection:
        error_of(connection, "DELETE FROM order_items WHERE id = 2")
        number = running.holds("pending")[0]["id"]
        running.command("refuse", number, "--reason", reason)
        equal(told(error_of(connection, f"EXECUTE pgwicket_hold({number})")),
              ["55PW2", "pgwicket: hold N was refused by an approver; nothing was changed. Reason: " + reason[:100],
               f"Rule policy.5. Refused at TIME. Reason: {reason}",
               "Do not send it again. Act on the reason or report it to the user."])


def held(connection, sql):
    """The number of the hold that it makes."""
    return int(re.search(r"hold (\d+)", error_of(connection, sql).diag.message_primary)[1])


def test_a_hold_that_is_over():
    with closing(running.connect()) as connection:
        number = held(connection, "DELETE FROM order_items WHERE id = 3")
        running.command("release", number, "--yes")
        with connection.cursor() as cursor:
            cursor.execute(f"EXECUTE pgwicket_hold({number})")
        equal(told(error_of(connection, f"EXECUTE pgwicket_hold({number})")),
              ["55PW5", "pgwicket: hold N was already executed at TIME (DELETE 1); nothing was run now", None,
               "Do not run it again. If the same change is needed once more, say so to the user."])


def test_an_effect_that_changed():
    database.ask("INSERT INTO shop.order_items (id, order_id, product_id, qty, unit_price) "
                 "SELECT g, 1, 1, 7, 1 FROM generate_series(900001, 900002) g")
    with closing(running.connect()) as connection:
        number = held(connection, "DELETE FROM order_items WHERE id > 900000")
        database.ask("INSERT INTO shop.order_items (id, order_id, product_id, qty, unit_price) VALUES (900003, 1, 1, 7, 1)")
        running.command("release", number, "--yes")
        error = error_of(connection, f"EXECUTE pgwicket_hold({number})")
        again = running.holds("pending")[0]["id"]
        equal([error.pgcode, error.diag.message_primary, error.diag.message_detail, error.diag.message_hint],
              ["55PW3", f"pgwicket: the data changed since hold {number} was approved; rolled back, nothing was changed. "
               f"It is held again as hold {again}",
               f"Different from what was approved: {DRIFTED}.",
               f"Run EXECUTE pgwicket_hold({again}) after it is released. Do not rephrase."])
        equal(told(error_of(connection, f"EXECUTE pgwicket_hold({number})")),
              ["55PW5", "pgwicket: hold N was replaced by another, as the data had changed, at TIME; nothing was run now",
               DRIFTED, "Do not run it again. If the same change is needed once more, say so to the user."])


# The hold's outcome: what was approved, and what it would have done.
DRIFTED = "shop.order_items 2 deleted, now 3 deleted; rows added: id 900003"
PAUSED = ["55PW4", "pgwicket: this agent is paused by an operator; nothing was run", "Paused at TIME.",
          "Stop working on the database and tell the user. Do not retry until told."]


def test_a_pause_is_told_to_who_is_idle():
    with closing(running.connect()) as idle, closing(running.connect()) as inside:
        inside.autocommit = False
        inside.cursor().execute("SELECT id FROM customers WHERE id = 1")
        running.command("pause", "agent")
        try:
            time.sleep(0.5)
            equal(told(error_of(idle, "SELECT 1")), PAUSED)
            equal(told(error_of(inside, "COMMIT")),
                  [PAUSED[0], "pgwicket: this agent is paused by an operator; its transaction was rolled back", *PAUSED[2:]])
            try:
                running.connect()
                raise AssertionError("a paused agent was let in")
            except psycopg2.OperationalError as error:
                check(str(error).strip().endswith("FATAL:  pgwicket: this agent is paused by an operator; stop working on the "
                                                  "database and do not retry until told"), str(error))
        finally:
            running.command("resume", "agent")
        for connection in (idle, inside):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")


def test_a_store_that_cannot_be_used():
    """Another process has locked it for good."""
    with closing(sqlite3.connect(running.folder + "/holds.db", isolation_level=None)) as store, \
            closing(running.connect()) as connection:
        store.execute("BEGIN EXCLUSIVE")
        equal(told(error_of(connection, "DELETE FROM order_items WHERE id = 4")),
              ["58030", "pgwicket: the hold store cannot be used, so nothing is run at the moment", None,
               "Not caused by your statement. Stop and report it; try again in a few minutes."])
        store.execute("ROLLBACK")


def test_what_the_extended_protocol_names():
    unknown = [("26000", 'prepared statement "nobody" does not exist', [pgwire.bind(statement="nobody")]),
               ("26000", "unnamed prepared statement does not exist", [pgwire.bind()]),
               ("34000", 'portal "nobody" does not exist', [pgwire.execute("nobody")]),
               ("34000", 'portal "" does not exist', [pgwire.execute()]),
               ("42939", "pgwicket: names that begin with pgwicket are reserved", [pgwire.parse("SELECT 1", "pgwicket_x")]),
               ("42501", "pgwicket: set_note is a template; a prepared statement must have another name; nothing was run",
                [pgwire.parse("SELECT 1", "set_note")])]
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        for code, message, messages in unknown:
            answers = c.run(*messages, pgwire.SYNC)
            found = pgwire.errors(answers)
            equal([(e["C"], e["M"]) for e in found], [(code, message)])
            equal(pgwire.status(answers), "I")


def test_quotas():
    with Wicket(database, QUOTAS) as running:
        with closing(running.connect()) as first, closing(running.connect()) as second:
            sender = Sender(first, "DELETE FROM order_items WHERE id = 10")
            eventually(lambda: running.holds("pending"), "the first hold")
            started = time.monotonic()
            equal(told(error_of(second, "DELETE FROM order_items WHERE id = 11")),
                  ["55PW1", "pgwicket: waiting for a person's approval as hold N; nothing was changed. Run EXECUTE "
                   "pgwicket_hold(N) later to get the result",
                   "Rule policy.1. Would change: shop.order_items 1 deleted. Pending until TIME.",
                   "Do not rephrase and do not send it in a loop: tell the user it waits for approval. If this was part "
                   "of a transaction, run the whole transaction again after release."])
            check(time.monotonic() - started < 8, "it does not wait when too many sessions do")
            equal(told(error_of(second, "DELETE FROM order_items WHERE id = 12")),
                  ["53400", "pgwicket: 2 statements already wait for approval; nothing was run", None,
                   "Wait for the pending ones (SHOW pgwicket.holds) instead of sending more."])
            found = told(error_of(second, "DELETE FROM order_items WHERE id = 13"))
            equal([found[0], re.sub("in [0-9]+ seconds", "in N seconds", found[1]), *found[2:]],
                  ["53400", "pgwicket: 3 statements were rehearsed for approval within a minute; nothing was run. Try again in "
                   "N seconds", "Policy policy, limits: rehearsals_per_minute 3.",
                   "Wait so long; do not send it in a loop. What waits already needs no rehearsal: SHOW pgwicket.holds."])
            equal(error_of(second, "DELETE FROM order_items WHERE id = 11").pgcode, "55PW1", "it joins without a rehearsal")
            others = [running.connect() for _ in range(4)]
            try:
                running.connect()
                raise AssertionError("a seventh session was let in")
            except psycopg2.OperationalError as error:
                check(str(error).strip().endswith("FATAL:  pgwicket: too many sessions of this agent are open; close one, "
                                                  "then try again"), str(error))
            for other in others:
                other.close()
            running.command("refuse", running.holds("pending")[-1]["id"], "--reason", "no")
            equal(sender.result().error.pgcode, "55PW2")
        with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
            c.run(pgwire.parse("SELECT 1", "a"), pgwire.SYNC)
            found = pgwire.errors(c.run(pgwire.parse("SELECT 1", "b"), pgwire.SYNC))
            equal([(e["C"], e["M"]) for e in found],
                  [("53400", "pgwicket: too many prepared statements in this session (limit 1): close some first; nothing "
                    "was run")])


if __name__ == "__main__":
    with Database() as database, Wicket(database, POLICY, configuration=CONFIGURATION + TEMPLATES) as running:
        code = main(globals())
    sys.exit(code)

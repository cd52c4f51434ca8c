"""Limits on rows: estimated, and enforced on what really happens."""
import os
import sys
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

import pgwire
from live import check, equal, main
from wicket import AGENT_SECRET, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    rules:
      - allow: [select]
        on: [shop.orders, shop.some_orders, shop.products, shop.customers]
        max_rows: 100
      - allow: [select]
        on: [shop.order_items]
        max_cost: 50
      - allow: [insert]
        on: [shop.orders]
        max_rows: 2
      - allow: [update, delete]
        on: [shop.orders, shop.some_orders]
        max_rows: 1
      - allow: [update]
        on: [shop.products]
        where: required
        max_rows: 10
"""

database = running = None


def failure(sql, parameters=None, connection=None):
    """SQLSTATE and message of the error that this must give."""
    own = connection or running.connect()
    try:
        own.cursor().execute(sql, parameters)
    except psycopg2.Error as error:
        return error.pgcode, error.diag.message_primary
    finally:
        if connection is None:
            own.close()
    raise AssertionError(f"no error: {sql}")


def stopped(sql, sqlstate, *parts):
    code, text = failure(sql)
    equal(code, sqlstate, text)
    for part in ("pgwicket: ", *parts):
        check(part in text, f"{part!r} in {text!r}")


def estimated_rows(sql):
    plan = database.value(f"EXPLAIN (FORMAT JSON) {sql}")[0]["Plan"]
    return plan["Plans"][0]["Plan Rows"]


def test_a_wrong_estimate_does_not_stop_a_small_update():
    sql = "UPDATE shop.orders SET notes = 'one' WHERE id + 0 IN (17, -1, -2)"
    check(estimated_rows(sql) >= 40, "the planner expects forty or more")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        equal(cursor.rowcount, 1)
    equal(database.value("SELECT notes FROM shop.orders WHERE id = 17"), "one")


def test_an_update_over_the_limit_is_rolled_back():
    before = database.fingerprint()
    stopped("UPDATE shop.orders SET notes = 'many' WHERE id < 40", "54000", "UPDATE", "shop.orders", "39", "limit 1")
    equal(database.fingerprint(), before, "the database")


def test_a_delete_counts_its_cascades():
    before = database.fingerprint()
    stopped("DELETE FROM shop.orders WHERE id = 30", "54000", "DELETE on shop.orders", "would change 4 rows", "limit 1",
            "rolled back")
    equal(database.fingerprint(), before, "an order and its items are more than one row")
    database.ask("DELETE FROM shop.order_items WHERE order_id = 31")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM shop.orders WHERE id = 31")
        equal(cursor.rowcount, 1, "an order without items is one row")
    equal(database.value("SELECT count(*) FROM shop.orders WHERE id = 31"), 0)


def test_a_delete_through_a_view_counts_its_cascades():
    before = database.fingerprint()
    stopped("DELETE FROM shop.some_orders WHERE id = 33", "54000", "DELETE on shop.some_orders", "limit 1", "rolled back")
    equal(database.fingerprint(), before, "an order and its items are more than one row")


def test_with_queries_that_are_each_within_the_limit_count_together():
    before = database.fingerprint()
    stopped("WITH a AS (UPDATE shop.orders SET notes = 'a' WHERE id = 34), b AS (UPDATE shop.orders SET notes = 'b' WHERE id = 35) SELECT 1",
            "54000", "UPDATE of shop.orders", "its parts together change more rows than the limit")
    equal(database.fingerprint(), before, "the database")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO shop.orders (id, customer_id) VALUES (34, 1), (35, 1) ON CONFLICT (id) DO NOTHING")
        cursor.execute("WITH a AS (UPDATE shop.orders SET notes = 'a' WHERE id = 34 RETURNING id) SELECT id FROM a")
        equal(cursor.fetchall(), [(34,)])


def test_returning_reaches_nobody_before_the_check():
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        for messages in ([pgwire.query("UPDATE shop.orders SET notes = 'returned' WHERE id < 9 RETURNING id")],
                         [pgwire.parse("UPDATE shop.orders SET notes = 'returned' WHERE id < 9 RETURNING id"),
                          pgwire.bind(), pgwire.execute(), pgwire.SYNC]):
            answers = c.run(*messages)
            equal(pgwire.kinds(answers).count("D"), 0, "rows")
            equal(pgwire.errors(answers)[0]["C"], "54000")
            equal(pgwire.status(answers), "I")
    equal(database.value("SELECT count(*) FROM shop.orders WHERE notes = 'returned'"), 0)


def test_a_transaction_is_aborted_by_a_limit():
    connection = running.connect(autocommit=False)
    cursor = connection.cursor()
    cursor.execute("UPDATE shop.orders SET notes = 'first' WHERE id = 5")
    code, _ = failure("UPDATE shop.orders SET notes = 'second' WHERE id IN (6, 7)", connection=connection)
    equal(code, "54000")
    connection.commit()
    connection.close()
    equal(database.value("SELECT count(*) FROM shop.orders WHERE notes IN ('first', 'second')"), 0)


def test_inserted_values_are_counted_before_they_run():
    before = database.value("SELECT last_value FROM shop.orders_id_seq")
    stopped("INSERT INTO shop.orders (customer_id) VALUES (1), (2), (3)", "54000", "INSERT")
    equal(database.value("SELECT last_value FROM shop.orders_id_seq"), before, "nothing was run")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO shop.orders (customer_id) VALUES (1), (2)")
        equal(cursor.rowcount, 2)


def test_a_long_result_ends_with_an_error():
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        answers = c.run(pgwire.query("SELECT id FROM shop.orders"))
        check(pgwire.kinds(answers).count("D") <= 100, "at most 100 rows")
        equal(pgwire.errors(answers)[0]["C"], "54000")
        check("incomplete" in pgwire.errors(answers)[0]["M"], "the message says so")
        equal(pgwire.kinds(c.run(pgwire.query("SELECT id FROM shop.orders LIMIT 100"))).count("D"), 100)
        check(not pgwire.errors(c.run(pgwire.query("SELECT count(*) FROM shop.orders"))), "an aggregate is one row")


def test_rows_are_counted_over_all_fetches():
    connection = running.connect(autocommit=False)
    cursor = connection.cursor("c")
    cursor.itersize = 60
    cursor.execute("SELECT id FROM shop.orders")
    equal(len(cursor.fetchmany(60)), 60)
    try:
        cursor.fetchmany(60)
        check(False, "120 rows came through")
    except psycopg2.Error as error:
        equal(error.pgcode, "54000", error.diag.message_primary)
    connection.close()


def test_rows_are_counted_over_all_executes_of_a_portal():
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as c:
        answers = c.run(pgwire.parse("SELECT id FROM shop.orders"), pgwire.bind(), pgwire.execute(rows=60),
                        pgwire.execute(rows=60), pgwire.SYNC)
        check(pgwire.kinds(answers).count("D") <= 100, "at most 100 rows")
        equal(pgwire.errors(answers)[0]["C"], "54000")


def test_copy_counts_its_rows():
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        try:
            with open(os.devnull, "w", encoding="utf-8") as sink:
                cursor.copy_expert("COPY shop.orders TO STDOUT", sink)
            check(False, "3000 rows came through")
        except psycopg2.Error as error:
            equal(error.pgcode, "54000", error.diag.message_primary)


def test_an_expensive_query_is_not_run():
    stopped("SELECT count(*) FROM shop.order_items a, shop.order_items b", "54000", "expensive")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT qty FROM shop.order_items WHERE id = 1")
        equal(cursor.rowcount, 1)


def test_the_audit_log_has_the_numbers():
    records = [r for r in running.audit() if r.get("db.response.status_code") == "54000"]
    check(records, "records with 54000")
    outcomes = [r for r in running.audit() if r["event.name"] == "pgwicket.outcome"]
    check(any(r.get("pgwicket.rows") == 1 for r in outcomes), "an outcome with its rows")


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask("CREATE VIEW shop.some_orders AS SELECT id, notes FROM shop.orders; GRANT SELECT, UPDATE, DELETE ON shop.some_orders TO agent")
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

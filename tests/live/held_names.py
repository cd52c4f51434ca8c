"""Names of an agent that changes objects only with a person's approval: what it reads is what the catalog says, but for
what it has just made."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, eventually, main
from wicket import Sender, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 60s}
    limits: {rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.orders, shop.customers, shop.order_totals]
        not_columns: [shop.customers.ssn]
      - hold: [all]
        on: ["*"]
"""

# The operators are candidates wherever the type of an operand is not certain.
SETUP = """
GRANT CREATE ON SCHEMA shop TO agent;
CREATE FUNCTION shop.less(text, int) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR shop.< (LEFTARG = text, RIGHTARG = int, FUNCTION = shop.less);
CREATE OPERATOR shop.= (LEFTARG = text, RIGHTARG = int, FUNCTION = shop.less);
CREATE TYPE shop.mood AS ENUM ('fine');
CREATE FUNCTION shop.to_mood(text) RETURNS shop.mood LANGUAGE sql AS 'SELECT NULL::shop.mood';
CREATE CAST (text AS shop.mood) WITH FUNCTION shop.to_mood(text) AS IMPLICIT;
"""
READ = "SELECT status FROM orders WHERE id < 5"
HONEST = (READ, "SELECT count(*) FROM orders", "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id "
          "WHERE c.name LIKE 'a%' AND total > 1", "SELECT 'a'::text || name FROM customers LIMIT 1",
          "SELECT coalesce(status, 'none') FROM orders WHERE id IN (1, 2)", "SELECT order_id FROM order_totals LIMIT 1",
          "SELECT typname FROM pg_type LIMIT 1")

database = running = None


def ask(connection, sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def closed(connection, *statements):
    """Each is refused, or waits for a person; the transaction goes on behind a savepoint."""
    for sql in statements:
        with connection.cursor() as cursor:
            cursor.execute("SAVEPOINT a")
            try:
                cursor.execute(sql)
            except psycopg2.Error as error:
                check(error.pgcode in ("42501", "55PW1"), f"{sql}: {error}")
            else:
                raise AssertionError(f"{sql} ran")
            cursor.execute("ROLLBACK TO a")


def released(connection, sql):
    """Sends what is held and lets a person release it."""
    before = {h["id"] for h in running.holds()}
    sender = Sender(connection, sql)
    hold = eventually(lambda: next((h for h in running.holds("pending") if h["id"] not in before), None), f"a hold of {sql}")
    running.command("release", hold["id"], "--digest", hold["digest"])
    sender.result()
    equal(sender.error, None, sql)


def open_connection(autocommit):
    connection = running.connect(autocommit=autocommit)
    connection.cursor().execute("SET statement_timeout = '30s'")
    return connection


def test_honest_reading_passes_by_name():
    connection = open_connection(True)
    for sql in HONEST:
        ask(connection, sql)
    connection.close()


def test_what_a_released_hold_made_counts_in_its_transaction():
    for end in "ROLLBACK", "COMMIT":
        connection = open_connection(False)
        connection.commit()
        ask(connection, "SELECT 1")
        connection.rollback()
        released(connection, f"CREATE TABLE shop.fresh_{end.lower()} (id int)")
        closed(connection, READ, "SELECT count(*) FROM orders", "PREPARE p AS " + READ)
        ask(connection, "SELECT status FROM shop.orders WHERE id OPERATOR(pg_catalog.<) 5")
        connection.cursor().execute(end)
        ask(connection, READ)
        connection.close()


def test_what_was_prepared_before_is_judged_again():
    connection = open_connection(True)
    connection.cursor().execute("PREPARE p AS " + READ)
    ask(connection, "EXECUTE p")
    connection.cursor().execute("BEGIN")
    released(connection, "CREATE TABLE shop.later (id int)")
    closed(connection, "EXECUTE p")
    connection.cursor().execute("ROLLBACK")
    ask(connection, "EXECUTE p")
    connection.close()


def test_a_temporary_table_of_a_released_hold_stays_a_candidate():
    connection = open_connection(True)
    released(connection, "CREATE TEMP TABLE orders AS SELECT 1 AS id, 'x'::pg_catalog.text AS status")
    connection.autocommit = False
    closed(connection, READ)
    ask(connection, "SELECT count(*) FROM customers")
    connection.rollback()
    connection.close()
    other = open_connection(True)
    ask(other, READ)
    other.close()


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        database.ask(SETUP)
        database.ask(f"GRANT TEMPORARY ON DATABASE {database.name} TO agent")
        code = main(globals())
    sys.exit(code)

"""A crash with pending holds: none is lost, none runs, one that is released afterwards runs once."""
import os
import sys
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 1s, expire: 1h, run_within: 15m}
    limits: {rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.orders]
      - hold: [update, delete]
        on: [shop.orders]
        where: required
        max_rows: 1000
"""

database = running = None


def hold_five():
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        for customer in range(20, 25):
            try:
                cursor.execute("UPDATE shop.orders SET notes = 'held' WHERE customer_id = %s", (customer,))
                check(False, "it was not held")
            except psycopg2.Error as error:
                equal(error.pgcode, "55PW1", error.diag.message_primary)


def changed():
    return database.value("SELECT count(DISTINCT customer_id) FROM shop.orders WHERE notes = 'held'")


def test_five_pending_holds_survive_kill_9():
    hold_five()
    before = [(h["id"], h["digest"]) for h in running.holds("pending")]
    equal(len(before), 5, "pending holds")
    running.kill()
    running.start()
    equal([(h["id"], h["digest"]) for h in running.holds("pending")], before, "after the restart")
    equal(changed(), 0, "statements that ran")


def test_one_that_is_released_runs_once():
    chosen = running.holds("pending")[2]
    running.command("release", chosen["id"], "--digest", chosen["digest"])
    equal(changed(), 0, "nothing runs by itself")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(f"EXECUTE pgwicket_hold({chosen['id']})")
        check(cursor.rowcount > 0, "rows")
        equal(changed(), 1)
        try:
            cursor.execute(f"EXECUTE pgwicket_hold({chosen['id']})")
            check(False, "it ran twice")
        except psycopg2.Error as error:
            equal(error.pgcode, "55PW5")
    equal(len(running.holds("pending")), 4, "the others wait")


def test_a_released_hold_survives_kill_9_and_runs_once():
    chosen = running.holds("pending")[0]
    running.command("release", chosen["id"], "--digest", chosen["digest"])
    running.kill()
    running.start()
    equal([h["id"] for h in running.holds("released")], [chosen["id"]])
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(f"EXECUTE pgwicket_hold({chosen['id']})")
    equal(changed(), 2)


def test_a_kill_in_mid_session_commits_nothing():
    connection = running.connect(autocommit=False)
    cursor = connection.cursor()
    cursor.execute("SELECT count(*) FROM shop.orders")
    running.kill()
    try:
        cursor.execute("SELECT 1")
        check(False, "the session goes on")
    except psycopg2.Error:
        pass
    running.start()
    equal(changed(), 2)


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        code = main(globals())
    sys.exit(code)

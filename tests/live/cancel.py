"""Cancelling: what runs on the server, and what waits for a person."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg
import psycopg2

from live import check, equal, eventually, main
from wicket import AGENT_SECRET, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 60s, expire: 1h, run_within: 15m}
    limits: {rehearsals_per_minute: unlimited}
    settings: {statement_timeout: 120s}
    rules:
      - allow: [select]
        on: [shop.orders]
      - allow: [call]
        on: [pg_catalog.pg_sleep]
      - hold: [delete]
        on: [shop.orders]
        where: required
        max_rows: 1000
"""
SLEEP = "SELECT pg_sleep(60)"
HELD = "DELETE FROM shop.orders WHERE customer_id = 77"

database = running = None


def sleeping():
    return database.value(f"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(%' "
                          f"AND pid <> pg_backend_pid() AND datname = '{database.name}'")


def cancel_after(ready, cancel, run):
    """Runs run() and, when ready() is true, cancel(); returns the error and how long it took to come."""
    moment = []

    def watch():
        eventually(ready, "it runs")
        moment.append(time.monotonic())
        cancel()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    error = run()
    watcher.join(20)
    check(moment, "it ended before it was cancelled")
    check(time.monotonic() - moment[0] < 10, "the cancel took too long")
    return error


def sqlstate_of(connection, sql, errors):
    try:
        connection.cursor().execute(sql)
    except errors as error:
        return getattr(error, "pgcode", None) or getattr(error, "sqlstate", None) or "closed"
    return None


def test_psycopg2_cancels_a_query():
    connection = running.connect()
    code = cancel_after(sleeping, connection.cancel, lambda: sqlstate_of(connection, SLEEP, psycopg2.Error))
    equal(code, "57014")
    equal(sleeping(), 0, "queries that still run")
    cursor = connection.cursor()
    cursor.execute("SELECT 1")
    equal(cursor.fetchone(), (1,), "the session goes on")
    connection.close()


def test_psycopg3_cancels_a_query_over_tls():
    with psycopg.connect(**running.address(sslmode="require"), autocommit=True) as connection:
        code = cancel_after(sleeping, connection.cancel, lambda: sqlstate_of(connection, SLEEP, psycopg.Error))
        equal(code, "57014")
        equal(connection.execute("SELECT 1").fetchone(), (1,))


def test_psql_cancels_with_control_c():
    environment = {**os.environ, "PGPASSWORD": AGENT_SECRET}
    process = subprocess.Popen(["psql", "-X", "-h", "127.0.0.1", "-p", str(running.port), "-U", "agent", "-d", "shop",
                                "-c", SLEEP], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=environment)
    eventually(sleeping, "it runs")
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=10)[0]
    check("canceling statement due to user request" in output, output)
    eventually(lambda: sleeping() == 0, "the query has ended on the server")


def test_cancel_ends_the_waiting_and_not_the_hold():
    connection = running.connect()
    code = cancel_after(lambda: running.holds("pending"), connection.cancel,
                        lambda: sqlstate_of(connection, HELD, psycopg2.Error))
    check(code in ("57014", "55PW1"), f"SQLSTATE {code}")
    holds = running.holds("pending")
    equal(len(holds), 1, "the hold is there")
    check(database.value("SELECT count(*) FROM shop.orders WHERE customer_id = 77") > 0, "nothing was deleted")
    cursor = connection.cursor()
    cursor.execute("SELECT 1")
    connection.close()


def test_disconnecting_ends_the_waiting_and_not_the_hold():
    running.command("refuse", running.holds("pending")[0]["id"], "--reason", "the next test")
    process = subprocess.Popen(["psql", "-X", running.dsn(), "-c", HELD],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: running.holds("pending"), "a pending hold")
    process.kill()
    process.wait()
    time.sleep(0.5)
    equal(len(running.holds("pending")), 1, "the hold is there")
    equal(database.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'agent' AND state <> 'idle' "
                         f"AND datname = '{database.name}'"), 0, "queries of the session on the server")


def test_pause_stops_an_agent_at_once():
    connection = running.connect()
    code = cancel_after(sleeping, lambda: running.command("pause", "agent"),
                        lambda: sqlstate_of(connection, SLEEP, psycopg2.Error))
    check(code in ("57014", "55PW4", "57P01", "closed"), f"SQLSTATE {code}")
    eventually(lambda: sleeping() == 0, "the query has ended on the server")
    try:
        other = running.connect()
        equal(sqlstate_of(other, "SELECT 1", psycopg2.Error), "55PW4")
        other.close()
    except psycopg2.OperationalError as error:
        check("paused" in str(error), str(error))
    running.command("resume", "agent")
    other = running.connect()
    equal(sqlstate_of(other, "SELECT 1", psycopg2.Error), None)
    other.close()


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        code = main(globals())
    sys.exit(code)

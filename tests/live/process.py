"""The process: reloading, stopping, a full audit file system, an upstream that goes away."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import Skip, check, equal, eventually, main
from wicket import ALLOW_ALL, Database, Wicket, wicket

READ_ONLY = """
    search_path: [shop]
    introspection: allow
    rules:
      - allow: [select]
        on: [shop.orders]
"""
SLOW = """
    search_path: [shop]
    introspection: allow
    rules:
      - allow: [select]
        on: [shop.orders]
      - allow: [call]
        on: [pg_catalog.pg_sleep]
"""


def outcome(connection, sql):
    """SQLSTATE, or None where it passed."""
    try:
        connection.cursor().execute(sql)
    except psycopg2.Error as error:
        return error.pgcode
    return None


def test_sighup_with_a_broken_file_keeps_the_old_configuration():
    with wicket(READ_ONLY) as (_, running):
        with open(running.file, encoding="utf-8") as file:
            good = file.read()
        running.configure(good + "\nnonsense: [\n")
        running.signal(signal.SIGHUP)
        eventually(lambda: running.file in running.read_log() or "nonsense" in running.read_log(),
                   "the log says what is wrong")
        with closing(running.connect()) as connection:
            equal(outcome(connection, "SELECT 1 FROM shop.orders LIMIT 1"), None)
            equal(outcome(connection, "DELETE FROM shop.orders"), "42501")


def test_sighup_puts_a_new_policy_in_force():
    with wicket(READ_ONLY) as (database, running):
        connection = running.connect()
        update = "UPDATE shop.orders SET notes = 'reloaded' WHERE id = 4"
        equal(outcome(connection, update), "42501")
        running.values["policy"] = (READ_ONLY + "      - allow: [update]\n        on: [shop.orders]\n").strip("\n")
        running.configure()
        running.signal(signal.SIGHUP)
        eventually(lambda: outcome(connection, update) is None or
                   outcome(fresh := running.connect(), update) is None and (fresh.close() or True),
                   "the new rule is in force")
        equal(database.value("SELECT notes FROM shop.orders WHERE id = 4"), "reloaded")
        connection.close()


def test_sighup_opens_the_audit_file_anew():
    with wicket(READ_ONLY) as (_, running):
        older = running.audit_file + ".1"
        with closing(running.connect()) as connection:
            outcome(connection, "SELECT 1 FROM shop.orders LIMIT 1")
            os.rename(running.audit_file, older)
            running.signal(signal.SIGHUP)
            eventually(lambda: os.path.exists(running.audit_file), "a new file")
            outcome(connection, "DELETE FROM shop.orders")
        running.stop()
        running.command("verify", older, running.audit_file)
        equal(running.command("verify", running.audit_file, older, check=False).returncode, 1)


def test_sigterm_lets_a_running_statement_end():
    with wicket(SLOW) as (_, running):
        results = []
        connection = running.connect()
        thread = threading.Thread(target=lambda: results.append(outcome(connection, "SELECT pg_sleep(2)")))
        thread.start()
        time.sleep(0.7)
        started = time.monotonic()
        running.stop()
        thread.join(10)
        equal(results, [None], "the statement's outcome")
        check(time.monotonic() - started < 15, "it did not end soon")


def test_sigterm_with_idle_sessions_ends_at_once():
    with wicket(READ_ONLY) as (_, running):
        connections = [running.connect() for _ in range(5)]
        started = time.monotonic()
        running.stop()
        check(time.monotonic() - started < 10, "it did not end soon")
        for connection in connections:
            check(outcome(connection, "SELECT 1") in ("57P01", None) or True, "closed")
            connection.close()


def test_an_audit_file_that_cannot_be_written_stops_everything():
    """/dev/full takes no byte, ever: not even a login can be recorded."""
    with Database() as database:
        running = Wicket(database, ALLOW_ALL, audit="/dev/full")
        launch(running)
        try:
            eventually(lambda: "ready" in running.read_log(), "it starts")
            try:
                running.connect()
                check(False, "somebody was let in")
            except psycopg2.OperationalError as error:
                check("audit log cannot be written" in str(error), str(error))
            equal(running.command("health", check=False).returncode, 1)
        finally:
            running.stop()
            running.__exit__(None)


def launch(running):
    """Starts it where nobody can log in."""
    with open(running.log, "ab") as log:
        running.process = subprocess.Popen([os.environ["PGWICKET_BIN"], "serve", running.file], stdout=log,
                                           stderr=log)


def fill(path):
    """Takes all the room that the file system has."""
    ballast = os.open(path, os.O_WRONLY | os.O_CREAT)
    size = 65536
    while size > 0:
        try:
            os.write(ballast, b"x" * size)
        except OSError:
            size //= 2
    os.close(ballast)


def test_a_full_audit_file_system_stops_everything_until_there_is_room():
    folder = tempfile.mkdtemp(prefix="pgwicket-full-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], capture_output=True,
                             check=False)
    if mounted.returncode != 0:
        os.rmdir(folder)
        raise Skip("no file system can be mounted here")
    try:
        with Database() as database, Wicket(database, READ_ONLY, audit=folder + "/audit.jsonl") as running:
            connection = running.connect()
            equal(outcome(connection, "SELECT 1 FROM shop.orders LIMIT 1"), None)
            fill(folder + "/ballast")
            eventually(lambda: outcome(connection, "SELECT 1 FROM shop.orders LIMIT 1") == "58030",
                       "58030 when no record can be written")
            try:
                connection.cursor().execute("SELECT 1 FROM shop.orders LIMIT 1")
                check(False, "it was run without a record")
            except psycopg2.Error as error:
                equal((error.pgcode, error.diag.message_primary, error.diag.message_detail, error.diag.message_hint),
                      ("58030", "pgwicket: the audit log cannot be written, so nothing is run at the moment", None,
                       "Not caused by your statement. Stop and report it; try again in a few minutes."))
            os.unlink(folder + "/ballast")
            equal(outcome(connection, "SELECT 1 FROM shop.orders LIMIT 1"), None, "it recovers")
            connection.close()
            check(any("could not be written" in r.get("pgwicket.reason", "") for r in running.audit()),
                  "the log says that records are missing")
    finally:
        subprocess.run(["umount", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def test_an_upstream_that_is_down_does_not_stop_pgwicket():
    def ready(running):
        try:
            with urllib.request.urlopen(running.url + "/readyz", timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    with Database() as database:
        running = Wicket(database, READ_ONLY, upstream="host=127.0.0.1 port=1 dbname=shop user=agent password=x")
        launch(running)
        try:
            equal(eventually(lambda: ready(running), "it answers"), 503)
            try:
                running.connect()
                check(False, "a login without an upstream")
            except psycopg2.OperationalError as error:
                check("pgwicket" in str(error) or "upstream" in str(error), str(error))
            equal(running.command("health", check=False).returncode, 1)
        finally:
            running.stop()
            running.__exit__(None)


def test_wrong_passwords_and_unknown_names_get_the_same_answer():
    with wicket(READ_ONLY) as (_, running):
        answers = set()
        for user, password in (("agent", "wrong"), ("nobody", "wrong"), ("alice", "alice-secret")):
            try:
                running.connect(user=user, password=password).close()
                check(False, f"{user} is in")
            except psycopg2.OperationalError as error:
                answers.add(str(error).strip().rsplit("FATAL:", 1)[-1].replace(user, "NAME"))
        equal(len(answers), 1, f"{answers}")
        try:
            running.connect(dbname="other").close()
            check(False, "an unknown database")
        except psycopg2.OperationalError as error:
            check("other" in str(error), str(error))


if __name__ == "__main__":
    sys.exit(main(globals()))

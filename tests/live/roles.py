"""deploy/roles.sql: each wall that the database itself puts in an agent's way, tried on a real server."""
import os
import subprocess
import sys
from contextlib import closing, suppress

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, main
from wicket import CONFIGURATION, SERVER_PORT, Database, Wicket

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "roles.sql")
ROLES = ("wicket_read", "wicket_write")
FINE = None

# Who, what, and the SQLSTATE that stops it. Every role has what is under "both".
WALLS = [
    ("both", "SELECT id, name FROM shop.customers LIMIT 1", FINE),
    ("both", "SELECT o.id, sum(i.qty) FROM shop.orders o JOIN shop.order_items i ON i.order_id = o.id "
             "WHERE o.id < 5 GROUP BY 1", FINE),
    # Columns, tables and schemas that are not theirs.
    ("both", "SELECT ssn FROM shop.customers", "42501"),
    ("both", "SELECT * FROM shop.customers", "42501"),
    ("both", "SELECT c::text FROM shop.customers c", "42501"),
    ("both", "SELECT count(*) FROM shop.customer_directory", "42501"),
    ("both", "SELECT * FROM shop.staff", "42501"),
    ("both", "SELECT * FROM hr.salaries", "42501"),
    ("both", "SELECT * FROM public.orders", "42501"),
    ("both", "SELECT rolpassword FROM pg_authid", "42501"),
    ("both", "SELECT most_common_vals FROM pg_statistic, pg_class", "42703"),
    ("both", "SELECT * FROM pg_statistic", "42501"),
    # Code of others, and of their own.
    ("both", "SELECT shop.purge_old()", "42501"),
    ("both", "SELECT shop.bump()", "42501"),
    ("both", "SELECT 1 OPERATOR(shop.===) 1", "42501"),
    ("both", "SELECT dblink('dbname=postgres', 'SELECT 1')", "42501"),
    ("both", "DO $$ BEGIN NULL; END $$", "42501"),
    ("both", "CREATE FUNCTION shop.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "42501"),
    # Objects.
    ("both", "CREATE TABLE public.mine (id int)", "42501"),
    ("both", "CREATE TABLE shop.mine (id int)", "42501"),
    ("both", "CREATE TEMPORARY TABLE mine (id int)", "42501"),
    ("both", "CREATE SCHEMA mine", "42501"),
    ("both", "CREATE EXTENSION hstore", "42501"),
    ("both", "DROP TABLE shop.orders", "42501"),
    ("both", "ALTER TABLE shop.orders DISABLE TRIGGER ALL", "42501"),
    ("both", "CREATE INDEX ON shop.orders (notes)", "42501"),
    ("both", "TRUNCATE shop.order_items", "42501"),
    ("both", "BEGIN; LOCK TABLE shop.products IN ACCESS EXCLUSIVE MODE", "42501"),
    ("both", "SELECT lo_create(0)", "42501"),
    ("both", "SELECT lo_from_bytea(0, 'x')", "42501"),
    # The server's files and programs, and other sessions.
    ("both", "COPY (SELECT 1) TO PROGRAM 'true'", "42501"),
    ("both", "COPY shop.products TO '/tmp/pgwicket-roles'", "42501"),
    ("both", "SELECT pg_read_file('PG_VERSION')", "42501"),
    ("both", "SELECT pg_ls_dir('.')", "42501"),
    ("both", "SELECT pg_terminate_backend({superuser})", "42501"),
    ("both", "SELECT pg_cancel_backend({superuser})", "42501"),
    # Powers.
    ("both", "SET ROLE postgres", "42501"),
    ("both", "SET SESSION AUTHORIZATION postgres", "42501"),
    ("both", "ALTER ROLE CURRENT_USER SUPERUSER", "42501"),
    ("both", "CREATE ROLE other", "42501"),
    ("both", "CREATE DATABASE other", "42501"),
    ("both", "GRANT SELECT ON shop.staff TO CURRENT_USER", "42501"),
    ("both", "SET session_replication_role = replica", "42501"),
    ("both", "SET temp_file_limit = -1", "42501"),
    ("both", "ALTER SYSTEM SET work_mem = '1GB'", "42501"),
    # The reading one writes nothing, also after it has made its session one that may write.
    ("wicket_read", "UPDATE shop.orders SET status = 'paid' WHERE id = 1", "42501"),
    ("wicket_read", "INSERT INTO shop.orders (customer_id) VALUES (1)", "42501"),
    ("wicket_read", "DELETE FROM shop.order_items", "42501"),
    ("wicket_read", "SELECT nextval('shop.orders_id_seq')", "42501"),
    ("wicket_read", "SELECT id FROM shop.orders FOR UPDATE", "42501"),
    # The writing one writes what was granted.
    ("wicket_write", "UPDATE shop.orders SET status = 'paid', notes = 'x' WHERE id = 1", FINE),
    ("wicket_write", "INSERT INTO shop.orders (customer_id, status) VALUES (1, 'pending') RETURNING id", FINE),
    ("wicket_write", "DELETE FROM shop.order_items WHERE order_id = 1", FINE),
    ("wicket_write", "UPDATE shop.orders SET total = 0 WHERE id = 1", "42501"),
    ("wicket_write", "UPDATE shop.orders SET customer_id = 2 WHERE id = 1", "42501"),
    ("wicket_write", "DELETE FROM shop.orders WHERE id = 1", "42501"),
    ("wicket_write", "UPDATE shop.customers SET city = 'x' WHERE id = 1", "42501"),
    ("wicket_write", "INSERT INTO shop.products SELECT * FROM shop.products", "42501"),
    ("wicket_write", "SELECT setval('shop.orders_id_seq', 1)", "42501"),
]

POLICY = """
    search_path: [shop]
    rules:
      - allow: [select]
        on: [shop.customers, shop.products, shop.orders, shop.order_items]
      - allow: [insert]
        on: [shop.orders, shop.order_items]
      - allow: [update]
        on: [shop.orders]
        columns: [status, notes]
        where: key
      - allow: [delete]
        on: [shop.order_items]
        max_rows: 3
"""
PLAIN = CONFIGURATION.replace("    accept_risks: [superuser, replication, bypassrls, file_access]\n", "")

database = None


def run_script(name=None):
    target = f"{database.superuser}".replace(f"dbname={database.name}", f"dbname={name or database.name}")
    return subprocess.run(["psql", "-q", "-X", target, "-f", SCRIPT], capture_output=True, text=True, check=False)


def connect(role):
    return psycopg2.connect(host="127.0.0.1", port=SERVER_PORT, dbname=database.name, user=role, password="secret-word")


def found(connection, sql):
    """The SQLSTATE that stopped it, or None."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(sql)
            return None
        except psycopg2.Error as error:
            return error.pgcode
        finally:
            cursor.execute("ROLLBACK")


def session(role):
    """That has taken off what the role itself can take off."""
    connection = connect(role)
    connection.autocommit = True
    found(connection, "SET default_transaction_read_only = off")
    return connection


def test_each_wall_stands():
    wrong = []
    with closing(psycopg2.connect(database.superuser)) as superuser:
        for role in ROLES:
            with closing(session(role)) as connection:
                for sql, expected in [(sql, code) for who, sql, code in WALLS if who in ("both", role)]:
                    code = found(connection, sql.replace("{superuser}", str(superuser.info.backend_pid)))
                    if code != expected:
                        wrong.append(f"{role}: {sql}: {code}, not {expected}")
    equal(wrong, [], "walls")


def test_what_comes_later_is_not_theirs():
    database.ask("CREATE TABLE shop.later AS SELECT 1 AS x")
    database.ask("CREATE FUNCTION shop.later() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    for role in ROLES:
        with closing(session(role)) as connection:
            equal(found(connection, "SELECT * FROM shop.later"), "42501")
            equal(found(connection, "SELECT shop.later()"), "42501")


def test_sessions_start_with_time_outs():
    for role, read_only in zip(ROLES, ("on", "off")):
        with closing(connect(role)) as connection, connection.cursor() as cursor:
            for setting, value in (("statement_timeout", "30s"), ("lock_timeout", "2s"), ("temp_file_limit", "1GB"),
                                   ("idle_in_transaction_session_timeout", "1min"),
                                   ("default_transaction_read_only", read_only)):
                cursor.execute(f"SHOW {setting}")
                equal(cursor.fetchone()[0], value, f"{role}: {setting}")


def test_connections_are_limited():
    sessions = []
    try:
        for _ in range(21):
            sessions.append(connect("wicket_read"))
        try:
            sessions.append(connect("wicket_read"))
        except psycopg2.OperationalError as error:
            check("too many connections for role" in str(error), str(error))
        equal(len(sessions), 21, "connections")
    finally:
        for session in sessions:
            session.close()


def test_a_role_that_may_connect_to_no_other_database_than_this():
    # Others are as their owners have left them; this one is closed to whoever is not named.
    equal(database.value(f"SELECT has_database_privilege('agent', '{database.name}', 'CONNECT')"), False)
    equal(database.value(f"SELECT has_database_privilege('wicket_read', '{database.name}', 'CONNECT')"), True)
    equal(database.value(f"SELECT has_database_privilege('wicket_read', '{database.name}', 'TEMPORARY')"), False)


def test_it_can_be_run_again_and_finds_what_was_given_besides():
    equal(run_script().stderr, "")
    for given, taken, what in (
            ("GRANT agent TO wicket_read", "REVOKE agent FROM wicket_read", "member of another"),
            ("GRANT INSERT ON shop.products TO wicket_read", "REVOKE INSERT ON shop.products FROM wicket_read",
             "more than SELECT"),
            ("ALTER TABLE shop.staff OWNER TO wicket_write", "ALTER TABLE shop.staff OWNER TO postgres", "owns")):
        database.ask(given)
        warned = run_script().stderr
        database.ask(taken)
        check(what in warned, f"{given}: {warned!r}")
    equal(run_script().stderr, "")


def test_pgwicket_works_with_such_a_role_and_needs_no_accepted_risk():
    upstream = (f"host=127.0.0.1 port={SERVER_PORT} dbname={database.name} user=wicket_write "
                "password=secret-word")
    with Wicket(database, POLICY, upstream=upstream, configuration=PLAIN) as running:
        with closing(running.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("UPDATE orders SET status = 'paid' WHERE id = 3")
            equal(cursor.rowcount, 1)
        warned = running.command("check", running.file)
        check("could be revoked" not in warned.stderr, warned.stderr)


def drop_roles():
    for role in ROLES:
        with suppress(psycopg2.Error):
            database.ask(f"DROP OWNED BY {role}")
        with suppress(psycopg2.Error):
            database.ask(f"DROP ROLE {role}")


if __name__ == "__main__":
    with Database() as database:
        try:
            made = run_script()
            check(made.returncode == 0 and not made.stderr, made.stderr)
            for role_name in ROLES:
                database.ask(f"ALTER ROLE {role_name} PASSWORD 'secret-word'")
            code = main(globals())
        finally:
            drop_roles()
    sys.exit(code)

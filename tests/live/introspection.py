"""What `introspection: allow` opens of the catalogs, and that it opens nothing else.

psql, SQLAlchemy and Django ask real questions of a policy of plain select rules. Then every column of
pg_catalog and information_schema is asked for; only those of parser/builtins/catalog-15.tsv may answer.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import corpus
import psycopg2
import pgwire

from live import check, equal, main, some
from wicket import AGENT_SECRET, Database, Wicket, configuration

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CONFIGURATION = configuration("""
policies:
  open:
    search_path: [shop, public]
    introspection: allow
    rules:
      - allow: [select]
        on: ["shop.*"]
  closed:
    search_path: [shop, public]
    introspection: reject
    rules:
      - allow: [select]
        on: ["shop.*"]
  last:
    search_path: [shop, public, pg_temp]
    introspection: allow
    hidden: ["*.*.email"]
    rules:
      - allow: [select]
        on: ["shop.*"]
      - allow: [select, insert, create, drop]
        on: ["pg_temp.*"]
  first:
    search_path: [shop, public]
    introspection: allow
    hidden: ["*.*.email"]
    rules:
      - allow: [select]
        on: ["shop.*"]
      - allow: [select, insert, create, drop]
        on: ["pg_temp.*"]
""", agent="open", closed="closed", last="last", first="first")

# psql's commands, and a word of the answer.
PSQL_PASSES = {
    r"\d": "customers", r"\d shop.orders": "orders_unpaid", r"\d shop.customers": "Referenced by",
    r"\d shop.days": "Partition key", r"\d shop.days_2024": "FOR VALUES FROM", r"\d shop.derived": "Inherits",
    r"\d shop.tenants": "Policies", r"\d shop.order_totals": "net_total", r"\d shop.totals": "Materialized",
    r"\d shop.orders_id_seq": "Owned by", r"\d shop.orders_pkey": "primary key", r"\d shop.pair": "Composite",
    r"\d+ shop.orders": "where it is", r"\d+ shop.days": "days_2024", r"\dS": "pg_class", r"\da shop.*": "evil_sum",
    r"\dA+": "btree", r"\dAc": "Input type", r"\dAf": "integer_ops", r"\dAo btree": "Operator", r"\dAp btree":
    "Function", r"\dc+": "conversions", r"\dC+": "Implicit", r"\dd": "Object descriptions", r"\dD+": "percent",
    r"\des": "elsewhere", r"\det": "remote", r"\dew": "postgres_fdw", r"\df": "purge_old", r"\df shop.*": "bump",
    r"\dF+": "english", r"\dFd": "simple", r"\dFp": "default", r"\dFt": "snowball", r"\dg": "agent",
    r"\di": "orders_unpaid", r"\dL+": "plpgsql", r"\dm": "totals", r"\dn+": "shop", r"\do shop.*": "===",
    r"\dO": "collations", r"\dp": "arwdDxt", r"\dP": "days", r"\dRp": "news", r"\dRp+": "shop.orders",
    r"\ds": "orders_id_seq", r"\dt": "customers", r"\dt *.*": "salaries", r"\dT+": "mood", r"\du+": "agent",
    r"\dv": "order_totals", r"\dx+": "dblink", r"\dX": "orders_together", r"\l": "postgres", r"\z": "arwdDxt",
    r"\encoding": "UTF8", r"\conninfo": "agent",
}
# What asks for sizes, bodies, options, statistics, or other databases' and roles' settings; and what must be named.
PSQL_REFUSED = {
    r"\d+": "pg_table_size", r"\dt+": "pg_table_size", r"\di+": "pg_table_size", r"\dv+": "pg_table_size",
    r"\dm+": "pg_table_size", r"\dP+": "pg_table_size", r"\l+": "pg_database_size", r"\df+ shop.*": "prosrc",
    r"\sf shop.tell": "pg_get_functiondef", r"\sv shop.order_totals": "pg_get_viewdef",
    r"\d+ shop.order_totals": "pg_get_viewdef", r"\d shop.ruled": "pg_get_ruledef",
    r"\d shop.remote": "attfdwoptions", r"\db": "pg_tablespace_location", r"\dconfig": "pg_settings",
    r"\ddp": "pg_default_acl", r"\des+": "srvoptions", r"\det+": "ftoptions", r"\deu": "pg_user_mappings",
    r"\dew+": "fdwoptions", r"\dl": "pg_largeobject_metadata", r"\drds": "pg_db_role_setting",
    r"\dRs": "pg_subscription", r"\dy": "pg_event_trigger",
}
TABLES = ["base", "customers", "days", "days_2024", "derived", "order_items", "orders", "products", "ruled",
          "tenants"]

database = running = None


def psql(command, user="agent", error=0):
    environment = {**os.environ, "PGPASSWORD": AGENT_SECRET, "PGSSLMODE": "disable"}
    result = subprocess.run(["psql", "-X", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(running.port), "-U",
                             user, "-d", "shop", "-c", command], capture_output=True, text=True, env=environment,
                            timeout=60, check=False)
    equal(result.returncode != 0, error != 0, f"psql {command}: {result.stderr}")
    return result.stderr if error else result.stdout


def url(driver="postgresql+psycopg2", user="agent"):
    return f"{driver}://{user}:{AGENT_SECRET}@127.0.0.1:{running.port}/shop"


# --- what passes -----------------------------------------------------------------------------------


def test_commands_of_psql_that_look_at_names_and_types():
    for command, word in some(PSQL_PASSES.items(), 2):
        check(word in psql(command), f"{command} does not tell {word}")


def test_commands_of_psql_that_look_further_name_what_is_closed():
    for command, name in PSQL_REFUSED.items():
        message = psql(command, error=1)
        check("pgwicket: " in message and name in message, f"{command} does not name {name}: {message}")
        check("secret" not in message, f"{command}: {message}")


def test_sqlalchemy_reflects_a_schema():
    import sqlalchemy  # only here
    engine = sqlalchemy.create_engine(url())
    look = sqlalchemy.inspect(engine)
    check({"shop", "public", "information_schema"} <= set(look.get_schema_names()), "schemas")
    check(set(TABLES) <= set(look.get_table_names("shop")), look.get_table_names("shop"))
    check("order_totals" in look.get_view_names("shop"), "views")
    equal(look.get_enums("shop")[0]["labels"], ["sad", "fine", "glad"])
    equal([c["name"] for c in look.get_columns("orders", "shop")][:3], ["id", "customer_id", "status"])
    equal(look.get_pk_constraint("days", "shop")["constrained_columns"], ["id", "day"])
    equal(look.get_foreign_keys("orders", "shop")[0]["referred_table"], "customers")
    check({"orders_unpaid"} <= {i["name"] for i in look.get_indexes("orders", "shop")}, "indexes")
    equal(look.get_unique_constraints("tenants", "shop")[0]["column_names"], ["note"])
    equal(len(look.get_check_constraints("orders", "shop")), 1)
    equal(look.get_table_comment("orders", "shop"), {"text": "what was ordered"})
    check("orders_id_seq" in look.get_sequence_names("shop"), "sequences")
    metadata = sqlalchemy.MetaData()
    metadata.reflect(engine, schema="shop", views=True)
    orders = metadata.tables["shop.orders"]
    with engine.connect() as connection:
        equal(connection.execute(sqlalchemy.select(sqlalchemy.func.count()).select_from(orders)).scalar(), 3000)
    engine.dispose()


DJANGO = """
import io, sys
import django
from django.conf import settings
settings.configure(USE_TZ=True, TIME_ZONE="UTC", INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
                   DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "shop", "USER": "agent",
                              "PASSWORD": sys.argv[1], "HOST": "127.0.0.1", "PORT": sys.argv[2]}})
django.setup()
from django.core.management import call_command
from django.db import connection, transaction
call_command("inspectdb", include_views=True, include_partitions=True)
call_command("migrate", plan=True)
call_command("showmigrations")
with connection.cursor() as cursor:
    look = connection.introspection
    print([t.name for t in look.get_table_list(cursor) if t.type == "v"])
    print(look.get_relations(cursor, "orders"), look.get_sequences(cursor, "orders", ()))
    print(sorted(look.get_constraints(cursor, "orders")), look.get_primary_key_column(cursor, "orders"))
with transaction.atomic(), connection.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM orders WHERE status = %s", ["paid"])
    print("paid", cursor.fetchone()[0])
    with transaction.atomic():
        cursor.execute("SELECT 1")
with connection.chunked_cursor() as cursor:
    cursor.execute("SELECT id FROM orders")
    print("rows", len(cursor.fetchall()))
"""


def test_django_inspects_a_database_and_plans_migrations():
    result = subprocess.run(["/usr/bin/python3", "-c", DJANGO, AGENT_SECRET, str(running.port)], capture_output=True,
                            text=True, timeout=120, check=False)
    equal(result.returncode, 0, result.stderr)
    check("pgwicket" not in result.stdout, f"something was refused: {result.stdout}")
    for word in ("class Orders(", "class OrderTotals(", "class Days(", "Create model ContentType", "orders_unpaid",
                 "orders_id_seq", "paid 300", "rows 3000"):
        check(word in result.stdout, f"{word} is missing in {result.stdout}")


DJANGO_SHORT = DJANGO[:DJANGO.index("from django.core")].replace('"agent"', '"last"') + """
from django.db import connection
with connection.cursor() as cursor:
    look = connection.introspection
    print([t.name for t in look.get_table_list(cursor)])
    print(sorted(look.get_constraints(cursor, "orders")), look.get_sequences(cursor, "orders", ()))
"""


def test_drivers_look_names_up_where_temporary_tables_are_searched_last():
    import psycopg2.extras, sqlalchemy  # only here
    connection = psycopg2.connect(host="127.0.0.1", port=running.port, dbname="shop", user="last", password=AGENT_SECRET)
    psycopg2.extras.register_hstore(connection)
    psycopg2.extras.register_composite("shop.pair", connection)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE pg_type AS SELECT 1 AS own")
        cursor.execute("SELECT typname FROM pg_type WHERE oid = 25")
        equal(cursor.fetchall(), [("text",)], "the catalog's own")
        cursor.execute("SELECT own FROM pg_temp.pg_type")
        equal(cursor.fetchall(), [(1,)], "the temporary one")
    connection.close()
    engine = sqlalchemy.create_engine(url(user="last"))
    look = sqlalchemy.inspect(engine)
    check(look.has_table("orders", "shop") and not look.has_table("nosuch"), "has_table")
    equal([c["name"] for c in look.get_columns("orders", "shop")][:3], ["id", "customer_id", "status"])
    engine.dispose()
    result = subprocess.run(["/usr/bin/python3", "-c", DJANGO_SHORT, AGENT_SECRET, str(running.port)], capture_output=True,
                            text=True, timeout=120, check=False)
    equal(result.returncode, 0, result.stderr)
    for word in ("order_totals", "orders_unpaid", "orders_id_seq"):
        check(word in result.stdout, f"{word} is missing in {result.stdout}")


# --- what does not ---------------------------------------------------------------------------------


def test_where_temporary_tables_are_searched_first_the_error_says_what_to_do():
    with connect("first") as c:
        errors = pgwire.errors(c.run(pgwire.query("SELECT typname FROM pg_type")))
        equal([e["C"] for e in errors], ["42501"])
        check("pg_temp.pg_type" in errors[0]["M"] and "email" not in errors[0]["M"], errors[0]["M"])
        check("pg_temp at the end of its search_path" in errors[0]["H"], errors[0]["H"])
        equal(pgwire.errors(c.run(pgwire.query("SELECT typname FROM pg_catalog.pg_type LIMIT 1"))), [])


def open_columns():
    return {(row["relation"], row["column"]) for row in corpus.table("catalog") if row["access"] == "open"}


def all_columns():
    """(relation, column) of every system relation, system columns included."""
    return database.ask("SELECT n.nspname || '.' || c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = "
                        "a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('pg_catalog', "
                        "'information_schema', 'pg_toast') AND c.relkind IN ('r', 'v') AND NOT a.attisdropped "
                        "ORDER BY 1, 2")


def outcome(connection, sql):
    """"answered", "rejected" or the error."""
    error = pgwire.errors(connection.run(pgwire.query(sql)))
    if not error:
        return "answered"
    if error[0]["C"] == "42501":
        return "rejected" if error[0]["M"].startswith("pgwicket: ") else "answered"  # by the server's own refusal
    return error[0]["M"]


def quote(name):
    return f'"{name}"'


def connect(user="agent"):
    return pgwire.Connection("127.0.0.1", running.port, user, AGENT_SECRET, timeout=60)


def test_every_column_of_the_catalogs_that_is_not_listed_is_closed():
    listed = open_columns()
    relations = {}
    for relation, column in all_columns():
        relations.setdefault(relation, []).append(column)
    check(sum(map(len, relations.values())) > 2400, "the catalogs are there")
    wrong = []
    with connect() as c:
        for relation, columns in relations.items():
            opened = [column for column in columns if (relation, column) in listed]
            if opened and "tableoid" in columns and relation.startswith("pg_catalog."):
                opened.append("tableoid")
            if opened and outcome(c, f"SELECT {', '.join(map(quote, opened))} FROM {relation} LIMIT 0") != "answered":
                wrong.append(f"{relation}: its open columns")
            wrong += [f"{relation}.{column}" for column in columns if column not in opened and
                      outcome(c, f"SELECT {quote(column)} FROM {relation} LIMIT 0") != "rejected"]
    equal(wrong, [], "columns that answer and should not, or the other way round")


def test_closed_columns_are_closed_in_every_clause():
    forms = ["SELECT 1 FROM pg_catalog.pg_proc WHERE prosrc LIKE '%'", "SELECT p FROM pg_catalog.pg_proc p",
             "SELECT count(*) FROM pg_catalog.pg_proc ORDER BY max(prosrc)", "TABLE pg_catalog.pg_proc",
             "SELECT count(p) FROM pg_catalog.pg_proc p", "SELECT (p).prosrc FROM pg_catalog.pg_proc p",
             "SELECT to_jsonb(p) FROM pg_catalog.pg_proc p", "SELECT * FROM pg_proc AS p (a, b) LIMIT 1",
             "SELECT 1 FROM pg_class a JOIN pg_class b USING (reltuples)", "SELECT 1 FROM pg_class GROUP BY relpages",
             "SELECT p.row_to_json FROM pg_proc p", "SELECT 1 FROM pg_class NATURAL JOIN pg_class c",
             "COPY pg_catalog.pg_proc TO STDOUT", "COPY pg_catalog.pg_proc (prosrc) TO STDOUT",
             "SELECT sum(count(*)) OVER (ORDER BY prosrc) FROM pg_proc GROUP BY prosrc",
             "DECLARE x CURSOR FOR SELECT prosrc FROM pg_proc", "EXPLAIN SELECT 1 FROM pg_proc WHERE prosrc = 'x'",
             "PREPARE x AS SELECT prosrc FROM pg_proc", "SELECT EXISTS (SELECT FROM pg_proc WHERE prosrc = 'x')",
             "WITH p AS (SELECT * FROM pg_proc) SELECT oid FROM p", "SELECT 1 FROM pg_class WHERE ctid = '(0,1)'"]
    with connect() as c:
        for sql in forms:
            equal(outcome(c, sql), "rejected", sql)


# Functions that tell sizes, statistics, bodies, files, other sessions, or run SQL.
CLOSED_CALLS = ["pg_total_relation_size('shop.orders')", "pg_database_size('shop')", "pg_relation_filepath('shop.orders')",
                "pg_get_functiondef('shop.tell'::regproc)", "pg_get_viewdef('shop.order_totals'::regclass)",
                "pg_get_ruledef(1)", "pg_stat_get_numscans('shop.orders'::regclass)", "pg_stat_get_activity(NULL)",
                "pg_stat_get_backend_activity(1)", "pg_ls_dir('.')", "pg_read_file('PG_VERSION')", "pg_show_all_settings()",
                "pg_hba_file_rules()", "pg_lock_status()", "pg_prepared_statement()", "query_to_xml('SELECT 1',true,true,'')",
                "current_setting('data_directory')", "pg_tablespace_location(1663)", "pg_get_shmem_allocations()",
                "inet_server_addr()", "pg_stat_file('PG_VERSION')", "pg_current_wal_lsn()", "pg_blocking_pids(1)",
                "txid_current()", "pg_config()", "pg_stat_reset()", "pg_cancel_backend(1)"]


def test_functions_that_tell_more_than_names_are_closed():
    with connect() as c:
        for call in CLOSED_CALLS:
            equal(outcome(c, f"SELECT {call}"), "rejected", call)
            equal(outcome(c, f"SELECT * FROM {call}"), "rejected", call)


def test_settings_cannot_be_read_or_changed_through_the_catalog():
    with connect() as c:
        for sql in ("SELECT setting FROM pg_settings WHERE name = 'data_directory'", "SELECT * FROM pg_settings",
                    "UPDATE pg_settings SET setting = 'off' WHERE name = 'row_security'",
                    "UPDATE pg_catalog.pg_settings SET setting = '1s' WHERE name = 'statement_timeout'",
                    "SELECT * FROM pg_file_settings", "SELECT * FROM pg_db_role_setting"):
            equal(outcome(c, sql), "rejected", sql)


# --- introspection: reject -------------------------------------------------------------------------


SESSION_STATEMENTS = ["DISCARD ALL", "RESET ALL", "UNLISTEN *", "CLOSE ALL", "DEALLOCATE ALL", "DISCARD TEMP",
                      "DISCARD SEQUENCES", "DISCARD PLANS", "SELECT pg_advisory_unlock_all()",
                      "SELECT pg_catalog.pg_advisory_unlock_all()", "SET SESSION AUTHORIZATION DEFAULT", "RESET ROLE",
                      "SET application_name = 'x'", "SET extra_float_digits = 3", "SET DateStyle = ISO",
                      "SET TIME ZONE 'UTC'", "SET client_encoding = 'UTF8'", "SET standard_conforming_strings = on",
                      "SET NAMES 'utf8'", "SET client_min_messages TO 'warning'", "SET statement_timeout = 1000",
                      "SHOW transaction_isolation", "SHOW server_version", "SHOW search_path", "SELECT version()",
                      "SELECT current_schema()", "SELECT pg_is_in_recovery()", "SELECT current_setting('jit')",
                      "SELECT set_config('jit', 'off', false)", "BEGIN", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                      "SAVEPOINT s", "RELEASE s", "SAVEPOINT s", "ROLLBACK TO SAVEPOINT s", "COMMIT",
                      "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE", "ROLLBACK", "START TRANSACTION READ ONLY",
                      "COMMIT", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
                      "SET default_transaction_isolation TO 'serializable'", "", "-- ping", ";"]


def test_session_statements_pass_without_introspection():
    for user in ("closed", "agent"):
        with connect(user) as c:
            for sql in SESSION_STATEMENTS:
                equal(outcome(c, sql), "answered", f"{sql} as {user}")


def test_without_introspection_no_catalog_answers():
    relations = sorted({relation for relation, _ in all_columns()})
    with connect("closed") as c:
        for relation in relations:
            equal(outcome(c, f"SELECT * FROM {relation} LIMIT 0"), "rejected", relation)
            equal(outcome(c, f"SELECT count(*) FROM {relation}"), "rejected", relation)
            equal(outcome(c, f"SELECT tableoid FROM {relation}"), "rejected", relation)
        for sql in ("SELECT 'shop.orders'::regclass", "SELECT to_regclass('shop.orders')", "SELECT format_type(23, NULL)",
                    "SELECT pg_get_constraintdef(1)", "SELECT has_table_privilege('shop.orders', 'select')",
                    "SELECT pg_table_is_visible(1)", "SELECT obj_description(1)", "SELECT 1::regtype"):
            equal(outcome(c, sql), "rejected", sql)
    for command in (r"\d", r"\dt", r"\df", r"\l", r"\du"):
        check("pgwicket: " in psql(command, "closed", error=1), command)


if __name__ == "__main__":
    with Database() as database:
        with open(TOP + "/tests/support/objects.sql", encoding="utf-8") as objects:
            database.ask(objects.read())
        database.ask("CREATE EXTENSION hstore SCHEMA public; CREATE EXTENSION citext SCHEMA public")  # their `=` is on the path
        with Wicket(database, configuration=CONFIGURATION) as running:
            code = main(globals())
    sys.exit(code)

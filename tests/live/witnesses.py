"""What a rollback does not undo is never run before a person has released it, wherever a table may run it: witnesses are a
counter table that another connection writes, a file, a second backend, a sequence, a session's lock."""
import os
import sys
import tempfile

import psycopg2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, eventually, main, some
from wicket import SERVER_PORT, SERVER_SOCKET, Sender, wicket

POLICY = """
    search_path: [pg_catalog]
    hold: {wait: 60s, expire: 1h, run_within: 15m}
    limits: {pending: unlimited, waiting: unlimited, sessions: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [w.*, v.*, l.*]
      - allow: [code] # of rules
        on: [l.*]
      - hold: [insert, update, delete, code]
        on: [w.*]
      - hold: [insert, update, delete, code]
        on: [v.*]
        unrehearsed: hold
      - allow: [insert, update, delete]
        on: [l.*]
        max_rows: 1
"""
FILE = os.path.join(tempfile.gettempdir(), f"pgwicket-witness-{os.getpid()}")
COUNTER = "public.dblink_exec('host=SOCKET port=PORT user=postgres dbname=DATABASE', 'INSERT INTO public.outside VALUES (1)')"

# Each is the body of a trigger.
DEEDS = {
    "setval": "PERFORM setval('public.witness', 4711)",
    "counter": "PERFORM " + COUNTER,
    "lo_export": "PERFORM lo_export(lo_from_bytea(0, 'x'), 'FILE')",
    "copy": "COPY (SELECT 1) TO 'FILE'",
    "program": "COPY (SELECT 1) TO PROGRAM 'cat > FILE'",
    "backend": "PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'witness'",
    "lock": "PERFORM pg_advisory_lock(4711)",
    "try_lock": "IF pg_try_advisory_lock(4711) THEN NULL; END IF",
    "built": "EXECUTE 'SELECT ' || 'setval(''public.witness'', 4711)'",
    "formatted": "EXECUTE format('SELECT setval(%L, 4711)', 'public.witness')",
    "constant": "EXECUTE 'SELECT setval(''public.witness'', 4711)'",
    "looped": "FOR i IN EXECUTE concat('SELECT setval(''public.witness'', ', 4711, ')') LOOP NULL; END LOOP",
    "opened": "OPEN c FOR EXECUTE concat('SELECT setval(''public.witness'', ', 4711, ')'); FETCH c INTO i; CLOSE c",
    "do": "DO 'BEGIN PERFORM setval(''public.witness'', 4711); END'",
    "xml": "PERFORM query_to_xml('SELECT setval(''public.witness'', 4711)', true, true, '')",
    "table_xml": "PERFORM table_to_xml('public.lurking', true, true, '')",
    "ts_stat": "PERFORM ts_stat('SELECT to_tsvector(setval(''public.witness'', 4711)::text)')",
    "view": "SELECT n INTO i FROM public.lurking",
    "quoted": 'i := "public" . "deed" /**/ ()',
    "unicode": r'i := U&"d\0065ed"()',
    "assigned": "i := public.deed()",
    "declared": "DECLARE j int := public.deed(); BEGIN NULL; END",
    "argument": "PERFORM public.with_argument()",
    "procedure": "CALL public.procedure()",
    "operator": "i := 1 OPERATOR(public.<=>=) 1",
    "aggregate": "SELECT public.gathered(1) INTO i",
    "cast": "i := (1::public.wrapped).n",
    "domain": "i := 1::public.odd",
    "variable": "DECLARE j public.odd := 1; BEGIN NULL; END",
    "row": "DECLARE j public.pair; BEGIN j.b := 1; END",
    "function": "PERFORM setval('public.made', 4711); CREATE FUNCTION public.made() RETURNS int LANGUAGE sql AS 'SELECT public.deed()'",
    "written": "INSERT INTO public.far VALUES (1)",
    "merged": "MERGE INTO public.far USING (VALUES (1)) n(id) ON far.id = n.id WHEN NOT MATCHED THEN INSERT VALUES (1)",
    "emptied": "TRUNCATE public.far",
    # A rollback undoes these, but nobody is shown them, or they make what is shown end too early.
    "deferring": "SET CONSTRAINTS ALL DEFERRED; INSERT INTO public.late VALUES (1)",
    "deferring_constant": "EXECUTE 'SET CONSTRAINTS public.late_fire DEFERRED'; INSERT INTO public.late VALUES (1)",
    "deferring_function": "PERFORM public.defer(); INSERT INTO public.late VALUES (1)",
    "lo_create": "PERFORM lo_create(4711)",
    "lo_from_bytea": "PERFORM lo_from_bytea(4711, 'x')",
    "lo_import": "PERFORM lo_import('/etc/hostname', 4711)",
    "lo_unlink": "PERFORM lo_unlink(4712)",
    "set": "SET work_mem = '1MB'",
    "set_session": "SET SESSION work_mem = '1MB'",
    "set_role": "SET ROLE NONE",
    "reset": "RESET work_mem",
    "set_config": "PERFORM set_config('a.b', 'c', i IS NOT NULL)",
    "set_config_false": "PERFORM pg_catalog.set_config('a.b', lower('true'), false)",
    "set_by_view": "UPDATE pg_settings SET setting = '1MB' WHERE name = 'work_mem'",
    "catalog_row": "UPDATE pg_catalog.pg_description SET description = 'x'",
    "collations": "PERFORM pg_import_system_collations('public')",
    "origin": "PERFORM pg_replication_origin_create('witness')",
}
COMMON = """
CREATE EXTENSION IF NOT EXISTS dblink SCHEMA public;
CREATE SEQUENCE public.witness;
CREATE TABLE public.outside (id int);
CREATE FUNCTION public.deed() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
  $$ BEGIN PERFORM setval('public.witness', 4711); RETURN 1; END $$;
CREATE FUNCTION public.fixed(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public.deed(); END $$;
CREATE FUNCTION public.folded(int) RETURNS int LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER AS
  $$ BEGIN PERFORM COUNTER; RETURN 1; END $$;
CREATE FUNCTION public.atomic() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT public.deed(); END;
CREATE FUNCTION public.with_argument(int DEFAULT public.deed()) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE public.procedure() LANGUAGE plpgsql AS $$ BEGIN PERFORM public.deed(); END $$;
CREATE FUNCTION public.same(int, int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN public.deed(); END $$;
CREATE OPERATOR public.<=>= (LEFTARG = int, RIGHTARG = int, FUNCTION = public.same);
CREATE AGGREGATE public.gathered(int) (SFUNC = public.same, STYPE = int);
CREATE TYPE public.wrapped AS (n int);
CREATE FUNCTION public.wrap(int) RETURNS public.wrapped LANGUAGE plpgsql AS $$ BEGIN RETURN ROW(public.deed()); END $$;
CREATE CAST (int AS public.wrapped) WITH FUNCTION public.wrap(int);
CREATE DOMAIN public.odd AS int CHECK (public.fixed(VALUE) > 0);
CREATE TYPE public.pair AS (a int, b public.odd);
CREATE VIEW public.lurking AS SELECT public.deed() AS n;
CREATE TABLE public.far (id int);
CREATE FUNCTION public.fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.deed(); RETURN NULL; END $$;
CREATE FUNCTION public.quiet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE FUNCTION public.in_c() RETURNS trigger LANGUAGE c AS 'plpgsql', 'plpgsql_call_handler';
CREATE FUNCTION public.defer() RETURNS void LANGUAGE sql AS 'SET CONSTRAINTS ALL DEFERRED';
CREATE TABLE public.late (id int);
CREATE TABLE public.victim (id int);
INSERT INTO public.victim VALUES (1), (2);
CREATE FUNCTION public.chain() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM public.victim; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER late_fire AFTER INSERT ON public.late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.chain();
SELECT lo_create(4712);
CREATE TRIGGER fire AFTER INSERT ON public.far FOR EACH ROW EXECUTE FUNCTION public.fire();
CREATE TRIGGER emptied BEFORE TRUNCATE ON public.far FOR EACH STATEMENT EXECUTE FUNCTION public.fire();
"""
# By name what makes a table in schema S, and the statement that would run the deed.
PLACES = {
    "default": ("CREATE TABLE S.T (id int, n int DEFAULT public.deed())", "INSERT INTO S.T (id) VALUES (1)"),
    "folded": ("CREATE TABLE S.T (id int, n int DEFAULT public.folded(1))", "INSERT INTO S.T (id) VALUES (1)"),
    "builtin": ("CREATE TABLE S.T (id int, n bigint DEFAULT setval('public.witness', 4711))", "INSERT INTO S.T (id) VALUES (1)"),
    "sql": ("CREATE TABLE S.T (id int, n int DEFAULT public.atomic())", "INSERT INTO S.T (id) VALUES (1)"),
    "to_default": ("CREATE TABLE S.T (id int, n int DEFAULT public.deed()); INSERT INTO S.T VALUES (1, 1)",
                   "UPDATE S.T SET n = DEFAULT WHERE id = 1"),
    "check": ("CREATE TABLE S.T (id int CHECK (public.fixed(id) > 0))", "INSERT INTO S.T VALUES (1)"),
    "generated": ("CREATE TABLE S.T (id int, g int GENERATED ALWAYS AS (public.fixed(id)) STORED)", "INSERT INTO S.T (id) VALUES (1)"),
    "index": ("CREATE TABLE S.T (id int); CREATE INDEX ON S.T ((public.fixed(id)))", "INSERT INTO S.T VALUES (1)"),
    "predicate": ("CREATE TABLE S.T (id int); CREATE INDEX ON S.T (id) WHERE public.fixed(id) > 0", "INSERT INTO S.T VALUES (1)"),
    "partition": ("CREATE TABLE S.T (id int) PARTITION BY RANGE (public.fixed(id)); CREATE TABLE S.T_0 PARTITION OF S.T DEFAULT",
                  "INSERT INTO S.T VALUES (1)"),
    "domain": ("CREATE TABLE S.T (id int, v public.odd)", "INSERT INTO S.T (id) VALUES (1)"),
    "domains": ("CREATE TABLE S.T (id int, v public.odd[])", "INSERT INTO S.T (id) VALUES (1)"),
    "row": ("CREATE TABLE S.T (id int, v public.pair)", "INSERT INTO S.T (id) VALUES (1)"),
    "policy": ("CREATE TABLE S.T (id int); INSERT INTO S.T VALUES (7); ALTER TABLE S.T ENABLE ROW LEVEL SECURITY; "
               "CREATE POLICY p ON S.T USING (public.fixed(id) > 0)", "DELETE FROM S.T WHERE id = 7"),
    "read_policy": ("CREATE TABLE S.T (id int); CREATE TABLE S.T_r (id int); ALTER TABLE S.T_r ENABLE ROW LEVEL SECURITY; "
                    "CREATE POLICY p ON S.T_r USING (public.fixed(id) > 0); INSERT INTO S.T_r VALUES (7)",
                    "INSERT INTO S.T SELECT id FROM S.T_r"),
    "insert": ("CREATE TABLE S.T (id int); CREATE TRIGGER t AFTER INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire()",
               "INSERT INTO S.T VALUES (1)"),
    "update": ("CREATE TABLE S.T (id int); INSERT INTO S.T VALUES (1); "
               "CREATE TRIGGER t AFTER UPDATE ON S.T FOR EACH STATEMENT EXECUTE FUNCTION public.fire()", "UPDATE S.T SET id = 2 WHERE id = 1"),
    "delete": ("CREATE TABLE S.T (id int); INSERT INTO S.T VALUES (1); "
               "CREATE TRIGGER t BEFORE DELETE ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire()", "DELETE FROM S.T WHERE id = 1"),
    "deferred": ("CREATE TABLE S.T (id int); CREATE CONSTRAINT TRIGGER t AFTER INSERT ON S.T DEFERRABLE INITIALLY DEFERRED "
                 "FOR EACH ROW EXECUTE FUNCTION public.fire()", "INSERT INTO S.T VALUES (1)"),
    "when": ("CREATE TABLE S.T (id int); CREATE TRIGGER t BEFORE INSERT ON S.T FOR EACH ROW WHEN (public.fixed(NEW.id) < 0) "
             "EXECUTE FUNCTION public.quiet()", "INSERT INTO S.T VALUES (1)"),
    "in_c": ("CREATE TABLE S.T (id int); CREATE TRIGGER t AFTER INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION public.in_c()",
             "INSERT INTO S.T VALUES (1)"),
    "rule": ("CREATE TABLE S.T (id int); CREATE RULE r AS ON INSERT TO S.T DO ALSO SELECT public.deed()", "INSERT INTO S.T VALUES (1)"),
    "rule_far": ("CREATE TABLE S.T (id int); CREATE RULE r AS ON INSERT TO S.T DO ALSO INSERT INTO public.far VALUES (NEW.id)",
                 "INSERT INTO S.T VALUES (1)"),
    "instead": ("CREATE VIEW S.T AS SELECT 1 AS id; CREATE TRIGGER t INSTEAD OF INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire()",
                "INSERT INTO S.T VALUES (1)"),
    "view": ("CREATE TABLE S.T_t (id int); CREATE VIEW S.T AS SELECT id FROM S.T_t; "
             "CREATE TRIGGER t AFTER INSERT ON S.T_t FOR EACH ROW EXECUTE FUNCTION public.fire()", "INSERT INTO S.T VALUES (1)"),
    "cascade": ("CREATE TABLE S.T (id int PRIMARY KEY); INSERT INTO S.T VALUES (1); "
                "CREATE TABLE S.T_c (id int REFERENCES S.T ON DELETE CASCADE); INSERT INTO S.T_c VALUES (1); "
                "CREATE TRIGGER t AFTER DELETE ON S.T_c FOR EACH ROW EXECUTE FUNCTION public.fire()", "DELETE FROM S.T WHERE id = 1"),
    "set_default": ("CREATE TABLE S.T (id int PRIMARY KEY); INSERT INTO S.T VALUES (1); "
                    "CREATE TABLE S.T_c (id int DEFAULT public.deed() REFERENCES S.T ON DELETE SET DEFAULT); INSERT INTO S.T_c VALUES (1)",
                    "DELETE FROM S.T WHERE id = 1"),
    "leaf": ("CREATE TABLE S.T (id int) PARTITION BY RANGE (id); CREATE TABLE S.T_0 PARTITION OF S.T DEFAULT; "
             "CREATE TRIGGER t AFTER INSERT ON S.T_0 FOR EACH ROW EXECUTE FUNCTION public.fire()", "INSERT INTO S.T VALUES (1)"),
    "moved": ("CREATE TABLE S.T (id int) PARTITION BY LIST (id); CREATE TABLE S.T_1 PARTITION OF S.T FOR VALUES IN (1); "
              "CREATE TABLE S.T_0 PARTITION OF S.T DEFAULT; INSERT INTO S.T VALUES (1); "
              "CREATE TRIGGER t AFTER DELETE ON S.T_1 FOR EACH ROW EXECUTE FUNCTION public.fire()", "UPDATE S.T SET id = 2 WHERE id = 1"),
    "child": ("CREATE TABLE S.T (id int); CREATE TABLE S.T_c () INHERITS (S.T); INSERT INTO S.T_c VALUES (1); "
              "CREATE TRIGGER t AFTER UPDATE ON S.T_c FOR EACH ROW EXECUTE FUNCTION public.fire()", "UPDATE S.T SET id = 2 WHERE id = 1"),
    "upsert": ("CREATE TABLE S.T (id int PRIMARY KEY); INSERT INTO S.T VALUES (1); "
               "CREATE TRIGGER t AFTER UPDATE ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire()",
               "INSERT INTO S.T VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 2"),
    "merge": ("CREATE TABLE S.T (id int PRIMARY KEY); INSERT INTO S.T VALUES (1); "
              "CREATE TRIGGER t AFTER DELETE ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire()",
              "MERGE INTO S.T USING (VALUES (1)) v(id) ON T.id = v.id WHEN MATCHED THEN DELETE"),
}
for deed, body in DEEDS.items():
    PLACES["by_" + deed] = (
        f"CREATE FUNCTION S.T_f() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS "
        f"$f$ DECLARE i int; c refcursor; BEGIN {body}; RETURN NULL; END $f$; CREATE TABLE S.T (id int); "
        "CREATE TRIGGER t AFTER INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION S.T_f()", "INSERT INTO S.T VALUES (1)")
# The same tables and others by statements that run none of it, and by what a rollback undoes.
PLACES = dict(some(PLACES.items(), 5))

HONEST = {
    "extensions": ('CREATE EXTENSION IF NOT EXISTS "uuid-ossp" SCHEMA public; CREATE EXTENSION IF NOT EXISTS pgcrypto SCHEMA public; '
                   "CREATE EXTENSION IF NOT EXISTS citext SCHEMA public; CREATE EXTENSION IF NOT EXISTS hstore SCHEMA public; "
                   "CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public; "
                   "CREATE TABLE S.T (id int, u uuid DEFAULT public.uuid_generate_v4(), p text DEFAULT public.crypt('x', public.gen_salt('md5')), "
                   "e public.citext DEFAULT 'A' CHECK (e OPERATOR(public.=) 'a'), h public.hstore DEFAULT public.hstore('a', 'b'), "
                   "s real DEFAULT public.similarity('a', 'b'))", "INSERT INTO S.T (id) VALUES (1)"),
    "delete_only": ("CREATE TABLE S.T (id int DEFAULT public.deed()); INSERT INTO S.T VALUES (1); "
                    "ALTER TABLE S.T ADD CHECK (public.fixed(id) < 100) NOT VALID; CREATE TRIGGER t AFTER INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire()",
                    "DELETE FROM S.T WHERE id = 1"),
    "disabled": ("CREATE TABLE S.T (id int); CREATE TRIGGER t AFTER INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION public.fire(); "
                 "ALTER TABLE S.T DISABLE TRIGGER t", "INSERT INTO S.T VALUES (1)"),
    "notify": ("CREATE FUNCTION S.T_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('witness', 'x'); NOTIFY witness; "
               "PERFORM pg_advisory_xact_lock(4711); PERFORM pg_catalog.set_config('a.b', lower('C'), true); SET LOCAL work_mem = '1MB'; "
               "SET CONSTRAINTS ALL IMMEDIATE; PERFORM inet_client_addr(), pg_current_wal_lsn(), txid_current(); "
               "IF TG_OP = 'INSERT' THEN RETURN NEW; ELSE RETURN OLD; END IF; END $$; CREATE TABLE S.T (id int); "
               "CREATE TRIGGER t AFTER INSERT ON S.T FOR EACH ROW EXECUTE FUNCTION S.T_f()", "INSERT INTO S.T VALUES (1)"),
    "serial": ("CREATE TABLE S.T (id int, n serial, at timestamptz DEFAULT now(), g int GENERATED ALWAYS AS (id + 1) STORED "
               "CHECK (g > 0)); GRANT ALL ON SEQUENCE S.T_n_seq TO agent", "INSERT INTO S.T (id) VALUES (1)"),
    "restrict": ("CREATE TABLE S.T (id int PRIMARY KEY); INSERT INTO S.T VALUES (1); CREATE TABLE S.T_c (id int REFERENCES S.T); "
                 "CREATE TRIGGER t AFTER DELETE ON S.T_c FOR EACH ROW EXECUTE FUNCTION public.fire()", "DELETE FROM S.T WHERE id = 1"),
}

database = running = witness = None


def fill(text, schema, name):
    return text.replace("S.T", f"{schema}.{name}").replace("S.", schema + ".").replace("ON T.id", f"ON {name}.id")


def check_witnesses(what):
    cursor = witness.cursor()
    cursor.execute("SELECT (SELECT count(*) FROM public.outside), last_value, is_called, "
                   "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), (SELECT count(*) FROM public.victim), "
                   "(SELECT array_agg(oid::int) FROM pg_largeobject_metadata) FROM public.witness")
    equal(cursor.fetchone(), (0, 1, False, 0, 2, [4712]),
          f"{what}: rows over another connection, the sequence, locks, rows behind a deferred constraint, large objects")
    check(not os.path.exists(FILE), f"{what}: wrote a file")
    equal(witness.notifies, [], what)


def pending():
    return running.api("holds?state=pending")["holds"]


def refuse(hold):
    running.api(f"holds/{hold['id']}/refuse", digest=hold["digest"], reason="enough")


def held(name, sql):
    """Sends it and returns the sender and its hold; None if it ran or failed."""
    sender = Sender(running.connect(), sql)
    found = eventually(lambda: pending() or not sender.is_alive(), f"a hold of {name}")
    return sender, running.api(f"holds/{found[0]['id']}") if found is not True else None


def answer(sender, hold):
    refuse(hold)
    sender.result().connection.close()


def test_a_hold_is_refused_without_running_it():
    session = running.connect()
    for name, (_, sql) in PLACES.items():
        sender = Sender(session, fill(sql, "w", name)).result()
        check(sender.error is not None, f"{name}: ran")
        equal(sender.error.pgcode, "42501", f"{name}: {sender.error}")
        equal(pending(), [], name)
        check_witnesses(name)


def test_a_hold_that_need_not_be_rehearsed_says_why():
    for name, (_, sql) in PLACES.items():
        sender, hold = held(name, fill(sql, "v", name))
        check(hold is not None, f"{name}: {sender.error}")
        equal(hold["effect"]["known"], False, name)
        check("not rehearsed" in hold["effect"]["why"], f"{name}: {hold['effect']}")
        answer(sender, hold)
        check_witnesses(name)


def test_a_limited_write_is_not_run_to_be_counted():
    session = running.connect()
    for name, (_, sql) in PLACES.items():
        if "MERGE" not in sql: # of VALUES the number is known, so they would run
            sql = sql.replace("VALUES (1)", "SELECT n FROM S.numbers").replace("S.T", f"S.{name}")
        sender = Sender(session, fill(sql, "l", name)).result()
        check(sender.error is not None, f"{name}: ran")
        equal(sender.error.pgcode, "42501", f"{name}: {sender.error}")
        check_witnesses(name)


def test_what_a_rollback_undoes_is_rehearsed():
    for name, (_, sql) in HONEST.items():
        sender, hold = held(name, fill(sql, "w", name))
        check(hold is not None, f"{name}: {sender.error}")
        check(hold["effect"]["known"], f"{name}: {hold['effect']}")
        answer(sender, hold)
        check_witnesses(name)


def prepare():
    statements = [COMMON.replace("COUNTER", COUNTER).replace("CREATE TYPE public.wrapped", "CREATE SEQUENCE public.made; CREATE TYPE public.wrapped")]
    for schema in ("w", "v", "l"):
        statements.append(f"CREATE SCHEMA {schema}; GRANT USAGE ON SCHEMA {schema} TO agent; CREATE TABLE {schema}.numbers (n int); "
                          f"INSERT INTO {schema}.numbers VALUES (1)")
        statements += [fill(made, schema, name) for name, (made, _) in PLACES.items()]
    statements += [fill(made, "w", name) for name, (made, _) in HONEST.items()]
    statements += [f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO agent; ANALYZE" for schema in ("w", "v", "l")]
    for sql in statements:
        database.ask(sql.replace("SOCKET", SERVER_SOCKET).replace("PORT", SERVER_PORT).replace("DATABASE", database.name)
                     .replace("FILE", FILE))
    # What making the tables ran has left traces; from here on there are none.
    database.ask("TRUNCATE public.outside; SELECT setval('public.witness', 1, false)")


if __name__ == "__main__":
    with wicket(POLICY) as (database, running):
        prepare()
        running.stop()
        running.start()
        witness = psycopg2.connect(database.superuser + " application_name=witness")
        witness.autocommit = True
        witness.cursor().execute("LISTEN witness")
        code = main(globals())
        witness.close()
    sys.exit(code)

"""`pgwicket check` against a live catalog: what it warns of, what it does not, and its exit codes."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, main
from wicket import BIN, Database

CONFIGURATION = """listen: {{address: "127.0.0.1:1"}}
review: {{address: "127.0.0.1:1"}}
audit: {{file: "-"}}
holds: {{store: "sqlite:none.db"}}
upstreams:
  shop: {{connection: "{upstream}"{more}}}
agents:
  bot: {{secret: bot, upstream: shop, policy: support}}
approvers: {{alice: {{secret: alice}}}}
policies:
  support:
    search_path: [shop]
{policy}"""

RULES_LINE = 13  # of the policy's first line


def run(policy, upstream, *options, more=""):
    """Exit code, and the warnings as (line, column, text)."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(CONFIGURATION.format(upstream=upstream, policy=policy.strip("\n"), more=more))
        file.flush()
        result = subprocess.run([BIN, "check", file.name, *options], capture_output=True, text=True, check=False,
                                timeout=60)
        check("Sanitizer" not in result.stderr and "runtime error" not in result.stderr, result.stderr)
        check(": error: " not in result.stderr, result.stderr)
        found = re.findall(re.escape(file.name) + r":(\d+):(\d+): warning: (.*)", result.stderr)
        return result.returncode, [(int(line), int(column), text) for line, column, text in found], result.stderr


def warnings(policy, upstream, **values):
    code, found, log = run(policy, upstream, **values)
    equal(code, 0, log)
    return found


def expect(policy, database, *parts, upstream=None):
    """Exactly these warnings, each by a part of its text and its line, counted from the policy's first."""
    found = warnings(policy, upstream or database.upstream)
    told = [(line - RULES_LINE + 1, text) for line, _, text in found]
    for line, part in parts:
        match = [entry for entry in told if entry[0] == line and part in entry[1]]
        check(match, f"no warning in line {line} of {part!r}, but {told}")
        told.remove(match[0])
    equal(told, [], "more was told")


SOUND = """
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders, shop.order_items, shop.products, shop.order_totals]
      - hold: [insert, update, delete]
        on: [shop.orders, shop.order_items]
        unrehearsed: hold
"""


def test_a_policy_that_fits_its_database_has_no_warnings():
    with Database() as database:
        expect(SOUND, database)
        equal(run(SOUND, database.upstream, "--strict")[0], 0)


def test_names_that_are_not_in_the_database_are_told_where_they_stand():
    with Database() as database:
        expect(SOUND.replace("rules:", "hidden: [shop.customers.snn]\n    rules:") + """
      - reject: [select]
        on: [shop.stuff]
      - allow: [call]
        on: [shop.no_such_function, shop.purge_old, pg_catalog.pg_sleep]
      - allow: [create]
        on: [scratch.*]
""", database, (1, "hidden shop.customers.snn covers no column"), (10, "there is no shop.stuff"),
               (12, "there is no shop.no_such_function"))


def test_triggers_that_may_write_are_told_and_those_that_cannot_are_not():
    with Database() as database:
        database.ask("CREATE FUNCTION shop.touch() RETURNS trigger LANGUAGE plpgsql AS "
                     "$$BEGIN -- don't insert\n IF TG_OP = 'UPDATE' THEN NEW.qty := NEW.qty; END IF; RETURN NEW; END$$")
        database.ask("CREATE TRIGGER touch BEFORE UPDATE ON shop.order_items FOR EACH ROW "
                     "EXECUTE FUNCTION shop.touch()")
        database.ask("CREATE TRIGGER same BEFORE UPDATE ON shop.order_items FOR EACH ROW "
                     "EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()")
        policy = SOUND.replace("hold:", "allow:").replace("        unrehearsed: hold\n", "")
        expect(policy, database, (4, "writes to shop.orders (trigger orders_audit) call shop.log_order()"))
        database.ask("CREATE OR REPLACE FUNCTION shop.touch() RETURNS trigger LANGUAGE plpgsql AS "
                     "$$BEGIN INSERT INTO shop.audit_log DEFAULT VALUES; RETURN NEW; END$$")
        expect(policy, database, (4, "call shop.log_order()"),
               (4, "shop.order_items (trigger touch) call shop.touch()"))
        database.ask("ALTER TABLE shop.order_items DISABLE TRIGGER touch")
        expect(policy, database, (4, "call shop.log_order()"))


def test_views_over_hidden_columns_are_told_and_sessions_reject_them():
    with Database() as database:
        database.ask("CREATE VIEW shop.outer_directory AS SELECT name FROM shop.customer_directory")
        database.ask("GRANT SELECT ON shop.customer_directory, shop.outer_directory, shop.open_orders TO agent")
        policy = """
    hidden: [shop.customers.ssn]
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders, shop.order_items, shop.products, shop.order_totals, shop.open_orders]
      - allow: [select]
        on: [shop.customer_directory, shop.outer_directory]
      - hold: [insert, update, delete]
        on: [shop.orders, shop.order_items]
        unrehearsed: hold
"""
        expect(policy, database, (5, "shop.customer_directory reads shop.customers.ssn, which hidden closes"),
               (5, "shop.outer_directory reads shop.customers.ssn, which hidden closes"))
        text = CONFIGURATION.format(upstream=database.upstream, policy=policy.strip("\n"), more="")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            result = subprocess.run([BIN, "judge", file.name, "--agent", "bot"], capture_output=True, text=True,
                                    input="SELECT name FROM outer_directory\nSELECT name FROM customer_directory\n"
                                          "SELECT id FROM open_orders\n", check=True)
        equal(re.findall(r'^\{"verdict":"(\w+)"', result.stdout, re.M), ["reject", "reject", "allow"], result.stdout)


def test_conditions_that_can_never_hold_are_told():
    with Database() as database:
        database.ask("CREATE TABLE shop.keyless (a int)")
        database.ask("GRANT UPDATE ON shop.keyless TO agent")
        expect("""
    rules:
      - allow: [update]
        on: [shop.keyless]
        where: key
      - allow: [delete]
        on: [shop.orders]
        max_rows: 5
""" + SOUND.replace("    rules:\n", "").lstrip("\n"), database,
               (2, "where: key can never hold on shop.keyless"),
               (5, "call shop.log_order()"))


def test_a_role_that_owns_lacks_or_has_more_rights_is_told():
    with Database() as database:
        database.ask("ALTER TABLE shop.products OWNER TO agent")
        database.ask("GRANT TRUNCATE ON shop.staff TO agent")
        database.ask("REVOKE UPDATE ON shop.orders FROM agent")
        found = warnings(SOUND, database.upstream)
        told = sorted((line, re.sub(" owns .*", " owns", text)) for line, _, text in found)
        equal(len(told), 3, f"{told}")
        check(told[0][0] == 6 and 'has the right to truncate shop.staff' in told[0][1], f"{told}")
        equal(told[1], (8, 'the database role of agent bot, "agent", owns'))
        check(told[2][0] == RULES_LINE + 3 and 'has no right to update shop.orders' in told[2][1], f"{told}")
        database.ask("ALTER TABLE shop.products OWNER TO postgres")


def test_a_role_that_serve_would_refuse_is_told():
    with Database() as database:
        found = warnings(SOUND, database.superuser)
        equal([(line, "accept_risks: [superuser, replication, bypassrls]" in text) for line, _, text in found],
              [(6, True)], f"{found}")
        equal(warnings(SOUND, database.superuser, more=", accept_risks: [superuser, replication, bypassrls]"), [])


TEMPLATES = """
    rules:
      - allow: [execute]
        on: [fine, no_table, no_type]
templates:
  fine: {sql: "SELECT notes FROM shop.orders WHERE id = $1", parameters: [{name: id, type: integer}]}
  no_table: {sql: "SELECT 1 FROM shop.no_such_table"}
  no_type: {sql: "UPDATE shop.orders SET order_date = $1", parameters: [{name: uuid, type: uuid}]}
  not_used: {sql: "SELECT 1 FROM shop.no_such_table_either"}
"""


def test_templates_that_the_upstream_does_not_prepare_are_told():
    with Database() as database:
        found = [text for _, _, text in warnings(TEMPLATES, database.upstream) if "template" in text and "serve refuses" in text]
        equal(len(found), 2, found)
        for part, text in zip(("template no_table: ", "template no_type: "), found):
            check(text.startswith("serve refuses this: upstream shop does not accept the statement of " + part), text)
        check("no_such_table" in found[0], found[0])


def test_exit_codes_depend_on_strict_only():
    with Database() as database:
        lacking = SOUND + "      - allow: [select]\n        on: [shop.nothing]\n"
        equal(run(lacking, database.upstream)[0], 0)
        code, found, _ = run(lacking, database.upstream, "--strict")
        equal((code, len(found)), (1, 1))
        equal(run(lacking, database.upstream, "--offline", "--strict")[:2], (0, []))
    code, found, log = run(SOUND, "host=127.0.0.1 port=1 user=nobody")
    equal((code, found), (0, []))
    check("upstream shop cannot be reached" in log, log)
    equal(run(SOUND, "host=127.0.0.1 port=1 user=nobody", "--strict")[0], 3)
    equal(run(SOUND, "host=127.0.0.1 port=1 user=nobody", "--offline", "--strict")[0], 0)


if __name__ == "__main__":
    sys.exit(main(globals()))

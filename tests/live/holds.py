"""Statements that wait for a person: released, refused, run again, in transactions of drivers."""
import asyncio
import datetime
import decimal
import ipaddress
import os
import re
import sys
import uuid
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import asyncpg
import psycopg2

import pgwire
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, Sender, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: $wait, expire: 1h, run_within: 15m}
    limits: {rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.orders, shop.order_items, shop.customers, shop.kinds]
      - allow: [update]
        on: [shop.orders]
        where: key
      - allow: [update]
        on: [shop.order_items]
        where: required
        max_rows: 1
      - hold: [update, delete]
        on: [shop.orders, shop.order_items, shop.kinds]
        where: required
        max_rows: 1000
"""

NOON = datetime.datetime(2026, 2, 28, 12, 0, 1, 5)
# A column's type and a value as asyncpg takes it, which sends all of them in binary.
KINDS = {
    "bool": True, "int2": -5, "int4": 7, "int8": 2 ** 40, "oid": 4000000000, "float4": 0.25, "float8": float("-inf"),
    "numeric": decimal.Decimal("-19.990"), "text": "it's {odd}", "varchar": "v", "bpchar": "c", "name": "n", "bytea": b"\0\xff",
    "date": NOON.date(), "time": NOON.time(), "timetz": NOON.time().replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-5))),
    "timestamp": NOON, "timestamptz": NOON.replace(tzinfo=datetime.timezone.utc),
    "interval": datetime.timedelta(days=-3, seconds=5), "uuid": uuid.UUID(int=1), "json": "[1]", "jsonb": '{"a": null}',
    "xml": "<a/>", "inet": ipaddress.ip_interface("10.0.0.1/8"), "cidr": ipaddress.ip_network("::/64"), "macaddr": "01:02:03:04:05:06",
    "varbit": asyncpg.BitString("1010000001"), "shop.mood": "so so", "shop.few": 3, "int4[]": [7, None], "text[]": [["a,b", 'q"\\'], ["", "null"]],
    "numeric[]": [decimal.Decimal("1.50")], "float8[]": [], "timestamptz[]": [NOON.replace(tzinfo=datetime.timezone.utc)], "bytea[]": [b"\\"],
    "jsonb[]": ['{"a": "b"}'], "shop.mood[]": ["so so"], "uuid[]": [uuid.UUID(int=2)], "date[]": [NOON.date()],
}

database = running = None
next_customer = iter(range(2, 400))


def new_delete():
    """A DELETE that no other test sends, the number of orders it deletes, and how to count them."""
    while True:
        customer = next(next_customer)
        where = f"customer_id = {customer}"
        count = database.value(f"SELECT count(*) FROM shop.orders WHERE {where}")
        if count > 0:
            return f"DELETE FROM shop.orders WHERE {where}", count, f"SELECT count(*) FROM shop.orders WHERE {where}"


def pending_hold(sql):
    """The hold of this statement, as soon as it is pending."""
    condition = re.compile(rf"(?<!\w){re.escape(sql.split('WHERE', 1)[1].strip())}(?!\w)")
    return eventually(lambda: next((h for h in running.holds("pending") if condition.search(h["statement"])), None),
                      f"a pending hold of {sql}")


def short_wait(sql):
    """Sends it in a session that waits one second at most; returns the hold and the error."""
    connection = running.connect(options="-c statement_timeout=1000")
    sender = Sender(connection, sql).result()
    connection.close()
    check(sender.error is not None, "it was not held")
    equal(sender.error.pgcode, "55PW1", sender.error.diag.message_primary)
    return pending_hold(sql), sender.error


def test_a_held_delete_in_a_drivers_transaction_is_released_and_committed():
    sql, count, left = new_delete()
    connection = running.connect(autocommit=False)
    sender = Sender(connection, sql)
    hold = pending_hold(sql)
    equal(database.value(left), count, "orders while it waits")
    equal(database.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'agent' AND "
                         "datname = current_database() AND backend_xid IS NOT NULL"), 0, "open transactions while it waits")
    running.command("release", hold["id"], "--digest", hold["digest"])
    sender.result()
    equal((sender.error, sender.rowcount), (None, count))
    equal(database.value(left), count, "orders before the commit")
    connection.commit()
    equal(database.value(left), 0, "orders after the commit")
    connection.close()
    eventually(lambda: hold["id"] in [h["id"] for h in running.holds("executed")], "the hold is executed")


def test_a_hold_in_autocommit():
    sql, count, left = new_delete()
    connection = running.connect()
    sender = Sender(connection, sql)
    hold = pending_hold(sql)
    equal(hold["state"], "pending")
    check(hold["statement"].startswith("DELETE FROM"), "the statement is shown")
    running.command("release", hold["id"], "--yes")
    equal(sender.result().rowcount, count, sender.error)
    equal(database.value(left), 0)
    connection.close()


def test_a_hold_shows_and_runs_names_as_resolved():
    order = database.value("SELECT min(order_id) FROM shop.order_items")
    connection = running.connect()
    sender = Sender(connection, f"delete from order_items -- quickly\n where order_items.order_id = {order}")
    hold = pending_hold(f"WHERE order_items.order_id = {order}")
    shown = f"DELETE FROM shop.order_items WHERE order_items.order_id = {order}"
    equal(hold["statement"], shown)
    check(shown in running.command("show", hold["id"]).stdout, "the terminal shows it too")
    running.command("release", hold["id"], "--digest", hold["digest"])
    check(sender.result().rowcount > 0, sender.error)
    equal(database.value(f"SELECT count(*) FROM shop.order_items WHERE order_id = {order}"), 0)
    connection.close()


def test_the_same_statement_with_and_without_schemas_is_one_hold():
    sql, count, _ = new_delete()
    hold, _ = short_wait(sql.replace("shop.orders", "orders"))
    running.command("release", hold["id"], "--digest", hold["digest"])
    with closing(running.connect()) as connection:
        equal(Sender(connection, sql).result().rowcount, count)
    eventually(lambda: hold["id"] in [h["id"] for h in running.holds("executed")], "the hold is executed")


def test_a_hold_with_bound_values_in_the_extended_protocol():
    sql, count, left = new_delete()
    customer = sql.rsplit(" ", 1)[1].encode()
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, timeout=40) as c:
        c.send(pgwire.parse("DELETE FROM shop.orders WHERE customer_id = $1", types=[23]), pgwire.bind([customer]),
               pgwire.execute(), pgwire.SYNC)
        hold = eventually(lambda: next(iter(running.holds("pending")), None), "a pending hold")
        running.command("release", hold["id"], "--digest", hold["digest"])
        answers = c.answers()
    equal([a.tag() for a in answers if a.kind == "C"], [f"DELETE {count}"], str(answers))
    equal(database.value(left), 0)


def test_a_refusal_is_an_error_and_aborts_the_transaction():
    sql, count, left = new_delete()
    connection = running.connect(autocommit=False)
    sender = Sender(connection, sql)
    hold = pending_hold(sql)
    running.command("refuse", hold["id"], "--reason", "wrong customer")
    error = sender.result().error
    equal(error.pgcode, "55PW2")
    check("refused" in error.diag.message_primary and "wrong customer" in error.diag.message_primary,
          error.diag.message_primary)
    equal(connection.info.transaction_status, psycopg2.extensions.TRANSACTION_STATUS_INERROR)
    connection.rollback()
    connection.close()
    equal(database.value(left), count)


def test_execute_runs_a_hold_that_was_released_later():
    sql, count, left = new_delete()
    hold, error = short_wait(sql)
    check(f"hold {hold['id']}" in error.diag.message_primary, error.diag.message_primary)
    check(f"EXECUTE pgwicket_hold({hold['id']})" in error.diag.message_primary, "the message says what to do")
    running.command("release", hold["id"], "--digest", hold["digest"])
    equal(database.value(left), count, "nothing runs by itself")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(f"EXECUTE pgwicket_hold({hold['id']})")
        equal(cursor.rowcount, count)
        equal(database.value(left), 0)
        try:
            cursor.execute(f"EXECUTE pgwicket_hold({hold['id']})")
            check(False, "it ran twice")
        except psycopg2.Error as again:
            equal(again.pgcode, "55PW5", again.diag.message_primary)
        try:
            cursor.execute("EXECUTE pgwicket_hold(987654)")
            check(False, "an unknown hold ran")
        except psycopg2.Error as unknown:
            equal(unknown.pgcode, "42704", unknown.diag.message_primary)


def test_the_same_statement_again_runs_a_released_hold():
    sql, count, left = new_delete()
    hold, _ = short_wait(sql)
    again, _ = short_wait(sql)
    equal(again["id"], hold["id"], "it joins the pending hold")
    running.command("release", hold["id"], "--yes")
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        equal(cursor.rowcount, count)
    equal(database.value(left), 0)


def test_a_wrong_digest_releases_nothing():
    sql, count, left = new_delete()
    hold, _ = short_wait(sql)
    wrong = ("0" if hold["digest"][0] != "0" else "1") + hold["digest"][1:]
    equal(running.command("release", hold["id"], "--digest", wrong, check=False).returncode, 1)
    equal([h["state"] for h in running.holds() if h["id"] == hold["id"]], ["pending"])
    equal(database.value(left), count)


def test_over_the_limit_of_the_hold_rule_nobody_is_asked():
    before = len(running.holds())
    connection = running.connect()
    error = Sender(connection, "UPDATE shop.orders SET notes = 'over' WHERE id < 2000").result().error
    connection.close()
    equal(error.pgcode, "54000", error.diag.message_primary)
    equal(database.value("SELECT count(*) FROM shop.orders WHERE notes = 'over'"), 0)
    equal(len(running.holds()), before, "a hold was made")


def test_a_transaction_that_has_done_something_does_not_wait():
    sql, count, left = new_delete()
    connection = running.connect(autocommit=False)
    cursor = connection.cursor()
    cursor.execute("UPDATE shop.orders SET notes = 'before the hold' WHERE id = 3000")
    error = Sender(connection, sql).result(10).error
    equal(error.pgcode, "55PW1", error.diag.message_primary)
    connection.commit()
    connection.close()
    equal(database.value("SELECT count(*) FROM shop.orders WHERE notes = 'before the hold'"), 0)
    equal(database.value(left), count)


def test_a_write_over_its_limit_is_held_and_then_runs_in_such_a_transaction():
    order, count = database.ask("SELECT order_id, count(*) FROM shop.order_items GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 1")[0]
    sql = f"UPDATE shop.order_items SET qty = qty + 1000 WHERE order_id = {order}"
    changed = f"SELECT count(*) FROM shop.order_items WHERE order_id = {order} AND qty > 1000"
    other = database.value(f"SELECT min(id) FROM shop.order_items WHERE order_id <> {order}")

    def begin(connection):
        cursor = connection.cursor()
        cursor.execute("UPDATE shop.orders SET notes = 'before the limit' WHERE id = 2999")
        cursor.execute(f"UPDATE shop.order_items SET qty = qty + 1 WHERE id = {other}")
        equal(cursor.rowcount, 1, "within its limit")
        return Sender(connection, sql).result(10)
    with closing(running.connect(autocommit=False)) as connection:
        equal(begin(connection).error.pgcode, "55PW1")
        connection.rollback()
        hold = pending_hold(sql)
        equal([(t["table"], t["updated"]) for t in hold["effect"]["tables"]], [("shop.order_items", count)])
        running.command("release", hold["id"], "--digest", hold["digest"])
        for end in (connection.rollback, connection.commit):
            equal((begin(connection).rowcount, database.value(changed)), (count, 0))
            end()
        equal(database.value(changed), count)
        equal(database.value("SELECT notes FROM shop.orders WHERE id = 2999"), "before the limit")
    eventually(lambda: hold["id"] in [h["id"] for h in running.holds("executed")], "the hold is executed")


async def update_kinds(query, *values, timeout="20s"):
    connection = await asyncpg.connect(host="127.0.0.1", port=running.port, user="agent", password=AGENT_SECRET,
                                       database="shop", ssl="disable", server_settings={"statement_timeout": timeout, "jit": "off"})
    try:
        return await connection.execute(query, *values)
    finally:
        await connection.close()


def test_values_in_binary_are_shown_as_what_they_are():
    columns = ", ".join(f"c{n} = ${n + 1}" for n in range(len(KINDS)))

    async def update_and_release():
        update = asyncio.create_task(update_kinds(f"UPDATE shop.kinds SET {columns} WHERE id = 1", *KINDS.values()))
        hold = await asyncio.to_thread(pending_hold, "WHERE id = 1")
        await asyncio.to_thread(lambda: running.api(f"holds/{hold['id']}/release", digest=hold["digest"]))
        return running.hold(hold["id"])["parameters"], await update
    shown, tag = asyncio.run(update_and_release())
    equal(tag, "UPDATE 1")
    equal(len(shown), len(KINDS))
    for number, (kind, parameter) in enumerate(zip(KINDS, shown)):
        literal = parameter["value"].replace("'", "''")
        check(database.value(f"SELECT c{number}::text = '{literal}'::{parameter['type']}::{kind}::text FROM shop.kinds"),
              f"{kind}: {parameter}, stored {database.value(f'SELECT c{number}::text FROM shop.kinds')}")


def test_what_cannot_be_shown_is_told_how_to_be_sent():
    for kind, value, text in (("point", (1, 2), "(1,2)"), ("int4range", asyncpg.Range(1, 2), "[1,2)")):
        try:
            asyncio.run(update_kinds(f"UPDATE shop.kinds SET c_{kind} = $1 WHERE id = 1", value))
            raise AssertionError(f"{kind} was sent")
        except asyncpg.InsufficientPrivilegeError as error:
            check("parameter 1 cannot be shown to an approver; send it as text; nothing was run" in str(error), str(error))
            check(error.hint.endswith(f"$1::text::pg_catalog.{kind}."), error.hint)
        try:
            asyncio.run(update_kinds(f"UPDATE shop.kinds SET c_{kind} = $1::text::pg_catalog.{kind} WHERE id = 1", text, timeout="1s"))
            raise AssertionError(f"{kind} was not held")
        except asyncpg.PostgresError as error:
            equal(error.sqlstate, "55PW1", str(error))


def test_show_lists_the_agents_own_holds():
    with closing(running.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW pgwicket.holds")
        equal(len(cursor.fetchall()), len(running.holds()))


def test_every_change_of_a_hold_is_in_the_audit_log():
    records = running.audit()
    for hold in running.holds():
        states = [r["pgwicket.hold.state"] for r in records
                  if r["event.name"] == "pgwicket.hold" and r.get("pgwicket.hold") == hold["id"]]
        check(states, f"records of hold {hold['id']}")
        equal(states[0], "pending")
        equal(states[-1], hold["state"], f"hold {hold['id']}: {states}")


if __name__ == "__main__":
    with wicket(POLICY.replace("$wait", "20s")) as (database, running):
        database.ask("CREATE TYPE shop.mood AS ENUM ('so so', 'fine'); CREATE DOMAIN shop.few AS int; CREATE TABLE shop.kinds (id int PRIMARY KEY, "
                     + ", ".join(f"c{number} {kind}" for number, kind in enumerate(KINDS)) + ", c_point point, c_int4range int4range); "
                     "INSERT INTO shop.kinds (id) VALUES (1); GRANT SELECT, UPDATE ON shop.kinds TO agent")
        running.stop()
        running.start()
        code = main(globals())
    sys.exit(code)

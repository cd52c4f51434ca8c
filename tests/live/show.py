"""SHOW pgwicket.policy, .templates and .holds, to the letter and in both query protocols: what an agent gets
into its prompt."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, APPROVER_SECRET, Sender, wicket

CONFIGURATION = """
listen: {address: "127.0.0.1:$port"}
review: {address: "127.0.0.1:$review"}
audit: {file: "$audit"}
holds: {store: "sqlite:$folder/holds.db"}
upstreams:
  shop: {connection: "$upstream", accept_risks: [superuser, replication, bypassrls, file_access]}
agents:
  agent: {secret: $agent_secret, upstream: shop, policy: support}
  reader: {secret: $agent_secret, upstream: shop, policy: reading}
  runner: {secret: $agent_secret, upstream: shop, policy: ready_made, attributes: {tenant: "17"}}
  owner: {secret: $agent_secret, upstream: shop, policy: everything}
approvers:
  alice: {secret: $approver_secret}
templates:
  order_status:
    description: State of one order
    sql: SELECT status FROM shop.orders WHERE id = $$1
    parameters:
      - {name: order_id, type: integer, minimum: 1}
  refund_order:
    description: Refund one paid order
    sql: UPDATE shop.orders SET status = 'refunded', notes = $$2 WHERE id = $$1 AND status = 'paid'
    parameters:
      - {name: order_id, type: integer, minimum: 1}
      - {name: reason, type: string, enum: [damaged, late]}
    hold: true
    max_rows: 1
policies:
  support:
    search_path: [shop]
    introspection: allow
    hidden: [shop.customers.ssn, "*.*.password_hash"]
    hold: {wait: 1s, expire: 1h, quorum: 1}
    rules:
      - reject: [select]
        on: [shop.staff]
        message: Staff data is not for agents.
      - allow: [select]
        on: [shop.customers, shop.orders, shop.order_items]
        max_rows: 5000
        max_cost: 500000
      - allow: [insert]
        on: [shop.order_items]
        max_rows: 20
      - name: fix-one-order
        allow: [update]
        on: [shop.orders]
        columns: [status, notes]
        where: key
        max_rows: 1
      - hold: [update, delete]
        on: [shop.orders, shop.order_items]
        where: required
        max_rows: 1000
  reading:
    search_path: [shop, hr]
    settings: {statement_timeout: 1500}
    rules:
      - allow: [select]
        on: [shop.products, "hr.*"]
        max_rows: 100
  ready_made:
    hold: {wait: 20s, expire: 1h}
    rules:
      - allow: [execute]
        on: [order_status, refund_order]
  everything:
    settings: {statement_timeout: 0}
    rules:
      - allow: [all]
        on: ["*"]
"""

FIRST = ("Each statement is checked before it runs. For each thing that it does, the first of these rules that fits "
         "decides; a rule whose limit is passed does not fit. What no rule allows is rejected, and nothing of the "
         "statement is run.")
LAST = ("Do not retry or rephrase what was rejected: use what is allowed, or tell the user that the policy would have "
        "to change.")


def held(seconds):
    return (f"What needs approval must be sent by itself, and waits up to {seconds} s for a person. After that it fails "
            "with SQLSTATE 55PW1 and the number of its hold: tell the user, do not send it again, and later run EXECUTE "
            "pgwicket_hold(number). SHOW pgwicket.holds lists yours.")


POLICIES = {
    "agent": [
        FIRST,
        "Names without a schema are looked up in: shop.",
        "1. You may not SELECT on shop.staff. (Rule support.1) Staff data is not for agents.",
        "2. You may SELECT on shop.customers, shop.orders, shop.order_items; at most 5000 rows; planner's cost at most "
        "500000. (Rule support.2)",
        "3. You may INSERT on shop.order_items; at most 20 rows. (Rule support.3)",
        "4. You may UPDATE on shop.orders; only columns status, notes; with a WHERE that fixes the primary key or a "
        "unique key to constants; at most 1 row. (Rule fix-one-order)",
        "5. Only after a person's approval you may UPDATE, DELETE on shop.orders, shop.order_items; with a WHERE on a "
        "column of the table; at most 1000 rows. (Rule support.5)",
        "Never touch these columns, not by * either: shop.customers.ssn, *.*.password_hash. Name the columns that you "
        "need.",
        held(1),
        "A statement may run for at most 30 s.",
        "A write also reads the columns of its WHERE, RETURNING and right sides: it must be allowed to SELECT them.",
        "You may look up names and types of tables and columns in information_schema and pg_catalog.",
        LAST],
    "reader": [
        FIRST,
        "Names without a schema are looked up in: shop, hr.",
        "1. You may SELECT on shop.products, hr.*; at most 100 rows. (Rule reading.1)",
        "A statement may run for at most 1500 ms.",
        "Nothing can be changed: the session is read-only.",
        "You may not look into information_schema and pg_catalog.",
        LAST],
    "runner": [
        FIRST,
        "1. You may EXECUTE order_status, refund_order. (Rule ready_made.1)",
        "Ready-made statement: EXECUTE order_status(order_id integer). State of one order.",
        "Ready-made statement: EXECUTE refund_order(order_id integer, reason string); at most 1 row; a person must "
        "approve each run. Refund one paid order.",
        "SHOW pgwicket.templates gives the parameters of ready-made statements as JSON Schema.",
        held(20),
        "A statement may run for at most 30 s.",
        LAST],
    "owner": [
        "You may do everything that the database lets you do.",
        "Ready-made statement: EXECUTE order_status(order_id integer). State of one order.",
        "Ready-made statement: EXECUTE refund_order(order_id integer, reason string); at most 1 row; a person must "
        "approve each run. Refund one paid order.",
        "SHOW pgwicket.templates gives the parameters of ready-made statements as JSON Schema.",
        held(20)],
}

TEMPLATES = [
    ["order_status", "State of one order",
     '{"type":"object","properties":{"order_id":{"type":"integer","minimum":1}},"required":["order_id"],'
     '"additionalProperties":false}'],
    ["refund_order", "Refund one paid order. A person must approve each run. At most 1 row.",
     '{"type":"object","properties":{"order_id":{"type":"integer","minimum":1},'
     '"reason":{"type":"string","enum":["damaged","late"]}},"required":["order_id","reason"],'
     '"additionalProperties":false}'],
]

database = running = None


def connect(agent="agent"):
    return pgwire.Connection("127.0.0.1", running.port, agent, AGENT_SECRET)


def shown(session, what):
    """Rows of texts, the same in both protocols."""
    sql = f"SHOW pgwicket.{what}"
    simple = session.run(pgwire.query(sql))
    extended = session.run(pgwire.parse(sql), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.message("S"))
    rows = [[[v.decode() for v in a.values()] for a in answers if a.kind == "D"] for answers in (simple, extended)]
    equal(pgwire.errors(simple) + pgwire.errors(extended), [], sql)
    equal(rows[0], rows[1], f"{sql} in both protocols")
    return rows[0]


def columns(session, what):
    description = next(a for a in session.run(pgwire.query(f"SHOW pgwicket.{what}")) if a.kind == "T")
    return re.findall(rb"([a-z_]+)\0", description.payload[2:])


def test_the_policy_in_words():
    for agent, lines in POLICIES.items():
        with connect(agent) as session:
            found = [row[0] for row in shown(session, "policy")]
            for number, (is_there, expected) in enumerate(zip(found, lines), 1):
                equal(is_there, expected, f"{agent}, line {number}")
            equal(len(found), len(lines), f"{agent}: lines")


def test_names_of_columns():
    with connect() as session:
        equal(columns(session, "policy"), [b"policy"])
        equal(columns(session, "templates"), [b"name", b"description", b"parameters"])
        equal(columns(session, "holds"), [b"hold", b"state", b"statement", b"reason", b"next_step"])


def test_templates():
    with connect("runner") as session:
        equal(shown(session, "templates"), TEMPLATES)
    with connect("reader") as session:
        equal(shown(session, "templates"), [])


def hold_of(sql):
    """Sends it, is answered with 55PW1; its number and digest."""
    with connect() as session:
        answers = session.run(pgwire.query(sql))
        equal(pgwire.errors(answers)[0]["C"], "55PW1", sql)
    hold = running.holds("pending")[0]
    return hold["id"], hold["digest"]


def test_holds_with_what_to_do_next():
    pending, _ = hold_of("DELETE FROM shop.order_items WHERE order_id = 11")
    released, digest = hold_of("DELETE FROM shop.order_items WHERE order_id = 12")
    running.command("release", released, "--digest", digest)
    refused, digest = hold_of("DELETE FROM shop.order_items WHERE order_id = 13")
    running.command("refuse", refused, "--digest", digest, "--reason", "it's the wrong order; ask Ada")
    executed, digest = hold_of("DELETE FROM shop.order_items WHERE order_id = 14")
    running.command("release", executed, "--digest", digest)
    with connect() as session:
        equal(pgwire.errors(session.run(pgwire.query(f"EXECUTE pgwicket_hold({executed})"))), [])
        rows = {row[0]: row[1:] for row in shown(session, "holds")}

    def row(order, state, reason, step):
        return [state, f"DELETE FROM shop.order_items WHERE order_id = {order}", reason, step]

    equal(rows, {
        str(pending): row(11, "pending", "", f"Wait for a person, and tell the user. Do not send it again. EXECUTE "
                                             f"pgwicket_hold({pending}) gives the result once it is released."),
        str(released): row(12, "released", "", f"Run EXECUTE pgwicket_hold({released}) now."),
        str(refused): row(13, "refused", "it's the wrong order; ask Ada",
                          "Do not send it again. Act on the reason, or report it to the user."),
        str(executed): row(14, "executed", "", "Nothing: it is done."),
    })
    with connect("reader") as session:
        equal(shown(session, "holds"), [], "holds of another agent")


def test_a_hold_that_waits_is_seen_from_another_session():
    connection = running.connect()
    sender = Sender(connection, "DELETE FROM shop.order_items WHERE order_id = 15")
    hold = eventually(lambda: next((h for h in running.holds("pending") if "= 15" in h["statement"]), None), "a hold")
    with connect() as session:
        check([str(hold["id"]), "pending"] in [row[:2] for row in shown(session, "holds")], "it is listed")
    sender.result()
    connection.close()


def test_what_does_not_exist():
    with connect() as session:
        error = pgwire.errors(session.run(pgwire.query("SHOW pgwicket.nothing")))[0]
        equal((error["C"], error["M"], error["H"]),
              ("42704", "pgwicket: there is no such thing to SHOW",
               "There are pgwicket.policy, pgwicket.holds, pgwicket.templates."))


def test_a_transaction_and_a_prepared_statement_can_ask_as_well():
    with connect() as session:
        session.run(pgwire.query("BEGIN"))
        equal(shown(session, "policy")[0], [FIRST])
        session.run(pgwire.query("COMMIT"))
        answers = session.run(pgwire.parse("SHOW pgwicket.policy", "s"), pgwire.message("S"))
        equal(pgwire.errors(answers), [])
        for _ in range(2):
            answers = session.run(pgwire.bind(statement="s"), pgwire.execute(), pgwire.message("S"))
            equal(len([a for a in answers if a.kind == "D"]), len(POLICIES["agent"]))


if __name__ == "__main__":
    with wicket("", configuration=CONFIGURATION) as (database, running):
        code = main(globals())
    sys.exit(code)

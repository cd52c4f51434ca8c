"""The review page in headless Chromium: everything that a person does there, against a real server."""
import os
import sys
from contextlib import closing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

from live import Skip, check, equal, eventually, main
from wicket import CONFIGURATION, Sender, wicket

try:
    from browser import DRIVER, Browser
except ImportError:
    print("python3-selenium is not installed")
    sys.exit(77)
if not os.path.exists(DRIVER):
    print("chromium-driver is not installed")
    sys.exit(77)

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 40s, expire: 1h, run_within: 15m}
    limits: {waiting: 10, pending: 1000, rehearsals_per_minute: 1000}
    rules:
      - allow: [select]
        on: [shop.orders, shop.order_items, shop.customers, shop.products]
      - hold: [drop, truncate, alter]
        on: ["shop.*"]
        rehearse: true
      - name: two-people
        hold: [update]
        on: [shop.products]
        quorum: 2
        rehearse: true
      - hold: [insert, update, delete]
        on: ["shop.*"]
        max_rows: 5000
        rehearse: true
"""

TWO_PEOPLE = CONFIGURATION.replace("alice: {secret: $approver_secret}",
                                   "alice: {secret: $approver_secret}\n  bob: {secret: bob-secret}")

database = running = alice = None
shots = os.environ.get("PGWICKET_SHOTS", "")


def pending(words):
    return eventually(lambda: next((h for h in running.holds("pending") if words in h["statement"]), None),
                      f"a pending hold of {words}")


def wait_for_row(browser, words):
    browser.wait(lambda: any(words in row.text for row in browser.all(".list tbody tr")), f"a row with {words}")


def test_a_wrong_password_is_refused_and_a_right_one_opens_the_queue():
    alice.open("/")
    check(alice.path.startswith("/sign-in"), alice.path)
    alice.fill("#u", "alice")
    alice.fill("#p", "wrong")
    alice.click("button.go")
    check("Name or password is wrong" in alice.text(), alice.text())
    alice.shots_of("sign-in")
    alice.sign_in("alice")
    equal(alice.path, "/holds")
    check("Nothing waits for you" in alice.text(), alice.text())
    alice.shots_of("queue-empty")


def test_a_hold_appears_by_itself_is_opened_released_and_runs():
    alice.open("/holds")
    alice.connected()
    connection = running.connect()
    sender = Sender(connection, "DELETE FROM order_items WHERE order_id = 42")
    wait_for_row(alice, "shop.order_items")
    check("1 statement waits for you" in alice.text("h1"), alice.text("h1"))
    alice.click(".what a")
    alice.wait(lambda: alice.path.startswith('/holds/'), 'the page of the hold')
    count = database.value("SELECT count(*) FROM shop.order_items WHERE order_id = 42")
    check(alice.text("h1").startswith("Deletes"), alice.text("h1"))
    check(f"{count}" in alice.text("h1") and "shop.order_items" in alice.text("h1"), alice.text("h1"))
    check("shop.order_items" in alice.text(".effect"), alice.text(".effect"))
    alice.shots_of("hold-delete")
    alice.click("#decide .go")
    alice.wait_text("Executed at")
    equal((sender.result().error, sender.rowcount), (None, count))
    equal(database.value("SELECT count(*) FROM shop.order_items WHERE order_id = 42"), 0)
    check(alice.text("h1").startswith("Deleted"), alice.text("h1"))
    alice.shots_of("hold-executed")
    connection.close()


def test_a_refusal_reaches_the_agent_with_its_reason():
    connection = running.connect()
    sender = Sender(connection, "UPDATE orders SET notes = 'checked' WHERE id < 20")
    hold = pending("checked")
    alice.open(f"/holds/{hold['id']}")
    alice.shots_of("hold-update")
    alice.fill("#why", "Ask support first: ticket 12 & <b>more</b>")
    alice.click("#decide form:nth-of-type(2) button")
    alice.wait_text("You refused this")
    error = sender.result().error
    equal(error.pgcode, "55PW2")
    check("Ask support first: ticket 12 & <b>more</b>" in error.diag.message_primary, error.diag.message_primary)
    check("<b>more</b>" in alice.text(".notice"), alice.text(".notice"))
    connection.close()


if __name__ == "__main__":
    with wicket(POLICY, configuration=TWO_PEOPLE) as (database, running):
        alice = Browser(running.url, shots)
        try:
            code = main(globals())
        finally:
            alice.quit()
    sys.exit(code)

"""The review page in headless Chromium: everything that a person does there, against a real server.

With PGWICKET_SHOTS each page is photographed into that folder, wide and narrow, light and dark.
"""
import http.client
import io
import os
import re
import sys
import time
import urllib.parse
from contextlib import closing

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

import psycopg2

import seeds
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
    hold: {wait: 60s, expire: 1h, run_within: 15m}
    limits: {waiting: 10, pending: unlimited, rehearsals_per_minute: 1000}
    rules:
      - allow: [select]
        on: ["shop.*"]
      - name: two-people
        hold: [update]
        on: [shop.order_items]
        columns: [unit_price]
        quorum: 2
      - hold: [insert, update, delete]
        on: ["shop.*"]
        max_rows: 5000
      - hold: [drop]
        on: ["shop.*"]
"""

TWO_PEOPLE = CONFIGURATION.replace("alice: {secret: $approver_secret}",
                                   "alice: {secret: $approver_secret}\n  bob: {secret: bob-secret}")
WIDTHS = (320, 360, 390, 768, 1000, 1280, 1600)
HOSTILE = """<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>'"&amp;\u202eowt"""
AXE = os.environ.get("PGWICKET_AXE", "")

database = running = alice = None
ids = {}


def pending(words):
    return eventually(lambda: next((h for h in running.holds("pending") if words in h["statement"]), None),
                      f"a pending hold of {words}")


def state(number):
    return running.hold(number)["state"]


def wait_for_row(browser, words):
    browser.wait(lambda: any(words in row.text for row in browser.all(".list tbody tr")), f"a row with {words}")


def cookie(browser):
    return "; ".join(f"{c['name']}={c['value']}" for c in browser.driver.get_cookies())


def request(method, path, body=None, browser=None, **headers):
    """A request beside the browser, with its cookie; the status and the text of the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", running.review, timeout=20)) as connection:
        if browser:
            headers["Cookie"] = cookie(browser)
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urllib.parse.urlencode(body)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def cpu_seconds():
    """What pgwicket has used so far: other tests run beside this one."""
    with open(f"/proc/{running.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hidden(browser, number, form="release"):
    """The fields that the form of a hold carries."""
    browser.open(f"/holds/{number}")
    return browser.run("return Object.fromEntries([...document.querySelectorAll(arguments[0])].map(f => [f.name, f.value]))",
                       f"form[action='/holds/{number}/{form}'] input[type=hidden]")


# --- the way of one hold ---

def test_a_wrong_password_is_refused_and_a_right_one_opens_the_queue():
    alice.open("/")
    check(alice.path.startswith("/sign-in"), alice.path)
    alice.fill("#u", "alice")
    alice.fill("#p", "wrong")
    alice.click("button.go")
    alice.wait_text("Name or password is wrong")
    alice.shots_of("sign-in")
    alice.sign_in("alice")
    alice.wait_text("Nothing waits for you")
    equal(alice.path, "/holds")
    alice.shots_of("queue-empty")
    saved = alice.driver.get_cookies()[0]
    equal((saved["httpOnly"], saved["sameSite"], saved["path"]), (True, "Strict", "/"))


def test_a_hold_appears_by_itself_is_opened_released_and_runs():
    alice.open("/holds")
    alice.connected()
    with closing(running.connect()) as connection:
        sender = Sender(connection, "DELETE FROM order_items WHERE order_id = 42")
        wait_for_row(alice, "shop.order_items")
        check("1 statement waits for you" in alice.text("h1"), alice.text("h1"))
        alice.click(".what a")
        alice.wait_text("Deletes 3 rows of shop.order_items", "h1")
        ids["deleted"] = int(alice.path.split("/")[-1])
        equal(alice.run("return document.activeElement.tagName"), "BODY", "nothing has the focus")
        check("target of the statement" in alice.text(".effect"), alice.text(".effect"))
        alice.shots_of("hold-real")
        alice.click("#decide .go")
        alice.wait_text("Executed at")
        equal((sender.result().error, sender.rowcount), (None, 3))
    equal(database.value("SELECT count(*) FROM shop.order_items WHERE order_id = 42"), 0)
    check(alice.text("h1").startswith("Deleted"), alice.text("h1"))


def test_the_statement_is_there_as_plain_text():
    alice.open(f"/holds/{ids['deleted']}")
    alice.click("a[href$='/statement']")
    alice.wait(lambda: alice.path.endswith("/statement"), "its page")
    equal(alice.run("return document.contentType"), "text/plain")
    equal(alice.text().strip(), running.hold(ids["deleted"])["statement"])


def test_a_refusal_reaches_the_agent_with_its_reason():
    with closing(running.connect()) as connection:
        sender = Sender(connection, "UPDATE order_items SET discount = 0.5 WHERE order_id = 43")
        hold = pending("discount")
        alice.open(f"/holds/{hold['id']}")
        alice.fill("#why", "Ask support: ticket 12 & <b>more</b>")
        alice.click("#decide form:nth-of-type(2) button")
        alice.wait_text("You refused this")
        error = sender.result().error
    equal(error.pgcode, "55PW2")
    check("Ask support: ticket 12 & <b>more</b>" in error.diag.message_primary, error.diag.message_primary)
    check("<b>more</b>" in alice.text(".notice"), alice.text(".notice"))


def rehearsed(sql, shots, *words, data=None):
    """Sends it; the page of its hold has these words, and is photographed. Then it is refused."""
    connection = running.connect()
    sender = CopySender(connection, sql, data) if data else Sender(connection, sql)
    hold = eventually(lambda: next(iter(running.holds("pending")), None) or sender.error, sql)
    check(sender.error is None, f"{sql}: {sender.error}")
    alice.open(f"/holds/{hold['id']}")
    found = alice.text()
    alice.shots_of(shots)
    running.command("refuse", hold["id"], "--reason", "only looked at")
    sender.result()
    connection.close()
    for word in words:
        check(word in found, f"{word}: {found}")


class CopySender(Sender):
    def __init__(self, connection, sql, data):
        self.data = data
        super().__init__(connection, sql)

    def run(self):
        try:
            self.connection.cursor().copy_expert(self.sql, io.StringIO(self.data))
        except psycopg2.Error as error:
            self.error = error


def test_what_was_rehearsed_is_shown():
    """Effects as the database gave them, not written by hand: of a cascade with a trigger, of COPY, of DROP."""
    rehearsed("DELETE FROM orders WHERE id IN (50, 51, 52)", "real-cascade", "Deletes 3 rows of shop.orders",
              "order_items_order_id_fkey ON DELETE CASCADE", "has trigger orders_audit, shop.log_order() in plpgsql",
              "Inserts 3 rows into shop.audit_log")
    rehearsed("COPY order_items (order_id, product_id, qty, unit_price) FROM STDIN", "real-copy",
              "Inserts 40 rows into shop.order_items", "The data it loads", "An agent has written them",
              "60TAB1TAB1TAB1.5", "The lines behind these 30",
              data="".join(f"60\t{1 + i % 9}\t1\t1.5\n" for i in range(40)))
    database.ask("CREATE TABLE shop.scratch (id int PRIMARY KEY, note text); INSERT INTO shop.scratch "
                 "SELECT g, 'note' FROM generate_series(1, 50) g; CREATE VIEW shop.scratch_notes AS SELECT note FROM shop.scratch; "
                 "ALTER TABLE shop.scratch OWNER TO agent; ALTER VIEW shop.scratch_notes OWNER TO agent; ANALYZE shop.scratch")
    rehearsed("DROP TABLE scratch CASCADE", "real-drop", "Drops table shop.scratch with 50 rows", "50 rows lost",
              "shop.scratch_notes", "CASCADE: by")


def test_everything_works_without_a_script():
    with closing(running.connect()) as connection:
        sender = Sender(connection, "DELETE FROM order_items WHERE order_id = 44")
        hold = pending("order_id = 44")
        alice.script(False)
        try:
            alice.open("/holds")
            wait_for_row(alice, "shop.order_items")
            alice.open(f"/holds/{hold['id']}")
            alice.click("#decide .go")
            equal(sender.result().error, None)
            alice.open(f"/holds/{hold['id']}")
            alice.wait_text("Executed at")
        finally:
            alice.script(True)


def test_a_second_person_is_needed_and_the_first_ones_yes_is_shown():
    bob = Browser(running.url, alice.shots)
    try:
        with closing(running.connect()) as connection:
            sender = Sender(connection, "UPDATE order_items SET unit_price = 1 WHERE order_id = 47")
            hold = pending("order_id = 47")
            alice.open(f"/holds/{hold['id']}")
            check("1 more must release it after you" in alice.text("#decide"), alice.text("#decide"))
            alice.connected()
            alice.click("#decide .go")
            alice.wait_text("You released this")
            check("1 of 2" in alice.text(), alice.text())
            check(not alice.all("#decide"), "she cannot decide again")
            bob.sign_in("bob")
            bob.open(f"/holds/{hold['id']}")
            bob.click("#decide .go")
            equal(sender.result().error, None)
        alice.wait_text("Executed at")  # by itself
    finally:
        bob.quit()


def test_a_reason_that_is_half_typed_is_not_lost_when_something_changes():
    number = ids["seeds"].add()
    alice.open(f"/holds/{number}")
    alice.connected()
    alice.fill("#why", "Half a sen")
    ids["seeds"].add()
    with closing(running.connect()) as connection:
        Sender(connection, "DELETE FROM order_items WHERE order_id = 45")
        hold = pending("order_id = 45")
        waiting = str(len(running.holds("pending")))
        alice.wait(lambda: alice.text(".count").startswith(waiting), f"{waiting} holds are counted")
        equal(alice.one("#why").get_attribute("value"), "Half a sen")
        running.command("refuse", hold["id"], "--reason", "enough")


# --- what is not accepted ---

def test_without_the_sessions_token_nothing_changes():
    number = ids["seeds"].add()
    fields = hidden(alice, number)
    check(len(fields["csrf"]) == 64 and len(fields["digest"]) == 64, str(fields))
    for wrong in ({"digest": fields["digest"]}, {**fields, "csrf": "0" * 64}, {**fields, "csrf": ""}):
        equal(request("POST", f"/holds/{number}/release", wrong, alice)[0], 403, str(wrong))
    equal(request("POST", f"/holds/{number}/release", fields, alice, Origin="https://evil.example")[0], 403)
    equal(request("POST", f"/holds/{number}/release", fields, alice, Sec_Fetch_Site="cross-site")[0], 403)
    equal(request("GET", f"/holds/{number}/release", browser=alice)[0], 405)
    status, _ = request("POST", f"/holds/{number}/release", fields)
    equal(status, 303, "without a cookie it goes to the sign-in page")
    equal(state(number), "pending")
    equal(request("POST", f"/api/holds/{number}/release", browser=alice)[0], 403, "nor does the API take a cookie alone")
    equal(request("POST", f"/holds/{number}/release", fields, alice)[0], 303)
    equal(state(number), "released")


def test_another_digest_gives_the_page_again():
    number = ids["seeds"].add()
    fields = hidden(alice, number)
    status, text = request("POST", f"/holds/{number}/release", {**fields, "digest": "0" * 64}, alice)
    equal(status, 409)
    check("this is not what you were shown" in text and 'id="decide"' in text, text[:500])
    equal(state(number), "pending")


def test_an_effect_that_is_large_has_to_be_typed():
    number = ids["seeds"].add(effect=seeds.FAR, estimate_rows=40, verb="update")
    fields = hidden(alice, number)
    check("97 times more rows than expected" in alice.text(), alice.text())
    check("Release: change 3,907 rows" in alice.text("#decide"), alice.text("#decide"))
    alice.shots_of("hold-far")
    status, text = request("POST", f"/holds/{number}/release", {**fields, "confirm": "40"}, alice)
    equal(status, 409)
    check("You typed 40. The effect is 3,907 rows." in text, text[-3000:])
    equal(state(number), "pending")
    alice.fill("#sure", "3.907")
    alice.click("#decide .go")
    alice.wait_text("You released this")
    number = ids["seeds"].add(effect=seeds.unknown("not rehearsed: VACUUM cannot run inside a transaction"))
    fields = hidden(alice, number)
    alice.shots_of("hold-unknown")
    equal(request("POST", f"/holds/{number}/release", fields, alice)[0], 409)
    equal(request("POST", f"/holds/{number}/release", {**fields, "confirm": "unknown"}, alice)[0], 303)
    equal(state(number), "released")


def test_an_expired_hold_says_so_and_takes_no_decision():
    number = ids["seeds"].add(expires=seeds.now() + 2 * 10**6)
    fields = hidden(alice, number)
    alice.connected()
    alice.wait_text("Expired at")
    check(not alice.all("#decide"), "it cannot be decided any more")
    status, text = request("POST", f"/holds/{number}/release", fields, alice)
    equal(status, 409)
    check("Too late" in text, text[:3000])
    equal(state(number), "expired")


# --- what is shown ---

def test_effects_are_shown_as_designed():
    number = ids["seeds"].add(effect=seeds.DELETE, verb="delete", estimate_rows=40)
    alice.open(f"/holds/{number}")
    for words in ("and with them 126 rows of shop.order_items and 17 rows of shop.shipments",
                  "Changes 9 rows and inserts 42 in two more tables", "17 of about 50 (34 %)",
                  "Sequence shop.audit_log_id_seq has moved on by 42", "20 of the 42 rows of shop.orders",
                  "22 are not shown"):
        check(words in alice.text(), f"{words}: {alice.text()}")
    check("Release: delete 185 rows, change 9, insert 42" in alice.text("#decide"), alice.text("#decide"))
    alice.shots_of("hold-delete")
    number = ids["seeds"].add(effect=seeds.UPDATE, verb="update", estimate_rows=7)
    alice.open(f"/holds/{number}")
    check("Release: change 239 rows in 2 tables" in alice.text("#decide"), alice.text("#decide"))
    equal([mark.text for mark in alice.all(".data mark")][:2], ["gold", "sale"])
    equal([box.text for box in alice.all("del .u")], ["U+202E", "TAB", "LF"])
    alice.shots_of("hold-update")
    number = ids["seeds"].add(effect=seeds.DROP, verb="drop", estimate_rows=-1)
    alice.open(f"/holds/{number}")
    check("Drops table shop.legacy_customers with 48,213 rows" in alice.text("h1"), alice.text("h1"))
    check("Release: drop 6 objects, lose 48,213 rows" in alice.text("#decide"), alice.text("#decide"))
    alice.shots_of("hold-ddl")


def test_every_state_is_told_in_words():
    done = seeds.now()
    cases = {"released": ("released this at", {"run_until": done + seeds.HOUR, "decision": "release"}),
             "running": ("It is running now", {}),
             "executed": ("Executed at", {"finished": done, "outcome_tag": "DELETE 42"}),
             "refused": ("refused this at", {"decision": "refuse", "decided_by": "bob", "decision_reason": "No."}),
             "expired": ("Nobody decided in time", {"finished": done}),
             "lapsed": ("It was not sent again in time", {"finished": done}),
             "drifted": ("released: 42", {"finished": done, "outcome_effect": seeds.MET}),
             "failed": ("40P01", {"finished": done, "outcome_error": "40P01 deadlock detected"}),
             "unknown": ("Outcome unknown", {"finished": done})}
    for name, (words, fields) in cases.items():
        number = ids["seeds"].add(state=name, effect=seeds.DELETE, decided=done, approvals=("alice",), **fields)
        alice.open(f"/holds/{number}")
        check(words in alice.text(), f"{name}: {alice.text()}")
        check("What happened" in alice.text() and not alice.all("#decide"), name)
        if name == "drifted": # what was met, not what was released
            check("Would have deleted 43 rows" in alice.text("h1"), alice.text("h1"))
        alice.shot(f"hold-{name}-desktop-light")


def test_hostile_texts_are_shown_and_do_nothing():
    effect = seeds.effect([seeds.table(HOSTILE, deleted=2, total=3),
                           seeds.cascade(HOSTILE, HOSTILE, HOSTILE, deleted=1)],
                          seeds.rows_of(2, [seeds.row({HOSTILE: HOSTILE, "b": None}, {HOSTILE: "x", "b": HOSTILE})],
                                        key=[]),
                          [seeds.thing(HOSTILE, HOSTILE, HOSTILE, 4, 5, HOSTILE, HOSTILE, HOSTILE)],
                          [{"table": HOSTILE, "mode": HOSTILE}], triggers=[HOSTILE], notices=[HOSTILE],
                          not_undone=[{"what": HOSTILE, "name": HOSTILE, "by": 1},
                                      {"what": "sequence", "name": HOSTILE, "by": 1}])
    fields = dict.fromkeys(("agent", "rule", "rules", "rule_text", "upstream", "database", "verb", "client", "session",
                            "template", "statement", "plan"), HOSTILE)
    numbers = [ids["seeds"].add(effect=effect, **fields),
               ids["seeds"].add(effect=seeds.unknown(HOSTILE), **fields),
               ids["seeds"].add(effect=effect, state="refused", decided_by=HOSTILE, decision_reason=HOSTILE,
                                decided=1, approvals=(HOSTILE,), **fields),
               ids["seeds"].add(effect=effect, state="drifted", outcome_effect=effect, outcome_error=HOSTILE,
                                finished=seeds.now(), outcome_tag=HOSTILE, **fields)]
    quoted = urllib.parse.quote(HOSTILE)
    for path in [f"/holds/{n}" for n in numbers] + ["/holds", "/history", "/agents", f"/holds?q={quoted}&agent={quoted}",
                                                    f"/history?q={quoted}", f"/sign-in?next={quoted}"]:
        alice.open(path)
        time.sleep(0.1)
        check("owned" not in alice.driver.title or "[U+202E]" in alice.driver.title, alice.driver.title)
        equal((alice.all("img"), len(alice.all("script")) <= 1), ([], True), path)
        check("\u202e" not in alice.run("return document.body.innerText"), f"a reversing character on {path}")
        if path.startswith("/holds/"):
            check("<script>document.title='owned'</script>" in alice.text(), path)
    values = running.connect()
    with closing(values):
        sender = Sender(values, "UPDATE order_items SET qty = 2 WHERE order_id = 46 AND unit_price::text <> %s", (HOSTILE,))
        hold = pending("order_id = 46")
        alice.open(f"/holds/{hold['id']}")
        check("<img src=x onerror=" in alice.text("pre"), alice.text("pre"))
        equal(alice.all("img"), [])
        running.command("refuse", hold["id"], "--reason", "seen")
        sender.result()


def test_the_queue_of_an_agent_in_a_loop():
    ids["seeds"].add(120, agent="loop-bot", statement=lambda i: f"DELETE FROM shop.orders WHERE id = {i}",
                     expires=lambda i: seeds.now() + seeds.HOUR + i * 10**6, verb="delete", effect=seeds.DELETE)
    alice.open("/holds?agent=loop-bot")
    equal(len(alice.all(".list tbody tr")), 50)
    check("120 of them come from loop-bot" in alice.text(), alice.text())
    alice.shots_of("queue")
    alice.click(".pages a")
    alice.click(".pages a:last-child")
    equal(len(alice.all(".list tbody tr")), 20)
    alice.open("/holds?q=id+%3D+77&agent=&verb=")
    equal(len(alice.all(".list tbody tr")), 1)
    number = int(alice.one(".what a").get_attribute("href").split("/")[-1])
    alice.open(f"/holds/{number}")
    alice.click(".crumb a:last-child")
    equal(alice.path, f"/holds/{number + 1}", "the next hold of the queue")


def test_history_with_5000_holds_is_quick():
    ids["seeds"].add(5000, state="executed", effect=seeds.DELETE, verb="delete", finished=seeds.now(),
                     statement=lambda i: f"DELETE FROM shop.orders WHERE customer_id = {100000 + i}",
                     decided_by="bob", decided=seeds.now(), plan="x" * 2000)
    total = int(re.search(r"([\d,]+) holds", request("GET", "/history", browser=alice)[1])[1].replace(",", ""))
    check(total >= 5000, str(total))
    for path in ("/history", "/history?state=executed&agent=agent", "/history?q=customer_id+%3D+104321",
                 "/history?q=bob", f"/history?before={ids['deleted'] + 2500}", "/holds", "/agents"):
        before = cpu_seconds()
        status, text = request("GET", path, browser=alice)
        seconds = cpu_seconds() - before
        equal(status, 200, path)
        check(seconds < 1, f"{path} took {seconds:.2f} s")
        print(f"     {path}: {seconds * 1000:.0f} ms of CPU, {len(text) // 1024} kB")
    alice.open("/history?q=customer_id+%3D+104321")
    equal(len(alice.all(".list tbody tr")), 1)
    alice.open("/history")
    alice.shots_of("history")
    alice.click(".pages a:last-child")
    equal(len(alice.all(".list tbody tr")), 50)


def test_an_agent_is_paused_and_resumed():
    alice.open("/agents")
    alice.shots_of("agents")
    alice.click("#agent button")
    alice.wait_text("paused", "#agent")
    try:
        running.connect().close()
        check(False, "a paused agent gets in")
    except psycopg2.OperationalError as error:
        check("paused" in str(error), str(error))
    alice.click("#agent button")
    alice.wait(lambda: "paused" not in alice.text("#agent"), "it is resumed")
    running.connect().close()


# --- for everybody ---

def pages():
    one = ids["seeds"].add(effect=seeds.DELETE, verb="delete", estimate_rows=40)
    many = [ids["seeds"].add(effect=e, verb=v) for e, v in ((seeds.UPDATE, "update"), (seeds.DROP, "drop"),
                                                          (seeds.FAR, "update"), (seeds.unknown("no"), "call"))]
    drifted = ids["seeds"].add(state="drifted", effect=seeds.DELETE, outcome_effect=seeds.MET, finished=seeds.now())
    return ["/holds", "/history", "/agents"] + [f"/holds/{n}" for n in (one, *many, drifted)]


def test_no_page_is_wider_than_its_window():
    for path in pages():
        alice.open(path)
        for width in WIDTHS:
            alice.resize(width, 800)
            wide = alice.run("return document.documentElement.scrollWidth")
            check(wide <= width, f"{path} is {wide} wide in {width}")
    alice.resize(1280, 900)


def test_every_page_is_accessible():
    if not os.path.exists(AXE):
        raise Skip("axe-core is not installed")
    with open(AXE, encoding="utf-8") as file:
        axe = file.read()
    shown = pages()
    # Long lists are of one row many times, and looked at slowly.
    for scheme, paths in (("light", ["/holds?agent=agent", "/history?q=drifted", *shown[2:]]), ("dark", shown[3:4])):
        alice.scheme(scheme)
        for path in paths:
            alice.open(path)
            alice.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
            passed, found = alice.driver.execute_async_script(
                "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})"
                ".then(r => arguments[0]([r.passes.length,"
                " r.violations.map(v => [v.id, v.nodes.map(n => n.html).slice(0, 3)])]))")
            equal(found, [], f"{path} {scheme}")
            check(passed > 20, f"{path}: only {passed} rules looked at it")
    alice.scheme("light")


def test_the_keyboard_goes_from_the_effect_to_release_and_then_to_refuse():
    number = ids["seeds"].add(effect=seeds.DELETE, verb="delete", estimate_rows=40)
    alice.open(f"/holds/{number}")
    order = alice.run("""return Array.from(document.querySelectorAll(
        "a[href], button, input:not([type=hidden]), textarea, summary, [tabindex]")).map(e => e.className || e.id || e.tagName)""")
    check(order.index("skip") == 0, str(order))
    check(order.index("scroll") < order.index("go lose wide") < order.index("why") < order.index("wide"), str(order))
    alice.run("document.querySelector('#why').focus()")
    outline = alice.run("return getComputedStyle(document.activeElement).outlineStyle")
    equal(outline, "solid", "the focus can be seen")


def test_signing_out_ends_the_session():
    old = cookie(alice)
    alice.open("/holds")
    alice.click(".me button")
    alice.wait_text("Sign in to decide")
    equal(request("GET", "/holds", Cookie=old)[0], 303, "the old cookie opens nothing")
    alice.open("/holds/1?x=1")
    check("next=%2Fholds%2F1" in alice.path, alice.path)
    alice.fill("#u", "alice")
    alice.fill("#p", "alice-secret")
    alice.click("button.go")
    alice.wait(lambda: alice.path == "/holds/1?x=1", "the page that was asked for")


def first_hold():
    """A hold to copy from."""
    with closing(running.connect(options="-c statement_timeout=500")) as connection:
        Sender(connection, "DELETE FROM order_items WHERE order_id = 1 AND qty < 100").result()
    hold = pending("qty < 100")
    running.command("refuse", hold["id"], "--reason", "only a pattern")
    return hold["id"]


if __name__ == "__main__":
    with wicket(POLICY, configuration=TWO_PEOPLE) as (database, running):
        ids["seeds"] = seeds.Seeds(running.folder, first_hold())
        shots = os.environ.get("PGWICKET_SHOTS", "")
        if shots:
            os.makedirs(shots, exist_ok=True)
        alice = Browser(running.url, shots)
        try:
            code = main(globals())
        finally:
            alice.quit()
    sys.exit(code)

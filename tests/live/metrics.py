"""Metrics: what happened is what is counted, to the last statement and byte, over several workers."""
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

import pgwire
from live import check, equal, eventually, main
from metrics import Change, fetch, page
from wicket import AGENT_SECRET, CONFIGURATION, Sender, wicket

NAMES = """
    pgwicket_build_info pgwicket_sessions pgwicket_sessions_total pgwicket_statements_total
    pgwicket_rule_hits_total pgwicket_judge_seconds pgwicket_explain_seconds pgwicket_rehearsal_seconds
    pgwicket_overhead_seconds pgwicket_estimate_ratio pgwicket_holds pgwicket_holds_total
    pgwicket_hold_oldest_seconds pgwicket_hold_wait_seconds pgwicket_waiting_sessions
    pgwicket_rows_changed_total pgwicket_errors_total pgwicket_bytes_total pgwicket_notifications_total
    pgwicket_audit_records_total pgwicket_audit_errors_total pgwicket_audit_free_bytes
    pgwicket_catalog_age_seconds pgwicket_upstream_up pgwicket_certificate_expiry_seconds
    pgwicket_policy_mode pgwicket_config_reload_success
""".split()

POLICY = """
    search_path: [shop]
    hold: {wait: 20s, expire: 1h}
    limits: {sessions: 100, waiting: 10, rehearsals_per_minute: unlimited}
    rules:
      - name: read
        allow: [select]
        on: [shop.customers, shop.orders, shop.order_items]
        max_rows: 20
      - name: few
        allow: [update]
        on: [shop.orders]
        where: required
        max_rows: 3
      - name: never
        reject: [delete]
        on: [shop.customers]
      - name: ask
        hold: [delete]
        on: [shop.order_items]
        where: required
"""
MANY = CONFIGURATION.replace("upstreams:", "workers: 3\nupstreams:", 1)
SESSIONS, ROUNDS = 9, 20

database = running = None


class CountingSocket:
    """Counts what goes through."""

    def __init__(self, inner):
        self.inner, self.sent, self.got = inner, 0, 0

    def sendall(self, data):
        self.sent += len(data)
        self.inner.sendall(data)

    def recv(self, size):
        data = self.inner.recv(size)
        self.got += len(data)
        return data

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Counting(pgwire.Connection):
    def _log_in(self, *arguments):
        self.socket = CountingSocket(self.socket)
        super()._log_in(*arguments)

    def finish(self):
        """Waits for the end, so that all bytes have been counted on both sides."""
        self.socket.sendall(pgwire.TERMINATE)
        while self.socket.recv(4096):
            pass
        self.socket.close()


def connect(**changes):
    return Counting("127.0.0.1", running.port, "agent", changes.pop("password", AGENT_SECRET), **changes)


def settled():
    """The page, once no session is left."""
    return eventually(lambda: next((p for p in [page(running.url)] if not any(
        p.value("sessions", state) for state in ("login", "idle", "active", "waiting"))), None), "no sessions")


class Change_while:  # pylint: disable=invalid-name
    """with Change_while() as change: … change.of(…) after it."""

    def __enter__(self):
        self.change = Change(settled(), None)
        return self.change

    def __exit__(self, kind, *_):
        if kind is None:
            self.change.after = settled()


def one_round(session, number):
    """Each kind once. Answers are compared, so that what is counted has happened."""
    def sql(text, expected):
        answers = session.run(pgwire.query(text))
        found = pgwire.errors(answers)[0]["C"] if pgwire.errors(answers) else ""
        equal(found, expected, f"{text}: {pgwire.errors(answers)}")

    sql("SELECT id, name FROM customers WHERE id < 10", "")
    answers = session.run(pgwire.parse("SELECT name FROM shop.customers WHERE id = $1"), pgwire.bind([b"5"]),
                          pgwire.execute(), pgwire.execute(), pgwire.message("S"))
    equal(pgwire.errors(answers), [])
    sql(f"UPDATE shop.orders SET notes = 'x{number}' WHERE id BETWEEN 7 AND 8", "")
    sql("UPDATE shop.orders SET notes = 'y' WHERE id < 10", "54000")
    sql("DELETE FROM shop.customers WHERE id = 1", "42501")
    sql("SELECT login FROM shop.staff", "42501")
    sql("SELEC 1", "42601")
    sql("SELECT 1/(id-id) FROM shop.customers", "22012")
    sql("SELECT id FROM shop.orders", "54000")
    sql("BEGIN", "")
    sql("COMMIT", "")


def test_every_name_of_the_contract_is_there_with_help_and_type():
    text, kind = fetch(running.url)
    equal(kind, "text/plain; version=0.0.4; charset=utf-8")
    for name in NAMES:
        check(f"# HELP {name} " in text, f"no HELP of {name}")
        check(f"# TYPE {name} " in text, f"no TYPE of {name}")
    described = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    equal(described - set(NAMES), set(), "names that the contract does not have")


def test_promtool_has_nothing_to_say():
    text = fetch(running.url)[0]
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    equal((result.returncode, result.stdout, result.stderr), (0, "", ""))


def test_statements_errors_bytes_and_times_of_many_sessions_on_several_workers():
    records = len(running.audit())
    sent, got = [], []

    def work(index):
        session = connect()
        for number in range(ROUNDS):
            one_round(session, index * 1000 + number)
        session.finish()
        sent.append(session.socket.sent)
        got.append(session.socket.got)

    with Change_while() as change:
        threads = [threading.Thread(target=work, args=[i]) for i in range(SESSIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    equal(len(sent), SESSIONS, "sessions that went through")
    times = SESSIONS * ROUNDS
    policy = ("policy", "agent")
    equal(change.of("statements_total"), {
        (*policy, "allow", "select"): 4 * times, (*policy, "allow", "update"): 2 * times,
        (*policy, "allow", "none"): 2 * times, (*policy, "reject", "delete"): times,
        (*policy, "reject", "select"): times, (*policy, "reject", "none"): times})
    equal(change.of("rule_hits_total"), {
        ("policy", "read", "allow"): 4 * times, ("policy", "few", "allow"): 2 * times,
        ("policy", "never", "reject"): times})
    equal(change.of("errors_total"), {("54000",): 2 * times, ("42501",): 2 * times, ("42601",): times,
                                      ("22012",): times})
    equal(change.of("rows_changed_total"), {("policy",): 2 * times})
    equal(change.of("sessions_total"), {("opened",): SESSIONS})
    equal(change.value("bytes_total", "from_agent"), sum(sent), "bytes from agents")
    equal(change.value("bytes_total", "to_agent"), sum(got), "bytes to agents")
    check(change.value("bytes_total", "to_upstream") > 0 < change.value("bytes_total", "from_upstream"), "upstream")
    equal(change.value("judge_seconds_count"), 11 * times, "messages judged")
    equal(change.value("explain_seconds_count"), 2 * times, "estimates")
    equal(change.value("estimate_ratio_count"), 2 * times, "estimates that were compared")
    equal(change.value("overhead_seconds_count"), 8 * times, "statements sent")
    for name in ("judge", "explain", "overhead"):
        equal(change.value(f"{name}_seconds_bucket", "+Inf"), change.value(f"{name}_seconds_count"), name)
        check(0 < change.value(f"{name}_seconds_sum") < 600, f"sum of {name}")
    equal(change.value("audit_records_total"), len(running.audit()) - records, "lines of the audit log")


def test_logins_by_their_result():
    def fails(sqlstate, **changes):
        try:
            connect(**changes)
        except pgwire.LoginError as error:
            equal(error.fields["C"], sqlstate)
            return
        raise AssertionError("was let in")

    with Change_while() as change:
        for _ in range(3):
            fails("28P01", password="wrong")
        fails("3D000", database="other")
        fails("42501", session_replication_role="replica")
        connect().finish()
        # What says nothing, or is no client at all, is no attempt.
        pgwire.socket.create_connection(("127.0.0.1", running.port)).close()
    equal(change.of("sessions_total"), {("refused",): 3, ("no_database",): 1, ("setting",): 1, ("opened",): 1})
    equal(change.of("errors_total"), {("28P01",): 3, ("3D000",): 1, ("42501",): 1})


def test_sessions_by_what_they_do():
    settled()
    idle, busy, waiting = connect(), connect(), running.connect()
    busy.run(pgwire.query("BEGIN"))
    sender = Sender(waiting, "DELETE FROM shop.order_items WHERE order_id = 40")
    hold = eventually(lambda: running.holds("pending"), "a hold")[0]
    eventually(lambda: page(running.url).value("sessions", "waiting") == 1, "a session that waits")
    now = page(running.url)
    equal([now.value("sessions", state) for state in ("login", "idle", "active", "waiting")], [0, 1, 1, 1])
    equal((now.value("waiting_sessions"), now.value("holds", "pending")), (1, 1))
    eventually(lambda: page(running.url).value("hold_oldest_seconds") > 1, "a hold that gets older")
    running.command("refuse", hold["id"], "--digest", hold["digest"], "--reason", "no")
    sender.result()
    for session in (idle, busy):
        session.finish()
    waiting.close()
    equal((settled().value("holds", "pending"), page(running.url).value("hold_oldest_seconds")), (0, 0))


def test_holds_by_their_outcome():
    def held(order):
        connection = running.connect()
        sender = Sender(connection, f"DELETE FROM shop.order_items WHERE order_id = {order}")
        hold = eventually(lambda: next((h for h in running.holds("pending") if f"= {order}" in h["statement"]), None),
                          "a hold")
        return connection, sender, hold

    orders = [row[0] for row in database.ask("SELECT order_id FROM shop.order_items GROUP BY 1 ORDER BY 1 LIMIT 8")]
    with Change_while() as change:
        rows = 0
        for order in orders[:5]:
            rows += database.value(f"SELECT count(*) FROM shop.order_items WHERE order_id = {order}")
            connection, sender, hold = held(order)
            running.command("release", hold["id"], "--digest", hold["digest"])
            equal(sender.result().error, None)
            connection.close()
        for order in orders[5:7]:
            connection, sender, hold = held(order)
            running.command("refuse", hold["id"], "--digest", hold["digest"], "--reason", "no")
            equal(sender.result().error.pgcode, "55PW2")
            connection.close()
        connection = running.connect(options="-c statement_timeout=1000")
        equal(Sender(connection, f"DELETE FROM shop.order_items WHERE order_id = {orders[7]}").result().error.pgcode,
              "55PW1")
        connection.close()
    equal(change.of("holds_total"), {("policy", "created"): 8, ("policy", "released"): 5, ("policy", "executed"): 5,
                                     ("policy", "refused"): 2})
    equal(change.of("holds"), {("pending",): 1, ("executed",): 5, ("refused",): 2})
    equal(change.of("errors_total"), {("55PW1",): 1, ("55PW2",): 2})
    equal(change.of("rows_changed_total"), {("policy",): rows})
    equal(change.of("rule_hits_total"), {("policy", "ask", "hold"): 8})
    equal(change.of("statements_total"), {("policy", "agent", "hold", "delete"): 8})
    equal(change.value("hold_wait_seconds_count"), 7)
    equal(change.value("rehearsal_seconds_count"), 8)
    equal(change.value("overhead_seconds_count"), 0, "held statements are none of the overhead")


def test_an_sqlstate_that_an_agent_makes_up_is_no_series_of_its_own():
    database.ask("CREATE FUNCTION shop.fails(text) RETURNS int LANGUAGE plpgsql AS "
                 "$$ BEGIN RAISE 'no' USING ERRCODE = $1; END $$")
    running.values["policy"] += "\n      - allow: [call]\n        on: [shop.fails]"
    running.configure()
    reload(succeeds=True)
    with Change_while() as change:
        session = connect()
        for number in range(20):
            answers = session.run(pgwire.query(f"SELECT shop.fails('Z{number:04}')"))
            equal(pgwire.errors(answers)[0]["C"], f"Z{number:04}")
        session.finish()
    equal(change.of("errors_total"), {("other",): 20})


def reload(succeeds):
    import signal  # pylint: disable=import-outside-toplevel
    lines = running.read_log().count("configuration ")
    running.signal(signal.SIGHUP)
    eventually(lambda: running.read_log().count("configuration ") > lines, "a reload")
    equal(page(running.url).value("config_reload_success"), 1 if succeeds else 0)


def test_what_is_looked_up():
    now = page(running.url)
    version = subprocess.run([os.environ["PGWICKET_BIN"], "--version"], capture_output=True, text=True, check=False)
    check(now.value("build_info", version.stdout.split()[1], "15") == 1, f"build_info, {version.stdout}")
    equal((now.value("upstream_up", "shop"), now.value("policy_mode", "policy", "enforce"),
           now.value("policy_mode", "policy", "observe"), now.value("audit_errors_total")), (1, 1, 0, 0))
    check(0 <= now.value("catalog_age_seconds", "shop") < 120, "age of the catalog")
    check(2 * 86400 < now.value("certificate_expiry_seconds") < 3 * 86400, "the certificate is good for three days")
    check(now.value("audit_free_bytes") > 0, "free bytes")


def test_a_reload_that_fails_shows_and_passes():
    running.configure("listen: nonsense\n")
    reload(succeeds=False)
    running.configure()
    reload(succeeds=True)


def test_the_page_needs_no_password_but_the_right_host():
    for host, status in ((f"127.0.0.1:{running.review}", 200), ("evil.example", 403)):
        request = urllib.request.Request(running.url + "/metrics", headers={"Host": host})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                found = answer.status
        except urllib.error.HTTPError as error:
            found = error.code
        equal(found, status, host)


if __name__ == "__main__":
    with wicket(POLICY, configuration=MANY) as (database, running):
        code = main(globals())
    sys.exit(code)

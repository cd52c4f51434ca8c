"""Notifications, at a real receiver: signatures, retries, restarts, Slack's format, what is never told."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import closing, contextmanager

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import Skip, check, equal, eventually, main
from wicket import BIN, CONFIGURATION, Sender, free_port, wicket

KEY = b"0123456789abcdef01234567"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: $wait, expire: $expire, run_within: $run_within, quorum: $quorum}
    limits: {rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.orders, shop.order_items]
      - name: deletes
        hold: [delete, update]
        on: [shop.orders, shop.order_items]
        where: required
"""
PLACE = 'holds: {store: "sqlite:$folder/holds.db"}\n'
BOB = "  alice: {secret: $approver_secret}\n"


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps what it gets. `answers` are the statuses of the next requests; then it answers 204."""
    daemon_threads = True

    def __init__(self, port=0, certificate=None):
        self.got, self.answers, self.headers, self.lock = [], [], {}, threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.port = self.server_address[1]
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass

    def take(self, request):
        with self.lock:
            status = self.answers.pop(0) if self.answers else 204
            self.got.append({**request, "status": status, "at": time.monotonic()})
        return status

    def bodies(self, kind=None):
        """Of the requests that were taken."""
        with self.lock:
            found = [json.loads(r["body"]) for r in self.got if r["status"] < 300]
        return [b for b in found if kind in (None, b.get("type"))]

    def wait_for(self, kind, seconds=20):
        return eventually(lambda: self.bodies(kind), f"a notification {kind}", seconds)[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.take({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()},
                                   "body": body})
        self.send_response(status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def notified(receivers, wait="1s", expire="1h", run_within="15m", quorum=1, store="$folder/holds.db", **values):
    """pgwicket with these lines under `notify`."""
    policy = POLICY.replace("$wait", wait).replace("$expire", expire).replace("$run_within", run_within)
    place = PLACE.replace("$folder/holds.db", store)
    configuration = CONFIGURATION.replace(PLACE, place + "notify:\n" + "".join(f"  - {r}\n" for r in receivers))
    configuration = configuration.replace(BOB, BOB + "  bob: {secret: $approver_secret}\n")
    check("notify:" in configuration and "bob:" in configuration, "the configuration has its sections")
    with wicket(policy.replace("$quorum", str(quorum)), configuration=configuration, **values) as (database, running):
        yield database, running


def standard(port, path="/hook", more=""):
    return f'{{url: "http://127.0.0.1:{port}{path}", secret: "{SECRET}"{more}}}'


def signature(request, key=KEY):
    headers = request["headers"]
    content = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + request["body"]
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def hold(running, sql):
    """Sends it in a session that does not wait long; returns the pending hold."""
    with closing(running.connect(options="-c statement_timeout=1000")) as connection:
        sender = Sender(connection, sql).result()
    check(sender.error is not None and sender.error.pgcode == "55PW1", f"held: {sender.error}")
    return running.holds("pending")[0]


UPDATE = "UPDATE shop.order_items SET qty = 4711 WHERE order_id = 78"


def release(running, held, user="alice"):
    return running.command("release", held["id"], "--digest", held["digest"], "--user", user)


def test_a_holds_whole_life_is_told_and_signed():
    with Receiver() as receiver, notified([standard(receiver.port)]) as (database, running):
        held = hold(running, UPDATE)
        created = receiver.wait_for("hold.created")
        rows = database.value("SELECT count(*) FROM shop.order_items WHERE order_id = 78")
        equal(created["data"]["id"], held["id"])
        equal(created["data"]["rows"], rows)
        equal(created["data"]["effect"], f"update {rows} rows in 1 table")
        equal([created["data"][k] for k in ("state", "agent", "policy", "rule", "upstream", "verb")],
              ["pending", "agent", "policy", "deletes", "shop", "update"])
        equal(created["data"]["url"], f"http://127.0.0.1:{running.review}/holds/{held['id']}")
        release(running, held)
        equal(receiver.wait_for("hold.released")["data"]["by"], "alice")
        with closing(running.connect()) as connection:
            connection.cursor().execute(f"EXECUTE pgwicket_hold({held['id']})")
        equal(receiver.wait_for("hold.executed")["data"]["state"], "executed")
        for request in receiver.got:
            equal(request["headers"]["webhook-signature"], signature(request))
            equal(request["headers"]["content-type"], "application/json")
            check(abs(int(request["headers"]["webhook-timestamp"]) - time.time()) < 60, "the timestamp is of now")
        ids = [r["headers"]["webhook-id"] for r in receiver.got]
        equal(len(set(ids)), len(ids), "ids are unique")
        equal([b["type"] for b in receiver.bodies()], ["hold.created", "hold.released", "hold.executed"])


def test_refused_and_paused_are_told():
    with Receiver() as receiver, notified([standard(receiver.port)]) as (_, running):
        held = hold(running, UPDATE)
        running.command("refuse", held["id"], "--reason", "secret-value-4711 is wrong", "--digest", held["digest"])
        equal(receiver.wait_for("hold.refused")["data"]["by"], "alice")
        running.command("pause", "agent")
        running.command("pause", "agent")
        running.command("resume", "agent")
        told = receiver.wait_for("agent.resumed")["data"]
        equal((told["agent"], told["by"]), ("agent", "alice"))
        equal(len(receiver.bodies("agent.paused")), 1, "a second pause of a paused agent")
        check(b"4711" not in b"".join(r["body"] for r in receiver.got), "neither values nor reasons are told")


def test_expired_and_drifted_and_approvals_of_a_quorum_are_told():
    with Receiver() as receiver, notified([standard(receiver.port)], quorum=2) as (database, running):
        held = hold(running, UPDATE)
        release(running, held, "bob")
        approved = receiver.wait_for("hold.approved")["data"]
        equal((approved["by"], approved["approvals"], approved["quorum"]), ("bob", 1, 2))
        release(running, held)
        receiver.wait_for("hold.released")
        database.ask("UPDATE shop.order_items SET discount = 0.5 WHERE order_id = 78")
        with closing(running.connect()) as connection:
            sender = Sender(connection, f"EXECUTE pgwicket_hold({held['id']})").result()
        equal(sender.error.pgcode, "55PW3")
        equal(receiver.wait_for("hold.drifted")["data"]["id"], held["id"])
        eventually(lambda: len(receiver.bodies("hold.created")) == 2, "the hold that takes its place")
    with Receiver() as receiver, notified([standard(receiver.port)], expire="5s", run_within="2s") as (_, running):
        hold(running, UPDATE)
        equal(receiver.wait_for("hold.expired")["data"]["state"], "expired")
        release(running, hold(running, UPDATE))
        equal(receiver.wait_for("hold.lapsed")["data"]["state"], "lapsed")


def test_nothing_of_statement_values_or_database_is_told():
    with Receiver() as receiver, notified(
            [standard(receiver.port), f'{{url: "http://127.0.0.1:{receiver.port}/slack", format: slack}}']) as (_, running):
        hold(running, UPDATE)
        eventually(lambda: len(receiver.bodies()) == 2, "both are told")
        for request in receiver.got:
            for word in (b"4711", b"qty", b"shop.order_items", b"UPDATE", b"order_id"):
                check(word not in request["body"], f"{word} in {request['body']}")


def test_slack_gets_a_text_with_a_link():
    with Receiver() as receiver, notified(
            [f'{{url: "http://127.0.0.1:{receiver.port}/services/T0/B0/x", format: slack}}']) as (_, running):
        held = hold(running, UPDATE)
        told = eventually(receiver.bodies, "a notification")[0]
        equal(list(told), ["text"])
        check(told["text"].startswith(f"*Hold {held['id']}* waits for approval: update 3 rows in 1 table, by agent agent, "), told["text"])
        check(f"<http://127.0.0.1:{running.review}/holds/{held['id']}|" in told["text"], told["text"])
        equal(receiver.got[0]["path"], "/services/T0/B0/x")
        check("webhook-signature" not in receiver.got[0]["headers"], "Slack is not signed for")
        check("services" not in running.read_log(), "the path of a URL is in the log")


def test_a_receiver_that_fails_is_tried_again_with_the_same_id():
    with Receiver() as receiver, notified([standard(receiver.port)]) as (_, running):
        receiver.answers = [503, 302, 200]
        receiver.headers = {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}
        hold(running, UPDATE)
        receiver.wait_for("hold.created", 40)
        equal([r["status"] for r in receiver.got], [503, 302, 200])
        equal(len({r["headers"]["webhook-id"] for r in receiver.got}), 1)
        equal(len({r["body"] for r in receiver.got}), 1)
        equal({r["path"] for r in receiver.got}, {"/hook"}, "redirects are not followed")
        for request in receiver.got:
            equal(request["headers"]["webhook-signature"], signature(request))
        first, second, third = [r["at"] for r in receiver.got]
        check(1.5 < second - first < 4 and 4.5 < third - second < 9, f"back-off: {second - first} {third - second}")
        time.sleep(1)
        equal(len(receiver.got), 3, "a delivered message is not sent again")
        log = running.read_log()
        equal(log.count("does not take notifications"), 1, log)
        equal(log.count("takes notifications again"), 1, log)
        with urllib.request.urlopen(running.url + "/metrics") as answer:
            page = answer.read().decode()
        found = dict(re.findall(r'^pgwicket_notifications_total\{result="(\w+)"\} (\d+)$', page, re.M))
        equal(found, {"delivered": "1", "retried": "2", "given_up": "0", "dropped": "0"})


def test_a_receiver_that_asks_for_time_gets_it():
    with Receiver() as receiver, notified([standard(receiver.port)]) as (_, running):
        receiver.answers = [429, 200]
        receiver.headers = {"Retry-After": "6"}
        hold(running, UPDATE)
        receiver.wait_for("hold.created")
        first, second = [r["at"] for r in receiver.got]
        check(second - first > 5.5, f"tried again after {second - first} s")


def test_a_receiver_that_is_gone_is_not_tried_again():
    with Receiver() as receiver, notified([standard(receiver.port)]) as (_, running):
        receiver.answers = [410]
        held = hold(running, UPDATE)
        eventually(lambda: receiver.got, "an attempt")
        release(running, held)
        receiver.wait_for("hold.released")
        time.sleep(4)
        equal([r["status"] for r in receiver.got], [410, 204])
        check("is given up: HTTP 410" in running.read_log(), running.read_log())


def test_what_could_not_be_delivered_arrives_after_a_crash():
    port = free_port()
    with notified([standard(port)]) as (_, running):
        held = hold(running, UPDATE)
        release(running, held)
        eventually(lambda: "does not take notifications" in running.read_log(), "a failed attempt")
        running.kill()
        with Receiver(port) as receiver:
            running.start()
            receiver.wait_for("hold.released", 40)
            receiver.wait_for("hold.created", 40)
            time.sleep(2)
            equal(sorted(b["type"] for b in receiver.bodies()), ["hold.created", "hold.released"])
            equal({b["data"]["id"] for b in receiver.bodies()}, {held["id"]})


def test_an_attempt_before_a_crash_and_one_after_it_have_one_id():
    with Receiver() as receiver, notified([standard(receiver.port)]) as (_, running):
        receiver.answers = [500]
        hold(running, UPDATE)
        eventually(lambda: receiver.got, "an attempt")
        time.sleep(0.3)
        running.kill()
        running.start()
        receiver.wait_for("hold.created", 40)
        equal([r["status"] for r in receiver.got], [500, 204])
        equal(receiver.got[0]["headers"]["webhook-id"], receiver.got[1]["headers"]["webhook-id"])
        equal(receiver.got[0]["body"], receiver.got[1]["body"])


def test_a_slow_receiver_holds_up_neither_the_other_one_nor_the_end():
    with Receiver() as receiver, closing(ListenOnly()) as silent, \
            notified([standard(silent.port), standard(receiver.port)]) as (_, running):
        hold(running, UPDATE)
        receiver.wait_for("hold.created", 5)
        started = time.monotonic()
        running.stop()
        check(time.monotonic() - started < 10, "a transfer that hangs holds up the end")
        running.start()


class ListenOnly:
    """A socket that connections are made to, and nothing else happens."""

    def __init__(self):
        import socket
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def close(self):
        self.socket.close()


def test_certificates_are_verified():
    folder = None
    with notified(["{url: \"https://127.0.0.1:1/\", secret: \"%s\"}" % SECRET]) as (_, running):
        folder = running.folder
        certificate = (folder + "/server.crt", folder + "/server.key")
        with Receiver(certificate=certificate) as receiver:
            trusted = f'{{url: "https://127.0.0.1:{receiver.port}/trusted", secret: "{SECRET}", ca: server.crt}}'
            unknown = f'{{url: "https://127.0.0.1:{receiver.port}/unknown", secret: "{SECRET}"}}'
            text = open(running.file, encoding="utf-8").read()
            line = next(l for l in text.splitlines() if "127.0.0.1:1/" in l)
            running.configure(text.replace(line, f"  - {trusted}\n  - {unknown}"))
            running.signal(signal.SIGHUP)
            eventually(lambda: "configuration read again" in running.read_log(), "the reload")
            hold(running, UPDATE)
            receiver.wait_for("hold.created")
            eventually(lambda: "SSL peer certificate" in running.read_log(), "the refusal is in the log")
            equal({r["path"] for r in receiver.got}, {"/trusted"})


def test_only_chosen_events_are_told():
    with Receiver() as receiver, notified([standard(receiver.port, more=", events: [hold.released, agent.paused]")]) \
            as (_, running):
        release(running, hold(running, UPDATE))
        running.command("pause", "agent")
        receiver.wait_for("agent.paused")
        equal([b["type"] for b in receiver.bodies()], ["hold.released", "agent.paused"])


def test_a_failing_audit_log_is_told_even_if_the_store_is_on_the_full_disk():
    if os.geteuid() != 0:
        raise Skip("needs root, to mount a small file system")
    folder = "/tmp/pgwicket-notify-disk"
    os.makedirs(folder, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False)
    if mounted.returncode != 0:
        raise Skip("no file system can be mounted here")
    try:
        with Receiver() as receiver, notified([standard(receiver.port)], store=folder + "/holds.db",
                                              audit=folder + "/audit.jsonl") as (_, running):
            filler = folder + "/filler"
            subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=4k"], capture_output=True, check=False)
            with closing(running.connect()) as connection:
                for _ in range(40):
                    Sender(connection, "SELECT 1 FROM shop.orders LIMIT 1").result()
            receiver.wait_for("audit.failing")
            os.unlink(filler)
            with closing(running.connect()) as connection:
                connection.cursor().execute("SELECT 1 FROM shop.orders LIMIT 1")
            receiver.wait_for("audit.working")
    finally:
        subprocess.run(["umount", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


VERIFY = """
const {Webhook} = require("standardwebhooks");
const cases = JSON.parse(require("fs").readFileSync(0, "utf-8"));
for (const c of cases) {
    new Webhook(c.secret).verify(c.body, c.headers);
    let refused = false;
    try { new Webhook(c.secret).verify(c.body + " ", c.headers); } catch { refused = true; }
    if (!refused) throw new Error("a changed body was taken");
}
console.log(cases.length);
"""


def test_a_public_library_accepts_the_signatures():
    if subprocess.run(["node", "-e", 'require("standardwebhooks")'], capture_output=True, check=False).returncode != 0:
        raise Skip("node or its package standardwebhooks is not there")
    with Receiver() as receiver, notified([standard(receiver.port)]) as (_, running):
        receiver.answers = [500]
        release(running, hold(running, UPDATE))
        receiver.wait_for("hold.created")
        receiver.wait_for("hold.released")
        cases = [{"secret": SECRET, "body": r["body"].decode(), "headers": r["headers"]} for r in receiver.got]
        result = subprocess.run(["node", "-e", VERIFY], input=json.dumps(cases), capture_output=True, text=True, check=False)
        equal((result.stdout.strip(), result.returncode), (str(len(cases)), 0), result.stderr)


def test_the_configuration_refuses_what_is_not_safe():
    with notified([standard(1)]) as (_, running):
        good = open(running.file, encoding="utf-8").read()
        line = next(l for l in good.splitlines() if "/hook" in l)
        for text, word in [
                ('{url: "http://hooks.example.com/T0/secret-path", format: slack}', "https:// only"),
                ('{url: "https://user:pw@hooks.example.com/secret-path", format: slack}', "without user"),
                ('{url: "https://hooks.example.com/secret-path"}', "secret"),
                ('{url: "https://hooks.example.com/secret-path", format: slack, secret: x}', "signs nothing"),
                ('{url: "https://hooks.example.com/secret-path", secret: "whsec_!!!"}', "base64"),
                ('{url: "https://hooks.example.com/secret-path", format: teams}', "standard or slack"),
                ('{url: "https://hooks.example.com/secret-path", format: slack, events: [hold.made]}', "hold.made")]:
            running.configure(good.replace(line, "  - " + text))
            result = subprocess.run([BIN, "check", "--offline", running.file], capture_output=True, text=True, check=False)
            equal(result.returncode, 1, result.stderr)
            check(word in result.stdout + result.stderr, f"{text}: {result.stdout}{result.stderr}")
            check("secret-path" not in result.stdout + result.stderr, f"the secret of {text} is shown")
        running.configure(good)


if __name__ == "__main__":
    sys.exit(main(globals()))

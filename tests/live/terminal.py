"""The approver's commands as a person and as a script meet them: on a terminal, in a pipe, over TLS."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, eventually, main
from wicket import APPROVER_SECRET, BIN, CONFIGURATION, Sender, free_port, wicket

POLICY = """
    search_path: [shop]
    introspection: allow
    hold: {wait: 1s, expire: 1h, run_within: 15m, quorum: $quorum}
    limits: {rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.orders, shop.order_items, shop.customers]
      - hold: [update, delete]
        on: [shop.orders, shop.order_items, shop.customers]
        where: required
"""
EVIL = "a\u202eb\x1b[2J\x07c\u200b\n"
ESCAPE = "\x1b["


def environment(running, **more):
    return {**os.environ, "TERM": "xterm", "PGWICKET_URL": running.url, "PGWICKET_USER": "alice",
            "PGWICKET_PASSWORD": APPROVER_SECRET, **more}


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, running, *words, columns=100, rows=30, env=None):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execve(BIN, [BIN, *map(str, words)], env or environment(running))
        self.pid, self.text, self.code = pid, "", None
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, seconds=0.2):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            self.text += data.decode("utf-8", "replace")

    def wait_for(self, word, seconds=20):
        end = time.monotonic() + seconds
        while word not in self.text:
            check(time.monotonic() < end, f"{word!r} is not on the screen:\n{self.text[-2000:]!r}")
            self.read()
        return self.text

    def last(self):
        """What was painted last."""
        return self.text.rsplit("\x1b[2J", 1)[-1]

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self, seconds=20):
        """Waits for the end of the command; its exit code."""
        end = time.monotonic() + seconds
        while True:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                self.read(0.05)
                return self.code
            check(time.monotonic() < end, f"it does not end:\n{self.text[-2000:]!r}")


def hold(running, order=5, sql=None):
    sql = sql or f"UPDATE shop.order_items SET qty = 9 WHERE order_id = {order}"
    with closing(running.connect(options="-c statement_timeout=1000")) as connection:
        sender = Sender(connection, sql).result()
    check(sender.error is not None and sender.error.pgcode == "55PW1", f"held: {sender.error}")
    return running.holds("pending")[0]


def policy(quorum=1):
    return POLICY.replace("$quorum", str(quorum))


def test_colour_is_on_terminals_only_and_no_color_is_obeyed():
    with wicket(policy()) as (_, running):
        held = hold(running)
        for words in (["holds"], ["show", held["id"]], ["status"]):
            with Screen(running, *words) as screen:
                equal(screen.end(), 0)
                check(ESCAPE in screen.text, f"{words} has no colour: {screen.text!r}")
            for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
                with Screen(running, *words, env=environment(running, **more)) as screen:
                    equal(screen.end(), 0)
                    check(ESCAPE not in screen.text, f"{words} with {more}: {screen.text!r}")
            check("\x1b" not in running.command(*words).stdout, f"{words} has colour in a pipe")


def test_a_table_fits_the_terminal_and_is_whole_in_a_pipe():
    with wicket(policy()) as (_, running):
        hold(running)
        with Screen(running, "holds", "--watch", columns=52) as screen:
            time.sleep(2.5)
            screen.read()
            lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.last()).splitlines()
            check(any("pending" in l and "…" in l for l in lines), f"a long cell is cut: {lines}")
            check(max(map(len, lines)) <= 52, f"lines fit: {lines}")
        check("update 3 in shop.order_items" in running.command("holds").stdout, "the whole text in a pipe")


def test_what_an_agent_wrote_moves_no_cursor():
    with wicket(policy()) as (database, running):
        text = EVIL.replace("'", "''")
        database.ask("GRANT SELECT, UPDATE ON shop.customers TO agent")
        database.ask(f"UPDATE shop.customers SET city = '{text}' WHERE id = 7")
        held = hold(running, sql=f"UPDATE shop.customers SET name = '{text}' WHERE id = 7")
        for words in (["show", held["id"]], ["holds"], ["release", held["id"], "--yes"]):
            with Screen(running, *words, env=environment(running, NO_COLOR="1")) as screen:
                equal(screen.end(), 0)
                for bad in ("\u202e", "\x1b", "\x07", "\u200b"):
                    check(bad not in screen.text, f"{bad!r} in {screen.text!r}")
        process, lines = lines_of(running, "holds", "--watch", "--json", "--all")
        try:
            line = eventually(lambda: lines, "the hold in a line")[0]
            check(line.isascii() and "\\u202" in line.lower(), line)
        finally:
            process.kill()
        shown = running.command("show", held["id"]).stdout
        check("\\u{202E}" in shown and "\\u{1B}" in shown, shown)


def test_release_asks_with_the_effect_and_takes_no_for_an_answer():
    with wicket(policy()) as (_, running):
        held = hold(running)
        for answer in ("n\n", "\n", "yess\n", "\x04"):
            with Screen(running, "release", held["id"]) as screen:
                screen.wait_for("Release: update 3 in shop.order_items? [y/N]")
                check("UPDATE shop.order_items" in screen.text, "the hold is shown first")
                screen.type(answer)
                equal(screen.end(), 1, repr(answer))
            equal(running.hold(held["id"])["state"], "pending")
        with Screen(running, "release", held["id"]) as screen:
            screen.wait_for("[y/N]")
            screen.type("y\n")
            equal(screen.end(), 0)
            check("is released; it may run until" in screen.text, screen.text)
        equal(running.hold(held["id"])["state"], "released")


def test_refuse_asks_for_the_reason():
    with wicket(policy()) as (_, running):
        held = hold(running)
        with Screen(running, "refuse", held["id"]) as screen:
            screen.wait_for("Reason, for the agent to read:")
            check("UPDATE shop.order_items" in screen.text, "the hold is shown first")
            screen.type("  \n")
            equal(screen.end(), 1)
        with Screen(running, "refuse", held["id"]) as screen:
            screen.wait_for("Reason, for the agent to read:")
            screen.type("wrong order\n")
            equal(screen.end(), 0)
        equal(running.hold(held["id"])["decision"]["reason"], "wrong order")


def test_the_password_is_asked_for_without_echo():
    with wicket(policy()) as (_, running):
        env = environment(running)
        del env["PGWICKET_PASSWORD"]
        for password, code in ((APPROVER_SECRET, 0), ("wrong", 1)):
            with Screen(running, "status", env=env) as screen:
                screen.wait_for("Password: ")
                time.sleep(0.2)
                screen.type(password + "\n")
                equal(screen.end(), code, screen.text)
                check(password not in screen.text, "the password is shown")


def test_watch_on_a_terminal_shows_what_changes_and_ends_with_control_c():
    with wicket(policy()) as (_, running):
        with Screen(running, "holds", "--watch") as screen:
            screen.wait_for("nothing")
            check("\x1b[?1049h" in screen.text, "it has a screen of its own")
            held = hold(running)
            screen.wait_for("update 3 in shop.order_items")
            running.command("refuse", held["id"], "--reason", "no")
            eventually(lambda: screen.read(0.2) or "nothing" in screen.last(), "the hold leaves the screen")
            screen.type("\x03")
            equal(screen.end(), 0)
            check(screen.text.endswith("\x1b[?25h\x1b[?1049l"), f"the screen is given back: {screen.text[-40:]!r}")


def lines_of(running, *words):
    """A command whose output is a pipe; its lines as they come."""
    process = subprocess.Popen([BIN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(running), stdin=subprocess.DEVNULL)
    lines = []
    threading.Thread(target=lambda: [lines.append(l) for l in process.stdout], daemon=True).start()
    return process, lines


def test_watch_in_a_pipe_has_a_line_for_each_change():
    with wicket(policy(2), configuration=CONFIGURATION.replace(
            "  alice: {", "  bob: {secret: $approver_secret}\n  alice: {")) as (_, running):
        first = hold(running, 5)
        process, lines = lines_of(running, "holds", "--watch")
        try:
            eventually(lambda: len(lines) == 1, "what is there at the start")
            second = hold(running, 6)
            eventually(lambda: len(lines) == 2, "a new hold")
            running.command("release", first["id"], "--digest", first["digest"])
            eventually(lambda: len(lines) == 3, "an approval")
            running.command("release", first["id"], "--digest", first["digest"], "--user", "bob")
            eventually(lambda: len(lines) == 4, "the release")
            running.command("refuse", second["id"], "--reason", "no")
            eventually(lambda: len(lines) == 5, "the refusal")
            time.sleep(2)
            expected = [rf"hold {first['id']} pending  agent: update 3 in shop\.order_items$",
                        rf"hold {second['id']} pending  agent: update 3 in shop\.order_items$",
                        rf"hold {first['id']} pending  agent: update 3 in shop\.order_items, approved by 1 of 2$",
                        rf"hold {first['id']} released  agent: ", rf"hold {second['id']} refused  agent: "]
            equal(len(lines), len(expected), lines)
            for line, pattern in zip(lines, expected):
                check(re.search(r"^\d\d:\d\d:\d\d UTC  " + pattern, line), f"{line!r} is not {pattern!r}")
            process.send_signal(signal.SIGINT)
            equal(process.wait(20), 0)
            equal(process.stderr.read(), "")
        finally:
            process.kill()


def test_watch_with_json_has_an_object_in_each_line_and_lives_through_a_restart():
    with wicket(policy()) as (_, running):
        process, lines = lines_of(running, "holds", "--watch", "--json", "--all")
        try:
            held = hold(running)
            eventually(lambda: len(lines) == 1, "a new hold")
            running.kill()
            time.sleep(2.5)
            running.start()
            running.command("refuse", held["id"], "--reason", "no")
            eventually(lambda: len(lines) == 2, "the refusal")
            equal([(h["id"], h["state"]) for h in map(json.loads, lines)],
                  [(held["id"], "pending"), (held["id"], "refused")])
            process.send_signal(signal.SIGTERM)
            equal(process.wait(20), 0)
            equal(process.stderr.read().count(f"{running.url}: "), 1, "the outage is told once")
        finally:
            process.kill()


def code_of(running, *words, **more):
    result = subprocess.run([BIN, *map(str, words)], capture_output=True, text=True, check=False, timeout=60,
                            stdin=subprocess.DEVNULL, env=environment(running, **more))
    check(result.returncode == 0 or result.stderr != "", f"{words} ends with {result.returncode} and says nothing")
    check(result.returncode != 2 or result.stdout == "", f"{words}: {result.stdout}")
    return result.returncode


def test_exit_codes_over_tls_with_an_authority():
    review = 'review: {address: "127.0.0.1:$review"}'
    check(review in CONFIGURATION, "the section review")
    tls = review[:-1] + ', tls: {certificate: "$folder/server.crt", key: "$folder/server.key"}}'
    with wicket(policy(), configuration=CONFIGURATION.replace(review, tls)) as (_, running):
        running.url = running.url.replace("http:", "https:")
        trusted = ["--ca", running.folder + "/server.crt"]

        def code(*words, **more):
            return code_of(running, *words, *trusted, **more)

        with closing(running.connect(options="-c statement_timeout=1000")) as connection:
            Sender(connection, "UPDATE shop.order_items SET qty = 9 WHERE order_id = 5").result()
        shown = subprocess.run([BIN, "show", "1", "--json", *trusted], capture_output=True, text=True, check=True,
                               env=environment(running))
        digest = json.loads(shown.stdout)["digest"]
        away = f"https://127.0.0.1:{free_port()}"
        for words, expected in [
                (["status"], 0), (["holds"], 0), (["holds", "--json"], 0), (["show", 1], 0), (["health"], 0),
                (["show", 99], 1), (["release", 99, "--yes"], 1), (["refuse", 99, "--reason", "x"], 1),
                (["pause", "nobody"], 1), (["resume", "nobody"], 1), (["holds", "--state", "red"], 1),
                (["release", 1, "--digest", "0" * 64], 1),
                (["show"], 2), (["show", "x"], 2), (["show", 0], 2), (["show", 1, "--red"], 2), (["holds", "1"], 2),
                (["holds", "--all", "--state", "pending"], 2), (["holds", "--watch", "--after", 3], 2),
                (["release", 1], 2), (["release", 1, "--digest", "abc"], 2), (["refuse", 1], 2), (["pause"], 2),
                (["status", "--url", away], 3), (["show", 1, "--url", away], 3), (["holds", "--watch", "--url", away], 3),
                (["release", 1, "--digest", digest, "--url", away], 3), (["pause", "agent", "--url", away], 3),
                (["refuse", 1, "--reason", "x", "--url", away], 3), (["health", "--url", away], 3),
                (["pause", "agent"], 0), (["resume", "agent"], 0),
                (["release", 1, "--digest", digest], 0), (["release", 1, "--digest", digest], 1)]:
            equal(code(*words), expected, str(words))
        equal(code_of(running, "status"), 3, "a certificate that nobody vouches for")
        equal(code("status", PGWICKET_PASSWORD="wrong"), 1)
        equal(code("holds", "--watch", PGWICKET_PASSWORD="wrong"), 1)
        equal(code_of(running, "status", "--url", "http://127.0.0.1.example.com:1"), 2, "a password in the clear")


if __name__ == "__main__":
    sys.exit(main(globals()))

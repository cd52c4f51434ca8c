"""A cancel, a client that goes, a backend that ends, a server that crashes, at each step of a held statement: what a hold's
state says is true of the database, nothing is committed twice or unreleased, nobody waits for a person after a cancel, and
nothing is left open on the server.

A relay between pgwicket and a server of its own stops at one message of the conversation, in either direction, until
something has happened. A held INSERT without a key shows how often it was committed."""
import os
import random
import re
import socket
import sqlite3
import struct
import sys
import threading
import time
import urllib.error

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, eventually, main
from relay import Relay, Server
from wicket import AGENT_SECRET, Wicket

LONG = bool(os.environ.get("PGWICKET_LONG"))
SEED = int(os.environ.get("PGWICKET_SEED", time.time_ns() % 10**6))
BUSY_SECONDS = 1 # the store waits so long for a lock
WAIT_SECONDS = 8 # for a person; who is cancelled must not wait so long
POLICY = f"""
    search_path: [k]
    hold: {{wait: {WAIT_SECONDS}s, expire: 1h, run_within: 1h}}
    limits: {{sessions: unlimited, pending: unlimited, waiting: unlimited, rehearsals_per_minute: unlimited}}
    rules:
      - hold: [insert]
        on: [k.ledger]
      - allow: [insert]
        on: [k.mark]
"""
SCHEMA = """
CREATE ROLE agent LOGIN PASSWORD 'agent-password';
CREATE SCHEMA k; GRANT USAGE ON SCHEMA k TO agent;
CREATE TABLE k.ledger (run text); CREATE TABLE k.mark (run text);
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA k TO agent;
"""
# How it is sent; "later": by EXECUTE pgwicket_hold(N) once it is released; "join": again, while it waits.
MODES = ("query", "extended", "copy", "fresh", "used", "later", "join", "fresh extended", "used extended")
OPEN = """SELECT pid, state, query FROM pg_stat_activity WHERE usename = 'agent' AND (xact_start IS NOT NULL OR pid IN
          (SELECT pid FROM pg_locks WHERE relation = 'k.ledger'::regclass))"""

server = relay = running = None
stop = None # the Stop of the run that is on


class Stop:
    """The relay waits at the nth message of one way, or at none, and notes what passes."""

    def __init__(self, way="", nth=-1):
        self.way, self.nth = way, nth
        self.passed = {">": [], "<": []}
        self.begun, self.pair = False, None
        self.reached, self.go_on = threading.Event(), threading.Event()

    def see(self, pair, label, when):
        if not self.begun or when != "before":
            return
        way = label[0]
        self.pair = pair
        self.passed[way].append(label)
        if way == self.way and len(self.passed[way]) - 1 == self.nth:
            self.reached.set()
            self.go_on.wait(60)


class Agent(threading.Thread):
    """Sends one held statement as its mode has it; whenever it is told of a hold, a person releases that."""

    def __init__(self, name, mode):
        super().__init__(daemon=True)
        self.name, self.mode = name, mode
        self.tags, self.codes, self.told, self.closed, self.hold = [], [], [], False, None
        self.connection = pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET, application_name="steps")
        self.insert = f"INSERT INTO k.ledger (run) VALUES ('{name}')"

    def run(self):
        try:
            for step in self.steps():
                if not self.take(step):
                    return
        except (pgwire.Closed, OSError):
            self.closed = True

    def steps(self):
        used = ["BEGIN", f"INSERT INTO k.mark (run) VALUES ('{self.name}')", self.insert]
        yield from {"copy": ["COPY k.ledger (run) FROM STDIN"], "fresh": ["BEGIN", self.insert, "COMMIT"],
                    "used": [*used, "ROLLBACK", *used, "COMMIT"], "join": [*used, "ROLLBACK", self.insert],
                    "later": [*used, "ROLLBACK"]}.get(self.mode.split()[0], [self.insert])
        if self.mode == "later":
            yield f"EXECUTE pgwicket_hold({self.hold})"

    def take(self, sql):
        """False: an error that ends it."""
        if "extended" in self.mode:
            self.connection.send(pgwire.parse(sql), pgwire.bind(), pgwire.describe(), pgwire.execute(), pgwire.SYNC)
        else:
            self.connection.send(pgwire.query(sql))
        failed = None
        while True:
            answer = self.connection.read()
            if answer.kind == "G":
                self.connection.send(pgwire.message("d", self.name.encode() + b"\n"), pgwire.message("c"))
            elif answer.kind == "N":
                self.is_held(answer.fields()["M"], True)
            elif answer.kind == "C":
                self.tags.append(answer.tag())
            elif answer.kind == "E":
                failed = answer.fields()
                self.codes.append(failed["C"])
                self.told.append(failed["M"])
            elif answer.kind == "Z":
                break
        held = failed is not None and failed["C"] == "55PW1" and self.hold is None
        if held:
            self.is_held(failed["M"], self.mode != "join")
        return failed is None or held

    def is_held(self, words, released):
        found = re.search(r"as hold (\d+)", words)
        if found:
            self.hold = int(found[1])
        if found and released:
            release(self.hold)

    # --- what may happen to it

    def goes(self):
        self.connection.socket.shutdown(socket.SHUT_RDWR)

    def says_goodbye(self):
        self.connection.send(pgwire.TERMINATE)
        self.connection.socket.shutdown(socket.SHUT_WR)

    def is_reset(self):
        raw = self.connection.socket
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        socket.socket(fileno=os.dup(raw.fileno())).close()
        os.close(raw.detach())


def cancel(agent):
    agent.connection.cancel()


def terminate(_):
    server.ask(f"SELECT pg_terminate_backend({stop.pair.pid}, 5000)")


def crash(_):
    server.kill()
    server.resume()


def nothing(_):
    pass


HAPPENINGS = {"nothing": nothing, "cancel": cancel, "gone": Agent.goes, "goodbye": Agent.says_goodbye, "reset": Agent.is_reset,
              "terminated": terminate, "cut": lambda _: stop.pair.cut(), "crash": crash}


def api(path, **body):
    try:
        return running.api(path, **body)
    except urllib.error.HTTPError as error:
        return {"code": error.code}


def release(hold):
    """The store may be out of order for a moment."""
    def released():
        shown = api(f"holds/{hold}")
        if shown.get("state") == "pending":
            shown = api(f"holds/{hold}/release", digest=shown["digest"])
        return shown.get("state") not in (None, "pending") or shown.get("code") == 409

    eventually(released, f"hold {hold} is released")


def rows_of(name, table="ledger"):
    return server.value(f"SELECT count(*) FROM k.{table} WHERE run = '{name}'")


# --- one run

numbers = iter(range(10**9))


class Locked:
    """Nobody else can write the store."""

    def __enter__(self):
        self.store = sqlite3.connect(running.folder + "/holds.db", isolation_level=None, timeout=5)
        self.store.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_):
        self.store.execute("ROLLBACK")
        self.store.close()


def happen(happening, agent, store):
    """At once; or while what follows waits for the store, which is slow, or fails."""
    if not store:
        HAPPENINGS[happening](agent)
        return
    with Locked():
        stop.go_on.set()
        time.sleep(0.1)
        HAPPENINGS[happening](agent)
        time.sleep(0.1 if store == "slow" else BUSY_SECONDS + 0.3)


def run(mode, way="", nth=-1, happening=None, store=""):
    """What passed; the relay stops at the nth message of that way, and something happens."""
    global stop # pylint: disable=global-statement
    name = f"{mode}-{next(numbers)}-{SEED}"
    newest = max([h["id"] for h in running.holds()], default=0)
    stop = Stop(way, nth)
    agent = Agent(name, mode)
    stop.begun = True
    agent.start()
    if happening is not None:
        check(stop.reached.wait(20), f"{mode}: it never came to message {nth} of {way}")
        happen(happening, agent, store)
    stop.go_on.set()
    since = time.monotonic()
    agent.join(30)
    took = time.monotonic() - since
    what = f"{mode}, {happening}{store and f', store {store}'} before {way}{nth}: {agent.tags} {agent.codes} {agent.told}"
    check(not agent.is_alive(), f"no end: {what}")
    if happening == "cancel":
        check(took < WAIT_SECONDS / 2, f"waited {took:.1f} s after a cancel: {what}")
    judge(name, mode, happening, agent, newest, what)
    return stop.passed


def settled(newest):
    holds = [h for h in running.holds() if h["id"] > newest]
    return holds if all(h["state"] != "running" for h in holds) else None


def judge(name, mode, happening, agent, newest, what):
    if happening == "cancel" and not agent.closed:
        equal(agent.connection.run(pgwire.query("ROLLBACK"))[-1].kind, "Z", f"the session goes on: {what}")
    agent.connection.socket.close()
    eventually(lambda: not server.ask(OPEN), f"nothing is open on the server: {what}: {server.ask(OPEN)}", 20)
    eventually(lambda: settled(newest) is not None, f"an end of running: {what}", 20)
    holds = settled(newest)
    states = [h["state"] for h in holds]
    what += f" {states}"
    rows = rows_of(name)
    what += f" rows {rows}"
    check(len(holds) <= 1, f"more holds than one: {what}")
    check(rows <= len([h for h in holds if h["state"] in ("executed", "unknown")]), f"committed, but not by a hold: {what}")
    check(states != ["executed"] or rows == 1, f"executed, but nothing is there: {what}")
    check(set(states) <= {"pending", "released", "executed", "failed", "unknown"}, f"another state: {what}")
    if "unknown" in states:
        equal(happening, "crash", f"unknown: {what}")
    if mode.startswith("used"):
        equal(rows_of(name, "mark"), rows, f"a half of a transaction: {what}")
    told = {"fresh": "COMMIT" in agent.tags, "used": "COMMIT" in agent.tags, "later": len(agent.tags) > 3,
            "join": len(agent.tags) > 3}.get(mode.split()[0], bool(agent.tags))
    check(not told or rows == 1, f"told, but not done: {what}")
    if happening is None:
        equal((states, rows, agent.closed), (["executed"], 1, False), what)
    finish(name, holds, what)


def finish(name, holds, what):
    """What is still open runs, once; what is over does not run."""
    for hold in holds:
        release(hold["id"])
        with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as again:
            before = rows_of(name)
            for _ in range(2):
                answers = again.run(pgwire.query(f"EXECUTE pgwicket_hold({hold['id']})"))
            equal([e["C"] for e in pgwire.errors(answers)], ["55PW5"], f"run again: {what}")
            again_open = hold["state"] in ("pending", "released")
            equal((before, rows_of(name)), (0, 1) if again_open else (before, before), f"afterwards: {what}")


# --- the walk

def worth(way, label):
    """A message before which something is different."""
    return label[1] in ("PESQdc" if way == ">" else "CDZEGT")


passed_by = {}


def points(mode, store):
    """With a store that is slow or fails: before what may lead to a request to it."""
    passed = passed_by[mode] = passed_by.get(mode) or run(mode)
    return [(way, n, label) for way in "><" for n, label in enumerate(passed[way])
            if (label[:2] in ("<Z", "<D", "<C") if store else worth(way, label))]


def walk(mode, happening, store, so_many):
    places = points(mode, store)
    chosen = places if LONG else random.Random(f"{SEED}{mode}{happening}").sample(places, so_many)
    problems = []
    for way, nth, label in chosen:
        try:
            run(mode, way, nth, happening, store)
        except AssertionError as problem:
            problems.append(f"{label} {problem}")
            print(f"     {problems[-1]}", flush=True)
    print(f"     {mode}: {len(chosen)} of {len(places)} steps", flush=True)
    check(not problems, f"{mode}: {len(problems)} of {len(chosen)}")


def tests():
    """(name, walks): each happening in each mode, at each step; without --long in one of them, at some."""
    chance = random.Random(SEED)
    short = {"": 1, "slow": 1, "fails": 0}
    for happening in HAPPENINGS:
        for store in ("", "slow", "fails"):
            if (happening == "nothing" and store != "fails") or (happening == "crash" and store):
                continue
            modes = MODES if LONG else [chance.choice(MODES)]
            steps = 1 if happening in ("nothing", "crash") else short[store]
            if LONG or steps:
                yield f"{happening}{store and f' store {store}'}", [(mode, happening, store, steps) for mode in modes]


def walks(all_of_them):
    def test():
        for arguments in all_of_them:
            walk(*arguments)
    return test


if __name__ == "__main__":
    print(f"     seed {SEED}")
    server = Server(SCHEMA)
    try:
        relay = Relay(server.port, lambda *seen: stop and stop.see(*seen), [b"application_name\0steps\0"])
        upstream = (f"host=127.0.0.1 port={relay.port} dbname=postgres user=agent password=agent-password sslmode=disable")
        with Wicket(server, POLICY, upstream=upstream) as running:
            wanted = os.environ.get("PGWICKET_STEPS", "")
            code = main(globals(), [(name, walks(what)) for name, what in tests() if wanted in name])
    finally:
        server.stop()
    sys.exit(code)

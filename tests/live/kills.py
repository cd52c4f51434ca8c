"""kill -9 of pgwicket, of a backend and of the whole PostgreSQL server, at every step of hold, release and run, and of what
follows: nothing is committed twice or unreleased, no hold is lost, and each state is true of the database.

A relay between pgwicket and a server of its own sees each message; one of them, or a moment a little after it, is the one
at which something is killed. A held INSERT without a key shows how often it was committed."""
import collections
import os
import random
import re
import signal
import sys
import threading
import time
import urllib.error

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import psycopg2

from live import check, equal, eventually, main
from relay import Relay, Server
from wicket import Wicket

LONG = bool(os.environ.get("PGWICKET_LONG"))
RUNS = int(os.environ.get("PGWICKET_KILLS", "200" if LONG else "2"))
LANES = 3 if LONG else 1
SEED = int(os.environ.get("PGWICKET_SEED", time.time_ns() % 10**6))
POLICY = """
    search_path: [k]
    hold: {wait: 20s, expire: 1h, run_within: 1h}
    limits: {sessions: unlimited, pending: unlimited, waiting: unlimited, rehearsals_per_minute: unlimited}
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
CREATE FUNCTION k.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_sleep(0.02); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON k.ledger DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION k.slow();
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA k TO agent;
"""
MODES = ("autocommit", "fresh", "used")
MARKS = (b"k.ledger", b"current_setting('DateStyle')", b"pg_xact_status")
VICTIMS = ("pgwicket", "pgwicket", "backend", "server", "both")


class Plan:
    """What is killed, and when: at the nth event, or at the first one of this label, and a little later."""

    def __init__(self, chance, longest):
        self.victim = chance.choice(VICTIMS)
        self.mode = chance.choice(MODES)
        self.label, self.when, self.nth = None, None, chance.randrange(longest)
        if chance.random() < 0.5:
            self.label, self.when = chance.choice((
                ("[>][SQ] COMMIT", "before"), ("[>][SQ] COMMIT", "after"), ("<C COMMIT", "before"), ("<C COMMIT", "after"),
                ("<Z COMMIT", "before"), ("<Z COMMIT", "after"), (">E COMMIT", "after"), ("<D SELECT pg_catalog.pg_current_x", "after"),
                ("> pending", "after"), ("> release", "before"), ("> release", "after"), ("<Z ROLLBACK", "after"),
                (">E INSERT INTO", "after"), ("<C SET CONSTRAINTS", "after")))
        self.delay = chance.choice((0, 0, chance.random() * 0.005, chance.random() * 0.05))
        self.again = chance.random() < 0.25 # once more, while what is left of it is looked at
        self.again_after = chance.random() * 0.8

    def is_now(self, number, label, when):
        if self.label is not None:
            return re.match(self.label, label) and when == self.when
        return number == self.nth


class Lane:
    """A server, a relay, a pgwicket, and one run after the other."""

    def __init__(self, chance):
        self.chance, self.lock = chance, threading.Lock()
        self.server = Server(SCHEMA)
        self.relay = Relay(self.server.port, self.see, MARKS)
        self.upstream = (f"host=127.0.0.1 port={self.relay.port} dbname=postgres user=agent password=agent-password "
                         "sslmode=disable")
        self.running = Wicket(self, POLICY)
        self.plan, self.number, self.longest, self.killed = None, 0, 60, threading.Event()
        self.where = collections.Counter()

    # --- killing

    def see(self, pair, label, when):
        with self.lock:
            plan = self.plan
            if plan is None:
                return
            self.number += 1
            if not plan.is_now(self.number, label, when):
                return
            self.plan = None
        time.sleep(plan.delay)
        self.kill(plan, pair.pid if pair else 0, f"{when} {label}")

    def kill(self, plan, pid, where):
        if plan.victim in ("pgwicket", "both"):
            self.running.process.kill()
            self.running.process.wait()
        if plan.victim in ("server", "both"):
            self.server.kill()
        if plan.victim == "backend":
            self.kill_backend(pid)
        self.where[f"{plan.victim:8} {where}"] += 1
        self.killed.set()

    def kill_backend(self, pid):
        try:
            pid = pid or self.server.ask("SELECT max(pid) FROM pg_stat_activity WHERE usename = 'agent'")[0][0]
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                return
        except (OSError, psycopg2.Error):
            return
        self.running.process.kill() # there is none; it must be seen to be dead by who starts it again
        self.running.process.wait()

    def mend(self):
        """What was killed runs again."""
        if self.server.is_dead():
            self.server.resume()
        eventually(self.is_up, "the server is up")
        if self.running.process is None or self.running.process.poll() is not None:
            self.running.process = None
            self.running.start()

    def mend_and_kill_again(self, plan):
        """pgwicket is killed while it starts, or asks for transactions, and perhaps the server while it recovers."""
        def mend():
            try:
                self.mend()
            except AssertionError:
                pass # killed at its start

        mending = threading.Thread(target=mend, daemon=True)
        mending.start()
        time.sleep(plan.again_after)
        process = self.running.process
        if process is not None:
            process.kill()
            process.wait()
            self.where["pgwicket again, during the recovery"] += 1
        mending.join(60)

    def is_up(self):
        """Others use the server at once, too, and with it transaction ids that it gave before and has forgotten."""
        try:
            return self.server.ask("DO $$ BEGIN FOR n IN 1..30 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$") is None
        except psycopg2.OperationalError:
            return False

    # --- the agent and the approver

    def agent(self, name, mode, seen):
        """Sends it, and sends it again until its hold has an end, as the messages say."""
        sql = f"INSERT INTO k.ledger (run) VALUES ('{name}')"
        until = time.monotonic() + 40
        while time.monotonic() < until and not seen["end"]:
            try:
                connection = self.running.connect(autocommit=mode == "autocommit")
            except psycopg2.OperationalError:
                time.sleep(0.05)
                continue
            try:
                cursor = connection.cursor()
                if mode == "used":
                    cursor.execute(f"INSERT INTO k.mark (run) VALUES ('{name}')")
                cursor.execute(f"EXECUTE pgwicket_hold({seen['hold']})" if seen["hold"] and mode != "used" else sql)
                if mode != "autocommit":
                    connection.commit()
                seen["told"] += 1
                seen["end"] = True
            except psycopg2.Error as error:
                seen["codes"].append(f"{error.pgcode}")
                found = re.search(r"hold (\d+)", str(error))
                if found and seen["hold"] is None:
                    seen["hold"] = int(found[1])
                if error.pgcode == "55PW5" and "running" not in str(error):
                    seen["end"] = True
                time.sleep(0.05)
            finally:
                try:
                    connection.close()
                except psycopg2.Error:
                    pass
        seen["end"] = True

    def api(self, path, **body):
        try:
            return self.running.api(path, **body)
        except urllib.error.HTTPError as error:
            return {"code": error.code}
        except OSError:
            return None

    def holds_of(self, name):
        answer = eventually(lambda: self.api("holds"), "the review listener answers", 60)
        return [h for h in answer["holds"] if f"'{name}'" in h["statement"]]

    def approver(self, name, seen):
        """Releases the first hold of it, once, after it was pending for a moment."""
        wait = self.chance.random() * 0.1
        while not seen["end"]:
            answer = self.api("holds?state=pending")
            hold = next((h for h in (answer or {}).get("holds", []) if f"'{name}'" in h["statement"]), None)
            if hold is None or (seen["released"] and hold["id"] not in seen["released"]):
                time.sleep(0.03)
                continue
            seen["hold"] = hold["id"]
            self.see(None, "> pending", "after")
            time.sleep(wait)
            try:
                seen["early"] += self.count("ledger", name) if not seen["released"] else 0
            except psycopg2.Error:
                pass
            seen["released"].add(hold["id"])
            self.see(None, "> release", "before")
            self.api(f"holds/{hold['id']}/release", digest=hold["digest"])
            self.see(None, "> release", "after")

    def count(self, table, run):
        return self.server.value(f"SELECT count(*) FROM k.{table} WHERE run = '{run}'")

    # --- one run

    def run(self, number):
        plan, name = Plan(self.chance, self.longest), f"run{number}"
        seen = {"hold": None, "released": set(), "told": 0, "early": 0, "codes": [], "end": False}
        self.killed.clear()
        with self.lock:
            self.plan, self.number = plan, 0
        threads = [threading.Thread(target=self.agent, args=(name, plan.mode, seen), daemon=True),
                   threading.Thread(target=self.approver, args=(name, seen), daemon=True)]
        for thread in threads:
            thread.start()
        for _ in range(400):
            if self.killed.wait(0.02) or seen["end"]:
                break
        with self.lock:
            late, self.plan = self.plan, None
            self.longest = max(self.longest, self.number)
        if late is not None:
            self.kill(plan, 0, "at the end")
        check(self.killed.wait(20), "nothing was killed")
        if plan.again:
            self.mend_and_kill_again(plan)
        self.mend()
        for thread in threads:
            thread.join(70)
            check(not thread.is_alive(), f"{name}: no end: {seen}")
        self.judge(name, plan, seen)

    def judge(self, name, plan, seen):
        what = f"{name} {plan.mode} {plan.victim} {plan.label or plan.nth} {plan.when}: {seen}"
        eventually(lambda: all(h["state"] != "running" for h in self.holds_of(name)), f"an end of running: {what}", 20)
        holds = self.holds_of(name)
        rows, states = self.count("ledger", name), collections.Counter(h["state"] for h in holds)
        what += f" {dict(states)} rows {rows}"
        equal(seen["early"], 0, f"committed before it was released: {what}")
        check(seen["released"] <= {h["id"] for h in holds}, f"a hold is lost: {what}")
        check(rows <= len(seen["released"]), f"more often than released: {what}")
        check(states["executed"] <= rows <= states["executed"] + states["unknown"], f"a state is not true: {what}")
        check(seen["told"] <= rows, f"told, but not done: {what}")
        if plan.mode == "used":
            equal(self.count("mark", name), rows, f"a half of a transaction: {what}")
        check(set(states) <= {"pending", "executed", "unknown"}, f"other ends: {what}")
        check(rows == 1 or states["unknown"] or states["pending"], f"it never ran: {what}")


def test_nothing_is_lost_doubled_or_untrue():
    print(f"     seed {SEED}, {RUNS} kills in {LANES} lanes", flush=True)
    problems, where, left = [], collections.Counter(), iter(range(RUNS))

    def work(number):
        lane = Lane(random.Random(SEED * 100 + number))
        try:
            with lane.running:
                for run in left:
                    try:
                        lane.run(run)
                    except Exception as problem:  # pylint: disable=broad-except
                        problems.append(f"run {run}: {problem!r}")
                        print(f"     {problems[-1]}", flush=True)
                        lane.mend()
                    if run % 20 == 19:
                        print(f"     {run + 1} of {RUNS}", flush=True)
        except Exception as problem:  # pylint: disable=broad-except
            problems.append(f"lane {number}: {problem!r}")
        finally:
            where.update(lane.where)
            lane.server.stop()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(LANES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place, count in sorted(where.items()):
        print(f"     {count:3} {place}")
    check(not problems, f"{len(problems)}:\n" + "\n".join(problems))
    check(sum(where.values()) >= RUNS, "kills")


if __name__ == "__main__":
    sys.exit(main(globals()))

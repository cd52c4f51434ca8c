"""pgbench's own mix of reads and writes through rules with limits: every transaction is there once."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from live import check, equal, main
from wicket import AGENT_SECRET, SERVER_PORT, SERVER_SOCKET, wicket

POLICY = """
    search_path: [public]
    rules:
      - allow: [select]
        on: ["public.pgbench_*"]
        max_rows: 1000
      - allow: [update]
        on: ["public.pgbench_*"]
        where: $where
        max_rows: 1
      - allow: [insert]
        on: [public.pgbench_history]
        max_rows: 1
"""
CLIENTS, TRANSACTIONS = 4, 50

# pgbench's mix with conditions that fix no key as far as can be proved: each update is counted as it happens.
COUNTED = r"""
\set aid random(1, 100000)
\set bid random(1, 4)
\set tid random(1, 40)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid >= :aid AND aid <= :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid >= :tid AND tid <= :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid >= :bid AND bid <= :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""


def mix(where, arguments):
    with wicket(POLICY.replace("$where", where)) as (database, running):
        subprocess.run(["pgbench", "-i", "-s", "4", "-q", "-h", SERVER_SOCKET, "-p", SERVER_PORT, "-U", "postgres",
                        database.name], check=True, capture_output=True)
        database.ask("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO agent")
        environment = {**os.environ, "PGPASSWORD": AGENT_SECRET, "PGSSLMODE": "disable"}
        done = 0
        for mode in ("simple", "extended", "prepared"):
            result = subprocess.run(["pgbench", "-n", "-M", mode, "-c", str(CLIENTS), "-t", str(TRANSACTIONS), "-h",
                                     "127.0.0.1", "-p", str(running.port), "-U", "agent", *arguments(running), "shop"],
                                    capture_output=True, text=True, env=environment, timeout=120, check=False)
            equal(result.returncode, 0, f"{mode}: {result.stderr}")
            found = re.search(r"actually processed: (\d+)/(\d+)", result.stdout)
            check(found and found[1] == found[2], f"{mode}: {result.stdout}")
            done += int(found[1])
        equal(done, 3 * CLIENTS * TRANSACTIONS)
        (accounts, tellers, branches, history, count), = database.ask(
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), "
            "(SELECT sum(bbalance) FROM pgbench_branches), sum(delta), count(*) FROM pgbench_history")
        equal((accounts, tellers, branches), (history, history, history), "the sums")
        equal(count, done, "rows of the history")


def test_limits_proved_by_the_text_lose_nothing():
    mix("key", lambda running: [])


def test_limits_counted_on_what_happens_lose_nothing():
    def script(running):
        with open(running.folder + "/counted.sql", "w", encoding="utf-8") as file:
            file.write(COUNTED)
        return ["-f", running.folder + "/counted.sql"]

    mix("required", script)


if __name__ == "__main__":
    sys.exit(main(globals()))

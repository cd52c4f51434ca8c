"""Dashboards and alerts: a real Prometheus scrapes a pgwicket at work and answers every panel's query; the
fields that the audit log's dashboard reads are in real records; promtool accepts the rules and their tests.
"""
import contextlib
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from live import check, equal, eventually, main
from metrics import page
from wicket import AGENT_SECRET, CONFIGURATION, Sender, free_port, wicket

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DEPLOY = os.path.join(TOP, "deploy")
POLICY = """
    search_path: [shop]
    hold: {wait: 20s, expire: 1h}
    limits: {rehearsals_per_minute: unlimited}
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders, shop.order_items]
        max_rows: 20
      - allow: [update]
        on: [shop.orders]
        where: required
        max_rows: 3
      - hold: [delete]
        on: [shop.order_items]
        where: required
"""

database = running = None


def dashboard(name):
    with open(f"{DEPLOY}/grafana/dashboards/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def queries(name):
    """(panel's title, query) of all panels."""
    return [(panel["title"], target["expr"]) for panel in dashboard(name)["panels"]
            for target in panel.get("targets", [])]


@contextlib.contextmanager
def prometheus():
    """The address of a Prometheus that scrapes the pgwicket each second."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="pgwicket-prometheus-") as folder:
        with open(folder + "/prometheus.yml", "w", encoding="utf-8") as file:
            file.write(f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n"
                       f"rule_files: [{os.path.abspath(DEPLOY)}/prometheus/alerts.yml]\n"
                       f"scrape_configs:\n  - job_name: pgwicket\n    static_configs:\n"
                       f"      - targets: ['127.0.0.1:{running.review}']\n")
        with open(folder + "/log", "wb") as log:
            process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml",
                                        f"--storage.tsdb.path={folder}/data",
                                        f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def ask(url, path, **parameters):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=20) as answer:
        return json.load(answer)["data"]


def values(url, expression):
    """Numbers of the answer, NaN left out."""
    result = ask(url, "query", query=expression)["result"]
    return [float(r["value"][1]) for r in result if not math.isnan(float(r["value"][1]))]


def one_round(session):
    for sql in ("SELECT id FROM customers WHERE id < 9", "UPDATE shop.orders SET notes = 'x' WHERE id BETWEEN 7 AND 8",
                "DELETE FROM shop.customers", "SELEC", "BEGIN", "COMMIT"):
        session.run(pgwire.query(sql))


def work(stop):
    while not stop.is_set():
        with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as session:
            one_round(session)
        time.sleep(0.2)


def decide_a_hold(order, verb):
    connection = running.connect()
    sender = Sender(connection, f"DELETE FROM shop.order_items WHERE order_id = {order}")
    hold = eventually(lambda: running.holds("pending"), "a hold")[0]
    extra = ["--reason", "not now"] if verb == "refuse" else []
    running.command(verb, hold["id"], "--digest", hold["digest"], *extra)
    sender.result()
    connection.close()


@contextlib.contextmanager
def traffic():
    """Statements of every kind while the block runs. The first ones are there before."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=[stop])
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def is_scraped(url):
    try:
        return values(url, 'up{job="pgwicket"}') == [1]
    except urllib.error.URLError:
        return False  # not listening yet


def filled_in(expression):
    for variable, value in (("$__rate_interval", "10s"), ("$__range", "1h"), ("$instance", ".*"), ("$policy", ".*"),
                            ("$agent", ".*"), ("[1h]", "[60s]")):
        expression = expression.replace(variable, value)
    check("$" not in expression, f"a variable that is not known: {expression}")
    return expression


def test_a_real_prometheus_answers_every_panel_with_data():
    orders = [r[0] for r in database.ask("SELECT order_id FROM shop.order_items GROUP BY 1 ORDER BY 1 LIMIT 2")]
    with prometheus() as url, traffic():
        eventually(lambda: is_scraped(url), "a first scrape", 60)
        for order, verb in zip(orders, ("release", "refuse")):
            decide_a_hold(order, verb)
        asked = queries("pgwicket")
        check(len(asked) > 30, "queries")
        empty = {}

        def all_answered():
            empty.clear()
            empty.update({title: q for title, q in asked if not values(url, filled_in(q))})
            return not empty
        with contextlib.suppress(AssertionError):
            eventually(all_answered, "data for all panels", 60)
        equal(empty, {}, "panels without data")
        rules = ask(url, "rules")["groups"][0]["rules"]
        equal([r["name"] for r in rules if r["health"] != "ok"], [], "alerts that cannot be evaluated")
        # The certificate of the test is good for three days.
        equal([r["name"] for r in rules if r["state"] == "firing"], ["PgwicketCertificateExpires"], "alerts")


def test_every_metric_is_on_the_dashboard():
    used = set(re.findall(r"pgwicket_[a-z_]+", " ".join(q for _, q in queries("pgwicket"))))
    described = set(re.findall(r"^# TYPE (\S+)", page(running.url).text, re.M))
    equal(described - {re.sub("_bucket$", "", name) for name in used}, set(), "metrics that no panel shows")


FIELD = re.compile(r'(\w+)="\[\\"([^"\\]+)\\"\]"')


def test_what_the_dashboard_of_the_audit_log_reads_is_in_real_records():
    with pgwire.Connection("127.0.0.1", running.port, "agent", AGENT_SECRET) as session:
        one_round(session)
        session.run(pgwire.query("INSERT INTO shop.orders VALUES (1)"))  # no rule: the nearest is another verb's
        session.run(pgwire.query("UPDATE shop.orders SET notes = 'x'"))  # the nearest rule is named
    orders = [r[0] for r in database.ask("SELECT order_id FROM shop.order_items GROUP BY 1 ORDER BY 1 DESC LIMIT 1")]
    decide_a_hold(orders[0], "refuse")
    records = running.audit()
    keys = set().union(*records)
    events = {record["event.name"] for record in records}
    for title, query in queries("pgwicket-audit"):
        fields = FIELD.findall(query)
        check(fields, f"{title}: no field")
        equal([full for _, full in fields if full not in keys], [], f"{title}: fields that no record has")
        names = {short for short, _ in fields}
        filtered = re.findall(r"\| (\w+) ?(?:=~|=|!=)\"", query.split("| json", 1)[1].split("]\" |", 1)[-1])
        shown = re.findall(r"\{\{\.(\w+)\}\}", query)
        grouped = [n.strip() for group in re.findall(r"by \(([^)]*)\)", query) for n in group.split(",")]
        equal([n for n in filtered + shown + grouped if n not in names], [], f"{title}: labels that it does not make")
        for event in re.findall(r'event=~?"([a-z.|]+)"', query):
            equal([e for e in event.split("|") if e not in events], [], f"{title}: events that do not happen")
        for left, right in ("()", "{}", "[]"):
            equal(query.count(left), query.count(right), f"{title}: {left}{right}")


def test_dashboards_are_whole():
    for path in glob.glob(f"{DEPLOY}/grafana/dashboards/*.json"):
        with open(path, encoding="utf-8") as file:
            board = json.load(file)
        panels = board["panels"]
        ids = [panel["id"] for panel in panels]
        equal(len(ids), len(set(ids)), f"{path}: numbers of panels")
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            check(place["x"] + place["w"] <= 24 and not cells & taken, f"{path}: {panel['title']} lies on another")
            taken |= cells
        known = {f"${{{v['name']}}}" for v in board["templating"]["list"] if v["type"] == "datasource"}
        used = {panel["datasource"]["uid"] for panel in panels if "datasource" in panel}
        equal(used - known, set(), f"{path}: data sources")


def promtool(*arguments):
    result = subprocess.run(["promtool", *arguments], cwd=f"{DEPLOY}/prometheus", capture_output=True, text=True,
                            check=False)
    equal(result.returncode, 0, f"promtool {arguments}: {result.stdout}{result.stderr}")


def test_promtool_accepts_rules_their_tests_and_the_configuration():
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts_test.yml")
    promtool("check", "config", "prometheus.yml")


def test_every_alert_has_a_test():
    with open(f"{DEPLOY}/prometheus/alerts.yml", encoding="utf-8") as file:
        alerts = set(re.findall(r"alert: (\w+)", file.read()))
    with open(f"{DEPLOY}/prometheus/alerts_test.yml", encoding="utf-8") as file:
        tested = set(re.findall(r"alertname: (\w+)", file.read()))
    equal(alerts, tested)


if __name__ == "__main__":
    with wicket(POLICY, configuration=CONFIGURATION) as (database, running):
        code = main(globals())
    sys.exit(code)

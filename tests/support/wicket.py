"""wicket - databases for one test, and a pgwicket in front of them.

Finds the program in PGWICKET_BIN and the server by PGWICKET_TEST_*, which tests/run sets.
"""
import base64
import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import string
import subprocess
import tempfile
import threading
import time
import urllib.request

import psycopg2

from live import check

BIN = os.environ.get("PGWICKET_BIN", "pgwicket")
SERVER_PORT = os.environ.get("PGWICKET_TEST_PORT", "")
SERVER_SOCKET = os.environ.get("PGWICKET_TEST_SOCKET", "")
AGENT_SECRET = "agent-secret"
APPROVER_SECRET = "alice-secret"
START_SECONDS = 30

CONFIGURATION = """
listen:
  address: ["127.0.0.1:$port", "unix:$folder"]
  tls: {certificate: "$folder/server.crt", key: "$folder/server.key", mode: prefer}
review: {address: "127.0.0.1:$review"}
audit: {file: "$audit"}
holds: {store: "sqlite:$folder/holds.db"}
upstreams:
  shop:
    connection: "$upstream"
    accept_risks: [superuser, replication, bypassrls, file_access]
agents:
  agent: {secret: $agent_secret, upstream: shop, policy: policy}
approvers:
  alice: {secret: $approver_secret}
policies:
  policy:
$policy
"""

ALLOW_ALL = """
    introspection: allow
    rules:
      - allow: [all]
        on: ["*"]
"""


def configuration(policies, **agents):
    """One without holds: `agents` are names with what follows `policy: `; Wicket itself logs in as "agent"."""
    lines = [f"  {name}: {{secret: $agent_secret, upstream: shop, policy: {rest}}}" for name, rest in agents.items()]
    return "\n".join(['listen: {address: "127.0.0.1:$port", login_timeout: 60s}', 'audit: {file: "$audit"}',
                      'upstreams: {shop: "$upstream"}', "agents:", *lines, policies.strip("\n"), ""])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Database:
    """A copy of the shop, for one test. `upstream` is its connection string for a least-privileged role."""

    def __init__(self, template="shop"):
        self.name = f"live_{os.getpid()}_{time.monotonic_ns() % 10**9}"
        self._admin("postgres", f'CREATE DATABASE {self.name} TEMPLATE {template}')
        self.upstream = (f"host=127.0.0.1 port={SERVER_PORT} dbname={self.name} user=agent "
                         "password=agent-password")
        self.superuser = f"host={SERVER_SOCKET} port={SERVER_PORT} dbname={self.name} user=postgres"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._admin("postgres", f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")

    @staticmethod
    def _admin(database, sql):
        connection = psycopg2.connect(host=SERVER_SOCKET, port=SERVER_PORT, dbname=database, user="postgres")
        connection.autocommit = True
        try:
            connection.cursor().execute(sql)
        finally:
            connection.close()

    def ask(self, sql):
        """Rows, straight from the server; for what gives none, None."""
        connection = psycopg2.connect(self.superuser)
        connection.autocommit = True
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def value(self, sql):
        return self.ask(sql)[0][0]

    def fingerprint(self):
        """Changes with any row, sequence position aside, and with any table, function or role."""
        tables = self.ask("SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN "
                          "('pg_catalog', 'information_schema') ORDER BY 1")
        found = [self.ask("SELECT count(*), sum(('x' || substr(md5(xmin::text || attname), 1, 8))::bit(32)::bigint) "
                          "FROM pg_attribute WHERE attnum > 0"),
                 self.ask("SELECT count(*) FROM pg_proc"), self.ask("SELECT rolname, rolsuper FROM pg_roles ORDER BY 1")]
        for (table,) in tables:
            found.append((table, self.ask(f"SELECT count(*), md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))) "
                                          f"FROM {table} t")))
        return found


class Wicket:
    """A running pgwicket. Leaving it stops it, and looks for what must not be in its log."""

    def __init__(self, database, policy=ALLOW_ALL, upstream=None, configuration=CONFIGURATION, audit=None,
                 **values):
        self.folder = tempfile.mkdtemp(prefix="pgwicket-live-")
        self.port = free_port()
        self.review = free_port()
        self.audit_file = audit or self.folder + "/audit.jsonl"
        self.file = self.folder + "/wicket.yaml"
        self.log = self.folder + "/log"
        self.process = None
        self.template = configuration
        self.values = {"port": self.port, "review": self.review, "folder": self.folder,
                       "audit": self.audit_file, "upstream": upstream or database.upstream,
                       "policy": policy.strip("\n"), "agent_secret": AGENT_SECRET,
                       "approver_secret": APPROVER_SECRET, **values}
        self.url = f"http://127.0.0.1:{self.review}"
        self._make_certificate()
        self.configure()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        try:
            if self.process is not None:
                self.stop()
            if kind is None:
                self.check_log()
                self.check_chain()
        finally:
            if self.process is not None:
                self.process.kill()
                self.process.wait()
            if kind is not None:
                print("     --- the end of pgwicket's log:")
                print("     " + "     ".join(self.read_log().splitlines(True)[-25:]))
            shutil.rmtree(self.folder, ignore_errors=True)

    def _make_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-days", "3", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", self.folder + "/server.key", "-out", self.folder + "/server.crt"],
                       check=True, capture_output=True)

    def configure(self, text=None):
        """Writes the configuration file; `text` instead of the template."""
        if text is None:
            text = string.Template(self.template).substitute(self.values)
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([BIN, "serve", self.file], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        end = time.monotonic() + START_SECONDS
        while True:
            if self.process.poll() is not None:
                code, self.process = self.process.returncode, None
                raise AssertionError(f"pgwicket ended with {code} at its start:\n{self.read_log()}")
            try:
                self.connect().close()
                return
            except psycopg2.OperationalError as error:
                if time.monotonic() > end:
                    raise AssertionError(f"pgwicket is not ready: {error}\n{self.read_log()}") from error
                time.sleep(0.05)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, seconds=30):
        """SIGTERM; it must end by itself, with 0."""
        self.signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self.process = None
        if code != 0:
            raise AssertionError(f"pgwicket ended with {code} after SIGTERM:\n{self.read_log()}")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def read_log(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def check_log(self):
        log = self.read_log()
        for sign in ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "invariant"):
            if sign in log:
                raise AssertionError(f"{sign!r} in pgwicket's log:\n{log[-4000:]}")

    def check_chain(self):
        if os.path.isfile(self.audit_file):
            result = subprocess.run([BIN, "verify", self.audit_file], capture_output=True, text=True, check=False)
            if result.returncode != 0:
                raise AssertionError(f"the audit chain is broken: {result.stderr}")

    def audit(self):
        with open(self.audit_file, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def socket_folder_and_port(self):
        """Where the unix socket is, as libpq names it."""
        path = glob.glob(self.folder + "/.s.PGSQL.*")[0]
        return self.folder, path.rsplit(".", 1)[1]

    def address(self, **changes):
        """Keywords for a driver."""
        return {"host": "127.0.0.1", "port": self.port, "user": "agent", "password": AGENT_SECRET,
                "dbname": "shop", **changes}

    def dsn(self, **changes):
        return " ".join(f"{k}={v}" for k, v in self.address(**changes).items())

    def connect(self, autocommit=True, **changes):
        """A session of psycopg2. (`with` would begin a transaction even in autocommit: use closing.)"""
        connection = psycopg2.connect(**self.address(connect_timeout=20, **changes))
        connection.autocommit = autocommit
        return connection

    def command(self, *arguments, check=True):
        """One of pgwicket's commands, as the approver."""
        environment = {**os.environ, "PGWICKET_URL": self.url, "PGWICKET_USER": "alice",
                       "PGWICKET_PASSWORD": APPROVER_SECRET}
        result = subprocess.run([BIN, *map(str, arguments)], capture_output=True, text=True, check=False,
                                env=environment, stdin=subprocess.DEVNULL, timeout=60)
        if check and result.returncode != 0:
            raise AssertionError(f"pgwicket {arguments} ended with {result.returncode}:\n"
                                 f"{result.stdout}{result.stderr}")
        return result

    def api(self, path, **body):
        """The approver's API, which answers sooner than the commands; with a body it is a POST."""
        basic = base64.b64encode(f"alice:{APPROVER_SECRET}".encode()).decode()
        request = urllib.request.Request(self.url + "/api/" + path, data=json.dumps(body).encode() if body else None,
                                         headers={"Authorization": "Basic " + basic, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def holds(self, state=None):
        """What the API lists, newest first."""
        return self.api("holds" + (f"?state={state}" if state else ""))["holds"]

    def hold(self, number):
        return self.api(f"holds/{number}")


class Sender(threading.Thread):
    """Sends a statement that will wait; `error` or `rowcount` is there after join()."""

    def __init__(self, connection, sql, parameters=None):
        super().__init__(daemon=True)
        self.connection, self.sql, self.parameters = connection, sql, parameters
        self.error = self.rowcount = None
        self.start()

    def run(self):
        try:
            cursor = self.connection.cursor()
            cursor.execute(self.sql, self.parameters)
            self.rowcount = cursor.rowcount
        except psycopg2.Error as error:
            self.error = error

    def result(self, seconds=30):
        self.join(seconds)
        check(not self.is_alive(), f"no answer to {self.sql}")
        return self


@contextlib.contextmanager
def wicket(policy=ALLOW_ALL, superuser=False, **values):
    """A copy of the shop and a pgwicket in front of it."""
    with Database() as database:
        upstream = database.superuser if superuser else None
        with Wicket(database, policy, upstream=upstream, **values) as running:
            yield database, running

"""pgwire - PostgreSQL's protocol by hand: what a driver would never send, and every byte of the answer."""
import base64
import hashlib
import hmac
import os
import socket
import ssl
import struct


class Closed(Exception):
    """The server closed the connection."""


class Message:
    """One message of the server."""

    def __init__(self, kind, payload):
        self.kind = kind
        self.payload = payload

    def fields(self):
        """Of an ErrorResponse or NoticeResponse: letter → text."""
        parts = self.payload.split(b"\0")
        return {p[:1].decode(): p[1:].decode("utf-8", "replace") for p in parts if p}

    def tag(self):
        return self.payload.rstrip(b"\0").decode()

    def values(self):
        """Of a DataRow: a list of bytes or None."""
        count, at, values = struct.unpack_from("!h", self.payload)[0], 2, []
        for _ in range(count):
            size = struct.unpack_from("!i", self.payload, at)[0]
            at += 4
            values.append(None if size < 0 else self.payload[at:at + size])
            at += max(size, 0)
        return values

    def __repr__(self):
        return f"{self.kind}:{self.payload[:60]!r}"


def message(kind, payload=b""):
    return kind.encode() + struct.pack("!i", len(payload) + 4) + payload


def text(value):
    return (value if isinstance(value, bytes) else value.encode()) + b"\0"


def query(sql):
    return message("Q", text(sql))


def parse(sql, name="", types=()):
    return message("P", text(name) + text(sql) + struct.pack(f"!h{len(types)}I", len(types), *types))


def bind(values=(), statement="", portal=""):
    packed = b"".join(struct.pack("!i", -1) if v is None else struct.pack("!i", len(v)) + v for v in values)
    return message("B", text(portal) + text(statement) + struct.pack("!hh", 0, len(values)) + packed +
                   struct.pack("!h", 0))


def describe(kind="P", name=""):
    return message("D", kind.encode() + text(name))


def execute(portal="", rows=0):
    return message("E", text(portal) + struct.pack("!i", rows))


def close(kind="S", name=""):
    return message("C", kind.encode() + text(name))


SYNC = message("S")
FLUSH = message("H")
TERMINATE = message("X")


def _scram_proof(password, first_bare, server_first, final_without_proof):
    fields = dict(part.split("=", 1) for part in server_first.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(fields["s"]), int(fields["i"]))
    key = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(hashlib.sha256(key).digest(),
                            f"{first_bare},{server_first},{final_without_proof}".encode(), "sha256")
    return base64.b64encode(bytes(a ^ b for a, b in zip(key, signature))).decode()


class Connection:
    """A session that has logged in; `parameters` are those of the startup packet."""

    def __init__(self, host, port, user, password, database="shop", tls=False, timeout=30, **parameters):
        if host.startswith("/"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(f"{host}/.s.PGSQL.{port}")
        else:
            self.socket = socket.create_connection((host, port), timeout)
        self.received = b""
        self.key = b""
        if tls:
            self._start_tls()
        self._log_in(user, password, database, parameters)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.socket.sendall(TERMINATE)
        except OSError:
            pass
        self.socket.close()

    def _start_tls(self):
        self.socket.sendall(struct.pack("!ii", 8, 80877103))
        answer = self.socket.recv(1)
        if answer != b"S":
            raise Closed(f"no TLS: {answer!r}")
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket)

    def _log_in(self, user, password, database, parameters):
        settings = {"user": user, "database": database, **parameters}
        packet = b"".join(text(k) + text(v) for k, v in settings.items()) + b"\0"
        self.socket.sendall(struct.pack("!ii", len(packet) + 8, 196608) + packet)
        nonce = base64.b64encode(os.urandom(18)).decode()
        first_bare = f"n=,r={nonce}"
        for answer in self._messages_until("Z"):
            if answer.kind == "E":
                raise LoginError(answer.fields())
            if answer.kind == "K":
                self.key = answer.payload
            if answer.kind != "R":
                continue
            method = struct.unpack_from("!i", answer.payload)[0]
            if method == 10:
                first = ("n,," + first_bare).encode()
                self.send(message("p", text("SCRAM-SHA-256") + struct.pack("!i", len(first)) + first))
            elif method == 11:
                server_first = answer.payload[4:].decode()
                final = "c=biws,r=" + server_first.split(",")[0][2:]
                proof = _scram_proof(password, first_bare, server_first, final)
                self.send(message("p", f"{final},p={proof}".encode()))
            elif method not in (0, 12):
                raise LoginError({"M": f"authentication method {method}"})

    def cancel(self, key=None):
        """A CancelRequest on a connection of its own; returns when the server has closed that."""
        family = self.socket.family
        with socket.socket(family) as other:
            other.settimeout(30)
            other.connect(self.socket.getpeername())
            other.sendall(struct.pack("!ii", 16, 80877102) + (key or self.key))
            while other.recv(100):
                pass

    def send(self, *messages):
        self.socket.sendall(b"".join(messages))

    def read(self):
        """The next message of the server."""
        while True:
            if len(self.received) >= 5:
                size = struct.unpack_from("!i", self.received, 1)[0] + 1
                if len(self.received) >= size:
                    kind = chr(self.received[0])
                    payload = self.received[5:size]
                    self.received = self.received[size:]
                    return Message(kind, payload)
            chunk = self.socket.recv(65536)
            if not chunk:
                raise Closed("the server closed the connection")
            self.received += chunk

    def _messages_until(self, kind):
        while True:
            answer = self.read()
            yield answer
            if answer.kind == kind:
                return

    def answers(self):
        """All messages up to ReadyForQuery. COPY FROM STDIN gets no rows."""
        answers = []
        for answer in self._messages_until("Z"):
            answers.append(answer)
            if answer.kind == "G":
                self.send(message("c"))
        return answers

    def run(self, *messages):
        self.send(*messages)
        return self.answers()

    def is_silent(self, seconds=0.3):
        """True if nothing more comes."""
        before = self.socket.gettimeout()
        self.socket.settimeout(seconds)
        try:
            return not self.received and self.socket.recv(1) == b""
        except (socket.timeout, TimeoutError):
            return True
        finally:
            self.socket.settimeout(before)


class LoginError(Exception):
    """Login was refused; `fields` is the server's error."""

    def __init__(self, fields):
        super().__init__(fields.get("M", ""))
        self.fields = fields


def errors(answers):
    return [a.fields() for a in answers if a.kind == "E"]


def kinds(answers):
    """Without notices and parameter reports: "TDDCZ"."""
    return "".join(a.kind for a in answers if a.kind not in "NS")


def status(answers):
    """The transaction status of the ReadyForQuery at the end."""
    return answers[-1].payload.decode()

"""relay - a PostgreSQL server that may be killed, and a relay in front of it that shows each message as it passes."""
import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading

import psycopg2

from live import eventually

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Server:
    """A PostgreSQL server that may be killed."""

    def __init__(self, schema):
        self.folder = tempfile.mkdtemp(prefix="pgwicket-server-")
        self.script = os.path.join(TOP, "deploy", "throwaway-postgres")
        subprocess.run([self.script, "start", self.folder], check=True, capture_output=True)
        with open(self.folder + "/port", encoding="ascii") as file:
            self.port = int(file.read())
        self.ask(schema)

    def ask(self, sql):
        connection = psycopg2.connect(host=self.folder, port=self.port, dbname="postgres", user="postgres")
        connection.autocommit = True
        try:
            cursor = connection.cursor()
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def value(self, sql):
        return self.ask(sql)[0][0]

    def kill(self):
        """The postmaster first, so that it starts nothing again; then all its children."""
        with open(self.folder + "/data/postmaster.pid", encoding="ascii") as file:
            postmaster = int(file.readline())
        children = self.children(postmaster)
        for process in [postmaster, *children]:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        eventually(lambda: not any(os.path.exists(f"/proc/{child}") for child in children), "they are gone")

    def is_dead(self):
        with open(self.folder + "/data/postmaster.pid", encoding="ascii") as file:
            return not os.path.exists(f"/proc/{int(file.readline())}")

    @staticmethod
    def children(parent):
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) == parent:
                        found.append(int(name))
            except (OSError, IndexError):
                pass
        return found

    def resume(self):
        subprocess.run([self.script, "resume", self.folder], check=True, capture_output=True)

    def stop(self):
        subprocess.run([self.script, "stop", self.folder], check=True, capture_output=True)
        subprocess.run(["rm", "-rf", self.folder], check=True)


class Pair:
    """The two connections of one session. `pid` is the backend's, `sql` the last text that was sent."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.pid, self.sql, self.shown = 0, "", False

    def cut(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Relay:
    """Between pgwicket and the server, message by message. Of a session in which one of the `marks` has been sent,
    `see(pair, label, when)` is called before and after each message, in the thread that passes it on: a label is the
    way (">" to the server), the message's type, and the text that it belongs to."""

    def __init__(self, port, see, marks):
        self.target, self.see, self.marks = port, see, marks
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            pair = Pair(client, server)
            for source, sink, way in ((client, server, ">"), (server, client, "<")):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pump, args=(source, sink, way, pair), daemon=True).start()

    def pump(self, source, sink, way, pair):
        try:
            head = 1 if way == "<" else 0 # a startup packet has no type
            pending = b""
            while part := source.recv(65536):
                pending += part
                while len(pending) >= head + 4:
                    size = head + struct.unpack(">I", pending[head:head + 4])[0]
                    if len(pending) < size:
                        break
                    message, pending = pending[:size], pending[size:]
                    self.relay(message, head, sink, way, pair)
                    head = 1
        except OSError:
            pass
        pair.cut()

    def relay(self, message, head, sink, way, pair):
        kind = message[:1].decode("latin-1") if head else "startup"
        if way == "<" and kind == "K":
            pair.pid = struct.unpack(">I", message[5:9])[0]
        if way == ">" and kind in "PQ":
            text = message[5:].lstrip(b"\0")
            sql = text.split(b"\0", 2)[1 if kind == "P" and b"\0" in text else 0]
            pair.sql = " ".join(sql.decode("utf-8", "replace").split()[:2])[:40]
        pair.shown |= way == ">" and any(mark in message for mark in self.marks)
        label = f"{way}{kind} {pair.sql}"
        if pair.shown:
            self.see(pair, label, "before")
        sink.sendall(message)
        if pair.shown:
            self.see(pair, label, "after")

"""What no driver sends: malformed, oversized, misplaced messages; start-up packets; settings that must not move; and
errors whose positions must be those of the client's own text."""
import os
import socket
import ssl
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import extended, fails_with, ground, same_as_directly, tags
from live import check, equal, eventually, main
from wicket import AGENT_SECRET, CONFIGURATION

POLICY = """
    search_path: [w]
    introspection: allow
    limits: {sessions: unlimited}
    rules:
      - allow: [select]
        on: [w.t, w.child]
      - allow: [insert, delete]
        on: [w.log, w.child]
      - allow: [update]
        on: [w.t]
        where: required
        max_rows: 3
"""
LOGIN_SECONDS = 3
SSL = struct.pack("!ii", 8, 80877103)
GSS = struct.pack("!ii", 8, 80877104)

place = None


def connected():
    return socket.create_connection(("127.0.0.1", place.running.port), 20)


def startup(version=196608, **settings):
    settings = {"user": "agent", "database": "shop", **settings}
    packet = b"".join(pgwire.text(k) + pgwire.text(v) for k, v in settings.items()) + b"\0"
    return struct.pack("!ii", len(packet) + 8, version) + packet


def everything(other):
    received = b""
    try:
        while chunk := other.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def works(c):
    equal(pgwire.kinds(c.run(pgwire.query("SELECT 1"))), "TDCZ", "the session goes on")


# --- the start -------------------------------------------------------------------------------------


def test_startup_byte_by_byte():
    with connected() as other:
        for byte in startup():
            other.sendall(bytes([byte]))
        equal(other.recv(9)[:1], b"R")


def test_startup_packets_that_are_none():
    for packet in (struct.pack("!i", 0), struct.pack("!i", 4), struct.pack("!i", 7), struct.pack("!ii", 10005, 196608),
                   struct.pack("!i", 0x7fffffff), struct.pack("!i", -1), b"GET / HTTP/1.1\r\n\r\n"):
        with connected() as other:
            other.sendall(packet)
            other.settimeout(LOGIN_SECONDS + 5)
            received = everything(other)
            check(received[:1] in (b"", b"E"), f"{packet!r}: {received!r}")


def test_startup_versions_and_options():
    for version, extra, expected in ((196608, {}, b"R"), (196610, {}, b"v"), (196608 + 9999, {"_pq_.x": "1"}, b"v"),
                                     (196608, {"_pq_.foo": "bar"}, b"v"), (262144, {}, b"E"), (131072, {}, b"E")):
        with connected() as other:
            other.sendall(startup(version, **extra))
            other.settimeout(2)
            received = b""
            try:
                while chunk := other.recv(4096):
                    received += chunk
            except (socket.timeout, TimeoutError):
                pass
            equal(received[:1], expected, f"version {version:#x} {extra}")
            if expected == b"v":
                size = struct.unpack_from("!i", received, 1)[0] + 1
                equal(struct.unpack_from("!ii", received, 5), (196608, len(extra)), "version and number of options")
                equal(received[size:size + 1], b"R", "one NegotiateProtocolVersion, then the password is asked for")
                for name in extra:
                    check(name.encode() in received[:size], f"{name} is named")


def test_ssl_requests():
    with connected() as other:
        other.sendall(GSS)
        equal(other.recv(1), b"N")
        other.sendall(SSL)
        equal(other.recv(1), b"S")
    for packets in (SSL + startup(), SSL + SSL, SSL + b"\0"):
        with connected() as other:
            other.sendall(packets)
            received = everything(other)
            check(b"AuthenticationSASL" not in received and b"SCRAM" not in received,
                  f"plain text behind an SSLRequest was answered: {received!r}")
    with connected() as other:
        other.sendall(SSL)
        equal(other.recv(1), b"S")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(other) as secure:
            secure.sendall(SSL)
            secure.settimeout(LOGIN_SECONDS + 5)
            received = secure.recv(100)
            check(received in (b"N", b"") or received[:1] == b"E", f"a second SSLRequest: {received!r}")


def test_wrong_password_and_unknown_user_look_the_same():
    seen = []
    for user, password in (("agent", "wrong"), ("nobody", "wrong"), ("alice", "alice-secret")):
        try:
            pgwire.Connection("127.0.0.1", place.running.port, user, password)
            check(False, f"{user} was let in")
        except pgwire.LoginError as error:
            fields = dict(error.fields)
            fields["M"] = fields["M"].replace(user, "USER")
            seen.append(fields)
    equal(seen[1], seen[0])
    equal(seen[2], seen[0])
    equal((seen[0]["C"], seen[0]["S"]), ("28P01", "FATAL"))


def test_wrong_database():
    try:
        pgwire.Connection("127.0.0.1", place.running.port, "agent", AGENT_SECRET, "elsewhere")
        check(False, "it was let in")
    except pgwire.LoginError as error:
        equal(error.fields["C"], "3D000")


def test_a_login_has_a_time_limit():
    for first in (b"", startup()[:7], startup()):
        with connected() as other:
            other.sendall(first)
            started = time.monotonic()
            other.settimeout(LOGIN_SECONDS + 10)
            everything(other)
            check(time.monotonic() - started < LOGIN_SECONDS + 6, f"after {first!r}")


def test_cancel_with_a_wrong_key():
    with place.connect() as c:
        pid, secret = struct.unpack("!II", c.key)
        c.send(pgwire.query("SELECT count(*) FROM w.t a, w.t b WHERE a.note || b.note = 'x'"))
        for key in (struct.pack("!II", pid, secret ^ 1), struct.pack("!II", pid ^ 1, secret), struct.pack("!II", 0, 0)):
            c.cancel(key)
        equal(pgwire.kinds(c.answers()), "TDCZ", "it was not cancelled")


# --- messages ----------------------------------------------------------------------------------------


def test_function_call_is_refused():
    with place.connect() as c:
        for _ in range(2):
            answers = c.run(pgwire.message("F", struct.pack("!Ihhh", 2108, 0, 0, 0)))
            fails_with(answers, "42501")
            equal(pgwire.kinds(answers), "EZ")
        works(c)
        c.run(pgwire.query("BEGIN"))
        answers = c.run(pgwire.message("F", struct.pack("!Ihhh", 2108, 0, 0, 0)))
        equal((pgwire.kinds(answers), pgwire.status(answers)), ("EZ", "E"))


def test_malformed_messages_are_errors_and_the_session_lives():
    for message, whole in ((pgwire.message("Q", b"SELECT 1"), True), (pgwire.message("Q", b"SELECT 1\0; SELECT 2\0"), True),
                           (pgwire.message("Q", b""), True), (pgwire.message("P", b"s\0SELECT 1\0"), False),
                           (pgwire.message("P", b"s\0SELECT\0 1\0\0\0"), False), (pgwire.message("B", b"\0\0\0"), False),
                           (pgwire.message("B", b"\0\0\0\0\0\1\0\0\0\xff\0\0"), False), (pgwire.message("E", b"\0"), False),
                           (pgwire.message("D", b"X\0"), False), (pgwire.message("C", b""), False),
                           (pgwire.message("P", b"s\0SELECT 1\0\0\1\0\0\0"), False)):
        with place.connect() as c:
            answers = c.run(message) if whole else c.run(message, pgwire.SYNC)
            fails_with(answers, "08P01")
            equal(pgwire.kinds(answers), "EZ", message)
            works(c)


def test_lengths_and_types_that_cannot_be():
    for data in (b"Q" + struct.pack("!i", 3), b"Q" + struct.pack("!i", -1), b"Q\x7f\xff\xff\xff", b"S\0\1\0\0",
                 b"E\0\1\0\0", b"X\0\1\0\0", b"z\0\0\0\4", b"\0\0\0\0\0", b"p\0\0\0\4", b"B\x7f\xff\xff\xff"):
        with place.connect() as c:
            c.socket.settimeout(15)
            c.send(data)
            try:
                answer = c.read()
                equal((answer.kind, answer.fields()["S"]), ("E", "FATAL"), data)
                c.read()
                check(False, f"the session lives after {data!r}")
            except pgwire.Closed:
                pass
            except ConnectionResetError:
                pass


def test_invalid_utf8():
    for sql in (b"SELECT '\xff\xfe'", b"SELECT '\xc0\xaf'", b"SELECT '\xed\xa0\x80'", b"SELECT '\xf4\x90\x80\x80'"):
        with place.connect() as c:
            check(pgwire.errors(c.run(pgwire.query(sql))), sql)
            check(pgwire.errors(c.run(pgwire.parse(sql), pgwire.SYNC)), sql)
            works(c)
            fails_with(c.run(*extended("SELECT $1::text", (b"\xff",)), pgwire.SYNC), "22021")
            works(c)


def test_statements_beyond_the_limit_are_swallowed():
    large = "SELECT '" + "x" * (2 << 20) + "'"
    with place.connect() as c:
        answers = c.run(pgwire.query(large))
        fails_with(answers, "54001")
        equal(pgwire.kinds(answers), "EZ")
        works(c)
        answers = c.run(pgwire.parse(large, "s"), pgwire.bind(statement="s"), pgwire.execute(), pgwire.SYNC)
        fails_with(answers, "54001")
        equal(pgwire.kinds(answers), "EZ")
        works(c)
        answers = c.run(pgwire.query("SELECT '" + "x" * (3 << 19) + "'"))
        fails_with(answers, "54001")
        works(c)
        c.run(pgwire.query("BEGIN"))
        equal(pgwire.status(c.run(pgwire.query(large))), "E")
        fails_with(c.run(pgwire.query(large)), "25P02")
        c.run(pgwire.query("ROLLBACK"))
        c.send(pgwire.query(large), pgwire.query("SELECT 2"), pgwire.query(large), pgwire.query("SELECT 3"))
        equal([pgwire.kinds(c.answers()) for _ in range(4)], ["EZ", "TDCZ", "EZ", "TDCZ"])


def test_empty_texts():
    for sql in ("", ";", "-- nothing", "/* a */ ; ;"):
        same_as_directly(place, pgwire.query(sql))
        same_as_directly(place, [*extended(sql), pgwire.SYNC])


def test_syncs_and_flushes_alone():
    same_as_directly(place, pgwire.SYNC, [pgwire.FLUSH, pgwire.SYNC])
    with place.connect() as c:
        c.send(pgwire.SYNC * 5, pgwire.FLUSH * 3)
        equal([pgwire.kinds(c.answers()) for _ in range(5)], ["Z"] * 5)
        check(c.is_silent(0.1), "nothing more")


def test_copy_messages_out_of_place_are_ignored():
    with place.connect() as c:
        c.send(pgwire.message("d", b"1\n"), pgwire.message("c"), pgwire.message("f", b"x\0"))
        works(c)


# --- settings -----------------------------------------------------------------------------------------


def test_standard_conforming_strings_stay_on():
    with place.connect() as c:
        for sql in ("SET standard_conforming_strings = off", "SET LOCAL standard_conforming_strings = 'off'",
                    "SELECT set_config('standard_conforming_strings', 'off', false)",
                    "SELECT pg_catalog.set_config('Standard_Conforming_Strings', 'off', true)",
                    "SET client_encoding = 'LATIN1'", "SET NAMES 'SJIS'", "SELECT set_config('client_encoding', 'GBK', false)",
                    "UPDATE pg_settings SET setting = 'off' WHERE name = 'standard_conforming_strings'",
                    "SET search_path = public", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; SET backslash_quote = on"):
            check(pgwire.errors(c.run(pgwire.query(sql))), f"{sql} was run")
            check(pgwire.errors(c.run(*extended(sql), pgwire.SYNC)), f"{sql} was run")
        for sql in ("RESET ALL", "DISCARD ALL", "SET standard_conforming_strings = on", "SET client_encoding = 'UTF8'"):
            check(not pgwire.errors(c.run(pgwire.query(sql))), sql)
        answers = c.run(pgwire.query("SHOW standard_conforming_strings"))
        equal([a.values() for a in answers if a.kind == "D"], [[b"on"]])


def test_settings_of_the_startup_packet():
    for parameters in ({"standard_conforming_strings": "off"}, {"options": "-c standard_conforming_strings=off"},
                       {"options": "-cstandard_conforming_strings=off"}, {"options": "--standard-conforming-strings=off"},
                       {"client_encoding": "SJIS"}, {"search_path": "public"}, {"options": "-c search_path=public"},
                       {"session_replication_role": "replica"}, {"replication": "true"}, {"replication": "database"}):
        try:
            with place.connect(**parameters) as c:
                for name, expected in (("standard_conforming_strings", b"on"), ("client_encoding", b"UTF8"),
                                       ("search_path", b"w")):
                    answers = c.run(pgwire.query(f"SHOW {name}"))
                    equal([a.values()[0].strip(b'"') for a in answers if a.kind == "D"], [expected], f"{parameters}: {name}")
                check("replication" not in parameters, "a replication connection")
        except (pgwire.LoginError, pgwire.Closed):
            pass
    with place.connect(application_name="mine", options="-c DateStyle=German -c statement_timeout=5s") as c:
        equal(c.run(pgwire.query("SHOW application_name"))[1].values(), [b"mine"])
        equal(c.run(pgwire.query("SHOW DateStyle"))[1].values(), [b"German, DMY"])
        equal(c.run(pgwire.query("SHOW statement_timeout"))[1].values(), [b"5s"])


def test_parameter_status_is_relayed():
    answers = same_as_directly(place, pgwire.query("SET application_name = 'x'"), pgwire.query("SET TimeZone = 'Asia/Tokyo'"))
    check(any(a.kind == "S" for a in answers), answers)
    same_as_directly(place, pgwire.query("BEGIN"), pgwire.query("SET LOCAL TimeZone = 'Asia/Tokyo'"),
                     pgwire.query("UPDATE w.t SET n = 1 WHERE id = 2"), pgwire.query("ROLLBACK"))


# --- positions -----------------------------------------------------------------------------------------


def test_positions_are_those_of_the_clients_text():
    for sql in ("/* ä ö */ SELECT   nothing FROM w.t", "SELECT /* 日本 */ id,\n  -- more\n  nothing FROM w.t",
                "/* ä */ UPDATE w.t  SET n = 'x' WHERE id = 1", "/*日*/ UPDATE w.t SET  n = nothing WHERE id = 1",
                "SELECT 'ä', \"nothing\" FROM w.t", "  SELECT * FROM   w.nowhere", "SELECT 1; SELECT 2; SELECT  nothing FROM w.t",
                "SELECT id FROM w.t WHERE note = 'é' AND  id = 'x'"):
        for messages in ([pgwire.query(sql)], [*extended(sql), pgwire.SYNC]):
            if ";" in sql and len(messages) > 1:
                continue
            seen = []
            for connect in (place.connect_directly, place.connect):
                with connect() as c:
                    error = pgwire.errors(c.run(*messages))[0]
                    seen.append((error["C"], error.get("P"), error["M"]))
            equal(seen[1], seen[0], sql)


if __name__ == "__main__":
    login = CONFIGURATION.replace('listen:', f'listen:\n  login_timeout: {LOGIN_SECONDS}s', 1)
    with ground(POLICY, configuration=login) as place:
        code = main(globals())
    sys.exit(code)

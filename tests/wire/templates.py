"""Templates on the wire: EXECUTE in both protocols answers as the server's own EXECUTE would, values are bound,
and what does not fit is refused before anything is sent."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import pgwire
from ground import comparable, extended, fails_with, ground, tags
from live import check, equal, eventually, main
from wicket import CONFIGURATION

POLICY = """
    search_path: [w]
    hold: {wait: 20s, expire: 1h, run_within: 15m}
    limits: {sessions: unlimited, pending: unlimited, waiting: unlimited, rehearsals_per_minute: unlimited}
    rules:
      - allow: [select] # so that the server's errors come whole
        on: [w.t, w.log, w.child]
      - allow: [execute]
        on: [set_note, shout, read_t, first_few, cut, add_child, drop_one, of_tenant, keep]
      - hold: [execute]
        on: [asked]
"""
TEMPLATES = """
templates:
  set_note:
    description: Writes one note
    sql: UPDATE w.t SET note = $$2 WHERE id = $$1
    parameters:
      - {name: id, type: integer, minimum: 1}
      - {name: note, type: string, maxLength: 200, nullable: true}
  shout: {sql: "UPDATE w.t SET note = 'loud' WHERE id = $$1 RETURNING id", parameters: [{name: id, type: integer}]}
  read_t:
    sql: SELECT id, n, note FROM w.t WHERE id <= $$1 ORDER BY id
    parameters: [{name: most, type: integer}]
  first_few:
    sql: SELECT id FROM w.t WHERE id <= $$1 ORDER BY id
    parameters: [{name: most, type: integer}]
    max_rows: 3
  cut:
    sql: UPDATE w.t SET n = $$2 WHERE id <= $$1 RETURNING id
    parameters: [{name: most, type: integer}, {name: n, type: integer}]
    max_rows: 3
  add_child:
    sql: INSERT INTO w.child (id, t_id) VALUES ($$1, $$2) RETURNING id
    parameters: [{name: id, type: integer}, {name: parent, type: integer}]
  drop_one:
    sql: DELETE FROM w.t WHERE id = $$1 RETURNING id, note
    parameters: [{name: id, type: integer}]
    hold: true
  asked:
    sql: UPDATE w.t SET note = $$2 WHERE id = $$1
    parameters: [{name: id, type: integer}, {name: note, type: string, maxLength: 50}]
  of_tenant:
    sql: SELECT id, note FROM w.t WHERE id = $$2 AND n = $$1
    parameters: [{name: tenant, type: integer, from: tenant}, {name: id, type: integer}]
  keep:
    sql: INSERT INTO w.log (id, note) VALUES ($$1, $$2)
    parameters: [{name: id, type: integer}, {name: note, type: string, maxLength: 1000}]
  not_for_you: {sql: DELETE FROM w.log, parameters: []}
"""
WITH_TEMPLATES = CONFIGURATION.replace("policy: policy}", 'policy: policy, attributes: {tenant: "7"}}') + TEMPLATES
PREPARED = {
    "set_note": "(int8, text) AS UPDATE w.t SET note = $2 WHERE id = $1",
    "shout": "(int8) AS UPDATE w.t SET note = 'loud' WHERE id = $1 RETURNING id",
    "read_t": "(int8) AS SELECT id, n, note FROM w.t WHERE id <= $1 ORDER BY id",
    "cut": "(int8, int8) AS UPDATE w.t SET n = $2 WHERE id <= $1 RETURNING id",
    "add_child": "(int8, int8) AS INSERT INTO w.child (id, t_id) VALUES ($1, $2) RETURNING id",
    "keep": "(int8, text) AS INSERT INTO w.log (id, note) VALUES ($1, $2)",
}

place = None


def note(number):
    return place.value(f"SELECT note FROM w.t WHERE id = {number}")


def as_prepared(*queries):
    """The server's own EXECUTE of the same statements, and pgwicket's: byte for byte the same."""
    results = []
    for directly in (True, False):
        place.reset()
        with place.connect_directly() if directly else place.connect() as c:
            for name, text in PREPARED.items() if directly else ():
                equal(pgwire.kinds(c.run(pgwire.query(f"PREPARE {name} {text}"))), "CZ")
            results.append([c.run(pgwire.query(q)) for q in queries])
            check(c.is_silent(0.1), "something comes after the last ReadyForQuery")
    for query, through, directly in zip(queries, results[1], results[0]):
        equal(comparable(through), comparable(directly), query)
    return results[1]


def test_a_query_answers_as_the_servers_own_execute():
    as_prepared("EXECUTE set_note(1, 'x')", "EXECUTE set_note(5000, 'x')", "EXECUTE set_note(2, NULL)",
                "EXECUTE read_t(3)", "EXECUTE read_t(0)", "EXECUTE cut(2, 5)", "EXECUTE cut(0, 5)",
                "EXECUTE keep(1, 'one')")


def test_notices_come_before_the_columns():
    with place.connect() as c:
        equal("".join(a.kind for a in c.run(pgwire.query("EXECUTE shout(1)"))), "NTDCZ")


def test_errors_come_where_the_server_has_them():
    answers = as_prepared("EXECUTE keep(1, 'one')", "EXECUTE keep(1, 'two')", "EXECUTE add_child(1, 5000)",
                          "EXECUTE cut(2, 99999999999)", "EXECUTE read_t(1)")
    equal([pgwire.kinds(a) for a in answers], ["CZ", "EZ", "TDEZ", "EZ", "TDCZ"])


def test_in_a_transaction():
    answers = as_prepared("BEGIN", "EXECUTE set_note(1, 'x')", "EXECUTE read_t(1)", "EXECUTE cut(1, 3)",
                          "EXECUTE keep(1, 'x')", "EXECUTE keep(1, 'x')", "EXECUTE read_t(1)", "ROLLBACK",
                          "EXECUTE read_t(1)")
    equal([pgwire.status(a) for a in answers], list("TTTTTEEII"))


def test_values_are_stored_verbatim():
    texts = ["'; DROP TABLE w.t; --", "$1", "a\\'b", "\\x00", "NULL", "tab\there", "ü€😀", "/* */ -- x", "{}", ""]
    for number, text in enumerate(texts, 1):
        with place.connect() as c:
            quoted = text.replace("'", "''")
            equal(tags(c.run(pgwire.query(f"EXECUTE set_note({number}, '{quoted}')"))), ["UPDATE 1"], text)
            equal(note(number), text)
            values = [str(number + 20).encode(), text.encode()]
            equal(pgwire.kinds(c.run(*extended("EXECUTE set_note($1, $2)", values), pgwire.SYNC)), "12nCZ", text)
            equal(note(number + 20), text)


def test_the_extended_protocol():
    place.reset()
    with place.connect() as c:
        equal(pgwire.kinds(c.run(*extended("EXECUTE read_t($1)", [b"2"]), pgwire.SYNC)), "12TDDCZ")
        equal(pgwire.kinds(c.run(*extended("EXECUTE read_t(2)"), pgwire.SYNC)), "12TDDCZ")
        equal(pgwire.kinds(c.run(*extended("EXECUTE cut($1, 4)", [b"2"]), pgwire.SYNC)), "12TDDCZ")
        equal(pgwire.kinds(c.run(*extended("EXECUTE set_note($1, $2)", [b"3", None]), pgwire.SYNC)), "12nCZ")
        equal((note(3), place.value("SELECT n FROM w.t WHERE id = 1")), (None, 4))
        # A portal is read in parts, as any.
        equal(pgwire.kinds(c.run(*extended("EXECUTE read_t($1)", [b"5"], rows=2), pgwire.execute(rows=2),
                                 pgwire.execute(), pgwire.SYNC)), "12TDDsDDsDCZ")


def parameter_types(answers):
    found = [a for a in answers if a.kind == "t"]
    count = struct.unpack_from("!h", found[0].payload)[0]
    return list(struct.unpack_from(f"!{count}I", found[0].payload, 2))


def test_describe_shows_the_clients_own_parameters():
    cases = (("EXECUTE set_note($1, $2)", (), [20, 25]), ("EXECUTE set_note($2, $1)", (), [25, 20]),
             ("EXECUTE set_note(7, $1)", (), [25]), ("EXECUTE set_note(7, 'x')", (), []),
             ("EXECUTE set_note($1, $2)", (23, 1043), [23, 1043]), ("EXECUTE of_tenant($1)", (), [20]),
             ("EXECUTE cut($1, $1)", (), [20]), ("EXECUTE set_note($1, 'x')", (0, 25), [20, 25]))
    with place.connect() as c:
        for sql, types, expected in cases:
            answers = c.run(pgwire.parse(sql, types=types), pgwire.describe("S"), pgwire.SYNC)
            equal((sql, parameter_types(answers)), (sql, expected))
        fails_with(c.run(pgwire.parse("EXECUTE set_note($2, 'x')"), pgwire.SYNC), "42P18")
        fails_with(c.run(pgwire.query("EXECUTE set_note($1, 'x')")), "08P01")


def binary_bind(values, formats):
    body = b"".join(struct.pack("!i", len(v)) + v for v in values)
    return pgwire.message("B", b"\0\0" + struct.pack(f"!h{len(formats)}h", len(formats), *formats) +
                          struct.pack("!h", len(values)) + body + struct.pack("!hh", 1, 1))


def test_binary_parameters_and_results():
    place.reset()
    with place.connect() as c:
        for size, packed in ((20, struct.pack("!q", 2)), (23, struct.pack("!i", 2)), (21, struct.pack("!h", 2))):
            answers = c.run(pgwire.parse("EXECUTE read_t($1)", types=[size]), binary_bind([packed], [1]),
                            pgwire.execute(), pgwire.SYNC)
            equal([a.values()[0] for a in answers if a.kind == "D"], [struct.pack("!i", 1), struct.pack("!i", 2)])
        answers = c.run(pgwire.parse("EXECUTE set_note($1, $2)"), binary_bind([struct.pack("!q", 4), b"binary"], [1]),
                        pgwire.execute(), pgwire.SYNC)
        equal((tags(answers), note(4)), (["UPDATE 1"], "binary"))
        fails_with(c.run(pgwire.parse("EXECUTE set_note($1, $2)"), binary_bind([b"abc", b"x"], [1, 0]),
                         pgwire.execute(), pgwire.SYNC), "22023", "parameter id")


def test_a_value_that_does_not_fit_is_refused_with_its_name():
    place.reset()
    before = place.database.fingerprint()
    bad = (("set_note(0, 'x')", "id"), ("set_note(1.5, 'x')", "id"),
           ("set_note(NULL, 'x')", "id"), ("set_note(1, 5)", "note"), (f"set_note(1, '{'x' * 201}')", "note"),
           ("set_note(1, 'x'::text)", "note"), ("set_note(1, now())", "note"), ("set_note(1 + 1, 'x')", "id"),
           ("set_note(1, (SELECT note FROM w.t LIMIT 1))", "note"))
    with place.connect() as c:
        for call, parameter in bad:
            for messages in ([pgwire.query("EXECUTE " + call)], [*extended("EXECUTE " + call), pgwire.SYNC]):
                error = fails_with(c.run(*messages), "22023", f"pgwicket: set_note: parameter {parameter} ")
                check(error["M"].endswith("; nothing was run") and len(error["M"]) <= 200, error["M"])
                check(error["D"].startswith("Parameter ") and "templates" in error["H"], str(error))
        for call in ("set_note", "set_note(1)", "set_note(1, 'x', 2)"):
            fails_with(c.run(pgwire.query("EXECUTE " + call)), "22023", "takes 2 arguments")
        answers = c.run(*extended("EXECUTE set_note($1, $2)", [b"0", b"x"]), pgwire.SYNC)
        fails_with(answers, "22023", "parameter id")
        equal(pgwire.status(answers), "I")
        fails_with(c.run(*extended("EXECUTE set_note($1, $2)", [b"1"]), pgwire.SYNC), "08P01")
    equal(place.database.fingerprint(), before, "the database after what was refused")


def test_a_bad_value_aborts_a_transaction_and_skips_a_pipeline():
    place.reset()
    with place.connect() as c:
        c.run(pgwire.query("BEGIN"))
        c.run(pgwire.query("EXECUTE set_note(1, 'kept?')"))
        answers = c.run(pgwire.query("EXECUTE set_note(0, 'x')"))
        fails_with(answers, "22023")
        equal(pgwire.status(answers), "E")
        fails_with(c.run(pgwire.query("EXECUTE set_note(1, 'x')")), "25P02")
        fails_with(c.run(*extended("EXECUTE set_note($1, $2)", [b"0", b"x"]), pgwire.SYNC), "25P02")
        equal(tags(c.run(pgwire.query("COMMIT"))), ["ROLLBACK"])
        good = extended("EXECUTE set_note($1, $2)", [b"1", b"lost"])
        answers = c.run(*good, *extended("EXECUTE set_note($1, $2)", [b"0", b"x"]), *good, pgwire.SYNC)
        equal(pgwire.kinds(answers), "12nC1EZ")
        equal(note(1), "note 1")


def test_pipelines_of_templates():
    place.reset()
    with place.connect() as c:
        batch = [m for i in (b"1", b"2", b"3") for m in extended("EXECUTE cut($1, 7)", [i])]
        equal(tags(c.run(*batch, pgwire.SYNC)), ["UPDATE 1", "UPDATE 2", "UPDATE 3"])
        equal(place.value("SELECT sum(n) FROM w.t WHERE id <= 3"), 21)
        answers = c.run(pgwire.parse("EXECUTE set_note($1, $2)", "s"), pgwire.bind([b"1", b"a"], "s"), pgwire.execute(),
                        pgwire.bind([b"2", b"b"], "s"), pgwire.execute(), pgwire.SYNC)
        equal((pgwire.kinds(answers), note(1), note(2)), ("12C2CZ", "a", "b"))


def test_rows_of_a_write_are_counted_and_undone():
    place.reset()
    with place.connect() as c:
        for messages in ([pgwire.query("EXECUTE cut(4, 9)")], [*extended("EXECUTE cut($1, 9)", [b"4"]), pgwire.SYNC]):
            fails_with(c.run(*messages), "54000", "pgwicket: cut would change 4 rows, limit 3; rolled back")
        equal(place.value("SELECT count(*) FROM w.t WHERE n = 9 AND id <= 4"), 0)
        c.run(pgwire.query("BEGIN"))
        equal(pgwire.status(c.run(pgwire.query("EXECUTE cut(4, 9)"))), "E")
        c.run(pgwire.query("ROLLBACK"))


def test_rows_of_a_select_are_stopped():
    with place.connect() as c:
        for messages in ([pgwire.query("EXECUTE first_few(50)")],
                         [*extended("EXECUTE first_few($1)", [b"50"]), pgwire.SYNC]):
            answers = c.run(*messages)
            fails_with(answers, "54000", "pgwicket: the result of first_few is longer than 3 rows")
            equal(len([a for a in answers if a.kind == "D"]), 3)
        equal(pgwire.kinds(c.run(pgwire.query("EXECUTE first_few(3)"))), "TDDDCZ")


def test_an_attribute_is_bound_and_no_argument():
    with place.connect() as c:
        equal(pgwire.kinds(c.run(pgwire.query("EXECUTE of_tenant(7)"))), "TDCZ")
        equal(pgwire.kinds(c.run(pgwire.query("EXECUTE of_tenant(8)"))), "TCZ")
        equal(pgwire.kinds(c.run(*extended("EXECUTE of_tenant($1)", [b"17"]), pgwire.SYNC)), "12TDCZ")
        fails_with(c.run(pgwire.query("EXECUTE of_tenant(8, 8)")), "22023", "takes 1 argument, 2 were given")


def test_only_execute_runs_a_template():
    place.reset()
    refused = ("EXPLAIN EXECUTE set_note(1, 'x')", "EXPLAIN ANALYZE EXECUTE set_note(1, 'x')",
               "CREATE TEMP TABLE x AS EXECUTE read_t(1)", "PREPARE set_note AS SELECT 1",
               "EXECUTE set_note(1, 'x'); EXECUTE set_note(2, 'x')", "BEGIN; EXECUTE set_note(1, 'x'); COMMIT",
               "EXECUTE not_for_you", "EXECUTE not_for_you(1)", "DECLARE c CURSOR FOR EXECUTE read_t(1)")
    with place.connect() as c:
        for sql in refused:
            found = pgwire.errors(c.run(pgwire.query(sql)))
            check(len(found) == 1 and found[0]["C"] in ("42501", "42601"), f"{sql}: {found}")
        check(pgwire.errors(c.run(pgwire.parse("SELECT 1", "set_note"), pgwire.SYNC)), "a statement of its name")
        equal(note(1), "note 1")


def test_the_template_and_the_rule_hold():
    for call in ("EXECUTE drop_one(1007)", "EXECUTE asked(1007, 'changed')"):
        for messages in ([pgwire.query(call)], [*extended(call), pgwire.SYNC]):
            place.reset()
            place.database.ask("INSERT INTO w.t VALUES (1007, 1, 'to be held')")
            with place.connect() as c:
                c.send(*messages)
                hold = eventually(lambda: place.running.holds("pending"), "a pending hold")[0]
                equal((hold["template"], hold["verb"]), (call[8:].split("(")[0], "execute"))
                equal(note(1007), "to be held")
                place.running.command("release", hold["id"], "--digest", hold["digest"])
                answers = c.answers()
                equal(pgwire.errors(answers), [], call)
                equal(tags(answers), ["DELETE 1" if "drop" in call else "UPDATE 1"])


def test_a_held_template_runs_by_its_number():
    place.reset()
    place.database.ask("INSERT INTO w.t VALUES (1007, 1, 'to be held')")
    with place.connect() as c:
        c.run(pgwire.query("SET statement_timeout = '500ms'"))
        error = fails_with(c.run(*extended("EXECUTE asked($1, $2)", [b"1007", b"it's so"]), pgwire.SYNC), "55PW1")
        number = int(error["M"].split("as hold ")[1].split(";")[0])
    hold = [h for h in place.running.holds("pending") if h["id"] == number][0]
    equal(hold["statement"], "UPDATE w.t SET note = $2 WHERE id = $1")
    equal([v["value"] for v in hold["parameters"]], ["1007", "it's so"])
    place.running.command("release", number, "--digest", hold["digest"])
    with place.connect() as c:
        equal(pgwire.kinds(c.run(pgwire.query(f"EXECUTE pgwicket_hold({number})"))), "CZ")
        equal(note(1007), "it's so")
        fails_with(c.run(pgwire.query(f"EXECUTE pgwicket_hold({number})")), "55PW5")


def test_a_hold_in_a_fresh_transaction():
    place.reset()
    place.database.ask("INSERT INTO w.t VALUES (1007, 1, 'to be held')")
    with place.connect() as c:
        c.run(pgwire.query("BEGIN ISOLATION LEVEL SERIALIZABLE"))
        c.send(pgwire.query("EXECUTE drop_one(1007)"))
        hold = eventually(lambda: place.running.holds("pending"), "a pending hold")[0]
        place.running.command("release", hold["id"], "--digest", hold["digest"])
        equal(pgwire.kinds(c.answers()), "TDCZ")
        equal(tags(c.run(pgwire.query("COMMIT"))), ["COMMIT"])
    equal(place.value("SELECT count(*) FROM w.t WHERE id = 1007"), 0)


def test_show_tells_what_there_is():
    with place.connect() as c:
        rows = [a.values() for a in c.run(pgwire.query("SHOW pgwicket.templates")) if a.kind == "D"]
        names = [r[0].decode() for r in rows]
        check("set_note" in names and "not_for_you" not in names, str(names))
        rows = [a.values() for a in c.run(pgwire.query("SHOW pgwicket.policy")) if a.kind == "D"]
        check(any(b"EXECUTE set_note(" in r[0] and b"Writes one note" in r[0] for r in rows), str(rows))


def test_the_audit_log_names_the_template_and_no_value():
    with place.connect() as c:
        c.run(pgwire.query("EXECUTE set_note(1, 'a secret value')"))
    record = [r for r in place.audit() if "set_note" in r.get("db.query.text", "")][-1]
    equal(record["db.query.text"], "EXECUTE set_note($1, $2)")
    equal((record["pgwicket.actions"], record["db.query.summary"]), ("execute set_note", "EXECUTE set_note"))
    check("a secret value" not in str(record), str(record))


if __name__ == "__main__":
    with ground(POLICY, configuration=WITH_TEMPLATES) as place:
        sys.exit(main(globals()))

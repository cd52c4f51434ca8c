"""Every place of the five queries where an expression, a relation, a type or an operator can stand.

The places are the fields of PostgreSQL's own node headers. Each has a statement with a hole in tests/cases/slots.sql, or
a reason here why nothing that is judged can stand there. Whatever is forbidden is rejected in every hole, and the same
statement with something harmless there is allowed; with the live catalog and offline.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import grammar
import pgwire
from corpus import HOLE, filled, slots
from live import check, equal, main
from wicket import BIN, SERVER_PORT, SERVER_SOCKET

SELECT_SLOTS_MIN = 62
POLICIES = """
listen: {address: 127.0.0.1:6432}
audit: {file: "-"}
upstreams: {shop: {env: PGWICKET_UPSTREAM}}
agents:
  plain: {secret: {env: PGWICKET_AGENT_SECRET}, upstream: shop, policy: plain}
  masked: {secret: {env: PGWICKET_AGENT_SECRET}, upstream: shop, policy: masked}
policies:
  plain:
    search_path: []
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders, shop.products]
      - allow: [insert, update, delete, lock]
        on: [shop.orders, shop.customers]
  masked:
    search_path: []
    rules:
      - allow: [select]
        on: [shop.customers, shop.orders, shop.products]
        not_columns: [shop.customers.ssn]
      - allow: [insert, update, delete, lock]
        on: [shop.orders, shop.customers]
"""

# --- what goes into a hole -------------------------------------------------------------------------------------------

# Expressions: the hole's type, and a forbidden call that is of the type by itself.
EXPRESSIONS = {
    "int": ("int", "shop.log_it(1)"),
    "mod": ("int", "shop.log_it(1)"),
    "name": ("int", "shop.log_it(1)"),
    "text": ("text", "pg_read_file('x')"),
    "bool": ("bool", "pg_terminate_backend(1)"),
    "float8": ("float8", "pg_sleep(1)"),
    "xml": ("xml", "query_to_xml('SELECT 1', true, true, '')"),
    "json": ("json", "shop.log_it(1)"),
    "date": ("timestamp", "shop.log_it(1)"),
}
CALLS = [
    "pg_sleep(1)::text::{}",
    "shop.log_it(1)::text::{}",
    "U&\"pg\\005Fread_file\"('x')::{}",
    "('x'::text).pg_read_file::{}",
    "(1 OPERATOR(shop.===) 1)::text::{}",
    "(1::shop.boom)::text::{}",
    "1::shop.evil_dom::text::{}",
    "shop.evil_sum(1)::text::{}",
    "(shop.evil_sum(1) OVER ())::text::{}",
    "(SELECT max(f) FROM shop.log_it(1) f)::text::{}",
]
RELATIONS = [
    "(SELECT s.login FROM shop.staff s LIMIT 1)::{}",
    "(SELECT count(*) FROM shop.staff)::text::{}",
    "EXISTS (TABLE hr.customers)::text::{}",
    "(WITH w AS (TABLE shop.staff) SELECT 'x' FROM w LIMIT 1)::{}",
    "ARRAY(SELECT s FROM shop.audit_log s)::text::{}",
]
COLUMNS = [
    "(SELECT s.ssn FROM shop.customers s LIMIT 1)::{}",
    "(SELECT to_json(s) FROM shop.customers s LIMIT 1)::text::{}",
    "(SELECT s.x FROM (TABLE shop.customers) s(a, b, d, x) LIMIT 1)::{}",
    "c.ssn::{}",
    "ssn::{}",
    "(c).ssn::{}",
    "c::text::{}",
    "(SELECT c.ssn)::{}",
    "(SELECT count(*) FROM shop.orders WHERE ssn = 'x')::text::{}",
]
# Other holes: what is forbidden.
OTHERS = {
    "table": ["shop.staff", "hr.customers", "pg_catalog.pg_authid"],
    "type": ["shop.evil_dom", "shop.evil_dom[]"],
    "chars": ["shop.evil_dom"],
    "sampler": ["shop.log_it", "evil"],
    "op": ["OPERATOR(shop.===)", "OPERATOR(public.===)"],
    "call": ["pg_sleep(1)", "shop.log_it(1)", "pg_read_file('x')", "shop.purge_old()", "\"shop\".\"bump\"()",
             "dblink_exec('', '')"],
}
MARKERS = {"table": "hole", "type": "hole", "chars": "hole", "sampler": "hole", "op": "OPERATOR(hole.=)"}

# --- fields where nothing that is judged can stand -------------------------------------------------------------------

ANALYSIS = """
    Query RangeTblEntry RangeTblFunction TableSampleClause WithCheckOption SortGroupClause WindowClause RowMarkClause
    MergeAction SetOperationStmt TableFunc Var Const Param Aggref WindowFunc SubscriptingRef FuncExpr OpExpr
    ScalarArrayOpExpr SubPlan AlternativeSubPlan FieldSelect FieldStore RelabelType CoerceViaIO ArrayCoerceExpr
    ConvertRowtypeExpr CollateExpr CaseTestExpr ArrayExpr RowCompareExpr CoerceToDomain CoerceToDomainValue
    NextValueExpr InferenceElem TargetEntry RangeTblRef FromExpr OnConflictExpr Expr InlineCodeBlock CallContext
""".split()
# Parts of statements that are no query; those that end in Stmt are known by that.
OTHER_STATEMENTS = """
    RoleSpec TableLikeClause PartitionElem PartitionSpec PartitionRangeDatum PartitionCmd AlterTableCmd ObjectWithArgs
    AccessPriv Constraint CreateOpClassItem StatsElem FunctionParameter VacuumRelation PublicationTable
    PublicationObjSpec TriggerTransition
""".split()
WRITES = ("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt")
NAMES = "names only"
REASONS = {
    "Alias.colnames": NAMES, "CollateClause.collname": NAMES, "ColumnRef.fields": NAMES, "RangeVar.alias": NAMES,
    "CommonTableExpr.aliascolnames": NAMES, "CTESearchClause.search_col_list": NAMES,
    "CTECycleClause.cycle_col_list": NAMES, "CommonTableExpr.search_clause": NAMES, "JoinExpr.alias": NAMES,
    "JoinExpr.join_using_alias": NAMES, "JoinExpr.usingClause": NAMES, "RangeFunction.alias": NAMES,
    "RangeSubselect.alias": NAMES, "RangeTableFunc.alias": NAMES, "IndexElem.collation": NAMES,
    "IndexElem.opclass": NAMES, "LockingClause.lockedRels": NAMES, "XmlExpr.arg_names": NAMES,
    "RowExpr.colnames": NAMES,
    "TypeName.arrayBounds": "numbers only",
    "SelectStmt.intoClause": "makes a table: judged as `create` by its own tests",
    "IntoClause.rel": "makes a table", "IntoClause.colNames": NAMES,
    "IntoClause.options": "the grammar gives SELECT INTO none", "IntoClause.viewQuery": "set by parse analysis",
    "SelectStmt.lockingClause": NAMES,
    "CommonTableExpr.ctecolnames": "set by parse analysis", "CommonTableExpr.ctecoltypes": "set by parse analysis",
    "CommonTableExpr.ctecoltypmods": "set by parse analysis",
    "CommonTableExpr.ctecolcollations": "set by parse analysis",
    "GroupingFunc.refs": "set by parse analysis", "GroupingFunc.cols": "set by parse analysis",
    "ColumnDef.raw_default": "not in a column definition list",
    "ColumnDef.cooked_default": "set by parse analysis", "ColumnDef.constraints": "not in a column definition list",
    "ColumnDef.identitySequence": "set by parse analysis", "ColumnDef.fdwoptions": "not in a column definition list",
    "ColumnDef.collClause": NAMES,
    "IndexElem.opclassopts": "the walk refuses them",
    "DefElem.arg": "in a query only as IndexElem.opclassopts",
}


def in_query(node):
    return node not in ANALYSIS and node not in OTHER_STATEMENTS and (
        node in WRITES or node in ("SelectStmt", "RawStmt") or not node.endswith("Stmt"))


# --- templates -------------------------------------------------------------------------------------------------------


def forbidden(kind):
    """(group, text) of all that must not pass in a hole of the kind."""
    if kind in OTHERS:
        return [("call" if kind != "table" else "relation", text) for text in OTHERS[kind]]
    type_name, bare = EXPRESSIONS[kind]
    groups = [("call", [bare, *CALLS]), ("relation", RELATIONS), ("column", COLUMNS)]
    return [(group, text if text == bare else f"({text.format(type_name)})") for group, texts in groups
            for text in texts]


def is_statement(sql):
    try:
        return bool(grammar.parse(sql))
    except grammar.ParseError:
        return False


def fillings(groups):
    """Every statement with something forbidden of the groups in one hole; each hole has some that can be parsed."""
    found = []
    for template in slots():
        for number, kind in enumerate(HOLE.findall(template)):
            texts = [filled(template, number, text) for group, text in forbidden(kind) if group in groups]
            statements = [sql for sql in texts if is_statement(sql)]
            check(statements or not texts, f"nothing forbidden fits into hole {number} of {template}")
            found += statements
    return found


def covered_slots():
    """Every field that leads to a hole; those of SELECT alone."""
    every, select = set(), set()
    for template in slots():
        for number, kind in enumerate(HOLE.findall(template)):
            tree = grammar.parse(filled(template, number, MARKERS.get(kind, "hole()")))
            paths = grammar.slots_to(tree, "hole")
            check(paths, f"no hole in the tree of {template}")
            found = set().union(*paths)
            every |= found
            if not grammar.node_kinds(tree) & set(WRITES):
                select |= found
    return every, select


# --- asking ----------------------------------------------------------------------------------------------------------


def judge(agent, statements, offline=False):
    """The verdicts, in order."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/policies.yaml", "w", encoding="utf-8") as file:
            file.write(POLICIES)
        command = [BIN, "judge", file.name, "--agent", agent] + ["--offline"] * offline
        questions = "".join(json.dumps({"id": i, "sql": sql}) + "\n" for i, sql in enumerate(statements))
        run = subprocess.run(command, input=questions, capture_output=True, text=True, check=False, timeout=240)
    check(run.returncode == 0, f"{command}: {run.stderr}")
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    equal([a["id"] for a in answers], list(range(len(statements))), "answers")
    return answers


def server_errors(statements):
    """For each statement None, or the SQLSTATE with which the server's parse analysis refuses it."""
    found = []
    with pgwire.Connection(SERVER_SOCKET, int(SERVER_PORT), "postgres", "", options="-c search_path=") as c:
        for sql in statements:
            errors = pgwire.errors(c.run(pgwire.parse(sql), pgwire.SYNC))
            found.append(errors[0]["C"] if errors else None)
    return found


def equal_none(wrong, what):
    for line in wrong[:40]:
        print("     " + line)
    equal(len(wrong), 0, what)


def report(answers, statements, wanted):
    return [f"{a['verdict']}: {sql}  [{a['reason']}]" for a, sql in zip(answers, statements) if a["verdict"] != wanted]


# --- the tests -------------------------------------------------------------------------------------------------------


def test_every_field_of_the_node_list_has_a_hole_or_a_reason():
    every, select = covered_slots()
    listed = {f"{node}.{field}" for node, fields in grammar.nodes().items() if in_query(node) for field in fields}
    equal(sorted(listed - every - set(REASONS)), [], "fields without a statement in slots.sql")
    equal(sorted(set(REASONS) & every), [], "fields with a reason and a statement")
    equal(sorted(set(REASONS) - listed), [], "reasons for what no header has")
    check(len(select) >= SELECT_SLOTS_MIN, f"{len(select)} fields of SELECT")
    print(f"     {len(every)} fields, {len(select)} of them of SELECT")


def test_no_query_has_a_node_that_is_said_to_be_in_none():
    outside = {node for node in grammar.nodes() if not in_query(node)}
    unknown = set(ANALYSIS + OTHER_STATEMENTS) - set(grammar.nodes())
    equal(sorted(unknown), [], "names that no header has")
    for template in slots():
        found = grammar.node_kinds(grammar.parse(filled(template))) & outside
        equal(sorted(found), [], template)


def test_every_statement_is_one_that_the_server_takes_and_a_policy_allows():
    statements = [filled(template) for template in slots()]
    refused = [f"{error}: {sql}" for sql, error in zip(statements, server_errors(statements)) if error]
    equal_none(refused, "statements that the server does not take")
    for agent in ("plain", "masked"):
        equal_none(report(judge(agent, statements), statements, "allow"), f"harmless statements rejected for {agent}")
    equal_none(report(judge("plain", statements, offline=True), statements, "allow"), "rejected without a catalog")


def test_a_forbidden_call_or_relation_is_rejected_in_every_hole():
    statements = fillings(("call", "relation"))
    for agent in ("plain", "masked"):
        for offline in (False, True):
            wrong = report(judge(agent, statements, offline), statements, "reject")
            equal_none(wrong, f"forbidden statements allowed for {agent}, offline {offline}")
    print(f"     {len(statements)} statements")


def test_options_of_an_operator_class_in_a_query_are_refused():
    sql = "INSERT INTO shop.orders (id) VALUES (1) ON CONFLICT (id int4_ops (a = 1)) DO NOTHING"
    check(is_statement(sql), "it can be parsed")
    equal_none(report(judge("plain", [sql]), [sql], "reject"), "operator class options allowed")


def test_a_forbidden_column_is_rejected_in_every_hole_where_the_server_would_read_it():
    statements = fillings(("column",))
    real = [sql for sql, error in zip(statements, server_errors(statements)) if error is None]
    check(len(real) > len(statements) / 2, f"only {len(real)} of {len(statements)} are real")
    for offline in (False, True):
        equal_none(report(judge("masked", real, offline), real, "reject"), f"columns read, offline {offline}")
    print(f"     {len(real)} of {len(statements)} statements are taken by the server")


if __name__ == "__main__":
    sys.exit(main(globals()))

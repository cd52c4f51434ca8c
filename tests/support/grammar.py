"""grammar - PostgreSQL's raw parse trees as libpg_query gives them, and the list of their nodes from PostgreSQL's headers.

A tree is plain Python data: {"SelectStmt": {"targetList": [...]}}. Everything here is for statements that a test
wrote or generated: libpg_query's JSON does not survive hostile ones.
"""
import ctypes
import ctypes.util
import functools
import glob
import json
import os
import re

HEADERS = ("parsenodes.h", "primnodes.h")
MAJOR = os.environ.get("PGWICKET_PG_MAJOR", "15")


class _Error(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char_p), ("funcname", ctypes.c_char_p), ("filename", ctypes.c_char_p),
                ("lineno", ctypes.c_int), ("cursorpos", ctypes.c_int), ("context", ctypes.c_char_p)]


class _Result(ctypes.Structure):
    _fields_ = [("tree", ctypes.c_char_p), ("stderr", ctypes.c_char_p), ("error", ctypes.POINTER(_Error))]


class ParseError(Exception):
    """PostgreSQL's own message."""


@functools.cache
def _library():
    names = [ctypes.util.find_library("pg_query"), *glob.glob("/usr/lib/*/libpg_query.so*")]
    library = ctypes.CDLL(next(name for name in names if name))
    library.pg_query_parse.restype = _Result
    library.pg_query_parse.argtypes = [ctypes.c_char_p]
    library.pg_query_free_parse_result.argtypes = [_Result]
    return library


def parse(sql):
    """The statements' trees, each in a RawStmt."""
    result = _library().pg_query_parse(sql.encode())
    try:
        if result.error:
            raise ParseError(result.error.contents.message.decode())
        return [{"RawStmt": raw} for raw in json.loads(result.tree).get("stmts", [])]
    finally:
        _library().pg_query_free_parse_result(result)


@functools.cache
def nodes():
    """Every struct of the node headers: name → {field: type}, of the fields that point at something but text."""
    found = {}
    for header in HEADERS:
        with open(f"/usr/include/postgresql/{MAJOR}/server/nodes/{header}", encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for body, name in re.findall(r"typedef struct \w*\s*\{(.*?)\n\}\s*(\w+);", text, re.S):
            fields = re.findall(r"^\s*(?:struct\s+)?(\w+)\s*\*\s*(\w+);", body, re.M)
            found[name] = {field: kind for kind, field in fields if kind not in ("char", "Bitmapset")}
    return found


def slots_to(tree, marker):
    """The fields, as "Node.field", that lead from the top to each place where the name `marker` stands."""
    found = []

    def descend(value, node, path):
        if isinstance(value, list):
            for item in value:
                descend(item, None, path)
        elif isinstance(value, dict) and node is None:
            for name, inner in value.items():
                descend(inner, name, path)
        elif isinstance(value, dict):
            for field, inner in value.items():
                kind = nodes().get(node, {}).get(field)
                step = path + [f"{node}.{field}"] if kind else path
                descend(inner, None if kind in (None, "Node", "List", "Expr") else kind, step)
        elif value == marker:
            found.append(path)

    descend(tree, None, [])
    return found


def node_kinds(tree):
    """The names of all nodes in a tree."""
    if isinstance(tree, list):
        return set().union(*map(node_kinds, tree)) if tree else set()
    if isinstance(tree, dict):
        own = {name for name in tree if name in nodes()}
        return own.union(*map(node_kinds, tree.values())) if tree else own
    return set()

"""seeds - holds that a test writes into the store by itself, where asking an agent for them would take
thousands of statements, or a database that behaves badly.

Each is a copy of a hold that was really made, with other fields; the store reads it like any other.
"""
import json
import sqlite3
import time
from contextlib import closing

HOUR = 3600 * 10**6


def now():
    return int(time.time() * 10**6)


class Seeds:
    """A hold that exists already, to copy from."""

    def __init__(self, folder, number):
        self.path = folder + "/holds.db"
        with closing(sqlite3.connect(self.path)) as store:
            store.row_factory = sqlite3.Row
            self.row = dict(store.execute("SELECT * FROM hold WHERE id = ?", (number,)).fetchone())
        del self.row["id"]

    def add(self, count=1, approvals=(), **fields):
        """Stores copies; the id of the last one. Later ones were made later."""
        rows = []
        for i in range(count):
            made = now() - (count - i) * 1000
            row = {**self.row, "created": made, "expires": made + HOUR, "state": "pending", "decision": "",
                   "decided_by": "", "decision_reason": "", "decided": 0, "finished": 0, "outcome_error": "",
                   "outcome_effect": "", "outcome_tag": "", "run_until": 0, "replaced_by": 0, **fields}
            rows.append({key: value(i) if callable(value) else value for key, value in row.items()})
        names = ", ".join(f'"{name}"' for name in rows[0])
        places = ", ".join(f":{name}" for name in rows[0])
        with closing(sqlite3.connect(self.path, timeout=20)) as store:
            store.executemany(f"INSERT INTO hold ({names}) VALUES ({places})", rows)
            last = store.execute("SELECT max(id) FROM hold").fetchone()[0]
            store.executemany("INSERT INTO approval VALUES (?, ?, ?)", [(last, by, now()) for by in approvals])
            store.commit()
        return last


def table(name, via="target", inserted=0, updated=0, deleted=0, total=None, **more):
    return {"table": name, "via": via, "inserted": inserted, "updated": updated, "deleted": deleted, "total": total,
            **more}


def cascade(name, constraint, action="cascade", depth=1, parent="shop.orders", **more):
    return table(name, "cascade", constraint=constraint, action=action, parent=parent, depth=depth, **more)


def row(old, new):
    return {"old": old, "new": new}


def effect(tables, rows=None, objects=(), locks=(), **more):
    return json.dumps({"known": True, "bound": "rows", "tables": tables, "objects": list(objects),
                       "locks": list(locks), "triggers": [], "rows": rows, "not_undone": [], "notices": [],
                       "duration_ms": 3.1, **more})


def rows_of(count, sample, key=("id",), changed=()):
    return {"count": count, "fingerprint": "00", "key": list(key), "changed": list(changed),
            "decided_when_it_runs": [], "sample": sample, "named": []}


def unknown(why):
    return json.dumps({"known": False, "why": why})


def thing(kind, name, via, rows=None, size=None, change="dropped", parent="", detail=""):
    return {"kind": kind, "name": name, "change": change, "via": via, "parent": parent, "detail": detail,
            "rows": rows, "bytes": size}


# --- what the design shows ---

def orders(first, count):
    return [row({"id": first + 13 * i, "customer_id": 42, "status": ("paid", "open", "shipped")[i % 3],
                 "total": f"{120 + 37.17 * (i % 9):.2f}", "created_at": f"2026-0{1 + i % 9}-11 10:04:31+00",
                 "notes": (None, "gift wrap", "", "Leave it at the neighbour's, second bell. " * 8)[i % 4]}, None)
            for i in range(count)]


DELETE = effect(
    [table("shop.orders", deleted=42, total=104000),
     cascade("shop.order_items", "order_items_order_id_fkey", deleted=126, total=312000),
     cascade("shop.shipments", "shipments_order_id_fkey", deleted=17, total=50),
     cascade("shop.reviews", "reviews_order_id_fkey", "set null", updated=9, total=2300),
     table("shop.audit_log", "trigger", inserted=42)],
    rows_of(42, orders(7000, 20)), triggers=["shop.orders: orders_audit"],
    not_undone=[{"what": "sequence", "name": "shop.audit_log_id_seq", "by": 42},
                {"what": "lastval", "name": "", "by": 0}],
    notices=["deleted from the archive, too"])

UPDATE = effect(
    [table("shop.products", updated=8, total=1200),
     cascade("shop.order_items", "order_items_sku_fkey", parent="shop.products", updated=231, total=312000)],
    rows_of(8, [row({"id": 101 + i, "sku": f"AB-100{i}", "price": "24.90", "campaign": old, "name": "Linen shirt",
                     "attributes": '{"tier": "gold", "pack": 6, "origin": "IT"}'},
                    {"id": 101 + i, "sku": f"ab-100{i}", "price": "22.41", "campaign": "winter 2026",
                     "name": "Linen shirt", "attributes": '{"tier": "sale", "pack": 6, "origin": "IT"}'})
                for i, old in enumerate([None, None, "", "\u202eelas on\t", None, None, "see 2025\nlist", None])],
            changed=["sku", "price", "campaign", "attributes"]))

FAR = effect([table("shop.orders", updated=3907, total=4200)],
             rows_of(3907, [row({"id": i, "status": "paid", "notes": None},
                                {"id": i, "status": "closed", "notes": "auto\u202e)desolc"}) for i in range(3)],
                     changed=["status", "notes"]))

DROP = effect([], None, [
    thing("table", "shop.legacy_customers", "target", 48213, 12 * 2**20),
    thing("view", "shop.customer_totals", "cascade", parent="shop.legacy_customers"),
    thing("view", "reporting.top_customers", "cascade", parent="shop.customer_totals"),
    thing("table constraint", "orders_customer_id_fkey on shop.orders", "cascade", parent="shop.legacy_customers"),
    thing("index", "shop.legacy_customers_pkey", "part", size=3 * 2**20, parent="shop.legacy_customers"),
    thing("sequence", "shop.legacy_customers_id_seq", "part", parent="shop.legacy_customers")],
              [{"table": "shop.legacy_customers", "mode": "access exclusive"},
               {"table": "shop.orders", "mode": "access exclusive"}], bound="counts")

MET = effect([table("shop.orders", deleted=43, total=104000),
              cascade("shop.order_items", "order_items_order_id_fkey", deleted=131, total=312000),
              cascade("shop.shipments", "shipments_order_id_fkey", deleted=17, total=50)])

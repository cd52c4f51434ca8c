/*
 * effect.h - what a held statement did when it was rehearsed, or does when it runs: rows for each
 * table, which rows, objects, locks. Pure: data, its JSON (spec 5), its comparison, its words.
 *
 * An effect is shown to the approver as JSON, kept in that form with the hold, and read back from
 * it to be compared with what the run does.
 */
#ifndef PGWICKET_HOLDS_EFFECT_H
#define PGWICKET_HOLDS_EFFECT_H

#include "proxy/base/arena.h"
#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"

/* What the run is held to. Zero: the effect is not known. By counts a fingerprint, if there is one, is of
 * the target's rows, but not of all that cascades reach from them. */
enum effect_bound { EFFECT_UNKNOWN = 0, EFFECT_BY_COUNTS, EFFECT_BY_ROWS };

enum effect_via { VIA_TARGET = 1, VIA_CASCADE, VIA_TRIGGER };

/* Operations on one table; a row changed twice counts twice. */
struct effect_table {
    struct text table; /* "shop.orders", quoted where SQL needs it */
    enum effect_via via;
    bool partitioned;       /* while it is measured: rows may move between its partitions */
    struct text constraint; /* VIA_CASCADE: the foreign key, … */
    struct text action;     /* "cascade", "set null", "set default" */
    struct text parent;     /* … and the table that it points at */
    int depth;              /* 1: points at the target itself */
    int64_t inserted;
    int64_t updated;
    int64_t deleted;
    int64_t total; /* rows of the table, as the planner has them; < 0: not known */
};

/* DDL, TRUNCATE and GRANT. All but `bytes` is bound. */
struct effect_object {
    struct text kind; /* as pg_identify_object has it: "table", "table column", "function", … */
    struct text
        name; /* likewise, quoted where SQL needs it: "shop.orders", "orders_pkey on shop.orders" */
    struct text change; /* "created", "changed", "rewritten", "emptied", "restarted", "dropped" … */
    struct text via;    /* … and why: "target", "part" of another object, "cascade" */
    struct text parent; /* what it is a part of or depends on; of TRUNCATE CASCADE the foreign key.
                           May be empty */
    struct text detail; /* what is other than before, in words; may be empty */
    int64_t rows;       /* lost; < 0: none */
    int64_t bytes;      /* lost or written anew, with indexes and what is stored apart; < 0: none */
};

/* The strongest lock on a table that was there before. */
struct effect_lock {
    struct text table; /* or another relation */
    struct text mode;  /* "access exclusive" */
};

/* What a rollback did not take back. */
struct effect_residue {
    struct text what; /* "sequence", "lastval" */
    struct text name; /* of a sequence */
    int64_t by;       /* 0: a sequence that the role may not read, and which may have moved */
};

/* One of the target's rows, before the statement. */
struct effect_named {
    struct text key;    /* "7"; of several columns "7, \"a\"" */
    struct text digest; /* of all that is bound of it */
};

/* One row as a JSON object; empty: there was none. */
struct effect_row {
    struct text old_row;
    struct text new_row;
};

struct effect {
    enum effect_bound bound;
    struct text why; /* EFFECT_UNKNOWN: in words */

    const struct effect_table *tables; /* target first, then cascades by depth, then the rest */
    size_t table_count;
    const struct effect_object *objects;
    size_t object_count;
    const struct effect_lock *locks;
    size_t lock_count;
    const struct text *triggers; /* "shop.orders: orders_audit, shop.audit() in plpgsql" */
    size_t trigger_count;

    /* The target's rows; row_count -1 where they were not taken. */
    int64_t row_count;
    struct text fingerprint; /* hex: SHA-256 over the rows, in an order of their own */
    const struct text *key;
    size_t key_count;
    const struct text *changed; /* columns that the statement sets */
    size_t changed_count;
    const struct text *decided_later; /* … whose values are decided when it runs, and not bound */
    size_t decided_later_count;
    const struct effect_row *sample;
    size_t sample_count;
    const struct effect_named *named; /* all, or none where they are many */
    size_t named_count;

    const struct effect_residue *not_undone;
    size_t not_undone_count;
    const struct text *notifies; /* tables whose code may send notifications: nobody has got any, but will when it commits */
    size_t notify_count;
    const struct text *notices;
    size_t notice_count;
    int64_t duration_us;
};

/* The "effect" object of spec 5. */
void effect_to_json(struct buffer *out, const struct effect *effect);

/* Reads it back, but for the sample, which is only shown; false if it is not one. Texts live in
 * `arena`. */
MUST_USE bool effect_from_json(struct arena *arena, struct text json, struct effect *effect);

/* Spec 4.2, equal effects: the same counts for every table, the same objects and triggers, and the
 * fingerprint that was shown. False where either is not known. */
bool effect_equal(const struct effect *shown, const struct effect *found);

/* "shop.orders 42 deleted, shop.order_items 126 deleted (cascade)"; "no rows" if nothing. */
struct text effect_in_words(struct arena *arena, const struct effect *effect);

/* What differs, for table after table, and which rows: "shop.orders 42 deleted, now 43 deleted; rows added: id 9120".
 * Without `keys` how many. Empty if they are equal. */
struct text effect_difference(struct arena *arena, const struct effect *shown,
                              const struct effect *found, bool keys);

/* All rows inserted, updated, deleted: of every table, or of those reached by the statement and its
 * foreign keys. */
int64_t effect_rows(const struct effect *effect, bool with_triggers);

/* Rows of tables that were emptied or dropped, which are not among those. */
int64_t effect_rows_lost(const struct effect *effect);

#endif

/*
 * form.h - a write as a text that can be measured: where RETURNING can be appended, what selects its
 * rows, which of the values it sets are decided by its text alone.
 *
 * For held statements: it parses the text again. Pure, like analyse().
 */
#ifndef PGWICKET_PARSER_FORM_H
#define PGWICKET_PARSER_FORM_H

#include "parser/shape.h"
#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"

struct form_column {
    struct text name;
    bool bound;        /* set from constants, parameters, data, and expressions of them that repeat */
    bool reads_others; /* data of other rows: the row as it was and the text do not decide it */
};

struct write_form {
    enum verb verb;         /* insert, update, delete */
    struct text target;     /* how RETURNING names the target's row: an identifier, quoted if needed */
    struct text relation;   /* as the statement has it: "shop.orders", "ONLY shop.orders" */
    bool has_returning;
    bool conflict_updates;  /* INSERT … ON CONFLICT DO UPDATE */

    /* Columns that an UPDATE, or DO UPDATE, may change in rows that are there. */
    const struct text *updated;
    size_t updated_count;

    /* Columns that the statement itself sets; of an INSERT without a column list there is no name, only
     * their number and order. */
    const struct form_column *columns;
    size_t column_count;
    bool star_bound; /* INSERT of SELECT * without a column list: there are no columns here, and all that it
                      * fills are bound */

    /* "SELECT 1 FROM shop.orders AS o, shop.customers AS c WHERE … FOR UPDATE OF o": what an UPDATE or
     * DELETE will touch. Empty where there is none (positioned, or a WITH that writes). */
    struct text select_rows;
};

/*
 * `sql` is one statement as analyse() printed it. False: it is not an INSERT, UPDATE or DELETE at the
 * top, or it cannot be taken apart; then only the counters can tell what it does.
 */
MUST_USE bool write_form(struct arena *arena, struct text sql, struct write_form *form);

/* "orders", "\"Order Items\"": as the print spells names. */
struct text form_identifier(struct arena *arena, struct text name);

#endif

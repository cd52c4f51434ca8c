/* hints.h - what an agent may do instead, in words. Internal to rules/. */
#ifndef PGWICKET_RULES_HINTS_H
#define PGWICKET_RULES_HINTS_H

#include "rules/decide.h"

/* " On it you may: select (up to 5000 rows), insert." or empty. */
struct text hint_allowed_here(struct arena *arena, const struct policy *policy,
                              const struct object *object);

/* The relation's columns that the action might have named: "id, name, email"; empty if not known.
 */
struct text hint_open_columns(struct arena *arena, const struct decide_context *context,
                              const struct action_decision *decision);

/* The primary key, else another, whose columns the agent may select; NULL if there is none. */
const struct key *hint_key(struct arena *arena, const struct decide_context *context,
                           const struct relation *relation);

/* "id" or "order_id, line". */
struct text hint_key_columns(struct arena *arena, const struct relation *relation,
                             const struct key *key);

/* "shop.orders(id), shop.orders(customer_id)": columns that an index begins with, of the tables
 * that the statement names, if the agent may select them; or empty. */
struct text hint_indexed_columns(struct arena *arena, const struct decide_context *context,
                                 const struct shape *shape);

#endif

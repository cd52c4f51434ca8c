/* trap_catalog.h - a shop whose catalog is full of traps, and what queries would do in it, as text.
 */
#ifndef PGWICKET_TESTS_PARSER_TRAP_CATALOG_H
#define PGWICKET_TESTS_PARSER_TRAP_CATALOG_H

#include "parser/analyse.h"

/*
 * Lives as long as the process. shop: customers, orders, order_items (one cascades to the next),
 * products, events (partitioned), views over them, a sequence, functions, an operator, casts and
 * domains that run code; hr.salaries; public: orders, and functions named like built-ins.
 */
const struct catalog *trap_catalog(void);

/* Analyses with this search_path (up to four schemas, "shop,public"; "" for none); NULL: offline.
 */
void trap_analyse(struct arena *arena, const char *path, const char *sql, struct analysis *out);
void trap_analyse_offline(struct arena *arena, const char *path, const char *sql,
                          struct analysis *out);

/*
 * "select shop.orders(id, status); call shop.log_it". PART_READ and PART_VIEW begin with "read "
 * and "view "; behind the object: `!` unresolved, `*` columns_unknown. Settings come last: "set x =
 * y". "rejected: …" where the message is.
 */
const char *trap_actions(struct arena *arena, const char *path, const char *sql);

/* The same of what an analysis found. */
const char *trap_text(struct arena *arena, const struct analysis *analysis);

/* The first action with this verb of the first statement; fails the test if there is none. */
const struct action *trap_action(struct arena *arena, const char *sql, enum verb verb);

struct trap_case {
    const char *sql;
    const char *actions;
};

void check_traps(const char *path, const struct trap_case *cases, size_t count);

#define CHECK_TRAPS(path, cases) check_traps(path, cases, sizeof(cases) / sizeof((cases)[0]))

#endif

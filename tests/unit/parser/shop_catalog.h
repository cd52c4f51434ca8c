/* shop_catalog.h - the catalog of a small shop, and what statements would do in it, as text. */
#ifndef PGWICKET_TESTS_PARSER_SHOP_CATALOG_H
#define PGWICKET_TESTS_PARSER_SHOP_CATALOG_H

#include "parser/analyse.h"

/* Released by the caller. Its search_path is meant to be: shop. */
struct catalog *shop_catalog(void);

/* Analyses one message with the shop's catalog, search_path shop. Lives in `arena`; the catalog
 * lives as long as the process. */
void shop_analyse(struct arena *arena, const char *sql, struct analysis *out);

/*
 * What the first statement would do: "create shop.t; code shop.t; set setting statement_timeout =
 * 5s". Columns stand in parentheses, reads of a write begin with "read" instead of "select", a `!`
 * behind an object says that the catalog does not have it. "rejected: …" where the message is.
 */
const char *shop_actions(struct arena *arena, const char *sql);

/* The first statement's shape; NULL if the message is rejected. */
const struct shape *shop_shape(struct arena *arena, const char *sql);

struct action_case {
    const char *sql;
    const char *actions;
};

/* Each case's sql must give its actions. */
void check_actions(const struct action_case *cases, size_t count);

#define CHECK_ACTIONS(cases) check_actions(cases, sizeof(cases) / sizeof((cases)[0]))

#endif

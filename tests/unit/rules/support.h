/* support.h - policies, catalogs and shapes for the tests of rules/, written in a line. */
#ifndef PGWICKET_TESTS_RULES_SUPPORT_H
#define PGWICKET_TESTS_RULES_SUPPORT_H

#include "rules/decide.h"

extern struct arena test_arena; /* of the test process */

/* "select update on shop.orders shop.items": verbs, "on", patterns, separated by spaces. */
struct rule test_rule(enum verdict verdict, const char *words);

struct text *test_names(const char *words, size_t *count);
struct object_pattern *test_columns(const char *words, size_t *count);

/* A policy "p" over the rules, which are named p.1, p.2, … and described. */
struct policy test_policy(struct rule *rules, size_t count);

/* A catalog with shop.customers (id, name, ssn; key id), shop.orders (id, customer_id, status; referenced
 * by shop.items with ON DELETE CASCADE), shop.items, the view shop.directory, shop.events with its
 * partition shop.events_1, the never analysed shop.fresh and the foreign table shop.remote. */
struct catalog *test_catalog(void);

/* An action of the statement itself; the relation is looked up. */
struct action test_action(const struct catalog *catalog, enum verb verb, const char *schema,
                          const char *name, const char *columns);

struct shape test_shape(enum statement_kind kind, const struct action *actions, size_t count);

/* decide() with nothing known of the numbers. */
struct decision test_decide(const struct policy *policy, const struct catalog *catalog,
                            const struct shape *shape);

#endif

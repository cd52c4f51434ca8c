/* utility_test.c - statements that are neither queries nor definitions, and that every kind is
 * known. */
#include "unit/parser/shop_catalog.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>

Test(utility, explain_is_judged_as_if_it_ran)
{
    static const struct action_case cases[] = {
        {"EXPLAIN SELECT id FROM shop.orders", "select shop.orders(id)"},
        {"EXPLAIN (ANALYZE false, ANALYZE) DELETE FROM shop.orders", "delete shop.orders"},
        {"EXPLAIN (ANALYZE, ANALYZE off) DELETE FROM shop.orders", "delete shop.orders"},
        {"EXPLAIN (FORMAT JSON, VERBOSE, COSTS off) SELECT 1", ""},
        {"EXPLAIN (FORMAT 'JSON') SELECT 1",
         "rejected: pgwicket: option format of EXPLAIN is not known to pgwicket; nothing was run"},
        {"EXPLAIN (FROBNICATE) SELECT 1", "rejected: pgwicket: option frobnicate of EXPLAIN is not "
                                          "known to pgwicket; nothing was run"},
        {"EXPLAIN (ANALYZE maybe) SELECT 1",
         "rejected: pgwicket: option analyze needs a Boolean value; nothing was run"},
        {"EXPLAIN (ANALYZE 2) SELECT 1",
         "rejected: pgwicket: option analyze needs a Boolean value; nothing was run"},
        {"EXPLAIN ANALYZE CREATE TABLE shop.evil AS SELECT id FROM shop.orders",
         "create shop.evil; select shop.orders(id)"},
        {"EXPLAIN ANALYZE SELECT id INTO shop.evil FROM shop.orders",
         "create shop.evil; select shop.orders(id)"},
        {"EXPLAIN EXECUTE q(1)", ""},
        {"EXPLAIN EXECUTE pgwicket_hold(1)",
         "rejected: pgwicket: EXPLAIN of EXECUTE pgwicket_hold is not allowed; nothing was run"},
        {"EXPLAIN DECLARE c CURSOR FOR SELECT id FROM shop.orders", "select shop.orders(id)"},
        {"EXPLAIN ANALYZE CREATE MATERIALIZED VIEW shop.mv AS SELECT id FROM shop.orders",
         "create shop.mv; select shop.orders(id)"},
        {"EXPLAIN REFRESH MATERIALIZED VIEW shop.status_totals", "maintain shop.status_totals"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, copy_is_select_or_insert_and_copy_file)
{
    static const struct action_case cases[] = {
        {"COPY shop.orders TO STDOUT", "select shop.orders(id, customer_id, status)"},
        {"COPY shop.orders (id, status) TO STDOUT (FORMAT csv, FORCE_QUOTE *)",
         "select shop.orders(id, status)"},
        {"COPY shop.orders FROM STDIN WHERE status = 'x'",
         "insert shop.orders(id, customer_id, status); read shop.orders(status)"},
        {"COPY shop.orders FROM STDIN (FORMAT csv, CONVERT_SELECTIVELY (id))",
         "rejected: pgwicket: option convert_selectively of COPY is not known to pgwicket; nothing "
         "was run"},
        {"COPY shop.orders FROM '/etc/passwd' (DELIMITER ':')",
         "insert shop.orders(id, customer_id, status); copy_file shop.orders"},
        {"COPY shop.orders TO PROGRAM 'cat'",
         "select shop.orders(id, customer_id, status); copy_file shop.orders"},
        {"COPY (SELECT id FROM shop.orders) TO STDOUT", "select shop.orders(id)"},
        {"COPY (SELECT id FROM shop.orders) TO '/tmp/x'",
         "select shop.orders(id); copy_file (none)"},
        {"COPY (DELETE FROM shop.orders RETURNING id) TO STDOUT",
         "delete shop.orders; read shop.orders(id)"},
        {"COPY nosuch TO STDOUT", "select nosuch(*)!"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, code_is_code_and_procedures_are_called)
{
    static const struct action_case cases[] = {
        {"DO $$ BEGIN END $$", "code language:plpgsql"},
        {"DO LANGUAGE plpython3u 'x'", "code language:plpython3u"},
        {"CALL shop.purge()", "call shop.purge"},
        {"CALL shop.purge(shop.same(1))", "call shop.same; call shop.purge"},
        {"CALL pg_catalog.pg_sleep(1)", "call pg_catalog.pg_sleep"},
        {"LOAD 'lib'", "code (none)"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, maintenance_is_maintain)
{
    static const struct action_case cases[] = {
        {"VACUUM", "maintain (none)"},
        {"VACUUM (FULL, ANALYZE) shop.orders (id), shop.reviews",
         "maintain shop.orders; maintain shop.reviews"},
        {"ANALYZE", "maintain (none)"},
        {"ANALYZE (VERBOSE) shop.orders", "maintain shop.orders"},
        {"VACUUM (FROB) shop.orders",
         "rejected: pgwicket: option frob of VACUUM is not known to pgwicket; nothing was run"},
        {"REINDEX TABLE shop.orders", "maintain shop.orders"},
        {"REINDEX INDEX CONCURRENTLY shop.orders_pkey", "maintain shop.orders"},
        {"REINDEX SCHEMA shop", "maintain schema:shop"},
        {"REINDEX DATABASE d", "maintain database:d"},
        {"REINDEX SYSTEM d", "maintain (none)"},
        {"REINDEX TABLE shop.events", "maintain shop.events"},
        {"CLUSTER", "maintain (none)"},
        {"CLUSTER shop.orders USING orders_pkey", "maintain shop.orders"},
        {"CLUSTER shop.events USING x", "maintain shop.events"},
        {"REFRESH MATERIALIZED VIEW CONCURRENTLY shop.status_totals",
         "maintain shop.status_totals"},
        {"CHECKPOINT", "maintain (none)"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, lock_is_lock)
{
    static const struct action_case cases[] = {
        {"LOCK TABLE shop.orders, shop.customers IN ACCESS EXCLUSIVE MODE NOWAIT",
         "lock shop.orders; lock shop.customers"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, truncate_acts_on_every_table_reached)
{
    static const struct action_case cases[] = {
        {"TRUNCATE shop.order_items", "truncate shop.order_items"},
        {"TRUNCATE shop.customers CASCADE",
         "truncate shop.customers; truncate shop.orders; truncate shop.order_items"},
        {"TRUNCATE shop.events CASCADE", "truncate shop.events; truncate shop.reviews"},
        {"TRUNCATE shop.nosuch CASCADE", "truncate shop.nosuch!; truncate (none)"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, rights_are_granted_on_objects_and_to_roles)
{
    static const struct action_case cases[] = {
        {"GRANT SELECT ON shop.orders TO bob", "grant shop.orders; grant role:bob"},
        {"GRANT SELECT (id), UPDATE (status) ON shop.orders, hr.salaries TO bob, PUBLIC WITH GRANT "
         "OPTION",
         "grant shop.orders; grant hr.salaries; grant role:bob; grant role:public"},
        {"GRANT ALL ON ALL TABLES IN SCHEMA shop, hr TO PUBLIC",
         "grant shop.*; grant hr.*; grant role:public"},
        {"REVOKE SELECT ON shop.orders FROM agent CASCADE",
         "grant shop.orders; grant role:agent; grant role:*"},
        {"GRANT EXECUTE ON FUNCTION shop.bump() TO bob", "grant shop.bump; grant role:bob"},
        {"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA shop TO bob", "grant shop.*; grant role:bob"},
        {"GRANT USAGE ON SCHEMA shop TO bob", "grant schema:shop; grant role:bob"},
        {"GRANT CREATE ON DATABASE d TO bob", "grant database:d; grant role:bob"},
        {"GRANT USAGE ON TYPE shop.mood TO bob", "grant shop.mood; grant role:bob"},
        {"GRANT USAGE ON SEQUENCE shop.orders_id_seq TO bob",
         "grant shop.orders_id_seq; grant role:bob"},
        {"GRANT USAGE ON LANGUAGE plpgsql TO bob", "grant language:plpgsql; grant role:bob"},
        {"GRANT USAGE ON FOREIGN SERVER s TO bob", "grant server:s; grant role:bob"},
        {"GRANT USAGE ON FOREIGN DATA WRAPPER w TO bob", "grant (none); grant role:bob"},
        {"GRANT CREATE ON TABLESPACE ts TO bob", "grant tablespace:ts; grant role:bob"},
        {"GRANT SELECT ON LARGE OBJECT 42 TO bob", "grant (none); grant role:bob"},
        {"GRANT SET, ALTER SYSTEM ON PARAMETER session_replication_role TO agent",
         "grant setting:session_replication_role; grant role:agent"},
        {"GRANT pg_execute_server_program, x TO agent, bob WITH ADMIN OPTION",
         "grant role:pg_execute_server_program; grant role:x; grant role:agent; grant role:bob"},
        {"REVOKE x FROM CURRENT_USER", "grant role:x; grant role:current_user"},
        {"GRANT FROBNICATE ON shop.orders TO bob",
         "rejected: pgwicket: privilege of kind 389 is not understood; nothing was run"},
        {"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO bob", "grant (none); grant role:bob"},
        {"ALTER DEFAULT PRIVILEGES FOR ROLE eve IN SCHEMA shop REVOKE EXECUTE ON FUNCTIONS FROM "
         "PUBLIC",
         "grant shop.*; alter role:eve; grant role:public"},
    };

    CHECK_ACTIONS(cases);
}

Test(utility, comments_and_labels_are_comment)
{
    static const struct action_case cases[] = {
        {"COMMENT ON TABLE shop.orders IS 'x'", "comment shop.orders"},
        {"COMMENT ON COLUMN shop.orders.id IS 'x'", "comment shop.orders"},
        {"COMMENT ON CONSTRAINT c ON shop.orders IS 'x'", "comment shop.orders"},
        {"COMMENT ON CONSTRAINT c ON DOMAIN shop.email IS 'x'", "comment shop.email"},
        {"COMMENT ON INDEX shop.orders_pkey IS 'x'", "comment shop.orders"},
        {"COMMENT ON FUNCTION shop.bump() IS 'x'", "comment shop.bump"},
        {"COMMENT ON TYPE shop.mood IS 'x'", "comment shop.mood"},
        {"COMMENT ON DATABASE d IS 'x'", "comment database:d"},
        {"COMMENT ON ROLE bob IS 'x'", "comment role:bob"},
        {"COMMENT ON LARGE OBJECT 42 IS 'x'", "comment (none)"},
        {"COMMENT ON TRIGGER t ON shop.orders IS NULL", "comment shop.orders"},
        {"COMMENT ON CAST (int AS text) IS 'x'", "comment (none)"},
        {"SECURITY LABEL ON TABLE shop.orders IS 'x'", "comment shop.orders"},
        {"SECURITY LABEL FOR p ON ROLE bob IS 'x'", "comment role:bob"},
    };

    CHECK_ACTIONS(cases);
}

/* --- facts of the shape --------------------------------------------------------------------------
 */

struct fact_case {
    const char *sql;
    enum statement_kind kind;
    unsigned changes;
    bool not_in_block;
    bool returns_rows;
};

enum {
    ANYTHING = CHANGES_BY_CODE | CHANGES_SETTINGS | CHANGES_ROLE | CHANGES_OBJECTS | CHANGES_NAMES |
               CHANGES_TRANSACTION,
    UNDONE = CHANGES_TRANSACTION | CHANGES_OBJECTS | CHANGES_SETTINGS | CHANGES_ROLE,
};

static const struct fact_case facts[] = {
    {"BEGIN", STATEMENT_BEGIN, CHANGES_TRANSACTION, false, false},
    {"COMMIT", STATEMENT_COMMIT, CHANGES_TRANSACTION, false, false},
    {"ROLLBACK", STATEMENT_ROLLBACK, UNDONE, false, false},
    {"SAVEPOINT s", STATEMENT_SAVEPOINT, CHANGES_TRANSACTION, false, false},
    {"ROLLBACK TO s", STATEMENT_ROLLBACK_TO, UNDONE, false, false},
    {"COMMIT PREPARED 'x'", STATEMENT_TWO_PHASE, UNDONE, true, false},
    {"SET statement_timeout = 1", STATEMENT_SET, CHANGES_SETTINGS, false, false},
    {"SET ROLE bob", STATEMENT_SET, CHANGES_SETTINGS | CHANGES_ROLE, false, false},
    {"SHOW ALL", STATEMENT_SHOW, 0, false, true},
    {"DISCARD ALL", STATEMENT_DISCARD,
     CHANGES_SETTINGS | CHANGES_ROLE | CHANGES_NAMES | CHANGES_OBJECTS, true, false},
    {"DISCARD TEMP", STATEMENT_DISCARD, CHANGES_OBJECTS, false, false},
    {"DISCARD PLANS", STATEMENT_DISCARD, 0, false, false},
    {"PREPARE p AS SELECT 1", STATEMENT_PREPARE, CHANGES_NAMES, false, false},
    {"EXECUTE p", STATEMENT_EXECUTE, 0, false, false},
    {"DEALLOCATE ALL", STATEMENT_DEALLOCATE, CHANGES_NAMES, false, false},
    {"DECLARE c CURSOR FOR SELECT 1", STATEMENT_DECLARE, CHANGES_NAMES, false, false},
    {"FETCH c", STATEMENT_FETCH, 0, false, true},
    {"MOVE c", STATEMENT_FETCH, 0, false, false},
    {"CLOSE c", STATEMENT_CLOSE, CHANGES_NAMES, false, false},
    {"LISTEN c", STATEMENT_LISTEN, 0, false, false},
    {"EXPLAIN SELECT 1", STATEMENT_EXPLAIN, 0, false, true},
    {"EXPLAIN CREATE TABLE shop.t AS SELECT 1", STATEMENT_EXPLAIN, 0, false, true},
    {"EXPLAIN ANALYZE CREATE TABLE shop.t AS SELECT 1", STATEMENT_EXPLAIN, CHANGES_OBJECTS, false,
     true},
    {"COPY shop.orders TO STDOUT", STATEMENT_COPY_OUT, 0, false, false},
    {"COPY shop.orders FROM STDIN", STATEMENT_COPY_IN, 0, false, false},
    {"COPY shop.orders FROM '/x'", STATEMENT_UTILITY, 0, false, false},
    {"CALL shop.purge()", STATEMENT_CODE, ANYTHING, false, true},
    {"DO 'x'", STATEMENT_CODE, ANYTHING, false, false},
    {"CREATE TABLE shop.t (x int)", STATEMENT_UTILITY, CHANGES_OBJECTS, false, false},
    {"CREATE TABLE shop.t AS SELECT 1", STATEMENT_UTILITY, CHANGES_OBJECTS, false, false},
    {"SELECT 1 INTO shop.t", STATEMENT_UTILITY, CHANGES_OBJECTS, false, false},
    {"CREATE VIEW shop.v AS SELECT 1", STATEMENT_UTILITY, CHANGES_OBJECTS, false, false},
    {"DROP TABLE shop.orders", STATEMENT_UTILITY, CHANGES_OBJECTS, false, false},
    {"GRANT SELECT ON shop.orders TO bob", STATEMENT_UTILITY, 0, false, false},
    {"COMMENT ON TABLE shop.orders IS 'x'", STATEMENT_UTILITY, 0, false, false},
    {"TRUNCATE shop.orders", STATEMENT_UTILITY, 0, false, false},
    {"VACUUM", STATEMENT_UTILITY, 0, true, false},
    {"ANALYZE", STATEMENT_UTILITY, 0, false, false},
    {"REINDEX TABLE shop.orders", STATEMENT_UTILITY, 0, false, false},
    {"REINDEX TABLE CONCURRENTLY shop.orders", STATEMENT_UTILITY, 0, true, false},
    {"REINDEX (CONCURRENTLY off) TABLE shop.orders", STATEMENT_UTILITY, 0, false, false},
    {"REINDEX DATABASE d", STATEMENT_UTILITY, 0, true, false},
    {"CLUSTER", STATEMENT_UTILITY, 0, true, false},
    {"CLUSTER shop.orders", STATEMENT_UTILITY, 0, false, false},
    {"CREATE INDEX ON shop.orders (id)", STATEMENT_UTILITY, CHANGES_OBJECTS, false, false},
    {"CREATE INDEX CONCURRENTLY ON shop.orders (id)", STATEMENT_UTILITY, CHANGES_OBJECTS, true,
     false},
    {"DROP INDEX CONCURRENTLY shop.orders_pkey", STATEMENT_UTILITY, CHANGES_OBJECTS, true, false},
    {"ALTER TABLE shop.events DETACH PARTITION shop.events_1", STATEMENT_UTILITY, CHANGES_OBJECTS,
     false, false},
    {"ALTER TABLE shop.events DETACH PARTITION shop.events_1 CONCURRENTLY", STATEMENT_UTILITY,
     CHANGES_OBJECTS, true, false},
    {"CREATE DATABASE d", STATEMENT_UTILITY, 0, true, false},
    {"DROP DATABASE d", STATEMENT_UTILITY, CHANGES_OBJECTS, true, false},
    {"CREATE TABLESPACE t LOCATION '/x'", STATEMENT_UTILITY, 0, true, false},
    {"DROP TABLESPACE t", STATEMENT_UTILITY, CHANGES_OBJECTS, true, false},
    {"ALTER SYSTEM RESET ALL", STATEMENT_UTILITY, 0, true, false},
    {"CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p", STATEMENT_UTILITY, CHANGES_OBJECTS, true,
     false},
};

Test(utility, facts_say_what_changes_and_where_it_may_run)
{
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
        const struct shape *shape = shop_shape(&arena, facts[i].sql);

        cr_assert_not_null(shape, "%s", facts[i].sql);
        cr_expect_eq(shape->kind, facts[i].kind, "%s: kind %d", facts[i].sql, shape->kind);
        cr_expect_eq(shape->changes, facts[i].changes, "%s: %x", facts[i].sql, shape->changes);
        cr_expect_eq(shape->not_in_block, facts[i].not_in_block, "%s", facts[i].sql);
        cr_expect_eq(shape->returns_rows, facts[i].returns_rows, "%s", facts[i].sql);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

Test(utility, inner_statements_have_their_own_shape)
{
    static const struct {
        const char *sql;
        enum statement_kind inner;
        const char *name;
        bool analyze;
    } cases[] = {
        {"PREPARE p AS SELECT id FROM shop.orders WHERE id = $1", STATEMENT_SELECT, "p", false},
        {"DECLARE c CURSOR FOR SELECT id FROM shop.orders", STATEMENT_SELECT, "c", false},
        {"EXPLAIN DELETE FROM shop.orders", STATEMENT_WRITE, "", false},
        {"EXPLAIN ANALYZE DELETE FROM shop.orders", STATEMENT_WRITE, "", true},
        {"EXPLAIN (ANALYZE, ANALYZE false) DELETE FROM shop.orders", STATEMENT_WRITE, "", false},
        {"EXPLAIN (ANALYZE 0, VERBOSE, ANALYZE 'ON') DELETE FROM shop.orders", STATEMENT_WRITE, "",
         true},
        {"EXPLAIN EXECUTE q", STATEMENT_EXECUTE, "", false},
        {"EXPLAIN CREATE TABLE shop.t AS SELECT 1", STATEMENT_UTILITY, "", false},
    };
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct shape *shape = shop_shape(&arena, cases[i].sql);

        cr_assert_not_null(shape, "%s", cases[i].sql);
        cr_assert_not_null(shape->inner, "%s", cases[i].sql);
        cr_expect_eq(shape->inner->kind, cases[i].inner, "%s", cases[i].sql);
        cr_expect(text_is(shape->name, cases[i].name), "%s", cases[i].sql);
        cr_expect_eq(shape->explain_analyze, cases[i].analyze, "%s", cases[i].sql);
        cr_expect_eq(shape->inner->action_count, shape->action_count, "%s", cases[i].sql);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

Test(utility, options_that_are_not_listed_are_rejected)
{
    static const char *const statements[] = {
        "EXPLAIN (SERIALIZE) SELECT 1",
        "EXPLAIN (FORMAT binary) SELECT 1",
        "COPY shop.orders FROM STDIN (ON_ERROR ignore)",
        "VACUUM (BUFFER_USAGE_LIMIT 1) shop.orders",
        "ANALYZE (FULL) shop.orders",
        "CLUSTER (CONCURRENTLY) shop.orders",
        "REINDEX (FROB) TABLE shop.orders",
        "CREATE TABLE shop.t (x int) WITH (other.fillfactor = 1)",
        "CREATE DATABASE d FROB 1",
        "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p WITH (origin = any)",
        "CREATE PUBLICATION p WITH (frob = 1)",
        "ALTER TABLESPACE t SET (frob = 1)",
        "CREATE TYPE shop.t (INPUT = f, FROB = g)",
    };
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
        struct analysis analysis;

        shop_analyse(&arena, statements[i], &analysis);
        cr_expect_eq(analysis.result, ANALYSE_REJECTED, "%s: %d", statements[i], analysis.result);
    }
    arena_release(&arena);
}

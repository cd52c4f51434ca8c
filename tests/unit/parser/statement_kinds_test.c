/*
 * statement_kinds_test.c - every statement node of the grammar's major is either a query, or has a
 * handler that understands it, or can never be a statement by itself.
 */
#include "parser/parse.h"
#include "parser/walk_utility.h"
#include "unit/parser/shop_catalog.h"

#include <criterion/criterion.h>

struct example {
    NodeTag tag;
    const char *sql;
};

static const struct example utilities[] = {
    {T_AlterCollationStmt, "ALTER COLLATION shop.c REFRESH VERSION"},
    {T_AlterDatabaseRefreshCollStmt, "ALTER DATABASE d REFRESH COLLATION VERSION"},
    {T_AlterDatabaseSetStmt, "ALTER DATABASE d SET work_mem = 4"},
    {T_AlterDatabaseStmt, "ALTER DATABASE d CONNECTION LIMIT 3"},
    {T_AlterDefaultPrivilegesStmt, "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO bob"},
    {T_AlterDomainStmt, "ALTER DOMAIN shop.email DROP NOT NULL"},
    {T_AlterEnumStmt, "ALTER TYPE shop.mood ADD VALUE 'x'"},
    {T_AlterEventTrigStmt, "ALTER EVENT TRIGGER et DISABLE"},
    {T_AlterExtensionContentsStmt, "ALTER EXTENSION e ADD TABLE shop.orders"},
    {T_AlterExtensionStmt, "ALTER EXTENSION e UPDATE"},
    {T_AlterFdwStmt, "ALTER FOREIGN DATA WRAPPER w OPTIONS (SET a 'b')"},
    {T_AlterForeignServerStmt, "ALTER SERVER s VERSION '2'"},
    {T_AlterFunctionStmt, "ALTER FUNCTION shop.bump() STRICT"},
    {T_AlterObjectDependsStmt, "ALTER FUNCTION shop.bump() DEPENDS ON EXTENSION e"},
    {T_AlterObjectSchemaStmt, "ALTER TABLE shop.orders SET SCHEMA hr"},
    {T_AlterOpFamilyStmt, "ALTER OPERATOR FAMILY shop.f USING btree DROP FUNCTION 1 (int, int)"},
    {T_AlterOperatorStmt, "ALTER OPERATOR shop.=== (int, int) SET (JOIN = NONE)"},
    {T_AlterOwnerStmt, "ALTER SCHEMA shop OWNER TO bob"},
    {T_AlterPolicyStmt, "ALTER POLICY p ON shop.orders USING (true)"},
    {T_AlterPublicationStmt, "ALTER PUBLICATION p ADD TABLE shop.orders"},
    {T_AlterRoleSetStmt, "ALTER ROLE bob SET work_mem = 4"},
    {T_AlterRoleStmt, "ALTER ROLE bob NOLOGIN"},
    {T_AlterSeqStmt, "ALTER SEQUENCE shop.orders_id_seq RESTART"},
    {T_AlterStatsStmt, "ALTER STATISTICS shop.st SET STATISTICS 5"},
    {T_AlterSubscriptionStmt, "ALTER SUBSCRIPTION s DISABLE"},
    {T_AlterSystemStmt, "ALTER SYSTEM RESET ALL"},
    {T_AlterTSConfigurationStmt,
     "ALTER TEXT SEARCH CONFIGURATION shop.c ADD MAPPING FOR word WITH simple"},
    {T_AlterTSDictionaryStmt, "ALTER TEXT SEARCH DICTIONARY shop.d (stopwords = 'x')"},
    {T_AlterTableMoveAllStmt, "ALTER TABLE ALL IN TABLESPACE a SET TABLESPACE b"},
    {T_AlterTableSpaceOptionsStmt, "ALTER TABLESPACE t SET (seq_page_cost = 2)"},
    {T_AlterTableStmt, "ALTER TABLE shop.orders DROP COLUMN status"},
    {T_AlterTypeStmt, "ALTER TYPE shop.mood SET (STORAGE = plain)"},
    {T_AlterUserMappingStmt, "ALTER USER MAPPING FOR bob SERVER s OPTIONS (SET a 'b')"},
    {T_CallStmt, "CALL shop.purge()"},
    {T_CheckPointStmt, "CHECKPOINT"},
    {T_ClosePortalStmt, "CLOSE c"},
    {T_ClusterStmt, "CLUSTER"},
    {T_CommentStmt, "COMMENT ON TABLE shop.orders IS 'x'"},
    {T_CompositeTypeStmt, "CREATE TYPE shop.t AS (a int)"},
    {T_ConstraintsSetStmt, "SET CONSTRAINTS ALL IMMEDIATE"},
    {T_CopyStmt, "COPY shop.orders TO STDOUT"},
    {T_CreateAmStmt, "CREATE ACCESS METHOD am TYPE TABLE HANDLER heap_tableam_handler"},
    {T_CreateCastStmt, "CREATE CAST (int AS shop.mood) WITH INOUT"},
    {T_CreateConversionStmt,
     "CREATE CONVERSION shop.cv FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8"},
    {T_CreateDomainStmt, "CREATE DOMAIN shop.d AS int"},
    {T_CreateEnumStmt, "CREATE TYPE shop.t AS ENUM ('a')"},
    {T_CreateEventTrigStmt, "CREATE EVENT TRIGGER et ON sql_drop EXECUTE FUNCTION shop.bump()"},
    {T_CreateExtensionStmt, "CREATE EXTENSION e"},
    {T_CreateFdwStmt, "CREATE FOREIGN DATA WRAPPER w"},
    {T_CreateForeignServerStmt, "CREATE SERVER s FOREIGN DATA WRAPPER w"},
    {T_CreateForeignTableStmt, "CREATE FOREIGN TABLE shop.ft (x int) SERVER s"},
    {T_CreateFunctionStmt, "CREATE FUNCTION shop.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"},
    {T_CreateOpClassStmt, "CREATE OPERATOR CLASS shop.oc FOR TYPE int USING btree AS OPERATOR 1 <"},
    {T_CreateOpFamilyStmt, "CREATE OPERATOR FAMILY shop.f USING btree"},
    {T_CreatePLangStmt, "CREATE LANGUAGE x HANDLER shop.same"},
    {T_CreatePolicyStmt, "CREATE POLICY p ON shop.orders"},
    {T_CreatePublicationStmt, "CREATE PUBLICATION p"},
    {T_CreateRangeStmt, "CREATE TYPE shop.r AS RANGE (SUBTYPE = int)"},
    {T_CreateRoleStmt, "CREATE ROLE r"},
    {T_CreateSchemaStmt, "CREATE SCHEMA s"},
    {T_CreateSeqStmt, "CREATE SEQUENCE shop.s"},
    {T_CreateStatsStmt, "CREATE STATISTICS shop.st ON id, status FROM shop.orders"},
    {T_CreateStmt, "CREATE TABLE shop.t (x int)"},
    {T_CreateSubscriptionStmt, "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p"},
    {T_CreateTableAsStmt, "CREATE TABLE shop.t AS SELECT 1"},
    {T_CreateTableSpaceStmt, "CREATE TABLESPACE t LOCATION '/x'"},
    {T_CreateTransformStmt,
     "CREATE TRANSFORM FOR int LANGUAGE sql (TO SQL WITH FUNCTION shop.same(internal))"},
    {T_CreateTrigStmt, "CREATE TRIGGER t AFTER INSERT ON shop.orders EXECUTE FUNCTION shop.bump()"},
    {T_CreateUserMappingStmt, "CREATE USER MAPPING FOR bob SERVER s"},
    {T_CreatedbStmt, "CREATE DATABASE d"},
    {T_DeallocateStmt, "DEALLOCATE p"},
    {T_DeclareCursorStmt, "DECLARE c CURSOR FOR SELECT 1"},
    {T_DefineStmt, "CREATE AGGREGATE shop.a(int) (SFUNC = int4pl, STYPE = int)"},
    {T_DiscardStmt, "DISCARD ALL"},
    {T_DoStmt, "DO 'x'"},
    {T_DropOwnedStmt, "DROP OWNED BY bob"},
    {T_DropRoleStmt, "DROP ROLE bob"},
    {T_DropStmt, "DROP TABLE shop.orders"},
    {T_DropSubscriptionStmt, "DROP SUBSCRIPTION s"},
    {T_DropTableSpaceStmt, "DROP TABLESPACE t"},
    {T_DropUserMappingStmt, "DROP USER MAPPING FOR bob SERVER s"},
    {T_DropdbStmt, "DROP DATABASE d"},
    {T_ExecuteStmt, "EXECUTE p"},
    {T_ExplainStmt, "EXPLAIN SELECT 1"},
    {T_FetchStmt, "FETCH c"},
    {T_GrantRoleStmt, "GRANT a TO b"},
    {T_GrantStmt, "GRANT SELECT ON shop.orders TO b"},
    {T_ImportForeignSchemaStmt, "IMPORT FOREIGN SCHEMA r FROM SERVER s INTO shop"},
    {T_IndexStmt, "CREATE INDEX ON shop.orders (id)"},
    {T_ListenStmt, "LISTEN c"},
    {T_LoadStmt, "LOAD 'x'"},
    {T_LockStmt, "LOCK shop.orders"},
    {T_NotifyStmt, "NOTIFY c"},
    {T_PrepareStmt, "PREPARE p AS SELECT 1"},
    {T_ReassignOwnedStmt, "REASSIGN OWNED BY a TO b"},
    {T_RefreshMatViewStmt, "REFRESH MATERIALIZED VIEW shop.status_totals"},
    {T_ReindexStmt, "REINDEX TABLE shop.orders"},
    {T_RenameStmt, "ALTER TABLE shop.orders RENAME TO x"},
    {T_RuleStmt, "CREATE RULE r AS ON DELETE TO shop.orders DO INSTEAD NOTHING"},
    {T_SecLabelStmt, "SECURITY LABEL ON TABLE shop.orders IS 'x'"},
    {T_TransactionStmt, "BEGIN"},
    {T_TruncateStmt, "TRUNCATE shop.orders"},
    {T_UnlistenStmt, "UNLISTEN *"},
    {T_VacuumStmt, "VACUUM"},
    {T_VariableSetStmt, "RESET ALL"},
    {T_VariableShowStmt, "SHOW ALL"},
    {T_ViewStmt, "CREATE VIEW shop.v AS SELECT 1"},
};

static const NodeTag queries[] = {T_SelectStmt, T_InsertStmt, T_UpdateStmt, T_DeleteStmt,
                                  T_MergeStmt};

/* Parts of statements, and what only exists after parse analysis or inside a routine. */
static const NodeTag never_statements[] = {
    T_RawStmt,          T_Query,      T_PlannedStmt,  T_AlterTableCmd,
    T_SetOperationStmt, T_ReturnStmt, T_PLAssignStmt, T_ReplicaIdentityStmt,
};

static size_t times_listed(NodeTag tag)
{
    size_t times = 0;

    for (size_t i = 0; i < ARRAY_SIZE(utilities); i++)
        times += utilities[i].tag == tag;
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
        times += queries[i] == tag;
    for (size_t i = 0; i < ARRAY_SIZE(never_statements); i++)
        times += never_statements[i] == tag;
    return times;
}

/* The statement nodes are one block of tags, which expressions follow. */
Test(statement_kinds, every_statement_node_is_listed_once)
{
    for (int tag = T_RawStmt; tag < T_A_Expr; tag++)
        cr_expect_eq(times_listed((NodeTag)tag), 1, "node tag %d", tag);
}

Test(statement_kinds, utilities_and_nothing_else_have_a_handler)
{
    for (size_t i = 0; i < ARRAY_SIZE(utilities); i++)
        cr_expect_not_null(walk_utility_handler(utilities[i].tag), "%s", utilities[i].sql);
    for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
        cr_expect_null(walk_utility_handler(queries[i]));
    for (size_t i = 0; i < ARRAY_SIZE(never_statements); i++)
        cr_expect_null(walk_utility_handler(never_statements[i]));
    cr_expect_null(walk_utility_handler(T_Invalid));
    cr_expect_null(walk_utility_handler(T_A_Expr));
}

static NodeTag tag_of(struct arena *arena, const char *sql)
{
    struct grammar_visit visit = grammar_enter();
    struct List *tree = NULL;
    NodeTag tag = T_Invalid;

    if (grammar_parse(visit, sql, &tree, arena, NULL))
        tag = nodeTag(((RawStmt *)linitial(tree))->stmt);
    grammar_leave(visit);
    return tag;
}

Test(statement_kinds, examples_are_of_their_kind_and_are_understood)
{
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(utilities); i++) {
        cr_expect_eq(tag_of(&arena, utilities[i].sql), utilities[i].tag, "%s", utilities[i].sql);
        cr_expect_not_null(shop_shape(&arena, utilities[i].sql), "%s: %s", utilities[i].sql,
                           shop_actions(&arena, utilities[i].sql));
        arena_reset(&arena);
    }
    arena_release(&arena);
}

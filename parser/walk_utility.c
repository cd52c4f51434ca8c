/*
 * walk_utility.c - finds the handler of a statement that is no query, and walks statements inside
 * statements.
 *
 * A kind without a handler (also one of a later major) fails the walk.
 */
#include "parser/walk_utility.h"

#include "proxy/base/invariant.h"

#include <string.h>

#define FIRST_STATEMENT T_RawStmt

#define ON(tag) [(tag)-FIRST_STATEMENT]

static walk_handler *const handlers[] = {
    ON(T_AlterCollationStmt) = walk_alter_collation,
    ON(T_AlterDatabaseRefreshCollStmt) = walk_alter_database_collation,
    ON(T_AlterDatabaseSetStmt) = walk_alter_database_set,
    ON(T_AlterDatabaseStmt) = walk_alter_database,
    ON(T_AlterDefaultPrivilegesStmt) = walk_alter_default_privileges,
    ON(T_AlterDomainStmt) = walk_alter_domain,
    ON(T_AlterEnumStmt) = walk_alter_enum,
    ON(T_AlterEventTrigStmt) = walk_alter_event_trigger,
    ON(T_AlterExtensionContentsStmt) = walk_alter_extension_contents,
    ON(T_AlterExtensionStmt) = walk_alter_extension,
    ON(T_AlterFdwStmt) = walk_alter_fdw,
    ON(T_AlterForeignServerStmt) = walk_alter_server,
    ON(T_AlterFunctionStmt) = walk_alter_function,
    ON(T_AlterObjectDependsStmt) = walk_alter_depends,
    ON(T_AlterObjectSchemaStmt) = walk_alter_schema,
    ON(T_AlterOpFamilyStmt) = walk_alter_operator_family,
    ON(T_AlterOperatorStmt) = walk_alter_operator,
    ON(T_AlterOwnerStmt) = walk_alter_owner,
    ON(T_AlterPolicyStmt) = walk_alter_policy,
    ON(T_AlterPublicationStmt) = walk_alter_publication,
    ON(T_AlterRoleSetStmt) = walk_alter_role_set,
    ON(T_AlterRoleStmt) = walk_alter_role,
    ON(T_AlterSeqStmt) = walk_alter_sequence,
    ON(T_AlterStatsStmt) = walk_alter_statistics,
    ON(T_AlterSubscriptionStmt) = walk_alter_subscription,
    ON(T_AlterSystemStmt) = walk_alter_system,
    ON(T_AlterTSConfigurationStmt) = walk_alter_text_search_configuration,
    ON(T_AlterTSDictionaryStmt) = walk_alter_text_search_dictionary,
    ON(T_AlterTableMoveAllStmt) = walk_move_all,
    ON(T_AlterTableSpaceOptionsStmt) = walk_alter_tablespace,
    ON(T_AlterTableStmt) = walk_alter_table,
    ON(T_AlterTypeStmt) = walk_alter_type,
    ON(T_AlterUserMappingStmt) = walk_alter_user_mapping,
    ON(T_CallStmt) = walk_call_statement,
    ON(T_CheckPointStmt) = walk_checkpoint,
    ON(T_ClosePortalStmt) = walk_close,
    ON(T_ClusterStmt) = walk_cluster,
    ON(T_CommentStmt) = walk_comment,
    ON(T_CompositeTypeStmt) = walk_create_composite_type,
    ON(T_ConstraintsSetStmt) = walk_set_constraints,
    ON(T_CopyStmt) = walk_copy,
    ON(T_CreateAmStmt) = walk_create_access_method,
    ON(T_CreateCastStmt) = walk_create_cast,
    ON(T_CreateConversionStmt) = walk_create_conversion,
    ON(T_CreateDomainStmt) = walk_create_domain,
    ON(T_CreateEnumStmt) = walk_create_enum,
    ON(T_CreateEventTrigStmt) = walk_create_event_trigger,
    ON(T_CreateExtensionStmt) = walk_create_extension,
    ON(T_CreateFdwStmt) = walk_create_fdw,
    ON(T_CreateForeignServerStmt) = walk_create_server,
    ON(T_CreateForeignTableStmt) = walk_create_foreign_table,
    ON(T_CreateFunctionStmt) = walk_create_function,
    ON(T_CreateOpClassStmt) = walk_create_operator_class,
    ON(T_CreateOpFamilyStmt) = walk_create_operator_family,
    ON(T_CreatePLangStmt) = walk_create_language,
    ON(T_CreatePolicyStmt) = walk_create_policy,
    ON(T_CreatePublicationStmt) = walk_create_publication,
    ON(T_CreateRangeStmt) = walk_create_range,
    ON(T_CreateRoleStmt) = walk_create_role,
    ON(T_CreateSchemaStmt) = walk_create_schema,
    ON(T_CreateSeqStmt) = walk_create_sequence,
    ON(T_CreateStatsStmt) = walk_create_statistics,
    ON(T_CreateStmt) = walk_create_table,
    ON(T_CreateSubscriptionStmt) = walk_create_subscription,
    ON(T_CreateTableAsStmt) = walk_create_table_as,
    ON(T_CreateTableSpaceStmt) = walk_create_tablespace,
    ON(T_CreateTransformStmt) = walk_create_transform,
    ON(T_CreateTrigStmt) = walk_create_trigger,
    ON(T_CreateUserMappingStmt) = walk_create_user_mapping,
    ON(T_CreatedbStmt) = walk_create_database,
    ON(T_DeallocateStmt) = walk_deallocate,
    ON(T_DeclareCursorStmt) = walk_declare,
    ON(T_DefineStmt) = walk_define,
    ON(T_DiscardStmt) = walk_discard,
    ON(T_DoStmt) = walk_do,
    ON(T_DropOwnedStmt) = walk_drop_owned,
    ON(T_DropRoleStmt) = walk_drop_role,
    ON(T_DropStmt) = walk_drop,
    ON(T_DropSubscriptionStmt) = walk_drop_subscription,
    ON(T_DropTableSpaceStmt) = walk_drop_tablespace,
    ON(T_DropUserMappingStmt) = walk_drop_user_mapping,
    ON(T_DropdbStmt) = walk_drop_database,
    ON(T_ExecuteStmt) = walk_execute,
    ON(T_ExplainStmt) = walk_explain,
    ON(T_FetchStmt) = walk_fetch,
    ON(T_GrantRoleStmt) = walk_grant_role,
    ON(T_GrantStmt) = walk_grant,
    ON(T_ImportForeignSchemaStmt) = walk_import_foreign_schema,
    ON(T_IndexStmt) = walk_create_index,
    ON(T_ListenStmt) = walk_listen,
    ON(T_LoadStmt) = walk_load,
    ON(T_LockStmt) = walk_lock,
    ON(T_NotifyStmt) = walk_notify,
    ON(T_PrepareStmt) = walk_prepare,
    ON(T_ReassignOwnedStmt) = walk_reassign_owned,
    ON(T_RefreshMatViewStmt) = walk_refresh,
    ON(T_ReindexStmt) = walk_reindex,
    ON(T_RenameStmt) = walk_rename,
    ON(T_RuleStmt) = walk_create_rule,
    ON(T_SecLabelStmt) = walk_security_label,
    ON(T_TransactionStmt) = walk_transaction,
    ON(T_TruncateStmt) = walk_truncate,
    ON(T_UnlistenStmt) = walk_unlisten,
    ON(T_VacuumStmt) = walk_vacuum,
    ON(T_VariableSetStmt) = walk_set,
    ON(T_VariableShowStmt) = walk_show,
    ON(T_ViewStmt) = walk_create_view,
};

walk_handler *walk_utility_handler(NodeTag tag)
{
    size_t index = (size_t)tag - FIRST_STATEMENT;

    return tag >= FIRST_STATEMENT && index < ARRAY_SIZE(handlers) ? handlers[index] : NULL;
}

/* CREATE FUNCTION has its language look at the body; these two do not run any of it. */
static bool has_plain_body(const CreateFunctionStmt *statement)
{
    static const char *const languages[] = {"sql", "plpgsql"};
    const DefElem *language = option_last(statement->options, "language");

    if (language == NULL || language->arg == NULL || !IsA(language->arg, String))
        return language == NULL && statement->sql_body != NULL;
    for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
        if (strcmp(strVal(language->arg), languages[i]) == 0)
            return true;
    return false;
}

/* Roles and databases are not among them: they are of the whole server. */
static enum ddl ddl_of(const Node *statement)
{
    switch (nodeTag(statement)) {
    case T_TruncateStmt:
        return DDL_TRUNCATE;
    case T_CreateFunctionStmt:
        return has_plain_body((const CreateFunctionStmt *)statement) ? DDL_OBJECTS : DDL_NONE;
    case T_AlterDefaultPrivilegesStmt:
    case T_AlterDomainStmt:
    case T_AlterEnumStmt:
    case T_AlterFunctionStmt:
    case T_AlterObjectSchemaStmt:
    case T_AlterOwnerStmt:
    case T_AlterPolicyStmt:
    case T_AlterSeqStmt:
    case T_AlterStatsStmt:
    case T_AlterTableStmt:
    case T_CommentStmt:
    case T_CompositeTypeStmt:
    case T_CreateDomainStmt:
    case T_CreateEnumStmt:
    case T_CreatePolicyStmt:
    case T_CreateSchemaStmt:
    case T_CreateSeqStmt:
    case T_CreateStatsStmt:
    case T_CreateStmt:
    case T_CreateTableAsStmt:
    case T_CreateTrigStmt:
    case T_DropOwnedStmt:
    case T_DropStmt:
    case T_GrantRoleStmt:
    case T_GrantStmt:
    case T_IndexStmt:
    case T_ReassignOwnedStmt:
    case T_RenameStmt:
    case T_RuleStmt:
    case T_ViewStmt:
        return DDL_OBJECTS;
    default:
        return DDL_NONE;
    }
}

/* Drafted relations (walk_table.c) have no number unless they stand for one that exists. */
static bool is_draft_of_nothing(const struct action *action)
{
    return action->relation != NULL && action->relation->oid == 0;
}

/* What expressions read of a table that the statement makes is not an action, and what they read of
 * a draft of an existing table is read of that table. */
static void settle_drafts(struct walk *walk)
{
    size_t *kept_before = arena_array(walk->arena, walk->action_count, sizeof(*kept_before));
    size_t kept = 0;

    for (size_t i = 0; i < walk->action_count; i++) {
        struct action *action = &walk->actions[i];

        kept_before[i] = kept;
        if (is_draft_of_nothing(action))
            continue;
        if (action->relation != NULL && walk->context->catalog != NULL)
            action->relation =
                catalog_relation_by_oid(walk->context->catalog, action->relation->oid);
        if (action->part == PART_VIEW)
            action->view_action = kept_before[action->view_action];
        walk->actions[kept++] = *action;
    }
    walk->action_count = kept;
}

void walk_utility(struct walk *walk, Node *statement)
{
    walk_handler *handler = walk_utility_handler(nodeTag(statement));

    walk->shape->kind = STATEMENT_UTILITY;
    if (handler == NULL) {
        walk_unknown(walk, "statement", (int)nodeTag(statement), -1);
        return;
    }
    walk->shape->ddl = ddl_of(statement);
    if (!walk_enter(walk))
        return;
    handler(walk, statement);
    walk_leave(walk);
    settle_drafts(walk);
}

static void append_actions(struct walk *outer, const struct walk *inner)
{
    size_t base = outer->action_count;

    for (size_t i = 0; i < inner->action_count; i++) {
        struct action *action =
            walk_add(outer, inner->actions[i].verb, inner->actions[i].object, -1);

        *action = inner->actions[i];
        if (action->part == PART_VIEW)
            action->view_action += base;
    }
}

static void append_settings(struct walk *outer, const struct walk *inner)
{
    for (size_t i = 0; i < inner->setting_count; i++)
        *(struct setting_use *)arena_push(outer->arena, (void **)&outer->settings,
                                          &outer->setting_count, &outer->setting_capacity,
                                          sizeof(*outer->settings)) = inner->settings[i];
}

static void append_functions(struct walk *outer, const struct walk *inner)
{
    for (size_t i = 0; i < inner->function_count; i++)
        *(struct text *)arena_push(outer->arena, (void **)&outer->functions, &outer->function_count,
                                   &outer->function_capacity, sizeof(*outer->functions)) =
            inner->functions[i];
}

static void take_failure(struct walk *outer, const struct walk *inner)
{
    outer->failed = true;
    outer->result = inner->result;
    for (size_t i = 0; i < sizeof(outer->sqlstate); i++)
        outer->sqlstate[i] = inner->sqlstate[i];
    outer->message = inner->message;
    outer->detail = inner->detail;
    outer->hint = inner->hint;
    outer->location = inner->location;
}

/* Gives the inner shape what its walk found. */
static void finish_shape(struct walk *inner)
{
    struct shape *shape = inner->shape;

    shape->actions = inner->actions;
    shape->action_count = inner->action_count;
    shape->settings = inner->settings;
    shape->setting_count = inner->setting_count;
    shape->functions = inner->functions;
    shape->function_count = inner->function_count;
}

static void append_facts(struct shape *outer, const struct shape *inner, bool own_parameters)
{
    outer->volatile_functions |= inner->volatile_functions;
    outer->positioned |= inner->positioned;
    if (!own_parameters && inner->parameter_max > outer->parameter_max)
        outer->parameter_max = inner->parameter_max;
}

const struct shape *walk_inner(struct walk *walk, Node *statement, const struct own_parameters *own)
{
    struct analyse_context *context = arena_allocate(walk->arena, sizeof(*context));
    struct shape *shape = arena_allocate(walk->arena, sizeof(*shape));
    struct walk inner = {.arena = walk->arena,
                         .context = context,
                         .shape = shape,
                         .depth = walk->depth,
                         .location = -1};

    INVARIANT(statement != NULL);
    if (walk->failed)
        return NULL;
    *context = *walk->context;
    if (own != NULL) {
        context->parameter_types = own->types;
        context->parameter_count = own->count;
    }
    walk_statement(&inner, statement);
    walk->unresolved_names |= inner.unresolved_names;
    walk->searched |= inner.searched;
    walk->writes |= inner.writes;
    if (inner.failed) {
        take_failure(walk, &inner);
        return NULL;
    }
    finish_shape(&inner);
    append_actions(walk, &inner);
    append_settings(walk, &inner);
    append_functions(walk, &inner);
    append_facts(walk->shape, shape, own != NULL);
    return shape;
}

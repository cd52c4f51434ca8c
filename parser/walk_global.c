/*
 * walk_global.c - what has no schema: roles, databases, tablespaces, extensions, foreign servers,
 * publications, subscriptions, the server's configuration.
 *
 * An option that is not listed fails the walk.
 */
#include "parser/walk_utility.h"

#include "proxy/base/limits.h"

/* --- roles ----------------------------------------------------------------------------------- */

static const char *const role_options_known[] = {
    "addroleto",   "adminmembers", "bypassrls", "canlogin",      "connectionlimit",
    "createdb",    "createrole",   "inherit",   "isreplication", "password",
    "rolemembers", "superuser",    "sysid",     "validUntil",    NULL,
};

/* Memberships are granted whichever way they are written. */
static void role_options(struct walk *walk, List *options)
{
    static const char *const memberships[] = {"addroleto", "adminmembers", "rolemembers"};

    options_known(walk, options, role_options_known, "ROLE");
    for (size_t i = 0; i < ARRAY_SIZE(memberships); i++) {
        const DefElem *option = option_last(options, memberships[i]);

        if (option != NULL && option->arg != NULL && IsA(option->arg, List))
            act_on_roles(walk, VERB_GRANT, (List *)option->arg);
        else if (option != NULL)
            option_unknown(walk, option, "ROLE");
    }
}

void walk_create_role(struct walk *walk, Node *node)
{
    CreateRoleStmt *statement = (CreateRoleStmt *)node;

    act_on_kind(walk, VERB_CREATE, OBJECT_ROLE, statement->role);
    role_options(walk, statement->options);
}

void walk_alter_role(struct walk *walk, Node *node)
{
    AlterRoleStmt *statement = (AlterRoleStmt *)node;

    act_on_role(walk, VERB_ALTER, statement->role);
    role_options(walk, statement->options);
}

/* ALTER ROLE ALL SET … is for every role. */
void walk_alter_role_set(struct walk *walk, Node *node)
{
    AlterRoleSetStmt *statement = (AlterRoleSetStmt *)node;

    if (statement->role != NULL)
        act_on_role(walk, VERB_ALTER, statement->role);
    else
        act_on_kind(walk, VERB_ALTER, OBJECT_ROLE, "*");
    if (statement->database != NULL)
        act_on_kind(walk, VERB_ALTER, OBJECT_DATABASE, statement->database);
    setting_stored(walk, statement->setstmt);
}

/* --- databases, tablespaces, configuration ------------------------------------------------------
 */

static const char *const database_options[] = {
    "allow_connections",
    "collation_version",
    "connection_limit",
    "encoding",
    "icu_locale",
    "is_template",
    "lc_collate",
    "lc_ctype",
    "locale",
    "locale_provider",
    "location",
    "oid",
    "owner",
    "strategy",
    "tablespace",
    "template",
    NULL,
};

/* DEFAULT as an owner is the role itself. */
static void database_owner(struct walk *walk, List *options)
{
    const DefElem *owner = option_last(options, "owner");

    if (owner != NULL && owner->arg != NULL)
        act_on_kind(walk, VERB_GRANT, OBJECT_ROLE, string_of(walk, owner->arg));
}

void walk_create_database(struct walk *walk, Node *node)
{
    CreatedbStmt *statement = (CreatedbStmt *)node;

    walk->shape->not_in_block = true;
    act_on_kind(walk, VERB_CREATE, OBJECT_DATABASE, statement->dbname);
    options_known(walk, statement->options, database_options, "DATABASE");
    database_owner(walk, statement->options);
}

void walk_alter_database(struct walk *walk, Node *node)
{
    AlterDatabaseStmt *statement = (AlterDatabaseStmt *)node;

    walk->shape->not_in_block = option_last(statement->options, "tablespace") != NULL;
    act_on_kind(walk, VERB_ALTER, OBJECT_DATABASE, statement->dbname);
    options_known(walk, statement->options, database_options, "DATABASE");
    database_owner(walk, statement->options);
}

void walk_alter_database_collation(struct walk *walk, Node *node)
{
    act_on_kind(walk, VERB_ALTER, OBJECT_DATABASE, ((AlterDatabaseRefreshCollStmt *)node)->dbname);
}

void walk_alter_database_set(struct walk *walk, Node *node)
{
    AlterDatabaseSetStmt *statement = (AlterDatabaseSetStmt *)node;

    act_on_kind(walk, VERB_ALTER, OBJECT_DATABASE, statement->dbname);
    setting_stored(walk, statement->setstmt);
}

void walk_alter_system(struct walk *walk, Node *node)
{
    walk->shape->not_in_block = true;
    act_on_none(walk, VERB_ALTER)->lock = LOCK_NONE;
    setting_stored(walk, ((AlterSystemStmt *)node)->setstmt);
}

static const char *const tablespace_options[] = {
    "effective_io_concurrency",
    "maintenance_io_concurrency",
    "random_page_cost",
    "seq_page_cost",
    NULL,
};

void walk_create_tablespace(struct walk *walk, Node *node)
{
    CreateTableSpaceStmt *statement = (CreateTableSpaceStmt *)node;

    walk->shape->not_in_block = true;
    act_on_kind(walk, VERB_CREATE, OBJECT_TABLESPACE, statement->tablespacename);
    act_on_role(walk, VERB_GRANT, statement->owner);
    options_known(walk, statement->options, tablespace_options, "TABLESPACE");
}

void walk_alter_tablespace(struct walk *walk, Node *node)
{
    AlterTableSpaceOptionsStmt *statement = (AlterTableSpaceOptionsStmt *)node;

    act_on_kind(walk, VERB_ALTER, OBJECT_TABLESPACE, statement->tablespacename);
    options_known(walk, statement->options, tablespace_options, "TABLESPACE");
}

/* --- extensions ------------------------------------------------------------------------------ */

/* CASCADE also installs what the extension requires. */
void walk_create_extension(struct walk *walk, Node *node)
{
    static const char *const options[] = {"cascade", "new_version", "schema", NULL};
    CreateExtensionStmt *statement = (CreateExtensionStmt *)node;
    const DefElem *schema = option_last(statement->options, "schema");
    struct target contents;

    changes(walk, CHANGES_OBJECTS);
    options_known(walk, statement->options, options, "EXTENSION");
    act_on_kind(walk, VERB_CREATE, OBJECT_EXTENSION, statement->extname);
    if (option_is_on(walk, statement->options, "cascade"))
        act_on_kind(walk, VERB_CREATE, OBJECT_EXTENSION, "*");
    if (schema != NULL) {
        contents = target_schema_contents(walk, string_of(walk, schema->arg));
        act(walk, VERB_CREATE, &contents);
    }
}

void walk_alter_extension(struct walk *walk, Node *node)
{
    static const char *const options[] = {"new_version", NULL};
    AlterExtensionStmt *statement = (AlterExtensionStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    options_known(walk, statement->options, options, "EXTENSION");
    act_on_kind(walk, VERB_ALTER, OBJECT_EXTENSION, statement->extname);
}

void walk_alter_extension_contents(struct walk *walk, Node *node)
{
    AlterExtensionContentsStmt *statement = (AlterExtensionContentsStmt *)node;
    struct target target = target_of(walk, statement->objtype, statement->object, NULL);

    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_ALTER, OBJECT_EXTENSION, statement->extname);
    act(walk, VERB_ALTER, &target);
}

/* --- foreign data ---------------------------------------------------------------------------- */

/* HANDLER and VALIDATOR name functions, NO HANDLER none. True if there are any. */
static bool wrapper_functions(struct walk *walk, List *options)
{
    static const char *const names[] = {"handler", "validator", NULL};
    ListCell *cell;

    options_known(walk, options, names, "FOREIGN DATA WRAPPER");
    foreach (cell, options) {
        const DefElem *option = lfirst(cell);

        if (option->arg != NULL && IsA(option->arg, List))
            call_named(walk, (List *)option->arg, -1);
    }
    return options != NIL;
}

void walk_create_fdw(struct walk *walk, Node *node)
{
    CreateFdwStmt *statement = (CreateFdwStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_none(walk, VERB_CREATE);
    act_on_none(walk, VERB_CODE);
    wrapper_functions(walk, statement->func_options);
    free_options(walk, statement->options);
}

void walk_alter_fdw(struct walk *walk, Node *node)
{
    AlterFdwStmt *statement = (AlterFdwStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_none(walk, VERB_ALTER);
    if (wrapper_functions(walk, statement->func_options))
        act_on_none(walk, VERB_CODE);
    free_options(walk, statement->options);
}

void walk_create_server(struct walk *walk, Node *node)
{
    CreateForeignServerStmt *statement = (CreateForeignServerStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_CREATE, OBJECT_SERVER, statement->servername);
    free_options(walk, statement->options);
}

void walk_alter_server(struct walk *walk, Node *node)
{
    AlterForeignServerStmt *statement = (AlterForeignServerStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_ALTER, OBJECT_SERVER, statement->servername);
    free_options(walk, statement->options);
}

/* Whom a server takes a role for, and with which password, is the server's and the role's. */
static void user_mapping(struct walk *walk, const char *server, RoleSpec *user, List *options)
{
    act_on_kind(walk, VERB_ALTER, OBJECT_SERVER, server);
    act_on_role(walk, VERB_ALTER, user);
    free_options(walk, options);
}

void walk_create_user_mapping(struct walk *walk, Node *node)
{
    CreateUserMappingStmt *statement = (CreateUserMappingStmt *)node;

    user_mapping(walk, statement->servername, statement->user, statement->options);
}

void walk_alter_user_mapping(struct walk *walk, Node *node)
{
    AlterUserMappingStmt *statement = (AlterUserMappingStmt *)node;

    user_mapping(walk, statement->servername, statement->user, statement->options);
}

void walk_import_foreign_schema(struct walk *walk, Node *node)
{
    ImportForeignSchemaStmt *statement = (ImportForeignSchemaStmt *)node;
    struct target contents = target_schema_contents(walk, statement->local_schema);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &contents);
    act(walk, VERB_CODE, &contents);
    act_on_kind(walk, VERB_ALTER, OBJECT_SERVER, statement->server_name);
    free_options(walk, statement->options);
}

/* --- publications and subscriptions -------------------------------------------------------------
 */

static const char *const publication_options[] = {"publish", "publish_via_partition_root", NULL};

/* Who subscribes reads the table: the server asks for its owner. Gives the columns that a condition
 * was resolved against. */
static size_t published_table(struct walk *walk, PublicationTable *table)
{
    struct target target;
    struct draft *draft;

    if (table == NULL || !IsA(table, PublicationTable)) {
        walk_unknown(walk, "PUBLICATION", T_PublicationTable, -1);
        return 0;
    }
    target = target_relation(walk, table->relation);
    act(walk, VERB_ALTER, &target)->lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
    strings_only(walk, table->columns);
    if (table->whereClause == NULL)
        return 0;
    draft = draft_new(walk, &target);
    draft_condition(walk, draft, table->whereClause);
    return draft->count;
}

static size_t published_object(struct walk *walk, const PublicationObjSpec *object)
{
    struct target contents;

    if (!IsA(object, PublicationObjSpec)) {
        walk_unknown(walk, "PUBLICATION", (int)nodeTag(object), -1);
        return 0;
    }
    switch (object->pubobjtype) {
    case PUBLICATIONOBJ_TABLE:
        return published_table(walk, object->pubtable);
    case PUBLICATIONOBJ_TABLES_IN_SCHEMA:
        contents = target_schema_contents(walk, object->name);
        act(walk, VERB_ALTER, &contents);
        return 0;
    case PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA:
        act_on_none(walk, VERB_ALTER);
        return 0;
    case PUBLICATIONOBJ_CONTINUATION:
    default:
        walk_unknown(walk, "PUBLICATION", T_PublicationObjSpec, object->location);
        return 0;
    }
}

static void published(struct walk *walk, List *objects, bool all_tables)
{
    size_t work = 0;
    ListCell *cell;

    if (all_tables)
        act_on_none(walk, VERB_ALTER);
    foreach (cell, objects) {
        work += published_object(walk, lfirst(cell));
        if (work > LIMIT_TABLE_EXPRESSION_COLUMNS) {
            walk_fail(walk, ANALYSE_TOO_LARGE, "54001", -1,
                      "statement has too many conditions over too many columns to check");
            return;
        }
    }
}

void walk_create_publication(struct walk *walk, Node *node)
{
    CreatePublicationStmt *statement = (CreatePublicationStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_CREATE, OBJECT_PUBLICATION, statement->pubname);
    options_known(walk, statement->options, publication_options, "PUBLICATION");
    published(walk, statement->pubobjects, statement->for_all_tables);
}

void walk_alter_publication(struct walk *walk, Node *node)
{
    AlterPublicationStmt *statement = (AlterPublicationStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_ALTER, OBJECT_PUBLICATION, statement->pubname);
    options_known(walk, statement->options, publication_options, "PUBLICATION");
    published(walk, statement->pubobjects, statement->for_all_tables);
}

static const char *const subscription_options[] = {
    "binary",  "connect",   "copy_data", "create_slot",        "disable_on_error", "enabled", "lsn",
    "refresh", "slot_name", "streaming", "synchronous_commit", "two_phase",        NULL,
};

/* The server connects to whatever the connection string names. */
void walk_create_subscription(struct walk *walk, Node *node)
{
    CreateSubscriptionStmt *statement = (CreateSubscriptionStmt *)node;

    walk->shape->not_in_block = true;
    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_CREATE, OBJECT_SUBSCRIPTION, statement->subname);
    strings_only(walk, statement->publication);
    options_known(walk, statement->options, subscription_options, "SUBSCRIPTION");
}

static bool subscription_refreshes(AlterSubscriptionType kind)
{
    return kind == ALTER_SUBSCRIPTION_REFRESH || kind == ALTER_SUBSCRIPTION_SET_PUBLICATION ||
           kind == ALTER_SUBSCRIPTION_ADD_PUBLICATION ||
           kind == ALTER_SUBSCRIPTION_DROP_PUBLICATION;
}

void walk_alter_subscription(struct walk *walk, Node *node)
{
    AlterSubscriptionStmt *statement = (AlterSubscriptionStmt *)node;

    walk->shape->not_in_block = subscription_refreshes(statement->kind);
    changes(walk, CHANGES_OBJECTS);
    act_on_kind(walk, VERB_ALTER, OBJECT_SUBSCRIPTION, statement->subname);
    strings_only(walk, statement->publication);
    options_known(walk, statement->options, subscription_options, "SUBSCRIPTION");
}

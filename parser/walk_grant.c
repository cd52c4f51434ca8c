/*
 * walk_grant.c - GRANT and REVOKE, of rights and of roles, and default privileges.
 *
 * `grant` on each object and on each role that gets or loses something. A right that is not listed
 * fails the walk.
 */
#include "parser/walk_utility.h"

#include <string.h>

static bool privilege_is_known(const char *name)
{
    static const char *const names[] = {
        "all",     "alter system", "connect", "create", "delete", "execute",
        "insert",  "references",   "select",  "set",    "temp",   "temporary",
        "trigger", "truncate",     "update",  "usage",
    };

    if (name == NULL)
        return true; /* ALL (columns) */
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void privileges(struct walk *walk, List *list)
{
    ListCell *cell;

    foreach (cell, list) {
        const AccessPriv *privilege = lfirst(cell);

        if (!IsA(privilege, AccessPriv) || !privilege_is_known(privilege->priv_name)) {
            walk_unknown(walk, "privilege", (int)nodeTag(privilege), -1);
            return;
        }
        strings_only(walk, privilege->cols);
    }
}

/* REVOKE … CASCADE takes from whoever was given the right by the grantees. */
static void grant_roles(struct walk *walk, List *grantees, DropBehavior behavior)
{
    act_on_roles(walk, VERB_GRANT, grantees);
    if (behavior == DROP_CASCADE)
        act_on_kind(walk, VERB_GRANT, OBJECT_ROLE, "*");
}

static void grant_on_object(struct walk *walk, ObjectType type, Node *object)
{
    RangeVar *range = IsA(object, RangeVar) ? (RangeVar *)object : NULL;
    struct target target = target_of(walk, type, range != NULL ? NULL : object, range);

    act(walk, VERB_GRANT, &target);
}

static void grant_on_objects(struct walk *walk, const GrantStmt *statement)
{
    ListCell *cell;

    foreach (cell, statement->objects)
        grant_on_object(walk, statement->objtype, lfirst(cell));
}

static void grant_in_schemas(struct walk *walk, List *schemas)
{
    ListCell *cell;

    foreach (cell, schemas) {
        struct target target = target_schema_contents(walk, string_of(walk, lfirst(cell)));

        act(walk, VERB_GRANT, &target);
    }
}

void walk_grant(struct walk *walk, Node *node)
{
    const GrantStmt *statement = (GrantStmt *)node;

    privileges(walk, statement->privileges);
    if (statement->targtype == ACL_TARGET_OBJECT)
        grant_on_objects(walk, statement);
    else if (statement->targtype == ACL_TARGET_ALL_IN_SCHEMA)
        grant_in_schemas(walk, statement->objects);
    else
        walk_unknown(walk, "GRANT", T_GrantStmt, -1);
    grant_roles(walk, statement->grantees, statement->behavior);
}

void walk_grant_role(struct walk *walk, Node *node)
{
    const GrantRoleStmt *statement = (GrantRoleStmt *)node;
    ListCell *cell;

    foreach (cell, statement->granted_roles) {
        const AccessPriv *role = lfirst(cell);

        if (!IsA(role, AccessPriv) || role->priv_name == NULL || role->cols != NIL) {
            walk_unknown(walk, "GRANT", (int)nodeTag(role), -1);
            return;
        }
        act_on_kind(walk, VERB_GRANT, OBJECT_ROLE, role->priv_name);
    }
    grant_roles(walk, statement->grantee_roles, statement->behavior);
}

static List *option_list(struct walk *walk, const DefElem *option)
{
    if (option == NULL)
        return NIL;
    if (option->arg != NULL && IsA(option->arg, List))
        return (List *)option->arg;
    option_unknown(walk, option, "ALTER DEFAULT PRIVILEGES");
    return NIL;
}

/* Rights on what will be made: in these schemas, or in all. */
void walk_alter_default_privileges(struct walk *walk, Node *node)
{
    static const char *const options[] = {"roles", "schemas", NULL};
    const AlterDefaultPrivilegesStmt *statement = (AlterDefaultPrivilegesStmt *)node;
    List *schemas;

    options_known(walk, statement->options, options, "ALTER DEFAULT PRIVILEGES");
    privileges(walk, statement->action->privileges);
    schemas = option_list(walk, option_last(statement->options, "schemas"));
    if (schemas == NIL)
        act_on_none(walk, VERB_GRANT);
    grant_in_schemas(walk, schemas);
    act_on_roles(walk, VERB_ALTER, option_list(walk, option_last(statement->options, "roles")));
    grant_roles(walk, statement->action->grantees, statement->action->behavior);
}

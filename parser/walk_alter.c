/*
 * walk_alter.c - ALTER TABLE and its kin, and what ALTER has in common for all objects: names,
 * schemas, owners, extensions.
 *
 * A new name is a created one, a new owner a granted role. A sub-command that is not listed fails
 * the walk.
 */
#include "parser/walk_utility.h"

/* --- sub-commands of ALTER TABLE ---------------------------------------------------------------
 */

struct alteration {
    struct target target;
    struct draft *draft;
};

/* The rows of one become rows of the other, or stop being: `code` on the child's name. */
static void attach(struct walk *walk, const struct target *child)
{
    act(walk, VERB_CODE, child);
}

static void inherit(struct walk *walk, const struct alteration *alteration, RangeVar *range,
                    bool attaches)
{
    struct target parent = target_relation(walk, range);

    act(walk, VERB_ALTER, &parent)->lock =
        attaches ? LOCK_SHARE_UPDATE_EXCLUSIVE : LOCK_ACCESS_SHARE;
    if (attaches)
        attach(walk, &alteration->target);
}

static void partition(struct walk *walk, const struct alteration *alteration,
                      const PartitionCmd *command, bool attaches)
{
    struct target child;

    if (!IsA(command, PartitionCmd)) {
        walk_unknown(walk, "partition", (int)nodeTag(command), -1);
        return;
    }
    child = target_relation(walk, command->name);
    act(walk, VERB_ALTER, &child);
    if (attaches && !child.inside_table)
        attach(walk, &child);
    partition_bound(walk, alteration->draft, command->bound);
    walk->shape->not_in_block |= command->concurrent;
}

static void alter_with_column(struct walk *walk, struct alteration *alteration, Node *def)
{
    if (def != NULL && IsA(def, ColumnDef))
        column_definition(walk, alteration->draft, (ColumnDef *)def);
    else
        walk_unknown(walk, "column", def != NULL ? (int)nodeTag(def) : 0, -1);
}

static uint32_t type_of_draft(const struct draft *draft, const char *name)
{
    const struct column *column =
        name != NULL ? relation_column(&draft->relation, text_from(name)) : NULL;
    return column != NULL ? column->type : 0;
}

/* Without USING each value is assigned to a column of the new type; that is what column_definition takes
 * USING for, too. */
static void alter_type(struct walk *walk, struct alteration *alteration, const AlterTableCmd *command)
{
    const ColumnDef *definition = (ColumnDef *)command->def;

    alter_with_column(walk, alteration, command->def);
    if (!walk->failed && definition->raw_default == NULL)
        walk_assignment(walk, NULL, type_of_draft(alteration->draft, command->name),
                        walk_type_oid(walk, definition->typeName));
}

static void alter_with_constraint(struct walk *walk, struct alteration *alteration, Node *def)
{
    if (def != NULL && IsA(def, Constraint))
        table_constraint(walk, alteration->draft, (Constraint *)def);
    else
        walk_unknown(walk, "constraint", def != NULL ? (int)nodeTag(def) : 0, -1);
}

/* Commands that carry nothing but names, numbers and flags. True if it was one. */
static bool alter_plainly(const AlterTableCmd *command)
{
    switch (command->subtype) {
    case AT_DropNotNull:
    case AT_SetNotNull:
    case AT_DropExpression:
    case AT_SetStatistics:
    case AT_SetStorage:
    case AT_SetCompression:
    case AT_AlterConstraint:
    case AT_ValidateConstraint:
    case AT_ClusterOn:
    case AT_DropCluster:
    case AT_SetLogged:
    case AT_SetUnLogged:
    case AT_DropOids:
    case AT_SetAccessMethod:
    case AT_SetTableSpace:
    case AT_EnableTrig:
    case AT_EnableAlwaysTrig:
    case AT_EnableReplicaTrig:
    case AT_DisableTrig:
    case AT_EnableTrigAll:
    case AT_DisableTrigAll:
    case AT_EnableTrigUser:
    case AT_DisableTrigUser:
    case AT_EnableRule:
    case AT_EnableAlwaysRule:
    case AT_EnableReplicaRule:
    case AT_DisableRule:
    case AT_DropOf:
    case AT_ReplicaIdentity:
    case AT_EnableRowSecurity:
    case AT_DisableRowSecurity:
    case AT_ForceRowSecurity:
    case AT_NoForceRowSecurity:
    case AT_DropIdentity:
    case AT_DropColumn:
    case AT_DropConstraint:
        return true;
    default:
        return false;
    }
}

/* Commands with a definition, an expression, options or another relation. */
static void alter_with_definition(struct walk *walk, struct alteration *alteration,
                                  const AlterTableCmd *command)
{
    switch (command->subtype) {
    case AT_AddColumn:
        alter_with_column(walk, alteration, command->def);
        break;
    case AT_AlterColumnType:
        alter_type(walk, alteration, command);
        break;
    case AT_AddConstraint:
    case AT_AddIdentity:
        alter_with_constraint(walk, alteration, command->def);
        break;
    case AT_ColumnDefault:
        draft_expression(walk, alteration->draft, command->def);
        if (command->def != NULL)
            walk_assignment(walk, command->def, 0,
                            type_of_draft(alteration->draft, command->name));
        break;
    case AT_SetIdentity:
        sequence_options(walk, (List *)command->def);
        break;
    case AT_SetOptions:
    case AT_ResetOptions:
    case AT_SetRelOptions:
    case AT_ResetRelOptions:
    case AT_ReplaceRelOptions:
        storage_options(walk, (List *)command->def);
        break;
    case AT_AlterColumnGenericOptions:
    case AT_GenericOptions:
        free_options(walk, (List *)command->def);
        break;
    case AT_ChangeOwner:
        act_on_role(walk, VERB_GRANT, command->newowner);
        break;
    case AT_AddInherit:
    case AT_DropInherit:
        inherit(walk, alteration, (RangeVar *)command->def, command->subtype == AT_AddInherit);
        break;
    case AT_AddOf:
        walk_type(walk, (TypeName *)command->def);
        break;
    case AT_AttachPartition:
    case AT_DetachPartition:
    case AT_DetachPartitionFinalize:
        partition(walk, alteration, (PartitionCmd *)command->def,
                  command->subtype == AT_AttachPartition);
        break;
    default:
        walk_unknown(walk, "ALTER TABLE", (int)command->subtype, -1);
    }
}

static bool drops(const AlterTableCmd *command)
{
    return command->subtype == AT_DropColumn || command->subtype == AT_DropConstraint;
}

static void alter_command(struct walk *walk, struct alteration *alteration,
                          const AlterTableCmd *command)
{
    if (!IsA(command, AlterTableCmd)) {
        walk_unknown(walk, "ALTER TABLE", (int)nodeTag(command), -1);
        return;
    }
    if (!alter_plainly(command))
        alter_with_definition(walk, alteration, command);
    if (command->behavior == DROP_CASCADE)
        act_on_none(walk, drops(command) ? VERB_DROP : VERB_ALTER)->cascade = drops(command);
}

static void draft_new_columns(struct walk *walk, struct draft *draft, List *commands)
{
    ListCell *cell;

    foreach (cell, commands) {
        const AlterTableCmd *command = lfirst(cell);

        if (IsA(command, AlterTableCmd) && command->subtype == AT_AddColumn &&
            command->def != NULL && IsA(command->def, ColumnDef))
            draft_add_column(walk, draft, ((ColumnDef *)command->def)->colname,
                             ((ColumnDef *)command->def)->typeName);
    }
}

/* Also ALTER INDEX, VIEW, SEQUENCE, MATERIALIZED VIEW, FOREIGN TABLE, and TYPE of composite types.
 */
void walk_alter_table(struct walk *walk, Node *node)
{
    AlterTableStmt *statement = (AlterTableStmt *)node;
    struct alteration alteration = {.target = target_relation(walk, statement->relation)};
    ListCell *cell;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &alteration.target)->lock =
        lock_of_alterations(statement->cmds, alteration.target.relation);
    alteration.draft = draft_new(walk, &alteration.target);
    draft_new_columns(walk, alteration.draft, statement->cmds);
    foreach (cell, statement->cmds)
        alter_command(walk, &alteration, lfirst(cell));
}

/* ALTER TABLE ALL IN TABLESPACE */
void walk_move_all(struct walk *walk, Node *node)
{
    AlterTableMoveAllStmt *statement = (AlterTableMoveAllStmt *)node;

    act_on_none(walk, VERB_ALTER);
    act_on_kind(walk, VERB_ALTER, OBJECT_TABLESPACE, statement->orig_tablespacename);
    act_on_kind(walk, VERB_ALTER, OBJECT_TABLESPACE, statement->new_tablespacename);
}

/* --- new names ---------------------------------------------------------------------------------
 */

static bool is_inside_table(ObjectType type)
{
    return type == OBJECT_COLUMN || type == OBJECT_ATTRIBUTE || type == OBJECT_TABCONSTRAINT ||
           type == OBJECT_DOMCONSTRAINT || type == OBJECT_TRIGGER || type == OBJECT_RULE ||
           type == OBJECT_POLICY;
}

/* Where the server runs something under the new name, taking the name is `code` too. */
static bool is_code(ObjectType type, const struct target *target)
{
    if (target->relation != NULL)
        return target->relation->kind == 'v' || target->relation->kind == 'f';
    switch (type) {
    case OBJECT_AGGREGATE:
    case OBJECT_CONVERSION:
    case OBJECT_DOMAIN:
    case OBJECT_FOREIGN_TABLE:
    case OBJECT_FUNCTION:
    case OBJECT_OPCLASS:
    case OBJECT_OPERATOR:
    case OBJECT_OPFAMILY:
    case OBJECT_PROCEDURE:
    case OBJECT_ROUTINE:
    case OBJECT_TSDICTIONARY:
    case OBJECT_TSPARSER:
    case OBJECT_TSTEMPLATE:
    case OBJECT_VIEW:
    case PG_OBJECT_LANGUAGE:
        return true;
    default:
        return false;
    }
}

static void take_name(struct walk *walk, ObjectType type, const struct target *old,
                      struct object object)
{
    struct target target = {.object = object, .location = -1};

    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    if (is_code(type, old))
        act(walk, VERB_CODE, &target);
}

/* Schemas, roles, databases and tablespaces have their old name in another place than all else. */
static struct target renamed(struct walk *walk, const RenameStmt *statement)
{
    Node *object = statement->object;
    String name = {.type = T_String, .sval = statement->subname};

    if (object == NULL && statement->relation == NULL && statement->subname != NULL)
        object = (Node *)&name;
    return target_of(walk, statement->renameType, object, statement->relation);
}

/* With a schema, all that is in it gets new names. */
static void rename_contents(struct walk *walk, const RenameStmt *statement)
{
    struct target before = target_schema_contents(walk, statement->subname);
    struct target after = target_schema_contents(walk, statement->newname);

    act(walk, VERB_ALTER, &before)->lock = LOCK_NONE;
    act(walk, VERB_CREATE, &after)->lock = LOCK_NONE;
}

/* ALTER INDEX, of an index for sure, leaves its table open for all but maintenance. */
static enum table_lock rename_lock(const RenameStmt *statement, const struct target *target)
{
    return statement->renameType == OBJECT_INDEX && target->inside_table
               ? LOCK_SHARE_UPDATE_EXCLUSIVE
               : LOCK_ACCESS_EXCLUSIVE;
}

void walk_rename(struct walk *walk, Node *node)
{
    RenameStmt *statement = (RenameStmt *)node;
    struct target target = renamed(walk, statement);
    struct object object = target.object;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target)->lock = rename_lock(statement, &target);
    if (statement->behavior == DROP_CASCADE)
        act_on_none(walk, VERB_ALTER); /* typed tables change with their type */
    if (is_inside_table(statement->renameType) || target.inside_table)
        return;
    if (object.kind != OBJECT_NONE)
        object.name = walk_text(walk, statement->newname);
    take_name(walk, statement->renameType, &target, object);
    if (statement->renameType == PG_OBJECT_SCHEMA)
        rename_contents(walk, statement);
}

/* Of an extension, all that it has moves. */
void walk_alter_schema(struct walk *walk, Node *node)
{
    AlterObjectSchemaStmt *statement = (AlterObjectSchemaStmt *)node;
    struct target target =
        target_of(walk, statement->objectType, statement->object, statement->relation);
    struct object object = target.object;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    if (object.kind == OBJECT_NAME)
        object.schema = walk_text(walk, statement->newschema);
    else
        object = target_schema_contents(walk, statement->newschema).object;
    take_name(walk, statement->objectType, &target, object);
}

void walk_alter_owner(struct walk *walk, Node *node)
{
    AlterOwnerStmt *statement = (AlterOwnerStmt *)node;
    struct target target =
        target_of(walk, statement->objectType, statement->object, statement->relation);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    act_on_role(walk, VERB_GRANT, statement->newowner);
}

void walk_alter_depends(struct walk *walk, Node *node)
{
    AlterObjectDependsStmt *statement = (AlterObjectDependsStmt *)node;
    struct target target =
        target_of(walk, statement->objectType, statement->object, statement->relation);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    act_on_kind(walk, VERB_ALTER, OBJECT_EXTENSION, string_of(walk, (Node *)statement->extname));
}

/* --- COMMENT, SECURITY LABEL -------------------------------------------------------------------
 */

void walk_comment(struct walk *walk, Node *node)
{
    CommentStmt *statement = (CommentStmt *)node;
    struct target target = target_of(walk, statement->objtype, statement->object, NULL);

    act(walk, VERB_COMMENT, &target);
}

void walk_security_label(struct walk *walk, Node *node)
{
    SecLabelStmt *statement = (SecLabelStmt *)node;
    struct target target = target_of(walk, statement->objtype, statement->object, NULL);

    act(walk, VERB_COMMENT, &target);
}

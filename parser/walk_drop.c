/*
 * walk_drop.c - DROP of every kind.
 *
 * Parts of a table are altered, not dropped. What CASCADE reaches cannot be told from the text: it
 * is `drop` on what has no name.
 */
#include "parser/walk_utility.h"

static bool is_part_of_table(ObjectType type)
{
    return type == OBJECT_INDEX || type == OBJECT_TRIGGER || type == OBJECT_RULE ||
           type == OBJECT_POLICY || type == OBJECT_STATISTIC_EXT;
}

/* Routines, schemas and publications are nobody's data; a dropped index is its table's. */
static enum table_lock drop_lock(const DropStmt *statement)
{
    switch (statement->removeType) {
    case OBJECT_AGGREGATE:
    case OBJECT_FUNCTION:
    case OBJECT_PROCEDURE:
    case OBJECT_ROUTINE:
    case PG_OBJECT_PUBLICATION:
    case PG_OBJECT_SCHEMA:
        return LOCK_NONE;
    case OBJECT_STATISTIC_EXT:
        return LOCK_SHARE_UPDATE_EXCLUSIVE;
    case OBJECT_INDEX:
        return statement->concurrent ? LOCK_SHARE_UPDATE_EXCLUSIVE : LOCK_ACCESS_EXCLUSIVE;
    default:
        return LOCK_ACCESS_EXCLUSIVE;
    }
}

/* Where its names begin: behind DROP and the words for the kind; 0: they are not relations'. */
static int tokens_before_names(const DropStmt *statement)
{
    int tokens = 2 + (statement->concurrent ? 1 : 0) + (statement->missing_ok ? 2 : 0);

    switch (statement->removeType) {
    case OBJECT_TABLE:
    case OBJECT_SEQUENCE:
    case OBJECT_VIEW:
    case OBJECT_INDEX:
        return tokens;
    case OBJECT_MATVIEW:
    case OBJECT_FOREIGN_TABLE:
        return tokens + 1;
    default:
        return 0;
    }
}

static void drop_cascades(struct walk *walk, DropBehavior behavior)
{
    changes(walk, CHANGES_OBJECTS);
    if (behavior == DROP_CASCADE)
        act_on_none(walk, VERB_DROP)->cascade = true;
}

void walk_drop(struct walk *walk, Node *node)
{
    DropStmt *statement = (DropStmt *)node;
    bool part = is_part_of_table(statement->removeType);
    ListCell *cell;

    walk->shape->not_in_block = statement->concurrent;
    foreach (cell, statement->objects) {
        walk->listed = (struct place_in_list){tokens_before_names(statement), foreach_current_index(cell)};
        struct target target = target_of(walk, statement->removeType, lfirst(cell), NULL);

        walk->listed = (struct place_in_list){0};
        act(walk, part || target.inside_table ? VERB_ALTER : VERB_DROP, &target)->lock =
            drop_lock(statement);
    }
    drop_cascades(walk, statement->behavior);
}

void walk_drop_database(struct walk *walk, Node *node)
{
    static const char *const options[] = {"force", NULL};
    DropdbStmt *statement = (DropdbStmt *)node;

    walk->shape->not_in_block = true;
    options_known(walk, statement->options, options, "DROP DATABASE");
    act_on_kind(walk, VERB_DROP, OBJECT_DATABASE, statement->dbname);
    walk->actions[walk->action_count - 1].lock = LOCK_ACCESS_EXCLUSIVE; /* all that is in it goes */
    drop_cascades(walk, DROP_RESTRICT);
}

void walk_drop_tablespace(struct walk *walk, Node *node)
{
    walk->shape->not_in_block = true;
    act_on_kind(walk, VERB_DROP, OBJECT_TABLESPACE, ((DropTableSpaceStmt *)node)->tablespacename);
    drop_cascades(walk, DROP_RESTRICT);
}

/* It drops the subscription's slot on the publisher. */
void walk_drop_subscription(struct walk *walk, Node *node)
{
    DropSubscriptionStmt *statement = (DropSubscriptionStmt *)node;

    walk->shape->not_in_block = true;
    act_on_kind(walk, VERB_DROP, OBJECT_SUBSCRIPTION, statement->subname);
    drop_cascades(walk, statement->behavior);
}

void walk_drop_role(struct walk *walk, Node *node)
{
    act_on_roles(walk, VERB_DROP, ((DropRoleStmt *)node)->roles);
    drop_cascades(walk, DROP_RESTRICT);
}

void walk_drop_user_mapping(struct walk *walk, Node *node)
{
    DropUserMappingStmt *statement = (DropUserMappingStmt *)node;

    act_on_kind(walk, VERB_ALTER, OBJECT_SERVER, statement->servername);
    act_on_role(walk, VERB_ALTER, statement->user);
    drop_cascades(walk, DROP_RESTRICT);
}

/* Everything that the roles own, wherever it is. */
void walk_drop_owned(struct walk *walk, Node *node)
{
    act_on_roles(walk, VERB_DROP, ((DropOwnedStmt *)node)->roles);
    act_on_none(walk, VERB_DROP);
    changes(walk, CHANGES_OBJECTS);
}

void walk_reassign_owned(struct walk *walk, Node *node)
{
    ReassignOwnedStmt *statement = (ReassignOwnedStmt *)node;

    changes(walk, CHANGES_OBJECTS);
    act_on_roles(walk, VERB_ALTER, statement->roles);
    act_on_none(walk, VERB_ALTER);
    act_on_role(walk, VERB_GRANT, statement->newrole);
}

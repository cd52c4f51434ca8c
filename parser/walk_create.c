/*
 * walk_create.c - what goes on top of tables: schemas, sequences, indexes, statistics, views,
 * triggers, rules, row policies.
 *
 * Indexes and statistics change their table. Views, triggers, rules and policies are code besides.
 */
#include "parser/walk_utility.h"

/* --- schemas --------------------------------------------------------------------------------- */

/* The name of a schema element that may be left unqualified: it is made in the new schema. */
static RangeVar *element_name(Node *element)
{
    switch (nodeTag(element)) {
    case T_CreateStmt:
        return ((CreateStmt *)element)->relation;
    case T_CreateSeqStmt:
        return ((CreateSeqStmt *)element)->sequence;
    case T_ViewStmt:
        return ((ViewStmt *)element)->view;
    case T_IndexStmt:
        return ((IndexStmt *)element)->relation;
    case T_CreateTrigStmt:
        return ((CreateTrigStmt *)element)->relation;
    default:
        return NULL;
    }
}

static void schema_element(struct walk *walk, char *schema, Node *element)
{
    RangeVar *name = element_name(element);
    char *written = name != NULL ? name->schemaname : NULL;

    if (name == NULL && !IsA(element, GrantStmt)) {
        walk_unknown(walk, "CREATE SCHEMA", (int)nodeTag(element), -1);
        return;
    }
    if (name != NULL && written == NULL)
        name->schemaname = schema;
    walk_utility_handler(nodeTag(element))(walk, element);
    if (name != NULL)
        name->schemaname = written;
}

/* CREATE SCHEMA AUTHORIZATION names the schema as the role. */
void walk_create_schema(struct walk *walk, Node *node)
{
    CreateSchemaStmt *statement = (CreateSchemaStmt *)node;
    char *name = statement->schemaname;
    ListCell *cell;

    changes(walk, CHANGES_OBJECTS);
    if (name == NULL && statement->authrole != NULL &&
        statement->authrole->roletype == ROLESPEC_CSTRING)
        name = statement->authrole->rolename;
    if (name != NULL)
        act_on_kind(walk, VERB_CREATE, OBJECT_SCHEMA, name);
    else
        act_on_none(walk, VERB_CREATE);
    act_on_role(walk, VERB_GRANT, statement->authrole);
    foreach (cell, statement->schemaElts)
        schema_element(walk, name, lfirst(cell));
}

/* --- sequences ------------------------------------------------------------------------------- */

void walk_create_sequence(struct walk *walk, Node *node)
{
    CreateSeqStmt *statement = (CreateSeqStmt *)node;
    struct target target = target_new_relation(walk, statement->sequence);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    sequence_options(walk, statement->options);
}

void walk_alter_sequence(struct walk *walk, Node *node)
{
    AlterSeqStmt *statement = (AlterSeqStmt *)node;
    struct target target = target_relation(walk, statement->sequence);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target)->lock = LOCK_SHARE_ROW_EXCLUSIVE;
    sequence_options(walk, statement->options);
}

/* --- indexes and statistics ------------------------------------------------------------------ */

void walk_create_index(struct walk *walk, Node *node)
{
    IndexStmt *statement = (IndexStmt *)node;
    struct target target = target_relation(walk, statement->relation);
    struct draft *draft = draft_new(walk, &target);

    changes(walk, CHANGES_OBJECTS);
    walk->shape->not_in_block = statement->concurrent;
    act(walk, VERB_ALTER, &target)->lock =
        statement->concurrent ? LOCK_SHARE_UPDATE_EXCLUSIVE : LOCK_SHARE;
    if (statement->excludeOpNames != NIL || statement->indexOid != InvalidOid)
        walk_unknown(walk, "CREATE INDEX", T_IndexStmt, -1);
    storage_options(walk, statement->options);
    index_elements(walk, draft, statement->indexParams);
    index_elements(walk, draft, statement->indexIncludingParams);
    draft_condition(walk, draft, statement->whereClause);
}

void walk_create_statistics(struct walk *walk, Node *node)
{
    CreateStatsStmt *statement = (CreateStatsStmt *)node;
    struct target target;
    struct draft *draft;
    ListCell *cell;

    changes(walk, CHANGES_OBJECTS);
    strings_only(walk, statement->defnames);
    strings_only(walk, statement->stat_types);
    if (list_length(statement->relations) != 1 || !IsA(linitial(statement->relations), RangeVar)) {
        walk_unknown(walk, "CREATE STATISTICS", T_CreateStatsStmt, -1);
        return;
    }
    target = target_relation(walk, linitial(statement->relations));
    draft = draft_new(walk, &target);
    act(walk, VERB_ALTER, &target)->lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
    foreach (cell, statement->exprs)
        draft_expression(walk, draft, ((StatsElem *)lfirst(cell))->expr);
}

void walk_alter_statistics(struct walk *walk, Node *node)
{
    struct target target = target_names(walk, ((AlterStatsStmt *)node)->defnames);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target)->lock = LOCK_SHARE_UPDATE_EXCLUSIVE;
}

/* --- views ----------------------------------------------------------------------------------- */

/* Who may make a view of something must be allowed to read it. */
void walk_create_view(struct walk *walk, Node *node)
{
    ViewStmt *statement = (ViewStmt *)node;
    struct target target = target_new_relation(walk, statement->view);
    bool before = walk->inside_write;

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock =
        statement->replace ? LOCK_ACCESS_EXCLUSIVE : LOCK_NONE;
    act(walk, VERB_CODE, &target);
    strings_only(walk, statement->aliases);
    storage_options(walk, statement->options);
    if (!IsA(statement->query, SelectStmt)) {
        walk_unknown(walk, "CREATE VIEW", (int)nodeTag(statement->query), -1);
        return;
    }
    walk->inside_write = true;
    walk_query(walk, statement->query);
    walk->inside_write = before;
    walk->shape->returns_rows = false;
}

/* --- triggers, rules, policies --------------------------------------------------------------- */

void walk_create_trigger(struct walk *walk, Node *node)
{
    CreateTrigStmt *statement = (CreateTrigStmt *)node;
    struct target target = target_relation(walk, statement->relation);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_SHARE_ROW_EXCLUSIVE;
    act(walk, VERB_CODE, &target);
    strings_only(walk, statement->args);
    strings_only(walk, statement->columns);
    call_named(walk, statement->funcname, 0);
    draft_condition(walk, draft_new(walk, &target), statement->whenClause);
    if (statement->constrrel != NULL) {
        target = target_relation(walk, statement->constrrel);
        act(walk, VERB_ALTER, &target)->lock = LOCK_ACCESS_SHARE;
    }
}

/* A rule's statements run instead of, or with, whatever is done to the table from now on: `code`
 * stands for all of them, like for a function's body. */
void walk_create_rule(struct walk *walk, Node *node)
{
    struct target target = target_relation(walk, ((RuleStmt *)node)->relation);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target);
    act(walk, VERB_CODE, &target);
}

static void policy_expressions(struct walk *walk, const struct target *target, Node *qual,
                               Node *with_check)
{
    struct draft *draft = draft_new(walk, target);

    draft_condition(walk, draft, qual);
    draft_condition(walk, draft, with_check);
}

void walk_create_policy(struct walk *walk, Node *node)
{
    CreatePolicyStmt *statement = (CreatePolicyStmt *)node;
    struct target target = target_relation(walk, statement->table);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target);
    act(walk, VERB_CODE, &target);
    policy_expressions(walk, &target, statement->qual, statement->with_check);
}

void walk_alter_policy(struct walk *walk, Node *node)
{
    AlterPolicyStmt *statement = (AlterPolicyStmt *)node;
    struct target target = target_relation(walk, statement->table);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target);
    act(walk, VERB_CODE, &target);
    policy_expressions(walk, &target, statement->qual, statement->with_check);
}

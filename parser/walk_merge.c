/*
 * walk_merge.c - MERGE and ON CONFLICT: one statement, several writes, each an action of its own.
 *
 * No action of a MERGE is restricted by anything that could be proven from its text.
 */
#include "parser/walk_write.h"

/* --- ON CONFLICT ---------------------------------------------------------------------------- */

static void conflict_constraint(struct walk *walk, struct item *target, const char *name)
{
    const struct relation *relation = target->relation;
    for (size_t i = 0; relation != NULL && i < relation->key_count; i++) {
        const struct key *key = &relation->keys[i];
        if (!text_is(key->name, name))
            continue;
        for (size_t j = 0; j < key->column_count; j++) {
            const struct column *column = relation_column_by_number(relation, key->columns[j]);
            if (column != NULL)
                read_column(walk, target, column->name);
        }
        return;
    }
    read_every_column(walk, target, TEXT("ON CONFLICT ON CONSTRAINT"));
}

static void conflict_element(struct walk *walk, struct scope *scope, struct item *target,
                             IndexElem *element)
{
    if (!IsA(element, IndexElem) || element->opclassopts != NIL) {
        walk_unknown(walk, "ON CONFLICT", (int)nodeTag(element), -1);
        return;
    }
    if (element->name != NULL)
        read_named_column(walk, target, text_from(element->name));
    expression(walk, scope, element->expr);
}

static void conflict_target(struct walk *walk, struct scope *scope, struct item *target,
                            InferClause *infer)
{
    if (infer == NULL)
        return;
    ListCell *cell;
    foreach (cell, infer->indexElems)
        conflict_element(walk, scope, target, lfirst(cell));
    condition(walk, scope, infer->whereClause);
    if (infer->conname != NULL)
        conflict_constraint(walk, target, infer->conname);
}

/* The row that was to be inserted; reading its columns needs the right to read the target's. */
static struct item *excluded_row(struct walk *walk, const struct item *target)
{
    const struct named named = {.object = target->object,
                                .relation = target->relation,
                                .unresolved = target->unresolved,
                                .may_differ = target->may_differ,
                                .may_be_other = !target->columns_known};
    struct item *item = item_of_relation(walk, &named, TEXT("excluded"), target->location);
    item->aliased = true;
    item->level = target->level;
    return item;
}

void write_on_conflict(struct walk *walk, struct scope *scope, struct item *target,
                       OnConflictClause *tree, int64_t rows)
{
    conflict_target(walk, scope, target, tree->infer);
    if (tree->action != ONCONFLICT_UPDATE)
        return;
    size_t index = write_action(walk, VERB_UPDATE, target);
    struct item_list visible = scope->items;
    scope->items = (struct item_list){0};
    item_list_add(walk, &scope->items, target);
    item_list_add(walk, &scope->items, excluded_row(walk, target));
    write_columns(walk, scope, target, index, tree->targetList);
    condition(walk, scope, tree->whereClause);
    scope->items = visible;
    struct action *action = &walk->actions[index];
    bool rules = target->relation == NULL || target->relation->has_rules;
    action->rows_max = rows;
    if (rows != ROWS_UNPROVEN && !rules)
        action->where = WHERE_KEY;
    else
        action->where_why = TEXT("the rows that conflict are not given by VALUES");
    write_foreign_keys(walk, index);
}

/* --- MERGE ---------------------------------------------------------------------------------- */

static void merge_write(struct walk *walk, struct scope *scope, struct item *target, enum verb verb,
                        MergeWhenClause *when)
{
    size_t index = write_action(walk, verb, target);
    walk->actions[index].where_why = TEXT("an action of MERGE proves nothing");
    if (verb == VERB_UPDATE)
        write_columns(walk, scope, target, index, when->targetList);
    if (verb == VERB_INSERT && when->targetList != NIL)
        write_columns(walk, scope, target, index, when->targetList);
    else if (verb == VERB_INSERT && when->values != NIL)
        write_leading_columns(walk, target, index, list_length(when->values));
    expressions(walk, scope, when->values);
    assigned_values(walk, target, verb == VERB_INSERT ? when->targetList : NIL, when->values);
    write_foreign_keys(walk, index);
}

static void merge_when(struct walk *walk, struct scope *scope, struct item *target,
                       MergeWhenClause *when)
{
    if (!IsA(when, MergeWhenClause)) {
        walk_unknown(walk, "MERGE", (int)nodeTag(when), -1);
        return;
    }
    target->relation_visible = target->columns_visible = when->matched;
    condition(walk, scope, when->condition);
    switch (when->commandType) {
    case CMD_INSERT:
        merge_write(walk, scope, target, VERB_INSERT, when);
        break;
    case CMD_UPDATE:
        merge_write(walk, scope, target, VERB_UPDATE, when);
        break;
    case CMD_DELETE:
        merge_write(walk, scope, target, VERB_DELETE, when);
        break;
    case CMD_NOTHING:
        break;
    default:
        walk_unknown(walk, "MERGE action", (int)when->commandType, -1);
    }
    target->relation_visible = target->columns_visible = true;
}

struct query_result write_merge(struct walk *walk, struct scope *scope, MergeStmt *tree)
{
    struct query_result result = {.columns = item_new(walk, (struct text){0})};
    walk->inside_write = true;
    walk->writes = true;
    with_clause(walk, scope, tree->withClause);
    struct item *target = write_target(walk, scope, tree->relation);
    ListCell only = {.ptr_value = tree->sourceRelation};
    List from = {.type = T_List, .length = 1, .max_length = 1, .elements = &only};
    target->lateral_only = true;
    from_clause(walk, scope, &from);
    target->lateral_only = false;
    condition(walk, scope, tree->joinCondition);
    ListCell *cell;
    foreach (cell, tree->mergeWhenClauses)
        merge_when(walk, scope, target, lfirst(cell));
    return result;
}

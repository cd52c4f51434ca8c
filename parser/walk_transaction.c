/*
 * walk_transaction.c - transaction control and SET CONSTRAINTS.
 *
 * Two-phase commit needs no action: rules/ decide it by its kind. An unknown kind or mode fails the
 * walk.
 */
#include "parser/walk_utility.h"

#include <string.h>

/* 1 and 0 stand for on and off in the tree. */
static struct text mode_value(struct walk *walk, const DefElem *mode)
{
    const A_Const *constant = (const A_Const *)mode->arg;

    if (constant == NULL || !IsA(constant, A_Const) || constant->isnull)
        walk_unknown(walk, "transaction mode", T_DefElem, mode->location);
    else if (IsA(&constant->val, String))
        return walk_text(walk, constant->val.sval.sval);
    else if (IsA(&constant->val, Integer))
        return constant->val.ival.ival != 0 ? TEXT("on") : TEXT("off");
    else
        walk_unknown(walk, "transaction mode", (int)nodeTag(&constant->val), mode->location);
    return TEXT("");
}

static bool mode_is_known(const DefElem *mode)
{
    return IsA(mode, DefElem) && (strcmp(mode->defname, "transaction_isolation") == 0 ||
                                  strcmp(mode->defname, "transaction_read_only") == 0 ||
                                  strcmp(mode->defname, "transaction_deferrable") == 0);
}

void transaction_modes(struct walk *walk, List *modes, const char *prefix)
{
    ListCell *cell;

    foreach (cell, modes) {
        const DefElem *mode = lfirst(cell);
        struct text name;

        if (!mode_is_known(mode)) {
            walk_unknown(walk, "transaction mode", (int)nodeTag(mode), -1);
            return;
        }
        name = arena_printf(walk->arena, "%s%s", prefix, mode->defname);
        walk_setting(walk, SETTING_TRANSACTION, name, mode_value(walk, mode), false,
                     mode->location);
    }
}

static void begin(struct walk *walk, const TransactionStmt *statement)
{
    walk->shape->kind = STATEMENT_BEGIN;
    changes(walk, CHANGES_TRANSACTION);
    transaction_modes(walk, statement->options, "");
}

/* A rollback undoes whatever was done in between; AND CHAIN keeps the modes. */
static void rollback(struct walk *walk, enum statement_kind kind)
{
    walk->shape->kind = kind;
    changes(walk, CHANGES_TRANSACTION | CHANGES_OBJECTS | CHANGES_SETTINGS | CHANGES_ROLE);
}

static void savepoint(struct walk *walk, const TransactionStmt *statement, enum statement_kind kind)
{
    if (kind == STATEMENT_ROLLBACK_TO)
        rollback(walk, kind);
    walk->shape->kind = kind;
    walk->shape->name = session_name(walk, statement->savepoint_name, "savepoint");
    changes(walk, CHANGES_TRANSACTION);
}

static void two_phase(struct walk *walk, enum statement_kind kind)
{
    walk->shape->kind = kind;
    changes(walk, CHANGES_TRANSACTION | CHANGES_OBJECTS | CHANGES_SETTINGS | CHANGES_ROLE);
}

void walk_transaction(struct walk *walk, Node *node)
{
    const TransactionStmt *statement = (TransactionStmt *)node;

    walk->shape->and_chain = statement->chain;
    switch (statement->kind) {
    case TRANS_STMT_BEGIN:
    case TRANS_STMT_START:
        begin(walk, statement);
        break;
    case TRANS_STMT_COMMIT:
        walk->shape->kind = STATEMENT_COMMIT;
        changes(walk, CHANGES_TRANSACTION);
        break;
    case TRANS_STMT_ROLLBACK:
        rollback(walk, STATEMENT_ROLLBACK);
        break;
    case TRANS_STMT_SAVEPOINT:
        savepoint(walk, statement, STATEMENT_SAVEPOINT);
        break;
    case TRANS_STMT_RELEASE:
        savepoint(walk, statement, STATEMENT_RELEASE);
        break;
    case TRANS_STMT_ROLLBACK_TO:
        savepoint(walk, statement, STATEMENT_ROLLBACK_TO);
        break;
    case TRANS_STMT_COMMIT_PREPARED:
    case TRANS_STMT_ROLLBACK_PREPARED:
        walk->shape->not_in_block = true;
        two_phase(walk, STATEMENT_TWO_PHASE);
        break;
    case TRANS_STMT_PREPARE:
        two_phase(walk, STATEMENT_TWO_PHASE);
        break;
    default:
        walk_unknown(walk, "transaction statement", (int)nodeTag(node), -1);
    }
}

/* Judged as a setting called "constraints": its effect ends with the transaction. */
void walk_set_constraints(struct walk *walk, Node *node)
{
    const ConstraintsSetStmt *statement = (ConstraintsSetStmt *)node;

    walk->shape->kind = STATEMENT_SET;
    walk_setting(walk, SETTING_SET_LOCAL, TEXT("constraints"),
                 statement->deferred ? TEXT("deferred") : TEXT("immediate"), false, -1);
}

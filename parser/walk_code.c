/*
 * walk_code.c - statements that run code which cannot be judged: DO, CALL, LOAD.
 */
#include "parser/walk_utility.h"

static const char *const do_options[] = {"as", "language", NULL};

/* What unknown code can change. */
enum {
    CODE_CHANGES = CHANGES_BY_CODE | CHANGES_SETTINGS | CHANGES_ROLE | CHANGES_OBJECTS |
                   CHANGES_NAMES | CHANGES_TRANSACTION,
};

static void runs_code(struct walk *walk)
{
    walk->shape->kind = STATEMENT_CODE;
    walk->shape->volatile_functions = true;
    changes(walk, CODE_CHANGES);
}

void walk_do(struct walk *walk, Node *node)
{
    List *options = ((DoStmt *)node)->args;
    const DefElem *language = option_last(options, "language");
    const char *name = "plpgsql";

    runs_code(walk);
    options_known(walk, options, do_options, "DO");
    if (list_length(options) > 2)
        walk_unknown(walk, "DO", T_DefElem, -1);
    if (language != NULL)
        name = string_of(walk, language->arg);
    act_on_kind(walk, VERB_CODE, OBJECT_LANGUAGE, name);
}

/* Output arguments come back as a row. */
void walk_call_statement(struct walk *walk, Node *node)
{
    runs_code(walk);
    walk->shape->returns_rows = true;
    walk_expression(walk, (Node *)((CallStmt *)node)->funccall, NULL);
}

/* The library's initialisation runs in the server. */
void walk_load(struct walk *walk, Node *node)
{
    (void)node;
    changes(walk, CODE_CHANGES);
    act_on_none(walk, VERB_CODE);
}

/*
 * walk_routine.c - functions and procedures as they are made and altered.
 *
 * A body is code that nobody can judge from outside: `code` on the routine's name stands for all
 * that it does. What runs while it is made (defaults are checked, not run) is walked.
 */
#include "parser/walk_utility.h"

#include <string.h>

static const char *const routine_options[] = {
    "as",       "cost",   "language",  "leakproof",  "parallel", "rows",
    "security", "strict", "transform", "volatility", "window",   NULL,
};

static void routine_parameters(struct walk *walk, List *parameters)
{
    ListCell *cell;

    foreach (cell, parameters) {
        const FunctionParameter *parameter = lfirst(cell);

        if (!IsA(parameter, FunctionParameter)) {
            walk_unknown(walk, "parameter", (int)nodeTag(parameter), -1);
            return;
        }
        type_mention(walk, parameter->argType);
        if (parameter->defexpr == NULL)
            continue;
        walk_expression(walk, parameter->defexpr, NULL);
        walk_assignment(walk, parameter->defexpr, 0, walk_type_oid(walk, parameter->argType));
    }
}

/* SUPPORT names a function that the planner runs. */
static void routine_option(struct walk *walk, DefElem *option)
{
    List single = {.type = T_List, .length = 1, .max_length = 1};
    ListCell cell = {.ptr_value = option};

    if (!IsA(option, DefElem)) {
        walk_unknown(walk, "routine", (int)nodeTag(option), -1);
    } else if (strcmp(option->defname, "support") == 0 && option->arg != NULL &&
               IsA(option->arg, List)) {
        call_named(walk, (List *)option->arg, -1);
    } else if (strcmp(option->defname, "set") == 0 && option->arg != NULL &&
               IsA(option->arg, VariableSetStmt)) {
        setting_of_routine(walk, (VariableSetStmt *)option->arg);
    } else {
        single.elements = &cell;
        options_known(walk, &single, routine_options, "a routine");
    }
}

static void routine_options_walk(struct walk *walk, List *options)
{
    ListCell *cell;

    foreach (cell, options)
        routine_option(walk, lfirst(cell));
}

void walk_create_function(struct walk *walk, Node *node)
{
    CreateFunctionStmt *statement = (CreateFunctionStmt *)node;
    struct target target = target_new_names(walk, statement->funcname);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    act(walk, VERB_CODE, &target);
    type_mention(walk, statement->returnType);
    routine_parameters(walk, statement->parameters);
    routine_options_walk(walk, statement->options);
}

void walk_alter_function(struct walk *walk, Node *node)
{
    AlterFunctionStmt *statement = (AlterFunctionStmt *)node;
    struct target target = target_routine(walk, statement->func);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_ALTER, &target)->lock = LOCK_NONE;
    routine_options_walk(walk, statement->actions);
}

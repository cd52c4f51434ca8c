/*
 * walk_session.c - what lives in a session: prepared statements, cursors, channels.
 *
 * Names that begin with pgwicket_ fail the walk, but for EXECUTE pgwicket_hold(N).
 */
#include "parser/walk_scope.h"
#include "parser/walk_utility.h"

#define CURSOR_OPTIONS_KNOWN                                                                       \
    (CURSOR_OPT_BINARY | CURSOR_OPT_SCROLL | CURSOR_OPT_NO_SCROLL | CURSOR_OPT_INSENSITIVE |       \
     CURSOR_OPT_ASENSITIVE | CURSOR_OPT_HOLD | CURSOR_OPT_FAST_PLAN)

/* --- prepared statements --------------------------------------------------------------------- */

static bool is_query(const Node *node)
{
    return IsA(node, SelectStmt) || IsA(node, InsertStmt) || IsA(node, UpdateStmt) ||
           IsA(node, DeleteStmt) || IsA(node, MergeStmt);
}

static void walk_types(struct walk *walk, List *types)
{
    ListCell *cell;

    foreach (cell, types)
        walk_type(walk, lfirst(cell));
}

/* A type that is not known fits no key. */
static struct own_parameters declared_parameters(struct walk *walk, List *types)
{
    size_t count = (size_t)list_length(types), kept = 0;
    uint32_t *oids = arena_array(walk->arena, count, sizeof(*oids));
    ListCell *cell;

    foreach (cell, types) {
        const struct type *type =
            IsA(lfirst(cell), TypeName) ? type_of_name(walk, lfirst(cell)) : NULL;

        oids[kept++] = type != NULL ? type->oid : UINT32_MAX;
    }
    return (struct own_parameters){oids, kept};
}

void walk_prepare(struct walk *walk, Node *node)
{
    PrepareStmt *statement = (PrepareStmt *)node;
    struct own_parameters own = declared_parameters(walk, statement->argtypes);

    walk->shape->kind = STATEMENT_PREPARE;
    walk->shape->name = session_name(walk, statement->name, "prepared statement");
    changes(walk, CHANGES_NAMES);
    walk_types(walk, statement->argtypes);
    if (!is_query(statement->query))
        walk_unknown(walk, "PREPARE", (int)nodeTag(statement->query), -1);
    else
        walk->shape->inner = walk_inner(walk, statement->query, &own);
}

static bool integer_of(const Node *node, int64_t *value)
{
    const A_Const *constant = (const A_Const *)node;

    if (!IsA(constant, A_Const) || constant->isnull)
        return false;
    if (IsA(&constant->val, Integer)) {
        *value = constant->val.ival.ival;
        return true;
    }
    return IsA(&constant->val, Float) && text_to_int64(text_from(constant->val.fval.fval), value);
}

static void execute_hold(struct walk *walk, const ExecuteStmt *statement)
{
    int64_t hold = 0;

    if (list_length(statement->params) != 1 || !integer_of(linitial(statement->params), &hold) ||
        hold < 1) {
        walk_fail(walk, ANALYSE_REJECTED, "22023", -1,
                  "EXECUTE pgwicket_hold takes one integer, the number of a hold");
        return;
    }
    walk->shape->hold = hold;
}

/* What the prepared statement's parameters are is not known here. */
static void casts_of_execute(struct walk *walk, List *values)
{
    size_t before = walk->action_count;
    ListCell *cell;

    foreach (cell, values)
        walk_assignment(walk, lfirst(cell), 0, 0);
    for (size_t i = before; i < walk->action_count; i++)
        walk->actions[i].of_execute = true;
}

static struct argument constant_of(struct walk *walk, const A_Const *constant)
{
    if (constant->isnull)
        return (struct argument){.kind = ARGUMENT_NULL};
    switch (nodeTag(&constant->val)) {
    case T_Integer:
        return (struct argument){ARGUMENT_NUMBER,
                                 arena_printf(walk->arena, "%d", constant->val.ival.ival), 0};
    case T_Float:
        return (struct argument){ARGUMENT_NUMBER, walk_text(walk, constant->val.fval.fval), 0};
    case T_String:
        return (struct argument){ARGUMENT_STRING, walk_text(walk, constant->val.sval.sval), 0};
    case T_Boolean:
        return (struct argument){ARGUMENT_BOOLEAN,
                                 constant->val.boolval.boolval ? TEXT("true") : TEXT("false"), 0};
    default:
        return (struct argument){0};
    }
}

static struct argument argument_of(struct walk *walk, const Node *node)
{
    if (IsA(node, ParamRef))
        return (struct argument){.kind = ARGUMENT_PARAMETER,
                                 .parameter = ((const ParamRef *)node)->number};
    if (IsA(node, A_Const))
        return constant_of(walk, (const A_Const *)node);
    return (struct argument){0};
}

static void execute_arguments(struct walk *walk, List *nodes)
{
    size_t count = (size_t)list_length(nodes);
    struct argument *arguments = arena_array(walk->arena, count, sizeof *arguments);
    size_t at = 0;
    ListCell *cell;

    foreach (cell, nodes)
        arguments[at++] = argument_of(walk, lfirst(cell));
    walk->shape->arguments = arguments;
    walk->shape->argument_count = count;
}

void walk_execute(struct walk *walk, Node *node)
{
    const ExecuteStmt *statement = (ExecuteStmt *)node;

    walk->shape->kind = STATEMENT_EXECUTE;
    walk->shape->name = walk_text(walk, statement->name);
    if (text_is(walk->shape->name, "pgwicket_hold")) {
        execute_hold(walk, statement);
        return;
    }
    session_name(walk, statement->name, "prepared statement");
    walk_expressions(walk, statement->params, NULL);
    casts_of_execute(walk, statement->params);
    execute_arguments(walk, statement->params);
}

void walk_deallocate(struct walk *walk, Node *node)
{
    const DeallocateStmt *statement = (DeallocateStmt *)node;

    walk->shape->kind = STATEMENT_DEALLOCATE;
    changes(walk, CHANGES_NAMES);
    if (statement->name != NULL)
        walk->shape->name = session_name(walk, statement->name, "prepared statement");
}

/* --- cursors --------------------------------------------------------------------------------- */

void walk_declare(struct walk *walk, Node *node)
{
    const DeclareCursorStmt *statement = (DeclareCursorStmt *)node;

    walk->shape->kind = STATEMENT_DECLARE;
    walk->shape->name = session_name(walk, statement->portalname, "cursor");
    walk->shape->cursor_hold = (statement->options & CURSOR_OPT_HOLD) != 0;
    walk->shape->fetch_binary = (statement->options & CURSOR_OPT_BINARY) != 0;
    changes(walk, CHANGES_NAMES);
    if ((statement->options & ~CURSOR_OPTIONS_KNOWN) != 0 || !IsA(statement->query, SelectStmt)) {
        walk_unknown(walk, "DECLARE", (int)nodeTag(statement->query), -1);
        return;
    }
    walk->shape->inner = walk_inner(walk, statement->query, NULL);
    if (walk->shape->inner != NULL)
        changes(walk, walk->shape->inner->changes);
}

void walk_fetch(struct walk *walk, Node *node)
{
    const FetchStmt *statement = (FetchStmt *)node;

    walk->shape->kind = STATEMENT_FETCH;
    walk->shape->name = session_name(walk, statement->portalname, "cursor");
    walk->shape->returns_rows = !statement->ismove;
}

void walk_close(struct walk *walk, Node *node)
{
    const ClosePortalStmt *statement = (ClosePortalStmt *)node;

    walk->shape->kind = STATEMENT_CLOSE;
    changes(walk, CHANGES_NAMES);
    if (statement->portalname != NULL)
        walk->shape->name = session_name(walk, statement->portalname, "cursor");
}

/* --- channels -------------------------------------------------------------------------------- */

void walk_listen(struct walk *walk, Node *node)
{
    walk->shape->kind = STATEMENT_LISTEN;
    act_on_kind(walk, VERB_LISTEN, OBJECT_CHANNEL, ((ListenStmt *)node)->conditionname);
}

void walk_notify(struct walk *walk, Node *node)
{
    act_on_kind(walk, VERB_NOTIFY, OBJECT_CHANNEL, ((NotifyStmt *)node)->conditionname);
}

/* Hearing less needs no rule. */
void walk_unlisten(struct walk *walk, Node *node)
{
    (void)node;
    walk->shape->kind = STATEMENT_LISTEN;
}

/*
 * walk_sequence.c - built-ins that are judged by what a constant argument names: nextval('s') is a
 * call on the sequence, set_config('x', 'y', true) is SET LOCAL, current_setting('x') is SHOW, and so
 * is SELECT setting FROM pg_settings WHERE name = 'x'.
 *
 * An argument that is not a plain constant leaves them to walk_function.c, which judges the
 * function.
 */
#include "parser/walk_scope.h"

#include "parser/builtins.h"

#include <string.h>

/* --- names in strings ----------------------------------------------------------------------- */

struct name_reader {
    struct text rest;
    bool failed;
};

static char take(struct name_reader *reader)
{
    char byte = reader->rest.bytes[0];
    reader->rest.bytes++;
    reader->rest.size--;
    return byte;
}

static bool at(const struct name_reader *reader, char byte)
{
    return reader->rest.size > 0 && reader->rest.bytes[0] == byte;
}

static void skip_spaces(struct name_reader *reader)
{
    while (at(reader, ' ') || at(reader, '\t') || at(reader, '\n') || at(reader, '\r') ||
           at(reader, '\f'))
        take(reader);
}

static size_t quoted_name(struct name_reader *reader, char *out)
{
    size_t size = 0;
    take(reader);
    for (;;) {
        if (reader->rest.size == 0) {
            reader->failed = true;
            return 0;
        }
        char byte = take(reader);
        if (byte == '"' && !at(reader, '"'))
            return size;
        if (byte == '"')
            take(reader);
        out[size++] = byte;
    }
}

static size_t plain_name(struct name_reader *reader, char *out)
{
    size_t size = 0;
    while (reader->rest.size > 0 && !at(reader, '.') && !at(reader, ' ') && !at(reader, '\t') &&
           !at(reader, '\n') && !at(reader, '\r') && !at(reader, '\f') && !at(reader, '"')) {
        char byte = take(reader);
        if ((unsigned char)byte >= 0x80)
            reader->failed = true; /* how the server folds it depends on its locale */
        out[size++] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
    }
    return size;
}

/* One identifier, folded and cut as the server does. */
static struct text read_name(struct walk *walk, struct name_reader *reader)
{
    enum { NAME_BYTES = NAMEDATALEN - 1 };
    skip_spaces(reader);
    char *out = arena_allocate(walk->arena, reader->rest.size + 1);
    size_t size = at(reader, '"') ? quoted_name(reader, out) : plain_name(reader, out);
    skip_spaces(reader);
    if (size == 0)
        reader->failed = true;
    return text_cut((struct text){out, size}, NAME_BYTES);
}

/* "s.t" of one or two parts; digits would be an oid. */
static bool relation_name(struct walk *walk, struct text source, RangeVar *range)
{
    struct name_reader reader = {source, false};
    if (source.size == 0 || (source.bytes[0] >= '0' && source.bytes[0] <= '9') ||
        source.bytes[0] == '-')
        return false;
    struct text first = read_name(walk, &reader), second = {0};
    if (at(&reader, '.')) {
        take(&reader);
        second = read_name(walk, &reader);
    }
    if (reader.failed || reader.rest.size > 0)
        return false;
    /* Names with a NUL at the end: they came from arena_allocate or were cut inside of it. */
    first = arena_text(walk->arena, first);
    second = arena_text(walk->arena, second);
    *range = (RangeVar){.type = T_RangeVar, .inh = true, .relpersistence = 'p', .location = -1};
    range->relname = (char *)(uintptr_t)(second.size > 0 ? second.bytes : first.bytes);
    range->schemaname = second.size > 0 ? (char *)(uintptr_t)first.bytes : NULL;
    return true;
}

/* --- the functions -------------------------------------------------------------------------- */

static bool casts_to_plain(Node *node)
{
    static const char *const types[] = {"regclass", "text", "varchar"};
    for (; IsA(node, TypeCast); node = ((TypeCast *)node)->arg) {
        TypeName *type = ((TypeCast *)node)->typeName;
        int count = list_length(type->names);
        bool plain = false;
        if (type->arrayBounds != NIL || type->typmods != NIL || count < 1 || count > 2 ||
            (count == 2 && strcmp(strVal(linitial(type->names)), "pg_catalog") != 0))
            return false;
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
            plain = plain || strcmp(strVal(llast(type->names)), types[i]) == 0;
        if (!plain)
            return false;
    }
    return true;
}

static bool sequence_call(struct walk *walk, struct scope *scope, struct text function,
                          List *arguments, int location)
{
    struct text source;
    Node *first = linitial(arguments);
    RangeVar range;
    if (!constant_string(first, &source) || !casts_to_plain(first) ||
        !relation_name(walk, source, &range))
        return false;
    for (int i = 1; i < list_length(arguments); i++)
        expression(walk, scope, list_nth(arguments, i));
    range.location = location;
    const struct named sequence = walk_relation_in_literal(walk, &range);
    size_t index = call_action(walk, sequence.object, TEXT("sequence"), location);
    walk->actions[index].relation = sequence.relation;
    walk->actions[index].unresolved = sequence.unresolved;
    if (!text_is(function, "currval"))
        walk->shape->volatile_functions = true;
    return true;
}

static bool constant_boolean(Node *node, bool *value)
{
    while (node != NULL && IsA(node, TypeCast))
        node = ((TypeCast *)node)->arg;
    if (node == NULL || !IsA(node, A_Const) || ((A_Const *)node)->isnull ||
        !IsA(&((A_Const *)node)->val, Boolean))
        return false;
    *value = ((A_Const *)node)->val.boolval.boolval;
    return true;
}

static struct text lower_case(struct walk *walk, struct text name)
{
    char *lower = arena_allocate(walk->arena, name.size + 1);
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.bytes[i];
        lower[i] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
    }
    return (struct text){lower, name.size};
}

/* asyncpg puts jit back by a parameter. Whether the value matters is for the rules; of settings that
 * are not harmless an unknown value leaves the call what it is. */
static bool value_may_be_unknown(struct walk *walk, struct text name)
{
    return builtin_setting(lower_case(walk, name)).class == SETTING_HARMLESS;
}

static bool setting_change(struct walk *walk, struct scope *scope, List *arguments, int location)
{
    struct text name, value = {0};
    bool local;
    if (list_length(arguments) != 3 || !constant_string(linitial(arguments), &name) ||
        !constant_boolean(lthird(arguments), &local) || !casts_to_plain(linitial(arguments)))
        return false;
    bool known = constant_string(lsecond(arguments), &value) && casts_to_plain(lsecond(arguments));
    if (!known && !value_may_be_unknown(walk, name))
        return false;
    if (!known)
        expression(walk, scope, lsecond(arguments));
    walk_setting(walk, local ? SETTING_SET_LOCAL : SETTING_SET, name,
                 known ? arena_text(walk->arena, value) : TEXT(""), !known, location);
    walk->shape->changes |= CHANGES_SETTINGS;
    walk->shape->volatile_functions = true;
    return true;
}

static bool setting_reading(struct walk *walk, List *arguments, int location)
{
    struct text name;
    bool missing_ok;
    int count = list_length(arguments);
    if (count < 1 || count > 2 || !constant_string(linitial(arguments), &name) ||
        !casts_to_plain(linitial(arguments)) ||
        (count == 2 && !constant_boolean(lsecond(arguments), &missing_ok)))
        return false;
    walk_setting(walk, SETTING_SHOW, name, (struct text){0}, false, location);
    return true;
}

bool function_by_argument(struct walk *walk, struct scope *scope, struct text name, List *arguments,
                          int location)
{
    if (arguments == NIL)
        return false;
    if (text_is(name, "set_config"))
        return setting_change(walk, scope, arguments, location);
    if (text_is(name, "current_setting"))
        return setting_reading(walk, arguments, location);
    if (text_is(name, "nextval") || text_is(name, "setval") || text_is(name, "currval"))
        return sequence_call(walk, scope, name, arguments, location);
    return false;
}

/* --- pg_settings ---------------------------------------------------------------------------- */

static bool is_column(Node *node, const char *name)
{
    if (!IsA(node, ColumnRef) || is_star(node) || list_length(((ColumnRef *)node)->fields) > 2)
        return false;
    return strcmp(strVal(llast(((ColumnRef *)node)->fields)), name) == 0;
}

/* name = 'x' */
static bool names_setting(struct walk *walk, Node *where, struct text *name)
{
    A_Expr *tree = (A_Expr *)where;
    return where != NULL && IsA(where, A_Expr) && tree->kind == AEXPR_OP &&
           list_length(tree->name) == 1 && strcmp(strVal(linitial(tree->name)), "=") == 0 &&
           !operator_is_shadowed(walk, "=", TYPE_TEXT, TYPE_LITERAL) && tree->lexpr != NULL &&
           is_column(tree->lexpr, "name") && constant_string(tree->rexpr, name) &&
           casts_to_plain(tree->rexpr);
}

static bool is_bare(const SelectStmt *tree)
{
    return tree->op == SETOP_NONE && tree->valuesLists == NIL && tree->withClause == NULL &&
           tree->intoClause == NULL && tree->distinctClause == NIL && tree->groupClause == NIL &&
           tree->havingClause == NULL && tree->windowClause == NIL && tree->sortClause == NIL &&
           tree->limitOffset == NULL && tree->limitCount == NULL && tree->lockingClause == NIL &&
           list_length(tree->fromClause) == 1;
}

static bool is_pg_settings(struct walk *walk, Node *node)
{
    RangeVar *range = (RangeVar *)node;
    if (!IsA(node, RangeVar) || strcmp(range->relname, "pg_settings") != 0 ||
        (range->alias != NULL && range->alias->colnames != NIL))
        return false;
    const struct named named = walk_relation(walk, range);
    return named.relation != NULL && !named.may_be_other &&
           text_is(named.object.schema, "pg_catalog");
}

bool select_is_show(struct walk *walk, SelectStmt *tree)
{
    struct text name;
    ListCell *cell;
    if (!is_bare(tree) || !names_setting(walk, tree->whereClause, &name) ||
        !builtin_setting(lower_case(walk, name)).readable)
        return false;
    foreach (cell, tree->targetList) {
        ResTarget *target = lfirst(cell);
        if (!IsA(target, ResTarget) || target->indirection != NIL ||
            !(is_column(target->val, "setting") || is_column(target->val, "name")))
            return false;
    }
    if (tree->targetList == NIL || !is_pg_settings(walk, linitial(tree->fromClause)))
        return false;
    walk_setting(walk, SETTING_SHOW, name, (struct text){0}, false, -1);
    return true;
}

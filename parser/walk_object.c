/*
 * walk_object.c - what utility statements name: relations, routines, types, roles and all else.
 *
 * A form of a name that the grammar of this major does not make for a kind of object fails the
 * walk.
 */
#include "parser/walk_utility.h"

#include "proxy/base/invariant.h"

struct target target_none(void)
{
    return (struct target){.object = {.kind = OBJECT_NONE}, .location = -1};
}

struct target target_named(enum object_kind kind, struct text name)
{
    return (struct target){.object = {.kind = kind, .name = name}, .location = -1};
}

struct target target_schema_contents(struct walk *walk, const char *schema)
{
    struct object object = {OBJECT_NAME, walk_text(walk, schema), TEXT("*")};

    return (struct target){.object = object, .location = -1};
}

/* An index is a part of its table. */
static void index_to_table(struct walk *walk, struct target *target)
{
    char kind = target->relation->kind;

    if (kind != 'i' && kind != 'I')
        return;
    target->inside_table = true;
    target->relation = catalog_relation_by_oid(walk->context->catalog, target->relation->table);
    if (target->relation == NULL) {
        target->object = (struct object){.kind = OBJECT_NONE};
        return;
    }
    target->object.schema = target->relation->schema;
    target->object.name = target->relation->name;
}

struct target target_relation(struct walk *walk, RangeVar *range)
{
    struct target target = {.location = range->location};
    const struct named named = walk_relation(walk, range);

    target.object = named.object;
    target.relation = named.relation;
    target.unresolved = named.unresolved;
    target.unknown = named.relation == NULL;
    if (target.relation != NULL && !named.may_be_other)
        index_to_table(walk, &target);
    return target;
}

struct target target_new_relation(struct walk *walk, RangeVar *range)
{
    struct target target = {.location = range->location};

    if (range->catalogname != NULL && range->schemaname == NULL)
        walk_unknown(walk, "name", T_RangeVar, range->location);
    target.object = walk_new_object(walk, range);
    return target;
}

const char *string_of(struct walk *walk, Node *node)
{
    if (node != NULL && IsA(node, String))
        return ((String *)node)->sval;
    walk_unknown(walk, "name", node != NULL ? (int)nodeTag(node) : 0, -1);
    return "";
}

bool strings_only(struct walk *walk, List *list)
{
    ListCell *cell;

    foreach (cell, list) {
        Node *node = lfirst(cell);

        if (node == NULL || !IsA(node, String)) {
            walk_unknown(walk, "list of names", node != NULL ? (int)nodeTag(node) : 0, -1);
            return false;
        }
    }
    return true;
}

static char *part(List *names, int index)
{
    return index < 0 ? NULL : ((String *)list_nth(names, index))->sval;
}

/* The first `count` of one to three names as a RangeVar. */
static RangeVar *range_of(struct walk *walk, List *names, int count)
{
    RangeVar *range = arena_allocate(walk->arena, sizeof(*range));

    range->type = T_RangeVar;
    range->inh = true;
    range->relpersistence = 'p';
    range->location = -1;
    range->relname = (char *)"";
    if (count < 1 || count > 3 || !strings_only(walk, names)) {
        walk_unknown(walk, "name", T_List, -1);
        return range;
    }
    range->relname = part(names, count - 1);
    range->schemaname = part(names, count - 2);
    range->catalogname = part(names, count - 3);
    return range;
}

struct target target_new_names(struct walk *walk, List *names)
{
    return target_new_relation(walk, range_of(walk, names, list_length(names)));
}

struct target target_names(struct walk *walk, List *names)
{
    struct target target = {.location = -1};

    if (names == NIL || !strings_only(walk, names)) {
        walk_unknown(walk, "name", T_List, -1);
        return target_none();
    }
    target.object = walk_object_from_names(walk, names, -1);
    return target;
}

/* The names without the first (an access method), which stays in the list's memory. */
static struct target target_names_after_first(struct walk *walk, List *names)
{
    List tail;

    if (list_length(names) < 2) {
        walk_unknown(walk, "name", T_List, -1);
        return target_none();
    }
    tail = *names;
    tail.elements = names->elements + 1;
    tail.length--;
    return target_names(walk, &tail);
}

/* The table whose column, constraint, trigger, … the last name is. */
static struct target target_table_of_part(struct walk *walk, List *names)
{
    struct target target = target_relation(walk, range_of(walk, names, list_length(names) - 1));

    target.inside_table = true;
    return target;
}

struct target target_routine(struct walk *walk, ObjectWithArgs *routine)
{
    ListCell *cell;

    if (!IsA(routine, ObjectWithArgs)) {
        walk_unknown(walk, "signature", (int)nodeTag(routine), -1);
        return target_none();
    }
    type_mentions(walk, routine->objargs);
    foreach (cell, routine->objfuncargs)
        type_mention(walk, ((FunctionParameter *)lfirst(cell))->argType);
    return target_names(walk, routine->objname);
}

/* Types come as a TypeName or as plain names. */
static struct target target_type(struct walk *walk, Node *node)
{
    if (node != NULL && IsA(node, List))
        return target_names(walk, (List *)node);
    if (node == NULL || !IsA(node, TypeName)) {
        walk_unknown(walk, "type", node != NULL ? (int)nodeTag(node) : 0, -1);
        return target_none();
    }
    type_mention(walk, (TypeName *)node);
    return target_names(walk, ((TypeName *)node)->names);
}

/* A constraint of a domain: (TypeName, name) in COMMENT, the domain's names in RENAME. */
static struct target target_domain_of_constraint(struct walk *walk, Node *node)
{
    if (IsA(node, List) && list_length((List *)node) == 2 &&
        IsA((Node *)linitial((List *)node), TypeName))
        node = linitial((List *)node);
    return target_type(walk, node);
}

static struct target target_string(struct walk *walk, enum object_kind kind, Node *node)
{
    return target_named(kind, walk_text(walk, string_of(walk, node)));
}

/* (TypeName, String or TypeName) */
static struct target target_without_name(struct walk *walk, Node *node)
{
    ListCell *cell;

    if (node == NULL || !IsA(node, List))
        return target_none();
    foreach (cell, (List *)node) {
        Node *element = lfirst(cell);

        if (IsA(element, TypeName))
            type_mention(walk, (TypeName *)element);
        else
            string_of(walk, element);
    }
    return target_none();
}

static List *names_of(struct walk *walk, Node *node)
{
    if (node != NULL && IsA(node, List))
        return (List *)node;
    walk_unknown(walk, "name", node != NULL ? (int)nodeTag(node) : 0, -1);
    return NIL;
}

static struct target target_relation_of_names(struct walk *walk, Node *node)
{
    List *names = names_of(walk, node);

    return target_relation(walk, range_of(walk, names, list_length(names)));
}

/* Kinds that have a schema. */
static struct target target_in_schema(struct walk *walk, ObjectType type, Node *object)
{
    switch (type) {
    case OBJECT_TABLE:
    case OBJECT_VIEW:
    case OBJECT_MATVIEW:
    case OBJECT_SEQUENCE:
    case OBJECT_FOREIGN_TABLE:
    case OBJECT_INDEX:
        return target_relation_of_names(walk, object);
    case OBJECT_COLUMN:
    case OBJECT_TABCONSTRAINT:
    case OBJECT_TRIGGER:
    case OBJECT_RULE:
    case OBJECT_POLICY:
        return target_table_of_part(walk, names_of(walk, object));
    case OBJECT_TYPE:
    case OBJECT_DOMAIN:
        return target_type(walk, object);
    case OBJECT_DOMCONSTRAINT:
        return target_domain_of_constraint(walk, object);
    case OBJECT_FUNCTION:
    case OBJECT_PROCEDURE:
    case OBJECT_ROUTINE:
    case OBJECT_AGGREGATE:
    case OBJECT_OPERATOR:
        return target_routine(walk, (ObjectWithArgs *)object);
    case OBJECT_COLLATION:
    case OBJECT_CONVERSION:
    case OBJECT_STATISTIC_EXT:
    case OBJECT_TSCONFIGURATION:
    case OBJECT_TSDICTIONARY:
    case OBJECT_TSPARSER:
    case OBJECT_TSTEMPLATE:
        return target_names(walk, names_of(walk, object));
    case OBJECT_OPCLASS:
    case OBJECT_OPFAMILY:
        return target_names_after_first(walk, names_of(walk, object));
    default:
        walk_unknown(walk, "kind of object", (int)nodeTag(object), -1);
        return target_none();
    }
}

struct target target_of(struct walk *walk, ObjectType type, Node *object, RangeVar *range)
{
    if (range != NULL)
        return target_relation(walk, range);
    if (object == NULL) {
        walk_unknown(walk, "object", 0, -1);
        return target_none();
    }
    switch (type) {
    case PG_OBJECT_SCHEMA:
        return target_string(walk, OBJECT_SCHEMA, object);
    case PG_OBJECT_ROLE:
        return target_string(walk, OBJECT_ROLE, object);
    case PG_OBJECT_DATABASE:
        return target_string(walk, OBJECT_DATABASE, object);
    case PG_OBJECT_EXTENSION:
        return target_string(walk, OBJECT_EXTENSION, object);
    case PG_OBJECT_LANGUAGE:
        return target_string(walk, OBJECT_LANGUAGE, object);
    case PG_OBJECT_PUBLICATION:
        return target_string(walk, OBJECT_PUBLICATION, object);
    case PG_OBJECT_SUBSCRIPTION:
        return target_string(walk, OBJECT_SUBSCRIPTION, object);
    case PG_OBJECT_TABLESPACE:
        return target_string(walk, OBJECT_TABLESPACE, object);
    case OBJECT_FOREIGN_SERVER:
        return target_string(walk, OBJECT_SERVER, object);
    case OBJECT_PARAMETER_ACL:
        return target_string(walk, OBJECT_SETTING, object);
    case OBJECT_ACCESS_METHOD:
    case OBJECT_EVENT_TRIGGER:
    case OBJECT_FDW:
        string_of(walk, object);
        return target_none();
    case OBJECT_LARGEOBJECT:
    case OBJECT_CAST:
    case OBJECT_TRANSFORM:
        return target_without_name(walk, object);
    default:
        return target_in_schema(walk, type, object);
    }
}

struct action *act(struct walk *walk, enum verb verb, const struct target *target)
{
    struct action *action = walk_add(walk, verb, target->object, target->location);

    action->relation = target->relation;
    action->unresolved = target->unresolved;
    action->rows_max = ROWS_UNPROVEN;
    return action;
}

struct action *act_on_none(struct walk *walk, enum verb verb)
{
    struct target none = target_none();

    return act(walk, verb, &none);
}

static bool locks_no_table(enum object_kind kind)
{
    return kind == OBJECT_SCHEMA || kind == OBJECT_ROLE || kind == OBJECT_DATABASE ||
           kind == OBJECT_LANGUAGE || kind == OBJECT_SERVER || kind == OBJECT_TABLESPACE ||
           kind == OBJECT_PUBLICATION;
}

static void act_on_name(struct walk *walk, enum verb verb, enum object_kind kind, struct text name,
                        int location)
{
    walk_add_named(walk, verb, kind, name, location);
    if (locks_no_table(kind))
        walk->actions[walk->action_count - 1].lock = LOCK_NONE;
}

void act_on_kind(struct walk *walk, enum verb verb, enum object_kind kind, const char *name)
{
    act_on_name(walk, verb, kind, walk_text(walk, name), -1);
}

struct text role_name(struct walk *walk, RoleSpec *role)
{
    if (!IsA(role, RoleSpec)) {
        walk_unknown(walk, "role", (int)nodeTag(role), -1);
        return TEXT("");
    }
    switch (role->roletype) {
    case ROLESPEC_CSTRING:
        return walk_text(walk, role->rolename);
    case ROLESPEC_CURRENT_ROLE:
    case ROLESPEC_CURRENT_USER:
        return TEXT("current_user");
    case ROLESPEC_SESSION_USER:
        return TEXT("session_user");
    case ROLESPEC_PUBLIC:
        return TEXT("public");
    default:
        walk_unknown(walk, "role", (int)nodeTag(role), role->location);
        return TEXT("");
    }
}

void act_on_role(struct walk *walk, enum verb verb, RoleSpec *role)
{
    if (role != NULL)
        act_on_name(walk, verb, OBJECT_ROLE, role_name(walk, role), role->location);
}

void act_on_roles(struct walk *walk, enum verb verb, List *roles)
{
    ListCell *cell;

    foreach (cell, roles)
        act_on_role(walk, verb, lfirst(cell));
}

void act_on_relations(struct walk *walk, enum verb verb, List *ranges, enum table_lock lock)
{
    ListCell *cell;

    foreach (cell, ranges) {
        struct target target = target_relation(walk, lfirst(cell));

        act(walk, verb, &target)->lock = lock;
    }
}

/* Modifiers are constants or bare words, for which the server runs the type's own input of
 * modifiers. */
void type_mention(struct walk *walk, TypeName *type)
{
    ListCell *cell;

    if (type == NULL)
        return;
    if (!IsA(type, TypeName)) {
        walk_unknown(walk, "type", (int)nodeTag(type), -1);
        return;
    }
    foreach (cell, type->typmods) {
        Node *modifier = lfirst(cell);

        if (!IsA(modifier, A_Const) && !IsA(modifier, ColumnRef))
            walk_unknown(walk, "type modifier", (int)nodeTag(modifier), type->location);
    }
}

void type_mentions(struct walk *walk, List *types)
{
    ListCell *cell;

    foreach (cell, types)
        type_mention(walk, lfirst(cell));
}

void call_named(struct walk *walk, List *names, int argument_count)
{
    if (names != NIL && strings_only(walk, names))
        walk_call(walk, names, argument_count, -1);
}

void call_routine(struct walk *walk, ObjectWithArgs *routine)
{
    if (routine == NULL)
        return;
    type_mentions(walk, routine->objargs);
    call_named(walk, routine->objname, list_length(routine->objargs));
}

/* An operator that will run later is judged as if it were applied to values of unknown type. */
void operator_mention(struct walk *walk, List *names)
{
    A_Const *null = arena_allocate(walk->arena, sizeof(*null));
    A_Expr *use = arena_allocate(walk->arena, sizeof(*use));

    if (names == NIL || !strings_only(walk, names))
        return;
    null->type = T_A_Const;
    null->isnull = true;
    null->location = -1;
    use->type = T_A_Expr;
    use->kind = AEXPR_OP;
    use->name = names;
    use->lexpr = use->rexpr = (Node *)null;
    use->location = -1;
    walk_expression(walk, (Node *)use, NULL);
}

struct text session_name(struct walk *walk, const char *name, const char *what)
{
    struct text result = walk_text(walk, name);

    if (text_starts_with(result, "pgwicket_"))
        walk_fail(walk, ANALYSE_REJECTED, "42939", -1,
                  "%s %.*s is not allowed: names that begin with pgwicket_ are reserved", what,
                  TEXT_ARGS(text_cut(result, 64)));
    return result;
}

void changes(struct walk *walk, unsigned bits)
{
    walk->shape->changes |= bits;
}

/*
 * walk_cast.c - casts of users: which of them run where a value becomes another type.
 *
 * pg_cast says of each where the server uses it. Of a type that is not sure, every cast that could
 * be meant counts; a literal is read by its type's input function, which is no cast.
 */
#include "parser/walk_scope.h"

/* --- between types -------------------------------------------------------------------------- */

static bool runs_in(char context, enum cast_context where)
{
    return context == 'i' || where == CAST_EXPLICIT || (context == 'a' && where == CAST_ASSIGNMENT);
}

/* Is it the type, what it is a domain over, or an array of it? */
static bool is_type_of(const struct catalog *catalog, uint32_t type, uint32_t of_cast)
{
    for (int depth = 0; depth < LIMIT_STATEMENT_DEPTH; depth++) {
        const struct type *base = type_without_domains(catalog, type);
        if (base == NULL || type == of_cast || base->oid == of_cast)
            return true;
        if (!base->is_array)
            return false;
        type = base->base;
    }
    return true;
}

bool is_user_type(const struct catalog *catalog, uint32_t oid)
{
    const struct type *type = catalog_type_by_oid(catalog, oid);
    return type == NULL || !text_is(type->schema, "pg_catalog");
}

bool has_casts(const struct walk *walk)
{
    size_t casts = 0, types = 0;
    const struct catalog *catalog = walk->context->catalog;
    if (catalog == NULL)
        return false;
    catalog_casts(catalog, &casts);
    catalog_checked_types(catalog, &types);
    return casts > 0 || types > 0;
}

/* Where no object of a user has been met, no value is of a user's type. */
static bool may_have_user_values(const struct walk *walk)
{
    const struct analyse_context *context = walk->context;
    bool found = walk->users_values;
    for (size_t i = 0; !found && context->parameter_types != NULL && i < context->parameter_count;
         i++)
        found = context->parameter_types[i] != TYPE_UNSURE &&
                context->parameter_types[i] != TYPE_LITERAL &&
                is_user_type(context->catalog, context->parameter_types[i]);
    return found;
}

/* Beside a domain a literal is read as what that is a domain over, unless a function takes its values as they
 * are. */
void checks_of_type(struct walk *walk, uint32_t type, bool as_it_is, int location)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t count = 0;
    const uint32_t *checked = catalog_checked_types(catalog, &count);
    const struct type *read = type == TYPE_UNSURE ? NULL
                              : as_it_is          ? catalog_type_by_oid(catalog, type)
                                                  : type_without_domains(catalog, type);
    if (read != NULL && catalog_type_is_checked(catalog, read->oid))
        type_use(walk, read, location);
    for (size_t i = 0; type == TYPE_UNSURE && i < count && walk->checked_values && walk_spend(walk, 1); i++) {
        read = catalog_type_by_oid(catalog, checked[i]);
        if (as_it_is || read->kind != 'd')
            type_use(walk, read, location);
    }
}

/* Does the server cast such a value so? */
static bool may_cast(const struct walk *walk, uint32_t from, const struct cast *cast)
{
    const struct catalog *catalog = walk->context->catalog;
    return is_type_of(catalog, from, cast->source) &&
           (from != TYPE_UNSURE || !is_user_type(catalog, cast->source) ||
            may_have_user_values(walk));
}

void casts_between(struct walk *walk, uint32_t from, uint32_t to, enum cast_context where,
                   int location)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t count = 0;
    const struct cast *casts = catalog != NULL && from != TYPE_LITERAL && (from != to || from == 0)
                                   ? catalog_casts(catalog, &count)
                                   : NULL;
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++)
        if (runs_in(casts[i].context, where) && may_cast(walk, from, &casts[i]) &&
            is_type_of(catalog, to, casts[i].target))
            call_function_oid(walk, casts[i].function, location);
}

/* A type's own cast fits a value to a length, literals too. Of a column that is not known it is left to the
 * definition of the column, which had it counted. */
static void cast_to_length(struct walk *walk, uint32_t type, int location)
{
    size_t count = 0;
    const struct catalog *catalog = walk->context->catalog;
    const struct cast *casts = catalog_casts(catalog, &count);
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++)
        if (casts[i].source == casts[i].target && is_type_of(catalog, type, casts[i].source))
            call_function_oid(walk, casts[i].function, location);
}

void casts_to(struct walk *walk, const char *name, const uint32_t *types, size_t type_count,
              int location)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t count = 0;
    const struct cast *casts = catalog != NULL ? catalog_casts(catalog, &count) : NULL;
    const struct type *target =
        count > 0 ? catalog_type(catalog, TEXT("pg_catalog"), text_from(name)) : NULL;
    for (size_t i = 0; target != NULL && i < count; i++) {
        bool given = types == NULL;
        for (size_t j = 0; j < type_count && !given && walk_spend(walk, 1); j++) {
            const struct type *type = type_without_domains(catalog, types[j]);
            bool row = type != NULL && type->kind == 'c';
            given = types[j] != TYPE_LITERAL && (row || may_cast(walk, types[j], &casts[i]));
        }
        if (given && casts[i].target == target->oid && is_user_type(catalog, casts[i].source))
            call_function_oid(walk, casts[i].function, location);
    }
}

/* --- of values ------------------------------------------------------------------------------ */

/* What takes values of users' types is a user's, and has its own casts counted. */
void casts_of_values(struct walk *walk, uint32_t type, int location)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t count = 0;
    const struct cast *casts =
        type != TYPE_LITERAL && catalog != NULL ? catalog_casts(catalog, &count) : NULL;
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++)
        if (casts[i].context == 'i' && may_cast(walk, type, &casts[i]) &&
            (is_user_type(catalog, casts[i].source) || !is_user_type(catalog, casts[i].target)))
            call_function_oid(walk, casts[i].function, location);
}

void walk_parameters(struct walk *walk)
{
    if (walk->parameter_again && !walk->failed)
        casts_of_values(walk, TYPE_UNSURE, -1);
}

void relation_met(struct walk *walk, const struct named *named)
{
    const struct relation *relation = named->relation;
    const struct catalog *catalog = walk->context->catalog;
    if (!has_casts(walk))
        return;
    if (relation == NULL || named->may_differ || named->may_be_other)
        walk->users_values = true;
    bool builtin = relation != NULL && relation_is_builtin(relation);
    for (size_t i = 0; relation != NULL && !builtin && i < relation->column_count; i++) {
        uint32_t type = relation->columns[i].type;
        walk->users_values = walk->users_values || is_user_type(catalog, type);
        walk->checked_values = walk->checked_values || catalog_type_is_checked(catalog, type);
    }
}

/* The type of the rows of a table, TYPE_LITERAL if it has none of which there could be a cast;
 * TYPE_UNSURE if the reference is no such. */
static uint32_t type_of_whole_row(struct walk *walk, const ColumnRef *reference)
{
    const struct resolution *resolution = scope_resolution(walk, reference);
    const struct relation *relation =
        !resolution->unclear && resolution->whole_row ? resolution->item->relation : NULL;
    const struct type *type =
        relation != NULL ? catalog_type(walk->context->catalog, relation->schema, relation->name)
                         : NULL;
    if (type != NULL && type->relation == relation->oid)
        return type->oid;
    return type == NULL && relation != NULL && resolution->item->listed ? TYPE_LITERAL : TYPE_UNSURE;
}

static bool is_without_type(const Node *node)
{
    switch (nodeTag(node)) {
    case T_ParamRef:
    case T_SetToDefault:
    case T_MultiAssignRef:
    case T_RowExpr:
    case T_List:
    case T_XmlExpr:
    case T_XmlSerialize:
    case T_GroupingFunc:
    case T_SQLValueFunction:
        return true;
    default:
        return false;
    }
}

uint32_t type_of_value(struct walk *walk, Node *node)
{
    if (node == NULL || !has_casts(walk))
        return TYPE_LITERAL;
    if (IsA(node, NamedArgExpr))
        node = (Node *)((NamedArgExpr *)node)->arg;
    uint32_t type = type_of_argument(walk, node);
    if (type == TYPE_UNSURE && IsA(node, ColumnRef))
        type = type_of_whole_row(walk, (ColumnRef *)node);
    return type == TYPE_UNSURE && is_without_type(node) ? TYPE_LITERAL : type;
}

/* The row that values of a composite type are; NULL for other types. */
static const struct relation *row_of_type(const struct catalog *catalog, uint32_t oid)
{
    const struct type *type = type_without_domains(catalog, oid);
    return type != NULL && type->kind == 'c' ? catalog_relation_by_oid(catalog, type->relation)
                                             : NULL;
}

void casts_of_argument(struct walk *walk, Node *node, uint32_t to, int location)
{
    if (!has_casts(walk))
        return;
    if (IsA(node, NamedArgExpr))
        node = (Node *)((NamedArgExpr *)node)->arg;
    if (!IsA(node, RowExpr) || row_of_type(walk->context->catalog, to) != NULL)
        casts_of_value(walk, node, to, CAST_IMPLICIT, location);
}

void value_use(struct walk *walk, Node *node)
{
    if (node == NULL || walk->failed || !has_casts(walk))
        return;
    int location = IsA(node, ColumnRef)  ? ((ColumnRef *)node)->location
                   : IsA(node, TypeCast) ? ((TypeCast *)node)->location
                                         : -1;
    casts_of_values(walk, type_of_value(walk, node), location);
}

/* Fields that are not known become the columns of a row. */
static void casts_of_fields(struct walk *walk, const struct relation *row, enum cast_context where,
                            int location)
{
    const struct catalog *catalog = walk->context->catalog;
    if (!walk_enter(walk))
        return;
    for (size_t i = 0; i < row->column_count; i++) {
        const struct relation *inner = row_of_type(catalog, row->columns[i].type);
        casts_between(walk, TYPE_UNSURE, row->columns[i].type, where, location);
        if (inner != NULL)
            casts_of_fields(walk, inner, where, location);
    }
    walk_leave(walk);
}

/* Neither a row nor an array as it is written. */
static void casts_of_single(struct walk *walk, Node *node, uint32_t to, enum cast_context where,
                            int location)
{
    const struct relation *row = row_of_type(walk->context->catalog, to);
    uint32_t type = type_of_value(walk, node);
    casts_between(walk, type, to, where, location);
    if (row != NULL && type == TYPE_UNSURE)
        casts_of_fields(walk, row, where, location);
}

void casts_of_value(struct walk *walk, Node *node, uint32_t to, enum cast_context where,
                    int location)
{
    if (node == NULL || !has_casts(walk) || IsA(node, SetToDefault) || !walk_enter(walk))
        return;
    const struct relation *row = row_of_type(walk->context->catalog, to);
    ListCell *cell;
    if (row != NULL && IsA(node, RowExpr)) {
        List *fields = ((RowExpr *)node)->args;
        for (size_t i = 0; i < row->column_count && i < (size_t)list_length(fields); i++)
            casts_of_value(walk, list_nth(fields, (int)i), row->columns[i].type, where, location);
    } else if (where == CAST_EXPLICIT && IsA(node, A_ArrayExpr)) {
        foreach (cell, ((A_ArrayExpr *)node)->elements) /* each by itself */
            casts_of_value(walk, lfirst(cell), to, where, location);
    } else {
        casts_of_single(walk, node, to, where, location);
    }
    if (where == CAST_ASSIGNMENT && to != TYPE_UNSURE)
        cast_to_length(walk, to, location);
    walk_leave(walk);
}

/* --- where they are written ------------------------------------------------------------------ */

void type_cast(struct walk *walk, struct scope *scope, TypeCast *cast)
{
    expression(walk, scope, cast->arg);
    type_written(walk, cast->typeName);
    if (walk->failed || walk->context->catalog == NULL)
        return;
    const struct type *target = element_of_name(walk, cast->typeName);
    uint32_t to = target != NULL ? target->oid : TYPE_UNSURE;
    casts_of_value(walk, cast->arg, to, CAST_EXPLICIT, cast->location);
    if (target != NULL && (cast->typeName->typmods != NIL || target->kind == 'd'))
        cast_to_length(walk, to, cast->location);
}

void walk_type(struct walk *walk, TypeName *name)
{
    type_written(walk, name);
    if (name == NULL || walk->failed || walk->context->catalog == NULL)
        return;
    const struct type *target = element_of_name(walk, name);
    if (target != NULL && is_user_type(walk->context->catalog, target->oid))
        casts_between(walk, TYPE_UNSURE, target->oid, CAST_EXPLICIT, name->location);
}

uint32_t walk_type_oid(struct walk *walk, TypeName *name)
{
    const struct type *type =
        name != NULL && walk->context->catalog != NULL ? element_of_name(walk, name) : NULL;
    return type != NULL ? type->oid : TYPE_UNSURE;
}

void walk_assignment(struct walk *walk, Node *value, uint32_t from, uint32_t type)
{
    if (walk->failed || !has_casts(walk))
        return;
    if (value != NULL) {
        casts_of_value(walk, value, type, CAST_ASSIGNMENT, -1);
        return;
    }
    casts_between(walk, from, type, CAST_ASSIGNMENT, -1);
    cast_to_length(walk, type, -1);
}

/* SET (a, b) = (1, 2): the one of these; NULL if they are not written. */
static Node *value_of_several(const MultiAssignRef *reference)
{
    if (!IsA(reference->source, RowExpr))
        return NULL;
    List *values = ((RowExpr *)reference->source)->args;
    return reference->colno >= 1 && reference->colno <= list_length(values)
               ? list_nth(values, reference->colno - 1)
               : NULL;
}

/* SET (a, b) = (SELECT …) */
static uint32_t type_of_several(struct walk *walk, const MultiAssignRef *reference)
{
    const struct item *columns =
        IsA(reference->source, SubLink) && ((SubLink *)reference->source)->subLinkType == EXPR_SUBLINK
            ? sublink_columns(walk, (SubLink *)reference->source)
            : NULL;
    if (columns == NULL || !columns->columns_known || reference->colno < 1 ||
        (size_t)reference->colno > columns->column_count)
        return TYPE_UNSURE;
    const struct item_column *column = &columns->columns[reference->colno - 1];
    return column->literal ? TYPE_LITERAL : column->type;
}

void value_assignment(struct walk *walk, Node *value, uint32_t type, int location)
{
    uint32_t several = TYPE_UNSURE;
    if (IsA(value, MultiAssignRef)) {
        several = type_of_several(walk, (MultiAssignRef *)value);
        value = value_of_several((MultiAssignRef *)value);
    }
    if (value == NULL)
        casts_between(walk, several, type, CAST_ASSIGNMENT, location);
    else
        casts_of_value(walk, value, type, CAST_ASSIGNMENT, location);
}

/*
 * walk_reach.c - which types the arguments of a call have, and which user functions and operators
 * such arguments can reach.
 *
 * A user's overload counts unless the server could not choose it: an argument of a known type has
 * no implicit way to the declared one, or an overload of pg_catalog takes exactly these types and
 * is searched first. What is not sure here reaches everything.
 */
#include "parser/walk_scope.h"

#include <string.h>

enum {
    TYPE_INT2VECTOR = 22,
    TYPE_OIDVECTOR = 30,
    TYPE_RECORD = 2249,
    TYPE_ANYARRAY = 2277,
    TYPE_RECORDARRAY = 2287,
    TYPE_ANYENUM = 3500,
    TYPE_ANYRANGE = 3831,
    TYPE_ANYMULTIRANGE = 4537,
    TYPE_ANYCOMPATIBLEMULTIRANGE = 4538,
    TYPE_ANYCOMPATIBLEARRAY = 5078,
    TYPE_ANYCOMPATIBLERANGE = 5080,
};

/* --- from one type to another --------------------------------------------------------------- */

/* NULL: not in the catalog. */
static const struct type *without_domains(const struct catalog *catalog, uint32_t oid)
{
    const struct type *type = catalog_type_by_oid(catalog, oid);
    for (int depth = 0; type != NULL && type->kind == 'd'; depth++)
        type = depth < LIMIT_STATEMENT_DEPTH ? catalog_type_by_oid(catalog, type->base) : NULL;
    return type;
}

static bool is_vector(const struct type *type)
{
    return type->oid == TYPE_INT2VECTOR || type->oid == TYPE_OIDVECTOR;
}

static bool pseudo_type_takes(uint32_t pseudo, const struct type *from)
{
    switch (pseudo) {
    case TYPE_ANYARRAY:
    case TYPE_ANYCOMPATIBLEARRAY:
    case TYPE_RECORDARRAY:
        return from->is_array || is_vector(from);
    case TYPE_ANYENUM:
        return from->kind == 'e';
    case TYPE_ANYRANGE:
    case TYPE_ANYCOMPATIBLERANGE:
        return from->kind == 'r';
    case TYPE_ANYMULTIRANGE:
    case TYPE_ANYCOMPATIBLEMULTIRANGE:
        return from->kind == 'm';
    case TYPE_RECORD:
        return from->kind == 'c';
    default:
        return true;
    }
}

static bool base_type_reaches(const struct catalog *catalog, const struct type *from,
                              const struct type *to)
{
    if (from->oid == to->oid || from->kind == 'p' || is_vector(from))
        return true;
    if (to->kind == 'p')
        return pseudo_type_takes(to->oid, from);
    return catalog_casts_implicitly(catalog, from->oid, to->oid) ||
           (from->kind == 'c' && to->kind == 'c'); /* a child's row is one of its parent's */
}

static bool type_reaches(const struct walk *walk, uint32_t from, uint32_t to)
{
    const struct catalog *catalog = walk->context->catalog;
    if (from == TYPE_UNSURE || from == TYPE_LITERAL || from == to)
        return true;
    for (int depth = 0; depth < LIMIT_STATEMENT_DEPTH; depth++) {
        const struct type *source = without_domains(catalog, from);
        const struct type *target = without_domains(catalog, to);
        if (source == NULL || target == NULL || base_type_reaches(catalog, source, target))
            return true;
        if (!source->is_array || !target->is_array)
            return false;
        from = source->base;
        to = target->base;
    }
    return true;
}

/* Is pg_catalog searched before what users made? */
static bool builtins_are_first(struct walk *walk)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    size_t first = count > 0 && text_is(path[0], "pg_temp") ? 1 : 0;
    return count > first && text_is(path[first], "pg_catalog");
}

bool overloads_may_change(const struct walk *walk)
{
    const struct analyse_context *context = walk->context;
    return context->every_candidate && (context->path_open || context->makeable_count > 0);
}

static bool is_sure(uint32_t type)
{
    return type != TYPE_UNSURE && type != TYPE_LITERAL;
}

/* --- functions ------------------------------------------------------------------------------ */

/* What an argument of a call stands for, where the last parameter may be VARIADIC. */
static uint32_t declared_type(const struct walk *walk, const struct function *function, size_t at)
{
    size_t last = (size_t)function->argument_count - 1;
    if (!function->variadic || at < last)
        return function->argument_types[at];
    const struct type *type =
        catalog_type_by_oid(walk->context->catalog, function->argument_types[last]);
    return type != NULL && type->is_array ? type->base : TYPE_UNSURE;
}

static bool function_takes(const struct walk *walk, const struct function *function,
                           const struct argument_types *types)
{
    if (function->argument_types == NULL || function->argument_count == 0 || function->kind == 'p')
        return true; /* output arguments are among a procedure's */
    for (size_t i = 0; i < types->count; i++) {
        if (!function->variadic && i >= function->argument_count)
            return true;
        if (!type_reaches(walk, types->types[i], declared_type(walk, function, i)))
            return false;
    }
    return true;
}

static bool has_exactly(const struct function *function, const struct argument_types *types)
{
    if (function->kind == 'p' || function->variadic || function->argument_count != types->count)
        return false;
    return types->count == 0 ||
           memcmp(function->argument_types, types->types, types->count * sizeof *types->types) == 0;
}

static bool are_sure(const struct argument_types *types)
{
    for (size_t i = 0; i < types->count; i++)
        if (!is_sure(types->types[i]))
            return false;
    return types->known;
}

/* The built-in that takes exactly these types; NULL if there is none. */
static const struct function *exact_builtin(const struct walk *walk, struct text name,
                                            const struct argument_types *types)
{
    size_t count;
    const struct function *builtins =
        catalog_builtin_functions(walk->context->catalog, name, &count);
    for (size_t i = 0; are_sure(types) && i < count; i++)
        if (text_is(builtins[i].schema, "pg_catalog") && has_exactly(&builtins[i], types))
            return &builtins[i];
    return NULL;
}

struct argument_types argument_types_of(struct walk *walk, const FuncCall *call)
{
    struct argument_types types = {0};
    if (call == NULL || call->func_variadic || call->agg_within_group || overloads_may_change(walk))
        return types;
    types.count = (size_t)list_length(call->args);
    types.types = arena_array(walk->arena, types.count + 1, sizeof *types.types);
    types.known = true;
    for (size_t i = 0; i < types.count; i++) {
        Node *argument = list_nth(call->args, (int)i);
        if (IsA(argument, NamedArgExpr))
            return (struct argument_types){0};
        types.types[i] = type_of_argument(walk, argument);
    }
    return types;
}

bool function_is_reached(struct walk *walk, const struct function *function, bool unqualified,
                         const struct argument_types *types)
{
    if (!types->known)
        return true;
    if (unqualified && builtins_are_first(walk) && exact_builtin(walk, function->name, types))
        return false;
    return function_takes(walk, function, types);
}

/* Types that values have: of a pseudo-type it depends on the arguments. */
static uint32_t plain_result(const struct walk *walk, uint32_t oid)
{
    const struct type *type = catalog_type_by_oid(walk->context->catalog, oid);
    return type != NULL && strchr("bdemr", type->kind) != NULL ? oid : TYPE_UNSURE;
}

static bool user_function_is_reached(struct walk *walk, struct text name,
                                     const struct argument_types *types)
{
    size_t count;
    const struct function *users = catalog_functions(walk->context->catalog, name, &count);
    for (size_t i = 0; i < count; i++)
        if (schema_is_searched(walk, users[i].schema) &&
            function_is_reached(walk, &users[i], true, types))
            return true;
    return false;
}

static bool counts_match(const struct function *function, size_t count)
{
    return function->variadic ||
           (count >= function->arguments_required && count <= function->argument_count);
}

/* A function of one argument may be a field of it. */
static bool may_be_field(const struct walk *walk, const struct argument_types *types)
{
    if (types->count != 1 || types->types[0] == TYPE_LITERAL)
        return false;
    const struct type *type = without_domains(walk->context->catalog, types->types[0]);
    return type == NULL || type->kind == 'c' || type->kind == 'p';
}

uint32_t result_of_function(struct walk *walk, struct text name, bool unqualified,
                            const struct argument_types *types)
{
    size_t count;
    uint32_t result = TYPE_UNSURE;
    const struct function *builtins =
        catalog_builtin_functions(walk->context->catalog, name, &count);
    if (may_be_field(walk, types) || (unqualified && user_function_is_reached(walk, name, types)))
        return TYPE_UNSURE;
    const struct function *exact = exact_builtin(walk, name, types);
    if (exact != NULL)
        return plain_result(walk, exact->result_type);
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++) {
        if (!text_is(builtins[i].schema, "pg_catalog") ||
            !counts_match(&builtins[i], types->count) || !function_takes(walk, &builtins[i], types))
            continue;
        if (result != TYPE_UNSURE && result != builtins[i].result_type)
            return TYPE_UNSURE;
        result = builtins[i].result_type;
    }
    return plain_result(walk, result);
}

/* --- operators ------------------------------------------------------------------------------ */

static bool operator_takes(const struct walk *walk, const struct operator* op,
                           const struct operand_types *types)
{
    if (types->prefix)
        return op->left == 0 && type_reaches(walk, types->right, op->right);
    return op->left != 0 && type_reaches(walk, types->left, op->left) &&
           type_reaches(walk, types->right, op->right);
}

static const struct operator*
    operator_with(const struct operator* operators, size_t count, uint32_t left, uint32_t right)
{
    for (size_t i = 0; i < count; i++)
        if (operators[i].left == left && operators[i].right == right)
            return &operators[i];
    return NULL;
}

/* Of a domain and a literal: the server looks for the domain's own operator before its base's. */
static const struct operator*
    builtin_of_base(const struct walk *walk, struct text name, uint32_t domain)
{
    size_t count;
    const struct catalog *catalog = walk->context->catalog;
    const struct operator* users = catalog_operators(catalog, name, &count);
    const struct type *base = without_domains(catalog, domain);
    if (base == NULL || operator_with(users, count, domain, domain) != NULL)
        return NULL;
    const struct operator* builtins = catalog_builtin_operators(catalog, name, &count);
    return operator_with(builtins, count, base->oid, base->oid);
}

/* The built-in that the server takes without looking further. A literal is first tried as the other
 * operand's type, then as what that is a domain over. */
static const struct operator* exact_builtin_operator(const struct walk *walk, struct text name,
                                                     const struct operand_types *types)
{
    size_t count;
    const struct operator* builtins =
        catalog_builtin_operators(walk->context->catalog, name, &count);
    uint32_t left = types->left, right = types->right;
    if (types->prefix)
        return is_sure(right) ? operator_with(builtins, count, 0, right) : NULL;
    bool literal = left == TYPE_LITERAL || right == TYPE_LITERAL;
    left = left == TYPE_LITERAL ? right : left;
    right = right == TYPE_LITERAL ? left : right;
    if (!is_sure(left) || !is_sure(right))
        return NULL;
    const struct operator* exact = operator_with(builtins, count, left, right);
    return exact == NULL && literal ? builtin_of_base(walk, name, left) : exact;
}

bool operator_is_reached(struct walk *walk, const struct operator* op, bool unqualified,
                         const struct operand_types *types)
{
    if (overloads_may_change(walk))
        return true;
    if (unqualified && builtins_are_first(walk) &&
        exact_builtin_operator(walk, op->name, types) != NULL)
        return false;
    return operator_takes(walk, op, types);
}

static bool user_operator_is_reached(struct walk *walk, struct text name,
                                     const struct operand_types *types)
{
    size_t count;
    const struct operator* users = catalog_operators(walk->context->catalog, name, &count);
    for (size_t i = 0; i < count; i++)
        if (schema_is_searched(walk, users[i].schema) &&
            operator_is_reached(walk, &users[i], true, types))
            return true;
    return false;
}

uint32_t result_of_operator(struct walk *walk, struct text name, bool unqualified,
                            const struct operand_types *types)
{
    size_t count;
    uint32_t result = TYPE_UNSURE;
    const struct operator* builtins =
        catalog_builtin_operators(walk->context->catalog, name, &count);
    if (unqualified && user_operator_is_reached(walk, name, types))
        return TYPE_UNSURE;
    const struct operator* exact = exact_builtin_operator(walk, name, types);
    if (exact != NULL)
        return plain_result(walk, exact->result);
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++) {
        if (!operator_takes(walk, &builtins[i], types))
            continue;
        if (result != TYPE_UNSURE && result != builtins[i].result)
            return TYPE_UNSURE;
        result = builtins[i].result;
    }
    return plain_result(walk, result);
}

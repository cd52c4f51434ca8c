/*
 * walk_reach.c - which types the arguments of a call have, which types become which, and which user
 * functions and operators such arguments could reach where it is not sure which the server chooses
 * (walk_choice.c).
 *
 * An overload counts unless an argument of a known type has no implicit way to the declared one.
 * What is not sure here reaches everything.
 */
#include "parser/walk_scope.h"

#include <string.h>

enum {
    TYPE_INT2VECTOR = 22,
    TYPE_OIDVECTOR = 30,
};

/* --- from one type to another --------------------------------------------------------------- */

const struct type *type_without_domains(const struct catalog *catalog, uint32_t oid)
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

static enum fit fits_if(bool condition)
{
    return condition ? FITS : FITS_NOT;
}

/* Pseudo-types that nothing becomes: cstring, trigger, event_trigger, void, internal, handlers. */
static bool takes_nothing(uint32_t pseudo)
{
    static const uint32_t types[] = {2275, 2279, 3838, 2278, 2281, 2280, 3115, 269, 325, 3310, 32};
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (pseudo == types[i])
            return true;
    return false;
}

enum fit type_fits_pseudo(uint32_t pseudo, const struct type *from)
{
    switch (pseudo) {
    case TYPE_ANY:
    case TYPE_ANYELEMENT:
    case TYPE_ANYCOMPATIBLE:
        return FITS;
    case TYPE_ANYARRAY:
    case TYPE_ANYCOMPATIBLEARRAY:
        return is_vector(from) ? FITS_PERHAPS : fits_if(from->is_array);
    case TYPE_ANYNONARRAY:
    case TYPE_ANYCOMPATIBLENONARRAY:
        return is_vector(from) ? FITS_PERHAPS : fits_if(!from->is_array);
    case TYPE_RECORDARRAY:
        return from->is_array ? FITS_PERHAPS : FITS_NOT;
    case TYPE_ANYENUM:
        return fits_if(from->kind == 'e');
    case TYPE_ANYRANGE:
    case TYPE_ANYCOMPATIBLERANGE:
        return fits_if(from->kind == 'r');
    case TYPE_ANYMULTIRANGE:
    case TYPE_ANYCOMPATIBLEMULTIRANGE:
        return fits_if(from->kind == 'm');
    case TYPE_RECORD:
        return fits_if(from->kind == 'c');
    default:
        return takes_nothing(pseudo) ? FITS_NOT : FITS_PERHAPS;
    }
}

static enum fit base_type_fits(const struct catalog *catalog, const struct type *from,
                               const struct type *to)
{
    if (from->oid == to->oid)
        return FITS;
    if (from->kind == 'p')
        return FITS_PERHAPS;
    if (to->kind == 'p')
        return type_fits_pseudo(to->oid, from);
    if (catalog_casts_implicitly(catalog, from->oid, to->oid))
        return FITS;
    bool maybe_child = from->kind == 'c' && to->kind == 'c'; /* its row is one of its parent's */
    return maybe_child || (is_vector(from) && to->is_array) ? FITS_PERHAPS : FITS_NOT;
}

enum fit type_fits(const struct catalog *catalog, uint32_t from, uint32_t to)
{
    if (from == TYPE_UNSURE || to == TYPE_UNSURE)
        return FITS_PERHAPS;
    if (from == TYPE_LITERAL || from == to)
        return FITS;
    for (int depth = 0; depth < LIMIT_STATEMENT_DEPTH; depth++) {
        const struct type *source = type_without_domains(catalog, from);
        const struct type *target = type_without_domains(catalog, to);
        if (source == NULL || target == NULL)
            return FITS_PERHAPS;
        enum fit fit = base_type_fits(catalog, source, target);
        if (fit != FITS_NOT || !source->is_array || !target->is_array)
            return fit;
        from = source->base;
        to = target->base;
    }
    return FITS_PERHAPS;
}

bool type_may_have_fields(const struct catalog *catalog, uint32_t oid)
{
    if (oid == TYPE_LITERAL)
        return false;
    const struct type *type = type_without_domains(catalog, oid);
    return type == NULL || type->kind == 'c' || type->kind == 'p';
}

bool builtins_are_first(struct walk *walk)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    size_t first = count > 0 && text_is(path[0], "pg_temp") ? 1 : 0;
    return count > first && text_is(path[first], "pg_catalog");
}

/* Functions and operators are not looked for in pg_temp; casts need code. */
static bool is_temporary_only(const struct makeable *makeable)
{
    return makeable->kind == OBJECT_NAME && !makeable->schema_prefix &&
           text_is(makeable->schema, "pg_temp") && (makeable->ways & MAKEABLE_CODE) == 0;
}

bool overloads_may_change(const struct walk *walk)
{
    const struct analyse_context *context = walk->context;
    bool may = context->path_open;
    for (size_t i = 0; i < context->makeable_count && !may; i++)
        may = !is_temporary_only(&context->makeable[i]);
    return context->every_candidate && may;
}

/* --- functions ------------------------------------------------------------------------------ */

struct argument_types argument_types_of(struct walk *walk, const FuncCall *call)
{
    struct argument_types types = {0};
    if (call == NULL || call->func_variadic || call->agg_within_group)
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

/* What an argument of a call stands for, where the last parameter may be VARIADIC. */
uint32_t type_of_parameter_at(const struct walk *walk, const struct function *function, size_t at)
{
    size_t last = (size_t)function->argument_count - 1;
    if (at > last && !function->variadic)
        return TYPE_UNSURE; /* it takes fewer */
    if (!function->variadic || at < last)
        return function->argument_types[at];
    const struct type *type =
        catalog_type_by_oid(walk->context->catalog, function->argument_types[last]);
    return type != NULL && type->is_array ? type->base : TYPE_UNSURE;
}

bool function_fits(struct walk *walk, const struct function *function,
                   const struct argument_types *types)
{
    if (!types->known || function->argument_types == NULL || function->argument_count == 0 ||
        function->kind == 'p')
        return true; /* output arguments are among a procedure's */
    for (size_t i = 0; i < types->count; i++) {
        if (!function->variadic && i >= function->argument_count)
            return true;
        if (type_fits(walk->context->catalog, types->types[i], type_of_parameter_at(walk, function, i)) ==
            FITS_NOT)
            return false;
    }
    return true;
}

bool function_is_reached(struct walk *walk, const struct function *function,
                         const struct argument_types *types)
{
    return overloads_may_change(walk) || function_fits(walk, function, types);
}

bool operator_fits(struct walk *walk, const struct operator* op, const struct operand_types *types)
{
    const struct catalog *catalog = walk->context->catalog;
    if (types->prefix != (op->left == 0) || type_fits(catalog, types->right, op->right) == FITS_NOT)
        return false;
    return types->prefix || type_fits(catalog, types->left, op->left) != FITS_NOT;
}

bool operator_is_reached(struct walk *walk, const struct operator* op,
                         const struct operand_types *types)
{
    return overloads_may_change(walk) || operator_fits(walk, op, types);
}

/* --- results -------------------------------------------------------------------------------- */

static bool is_of_family(uint32_t pseudo)
{
    return pseudo == TYPE_ANYELEMENT || pseudo == TYPE_ANYNONARRAY || pseudo == TYPE_ANYENUM;
}

/* A polymorphic result, where one argument alone tells it. */
static uint32_t polymorphic_result(const struct catalog *catalog, const struct overload *chosen,
                                   const uint32_t *types, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct type *type =
            types[i] != TYPE_LITERAL ? type_without_domains(catalog, types[i]) : NULL;
        if (type == NULL)
            continue;
        if (is_of_family(chosen->types[i]) && is_of_family(chosen->result))
            return types[i];
        if (is_of_family(chosen->types[i]) && chosen->result == TYPE_ANYARRAY)
            return catalog_type_by_oid(catalog, types[i])->array;
        if (chosen->types[i] != TYPE_ANYARRAY || !type->is_array)
            continue;
        if (chosen->result == TYPE_ANYARRAY)
            return type->oid;
        if (is_of_family(chosen->result))
            return type->base;
    }
    return TYPE_UNSURE;
}

static uint32_t result_of(const struct walk *walk, const struct overload *chosen,
                          const uint32_t *types, size_t count)
{
    const struct catalog *catalog = walk->context->catalog;
    const struct type *type = catalog_type_by_oid(catalog, chosen->result);
    if (type == NULL)
        return TYPE_UNSURE;
    return type->kind == 'p' ? polymorphic_result(catalog, chosen, types, count) : type->oid;
}

/* What all of the name give. */
static uint32_t only_result(const struct walk *walk, struct text name)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t counts[2] = {0};
    const struct function *functions[2] = {catalog_builtin_functions(catalog, name, &counts[0]),
                                           catalog_functions(catalog, name, &counts[1])};
    const struct function *first = counts[0] > 0 ? functions[0] : functions[1];
    if (overloads_may_change(walk) || first == NULL)
        return TYPE_UNSURE;
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
        for (size_t j = 0; j < counts[i]; j++)
            if (functions[i][j].result_type != first->result_type)
                return TYPE_UNSURE;
    const struct type *type = catalog_type_by_oid(catalog, first->result_type);
    return type != NULL && type->kind != 'p' ? type->oid : TYPE_UNSURE;
}

uint32_t result_of_function(struct walk *walk, struct text schema, struct text name,
                            const struct argument_types *types, bool may_be_field)
{
    struct overload chosen;
    if (function_chosen(walk, schema, name, types, &chosen))
        return result_of(walk, &chosen, types->types, types->count);
    bool may_be_cast = types->count == 1 && type_has_name(walk, name);
    return may_be_cast || may_be_field ? TYPE_UNSURE : only_result(walk, name);
}

/* What all built-in operators of the name give, if nobody else has made any. */
static uint32_t only_operator_result(const struct walk *walk, struct text name)
{
    size_t count;
    const struct catalog *catalog = walk->context->catalog;
    if (catalog == NULL || overloads_may_change(walk) ||
        catalog_operators(catalog, name, &count) != NULL)
        return TYPE_UNSURE;
    const struct operator* builtins = catalog_builtin_operators(catalog, name, &count);
    for (size_t i = 1; i < count; i++)
        if (builtins[i].result != builtins[0].result)
            return TYPE_UNSURE;
    const struct type *type = count > 0 ? catalog_type_by_oid(catalog, builtins[0].result) : NULL;
    return type != NULL && type->kind != 'p' ? type->oid : TYPE_UNSURE;
}

uint32_t result_of_operator(struct walk *walk, struct text schema, struct text name,
                            const struct operand_types *types)
{
    struct overload chosen;
    const uint32_t operands[2] = {types->prefix ? types->right : types->left, types->right};
    return operator_chosen(walk, schema, name, types, &chosen)
               ? result_of(walk, &chosen, operands, types->prefix ? 1 : 2)
               : only_operator_result(walk, name);
}

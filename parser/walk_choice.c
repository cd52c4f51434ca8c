/*
 * walk_choice.c - which of the functions or operators of one name the server takes for arguments
 * whose types are known: the rules of PostgreSQL's manual, "Type Conversion", step by step.
 *
 * Where a rule needs something that is not known here, both answers are tried; if they differ, or
 * nothing can be said, there is no choice, and the caller has to count whatever the arguments could
 * reach.
 */
#include "parser/walk_scope.h"

#include <string.h>

enum {
    OPEN_MAX = 6, /* overloads of which it is open whether they fit: every subset is tried */
    CATEGORY_STRING = 'S',
};

/* What a name means to one call or operator. */
struct contest {
    struct walk *walk;
    size_t count;          /* of arguments */
    const uint32_t *types; /* TYPE_LITERAL, or what is known */
    uint32_t *bases;       /* the same without domains */
    struct overload *items;
    size_t item_count, item_capacity;
    bool unsure;
};

/* Overloads that are still in the running. */
struct field {
    const struct overload **items;
    size_t count;
};

/* --- what is given -------------------------------------------------------------------------- */

static struct contest contest_of(struct walk *walk, const uint32_t *types, size_t count)
{
    struct contest contest = {.walk = walk, .count = count, .types = types};
    contest.bases = arena_array(walk->arena, count + 1, sizeof *contest.bases);
    for (size_t i = 0; i < count; i++) {
        const struct type *base = types[i] != TYPE_UNSURE && types[i] != TYPE_LITERAL
                                      ? type_without_domains(walk->context->catalog, types[i])
                                      : NULL;
        contest.bases[i] = base != NULL ? base->oid : types[i];
        if (types[i] != TYPE_LITERAL && (base == NULL || base->kind == 'p'))
            contest.unsure = true;
    }
    return contest;
}

/* --- which of them fit ----------------------------------------------------------------------- */

/* What the parameters of one polymorphic family have agreed on. */
struct agreement {
    uint32_t element, array, range, multirange;
    enum fit fit;
};

static void agree(struct agreement *agreement, uint32_t *on, uint32_t type)
{
    if (*on != TYPE_UNSURE && *on != type)
        agreement->fit = FITS_NOT;
    *on = type;
}

static void worsen(enum fit *fit, enum fit other)
{
    *fit = other < *fit ? other : *fit;
}

/* One of ANYELEMENT's family. */
static void fit_polymorphic(const struct contest *contest, uint32_t declared, size_t at,
                            struct agreement *agreement)
{
    const struct type *base =
        catalog_type_by_oid(contest->walk->context->catalog, contest->bases[at]);
    if (contest->bases[at] == TYPE_LITERAL || base == NULL)
        return; /* agrees with everything */
    worsen(&agreement->fit, type_fits_pseudo(declared, base));
    if (declared == TYPE_ANYARRAY)
        agree(agreement, &agreement->array, base->oid);
    else if (declared == TYPE_ANYRANGE)
        agree(agreement, &agreement->range, base->oid);
    else if (declared == TYPE_ANYMULTIRANGE)
        agree(agreement, &agreement->multirange, base->oid);
    else
        agree(agreement, &agreement->element, contest->types[at]);
}

/* What the family has agreed on must belong together: that is followed for elements and arrays
 * only. */
static enum fit fit_of_agreement(const struct contest *contest, const struct agreement *agreement)
{
    const struct catalog *catalog = contest->walk->context->catalog;
    size_t kinds = (agreement->element != TYPE_UNSURE) + (agreement->array != TYPE_UNSURE) +
                   (agreement->range != TYPE_UNSURE) + (agreement->multirange != TYPE_UNSURE);
    if (agreement->fit != FITS || kinds == 1)
        return agreement->fit;
    if (kinds != 2 || agreement->array == TYPE_UNSURE || agreement->element == TYPE_UNSURE)
        return FITS_PERHAPS;
    const struct type *array = catalog_type_by_oid(catalog, agreement->array);
    if (array == NULL || !array->is_array)
        return FITS_PERHAPS;
    return array->base == agreement->element ? FITS : FITS_NOT;
}

bool type_is_polymorphic(uint32_t type)
{
    return type == TYPE_ANYELEMENT || type == TYPE_ANYARRAY || type == TYPE_ANYNONARRAY ||
           type == TYPE_ANYENUM || type == TYPE_ANYRANGE || type == TYPE_ANYMULTIRANGE;
}

bool type_is_compatible(uint32_t type)
{
    return type == TYPE_ANYCOMPATIBLE || type == TYPE_ANYCOMPATIBLEARRAY ||
           type == TYPE_ANYCOMPATIBLENONARRAY || type == TYPE_ANYCOMPATIBLERANGE ||
           type == TYPE_ANYCOMPATIBLEMULTIRANGE;
}

/* ANYCOMPATIBLE's family takes a common type of the arguments: which one is not followed. */
static enum fit fit_compatible(const struct contest *contest, uint32_t declared, size_t at)
{
    const struct type *base =
        catalog_type_by_oid(contest->walk->context->catalog, contest->bases[at]);
    bool never = contest->bases[at] != TYPE_LITERAL && base != NULL &&
                 type_fits_pseudo(declared, base) == FITS_NOT;
    return never ? FITS_NOT : FITS_PERHAPS;
}

/* Do the arguments fit? */
static enum fit fit_of(const struct contest *contest, const struct overload *overload)
{
    struct agreement agreement = {.fit = FITS};
    enum fit fit = FITS;
    bool polymorphic = false;
    for (size_t i = 0; i < contest->count && fit != FITS_NOT; i++) {
        uint32_t declared = overload->types[i];
        if (type_is_compatible(declared))
            worsen(&fit, fit_compatible(contest, declared, i));
        else if (type_is_polymorphic(declared))
            fit_polymorphic(contest, declared, i, &agreement);
        else
            worsen(&fit, type_fits(contest->walk->context->catalog, contest->types[i], declared));
        polymorphic = polymorphic || type_is_polymorphic(declared);
    }
    if (polymorphic)
        worsen(&fit, fit_of_agreement(contest, &agreement));
    return fit;
}

/* --- the candidates ------------------------------------------------------------------------- */

/* Adds what fits. Of two that take the same the first on the path hides the other. */
static void contest_add(struct contest *contest, struct overload *overload)
{
    overload->fit = fit_of(contest, overload);
    if (overload->fit == FITS_NOT)
        return;
    for (size_t i = 0; i < contest->item_count; i++) {
        struct overload *other = &contest->items[i];
        if (memcmp(other->types, overload->types, contest->count * sizeof *other->types) != 0)
            continue;
        contest->unsure = contest->unsure || other->place == overload->place;
        if (overload->place < other->place)
            *other = *overload;
        return;
    }
    struct overload *place =
        arena_push(contest->walk->arena, (void **)&contest->items, &contest->item_count,
                   &contest->item_capacity, sizeof *place);
    *place = *overload;
}

/* The place of a schema on the path; false if it is not searched. */
static bool place_of_schema(struct walk *walk, struct text written, struct text schema,
                            size_t *place)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    *place = 0;
    if (written.size > 0)
        return text_equal(written, schema);
    for (size_t i = 0; i < count; i++)
        if (text_equal(path[i], schema)) {
            *place = i;
            return !text_is(schema, "pg_temp");
        }
    return false;
}

/* What the function's parameters are to so many arguments; NULL if it does not take as many. */
static const uint32_t *parameters_of(struct contest *contest, const struct function *function)
{
    size_t count = contest->count, declared = function->argument_count;
    if (function->argument_types == NULL && declared > 0) {
        contest->unsure = true;
        return NULL;
    }
    if (!function->variadic || count < declared)
        return count <= declared && count >= function->arguments_required ? function->argument_types
                                                                          : NULL;
    const struct type *last = catalog_type_by_oid(contest->walk->context->catalog,
                                                  function->argument_types[declared - 1]);
    uint32_t element = last != NULL && last->is_array                       ? last->base
                       : function->argument_types[declared - 1] == TYPE_ANY ? TYPE_ANY
                                                                            : TYPE_UNSURE;
    contest->unsure = contest->unsure || element == TYPE_UNSURE;
    uint32_t *types = arena_array(contest->walk->arena, count + 1, sizeof *types);
    for (size_t i = 0; i < count; i++)
        types[i] = i + 1 < declared ? function->argument_types[i] : element;
    return types;
}

static void add_functions(struct contest *contest, struct text schema,
                          const struct function *functions, size_t count, bool users)
{
    static const uint32_t none[1];
    for (size_t i = 0; i < count && walk_spend(contest->walk, 1); i++) {
        struct overload overload = {
            .function = functions[i].oid, .result = functions[i].result_type, .of_user = users};
        if (!place_of_schema(contest->walk, schema, functions[i].schema, &overload.place))
            continue;
        contest->unsure = contest->unsure || functions[i].kind == 'p';
        overload.types = contest->count > 0 ? parameters_of(contest, &functions[i]) : none;
        if (overload.types != NULL && functions[i].arguments_required <= contest->count)
            contest_add(contest, &overload);
    }
}

/* With `exactly` those of just these types, which is so much cheaper that it is free. */
static void add_operators(struct contest *contest, struct text schema,
                          const struct operator* operators, size_t count, bool users,
                          const uint32_t *exactly)
{
    for (size_t i = 0; i < count && (exactly != NULL || walk_spend(contest->walk, 1)); i++) {
        struct overload overload = {
            .function = operators[i].function, .result = operators[i].result, .of_user = users};
        bool other = exactly != NULL &&
                     (operators[i].right != exactly[contest->count - 1] ||
                      (contest->count > 1 && operators[i].left != exactly[0]));
        if (other || (operators[i].left == 0) != (contest->count == 1) ||
            !place_of_schema(contest->walk, schema, operators[i].schema, &overload.place))
            continue;
        uint32_t *types = arena_array(contest->walk->arena, 2, sizeof *types);
        types[0] = contest->count == 1 ? operators[i].right : operators[i].left;
        types[1] = operators[i].right;
        overload.types = types;
        contest_add(contest, &overload);
    }
}

/* --- which of those that fit is best --------------------------------------------------------- */

static const struct type *declared_type(const struct contest *contest,
                                        const struct overload *overload, size_t at)
{
    return catalog_type_by_oid(contest->walk->context->catalog, overload->types[at]);
}

static char category_of(const struct contest *contest, uint32_t type)
{
    const struct type *known = catalog_type_by_oid(contest->walk->context->catalog, type);
    return known != NULL ? known->category : '\0';
}

/* How many parameters are what the arguments are; with `preferred`, or what their kind prefers. */
static size_t matches(const struct contest *contest, const struct overload *overload,
                      bool preferred)
{
    size_t count = 0;
    for (size_t i = 0; i < contest->count; i++) {
        uint32_t base = contest->bases[i];
        if (base == TYPE_LITERAL)
            continue;
        const struct type *declared = declared_type(contest, overload, i);
        if (overload->types[i] == base || (preferred && declared != NULL && declared->preferred &&
                                           declared->category == category_of(contest, base)))
            count++;
    }
    return count;
}

static void keep_best(const struct contest *contest, struct field *field, bool preferred)
{
    size_t best = 0, kept = 0;
    for (size_t i = 0; i < field->count; i++) {
        size_t count = matches(contest, field->items[i], preferred);
        best = count > best ? count : best;
    }
    for (size_t i = 0; i < field->count; i++)
        if (matches(contest, field->items[i], preferred) == best)
            field->items[kept++] = field->items[i];
    field->count = kept;
}

/* The kind of type that a literal is taken for at one place. */
struct slot {
    char category; /* 0: none, they differ */
    bool has_preferred;
};

static struct slot slot_of(const struct contest *contest, const struct field *field, size_t at)
{
    struct slot slot = {0};
    bool differ = false;
    for (size_t i = 0; i < field->count; i++) {
        const struct type *type = declared_type(contest, field->items[i], at);
        char category = type != NULL ? type->category : '\0';
        bool preferred = type != NULL && type->preferred;
        if (i == 0 || (category == CATEGORY_STRING && slot.category != CATEGORY_STRING))
            slot = (struct slot){category, preferred};
        else if (category == slot.category)
            slot.has_preferred = slot.has_preferred || preferred;
        else
            differ = true;
    }
    if (differ && slot.category != CATEGORY_STRING)
        slot.category = '\0';
    return slot;
}

static bool suits(const struct contest *contest, const struct overload *overload,
                  const struct slot *slots)
{
    for (size_t i = 0; i < contest->count; i++) {
        const struct type *type = declared_type(contest, overload, i);
        if (contest->bases[i] == TYPE_LITERAL &&
            (type == NULL || type->category != slots[i].category ||
             (slots[i].has_preferred && !type->preferred)))
            return false;
    }
    return true;
}

/* Keeps what takes literals of the kinds that are settled; all if nothing does. */
static void settle_literals(const struct contest *contest, struct field *field)
{
    struct slot *slots = arena_array(contest->walk->arena, contest->count + 1, sizeof *slots);
    for (size_t i = 0; i < contest->count; i++) {
        if (contest->bases[i] != TYPE_LITERAL)
            continue;
        slots[i] = slot_of(contest, field, i);
        if (slots[i].category == '\0')
            return;
    }
    size_t suiting = 0, kept = 0;
    for (size_t i = 0; i < field->count; i++)
        suiting += suits(contest, field->items[i], slots);
    if (suiting == 0)
        return;
    for (size_t i = 0; i < field->count; i++)
        if (suits(contest, field->items[i], slots))
            field->items[kept++] = field->items[i];
    field->count = kept;
}

/* Literals taken as what all other arguments are: the only one that fits then. `open` is set where
 * it is not known. */
static const struct overload *with_literals_as_others(const struct contest *contest,
                                                      const struct field *field, bool *open)
{
    uint32_t known = TYPE_LITERAL;
    const struct overload *found = NULL;
    for (size_t i = 0; i < contest->count; i++) {
        uint32_t base = contest->bases[i];
        if (base == TYPE_LITERAL)
            continue;
        if (known != TYPE_LITERAL && known != base)
            return NULL;
        known = base;
    }
    struct contest as_known = *contest;
    uint32_t *types = arena_array(contest->walk->arena, contest->count + 1, sizeof *types);
    for (size_t i = 0; i < contest->count; i++)
        types[i] = known;
    as_known.types = as_known.bases = types;
    for (size_t i = 0; i < field->count && known != TYPE_LITERAL; i++) {
        enum fit fit = fit_of(&as_known, field->items[i]);
        if (fit == FITS_NOT)
            continue;
        *open = *open || fit == FITS_PERHAPS;
        if (found != NULL)
            return NULL;
        found = field->items[i];
    }
    return found;
}

/* NULL: the server would refuse. */
static const struct overload *best_of(const struct contest *contest, struct field *field,
                                      bool *open)
{
    bool literals = false;
    for (size_t i = 0; i < contest->count; i++)
        literals = literals || contest->bases[i] == TYPE_LITERAL;
    if (field->count > 1)
        keep_best(contest, field, false);
    if (field->count > 1)
        keep_best(contest, field, true);
    if (field->count > 1 && literals)
        settle_literals(contest, field);
    if (field->count == 1)
        return field->items[0];
    return field->count > 1 && literals ? with_literals_as_others(contest, field, open) : NULL;
}

/* --- the choice ------------------------------------------------------------------------------ */

static const struct overload *with_exactly(const struct contest *contest, const uint32_t *types)
{
    for (size_t i = 0; i < contest->item_count; i++)
        if (memcmp(contest->items[i].types, types, contest->count * sizeof *types) == 0)
            return &contest->items[i];
    return NULL;
}

/* Those that fit surely, then those that fit perhaps: how many of each. */
static struct field fitting(const struct contest *contest, size_t *surely)
{
    struct field field = {
        arena_array(contest->walk->arena, contest->item_count + 1, sizeof *field.items), 0};
    for (enum fit fit = FITS; fit > FITS_NOT; fit--) {
        for (size_t i = 0; i < contest->item_count; i++)
            if (contest->items[i].fit == fit)
                field.items[field.count++] = &contest->items[i];
        *surely = fit == FITS ? field.count : *surely;
    }
    return field;
}

/* The one that wins whichever of the open ones fit. */
static const struct overload *winner(struct contest *contest)
{
    size_t surely = 0;
    const struct field all = fitting(contest, &surely);
    size_t open_count = all.count - surely;
    if (open_count > OPEN_MAX || !walk_spend(contest->walk, all.count << open_count))
        return NULL;
    struct field field = {arena_array(contest->walk->arena, all.count + 1, sizeof *field.items), 0};
    const struct overload *found = NULL;
    for (size_t subset = 0; subset < (size_t)1 << open_count; subset++) {
        field.count = 0;
        for (size_t i = 0; i < all.count; i++)
            if (i < surely || (subset >> (i - surely) & 1) != 0)
                field.items[field.count++] = all.items[i];
        bool open = false;
        const struct overload *best = best_of(contest, &field, &open);
        if (open || (best != NULL && found != NULL && best != found))
            return NULL;
        found = best != NULL ? best : found;
    }
    return found;
}

/* Without knowing kinds of types nothing can be chosen. */
static bool kinds_are_known(const struct contest *contest)
{
    for (size_t i = 0; i < contest->count; i++)
        if (contest->bases[i] != TYPE_LITERAL && category_of(contest, contest->bases[i]) == '\0')
            return false;
    return true;
}

static bool take(struct contest *contest, const struct overload *exact, struct overload *out)
{
    if (contest->walk->failed || contest->unsure)
        return false;
    const struct overload *chosen = exact;
    if (chosen == NULL && !overloads_may_change(contest->walk) && kinds_are_known(contest))
        chosen = winner(contest);
    if (chosen == NULL)
        return false;
    *out = *chosen;
    return true;
}

/* What is found by its exact types stays what is found where the agent can put nothing before it.
 */
static bool may_be_hidden(struct walk *walk, struct text schema, struct text name,
                          const struct overload *overload)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    if (!overloads_may_change(walk))
        return false;
    if (overload->of_user || walk->context->path_open)
        return true;
    for (size_t i = 0; schema.size == 0 && i <= overload->place && i < count; i++)
        if (!text_is(path[i], "pg_temp") && walk_may_make(walk, MAKEABLE_CODE, path[i], name))
            return true;
    return schema.size > 0 && walk_may_make(walk, MAKEABLE_CODE, schema, name);
}

bool function_chosen(struct walk *walk, struct text schema, struct text name,
                     const struct argument_types *types, struct overload *out)
{
    size_t count;
    const struct catalog *catalog = walk->context->catalog;
    if (catalog == NULL || !types->known)
        return false;
    struct contest contest = contest_of(walk, types->types, types->count);
    if (contest.unsure)
        return false;
    const struct function *functions = catalog_builtin_functions(catalog, name, &count);
    add_functions(&contest, schema, functions, count, false);
    functions = catalog_functions(catalog, name, &count);
    add_functions(&contest, schema, functions, count, true);
    const struct overload *exact = with_exactly(&contest, types->types);
    if (exact != NULL && may_be_hidden(walk, schema, name, exact))
        return false;
    /* type(value) is a cast, row.field is no call */
    if (exact == NULL && types->count == 1 &&
        (type_has_name(walk, name) || type_may_have_fields(catalog, types->types[0])))
        return false;
    return take(&contest, exact, out);
}

/* A literal is first taken for what the other operand is; false if nothing is known. */
static bool exact_types(const struct contest *contest, uint32_t types[2])
{
    types[0] = contest->types[0];
    types[1] = contest->types[contest->count - 1];
    if (contest->count == 1)
        return types[0] != TYPE_LITERAL;
    types[0] = types[0] == TYPE_LITERAL ? types[1] : types[0];
    types[1] = types[1] == TYPE_LITERAL ? types[0] : types[1];
    return types[0] != TYPE_LITERAL;
}

/* Then for what that is a domain over. */
static const struct overload *exact_for_domain(const struct contest *contest)
{
    if (contest->count == 1 || overloads_may_change(contest->walk))
        return NULL;
    bool first = contest->types[0] == TYPE_LITERAL, second = contest->types[1] == TYPE_LITERAL;
    size_t known = first ? 1 : 0;
    if (first == second || contest->bases[known] == contest->types[known])
        return NULL;
    const uint32_t types[2] = {contest->bases[known], contest->bases[known]};
    return with_exactly(contest, types);
}

static void add_all_operators(struct contest *contest, struct text schema, struct text name,
                              const uint32_t *exactly)
{
    size_t count;
    const struct catalog *catalog = contest->walk->context->catalog;
    const struct operator* operators = catalog_builtin_operators(catalog, name, &count);
    add_operators(contest, schema, operators, count, false, exactly);
    operators = catalog_operators(catalog, name, &count);
    add_operators(contest, schema, operators, count, true, exactly);
}

/* What takes exactly the operands is looked for before anything is asked of the others: it wins. */
static const struct overload *exact_operator(struct contest *contest, struct text schema,
                                             struct text name)
{
    uint32_t types[2];
    if (exact_types(contest, types)) {
        add_all_operators(contest, schema, name, types);
        if (contest->item_count > 0)
            return &contest->items[0];
    }
    add_all_operators(contest, schema, name, NULL);
    return exact_for_domain(contest);
}

bool operator_chosen(struct walk *walk, struct text schema, struct text name,
                     const struct operand_types *types, struct overload *out)
{
    if (walk->context->catalog == NULL)
        return false;
    uint32_t *operands = arena_array(walk->arena, 2, sizeof *operands);
    operands[0] = types->prefix ? types->right : types->left;
    operands[1] = types->right;
    struct contest contest = contest_of(walk, operands, types->prefix ? 1 : 2);
    if (contest.unsure)
        return false;
    const struct overload *exact = exact_operator(&contest, schema, name);
    if (exact != NULL && may_be_hidden(walk, schema, name, exact))
        return false;
    return take(&contest, exact, out);
}

/*
 * walk_function.c - which functions a name can mean, and what calling them needs.
 *
 * Every candidate that the arguments allow is judged: the built-in by the strictest of its
 * overloads, and the user function that the server chooses (walk_choice.c) or, where that is not
 * sure, each on the path that it could choose (walk_reach.c). A name that means nothing becomes an
 * unresolved `call`, which no rule lets pass by accident.
 */
#include "parser/walk_scope.h"

#include "parser/builtins.h"

enum { USER_CODE = CHANGES_BY_CODE | CHANGES_OBJECTS | CHANGES_SETTINGS | CHANGES_ROLE };

/* One call by name, however it was written. */
struct named_call {
    struct text schema; /* empty: to be looked for */
    struct text name;
    int argument_count;
    bool optional;        /* if there is no such function, nothing is called */
    const FuncCall *tree; /* NULL: nothing is known of the arguments but their number */
    int location;
};

/* --- actions -------------------------------------------------------------------------------- */

size_t call_action(struct walk *walk, struct object object, struct text reason, int location)
{
    bool fresh;
    uintptr_t *known =
        walk_seen(walk, seen_owner(SEEN_CALL, 0), object.schema, object.name, &fresh);
    if (fresh) {
        *known = walk->action_count;
        struct action *action = walk_add(walk, VERB_CALL, object, location);
        action->part = PART_STATEMENT;
        action->reason = reason;
        action->rows_max = ROWS_UNPROVEN;
    }
    return *known;
}

static void list_function(struct walk *walk, struct text schema, struct text name)
{
    bool fresh;
    walk_seen(walk, seen_owner(SEEN_FUNCTION, 0), schema, name, &fresh);
    if (!fresh)
        return;
    struct text *place = arena_push(walk->arena, (void **)&walk->functions, &walk->function_count,
                                    &walk->function_capacity, sizeof *place);
    *place = schema.size == 0 || text_is(schema, "pg_catalog")
                 ? arena_text(walk->arena, name)
                 : arena_printf(walk->arena, "%.*s.%.*s", TEXT_ARGS(schema), TEXT_ARGS(name));
}

void call_user_function(struct walk *walk, const struct function *function, int location)
{
    walk->users_values = true;
    if (function->result_type == TYPE_RECORD ||
        catalog_type_is_checked(walk->context->catalog, function->result_type))
        walk->checked_values = true;
    struct object object = {OBJECT_NAME, function->schema, function->name};
    list_function(walk, function->schema, function->name);
    call_action(walk, object, (struct text){0}, location);
    walk->shape->changes |= USER_CODE;
    walk->shape->volatile_functions = true;
}

void call_function_oid(struct walk *walk, uint32_t oid, int location)
{
    const struct function *function = catalog_function_by_oid(walk->context->catalog, oid);
    if (function != NULL) {
        call_user_function(walk, function, location);
        return;
    }
    struct object object = {OBJECT_NAME, TEXT(""), arena_printf(walk->arena, "function %u", oid)};
    walk->actions[call_action(walk, object, (struct text){0}, location)].unresolved = true;
}

/* --- built-ins ------------------------------------------------------------------------------ */

/* Harmless built-ins whose results differ from call to call. */
static bool is_volatile_builtin(struct text name)
{
    static const char *const names[] = {
        "clock_timestamp", "current_query",     "currval",           "gen_random_uuid",
        "lastval",         "pg_is_in_recovery", "pg_partition_tree", "pg_advisory_unlock_all",
        "random",          "timeofday",         "ts_rewrite",        "pg_partition_ancestors",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    return false;
}

/* Guarded built-ins after which nothing that was known of the session can be relied on. */
static bool runs_code(struct text reason)
{
    static const char *const reasons[] = {
        "runs sql",      "xml dump",         "changes settings", "handler or validator",
        "event trigger", "trigger function", "writes catalog",   "internal argument",
    };
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        if (text_is(reason, reasons[i]))
            return true;
    }
    return false;
}

static void builtin_duties(struct walk *walk, const struct named_call *call, struct text reason)
{
    struct text name = call->name;
    const char *to = text_is(reason, "casts to json")   ? "json"
                     : text_is(reason, "casts to text") ? "text"
                                                        : NULL;
    if (to != NULL) {
        const struct argument_types types = argument_types_of(walk, call->tree);
        casts_to(walk, to, types.known ? types.types : NULL, types.count, call->location);
    }
    if (is_volatile_builtin(name))
        walk->shape->volatile_functions = true;
}

static void call_builtin(struct walk *walk, const struct named_call *call,
                         const struct builtin_function *builtin)
{
    struct text schema = call->schema.size > 0 ? call->schema : TEXT("pg_catalog"),
                name = call->name;
    int location = call->location;
    struct object object = {OBJECT_NAME, schema, arena_text(walk->arena, name)};
    bool sequence_state = text_is(name, "lastval") || text_is(name, "currval");
    list_function(walk, text_is(schema, "pg_catalog") ? (struct text){0} : schema, name);
    if (builtin->strictest == FUNCTION_CATALOG) {
        call_action(walk, object,
                    arena_printf(walk->arena, "catalog: %.*s", TEXT_ARGS(builtin->reason)),
                    location);
    } else if (builtin->strictest == FUNCTION_HARMLESS && !sequence_state) {
        builtin_duties(walk, call, builtin->reason);
    } else {
        call_action(walk, object, sequence_state ? TEXT("sequence") : builtin->reason, location);
        walk->shape->volatile_functions = true;
        if (runs_code(builtin->reason))
            walk->shape->changes |= USER_CODE;
    }
}

/* --- candidates ----------------------------------------------------------------------------- */

static bool takes_arguments(const struct function *function, int count)
{
    if (count < 0)
        return true;
    if (function->variadic)
        return count + 1 >= function->argument_count || count >= function->arguments_required;
    return count >= function->arguments_required && count <= function->argument_count;
}

bool schema_is_searched(struct walk *walk, struct text schema)
{
    size_t count;
    const struct text *path = walk_path(walk, &count);
    for (size_t i = 0; i < count; i++) {
        if (text_equal(path[i], schema))
            return !text_is(schema, "pg_temp");
    }
    return false;
}

/* Code of the agent's own: nothing is known of it but its name. */
static void call_makeable(struct walk *walk, struct text schema, struct text name, int location)
{
    walk->users_values = true;
    struct object object = {OBJECT_NAME, schema, arena_text(walk->arena, name)};
    size_t index = call_action(walk, object, (struct text){0}, location);
    walk->actions[index].candidate = true;
    walk->shape->changes |= USER_CODE;
    walk->shape->volatile_functions = true;
}

/* In the first so many schemas of the path; functions and operators are not looked for in pg_temp. */
static size_t call_makeable_in(struct walk *walk, struct text name, size_t schemas, bool in_temp,
                               int location)
{
    size_t count, found = 0;
    const struct text *path = walk_path(walk, &count);
    if (!walk_spend(walk, count))
        return 0;
    for (size_t i = 0; i < count && i < schemas; i++) {
        if ((text_is(path[i], "pg_temp") && !in_temp) ||
            !walk_may_make(walk, MAKEABLE_CODE, path[i], name))
            continue;
        call_makeable(walk, path[i], name, location);
        found++;
    }
    return found;
}

size_t call_what_may_be(struct walk *walk, struct text name, int location)
{
    return call_makeable_in(walk, name, SIZE_MAX, false, location);
}

size_t call_types_that_may_be(struct walk *walk, struct text name, size_t schemas, int location)
{
    return call_makeable_in(walk, name, schemas, true, location);
}

struct users_called {
    size_t count;
    bool sure; /* nothing else can be meant, whatever the agent makes */
};

/* --- casts of arguments ---------------------------------------------------------------------- */

/* An argument of which it is known for which parameter it stands, or -1: it may be for any. */
static void casts_for_parameter(struct walk *walk, const struct function *function, Node *node,
                                int at, int location)
{
    if (function->argument_types == NULL)
        value_use(walk, node);
    else if (at >= 0 && (at < function->argument_count || function->variadic))
        casts_of_argument(walk, node, type_of_parameter_at(walk, function, (size_t)at), location);
    for (size_t i = 0; at < 0 && function->argument_types != NULL && i < function->argument_count &&
                       walk_spend(walk, 1);
         i++)
        casts_of_argument(walk, node, function->argument_types[i], location);
}

/* What the arguments of a call become for a function; named ones may be any of its parameters. */
static void casts_of_arguments(struct walk *walk, const struct function *function,
                               const FuncCall *tree, const struct argument_types *types,
                               int location)
{
    bool placed = types->known && function->kind != 'p'; /* whose output arguments count, too */
    int at = 0;
    ListCell *cell;
    if (tree == NULL || function->argument_count == 0 || !has_casts(walk))
        return;
    foreach (cell, tree->args)
        casts_for_parameter(walk, function, lfirst(cell), placed ? at++ : -1, location);
    foreach (cell, tree->agg_within_group ? tree->agg_order : NIL)
        casts_for_parameter(walk, function, ((SortBy *)lfirst(cell))->node, -1, location);
}

/* Rows of tables are what row.function has as its argument. */
static void casts_of_rows_of_tables(struct walk *walk, int location)
{
    const struct catalog *catalog = walk->context->catalog;
    size_t count = 0;
    const struct cast *casts = has_casts(walk) ? catalog_casts(catalog, &count) : NULL;
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++) {
        const struct type *source = catalog_type_by_oid(catalog, casts[i].source);
        if (casts[i].context == 'i' && (source == NULL || source->kind == 'c'))
            call_function_oid(walk, casts[i].function, location);
    }
}

/* The built-ins of a name, or that which the server takes. */
static void casts_for_builtins(struct walk *walk, const struct named_call *call)
{
    const struct catalog *catalog = walk->context->catalog;
    if (!has_casts(walk) || call->tree == NULL)
        return;
    const struct argument_types types = argument_types_of(walk, call->tree);
    struct overload by;
    bool chosen = function_chosen(walk, call->schema, call->name, &types, &by);
    size_t count = 0;
    const struct function *builtins = catalog_builtin_functions(catalog, call->name, &count);
    for (size_t i = 0; i < count && walk_spend(walk, 1); i++)
        if (chosen ? !by.of_user && builtins[i].oid == by.function
                   : takes_arguments(&builtins[i], call->argument_count) &&
                         function_fits(walk, &builtins[i], &types))
            casts_of_arguments(walk, &builtins[i], call->tree, &types, call->location);
    ListCell *cell;
    foreach (cell, count == 0 ? call->tree->args : NIL)
        value_use(walk, lfirst(cell));
    foreach (cell, count == 0 && call->tree->agg_within_group ? call->tree->agg_order : NIL)
        value_use(walk, ((SortBy *)lfirst(cell))->node);
}

/* Calls each user function that the name can mean; *named counts those of the name, fitting or not.
 */
static struct users_called call_users(struct walk *walk, const struct named_call *call,
                                      bool any_arguments, size_t *named)
{
    size_t count = 0, called = 0;
    const struct function *functions =
        walk->context->catalog != NULL
            ? catalog_functions(walk->context->catalog, call->name, &count)
            : NULL;
    const struct argument_types types = argument_types_of(walk, any_arguments ? NULL : call->tree);
    struct overload by;
    bool chosen = (count > 0 || overloads_may_change(walk)) &&
                  function_chosen(walk, call->schema, call->name, &types, &by);
    for (size_t i = 0; functions != NULL && i < count; i++) {
        bool here = call->schema.size > 0 ? text_equal(functions[i].schema, call->schema)
                                          : schema_is_searched(walk, functions[i].schema);
        if (!here)
            continue;
        *named += 1;
        bool reached =
            chosen ? functions[i].oid == by.function
                   : any_arguments || (takes_arguments(&functions[i], call->argument_count) &&
                                       function_is_reached(walk, &functions[i], &types));
        if (!reached)
            continue;
        casts_of_arguments(walk, &functions[i], call->tree, &types, call->location);
        call_user_function(walk, &functions[i], call->location);
        called++;
    }
    return (struct users_called){called, chosen};
}

static struct builtin_function builtin_named(const struct named_call *call)
{
    if (call->schema.size == 0 || text_is(call->schema, "pg_catalog"))
        return builtin_function(call->name);
    if (text_is(call->schema, "information_schema"))
        return builtin_information_schema_function(call->name);
    return (struct builtin_function){0};
}

static void call_unknown(struct walk *walk, const struct named_call *call)
{
    walk->users_values = true;
    struct object object = {OBJECT_NAME, arena_text(walk->arena, call->schema),
                            arena_text(walk->arena, call->name)};
    if (object.schema.size == 0 && walk->context->search_path_count > 0)
        object.schema = arena_text(walk->arena, walk->context->search_path[0]);
    list_function(walk, object.schema, object.name);
    size_t index = call_action(walk, object, (struct text){0}, call->location);
    /* What the table of pg_catalog does not list may be an extension's: it is not "no such". */
    if (walk->context->catalog != NULL && !text_is(object.schema, "pg_catalog")) {
        walk->actions[index].unresolved =
            !walk_may_make(walk, MAKEABLE_CODE, object.schema, object.name);
        walk->unresolved_names = true;
    }
    walk->shape->changes |= USER_CODE;
    walk->shape->volatile_functions = true;
}

static bool is_type_there(struct walk *walk, const struct named_call *call)
{
    return call->schema.size > 0
               ? catalog_type(walk->context->catalog, call->schema, call->name) != NULL
               : type_has_name(walk, call->name);
}

/* type(value); false if there is no such type. */
static bool cast_by_name(struct walk *walk, const struct named_call *call)
{
    if (!types_use(walk, call->schema, call->name, call->location))
        return false;
    const struct type *type = type_named(walk, call->schema, call->name);
    /* Of a type that the agent may make, types_use has said what there is to say: no cast of others
     * leads to it. */
    if (type == NULL && walk->context->catalog != NULL && !is_type_there(walk, call))
        return true;
    if (call->tree != NULL && call->tree->args != NIL)
        casts_of_value(walk, linitial(call->tree->args), type != NULL ? type->oid : TYPE_UNSURE,
                       CAST_EXPLICIT, call->location);
    else
        casts_between(walk, TYPE_UNSURE, type != NULL ? type->oid : TYPE_UNSURE, CAST_EXPLICIT,
                      call->location);
    return true;
}

/* True if the name means something. */
static bool call_named(struct walk *walk, const struct named_call *call)
{
    struct builtin_function builtin = builtin_named(call);
    bool is_builtin = builtin.strictest != FUNCTION_UNKNOWN;
    if (is_builtin) {
        call_builtin(walk, call, &builtin);
        casts_for_builtins(walk, call);
    }
    size_t named = 0;
    const struct users_called users = call_users(walk, call, false, &named);
    bool found = users.count > 0 || is_builtin;
    if (!found && named > 0)
        found = call_users(walk, call, true, &named).count > 0;
    if (call->argument_count == 1 && !users.sure) /* type(value) is a cast */
        found = cast_by_name(walk, call) || found;
    if (call->schema.size == 0 && !users.sure)
        found = call_what_may_be(walk, call->name, call->location) > 0 || found;
    if (!found && !call->optional)
        call_unknown(walk, call);
    return found;
}

static bool split_name(struct walk *walk, List *names, int location, struct named_call *call)
{
    int count = list_length(names);
    if (count < 1 || count > 3) {
        walk_unknown(walk, "function name", T_FuncCall, location);
        return false;
    }
    call->name = text_from(strVal(llast(names)));
    if (count > 1)
        call->schema = text_from(strVal(list_nth(names, count - 2)));
    call->location = location;
    return true;
}

/* --- entry points --------------------------------------------------------------------------- */

bool constant_string(Node *node, struct text *value)
{
    for (int depth = 0; node != NULL && IsA(node, TypeCast); depth++) {
        if (depth > LIMIT_STATEMENT_DEPTH)
            return false;
        node = ((TypeCast *)node)->arg;
    }
    if (node == NULL || !IsA(node, A_Const))
        return false;
    A_Const *constant = (A_Const *)node;
    if (constant->isnull || !IsA(&constant->val, String))
        return false;
    *value = text_from(constant->val.sval.sval);
    return true;
}

/* json_populate_record and its kind build a value of their first argument's row type. */
static void row_type_checks(struct walk *walk, const struct named_call *call, FuncCall *tree)
{
    struct builtin_function builtin = builtin_named(call);
    if (!text_is(builtin.reason, "row type checks") || tree->args == NIL)
        return;
    Node *first = linitial(tree->args);
    struct item *row = row_of_expression(walk, first);
    const struct catalog *catalog = walk->context->catalog;
    for (size_t i = 0; catalog != NULL && row != NULL && i < row->column_count; i++) {
        const struct type *type = catalog_type_by_oid(catalog, row->columns[i].type);
        if (type != NULL)
            type_use(walk, type, tree->location);
    }
    if (row == NULL && !IsA(first, TypeCast)) {
        struct object object = {OBJECT_NAME, TEXT("pg_catalog"),
                                arena_text(walk->arena, call->name)};
        call_action(walk, object, TEXT("row type checks"), tree->location);
    }
}

void function_call(struct walk *walk, struct scope *scope, FuncCall *tree)
{
    struct named_call call = {0};
    if (!split_name(walk, tree->funcname, tree->location, &call))
        return;
    call.argument_count =
        list_length(tree->args) + (tree->agg_within_group ? list_length(tree->agg_order) : 0);
    if (tree->func_variadic)
        call.argument_count = -1;
    sort_clause(walk, scope, tree->agg_order, NULL);
    condition(walk, scope, tree->agg_filter);
    window_definition(walk, scope, tree->over);
    bool built_in = call.schema.size == 0 || text_is(call.schema, "pg_catalog");
    if (built_in && function_by_argument(walk, scope, call.name, tree->args, tree->location)) {
        list_function(walk, (struct text){0}, call.name);
        struct named_call user = call;
        size_t named = 0;
        if (call.schema.size == 0) {
            call_users(walk, &user, false, &named);
            call_what_may_be(walk, call.name, call.location);
        }
        return;
    }
    expressions(walk, scope, tree->args);
    casts_of_call(walk, tree);
    call.tree = tree;
    call_named(walk, &call);
    if (built_in)
        row_type_checks(walk, &call, tree);
}

static bool takes_rows(struct walk *walk, struct text name)
{
    static const char *const arguments[] = {
        "\"any\"",          "anyelement",           "record", "anynonarray", "anycompatible",
        "VARIADIC \"any\"", "anycompatiblenonarray"};
    for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
        struct text signature =
            arena_printf(walk->arena, "%.*s(%s)", TEXT_ARGS(name), arguments[i]);
        if (builtin_signature_class(signature) != FUNCTION_UNKNOWN)
            return true;
    }
    return false;
}

bool attribute_call(struct walk *walk, struct text name, bool certain, int location)
{
    struct named_call call = {
        .name = name, .argument_count = 1, .optional = !certain, .location = location};
    bool user = false;
    size_t count = 0;
    if (walk->context->catalog != NULL)
        user = catalog_functions(walk->context->catalog, name, &count) != NULL;
    user = user || call_what_may_be(walk, name, location) > 0;
    bool found = call_named(walk, &call);
    if (found)
        casts_of_rows_of_tables(walk, location);
    return found && (user || takes_rows(walk, name));
}

void walk_call(struct walk *walk, List *names, int argument_count, int location)
{
    struct named_call call = {.argument_count = argument_count};
    if (split_name(walk, names, location, &call))
        call_named(walk, &call);
}

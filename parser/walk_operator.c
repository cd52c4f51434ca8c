/*
 * walk_operator.c - operators are functions too: those outside pg_catalog need `call` on theirs.
 *
 * Every operator of pg_catalog is harmless, so only its names must be known: a name that neither
 * pg_catalog nor the path has becomes an unresolved `call`.
 */
#include "parser/walk_scope.h"

/* Operator names of pg_catalog. */
static bool is_builtin_operator(struct text name)
{
    static const char *const names[] = {
        "!!",  "!~",   "!~*", "!~~", "!~~*", "#",   "##",  "#-",  "#>",  "#>>", "%",
        "&",   "&&",   "&<",  "&<|", "&>",   "*",   "*<",  "*<=", "*<>", "*=",  "*>",
        "*>=", "+",    "-",   "->",  "->>",  "-|-", "/",   "<",   "<->", "<<",  "<<=",
        "<<|", "<=",   "<>",  "<@",  "<^",   "=",   ">",   ">=",  ">>",  ">>=", ">^",
        "?",   "?#",   "?&",  "?-",  "?-|",  "?|",  "?||", "@",   "@-@", "@>",  "@?",
        "@@",  "@@@",  "^",   "^@",  "|",    "|&>", "|/",  "|>>", "||",  "||/", "~",
        "~*",  "~<=~", "~<~", "~=",  "~>=~", "~>~", "~~",  "~~*",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (text_is(name, names[i]))
            return true;
    }
    return false;
}

/* Calls the functions of the user operators that the name can mean; how many there are. */
static size_t user_operators(struct walk *walk, struct text schema, struct text name, bool call,
                             int location)
{
    size_t count = 0, found = 0;
    if (walk->context->catalog == NULL)
        return 0;
    const struct operator* operators = catalog_operators(walk->context->catalog, name, &count);
    for (size_t i = 0; i < count; i++) {
        bool here = schema.size > 0 ? text_equal(operators[i].schema, schema)
                                    : schema_is_searched(walk, operators[i].schema);
        if (!here)
            continue;
        found++;
        if (call)
            call_function_oid(walk, operators[i].function, location);
    }
    return found;
}

static void operator_used(struct walk *walk, struct text schema, struct text name, int location)
{
    if (text_is(schema, "pg_catalog"))
        return;
    if (text_is(name, "||"))
        casts_to(walk, "text", location);
    size_t found = user_operators(walk, schema, name, true, location);
    if (schema.size == 0)
        found += call_what_may_be(walk, name, false, location);
    if (found > 0 || (schema.size == 0 && is_builtin_operator(name)))
        return;
    struct object object = {OBJECT_NAME, arena_text(walk->arena, schema),
                            arena_text(walk->arena, name)};
    size_t index = call_action(walk, object, (struct text){0}, location);
    bool online = walk->context->catalog != NULL;
    walk->actions[index].unresolved = online && !walk_may_make(walk, MAKEABLE_CODE, schema, name);
    walk->unresolved_names = walk->unresolved_names || online;
    walk->shape->changes |= CHANGES_BY_CODE;
    walk->shape->volatile_functions = true;
}

void operator_use(struct walk *walk, List *names, int location)
{
    int count = list_length(names);
    if (count < 1 || count > 3) {
        walk_unknown(walk, "operator name", T_A_Expr, location);
        return;
    }
    struct text schema = {0};
    if (count > 1)
        schema = text_from(strVal(list_nth(names, count - 2)));
    operator_used(walk, schema, text_from(strVal(llast(names))), location);
}

void operator_named(struct walk *walk, const char *name, int location)
{
    operator_used(walk, (struct text){0}, text_from(name), location);
}

bool operator_is_shadowed(struct walk *walk, const char *name)
{
    return user_operators(walk, (struct text){0}, text_from(name), false, -1) > 0 ||
           call_what_may_be(walk, text_from(name), false, -1) > 0;
}

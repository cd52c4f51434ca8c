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

/* --- what is compared ------------------------------------------------------------------------ */

static void add_operands(struct walk *walk, struct operand_list *list,
                         const struct operand_types *types)
{
    struct operands *place = arena_push(walk->arena, (void **)&list->items, &list->count,
                                        &list->capacity, sizeof *place);
    *place = (struct operands){
        .types = *types, .left_value = types->left, .right_value = types->right};
}

static void add_types(struct walk *walk, struct operand_list *list, uint32_t left, uint32_t right)
{
    const struct operand_types types = {.left = left, .right = right};
    add_operands(walk, list, &types);
}

static bool is_row(Node *node)
{
    return node != NULL && IsA(node, RowExpr);
}

static void add_values(struct walk *walk, struct operand_list *list, Node *left, Node *right)
{
    const struct operand_types types = {.prefix = left == NULL,
                                        .left = type_of_argument(walk, left),
                                        .right = type_of_argument(walk, right)};
    add_operands(walk, list, &types);
    struct operands *added = &list->items[list->count - 1];
    added->left_value = left != NULL ? type_of_value(walk, left) : TYPE_LITERAL;
    added->right_value = type_of_value(walk, right);
}

/* (a, b) = (SELECT …); false if its columns are not as many. */
static bool add_row_and_query(struct walk *walk, struct operand_list *list, Node *left, Node *right)
{
    if (!is_row(left) || right == NULL || !IsA(right, SubLink) ||
        ((SubLink *)right)->subLinkType != EXPR_SUBLINK)
        return false;
    const struct item *columns = sublink_columns(walk, (SubLink *)right);
    List *fields = ((RowExpr *)left)->args;
    if (columns == NULL || !columns->columns_known || fields == NIL ||
        columns->column_count != (size_t)list_length(fields))
        return false;
    for (size_t i = 0; i < columns->column_count; i++)
        add_types(walk, list, type_of_argument(walk, list_nth(fields, (int)i)),
                  columns->columns[i].type);
    return true;
}

/* Rows as they are written are compared field by field, others as wholes. */
static void add_pair(struct walk *walk, struct operand_list *list, Node *left, Node *right)
{
    if (!is_row(left) && !is_row(right)) {
        add_values(walk, list, left, right);
        return;
    }
    if (add_row_and_query(walk, list, left, right))
        return;
    bool both = is_row(left) && is_row(right) &&
                list_length(((RowExpr *)left)->args) == list_length(((RowExpr *)right)->args);
    if (!both)
        add_types(walk, list, TYPE_UNSURE, TYPE_UNSURE);
    ListCell *first, *second;
    if (both)
        forboth(first, ((RowExpr *)left)->args, second, ((RowExpr *)right)->args)
            add_values(walk, list, lfirst(first), lfirst(second));
}

static void add_pairs(struct walk *walk, struct operand_list *list, Node *left, Node *right)
{
    ListCell *cell;
    if (right == NULL || !IsA(right, List)) {
        add_types(walk, list, TYPE_UNSURE, TYPE_UNSURE);
        return;
    }
    foreach (cell, (List *)right)
        add_pair(walk, list, left, lfirst(cell));
}

/* The list may be compared as an array of a type that all of it have in common with the left side.
 */
static void add_common_type(struct walk *walk, struct operand_list *list, Node *left)
{
    uint32_t type = is_row(left) ? TYPE_UNSURE : type_of_argument(walk, left);
    if (type == TYPE_UNSURE || type == TYPE_LITERAL)
        return;
    const struct type *known = catalog_type_by_oid(walk->context->catalog, type);
    bool domain = known == NULL || known->kind == 'd';
    add_types(walk, list, type, domain ? TYPE_UNSURE : type);
}

static struct operand_list operands_of(struct walk *walk, A_Expr *tree)
{
    struct operand_list list = {0};
    switch (tree->kind) {
    case AEXPR_OP_ANY:
    case AEXPR_OP_ALL:
        add_types(walk, &list, type_of_argument(walk, tree->lexpr),
                  type_of_elements(walk, tree->rexpr));
        list.items[0].left_value = type_of_value(walk, tree->lexpr);
        if (IsA(tree->rexpr, ParamRef))
            list.items[0].right_value = TYPE_LITERAL;
        break;
    case AEXPR_IN:
        add_pairs(walk, &list, tree->lexpr, tree->rexpr);
        add_common_type(walk, &list, tree->lexpr);
        break;
    case AEXPR_BETWEEN:
    case AEXPR_NOT_BETWEEN:
    case AEXPR_BETWEEN_SYM:
    case AEXPR_NOT_BETWEEN_SYM:
        add_pairs(walk, &list, tree->lexpr, tree->rexpr);
        break;
    case AEXPR_NULLIF: /* compares rows as wholes */
        add_values(walk, &list, tree->lexpr, tree->rexpr);
        break;
    default:
        add_pair(walk, &list, tree->lexpr, tree->rexpr);
    }
    return list;
}

static struct operand_list operands_of_sublink(struct walk *walk, SubLink *tree)
{
    struct operand_list list = {0};
    const struct item *columns = sublink_columns(walk, tree);
    bool row = is_row(tree->testexpr);
    size_t width = row ? (size_t)list_length(((RowExpr *)tree->testexpr)->args) : 1;
    if (columns == NULL || !columns->columns_known || columns->column_count != width) {
        add_types(walk, &list, TYPE_UNSURE, TYPE_UNSURE);
        return list;
    }
    for (size_t i = 0; i < width; i++) {
        Node *node = row ? list_nth(((RowExpr *)tree->testexpr)->args, (int)i) : tree->testexpr;
        add_types(walk, &list, type_of_argument(walk, node), columns->columns[i].type);
        list.items[i].left_value = type_of_value(walk, node);
    }
    return list;
}

/* --- which operators can be meant ------------------------------------------------------------- */

/* One operator of a statement. */
struct named_operator {
    struct text schema; /* empty: to be looked for */
    struct text name;
    int location;
    bool is_condition; /* what it gives becomes a boolean */
};

static bool is_meant(struct walk *walk, const struct named_operator *named,
                     const struct operator* op)
{
    return named->schema.size > 0 ? text_equal(op->schema, named->schema)
                                  : schema_is_searched(walk, op->schema);
}

/* Finds what the server chooses for each pair; true if that is sure of all. */
static bool choose_operators(struct walk *walk, const struct named_operator *named,
                             struct operand_list *list)
{
    bool sure = list->count > 0;
    for (size_t i = 0; i < list->count && walk_spend(walk, 1); i++) {
        struct operands *pair = &list->items[i];
        pair->chosen = operator_chosen(walk, named->schema, named->name, &pair->types, &pair->by);
        sure = sure && pair->chosen;
    }
    return sure && !walk->failed;
}

static bool pair_reaches(struct walk *walk, const struct operator* op, const struct operands *pair)
{
    return pair->chosen ? pair->by.of_user && pair->by.function == op->function
                        : operator_is_reached(walk, op, &pair->types);
}

static bool is_reached(struct walk *walk, const struct operator* op,
                       const struct operand_list *list)
{
    for (size_t i = 0; i < list->count && walk_spend(walk, 1); i++)
        if (pair_reaches(walk, op, &list->items[i]))
            return true;
    return list->count == 0 || walk->failed;
}

/* What the operands of an operator become. */
static void casts_of_pair(struct walk *walk, const struct operator* op, const struct operands *pair,
                          int location)
{
    if (op->left != 0 && !pair->types.prefix)
        casts_between(walk, pair->left_value, op->left, CAST_IMPLICIT, location);
    casts_between(walk, pair->right_value, op->right, CAST_IMPLICIT, location);
}

static void casts_of_operands(struct walk *walk, const struct operator* op,
                              const struct operand_list *list, int location)
{
    for (size_t i = 0; i < list->count && has_casts(walk) && walk_spend(walk, 1); i++)
        if (pair_reaches(walk, op, &list->items[i]))
            casts_of_pair(walk, op, &list->items[i], location);
}

/* The same for those of pg_catalog. */
static void casts_for_builtins(struct walk *walk, const struct named_operator *named,
                               const struct operand_list *list)
{
    size_t count = 0;
    bool applies = has_casts(walk) && (named->schema.size == 0 || text_is(named->schema, "pg_catalog"));
    const struct operator* operators =
        applies ? catalog_builtin_operators(walk->context->catalog, named->name, &count) : NULL;
    for (size_t i = 0; applies && i < list->count; i++) {
        const struct operands *pair = &list->items[i];
        for (size_t j = 0; j < count && walk_spend(walk, 1); j++)
            if (pair->chosen ? !pair->by.of_user && pair->by.function == operators[j].function
                             : operator_fits(walk, &operators[j], &pair->types))
                casts_of_pair(walk, &operators[j], pair, named->location);
        if (count == 0 && !pair->chosen && is_builtin_operator(named->name)) {
            casts_of_values(walk, pair->left_value, named->location);
            casts_of_values(walk, pair->right_value, named->location);
        }
    }
}

/* Calls the functions of the user operators that can be meant; how many there are. */
static size_t user_operators(struct walk *walk, const struct named_operator *named,
                             const struct operand_list *list, bool call)
{
    size_t count = 0, found = 0;
    if (walk->context->catalog == NULL)
        return 0;
    const struct operator* operators =
        catalog_operators(walk->context->catalog, named->name, &count);
    for (size_t i = 0; i < count; i++) {
        if (!is_meant(walk, named, &operators[i]) || !is_reached(walk, &operators[i], list))
            continue;
        found++;
        if (!call)
            continue;
        casts_of_operands(walk, &operators[i], list, named->location);
        call_function_oid(walk, operators[i].function, named->location);
        if (named->is_condition && has_casts(walk))
            casts_between(walk, operators[i].result, TYPE_BOOL, CAST_ASSIGNMENT, named->location);
    }
    return found;
}

/* Is there anything to choose from, or to become? Only then need the operands be looked at. */
static bool is_overloaded(struct walk *walk, const struct named_operator *named)
{
    const struct operand_list any = {0};
    return user_operators(walk, named, &any, false) > 0 || overloads_may_change(walk) || has_casts(walk) ||
           text_is(named->name, "||");
}

static void call_unknown_operator(struct walk *walk, const struct named_operator *named)
{
    struct object object = {OBJECT_NAME, arena_text(walk->arena, named->schema),
                            arena_text(walk->arena, named->name)};
    size_t index = call_action(walk, object, (struct text){0}, named->location);
    bool online = walk->context->catalog != NULL;
    walk->actions[index].unresolved =
        online && !walk_may_make(walk, MAKEABLE_CODE, named->schema, named->name);
    walk->unresolved_names = walk->unresolved_names || online;
    walk->shape->changes |= CHANGES_BY_CODE;
    walk->shape->volatile_functions = true;
}

/* What is joined to a text by || is cast to it. */
static void casts_of_joined(struct walk *walk, const struct operand_list *list, int location)
{
    for (size_t i = 0; i < list->count; i++) {
        const uint32_t types[] = {list->items[i].types.left, list->items[i].types.right};
        casts_to(walk, "text", types, 2, location);
    }
    if (list->count == 0)
        casts_to(walk, "text", NULL, 0, location);
}

static void operator_used(struct walk *walk, const struct named_operator *named,
                          struct operand_list *list)
{
    const struct operand_list any = {0};
    bool sure = choose_operators(walk, named, list);
    casts_for_builtins(walk, named, list);
    if (text_is(named->name, "||"))
        casts_of_joined(walk, list, named->location);
    if (text_is(named->schema, "pg_catalog"))
        return;
    size_t found = user_operators(walk, named, list, true);
    if (named->schema.size == 0 && !sure)
        found += call_what_may_be(walk, named->name, named->location);
    if (found > 0 || sure || (named->schema.size == 0 && is_builtin_operator(named->name)))
        return;
    if (user_operators(walk, named, &any, true) == 0)
        call_unknown_operator(walk, named);
}

/* False if it is no name: the walk has failed. */
static bool name_operator(struct walk *walk, List *names, int location, struct named_operator *out)
{
    int count = list_length(names);
    if (count < 1 || count > 3) {
        walk_unknown(walk, "operator name", T_A_Expr, location);
        return false;
    }
    *out = (struct named_operator){.name = text_from(strVal(llast(names))), .location = location};
    if (count > 1)
        out->schema = text_from(strVal(list_nth(names, count - 2)));
    return true;
}

static const char *const between_operators[] = {"<", ">", "<=", ">="};

static bool is_between(const A_Expr *tree)
{
    return tree->kind == AEXPR_BETWEEN || tree->kind == AEXPR_NOT_BETWEEN ||
           tree->kind == AEXPR_BETWEEN_SYM || tree->kind == AEXPR_NOT_BETWEEN_SYM;
}

/* --- entry points ----------------------------------------------------------------------------- */

void operators_of_expression(struct walk *walk, A_Expr *tree)
{
    struct named_operator named = {.location = tree->location,
                                   .is_condition = is_between(tree) || tree->kind == AEXPR_IN};
    struct operand_list list = {0};
    for (size_t i = 0; is_between(tree) && i < ARRAY_SIZE(between_operators); i++) {
        named.name = text_from(between_operators[i]);
        if (list.count == 0 && is_overloaded(walk, &named))
            list = operands_of(walk, tree);
        operator_used(walk, &named, &list);
    }
    if (is_between(tree) || !name_operator(walk, tree->name, tree->location, &named))
        return;
    if (is_overloaded(walk, &named))
        list = operands_of(walk, tree);
    operator_used(walk, &named, &list);
}

void operators_of_sublink(struct walk *walk, SubLink *tree)
{
    struct named_operator named = {.name = TEXT("="), .location = tree->location};
    struct operand_list list = {0};
    if (tree->operName == NIL && tree->subLinkType != ANY_SUBLINK)
        return;
    if (tree->operName != NIL && !name_operator(walk, tree->operName, tree->location, &named))
        return;
    if (is_overloaded(walk, &named))
        list = operands_of_sublink(walk, tree);
    operator_used(walk, &named, &list);
}

void operators_of_case(struct walk *walk, CaseExpr *tree)
{
    struct named_operator named = {
        .name = TEXT("="), .location = tree->location, .is_condition = true};
    struct operand_list list = {0};
    ListCell *cell;
    if (tree->arg == NULL)
        return;
    if (is_overloaded(walk, &named)) {
        uint32_t type = type_of_argument(walk, (Node *)tree->arg);
        foreach (cell, tree->args)
            add_types(walk, &list, type == TYPE_LITERAL ? TYPE_TEXT : type,
                      type_of_argument(walk, (Node *)((CaseWhen *)lfirst(cell))->expr));
    }
    operator_used(walk, &named, &list);
}

void operator_use(struct walk *walk, List *names, int location)
{
    struct operand_list any = {0};
    struct named_operator named;
    if (name_operator(walk, names, location, &named))
        operator_used(walk, &named, &any);
}

void operator_joins(struct walk *walk, uint32_t left, uint32_t right)
{
    const struct named_operator named = {
        .name = TEXT("="), .location = -1, .is_condition = true};
    struct operands pair = {
        .types = {.left = left, .right = right}, .left_value = left, .right_value = right};
    struct operand_list list = {&pair, 1, 1};
    operator_used(walk, &named, &list);
}

/* --- shadows ---------------------------------------------------------------------------------- */

static bool is_shadowed(struct walk *walk, struct text name, struct operand_list *list)
{
    const struct named_operator named = {.name = name, .location = -1};
    bool sure = choose_operators(walk, &named, list);
    return user_operators(walk, &named, list, false) > 0 ||
           (!sure && call_what_may_be(walk, name, -1) > 0);
}

bool expression_is_shadowed(struct walk *walk, A_Expr *tree)
{
    if (!is_between(tree) && list_length(tree->name) != 1)
        return false;
    struct operand_list list = operands_of(walk, tree);
    if (!is_between(tree))
        return is_shadowed(walk, text_from(strVal(linitial(tree->name))), &list);
    for (size_t i = 0; i < ARRAY_SIZE(between_operators); i++)
        if (is_shadowed(walk, text_from(between_operators[i]), &list))
            return true;
    return false;
}

bool sublink_is_shadowed(struct walk *walk, SubLink *tree)
{
    struct operand_list list = operands_of_sublink(walk, tree);
    return is_shadowed(walk, TEXT("="), &list);
}

bool operator_is_shadowed(struct walk *walk, const char *name, uint32_t left, uint32_t right)
{
    struct operands pair = {.types = {.left = left, .right = right}};
    struct operand_list list = {&pair, 1, 1};
    return is_shadowed(walk, text_from(name), &list);
}

/*
 * walk_key.c - does a WHERE prove by a key how many rows can match at most?
 *
 * Only `column = constant`, `(a, b) = (1, 2)`, `column IN (constants)`, `(a, b) IN ((1, 2), (3, 4))` and
 * `column = ANY` of an array of constants or of a parameter count, with constants that the server compares by
 * the key's own operator: untyped ones, or of the column's own type family. AND takes the least of its
 * terms, OR the sum of its arms, whichever key proves them. How many elements a parameter has is not known here: it
 * fixes the key, and proves no number.
 */
#include "parser/walk_scope.h"

enum {
    TYPE_OID = 26,
    TYPE_VARCHAR = 1043,
};

/* Nobody proves more rows than this by a list. */
enum { ROWS_PROVEN_MAX = 1000000 };

/* Values that are as many as a parameter has elements. */
enum { VALUES_OF_PARAMETER = INT32_MAX };

/* Terms that are looked at before a proof gives up: those in arms are looked at once for each level. */
enum { KEY_STEPS = 200 * 1000 };

/* How many values WHERE allows for one column: 0 none known. */
struct fixed {
    const struct column *column;
    int64_t values;
};

struct fixed_list {
    struct fixed *items;
    size_t count, capacity;
};

/* --- constants ------------------------------------------------------------------------------ */

static bool is_integer_type(uint32_t type)
{
    return type == TYPE_INT2 || type == TYPE_INT4 || type == TYPE_INT8;
}

static bool same_family(uint32_t column, uint32_t value)
{
    return column == value || (is_integer_type(column) && is_integer_type(value)) ||
           ((column == TYPE_TEXT || column == TYPE_VARCHAR) &&
            (value == TYPE_TEXT || value == TYPE_VARCHAR));
}

static bool literal_fits(const A_Const *constant, uint32_t column)
{
    if (constant->isnull)
        return true;
    switch (nodeTag(&constant->val)) {
    case T_String:
        return true; /* takes the column's type */
    case T_Integer:
        return is_integer_type(column) || column == TYPE_NUMERIC || column == TYPE_FLOAT4 ||
               column == TYPE_FLOAT8 || column == TYPE_OID;
    case T_Float:
        return column == TYPE_NUMERIC;
    case T_Boolean:
        return column == TYPE_BOOL;
    default:
        return false;
    }
}

static bool parameter_fits(struct walk *walk, const ParamRef *parameter, uint32_t column)
{
    size_t index = (size_t)parameter->number - 1;
    if (walk->context->parameter_types == NULL || index >= walk->context->parameter_count)
        return true;
    uint32_t type = walk->context->parameter_types[index];
    return type == 0 || same_family(column, type);
}

static bool constant_fits(struct walk *walk, Node *node, uint32_t column)
{
    if (IsA(node, A_Const))
        return literal_fits((A_Const *)node, column);
    if (IsA(node, ParamRef))
        return parameter_fits(walk, (ParamRef *)node, column);
    if (!IsA(node, TypeCast) || !is_constant(node))
        return false;
    const struct type *type = type_of_name(walk, ((TypeCast *)node)->typeName);
    return type != NULL && text_is(type->schema, "pg_catalog") && same_family(column, type->oid);
}

/* The type that the key's operator works on: a domain's base. */
static uint32_t base_type(struct walk *walk, uint32_t oid)
{
    const struct type *type = catalog_type_by_oid(walk->context->catalog, oid);
    for (int depth = 0; type != NULL && type->kind == 'd' && depth < LIMIT_STATEMENT_DEPTH;
         depth++) {
        oid = type->base;
        type = catalog_type_by_oid(walk->context->catalog, oid);
    }
    return oid;
}

/* --- terms ---------------------------------------------------------------------------------- */

static void fix_column(struct walk *walk, struct fixed_list *list, const struct column *column,
                       int64_t values)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].column != column)
            continue;
        if (values < list->items[i].values)
            list->items[i].values = values;
        return;
    }
    struct fixed *fixed = arena_push(walk->arena, (void **)&list->items, &list->count,
                                     &list->capacity, sizeof *fixed);
    *fixed = (struct fixed){column, values};
}

static const struct column *target_column(struct walk *walk, const struct item *target, Node *node)
{
    if (node == NULL || !IsA(node, ColumnRef))
        return NULL;
    const struct resolution *resolution = scope_resolution(walk, (ColumnRef *)node);
    if (resolution->unclear || resolution->column == NULL || resolution->column->base != target)
        return NULL;
    return resolution->column->column;
}

static bool is_plain_equality(struct walk *walk, A_Expr *tree)
{
    int count = list_length(tree->name);
    return strcmp(strVal(llast(tree->name)), "=") == 0 &&
           ((count == 1 && !expression_is_shadowed(walk, tree)) ||
            (count == 2 && strcmp(strVal(linitial(tree->name)), "pg_catalog") == 0));
}

/* Where the server has transform_null_equals, `column = NULL` is IS NULL, and a key has any number of these. */
static bool is_untyped_null(Node *node) { return IsA(node, A_Const) && ((A_Const *)node)->isnull; }

static void equality(struct walk *walk, const struct item *target, Node *left, Node *right,
                     struct fixed_list *list)
{
    const struct column *column = target_column(walk, target, left);
    Node *value = right;
    if (column == NULL) {
        column = target_column(walk, target, right);
        value = left;
    }
    if (column != NULL && !is_untyped_null(value) && constant_fits(walk, value, base_type(walk, column->type)))
        fix_column(walk, list, column, 1);
}

static void value_list(struct walk *walk, const struct item *target, A_Expr *tree,
                       struct fixed_list *list)
{
    const struct column *column = target_column(walk, target, tree->lexpr);
    if (column == NULL || !IsA(tree->rexpr, List))
        return;
    uint32_t type = base_type(walk, column->type);
    ListCell *cell;
    foreach (cell, (List *)tree->rexpr) {
        if (!constant_fits(walk, lfirst(cell), type))
            return;
    }
    fix_column(walk, list, column, list_length((List *)tree->rexpr));
}

/* An untyped parameter becomes an array of the column's type. */
static bool array_parameter_fits(struct walk *walk, const ParamRef *parameter, uint32_t column)
{
    size_t index = (size_t)parameter->number - 1;
    if (walk->context->parameter_types == NULL || index >= walk->context->parameter_count ||
        walk->context->parameter_types[index] == 0)
        return true;
    const struct type *type =
        catalog_type_by_oid(walk->context->catalog, walk->context->parameter_types[index]);
    return type != NULL && type->is_array && same_family(column, type->base);
}

static bool is_untyped_parameter(struct walk *walk, const ParamRef *parameter)
{
    size_t index = (size_t)parameter->number - 1;
    return walk->context->parameter_types == NULL || index >= walk->context->parameter_count ||
           walk->context->parameter_types[index] == 0;
}

/* Of an ARRAY without a cast, strings and parameters without a type are texts. */
static bool element_fits(struct walk *walk, Node *node, uint32_t column, bool cast)
{
    bool untyped = IsA(node, ParamRef) ? is_untyped_parameter(walk, (ParamRef *)node)
                                       : IsA(node, A_Const) && IsA(&((A_Const *)node)->val, String);
    return constant_fits(walk, node, column) &&
           (!untyped || cast || column == TYPE_TEXT || column == TYPE_VARCHAR);
}

/* Elements that are arrays themselves prove nothing. */
static int64_t elements_of_array(struct walk *walk, List *elements, uint32_t column, bool cast)
{
    ListCell *cell;
    foreach (cell, elements) {
        if (!element_fits(walk, lfirst(cell), column, cast))
            return 0;
    }
    return list_length(elements);
}

/* '{1,2}', '{1,2}'::int[], $1::int[], ARRAY['1', $2]::int[]: never more elements than delimiters and one. 0: it is no
 * array of the column's type. */
static int64_t elements_of_literal(struct walk *walk, Node *node, uint32_t column)
{
    struct text value;
    int64_t count = 1;
    if (IsA(node, TypeCast)) {
        TypeName element = *((TypeCast *)node)->typeName;
        bool is_array = element.arrayBounds != NIL;
        element.arrayBounds = NIL;
        const struct type *type = is_array ? type_of_name(walk, &element) : NULL;
        node = ((TypeCast *)node)->arg;
        if (type == NULL || !text_is(type->schema, "pg_catalog") || !same_family(column, type->oid))
            return 0;
        if (node != NULL && IsA(node, ParamRef))
            return VALUES_OF_PARAMETER;
        if (node != NULL && IsA(node, A_ArrayExpr))
            return elements_of_array(walk, ((A_ArrayExpr *)node)->elements, column, true);
    }
    if (node == NULL || !IsA(node, A_Const) || !constant_string(node, &value))
        return 0;
    for (size_t i = 0; i < value.size; i++)
        count += value.bytes[i] == ',' || value.bytes[i] == ';';
    return count;
}

/* column = ANY (ARRAY[1, 2]), column = ANY ('{1,2}'), column = ANY ($1) */
static void array_list(struct walk *walk, const struct item *target, A_Expr *tree,
                       struct fixed_list *list)
{
    const struct column *column = target_column(walk, target, tree->lexpr);
    int64_t values = 0;
    if (column == NULL || tree->rexpr == NULL)
        return;
    uint32_t type = base_type(walk, column->type);
    if (IsA(tree->rexpr, ParamRef))
        values = array_parameter_fits(walk, (ParamRef *)tree->rexpr, type) ? VALUES_OF_PARAMETER : 0;
    else if (IsA(tree->rexpr, A_ArrayExpr))
        values = elements_of_array(walk, ((A_ArrayExpr *)tree->rexpr)->elements, type, false);
    else
        values = elements_of_literal(walk, tree->rexpr, type);
    if (values > 0)
        fix_column(walk, list, column, values);
}

static void row_equality(struct walk *walk, const struct item *target, A_Expr *tree,
                         struct fixed_list *list)
{
    ListCell *left, *right;
    forboth(left, ((RowExpr *)tree->lexpr)->args, right, ((RowExpr *)tree->rexpr)->args)
        equality(walk, target, lfirst(left), lfirst(right), list);
}

static void term(struct walk *walk, const struct item *target, Node *node, struct fixed_list *list)
{
    A_Expr *tree = (A_Expr *)node;
    if (!IsA(node, A_Expr) || !is_plain_equality(walk, tree) || tree->lexpr == NULL)
        return;
    if (tree->kind == AEXPR_IN)
        value_list(walk, target, tree, list);
    else if (tree->kind == AEXPR_OP_ANY)
        array_list(walk, target, tree, list);
    else if (tree->kind != AEXPR_OP)
        return;
    else if (IsA(tree->lexpr, RowExpr) && IsA(tree->rexpr, RowExpr))
        row_equality(walk, target, tree, list);
    else
        equality(walk, target, tree->lexpr, tree->rexpr, list);
}

/* --- keys ----------------------------------------------------------------------------------- */

static int64_t values_of(const struct fixed_list *list, int16_t number)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].column->number == number)
            return list->items[i].values;
    }
    return 0;
}

/* 0: not every column of the key is fixed. */
static int64_t rows_by_key(const struct fixed_list *list, const struct key *key)
{
    int64_t rows = 1;
    bool unproven = false;
    for (size_t i = 0; i < key->column_count; i++) {
        int64_t values = values_of(list, key->columns[i]);
        if (values == 0 || rows > ROWS_PROVEN_MAX)
            return 0;
        unproven = unproven || values == VALUES_OF_PARAMETER;
        rows *= values == VALUES_OF_PARAMETER ? 1 : values;
    }
    if (key->column_count == 0 || rows > ROWS_PROVEN_MAX)
        return 0;
    return unproven ? VALUES_OF_PARAMETER : rows;
}

/* The least number of rows that any key proves; 0: none does. */
static int64_t rows_by_keys(const struct fixed_list *list, const struct relation *relation)
{
    int64_t best = 0;
    for (size_t i = 0; i < relation->key_count; i++) {
        int64_t by_key = rows_by_key(list, &relation->keys[i]);
        if (by_key > 0 && (best == 0 || by_key < best))
            best = by_key;
    }
    return best;
}

/* --- AND and OR ----------------------------------------------------------------------------- */

struct prover {
    struct walk *walk;
    const struct item *target;
    int steps;
};

static void fix_by(struct prover *prover, Node *node, struct fixed_list *list);
static int64_t rows_by_arms(struct prover *prover, Node *node, const struct fixed_list *outer);

static bool is_and(const Node *node) { return IsA(node, BoolExpr) && ((const BoolExpr *)node)->boolop == AND_EXPR; }

static bool is_list_of_rows(struct walk *walk, Node *node)
{
    A_Expr *tree = (A_Expr *)node;
    return IsA(node, A_Expr) && tree->kind == AEXPR_IN && tree->lexpr != NULL && IsA(tree->lexpr, RowExpr) &&
           IsA(tree->rexpr, List) && is_plain_equality(walk, tree);
}

/* What OR stands between: terms, or the rows of a list; NIL: this is no such thing. */
static List *arms_of(struct walk *walk, Node *node)
{
    if (IsA(node, BoolExpr) && ((BoolExpr *)node)->boolop == OR_EXPR)
        return ((BoolExpr *)node)->args;
    return is_list_of_rows(walk, node) ? (List *)((A_Expr *)node)->rexpr : NIL;
}

static void fix_by_arm(struct prover *prover, Node *node, Node *arm, struct fixed_list *list)
{
    if (IsA(node, BoolExpr)) {
        fix_by(prover, arm, list);
        return;
    }
    A_Expr pair = *(A_Expr *)node;
    pair.rexpr = arm;
    if (IsA(arm, RowExpr))
        row_equality(prover->walk, prover->target, &pair, list);
}

static int64_t sum_of(int64_t a, int64_t b)
{
    if (a == VALUES_OF_PARAMETER || b == VALUES_OF_PARAMETER)
        return VALUES_OF_PARAMETER;
    return a + b < ROWS_PROVEN_MAX ? a + b : ROWS_PROVEN_MAX + 1;
}

/* Columns that both fix have the values of either. */
static void add_arm(struct fixed_list *sum, const struct fixed_list *arm)
{
    size_t kept = 0;
    for (size_t i = 0; i < sum->count; i++) {
        int64_t values = values_of(arm, sum->items[i].column->number);
        if (values > 0)
            sum->items[kept++] = (struct fixed){sum->items[i].column, sum_of(sum->items[i].values, values)};
    }
    sum->count = kept;
}

static void fix_by_arms(struct prover *prover, Node *node, List *arms, struct fixed_list *list)
{
    struct fixed_list sum = {0};
    bool first = true;
    ListCell *cell;
    foreach (cell, arms) {
        struct fixed_list arm = {0};
        if (is_never_true(lfirst(cell)))
            continue;
        fix_by_arm(prover, node, lfirst(cell), &arm);
        if (first)
            sum = arm;
        else
            add_arm(&sum, &arm);
        first = false;
    }
    for (size_t i = 0; i < sum.count; i++)
        fix_column(prover->walk, list, sum.items[i].column, sum.items[i].values);
}

/* How many values each column has at most where this holds. */
static void fix_by(struct prover *prover, Node *node, struct fixed_list *list)
{
    List *arms = arms_of(prover->walk, node);
    ListCell *cell;
    if (--prover->steps < 0)
        return;
    if (arms != NIL) {
        fix_by_arms(prover, node, arms, list);
    } else if (is_and(node)) {
        foreach (cell, ((BoolExpr *)node)->args)
            fix_by(prover, lfirst(cell), list);
    } else {
        term(prover->walk, prover->target, node, list);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

/* Where one arm holds, and what is known besides. */
static int64_t rows_by_arm(struct prover *prover, Node *node, Node *arm, const struct fixed_list *outer)
{
    struct fixed_list list = {0};
    for (size_t i = 0; i < outer->count; i++)
        fix_column(prover->walk, &list, outer->items[i].column, outer->items[i].values);
    fix_by_arm(prover, node, arm, &list);
    int64_t rows = rows_by_keys(&list, prover->target->relation);
    return IsA(node, BoolExpr) ? least(rows, rows_by_arms(prover, arm, &list)) : rows;
}

/* The rows of each arm by itself, added up: fewer than by their columns where a key has several. 0: not proven. */
static int64_t rows_by_arms(struct prover *prover, Node *node, const struct fixed_list *outer)
{
    List *arms = arms_of(prover->walk, node);
    int64_t rows = 0;
    ListCell *cell;
    if (--prover->steps < 0)
        return 0;
    if (is_and(node)) {
        foreach (cell, ((BoolExpr *)node)->args)
            rows = least(rows, rows_by_arms(prover, lfirst(cell), outer));
        return rows;
    }
    foreach (cell, arms) {
        if (is_never_true(lfirst(cell)))
            continue;
        int64_t more = rows_by_arm(prover, node, lfirst(cell), outer);
        if (more == 0)
            return 0;
        rows = sum_of(rows, more);
    }
    return rows <= ROWS_PROVEN_MAX || rows == VALUES_OF_PARAMETER ? rows : 0;
}

bool key_proves(struct walk *walk, const struct item *target, Node *const *terms, size_t count,
                int64_t *rows)
{
    struct prover prover = {walk, target, KEY_STEPS};
    struct fixed_list list = {0};
    if (target->relation == NULL || target->may_differ || !relation_has_proof(target->relation))
        return false;
    for (size_t i = 0; i < count; i++)
        fix_by(&prover, terms[i], &list);
    int64_t best = rows_by_keys(&list, target->relation);
    for (size_t i = 0; i < count; i++)
        best = least(best, rows_by_arms(&prover, terms[i], &list));
    if (best == 0)
        return false;
    *rows = best == VALUES_OF_PARAMETER ? ROWS_UNPROVEN : best;
    return true;
}

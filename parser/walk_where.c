/*
 * walk_where.c - how strong a WHERE is: spec 3.2, `where`.
 *
 * A proof looks for one AND-term that compares a column of its subject with something that does not
 * depend on the subject and that is itself few. It knows a short list of forms; everything else
 * restricts nothing. It can be fooled into thinking too little of a WHERE, and never tries hard:
 * the row limits catch what is true and yet not small (id > 0).
 */
#include "parser/walk_scope.h"

#include "nodes/nodeFuncs.h"

/* Steps that one statement's proofs may take before they give up. */
enum { PROOF_STEPS = 2 * 1000 * 1000 };

struct proof {
    struct walk *walk;
    int level;          /* of the scope whose terms these are */
    Node *const *terms; /* AND-terms that hold for every row */
    size_t term_count;
    const struct item *subject;
    const struct relation *self; /* joining this relation to itself does not count */
    const struct proof *outer;   /* what is being proven while this is: its subject is no help */
    int *steps;
};

static bool restricts(const struct proof *proof, Node *term, bool negated);
static bool item_restricted(const struct proof *proof, const struct item *item);

/* --- constants ------------------------------------------------------------------------------ */

bool is_constant(Node *node)
{
    for (int depth = 0; node != NULL && IsA(node, TypeCast) && depth < LIMIT_STATEMENT_DEPTH;
         depth++)
        node = ((TypeCast *)node)->arg;
    return node != NULL && (IsA(node, A_Const) || IsA(node, ParamRef));
}

static bool is_null(Node *node)
{
    while (node != NULL && IsA(node, TypeCast))
        node = ((TypeCast *)node)->arg;
    return node != NULL && IsA(node, A_Const) && ((A_Const *)node)->isnull;
}

bool is_never_true(Node *node)
{
    while (node != NULL && IsA(node, TypeCast))
        node = ((TypeCast *)node)->arg;
    if (node == NULL || !IsA(node, A_Const))
        return false;
    A_Const *constant = (A_Const *)node;
    return constant->isnull || (IsA(&constant->val, Boolean) && !constant->val.boolval.boolval);
}

static void collect_terms(struct walk *walk, Node *node, struct proof *proof, size_t *capacity,
                          int depth)
{
    if (node == NULL || depth > LIMIT_STATEMENT_DEPTH)
        return;
    if (IsA(node, BoolExpr) && ((BoolExpr *)node)->boolop == AND_EXPR) {
        ListCell *cell;
        foreach (cell, ((BoolExpr *)node)->args)
            collect_terms(walk, lfirst(cell), proof, capacity, depth + 1);
        return;
    }
    void *terms = (void *)(uintptr_t)proof->terms;
    Node **place = arena_push(walk->arena, &terms, &proof->term_count, capacity, sizeof *place);
    *place = node;
    proof->terms = terms;
}

/* --- what an expression depends on ---------------------------------------------------------- */

static const struct item *item_of_reference(const struct proof *proof, const ColumnRef *reference)
{
    const struct resolution *resolution = scope_resolution(proof->walk, reference);
    const struct item_column *column = resolution->column;
    if (resolution->unclear || resolution->item == NULL)
        return NULL;
    if (column != NULL && column->base != NULL)
        return column->base;
    return column != NULL && column->owner != NULL ? column->owner : resolution->item;
}

static bool is_subject_of_any(const struct proof *proof, const struct item *item)
{
    for (; proof != NULL; proof = proof->outer) {
        if (proof->subject == item)
            return true;
    }
    return false;
}

/* raw_expression_tree_walker's callback: true stops it, at a reference that is no independent
 * value. */
static bool is_dependent(Node *node, void *context)
{
    const struct proof *proof = context;
    if (node == NULL || is_repeated_source(node))
        return false;
    if (--*proof->steps < 0)
        return true;
    if (!IsA(node, ColumnRef))
        return raw_expression_tree_walker(node, is_dependent, context);
    if (scope_resolution(proof->walk, (ColumnRef *)node)->output)
        return false;
    const struct item *item = item_of_reference(proof, (ColumnRef *)node);
    if (item == NULL || is_subject_of_any(proof, item) || item->level < proof->level)
        return true;
    if (item->level > proof->level)
        return false;
    if (item->is_relation && item->relation == proof->self && proof->self != NULL)
        return true;
    return !item_restricted(proof, item);
}

/* Something else than the subject: constants, and columns of relations that are cut. */
static bool is_independent(const struct proof *proof, Node *node)
{
    return node != NULL && !is_dependent(node, (void *)(uintptr_t)proof);
}

static bool has_reference(Node *node, void *context)
{
    if (node == NULL || is_repeated_source(node))
        return false;
    if (IsA(node, ColumnRef) || IsA(node, SubLink))
        return true;
    return raw_expression_tree_walker(node, has_reference, context);
}

/* --- the subject's side of a comparison ----------------------------------------------------- */

static bool is_operator(const A_Expr *tree, const char *const *names, size_t count)
{
    if (list_length(tree->name) > 2 ||
        (list_length(tree->name) == 2 && strcmp(strVal(linitial(tree->name)), "pg_catalog") != 0))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(strVal(llast(tree->name)), names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_subject_side(const struct proof *proof, Node *node);

/* One argument is the subject's, the others are constants that are not 0 or '': left(column, 0). */
static bool is_call_on_subject(const struct proof *proof, FuncCall *call)
{
    int subjects = 0;
    ListCell *cell;
    foreach (cell, call->args) {
        struct text string;
        int64_t number;
        if (is_subject_side(proof, lfirst(cell)))
            subjects++;
        else if (!is_constant(lfirst(cell)) ||
                 (constant_string(lfirst(cell), &string) && string.size == 0) ||
                 (constant_integer(lfirst(cell), &number) && number == 0))
            return false;
    }
    return subjects == 1;
}

static bool is_subject_call(const struct proof *proof, FuncCall *call)
{
    return is_telling_function(call) && is_call_on_subject(proof, call);
}

/* coalesce(column, constants) */
static bool is_subject_or_else(const struct proof *proof, CoalesceExpr *tree)
{
    ListCell *cell;
    if (!is_subject_side(proof, linitial(tree->args)))
        return false;
    for_each_from(cell, tree->args, 1) if (!is_constant(lfirst(cell))) return false;
    return true;
}

/* column ->> 'key', column + interval '1 day', now() - column */
static bool is_subject_operation(const struct proof *proof, A_Expr *tree)
{
    static const char *const paths[] = {"->", "->>", "#>", "#>>"};
    static const char *const shifts[] = {"+", "-"};
    if (tree->kind != AEXPR_OP || tree->lexpr == NULL)
        return false;
    if (is_operator(tree, paths, ARRAY_SIZE(paths)))
        return is_constant(tree->rexpr) && is_subject_side(proof, tree->lexpr);
    if (!is_operator(tree, shifts, ARRAY_SIZE(shifts)))
        return false;
    return (is_subject_side(proof, tree->lexpr) && !has_reference(tree->rexpr, NULL)) ||
           (is_subject_side(proof, tree->rexpr) && !has_reference(tree->lexpr, NULL));
}

static bool is_subject_column(const struct proof *proof, ColumnRef *reference)
{
    const struct resolution *resolution = scope_resolution(proof->walk, reference);
    return resolution->column != NULL && !resolution->system &&
           item_of_reference(proof, reference) == proof->subject;
}

static bool is_subject_side(const struct proof *proof, Node *node)
{
    bool answer = false;
    if (node == NULL || !walk_enter(proof->walk))
        return false;
    switch (nodeTag(node)) {
    case T_ColumnRef:
        answer = is_subject_column(proof, (ColumnRef *)node);
        break;
    case T_TypeCast:
        answer = is_subject_side(proof, ((TypeCast *)node)->arg);
        break;
    case T_CollateClause:
        answer = is_subject_side(proof, ((CollateClause *)node)->arg);
        break;
    case T_FuncCall:
        answer = is_subject_call(proof, (FuncCall *)node);
        break;
    case T_A_Expr:
        answer = is_subject_operation(proof, (A_Expr *)node);
        break;
    case T_CoalesceExpr:
        answer = is_subject_or_else(proof, (CoalesceExpr *)node);
        break;
    case T_A_Indirection:
        answer = is_subject_side(proof, ((A_Indirection *)node)->arg) &&
                 !has_reference((Node *)((A_Indirection *)node)->indirection, NULL);
        break;
    default:
        break;
    }
    walk_leave(proof->walk);
    return answer;
}

/* --- comparisons ---------------------------------------------------------------------------- */

static bool sides_compare(const struct proof *proof, Node *left, Node *right)
{
    return (is_subject_side(proof, left) && is_independent(proof, right)) ||
           (is_subject_side(proof, right) && is_independent(proof, left));
}

/* length(column) >= 0 and the like hold for every row. */
static bool size_compares(const struct proof *proof, A_Expr *tree)
{
    static const char *const above[] = {">", "<>"};
    static const char *const at_least[] = {">="};
    int64_t number;
    if (!IsA(tree->lexpr, FuncCall) || !is_size_function((FuncCall *)tree->lexpr) ||
        !is_call_on_subject(proof, (FuncCall *)tree->lexpr) || has_reference(tree->rexpr, NULL))
        return false;
    if (!constant_integer(tree->rexpr, &number))
        return is_constant(tree->rexpr);
    if (is_operator(tree, above, ARRAY_SIZE(above)))
        return number >= 0;
    return number >= 1 || !is_operator(tree, at_least, ARRAY_SIZE(at_least));
}

/* column % 2 = 0; of % 1 everything is 0. */
static bool remainder_compares(const struct proof *proof, A_Expr *tree)
{
    static const char *const equal[] = {"="};
    static const char *const modulo[] = {"%"};
    A_Expr *left = (A_Expr *)tree->lexpr;
    int64_t divisor;
    return is_operator(tree, equal, 1) && IsA(left, A_Expr) && left->kind == AEXPR_OP &&
           is_operator(left, modulo, 1) && is_subject_side(proof, left->lexpr) &&
           constant_integer(left->rexpr, &divisor) && (divisor > 1 || divisor < -1) &&
           is_constant(tree->rexpr);
}

static bool rows_compare(const struct proof *proof, A_Expr *tree)
{
    List *left = ((RowExpr *)tree->lexpr)->args, *right = ((RowExpr *)tree->rexpr)->args;
    static const char *const equal[] = {"="};
    bool any = is_operator(tree, equal, 1);
    ListCell *l, *r;
    forboth(l, left, r, right)
    {
        if (sides_compare(proof, lfirst(l), lfirst(r)))
            return true;
        if (!any)
            return false;
    }
    return false;
}

/* column @> value: unlike a comparison, it may hold for every column. */
static bool sides_tell(const struct proof *proof, Node *subject, Node *other)
{
    return is_subject_side(proof, subject) && is_independent(proof, other) &&
           (has_reference(other, NULL) || is_telling_value(other));
}

static bool operator_compares(const struct proof *proof, A_Expr *tree, bool negated)
{
    static const char *const comparisons[] = {"=", "<", "<=", ">", ">=", "<>"};
    static const char *const containers[] = {"@>", "<@", "&&", "?", "?|", "?&", "@?", "@@"};
    static const char *const regexes[] = {"~", "~*"};
    static const char *const inverse_regexes[] = {"!~", "!~*"};
    if (tree->lexpr == NULL || tree->rexpr == NULL)
        return false;
    if (IsA(tree->lexpr, RowExpr) && IsA(tree->rexpr, RowExpr))
        return rows_compare(proof, tree);
    if (is_operator(tree, comparisons, ARRAY_SIZE(comparisons)))
        return sides_compare(proof, tree->lexpr, tree->rexpr) || size_compares(proof, tree) ||
               remainder_compares(proof, tree);
    if (is_operator(tree, containers, ARRAY_SIZE(containers)))
        return sides_tell(proof, tree->lexpr, tree->rexpr) ||
               sides_tell(proof, tree->rexpr, tree->lexpr);
    if (is_operator(tree, negated ? inverse_regexes : regexes, ARRAY_SIZE(regexes)))
        return is_subject_side(proof, tree->lexpr) && !has_reference(tree->rexpr, NULL) &&
               is_telling_regex(tree->rexpr);
    return is_operator(tree, negated ? regexes : inverse_regexes, ARRAY_SIZE(regexes)) &&
           sides_tell(proof, tree->lexpr, tree->rexpr);
}

static bool list_compares(const struct proof *proof, A_Expr *tree)
{
    if (!IsA(tree->rexpr, List))
        return false;
    List *values = (List *)tree->rexpr;
    if (!IsA(tree->lexpr, RowExpr))
        return is_subject_side(proof, tree->lexpr) && is_independent(proof, (Node *)values);
    ListCell *cell;
    foreach (cell, values) {
        A_Expr pair = *tree;
        pair.rexpr = lfirst(cell);
        static const char *const equal[] = {"="};
        if (!is_operator(tree, equal, 1) || !IsA(pair.rexpr, RowExpr) ||
            !rows_compare(proof, &pair))
            return false;
    }
    return true;
}

/* <> ALL ('{}') and the like hold for every row. */
static bool array_compares(const struct proof *proof, A_Expr *tree)
{
    static const char *const equal[] = {"="};
    if (!is_subject_side(proof, tree->lexpr) || has_reference(tree->rexpr, NULL))
        return false;
    if (tree->kind == AEXPR_OP_ANY)
        return is_operator(tree, equal, 1);
    if (IsA(tree->rexpr, ParamRef))
        return true;
    return IsA(tree->rexpr, A_ArrayExpr) && ((A_ArrayExpr *)tree->rexpr)->elements != NIL;
}

static bool like_compares(const struct proof *proof, A_Expr *tree, bool negated)
{
    bool excludes = (strVal(llast(tree->name))[0] == '!') != negated;
    Node *pattern = tree->rexpr;
    if (IsA(pattern, FuncCall) && ((FuncCall *)pattern)->args != NIL)
        pattern = linitial(((FuncCall *)pattern)->args); /* SIMILAR TO, LIKE … ESCAPE */
    if (!is_subject_side(proof, tree->lexpr) || has_reference(pattern, NULL))
        return false;
    return tree->kind == AEXPR_SIMILAR && !excludes ? is_telling_regex(pattern)
                                                    : is_telling_value(pattern);
}

static bool between_compares(const struct proof *proof, A_Expr *tree)
{
    return is_subject_side(proof, tree->lexpr) && is_independent(proof, tree->rexpr);
}

static bool compares(const struct proof *proof, A_Expr *tree, bool negated)
{
    if (expression_is_shadowed(proof->walk, tree))
        return false;
    switch (tree->kind) {
    case AEXPR_OP:
        return operator_compares(proof, tree, negated);
    case AEXPR_IN:
        return list_compares(proof, tree);
    case AEXPR_OP_ANY:
    case AEXPR_OP_ALL:
        return array_compares(proof, tree);
    case AEXPR_DISTINCT:
    case AEXPR_NOT_DISTINCT:
        return !is_null(tree->lexpr) && !is_null(tree->rexpr) &&
               sides_compare(proof, tree->lexpr, tree->rexpr);
    case AEXPR_LIKE:
    case AEXPR_ILIKE:
    case AEXPR_SIMILAR:
        return like_compares(proof, tree, negated);
    case AEXPR_BETWEEN:
    case AEXPR_NOT_BETWEEN:
    case AEXPR_BETWEEN_SYM:
    case AEXPR_NOT_BETWEEN_SYM:
        return between_compares(proof, tree);
    case AEXPR_NULLIF:
        break;
    }
    return false;
}

/* --- sub-queries ---------------------------------------------------------------------------- */

static struct item *columns_of_sublink(const struct proof *proof, SubLink *link)
{
    bool fresh;
    return (struct item *)*walk_seen(proof->walk, (uintptr_t)link, (struct text){0},
                                     (struct text){0}, &fresh);
}

/* column IN (SELECT …) where the sub-query is cut and does not look at the subject. */
static bool in_subquery(const struct proof *proof, SubLink *link)
{
    const struct item *columns = columns_of_sublink(proof, link);
    bool equality = link->operName == NIL || (list_length(link->operName) == 1 &&
                                              strcmp(strVal(linitial(link->operName)), "=") == 0);
    return equality && columns != NULL && columns->cut && !sublink_is_shadowed(proof->walk, link) &&
           is_subject_side(proof, link->testexpr) && is_independent(proof, link->subselect);
}

static bool gives_a_row_for_each(SelectStmt *select)
{
    if (select->op != SETOP_NONE || select->valuesLists != NIL || select->groupClause != NIL ||
        select->havingClause != NULL || select->limitOffset != NULL || select->limitCount != NULL)
        return false;
    ListCell *cell;
    foreach (cell, select->targetList) {
        Node *value = ((ResTarget *)lfirst(cell))->val;
        if (!is_constant(value) && !IsA(value, ColumnRef)) /* an aggregate always gives one */
            return false;
    }
    return true;
}

static void collect_join_terms(struct walk *walk, Node *node, struct proof *proof, size_t *capacity,
                               int depth)
{
    JoinExpr *join = (JoinExpr *)node;
    if (!IsA(node, JoinExpr) || join->jointype != JOIN_INNER || depth > LIMIT_STATEMENT_DEPTH)
        return;
    collect_terms(walk, join->quals, proof, capacity, depth);
    collect_join_terms(walk, join->larg, proof, capacity, depth + 1);
    collect_join_terms(walk, join->rarg, proof, capacity, depth + 1);
}

/* EXISTS (SELECT 1 FROM c WHERE c.id = subject.x AND c.y = 5): as a join to c would. */
static bool exists_subquery(const struct proof *proof, SubLink *link)
{
    SelectStmt *select = (SelectStmt *)link->subselect;
    if (!IsA(select, SelectStmt) || !gives_a_row_for_each(select))
        return false;
    struct proof inside = *proof;
    size_t capacity = 0;
    ListCell *cell;
    inside.level = proof->level + 1;
    inside.terms = NULL;
    inside.term_count = 0;
    collect_terms(proof->walk, select->whereClause, &inside, &capacity, 0);
    foreach (cell, select->fromClause)
        collect_join_terms(proof->walk, lfirst(cell), &inside, &capacity, 0);
    for (size_t i = 0; i < inside.term_count; i++) {
        if (restricts(&inside, inside.terms[i], false))
            return true;
    }
    return false;
}

/* --- terms ---------------------------------------------------------------------------------- */

static bool any_restricts(const struct proof *proof, List *terms, bool negated)
{
    ListCell *cell;
    foreach (cell, terms) {
        if (restricts(proof, lfirst(cell), negated))
            return true;
    }
    return false;
}

static bool all_restrict(const struct proof *proof, List *terms, bool negated)
{
    bool some = false;
    ListCell *cell;
    foreach (cell, terms) {
        if (!negated && is_never_true(lfirst(cell)))
            continue;
        if (!restricts(proof, lfirst(cell), negated))
            return false;
        some = true;
    }
    return some;
}

static bool boolean_restricts(const struct proof *proof, BoolExpr *tree, bool negated)
{
    switch (tree->boolop) {
    case NOT_EXPR:
        return restricts(proof, linitial(tree->args), !negated);
    case AND_EXPR:
        return negated ? all_restrict(proof, tree->args, true)
                       : any_restricts(proof, tree->args, false);
    case OR_EXPR:
        return negated ? any_restricts(proof, tree->args, true)
                       : all_restrict(proof, tree->args, false);
    }
    return false;
}

static bool test_restricts(const struct proof *proof, BooleanTest *tree, bool negated)
{
    if (negated)
        return false;
    if (tree->booltesttype == IS_TRUE)
        return restricts(proof, (Node *)tree->arg, false);
    return tree->booltesttype == IS_FALSE && restricts(proof, (Node *)tree->arg, true);
}

/* IS NOT NULL says nothing: it is there or it may be. */
static bool null_test_restricts(const struct proof *proof, NullTest *tree, bool negated)
{
    return (tree->nulltesttype == IS_NULL) != negated && is_subject_side(proof, (Node *)tree->arg);
}

/* starts_with(column, 'x'), (column, column) OVERLAPS (…) */
static bool predicate_restricts(const struct proof *proof, FuncCall *call)
{
    int subjects = 0;
    bool tells = false;
    ListCell *cell;
    if (!is_telling_predicate(call))
        return false;
    foreach (cell, call->args) {
        Node *argument = lfirst(cell);
        if (is_subject_side(proof, argument))
            subjects++;
        else if (!is_independent(proof, argument))
            return false;
        else
            tells = tells || has_reference(argument, NULL) || is_telling_regex(argument);
    }
    return subjects > 0 && tells;
}

static bool sublink_restricts(const struct proof *proof, SubLink *link, bool negated)
{
    if (negated)
        return false;
    if (link->subLinkType == ANY_SUBLINK)
        return in_subquery(proof, link);
    return link->subLinkType == EXISTS_SUBLINK && exists_subquery(proof, link);
}

static bool is_boolean_column(const struct proof *proof, ColumnRef *reference)
{
    enum { BOOLEAN_TYPE = 16 };
    return is_subject_column(proof, reference) &&
           scope_resolution(proof->walk, reference)->column->type == BOOLEAN_TYPE;
}

static bool restricts(const struct proof *proof, Node *term, bool negated)
{
    bool answer = false;
    if (term == NULL || --*proof->steps < 0 || !walk_enter(proof->walk))
        return false;
    switch (nodeTag(term)) {
    case T_BoolExpr:
        answer = boolean_restricts(proof, (BoolExpr *)term, negated);
        break;
    case T_A_Expr:
        answer = compares(proof, (A_Expr *)term, negated);
        break;
    case T_SubLink:
        answer = sublink_restricts(proof, (SubLink *)term, negated);
        break;
    case T_BooleanTest:
        answer = test_restricts(proof, (BooleanTest *)term, negated);
        break;
    case T_NullTest:
        answer = null_test_restricts(proof, (NullTest *)term, negated);
        break;
    case T_FuncCall:
        answer = !negated && predicate_restricts(proof, (FuncCall *)term);
        break;
    case T_ColumnRef:
        answer = is_boolean_column(proof, (ColumnRef *)term);
        break;
    default:
        break;
    }
    walk_leave(proof->walk);
    return answer;
}

static bool subject_restricted(const struct proof *proof)
{
    for (size_t i = 0; i < proof->term_count; i++) {
        if (restricts(proof, proof->terms[i], false))
            return true;
    }
    return false;
}

/* Another item of the same level: few by itself, or by other terms than those under proof. */
static bool item_restricted(const struct proof *proof, const struct item *item)
{
    bool answer = false;
    if (item->cut)
        return true;
    if (--*proof->steps < 0 || !walk_enter(proof->walk))
        return false;
    struct proof other = *proof;
    other.subject = item;
    other.self = NULL;
    other.outer = proof;
    if (item->left != NULL) {
        bool left = item_restricted(&other, item->left);
        bool right = item_restricted(&other, item->right);
        answer = item->inner_join ? left || right : left && right;
    } else {
        answer = subject_restricted(&other);
    }
    walk_leave(proof->walk);
    return answer;
}

/* --- entry points --------------------------------------------------------------------------- */

static struct proof proof_of_level(struct walk *walk, struct scope *scope, Node *where, int *steps)
{
    struct proof proof = {.walk = walk, .level = scope->level, .steps = steps};
    size_t capacity = 0;
    collect_terms(walk, where, &proof, &capacity, 0);
    for (size_t i = 0; i < scope->qual_count; i++)
        collect_terms(walk, scope->quals[i], &proof, &capacity, 0);
    return proof;
}

bool where_cuts(struct walk *walk, struct scope *scope, Node *where)
{
    int steps = PROOF_STEPS;
    if (walk->failed)
        return false;
    struct proof proof = proof_of_level(walk, scope, where, &steps);
    for (size_t i = 0; i < scope->sources.count; i++) {
        if (!item_restricted(&proof, scope->sources.items[i]))
            return false;
    }
    return scope->sources.count > 0;
}

static struct text key_columns(struct walk *walk, const struct relation *relation,
                               const struct key *key)
{
    struct text text = {0};
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *column = relation_column_by_number(relation, key->columns[i]);
        struct text name = column != NULL ? column->name : TEXT("?");
        text = arena_printf(walk->arena, "%.*s%s%.*s", TEXT_ARGS(text), i > 0 ? ", " : "",
                            TEXT_ARGS(name));
    }
    return text;
}

static struct text missing_for_key(struct walk *walk, const struct item *target)
{
    const struct relation *relation = target->relation;
    struct text object = object_text(walk->arena, &target->object);
    if (relation == NULL || relation->key_count == 0)
        return arena_printf(walk->arena, "%.*s has no key that WHERE could fix", TEXT_ARGS(object));
    if (relation->has_children || relation->has_rules)
        return arena_printf(walk->arena, "%.*s has %s, so no key proves its rows",
                            TEXT_ARGS(object), relation->has_rules ? "rules" : "children");
    if (target->may_differ)
        return arena_printf(walk->arena, "the agent may change %.*s, so no key proves its rows",
                            TEXT_ARGS(object));
    const struct key *key = &relation->keys[0];
    for (size_t i = 0; i < relation->key_count; i++) {
        if (relation->keys[i].primary)
            key = &relation->keys[i];
    }
    struct text columns = key_columns(walk, relation, key);
    return arena_printf(walk->arena, "WHERE must fix the %s (%.*s)",
                        key->primary ? "primary key" : "key", TEXT_ARGS(columns));
}

void where_strength(struct walk *walk, struct scope *scope, struct item *target, Node *where,
                    size_t index)
{
    struct action *action = &walk->actions[index];
    action->where = WHERE_ANY;
    action->key_unsure = target->may_differ;
    action->rows_max = ROWS_UNPROVEN;
    if (walk->failed)
        return;
    if (where != NULL && IsA(where, CurrentOfExpr)) {
        action->where = WHERE_KEY;
        action->rows_max = 1;
        return;
    }
    int steps = PROOF_STEPS;
    struct proof proof = proof_of_level(walk, scope, where, &steps);
    proof.subject = target;
    proof.self = target->relation;
    struct proof only_where = {.walk = walk};
    size_t capacity = 0;
    collect_terms(walk, where, &only_where, &capacity, 0);
    if (key_proves(walk, target, only_where.terms, only_where.term_count, &action->rows_max)) {
        action->where = WHERE_KEY;
    } else if (subject_restricted(&proof)) {
        action->where = WHERE_REQUIRED;
        action->where_why = missing_for_key(walk, target);
    } else {
        struct text object = object_text(walk->arena, &target->object);
        action->where_why =
            where == NULL
                ? arena_printf(walk->arena, "there is no WHERE")
                : arena_printf(walk->arena, "WHERE restricts no column of %.*s", TEXT_ARGS(object));
    }
}

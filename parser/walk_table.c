/*
 * walk_table.c - tables as they are made: columns, constraints, parents, partitions, and tables
 * made from queries.
 *
 * Expressions are walked over a draft of the relation, so that names of new columns resolve.
 */
#include "parser/walk_scope.h"
#include "parser/walk_utility.h"

#include "proxy/base/limits.h"

#include <string.h>

/* --- drafts ---------------------------------------------------------------------------------- */

static void draft_push(struct walk *walk, struct draft *draft, struct column column)
{
    struct column *added;

    if (draft->count >= LIMIT_TABLE_COLUMNS) {
        walk_fail(walk, ANALYSE_TOO_LARGE, "54011", -1, "tables have at most %d columns",
                  LIMIT_TABLE_COLUMNS);
        return;
    }
    added = arena_push(walk->arena, (void **)&draft->columns, &draft->count, &draft->capacity,
                       sizeof(*draft->columns));
    *added = column;
    added->number = (int16_t)draft->count;
    draft->relation.columns = draft->columns;
    draft->relation.column_count = draft->count;
}

static void draft_add_relation(struct walk *walk, struct draft *draft,
                               const struct relation *relation)
{
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++)
        draft_push(walk, draft, relation->columns[i]);
    if (relation != NULL && relation->key_by_expression)
        draft->relation.key_by_expression = true;
}

struct draft *draft_new(struct walk *walk, const struct target *target)
{
    struct draft *draft = arena_allocate(walk->arena, sizeof(*draft));

    if (target->relation != NULL) {
        draft->relation = *target->relation;
        draft_add_relation(walk, draft, target->relation);
        return draft;
    }
    draft->unknown = target->unknown;
    draft->unresolved = target->unresolved;
    draft->relation.schema = target->object.schema;
    draft->relation.name = target->object.name;
    draft->relation.kind = 'r';
    draft->relation.persistence = 'p';
    draft->relation.rows = -1;
    return draft;
}

/* The number of a built-in type that is not an array; others stay unknown. */
static uint32_t builtin_type(const struct walk *walk, const TypeName *type)
{
    int count = type != NULL ? list_length(type->names) : 0;
    const struct type *found;

    if (walk->context->catalog == NULL || count == 0 || count > 2 || type->arrayBounds != NIL ||
        type->setof || type->pct_type)
        return 0;
    if (count == 2 && strcmp(strVal(linitial(type->names)), "pg_catalog") != 0)
        return 0;
    found = catalog_type(walk->context->catalog, TEXT("pg_catalog"),
                         text_from(strVal(llast(type->names))));
    return found != NULL ? found->oid : 0;
}

void draft_add_column(struct walk *walk, struct draft *draft, const char *name, TypeName *type)
{
    struct column column = {.name = walk_text(walk, name), .type = builtin_type(walk, type)};

    if (relation_column(&draft->relation, column.name) == NULL)
        draft_push(walk, draft, column);
}

/* Of a table that the catalog does not have, whatever the names may mean is read. */
static void unknown_expression(struct walk *walk, struct draft *draft, Node *expression)
{
    static const struct text why = {"an expression over an unknown table", 35};
    struct object object = {OBJECT_NAME, draft->relation.schema, draft->relation.name};
    struct action *action;

    walk_expression(walk, expression, NULL);
    if (IsA(expression, A_Const))
        return;
    action = walk_add(walk, VERB_SELECT, object, -1);
    action->part = PART_READ;
    action->columns_unknown = true;
    action->columns_why = why;
    action->unresolved = draft->unresolved;
}

void draft_expression(struct walk *walk, struct draft *draft, Node *expression)
{
    if (expression == NULL || walk->failed)
        return;
    draft->work += draft->count + 1;
    if (draft->work > LIMIT_TABLE_EXPRESSION_COLUMNS)
        walk_fail(walk, ANALYSE_TOO_LARGE, "54001", -1,
                  "statement has too many expressions over too many columns to check");
    else if (draft->unknown)
        unknown_expression(walk, draft, expression);
    else
        walk_expression(walk, expression, &draft->relation);
}

void draft_condition(struct walk *walk, struct draft *draft, Node *expression)
{
    draft_expression(walk, draft, expression);
    walk_assignment(walk, expression, TYPE_LITERAL, TYPE_BOOL);
}

/* --- constraints ----------------------------------------------------------------------------- */

static bool names_draft(struct walk *walk, const struct draft *draft, RangeVar *range)
{
    struct object object;

    if (draft->relation.oid != 0 || draft->unknown)
        return false;
    object = walk_new_object(walk, range);
    return text_equal(object.schema, draft->relation.schema) &&
           text_equal(object.name, draft->relation.name);
}

/* A foreign key restricts what may be done to the table that it points at. */
static void foreign_key(struct walk *walk, const struct draft *draft, const Constraint *constraint)
{
    struct target target;
    ListCell *cell;

    if (!strings_only(walk, constraint->fk_attrs))
        return;
    foreach (cell, constraint->fk_attrs) { /* are compared with the other table's */
        const struct column *column = relation_column(&draft->relation, text_from(strVal(lfirst(cell))));
        casts_of_values(walk, column != NULL ? column->type : TYPE_UNSURE, constraint->location);
    }
    strings_only(walk, constraint->pk_attrs);
    strings_only(walk, constraint->fk_del_set_cols);
    if (constraint->pktable == NULL) {
        walk_unknown(walk, "foreign key", T_Constraint, constraint->location);
        return;
    }
    if (names_draft(walk, draft, constraint->pktable))
        return;
    target = target_relation(walk, constraint->pktable);
    act(walk, VERB_ALTER, &target)->lock = LOCK_SHARE_ROW_EXCLUSIVE;
}

static void index_constraint(struct walk *walk, const Constraint *constraint)
{
    strings_only(walk, constraint->keys);
    strings_only(walk, constraint->including);
    storage_options(walk, constraint->options);
}

static void index_element(struct walk *walk, struct draft *draft, const IndexElem *element)
{
    if (!IsA(element, IndexElem)) {
        walk_unknown(walk, "index", (int)nodeTag(element), -1);
        return;
    }
    strings_only(walk, element->collation);
    strings_only(walk, element->opclass);
    free_options(walk, element->opclassopts);
    draft_expression(walk, draft, element->expr);
}

/* (IndexElem, operator) pairs */
static void exclusion(struct walk *walk, struct draft *draft, const Constraint *constraint)
{
    ListCell *cell;

    index_constraint(walk, constraint);
    draft_condition(walk, draft, constraint->where_clause);
    foreach (cell, constraint->exclusions) {
        List *pair = lfirst(cell);

        if (!IsA(pair, List) || list_length(pair) != 2) {
            walk_unknown(walk, "exclusion", (int)nodeTag(pair), constraint->location);
            return;
        }
        index_element(walk, draft, linitial(pair));
        operator_mention(walk, lsecond(pair));
    }
}

void table_constraint(struct walk *walk, struct draft *draft, Constraint *constraint)
{
    if (!IsA(constraint, Constraint) || constraint->cooked_expr != NULL) {
        walk_unknown(walk, "constraint", (int)nodeTag(constraint), -1);
        return;
    }
    switch (constraint->contype) {
    case CONSTR_NULL:
    case CONSTR_NOTNULL:
    case CONSTR_ATTR_DEFERRABLE:
    case CONSTR_ATTR_NOT_DEFERRABLE:
    case CONSTR_ATTR_DEFERRED:
    case CONSTR_ATTR_IMMEDIATE:
        return;
    case CONSTR_DEFAULT:
    case CONSTR_GENERATED:
        draft_expression(walk, draft, constraint->raw_expr);
        return;
    case CONSTR_CHECK:
        draft_condition(walk, draft, constraint->raw_expr);
        return;
    case CONSTR_IDENTITY:
        sequence_options(walk, constraint->options);
        return;
    case CONSTR_PRIMARY:
    case CONSTR_UNIQUE:
        index_constraint(walk, constraint);
        return;
    case CONSTR_EXCLUSION:
        exclusion(walk, draft, constraint);
        return;
    case CONSTR_FOREIGN:
        foreign_key(walk, draft, constraint);
        return;
    default:
        walk_unknown(walk, "constraint", T_Constraint, constraint->location);
    }
}

/* --- columns --------------------------------------------------------------------------------- */

/* Words for an integer with a sequence, which the server replaces before it looks for types. */
static bool is_serial(const TypeName *type)
{
    static const char *const names[] = {
        "smallserial", "serial2", "serial", "serial4", "bigserial", "serial8",
    };
    const Node *name = list_length(type->names) == 1 ? linitial(type->names) : NULL;

    if (name == NULL || !IsA(name, String) || type->pct_type)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strcmp(strVal(name), names[i]) == 0)
            return true;
    return false;
}

static void column_type(struct walk *walk, TypeName *type)
{
    if (type != NULL && is_serial(type))
        type_mention(walk, type);
    else if (type != NULL)
        walk_type(walk, type);
}

void stored_by_default(struct walk *walk, TypeName *type, const Constraint *constraint)
{
    if (constraint->raw_expr != NULL && type != NULL &&
        (constraint->contype == CONSTR_DEFAULT || constraint->contype == CONSTR_GENERATED))
        walk_assignment(walk, constraint->raw_expr, 0, walk_type_oid(walk, type));
}

void column_definition(struct walk *walk, struct draft *draft, ColumnDef *column)
{
    ListCell *cell;

    if (column->cooked_default != NULL || column->identitySequence != NULL)
        walk_unknown(walk, "column", T_ColumnDef, column->location);
    column_type(walk, column->typeName);
    if (column->collClause != NULL)
        strings_only(walk, column->collClause->collname);
    draft_expression(walk, draft, column->raw_default);
    if (column->raw_default != NULL && column->typeName != NULL)
        walk_assignment(walk, column->raw_default, 0, walk_type_oid(walk, column->typeName));
    free_options(walk, column->fdwoptions);
    foreach (cell, column->constraints) {
        table_constraint(walk, draft, lfirst(cell));
        if (walk->failed)
            return;
        stored_by_default(walk, column->typeName, lfirst(cell));
        if (((Constraint *)lfirst(cell))->contype == CONSTR_FOREIGN && column->typeName != NULL)
            casts_of_values(walk, walk_type_oid(walk, column->typeName), -1);
    }
}

void index_elements(struct walk *walk, struct draft *draft, List *elements)
{
    ListCell *cell;

    foreach (cell, elements)
        index_element(walk, draft, lfirst(cell));
}

/* --- parents and partitions ------------------------------------------------------------------ */

static bool is_infinite(const Node *node)
{
    const ColumnRef *reference = (const ColumnRef *)node;
    const Node *field;

    if (!IsA(node, ColumnRef) || list_length(reference->fields) != 1)
        return false;
    field = linitial(reference->fields);
    return IsA(field, String) && (strcmp(((const String *)field)->sval, "minvalue") == 0 ||
                                  strcmp(((const String *)field)->sval, "maxvalue") == 0);
}

/* Each becomes what its part of the key is: a column of the parent's, or what an expression gives, whose type
 * is not known. */
static void bound_value(struct walk *walk, const struct draft *parent, Node *value)
{
    walk_expression(walk, value, NULL);
    for (size_t i = 0; i < parent->relation.column_count; i++)
        walk_assignment(walk, value, 0, parent->relation.columns[i].type);
    if (parent->relation.column_count == 0 || parent->relation.key_by_expression)
        walk_assignment(walk, value, 0, 0);
}

static void bound_values(struct walk *walk, const struct draft *parent, List *values)
{
    ListCell *cell;

    foreach (cell, values) {
        Node *value = lfirst(cell);

        if (!is_infinite(value))
            bound_value(walk, parent, value);
    }
}

void partition_bound(struct walk *walk, const struct draft *parent, PartitionBoundSpec *bound)
{
    if (bound == NULL)
        return;
    bound_values(walk, parent, bound->listdatums);
    bound_values(walk, parent, bound->lowerdatums);
    bound_values(walk, parent, bound->upperdatums);
}

static void partition_key(struct walk *walk, struct draft *draft, const PartitionSpec *key)
{
    ListCell *cell;

    if (key == NULL)
        return;
    foreach (cell, key->partParams) {
        const PartitionElem *element = lfirst(cell);

        if (!IsA(element, PartitionElem)) {
            walk_unknown(walk, "partition key", (int)nodeTag(element), key->location);
            return;
        }
        strings_only(walk, element->collation);
        strings_only(walk, element->opclass);
        draft_expression(walk, draft, element->expr);
    }
}

/* A child's rows are its parents' rows from now on. */
static void draft_parents(struct walk *walk, struct draft *draft, List *parents,
                          enum table_lock lock)
{
    ListCell *cell;

    foreach (cell, parents) {
        struct target parent = target_relation(walk, lfirst(cell));

        act(walk, VERB_ALTER, &parent)->lock = lock;
        draft_add_relation(walk, draft, parent.relation);
    }
}

/* Of the copy they are the agent's own: what is stored in it runs them. */
static void copied_expressions(struct walk *walk, const struct relation *source, const TableLikeClause *like)
{
    const uint32_t with_expressions = CREATE_TABLE_LIKE_DEFAULTS | CREATE_TABLE_LIKE_GENERATED |
                                      CREATE_TABLE_LIKE_CONSTRAINTS | CREATE_TABLE_LIKE_INDEXES |
                                      CREATE_TABLE_LIKE_STATISTICS;
    for (size_t i = 0; has_casts(walk) && i < source->column_count; i++)
        checks_of_type(walk, source->columns[i].type, true, like->relation->location);
    for (size_t i = 0; (like->options & with_expressions) != 0 && i < source->expression_function_count; i++)
        call_function_oid(walk, source->expression_functions[i], like->relation->location);
}

/* LIKE copies every column's definition, for which the server asks SELECT. */
static void draft_like(struct walk *walk, struct draft *draft, const TableLikeClause *like)
{
    struct target source = target_relation(walk, like->relation);
    struct action *action = act(walk, VERB_SELECT, &source);
    size_t count = source.relation != NULL ? source.relation->column_count : 0;
    struct text *columns = arena_array(walk->arena, count, sizeof(*columns));

    for (size_t i = 0; i < count; i++)
        columns[i] = source.relation->columns[i].name;
    action->part = PART_READ;
    action->columns = columns;
    action->column_count = count;
    action->columns_unknown = source.relation == NULL;
    action->columns_why = TEXT("LIKE");
    draft_add_relation(walk, draft, source.relation);
    if (source.relation != NULL)
        copied_expressions(walk, source.relation, like);
}

/* --- CREATE TABLE ---------------------------------------------------------------------------- */

/* First every name that the expressions may use. */
static void draft_elements(struct walk *walk, struct draft *draft, List *elements)
{
    ListCell *cell;

    foreach (cell, elements) {
        Node *element = lfirst(cell);

        if (IsA(element, ColumnDef))
            draft_add_column(walk, draft, ((ColumnDef *)element)->colname,
                             ((ColumnDef *)element)->typeName);
        else if (IsA(element, TableLikeClause))
            draft_like(walk, draft, (TableLikeClause *)element);
        else if (!IsA(element, Constraint))
            walk_unknown(walk, "CREATE TABLE", (int)nodeTag(element), -1);
    }
}

static void define_elements(struct walk *walk, struct draft *draft, List *elements)
{
    ListCell *cell;

    foreach (cell, elements) {
        Node *element = lfirst(cell);

        if (IsA(element, ColumnDef))
            column_definition(walk, draft, (ColumnDef *)element);
        else if (IsA(element, Constraint))
            table_constraint(walk, draft, (Constraint *)element);
    }
}

/* The columns of the composite type of a typed table. */
static void draft_type(struct walk *walk, struct draft *draft, TypeName *type)
{
    struct object object;

    if (type == NULL)
        return;
    walk_type(walk, type);
    if (walk->context->catalog == NULL || !strings_only(walk, type->names))
        return;
    object = walk_object_from_names(walk, type->names, type->location);
    draft_add_relation(walk, draft,
                       catalog_relation(walk->context->catalog, object.schema, object.name));
}

void create_relation(struct walk *walk, CreateStmt *statement, bool is_code)
{
    struct target target = target_new_relation(walk, statement->relation);
    struct draft *draft = draft_new(walk, &target);

    changes(walk, CHANGES_OBJECTS);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    if (is_code || statement->inhRelations != NIL)
        act(walk, VERB_CODE, &target);
    if (statement->constraints != NIL)
        walk_unknown(walk, "CREATE TABLE", T_CreateStmt, -1);
    storage_options(walk, statement->options);
    draft_parents(walk, draft, statement->inhRelations,
                  statement->partbound != NULL ? LOCK_ACCESS_EXCLUSIVE
                                               : LOCK_SHARE_UPDATE_EXCLUSIVE);
    draft_type(walk, draft, statement->ofTypename);
    draft_elements(walk, draft, statement->tableElts);
    define_elements(walk, draft, statement->tableElts);
    partition_key(walk, draft, statement->partspec);
    partition_bound(walk, draft, statement->partbound);
}

void walk_create_table(struct walk *walk, Node *node)
{
    create_relation(walk, (CreateStmt *)node, false);
}

/* What a foreign table's wrapper does with reads and writes is code. */
void walk_create_foreign_table(struct walk *walk, Node *node)
{
    CreateForeignTableStmt *statement = (CreateForeignTableStmt *)node;

    create_relation(walk, &statement->base, true);
    free_options(walk, statement->options);
}

/* --- tables from queries --------------------------------------------------------------------- */

void walk_into(struct walk *walk, IntoClause *into)
{
    struct target target;

    if (into->rel == NULL || into->viewQuery != NULL) {
        walk_unknown(walk, "INTO", T_IntoClause, -1);
        return;
    }
    target = target_new_relation(walk, into->rel);
    act(walk, VERB_CREATE, &target)->lock = LOCK_NONE;
    changes(walk, CHANGES_OBJECTS);
    strings_only(walk, into->colNames);
    storage_options(walk, into->options);
}

/* The prepared statement would have to be judged again at this place, as EXECUTE is. */
static void table_from_execute(struct walk *walk, Node *query)
{
    walk->shape->inner = walk_inner(walk, query, NULL);
    if (!walk->context->anything_goes)
        walk_fail(walk, ANALYSE_REJECTED, "42501", -1,
                  "CREATE TABLE AS EXECUTE is not allowed; write the query itself");
}

void walk_create_table_as(struct walk *walk, Node *node)
{
    CreateTableAsStmt *statement = (CreateTableAsStmt *)node;

    if (statement->objtype != OBJECT_TABLE && statement->objtype != OBJECT_MATVIEW)
        walk_unknown(walk, "CREATE TABLE AS", T_CreateTableAsStmt, -1);
    walk_into(walk, statement->into);
    if (IsA(statement->query, ExecuteStmt))
        table_from_execute(walk, statement->query);
    else if (IsA(statement->query, SelectStmt) && statement->objtype == OBJECT_TABLE)
        walk_table_query(walk, statement->query);
    else if (IsA(statement->query, SelectStmt))
        walk_query(walk, statement->query);
    else
        walk_unknown(walk, "CREATE TABLE AS", (int)nodeTag(statement->query), -1);
    walk->shape->returns_rows = false;
}

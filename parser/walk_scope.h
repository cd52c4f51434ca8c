/*
 * walk_scope.h - what names mean at one place of a query; shared by the files of the query walk
 * only.
 *
 * A `scope` is one query level, an `item` one entry of its FROM clause as names reach it. The rules
 * are the server's: who is visible to whom decides which relation a name reads, so nothing here may
 * be more generous than parse analysis is. All of it lives in walk->arena; texts may point into the
 * tree.
 */
#ifndef PGWICKET_PARSER_WALK_SCOPE_H
#define PGWICKET_PARSER_WALK_SCOPE_H

#include "parser/walk_path.h"
#include "proxy/base/limits.h"

struct item;

/* A column as it can be named. */
struct item_column {
    struct text name;
    struct item *base; /* the relation whose column it is; NULL: made by a query or function,
                          what it reads has been counted where it was made */
    const struct column *column; /* of base->relation */
    uint32_t type;               /* pg_type.oid, 0 unknown */
    bool literal;                /* text, but to another arm of a set operation still a literal */
    struct item *row;            /* its fields, where it is known to be a row */
    struct item *owner;          /* of a join's column: the entry below that has it; NULL: merged */
};

enum { NO_ACTION = -1 };

struct item_list {
    struct item **items;
    size_t count, capacity;
};

struct item {
    struct text name; /* empty: it cannot be named */
    bool relation_visible;
    bool columns_visible;
    bool lateral_only; /* for now, only LATERAL may see it */
    bool aliased;

    bool is_relation;
    struct object object;
    const struct relation *relation;
    bool unresolved, may_differ; /* as of struct named */
    int location;
    long action; /* index of its select action */

    struct item_column *columns;
    size_t column_count;
    bool columns_known; /* false: it may have columns that are not in the list */
    bool listed;        /* the list is that of the relation, if it is the one that is meant */
    bool renamed;       /* an alias list renames columns of an unknown relation */

    int level; /* of the scope whose FROM has it */

    struct item *left, *right; /* of a join */
    bool inner_join;           /* a join that keeps no unmatched rows */
    struct item_list inside;   /* of a sub-query: what its own FROM reads */
    bool cut;                  /* made of few rows by WHERE, LIMIT or VALUES */
};

/* What one ColumnRef turned out to be. */
struct resolution {
    struct item *item;
    const struct item_column *column; /* NULL: a whole row or a system column */
    bool whole_row;
    bool system;
    bool output;  /* in ORDER BY or GROUP BY: another name for a target, which was walked as such */
    bool unclear; /* several could be meant, or none is known */
};

enum cte_state { CTE_WAITING = 0, CTE_WALKING, CTE_DONE };

struct cte {
    struct text name;
    CommonTableExpr *tree;
    enum cte_state state;
    struct scope *scope; /* the level that its WITH belongs to */
    struct item *shape;  /* columns; NULL until they are known */
    struct cte *next;    /* older ones of the same level */
};

struct scope {
    struct scope *outer;
    int level;                /* how many are outside */
    struct item_list items;   /* what names reach */
    struct item_list sources; /* all relations and sub-queries of FROM, hidden ones too */
    bool lateral_active;
    Node **quals; /* ON conditions that hold for every row, as WHERE does */
    size_t qual_count, qual_capacity;
    struct cte *ctes;
};

/* What a query gives: its columns, and whether its rows are cut (see item.cut). */
struct query_result {
    struct item *columns; /* its `cut` says the same */
    struct item_list sources;
    bool cut;
};

/* --- walk_scope.c --------------------------------------------------------------------------- */

void scope_init(struct scope *scope, struct scope *outer);
void item_list_add(struct walk *walk, struct item_list *list, struct item *item);
struct item *item_new(struct walk *walk, struct text name);
struct item_column *item_add_column(struct walk *walk, struct item *item, struct text name);

/* A relation's columns as they are before any alias list. */
struct item *item_of_relation(struct walk *walk, const struct named *named, struct text name,
                              int location);

/* The fields of a composite type; NULL if it is none. */
struct item *item_of_row_type(struct walk *walk, uint32_t type);

/* Renames the leading columns (List of String). */
void item_rename_columns(struct walk *walk, struct item *item, List *names);

struct item_column *item_column_named(const struct item *item, struct text name);

/* Counts name comparisons; false, and the walk failed, beyond LIMIT_NAME_COMPARISONS or with more
 * than LIMIT_ANALYSIS_BYTES of memory taken. */
MUST_USE bool walk_spend(struct walk *walk, size_t comparisons);

bool item_is_visible(const struct scope *scope, const struct item *item);

/* The item that `name` or `schema.name` means here or further out; NULL if there is none. */
struct item *scope_find_item(struct walk *walk, struct scope *scope, struct text schema,
                             struct text name);
struct cte *scope_find_cte(struct walk *walk, struct scope *scope, struct text name);

struct resolution *scope_resolution(struct walk *walk, const ColumnRef *reference);

/* What the walk remembers having met; see walk_seen. A tree node is an owner by its address. */
enum seen_kind {
    SEEN_COLUMN = 0,    /* of an action */
    SEEN_VIEW_RELATION, /* behind the view of an action */
    SEEN_VIEW_FUNCTION,
    SEEN_READ,     /* select action, by part */
    SEEN_CALL,     /* call action */
    SEEN_FUNCTION, /* in the list for the audit log */
    SEEN_TYPE,
    SEEN_VIEW_WRITE, /* relation that a write to a view or its lock reaches */
    SEEN_AMBIGUOUS,  /* object that a name means, or others */
    SEEN_CANDIDATE,  /* action on one of the others */
    SEEN_PARAMETER,
    SEEN_KINDS = 16,
};

static inline uintptr_t seen_owner(enum seen_kind kind, size_t index)
{
    return (uintptr_t)kind + SEEN_KINDS * (uintptr_t)index;
}

/*
 * A set of (owner, first, second) with a number for each; *fresh says whether it was just put in.
 * What a hostile statement repeats a hundred thousand times is looked up here, not searched.
 */
uintptr_t *walk_seen(struct walk *walk, uintptr_t owner, struct text first, struct text second,
                     bool *fresh);

/* --- walk_read.c ---------------------------------------------------------------------------- */

/* The relation is read, if no column of it. */
void read_relation(struct walk *walk, struct item *item);
void read_column(struct walk *walk, struct item *item, struct text name);
void read_item_column(struct walk *walk, const struct item_column *column);

/* Every column, of each relation below a join too; `why` says how for messages. */
void read_every_column(struct walk *walk, struct item *item, struct text why);

/* Any column of every relation visible from here: a name that nothing explains. */
void read_unknown_column(struct walk *walk, struct scope *scope, struct text name);

/* What a view's definition reads and calls, as parts of the view's own action. */
void read_view(struct walk *walk, const struct relation *view, size_t action);

/* Adds a column of a relation behind a view, as view_source has it, to the action on that relation. */
void view_column(struct walk *walk, size_t action, const struct relation *relation, int16_t number);

void action_add_column(struct walk *walk, size_t action, struct text name);
bool relation_is_builtin(const struct relation *relation);
bool relation_is_view(const struct relation *relation);

/* --- walk_column.c -------------------------------------------------------------------------- */

void column_reference(struct walk *walk, struct scope *scope, ColumnRef *reference);
void indirection(struct walk *walk, struct scope *scope, A_Indirection *tree);

/* A column of the item itself: of both sides of USING. */
void read_named_column(struct walk *walk, struct item *item, struct text name);

/* `*` and `t.*` in a target list: reads them and appends their columns to `out`. */
void expand_star(struct walk *walk, struct scope *scope, ColumnRef *reference, struct item *out);
bool is_star(Node *node);

/* --- walk_name.c ---------------------------------------------------------------------------- */

/* The fields of what an expression gives, where it is surely a row; walk the expression first. */
struct item *row_of_expression(struct walk *walk, Node *node);

/* The type of what an expression gives, 0 where it is not sure; walk the expression first. */
uint32_t type_of_expression(struct walk *walk, Node *node);

/* The columns of a sub-query that was walked; NULL if it was not. */
const struct item *sublink_columns(struct walk *walk, SubLink *link);

/* The column name that the server gives to an unlabelled target. */
struct text name_of_expression(Node *node);

/* --- walk_expression.c ---------------------------------------------------------------------- */

void expression(struct walk *walk, struct scope *scope, Node *node);
void expressions(struct walk *walk, struct scope *scope, List *nodes);

/* A value that the server makes one of this type, as it does for a column: conditions, LIMIT,
 * subscripts. */
void value_for(struct walk *walk, struct scope *scope, Node *node, uint32_t type);
void condition(struct walk *walk, struct scope *scope, Node *node);

/* x[…] of a value of the type `container`. */
void subscripts(struct walk *walk, struct scope *scope, A_Indices *tree, uint32_t container);

/* SET (a, b, …) = (…): the source hangs on each column; only the first one's counts. */
bool is_repeated_source(Node *node);

void sort_clause(struct walk *walk, struct scope *scope, List *sorts, const struct item *outputs);
void window_definition(struct walk *walk, struct scope *scope, WindowDef *window);

/* GROUP BY: a bare name means a column first, then an output column. */
void group_clause(struct walk *walk, struct scope *scope, List *groups, const struct item *outputs);

/* --- walk_function.c ------------------------------------------------------------------------ */

void function_call(struct walk *walk, struct scope *scope, FuncCall *call);

/* row.name as the server reads it when it is no field: name(row). `certain`: it is surely no field.
 * True if there is such a function that takes whole rows. */
bool attribute_call(struct walk *walk, struct text name, bool certain, int location);

/* Adds a `call` (once for each object); returns its index. */
size_t call_action(struct walk *walk, struct object object, struct text reason, int location);
void call_user_function(struct walk *walk, const struct function *function, int location);
void call_function_oid(struct walk *walk, uint32_t oid, int location);

/* Is it searched for functions and operators? */
bool schema_is_searched(struct walk *walk, struct text schema);

/* `call` on each function or operator of this name that the agent could have made in a schema of the
 * path; how many. The same for types, which are looked for in its first `schemas` only. */
size_t call_what_may_be(struct walk *walk, struct text name, int location);
size_t call_types_that_may_be(struct walk *walk, struct text name, size_t schemas, int location);

/* A constant string under casts; false for anything else, NULL included. */
bool constant_string(Node *node, struct text *value);

/* --- walk_sequence.c ------------------------------------------------------------------------ */

/* Built-ins that are judged by what their constant arguments name; true if it was one of them and
 * nothing else needs to be said about it. */
bool function_by_argument(struct walk *walk, struct scope *scope, struct text name, List *arguments,
                          int location);

/* True if the query only reads a setting that SHOW may show, of pg_settings by its constant name; it is
 * then a SHOW. */
bool select_is_show(struct walk *walk, SelectStmt *tree);

/* --- walk_argument.c ------------------------------------------------------------------------ */

/* What an argument is to the choice of a function or operator: the oid of its type, or one of the first
 * two. */
enum {
    TYPE_UNSURE = 0,    /* any type */
    TYPE_LITERAL = 705, /* 'x' or NULL: becomes what is wanted */
    TYPE_BOOL = 16,
    TYPE_NAME = 19,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_XML = 142,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_DATE = 1082,
    TYPE_TIMESTAMPTZ = 1184,
    TYPE_INTERVAL = 1186,
    TYPE_BIT = 1560,
    TYPE_NUMERIC = 1700,
};

/* Walk the expression first: what was not walked is unsure. */
uint32_t type_of_argument(struct walk *walk, Node *node);

/* What two values become together, as the arms of UNION; either may be TYPE_LITERAL. */
uint32_t type_in_common(const struct walk *walk, uint32_t first, uint32_t second);

/* Of one column of VALUES. */
uint32_t type_of_values(struct walk *walk, List *rows, int column);

/* Of what stands in ANY (…). */
uint32_t type_of_elements(struct walk *walk, Node *array);

/* --- walk_reach.c --------------------------------------------------------------------------- */

/* Pseudo-types of parameters, by oid. */
enum {
    TYPE_RECORD = 2249,
    TYPE_ANY = 2276,
    TYPE_ANYARRAY = 2277,
    TYPE_ANYELEMENT = 2283,
    TYPE_RECORDARRAY = 2287,
    TYPE_ANYNONARRAY = 2776,
    TYPE_ANYENUM = 3500,
    TYPE_ANYRANGE = 3831,
    TYPE_ANYMULTIRANGE = 4537,
    TYPE_ANYCOMPATIBLEMULTIRANGE = 4538,
    TYPE_ANYCOMPATIBLE = 5077,
    TYPE_ANYCOMPATIBLEARRAY = 5078,
    TYPE_ANYCOMPATIBLENONARRAY = 5079,
    TYPE_ANYCOMPATIBLERANGE = 5080,
};

struct argument_types {
    bool known; /* false: neither types nor places */
    uint32_t *types;
    size_t count;
};

struct operand_types {
    bool prefix; /* there is only a right operand */
    uint32_t left, right;
};

/* Does a value of one type become the other by itself? */
enum fit { FITS_NOT = 0, FITS_PERHAPS, FITS };

enum fit type_fits(const struct catalog *catalog, uint32_t from, uint32_t to);
enum fit type_fits_pseudo(uint32_t pseudo, const struct type *from);

/* What a domain is over in the end, else the type itself; NULL: not in the catalog. */
const struct type *type_without_domains(const struct catalog *catalog, uint32_t oid);

/* May `name(value)` be a field of the value? */
bool type_may_have_fields(const struct catalog *catalog, uint32_t oid);

/* May the agent make or alter what casts and overloads are looked for in? Then only what is found by its
 * exact types is sure. */
bool overloads_may_change(const struct walk *walk);

/* Is pg_catalog searched before what users made? */
bool builtins_are_first(struct walk *walk);

struct argument_types argument_types_of(struct walk *walk, const FuncCall *call);

/* Could the server choose this function or operator of a user for such arguments? Ask first which it
 * chooses. */
bool function_is_reached(struct walk *walk, const struct function *function,
                         const struct argument_types *types);
/* Of which type an argument of a call is wanted; the last parameter may be VARIADIC. */
uint32_t type_of_parameter_at(const struct walk *walk, const struct function *function, size_t at);

bool operator_is_reached(struct walk *walk, const struct operator *op,
                         const struct operand_types *types);

/* The same of what the agent cannot change. */
bool function_fits(struct walk *walk, const struct function *function,
                   const struct argument_types *types);
bool operator_fits(struct walk *walk, const struct operator *op, const struct operand_types *types);

/* What a call gives; TYPE_UNSURE where that is not sure. `may_be_field`: it has the form f(row), which is
 * row.f where there is no such function for the row. */
uint32_t result_of_function(struct walk *walk, struct text schema, struct text name,
                            const struct argument_types *types, bool may_be_field);
uint32_t result_of_operator(struct walk *walk, struct text schema, struct text name,
                            const struct operand_types *types);

/* --- walk_choice.c -------------------------------------------------------------------------- */

/* One of the functions or operators of a name. */
struct overload {
    const uint32_t *types; /* of its parameters, one for each argument */
    uint32_t result;
    uint32_t function; /* pg_proc.oid */
    size_t place;      /* of its schema on the path */
    bool of_user;
    enum fit fit;
};

/* Is it one of ANYCOMPATIBLE's family? */
bool type_is_polymorphic(uint32_t type);
bool type_is_compatible(uint32_t pseudo);

/* The one that the server chooses for arguments of such types; false: it is not sure, or it refuses.
 * `schema`: as it is written, or empty. */
bool function_chosen(struct walk *walk, struct text schema, struct text name,
                     const struct argument_types *types, struct overload *out);
bool operator_chosen(struct walk *walk, struct text schema, struct text name,
                     const struct operand_types *types, struct overload *out);

/* --- walk_operator.c ------------------------------------------------------------------------ */

/* Values that an operator is applied to. */
struct operands {
    struct operand_types types;
    uint32_t left_value, right_value; /* the same for casts: TYPE_LITERAL where none can be meant */
    bool chosen;        /* it is sure by which operator: */
    struct overload by;
};

struct operand_list {
    struct operands *items; /* none: of any type */
    size_t count, capacity;
};

/* The operators of an expression, of a sub-query's comparison, of CASE value WHEN …: after what they
 * are applied to was walked. */
void operators_of_expression(struct walk *walk, A_Expr *tree);
void operators_of_sublink(struct walk *walk, SubLink *tree);
void operators_of_case(struct walk *walk, CaseExpr *tree);

/* Any operator by its name, on whatever. */
void operator_use(struct walk *walk, List *name, int location);

/* The `=` of USING. */
void operator_joins(struct walk *walk, uint32_t left, uint32_t right);

/* Could an operator outside pg_catalog hide behind the unqualified name? */
bool expression_is_shadowed(struct walk *walk, A_Expr *tree);
bool sublink_is_shadowed(struct walk *walk, SubLink *tree);
bool operator_is_shadowed(struct walk *walk, const char *name, uint32_t left, uint32_t right);

/* --- walk_type.c ---------------------------------------------------------------------------- */

/* What making a value of this type runs. */
void type_use(struct walk *walk, const struct type *type, int location);

/* The same for each type that the name can mean; false if it means none. */
bool types_use(struct walk *walk, struct text schema, struct text name, int location);

/* The type that the name surely means; NULL if it is not sure. */
const struct type *type_of_name(struct walk *walk, TypeName *name);

/* The same of a name with or without a schema. */
const struct type *type_named(struct walk *walk, struct text schema, struct text name);

/* The element type where an array of it is written; else the type itself. */
const struct type *element_of_name(struct walk *walk, TypeName *name);

/* Could the unqualified name be one of a type? */
bool type_has_name(struct walk *walk, struct text name);

/* A type's name in an expression; walk_type, for all others, adds the casts to it. */
void type_written(struct walk *walk, TypeName *name);

/* --- walk_cast.c ---------------------------------------------------------------------------- */

/* Where a value becomes another type: as an argument or operand; as a column's new value; by CAST. */
enum cast_context { CAST_IMPLICIT, CAST_ASSIGNMENT, CAST_EXPLICIT };

void type_cast(struct walk *walk, struct scope *scope, TypeCast *cast);

/* Calls what casts of users would run. TYPE_UNSURE is any type. */
void casts_between(struct walk *walk, uint32_t from, uint32_t to, enum cast_context where,
                   int location);

/* The same for a value that was walked; fields of rows as they are written become those of `to`. */
void casts_of_value(struct walk *walk, Node *node, uint32_t to, enum cast_context where,
                    int location);

/* A value where any other type may be wanted: every implicit cast from it. */
void value_use(struct walk *walk, Node *node);
void casts_of_values(struct walk *walk, uint32_t type, int location);

/* Does anybody's code run where a value becomes another type, or is read as one? */
bool has_casts(const struct walk *walk);

/* The checks of a type that a literal, or a parameter of no declared type, is read as beside a value of this one; or,
 * as it is, that a column of the agent's own table will have. */
void checks_of_type(struct walk *walk, uint32_t type, bool as_it_is, int location);
bool is_user_type(const struct catalog *catalog, uint32_t oid);

/* The walk goes on with what a relation, a call or a type of a user may give: whole rows of which somebody
 * made a cast are told by their reference. */
void relation_met(struct walk *walk, const struct named *named);

/* The type of a value as far as casts go; TYPE_LITERAL: it has none until it is used, or nobody has made
 * casts of it. */
uint32_t type_of_value(struct walk *walk, Node *node);

/* An argument of a user's function that takes values of type `to`. */
void casts_of_argument(struct walk *walk, Node *node, uint32_t to, int location);

/* Casts to a built-in type that something may run unseen, of arguments of `types` (NULL: of any). */
void casts_to(struct walk *walk, const char *name, const uint32_t *types, size_t type_count,
              int location);

/* A value that a column, a field or an element of the type is assigned. */
void value_assignment(struct walk *walk, Node *value, uint32_t type, int location);

/* --- walk_common.c -------------------------------------------------------------------------- */

/* Values that may become one type, as those of COALESCE or both sides of an operator: implicit casts to
 * the users' types among theirs, and what literals among them are read as. */
void casts_in_common(struct walk *walk, uint32_t first, uint32_t second, int location);
void casts_of_choice(struct walk *walk, List *nodes, int location);
void casts_of_case(struct walk *walk, CaseExpr *tree);
void casts_of_expression(struct walk *walk, A_Expr *tree);
void casts_of_sublink(struct walk *walk, SubLink *tree);
void casts_of_rows(struct walk *walk, List *rows);

/* The same for a call of what takes values of any one type. */
void casts_of_call(struct walk *walk, const FuncCall *call);

/* --- walk_from.c ---------------------------------------------------------------------------- */

void from_clause(struct walk *walk, struct scope *scope, List *from);

/* --- walk_query.c --------------------------------------------------------------------------- */

/* Any of the five queries below `outer` (which may be NULL). */
struct query_result query(struct walk *walk, struct scope *outer, Node *tree, struct cte *self);
void with_clause(struct walk *walk, struct scope *scope, WithClause *with);
void cte_walk(struct walk *walk, struct cte *cte);
void target_list(struct walk *walk, struct scope *scope, List *targets, struct item *out);

/* --- walk_write.c --------------------------------------------------------------------------- */

struct query_result write_query(struct walk *walk, struct scope *outer, Node *tree);

/* --- walk_rows.c ---------------------------------------------------------------------------- */

/* How many rows a query can give at most, from its text alone; ROWS_UNPROVEN if it cannot be told.
 */
int64_t rows_of_query(struct walk *walk, Node *tree);

/* --- walk_where.c, walk_key.c --------------------------------------------------------------- */

/* How strong a WHERE is for the item that is written: sets where, where_why and rows_max of its
 * action (before foreign keys are looked at). */
void where_strength(struct walk *walk, struct scope *scope, struct item *target, Node *where,
                    size_t action);

/* Does WHERE or its joins cut the rows that this SELECT's FROM gives? */
bool where_cuts(struct walk *walk, struct scope *scope, Node *where);

/* The rows that the terms prove by a key: true, and *rows. */
bool key_proves(struct walk *walk, const struct item *target, Node *const *terms, size_t count,
                int64_t *rows);

/* --- walk_telling.c ------------------------------------------------------------------------- */

/* Of what a column is compared with (no column in it): does it say anything? A pattern of LIKE, a container, a
 * text search query; a regular expression. */
bool is_telling_value(Node *node);
bool is_telling_regex(Node *node);

/* Built-in functions that keep what a comparison tells apart, or nearly so; those that are conditions on
 * their first argument; those that are never below 0. */
bool is_telling_function(const FuncCall *call);
bool is_telling_predicate(const FuncCall *call);
bool is_size_function(const FuncCall *call);

/* An integer as written, with its sign. */
bool constant_integer(Node *node, int64_t *value);

/* Is the node a constant or parameter, under casts? */
bool is_constant(Node *node);

/* FALSE or NULL, under casts: an OR loses nothing without it. */
bool is_never_true(Node *node);

#endif

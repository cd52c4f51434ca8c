/*
 * walk.h - the walk from raw parse tree to shape; internal to parser/.
 *
 * One `struct walk` for each statement. Every function adds actions, settings, facts to it, or fails it;
 * after walk_fail the rest of the walk may go on but its result is thrown away. A node kind or an
 * option that a function does not know fails the walk: nothing is skipped silently.
 *
 *   walk.c          failing, adding actions, depth
 *   walk_path.c, walk_candidate.c   what names mean on the search path, and what else they could mean
 *   walk_query.c, walk_from.c, walk_write.c, walk_merge.c   the five queries: scopes, target lists
 *   walk_column.c, walk_name.c, walk_read.c   which column of which relation a name reads
 *   walk_expression.c  every expression node
 *   walk_function.c, walk_sequence.c, walk_operator.c, walk_type.c, walk_cast.c, walk_common.c   what is
 *                   called, however written
 *   walk_argument.c, walk_choice.c, walk_reach.c   of which type arguments are, which overload the
 *                   server takes for them, which they could reach at all
 *   walk_where.c, walk_key.c, walk_rows.c   how strong a WHERE is, how many rows are proven
 *   walk_utility.c  every other statement kind, with the files of walk_utility.h
 */
#ifndef PGWICKET_PARSER_WALK_H
#define PGWICKET_PARSER_WALK_H

#include "parser/analyse.h"
#include "parser/resolve.h"
#include "parser/tree.h"

struct ambiguity;   /* walk_path.h */
struct scope;       /* walk_scope.h: range tables visible at one place, and the scope outside */
struct walk_memory; /* walk_scope.c: what the walk has met */

struct walk {
    struct arena *arena;
    const struct analyse_context *context;

    struct action *actions;
    size_t action_count, action_capacity;
    struct setting_use *settings;
    size_t setting_count, setting_capacity;
    struct text *functions;
    size_t function_count, function_capacity;
    struct resolved_name *resolved; /* relations found, or made, through the search path */
    size_t resolved_count, resolved_capacity;
    struct place_in_list listed;    /* of the name that is walked, where the tree does not say its location */
    const struct text *path; /* schemas in search order; NULL until first used: walk_path.c */
    size_t path_count;
    struct ambiguity *ambiguities; /* names that could mean several objects */
    size_t ambiguity_count, ambiguity_capacity;

    struct shape *shape; /* facts are set here directly */
    int depth;
    bool inside_write;   /* what is read now is read by a write: PART_READ */
    bool unresolved_names;
    bool searched;       /* a name was looked for on the path */
    bool writes;         /* an INSERT, UPDATE, DELETE or MERGE was met */
    bool users_values;   /* a value of a user's type may have been met */
    bool checked_values; /* … of one that catalog_type_is_checked */
    bool parameter_again; /* a parameter of no declared type is used more than once */
    struct walk_memory *memory; /* NULL until first used */

    bool failed;
    enum analyse_result result; /* when failed */
    char sqlstate[6];
    struct text message, detail, hint;
    int location; /* byte offset of the fault, -1 none */
};

/* Fails the walk, first failure wins. `message` without "pgwicket: ". */
void walk_fail(struct walk *walk, enum analyse_result result, const char *sqlstate, int location,
               const char *message, ...) PRINTF_LIKE(5, 6);

/* "not understood": unknown node or option, ANALYSE_REJECTED, 42501. */
void walk_unknown(struct walk *walk, const char *where, int node_tag, int location);

/* Depth guard for every recursive function: walk_enter false (and the walk failed with 54001) beyond
 * LIMIT_STATEMENT_DEPTH; each true walk_enter is paired with walk_leave. */
MUST_USE bool walk_enter(struct walk *walk);
void walk_leave(struct walk *walk);

/* Adds an action and returns it to be filled further; valid until the next one is added.
 * `part` comes from walk->inside_write for selects. */
struct action *walk_add(struct walk *walk, enum verb verb, struct object object, int location);

/* An action on an object of another kind than a relation: "role:bob". */
void walk_add_named(struct walk *walk, enum verb verb, enum object_kind kind, struct text name,
                    int location);

/* One query (SelectStmt, InsertStmt, UpdateStmt, DeleteStmt, MergeStmt), with no outer scope. Adds all
 * its actions. True if it writes (also in a WITH, at any depth). Sets shape.returns_rows. */
bool walk_query(struct walk *walk, Node *query);

/* The same for a query whose columns become those of a table. */
void walk_table_query(struct walk *walk, Node *query);

/* An expression outside a query (SET, EXECUTE arguments, defaults, policies, COPY's WHERE …):
 * functions and sub-queries are judged; `relation` (may be NULL) gives the columns in scope. */
void walk_expression(struct walk *walk, Node *expression, const struct relation *relation);

/* A list of expressions likewise; NULL is fine. */
void walk_expressions(struct walk *walk, List *expressions, const struct relation *relation);

/* A type in a cast, column definition, …: what using a value of it runs (domain checks, input). */
void walk_type(struct walk *walk, TypeName *type);

/* At the end of a statement: a parameter of no declared type has that of its first use, and may be cast
 * elsewhere. */
void walk_parameters(struct walk *walk);

/* A value that is stored as of `type` (0: any): what the cast to it runs. `value` was walked; NULL: it
 * is of the type `from`. */
void walk_assignment(struct walk *walk, Node *value, uint32_t from, uint32_t type);

/* The type that is written, of arrays their element's; 0 where it is not sure. */
uint32_t walk_type_oid(struct walk *walk, TypeName *type);

/* A condition outside a query, as walk_expression. */
void walk_condition(struct walk *walk, Node *expression, const struct relation *relation);

/* A function by name as CREATE TRIGGER, EXECUTE FUNCTION, ALTER … use it: `call` on it. */
void walk_call(struct walk *walk, List *names, int argument_count, int location);

/* What SELECT … INTO, met at any arm of a query, makes: `create` on its table. The query's own actions
 * are added by who walks it. */
void walk_into(struct walk *walk, IntoClause *into);

/* A use of a setting in any spelling, the identity settings included: SET role is `set` on role:VALUE
 * and no setting, a RESET of it nothing. For set_config and current_setting with constants too. */
void walk_setting(struct walk *walk, enum setting_act act, struct text name, struct text value,
                  bool value_unknown, int location);

/* Any statement but the five queries. Sets shape.kind and facts. */
void walk_utility(struct walk *walk, Node *statement);

/* A whole statement: dispatches to the two above, sets shape.kind and shape.summary. */
void walk_statement(struct walk *walk, Node *statement);

/* A String node's or char pointer's text, copied into the arena. */
struct text walk_text(struct walk *walk, const char *string);

#endif

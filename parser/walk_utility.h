/*
 * walk_utility.h - every statement but the five queries: one handler for each kind of node, and
 * what the handlers share. Internal to parser/walk_*.c.
 *
 * A handler adds what its statement would do as actions and settings, and sets facts of the shape
 * that differ from the default (STATEMENT_UTILITY, nothing changed). An option, sub-command or kind
 * of object that it does not list fails the walk.
 */
#ifndef PGWICKET_PARSER_WALK_UTILITY_H
#define PGWICKET_PARSER_WALK_UTILITY_H

#include "parser/walk_path.h"

typedef void walk_handler(struct walk *walk, Node *statement);

/* The handler of this kind of statement; NULL if there is none. */
walk_handler *walk_utility_handler(NodeTag tag);

/* The $n that a statement inside another one declares itself (PREPARE). */
struct own_parameters {
    const uint32_t *types; /* pg_type.oid */
    size_t count;
};

/* Walks a statement inside another one as a statement of its own and adds what it would do to
 * `walk`. `own` is NULL where its $n are those of the outer statement. NULL if it failed. */
const struct shape *walk_inner(struct walk *walk, Node *statement, const struct own_parameters *own);

/* --- walk_object.c: what statements name ------------------------------------------------------ */

/* An object as a statement other than a query names it. */
struct target {
    struct object object;
    const struct relation *relation; /* of relations in the catalog */
    bool unresolved;                 /* there is no such relation */
    bool unknown;                    /* a relation that the catalog does not have */
    bool inside_table; /* it is a part of the object: index, column, constraint, trigger */
    int location;
};

struct target target_none(void);
struct target target_named(enum object_kind kind, struct text name);
struct target target_relation(struct walk *walk, RangeVar *range);
struct target target_new_relation(struct walk *walk, RangeVar *range);
struct target target_new_names(struct walk *walk,
                               List *names); /* without schema: as walk_new_object */
struct target target_names(struct walk *walk, List *names);
struct target target_routine(struct walk *walk, ObjectWithArgs *routine);

/* Everything in a schema: only a pattern that covers the whole schema matches it. */
struct target target_schema_contents(struct walk *walk, const char *schema);

/* An object of a type that has several forms in the tree: RangeVar, names, type name, signature. */
struct target target_of(struct walk *walk, ObjectType type, Node *object, RangeVar *range);

struct action *act(struct walk *walk, enum verb verb, const struct target *target);
struct action *act_on_none(struct walk *walk, enum verb verb);

/* Locks no table, but for extensions, whose scripts may do anything, and what is not in the list there. */
void act_on_kind(struct walk *walk, enum verb verb, enum object_kind kind, const char *name);
struct text role_name(struct walk *walk, RoleSpec *role);
void act_on_role(struct walk *walk, enum verb verb, RoleSpec *role); /* NULL: nothing */
void act_on_roles(struct walk *walk, enum verb verb, List *roles);
void act_on_relations(struct walk *walk, enum verb verb, List *ranges, enum table_lock lock);

/* The text of a String node; fails the walk for anything else. */
const char *string_of(struct walk *walk, Node *node);
bool strings_only(struct walk *walk, List *list); /* fails the walk if not */

/* A type that is only named, so that no value of it is made. */
void type_mention(struct walk *walk, TypeName *type);
void type_mentions(struct walk *walk, List *types); /* TypeName, or NULL for NONE */

/* `call` on a function that is named without arguments; NIL is fine. */
void call_named(struct walk *walk, List *names, int argument_count);
void call_routine(struct walk *walk, ObjectWithArgs *routine); /* NULL is fine */
void operator_mention(struct walk *walk, List *names);

/* A name of a prepared statement, cursor or savepoint; fails the walk if it is reserved. */
struct text session_name(struct walk *walk, const char *name, const char *what);

/* Adds bits of CHANGES_*. */
void changes(struct walk *walk, unsigned bits);

/* --- walk_lock.c: table locks ------------------------------------------------------------------ */

enum table_lock stronger_lock(enum table_lock a, enum table_lock b);

/* What ALTER TABLE and its kin take on the relation that they name. */
enum table_lock lock_of_alterations(List *commands, const struct relation *relation);

/* LOCK TABLE's mode, as the grammar numbers it. */
enum table_lock lock_of_mode(int mode);

/* --- walk_option.c: lists of options ---------------------------------------------------------- */

/* Each option must be in `names` (ends with NULL) and have a value that runs nothing. `statement`
 * is for the message. */
void options_known(struct walk *walk, List *options, const char *const *names,
                   const char *statement);
void option_unknown(struct walk *walk, const DefElem *option, const char *statement);

/* WITH (…) of tables, indexes, views; toast.name too. */
void storage_options(struct walk *walk, List *options);

/* OPTIONS (…) of foreign objects and other lists whose names are free: constants only. */
void free_options(struct walk *walk, List *options);
void sequence_options(struct walk *walk, List *options);

/* The value as PostgreSQL's defGetBoolean reads it; fails the walk where that would. */
bool option_boolean(struct walk *walk, const DefElem *option);

/* The last option of this name that is in the list, NULL if none is. */
const DefElem *option_last(List *options, const char *name);
bool option_is_on(struct walk *walk, List *options, const char *name);

/* --- walk_table.c: parts of tables ------------------------------------------------------------ */

/* A relation as a statement is about to make or change it: what its expressions may name. Lives in
 * the arena until walk_utility takes it out of the actions. */
struct draft {
    struct relation relation;
    bool unknown; /* of a table that the catalog does not have: nothing can be resolved */
    bool unresolved; /* … and that there is not */
    struct column *columns;
    size_t count, capacity;
    size_t work; /* columns that its expressions had to be resolved against */
};

struct draft *draft_new(struct walk *walk, const struct target *target);
void draft_add_column(struct walk *walk, struct draft *draft, const char *name, TypeName *type);

/* An expression over the draft. Reading a relation that does not exist yet is no action; reading
 * one that does is a select on behalf of a change (PART_READ). */
void draft_expression(struct walk *walk, struct draft *draft, Node *expression);

/* The same for CHECK, a predicate, a policy. */
void draft_condition(struct walk *walk, struct draft *draft, Node *expression);

void column_definition(struct walk *walk, struct draft *draft, ColumnDef *column);
void table_constraint(struct walk *walk, struct draft *draft, Constraint *constraint);
/* The values of FOR VALUES; the columns of `parent` are those of the key, and others. */
void partition_bound(struct walk *walk, const struct draft *parent, PartitionBoundSpec *bound);

/* DEFAULT and GENERATED give values of the type of what is defined. */
void stored_by_default(struct walk *walk, TypeName *type, const Constraint *constraint);
void index_elements(struct walk *walk, struct draft *draft, List *elements);
void create_relation(struct walk *walk, CreateStmt *statement, bool is_code);

/* --- SET in other statements: walk_setting.c -------------------------------------------------- */

/* ALTER ROLE/DATABASE/SYSTEM … SET: judged as SET; RESET is `set` on setting:NAME. */
void setting_stored(struct walk *walk, VariableSetStmt *set);

/* A routine's own SET, likewise, but for search_path: its body is opaque anyway, and a path of its own
 * makes it safer. */
void setting_of_routine(struct walk *walk, VariableSetStmt *set);

/* BEGIN's and SET TRANSACTION's modes. `prefix` is "" or "default_". */
void transaction_modes(struct walk *walk, List *modes, const char *prefix);

/* --- one handler for each kind of statement ----------------------------------------------------
 */

walk_handler walk_alter_collation, walk_alter_database, walk_alter_database_collation,
    walk_alter_database_set, walk_alter_default_privileges, walk_alter_depends, walk_alter_domain,
    walk_alter_enum, walk_alter_event_trigger, walk_alter_extension, walk_alter_extension_contents,
    walk_alter_fdw, walk_alter_function, walk_alter_operator, walk_alter_operator_family,
    walk_alter_owner, walk_alter_policy, walk_alter_publication, walk_alter_role,
    walk_alter_role_set, walk_alter_schema, walk_alter_sequence, walk_alter_server,
    walk_alter_statistics, walk_alter_subscription, walk_alter_system, walk_alter_table,
    walk_alter_tablespace, walk_alter_text_search_configuration, walk_alter_text_search_dictionary,
    walk_alter_type, walk_alter_user_mapping, walk_call_statement, walk_checkpoint, walk_close,
    walk_cluster, walk_comment, walk_copy, walk_create_access_method, walk_create_cast,
    walk_create_composite_type, walk_create_conversion, walk_create_database, walk_create_domain,
    walk_create_enum, walk_create_event_trigger, walk_create_extension, walk_create_fdw,
    walk_create_foreign_table, walk_create_function, walk_create_index, walk_create_language,
    walk_create_operator_class, walk_create_operator_family, walk_create_policy,
    walk_create_publication, walk_create_range, walk_create_role, walk_create_rule,
    walk_create_schema, walk_create_sequence, walk_create_server, walk_create_statistics,
    walk_create_subscription, walk_create_table, walk_create_table_as, walk_create_tablespace,
    walk_create_transform, walk_create_trigger, walk_create_user_mapping, walk_create_view,
    walk_deallocate, walk_declare, walk_define, walk_discard, walk_do, walk_drop,
    walk_drop_database, walk_drop_owned, walk_drop_role, walk_drop_subscription,
    walk_drop_tablespace, walk_drop_user_mapping, walk_execute, walk_explain, walk_fetch,
    walk_grant, walk_grant_role, walk_import_foreign_schema, walk_listen, walk_load, walk_lock,
    walk_move_all, walk_notify, walk_prepare, walk_reassign_owned, walk_refresh, walk_reindex,
    walk_rename, walk_security_label, walk_set, walk_set_constraints, walk_show, walk_transaction,
    walk_truncate, walk_unlisten, walk_vacuum;

#endif

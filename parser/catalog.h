/*
 * catalog.h - what pgwicket knows of one database: an immutable snapshot of its catalog.
 *
 * Built once (by upstream/catalog_load, or by a test) through catalog_new, the catalog_add_*
 * functions and catalog_seal; after catalog_seal it never changes, may be read by many threads, and
 * lives until the last catalog_release. All texts and pointers in it live as long as it does.
 *
 * It holds every schema, pg_catalog and information_schema included. Names are as the server stores
 * them (decoded, folded, unquoted).
 */
#ifndef PGWICKET_PARSER_CATALOG_H
#define PGWICKET_PARSER_CATALOG_H

#include "proxy/base/arena.h"
#include "proxy/base/clock.h"
#include "proxy/base/text.h"

struct catalog;

struct column {
    struct text name;
    int16_t number;    /* attnum, > 0 and ascending; dropped columns are left out */
    uint32_t type;     /* pg_type.oid */
    bool not_null;
    bool generated;    /* GENERATED ALWAYS AS (…) */
    bool identity;
};

/* A unique index that can prove how many rows match: valid, immediate, not partial, on plain columns
 * with their types' default operator class and collation. */
struct key {
    struct text name;
    bool primary;
    const int16_t *columns; /* attnums */
    size_t column_count;
};

/* One foreign key that points at the relation which carries it in `referenced_by`. Actions are
 * pg_constraint's letters: a no action, r restrict, c cascade, n set null, d set default. */
struct foreign_key {
    struct text name;
    uint32_t child; /* the referencing relation's oid */
    char on_delete;
    char on_update;
    const int16_t *parent_columns;
    const int16_t *child_columns;
    size_t column_count;
};

/* What a view's definition reads of one relation. */
struct view_source {
    uint32_t relation;
    int16_t column; /* attnum (a system column's is negative), or one of the two below */
};

enum {
    VIEW_SOURCE_EVERY_COLUMN = 0,       /* a whole-row reference, or more than the server tells */
    VIEW_SOURCE_ROWS_ONLY = INT16_MIN,  /* mentioned without any column, as in count(*) */
};

/* How a relation is used, which decides what the server runs then, unseen by the statement. */
enum relation_use {
    USE_READ,   /* views, policies */
    USE_DELETE, /* rows go: DELETE, TRUNCATE */
    USE_STORE,  /* rows come or change: INSERT, UPDATE */
    USE_COUNT
};

struct relation {
    uint32_t oid;
    struct text schema;
    struct text name;
    char kind;          /* pg_class.relkind: r p v m f S i I t c */
    char persistence;   /* p u t */
    bool is_partition;
    bool has_default_partition;
    bool key_by_expression; /* the key of its partitions has parts that are no columns */
    bool has_children;  /* inheritance children or partitions */
    bool has_rules;     /* rules other than a view's own ON SELECT */
    bool has_triggers;  /* user triggers of any kind */
    bool row_security;
    double rows;        /* reltuples; < 0 where never analysed */
    uint32_t table;     /* of an index: the relation it is on; else 0 */
    const struct column *columns;
    size_t column_count;
    const struct key *keys;
    size_t key_count;
    const int16_t *indexed; /* attnums of the columns that some index begins with; for hints only */
    size_t indexed_count;
    const struct foreign_key *referenced_by;
    size_t referenced_by_count;
    const uint32_t *parents; /* inheritance parents, or the partitioned table */
    size_t parent_count;
    const struct view_source *sources; /* of a view or materialized view: its ON SELECT rule's */
    size_t source_count;
    const uint32_t *functions; /* functions outside pg_catalog that a view's definition calls */
    size_t function_count;
    const uint32_t *expression_functions; /* the same of its defaults, generated columns, checks and indexes */
    size_t expression_function_count;

    /* What such a use runs and a rollback might not undo: the code of its triggers, rules, defaults,
     * checks, domains, indexes and policies, of the tables reached through its foreign keys, and of what
     * all that calls and uses. Empty: nothing; else why, "shop.note() is written in c". */
    struct text not_undone[USE_COUNT];

    /* Such a use runs code that may leave the session's settings, role or objects other than they were. */
    bool moves_session[USE_COUNT];
    bool moves_custom[USE_COUNT]; /* … other settings than PostgreSQL's own: names with a dot */

    /* Such a use may run code that sends notifications, which are delivered when it commits. */
    bool notifies[USE_COUNT];
};

struct function {
    uint32_t oid;
    struct text schema;
    struct text name;
    char kind; /* pg_proc.prokind: f p a w */
    uint16_t argument_count;
    uint16_t arguments_required; /* without those that have defaults */
    bool variadic;
    const uint32_t *argument_types;
    uint32_t result_type;
    bool returns_set;
};

struct type {
    uint32_t oid;
    struct text schema;
    struct text name;
    char kind;          /* pg_type.typtype: b c d e r m p */
    uint32_t base;      /* domain: typbasetype; array: its element (typelem); (multi)range: its subtype */
    bool is_array;
    uint32_t array;     /* arrays of it; 0 none */
    uint32_t relation;  /* composite: typrelid */
    const uint32_t *check_functions; /* domain: functions outside pg_catalog in its checks */
    size_t check_function_count;
    bool user_input;    /* base type whose input function is outside pg_catalog */
    char category;      /* pg_type.typcategory */
    bool preferred;     /* in its category */
};

struct operator {
    uint32_t oid;
    struct text schema;
    struct text name;
    uint32_t function;
    uint32_t left; /* 0: a prefix operator */
    uint32_t right;
    uint32_t result;
};

struct cast {
    uint32_t source;
    uint32_t target;
    uint32_t function; /* outside pg_catalog; 0: it runs none such */
    char context;      /* pg_cast.castcontext: i wherever the target is wanted, a where a value is stored
                        * too, e only where it is asked for */
};

/* What runs whenever objects are changed: the functions of event triggers that are not disabled. */
struct event_code {
    const uint32_t *functions;
    size_t function_count;
    struct text not_undone; /* as in struct relation */
    bool moves_session;
    bool moves_custom;
};

/* --- building ------------------------------------------------------------------------------- */

struct catalog *catalog_new(void);

/* Memory for what the added structs point at. */
/* A role that the login is or may become, and a schema on which it has no USAGE: the server passes over that schema
 * where it looks for names. */
struct closed_schema {
    struct text schema;
    struct text role;
    bool of_login; /* the role is the login itself */
};

struct arena *catalog_arena(struct catalog *catalog);

/* Each copies the struct; what it points at must live in catalog_arena or for ever. */
void catalog_add_schema(struct catalog *catalog, struct text name);
void catalog_add_closed_schema(struct catalog *catalog, const struct closed_schema *closed);
void catalog_add_relation(struct catalog *catalog, const struct relation *relation);
void catalog_add_function(struct catalog *catalog, const struct function *function);
void catalog_add_type(struct catalog *catalog, const struct type *type);
void catalog_add_operator(struct catalog *catalog, const struct operator *op);
void catalog_add_cast(struct catalog *catalog, const struct cast *cast);
void catalog_set_event_code(struct catalog *catalog, const struct event_code *code);

/* Sorts and indexes; from now on only the functions below. `taken` is when it was read. */
void catalog_seal(struct catalog *catalog, struct instant taken, int server_version);

/* Reference counting, safe between threads. catalog_new starts with one reference. */
struct catalog *catalog_retain(struct catalog *catalog);
void catalog_release(struct catalog *catalog); /* NULL is fine */

/* --- look-ups (sealed catalogs only) --------------------------------------------------------- */

struct instant catalog_taken(const struct catalog *catalog);
int catalog_server_version(const struct catalog *catalog); /* as server_version_num, 150020 */

bool catalog_has_schema(const struct catalog *catalog, struct text name);

/* The names of all schemas; *count of them. */
const struct text *catalog_schemas(const struct catalog *catalog, size_t *count);

const struct closed_schema *catalog_closed_schemas(const struct catalog *catalog, size_t *count);

/* By exact name; NULL if there is none. */
const struct relation *catalog_relation(const struct catalog *catalog, struct text schema,
                                        struct text name);
const struct relation *catalog_relation_by_oid(const struct catalog *catalog, uint32_t oid);
const struct type *catalog_type(const struct catalog *catalog, struct text schema, struct text name);
const struct type *catalog_type_by_oid(const struct catalog *catalog, uint32_t oid);
const struct function *catalog_function_by_oid(const struct catalog *catalog, uint32_t oid);
const struct column *relation_column(const struct relation *relation, struct text name);
const struct column *relation_column_by_number(const struct relation *relation, int16_t number);

/* Every relation, by name and schema, and every function that catalog_functions can find: *count of them. */
const struct relation *catalog_all_relations(const struct catalog *catalog, size_t *count);
const struct function *catalog_all_functions(const struct catalog *catalog, size_t *count);

/* Can a key prove how many rows of the relation match? Children have keys of their own, and rules
 * may turn one write into others. */
bool relation_has_proof(const struct relation *relation);

/* All functions (aggregates, procedures included) of this name in any schema, but for those in
 * pg_catalog and information_schema that the server came with: *count of them from the returned
 * pointer on; NULL and 0 if none. */
const struct function *catalog_functions(const struct catalog *catalog, struct text name,
                                         size_t *count);

/* The same for operators. */
const struct operator *catalog_operators(const struct catalog *catalog, struct text name,
                                         size_t *count);

/* What the two above leave out: the server's own, by name. */
const struct function *catalog_builtin_functions(const struct catalog *catalog, struct text name,
                                                 size_t *count);
const struct operator *catalog_builtin_operators(const struct catalog *catalog, struct text name,
                                                 size_t *count);

/* Every cast that runs a function outside pg_catalog: *count of them. */
const struct cast *catalog_casts(const struct catalog *catalog, size_t *count);

/* Every type of which a value that is read runs functions outside pg_catalog: domains with such checks, and arrays,
 * rows, ranges and domains of these: *count of them, ascending. */
const uint32_t *catalog_checked_types(const struct catalog *catalog, size_t *count);
bool catalog_type_is_checked(const struct catalog *catalog, uint32_t oid);

const struct event_code *catalog_event_code(const struct catalog *catalog);

/* Is there an implicit cast, of whatever kind? */
bool catalog_casts_implicitly(const struct catalog *catalog, uint32_t source, uint32_t target);

/* Every inheritance child or partition of the relation, all levels; *count of them in `arena`. */
const struct relation *const *catalog_children(const struct catalog *catalog, struct arena *arena,
                                               const struct relation *relation, size_t *count);

/* A foreign key of `child` with the relation that it points at. */
struct foreign_reference {
    const struct relation *parent;
    const struct foreign_key *key;
};

/* Every foreign key that `child` carries; *count of them in `arena`. Reads the whole snapshot. */
const struct foreign_reference *catalog_references(const struct catalog *catalog, struct arena *arena,
                                           const struct relation *child, size_t *count);

#endif

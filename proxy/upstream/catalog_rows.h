/*
 * catalog_rows.h - from rows of the system catalogs to the structs of parser/catalog.h; internal to
 * proxy/upstream/.
 *
 * One `struct reading` for each load. Its queries are read in order, each by one function below; a
 * value that is not what its column promises sets `failed`, and the load fails as a whole.
 */
#ifndef PGWICKET_UPSTREAM_CATALOG_ROWS_H
#define PGWICKET_UPSTREAM_CATALOG_ROWS_H

#include "parser/catalog.h"

#include <libpq-fe.h>

/* A growing array in the catalog's arena. */
struct list {
    void *items;
    size_t count;
    size_t capacity;
};

struct schema_draft {
    uint32_t oid;
    struct text name;
};

/* What a domain's checks or a view's definition refers to. */
struct reference {
    bool is_type; /* a type, else a function */
    uint32_t oid;
};

struct type_draft {
    struct type type;
    struct list checks; /* struct reference: of the domain's constraints */
};

struct relation_draft {
    struct relation relation;
    const uint32_t *collations; /* of its columns, in their order */
    struct list sources;        /* struct view_source */
    struct list functions;      /* uint32_t */
    struct list expression_functions;
};

/* Using a relation or a type, or running a function, may run the other. */
struct runs {
    size_t from, to; /* nodes: catalog_code.c */
};

/* What a node may do by what it runs. */
enum deed {
    NOT_UNDONE,    /* it is not sure that a rollback undoes all of it */
    MOVES_SESSION, /* settings, the role or objects may be others behind it */
    MOVES_CUSTOM,  /* settings whose names have a dot may be: they move nothing but a policy's own pins */
    NOTIFIES,      /* it may send notifications */
    DEED_COUNT
};

struct body {
    size_t function; /* index */
    struct text text;
    bool procedural; /* PL/pgSQL, else SQL */
};

struct operator_class {
    uint32_t oid;
    uint32_t input_type;
};

/* The arrays are in order of oid. */
struct reading {
    struct catalog *catalog;
    struct arena *arena;
    bool failed;
    bool source_is_readable; /* of functions */

    struct schema_draft *schemas;
    size_t schema_count;
    struct function *functions;
    size_t function_count;
    struct type_draft *types;
    size_t type_count;
    struct relation_draft *relations;
    size_t relation_count;
    struct operator_class *default_classes;
    size_t default_class_count;

    /* What runs what, and by what a node may do such a deed (empty: it does not). */
    struct arena scratch; /* until the snapshot is complete */
    struct list runs;     /* struct runs */
    struct list bodies;   /* struct body */
    struct list operators; /* struct operator, those whose functions are not an extension's own */
    struct text *reasons[DEED_COUNT]; /* by node; NULL before the first */
    struct list event_functions; /* uint32_t, of event triggers; in `arena` */
};

/* Values of one row. */
uint32_t row_oid(struct reading *reading, const PGresult *result, int row, int column);
int16_t row_int16(struct reading *reading, const PGresult *result, int row, int column);
struct text row_text(struct reading *reading, const PGresult *result, int row, int column);
bool row_bool(const PGresult *result, int row, int column);
char row_char(const PGresult *result, int row, int column); /* "char"; NUL if empty */

/* "1 2 3" or "{1,2,3}". */
uint32_t *row_oids(struct reading *reading, const PGresult *result, int row, int column,
                   size_t *count);
int16_t *row_int16s(struct reading *reading, const PGresult *result, int row, int column,
                    size_t *count);

/* NULL if there is none: an object of another session's pg_temp, for example. */
const struct schema_draft *find_schema(const struct reading *reading, uint32_t oid);
struct function *find_function(const struct reading *reading, uint32_t oid);
struct type_draft *find_type(const struct reading *reading, uint32_t oid);
struct relation_draft *find_relation(const struct reading *reading, uint32_t oid);

/* Calls `read` for each run of rows with the same relation in column 0, if that is known. */
typedef void read_run(struct reading *reading, struct relation_draft *draft, const PGresult *result,
                      int from, int to);
void for_each_relation(struct reading *reading, const PGresult *result, read_run *read);

/* True for a function that is not PostgreSQL's own: in another schema than pg_catalog, put there by
 * an extension, or not in the snapshot at all. */
bool is_user_function(const struct reading *reading, uint32_t oid);

/* Adds a function, once. */
void add_function(struct reading *reading, struct list *functions, uint32_t oid);

/* Adds what using a value of the type runs: the user functions in its checks, those of the domains
 * below it, and of the types in its checks. */
void add_checks_of_type(struct reading *reading, struct list *functions, uint32_t type);

/* One for each query, in this order (catalog_load.c). */
void read_schemas(struct reading *reading, const PGresult *result);
void read_closed_schemas(struct reading *reading, const PGresult *result);
void read_functions(struct reading *reading, const PGresult *result);
void read_types(struct reading *reading, const PGresult *result);
void read_ranges(struct reading *reading, const PGresult *result);
void read_domain_checks(struct reading *reading, const PGresult *result);
void read_relations(struct reading *reading, const PGresult *result);
void read_columns(struct reading *reading, const PGresult *result);
void read_operator_classes(struct reading *reading, const PGresult *result);
void read_indexes(struct reading *reading, const PGresult *result);
void read_indexed(struct reading *reading, const PGresult *result);
void read_keys(struct reading *reading, const PGresult *result);
void read_foreign_keys(struct reading *reading, const PGresult *result);
void read_parents(struct reading *reading, const PGresult *result);
void read_rules(struct reading *reading, const PGresult *result);
void read_triggers(struct reading *reading, const PGresult *result);
void read_event_triggers(struct reading *reading, const PGresult *result);
void read_view_sources(struct reading *reading, const PGresult *result);
void read_view_references(struct reading *reading, const PGresult *result);
void read_view_nodes(struct reading *reading, const PGresult *result);
void read_operators(struct reading *reading, const PGresult *result);
void read_casts(struct reading *reading, const PGresult *result);

void read_readable(struct reading *reading, const PGresult *result);
void read_bodies(struct reading *reading, const PGresult *result);
void read_expressions(struct reading *reading, const PGresult *result);

/* Nodes of what runs what; 0 for what is not known. */
size_t function_node(const struct reading *reading, uint32_t oid);
size_t relation_node(const struct reading *reading, uint32_t oid, enum relation_use use);
size_t type_node(const struct reading *reading, uint32_t oid);
size_t event_node(const struct reading *reading); /* any change of objects */
void add_runs(struct reading *reading, size_t from, size_t to);
void add_runs_of_trigger(struct reading *reading, uint32_t relation, int events, uint32_t function);
void add_runs_of_cast(struct reading *reading, const struct cast *cast);
/* The first one stays. */
void add_reason(struct reading *reading, enum deed deed, size_t node, struct text reason);

/* What running PostgreSQL's own function of this name does is what `function` does. */
void judge_builtin(struct reading *reading, const struct function *function, struct text name);

/* Looks for the names in the bodies of functions, and adds what they run. */
void add_runs_of_bodies(struct reading *reading);

/* Sets `not_undone`, `moves_session`, `moves_custom`, `notifies` of every relation, and what event triggers run; everything else must
 * have been read. */
void find_deeds(struct reading *reading);

/* Gives what was read to the catalog. */
void add_to_catalog(struct reading *reading);

#endif

/*
 * builtins.h - the reviewed tables of one PostgreSQL major: functions, settings, catalog columns, libraries.
 *
 * The tables are the TSV files in parser/builtins/, embedded in the binary and indexed at first use
 * (thread-safe). What a table does not list is guarded, never, closed, unknown.
 */
#ifndef PGWICKET_PARSER_BUILTINS_H
#define PGWICKET_PARSER_BUILTINS_H

#include "proxy/base/text.h"

enum function_class {
    FUNCTION_UNKNOWN = 0, /* no built-in of this name */
    FUNCTION_GUARDED,     /* needs `call` */
    FUNCTION_CATALOG,     /* needs introspection: allow */
    FUNCTION_HARMLESS,
};

struct builtin_function {
    enum function_class strictest; /* over all overloads of the name */
    enum function_class mildest;
    struct text reason;            /* of the strictest */
    bool outside;                  /* an effect of some overload survives a rollback */
};

/* By bare name in pg_catalog ("now"). */
struct builtin_function builtin_function(struct text name);

/* By name in information_schema. */
struct builtin_function builtin_information_schema_function(struct text name);

/* By signature as regprocedure prints it, "abs(integer)"; FUNCTION_UNKNOWN if not listed. */
enum function_class builtin_signature_class(struct text signature);

/* A library of functions in C, by its name in $libdir: it has no other effect than its results. */
struct builtin_library {
    bool known;
    bool sets; /* but some function sets one of its own settings */
};

struct builtin_library builtin_library(struct text name);

enum setting_class {
    SETTING_NEVER = 0,   /* also every setting that is not listed */
    SETTING_HARMLESS,
    SETTING_DOWN_ONLY,   /* time-outs: may only be lowered; 0 is infinite */
    SETTING_PINNED,      /* only its pinned value */
};

struct builtin_setting {
    enum setting_class class;
    bool known;
    bool readable; /* by SHOW */
    bool reported; /* by ParameterStatus */
};

struct builtin_setting builtin_setting(struct text lower_case_name);

/* May this column of a relation in pg_catalog or information_schema be read under introspection:
 * allow? `conditional` (pg_settings by constant readable name) counts as closed here. */
bool builtin_catalog_column_open(struct text schema, struct text relation, struct text column);
bool builtin_catalog_relation_known(struct text schema, struct text relation);

/* How much the tables hold, for the test that compares it with what was reviewed. */
struct builtin_totals {
    size_t functions_harmless, functions_catalog, functions_guarded, functions_outside;
    size_t settings_never, settings_harmless, settings_pinned, settings_down_only;
    size_t settings_readable;
    size_t catalog_columns_open;
    size_t catalog_relations; /* listed, open or not */
    size_t libraries;
};

struct builtin_totals builtin_totals(void);

#endif

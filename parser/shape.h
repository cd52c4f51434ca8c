/*
 * shape.h - what one statement would do, as data that rules can look at.
 *
 * A shape is made by analyse() from the raw parse tree and the catalog; it lives in the arena given to
 * analyse(). It holds no verdict: rules/ turns it into one. Whatever the walk could not understand is
 * not in a shape: it is an error of analyse().
 *
 * Objects and columns that no catalog proves are given strictly (columns_unknown, unresolved).
 */
#ifndef PGWICKET_PARSER_SHAPE_H
#define PGWICKET_PARSER_SHAPE_H

#include "parser/catalog.h"

enum verb {
    VERB_NONE = 0, /* matches no rule */
    VERB_SELECT,
    VERB_INSERT,
    VERB_UPDATE,
    VERB_DELETE,
    VERB_TRUNCATE,
    VERB_CALL,
    VERB_EXECUTE,
    VERB_CREATE,
    VERB_ALTER,
    VERB_DROP,
    VERB_GRANT,
    VERB_COMMENT,
    VERB_LOCK,
    VERB_SET,
    VERB_LISTEN,
    VERB_NOTIFY,
    VERB_MAINTAIN,
    VERB_CODE,
    VERB_COPY_FILE,
    VERB_COUNT,
};

const char *verb_name(enum verb verb); /* "select" */

/* Kinds of object: spec 3.1. OBJECT_NONE can only be named by `*`. */
enum object_kind {
    OBJECT_NONE = 0, /* has no name: CHECKPOINT, VACUUM of everything, ALTER SYSTEM, … */
    OBJECT_NAME,     /* schema.name: relations, functions, types and all else in a schema */
    OBJECT_SCHEMA,
    OBJECT_ROLE,
    OBJECT_DATABASE,
    OBJECT_EXTENSION,
    OBJECT_LANGUAGE,
    OBJECT_PUBLICATION,
    OBJECT_SUBSCRIPTION,
    OBJECT_SERVER,
    OBJECT_TABLESPACE,
    OBJECT_SETTING,
    OBJECT_CHANNEL,
    OBJECT_TEMPLATE, /* verb execute */
    OBJECT_KIND_COUNT,
};

/* "schema:", "role:", …; "" for OBJECT_NAME, OBJECT_NONE and OBJECT_TEMPLATE. */
const char *object_kind_prefix(enum object_kind kind);

struct object {
    enum object_kind kind;
    struct text schema; /* OBJECT_NAME only; empty where it could not be resolved */
    struct text name;
};

/* "shop.orders", "role:bob", "(none)". For messages and the audit log. */
struct text object_text(struct arena *arena, const struct object *object);

/* The strongest that its WHERE proves: spec 3.2, `where`. */
enum where_strength { WHERE_ANY = 0, WHERE_REQUIRED, WHERE_KEY };

/* PostgreSQL's table locks, the strongest first. Zero is the strongest, and stands for what is not known. */
enum table_lock {
    LOCK_ACCESS_EXCLUSIVE = 0,
    LOCK_EXCLUSIVE,
    LOCK_SHARE_ROW_EXCLUSIVE,
    LOCK_SHARE,
    LOCK_SHARE_UPDATE_EXCLUSIVE,
    LOCK_ROW_EXCLUSIVE,
    LOCK_ROW_SHARE,
    LOCK_ACCESS_SHARE,
    LOCK_NONE, /* none on any table that was there before */
    LOCK_COUNT,
};

/* How the verb uses a relation, as far as what runs then is concerned. */
enum relation_use verb_relation_use(enum verb verb);

/* create, alter, drop, truncate, lock, maintain: those whose table lock a rule can limit. */
bool verb_has_lock(enum verb verb);

const char *table_lock_name(enum table_lock lock); /* "access_exclusive" */

/* Why the action is there. */
enum action_part {
    PART_STATEMENT = 0, /* the statement itself does it */
    PART_READ,          /* what a write reads: of its rule only verb, object and columns count */
    PART_VIEW,          /* what a view's definition does; counts only if no rule names the view */
};

enum { ROWS_UNPROVEN = -1 };

struct action {
    enum verb verb;
    struct object object;
    enum action_part part;

    /* The relation in the catalog; NULL for other objects, offline, and for CREATE. */
    const struct relation *relation;

    /* For PART_VIEW: index in shape.actions of the view's own action. */
    size_t view_action;

    /* Columns written (insert, update) or read (select); decoded names, each once. */
    const struct text *columns;
    size_t column_count;
    bool columns_unknown;      /* any column may be touched (whole rows of unknown shape, offline *) */
    struct text columns_why;   /* how a column is reached when not by name: "* in SELECT *"; or empty */

    enum where_strength where; /* update, delete */
    bool of_execute;           /* a cast of EXECUTE's argument: means nothing if it executes a template */
    bool key_unsure;           /* the agent may change the relation: no key of it proves anything */
    struct text where_why;     /* what is missing for the next strength, for messages; may be empty */

    /* Rows that this action can touch at most, proven from the text (VALUES lists, keys);
     * ROWS_UNPROVEN if not. Not proven where a foreign-key action of the verb starts here. */
    int64_t rows_max;

    /* A foreign-key action (cascade, set null, set default) of this verb starts at the target. */
    bool foreign_key_actions;

    /* Of verbs that have one: the strongest that the statement takes, on the object
     * or because of it, on tables, their partitions and their indexes. */
    enum table_lock lock;

    /* Functions only: why a built-in needs `call`, e.g. "reads files"; empty for others. */
    struct text reason;

    /* The catalog knows no such object; under introspection: allow the server's own error answers. */
    bool unresolved;

    /* Of what CASCADE reaches, which the text does not tell: VERB_DROP on no name, or what a rehearsal has
     * told. */
    bool cascade;

    /* Only because a name without a schema could mean this object, too. */
    bool candidate;

    int location; /* byte offset in the statement text, -1 unknown */
};

/* What kind of statement it is, as far as anything but rules must know. */
enum statement_kind {
    STATEMENT_UNKNOWN = 0, /* never in a finished shape */
    STATEMENT_EMPTY,
    STATEMENT_SELECT,      /* SELECT, VALUES, TABLE; without INTO */
    STATEMENT_WRITE,       /* INSERT, UPDATE, DELETE, MERGE, and SELECT with a data-modifying WITH */
    STATEMENT_COPY_OUT,    /* COPY … TO STDOUT */
    STATEMENT_COPY_IN,     /* COPY … FROM STDIN */
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_SAVEPOINT,
    STATEMENT_RELEASE,
    STATEMENT_ROLLBACK_TO,
    STATEMENT_TWO_PHASE,   /* PREPARE TRANSACTION, COMMIT/ROLLBACK PREPARED */
    STATEMENT_SET,         /* SET, RESET, SET TRANSACTION, SET CONSTRAINTS: see shape.setting */
    STATEMENT_SHOW,
    STATEMENT_DISCARD,
    STATEMENT_PREPARE,     /* `inner` is the prepared statement's shape */
    STATEMENT_EXECUTE,     /* of `name` */
    STATEMENT_DEALLOCATE,  /* of `name`; empty: ALL */
    STATEMENT_DECLARE,     /* cursor `name`, `inner` its query */
    STATEMENT_FETCH,       /* FETCH and MOVE from cursor `name` */
    STATEMENT_CLOSE,       /* cursor `name`; empty: ALL */
    STATEMENT_EXPLAIN,     /* `inner` is the explained statement; `explain_analyze` */
    STATEMENT_LISTEN,
    STATEMENT_CODE,        /* CALL, DO: may contain COMMIT */
    STATEMENT_UTILITY,     /* everything else */
};

/* Statements about objects that run nothing but what their actions say, and leave nothing behind when
 * they are rolled back. */
enum ddl {
    DDL_NONE = 0,
    DDL_OBJECTS,  /* CREATE, ALTER, DROP, COMMENT, GRANT, … */
    DDL_TRUNCATE,
};

/* A change or reading of a setting, in any spelling (SET, SET LOCAL, RESET, set_config, SHOW). */
enum setting_act {
    SETTING_SET,
    SETTING_SET_LOCAL,
    SETTING_RESET,       /* also SET … TO DEFAULT */
    SETTING_RESET_ALL,
    SETTING_SHOW,        /* also current_setting() with a constant */
    SETTING_TRANSACTION, /* SET TRANSACTION, SET SESSION CHARACTERISTICS, BEGIN's modes: one each */
};

struct setting_use {
    enum setting_act act;
    struct text name;    /* lower case; "all" for SHOW ALL */
    struct text value;   /* as the server would see it; lists joined by ", " */
    bool value_unknown;  /* not a constant */
};

/* What a statement can change that judging depends on (spec 3.4); bits. */
enum {
    CHANGES_SETTINGS = 1 << 0,
    CHANGES_ROLE     = 1 << 1,
    CHANGES_OBJECTS  = 1 << 2, /* relations, functions, … may appear, go, or be renamed */
    CHANGES_NAMES    = 1 << 3, /* prepared statements or cursors by SQL: PREPARE, DEALLOCATE, DECLARE… */
    CHANGES_BY_CODE  = 1 << 4, /* user code ran: anything may have changed */
    CHANGES_TRANSACTION = 1 << 5,
};

/* An argument of EXECUTE name(…). Whatever is not a plain constant or a parameter is ARGUMENT_OTHER. */
enum argument_kind {
    ARGUMENT_OTHER = 0,
    ARGUMENT_NULL,
    ARGUMENT_NUMBER,    /* `text` as written, with its sign */
    ARGUMENT_STRING,    /* `text` decoded */
    ARGUMENT_BOOLEAN,   /* `text` is "true" or "false" */
    ARGUMENT_PARAMETER, /* $`parameter` */
};

struct argument {
    enum argument_kind kind;
    struct text text;
    int parameter;
};

struct shape {
    enum statement_kind kind;

    const struct action *actions;
    size_t action_count;

    const struct setting_use *settings; /* judged by rules/settings, besides the actions */
    size_t setting_count;

    const struct shape *inner; /* PREPARE, DECLARE, EXPLAIN; CREATE TABLE AS EXECUTE, which is only for
                                  `all` on `*`. Its actions are in `actions` too */
    struct text name;          /* prepared statement, cursor, savepoint; see statement_kind */
    const struct argument *arguments; /* EXECUTE; a cast, also `TYPE 'x'`, is ARGUMENT_OTHER */
    size_t argument_count;
    int64_t hold;              /* EXECUTE pgwicket_hold(N): N; 0 otherwise */
    struct text pgwicket_show; /* SHOW pgwicket.X: "X"; empty otherwise */

    enum ddl ddl;
    unsigned changes;          /* CHANGES_* */
    bool explain_analyze;      /* EXPLAIN ANALYZE in effect, as the server computes it */
    bool returns_rows;         /* its reply has DataRows (SELECT, RETURNING, SHOW, EXPLAIN, FETCH) */
    bool cursor_hold;          /* DECLARE … WITH HOLD */
    bool and_chain;            /* COMMIT/ROLLBACK AND CHAIN */
    bool copy_header;          /* COPY … TO: the first line holds the columns' names */
    bool copy_binary;          /* COPY in the binary format */
    bool not_in_block;         /* refused by PostgreSQL inside a transaction block (VACUUM, …) */
    bool fetch_binary;
    bool positioned;           /* WHERE CURRENT OF */
    bool tag_counts_writes;    /* exactly one node writes, and it is the top one (INSERT with its upsert
                                  arm, UPDATE, DELETE, MERGE, COPY … FROM STDIN): the number in the
                                  command tag is the rows written. False for writes in a WITH */
    bool volatile_functions;   /* calls anything not known to be immutable or stable built-in */

    /* Functions called, as the audit log lists them; "pg_catalog." is left out. */
    const struct text *functions;
    size_t function_count;

    uint16_t parameter_max;    /* highest $n, 0 for none */
    const bool *parameters_used; /* parameter_max of them: is $1, $2, … written? */
    struct text summary;       /* "DELETE shop.orders": db.query.summary of OpenTelemetry */
};

#endif

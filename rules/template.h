/*
 * template.h - templates: named statements of the configuration with typed parameters (spec 4.4).
 *
 * A template's SQL is the owner's. What an agent gives are values: each is checked against its
 * parameter here, before anything is sent, and turned into the one text that is bound. Nothing here
 * makes SQL. Pure; templates are immutable after they were built and shared by threads.
 */
#ifndef PGWICKET_RULES_TEMPLATE_H
#define PGWICKET_RULES_TEMPLATE_H

#include "parser/shape.h"

enum template_type {
    TEMPLATE_NONE = 0,
    TEMPLATE_INTEGER,
    TEMPLATE_NUMBER,
    TEMPLATE_NUMERIC,
    TEMPLATE_STRING,
    TEMPLATE_BOOLEAN,
    TEMPLATE_DATE,
    TEMPLATE_TIMESTAMP,
    TEMPLATE_TIMESTAMPTZ,
    TEMPLATE_UUID,
    TEMPLATE_JSON,
    TEMPLATE_TYPE_COUNT,
};

const char *template_type_name(enum template_type type); /* "integer", as the configuration writes it */

/* The parameter's type on the server: int8, float8, numeric, text, bool, date, timestamp,
 * timestamptz, uuid, jsonb, or the array of it. An OID of pg_catalog, the same in every database. */
uint32_t template_type_oid(enum template_type type, bool array);

struct template_pattern; /* a compiled `pattern`; linear time */

struct template_parameter {
    struct text name;
    struct text description;  /* may be empty */
    enum template_type type;  /* of the elements, for an array */
    bool array;
    bool nullable;
    struct text attribute;    /* `from: tenant`: bound from the agent's attribute, not an argument; or empty */

    /* Keywords; as written in the file, checked when it was read. Empty text or -1: not written. */
    struct text minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of; /* exact decimals */
    const struct text *choices; /* enum */
    size_t choice_count;
    int64_t min_length, max_length; /* characters */
    int64_t min_items, max_items;
    struct text pattern;
    const struct template_pattern *compiled; /* NULL without `pattern` */
};

/* Something that the SQL names, and what it does with it. */
struct template_use {
    enum verb verb;
    struct object object;
};

struct template {
    struct text name;
    struct text description;
    struct text sql;      /* canonical print: one line, $1 … */
    bool hold;            /* `hold: true` */
    int64_t max_rows;     /* LIMIT_NONE (-1) if not written */
    const struct template_parameter *parameters; /* $1 is parameters[0]; those with `attribute` too */
    size_t parameter_count;

    /* What the SQL does, for counting and for the tag; not for rules. Made when the file is read,
     * without a catalog: no keys, no foreign keys. */
    struct text rule_text; /* "refund_order(order_id integer, reason string)", for messages */
    bool only_reads;       /* its SQL is a plain SELECT of nothing but harmless built-ins */
    const struct template_use *uses;
    size_t use_count;
};

/* What the configuration says of an agent; a parameter may come `from` it. */
struct attribute {
    struct text name;
    struct text value;
};

/* NULL if there is none of this name. */
const struct template *template_find(const struct template *templates, size_t count, struct text name);

/* How a value came: spec 4.4, text or binary. */
enum value_form {
    VALUE_NULL = 0,
    VALUE_LITERAL_NUMBER,  /* an unquoted number in EXECUTE's text: -1.5 */
    VALUE_LITERAL_STRING,  /* 'quoted', decoded */
    VALUE_LITERAL_BOOLEAN, /* TRUE, FALSE: bytes are "true" or "false" */
    VALUE_TEXT,            /* Bind, format 0 */
    VALUE_BINARY,          /* Bind, format 1, of `type` */
};

struct template_value {
    enum value_form form;
    uint32_t type;     /* what Parse declared, 0: nothing (then the template's own type) */
    struct text bytes;
};

/*
 * Checks one value. True: `*bound` is the text to bind in format 0 as template_type_oid (bytes NULL
 * for NULL), in `arena`. False: `*problem` says what is wrong in words that follow "parameter NAME ":
 * "must be one of damaged, late, duplicate (got "angry")"; it quotes at most 40 characters of the value.
 */
MUST_USE bool template_check(struct arena *arena, const struct template_parameter *parameter,
                             const struct template_value *value, struct text *bound,
                             struct text *problem);

/* {"type":"object","properties":{…},"required":[…],"additionalProperties":false}: a tool-calling model
 * can use it as it is. Parameters with `attribute` are left out. */
struct text template_json_schema(struct arena *arena, const struct template *template);

/* Compiles a `pattern`; NULL and *problem (static, or in `arena`) if it is none, or one that cannot be
 * matched in linear time (back references). Lives as long as `arena`. */
const struct template_pattern *template_pattern_compile(struct arena *arena, struct text pattern,
                                                        struct text *problem);
bool template_pattern_matches(const struct template_pattern *pattern, struct text value);

#endif

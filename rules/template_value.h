/*
 * template_value.h - what checking one value of a template needs: decimals, times, JSON, arrays, the
 * binary forms that drivers send. For rules/, for the reading of templates in proxy/config/, and
 * for held values, whose binary forms are read likewise.
 *
 * Texts that are results live in the arena. Nothing here rounds: a value that PostgreSQL would not read
 * back as itself is a problem.
 */
#ifndef PGWICKET_RULES_TEMPLATE_VALUE_H
#define PGWICKET_RULES_TEMPLATE_VALUE_H

#include "rules/template.h"

/* --- decimals (template_decimal.c) ---------------------------------------------------------------- */

/* digits × 10^exponent. The digits begin and end with another digit than 0; none: the value is 0. */
struct decimal {
    bool negative;
    struct text digits;
    int64_t exponent;
    int64_t scale; /* digits behind the point, as written */
};

/* Significant digits of a `multipleOf`: its remainders fit 64 bits. */
enum { MULTIPLE_DIGITS_MAX = 18 };

/* A number of JSON's grammar that is the whole text. Exponents beyond any type's reach are cut there. */
MUST_USE bool decimal_parse(struct arena *arena, struct text text, struct decimal *decimal);
int decimal_compare(const struct decimal *a, const struct decimal *b); /* <0, 0, >0 */
bool decimal_is_multiple(const struct decimal *value, const struct decimal *of);

/* As an integer of 64 bits, in `arena`; false if it is none. */
MUST_USE bool decimal_to_integer(struct arena *arena, const struct decimal *decimal,
                                 struct text *integer);

bool decimal_fits_numeric(const struct decimal *decimal); /* PostgreSQL's limits of an unbounded numeric */

/* --- times (template_time.c) ---------------------------------------------------------------------- */

/* RFC 3339, of calendar dates that exist, years 0001 to 9999, microseconds at most. *bound is ISO text
 * that means the same under every DateStyle; of a timestamptz it keeps the offset. */
MUST_USE bool date_parse(struct arena *arena, struct text text, struct text *bound);
MUST_USE bool timestamp_parse(struct arena *arena, struct text text, bool with_offset,
                              struct text *bound);

/* PostgreSQL's binary forms, days and microseconds from 2000-01-01, as RFC 3339. False for infinity and
 * for years beyond. */
MUST_USE bool date_from_days(struct arena *arena, int32_t days, struct text *text);
MUST_USE bool timestamp_from_us(struct arena *arena, int64_t us, bool with_offset,
                                struct text *text);

/* --- JSON (template_json.c) ----------------------------------------------------------------------- */

/* One JSON value that jsonb takes as it is: UTF-8, no \u0000, no lone surrogates, numbers that fit, at
 * most LIMIT_TEMPLATE_JSON_DEPTH levels. */
bool json_is_valid(struct text text);

/* --- arrays (template_array.c) -------------------------------------------------------------------- */

struct array_item {
    bool is_null;
    struct text text;
};

struct array_items {
    struct array_item *items;
    size_t count, capacity;
};

/* {a,"b c",NULL}, of one dimension. Of more than LIMIT_TEMPLATE_ITEMS, one more is read and no further. */
MUST_USE bool array_parse(struct arena *arena, struct text text, struct array_items *items);

/* The literal with every item quoted, so that none can be NULL or a delimiter. */
struct text array_literal(struct arena *arena, const struct text *items, size_t count);

/* --- what drivers declare and send (template_binary.c) -------------------------------------------- */

enum type_family {
    FAMILY_UNKNOWN = 0,
    FAMILY_TEXT, /* text, varchar, bpchar, and what has no type yet */
    FAMILY_INTEGER,
    FAMILY_FLOAT,
    FAMILY_NUMERIC,
    FAMILY_BOOLEAN,
    FAMILY_DATE,
    FAMILY_TIMESTAMP,
    FAMILY_TIMESTAMPTZ,
    FAMILY_UUID,
    FAMILY_JSON,
};

/* Of a type's OID, or of the elements where it is an array (*array). FAMILY_UNKNOWN: none that a template
 * takes. */
enum type_family type_family(uint32_t oid, bool *array);

/* The array type whose elements are of this type; 0 if templates take none. */
uint32_t array_type_of(uint32_t element);

/* The text of a binary value of a scalar type; false if it is none. Not finite is none. */
MUST_USE bool binary_text(struct arena *arena, uint32_t oid, struct text bytes, struct text *text);

/* The items of a binary array of one dimension, up to the same limit, and the type of the elements. */
MUST_USE bool binary_items(struct arena *arena, struct text bytes, uint32_t *element,
                           struct array_items *items);

#endif

/*
 * catalog_rows.c - values of rows, and what has been read so far by oid.
 *
 * A value that cannot be read gives zero and makes the whole reading fail.
 */
#include "proxy/upstream/catalog_rows.h"

#include <stdlib.h>
#include <string.h>

static struct text value_of(const PGresult *result, int row, int column)
{
    return (struct text){PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column)};
}

static int64_t number(struct reading *reading, struct text text, int64_t low, int64_t high)
{
    int64_t value = 0;
    if (text_to_int64(text, &value) && value >= low && value <= high)
        return value;
    reading->failed = true;
    return 0;
}

uint32_t row_oid(struct reading *reading, const PGresult *result, int row, int column)
{
    return (uint32_t)number(reading, value_of(result, row, column), 0, UINT32_MAX);
}

int16_t row_int16(struct reading *reading, const PGresult *result, int row, int column)
{
    return (int16_t)number(reading, value_of(result, row, column), INT16_MIN, INT16_MAX);
}

struct text row_text(struct reading *reading, const PGresult *result, int row, int column)
{
    return arena_text(reading->arena, value_of(result, row, column));
}

bool row_bool(const PGresult *result, int row, int column)
{
    return text_is(value_of(result, row, column), "t");
}

char row_char(const PGresult *result, int row, int column)
{
    return PQgetvalue(result, row, column)[0];
}

/* --- lists ---------------------------------------------------------------------------------- */

static bool is_separator(char byte)
{
    return byte == ' ' || byte == ',' || byte == '{' || byte == '}';
}

/* Takes the next element off the front of `rest`; empty at the end. */
static struct text next_element(struct text *rest)
{
    while (rest->size > 0 && is_separator(rest->bytes[0]))
        *rest = (struct text){rest->bytes + 1, rest->size - 1};
    size_t size = 0;
    while (size < rest->size && !is_separator(rest->bytes[size]))
        size++;
    struct text element = {rest->bytes, size};
    *rest = (struct text){rest->bytes + size, rest->size - size};
    return element;
}

static size_t count_elements(struct text list)
{
    size_t count = 0;
    while (next_element(&list).size > 0)
        count++;
    return count;
}

uint32_t *row_oids(struct reading *reading, const PGresult *result, int row, int column,
                   size_t *count)
{
    struct text rest = value_of(result, row, column);
    *count = count_elements(rest);
    uint32_t *oids = arena_array(reading->arena, *count, sizeof *oids);
    for (size_t i = 0; i < *count; i++)
        oids[i] = (uint32_t)number(reading, next_element(&rest), 0, UINT32_MAX);
    return oids;
}

int16_t *row_int16s(struct reading *reading, const PGresult *result, int row, int column,
                    size_t *count)
{
    struct text rest = value_of(result, row, column);
    *count = count_elements(rest);
    int16_t *numbers = arena_array(reading->arena, *count, sizeof *numbers);
    for (size_t i = 0; i < *count; i++)
        numbers[i] = (int16_t)number(reading, next_element(&rest), INT16_MIN, INT16_MAX);
    return numbers;
}

/* --- by oid --------------------------------------------------------------------------------- */

/* The members of every array that is searched begin with their oid. */
_Static_assert(offsetof(struct schema_draft, oid) == 0, "searched by its first member");
_Static_assert(offsetof(struct function, oid) == 0, "searched by its first member");
_Static_assert(offsetof(struct type_draft, type.oid) == 0, "searched by its first member");
_Static_assert(offsetof(struct relation_draft, relation.oid) == 0, "searched by its first member");

static int compare_oid(const void *key, const void *item)
{
    uint32_t wanted = *(const uint32_t *)key, oid = *(const uint32_t *)item;
    return (wanted > oid) - (wanted < oid);
}

static void *find(uint32_t oid, void *items, size_t count, size_t size)
{
    return count > 0 ? bsearch(&oid, items, count, size, compare_oid) : NULL;
}

const struct schema_draft *find_schema(const struct reading *reading, uint32_t oid)
{
    return find(oid, reading->schemas, reading->schema_count, sizeof *reading->schemas);
}

struct function *find_function(const struct reading *reading, uint32_t oid)
{
    return find(oid, reading->functions, reading->function_count, sizeof *reading->functions);
}

struct type_draft *find_type(const struct reading *reading, uint32_t oid)
{
    return find(oid, reading->types, reading->type_count, sizeof *reading->types);
}

struct relation_draft *find_relation(const struct reading *reading, uint32_t oid)
{
    return find(oid, reading->relations, reading->relation_count, sizeof *reading->relations);
}

void for_each_relation(struct reading *reading, const PGresult *result, read_run *read)
{
    int count = PQntuples(result);
    for (int from = 0, to; from < count; from = to) {
        uint32_t oid = row_oid(reading, result, from, 0);
        for (to = from + 1; to < count && row_oid(reading, result, to, 0) == oid;)
            to++;
        struct relation_draft *draft = find_relation(reading, oid);
        if (draft != NULL)
            read(reading, draft, result, from, to);
    }
}

/* --- schemas and the end -------------------------------------------------------------------- */

void read_schemas(struct reading *reading, const PGresult *result)
{
    size_t count = (size_t)PQntuples(result);
    reading->schemas = arena_array(reading->arena, count, sizeof *reading->schemas);
    for (size_t i = 0; i < count; i++) {
        reading->schemas[i].oid = row_oid(reading, result, (int)i, 0);
        reading->schemas[i].name = row_text(reading, result, (int)i, 1);
    }
    reading->schema_count = count;
}

void read_closed_schemas(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        const struct closed_schema closed = {.schema = row_text(reading, result, row, 0),
                                             .role = row_text(reading, result, row, 1),
                                             .of_login = row_bool(result, row, 2)};
        catalog_add_closed_schema(reading->catalog, &closed);
    }
}

static void finish_relation(struct relation_draft *draft)
{
    struct relation *relation = &draft->relation;
    relation->sources = draft->sources.items;
    relation->source_count = draft->sources.count;
    relation->functions = draft->functions.items;
    relation->function_count = draft->functions.count;
    relation->expression_functions = draft->expression_functions.items;
    relation->expression_function_count = draft->expression_functions.count;
}

static void finish_type(struct reading *reading, struct type_draft *draft)
{
    if (draft->type.kind != 'd')
        return;
    struct list functions = {0};
    add_checks_of_type(reading, &functions, draft->type.oid);
    draft->type.check_functions = functions.items;
    draft->type.check_function_count = functions.count;
}

void add_to_catalog(struct reading *reading)
{
    find_deeds(reading);
    for (size_t i = 0; i < reading->schema_count; i++)
        catalog_add_schema(reading->catalog, reading->schemas[i].name);
    for (size_t i = 0; i < reading->function_count; i++)
        catalog_add_function(reading->catalog, &reading->functions[i]);
    for (size_t i = 0; i < reading->type_count; i++) {
        finish_type(reading, &reading->types[i]);
        catalog_add_type(reading->catalog, &reading->types[i].type);
    }
    for (size_t i = 0; i < reading->relation_count; i++) {
        finish_relation(&reading->relations[i]);
        catalog_add_relation(reading->catalog, &reading->relations[i].relation);
    }
}

/*
 * catalog_relations.c - relations, their columns, keys, foreign keys, parents, rules and triggers.
 *
 * An index that is not surely a key (another operator class, another collation, a type whose
 * relation to the operator class is not known here) is left out: a key that is missing proves less.
 */
#include "proxy/upstream/catalog_rows.h"

#include <math.h>
#include <stdlib.h>

/* Types that operator classes are made for, or that share another type's (src/include/catalog). */
enum {
    TEXT_OID = 25,
    CIDR_OID = 650,
    INET_OID = 869,
    VARCHAR_OID = 1043,
    RECORD_OID = 2249,
    ANYARRAY_OID = 2277,
    ANYENUM_OID = 3500,
    ANYRANGE_OID = 3831,
    ANYMULTIRANGE_OID = 4537,
};

enum { DOMAIN_DEPTH_MAX = 32 };

/* --- relations and columns ------------------------------------------------------------------ */

static void read_relation(struct reading *reading, const PGresult *result, int row)
{
    const struct schema_draft *schema = find_schema(reading, row_oid(reading, result, row, 1));
    if (schema == NULL)
        return;
    struct relation *relation = &reading->relations[reading->relation_count++].relation;
    *relation = (struct relation){
        .oid = row_oid(reading, result, row, 0),
        .schema = schema->name,
        .name = row_text(reading, result, row, 2),
        .kind = row_char(result, row, 3),
        .persistence = row_char(result, row, 4),
        .is_partition = row_bool(result, row, 5),
        .has_default_partition = row_bool(result, row, 8),
        .key_by_expression = row_bool(result, row, 9),
        .row_security = row_bool(result, row, 6),
        .rows = strtod(PQgetvalue(result, row, 7), NULL),
    };
    if (!isfinite(relation->rows))
        relation->rows = -1;
}

void read_relations(struct reading *reading, const PGresult *result)
{
    int count = PQntuples(result);
    reading->relations = arena_array(reading->arena, (size_t)count, sizeof *reading->relations);
    for (int row = 0; row < count; row++)
        read_relation(reading, result, row);
}

static void read_column_run(struct reading *reading, struct relation_draft *draft,
                            const PGresult *result, int from, int to)
{
    size_t count = (size_t)(to - from);
    struct column *columns = arena_array(reading->arena, count, sizeof *columns);
    uint32_t *collations = arena_array(reading->arena, count, sizeof *collations);
    for (size_t i = 0; i < count; i++) {
        int row = from + (int)i;
        columns[i] = (struct column){
            .number = row_int16(reading, result, row, 1),
            .name = row_text(reading, result, row, 2),
            .type = row_oid(reading, result, row, 3),
            .not_null = row_bool(result, row, 4),
            .generated = row_bool(result, row, 5),
            .identity = row_bool(result, row, 6),
        };
        collations[i] = row_oid(reading, result, row, 7);
    }
    draft->relation.columns = columns;
    draft->relation.column_count = count;
    draft->collations = collations;
}

void read_columns(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_column_run);
}

/* --- keys ----------------------------------------------------------------------------------- */

void read_operator_classes(struct reading *reading, const PGresult *result)
{
    size_t count = (size_t)PQntuples(result);
    reading->default_classes = arena_array(reading->arena, count, sizeof *reading->default_classes);
    for (size_t i = 0; i < count; i++) {
        reading->default_classes[i].oid = row_oid(reading, result, (int)i, 0);
        reading->default_classes[i].input_type = row_oid(reading, result, (int)i, 1);
    }
    reading->default_class_count = count;
}

void read_indexes(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        struct relation_draft *index = find_relation(reading, row_oid(reading, result, row, 0));
        if (index != NULL)
            index->relation.table = row_oid(reading, result, row, 1);
    }
}

static void read_indexed_run(struct reading *reading, struct relation_draft *draft,
                             const PGresult *result, int from, int to)
{
    if (to - from != 1)
        reading->failed = true;
    draft->relation.indexed =
        row_int16s(reading, result, from, 1, &draft->relation.indexed_count);
}

void read_indexed(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_indexed_run);
}

static uint32_t input_type_of_class(const struct reading *reading, uint32_t class)
{
    for (size_t i = 0; i < reading->default_class_count; i++)
        if (reading->default_classes[i].oid == class)
            return reading->default_classes[i].input_type;
    return 0;
}

static const struct type *below_domains(const struct reading *reading, uint32_t oid)
{
    for (int depth = 0; depth < DOMAIN_DEPTH_MAX; depth++) {
        const struct type_draft *draft = find_type(reading, oid);
        if (draft == NULL || draft->type.kind != 'd')
            return draft != NULL ? &draft->type : NULL;
        oid = draft->type.base;
    }
    return NULL;
}

/* Is a default operator class for `input` the one that a column of this type has by default? */
static bool is_class_of_type(const struct type *type, uint32_t input)
{
    switch (input) {
    case TEXT_OID:
        return type->oid == TEXT_OID || type->oid == VARCHAR_OID;
    case INET_OID:
        return type->oid == INET_OID || type->oid == CIDR_OID;
    case ANYARRAY_OID:
        return type->is_array;
    case ANYENUM_OID:
        return type->kind == 'e';
    case ANYRANGE_OID:
        return type->kind == 'r';
    case ANYMULTIRANGE_OID:
        return type->kind == 'm';
    case RECORD_OID:
        return type->kind == 'c';
    default:
        return input != 0 && type->oid == input;
    }
}

static bool is_plain(const struct reading *reading, const struct relation_draft *draft,
                     int16_t number, uint32_t class, uint32_t collation)
{
    const struct column *column = relation_column_by_number(&draft->relation, number);
    if (column == NULL || draft->collations[column - draft->relation.columns] != collation)
        return false;
    const struct type *type = below_domains(reading, column->type);
    return type != NULL && is_class_of_type(type, input_type_of_class(reading, class));
}

static bool read_key(struct reading *reading, const struct relation_draft *draft,
                     const PGresult *result, int row, struct key *key)
{
    size_t column_count, class_count, collation_count;
    int16_t key_columns = row_int16(reading, result, row, 3);
    const int16_t *columns = row_int16s(reading, result, row, 4, &column_count);
    const uint32_t *classes = row_oids(reading, result, row, 5, &class_count);
    const uint32_t *collations = row_oids(reading, result, row, 6, &collation_count);
    size_t count = key_columns > 0 ? (size_t)key_columns : 0;
    if (count == 0 || count > column_count || count != class_count || count != collation_count) {
        reading->failed = true;
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_plain(reading, draft, columns[i], classes[i], collations[i]))
            return false;
    *key = (struct key){
        .name = row_text(reading, result, row, 1),
        .primary = row_bool(result, row, 2),
        .columns = columns,
        .column_count = count,
    };
    return true;
}

static void read_key_run(struct reading *reading, struct relation_draft *draft,
                         const PGresult *result, int from, int to)
{
    struct key *keys = arena_array(reading->arena, (size_t)(to - from), sizeof *keys);
    size_t count = 0;
    for (int row = from; row < to; row++)
        if (read_key(reading, draft, result, row, &keys[count]))
            count++;
    draft->relation.keys = keys;
    draft->relation.key_count = count;
}

void read_keys(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_key_run);
}

/* --- foreign keys, parents ------------------------------------------------------------------ */

static void read_foreign_key_run(struct reading *reading, struct relation_draft *draft,
                                 const PGresult *result, int from, int to)
{
    size_t count = (size_t)(to - from);
    struct foreign_key *keys = arena_array(reading->arena, count, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        int row = from + (int)i;
        size_t child_count;
        keys[i].child = row_oid(reading, result, row, 1);
        keys[i].name = row_text(reading, result, row, 2);
        keys[i].on_delete = row_char(result, row, 3);
        keys[i].on_update = row_char(result, row, 4);
        keys[i].parent_columns = row_int16s(reading, result, row, 5, &keys[i].column_count);
        keys[i].child_columns = row_int16s(reading, result, row, 6, &child_count);
        if (keys[i].column_count == 0 || child_count != keys[i].column_count)
            reading->failed = true;
    }
    draft->relation.referenced_by = keys;
    draft->relation.referenced_by_count = count;
}

void read_foreign_keys(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_foreign_key_run);
}

static void read_parent_run(struct reading *reading, struct relation_draft *draft,
                            const PGresult *result, int from, int to)
{
    size_t count = (size_t)(to - from);
    uint32_t *parents = arena_array(reading->arena, count, sizeof *parents);
    for (size_t i = 0; i < count; i++) {
        parents[i] = row_oid(reading, result, from + (int)i, 1);
        struct relation_draft *parent = find_relation(reading, parents[i]);
        if (parent != NULL)
            parent->relation.has_children = true;
    }
    draft->relation.parents = parents;
    draft->relation.parent_count = count;
}

void read_parents(struct reading *reading, const PGresult *result)
{
    for_each_relation(reading, result, read_parent_run);
}

/* --- rules and triggers ------------------------------------------------------------- */

void read_rules(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        struct relation_draft *draft = find_relation(reading, row_oid(reading, result, row, 0));
        if (draft != NULL)
            draft->relation.has_rules = true;
    }
}

void read_triggers(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        struct relation_draft *draft = find_relation(reading, row_oid(reading, result, row, 0));
        if (draft == NULL)
            continue;
        draft->relation.has_triggers = true;
        if (row_char(result, row, 3) != 'D') /* disabled */
            add_runs_of_trigger(reading, draft->relation.oid, row_int16(reading, result, row, 2),
                                row_oid(reading, result, row, 1));
    }
}

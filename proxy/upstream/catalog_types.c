/*
 * catalog_types.c - functions, types, domains' checks, operators, casts.
 *
 * Objects of schemas that are not in the snapshot are left out; a function that is referred to but
 * not in the snapshot counts as a user's.
 */
#include "proxy/upstream/catalog_rows.h"

#include "parser/builtins.h"

enum {
    FIRST_USER_OID = 16384,
    DOMAIN_DEPTH_MAX = 32, /* domains over domains, and casts to domains in checks */
};

/* --- functions ------------------------------------------------------------------------------ */

static void read_function(struct reading *reading, const PGresult *result, int row)
{
    const struct schema_draft *schema = find_schema(reading, row_oid(reading, result, row, 1));
    if (schema == NULL)
        return;
    struct function *function = &reading->functions[reading->function_count++];
    int16_t arguments = row_int16(reading, result, row, 4);
    int16_t defaults = row_int16(reading, result, row, 5);
    if (arguments < 0 || defaults < 0 || defaults > arguments)
        reading->failed = true;
    size_t type_count;
    *function = (struct function){
        .oid = row_oid(reading, result, row, 0),
        .schema = schema->name,
        .name = row_text(reading, result, row, 2),
        .kind = row_char(result, row, 3),
        .argument_count = (uint16_t)arguments,
        .arguments_required = (uint16_t)(arguments - defaults),
        .variadic = row_bool(result, row, 6),
        .argument_types = row_oids(reading, result, row, 7, &type_count),
        .result_type = row_oid(reading, result, row, 8),
        .returns_set = row_bool(result, row, 9),
    };
    if (type_count != function->argument_count)
        reading->failed = true;
}

void read_functions(struct reading *reading, const PGresult *result)
{
    int count = PQntuples(result);
    reading->functions = arena_array(reading->arena, (size_t)count, sizeof *reading->functions);
    for (int row = 0; row < count; row++)
        read_function(reading, result, row);
}

bool is_user_function(const struct reading *reading, uint32_t oid)
{
    const struct function *function = find_function(reading, oid);
    return function == NULL || oid >= FIRST_USER_OID || !text_is(function->schema, "pg_catalog");
}

void add_function(struct reading *reading, struct list *functions, uint32_t oid)
{
    const uint32_t *known = functions->items;
    for (size_t i = 0; i < functions->count; i++)
        if (known[i] == oid)
            return;
    uint32_t *added = arena_push(reading->arena, &functions->items, &functions->count,
                                 &functions->capacity, sizeof *added);
    *added = oid;
}

/* --- types ---------------------------------------------------------------------------------- */

static void read_type(struct reading *reading, const PGresult *result, int row)
{
    const struct schema_draft *schema = find_schema(reading, row_oid(reading, result, row, 1));
    if (schema == NULL)
        return;
    struct type *type = &reading->types[reading->type_count++].type;
    uint32_t base = row_oid(reading, result, row, 4);
    uint32_t element = row_oid(reading, result, row, 5);
    bool is_array = row_bool(result, row, 6);
    *type = (struct type){
        .oid = row_oid(reading, result, row, 0),
        .schema = schema->name,
        .name = row_text(reading, result, row, 2),
        .kind = row_char(result, row, 3),
        .base = is_array ? element : base,
        .is_array = is_array,
        .relation = row_oid(reading, result, row, 7),
        .user_input = is_user_function(reading, row_oid(reading, result, row, 8)),
        .category = row_char(result, row, 9),
        .preferred = row_bool(result, row, 10),
        .array = row_oid(reading, result, row, 11),
    };
}

void read_types(struct reading *reading, const PGresult *result)
{
    int count = PQntuples(result);
    reading->types = arena_array(reading->arena, (size_t)count, sizeof *reading->types);
    for (int row = 0; row < count; row++)
        read_type(reading, result, row);
}

static void set_base(const struct reading *reading, uint32_t type, uint32_t base)
{
    struct type_draft *draft = find_type(reading, type);
    if (draft != NULL)
        draft->type.base = base;
}

void read_ranges(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        uint32_t subtype = row_oid(reading, result, row, 2);
        set_base(reading, row_oid(reading, result, row, 0), subtype);
        set_base(reading, row_oid(reading, result, row, 1), subtype);
    }
}

void read_domain_checks(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        struct type_draft *draft = find_type(reading, row_oid(reading, result, row, 0));
        if (draft == NULL)
            continue;
        struct reference *reference =
            arena_push(reading->arena, &draft->checks.items, &draft->checks.count,
                       &draft->checks.capacity, sizeof *reference);
        reference->is_type = row_bool(result, row, 1);
        reference->oid = row_oid(reading, result, row, 2);
    }
}

static void add_checks(struct reading *reading, struct list *functions, uint32_t type, int depth)
{
    const struct type_draft *draft = find_type(reading, type);
    if (draft == NULL || (draft->type.kind != 'd' && !draft->type.is_array))
        return;
    if (depth == DOMAIN_DEPTH_MAX) {
        reading->failed = true;
        return;
    }
    add_checks(reading, functions, draft->type.base, depth + 1);
    const struct reference *references = draft->checks.items;
    for (size_t i = 0; i < draft->checks.count; i++) {
        if (references[i].is_type)
            add_checks(reading, functions, references[i].oid, depth + 1);
        else if (is_user_function(reading, references[i].oid))
            add_function(reading, functions, references[i].oid);
    }
}

void add_checks_of_type(struct reading *reading, struct list *functions, uint32_t type)
{
    add_checks(reading, functions, type, 0);
}

/* --- operators and casts -------------------------------------------------------------------- */

void read_operators(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        const struct schema_draft *schema = find_schema(reading, row_oid(reading, result, row, 1));
        if (schema == NULL)
            continue;
        struct operator op = {
            .oid = row_oid(reading, result, row, 0),
            .schema = schema->name,
            .name = row_text(reading, result, row, 2),
            .function = row_oid(reading, result, row, 3),
            .left = row_oid(reading, result, row, 4),
            .right = row_oid(reading, result, row, 5),
            .result = row_oid(reading, result, row, 6),
        };
        catalog_add_operator(reading->catalog, &op);
        if (!row_bool(result, row, 7))
            continue;
        struct operator *kept =
            arena_push(&reading->scratch, &reading->operators.items, &reading->operators.count,
                       &reading->operators.capacity, sizeof *kept);
        *kept = op;
    }
}

void read_casts(struct reading *reading, const PGresult *result)
{
    for (int row = 0; row < PQntuples(result); row++) {
        struct cast cast = {
            .source = row_oid(reading, result, row, 0),
            .target = row_oid(reading, result, row, 1),
            .function = row_oid(reading, result, row, 2),
            .context = row_char(result, row, 3),
        };
        if (cast.function != 0 && !is_user_function(reading, cast.function))
            cast.function = 0;
        catalog_add_cast(reading->catalog, &cast);
        if (cast.function != 0 && !row_bool(result, row, 4))
            add_runs_of_cast(reading, &cast);
    }
}

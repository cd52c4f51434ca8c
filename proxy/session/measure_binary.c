/* measure_binary.c - which values can be told by their binary form. A type that is not known has none. */
#include "proxy/session/measure_children.h"

static bool has_binary_form(const struct catalog *catalog, uint32_t oid, int depth);

static bool composite_has_binary_form(const struct catalog *catalog, const struct type *type,
                                      int depth)
{
    const struct relation *relation = catalog_relation_by_oid(catalog, type->relation);
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++)
        if (!has_binary_form(catalog, relation->columns[i].type, depth))
            return false;
    return relation != NULL;
}

/* Of the types that PostgreSQL comes with only these have none. */
static bool is_without_send(const struct type *type)
{
    return text_is(type->name, "aclitem") || text_is(type->name, "gtsvector");
}

static bool has_binary_form(const struct catalog *catalog, uint32_t oid, int depth)
{
    enum { NESTING_MAX = 8 };
    const struct type *type = catalog_type_by_oid(catalog, oid);
    if (type == NULL || depth > NESTING_MAX || type->user_input || is_without_send(type))
        return false;
    if (type->kind == 'c')
        return composite_has_binary_form(catalog, type, depth + 1);
    return type->base == 0 || has_binary_form(catalog, type->base, depth + 1);
}

bool type_has_binary_form(const struct catalog *catalog, uint32_t oid)
{
    return has_binary_form(catalog, oid, 0);
}

bool relation_has_binary_form(const struct catalog *catalog, const struct relation *relation)
{
    for (size_t i = 0; i < relation->column_count; i++)
        if (!has_binary_form(catalog, relation->columns[i].type, 0))
            return false;
    return relation->column_count > 0;
}

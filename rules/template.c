/* template.c - templates by name, and what their types are called here and on the server. */
#include "rules/template.h"

#include "proxy/base/invariant.h"

static const struct {
    const char *name;
    uint32_t oid, array_oid;
} types[TEMPLATE_TYPE_COUNT] = {
    [TEMPLATE_INTEGER] = {"integer", 20, 1016},
    [TEMPLATE_NUMBER] = {"number", 701, 1022},
    [TEMPLATE_NUMERIC] = {"numeric", 1700, 1231},
    [TEMPLATE_STRING] = {"string", 25, 1009},
    [TEMPLATE_BOOLEAN] = {"boolean", 16, 1000},
    [TEMPLATE_DATE] = {"date", 1082, 1182},
    [TEMPLATE_TIMESTAMP] = {"timestamp", 1114, 1115},
    [TEMPLATE_TIMESTAMPTZ] = {"timestamptz", 1184, 1185},
    [TEMPLATE_UUID] = {"uuid", 2950, 2951},
    [TEMPLATE_JSON] = {"json", 3802, 3807},
};

const char *template_type_name(enum template_type type)
{
    INVARIANT(type > TEMPLATE_NONE && type < TEMPLATE_TYPE_COUNT);
    return types[type].name;
}

uint32_t template_type_oid(enum template_type type, bool array)
{
    INVARIANT(type > TEMPLATE_NONE && type < TEMPLATE_TYPE_COUNT);
    return array ? types[type].array_oid : types[type].oid;
}

const struct template *template_find(const struct template *templates, size_t count,
                                     struct text name)
{
    for (size_t i = 0; i < count; i++)
        if (text_equal(templates[i].name, name))
            return &templates[i];
    return NULL;
}

/* shop_catalog.c - see shop_catalog.h. */
#include "unit/parser/shop_catalog.h"

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"

#include <criterion/criterion.h>

enum { INT = 23, TEXT_TYPE = 25, NUMERIC = 1700, BOOLEAN = 16, TIMESTAMPTZ = 1184 };

enum {
    CUSTOMERS = 1001,
    ORDERS,
    ORDER_ITEMS,
    ORDER_TOTALS,
    ORDERS_PKEY,
    ORDERS_ID_SEQ,
    EVENTS,
    EVENTS_1,
    REVIEWS,
    SALARIES,
    STATUS_TOTALS,
    ADDRESS_RELATION,
    SETTINGS,
};

#define NAME(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct column customers_columns[] = {
    {.name = NAME("id"), .number = 1, .type = INT, .not_null = true},
    {.name = NAME("email"), .number = 2, .type = TEXT_TYPE},
    {.name = NAME("ssn"), .number = 3, .type = TEXT_TYPE},
};

static const struct column orders_columns[] = {
    {.name = NAME("id"), .number = 1, .type = INT, .not_null = true},
    {.name = NAME("customer_id"), .number = 2, .type = INT},
    {.name = NAME("status"), .number = 3, .type = TEXT_TYPE},
    {.name = NAME("total"), .number = 4, .type = NUMERIC, .generated = true},
};

static const struct column items_columns[] = {
    {.name = NAME("order_id"), .number = 1, .type = INT},
    {.name = NAME("quantity"), .number = 2, .type = INT},
};

static const struct column settings_columns[] = {
    {.name = NAME("name"), .number = 1, .type = TEXT_TYPE},
    {.name = NAME("setting"), .number = 2, .type = TEXT_TYPE},
    {.name = NAME("boot_val"), .number = 3, .type = TEXT_TYPE},
};

static const int16_t first_column[] = {1};

static const struct key id_keys[] = {
    {.name = NAME("pkey"), .primary = true, .columns = first_column, .column_count = 1},
};

static const struct foreign_key customers_referenced[] = {
    {.name = NAME("orders_customer_id_fkey"),
     .child = ORDERS,
     .on_delete = 'c',
     .on_update = 'a',
     .parent_columns = first_column,
     .child_columns = first_column,
     .column_count = 1},
};

static const struct foreign_key orders_referenced[] = {
    {.name = NAME("order_items_order_id_fkey"),
     .child = ORDER_ITEMS,
     .on_delete = 'c',
     .on_update = 'a',
     .parent_columns = first_column,
     .child_columns = first_column,
     .column_count = 1},
};

static const struct foreign_key partition_referenced[] = {
    {.name = NAME("reviews_event_fkey"),
     .child = REVIEWS,
     .on_delete = 'a',
     .on_update = 'a',
     .parent_columns = first_column,
     .child_columns = first_column,
     .column_count = 1},
};

static const uint32_t events_parents[] = {EVENTS};

static const struct view_source totals_sources[] = {{ORDERS, 1}, {ORDERS, 4}};

static const struct relation relations[] = {
    {.oid = CUSTOMERS,
     .schema = NAME("shop"),
     .name = NAME("customers"),
     .kind = 'r',
     .columns = customers_columns,
     .column_count = ARRAY_SIZE(customers_columns),
     .keys = id_keys,
     .key_count = 1,
     .referenced_by = customers_referenced,
     .referenced_by_count = 1},
    {.oid = ORDERS,
     .schema = NAME("shop"),
     .name = NAME("orders"),
     .kind = 'r',
     .columns = orders_columns,
     .column_count = ARRAY_SIZE(orders_columns),
     .keys = id_keys,
     .key_count = 1,
     .referenced_by = orders_referenced,
     .referenced_by_count = 1},
    {.oid = ORDER_ITEMS,
     .schema = NAME("shop"),
     .name = NAME("order_items"),
     .kind = 'r',
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns)},
    {.oid = ORDER_TOTALS,
     .schema = NAME("shop"),
     .name = NAME("order_totals"),
     .kind = 'v',
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns),
     .sources = totals_sources,
     .source_count = ARRAY_SIZE(totals_sources)},
    {.oid = STATUS_TOTALS,
     .schema = NAME("shop"),
     .name = NAME("status_totals"),
     .kind = 'm',
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns)},
    {.oid = SETTINGS,
     .schema = NAME("pg_catalog"),
     .name = NAME("pg_settings"),
     .kind = 'v',
     .columns = settings_columns,
     .column_count = ARRAY_SIZE(settings_columns)},
    {.oid = ORDERS_PKEY,
     .schema = NAME("shop"),
     .name = NAME("orders_pkey"),
     .kind = 'i',
     .table = ORDERS},
    {.oid = ORDERS_ID_SEQ, .schema = NAME("shop"), .name = NAME("orders_id_seq"), .kind = 'S'},
    {.oid = EVENTS,
     .schema = NAME("shop"),
     .name = NAME("events"),
     .kind = 'p',
     .has_children = true,
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns)},
    {.oid = EVENTS_1,
     .schema = NAME("shop"),
     .name = NAME("events_1"),
     .kind = 'r',
     .is_partition = true,
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns),
     .parents = events_parents,
     .parent_count = 1,
     .referenced_by = partition_referenced,
     .referenced_by_count = 1},
    {.oid = REVIEWS,
     .schema = NAME("shop"),
     .name = NAME("reviews"),
     .kind = 'r',
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns)},
    {.oid = SALARIES,
     .schema = NAME("hr"),
     .name = NAME("salaries"),
     .kind = 'r',
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns)},
    {.oid = ADDRESS_RELATION,
     .schema = NAME("shop"),
     .name = NAME("address"),
     .kind = 'c',
     .columns = items_columns,
     .column_count = ARRAY_SIZE(items_columns)},
};

static const struct function functions[] = {
    {.oid = 2001, .schema = NAME("shop"), .name = NAME("bump"), .kind = 'f', .result_type = 2279},
    {.oid = 2002, .schema = NAME("shop"), .name = NAME("purge"), .kind = 'p'},
    {.oid = 2003, .schema = NAME("shop"), .name = NAME("is_email"), .kind = 'f'},
    {.oid = 2004, .schema = NAME("shop"), .name = NAME("same"), .kind = 'f'},
};

static const uint32_t email_checks[] = {2003};

static const struct type types[] = {
    {.oid = INT, .schema = NAME("pg_catalog"), .name = NAME("int4"), .kind = 'b'},
    {.oid = TEXT_TYPE, .schema = NAME("pg_catalog"), .name = NAME("text"), .kind = 'b'},
    {.oid = NUMERIC, .schema = NAME("pg_catalog"), .name = NAME("numeric"), .kind = 'b'},
    {.oid = BOOLEAN, .schema = NAME("pg_catalog"), .name = NAME("bool"), .kind = 'b'},
    {.oid = TIMESTAMPTZ, .schema = NAME("pg_catalog"), .name = NAME("timestamptz"), .kind = 'b'},
    {.oid = 1186, .schema = NAME("pg_catalog"), .name = NAME("interval"), .kind = 'b'},
    {.oid = 3001,
     .schema = NAME("shop"),
     .name = NAME("email"),
     .kind = 'd',
     .base = TEXT_TYPE,
     .check_functions = email_checks,
     .check_function_count = 1},
    {.oid = 3002,
     .schema = NAME("shop"),
     .name = NAME("address"),
     .kind = 'c',
     .relation = ADDRESS_RELATION},
    {.oid = 3003, .schema = NAME("shop"), .name = NAME("mood"), .kind = 'e'},
};

struct catalog *shop_catalog(void)
{
    struct catalog *catalog = catalog_new();
    struct operator same = {
        .schema = NAME("shop"), .name = NAME("==="), .function = 2004, .left = 23, .right = 23};

    catalog_add_schema(catalog, TEXT("pg_catalog"));
    catalog_add_schema(catalog, TEXT("shop"));
    catalog_add_schema(catalog, TEXT("hr"));
    for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
        catalog_add_relation(catalog, &relations[i]);
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
        catalog_add_function(catalog, &functions[i]);
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        catalog_add_type(catalog, &types[i]);
    catalog_add_operator(catalog, &same);
    catalog_seal(catalog, (struct instant){1}, 150020);
    return catalog;
}

static const struct catalog *the_catalog(void)
{
    static struct catalog *catalog;

    if (catalog == NULL)
        catalog = shop_catalog();
    return catalog;
}

void shop_analyse(struct arena *arena, const char *sql, struct analysis *out)
{
    static const struct text path[] = {NAME("shop")};
    const struct analyse_context context = {
        .catalog = the_catalog(), .search_path = path, .search_path_count = ARRAY_SIZE(path)};

    analyse(arena, &context, text_from(sql), out);
}

static void append_columns(struct buffer *out, const struct action *action)
{
    if (action->columns_unknown)
        buffer_append_string(out, "(*)");
    if (action->column_count == 0)
        return;
    for (size_t i = 0; i < action->column_count; i++) {
        buffer_append_string(out, i == 0 ? "(" : ", ");
        buffer_append_text(out, action->columns[i]);
    }
    buffer_append_byte(out, ')');
}

static void append_action(struct buffer *out, struct arena *arena, const struct action *action)
{
    bool read = action->verb == VERB_SELECT && action->part == PART_READ;

    if (out->size > 0)
        buffer_append_string(out, "; ");
    buffer_append_string(out, read ? "read" : verb_name(action->verb));
    buffer_append_byte(out, ' ');
    buffer_append_text(out, object_text(arena, &action->object));
    append_columns(out, action);
    if (action->unresolved)
        buffer_append_byte(out, '!');
}

static void append_setting(struct buffer *out, const struct setting_use *use)
{
    static const char *const acts[] = {
        [SETTING_SET] = "SET",     [SETTING_SET_LOCAL] = "SET LOCAL",
        [SETTING_RESET] = "RESET", [SETTING_RESET_ALL] = "RESET ALL",
        [SETTING_SHOW] = "SHOW",   [SETTING_TRANSACTION] = "TRANSACTION",
    };

    if (out->size > 0)
        buffer_append_string(out, "; ");
    buffer_printf(out, "%s %.*s", acts[use->act], TEXT_ARGS(use->name));
    if (use->value.size > 0)
        buffer_printf(out, " = %.*s", TEXT_ARGS(use->value));
    if (use->value_unknown)
        buffer_append_string(out, " = ?");
}

const struct shape *shop_shape(struct arena *arena, const char *sql)
{
    struct analysis analysis;

    shop_analyse(arena, sql, &analysis);
    if (analysis.result != ANALYSE_OK || analysis.statement_count == 0)
        return NULL;
    return &analysis.statements[0].shape;
}

const char *shop_actions(struct arena *arena, const char *sql)
{
    struct analysis analysis;
    struct buffer out;
    struct text result;

    shop_analyse(arena, sql, &analysis);
    if (analysis.result != ANALYSE_OK)
        return arena_printf(arena, "rejected: %.*s", TEXT_ARGS(analysis.message)).bytes;
    buffer_init(&out, 100000);
    for (size_t i = 0; i < analysis.statements[0].shape.action_count; i++)
        append_action(&out, arena, &analysis.statements[0].shape.actions[i]);
    for (size_t i = 0; i < analysis.statements[0].shape.setting_count; i++)
        append_setting(&out, &analysis.statements[0].shape.settings[i]);
    result = arena_text(arena, buffer_text(&out));
    buffer_release(&out);
    return result.bytes;
}

void check_actions(const struct action_case *cases, size_t count)
{
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < count; i++) {
        const char *actions = shop_actions(&arena, cases[i].sql);

        cr_expect_str_eq(actions, cases[i].actions, "%s\n  expected: %s\n  got:      %s",
                         cases[i].sql, cases[i].actions, actions);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

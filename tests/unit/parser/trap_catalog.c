/* trap_catalog.c - see trap_catalog.h. */
#include "unit/parser/trap_catalog.h"

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    BOOL = 16,
    INT8 = 20,
    INT4 = 23,
    TEXT_OID = 25,
    JSON = 114,
    FLOAT8 = 701,
    VARCHAR = 1043,
    NUMERIC = 1700,
    REGCLASS = 2205,
    ANY = 2276,
    JSONB = 3802,
};

enum {
    CUSTOMERS = 20001,
    ORDERS,
    ORDER_ITEMS,
    PRODUCTS,
    EVENTS,
    EVENTS_1,
    SALARIES,
    PUBLIC_ORDERS,
    ORDER_TOTALS,
    NESTED_TOTALS,
    MAILBOX,
    ORDERS_SEQ,
    ADDRESS_ROW,
    BOOM_ROW,
    CHECKED_ROW,
    KEPT,
    PEOPLE,
    LOGGING_VIEW,
    CUSTOMERS_ROW_TYPE,
    PG_CLASS,
};

enum {
    ADDRESS = 21001,
    BOOM,
    EVIL,
    EVIL_ARRAY,
    MOOD,
    RAW,
    CHECKED,
    HOME,
};

enum {
    LOG_IT = 22001,
    LOG_IT2,
    WIPE,
    COUNT,
    ROUND,
    BUMP,
    SUM_ALL,
    MANY,
    DEFAULTS,
    VARI,
    TO_BOOM,
    DOM_OK,
    MOOD_JSON,
    NOW_LIKE,
    FILE_UNLINK,
    MOOD_TEXT,
};

#define NAME(literal) ((struct text){literal, sizeof(literal) - 1})

/* --- relations ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint32_t oid;
} type_names[] = {
    {"int", INT4},  {"text", TEXT_OID},   {"numeric", NUMERIC}, {"jsonb", JSONB}, {"bool", BOOL},
    {"int8", INT8}, {"float8", FLOAT8},   {"address", ADDRESS}, {"boom", BOOM},   {"mood", MOOD},
    {"evil", EVIL}, {"varchar", VARCHAR}, {"checked", CHECKED}, {"evils", EVIL_ARRAY},
};

static uint32_t type_oid(struct text name)
{
    for (size_t i = 0; i < ARRAY_SIZE(type_names); i++)
        if (text_is(name, type_names[i].name))
            return type_names[i].oid;
    cr_assert_fail("no type %.*s", TEXT_ARGS(name));
    return 0;
}

static struct text word(const char **rest, char end)
{
    const char *start = *rest;
    const char *stop = strchr(start, end);
    size_t size = stop != NULL ? (size_t)(stop - start) : strlen(start);
    *rest = stop != NULL ? stop + 1 : start + size;
    return (struct text){start, size};
}

/* "id:int name:text" */
static void set_columns(struct arena *arena, struct relation *relation, const char *columns)
{
    struct column *list = arena_array(arena, 20, sizeof *list);
    size_t count = 0;
    while (*columns != '\0') {
        list[count].name = word(&columns, ':');
        list[count].type = type_oid(word(&columns, ' '));
        list[count].number = (int16_t)(count + 1);
        count++;
    }
    relation->columns = list;
    relation->column_count = count;
}

static struct relation table(struct arena *arena, uint32_t oid, struct text schema,
                             struct text name, const char *columns)
{
    struct relation relation = {
        .oid = oid, .schema = schema, .name = name, .kind = 'r', .persistence = 'p', .rows = 100};
    set_columns(arena, &relation, columns);
    return relation;
}

static const int16_t first[] = {1}, second[] = {2}, both[] = {1, 2};

static const struct key id_and_email[] = {
    {.name = {"customers_pkey", 14}, .primary = true, .columns = first, .column_count = 1},
    {.name = {"customers_email_key", 19}, .columns = second, .column_count = 1},
};

static const struct key id_key[] = {
    {.name = {"orders_pkey", 11}, .primary = true, .columns = first, .column_count = 1},
};

static const struct key item_key[] = {
    {.name = {"order_items_pkey", 16}, .primary = true, .columns = both, .column_count = 2},
};

static struct foreign_key references(uint32_t child, char on_delete, char on_update)
{
    return (struct foreign_key){.child = child,
                                .on_delete = on_delete,
                                .on_update = on_update,
                                .parent_columns = first,
                                .child_columns = second,
                                .column_count = 1};
}

static void add_tables(struct catalog *catalog)
{
    struct arena *arena = catalog_arena(catalog);
    struct foreign_key *keys = arena_array(arena, 2, sizeof *keys);
    keys[0] = references(ORDERS, 'c', 'a');
    keys[1] = references(ORDER_ITEMS, 'r', 'c');
    struct relation customers = table(arena, CUSTOMERS, NAME("shop"), NAME("customers"),
                                      "id:int email:text ssn:text name:text attrs:jsonb vip:bool");
    customers.keys = id_and_email;
    customers.key_count = 2;
    customers.referenced_by = &keys[0];
    customers.referenced_by_count = 1;
    catalog_add_relation(catalog, &customers);
    struct relation orders = table(arena, ORDERS, NAME("shop"), NAME("orders"),
                                   "id:int customer_id:int status:text total:numeric notes:text");
    orders.keys = id_key;
    orders.key_count = 1;
    orders.referenced_by = &keys[1];
    orders.referenced_by_count = 1;
    catalog_add_relation(catalog, &orders);
    struct relation items = table(arena, ORDER_ITEMS, NAME("shop"), NAME("order_items"),
                                  "order_id:int line:int qty:int");
    items.keys = item_key;
    items.key_count = 1;
    catalog_add_relation(catalog, &items);
    struct relation products = table(arena, PRODUCTS, NAME("shop"), NAME("products"),
                                     "id:int8 sku:varchar name:text price:float8");
    products.keys = id_and_email;
    products.key_count = 2;
    catalog_add_relation(catalog, &products);
    struct relation events = table(arena, EVENTS, NAME("shop"), NAME("events"), "id:int day:text");
    events.kind = 'p';
    events.has_children = true;
    events.keys = id_key;
    events.key_count = 1;
    catalog_add_relation(catalog, &events);
    struct relation people = table(arena, PEOPLE, NAME("shop"), NAME("people"),
                                   "id:int home:address mood:mood blast:boom");
    catalog_add_relation(catalog, &people);
    struct relation salaries =
        table(arena, SALARIES, NAME("hr"), NAME("salaries"), "id:int salary:int");
    catalog_add_relation(catalog, &salaries);
    struct relation other =
        table(arena, PUBLIC_ORDERS, NAME("public"), NAME("orders"), "id:int secret:text");
    catalog_add_relation(catalog, &other);
    struct relation classes =
        table(arena, PG_CLASS, NAME("pg_catalog"), NAME("pg_class"), "oid:int relname:text");
    catalog_add_relation(catalog, &classes);
}

static void add_partition(struct catalog *catalog)
{
    static const uint32_t parents[] = {EVENTS};
    static const struct foreign_key keys[] = {{.child = PRODUCTS,
                                               .on_delete = 'n',
                                               .on_update = 'a',
                                               .parent_columns = first,
                                               .child_columns = first,
                                               .column_count = 1}};
    struct relation relation =
        table(catalog_arena(catalog), EVENTS_1, NAME("shop"), NAME("events_1"), "id:int day:text");
    relation.is_partition = true;
    relation.parents = parents;
    relation.parent_count = 1;
    relation.referenced_by = keys;
    relation.referenced_by_count = 1;
    catalog_add_relation(catalog, &relation);
}

static void add_view(struct catalog *catalog, uint32_t oid, struct text name, const char *columns,
                     const struct view_source *sources, size_t count)
{
    struct relation view = table(catalog_arena(catalog), oid, NAME("shop"), name, columns);
    static const uint32_t logging[] = {LOG_IT};
    view.kind = 'v';
    view.sources = sources;
    view.source_count = count;
    view.has_rules = oid == MAILBOX;
    view.functions = oid == LOGGING_VIEW ? logging : NULL;
    view.function_count = oid == LOGGING_VIEW ? 1 : 0;
    catalog_add_relation(catalog, &view);
}

static void add_views(struct catalog *catalog)
{
    static const struct view_source totals[] = {
        {ORDERS, 1}, {ORDERS, 4}, {ORDER_ITEMS, VIEW_SOURCE_ROWS_ONLY}};
    static const struct view_source nested[] = {{ORDER_TOTALS, 1}};
    static const struct view_source mailbox[] = {{ORDERS, VIEW_SOURCE_EVERY_COLUMN}};
    add_view(catalog, ORDER_TOTALS, NAME("order_totals"), "order_id:int total:numeric", totals, 3);
    add_view(catalog, NESTED_TOTALS, NAME("nested_totals"), "order_id:int", nested, 1);
    add_view(catalog, MAILBOX, NAME("mailbox"), "id:int notes:text", mailbox, 1);
    add_view(catalog, LOGGING_VIEW, NAME("logged"), "id:int", nested, 0);
}

static void add_others(struct catalog *catalog)
{
    struct arena *arena = catalog_arena(catalog);
    struct relation sequence =
        table(arena, ORDERS_SEQ, NAME("shop"), NAME("orders_id_seq"), "last_value:int8");
    sequence.kind = 'S';
    catalog_add_relation(catalog, &sequence);
    struct relation kept =
        table(arena, KEPT, NAME("shop"), NAME("kept"), "id:int e:evil es:evils c:checked");
    static const uint32_t by_default[] = {LOG_IT};
    kept.expression_functions = by_default;
    kept.expression_function_count = 1;
    catalog_add_relation(catalog, &kept);
    struct relation row =
        table(arena, ADDRESS_ROW, NAME("shop"), NAME("address"), "street:text zip:text");
    row.kind = 'c';
    catalog_add_relation(catalog, &row);
    row = table(arena, BOOM_ROW, NAME("shop"), NAME("boom"), "x:int");
    row.kind = 'c';
    catalog_add_relation(catalog, &row);
    row = table(arena, CHECKED_ROW, NAME("shop"), NAME("checked"), "x:evil");
    row.kind = 'c';
    catalog_add_relation(catalog, &row);
}

/* --- types, functions, operators, casts ----------------------------------------------------- */

static void add_type(struct catalog *catalog, struct text schema, struct text name, uint32_t oid,
                     char kind, uint32_t base, uint32_t relation)
{
    static const uint32_t checks[] = {DOM_OK};
    struct type type = {.oid = oid,
                        .schema = schema,
                        .name = name,
                        .kind = kind,
                        .base = base,
                        .relation = relation,
                        .is_array = oid == EVIL_ARRAY,
                        .user_input = oid == RAW};
    if (oid == EVIL) {
        type.check_functions = checks;
        type.check_function_count = 1;
    }
    catalog_add_type(catalog, &type);
}

static void add_types(struct catalog *catalog)
{
    static const struct {
        const char *name;
        uint32_t oid;
    } builtin[] = {{"bool", BOOL},         {"int8", INT8},       {"int4", INT4},
                   {"text", TEXT_OID},     {"json", JSON},       {"float8", FLOAT8},
                   {"jsonb", JSONB},       {"varchar", VARCHAR}, {"numeric", NUMERIC},
                   {"regclass", REGCLASS}, {"interval", 1186},   {"date", 1082},
                   {"tsquery", 3615},      {"xml", 142}};
    for (size_t i = 0; i < ARRAY_SIZE(builtin); i++)
        add_type(catalog, NAME("pg_catalog"), text_from(builtin[i].name), builtin[i].oid, 'b', 0,
                 0);
    struct text shop = NAME("shop");
    add_type(catalog, shop, NAME("address"), ADDRESS, 'c', 0, ADDRESS_ROW);
    add_type(catalog, shop, NAME("boom"), BOOM, 'c', 0, BOOM_ROW);
    add_type(catalog, shop, NAME("checked"), CHECKED, 'c', 0, CHECKED_ROW);
    add_type(catalog, shop, NAME("customers"), CUSTOMERS_ROW_TYPE, 'c', 0, CUSTOMERS);
    add_type(catalog, shop, NAME("evil"), EVIL, 'd', INT4, 0);
    add_type(catalog, shop, NAME("_evil"), EVIL_ARRAY, 'b', EVIL, 0);
    add_type(catalog, shop, NAME("home"), HOME, 'd', ADDRESS, 0);
    add_type(catalog, shop, NAME("mood"), MOOD, 'e', 0, 0);
    add_type(catalog, shop, NAME("raw"), RAW, 'b', 0, 0);
}

static void add_function(struct catalog *catalog, uint32_t oid, struct text schema,
                         struct text name, uint16_t required, uint16_t arguments)
{
    static const uint32_t two_integers[] = {INT4, INT4}, customer[] = {CUSTOMERS_ROW_TYPE};
    struct function function = {.oid = oid,
                                .schema = schema,
                                .name = name,
                                .kind = 'f',
                                .arguments_required = required,
                                .argument_count = arguments,
                                .argument_types = oid == ROUND   ? two_integers
                                                  : oid == COUNT ? customer
                                                                 : NULL,
                                .result_type = INT4,
                                .returns_set = oid == MANY,
                                .variadic = oid == VARI};
    catalog_add_function(catalog, &function);
}

static void add_code(struct catalog *catalog)
{
    struct text shop = NAME("shop"), public = NAME("public");
    add_function(catalog, LOG_IT, shop, NAME("log_it"), 1, 1);
    add_function(catalog, LOG_IT2, shop, NAME("log_it2"), 2, 2);
    add_function(catalog, BUMP, shop, NAME("bump"), 0, 0);
    add_function(catalog, SUM_ALL, shop, NAME("sum_all"), 1, 1);
    add_function(catalog, MANY, shop, NAME("many"), 0, 0);
    add_function(catalog, DEFAULTS, shop, NAME("defaults"), 1, 3);
    add_function(catalog, VARI, shop, NAME("vari"), 1, 1);
    add_function(catalog, TO_BOOM, shop, NAME("to_boom"), 1, 1);
    add_function(catalog, DOM_OK, shop, NAME("dom_ok"), 1, 1);
    add_function(catalog, MOOD_JSON, shop, NAME("mood_json"), 1, 1);
    add_function(catalog, MOOD_TEXT, shop, NAME("mood_text"), 1, 1);
    add_function(catalog, WIPE, public, NAME("wipe"), 1, 1);
    add_function(catalog, COUNT, public, NAME("count"), 1, 1);
    add_function(catalog, ROUND, public, NAME("round"), 2, 2);
    add_function(catalog, NOW_LIKE, NAME("hr"), NAME("now"), 0, 0);
    add_function(catalog, FILE_UNLINK, NAME("pg_catalog"), NAME("pg_file_unlink"), 1, 1);
    const struct operator operators[] = {
        {0, shop, NAME("==="), LOG_IT2, INT4, INT4, BOOL},
        {0, public, NAME("==="), LOG_IT2, INT4, INT4, BOOL},
        {0, NAME("hr"), NAME("="), LOG_IT2, ANY, ANY, BOOL},
        {0, NAME("hr"), NAME("~~"), LOG_IT2, ANY, ANY, BOOL},
        {0, NAME("hr"), NAME("->"), LOG_IT2, EVIL, TEXT_OID, INT4}};
    for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
        catalog_add_operator(catalog, &operators[i]);
    const struct cast casts[] = {{INT4, BOOM, TO_BOOM, 'e'},
                                 {MOOD, JSON, MOOD_JSON, 'a'},
                                 {MOOD, TEXT_OID, MOOD_TEXT, 'i'}};
    for (size_t i = 0; i < ARRAY_SIZE(casts); i++)
        catalog_add_cast(catalog, &casts[i]);
}

const struct catalog *trap_catalog(void)
{
    static struct catalog *catalog;
    if (catalog != NULL)
        return catalog;
    catalog = catalog_new();
    static const char *const schemas[] = {"pg_catalog", "information_schema", "public", "shop",
                                          "hr"};
    for (size_t i = 0; i < ARRAY_SIZE(schemas); i++)
        catalog_add_schema(catalog, text_from(schemas[i]));
    add_tables(catalog);
    add_partition(catalog);
    add_views(catalog);
    add_others(catalog);
    add_types(catalog);
    add_code(catalog);
    catalog_seal(catalog, (struct instant){0}, 150020);
    return catalog;
}

/* --- analysing ------------------------------------------------------------------------------ */

static void run(struct arena *arena, const struct catalog *catalog, const char *path,
                const char *sql, struct analysis *out)
{
    struct text schemas[4];
    size_t count = 0;
    while (*path != '\0' && count < ARRAY_SIZE(schemas))
        schemas[count++] = word(&path, ',');
    struct analyse_context context = {
        .catalog = catalog, .search_path = schemas, .search_path_count = count};
    *out = (struct analysis){0};
    analyse(arena, &context, text_from(sql), out);
}

void trap_analyse(struct arena *arena, const char *path, const char *sql, struct analysis *out)
{
    run(arena, trap_catalog(), path, sql, out);
}

void trap_analyse_offline(struct arena *arena, const char *path, const char *sql,
                          struct analysis *out)
{
    run(arena, NULL, path, sql, out);
}

static void append_action(struct arena *arena, struct buffer *out, const struct action *action)
{
    static const char *const parts[] = {"", "read ", "view "};
    buffer_printf(out, "%s%s%s ", out->size > 0 ? "; " : "", parts[action->part],
                  verb_name(action->verb));
    buffer_append_text(out, object_text(arena, &action->object));
    buffer_append_string(out, action->unresolved ? "!" : "");
    buffer_append_string(out, action->columns_unknown ? "*" : "");
    for (size_t i = 0; i < action->column_count; i++) {
        buffer_append_string(out, i == 0 ? "(" : ", ");
        buffer_append_text(out, action->columns[i]);
    }
    buffer_append_string(out, action->column_count > 0 ? ")" : "");
}

const char *trap_text(struct arena *arena, const struct analysis *analysis)
{
    struct buffer out;
    buffer_init(&out, 64 * 1024);
    if (analysis->result != ANALYSE_OK)
        buffer_printf(&out, "rejected: %.*s", TEXT_ARGS(analysis->message));
    for (size_t s = 0; analysis->result == ANALYSE_OK && s < analysis->statement_count; s++) {
        const struct shape *shape = &analysis->statements[s].shape;
        for (size_t i = 0; i < shape->action_count; i++)
            append_action(arena, &out, &shape->actions[i]);
        for (size_t i = 0; i < shape->setting_count; i++)
            buffer_printf(&out, "%s%s %.*s = %.*s", out.size > 0 ? "; " : "",
                          shape->settings[i].act == SETTING_SHOW        ? "show"
                          : shape->settings[i].act == SETTING_SET_LOCAL ? "set local"
                                                                        : "set",
                          TEXT_ARGS(shape->settings[i].name), TEXT_ARGS(shape->settings[i].value));
    }
    const char *text = arena_text(arena, buffer_text(&out)).bytes;
    buffer_release(&out);
    return text;
}

const char *trap_actions(struct arena *arena, const char *path, const char *sql)
{
    struct analysis analysis;
    trap_analyse(arena, path, sql, &analysis);
    return trap_text(arena, &analysis);
}

const struct action *trap_action(struct arena *arena, const char *sql, enum verb verb)
{
    struct analysis analysis;
    trap_analyse(arena, "", sql, &analysis);
    cr_assert_eq(analysis.result, ANALYSE_OK, "%s: %.*s", sql, TEXT_ARGS(analysis.message));
    const struct shape *shape = &analysis.statements[0].shape;
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].verb == verb)
            return &shape->actions[i];
    cr_assert_fail("%s: no %s", sql, verb_name(verb));
    return NULL;
}

void check_traps(const char *path, const struct trap_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        arena_init(&arena);
        const char *actions = trap_actions(&arena, path, cases[i].sql);
        cr_expect_str_eq(actions, cases[i].actions, "%s\n  gives    %s\n  expected %s",
                         cases[i].sql, actions, cases[i].actions);
        arena_release(&arena);
    }
}

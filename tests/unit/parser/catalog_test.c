/* catalog_test.c - building, look-ups, inheritance and lifetime of the catalog snapshot. */
#include "parser/catalog.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>

static const int16_t first_column[] = {1};
static const uint32_t parents_of_leaf[] = {11, 12};
static const uint32_t parents_of_middle[] = {10};

static const struct column order_columns[] = {
    {.name = {"id", 2}, .number = 1, .type = 23, .not_null = true},
    {.name = {"status", 6}, .number = 3, .type = 25},
};

static const struct key order_keys[] = {
    {.name = {"orders_pkey", 11}, .primary = true, .columns = first_column, .column_count = 1},
};

static void add_relation(struct catalog *catalog, uint32_t oid, const char *schema,
                         const char *name, const uint32_t *parents, size_t parent_count)
{
    struct relation relation = {
        .oid = oid,
        .schema = text_from(schema),
        .name = text_from(name),
        .kind = 'r',
        .columns = order_columns,
        .column_count = ARRAY_SIZE(order_columns),
        .keys = order_keys,
        .key_count = ARRAY_SIZE(order_keys),
        .parents = parents,
        .parent_count = parent_count,
    };
    catalog_add_relation(catalog, &relation);
}

static void add_function(struct catalog *catalog, uint32_t oid, const char *schema,
                         const char *name)
{
    struct function function = {.oid = oid, .schema = text_from(schema), .name = text_from(name)};
    catalog_add_function(catalog, &function);
}

/* top (10) is inherited by left (11) and right (12), both by leaf (13). */
static struct catalog *sample(void)
{
    struct catalog *catalog = catalog_new();
    catalog_add_schema(catalog, TEXT("shop"));
    catalog_add_schema(catalog, TEXT("pg_catalog"));
    catalog_add_schema(catalog, TEXT("hr"));
    add_relation(catalog, 13, "shop", "leaf", parents_of_leaf, 2);
    add_relation(catalog, 11, "shop", "left", parents_of_middle, 1);
    add_relation(catalog, 12, "shop", "right", parents_of_middle, 1);
    add_relation(catalog, 10, "shop", "top", NULL, 0);
    add_relation(catalog, 20, "hr", "orders", NULL, 0);
    add_relation(catalog, 21, "shop", "orders", NULL, 0);

    add_function(catalog, 31, "pg_catalog", "lower");
    add_function(catalog, 32, "shop", "lower");
    add_function(catalog, 33, "public", "lower");
    add_function(catalog, 34, "public", "wipe");
    add_function(catalog, 35, "information_schema", "wipe");

    struct type type = {.oid = 40, .schema = TEXT("shop"), .name = TEXT("evil_dom"), .kind = 'd'};
    catalog_add_type(catalog, &type);
    struct operator op = {.schema = TEXT("shop"), .name = TEXT("==="), .function = 32};
    catalog_add_operator(catalog, &op);
    op.schema = TEXT("public");
    catalog_add_operator(catalog, &op);
    struct cast cast = {.source = 23, .target = 40, .function = 34};
    catalog_add_cast(catalog, &cast);
    catalog_add_cast(catalog, &(struct cast){.source = 23, .target = 20, .context = 'i'});
    catalog_add_operator(catalog, &(struct operator){.oid = 96,
                                                     .schema = TEXT("pg_catalog"),
                                                     .name = TEXT("==="),
                                                     .function = 65,
                                                     .left = 23,
                                                     .right = 23});

    catalog_seal(catalog, (struct instant){12345}, 150020);
    return catalog;
}

Test(catalog, finds_a_relation_by_schema_and_name)
{
    static const struct {
        const char *schema, *name;
        uint32_t oid;
    } cases[] = {
        {"shop", "orders", 21}, {"hr", "orders", 20},   {"shop", "top", 10},   {"shop", "leaf", 13},
        {"shop", "order", 0},   {"shop", "orderss", 0}, {"Shop", "orders", 0}, {"", "orders", 0},
        {"hr", "top", 0},       {"shop", "", 0},
    };
    struct catalog *catalog = sample();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct relation *found =
            catalog_relation(catalog, text_from(cases[i].schema), text_from(cases[i].name));
        cr_expect_eq(found != NULL ? found->oid : 0, cases[i].oid, "%s.%s", cases[i].schema,
                     cases[i].name);
    }
    catalog_release(catalog);
}

Test(catalog, finds_objects_by_oid)
{
    struct catalog *catalog = sample();
    const uint32_t relations[] = {10, 11, 12, 13, 20, 21};
    for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
        cr_expect_eq(catalog_relation_by_oid(catalog, relations[i])->oid, relations[i]);
    for (uint32_t oid = 31; oid <= 35; oid++)
        cr_expect_eq(catalog_function_by_oid(catalog, oid)->oid, oid);
    cr_expect_eq(catalog_type_by_oid(catalog, 40)->kind, 'd');

    cr_expect_null(catalog_relation_by_oid(catalog, 0));
    cr_expect_null(catalog_relation_by_oid(catalog, 40));
    cr_expect_null(catalog_function_by_oid(catalog, 36));
    cr_expect_null(catalog_type_by_oid(catalog, 39));
    catalog_release(catalog);
}

Test(catalog, knows_its_schemas_types_and_origin)
{
    struct catalog *catalog = sample();
    cr_expect(catalog_has_schema(catalog, TEXT("hr")));
    cr_expect(catalog_has_schema(catalog, TEXT("pg_catalog")));
    cr_expect_not(catalog_has_schema(catalog, TEXT("public")));
    cr_expect_eq(catalog_type(catalog, TEXT("shop"), TEXT("evil_dom"))->oid, 40);
    cr_expect_null(catalog_type(catalog, TEXT("hr"), TEXT("evil_dom")));
    cr_expect_eq(catalog_taken(catalog).us, 12345);
    cr_expect_eq(catalog_server_version(catalog), 150020);
    catalog_release(catalog);
}

Test(catalog, gives_all_user_functions_of_a_name_and_no_built_in)
{
    struct catalog *catalog = sample();
    size_t count = 0;
    const struct function *functions = catalog_functions(catalog, TEXT("lower"), &count);
    cr_assert_eq(count, 2);
    cr_expect_eq(functions[0].oid, 33);
    cr_expect_eq(functions[1].oid, 32);

    functions = catalog_functions(catalog, TEXT("wipe"), &count);
    cr_assert_eq(count, 1);
    cr_expect_eq(functions[0].oid, 34);

    cr_expect_null(catalog_functions(catalog, TEXT("now"), &count));
    cr_expect_eq(count, 0);
    catalog_release(catalog);
}

Test(catalog, gives_operators_of_every_schema_and_all_casts)
{
    struct catalog *catalog = sample();
    size_t count = 0;
    const struct operator* operators = catalog_operators(catalog, TEXT("==="), &count);
    cr_assert_eq(count, 2);
    cr_expect(text_is(operators[0].schema, "public"));
    cr_expect(text_is(operators[1].schema, "shop"));
    cr_expect_null(catalog_operators(catalog, TEXT("=="), &count));
    cr_expect_eq(count, 0);

    const struct cast *casts = catalog_casts(catalog, &count);
    cr_assert_eq(count, 1);
    cr_expect_eq(casts[0].function, 34);

    operators = catalog_builtin_operators(catalog, TEXT("==="), &count);
    cr_assert_eq(count, 1);
    cr_expect_eq(operators[0].function, 65);
    cr_expect_eq(catalog_builtin_functions(catalog, TEXT("lower"), &count)->oid, 31);
    cr_expect(catalog_casts_implicitly(catalog, 23, 20));
    cr_expect_not(catalog_casts_implicitly(catalog, 20, 23));
    cr_expect_not(catalog_casts_implicitly(catalog, 23, 40));
    catalog_release(catalog);
}

Test(catalog, finds_columns_by_name_and_number_across_a_dropped_one)
{
    struct catalog *catalog = sample();
    const struct relation *orders = catalog_relation_by_oid(catalog, 21);
    cr_expect_eq(relation_column(orders, TEXT("status"))->number, 3);
    cr_expect_null(relation_column(orders, TEXT("STATUS")));
    cr_expect(text_is(relation_column_by_number(orders, 3)->name, "status"));
    cr_expect_null(relation_column_by_number(orders, 2));
    cr_expect_null(relation_column_by_number(orders, 0));
    cr_expect_null(relation_column_by_number(orders, -6));
    catalog_release(catalog);
}

Test(catalog, lists_children_of_all_levels_once)
{
    struct catalog *catalog = sample();
    struct arena arena;
    arena_init(&arena);
    size_t count = 0;
    const struct relation *const *children =
        catalog_children(catalog, &arena, catalog_relation_by_oid(catalog, 10), &count);
    cr_assert_eq(count, 3);
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += children[i]->oid;
    cr_expect_eq(sum, 11 + 12 + 13);
    cr_expect_eq(children[2]->oid, 13);

    children = catalog_children(catalog, &arena, catalog_relation_by_oid(catalog, 12), &count);
    cr_assert_eq(count, 1);
    cr_expect_eq(children[0]->oid, 13);

    catalog_children(catalog, &arena, catalog_relation_by_oid(catalog, 13), &count);
    cr_expect_eq(count, 0);
    arena_release(&arena);
    catalog_release(catalog);
}

Test(catalog, survives_a_cycle_of_parents)
{
    static const uint32_t two[] = {2}, one[] = {1};
    struct catalog *catalog = catalog_new();
    add_relation(catalog, 1, "s", "a", two, 1);
    add_relation(catalog, 2, "s", "b", one, 1);
    catalog_seal(catalog, (struct instant){0}, 150000);
    struct arena arena;
    arena_init(&arena);
    size_t count = 0;
    catalog_children(catalog, &arena, catalog_relation_by_oid(catalog, 1), &count);
    cr_expect_eq(count, 2);
    arena_release(&arena);
    catalog_release(catalog);
}

Test(catalog, finds_nothing_in_an_empty_one)
{
    struct catalog *catalog = catalog_new();
    catalog_seal(catalog, (struct instant){0}, 150000);
    size_t count = 1;
    cr_expect_null(catalog_relation(catalog, TEXT("s"), TEXT("t")));
    cr_expect_null(catalog_type_by_oid(catalog, 23));
    cr_expect_null(catalog_functions(catalog, TEXT("f"), &count));
    cr_expect_eq(count, 0);
    cr_expect_not(catalog_has_schema(catalog, TEXT("s")));
    catalog_release(catalog);
}

Test(catalog, finds_each_of_many)
{
    enum { MANY = 5000 };
    struct catalog *catalog = catalog_new();
    for (uint32_t i = 0; i < MANY; i++) {
        /* 7919 is prime to MANY: every oid once, in no order. */
        uint32_t oid = 1 + i * 7919 % MANY;
        struct text name = arena_printf(catalog_arena(catalog), "t%u", oid);
        add_relation(catalog, oid, "shop", name.bytes, NULL, 0);
    }
    catalog_seal(catalog, (struct instant){0}, 150000);
    struct arena arena;
    arena_init(&arena);
    for (uint32_t oid = 1; oid <= MANY; oid++) {
        const struct relation *found = catalog_relation_by_oid(catalog, oid);
        cr_assert_eq(found->oid, oid);
        cr_assert_eq(catalog_relation(catalog, TEXT("shop"), arena_printf(&arena, "t%u", oid)),
                     found);
    }
    arena_release(&arena);
    catalog_release(catalog);
}

Test(catalog, refuses_to_grow_after_seal, .signal = SIGABRT)
{
    struct catalog *catalog = sample();
    catalog_add_schema(catalog, TEXT("late"));
}

Test(catalog, refuses_look_ups_before_seal, .signal = SIGABRT)
{
    struct catalog *catalog = catalog_new();
    catalog_relation_by_oid(catalog, 1);
}

static void *retain_and_release(void *argument)
{
    struct catalog *catalog = argument;
    for (int i = 0; i < 10000; i++) {
        catalog_retain(catalog);
        if (catalog_relation_by_oid(catalog, 10) == NULL)
            return NULL;
        catalog_release(catalog);
    }
    catalog_release(catalog);
    return argument;
}

Test(catalog, lives_until_the_last_thread_lets_go)
{
    struct catalog *catalog = sample();
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, retain_and_release, catalog_retain(catalog)),
                     0);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        cr_expect_not_null(result);
    }
    cr_expect_eq(catalog_relation_by_oid(catalog, 21)->oid, 21);
    catalog_release(catalog);
    catalog_release(NULL);
}

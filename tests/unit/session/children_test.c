/* children_test.c - the rows that foreign keys reach as a part of their parent's fingerprint: which are
 * followed, which cannot be told. */
#include "proxy/session/measure_children.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>
#include <string.h>

enum { INT = 23, FOREIGN_TYPE = 5001, PARENT = 1, CHILD, GRANDCHILD, PARTITION };

#define NAME(literal) {literal, sizeof(literal) - 1}

static const struct column columns[] = {
    {.name = NAME("id"), .number = 1, .type = INT, .not_null = true},
    {.name = NAME("up"), .number = 2, .type = INT},
    {.name = NAME("odd"), .number = 3, .type = FOREIGN_TYPE},
};
static const int16_t id[] = {1}, up[] = {2}, odd[] = {3};
static const struct key primary = {.name = NAME("pkey"), .primary = true, .columns = id, .column_count = 1};

/* What differs from a parent with a child with a grandchild, each deleted with what it belongs to. */
struct setting {
    char on_delete, on_update;
    const int16_t *parent_columns, *child_columns;
    uint32_t child;            /* of the parent's foreign key; 0: CHILD */
    bool secured, keyless, heir, partition;
};

static struct arena arena;

static void add(struct catalog *catalog, struct relation relation)
{
    relation.schema = TEXT("s");
    relation.kind = relation.kind != 0 ? relation.kind : 'r';
    relation.columns = columns;
    relation.column_count = ARRAY_SIZE(columns);
    catalog_add_relation(catalog, &relation);
}

static struct foreign_key key_to(uint32_t child, char on_delete)
{
    return (struct foreign_key){.name = TEXT("fkey"), .child = child, .on_delete = on_delete, .on_update = 'c',
                                .parent_columns = id, .child_columns = up, .column_count = 1};
}

static struct catalog *make(const struct setting *setting)
{
    struct catalog *catalog = catalog_new();
    static const uint32_t of_parent[] = {PARENT}, of_child[] = {CHILD};
    static struct foreign_key keys[2], to_grandchild; /* the catalog keeps pointers to them */
    keys[0] = key_to(CHILD, 'c');
    keys[1] = key_to(PARTITION, 'c');
    to_grandchild = key_to(GRANDCHILD, 'c');
    keys[0].child = setting->child != 0 ? setting->child : CHILD;
    keys[0].on_delete = setting->on_delete != 0 ? setting->on_delete : 'c';
    keys[0].on_update = setting->on_update != 0 ? setting->on_update : 'c';
    keys[0].parent_columns = setting->parent_columns != NULL ? setting->parent_columns : id;
    keys[0].child_columns = setting->child_columns != NULL ? setting->child_columns : up;
    catalog_add_schema(catalog, TEXT("s"));
    add(catalog, (struct relation){.oid = PARENT, .name = TEXT("parent"), .keys = &primary, .key_count = 1,
                                   .has_children = setting->heir, .referenced_by = keys,
                                   .referenced_by_count = setting->partition ? 2 : 1});
    add(catalog, (struct relation){.oid = CHILD, .name = TEXT("child"), .kind = setting->partition ? 'p' : 'r',
                                   .keys = &primary, .key_count = setting->keyless ? 0 : 1,
                                   .row_security = setting->secured, .referenced_by = &to_grandchild,
                                   .referenced_by_count = 1});
    add(catalog, (struct relation){.oid = GRANDCHILD, .name = TEXT("grandchild"), .keys = &primary, .key_count = 1});
    add(catalog, (struct relation){.oid = PARTITION, .name = TEXT("more"), .is_partition = setting->partition,
                                   .parents = setting->partition ? of_child : of_parent, .parent_count = 1,
                                   .referenced_by = &to_grandchild, .referenced_by_count = setting->heir ? 1 : 0});
    catalog_add_type(catalog, &(struct type){.oid = INT, .schema = TEXT("pg_catalog"), .name = TEXT("int4"), .kind = 'b'});
    catalog_add_type(catalog, &(struct type){.oid = FOREIGN_TYPE, .schema = TEXT("s"), .name = TEXT("odd"), .kind = 'b',
                                             .user_input = true});
    catalog_seal(catalog, (struct instant){1}, 150000);
    return catalog;
}

static size_t times(struct text text, const char *word)
{
    size_t count = 0;
    for (size_t i = 0; i + strlen(word) <= text.size; i++)
        count += memcmp(text.bytes + i, word, strlen(word)) == 0;
    return count;
}

static const struct {
    const char *what;
    struct setting setting;
    bool update;
    const int16_t *set;
    bool unknown, may_be_null;
    size_t levels; /* sub-selects that look for children */
} cases[] = {
    {"two levels deep", {0}, false, NULL, false, false, 2},
    {"set null ends it", {.on_delete = 'n'}, false, NULL, false, false, 1},
    {"set default ends it", {.on_delete = 'd'}, false, NULL, false, false, 1},
    {"set null in a column that others reference", {.on_delete = 'n', .child_columns = id}, false, NULL, false, false, 2},
    {"no action", {.on_delete = 'a'}, false, NULL, false, false, 0},
    {"restrict", {.on_delete = 'r'}, false, NULL, false, false, 0},
    {"a key that changes", {0}, true, id, false, false, 1},
    {"a key that changes where it is part of others", {.child_columns = id}, true, id, false, false, 2},
    {"a column that is no key", {0}, true, up, false, false, 0},
    {"a key that must not change", {.on_update = 'a'}, true, id, false, false, 0},
    {"row security of a child", {.secured = true}, false, NULL, true, false, 0},
    {"row security of a child that is left alone", {.secured = true, .on_delete = 'a'}, false, NULL, false, false, 0},
    {"a type with equality of its own", {.parent_columns = odd}, false, NULL, true, false, 0},
    {"neither key nor binary form", {.keyless = true}, false, NULL, true, false, 0},
    {"a child that is not in the catalog", {.child = 99}, false, NULL, true, false, 0},
    {"a circle", {.child = PARENT}, false, NULL, false, true, 7},
    {"an heir with foreign keys of its own", {.heir = true}, false, NULL, true, false, 0},
    {"a partition's copy of a foreign key", {.partition = true}, false, NULL, false, false, 2},
};

Test(children, are_followed_as_far_as_the_servers_actions_go)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        arena_init(&arena);
        struct catalog *catalog = make(&cases[i].setting);
        const struct written_row row = {.table = catalog_relation_by_oid(catalog, PARENT),
                                        .alias = TEXT("p"),
                                        .verb = cases[i].update ? VERB_UPDATE : VERB_DELETE,
                                        .columns = cases[i].set,
                                        .column_count = cases[i].set != NULL ? 1 : 0};
        struct children found;
        measure_children(&arena, catalog, &row, &found);
        cr_expect_eq(found.unknown, cases[i].unknown, "%s", cases[i].what);
        cr_expect_eq(found.may_be_null, cases[i].may_be_null, "%s", cases[i].what);
        cr_expect_eq(times(found.sql, " FROM "), 2 * cases[i].levels - (cases[i].may_be_null ? 1 : 0), "%s: %.*s",
                     cases[i].what, TEXT_ARGS(found.sql));
        catalog_release(catalog);
        arena_release(&arena);
    }
}

Test(children, are_looked_up_by_the_parents_old_key)
{
    arena_init(&arena);
    const struct setting setting = {0};
    struct catalog *catalog = make(&setting);
    const struct written_row row = {
        .table = catalog_relation_by_oid(catalog, PARENT), .alias = TEXT("\"Parent\""), .verb = VERB_DELETE};
    struct children found;
    measure_children(&arena, catalog, &row, &found);
    static const char *const parts[] = {
        "FROM ONLY s.child AS pgwicket_c1 WHERE pgwicket_c1.up OPERATOR(pg_catalog.=) \"Parent\".id",
        "FROM ONLY s.grandchild AS pgwicket_c2 WHERE pgwicket_c2.up OPERATOR(pg_catalog.=) pgwicket_c1.id",
        "ROW(2, 2, pgwicket_c1.id)",
        "ROW(3, 2, pgwicket_c2.id)",
    };
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        cr_expect_eq(times(found.sql, parts[i]), 1, "%s: %.*s", parts[i], TEXT_ARGS(found.sql));
    catalog_release(catalog);
    arena_release(&arena);
}

/* path_test.c - schemas that the session's role may not use, or a role that it may take. */
#include "rules/path.h"
#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The login is `login`; it may become `app` and `other`. Who lacks USAGE, and where: "login a; app b". */
static struct catalog *catalog_with(const char *closed)
{
    struct catalog *catalog = catalog_new();
    char role[20], schema[20];
    int read;
    for (const char *at = closed; sscanf(at, " %19s %19[^;]%n", role, schema, &read) == 2; at += read + (at[read] == ';')) {
        const struct closed_schema item = {.schema = arena_text(catalog_arena(catalog), text_from(schema)),
                                           .role = arena_text(catalog_arena(catalog), text_from(role)),
                                           .of_login = strcmp(role, "login") == 0};
        catalog_add_closed_schema(catalog, &item);
    }
    catalog_seal(catalog, (struct instant){0}, 150000);
    return catalog;
}

static const struct {
    const char *rule, *start_role, *closed;
    const char *path; /* of a, b; with "?" where it depends */
} cases[] = {
    {"select on *.*", NULL, "", "a b"},
    {"select on *.*", NULL, "login a", "b"},
    {"select on *.*", NULL, "login b", "a"},
    {"select on *.*", NULL, "login a; login b", ""},
    {"select on *.*", NULL, "app a; other b", "a b"},
    {"select on *.*", NULL, "login c", "a b"},
    {"set on role:app", NULL, "other a", "a b"},
    {"set on role:app", NULL, "app a", "a b ?"},
    {"set on role:app", NULL, "login a", "a b ?"},
    {"set on role:*", NULL, "other b", "a b ?"},
    {"set on role:app", NULL, "login a; app a; other a", "a b ?"},
    {"select on *.*", "app", "login a", "a b"},
    {"select on *.*", "app", "app a", "b"},
    {"select on *.*", "none", "login a", "b"},
    {"set on role:other", "app", "app b", "a b ?"},
};

Test(path, leaves_out_what_the_server_passes_over)
{
    static const struct text schemas[] = {TEXT_INIT("a"), TEXT_INIT("b")};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rule rules[] = {test_rule(VERDICT_ALLOW, cases[i].rule)};
        struct policy policy = test_policy(rules, 1);
        struct setting_rule role = {.name = TEXT("role")};
        policy.search_path = schemas;
        policy.search_path_count = ARRAY_SIZE(schemas);
        policy.search_path_pinned = true;
        if (cases[i].start_role != NULL) {
            role.value = text_from(cases[i].start_role);
            policy.settings = &role;
            policy.setting_count = 1;
        }
        struct catalog *catalog = catalog_with(cases[i].closed);
        struct arena arena;
        arena_init(&arena);
        const struct decide_context context = {.policy = &policy, .catalog = catalog};
        const struct used_path path = path_in_use(&arena, &context);
        char found[40] = "";
        for (size_t j = 0; j < path.count; j++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%.*s", j > 0 ? " " : "",
                     TEXT_ARGS(path.schemas[j]));
        if (path.open)
            snprintf(found + strlen(found), sizeof found - strlen(found), " ?");
        cr_expect_str_eq(found, cases[i].path, "%s, role %s, without USAGE: %s: %s", cases[i].rule,
                         cases[i].start_role != NULL ? cases[i].start_role : "-", cases[i].closed, found);
        arena_release(&arena);
        catalog_release(catalog);
    }
}

Test(path, is_the_policys_without_a_catalog)
{
    static const struct text schemas[] = {TEXT_INIT("a")};
    struct rule rules[] = {test_rule(VERDICT_ALLOW, "select on a.*")};
    struct policy policy = test_policy(rules, 1);
    struct arena arena;
    policy.search_path = schemas;
    policy.search_path_count = 1;
    arena_init(&arena);
    const struct used_path path = path_in_use(&arena, &(struct decide_context){.policy = &policy});
    cr_assert_eq(path.count, 1);
    cr_assert_not(path.open);
    arena_release(&arena);
}

/* setting_value_test.c - values of settings as the server reads them. */
#include "rules/setting_value.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

static const struct {
    const char *value;
    int64_t ms; /* -1: not understood */
} timeouts[] = {
    {"0", 0},           {"5000", 5000},   {"30s", 30000}, {" 30 s ", 30000}, {"2min", 120000},
    {"1h", 3600000},    {"1d", 86400000}, {"7ms", 7},     {"5000us", 5},     {"500us", -1},
    {"0.4ms", -1},      {"0.0001h", -1},  {"-1", -1},     {"1e3", -1},       {"0x10", -1},
    {"010", -1},        {"30S", -1},      {"5m", -1},     {"", -1},          {"s", -1},
    {"99999999999", -1}, {"30d1", -1},    {"1 000", -1},
};

Test(setting_value, reads_timeouts_that_the_server_does_not_round)
{
    for (size_t i = 0; i < ARRAY_SIZE(timeouts); i++) {
        int64_t ms = -1;
        bool understood = setting_timeout_ms(text_from(timeouts[i].value), &ms);
        cr_expect_eq(understood, timeouts[i].ms >= 0, "\"%s\"", timeouts[i].value);
        if (understood)
            cr_expect_eq(ms, timeouts[i].ms, "\"%s\"", timeouts[i].value);
    }
}

static const struct {
    const char *value;
    int boolean; /* -1: none */
} booleans[] = {{"on", 1},  {"ON", 1},  {"t", 1},     {"tru", 1}, {"yes", 1}, {"y", 1},  {"1", 1},
                {"off", 0}, {"of", 0},  {"false", 0}, {"n", 0},   {"0", 0},   {"o", -1}, {"", -1},
                {"2", -1},  {"yesx", -1}, {"onn", -1}};

Test(setting_value, reads_booleans_with_the_servers_abbreviations)
{
    for (size_t i = 0; i < ARRAY_SIZE(booleans); i++) {
        bool boolean;
        bool understood = setting_boolean(text_from(booleans[i].value), &boolean);
        cr_expect_eq(understood, booleans[i].boolean >= 0, "\"%s\"", booleans[i].value);
        if (understood)
            cr_expect_eq(boolean, booleans[i].boolean == 1, "\"%s\"", booleans[i].value);
    }
}

static const struct {
    const char *name, *a, *b;
    bool equal;
} pairs[] = {
    {"jit", "off", "false", true},
    {"jit", "off", "on", false},
    {"statement_timeout", "30s", "30000", true},
    {"statement_timeout", "30s", "31s", false},
    {"datestyle", "ISO, MDY", "ISO,MDY", true},
    {"datestyle", "ISO, MDY", "ISO", false},
    {"app.tenant", "17", "17", true},
    {"app.tenant", "1", "true", false},
    {"app.tenant", "17", "17ms", false},
    {"app.tenant", "17", " 17", false},
    {"application_name", "on", "true", false},
};

Test(setting_value, compares_by_the_settings_type)
{
    for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
        cr_expect_eq(setting_values_equal(text_from(pairs[i].name), text_from(pairs[i].a),
                                          text_from(pairs[i].b)),
                     pairs[i].equal, "%s: \"%s\" and \"%s\"", pairs[i].name, pairs[i].a, pairs[i].b);
}

static const struct {
    const char *value, *schemas;
    bool same;
} paths[] = {
    {"shop", "shop", true},
    {"SHOP", "shop", true}, /* unquoted: the server folds it */
    {"\"shop\"", "shop", true},
    {"\"SHOP\"", "shop", false},
    {"\"Shop\"", "Shop", true},
    {"Shop", "Shop", false},
    {"shop,public", "shop public", true},
    {" shop , public ", "shop public", true},
    {"public, shop", "shop public", false},
    {"shop", "shop public", false},
    {"shop, public, hr", "shop public", false},
    {"shop, ", "shop", false},
    {"\"shop, public\"", "shop public", false},
    {"\"shop", "shop", false},
    {"shop public", "shop public", false},
    {"", "", true},
    {"\"\"", "", true},
    {"shop", "", false},
    {"", "shop", false},
};

Test(setting_value, recognises_its_own_search_path)
{
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        size_t count;
        struct text *schemas = test_names(paths[i].schemas, &count);
        cr_expect_eq(setting_is_search_path(text_from(paths[i].value), schemas, count),
                     paths[i].same, "\"%s\" for \"%s\"", paths[i].value, paths[i].schemas);
    }
}

Test(setting_value, quotes_every_schema_of_a_path)
{
    const struct text schemas[] = {TEXT("shop"), TEXT("a\"b"), TEXT("c, d")};
    struct text path = setting_search_path(&test_arena, schemas, 3);
    cr_assert(text_is(path, "\"shop\", \"a\"\"b\", \"c, d\""));
    cr_assert(setting_is_search_path(path, schemas, 3));
    cr_assert(text_is(setting_search_path(&test_arena, schemas, 0), ""));
}

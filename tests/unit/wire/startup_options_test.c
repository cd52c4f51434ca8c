/* startup_options_test.c - the options parameter, as the server's command line. */
#include "proxy/wire/startup.h"

#include "tests/unit/base/check.h"

enum { SETTINGS_MAX = 4 };

static struct arena arena;
static struct startup_parameter settings[SETTINGS_MAX];
static size_t count;

static void begin(void)
{
    arena_init(&arena);
}

static void end(void)
{
    arena_release(&arena);
}

TestSuite(startup_options, .init = begin, .fini = end);

static bool split(const char *options)
{
    return startup_options(&arena, text_from(options), settings, SETTINGS_MAX, &count);
}

Test(startup_options, one_setting_in_every_spelling)
{
    static const struct {
        const char *options;
        const char *name;
        const char *value;
    } cases[] = {
        {"-c a=b", "a", "b"},
        {"-ca=b", "a", "b"},
        {"--a=b", "a", "b"},
        {"  -c\t\n\v\f\r a=b  ", "a", "b"},
        {"--statement-timeout=5s", "statement_timeout", "5s"},
        {"-c search-path=my-schema", "search_path", "my-schema"},
        {"-c a=", "a", ""},
        {"-c a==b", "a", "=b"},
        {"-c a=b\\ c", "a", "b c"},
        {"-c a=b\\\\c", "a", "b\\c"},
        {"-c a=\\'b\\'", "a", "'b'"},
        {"-c a=b\\", "a", "b"},
        {"-c\\ a=b", " a", "b"},
        {"\\-c a=b", "a", "b"},
        {"-c --a=b", "__a", "b"},
        {"-c a=\"b c\"", NULL, NULL},
        {"-c a=\xC2\xA0", "a", "\xC2\xA0"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool good = split(cases[i].options);
        cr_expect_eq(good, cases[i].name != NULL, "%s", cases[i].options);
        if (!good || cases[i].name == NULL)
            continue;
        cr_expect_eq(count, 1, "%s", cases[i].options);
        CHECK_TEXT(settings[0].name, cases[i].name);
        CHECK_TEXT(settings[0].value, cases[i].value);
    }
}

Test(startup_options, several_settings_keep_their_order)
{
    cr_assert(split("-c a=1 --b=2 -cc=3 -c a=4"));
    cr_assert_eq(count, 4);
    CHECK_TEXT(settings[0].value, "1");
    CHECK_TEXT(settings[1].name, "b");
    CHECK_TEXT(settings[2].name, "c");
    CHECK_TEXT(settings[3].value, "4");
}

Test(startup_options, nothing_is_no_setting)
{
    static const char *const empty[] = {"", " ", " \t\n"};
    for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
        count = 99;
        cr_expect(split(empty[i]));
        cr_expect_eq(count, 0);
    }
}

Test(startup_options, everything_else_is_refused)
{
    static const char *const bad[] = {
        "-c",       "-c a",        "--",        "--a",    "-c =b",     "--=b",      "a=b",
        "-d 5",     "-f s",        "-e",        "-P",     "-s",        "-",         "\\",
        "-c a=b x", "-c a=b -d 1", "-c a=b -c", "-C a=b", "-E -c a=b", "-- -c a=b", "- c a=b",
    };
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        cr_expect_not(split(bad[i]), "%s", bad[i]);
}

Test(startup_options, more_settings_than_there_is_room_for_are_refused)
{
    cr_expect(split("-ca=1 -ca=2 -ca=3 -ca=4"));
    cr_expect_not(split("-ca=1 -ca=2 -ca=3 -ca=4 -ca=5"));
}

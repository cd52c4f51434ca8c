/* held_value_test.c - binary values of held statements as approvers read them, and bytes that are no value. */
#include "proxy/session/held_value.h"

#include <criterion/criterion.h>

enum { MOOD = 5000, MOODS, ODD, ODDS, DOMAIN, DOMAINS, INTS = 1007, TEXTS = 1009, BYTEAS = 1001, NUMERICS = 1231 };

static struct arena arena;
static struct catalog *catalog;

static void add(uint32_t oid, char kind, uint32_t base, bool is_array)
{
    catalog_add_type(catalog, &(struct type){.oid = oid, .schema = TEXT("s"), .name = TEXT("t"), .kind = kind,
                                             .base = base, .is_array = is_array});
}

static void setup(void)
{
    arena_init(&arena);
    catalog = catalog_new();
    add(INTS, 'b', 23, true);
    add(TEXTS, 'b', 25, true);
    add(BYTEAS, 'b', 17, true);
    add(NUMERICS, 'b', 1700, true);
    add(MOOD, 'e', 0, false);
    add(MOODS, 'b', MOOD, true);
    add(ODD, 'b', 0, false);
    add(ODDS, 'b', ODD, true);
    add(DOMAIN, 'd', INTS, false);
    add(DOMAINS, 'b', DOMAIN, true);
    catalog_seal(catalog, (struct instant){0}, 150000);
}

static void teardown(void)
{
    catalog_release(catalog);
    arena_release(&arena);
}

TestSuite(held_value, .init = setup, .fini = teardown);

static const struct {
    uint32_t type;
    struct text bytes;
    const char *shown; /* NULL: none */
} values[] = {
    {16, TEXT_INIT("\1"), "true"},
    {16, TEXT_INIT("\2"), NULL}, /* the server reads it as true */
    {20, TEXT_INIT("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE"), "-2"},
    {21, TEXT_INIT("\0\0\0\1"), NULL},
    {26, TEXT_INIT("\xFF\xFF\xFF\xFF"), "4294967295"},
    {25, TEXT_INIT("it's"), "it's"},
    {19, TEXT_INIT("name"), "name"},
    {17, TEXT_INIT("\0\xAB"), "\\x00ab"},
    {17, TEXT_INIT(""), "\\x"},
    {701, TEXT_INIT("\x3F\xF8\0\0\0\0\0\0"), "1.5"},
    {701, TEXT_INIT("\x7F\xF0\0\0\0\0\0\0"), "Infinity"},
    {701, TEXT_INIT("\xFF\xF0\0\0\0\0\0\0"), "-Infinity"},
    {701, TEXT_INIT("\x7F\xF8\0\0\0\0\0\0"), "NaN"},
    {701, TEXT_INIT("\x7F\xF8\0\0"), NULL},
    {700, TEXT_INIT("\xFF\x80\0\0"), "-Infinity"},
    {1700, TEXT_INIT("\0\2\0\0\x40\0\0\2\0\x13\x26\xAC"), "-19.99"},
    {1700, TEXT_INIT("\0\0\0\0\xC0\0\0\0"), "NaN"},
    {1700, TEXT_INIT("\0\0\0\0\xF0\0\0\0"), "-Infinity"},
    {1700, TEXT_INIT("\0\0\0\0\xE0\0\0\0"), NULL},
    {1082, TEXT_INIT("\0\0\0\x1F"), "2000-02-01"},
    {1082, TEXT_INIT("\x7F\xFF\xFF\xFF"), "infinity"},
    {1082, TEXT_INIT("\x80\0\0\1"), NULL},
    {1114, TEXT_INIT("\0\0\0\0\0\x0F\x42\x40"), "2000-01-01T00:00:01.000000"},
    {1184, TEXT_INIT("\x80\0\0\0\0\0\0\0"), "-infinity"},
    {1083, TEXT_INIT("\0\0\0\x14\x1D\xD7\x60\0"), "24:00:00.000000"},
    {1083, TEXT_INIT("\0\0\0\x14\x1D\xD7\x60\1"), NULL},
    {1266, TEXT_INIT("\0\0\0\0\0\x0F\x42\x40\xFF\xFF\xF1\xF0"), "00:00:01.000000+01:00:00"},
    {1266, TEXT_INIT("\0\0\0\0\0\x0F\x42\x40\x7F\xFF\xF1\xF0"), NULL},
    {1186, TEXT_INIT("\0\0\0\0\0\x0F\x42\x40\0\0\0\1\xFF\xFF\xFF\xFE"), "-2 mons 1 days 00:00:01.000000"},
    {1186, TEXT_INIT("\xFF\xFF\xFF\xFF\xFF\xF0\xBD\xC0\0\0\0\0\0\0\0\0"), "0 mons 0 days -00:00:01.000000"},
    {2950, TEXT_INIT("0123456789abcdef"), "30313233-3435-3637-3839-616263646566"},
    {114, TEXT_INIT("{}"), "{}"},
    {3802, TEXT_INIT("\1{}"), "{}"},
    {3802, TEXT_INIT("\2{}"), NULL},
    {869, TEXT_INIT("\2\x20\0\4\x7F\0\0\1"), "127.0.0.1"},
    {869, TEXT_INIT("\2\x08\0\4\x0A\0\0\1"), "10.0.0.1/8"},
    {650, TEXT_INIT("\3\x80\1\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"), "::1/128"},
    {869, TEXT_INIT("\2\x21\0\4\x7F\0\0\1"), NULL},
    {869, TEXT_INIT("\2\x20\0\4\x7F\0\0"), NULL},
    {829, TEXT_INIT("\1\2\3\4\5\xFF"), "01:02:03:04:05:ff"},
    {1562, TEXT_INIT("\0\0\0\x0A\xA0\x40"), "1010000001"},
    {1562, TEXT_INIT("\xFF\xFF\xFF\xFF\xA0"), NULL},
    {600, TEXT_INIT("0123456789abcdef"), NULL}, /* point */
    {0, TEXT_INIT("x"), NULL},
    {MOOD, TEXT_INIT("sad"), "sad"},
    {ODD, TEXT_INIT("x"), NULL},
    /* dimensions, whether there are NULLs, type of the elements, size and lower bound, elements */
    {INTS, TEXT_INIT("\0\0\0\0\0\0\0\0\0\0\0\x17"), "{}"},
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\0\0\0\0\1"), "{}"},
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\1\0\0\0\x17\0\0\0\2\0\0\0\1\0\0\0\4\0\0\0\7\xFF\xFF\xFF\xFF"), "{7,NULL}"},
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\1\0\0\0\x17\0\0\0\1\0\0\0\0\0\0\0\4\0\0\0\7"), "[0:0]={7}"},
    {INTS, TEXT_INIT("\0\0\0\2\0\0\0\0\0\0\0\x17\0\0\0\2\0\0\0\1\0\0\0\1\0\0\0\1"
                     "\0\0\0\4\0\0\0\7\0\0\0\4\0\0\0\x08"), "{{7},{8}}"},
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0\1"), NULL},             /* of bigint */
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x17\x40\0\0\0\0\0\0\1\0\0\0\4\0\0\0\7"), NULL}, /* too many */
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\x08\0\0\0\7"), NULL},
    {INTS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0\7x"), NULL},
    {INTS, TEXT_INIT("\0\0\0\7\0\0\0\0\0\0\0\x17"), NULL},
    {TEXTS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x19\0\0\0\4\0\0\0\1\0\0\0\3a\"b\0\0\0\4NULL\0\0\0\0\0\0\0\3a,b"),
     "{\"a\\\"b\",\"NULL\",\"\",\"a,b\"}"},
    {TEXTS, TEXT_INIT("\0\0\0\6\0\0\0\0\0\0\0\x19\0\0\0\3\0\0\0\1\0\0\0\3\0\0\0\1\0\0\0\3\0\0\0\1"
                      "\0\0\0\3\0\0\0\1\0\0\0\3\0\0\0\1\0\0\0\3\0\0\0\1"), NULL}, /* 729 of nothing */
    {BYTEAS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x11\0\0\0\1\0\0\0\1\0\0\0\1\xAB"), "{\"\\\\xab\"}"},
    {NUMERICS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\6\xA4\0\0\0\1\0\0\0\1\0\0\0\x0A\0\1\0\0\0\0\0\0\0\x2A"), "{42}"},
    {MOODS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\x13\x88\0\0\0\1\0\0\0\1\0\0\0\3sad"), "{sad}"},
    {ODDS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\x13\x8A\0\0\0\1\0\0\0\1\0\0\0\1x"), NULL},
    {DOMAIN, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0\7"), "{7}"},
    {DOMAINS, TEXT_INIT("\0\0\0\1\0\0\0\0\0\0\x13\x8C\0\0\0\1\0\0\0\1\0\0\0\4\0\0\0\7"), NULL}, /* of arrays */
};

Test(held_value, a_value_is_shown_as_postgresql_writes_it_or_not_at_all)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct text text;
        bool shown = held_value_text(&arena, catalog, values[i].type, values[i].bytes, &text);
        cr_expect_eq(shown, values[i].shown != NULL, "%zu", i);
        if (shown && values[i].shown != NULL)
            cr_expect(text_is(text, values[i].shown), "%zu: %.*s", i, TEXT_ARGS(text));
    }
}

Test(held_value, without_a_catalog_there_are_only_fixed_types)
{
    struct text text;
    cr_expect(held_value_text(&arena, NULL, 23, TEXT("\0\0\0\7"), &text));
    cr_expect_not(held_value_text(&arena, NULL, MOOD, TEXT("sad"), &text));
    cr_expect_not(held_value_text(&arena, NULL, INTS, TEXT("\0\0\0\0\0\0\0\0\0\0\0\x17"), &text));
}

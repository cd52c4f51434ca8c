/* template_binary_test.c - the binary forms of drivers: what they say, and bytes that say nothing. */
#include "rules/template.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>

static struct text check(enum template_type type, bool array, uint32_t declared, struct text bytes)
{
    const struct template_parameter parameter = {.name = TEXT("p"),
                                                 .type = type,
                                                 .array = array,
                                                 .min_length = -1,
                                                 .max_length = -1,
                                                 .min_items = -1,
                                                 .max_items = -1};
    const struct template_value value = {VALUE_BINARY, declared, bytes};
    struct text bound, problem;
    if (template_check(&test_arena, &parameter, &value, &bound, &problem))
        return bound;
    cr_expect(text_starts_with(problem, "must ") || text_starts_with(problem, "item "), "%.*s",
              TEXT_ARGS(problem));
    return TEXT("!");
}

#define BYTES(literal) TEXT_INIT(literal)

static const struct {
    enum template_type type;
    uint32_t declared;
    struct text bytes;
    const char *bound; /* "!": refused */
} scalars[] = {
    {TEMPLATE_INTEGER, 21, BYTES("\x80\0"), "-32768"},
    {TEMPLATE_INTEGER, 23, BYTES("\0\0\0\x2A"), "42"},
    {TEMPLATE_INTEGER, 20, BYTES("\x80\0\0\0\0\0\0\0"), "-9223372036854775808"},
    {TEMPLATE_INTEGER, 0, BYTES("\0\0\0\0\0\0\0\7"), "7"},
    {TEMPLATE_INTEGER, 0, BYTES("\0\0\0\7"), "!"},
    {TEMPLATE_INTEGER, 23, BYTES("\0\0\0"), "!"},
    {TEMPLATE_INTEGER, 23, BYTES("\0\0\0\1\0"), "!"},
    {TEMPLATE_INTEGER, 23, BYTES(""), "!"},
    {TEMPLATE_INTEGER, 701, BYTES("\x40\x45\0\0\0\0\0\0"), "42"},
    {TEMPLATE_INTEGER, 701, BYTES("\x40\x45\x20\0\0\0\0\0"), "!"},
    {TEMPLATE_NUMBER, 23, BYTES("\xFF\xFF\xFF\xFF"), "-1"},
    {TEMPLATE_NUMBER, 700, BYTES("\x3D\xCC\xCC\xCD"), "0.1"},
    {TEMPLATE_NUMBER, 701, BYTES("\x3F\xB9\x99\x99\x99\x99\x99\x9A"), "0.1"},
    {TEMPLATE_NUMBER, 701, BYTES("\x3F\xD3\x33\x33\x33\x33\x33\x34"), "0.30000000000000004"},
    {TEMPLATE_NUMBER, 701, BYTES("\x7F\xEF\xFF\xFF\xFF\xFF\xFF\xFF"), "1.7976931348623157e+308"},
    {TEMPLATE_NUMBER, 701, BYTES("\0\0\0\0\0\0\0\1"), "4.94065645841247e-324"},
    {TEMPLATE_NUMBER, 701, BYTES("\x7F\xF8\0\0\0\0\0\0"), "!"},
    {TEMPLATE_NUMBER, 701, BYTES("\x7F\xF0\0\0\0\0\0\0"), "!"},
    {TEMPLATE_NUMBER, 701, BYTES("\xFF\xF0\0\0\0\0\0\0"), "!"},
    {TEMPLATE_NUMBER, 700, BYTES("\x7F\xC0\0\0"), "!"},
    {TEMPLATE_NUMERIC, 701, BYTES("\x3F\xB9\x99\x99\x99\x99\x99\x9A"), "0.1"},
    /* numeric: digits, weight, sign, scale, then the digits */
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\0\0\0\0\0\0\0"), "0"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\0\0\0\0\0\0\2"), "0.00"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\1\0\0\0\0\0\0\0\x2A"), "42"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\2\0\0\x40\0\0\2\0\x13\x26\xAC"), "-19.99"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\3\0\1\0\0\0\2\0\1\x09\x29\x15\x7C"), "12345.55"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\1\xFF\xFE\0\0\0\6\0\x64"), "0.000001"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\1\0\2\0\0\0\0\0\1"), "100000000"},
    {TEMPLATE_INTEGER, 1700, BYTES("\0\1\0\1\0\0\0\0\0\1"), "10000"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\2\0\0\0\0\0\1\0\1\0\1"), "!"}, /* digits behind the scale */
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\0\0\0\xC0\0\0\0"), "!"},       /* NaN */
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\0\0\0\xD0\0\0\0"), "!"},       /* infinity */
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\1\0\0\0\0\0\0\x27\x10"), "!"}, /* digit 10000 */
    {TEMPLATE_NUMERIC, 1700, BYTES("\xFF\xFF\0\0\0\0\0\0"), "!"},
    {TEMPLATE_NUMERIC, 1700, BYTES("\0\0\0\0\0\0\xFF\xFF"), "!"},
    {TEMPLATE_STRING, 25, BYTES("it's"), "it's"},
    {TEMPLATE_STRING, 1043, BYTES("a\0b"), "!"},
    {TEMPLATE_STRING, 25, BYTES("\xFF\xFE"), "!"},
    {TEMPLATE_STRING, 17, BYTES("bytes"), "!"},
    {TEMPLATE_STRING, 23, BYTES("\0\0\0\1"), "!"},
    {TEMPLATE_STRING, 1009, BYTES("{a}"), "!"},
    {TEMPLATE_DATE, 25, BYTES("2026-11-30"), "2026-11-30"},
    {TEMPLATE_BOOLEAN, 16, BYTES("\1"), "true"},
    {TEMPLATE_BOOLEAN, 16, BYTES("\0"), "false"},
    {TEMPLATE_BOOLEAN, 16, BYTES("\2"), "!"},
    {TEMPLATE_BOOLEAN, 16, BYTES("t"), "!"},
    {TEMPLATE_DATE, 1082, BYTES("\0\0\0\0"), "2000-01-01"},
    {TEMPLATE_DATE, 1082, BYTES("\0\0\x26\x66"), "2026-11-30"},
    {TEMPLATE_DATE, 1082, BYTES("\xFF\xFF\xFF\xFF"), "1999-12-31"},
    {TEMPLATE_DATE, 1082, BYTES("\xFF\xF4\xDB\xF9"), "0001-01-01"},
    {TEMPLATE_DATE, 1082, BYTES("\xFF\xF4\xDB\xF8"), "!"},
    {TEMPLATE_DATE, 1082, BYTES("\0\x2C\x95\xD3"), "9999-12-31"},
    {TEMPLATE_DATE, 1082, BYTES("\0\x2C\x95\xD4"), "!"},
    {TEMPLATE_DATE, 1082, BYTES("\x7F\xFF\xFF\xFF"), "!"},
    {TEMPLATE_DATE, 1082, BYTES("\x80\0\0\0"), "!"},
    {TEMPLATE_DATE, 1114, BYTES("\0\0\0\0\0\0\0\0"), "!"},
    {TEMPLATE_TIMESTAMP, 1114, BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "1999-12-31T23:59:59.999999"},
    {TEMPLATE_TIMESTAMP, 1184, BYTES("\0\0\0\0\0\0\0\0"), "!"},
    {TEMPLATE_TIMESTAMPTZ, 1184, BYTES("\0\0\0\0\0\x0F\x42\x40"), "2000-01-01T00:00:01+00:00"},
    {TEMPLATE_TIMESTAMPTZ, 1184, BYTES("\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "!"},
    {TEMPLATE_TIMESTAMPTZ, 1184, BYTES("\x80\0\0\0\0\0\0\0"), "!"},
    {TEMPLATE_UUID, 2950, BYTES("\x12\x3E\x45\x67\xE8\x9B\x12\xD3\xA4\x56\x42\x66\x14\x17\x40\0"),
     "123e4567-e89b-12d3-a456-426614174000"},
    {TEMPLATE_UUID, 2950, BYTES("\x12\x3E"), "!"},
    {TEMPLATE_JSON, 114, BYTES("{\"a\": 1}"), "{\"a\": 1}"},
    {TEMPLATE_JSON, 3802, BYTES("\1[1]"), "[1]"},
    {TEMPLATE_JSON, 3802, BYTES("\2[1]"), "!"},
    {TEMPLATE_JSON, 3802, BYTES("[1]"), "!"},
    {TEMPLATE_JSON, 3802, BYTES("\1"), "!"},
    {TEMPLATE_INTEGER, 1186, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "!"}, /* interval */
    {TEMPLATE_INTEGER, 26, BYTES("\0\0\0\1"), "!"},                          /* oid */
};

Test(template_binary, values_say_what_their_bytes_say)
{
    for (size_t i = 0; i < ARRAY_SIZE(scalars); i++) {
        struct text got = check(scalars[i].type, false, scalars[i].declared, scalars[i].bytes);
        cr_expect(text_is(got, scalars[i].bound), "case %zu: %.60s, not %s", i, got.bytes,
                  scalars[i].bound);
    }
}

#define HEAD(count, type) "\0\0\0\1\0\0\0\0\0\0" type "\0\0\0" count "\0\0\0\1"
#define INT4   "\0\x17"
#define INT8   "\0\x14"
#define STRING "\0\x19"

static const struct {
    enum template_type type;
    uint32_t declared;
    struct text bytes;
    const char *bound;
} arrays[] = {
    {TEMPLATE_INTEGER, 1007, BYTES(HEAD("\2", INT4) "\0\0\0\4\0\0\0\1\0\0\0\4\xFF\xFF\xFF\xFF"),
     "{\"1\",\"-1\"}"},
    {TEMPLATE_INTEGER, 0, BYTES(HEAD("\1", INT8) "\0\0\0\x08\0\0\0\0\0\0\0\7"), "{\"7\"}"},
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\2", STRING) "\0\0\0\3a,b\0\0\0\2\"}"), "{\"a,b\",\"\\\"}\"}"},
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\1", STRING) "\0\0\0\0"), "{\"\"}"},
    {TEMPLATE_STRING, 1009, BYTES("\0\0\0\0\0\0\0\0\0\0\0\x19"), "{}"},
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\1", STRING) "\xFF\xFF\xFF\xFF"), "!"},          /* NULL */
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\2", STRING) "\0\0\0\1a"), "!"},                  /* cut */
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\1", STRING) "\0\0\0\1ab"), "!"},                 /* more */
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\1", STRING) "\x7F\xFF\xFF\xFFx"), "!"},          /* too far */
    {TEMPLATE_STRING, 1009, BYTES(HEAD("\1", INT4) "\0\0\0\4\0\0\0\1"), "!"},             /* of int4 */
    {TEMPLATE_INTEGER, 1007, BYTES(HEAD("\1", STRING) "\0\0\0\1" "7"), "!"},
    {TEMPLATE_INTEGER, 1007, BYTES(HEAD("\1", INT4) "\0\0\0\3\0\0\1"), "!"},
    {TEMPLATE_STRING, 1009, BYTES("\0\0\0\2\0\0\0\0\0\0\0\x19\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1a"),
     "!"}, /* two dimensions */
    {TEMPLATE_STRING, 1009, BYTES("\0\0\0\1\0\0\0\0\0\0\0\x19\0\0\0\1\0\0\0\2\0\0\0\1a"), "!"}, /* from 2 */
    {TEMPLATE_STRING, 1009, BYTES("\0\0\0\1\0\0\0\0\0\0\0\x19\xFF\xFF\xFF\xFF\0\0\0\1"), "!"},
    {TEMPLATE_STRING, 1009, BYTES(""), "!"},
    {TEMPLATE_STRING, 25, BYTES("{a}"), "!"}, /* a text is no array in binary */
};

Test(template_binary, arrays_have_one_dimension_from_1_without_nulls)
{
    for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
        struct text got = check(arrays[i].type, true, arrays[i].declared, arrays[i].bytes);
        cr_expect(text_is(got, arrays[i].bound), "case %zu: %.60s, not %s", i, got.bytes,
                  arrays[i].bound);
    }
}

/* What a driver declares must suit, in text form, too. */
static const struct {
    enum template_type type;
    bool array;
    uint32_t declared;
    const char *value;
    bool passes;
} declared[] = {
    {TEMPLATE_INTEGER, false, 23, "42", true},   {TEMPLATE_INTEGER, false, 25, "42", true},
    {TEMPLATE_INTEGER, false, 705, "42", true},  {TEMPLATE_INTEGER, false, 1082, "42", false},
    {TEMPLATE_STRING, false, 23, "42", false},   {TEMPLATE_STRING, false, 17, "\\x41", false},
    {TEMPLATE_STRING, false, 99999, "x", false}, {TEMPLATE_BOOLEAN, false, 16, "t", true},
    {TEMPLATE_BOOLEAN, false, 16, "FALSE", true}, {TEMPLATE_BOOLEAN, false, 16, "yes", false},
    {TEMPLATE_BOOLEAN, false, 25, "t", false},   {TEMPLATE_STRING, true, 1015, "{a}", true},
    {TEMPLATE_STRING, true, 25, "{a}", true},    {TEMPLATE_STRING, true, 1007, "{1}", false},
    {TEMPLATE_STRING, false, 1009, "{a}", false}, {TEMPLATE_JSON, false, 3802, "{}", true},
    {TEMPLATE_DATE, false, 1184, "2026-11-30", false},
};

Test(template_binary, declared_types_must_suit_the_parameter)
{
    for (size_t i = 0; i < ARRAY_SIZE(declared); i++) {
        const struct template_parameter parameter = {.type = declared[i].type,
                                                     .array = declared[i].array,
                                                     .min_length = -1,
                                                     .max_length = -1,
                                                     .min_items = -1,
                                                     .max_items = -1};
        const struct template_value value = {VALUE_TEXT, declared[i].declared,
                                             text_from(declared[i].value)};
        struct text bound, problem;
        cr_expect_eq(template_check(&test_arena, &parameter, &value, &bound, &problem),
                     declared[i].passes, "case %zu: %.*s", i, TEXT_ARGS(problem));
    }
}

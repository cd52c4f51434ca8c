/* template_test.c - values of templates: what becomes of them, and every way they are refused. */
#include "rules/template.h"

#include "tests/unit/rules/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Keywords as tests write them; the neutral values are put in by parameter_of. */
struct keywords {
    const char *minimum, *maximum, *exclusive_minimum, *exclusive_maximum, *multiple_of, *choices,
        *pattern;
    int64_t min_length, max_length, min_items, max_items;
    bool array, nullable;
};

static struct template_parameter parameter_of(enum template_type type, const struct keywords *keywords)
{
    struct template_parameter parameter = {
        .name = TEXT("p"),
        .type = type,
        .array = keywords->array,
        .nullable = keywords->nullable,
        .minimum = text_from(keywords->minimum),
        .maximum = text_from(keywords->maximum),
        .exclusive_minimum = text_from(keywords->exclusive_minimum),
        .exclusive_maximum = text_from(keywords->exclusive_maximum),
        .multiple_of = text_from(keywords->multiple_of),
        .min_length = keywords->min_length > 0 ? keywords->min_length : -1,
        .max_length = keywords->max_length > 0 ? keywords->max_length : -1,
        .min_items = keywords->min_items > 0 ? keywords->min_items : -1,
        .max_items = keywords->max_items > 0 ? keywords->max_items : -1,
        .pattern = text_from(keywords->pattern),
    };
    if (keywords->choices != NULL)
        parameter.choices = test_names(keywords->choices, &parameter.choice_count);
    if (keywords->pattern != NULL) {
        struct text problem;
        parameter.compiled = template_pattern_compile(&test_arena, parameter.pattern, &problem);
        cr_assert_not_null(parameter.compiled, "%.*s", TEXT_ARGS(problem));
    }
    return parameter;
}

/* What is bound, or "!" and the problem. */
static struct text check(enum template_type type, const struct keywords *keywords,
                         const struct template_value *value)
{
    struct template_parameter parameter = parameter_of(type, keywords);
    struct text bound, problem;
    if (!template_check(&test_arena, &parameter, value, &bound, &problem)) {
        cr_expect(problem.size > 0);
        return arena_printf(&test_arena, "!%.*s", TEXT_ARGS(problem));
    }
    return bound.bytes != NULL ? bound : TEXT("(null)");
}

static const struct keywords none;

static void expect(enum template_type type, const struct keywords *keywords,
                   const struct template_value *value, const char *wanted)
{
    struct text got = check(type, keywords, value);
    cr_expect(text_is(got, wanted), "%s of \"%.*s\": %.*s, not %s", template_type_name(type),
              TEXT_ARGS(value->bytes), TEXT_ARGS(got), wanted);
}

/* Texts of a Bind; NULL: bound as it is. */
static const struct {
    enum template_type type;
    const char *value, *bound;
} texts[] = {
    {TEMPLATE_INTEGER, "42", NULL},
    {TEMPLATE_INTEGER, "-9223372036854775808", NULL},
    {TEMPLATE_INTEGER, "9223372036854775807", NULL},
    {TEMPLATE_INTEGER, "-0", "0"},
    {TEMPLATE_INTEGER, "42.0", "42"},
    {TEMPLATE_INTEGER, "1.2e3", "1200"},
    {TEMPLATE_INTEGER, "0e99999999999999999999", "0"},
    {TEMPLATE_NUMBER, "0.1", NULL},
    {TEMPLATE_NUMBER, "-1.5E-3", NULL},
    {TEMPLATE_NUMBER, "1.7976931348623157e308", NULL},
    {TEMPLATE_NUMBER, "5e-324", NULL},
    {TEMPLATE_NUMBER, "0E-99999", "0"},
    {TEMPLATE_NUMERIC, "12345678901234567890.123456789012345678900", NULL},
    {TEMPLATE_NUMERIC, "1e131071", NULL},
    {TEMPLATE_NUMERIC, "1e-16383", NULL},
    {TEMPLATE_NUMERIC, "0.00", NULL},
    {TEMPLATE_STRING, "", NULL},
    {TEMPLATE_STRING, "it's \"quoted\" \\ and { 42 }", NULL},
    {TEMPLATE_STRING, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", NULL},
    {TEMPLATE_BOOLEAN, "true", NULL},
    {TEMPLATE_BOOLEAN, "false", NULL},
    {TEMPLATE_DATE, "2026-11-30", NULL},
    {TEMPLATE_DATE, "2024-02-29", NULL},
    {TEMPLATE_DATE, "2000-02-29", NULL},
    {TEMPLATE_DATE, "0001-01-01", NULL},
    {TEMPLATE_DATE, "9999-12-31", NULL},
    {TEMPLATE_TIMESTAMP, "2026-11-30T23:59:59", "2026-11-30T23:59:59"},
    {TEMPLATE_TIMESTAMP, "2026-11-30 00:00:00.123456", "2026-11-30T00:00:00.123456"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T00:00:00.120000000", "2026-11-30T00:00:00.12"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00Z", "2026-11-30T12:00:00+00:00"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30t12:00:00.000z", "2026-11-30T12:00:00+00:00"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00.5-03:30", "2026-11-30T12:00:00.5-03:30"},
    {TEMPLATE_UUID, "123E4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
    {TEMPLATE_JSON, "null", NULL},
    {TEMPLATE_JSON, " {\"a\": [1, -2.5e3, \"\\u00e4\\ud83d\\ude00\\n\", true, {}], \"b\": []} ", NULL},
};

Test(template, values_of_each_type_are_bound_as_texts_that_mean_the_same)
{
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const struct template_value text = {.form = VALUE_TEXT, .bytes = text_from(texts[i].value)};
        const struct template_value literal = {.form = VALUE_LITERAL_STRING,
                                               .bytes = text_from(texts[i].value)};
        const char *bound = texts[i].bound != NULL ? texts[i].bound : texts[i].value;
        expect(texts[i].type, &none, &text, bound);
        expect(texts[i].type, &none, &literal, bound);
    }
}

static const struct {
    enum template_type type;
    const char *value;
} refused[] = {
    {TEMPLATE_INTEGER, ""},
    {TEMPLATE_INTEGER, "abc"},
    {TEMPLATE_INTEGER, " 42"},
    {TEMPLATE_INTEGER, "42 "},
    {TEMPLATE_INTEGER, "+42"},
    {TEMPLATE_INTEGER, "042"},
    {TEMPLATE_INTEGER, "0x2A"},
    {TEMPLATE_INTEGER, "4_2"},
    {TEMPLATE_INTEGER, "42.5"},
    {TEMPLATE_INTEGER, "1e-1"},
    {TEMPLATE_INTEGER, "9223372036854775808"},
    {TEMPLATE_INTEGER, "-9223372036854775809"},
    {TEMPLATE_INTEGER, "1e19"},
    {TEMPLATE_INTEGER, "1e99999999999999999999"},
    {TEMPLATE_INTEGER, "1; DROP TABLE shop.orders"},
    {TEMPLATE_INTEGER, "\xD9\xA4"},
    {TEMPLATE_NUMBER, "NaN"},
    {TEMPLATE_NUMBER, "nan"},
    {TEMPLATE_NUMBER, "Infinity"},
    {TEMPLATE_NUMBER, "-inf"},
    {TEMPLATE_NUMBER, "1.8e308"},
    {TEMPLATE_NUMBER, "1e-400"},
    {TEMPLATE_NUMBER, "2e-324"},
    {TEMPLATE_NUMBER, ".5"},
    {TEMPLATE_NUMBER, "5."},
    {TEMPLATE_NUMBER, "1e"},
    {TEMPLATE_NUMBER, "1e+"},
    {TEMPLATE_NUMBER, "1,5"},
    {TEMPLATE_NUMBER, "--1"},
    {TEMPLATE_NUMERIC, "NaN"},
    {TEMPLATE_NUMERIC, "1e131072"},
    {TEMPLATE_NUMERIC, "1e-16384"},
    {TEMPLATE_STRING, "\xFF"},
    {TEMPLATE_STRING, "\xC0\x80"},
    {TEMPLATE_STRING, "\xED\xA0\x80"},
    {TEMPLATE_STRING, "cut \xE2\x82"},
    {TEMPLATE_BOOLEAN, "y"},
    {TEMPLATE_BOOLEAN, "t"},
    {TEMPLATE_BOOLEAN, "1"},
    {TEMPLATE_BOOLEAN, "on"},
    {TEMPLATE_BOOLEAN, "TRUE"},
    {TEMPLATE_BOOLEAN, "true "},
    {TEMPLATE_DATE, "now"},
    {TEMPLATE_DATE, "today"},
    {TEMPLATE_DATE, "infinity"},
    {TEMPLATE_DATE, "epoch"},
    {TEMPLATE_DATE, "2026-02-29"},
    {TEMPLATE_DATE, "1900-02-29"},
    {TEMPLATE_DATE, "2026-13-01"},
    {TEMPLATE_DATE, "2026-00-01"},
    {TEMPLATE_DATE, "2026-04-31"},
    {TEMPLATE_DATE, "2026-11-00"},
    {TEMPLATE_DATE, "0000-01-01"},
    {TEMPLATE_DATE, "30.11.2026"},
    {TEMPLATE_DATE, "11/30/2026"},
    {TEMPLATE_DATE, "2026-1-1"},
    {TEMPLATE_DATE, "20261130"},
    {TEMPLATE_DATE, "12026-11-30"},
    {TEMPLATE_DATE, "-2026-11-30"},
    {TEMPLATE_DATE, "2026-11-30 BC"},
    {TEMPLATE_DATE, "2026-11-30T00:00:00Z"},
    {TEMPLATE_TIMESTAMP, "now"},
    {TEMPLATE_TIMESTAMP, "2026-11-30"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T24:00:00"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T23:60:00"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T23:59:60"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T23:59"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T23:59:59."},
    {TEMPLATE_TIMESTAMP, "2026-11-30T23:59:59.1234567"},
    {TEMPLATE_TIMESTAMP, "2026-11-30T12:00:00Z"},
    {TEMPLATE_TIMESTAMP, "2026-11-30  12:00:00"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00+01"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00+0100"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00+16:00"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00+01:60"},
    {TEMPLATE_TIMESTAMPTZ, "2026-11-30T12:00:00 CET"},
    {TEMPLATE_TIMESTAMPTZ, "2026-02-30T12:00:00Z"},
    {TEMPLATE_TIMESTAMPTZ, "infinity"},
    {TEMPLATE_UUID, "123e4567e89b12d3a456426614174000"},
    {TEMPLATE_UUID, "{123e4567-e89b-12d3-a456-426614174000}"},
    {TEMPLATE_UUID, "123e4567-e89b-12d3-a456-42661417400g"},
    {TEMPLATE_UUID, "123e4567-e89b-12d3-a456-4266141740000"},
    {TEMPLATE_JSON, ""},
    {TEMPLATE_JSON, "{"},
    {TEMPLATE_JSON, "{} {}"},
    {TEMPLATE_JSON, "{'a': 1}"},
    {TEMPLATE_JSON, "{\"a\": 1,}"},
    {TEMPLATE_JSON, "[1 2]"},
    {TEMPLATE_JSON, "NaN"},
    {TEMPLATE_JSON, "01"},
    {TEMPLATE_JSON, "1e200000"},
    {TEMPLATE_JSON, "\"\\u0000\""},
    {TEMPLATE_JSON, "\"\\ud83d\""},
    {TEMPLATE_JSON, "\"\\ude00\\ud83d\""},
    {TEMPLATE_JSON, "\"\\x41\""},
    {TEMPLATE_JSON, "\"tab\there\""},
    {TEMPLATE_JSON, "\"open"},
    {TEMPLATE_JSON, "nul"},
    {TEMPLATE_JSON, "\"\xFF\""},
};

Test(template, values_that_are_not_of_the_type_are_refused)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        const struct template_value value = {.form = VALUE_TEXT, .bytes = text_from(refused[i].value)};
        struct text got = check(refused[i].type, &none, &value);
        cr_expect(text_starts_with(got, "!must "), "case %zu, %s of \"%s\": %.*s", i,
                  template_type_name(refused[i].type), refused[i].value, TEXT_ARGS(got));
    }
}

Test(template, character_0_is_in_no_value)
{
    static const struct text values[] = {TEXT_INIT("a\0b"), TEXT_INIT("\0"), TEXT_INIT("1\0"),
                                         TEXT_INIT("\0{}"), TEXT_INIT("true\0")};
    for (size_t i = 0; i < ARRAY_SIZE(values); i++)
        for (int type = TEMPLATE_INTEGER; type < TEMPLATE_TYPE_COUNT; type++) {
            const struct template_value value = {.form = VALUE_TEXT, .bytes = values[i]};
            struct text got = check((enum template_type)type, &none, &value);
            cr_expect(text_starts_with(got, "!"), "%d %zu", type, i);
        }
}

Test(template, deep_json_is_refused)
{
    char nested[402];
    for (size_t depth = 99; depth <= 101; depth++) {
        memset(nested, '[', depth);
        memset(nested + depth, ']', depth);
        const struct template_value value = {.form = VALUE_TEXT, .bytes = {nested, 2 * depth}};
        cr_expect_eq(text_starts_with(check(TEMPLATE_JSON, &none, &value), "!"), depth > 100);
    }
}

static const struct {
    enum template_type type;
    struct keywords keywords;
    const char *value;
    const char *problem; /* NULL: it is fine */
} keyword_cases[] = {
    {TEMPLATE_INTEGER, {.minimum = "1"}, "1", NULL},
    {TEMPLATE_INTEGER, {.minimum = "1"}, "0", "must be at least 1 (got \"0\")"},
    {TEMPLATE_INTEGER, {.minimum = "1"}, "-5", "must be at least 1 (got \"-5\")"},
    {TEMPLATE_INTEGER, {.maximum = "10"}, "10", NULL},
    {TEMPLATE_INTEGER, {.maximum = "10"}, "11", "must be at most 10 (got \"11\")"},
    {TEMPLATE_INTEGER, {.maximum = "9007199254740992"}, "9007199254740993",
     "must be at most 9007199254740992 (got \"9007199254740993\")"},
    {TEMPLATE_INTEGER, {.exclusive_minimum = "0.5"}, "1", NULL},
    {TEMPLATE_NUMBER, {.exclusive_minimum = "0"}, "0", "must be greater than 0 (got \"0\")"},
    {TEMPLATE_NUMBER, {.exclusive_minimum = "0"}, "-0.0", "must be greater than 0 (got \"-0.0\")"},
    {TEMPLATE_NUMBER, {.exclusive_minimum = "0"}, "1e-9", NULL},
    {TEMPLATE_NUMBER, {.exclusive_maximum = "1"}, "1.0", "must be less than 1 (got \"1.0\")"},
    {TEMPLATE_NUMBER, {.exclusive_maximum = "1"}, "0.99999999999999999999999", NULL},
    {TEMPLATE_NUMBER, {.minimum = "-1.5"}, "-1.50", NULL},
    {TEMPLATE_NUMBER, {.minimum = "-1.5"}, "-1.51", "must be at least -1.5 (got \"-1.51\")"},
    {TEMPLATE_NUMERIC, {.maximum = "1e3"}, "1000.00", NULL},
    {TEMPLATE_NUMERIC, {.maximum = "1e3"}, "1000.01", "must be at most 1e3 (got \"1000.01\")"},
    {TEMPLATE_NUMERIC, {.multiple_of = "0.01"}, "19.99", NULL},
    {TEMPLATE_NUMERIC, {.multiple_of = "0.01"}, "19.990", NULL},
    {TEMPLATE_NUMERIC, {.multiple_of = "0.01"}, "19.999",
     "must be a multiple of 0.01 (got \"19.999\")"},
    {TEMPLATE_INTEGER, {.multiple_of = "7"}, "9223372036854775807", NULL},
    {TEMPLATE_INTEGER, {.multiple_of = "7"}, "9223372036854775806",
     "must be a multiple of 7 (got \"9223372036854775806\")"},
    {TEMPLATE_INTEGER, {.multiple_of = "5"}, "0", NULL},
    {TEMPLATE_NUMBER, {.multiple_of = "2.5"}, "1e300", NULL},
    {TEMPLATE_NUMBER, {.multiple_of = "3"}, "1e300", "must be a multiple of 3 (got \"1e300\")"},
    {TEMPLATE_NUMERIC, {.multiple_of = "7"}, "7e131070", NULL},
    {TEMPLATE_NUMERIC, {.multiple_of = "7"}, "1e131070", "must be a multiple of 7 (got \"1e131070\")"},
    {TEMPLATE_NUMERIC, {.multiple_of = "999999999999999989"}, "999999999999999989e5", NULL},
    {TEMPLATE_NUMERIC, {.multiple_of = "999999999999999989"}, "999999999999999988e5",
     "must be a multiple of 999999999999999989 (got \"999999999999999988e5\")"},
    {TEMPLATE_STRING, {.choices = "damaged late"}, "late", NULL},
    {TEMPLATE_STRING, {.choices = "damaged late duplicate"}, "angry",
     "must be one of damaged, late, duplicate (got \"angry\")"},
    {TEMPLATE_STRING, {.choices = "damaged late"}, "Late", "must be one of damaged, late (got \"Late\")"},
    {TEMPLATE_STRING, {.choices = "damaged late"}, "", "must be one of damaged, late (got \"\")"},
    {TEMPLATE_NUMERIC, {.choices = "0.5 1"}, "0.50", NULL},
    {TEMPLATE_NUMBER, {.choices = "0.5 1"}, "10e-1", NULL},
    {TEMPLATE_INTEGER, {.choices = "1 10"}, "1.0", NULL},
    {TEMPLATE_INTEGER, {.choices = "1 10"}, "2", "must be one of 1, 10 (got \"2\")"},
    {TEMPLATE_STRING, {.min_length = 2}, "a", "must have at least 2 characters (got 1)"},
    {TEMPLATE_STRING, {.max_length = 3}, "\xC3\xA4\xC3\xB6\xC3\xBC", NULL},
    {TEMPLATE_STRING, {.max_length = 3}, "abcd", "must have at most 3 characters (got 4)"},
    {TEMPLATE_STRING, {.max_length = 1}, "ab", "must have at most 1 character (got 2)"},
    {TEMPLATE_STRING, {.pattern = "[A-Z]{3}-\\d+", .max_length = 10}, "ABC-12", NULL},
    {TEMPLATE_STRING, {.pattern = "[A-Z]{3}-\\d+", .max_length = 10}, "xABC-12",
     "must match ^(?:[A-Z]{3}-\\d+)$ (got \"xABC-12\")"},
    {TEMPLATE_STRING, {.pattern = "[A-Z]{3}-\\d+", .max_length = 10}, "ABC-12\n",
     "must match ^(?:[A-Z]{3}-\\d+)$ (got \"ABC-12\\u{A}\")"},
    {TEMPLATE_STRING, {.max_length = 200}, "1234567890123456789012345678901234567890", NULL},
    {TEMPLATE_STRING, {.choices = "a"}, "12345678901234567890123456789012345678901",
     "must be one of a (got \"1234567890123456789012345678901234567890\"...)"},
    {TEMPLATE_INTEGER, {.array = true}, "{}", NULL},
    {TEMPLATE_INTEGER, {.array = true, .min_items = 1}, "{}", "must have at least 1 item (got 0)"},
    {TEMPLATE_INTEGER, {.array = true, .max_items = 2}, "{1,2,3}", "must have at most 2 items (got 3)"},
    {TEMPLATE_INTEGER, {.array = true, .minimum = "1"}, "{1,0}",
     "item 2 must be at least 1 (got \"0\")"},
    {TEMPLATE_STRING, {.array = true, .choices = "a b"}, "{a,c}",
     "item 2 must be one of a, b (got \"c\")"},
};

Test(template, keywords_hold_or_say_what_is_wrong)
{
    for (size_t i = 0; i < ARRAY_SIZE(keyword_cases); i++) {
        const struct template_value value = {.form = VALUE_TEXT,
                                             .bytes = text_from(keyword_cases[i].value)};
        struct text got = check(keyword_cases[i].type, &keyword_cases[i].keywords, &value);
        const char *problem = keyword_cases[i].problem;
        bool right = problem == NULL ? !text_starts_with(got, "!")
                                     : got.size > 0 && text_is(text_behind(got, 1), problem);
        cr_expect(right, "case %zu, %s: %.*s", i, keyword_cases[i].value, TEXT_ARGS(got));
    }
}

Test(template, null_passes_only_where_it_may)
{
    const struct template_value null = {.form = VALUE_NULL};
    const struct keywords nullable = {.nullable = true, .choices = "a b"};
    expect(TEMPLATE_STRING, &nullable, &null, "(null)");
    expect(TEMPLATE_STRING, &none, &null, "!must not be null");
    const struct keywords array = {.nullable = true, .array = true};
    const struct template_value item = {.form = VALUE_TEXT, .bytes = TEXT("{a,NULL}")};
    expect(TEMPLATE_STRING, &array, &item, "!item 2 must not be null");
    expect(TEMPLATE_STRING, &array, &null, "(null)");
}

Test(template, literals_have_the_kind_of_the_type)
{
    const struct template_value number = {.form = VALUE_LITERAL_NUMBER, .bytes = TEXT("42")};
    const struct template_value boolean = {.form = VALUE_LITERAL_BOOLEAN, .bytes = TEXT("true")};
    const struct keywords array = {.array = true};
    expect(TEMPLATE_INTEGER, &none, &number, "42");
    expect(TEMPLATE_NUMERIC, &none, &number, "42");
    expect(TEMPLATE_BOOLEAN, &none, &boolean, "true");
    expect(TEMPLATE_STRING, &none, &number, "!must be a string in quotes (got \"42\")");
    expect(TEMPLATE_STRING, &none, &boolean, "!must be a string in quotes (got \"true\")");
    expect(TEMPLATE_BOOLEAN, &none, &number, "!must be true or false (got \"42\")");
    expect(TEMPLATE_DATE, &none, &number, "!must be a date like 2026-11-30 (got \"42\")");
    expect(TEMPLATE_JSON, &none, &number, "!must be one JSON value (got \"42\")");
    expect(TEMPLATE_INTEGER, &none, &boolean, "!must be an integer of at most 64 bits (got \"true\")");
    expect(TEMPLATE_INTEGER, &array, &number, "!must be a string in quotes like '{1,2}' (got \"42\")");
}

static const struct {
    const char *literal, *bound; /* NULL: refused */
} arrays[] = {
    {"{}", "{}"},
    {" { } ", "{}"},
    {"{a,b}", "{\"a\",\"b\"}"},
    {"{ a b , c }", "{\"a b\",\"c\"}"},
    {"{\"a,b\",\"c\\\"d\",\"e\\\\f\"}", "{\"a,b\",\"c\\\"d\",\"e\\\\f\"}"},
    {"{\"NULL\"}", "{\"NULL\"}"},
    {"{\"\"}", "{\"\"}"},
    {"{\"{\",\"}\"}", "{\"{\",\"}\"}"},
    {"{nullx}", "{\"nullx\"}"},
    {"", NULL},
    {"a", NULL},
    {"{", NULL},
    {"}", NULL},
    {"{a", NULL},
    {"{a,}", NULL},
    {"{,a}", NULL},
    {"{a,,b}", NULL},
    {"{a}}", NULL},
    {"{a}{b}", NULL},
    {"{{a}}", NULL},
    {"{a{b}}", NULL},
    {"{\"a}", NULL},
    {"{\"a\"b}", NULL},
    {"{a\"b\"}", NULL},
    {"{a\\b}", NULL},
    {"{\"a\\", NULL},
    {"[1:1]={a}", NULL},
    {"{NULL}", NULL},
    {"{null}", NULL},
    {"[\"a\"]", NULL},
};

Test(template, array_literals_are_read_as_lists_of_one_dimension)
{
    const struct keywords array = {.array = true};
    for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
        const struct template_value value = {.form = VALUE_TEXT, .bytes = text_from(arrays[i].literal)};
        struct text got = check(TEMPLATE_STRING, &array, &value);
        bool right = arrays[i].bound != NULL ? text_is(got, arrays[i].bound)
                                             : text_starts_with(got, "!");
        cr_expect(right, "%s: %.*s", arrays[i].literal, TEXT_ARGS(got));
    }
}

/* Texts with SQL in them are strings like others. */
Test(template, strings_with_sql_in_them_are_bound_verbatim)
{
    static const char *const strings[] = {
        "'; DROP TABLE shop.orders; --",
        "x' OR '1'='1",
        "\\'; DELETE FROM shop.orders; --",
        "$$; SELECT pg_sleep(100); $$",
        "$1",
        "/* */ UNION SELECT secret FROM shop.staff --",
        "E'\\047'",
        "U&'\\0027'",
        "a\nb\r\nc\td",
        "%s %(x)s {0} ${x}",
        "COMMIT; BEGIN",
        "\xEF\xBC\x87; DROP TABLE t",
        "\xE2\x80\xAE txet",
    };
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
        struct text text = text_from(strings[i]);
        const struct template_value forms[] = {{.form = VALUE_TEXT, .bytes = text},
                                               {.form = VALUE_LITERAL_STRING, .bytes = text},
                                               {.form = VALUE_TEXT, .type = 1043, .bytes = text},
                                               {.form = VALUE_BINARY, .type = 25, .bytes = text},
                                               {.form = VALUE_BINARY, .bytes = text}};
        for (size_t j = 0; j < ARRAY_SIZE(forms); j++)
            expect(TEMPLATE_STRING, &none, &forms[j], strings[i]);
    }
}

Test(template, templates_are_found_by_their_whole_name)
{
    const struct template templates[] = {{.name = TEXT("refund")}, {.name = TEXT("refund_order")}};
    cr_expect_eq(template_find(templates, 2, TEXT("refund_order")), &templates[1]);
    cr_expect_null(template_find(templates, 2, TEXT("refund_")));
    cr_expect_null(template_find(templates, 2, TEXT("REFUND")));
    cr_expect_null(template_find(templates, 0, TEXT("refund")));
}

/* One property of each kind: what stands in the schema for it. */
static const struct {
    enum template_type type;
    struct keywords keywords;
    const char *schema;
} schemas[] = {
    {TEMPLATE_INTEGER, {.minimum = "1", .maximum = "10"},
     "{\"type\":\"integer\",\"minimum\":1,\"maximum\":10}"},
    {TEMPLATE_NUMBER, {.exclusive_minimum = "0", .exclusive_maximum = "1.50"},
     "{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":1.50}"},
    {TEMPLATE_NUMERIC, {.multiple_of = "0.01", .choices = "0.5 1", .nullable = true},
     "{\"type\":[\"number\",\"null\"],\"multipleOf\":0.01,\"enum\":[0.5,1,null]}"},
    {TEMPLATE_STRING, {.choices = "a b"}, "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}"},
    {TEMPLATE_STRING, {.pattern = "a|\\d", .min_length = 1, .max_length = 5},
     "{\"type\":\"string\",\"minLength\":1,\"maxLength\":5,\"pattern\":\"^(?:a|\\\\d)$\"}"},
    {TEMPLATE_BOOLEAN, {.nullable = true}, "{\"type\":[\"boolean\",\"null\"]}"},
    {TEMPLATE_DATE, {.nullable = true}, "{\"type\":[\"string\",\"null\"],\"format\":\"date\"}"},
    {TEMPLATE_TIMESTAMPTZ, {0}, "{\"type\":\"string\",\"format\":\"date-time\"}"},
    {TEMPLATE_TIMESTAMP, {0},
     "{\"type\":\"string\",\"pattern\":\"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}"
     "(?:\\\\.\\\\d{1,6})?$\"}"},
    {TEMPLATE_UUID, {0}, "{\"type\":\"string\",\"format\":\"uuid\"}"},
    {TEMPLATE_JSON, {0}, "{\"type\":[\"object\",\"array\",\"string\",\"number\",\"boolean\"]}"},
    {TEMPLATE_INTEGER, {.array = true, .min_items = 1, .max_items = 3, .minimum = "0", .nullable = true},
     "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"integer\",\"minimum\":0},\"minItems\":1,"
     "\"maxItems\":3}"},
};

Test(template, json_schema_describes_each_argument)
{
    for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
        struct template_parameter parameter = parameter_of(schemas[i].type, &schemas[i].keywords);
        const struct template template = {
            .name = TEXT("t"), .parameters = &parameter, .parameter_count = 1};
        struct text wanted = arena_printf(&test_arena,
                                          "{\"type\":\"object\",\"properties\":{\"p\":%s},\"required\":"
                                          "[\"p\"],\"additionalProperties\":false}",
                                          schemas[i].schema);
        struct text got = template_json_schema(&test_arena, &template);
        cr_expect(text_equal(got, wanted), "%.*s\n%.*s", TEXT_ARGS(got), TEXT_ARGS(wanted));
    }
}

Test(template, json_schema_leaves_out_what_agents_have_as_attributes)
{
    const struct template_parameter parameters[] = {
        {.name = TEXT("tenant"), .type = TEMPLATE_STRING, .attribute = TEXT("tenant"), .min_length = -1,
         .max_length = -1},
        {.name = TEXT("day"), .description = TEXT("The \"day\""), .type = TEMPLATE_DATE,
         .min_length = -1, .max_length = -1}};
    const struct template template = {.parameters = parameters, .parameter_count = 2};
    struct text got = template_json_schema(&test_arena, &template);
    cr_expect(text_is(got, "{\"type\":\"object\",\"properties\":{\"day\":{\"description\":\"The "
                           "\\\"day\\\"\",\"type\":\"string\",\"format\":\"date\"}},\"required\":"
                           "[\"day\"],\"additionalProperties\":false}"),
              "%.*s", TEXT_ARGS(got));
}

/* In an array an item is quoted, whatever it is, and comes back as it was. */
Test(template, items_with_sql_in_them_come_back_verbatim)
{
    const struct keywords array = {.array = true};
    const struct template_value value = {
        .form = VALUE_TEXT, .bytes = TEXT("{\"'; DROP TABLE t; --\",\"a\\\"b\\\\c\",\"NULL\"}")};
    expect(TEMPLATE_STRING, &array, &value,
           "{\"'; DROP TABLE t; --\",\"a\\\"b\\\\c\",\"NULL\"}");
}

Test(template, arrays_have_a_limit_of_their_own)
{
    const struct keywords array = {.array = true};
    static char literal[2 * 10001 + 2];
    for (size_t count = 10000; count <= 10001; count++) {
        size_t size = 0;
        for (size_t i = 0; i < count; i++) {
            literal[size++] = i == 0 ? '{' : ',';
            literal[size++] = '7';
        }
        literal[size++] = '}';
        const struct template_value value = {.form = VALUE_TEXT, .bytes = {literal, size}};
        struct text got = check(TEMPLATE_INTEGER, &array, &value);
        cr_expect(count == 10000 ? text_starts_with(got, "{\"7\",\"7\",")
                                 : text_is(got, "!must have at most 10000 items (got more)"),
                  "%.60s", got.bytes);
    }
}

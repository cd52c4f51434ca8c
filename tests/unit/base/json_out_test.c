/* json_out_test.c - commas, escapes, numbers; every output is valid JSON. */
#include "proxy/base/json_out.h"

#include "tests/unit/base/check.h"

#include <math.h>

static struct buffer buffer;
static struct json_out json;

static void begin(void)
{
    buffer_init(&buffer, 100000);
    json = json_out_to(&buffer);
}

static void end(void)
{
    buffer_release(&buffer);
}

TestSuite(json_out, .init = begin, .fini = end);

Test(json_out, sets_commas_by_itself)
{
    json_open(&json, '{');
    json_key_string(&json, "agent", "bot");
    json_key(&json, "tables");
    json_open(&json, '[');
    json_int(&json, 1);
    json_open(&json, '{');
    json_close(&json, '}');
    json_open(&json, '[');
    json_close(&json, ']');
    json_text(&json, TEXT("x"));
    json_close(&json, ']');
    json_key_bool(&json, "known", true);
    json_key_bool(&json, "bound", false);
    json_key_string(&json, "why", NULL);
    json_key_int(&json, "n", INT64_MIN);
    json_key_number(&json, "cost", 12.5);
    json_key_text(&json, "t", TEXT(""));
    json_key(&json, "null");
    json_null(&json);
    json_close(&json, '}');
    CHECK_TEXT(buffer_text(&buffer),
               "{\"agent\":\"bot\",\"tables\":[1,{},[],\"x\"],\"known\":true,\"bound\":false,"
               "\"why\":null,\"n\":-9223372036854775808,\"cost\":12.5,\"t\":\"\",\"null\":null}");
}

Test(json_out, values_after_each_other_in_a_list)
{
    json_open(&json, '[');
    json_null(&json);
    json_bool(&json, true);
    json_string(&json, NULL);
    json_number(&json, 1);
    json_int(&json, 2);
    json_close(&json, ']');
    CHECK_TEXT(buffer_text(&buffer), "[null,true,null,1,2]");
}

static void check_text(struct text value, const char *expected)
{
    buffer_clear(&buffer);
    json = json_out_to(&buffer);
    json_text(&json, value);
    CHECK_TEXT(buffer_text(&buffer), expected);
}

Test(json_out, escapes_what_must_be_escaped)
{
    check_text(TEXT("a\"b\\c/"), "\"a\\\"b\\\\c/\"");
    check_text(TEXT("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\"");
    check_text(TEXT("\0\1\x1F"), "\"\\u0000\\u0001\\u001f\"");
}

Test(json_out, escapes_characters_that_cannot_be_seen)
{
    static const struct {
        struct text text;
        const char *json;
    } cases[] = {
        {TEXT_INIT("\x7F"), "\"\\u007f\""},
        {TEXT_INIT("\xC2\x85"), "\"\\u0085\""},
        {TEXT_INIT("\xC2\xA0"), "\"\\u00a0\""},
        {TEXT_INIT("\xE2\x80\x8B"), "\"\\u200b\""},
        {TEXT_INIT("\xE2\x80\xA8\xE2\x80\xA9"), "\"\\u2028\\u2029\""},
        {TEXT_INIT("\xE2\x80\xAE"), "\"\\u202e\""},
        {TEXT_INIT("\xEF\xBB\xBF"), "\"\\ufeff\""},
        {TEXT_INIT("\xF3\xA0\x80\xA0"), "\"\\udb40\\udc20\""},
        {TEXT_INIT("\xF4\x8F\xBF\xBF"), "\"\\udbff\\udfff\""},
        {TEXT_INIT("e\xCC\x81"), "\"e\\u0301\""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_text(cases[i].text, cases[i].json);
}

Test(json_out, leaves_visible_text_as_it_is)
{
    check_text(TEXT("\xC3\xA4\xE2\x82\xAC\xE6\xBC\xA2\xF0\x9F\x98\x80"),
               "\"\xC3\xA4\xE2\x82\xAC\xE6\xBC\xA2\xF0\x9F\x98\x80\"");
}

Test(json_out, replaces_each_byte_that_is_not_utf8)
{
    check_text(TEXT("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
    check_text(TEXT("\xC3"), "\"\xEF\xBF\xBD\"");
    check_text(TEXT("\xE2\x82z"), "\"\xEF\xBF\xBD\xEF\xBF\xBDz\"");
    check_text(TEXT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    check_text(TEXT("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

Test(json_out, every_byte_alone_gives_valid_output)
{
    for (int byte = 0; byte < 256; byte++) {
        const char character = (char)byte;
        buffer_clear(&buffer);
        json = json_out_to(&buffer);
        json_text(&json, (struct text){&character, 1});
        for (size_t i = 0; i < buffer.size; i++)
            cr_assert_geq(buffer.bytes[i], 0x20, "byte %d", byte);
        cr_assert_geq(buffer.size, 3);
    }
}

Test(json_out, keys_are_escaped_too)
{
    json_open(&json, '{');
    json_key_int(&json, "a\"b", 1);
    json_close(&json, '}');
    CHECK_TEXT(buffer_text(&buffer), "{\"a\\\"b\":1}");
}

Test(json_out, numbers_are_shortest_and_read_back)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {100, "100"},
        {-42, "-42"},
        {0.1, "0.1"},
        {12.5, "12.5"},
        {1.0 / 3, "0.3333333333333333"},
        {123456789.25, "123456789.25"},
        {999999999999999, "999999999999999"},
        {1e15, "1e+15"},
        {1e300, "1e+300"},
        {5e-324, "5e-324"},
        {0.1 + 0.2, "0.30000000000000004"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        buffer_clear(&buffer);
        json = json_out_to(&buffer);
        json_number(&json, cases[i].value);
        CHECK_TEXT(buffer_text(&buffer), cases[i].text);
        cr_expect_eq(strtod(buffer_string(&buffer), NULL), cases[i].value);
    }
}

Test(json_out, numbers_that_are_not_finite_are_null)
{
    json_open(&json, '[');
    json_number(&json, (double)NAN);
    json_number(&json, (double)INFINITY);
    json_number(&json, -(double)INFINITY);
    json_close(&json, ']');
    CHECK_TEXT(buffer_text(&buffer), "[null,null,null]");
}

Test(json_out, running_out_of_room_shows_in_the_buffer)
{
    buffer.size_max = 5;
    json_text(&json, TEXT("0123456789"));
    cr_expect(buffer.overflow);
}

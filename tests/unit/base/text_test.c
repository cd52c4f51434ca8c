/* text_test.c - comparing, cutting and reading texts. */
#include "proxy/base/text.h"

#include "tests/unit/base/check.h"

static const struct text null_text = {NULL, 0};

Test(text, from_null_is_empty)
{
    CHECK_TEXT(text_from(NULL), "");
    CHECK_TEXT(text_from("abc"), "abc");
}

Test(text, literal_may_hold_nul)
{
    cr_assert_eq(TEXT("a\0b").size, 3);
}

Test(text, equal_compares_size_and_bytes)
{
    cr_expect(text_equal(TEXT("abc"), TEXT("abc")));
    cr_expect(text_equal(null_text, TEXT("")));
    cr_expect_not(text_equal(TEXT("abc"), TEXT("abd")));
    cr_expect_not(text_equal(TEXT("abc"), TEXT("ab")));
    cr_expect_not(text_equal(TEXT("a"), TEXT("a\0")));
    cr_expect_not(text_is(TEXT("a\0b"), "a"));
}

Test(text, ignoring_case_is_for_ascii_only)
{
    cr_expect(text_is_ignoring_case(TEXT("Search_PATH"), "search_path"));
    cr_expect_not(text_is_ignoring_case(TEXT("search_pat"), "search_path"));
    cr_expect_not(text_is_ignoring_case(TEXT("\xC3\x84"), "\xC3\xA4"));
    cr_expect(text_is_ignoring_case(null_text, ""));
}

Test(text, starts_with)
{
    cr_expect(text_starts_with(TEXT("pgwicket_hold"), "pgwicket_"));
    cr_expect(text_starts_with(null_text, ""));
    cr_expect_not(text_starts_with(TEXT("pg"), "pgwicket_"));
}

Test(text, has_byte_finds_nul)
{
    cr_expect(text_has_byte(TEXT("a\0b"), '\0'));
    cr_expect_not(text_has_byte(TEXT("ab"), '\0'));
    cr_expect_not(text_has_byte(null_text, '\0'));
}

Test(text, compare_orders_like_memcmp_then_by_size)
{
    cr_expect_lt(text_compare(TEXT("a"), TEXT("b")), 0);
    cr_expect_gt(text_compare(TEXT("b"), TEXT("a")), 0);
    cr_expect_lt(text_compare(TEXT("a"), TEXT("aa")), 0);
    cr_expect_gt(text_compare(TEXT("\xFF"), TEXT("a")), 0);
    cr_expect_eq(text_compare(TEXT("aa"), TEXT("aa")), 0);
    cr_expect_eq(text_compare(null_text, TEXT("")), 0);
}

Test(text, cut_never_splits_a_character)
{
    const struct text euro = TEXT("a\xE2\x82\xAC"
                                  "b");
    static const char *const expected[] = {"",
                                           "a",
                                           "a",
                                           "a",
                                           "a\xE2\x82\xAC",
                                           "a\xE2\x82\xAC"
                                           "b",
                                           "a\xE2\x82\xAC"
                                           "b"};
    for (size_t size = 0; size < ARRAY_SIZE(expected); size++)
        CHECK_TEXT(text_cut(euro, size), expected[size]);
}

Test(text, to_int64_takes_whole_decimal_integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"007", 7},
                {"42", 42},
                {"-17", -17},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        int64_t value = 99;
        cr_expect(text_to_int64(text_from(good[i].text), &value), "%s", good[i].text);
        cr_expect_eq(value, good[i].value, "%s", good[i].text);
    }
}

Test(text, to_int64_refuses_everything_else)
{
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x10",
                                      "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        int64_t value = 99;
        cr_expect_not(text_to_int64(text_from(bad[i]), &value), "%s", bad[i]);
        cr_expect_eq(value, 99, "%s must not set a value", bad[i]);
    }
    int64_t value;
    cr_expect_not(text_to_int64(TEXT("1\0"), &value));
}

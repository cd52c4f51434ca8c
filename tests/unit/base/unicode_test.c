/* unicode_test.c - every short byte sequence, every code point, and the characters that hide. */
#include "proxy/base/unicode.h"

#include "proxy/base/unicode_ranges.h"
#include "tests/unit/base/check.h"

/* The textbook encoder, as the other side of the decoder under test. */
static size_t encode(uint32_t code_point, uint8_t bytes[4])
{
    size_t size = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size; i > 1; i--) {
        bytes[i - 1] = (uint8_t)(0x80 | (code_point & 0x3F));
        code_point >>= 6;
    }
    bytes[0] = (uint8_t)(marks[size] | code_point);
    return size;
}

static bool is_scalar(uint32_t code_point)
{
    return code_point > 0 && code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
}

Test(unicode, every_code_point_is_decoded)
{
    for (uint32_t code_point = 0; code_point <= 0x1FFFFF; code_point++) {
        uint8_t bytes[4];
        struct text text = {(const char *)bytes, encode(code_point, bytes)};
        cr_assert_eq(utf8_valid(text), is_scalar(code_point), "U+%X", code_point);
        cr_assert_eq(utf8_sequence(text), is_scalar(code_point) ? text.size : 0);
        if (!is_scalar(code_point))
            continue;
        uint32_t decoded;
        cr_assert_eq(utf8_decode(text, &decoded), text.size);
        cr_assert_eq(decoded, code_point);
        cr_assert_eq(utf8_length(text), 1);
        for (size_t cut = 1; cut < text.size; cut++)
            cr_assert_not(utf8_valid((struct text){text.bytes, cut}), "U+%X cut", code_point);
    }
}

/* All pairs of first bytes, with last bytes at the edges of what may continue: of the 960 pairs
 * that begin a character of three bytes, each goes on with the two edges and no other. */
Test(unicode, every_beginning_of_three_bytes_is_judged)
{
    static const uint8_t edges[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
    size_t valid = 0;
    for (unsigned pair = 0; pair <= UINT16_MAX; pair++)
        for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
            const uint8_t bytes[3] = {(uint8_t)(pair >> 8), (uint8_t)pair, edges[i]};
            valid += utf8_sequence((struct text){(const char *)bytes, 3}) == 3;
        }
    cr_expect_eq(valid, 2 * (0x10000 - 0x800 - 0x800) / 64, "%zu", valid);
}

Test(unicode, overlong_forms_are_invalid)
{
    static const char *const overlong[] = {"\xC0\x80",
                                           "\xC1\xBF",
                                           "\xE0\x80\xAF",
                                           "\xE0\x9F\xBF",
                                           "\xF0\x80\x80\xAF",
                                           "\xF0\x8F\xBF\xBF",
                                           "\xF8\x88\x80\x80\x80",
                                           "\xF4\x90\x80\x80",
                                           "\xFE"};
    for (size_t i = 0; i < ARRAY_SIZE(overlong); i++)
        cr_expect_not(utf8_valid(text_from(overlong[i])), "%zu", i);
}

Test(unicode, nul_is_invalid_and_empty_is_valid)
{
    cr_expect(utf8_valid(TEXT("")));
    cr_expect_not(utf8_valid(TEXT("a\0b")));
    cr_expect_eq(utf8_sequence(TEXT("")), 0);
}

Test(unicode, length_counts_characters)
{
    cr_expect_eq(utf8_length(TEXT("")), 0);
    cr_expect_eq(utf8_length(TEXT("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z")), 5);
}

Test(unicode, decoding_what_is_not_utf8_ends_the_process, .signal = SIGABRT)
{
    uint32_t code_point;
    utf8_decode(TEXT("\xFF"), &code_point);
}

Test(unicode, characters_that_hide_are_invisible)
{
    static const uint32_t hidden[] = {
        0x00,    0x09,    0x0A,    0x1B,    0x1F,    0x7F,    0x80,     0x9F,     0xA0,
        0xAD,    0x300,   0x34F,   0x36F,   0x61C,   0x115F,  0x1680,   0x180E,   0x2000,
        0x200B,  0x200D,  0x200E,  0x200F,  0x2028,  0x2029,  0x202A,   0x202E,   0x202F,
        0x2060,  0x2066,  0x2069,  0x206F,  0x20DD,  0x2800,  0x3000,   0x3164,   0xD800,
        0xE000,  0xFDD0,  0xFE0F,  0xFEFF,  0xFFA0,  0xFFF9,  0xFFFE,   0xFFFF,   0x1FFFE,
        0x1D159, 0xE0001, 0xE0020, 0xE007F, 0xE01EF, 0xF0000, 0x10FFFD, 0x10FFFF, 0x110000,
    };
    for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
        cr_expect(unicode_is_invisible(hidden[i]), "U+%04X", hidden[i]);
}

Test(unicode, letters_digits_and_signs_are_visible)
{
    static const uint32_t seen[] = {' ',    '!',    'a',    '~',    0xA1,   0xE4,    0xFF,
                                    0x100,  0x2FF,  0x370,  0x3B1,  0x416,  0x5D0,   0x627,
                                    0x905,  0xE01,  0x2010, 0x2014, 0x2027, 0x2030,  0x205E,
                                    0x20AC, 0x2200, 0x27FF, 0x2801, 0x3001, 0x3042,  0x4E00,
                                    0xAC00, 0xFB01, 0xFF01, 0xFFFD, 0xFFFC, 0x1F600, 0x20000};
    for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
        cr_expect_not(unicode_is_invisible(seen[i]), "U+%04X", seen[i]);
}

Test(unicode, ranges_of_combining_marks_are_sorted_and_all_found)
{
    for (size_t i = 0; i < unicode_combining_count; i++) {
        const struct unicode_range *range = &unicode_combining[i];
        cr_expect_leq(range->first, range->last);
        if (i > 0)
            cr_expect_gt(range->first, range[-1].last, "U+%04X", range->first);
        cr_expect(unicode_is_invisible(range->first));
        cr_expect(unicode_is_invisible(range->last));
    }
}

static void check_visible(struct text text, const char *expected)
{
    struct buffer out;
    buffer_init(&out, 1000);
    unicode_append_visible(&out, text);
    CHECK_TEXT(buffer_text(&out), expected);
    buffer_release(&out);
}

Test(unicode, visible_form_shows_everything)
{
    check_visible(TEXT("plain \xC3\xA4\xE2\x82\xAC"), "plain \xC3\xA4\xE2\x82\xAC");
    check_visible(TEXT("a\xE2\x80\x8B"
                       "b"),
                  "a\\u{200B}b");
    check_visible(TEXT("\xE2\x80\xAE"), "\\u{202E}");
    check_visible(TEXT("\xF3\xA0\x80\xA0"), "\\u{E0020}");
    check_visible(TEXT("\n\x1B"), "\\u{A}\\u{1B}");
    check_visible(TEXT("a\0b"), "a\\x00b");
    check_visible(TEXT("\xC3(\xFF"), "\\xC3(\\xFF");
    check_visible(TEXT("\\"), "\\");
    check_visible(TEXT(""), "");
}

/* cursor_test.c - reading fields, and failing for good. */
#include "proxy/base/cursor.h"

#include "tests/unit/base/check.h"

Test(cursor, reads_fields_in_network_order)
{
    struct text bytes = TEXT("\1\2\3\4\5\6\7name\0xy");
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    cr_expect_eq(cursor_u8(&cursor), 1);
    cr_expect_eq(cursor_u16(&cursor), 0x0203);
    cr_expect_eq(cursor_u32(&cursor), 0x04050607);
    CHECK_TEXT(cursor_string(&cursor), "name");
    cr_expect_eq(cursor_left(&cursor), 2);
    cr_expect_not(cursor_done(&cursor));
    CHECK_TEXT(cursor_bytes(&cursor, 2), "xy");
    cr_expect(cursor_done(&cursor));
}

Test(cursor, reads_high_bytes_unsigned)
{
    struct text bytes = TEXT("\xFF\xFF\xFE\xFF\xFF\xFF\xFD");
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    cr_expect_eq(cursor_u8(&cursor), 0xFF);
    cr_expect_eq(cursor_u16(&cursor), 0xFFFE);
    cr_expect_eq(cursor_u32(&cursor), 0xFFFFFFFD);
}

Test(cursor, first_read_beyond_the_end_fails_it_for_good)
{
    struct text bytes = TEXT("abc");
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    cr_expect_eq(cursor_u32(&cursor), 0);
    cr_expect(cursor.failed);
    cr_expect_eq(cursor_u8(&cursor), 0, "bytes are there, but the cursor has failed");
    CHECK_TEXT(cursor_bytes(&cursor, 1), "");
    CHECK_TEXT(cursor_string(&cursor), "");
    cr_expect_eq(cursor_left(&cursor), 0);
    cr_expect_not(cursor_done(&cursor));
}

Test(cursor, every_field_fails_on_every_short_input)
{
    static const uint8_t bytes[4] = {1, 1, 1, 1};
    for (size_t size = 0; size < 4; size++) {
        struct cursor cursor = cursor_over(bytes, size);
        cursor_u32(&cursor);
        cr_expect(cursor.failed, "u32 of %zu bytes", size);
        cursor = cursor_over(bytes, size);
        cursor_bytes(&cursor, size + 1);
        cr_expect(cursor.failed, "%zu bytes of %zu", size + 1, size);
        cursor = cursor_over(bytes, size);
        cursor_bytes(&cursor, SIZE_MAX);
        cr_expect(cursor.failed, "all memory of %zu", size);
    }
    struct cursor cursor = cursor_over(bytes, 1);
    cursor_u16(&cursor);
    cr_expect(cursor.failed);
    cursor = cursor_over(bytes, 0);
    cursor_u8(&cursor);
    cr_expect(cursor.failed);
}

Test(cursor, string_without_nul_fails)
{
    struct cursor cursor = cursor_over("abc", 3);
    CHECK_TEXT(cursor_string(&cursor), "");
    cr_expect(cursor.failed);
}

Test(cursor, empty_string_is_read)
{
    struct cursor cursor = cursor_over("", 1);
    CHECK_TEXT(cursor_string(&cursor), "");
    cr_expect(cursor_done(&cursor));
}

Test(cursor, over_nothing_is_done)
{
    struct cursor cursor = cursor_over(NULL, 0);
    cr_expect(cursor_done(&cursor));
    CHECK_TEXT(cursor_bytes(&cursor, 0), "");
    cursor_string(&cursor);
    cr_expect(cursor.failed);
}

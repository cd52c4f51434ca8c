/* buffer_test.c - growth, the maximum, and what an overflow leaves behind. */
#include "proxy/base/buffer.h"

#include "tests/unit/base/check.h"

Test(buffer, collects_bytes_in_order)
{
    struct buffer buffer;
    buffer_init(&buffer, 1000);
    buffer_append_string(&buffer, "ab");
    buffer_append_text(&buffer, TEXT("c\0d"));
    buffer_append_byte(&buffer, 'e');
    buffer_append(&buffer, NULL, 0);
    buffer_printf(&buffer, "%d-%s", 17, "x");
    CHECK_BYTES(buffer_text(&buffer), "abc\0de17-x");
    buffer_release(&buffer);
    cr_expect_eq(buffer.size_max, 1000);
    CHECK_TEXT(buffer_text(&buffer), "");
}

Test(buffer, writes_numbers_in_network_order)
{
    struct buffer buffer;
    buffer_init(&buffer, 14);
    buffer_append_u16(&buffer, 0x0102);
    buffer_append_u32(&buffer, 0x03040506);
    buffer_append_u64(&buffer, 0x0708090A0B0C0D0E);
    CHECK_BYTES(buffer_text(&buffer), "\1\2\3\4\5\6\7\10\11\12\13\14\15\16");
    buffer_release(&buffer);
}

Test(buffer, grows_up_to_its_maximum_and_no_further)
{
    struct buffer buffer;
    buffer_init(&buffer, 5000);
    for (size_t i = 0; i < 5000; i++)
        buffer_append_byte(&buffer, (uint8_t)i);
    cr_expect_not(buffer.overflow);
    cr_expect_eq(buffer.size, 5000);
    cr_expect_eq(buffer.bytes[4999], (uint8_t)4999);
    buffer_append_byte(&buffer, 1);
    cr_expect(buffer.overflow);
    cr_expect_eq(buffer.size, 5000);
    buffer_release(&buffer);
}

Test(buffer, overflow_appends_nothing_and_stays_until_clear)
{
    struct buffer buffer;
    buffer_init(&buffer, 4);
    buffer_append_string(&buffer, "abc");
    buffer_append_string(&buffer, "de");
    cr_expect(buffer.overflow);
    buffer_append_string(&buffer, "f");
    CHECK_TEXT(buffer_text(&buffer), "abc");
    cr_expect_null(buffer_reserve(&buffer, 0));
    buffer_clear(&buffer);
    cr_expect_not(buffer.overflow);
    buffer_append_string(&buffer, "defg");
    CHECK_TEXT(buffer_text(&buffer), "defg");
    buffer_release(&buffer);
}

Test(buffer, printf_beyond_the_maximum_appends_nothing)
{
    struct buffer buffer;
    buffer_init(&buffer, 3);
    buffer_printf(&buffer, "%d", 1234);
    cr_expect(buffer.overflow);
    cr_expect_eq(buffer.size, 0);
    buffer_clear(&buffer);
    buffer_printf(&buffer, "%d", 123);
    cr_expect_not(buffer.overflow);
    CHECK_TEXT(text_from(buffer_string(&buffer)), "123");
    buffer_release(&buffer);
}

Test(buffer, zeroed_takes_nothing)
{
    struct buffer buffer = {0};
    buffer_append_byte(&buffer, 1);
    cr_expect(buffer.overflow);
    CHECK_TEXT(text_from(buffer_string(&buffer)), "");
    buffer_release(&buffer);
}

Test(buffer, reserve_counts_only_what_the_caller_adds)
{
    struct buffer buffer;
    buffer_init(&buffer, 100);
    uint8_t *room = buffer_reserve(&buffer, 100);
    cr_assert_not_null(room);
    room[0] = 'x';
    buffer.size += 1;
    CHECK_TEXT(buffer_text(&buffer), "x");
    cr_expect_null(buffer_reserve(&buffer, 100));
    cr_expect(buffer.overflow);
    buffer_release(&buffer);
}

Test(buffer, consume_drops_the_front)
{
    struct buffer buffer;
    buffer_init(&buffer, 100);
    buffer_append_string(&buffer, "abcdef");
    buffer_consume(&buffer, 0);
    buffer_consume(&buffer, 4);
    CHECK_TEXT(buffer_text(&buffer), "ef");
    buffer_consume(&buffer, 2);
    CHECK_TEXT(buffer_text(&buffer), "");
    buffer_release(&buffer);
}

Test(buffer, consume_of_more_than_there_is_ends_the_process, .signal = SIGABRT)
{
    struct buffer buffer;
    buffer_init(&buffer, 100);
    buffer_append_string(&buffer, "abc");
    buffer_consume(&buffer, 4);
}

Test(buffer, string_ends_with_nul_at_full_capacity)
{
    struct buffer buffer;
    buffer_init(&buffer, 256);
    for (size_t i = 0; i < 256; i++)
        buffer_append_byte(&buffer, 'a');
    cr_expect_eq(strlen(buffer_string(&buffer)), 256);
    buffer_release(&buffer);
}

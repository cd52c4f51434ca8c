/* frame_test.c - finding one message at the front of received bytes. */
#include "proxy/wire/frame.h"

#include "tests/unit/base/check.h"

enum { SIZE_MAX_FOR_TESTS = 1000 };

static enum frame_result read_frame(struct text bytes, struct frame *frame)
{
    return frame_read(bytes, SIZE_MAX_FOR_TESTS, frame);
}

Test(frame, complete_message_has_type_size_and_body)
{
    struct frame frame;
    cr_assert_eq(read_frame(TEXT("Q\0\0\0\7ab\0S"), &frame), FRAME_COMPLETE);
    cr_expect_eq(frame.type, 'Q');
    cr_expect_eq(frame.size, 8);
    CHECK_BYTES(frame.body, "ab\0");
}

Test(frame, empty_body_is_complete)
{
    struct frame frame;
    cr_assert_eq(read_frame(TEXT("S\0\0\0\4"), &frame), FRAME_COMPLETE);
    cr_expect_eq(frame.size, 5);
    CHECK_TEXT(frame.body, "");
}

Test(frame, header_in_pieces_is_partial_and_says_nothing)
{
    struct text bytes = TEXT("Q\0\0\0\7");
    for (size_t size = 0; size < FRAME_HEADER_SIZE; size++) {
        struct frame frame = {.type = 'x', .size = 99};
        cr_expect_eq(read_frame((struct text){bytes.bytes, size}, &frame), FRAME_PARTIAL);
        cr_expect_eq(frame.type, 0);
        cr_expect_eq(frame.size, 0);
        CHECK_TEXT(frame.body, "");
    }
}

Test(frame, body_in_pieces_is_partial_and_says_type_and_size)
{
    struct text bytes = TEXT("Q\0\0\0\7ab\0");
    for (size_t size = FRAME_HEADER_SIZE; size < bytes.size; size++) {
        struct frame frame;
        cr_expect_eq(read_frame((struct text){bytes.bytes, size}, &frame), FRAME_PARTIAL);
        cr_expect_eq(frame.type, 'Q');
        cr_expect_eq(frame.size, 8);
    }
}

static struct text with_length(uint32_t length)
{
    static uint8_t bytes[FRAME_HEADER_SIZE];
    bytes[0] = 'Q';
    for (size_t i = 0; i < 4; i++)
        bytes[1 + i] = (uint8_t)(length >> (24 - 8 * i));
    return (struct text){(const char *)bytes, sizeof bytes};
}

Test(frame, rejects_length_below_four)
{
    for (uint32_t length = 0; length < 4; length++) {
        struct frame frame;
        cr_expect_eq(read_frame(with_length(length), &frame), FRAME_BAD, "%u", length);
        cr_expect_eq(frame.size, 0);
    }
}

Test(frame, rejects_length_beyond_the_maximum_before_the_body_arrives)
{
    static const uint32_t too_long[] = {SIZE_MAX_FOR_TESTS, SIZE_MAX_FOR_TESTS + 1, INT32_MAX,
                                        (uint32_t)INT32_MAX + 1, UINT32_MAX};
    struct frame frame;
    cr_expect_eq(read_frame(with_length(SIZE_MAX_FOR_TESTS - 1), &frame), FRAME_PARTIAL);
    cr_expect_eq(frame.size, SIZE_MAX_FOR_TESTS);
    for (size_t i = 0; i < ARRAY_SIZE(too_long); i++)
        cr_expect_eq(read_frame(with_length(too_long[i]), &frame), FRAME_BAD, "%u", too_long[i]);
}

Test(frame, zero_maximum_rejects_every_message)
{
    struct frame frame;
    cr_expect_eq(frame_read(TEXT("S\0\0\0\4"), 0, &frame), FRAME_BAD);
    cr_expect_eq(frame_read(TEXT("S\0\0\0\4"), 4, &frame), FRAME_BAD);
    cr_expect_eq(frame_read(TEXT("S\0\0\0\4"), 5, &frame), FRAME_COMPLETE);
}

Test(frame, longest_length_does_not_wrap)
{
    struct frame frame;
    cr_expect_eq(frame_read(with_length(UINT32_MAX), SIZE_MAX >> 1, &frame), FRAME_PARTIAL);
    cr_expect_eq(frame.size, (size_t)UINT32_MAX + 1);
}

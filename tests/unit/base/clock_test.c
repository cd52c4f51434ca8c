/* clock_test.c - instants as text. */
#include "proxy/base/clock.h"

#include "tests/unit/base/check.h"

Test(clock, instants_have_rfc_3339_texts)
{
    static const struct {
        int64_t us;
        const char *text;
        const char *clock;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000000Z", "00:00:00 UTC"},
        {1796037657657123, "2026-11-30T11:20:57.657123Z", "11:20:57 UTC"},
        {951782400000001, "2000-02-29T00:00:00.000001Z", "00:00:00 UTC"},
        {-1, "1969-12-31T23:59:59.999999Z", "23:59:59 UTC"},
        {-1000000, "1969-12-31T23:59:59.000000Z", "23:59:59 UTC"},
        {253402300799999999, "9999-12-31T23:59:59.999999Z", "23:59:59 UTC"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[INSTANT_TEXT_SIZE];
        instant_to_text((struct instant){cases[i].us}, text);
        CHECK_TEXT(text_from(text), cases[i].text);
        instant_to_clock_text((struct instant){cases[i].us}, text);
        CHECK_TEXT(text_from(text), cases[i].clock);
    }
}

Test(clock, extreme_instants_stay_within_their_room)
{
    static const int64_t extremes[] = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < ARRAY_SIZE(extremes); i++) {
        char text[INSTANT_TEXT_SIZE];
        instant_to_text((struct instant){extremes[i]}, text);
        cr_expect_lt(strnlen(text, sizeof text), sizeof text);
    }
}

Test(clock, wall_clock_is_after_this_was_written)
{
    cr_expect_gt(clock_now().us, 1700000000000000);
}

Test(clock, monotonic_clock_does_not_go_back)
{
    int64_t before = clock_monotonic_us();
    for (int i = 0; i < 1000; i++) {
        int64_t after = clock_monotonic_us();
        cr_assert_geq(after, before);
        before = after;
    }
}

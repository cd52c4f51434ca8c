/* measure_test.c - rows and effects as they are measured: samples, fingerprints, plans, snapshots. */
#include "proxy/session/measure.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *row, *shown; /* NULL: none */
} rows[] = {
    {"{\"id\":7,\"status\":\"paid\"}", "{\"id\":7,\"status\":\"paid\"}"},
    {"{\"a\": true, \"b\": null, \"c\": -12}", "{\"a\":true,\"b\":null,\"c\":-12}"},
    {"{\"price\":5.17,\"big\":1234567890123456,\"e\":1e5}",
     "{\"price\":\"5.17\",\"big\":\"1234567890123456\",\"e\":\"1e5\"}"},
    {"{\"attrs\":{\"a\":[1,2.50],\"b\":\"}\"}}", "{\"attrs\":\"{\\\"a\\\":[1,2.50],\\\"b\\\":\\\"}\\\"}\"}"},
    {"{\"list\":[1,[2,\"]\"]]}", "{\"list\":\"[1,[2,\\\"]\\\"]]\"}"},
    {"{\"a \\\"quoted\\\" name\":\"x\\ny\\\\\"}", "{\"a \\\"quoted\\\" name\":\"x\\ny\\\\\"}"},
    {"{\"hidden\":\"a\xe2\x80\xae" "b\",\"e\":\"\xc3\xa9\"}", "{\"hidden\":\"a\\u202Eb\",\"e\":\"\\u00E9\"}"},
    {"{}", "{}"},
    {"", NULL},
    {"null", NULL},
    {"{", NULL},
    {"{\"a\"", NULL},
    {"{\"a\":", NULL},
    {"{\"a\":\"", NULL},
    {"{\"a\":\"\\", NULL},
    {"{\"a\" 1}", NULL},
    {"{\"a\":1", NULL},
    {"{\"a\":1,}", NULL},
    {"[1]", NULL},
};

Test(measure, shows_rows_exactly_and_nothing_in_them_is_invisible)
{
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char *shown = measured_row_as_json(text_from(rows[i].row));
        if (rows[i].shown == NULL)
            cr_expect_null(shown, "%s: %s", rows[i].row, shown);
        else
            cr_expect(shown != NULL && strcmp(shown, rows[i].shown) == 0, "%s: %s", rows[i].row, shown);
        free(shown);
    }
}

Test(measure, cuts_long_values_and_tells_their_length)
{
    enum { SIZE = 5000 };
    struct buffer row;
    buffer_init(&row, 2 * SIZE);
    buffer_append_string(&row, "{\"a\":\"");
    for (int i = 0; i < SIZE; i++)
        buffer_append_byte(&row, 'x');
    buffer_append_string(&row, "\"}");
    char *shown = measured_row_as_json(buffer_text(&row));
    cr_assert_not_null(shown);
    cr_expect_lt(strlen(shown), SAMPLE_VALUE_BYTES + 100);
    cr_expect_not_null(strstr(shown, "(5000 bytes)"), "%s", shown);
    free(shown);
    buffer_release(&row);
}

Test(measure, takes_an_image_apart)
{
    struct text old_row, new_row;
    cr_assert(measured_image_parts(TEXT("{\"old\" : {\"a\":\"}, \"}, \"new\" : null}"), &old_row, &new_row));
    cr_expect(text_is(old_row, "{\"a\":\"}, \"}"));
    cr_expect(text_is(new_row, "null"));
    static const char *const broken[] = {"", "{", "{\"old\"", "{\"old\" : 1", "{\"old\" : 1, ", "{\"old\" : 1, \"new\" : 2"};
    for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
        cr_expect_not(measured_image_parts(text_from(broken[i]), &old_row, &new_row), "%s", broken[i]);
}

static void add_rows(struct measured_rows *rows_measured, const char *const *fingerprints,
                            size_t count, const char *image)
{
    static const uint8_t secret[16] = {1};
    measured_rows_begin(rows_measured, secret);
    for (size_t i = 0; i < count; i++)
        measured_rows_add(rows_measured, text_from(fingerprints[i]), text_from(image));
}

Test(measure, a_row_without_a_fingerprint_makes_them_incomplete)
{
    struct measured_rows found;
    add_rows(&found, (const char *const[]){"aa", ""}, 2, "");
    cr_expect(found.incomplete);
    cr_expect_eq(found.count, 2);
    measured_rows_release(&found);
    add_rows(&found, (const char *const[]){"aa", "bb"}, 2, "");
    cr_expect_not(found.incomplete);
    measured_rows_release(&found);
}

Test(measure, samples_twenty_rows_by_its_secret)
{
    enum { ROWS = 200 };
    static const uint8_t secrets[2][16] = {{1}, {2}};
    char *first = NULL;
    int same = 0;
    for (size_t s = 0; s < 2; s++) {
        struct measured_rows found;
        measured_rows_begin(&found, secrets[s]);
        for (int i = 0; i < ROWS; i++) {
            char name[16], image[64];
            snprintf(name, sizeof name, "f%d", i);
            snprintf(image, sizeof image, "{\"old\" : {\"id\":%d}, \"new\" : null}", i);
            measured_rows_add(&found, text_from(name), text_from(image));
        }
        cr_assert_eq(found.sample_count, SAMPLE_ROWS);
        cr_expect_null(found.sample[0].new_row);
        struct buffer all;
        buffer_init(&all, 10000);
        for (size_t i = 0; i < found.sample_count; i++)
            buffer_append_string(&all, found.sample[i].old_row);
        if (s == 0)
            first = strndup(buffer_text(&all).bytes, all.size);
        else
            same = strncmp(first, buffer_text(&all).bytes, all.size) == 0;
        buffer_release(&all);
        measured_rows_release(&found);
    }
    cr_expect_not(same, "another secret, another sample");
    free(first);
}

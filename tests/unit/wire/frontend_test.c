/* frontend_test.c - a client's messages: exact, or refused. */
#include "proxy/wire/frontend.h"

#include "proxy/base/limits.h"
#include "tests/unit/base/check.h"

Test(frontend, size_of_every_type_byte_is_limited)
{
    const size_t statement = 1 + 2 * 1024 * 1024;
    const size_t small = 1 + 10000;
    static const char known[] = "BCDEFHPQSXcdfp";
    for (int type = 0; type < 256; type++) {
        size_t expected = 0;
        if (type == 'Q' || type == 'P' || type == 'F')
            expected = statement;
        else if (type == 'B')
            expected = 1 + 64 * 1024 * 1024;
        else if (type == 'p')
            expected = 1 + 16384;
        else if (type == 'd')
            expected = SIZE_MAX >> 1;
        else if (type != 0 && strchr(known, type) != NULL)
            expected = small;
        cr_expect_eq(frontend_size_max((uint8_t)type), expected, "type %d", type);
    }
}

Test(frontend, longest_statement_and_its_name_fit_into_a_parse)
{
    const size_t names = 2 * 64;
    cr_expect_gt(frontend_size_max('P'), FRAME_HEADER_SIZE + names + LIMIT_STATEMENT_BYTES +
                                             sizeof(uint16_t) + UINT16_MAX * sizeof(uint32_t));
}

/* --- whole messages only ---------------------------------------------------------------------- */

static bool is_query(struct text body)
{
    struct query_message message;
    return decode_query(body, &message);
}

static bool is_parse(struct text body)
{
    struct parse_message message;
    return decode_parse(body, &message);
}

static bool is_bind(struct text body)
{
    struct bind_message message;
    return decode_bind(body, &message);
}

static bool is_named(struct text body)
{
    struct named_message message;
    return decode_named(body, &message);
}

static bool is_execute(struct text body)
{
    struct execute_message message;
    return decode_execute(body, &message);
}

static bool is_copy_fail(struct text body)
{
    struct copy_fail_message message;
    return decode_copy_fail(body, &message);
}

static const struct {
    const char *name;
    bool (*decode)(struct text body);
    struct text body;
} valid[] = {
    {"Query", is_query, TEXT_INIT("SELECT 1\0")},
    {"empty Query", is_query, TEXT_INIT("\0")},
    {"Parse", is_parse, TEXT_INIT("s\0SELECT $1\0\0\1\0\0\0\27")},
    {"Parse without types", is_parse, TEXT_INIT("\0SELECT 1\0\0\0")},
    {"Bind of nothing", is_bind, TEXT_INIT("\0\0\0\0\0\0\0\0")},
    {"Bind of two", is_bind, TEXT_INIT("p\0s\0\0\2\0\0\0\1\0\2\0\0\0\1x\377\377\377\377\0\1\0\1")},
    {"Bind with one format", is_bind, TEXT_INIT("\0\0\0\1\0\1\0\2\0\0\0\0\0\0\0\1y\0\0")},
    {"Describe", is_named, TEXT_INIT("Sname\0")},
    {"Close", is_named, TEXT_INIT("P\0")},
    {"Execute", is_execute, TEXT_INIT("p\0\0\0\0\5")},
    {"CopyFail", is_copy_fail, TEXT_INIT("why\0")},
    {"Sync", decode_empty, TEXT_INIT("")},
};

Test(frontend, valid_messages_are_accepted)
{
    for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
        cr_expect(valid[i].decode(valid[i].body), "%s", valid[i].name);
}

Test(frontend, every_truncation_is_refused)
{
    for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
        for (size_t size = 0; size < valid[i].body.size; size++) {
            /* At the end of its own memory, where a sanitizer sees a read beyond it. */
            char *copy = malloc(size + 1);
            memcpy(copy, valid[i].body.bytes, size);
            copy = realloc(copy, size > 0 ? size : 1);
            cr_expect_not(valid[i].decode((struct text){copy, size}), "%s cut to %zu",
                          valid[i].name, size);
            free(copy);
        }
}

Test(frontend, every_byte_that_is_left_over_is_refused)
{
    for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
        for (int byte = 0; byte < 256; byte++) {
            char longer[64];
            size_t size = valid[i].body.size;
            memcpy(longer, valid[i].body.bytes, size);
            longer[size] = (char)byte;
            cr_expect_not(valid[i].decode((struct text){longer, size + 1}), "%s and byte %d",
                          valid[i].name, byte);
        }
}

/* --- content ---------------------------------------------------------------------------------- */

Test(frontend, query_with_embedded_nul_is_refused)
{
    cr_expect_not(is_query(TEXT("SELECT 1\0; DROP TABLE t\0")));
    cr_expect_not(is_query(TEXT("SELECT 1")));
}

Test(frontend, query_text_has_no_nul)
{
    struct query_message message;
    cr_assert(decode_query(TEXT("SELECT 1\0"), &message));
    CHECK_TEXT(message.sql, "SELECT 1");
}

Test(frontend, parse_gives_name_text_and_types)
{
    struct parse_message message;
    cr_assert(decode_parse(TEXT("st\0SELECT $1, $2\0\0\2\0\0\0\27\377\0\0\1"), &message));
    CHECK_TEXT(message.name, "st");
    CHECK_TEXT(message.sql, "SELECT $1, $2");
    cr_expect_eq(message.type_count, 2);
    cr_expect_eq(parse_message_type(&message, 0), 23);
    cr_expect_eq(parse_message_type(&message, 1), 0xFF000001);
    cr_expect_eq(parse_message_type(&message, 2), 0, "beyond the last");
    cr_expect_eq(parse_message_type(&message, UINT16_MAX), 0);
}

Test(frontend, parse_count_is_unsigned_and_bounded_by_the_body)
{
    cr_expect_not(is_parse(TEXT("\0\0\377\377\0\0\0\27")));
    size_t size = 4 + UINT16_MAX * sizeof(uint32_t);
    char *body = calloc(size, 1);
    body[2] = body[3] = '\xFF';
    struct parse_message message;
    cr_expect(decode_parse((struct text){body, size}, &message));
    cr_expect_eq(message.type_count, UINT16_MAX);
    free(body);
}

Test(frontend, bind_gives_names_and_parts)
{
    struct bind_message message;
    cr_assert(decode_bind(valid[5].body, &message));
    CHECK_TEXT(message.portal, "p");
    CHECK_TEXT(message.statement, "s");
    cr_expect_eq(message.format_count, 2);
    cr_expect_eq(message.value_count, 2);
    CHECK_BYTES(message.values, "\0\0\0\1x\377\377\377\377");
    CHECK_BYTES(message.result_formats, "\0\1\0\1");
    CHECK_BYTES(message.after_statement, "\0\2\0\0\0\1\0\2\0\0\0\1x\377\377\377\377\0\1\0\1");
}

Test(frontend, bind_values_come_in_order_with_their_formats)
{
    struct bind_message message;
    cr_assert(decode_bind(valid[5].body, &message));
    size_t state = 0;
    struct bound_value value;
    cr_assert(bind_message_next_value(&message, &state, 0, &value));
    cr_expect_not(value.is_null);
    cr_expect_not(value.binary);
    CHECK_TEXT(value.bytes, "x");
    cr_assert(bind_message_next_value(&message, &state, 1, &value));
    cr_expect(value.is_null);
    cr_expect(value.binary);
    CHECK_TEXT(value.bytes, "");
    cr_expect_not(bind_message_next_value(&message, &state, 2, &value));
    cr_expect_not(bind_message_next_value(&message, &state, 0, &value), "nothing is left");
}

Test(frontend, bind_one_format_is_for_all_values)
{
    struct bind_message message;
    cr_assert(decode_bind(valid[6].body, &message));
    size_t state = 0;
    struct bound_value value;
    cr_assert(bind_message_next_value(&message, &state, 0, &value));
    cr_expect(value.binary);
    cr_expect_not(value.is_null, "an empty value is not NULL");
    CHECK_TEXT(value.bytes, "");
    cr_assert(bind_message_next_value(&message, &state, 1, &value));
    cr_expect(value.binary);
    CHECK_TEXT(value.bytes, "y");
}

Test(frontend, bind_without_formats_is_text)
{
    struct bind_message message;
    cr_assert(decode_bind(TEXT("\0\0\0\0\0\1\0\0\0\1z\0\0"), &message));
    size_t state = 0;
    struct bound_value value;
    cr_assert(bind_message_next_value(&message, &state, 0, &value));
    cr_expect_not(value.binary);
    CHECK_TEXT(value.bytes, "z");
}

Test(frontend, bind_with_unknown_or_mismatched_formats_is_refused)
{
    cr_expect_not(is_bind(TEXT("\0\0\0\1\0\2\0\1\0\0\0\0\0\0")), "format 2");
    cr_expect_not(is_bind(TEXT("\0\0\0\1\377\377\0\1\0\0\0\0\0\0")), "format -1");
    cr_expect_not(is_bind(TEXT("\0\0\0\2\0\0\0\0\0\1\0\0\0\0\0\0")), "2 formats, 1 value");
    cr_expect_not(is_bind(TEXT("\0\0\0\2\0\0\0\0\0\0\0\0")), "2 formats, no value");
    cr_expect(is_bind(TEXT("\0\0\0\1\0\1\0\0\0\0")), "1 format, no value");
    cr_expect_not(is_bind(TEXT("\0\0\0\0\0\0\0\1\0\2")), "result format 2");
}

Test(frontend, bind_lengths_below_null_and_beyond_the_body_are_refused)
{
    static const uint32_t lengths[] = {UINT32_MAX - 1, 0x80000000, 0x7FFFFFFF, 2, 3};
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        uint8_t body[] = "\0\0\0\0\0\1LLLLx\0\0";
        for (size_t at = 0; at < 4; at++)
            body[6 + at] = (uint8_t)(lengths[i] >> (24 - 8 * at));
        cr_expect_not(is_bind((struct text){(const char *)body, sizeof body - 1}), "%u",
                      lengths[i]);
    }
}

Test(frontend, bind_takes_65535_values)
{
    size_t values = UINT16_MAX;
    size_t size = 2 + 2 + 2 + values * 5 + 2;
    uint8_t *body = calloc(size, 1);
    body[4] = body[5] = 0xFF;
    for (size_t i = 0; i < values; i++) {
        body[6 + 5 * i + 3] = 1;
        body[6 + 5 * i + 4] = (uint8_t)i;
    }
    struct bind_message message;
    cr_assert(decode_bind((struct text){(const char *)body, size}, &message));
    size_t state = 0;
    struct bound_value value;
    for (size_t i = 0; i < values; i++) {
        cr_assert(bind_message_next_value(&message, &state, (uint16_t)i, &value));
        cr_assert_eq((uint8_t)value.bytes.bytes[0], (uint8_t)i);
    }
    cr_expect_eq(state, message.values.size);
    free(body);
}

Test(frontend, describe_and_close_name_a_statement_or_a_portal)
{
    for (int kind = 0; kind < 256; kind++) {
        const char body[] = {(char)kind, 'n', '\0'};
        struct named_message message;
        bool expected = kind == 'S' || kind == 'P';
        cr_expect_eq(decode_named((struct text){body, 3}, &message), expected, "kind %d", kind);
        if (expected) {
            cr_expect_eq(message.kind, kind);
            CHECK_TEXT(message.name, "n");
        }
    }
}

Test(frontend, execute_gives_portal_and_rows)
{
    struct execute_message message;
    cr_assert(decode_execute(TEXT("c1\0\0\0\1\2"), &message));
    CHECK_TEXT(message.portal, "c1");
    cr_expect_eq(message.rows_max, 258);
}

Test(frontend, copy_fail_gives_its_reason)
{
    struct copy_fail_message message;
    cr_assert(decode_copy_fail(TEXT("stop\0"), &message));
    CHECK_TEXT(message.reason, "stop");
}

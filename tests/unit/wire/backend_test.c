/* backend_test.c - the server's messages that pgwicket reads. */
#include "proxy/wire/backend.h"

#include "proxy/base/buffer.h"
#include "tests/unit/base/check.h"

Test(backend, only_rows_and_copy_data_stream)
{
    for (int type = 0; type < 256; type++)
        cr_expect_eq(backend_streams((uint8_t)type), type == 'D' || type == 'd', "%d", type);
}

/* --- whole messages only ---------------------------------------------------------------------- */

static bool is_error(struct text body)
{
    struct error_fields fields;
    return decode_error(body, &fields);
}

static bool is_tag(struct text body)
{
    struct command_tag tag;
    return decode_command_complete(body, &tag);
}

static bool is_ready(struct text body)
{
    char status;
    return decode_ready(body, &status);
}

static bool is_parameter_status(struct text body)
{
    struct parameter_status status;
    return decode_parameter_status(body, &status);
}

static bool has_first_column(struct text body)
{
    struct text value;
    return data_row_column(body, 0, &value);
}

static bool is_parameter_description(struct text body)
{
    uint16_t count;
    return decode_parameter_description(body, &count);
}

static const struct {
    const char *name;
    bool (*decode)(struct text body);
    struct text body;
} valid[] = {
    {"ErrorResponse", is_error, TEXT_INIT("SERROR\0VERROR\0C42601\0Mbad\0P8\0\0")},
    {"ErrorResponse without fields", is_error, TEXT_INIT("\0")},
    {"CommandComplete", is_tag, TEXT_INIT("UPDATE 3\0")},
    {"ReadyForQuery", is_ready, TEXT_INIT("I")},
    {"ParameterStatus", is_parameter_status, TEXT_INIT("TimeZone\0UTC\0")},
    {"DataRow", has_first_column, TEXT_INIT("\0\2\0\0\0\1a\377\377\377\377")},
    {"ParameterDescription", is_parameter_description, TEXT_INIT("\0\1\0\0\0\27")},
};

Test(backend, valid_messages_are_accepted)
{
    for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
        cr_expect(valid[i].decode(valid[i].body), "%s", valid[i].name);
}

Test(backend, every_truncation_is_refused)
{
    for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
        for (size_t size = 0; size < valid[i].body.size; size++) {
            char *copy = malloc(size + 1);
            memcpy(copy, valid[i].body.bytes, size);
            copy = realloc(copy, size > 0 ? size : 1);
            cr_expect_not(valid[i].decode((struct text){copy, size}), "%s cut to %zu",
                          valid[i].name, size);
            free(copy);
        }
}

Test(backend, every_byte_that_is_left_over_is_refused)
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

Test(backend, error_fields_are_found_and_others_passed_over)
{
    struct error_fields fields;
    cr_assert(decode_error(TEXT("SFEHLER\0VERROR\0C23505\0Mdup\0DKey\0Hhint\0P17\0sshop\0torders\0"
                                "cstatus\0norders_pkey\0dtext\0Wcontext\0Ffile.c\0L1\0Rfn\0\0"),
                           &fields));
    CHECK_TEXT(fields.severity, "ERROR");
    CHECK_TEXT(fields.sqlstate, "23505");
    CHECK_TEXT(fields.message, "dup");
    CHECK_TEXT(fields.detail, "Key");
    CHECK_TEXT(fields.hint, "hint");
    cr_expect_eq(fields.position, 17);
    CHECK_TEXT(fields.schema, "shop");
    CHECK_TEXT(fields.table, "orders");
    CHECK_TEXT(fields.column, "status");
    CHECK_TEXT(fields.constraint, "orders_pkey");
    CHECK_TEXT(fields.type, "text");
    CHECK_TEXT(fields.context, "context");
    CHECK_TEXT(fields.routine, "fn");
}

Test(backend, error_severity_falls_back_to_the_localised_one)
{
    struct error_fields fields;
    cr_assert(decode_error(TEXT("SFATAL\0C08P01\0Mx\0\0"), &fields));
    CHECK_TEXT(fields.severity, "FATAL");
    cr_assert(decode_error(TEXT("VFATAL\0SFEHLER\0\0"), &fields));
    CHECK_TEXT(fields.severity, "FATAL");
}

Test(backend, missing_error_fields_are_empty)
{
    struct error_fields fields;
    cr_assert(decode_error(TEXT("\0"), &fields));
    CHECK_TEXT(fields.severity, "");
    CHECK_TEXT(fields.sqlstate, "");
    CHECK_TEXT(fields.message, "");
    cr_expect_eq(fields.position, 0);
}

Test(backend, positions_that_are_none_are_zero)
{
    static const struct text bodies[] = {TEXT_INIT("P0\0\0"), TEXT_INIT("P-1\0\0"),
                                         TEXT_INIT("Px\0\0"), TEXT_INIT("P\0\0"),
                                         TEXT_INIT("P2147483648\0\0")};
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
        struct error_fields fields = {.position = 99};
        cr_expect(decode_error(bodies[i], &fields));
        cr_expect_eq(fields.position, 0, "%zu", i);
    }
}

static void check_position(struct text body, int position, struct text expected)
{
    struct buffer out;
    buffer_init(&out, 1000);
    cr_expect(error_body_with_position(&out, body, position));
    cr_expect(text_equal(buffer_text(&out), expected), "position %d", position);
    buffer_release(&out);
}

Test(backend, error_position_is_replaced_in_place)
{
    struct text body = TEXT("SERROR\0P8\0Rfn\0\0");
    check_position(body, 123, TEXT("SERROR\0P123\0Rfn\0\0"));
    check_position(body, 0, TEXT("SERROR\0Rfn\0\0"));
    check_position(TEXT("SERROR\0\0"), 5, TEXT("SERROR\0\0"));
}

Test(backend, error_that_does_not_decode_gets_no_position)
{
    struct buffer out;
    buffer_init(&out, 1000);
    cr_expect_not(error_body_with_position(&out, TEXT("SERROR\0P8\0"), 1));
    cr_expect_eq(out.size, 0);
    buffer_release(&out);
}

Test(backend, command_tags_have_words_and_rows)
{
    static const struct {
        struct text body;
        const char *command;
        int64_t rows;
    } cases[] = {
        {TEXT_INIT("UPDATE 3\0"), "UPDATE", 3},
        {TEXT_INIT("INSERT 0 5\0"), "INSERT", 5},
        {TEXT_INIT("SELECT 0\0"), "SELECT", 0},
        {TEXT_INIT("COPY 9223372036854775807\0"), "COPY", INT64_MAX},
        {TEXT_INIT("COPY 9223372036854775808\0"), "COPY", -1},
        {TEXT_INIT("CREATE TABLE\0"), "CREATE TABLE", -1},
        {TEXT_INIT("BEGIN\0"), "BEGIN", -1},
        {TEXT_INIT("\0"), "", -1},
        {TEXT_INIT("3\0"), "3", 3},
        {TEXT_INIT("DELETE -1\0"), "DELETE -1", -1},
        {TEXT_INIT("DELETE \0"), "DELETE ", -1},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct command_tag tag;
        cr_assert(decode_command_complete(cases[i].body, &tag));
        CHECK_TEXT(tag.command, cases[i].command);
        cr_expect_eq(tag.rows, cases[i].rows, "%s", cases[i].body.bytes);
        CHECK_TEXT(tag.tag, cases[i].body.bytes);
    }
}

Test(backend, ready_has_one_of_three_statuses)
{
    for (int byte = 0; byte < 256; byte++) {
        const char body = (char)byte;
        char status;
        bool expected = byte == 'I' || byte == 'T' || byte == 'E';
        cr_expect_eq(decode_ready((struct text){&body, 1}, &status), expected, "%d", byte);
        cr_expect(!expected || status == body);
    }
}

Test(backend, parameter_status_has_name_and_value)
{
    struct parameter_status status;
    cr_assert(decode_parameter_status(TEXT("client_encoding\0UTF8\0"), &status));
    CHECK_TEXT(status.name, "client_encoding");
    CHECK_TEXT(status.value, "UTF8");
}

Test(backend, row_columns_are_found_by_index)
{
    struct text row = TEXT("\0\4\0\0\0\1a\377\377\377\377\0\0\0\0\0\0\0\3bcd");
    struct text value;
    cr_assert(data_row_column(row, 0, &value));
    CHECK_TEXT(value, "a");
    cr_expect_not(data_row_column(row, 1, &value), "NULL");
    cr_assert(data_row_column(row, 2, &value), "an empty value is a value");
    CHECK_TEXT(value, "");
    cr_assert(data_row_column(row, 3, &value));
    CHECK_TEXT(value, "bcd");
    cr_expect_not(data_row_column(row, 4, &value));
    cr_expect_not(data_row_column(row, UINT16_MAX, &value));
    CHECK_TEXT(value, "");
}

Test(backend, row_that_is_broken_behind_the_column_is_refused)
{
    struct text value;
    cr_expect_not(data_row_column(TEXT("\0\2\0\0\0\1a\377\377\377\376"), 0, &value));
    cr_expect_not(data_row_column(TEXT("\377\377\0\0\0\1a"), 0, &value));
}

Test(backend, parameter_description_has_types)
{
    struct text body = TEXT("\0\2\0\0\0\27\0\0\4\23");
    uint16_t count;
    cr_assert(decode_parameter_description(body, &count));
    cr_expect_eq(count, 2);
    cr_expect_eq(parameter_description_type(body, 0), 23);
    cr_expect_eq(parameter_description_type(body, 1), 1043);
    cr_expect_eq(parameter_description_type(body, 2), 0);
}

Test(backend, the_front_of_a_row)
{
    static const char row[] = "\0\3\0\0\0\2ab\xff\xff\xff\xff\0\0\0\1c";
    static const char fields[] = "\0\2id\0TTTTCCttttSSMMMMFFn\0123456789012345678";
    struct text body = {row, sizeof row - 1}, front;
    cr_expect_eq(row_column_count(body), 3);
    cr_assert(row_front('D', body, 2, &front));
    cr_expect_eq(front.size, 10);
    cr_assert(row_front('D', body, 0, &front));
    cr_expect_eq(front.size, 0);
    cr_assert(row_front('D', body, 3, &front));
    cr_expect_eq(front.size, body.size - 2);
    cr_expect_not(row_front('D', body, 4, &front));
    cr_expect_not(row_front('D', text_front(body, 6), 1, &front));
    cr_expect_not(row_front('D', TEXT(""), 0, &front) && row_column_count(TEXT("")) > 0);
    body = (struct text){fields, sizeof fields - 1};
    cr_assert(row_front('T', body, 1, &front));
    cr_expect_eq(front.size, 3 + 18);
    cr_expect_not(row_front('T', text_front(body, 20), 1, &front));
}

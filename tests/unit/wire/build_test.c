/* build_test.c - messages byte for byte, and read back by the decoders of the other side. */
#include "proxy/wire/build.h"

#include "proxy/wire/backend.h"
#include "proxy/wire/frontend.h"
#include "tests/unit/base/check.h"

static struct buffer out;

static void begin(void)
{
    buffer_init(&out, 100000);
}

static void end(void)
{
    buffer_release(&out);
}

TestSuite(build, .init = begin, .fini = end);

/* The one message in the buffer. */
static struct frame message(void)
{
    struct frame frame;
    cr_assert_eq(frame_read(buffer_text(&out), out.size, &frame), FRAME_COMPLETE);
    cr_assert_eq(frame.size, out.size);
    return frame;
}

Test(build, any_message_is_type_length_body)
{
    build_message(&out, 'x', TEXT("ab"));
    build_empty_message(&out, '1');
    CHECK_BYTES(buffer_text(&out), "x\0\0\0\6ab1\0\0\0\4");
}

Test(build, messages_without_body)
{
    build_flush(&out);
    build_sync(&out);
    build_terminate(&out);
    CHECK_BYTES(buffer_text(&out), "H\0\0\0\4S\0\0\0\4X\0\0\0\4");
}

Test(build, query)
{
    build_query(&out, TEXT("SELECT 1"));
    CHECK_BYTES(buffer_text(&out), "Q\0\0\0\15SELECT 1\0");
}

Test(build, parse_is_decoded_back)
{
    build_parse(&out, TEXT("s"), TEXT("SELECT $1"), (const uint8_t *)"\0\0\0\27", 1);
    struct parse_message parse;
    cr_assert(decode_parse(message().body, &parse));
    CHECK_TEXT(parse.name, "s");
    CHECK_TEXT(parse.sql, "SELECT $1");
    cr_expect_eq(parse_message_type(&parse, 0), 23);
}

Test(build, parse_without_types)
{
    build_parse(&out, TEXT(""), TEXT("SELECT 1"), NULL, 0);
    CHECK_BYTES(buffer_text(&out), "P\0\0\0\20\0SELECT 1\0\0\0");
}

Test(build, bind_without_rest_has_no_values)
{
    build_bind(&out, TEXT("p"), TEXT("s"), TEXT(""));
    CHECK_BYTES(buffer_text(&out), "B\0\0\0\16p\0s\0\0\0\0\0\0\0");
    struct bind_message bind;
    cr_assert(decode_bind(message().body, &bind));
    cr_expect_eq(bind.value_count, 0);
}

Test(build, bind_is_sent_again_under_other_names)
{
    struct bind_message bind;
    cr_assert(decode_bind(TEXT("p\0s\0\0\1\0\1\0\1\0\0\0\1x\0\1\0\1"), &bind));
    build_bind(&out, TEXT("other"), TEXT("name"), bind.after_statement);
    CHECK_BYTES(message().body, "other\0name\0\0\1\0\1\0\1\0\0\0\1x\0\1\0\1");
}

Test(build, describe_close_execute)
{
    build_describe(&out, 'S', TEXT("s"));
    build_close(&out, 'P', TEXT(""));
    build_execute(&out, TEXT("p"), 258);
    CHECK_BYTES(buffer_text(&out), "D\0\0\0\7Ss\0C\0\0\0\6P\0E\0\0\0\12p\0\0\0\1\2");
}

Test(build, describe_of_neither_statement_nor_portal_ends_the_process, .signal = SIGABRT)
{
    build_describe(&out, 'X', TEXT("s"));
}

Test(build, statement_with_nul_ends_the_process, .signal = SIGABRT)
{
    build_query(&out, TEXT("SELECT 1\0; DROP TABLE t"));
}

Test(build, name_with_nul_ends_the_process, .signal = SIGABRT)
{
    build_bind(&out, TEXT("p\0q"), TEXT("s"), TEXT(""));
}

Test(build, copy_fail)
{
    build_copy_fail(&out, TEXT("stop\0now"));
    CHECK_BYTES(buffer_text(&out), "f\0\0\0\15stop?now\0");
}

Test(build, error_has_its_fields_in_order)
{
    const struct error_message error = {.severity = "ERROR",
                                        .sqlstate = "42501",
                                        .message = TEXT("no"),
                                        .detail = TEXT("why"),
                                        .hint = TEXT("do"),
                                        .position = 12};
    build_error(&out, &error);
    CHECK_BYTES(buffer_text(&out), "E\0\0\0\53SERROR\0VERROR\0C42501\0Mno\0Dwhy\0Hdo\0P12\0\0");
    struct error_fields fields;
    cr_assert(decode_error(message().body, &fields));
    CHECK_TEXT(fields.message, "no");
    cr_expect_eq(fields.position, 12);
}

Test(build, notice_leaves_out_what_is_empty_but_not_its_message)
{
    const struct error_message notice = {.severity = "NOTICE", .sqlstate = "00000"};
    build_notice(&out, &notice);
    CHECK_BYTES(buffer_text(&out), "N\0\0\0\36SNOTICE\0VNOTICE\0C00000\0M\0\0");
}

Test(build, nul_in_an_error_cannot_make_another_field)
{
    const struct error_message error = {
        .severity = "ERROR", .sqlstate = "42501", .message = TEXT("a\0C00000\0\0b\0")};
    build_error(&out, &error);
    struct error_fields fields;
    cr_assert(decode_error(message().body, &fields));
    CHECK_TEXT(fields.sqlstate, "42501");
    CHECK_TEXT(fields.message, "a?C00000??b?");
}

Test(build, ready_of_each_status)
{
    build_ready(&out, 'T');
    CHECK_BYTES(buffer_text(&out), "Z\0\0\0\5T");
}

Test(build, ready_of_another_status_ends_the_process, .signal = SIGABRT)
{
    build_ready(&out, 'x');
}

Test(build, tag_status_and_key)
{
    build_command_complete(&out, TEXT("UPDATE 3"));
    build_parameter_status(&out, TEXT("TimeZone"), TEXT("UTC"));
    build_key_data(&out, 258, 0xFFFEFDFC);
    CHECK_BYTES(buffer_text(&out), "C\0\0\0\15UPDATE 3\0S\0\0\0\21TimeZone\0UTC\0"
                                   "K\0\0\0\14\0\0\1\2\377\376\375\374");
}

Test(build, row_description_is_of_texts)
{
    const struct text names[] = {TEXT("a"), TEXT("bc")};
    build_row_description(&out, names, 2);
    CHECK_BYTES(buffer_text(&out),
                "T\0\0\0\57\0\2a\0\0\0\0\0\0\0\0\0\0\31\377\377\377\377\377\377\0\0"
                "bc\0\0\0\0\0\0\0\0\0\0\31\377\377\377\377\377\377\0\0");
}

Test(build, row_is_decoded_back)
{
    const struct text values[] = {TEXT("a\0b"), {NULL, 0}, TEXT("")};
    build_data_row(&out, values, 3);
    CHECK_BYTES(buffer_text(&out), "D\0\0\0\25\0\3\0\0\0\3a\0b\377\377\377\377\0\0\0\0");
    struct text value;
    cr_expect_not(data_row_column(message().body, 1, &value));
    cr_expect(data_row_column(message().body, 2, &value));
}

Test(build, negotiation_names_the_whole_version_and_the_options)
{
    const struct text options[] = {TEXT("_pq_.test")};
    build_negotiate(&out, 0, options, 1);
    build_negotiate(&out, 2, NULL, 0);
    /* As PostgreSQL 15 answers 3.9999 with this option. */
    CHECK_BYTES(buffer_text(&out), "v\0\0\0\26\0\3\0\0\0\0\0\1_pq_.test\0"
                                   "v\0\0\0\14\0\3\0\2\0\0\0\0");
}

Test(build, authentication_requests)
{
    build_auth_ok(&out);
    build_auth_sasl_continue(&out, TEXT("r=x"));
    build_auth_sasl_final(&out, TEXT("v=y"));
    CHECK_BYTES(buffer_text(&out),
                "R\0\0\0\10\0\0\0\0R\0\0\0\13\0\0\0\13r=xR\0\0\0\13\0\0\0\14v=y");
}

Test(build, sasl_mechanisms_end_with_an_empty_name)
{
    build_auth_sasl(&out, false);
    CHECK_BYTES(buffer_text(&out), "R\0\0\0\27\0\0\0\12SCRAM-SHA-256\0\0");
    buffer_clear(&out);
    build_auth_sasl(&out, true);
    CHECK_BYTES(buffer_text(&out), "R\0\0\0\52\0\0\0\12SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
}

Test(build, message_that_does_not_fit_is_left_out_as_a_whole)
{
    for (size_t room = 5; room < 19; room++) {
        struct buffer narrow;
        buffer_init(&narrow, room);
        build_sync(&narrow);
        build_query(&narrow, TEXT("SELECT 1"));
        cr_expect(narrow.overflow, "%zu", room);
        CHECK_BYTES(buffer_text(&narrow), "S\0\0\0\4");
        buffer_release(&narrow);
    }
    struct buffer enough;
    buffer_init(&enough, 19);
    build_sync(&enough);
    build_query(&enough, TEXT("SELECT 1"));
    cr_expect_not(enough.overflow);
    buffer_release(&enough);
}

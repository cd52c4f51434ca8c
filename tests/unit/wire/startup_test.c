/* startup_test.c - the first packet, byte by byte. */
#include "proxy/wire/startup.h"

#include "proxy/base/buffer.h"
#include "tests/unit/base/check.h"

static struct startup_packet packet;

static enum startup_kind kind_of(struct text bytes)
{
    startup_read(bytes, &packet);
    return packet.kind;
}

static struct buffer bytes;

/* A packet of this code and body. */
static struct text packet_of(uint32_t code, struct text body)
{
    bytes.size_max = 100000;
    buffer_clear(&bytes);
    buffer_append_u32(&bytes, (uint32_t)body.size + 8);
    buffer_append_u32(&bytes, code);
    buffer_append_text(&bytes, body);
    return buffer_text(&bytes);
}

static void free_packet(void)
{
    buffer_release(&bytes);
}

TestSuite(startup, .fini = free_packet);

Test(startup, session_has_parameters_in_order)
{
    struct text sent = packet_of(0x30000, TEXT("user\0bot\0database\0shop\0options\0\0\0"));
    cr_assert_eq(kind_of(sent), STARTUP_SESSION);
    cr_expect_eq(packet.size, sent.size);
    cr_expect_eq(packet.version, 0x30000);
    cr_expect_eq(packet.parameter_count, 3);
    CHECK_TEXT(packet.parameters[0].name, "user");
    CHECK_TEXT(packet.parameters[0].value, "bot");
    CHECK_TEXT(startup_parameter(&packet, "database"), "shop");
    CHECK_TEXT(startup_parameter(&packet, "options"), "");
    CHECK_TEXT(startup_parameter(&packet, "missing"), "");
}

Test(startup, last_of_repeated_parameters_counts)
{
    cr_assert_eq(kind_of(packet_of(0x30000, TEXT("user\0a\0user\0b\0\0"))), STARTUP_SESSION);
    CHECK_TEXT(startup_parameter(&packet, "user"), "b");
}

Test(startup, newer_minor_and_protocol_options_are_a_session)
{
    cr_assert_eq(kind_of(packet_of(3 << 16 | 9999, TEXT("_pq_.test\0on\0user\0a\0\0"))),
                 STARTUP_SESSION);
    cr_expect_eq(packet.version, 3 << 16 | 9999);
    CHECK_TEXT(startup_parameter(&packet, "_pq_.test"), "on");
}

Test(startup, session_without_parameters_is_a_session)
{
    cr_expect_eq(kind_of(packet_of(0x30000, TEXT("\0"))), STARTUP_SESSION);
    cr_expect_eq(packet.parameter_count, 0);
}

Test(startup, bytes_behind_the_packet_are_not_its_own)
{
    struct text sent = packet_of(0x30000, TEXT("user\0a\0\0"));
    buffer_append_string(&bytes, "Q");
    cr_expect_eq(kind_of(buffer_text(&bytes)), STARTUP_SESSION);
    cr_expect_eq(packet.size, sent.size);
}

Test(startup, every_prefix_is_partial)
{
    const struct text packets[] = {TEXT("\0\0\0\10\4\322\26\57"), TEXT("\0\0\0\10\4\322\26\60"),
                                   TEXT("\0\0\0\20\4\322\26\56\0\0\0\1\0\0\0\2"),
                                   TEXT("\0\0\0\20\0\3\0\0user\0a\0\0")};
    for (size_t i = 0; i < ARRAY_SIZE(packets); i++)
        for (size_t size = 0; size < packets[i].size; size++) {
            cr_expect_eq(kind_of((struct text){packets[i].bytes, size}), STARTUP_PARTIAL,
                         "packet %zu, %zu bytes", i, size);
            cr_expect_eq(packet.size, 0);
        }
}

Test(startup, ssl_and_gss_requests_are_eight_bytes_exactly)
{
    cr_expect_eq(kind_of(packet_of(80877103, TEXT(""))), STARTUP_SSL_REQUEST);
    cr_expect_eq(packet.size, 8);
    cr_expect_eq(kind_of(packet_of(80877104, TEXT(""))), STARTUP_GSS_REQUEST);
    cr_expect_eq(packet.size, 8);
    cr_expect_eq(kind_of(packet_of(80877103, TEXT("x"))), STARTUP_BAD);
    cr_expect_eq(kind_of(packet_of(80877104, TEXT("\0"))), STARTUP_BAD);
}

Test(startup, cancel_has_pid_and_secret)
{
    cr_assert_eq(kind_of(packet_of(80877102, TEXT("\0\0\1\2\377\376\375\374"))), STARTUP_CANCEL);
    cr_expect_eq(packet.cancel_pid, 258);
    cr_expect_eq(packet.cancel_secret, 0xFFFEFDFC);
    cr_expect_eq(packet.size, 16);
}

Test(startup, cancel_of_another_size_is_bad)
{
    cr_expect_eq(kind_of(packet_of(80877102, TEXT(""))), STARTUP_BAD);
    cr_expect_eq(kind_of(packet_of(80877102, TEXT("\0\0\0\1\0\0\0"))), STARTUP_BAD);
    cr_expect_eq(kind_of(packet_of(80877102, TEXT("\0\0\0\1\0\0\0\2\0"))), STARTUP_BAD);
    cr_expect_eq(packet.size, 0);
}

Test(startup, tls_handshake_is_seen_from_its_first_byte)
{
    cr_expect_eq(kind_of(TEXT("\x16")), STARTUP_TLS_HELLO);
    cr_expect_eq(kind_of(TEXT("\x16\3\1\2\0\1\0\1\374\3\3")), STARTUP_TLS_HELLO);
    cr_expect_eq(packet.size, 0);
}

Test(startup, every_other_first_byte_but_zero_is_bad)
{
    for (int byte = 1; byte < 256; byte++) {
        const char header[4] = {(char)byte, 0, 0, 8};
        enum startup_kind expected = byte == 0x16 ? STARTUP_TLS_HELLO : STARTUP_BAD;
        cr_expect_eq(kind_of((struct text){header, 4}), expected, "byte %d", byte);
    }
}

Test(startup, length_below_eight_or_beyond_the_limit_is_bad_at_once)
{
    static const struct {
        struct text header;
        enum startup_kind kind;
    } cases[] = {
        {TEXT_INIT("\0\0\0\0"), STARTUP_BAD},         {TEXT_INIT("\0\0\0\4"), STARTUP_BAD},
        {TEXT_INIT("\0\0\0\7"), STARTUP_BAD},         {TEXT_INIT("\0\0\0\10"), STARTUP_PARTIAL},
        {TEXT_INIT("\0\0\x27\x14"), STARTUP_PARTIAL}, /* 10004 */
        {TEXT_INIT("\0\0\x27\x15"), STARTUP_BAD},     /* 10005 */
        {TEXT_INIT("\x7F\xFF\xFF\xFF"), STARTUP_BAD}, {TEXT_INIT("\xFF\xFF\xFF\xFF"), STARTUP_BAD},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_eq(kind_of(cases[i].header), cases[i].kind, "%zu", i);
}

Test(startup, longest_packet_is_read)
{
    char *body = calloc(9996, 1);
    memset(body, 'x', 9994);
    body[4] = '\0';
    cr_expect_eq(kind_of(packet_of(0x30000, (struct text){body, 9996})), STARTUP_SESSION);
    cr_expect_eq(packet.size, 10004);
    cr_expect_eq(packet.parameters[0].value.size, 9989);
    free(body);
}

Test(startup, other_majors_are_old)
{
    static const uint32_t versions[] = {0, 1 << 16, 2 << 16, 4 << 16, 0xFFFF0000, 80877105};
    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        cr_expect_eq(kind_of(packet_of(versions[i], TEXT("user\0a\0\0"))), STARTUP_OLD_PROTOCOL);
        cr_expect_eq(packet.version, versions[i]);
        cr_expect_eq(packet.parameter_count, 0);
    }
}

Test(startup, body_that_does_not_end_with_its_terminator_has_a_bad_layout)
{
    static const struct text bodies[] = {
        TEXT_INIT(""),
        TEXT_INIT("user"),
        TEXT_INIT("user\0"),
        TEXT_INIT("user\0a"),
        TEXT_INIT("user\0a\0"),
        TEXT_INIT("user\0\0"),
        TEXT_INIT("\0\0"),
        TEXT_INIT("user\0a\0\0x"),
        TEXT_INIT("user\0a\0\0\0"),
        TEXT_INIT("\0user\0a\0\0"),
    };
    for (size_t i = 0; i < ARRAY_SIZE(bodies); i++)
        cr_expect_eq(kind_of(packet_of(0x30000, bodies[i])), STARTUP_BAD_LAYOUT, "%zu", i);
}

Test(startup, more_parameters_than_are_kept_have_a_bad_layout)
{
    char body[STARTUP_PARAMETERS_MAX * 4 + 5];
    for (size_t i = 0; i + 1 < sizeof body; i += 4)
        memcpy(body + i, "a\0b", 4);
    body[sizeof body - 1] = '\0';
    cr_expect_eq(kind_of(packet_of(0x30000, (struct text){body, sizeof body})), STARTUP_BAD_LAYOUT);
    body[sizeof body - 5] = '\0';
    cr_expect_eq(kind_of(packet_of(0x30000, (struct text){body, sizeof body - 4})),
                 STARTUP_SESSION);
    cr_expect_eq(packet.parameter_count, STARTUP_PARAMETERS_MAX);
}

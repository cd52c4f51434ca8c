/* scram_test.c - the exchange: RFC 7677's example, channel binding, and every way to be refused. */
#include "proxy/wire/scram.h"

#include "proxy/base/base64.h"
#include "proxy/base/buffer.h"
#include "proxy/base/limits.h"
#include "proxy/wire/scram_verifier.h"
#include "tests/unit/base/check.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#define CLIENT_NONCE "rOprNGfwEbeRWgbNEkqO"
#define SERVER_NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
#define NONCE        CLIENT_NONCE SERVER_NONCE
#define BARE         "n=user,r=" CLIENT_NONCE
#define PROOF        "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
#define FINAL        "c=biws,r=" NONCE ",p=" PROOF

static const struct text endpoint = TEXT_INIT("0123456789abcdef0123456789abcdef");

static struct scram_exchange *exchange;
static struct buffer body;
static struct text reply;

/* The RFC's user: password "pencil", and a fixed salt. */
static void start(bool known, struct text tls_endpoint)
{
    struct scram_verifier verifier = {.iterations = 4096};
    cr_assert(base64_decode(TEXT("W22ZaJ0SNY7soEsUEjb6gQ=="), verifier.salt, SCRAM_SALT_MAX,
                            &verifier.salt_size));
    scram_verifier_derive(&verifier, TEXT("pencil"));
    scram_free(exchange);
    exchange = scram_start(&verifier, known, tls_endpoint);
    scram_fix_nonce(exchange, SERVER_NONCE);
}

static void begin(void)
{
    buffer_init(&body, 100000);
    start(true, TEXT(""));
}

static void end(void)
{
    scram_free(exchange);
    exchange = NULL;
    buffer_release(&body);
}

TestSuite(scram, .init = begin, .fini = end);

static enum scram_result send_initial(const char *mechanism, struct text data)
{
    buffer_clear(&body);
    buffer_append_string(&body, mechanism);
    buffer_append_byte(&body, 0);
    buffer_append_u32(&body, (uint32_t)data.size);
    buffer_append_text(&body, data);
    return scram_step(exchange, buffer_text(&body), &reply);
}

static enum scram_result send_first(const char *data)
{
    return send_initial("SCRAM-SHA-256", text_from(data));
}

static enum scram_result send_final(const char *data)
{
    return scram_step(exchange, text_from(data), &reply);
}

static void expect_failure(const char *sqlstate, const char *why)
{
    CHECK_TEXT(reply, "");
    cr_expect_str_eq(scram_failure(exchange).sqlstate, sqlstate, "%s", why);
    cr_expect_eq(send_final(FINAL), SCRAM_BAD_MESSAGE, "nothing follows a failure: %s", why);
}

/* --- the way through -------------------------------------------------------------------------- */

Test(scram, exchange_of_rfc_7677)
{
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    CHECK_TEXT(reply, "r=" NONCE ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    cr_assert_eq(send_final(FINAL), SCRAM_DONE);
    CHECK_TEXT(reply, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    cr_expect_eq(send_final(FINAL), SCRAM_BAD_MESSAGE, "nothing follows the end");
}

Test(scram, name_that_does_not_exist_fails_with_the_right_proof_too)
{
    start(false, TEXT(""));
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    CHECK_TEXT(reply, "r=" NONCE ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    cr_assert_eq(send_final(FINAL), SCRAM_FAILED);
    cr_expect_null(scram_failure(exchange).message, "like a wrong password");
    expect_failure("28P01", "unknown");
}

Test(scram, wrong_proof_fails)
{
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_assert_eq(send_final("c=biws,r=" NONCE ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVR="),
                 SCRAM_BAD_MESSAGE, "spare bits");
    start(true, TEXT(""));
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_assert_eq(send_final("c=biws,r=" NONCE ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVA="),
                 SCRAM_FAILED);
    cr_expect_null(scram_failure(exchange).message);
    expect_failure("28P01", "wrong proof");
}

Test(scram, proof_of_another_nonce_fails)
{
    scram_fix_nonce(exchange, "fixed");
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_assert_eq(send_final(FINAL), SCRAM_BAD_MESSAGE);
    start(true, TEXT(""));
    scram_fix_nonce(exchange, "fixed");
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_assert_eq(send_final("c=biws,r=" CLIENT_NONCE "fixed,p=" PROOF), SCRAM_FAILED);
}

Test(scram, client_may_be_asked_for_its_first_message)
{
    struct text initial = TEXT("SCRAM-SHA-256\0\377\377\377\377");
    cr_assert_eq(scram_step(exchange, initial, &reply), SCRAM_CONTINUE);
    CHECK_TEXT(reply, "");
    cr_assert_eq(send_final("n,," BARE), SCRAM_CONTINUE);
    cr_assert_eq(send_final(FINAL), SCRAM_DONE);
}

Test(scram, server_nonce_is_new_for_each_exchange)
{
    struct scram_verifier verifier;
    scram_verifier_from_password(TEXT("x"), &verifier);
    char nonces[2][64];
    for (size_t i = 0; i < 2; i++) {
        scram_free(exchange);
        exchange = scram_start(&verifier, true, TEXT(""));
        cr_assert_eq(send_first("n,,n=,r=abc"), SCRAM_CONTINUE);
        cr_assert(text_starts_with(reply, "r=abc"));
        memcpy(nonces[i], reply.bytes + 5, 24);
        cr_expect_eq(reply.bytes[29], ',');
    }
    cr_expect_arr_neq(nonces[0], nonces[1], 24);
}

Test(scram, free_of_null_is_fine)
{
    scram_free(NULL);
}

/* --- a client of our own, for what the RFC has no example of ---------------------------------- */

static void hmac(const uint8_t *key, struct text message, uint8_t out[32])
{
    unsigned int size;
    HMAC(EVP_sha256(), key, 32, (const uint8_t *)message.bytes, message.size, out, &size);
}

/* The final message with the proof of this password over what was said so far. */
static struct text final_of(const char *password, const char *bare, const char *without_proof)
{
    static char text[1000];
    char auth[1000];
    uint8_t salt[16];
    size_t size;
    cr_assert(base64_decode(TEXT("W22ZaJ0SNY7soEsUEjb6gQ=="), salt, sizeof salt, &size));
    uint8_t salted[32];
    uint8_t key[32];
    uint8_t stored[32];
    uint8_t signature[32];
    PKCS5_PBKDF2_HMAC(password, (int)strlen(password), salt, 16, 4096, EVP_sha256(), 32, salted);
    hmac(salted, TEXT("Client Key"), key);
    sha256(key, sizeof key, stored);
    snprintf(auth, sizeof auth, "%s,r=%s,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,%s", bare, NONCE,
             without_proof);
    hmac(stored, text_from(auth), signature);
    for (size_t i = 0; i < sizeof key; i++)
        key[i] ^= signature[i];
    char proof[45];
    base64_encode(key, sizeof key, proof);
    snprintf(text, sizeof text, "%s,p=%s", without_proof, proof);
    return text_from(text);
}

static enum scram_result finish(const char *password, const char *bare, const char *without_proof)
{
    return scram_step(exchange, final_of(password, bare, without_proof), &reply);
}

/* "c=…,r=…" for a channel binding of these bytes. */
static const char *binding_of(struct text bytes)
{
    static char text[300];
    char encoded[200];
    base64_encode(bytes.bytes, bytes.size, encoded);
    snprintf(text, sizeof text, "c=%s,r=%s", encoded, NONCE);
    return text;
}

#define PLUS_HEADER "p=tls-server-end-point,,"

Test(scram, password_decides)
{
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_expect_eq(finish("pencil", BARE, "c=biws,r=" NONCE), SCRAM_DONE);
    start(true, TEXT(""));
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_expect_eq(finish("Pencil", BARE, "c=biws,r=" NONCE), SCRAM_FAILED);
}

Test(scram, extensions_are_ignored_but_covered_by_the_proof)
{
    const char *bare = "n=,r=" CLIENT_NONCE ",x=1,Y=";
    cr_assert_eq(send_initial("SCRAM-SHA-256", TEXT("n,,n=,r=" CLIENT_NONCE ",x=1,Y=")),
                 SCRAM_CONTINUE);
    cr_expect_eq(finish("pencil", bare, "c=biws,r=" NONCE ",z=2"), SCRAM_DONE);
}

Test(scram, channel_binding_with_the_right_certificate)
{
    start(true, endpoint);
    cr_assert_eq(send_initial("SCRAM-SHA-256-PLUS", TEXT(PLUS_HEADER BARE)), SCRAM_CONTINUE);
    cr_expect_eq(
        finish("pencil", BARE, binding_of(TEXT(PLUS_HEADER "0123456789abcdef0123456789abcdef"))),
        SCRAM_DONE);
}

Test(scram, channel_binding_with_another_certificate_fails)
{
    static const struct text bindings[] = {
        TEXT_INIT(PLUS_HEADER "0123456789abcdef0123456789abcdeX"),
        TEXT_INIT(PLUS_HEADER "0123456789abcdef0123456789abcde"), TEXT_INIT(PLUS_HEADER),
        TEXT_INIT("n,,"), TEXT_INIT("")};
    for (size_t i = 0; i < ARRAY_SIZE(bindings); i++) {
        start(true, endpoint);
        cr_assert_eq(send_initial("SCRAM-SHA-256-PLUS", TEXT(PLUS_HEADER BARE)), SCRAM_CONTINUE);
        cr_expect_eq(finish("pencil", BARE, binding_of(bindings[i])), SCRAM_FAILED, "%zu", i);
        expect_failure("28000", "binding");
    }
}

Test(scram, longest_certificate_hash_fits)
{
    struct text sha512 = TEXT("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    start(true, sha512);
    cr_assert_eq(send_initial("SCRAM-SHA-256-PLUS", TEXT(PLUS_HEADER BARE)), SCRAM_CONTINUE);
    cr_expect_eq(finish("pencil", BARE,
                        binding_of(TEXT(PLUS_HEADER "0123456789abcdef0123456789abcdef"
                                                    "0123456789abcdef0123456789abcdef"))),
                 SCRAM_DONE);
}

Test(scram, client_without_binding_is_welcome_with_and_without_tls)
{
    start(true, endpoint);
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_expect_eq(finish("pencil", BARE, "c=biws,r=" NONCE), SCRAM_DONE);
}

Test(scram, client_that_could_bind_is_welcome_where_we_cannot)
{
    cr_assert_eq(send_first("y,," BARE), SCRAM_CONTINUE);
    cr_expect_eq(finish("pencil", BARE, "c=eSws,r=" NONCE), SCRAM_DONE);
}

Test(scram, client_that_was_not_told_of_binding_is_under_attack)
{
    start(true, endpoint);
    cr_assert_eq(send_first("y,," BARE), SCRAM_FAILED);
    expect_failure("28000", "downgrade");
}

Test(scram, binding_that_says_other_than_the_header_is_malformed)
{
    static const struct {
        const char *first;
        const char *final;
    } cases[] = {{"n,," BARE, "c=eSws,r=" NONCE},
                 {"y,," BARE, "c=biws,r=" NONCE},
                 {"n,," BARE, "c=biw=,r=" NONCE},
                 {"n,," BARE, "c=,r=" NONCE},
                 {"n,," BARE, "c=biwsAAAA,r=" NONCE}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        start(true, TEXT(""));
        cr_assert_eq(send_first(cases[i].first), SCRAM_CONTINUE);
        cr_expect_eq(finish("pencil", BARE, cases[i].final), SCRAM_BAD_MESSAGE, "%zu", i);
        expect_failure("08P01", cases[i].final);
    }
}

/* --- malformed -------------------------------------------------------------------------------- */

Test(scram, unknown_mechanisms_are_refused)
{
    static const char *const mechanisms[] = {
        "", "PLAIN", "SCRAM-SHA-1", "scram-sha-256", "SCRAM-SHA-256-PLUS", "SCRAM-SHA-256 "};
    for (size_t i = 0; i < ARRAY_SIZE(mechanisms); i++) {
        start(true, TEXT(""));
        cr_expect_eq(send_initial(mechanisms[i], TEXT("n,," BARE)), SCRAM_BAD_MESSAGE, "%s",
                     mechanisms[i]);
        expect_failure("08P01", mechanisms[i]);
    }
}

Test(scram, initial_response_must_be_whole)
{
    struct text whole = TEXT("SCRAM-SHA-256\0\0\0\0\40n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
    for (size_t size = 0; size < whole.size; size++) {
        start(true, TEXT(""));
        cr_expect_eq(scram_step(exchange, (struct text){whole.bytes, size}, &reply),
                     SCRAM_BAD_MESSAGE, "%zu", size);
    }
    start(true, TEXT(""));
    cr_expect_eq(scram_step(exchange, whole, &reply), SCRAM_CONTINUE);
    start(true, TEXT(""));
    cr_expect_eq(scram_step(exchange, TEXT("SCRAM-SHA-256\0\0\0\0\11n,,n=,r=ab"), &reply),
                 SCRAM_BAD_MESSAGE, "a byte more than its length");
    start(true, TEXT(""));
    cr_expect_eq(scram_step(exchange, TEXT("SCRAM-SHA-256\0\377\377\377\377n,,n=,r=a"), &reply),
                 SCRAM_BAD_MESSAGE, "no data, and data");
    start(true, TEXT(""));
    cr_expect_eq(scram_step(exchange, TEXT("SCRAM-SHA-256\0\377\377\377\376n,,n=,r=a"), &reply),
                 SCRAM_BAD_MESSAGE, "negative length");
}

Test(scram, malformed_first_messages_are_refused)
{
    static const struct {
        const char *data;
        const char *sqlstate;
    } cases[] = {
        {"", "08P01"},
        {"n", "08P01"},
        {"n,", "08P01"},
        {"n,,", "08P01"},
        {"x,," BARE, "08P01"},
        {"N,," BARE, "08P01"},
        {"n," BARE, "08P01"},
        {"n,a=admin," BARE, "0A000"},
        {"y,a=," BARE, "0A000"},
        {"p=tls-server-end-point,," BARE, "08P01"},
        {"p=tls-unique,," BARE, "08P01"},
        {"p=,," BARE, "08P01"},
        {"p,," BARE, "08P01"},
        {"n,,m=1," BARE, "0A000"},
        {"n,," BARE ",m=1", "08P01"},
        {"n,,r=" CLIENT_NONCE, "08P01"},
        {"n,,r=" CLIENT_NONCE ",n=user", "08P01"},
        {"n,,n=user", "08P01"},
        {"n,,n=user,", "08P01"},
        {"n,,n=user,r=", "08P01"},
        {"n,,n=user,r=a b", "08P01"},
        {"n,,n=user,r=a\x7F", "08P01"},
        {"n,,n=user,r=\xC3\xA4", "08P01"},
        {"n,," BARE ",", "08P01"},
        {"n,," BARE ",x", "08P01"},
        {"n,," BARE ",1=x", "08P01"},
        {"n,," BARE ",x=1,", "08P01"},
        {"n,,N=user,r=a", "08P01"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        start(true, TEXT(""));
        cr_expect_eq(send_first(cases[i].data), SCRAM_BAD_MESSAGE, "%s", cases[i].data);
        expect_failure(cases[i].sqlstate, cases[i].data);
    }
}

Test(scram, header_and_mechanism_must_agree)
{
    static const char *const headers[] = {"n,," BARE, "y,," BARE, "p=tls-unique,," BARE,
                                          "p=tls-server-end-point,a=x," BARE};
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        start(true, endpoint);
        cr_expect_eq(send_initial("SCRAM-SHA-256-PLUS", text_from(headers[i])), SCRAM_BAD_MESSAGE,
                     "%s", headers[i]);
    }
    start(true, endpoint);
    cr_expect_eq(send_first(PLUS_HEADER BARE), SCRAM_BAD_MESSAGE);
}

Test(scram, malformed_final_messages_are_refused)
{
    static const char *const bad[] = {
        "",
        "c=biws",
        "c=biws,r=" NONCE,
        "c=biws,r=" NONCE ",",
        "c=biws,r=" NONCE ",p=",
        "c=biws,r=" NONCE ",p=AAAA",
        "c=biws,r=" NONCE ",p=" PROOF ",",
        "c=biws,r=" NONCE ",p=" PROOF ",x=1",
        "c=biws,r=" NONCE ",p=" PROOF "\n",
        "c=biws,r=" NONCE ",m=1,p=" PROOF,
        "c=biws,r=" NONCE "x,p=" PROOF,
        "c=biws,r=" CLIENT_NONCE ",p=" PROOF,
        "c=biws,r=,p=" PROOF,
        "r=" NONCE ",c=biws,p=" PROOF,
        "c=biws,p=" PROOF ",r=" NONCE,
        "p=" PROOF,
        "n,," BARE,
    };
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        start(true, TEXT(""));
        cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
        cr_expect_eq(send_final(bad[i]), SCRAM_BAD_MESSAGE, "%s", bad[i]);
        expect_failure("08P01", bad[i]);
    }
}

Test(scram, embedded_nul_is_malformed)
{
    cr_expect_eq(send_initial("SCRAM-SHA-256", TEXT("n,,n=us\0er,r=abc")), SCRAM_BAD_MESSAGE);
    start(true, TEXT(""));
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_expect_eq(scram_step(exchange, TEXT("c=biws,r=" NONCE ",x=\0,p=" PROOF), &reply),
                 SCRAM_BAD_MESSAGE);
    start(true, TEXT(""));
    cr_assert_eq(send_first("n,," BARE), SCRAM_CONTINUE);
    cr_expect_eq(scram_step(exchange, TEXT(FINAL "\0"), &reply), SCRAM_BAD_MESSAGE);
}

Test(scram, message_beyond_the_limit_is_refused_and_one_at_it_is_read)
{
    size_t overhead = strlen("SCRAM-SHA-256") + 1 + 4;
    struct buffer data;
    buffer_init(&data, LIMIT_AUTH_MESSAGE_BYTES + 1);
    buffer_append_string(&data, "n,,n=,r=");
    while (data.size < LIMIT_AUTH_MESSAGE_BYTES - overhead)
        buffer_append_byte(&data, 'a');
    cr_expect_eq(send_initial("SCRAM-SHA-256", buffer_text(&data)), SCRAM_CONTINUE);
    start(true, TEXT(""));
    buffer_append_byte(&data, 'a');
    cr_expect_eq(send_initial("SCRAM-SHA-256", buffer_text(&data)), SCRAM_BAD_MESSAGE);
    buffer_release(&data);
}

/*
 * scram.c - a first byte of flags, then the client's messages, each with two bytes of length. The
 * server's nonce is fixed, so that the exchange can be followed to its end. The rest of the input
 * is also read as a verifier and as a password.
 */
#include "proxy/wire/scram.h"

#include "proxy/base/cursor.h"
#include "proxy/base/invariant.h"
#include "proxy/wire/scram_verifier.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLAG_UNKNOWN = 1, FLAG_TLS = 2 };

/* Of the password "pencil", in RFC 7677's example. */
static const char verifier_text[] =
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
    "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

static void check_exchange(struct text bytes)
{
    struct scram_verifier verifier;
    INVARIANT(scram_verifier_parse(text_from(verifier_text), &verifier));
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    uint8_t flags = cursor_u8(&cursor);
    bool known = (flags & FLAG_UNKNOWN) == 0;
    struct text endpoint =
        (flags & FLAG_TLS) != 0 ? TEXT("0123456789abcdef0123456789abcdef") : TEXT("");
    struct scram_exchange *exchange = scram_start(&verifier, known, endpoint);
    scram_fix_nonce(exchange, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
    bool ended = false;
    while (cursor_left(&cursor) > 0) {
        struct text reply;
        struct text message = cursor_bytes(&cursor, cursor_u16(&cursor));
        enum scram_result result = scram_step(exchange, message, &reply);
        INVARIANT(result != SCRAM_DONE || known);
        INVARIANT(!ended || result == SCRAM_BAD_MESSAGE);
        bool failed = result == SCRAM_FAILED || result == SCRAM_BAD_MESSAGE;
        INVARIANT(failed == (scram_failure(exchange).sqlstate != NULL) || ended);
        ended |= result != SCRAM_CONTINUE;
    }
    scram_free(exchange);
}

static void check_verifier(struct text bytes)
{
    struct scram_verifier verifier;
    char text[SCRAM_VERIFIER_TEXT_MAX];
    if (scram_verifier_parse(bytes, &verifier)) {
        struct scram_verifier again;
        scram_verifier_to_text(&verifier, text);
        INVARIANT(scram_verifier_parse(text_from(text), &again));
        INVARIANT(again.iterations == verifier.iterations && again.salt_size == verifier.salt_size);
    }
}

static void check_password(struct text password)
{
    struct scram_verifier verifier = {.iterations = 1, .salt_size = 1};
    scram_verifier_derive(&verifier, password);
    INVARIANT(scram_verifier_matches(&verifier, password) != text_has_byte(password, '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text bytes = {(const char *)data, size};
    check_exchange(bytes);
    check_verifier(bytes);
    check_password(bytes);
    return 0;
}

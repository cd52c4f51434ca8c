/*
 * scram.c - the exchange of messages, step by step.
 *
 * Every way out of a step but the two that are asked for ends the exchange; a further step then
 * fails too. A name that does not exist takes the same steps and the same time as a wrong password.
 */
#include "proxy/wire/scram.h"

#include "proxy/base/base64.h"
#include "proxy/base/buffer.h"
#include "proxy/base/cursor.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/wire/scram_verifier.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONCE_RANDOM_SIZE = 18, /* 144 bits, as PostgreSQL's */
    NONCE_TEXT_MAX = 64,
    ENDPOINT_MAX = 64, /* SHA-512, the longest hash of a certificate */
    /* Both sides' messages, each at most as long as the limit or a little longer than the nonce. */
    BUFFER_MAX = 4 * LIMIT_AUTH_MESSAGE_BYTES,
};

enum scram_state {
    STATE_ENDED = 0,
    STATE_MECHANISM,
    STATE_CLIENT_FIRST,
    STATE_CLIENT_FINAL,
};

struct scram_exchange {
    struct scram_verifier verifier;
    bool known;
    uint8_t endpoint[ENDPOINT_MAX];
    size_t endpoint_size;
    enum scram_state state;
    bool plus;     /* the client chose SCRAM-SHA-256-PLUS */
    char gs2_flag; /* 'n', 'y' or 'p': what the client says of channel binding */
    char server_nonce[NONCE_TEXT_MAX + 1];
    struct buffer nonce;        /* the client's and ours */
    struct buffer auth_message; /* grows with each message */
    struct buffer reply;
    struct scram_failure failure;
};

struct scram_exchange *scram_start(const struct scram_verifier *verifier, bool known,
                                   struct text tls_endpoint)
{
    INVARIANT(tls_endpoint.size <= ENDPOINT_MAX);
    struct scram_exchange *exchange = memory_allocate_zeroed(1, sizeof *exchange);
    exchange->verifier = *verifier;
    exchange->known = known;
    exchange->endpoint_size = tls_endpoint.size;
    if (tls_endpoint.size > 0)
        memcpy(exchange->endpoint, tls_endpoint.bytes, tls_endpoint.size);
    uint8_t random[NONCE_RANDOM_SIZE];
    random_bytes(random, sizeof random);
    base64_encode(random, sizeof random, exchange->server_nonce);
    buffer_init(&exchange->nonce, BUFFER_MAX);
    buffer_init(&exchange->auth_message, BUFFER_MAX);
    buffer_init(&exchange->reply, BUFFER_MAX);
    exchange->state = STATE_MECHANISM;
    return exchange;
}

void scram_fix_nonce(struct scram_exchange *exchange, const char *nonce)
{
    size_t size = strlen(nonce);
    INVARIANT(exchange->state == STATE_MECHANISM && size > 0 && size <= NONCE_TEXT_MAX);
    memcpy(exchange->server_nonce, nonce, size + 1);
}

void scram_free(struct scram_exchange *exchange)
{
    if (exchange == NULL)
        return;
    buffer_release(&exchange->nonce);
    buffer_release(&exchange->auth_message);
    buffer_release(&exchange->reply);
    OPENSSL_cleanse(exchange, sizeof *exchange);
    free(exchange);
}

struct scram_failure scram_failure(const struct scram_exchange *exchange)
{
    return exchange->failure;
}

static enum scram_result end_with(struct scram_exchange *exchange, enum scram_result result,
                                  const char *sqlstate, const char *message)
{
    exchange->failure = (struct scram_failure){sqlstate, message};
    return result;
}

static enum scram_result malformed(struct scram_exchange *exchange, const char *message)
{
    return end_with(exchange, SCRAM_BAD_MESSAGE, "08P01", message);
}

/* Takes "x=value" and the comma behind it off the front. False if there is none, or nothing behind
 * the comma. */
static bool next_attribute(struct text *rest, char *name, struct text *value)
{
    if (rest->size < 2 || rest->bytes[1] != '=')
        return false;
    *name = rest->bytes[0];
    if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z')))
        return false;
    size_t end = 2;
    while (end < rest->size && rest->bytes[end] != ',')
        end++;
    *value = (struct text){rest->bytes + 2, end - 2};
    if (end + 1 == rest->size)
        return false;
    size_t taken = end < rest->size ? end + 1 : end;
    *rest = (struct text){rest->bytes + taken, rest->size - taken};
    return true;
}

static bool expect_attribute(struct text *rest, char name, struct text *value)
{
    char found;
    return next_attribute(rest, &found, value) && found == name;
}

/* Printable ASCII without comma, not empty. */
static bool is_nonce(struct text nonce)
{
    for (size_t i = 0; i < nonce.size; i++)
        if (nonce.bytes[i] < '!' || nonce.bytes[i] > '~' || nonce.bytes[i] == ',')
            return false;
    return nonce.size > 0;
}

/* --- client-first-message --------------------------------------------------------------------- */

/* "n,,", "y,," or "p=TYPE,,", taken off the front: what the client can do, does and wants. */
static enum scram_result read_gs2_header(struct scram_exchange *exchange, struct text *rest)
{
    const char *binding = "p=tls-server-end-point,";
    struct text message = *rest;
    exchange->gs2_flag = message.size > 0 ? message.bytes[0] : '\0';
    size_t flag_size = exchange->gs2_flag == 'p' ? strlen(binding) : 2;
    if (exchange->gs2_flag == 'p'
            ? !text_starts_with(message, binding)
            : !text_starts_with(message, "n,") && !text_starts_with(message, "y,"))
        return malformed(exchange, "unsupported SCRAM channel-binding flag or type");
    struct text behind = {message.bytes + flag_size, message.size - flag_size};
    if (text_starts_with(behind, "a="))
        return end_with(exchange, SCRAM_BAD_MESSAGE, "0A000",
                        "client uses authorization identity, but it is not supported");
    if (!text_starts_with(behind, ","))
        return malformed(exchange, "malformed SCRAM client-first-message");
    if (exchange->plus != (exchange->gs2_flag == 'p'))
        return malformed(exchange, "SCRAM mechanism and channel-binding flag do not agree");
    /* The client believes that we cannot bind, but we said that we can: somebody between us took it
     * out of the list of mechanisms. */
    if (exchange->gs2_flag == 'y' && exchange->endpoint_size > 0)
        return end_with(exchange, SCRAM_FAILED, "28000", "SCRAM channel binding negotiation error");
    *rest = (struct text){behind.bytes + 1, behind.size - 1};
    return SCRAM_CONTINUE;
}

/* "n=NAME,r=NONCE" and extensions, which are ignored as PostgreSQL does, but for mandatory ones.
 * The name is ignored too: the startup packet's counts. */
static enum scram_result read_client_first_bare(struct scram_exchange *exchange, struct text bare,
                                                struct text *nonce)
{
    struct text rest = bare;
    struct text value;
    if (text_starts_with(bare, "m="))
        return end_with(exchange, SCRAM_BAD_MESSAGE, "0A000",
                        "client requires an unsupported SCRAM extension");
    if (!expect_attribute(&rest, 'n', &value) || !expect_attribute(&rest, 'r', nonce) ||
        !is_nonce(*nonce))
        return malformed(exchange, "malformed SCRAM client-first-message");
    char name;
    while (rest.size > 0)
        if (!next_attribute(&rest, &name, &value) || name == 'm')
            return malformed(exchange, "malformed SCRAM extension");
    return SCRAM_CONTINUE;
}

static void write_server_first(struct scram_exchange *exchange)
{
    char salt[BASE64_SIZE(SCRAM_SALT_MAX) + 1];
    base64_encode(exchange->verifier.salt, exchange->verifier.salt_size, salt);
    buffer_append_string(&exchange->reply, "r=");
    buffer_append_text(&exchange->reply, buffer_text(&exchange->nonce));
    buffer_printf(&exchange->reply, ",s=%s,i=%u", salt, (unsigned)exchange->verifier.iterations);
    INVARIANT(!exchange->reply.overflow);
}

static enum scram_result read_client_first(struct scram_exchange *exchange, struct text message)
{
    struct text bare = message;
    struct text nonce;
    if (text_has_byte(message, '\0'))
        return malformed(exchange, "malformed SCRAM client-first-message");
    enum scram_result result = read_gs2_header(exchange, &bare);
    if (result == SCRAM_CONTINUE)
        result = read_client_first_bare(exchange, bare, &nonce);
    if (result != SCRAM_CONTINUE)
        return result;
    buffer_append_text(&exchange->nonce, nonce);
    buffer_append_string(&exchange->nonce, exchange->server_nonce);
    write_server_first(exchange);
    buffer_append_text(&exchange->auth_message, bare);
    buffer_append_byte(&exchange->auth_message, ',');
    buffer_append_text(&exchange->auth_message, buffer_text(&exchange->reply));
    buffer_append_byte(&exchange->auth_message, ',');
    exchange->state = STATE_CLIENT_FINAL;
    return SCRAM_CONTINUE;
}

/* SASLInitialResponse: mechanism, length, data. Without data (-1) the client is asked for it. */
static enum scram_result read_initial_response(struct scram_exchange *exchange, struct text body)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    struct text mechanism = cursor_string(&cursor);
    uint32_t length = cursor_u32(&cursor);
    bool has_data = length != UINT32_MAX;
    struct text data = cursor_bytes(&cursor, has_data ? length : 0);
    if (!cursor_done(&cursor))
        return malformed(exchange, "malformed SASLInitialResponse message");
    exchange->plus = exchange->endpoint_size > 0 && text_is(mechanism, "SCRAM-SHA-256-PLUS");
    if (!exchange->plus && !text_is(mechanism, "SCRAM-SHA-256"))
        return malformed(exchange, "client selected an invalid SASL authentication mechanism");
    if (has_data)
        return read_client_first(exchange, data);
    exchange->state = STATE_CLIENT_FIRST;
    return SCRAM_CONTINUE;
}

/* --- client-final-message --------------------------------------------------------------------- */

struct client_final {
    struct text without_proof;
    struct text channel_binding;
    struct text nonce;
    uint8_t proof[SHA256_SIZE];
};

/* "c=BINDING,r=NONCE", extensions, and the proof, which is last. */
static bool parse_client_final(struct text message, struct client_final *final)
{
    struct text rest = message;
    if (text_has_byte(message, '\0') || !expect_attribute(&rest, 'c', &final->channel_binding) ||
        !expect_attribute(&rest, 'r', &final->nonce))
        return false;
    char name;
    struct text value;
    do {
        final->without_proof = (struct text){message.bytes, message.size - rest.size - 1};
        if (!next_attribute(&rest, &name, &value) || name == 'm')
            return false;
    } while (name != 'p');
    size_t size;
    return rest.size == 0 && base64_decode(value, final->proof, SHA256_SIZE, &size) &&
           size == SHA256_SIZE;
}

/* The client repeats its GS2 header, and with binding the hash of the certificate that it saw. */
static bool is_expected_binding(const struct scram_exchange *exchange, struct text binding)
{
    struct buffer expected;
    char text[BASE64_SIZE(32 + ENDPOINT_MAX) + 1];
    buffer_init(&expected, 32 + ENDPOINT_MAX);
    buffer_append_byte(&expected, (uint8_t)exchange->gs2_flag);
    if (exchange->plus)
        buffer_append_string(&expected, "=tls-server-end-point");
    buffer_append_string(&expected, ",,");
    if (exchange->plus)
        buffer_append(&expected, exchange->endpoint, exchange->endpoint_size);
    INVARIANT(!expected.overflow);
    size_t size = base64_encode(expected.bytes, expected.size, text);
    buffer_release(&expected);
    return text_equal(binding, (struct text){text, size});
}

/* The proof is the client's key, masked by a signature that only its hash is needed for. */
static bool is_proven(const struct scram_exchange *exchange, const uint8_t proof[SHA256_SIZE])
{
    uint8_t key[SHA256_SIZE];
    uint8_t hash[SHA256_SIZE];
    scram_hmac(exchange->verifier.stored_key, buffer_text(&exchange->auth_message), key);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        key[i] ^= proof[i];
    sha256(key, sizeof key, hash);
    OPENSSL_cleanse(key, sizeof key);
    return equal_in_constant_time(hash, exchange->verifier.stored_key, SHA256_SIZE);
}

static void write_server_final(struct scram_exchange *exchange)
{
    uint8_t signature[SHA256_SIZE];
    char text[BASE64_SIZE(SHA256_SIZE) + 1];
    scram_hmac(exchange->verifier.server_key, buffer_text(&exchange->auth_message), signature);
    base64_encode(signature, sizeof signature, text);
    buffer_printf(&exchange->reply, "v=%s", text);
}

static enum scram_result read_client_final(struct scram_exchange *exchange, struct text message)
{
    struct client_final final;
    if (!parse_client_final(message, &final))
        return malformed(exchange, "malformed SCRAM client-final-message");
    if (!is_expected_binding(exchange, final.channel_binding))
        return exchange->plus
                   ? end_with(exchange, SCRAM_FAILED, "28000", "SCRAM channel binding check failed")
                   : malformed(exchange, "unexpected SCRAM channel-binding attribute "
                                         "in client-final-message");
    if (!text_equal(final.nonce, buffer_text(&exchange->nonce)))
        return malformed(exchange, "invalid SCRAM response: nonce does not match");
    buffer_append_text(&exchange->auth_message, final.without_proof);
    INVARIANT(!exchange->auth_message.overflow);
    bool proven = is_proven(exchange, final.proof);
    write_server_final(exchange);
    if (!proven || !exchange->known)
        return end_with(exchange, SCRAM_FAILED, "28P01", NULL);
    return SCRAM_DONE;
}

/* --- steps ------------------------------------------------------------------------------------ */

static enum scram_result step(struct scram_exchange *exchange, enum scram_state state,
                              struct text body)
{
    if (body.size > LIMIT_AUTH_MESSAGE_BYTES)
        return malformed(exchange, "SASL message is too long");
    switch (state) {
    case STATE_MECHANISM:
        return read_initial_response(exchange, body);
    case STATE_CLIENT_FIRST:
        return read_client_first(exchange, body);
    case STATE_CLIENT_FINAL:
        return read_client_final(exchange, body);
    case STATE_ENDED:
        break;
    }
    return malformed(exchange, "unexpected SASL message");
}

enum scram_result scram_step(struct scram_exchange *exchange, struct text body, struct text *reply)
{
    enum scram_state state = exchange->state;
    exchange->state = STATE_ENDED;
    buffer_clear(&exchange->reply);
    enum scram_result result = step(exchange, state, body);
    bool has_reply = result == SCRAM_CONTINUE || result == SCRAM_DONE;
    *reply = has_reply ? buffer_text(&exchange->reply) : TEXT("");
    return result;
}

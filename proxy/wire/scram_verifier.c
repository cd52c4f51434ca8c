/*
 * scram_verifier.c - verifiers: from a password, as text, for names that do not exist.
 *
 * A text that is not a verifier is refused; deriving one cannot fail. Keys on the way are wiped.
 */
#include "proxy/wire/scram_verifier.h"

#include "proxy/base/base64.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <common/saslprep.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SALT_SIZE = 16 }; /* as PostgreSQL's */

void scram_hmac(const uint8_t key[SHA256_SIZE], struct text message, uint8_t mac[SHA256_SIZE])
{
    hmac_sha256((struct text){(const char *)key, SHA256_SIZE}, message, mac);
}

/* PostgreSQL's own SASLprep, and like PostgreSQL the raw bytes where it refuses. Returns NULL for
 * these, else a string to free. */
static char *saslprep(struct text password)
{
    if (text_has_byte(password, '\0'))
        return NULL;
    char *string = memory_allocate(password.size + 1);
    if (password.size > 0)
        memcpy(string, password.bytes, password.size);
    string[password.size] = '\0';
    char *prepared = NULL;
    pg_saslprep_rc result = pg_saslprep(string, &prepared);
    OPENSSL_cleanse(string, password.size);
    free(string);
    INVARIANT(result != SASLPREP_OOM);
    return result == SASLPREP_SUCCESS ? prepared : NULL;
}

static void salt_password(const struct scram_verifier *verifier, struct text password,
                          uint8_t salted[SHA256_SIZE])
{
    char *prepared = saslprep(password);
    struct text used = prepared != NULL ? text_from(prepared) : password;
    INVARIANT(used.size <= INT32_MAX);
    int made =
        PKCS5_PBKDF2_HMAC(used.bytes, (int)used.size, verifier->salt, (int)verifier->salt_size,
                          (int)verifier->iterations, EVP_sha256(), SHA256_SIZE, salted);
    INVARIANT(made == 1);
    if (prepared != NULL)
        OPENSSL_cleanse(prepared, used.size);
    free(prepared);
}

void scram_verifier_derive(struct scram_verifier *verifier, struct text password)
{
    uint8_t salted[SHA256_SIZE];
    uint8_t client_key[SHA256_SIZE];
    salt_password(verifier, password, salted);
    scram_hmac(salted, TEXT("Client Key"), client_key);
    sha256(client_key, sizeof client_key, verifier->stored_key);
    scram_hmac(salted, TEXT("Server Key"), verifier->server_key);
    OPENSSL_cleanse(salted, sizeof salted);
    OPENSSL_cleanse(client_key, sizeof client_key);
}

void scram_verifier_from_password(struct text password, struct scram_verifier *verifier)
{
    *verifier = (struct scram_verifier){.iterations = SCRAM_ITERATIONS, .salt_size = SALT_SIZE};
    random_bytes(verifier->salt, SALT_SIZE);
    scram_verifier_derive(verifier, password);
}

bool scram_verifier_matches(const struct scram_verifier *verifier, struct text password)
{
    struct scram_verifier derived = *verifier;
    scram_verifier_derive(&derived, password);
    /* HMAC pads its key with zeros, so NULs at the end of a password would make no difference. */
    return !text_has_byte(password, '\0') &&
           equal_in_constant_time(derived.stored_key, verifier->stored_key, SHA256_SIZE);
}

/* Takes the text up to `separator` off the front; false if there is none. */
static bool take_until(struct text *rest, char separator, struct text *part)
{
    const char *found = rest->size > 0 ? memchr(rest->bytes, separator, rest->size) : NULL;
    if (found == NULL)
        return false;
    *part = (struct text){rest->bytes, (size_t)(found - rest->bytes)};
    *rest = (struct text){found + 1, rest->size - part->size - 1};
    return true;
}

static bool parse_iterations(struct text text, uint32_t *iterations)
{
    int64_t value;
    if (!text_to_int64(text, &value) || value < 1 || value > LIMIT_SCRAM_ITERATIONS)
        return false;
    *iterations = (uint32_t)value;
    return true;
}

static bool parse_key(struct text text, uint8_t key[SHA256_SIZE])
{
    size_t size;
    return base64_decode(text, key, SHA256_SIZE, &size) && size == SHA256_SIZE;
}

bool scram_verifier_parse(struct text text, struct scram_verifier *verifier)
{
    *verifier = (struct scram_verifier){0};
    struct text scheme, iterations, salt, stored_key;
    struct text rest = text;
    return take_until(&rest, '$', &scheme) && take_until(&rest, ':', &iterations) &&
           take_until(&rest, '$', &salt) && take_until(&rest, ':', &stored_key) &&
           text_is(scheme, "SCRAM-SHA-256") &&
           parse_iterations(iterations, &verifier->iterations) &&
           base64_decode(salt, verifier->salt, SCRAM_SALT_MAX, &verifier->salt_size) &&
           verifier->salt_size > 0 && parse_key(stored_key, verifier->stored_key) &&
           parse_key(rest, verifier->server_key);
}

void scram_verifier_to_text(const struct scram_verifier *verifier,
                            char text[SCRAM_VERIFIER_TEXT_MAX])
{
    char salt[BASE64_SIZE(SCRAM_SALT_MAX) + 1];
    char stored_key[BASE64_SIZE(SHA256_SIZE) + 1];
    char server_key[BASE64_SIZE(SHA256_SIZE) + 1];
    base64_encode(verifier->salt, verifier->salt_size, salt);
    base64_encode(verifier->stored_key, SHA256_SIZE, stored_key);
    base64_encode(verifier->server_key, SHA256_SIZE, server_key);
    int size = snprintf(text, SCRAM_VERIFIER_TEXT_MAX, "SCRAM-SHA-256$%u:%s$%s:%s",
                        (unsigned)verifier->iterations, salt, stored_key, server_key);
    INVARIANT(size > 0 && size < SCRAM_VERIFIER_TEXT_MAX);
}

static uint8_t mock_secret[SHA256_SIZE];
static pthread_once_t mock_secret_once = PTHREAD_ONCE_INIT;

static void make_mock_secret(void)
{
    random_bytes(mock_secret, sizeof mock_secret);
}

static void mock_bytes(struct text name, struct text purpose, uint8_t out[SHA256_SIZE])
{
    struct digest *digest = digest_new();
    digest_field(digest, (struct text){(const char *)mock_secret, sizeof mock_secret});
    digest_field(digest, purpose);
    digest_field(digest, name);
    digest_finish(digest, out);
}

void scram_verifier_mock(struct text name, struct scram_verifier *verifier)
{
    pthread_once(&mock_secret_once, make_mock_secret);
    *verifier = (struct scram_verifier){.iterations = SCRAM_ITERATIONS, .salt_size = SALT_SIZE};
    uint8_t salt[SHA256_SIZE];
    mock_bytes(name, TEXT("salt"), salt);
    memcpy(verifier->salt, salt, SALT_SIZE);
    mock_bytes(name, TEXT("stored key"), verifier->stored_key);
    mock_bytes(name, TEXT("server key"), verifier->server_key);
}

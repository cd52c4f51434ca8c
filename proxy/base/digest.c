/* digest.c - see digest.h. */
#include "proxy/base/digest.h"

#include "proxy/base/invariant.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

void sha256(const void *bytes, size_t size, uint8_t digest[SHA256_SIZE])
{
    unsigned int written = 0;
    INVARIANT(EVP_Digest(bytes, size, digest, &written, EVP_sha256(), NULL) == 1);
    INVARIANT(written == SHA256_SIZE);
}

void hmac_sha256(struct text key, struct text message, uint8_t mac[SHA256_SIZE])
{
    unsigned int size = 0;
    const uint8_t *made = HMAC(EVP_sha256(), key.bytes, (int)key.size,
                               (const uint8_t *)message.bytes, message.size, mac, &size);
    INVARIANT(made != NULL && size == SHA256_SIZE);
}

/* Only ever a pointer to OpenSSL's own context. */
struct digest *digest_new(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    INVARIANT(context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
    return (struct digest *)context;
}

void digest_field(struct digest *digest, struct text field)
{
    EVP_MD_CTX *context = (EVP_MD_CTX *)digest;
    uint8_t length[8];
    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (uint8_t)((uint64_t)field.size >> (56 - 8 * i));
    INVARIANT(EVP_DigestUpdate(context, length, sizeof length) == 1);
    INVARIANT(EVP_DigestUpdate(context, field.bytes, field.size) == 1);
}

void digest_finish(struct digest *digest, uint8_t out[SHA256_SIZE])
{
    EVP_MD_CTX *context = (EVP_MD_CTX *)digest;
    INVARIANT(EVP_DigestFinal_ex(context, out, NULL) == 1);
    EVP_MD_CTX_free(context);
}

void hex_from_bytes(const void *bytes, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *b = bytes;
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[b[i] >> 4];
        text[2 * i + 1] = digits[b[i] & 15];
    }
    text[2 * size] = '\0';
}

void random_bytes(void *bytes, size_t size)
{
    INVARIANT(RAND_bytes(bytes, (int)size) == 1);
}

bool equal_in_constant_time(const void *a, const void *b, size_t size)
{
    return CRYPTO_memcmp(a, b, size) == 0;
}

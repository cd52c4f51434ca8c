/* tls.c - see tls.h. A file that is missing, of another kind, or a key that does not fit, is fatal.
 */
#include "proxy/review/tls.h"

#include <math.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>

static bool load(SSL_CTX *context, const struct tls_settings *settings)
{
    /* Texts of a configuration end with a NUL: arena_text. */
    if (SSL_CTX_use_certificate_chain_file(context, settings->certificate.bytes) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, settings->key.bytes, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1)
        return false;
    if (settings->client_ca.size == 0)
        return true;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return SSL_CTX_load_verify_locations(context, settings->client_ca.bytes, NULL) == 1;
}

SSL_CTX *review_tls_new(const struct tls_settings *settings, char *problem, size_t size)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context != NULL && SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
        load(context, settings)) {
        /* Renegotiation and tickets are of no use to a few people, and cost code that strangers
         * reach. */
        SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE);
        return context;
    }
    char reason[160];
    ERR_error_string_n(ERR_get_error(), reason, sizeof reason);
    snprintf(problem, size, "review.tls: %s", reason);
    SSL_CTX_free(context);
    return NULL;
}

double tls_certificate_seconds(const SSL_CTX *context)
{
    enum { DAY_SECONDS = 86400 };
    const X509 *certificate = context != NULL ? SSL_CTX_get0_certificate(context) : NULL;
    int days;
    int seconds;
    if (certificate == NULL ||
        ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)) != 1)
        return INFINITY;
    return (double)days * DAY_SECONDS + seconds;
}

/* tls.c - see tls.h. */
#include "proxy/net/tls.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>

static const unsigned char alpn_name[] = "\x0apostgresql";
enum { ALPN_SIZE = sizeof alpn_name - 1 };

static int choose_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_size,
                       const unsigned char *offered, unsigned offered_size, void *argument)
{
    unsigned char *chosen = NULL;
    (void)ssl;
    (void)argument;
    if (SSL_select_next_proto(&chosen, out_size, alpn_name, ALPN_SIZE, offered, offered_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void describe(char *problem, size_t size, const char *what, struct text file)
{
    char reason[256];
    ERR_error_string_n(ERR_peek_last_error(), reason, sizeof reason);
    snprintf(problem, size, "%s \"%.*s\" cannot be used: %s", what, TEXT_ARGS(file), reason);
}

static bool load(SSL_CTX *context, const struct tls_settings *settings, char *problem, size_t size)
{
    if (SSL_CTX_use_certificate_chain_file(context, settings->certificate.bytes) != 1) {
        describe(problem, size, "certificate", settings->certificate);
        return false;
    }
    if (SSL_CTX_use_PrivateKey_file(context, settings->key.bytes, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        describe(problem, size, "private key", settings->key);
        return false;
    }
    if (settings->client_ca.size == 0)
        return true;
    if (SSL_CTX_load_verify_locations(context, settings->client_ca.bytes, NULL) != 1) {
        describe(problem, size, "client CA", settings->client_ca);
        return false;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return true;
}

SSL_CTX *tls_context(const struct tls_settings *settings, char *problem, size_t size)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL)
        return NULL;
    ERR_clear_error();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(context, choose_alpn, NULL);
    if (load(context, settings, problem, size))
        return context;
    SSL_CTX_free(context);
    return NULL;
}

size_t tls_endpoint(SSL *ssl, uint8_t hash[TLS_ENDPOINT_MAX])
{
    X509 *certificate = SSL_get_certificate(ssl);
    int digest_id = NID_undef;
    if (certificate == NULL ||
        OBJ_find_sigid_algs(X509_get_signature_nid(certificate), &digest_id, NULL) != 1)
        return 0;
    if (digest_id == NID_md5 || digest_id == NID_sha1)
        digest_id = NID_sha256;
    const EVP_MD *digest = EVP_get_digestbynid(digest_id);
    unsigned size = 0;
    if (digest == NULL || EVP_MD_get_size(digest) > TLS_ENDPOINT_MAX ||
        X509_digest(certificate, digest, hash, &size) != 1)
        return 0;
    return size;
}

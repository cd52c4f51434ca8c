/* tls.h - TLS contexts of the listeners, from certificate files. */
#ifndef PGWICKET_NET_TLS_H
#define PGWICKET_NET_TLS_H

#include "proxy/config/settings.h"

#include <openssl/ssl.h>

/* NULL with `problem` if a file cannot be used. TLS 1.2 and newer; ALPN "postgresql". Counted:
 * SSL_CTX_free. */
SSL_CTX *tls_context(const struct tls_settings *settings, char *problem, size_t size);

enum { TLS_ENDPOINT_MAX = 64 };

/* RFC 5929 tls-server-end-point of the certificate this connection uses; 0 where there is none. */
size_t tls_endpoint(SSL *ssl, uint8_t hash[TLS_ENDPOINT_MAX]);

#endif

/* tls.h - the server side of TLS for the review listener. */
#ifndef PGWICKET_REVIEW_TLS_H
#define PGWICKET_REVIEW_TLS_H

#include "proxy/config/settings.h"

#include <openssl/ssl.h>

/* TLS 1.2 or later with this certificate and key; with a client_ca every client must show a
 * certificate of it. NULL with `problem` if a file cannot be used. */
SSL_CTX *review_tls_new(const struct tls_settings *settings, char *problem, size_t size);

/* Until the first certificate of the context expires; below 0 it has, INFINITY: there is none, or its
 * date cannot be read. `context` may be NULL. */
double tls_certificate_seconds(const SSL_CTX *context);

#endif

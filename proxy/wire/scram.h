/*
 * scram.h - SCRAM-SHA-256 and SCRAM-SHA-256-PLUS as the server. Pure, but for random nonces.
 *
 * Source: RFC 5802, RFC 7677, RFC 5929 (tls-server-end-point), PostgreSQL manual "SASL
 * Authentication". An agent that does not exist runs the same exchange against a mock verifier that
 * depends on its name and a secret of this process, and then fails like a wrong password.
 */
#ifndef PGWICKET_WIRE_SCRAM_H
#define PGWICKET_WIRE_SCRAM_H

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"

enum { SCRAM_SALT_MAX = 64, SCRAM_ITERATIONS = 4096, SCRAM_VERIFIER_TEXT_MAX = 256 };

struct scram_verifier {
    uint32_t iterations;
    uint8_t salt[SCRAM_SALT_MAX];
    size_t salt_size;
    uint8_t stored_key[SHA256_SIZE];
    uint8_t server_key[SHA256_SIZE];
};

/* "SCRAM-SHA-256$4096:salt$stored:server", as in pg_authid. False if it is not one. */
MUST_USE bool scram_verifier_parse(struct text text, struct scram_verifier *verifier);

/* From a password (SASLprep where it is valid UTF-8, as PostgreSQL does) with a random salt. */
void scram_verifier_from_password(struct text password, struct scram_verifier *verifier);

/* Does the password match? For HTTP basic authentication. */
bool scram_verifier_matches(const struct scram_verifier *verifier, struct text password);

void scram_verifier_to_text(const struct scram_verifier *verifier,
                            char text[SCRAM_VERIFIER_TEXT_MAX]);

/* A stable verifier that no password matches, for a name that does not exist. */
void scram_verifier_mock(struct text name, struct scram_verifier *verifier);

struct scram_exchange;

/*
 * `known` false: the exchange goes its way and always ends in SCRAM_FAILED. `tls_endpoint` is the
 * certificate hash for channel binding, empty without TLS. The verifier is copied.
 */
struct scram_exchange *scram_start(const struct scram_verifier *verifier, bool known,
                                   struct text tls_endpoint);
void scram_free(struct scram_exchange *exchange); /* NULL is fine */

enum scram_result {
    SCRAM_FAILED = 0,  /* not who it says it is: scram_failure says why, mostly 28P01 */
    SCRAM_BAD_MESSAGE, /* malformed, or asks for what is not supported: scram_failure, mostly 08P01
                        */
    SCRAM_CONTINUE,    /* send `reply` as AuthenticationSASLContinue */
    SCRAM_DONE,        /* send `reply` as AuthenticationSASLFinal, then AuthenticationOk */
};

/* The body of each 'p' message in turn. `reply` lives until the next call. */
enum scram_result scram_step(struct scram_exchange *exchange, struct text body, struct text *reply);

/* For the FATAL error after SCRAM_FAILED or SCRAM_BAD_MESSAGE. */
struct scram_failure {
    const char *sqlstate;
    const char *message; /* NULL: wrong password or unknown name, 'password authentication failed
                            for user "…"' */
};
struct scram_failure scram_failure(const struct scram_exchange *exchange);

#endif

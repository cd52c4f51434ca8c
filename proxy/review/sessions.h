/*
 * sessions.h - who is signed in with a browser: a table of random tokens, bounded in number and
 * time. Used by one thread; time is an argument.
 *
 * The cookie carries 256 random bits; the table keeps only their digest. A session ends after two
 * hours without a request, twelve hours in any case, and at once when its approver is taken out of
 * the configuration or gets another secret.
 */
#ifndef PGWICKET_REVIEW_SESSIONS_H
#define PGWICKET_REVIEW_SESSIONS_H

#include "proxy/config/settings.h"

enum { SESSION_TOKEN_SIZE = 65 };

struct signed_in {
    bool used;
    uint8_t digest[32];            /* of the token */
    char csrf[SESSION_TOKEN_SIZE]; /* what its forms carry */
    char *approver;
    uint8_t stored_key[32]; /* of the approver's verifier when the session began */
    bool by_header;         /* good only together with the header of the trusted proxy */
    int64_t began_us;
    int64_t seen_us;
};

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions);

/* A new session; the least recently used one makes room. The token is the cookie's value. */
struct signed_in *sessions_begin(struct sessions *sessions, const struct approver *approver,
                                 bool by_header, int64_t now_us, char token[SESSION_TOKEN_SIZE]);

/* The session of a token and its approver as the configuration has them now; NULL: none. `live`: a
 * page that asks by itself does not keep the session from ending. */
struct signed_in *sessions_find(struct sessions *sessions, struct text token,
                                const struct configuration *configuration, int64_t now_us,
                                bool live, const struct approver **approver);

/* Is this the token that the session's forms carry? */
bool session_has_csrf(const struct signed_in *session, struct text token);

void sessions_end(struct signed_in *session);

#endif

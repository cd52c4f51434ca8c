/* sessions.c - see sessions.h. Tokens are compared by their digests, in constant time. */
#include "proxy/review/sessions.h"

#include "proxy/base/digest.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_BYTES = 32 };

static const int64_t idle_us = 2 * 3600 * (int64_t)1000000;
static const int64_t whole_us = 12 * 3600 * (int64_t)1000000;

struct sessions {
    struct signed_in items[LIMIT_BROWSER_SESSIONS];
};

struct sessions *sessions_new(void)
{
    return memory_allocate_zeroed(1, sizeof(struct sessions));
}

void sessions_end(struct signed_in *session)
{
    free(session->approver);
    OPENSSL_cleanse(session, sizeof *session);
}

void sessions_free(struct sessions *sessions)
{
    for (size_t i = 0; sessions != NULL && i < LIMIT_BROWSER_SESSIONS; i++)
        sessions_end(&sessions->items[i]);
    free(sessions);
}

static struct signed_in *place_for_new(struct sessions *sessions)
{
    struct signed_in *oldest = &sessions->items[0];
    for (size_t i = 0; i < LIMIT_BROWSER_SESSIONS; i++) {
        if (!sessions->items[i].used)
            return &sessions->items[i];
        if (sessions->items[i].seen_us < oldest->seen_us)
            oldest = &sessions->items[i];
    }
    sessions_end(oldest);
    return oldest;
}

static void random_token(char token[SESSION_TOKEN_SIZE])
{
    uint8_t bytes[TOKEN_BYTES];
    random_bytes(bytes, sizeof bytes);
    hex_from_bytes(bytes, sizeof bytes, token);
    OPENSSL_cleanse(bytes, sizeof bytes);
}

struct signed_in *sessions_begin(struct sessions *sessions, const struct approver *approver,
                                 bool by_header, int64_t now_us, char token[SESSION_TOKEN_SIZE])
{
    struct signed_in *session = place_for_new(sessions);
    random_token(token);
    *session = (struct signed_in){
        .used = true, .by_header = by_header, .began_us = now_us, .seen_us = now_us};
    random_token(session->csrf);
    sha256(token, SESSION_TOKEN_SIZE - 1, session->digest);
    session->approver = strndup(approver->name.bytes, approver->name.size);
    INVARIANT(session->approver != NULL);
    memcpy(session->stored_key, approver->verifier.stored_key, sizeof session->stored_key);
    return session;
}

static struct signed_in *find_digest(struct sessions *sessions, const uint8_t digest[SHA256_SIZE])
{
    struct signed_in *found = NULL;
    for (size_t i = 0; i < LIMIT_BROWSER_SESSIONS; i++)
        if (sessions->items[i].used &&
            equal_in_constant_time(sessions->items[i].digest, digest, SHA256_SIZE))
            found = &sessions->items[i];
    return found;
}

/* The approver, if the session still speaks for one. */
static const struct approver *approver_of(const struct signed_in *session,
                                          const struct configuration *configuration, int64_t now_us)
{
    const struct approver *approver =
        configuration_approver(configuration, text_from(session->approver));
    bool good = approver != NULL && now_us - session->seen_us < idle_us &&
                now_us - session->began_us < whole_us &&
                equal_in_constant_time(approver->verifier.stored_key, session->stored_key,
                                       sizeof session->stored_key);
    return good ? approver : NULL;
}

struct signed_in *sessions_find(struct sessions *sessions, struct text token,
                                const struct configuration *configuration, int64_t now_us,
                                bool live, const struct approver **approver)
{
    *approver = NULL;
    if (token.size != SESSION_TOKEN_SIZE - 1)
        return NULL;
    uint8_t digest[SHA256_SIZE];
    sha256(token.bytes, token.size, digest);
    struct signed_in *session = find_digest(sessions, digest);
    if (session == NULL)
        return NULL;
    *approver = approver_of(session, configuration, now_us);
    if (*approver == NULL) {
        sessions_end(session);
        return NULL;
    }
    if (!live)
        session->seen_us = now_us;
    return session;
}

bool session_has_csrf(const struct signed_in *session, struct text token)
{
    return token.size == SESSION_TOKEN_SIZE - 1 &&
           equal_in_constant_time(token.bytes, session->csrf, SESSION_TOKEN_SIZE - 1);
}

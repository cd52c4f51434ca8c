/*
 * login.c - see login.h. Both tables are small and fixed; the oldest entry makes room. Whoever
 * fills the table of addresses still meets the overall limit, which spares only addresses that
 * somebody has logged in from lately: a flood of wrong passwords does not lock everybody out.
 */
#include "proxy/review/login.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/review/http.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_US = 60 * 1000000,
    REMEMBERED_US = 60 * 1000000,
    REMEMBERED_MAX = 64,
    SOURCES_MAX = 512,
    KEY_SIZE = 32,
};

static const int64_t good_for_us = 3600 * (int64_t)1000000;

/* Failures in the current minute. */
struct failures {
    int64_t since_us;
    int count;
};

struct known_source {
    bool used;
    struct source source;
    struct failures failures;
    int64_t good_until_us;
    int64_t seen_us;
};

/* A header that was right. */
struct remembered {
    uint8_t digest[SHA256_SIZE];
    uint8_t stored_key[SHA256_SIZE];
    int64_t until_us;
};

struct login {
    uint8_t key[KEY_SIZE]; /* random: the digests below say nothing without it */
    struct failures failures;
    struct known_source sources[SOURCES_MAX];
    struct remembered remembered[REMEMBERED_MAX];
};

struct login *login_new(void)
{
    struct login *login = memory_allocate_zeroed(1, sizeof *login);
    random_bytes(login->key, sizeof login->key);
    return login;
}

void login_free(struct login *login)
{
    if (login != NULL)
        OPENSSL_cleanse(login, sizeof *login);
    free(login);
}

struct source source_from(const char *address)
{
    struct source source = {{0}};
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1) {
        source.bytes[10] = 0xFF;
        source.bytes[11] = 0xFF;
        memcpy(source.bytes + 12, &v4, 4);
    } else if (inet_pton(AF_INET6, address, &v6) == 1) {
        memcpy(source.bytes, &v6, IN6_IS_ADDR_V4MAPPED(&v6) ? 16 : 8);
    }
    return source;
}

static int count_in(struct failures *failures, int64_t now_us)
{
    if (now_us - failures->since_us >= WINDOW_US)
        *failures = (struct failures){.since_us = now_us};
    return failures->count;
}

/* Whose place a new address takes: a free one, else the one not seen for the longest. */
static struct known_source *source_to_forget(struct login *login)
{
    struct known_source *oldest = &login->sources[0];
    for (size_t i = 0; i < SOURCES_MAX; i++) {
        if (!login->sources[i].used)
            return &login->sources[i];
        if (login->sources[i].seen_us < oldest->seen_us)
            oldest = &login->sources[i];
    }
    return oldest;
}

static struct known_source *find_source(struct login *login, const struct source *source,
                                        int64_t now_us)
{
    struct known_source *known = NULL;
    for (size_t i = 0; i < SOURCES_MAX && known == NULL; i++)
        if (login->sources[i].used &&
            memcmp(&login->sources[i].source, source, sizeof *source) == 0)
            known = &login->sources[i];
    if (known == NULL) {
        known = source_to_forget(login);
        *known = (struct known_source){
            .used = true, .source = *source, .failures = {.since_us = now_us}};
    }
    known->seen_us = now_us;
    return known;
}

static void keyed_digest(const struct login *login, struct text header, uint8_t digest[SHA256_SIZE])
{
    struct digest *fields = digest_new();
    digest_field(fields, (struct text){(const char *)login->key, KEY_SIZE});
    digest_field(fields, header);
    digest_finish(fields, digest);
}

static bool is_remembered(const struct login *login, const uint8_t digest[SHA256_SIZE],
                          const struct approver *approver, int64_t now_us)
{
    for (size_t i = 0; i < REMEMBERED_MAX; i++) {
        const struct remembered *item = &login->remembered[i];
        if (item->until_us > now_us && equal_in_constant_time(item->digest, digest, SHA256_SIZE) &&
            equal_in_constant_time(item->stored_key, approver->verifier.stored_key, SHA256_SIZE))
            return true;
    }
    return false;
}

static void remember(struct login *login, const uint8_t digest[SHA256_SIZE],
                     const struct approver *approver, int64_t now_us)
{
    struct remembered *oldest = &login->remembered[0];
    for (size_t i = 1; i < REMEMBERED_MAX; i++)
        if (login->remembered[i].until_us < oldest->until_us)
            oldest = &login->remembered[i];
    memcpy(oldest->digest, digest, SHA256_SIZE);
    memcpy(oldest->stored_key, approver->verifier.stored_key, SHA256_SIZE);
    oldest->until_us = now_us + REMEMBERED_US;
}

/* A name that does not exist costs the same time and is as wrong as a wrong password. */
static bool password_matches(const struct approver *approver, const struct credentials *given)
{
    struct scram_verifier mock;
    if (approver == NULL)
        scram_verifier_mock(given->name, &mock);
    bool matches =
        scram_verifier_matches(approver != NULL ? &approver->verifier : &mock, given->password);
    return approver != NULL && matches;
}

/* With credentials at hand. */
static enum login_result check(struct login *login, const struct approver *approver,
                               const struct credentials *given, struct text sent,
                               const struct source *source, int64_t now_us)
{
    uint8_t digest[SHA256_SIZE];
    keyed_digest(login, sent, digest);
    struct known_source *known = find_source(login, source, now_us);
    if (approver != NULL && is_remembered(login, digest, approver, now_us)) {
        known->good_until_us = now_us + good_for_us;
        return LOGIN_PASSED;
    }
    if (count_in(&known->failures, now_us) >= LIMIT_LOGIN_FAILURES_PER_SOURCE ||
        (count_in(&login->failures, now_us) >= LIMIT_LOGIN_FAILURES &&
         known->good_until_us <= now_us))
        return LOGIN_THROTTLED;
    if (!password_matches(approver, given)) {
        known->failures.count++;
        login->failures.count++;
        return LOGIN_REFUSED;
    }
    remember(login, digest, approver, now_us);
    known->good_until_us = now_us + good_for_us;
    return LOGIN_PASSED;
}

enum login_result login_check(struct login *login, const struct configuration *configuration,
                              struct text header, const struct source *source, int64_t now_us,
                              const struct approver **approver)
{
    *approver = NULL;
    struct credentials given;
    enum login_result result = LOGIN_REFUSED;
    if (credentials_parse(header, &given)) {
        const struct approver *named = configuration_approver(configuration, given.name);
        result = check(login, named, &given, header, source, now_us);
        if (result == LOGIN_PASSED)
            *approver = named;
    }
    credentials_wipe(&given);
    return result;
}

enum login_result login_with_password(struct login *login,
                                      const struct configuration *configuration, struct text name,
                                      struct text password, const struct source *source,
                                      int64_t now_us, const struct approver **approver)
{
    *approver = NULL;
    struct credentials given;
    struct text sent;
    enum login_result result = LOGIN_REFUSED;
    if (credentials_set(name, password, &given, &sent)) {
        const struct approver *named = configuration_approver(configuration, given.name);
        result = check(login, named, &given, sent, source, now_us);
        if (result == LOGIN_PASSED)
            *approver = named;
    }
    credentials_wipe(&given);
    return result;
}

int login_tries_left(struct login *login, const struct source *source, int64_t now_us)
{
    int failures = count_in(&find_source(login, source, now_us)->failures, now_us);
    return failures < LIMIT_LOGIN_FAILURES_PER_SOURCE ? LIMIT_LOGIN_FAILURES_PER_SOURCE - failures
                                                      : 0;
}

/* server.h - a review server on a free port of 127.0.0.1 with a real store, and requests to it. */
#ifndef PGWICKET_TESTS_REVIEW_SERVER_H
#define PGWICKET_TESTS_REVIEW_SERVER_H

#include "proxy/review/api.h"

#include <jansson.h>

/* alice and bob may decide everything, carol the policy "other" only; the password of each is
 * "<name>-secret". Agents: support-bot (policy support), "batch bot/1" (policy other). */
struct site_under_test {
    struct configuration *configuration;
    struct hold_store *store;
    struct review_server *server;
    char folder[64];
    int port;
    bool ready;
    bool paused; /* support-bot */
};

enum { WITH_STORE = 1, WITH_TLS = 2, WITH_PROXY = 64 };

void site_begin(struct site_under_test *site, unsigned options);
void site_end(struct site_under_test *site);

/* Stores a hold of support-bot with this statement; its id, and its digest in hexadecimal. */
int64_t site_hold(struct site_under_test *site, const char *statement, int64_t quorum,
                  char digest[SHA256_HEX_SIZE]);
enum hold_state site_state(struct site_under_test *site, int64_t id);

struct reply {
    long status;
    char *head;
    char *body;
    json_t *json; /* NULL: the body is none */
};

/* One request with libcurl. `user`: NULL for none. `headers` is NULL-terminated, may be NULL.
 * `body` NULL: a GET, unless `method` says otherwise. */
struct reply http(struct site_under_test *site, const char *method, const char *path,
                  const char *user, const char *body, const char *const *headers);
struct reply http_get(struct site_under_test *site, const char *path, const char *user);
struct reply http_post(struct site_under_test *site, const char *path, const char *user,
                       const char *body);
void reply_free(struct reply *reply);

/* The error's code; "" if there is none. */
const char *reply_code(const struct reply *reply);

/* Sends bytes on a socket of its own and returns the status of the answer; 0: none. */
int raw(struct site_under_test *site, const void *bytes, size_t size);
int connect_raw(struct site_under_test *site);

#endif

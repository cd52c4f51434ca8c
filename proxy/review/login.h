/*
 * login.h - who an approver is, by name and password, and how often one may be wrong.
 *
 * A right password costs about 2 ms (PBKDF2) once a minute: after that the keyed digest of what was
 * sent is enough. Wrong ones are counted for their address and overall; beyond the limits even a right one
 * is not looked at. Names are never locked. Used by one thread; time is an argument.
 */
#ifndef PGWICKET_REVIEW_LOGIN_H
#define PGWICKET_REVIEW_LOGIN_H

#include "proxy/config/settings.h"

enum login_result {
    LOGIN_REFUSED = 0, /* 401 */
    LOGIN_THROTTLED,   /* 429 */
    LOGIN_PASSED,
};

/* Where a request comes from: an IPv4 address, or the /64 of an IPv6 one. */
struct source {
    uint8_t bytes[16];
};

struct login;

struct login *login_new(void);
void login_free(struct login *login);

/* Of an address as text. What cannot be read shares one source. */
struct source source_from(const char *address);

/*
 * `header` is the value of Authorization, empty if there is none. The approver belongs to the
 * configuration. An answer from memory is given only for the verifier that it was made with.
 */
enum login_result login_check(struct login *login, const struct configuration *configuration,
                              struct text header, const struct source *source, int64_t now_us,
                              const struct approver **approver);

/* The same for a form's fields. */
enum login_result login_with_password(struct login *login,
                                      const struct configuration *configuration, struct text name,
                                      struct text password, const struct source *source,
                                      int64_t now_us, const struct approver **approver);

/* How often this source may be wrong before it has to wait. */
int login_tries_left(struct login *login, const struct source *source, int64_t now_us);

#endif

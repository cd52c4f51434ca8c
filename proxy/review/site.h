/*
 * site.h - under which names the review listener answers, and from which pages it takes writes.
 *
 * Against DNS rebinding a request's Host must be one of ours; against cross-site requests (a
 * browser sends basic credentials by itself) a write's Origin must be too. Pure; immutable after
 * site_init.
 */
#ifndef PGWICKET_REVIEW_SITE_H
#define PGWICKET_REVIEW_SITE_H

#include "proxy/base/arena.h"
#include "proxy/config/settings.h"

enum { SITE_NAMES_MAX = 12 };

struct site {
    bool tls;
    struct text hosts[SITE_NAMES_MAX]; /* "wicket.example.com", "127.0.0.1:6480" */
    size_t host_count;
    struct text origins[SITE_NAMES_MAX]; /* "https://wicket.example.com" */
    size_t origin_count;
};

/* `port` is the one that was really bound. */
void site_init(struct site *site, struct arena *arena, const struct configuration *configuration,
               int port);

/* `local` is the connection's own address and port, "10.0.0.5:6480": a literal address cannot be
 * rebound. May be empty. */
bool site_has_host(const struct site *site, struct text host, struct text local);
bool site_has_origin(const struct site *site, struct text origin, struct text local);

/* Does a browser that says this Host come by https? */
bool site_is_secure(const struct site *site, struct arena *arena, struct text host);

/* What a write's headers must satisfy; NULL: fine, else what is wrong with them. Empty texts stand
 * for headers that are not there. */
const char *site_refuses_write(const struct site *site, struct text origin, struct text fetch_site,
                               struct text local);

#endif

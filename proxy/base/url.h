/* url.h - addresses of HTTP servers, taken apart strictly. Pure; nothing is allocated. */
#ifndef PGWICKET_BASE_URL_H
#define PGWICKET_BASE_URL_H

#include "proxy/base/attributes.h"
#include "proxy/base/text.h"

/* Parts of the text that was parsed. */
struct url {
    bool tls;              /* https */
    struct text site;      /* "https://[::1]:8443": may be shown where the path is a secret */
    struct text authority; /* "[::1]:8443" */
    struct text host;      /* "::1" */
    struct text port;      /* "8443"; may be empty */
    struct text path;      /* with the query; empty, or begins with '/' or '?' */
};

/* http and https in lower case, a host, no user, no fragment, visible ASCII only. */
MUST_USE bool url_parse(struct text source, struct url *url);

/* An address of this machine by its form, or "localhost". "127.example.com" is none. */
bool host_is_loopback(struct text host);

#endif

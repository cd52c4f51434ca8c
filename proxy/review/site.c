/* site.c - see site.h. Names are compared without case, ports exactly; what is not listed is
 * foreign. */
#include "proxy/review/site.h"

#include "proxy/base/invariant.h"

#include <strings.h>

static bool equal_ignoring_case(struct text a, struct text b)
{
    return a.size == b.size && (a.size == 0 || strncasecmp(a.bytes, b.bytes, a.size) == 0);
}

static void add(struct site *site, struct arena *arena, struct text scheme, struct text authority)
{
    INVARIANT(site->host_count < SITE_NAMES_MAX && site->origin_count < SITE_NAMES_MAX);
    site->hosts[site->host_count++] = authority;
    site->origins[site->origin_count++] =
        arena_printf(arena, "%.*s://%.*s", TEXT_ARGS(scheme), TEXT_ARGS(authority));
}

static struct text scheme_of(const struct site *site)
{
    return site->tls ? TEXT("https") : TEXT("http");
}

static bool is_default_port(struct text scheme, struct text port)
{
    return text_is(port, text_is_ignoring_case(scheme, "https") ? "443" : "80");
}

/* host:port, and host alone where a browser leaves the port out. */
static void add_address(struct site *site, struct arena *arena, struct text host, struct text port)
{
    bool v6 = text_has_byte(host, ':');
    struct text name = v6 ? arena_printf(arena, "[%.*s]", TEXT_ARGS(host)) : host;
    add(site, arena, scheme_of(site),
        arena_printf(arena, "%.*s:%.*s", TEXT_ARGS(name), TEXT_ARGS(port)));
    if (is_default_port(scheme_of(site), port))
        add(site, arena, scheme_of(site), name);
}

/* Splits "https://host:port/…"; false if it is not of that form. */
static bool split_url(struct text url, struct text *scheme, struct text *authority)
{
    size_t at = 0;
    while (at < url.size && url.bytes[at] != ':')
        at++;
    *scheme = (struct text){url.bytes, at};
    struct text rest = {url.bytes + at, url.size - at};
    if (!text_starts_with(rest, "://"))
        return false;
    rest = (struct text){rest.bytes + 3, rest.size - 3};
    size_t end = 0;
    while (end < rest.size && rest.bytes[end] != '/')
        end++;
    *authority = (struct text){rest.bytes, end};
    return end > 0;
}

static bool has_port(struct text authority)
{
    for (size_t at = authority.size; at > 0 && authority.bytes[at - 1] != ']'; at--)
        if (authority.bytes[at - 1] == ':')
            return true;
    return false;
}

static void add_url(struct site *site, struct arena *arena, struct text url)
{
    struct text scheme;
    struct text authority;
    if (!split_url(url, &scheme, &authority))
        return;
    add(site, arena, scheme, authority);
    if (has_port(authority))
        return;
    const char *port = text_is_ignoring_case(scheme, "https") ? "443" : "80";
    add(site, arena, scheme, arena_printf(arena, "%.*s:%s", TEXT_ARGS(authority), port));
}

static bool is_wildcard(struct text host)
{
    return text_is(host, "0.0.0.0") || text_is(host, "::") || text_is(host, "*");
}

void site_init(struct site *site, struct arena *arena, const struct configuration *configuration,
               int port)
{
    const struct listen_address *address = &configuration->review;
    struct text port_text = arena_printf(arena, "%d", port);
    *site = (struct site){.tls = configuration->review_tls.given &&
                                 configuration->review_tls.mode != TLS_DISABLE};
    add_url(site, arena, configuration->review_url);
    if (!is_wildcard(address->host))
        add_address(site, arena, address->host, port_text);
    if (is_wildcard(address->host) || address->loopback) {
        add_address(site, arena, TEXT("localhost"), port_text);
        add_address(site, arena, TEXT("127.0.0.1"), port_text);
        add_address(site, arena, TEXT("::1"), port_text);
    }
}

static bool is_one_of(struct text text, const struct text *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (equal_ignoring_case(text, items[i]))
            return true;
    return false;
}

bool site_has_host(const struct site *site, struct text host, struct text local)
{
    return host.size > 0 &&
           (equal_ignoring_case(host, local) || is_one_of(host, site->hosts, site->host_count));
}

bool site_has_origin(const struct site *site, struct text origin, struct text local)
{
    struct text scheme;
    struct text authority;
    if (!split_url(origin, &scheme, &authority))
        return false;
    return is_one_of(origin, site->origins, site->origin_count) ||
           (scheme.size + 3 + authority.size == origin.size &&
            equal_ignoring_case(scheme, scheme_of(site)) && equal_ignoring_case(authority, local));
}

bool site_is_secure(const struct site *site, struct arena *arena, struct text host)
{
    struct text origin = arena_printf(arena, "https://%.*s", TEXT_ARGS(host));
    return site->tls || is_one_of(origin, site->origins, site->origin_count);
}

const char *site_refuses_write(const struct site *site, struct text origin, struct text fetch_site,
                               struct text local)
{
    if (origin.size > 0 && !site_has_origin(site, origin, local))
        return "the request comes from a page of another origin";
    if (fetch_site.size > 0 && !text_is(fetch_site, "same-origin") && !text_is(fetch_site, "none"))
        return "the request comes from a page of another site";
    return NULL;
}

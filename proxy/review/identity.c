/*
 * identity.c - see identity.h. A header that names an approver is looked at only where the
 * connection comes from an address that the configuration trusts with it.
 */
#include "proxy/review/identity.h"

#include "proxy/base/clock.h"
#include "proxy/base/log.h"
#include "proxy/review/form.h"
#include "proxy/review/http.h"
#include "proxy/review/server.h"

#include <event2/http.h>
#include <stdio.h>
#include <string.h>

/* With TLS the browser itself sees to it that no other host and no plain connection sets it. */
static const char *cookie_name(const struct exchange *exchange)
{
    return exchange->secure ? "__Host-pgwicket" : "pgwicket";
}

const char *peer_address(const struct exchange *exchange)
{
    char *address = NULL;
    ev_uint16_t port;
    evhttp_connection_get_peer(evhttp_request_get_connection(exchange->request), &address, &port);
    return address != NULL ? address : "";
}

static void set_cookie(struct exchange *exchange, const char *token, const char *more)
{
    char value[200];
    snprintf(value, sizeof value, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s",
             cookie_name(exchange), token, exchange->secure ? "; Secure" : "", more);
    exchange_add_header(exchange, "Set-Cookie", value);
}

static void use_session(struct exchange *exchange, struct signed_in *session)
{
    exchange->session = session;
    exchange->by_proxy = session->by_header;
    memcpy(exchange->csrf, session->csrf, sizeof exchange->csrf);
}

static void begin_session(struct exchange *exchange, bool by_header)
{
    char token[SESSION_TOKEN_SIZE];
    use_session(exchange, sessions_begin(exchange->server->sessions, exchange->approver, by_header,
                                         clock_monotonic_us(), token));
    set_cookie(exchange, token, "");
}

static bool is_trusted(const struct configuration *configuration, const char *address)
{
    for (size_t i = 0; i < configuration->trusted.from_count; i++)
        if (address_in_range(address, &configuration->trusted.from[i]))
            return true;
    return false;
}

/* The approver whom the trusted proxy names; NULL: none. */
static const struct approver *named_by_proxy(const struct exchange *exchange)
{
    const struct configuration *configuration = exchange->configuration;
    const char *header = configuration->trusted.name.bytes;
    if (configuration->trusted.name.size == 0 ||
        !is_trusted(configuration, peer_address(exchange)) ||
        exchange_header_count(exchange, header) != 1)
        return NULL;
    return configuration_approver(configuration, exchange_header(exchange, header));
}

static bool has_session(struct exchange *exchange, const struct approver *by_proxy)
{
    struct text token =
        cookie_value(exchange_header(exchange, "Cookie"), cookie_name(exchange));
    const struct approver *approver;
    struct signed_in *session =
        sessions_find(exchange->server->sessions, token, exchange->configuration,
                      clock_monotonic_us(), exchange->live, &approver);
    if (session == NULL || (session->by_header && approver != by_proxy))
        return false;
    use_session(exchange, session);
    exchange->approver = approver;
    return true;
}

static enum login_result basic(struct exchange *exchange, struct text header)
{
    struct source source = source_from(peer_address(exchange));
    return login_check(exchange->server->login, exchange->configuration, header, &source,
                       clock_monotonic_us(), &exchange->approver);
}

enum login_result identify(struct exchange *exchange, bool page)
{
    struct text header = exchange_header(exchange, "Authorization");
    if (!page && header.size > 0)
        return basic(exchange, header);
    const struct approver *by_proxy = named_by_proxy(exchange);
    if (has_session(exchange, by_proxy))
        return LOGIN_PASSED;
    exchange->approver = by_proxy;
    if (by_proxy != NULL && page)
        begin_session(exchange, true);
    return by_proxy != NULL ? LOGIN_PASSED : LOGIN_REFUSED;
}

enum login_result sign_in(struct exchange *exchange, struct text name, struct text password)
{
    struct source source = source_from(peer_address(exchange));
    enum login_result result =
        login_with_password(exchange->server->login, exchange->configuration, name, password,
                            &source, clock_monotonic_us(), &exchange->approver);
    if (result == LOGIN_PASSED)
        begin_session(exchange, false);
    else if (result == LOGIN_REFUSED)
        log_warning("review: failed login from %s", peer_address(exchange));
    return result;
}

void sign_out(struct exchange *exchange)
{
    if (exchange->session != NULL)
        sessions_end(exchange->session);
    exchange->session = NULL;
    set_cookie(exchange, "", "; Max-Age=0");
}

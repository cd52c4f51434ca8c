/* url.c - see url.h. What is not plainly of that form is refused, never repaired. */
#include "proxy/base/url.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_host_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '.' || byte == '-' || byte == '_';
}

static bool is_host(struct text host, bool in_brackets)
{
    for (size_t i = 0; i < host.size; i++)
        if (!is_host_byte(host.bytes[i]) && !(in_brackets && host.bytes[i] == ':'))
            return false;
    return host.size > 0 && host.size <= 253;
}

static bool is_visible(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.bytes[i] <= ' ' || text.bytes[i] > '~' || strchr("\"#<>\\^`{|}", text.bytes[i]))
            return false;
    return true;
}

static bool is_port(struct text port)
{
    int64_t number;
    return text_to_int64(port, &number) && number > 0 && number <= 65535 && port.size <= 5;
}

/* How many bytes stand before the first of `ends`. */
static size_t span_before(struct text text, const char *ends)
{
    size_t size = 0;
    while (size < text.size && strchr(ends, text.bytes[size]) == NULL)
        size++;
    return size;
}

static bool split_authority(struct url *url)
{
    struct text authority = url->authority;
    bool in_brackets = authority.size > 0 && authority.bytes[0] == '[';
    size_t size = span_before(authority, in_brackets ? "]" : ":");
    url->host = text_front(authority, size);
    struct text rest = text_behind(authority, size);
    if (in_brackets) {
        if (rest.size == 0)
            return false;
        url->host = text_behind(url->host, 1);
        rest = text_behind(rest, 1);
    }
    url->port = rest.size > 0 ? text_behind(rest, 1) : TEXT("");
    return is_host(url->host, in_brackets) &&
           (rest.size == 0 || (rest.bytes[0] == ':' && is_port(url->port)));
}

bool url_parse(struct text source, struct url *url)
{
    *url = (struct url){.tls = text_starts_with(source, "https://")};
    if ((!url->tls && !text_starts_with(source, "http://")) || !is_visible(source))
        return false;
    size_t scheme = strlen(url->tls ? "https://" : "http://");
    struct text rest = text_behind(source, scheme);
    url->authority = text_front(rest, span_before(rest, "/?"));
    url->path = text_behind(rest, url->authority.size);
    url->site = text_front(source, scheme + url->authority.size);
    return split_authority(url);
}

bool host_is_loopback(struct text host)
{
    char name[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;
    if (host.size == 0 || host.size >= sizeof name)
        return false;
    memcpy(name, host.bytes, host.size);
    name[host.size] = '\0';
    if (inet_pton(AF_INET, name, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    if (inet_pton(AF_INET6, name, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return text_is(host, "localhost");
}

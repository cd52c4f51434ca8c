/* url_test.c - what is a plain URL, and where its parts are; which hosts are this machine. */
#include "proxy/base/url.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>

static bool is(struct text text, const char *expected) { return text_is(text, expected); }

Test(url, is_taken_apart)
{
    static const struct {
        const char *source, *site, *authority, *host, *port, *path;
        bool tls;
    } cases[] = {
        {"https://hooks.example.com", "https://hooks.example.com", "hooks.example.com",
         "hooks.example.com", "", "", true},
        {"https://hooks.example.com/services/T0?x=1", "https://hooks.example.com",
         "hooks.example.com", "hooks.example.com", "", "/services/T0?x=1", true},
        {"http://127.0.0.1:8080/", "http://127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", "8080",
         "/", false},
        {"https://[::1]:8443/x", "https://[::1]:8443", "[::1]:8443", "::1", "8443", "/x", true},
        {"https://[2001:db8::1]", "https://[2001:db8::1]", "[2001:db8::1]", "2001:db8::1", "", "",
         true},
        {"https://example.com?x", "https://example.com", "example.com", "example.com", "", "?x",
         true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct url url;
        cr_expect(url_parse(text_from(cases[i].source), &url), "%s", cases[i].source);
        cr_expect(is(url.site, cases[i].site) && is(url.authority, cases[i].authority) &&
                      is(url.host, cases[i].host) && is(url.port, cases[i].port) &&
                      is(url.path, cases[i].path) && url.tls == cases[i].tls,
                  "%s", cases[i].source);
    }
}

Test(url, of_another_form_is_none)
{
    static const char *const sources[] = {
        "",
        "https://",
        "https:///path",
        "https://:443",
        "HTTPS://example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "//example.com",
        "example.com",
        "https:/example.com",
        "https://user@example.com",
        "https://user:password@example.com",
        "https://127.0.0.1@evil.example.com/",
        "https://example.com\\@evil.example.com/",
        "https://example.com#fragment",
        "https://example.com/a b",
        "https://example.com/a\n",
        "https://example.com/\x7f",
        "https://ex\xc3\xa4mple.com/",
        "https://example.com:",
        "https://example.com:0",
        "https://example.com:65536",
        "https://example.com:+80",
        "https://example.com:80:80",
        "https://::1/",
        "https://[::1",
        "https://[]",
        "https://[::1]x",
        "https://ex%61mple.com/",
    };
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        struct url url;
        cr_expect_not(url_parse(text_from(sources[i]), &url), "%s", sources[i]);
    }
}

Test(url, host_of_this_machine)
{
    static const struct {
        const char *host;
        bool loopback;
    } cases[] = {
        {"localhost", true},     {"127.0.0.1", true},         {"127.1.2.3", true},
        {"::1", true},           {"127.evil.example", false}, {"localhost.example.com", false},
        {"192.168.0.1", false},  {"::", false},               {"0.0.0.0", false},
        {"", false},             {"2130706433", false},       {"127.1", false},
        {"::ffff:10.0.0.1", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        cr_expect_eq(host_is_loopback(text_from(cases[i].host)), cases[i].loopback, "%s",
                     cases[i].host);
}

/* http_test.c - the pure parts: headers, paths, bodies, names of the site, logins. */
#include "proxy/review/http.h"

#include "proxy/base/limits.h"
#include "proxy/review/body.h"
#include "proxy/review/login.h"
#include "proxy/review/site.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *header;
    const char *name; /* NULL: refused */
    const char *password;
} credential_cases[] = {
    {"Basic YWxpY2U6c2VjcmV0", "alice", "secret"},
    {"basic YWxpY2U6c2VjcmV0", "alice", "secret"},
    {"Basic YWxpY2U6czpl", "alice", "s:e"},
    {"Basic w6k6w6k=", "\xC3\xA9", "\xC3\xA9"},
    {"", NULL, NULL},
    {"Basic", NULL, NULL},
    {"Basic ", NULL, NULL},
    {"Basic  YWxpY2U6c2VjcmV0", NULL, NULL},
    {"Basic YWxpY2U6c2VjcmV0 ", NULL, NULL},
    {"Bearer YWxpY2U6c2VjcmV0", NULL, NULL},
    {"Basic YWxpY2VzZWNyZXQ=", NULL, NULL},
    {"Basic OnNlY3JldA==", NULL, NULL},
    {"Basic YWxpY2U6", NULL, NULL},
    {"Basic YWxpY2UKOnNlY3JldA==", NULL, NULL},
    {"Basic YWxpY2U6AHg=", NULL, NULL},
    {"Basic /zr/", NULL, NULL},
    {"Basic YWxpY2U6c2VjcmV0=", NULL, NULL},
};

Test(http, takes_basic_credentials_and_nothing_like_them)
{
    for (size_t i = 0; i < ARRAY_SIZE(credential_cases); i++) {
        struct credentials credentials;
        bool good = credentials_parse(text_from(credential_cases[i].header), &credentials);
        cr_expect_eq(good, credential_cases[i].name != NULL, "%s", credential_cases[i].header);
        if (good && credential_cases[i].name != NULL) {
            cr_expect(text_is(credentials.name, credential_cases[i].name));
            cr_expect(text_is(credentials.password, credential_cases[i].password));
        }
    }
}

Test(http, refuses_credentials_that_are_longer_than_their_memory)
{
    char header[6 + 2048 + 1] = "Basic ";
    memset(header + 6, 'Y', 2048);
    struct credentials credentials;
    cr_expect_not(credentials_parse((struct text){header, 6 + 2048}, &credentials));
}

static const struct {
    const char *path;
    const char *pattern;
    const char *argument; /* NULL: no match */
} path_cases[] = {
    {"/api/holds/17", "/api/holds/:", "17"},
    {"/api/holds/17/release", "/api/holds/:/release", "17"},
    {"/api/agents/a%2Fb/pause", "/api/agents/:/pause", "a%2Fb"},
    {"/api/holds/", "/api/holds/:", NULL},
    {"/api/holds//release", "/api/holds/:/release", NULL},
    {"/api/holds/17/", "/api/holds/:", NULL},
    {"/api/holds/17/release/", "/api/holds/:/release", NULL},
    {"/api/holds/17/releas", "/api/holds/:/release", NULL},
    {"//api/holds/17", "/api/holds/:", NULL},
    {"/api/../api/holds/17", "/api/holds/:", NULL},
    {"/API/holds/17", "/api/holds/:", NULL},
    {"", "/api/holds/:", NULL},
};

Test(http, matches_paths_whole_and_as_they_are)
{
    for (size_t i = 0; i < ARRAY_SIZE(path_cases); i++) {
        struct text argument = TEXT("");
        bool matches =
            path_matches(text_from(path_cases[i].path), path_cases[i].pattern, &argument);
        cr_expect_eq(matches, path_cases[i].argument != NULL, "%s", path_cases[i].path);
        if (matches && path_cases[i].argument != NULL)
            cr_expect(text_is(argument, path_cases[i].argument));
    }
}

static const struct {
    const char *encoded;
    const char *decoded; /* NULL: refused */
} percent_cases[] = {
    {"plain", "plain"}, {"a%2Fb%20c", "a/b c"}, {"%C3%A9", "\xC3\xA9"}, {"a+b", "a+b"},
    {"%", NULL},        {"%4", NULL},           {"%G0", NULL},          {"%00", NULL},
    {"%FF", NULL},      {"%C3", NULL},          {"a%2", NULL},
};

Test(http, decodes_percent_escapes_or_refuses_them)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(percent_cases); i++) {
        struct text decoded;
        bool good = percent_decode(&arena, text_from(percent_cases[i].encoded), &decoded);
        cr_expect_eq(good, percent_cases[i].decoded != NULL, "%s", percent_cases[i].encoded);
        if (good && percent_cases[i].decoded != NULL)
            cr_expect(text_is(decoded, percent_cases[i].decoded));
    }
    arena_release(&arena);
}

Test(http, numbers_have_one_spelling)
{
    static const char *const wrong[] = {"",    "0",  "-1",  "+1",  "01",
                                        "1.0", "1 ", "0x1", "1e3", "9223372036854775808"};
    int64_t number = 0;
    cr_expect(number_parse(TEXT("17"), &number));
    cr_expect_eq(number, 17);
    cr_expect(number_parse(TEXT("9223372036854775807"), &number));
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        cr_expect_not(number_parse(text_from(wrong[i]), &number), "%s", wrong[i]);
}

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

static const struct {
    const char *body;
    bool needs_reason;
    bool good;
} body_cases[] = {
    {"{\"digest\": \"" DIGEST "\"}", false, true},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \"wrong customer\"}", true, true},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \"line\\nline\"}", true, true},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \"wrong\"}", false, false},
    {"{\"digest\": \"" DIGEST "\"}", true, false},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \"\"}", true, false},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \" \\n \"}", true, false},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \"\\u001b[2J\"}", true, false},
    {"{\"digest\": \"" DIGEST "\", \"reason\": \"a\\u0000b\"}", true, false},
    {"{\"digest\": \"" DIGEST "\", \"reason\": 1}", true, false},
    {"{\"digest\": \"" DIGEST "\", \"digest\": \"" DIGEST "\"}", false, false},
    {"{\"digest\": \"" DIGEST "\"} x", false, false},
    {"{\"digest\": \"0011\"}", false, false},
    {"{\"digest\": \"" DIGEST "0\"}", false, false},
    {"{\"digest\": 17}", false, false},
    {"{\"digest\": null}", false, false},
    {"[\"" DIGEST "\"]", false, false},
    {"\"" DIGEST "\"", false, false},
    {"{}", false, false},
    {"", false, false},
    {"{", false, false},
};

Test(body, takes_a_digest_and_where_needed_a_reason)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ARRAY_SIZE(body_cases); i++) {
        struct decision_body decision;
        const char *problem = decision_body_parse(&arena, text_from(body_cases[i].body),
                                                  body_cases[i].needs_reason, &decision);
        cr_expect_eq(problem == NULL, body_cases[i].good, "%s", body_cases[i].body);
    }
    struct decision_body decision;
    cr_expect_null(decision_body_parse(&arena, text_from(body_cases[1].body), true, &decision));
    cr_expect_eq(decision.digest[31], 0xFF);
    cr_expect(text_is(decision.reason, "wrong customer"));
    arena_release(&arena);
}

Test(body, refuses_a_reason_that_is_too_long)
{
    struct arena arena;
    arena_init(&arena);
    static char body[2048];
    for (size_t size = LIMIT_REASON_BYTES; size <= LIMIT_REASON_BYTES + 1; size++) {
        snprintf(body, sizeof body, "{\"digest\": \"" DIGEST "\", \"reason\": \"%0*d\"}", (int)size,
                 1);
        struct decision_body decision;
        const char *problem = decision_body_parse(&arena, text_from(body), true, &decision);
        cr_expect_eq(problem == NULL, size == LIMIT_REASON_BYTES);
    }
    arena_release(&arena);
}

static struct configuration site_configuration(const char *host, bool loopback, const char *url,
                                               bool tls)
{
    return (struct configuration){
        .review = {.host = text_from(host), .port = TEXT("0"), .loopback = loopback},
        .review_url = text_from(url),
        .review_tls = {.given = tls, .mode = TLS_REQUIRE}};
}

static const struct {
    const char *host; /* configured */
    bool loopback;
    const char *url;
    bool tls;
    const char *asked;
    bool has;
} host_cases[] = {
    {"127.0.0.1", true, "", false, "127.0.0.1:6480", true},
    {"127.0.0.1", true, "", false, "localhost:6480", true},
    {"127.0.0.1", true, "", false, "LOCALHOST:6480", true},
    {"127.0.0.1", true, "", false, "localhost", false},
    {"127.0.0.1", true, "", false, "localhost:6481", false},
    {"127.0.0.1", true, "", false, "evil.example.com:6480", false},
    {"127.0.0.1", true, "", false, "127.0.0.1.example.com:6480", false},
    {"127.0.0.1", true, "", false, "", false},
    {"::1", true, "", false, "[::1]:6480", true},
    {"10.0.0.5", false, "", true, "10.0.0.5:6480", true},
    {"10.0.0.5", false, "", true, "localhost:6480", false},
    {"0.0.0.0", false, "", true, "localhost:6480", true},
    {"0.0.0.0", false, "", true, "10.9.9.9:6480", true},
    {"0.0.0.0", false, "", true, "0.0.0.0:6480", false},
    {"127.0.0.1", true, "https://wicket.example.com", false, "wicket.example.com", true},
    {"127.0.0.1", true, "https://wicket.example.com", false, "wicket.example.com:443", true},
    {"127.0.0.1", true, "https://wicket.example.com", false, "wicket.example.com:80", false},
    {"127.0.0.1", true, "https://wicket.example.com:8443/x", false, "wicket.example.com:8443",
     true},
    {"127.0.0.1", true, "https://wicket.example.com:8443/x", false, "wicket.example.com", false},
};

Test(site, answers_under_its_own_names_only)
{
    for (size_t i = 0; i < ARRAY_SIZE(host_cases); i++) {
        struct configuration configuration = site_configuration(
            host_cases[i].host, host_cases[i].loopback, host_cases[i].url, host_cases[i].tls);
        struct arena arena;
        arena_init(&arena);
        struct site site;
        site_init(&site, &arena, &configuration, 6480);
        bool has = site_has_host(&site, text_from(host_cases[i].asked), TEXT("10.9.9.9:6480"));
        cr_expect_eq(has, host_cases[i].has, "case %zu: %s", i, host_cases[i].asked);
        arena_release(&arena);
    }
}

static const struct {
    const char *origin;
    const char *fetch_site;
    bool fine;
} write_cases[] = {
    {"", "", true},
    {"http://127.0.0.1:6480", "same-origin", true},
    {"http://localhost:6480", "", true},
    {"https://wicket.example.com", "same-origin", true},
    {"https://wicket.example.com:443", "", true},
    {"", "none", true},
    {"", "same-site", false},
    {"", "cross-site", false},
    {"", "Same-Origin", false},
    {"http://127.0.0.1:6480", "cross-site", false},
    {"https://127.0.0.1:6480", "", false},
    {"http://wicket.example.com", "", false},
    {"https://evil.example.com", "", false},
    {"https://wicket.example.com.evil.example.com", "", false},
    {"https://wicket.example.com/", "", false},
    {"null", "", false},
    {"http://", "", false},
};

Test(site, takes_writes_from_its_own_pages_only)
{
    struct configuration configuration =
        site_configuration("127.0.0.1", true, "https://wicket.example.com", false);
    struct arena arena;
    arena_init(&arena);
    struct site site;
    site_init(&site, &arena, &configuration, 6480);
    for (size_t i = 0; i < ARRAY_SIZE(write_cases); i++) {
        const char *problem =
            site_refuses_write(&site, text_from(write_cases[i].origin),
                               text_from(write_cases[i].fetch_site), TEXT("127.0.0.1:6480"));
        cr_expect_eq(problem == NULL, write_cases[i].fine, "case %zu: %s", i,
                     write_cases[i].origin);
    }
    arena_release(&arena);
}

/* One approver, alice, with the password "secret". */
static struct approver alice;
static struct configuration people;
static struct login *login;
static const int64_t minute_us = 60000000;
static const char right[] = "Basic YWxpY2U6c2VjcmV0";
static const char wrong[] = "Basic YWxpY2U6d3Jvbmc=";
static const char nobody[] = "Basic bm9ib2R5OnNlY3JldA==";

static void login_begin(void)
{
    alice = (struct approver){.name = TEXT("alice")};
    scram_verifier_from_password(TEXT("secret"), &alice.verifier);
    people = (struct configuration){.approvers = &alice, .approver_count = 1};
    login = login_new();
}

static void login_end(void)
{
    login_free(login);
}

TestSuite(login, .init = login_begin, .fini = login_end);

static enum login_result try_login(const char *header, const char *address, int64_t now_us)
{
    struct source source = source_from(address);
    const struct approver *approver;
    enum login_result result =
        login_check(login, &people, text_from(header), &source, now_us, &approver);
    cr_expect_eq(approver == &alice, result == LOGIN_PASSED);
    return result;
}

Test(login, passes_the_right_password_only)
{
    cr_expect_eq(try_login(right, "192.0.2.1", 1), LOGIN_PASSED);
    cr_expect_eq(try_login(wrong, "192.0.2.1", 1), LOGIN_REFUSED);
    cr_expect_eq(try_login(nobody, "192.0.2.1", 1), LOGIN_REFUSED);
    cr_expect_eq(try_login("", "192.0.2.1", 1), LOGIN_REFUSED);
    cr_expect_eq(try_login("Basic !!!", "192.0.2.1", 1), LOGIN_REFUSED);
}

Test(login, forgets_a_remembered_password_that_is_changed_or_whose_approver_is_gone)
{
    cr_expect_eq(try_login(right, "192.0.2.1", 1), LOGIN_PASSED);
    cr_expect_eq(try_login(right, "192.0.2.1", 2), LOGIN_PASSED);
    scram_verifier_from_password(TEXT("other"), &alice.verifier);
    cr_expect_eq(try_login(right, "192.0.2.1", 3), LOGIN_REFUSED);
    people.approver_count = 0;
    cr_expect_eq(try_login(right, "192.0.2.1", 4), LOGIN_REFUSED);
}

Test(login, throttles_an_address_and_never_a_name)
{
    for (int i = 0; i < LIMIT_LOGIN_FAILURES_PER_SOURCE; i++)
        cr_expect_eq(try_login(wrong, "192.0.2.1", 1), LOGIN_REFUSED);
    cr_expect_eq(try_login(wrong, "192.0.2.1", 1), LOGIN_THROTTLED);
    cr_expect_eq(try_login(right, "192.0.2.1", 1), LOGIN_THROTTLED);
    cr_expect_eq(try_login(right, "192.0.2.2", 1), LOGIN_PASSED);
    cr_expect_eq(try_login(right, "192.0.2.1", 2), LOGIN_PASSED, "remembered by then");
    cr_expect_eq(try_login(wrong, "192.0.2.1", minute_us + 1), LOGIN_REFUSED);
}

Test(login, one_address_of_version_six_is_its_whole_network)
{
    for (int i = 0; i < LIMIT_LOGIN_FAILURES_PER_SOURCE; i++) {
        char address[64];
        snprintf(address, sizeof address, "2001:db8:1:2:%d::1", i);
        cr_expect_eq(try_login(wrong, address, 1), LOGIN_REFUSED);
    }
    cr_expect_eq(try_login(wrong, "2001:db8:1:2:ffff::9", 1), LOGIN_THROTTLED);
    cr_expect_eq(try_login(wrong, "2001:db8:1:3::1", 1), LOGIN_REFUSED);
}

Test(login, overall_limit_spares_addresses_that_somebody_logged_in_from)
{
    cr_expect_eq(try_login(right, "198.51.100.1", 1), LOGIN_PASSED);
    for (int i = 0; i < LIMIT_LOGIN_FAILURES; i++) {
        char address[64];
        snprintf(address, sizeof address, "203.0.113.%d", i);
        cr_expect_eq(try_login(wrong, address, 1), LOGIN_REFUSED);
    }
    scram_verifier_from_password(TEXT("secret"), &alice.verifier); /* not remembered any more */
    cr_expect_eq(try_login(right, "203.0.113.200", 1), LOGIN_THROTTLED);
    cr_expect_eq(try_login(right, "198.51.100.1", 1), LOGIN_PASSED);
    cr_expect_eq(try_login(wrong, "203.0.113.200", minute_us + 1), LOGIN_REFUSED);
}

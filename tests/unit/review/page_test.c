/* page_test.c - pages over real HTTP: who is let in, by what, and what the answers carry. */
#include "unit/review/server.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct site_under_test site;

static void begin(void)
{
    site_begin(&site, WITH_STORE);
}

static void begin_behind_proxy(void)
{
    site_begin(&site, WITH_STORE | WITH_PROXY);
}

static void begin_with_tls(void)
{
    site_begin(&site, WITH_STORE | WITH_TLS);
}

static void end(void)
{
    site_end(&site);
}

TestSuite(page, .init = begin, .fini = end, .timeout = 60);
TestSuite(page_behind_proxy, .init = begin_behind_proxy, .fini = end, .timeout = 60);
TestSuite(page_with_tls, .init = begin_with_tls, .fini = end, .timeout = 60);

static const char form_type[] = "Content-Type: application/x-www-form-urlencoded";

/* A piece of the answer from behind `after` up to one of `ends`; to be freed. */
static char *piece(const char *text, const char *after, const char *ends)
{
    const char *found = text != NULL ? strstr(text, after) : NULL;
    cr_assert_not_null(found, "%s is not in %s", after, text);
    found += strlen(after);
    return strndup(found, strcspn(found, ends));
}

/* "Cookie: …" of a fresh session. */
static void sign_in(const char *user, char cookie[160])
{
    const char *const headers[] = {form_type, NULL};
    char body[128];
    snprintf(body, sizeof body, "user=%s&password=%s-secret&next=/holds", user, user);
    struct reply reply = http(&site, "POST", "/sign-in", NULL, body, headers);
    cr_assert_eq(reply.status, 303, "%ld: %s", reply.status, reply.body);
    char *value = piece(reply.head, "Set-Cookie: ", ";\r");
    snprintf(cookie, 160, "Cookie: %s", value);
    free(value);
    reply_free(&reply);
}

static struct reply get(const char *path, const char *cookie)
{
    const char *const headers[] = {cookie, NULL};
    return http(&site, "GET", path, NULL, NULL, headers);
}

static void expect_status(struct reply reply, long status)
{
    cr_expect_eq(reply.status, status, "%ld, not %ld: %s", reply.status, status, reply.body);
    reply_free(&reply);
}

static void expect_in(const char *text, const char *part)
{
    cr_expect_not_null(strstr(text, part), "%s is not in %s", part, text);
}

Test(page, nobody_sees_a_page_without_signing_in)
{
    static const char *const paths[] = {"/", "/holds", "/holds/1", "/history", "/agents"};
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        struct reply reply = http_get(&site, paths[i], NULL);
        cr_expect_eq(reply.status, 303, "%s", paths[i]);
        expect_in(reply.head, "Location: /sign-in?next=%2F");
        reply_free(&reply);
        expect_status(http_get(&site, paths[i], "alice"), 303); /* basic is for programs */
    }
}

Test(page, a_link_from_elsewhere_is_asked_for_once_more)
{
    const char *const headers[] = {"Sec-Fetch-Site: cross-site", NULL};
    struct reply reply = http(&site, "GET", "/holds/7", NULL, NULL, headers);
    cr_expect_eq(reply.status, 200);
    expect_in(reply.body, "http-equiv=\"refresh\" content=\"0; url=/holds/7\"");
    reply_free(&reply);
}

Test(page, the_cookie_is_strict_and_the_answers_are_not_kept)
{
    const char *const headers[] = {form_type, NULL};
    struct reply reply = http(&site, "POST", "/sign-in", NULL,
                              "user=alice&password=alice-secret&next=//evil.example", headers);
    expect_in(reply.head, "Location: /holds\r");
    expect_in(reply.head, "; HttpOnly; SameSite=Strict\r");
    reply_free(&reply);
    char cookie[160];
    sign_in("alice", cookie);
    reply = get("/holds", cookie);
    cr_expect_eq(reply.status, 200);
    expect_in(reply.head, "Cache-Control: no-store");
    expect_in(reply.head, "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'");
    reply_free(&reply);
}

Test(page_with_tls, the_cookie_is_secure_with_tls)
{
    const char *const headers[] = {form_type, NULL};
    struct reply reply = http(&site, "POST", "/sign-in", NULL, "user=alice&password=alice-secret",
                              headers);
    expect_in(reply.head, "Set-Cookie: __Host-pgwicket=");
    expect_in(reply.head, "; HttpOnly; SameSite=Strict; Secure\r");
    reply_free(&reply);
}

Test(page, wrong_passwords_are_limited_like_those_of_the_api)
{
    const char *const headers[] = {form_type, NULL};
    for (int i = 0; i < 10; i++)
        expect_status(http(&site, "POST", "/sign-in", NULL, "user=alice&password=x", headers), 401);
    expect_status(http(&site, "POST", "/sign-in", NULL, "user=alice&password=alice-secret", headers),
                  429);
    expect_status(http_get(&site, "/api/holds", "alice"), 429);
}

Test(page, the_api_takes_the_cookie_and_for_writes_the_token)
{
    char cookie[160];
    char digest[SHA256_HEX_SIZE];
    char path[64];
    char body[128];
    char token[160];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    sign_in("alice", cookie);
    expect_status(get("/api/holds", cookie), 200);
    snprintf(path, sizeof path, "/holds/%lld", (long long)id);
    struct reply reply = get(path, cookie);
    char *csrf = piece(reply.body, "name=\"csrf\" value=\"", "\"");
    snprintf(token, sizeof token, "X-CSRF-Token: %s", csrf);
    free(csrf);
    reply_free(&reply);
    snprintf(path, sizeof path, "/api/holds/%lld/release", (long long)id);
    snprintf(body, sizeof body, "{\"digest\": \"%s\"}", digest);
    const char *const without[] = {"Content-Type: application/json", cookie, NULL};
    const char *const with[] = {"Content-Type: application/json", cookie, token, NULL};
    reply = http(&site, "POST", path, NULL, body, without);
    cr_expect_eq(reply.status, 403);
    cr_expect_str_eq(reply_code(&reply), "csrf");
    reply_free(&reply);
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
    expect_status(http(&site, "POST", path, NULL, body, with), 200);
    cr_expect_eq(site_state(&site, id), HOLD_RELEASED);
}

Test(page, what_an_approver_may_not_see_is_not_there)
{
    char cookie[160];
    char digest[SHA256_HEX_SIZE];
    char path[64];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    sign_in("carol", cookie);
    snprintf(path, sizeof path, "/holds/%lld", (long long)id);
    expect_status(get(path, cookie), 404);
    struct reply reply = get("/holds", cookie);
    expect_in(reply.body, "Nothing waits for you");
    reply_free(&reply);
    reply = get("/agents", cookie);
    cr_expect_null(strstr(reply.body, "support-bot"));
    expect_in(reply.body, "batch bot/1");
    reply_free(&reply);
}

Test(page, files_may_be_kept_and_others_are_not_there)
{
    struct reply reply = http_get(&site, "/page/wicket.css", NULL);
    cr_expect_eq(reply.status, 200);
    expect_in(reply.head, "Content-Type: text/css");
    expect_in(reply.head, "immutable");
    reply_free(&reply);
    expect_status(http_get(&site, "/page/README.md", NULL), 404);
    expect_status(http_get(&site, "/page/..%2Fapi.c", NULL), 404);
}

Test(page, events_are_for_those_who_are_signed_in)
{
    expect_status(http_get(&site, "/events", NULL), 401);
}

Test(page_behind_proxy, the_proxys_header_says_who_asks)
{
    const char *const alice[] = {"X-Remote-User: alice", NULL};
    struct reply reply = http(&site, "GET", "/holds", NULL, NULL, alice);
    cr_expect_eq(reply.status, 200);
    expect_in(reply.body, "<span>alice</span>");
    char *value = piece(reply.head, "Set-Cookie: ", ";\r");
    char cookie[160];
    snprintf(cookie, sizeof cookie, "Cookie: %s", value);
    free(value);
    reply_free(&reply);
    expect_status(get("/holds", cookie), 303); /* its session is good with the header only … */
    const char *const bob[] = {"X-Remote-User: bob", cookie, NULL};
    reply = http(&site, "GET", "/holds", NULL, NULL, bob);
    expect_in(reply.body, "<span>bob</span>"); /* … and for the one it names */
    reply_free(&reply);
    expect_status(http(&site, "GET", "/api/holds", NULL, NULL, alice), 200);
    const char *const mallory[] = {"X-Remote-User: mallory", NULL};
    expect_status(http(&site, "GET", "/holds", NULL, NULL, mallory), 303);
    const char *const two[] = {"X-Remote-User: alice", "X-Remote-User: bob", NULL};
    expect_status(http(&site, "GET", "/holds", NULL, NULL, two), 303);
}

Test(page, nobody_elses_header_says_who_asks)
{
    const char *const alice[] = {"X-Remote-User: alice", NULL};
    expect_status(http(&site, "GET", "/holds", NULL, NULL, alice), 303);
    expect_status(http(&site, "GET", "/api/holds", NULL, NULL, alice), 401);
}

/* guard_test.c - what the listener keeps out: strangers, foreign pages, odd and oversized requests.
 */
#include "unit/review/server.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct site_under_test site;

static void begin(void)
{
    site_begin(&site, WITH_STORE);
}
static void end(void)
{
    site_end(&site);
}

TestSuite(guard, .init = begin, .fini = end, .timeout = 60);

static void expect(struct reply reply, long status, const char *code)
{
    cr_expect_eq(reply.status, status, "%ld, not %ld: %s", reply.status, status, reply.body);
    cr_expect_str_eq(reply_code(&reply), code);
    reply_free(&reply);
}

Test(guard, everything_but_health_needs_an_approver)
{
    static const char *const paths[] = {"/api/holds", "/api/holds/1", "/api/agents"};
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        expect(http_get(&site, paths[i], NULL), 401, "unauthorized");
        expect(http_get(&site, paths[i], "alice:wrong"), 401, "unauthorized");
        expect(http_get(&site, paths[i], "nobody"), 401, "unauthorized");
        expect(http_get(&site, paths[i], "support-bot"), 401, "unauthorized");
    }
    expect(http_post(&site, "/api/holds/1/release", NULL, "{}"), 401, "unauthorized");
    expect(http_post(&site, "/api/agents/support-bot/pause", NULL, "{}"), 401, "unauthorized");
    cr_expect_not(site.paused);
    struct reply reply = http_get(&site, "/api/holds", NULL);
    cr_expect_not_null(strstr(reply.head, "WWW-Authenticate: Basic"));
    reply_free(&reply);
}

Test(guard, wrong_passwords_are_throttled_by_address)
{
    expect(http_get(&site, "/api/agents", "bob"), 200, "");
    for (int i = 0; i < LIMIT_LOGIN_FAILURES_PER_SOURCE; i++)
        expect(http_get(&site, "/api/agents", "alice:wrong"), 401, "unauthorized");
    struct reply reply = http_get(&site, "/api/agents", "alice");
    cr_expect_eq(reply.status, 429);
    cr_expect_not_null(strstr(reply.head, "Retry-After: 60"));
    reply_free(&reply);
    expect(http_get(&site, "/api/agents", "bob"), 200, "");
    expect(http_get(&site, "/healthz", NULL), 200, "");
}

Test(guard, answers_are_not_cached_framed_or_sniffed)
{
    static const char *const headers[] = {
        "Content-Type: application/json", "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
        "Content-Security-Policy: default-src 'none'"};
    static const struct {
        const char *path;
        const char *user;
    } cases[] = {
        {"/api/holds", "alice"}, {"/api/holds", NULL}, {"/none", NULL}, {"/healthz", NULL}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct reply reply = http_get(&site, cases[i].path, cases[i].user);
        for (size_t j = 0; j < ARRAY_SIZE(headers); j++)
            cr_expect_not_null(strstr(reply.head, headers[j]), "%s: %s", cases[i].path, headers[j]);
        reply_free(&reply);
    }
}

static const struct {
    const char *header;
    long status;
} host_cases[] = {
    {"Host: evil.example.com", 403},
    {"Host: localhost", 403},
    {"Host;", 403},
    {"Host: wicket.example.com", 200},
    {"Host: WICKET.example.com:443", 200},
};

Test(guard, foreign_hosts_are_refused)
{
    for (size_t i = 0; i < ARRAY_SIZE(host_cases); i++) {
        const char *const headers[] = {host_cases[i].header, NULL};
        struct reply reply = http(&site, "GET", "/healthz", NULL, NULL, headers);
        cr_expect_eq(reply.status, host_cases[i].status, "%s: %s", host_cases[i].header,
                     reply.body);
        reply_free(&reply);
    }
}

static const struct {
    const char *headers[4];
    long status;
    const char *code;
} write_cases[] = {
    {{"Content-Type: application/json"}, 200, ""},
    {{"Content-Type: application/json; charset=utf-8"}, 200, ""},
    {{"Content-Type: text/plain"}, 415, "not_json"},
    {{"Content-Type: application/x-www-form-urlencoded"}, 415, "not_json"},
    {{"Content-Type:"}, 415, "not_json"},
    {{"Content-Type: application/jsonp"}, 415, "not_json"},
    {{"Content-Type: application/json", "Origin: https://evil.example.com"}, 403, "foreign_origin"},
    {{"Content-Type: application/json", "Origin: null"}, 403, "foreign_origin"},
    {{"Content-Type: application/json", "Origin: https://wicket.example.com"}, 200, ""},
    {{"Content-Type: application/json", "Sec-Fetch-Site: cross-site"}, 403, "foreign_origin"},
    {{"Content-Type: application/json", "Sec-Fetch-Site: same-site"}, 403, "foreign_origin"},
    {{"Content-Type: application/json", "Sec-Fetch-Site: same-origin"}, 200, ""},
    {{"Content-Type: application/json", "Sec-Fetch-Site: none"}, 200, ""},
    {{"Content-Type: application/json", "Origin: https://wicket.example.com",
      "Origin: https://evil.example.com"},
     400,
     "bad_request"},
};

Test(guard, writes_are_json_from_our_own_pages)
{
    for (size_t i = 0; i < ARRAY_SIZE(write_cases); i++) {
        site.paused = false;
        struct reply reply = http(&site, "POST", "/api/agents/support-bot/pause", "alice", "{}",
                                  write_cases[i].headers);
        cr_expect_eq(reply.status, write_cases[i].status, "case %zu: %s", i, reply.body);
        cr_expect_str_eq(reply_code(&reply), write_cases[i].code, "case %zu", i);
        cr_expect_eq(site.paused, write_cases[i].status == 200, "case %zu", i);
        reply_free(&reply);
    }
}

static const struct {
    const char *method;
    const char *path;
    long status;
} method_cases[] = {
    {"GET", "/api/agents/support-bot/pause", 405},
    {"GET", "/api/holds/1/release", 405},
    {"PUT", "/api/agents/support-bot/pause", 405},
    {"DELETE", "/api/holds/1", 405},
    {"POST", "/api/holds", 405},
    {"OPTIONS", "/api/holds", 405},
    {"PATCH", "/api/holds/1/release", 405},
    {"POST", "/metrics", 405},
    {"GET", "/metrics/", 404},
    {"PUT", "/holds", 405},
    {"POST", "/history", 405},
    {"GET", "/api", 404},
    {"GET", "/api/holds/", 404},
    {"GET", "/api//holds", 404},
    {"GET", "/./api/holds", 404},
    {"GET", "/api/holds/1/release/", 404},
};

Test(guard, paths_and_methods_that_are_not_ours_are_refused)
{
    for (size_t i = 0; i < ARRAY_SIZE(method_cases); i++) {
        struct reply reply =
            http(&site, method_cases[i].method, method_cases[i].path, "alice", NULL, NULL);
        cr_expect_eq(reply.status, method_cases[i].status, "%s %s: %ld", method_cases[i].method,
                     method_cases[i].path, reply.status);
        if (method_cases[i].status == 405)
            cr_expect_not_null(strstr(reply.head, "Allow: "));
        reply_free(&reply);
    }
    cr_expect_not(site.paused);
}

Test(guard, bodies_are_limited)
{
    static char body[3 * LIMIT_HTTP_BODY_BYTES];
    memset(body, ' ', sizeof body - 1);
    body[0] = '{';
    body[LIMIT_HTTP_BODY_BYTES - 1] = '}';
    body[LIMIT_HTTP_BODY_BYTES] = '\0';
    expect(http_post(&site, "/api/agents/support-bot/pause", "alice", body), 200, "");
    body[LIMIT_HTTP_BODY_BYTES] = ' ';
    body[LIMIT_HTTP_BODY_BYTES + 1] = '\0';
    expect(http_post(&site, "/api/agents/support-bot/pause", "alice", body), 413, "too_large");
    body[LIMIT_HTTP_BODY_BYTES + 1] = ' ';
    char head[256];
    int size = snprintf(head, sizeof head,
                        "POST /api/agents/support-bot/pause HTTP/1.1\r\nHost: localhost:%d\r\n"
                        "Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n",
                        site.port);
    cr_expect_eq(raw(&site, head, (size_t)size), 413);
}

static const struct {
    const char *request; /* PORT stands for the port */
    int status;
} raw_cases[] = {
    {"GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 200},
    {"GET http://localhost:PORT/healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400},
    {"GET //localhost:PORT/healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 400},
    {"GET /healthz HTTP/1.1\r\nHost: localhost:PORT\r\nHost: localhost:PORT\r\n\r\n", 400},
    {"GET /healthz HTTP/1.1\r\n\r\n", 403},
    {"GET /healthz HTTP/1.0\r\n\r\n", 403},
    {"GET /healthz HTTP/1.1\r\nHost : localhost:PORT\r\n\r\n", 403},
    {"BREW /healthz HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", 501},
    {"GET /healthz\r\nHost: localhost:PORT\r\n\r\n", 400},
    {"nonsense\r\n\r\n", 400},
};

/* Writes the request with the port put in; its size. */
static size_t fill_in_port(char *request, size_t max, const char *form)
{
    size_t size = 0;
    while (*form != '\0' && size + 8 < max) {
        bool here = strncmp(form, "PORT", 4) == 0;
        int written = here ? snprintf(request + size, max - size, "%d", site.port)
                           : snprintf(request + size, max - size, "%c", *form);
        size += (size_t)written;
        form += here ? 4 : 1;
    }
    return size;
}

Test(guard, odd_requests_get_one_clear_answer)
{
    for (size_t i = 0; i < ARRAY_SIZE(raw_cases); i++) {
        char request[512];
        size_t size = fill_in_port(request, sizeof request, raw_cases[i].request);
        int status = raw(&site, request, size);
        cr_expect_eq(status, raw_cases[i].status, "case %zu: %d", i, status);
    }
}

Test(guard, heads_are_limited)
{
    size_t size = LIMIT_HTTP_HEADER_BYTES + 200;
    char *request = malloc(size);
    memset(request, 'x', size);
    static const char start[] = "GET /healthz HTTP/1.1\r\nX-Long: ";
    memcpy(request, start, sizeof start - 1);
    int status = raw(&site, request, size);
    cr_expect(status == 0 || status >= 400, "%d", status);
    free(request);
}

Test(guard, stranger_cannot_keep_a_connection_open)
{
    int silent = connect_raw(&site);
    int slow = connect_raw(&site);
    send(slow, "GET /healthz HTTP/1.1\r\n", 23, MSG_NOSIGNAL);
    char byte;
    for (int i = 0; i < 25; i++) {
        sleep(1);
        send(slow, "X", 1, MSG_NOSIGNAL);
        if (recv(silent, &byte, 1, MSG_DONTWAIT) == 0)
            break;
    }
    cr_expect_eq(recv(silent, &byte, 1, MSG_DONTWAIT), 0, "closed by the server");
    cr_expect_leq(recv(slow, &byte, 1, 0), 0, "a slow one, too");
    close(silent);
    close(slow);
}

Test(guard, client_that_goes_away_does_no_harm)
{
    char digest[SHA256_HEX_SIZE];
    for (int i = 0; i < 50; i++) {
        char statement[32];
        snprintf(statement, sizeof statement, "SELECT %d", i);
        site_hold(&site, statement, 1, digest);
    }
    struct reply reply = http_get(&site, "/api/holds", "alice");
    reply_free(&reply);
    char request[256];
    int size = snprintf(request, sizeof request,
                        "GET /api/holds HTTP/1.1\r\nHost: localhost:%d\r\n"
                        "Authorization: Basic YWxpY2U6YWxpY2Utc2VjcmV0\r\n\r\n",
                        site.port);
    for (int i = 0; i < 200; i++) {
        int file = connect_raw(&site);
        struct linger at_once = {1, 0};
        if (i % 2 == 0)
            setsockopt(file, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        send(file, request, (size_t)size, MSG_NOSIGNAL);
        usleep((useconds_t)(i * 20));
        close(file);
    }
    expect(http_get(&site, "/healthz", NULL), 200, "");
}

Test(guard, more_connections_than_the_limit_wait)
{
    static int files[LIMIT_HTTP_CONNECTIONS + 20];
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        files[i] = connect_raw(&site);
    for (size_t i = 0; i < ARRAY_SIZE(files) - 40; i++)
        close(files[i]);
    expect(http_get(&site, "/healthz", NULL), 200, "");
    for (size_t i = ARRAY_SIZE(files) - 40; i < ARRAY_SIZE(files); i++)
        close(files[i]);
}

Test(guard_start, stopping_with_requests_in_work_answers_them)
{
    site_begin(&site, WITH_STORE);
    char request[256];
    int size = snprintf(request, sizeof request,
                        "GET /api/holds HTTP/1.1\r\nHost: localhost:%d\r\n"
                        "Authorization: Basic YWxpY2U6YWxpY2Utc2VjcmV0\r\n\r\n",
                        site.port);
    int files[8];
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        files[i] = connect_raw(&site);
        send(files[i], request, (size_t)size, MSG_NOSIGNAL);
    }
    usleep(50000);
    site_end(&site);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char answer[16];
        ssize_t got = recv(files[i], answer, sizeof answer, 0);
        cr_expect(got == 0 || memcmp(answer, "HTTP/1.1 ", 9) == 0);
        close(files[i]);
    }
}

Test(guard_start, works_over_tls_and_not_beside_it)
{
    site_begin(&site, WITH_STORE | WITH_TLS);
    expect(http_get(&site, "/healthz", NULL), 200, "");
    expect(http_get(&site, "/api/holds", "alice"), 200, "");
    static const char plain[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    cr_expect_eq(raw(&site, plain, sizeof plain - 1), 0);
    site_end(&site);
}

Test(guard_start, without_a_store_there_are_no_holds)
{
    site_begin(&site, 0);
    struct reply reply = http_get(&site, "/api/holds", "alice");
    cr_expect_eq(reply.status, 200);
    cr_expect_eq(json_array_size(json_object_get(reply.json, "holds")), 0);
    reply_free(&reply);
    expect(http_get(&site, "/api/holds/1", "alice"), 404, "not_found");
    site_end(&site);
}

Test(guard_start, address_or_certificate_that_cannot_be_used_is_an_error)
{
    site_begin(&site, 0);
    struct configuration taken = *site.configuration;
    char port[16];
    snprintf(port, sizeof port, "%d", site.port);
    taken.review.port = text_from(port);
    const struct review_hooks hooks = {0};
    char problem[256] = "";
    cr_expect_null(review_start(&taken, NULL, &hooks, problem, sizeof problem));
    cr_expect_not_null(strstr(problem, "in use"), "%s", problem);
    struct configuration bare = *site.configuration;
    bare.review_tls = (struct tls_settings){.given = true,
                                            .certificate = TEXT("/nowhere/server.crt"),
                                            .key = TEXT("/nowhere/server.key"),
                                            .mode = TLS_REQUIRE};
    cr_expect_null(review_start(&bare, NULL, &hooks, problem, sizeof problem));
    cr_expect_not_null(strstr(problem, "review.tls"), "%s", problem);
    site_end(&site);
}

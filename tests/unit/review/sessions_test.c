/* sessions_test.c - who is signed in with a browser, and for how long. */
#include "proxy/review/sessions.h"

#include "proxy/base/limits.h"

#include <criterion/criterion.h>
#include <string.h>

static const int64_t minute_us = 60 * (int64_t)1000000;
static struct approver approvers[2];
static struct configuration configuration;
static struct sessions *sessions;
static char token[SESSION_TOKEN_SIZE];

static void begin(void)
{
    approvers[0].name = TEXT("alice");
    approvers[1].name = TEXT("bob");
    memset(approvers[0].verifier.stored_key, 1, sizeof approvers[0].verifier.stored_key);
    configuration =
        (struct configuration){.approvers = approvers, .approver_count = ARRAY_SIZE(approvers)};
    sessions = sessions_new();
}

static void end(void)
{
    sessions_free(sessions);
}

TestSuite(sessions, .init = begin, .fini = end);

static const struct approver *find(const char *value, int64_t now_us, bool live)
{
    const struct approver *approver;
    (void)sessions_find(sessions, text_from(value), &configuration, now_us, live, &approver);
    return approver;
}

Test(sessions, a_token_is_good_for_its_approver_only)
{
    struct signed_in *session = sessions_begin(sessions, &approvers[0], false, 0, token);
    char other[SESSION_TOKEN_SIZE];
    sessions_begin(sessions, &approvers[1], false, 0, other);
    cr_expect_str_neq(token, other);
    cr_expect_eq(find(token, 1, false), &approvers[0]);
    cr_expect_eq(find(other, 1, false), &approvers[1]);
    cr_expect_null(find("", 1, false));
    cr_expect_null(find(session->csrf, 1, false), "the forms' token is none of a cookie");
    token[63] = token[63] == '0' ? '1' : '0';
    cr_expect_null(find(token, 1, false));
}

Test(sessions, forms_carry_another_token)
{
    struct signed_in *session = sessions_begin(sessions, &approvers[0], false, 0, token);
    cr_expect(session_has_csrf(session, text_from(session->csrf)));
    cr_expect_not(session_has_csrf(session, text_from(token)));
    cr_expect_not(session_has_csrf(session, TEXT("")));
}

Test(sessions, they_end_when_nobody_uses_them)
{
    sessions_begin(sessions, &approvers[0], false, 0, token);
    cr_expect_not_null(find(token, 119 * minute_us, false));
    cr_expect_not_null(find(token, 238 * minute_us, true), "a request keeps it");
    cr_expect_null(find(token, 240 * minute_us, false), "a page that asks by itself does not");
    cr_expect_null(find(token, 240 * minute_us, false));
}

Test(sessions, they_end_after_half_a_day_in_any_case)
{
    sessions_begin(sessions, &approvers[0], false, 0, token);
    for (int64_t at = 0; at < 720; at += 60)
        cr_expect_not_null(find(token, at * minute_us, false));
    cr_expect_null(find(token, 721 * minute_us, false));
}

Test(sessions, they_end_with_their_approver)
{
    sessions_begin(sessions, &approvers[0], false, 0, token);
    approvers[0].verifier.stored_key[5] ^= 1;
    cr_expect_null(find(token, 1, false), "another secret");
    sessions_begin(sessions, &approvers[1], false, 0, token);
    configuration.approver_count = 1;
    cr_expect_null(find(token, 1, false), "not an approver any more");
}

Test(sessions, signing_out_ends_one)
{
    const struct approver *approver;
    sessions_begin(sessions, &approvers[0], false, 0, token);
    sessions_end(sessions_find(sessions, text_from(token), &configuration, 1, false, &approver));
    cr_expect_null(find(token, 2, false));
}

Test(sessions, the_one_not_used_for_the_longest_makes_room)
{
    char first[SESSION_TOKEN_SIZE];
    sessions_begin(sessions, &approvers[0], false, 0, first);
    sessions_begin(sessions, &approvers[0], false, 1, token);
    cr_expect_not_null(find(first, 2, false));
    char more[SESSION_TOKEN_SIZE];
    for (int i = 0; i < LIMIT_BROWSER_SESSIONS - 1; i++)
        sessions_begin(sessions, &approvers[1], false, 10 + i, more);
    cr_expect_not_null(find(first, 500, false));
    cr_expect_null(find(token, 500, false));
}

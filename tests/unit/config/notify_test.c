/* notify_test.c - the section `notify`: receivers, keys, events, and how each is refused. */
#include "proxy/config/settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char rest[] = "listen: {address: 127.0.0.1:6432}\n"
                           "review: {address: 127.0.0.1:6480}\n"
                           "audit: {file: audit.jsonl}\n"
                           "upstreams: {shop: host=db dbname=shop}\n"
                           "agents:\n  bot: {secret: agent-password, upstream: shop, policy: p}\n"
                           "policies:\n  p:\n    rules:\n"
                           "      - {allow: [select], on: [shop.orders]}\n";
#define HOLDS "holds: {store: \"sqlite:holds.db\"}\n"

static struct configuration *load(const char *section, struct buffer *problems)
{
    static char source[65536];
    int size = snprintf(source, sizeof source, "%s%s", section, rest);
    cr_assert(size > 0 && (size_t)size < sizeof source);
    buffer_init(problems, 1 << 20);
    return configuration_parse(TEXT("etc/wicket.yaml"), (struct text){source, (size_t)size},
                               problems);
}

static struct configuration *load_fine(const char *section, const char *warning)
{
    struct buffer problems;
    struct configuration *configuration = load(section, &problems);
    cr_assert_not_null(configuration, "%s", buffer_string(&problems));
    if (warning == NULL)
        cr_expect_str_empty(buffer_string(&problems));
    else
        cr_expect_not_null(strstr(buffer_string(&problems), warning), "%s",
                           buffer_string(&problems));
    buffer_release(&problems);
    return configuration;
}

Test(notify_section, receivers_are_read)
{
    setenv("NOTIFY_TEST_URL", "https://hooks.example.com:8443/services/T0/B0", 1);
    struct configuration *configuration = load_fine(
        HOLDS
        "notify:\n"
        "  - {url: \"https://a.example.com/x\", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}\n"
        "  - {url: {env: NOTIFY_TEST_URL}, format: slack, events: [hold.created, audit.failing]}\n"
        "  - {url: \"http://127.0.0.1:9/\", secret: plain-text-of-24-bytes-x, format: standard,"
        " ca: ca.crt}\n",
        NULL);
    cr_assert_eq(configuration->receiver_count, 3);
    const struct notify_receiver *receivers = configuration->receivers;
    cr_expect_eq(receivers[0].format, NOTIFY_STANDARD);
    cr_expect_eq(receivers[0].key.size, 24);
    cr_expect_eq(memcmp(receivers[0].key.bytes, "\x31\xf2\x90\xf6", 4), 0);
    cr_expect(receivers[0].tls);
    cr_expect_eq(receivers[1].format, NOTIFY_SLACK);
    cr_expect_eq(receivers[1].key.size, 0);
    cr_expect(text_is(receivers[1].site, "https://hooks.example.com:8443"));
    cr_expect_eq(receivers[1].events, 1U << NOTIFY_HOLD_CREATED | 1U << NOTIFY_AUDIT_FAILING);
    cr_expect(text_is(receivers[2].key, "plain-text-of-24-bytes-x"));
    cr_expect(text_is(receivers[2].authority, "etc/ca.crt"));
    cr_expect_not(receivers[2].tls);
    for (int event = 0; event < NOTIFY_EVENT_COUNT; event++)
        cr_expect((receivers[0].events & 1U << event) != 0);
    configuration_release(configuration);
}

Test(notify_section, key_may_lack_its_padding)
{
    static const struct {
        const char *secret;
        size_t size;
    } cases[] = {{"whsec_MDEyMzQ1Njc4OWFiY2RlZg==", 16},
                 {"whsec_MDEyMzQ1Njc4OWFiY2RlZg", 16},
                 {"whsec_MDEyMzQ1Njc4OWFiY2RlZmc=", 17},
                 {"whsec_MDEyMzQ1Njc4OWFiY2RlZmc", 17}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char section[256];
        snprintf(section, sizeof section,
                 HOLDS "notify: [{url: \"https://a.example.com/x\", secret: \"%s\"}]\n",
                 cases[i].secret);
        struct configuration *configuration = load_fine(section, NULL);
        cr_expect_eq(configuration->receivers[0].key.size, cases[i].size, "%s", cases[i].secret);
        configuration_release(configuration);
    }
}

/* So that what waits for it is still delivered after its key has been changed. */
Test(notify_section, target_is_of_url_and_format_alone)
{
    static const char *const sections[] = {
        HOLDS "notify: [{url: \"https://a.example.com/x\", secret: plain-text-of-24-bytes-x}]\n",
        HOLDS "notify: [{url: \"https://a.example.com/x\", secret: plain-text-of-24-bytes-y}]\n",
        HOLDS "notify: [{url: \"https://a.example.com/y\", secret: plain-text-of-24-bytes-x}]\n",
        HOLDS "notify: [{url: \"https://a.example.com/x\", format: slack}]\n",
    };
    struct configuration *loaded[ARRAY_SIZE(sections)];
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        loaded[i] = load_fine(sections[i], NULL);
    struct text first = loaded[0]->receivers[0].target;
    cr_expect_eq(first.size, 64);
    cr_expect(text_equal(first, loaded[1]->receivers[0].target));
    cr_expect_not(text_equal(first, loaded[2]->receivers[0].target));
    cr_expect_not(text_equal(first, loaded[3]->receivers[0].target));
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        configuration_release(loaded[i]);
}

Test(notify_section, short_key_is_warned_of)
{
    configuration_release(load_fine(
        HOLDS "notify: [{url: \"https://a.example.com/x\", secret: short}]\n", "can be guessed"));
}

static const struct {
    const char *section, *problem;
} refused[] = {
    {"notify: [{url: \"https://a.example.com/hush\", format: slack}]\n", "needs the section holds"},
    {HOLDS "notify: {url: \"https://a.example.com/hush\"}\n", "a list of receivers"},
    {HOLDS "notify: [{format: slack}]\n", "url"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\"}]\n", "it needs the key \"secret\""},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", format: slack, secret: x}]\n",
     "signs nothing"},
    {HOLDS "notify: [{url: \"http://a.example.com/hush\", format: slack}]\n", "https:// only"},
    {HOLDS "notify: [{url: \"http://127.0.0.1.example.com/hush\", format: slack}]\n",
     "https:// only"},
    {HOLDS "notify: [{url: \"ftp://a.example.com/hush\", format: slack}]\n", "begins with https://"},
    {HOLDS "notify: [{url: \"https://u:p@a.example.com/hush\", format: slack}]\n", "without user"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", secret: \"whsec_a!\"}]\n", "not base64"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", secret: whsec_}]\n", "not base64"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", secret: \"\"}]\n", "empty"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", format: teams}]\n", "standard or slack"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", format: slack, events: []}]\n",
     "at least one"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", format: slack, events: [hold.made]}]\n",
     "hold.created"},
    {HOLDS "notify: [{url: \"https://a.example.com/hush\", format: slack, retry: 3}]\n",
     "unknown key \"retry\""},
    {HOLDS "notify:\n  - {url: \"https://a.example.com/hush\", format: slack}\n"
           "  - {url: \"https://a.example.com/hush\", format: slack}\n",
     "stands in the list already"},
};

Test(notify_section, everything_else_is_refused_and_no_path_is_shown)
{
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct buffer problems;
        struct configuration *configuration = load(refused[i].section, &problems);
        cr_expect_null(configuration, "%s", refused[i].section);
        cr_expect_not_null(strstr(buffer_string(&problems), refused[i].problem), "%s%s",
                           refused[i].section, buffer_string(&problems));
        cr_expect_null(strstr(buffer_string(&problems), "hush"), "%s", buffer_string(&problems));
        configuration_release(configuration);
        buffer_release(&problems);
    }
}

Test(notify_section, too_many_receivers_are_refused)
{
    static char section[8192];
    size_t size = (size_t)snprintf(section, sizeof section, "%snotify:\n", HOLDS);
    for (int i = 0; i < 21; i++)
        size += (size_t)snprintf(section + size, sizeof section - size,
                                 "  - {url: \"https://a.example.com/%d\", format: slack}\n", i);
    struct buffer problems;
    cr_expect_null(load(section, &problems));
    cr_expect_not_null(strstr(buffer_string(&problems), "fewer receivers"));
    buffer_release(&problems);
}

/* notify_test.c - what receivers are told, how it is signed, when it is tried again. */
#include "proxy/review/notify_message.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#define SECOND 1000000LL

static struct arena arena;

static void begin(void) { arena_init(&arena); }
static void end(void) { arena_release(&arena); }

TestSuite(notify, .init = begin, .fini = end);

/* The example of the specification: its key, message and signature. */
Test(notify, signature_is_the_one_of_the_published_example)
{
    /* whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw */
    static const uint8_t key[] = {0x31, 0xf2, 0x90, 0xf6, 0xbf, 0x06, 0x29, 0x8a,
                                  0xab, 0x4f, 0x08, 0xd4, 0x3c, 0x3f, 0x08, 0x2c,
                                  0xf6, 0x48, 0xa3, 0x62, 0xda, 0x2d, 0xa4, 0xb0};
    char signature[NOTIFY_SIGNATURE_SIZE];
    notify_sign((struct text){(const char *)key, sizeof key}, TEXT("msg_p5jXN8AQM9LWM0D4loKWxJek"),
                1614265330, TEXT("{\"test\": 2432232314}"), signature);
    cr_expect_str_eq(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

/* --- composing --- */

static const char effect[] =
    "{\"known\": true, \"bound\": \"rows\", \"tables\": [{\"table\": \"shop.orders\", \"via\": \"target\","
    " \"inserted\": 0, \"updated\": 0, \"deleted\": 42, \"total\": 100}, {\"table\": \"shop.items\", \"via\":"
    " \"cascade\", \"constraint\": \"c\", \"action\": \"cascade\", \"parent\": \"shop.orders\", \"depth\": 1,"
    " \"inserted\": 0, \"updated\": 0, \"deleted\": 126, \"total\": null}], \"objects\": [], \"locks\": [],"
    " \"triggers\": [], \"rows\": null, \"not_undone\": [], \"notices\": [\"note\"], \"duration_ms\": 1.5}";

static struct hold_approval approval = {TEXT_INIT("bob"), {1}};

static struct hold hold_in(enum hold_state state)
{
    return (struct hold){
        .id = 17,
        .state = state,
        .agent = TEXT("support-bot"),
        .policy = TEXT("support"),
        .rule = TEXT("support.5"),
        .upstream = TEXT("shop"),
        .verb = TEXT("delete"),
        .statement = TEXT("DELETE FROM shop.orders WHERE note = 'SECRET'"),
        .plan = TEXT("SECRET"),
        .effect = text_from(effect),
        .decision_reason = TEXT("SECRET"),
        .decided_by = TEXT("alice"),
        .outcome_tag = TEXT("DELETE 42"),
        .outcome_error = TEXT("SECRET"),
        .approvals = &approval,
        .approval_count = 1,
        .quorum = 2,
        .created = {1700000000 * SECOND},
        .expires = {1700003600 * SECOND},
    };
}

static const struct notify_receiver receivers[] = {
    {.target = TEXT_INIT("first"), .format = NOTIFY_STANDARD, .events = ~0U},
    {.target = TEXT_INIT("second"), .format = NOTIFY_SLACK, .events = ~0U},
};
static const struct configuration configuration = {
    .review_url = TEXT_INIT("https://wicket.example.com/"),
    .receivers = receivers,
    .receiver_count = 2,
};

static const struct hold_message *compose(const struct notice *notice, size_t expected)
{
    const struct hold_message *messages = NULL;
    cr_assert_eq(notify_compose(&arena, &configuration, notice, &messages), expected);
    return messages;
}

static const struct hold_message *compose_change(const struct hold *hold, enum hold_state before)
{
    struct notice notice;
    cr_assert(notice_of_hold(hold, before, (struct instant){1700000001 * SECOND}, &notice));
    return compose(&notice, 2);
}

static json_t *parse(struct text body)
{
    json_t *root = json_loadb(body.bytes, body.size, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(root, "%.*s", TEXT_ARGS(body));
    return root;
}

static const char *word(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

Test(notify, tells_of_a_new_hold_in_numbers_and_names)
{
    struct hold hold = hold_in(HOLD_PENDING);
    const struct hold_message *messages = compose_change(&hold, HOLD_NONE);
    cr_expect(text_is(messages[0].target, "first") && text_is(messages[1].target, "second"));
    cr_expect(text_equal(messages[0].name, messages[1].name));
    cr_expect(text_starts_with(messages[0].name, "msg_") && messages[0].name.size == 36);
    json_t *root = parse(messages[0].body);
    const json_t *data = json_object_get(root, "data");
    cr_expect_str_eq(word(root, "type"), "hold.created");
    cr_expect_str_eq(word(root, "timestamp"), "2023-11-14T22:13:21.000000Z");
    cr_expect_eq(json_integer_value(json_object_get(data, "id")), 17);
    cr_expect_eq(json_integer_value(json_object_get(data, "rows")), 168);
    cr_expect_str_eq(word(data, "effect"), "delete 168 rows in 2 tables");
    cr_expect_str_eq(word(data, "url"), "https://wicket.example.com/holds/17");
    cr_expect_str_eq(word(data, "expires"), "2023-11-14T23:13:20.000000Z");
    cr_expect(json_is_null(json_object_get(data, "run_until")));
    json_decref(root);
}

Test(notify, names_differ)
{
    struct hold hold = hold_in(HOLD_PENDING);
    cr_expect_not(text_equal(compose_change(&hold, HOLD_NONE)->name,
                             compose_change(&hold, HOLD_NONE)->name));
}

Test(notify, says_that_an_effect_is_unknown)
{
    static const char *const effects[] = {"{\"known\": false, \"why\": \"SECRET\"}", "not JSON", ""};
    for (size_t i = 0; i < ARRAY_SIZE(effects); i++) {
        struct hold hold = hold_in(HOLD_PENDING);
        hold.effect = text_from(effects[i]);
        json_t *root = parse(compose_change(&hold, HOLD_NONE)[0].body);
        const json_t *data = json_object_get(root, "data");
        cr_expect_str_eq(word(data, "effect"), "delete, effect unknown");
        cr_expect(json_is_null(json_object_get(data, "rows")));
        json_decref(root);
    }
}

static const struct {
    enum hold_state before, after;
    const char *type, *by, *slack;
} changes[] = {
    {HOLD_NONE, HOLD_PENDING, "hold.created", "", "*Hold 17* waits for approval: delete 168 rows in 2 tables"},
    {HOLD_PENDING, HOLD_PENDING, "hold.approved", "bob", "*Hold 17* has 1 of 2 approvals, the last by bob"},
    {HOLD_PENDING, HOLD_RELEASED, "hold.released", "alice", "*Hold 17* was released by alice"},
    {HOLD_PENDING, HOLD_REFUSED, "hold.refused", "alice", "*Hold 17* was refused by alice"},
    {HOLD_PENDING, HOLD_EXPIRED, "hold.expired", "", "*Hold 17* expired"},
    {HOLD_RELEASED, HOLD_LAPSED, "hold.lapsed", "", "*Hold 17* was released, but not run"},
    {HOLD_RUNNING, HOLD_DRIFTED, "hold.drifted", "", "*Hold 17* was rolled back"},
    {HOLD_RUNNING, HOLD_EXECUTED, "hold.executed", "", "*Hold 17* was executed"},
    {HOLD_RUNNING, HOLD_FAILED, "hold.failed", "", "*Hold 17* failed"},
    {HOLD_RUNNING, HOLD_UNKNOWN, "hold.unknown", "", "*Hold 17* was cut off"},
};

Test(notify, tells_of_each_change_without_statement_reason_or_error)
{
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        struct hold hold = hold_in(changes[i].after);
        const struct hold_message *messages = compose_change(&hold, changes[i].before);
        json_t *root = parse(messages[0].body);
        cr_expect_str_eq(word(root, "type"), changes[i].type);
        cr_expect_str_eq(word(json_object_get(root, "data"), "by"), changes[i].by);
        json_decref(root);
        root = parse(messages[1].body);
        cr_expect_eq(json_object_size(root), 1);
        const char *text = word(root, "text");
        cr_expect_eq(strncmp(text, changes[i].slack, strlen(changes[i].slack)), 0, "%s", text);
        cr_expect_not_null(strstr(text, "<https://wicket.example.com/holds/17|"), "%s", text);
        json_decref(root);
        for (size_t j = 0; j < 2; j++)
            cr_expect_null(strstr(messages[j].body.bytes, "SECRET"), "%s", messages[j].body.bytes);
    }
}

Test(notify, a_claim_and_its_return_are_told_to_nobody)
{
    static const enum hold_state quiet[][2] = {{HOLD_RELEASED, HOLD_RUNNING}, {HOLD_RUNNING, HOLD_RELEASED}};
    for (size_t i = 0; i < ARRAY_SIZE(quiet); i++) {
        struct hold hold = hold_in(quiet[i][1]);
        struct notice notice;
        cr_expect_not(notice_of_hold(&hold, quiet[i][0], (struct instant){1}, &notice));
    }
}

Test(notify, every_legal_change_but_those_is_told)
{
    for (int before = HOLD_NONE; before < HOLD_STATE_COUNT; before++)
        for (int after = HOLD_PENDING; after < HOLD_STATE_COUNT; after++) {
            struct hold hold = hold_in((enum hold_state)after);
            struct notice notice;
            bool quiet = (before == HOLD_RELEASED && after == HOLD_RUNNING) ||
                         (before == HOLD_RUNNING && after == HOLD_RELEASED);
            if (hold_state_may_become((enum hold_state)before, (enum hold_state)after))
                cr_expect_neq(notice_of_hold(&hold, (enum hold_state)before, (struct instant){1},
                                             &notice),
                              quiet, "%s to %s", hold_state_name((enum hold_state)before),
                              hold_state_name((enum hold_state)after));
        }
}

Test(notify, slack_reads_no_markup_in_names)
{
    const struct notice notice = {.event = NOTIFY_AGENT_PAUSED,
                                  .at = {1},
                                  .agent = TEXT("<!channel>&co"),
                                  .by = TEXT("<@U1>")};
    json_t *root = parse(compose(&notice, 2)[1].body);
    cr_expect_str_eq(word(root, "text"), "*Agent &lt;!channel&gt;&amp;co* was paused by &lt;@U1&gt;. "
                                         "<https://wicket.example.com/agents|Open in pgwicket>");
    json_decref(root);
}

Test(notify, only_chosen_events_are_told)
{
    const struct notify_receiver one = {.target = TEXT_INIT("one"),
                                        .events = 1U << NOTIFY_AUDIT_FAILING};
    const struct configuration chosen = {.receivers = &one, .receiver_count = 1};
    for (int event = 0; event < NOTIFY_EVENT_COUNT; event++) {
        struct hold hold = hold_in(HOLD_PENDING);
        struct notice notice = {.event = (enum notify_event)event, .at = {1}};
        if (event <= NOTIFY_HOLD_UNKNOWN)
            notice.hold = &hold;
        const struct hold_message *messages = NULL;
        cr_expect_eq(notify_compose(&arena, &chosen, &notice, &messages),
                     event == NOTIFY_AUDIT_FAILING, "%s",
                     notify_event_name((enum notify_event)event));
    }
}

Test(notify, link_is_the_address_where_there_is_no_url)
{
    struct configuration local = configuration;
    local.review_url = TEXT("");
    local.review = (struct listen_address){.host = TEXT("::1"), .port = TEXT("6480")};
    local.review_tls = (struct tls_settings){.given = true, .mode = TLS_REQUIRE};
    struct hold hold = hold_in(HOLD_PENDING);
    struct notice notice;
    const struct hold_message *messages = NULL;
    cr_assert(notice_of_hold(&hold, HOLD_NONE, (struct instant){1}, &notice));
    cr_assert_eq(notify_compose(&arena, &local, &notice, &messages), 2);
    json_t *root = parse(messages[0].body);
    cr_expect_str_eq(word(json_object_get(root, "data"), "url"), "https://[::1]:6480/holds/17");
    json_decref(root);
}

Test(notify, body_has_room_for_everything_at_its_limit)
{
    char name[63], url[LIMIT_URL_BYTES];
    memset(name, '<', sizeof name);
    memset(url, '&', sizeof url);
    struct text words = {name, sizeof name};
    struct configuration longest = configuration;
    longest.review_url = (struct text){url, sizeof url};
    struct hold hold = hold_in(HOLD_REFUSED);
    hold.id = INT64_MAX;
    hold.agent = hold.policy = hold.rule = hold.upstream = hold.verb = hold.decided_by = words;
    struct notice notice;
    const struct hold_message *messages = NULL;
    cr_assert(notice_of_hold(&hold, HOLD_PENDING, (struct instant){1}, &notice));
    cr_assert_eq(notify_compose(&arena, &longest, &notice, &messages), 2);
    for (size_t i = 0; i < 2; i++)
        json_decref(parse(messages[i].body));
}

/* --- trying again --- */

Test(notify, waits_three_times_as_long_each_time_up_to_four_hours)
{
    static const int64_t seconds[] = {2, 6, 18, 54, 162, 486, 1458, 4374, 13122, 14400, 14400};
    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
        int64_t attempts = (int64_t)i + 1;
        int64_t least = notify_delay_us(attempts, 0);
        int64_t most = notify_delay_us(attempts, 999);
        cr_expect_eq(least, seconds[i] * SECOND * 4 / 5, "%lld", (long long)attempts);
        cr_expect(most <= seconds[i] * SECOND * 6 / 5 && most > seconds[i] * SECOND * 11 / 10);
        cr_expect_eq(notify_delay_us(attempts, 500), seconds[i] * SECOND);
    }
    cr_expect_eq(notify_delay_us(INT64_MAX, 500), 14400 * SECOND);
}

Test(notify, an_attempt_is_judged_by_its_status)
{
    static const struct {
        int64_t status, retry_after_s;
        enum notify_outcome outcome;
        int64_t delay_s;
    } cases[] = {
        {200, 0, NOTIFY_DELIVERED, 0}, {204, 0, NOTIFY_DELIVERED, 0}, {299, 0, NOTIFY_DELIVERED, 0},
        {410, 0, NOTIFY_GIVEN_UP, 0},  {0, 0, NOTIFY_AGAIN, 2},       {199, 0, NOTIFY_AGAIN, 2},
        {301, 0, NOTIFY_AGAIN, 2},     {400, 0, NOTIFY_AGAIN, 2},     {404, 0, NOTIFY_AGAIN, 2},
        {500, 0, NOTIFY_AGAIN, 2},     {429, 30, NOTIFY_AGAIN, 30},   {503, 1, NOTIFY_AGAIN, 2},
        {429, 1000000000, NOTIFY_AGAIN, 3600},
    };
    const struct hold_message message = {.created = {1000 * SECOND}};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct notify_attempt attempt = {cases[i].status, cases[i].retry_after_s,
                                               {2000 * SECOND}, 500};
        struct instant due = {0};
        cr_expect_eq(notify_judge(&message, &attempt, &due), cases[i].outcome, "%lld",
                     (long long)cases[i].status);
        if (cases[i].outcome == NOTIFY_AGAIN)
            cr_expect_eq(due.us, (2000 + cases[i].delay_s) * SECOND, "%lld",
                         (long long)cases[i].status);
    }
}

Test(notify, is_given_up_after_a_day)
{
    struct hold_message message = {.created = {1000 * SECOND}};
    struct instant now = message.created;
    enum notify_outcome outcome;
    do {
        const struct notify_attempt attempt = {0, 0, now, 500};
        outcome = notify_judge(&message, &attempt, &now);
        message.attempts++;
    } while (outcome == NOTIFY_AGAIN && message.attempts < 100);
    cr_expect_eq(outcome, NOTIFY_GIVEN_UP);
    cr_expect_eq(message.attempts, 14);
}

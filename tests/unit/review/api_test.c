/* api_test.c - the API over real HTTP with a real store: what approvers can see and do. */
#include "unit/review/server.h"

#include "proxy/base/attributes.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static struct site_under_test site;

static void begin(void)
{
    site_begin(&site, WITH_STORE);
}
static void end(void)
{
    site_end(&site);
}

TestSuite(api, .init = begin, .fini = end, .timeout = 60);

static void expect(struct reply reply, long status, const char *code)
{
    cr_expect_eq(reply.status, status, "%ld, not %ld: %s", reply.status, status, reply.body);
    cr_expect_str_eq(reply_code(&reply), code);
    reply_free(&reply);
}

static struct reply send_decision(int64_t id, const char *action, const char *user,
                                  const char *digest, const char *reason)
{
    char path[64];
    char body[256];
    snprintf(path, sizeof path, "/api/holds/%lld/%s", (long long)id, action);
    if (reason != NULL)
        snprintf(body, sizeof body, "{\"digest\": \"%s\", \"reason\": \"%s\"}", digest, reason);
    else
        snprintf(body, sizeof body, "{\"digest\": \"%s\"}", digest);
    return http_post(&site, path, user, body);
}

/* Every key of spec 5's example, and what kind of value it has in a pending hold. */
static const struct {
    const char *key;
    json_type type;
} hold_keys[] = {
    {"id", JSON_INTEGER},
    {"state", JSON_STRING},
    {"digest", JSON_STRING},
    {"agent", JSON_STRING},
    {"policy", JSON_STRING},
    {"rule", JSON_STRING},
    {"rules", JSON_ARRAY},
    {"rule_text", JSON_STRING},
    {"upstream", JSON_STRING},
    {"verb", JSON_STRING},
    {"client", JSON_STRING},
    {"created", JSON_STRING},
    {"expires", JSON_STRING},
    {"waiting_until", JSON_STRING},
    {"run_until", JSON_NULL},
    {"follows", JSON_NULL},
    {"replaced_by", JSON_NULL},
    {"statement", JSON_STRING},
    {"statement_visible", JSON_STRING},
    {"parameters", JSON_ARRAY},
    {"settings", JSON_OBJECT},
    {"estimate", JSON_OBJECT},
    {"plan", JSON_NULL},
    {"effect", JSON_OBJECT},
    {"approvals", JSON_ARRAY},
    {"quorum", JSON_INTEGER},
    {"can_decide", JSON_TRUE},
    {"decision", JSON_NULL},
    {"outcome", JSON_NULL},
};

Test(api, hold_has_every_key_of_the_contract)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    char path[64];
    snprintf(path, sizeof path, "/api/holds/%lld", (long long)id);
    struct reply reply = http_get(&site, path, "alice");
    cr_assert_eq(reply.status, 200, "%s", reply.body);
    for (size_t i = 0; i < ARRAY_SIZE(hold_keys); i++) {
        json_t *value = json_object_get(reply.json, hold_keys[i].key);
        cr_expect_not_null(value, "%s", hold_keys[i].key);
        cr_expect_eq(json_typeof(value), hold_keys[i].type, "%s", hold_keys[i].key);
    }
    cr_expect_str_eq(json_string_value(json_object_get(reply.json, "digest")), digest);
    json_t *rules = json_object_get(reply.json, "rules");
    cr_expect_eq(json_array_size(rules), 2);
    cr_expect_str_eq(json_string_value(json_array_get(rules, 1)), "support.6");
    json_t *parameters = json_object_get(reply.json, "parameters");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(parameters, 0), "value")),
                     "42");
    cr_expect(json_is_null(json_object_get(json_array_get(parameters, 1), "value")));
    json_t *settings = json_object_get(reply.json, "settings");
    cr_expect_str_eq(json_string_value(json_object_get(settings, "search_path")), "shop");
    json_t *estimate = json_object_get(reply.json, "estimate");
    cr_expect_eq(json_number_value(json_object_get(estimate, "rows")), 40);
    cr_expect(json_is_null(json_object_get(estimate, "cost")));
    json_t *effect = json_object_get(reply.json, "effect");
    cr_expect(json_is_true(json_object_get(effect, "known")));
    reply_free(&reply);
}

Test(api, hidden_characters_of_a_statement_are_shown)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "SELECT 'a\xE2\x80\xAE b'", 1, digest);
    char path[64];
    snprintf(path, sizeof path, "/api/holds/%lld", (long long)id);
    struct reply reply = http_get(&site, path, "alice");
    cr_expect_null(strstr(reply.body, "\xE2\x80\xAE"), "not raw in the answer either");
    cr_expect_str_eq(json_string_value(json_object_get(reply.json, "statement")),
                     "SELECT 'a\xE2\x80\xAE b'");
    const char *visible = json_string_value(json_object_get(reply.json, "statement_visible"));
    cr_expect_str_eq(visible, "SELECT 'a\\u{202E} b'");
    reply_free(&reply);
}

Test(api, release_is_bound_to_the_digest_that_was_shown)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    char other[SHA256_HEX_SIZE];
    snprintf(other, sizeof other, "%s", digest);
    other[0] = other[0] == '0' ? '1' : '0';
    struct reply reply = send_decision(id, "release", "alice", other, NULL);
    cr_expect_eq(reply.status, 409);
    cr_expect_str_eq(reply_code(&reply), "wrong_digest");
    json_t *hold = json_object_get(reply.json, "hold");
    cr_expect_str_eq(json_string_value(json_object_get(hold, "digest")), digest);
    reply_free(&reply);
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
    reply = send_decision(id, "release", "alice", digest, NULL);
    cr_expect_eq(reply.status, 200, "%s", reply.body);
    cr_expect_str_eq(json_string_value(json_object_get(reply.json, "state")), "released");
    cr_expect(json_is_string(json_object_get(reply.json, "run_until")));
    json_t *decision = json_object_get(reply.json, "decision");
    cr_expect_str_eq(json_string_value(json_object_get(decision, "by")), "alice");
    reply_free(&reply);
    reply = send_decision(id, "release", "bob", digest, NULL);
    cr_expect_eq(reply.status, 409);
    cr_expect_str_eq(reply_code(&reply), "wrong_state");
    hold = json_object_get(reply.json, "hold");
    cr_expect_str_eq(json_string_value(json_object_get(hold, "state")), "released");
    cr_expect(json_is_false(json_object_get(hold, "can_decide")));
    reply_free(&reply);
}

Test(api, quorum_of_two_needs_two_people)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 2, digest);
    struct reply reply = send_decision(id, "release", "alice", digest, NULL);
    cr_expect_eq(reply.status, 200);
    cr_expect_str_eq(json_string_value(json_object_get(reply.json, "state")), "pending");
    cr_expect(json_is_false(json_object_get(reply.json, "can_decide")));
    cr_expect_eq(json_array_size(json_object_get(reply.json, "approvals")), 1);
    reply_free(&reply);
    expect(send_decision(id, "release", "alice", digest, NULL), 409, "already_approved");
    expect(send_decision(id, "release", "bob", digest, NULL), 200, "");
    cr_expect_eq(site_state(&site, id), HOLD_RELEASED);
}

Test(api, refusal_needs_a_reason)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    expect(send_decision(id, "refuse", "alice", digest, NULL), 400, "bad_body");
    expect(send_decision(id, "refuse", "alice", digest, ""), 400, "bad_body");
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
    struct reply reply = send_decision(id, "refuse", "alice", digest, "wrong customer");
    cr_expect_eq(reply.status, 200, "%s", reply.body);
    json_t *decision = json_object_get(reply.json, "decision");
    cr_expect_str_eq(json_string_value(json_object_get(decision, "verdict")), "refuse");
    cr_expect_str_eq(json_string_value(json_object_get(decision, "reason")), "wrong customer");
    reply_free(&reply);
    expect(send_decision(id, "refuse", "alice", digest, "again"), 409, "wrong_state");
}

Test(api, approver_of_another_policy_sees_and_decides_nothing)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    char path[64];
    snprintf(path, sizeof path, "/api/holds/%lld", (long long)id);
    expect(http_get(&site, path, "carol"), 404, "not_found");
    expect(send_decision(id, "release", "carol", digest, NULL), 404, "not_found");
    expect(send_decision(id, "refuse", "carol", digest, "no"), 404, "not_found");
    struct reply reply = http_get(&site, "/api/holds", "carol");
    cr_expect_eq(json_array_size(json_object_get(reply.json, "holds")), 0);
    reply_free(&reply);
    expect(http_post(&site, "/api/agents/support-bot/pause", "carol", "{}"), 404, "not_found");
    reply = http_get(&site, "/api/agents", "carol");
    json_t *agents = json_object_get(reply.json, "agents");
    cr_assert_eq(json_array_size(agents), 1);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(agents, 0), "name")),
                     "batch bot/1");
    reply_free(&reply);
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
}

Test(api, list_goes_from_page_to_page)
{
    char digest[SHA256_HEX_SIZE];
    for (int i = 0; i < 5; i++) {
        char statement[32];
        snprintf(statement, sizeof statement, "SELECT %d", i);
        site_hold(&site, statement, 1, digest);
    }
    expect(send_decision(5, "refuse", "alice", digest, "no"), 200, "");
    struct reply reply = http_get(&site, "/api/holds?state=pending&limit=3", "alice");
    cr_expect_eq(json_array_size(json_object_get(reply.json, "holds")), 3);
    cr_expect_eq(json_integer_value(json_object_get(reply.json, "next")), 2);
    reply_free(&reply);
    reply = http_get(&site, "/api/holds?state=pending&limit=3&after=2", "alice");
    cr_expect_eq(json_array_size(json_object_get(reply.json, "holds")), 1);
    cr_expect(json_is_null(json_object_get(reply.json, "next")));
    reply_free(&reply);
    reply = http_get(&site, "/api/holds?agent=support%2Dbot&state=refused", "alice");
    cr_expect_eq(json_array_size(json_object_get(reply.json, "holds")), 1);
    reply_free(&reply);
    reply = http_get(&site, "/api/holds?agent=nobody", "alice");
    cr_expect_eq(json_array_size(json_object_get(reply.json, "holds")), 0);
    reply_free(&reply);
}

Test(api, unknown_parameters_and_numbers_are_errors)
{
    static const char *const wrong[] = {
        "state=",  "state=Pending", "state=none", "limit=0",    "limit=101",
        "limit=x", "after=-1",      "agent=",     "colour=red", "state=%zz"};
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        char path[64];
        snprintf(path, sizeof path, "/api/holds?%s", wrong[i]);
        expect(http_get(&site, path, "alice"), 400, "bad_query");
    }
    static const char *const ids[] = {"0", "-1", "01", "x", "1%20", "99", "9223372036854775808"};
    for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
        char path[64];
        snprintf(path, sizeof path, "/api/holds/%s", ids[i]);
        expect(http_get(&site, path, "alice"), 404, "not_found");
    }
}

Test(api, agents_are_listed_paused_and_resumed)
{
    struct reply reply = http_get(&site, "/api/agents", "alice");
    json_t *agent = json_array_get(json_object_get(reply.json, "agents"), 0);
    cr_expect_str_eq(json_string_value(json_object_get(agent, "name")), "support-bot");
    cr_expect_eq(json_integer_value(json_object_get(agent, "sessions")), 2);
    cr_expect(json_is_false(json_object_get(agent, "paused")));
    cr_expect(json_is_null(json_object_get(agent, "paused_at")));
    reply_free(&reply);
    reply = http_post(&site, "/api/agents/support-bot/pause", "alice", "{}");
    cr_expect_eq(reply.status, 200, "%s", reply.body);
    cr_expect(json_is_true(json_object_get(reply.json, "paused")));
    cr_expect_str_eq(json_string_value(json_object_get(reply.json, "paused_by")), "alice");
    reply_free(&reply);
    expect(http_post(&site, "/api/agents/support-bot/resume", "alice", ""), 200, "");
    cr_expect_not(site.paused);
    expect(http_post(&site, "/api/agents/batch%20bot%2F1/pause", "alice", "{}"), 200, "");
    expect(http_post(&site, "/api/agents/nobody/pause", "alice", "{}"), 404, "not_found");
    expect(http_post(&site, "/api/agents/support-bot/pause", "alice", "{\"x\": 1}"), 400,
           "bad_body");
    cr_expect_not(site.paused);
}

Test(api, health_needs_no_login_and_tells_strangers_no_reason)
{
    expect(http_get(&site, "/healthz", NULL), 200, "");
    expect(http_get(&site, "/readyz", NULL), 200, "");
    site.ready = false;
    struct reply reply = http_get(&site, "/readyz", NULL);
    cr_expect_eq(reply.status, 503);
    cr_expect_null(strstr(reply.body, "upstream"));
    reply_free(&reply);
    expect(http(&site, "HEAD", "/healthz", NULL, NULL, NULL), 200, "");
}

Test(api, store_that_fails_is_said_and_changes_nothing)
{
    char digest[SHA256_HEX_SIZE];
    int64_t id = site_hold(&site, "DELETE FROM shop.orders", 1, digest);
    char path[160];
    snprintf(path, sizeof path, "%s/holds.db", site.folder);
    sqlite3 *other = NULL;
    cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
    sqlite3_busy_timeout(other, 5000);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    expect(send_decision(id, "release", "alice", digest, NULL), 503, "store_unavailable");
    sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(other);
    cr_expect_eq(site_state(&site, id), HOLD_PENDING);
}

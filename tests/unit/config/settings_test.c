/* settings_test.c - whole configuration files: what they become, and every way they are refused. */
#include "proxy/config/settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A complete file whose sections can be replaced one by one. */
static const struct {
    const char *name, *text;
} sections[] = {
    {"listen", "listen: {address: 127.0.0.1:6432}\n"},
    {"review", "review: {address: 127.0.0.1:6480}\n"},
    {"audit", "audit: {file: audit.jsonl}\n"},
    {"holds", "holds: {store: \"sqlite:holds.db\"}\n"},
    {"upstreams", "upstreams: {shop: host=db dbname=shop}\n"},
    {"agents", "agents:\n  bot: {secret: agent-password, upstream: shop, policy: p}\n"},
    {"approvers", "approvers:\n  alice: {secret: approver-password}\n"},
    {"policies", "policies:\n  p:\n    rules:\n      - {allow: [select], on: [shop.orders]}\n"},
};

static struct configuration *load(const char *replaced, const char *with, struct buffer *problems)
{
    static char source[16384];
    size_t size = 0;
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
        bool is_replaced = strcmp(sections[i].name, replaced) == 0;
        size += (size_t)snprintf(source + size, sizeof source - size, "%s",
                                 is_replaced ? with : sections[i].text);
    }
    buffer_init(problems, 1 << 20);
    return configuration_parse(TEXT("etc/wicket.yaml"), (struct text){source, size}, problems);
}

static struct configuration *load_fine(const char *replaced, const char *with)
{
    struct buffer problems;
    struct configuration *configuration = load(replaced, with, &problems);
    cr_assert_not_null(configuration, "%s", buffer_string(&problems));
    buffer_release(&problems);
    return configuration;
}

Test(settings, minimal_file_is_safe_by_default)
{
    struct configuration *configuration = load_fine("", "");
    const struct policy *policy = &configuration->policies[0];
    cr_expect_eq(configuration->login_timeout_us, 15000000);
    cr_expect_eq(configuration->holds_retain_us, 30LL * 86400 * 1000000);
    cr_expect_eq(configuration->workers, 0);
    cr_expect_not(configuration->audit_continue);
    cr_expect_not(configuration->audit_raw);
    cr_expect(text_is(configuration->audit_file, "etc/audit.jsonl"));
    cr_expect(text_is(configuration->holds_store, "sqlite:etc/holds.db"));
    cr_expect_not(policy->introspection);
    cr_expect_not(policy->send_original);
    cr_expect_not(policy->transparent);
    cr_expect(policy->search_path_pinned);
    cr_expect(policy->search_path_count == 1 && text_is(policy->search_path[0], "public"));
    cr_expect_eq(policy->hold_wait_us, 20000000);
    cr_expect_eq(policy->hold_expire_us, 3600LL * 1000000);
    cr_expect_eq(policy->hold_run_within_us, 900LL * 1000000);
    cr_expect_eq(policy->hold_quorum, 1);
    cr_expect_eq(policy->rehearse_max_rows, 10000);
    cr_expect_eq(policy->rehearsal_timeout_us, 5000000);
    cr_expect_eq(policy->rehearsal_lock_timeout_us, 500000);
    cr_expect_eq(policy->copy_max_bytes, 8 * 1024 * 1024);
    cr_expect_eq(policy->sessions_max, 20);
    cr_expect_eq(policy->waiting_max, 2);
    cr_expect(text_is(policy->rules[0].name, "p.1"));
    cr_expect(text_is(policy->rules[0].text, "allow select on shop.orders"));
    const struct agent *agent = configuration_agent(configuration, TEXT("bot"));
    cr_assert_not_null(agent);
    cr_expect_eq(agent->policy, policy);
    cr_expect(text_is(agent->upstream->connection, "host=db dbname=shop"));
    cr_expect(scram_verifier_matches(&agent->verifier, TEXT("agent-password")));
    cr_expect_not(scram_verifier_matches(&agent->verifier, TEXT("approver-password")));
    cr_expect_null(configuration_agent(configuration, TEXT("alice")));
    cr_expect_not_null(configuration_approver(configuration, TEXT("alice")));
    configuration_release(configuration);
}

Test(settings, policy_takes_every_key)
{
    struct configuration *configuration = load_fine(
        "policies",
        "policies:\n"
        "  p:\n"
        "    mode: enforce\n"
        "    search_path: [shop, Public]\n"
        "    introspection: allow\n"
        "    send: original\n"
        "    hidden: [shop.customers.ssn, \"*.*.email\"]\n"
        "    settings: {statement_timeout: 30s, jit: off, app.tenant: {pin: acme}}\n"
        "    hold: {wait: 1m, expire: 2h, run_within: 10m, quorum: 1, rehearse_max_rows: 5,\n"
        "           rehearsal_timeout: 100ms, rehearsal_lock_timeout: 1s, copy_max_bytes: 1MB}\n"
        "    limits: {sessions: unlimited, pending: 3}\n"
        "    rules:\n"
        "      - name: one\n"
        "        allow: [update]\n"
        "        on: [shop.orders]\n"
        "        columns: [status, Notes, '\"Total\"']\n"
        "        where: key\n"
        "        max_rows: 1\n"
        "        max_effect: 7\n"
        "        max_cost: 1.5e3\n"
        "        message: by key\n"
        "      - hold: [update, delete]\n"
        "        on: [shop.orders]\n"
        "        approvers: [alice]\n"
        "        quorum: 1\n"
        "        unrehearsed: hold\n"
        "        rehearse: true\n"
        "      - allow: [maintain]\n"
        "        on: [shop.orders]\n"
        "        max_lock: share_update_exclusive\n");
    const struct policy *policy = &configuration->policies[0];
    cr_expect(policy->introspection && policy->send_original);
    cr_expect(policy->search_path_count == 2 && text_is(policy->search_path[1], "Public"));
    cr_expect_eq(policy->hidden_count, 2);
    cr_expect_eq(policy->setting_count, 3);
    cr_expect(text_is(policy->settings[1].value, "off"));
    cr_expect(policy->settings[2].pinned && text_is(policy->settings[2].value, "acme"));
    cr_expect_eq(policy->hold_wait_us, 60000000);
    cr_expect_eq(policy->rehearsal_timeout_us, 100000);
    cr_expect_eq(policy->copy_max_bytes, 1024 * 1024);
    cr_expect_eq(policy->sessions_max, UNLIMITED);
    cr_expect_eq(policy->pending_max, 3);
    const struct rule *rule = &policy->rules[0];
    cr_expect(text_is(rule->name, "one") && rule->verdict == VERDICT_ALLOW);
    cr_expect_eq(rule->column_count, 3);
    cr_expect(text_is(rule->columns[1], "notes") && text_is(rule->columns[2], "Total"));
    cr_expect(rule->where == WHERE_KEY && rule->max_rows == 1 && rule->max_effect == 7);
    cr_expect_float_eq(rule->max_cost, 1500, 0.001);
    rule = &policy->rules[1];
    cr_expect(text_is(rule->name, "p.2") && rule->verdict == VERDICT_HOLD);
    cr_expect(rule->unrehearsed_hold && rule->rehearse && rule->approver_count == 1);
    cr_expect_eq(rule->max_lock, LOCK_ACCESS_EXCLUSIVE);
    cr_expect_eq(policy->rules[2].max_lock, LOCK_SHARE_UPDATE_EXCLUSIVE);
    configuration_release(configuration);
}

Test(settings, policy_that_allows_everything_keeps_the_servers_path)
{
    struct configuration *configuration = load_fine(
        "policies", "policies: {p: {rules: [{allow: [all], on: ['*']}]}}\n");
    const struct policy *policy = &configuration->policies[0];
    cr_expect(policy->transparent && policy->send_original);
    cr_expect_not(policy->search_path_pinned);
    cr_expect_null(policy->search_path);
    cr_expect_eq(policy->makeable_count, 1);
    configuration_release(configuration);
}

Test(settings, search_path_may_end_with_pg_temp)
{
    struct configuration *configuration =
        load_fine("policies", "policies: {p: {search_path: [shop, pg_temp], rules: []}}\n");
    const struct policy *policy = &configuration->policies[0];
    cr_assert_eq(policy->search_path_count, 2);
    cr_expect(text_is(policy->search_path[1], "pg_temp"));
    configuration_release(configuration);
}

Test(settings, what_a_policy_only_holds_makes_no_view_less_than_an_object)
{
    static const struct {
        const char *rule;
        size_t makeable;
    } cases[] = {
        {"{hold: [all], on: ['*']}", 0},
        {"{hold: [create], on: [dev.*]}", 0},
        {"{allow: [create], on: [dev.*]}", 1},
        {"{allow: [select], on: [dev.*]}", 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char policies[200];
        snprintf(policies, sizeof policies, "policies: {p: {rules: [%s]}}\n", cases[i].rule);
        struct configuration *configuration = load_fine("policies", policies);
        cr_expect_eq(configuration->policies[0].makeable_count, cases[i].makeable, "%s", cases[i].rule);
        configuration_release(configuration);
    }
}

Test(settings, search_path_is_pinned_unless_a_rule_lets_a_set_of_it_run)
{
    static const struct {
        const char *rule;
        bool pinned;
    } cases[] = {
        {"{allow: [set], on: ['setting:search_path']}", false},
        {"{allow: [set], on: ['setting:work_mem']}", true},
        {"{reject: [all], on: ['*']}", true},
        {"{hold: [all], on: ['*']}", true},
        {"{hold: [set], on: ['setting:search_path']}", true},
        {"{hold: [all], on: ['*'], unrehearsed: hold}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char yaml[256];
        snprintf(yaml, sizeof yaml,
                 "policies: {p: {rules: [{allow: [select], on: [shop.*]}, %s]}}\n", cases[i].rule);
        struct configuration *configuration = load_fine("policies", yaml);
        cr_expect_eq(configuration->policies[0].search_path_pinned, cases[i].pinned, "%s", yaml);
        configuration_release(configuration);
    }
}

Test(settings, attributes_are_put_into_pins)
{
    struct buffer problems;
    struct configuration *configuration = load(
        "policies",
        "policies:\n"
        "  p:\n"
        "    settings: {app.tenant: {pin: {attribute: tenant}}, jit: off}\n"
        "    rules: [{allow: [select], on: [shop.orders]}]\n",
        &problems);
    cr_expect_null(configuration);
    cr_expect_not_null(strstr(buffer_string(&problems), "agent bot has no attribute \"tenant\""));
    buffer_release(&problems);
    configuration = configuration_parse(
        TEXT("f"),
        TEXT("listen: {address: localhost:1}\naudit: {file: \"-\"}\nupstreams: {u: x}\n"
             "agents: {a: {secret: s1, upstream: u, policy: p, attributes: {tenant: \"17\"}}}\n"
             "policies:\n  p:\n    settings: {app.tenant: {pin: {attribute: tenant}}, jit: off}\n"
             "    rules: [{allow: [select], on: [shop.orders]}]\n"),
        &problems);
    cr_assert_not_null(configuration, "%s", buffer_string(&problems));
    cr_expect(text_is(configuration->agents[0].setting_values[0], "17"));
    cr_expect(text_is(configuration->agents[0].setting_values[1], "off"));
    cr_expect(text_is(configuration->audit_file, "-"));
    configuration_release(configuration);
}

static const struct {
    const char *section, *text;
    const char *problem; /* a part of what is printed */
} broken[] = {
    {"listen", "", "the file needs the key \"listen\""},
    {"listen", "listen: {}\n", "1:9: error: listen needs the key \"address\""},
    {"listen", "listen: {address: 6432}\n", "1:19: error: \"6432\" is not what is expected here"},
    {"listen", "listen: {adress: localhost:1}\n", "did you mean \"address\"?"},
    {"listen", "listen: {address: 0.0.0.0:6432}\n", "1:19: error: 0.0.0.0:6432 can be reached from"},
    {"listen",
     "listen: {address: [localhost:1, 10.0.0.1:2], tls: {certificate: c, key: k, mode: prefer}}\n",
     "1:33: error: 10.0.0.1:2 can be reached"},
    {"listen", "listen: {address: 10.0.0.1:2, tls: {mode: require}}\n", "tls needs a certificate"},
    {"listen", "listen: {address: localhost:1, login_timeout: 15}\n", "a duration"},
    {"listen", "listen: {address: localhost:1, login_timeout: 0s}\n", "out of range"},
    {"listen", "listen: localhost:1\n", "expected here: a map"},
    {"review", "review: {address: 0.0.0.0:80}\n", "can be reached from other machines"},
    {"review", "review: {address: localhost:1, url: example.com}\n", "begins with http"},
    {"review", "review: {address: localhost:1, trusted_header: {name: x}}\n", "from"},
    {"review", "review: {address: localhost:1, trusted_header: {name: Cookie, from: 10.0.0.5}}\n",
     "the name of a header"},
    {"review", "review: {address: localhost:1, trusted_header: {name: X-User, from: 10.0.0.5/8}}\n",
     "the proxy's address or range"},
    {"review", "review: {address: localhost:1, trusted_header: {name: X-User, from: localhost}}\n",
     "the proxy's address or range"},
    {"audit", "audit: {file: a, on_failure: ignore}\n", "reject or continue"},
    {"audit", "audit: {file: }\n", "found nothing, expected a path"},
    {"holds", "holds: {store: \"postgresql://x\"}\n", "is not built yet"},
    {"holds", "holds: {store: \"mysql:x\"}\n", "expected sqlite:PATH"},
    {"holds", "holds: {store: \"sqlite:x\", retain: 30}\n", "a duration"},
    {"upstreams", "upstreams: {shop: }\n", "a libpq connection string"},
    {"upstreams", "upstreams: {shop: {env: PGWICKET_NO_SUCH_VARIABLE}}\n",
     "the environment has no variable PGWICKET_NO_SUCH_VARIABLE"},
    {"upstreams", "upstreams: {shop: {file: no/such/file}}\n", "cannot open etc/no/such/file"},
    {"upstreams", "upstreams: {shop: {connection: x, accept_risks: [sudo]}}\n", "superuser, "},
    {"agents", "agents:\n  bot: {upstream: shop, policy: p}\n", "an agent needs the key \"secret\""},
    {"agents", "agents:\n  bot: {secret: \"\", upstream: shop, policy: p}\n", "secret is empty"},
    {"agents", "agents:\n  bot: {secret: x, upstream: shopp, policy: p}\n",
     "there is no upstream \"shopp\""},
    {"agents", "agents:\n  bot: {secret: x, upstream: shop, policy: q}\n", "there is no policy \"q\""},
    {"agents", "agents:\n  alice: {secret: x, upstream: shop, policy: p}\n", "is an approver, too"},
    {"agents", "agents:\n  bot: {secret: approver-password, upstream: shop, policy: p}\n",
     "agent bot has the secret of approver alice"},
    {"agents", "agents:\n  bot: {secret: SCRAM-SHA-256$x, upstream: shop, policy: p}\n",
     "begins like a SCRAM-SHA-256 verifier"},
    {"agents", "agents:\n  bot: {certificate_cn: x, secret: y, upstream: shop, policy: p}\n",
     "certificate_cn is not built yet"},
    {"agents", "agents:\n  \"b t\": {secret: y, upstream: shop, policy: p}\n", "a name has 1 to 63"},
    {"agents", "agents:\n  bot: {secret: a, upstream: shop, policy: p}\n  bot: {secret: a}\n",
     "stands twice"},
    {"approvers", "approvers:\n  alice: {secret: x, policies: [q]}\n", "there is no policy \"q\""},
    {"approvers", "approvers:\n  alice: {secret: x, policies: []}\n", "an empty list of policies"},
    {"approvers", "workers: many\n", "auto or an integer"},
    {"approvers", "workers: 0\n", "out of range"},
    {"approvers", "sessions: 5\n", "unknown key \"sessions\""},
};

Test(settings, sections_that_are_wrong_say_where_and_why)
{
    for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
        struct buffer problems;
        struct configuration *configuration = load(broken[i].section, broken[i].text, &problems);
        cr_expect_null(configuration, "case %zu: %s", i, broken[i].text);
        cr_expect_not_null(strstr(buffer_string(&problems), broken[i].problem), "case %zu: %s", i,
                           buffer_string(&problems));
        buffer_release(&problems);
        configuration_release(configuration);
    }
}

/* Each stands under `policies: p:`. */
static const struct {
    const char *keys;
    const char *problem;
} policies[] = {
    {"mode: enforce", "a policy needs the key \"rules\""},
    {"mode: observe\n    rules: []", "mode: observe is not built yet"},
    {"rules: []\n    introspection: yes", "reject or allow"},
    {"rules: []\n    search_path: shop", "a list of schemas"},
    {"rules: []\n    search_path: [$user]", "cannot be on the path"},
    {"rules: []\n    search_path: [a, a]", "stands twice"},
    {"rules: []\n    search_path: [pg_temp, a]", "only be at the end"},
    {"rules: []\n    search_path: [a, pg_temp, b]", "only be at the end"},
    {"rules: []\n    search_path: [pg_temp]", "only be at the end"},
    {"rules: []\n    hidden: [customers.ssn]", "a column is written schema.table.column"},
    {"rules: []\n    settings: {search_path: shop}", "is a key of the policy"},
    {"rules: []\n    settings: {Client_Encoding: UTF8}", "always pinned"},
    {"rules: []\n    settings: {statement_timeout: 5m}", "a time-out"},
    {"rules: []\n    settings: {app.x: [1]}", "{pin: {attribute: name}}"},
    {"rules: []\n    settings: {app.x: {pim: 1}}", "did you mean \"pin\"?"},
    {"rules: []\n    settings: {jit: on, JIT: off}", "stands twice"},
    {"rules: []\n    hold: {quorum: 0}", "out of range"},
    {"rules: []\n    hold: {copy_max_bytes: 8 MB}", "a size"},
    {"rules: []\n    limits: {sessions: \"20\"}", "an integer or unlimited"},
    {"rules: [{on: [shop.a]}]", "exactly one of the keys allow, hold and reject"},
    {"rules: [{allow: [select]}]", "a rule needs the key \"on\""},
    {"rules: [{allow: [select], hold: [select], on: [shop.a]}]", "exactly one of allow, hold"},
    {"rules: [{allow: [], on: [shop.a]}]", "at least one verb"},
    {"rules: [{allow: select, on: [shop.a]}]", "a list of verbs"},
    {"rules: [{allow: [selct], on: [shop.a]}]", "select, insert"},
    {"rules: [{allow: [execute], on: [refund]}]", "there is no template \"refund\""},
    {"rules: [{allow: [select], on: []}]", "a list of objects"},
    {"rules: [{allow: [select], on: [orders]}]", "it can never match"},
    {"rules: [{allow: [select], on: [a.b.c]}]", "an object is written schema.name"},
    {"rules: [{allow: [select, update], on: [shop.a], where: key}]", "split the rule"},
    {"rules: [{allow: [delete], on: [shop.a], where: keys}]", "any, required or key"},
    {"rules: [{allow: [delete], on: [shop.a], columns: [id]}]", "does not have the condition"},
    {"rules: [{allow: [select], on: [shop.a], columns: ['a*']}]", "the bare name of a column"},
    {"rules: [{allow: [select], on: [shop.a], columns: [shop.a.id]}]", "the bare name of a column"},
    {"rules: [{allow: [select], on: [shop.a], max_rows: 0}]", "too small"},
    {"rules: [{allow: [select], on: [shop.a], max_rows: 1.5}]", "an integer"},
    {"rules: [{allow: [select], on: [shop.a], max_cost: -1}]", "a number, not below 0"},
    {"rules: [{allow: [select], on: [shop.a], max_cost: inf}]", "a number, not below 0"},
    {"rules: [{allow: [select], on: [shop.a], max_effect: 1}]", "select does not have the condition max_effect"},
    {"rules: [{allow: [delete], on: [shop.a], max_effect: 0}]", "too small"},
    {"rules: [{allow: [truncate], on: [shop.a], max_effect: 9}]", "write it into a hold rule"},
    {"rules: [{allow: [lock], on: [shop.a], max_lock: heavy}]", "access_exclusive, exclusive"},
    {"rules: [{allow: [select], on: [shop.a], quorum: 2}]", "only a hold rule has the key"},
    {"rules: [{hold: [delete], on: [shop.a], quorum: 2}]",
     "this rule holds for 2 approvers, but only 1 may decide it"},
    {"rules: [{hold: [delete], on: [shop.a], approvers: [bob]}]", "there is no approver \"bob\""},
    {"rules: [{hold: [delete], on: [shop.a], unrehearsed: allow}]", "\"allow\" is not what"},
    {"rules: [{hold: [delete], on: [shop.a], rehearse: yes}]", "true or false"},
    {"rules: [{allow: [all], on: [shop.a], max_rows: 1}]", "all takes no conditions"},
    {"rules: [{allow: [select], on: [shop.a]}, {allow: [select], on: [shop.a]}]",
     "this rule can never match: p.1"},
    {"rules: [{name: a, allow: [select], on: [shop.a]}, {name: a, allow: [select], on: [shop.b]}]",
     "another rule has the name \"a\""},
    {"rules: [{name: a.1, allow: [select], on: [shop.a]}]", "a name without a dot"},
    {"rules: {}", "a list of rules"},
    {"rules: [1]", "a map of keys and values"},
    {"rules: [{allow: [select], on: [shop.a], message: ''}]", "is not what is expected here"},
};

Test(settings, policies_that_are_wrong_say_where_and_why)
{
    for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
        char text[1024];
        struct buffer problems;
        snprintf(text, sizeof text, "policies:\n  p:\n    %s\n", policies[i].keys);
        struct configuration *configuration = load("policies", text, &problems);
        cr_expect_null(configuration, "case %zu: %s", i, text);
        cr_expect_not_null(strstr(buffer_string(&problems), policies[i].problem), "case %zu: %s", i,
                           buffer_string(&problems));
        buffer_release(&problems);
        configuration_release(configuration);
    }
}

Test(settings, rule_that_holds_needs_people_and_a_store)
{
    static const char *const without[] = {"review", "holds", "approvers"};
    static const char *const problem[] = {"needs the section review", "needs the section holds",
                                          "only 0 may decide it"};
    for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
        char source[4096];
        size_t size = 0;
        for (size_t j = 0; j < ARRAY_SIZE(sections) - 1; j++)
            if (strcmp(sections[j].name, without[i]) != 0)
                size += (size_t)snprintf(source + size, sizeof source - size, "%s",
                                         sections[j].text);
        size += (size_t)snprintf(source + size, sizeof source - size,
                                 "policies: {p: {rules: [{hold: [delete], on: [shop.a]}]}}\n");
        struct buffer problems;
        buffer_init(&problems, 65536);
        cr_expect_null(configuration_parse(TEXT("f"), (struct text){source, size}, &problems));
        cr_expect_not_null(strstr(buffer_string(&problems), problem[i]), "%s",
                           buffer_string(&problems));
        buffer_release(&problems);
    }
}

Test(settings, all_problems_are_told_at_once)
{
    struct buffer problems;
    cr_expect_null(load("policies",
                        "policies:\n  p:\n    serch_path: [a]\n    rules:\n"
                        "      - {allow: [selct], on: [shop.a]}\n      - {on: [a.b.c]}\n",
                        &problems));
    const char *text = buffer_string(&problems);
    static const char *const places[] = {"wicket.yaml:12:5: ", "wicket.yaml:14:18: ",
                                         "wicket.yaml:15:15: ",
                                         "wicket.yaml:15:9: error: a rule needs exactly one"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++)
        cr_expect_not_null(strstr(text, places[i]), "%s missing in %s", places[i], text);
    buffer_release(&problems);
}

Test(settings, warning_does_not_stop_the_file)
{
    struct buffer problems;
    struct configuration *configuration =
        load("policies",
             "policies: {p: {settings: {transaction_timeout: 30s},"
             " rules: [{allow: [select], on: [shop.a]}]}}\n",
             &problems);
    cr_expect_not_null(configuration);
    cr_expect_not_null(strstr(buffer_string(&problems), "warning: PostgreSQL"));
    configuration_release(configuration);
    buffer_release(&problems);
}

Test(settings, secrets_come_from_files_and_environment)
{
    char path[] = "/tmp/pgwicket-config-XXXXXX", text[512];
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, "from-a-file\n", 12), 12);
    close(file);
    setenv("PGWICKET_TEST_CONNECTION", "host=env", 1);
    snprintf(text, sizeof text, "agents:\n  bot: {secret: {file: %s}, upstream: shop, policy: p}\n",
             path);
    struct configuration *configuration = load_fine("agents", text);
    cr_expect(scram_verifier_matches(&configuration->agents[0].verifier, TEXT("from-a-file")));
    configuration_release(configuration);
    configuration = load_fine("upstreams",
                              "upstreams: {shop: {connection: {env: PGWICKET_TEST_CONNECTION},"
                              " accept_risks: [superuser, file_access]}}\n");
    cr_expect(text_is(configuration->upstreams[0].connection, "host=env"));
    cr_expect_eq(configuration->upstreams[0].accept_risks, RISK_SUPERUSER | RISK_FILE_ACCESS);
    configuration_release(configuration);
    unlink(path);
}

Test(settings, file_that_cannot_be_read_is_a_problem)
{
    struct buffer problems;
    buffer_init(&problems, 4096);
    cr_expect_null(configuration_load("/no/such/file.yaml", &problems));
    cr_expect_not_null(strstr(buffer_string(&problems), "/no/such/file.yaml: error: "));
    buffer_clear(&problems);
    cr_expect_null(configuration_load("/", &problems));
    cr_expect_gt(problems.size, 0);
    buffer_release(&problems);
}

Test(settings, empty_file_lists_what_is_needed)
{
    struct buffer problems;
    buffer_init(&problems, 4096);
    cr_expect_null(configuration_parse(TEXT("f"), TEXT(""), &problems));
    cr_expect_not_null(strstr(buffer_string(&problems), "found nothing"), "%s",
                       buffer_string(&problems));
    buffer_release(&problems);
}

Test(settings, configuration_lives_until_its_last_reference)
{
    struct configuration *configuration = load_fine("", "");
    cr_expect_eq(configuration_retain(configuration), configuration);
    configuration_release(configuration);
    cr_expect(text_is(configuration->agents[0].name, "bot"));
    configuration_release(configuration);
    configuration_release(NULL);
}

/* cases_test.c - a policy's own tests: what is read, and what is refused with its place. */
#include "proxy/config/cases.h"

#include <criterion/criterion.h>
#include <string.h>

static const char configuration_source[] =
    "listen: {address: '127.0.0.1:6432'}\n"
    "audit: {file: '-'}\n"
    "upstreams: {shop: 'host=db'}\n"
    "agents: {reader: {secret: a-secret, upstream: shop, policy: reading}}\n"
    "policies:\n"
    "  reading:\n"
    "    rules: [{name: all-orders, allow: [select], on: [shop.orders]}]\n";

static struct configuration *configuration;
static struct policy_cases cases;
static struct buffer problems;

static void set_up(void)
{
    buffer_init(&problems, 65536);
    configuration = configuration_parse(TEXT("c.yaml"), text_from(configuration_source), &problems);
    cr_assert_not_null(configuration, "%s", buffer_string(&problems));
}

static void tear_down(void)
{
    configuration_release(configuration);
    buffer_release(&problems);
}

static bool parse(const char *source)
{
    return cases_parse(TEXT("t.yaml"), text_from(source), configuration, &cases, &problems);
}

TestSuite(cases, .init = set_up, .fini = tear_down);

Test(cases, are_read_with_everything_they_say)
{
    cr_assert(parse("- name: one\n"
                    "  agent: reader\n"
                    "  setup: [BEGIN, BEGIN]\n"
                    "  sql: SELECT $1, $2, $3, $4\n"
                    "  params: [42, 'a b', null, ['x', null, 'y\"\\z']]\n"
                    "  expect: reject\n"
                    "  rule: all-orders\n"
                    "- {agent: reader, sql: SELECT 1, expect: hold}\n"),
              "%s", buffer_string(&problems));
    cr_assert_eq(cases.count, 2);
    const struct policy_case *one = &cases.items[0];
    cr_assert(text_is(one->name, "one") && text_is(one->agent->name, "reader"));
    cr_assert(one->setup_count == 2 && text_is(one->setup[1], "BEGIN"));
    cr_assert(one->expect == VERDICT_REJECT && text_is(one->rule, "all-orders"));
    cr_assert(one->has_params && one->param_count == 4);
    cr_assert(text_is(one->params[0].text, "42") && text_is(one->params[1].text, "a b"));
    cr_assert(one->params[2].is_null && !one->params[1].is_null);
    cr_assert(text_is(one->params[3].text, "{\"x\",NULL,\"y\\\"\\\\z\"}"));
    cr_assert(cases.items[1].expect == VERDICT_HOLD && !cases.items[1].has_params);
    cr_assert(cases.items[1].place.line == 8 && cases.items[1].place.column == 3);
    cases_release(&cases);
}

Test(cases, tell_a_quoted_word_from_nothing)
{
    cr_assert(parse("- {agent: reader, sql: SELECT $1, expect: allow, params: ['null']}\n"));
    cr_assert(!cases.items[0].params[0].is_null);
    cases_release(&cases);
}

static const struct {
    const char *source;
    const char *begins; /* the first problem */
} refused[] = {
    {"", "t.yaml:1:1: error: found nothing, expected a list of cases"},
    {"[]\n", "t.yaml:1:1: error: there is no case in the file"},
    {"a: b\n", "t.yaml:1:1: error: found a map, expected a list of cases"},
    {"- 7\n", "t.yaml:1:3: error: \"7\" is not what is expected here: a map"},
    {"- {agent: reader, sql: SELECT 1}\n", "t.yaml:1:3: error: a case needs the key \"expect\""},
    {"- {agent: reader, expect: allow}\n", "t.yaml:1:3: error: a case needs the key \"sql\""},
    {"- {sql: SELECT 1, expect: allow}\n", "t.yaml:1:3: error: a case needs the key \"agent\""},
    {"- {agent: raeder, sql: SELECT 1, expect: allow}\n",
     "t.yaml:1:11: error: c.yaml has no agent \"raeder\"; did you mean \"reader\"?"},
    {"- {agent: reader, sql: SELECT 1, expect: pass}\n",
     "t.yaml:1:42: error: \"pass\" is not what is expected here: reject, hold or allow"},
    {"- {agent: reader, sql: SELECT 1, expect: allow, rule: all-order}\n",
     "t.yaml:1:55: error: policy reading has no rule \"all-order\"; did you mean \"all-orders\"?"},
    {"- {agent: reader, sql: SELECT 1, expcet: allow}\n",
     "t.yaml:1:3: error: a case needs the key \"expect\""},
    {"- {agent: reader, sql: SELECT 1, expect: allow, setup: BEGIN}\n",
     "t.yaml:1:56: error: \"BEGIN\" is not what is expected here: a list of messages"},
    {"- {agent: reader, sql: SELECT 1, expect: allow, setup: [[BEGIN]]}\n",
     "t.yaml:1:57: error: found a list, expected a message"},
    {"- {agent: reader, sql: SELECT 1, expect: allow, params: {a: b}}\n",
     "t.yaml:1:57: error: found a map, expected a list of the values"},
    {"- {agent: reader, sql: SELECT 1, expect: allow, params: [{a: b}]}\n",
     "t.yaml:1:58: error: found a map, expected a number"},
    {"- {agent: reader, sql: SELECT 1, expect: allow, params: [[[1]]]}\n",
     "t.yaml:1:59: error: found a list, expected a number"},
    {"- {agent: reader, sql: \"a\\0b\", expect: allow}\n", "t.yaml:1:24: error: "},
    {"- {agent: reader, sql: '', expect: allow}\n", "t.yaml:1:24: error: "},
    {"- {agent: reader, sql: SELECT 1, expect: allow}\n- 7\n", "t.yaml:2:3: error: "},
};

Test(cases, that_are_wrong_are_refused_with_their_place)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        buffer_clear(&problems);
        cr_assert(!parse(refused[i].source), "%s", refused[i].source);
        cr_assert(strncmp(buffer_string(&problems), refused[i].begins, strlen(refused[i].begins)) ==
                      0,
                  "%s: %s", refused[i].source, buffer_string(&problems));
    }
}

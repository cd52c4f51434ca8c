/*
 * test.c - `pgwicket test`: a policy's own tests. Judges each case of a file as a session would,
 * runs nothing, and tells what differs from what the case expects.
 */
#include "proxy/commands/commands.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/commands/arguments.h"
#include "proxy/commands/judge_case.h"
#include "proxy/commands/snapshot.h"
#include "proxy/config/cases.h"
#include "proxy/session/template_call.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PROBLEMS_BYTES_MAX = 256 * 1024,
    REPORT_BYTES_MAX = 32 * LIMIT_STATEMENT_BYTES,
    SHOWN_SQL_BYTES = 400,
    NAMED_BY_SQL_BYTES = 60,
};

static const char usage[] =
    "usage: pgwicket test FILE CASES.yaml [--offline] [--json]\n\n"
    "Judges statements and compares with the verdicts that they should get; runs none of them.\n"
    "CASES.yaml is a list of cases:\n\n"
    "  - name: one order may be closed        # optional\n"
    "    agent: support-bot\n"
    "    setup: [PREPARE p AS SELECT 1]       # optional: messages before it\n"
    "    sql: UPDATE shop.orders SET status = 'closed' WHERE id = $1\n"
    "    params: [42]                         # optional: the values of $1, $2, ...\n"
    "    expect: allow                        # allow, hold or reject\n"
    "    rule: fix-one-order                  # optional: the rule that decides it\n\n"
    "  --offline  do not read the catalog from the upstreams; stricter\n"
    "  --json     a line of JSON for each case instead of text for those that fail\n\n"
    "exit code: 0 all cases are as expected, 1 some are not, or a file is wrong, 2 usage,\n"
    "3 an upstream cannot be reached\n";

struct run {
    const struct configuration *configuration;
    struct catalog **catalogs; /* one for each upstream; NULL where none is needed, or offline */
    const char *path;
    bool json;
    size_t failed;
};

/* What became of one case. */
struct result {
    const struct policy_case *policy_case;
    struct judge_context context;
    struct answer answer;
    bool verdict_differs, rule_differs;
};

/* --- judging -------------------------------------------------------------------------------------
 */

static const struct catalog *catalog_of(const struct run *run, const struct agent *agent)
{
    return run->catalogs[agent->upstream - run->configuration->upstreams];
}

static bool load_catalogs(struct run *run, const struct policy_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        const struct upstream_settings *upstream = cases->items[i].agent->upstream;
        struct catalog **catalog = &run->catalogs[upstream - run->configuration->upstreams];
        if (*catalog == NULL && (*catalog = snapshot_of(upstream)) == NULL)
            return false;
    }
    return true;
}

/* The highest $n of the text. */
static size_t parameters_of(const struct judgement *judgement)
{
    size_t most = 0;
    if (judgement->call != NULL)
        return judgement->call->client_count;
    for (size_t i = 0; i < judgement->analysis.statement_count; i++)
        if (judgement->analysis.statements[i].shape.parameter_max > most)
            most = judgement->analysis.statements[i].shape.parameter_max;
    return most;
}

/* A template checks its values when they are bound. */
static void bind_template(struct arena *arena, const struct policy_case *policy_case,
                          struct answer *answer)
{
    struct buffer values, bound;
    struct error_text error;
    buffer_init(&values, LIMIT_BIND_BYTES);
    buffer_init(&bound, LIMIT_BIND_BYTES);
    for (size_t i = 0; i < policy_case->param_count; i++) {
        const struct case_value *value = &policy_case->params[i];
        buffer_append_u32(&values, value->is_null ? UINT32_MAX : (uint32_t)value->text.size);
        if (!value->is_null)
            buffer_append_text(&values, value->text);
    }
    const struct bind_message message = {.value_count = (uint16_t)policy_case->param_count,
                                         .values = buffer_text(&values)};
    if (values.overflow)
        answer_refusal("54000", "the values are too long", answer);
    else if (!template_call_bind(arena, answer->judgement.call, &message, &bound, &error))
        answer_reject(answer, &error);
    buffer_release(&values);
    buffer_release(&bound);
}

/* As a session would refuse the Bind; without `params` nothing is bound. */
static void check_params(struct arena *arena, const struct policy_case *policy_case,
                         struct answer *answer)
{
    size_t needed = parameters_of(&answer->judgement);
    if (!policy_case->has_params || answer->verdict == VERDICT_REJECT)
        return;
    if (policy_case->param_count == needed) {
        if (answer->judgement.call != NULL)
            bind_template(arena, policy_case, answer);
        return;
    }
    answer_refusal("08P01",
                   arena_printf(arena, "the statement has %zu parameter%s, params has %zu", needed,
                                needed == 1 ? "" : "s", policy_case->param_count)
                       .bytes,
                   answer);
}

static struct result judge_policy_case(struct arena *arena, const struct run *run,
                                       const struct policy_case *policy_case)
{
    const struct agent *agent = policy_case->agent;
    const struct question question = {.sql = policy_case->sql,
                                      .setup = policy_case->setup,
                                      .setup_count = policy_case->setup_count};
    struct result result = {
        .policy_case = policy_case,
        .context = {.policy = agent->policy,
                    .catalog = catalog_of(run, agent),
                    .setting_values = agent->setting_values,
                    .attributes = agent->attributes,
                    .attribute_count = agent->attribute_count},
    };
    answer_question(arena, &result.context, &question, &result.answer);
    check_params(arena, policy_case, &result.answer);
    result.verdict_differs = result.answer.verdict != policy_case->expect;
    result.rule_differs =
        policy_case->rule.size > 0 && !text_equal(policy_case->rule, result.answer.rule);
    return result;
}

static bool is_as_expected(const struct result *result)
{
    return !result->verdict_differs && !result->rule_differs;
}

/* --- telling -------------------------------------------------------------------------------------
 */

static struct text name_of(struct arena *arena, const struct policy_case *policy_case)
{
    if (policy_case->name.size > 0)
        return policy_case->name;
    struct text sql = text_cut(policy_case->sql, NAMED_BY_SQL_BYTES);
    return arena_printf(arena, "%.*s%s", TEXT_ARGS(sql),
                        sql.size < policy_case->sql.size ? "…" : "");
}

/* On one line; nothing in it acts on a terminal. */
static void append_line(struct buffer *out, const char *label, struct text value)
{
    if (value.size == 0)
        return;
    buffer_printf(out, "    %-8s ", label);
    for (size_t i = 0; i < value.size; i++)
        buffer_append_byte(out,
                           (unsigned char)value.bytes[i] < ' ' ? ' ' : (uint8_t)value.bytes[i]);
    buffer_append_byte(out, '\n');
}

static void append_verdict(struct buffer *out, const char *label, enum verdict verdict,
                           const char *code, struct text rule)
{
    buffer_printf(out, "  %-10s %s", label, verdict_name(verdict));
    if (code != NULL)
        buffer_printf(out, " (%s)", code);
    if (rule.size > 0)
        buffer_printf(out, ", rule %.*s", TEXT_ARGS(rule));
    buffer_append_byte(out, '\n');
}

static void tell_difference(struct arena *arena, const struct run *run, const struct result *result,
                            struct buffer *out)
{
    const struct policy_case *policy_case = result->policy_case;
    const struct answer *answer = &result->answer;
    struct text name = name_of(arena, policy_case);
    buffer_printf(out, "%s:%zu:%zu: ", run->path, policy_case->place.line,
                  policy_case->place.column);
    for (size_t i = 0; i < name.size; i++)
        buffer_append_byte(out, (unsigned char)name.bytes[i] < ' ' ? ' ' : (uint8_t)name.bytes[i]);
    buffer_append_byte(out, '\n');
    append_line(out, "agent", policy_case->agent->name);
    for (size_t i = 0; i < policy_case->setup_count; i++)
        append_line(out, "setup", text_cut(policy_case->setup[i], SHOWN_SQL_BYTES));
    append_line(out, "sql", text_cut(policy_case->sql, SHOWN_SQL_BYTES));
    append_verdict(out, "- expected", policy_case->expect, NULL, policy_case->rule);
    append_verdict(out, "+ got", answer->verdict, answer_code(answer), answer->rule);
    append_line(out, "reason", answer->reason);
    if (answer->verdict == VERDICT_REJECT) {
        if (!text_equal(answer->reason, answer->error.message))
            append_line(out, "message", answer->error.message);
        append_line(out, "detail", answer->error.detail);
        append_line(out, "hint", answer->error.hint);
    }
}

static void tell_json(struct arena *arena, const struct run *run, const struct result *result,
                      struct buffer *out)
{
    const struct policy_case *policy_case = result->policy_case;
    struct json_out json = json_out_to(out);
    json_open(&json, '{');
    json_key_text(&json, "name", name_of(arena, policy_case));
    json_key_string(&json, "file", run->path);
    json_key_int(&json, "line", (int64_t)policy_case->place.line);
    json_key_text(&json, "agent", policy_case->agent->name);
    json_key_text(&json, "sql", policy_case->sql);
    json_key_bool(&json, "passed", is_as_expected(result));
    json_key_string(&json, "expect", verdict_name(policy_case->expect));
    if (policy_case->rule.size > 0)
        json_key_text(&json, "expect_rule", policy_case->rule);
    judge_write_answer(arena, &result->context, &result->answer, false, &json);
    json_close(&json, '}');
    buffer_append_byte(out, '\n');
}

static void run_case(struct arena *arena, struct run *run, const struct policy_case *policy_case)
{
    struct result result = judge_policy_case(arena, run, policy_case);
    struct buffer out;
    buffer_init(&out, REPORT_BYTES_MAX);
    run->failed += !is_as_expected(&result);
    if (run->json)
        tell_json(arena, run, &result, &out);
    else if (!is_as_expected(&result))
        tell_difference(arena, run, &result, &out);
    fputs(buffer_string(&out), stdout);
    buffer_release(&out);
}

static int run_cases(struct run *run, const struct policy_cases *cases)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < cases->count; i++) {
        run_case(&arena, run, &cases->items[i]);
        arena_reset(&arena);
    }
    arena_release(&arena);
    if (!run->json)
        printf("%zu passed, %zu failed\n", cases->count - run->failed, run->failed);
    return run->failed == 0 ? EXIT_FINE : EXIT_NO;
}

/* --- the command
 * ---------------------------------------------------------------------------------- */

static int test_policies(const struct configuration *configuration,
                         const struct policy_cases *cases, const char *path, bool offline,
                         bool json)
{
    struct run run = {.configuration = configuration, .path = path, .json = json};
    run.catalogs = memory_allocate_zeroed(configuration->upstream_count, sizeof *run.catalogs);
    bool ready = offline || load_catalogs(&run, cases);
    int code = ready ? run_cases(&run, cases) : EXIT_UNREACHABLE;
    for (size_t i = 0; i < configuration->upstream_count; i++)
        catalog_release(run.catalogs[i]);
    free(run.catalogs);
    return code;
}

static int test_files(const char *const *paths, bool offline, bool json)
{
    struct buffer problems;
    struct policy_cases cases;
    int code = EXIT_NO;
    buffer_init(&problems, PROBLEMS_BYTES_MAX);
    struct configuration *configuration = configuration_load(paths[0], &problems);
    bool ready = configuration != NULL && cases_load(paths[1], configuration, &cases, &problems);
    fputs(buffer_string(&problems), stderr);
    if (ready) {
        code = test_policies(configuration, &cases, paths[1], offline, json);
        cases_release(&cases);
    }
    configuration_release(configuration);
    buffer_release(&problems);
    return code;
}

int command_test(int argc, char **argv)
{
    const char *paths[2];
    bool offline = false, json = false;
    const struct option_of options[] = {
        {"--offline", NULL, &offline},
        {"--json", NULL, &json},
    };
    const struct arguments arguments = {usage, options, ARRAY_SIZE(options), paths,
                                        ARRAY_SIZE(paths)};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    return test_files(paths, offline, json);
}

/*
 * judge.c - `pgwicket judge`: reads statements from standard input and says what would become of
 * them.
 *
 * It runs none of them. With a catalog it is what a session would say; offline it is stricter.
 */
#include "proxy/commands/commands.h"

#include "proxy/base/limits.h"
#include "proxy/commands/arguments.h"
#include "proxy/commands/judge_case.h"
#include "proxy/commands/lines.h"
#include "proxy/commands/snapshot.h"
#include "proxy/config/settings.h"

#include <stdio.h>

enum {
    LINE_BYTES_MAX = 8 * LIMIT_STATEMENT_BYTES, /* a text and its setup, escaped */
    ANSWER_BYTES_MAX = 32 * LIMIT_STATEMENT_BYTES,
    PROBLEMS_BYTES_MAX = 256 * 1024,
};

struct options {
    const char *file;
    const char *agent;
    bool offline;
    bool explain;
};

static const char usage[] =
    "usage: pgwicket judge FILE --agent NAME [--offline] [--explain]\n\n"
    "Reads one client message a line from standard input, as JSON\n"
    "  {\"id\": ..., \"sql\": ... | \"sql_b64\": ..., \"setup\": [messages before it], \"types\": "
    "[types]}\n"
    "or as plain SQL, and prints for each a line of JSON with the verdict. Runs nothing. `types` "
    "are the\n"
    "types of $1, $2, ..., by oid or name.\n\n"
    "  --agent NAME  whose policy and upstream are used\n"
    "  --offline     do not read the catalog from the upstream; stricter\n"
    "  --explain     for each action tell each rule and the condition that failed\n\n"
    "exit code: 0 all lines were answered, 1 the configuration is wrong, 2 usage,\n"
    "3 the upstream cannot be reached\n";

static void answer_line(struct arena *arena, const struct judge_context *context, struct text line,
                        bool too_long, bool explain, struct buffer *out)
{
    if (!too_long)
        judge_case(arena, context, line, explain, out);
    if (too_long || out->overflow) {
        buffer_clear(out);
        buffer_append_string(out, "{\"verdict\":\"reject\",\"rule\":null,\"code\":\"54000\","
                                  "\"reason\":\"the line is too long\"}\n");
    }
}

static void answer_lines(const struct judge_context *context, bool explain)
{
    struct arena arena;
    struct lines lines;
    struct text line;
    struct buffer out;
    bool too_long;
    arena_init(&arena);
    lines_init(&lines, LINE_BYTES_MAX);
    buffer_init(&out, ANSWER_BYTES_MAX);
    while (lines_next(&lines, &line, &too_long)) {
        if (line.size > 0 || too_long)
            answer_line(&arena, context, line, too_long, explain, &out);
        fputs(buffer_string(&out), stdout);
        buffer_clear(&out);
        arena_reset(&arena);
    }
    fflush(stdout);
    buffer_release(&out);
    lines_release(&lines);
    arena_release(&arena);
}

static int judge_as(const struct agent *agent, const struct options *options)
{
    struct catalog *catalog = options->offline ? NULL : snapshot_of(agent->upstream);
    if (catalog == NULL && !options->offline)
        return EXIT_UNREACHABLE;
    const struct judge_context context = {.policy = agent->policy,
                                          .catalog = catalog,
                                          .setting_values = agent->setting_values,
                                          .attributes = agent->attributes,
                                          .attribute_count = agent->attribute_count};
    answer_lines(&context, options->explain);
    catalog_release(catalog);
    return EXIT_FINE;
}

static int judge(const struct options *options)
{
    struct buffer problems;
    buffer_init(&problems, PROBLEMS_BYTES_MAX);
    struct configuration *configuration = configuration_load(options->file, &problems);
    fputs(buffer_string(&problems), stderr);
    buffer_release(&problems);
    if (configuration == NULL)
        return EXIT_NO;
    const struct agent *agent = configuration_agent(configuration, text_from(options->agent));
    if (agent == NULL)
        fprintf(stderr, "pgwicket: %s has no agent \"%s\"\n", options->file, options->agent);
    int code = agent != NULL ? judge_as(agent, options) : EXIT_NO;
    configuration_release(configuration);
    return code;
}

int command_judge(int argc, char **argv)
{
    struct options options = {0};
    const struct option_of table[] = {
        {"--agent", &options.agent, NULL},
        {"--offline", NULL, &options.offline},
        {"--explain", NULL, &options.explain},
    };
    const struct arguments arguments = {usage, table, ARRAY_SIZE(table), &options.file, 1};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    if (options.agent == NULL)
        return arguments_wrong(usage, "--agent is missing", NULL);
    return judge(&options);
}

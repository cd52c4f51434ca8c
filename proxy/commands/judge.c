/*
 * judge.c - `pgwicket judge`: reads statements from standard input and says what would become of them.
 *
 * It runs none of them. With a catalog it is what a session would say; offline it is stricter.
 */
#include "proxy/commands/commands.h"

#include "proxy/base/limits.h"
#include "proxy/commands/judge_case.h"
#include "proxy/commands/snapshot.h"
#include "proxy/config/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void print_usage(FILE *out)
{
    fputs("usage: pgwicket judge FILE --agent NAME [--offline] [--explain]\n\n"
          "Reads one client message a line from standard input, as JSON\n"
          "  {\"id\": ..., \"sql\": ... | \"sql_b64\": ..., \"setup\": [messages before it], \"types\": [oids]}\n"
          "or as plain SQL, and prints for each a line of JSON with the verdict.\n\n"
          "  --agent NAME  whose policy and upstream are used\n"
          "  --offline     do not read the catalog from the upstream; stricter\n"
          "  --explain     for each action tell each rule and the condition that failed\n\n"
          "exit code: 0 all lines were answered, 1 the configuration is wrong, 2 usage,\n"
          "3 the upstream cannot be reached\n",
          out);
}

static bool read_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--offline") == 0)
            options->offline = true;
        else if (strcmp(argv[i], "--explain") == 0)
            options->explain = true;
        else if (strcmp(argv[i], "--agent") == 0 && i + 1 < argc)
            options->agent = argv[++i];
        else if (strncmp(argv[i], "--agent=", 8) == 0)
            options->agent = argv[i] + 8;
        else if (argv[i][0] != '-' && options->file == NULL)
            options->file = argv[i];
        else
            return false;
    }
    return options->file != NULL && options->agent != NULL;
}

static void answer_line(struct arena *arena, const struct judge_context *context, struct text line,
                        bool explain)
{
    struct buffer out;
    buffer_init(&out, ANSWER_BYTES_MAX);
    if (line.size <= LINE_BYTES_MAX)
        judge_case(arena, context, line, explain, &out);
    if (line.size > LINE_BYTES_MAX || out.overflow) {
        buffer_clear(&out);
        buffer_append_string(&out, "{\"verdict\":\"reject\",\"rule\":null,\"code\":\"54000\","
                                   "\"reason\":\"the line is too long\"}\n");
    }
    fwrite(out.bytes, 1, out.size, stdout);
    buffer_release(&out);
    arena_reset(arena);
}

static void answer_lines(const struct judge_context *context, bool explain)
{
    struct arena arena;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    arena_init(&arena);
    while ((size = getline(&line, &capacity, stdin)) >= 0) {
        struct text text = {line, (size_t)size};
        while (text.size > 0 &&
               (text.bytes[text.size - 1] == '\n' || text.bytes[text.size - 1] == '\r'))
            text.size--;
        if (text.size > 0)
            answer_line(&arena, context, text, explain);
        fflush(stdout);
    }
    free(line);
    arena_release(&arena);
}

static int judge_as(const struct agent *agent, const struct options *options)
{
    struct catalog *catalog = options->offline ? NULL : snapshot_of(agent->upstream);
    if (catalog == NULL && !options->offline)
        return EXIT_UNREACHABLE;
    const struct judge_context context = {agent->policy, catalog, agent->setting_values};
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
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (!read_options(argc, argv, &options)) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    return judge(&options);
}

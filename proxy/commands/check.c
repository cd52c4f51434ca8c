/* check.c - `pgwicket check`: reads a configuration file and says everything that is wrong with it. */
#include "proxy/commands/commands.h"

#include "proxy/config/settings.h"

#include <stdio.h>
#include <string.h>

enum { PROBLEMS_BYTES_MAX = 256 * 1024 };

static void print_usage(FILE *out)
{
    fputs("usage: pgwicket check FILE\n\n"
          "Reads a configuration file, with the files and environment variables that it names, and\n"
          "lists all problems with their places. Connects to nothing.\n\n"
          "exit code: 0 the file is fine, 1 it is not\n",
          out);
}

static int check(const char *path)
{
    struct buffer problems;
    buffer_init(&problems, PROBLEMS_BYTES_MAX);
    struct configuration *configuration = configuration_load(path, &problems);
    fputs(buffer_string(&problems), stderr);
    if (configuration != NULL)
        printf("%s is fine: %zu upstream%s, %zu agent%s, %zu approver%s, %zu polic%s\n", path,
               configuration->upstream_count, configuration->upstream_count == 1 ? "" : "s",
               configuration->agent_count, configuration->agent_count == 1 ? "" : "s",
               configuration->approver_count, configuration->approver_count == 1 ? "" : "s",
               configuration->policy_count, configuration->policy_count == 1 ? "y" : "ies");
    int code = configuration != NULL ? EXIT_FINE : EXIT_NO;
    configuration_release(configuration);
    buffer_release(&problems);
    return code;
}

int command_check(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (argc != 2 || argv[1][0] == '-') {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    return check(argv[1]);
}

/* verify.c - `pgwicket verify`: says whether the chain of audit files holds, or where it breaks. */
#include "proxy/commands/commands.h"

#include "proxy/audit/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_usage(FILE *out)
{
    fputs("usage: pgwicket verify FILE...\n\n"
          "Checks the hash chain of audit files, oldest first. Each file must go on where the one\n"
          "before it ends.\n\n"
          "exit code: 0 the chain holds, 1 it is broken, 3 a file cannot be read\n",
          out);
}

static int verify_files(const char *const *files, size_t count)
{
    struct chain_check check;
    if (!chain_verify(files, count, &check)) {
        fprintf(stderr, "%s: %s\n", check.file, check.problem);
        return EXIT_UNREACHABLE;
    }
    if (check.broken) {
        fprintf(stderr, "%s:%" PRIu64 ": %s\n", check.file, check.line, check.problem);
        return EXIT_NO;
    }
    printf("the chain holds: %" PRIu64 " record%s in %zu file%s\n", check.records,
           check.records == 1 ? "" : "s", count, count == 1 ? "" : "s");
    return EXIT_FINE;
}

int command_verify(int argc, char **argv)
{
    int first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    if (first == 1 && argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (argc <= first || (first == 1 && argv[1][0] == '-')) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    return verify_files((const char *const *)argv + first, (size_t)(argc - first));
}

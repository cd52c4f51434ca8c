/* serve.c - `pgwicket serve FILE`: runs the firewall in the foreground until it is told to stop. */
#include "proxy/commands/commands.h"

#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/net/server.h"
#include "parser/analyse.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const char usage[] =
    "usage: pgwicket serve FILE\n\n"
    "Runs the firewall in the foreground with the configuration in FILE.\n\n"
    "SIGHUP   read FILE again and reopen the audit log; a broken FILE changes nothing\n"
    "SIGTERM  let running sessions end, then stop; a second one stops at once\n";

/* Two descriptors a session: as many as the system permits. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

static int serve(const char *path)
{
    const char *unproven;
    if (!analyse_self_test(&unproven)) {
        fprintf(stderr,
                "pgwicket: the SQL grammar library is not the one that pgwicket was built for (%s)\n",
                unproven);
        return EXIT_NO;
    }
    struct buffer problems;
    buffer_init(&problems, LIMIT_CONFIGURATION_BYTES);
    struct configuration *configuration = configuration_load(path, &problems);
    fputs(buffer_string(&problems), stderr);
    buffer_release(&problems);
    if (configuration == NULL)
        return EXIT_NO;
    raise_descriptor_limit();
    char problem[512] = "";
    struct server *server = server_start(configuration, problem, sizeof problem);
    if (server == NULL) {
        fprintf(stderr, "pgwicket: %s\n", problem);
        return EXIT_NO;
    }
    log_info("ready");
    server_run(server);
    server_free(server);
    log_info("stopped");
    return EXIT_FINE;
}

int command_serve(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_FINE;
    }
    if (argc != 2 || argv[1][0] == '-') {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return serve(argv[1]);
}

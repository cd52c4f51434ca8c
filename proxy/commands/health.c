/* health.c - `pgwicket health`: is a running pgwicket ready to serve? For people and container
 * probes. */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"

#include "proxy/base/attributes.h"
#include "proxy/commands/hold_text.h"

#include <string.h>

static const char usage[] =
    "usage: pgwicket health [--url URL] [--ca FILE] [--json]\n\n"
    "Asks a running pgwicket whether it is ready: its upstreams can be reached, its audit log "
    "written.\n\n"
    "  --url URL       the review listener (PGWICKET_URL; http://127.0.0.1:6480)\n"
    "  --ca FILE       certificate authority to trust instead of the system's\n"
    "  --json          print the reply as it is\n"
    "\nexit code: 0 ready, 1 not ready, 3 no answer\n";

int command_health(int argc, char **argv)
{
    struct client_options options = {0};
    const struct option_of table[] = {{"--url", &options.url, NULL},
                                      {"--ca", &options.authority, NULL},
                                      {"--json", NULL, &options.json}};
    const struct arguments arguments = {
        .usage = usage, .options = table, .option_count = ARRAY_SIZE(table)};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    struct client *client = client_new(&options, false, &code);
    if (client == NULL)
        return code;
    code = client_get_readiness(client);
    if (code != EXIT_UNREACHABLE && options.json)
        client_print(client);
    else if (code != EXIT_UNREACHABLE)
        puts(hold_word(client_reply(client), "status"));
    client_free(client);
    return code;
}

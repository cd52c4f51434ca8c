/* show.c - `pgwicket show`: one hold, with everything that a decision needs. */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"

#include "proxy/base/attributes.h"

#include <stdlib.h>

static const char usage[] = "usage: pgwicket show N [OPTION...]\n\n"
                            "Shows hold N: its effect, the rows, the statement, who asks, and the "
                            "digest that a release is\n"
                            "bound to.\n\n" CLIENT_USAGE;

int command_show(int argc, char **argv)
{
    struct client_options options = {0};
    const struct option_of table[] = {CLIENT_OPTIONS(options)};
    const char *id = NULL;
    const struct arguments arguments = {.usage = usage,
                                        .options = table,
                                        .option_count = ARRAY_SIZE(table),
                                        .positions = &id,
                                        .position_count = 1};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    if (!client_hold_number(id))
        return EXIT_USAGE;
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    char *path = client_path(client, "/api/holds/%s", id);
    code = client_get(client, path);
    if (code == EXIT_FINE && options.json)
        client_print(client);
    else if (code == EXIT_FINE)
        hold_print(stdout, client_reply(client), clock_now());
    free(path);
    client_free(client);
    return code;
}

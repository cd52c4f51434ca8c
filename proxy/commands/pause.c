/* pause.c - `pgwicket pause` and `pgwicket resume`: stops an agent at once, and lets it go on. */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/attributes.h"

#include <stdlib.h>

static const char pause_usage[] = "usage: pgwicket pause AGENT [OPTION...]\n\n"
                                  "Stops an agent: cancels what it runs, ends its transactions, "
                                  "refuses what it sends.\n\n" CLIENT_USAGE;

static const char resume_usage[] = "usage: pgwicket resume AGENT [OPTION...]\n\n"
                                   "Lets a paused agent go on.\n\n" CLIENT_USAGE;

static int set_paused(int argc, char **argv, const char *usage, const char *format,
                      const char *state)
{
    struct client_options options = {0};
    const struct option_of table[] = {CLIENT_OPTIONS(options)};
    const char *agent = NULL;
    const struct arguments arguments = {.usage = usage,
                                        .options = table,
                                        .option_count = ARRAY_SIZE(table),
                                        .positions = &agent,
                                        .position_count = 1};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    char *path = client_path(client, format, agent);
    code = client_post(client, path, "{}");
    if (code == EXIT_FINE && options.json)
        client_print(client);
    else if (code == EXIT_FINE) {
        terminal_print_visible(stdout, text_from(agent));
        printf(" %s\n", state);
    }
    free(path);
    client_free(client);
    return code;
}

int command_pause(int argc, char **argv)
{
    return set_paused(argc, argv, pause_usage, "/api/agents/%s/pause", "is paused");
}

int command_resume(int argc, char **argv)
{
    return set_paused(argc, argv, resume_usage, "/api/agents/%s/resume", "goes on");
}

/* holds.c - `pgwicket holds`: a list of statements that wait, or waited, for a person. */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/watch.h"

#include "proxy/base/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: pgwicket holds [--state STATE | --all] [--agent NAME] [--after N | --watch] [OPTION...]\n\n"
    "Lists statements that wait for a person, newest first.\n\n"
    "  --state STATE   those in this state (default: pending)\n"
    "  --all           those in every state\n"
    "  --agent NAME    those of this agent\n"
    "  --after N       go on after hold N\n"
    "  --watch         stay, and show what changes, until ^C; not on a terminal: a line for each\n"
    "                  change, with --json the hold as it has become\n" CLIENT_USAGE;

static void print_list(const json_t *reply)
{
    hold_list_print(stdout, json_object_get(reply, "holds"), clock_now());
    const json_t *next = json_object_get(reply, "next");
    if (json_is_integer(next))
        printf("more: --after %" PRId64 "\n", (int64_t)json_integer_value(next));
}

static void add_parameter(struct buffer *path, const struct client *client, const char *format,
                          const char *value)
{
    if (value == NULL)
        return;
    char *parameter = client_path(client, format, value);
    buffer_append_byte(path, path->size > strlen("/api/holds") ? '&' : '?');
    buffer_append_string(path, parameter);
    free(parameter);
}

struct choice {
    const char *state;
    const char *agent;
    const char *after;
    bool all;
    bool watch;
};

/* NULL: the options make sense. */
static const char *problem_of(const struct choice *choice)
{
    if (choice->all && choice->state != NULL)
        return "--all and --state exclude each other";
    if (choice->watch && choice->after != NULL)
        return "--watch and --after exclude each other";
    return NULL;
}

static int list(struct client *client, const struct choice *choice, bool json)
{
    struct buffer path;
    const char *state = choice->state != NULL ? choice->state : "pending";
    buffer_init(&path, LIMIT_HTTP_HEADER_BYTES);
    buffer_append_string(&path, "/api/holds");
    add_parameter(&path, client, "state=%s", choice->all ? NULL : state);
    add_parameter(&path, client, "agent=%s", choice->agent);
    add_parameter(&path, client, "after=%s", choice->after);
    int code = choice->watch ? watch_holds(client, buffer_string(&path), json)
                             : client_get(client, buffer_string(&path));
    if (!choice->watch && code == EXIT_FINE && json)
        client_print(client);
    else if (!choice->watch && code == EXIT_FINE)
        print_list(client_reply(client));
    buffer_release(&path);
    return code;
}

int command_holds(int argc, char **argv)
{
    struct client_options options = {0};
    struct choice choice = {0};
    const struct option_of table[] = {
        CLIENT_OPTIONS(options),          {"--state", &choice.state, NULL},
        {"--agent", &choice.agent, NULL}, {"--after", &choice.after, NULL},
        {"--all", NULL, &choice.all},     {"--watch", NULL, &choice.watch}};
    const struct arguments arguments = {
        .usage = usage, .options = table, .option_count = ARRAY_SIZE(table)};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    if (problem_of(&choice) != NULL)
        return arguments_wrong(usage, problem_of(&choice), NULL);
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    code = list(client, &choice, options.json);
    client_free(client);
    return code;
}

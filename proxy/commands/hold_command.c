/* hold_command.c - see hold_command.h. */
#include "proxy/commands/hold_command.h"

#include "proxy/base/attributes.h"
#include "proxy/base/invariant.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 16 };

bool hold_command_read(struct hold_command *command, const char *usage,
                       const struct option_of *more, size_t count, int argc, char **argv,
                       int *exit_code)
{
    *command = (struct hold_command){0};
    const struct option_of common[] = {CLIENT_OPTIONS(command->options)};
    struct option_of options[OPTIONS_MAX];
    INVARIANT(ARRAY_SIZE(common) + count <= OPTIONS_MAX);
    memcpy(options, common, sizeof common);
    if (count > 0)
        memcpy(options + ARRAY_SIZE(common), more, count * sizeof *more);
    const struct arguments arguments = {.usage = usage,
                                        .options = options,
                                        .option_count = ARRAY_SIZE(common) + count,
                                        .positions = &command->id,
                                        .position_count = 1};
    if (!arguments_read(&arguments, argc, argv, exit_code))
        return false;
    *exit_code = EXIT_USAGE;
    return client_hold_number(command->id);
}

bool hold_command_connect(struct hold_command *command, int *exit_code)
{
    command->client = client_new(&command->options, true, exit_code);
    return command->client != NULL;
}

void hold_command_end(struct hold_command *command)
{
    client_free(command->client);
}

int hold_command_get(struct hold_command *command)
{
    char *path = client_path(command->client, "/api/holds/%s", command->id);
    int code = client_get(command->client, path);
    free(path);
    return code;
}

int hold_command_post(struct hold_command *command, const char *action, json_t *body)
{
    INVARIANT(body != NULL);
    struct buffer format;
    buffer_init(&format, 64);
    buffer_printf(&format, "/api/holds/%%s/%s", action);
    char *path = client_path(command->client, buffer_string(&format), command->id);
    char *text = json_dumps(body, JSON_COMPACT);
    int code = client_post(command->client, path, text);
    free(text);
    free(path);
    buffer_release(&format);
    json_decref(body);
    return code;
}

void hold_command_show(const struct hold_command *command)
{
    hold_print(command->options.json ? stderr : stdout, client_reply(command->client), clock_now());
}

bool hold_command_prints_json(const struct hold_command *command)
{
    if (command->options.json)
        client_print(command->client);
    return command->options.json;
}

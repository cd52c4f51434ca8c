/*
 * refuse.c - `pgwicket refuse`: refuses a held statement with a reason that its agent gets to read.
 * On a terminal it shows the hold and asks for the reason where none is given.
 */
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_command.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"
#include "proxy/base/limits.h"

#include <string.h>

static const char usage[] =
    "usage: pgwicket refuse N [--reason TEXT] [--digest DIGEST] [OPTION...]\n\n"
    "Refuses hold N. The reason goes to the agent; without --reason the hold is shown and the reason\n"
    "asked for.\n\n"
    "  --reason TEXT   what to tell the agent\n"
    "  --digest DIGEST refuse only what was shown with this digest\n" CLIENT_USAGE;

static bool is_reason(const char *reason)
{
    return strspn(reason, " \n") < strlen(reason) && strlen(reason) <= LIMIT_REASON_BYTES;
}

/* Looks at the hold for what is not given: its digest, and with it before the eyes a reason. */
static int complete(struct hold_command *command, const char **reason, const char **digest,
                    char answer[TERMINAL_LINE_MAX], char found[SHA256_HEX_SIZE])
{
    if (*reason != NULL && *digest != NULL)
        return EXIT_FINE;
    int code = hold_command_get(command);
    if (code != EXIT_FINE)
        return code;
    if (*digest == NULL) {
        snprintf(found, SHA256_HEX_SIZE, "%s", hold_word(client_reply(command->client), "digest"));
        *digest = found;
    }
    if (*reason != NULL)
        return EXIT_FINE;
    hold_command_show(command);
    *reason = answer;
    if (terminal_ask_line("\nReason, for the agent to read: ", answer) && is_reason(answer))
        return EXIT_FINE;
    fputs("not refused: a reason is needed\n", stderr);
    return EXIT_NO;
}

static int refuse(struct hold_command *command, const char *digest, const char *reason)
{
    json_t *body = json_pack("{s:s, s:s}", "digest", digest, "reason", reason);
    if (body == NULL) {
        fputs("pgwicket: the reason is not valid UTF-8\n", stderr);
        return EXIT_USAGE;
    }
    int code = hold_command_post(command, "refuse", body);
    if (code == EXIT_FINE && !hold_command_prints_json(command))
        printf("hold %s is refused\n", command->id);
    return code;
}

int command_refuse(int argc, char **argv)
{
    struct hold_command command;
    const char *reason = NULL;
    const char *digest = NULL;
    const struct option_of options[] = {{"--reason", &reason, NULL}, {"--digest", &digest, NULL}};
    char answer[TERMINAL_LINE_MAX];
    char found[SHA256_HEX_SIZE];
    int code;
    if (!hold_command_read(&command, usage, options, ARRAY_SIZE(options), argc, argv, &code))
        return code;
    if (reason == NULL ? !terminal_can_ask() : !is_reason(reason))
        return arguments_wrong(usage, "--reason needs a text of 1 to 1000 bytes", NULL);
    if (!hold_command_connect(&command, &code))
        return code;
    code = complete(&command, &reason, &digest, answer, found);
    if (code == EXIT_FINE)
        code = refuse(&command, digest, reason);
    hold_command_end(&command);
    return code;
}

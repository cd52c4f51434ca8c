/* show.c - `pgwicket show`: one hold, with everything that a decision needs. */
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_command.h"

static const char usage[] = "usage: pgwicket show N [OPTION...]\n\n"
                            "Shows hold N: its effect, the rows, the statement, who asks, and the "
                            "digest that a release is\n"
                            "bound to.\n\n" CLIENT_USAGE;

int command_show(int argc, char **argv)
{
    struct hold_command command;
    int code;
    if (!hold_command_read(&command, usage, NULL, 0, argc, argv, &code) ||
        !hold_command_connect(&command, &code))
        return code;
    code = hold_command_get(&command);
    if (code == EXIT_FINE && !hold_command_prints_json(&command))
        hold_command_show(&command);
    hold_command_end(&command);
    return code;
}

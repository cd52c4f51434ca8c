/*
 * hold_command.h - what the commands about one hold have in common: `pgwicket COMMAND N [OPTION...]`,
 * requests for that hold, and the reply as JSON where it is wanted.
 */
#ifndef PGWICKET_COMMANDS_HOLD_COMMAND_H
#define PGWICKET_COMMANDS_HOLD_COMMAND_H

#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"

struct hold_command {
    struct client_options options;
    const char *id;
    struct client *client; /* NULL before hold_command_connect */
};

/* Reads the command line; `more` are the command's own options. False: return *exit_code. */
bool hold_command_read(struct hold_command *command, const char *usage,
                       const struct option_of *more, size_t count, int argc, char **argv,
                       int *exit_code);

/* Asks for the password, if it must. False: return *exit_code. */
bool hold_command_connect(struct hold_command *command, int *exit_code);
void hold_command_end(struct hold_command *command);

/* The exit code; after EXIT_FINE client_reply has the hold as it is now. */
int hold_command_get(struct hold_command *command);
int hold_command_post(struct hold_command *command, const char *action, json_t *body); /* takes body */

/* Shows it on standard output, or with --json on standard error. */
void hold_command_show(const struct hold_command *command);

/* Prints the reply as it is if that is wanted, and says so. */
bool hold_command_prints_json(const struct hold_command *command);

#endif

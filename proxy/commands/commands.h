/*
 * commands.h - one function for each command of `pgwicket`. Each prints its own --help, returns the
 * exit code: 0 fine, 1 the answer is no, 2 usage, 3 cannot reach something.
 */
#ifndef PGWICKET_COMMANDS_COMMANDS_H
#define PGWICKET_COMMANDS_COMMANDS_H

typedef int command_function(int argc, char **argv); /* argv[0] is the command's name */

command_function command_serve, command_check, command_secret, command_judge, command_test,
    command_verify, command_health;

/* Over the API. */
command_function command_status, command_holds, command_show, command_release, command_refuse,
    command_pause, command_resume;

enum { EXIT_FINE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

#endif

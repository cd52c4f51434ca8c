/*
 * arguments.h - the command line of one command: options by a table, the rest by position.
 *
 * --name VALUE and --name=VALUE are the same; "--" ends the options. An option that is unknown,
 * given twice or without its value is an error, said on standard error together with the usage.
 */
#ifndef PGWICKET_COMMANDS_ARGUMENTS_H
#define PGWICKET_COMMANDS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct option_of {
    const char *name;   /* "--url" */
    const char **value; /* takes a value; or */
    bool *flag;         /* takes none */
};

struct arguments {
    const char *usage; /* printed by --help and after mistakes */
    const struct option_of *options;
    size_t option_count;
    const char **positions; /* filled in; every one is needed */
    size_t position_count;
};

/* True: go on. False: return *exit_code. */
bool arguments_read(const struct arguments *arguments, int argc, char **argv, int *exit_code);

/* Says what is wrong, and the usage; returns EXIT_USAGE. */
int arguments_wrong(const char *usage, const char *problem, const char *what);

#endif

/* arguments.c - see arguments.h. */
#include "proxy/commands/arguments.h"

#include "proxy/commands/commands.h"

#include <stdio.h>
#include <string.h>

int arguments_wrong(const char *usage, const char *problem, const char *what)
{
    fprintf(stderr, "pgwicket: %s%s%s\n\n%s", problem, what != NULL ? " " : "",
            what != NULL ? what : "", usage);
    return EXIT_USAGE;
}

/* The option that an argument begins with; NULL if there is none. *given is what follows a '='. */
static const struct option_of *find_option(const struct arguments *arguments, const char *argument,
                                           const char **given)
{
    size_t size = strcspn(argument, "=");
    *given = argument[size] == '=' ? argument + size + 1 : NULL;
    for (size_t i = 0; i < arguments->option_count; i++)
        if (strlen(arguments->options[i].name) == size &&
            strncmp(arguments->options[i].name, argument, size) == 0)
            return &arguments->options[i];
    return NULL;
}

/* Reads the option at *at and moves on to its last argument. NULL: fine, else what is wrong. */
static const char *read_option(const struct arguments *arguments, int argc, char **argv, int *at)
{
    const char *given;
    const struct option_of *option = find_option(arguments, argv[*at], &given);
    if (option == NULL)
        return "there is no option";
    if (option->flag != NULL) {
        if (given != NULL)
            return "no value belongs to";
        *option->flag = true;
        return NULL;
    }
    if (*option->value != NULL)
        return "given twice:";
    if (given == NULL && *at + 1 < argc)
        given = argv[++*at];
    *option->value = given;
    return given != NULL ? NULL : "a value is missing after";
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* NULL: fine, else what is wrong with argv[*at]. */
static const char *read_all(const struct arguments *arguments, int argc, char **argv, int *at)
{
    size_t positions = 0;
    bool options = true;
    for (; *at < argc; ++*at) {
        const char *problem = NULL;
        if (options && strcmp(argv[*at], "--") == 0)
            options = false;
        else if (options && argv[*at][0] == '-' && argv[*at][1] != '\0')
            problem = read_option(arguments, argc, argv, at);
        else if (positions < arguments->position_count)
            arguments->positions[positions++] = argv[*at];
        else
            problem = "one argument too many:";
        if (problem != NULL)
            return problem;
    }
    *at = 0;
    return positions == arguments->position_count ? NULL : "an argument is missing after";
}

bool arguments_read(const struct arguments *arguments, int argc, char **argv, int *exit_code)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i])) {
            fputs(arguments->usage, stdout);
            *exit_code = EXIT_FINE;
            return false;
        }
    int at = 1;
    const char *problem = read_all(arguments, argc, argv, &at);
    if (problem == NULL)
        return true;
    *exit_code = arguments_wrong(arguments->usage, problem, argv[at < argc ? at : argc - 1]);
    return false;
}

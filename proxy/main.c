/* main.c - finds the command and calls it. */
#include "proxy/commands/commands.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    command_function *run;
    const char *summary;
} commands[] = {
    {"serve", command_serve, "run the firewall"},
    {"check", command_check, "check a configuration file"},
    {"secret", command_secret, "turn a password into a SCRAM-SHA-256 verifier"},
    {"judge", command_judge, "say what would become of statements, without running them"},
    {"test", command_test, "check a policy against statements with the verdicts they should get"},
    {"verify", command_verify, "check the hash chain of audit files"},
    {"health", command_health, "ask a running pgwicket whether it is well"},
    {"status", command_status, "agents and their sessions"},
    {"holds", command_holds, "list statements that wait, or waited, for a person"},
    {"show", command_show, "show one hold"},
    {"release", command_release, "release a held statement"},
    {"refuse", command_refuse, "refuse a held statement"},
    {"pause", command_pause, "stop an agent at once"},
    {"resume", command_resume, "let a paused agent go on"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out)
{
    fputs("pgwicket " PGWICKET_VERSION " - a SQL query firewall for PostgreSQL\n\n"
          "usage: pgwicket COMMAND [ARGUMENT...]\n\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\npgwicket COMMAND --help says more.\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("pgwicket " PGWICKET_VERSION);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "pgwicket: there is no command \"%s\"\n\n", argv[1]);
    print_usage(stderr);
    return EXIT_USAGE;
}

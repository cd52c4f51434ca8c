/*
 * secret.c - `pgwicket secret`: turns a password into a SCRAM-SHA-256 verifier for the configuration.
 *
 * The password comes from the terminal without echo, or as one line from standard input.
 */
#include "proxy/commands/commands.h"

#include "proxy/wire/scram.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { PASSWORD_BYTES_MAX = 1024 };

static void print_usage(FILE *out)
{
    fputs("usage: pgwicket secret\n\n"
          "Reads a password from the terminal, or one line from standard input, and prints the\n"
          "SCRAM-SHA-256 verifier that stands for it in a configuration file.\n\n"
          "exit code: 0 fine, 1 no usable password\n",
          out);
}

/* False at the end of input or for a line that is too long. */
static bool read_line(char *line, size_t size)
{
    if (fgets(line, (int)size, stdin) == NULL)
        return false;
    size_t length = strlen(line);
    bool complete = length > 0 && line[length - 1] == '\n';
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        line[--length] = '\0';
    return complete || feof(stdin);
}

static bool ask(const char *prompt, char *line, size_t size)
{
    struct termios before, silent;
    fputs(prompt, stderr);
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return false;
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) != 0)
        return false;
    bool read = read_line(line, size);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputc('\n', stderr);
    return read;
}

static bool read_password(char *password, size_t size)
{
    char again[PASSWORD_BYTES_MAX];
    if (!isatty(STDIN_FILENO))
        return read_line(password, size);
    bool read = ask("Password: ", password, size) && ask("Once more: ", again, sizeof again);
    if (read && strcmp(password, again) != 0) {
        fputs("pgwicket: the two passwords differ\n", stderr);
        password[0] = '\0';
    }
    explicit_bzero(again, sizeof again);
    return read;
}

static int print_verifier(void)
{
    char password[PASSWORD_BYTES_MAX], text[SCRAM_VERIFIER_TEXT_MAX];
    struct scram_verifier verifier;
    if (!read_password(password, sizeof password) || password[0] == '\0') {
        explicit_bzero(password, sizeof password);
        fprintf(stderr, "pgwicket: a password of 1 to %d bytes is expected\n",
                PASSWORD_BYTES_MAX - 2);
        return EXIT_NO;
    }
    scram_verifier_from_password(text_from(password), &verifier);
    explicit_bzero(password, sizeof password);
    scram_verifier_to_text(&verifier, text);
    puts(text);
    return EXIT_FINE;
}

int command_secret(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_FINE;
    }
    if (argc != 1) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    return print_verifier();
}

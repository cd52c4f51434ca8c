/*
 * client.h - the approver's side of the JSON API (libcurl), for the commands that use it.
 *
 * The password comes from PGWICKET_PASSWORD or a prompt on the terminal, never from the command
 * line, and is sent in the clear to loopback addresses only. Failures are said on standard error.
 */
#ifndef PGWICKET_COMMANDS_CLIENT_H
#define PGWICKET_COMMANDS_CLIENT_H

#include "proxy/base/buffer.h"

#include <jansson.h>
#include <signal.h>

/* What all of these commands take. */
struct client_options {
    const char *url;       /* --url, PGWICKET_URL, or http://127.0.0.1:6480 */
    const char *user;      /* --user or PGWICKET_USER */
    const char *authority; /* --ca FILE: trusted instead of the system's certificates */
    bool json;             /* --json: the reply as it is */
};

#define CLIENT_OPTIONS(options)                                                                    \
    {"--url", &(options).url, NULL}, {"--user", &(options).user, NULL},                            \
        {"--ca", &(options).authority, NULL},                                                      \
    {                                                                                              \
        "--json", NULL, &(options).json                                                            \
    }

#define CLIENT_USAGE                                                                               \
    "  --url URL       the review listener (PGWICKET_URL; http://127.0.0.1:6480)\n"                \
    "  --user NAME     the approver (PGWICKET_USER)\n"                                             \
    "  --ca FILE       certificate authority to trust instead of the system's\n"                   \
    "  --json          print the reply as it is\n"                                                 \
    "\nThe password is taken from PGWICKET_PASSWORD, or asked for.\n"

struct client;

/* NULL, with *exit_code, if it cannot begin. `login` false: for paths that need no approver. */
struct client *client_new(const struct client_options *options, bool login, int *exit_code);
void client_free(struct client *client); /* NULL is fine */

/*
 * One request. EXIT_FINE: the answer is a success, its JSON is client_reply. Otherwise the exit
 * code: EXIT_NO after 4xx, EXIT_UNREACHABLE after 5xx or without an answer.
 */
int client_get(struct client *client, const char *path);
int client_post(struct client *client, const char *path, const char *body);

/* For who asks again and again: nothing is said on standard error before client_explain, and a request
 * ends as soon as *stop is set. */
void client_be_quiet(struct client *client, const volatile sig_atomic_t *stop);

/* Says what was wrong with the last request. */
void client_explain(const struct client *client);

/* GET /readyz: EXIT_FINE if it is ready, EXIT_NO if it says that it is not. */
int client_get_readiness(struct client *client);

/* Of the last request; the client's. NULL if it brought no JSON. */
json_t *client_reply(const struct client *client);

/* Prints the last answer as it came. */
void client_print(const struct client *client);

/* The path with the text put in, percent-encoded, where it says "%s". */
char *client_path(const struct client *client, const char *format, const char *text); /* free() */

/* The hold's number from the command line; false, with a message, if it is none. */
bool client_hold_number(const char *text);

#endif

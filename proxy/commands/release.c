/*
 * release.c - `pgwicket release`: shows the hold and asks, or takes the digest of what was shown.
 *
 * What is released is always what has been looked at: the digest goes with the request, and the
 * server refuses any other.
 */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: pgwicket release N [--digest DIGEST | --yes] [OPTION...]\n\n"
    "Releases hold N, which lets it run once. Shows it and asks first.\n\n"
    "  --digest DIGEST do not ask: release what was shown with this digest (all 64 digits)\n"
    "  --yes           show it, do not ask\n" CLIENT_USAGE;

/* Shows the hold and takes its digest. With --json the standard output is the reply's alone. */
static int look(struct client *client, const char *id, bool yes, FILE *out,
                char digest[SHA256_HEX_SIZE])
{
    char *path = client_path(client, "/api/holds/%s", id);
    int code = client_get(client, path);
    free(path);
    if (code != EXIT_FINE)
        return code;
    const json_t *hold = client_reply(client);
    hold_print(out, hold, clock_now());
    snprintf(digest, SHA256_HEX_SIZE, "%s", hold_word(hold, "digest"));
    if (!json_is_true(json_object_get(hold, "can_decide"))) {
        fprintf(stderr, "pgwicket: hold %s is not yours to decide now\n", id);
        return EXIT_NO;
    }
    if (yes || terminal_ask_yes("\nRelease it?"))
        return EXIT_FINE;
    fputs("not released\n", stderr);
    return EXIT_NO;
}

static void print_outcome(const json_t *hold)
{
    int64_t id = (int64_t)json_integer_value(json_object_get(hold, "id"));
    struct instant until = instant_from_text(hold_word(hold, "run_until"));
    char clock[INSTANT_TEXT_SIZE];
    instant_to_clock_text(until, clock);
    if (strcmp(hold_word(hold, "state"), "pending") == 0)
        printf("hold %" PRId64 " is approved by %zu of %" PRId64 "\n", id,
               json_array_size(json_object_get(hold, "approvals")),
               (int64_t)json_integer_value(json_object_get(hold, "quorum")));
    else if (until.us > 0)
        printf("hold %" PRId64 " is released; it may run until %s\n", id, clock);
    else
        printf("hold %" PRId64 " is released\n", id);
}

static int release(struct client *client, const char *id, const char *digest, bool json)
{
    char body[SHA256_HEX_SIZE + 32];
    snprintf(body, sizeof body, "{\"digest\": \"%.64s\"}", digest);
    char *path = client_path(client, "/api/holds/%s/release", id);
    int code = client_post(client, path, body);
    free(path);
    if (code == EXIT_FINE && json)
        client_print(client);
    else if (code == EXIT_FINE)
        print_outcome(client_reply(client));
    return code;
}

/* In hexadecimal, so that it needs no escaping in JSON either. */
static bool is_digest(const char *text)
{
    return strlen(text) == SHA256_HEX_SIZE - 1 &&
           strspn(text, "0123456789abcdefABCDEF") == SHA256_HEX_SIZE - 1;
}

/* NULL: the arguments make sense. */
static const char *problem_of(const char *digest, bool yes)
{
    if (digest != NULL && yes)
        return "--digest and --yes exclude each other";
    if (digest != NULL && !is_digest(digest))
        return "a digest has 64 hexadecimal digits; `pgwicket show` prints it";
    if (digest == NULL && !yes && !terminal_can_ask())
        return "without a terminal, --digest or --yes is needed";
    return NULL;
}

int command_release(int argc, char **argv)
{
    struct client_options options = {0};
    const char *given = NULL;
    bool yes = false;
    const struct option_of table[] = {
        CLIENT_OPTIONS(options), {"--digest", &given, NULL}, {"--yes", NULL, &yes}};
    const char *id = NULL;
    const struct arguments arguments = {.usage = usage,
                                        .options = table,
                                        .option_count = ARRAY_SIZE(table),
                                        .positions = &id,
                                        .position_count = 1};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    const char *problem = problem_of(given, yes);
    if (problem != NULL)
        return arguments_wrong(usage, problem, NULL);
    if (!client_hold_number(id))
        return EXIT_USAGE;
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    char digest[SHA256_HEX_SIZE];
    snprintf(digest, sizeof digest, "%s", given != NULL ? given : "");
    code =
        given != NULL ? EXIT_FINE : look(client, id, yes, options.json ? stderr : stdout, digest);
    if (code == EXIT_FINE)
        code = release(client, id, digest, options.json);
    client_free(client);
    return code;
}

/*
 * release.c - `pgwicket release`: shows the hold and asks, or takes the digest of what was shown.
 *
 * What is released is always what has been looked at: the digest goes with the request, and the
 * server refuses any other.
 */
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_command.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/attributes.h"
#include "proxy/base/digest.h"
#include "proxy/base/limits.h"

#include <inttypes.h>
#include <string.h>

static const char usage[] =
    "usage: pgwicket release N [--digest DIGEST | --yes] [OPTION...]\n\n"
    "Releases hold N, which lets it run once. Shows it and asks first.\n\n"
    "  --digest DIGEST do not ask: release what was shown with this digest (all 64 digits)\n"
    "  --yes           show it, do not ask\n" CLIENT_USAGE;

/* The question names what a yes does. */
static bool ask(const json_t *hold)
{
    struct buffer question;
    buffer_init(&question, LIMIT_HTTP_ANSWER_BYTES);
    buffer_append_string(&question, "\nRelease: ");
    hold_summary_visible(&question, hold);
    buffer_append_string(&question, "?");
    bool yes = terminal_ask_yes(buffer_string(&question));
    buffer_release(&question);
    return yes;
}

/* Shows the hold and takes its digest. */
static int look(struct hold_command *command, bool yes, char digest[SHA256_HEX_SIZE])
{
    int code = hold_command_get(command);
    if (code != EXIT_FINE)
        return code;
    const json_t *hold = client_reply(command->client);
    hold_command_show(command);
    snprintf(digest, SHA256_HEX_SIZE, "%s", hold_word(hold, "digest"));
    if (!json_is_true(json_object_get(hold, "can_decide"))) {
        fprintf(stderr, "pgwicket: hold %s is not yours to decide now\n", command->id);
        return EXIT_NO;
    }
    if (yes || ask(hold))
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

static int release(struct hold_command *command, const char *digest)
{
    int code = hold_command_post(command, "release", json_pack("{s:s}", "digest", digest));
    if (code == EXIT_FINE && !hold_command_prints_json(command))
        print_outcome(client_reply(command->client));
    return code;
}

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
    struct hold_command command;
    const char *given = NULL;
    bool yes = false;
    const struct option_of options[] = {{"--digest", &given, NULL}, {"--yes", NULL, &yes}};
    char digest[SHA256_HEX_SIZE];
    int code;
    if (!hold_command_read(&command, usage, options, ARRAY_SIZE(options), argc, argv, &code))
        return code;
    const char *problem = problem_of(given, yes);
    if (problem != NULL)
        return arguments_wrong(usage, problem, NULL);
    if (!hold_command_connect(&command, &code))
        return code;
    snprintf(digest, sizeof digest, "%s", given != NULL ? given : "");
    code = given != NULL ? EXIT_FINE : look(&command, yes, digest);
    if (code == EXIT_FINE)
        code = release(&command, digest);
    hold_command_end(&command);
    return code;
}

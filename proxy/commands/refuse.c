/* refuse.c - `pgwicket refuse`: refuses a held statement with a reason that its agent gets to read.
 */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"

#include "proxy/base/attributes.h"
#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: pgwicket refuse N --reason TEXT [--digest DIGEST] [OPTION...]\n\n"
    "Refuses hold N. The reason goes to the agent.\n\n"
    "  --reason TEXT   what to tell the agent\n"
    "  --digest DIGEST refuse only what was shown with this digest\n" CLIENT_USAGE;

/* The digest that hold N has now. */
static int fetch_digest(struct client *client, const char *id, char **digest)
{
    char *path = client_path(client, "/api/holds/%s", id);
    int code = client_get(client, path);
    free(path);
    if (code == EXIT_FINE)
        *digest = memory_copy_string(hold_word(client_reply(client), "digest"));
    return code;
}

static int refuse(struct client *client, const char *id, const char *digest, const char *reason,
                  bool json)
{
    json_t *object = json_pack("{s:s, s:s}", "digest", digest, "reason", reason);
    if (object == NULL) {
        fputs("pgwicket: the reason is not valid UTF-8\n", stderr);
        return EXIT_USAGE;
    }
    char *body = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    char *path = client_path(client, "/api/holds/%s/refuse", id);
    int code = client_post(client, path, body);
    free(path);
    free(body);
    if (code == EXIT_FINE && json)
        client_print(client);
    else if (code == EXIT_FINE)
        printf("hold %s is refused\n", id);
    return code;
}

int command_refuse(int argc, char **argv)
{
    struct client_options options = {0};
    const char *reason = NULL;
    const char *given = NULL;
    const struct option_of table[] = {
        CLIENT_OPTIONS(options), {"--reason", &reason, NULL}, {"--digest", &given, NULL}};
    const char *id = NULL;
    const struct arguments arguments = {.usage = usage,
                                        .options = table,
                                        .option_count = ARRAY_SIZE(table),
                                        .positions = &id,
                                        .position_count = 1};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    if (reason == NULL || strspn(reason, " \n") == strlen(reason) ||
        strlen(reason) > LIMIT_REASON_BYTES)
        return arguments_wrong(usage, "--reason needs a text of 1 to 1000 bytes", NULL);
    if (!client_hold_number(id))
        return EXIT_USAGE;
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    char *digest = given != NULL ? memory_copy_string(given) : NULL;
    code = given != NULL ? EXIT_FINE : fetch_digest(client, id, &digest);
    if (code == EXIT_FINE)
        code = refuse(client, id, digest, reason, options.json);
    free(digest);
    client_free(client);
    return code;
}

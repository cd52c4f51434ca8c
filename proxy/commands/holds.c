/* holds.c - `pgwicket holds`: a list of statements that wait, or waited, for a person. */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: pgwicket holds [--state STATE | --all] [--agent NAME] [--after N] [OPTION...]\n\n"
    "Lists statements that wait for a person, newest first.\n\n"
    "  --state STATE   those in this state (default: pending)\n"
    "  --all           those in every state\n"
    "  --agent NAME    those of this agent\n"
    "  --after N       go on after hold N\n" CLIENT_USAGE;

/* What time is left for it, if any. */
static void add_time_left(struct table *table, const json_t *hold, struct instant now)
{
    bool pending = strcmp(hold_word(hold, "state"), "pending") == 0;
    bool released = strcmp(hold_word(hold, "state"), "released") == 0;
    struct instant end = instant_from_text(hold_word(hold, pending ? "expires" : "run_until"));
    char text[TERMINAL_SPAN_MAX] = "";
    if ((pending || released) && end.us > 0)
        span_to_text(end.us - now.us, text);
    table_add_string(table, text);
}

static void add_hold(struct table *table, const json_t *hold, struct instant now)
{
    char text[TERMINAL_SPAN_MAX];
    snprintf(text, sizeof text, "%" PRId64,
             (int64_t)json_integer_value(json_object_get(hold, "id")));
    table_add_string(table, text);
    table_add_string(table, hold_word(hold, "state"));
    table_add_string(table, hold_word(hold, "agent"));
    struct buffer summary;
    buffer_init(&summary, LIMIT_HTTP_ANSWER_BYTES);
    hold_summary(&summary, hold);
    table_add(table, buffer_text(&summary));
    buffer_release(&summary);
    span_to_text(now.us - instant_from_text(hold_word(hold, "created")).us, text);
    table_add_string(table, text);
    add_time_left(table, hold, now);
}

static void print_list(const json_t *reply)
{
    static const char *const headings[] = {"ID", "STATE", "AGENT", "WHAT", "AGE", "LEFT"};
    const json_t *holds = json_object_get(reply, "holds");
    struct table table;
    table_init(&table, ARRAY_SIZE(headings));
    for (size_t i = 0; i < ARRAY_SIZE(headings); i++)
        table_add_string(&table, headings[i]);
    size_t i;
    const json_t *hold;
    json_array_foreach(holds, i, hold) add_hold(&table, hold, clock_now());
    if (json_array_size(holds) > 0)
        table_print(&table, stdout);
    else
        puts("nothing");
    table_release(&table);
    const json_t *next = json_object_get(reply, "next");
    if (json_is_integer(next))
        printf("more: --after %" PRId64 "\n", (int64_t)json_integer_value(next));
}

static void add_parameter(struct buffer *path, const struct client *client, const char *format,
                          const char *value)
{
    if (value == NULL)
        return;
    char *parameter = client_path(client, format, value);
    buffer_append_byte(path, path->size > strlen("/api/holds") ? '&' : '?');
    buffer_append_string(path, parameter);
    free(parameter);
}

int command_holds(int argc, char **argv)
{
    struct client_options options = {0};
    const char *state = NULL;
    const char *agent = NULL;
    const char *after = NULL;
    bool all = false;
    const struct option_of table[] = {CLIENT_OPTIONS(options),
                                      {"--state", &state, NULL},
                                      {"--agent", &agent, NULL},
                                      {"--after", &after, NULL},
                                      {"--all", NULL, &all}};
    const struct arguments arguments = {
        .usage = usage, .options = table, .option_count = ARRAY_SIZE(table)};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    if (all && state != NULL)
        return arguments_wrong(usage, "--all and --state exclude each other", NULL);
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    struct buffer path;
    buffer_init(&path, LIMIT_HTTP_HEADER_BYTES);
    buffer_append_string(&path, "/api/holds");
    add_parameter(&path, client, "state=%s", all ? NULL : state != NULL ? state : "pending");
    add_parameter(&path, client, "agent=%s", agent);
    add_parameter(&path, client, "after=%s", after);
    code = client_get(client, buffer_string(&path));
    if (code == EXIT_FINE && options.json)
        client_print(client);
    else if (code == EXIT_FINE)
        print_list(client_reply(client));
    buffer_release(&path);
    client_free(client);
    return code;
}

/* status.c - `pgwicket status`: agents, their sessions, and who is paused. */
#include "proxy/commands/arguments.h"
#include "proxy/commands/client.h"
#include "proxy/commands/commands.h"
#include "proxy/commands/hold_text.h"
#include "proxy/commands/terminal.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"

#include <inttypes.h>

static const char usage[] = "usage: pgwicket status [OPTION...]\n\n"
                            "Lists the agents that you may see.\n\n" CLIENT_USAGE;

static void add_number(struct table *table, const json_t *agent, const char *key)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64,
             (int64_t)json_integer_value(json_object_get(agent, key)));
    table_add_string(table, text);
}

static void add_state(struct table *table, const json_t *agent, struct instant now)
{
    if (!json_is_true(json_object_get(agent, "paused"))) {
        table_add_string(table, "active");
        table_style(table, STYLE_GOOD);
        return;
    }
    char span[TERMINAL_SPAN_MAX];
    span_to_text(now.us - instant_from_text(hold_word(agent, "paused_at")).us, span);
    struct buffer state;
    buffer_init(&state, LIMIT_HTTP_ANSWER_BYTES);
    buffer_printf(&state, "paused by %s, %s ago", hold_word(agent, "paused_by"), span);
    table_add(table, buffer_text(&state));
    table_style(table, STYLE_BAD);
    buffer_release(&state);
}

static void print_agents(const json_t *reply)
{
    static const char *const headings[] = {"AGENT",    "POLICY",  "UPSTREAM",
                                           "SESSIONS", "WAITING", "STATE"};
    struct table table;
    table_init(&table, headings, ARRAY_SIZE(headings));
    size_t i;
    const json_t *agent;
    json_array_foreach(json_object_get(reply, "agents"), i, agent)
    {
        table_add_string(&table, hold_word(agent, "name"));
        table_add_string(&table, hold_word(agent, "policy"));
        table_add_string(&table, hold_word(agent, "upstream"));
        add_number(&table, agent, "sessions");
        add_number(&table, agent, "waiting");
        add_state(&table, agent, clock_now());
    }
    table_print(&table, stdout);
    table_release(&table);
}

int command_status(int argc, char **argv)
{
    struct client_options options = {0};
    const struct option_of table[] = {CLIENT_OPTIONS(options)};
    const struct arguments arguments = {
        .usage = usage, .options = table, .option_count = ARRAY_SIZE(table)};
    int code;
    if (!arguments_read(&arguments, argc, argv, &code))
        return code;
    struct client *client = client_new(&options, true, &code);
    if (client == NULL)
        return code;
    code = client_get(client, "/api/agents");
    if (code == EXIT_FINE && options.json)
        client_print(client);
    else if (code == EXIT_FINE)
        print_agents(client_reply(client));
    client_free(client);
    return code;
}

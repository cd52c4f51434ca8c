/*
 * handle_agents.c - agents, pausing them, and health. See handlers.h.
 *
 * An approver sees and pauses the agents of the policies that they are limited to; others are not
 * there.
 */
#include "proxy/review/handlers.h"

#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/review/agents.h"
#include "proxy/review/body.h"
#include "proxy/review/events.h"
#include "proxy/review/hold_json.h"
#include "proxy/review/http.h"
#include "proxy/review/server.h"

bool agent_is_visible(const struct approver *approver, const struct review_agent *agent)
{
    const struct hold of_agent = {.policy = agent->policy};
    return hold_visible(&of_agent, approver->policies, approver->policy_count);
}

void handle_agents(struct exchange *exchange)
{
    const struct review_hooks *hooks = &exchange->server->hooks;
    size_t count = 0;
    const struct review_agent *agents = hooks->agents(hooks->context, &exchange->arena, &count);
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    json_open(&json, '{');
    json_key_open(&json, "agents", '[');
    for (size_t i = 0; i < count; i++)
        if (agent_is_visible(exchange->approver, &agents[i]))
            agent_json(&json, &agents[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    exchange_reply(exchange, 200, &buffer);
}

const struct review_agent *agent_find(struct exchange *exchange, struct text name)
{
    const struct review_hooks *hooks = &exchange->server->hooks;
    size_t count = 0;
    const struct review_agent *agents = hooks->agents(hooks->context, &exchange->arena, &count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(agents[i].name, name) && agent_is_visible(exchange->approver, &agents[i]))
            return &agents[i];
    return NULL;
}

bool agent_set_paused(struct exchange *exchange, struct text name, bool paused)
{
    const struct review_hooks *hooks = &exchange->server->hooks;
    if (agent_find(exchange, name) == NULL ||
        !hooks->pause(hooks->context, name, paused, exchange->approver->name))
        return false;
    events_tell(exchange->server->events, 0, TEXT(""));
    return true;
}

static void reply_agent(struct exchange *exchange, const struct review_agent *agent)
{
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    agent_json(&json, agent);
    exchange_reply(exchange, 200, &buffer);
}

static void set_paused(struct exchange *exchange, bool paused)
{
    const char *problem = empty_body_check(exchange_body(exchange));
    if (problem != NULL) {
        exchange_fail(exchange, 400, "bad_body", problem);
        return;
    }
    struct text name;
    const struct review_agent *agent = NULL;
    if (percent_decode(&exchange->arena, exchange->argument, &name) &&
        agent_set_paused(exchange, name, paused))
        agent = agent_find(exchange, name);
    if (agent != NULL)
        reply_agent(exchange, agent);
    else
        exchange_fail(exchange, 404, "not_found", "there is no such agent");
}

void handle_pause(struct exchange *exchange)
{
    set_paused(exchange, true);
}

void handle_resume(struct exchange *exchange)
{
    set_paused(exchange, false);
}

static void reply_status(struct exchange *exchange, int status, const char *word)
{
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    json_open(&json, '{');
    json_key_string(&json, "status", word);
    json_close(&json, '}');
    exchange_reply(exchange, status, &buffer);
}

void handle_healthz(struct exchange *exchange)
{
    reply_status(exchange, 200, "ok");
}

/* Whoever asks need not be known, so what is wrong goes to the log and not into the answer. */
void handle_readyz(struct exchange *exchange)
{
    struct review_server *server = exchange->server;
    char problem[256] = "";
    bool ready = server->hooks.ready(server->hooks.context, problem, sizeof problem);
    if (server->was_ready && !ready)
        log_warning("not ready: %s", problem);
    if (!server->was_ready && ready)
        log_info("ready");
    server->was_ready = ready;
    reply_status(exchange, ready ? 200 : 503, ready ? "ready" : "not ready");
}

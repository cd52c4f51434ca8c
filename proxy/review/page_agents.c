/*
 * page_agents.c - agents, their sessions, pausing and resuming them. See handlers.h.
 *
 * A kill switch asks nothing: one button, and the place to resume is the same.
 */
#include "proxy/review/handlers.h"

#include "proxy/review/agents.h"
#include "proxy/review/events.h"
#include "proxy/review/http.h"
#include "proxy/review/page.h"
#include "proxy/review/server.h"

static int64_t on_hold(const struct page *page, struct text agent)
{
    const struct hold_browse *browse = &page->exchange->browse;
    int64_t count = 0;
    for (size_t i = 0; i < browse->queue_count; i++)
        count += text_equal(browse->queue[i].agent, agent);
    return count;
}

static void name_cell(struct page *page, const struct review_agent *agent)
{
    struct buffer *out = &page->out;
    html(out, "<th scope=\"row\" class=\"what\"><b>%.*s</b>", TEXT_ARGS(agent->name));
    if (agent->paused)
        html(out, " <span class=\"tag paused\">paused</span>");
    html(out, " <small>policy %.*s, database %.*s", TEXT_ARGS(agent->policy),
         TEXT_ARGS(agent->upstream));
    if (agent->paused) {
        html(out, "; by %.*s at ", TEXT_ARGS(agent->paused_by));
        page_time(page, agent->paused_at, minute_words(page->arena, agent->paused_at));
    }
    html(out, "</small></th>\n");
}

static void holds_cell(struct page *page, const struct review_agent *agent)
{
    int64_t count = on_hold(page, agent->name);
    struct text path = html_path(page->arena, agent->name);
    if (count > 0)
        html(&page->out, "<td data-l=\"On hold\"><a href=\"/holds?agent=%.*s\">%ld</a></td>\n",
             TEXT_ARGS(path), (long)count);
    else
        html(&page->out, "<td data-l=\"On hold\">0</td>\n");
}

static void last_cell(struct page *page, const struct review_agent *agent)
{
    struct buffer *out = &page->out;
    html(out, "<td class=\"full\" data-l=\"Last\">");
    if (agent->last_verdict.size > 0) {
        html(out, "<span class=\"tag %.*s\">%.*s</span> %.*s <small>",
             TEXT_ARGS(agent->last_verdict), TEXT_ARGS(agent->last_verdict),
             TEXT_ARGS(agent->last_actions));
        page_ago(page, agent->last_at);
        html(out, "</small></td>\n");
    } else {
        html(out, "<small>none yet</small></td>\n");
    }
}

static void switch_cell(struct page *page, const struct review_agent *agent)
{
    const char *action = agent->paused ? "resume" : "pause";
    struct text path = html_path(page->arena, agent->name);
    html(&page->out, "<td class=\"right\"><form method=\"post\" action=\"/agents/%.*s/%s\">",
         TEXT_ARGS(path), action);
    page_csrf(page);
    html(&page->out, "<button>%s<span class=\"vh\"> %.*s</span></button></form></td>\n",
         agent->paused ? "Resume" : "Pause", TEXT_ARGS(agent->name));
}

static void agent_row(struct page *page, const struct review_agent *agent)
{
    struct text path = html_path(page->arena, agent->name);
    html(&page->out, "<tr id=\"%.*s\">\n", TEXT_ARGS(path));
    name_cell(page, agent);
    html(&page->out, "<td data-l=\"Sessions\">%ld</td>\n<td data-l=\"Per minute\">%ld</td>\n",
         (long)agent->sessions, (long)agent->statements_per_minute);
    holds_cell(page, agent);
    last_cell(page, agent);
    switch_cell(page, agent);
    html(&page->out, "</tr>\n");
}

static void answer_agents(struct exchange *exchange)
{
    const struct review_hooks *hooks = &exchange->server->hooks;
    struct page page;
    size_t count = 0;
    const struct review_agent *agents = hooks->agents(hooks->context, &exchange->arena, &count);
    page_begin(&page, exchange,
               &(struct page_head){.title = TEXT("Agents"), .tab = TAB_AGENTS, .live = "agents"});
    html(&page.out,
         "<div class=\"title\"><h1>Agents</h1><p class=\"soft\">Pausing cancels what runs, "
         "ends open transactions and refuses all that follows. Times are UTC.</p></div>\n"
         "<table class=\"list agents\" data-part=\"agents\">\n<caption class=\"vh\">Agents and their "
         "sessions</caption>\n<thead><tr><th scope=\"col\">Agent</th><th scope=\"col\">Sessions"
         "</th><th scope=\"col\">Per minute</th><th scope=\"col\">On hold</th>"
         "<th scope=\"col\">Last statement</th><th scope=\"col\"><span class=\"vh\">Pause or resume</span></th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < count; i++)
        if (agent_is_visible(exchange->approver, &agents[i]))
            agent_row(&page, &agents[i]);
    html(&page.out, "</tbody>\n</table>\n");
    page_send(&page, 200);
}

void page_agents(struct exchange *exchange)
{
    exchange->browse.view = VIEW_NOTHING;
    if (exchange->server->store == NULL)
        answer_agents(exchange);
    else
        exchange_ask_store(exchange, HOLD_OP_BROWSE, answer_agents);
}

static void set_paused(struct exchange *exchange, bool paused)
{
    struct text name;
    if (percent_decode(&exchange->arena, exchange->argument, &name) &&
        agent_set_paused(exchange, name, paused))
        exchange_redirect(exchange, TEXT("/agents"));
    else
        exchange_fail(exchange, 404, "not_found", "there is no such agent");
}

void form_pause(struct exchange *exchange)
{
    set_paused(exchange, true);
}

void form_resume(struct exchange *exchange)
{
    set_paused(exchange, false);
}

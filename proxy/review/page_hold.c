/*
 * page_hold.c - the page of one hold, in the order in which doubts come: the effect, what follows,
 * what cannot be undone, the rows, the statement; beside it who asks, and the decision.
 *
 * It is never loaded again by itself without a script: a reason that is half typed would be lost.
 */
#include "proxy/review/hold_page.h"

#include "proxy/base/limits.h"
#include "proxy/review/handlers.h"
#include "proxy/review/http.h"
#include "proxy/review/page_parts.h"
#include "proxy/review/server.h"

/* --- where it stands in the queue ------------------------------------------------------------- */

static void crumb(struct page *page, const struct hold *hold)
{
    const struct hold_browse *browse = &page->exchange->browse;
    struct buffer *out = &page->out;
    size_t at = 0;
    html(out, "<nav class=\"crumb\" aria-label=\"Position\">");
    while (at < browse->queue_count && browse->queue[at].id != hold->id)
        at++;
    if (at == browse->queue_count) {
        html(out, "<a href=\"/history\">History</a></nav>\n");
        return;
    }
    html(out, "<a href=\"/holds\">Queue</a><span class=\"soft\">%ld of %ld</span>", (long)at + 1,
         (long)browse->queue_count);
    if (browse->queue_count > 1)
        html(out, "<a href=\"/holds/%ld\">Next hold</a>",
             (long)browse->queue[(at + 1) % browse->queue_count].id);
    html(out, "</nav>\n");
}

/* --- parts of the sheet ----------------------------------------------------------------------- */

/* Of a drifted hold the headline is what was met, not what was released. */
static void head(struct page *page, const struct summary *shown)
{
    const struct hold *hold = shown->hold;
    struct buffer *out = &page->out;
    struct summary met;
    const struct summary *summary = summary_of_run(&met, page->arena, hold) ? &met : shown;
    html(out,
         "<header class=\"head\" data-part=\"head\">\n<p class=\"kick\"><span class=\"tag %.*s\">",
         TEXT_ARGS(hold->verb));
    for (size_t i = 0; i < hold->verb.size; i++) {
        char letter[2] = {hold->verb.bytes[i], '\0'};
        if (letter[0] >= 'a' && letter[0] <= 'z')
            letter[0] = (char)(letter[0] - 'a' + 'A');
        html(out, "%s", letter);
    }
    html(out, "</span> <span>Hold %ld</span> <span>%.*s on %.*s</span></p>\n<h1>", (long)hold->id,
         TEXT_ARGS(hold->agent), TEXT_ARGS(hold->upstream));
    summary_headline_html(summary, page->arena, out);
    html(out, "</h1>\n<p class=\"also\">");
    summary_also_html(summary, page->arena, out);
    html(out, "</p>\n</header>\n");
}

static void others(struct page *page, const struct hold *hold)
{
    const struct hold_request *request = &page->exchange->hold;
    struct buffer *out = &page->out;
    if (request->hold_count < 2)
        return;
    html(out,
         "<section class=\"stack\" aria-labelledby=\"oth\">\n<h2 id=\"oth\">Also on hold for "
         "%.*s</h2>\n<ul class=\"others\">\n",
         TEXT_ARGS(hold->agent));
    for (size_t i = 1; i < request->hold_count; i++) {
        struct summary other;
        summary_make(&other, page->arena, request->holds[i]);
        struct text headline = summary_headline(&other, page->arena);
        html(out, "<li><a href=\"/holds/%ld\">%.*s</a><small>", (long)request->holds[i]->id,
             TEXT_ARGS(headline));
        page_left(page, request->holds[i]->expires);
        html(out, "</small></li>\n");
    }
    html(out, "</ul>\n</section>\n");
}

static void said(struct page *page)
{
    if (page->exchange->notice == NULL)
        return;
    page_notice_begin(page, NOTICE_WARN, ICON_WARNING, "alert");
    html(&page->out, "<p><strong>%s</strong> ", page->exchange->notice);
    struct text path = html_path(page->arena, page->exchange->hold.holds[0]->agent);
    if (page->exchange->hold.holds[0]->state == HOLD_RELEASED)
        html(&page->out, "To stop the run, <a href=\"/agents#%.*s\">pause the agent</a>.",
             TEXT_ARGS(path));
    html(&page->out, "</p>");
    page_notice_end(page);
}

static void sheet(struct page *page, const struct summary *summary)
{
    html(&page->out, "<article class=\"sheet\">\n");
    said(page);
    html(&page->out, "<div class=\"stack\" data-part=\"state\">");
    part_state(page, summary);
    html(&page->out, "</div>\n");
    head(page, summary);
    part_effect(page, summary);
    part_not_undone(page, summary);
    part_rows(page, summary);
    part_statement(page, summary->hold);
    others(page, summary->hold);
    if (reader_can_decide(page, summary->hold)) {
        html(&page->out, "<div class=\"jump\" data-part=\"jump\"><span><b>");
        page_left(page, summary->hold->expires);
        html(&page->out, "</b></span><a class=\"button\" href=\"#decide\">Decide</a></div>\n");
    }
    html(&page->out, "</article>\n");
}

static void aside(struct page *page, const struct summary *summary)
{
    bool open = reader_can_decide(page, summary->hold);
    html(&page->out, "<aside class=\"decide\" aria-label=\"Decision and origin\" "
                     "data-part=\"decide\">\n");
    if (!open)
        part_log(page, summary);
    part_who(page, summary->hold);
    if (open)
        part_decide(page, summary);
    html(&page->out, "</aside>\n");
}

void hold_page_send(struct exchange *exchange, int status)
{
    const struct hold *hold = exchange->hold.holds[0];
    struct summary summary;
    struct page page;
    summary_make(&summary, &exchange->arena, hold);
    page_begin(&page, exchange,
               &(struct page_head){.title = summary_headline(&summary, &exchange->arena),
                                   .tab = hold->state == HOLD_PENDING ? TAB_QUEUE : TAB_HISTORY,
                                   .main_class = "one",
                                   .live = "hold",
                                   .live_id = hold->id});
    crumb(&page, hold);
    sheet(&page, &summary);
    aside(&page, &summary);
    page_send(&page, status);
}

/* --- asking for it ---------------------------------------------------------------------------- */

bool hold_page_fails(struct exchange *exchange)
{
    const struct hold_request *request = &exchange->hold;
    if (request->answer == HOLD_OK && request->hold_count > 0)
        return false;
    if (request->answer == HOLD_STORE_FAILED)
        exchange_fail(exchange, 503, "store_unavailable", request->problem);
    else
        exchange_fail(exchange, 404, "not_found", "There is no such hold.");
    return true;
}

void hold_page_ask(struct exchange *exchange, void (*answered)(struct exchange *exchange))
{
    if (exchange->server->store == NULL || !number_parse(exchange->argument, &exchange->hold.id)) {
        exchange_fail(exchange, 404, "not_found", "There is no such hold.");
        return;
    }
    exchange->browse.view = VIEW_ONE;
    exchange_ask_store(exchange, HOLD_OP_BROWSE, answered);
}

static void answer_hold(struct exchange *exchange)
{
    if (!hold_page_fails(exchange))
        hold_page_send(exchange, 200);
}

void page_hold(struct exchange *exchange)
{
    hold_page_ask(exchange, answer_hold);
}

/* The statement alone, to be copied. It has no character that cannot be seen: it is our own print. */
static void answer_statement(struct exchange *exchange)
{
    if (hold_page_fails(exchange))
        return;
    struct buffer body;
    buffer_init(&body, LIMIT_HTTP_ANSWER_BYTES);
    buffer_append_text(&body, exchange->hold.holds[0]->statement);
    buffer_append_byte(&body, '\n');
    exchange_send(exchange, 200, CONTENT_TEXT, &body);
}

void page_statement(struct exchange *exchange)
{
    hold_page_ask(exchange, answer_statement);
}

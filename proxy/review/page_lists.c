/*
 * page_lists.c - the queue and the history: tables of holds with a filter and pages. See handlers.h.
 *
 * There is no way to decide several at once, on purpose. Where one agent fills the queue, pausing
 * it is offered instead.
 */
#include "proxy/review/handlers.h"

#include "proxy/base/limits.h"
#include "proxy/review/assets.h"
#include "proxy/review/http.h"
#include "proxy/review/page.h"
#include "proxy/review/server.h"
#include "proxy/review/summary.h"

#include <event2/http.h>
#include <stdlib.h>

enum { PAGE_ROWS = 50, MANY_OF_ONE = 20, FILTER_FROM = 10, REFRESH_S = 30, CHOICES_MAX = 100 };

_Static_assert((int)PAGE_ROWS < (int)LIMIT_HOLDS_PER_LIST, "a page is one answer of the store");

static const int64_t five_minutes_us = 5 * 60 * (int64_t)1000000;

/* --- the query -------------------------------------------------------------------------------- */

static const char *take_filter(struct exchange *exchange, struct text name, struct text value)
{
    struct hold_request *request = &exchange->hold;
    int64_t number;
    if (text_is(name, "q")) {
        exchange->browse.words = value;
        return value.size <= 200 ? NULL : "that is too long to look for";
    }
    if (text_is(name, "agent"))
        request->agent = value;
    else if (text_is(name, "verb"))
        exchange->browse.verb = value;
    else if (text_is(name, "state"))
        request->filter_state = hold_state_from_name(value);
    else if (text_is(name, "before"))
        return number_parse(value, &request->after) ? NULL : "\"before\" must be a number";
    else if (text_is(name, "page") && number_parse(value, &number) && number <= LIMIT_QUEUED_HOLDS)
        exchange->browse.offset = (number - 1) * PAGE_ROWS;
    else
        return "there is no such filter";
    return NULL;
}

/* In a browser's query of a form a plus sign is a space. */
static struct text plus_as_space(struct arena *arena, struct text query)
{
    char *bytes = arena_allocate(arena, query.size + 1);
    for (size_t i = 0; i < query.size; i++)
        bytes[i] = query.bytes[i] == '+' ? ' ' : query.bytes[i];
    return (struct text){bytes, query.size};
}

static const char *take_query(struct exchange *exchange)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(exchange->request);
    struct text query =
        plus_as_space(&exchange->arena, text_from(evhttp_uri_get_query(uri)));
    struct text name;
    struct text value;
    const char *problem = NULL;
    int more = 1;
    while (problem == NULL && (more = query_next(&exchange->arena, &query, &name, &value)) > 0)
        if (value.size > 0)
            problem = take_filter(exchange, name, value);
    return more < 0 ? "the address cannot be decoded" : problem;
}

static bool is_filtered(const struct exchange *exchange)
{
    return exchange->hold.agent.size > 0 || exchange->browse.verb.size > 0 ||
           exchange->browse.words.size > 0 || exchange->hold.filter_state != HOLD_NONE;
}

/* The filters of now as a query, to go on with. */
static struct text filter_query(const struct exchange *exchange, struct arena *arena)
{
    struct text agent = html_path(arena, exchange->hold.agent);
    struct text verb = html_path(arena, exchange->browse.verb);
    struct text words = html_path(arena, exchange->browse.words);
    const char *state = exchange->hold.filter_state != HOLD_NONE
                            ? hold_state_name(exchange->hold.filter_state)
                            : "";
    return arena_printf(arena, "q=%.*s&agent=%.*s&verb=%.*s&state=%s", TEXT_ARGS(words),
                        TEXT_ARGS(agent), TEXT_ARGS(verb), state);
}

/* --- the filter form -------------------------------------------------------------------------- */

/* Texts with how often they occur. */
struct tally {
    struct text names[CHOICES_MAX];
    size_t numbers[CHOICES_MAX];
    size_t count;
};

static void tally_add(struct tally *tally, struct text name, size_t number)
{
    size_t at = 0;
    while (at < tally->count && !text_equal(tally->names[at], name))
        at++;
    if (at == CHOICES_MAX)
        return;
    if (at == tally->count)
        tally->names[tally->count++] = name;
    tally->numbers[at] += number;
}

static void choices(struct page *page, const char *id, const char *label, const char *name,
                    const struct tally *tally, struct text chosen, bool with_numbers)
{
    struct buffer *out = &page->out;
    html(out, "<div><label for=\"%s\">%s</label><select id=\"%s\" name=\"%s\">", id, label, id,
         name);
    html(out, "<option value=\"\">Any</option>");
    for (size_t i = 0; i < tally->count; i++) {
        struct text choice = tally->names[i];
        html(out,
             text_equal(choice, chosen) ? "<option value=\"%.*s\" selected>%.*s"
                                        : "<option value=\"%.*s\">%.*s",
             TEXT_ARGS(choice), TEXT_ARGS(choice));
        if (with_numbers)
            html(out, " (%ld)", (long)tally->numbers[i]);
        html(out, "</option>");
    }
    html(out, "</select></div>\n");
}

static void words_field(struct page *page, const char *label)
{
    html(&page->out,
         "<div><label for=\"q\">%s</label><input id=\"q\" name=\"q\" type=\"search\" "
         "value=\"%.*s\"></div>\n",
         label, TEXT_ARGS(page->exchange->browse.words));
}

static void queue_filter(struct page *page)
{
    const struct exchange *exchange = page->exchange;
    const struct hold_browse *browse = &exchange->browse;
    struct tally agents = {.count = 0};
    struct tally verbs = {.count = 0};
    for (size_t i = 0; i < browse->queue_count; i++) {
        tally_add(&agents, browse->queue[i].agent, 1);
        tally_add(&verbs, browse->queue[i].verb, 1);
    }
    html(&page->out, "<form class=\"filter\" method=\"get\" action=\"/holds\" role=\"search\">\n");
    words_field(page, "Table, statement or number");
    choices(page, "ag", "Agent", "agent", &agents, exchange->hold.agent, true);
    choices(page, "vb", "Verb", "verb", &verbs, browse->verb, true);
    html(&page->out, "<button>Show</button>\n</form>\n");
}

static void history_filter(struct page *page)
{
    const struct exchange *exchange = page->exchange;
    const struct configuration *configuration = exchange->configuration;
    struct tally agents = {.count = 0};
    struct tally states = {.count = 0};
    for (size_t i = 0; i < configuration->agent_count; i++)
        tally_add(&agents, configuration->agents[i].name, 1);
    for (enum hold_state state = HOLD_RELEASED; state < HOLD_STATE_COUNT; state++)
        tally_add(&states, text_from(hold_state_name(state)), 1);
    enum hold_state chosen = exchange->hold.filter_state;
    html(&page->out,
         "<form class=\"filter\" method=\"get\" action=\"/history\" role=\"search\">\n");
    words_field(page, "Table, statement, person or number");
    choices(page, "ag", "Agent", "agent", &agents, exchange->hold.agent, false);
    choices(page, "st", "Outcome", "state", &states,
            chosen != HOLD_NONE ? text_from(hold_state_name(chosen)) : TEXT(""), false);
    html(&page->out, "<button>Show</button>\n</form>\n");
}

/* --- rows ------------------------------------------------------------------------------------- */

static void verb_tag(struct page *page, struct text verb)
{
    html(&page->out, "<td class=\"verb\"><span class=\"tag %.*s\">", TEXT_ARGS(verb));
    for (size_t i = 0; i < verb.size; i++) {
        char letter[2] = {verb.bytes[i], '\0'};
        if (letter[0] >= 'a' && letter[0] <= 'z')
            letter[0] = (char)(letter[0] - 'a' + 'A');
        html(&page->out, "%s", letter);
    }
    html(&page->out, "</span></td>\n");
}

static void effect_cell(struct page *page, const struct summary *summary)
{
    struct buffer *out = &page->out;
    struct text headline = summary_headline(summary, page->arena);
    struct text also = summary_also(summary, page->arena);
    html(out, "<th scope=\"row\" class=\"what\"><a href=\"/holds/%ld\">%.*s</a>",
         (long)summary->hold->id, TEXT_ARGS(headline));
    if (also.size > 0)
        html(out, "<small>%.*s</small>", TEXT_ARGS(also));
    if (summary->ratio > 0)
        html(out, "<small>%ld times more than expected</small>", (long)summary->ratio);
}

static void approvals_line(struct page *page, const struct hold *hold)
{
    if (hold->quorum < 2)
        return;
    html(&page->out, "<small>%ld of %ld approvals", (long)hold->approval_count,
         (long)hold->quorum);
    for (size_t i = 0; i < hold->approval_count; i++)
        html(&page->out, i == 0 ? ": %.*s" : ", %.*s", TEXT_ARGS(hold->approvals[i].by));
    html(&page->out, "</small>");
}

static void queue_row(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    struct summary summary;
    summary_make(&summary, page->arena, hold);
    html(out, "<tr>\n");
    verb_tag(page, hold->verb);
    effect_cell(page, &summary);
    approvals_line(page, hold);
    html(out, "</th>\n<td data-l=\"By\">%.*s <small>", TEXT_ARGS(hold->agent));
    page_ago(page, hold->created);
    html(out, "</small></td>\n<td data-l=\"Rule\">%.*s</td>\n<td class=\"right\">",
         TEXT_ARGS(hold->rule));
    if (hold->expires.us > 0) {
        page_left(page, hold->expires);
        html(out, " <small>until ");
        page_time(page, hold->expires, minute_words(page->arena, hold->expires));
        html(out, "</small>");
    } else {
        html(out, "<span>no end</span>");
    }
    html(out, "</td>\n</tr>\n");
}

static void list_table(struct page *page, const char *head,
                       void (*row)(struct page *page, const struct hold *hold))
{
    const struct hold_request *request = &page->exchange->hold;
    html(&page->out, "<table class=\"list\">\n%s<tbody>\n", head);
    for (size_t i = 0; i < request->hold_count && !page->out.overflow; i++)
        row(page, request->holds[i]);
    html(&page->out, "</tbody>\n</table>\n");
}

static void queue_table(struct page *page)
{
    list_table(page,
               "<caption class=\"vh\">Statements that wait for a decision, the first to expire on "
               "top</caption>\n<thead><tr><th scope=\"col\">Verb</th><th scope=\"col\">Effect</th>"
               "<th scope=\"col\">Asked by</th><th scope=\"col\">Rule</th>"
               "<th scope=\"col\" class=\"right\">Time left</th></tr></thead>\n",
               queue_row);
}

/* --- the queue -------------------------------------------------------------------------------- */

static int64_t ended_today(const struct hold_browse *browse)
{
    int64_t sum = 0;
    for (size_t i = 0; i < HOLD_STATE_COUNT; i++)
        sum += browse->today[i];
    return sum;
}

static void empty_queue(struct page *page)
{
    const struct hold_browse *browse = &page->exchange->browse;
    int64_t ended = ended_today(browse);
    html(&page->out, "<h1 class=\"vh\">Queue</h1>\n<div class=\"empty stack\">" PAGE_GATE
                     "<h2>Nothing waits for you</h2>\n<p class=\"soft\">A statement that a rule "
                     "holds appears here with its rehearsed effect. ");
    if (ended > 0)
        html(&page->out, "Today %ld ended: %ld ran, %ld refused, %ld expired.</p>\n", (long)ended,
             (long)browse->today[HOLD_EXECUTED], (long)browse->today[HOLD_REFUSED],
             (long)browse->today[HOLD_EXPIRED]);
    else
        html(&page->out, "None has ended today.</p>\n");
    html(&page->out, "<p><a href=\"/history\">See what was decided</a></p>\n</div>\n");
}

static size_t soon_to_expire(const struct page *page)
{
    const struct hold_request *request = &page->exchange->hold;
    size_t count = 0;
    for (size_t i = 0; i < request->hold_count; i++) {
        int64_t expires_us = request->holds[i]->expires.us;
        count += expires_us > 0 && expires_us - page->now.us < five_minutes_us;
    }
    return count;
}

static void queue_title(struct page *page)
{
    size_t waiting = page_queue_count(page->exchange);
    size_t soon = soon_to_expire(page);
    struct text number = number_words(page->arena, (int64_t)waiting);
    html(&page->out, "<div class=\"title\"><h1>%.*s %s</h1><p class=\"soft\">", TEXT_ARGS(number),
         waiting == 1 ? "statement waits for you" : "statements wait for you");
    if (soon > 0)
        html(&page->out, "%ld %s within 5 minutes.", (long)soon, soon == 1 ? "expires" : "expire");
    else
        html(&page->out, "First to expire on top.");
    html(&page->out, " Times are UTC.</p></div>\n");
}

/* An agent in a loop is stopped by pausing it, not by deciding a hundred times. */
static void offer_pause(struct page *page)
{
    const struct hold_browse *browse = &page->exchange->browse;
    struct tally agents = {.count = 0};
    for (size_t i = 0; i < browse->queue_count; i++)
        tally_add(&agents, browse->queue[i].agent, 1);
    for (size_t i = 0; i < agents.count; i++) {
        if (agents.numbers[i] <= MANY_OF_ONE)
            continue;
        struct text path = html_path(page->arena, agents.names[i]);
        page_notice_begin(page, NOTICE_WARN, ICON_WARNING, "note");
        html(&page->out,
             "<p><strong>%ld of them come from %.*s.</strong> An agent in a loop is stopped by "
             "pausing it, not by deciding %ld times.</p><p><a href=\"/agents#%.*s\">Pause %.*s"
             "</a></p>",
             (long)agents.numbers[i], TEXT_ARGS(agents.names[i]), (long)agents.numbers[i],
             TEXT_ARGS(path), TEXT_ARGS(agents.names[i]));
        page_notice_end(page);
    }
}

static void queue_pages(struct page *page)
{
    const struct exchange *exchange = page->exchange;
    int64_t total = exchange->browse.total;
    int64_t first = exchange->browse.offset;
    if (total <= PAGE_ROWS)
        return;
    struct text query = filter_query(exchange, page->arena);
    int64_t last = first + (int64_t)exchange->hold.hold_count;
    html(&page->out, "<nav class=\"pages\" aria-label=\"Pages\"><span>%ld to %ld of %ld</span>",
         (long)(last > first ? first + 1 : first), (long)last, (long)total);
    if (first > 0)
        html(&page->out, "<a class=\"button\" href=\"/holds?%.*s&page=%ld\">Previous %d</a>",
             TEXT_ARGS(query), (long)(first / PAGE_ROWS), PAGE_ROWS);
    if (last < total)
        html(&page->out, "<a class=\"button\" href=\"/holds?%.*s&page=%ld\">Next %d</a>",
             TEXT_ARGS(query), (long)(first / PAGE_ROWS + 2), PAGE_ROWS);
    html(&page->out, "</nav>\n");
}

static void show_queue(struct page *page)
{
    const struct exchange *exchange = page->exchange;
    if (page_queue_count(exchange) == 0) {
        empty_queue(page);
        return;
    }
    queue_title(page);
    offer_pause(page);
    if (page_queue_count(exchange) > FILTER_FROM || is_filtered(exchange))
        queue_filter(page);
    if (exchange->hold.hold_count > 0)
        queue_table(page);
    else
        html(&page->out, "<p>None of them is like that.</p>\n");
    queue_pages(page);
}

static void fail_store(struct exchange *exchange)
{
    exchange_fail(exchange, 503, "store_unavailable", exchange->hold.problem);
}

static void answer_queue(struct exchange *exchange)
{
    if (exchange->hold.answer != HOLD_OK) {
        fail_store(exchange);
        return;
    }
    struct page page;
    page_begin(&page, exchange,
               &(struct page_head){.title = TEXT("Queue"),
                                   .tab = TAB_QUEUE,
                                   .live = "queue",
                                   .refresh_s = REFRESH_S});
    html(&page.out, "<div class=\"stack\" data-part=\"queue\">\n");
    show_queue(&page);
    html(&page.out, "</div>\n");
    page_send(&page, 200);
}

/* Asks the store what the page shows; without a store there is nothing to show. */
static void browse(struct exchange *exchange, enum hold_view view,
                   void (*answered)(struct exchange *exchange))
{
    const char *problem = take_query(exchange);
    exchange->browse.view = view;
    exchange->hold.browse = &exchange->browse;
    exchange->hold.limit = PAGE_ROWS;
    exchange->hold.answer = HOLD_OK;
    if (problem != NULL)
        exchange_fail(exchange, 400, "bad_query", problem);
    else if (exchange->server->store == NULL)
        answered(exchange);
    else
        exchange_ask_store(exchange, HOLD_OP_BROWSE, answered);
}

void page_queue(struct exchange *exchange)
{
    browse(exchange, VIEW_QUEUE, answer_queue);
}

/* --- history ---------------------------------------------------------------------------------- */

static struct instant when_of(const struct hold *hold)
{
    if (hold->finished.us > 0)
        return hold->finished;
    return hold->decided.us > 0 ? hold->decided : hold->created;
}

static void outcome_line(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    if (hold->state == HOLD_EXECUTED)
        html(out, "<small>exactly as released</small>");
    else if (hold->state == HOLD_REFUSED)
        html(out, "<small>“%.*s”</small>", TEXT_ARGS(hold->decision_reason));
    else if (hold->state == HOLD_EXPIRED)
        html(out, "<small>nobody decided in time</small>");
    else if (hold->state == HOLD_LAPSED)
        html(out, "<small>released, and not sent again in time</small>");
    else if (hold->state == HOLD_RELEASED && hold->run_until.us > 0) {
        html(out, "<small>not run yet, ");
        page_left(page, hold->run_until);
        html(out, "</small>");
    } else if (hold->outcome_error.size > 0)
        html(out, "<small>%.*s</small>", TEXT_ARGS(hold->outcome_error));
}

static void deciders(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    html(out, "<td data-l=\"Decided by\">");
    for (size_t i = 0; i < hold->approval_count; i++)
        html(out, i == 0 ? "%.*s" : ", %.*s", TEXT_ARGS(hold->approvals[i].by));
    if (hold->state == HOLD_REFUSED)
        html(out, hold->approval_count > 0 ? "; refused by %.*s" : "%.*s",
             TEXT_ARGS(hold->decided_by));
    else if (hold->approval_count == 0)
        html(out, "nobody");
    html(out, "</td>\n");
}

static void history_row(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    const char *state = hold_state_name(hold->state);
    struct summary summary;
    summary_make(&summary, page->arena, hold);
    html(out, "<tr>\n<td class=\"verb\"><span class=\"tag %s\">%s</span></td>\n", state, state);
    struct text headline = summary_headline(&summary, page->arena);
    html(out, "<th scope=\"row\" class=\"what\"><a href=\"/holds/%ld\">%.*s</a>", (long)hold->id,
         TEXT_ARGS(headline));
    outcome_line(page, hold);
    html(out, "</th>\n<td data-l=\"By\">%.*s <small>hold %ld</small></td>\n",
         TEXT_ARGS(hold->agent), (long)hold->id);
    deciders(page, hold);
    struct instant when = when_of(hold);
    struct text date = date_words(page->arena, when);
    html(out, "<td class=\"right\">");
    page_time(page, when, clock_words(page->arena, when));
    html(out, " <small>%.*s</small></td>\n</tr>\n", TEXT_ARGS(date));
}

static void history_table(struct page *page)
{
    list_table(page,
               "<caption class=\"vh\">Decided holds, newest first</caption>\n"
               "<thead><tr><th scope=\"col\">Outcome</th><th scope=\"col\">Effect</th>"
               "<th scope=\"col\">Asked by</th><th scope=\"col\">Decided by</th>"
               "<th scope=\"col\" class=\"right\">When</th></tr></thead>\n",
               history_row);
}

static void history_pages(struct page *page)
{
    const struct exchange *exchange = page->exchange;
    const struct hold_request *request = &exchange->hold;
    if (exchange->browse.total <= PAGE_ROWS)
        return;
    struct text query = filter_query(exchange, page->arena);
    struct text total = number_words(page->arena, exchange->browse.total);
    html(&page->out, "<nav class=\"pages\" aria-label=\"Pages\"><span>%ld of %.*s</span>",
         (long)request->hold_count, TEXT_ARGS(total));
    if (request->after > 0)
        html(&page->out, "<a class=\"button\" href=\"/history?%.*s\">Newest</a>",
             TEXT_ARGS(query));
    if (request->hold_count == PAGE_ROWS)
        html(&page->out, "<a class=\"button\" href=\"/history?%.*s&before=%ld\">Older %d</a>",
             TEXT_ARGS(query), (long)request->holds[request->hold_count - 1]->id, PAGE_ROWS);
    html(&page->out, "</nav>\n");
}

static void answer_history(struct exchange *exchange)
{
    if (exchange->hold.answer != HOLD_OK) {
        fail_store(exchange);
        return;
    }
    struct page page;
    page_begin(&page, exchange,
               &(struct page_head){.title = TEXT("History"), .tab = TAB_HISTORY, .live = "nothing"});
    struct text total = number_words(page.arena, exchange->browse.total);
    html(&page.out,
         "<div class=\"title\"><h1>History</h1><p class=\"soft\">%.*s %s%s. Times are UTC.</p>"
         "</div>\n",
         TEXT_ARGS(total), exchange->browse.total == 1 ? "hold" : "holds",
         is_filtered(exchange) ? " found" : "");
    history_filter(&page);
    if (exchange->hold.hold_count > 0)
        history_table(&page);
    else
        html(&page.out, "<p>No hold is like that.</p>\n");
    history_pages(&page);
    page_send(&page, 200);
}

void page_history(struct exchange *exchange)
{
    browse(exchange, VIEW_HISTORY, answer_history);
}

/* page.c - see page.h. A page that would be longer than an answer may be is answered with 500. */
#include "proxy/review/page.h"

#include "proxy/base/limits.h"
#include "proxy/review/assets.h"
#include "proxy/review/server.h"

static const int64_t soon_us = 5 * 60 * (int64_t)1000000;

static const char *const icons[] = {
    [ICON_WARNING] = "M12 3 22 20H2zM12 10v5M12 17v1",
    [ICON_CHECK] = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M7.5 12.5l3 3 6-7",
    [ICON_CROSS] = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M8.5 8.5l7 7M15.5 8.5l-7 7",
    [ICON_CLOCK] = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3.5 2",
    [ICON_INFO] = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v6M12 7v1",
};

static const char *const notice_classes[] = {
    [NOTICE_PLAIN] = "notice",
    [NOTICE_GOOD] = "notice good",
    [NOTICE_WARN] = "notice warn",
    [NOTICE_BAD] = "notice bad",
};

size_t page_queue_count(const struct exchange *exchange)
{
    return exchange->browse.queue_count;
}

static void head(struct page *page, const struct page_head *head)
{
    struct buffer *out = &page->out;
    html(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"robots\" content=\"noindex\">\n");
    html(out, "<title>%.*s · pgwicket</title>\n", TEXT_ARGS(head->title));
    html(out, "<link rel=\"icon\" href=\"%s\" type=\"image/svg+xml\">\n", asset_path("icon.svg"));
    html(out, "<link rel=\"stylesheet\" href=\"%s\">\n", asset_path("wicket.css"));
    if (head->live != NULL)
        html(out, "<script src=\"%s\" defer></script>\n", asset_path("wicket.js"));
    if (head->refresh_s > 0)
        html(out, "<noscript><meta http-equiv=\"refresh\" content=\"%d\"></noscript>\n",
             head->refresh_s);
    html(out, "</head>\n");
}

static void link_to(struct page *page, const char *path, const char *name, bool current)
{
    html(&page->out, current ? "<a href=\"%s\" aria-current=\"page\">%s" : "<a href=\"%s\">%s",
         path, name);
}

static void navigation(struct page *page, enum tab tab)
{
    struct buffer *out = &page->out;
    size_t waiting = page_queue_count(page->exchange);
    struct text number = number_words(page->arena, (int64_t)waiting);
    html(out, "<nav aria-label=\"Main\">");
    link_to(page, "/holds", "Queue", tab == TAB_QUEUE);
    html(out, " <span data-part=\"count\">");
    if (waiting > 0)
        html(out, "<span class=\"count\">%.*s<span class=\"vh\"> waiting</span></span>",
             TEXT_ARGS(number));
    html(out, "</span></a>\n");
    link_to(page, "/history", "History", tab == TAB_HISTORY);
    html(out, "</a>\n");
    link_to(page, "/agents", "Agents", tab == TAB_AGENTS);
    html(out, "</a></nav>\n");
}

static void top(struct page *page, enum tab tab)
{
    struct buffer *out = &page->out;
    const struct exchange *exchange = page->exchange;
    html(out, "<a class=\"skip\" href=\"#main\">Skip to content</a>\n<header class=\"top\">\n");
    html(out, "<a class=\"brand\" href=\"/holds\">" PAGE_GATE "pgwicket</a>\n");
    navigation(page, tab);
    html(out, "<div class=\"me\"><span>%.*s</span>", TEXT_ARGS(exchange->approver->name));
    if (!exchange->by_proxy) {
        html(out, "<form method=\"post\" action=\"/sign-out\">");
        page_csrf(page);
        html(out, "<button class=\"plain\">Sign out</button></form>");
    }
    html(out, "</div>\n</header>\n");
}

void page_begin(struct page *page, struct exchange *exchange, const struct page_head *what)
{
    *page = (struct page){
        .exchange = exchange, .arena = &exchange->arena, .now = clock_now()};
    struct buffer *out = &page->out;
    buffer_init(out, LIMIT_HTTP_ANSWER_BYTES);
    head(page, what);
    if (exchange->approver != NULL) {
        html(out, "<body>\n");
        top(page, what->tab);
    } else {
        html(out, "<body class=\"door-page\">\n");
    }
    html(out, "<main id=\"main\" class=\"%s\" data-live=\"%s\" data-id=\"%ld\">\n",
         what->main_class != NULL ? what->main_class : "", what->live != NULL ? what->live : "",
         (long)what->live_id);
}

void page_send(struct page *page, int status)
{
    html(&page->out, "</main>\n");
    if (page->exchange->approver != NULL)
        html(&page->out, "<footer class=\"foot\">pgwicket shows what a statement does. Whether it "
                         "is the right thing to do is yours to judge.</footer>\n");
    html(&page->out, "</body>\n</html>\n");
    exchange_send(page->exchange, status, CONTENT_PAGE, &page->out);
}

void page_message(struct exchange *exchange, int status, const char *title, const char *sentence)
{
    struct page page;
    page_begin(&page, exchange, &(struct page_head){.title = text_from(title)});
    html(&page.out, "<h1>%s</h1>\n<p>%s</p>\n<p><a href=\"/holds\">To the queue</a></p>\n", title,
         sentence);
    page_send(&page, status);
}

void page_notice_begin(struct page *page, enum notice notice, enum icon icon, const char *role)
{
    html(&page->out,
         "<div class=\"%s\" role=\"%s\"><svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">"
         "<path d=\"%s\"/></svg><div>",
         notice_classes[notice], role, icons[icon]);
}

void page_notice_end(struct page *page)
{
    html(&page->out, "</div></div>\n");
}

void page_csrf(struct page *page)
{
    html(&page->out, "<input type=\"hidden\" name=\"csrf\" value=\"%s\">",
         page->exchange->csrf);
}

void page_time(struct page *page, struct instant instant, struct text words)
{
    struct text machine = machine_time(page->arena, instant);
    html(&page->out, "<time datetime=\"%.*s\">%.*s</time>", TEXT_ARGS(machine), TEXT_ARGS(words));
}

void page_left(struct page *page, struct instant until)
{
    struct text machine = machine_time(page->arena, until);
    struct text words = left_words(page->arena, until, page->now);
    bool soon = until.us - page->now.us < soon_us;
    html(&page->out, "<span class=\"%s\" data-until=\"%.*s\">%.*s</span>", soon ? "soon" : "",
         TEXT_ARGS(machine), TEXT_ARGS(words));
}

void page_ago(struct page *page, struct instant then)
{
    struct text machine = machine_time(page->arena, then);
    struct text words = ago_words(page->arena, then, page->now);
    html(&page->out, "<span data-since=\"%.*s\">%.*s</span>", TEXT_ARGS(machine),
         TEXT_ARGS(words));
}

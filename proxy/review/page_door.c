/*
 * page_door.c - signing in and out, and the files that pages load. See handlers.h.
 *
 * A link from elsewhere comes without the cookie (SameSite=Strict): the page is then asked for once
 * more from here, with it. Only if it is still missing, somebody has to sign in.
 */
#include "proxy/review/handlers.h"

#include "proxy/base/limits.h"
#include "proxy/review/assets.h"
#include "proxy/review/http.h"
#include "proxy/review/identity.h"
#include "proxy/review/page.h"
#include "proxy/review/server.h"

#include <event2/http.h>
#include <stdlib.h>

void page_root(struct exchange *exchange)
{
    exchange_redirect(exchange, TEXT("/holds"));
}

void handle_asset(struct exchange *exchange)
{
    const struct asset *asset = asset_find(exchange->argument);
    if (asset == NULL) {
        exchange_fail(exchange, 404, "not_found", "there is no such file");
        return;
    }
    struct buffer content;
    buffer_init(&content, LIMIT_HTTP_ANSWER_BYTES);
    buffer_append_text(&content, asset->content);
    exchange_add_header(exchange, "Content-Type", asset->type);
    exchange_send(exchange, 200, CONTENT_ASSET, &content);
}

/* --- the form --------------------------------------------------------------------------------- */

/* What the form shows: again, what was typed, and what was wrong. */
struct door {
    struct text next;
    struct text name;
    const char *problem; /* NULL: none */
    struct text detail;
    bool lost; /* a form was sent without a session */
};

static void show_problem(struct page *page, const struct door *door)
{
    if (door->lost) {
        page_notice_begin(page, NOTICE_WARN, ICON_WARNING, "alert");
        html(&page->out, "<p><strong>Nothing was sent: your session had ended.</strong> Sign in, "
                         "look at the effect again, then decide.</p>");
        page_notice_end(page);
    }
    if (door->problem == NULL)
        return;
    page_notice_begin(page, NOTICE_BAD, ICON_CROSS, "alert");
    html(&page->out, "<p id=\"err\"><strong>%s</strong> %.*s</p>", door->problem,
         TEXT_ARGS(door->detail));
    page_notice_end(page);
}

static void show_fields(struct page *page, const struct door *door)
{
    struct buffer *out = &page->out;
    html(out, "<form method=\"post\" action=\"/sign-in\">\n"
              "<input type=\"hidden\" name=\"next\" value=\"%.*s\">\n",
         TEXT_ARGS(door->next));
    html(out, "<div><label for=\"u\">Name</label><input id=\"u\" name=\"user\" "
              "autocomplete=\"username\" autocapitalize=\"none\" spellcheck=\"false\" "
              "required value=\"%.*s\"></div>\n",
         TEXT_ARGS(door->name));
    html(out, "<div><label for=\"p\">Password</label><input id=\"p\" name=\"password\" "
              "type=\"password\" autocomplete=\"current-password\" required></div>\n");
    html(out, "<button class=\"go wide\">Sign in</button>\n</form>\n");
}

static void show_door(struct exchange *exchange, int status, const struct door *door)
{
    struct page page;
    struct text host = exchange_header(exchange, "Host");
    page_begin(&page, exchange, &(struct page_head){.title = TEXT("Sign in")});
    html(&page.out, "<p class=\"brand\">" PAGE_GATE "pgwicket</p>\n<h1>Sign in to decide</h1>\n");
    html(&page.out, "<p class=\"soft\">at %.*s</p>\n", TEXT_ARGS(host));
    show_problem(&page, door);
    show_fields(&page, door);
    html(&page.out, "<p class=\"soft\">This is for people who decide. An agent’s password does "
                    "not open it, and yours does not open the database.</p>\n");
    page_send(&page, status);
}

/* A path of ours, else the queue. */
static struct text next_path(struct text wanted)
{
    return is_local_path(wanted) ? wanted : TEXT("/holds");
}

static struct text query_value(struct exchange *exchange, const char *name)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(exchange->request);
    struct text query = text_from(evhttp_uri_get_query(uri));
    struct text key;
    struct text value;
    while (query_next(&exchange->arena, &query, &key, &value) > 0)
        if (text_is(key, name))
            return value;
    return TEXT("");
}

void page_sign_in(struct exchange *exchange)
{
    const struct door door = {.next = next_path(query_value(exchange, "next")),
                              .lost = query_value(exchange, "lost").size > 0};
    show_door(exchange, 200, &door);
}

static void refuse(struct exchange *exchange, struct door *door)
{
    struct source source = source_from(peer_address(exchange));
    int left = login_tries_left(exchange->server->login, &source, clock_monotonic_us());
    door->problem = "Name or password is wrong.";
    door->detail = left > 0 ? arena_printf(&exchange->arena, "%d more %s, then a pause of a minute.",
                                           left, left == 1 ? "try" : "tries")
                            : TEXT("Now wait for a minute.");
    show_door(exchange, 401, door);
}

void form_sign_in(struct exchange *exchange)
{
    struct door door = {.next = next_path(form_value(&exchange->form, "next")),
                        .name = form_value(&exchange->form, "user")};
    switch (sign_in(exchange, door.name, form_value(&exchange->form, "password"))) {
    case LOGIN_PASSED:
        exchange_redirect(exchange, door.next);
        return;
    case LOGIN_THROTTLED:
        exchange_add_header(exchange, "Retry-After", "60");
        door.problem = "Too many failed logins.";
        door.detail = TEXT("Try again in a minute.");
        show_door(exchange, 429, &door);
        return;
    case LOGIN_REFUSED:
        break;
    }
    refuse(exchange, &door);
}

void form_sign_out(struct exchange *exchange)
{
    sign_out(exchange);
    exchange_redirect(exchange, TEXT("/sign-in"));
}

/* --- nobody is signed in ---------------------------------------------------------------------- */

/* The path and query that were asked for; after a form the page that it stood on. */
static struct text path_back(struct exchange *exchange, bool form)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(exchange->request);
    struct text path = text_from(evhttp_uri_get_path(uri));
    const char *query = evhttp_uri_get_query(uri);
    if (form) /* "/holds/17/release" stands on "/holds/17" */
        while (path.size > 1 && path.bytes[--path.size] != '/')
            continue;
    struct text whole = form || query == NULL
                            ? arena_text(&exchange->arena, path)
                            : arena_printf(&exchange->arena, "%.*s?%s", TEXT_ARGS(path), query);
    return next_path(whole);
}

/* The same page once more, asked for by a page of ours. */
static void ask_again(struct exchange *exchange, struct text path)
{
    struct buffer out;
    buffer_init(&out, LIMIT_HTTP_ANSWER_BYTES);
    html(&out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta http-equiv=\"refresh\" content=\"0; url=%.*s\"><title>pgwicket</title>"
               "</head><body><p><a href=\"%.*s\">Go on</a></p></body></html>\n",
         TEXT_ARGS(path), TEXT_ARGS(path));
    exchange_send(exchange, 200, CONTENT_PAGE, &out);
}

void page_ask_to_sign_in(struct exchange *exchange, bool lost)
{
    struct text path = path_back(exchange, lost);
    if (!lost && text_is(exchange_header(exchange, "Sec-Fetch-Site"), "cross-site")) {
        ask_again(exchange, path);
        return;
    }
    struct text encoded = html_path(&exchange->arena, path);
    exchange_redirect(exchange, arena_printf(&exchange->arena, "/sign-in?next=%.*s%s",
                                             TEXT_ARGS(encoded), lost ? "&lost=1" : ""));
}

/*
 * page.h - the frame of every page: head, navigation, foot; and the answer that carries it.
 *
 * Pages are whole without a script. What a script may replace when something has changed is marked
 * with data-part and a name of its own; a text that grows older with data-until or data-since.
 */
#ifndef PGWICKET_REVIEW_PAGE_H
#define PGWICKET_REVIEW_PAGE_H

#include "proxy/review/exchange.h"
#include "proxy/review/html.h"
#include "proxy/review/words.h"

enum tab { TAB_NONE = 0, TAB_QUEUE, TAB_HISTORY, TAB_AGENTS };

struct page {
    struct buffer out;
    struct exchange *exchange;
    struct arena *arena; /* of the exchange */
    struct instant now;
};

struct page_head {
    struct text title;
    enum tab tab;
    const char *main_class; /* NULL: none */
    const char *live;       /* what the script listens for: "queue", "hold"; NULL: nothing */
    int64_t live_id;
    int refresh_s;          /* without a script the page is loaded again; 0: never */
};

/* Begins a page for whoever is signed in; with nobody, there is no navigation. */
void page_begin(struct page *page, struct exchange *exchange, const struct page_head *head);

/* Ends it and answers; the exchange is gone. */
void page_send(struct page *page, int status);

/* A whole page that says one thing: <h1> and a sentence. Answers. */
void page_message(struct exchange *exchange, int status, const char *title, const char *sentence);

enum notice { NOTICE_PLAIN = 0, NOTICE_GOOD, NOTICE_WARN, NOTICE_BAD };
enum icon { ICON_WARNING = 0, ICON_CHECK, ICON_CROSS, ICON_CLOCK, ICON_INFO };

/* Opens <div class="notice"> with its icon; what follows is its text, up to page_notice_end. */
void page_notice_begin(struct page *page, enum notice notice, enum icon icon, const char *role);
void page_notice_end(struct page *page);

/* The hidden field that every form of a signed-in person carries. */
void page_csrf(struct page *page);

/* A <time> element: the words, and the instant for machines. */
void page_time(struct page *page, struct instant instant, struct text words);

/* "23 min left", marked as soon over where it is, and kept right by the script. */
void page_left(struct page *page, struct instant until);

/* "36 min ago", likewise. */
void page_ago(struct page *page, struct instant then);

/* How many pending holds are in this exchange's answer of the store. */
size_t page_queue_count(const struct exchange *exchange);

#endif

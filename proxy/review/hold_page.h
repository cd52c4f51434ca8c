/* hold_page.h - the page of one hold, for those who show it: the path itself, and its forms. */
#ifndef PGWICKET_REVIEW_HOLD_PAGE_H
#define PGWICKET_REVIEW_HOLD_PAGE_H

#include "proxy/review/exchange.h"

/* Asks the store for the hold of the path and what stands around it; 404 where there is none. */
void hold_page_ask(struct exchange *exchange, void (*answered)(struct exchange *exchange));

/* Has the store no such hold? Then it is answered. */
bool hold_page_fails(struct exchange *exchange);

/* The page, with exchange->notice above it. Answers. */
void hold_page_send(struct exchange *exchange, int status);

#endif

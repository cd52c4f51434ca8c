/* page_parts.h - the parts of a hold's page, from top to bottom. Each appends its markup. */
#ifndef PGWICKET_REVIEW_PAGE_PARTS_H
#define PGWICKET_REVIEW_PAGE_PARTS_H

#include "proxy/review/page.h"
#include "proxy/review/summary.h"

/* page_effect.c */
void part_effect(struct page *page, const struct summary *summary);
void part_not_undone(struct page *page, const struct summary *summary);

/* page_rows.c */
void part_rows(struct page *page, const struct summary *summary);

/* page_statement.c */
void part_statement(struct page *page, const struct hold *hold);

/* page_state.c: what has become of it, above the headline; and step by step, beside it. */
void part_state(struct page *page, const struct summary *summary);
void part_log(struct page *page, const struct summary *summary);

/* page_decide.c */
void part_who(struct page *page, const struct hold *hold);
void part_decide(struct page *page, const struct summary *summary);

/* May the reader still decide it? */
bool reader_can_decide(const struct page *page, const struct hold *hold);

/* The agent of the hold as it is now; NULL: it is not there any more. */
const struct review_agent *hold_agent(struct page *page, const struct hold *hold);

#endif

/*
 * browse.h - what a page shows of the holds, asked for at once: who waits, and the holds of a list.
 * Data of HOLD_OP_BROWSE.
 */
#ifndef PGWICKET_HOLDS_BROWSE_H
#define PGWICKET_HOLDS_BROWSE_H

#include "proxy/holds/hold.h"

enum hold_view {
    VIEW_NOTHING = 0, /* only what waits */
    VIEW_QUEUE,       /* pending ones, the first to expire first, from `offset` */
    VIEW_ONE,         /* request.id, and behind it other pending ones of the same agent, those that
                         expire first; HOLD_NOT_FOUND if it is not visible */
    VIEW_HISTORY,     /* others than pending, newest first, below request.after where that is set */
};

/* A pending hold in the queue's order. */
struct queued {
    int64_t id;
    struct text agent;
    struct text verb;
};

/* Which holds: as the request's policies, agent and filter_state say, and all of this. */
struct hold_browse {
    enum hold_view view;
    struct text verb;  /* empty: any */
    struct text words; /* in the statement, a rule, a name or the reason; or the number. Empty: any */
    int64_t offset;

    /* Answer, beside the request's `holds`; in the request's arena. */
    const struct queued *queue; /* every pending one that is visible, without the filters */
    size_t queue_count;
    int64_t total;                   /* how many match */
    int64_t today[HOLD_STATE_COUNT]; /* ended since midnight UTC; only where nothing waits */
};

#endif

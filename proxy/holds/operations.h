/*
 * operations.h - what the store can be asked, as transactions on its database.
 *
 * One thread. Answers and holds live in the request's arena. Whatever is reported is on the disk.
 */
#ifndef PGWICKET_HOLDS_OPERATIONS_H
#define PGWICKET_HOLDS_OPERATIONS_H

#include "proxy/holds/database.h"
#include "proxy/holds/store.h"

/* A hold as it has become, and the state that it had. */
struct change {
    const struct hold *hold;
    enum hold_state before;
};

/* The most that one request changes: a drifted hold and its successor. */
enum { CHANGES_MAX = 2 };

struct changes {
    struct change items[CHANGES_MAX];
    size_t count;
    int64_t dropped; /* messages that the outbox had no room for */
};

/*
 * Carries the request out and fills in its answer. On HOLD_STORE_FAILED nothing has changed,
 * `changes` is empty and request->problem says why.
 */
void operation_carry_out(struct database *database, const struct hold_hooks *hooks,
                         struct hold_request *request, struct instant now, struct changes *changes);

/* The next hold after this id that time has run out for; 0: none, or the store failed (*failed). */
int64_t operation_next_due(struct database *database, int64_t after, struct instant now,
                           bool *failed);

/* Expires or lapses it. The hold of the change is in `arena`. */
MUST_USE bool operation_expire(struct database *database, const struct hold_hooks *hooks,
                               struct arena *arena, int64_t id, struct instant now,
                               struct changes *changes);

/* Deletes some holds that were finished before `before`, and takes them off `counts`. */
MUST_USE bool operation_delete_old(struct database *database, struct instant before,
                                   int64_t counts[HOLD_STATE_COUNT]);

MUST_USE bool operation_count(struct database *database, int64_t counts[HOLD_STATE_COUNT]);

/* When the oldest pending hold was created; 0: there is none, or it cannot be read. */
struct instant operation_oldest(struct database *database);

#endif

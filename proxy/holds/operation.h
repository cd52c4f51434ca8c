/*
 * operation.h - one request being carried out: what the files of operations share. Inside a
 * transaction, on the store's thread; after HOLD_STORE_FAILED or false the transaction is undone.
 */
#ifndef PGWICKET_HOLDS_OPERATION_H
#define PGWICKET_HOLDS_OPERATION_H

#include "proxy/holds/operations.h"

struct operation {
    struct database *database;
    const struct hold_hooks *hooks;
    struct hold_request *request; /* NULL for the clock's work */
    struct arena *arena;          /* of the answer */
    struct instant now;
    struct changes changes;
};

void operation_bind_words(sqlite3_stmt *statement, int at, struct text text);

/* The one hold that the query gives: HOLD_OK, HOLD_NOT_FOUND or HOLD_STORE_FAILED. */
enum hold_answer operation_one_hold(struct operation *operation, sqlite3_stmt *query,
                                    struct hold **hold);
enum hold_answer operation_get_id(struct operation *operation, int64_t id, struct hold **hold);

/* The hold of the request, if its agent may see it; it becomes the answer's. */
enum hold_answer operation_find(struct operation *operation, struct hold **hold);
bool operation_read_approvals(struct operation *operation, struct hold *hold);

/* The only place where a stored hold gets another state. HOLD_OK or HOLD_STORE_FAILED. */
enum hold_answer operation_become(struct operation *operation, struct hold *hold,
                                  enum hold_state state);

/* Writes what may change of it; `before` is the state that it must still have. */
MUST_USE bool operation_write_back(struct operation *operation, const struct hold *hold,
                                   enum hold_state before);
/* For the listener, and with its messages into the outbox. */
MUST_USE bool operation_note_change(struct operation *operation, const struct hold *hold,
                                    enum hold_state before);
void operation_set_outcome(struct operation *operation, struct hold *hold);

/* What time alone makes of a hold: its state, if it is not too late for it. */
enum hold_state operation_state_by_clock(const struct hold *hold, struct instant now);

/* HOLD_OK if the hold is in this state, also by the clock; else HOLD_WRONG_STATE. */
enum hold_answer operation_require_state(struct operation *operation, struct hold *hold,
                                         enum hold_state state);

/* browse.c */
enum hold_answer operation_browse(struct operation *operation);

/* create.c */
enum hold_answer operation_create(struct operation *operation);
enum hold_answer operation_join(struct operation *operation);

/* decide.c and run.c */
enum hold_answer operation_release(struct operation *operation);
enum hold_answer operation_refuse(struct operation *operation);
enum hold_answer operation_claim(struct operation *operation);
enum hold_answer operation_run(struct operation *operation);
enum hold_answer operation_finish(struct operation *operation);

/* outbox.c */
MUST_USE bool operation_compose(struct operation *operation, const struct hold *hold,
                                enum hold_state before);
enum hold_answer operation_tell(struct operation *operation);
enum hold_answer operation_due(struct operation *operation);
enum hold_answer operation_settle(struct operation *operation);

#endif

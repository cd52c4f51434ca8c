/*
 * create.c - a new hold: joined to an open one of the same statement, refused beyond the agent's
 * limit, put in the place of one that drifted, or stored. See operation.h.
 */
#include "proxy/holds/operation.h"

#include "proxy/base/invariant.h"
#include "proxy/holds/row.h"

#include <stdio.h>

/* The integer that a query gives: 0 for NULL. */
static bool ask_number(struct operation *operation, sqlite3_stmt *query, int64_t *number)
{
    bool failed;
    if (!database_row(operation->database, query, &failed))
        return false;
    *number = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    return true;
}

/* The data of a COPY has a table of its own, so that lists of holds do not read it. */
static bool insert_copied(struct operation *operation, int64_t id)
{
    struct text data = operation->request->copy_data;
    sqlite3_stmt *query = database_query(operation->database, QUERY_INSERT_COPIED);
    sqlite3_bind_int64(query, 1, id);
    sqlite3_bind_blob64(query, 2, data.bytes != NULL ? data.bytes : "", data.size, SQLITE_STATIC);
    return database_run(operation->database, query);
}

static bool insert(struct operation *operation, struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_INSERT);
    if (!row_bind_new(query, hold)) {
        snprintf(operation->database->problem, sizeof operation->database->problem,
                 "the hold's values or settings are too long to be stored");
        return false;
    }
    if (!database_run(operation->database, query))
        return false;
    hold->id = sqlite3_last_insert_rowid(operation->database->handle);
    if (hold->copy_sha256.size > 0 && !insert_copied(operation, hold->id))
        return false;
    return operation_note_change(operation, hold, HOLD_NONE);
}

/* What is stored of a new hold: a copy, with everything that the store decides. */
static struct hold *new_hold(struct operation *operation)
{
    struct hold *hold = hold_copy(operation->arena, operation->request->hold);
    hold->id = 0;
    hold->state = HOLD_PENDING;
    hold->approvals = NULL;
    hold->approval_count = 0;
    if (hold->created.us == 0)
        hold->created = operation->now;
    if (hold->quorum < 1)
        hold->quorum = 1;
    hold_digest(hold, hold->digest);
    hold_match(hold, hold->match);
    return hold;
}

/* An open hold of the same statement becomes the answer. A pending or released one whose time is
 * over is closed first and does not count. */
static enum hold_answer join(struct operation *operation, const struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_OPEN_MATCH);
    sqlite3_bind_blob(query, 1, hold->match, sizeof hold->match, SQLITE_TRANSIENT);
    struct hold *open;
    enum hold_answer answer = operation_one_hold(operation, query, &open);
    if (answer != HOLD_OK)
        return answer;
    enum hold_state by_clock = operation_state_by_clock(open, operation->now);
    if (by_clock != open->state)
        return operation_become(operation, open, by_clock) == HOLD_OK ? HOLD_NOT_FOUND
                                                                      : HOLD_STORE_FAILED;
    operation->request->holds[0] = open;
    return HOLD_JOINED;
}

static enum hold_answer check_pending(struct operation *operation, const struct hold *hold)
{
    if (operation->request->pending_max < 0)
        return HOLD_OK;
    sqlite3_stmt *query = database_query(operation->database, QUERY_PENDING_COUNT);
    operation_bind_words(query, 1, hold->agent);
    int64_t pending;
    if (!ask_number(operation, query, &pending))
        return HOLD_STORE_FAILED;
    return pending < operation->request->pending_max ? HOLD_OK : HOLD_TOO_MANY;
}

static enum hold_answer store_new(struct operation *operation, struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_EXECUTED_MATCH);
    sqlite3_bind_blob(query, 1, hold->match, sizeof hold->match, SQLITE_TRANSIENT);
    if (!ask_number(operation, query, &hold->follows) || !insert(operation, hold))
        return HOLD_STORE_FAILED;
    operation->request->holds[0] = hold;
    return HOLD_OK;
}

static bool set_replaced_by(struct operation *operation, int64_t old, int64_t new)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_SET_REPLACED_BY);
    sqlite3_bind_int64(query, 1, old);
    sqlite3_bind_int64(query, 2, new);
    return database_run(operation->database, query);
}

/* A hold that takes the place of one whose effect changed. */
static enum hold_answer replace(struct operation *operation, struct hold *hold)
{
    const struct hold_request *request = operation->request;
    struct hold *old;
    enum hold_answer answer = operation_get_id(operation, request->replaces, &old);
    if (answer != HOLD_OK)
        return answer;
    if (!text_equal(old->agent, hold->agent))
        return HOLD_NOT_FOUND;
    if (old->state == HOLD_RUNNING && text_equal(old->run_session, request->session)) {
        operation_set_outcome(operation, old);
        if (operation_become(operation, old, HOLD_DRIFTED) != HOLD_OK)
            return HOLD_STORE_FAILED;
    }
    if (old->state != HOLD_DRIFTED || old->replaced_by != 0) {
        operation->request->holds[0] = old;
        return HOLD_WRONG_STATE;
    }
    if (store_new(operation, hold) != HOLD_OK || !set_replaced_by(operation, old->id, hold->id))
        return HOLD_STORE_FAILED;
    old->replaced_by = hold->id;
    return HOLD_OK;
}

enum hold_answer operation_join(struct operation *operation)
{
    struct hold_request *request = operation->request;
    request->holds = arena_array(operation->arena, 1, sizeof *request->holds);
    enum hold_answer answer = join(operation, new_hold(operation));
    request->hold_count = request->holds[0] != NULL ? 1 : 0;
    return answer;
}

enum hold_answer operation_create(struct operation *operation)
{
    struct hold_request *request = operation->request;
    struct hold *hold = new_hold(operation);
    request->holds = arena_array(operation->arena, 1, sizeof *request->holds);
    enum hold_answer answer;
    if (request->replaces != 0) {
        answer = replace(operation, hold);
    } else {
        answer = join(operation, hold);
        if (answer == HOLD_NOT_FOUND)
            answer = check_pending(operation, hold);
        if (answer == HOLD_OK)
            answer = store_new(operation, hold);
    }
    request->hold_count = request->holds[0] != NULL ? 1 : 0;
    return answer;
}

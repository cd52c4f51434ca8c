/*
 * operations.c - see operations.h.
 *
 * An operation reads the hold, checks, changes the copy in memory and writes it back on the
 * condition that its state is still the one that was read. Any error of SQLite, at any point,
 * undoes the whole transaction and is HOLD_STORE_FAILED.
 */
#include "proxy/holds/operations.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/base/log.h"
#include "proxy/holds/operation.h"
#include "proxy/holds/row.h"

#include <stdio.h>
#include <string.h>

void operation_bind_words(sqlite3_stmt *statement, int at, struct text text)
{
    sqlite3_bind_text64(statement, at, text.size > 0 ? text.bytes : "", text.size, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

bool operation_read_approvals(struct operation *operation, struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_APPROVALS);
    sqlite3_bind_int64(query, 1, hold->id);
    void *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    bool failed;
    while (database_row(operation->database, query, &failed)) {
        struct hold_approval *approval =
            arena_push(operation->arena, &items, &count, &capacity, sizeof *approval);
        approval->by =
            arena_text(operation->arena, (struct text){(const char *)sqlite3_column_text(query, 0),
                                                       (size_t)sqlite3_column_bytes(query, 0)});
        approval->at.us = sqlite3_column_int64(query, 1);
    }
    hold->approvals = items;
    hold->approval_count = count;
    return !failed;
}

/* The hold in the current row, whole; NULL if it cannot be read. */
static struct hold *read_hold(struct operation *operation, sqlite3_stmt *query)
{
    struct hold *hold = row_read(operation->arena, query);
    if (hold == NULL)
        snprintf(operation->database->problem, sizeof operation->database->problem,
                 "hold %lld in the store is damaged", (long long)sqlite3_column_int64(query, 0));
    return hold != NULL && operation_read_approvals(operation, hold) ? hold : NULL;
}

/* The one hold that the query gives. HOLD_OK, HOLD_NOT_FOUND or HOLD_STORE_FAILED. */
enum hold_answer operation_one_hold(struct operation *operation, sqlite3_stmt *query,
                                    struct hold **hold)
{
    bool failed;
    if (!database_row(operation->database, query, &failed))
        return failed ? HOLD_STORE_FAILED : HOLD_NOT_FOUND;
    *hold = read_hold(operation, query);
    sqlite3_reset(query);
    return *hold != NULL ? HOLD_OK : HOLD_STORE_FAILED;
}

enum hold_answer operation_get_id(struct operation *operation, int64_t id, struct hold **hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_GET);
    sqlite3_bind_int64(query, 1, id);
    return operation_one_hold(operation, query, hold);
}

/* The hold of the request, if whoever asks may see it; it becomes the answer's. */
enum hold_answer operation_find(struct operation *operation, struct hold **hold)
{
    struct hold_request *request = operation->request;
    enum hold_answer answer = operation_get_id(operation, request->id, hold);
    if (answer != HOLD_OK)
        return answer;
    if (request->agent.size > 0 && !text_equal(request->agent, (*hold)->agent))
        return HOLD_NOT_FOUND;
    request->holds = arena_array(operation->arena, 1, sizeof *request->holds);
    request->holds[0] = *hold;
    request->hold_count = 1;
    return HOLD_OK;
}

bool operation_note_change(struct operation *operation, const struct hold *hold,
                           enum hold_state before)
{
    INVARIANT(operation->changes.count < CHANGES_MAX);
    operation->changes.items[operation->changes.count++] = (struct change){hold, before};
    return operation_compose(operation, hold, before);
}

bool operation_write_back(struct operation *operation, const struct hold *hold,
                          enum hold_state before)
{
    sqlite3_stmt *update = database_query(operation->database, QUERY_UPDATE);
    row_bind_change(update, hold, before);
    if (!database_run(operation->database, update))
        return false;
    INVARIANT(sqlite3_changes(operation->database->handle) == 1);
    return true;
}

/* The only place where a stored hold gets another state. */
enum hold_answer operation_become(struct operation *operation, struct hold *hold,
                                  enum hold_state state)
{
    enum hold_state before = hold->state;
    INVARIANT(hold_state_may_become(before, state));
    hold->state = state;
    if (hold_state_is_final(state))
        hold->finished = operation->now;
    return operation_write_back(operation, hold, before) &&
                   operation_note_change(operation, hold, before)
               ? HOLD_OK
               : HOLD_STORE_FAILED;
}

void operation_set_outcome(struct operation *operation, struct hold *hold)
{
    hold->outcome_tag = arena_text(operation->arena, operation->request->tag);
    hold->outcome_error = arena_text(operation->arena, operation->request->error);
    hold->outcome_effect = arena_text(operation->arena, operation->request->effect);
}

static bool is_due(struct instant when, struct instant now)
{
    return when.us > 0 && when.us <= now.us;
}

/* What time alone makes of a hold: its state, if it is not too late for it. */
enum hold_state operation_state_by_clock(const struct hold *hold, struct instant now)
{
    if (hold->state == HOLD_PENDING && is_due(hold->expires, now))
        return HOLD_EXPIRED;
    if (hold->state == HOLD_RELEASED && is_due(hold->run_until, now))
        return HOLD_LAPSED;
    return hold->state;
}

/* HOLD_OK if the hold is in this state, also by the clock; else HOLD_WRONG_STATE. */
enum hold_answer operation_require_state(struct operation *operation, struct hold *hold,
                                         enum hold_state state)
{
    enum hold_state by_clock = operation_state_by_clock(hold, operation->now);
    if (by_clock != hold->state && operation_become(operation, hold, by_clock) != HOLD_OK)
        return HOLD_STORE_FAILED;
    return hold->state == state ? HOLD_OK : HOLD_WRONG_STATE;
}

static enum hold_answer get(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    struct hold *hold;
    enum hold_answer answer = operation_find(operation, &hold);
    if (answer == HOLD_OK && !hold_visible(hold, request->policies, request->policy_count))
        return HOLD_NOT_FOUND;
    if (answer == HOLD_OK) /* what is due is told at once; it is written at the next tick */
        hold->state = operation_state_by_clock(hold, operation->now);
    return answer;
}

static sqlite3_stmt *list_query(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    bool by_state = request->filter_state != HOLD_NONE;
    bool by_agent = request->agent.size > 0;
    enum query name = by_state ? (by_agent ? QUERY_LIST_STATE_AGENT : QUERY_LIST_STATE)
                               : (by_agent ? QUERY_LIST_AGENT : QUERY_LIST);
    sqlite3_stmt *query = database_query(operation->database, name);
    int at = 1;
    sqlite3_bind_int64(query, at++, request->after > 0 ? request->after : INT64_MAX);
    if (by_state)
        operation_bind_words(query, at++, text_from(hold_state_name(request->filter_state)));
    if (by_agent)
        operation_bind_words(query, at, request->agent);
    return query;
}

/* One damaged hold must not hide the others: it is left out, and said in the log. */
static enum hold_answer list(struct operation *operation)
{
    struct hold_request *request = operation->request;
    size_t limit = request->limit < 0 || request->limit > LIMIT_HOLDS_PER_LIST
                       ? LIMIT_HOLDS_PER_LIST
                       : (size_t)request->limit;
    request->holds = arena_array(operation->arena, limit, sizeof *request->holds);
    sqlite3_stmt *query = list_query(operation);
    bool failed = false;
    while (request->hold_count < limit && database_row(operation->database, query, &failed)) {
        const struct hold policy = {.policy = row_policy(query)};
        if (!hold_visible(&policy, request->policies, request->policy_count))
            continue;
        struct hold *hold = row_read(operation->arena, query);
        if (hold == NULL) {
            log_error("hold %lld in the store is damaged",
                      (long long)sqlite3_column_int64(query, 0));
            continue;
        }
        if (!operation_read_approvals(operation, hold))
            return HOLD_STORE_FAILED;
        request->holds[request->hold_count++] = hold;
    }
    sqlite3_reset(query);
    return failed ? HOLD_STORE_FAILED : HOLD_OK;
}

static const struct {
    enum hold_answer (*carry_out)(struct operation *operation);
    bool writes;
} operations[] = {
    [HOLD_OP_CREATE] = {operation_create, true},
    [HOLD_OP_JOIN] = {operation_join, true},
    [HOLD_OP_GET] = {get, false},
    [HOLD_OP_LIST] = {list, false},
    [HOLD_OP_RELEASE] = {operation_release, true},
    [HOLD_OP_REFUSE] = {operation_refuse, true},
    [HOLD_OP_CLAIM] = {operation_claim, true},
    [HOLD_OP_RUN] = {operation_run, true},
    [HOLD_OP_FINISH] = {operation_finish, true},
    [HOLD_OP_BROWSE] = {operation_browse, false},
    [HOLD_OP_TELL] = {operation_tell, true},
    [HOLD_OP_DUE] = {operation_due, true},
    [HOLD_OP_SETTLE] = {operation_settle, true},
};

static void forget_answer(struct hold_request *request)
{
    request->holds = NULL;
    request->hold_count = 0;
}

static void answer_failed(struct operation *operation)
{
    struct hold_request *request = operation->request;
    snprintf(request->problem, sizeof request->problem, "%s", operation->database->problem);
    request->answer = HOLD_STORE_FAILED;
    forget_answer(request);
    operation->changes = (struct changes){0};
}

static enum hold_answer in_transaction(struct operation *operation)
{
    if (!database_begin(operation->database))
        return HOLD_STORE_FAILED;
    enum hold_answer answer = operations[operation->request->operation].carry_out(operation);
    if (answer != HOLD_STORE_FAILED && !database_commit(operation->database))
        answer = HOLD_STORE_FAILED;
    if (answer == HOLD_STORE_FAILED)
        database_rollback(operation->database);
    return answer;
}

void operation_carry_out(struct database *database, const struct hold_hooks *hooks,
                         struct hold_request *request, struct instant now, struct changes *changes)
{
    INVARIANT(request->operation >= HOLD_OP_CREATE && request->operation < ARRAY_SIZE(operations));
    struct operation operation = {.database = database,
                                  .hooks = hooks,
                                  .request = request,
                                  .arena = &request->arena,
                                  .now = now};
    forget_answer(request);
    request->problem[0] = '\0';
    request->answer = operations[request->operation].writes
                          ? in_transaction(&operation)
                          : operations[request->operation].carry_out(&operation);
    if (request->answer == HOLD_STORE_FAILED)
        answer_failed(&operation);
    else if (request->answer == HOLD_NOT_FOUND)
        forget_answer(request);
    *changes = operation.changes;
}

static bool expire(struct operation *operation, int64_t id)
{
    struct hold *hold;
    if (operation_get_id(operation, id, &hold) != HOLD_OK)
        return false;
    enum hold_state state = operation_state_by_clock(hold, operation->now);
    return state != hold->state && operation_become(operation, hold, state) == HOLD_OK;
}

int64_t operation_next_due(struct database *database, int64_t after, struct instant now,
                           bool *failed)
{
    sqlite3_stmt *query = database_query(database, QUERY_DUE);
    sqlite3_bind_int64(query, 1, now.us);
    sqlite3_bind_int64(query, 2, after);
    if (!database_row(database, query, failed))
        return 0;
    int64_t id = sqlite3_column_int64(query, 0);
    sqlite3_reset(query);
    return id;
}

bool operation_expire(struct database *database, const struct hold_hooks *hooks,
                      struct arena *arena, int64_t id, struct instant now, struct changes *changes)
{
    struct operation operation = {
        .database = database, .hooks = hooks, .arena = arena, .now = now};
    if (database_begin(database) && expire(&operation, id) && database_commit(database)) {
        *changes = operation.changes;
        return true;
    }
    database_rollback(database);
    return false;
}

static void tally(sqlite3_stmt *query, int64_t counts[HOLD_STATE_COUNT], int64_t number)
{
    struct text name = {(const char *)sqlite3_column_text(query, 0),
                        (size_t)sqlite3_column_bytes(query, 0)};
    counts[hold_state_from_name(name)] += number;
}

bool operation_delete_old(struct database *database, struct instant before,
                          int64_t counts[HOLD_STATE_COUNT])
{
    int64_t deleted[HOLD_STATE_COUNT] = {0};
    sqlite3_stmt *query = database_query(database, QUERY_DELETE_OLD);
    sqlite3_bind_int64(query, 1, before.us);
    bool failed;
    while (database_row(database, query, &failed))
        tally(query, deleted, -1);
    for (size_t i = 0; i < HOLD_STATE_COUNT && !failed; i++)
        counts[i] += deleted[i];
    return !failed;
}

bool operation_count(struct database *database, int64_t counts[HOLD_STATE_COUNT])
{
    sqlite3_stmt *query = database_query(database, QUERY_COUNTS);
    bool failed;
    while (database_row(database, query, &failed))
        tally(query, counts, sqlite3_column_int64(query, 1));
    return !failed;
}

struct instant operation_oldest(struct database *database)
{
    sqlite3_stmt *query = database_query(database, QUERY_OLDEST);
    bool failed;
    struct instant oldest = {0};
    while (database_row(database, query, &failed))
        oldest.us = sqlite3_column_int64(query, 0);
    return oldest;
}

_Static_assert(CHANGES_MAX >= 2, "a drifted hold and the one that replaces it");

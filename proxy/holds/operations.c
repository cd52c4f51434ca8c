/*
 * operations.c - see operations.h.
 *
 * An operation reads the hold, checks, changes the copy in memory and writes it back on the condition
 * that its state is still the one that was read. Any error of SQLite, at any point, undoes the whole
 * transaction and is HOLD_STORE_FAILED.
 */
#include "proxy/holds/operations.h"

#include "proxy/base/invariant.h"
#include "proxy/base/limits.h"
#include "proxy/holds/row.h"

#include <stdio.h>
#include <string.h>

struct operation {
    struct database *database;
    struct hold_request *request;
    struct arena *arena;
    struct instant now;
    struct changes changes;
};

static void bind_words(sqlite3_stmt *statement, int at, struct text text)
{
    sqlite3_bind_text64(statement, at, text.size > 0 ? text.bytes : "", text.size,
                        SQLITE_TRANSIENT, SQLITE_UTF8);
}

static bool read_approvals(struct operation *operation, struct hold *hold)
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
        approval->by = arena_text(
            operation->arena, (struct text){(const char *)sqlite3_column_text(query, 0),
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
    return hold != NULL && read_approvals(operation, hold) ? hold : NULL;
}

/* The one hold that the query gives. HOLD_OK, HOLD_NOT_FOUND or HOLD_STORE_FAILED. */
static enum hold_answer one_hold(struct operation *operation, sqlite3_stmt *query,
                                 struct hold **hold)
{
    bool failed;
    if (!database_row(operation->database, query, &failed))
        return failed ? HOLD_STORE_FAILED : HOLD_NOT_FOUND;
    *hold = read_hold(operation, query);
    sqlite3_reset(query);
    return *hold != NULL ? HOLD_OK : HOLD_STORE_FAILED;
}

static enum hold_answer get_id(struct operation *operation, int64_t id, struct hold **hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_GET);
    sqlite3_bind_int64(query, 1, id);
    return one_hold(operation, query, hold);
}

/* The hold of the request, if whoever asks may see it; it becomes the answer's. */
static enum hold_answer find(struct operation *operation, struct hold **hold)
{
    struct hold_request *request = operation->request;
    enum hold_answer answer = get_id(operation, request->id, hold);
    if (answer != HOLD_OK)
        return answer;
    if (request->agent.size > 0 && !text_equal(request->agent, (*hold)->agent))
        return HOLD_NOT_FOUND;
    request->holds = arena_array(operation->arena, 1, sizeof *request->holds);
    request->holds[0] = *hold;
    request->hold_count = 1;
    return HOLD_OK;
}

static void note_change(struct operation *operation, const struct hold *hold,
                        enum hold_state before)
{
    INVARIANT(operation->changes.count < CHANGES_MAX);
    operation->changes.items[operation->changes.count++] = (struct change){hold, before};
}

static bool write_back(struct operation *operation, const struct hold *hold,
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
static enum hold_answer become(struct operation *operation, struct hold *hold,
                               enum hold_state state)
{
    enum hold_state before = hold->state;
    INVARIANT(hold_state_may_become(before, state));
    hold->state = state;
    if (hold_state_is_final(state))
        hold->finished = operation->now;
    if (!write_back(operation, hold, before))
        return HOLD_STORE_FAILED;
    note_change(operation, hold, before);
    return HOLD_OK;
}

static bool is_due(struct instant when, struct instant now)
{
    return when.us > 0 && when.us <= now.us;
}

/* What time alone makes of a hold: its state, if it is not too late for it. */
static enum hold_state state_by_clock(const struct hold *hold, struct instant now)
{
    if (hold->state == HOLD_PENDING && is_due(hold->expires, now))
        return HOLD_EXPIRED;
    if (hold->state == HOLD_RELEASED && is_due(hold->run_until, now))
        return HOLD_LAPSED;
    return hold->state;
}

/* HOLD_OK if the hold is in this state, also by the clock; else HOLD_WRONG_STATE. */
static enum hold_answer require_state(struct operation *operation, struct hold *hold,
                                      enum hold_state state)
{
    enum hold_state by_clock = state_by_clock(hold, operation->now);
    if (by_clock != hold->state && become(operation, hold, by_clock) != HOLD_OK)
        return HOLD_STORE_FAILED;
    return hold->state == state ? HOLD_OK : HOLD_WRONG_STATE;
}

static enum hold_answer get(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    struct hold *hold;
    enum hold_answer answer = find(operation, &hold);
    if (answer == HOLD_OK && !hold_visible(hold, request->policies, request->policy_count))
        return HOLD_NOT_FOUND;
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
        bind_words(query, at++, text_from(hold_state_name(request->filter_state)));
    if (by_agent)
        bind_words(query, at, request->agent);
    return query;
}

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
        struct hold *hold = read_hold(operation, query);
        if (hold == NULL)
            return HOLD_STORE_FAILED;
        request->holds[request->hold_count++] = hold;
    }
    sqlite3_reset(query);
    return failed ? HOLD_STORE_FAILED : HOLD_OK;
}

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
    note_change(operation, hold, HOLD_NONE);
    return true;
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

/* An open hold of the same statement becomes the answer. A pending or released one whose time is over
 * is closed first and does not count. */
static enum hold_answer join(struct operation *operation, const struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_OPEN_MATCH);
    sqlite3_bind_blob(query, 1, hold->match, sizeof hold->match, SQLITE_TRANSIENT);
    struct hold *open;
    enum hold_answer answer = one_hold(operation, query, &open);
    if (answer != HOLD_OK)
        return answer;
    enum hold_state by_clock = state_by_clock(open, operation->now);
    if (by_clock != open->state)
        return become(operation, open, by_clock) == HOLD_OK ? HOLD_NOT_FOUND : HOLD_STORE_FAILED;
    operation->request->holds[0] = open;
    return HOLD_JOINED;
}

static enum hold_answer check_pending(struct operation *operation, const struct hold *hold)
{
    if (operation->request->pending_max < 0)
        return HOLD_OK;
    sqlite3_stmt *query = database_query(operation->database, QUERY_PENDING_COUNT);
    bind_words(query, 1, hold->agent);
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

static void set_outcome(struct operation *operation, struct hold *hold)
{
    hold->outcome_tag = arena_text(operation->arena, operation->request->tag);
    hold->outcome_error = arena_text(operation->arena, operation->request->error);
    hold->outcome_effect = arena_text(operation->arena, operation->request->effect);
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
    enum hold_answer answer = get_id(operation, request->replaces, &old);
    if (answer != HOLD_OK)
        return answer;
    if (!text_equal(old->agent, hold->agent))
        return HOLD_NOT_FOUND;
    if (old->state == HOLD_RUNNING && text_equal(old->run_session, request->session)) {
        set_outcome(operation, old);
        if (become(operation, old, HOLD_DRIFTED) != HOLD_OK)
            return HOLD_STORE_FAILED;
    }
    if (old->state != HOLD_DRIFTED || old->replaced_by != 0) {
        operation->request->holds[0] = old;
        return HOLD_WRONG_STATE;
    }
    if (store_new(operation, hold) != HOLD_OK ||
        !set_replaced_by(operation, old->id, hold->id))
        return HOLD_STORE_FAILED;
    old->replaced_by = hold->id;
    return HOLD_OK;
}

static enum hold_answer create(struct operation *operation)
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

static bool has_approved(const struct hold *hold, struct text approver)
{
    for (size_t i = 0; i < hold->approval_count; i++)
        if (text_equal(hold->approvals[i].by, approver))
            return true;
    return false;
}

/* Everything that a decision needs before it counts. */
static enum hold_answer check_decision(struct operation *operation, struct hold **hold)
{
    const struct hold_request *request = operation->request;
    enum hold_answer answer = find(operation, hold);
    if (answer != HOLD_OK)
        return answer;
    if (!hold_approver_may(*hold, request->approver, request->policies, request->policy_count))
        return HOLD_NOT_APPROVER;
    answer = require_state(operation, *hold, HOLD_PENDING);
    if (answer != HOLD_OK)
        return answer;
    return memcmp((*hold)->digest, request->digest, SHA256_SIZE) == 0 ? HOLD_OK
                                                                      : HOLD_WRONG_DIGEST;
}

static enum hold_answer decide(struct operation *operation, struct hold *hold,
                               const char *decision, enum hold_state state)
{
    const struct hold_request *request = operation->request;
    hold->decision = text_from(decision);
    hold->decided_by = arena_text(operation->arena, request->approver);
    hold->decision_reason = arena_text(operation->arena, request->reason);
    hold->decided = operation->now;
    return become(operation, hold, state);
}

static bool add_approval(struct operation *operation, struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_APPROVE);
    sqlite3_bind_int64(query, 1, hold->id);
    bind_words(query, 2, operation->request->approver);
    sqlite3_bind_int64(query, 3, operation->now.us);
    return database_run(operation->database, query) && read_approvals(operation, hold);
}

static enum hold_answer release(struct operation *operation)
{
    struct hold *hold;
    enum hold_answer answer = check_decision(operation, &hold);
    if (answer != HOLD_OK)
        return answer;
    if (has_approved(hold, operation->request->approver))
        return HOLD_ALREADY_DECIDED;
    if (!add_approval(operation, hold))
        return HOLD_STORE_FAILED;
    if ((int64_t)hold->approval_count < hold->quorum) {
        note_change(operation, hold, hold->state);
        return HOLD_OK;
    }
    if (hold->run_within_us > 0)
        hold->run_until.us = operation->now.us + hold->run_within_us;
    return decide(operation, hold, "release", HOLD_RELEASED);
}

static enum hold_answer refuse(struct operation *operation)
{
    INVARIANT(operation->request->reason.size > 0);
    struct hold *hold;
    enum hold_answer answer = check_decision(operation, &hold);
    return answer == HOLD_OK ? decide(operation, hold, "refuse", HOLD_REFUSED) : answer;
}

static enum hold_answer claim(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    INVARIANT(request->session.size > 0 && request->agent.size > 0);
    struct hold *hold;
    enum hold_answer answer = find(operation, &hold);
    if (answer == HOLD_OK)
        answer = require_state(operation, hold, HOLD_RELEASED);
    if (answer != HOLD_OK)
        return answer;
    hold->run_session = arena_text(operation->arena, request->session);
    return become(operation, hold, HOLD_RUNNING);
}

/* The hold, if it runs under the request's session. */
static enum hold_answer find_running(struct operation *operation, struct hold **hold)
{
    enum hold_answer answer = find(operation, hold);
    if (answer != HOLD_OK)
        return answer;
    bool own = (*hold)->state == HOLD_RUNNING &&
               text_equal((*hold)->run_session, operation->request->session);
    return own ? HOLD_OK : HOLD_WRONG_STATE;
}

static enum hold_answer run(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    struct hold *hold;
    enum hold_answer answer = find_running(operation, &hold);
    if (answer != HOLD_OK)
        return answer;
    hold->xid = arena_text(operation->arena, request->xid);
    hold->backend_pid = request->backend_pid;
    hold->backend_start = arena_text(operation->arena, request->backend_start);
    hold->system_identifier = arena_text(operation->arena, request->system_identifier);
    hold->timeline = request->timeline;
    return write_back(operation, hold, HOLD_RUNNING) ? HOLD_OK : HOLD_STORE_FAILED;
}

static void forget_run(struct hold *hold)
{
    hold->run_session = TEXT("");
    hold->xid = TEXT("");
    hold->backend_pid = 0;
    hold->backend_start = TEXT("");
    hold->system_identifier = TEXT("");
    hold->timeline = 0;
}

static enum hold_answer finish(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    INVARIANT(hold_state_may_become(HOLD_RUNNING, request->new_state));
    struct hold *hold;
    enum hold_answer answer = find_running(operation, &hold);
    if (answer != HOLD_OK)
        return answer;
    if (request->new_state == HOLD_RELEASED)
        forget_run(hold);
    else
        set_outcome(operation, hold);
    return become(operation, hold, request->new_state);
}

static const struct {
    enum hold_answer (*carry_out)(struct operation *operation);
    bool writes;
} operations[] = {
    [HOLD_OP_CREATE] = {create, true},   [HOLD_OP_GET] = {get, false},
    [HOLD_OP_LIST] = {list, false},      [HOLD_OP_RELEASE] = {release, true},
    [HOLD_OP_REFUSE] = {refuse, true},   [HOLD_OP_CLAIM] = {claim, true},
    [HOLD_OP_RUN] = {run, true},         [HOLD_OP_FINISH] = {finish, true},
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
    operation->changes.count = 0;
}

static enum hold_answer in_transaction(struct operation *operation)
{
    if (!database_begin(operation->database))
        return HOLD_STORE_FAILED;
    enum hold_answer answer =
        operations[operation->request->operation].carry_out(operation);
    if (answer != HOLD_STORE_FAILED && !database_commit(operation->database))
        answer = HOLD_STORE_FAILED;
    if (answer == HOLD_STORE_FAILED)
        database_rollback(operation->database);
    return answer;
}

void operation_carry_out(struct database *database, struct hold_request *request,
                         struct instant now, struct changes *changes)
{
    INVARIANT(request->operation >= HOLD_OP_CREATE &&
              request->operation < ARRAY_SIZE(operations));
    struct operation operation = {
        .database = database, .request = request, .arena = &request->arena, .now = now};
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
    if (get_id(operation, id, &hold) != HOLD_OK)
        return false;
    enum hold_state state = state_by_clock(hold, operation->now);
    return state != hold->state && become(operation, hold, state) == HOLD_OK;
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

bool operation_expire(struct database *database, struct arena *arena, int64_t id,
                      struct instant now, struct change *change)
{
    struct operation operation = {.database = database, .arena = arena, .now = now};
    if (database_begin(database) && expire(&operation, id) && database_commit(database)) {
        *change = operation.changes.items[0];
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

_Static_assert(CHANGES_MAX >= 2, "a drifted hold and the one that replaces it");

/*
 * run.c - a released hold is claimed, its transaction noted before anything irreversible is sent,
 * and its end stored. See operation.h. Only the session that claimed it gets further.
 */
#include "proxy/holds/operation.h"

#include "proxy/base/invariant.h"

/* Without its data a COPY cannot run. */
static bool read_copied(struct operation *operation, int64_t id)
{
    bool failed;
    sqlite3_stmt *query = database_query(operation->database, QUERY_COPIED);
    sqlite3_bind_int64(query, 1, id);
    if (!database_row(operation->database, query, &failed))
        return false;
    const char *bytes = sqlite3_column_blob(query, 0);
    int size = sqlite3_column_bytes(query, 0);
    operation->request->copied =
        arena_text(operation->arena, (struct text){bytes != NULL ? bytes : "", (size_t)size});
    sqlite3_reset(query);
    return true;
}

enum hold_answer operation_claim(struct operation *operation)
{
    const struct hold_request *request = operation->request;
    INVARIANT(request->session.size > 0 && request->agent.size > 0);
    struct hold *hold;
    enum hold_answer answer = operation_find(operation, &hold);
    if (answer == HOLD_OK)
        answer = operation_require_state(operation, hold, HOLD_RELEASED);
    if (answer != HOLD_OK)
        return answer;
    if (hold->copy_sha256.size > 0 && !read_copied(operation, hold->id))
        return HOLD_STORE_FAILED;
    hold->run_session = arena_text(operation->arena, request->session);
    return operation_become(operation, hold, HOLD_RUNNING);
}

/* The hold, if it runs under the request's session. */
static enum hold_answer find_running(struct operation *operation, struct hold **hold)
{
    enum hold_answer answer = operation_find(operation, hold);
    if (answer != HOLD_OK)
        return answer;
    bool own = (*hold)->state == HOLD_RUNNING &&
               text_equal((*hold)->run_session, operation->request->session);
    return own ? HOLD_OK : HOLD_WRONG_STATE;
}

enum hold_answer operation_run(struct operation *operation)
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
    return operation_write_back(operation, hold, HOLD_RUNNING) ? HOLD_OK : HOLD_STORE_FAILED;
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

enum hold_answer operation_finish(struct operation *operation)
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
        operation_set_outcome(operation, hold);
    return operation_become(operation, hold, request->new_state);
}

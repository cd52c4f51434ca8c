/*
 * decide.c - approvals and refusals. See operation.h. Who, which state, and which digest are
 * checked in the transaction that writes the decision.
 */
#include "proxy/holds/operation.h"

#include "proxy/base/invariant.h"

#include <string.h>

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
    enum hold_answer answer = operation_find(operation, hold);
    if (answer != HOLD_OK)
        return answer;
    if (!hold_approver_may(*hold, request->approver, request->policies, request->policy_count))
        return HOLD_NOT_APPROVER;
    answer = operation_require_state(operation, *hold, HOLD_PENDING);
    if (answer != HOLD_OK)
        return answer;
    return memcmp((*hold)->digest, request->digest, SHA256_SIZE) == 0 ? HOLD_OK : HOLD_WRONG_DIGEST;
}

static enum hold_answer decide(struct operation *operation, struct hold *hold, const char *decision,
                               enum hold_state state)
{
    const struct hold_request *request = operation->request;
    hold->decision = text_from(decision);
    hold->decided_by = arena_text(operation->arena, request->approver);
    hold->decision_reason = arena_text(operation->arena, request->reason);
    hold->decided = operation->now;
    return operation_become(operation, hold, state);
}

static bool add_approval(struct operation *operation, struct hold *hold)
{
    sqlite3_stmt *query = database_query(operation->database, QUERY_APPROVE);
    sqlite3_bind_int64(query, 1, hold->id);
    operation_bind_words(query, 2, operation->request->approver);
    sqlite3_bind_int64(query, 3, operation->now.us);
    return database_run(operation->database, query) && operation_read_approvals(operation, hold);
}

enum hold_answer operation_release(struct operation *operation)
{
    struct hold *hold;
    enum hold_answer answer = check_decision(operation, &hold);
    if (answer != HOLD_OK)
        return answer;
    if (has_approved(hold, operation->request->approver))
        return HOLD_ALREADY_DECIDED;
    if (!add_approval(operation, hold))
        return HOLD_STORE_FAILED;
    if ((int64_t)hold->approval_count < hold->quorum)
        return operation_note_change(operation, hold, hold->state) ? HOLD_OK : HOLD_STORE_FAILED;
    if (hold->run_within_us > 0)
        hold->run_until.us = operation->now.us + hold->run_within_us;
    return decide(operation, hold, "release", HOLD_RELEASED);
}

enum hold_answer operation_refuse(struct operation *operation)
{
    INVARIANT(operation->request->reason.size > 0);
    struct hold *hold;
    enum hold_answer answer = check_decision(operation, &hold);
    return answer == HOLD_OK ? decide(operation, hold, "refuse", HOLD_REFUSED) : answer;
}

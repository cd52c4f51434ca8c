/*
 * inside.c - holds that ran inside of the client's own transaction, whose COMMIT decides (spec 4.2).
 *
 * Each is known with the savepoints that were set before it: ROLLBACK TO one of those gives it back,
 * RELEASE makes it a part of what is around. What is given back may run in another session at once; so
 * nothing that could commit goes to the server before the store knows of it, and what cannot be followed ends
 * the session, with which the server rolls back.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <stdio.h>

static void post_outcome(struct session *s, int64_t hold, bool committed)
{
    hold_post_and_forget(s, hold_finish_request(s, hold, committed ? HOLD_EXECUTED : HOLD_RELEASED,
                                                TEXT(""), TEXT("")));
}

void inside_reset(struct session *s) { s->inside = (struct inside){0}; }

bool inside_has_room(const struct session *s)
{
    return !s->inside.lost && s->inside.run_count < ARRAY_SIZE(s->inside.runs);
}

void inside_began(struct session *s, int64_t hold)
{
    INVARIANT(inside_has_room(s));
    s->inside.runs[s->inside.run_count++] =
        (struct inside_run){.hold = hold, .depth = s->inside.savepoint_count};
}

int64_t inside_last_hold(const struct session *s)
{
    return s->inside.run_count > 0 ? s->inside.runs[s->inside.run_count - 1].hold : 0;
}

bool inside_has(const struct session *s, int64_t hold)
{
    for (size_t i = 0; i < s->inside.run_count; i++)
        if (s->inside.runs[i].hold == hold)
            return true;
    return false;
}

void inside_ended(struct session *s, bool committed)
{
    for (size_t i = 0; i < s->inside.run_count; i++)
        post_outcome(s, s->inside.runs[i].hold, committed);
    inside_reset(s);
}

/* --- savepoints ------------------------------------------------------------------------------------- */

static bool ran_since_last_savepoint(const struct inside *inside)
{
    return inside->run_count > 0 &&
           inside->runs[inside->run_count - 1].depth == inside->savepoint_count;
}

static void too_many(struct session *s)
{
    s->inside.lost = true;
    if (s->inside.run_count == 0)
        return; /* then no hold runs inside of this transaction */
    session_fatal(s, "54000",
                  TEXT("pgwicket: too many savepoints in a transaction in which a hold ran; rolled back"),
                  SESSION_END_PROTOCOL);
}

void inside_savepoint(struct session *s, struct text name)
{
    struct inside *inside = &s->inside;
    struct text cut = text_cut(name, sizeof inside->savepoints[0].name - 1);
    struct savepoint *last =
        inside->savepoint_count > 0 ? &inside->savepoints[inside->savepoint_count - 1] : NULL;
    if (last != NULL && text_is(cut, last->name) && !ran_since_last_savepoint(inside)) {
        last->times++; /* drivers set the same one before each statement, and never release it */
        return;
    }
    if (inside->lost || inside->savepoint_count == ARRAY_SIZE(inside->savepoints)) {
        too_many(s);
        return;
    }
    struct savepoint *savepoint = &inside->savepoints[inside->savepoint_count++];
    *savepoint = (struct savepoint){.times = 1};
    snprintf(savepoint->name, sizeof savepoint->name, "%.*s", TEXT_ARGS(cut));
}

/* How many there are with the newest one of this name; 0: none. */
static size_t find(const struct inside *inside, struct text name)
{
    struct text cut = text_cut(name, sizeof inside->savepoints[0].name - 1);
    size_t depth = inside->savepoint_count;
    while (depth > 0 && !text_is(cut, inside->savepoints[depth - 1].name))
        depth--;
    return depth;
}

void inside_released(struct session *s, struct text name)
{
    struct inside *inside = &s->inside;
    size_t depth = find(inside, name);
    if (inside->lost || depth == 0)
        return;
    inside->savepoint_count = --inside->savepoints[depth - 1].times > 0 ? depth : depth - 1;
    for (size_t i = 0; i < inside->run_count; i++)
        if (inside->runs[i].depth > inside->savepoint_count)
            inside->runs[i].depth = inside->savepoint_count;
}

void inside_rolled_back_to(struct session *s, struct text name)
{
    struct inside *inside = &s->inside;
    size_t depth = find(inside, name);
    if (inside->lost || depth == 0)
        return;
    inside->savepoint_count = depth;
    while (inside->run_count > 0 && inside->runs[inside->run_count - 1].depth >= depth)
        post_outcome(s, inside->runs[--inside->run_count].hold, false);
}

/* --- what may commit ----------------------------------------------------------------------------------- */

static size_t count_of(const struct analysis *analysis, enum statement_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < analysis->statement_count; i++)
        count += analysis->statements[i].shape.kind == kind;
    return count;
}

enum step inside_before(struct session *s, const struct analysis *analysis)
{
    if (count_of(analysis, STATEMENT_COMMIT) == 0 || (s->inside.run_count == 0 && s->returning == 0))
        return STEP_DONE;
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    if (s->returning == 0)
        return STEP_DONE;
    session_become(s, SESSION_DRAINING);
    return STEP_WAIT;
}

bool inside_allows(struct session *s, const struct analysis *analysis, struct error_text *error)
{
    if (s->inside.run_count == 0)
        return true;
    bool prepares = count_of(analysis, STATEMENT_TWO_PHASE) > 0;
    bool undoes_and_commits =
        count_of(analysis, STATEMENT_ROLLBACK_TO) > 0 && count_of(analysis, STATEMENT_COMMIT) > 0;
    if (!prepares && !undoes_and_commits)
        return true;
    *error = (struct error_text){
        .sqlstate = "42501",
        .message = prepares ? TEXT("pgwicket: PREPARE TRANSACTION is not allowed in a transaction in which a "
                                   "hold ran; nothing was run")
                            : TEXT("pgwicket: ROLLBACK TO and COMMIT may not share a message in a "
                                   "transaction in which a hold ran; nothing was run"),
        .hint = prepares ? TEXT("End it with COMMIT or ROLLBACK.")
                         : TEXT("Send each statement as a message of its own.")};
    return false;
}

bool inside_may_have_committed(struct session *s)
{
    if (s->inside.run_count == 0)
        return false;
    for (size_t i = 0; i < s->queue.count; i++) {
        const struct execution *execution = queue_at(&s->queue, i)->execution;
        if (execution != NULL && count_of(&execution->judged->judgement.analysis, STATEMENT_COMMIT) > 0)
            return true;
    }
    return false;
}

/* Nothing that was not committed will be; what may have been stays running, and the server will be asked. */
void inside_session_ends(struct session *s)
{
    if (!inside_may_have_committed(s))
        inside_ended(s, false);
}

/*
 * gate_store.c - the gate's requests to the hold store, and EXECUTE pgwicket_hold(N), which stands for what the
 * store has under that number.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"
#include "proxy/session/answers.h"

#include <stdlib.h>

struct hold_request *hold_new_request(struct session *s, enum hold_operation operation, int64_t id)
{
    struct hold_request *request = memory_allocate_zeroed(1, sizeof *request);
    arena_init(&request->arena);
    request->operation = operation;
    request->id = id;
    request->agent = arena_text(&request->arena, s->setup.agent);
    request->session = arena_text(&request->arena, s->setup.session_id);
    return request;
}

struct error_text hold_store_unusable(void)
{
    return (struct error_text){
        .sqlstate = "58030",
        .message = TEXT("pgwicket: the hold store cannot be used, so nothing is run at the moment"),
        .hint = TEXT("Not caused by your statement. Stop and report it; try again in a few minutes.")};
}

/* Posts and waits for the answer. */
void hold_post(struct session *s, struct hold_request *request)
{
    s->gate.request = request;
    if (s->port.post_hold(s->port.context, request))
        return;
    s->gate.request = NULL;
    request->answer = HOLD_STORE_FAILED;
    hold_answer(s, request);
    arena_release(&request->arena);
    free(request);
}

/* Posts and goes on; the answer is thrown away. */
void hold_post_and_forget(struct session *s, struct hold_request *request)
{
    if (s->port.post_hold(s->port.context, request)) {
        s->returning += request->operation == HOLD_OP_FINISH;
        return;
    }
    arena_release(&request->arena);
    free(request);
}

struct hold_request *hold_finish_request(struct session *s, int64_t id, enum hold_state state,
                                           struct text tag, struct text error)
{
    struct hold_request *request = hold_new_request(s, HOLD_OP_FINISH, id);
    request->new_state = state;
    request->tag = arena_text(&request->arena, tag);
    request->error = arena_text(&request->arena, error);
    return request;
}

/* --- EXECUTE pgwicket_hold(N) ------------------------------------------------------------------- */

static int64_t lookup_id(const struct judged *judged)
{
    const struct statement *single = judged_single(judged);
    if (single == NULL || judged->judgement.verdict == VERDICT_REJECT)
        return 0;
    return answers_wants_holds(judged) ? LOOKUP_ALL : single->shape.hold;
}

enum step hold_lookup(struct session *s, const struct judged *judged)
{
    int64_t id = lookup_id(judged);
    if (id == 0 || (s->lookup.id == id && s->lookup.answered))
        return STEP_DONE;
    arena_release(&s->lookup.arena);
    s->lookup = (struct lookup){.id = id};
    arena_init(&s->gate.arena);
    gate_become(s, GATE_LOOKUP);
    struct hold_request *request =
        hold_new_request(s, id == LOOKUP_ALL ? HOLD_OP_LIST : HOLD_OP_GET, id == LOOKUP_ALL ? 0 : id);
    request->limit = LOOKUP_HOLDS_MAX;
    hold_post(s, request);
    return STEP_WAIT;
}

void hold_lookup_answered(struct session *s, const struct hold_request *request)
{
    struct lookup *lookup = &s->lookup;
    size_t count = request->answer == HOLD_OK ? request->hold_count : 0;
    arena_init(&lookup->arena);
    struct hold **holds = arena_array(&lookup->arena, count, sizeof(struct hold *));
    for (size_t i = 0; i < count; i++)
        holds[i] = hold_copy(&lookup->arena, request->holds[i]);
    lookup->holds = holds;
    lookup->hold_count = count;
    lookup->answered = true;
    lookup->store_failed = request->answer == HOLD_STORE_FAILED && lookup->id != LOOKUP_ALL;
    bool cancelled = s->gate.cancelled;
    gate_end(s);
    s->gate.cancelled = cancelled; /* the message that asked is still to be answered */
}

static void reject_lookup(struct judged *judged, const struct error_text *error)
{
    judged->judgement.verdict = VERDICT_REJECT;
    judged->judgement.error = *error;
}

static void use_hold(struct session *s, struct judged **judged)
{
    const struct hold *hold = s->lookup.hold_count == 1 ? s->lookup.holds[0] : NULL;
    struct error_text error;
    if (hold != NULL && (hold->state == HOLD_PENDING || hold->state == HOLD_RELEASED)) {
        struct judged *stored = session_judge_stored(s, hold);
        judged_release(*judged);
        *judged = stored;
        return;
    }
    if (hold != NULL && inside_has(s, hold->id))
        error = error_ran_inside(&(*judged)->arena, hold);
    else if (hold != NULL)
        error = error_hold(&(*judged)->arena, hold, false);
    else if (s->lookup.store_failed)
        error = hold_store_unusable();
    else
        error = (struct error_text){
            .sqlstate = "42704",
            .message = arena_printf(&(*judged)->arena, "pgwicket: hold %lld does not exist",
                                    (long long)s->lookup.id),
            .hint = TEXT("SHOW pgwicket.holds lists yours.")};
    reject_lookup(*judged, &error);
}

void hold_use_lookup(struct session *s, struct judged **judged)
{
    if (lookup_id(*judged) == 0)
        return;
    if (s->lookup.id == LOOKUP_ALL)
        answers_rewrite_holds(*judged, s->lookup.holds, s->lookup.hold_count);
    else
        use_hold(s, judged);
    arena_release(&s->lookup.arena);
    s->lookup = (struct lookup){0};
}

/*
 * gate_drift.c - a released hold whose run has another effect than was shown: nothing is committed, and a
 * new hold with the new effect takes its place (spec 4.2, point 6).
 */
#include "proxy/session/internal.h"

#include "proxy/session/held.h"
#include "rules/open.h"

/* What was shown, or false if nothing was known. */
bool hold_shown_effect(struct session *s, struct effect *shown)
{
    return effect_from_json(&s->gate.arena, s->gate.hold->effect, shown) &&
           shown->bound != EFFECT_UNKNOWN;
}

bool hold_effect_is_as_shown(struct session *s)
{
    struct effect shown;
    s->gate.effect = NULL;
    if (!hold_shown_effect(s, &shown))
        return true; /* approved as unknown */
    s->gate.effect = measuring_effect(s);
    return effect_equal(&shown, s->gate.effect);
}

/* The agent is told which rows only where it may read what they are called; approvers see it anyway. */
static bool key_is_open(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct session_view *view = &gate->portal->judged->view;
    const struct measure_plan *plan = &gate->measuring.plan;
    const struct decide_context context = {
        .policy = view->policy, .catalog = view->catalog, .setting_values = view->setting_values};
    bool open = plan->relation != NULL;
    for (size_t i = 0; i < plan->key_count && open; i++)
        open = column_is_open(&gate->arena, &context, plan->relation, plan->key[i]);
    return open;
}

/* A new hold with the new effect; NULL where nobody could approve it, or nobody has to. */
static struct hold *next_hold(struct session *s, struct arena *arena)
{
    struct error_text error = {0};
    const struct decision *decision = hold_decide_run(s);
    bool held = decision != NULL && decision->verdict == VERDICT_HOLD;
    bool approvable = held && (s->gate.effect->bound != EFFECT_UNKNOWN || hold_needs_no_effect(decision));
    return approvable ? held_describe(s, arena, &error) : NULL;
}

/* The old hold is over, and a new one with the new effect takes its place, in one step. */
void hold_drift_rolled_back(struct session *s)
{
    struct gate *gate = &s->gate;
    struct effect shown;
    struct hold_request *request =
        hold_finish_request(s, gate->hold->id, HOLD_DRIFTED, TEXT(""), TEXT(""));
    struct buffer json;
    buffer_init(&json, LIMIT_EFFECT_BYTES);
    effect_to_json(&json, gate->effect);
    request->effect = arena_text(&request->arena, buffer_text(&json));
    buffer_release(&json);
    if (hold_shown_effect(s, &shown))
        request->error = effect_difference(&request->arena, &shown, gate->effect, key_is_open(s));
    request->hold = next_hold(s, &request->arena);
    if (request->hold != NULL) {
        request->operation = HOLD_OP_CREATE;
        request->replaces = gate->hold->id;
        request->pending_max = -1;
        request->copy_data = arena_text(&request->arena, buffer_text(&gate->copy));
    }
    gate->outcome = HOLD_DRIFTED;
    gate_become(s, GATE_HOLD_FINISH);
    hold_post(s, request);
}

void hold_drift(struct session *s)
{
    s->gate.drifted = true;
    if (hold_is_inside(&s->gate)) {
        hold_drift_rolled_back(s);
        return;
    }
    send_poison(s, TEXT(""));
    hold_abort_run(s);
}

/* The error of a drift; `next` is the hold that took its place. */
static void tell(struct session *s, const struct hold *next)
{
    struct gate *gate = &s->gate;
    struct effect shown;
    struct error_text error = {.sqlstate = "55PW3"};
    long long id = (long long)gate->hold->id;
    error.message = arena_printf(&gate->arena,
                                 "pgwicket: the data changed since hold %lld was approved; rolled back, "
                                 "nothing was changed",
                                 id);
    if (next != NULL) {
        error.message = arena_printf(&gate->arena, "%.*s. It is held again as hold %lld",
                                     TEXT_ARGS(error.message), (long long)next->id);
        error.hint = arena_printf(&gate->arena,
                                  "Run EXECUTE pgwicket_hold(%lld) after it is released. Do not rephrase.",
                                  (long long)next->id);
    } else {
        error.hint = TEXT("It is not held again. Look at what changed, and send the statement anew if it is "
                          "still wanted.");
    }
    if (hold_shown_effect(s, &shown))
        error.detail = arena_printf(&gate->arena, "Different from what was approved: %.*s.",
                                    TEXT_ARGS(effect_difference(&gate->arena, &shown, gate->effect, key_is_open(s))));
    gate_fail_with(s, &error);
    gate_show_error(s);
}

void hold_drift_stored(struct session *s, const struct hold_request *request)
{
    bool replaced = request->answer == HOLD_OK && request->operation == HOLD_OP_CREATE;
    tell(s, replaced ? request->holds[0] : NULL);
}

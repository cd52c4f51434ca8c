/*
 * errors.c - bodies of pgwicket's own ErrorResponse, and the errors that are not a rule's.
 */
#include "proxy/session/internal.h"

struct text error_body(struct session *s, const char *sqlstate, struct text message,
                       struct text detail, struct text hint, int position)
{
    buffer_clear(&s->client_out);
    const struct error_message error = {.severity = "ERROR",
                                        .sqlstate = sqlstate,
                                        .message = message,
                                        .detail = detail,
                                        .hint = hint,
                                        .position = position};
    build_error(&s->client_out, &error);
    struct text whole = buffer_text(&s->client_out);
    return (struct text){whole.bytes + FRAME_HEADER_SIZE, whole.size - FRAME_HEADER_SIZE};
}

struct text error_body_from(struct session *s, const struct error_text *error, int position)
{
    return error_body(s, error->sqlstate, error->message, error->detail, error->hint, position);
}

struct text error_body_audit(struct session *s)
{
    return error_body(
        s, "58030",
        TEXT("pgwicket: the audit log cannot be written, so nothing is run at the moment"), TEXT(""),
        TEXT("Not caused by your statement. Stop and report it; try again in a few minutes."), 0);
}

struct error_text error_paused(struct arena *arena, struct instant at, const char *state)
{
    char when[INSTANT_TEXT_SIZE];
    instant_to_clock_text(at, when);
    return (struct error_text){
        .sqlstate = "55PW4",
        .message = arena_printf(arena, "pgwicket: this agent is paused by an operator; %s", state),
        .detail = arena_printf(arena, "Paused at %s.", when),
        .hint = TEXT("Stop working on the database and tell the user. Do not retry until told."),
    };
}

static struct text effect_of(struct arena *arena, const struct hold *hold)
{
    struct effect effect;
    if (!effect_from_json(arena, hold->effect, &effect) || effect.bound == EFFECT_UNKNOWN)
        return TEXT("Effect unknown");
    return arena_printf(arena, "Would change: %.*s",
                        TEXT_ARGS(text_cut(effect_in_words(arena, &effect), 1000)));
}

static struct error_text still_waiting(struct arena *arena, const struct hold *hold)
{
    char until[INSTANT_TEXT_SIZE];
    instant_to_clock_text(hold->expires, until);
    return (struct error_text){
        .sqlstate = "55PW1",
        .message = arena_printf(arena,
                                "pgwicket: waiting for a person's approval as hold %lld; nothing was "
                                "changed. Run EXECUTE pgwicket_hold(%lld) later to get the result",
                                (long long)hold->id, (long long)hold->id),
        .detail = arena_printf(arena, "Rule %.*s. %.*s. Pending until %s.", TEXT_ARGS(hold->rule),
                               TEXT_ARGS(effect_of(arena, hold)), until),
        .hint = TEXT("Do not rephrase and do not send it in a loop: tell the user it waits for "
                     "approval. If this was part of a transaction, run the whole transaction again "
                     "after release."),
    };
}

static struct error_text refused(struct arena *arena, const struct hold *hold)
{
    char when[INSTANT_TEXT_SIZE];
    instant_to_clock_text(hold->decided, when);
    struct text reason = hold->decision_reason;
    struct text short_reason = text_cut(reason, 100);
    return (struct error_text){
        .sqlstate = "55PW2",
        .message = arena_printf(arena,
                                "pgwicket: hold %lld was refused by an approver; nothing was "
                                "changed. Reason: %.*s",
                                (long long)hold->id, TEXT_ARGS(short_reason)),
        .detail = arena_printf(arena, "Rule %.*s. Refused at %s. Reason: %.*s",
                               TEXT_ARGS(hold->rule), when, TEXT_ARGS(reason)),
        .hint = TEXT("Do not send it again. Act on the reason or report it to the user."),
    };
}

static const char *const over[HOLD_STATE_COUNT] = {
    [HOLD_RUNNING] = "is running in another session, claimed at",
    [HOLD_EXECUTED] = "was already executed at",
    [HOLD_EXPIRED] = "was not decided in time and expired at",
    [HOLD_LAPSED] = "was released but not run in time, and lapsed at",
    [HOLD_DRIFTED] = "was replaced by another, as the data had changed, at",
    [HOLD_FAILED] = "failed when it ran, and changed nothing, at",
    [HOLD_UNKNOWN] = "ended in an unknown state at",
};

static const char *what_is_over(const struct hold *hold)
{
    if (hold->state == HOLD_FAILED && hold_ran_outside(hold))
        return "failed when it ran outside of a transaction, and may have done a part of its work, at";
    return over[hold->state] != NULL ? over[hold->state] : "was over at";
}

static struct text what_next(const struct hold *hold)
{
    enum hold_state state = hold->state;
    if (state == HOLD_EXPIRED || state == HOLD_LAPSED)
        return TEXT("Ask the user whether it is still wanted; only then send the statement again.");
    if (state == HOLD_RUNNING || state == HOLD_UNKNOWN || (state == HOLD_FAILED && hold_ran_outside(hold)))
        return TEXT("Do not run it again: it may have changed the data. Report it to the user.");
    return TEXT("Do not run it again. If the same change is needed once more, say so to the user.");
}

static struct error_text is_over(struct arena *arena, const struct hold *hold)
{
    char when[INSTANT_TEXT_SIZE];
    struct instant at = hold->finished.us != 0 ? hold->finished : hold->decided;
    instant_to_clock_text(at.us != 0 ? at : hold->expires, when);
    struct text tag = hold->outcome_tag;
    return (struct error_text){
        .sqlstate = "55PW5",
        .message = arena_printf(arena, "pgwicket: hold %lld %s %s%s%.*s%s; nothing was run now",
                                (long long)hold->id, what_is_over(hold), when,
                                tag.size > 0 ? " (" : "", TEXT_ARGS(tag), tag.size > 0 ? ")" : ""),
        .detail = arena_text(arena, hold->outcome_error),
        .hint = what_next(hold),
    };
}

struct error_text error_ran_inside(struct arena *arena, const struct hold *hold)
{
    return (struct error_text){
        .sqlstate = "55PW5",
        .message = arena_printf(arena,
                                "pgwicket: hold %lld has run in this very transaction; nothing was run now",
                                (long long)hold->id),
        .hint = TEXT("It is executed when the transaction commits. Run the whole transaction again, with the "
                     "statement once."),
    };
}

struct error_text error_hold(struct arena *arena, const struct hold *hold, bool waited)
{
    if (hold->state == HOLD_PENDING || (hold->state == HOLD_RELEASED && waited))
        return still_waiting(arena, hold);
    if (hold->state == HOLD_REFUSED)
        return refused(arena, hold);
    return is_over(arena, hold);
}

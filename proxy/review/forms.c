/*
 * forms.c - releasing and refusing by the forms of a hold's page. See handlers.h.
 *
 * First the hold is read, for what has to be typed; then the store decides, by the digest that was
 * shown. What is not accepted gives the page again, as it is now, with a sentence that says why.
 */
#include "proxy/review/handlers.h"

#include "proxy/base/limits.h"
#include "proxy/review/body.h"
#include "proxy/review/hold_page.h"
#include "proxy/review/http.h"
#include "proxy/review/server.h"
#include "proxy/review/summary.h"

static void show_again(struct exchange *exchange)
{
    if (!hold_page_fails(exchange))
        hold_page_send(exchange, 409);
}

static void show_with(struct exchange *exchange, const char *notice)
{
    exchange->notice = notice;
    hold_page_ask(exchange, show_again);
}

static const char *state_notice(struct exchange *exchange, const struct hold *hold)
{
    struct arena *arena = &exchange->arena;
    const char *state = hold_state_name(hold->state);
    struct text by = hold->decided_by.size > 0 ? hold->decided_by
                     : hold->approval_count > 0 ? hold->approvals[hold->approval_count - 1].by
                                                : TEXT("");
    struct text notice =
        by.size > 0 && hold->state != HOLD_EXPIRED
            ? arena_printf(arena, "Too late: %.*s decided before, and the hold is %s. Your "
                                  "decision was not recorded.",
                           TEXT_ARGS(by), state)
            : arena_printf(arena, "Too late: the hold is %s. Your decision was not recorded.",
                           state);
    return notice.bytes;
}

static void answer_decision(struct exchange *exchange)
{
    const struct hold_request *request = &exchange->hold;
    const struct hold *hold = request->hold_count > 0 ? request->holds[0] : NULL;
    switch (request->answer) {
    case HOLD_OK:
        exchange_redirect(exchange, arena_printf(&exchange->arena, "/holds/%.*s",
                                                 TEXT_ARGS(exchange->argument)));
        return;
    case HOLD_WRONG_DIGEST:
        show_with(exchange, "Nothing was sent: this is not what you were shown. Look at it again.");
        return;
    case HOLD_WRONG_STATE:
        show_with(exchange, state_notice(exchange, hold));
        return;
    case HOLD_NOT_APPROVER:
        show_with(exchange, "The rules that hold this name other approvers.");
        return;
    case HOLD_ALREADY_DECIDED:
        show_with(exchange, "You have released it before; somebody else must, too.");
        return;
    default:
        (void)hold_page_fails(exchange);
        return;
    }
}

static void send_decision(struct exchange *exchange, enum hold_operation operation)
{
    if (!digest_parse(form_value(&exchange->form, "digest"), exchange->hold.digest)) {
        exchange_fail(exchange, 400, "bad_body", "The form has no digest of what was shown.");
        return;
    }
    exchange_ask_store(exchange, operation, answer_decision);
}

/* With the hold at hand: has the approver typed what they had to? */
static void check_confirmation(struct exchange *exchange)
{
    struct summary summary;
    if (hold_page_fails(exchange))
        return;
    summary_make(&summary, &exchange->arena, exchange->hold.holds[0]);
    if (exchange->hold.holds[0]->state != HOLD_PENDING ||
        summary_is_confirmed(&summary, form_value(&exchange->form, "confirm"))) {
        send_decision(exchange, HOLD_OP_RELEASE);
        return;
    }
    exchange->notice = "Nothing was sent: what you typed is not what this effect asks for.";
    hold_page_send(exchange, 409);
}

void form_release(struct exchange *exchange)
{
    hold_page_ask(exchange, check_confirmation);
}

void form_refuse(struct exchange *exchange)
{
    exchange->hold.reason = form_value(&exchange->form, "reason");
    if (!reason_is_readable(exchange->hold.reason)) {
        show_with(exchange, "Nothing was sent: a reason of 1 to 1000 bytes is needed, without "
                            "control characters.");
        return;
    }
    if (exchange->server->store == NULL ||
        !number_parse(exchange->argument, &exchange->hold.id))
        exchange_fail(exchange, 404, "not_found", "There is no such hold.");
    else
        send_decision(exchange, HOLD_OP_REFUSE);
}

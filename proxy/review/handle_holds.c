/*
 * handle_holds.c - reading holds, releasing and refusing them. See handlers.h.
 *
 * What an approver may not see is not there (404). The store decides again, in its transaction,
 * what is checked here first.
 */
#include "proxy/review/handlers.h"

#include "proxy/base/limits.h"
#include "proxy/review/body.h"
#include "proxy/review/hold_json.h"
#include "proxy/review/http.h"
#include "proxy/review/server.h"

#include <event2/http.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_DEFAULT = 50, PAGE_MAX = 100 };

_Static_assert((int)PAGE_MAX < (int)LIMIT_HOLDS_PER_LIST,
               "one more is asked for, to know if there is more");

static void fail_not_found(struct exchange *exchange)
{
    exchange_fail(exchange, 404, "not_found", "there is no such hold");
}

static void fail_wrong_state(struct exchange *exchange, const struct hold *hold)
{
    char message[80];
    snprintf(message, sizeof message, "hold %lld is %s", (long long)hold->id,
             hold_state_name(hold->state));
    exchange_fail_with_hold(exchange, 409, "wrong_state", message, hold);
}

static void fail_not_approver(struct exchange *exchange, const struct hold *hold)
{
    const struct approver *approver = exchange->approver;
    if (!hold_visible(hold, approver->policies, approver->policy_count))
        fail_not_found(exchange);
    else
        exchange_fail_with_hold(exchange, 403, "not_approver",
                                "the hold's rules name other approvers", hold);
}

static void reply_hold(struct exchange *exchange, const struct hold *hold)
{
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    hold_json(&json, hold, exchange->approver, clock_now());
    exchange_reply(exchange, 200, &buffer);
}

/* The store's answer about one hold. */
static void answer_one(struct exchange *exchange)
{
    const struct hold_request *request = &exchange->hold;
    const struct hold *hold = request->hold_count > 0 ? request->holds[0] : NULL;
    switch (request->answer) {
    case HOLD_OK:
        reply_hold(exchange, hold);
        return;
    case HOLD_NOT_FOUND:
        fail_not_found(exchange);
        return;
    case HOLD_WRONG_STATE:
        fail_wrong_state(exchange, hold);
        return;
    case HOLD_WRONG_DIGEST:
        exchange_fail_with_hold(exchange, 409, "wrong_digest",
                                "the digest is not that of this hold: look at it again", hold);
        return;
    case HOLD_NOT_APPROVER:
        fail_not_approver(exchange, hold);
        return;
    case HOLD_ALREADY_DECIDED:
        exchange_fail_with_hold(exchange, 409, "already_approved",
                                "you have approved it already; somebody else must, too", hold);
        return;
    case HOLD_STORE_FAILED:
    case HOLD_JOINED:
    case HOLD_TOO_MANY:
        break;
    }
    exchange_fail(exchange, 503, "store_unavailable", request->problem);
}

/* The hold's number from the path. False: answered. */
static bool take_id(struct exchange *exchange)
{
    if (exchange->server->store != NULL && number_parse(exchange->argument, &exchange->hold.id))
        return true;
    fail_not_found(exchange);
    return false;
}

void handle_hold(struct exchange *exchange)
{
    if (take_id(exchange))
        exchange_ask_store(exchange, HOLD_OP_GET, answer_one);
}

static void take_decision(struct exchange *exchange, enum hold_operation operation)
{
    if (!take_id(exchange))
        return;
    struct decision_body decision;
    const char *problem = decision_body_parse(&exchange->arena, exchange_body(exchange),
                                              operation == HOLD_OP_REFUSE, &decision);
    if (problem != NULL) {
        exchange_fail(exchange, 400, "bad_body", problem);
        return;
    }
    memcpy(exchange->hold.digest, decision.digest, SHA256_SIZE);
    exchange->hold.reason = decision.reason;
    exchange_ask_store(exchange, operation, answer_one);
}

void handle_release(struct exchange *exchange)
{
    take_decision(exchange, HOLD_OP_RELEASE);
}

void handle_refuse(struct exchange *exchange)
{
    take_decision(exchange, HOLD_OP_REFUSE);
}

static void reply_list(struct exchange *exchange)
{
    const struct hold_request *request = &exchange->hold;
    struct buffer buffer;
    buffer_init(&buffer, LIMIT_HTTP_ANSWER_BYTES);
    struct json_out json = json_out_to(&buffer);
    size_t limit = request->limit > 0 ? (size_t)request->limit - 1 : 0;
    hold_list_json(&json, request->holds, request->hold_count, limit, exchange->approver,
                   clock_now());
    exchange_reply(exchange, 200, &buffer);
}

static void answer_list(struct exchange *exchange)
{
    if (exchange->hold.answer == HOLD_OK)
        reply_list(exchange);
    else
        exchange_fail(exchange, 503, "store_unavailable", exchange->hold.problem);
}

/* One parameter of the list. NULL: fine, else what is wrong. */
static const char *take_parameter(struct hold_request *request, struct text name, struct text value)
{
    if (text_is(name, "state")) {
        request->filter_state = hold_state_from_name(value);
        return request->filter_state != HOLD_NONE ? NULL : "\"state\" is not a state of a hold";
    }
    if (text_is(name, "agent")) {
        request->agent = value;
        return value.size > 0 ? NULL : "\"agent\" must be a name";
    }
    if (text_is(name, "after"))
        return number_parse(value, &request->after) ? NULL : "\"after\" must be a hold's number";
    if (text_is(name, "limit")) {
        bool fits = number_parse(value, &request->limit) && request->limit <= PAGE_MAX;
        return fits ? NULL : "\"limit\" must be from 1 to 100";
    }
    return "known parameters are state, agent, after, limit";
}

static const char *take_query(struct exchange *exchange)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(exchange->request);
    struct text query = text_from(evhttp_uri_get_query(uri));
    struct text name;
    struct text value;
    const char *problem = NULL;
    int more = 1;
    while (problem == NULL && more != 0) {
        more = query_next(&exchange->arena, &query, &name, &value);
        if (more < 0)
            return "the query cannot be decoded";
        if (more > 0)
            problem = take_parameter(&exchange->hold, name, value);
    }
    return problem;
}

void handle_holds(struct exchange *exchange)
{
    exchange->hold.limit = PAGE_DEFAULT;
    const char *problem = take_query(exchange);
    exchange->hold.limit++;
    if (problem != NULL)
        exchange_fail(exchange, 400, "bad_query", problem);
    else if (exchange->server->store == NULL)
        reply_list(exchange);
    else
        exchange_ask_store(exchange, HOLD_OP_LIST, answer_list);
}

/*
 * session.c - a session's life: its states, the two input loops, events, its end.
 *
 * The client's messages are taken one at a time. A message that cannot be dealt with yet (because
 * something that it depends on is outstanding) stays at the front of the input and is offered again;
 * so the client's own order is kept, and its back-pressure is the socket's.
 *
 * Whatever cannot be followed ends the session: nothing more goes upstream then.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t edges[SESSION_STATE_COUNT] = { /* bit n: may become state n */
    [SESSION_READY] = 1u << SESSION_DRAINING | 1u << SESSION_REFRESHING | 1u << SESSION_CANCELLING |
                      1u << SESSION_GATED | 1u << SESSION_CLOSED,
    [SESSION_DRAINING] = 1u << SESSION_READY | 1u << SESSION_CLOSED,
    [SESSION_REFRESHING] = 1u << SESSION_READY | 1u << SESSION_CLOSED,
    [SESSION_CANCELLING] = 1u << SESSION_READY | 1u << SESSION_CLOSED,
    [SESSION_GATED] = 1u << SESSION_READY | 1u << SESSION_CLOSED,
};

void session_become(struct session *s, enum session_state next)
{
    if (s->state == SESSION_CLOSED)
        return; /* the end is final: late events change nothing */
    INVARIANT(next < SESSION_STATE_COUNT);
    INVARIANT(edges[s->state] & (1u << next));
    s->state = next;
}

static void portal_retain_any(void *object) { portal_retain(object); }
static void portal_release_any(void *object) { portal_release(object); }
static void judged_retain_any(void *object) { judged_retain(object); }
static void judged_release_any(void *object) { judged_release(object); }

static void copy_setup(struct session *s, const struct session_setup *setup)
{
    arena_init(&s->setup_arena);
    s->setup = *setup;
    s->setup.agent = arena_text(&s->setup_arena, setup->agent);
    s->setup.session_id = arena_text(&s->setup_arena, setup->session_id);
    s->setup.client_address = arena_text(&s->setup_arena, setup->client_address);
    s->setup.database = arena_text(&s->setup_arena, setup->database);
}

struct session *session_new(const struct session_port *port, const struct session_setup *setup)
{
    static const struct names_type statements = {judged_retain_any, judged_release_any};
    static const struct names_type portals = {portal_retain_any, portal_release_any};
    struct session *s = memory_allocate_zeroed(1, sizeof *s);
    s->port = *port;
    copy_setup(s, setup);
    uint32_t random;
    random_bytes(&random, sizeof random);
    snprintf(s->prefix, sizeof s->prefix, "pgwicket_%08x", random);
    s->status = 'I';
    s->statement_timeout_us = setup->statement_timeout_us;
    s->statements = names_new(&statements);
    s->portals = names_new(&portals);
    queue_init(&s->queue);
    buffer_init(&s->preamble.text, LIMIT_PREAMBLE_BYTES);
    buffer_init(&s->client_out, LIMIT_BACKEND_MESSAGE_BYTES);
    buffer_init(&s->server_out, (size_t)LIMIT_BIND_BYTES + LIMIT_SMALL_MESSAGE_BYTES);
    buffer_init(&s->late, LIMIT_BACKEND_MESSAGE_BYTES);
    buffer_init(&s->gate.explain, LIMIT_BACKEND_MESSAGE_BYTES);
    for (size_t i = 0; i < setup->setting_count; i++)
        bound_note(s, setup->settings[i]);
    buffer_init(&s->gate.reply, LIMIT_KEPT_REPLY_BYTES);
    buffer_init(&s->gate.complete, LIMIT_SMALL_MESSAGE_BYTES);
    buffer_init(&s->gate.error, LIMIT_BACKEND_MESSAGE_BYTES);
    return s;
}

static void release_gate(struct gate *gate)
{
    buffer_release(&gate->explain);
    buffer_release(&gate->reply);
    buffer_release(&gate->complete);
    buffer_release(&gate->error);
}

void session_free(struct session *s)
{
    if (s == NULL)
        return;
    hold_session_ends(s);
    gate_end(s);
    outcomes_flush(s, false, TEXT("08006"));
    while (queue_head(&s->queue) != NULL) {
        struct request request = queue_pop(&s->queue);
        request_release(&request);
    }
    queue_release(&s->queue);
    bound_forget(&s->bound);
    names_free(s->statements);
    names_free(s->portals);
    release_gate(&s->gate);
    arena_release(&s->lookup.arena);
    buffer_release(&s->preamble.text);
    buffer_release(&s->late);
    buffer_release(&s->client_out);
    buffer_release(&s->server_out);
    pins_forget(&s->pins);
    free(s->pins.pinned);
    arena_release(&s->setup_arena);
    free(s);
}

void to_client(struct session *s, struct text bytes)
{
    if (!s->client_gone && bytes.size > 0)
        s->port.to_client(s->port.context, bytes);
}

void to_client_error(struct session *s, struct text whole)
{
    struct error_fields fields;
    if (decode_error(text_behind(whole, FRAME_HEADER_SIZE), &fields))
        s->port.told_error(s->port.context, fields.sqlstate);
    to_client(s, whole);
}

void session_end(struct session *s, enum session_end why)
{
    if (s->state == SESSION_CLOSED)
        return;
    session_become(s, SESSION_CLOSED);
    s->end = why;
    s->port.set_timer(s->port.context, 0);
    s->port.close(s->port.context, why);
}

static void end_with(struct session *s, const struct error_message *error, enum session_end why)
{
    buffer_clear(&s->client_out);
    build_error(&s->client_out, error);
    to_client_error(s, buffer_text(&s->client_out));
    session_end(s, why);
}

void session_fatal(struct session *s, const char *sqlstate, struct text message,
                   enum session_end why)
{
    const struct error_message error = {
        .severity = "FATAL", .sqlstate = sqlstate, .message = message};
    end_with(s, &error, why);
}

/* --- waiting ---------------------------------------------------------------------------------- */

enum step session_drain(struct session *s)
{
    if (queue_head(&s->queue) == NULL)
        return STEP_DONE;
    if (s->batch_open && !s->flushed)
        send_flush(s);
    session_become(s, SESSION_DRAINING);
    return STEP_WAIT;
}

enum step session_ready_to_judge(struct session *s)
{
    if (s->cancelling) {
        session_become(s, SESSION_CANCELLING);
        return STEP_WAIT;
    }
    if (s->outstanding_changes > 0)
        return session_drain(s);
    if (s->pins.check || s->pins.unread)
        return pins_after_code(s);
    return pins_before_transaction(s);
}

/* --- the client's messages -------------------------------------------------------------------- */

static enum step refuse_function_call(struct session *s)
{
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    s->statement_number++;
    bool written = report_message(s, "FunctionCall message", "42501");
    struct text message = TEXT("pgwicket: the FunctionCall message is not allowed; nothing was run");
    struct text hint = TEXT("Call functions by SELECT.");
    send_poison_query(s, written ? error_body(s, "42501", message, TEXT(""), hint, 0) : error_body_audit(s));
    return STEP_DONE;
}

/* The first message after a pause that ended the client's transaction: it believes to be in it still, whether
 * the pause is over or not. */
static enum step tell_of_pause(struct session *s, uint8_t type)
{
    struct arena arena;
    arena_init(&arena);
    s->transaction_paused = false;
    s->statement_number++;
    struct error_text error = error_paused(&arena, s->paused_at, "its transaction was rolled back");
    bool written = report_message(s, "a pause has ended the transaction", error.sqlstate);
    struct text body = written ? error_body_from(s, &error, 0) : error_body_audit(s);
    bool whole = type == FRONTEND_QUERY || type == FRONTEND_FUNCTION_CALL;
    struct request *request = whole ? send_poison_query(s, body) : send_poison(s, body);
    request->show_as_is = true;
    arena_release(&arena);
    return STEP_DONE;
}

static bool runs_or_prepares(uint8_t type)
{
    return type == FRONTEND_QUERY || type == FRONTEND_PARSE || type == FRONTEND_BIND ||
           type == FRONTEND_DESCRIBE || type == FRONTEND_EXECUTE || type == FRONTEND_CLOSE ||
           type == FRONTEND_FUNCTION_CALL;
}

/* While the server skips to Sync it ignores all else; so it is not even sent. */
static bool ignored_while_skipping(uint8_t type)
{
    return type != FRONTEND_SYNC && type != FRONTEND_TERMINATE;
}

/* Whether a select with a limit has to fail its transaction is known at its ReadyForQuery; what is sent behind
 * the Sync before would be in the wrong batch. */
static bool fate_is_open(const struct session *s)
{
    return s->queue.count > 0 && !s->batch_open && (s->limited_outstanding > 0 || s->poison_after_ready);
}

static enum step client_message(struct session *s, const struct frame *frame, struct text following)
{
    if (s->skipping && ignored_while_skipping(frame->type))
        return STEP_DONE;
    if (fate_is_open(s) && frame->type != FRONTEND_TERMINATE)
        return session_drain(s);
    if (s->transaction_paused && runs_or_prepares(frame->type))
        return tell_of_pause(s, frame->type);
    switch (frame->type) {
    case FRONTEND_QUERY:
        return client_query(s, frame);
    case FRONTEND_PARSE:
        return client_parse(s, frame);
    case FRONTEND_BIND:
        return client_bind(s, frame);
    case FRONTEND_DESCRIBE:
        return client_describe(s, frame);
    case FRONTEND_EXECUTE:
        return client_execute(s, frame, following);
    case FRONTEND_CLOSE:
        return client_close(s, frame);
    case FRONTEND_FLUSH:
        return client_flush(s);
    case FRONTEND_SYNC:
        return client_sync(s);
    case FRONTEND_COPY_DATA:
    case FRONTEND_COPY_DONE:
    case FRONTEND_COPY_FAIL:
        return client_copy(s, frame);
    case FRONTEND_FUNCTION_CALL:
        return refuse_function_call(s);
    case FRONTEND_TERMINATE:
        session_end(s, SESSION_END_CLIENT);
        return STEP_DONE;
    default:
        session_fatal(s, "08P01", TEXT("invalid frontend message type"), SESSION_END_PROTOCOL);
        return STEP_DONE;
    }
}

/* While the server takes data it wants nothing else, but ignores a Flush or Sync that came early. */
static bool may_come_in_copy(uint8_t type)
{
    return type == FRONTEND_COPY_DATA || type == FRONTEND_COPY_DONE || type == FRONTEND_COPY_FAIL ||
           type == FRONTEND_FLUSH || type == FRONTEND_SYNC || type == FRONTEND_TERMINATE;
}

/* Query and Parse beyond the limit are swallowed as they come and answered with an error. */
static bool begins_too_large(struct session *s, struct text bytes)
{
    enum { LARGEST = 0x3fffffff };
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    uint8_t type = cursor_u8(&cursor);
    uint32_t length = cursor_u32(&cursor);
    if (cursor.failed || (type != FRONTEND_QUERY && type != FRONTEND_PARSE) || length >= LARGEST ||
        (size_t)length + 1 <= frontend_size_max(type))
        return false;
    s->swallow_left = (int64_t)length + 1;
    s->swallow_type = type;
    return true;
}

static enum step answer_too_large(struct session *s)
{
    if (s->skipping)
        return STEP_DONE;
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    s->statement_number++;
    bool written = report_message(s, "statement larger than 1 MiB", "54001");
    struct text message = TEXT("pgwicket: statement is too large to check (limit 1 MiB); nothing was run");
    struct text detail = TEXT("Limits: 1 MiB of text, 500 levels of nesting.");
    struct text hint = TEXT("Split it into several statements.");
    struct text error = written ? error_body(s, "54001", message, detail, hint, 0) : error_body_audit(s);
    if (s->swallow_type == FRONTEND_QUERY)
        send_poison_query(s, error);
    else
        send_poison(s, error);
    return STEP_DONE;
}

static size_t swallow(struct session *s, struct text bytes)
{
    /* The last byte stays until the answer is given, so that a wait can be repeated. */
    int64_t part = (int64_t)bytes.size < s->swallow_left ? (int64_t)bytes.size : s->swallow_left;
    if (part == s->swallow_left) {
        if (answer_too_large(s) == STEP_WAIT) {
            s->swallow_left = 1;
            return (size_t)part - 1;
        }
        s->swallow_left = 0;
        return (size_t)part;
    }
    s->swallow_left -= part;
    return (size_t)part;
}

static size_t stream_copy(struct session *s, struct text bytes)
{
    size_t part = (int64_t)bytes.size < s->copy_left ? bytes.size : (size_t)s->copy_left;
    if (session_in_copy(s))
        session_copy_part(s, (struct text){bytes.bytes, part});
    s->copy_left -= (int64_t)part;
    return part;
}

/* Takes what can be taken of the message at the front; 0: it stays there. */
static size_t take_client_message(struct session *s, struct text bytes)
{
    bool in_copy = session_in_copy(s);
    if (s->swallow_left > 0 || (s->state == SESSION_READY && begins_too_large(s, bytes)))
        return swallow(s, bytes);
    struct frame frame;
    size_t size_max = bytes.size > 0 ? frontend_size_max((uint8_t)bytes.bytes[0]) : 0;
    if (size_max == 0) {
        session_fatal(s, "08P01", TEXT("invalid frontend message type"), SESSION_END_PROTOCOL);
        return 0;
    }
    enum frame_result result = frame_read(bytes, size_max, &frame);
    if (result == FRAME_BAD) {
        session_fatal(s, "08P01", TEXT("invalid message length"), SESSION_END_PROTOCOL);
        return 0;
    }
    bool streams = in_copy && frame.type == FRONTEND_COPY_DATA && frame.size > 0;
    if (result == FRAME_PARTIAL && !streams)
        return 0;
    if (streams && result == FRAME_PARTIAL) {
        session_copy_part(s, bytes);
        s->copy_left = (int64_t)(frame.size - bytes.size);
        return bytes.size;
    }
    if (in_copy && !may_come_in_copy(frame.type)) {
        session_fatal(s, "08P01", TEXT("unexpected message type during COPY from stdin"),
                      SESSION_END_PROTOCOL);
        return 0;
    }
    if (s->state != SESSION_READY && !in_copy)
        return 0;
    struct text following = {bytes.bytes + frame.size, bytes.size - frame.size};
    measure_offered(s);
    if (client_message(s, &frame, following) == STEP_WAIT)
        return 0;
    measure_taken(s, frame.type);
    s->refreshed = false;
    if (s->state != SESSION_GATED)
        s->gate.cancelled = false; /* it was for this message */
    return frame.size;
}

size_t session_client_bytes(struct session *s, struct text bytes)
{
    size_t used = 0;
    while (s->state != SESSION_CLOSED && used < bytes.size) {
        struct text rest = {bytes.bytes + used, bytes.size - used};
        if (s->state != SESSION_READY && !session_in_copy(s))
            break;
        if (s->queue.count >= LIMIT_OUTSTANDING_REQUESTS && session_drain(s) == STEP_WAIT)
            break;
        size_t taken = s->copy_left > 0 ? stream_copy(s, rest) : take_client_message(s, rest);
        if (taken == 0)
            break;
        used += taken;
    }
    return s->state == SESSION_CLOSED ? bytes.size : used;
}

size_t session_client_need(const struct session *s, struct text bytes)
{
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    uint8_t type = cursor_u8(&cursor);
    uint32_t length = cursor_u32(&cursor);
    (void)s;
    return cursor.failed || type == FRONTEND_COPY_DATA ? FRAME_HEADER_SIZE : (size_t)length + 1;
}

/* --- the server's messages -------------------------------------------------------------------- */

static size_t stream_server(struct session *s, struct text bytes)
{
    size_t part = (int64_t)bytes.size < s->server_left ? bytes.size : (size_t)s->server_left;
    if (s->server_left_relayed)
        to_client(s, (struct text){bytes.bytes, part});
    s->server_left -= (int64_t)part;
    return part;
}

/* A large DataRow or CopyData goes on piece by piece, if nobody here must read it. */
static size_t begin_stream(struct session *s, struct text bytes, const struct frame *frame)
{
    enum stream stream = server_stream(s, frame->type, frame->size);
    if (stream == STREAM_AWAIT)
        return 0;
    s->server_left = (int64_t)frame->size;
    s->server_left_relayed = stream == STREAM_RELAY;
    return stream_server(s, bytes);
}

size_t session_server_need(struct session *s, struct text bytes)
{
    struct cursor cursor = cursor_over(bytes.bytes, bytes.size);
    uint8_t type = cursor_u8(&cursor);
    uint32_t length = cursor_u32(&cursor);
    if (cursor.failed || s->server_left > 0 || length >= LIMIT_BACKEND_MESSAGE_BYTES ||
        (backend_streams(type) && length >= STREAM_BYTES_MIN &&
         (!server_row_is_read(s) || length >= LIMIT_KEPT_ROW_BYTES)))
        return FRAME_HEADER_SIZE;
    return (size_t)length + 1;
}

size_t session_server_bytes(struct session *s, struct text bytes)
{
    enum { LARGEST = 0x3fffffff };
    size_t used = 0;
    while (s->state != SESSION_CLOSED && used < bytes.size) {
        struct text rest = {bytes.bytes + used, bytes.size - used};
        if (s->server_left > 0) {
            used += stream_server(s, rest);
            continue;
        }
        struct frame frame;
        bool streams = backend_streams((uint8_t)rest.bytes[0]);
        enum frame_result result =
            frame_read(rest, streams ? (size_t)LARGEST : LIMIT_BACKEND_MESSAGE_BYTES, &frame);
        if (result == FRAME_BAD) {
            session_end(s, SESSION_END_INTERNAL);
        } else if (result == FRAME_PARTIAL) {
            size_t begun = streams && frame.size > 0 ? begin_stream(s, rest, &frame) : 0;
            if (begun == 0)
                break;
            used += begun;
        } else {
            server_message(s, &frame, (struct text){rest.bytes, frame.size});
            used += frame.size;
        }
    }
    if (s->state == SESSION_DRAINING && queue_head(&s->queue) == NULL)
        session_become(s, SESSION_READY);
    return s->state == SESSION_CLOSED ? bytes.size : used;
}

/* --- events ----------------------------------------------------------------------------------- */

void session_timer(struct session *s)
{
    if (s->state == SESSION_GATED && s->gate.state == GATE_WAIT)
        hold_stop_waiting(s, false);
}

/* What was made in a transaction that is still open is in no catalog. */
void session_catalog_refreshed(struct session *s, bool loaded)
{
    if (s->state != SESSION_REFRESHING)
        return;
    if (!loaded)
        s->catalog_stale = true;
    else if (s->holds_made == HOLDS_MADE_BEFORE)
        s->holds_made = HOLDS_MADE_NOTHING;
    session_become(s, SESSION_READY);
}

bool session_cancel_requested(struct session *s)
{
    if (s->state == SESSION_CLOSED)
        return false;
    if (s->state == SESSION_GATED && s->gate.state == GATE_WAIT) {
        hold_stop_waiting(s, true);
        return false;
    }
    if (s->gate.state == GATE_COPY) {
        hold_copy_cancelled(s);
        return false;
    }
    if (s->state == SESSION_GATED || s->state == SESSION_REFRESHING)
        s->gate.cancelled = true;
    if (queue_head(&s->queue) == NULL)
        return false; /* nothing runs: a cancel of an idle session does nothing */
    if (!s->cancelling) {
        s->cancelling = true;
        s->port.cancel_server(s->port.context);
    }
    return true;
}

void session_cancel_done(struct session *s)
{
    s->cancelling = false;
    if (s->state == SESSION_CANCELLING)
        session_become(s, SESSION_READY);
}

/* The store has what became of a hold, or cannot have it: then nothing may be committed without it. */
static void returned(struct session *s, const struct hold_request *request)
{
    s->returning -= s->returning > 0;
    if (s->state == SESSION_CLOSED)
        return;
    if (request->answer == HOLD_STORE_FAILED && request->new_state == HOLD_RELEASED && s->status != 'I')
        session_fatal(s, "58030", hold_store_unusable().message, SESSION_END_INTERNAL);
    else if (s->state == SESSION_DRAINING && queue_head(&s->queue) == NULL)
        session_become(s, SESSION_READY);
}

void session_hold_answer(struct session *s, struct hold_request *request)
{
    if (s->state != SESSION_GATED || s->gate.request != request) {
        if (request->operation == HOLD_OP_FINISH)
            returned(s, request);
        arena_release(&request->arena);
        free(request);
        return;
    }
    s->gate.request = NULL;
    hold_answer(s, request);
    arena_release(&request->arena);
    free(request);
}

void session_hold_changed(struct session *s, const struct hold *hold)
{
    if (s->state == SESSION_GATED && s->gate.state == GATE_WAIT && s->gate.hold != NULL &&
        s->gate.hold->id == hold->id)
        hold_changed(s, hold);
}

/* Nothing runs, and nothing that was begun waits for more: the next message can be told of the pause. */
static bool may_stay_paused(const struct session *s)
{
    return (s->state == SESSION_READY || s->state == SESSION_REFRESHING) && s->queue.count == 0 &&
           !s->batch_open && !s->cancelling && !s->shutting_down;
}

static void end_transaction(struct session *s)
{
    s->transaction_paused = true;
    send_injected(s, PURPOSE_NONE, TEXT("ROLLBACK"));
    send_sync(s, ROLE_INJECTED);
}

static void end_paused(struct session *s)
{
    struct arena arena;
    arena_init(&arena);
    /* The server would not notice the end of the connection before its statement is done. */
    if (queue_head(&s->queue) != NULL && !s->cancelling)
        s->port.cancel_server(s->port.context);
    struct error_text error = error_paused(&arena, s->paused_at, "what was running was cancelled");
    const struct error_message fatal = {.severity = "FATAL",
                                        .sqlstate = error.sqlstate,
                                        .message = error.message,
                                        .detail = error.detail,
                                        .hint = error.hint};
    end_with(s, &fatal, SESSION_END_ADMIN);
    arena_release(&arena);
}

void session_paused(struct session *s)
{
    s->paused_at = s->port.now(s->port.context);
    if (s->state == SESSION_CLOSED)
        return;
    if (session_waiting(s))
        hold_wait_paused(s);
    else if (!may_stay_paused(s))
        end_paused(s);
    else if (s->status != 'I')
        end_transaction(s);
}

void session_shutdown(struct session *s)
{
    s->shutting_down = true;
    if (session_may_end(s) || session_waiting(s))
        session_fatal(s, "57P01", TEXT("terminating connection due to administrator command"),
                      SESSION_END_ADMIN);
}

/* A run that has been claimed goes on to its end without the client. */
static bool run_under_way(const struct session *s)
{
    return s->state == SESSION_GATED && s->gate.state >= GATE_CLAIM;
}

void session_client_gone(struct session *s)
{
    s->client_gone = true;
    if (!run_under_way(s))
        session_end(s, SESSION_END_CLIENT);
}

/* What that means for a hold. */
static struct text after_loss(struct session *s, struct arena *arena)
{
    const struct gate *gate = &s->gate;
    long long id = (long long)(gate->hold != NULL ? gate->hold->id : inside_last_hold(s));
    bool open = gate->state == GATE_HOLD_COMMIT || inside_may_have_committed(s);
    if (open)
        return arena_printf(arena,
                            " while hold %lld was being committed. EXECUTE pgwicket_hold(%lld) tells what became "
                            "of it, and runs it only if nothing was committed",
                            id, id);
    if (gate->hold == NULL || gate->state >= GATE_HOLD_FINISH)
        return TEXT("");
    return gate->state >= GATE_CLAIM || gate->hold->state == HOLD_RELEASED
               ? arena_printf(arena, "; nothing was committed, hold %lld stays released", id)
               : arena_printf(arena, "; hold %lld goes on waiting for a person", id);
}

void session_server_gone(struct session *s)
{
    struct arena arena;
    arena_init(&arena);
    struct text message = arena_printf(&arena, "pgwicket: the connection to the database was lost%.*s",
                                       TEXT_ARGS(after_loss(s, &arena)));
    session_fatal(s, "08006", message, SESSION_END_SERVER);
    arena_release(&arena);
}

bool session_takes_input(const struct session *s)
{
    return s->state == SESSION_READY || s->gate.state == GATE_COPY;
}

bool session_closed(const struct session *s) { return s->state == SESSION_CLOSED; }

bool session_idle(const struct session *s)
{
    return s->state == SESSION_READY && s->status == 'I' && s->queue.count == 0 && !s->batch_open;
}

/* A transaction that has failed has nothing left to lose. */
bool session_may_end(const struct session *s)
{
    return s->state == SESSION_READY && s->status != 'T' && s->queue.count == 0 && !s->batch_open;
}

bool session_waiting(const struct session *s)
{
    return s->state == SESSION_GATED && s->gate.state == GATE_WAIT;
}

/*
 * server.c - the server's messages: each reply belongs to the head of the queue, whose role says whether
 * it is relayed, swallowed, kept for the gate, or replaced.
 *
 * A reply that the head cannot have ends the session at once, before any Sync: then nothing is
 * committed that pgwicket has lost track of.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <stdlib.h>
#include <string.h>

static void unexpected(struct session *s)
{
    session_fatal(s, "08P01", TEXT("pgwicket: unexpected answer from the database; the session ends"),
                  SESSION_END_INTERNAL);
}

static void relay(struct session *s, struct text whole)
{
    if (!s->client_skipping)
        to_client(s, whole);
}

static void relay_whole_error(struct session *s, struct text whole)
{
    if (!s->client_skipping)
        to_client_error(s, whole);
}

/* --- the queue -------------------------------------------------------------------------------- */

static void settle_name(struct session *s, const struct request *request, enum fate fate)
{
    if (request->change == NAME_UNCHANGED)
        return;
    bool statement = request->change == NAME_STATEMENT;
    struct names *names = statement ? s->statements : s->portals;
    struct text name = text_from(request->name);
    void *object = statement ? (void *)request->judged : (void *)request->portal;
    if (request->kind == REQUEST_CLOSE)
        object = NULL;
    bool lost = fate == FATE_FAILED && request->kind == REQUEST_PARSE && name.size == 0;
    if (fate == FATE_ANSWERED)
        names_confirmed(names, name, object);
    else
        names_failed(names, name, lost);
}

void queue_finish_head(struct session *s, enum fate fate)
{
    struct request request = queue_pop(&s->queue);
    if (request.changes != 0)
        s->outstanding_changes--;
    if (request.execution != NULL && request.execution->limited && s->limited_outstanding > 0)
        s->limited_outstanding--;
    settle_name(s, &request, fate);
    request_release(&request);
}

/* --- rows and their limit --------------------------------------------------------------------- */

static const struct shape *shape_being_answered(const struct execution *execution)
{
    const struct analysis *analysis = &execution->judged->judgement.analysis;
    return execution->at < analysis->statement_count ? &analysis->statements[execution->at].shape
                                                     : NULL;
}

/* A CopyData that holds no row: the line of names in front, or the end of the binary format, which is a
 * field count of -1. */
static bool is_copy_frame(struct execution *execution, uint8_t type, struct text body)
{
    const struct shape *shape = shape_being_answered(execution);
    if (type != BACKEND_COPY_DATA || shape == NULL)
        return false;
    if (shape->copy_header && !execution->header_passed) {
        execution->header_passed = true;
        return true;
    }
    return body.size == 2 && body.bytes[0] == '\xff' && body.bytes[1] == '\xff';
}

/* Counts one row of the head; false: it is beyond the limit and not for the client. `body` is empty where
 * it has not arrived whole. */
static bool count_row(struct session *s, struct execution *execution, uint8_t type, struct text body)
{
    if (execution == NULL)
        return true;
    if (is_copy_frame(execution, type, body))
        return execution->stopped == NULL;
    execution->rows++;
    struct portal *portal = execution_counter(execution);
    if (execution->stopped != NULL || portal == NULL)
        return execution->stopped == NULL;
    portal->rows_seen++;
    if (portal->rows_max == LIMIT_NONE || portal->rows_seen <= portal->rows_max)
        return true;
    execution->stopped = portal;
    if (!s->cancelling) {
        s->cancelling = true;
        s->port.cancel_server(s->port.context);
    }
    return false;
}

bool server_row_is_read(struct session *s)
{
    const struct request *head = queue_head(&s->queue);
    return head == NULL || head->keep_reply || head->purpose != PURPOSE_NONE;
}

/* A row beyond every limit of what is kept is not even awaited: a reply is then over its limit, an estimate
 * unknown. */
static enum stream stream_to_read(struct session *s, const struct request *head, size_t size)
{
    if (head == NULL || size <= LIMIT_KEPT_ROW_BYTES)
        return STREAM_AWAIT;
    s->gate.over = s->gate.over || head->keep_reply;
    s->gate.measuring.rows.incomplete = true;
    return STREAM_DROP;
}

enum stream server_stream(struct session *s, uint8_t type, size_t size)
{
    struct request *head = queue_head(&s->queue);
    if (size <= STREAM_BYTES_MIN)
        return STREAM_AWAIT;
    if (server_row_is_read(s))
        return stream_to_read(s, head, size);
    if (head->role != ROLE_CLIENT)
        return STREAM_DROP;
    late_relay(s);
    return count_row(s, head->execution, type, TEXT("")) && !s->client_skipping ? STREAM_RELAY : STREAM_DROP;
}

static void show_too_long(struct session *s, const struct execution *execution)
{
    struct arena arena;
    arena_init(&arena);
    const struct judged *judged = execution->stopped->judged;
    const struct decision *decision = execution->stopped->decision;
    struct error_text error = {.sqlstate = "54000",
                               .message = TEXT("pgwicket: result is longer than allowed; stopped, the "
                                               "rows received so far are incomplete")};
    if (decision != NULL && judged_call(judged) != NULL)
        error = template_call_result_too_long(&arena, judged_call(judged), decision);
    else if (decision != NULL)
        error = message_result_too_long(&arena, decision);
    struct text body = error_body_from(s, &error, 0);
    struct text whole = {body.bytes - FRAME_HEADER_SIZE, body.size + FRAME_HEADER_SIZE};
    relay_whole_error(s, whole);
    arena_release(&arena);
    s->client_skipping = true;
    s->batch_failed = true;
    memcpy(s->batch_sqlstate, "54000", sizeof s->batch_sqlstate);
}

/* The statement ended by itself before the cancel came: the transaction must fail all the same. */
static void fail_completed(struct session *s, const struct request *head)
{
    if (head->kind == REQUEST_EXECUTE && s->batch_open)
        send_poison(s, TEXT(""));
    else
        s->poison_after_ready = true;
}

/* --- errors ----------------------------------------------------------------------------------- */

static void relay_error(struct session *s, struct text body)
{
    buffer_clear(&s->client_out);
    build_message(&s->client_out, BACKEND_ERROR, body);
    relay_whole_error(s, buffer_text(&s->client_out));
}

/* The server's error, as far as it may be read, with its position in the client's own text. */
static void show_own_error(struct session *s, const struct request *head, struct text body,
                           const struct error_fields *fields)
{
    struct buffer shown;
    buffer_init(&shown, LIMIT_BACKEND_MESSAGE_BYTES);
    server_error_for(s, head, body, fields, &shown);
    relay_error(s, buffer_text(&shown));
    buffer_release(&shown);
}

static void show_poison(struct session *s, const struct request *head,
                        const struct error_fields *fields)
{
    bool bind = head->kind == REQUEST_BIND;
    if (!text_is(fields->sqlstate, bind ? "26000" : "42601")) {
        unexpected(s); /* cancelled, or not our doing: the state is not what we meant */
        return;
    }
    if (head->poison_size == 0)
        return;
    if (s->status == 'E' && !head->show_as_is)
        relay_error(s, error_body(s, "25P02",
                                  TEXT("current transaction is aborted, commands ignored until end of "
                                       "transaction block"),
                                  TEXT(""), TEXT(""), 0));
    else
        relay_error(s, (struct text){head->poison, head->poison_size});
}

static bool sync_outstanding(struct session *s)
{
    for (size_t i = 0; i < s->queue.count; i++)
        if (queue_at(&s->queue, i)->kind == REQUEST_SYNC)
            return true;
    return false;
}

/* While the gate does not work, what is injected asks for the pins: with a Sync of its own, or in the client's
 * batch. */
static void show_error(struct session *s, struct request *head, struct text body,
                       const struct error_fields *fields)
{
    if (head->role == ROLE_POISON) {
        bool cancelled = text_is(fields->sqlstate, "57014");
        if (cancelled)
            show_own_error(s, head, body, fields);
        else
            show_poison(s, head, fields);
    } else if (s->gate.state == GATE_NONE && head->role == ROLE_INJECTED) {
        if (!sync_outstanding(s))
            show_own_error(s, head, body, fields); /* the server skips what the client sends: it must be told */
        else if (!text_is(fields->sqlstate, "57014"))
            pins_failed(s); /* else it is asked again */
    } else if (head->role == ROLE_INJECTED || head->keep_reply ||
               (head->role == ROLE_QUIET && s->gate.state != GATE_NONE)) {
        gate_error(s, body);
    } else if (head->execution != NULL && head->execution->stopped != NULL) {
        show_too_long(s, head->execution);
    } else {
        show_own_error(s, head, body, fields);
    }
}

/* Code that fails keeps what it has made of names. */
static void note_code(struct session *s, const struct request *head)
{
    if (head->execution == NULL)
        return;
    const struct analysis *analysis = &head->execution->judged->judgement.analysis;
    for (size_t i = 0; i < analysis->statement_count; i++)
        if (shape_runs_code(s, &analysis->statements[i].shape))
            pins_code_ran(s);
}

static bool is_fatal(const struct error_fields *fields)
{
    return text_is(fields->severity, "FATAL") || text_is(fields->severity, "PANIC");
}

/* For the outcomes' records: a poison's error counts as the one that it stands for. */
static void note_failure(struct session *s, const struct request *head,
                         const struct error_fields *fields)
{
    struct error_fields meant;
    s->batch_failed = true;
    bool poison = head->poison_size > 0 &&
                  decode_error((struct text){head->poison, head->poison_size}, &meant);
    struct text state =
        text_cut(poison ? meant.sqlstate : fields->sqlstate, sizeof s->batch_sqlstate - 1);
    memcpy(s->batch_sqlstate, state.bytes, state.size);
    s->batch_sqlstate[state.size] = '\0';
}

static void on_error(struct session *s, struct text body)
{
    struct error_fields fields;
    if (!decode_error(body, &fields)) {
        unexpected(s);
        return;
    }
    struct request *head = queue_head(&s->queue);
    if (is_fatal(&fields) || head == NULL) {
        s->client_skipping = false;
        show_own_error(s, head, body, &fields);
        session_end(s, SESSION_END_SERVER);
        return;
    }
    note_failure(s, head, &fields);
    note_code(s, head);
    buffer_clear(&s->late);
    enum request_kind kind = head->kind;
    s->gate.settle_failed = kind == REQUEST_SYNC;
    show_error(s, head, body, &fields);
    if (s->status == 'T')
        s->status = 'E';
    if (kind == REQUEST_QUERY || kind == REQUEST_SYNC || s->state == SESSION_CLOSED)
        return;
    /* The server skips everything up to Sync; if that has not been sent, so does the client's input. */
    queue_finish_head(s, FATE_FAILED);
    while (queue_head(&s->queue) != NULL && queue_head(&s->queue)->kind != REQUEST_SYNC)
        queue_finish_head(s, FATE_SKIPPED);
    s->skipping = queue_head(&s->queue) == NULL;
    gate_after_error(s);
}

/* --- replies ---------------------------------------------------------------------------------- */

enum reply { REPLY_UNEXPECTED = 0, REPLY_PART, REPLY_LAST };

static enum reply reply_of_execute(uint8_t type)
{
    switch (type) {
    case BACKEND_DATA_ROW:
    case BACKEND_COPY_IN:
    case BACKEND_COPY_OUT:
    case BACKEND_COPY_DATA:
    case BACKEND_COPY_DONE:
        return REPLY_PART;
    case BACKEND_COMMAND_COMPLETE:
    case BACKEND_EMPTY_QUERY:
    case BACKEND_PORTAL_SUSPENDED:
        return REPLY_LAST;
    default:
        return REPLY_UNEXPECTED;
    }
}

static enum reply reply_of(enum request_kind kind, uint8_t type)
{
    bool described = type == BACKEND_ROW_DESCRIPTION || type == BACKEND_NO_DATA;
    switch (kind) {
    case REQUEST_PARSE:
        return type == BACKEND_PARSE_COMPLETE ? REPLY_LAST : REPLY_UNEXPECTED;
    case REQUEST_BIND:
        return type == BACKEND_BIND_COMPLETE ? REPLY_LAST : REPLY_UNEXPECTED;
    case REQUEST_CLOSE:
        return type == BACKEND_CLOSE_COMPLETE ? REPLY_LAST : REPLY_UNEXPECTED;
    case REQUEST_DESCRIBE_STATEMENT:
        if (type == BACKEND_PARAMETER_DESCRIPTION)
            return REPLY_PART;
        return described ? REPLY_LAST : REPLY_UNEXPECTED;
    case REQUEST_DESCRIBE_PORTAL:
        return described ? REPLY_LAST : REPLY_UNEXPECTED;
    case REQUEST_EXECUTE:
        return reply_of_execute(type);
    case REQUEST_QUERY:
        return type == BACKEND_ROW_DESCRIPTION || (reply_of_execute(type) != REPLY_UNEXPECTED &&
                                                   type != BACKEND_PORTAL_SUSPENDED)
                   ? REPLY_PART
                   : REPLY_UNEXPECTED;
    case REQUEST_SYNC:
    default:
        return REPLY_UNEXPECTED;
    }
}

static void keep_types(const struct request *head, struct text body)
{
    uint16_t count;
    if (head->judged == NULL || !decode_parameter_description(body, &count))
        return;
    /* The judged statement is shared, but its arena is its own: filled once, read by holds. */
    head->judged->described_types =
        arena_text(&head->judged->arena, (struct text){body.bytes + 2, body.size - 2});
}

static bool writes(const struct shape *shape)
{
    switch (shape->kind) {
    case STATEMENT_WRITE:
    case STATEMENT_COPY_IN:
    case STATEMENT_CODE:
    case STATEMENT_UTILITY:
        return true;
    default:
        return false;
    }
}

/* One statement of the head is complete. */
static void statement_completed(struct session *s, struct request *head, struct text body)
{
    struct execution *execution = head->execution;
    struct command_tag tag;
    const struct analysis *analysis = &execution->judged->judgement.analysis;
    if (!decode_command_complete(body, &tag) || execution->at >= analysis->statement_count) {
        unexpected(s);
        return;
    }
    const struct statement *statement = &analysis->statements[execution->at];
    bool single = analysis->statement_count == 1;
    if (writes(&statement->shape))
        outcome_add(s, execution, tag.tag, tag.rows);
    const struct portal *counter = execution_counter(execution);
    if (counter != NULL)
        measure_estimate(s, counter->estimate_rows, tag.rows);
    if (statement->shape.kind == STATEMENT_PREPARE || statement->shape.kind == STATEMENT_DECLARE)
        define_by_sql(s, execution->judged, execution->at);
    transaction_completed(s, statement,
                          single ? execution->judged->print : statement->print, tag.tag);
    execution->at++;
    execution->statement_number++;
    execution->rows = 0;
    execution->copied = false;
    execution->header_passed = false;
}

/* A part of its rows has been made. */
static void suspended(struct session *s, const struct execution *execution)
{
    const struct statement *single = judged_single(execution->judged);
    if (single != NULL && shape_runs_code(s, &single->shape))
        transaction_runs_code(s);
}

static void client_reply(struct session *s, struct request *head, const struct frame *frame,
                         struct text whole)
{
    struct execution *execution = head->execution;
    bool stopped = execution != NULL && execution->stopped != NULL;
    switch (frame->type) {
    case BACKEND_PARAMETER_DESCRIPTION:
        if (head->judged != NULL && judged_call(head->judged) != NULL) {
            template_relay_parameters(s, judged_call(head->judged));
            return;
        }
        keep_types(head, frame->body);
        break;
    case BACKEND_DATA_ROW:
    case BACKEND_COPY_DATA:
        late_relay(s);
        if (count_row(s, execution, frame->type, frame->body))
            relay(s, whole);
        return;
    case BACKEND_COPY_IN:
        execution->copy_in = true;
        break;
    case BACKEND_COMMAND_COMPLETE:
        statement_completed(s, head, frame->body);
        break;
    case BACKEND_PORTAL_SUSPENDED:
        suspended(s, execution);
        break;
    default:
        break;
    }
    bool ends = frame->type == BACKEND_COMMAND_COMPLETE || frame->type == BACKEND_PORTAL_SUSPENDED;
    if (stopped && ends) {
        fail_completed(s, head);
        show_too_long(s, execution);
    } else if (!stopped && !late_keep(s, head, frame, whole)) {
        relay(s, whole);
    }
}

static void on_reply(struct session *s, const struct frame *frame, struct text whole)
{
    struct request *head = queue_head(&s->queue);
    enum reply reply = head != NULL ? reply_of(head->kind, frame->type) : REPLY_UNEXPECTED;
    if (reply == REPLY_UNEXPECTED || head->role == ROLE_POISON) {
        unexpected(s);
        return;
    }
    if (head->keep_reply) {
        gate_kept(s, frame, whole);
    } else if (head->role == ROLE_CLIENT) {
        client_reply(s, head, frame, whole);
    } else if (frame->type == BACKEND_DATA_ROW && head->role == ROLE_INJECTED) {
        enum injected_purpose purpose = head->purpose;
        gate_row(s, purpose, frame->body);
    } else if (frame->type == BACKEND_COMMAND_COMPLETE && head->purpose == PURPOSE_MEASURED) {
        measuring_completed(s, frame->body);
    } else if (frame->type == BACKEND_COMMAND_COMPLETE && head->purpose == PURPOSE_PINS) {
        pins_completed(s);
    }
    /* What was done above may have sent more, but the head is still the head. */
    if (reply == REPLY_LAST && s->state != SESSION_CLOSED) {
        bool kept = queue_head(&s->queue)->keep_reply && frame->type == BACKEND_COMMAND_COMPLETE;
        queue_finish_head(s, FATE_ANSWERED);
        if (kept)
            gate_completed(s, frame->body);
        if (queue_head(&s->queue) == NULL)
            gate_drained(s);
    }
}

/* --- ReadyForQuery ---------------------------------------------------------------------------- */

static void relay_ready(struct session *s, char status)
{
    if (s->poison_after_ready && status == 'T') {
        s->poison_after_ready = false;
        send_poison(s, TEXT(""));
        send_sync(s, ROLE_CLIENT);
        return;
    }
    s->poison_after_ready = false;
    gate_settled(s);
    late_relay(s);
    s->client_skipping = false;
    s->hide_status = false;
    buffer_clear(&s->client_out);
    build_ready(&s->client_out, status);
    to_client(s, buffer_text(&s->client_out));
}

static void on_ready(struct session *s, struct text body)
{
    struct request *head = queue_head(&s->queue);
    char status;
    if (head == NULL || (head->kind != REQUEST_SYNC && head->kind != REQUEST_QUERY) ||
        !decode_ready(body, &status)) {
        unexpected(s);
        return;
    }
    enum request_role role = head->role;
    bool failed_as_meant = role != ROLE_POISON || s->batch_failed;
    queue_finish_head(s, FATE_ANSWERED);
    transaction_ready(s, status);
    if (!failed_as_meant) {
        unexpected(s);
        return;
    }
    if (role == ROLE_CLIENT || role == ROLE_POISON) {
        outcomes_flush(s, !s->batch_failed, text_from(s->batch_failed ? s->batch_sqlstate : ""));
        s->batch_failed = false;
        relay_ready(s, status);
    } else {
        s->batch_failed = false;
        gate_ready(s);
    }
    if (s->shutting_down && session_may_end(s))
        session_shutdown(s);
}

/* --- asynchronous messages -------------------------------------------------------------------- */

static void on_notice(struct session *s, struct text body)
{
    const struct request *head = queue_head(&s->queue);
    struct error_fields fields;
    struct buffer shown;
    if (head != NULL && head->purpose == PURPOSE_MEASURED)
        measuring_notice(s, body);
    bool own = head != NULL && (head->role == ROLE_INJECTED || head->role == ROLE_POISON);
    if (own && !head->keep_reply)
        return;
    if (!decode_error(body, &fields)) {
        unexpected(s);
        return;
    }
    buffer_init(&shown, LIMIT_BACKEND_MESSAGE_BYTES);
    server_error_for(s, head, body, &fields, &shown);
    buffer_clear(&s->client_out);
    build_message(&s->client_out, BACKEND_NOTICE, buffer_text(&shown));
    relay(s, buffer_text(&s->client_out));
    buffer_release(&shown);
}

static void on_parameter_status(struct session *s, struct text body, struct text whole)
{
    struct parameter_status status;
    if (!decode_parameter_status(body, &status)) {
        unexpected(s);
        return;
    }
    bool moved = (text_is(status.name, "standard_conforming_strings") && !text_is(status.value, "on")) ||
                 (text_is(status.name, "client_encoding") && !text_is(status.value, "UTF8"));
    if (moved)
        session_fatal(s, "42501",
                      TEXT("pgwicket: standard_conforming_strings or client_encoding was changed on the "
                           "server; the session ends"),
                      SESSION_END_ADMIN);
    else if (!s->hide_status)
        to_client(s, whole);
}

void server_message(struct session *s, const struct frame *frame, struct text whole)
{
    switch (frame->type) {
    case BACKEND_NOTICE:
        on_notice(s, frame->body);
        break;
    case BACKEND_NOTIFICATION:
        to_client(s, whole);
        break;
    case BACKEND_PARAMETER_STATUS:
        on_parameter_status(s, frame->body, whole);
        break;
    case BACKEND_ERROR:
        on_error(s, frame->body);
        break;
    case BACKEND_READY:
        on_ready(s, frame->body);
        break;
    default:
        on_reply(s, frame, whole);
        break;
    }
}

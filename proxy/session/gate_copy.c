/*
 * gate_copy.c - COPY FROM STDIN under a hold: its data is taken from the client before anything
 * runs, kept with the hold, and sent with the statement when it is rehearsed and when it is run
 * (gate.md 9).
 *
 * It is kept as it came, message by message. More than the policy's copy_max_bytes ends the
 * statement at once; what the client still sends is then ignored, as after any error.
 */
#include "proxy/session/internal.h"

static const struct action *copied_into(const struct shape *shape)
{
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].verb == VERB_INSERT && shape->actions[i].part == PART_STATEMENT)
            return &shape->actions[i];
    return NULL;
}

bool hold_needs_copy(const struct gate *gate)
{
    return gate_shape(gate)->kind == STATEMENT_COPY_IN && !gate->copied;
}

/* CopyInResponse, as the server would give it. */
static void tell_to_send(struct session *s, const struct action *into)
{
    bool binary = gate_shape(&s->gate)->copy_binary;
    struct buffer body;
    buffer_init(&body, LIMIT_SMALL_MESSAGE_BYTES);
    buffer_append_byte(&body, binary ? 1 : 0);
    buffer_append_u16(&body, (uint16_t)into->column_count);
    for (size_t i = 0; i < into->column_count; i++)
        buffer_append_u16(&body, binary ? 1 : 0);
    buffer_clear(&s->client_out);
    build_message(&s->client_out, BACKEND_COPY_IN, buffer_text(&body));
    to_client(s, buffer_text(&s->client_out));
    buffer_release(&body);
}

void hold_take_copy(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct action *into = copied_into(gate_shape(gate));
    if (into == NULL || into->columns_unknown) {
        const struct error_text error = {
            .sqlstate = "42501",
            .message =
                TEXT("pgwicket: COPY into a table that is not in the catalog cannot be held; "
                     "nothing was run"),
            .hint = TEXT("Name its columns, or use INSERT.")};
        gate_fail_with(s, &error);
        gate_show_error(s);
        return;
    }
    buffer_release(&gate->copy);
    buffer_init(&gate->copy, (size_t)gate->portal->judged->view.policy->copy_max_bytes);
    gate_become(s, GATE_COPY);
    tell_to_send(s, into);
}

static void end_copy(struct session *s, const struct error_text *error)
{
    struct gate *gate = &s->gate;
    buffer_release(&gate->copy);
    (void)!report_statement(s, gate->portal->judged, gate->portal, 0, s->statement_number,
                            VERDICT_REJECT, error);
    gate_fail_with(s, error);
    gate_show_error(s);
}

void hold_copy_cancelled(struct session *s)
{
    const struct error_text error = {.sqlstate = "57014",
                                     .message = TEXT("canceling statement due to user request")};
    end_copy(s, &error);
}

void hold_keep_copy(struct session *s)
{
    struct gate *gate = &s->gate;
    const struct policy *policy = gate->portal->judged->view.policy;
    if (!hold_needs_copy(gate))
        return;
    buffer_release(&gate->copy);
    buffer_init(&gate->copy, policy_holds(policy) ? (size_t)policy->copy_max_bytes : 0);
}

bool hold_copy_was_kept(struct session *s)
{
    struct gate *gate = &s->gate;
    gate->copied = !gate->copy.overflow;
    if (gate->copied)
        return true;
    const struct error_text error = {
        .sqlstate = "54000",
        .message = arena_printf(&gate->arena,
                                "pgwicket: COPY has more rows than are allowed without a person's approval, which "
                                "needs at most %lld bytes of data; rolled back, nothing was changed",
                                (long long)gate->copy.size_max),
        .hint = TEXT("Copy it in smaller parts.")};
    end_copy(s, &error);
    return false;
}

void hold_copy_bytes(struct session *s, struct text bytes)
{
    struct gate *gate = &s->gate;
    buffer_append_text(&gate->copy, bytes);
    if (!gate->copy.overflow)
        return;
    const struct error_text error = {
        .sqlstate = "54000",
        .message =
            arena_printf(&gate->arena,
                         "pgwicket: COPY that needs a person's approval may have %lld bytes of "
                         "data; nothing was run",
                         (long long)gate->copy.size_max),
        .hint = TEXT("Copy it in smaller parts, each of which is approved by itself.")};
    end_copy(s, &error);
}

static struct text fail_words(struct text body)
{
    struct cursor cursor = cursor_over(body.bytes, body.size);
    return cursor_string(&cursor);
}

void hold_copy_message(struct session *s, const struct frame *frame)
{
    struct gate *gate = &s->gate;
    if (frame->type == FRONTEND_COPY_FAIL) {
        const struct error_text error = {
            .sqlstate = "57014",
            .message = arena_printf(&gate->arena, "COPY from stdin failed: %.*s",
                                    TEXT_ARGS(text_cut(fail_words(frame->body), 200)))};
        end_copy(s, &error);
        return;
    }
    struct buffer message;
    buffer_init(&message, frame->size);
    build_message(&message, frame->type, frame->body);
    hold_copy_bytes(s, buffer_text(&message));
    buffer_release(&message);
    if (frame->type != FRONTEND_COPY_DONE || gate->state != GATE_COPY)
        return;
    gate->copied = true;
    hold_join_or_create(s);
}

/* Behind the Execute; nothing else may be sent in between. */
void hold_send_copy(struct session *s)
{
    struct gate *gate = &s->gate;
    if (gate->copied)
        send_copy(s, buffer_text(&gate->copy));
}

/* What is in the messages, whatever their borders. */
static void append_data(struct buffer *data, struct text messages)
{
    struct frame frame;
    while (frame_read(messages, messages.size, &frame) == FRAME_COMPLETE) {
        if (frame.type == FRONTEND_COPY_DATA)
            buffer_append_text(data, frame.body);
        messages = text_behind(messages, frame.size);
    }
}

void hold_describe_copy(const struct gate *gate, struct arena *arena, struct hold *hold)
{
    struct buffer data;
    char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    buffer_init(&data, gate->copy.size);
    append_data(&data, buffer_text(&gate->copy));
    sha256(data.bytes, data.size, digest);
    hex_from_bytes(digest, sizeof digest, hex);
    hold->copy_bytes = (int64_t)data.size;
    hold->copy_sha256 = arena_text(arena, text_from(hex));
    hold->copy_head =
        arena_text(arena, text_front(buffer_text(&data),
                                     data.size < LIMIT_HELD_BYTES ? data.size : LIMIT_HELD_BYTES));
    buffer_release(&data);
}

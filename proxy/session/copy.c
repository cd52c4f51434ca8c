/*
 * copy.c - CopyData, CopyDone, CopyFail from the client.
 *
 * They count only while the server takes data (after CopyInResponse); stray ones are ignored, as the
 * server does. Nothing else is sent upstream in between: one injected message there ends the connection
 * (gate.md 9).
 */
#include "proxy/session/internal.h"

static struct execution *copying(const struct session *s)
{
    /* Only the head can be in this state: the server answers in order. */
    struct session *mutable = (struct session *)(uintptr_t)s;
    const struct request *head = queue_head(&mutable->queue);
    return head != NULL && head->execution != NULL && head->execution->copy_in ? head->execution
                                                                                : NULL;
}

bool session_in_copy(const struct session *s)
{
    return s->gate.state == GATE_COPY || copying(s) != NULL;
}

/* Of a COPY that is counted: over its limit a hold rule may be next. */
static void keep(struct session *s, struct text bytes)
{
    if (s->gate.state == GATE_RUN && !s->gate.copied)
        buffer_append_text(&s->gate.copy, bytes);
}

void session_copy_part(struct session *s, struct text bytes)
{
    if (s->gate.state == GATE_COPY) {
        hold_copy_bytes(s, bytes);
        return;
    }
    keep(s, bytes);
    send_copy(s, bytes);
}

static bool may_copy_in(const struct request *request)
{
    if (request->execution == NULL || request->execution->copy_in || request->execution->copied)
        return false;
    const struct analysis *analysis = &request->execution->judged->judgement.analysis;
    for (size_t i = 0; i < analysis->statement_count; i++)
        if (analysis->statements[i].shape.kind == STATEMENT_COPY_IN)
            return true;
    return false;
}

bool session_copy_pending(struct session *s)
{
    return s->queue.count > 0 && may_copy_in(queue_at(&s->queue, s->queue.count - 1));
}

enum step client_copy(struct session *s, const struct frame *frame)
{
    if (s->gate.state == GATE_COPY) {
        hold_copy_message(s, frame);
        return STEP_DONE;
    }
    struct execution *execution = copying(s);
    if (execution == NULL)
        return session_copy_pending(s) ? STEP_WAIT : STEP_DONE;
    struct buffer *out = &s->server_out;
    build_message(out, frame->type, frame->body);
    keep(s, buffer_text(out));
    send_copy(s, buffer_text(out));
    buffer_clear(out);
    if (frame->type == FRONTEND_COPY_DATA)
        return STEP_DONE;
    execution->copy_in = false;
    execution->copied = true;
    if (queue_head(&s->queue)->keep_reply) { /* the gate looks at the number before there is a Sync */
        if (s->gate.state == GATE_RUN)
            counters_send(s, true);
        send_flush(s);
    }
    return STEP_DONE;
}

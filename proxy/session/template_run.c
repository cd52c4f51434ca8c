/*
 * template_run.c - EXECUTE of a template: its values bound, in either query protocol; a Query goes by the
 * extended protocol and is answered as a Query would be (gate.md 2.1).
 *
 * A value that does not fit is refused before anything of the statement is sent.
 */
#include "proxy/session/internal.h"

bool template_keep_bind(struct portal *portal, const struct bind_message *message,
                        struct error_text *error)
{
    const struct judged *judged = portal->judged;
    if (!template_call_bind(&portal->arena, judged_call(judged), message, &portal->bind, error))
        return false;
    portal->values_size = portal->bind.size;
    if (message != NULL)
        buffer_append_text(&portal->bind, message->result_formats);
    else
        buffer_append_u16(&portal->bind, 0); /* every result as text */
    return true;
}

void template_relay_parameters(struct session *s, const struct template_call *call)
{
    struct buffer body;
    buffer_init(&body, LIMIT_BACKEND_MESSAGE_BYTES);
    buffer_append_u16(&body, call->client_count);
    buffer_append_text(&body, call->client_types);
    buffer_clear(&s->client_out);
    build_message(&s->client_out, BACKEND_PARAMETER_DESCRIPTION, buffer_text(&body));
    buffer_release(&body);
    if (!s->client_skipping)
        to_client(s, buffer_text(&s->client_out));
}

/* --- a Query ------------------------------------------------------------------------------------ */

static void send_statement(struct session *s, struct portal *portal)
{
    struct judged *judged = portal->judged;
    struct text own = text_from(s->prefix);
    send_close(s, ROLE_QUIET, 'P', own);
    send_close(s, ROLE_QUIET, 'S', own);
    send_parse(s, ROLE_QUIET, own, judged->print, judged->type_bytes, judged->type_count)->judged =
        judged_retain(judged);
    send_bind(s, ROLE_QUIET, own, own, buffer_text(&portal->bind))->portal = portal_retain(portal);
    send_describe(s, ROLE_CLIENT, 'P', own)->of_query = true;
}

static void send_run(struct session *s, struct portal *portal)
{
    struct judged *judged = portal->judged;
    struct text own = text_from(s->prefix);
    struct request *request = send_execute(s, ROLE_CLIENT, own, 0);
    request->of_query = true;
    request->execution = execution_new(judged, &portal, 1);
    request->execution->statement_number = portal->statement_number;
    request->execution->started_us = s->port.monotonic_us(s->port.context);
    request_changes(s, request, statement_changes(s, judged, &judged_single(judged)->shape, NULL));
    send_close(s, ROLE_QUIET, 'P', own);
    send_close(s, ROLE_QUIET, 'S', own);
}

void template_query_relay(struct session *s, struct portal *portal)
{
    close_unnamed(s);
    send_statement(s, portal);
    send_run(s, portal);
    measure_sent(s);
    send_sync(s, ROLE_CLIENT);
    if (portal->rows_max != LIMIT_NONE)
        s->limited_outstanding++;
}

void late_relay(struct session *s)
{
    if (!s->client_skipping)
        to_client(s, buffer_text(&s->late));
    buffer_clear(&s->late);
}

/* A Query of EXECUTE shows its columns when the first row comes, and that it is complete when it is
 * committed. */
bool late_keep(struct session *s, const struct request *head, const struct frame *frame,
               struct text whole)
{
    if (!head->of_query)
        return false;
    switch (frame->type) {
    case BACKEND_NO_DATA:
        return true;
    case BACKEND_ROW_DESCRIPTION:
        buffer_append_text(&s->late, whole);
        return true;
    case BACKEND_COMMAND_COMPLETE:
        late_relay(s);
        buffer_append_text(&s->late, whole);
        return true;
    default:
        late_relay(s);
        return false;
    }
}

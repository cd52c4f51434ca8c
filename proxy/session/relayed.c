/*
 * relayed.c - the server's errors and notices on their way to the client: what each can be about,
 * and its position in the client's own text.
 *
 * A message whose statement is not known (an error at Sync or COMMIT, a FATAL) is taken to be about
 * anything.
 */
#include "proxy/session/internal.h"

#include "proxy/session/redact.h"

/* What runs: of EXECUTE and FETCH, what they name. */
static const struct judged *running(const struct request *head)
{
    const struct execution *execution = head->execution;
    if (execution == NULL)
        return head->portal != NULL ? head->portal->judged : head->judged;
    const struct portal *counter = execution_counter(execution);
    return counter != NULL ? counter->judged : execution->judged;
}

static const struct judged *sent(const struct request *head)
{
    if (head->execution != NULL)
        return head->execution->judged;
    return head->portal != NULL ? head->portal->judged : head->judged;
}

static void scope_to(struct redact_scope *scope, const struct judged *judged)
{
    const struct analysis *analysis = &judged->judgement.analysis;
    if (analysis->result == ANALYSE_OK) {
        scope->statements = analysis->statements;
        scope->statement_count = analysis->statement_count;
    }
    scope->own = judged->original;
}

static void redact_under(struct session *s, const struct session_view *view,
                         struct redact_scope *scope, struct text body,
                         const struct error_fields *fields, int position, struct buffer *out)
{
    struct arena arena;
    const struct judge_context context = {
        .policy = view->policy, .catalog = view->catalog, .setting_values = view->setting_values};
    const struct decide_context decide_context = judge_decide_context(&context);
    scope->context = view->policy != NULL ? &decide_context : NULL;
    arena_init(&arena);
    redact(out, &arena, body, fields, position, scope);
    arena_release(&arena);
    if (out->overflow) {
        buffer_clear(out);
        buffer_append_text(out, error_body(s, "XX000",
                                           TEXT("pgwicket: the server's error is too long to show"),
                                           TEXT(""), TEXT(""), 0));
    }
}

void server_error_of(struct session *s, const struct judged *judged, struct text body,
                     const struct error_fields *fields, int position, struct buffer *out)
{
    struct redact_scope scope = {0};
    scope_to(&scope, judged);
    redact_under(s, &judged->view, &scope, body, fields, position, out);
}

void server_error_for(struct session *s, const struct request *head, struct text body,
                      const struct error_fields *fields, struct buffer *out)
{
    struct redact_scope scope = {.binds = head != NULL && head->kind == REQUEST_BIND};
    const struct judged *runs = head != NULL ? running(head) : NULL;
    const struct judged *own = head != NULL ? sent(head) : NULL;
    int position = fields->position;
    if (runs != NULL)
        scope_to(&scope, runs);
    if (position > 0 && own != NULL && !text_equal(own->original, own->print))
        position = judged_map_position(own, position);
    if (own != NULL) {
        redact_under(s, &own->view, &scope, body, fields, position, out);
        return;
    }
    struct session_view view;
    s->port.view(s->port.context, &view);
    redact_under(s, &view, &scope, body, fields, position, out);
    s->port.release_view(s->port.context, view.reference);
}

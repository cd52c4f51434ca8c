/*
 * extended.c - Parse, Bind, Describe, Execute, Close, Flush, Sync.
 *
 * A statement is judged at Parse, and again at Bind if anything changed since. A message that is
 * refused is replaced by one that cannot succeed, so the server skips to Sync by itself (gate.md 7).
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <string.h>

static void set_name(struct request *request, enum name_change change, struct text name)
{
    request->change = change;
    request->name = memory_allocate(name.size + 1);
    if (name.size > 0)
        memcpy(request->name, name.bytes, name.size);
    request->name[name.size] = '\0';
}

static void refuse(struct session *s, const struct judged *judged, const struct error_text *error,
                   int position)
{
    bool written = report_statement(s, judged, NULL, 0, s->statement_number, VERDICT_REJECT, error);
    struct text body = written ? error_body_from(s, error, position) : error_body_audit(s);
    send_poison(s, body);
}

static void refuse_message(struct session *s, const char *sqlstate, struct text message)
{
    s->statement_number++;
    bool written = report_message(s, message.bytes, sqlstate);
    send_poison(s, written ? error_body(s, sqlstate, message, TEXT(""), TEXT(""), 0)
                           : error_body_audit(s));
}

/* In PostgreSQL's own words. */
static void refuse_unknown(struct session *s, const char *sqlstate, const char *what, struct text name)
{
    struct arena arena;
    arena_init(&arena);
    bool unnamed_statement = name.size == 0 && text_is(text_from(sqlstate), "26000");
    refuse_message(s, sqlstate,
                   unnamed_statement
                       ? TEXT("unnamed prepared statement does not exist")
                       : arena_printf(&arena, "%s \"%.*s\" does not exist", what,
                                      TEXT_ARGS(text_cut(name, NAME_SIGNIFICANT))));
    arena_release(&arena);
}

static void refuse_too_many(struct session *s, const char *what, long long limit)
{
    struct arena arena;
    arena_init(&arena);
    refuse_message(s, "53400",
                   arena_printf(&arena, "pgwicket: too many %s in this session (limit %lld): close some first; "
                                        "nothing was run",
                                what, limit));
    arena_release(&arena);
}

static bool is_reserved(struct text name) { return text_starts_with(name, "pgwicket"); }

/* --- Parse ------------------------------------------------------------------------------------ */

/* A failed Parse of the unnamed statement also drops the old one; the poison alone would not. */
static void drop_unnamed(struct session *s, struct text name)
{
    if (name.size > 0)
        return;
    struct request *request = send_close(s, ROLE_QUIET, 'S', name);
    set_name(request, NAME_STATEMENT, name);
    names_sent(s->statements, name, NULL);
}

static void refuse_parse(struct session *s, struct judged *judged, struct text name)
{
    s->statement_number++;
    drop_unnamed(s, name);
    if (judged_server_may_refuse(judged)) {
        struct text own = text_from(s->prefix);
        send_close(s, ROLE_QUIET, 'S', own);
        send_parse(s, ROLE_QUIET, own, judged->judgement.analysis.print, judged->type_bytes,
                   judged->type_count)
            ->judged = judged_retain(judged);
    }
    refuse(s, judged, &judged->judgement.error, judged->judgement.analysis.position);
}

static bool too_many_statements(struct session *s, struct judged *judged, struct text name)
{
    const struct policy *policy = judged->view.policy;
    return policy != NULL && name.size > 0 && policy->prepared_statements_max != UNLIMITED &&
           names_find(s->statements, name) == NULL &&
           (int64_t)names_count(s->statements) >= policy->prepared_statements_max;
}

static void relay_parse(struct session *s, struct judged *judged, struct text name)
{
    struct request *request =
        send_parse(s, ROLE_CLIENT, name, judged->print, judged->type_bytes, judged->type_count);
    set_name(request, NAME_STATEMENT, name);
    request->judged = judged_retain(judged);
    names_sent(s->statements, name, judged);
}

static enum step answer_parse(struct session *s, struct judged **judged, struct text name)
{
    if (session_refresh_for(s, *judged) == STEP_WAIT)
        return STEP_WAIT;
    if (hold_lookup(s, *judged) == STEP_WAIT)
        return STEP_WAIT;
    hold_use_lookup(s, judged);
    if ((*judged)->judgement.verdict == VERDICT_REJECT)
        refuse_parse(s, *judged, name);
    else if (too_many_statements(s, *judged, name))
        refuse_too_many(s, "prepared statements", (*judged)->view.policy->prepared_statements_max);
    else
        relay_parse(s, *judged, name);
    return STEP_DONE;
}

/* A template's name never means anything to the server, so that EXECUTE of it cannot. */
static bool is_template(const struct policy *policy, struct text name)
{
    return policy != NULL &&
           template_find(policy->templates, policy->template_count, name) != NULL;
}

static void reject_template_name(struct judged *judged, struct text name)
{
    judged->judgement.verdict = VERDICT_REJECT;
    judged->judgement.call = NULL;
    judged->judgement.error = (struct error_text){
        .sqlstate = "42501",
        .message = arena_printf(&judged->arena,
                                "pgwicket: %.*s is a template; a prepared statement must have another name; "
                                "nothing was run",
                                TEXT_ARGS(name)),
        .hint = TEXT("Run a template by EXECUTE, without preparing it first.")};
}

enum step client_parse(struct session *s, const struct frame *frame)
{
    struct parse_message message;
    if (!decode_parse(frame->body, &message)) {
        refuse_message(s, "08P01", TEXT("invalid Parse message"));
        return STEP_DONE;
    }
    if (is_reserved(message.name)) {
        refuse_message(s, "42939", TEXT("pgwicket: names that begin with pgwicket are reserved"));
        return STEP_DONE;
    }
    if (session_ready_to_judge(s) == STEP_WAIT)
        return STEP_WAIT;
    struct judged *judged = session_judge(s, message.sql, &message);
    if (is_template(judged->view.policy, message.name))
        reject_template_name(judged, message.name);
    enum step step = answer_parse(s, &judged, message.name);
    judged_release(judged);
    return step;
}

/* --- Bind ------------------------------------------------------------------------------------- */

void bind_relay(struct session *s, struct portal *portal, struct text portal_name,
                struct text statement, struct text rest)
{
    struct request *request = send_bind(s, ROLE_CLIENT, portal_name, statement, rest);
    s->batch_binds++;
    set_name(request, NAME_PORTAL, portal_name);
    request->portal = portal_retain(portal);
    names_sent(s->portals, portal_name, portal);
}

/* The stored values of a hold take the place of the client's, which are none. */
static bool keep_bind(struct portal *portal, const struct bind_message *message)
{
    struct text values = {message->after_statement.bytes,
                          message->after_statement.size - message->result_formats.size};
    const struct hold *stored = portal->judged->stored;
    if (stored != NULL) {
        if (message->value_count > 0)
            return false;
        values = stored->values_wire.size > 0 ? stored->values_wire : values;
    }
    buffer_append_text(&portal->bind, values);
    portal->values_size = portal->bind.size;
    buffer_append_text(&portal->bind, message->result_formats);
    return !portal->bind.overflow;
}

/* A Bind whose values are kept: for the gate, or since a template's are checked and written anew. */
static void bind_kept(struct session *s, struct portal *portal, const struct bind_message *message)
{
    struct judged *judged = portal->judged;
    struct error_text error = {0};
    bool of_template = judged_call(judged) != NULL && judged->stored == NULL;
    bool kept = of_template ? template_keep_bind(portal, message, &error) : keep_bind(portal, message);
    if (!kept && of_template) {
        s->statement_number++;
        refuse(s, judged, &error, 0);
    } else if (!kept) {
        refuse_message(s, "08P01", TEXT("pgwicket: Bind message cannot be kept for this statement"));
    } else if (judged_gated(judged)) {
        gate_bind(s, portal, message);
    } else {
        bind_relay(s, portal, message->portal, message->statement, buffer_text(&portal->bind));
    }
}

static enum step bind_judged(struct session *s, struct judged *judged,
                             const struct bind_message *message)
{
    if (judged->judgement.verdict == VERDICT_REJECT) {
        s->statement_number++;
        refuse(s, judged, &judged->judgement.error, 0);
        return STEP_DONE;
    }
    if (judged_gated(judged)) {
        if (session_drain(s) == STEP_WAIT)
            return STEP_WAIT;
        if (s->skipping)
            return STEP_DONE;
    }
    struct portal *portal = portal_new(judged);
    if (judged_gated(judged) || judged_call(judged) != NULL)
        bind_kept(s, portal, message);
    else
        bind_relay(s, portal, message->portal, message->statement, message->after_statement);
    portal_release(portal);
    return STEP_DONE;
}

enum step client_bind(struct session *s, const struct frame *frame)
{
    struct bind_message message;
    if (!decode_bind(frame->body, &message)) {
        refuse_message(s, "08P01", TEXT("invalid Bind message"));
        return STEP_DONE;
    }
    if (is_reserved(message.portal) || is_reserved(message.statement)) {
        refuse_message(s, "42939", TEXT("pgwicket: names that begin with pgwicket are reserved"));
        return STEP_DONE;
    }
    if (message.portal.size > 0 && names_count(s->portals) >= LIMIT_PORTALS) {
        refuse_too_many(s, "open portals", LIMIT_PORTALS);
        return STEP_DONE;
    }
    if (session_ready_to_judge(s) == STEP_WAIT)
        return STEP_WAIT;
    struct judged *judged = names_find(s->statements, message.statement);
    if (judged == NULL) {
        refuse_unknown(s, "26000", "prepared statement", message.statement);
        return STEP_DONE;
    }
    if (session_refresh_to_run(s, judged) == STEP_WAIT)
        return STEP_WAIT;
    struct judged *again = session_judge_again(s, judged);
    enum step step = bind_judged(s, again, &message);
    judged_release(again);
    return step;
}

/* --- Describe, Close -------------------------------------------------------------------------- */

enum step client_describe(struct session *s, const struct frame *frame)
{
    struct named_message message;
    if (!decode_named(frame->body, &message)) {
        refuse_message(s, "08P01", TEXT("invalid Describe message"));
        return STEP_DONE;
    }
    struct request *request = send_describe(s, ROLE_CLIENT, message.kind, message.name);
    if (message.kind == 'S')
        request->judged = judged_retain(names_find(s->statements, message.name));
    return STEP_DONE;
}

enum step client_close(struct session *s, const struct frame *frame)
{
    struct named_message message;
    if (!decode_named(frame->body, &message)) {
        refuse_message(s, "08P01", TEXT("invalid Close message"));
        return STEP_DONE;
    }
    struct request *request = send_close(s, ROLE_CLIENT, message.kind, message.name);
    set_name(request, message.kind == 'S' ? NAME_STATEMENT : NAME_PORTAL, message.name);
    names_sent(message.kind == 'S' ? s->statements : s->portals, message.name, NULL);
    return STEP_DONE;
}

/* --- Execute ---------------------------------------------------------------------------------- */

static const struct shape *portal_shape(const struct portal *portal)
{
    const struct statement *single = judged_single(portal->judged);
    return single != NULL ? &single->shape : NULL;
}

static bool may_write(const struct shape *shape)
{
    return shape != NULL && shape->kind != STATEMENT_SELECT && shape->kind != STATEMENT_SHOW &&
           shape->kind != STATEMENT_EXPLAIN;
}

void execute_relay(struct session *s, struct portal *portal, struct portal *counter, struct text name,
                   uint32_t rows_max, bool keep)
{
    const struct shape *shape = portal_shape(portal);
    struct request *request = send_execute(s, ROLE_CLIENT, name, rows_max);
    request->keep_reply = keep;
    request->execution = execution_new(portal->judged, &counter, 1);
    request->execution->statement_number = portal->statement_number;
    request->execution->started_us = s->port.monotonic_us(s->port.context);
    if (shape != NULL)
        request_changes(s, request, statement_changes(s, portal->judged, shape, counter));
    if (request->execution->limited)
        s->limited_outstanding++;
    s->batch_executes++;
    s->batch_writes = s->batch_writes || may_write(shape);
}

static void refuse_execute(struct session *s, struct portal *portal, const char *message)
{
    const struct error_text error = {.sqlstate = "42501",
                                     .message = text_from(message),
                                     .hint = TEXT("Send the statement in a batch of its own: Parse, "
                                                  "Bind, Execute without a row count, Sync.")};
    refuse(s, portal->judged, &error, 0);
}

/* Outside of a transaction a hold needs its batch for itself: its own commit would be that of what is before it,
 * and what is behind it would be committed apart. */
static bool hold_is_alone(const struct session *s, struct text following)
{
    return s->status == 'T' || (s->batch_executes == 0 && following.bytes[0] == FRONTEND_SYNC);
}

static enum step execute_gated(struct session *s, struct portal *portal,
                               const struct execute_message *message, struct text following)
{
    bool held = portal->judged->stored != NULL || portal->decision->verdict == VERDICT_HOLD;
    if (following.size == 0 && (held || (s->status == 'I' && gate_may_escalate(portal->judged))))
        return STEP_WAIT; /* what is behind it is looked at below */
    if (session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    if (s->skipping)
        return STEP_DONE;
    const struct shape *shape = portal_shape(portal);
    if (shape != NULL && shape_runs_code(s, shape) && pins_before_code(s, portal->judged) == STEP_WAIT)
        return STEP_WAIT;
    s->statement_number++;
    portal->statement_number = s->statement_number;
    if (s->status == 'E')
        send_poison(s, error_body(s, "25P02",
                                  TEXT("current transaction is aborted, commands ignored until end of "
                                       "transaction block"),
                                  TEXT(""), TEXT(""), 0));
    else if (held && !hold_is_alone(s, following))
        refuse_execute(s, portal, "pgwicket: a held statement must be sent by itself; nothing was run");
    else if (message->rows_max != 0)
        refuse_execute(s, portal,
                       "pgwicket: a limited statement cannot be fetched in parts; nothing was run");
    else
        gate_execute(s, portal, message->portal, following.size == 0 || following.bytes[0] != FRONTEND_SYNC);
    return STEP_DONE;
}

static bool portal_is_gated(const struct portal *portal)
{
    if (portal->judged->stored != NULL)
        return true;
    const struct decision *decision = portal->decision;
    return decision != NULL && (decision->verdict == VERDICT_HOLD ||
                                (!portal->is_cursor && portal_shape(portal) != NULL &&
                                 decision_is_counted(decision, portal_shape(portal))));
}

static enum step execute_allowed(struct session *s, struct portal *portal,
                                 const struct execute_message *message)
{
    const struct shape *shape = portal_shape(portal);
    if (s->limited_outstanding > 0 && session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    if (shape != NULL && shape_runs_code(s, shape) &&
        pins_before_code(s, portal->judged) == STEP_WAIT)
        return STEP_WAIT;
    struct error_text error = {0};
    struct portal *target = shape != NULL && !portal->is_cursor
                                ? session_target(s, portal->judged, shape, &error)
                                : NULL;
    bool first = !portal->executed;
    if (first)
        portal->statement_number = ++s->statement_number;
    portal->executed = true;
    if (error.message.size > 0 ||
        !inside_allows(s, &portal->judged->judgement.analysis, &error))
        refuse(s, portal->judged, &error, 0);
    else if (first && !report_statement(s, portal->judged, portal, 0, portal->statement_number,
                                        VERDICT_ALLOW, NULL))
        send_poison(s, error_body_audit(s));
    else {
        execute_relay(s, portal, target != NULL ? target : portal, message->portal, message->rows_max,
                      false);
        if (first)
            measure_sent(s);
    }
    portal_release(target);
    return STEP_DONE;
}

/* A write that was judged before this transaction changed objects: foreign keys may carry it on since. */
static bool is_outdated(const struct session *s, const struct portal *portal)
{
    const struct shape *shape = portal_shape(portal);
    return s->changed && !portal->judged->objects_changed && !portal->executed && shape != NULL &&
           shape->kind == STATEMENT_WRITE && !portal->judged->view.policy->transparent;
}

enum step client_execute(struct session *s, const struct frame *frame, struct text following)
{
    struct execute_message message;
    if (!decode_execute(frame->body, &message)) {
        refuse_message(s, "08P01", TEXT("invalid Execute message"));
        return STEP_DONE;
    }
    struct portal *portal = names_find(s->portals, message.portal);
    if (portal == NULL) {
        refuse_unknown(s, "34000", "portal", message.portal);
        return STEP_DONE;
    }
    if (session_ready_to_judge(s) == STEP_WAIT ||
        inside_before(s, &portal->judged->judgement.analysis) == STEP_WAIT)
        return STEP_WAIT;
    if (is_outdated(s, portal)) {
        s->statement_number++;
        refuse_execute(s, portal, "pgwicket: objects were changed since the statement was bound; nothing was run");
        return STEP_DONE;
    }
    return portal_is_gated(portal) ? execute_gated(s, portal, &message, following)
                                   : execute_allowed(s, portal, &message);
}

/* --- Flush, Sync ------------------------------------------------------------------------------ */

/* COPY FROM STDIN: whether the server has begun to take data is not known yet. */
static enum step wait_for_copy(struct session *s)
{
    if (!s->flushed)
        send_flush(s);
    return STEP_WAIT;
}

enum step client_flush(struct session *s)
{
    if (session_in_copy(s))
        return STEP_DONE; /* the server ignores it while it takes data */
    send_flush(s);
    return STEP_DONE;
}

enum step client_sync(struct session *s)
{
    if (session_copy_pending(s))
        return wait_for_copy(s);
    if (session_in_copy(s))
        return STEP_DONE;
    if (s->batch_writes && s->limited_outstanding > 0 && session_drain(s) == STEP_WAIT)
        return STEP_WAIT;
    send_sync(s, ROLE_CLIENT);
    return STEP_DONE;
}

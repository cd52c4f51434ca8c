/*
 * statement.c - judged texts, portals and executions: how they begin and end.
 *
 * A judged text keeps alive what it was judged under. Everything is counted, since one prepared
 * statement may be in the name table, in portals, and in several outstanding requests at once.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"
#include "proxy/session/answers.h"

#include <stdlib.h>

struct judged *judged_retain(struct judged *judged)
{
    if (judged != NULL)
        judged->references++;
    return judged;
}

void judged_release(struct judged *judged)
{
    if (judged == NULL || --judged->references > 0)
        return;
    judged->port->release_view(judged->port->context, judged->view.reference);
    arena_release(&judged->arena);
    free(judged);
}

const struct statement *judged_single(const struct judged *judged)
{
    const struct analysis *analysis = &judged->judgement.analysis;
    return analysis->result == ANALYSE_OK && analysis->statement_count == 1
               ? &analysis->statements[0]
               : NULL;
}

const struct decision *judged_decision(const struct judged *judged)
{
    return judged_single(judged) != NULL ? &judged->judgement.decisions[0] : NULL;
}

bool judged_gated(const struct judged *judged)
{
    if (judged->stored != NULL)
        return true;
    const struct decision *decision = judged_decision(judged);
    return decision != NULL && decision_is_gated(decision, &judged_single(judged)->shape);
}

const struct template_call *judged_call(const struct judged *judged)
{
    return judged->judgement.call;
}

int judged_map_position(const struct judged *judged, int position)
{
    if (judged_call(judged) != NULL || judged->stored != NULL)
        return 0;
    return analyse_map_position(judged->original, judged->judgement.analysis.print, position);
}

static struct judge_context context_of(const struct judged *judged)
{
    const struct session_view *view = &judged->view;
    return (struct judge_context){.policy = view->policy,
                                  .catalog = view->catalog,
                                  .setting_values = view->setting_values,
                                  .attributes = view->attributes,
                                  .attribute_count = view->attribute_count,
                                  .keys_in_doubt = judged->objects_changed};
}

struct error_text judged_rejection(struct arena *arena, const struct judged *judged,
                                   const struct decision *decision, const struct numbers *numbers)
{
    const struct judge_context context = context_of(judged);
    const struct decide_context decide_context = judge_decide_context(&context);
    const struct template_call *call = judged_call(judged);
    if (call != NULL)
        return template_call_rejected(arena, &decide_context, call, decision, numbers);
    return message_rejected(arena, &decide_context, &judged_single(judged)->shape, decision, numbers);
}

static uint32_t *types_of_parse(struct arena *arena, const struct parse_message *parse)
{
    uint32_t *types = arena_array(arena, parse->type_count, sizeof *types);
    for (uint16_t i = 0; i < parse->type_count; i++)
        types[i] = parse_message_type(parse, i);
    return types;
}

static void reject_paused(struct judged *judged)
{
    judged->judgement.verdict = VERDICT_REJECT;
    judged->judgement.error = error_paused(&judged->arena, judged->view.paused_at, "nothing was run");
}

/* A template whose SQL the upstream does not take. */
static void reject_unprepared(struct judged *judged)
{
    const struct template_call *call = judged_call(judged);
    for (size_t i = 0; call != NULL && i < judged->view.unprepared_count; i++)
        if (text_equal(judged->view.unprepared[i], call->template->name)) {
            judged->judgement.verdict = VERDICT_REJECT;
            judged->judgement.error = (struct error_text){
                .sqlstate = "55000",
                .message = arena_printf(&judged->arena,
                                        "pgwicket: the database does not accept the statement of %.*s at "
                                        "the moment; nothing was run",
                                        TEXT_ARGS(call->template->name)),
                .hint = TEXT("Not caused by your values. Stop and report it: the operator finds the "
                             "reason in pgwicket's log.")};
        }
}

static struct judged *judged_new(struct session *s, struct text original)
{
    struct judged *judged = memory_allocate_zeroed(1, sizeof *judged);
    judged->references = 1;
    judged->temporary_count = s->temporary_count;
    judged->objects_changed = s->changed;
    judged->holds_made = s->holds_made != HOLDS_MADE_NOTHING;
    judged->port = &s->port;
    arena_init(&judged->arena);
    s->port.view(s->port.context, &judged->view);
    judged->original = arena_text(&judged->arena, original);
    return judged;
}

static void reject_unconfigured(struct judged *judged)
{
    judged->judgement.error =
        (struct error_text){.sqlstate = "42501",
                            .message = TEXT("pgwicket: this agent is no longer configured; nothing was "
                                            "run")};
}

/* What is sent for it. */
static void take_judgement(struct judged *judged)
{
    const struct template_call *call = judged_call(judged);
    const struct policy *policy = judged->view.policy;
    bool original = policy->transparent || policy->send_original;
    judged->print = original ? judged->original : judged->judgement.analysis.print;
    judged->type_bytes = judged->client_types;
    if (call != NULL) {
        judged->print = judged->judgement.analysis.print;
        judged->type_bytes = call->types;
    }
    judged->type_count = (uint16_t)(judged->type_bytes.size / sizeof(uint32_t));
    reject_unprepared(judged);
    if (judged->view.paused)
        reject_paused(judged);
}

struct judged *session_judge(struct session *s, struct text sql, const struct parse_message *parse)
{
    struct judged *judged = judged_new(s, sql);
    uint32_t *types = NULL;
    size_t type_count = parse != NULL ? parse->type_count : 0;
    if (type_count > 0) {
        types = types_of_parse(&judged->arena, parse);
        judged->client_types = arena_text(
            &judged->arena, (struct text){(const char *)parse->types, type_count * sizeof *types});
    }
    if (judged->view.policy == NULL) {
        reject_unconfigured(judged);
        return judged;
    }
    int64_t before = s->port.monotonic_us(s->port.context);
    struct judge_context context = context_of(judged);
    context.temporary = s->temporary;
    context.temporary_count = judged->temporary_count;
    context.holds_made = judged->holds_made;
    judge_text(&judged->arena, &context, judged->original, types, type_count, &judged->judgement);
    judged->judge_us = s->port.monotonic_us(s->port.context) - before;
    measure_since(s, MEASURE_JUDGE, before);
    take_judgement(judged);
    answers_rewrite(judged);
    return judged;
}

/* The template may have changed since; then nobody has approved what it is now. */
static struct judged *judge_stored_template(struct session *s, const struct hold *hold)
{
    struct judged *judged = judged_new(s, hold->statement);
    if (judged->view.policy == NULL) {
        reject_unconfigured(judged);
        return judged;
    }
    const struct policy *policy = judged->view.policy;
    const struct judge_context context = context_of(judged);
    const struct template *template =
        template_find(policy->templates, policy->template_count, hold->template);
    if (template != NULL && text_equal(template->sql, hold->statement)) {
        template_call_judge_stored(&judged->arena, &context, template, &judged->judgement);
        take_judgement(judged);
        return judged;
    }
    judged->judgement.error = (struct error_text){
        .sqlstate = "42501",
        .message = arena_printf(&judged->arena,
                                "pgwicket: the template %.*s is another one than when hold %lld was made; "
                                "nothing was run",
                                TEXT_ARGS(hold->template), (long long)hold->id),
        .hint = TEXT("Execute the template again, to have it held as it is now.")};
    return judged;
}

static struct judged *judge_stored_text(struct session *s, const struct hold *hold)
{
    struct buffer types;
    buffer_init(&types, LIMIT_HELD_BYTES);
    for (size_t i = 0; i < hold->type_count; i++)
        buffer_append_u32(&types, hold->types[i]);
    const struct parse_message parse = {.type_count = (uint16_t)hold->type_count,
                                        .types = types.bytes};
    struct judged *judged = session_judge(s, hold->statement, &parse);
    buffer_release(&types);
    return judged;
}

struct judged *session_judge_stored(struct session *s, const struct hold *hold)
{
    struct judged *judged =
        hold->template.size > 0 ? judge_stored_template(s, hold) : judge_stored_text(s, hold);
    judged->stored = hold_copy(&judged->arena, hold);
    judged->print = judged->stored->statement;
    return judged;
}

struct judged *session_judge_again(struct session *s, struct judged *judged)
{
    struct session_view view;
    s->port.view(s->port.context, &view);
    bool same = view.generation == judged->view.generation && view.paused == judged->view.paused &&
                s->temporary_count == judged->temporary_count && s->changed == judged->objects_changed &&
                (s->holds_made != HOLDS_MADE_NOTHING) == judged->holds_made;
    s->port.release_view(s->port.context, view.reference);
    if (same)
        return judged_retain(judged);
    if (judged->stored != NULL)
        return session_judge_stored(s, judged->stored);
    const struct parse_message parse = {
        .type_count = (uint16_t)(judged->client_types.size / sizeof(uint32_t)),
        .types = (const uint8_t *)judged->client_types.bytes};
    return session_judge(s, judged->original, &parse);
}

struct portal *portal_new(struct judged *judged)
{
    return portal_of(judged, judged_decision(judged));
}

struct portal *portal_of(struct judged *judged, const struct decision *decision)
{
    struct portal *portal = memory_allocate_zeroed(1, sizeof *portal);
    portal->references = 1;
    portal->judged = judged_retain(judged);
    portal->rows_max = LIMIT_NONE;
    portal->estimate_rows = -1;
    arena_init(&portal->arena);
    buffer_init(&portal->bind, LIMIT_BIND_BYTES);
    portal->decision = decision;
    if (portal->decision != NULL && portal->decision->verdict == VERDICT_ALLOW)
        portal->rows_max = portal->decision->select_rows_max;
    return portal;
}

void portal_judge_again(struct session *s, struct portal *portal)
{
    struct judged *again = session_judge_again(s, portal->judged);
    if (again != portal->judged)
        portal->decision = judged_decision(again); /* the old one goes with what it was made from */
    judged_release(portal->judged);
    portal->judged = again;
}

struct portal *portal_retain(struct portal *portal)
{
    if (portal != NULL)
        portal->references++;
    return portal;
}

void portal_release(struct portal *portal)
{
    if (portal == NULL || --portal->references > 0)
        return;
    judged_release(portal->judged);
    buffer_release(&portal->bind);
    arena_release(&portal->arena);
    free(portal->plan);
    free(portal);
}

struct execution *execution_new(struct judged *judged, struct portal *const *counters, size_t count)
{
    struct execution *execution = memory_allocate_zeroed(1, sizeof *execution);
    execution->judged = judged_retain(judged);
    execution->counters = memory_allocate_zeroed(count > 0 ? count : 1, sizeof(struct portal *));
    execution->counter_count = count;
    for (size_t i = 0; i < count; i++) {
        execution->counters[i] = portal_retain(counters[i]);
        if (counters[i] != NULL && counters[i]->rows_max != LIMIT_NONE)
            execution->limited = true;
    }
    return execution;
}

struct portal *execution_counter(const struct execution *execution)
{
    return execution->at < execution->counter_count ? execution->counters[execution->at] : NULL;
}

void execution_free(struct execution *execution)
{
    if (execution == NULL)
        return;
    judged_release(execution->judged);
    for (size_t i = 0; i < execution->counter_count; i++)
        portal_release(execution->counters[i]);
    free(execution->counters);
    free(execution);
}

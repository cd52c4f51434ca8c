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
    judged->judgement.error = error_paused(&judged->arena, &judged->view);
}

struct judged *session_judge(struct session *s, struct text sql, const struct parse_message *parse)
{
    struct judged *judged = memory_allocate_zeroed(1, sizeof *judged);
    judged->references = 1;
    judged->port = &s->port;
    arena_init(&judged->arena);
    s->port.view(s->port.context, &judged->view);
    judged->original = arena_text(&judged->arena, sql);
    uint32_t *types = NULL;
    if (parse != NULL && parse->type_count > 0) {
        types = types_of_parse(&judged->arena, parse);
        judged->type_count = parse->type_count;
        judged->type_bytes = arena_text(
            &judged->arena,
            (struct text){(const char *)parse->types, (size_t)parse->type_count * sizeof *types});
    }
    if (judged->view.policy == NULL) {
        judged->judgement.error = (struct error_text){
            .sqlstate = "42501",
            .message = TEXT("pgwicket: this agent is no longer configured; nothing was run")};
        return judged;
    }
    int64_t before = s->port.monotonic_us(s->port.context);
    const struct judge_context context = {.policy = judged->view.policy,
                                          .catalog = judged->view.catalog,
                                          .setting_values = judged->view.setting_values};
    judge_text(&judged->arena, &context, judged->original, types, judged->type_count,
               &judged->judgement);
    judged->judge_us = s->port.monotonic_us(s->port.context) - before;
    bool original = judged->view.policy->transparent || judged->view.policy->send_original;
    judged->print = original ? judged->original : judged->judgement.analysis.print;
    if (judged->view.paused)
        reject_paused(judged);
    answers_rewrite(judged);
    return judged;
}

void judged_set_stored(struct judged *judged, const struct hold *hold)
{
    judged->stored = hold_copy(&judged->arena, hold);
    judged->print = judged->stored->statement;
}

struct judged *session_judge_again(struct session *s, struct judged *judged)
{
    struct session_view view;
    s->port.view(s->port.context, &view);
    bool same = view.generation == judged->view.generation && view.paused == judged->view.paused;
    s->port.release_view(s->port.context, view.reference);
    if (same)
        return judged_retain(judged);
    const struct parse_message parse = {.type_count = judged->type_count,
                                        .types = (const uint8_t *)judged->type_bytes.bytes};
    struct judged *again = session_judge(s, judged->original, &parse);
    if (judged->stored != NULL)
        judged_set_stored(again, judged->stored);
    return again;
}

struct portal *portal_new(struct judged *judged)
{
    struct portal *portal = memory_allocate_zeroed(1, sizeof *portal);
    portal->references = 1;
    portal->judged = judged_retain(judged);
    portal->rows_max = LIMIT_NONE;
    portal->estimate_rows = -1;
    arena_init(&portal->arena);
    buffer_init(&portal->bind, LIMIT_BIND_BYTES);
    portal->decision = judged_decision(judged);
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

struct execution *execution_new(struct judged *judged, struct portal *portal)
{
    struct execution *execution = memory_allocate_zeroed(1, sizeof *execution);
    execution->judged = judged_retain(judged);
    execution->portal = portal_retain(portal);
    return execution;
}

void execution_free(struct execution *execution)
{
    if (execution == NULL)
        return;
    judged_release(execution->judged);
    portal_release(execution->portal);
    free(execution);
}

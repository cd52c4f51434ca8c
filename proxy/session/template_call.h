/*
 * template_call.h - EXECUTE of a template: what the client wrote → the template's SQL and the values that
 * are bound to it. Pure.
 *
 * What is sent is the template's SQL with all of its own parameters; the client's $n are another
 * numbering, known here only. A value never becomes SQL text.
 */
#ifndef PGWICKET_SESSION_TEMPLATE_CALL_H
#define PGWICKET_SESSION_TEMPLATE_CALL_H

#include "proxy/base/buffer.h"
#include "proxy/session/judge.h"
#include "proxy/wire/frontend.h"

/* Lives in the arena of its judgement. */
struct template_call {
    const struct template *template;
    const struct shape *shape;         /* of the EXECUTE: its action is what the policy's rules decide */
    const struct shape *shown;         /* the same for the audit log: one action, `execute` */
    const struct argument *arguments;  /* of the parameters that are no attribute, in order; NULL for a
                                          hold's run, which has its values already */
    const struct text *attributes;     /* one for each parameter; empty for those that are arguments */
    struct text types;                 /* of the template's parameters, network order, as Parse has them */
    struct text client_types;          /* of the client's own parameters, likewise */
    uint16_t client_count;
};

/* The template that the statement executes, or NULL. */
const struct template *template_executed(const struct policy *policy, const struct shape *shape);

/*
 * A judgement of one EXECUTE of a template becomes that of the template's SQL: `analysis` is its own,
 * the decision is the stricter of rule and template. Wrong arguments make it a rejection (22023). Does
 * nothing to other judgements.
 */
void template_call_judge(struct arena *arena, const struct judge_context *context,
                         const uint32_t *types, size_t type_count, struct judgement *judgement);

/* The same for a hold of this template, whose values are stored. */
void template_call_judge_stored(struct arena *arena, const struct judge_context *context,
                                const struct template *template, struct judgement *judgement);

/* Rule and template again, with numbers; `shape` is that of the template's SQL. */
void template_call_decide(struct arena *arena, const struct decide_context *context,
                          const struct template_call *call, const struct shape *shape,
                          const struct numbers *numbers, struct decision *out);

/* Why template_call_decide rejected. */
struct error_text template_call_rejected(struct arena *arena, const struct decide_context *context,
                                         const struct template_call *call,
                                         const struct decision *decision,
                                         const struct numbers *numbers);

/* Its rows went past the limit while they were relayed. */
struct error_text template_call_result_too_long(struct arena *arena, const struct template_call *call,
                                                const struct decision *decision);

/*
 * Checks the client's values (NULL: it binds none) and appends to `out` what a Bind of the template has
 * before the result formats. False and `error` if a value is not what its parameter demands.
 */
MUST_USE bool template_call_bind(struct arena *arena, const struct template_call *call,
                                 const struct bind_message *message, struct buffer *out,
                                 struct error_text *error);

#endif

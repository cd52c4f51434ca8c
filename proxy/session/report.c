/*
 * report.c - the session's audit records.
 *
 * report_statement is called before the statement is sent; when it is false, nothing may be sent.
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"

#include <stdio.h>
#include <string.h>

static void start(struct session *s, struct audit_record *record, enum audit_event event)
{
    audit_record_init(record, event, s->port.now(s->port.context));
    record->client_address = s->setup.client_address;
    record->client_port = s->setup.client_port;
    record->agent = s->setup.agent;
    record->database = s->setup.database;
    record->session = s->setup.session_id;
}

static bool write_record(struct session *s, const struct session_view *view,
                         const struct audit_record *record)
{
    return s->port.audit(s->port.context, record) || (view != NULL && view->audit_continue);
}

static struct text joined_functions(struct arena *arena, const struct shape *shape)
{
    struct buffer names;
    buffer_init(&names, LIMIT_AUDIT_TEXT_BYTES);
    for (size_t i = 0; i < shape->function_count; i++) {
        if (names.size > 0)
            buffer_append_string(&names, ", ");
        buffer_append_text(&names, shape->functions[i]);
    }
    struct text joined = arena_text(arena, buffer_text(&names));
    buffer_release(&names);
    return joined;
}

/* What the decisive statement adds; by numbers, where it was decided again with them. */
static void add_decision(struct arena *arena, const struct judged *judged,
                         const struct portal *portal, size_t at, struct audit_record *record)
{
    const struct judgement *judgement = &judged->judgement;
    const struct shape *shape = &judgement->analysis.statements[at].shape;
    bool again = portal != NULL && portal->decision != NULL;
    const struct decision *decision = again ? portal->decision : &judgement->decisions[at];
    const struct action_decision *decisive = decision->decisive;
    const struct shape *shown = judgement->call != NULL ? judgement->call->shown : shape;
    record->summary = shown->summary;
    record->actions = message_actions(arena, shown);
    record->functions = joined_functions(arena, shape);
    record->reason = message_reason(arena, decision);
    if (decisive != NULL && decisive->action != NULL)
        record->verb = text_from(verb_name(decisive->action->verb));
    if (decisive != NULL && decisive->rule != NULL)
        record->rule = decisive->rule->name;
    if (decisive != NULL && decisive->nearest != NULL)
        record->nearest = decisive->nearest->name;
}

static void add_text(struct arena *arena, const struct judged *judged, struct audit_record *record)
{
    static const char unparseable[] = "(unparseable)";
    uint8_t digest[SHA256_SIZE];
    char *hex = arena_allocate(arena, SHA256_HEX_SIZE);
    sha256(judged->original.bytes, judged->original.size, digest);
    hex_from_bytes(digest, sizeof digest, hex);
    record->sha256 = text_from(hex);
    bool readable = judged->judgement.analysis.result != ANALYSE_BAD_TEXT &&
                    judged->judgement.analysis.result != ANALYSE_TOO_LARGE;
    record->statement = readable ? analyse_parameterised(arena, judged->original)
                                 : text_from(unparseable);
    if (judged->judgement.analysis.result == ANALYSE_OK)
        record->fingerprint = analyse_fingerprint(arena, judged->original);
    if (judged->view.audit_raw)
        record->raw = text_cut(judged->original, LIMIT_AUDIT_TEXT_BYTES);
}

static void add_portal(const struct portal *portal, struct audit_record *record)
{
    if (portal == NULL || portal->estimate_rows < 0)
        return;
    record->estimate_rows = portal->estimate_rows;
    record->estimate_cost = portal->numbers.cost;
    record->explain_us = portal->explain_us;
}

bool report_statement(struct session *s, const struct judged *judged, const struct portal *portal,
                      size_t at, int64_t number, enum verdict verdict,
                      const struct error_text *error)
{
    struct arena arena;
    arena_init(&arena);
    struct audit_record record;
    start(s, &record, AUDIT_STATEMENT);
    record.statement_number = number;
    record.verdict = text_from(verdict_name(verdict));
    record.outcome = record.verdict;
    record.mode = TEXT("enforce");
    record.judge_us = judged->judge_us;
    if (s->gate.hold != NULL)
        record.hold = s->gate.hold->id;
    if (judged->view.policy != NULL)
        record.policy = judged->view.policy->name;
    if (error != NULL)
        record.sqlstate = text_from(error->sqlstate);
    add_text(&arena, judged, &record);
    const struct analysis *analysis = &judged->judgement.analysis;
    size_t decisive = verdict == VERDICT_REJECT ? judged->judgement.decisive : at;
    if (analysis->result == ANALYSE_OK && judged->judgement.decisions != NULL &&
        decisive < analysis->statement_count)
        add_decision(&arena, judged, portal, decisive, &record);
    if (error != NULL)
        record.reason = error->message;
    add_portal(portal, &record);
    bool written = write_record(s, &judged->view, &record);
    arena_release(&arena);
    return written;
}

bool report_message(struct session *s, const char *what, const char *sqlstate)
{
    struct audit_record record;
    start(s, &record, AUDIT_MESSAGE);
    record.statement_number = s->statement_number;
    record.outcome = TEXT("reject");
    record.verdict = TEXT("reject");
    record.reason = text_from(what);
    record.sqlstate = text_from(sqlstate);
    struct session_view view;
    s->port.view(s->port.context, &view);
    if (view.policy != NULL)
        record.policy = view.policy->name;
    bool written = write_record(s, &view, &record);
    s->port.release_view(s->port.context, view.reference);
    return written;
}

void report_outcome(struct session *s, const struct outcome *outcome, bool success,
                    struct text sqlstate)
{
    struct audit_record record;
    start(s, &record, AUDIT_OUTCOME);
    record.statement_number = outcome->statement_number;
    record.outcome = success ? TEXT("success") : TEXT("failure");
    record.sqlstate = sqlstate;
    record.effect = text_from(outcome->tag);
    record.rows = outcome->rows;
    record.hold = outcome->hold;
    record.server_us = outcome->server_us;
    if (outcome->judged->view.policy != NULL)
        record.policy = outcome->judged->view.policy->name;
    /* The statement has run: a failing log shows in the next statement, which is refused. */
    (void)!write_record(s, &outcome->judged->view, &record);
}

void outcome_add(struct session *s, const struct execution *execution, struct text tag, int64_t rows)
{
    if (s->outcome_count == OUTCOMES_MAX)
        outcomes_flush(s, true, TEXT(""));
    struct outcome *outcome = &s->outcomes[s->outcome_count++];
    *outcome = (struct outcome){
        .judged = judged_retain(execution->judged),
        .statement_number = execution->statement_number,
        .rows = rows,
        .hold = inside_last_hold(s),
        .server_us = s->port.monotonic_us(s->port.context) - execution->started_us,
    };
    struct text cut = text_cut(tag, sizeof outcome->tag - 1);
    snprintf(outcome->tag, sizeof outcome->tag, "%.*s", TEXT_ARGS(cut));
}

void outcomes_flush(struct session *s, bool success, struct text sqlstate)
{
    for (size_t i = 0; i < s->outcome_count; i++) {
        report_outcome(s, &s->outcomes[i], success, sqlstate);
        judged_release(s->outcomes[i].judged);
    }
    s->outcome_count = 0;
}

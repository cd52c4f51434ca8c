/*
 * held.c - describes the statement in the gate as a hold: text, values, settings, rules, estimate.
 *
 * A value that a person could not read is refused: "send it as text".
 */
#include "proxy/session/held.h"

#include "proxy/base/cursor.h"
#include "proxy/session/held_value.h"

#include <string.h>

/* As SQL spells them; others by schema and name. OIDs are PostgreSQL's own and fixed (pg_type.dat). */
static const struct {
    uint32_t oid;
    const char *name;
} type_names[] = {
    {16, "boolean"}, {17, "bytea"}, {18, "\"char\""}, {19, "name"}, {20, "bigint"}, {21, "smallint"},
    {23, "integer"}, {25, "text"}, {26, "oid"}, {114, "json"}, {142, "xml"}, {650, "cidr"},
    {700, "real"}, {701, "double precision"}, {869, "inet"}, {1042, "character"},
    {1043, "character varying"}, {1082, "date"}, {1083, "time without time zone"},
    {1114, "timestamp without time zone"}, {1184, "timestamp with time zone"}, {1186, "interval"},
    {1266, "time with time zone"}, {1700, "numeric"}, {2950, "uuid"}, {3802, "jsonb"},
};

static struct text scalar_type_name(struct arena *arena, uint32_t oid, const struct type *type)
{
    for (size_t i = 0; i < ARRAY_SIZE(type_names); i++)
        if (type_names[i].oid == oid)
            return text_from(type_names[i].name);
    return type != NULL ? arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(type->schema), TEXT_ARGS(type->name))
                        : TEXT("unspecified");
}

static struct text type_name(struct arena *arena, uint32_t oid, const struct catalog *catalog)
{
    const struct type *type = catalog != NULL ? catalog_type_by_oid(catalog, oid) : NULL;
    const struct type *element =
        type != NULL && type->is_array ? catalog_type_by_oid(catalog, type->base) : NULL;
    if (element == NULL || element->array != oid)
        return scalar_type_name(arena, oid, type);
    return arena_printf(arena, "%.*s[]", TEXT_ARGS(scalar_type_name(arena, element->oid, element)));
}

static struct error_text cannot_wait(struct arena *arena, const struct decision *decision)
{
    const struct action_decision *held = decision->decisive;
    return (struct error_text){
        .sqlstate = "42501",
        .message = TEXT("pgwicket: this statement needs approval, but what ends a transaction or resets the "
                        "session cannot wait for one; nothing was run"),
        .detail = held == NULL || held->rule == NULL
                      ? TEXT("")
                      : arena_printf(arena, "Rule %.*s: %.*s.", TEXT_ARGS(held->rule->name),
                                     TEXT_ARGS(held->rule->text)),
        .hint = TEXT("Do not retry or rephrase. Report that a person must run it, or that the policy would "
                     "have to change."),
    };
}

bool held_possible(struct arena *arena, const struct shape *shape, const struct decision *decision,
                   char transaction, struct error_text *error)
{
    if (!shape->not_in_block)
        return true;
    if (shape->kind != STATEMENT_UTILITY) {
        *error = cannot_wait(arena, decision);
    } else if (transaction != 'I') {
        *error = (struct error_text){
            .sqlstate = "25001",
            .message = TEXT("pgwicket: this statement cannot run inside a transaction block, so nobody was asked "
                            "to approve it; nothing was run"),
            .hint = TEXT("Send it by itself, outside of a transaction (a driver's autocommit mode).")};
    } else {
        return true;
    }
    return false;
}

/* --- values ------------------------------------------------------------------------------------- */

/* Of the Parse message where it gives one, else as the server described it. */
static uint32_t parameter_type(const struct judged *judged, size_t index)
{
    const struct text sources[] = {judged->type_bytes, judged->described_types};
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
        if (sources[i].size < (index + 1) * 4)
            continue;
        struct cursor cursor = cursor_over(sources[i].bytes + index * 4, 4);
        uint32_t type = cursor_u32(&cursor);
        if (type != 0)
            return type;
    }
    return 0;
}

static struct error_text cannot_be_shown(struct arena *arena, unsigned number, struct text type)
{
    return (struct error_text){
        .sqlstate = "42501",
        .message = arena_printf(arena, "pgwicket: parameter %u cannot be shown to an approver; send it as text; "
                                       "nothing was run", number),
        .hint = arena_printf(arena, "Its binary form is not read here (%.*s). Where the driver chooses the form, "
                                    "cast in the statement: $%u::text::%.*s.",
                             TEXT_ARGS(type), number, TEXT_ARGS(type))};
}

static bool describe_values(struct session *s, struct arena *arena, struct hold *hold,
                            struct error_text *error)
{
    const struct portal *portal = s->gate.portal;
    struct bind_message message;
    struct buffer body;
    buffer_init(&body, LIMIT_BIND_BYTES);
    buffer_append(&body, "\0", 2); /* unnamed portal and statement */
    buffer_append_text(&body, buffer_text(&portal->bind));
    bool decoded = decode_bind(buffer_text(&body), &message);
    size_t count = decoded ? message.value_count : 0;
    struct hold_value *values = arena_array(arena, count, sizeof *values);
    uint32_t *types = arena_array(arena, count, sizeof *types);
    size_t state = 0;
    for (uint16_t i = 0; decoded && i < count; i++) {
        struct bound_value value;
        decoded = bind_message_next_value(&message, &state, i, &value);
        types[i] = parameter_type(portal->judged, i);
        values[i].type = type_name(arena, types[i], portal->judged->view.catalog);
        values[i].is_null = value.is_null;
        if (value.is_null || !decoded)
            continue;
        values[i].text = arena_text(arena, value.bytes);
        if (value.binary && !held_value_text(arena, portal->judged->view.catalog, types[i],
                                             value.bytes, &values[i].text)) {
            *error = cannot_be_shown(&s->gate.arena, i + 1u, values[i].type);
            decoded = false;
        }
    }
    buffer_release(&body);
    hold->values = values;
    hold->value_count = count;
    hold->types = types;
    hold->type_count = count;
    return decoded;
}

/* --- rules and settings --------------------------------------------------------------------------- */

static void append_list(struct buffer *out, const char *separator, struct text item)
{
    if (out->size > 0)
        buffer_append_string(out, separator);
    buffer_append_text(out, item);
}

static void describe_rules(struct arena *arena, const struct decision *decision, struct hold *hold)
{
    struct buffer names;
    struct buffer approvers;
    buffer_init(&names, LIMIT_HELD_BYTES);
    buffer_init(&approvers, LIMIT_HELD_BYTES);
    const struct rule *last = NULL;
    for (size_t i = 0; i < decision->action_count; i++) {
        const struct action_decision *action = &decision->actions[i];
        if (action->verdict != VERDICT_HOLD || action->rule == NULL || action->rule == last)
            continue;
        last = action->rule;
        append_list(&names, ", ", last->name);
        for (size_t j = 0; j < last->approver_count; j++) {
            if (j == 0 && approvers.size > 0)
                buffer_append_byte(&approvers, ';');
            if (j > 0)
                buffer_append_byte(&approvers, ',');
            buffer_append_text(&approvers, last->approvers[j]);
        }
    }
    hold->rules = arena_text(arena, buffer_text(&names));
    hold->approvers = arena_text(arena, buffer_text(&approvers));
    hold->quorum = decision->quorum > 0 ? decision->quorum : 1;
    if (decision->decisive != NULL && decision->decisive->rule != NULL) {
        hold->rule = arena_text(arena, decision->decisive->rule->name);
        hold->rule_text = arena_text(arena, decision->decisive->rule->text);
        hold->verb = text_from(verb_name(decision->decisive->action->verb));
    }
    buffer_release(&names);
    buffer_release(&approvers);
}

/* Whoever released it may have been removed since, or the rules may ask for others now. */
bool held_is_still_released(struct session *s, const struct hold *hold)
{
    const struct portal *portal = s->gate.portal;
    const struct policy *policy = portal->judged->view.policy;
    struct hold now = {.agent = hold->agent};
    int64_t count = 0;
    if (portal->decision == NULL || portal->decision->verdict != VERDICT_HOLD || policy == NULL)
        return true;
    describe_rules(&s->gate.arena, portal->decision, &now);
    for (size_t i = 0; i < hold->approval_count; i++)
        count += hold_approver_may(&now, hold->approvals[i].by, NULL, 0) &&
                 s->port.is_approver(s->port.context, hold->approvals[i].by, policy->name);
    return count >= now.quorum;
}

static void describe_origin(struct session *s, struct arena *arena, struct hold *hold)
{
    const struct portal *portal = s->gate.portal;
    const struct policy *policy = portal->judged->view.policy;
    hold->agent = arena_text(arena, s->setup.agent);
    hold->policy = arena_text(arena, policy->name);
    hold->upstream = arena_text(arena, portal->judged->view.upstream_name);
    hold->database = arena_text(arena, s->setup.database);
    hold->session = arena_text(arena, s->setup.session_id);
    hold->client = s->setup.client_port > 0
                       ? arena_printf(arena, "%.*s:%d", TEXT_ARGS(s->setup.client_address),
                                      s->setup.client_port)
                       : arena_text(arena, s->setup.client_address);
    hold->created = s->port.now(s->port.context);
    hold->expires = (struct instant){hold->created.us + policy->hold_expire_us};
    hold->wait_us = policy->hold_wait_us;
    hold->run_within_us = policy->hold_run_within_us;
}

/* The rule may allow what the template itself holds. */
static void describe_template(struct arena *arena, const struct template_call *call, struct hold *hold)
{
    if (call == NULL)
        return;
    hold->template = arena_text(arena, call->template->name);
    if (call->template->hold)
        hold->rule_text = arena_printf(arena, "template %.*s: hold", TEXT_ARGS(call->template->rule_text));
}

static void describe_effect(struct session *s, struct arena *arena, struct hold *hold)
{
    const struct effect unknown = {.row_count = -1, .why = rehearsal_problem(s)};
    struct buffer json;
    buffer_init(&json, LIMIT_EFFECT_BYTES);
    effect_to_json(&json, s->gate.effect != NULL ? s->gate.effect : &unknown);
    hold->effect = json.overflow ? TEXT("{\"known\": false, \"why\": \"it is too large to be shown\"}")
                                 : arena_text(arena, buffer_text(&json));
    buffer_release(&json);
}

struct hold *held_describe(struct session *s, struct arena *arena, struct error_text *error)
{
    const struct portal *portal = s->gate.portal;
    struct hold *hold = arena_allocate(arena, sizeof *hold);
    describe_origin(s, arena, hold);
    describe_rules(arena, portal->decision, hold);
    describe_template(arena, judged_call(portal->judged), hold);
    hold->statement = arena_text(arena, gate_held_text(portal->judged));
    hold->values_wire = arena_text(arena, gate_values(portal));
    hold->estimate_rows = portal->estimate_rows;
    hold->estimate_cost = portal->estimate_rows < 0 ? -1 : portal->numbers.cost;
    hold->plan = portal->plan != NULL ? arena_text(arena, text_from(portal->plan)) : TEXT("");
    describe_effect(s, arena, hold);
    if (s->gate.copied)
        hold_describe_copy(&s->gate, arena, hold);
    if (s->gate.effect != NULL)
        memcpy(hold->sample_secret, s->gate.measuring.rows.secret, sizeof hold->sample_secret);
    else
        random_bytes(hold->sample_secret, sizeof hold->sample_secret);
    if (portal->bind.size > 0 && !describe_values(s, arena, hold, error)) {
        if (error->message.size == 0)
            *error = (struct error_text){.sqlstate = "08P01", .message = TEXT("invalid Bind message")};
        return NULL;
    }
    if (!bound_describe(s, arena, hold)) {
        *error = (struct error_text){
            .sqlstate = "54000",
            .message = TEXT("pgwicket: this session has set too much to show it with a held statement; nothing was "
                            "run"),
            .hint = TEXT("Run it in a new session, with fewer or shorter settings.")};
        return NULL;
    }
    if (hold->statement.size + hold->values_wire.size > LIMIT_HELD_BYTES) {
        *error = (struct error_text){
            .sqlstate = "54000",
            .message = TEXT("pgwicket: a held statement and its values may have 64 kB; nothing was run"),
            .hint = TEXT("Split it into smaller statements.")};
        return NULL;
    }
    return hold;
}

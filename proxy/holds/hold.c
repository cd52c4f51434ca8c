/*
 * hold.c - states and their edges, what a release is bound to, who may decide. See hold.h.
 *
 * Everything is a table or a digest; an unknown state name is HOLD_NONE, from which nothing runs.
 */
#include "proxy/holds/hold.h"

#include "proxy/base/attributes.h"
#include "proxy/base/invariant.h"

#include <stdio.h>
#include <string.h>

static const char *const state_names[HOLD_STATE_COUNT] = {
    [HOLD_NONE] = "none",       [HOLD_PENDING] = "pending",   [HOLD_RELEASED] = "released",
    [HOLD_RUNNING] = "running", [HOLD_EXECUTED] = "executed", [HOLD_REFUSED] = "refused",
    [HOLD_EXPIRED] = "expired", [HOLD_LAPSED] = "lapsed",     [HOLD_DRIFTED] = "drifted",
    [HOLD_FAILED] = "failed",   [HOLD_UNKNOWN] = "unknown",
};

#define TO(state) (1u << (state))

/* Bit n: may become state n. A state without an edge is final. */
static const unsigned state_edges[HOLD_STATE_COUNT] = {
    [HOLD_NONE] = TO(HOLD_PENDING),
    [HOLD_PENDING] = TO(HOLD_RELEASED) | TO(HOLD_REFUSED) | TO(HOLD_EXPIRED),
    [HOLD_RELEASED] = TO(HOLD_RUNNING) | TO(HOLD_LAPSED),
    [HOLD_RUNNING] = TO(HOLD_EXECUTED) | TO(HOLD_RELEASED) | TO(HOLD_FAILED) | TO(HOLD_DRIFTED) |
                     TO(HOLD_UNKNOWN),
};

const char *hold_state_name(enum hold_state state)
{
    INVARIANT(state < HOLD_STATE_COUNT);
    return state_names[state];
}

enum hold_state hold_state_from_name(struct text name)
{
    for (enum hold_state state = HOLD_PENDING; state < HOLD_STATE_COUNT; state++)
        if (text_is(name, state_names[state]))
            return state;
    return HOLD_NONE;
}

bool hold_state_may_become(enum hold_state from, enum hold_state to)
{
    INVARIANT(from < HOLD_STATE_COUNT && to < HOLD_STATE_COUNT);
    return (state_edges[from] & TO(to)) != 0;
}

bool hold_state_is_final(enum hold_state state)
{
    INVARIANT(state < HOLD_STATE_COUNT);
    return state != HOLD_NONE && state_edges[state] == 0;
}

static void digest_number(struct digest *digest, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    digest_field(digest, text_from(text));
}

/* What identifies the statement itself. Every list begins with its length. */
static void digest_statement(struct digest *digest, const struct hold *hold)
{
    digest_field(digest, hold->agent);
    digest_field(digest, hold->upstream);
    digest_field(digest, hold->template);
    digest_field(digest, hold->statement);
    digest_number(digest, hold->type_count);
    for (size_t i = 0; i < hold->type_count; i++)
        digest_number(digest, hold->types[i]);
    digest_field(digest, hold->values_wire);
    digest_number(digest, hold->value_count);
    for (size_t i = 0; i < hold->value_count; i++) {
        digest_field(digest, hold->values[i].type);
        digest_number(digest, hold->values[i].is_null);
        digest_field(digest, hold->values[i].text);
    }
    if (hold->copy_sha256.size > 0)
        digest_field(digest, hold->copy_sha256);
    digest_number(digest, hold->setting_count);
    for (size_t i = 0; i < hold->setting_count; i++) {
        digest_field(digest, hold->settings[i].name);
        digest_field(digest, hold->settings[i].value);
    }
}

void hold_digest(const struct hold *hold, uint8_t digest[SHA256_SIZE])
{
    struct digest *fields = digest_new();
    digest_field(fields, TEXT("hold shown"));
    digest_statement(fields, hold);
    digest_field(fields, hold->effect);
    digest_finish(fields, digest);
}

void hold_match(const struct hold *hold, uint8_t match[SHA256_SIZE])
{
    struct digest *fields = digest_new();
    digest_field(fields, TEXT("hold sent"));
    digest_statement(fields, hold);
    digest_finish(fields, match);
}

bool hold_visible(const struct hold *hold, const struct text *policies, size_t policy_count)
{
    for (size_t i = 0; i < policy_count; i++)
        if (text_equal(policies[i], hold->policy))
            return true;
    return policy_count == 0;
}

/* Takes what stands before the first `separator` from the front of `rest`. */
static struct text next_part(struct text *rest, char separator)
{
    size_t size = 0;
    while (size < rest->size && rest->bytes[size] != separator)
        size++;
    struct text part = {rest->bytes, size};
    size_t taken = size < rest->size ? size + 1 : size;
    *rest = (struct text){rest->bytes + taken, rest->size - taken};
    return part;
}

static bool group_has(struct text group, struct text approver)
{
    if (group.size == 0)
        return true;
    while (group.size > 0)
        if (text_equal(next_part(&group, ','), approver))
            return true;
    return false;
}

bool hold_approver_may(const struct hold *hold, struct text approver, const struct text *policies,
                       size_t policy_count)
{
    if (approver.size == 0 || text_equal(approver, hold->agent) ||
        !hold_visible(hold, policies, policy_count))
        return false;
    struct text groups = hold->approvers;
    while (groups.size > 0)
        if (!group_has(next_part(&groups, ';'), approver))
            return false;
    return true;
}

#define FIELD(name) offsetof(struct hold, name)

static const size_t text_fields[] = {
    FIELD(agent),          FIELD(policy),
    FIELD(rule),           FIELD(rules),
    FIELD(rule_text),      FIELD(approvers),
    FIELD(upstream),       FIELD(database),
    FIELD(verb),           FIELD(client),
    FIELD(session),        FIELD(statement),
    FIELD(values_wire),    FIELD(plan),
    FIELD(effect),         FIELD(decision),
    FIELD(decided_by),     FIELD(decision_reason),
    FIELD(run_session),    FIELD(xid),
    FIELD(backend_start),  FIELD(system_identifier),
    FIELD(outcome_tag),    FIELD(outcome_error),
    FIELD(outcome_effect), FIELD(template),
    FIELD(copy_sha256),    FIELD(copy_head),
};

static void copy_lists(struct arena *arena, struct hold *copy, const struct hold *hold)
{
    uint32_t *types = arena_array(arena, hold->type_count, sizeof *types);
    for (size_t i = 0; i < hold->type_count; i++)
        types[i] = hold->types[i];
    struct hold_value *values = arena_array(arena, hold->value_count, sizeof *values);
    for (size_t i = 0; i < hold->value_count; i++)
        values[i] = (struct hold_value){.type = arena_text(arena, hold->values[i].type),
                                        .text = arena_text(arena, hold->values[i].text),
                                        .is_null = hold->values[i].is_null};
    struct hold_setting *settings = arena_array(arena, hold->setting_count, sizeof *settings);
    for (size_t i = 0; i < hold->setting_count; i++)
        settings[i] = (struct hold_setting){.name = arena_text(arena, hold->settings[i].name),
                                            .value = arena_text(arena, hold->settings[i].value)};
    struct hold_approval *approvals = arena_array(arena, hold->approval_count, sizeof *approvals);
    for (size_t i = 0; i < hold->approval_count; i++)
        approvals[i] = (struct hold_approval){.by = arena_text(arena, hold->approvals[i].by),
                                              .at = hold->approvals[i].at};
    copy->types = types;
    copy->values = values;
    copy->settings = settings;
    copy->approvals = approvals;
}

bool hold_ran_outside(const struct hold *hold)
{
    return text_is(hold->xid, HOLD_RUNS_OUTSIDE);
}

struct hold *hold_copy(struct arena *arena, const struct hold *hold)
{
    struct hold *copy = arena_allocate(arena, sizeof *copy);
    *copy = *hold;
    for (size_t i = 0; i < ARRAY_SIZE(text_fields); i++) {
        struct text *field = (struct text *)(void *)((char *)copy + text_fields[i]);
        *field = arena_text(arena, *field);
    }
    copy_lists(arena, copy, hold);
    return copy;
}

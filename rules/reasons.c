/*
 * reasons.c - a decision in the words of the audit log: what the statement does, and why it may or may not.
 */
#include "rules/message.h"

#include "proxy/base/buffer.h"

enum { ACTIONS_BYTES_MAX = 2048 };

static struct text rule_name(const struct rule *rule)
{
    return rule != NULL ? rule->name : TEXT("");
}

static bool named_before(const struct shape *shape, size_t index)
{
    const struct action *action = &shape->actions[index];
    for (size_t i = 0; i < index; i++)
        if (shape->actions[i].verb == action->verb &&
            shape->actions[i].object.kind == action->object.kind &&
            text_equal(shape->actions[i].object.schema, action->object.schema) &&
            text_equal(shape->actions[i].object.name, action->object.name))
            return true;
    return false;
}

struct text message_actions(struct arena *arena, const struct shape *shape)
{
    struct buffer out;
    buffer_init(&out, ACTIONS_BYTES_MAX);
    for (size_t i = 0; i < shape->action_count && !out.overflow; i++) {
        struct text object = object_text(arena, &shape->actions[i].object);
        if (!named_before(shape, i))
            buffer_printf(&out, "%s%s %.*s", out.size > 0 ? ", " : "",
                          verb_name(shape->actions[i].verb), TEXT_ARGS(object));
    }
    struct text words =
        arena_printf(arena, "%.*s%s", TEXT_ARGS(buffer_text(&out)), out.overflow ? ", ..." : "");
    buffer_release(&out);
    return words;
}

static const char *const reasons[CONDITION_COUNT] = {
    [CONDITION_NO_RULE] = "no rule allows",
    [CONDITION_HIDDEN] = "hidden column",
    [CONDITION_REJECT_RULE] = "rejected by rule",
    [CONDITION_COLUMNS] = "columns not met",
    [CONDITION_NOT_COLUMNS] = "not_columns not met",
    [CONDITION_WHERE] = "where not met",
    [CONDITION_MAX_ROWS] = "max_rows passed",
    [CONDITION_MAX_EFFECT] = "max_effect passed or unknown",
    [CONDITION_MAX_COST] = "max_cost passed or unknown",
    [CONDITION_MAX_LOCK] = "max_lock passed",
    [CONDITION_FOREIGN_KEYS] = "foreign keys lead into too many tables for max_rows",
    [CONDITION_INTROSPECTION] = "not open to introspection",
    [CONDITION_SETTING] = "setting may not be changed or read",
    [CONDITION_UNRESOLVED] = "no such object",
    [CONDITION_TWO_PHASE] = "only for all on *",
    [CONDITION_EXPLAIN_ANALYZE] = "EXPLAIN ANALYZE of a limited or held statement",
    [CONDITION_NOT_COUNTABLE] = "max_rows cannot be counted",
    [CONDITION_EFFECT_UNKNOWN] = "max_effect cannot be counted",
    [CONDITION_UNBOUNDED_COPY] = "COPY by a rule without max_rows",
    [CONDITION_HELD_FORM] = "cannot be held in this form",
    [CONDITION_UNREHEARSABLE] = "held, but cannot be rehearsed",
    [CONDITION_TEMPLATE_NAME] = "the name of a template",
};

static struct text matched_reason(struct arena *arena, const struct decision *decision)
{
    const struct action_decision *decisive = decision->decisive;
    if (decisive == NULL || decisive->rule == NULL)
        return TEXT("needs no rule");
    return arena_printf(arena, "%s by %.*s", verdict_name(decision->verdict),
                        TEXT_ARGS(decisive->rule->name));
}

struct text message_reason(struct arena *arena, const struct decision *decision)
{
    const struct action_decision *decisive = decision->decisive;
    const char *reason = reasons[decision->failed];
    if (decision->verdict != VERDICT_REJECT)
        return matched_reason(arena, decision);
    if (decisive == NULL || decisive->verdict != VERDICT_REJECT)
        return arena_printf(arena, "%s%s%.*s", reason != NULL ? reason : "not understood",
                            decision->subject.size > 0 ? ": " : "", TEXT_ARGS(decision->subject));
    struct text object = object_text(arena, &decisive->action->object);
    return arena_printf(arena, "%s: %s %.*s%s%.*s%s%.*s", reason, verb_name(decisive->action->verb),
                        TEXT_ARGS(object), decisive->column.size > 0 ? ", column " : "",
                        TEXT_ARGS(decisive->column),
                        decisive->nearest != NULL ? ", nearest rule " : "",
                        TEXT_ARGS(rule_name(decisive->nearest)));
}

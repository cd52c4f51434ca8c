/* hints.c - see hints.h. Nothing is said of objects that the agent did not name. */
#include "rules/hints.h"

#include "proxy/base/buffer.h"
#include "rules/conditions.h"
#include "rules/open.h"

enum { HINT_BYTES_MAX = 1024 };

static struct text take(struct arena *arena, struct buffer *out)
{
    struct text words = out->overflow ? TEXT("") : arena_text(arena, buffer_text(out));
    buffer_release(out);
    return words;
}

static void append_list(struct buffer *out, const char *title, const struct text *names,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_string(out, i == 0 ? title : ", ");
        buffer_append_text(out, names[i]);
    }
}

static void append_limits(struct buffer *out, const struct rule *rule, enum verb verb)
{
    const char *separator = " (";
    if (rule->column_count > 0)
        append_list(out, verb == VERB_INSERT ? " into " : " of ", rule->columns,
                    rule->column_count);
    if (rule->where != WHERE_ANY) {
        buffer_printf(out, "%s%s", separator,
                      rule->where == WHERE_KEY ? "by key" : "with a WHERE that limits the rows");
        separator = ", ";
    }
    if (rule->max_rows != LIMIT_NONE) {
        buffer_printf(out, "%sup to %lld row%s", separator, (long long)rule->max_rows,
                      rule->max_rows == 1 ? "" : "s");
        separator = ", ";
    }
    if (rule->max_effect != LIMIT_NONE) {
        buffer_printf(out, "%sup to %lld row%s in all tables", separator, (long long)rule->max_effect,
                      rule->max_effect == 1 ? "" : "s");
        separator = ", ";
    }
    if (rule->max_lock != LOCK_ACCESS_EXCLUSIVE) {
        buffer_printf(out, "%swith at most the table lock %s", separator,
                      table_lock_name(rule->max_lock));
        separator = ", ";
    }
    if (rule->verdict == VERDICT_HOLD) {
        buffer_printf(out, "%safter a person's approval", separator);
        separator = ", ";
    }
    if (separator[0] == ',')
        buffer_append_byte(out, ')');
}

static const struct rule *opening_rule(const struct policy *policy, const struct action *action)
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (rule_names_action(&policy->rules[i], action) &&
            (policy->rules[i].verdict != VERDICT_REJECT ||
             rule_is_unconditional(&policy->rules[i])))
            return policy->rules[i].verdict != VERDICT_REJECT ? &policy->rules[i] : NULL;
    return NULL;
}

struct text hint_allowed_here(struct arena *arena, const struct policy *policy,
                              const struct object *object)
{
    static const enum verb verbs[] = {VERB_SELECT, VERB_INSERT, VERB_UPDATE,   VERB_DELETE,
                                      VERB_LOCK,   VERB_CALL,   VERB_TRUNCATE, VERB_ALTER};
    struct buffer out;
    size_t found = 0;
    buffer_init(&out, HINT_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
        const struct action action = {.verb = verbs[i], .object = *object};
        const struct rule *rule = opening_rule(policy, &action);
        if (rule == NULL)
            continue;
        buffer_append_string(&out, found++ == 0 ? " On it you may: " : ", ");
        buffer_append_string(&out, verb_name(verbs[i]));
        append_limits(&out, rule, verbs[i]);
    }
    if (found > 0)
        buffer_append_byte(&out, '.');
    return take(arena, &out);
}

static bool is_open(const struct decide_context *context, const struct action_decision *decision,
                    struct arena *arena, struct text column)
{
    const struct rule *rule = decision->nearest;
    const struct shape none = {0};
    const struct numbers numbers = {0};
    const struct action action = {.verb = decision->action->verb,
                                  .object = decision->action->object,
                                  .relation = decision->action->relation,
                                  .columns = &column,
                                  .column_count = 1};
    const struct matching matching = {
        .arena = arena, .context = context, .shape = &none, .numbers = &numbers, .action = &action};
    struct text closed;
    if (action_touches_column(&matching, &action, context->policy->hidden,
                              context->policy->hidden_count, &closed))
        return false;
    if (rule == NULL)
        return true;
    const struct rule columns_only = {.verdict = rule->verdict,
                                      .columns = rule->columns,
                                      .column_count = rule->column_count,
                                      .not_columns = rule->not_columns,
                                      .not_column_count = rule->not_column_count,
                                      .max_rows = LIMIT_NONE,
                                      .max_effect = LIMIT_NONE,
                                      .max_cost = -1};
    return rule_conditions(&matching, &columns_only).failed == CONDITION_NONE;
}

struct text hint_open_columns(struct arena *arena, const struct decide_context *context,
                              const struct action_decision *decision)
{
    const struct relation *relation = decision->action->relation;
    struct buffer out;
    buffer_init(&out, HINT_BYTES_MAX);
    for (size_t i = 0; relation != NULL && i < relation->column_count; i++)
        if (is_open(context, decision, arena, relation->columns[i].name))
            append_list(&out, out.size > 0 ? ", " : "", &relation->columns[i].name, 1);
    return take(arena, &out);
}

static bool key_is_open(struct arena *arena, const struct decide_context *context,
                        const struct relation *relation, const struct key *key)
{
    for (size_t i = 0; i < key->column_count; i++) {
        const struct column *column = relation_column_by_number(relation, key->columns[i]);
        if (column == NULL || !column_is_open(arena, context, relation, column->name))
            return false;
    }
    return key->column_count > 0;
}

const struct key *hint_key(struct arena *arena, const struct decide_context *context,
                           const struct relation *relation)
{
    const struct key *found = NULL;
    for (size_t i = 0; relation != NULL && i < relation->key_count; i++) {
        const struct key *key = &relation->keys[i];
        if ((found == NULL || (key->primary && !found->primary)) &&
            key_is_open(arena, context, relation, key))
            found = key;
    }
    return found;
}

struct text hint_key_columns(struct arena *arena, const struct relation *relation,
                             const struct key *key)
{
    struct buffer out;
    buffer_init(&out, HINT_BYTES_MAX);
    for (size_t i = 0; i < key->column_count; i++)
        append_list(&out, i > 0 ? ", " : "",
                    &relation_column_by_number(relation, key->columns[i])->name, 1);
    return take(arena, &out);
}

static void append_indexed(struct buffer *out, struct arena *arena,
                           const struct decide_context *context, const struct action *action)
{
    const struct relation *relation = action->relation;
    for (size_t i = 0; i < relation->indexed_count; i++) {
        const struct column *column = relation_column_by_number(relation, relation->indexed[i]);
        if (column == NULL || !column_is_open(arena, context, relation, column->name))
            continue;
        buffer_append_string(out, out->size > 0 ? ", " : "");
        buffer_append_text(out, object_text(arena, &action->object));
        buffer_printf(out, "(%.*s)", TEXT_ARGS(column->name));
    }
}

static bool is_named_before(const struct shape *shape, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (shape->actions[i].part != PART_VIEW &&
            shape->actions[i].relation == shape->actions[index].relation)
            return true;
    return false;
}

struct text hint_indexed_columns(struct arena *arena, const struct decide_context *context,
                                 const struct shape *shape)
{
    struct buffer out;
    buffer_init(&out, HINT_BYTES_MAX);
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].relation != NULL && shape->actions[i].part != PART_VIEW &&
            !is_named_before(shape, i))
            append_indexed(&out, arena, context, &shape->actions[i]);
    return take(arena, &out);
}

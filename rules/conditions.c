/*
 * conditions.c - a rule's conditions, one function each.
 *
 * Of an allow or hold rule a condition that cannot be decided fails; of a reject rule it holds. So what
 * is not known is always on the side of the stricter verdict.
 */
#include "rules/conditions.h"

#include "proxy/base/invariant.h"

bool rule_names_action(const struct rule *rule, const struct action *action)
{
    if (action->verb == VERB_NONE ? !rule->all_verbs : !rule->verbs[action->verb])
        return false;
    for (size_t i = 0; i < rule->on_count; i++)
        if (object_pattern_matches(&rule->on[i], &action->object))
            return true;
    return false;
}

bool action_is_below(const struct shape *shape, const struct action *action, size_t view)
{
    for (size_t steps = 0; action->part == PART_VIEW && steps <= shape->action_count; steps++) {
        if (action->view_action == view)
            return true;
        INVARIANT(action->view_action < shape->action_count);
        action = &shape->actions[action->view_action];
    }
    return false;
}

static bool columns_hold(const struct matching *matching, const struct rule *rule,
                         struct condition_result *result)
{
    const struct action *action = matching->action;
    if (rule->columns == NULL)
        return true;
    if (action->columns_unknown) {
        result->column = action->columns_why;
        return rule->verdict == VERDICT_REJECT;
    }
    for (size_t i = 0; i < action->column_count; i++) {
        bool listed = false;
        for (size_t j = 0; j < rule->column_count && !listed; j++)
            listed = text_equal(action->columns[i], rule->columns[j]);
        if (!listed) {
            result->column = action->columns[i];
            return false;
        }
    }
    return true;
}

/* What the definition of a view reads counts for the rule that opens the view. */
static bool not_columns_hold(const struct matching *matching, const struct rule *rule,
                             struct condition_result *result)
{
    const struct shape *shape = matching->shape;
    if (rule->not_column_count == 0)
        return true;
    if (rule->verdict == VERDICT_REJECT && matching->action->columns_unknown)
        return true;
    if (action_touches_column(matching, matching->action, rule->not_columns,
                              rule->not_column_count, &result->column))
        return false;
    for (size_t i = 0; i < shape->action_count; i++)
        if (action_is_below(shape, &shape->actions[i], matching->index) &&
            action_touches_column(matching, &shape->actions[i], rule->not_columns,
                                  rule->not_column_count, &result->column))
            return false;
    return true;
}

/* COPY TO STDOUT is bulk export: what may be read row by row may not be carried off whole, unless the
 * rule says how much, or allows everything. */
static bool is_unbounded_copy(const struct matching *matching, const struct rule *rule)
{
    return matching->shape->kind == STATEMENT_COPY_OUT && matching->action->verb == VERB_SELECT &&
           rule->verdict == VERDICT_ALLOW && !rule->all_verbs;
}

/* Do foreign keys carry it on into other tables? What a view's tables start is the view's. */
static bool is_carried_on(const struct matching *matching)
{
    const struct shape *shape = matching->shape;
    if (matching->action->foreign_key_actions)
        return true;
    for (size_t i = 0; i < shape->action_count; i++)
        if (shape->actions[i].foreign_key_actions &&
            action_is_below(shape, &shape->actions[i], matching->index))
            return true;
    return false;
}

/* What the statement is proven to change by this verb there: WITH queries may do it several times. */
static int64_t proven_rows(const struct matching *matching)
{
    const struct action *own = matching->action;
    int64_t rows = own->rows_max;
    for (size_t i = 0; i < matching->shape->action_count; i++) {
        const struct action *other = &matching->shape->actions[i];
        if (other != own && other->verb == own->verb && other->part == own->part && other->rows_max > 0 &&
            text_equal(other->object.schema, own->object.schema) &&
            text_equal(other->object.name, own->object.name))
            rows = rows <= INT64_MAX - other->rows_max ? rows + other->rows_max : INT64_MAX;
    }
    return rows;
}

/* A select's rows are counted as they pass; those of a write must be proven, known, or countable. */
static enum condition rows_condition(const struct matching *matching, const struct rule *rule,
                                     struct condition_result *result)
{
    const struct action *action = matching->action;
    const struct numbers *numbers = matching->numbers;
    if (rule->max_rows == LIMIT_NONE)
        return is_unbounded_copy(matching, rule) ? CONDITION_UNBOUNDED_COPY : CONDITION_NONE;
    if (!verb_is_write(action->verb)) {
        result->open_rows = rule->max_rows;
        return CONDITION_NONE;
    }
    if (numbers->has_rows && numbers->rows > rule->max_rows)
        return CONDITION_MAX_ROWS;
    if (numbers->has_rows && numbers->rows_real)
        return CONDITION_NONE;
    if (action->relation != NULL && action->relation->kind == 'f')
        return CONDITION_MAX_ROWS;
    bool carries = is_carried_on(matching);
    bool in_doubt = matching->context->keys_in_doubt && action->verb != VERB_INSERT;
    bool bounded = action->rows_max != ROWS_UNPROVEN && !carries && !in_doubt;
    if (bounded && proven_rows(matching) <= rule->max_rows)
        return CONDITION_NONE;
    /* Fewer may be there than the keys that it names; what an INSERT writes down is what it makes. */
    if (bounded && (rule->where == WHERE_KEY || action->verb == VERB_INSERT || !matching->counting.countable))
        return CONDITION_MAX_ROWS;
    if (rule->verdict == VERDICT_ALLOW && !matching->only_planned) {
        if (carries && !matching->counting.tables_complete)
            return CONDITION_FOREIGN_KEYS;
        if (!matching->counting.countable)
            return CONDITION_NOT_COUNTABLE;
    }
    result->open_rows = rule->max_rows;
    return CONDITION_NONE;
}

/* Can the rows that it changes in all tables be counted? Under an allow rule while it runs, which the tables'
 * own counters do for what writes rows; under a hold rule in its rehearsal. */
static bool effect_is_countable(const struct matching *matching, const struct rule *rule)
{
    enum statement_kind kind = matching->shape->kind;
    if (rule->verdict == VERDICT_HOLD)
        return matching->counting.rehearsable || rule->rehearse;
    return matching->counting.rehearsable && matching->shape->ddl == DDL_NONE &&
           (kind == STATEMENT_WRITE || kind == STATEMENT_COPY_IN);
}

static enum condition effect_condition(const struct matching *matching, const struct rule *rule,
                                       struct condition_result *result)
{
    const struct numbers *numbers = matching->numbers;
    bool rejects = rule->verdict == VERDICT_REJECT;
    if (rule->max_effect == LIMIT_NONE)
        return CONDITION_NONE;
    if (numbers->has_rows && numbers->rows > rule->max_effect)
        return CONDITION_MAX_EFFECT;
    if (!rejects && !matching->only_planned && !effect_is_countable(matching, rule))
        return CONDITION_EFFECT_UNKNOWN;
    if (!numbers->has_effect) {
        result->open_effect = rule->max_effect;
        return CONDITION_NONE;
    }
    bool holds = numbers->effect <= rule->max_effect || (rejects && numbers->effect == EFFECT_UNCOUNTED);
    return holds ? CONDITION_NONE : CONDITION_MAX_EFFECT;
}

/* The planner's estimate for a table that was never analysed is a guess. */
static bool has_no_statistics(const struct matching *matching, const struct action *action)
{
    const struct relation *relation = action->relation;
    size_t count = 0;
    if (relation == NULL)
        return false;
    if (relation->kind == 'r' || relation->kind == 'm')
        return relation->rows < 0;
    if (relation->kind != 'p' || matching->context->catalog == NULL)
        return false;
    const struct relation *const *leaves =
        catalog_children(matching->context->catalog, matching->arena, relation, &count);
    for (size_t i = 0; i < count; i++)
        if (leaves[i]->kind == 'r' && leaves[i]->rows < 0)
            return true;
    return false;
}

static bool cost_is_a_guess(const struct matching *matching)
{
    const struct shape *shape = matching->shape;
    if (has_no_statistics(matching, matching->action))
        return true;
    for (size_t i = 0; i < shape->action_count; i++)
        if (action_is_below(shape, &shape->actions[i], matching->index) &&
            has_no_statistics(matching, &shape->actions[i]))
            return true;
    return false;
}

static bool cost_holds(const struct matching *matching, const struct rule *rule,
                       struct condition_result *result)
{
    if (rule->max_cost < 0)
        return true;
    if (cost_is_a_guess(matching))
        return rule->verdict == VERDICT_REJECT;
    if (matching->numbers->has_cost)
        return matching->numbers->cost <= rule->max_cost;
    result->open_cost = rule->max_cost;
    return true;
}

/* The strongest lock also stands for one that is not known. */
static bool lock_holds(const struct action *action, const struct rule *rule)
{
    return action->lock >= rule->max_lock ||
           (rule->verdict == VERDICT_REJECT && action->lock == LOCK_ACCESS_EXCLUSIVE);
}

struct condition_result rule_conditions(const struct matching *matching, const struct rule *rule)
{
    struct condition_result result = {
        .open_rows = LIMIT_NONE, .open_effect = LIMIT_NONE, .open_cost = -1};
    const struct action *action = matching->action;
    bool is_read_of_write = action->part == PART_READ;
    if (!columns_hold(matching, rule, &result))
        result.failed = CONDITION_COLUMNS;
    else if (!not_columns_hold(matching, rule, &result))
        result.failed = CONDITION_NOT_COLUMNS;
    else if (is_read_of_write)
        result.failed = CONDITION_NONE;
    else if (action->where < rule->where)
        result.failed = CONDITION_WHERE;
    else if (!lock_holds(action, rule))
        result.failed = CONDITION_MAX_LOCK;
    else if ((result.failed = rows_condition(matching, rule, &result)) == CONDITION_NONE &&
             (result.failed = effect_condition(matching, rule, &result)) == CONDITION_NONE &&
             !cost_holds(matching, rule, &result))
        result.failed = CONDITION_MAX_COST;
    return result;
}

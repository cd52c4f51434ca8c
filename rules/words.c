/* words.c - a rule in words, as messages, approvers and `SHOW pgwicket.policy` give it. */
#include "rules/lists.h"

enum { WORDS_BYTES_MAX = 4096 };

static void append_conditions(struct buffer *out, const struct rule *rule)
{
    append_names(out, ", columns ", rule->columns, rule->column_count);
    append_patterns(out, ", not_columns ", rule->not_columns, rule->not_column_count, "*");
    if (rule->where != WHERE_ANY)
        buffer_printf(out, ", where: %s", rule->where == WHERE_KEY ? "key" : "required");
    if (rule->max_rows != LIMIT_NONE)
        buffer_printf(out, ", max_rows: %lld", (long long)rule->max_rows);
    if (rule->max_effect != LIMIT_NONE)
        buffer_printf(out, ", max_effect: %lld", (long long)rule->max_effect);
    if (rule->max_cost >= 0)
        buffer_printf(out, ", max_cost: %.10g", rule->max_cost);
    if (rule->max_lock != LOCK_ACCESS_EXCLUSIVE)
        buffer_printf(out, ", max_lock: %s", table_lock_name(rule->max_lock));
    append_names(out, ", approvers ", rule->approvers, rule->approver_count);
    if (rule->quorum > 0)
        buffer_printf(out, ", quorum: %lld", (long long)rule->quorum);
}

/* A list that does not fit ends in dots: the words inform, nothing is decided by them. */
struct text rule_in_words(struct arena *arena, const struct rule *rule)
{
    struct buffer out;
    buffer_init(&out, WORDS_BYTES_MAX);
    buffer_append_string(&out, verdict_name(rule->verdict));
    append_verbs(&out, " ", rule, "all", verb_name);
    append_patterns(&out, " on ", rule->on, rule->on_count, "*");
    append_conditions(&out, rule);
    struct text words = arena_printf(arena, "%.*s%s", TEXT_ARGS(buffer_text(&out)),
                                     out.overflow ? " ..." : "");
    buffer_release(&out);
    return words;
}

/* words.c - a rule in words, as messages, approvers and `SHOW pgwicket.policy` give it. */
#include "rules/policy.h"

#include "proxy/base/buffer.h"

enum { WORDS_BYTES_MAX = 4096 };

static void append_names(struct buffer *out, const char *title, const struct text *names,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_string(out, i == 0 ? title : ", ");
        buffer_append_text(out, names[i]);
    }
}

static void append_patterns(struct buffer *out, const char *title,
                            const struct object_pattern *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_string(out, i == 0 ? title : ", ");
        buffer_append_text(out, patterns[i].source);
    }
}

static void append_verbs(struct buffer *out, const struct rule *rule)
{
    const char *separator = " ";
    if (rule->all_verbs) {
        buffer_append_string(out, " all");
        return;
    }
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        if (rule->verbs[verb]) {
            buffer_append_string(out, separator);
            buffer_append_string(out, verb_name((enum verb)verb));
            separator = ", ";
        }
}

static void append_conditions(struct buffer *out, const struct rule *rule)
{
    append_names(out, ", columns ", rule->columns, rule->column_count);
    append_patterns(out, ", not_columns ", rule->not_columns, rule->not_column_count);
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
    append_verbs(&out, rule);
    append_patterns(&out, " on ", rule->on, rule->on_count);
    append_conditions(&out, rule);
    struct text words = arena_printf(arena, "%.*s%s", TEXT_ARGS(buffer_text(&out)),
                                     out.overflow ? " ..." : "");
    buffer_release(&out);
    return words;
}

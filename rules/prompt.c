/*
 * prompt.c - see prompt.h. A list that does not fit ends in dots: the words inform, nothing is decided by
 * them.
 */
#include "rules/prompt.h"

#include "rules/lists.h"
#include "rules/setting_value.h"

enum { LINE_BYTES_MAX = 4096, LINES_BESIDE_RULES = 10 };

struct lines {
    struct arena *arena;
    struct text *items;
    size_t count;
};

static void add_line(struct lines *lines, struct buffer *line)
{
    struct text words = buffer_text(line);
    lines->items[lines->count++] =
        arena_printf(lines->arena, "%.*s%s", TEXT_ARGS(words), line->overflow ? " ..." : "");
    buffer_release(line);
}

static void add_string(struct lines *lines, const char *string)
{
    lines->items[lines->count++] = text_from(string);
}

/* --- the parts of a rule --------------------------------------------------------------------------- */

/* As a statement begins, where one does. */
static const char *word_of(enum verb verb)
{
    switch (verb) {
    case VERB_SELECT:
        return "SELECT";
    case VERB_INSERT:
        return "INSERT";
    case VERB_UPDATE:
        return "UPDATE";
    case VERB_DELETE:
        return "DELETE";
    case VERB_TRUNCATE:
        return "TRUNCATE";
    case VERB_CALL:
        return "call functions";
    case VERB_EXECUTE:
        return "EXECUTE";
    case VERB_CREATE:
        return "CREATE";
    case VERB_ALTER:
        return "ALTER";
    case VERB_DROP:
        return "DROP";
    case VERB_GRANT:
        return "GRANT and REVOKE";
    case VERB_COMMENT:
        return "COMMENT";
    case VERB_LOCK:
        return "LOCK";
    case VERB_SET:
        return "SET";
    case VERB_LISTEN:
        return "LISTEN";
    case VERB_NOTIFY:
        return "NOTIFY";
    case VERB_MAINTAIN:
        return "VACUUM, ANALYZE, REINDEX, CLUSTER, REFRESH";
    case VERB_CODE:
        return "make or run code (DO, functions, views, triggers)";
    case VERB_COPY_FILE:
        return "COPY with files and programs of the server";
    case VERB_NONE:
    case VERB_COUNT:
        break;
    }
    return "";
}

static void append_rows(struct buffer *out, int64_t most)
{
    if (most != LIMIT_NONE)
        buffer_printf(out, "; at most %lld row%s", (long long)most, most == 1 ? "" : "s");
}

static void append_conditions(struct buffer *out, const struct rule *rule)
{
    append_names(out, "; only columns ", rule->columns, rule->column_count);
    append_patterns(out, "; without columns ", rule->not_columns, rule->not_column_count, "anything");
    if (rule->where == WHERE_REQUIRED)
        buffer_append_string(out, "; with a WHERE on a column of the table");
    if (rule->where == WHERE_KEY)
        buffer_append_string(out, "; with a WHERE that fixes the primary key or a unique key to constants");
    append_rows(out, rule->max_rows);
    if (rule->max_effect != LIMIT_NONE)
        buffer_printf(out, "; at most %lld row%s changed in all tables together, also by cascades and triggers",
                      (long long)rule->max_effect, rule->max_effect == 1 ? "" : "s");
    if (rule->max_cost >= 0)
        buffer_printf(out, "; planner's cost at most %.10g", rule->max_cost);
    if (rule->max_lock != LOCK_ACCESS_EXCLUSIVE)
        buffer_printf(out, "; no table lock above %s", table_lock_name(rule->max_lock));
}

static bool only_executes(const struct rule *rule)
{
    for (int verb = VERB_NONE + 1; verb < VERB_COUNT; verb++)
        if (rule->verbs[verb] != (verb == VERB_EXECUTE))
            return false;
    return true;
}

static void append_rule(struct buffer *out, const struct rule *rule)
{
    static const char *const beginnings[] = {[VERDICT_REJECT] = "You may not ",
                                             [VERDICT_HOLD] = "Only after a person's approval you may ",
                                             [VERDICT_ALLOW] = "You may "};
    buffer_append_string(out, beginnings[rule->verdict]);
    append_verbs(out, "", rule, "do everything", word_of);
    append_patterns(out, only_executes(rule) ? " " : " on ", rule->on, rule->on_count, "anything");
    append_conditions(out, rule);
    if (rule->quorum > 1)
        buffer_printf(out, "; %lld people must approve", (long long)rule->quorum);
    buffer_printf(out, ". (Rule %.*s)", TEXT_ARGS(rule->name));
    if (rule->message.size > 0)
        buffer_printf(out, " %.*s", TEXT_ARGS(rule->message));
}

/* --- lines ------------------------------------------------------------------------------------------ */

static bool has_verb(const struct policy *policy, bool (*wanted)(const struct rule *rule))
{
    for (size_t i = 0; i < policy->rule_count; i++)
        if (policy->rules[i].verdict != VERDICT_REJECT && wanted(&policy->rules[i]))
            return true;
    return false;
}

static bool reads_or_writes(const struct rule *rule) { return !only_executes(rule); }

static bool writes(const struct rule *rule)
{
    return rule->verbs[VERB_INSERT] || rule->verbs[VERB_UPDATE] || rule->verbs[VERB_DELETE];
}

static void add_beginning(struct lines *lines, const struct policy *policy)
{
    if (policy->transparent) {
        add_string(lines, "You may do everything that the database lets you do.");
        return;
    }
    add_string(lines, "Each statement is checked before it runs. For each thing that it does, the first of these "
                      "rules that fits decides; a rule whose limit is passed does not fit. What no rule "
                      "allows is rejected, and nothing of the statement is run.");
    struct buffer line;
    buffer_init(&line, LINE_BYTES_MAX);
    append_names(&line, "Names without a schema are looked up in: ", policy->search_path,
                policy->search_path_count);
    if (line.size > 0 && has_verb(policy, reads_or_writes)) {
        buffer_append_byte(&line, '.');
        add_line(lines, &line);
    }
    buffer_release(&line);
}

static void add_hidden(struct lines *lines, const struct policy *policy)
{
    if (policy->hidden_count == 0)
        return;
    struct buffer line;
    buffer_init(&line, LINE_BYTES_MAX);
    append_patterns(&line, "Never touch these columns, not by * either: ", policy->hidden,
                    policy->hidden_count, "anything");
    buffer_append_string(&line, ". Name the columns that you need.");
    add_line(lines, &line);
}

static bool may_execute(const struct policy *policy, const struct template *template)
{
    const struct object object = {OBJECT_TEMPLATE, TEXT(""), template->name};
    return policy_may(policy, VERB_EXECUTE, &object);
}

static bool ends_a_sentence(struct text text)
{
    return text.size > 0 && text.bytes[text.size - 1] == '.';
}

static void add_templates(struct lines *lines, const struct policy *policy)
{
    bool any = false;
    for (size_t i = 0; i < policy->template_count; i++) {
        const struct template *template = &policy->templates[i];
        if (!may_execute(policy, template))
            continue;
        struct buffer line;
        buffer_init(&line, LINE_BYTES_MAX);
        buffer_printf(&line, "Ready-made statement: EXECUTE %.*s", TEXT_ARGS(template->rule_text));
        append_rows(&line, template->max_rows);
        buffer_append_string(&line, template->hold ? "; a person must approve each run." : ".");
        if (template->description.size > 0)
            buffer_printf(&line, " %.*s%s", TEXT_ARGS(template->description),
                          ends_a_sentence(template->description) ? "" : ".");
        add_line(lines, &line);
        any = true;
    }
    if (any)
        add_string(lines, "SHOW pgwicket.templates gives the parameters of ready-made statements as JSON Schema.");
}

static bool asks_people(const struct policy *policy)
{
    bool held = policy_holds(policy);
    for (size_t i = 0; i < policy->rule_count && !held; i++)
        held = rule_allows_held_template(policy, &policy->rules[i]);
    return held;
}

static void add_holds(struct lines *lines, const struct policy *policy)
{
    enum { SECOND_US = 1000000 };
    if (!asks_people(policy))
        return;
    lines->items[lines->count++] = arena_printf(
        lines->arena,
        "What needs approval must be sent by itself, and waits up to %lld s for a person. After that it fails "
        "with SQLSTATE 55PW1 and the number of its hold: tell the user, do not send it again, and later run "
        "EXECUTE pgwicket_hold(number). SHOW pgwicket.holds lists yours.",
        (long long)(policy->hold_wait_us / SECOND_US));
}

/* As the policy says it, or the default; 0 is none. */
static void add_time_out(struct lines *lines, const struct policy *policy)
{
    struct text most = TEXT("30s");
    for (size_t i = 0; i < policy->setting_count; i++)
        if (text_is(policy->settings[i].name, "statement_timeout"))
            most = policy->settings[i].attribute.size > 0 ? TEXT("0") : policy->settings[i].value;
    int64_t ms;
    if (!setting_timeout_ms(most, &ms) || ms == 0)
        return;
    lines->items[lines->count++] =
        ms % 1000 == 0 ? arena_printf(lines->arena, "A statement may run for at most %lld s.",
                                      (long long)(ms / 1000))
                       : arena_printf(lines->arena, "A statement may run for at most %lld ms.",
                                      (long long)ms);
}

static void add_surroundings(struct lines *lines, const struct policy *policy)
{
    if (has_verb(policy, writes))
        add_string(lines, "A write also reads the columns of its WHERE, RETURNING and right sides: it must be allowed "
                          "to SELECT them.");
    if (policy_reads_only(policy))
        add_string(lines, "Nothing can be changed: the session is read-only.");
    if (!has_verb(policy, reads_or_writes))
        return;
    add_string(lines, policy->introspection
                          ? "You may look up names and types of tables and columns in information_schema and "
                            "pg_catalog."
                          : "You may not look into information_schema and pg_catalog.");
}

const struct text *policy_prompt(struct arena *arena, const struct policy *policy, size_t *count)
{
    struct lines lines = {
        .arena = arena,
        .items = arena_array(arena, policy->rule_count + policy->template_count + LINES_BESIDE_RULES,
                             sizeof *lines.items)};
    add_beginning(&lines, policy);
    for (size_t i = 0; i < policy->rule_count && !policy->transparent; i++) {
        struct buffer line;
        buffer_init(&line, LINE_BYTES_MAX);
        buffer_printf(&line, "%zu. ", i + 1);
        append_rule(&line, &policy->rules[i]);
        add_line(&lines, &line);
    }
    add_hidden(&lines, policy);
    add_templates(&lines, policy);
    add_holds(&lines, policy);
    add_time_out(&lines, policy);
    if (!policy->transparent) {
        add_surroundings(&lines, policy);
        add_string(&lines, "Do not retry or rephrase what was rejected: use what is allowed, or tell the user "
                           "that the policy would have to change.");
    }
    *count = lines.count;
    return lines.items;
}

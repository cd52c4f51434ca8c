/* answers.c - see answers.h. Every text goes in as a quoted literal. */
#include "proxy/session/answers.h"

static void literal(struct buffer *sql, struct text text)
{
    buffer_append_byte(sql, '\'');
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] == '\'')
            buffer_append_byte(sql, '\'');
        buffer_append_byte(sql, (uint8_t)text.bytes[i]);
    }
    buffer_append_string(sql, "'::pg_catalog.text");
}

static void begin_row(struct buffer *sql, bool *first)
{
    buffer_append_string(sql, *first ? "(" : ", (");
    *first = false;
}

/* Rows of texts under `columns`; no row at all needs another form, since VALUES must have one. */
struct table {
    struct buffer sql;
    const char *columns;
    bool first;
};

static struct table table_begin(const char *columns)
{
    struct table table = {.columns = columns, .first = true};
    buffer_init(&table.sql, LIMIT_STATEMENT_BYTES);
    buffer_append_string(&table.sql, "SELECT * FROM (VALUES ");
    return table;
}

static void table_row(struct table *table, const struct text *texts, size_t count)
{
    begin_row(&table->sql, &table->first);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_string(&table->sql, ", ");
        literal(&table->sql, texts[i]);
    }
    buffer_append_byte(&table->sql, ')');
}

static void table_end(struct table *table, struct judged *judged, size_t width)
{
    const struct text nothing[5] = {{0}};
    bool empty = table->first;
    if (empty)
        table_row(table, nothing, width);
    buffer_printf(&table->sql, ") AS pgwicket(%s)%s", table->columns, empty ? " LIMIT 0" : "");
    if (!table->sql.overflow)
        judged->print = arena_text(&judged->arena, buffer_text(&table->sql));
    buffer_release(&table->sql);
}

static const struct text *asks_for(const struct judged *judged)
{
    const struct statement *single = judged_single(judged);
    return single != NULL && single->shape.pgwicket_show.size > 0 ? &single->shape.pgwicket_show
                                                                   : NULL;
}

bool answers_wants_holds(const struct judged *judged)
{
    const struct text *what = asks_for(judged);
    return what != NULL && text_is(*what, "holds");
}

static bool may_execute(const struct policy *policy, const struct template *template)
{
    const struct object object = {OBJECT_TEMPLATE, TEXT(""), template->name};
    return policy_may(policy, VERB_EXECUTE, &object);
}

/* What the agent is told besides the owner's words. */
static struct text template_in_words(struct arena *arena, const struct template *template)
{
    struct text words = template->description;
    if (template->hold)
        words = arena_printf(arena, "%.*s%sA person must approve each run.", TEXT_ARGS(words),
                             words.size > 0 ? " " : "");
    if (template->max_rows != LIMIT_NONE)
        words = arena_printf(arena, "%.*s%sAt most %lld rows.", TEXT_ARGS(words),
                             words.size > 0 ? " " : "", (long long)template->max_rows);
    return words;
}

static void show_templates(struct judged *judged)
{
    const struct policy *policy = judged->view.policy;
    struct table table = table_begin("name, description, parameters");
    for (size_t i = 0; i < policy->template_count; i++) {
        const struct template *template = &policy->templates[i];
        if (!may_execute(policy, template))
            continue;
        const struct text row[] = {template->name, template_in_words(&judged->arena, template),
                                   template_json_schema(&judged->arena, template)};
        table_row(&table, row, ARRAY_SIZE(row));
    }
    table_end(&table, judged, 3);
}

static void show_policy_templates(struct judged *judged, struct table *table)
{
    const struct policy *policy = judged->view.policy;
    for (size_t i = 0; i < policy->template_count; i++) {
        const struct template *template = &policy->templates[i];
        if (!may_execute(policy, template))
            continue;
        const struct text row[] = {
            arena_printf(&judged->arena, "template: EXECUTE %.*s", TEXT_ARGS(template->rule_text)),
            template_in_words(&judged->arena, template)};
        table_row(table, row, ARRAY_SIZE(row));
    }
}

static void show_policy(struct judged *judged)
{
    const struct policy *policy = judged->view.policy;
    struct table table = table_begin("rule, message");
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct text row[] = {policy->rules[i].text, policy->rules[i].message};
        table_row(&table, row, ARRAY_SIZE(row));
    }
    for (size_t i = 0; i < policy->hidden_count; i++) {
        const struct text row[] = {
            arena_printf(&judged->arena, "never: %.*s", TEXT_ARGS(policy->hidden[i].source)),
            TEXT("This column is hidden from you.")};
        table_row(&table, row, ARRAY_SIZE(row));
    }
    show_policy_templates(judged, &table);
    const struct text last[] = {TEXT("everything else is rejected"), TEXT("")};
    table_row(&table, last, ARRAY_SIZE(last));
    table_end(&table, judged, ARRAY_SIZE(last));
}

void answers_rewrite(struct judged *judged)
{
    const struct text *what = asks_for(judged);
    if (what == NULL || judged->judgement.verdict == VERDICT_REJECT)
        return;
    if (text_is(*what, "policy")) {
        show_policy(judged);
    } else if (text_is(*what, "templates")) {
        show_templates(judged);
    } else if (!text_is(*what, "holds")) {
        judged->judgement.verdict = VERDICT_REJECT;
        judged->judgement.error = (struct error_text){
            .sqlstate = "42704",
            .message = TEXT("pgwicket: there is no such thing to SHOW"),
            .hint = TEXT("There are pgwicket.policy, pgwicket.holds, pgwicket.templates.")};
    }
}

static struct text next_step(struct arena *arena, const struct hold *hold)
{
    switch (hold->state) {
    case HOLD_PENDING:
        return TEXT("wait for a person; do not send it again");
    case HOLD_RELEASED:
        return arena_printf(arena, "run EXECUTE pgwicket_hold(%lld)", (long long)hold->id);
    case HOLD_REFUSED:
        return TEXT("act on the reason, or report it to the user");
    case HOLD_RUNNING:
        return TEXT("it is running in a session; its COMMIT decides");
    case HOLD_UNKNOWN:
        return TEXT("report to the user that its end is not known");
    case HOLD_NONE:
    case HOLD_EXECUTED:
    case HOLD_EXPIRED:
    case HOLD_LAPSED:
    case HOLD_DRIFTED:
    case HOLD_FAILED:
    case HOLD_STATE_COUNT:
        break;
    }
    return TEXT("nothing: it is over");
}

void answers_rewrite_holds(struct judged *judged, struct hold *const *holds, size_t count)
{
    struct table table = table_begin("hold, state, statement, reason, next_step");
    for (size_t i = 0; i < count; i++) {
        const struct hold *hold = holds[i];
        const struct text row[] = {
            arena_printf(&judged->arena, "%lld", (long long)hold->id),
            text_from(hold_state_name(hold->state)),
            text_cut(hold->statement, 1000),
            hold->decision_reason.size > 0 ? hold->decision_reason : hold->outcome_error,
            next_step(&judged->arena, hold),
        };
        table_row(&table, row, ARRAY_SIZE(row));
    }
    table_end(&table, judged, 5);
}

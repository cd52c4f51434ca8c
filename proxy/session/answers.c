/* answers.c - see answers.h. Every text goes in as a quoted literal. */
#include "proxy/session/answers.h"

#include "rules/prompt.h"

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
    bool ended = words.size == 0 || words.bytes[words.size - 1] == '.';
    if (template->hold) {
        words = arena_printf(arena, "%.*s%s%sA person must approve each run.", TEXT_ARGS(words),
                             ended ? "" : ".", words.size > 0 ? " " : "");
        ended = true;
    }
    if (template->max_rows != LIMIT_NONE)
        words = arena_printf(arena, "%.*s%s%sAt most %lld row%s.", TEXT_ARGS(words), ended ? "" : ".",
                             words.size > 0 ? " " : "", (long long)template->max_rows,
                             template->max_rows == 1 ? "" : "s");
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

static void show_policy(struct judged *judged)
{
    size_t count;
    const struct text *lines = policy_prompt(&judged->arena, judged->view.policy, &count);
    struct table table = table_begin("policy");
    for (size_t i = 0; i < count; i++)
        table_row(&table, &lines[i], 1);
    table_end(&table, judged, 1);
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
        return arena_printf(arena,
                            "Wait for a person, and tell the user. Do not send it again. EXECUTE "
                            "pgwicket_hold(%lld) gives the result once it is released.",
                            (long long)hold->id);
    case HOLD_RELEASED:
        return arena_printf(arena, "Run EXECUTE pgwicket_hold(%lld) now.", (long long)hold->id);
    case HOLD_REFUSED:
        return TEXT("Do not send it again. Act on the reason, or report it to the user.");
    case HOLD_RUNNING:
        return TEXT("Nothing: it is running in a session, whose COMMIT decides.");
    case HOLD_UNKNOWN:
        return TEXT("Do not run it again: it may have changed the data. Report it to the user.");
    case HOLD_EXECUTED:
        return TEXT("Nothing: it is done.");
    case HOLD_EXPIRED:
    case HOLD_LAPSED:
        return TEXT("Ask the user whether it is still wanted; only then send the statement again.");
    case HOLD_DRIFTED:
        return hold->replaced_by == 0
                   ? TEXT("Nothing: the data had changed, and nothing was run.")
                   : arena_printf(arena, "The data had changed: hold %lld stands for it now.",
                                  (long long)hold->replaced_by);
    case HOLD_FAILED:
        return TEXT("Nothing was changed. Act on the reason, or report it to the user.");
    case HOLD_NONE:
    case HOLD_STATE_COUNT:
        break;
    }
    return TEXT("Nothing.");
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

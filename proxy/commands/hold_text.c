/* hold_text.c - see hold_text.h. A key that is missing or of another type is shown as nothing. */
#include "proxy/commands/hold_text.h"

#include "proxy/base/attributes.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 120 };

static const char *const operations[] = {"deleted", "updated", "inserted"};

const char *hold_word(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word != NULL ? word : "";
}

static int64_t number(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static int64_t rows_of(const json_t *table)
{
    int64_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
        sum += number(table, operations[i]);
    return sum;
}

/* " public.old (48213 rows), 3 more" */
static void summarize_objects(struct buffer *out, const json_t *objects)
{
    const json_t *first = json_array_get(objects, 0);
    buffer_printf(out, " %s %s", hold_word(first, "kind"), hold_word(first, "name"));
    if (json_is_integer(json_object_get(first, "rows")))
        buffer_printf(out, " with %" PRId64 " rows", number(first, "rows"));
    if (json_array_size(objects) > 1)
        buffer_printf(out, ", %zu more", json_array_size(objects) - 1);
}

static void summarize_tables(struct buffer *out, const json_t *tables)
{
    int64_t more = 0;
    size_t count = json_array_size(tables);
    for (size_t i = 1; i < count; i++)
        more += rows_of(json_array_get(tables, i));
    const json_t *first = json_array_get(tables, 0);
    buffer_printf(out, " %" PRId64 " in %s", rows_of(first), hold_word(first, "table"));
    if (count > 1)
        buffer_printf(out, ", %" PRId64 " in %zu more table%s", more, count - 1,
                      count == 2 ? "" : "s");
}

void hold_summary(struct buffer *out, const json_t *hold)
{
    const json_t *effect = json_object_get(hold, "effect");
    const json_t *tables = json_object_get(effect, "tables");
    const json_t *objects = json_object_get(effect, "objects");
    buffer_append_string(out, hold_word(hold, "verb"));
    if (!json_is_true(json_object_get(effect, "known")))
        buffer_append_string(out, ", effect unknown");
    else if (json_array_size(tables) > 0)
        summarize_tables(out, tables);
    else if (json_array_size(objects) > 0)
        summarize_objects(out, objects);
}

void hold_summary_visible(struct buffer *out, const json_t *hold)
{
    struct buffer summary;
    buffer_init(&summary, LIMIT_HTTP_ANSWER_BYTES);
    hold_summary(&summary, hold);
    unicode_append_visible(out, buffer_text(&summary));
    buffer_release(&summary);
}

enum style hold_style(const json_t *hold)
{
    static const struct {
        const char *state;
        enum style style;
    } styles[] = {{"pending", STYLE_BOLD}, {"released", STYLE_GOOD}, {"running", STYLE_GOOD},
                  {"failed", STYLE_BAD},   {"drifted", STYLE_BAD},   {"unknown", STYLE_BAD}};
    for (size_t i = 0; i < ARRAY_SIZE(styles); i++)
        if (strcmp(hold_word(hold, "state"), styles[i].state) == 0)
            return styles[i].style;
    return STYLE_FAINT;
}

/* A value as JSON, strings without quotes; cut where it is long. */
static void print_value(FILE *out, const json_t *value)
{
    if (json_is_string(value)) {
        struct text text = {json_string_value(value), json_string_length(value)};
        struct text cut = text_cut(text, VALUE_MAX);
        terminal_print_visible(out, cut);
        if (cut.size < text.size)
            fprintf(out, "… (%zu bytes)", text.size);
        return;
    }
    char *dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    terminal_print_visible(out, text_cut(text_from(dump), VALUE_MAX));
    free(dump);
}

static void print_word(FILE *out, const json_t *object, const char *key)
{
    terminal_print_visible(out, text_from(hold_word(object, key)));
}

static void print_if_any(FILE *out, const char *before, const json_t *object, const char *key)
{
    if (hold_word(object, key)[0] == '\0')
        return;
    fputs(before, out);
    print_word(out, object, key);
}

static void heading(FILE *out, const char *text)
{
    fprintf(out, "\n%s%s%s\n", terminal_style(out, STYLE_BOLD), text,
            terminal_style(out, STYLE_PLAIN));
}

static void print_table(FILE *out, const json_t *table)
{
    for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
        int64_t rows = number(table, operations[i]);
        if (rows == 0)
            continue;
        bool lost = i == 0;
        fprintf(out, "  %s%8" PRId64 " %s%s  ", terminal_style(out, lost ? STYLE_BAD : STYLE_BOLD),
                rows, operations[i], terminal_style(out, STYLE_PLAIN));
        print_word(out, table, "table");
        if (number(table, "total") > 0)
            fprintf(out, " (of about %" PRId64 ")", number(table, "total"));
        print_if_any(out, ", ", table, "via");
        print_if_any(out, " ", table, "constraint");
        fputc('\n', out);
    }
}

static bool is_lost(const char *change)
{
    return strcmp(change, "dropped") == 0 || strcmp(change, "emptied") == 0;
}

static void print_size(FILE *out, int64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 10240 && unit + 1 < ARRAY_SIZE(units); unit++)
        bytes /= 1024;
    fprintf(out, ", %" PRId64 " %s", bytes, units[unit]);
}

/* "   dropped  view shop.totals, cascade: of shop.old". */
static void print_object(FILE *out, const json_t *object)
{
    const char *change = hold_word(object, "change");
    fprintf(out, "  %s%9s%s ", terminal_style(out, is_lost(change) ? STYLE_BAD : STYLE_BOLD),
            change, terminal_style(out, STYLE_PLAIN));
    print_if_any(out, " ", object, "kind");
    print_if_any(out, " ", object, "name");
    if (json_is_integer(json_object_get(object, "rows")))
        fprintf(out, ", %" PRId64 " row%s%s", number(object, "rows"),
                number(object, "rows") == 1 ? "" : "s", is_lost(change) ? " lost" : "");
    if (number(object, "bytes") > 0)
        print_size(out, number(object, "bytes"));
    print_if_any(out, ", ", object, "via");
    print_if_any(out, " of ", object, "parent");
    print_if_any(out, ": ", object, "detail");
    fputc('\n', out);
}

/* Only those that make others wait who read or write. */
static void print_locks(FILE *out, const json_t *locks)
{
    static const char *const modes[][2] = {
        {"access exclusive", "nobody else can read or write"},
        {"exclusive", "nobody else can write"},
        {"share row exclusive", "nobody else can write"},
        {"share", "nobody else can write"},
    };
    for (size_t mode = 0; mode < ARRAY_SIZE(modes); mode++) {
        bool first = true;
        size_t i;
        const json_t *lock;
        json_array_foreach(locks, i, lock)
        {
            if (strcmp(hold_word(lock, "mode"), modes[mode][0]) != 0)
                continue;
            if (first)
                fprintf(out, "  While it runs %s:", modes[mode][1]);
            print_if_any(out, first ? " " : ", ", lock, "table");
            first = false;
        }
        if (!first)
            fputc('\n', out);
    }
}

static void print_not_undone(FILE *out, const json_t *list)
{
    if (json_array_size(list) == 0)
        return;
    heading(out, "A rollback did not undo");
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        fputs("  ", out);
        bool named = hold_word(item, "name")[0] != '\0';
        print_word(out, item, "what");
        fputs(named ? " " : "", out);
        print_word(out, item, "name");
        if (json_is_integer(json_object_get(item, "by")))
            fprintf(out, " by %" PRId64, number(item, "by"));
        else if (named)
            fputs(", by how much is not known", out);
        fputc('\n', out);
    }
}

static void print_notifies(FILE *out, const json_t *tables)
{
    size_t i;
    const json_t *item;
    json_array_foreach(tables, i, item)
    {
        fputs(i == 0 ? "  May send notifications when it commits: code of " : ", ", out);
        terminal_print_visible(out, text_from(json_string_value(item)));
    }
    if (i > 0)
        fputc('\n', out);
}

static void print_row(FILE *out, char sign, const json_t *row)
{
    if (!json_is_object(row))
        return;
    fprintf(out, "  %c", sign);
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)row, key, value)
    {
        fputc(' ', out);
        terminal_print_visible(out, text_from(key));
        fputc('=', out);
        print_value(out, value);
    }
    fputc('\n', out);
}

static void print_sample(FILE *out, const json_t *rows)
{
    const json_t *sample = json_object_get(rows, "sample");
    if (json_array_size(sample) == 0)
        return;
    char title[96];
    snprintf(title, sizeof title, "Rows (%zu of %" PRId64 "; data that an agent may have written)",
             json_array_size(sample), number(rows, "count"));
    heading(out, title);
    size_t i;
    const json_t *item;
    json_array_foreach(sample, i, item)
    {
        print_row(out, '-', json_object_get(item, "old"));
        print_row(out, '+', json_object_get(item, "new"));
    }
}

static void print_estimate(FILE *out, const json_t *hold)
{
    const json_t *rows = json_object_get(json_object_get(hold, "estimate"), "rows");
    if (json_is_number(rows))
        fprintf(out, "  The planner expected %.0f.\n", json_number_value(rows));
}

static void print_effect(FILE *out, const json_t *hold)
{
    const json_t *effect = json_object_get(hold, "effect");
    heading(out, "Effect");
    if (!json_is_true(json_object_get(effect, "known"))) {
        fprintf(out, "  %sUNKNOWN%s: ", terminal_style(out, STYLE_BAD),
                terminal_style(out, STYLE_PLAIN));
        print_word(out, effect, "why");
        fputc('\n', out);
        return;
    }
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(effect, "tables"), i, item) print_table(out, item);
    json_array_foreach(json_object_get(effect, "objects"), i, item) print_object(out, item);
    print_locks(out, json_object_get(effect, "locks"));
    print_notifies(out, json_object_get(effect, "notifies"));
    print_estimate(out, hold);
    if (strcmp(hold_word(effect, "bound"), "counts") == 0 &&
        json_array_size(json_object_get(effect, "tables")) > 0)
        fputs(hold_word(json_object_get(effect, "rows"), "fingerprint")[0] != '\0'
                  ? "  The target's rows are bound, those that change with them by counts only.\n"
                  : "  Bound by counts only: the rows themselves may be others when it runs.\n",
              out);
    print_not_undone(out, json_object_get(effect, "not_undone"));
    print_sample(out, json_object_get(effect, "rows"));
}

/* The data of a COPY: escaped already, a line at a time. */
static void print_copy(FILE *out, const json_t *copy)
{
    if (!json_is_object(copy))
        return;
    fprintf(out, "  with %" PRId64 " bytes of data", number(copy, "bytes"));
    if (number(copy, "head_bytes") < number(copy, "bytes"))
        fprintf(out, ", of which these are the first %" PRId64, number(copy, "head_bytes"));
    fputs(" (an agent has written them):\n", out);
    static const char end[] = "\\u{A}";
    const char *line = hold_word(copy, "head");
    while (line[0] != '\0') {
        const char *next = strstr(line, end);
        size_t size = next != NULL ? (size_t)(next - line) : strlen(line);
        fputs("    ", out);
        terminal_print_visible(out, (struct text){line, size});
        fputc('\n', out);
        line = next != NULL ? next + sizeof end - 1 : line + size;
    }
}

static void print_statement(FILE *out, const json_t *hold)
{
    heading(out, "Statement");
    fputs("  ", out);
    if (hold_word(hold, "template")[0] != '\0') {
        fputs("of template ", out);
        print_word(out, hold, "template");
        fputs(": ", out);
    }
    print_word(out, hold, "statement");
    fputc('\n', out);
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(hold, "parameters"), i, item)
    {
        fprintf(out, "  $%zu ", i + 1);
        print_word(out, item, "type");
        fputs(" = ", out);
        const json_t *value = json_object_get(item, "value");
        if (json_is_null(value))
            fputs("NULL", out);
        else
            terminal_print_visible(out, text_from(json_string_value(value)));
        fputc('\n', out);
    }
    print_copy(out, json_object_get(hold, "copy"));
    const char *key;
    json_object_foreach(json_object_get(hold, "settings"), key, item)
    {
        fputs("  with ", out);
        terminal_print_visible(out, text_from(key));
        fputs(" = ", out);
        print_value(out, item);
        fputc('\n', out);
    }
}

/* "created 5 min ago", "expires in 3 h". */
static void print_time(FILE *out, const char *word, const char *text, struct instant now)
{
    struct instant when = instant_from_text(text);
    if (when.us == 0)
        return;
    char span[TERMINAL_SPAN_MAX];
    char clock[INSTANT_TEXT_SIZE];
    int64_t left_us = when.us - now.us;
    span_to_text(left_us >= 0 ? left_us : -left_us, span);
    instant_to_clock_text(when, clock);
    fprintf(out, ", %s %s%s%s (%s)", word, left_us >= 0 ? "in " : "", span,
            left_us >= 0 ? "" : " ago", clock);
}

static void print_head(FILE *out, const json_t *hold, struct instant now)
{
    fprintf(out, "%sHold %" PRId64 ": ", terminal_style(out, STYLE_BOLD), number(hold, "id"));
    print_word(out, hold, "state");
    fputs(terminal_style(out, STYLE_PLAIN), out);
    print_time(out, "made", hold_word(hold, "created"), now);
    if (strcmp(hold_word(hold, "state"), "pending") == 0)
        print_time(out, "expires", hold_word(hold, "expires"), now);
    print_time(out, "may run until", hold_word(hold, "run_until"), now);
    fputs("\n", out);
    static const char *const keys[][2] = {{"agent", "agent"},
                                          {"policy", ", policy"},
                                          {"upstream", ", upstream"},
                                          {"client", ", from"}};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        fprintf(out, "%s ", keys[i][1]);
        print_word(out, hold, keys[i][0]);
    }
    fputs("\n", out);
}

static void print_rule(FILE *out, const json_t *hold)
{
    heading(out, "Rule");
    fputs("  ", out);
    print_word(out, hold, "rule");
    fputs(": ", out);
    print_word(out, hold, "rule_text");
    fputc('\n', out);
    if (number(hold, "follows") > 0)
        fprintf(out, "  The same statement was executed before, as hold %" PRId64 ".\n",
                number(hold, "follows"));
    if (number(hold, "replaced_by") > 0)
        fprintf(out, "  It is held again as hold %" PRId64 ".\n", number(hold, "replaced_by"));
}

static void print_decision(FILE *out, const json_t *hold)
{
    if (number(hold, "quorum") > 1)
        fprintf(out, "  It needs %" PRId64 " approvals.\n", number(hold, "quorum"));
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(hold, "approvals"), i, item)
    {
        fprintf(out, "  approval %zu of %" PRId64 ": ", i + 1, number(hold, "quorum"));
        print_word(out, item, "by");
        fputc('\n', out);
    }
    item = json_object_get(hold, "decision");
    if (json_is_object(item)) {
        fputs("  ", out);
        print_word(out, item, "verdict");
        fputs(" by ", out);
        print_word(out, item, "by");
        print_if_any(out, ": ", item, "reason");
        fputc('\n', out);
    }
    item = json_object_get(hold, "outcome");
    if (json_is_object(item)) {
        print_if_any(out, "  ", item, "state");
        print_if_any(out, ": ", item, "tag");
        print_if_any(out, ": ", item, "error");
        fputc('\n', out);
    }
}

void hold_print(FILE *out, const json_t *hold, struct instant now)
{
    print_head(out, hold, now);
    print_effect(out, hold);
    print_statement(out, hold);
    print_rule(out, hold);
    print_decision(out, hold);
    fprintf(out, "\n%sDigest%s ", terminal_style(out, STYLE_BOLD),
            terminal_style(out, STYLE_PLAIN));
    print_word(out, hold, "digest");
    fputc('\n', out);
}

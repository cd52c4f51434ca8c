/*
 * page_rows.c - sampled rows: before and after, with what has changed in front and marked, by sign
 * and word before colour. Columns that stay as they are are folded.
 */
#include "proxy/review/page_parts.h"

#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"
#include "proxy/review/sample.h"

enum { OPEN_ROWS = 10, LONG_VALUE = 32, FOLDED_VALUE = 200, FOLDED_FRONT = 64, MARK_FROM = 12 };

/* A page may grow to this size before rows are left out. */
enum { ROOM = LIMIT_HTTP_ANSWER_BYTES / 2 };

enum columns { COLUMNS_ALL = 0, COLUMNS_CHANGED, COLUMNS_SAME };

struct row_table {
    const struct sample *sample;
    enum columns columns;
    size_t from;
    size_t to;
    const char *label;
    struct text table;
};

/* --- values ----------------------------------------------------------------------------------- */

static void short_value(struct buffer *out, const struct sample_value *value)
{
    if (value->kind == SAMPLE_ABSENT)
        return;
    if (value->kind == SAMPLE_NULL)
        html(out, "<span class=\"null\">NULL</span>");
    else if (value->text.size == 0)
        html(out, "<span class=\"null\">empty text</span>");
    else
        html_text(out, value->text);
}

static void show_value(struct page *page, const struct sample_value *value)
{
    struct buffer *out = &page->out;
    if (value->kind != SAMPLE_TEXT || value->text.size <= FOLDED_VALUE) {
        short_value(out, value);
        return;
    }
    struct text front = text_cut(value->text, FOLDED_FRONT);
    struct text length = number_words(page->arena, (int64_t)utf8_length(value->text));
    html(out, "<details><summary>%.*s … <span class=\"len\">%.*s characters</span></summary>",
         TEXT_ARGS(front), TEXT_ARGS(length));
    html_text(out, value->text);
    html(out, "</details>");
}

static bool is_inside_character(struct text text, size_t at)
{
    return at < text.size && ((unsigned char)text.bytes[at] & 0xC0) == 0x80;
}

/* How many bytes both texts begin with, and end with behind that. */
static void common_ends(struct text a, struct text b, size_t *front, size_t *back)
{
    size_t least = a.size < b.size ? a.size : b.size;
    *front = *back = 0;
    while (*front < least && a.bytes[*front] == b.bytes[*front])
        ++*front;
    while (*front > 0 && (is_inside_character(a, *front) || is_inside_character(b, *front)))
        --*front;
    while (*back < least - *front &&
           a.bytes[a.size - 1 - *back] == b.bytes[b.size - 1 - *back])
        ++*back;
    while (*back > 0 && is_inside_character(a, a.size - *back))
        --*back;
}

/* In longer values what differs is marked. */
static void marked_value(struct page *page, const struct sample_value *value,
                         const struct sample_value *other)
{
    struct buffer *out = &page->out;
    size_t front = 0;
    size_t back = 0;
    bool both = value->kind == SAMPLE_TEXT && other->kind == SAMPLE_TEXT;
    bool marks = both && value->text.size >= MARK_FROM && other->text.size >= MARK_FROM &&
                 value->text.size <= FOLDED_VALUE;
    if (marks)
        common_ends(value->text, other->text, &front, &back);
    if (!marks || front + back == 0) {
        show_value(page, value);
        return;
    }
    struct text middle = {value->text.bytes + front, value->text.size - front - back};
    html_text(out, text_front(value->text, front));
    html(out, "<mark>%.*s</mark>", TEXT_ARGS(middle));
    html_text(out, text_behind(value->text, value->text.size - back));
}

/* --- cells ------------------------------------------------------------------------------------ */

static bool is_long(const struct sample_value *value)
{
    return value->kind == SAMPLE_TEXT && utf8_length(value->text) > LONG_VALUE;
}

static void changed_cell(struct page *page, const struct sample_value *was,
                         const struct sample_value *now)
{
    struct buffer *out = &page->out;
    html(out, "<td class=\"chg%s\">", is_long(was) || is_long(now) ? " long" : "");
    if (sample_values_equal(was, now)) {
        show_value(page, now);
        html(out, "</td>");
        return;
    }
    html(out, "<del><span class=\"vh\">was </span>");
    marked_value(page, was, now);
    html(out, "</del><ins><span class=\"vh\">now </span>");
    marked_value(page, now, was);
    html(out, "</ins></td>");
}

/* The row that there is: what was, else what is now. */
static const struct sample_value *known(const struct sample_row *row, size_t column)
{
    return row->has_old ? &row->old_values[column] : &row->new_values[column];
}

static void plain_cell(struct page *page, const struct sample_value *value)
{
    html(&page->out, is_long(value) ? "<td class=\"long\">" : "<td>");
    show_value(page, value);
    html(&page->out, "</td>");
}

static void sign(struct page *page, const struct sample_row *row)
{
    if (!row->has_new)
        html(&page->out, "<span class=\"del\" aria-hidden=\"true\">− </span>");
    if (!row->has_old)
        html(&page->out, "<span class=\"ins\" aria-hidden=\"true\">+ </span>");
}

static void key_cell(struct page *page, const struct sample_row *row, size_t column)
{
    struct buffer *out = &page->out;
    html(out, "<th scope=\"row\" class=\"key\">");
    sign(page, row);
    short_value(out, known(row, column));
    if (row->has_old && row->has_new &&
        !sample_values_equal(&row->old_values[column], &row->new_values[column])) {
        html(out, " → ");
        short_value(out, &row->new_values[column]);
    }
    html(out, "</th>");
}

static bool is_shown(const struct row_table *table, size_t column)
{
    bool changed = table->sample->changed[column];
    if (table->sample->key[column])
        return false; /* it stands in front */
    return table->columns == COLUMNS_ALL || changed == (table->columns == COLUMNS_CHANGED);
}

static bool has_key(const struct sample *sample)
{
    for (size_t i = 0; i < sample->column_count; i++)
        if (sample->key[i])
            return true;
    return false;
}

static void head_row(struct page *page, const struct row_table *table)
{
    const struct sample *sample = table->sample;
    struct buffer *out = &page->out;
    html(out, has_key(sample) ? "<thead><tr>"
                              : "<thead><tr><th scope=\"col\" class=\"key\">row</th>");
    for (size_t i = 0; i < sample->column_count; i++)
        if (sample->key[i])
            html(out, "<th scope=\"col\" class=\"key\">%.*s<small>key</small></th>",
                 TEXT_ARGS(sample->columns[i]));
    for (size_t i = 0; i < sample->column_count; i++) {
        if (!is_shown(table, i))
            continue;
        if (table->columns == COLUMNS_CHANGED)
            html(out, "<th scope=\"col\" class=\"chg\">%.*s<small>changed</small></th>",
                 TEXT_ARGS(sample->columns[i]));
        else
            html(out, "<th scope=\"col\">%.*s</th>", TEXT_ARGS(sample->columns[i]));
    }
    html(out, "</tr></thead>\n");
}

static void one_row(struct page *page, const struct row_table *table, const struct sample_row *row)
{
    const struct sample *sample = table->sample;
    html(&page->out, "<tr>");
    if (!has_key(sample)) { /* its place in the sample stands for it */
        html(&page->out, "<th scope=\"row\" class=\"key\">");
        sign(page, row);
        html(&page->out, "%ld</th>", (long)(row - sample->rows + 1));
    }
    for (size_t i = 0; i < sample->column_count; i++)
        if (sample->key[i])
            key_cell(page, row, i);
    for (size_t i = 0; i < sample->column_count; i++) {
        if (!is_shown(table, i))
            continue;
        if (table->columns == COLUMNS_CHANGED && row->has_old && row->has_new)
            changed_cell(page, &row->old_values[i], &row->new_values[i]);
        else
            plain_cell(page, known(row, i));
    }
    html(&page->out, "</tr>\n");
}

static void row_table(struct page *page, const struct row_table *table)
{
    struct buffer *out = &page->out;
    html(out, "<div class=\"scroll\" role=\"region\" aria-label=\"%s of %.*s\" tabindex=\"0\">\n"
              "<table class=\"data\">\n",
         table->label, TEXT_ARGS(table->table));
    head_row(page, table);
    html(out, "<tbody>\n");
    size_t at = table->from;
    for (; at < table->to && out->size < ROOM; at++)
        one_row(page, table, &table->sample->rows[at]);
    html(out, "</tbody>\n</table>\n</div>\n");
    if (at < table->to)
        html(out, "<p class=\"soft\">%ld more rows are too long to be shown here.</p>\n",
             (long)(table->to - at));
}

/* --- whole ------------------------------------------------------------------------------------ */

static size_t columns_of(const struct row_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->sample->column_count; i++)
        count += is_shown(table, i);
    return count;
}

/* The first rows open, the others folded. */
static void row_tables(struct page *page, struct row_table table)
{
    size_t count = table.sample->row_count;
    table.from = 0;
    table.to = count < OPEN_ROWS ? count : OPEN_ROWS;
    row_table(page, &table);
    if (count <= OPEN_ROWS)
        return;
    html(&page->out, "<details><summary>%ld more of these rows</summary>\n",
         (long)(count - OPEN_ROWS));
    table.from = OPEN_ROWS;
    table.to = count;
    row_table(page, &table);
    html(&page->out, "</details>\n");
}

static void same_columns(struct page *page, struct row_table table)
{
    table.columns = COLUMNS_SAME;
    table.label = "Columns that stay as they are";
    table.from = 0;
    table.to = table.sample->row_count;
    size_t count = columns_of(&table);
    if (count == 0)
        return;
    html(&page->out, "<details><summary>%ld %s as %s</summary>\n", (long)count,
         count == 1 ? "column that stays" : "columns that stay", count == 1 ? "it is" : "they are");
    row_table(page, &table);
    html(&page->out, "</details>\n");
}

static bool any_update(const struct sample *sample)
{
    for (size_t i = 0; i < sample->row_count; i++)
        if (sample->rows[i].has_old && sample->rows[i].has_new)
            return true;
    return false;
}

static void title(struct page *page, const struct summary *summary, const struct sample *sample,
                  struct text table)
{
    struct buffer *out = &page->out;
    int64_t whole = summary->effect.row_count;
    int64_t shown = (int64_t)sample->row_count;
    struct text number = number_words(page->arena, whole);
    if (shown < whole)
        html(out, "<h2 id=\"rows\">%ld of the %.*s rows of <code>", (long)shown, TEXT_ARGS(number));
    else if (shown == 1)
        html(out, "<h2 id=\"rows\">The row of <code>");
    else
        html(out, "<h2 id=\"rows\">All %.*s rows of <code>", TEXT_ARGS(number));
    html_name(out, table);
    html(out, any_update(sample) ? "</code>, before and after</h2>\n" : "</code></h2>\n");
}

static void not_shown(struct page *page, const struct summary *summary, const struct sample *sample)
{
    int64_t whole = summary->effect.row_count;
    int64_t rest = whole - (int64_t)sample->row_count;
    if (rest <= 0)
        return;
    struct text number = number_words(page->arena, rest);
    struct text all = number_words(page->arena, whole);
    html(&page->out, "<p class=\"soft\">A random sample; %.*s are not shown. The release covers "
                     "exactly these %.*s.</p>\n",
         TEXT_ARGS(number), TEXT_ARGS(all));
}

static void decided_later(struct page *page, const struct effect *effect)
{
    if (effect->decided_later_count == 0)
        return;
    html(&page->out, "<p class=\"soft\">Decided when it runs, and not bound: ");
    for (size_t i = 0; i < effect->decided_later_count; i++)
        html(&page->out, i == 0 ? "<code>%.*s</code>" : ", <code>%.*s</code>",
             TEXT_ARGS(effect->decided_later[i]));
    html(&page->out, ".</p>\n");
}

void part_rows(struct page *page, const struct summary *summary)
{
    struct sample sample = sample_read(page->arena, summary->hold->effect);
    if (sample.row_count == 0 || summary->line_count == 0)
        return;
    struct row_table table = {.sample = &sample,
                              .table = summary->lines[0].table->table,
                              .label = "Rows",
                              .columns = any_update(&sample) ? COLUMNS_CHANGED : COLUMNS_ALL};
    html(&page->out, "<section aria-labelledby=\"rows\">\n");
    title(page, summary, &sample, table.table);
    row_tables(page, table);
    if (table.columns == COLUMNS_CHANGED)
        same_columns(page, table);
    not_shown(page, summary, &sample);
    decided_later(page, &summary->effect);
    html(&page->out, "</section>\n");
}

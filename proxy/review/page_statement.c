/*
 * page_statement.c - the statement as it will run, its values and settings, and its plan.
 *
 * Lines are broken for the eye only: the text itself is on one line, and stays as it is.
 */
#include "proxy/review/page_parts.h"

#include "parser/highlight.h"
#include "proxy/base/limits.h"
#include "proxy/base/unicode.h"
#include "proxy/review/plan.h"

enum { OPEN_LINES = 30, LONG_VALUE = 32 };

static const char *const piece_classes[] = {
    [PIECE_PLAIN] = NULL, [PIECE_KEYWORD] = "k",   [PIECE_STRING] = "s",
    [PIECE_NUMBER] = "n", [PIECE_PARAMETER] = "p",
};

static void piece(struct buffer *out, const struct piece *piece)
{
    const char *class = piece_classes[piece->kind];
    if (piece->break_indent < 0 && piece->space)
        html(out, " ");
    if (class != NULL)
        html(out, "<span class=\"%s\">", class);
    html_text(out, piece->text);
    if (class != NULL)
        html(out, "</span>");
}

static void new_line(struct buffer *out, int indent)
{
    html(out, "\n");
    for (int i = 0; i < indent; i++)
        html(out, " ");
}

static size_t count_lines(const struct pieces *pieces)
{
    size_t lines = 1;
    for (size_t i = 0; i < pieces->count; i++)
        lines += pieces->items[i].break_indent >= 0;
    return lines;
}

static void statement_text(struct page *page, struct text statement)
{
    struct buffer *out = &page->out;
    struct pieces pieces = highlight(page->arena, statement);
    size_t lines = count_lines(&pieces);
    size_t line = 1;
    html(out, "<pre><code>");
    for (size_t i = 0; i < pieces.count; i++) {
        bool breaks = pieces.items[i].break_indent >= 0;
        line += breaks;
        if (breaks && line == OPEN_LINES + 1)
            html(out,
                 "</code></pre>\n<details><summary>%ld more lines of %ld</summary>"
                 "<pre><code>",
                 (long)(lines - OPEN_LINES), (long)lines);
        else if (breaks)
            new_line(out, pieces.items[i].break_indent);
        piece(out, &pieces.items[i]);
    }
    html(out, lines > OPEN_LINES ? "</code></pre></details>\n" : "</code></pre>\n");
}

/* Its line breaks are lines; everything else in it is shown as what it is. */
static void lines(struct buffer *out, struct text text)
{
    size_t start = 0;
    for (size_t at = 0; at <= text.size; at++) {
        if (at < text.size && text.bytes[at] != '\n')
            continue;
        html_text(out, (struct text){text.bytes + start, at - start});
        if (at < text.size)
            html(out, "\n");
        start = at + 1;
    }
}

/* The data of a COPY: nobody can say what it does without having seen it. */
static void copy_data(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    struct text head = hold->copy_head, rest = TEXT("");
    if (hold->copy_sha256.size == 0)
        return;
    struct text bytes = number_words(page->arena, hold->copy_bytes);
    struct text shown = number_words(page->arena, (int64_t)head.size);
    html(out,
         "<section aria-labelledby=\"data\">\n<h2 id=\"data\">The data it loads</h2>\n"
         "<p class=\"soft\">%.*s bytes",
         TEXT_ARGS(bytes));
    if ((int64_t)head.size < hold->copy_bytes)
        html(out, ", of which <strong>only the first %.*s can be shown</strong>", TEXT_ARGS(shown));
    html(out, ". An agent has written them.</p>\n");
    size_t line = 0;
    for (size_t at = 0; at < head.size && rest.size == 0; at++)
        if (head.bytes[at] == '\n' && ++line == OPEN_LINES) {
            rest = text_behind(head, at + 1);
            head.size = at;
        }
    html(out, "<pre><code>");
    lines(out, head);
    html(out, "</code></pre>\n");
    if (rest.size > 0) {
        html(out, "<details><summary>The lines behind these %ld</summary><pre><code>",
             (long)OPEN_LINES);
        lines(out, rest);
        html(out, "</code></pre></details>\n");
    }
    html(out, "<p class=\"soft\">SHA-256 <code>%.*s</code></p>\n</section>\n",
         TEXT_ARGS(hold->copy_sha256));
}

static void value_row(struct page *page, size_t number, const struct hold_value *value)
{
    struct buffer *out = &page->out;
    bool is_long = !value->is_null && utf8_length(value->text) > LONG_VALUE;
    html(out, "<tr><th scope=\"row\">$%ld</th><td class=\"%s\">", (long)number,
         is_long ? "long" : "");
    if (value->is_null)
        html(out, "<span class=\"null\">NULL</span>");
    else if (value->text.size == 0)
        html(out, "<span class=\"null\">empty text</span>");
    else
        html_text(out, value->text);
    html(out, "</td><td>%.*s</td></tr>\n", TEXT_ARGS(value->type));
}

static void values(struct page *page, const struct hold *hold)
{
    if (hold->value_count == 0)
        return;
    html(&page->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Values\">"
                     "<table class=\"data vals\">\n<caption>Values bound to it</caption>\n"
                     "<thead><tr><th scope=\"col\">Place</th><th scope=\"col\">Value</th>"
                     "<th scope=\"col\">Type</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < hold->value_count; i++)
        value_row(page, i + 1, &hold->values[i]);
    html(&page->out, "</tbody>\n</table></div>\n");
}

static void settings(struct page *page, const struct hold *hold)
{
    if (hold->setting_count == 0)
        return;
    html(&page->out, "<details><summary>Settings it runs under (%ld)</summary>\n<pre><code>",
         (long)hold->setting_count);
    for (size_t i = 0; i < hold->setting_count; i++)
        html(&page->out, i == 0 ? "%.*s = %.*s" : "\n%.*s = %.*s",
             TEXT_ARGS(hold->settings[i].name), TEXT_ARGS(hold->settings[i].value));
    html(&page->out, "</code></pre></details>\n");
}

static void plan(struct page *page, struct text text)
{
    struct buffer *out = &page->out;
    struct buffer known;
    if (text.size == 0)
        return;
    buffer_init(&known, LIMIT_PLAN_BYTES);
    html(out, "<details><summary>Plan</summary><pre><code>");
    lines(out, plan_lines(&known, text) && !known.overflow ? buffer_text(&known) : text);
    html(out, "</code></pre></details>\n");
    buffer_release(&known);
}

void part_statement(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    html(out, "<section aria-labelledby=\"stmt\">\n<h2 id=\"stmt\">The statement, as pgwicket runs "
              "it</h2>\n");
    if (hold->template.size > 0)
        html(out, "<p class=\"soft\">Template <code>%.*s</code> of the policy.</p>\n",
             TEXT_ARGS(hold->template));
    statement_text(page, hold->statement);
    html(out, "<p class=\"soft\">%.*s characters. <a href=\"/holds/%ld/statement\">As plain text</a></p>\n",
         TEXT_ARGS(number_words(page->arena, (int64_t)utf8_length(hold->statement))), (long)hold->id);
    values(page, hold);
    settings(page, hold);
    plan(page, hold->plan);
    html(out, "</section>\n");
    copy_data(page, hold);
}

/* page_effect.c - what a held statement does, table by table and object by object. */
#include "proxy/review/page_parts.h"

enum { BAR_FROM = 5, LINES_MAX = 200 };

static void append_upper(struct buffer *out, struct text words)
{
    for (size_t i = 0; i < words.size; i++) {
        char letter[2] = {words.bytes[i], '\0'};
        if (letter[0] >= 'a' && letter[0] <= 'z')
            letter[0] = (char)(letter[0] - 'a' + 'A');
        html(out, "%s", letter);
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Which of the foreign key's two actions it was. */
static const char *event_of(const struct change_line *line, const struct hold *hold)
{
    if (line->deed == DEED_DELETE)
        return "DELETE";
    if (text_is(line->table->action, "cascade"))
        return "UPDATE";
    return text_is(hold->verb, "update") ? "UPDATE" : "DELETE";
}

static void how_reached(struct page *page, const struct change_line *line, const struct hold *hold)
{
    struct buffer *out = &page->out;
    switch (line->table->via) {
    case VIA_TARGET:
        html(out, "target of the statement");
        break;
    case VIA_CASCADE:
        html(out, "cascade: <code>");
        html_name(out, line->table->constraint);
        html(out, "</code> ON %s ", event_of(line, hold));
        append_upper(out, line->table->action);
        break;
    case VIA_TRIGGER:
        html(out, "written by a trigger, rule or function");
        break;
    }
}

/* The effect has its triggers as "shop.orders: name, function in language". */
static void own_triggers(struct page *page, const struct summary *summary, struct text table)
{
    const struct effect *effect = &summary->effect;
    for (size_t i = 0; i < effect->trigger_count; i++) {
        struct text trigger = effect->triggers[i], front = {trigger.bytes, table.size};
        if (trigger.size < table.size + 2 || !text_equal(front, table) ||
            front.bytes[table.size] != ':')
            continue;
        html(&page->out, "; has trigger <code>");
        html_text(&page->out, text_behind(trigger, table.size + 2));
        html(&page->out, "</code>");
    }
}

static void bar(struct page *page, int64_t part, int64_t whole)
{
    int64_t share = whole > 0 ? part * 100 / whole : 0;
    if (share >= BAR_FROM)
        html(&page->out,
             "<svg class=\"bar\" viewBox=\"0 0 100 3\" preserveAspectRatio=\"none\" "
             "aria-hidden=\"true\"><rect width=\"%ld\" height=\"3\"/></svg>",
             (long)(share > 100 ? 100 : share));
}

static void share_cell(struct page *page, const struct change_line *line)
{
    int64_t total = line->table->total;
    html(&page->out, "<td class=\"share\"><small>");
    if (total > 0 && line->deed != DEED_INSERT && line->rows <= total) {
        struct text part = number_words(page->arena, line->rows);
        struct text whole = number_words(page->arena, total);
        struct text share = share_words(page->arena, line->rows, total);
        html(&page->out, "%.*s of about %.*s (%.*s)</small>", TEXT_ARGS(part), TEXT_ARGS(whole),
             TEXT_ARGS(share));
        bar(page, line->rows, total);
        html(&page->out, "</td>\n");
    } else {
        html(&page->out, "</small></td>\n");
    }
}

static const char *depth_class(enum effect_via via, int depth)
{
    if (via == VIA_TARGET)
        return "";
    return via == VIA_CASCADE && depth > 1 ? "d2" : "d1";
}

static void table_row(struct page *page, const struct change_line *line,
                      const struct summary *summary)
{
    struct buffer *out = &page->out;
    struct text rows = number_words(page->arena, line->rows);
    html(out, "<tr class=\"%s\">\n<td class=\"num %s\"><b>%.*s</b> %s</td>\n",
         depth_class(line->table->via, line->table->depth), deed_class(line->deed), TEXT_ARGS(rows),
         deed_word(line->deed, DONE));
    html(out, "<th scope=\"row\" class=\"name\">");
    if (line->table->via != VIA_TARGET)
        html(out, "<i aria-hidden=\"true\">↳</i>");
    html(out, "<code>");
    html_name(out, line->table->table);
    html(out, "</code><small>");
    how_reached(page, line, summary->hold);
    own_triggers(page, summary, line->table->table);
    html(out, "</small></th>\n");
    share_cell(page, line);
    html(out, "</tr>\n");
}

static void tables(struct page *page, const struct summary *summary)
{
    html(&page->out, "<table class=\"effect\">\n<thead><tr><th scope=\"col\" class=\"num\">Rows"
                     "</th><th scope=\"col\">Table, and how it is reached</th>"
                     "<th scope=\"col\">Part of the table</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < summary->line_count && i < LINES_MAX; i++)
        table_row(page, &summary->lines[i], summary);
    html(&page->out, "</tbody>\n</table>\n");
    if (summary->line_count > LINES_MAX)
        html(&page->out,
             "<p class=\"soft\">%ld more lines are not shown; the sums count them."
             "</p>\n",
             (long)(summary->line_count - LINES_MAX));
}

/* --- objects ---------------------------------------------------------------------------------- */

static void object_how(struct page *page, const struct effect_object *object)
{
    struct buffer *out = &page->out;
    if (text_is(object->via, "target"))
        html(out, "%.*s; target of the statement", TEXT_ARGS(object->kind));
    else if (text_is(object->via, "part"))
        html(out, "part of %.*s", TEXT_ARGS(object->parent));
    else if (object->parent.size > 0)
        html(out, "CASCADE: by <code>%.*s</code>", TEXT_ARGS(object->parent));
    else
        html(out, "CASCADE");
    if (object->detail.size > 0)
        html(out, "; %.*s", TEXT_ARGS(object->detail));
}

static bool loses_rows(const struct effect_object *object)
{
    enum deed deed = deed_of_change(object->change);
    return object->rows > 0 && (deed == DEED_DROP || deed == DEED_EMPTY);
}

static void object_row(struct page *page, const struct effect_object *object)
{
    struct buffer *out = &page->out;
    bool target = text_is(object->via, "target");
    struct text rows = number_words(page->arena, object->rows);
    html(out, "<tr class=\"%s\">\n<td class=\"num %s\">", target ? "" : "d1",
         deed_class(deed_of_change(object->change)));
    if (loses_rows(object))
        html(out, "<b>%.*s</b> rows lost</td>\n", TEXT_ARGS(rows));
    else
        html(out, "<b>%.*s</b> %.*s</td>\n", TEXT_ARGS(object->kind), TEXT_ARGS(object->change));
    html(out, "<th scope=\"row\" class=\"name\">");
    if (!target)
        html(out, "<i aria-hidden=\"true\">↳</i>");
    html(out, "<code>");
    html_name(out, object->name);
    html(out, "</code><small>");
    object_how(page, object);
    struct text size = object->bytes >= 0 ? size_words(page->arena, object->bytes) : TEXT("");
    html(out, "</small></th>\n<td class=\"share\"><small>%s%.*s</small></td>\n</tr>\n",
         loses_rows(object) ? "all of it, " : "", TEXT_ARGS(size));
}

static void objects(struct page *page, const struct summary *summary)
{
    const struct effect *effect = &summary->effect;
    html(&page->out, "<table class=\"effect\">\n<thead><tr><th scope=\"col\" class=\"num\">What"
                     "</th><th scope=\"col\">Object, and how it is reached</th>"
                     "<th scope=\"col\">Size</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < effect->object_count && i < LINES_MAX; i++)
        object_row(page, &effect->objects[i]);
    html(&page->out, "</tbody>\n</table>\n");
    if (effect->object_count > LINES_MAX)
        html(&page->out,
             "<p class=\"soft\">%ld more objects are not shown; the sums count them."
             "</p>\n",
             (long)(effect->object_count - LINES_MAX));
}

static void locks(struct page *page, const struct effect *effect)
{
    struct buffer *out = &page->out;
    if (effect->lock_count == 0 || effect->object_count == 0)
        return; /* writing rows takes what writing rows takes */
    html(out, "<details><summary>Locks it takes while it runs (%ld)</summary>\n<ul>",
         (long)effect->lock_count);
    for (size_t i = 0; i < effect->lock_count && i < LINES_MAX; i++)
        html(out, "<li><code>%.*s</code>: %.*s</li>", TEXT_ARGS(effect->locks[i].table),
             TEXT_ARGS(effect->locks[i].mode));
    html(out, "</ul></details>\n");
}

/* --- sentences -------------------------------------------------------------------------------- */

static void far_from_estimate(struct page *page, const struct summary *summary)
{
    struct text times = number_words(page->arena, (int64_t)summary->ratio);
    struct text expected = number_words(page->arena, (int64_t)summary->hold->estimate_rows);
    struct text found = rows_words(page->arena, summary->lines[0].rows);
    html(&page->out, "<section aria-labelledby=\"far\">\n");
    page_notice_begin(page, NOTICE_BAD, ICON_WARNING, "note");
    html(&page->out,
         "<h2 id=\"far\">%.*s times more rows than expected</h2><p>The planner expected %.*s; the "
         "rehearsal found %.*s. A condition that does not say what was meant looks like this.</p>",
         TEXT_ARGS(times), TEXT_ARGS(expected), TEXT_ARGS(found));
    page_notice_end(page);
    html(&page->out, "</section>\n");
}

static void rehearsed(struct page *page, const struct summary *summary)
{
    const struct hold *hold = summary->hold;
    struct text when = clock_words(page->arena, hold->created);
    double milliseconds = (double)summary->effect.duration_us / 1000;
    struct text took =
        arena_printf(page->arena, milliseconds < 10 ? "%.1f ms" : "%.0f ms", milliseconds);
    html(&page->out, "<p class=\"soft\">Rehearsed at %.*s UTC in %.*s and rolled back.",
         TEXT_ARGS(when), TEXT_ARGS(took));
    if (hold->estimate_rows >= 0 && summary->ratio <= 0) {
        struct text rows = rows_words(page->arena, (int64_t)hold->estimate_rows);
        html(&page->out, " The planner expected %.*s.", TEXT_ARGS(rows));
    }
    if (hold->copy_sha256.size > 0)
        html(&page->out, " Bound by counts, and to the very data that is shown below.");
    else if (summary->effect.bound == EFFECT_BY_COUNTS && summary->effect.object_count == 0)
        html(&page->out, "%s",
             summary->effect.fingerprint.size > 0
                 ? " The release is good for these rows, and of those that change with them for as "
                   "many, whichever they are."
                 : " Bound by counts: the release is good for as many rows, whichever they are.");
    html(&page->out, "</p>\n");
}

static void triggers(struct page *page, const struct effect *effect)
{
    if (effect->trigger_count == 0)
        return;
    html(&page->out, "<details><summary>Triggers on the tables it writes (%ld)</summary>\n<ul>",
         (long)effect->trigger_count);
    for (size_t i = 0; i < effect->trigger_count && i < LINES_MAX; i++)
        html(&page->out, "<li>%.*s</li>", TEXT_ARGS(effect->triggers[i]));
    html(&page->out, "</ul></details>\n");
}

/* Of the rehearsal nobody has got any. */
static void notifications(struct page *page, const struct effect *effect)
{
    if (effect->notify_count == 0)
        return;
    html(&page->out, "<p class=\"soft\">When it commits it may also send notifications, to whoever listens: code of ");
    for (size_t i = 0; i < effect->notify_count && i < LINES_MAX; i++)
        html(&page->out, "%s<code>%.*s</code>", i > 0 ? ", " : "", TEXT_ARGS(effect->notifies[i]));
    html(&page->out, " has a NOTIFY.</p>\n");
}

/* What the database said meanwhile: words of the tables' owners, or of an agent. */
static void notices(struct page *page, const struct effect *effect)
{
    if (effect->notice_count == 0)
        return;
    html(&page->out,
         "<details><summary>What the database said (%ld)</summary>\n"
         "<p class=\"soft\">An agent may have written it.</p>\n<ul>",
         (long)effect->notice_count);
    for (size_t i = 0; i < effect->notice_count; i++)
        html(&page->out, "<li><bdi>%.*s</bdi></li>", TEXT_ARGS(effect->notices[i]));
    html(&page->out, "</ul></details>\n");
}

/* --- drift ------------------------------------------------------------------------------------ */

static int64_t rows_of(const struct effect *effect, const struct change_line *line)
{
    for (size_t i = 0; i < effect->table_count; i++) {
        const struct effect_table *table = &effect->tables[i];
        if (text_equal(table->table, line->table->table))
            return line->deed == DEED_DELETE   ? table->deleted
                   : line->deed == DEED_UPDATE ? table->updated
                                               : table->inserted;
    }
    return 0;
}

static void drift_row(struct page *page, const struct change_line *line,
                      const struct effect *released)
{
    struct buffer *out = &page->out;
    int64_t before = rows_of(released, line);
    struct text now = number_words(page->arena, line->rows);
    struct text then = number_words(page->arena, before);
    int64_t more = line->rows - before;
    struct text difference = number_words(page->arena, more < 0 ? -more : more);
    html(out, "<tr class=\"%s\">\n<td class=\"num %s\"><b>%.*s</b> %s</td>\n",
         depth_class(line->table->via, line->table->depth), more != 0 ? deed_class(line->deed) : "",
         TEXT_ARGS(now), deed_word(line->deed, DONE));
    html(out, "<th scope=\"row\" class=\"name\"><code>");
    html_name(out, line->table->table);
    html(out, "</code></th>\n<td class=\"share\">released: <b>%.*s</b><small>", TEXT_ARGS(then));
    if (more == 0)
        html(out, "as released</small></td>\n</tr>\n");
    else
        html(out, "%.*s %s</small></td>\n</tr>\n", TEXT_ARGS(difference),
             more > 0 ? "more" : "fewer");
}

static void drift(struct page *page, const struct summary *summary)
{
    struct summary found;
    if (!summary_of_run(&found, page->arena, summary->hold))
        return;
    struct text words = effect_difference(page->arena, &summary->effect, &found.effect, true);
    html(&page->out,
         "<section aria-labelledby=\"drift\">\n<h2 id=\"drift\">Released, and met</h2>\n"
         "<table class=\"effect\">\n<thead><tr><th scope=\"col\" class=\"num\">When it "
         "ran</th><th scope=\"col\">Table</th><th scope=\"col\">Released</th></tr>"
         "</thead>\n<tbody>\n");
    for (size_t i = 0; i < found.line_count && i < LINES_MAX; i++)
        drift_row(page, &found.lines[i], &summary->effect);
    html(&page->out, "</tbody>\n</table>\n<p class=\"soft\">%.*s</p>\n</section>\n",
         TEXT_ARGS(words));
}

/* --- whole ------------------------------------------------------------------------------------ */

static void not_rehearsed(struct page *page, const struct summary *summary)
{
    static const char prefix[] = "not rehearsed: ";
    struct text why = summary->effect.why;
    if (text_starts_with(why, prefix))
        why = text_behind(why, sizeof prefix - 1);
    html(&page->out, "<section aria-labelledby=\"effect\">\n");
    page_notice_begin(page, NOTICE_BAD, ICON_WARNING, "note");
    html(&page->out,
         "<h2 id=\"effect\">Not rehearsed</h2><p>%.*s. A release is bound to the statement and its "
         "values only: <strong>whatever it changes is then committed.</strong></p>",
         TEXT_ARGS(why));
    page_notice_end(page);
    html(&page->out, "</section>\n");
}

void part_effect(struct page *page, const struct summary *summary)
{
    const struct effect *effect = &summary->effect;
    if (effect->bound == EFFECT_UNKNOWN) {
        not_rehearsed(page, summary);
        return;
    }
    drift(page, summary);
    if (summary->ratio > 0 && summary->line_count > 0)
        far_from_estimate(page, summary);
    html(&page->out, "<section aria-labelledby=\"effect\">\n<h2 id=\"effect\">What it does</h2>\n");
    if (effect->object_count > 0)
        objects(page, summary);
    if (summary->line_count > 0)
        tables(page, summary);
    rehearsed(page, summary);
    locks(page, effect);
    triggers(page, effect);
    notifications(page, effect);
    notices(page, effect);
    html(&page->out, "</section>\n");
}

static void residue(struct page *page, const struct effect_residue *residue)
{
    struct buffer *out = &page->out;
    struct text by = number_words(page->arena, residue->by);
    if (text_is(residue->what, "sequence") && residue->by == 0)
        html(out,
             "<li>Sequence <code>%.*s</code> may have moved on; by how much is not known, as the agent’s role may "
             "not read it. That stays, also if you refuse.</li>",
             TEXT_ARGS(residue->name));
    else if (text_is(residue->what, "sequence"))
        html(out,
             "<li>Sequence <code>%.*s</code> has moved on by %.*s. That stays, also if you "
             "refuse.</li>",
             TEXT_ARGS(residue->name), TEXT_ARGS(by));
    else if (text_is(residue->what, "lastval"))
        html(out, "<li>What <code>lastval()</code> gives in the agent’s session is another value "
                  "than before.</li>");
    else
        html(out, "<li>%.*s %.*s</li>", TEXT_ARGS(residue->what), TEXT_ARGS(residue->name));
}

void part_not_undone(struct page *page, const struct summary *summary)
{
    const struct effect *effect = &summary->effect;
    if (effect->not_undone_count == 0)
        return;
    html(&page->out, "<section aria-labelledby=\"nu\">\n");
    page_notice_begin(page, NOTICE_WARN, ICON_WARNING, "note");
    html(&page->out, "<h2 id=\"nu\">What a rehearsal cannot undo</h2>\n<ul>");
    for (size_t i = 0; i < effect->not_undone_count; i++)
        residue(page, &effect->not_undone[i]);
    html(&page->out, "</ul>");
    page_notice_end(page);
    html(&page->out, "</section>\n");
}

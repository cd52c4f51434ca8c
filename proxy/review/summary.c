/*
 * summary.c - see summary.h. Names are never made plural or pretty: what is shown is what the
 * database calls it. An effect that cannot be read is an unknown one.
 */
#include "proxy/review/summary.h"

#include "proxy/base/limits.h"
#include "proxy/review/html.h"
#include "proxy/review/plan.h"
#include "proxy/review/words.h"

enum { MANY_ROWS = 1000, FAR_RATIO = 10, KINDS_MAX = 100 };

static const struct {
    const char *words[TENSE_COUNT];
    const char *class;
} deeds[DEED_COUNT] = {
    [DEED_NONE] = {{"Runs", "Ran", "Would have run", "May have run", "run", "run"}, "upd"},
    [DEED_DELETE] = {{"Deletes", "Deleted", "Would have deleted", "May have deleted", "delete",
                      "deleted"},
                     "del"},
    [DEED_UPDATE] = {{"Changes", "Changed", "Would have changed", "May have changed", "change",
                      "changed"},
                     "upd"},
    [DEED_INSERT] = {{"Inserts", "Inserted", "Would have inserted", "May have inserted", "insert",
                      "inserted"},
                     "ins"},
    [DEED_EMPTY] = {{"Empties", "Emptied", "Would have emptied", "May have emptied", "empty",
                     "emptied"},
                    "del"},
    [DEED_DROP] = {{"Drops", "Dropped", "Would have dropped", "May have dropped", "drop",
                    "dropped"},
                   "del"},
    [DEED_ALTER] = {{"Alters", "Altered", "Would have altered", "May have altered", "alter",
                     "altered"},
                    "upd"},
    [DEED_REWRITE] = {{"Rewrites", "Rewrote", "Would have rewritten", "May have rewritten",
                       "rewrite", "rewritten"},
                      "upd"},
    [DEED_RESTART] = {{"Restarts", "Restarted", "Would have restarted", "May have restarted",
                       "restart", "restarted"},
                      "upd"},
    [DEED_CREATE] = {{"Creates", "Created", "Would have created", "May have created", "create",
                      "created"},
                     "ins"},
};

const char *deed_word(enum deed deed, enum tense tense)
{
    return deeds[deed].words[tense];
}

const char *deed_class(enum deed deed)
{
    return deeds[deed].class;
}

enum deed deed_of_change(struct text change)
{
    for (enum deed deed = DEED_EMPTY; deed < DEED_COUNT; deed++)
        if (text_is(change, deeds[deed].words[DONE]))
            return deed;
    return DEED_ALTER;
}

static enum tense tense_of(enum hold_state state)
{
    switch (state) {
    case HOLD_PENDING:
    case HOLD_RELEASED:
    case HOLD_RUNNING:
        return WILL;
    case HOLD_EXECUTED:
        return DID;
    case HOLD_UNKNOWN:
        return MAY_HAVE;
    default:
        return WOULD;
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

struct lines {
    struct arena *arena;
    void *items;
    size_t count;
    size_t capacity;
};

static void add_line(struct lines *lines, const struct effect_table *table, enum deed deed,
                     int64_t rows, bool also_none)
{
    if (rows == 0 && !also_none)
        return;
    struct change_line *line =
        arena_push(lines->arena, &lines->items, &lines->count, &lines->capacity, sizeof *line);
    *line = (struct change_line){deed, rows, table};
}

static enum deed deed_of_verb(struct text verb)
{
    if (text_is_ignoring_case(verb, "delete"))
        return DEED_DELETE;
    if (text_is_ignoring_case(verb, "insert"))
        return DEED_INSERT;
    return DEED_UPDATE;
}

static void add_table(struct lines *lines, const struct effect_table *table, enum deed verb)
{
    bool nothing = table->deleted == 0 && table->updated == 0 && table->inserted == 0;
    bool none = nothing && table->via == VIA_TARGET;
    add_line(lines, table, DEED_DELETE, table->deleted, none && verb == DEED_DELETE);
    add_line(lines, table, DEED_UPDATE, table->updated, none && verb == DEED_UPDATE);
    add_line(lines, table, DEED_INSERT, table->inserted, none && verb == DEED_INSERT);
}

/* The headline is the target's line with the statement's own verb, else the target's first. */
static void put_headline_first(struct change_line *lines, size_t count, enum deed verb)
{
    size_t best = 0;
    for (size_t i = count; i > 0; i--)
        if (lines[i - 1].table->via == VIA_TARGET)
            best = i - 1;
    for (size_t i = count; i > 0; i--)
        if (lines[i - 1].table->via == VIA_TARGET && lines[i - 1].deed == verb)
            best = i - 1;
    struct change_line headline = lines[best];
    for (size_t i = best; i > 0; i--)
        lines[i] = lines[i - 1];
    lines[0] = headline;
}

static void make_lines(struct summary *summary, struct arena *arena)
{
    const struct effect *effect = &summary->effect;
    enum deed verb = deed_of_verb(summary->hold->verb);
    struct lines lines = {.arena = arena};
    for (size_t i = 0; i < effect->table_count; i++) {
        size_t before = lines.count;
        add_table(&lines, &effect->tables[i], verb);
        summary->tables += lines.count > before;
    }
    if (lines.count > 0)
        put_headline_first(lines.items, lines.count, verb);
    summary->lines = lines.items;
    summary->line_count = lines.count;
}

/* --- sums ------------------------------------------------------------------------------------- */

static void add_up(struct summary *summary)
{
    const struct effect *effect = &summary->effect;
    for (size_t i = 0; i < summary->line_count; i++) {
        summary->totals[summary->lines[i].deed] += summary->lines[i].rows;
        summary->all_rows += summary->lines[i].rows;
    }
    for (size_t i = 0; i < effect->object_count; i++) {
        enum deed deed = deed_of_change(effect->objects[i].change);
        summary->totals[deed]++;
        if (effect->objects[i].rows > 0 && (deed == DEED_DROP || deed == DEED_EMPTY))
            summary->lost_rows += effect->objects[i].rows;
    }
    summary->all_rows += summary->lost_rows;
}

static double ratio_of(const struct summary *summary)
{
    int64_t rows = 0;
    for (size_t i = 0; i < summary->line_count; i++)
        if (summary->lines[i].table->via == VIA_TARGET)
            rows += summary->lines[i].rows;
    double expected = summary->hold->estimate_rows;
    if (expected < 0 || summary->effect.bound == EFFECT_UNKNOWN)
        return 0;
    double ratio = (double)rows / (expected < 1 ? 1 : expected);
    return ratio >= FAR_RATIO ? ratio : 0;
}

static enum confirmation confirmation_of(const struct summary *summary)
{
    if (summary->effect.bound == EFFECT_UNKNOWN)
        return CONFIRM_UNKNOWN;
    bool many = summary->all_rows > MANY_ROWS || summary->lost_rows > 0 || summary->ratio > 0;
    return many ? CONFIRM_NUMBER : CONFIRM_NOTHING;
}

void summary_make(struct summary *summary, struct arena *arena, const struct hold *hold)
{
    *summary = (struct summary){.hold = hold, .tense = tense_of(hold->state)};
    if (!effect_from_json(arena, hold->effect, &summary->effect))
        summary->effect = (struct effect){.row_count = -1,
                                          .why = TEXT("the stored effect cannot be read")};
    make_lines(summary, arena);
    add_up(summary);
    summary->ratio = ratio_of(summary);
    summary->confirmation = confirmation_of(summary);
    summary->loses = summary->effect.bound == EFFECT_UNKNOWN || summary->totals[DEED_DELETE] > 0 ||
                     summary->totals[DEED_DROP] > 0 || summary->totals[DEED_EMPTY] > 0;
}

bool summary_of_run(struct summary *summary, struct arena *arena, const struct hold *hold)
{
    struct hold *met = arena_array(arena, 1, sizeof *met);
    if (hold->state != HOLD_DRIFTED || hold->outcome_effect.size == 0)
        return false;
    *met = *hold;
    met->effect = hold->outcome_effect;
    summary_make(summary, arena, met);
    return summary->effect.bound != EFFECT_UNKNOWN;
}

/* --- the headline ----------------------------------------------------------------------------- */

static bool is_unknown(const struct summary *summary)
{
    return summary->effect.bound == EFFECT_UNKNOWN;
}

static const struct effect_object *target_object(const struct summary *summary)
{
    const struct effect *effect = &summary->effect;
    for (size_t i = 0; i < effect->object_count; i++)
        if (text_is(effect->objects[i].via, "target"))
            return &effect->objects[i];
    return effect->object_count > 0 ? &effect->objects[0] : NULL;
}

static struct text upper(struct arena *arena, struct text text)
{
    char *bytes = arena_allocate(arena, text.size + 1);
    for (size_t i = 0; i < text.size; i++) {
        char byte = text.bytes[i];
        bytes[i] = byte >= 'a' && byte <= 'z' ? (char)(byte - 'a' + 'A') : byte;
    }
    return (struct text){bytes, text.size};
}

static void object_headline(const struct summary *summary, struct arena *arena,
                            const struct effect_object *object, struct buffer *out)
{
    enum deed deed = deed_of_change(object->change);
    html(out, "%s %.*s <code>%.*s</code>", deed_word(deed, summary->tense),
         TEXT_ARGS(object->kind), TEXT_ARGS(object->name));
    if (object->rows > 0 && (deed == DEED_DROP || deed == DEED_EMPTY)) {
        struct text rows = rows_words(arena, object->rows);
        html(out, " with <b class=\"%s\">%.*s</b>", deed_class(deed), TEXT_ARGS(rows));
    }
}

static void line_headline(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    const struct change_line *line = &summary->lines[0];
    struct text rows = rows_words(arena, line->rows);
    html(out, "%s <b class=\"%s\">%.*s</b> %s <code>%.*s</code>",
         deed_word(line->deed, summary->tense), deed_class(line->deed), TEXT_ARGS(rows),
         line->deed == DEED_INSERT ? "into" : "of", TEXT_ARGS(line->table->table));
}

static void unknown_headline(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    struct text verb = upper(arena, summary->hold->verb);
    struct text target = plan_target(arena, summary->hold->plan);
    html(out, "Effect unknown: %.*s", TEXT_ARGS(verb));
    if (target.size > 0)
        html(out, " of <code>%.*s</code>", TEXT_ARGS(target));
    if (summary->hold->estimate_rows >= 1) {
        struct text rows = rows_words(arena, (int64_t)summary->hold->estimate_rows);
        html(out, ", estimated <b>%.*s</b>", TEXT_ARGS(rows));
    }
}

void summary_headline_html(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    const struct effect_object *object = target_object(summary);
    struct text verb = upper(arena, summary->hold->verb);
    if (is_unknown(summary))
        unknown_headline(summary, arena, out);
    else if (object != NULL)
        object_headline(summary, arena, object, out);
    else if (summary->line_count > 0)
        line_headline(summary, arena, out);
    else
        html(out, "%.*s changes <b>no rows</b>", TEXT_ARGS(verb));
}

struct text summary_headline(const struct summary *summary, struct arena *arena)
{
    const struct effect_object *object = target_object(summary);
    const struct change_line *line = summary->lines;
    struct text verb = upper(arena, summary->hold->verb);
    double expected = summary->hold->estimate_rows;
    if (is_unknown(summary)) {
        struct text target = plan_target(arena, summary->hold->plan);
        struct text rows =
            expected >= 1 ? rows_words(arena, (int64_t)expected) : TEXT("");
        return arena_printf(arena, "Effect unknown: %.*s%s%.*s%s%.*s", TEXT_ARGS(verb),
                            target.size > 0 ? " of " : "", TEXT_ARGS(target),
                            rows.size > 0 ? ", estimated " : "", TEXT_ARGS(rows));
    }
    if (object != NULL) {
        enum deed deed = deed_of_change(object->change);
        bool loses = object->rows > 0 && (deed == DEED_DROP || deed == DEED_EMPTY);
        struct text rows = loses ? rows_words(arena, object->rows) : TEXT("");
        return arena_printf(arena, "%s %.*s %.*s%s%.*s", deed_word(deed, summary->tense),
                            TEXT_ARGS(object->kind), TEXT_ARGS(object->name),
                            loses ? " with " : "", TEXT_ARGS(rows));
    }
    if (summary->line_count > 0)
        return arena_printf(arena, "%s %.*s %s %.*s", deed_word(line->deed, summary->tense),
                            TEXT_ARGS(rows_words(arena, line->rows)),
                            line->deed == DEED_INSERT ? "into" : "of",
                            TEXT_ARGS(line->table->table));
    return arena_printf(arena, "%.*s changes no rows", TEXT_ARGS(verb));
}

/* --- what follows ----------------------------------------------------------------------------- */

/* The lines behind the headline with one deed: how many, their rows, the first two. */
struct group {
    int64_t rows;
    size_t lines;
    const struct change_line *first[2];
};

static struct group group_of(const struct summary *summary, enum deed deed)
{
    struct group group = {0};
    for (size_t i = 1; i < summary->line_count; i++) {
        const struct change_line *line = &summary->lines[i];
        if (line->deed != deed)
            continue;
        if (group.lines < 2)
            group.first[group.lines] = line;
        group.lines++;
        group.rows += line->rows;
    }
    return group;
}

static void rows_of_table(struct buffer *out, struct arena *arena, const struct change_line *line)
{
    struct text rows = rows_words(arena, line->rows);
    html(out, "<b>%.*s</b> %s <code>", TEXT_ARGS(rows), line->deed == DEED_INSERT ? "into" : "of");
    html_name(out, line->table->table);
    html(out, "</code>");
}

static struct text tables_words(struct arena *arena, size_t count)
{
    static const char *const small[] = {"no", "one", "two", "three", "four", "five"};
    if (count < ARRAY_SIZE(small))
        return arena_printf(arena, "%s more %s", small[count], count == 1 ? "table" : "tables");
    return count_words(arena, (int64_t)count, "more table", "more tables");
}

/* "and with them 126 rows of a and 17 rows of b, and 12 rows of three more tables." */
static void same_deed(const struct group *group, struct arena *arena, bool one, struct buffer *out)
{
    html(out, "and with %s ", one ? "it" : "them");
    rows_of_table(out, arena, group->first[0]);
    if (group->lines > 1) {
        html(out, group->lines == 2 ? " and " : ", ");
        rows_of_table(out, arena, group->first[1]);
    }
    if (group->lines > 2) {
        int64_t rest = group->rows - group->first[0]->rows - group->first[1]->rows;
        struct text rows = rows_words(arena, rest);
        struct text tables = tables_words(arena, group->lines - 2);
        html(out, " and <b>%.*s</b> of %.*s", TEXT_ARGS(rows), TEXT_ARGS(tables));
    }
    html(out, ". ");
}

static size_t tables_of_other_deeds(const struct summary *summary)
{
    const struct effect_table *last = NULL;
    size_t count = 0;
    for (size_t i = 1; i < summary->line_count; i++) {
        if (summary->lines[i].deed == summary->lines[0].deed)
            continue;
        count += summary->lines[i].table != last;
        last = summary->lines[i].table;
    }
    return count;
}

/* "Changes 9 rows and inserts 42 in two more tables." */
static void other_deeds(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    bool begun = false;
    for (enum deed deed = DEED_DELETE; deed <= DEED_INSERT; deed++) {
        struct group group = group_of(summary, deed);
        if (group.lines == 0 || deed == summary->lines[0].deed)
            continue;
        struct text number = begun ? number_words(arena, group.rows)
                                   : rows_words(arena, group.rows);
        if (begun && summary->tense == WILL)
            html(out, " and %ss %.*s", deed_word(deed, BARE), TEXT_ARGS(number));
        else if (begun)
            html(out, " and %s %.*s", deed_word(deed, DONE), TEXT_ARGS(number));
        else
            html(out, "%s %.*s", deed_word(deed, summary->tense), TEXT_ARGS(number));
        begun = true;
    }
    size_t tables = tables_of_other_deeds(summary);
    struct text words = tables_words(arena, tables);
    if (begun)
        html(out, " in %.*s.", TEXT_ARGS(words));
}

/* One line only: it can be named. */
static bool one_other(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    const struct change_line *found = NULL;
    size_t count = 0;
    for (size_t i = 1; i < summary->line_count; i++)
        if (summary->lines[i].deed != summary->lines[0].deed) {
            found = &summary->lines[i];
            count++;
        }
    if (count != 1)
        return false;
    html(out, "%s ", deed_word(found->deed, summary->tense));
    rows_of_table(out, arena, found);
    html(out, ".");
    return true;
}

static size_t other_objects(const struct summary *summary)
{
    const struct effect_object *target = target_object(summary);
    size_t count = 0;
    for (size_t i = 0; i < summary->effect.object_count; i++)
        count += &summary->effect.objects[i] != target;
    return count;
}

static void objects_also(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    size_t others = other_objects(summary);
    struct text count = count_words(arena, (int64_t)others, "more object", "more objects");
    if (others > 0)
        html(out, "and with it <b>%.*s</b>, listed below. ", TEXT_ARGS(count));
    else
        html(out, "No other object is touched. ");
    if (summary->line_count > 0) {
        struct text rows = rows_words(arena, summary->all_rows - summary->lost_rows);
        html(out, "Besides, %.*s of %ld %s are written.", TEXT_ARGS(rows), (long)summary->tables,
             summary->tables == 1 ? "table" : "tables");
    }
}

void summary_also_html(const struct summary *summary, struct arena *arena, struct buffer *out)
{
    if (is_unknown(summary)) {
        html(out, "What it would really change, and what would follow in other tables, has not "
                  "been tried.");
        return;
    }
    if (summary->effect.object_count > 0) {
        objects_also(summary, arena, out);
        return;
    }
    if (summary->line_count < 2) {
        html(out, "No other table is touched.");
        return;
    }
    struct group same = group_of(summary, summary->lines[0].deed);
    if (same.lines > 0)
        same_deed(&same, arena, summary->lines[0].rows == 1, out);
    if (!one_other(summary, arena, out))
        other_deeds(summary, arena, out);
}

/* Kinds of the other objects with their numbers: "2 views, 1 index". */
static struct text kinds_words(const struct summary *summary, struct arena *arena)
{
    const struct effect *effect = &summary->effect;
    const struct effect_object *target = target_object(summary);
    struct text words = TEXT("");
    for (size_t i = 0; i < effect->object_count; i++) {
        struct text kind = effect->objects[i].kind;
        size_t count = 0;
        bool seen = false;
        for (size_t k = 0; k < effect->object_count; k++) {
            if (&effect->objects[k] == target || !text_equal(effect->objects[k].kind, kind))
                continue;
            seen = seen || k < i;
            count++;
        }
        if (count == 0 || seen)
            continue;
        words = arena_printf(arena, "%.*s%s%zu %.*s", TEXT_ARGS(words), words.size > 0 ? ", " : "",
                             count, TEXT_ARGS(kind));
    }
    return words;
}

static struct text totals_but(const struct summary *summary, struct arena *arena, enum deed but,
                              struct text words)
{
    bool first = true;
    for (enum deed deed = DEED_DELETE; deed <= DEED_INSERT; deed++)
        if (deed != but && summary->totals[deed] > 0) {
            words = arena_printf(arena, "%.*s%s%ss %.*s", TEXT_ARGS(words),
                                 words.size == 0 ? "" : first ? "; " : ", ",
                                 deed_word(deed, BARE),
                                 TEXT_ARGS(number_words(arena, summary->totals[deed])));
            first = false;
        }
    return words;
}

struct text summary_also(const struct summary *summary, struct arena *arena)
{
    if (is_unknown(summary))
        return summary->effect.why;
    if (summary->effect.object_count > KINDS_MAX)
        return arena_printf(arena, "and with it %zu more objects", summary->effect.object_count - 1);
    if (summary->effect.object_count > 1)
        return arena_printf(arena, "and with it %.*s", TEXT_ARGS(kinds_words(summary, arena)));
    if (summary->line_count < 2)
        return TEXT("");
    struct group same = group_of(summary, summary->lines[0].deed);
    struct text words = TEXT("");
    const char *them = summary->lines[0].rows == 1 ? "it" : "them";
    if (same.lines == 1)
        words = arena_printf(arena, "and with %s %.*s of %.*s", them,
                             TEXT_ARGS(rows_words(arena, same.rows)),
                             TEXT_ARGS(same.first[0]->table->table));
    else if (same.lines > 1)
        words = arena_printf(arena, "and with %s %.*s of %zu more tables", them,
                             TEXT_ARGS(rows_words(arena, same.rows)), same.lines);
    return totals_but(summary, arena, summary->lines[0].deed, words);
}

/* --- deciding --------------------------------------------------------------------------------- */

static struct text rows_on_button(const struct summary *summary, struct arena *arena)
{
    struct text words = TEXT("");
    size_t parts = 0;
    for (enum deed deed = DEED_DELETE; deed <= DEED_INSERT; deed++) {
        if (summary->totals[deed] == 0)
            continue;
        struct text number = parts == 0 ? rows_words(arena, summary->totals[deed])
                                        : number_words(arena, summary->totals[deed]);
        words = arena_printf(arena, "%.*s%s%s %.*s", TEXT_ARGS(words),
                             parts > 0 ? ", " : "", deed_word(deed, BARE), TEXT_ARGS(number));
        parts++;
    }
    if (parts == 1 && summary->tables > 1)
        words = arena_printf(arena, "%.*s in %zu tables", TEXT_ARGS(words),
                             summary->tables);
    return words;
}

static struct text objects_on_button(const struct summary *summary, struct arena *arena)
{
    struct text words = TEXT("");
    for (enum deed deed = DEED_EMPTY; deed < DEED_COUNT; deed++)
        if (summary->totals[deed] > 0)
            words = arena_printf(arena, "%.*s%s%s %.*s", TEXT_ARGS(words),
                                 words.size > 0 ? ", " : "", deed_word(deed, BARE),
                                 TEXT_ARGS(count_words(arena, summary->totals[deed], "object",
                                                       "objects")));
    if (summary->lost_rows > 0)
        words = arena_printf(arena, "%.*s, lose %.*s", TEXT_ARGS(words),
                             TEXT_ARGS(rows_words(arena, summary->lost_rows)));
    return words;
}

struct text summary_button(const struct summary *summary, struct arena *arena)
{
    if (is_unknown(summary))
        return TEXT("Release with unknown effect");
    struct text objects = objects_on_button(summary, arena);
    struct text rows = rows_on_button(summary, arena);
    if (objects.size == 0 && rows.size == 0)
        return TEXT("Release: change no rows");
    return arena_printf(arena, "Release: %.*s%s%.*s", TEXT_ARGS(objects),
                        objects.size > 0 && rows.size > 0 ? ", " : "", TEXT_ARGS(rows));
}

bool summary_is_confirmed(const struct summary *summary, struct text typed)
{
    if (summary->confirmation == CONFIRM_NOTHING)
        return true;
    if (summary->confirmation == CONFIRM_UNKNOWN)
        return text_is(typed, "unknown");
    char digits[24];
    size_t size = 0;
    int64_t number;
    for (size_t i = 0; i < typed.size; i++) {
        char byte = typed.bytes[i];
        if (byte == ',' || byte == '.' || byte == ' ')
            continue;
        if (size == sizeof digits)
            return false;
        digits[size++] = byte;
    }
    return text_to_int64((struct text){digits, size}, &number) && number == summary->all_rows;
}

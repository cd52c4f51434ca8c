/*
 * page_decide.c - beside the effect: who asks, and the two forms of the decision.
 *
 * Neither form has the focus when the page opens. What cannot be looked at any more, or is far from
 * what was expected, has to be typed.
 */
#include "proxy/review/page_parts.h"

#include "proxy/base/digest.h"
#include "proxy/review/server.h"

bool reader_can_decide(const struct page *page, const struct hold *hold)
{
    const struct approver *reader = page->exchange->approver;
    for (size_t i = 0; i < hold->approval_count; i++)
        if (text_equal(hold->approvals[i].by, reader->name))
            return false;
    return hold->state == HOLD_PENDING &&
           (hold->expires.us <= 0 || hold->expires.us > page->now.us) &&
           hold_approver_may(hold, reader->name, reader->policies, reader->policy_count);
}

const struct review_agent *hold_agent(struct page *page, const struct hold *hold)
{
    const struct review_hooks *hooks = &page->exchange->server->hooks;
    size_t count = 0;
    const struct review_agent *agents = hooks->agents(hooks->context, page->arena, &count);
    for (size_t i = 0; i < count; i++)
        if (text_equal(agents[i].name, hold->agent))
            return &agents[i];
    return NULL;
}

/* --- who asks --------------------------------------------------------------------------------- */

static void asked(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    struct instant until = {hold->created.us + hold->wait_us};
    html(out, "<dt>Asked</dt><dd>");
    page_time(page, hold->created, clock_words(page->arena, hold->created));
    html(out, ", ");
    page_ago(page, hold->created);
    if (hold->state == HOLD_PENDING && hold->wait_us > 0)
        html(out, until.us > page->now.us ? "; its session waits" : "; its session no longer waits");
    html(out, "</dd>\n");
}

void part_who(struct page *page, const struct hold *hold)
{
    struct buffer *out = &page->out;
    struct text path = html_path(page->arena, hold->agent);
    html(out, "<section class=\"stack\" aria-labelledby=\"ask\">\n<h2 id=\"ask\">Who asks</h2>\n"
              "<dl class=\"facts\">\n<dt>Agent</dt><dd><a href=\"/agents#%.*s\">%.*s</a></dd>\n",
         TEXT_ARGS(path), TEXT_ARGS(hold->agent));
    html(out, "<dt>Database</dt><dd>%.*s</dd>\n", TEXT_ARGS(hold->upstream));
    asked(page, hold);
    html(out, "<dt>Held by</dt><dd>%.*s<br><span class=\"soft\">%.*s</span></dd>\n",
         TEXT_ARGS(hold->rules), TEXT_ARGS(hold->rule_text));
    html(out, "<dt>From</dt><dd>%.*s</dd>\n", TEXT_ARGS(hold->client));
    if (hold->quorum > 1)
        html(out, "<dt>Approvals</dt><dd>%ld of %ld</dd>\n", (long)hold->approval_count,
             (long)hold->quorum);
    if (hold->follows > 0)
        html(out, "<dt>Follows</dt><dd><a href=\"/holds/%ld\">hold %ld</a>, the same statement, "
                  "which ran</dd>\n",
             (long)hold->follows, (long)hold->follows);
    html(out, "</dl>\n</section>\n");
}

/* --- deciding --------------------------------------------------------------------------------- */

/* "48[,. ]?213": separators of thousands are the reader's own. */
static struct text number_pattern(struct page *page, int64_t number)
{
    struct text words = number_words(page->arena, number);
    struct text pattern = TEXT("");
    for (size_t i = 0; i < words.size; i++)
        pattern = words.bytes[i] == ','
                      ? arena_printf(page->arena, "%.*s[,. ]?", TEXT_ARGS(pattern))
                      : arena_printf(page->arena, "%.*s%c", TEXT_ARGS(pattern), words.bytes[i]);
    return pattern;
}

/* What was typed before, if it was wrong. */
static void typed_wrong(struct page *page, const struct summary *summary, struct text typed)
{
    struct text rows = rows_words(page->arena, summary->all_rows);
    if (typed.size == 0)
        return;
    if (summary->confirmation == CONFIRM_NUMBER)
        html(&page->out, "<small class=\"del\" id=\"suree\">You typed %.*s. The effect is %.*s."
                         "</small>",
             TEXT_ARGS(typed), TEXT_ARGS(rows));
    else
        html(&page->out, "<small class=\"del\" id=\"suree\">You typed %.*s.</small>",
             TEXT_ARGS(typed));
}

static void confirm_field(struct page *page, const struct summary *summary)
{
    struct buffer *out = &page->out;
    const struct exchange *exchange = page->exchange;
    struct text typed = exchange->notice != NULL ? form_value(&exchange->form, "confirm")
                                                 : TEXT("");
    if (summary_is_confirmed(summary, typed))
        typed = TEXT("");
    const char *invalid = typed.size > 0 ? "true" : "false";
    if (summary->confirmation == CONFIRM_UNKNOWN)
        html(out, "<div><label for=\"sure\">Type <code>unknown</code> to release</label>\n"
                  "<input id=\"sure\" name=\"confirm\" autocomplete=\"off\" "
                  "autocapitalize=\"none\" spellcheck=\"false\" pattern=\"unknown\" "
                  "title=\"the word: unknown\" aria-invalid=\"%s\" value=\"%.*s\" required>",
             invalid, TEXT_ARGS(typed));
    if (summary->confirmation == CONFIRM_NUMBER) {
        struct text pattern = number_pattern(page, summary->all_rows);
        const char *what = summary->totals[DEED_UPDATE] + summary->totals[DEED_INSERT] > 0
                               ? "the number of rows that it writes or loses"
                               : "the number of rows that will be lost";
        html(out, "<div><label for=\"sure\">Type <code>%ld</code> to release "
                  "<small id=\"sureh\">%s</small></label>\n"
                  "<input id=\"sure\" name=\"confirm\" inputmode=\"numeric\" autocomplete=\"off\" "
                  "pattern=\"%.*s\" title=\"%ld, %s\" aria-describedby=\"sureh\" "
                  "aria-invalid=\"%s\" value=\"%.*s\" required>",
             (long)summary->all_rows, what, TEXT_ARGS(pattern), (long)summary->all_rows, what,
             invalid, TEXT_ARGS(typed));
    }
    if (summary->confirmation != CONFIRM_NOTHING) {
        typed_wrong(page, summary, typed);
        html(out, "</div>\n");
    }
}

static void shown_digest(struct page *page, const struct hold *hold)
{
    char hex[SHA256_HEX_SIZE];
    hex_from_bytes(hold->digest, SHA256_SIZE, hex);
    page_csrf(page);
    html(&page->out, "<input type=\"hidden\" name=\"digest\" value=\"%s\">\n", hex);
}

static bool session_waits(const struct page *page, const struct hold *hold)
{
    return hold->wait_us > 0 && hold->created.us + hold->wait_us > page->now.us;
}

/* What happens after a release, in two sentences. */
static void what_next(struct page *page, const struct summary *summary)
{
    const struct hold *hold = summary->hold;
    struct buffer *out = &page->out;
    html(out, "<p class=\"soft\" id=\"next\">");
    int64_t after_you = hold->quorum - (int64_t)hold->approval_count - 1;
    if (after_you > 0)
        html(out, "%ld more must release it after you. ", (long)after_you);
    if (session_waits(page, hold))
        html(out, "It then runs once: at once while its session waits, else");
    else
        html(out, "It then runs once,");
    html(out, " when %.*s sends it again", TEXT_ARGS(hold->agent));
    if (hold->run_within_us > 0) {
        struct text span = span_words(page->arena, hold->run_within_us);
        html(out, " within %.*s", TEXT_ARGS(span));
    }
    if (summary->effect.bound == EFFECT_UNKNOWN)
        html(out, ", and nothing checks its effect.");
    else
        html(out, ". If its effect is not exactly this one, nothing is changed.");
    if (summary->totals[DEED_DROP] + summary->totals[DEED_EMPTY] > 0)
        html(out, " Only a backup brings it back.");
    html(out, "</p>\n");
}

/* A line breaks between its parts only. */
static void button_words(struct buffer *out, struct text words)
{
    size_t start = 0;
    for (size_t at = 0; at <= words.size; at++) {
        bool ends = at == words.size || (at + 1 < words.size && words.bytes[at + 1] == ' ' &&
                                         (words.bytes[at] == ',' || words.bytes[at] == ':'));
        if (!ends)
            continue;
        size_t end = at < words.size ? at + 1 : at;
        html(out, start > 0 ? " <span class=\"together\">%.*s</span>"
                            : "<span class=\"together\">%.*s</span>",
             (int)(end - start), words.bytes + start);
        start = end < words.size ? end + 1 : end;
    }
}

static void release_form(struct page *page, const struct summary *summary)
{
    struct buffer *out = &page->out;
    struct text button = summary_button(summary, page->arena);
    html(out, "<form method=\"post\" action=\"/holds/%ld/release\">\n", (long)summary->hold->id);
    shown_digest(page, summary->hold);
    confirm_field(page, summary);
    html(out, summary->loses ? "<button class=\"go lose wide\" aria-describedby=\"next\">"
                             : "<button class=\"go wide\" aria-describedby=\"next\">");
    button_words(out, button);
    html(out, "</button>\n");
    what_next(page, summary);
    html(out, "</form>\n");
}

static void refuse_form(struct page *page, const struct hold *hold)
{
    const struct exchange *exchange = page->exchange;
    struct text reason = exchange->notice != NULL ? form_value(&exchange->form, "reason")
                                                  : TEXT("");
    html(&page->out, "<form method=\"post\" action=\"/holds/%ld/refuse\">\n", (long)hold->id);
    shown_digest(page, hold);
    html(&page->out,
         "<div><label for=\"why\">Reason to refuse <small>(%.*s reads it)</small></label>\n"
         "<textarea id=\"why\" name=\"reason\" rows=\"2\" maxlength=\"500\" required>%.*s"
         "</textarea></div>\n<button class=\"wide\">Refuse</button>\n</form>\n",
         TEXT_ARGS(hold->agent), TEXT_ARGS(reason));
}

void part_decide(struct page *page, const struct summary *summary)
{
    const struct hold *hold = summary->hold;
    struct buffer *out = &page->out;
    html(out, "<section class=\"panel\" id=\"decide\" aria-labelledby=\"dh\">\n"
              "<h2 id=\"dh\" class=\"vh\">Decide</h2>\n<p class=\"left\"><b>");
    if (hold->expires.us > 0) {
        struct text until = clock_words(page->arena, hold->expires);
        page_left(page, hold->expires);
        html(out, "</b> <span class=\"soft\">until ");
        page_time(page, hold->expires, arena_printf(page->arena, "%.*s UTC", TEXT_ARGS(until)));
        html(out, "</span></p>\n");
    } else {
        html(out, "No end</b> <span class=\"soft\">it waits until somebody decides</span></p>\n");
    }
    release_form(page, summary);
    refuse_form(page, hold);
    html(out, "</section>\n");
}

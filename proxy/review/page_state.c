/*
 * page_state.c - what has become of a hold: one notice above the headline, in words before colour,
 * and the steps so far.
 */
#include "proxy/review/page_parts.h"

/* "You", or the name. */
static struct text person(const struct page *page, struct text name)
{
    return text_equal(name, page->exchange->approver->name) ? TEXT("You") : name;
}

static struct text time_words(const struct page *page, struct instant instant)
{
    return clock_words(page->arena, instant);
}

/* Who released it: all that approved. */
static struct text releasers(const struct page *page, const struct hold *hold)
{
    struct text names = TEXT("");
    for (size_t i = 0; i < hold->approval_count; i++)
        names = arena_printf(page->arena, "%.*s%s%.*s", TEXT_ARGS(names), i == 0 ? "" : ", ",
                             TEXT_ARGS(person(page, hold->approvals[i].by)));
    return names;
}

static void replaced(struct page *page, const struct hold *hold)
{
    if (hold->replaced_by > 0)
        html(&page->out, " It waits again as <a href=\"/holds/%ld\">hold %ld</a>.",
             (long)hold->replaced_by, (long)hold->replaced_by);
}

static void released(struct page *page, const struct hold *hold)
{
    struct text who = releasers(page, hold);
    struct text when = time_words(page, hold->decided);
    page_notice_begin(page, NOTICE_GOOD, ICON_CHECK, "status");
    html(&page->out,
         "<p><strong>%.*s released this at %.*s.</strong> It runs once, when %.*s sends it again",
         TEXT_ARGS(who), TEXT_ARGS(when), TEXT_ARGS(hold->agent));
    if (hold->run_until.us > 0) {
        struct text until = time_words(page, hold->run_until);
        html(&page->out, " before %.*s (", TEXT_ARGS(until));
        page_left(page, hold->run_until);
        html(&page->out, ")");
    }
    html(&page->out, ".</p>");
    page_notice_end(page);
}

static void executed(struct page *page, const struct hold *hold)
{
    struct text who = releasers(page, hold);
    struct text when = time_words(page, hold->finished);
    page_notice_begin(page, NOTICE_GOOD, ICON_CHECK, "status");
    html(&page->out, "<p><strong>Executed at %.*s, with exactly this effect.</strong> ",
         TEXT_ARGS(when));
    html(&page->out, "Released by %.*s.</p>", TEXT_ARGS(who));
    page_notice_end(page);
}

static void refused(struct page *page, const struct hold *hold)
{
    struct text who = person(page, hold->decided_by);
    struct text when = time_words(page, hold->decided);
    page_notice_begin(page, NOTICE_PLAIN, ICON_CROSS, "status");
    html(&page->out,
         "<p><strong>%.*s refused this at %.*s.</strong> %.*s was told: “%.*s”</p>",
         TEXT_ARGS(who), TEXT_ARGS(when), TEXT_ARGS(hold->agent),
         TEXT_ARGS(hold->decision_reason));
    page_notice_end(page);
}

static void ended(struct page *page, const struct hold *hold, enum notice notice, enum icon icon,
                  const char *fact, const char *meaning)
{
    struct text when = time_words(page, hold->finished);
    page_notice_begin(page, notice, icon, "status");
    html(&page->out, "<p><strong>%s at %.*s.</strong> %s", fact, TEXT_ARGS(when), meaning);
    replaced(page, hold);
    html(&page->out, "</p>");
    if (hold->outcome_error.size > 0)
        html(&page->out, "<p><code>%.*s</code></p>", TEXT_ARGS(hold->outcome_error));
    page_notice_end(page);
}

static bool has_approved(const struct page *page, const struct hold *hold, struct instant *at)
{
    for (size_t i = 0; i < hold->approval_count; i++)
        if (text_equal(hold->approvals[i].by, page->exchange->approver->name)) {
            *at = hold->approvals[i].at;
            return true;
        }
    return false;
}

/* Pending, but not for this reader. */
static void not_yours(struct page *page, const struct hold *hold)
{
    struct instant at;
    if (reader_can_decide(page, hold))
        return;
    page_notice_begin(page, NOTICE_PLAIN, ICON_INFO, "status");
    if (has_approved(page, hold, &at)) {
        struct text when = time_words(page, at);
        html(&page->out,
             "<p><strong>You released this at %.*s.</strong> %ld of %ld have; it runs when the "
             "others have, too.</p>",
             TEXT_ARGS(when), (long)hold->approval_count, (long)hold->quorum);
    } else {
        html(&page->out, "<p><strong>You may look, not decide.</strong> The rules that hold it "
                         "name other approvers, or its time is over.</p>");
    }
    page_notice_end(page);
}

static void paused(struct page *page, const struct hold *hold)
{
    const struct review_agent *agent = hold_agent(page, hold);
    if (agent == NULL || !agent->paused)
        return;
    struct text since = minute_words(page->arena, agent->paused_at);
    page_notice_begin(page, NOTICE_WARN, ICON_WARNING, "status");
    html(&page->out,
         "<p><strong>%.*s is paused since %.*s by %.*s.</strong> You can decide; a released "
         "statement runs only after the agent is resumed.</p>",
         TEXT_ARGS(hold->agent), TEXT_ARGS(since), TEXT_ARGS(agent->paused_by));
    page_notice_end(page);
}

void part_state(struct page *page, const struct summary *summary)
{
    const struct hold *hold = summary->hold;
    switch (hold->state) {
    case HOLD_PENDING:
        not_yours(page, hold);
        paused(page, hold);
        return;
    case HOLD_RELEASED:
        released(page, hold);
        paused(page, hold);
        return;
    case HOLD_RUNNING:
        page_notice_begin(page, NOTICE_GOOD, ICON_CLOCK, "status");
        html(&page->out, "<p><strong>It is running now.</strong> %s</p>",
             hold_ran_outside(hold)
                 ? "It runs outside of a transaction: what it does stays."
                 : "Nothing is committed before its effect has been compared.");
        page_notice_end(page);
        return;
    case HOLD_EXECUTED:
        executed(page, hold);
        return;
    case HOLD_REFUSED:
        refused(page, hold);
        return;
    case HOLD_EXPIRED:
        ended(page, hold, NOTICE_PLAIN, ICON_CLOCK, "Expired",
              "Nobody decided in time, and nothing ran.");
        return;
    case HOLD_LAPSED:
        ended(page, hold, NOTICE_PLAIN, ICON_CLOCK, "The release lapsed",
              "It was not sent again in time, and nothing ran.");
        return;
    case HOLD_DRIFTED:
        ended(page, hold, NOTICE_BAD, ICON_WARNING, "Drifted",
              "The effect had changed since the release, so nothing was committed.");
        return;
    case HOLD_FAILED:
        ended(page, hold, NOTICE_BAD, ICON_CROSS, "Failed when it ran",
              hold_ran_outside(hold)
                  ? "It ran outside of a transaction, so a part of it may have been done. Look at the database."
                  : "Nothing was committed. A release is good for one run: it has to be asked again.");
        return;
    default:
        ended(page, hold, NOTICE_BAD, ICON_WARNING, "Outcome unknown",
              hold_ran_outside(hold)
                  ? "The connection was lost while it ran outside of a transaction. Look at the database; it is "
                    "not run again by itself."
                  : "The connection was lost while it was committed. Look at the data; it is not run "
                    "again by itself.");
        return;
    }
}

/* --- step by step ----------------------------------------------------------------------------- */

static void step(struct page *page, struct text what, struct instant when)
{
    if (when.us <= 0)
        return;
    html(&page->out, "<li>%.*s<small>", TEXT_ARGS(what));
    page_time(page, when, clock_words(page->arena, when));
    html(&page->out, "</small></li>\n");
}

void part_log(struct page *page, const struct summary *summary)
{
    const struct hold *hold = summary->hold;
    html(&page->out, "<section class=\"panel\" aria-labelledby=\"log\">\n<h2 id=\"log\">What "
                     "happened</h2>\n<ol class=\"others\">\n");
    step(page,
         arena_printf(page->arena, "%.*s asked%s", TEXT_ARGS(hold->agent),
                      summary->effect.bound != EFFECT_UNKNOWN ? ", and it was rehearsed" : ""),
         hold->created);
    for (size_t i = 0; i < hold->approval_count; i++)
        step(page,
             arena_printf(page->arena, "%.*s released it",
                          TEXT_ARGS(person(page, hold->approvals[i].by))),
             hold->approvals[i].at);
    if (hold->state == HOLD_REFUSED)
        step(page,
             arena_printf(page->arena, "%.*s refused it",
                          TEXT_ARGS(person(page, hold->decided_by))),
             hold->decided);
    else
        step(page, text_from(hold_state_name(hold->state)), hold->finished);
    html(&page->out, "</ol>\n</section>\n");
}

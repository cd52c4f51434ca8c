/*
 * transaction.c - what the open transaction has done so far, and what outlives a statement.
 *
 * A transaction is fresh while only a preamble (BEGIN, SET, SHOW, SAVEPOINT, …) has succeeded in it. The
 * preamble is kept word for word, so that the transaction can be left while a person is asked and
 * begun again, without the client noticing (spec 4.2).
 */
#include "proxy/session/internal.h"

#include "proxy/base/invariant.h"
#include "rules/setting_value.h"

#include <stdlib.h>

bool transaction_is_fresh(const struct session *s) { return s->status == 'T' && s->fresh; }

static void begin_preamble(struct session *s)
{
    buffer_clear(&s->preamble.text);
    s->preamble.count = 0;
    s->fresh = true;
    inside_reset(s);
}

static void add_to_preamble(struct session *s, struct text print)
{
    buffer_append_text(&s->preamble.text, print);
    buffer_append_byte(&s->preamble.text, 0);
    s->preamble.count++;
    if (s->preamble.text.overflow || s->preamble.count > LIMIT_PREAMBLE_STATEMENTS)
        s->fresh = false;
}

void transaction_replay(struct session *s)
{
    struct cursor cursor = cursor_over(s->preamble.text.bytes, s->preamble.text.size);
    while (cursor_left(&cursor) > 0)
        send_injected(s, PURPOSE_NONE, cursor_string(&cursor));
}

static bool keeps_fresh(const struct shape *shape)
{
    switch (shape->kind) {
    case STATEMENT_SET:
    case STATEMENT_SHOW:
    case STATEMENT_SAVEPOINT:
    case STATEMENT_RELEASE:
        return true;
    default:
        return false;
    }
}

/* statement_timeout as the agent sets it: waiting for a person is never longer. What ALTER ROLE stores
 * is for later sessions. */
static void follow_timeout(struct session *s, const struct shape *shape)
{
    for (size_t i = 0; i < shape->setting_count && shape->kind != STATEMENT_UTILITY; i++) {
        const struct setting_use *use = &shape->settings[i];
        int64_t ms;
        if (text_is(use->name, "statement_timeout") && setting_timeout_ms(use->value, &ms))
            s->statement_timeout_us = ms * 1000;
    }
}

/* Does the statement itself move what pins_sql reads? */
static bool moves_pins(const struct shape *shape)
{
    static const char *const names[] = {"role", "session_authorization", "search_path",
                                        "standard_conforming_strings", "client_encoding",
                                        "row_security", "session_replication_role"};
    bool by_role = (shape->changes & CHANGES_ROLE) != 0 && shape->kind != STATEMENT_ROLLBACK &&
                   shape->kind != STATEMENT_ROLLBACK_TO && shape->kind != STATEMENT_TWO_PHASE;
    bool moves = by_role || shape->kind == STATEMENT_DISCARD;
    for (size_t i = 0; i < shape->setting_count; i++) {
        const struct setting_use *use = &shape->settings[i];
        moves = moves || use->act == SETTING_RESET_ALL;
        for (size_t j = 0; j < ARRAY_SIZE(names) && use->act != SETTING_SHOW; j++)
            moves = moves || text_is(use->name, names[j]);
    }
    return moves;
}

static bool moves_for_good(const struct shape *shape)
{
    return shape->setting_count != 1 || shape->settings[0].act != SETTING_SET_LOCAL;
}

static void follow_pins(struct session *s, const struct shape *shape)
{
    if ((shape->changes & CHANGES_BY_CODE) == 0 && moves_pins(shape))
        pins_client_moved(s, moves_for_good(shape));
    else if (shape->kind == STATEMENT_ROLLBACK_TO)
        pins_went_back(s);
}

void transaction_runs_code(struct session *s)
{
    pins_code_ran(s);
    s->changed = true;
    s->code_ran = true;
}

/* What a person released may have made objects, of which no catalog knows before it is committed, and of those in
 * pg_temp never. */
void transaction_hold_ran(struct session *s, const struct shape *shape)
{
    bool made = (shape->changes & CHANGES_OBJECTS) != 0;
    if (made || shape_runs_code(s, shape))
        s->holds_made = HOLDS_MADE_IN_TRANSACTION;
    s->pins.unread = s->pins.unread || made;
}

static void follow_names(struct session *s, const struct shape *shape)
{
    switch (shape->kind) {
    case STATEMENT_DEALLOCATE:
        if (shape->name.size == 0) {
            names_drop(s->statements, NULL);
        } else {
            names_sent(s->statements, shape->name, NULL);
            names_confirmed(s->statements, shape->name, NULL);
        }
        break;
    case STATEMENT_DISCARD:
        /* DISCARD PLANS and the like drop less; then a name is refused that still exists. */
        names_drop(s->statements, NULL);
        names_drop(s->portals, NULL);
        break;
    case STATEMENT_CLOSE:
        if (shape->name.size == 0) {
            names_drop(s->portals, NULL);
        } else {
            names_sent(s->portals, shape->name, NULL);
            names_confirmed(s->portals, shape->name, NULL);
        }
        break;
    default:
        break;
    }
}

static void follow_transaction(struct session *s, const struct shape *shape, struct text print,
                               struct text tag)
{
    switch (shape->kind) {
    case STATEMENT_BEGIN:
        if (s->status == 'I') {
            s->status = 'T';
            begin_preamble(s);
            add_to_preamble(s, print);
        }
        return;
    case STATEMENT_COMMIT:
    case STATEMENT_ROLLBACK:
        inside_ended(s, text_starts_with(tag, "COMMIT"));
        s->fresh = false;
        if (!shape->and_chain)
            s->status = 'I';
        return;
    case STATEMENT_ROLLBACK_TO:
        inside_rolled_back_to(s, shape->name);
        s->status = 'T';
        s->fresh = false;
        return;
    case STATEMENT_SAVEPOINT:
        inside_savepoint(s, shape->name);
        break;
    case STATEMENT_RELEASE:
        inside_released(s, shape->name);
        break;
    default:
        break;
    }
    if (s->status == 'T' && s->fresh) {
        if (keeps_fresh(shape))
            add_to_preamble(s, print);
        else
            s->fresh = false;
    }
}

void transaction_completed(struct session *s, const struct statement *statement, struct text print,
                           struct text tag)
{
    const struct shape *shape = &statement->shape;
    follow_transaction(s, shape, print, tag);
    follow_timeout(s, shape);
    bound_follow(s, shape);
    follow_names(s, shape);
    follow_pins(s, shape);
    if (shape_runs_code(s, shape))
        transaction_runs_code(s);
    s->changed |= (shape->changes & CHANGES_OBJECTS) != 0;
}

static bool outlives_transaction(const void *object)
{
    const struct portal *portal = object;
    return portal->is_cursor && portal->with_hold;
}

void transaction_ready(struct session *s, char status)
{
    s->status = status;
    if (status == 'I') {
        s->catalog_stale |= s->changed;
        s->changed = false;
        if (s->holds_made == HOLDS_MADE_IN_TRANSACTION)
            s->holds_made = HOLDS_MADE_BEFORE;
    }
    if (status == 'I' && !s->gate.left) {
        pins_transaction_ended(s, s->code_ran);
        s->code_ran = false;
    }
    if (status != 'I' || s->gate.left)
        return;
    inside_ended(s, false);
    s->fresh = false;
    names_drop(s->portals, outlives_transaction);
}

/* PREPARE and DECLARE made a name; what it stands for was judged with the statement. */
void define_by_sql(struct session *s, struct judged *judged, size_t at)
{
    const struct statement *statement = &judged->judgement.analysis.statements[at];
    struct text name = statement->shape.name;
    if (statement->shape.kind == STATEMENT_PREPARE) {
        names_sent(s->statements, name, judged);
        names_confirmed(s->statements, name, judged);
        return;
    }
    struct portal *cursor = portal_of(judged, &judged->judgement.decisions[at]);
    cursor->is_cursor = true;
    cursor->with_hold = statement->shape.cursor_hold;
    cursor->executed = true;
    names_sent(s->portals, name, cursor);
    names_confirmed(s->portals, name, cursor);
    portal_release(cursor);
}

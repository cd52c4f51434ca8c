/* message.h - a decision in the words that an agent reads: spec 4.1, with SQLSTATE. Pure. */
#ifndef PGWICKET_RULES_MESSAGE_H
#define PGWICKET_RULES_MESSAGE_H

#include "rules/decide.h"

struct error_text {
    char sqlstate[6];
    struct text message; /* at most 200 characters, begins with "pgwicket: " */
    struct text detail;  /* may be empty */
    struct text hint;    /* may be empty */
};

/* Why a rejected decision was rejected. */
struct error_text message_rejected(struct arena *arena, const struct decide_context *context,
                                   const struct shape *shape, const struct decision *decision,
                                   const struct numbers *numbers);

/* A select that went past its limit while its rows were relayed. */
struct error_text message_result_too_long(struct arena *arena, const struct decision *decision);

/* "select shop.orders, call pg_catalog.nextval": pgwicket.actions of the audit log. */
struct text message_actions(struct arena *arena, const struct shape *shape);

/* One line in words of why: pgwicket.reason and `judge`'s "reason". */
struct text message_reason(struct arena *arena, const struct decision *decision);

#endif

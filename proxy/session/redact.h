/*
 * redact.h - how much of a server's error or notice an agent gets. Pure.
 *
 * Everything, where the policy opens all that the statement could be about (rules/open.h). Else
 * severity, SQLSTATE, position and MESSAGE, in which quoted names and values that the agent may not
 * know are left out. README.md has the table.
 */
#ifndef PGWICKET_SESSION_REDACT_H
#define PGWICKET_SESSION_REDACT_H

#include "parser/analyse.h"
#include "proxy/base/buffer.h"
#include "proxy/wire/backend.h"
#include "rules/decide.h"

/* What the message is about. Zero: nothing is known, and nothing is open. */
struct redact_scope {
    const struct decide_context *context; /* NULL: no policy */
    const struct statement *statements; /* those of the client's message that can have caused it */
    size_t statement_count;
    struct text own; /* the client's text: words in it are no secret to it */
    bool binds;      /* the message was a Bind */
};

/*
 * Writes the body that the client gets for `body`, whose fields are `fields`, with `position` in
 * its own text (0: none). `out` shows overflow if it does not fit.
 */
void redact(struct buffer *out, struct arena *arena, struct text body,
            const struct error_fields *fields, int position, const struct redact_scope *scope);

#endif

/*
 * comments.h - blanks comments before parsing. Internal to parser/.
 *
 * libpg_query returns comments as tokens, and so reads some texts otherwise than the server: it
 * refuses "a NOT <comment> IN (1)", and sees two literals where the server joins two pieces of one
 * over a "--" comment. Without comments both read the same.
 */
#ifndef PGWICKET_PARSER_COMMENTS_H
#define PGWICKET_PARSER_COMMENTS_H

#include "parser/parse.h"

enum comments_result {
    COMMENTS_REFUSED = 0, /* a comment between the pieces of one E'', B'' or X'' literal */
    COMMENTS_BLANKED,
    COMMENTS_NOT_LEXED, /* the scanner refuses the text: the grammar's error will say why */
    COMMENTS_OPERATORS, /* a run of operator characters that takes quadratic time to scan */
};

/*
 * *blanked is `sql` (ends with NUL) with a space for each byte of a comment but line ends, so that
 * offsets stay; `sql` itself where there is no comment. A block comment between two string literals
 * stays: without it the server would join them.
 */
MUST_USE enum comments_result comments_blank(struct grammar_visit visit, struct arena *arena,
                                             struct text sql, struct text *blanked);

#endif

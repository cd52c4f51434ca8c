/*
 * highlight.h - the pieces of a printed statement for a reader's eye: what each one is, and where a
 * line may break.
 *
 * The statement itself is not changed: a break stands in the place of the one space there. A text
 * that PostgreSQL's scanner refuses is one plain piece.
 */
#ifndef PGWICKET_PARSER_HIGHLIGHT_H
#define PGWICKET_PARSER_HIGHLIGHT_H

#include "proxy/base/arena.h"

enum piece_kind { PIECE_PLAIN = 0, PIECE_KEYWORD, PIECE_STRING, PIECE_NUMBER, PIECE_PARAMETER };

struct piece {
    enum piece_kind kind;
    struct text text; /* of the statement, without the space before it */
    bool space;       /* a space comes before it … */
    int break_indent; /* … or a line break and so many spaces; -1: no break */
};

struct pieces {
    struct piece *items; /* in the arena */
    size_t count, capacity;
};

struct pieces highlight(struct arena *arena, struct text statement);

#endif

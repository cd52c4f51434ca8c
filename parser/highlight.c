/* highlight.c - see highlight.h. It knows tokens only; a break in an odd place costs beauty, not
 * truth. */
#include "parser/highlight.h"

#include "parser/lex.h"

#include <string.h>

enum { LINE_WIDTH = 78, BLOCKS_MAX = 64, LIST_INDENT = 4 };

struct cutting {
    struct arena *arena;
    struct text statement;
    struct pieces *pieces;
    int kind; /* of the token that began last */
    int start;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/* In the canonical print keywords are capitals; a name that is a keyword elsewhere is not. */
static bool is_capital(char byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static enum piece_kind kind_of(int token, struct text text)
{
    switch (token) {
    case TOKEN_SCONST:
    case TOKEN_USCONST:
    case TOKEN_BCONST:
    case TOKEN_XCONST:
        return PIECE_STRING;
    case TOKEN_ICONST:
    case TOKEN_FCONST:
        return PIECE_NUMBER;
    case TOKEN_PARAM:
        return PIECE_PARAMETER;
    default:
        return token >= TOKEN_FIRST_KEYWORD && is_capital(text.bytes[0]) ? PIECE_KEYWORD
                                                                         : PIECE_PLAIN;
    }
}

/* The text from the token that began last up to here. */
static void add_piece(struct cutting *cutting, size_t end)
{
    size_t start = (size_t)cutting->start;
    while (end > start && is_blank(cutting->statement.bytes[end - 1]))
        end--;
    if (end == start)
        return;
    struct piece *piece =
        arena_push(cutting->arena, (void **)&cutting->pieces->items, &cutting->pieces->count,
                   &cutting->pieces->capacity, sizeof *piece);
    piece->text = (struct text){cutting->statement.bytes + start, end - start};
    piece->kind = kind_of(cutting->kind, piece->text);
    piece->space = start > 0 && is_blank(cutting->statement.bytes[start - 1]);
    piece->break_indent = -1;
}

static bool begin_token(void *argument, int kind, int location)
{
    struct cutting *cutting = argument;
    if (location < cutting->start || (size_t)location > cutting->statement.size)
        return true;
    size_t end = kind == TOKEN_END ? cutting->statement.size : (size_t)location;
    if (cutting->kind >= 0)
        add_piece(cutting, end);
    cutting->kind = kind;
    cutting->start = location;
    return true;
}

/* --- line breaks ------------------------------------------------------------------------------ */

struct layout {
    struct pieces *pieces;
    bool block[BLOCKS_MAX]; /* parentheses that are open: is a query in them? */
    int depth;
    int blocks;     /* how many of them */
    bool between;   /* the next AND belongs to BETWEEN */
    bool in_set;    /* commas of this level end a line */
    size_t column;
};

static bool is_word(const struct piece *piece, const char *word)
{
    return piece->kind == PIECE_KEYWORD && text_is(piece->text, word);
}

static bool is_one_of(const struct piece *piece, const char *const *words)
{
    for (; *words != NULL; words++)
        if (is_word(piece, *words))
            return true;
    return false;
}

static const char *const beginnings[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE",
                                         "WITH",   "VALUES", NULL};
static const char *const clauses[] = {"FROM",  "WHERE",  "SET",    "VALUES", "RETURNING",
                                      "GROUP", "ORDER",  "HAVING", "LIMIT",  "OFFSET",
                                      "UNION", "EXCEPT", "WINDOW", "INTERSECT", NULL};
static const char *const joins[] = {"LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "JOIN",
                                    NULL};

static bool in_query(const struct layout *layout)
{
    return layout->depth == 0 || layout->block[layout->depth - 1];
}

/* Words that belong to the one before: DELETE FROM, IS DISTINCT FROM, DO UPDATE SET. */
static bool continues(const struct piece *before, const struct piece *piece)
{
    static const char *const openers[] = {"DELETE", "DISTINCT", "DO",   "LEFT",    "RIGHT", "FULL",
                                          "INNER",  "CROSS",    "OUTER", "NATURAL", NULL};
    return before != NULL && is_one_of(before, openers) && !is_word(piece, "WHERE");
}

/* The indent of a break before this piece; -1: none. */
static int break_before(const struct layout *layout, size_t at)
{
    const struct piece *piece = &layout->pieces->items[at];
    const struct piece *before = at > 0 ? piece - 1 : NULL;
    int indent = 2 * layout->blocks;
    if (before == NULL || !piece->space || !in_query(layout))
        return -1;
    if (continues(before, piece))
        return -1;
    bool after_block = text_is(before->text, ")") || text_is(before->text, "(");
    if (is_one_of(piece, clauses) || is_one_of(piece, joins))
        return indent;
    if (is_one_of(piece, beginnings) && after_block)
        return indent;
    if (is_word(piece, "WHEN") || is_word(piece, "OR") ||
        (is_word(piece, "AND") && !layout->between))
        return indent + 2;
    if (text_is(before->text, ",") && layout->in_set)
        return indent + LIST_INDENT;
    return -1;
}

static bool opens_query(const struct layout *layout, size_t at)
{
    return at + 1 < layout->pieces->count &&
           is_one_of(&layout->pieces->items[at + 1], beginnings);
}

static void follow_parentheses(struct layout *layout, size_t at)
{
    const struct piece *piece = &layout->pieces->items[at];
    if (text_is(piece->text, "(") && layout->depth < BLOCKS_MAX) {
        layout->block[layout->depth] = opens_query(layout, at);
        layout->blocks += layout->block[layout->depth++];
    } else if (text_is(piece->text, ")") && layout->depth > 0) {
        layout->blocks -= layout->block[--layout->depth];
    }
}

static void follow_words(struct layout *layout, const struct piece *piece)
{
    if (is_word(piece, "BETWEEN"))
        layout->between = true;
    else if (is_word(piece, "AND"))
        layout->between = false;
    if (is_word(piece, "SET"))
        layout->in_set = true;
    else if (is_one_of(piece, clauses))
        layout->in_set = false;
}

static void lay_out(struct pieces *pieces)
{
    struct layout layout = {.pieces = pieces};
    for (size_t i = 0; i < pieces->count; i++) {
        struct piece *piece = &pieces->items[i];
        piece->break_indent = break_before(&layout, i);
        bool full = layout.column + piece->text.size > LINE_WIDTH;
        if (piece->break_indent < 0 && piece->space && full && i > 0 && text_is(piece[-1].text, ","))
            piece->break_indent = 2 * layout.blocks + LIST_INDENT;
        layout.column = piece->break_indent >= 0
                            ? (size_t)piece->break_indent + piece->text.size
                            : layout.column + piece->space + piece->text.size;
        follow_parentheses(&layout, i);
        follow_words(&layout, piece);
    }
}

/* Is every byte that can be seen in a piece? */
static bool covers(const struct pieces *pieces, struct text statement)
{
    size_t at = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        size_t start = (size_t)(pieces->items[i].text.bytes - statement.bytes);
        for (; at < start; at++)
            if (!is_blank(statement.bytes[at]))
                return false;
        at = start + pieces->items[i].text.size;
    }
    for (; at < statement.size; at++)
        if (!is_blank(statement.bytes[at]))
            return false;
    return true;
}

struct pieces highlight(struct arena *arena, struct text statement)
{
    struct pieces pieces = {0};
    struct text copy = arena_text(arena, statement);
    struct cutting cutting = {arena, copy, &pieces, -1, 0};
    struct grammar_visit visit = grammar_enter();
    bool lexed = strlen(copy.bytes) == copy.size &&
                 lex_raw(visit, copy.bytes, begin_token, &cutting);
    grammar_leave(visit);
    lexed = lexed && covers(&pieces, copy);
    if (lexed && pieces.count > 0 && is_one_of(&pieces.items[0], beginnings)) {
        lay_out(&pieces);
    } else if (!lexed) {
        pieces = (struct pieces){0};
        cutting = (struct cutting){arena, copy, &pieces, 0, 0};
        add_piece(&cutting, copy.size);
    }
    return pieces;
}

/* highlight_test.c - what the pieces of a statement are, and where its lines break. */
#include "parser/highlight.h"

#include "proxy/base/attributes.h"
#include "proxy/base/buffer.h"

#include <criterion/criterion.h>

static const struct {
    const char *statement;
    const char *shown; /* k<…> s<…> n<…> p<…>, and its lines */
} cases[] = {
    {"DELETE FROM shop.orders WHERE customer_id = $1",
     "k<DELETE> k<FROM> shop.orders\nk<WHERE> customer_id = p<$1>"},
    {"UPDATE s.a SET b = 1, c = 'x y' WHERE d BETWEEN 1 AND 2 AND e",
     "k<UPDATE> s.a\nk<SET> b = n<1>,\n    c = s<'x y'>\nk<WHERE> d k<BETWEEN> n<1> k<AND> n<2>\n"
     "  k<AND> e"},
    {"INSERT INTO s.a (b) SELECT c FROM s.d WHERE e IN (SELECT f FROM s.g)",
     "k<INSERT> k<INTO> s.a (b)\nk<SELECT> c\nk<FROM> s.d\nk<WHERE> e k<IN> (k<SELECT> f\n"
     "  k<FROM> s.g)"},
    {"SELECT EXTRACT(day FROM b) FROM s.a WHERE c IS DISTINCT FROM d",
     "k<SELECT> k<EXTRACT>(day k<FROM> b)\nk<FROM> s.a\nk<WHERE> c k<IS> k<DISTINCT> k<FROM> d"},
    {"DROP TABLE s.a CASCADE", "k<DROP> k<TABLE> s.a k<CASCADE>"},
    {"SELECT 'unterminated", "SELECT 'unterminated"},
    {"", ""},
};

static void show(struct buffer *out, const struct piece *piece)
{
    static const char letters[] = {[PIECE_KEYWORD] = 'k', [PIECE_STRING] = 's',
                                   [PIECE_NUMBER] = 'n', [PIECE_PARAMETER] = 'p'};
    if (piece->break_indent >= 0)
        buffer_printf(out, "\n%*s", piece->break_indent, "");
    else if (piece->space)
        buffer_append_byte(out, ' ');
    if (piece->kind != PIECE_PLAIN)
        buffer_printf(out, "%c<%.*s>", letters[piece->kind], TEXT_ARGS(piece->text));
    else
        buffer_append_text(out, piece->text);
}

Test(highlight, pieces_are_told_apart_and_lines_break_at_clauses)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct arena arena;
        struct buffer out;
        arena_init(&arena);
        buffer_init(&out, 4096);
        struct pieces pieces = highlight(&arena, text_from(cases[i].statement));
        for (size_t k = 0; k < pieces.count; k++)
            show(&out, &pieces.items[k]);
        cr_expect_str_eq(buffer_string(&out), cases[i].shown);
        buffer_release(&out);
        arena_release(&arena);
    }
}

/* A text with NUL ends early for the scanner: it must not be shown as less than it is. */
Test(highlight, nothing_is_left_out)
{
    struct arena arena;
    arena_init(&arena);
    struct pieces pieces = highlight(&arena, (struct text){"SELECT 1\0, secret", 17});
    cr_assert_eq(pieces.count, 1);
    cr_expect_eq(pieces.items[0].text.size, 17);
    cr_expect_eq(pieces.items[0].kind, PIECE_PLAIN);
    arena_release(&arena);
}

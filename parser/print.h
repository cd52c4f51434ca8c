/*
 * print.h - the canonical print: tokens → one line of SQL. Internal to parser/.
 *
 * The print is a function of the tokens alone. It has no comments, single spaces, keywords in
 * capitals, one spelling for each string and name, and nothing in it that a reader cannot see. It
 * means the same under any setting of the server's scanner (U&"" names need
 * standard_conforming_strings, which pgwicket pins), and names that later majors made keywords are
 * quoted.
 */
#ifndef PGWICKET_PARSER_PRINT_H
#define PGWICKET_PARSER_PRINT_H

#include "parser/lex.h"
#include "proxy/base/buffer.h"

/* Makes a keyword that a dot shows to be a name (o.value) that name: gram.y reads the same tree. Do
 * this before printing and before comparing. */
void print_prepare(struct tokens *tokens);

/* Appends tokens[first] to tokens[end - 1]. They must pass print_can. */
void print_tokens(struct buffer *out, const struct tokens *tokens, size_t first, size_t end);

/* Appends one token and the space that belongs before it. */
void print_token(struct buffer *out, const struct tokens *tokens, size_t at);

/* True if every string in the tokens is valid UTF-8 and every bit string has digits only. */
bool print_can(const struct tokens *tokens);

#endif

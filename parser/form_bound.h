/* form_bound.h - is a value decided by the statement's text and the data it reads, and by nothing that
 * changes from run to run? Internal to parser/. */
#ifndef PGWICKET_PARSER_FORM_BOUND_H
#define PGWICKET_PARSER_FORM_BOUND_H

#include "parser/lex.h"
#include "parser/tree.h"

/* True for constants, parameters, columns, and immutable expressions of them. What is not listed is not. */
bool form_is_bound(Node *expression);

#endif

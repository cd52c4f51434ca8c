/* form_bound.h - is a value decided by the statement's text and the data it reads, and by nothing that
 * changes from run to run? Internal to parser/. */
#ifndef PGWICKET_PARSER_FORM_BOUND_H
#define PGWICKET_PARSER_FORM_BOUND_H

#include "parser/lex.h"
#include "parser/tree.h"

/* Where an expression stands. */
struct bound_place {
    bool columns;  /* what columns are read from is data */
    bool row_only; /* no sub-selects */
    int depth;
};

/* At the top of a statement with these WITH queries and these other relations; both may be NULL. */
struct bound_place form_bound_place(const WithClause *with, List *from);

/* True for constants, parameters, columns, sub-selects, and expressions of them without a function whose result
 * differs from run to run. What is not listed is not. */
bool form_is_bound(struct bound_place place, Node *expression);

/* Of one that is bound: does a sub-select in it read more than the row and the text? */
bool form_reads_others(struct bound_place place, Node *expression);

/* What that query gives as its column; with a star among its columns, as each of them. */
bool form_source_is_bound(struct bound_place place, const SelectStmt *source, int column);
bool form_source_has_star(const SelectStmt *source);

#endif

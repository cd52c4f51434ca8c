/* walk_write.h - what the writes share; internal to walk_write.c and walk_merge.c. */
#ifndef PGWICKET_PARSER_WALK_WRITE_H
#define PGWICKET_PARSER_WALK_WRITE_H

#include "parser/walk_scope.h"

/* The relation that is written, visible in `scope`; nothing of it is read yet. */
struct item *write_target(struct walk *walk, struct scope *scope, RangeVar *range);

/* The write itself and what it does behind a view or through rules; returns its action's index. */
size_t write_action(struct walk *walk, enum verb verb, const struct item *target);

/* After the columns are known: does a foreign-key action start here? Then no number is proven. */
void write_foreign_keys(struct walk *walk, size_t action);

/* SET a = …, or a column list: the columns, their subscripts, the expressions. */
void write_columns(struct walk *walk, struct scope *scope, const struct item *target, size_t action,
                   List *targets);
void write_leading_columns(struct walk *walk, const struct item *target, size_t action, long count);

/* The values given to columns (all of the relation, if none are listed) become their types. */
void assigned_values(struct walk *walk, const struct item *target, List *columns, List *values);

/* `rows`: how many can conflict at most; ROWS_UNPROVEN: they may be all. */
void write_on_conflict(struct walk *walk, struct scope *scope, struct item *target,
                       OnConflictClause *tree, int64_t rows);

struct query_result write_merge(struct walk *walk, struct scope *scope, MergeStmt *tree);

#endif

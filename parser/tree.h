/*
 * tree.h - PostgreSQL's node headers, made fit for libpg_query. Included by parser's .c files only.
 *
 * The headers are those of the server of the same major; libpg_query differs from them in a few places:
 * its globals are thread-local, its scanner state is larger, its token numbers are its own (lex.c).
 */
#ifndef PGWICKET_PARSER_TREE_H
#define PGWICKET_PARSER_TREE_H

/* PostgreSQL's headers are not written for our warnings; they come as system headers, but their macros
 * expand in our files. */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wswitch-enum" /* NodeTag has hundreds of values; default rejects */

/* Where an ObjectType of PostgreSQL's has the name of an object_kind of ours (shape.h), it is called
 * PG_OBJECT_… here. */
#define OBJECT_SCHEMA       PG_OBJECT_SCHEMA
#define OBJECT_ROLE         PG_OBJECT_ROLE
#define OBJECT_DATABASE     PG_OBJECT_DATABASE
#define OBJECT_EXTENSION    PG_OBJECT_EXTENSION
#define OBJECT_LANGUAGE     PG_OBJECT_LANGUAGE
#define OBJECT_PUBLICATION  PG_OBJECT_PUBLICATION
#define OBJECT_SUBSCRIPTION PG_OBJECT_SUBSCRIPTION
#define OBJECT_TABLESPACE   PG_OBJECT_TABLESPACE

/* Plain variables in the headers, thread-local in libpg_query: unusable under their own names, and so
 * are the header's inline functions and macros that touch them. parse.c declares what it needs. */
#define CurrentMemoryContext tree_h_hides_CurrentMemoryContext
#define PG_exception_stack   tree_h_hides_PG_exception_stack
#define error_context_stack  tree_h_hides_error_context_stack

#include "postgres.h"

#include "nodes/nodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "nodes/value.h"

#undef OBJECT_SCHEMA
#undef OBJECT_ROLE
#undef OBJECT_DATABASE
#undef OBJECT_EXTENSION
#undef OBJECT_LANGUAGE
#undef OBJECT_PUBLICATION
#undef OBJECT_SUBSCRIPTION
#undef OBJECT_TABLESPACE

#undef CurrentMemoryContext
#undef PG_exception_stack
#undef error_context_stack

/* port.h points the printf family at PostgreSQL's own; ours are libc's. */
#undef printf
#undef fprintf
#undef sprintf
#undef snprintf
#undef vprintf
#undef vfprintf
#undef vsprintf
#undef vsnprintf
#undef strerror

_Static_assert(PG_VERSION_NUM / 10000 == PGWICKET_PG_MAJOR,
               "the node headers must be of the grammar's major");

#endif

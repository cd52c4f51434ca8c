/*
 * tree.h - PostgreSQL's node headers, made fit for libpg_query. Included by parser's .c files only.
 *
 * The headers are those of the server of the same major; libpg_query differs from them in a few places
 * (canon.md, "Scanner API"): its globals are thread-local, its scanner state is one int larger.
 */
#ifndef PGWICKET_PARSER_TREE_H
#define PGWICKET_PARSER_TREE_H

/* PostgreSQL's headers are not written for our warnings; they come as system headers, but their macros
 * expand in our files. */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wswitch-enum" /* NodeTag has hundreds of values; default rejects */

#include "postgres.h"

#include "nodes/nodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "nodes/value.h"

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

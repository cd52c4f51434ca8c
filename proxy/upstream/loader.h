/*
 * loader.h - the blocking connection of a catalog loader; internal to proxy/upstream/.
 */
#ifndef PGWICKET_UPSTREAM_LOADER_H
#define PGWICKET_UPSTREAM_LOADER_H

#include "proxy/upstream/catalog_load.h"

#include <libpq-fe.h>

struct catalog_loader {
    char *connection_string;
    PGconn *connection; /* NULL until the first use */
};

/* Connects if there is no connection that works. */
MUST_USE bool loader_connect(struct catalog_loader *loader, char *problem, size_t problem_size);

/* Runs one command or query. NULL and `problem` if it fails; a result is the caller's to PQclear.
 */
MUST_USE PGresult *loader_run(struct catalog_loader *loader, const char *sql, char *problem,
                              size_t problem_size);

#endif

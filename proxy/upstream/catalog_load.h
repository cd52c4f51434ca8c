/*
 * catalog_load.h - reads a database's catalog and the facts about it that matter at start.
 *
 * Blocking: for a thread of its own. A loader keeps its libpq connection between loads and connects
 * again when it is broken. What it sends is read only, bounded by statement_timeout and
 * lock_timeout, and means pg_catalog by every name and operator (search_path is empty).
 */
#ifndef PGWICKET_UPSTREAM_CATALOG_LOAD_H
#define PGWICKET_UPSTREAM_CATALOG_LOAD_H

#include "parser/catalog.h"
#include "proxy/base/attributes.h"

struct catalog_loader;

/* Connects at the first use. One thread at a time. */
struct catalog_loader *catalog_loader_new(const char *connection_string);
void catalog_loader_free(struct catalog_loader *loader); /* NULL is fine */

/* A sealed snapshot with one reference, or NULL; `problem` says why, without credentials. */
MUST_USE struct catalog *catalog_loader_load(struct catalog_loader *loader, char *problem,
                                             size_t problem_size);

/* Can the server prepare this statement with parameters of these types? Nothing is run. PREPARE_REFUSED:
 * `problem` is what the server says of it. */
enum prepare_answer {
    PREPARE_NO_ANSWER = 0, /* the server cannot be asked now; `problem` says why */
    PREPARE_REFUSED,
    PREPARE_FINE,
};
MUST_USE enum prepare_answer catalog_loader_prepare(struct catalog_loader *loader, const char *sql,
                                                    const uint32_t *types, size_t type_count,
                                                    char *problem, size_t problem_size);

/* Powers of the login, or of any role that it can become by SET ROLE. */
enum upstream_risk {
    UPSTREAM_RISK_SUPERUSER = 1 << 0, /* or one that may create in pg_catalog */
    UPSTREAM_RISK_REPLICATION = 1 << 1,
    UPSTREAM_RISK_BYPASSRLS = 1 << 2,
    UPSTREAM_RISK_FILE_ACCESS = 1 << 3, /* pg_read_server_files, pg_write_server_files, … */
};

struct upstream_facts {
    int server_version; /* as server_version_num */
    unsigned risks;     /* of enum upstream_risk */
    bool encoding_is_utf8;
    bool track_counts;
    bool standard_conforming_strings;
    bool in_recovery;
    char database[64];
    char role[64];
    char default_transaction_isolation[32];
};

/* False if the server cannot be asked; `problem` says why. */
MUST_USE bool catalog_loader_facts(struct catalog_loader *loader, struct upstream_facts *facts,
                                   char *problem, size_t problem_size);

#endif
